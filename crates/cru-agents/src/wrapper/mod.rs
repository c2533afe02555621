//! What hosts put under a person's name, around their words and behind answers: `data/wrappers.toml`.
//!
//! A text is judged by how it begins. Inside a person's own text only those parts are cut out that a row names. What
//! stands in a wrapper is read by the importer that knows it.

mod cut;
mod table;

use std::borrow::Cow;

use cru_session::agent_table;
pub(crate) use table::Means;
use table::{Row, rows};

/// What the host made a text to be; `None` for words of a person.
pub(crate) fn means(agent: &str, text: &str) -> Option<Means> {
    let text = text.trim_start();
    rows(agent).find(|row| row.means.is_whole() && row.fits(text)).map(|row| row.means)
}

/// A person's own words without what the host put around and into them; empty where nothing of it is theirs.
pub(crate) fn own_words<'t>(agent: &str, text: &'t str) -> Cow<'t, str> {
    let mut words = Cow::Borrowed(text);
    // What stands within the wrapper is theirs, whatever it begins with.
    let mut is_unwrapped = false;
    for row in rows(agent) {
        let new = match row.means {
            Means::Words => cut::words(row, &words).inspect(|_| is_unwrapped = true),
            Means::Before if !is_unwrapped => cut::before(row, &words),
            Means::Inserted => cut::inserted(row, &words),
            Means::After => cut::after(row, &words),
            Means::Behind | Means::Files => cut::behind(row, &words),
            Means::LastLine => cut::last_line(row, &words),
            _ => None,
        };
        if let Some(new) = new {
            words = Cow::Owned(new);
        }
    }
    words
}

/// What a person typed behind the name of a command, in the text that the host made of it; `None` where that is no text of its own.
pub(crate) fn typed<'t>(agent: &str, text: &'t str) -> Option<&'t str> {
    let row = rows(agent).find(|row| row.means == Means::Template && row.fits(text))?;
    let [from, to] = row.ends.as_slice() else { return None };
    Some(text.split_once(from)?.1.rsplit_once(to)?.0.trim())
}

/// Whether words begin with the name of a command: `/review src`, and no path. Behind a host's command about itself that takes no
/// words there is one value at most: `/login page is broken` is a sentence, and a request.
pub(crate) fn is_command(agent: &str, words: &str) -> bool {
    let mut words = words.split_whitespace();
    let name = words.next().and_then(|first| first.strip_prefix('/')).unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'));
    let may_follow = || !agent_table::is_command(name) || agent_table::takes_words(agent, name);
    name.starts_with(char::is_alphabetic) && is_name && (words.nth(1).is_none() || may_follow())
}

/// Whether a text begins as the host's words of that meaning do.
pub(crate) fn is(agent: &str, means: Means, text: &str) -> bool {
    rows(agent).any(|row| row.means == means && row.fits(text))
}

/// A tool's answer without what the host put at its end; `of_agent`: it is a sub-agent's.
pub(crate) fn answer<'t>(agent: &str, text: &'t str, of_agent: bool) -> &'t str {
    let is_meant = |row: &&Row| row.means == Means::Answer || (of_agent && row.means == Means::AgentAnswer);
    /// Parts that hosts put at an end; each is looked for in the whole text.
    const MOST: usize = 64;
    let mut text = text;
    for _ in 0..MOST {
        let Some(shorter) = rows(agent).filter(is_meant).find_map(|row| cut::end(row, text)) else { break };
        text = shorter;
    }
    text
}

/// An agent's words without what the host has it put at their beginning.
pub(crate) fn reply<'t>(agent: &str, text: &'t str) -> &'t str {
    let head = rows(agent).filter(|row| row.means == Means::Reply).flat_map(|row| &row.head);
    let behind = head.into_iter().find_map(|head| {
        let rest = text.trim_start().strip_prefix(head.as_str())?;
        let rest = if head.ends_with("]]") { rest } else { rest.split_once("]]")?.1 };
        Some(rest.trim_start())
    });
    behind.unwrap_or(text)
}

impl Row {
    /// Whether a text begins so.
    fn fits(&self, text: &str) -> bool {
        let head = self.head.iter().any(|head| text.starts_with(head.as_str()));
        let element = || self.element.iter().find(|name| begins_with(text, name));
        let closes = |name: &String| !self.closed || cut::closes(text, name);
        (head || element().is_some_and(closes)) && self.ends.iter().all(|part| text.contains(part.as_str()))
    }
}

/// Whether a text begins with the tag `<name>` or `<name …>`.
fn begins_with(text: &str, name: &str) -> bool {
    let rest = text.strip_prefix('<').and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with(|c: char| matches!(c, '>' | '/') || c.is_whitespace()))
}

#[cfg(test)]
mod tests;
