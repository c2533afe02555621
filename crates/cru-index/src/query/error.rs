//! What is wrong with a query: the place, in words, and what was meant.

use cru_base::text::one_line;
use cru_base::{Error, Span};

/// A query that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Where, in bytes of the query.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What was meant, or what to do.
    pub help: String,
}

impl QueryError {
    pub(super) fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: one_line(&message.into()), help: one_line(&help.into()) }
    }

    /// The usage error of a command that was given `query`.
    pub fn into_usage(self, query: &str) -> Error {
        Error::usage(self.frame(query)).with_hint(self.help)
    }

    /// The message with the query and a caret under the place; free of control characters.
    pub fn frame(&self, query: &str) -> String {
        use unicode_width::UnicodeWidthStr as _;
        /// Columns of the query before and behind the place; a query may be a pasted page.
        const AROUND: usize = 60;
        if query.trim().is_empty() {
            return self.message.clone();
        }
        let part = |range: std::ops::Range<usize>| one_line(query.get(range).unwrap_or_default());
        let (before, place, behind) =
            (part(0..self.span.start), part(self.span.range()), part(self.span.end..query.len()));
        let skip = before.chars().count().saturating_sub(AROUND);
        let mut shown: String = if skip > 0 { "…".to_owned() } else { String::new() };
        shown.extend(before.chars().skip(skip));
        let column = shown.width();
        let place: String = place.chars().take(AROUND).collect();
        shown.push_str(&place);
        shown.extend(behind.chars().take(AROUND));
        let carets = "^".repeat(place.width().max(1));
        format!("{}\n  {}\n  {}{carets}", self.message, shown.trim_end(), " ".repeat(column))
    }
}
