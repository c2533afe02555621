//! Answers to "which ones?": how they leave is the same for all.

use serde::Serialize;

use super::{Format, Output, View};

/// What was found. It is paged on a terminal, its JSON is what it serialises to, and finding nothing is the answer "no".
pub trait Found: Serialize {
    /// Whether nothing was found.
    fn is_empty(&self) -> bool;

    /// For people, as [`Output::text`].
    fn shown(&self, view: &View) -> String;

    /// In a format that not every command has, as [`Output::export`].
    fn rows(&self, _: Format) -> Option<String> {
        None
    }
}

impl<T: Found> Output for T {
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
        u8::from(self.is_empty())
    }
}
