//! What is odd about a text, and where.
//!
//! Parsers never fail: they give a value and a list of these. Turning one into words with a code frame is the
//! terminal's work (`cli`), so nothing here knows colours or widths.

use std::borrow::Cow;

use serde::Serialize;

use super::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Probably not what was meant; everything still works.
    Warning,
    /// Something written here cannot be used as it stands. `cru check` exits with 1.
    Error,
}

/// One remark about a place in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable name, kebab-case: `duplicate-id`, `frontmatter-syntax`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where: bytes of the whole file.
    pub span: Span,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Cow<'static, str>>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, span, message: message.into(), help: None }
    }

    /// A warning.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Warning, span, message: message.into(), help: None }
    }

    /// A remark.
    pub fn info(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Info, span, message: message.into(), help: None }
    }

    /// With a line of help.
    #[must_use]
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }
}
