//! Text of others inside a note: written so that it opens no structure, and read back exactly.
//!
//! A run of `k` backslashes before a character that would open something becomes `2k + 1` of them, so the character is
//! plain text to every reader of markdown, and [`undo`](unprose) finds `k` again. Which characters count is decided on
//! the text without backslashes, so both directions decide alike. Nothing is changed inside code spans and fences;
//! headings are demoted below `###` instead of escaped. The text is cleaned first ([`cru_base::text::sanitise`])
//! and white space at its two ends is dropped: beyond that every character comes back.

mod active;
pub(crate) mod code;
mod danger;
mod heading;
mod inert;
mod outline;
mod slash;
mod turn;
mod view;
mod words;

use std::borrow::Cow;

use cru_base::text;

pub use inert::inert;
pub use words::{Words, quoted, split_quoted};

pub(super) use outline::{Line, Outline};

use slash::Way;

/// Where a text stands, which decides what is dangerous in it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a place")]
pub(super) struct Place<'a> {
    /// The line above is text (the title line of a callout) and not blank.
    pub(super) below_text: bool,
    /// `"` before ` - ` would end the quote, and so would one at the end of its last line.
    pub(super) quote: bool,
    /// That last line; with `quote` only.
    pub(super) last: bool,
    /// Names that, with a colon at the start of a line, would be fields.
    pub(super) fields: &'a [&'a str],
    /// Wikilinks stay links in lines that are a field of links alone.
    pub(super) links: bool,
    /// Links that stay links wherever they stand.
    pub(super) keep: &'a [String],
    /// ` - ` would begin an interpretation.
    pub(super) dash: bool,
    /// `@` and `#` at the start of a word would end a heading's title.
    pub(super) title: bool,
}

impl Place<'_> {
    /// At top level, below a blank line.
    pub(super) const PROSE: Self = Place {
        below_text: false,
        quote: false,
        last: false,
        fields: &[],
        links: false,
        keep: &[],
        dash: false,
        title: false,
    };
}

/// `text` as top-level markdown under a phase: paragraphs, lists, tables and fences stay what they are; headings go
/// below `###`; callouts, links, tags, ids, comments, HTML and look-alikes of our own lines become plain text.
pub fn prose(text: &str) -> String {
    body(text, Place::PROSE)
}

/// The text that [`prose`] was given, cleaned. Total: any text may come, as a person may have edited it.
pub fn unprose(text: &str) -> String {
    turn::lines(text.trim(), Way::Undo, Place::PROSE)
}

/// `text` on one line: white space folded, links, tags, ids, comments and HTML made plain text.
pub fn inline(text: &str) -> String {
    turn::line(&text::fold_whitespace(&text::sanitise(text)), Way::Escape, Place::PROSE)
}

/// The text that [`inline`] was given, cleaned and folded.
pub fn uninline(text: &str) -> String {
    turn::line(text.trim(), Way::Undo, Place::PROSE)
}

/// `text` as the inside of code, without its backticks or fences: nothing but a template is changed.
pub fn code_text(text: &str) -> Cow<'_, str> {
    active::code(text, Way::Escape)
}

/// The text that [`code_text`] was given.
pub fn uncode_text(text: &str) -> Cow<'_, str> {
    active::code(text, Way::Undo)
}

/// JSON, of which a template or comment in a text is no more than that.
pub fn json(json: &str) -> String {
    active::json(json)
}

/// Whether inline code of this text would be run by how it begins.
pub(crate) fn is_called(code: &str) -> bool {
    active::is_called(code)
}

/// As [`prose`], inside an inline sub-agent, whose fields stand on lines of their own.
pub(super) fn inner_prose(text: &str) -> String {
    body(text, INNER)
}

/// The text that [`inner_prose`] was given.
pub(super) fn inner_unprose(text: &str) -> String {
    unbody(text, INNER)
}

const INNER: Place<'static> = Place { fields: &["mode", "Task", "Summary", "Tokens", "At"], ..Place::PROSE };

/// `text` as the title of a heading, before agent and channel.
pub fn title(text: &str) -> String {
    turn::line(&text::fold_whitespace(&text::sanitise(text)), Way::Escape, Place { title: true, ..Place::PROSE })
}

/// The text that [`title`] was given, cleaned and folded.
pub fn untitle(text: &str) -> String {
    turn::line(text.trim(), Way::Undo, Place { title: true, ..Place::PROSE })
}

/// Whether markdown that was escaped ends with a paragraph at top level, so that an id may be written behind it.
pub(super) fn ends_in_text(markdown: &str) -> bool {
    let lines: Vec<&str> = markdown.split('\n').collect();
    let mut outline = Outline::new(&lines, false);
    let last = (0..lines.len()).map(|index| outline.next_line(index)).last();
    // A bullet alone is text below text, and would be a list with an id behind it.
    let alone = lines.last().map(|line| Outline::new(&[*line], false).next_line(0));
    [last, alone].iter().all(|line| matches!(line, Some(Line::Text { at: 0, table: false, .. }))) && outline.is_at_top()
}

/// `text` at a certain place.
pub(super) fn body(text: &str, place: Place<'_>) -> String {
    turn::lines(text::sanitise(text).trim(), Way::Escape, place)
}

/// The text that [`body`] was given for the same place.
pub(super) fn unbody(text: &str, place: Place<'_>) -> String {
    turn::lines(text.trim(), Way::Undo, place)
}

#[cfg(test)]
mod tests;
