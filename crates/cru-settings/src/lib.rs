//! Settings of other programs, edited as texts: what is not edited keeps its bytes, comments and layout.
//!
//! Owns where each value lies in a text of JSON (with or without comments) and TOML, adding, renewing and removing one
//! entry, and the proof that an edit changed nothing else. Knows no program and no setting, and touches no file.

pub mod entry;
pub mod json;
pub mod rows;
mod toml_text;
mod trivia;

/// How a settings file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsFormat {
    /// JSON as RFC 8259 has it: comments are errors.
    Json,
    /// JSON with comments and trailing commas.
    JsonWithComments,
    /// TOML.
    Toml,
}

/// Why settings cannot be edited, with the place in the text where it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// In words.
    pub message: String,
    /// Line and column from 1; columns are counted in bytes.
    pub place: Option<(usize, usize)>,
}

impl Refused {
    /// With the place of a byte.
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        Self { message: message.into(), place: Some((before.matches('\n').count() + 1, column)) }
    }

    /// Without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None }
    }
}

/// `text` with `new` in the place of a range of bytes.
fn splice(text: &str, range: std::ops::Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}
