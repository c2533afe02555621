//! Outputs whose JSON is the value itself: how they leave is the same for all.

use serde::Serialize;

use super::{Format, Output, View};

/// An output that is its own JSON value.
pub trait PlainOutput: Serialize {
    /// For people, as [`Output::text`].
    fn shown(&self, view: &View) -> String;

    /// Whether the answer is "no": nothing was found, or something is wrong. The exit code is 1 then.
    fn is_no(&self) -> bool {
        false
    }

    /// As [`Output::exit_code`].
    fn code(&self) -> u8 {
        u8::from(self.is_no())
    }

    /// In a format that not every command has, as [`Output::export`].
    fn rows(&self, _: Format) -> Option<String> {
        None
    }
}

impl<T: PlainOutput> Output for T {
    fn text(&self, view: &View) -> String {
        self.shown(view)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn export(&self, format: Format) -> Option<String> {
        self.rows(format)
    }

    fn exit_code(&self) -> u8 {
        self.code()
    }
}
