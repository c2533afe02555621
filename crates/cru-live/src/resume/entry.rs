//! One thing in a part of a pack.

use serde::Serialize;

use super::token;

/// One thing in a part of a pack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// What it is about.
    pub title: String,
    /// Whether something of it was cut.
    pub cut: bool,
    /// What it costs.
    pub tokens: u64,
    /// As markdown.
    pub text: String,
}

impl Entry {
    pub(super) fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { title: title.into(), cut: false, tokens: token::count(&text), text }
    }

    pub(super) fn cut(self, cut: bool) -> Self {
        Self { cut, ..self }
    }
}
