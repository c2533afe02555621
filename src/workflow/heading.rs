//! The heading of a step: `title @agent #channel !`.
//!
//! Only the tail counts, in this order; anything that is not exactly a mark, a channel or an agent belongs to the
//! title. `RFC 5322 @example.com addresses` has no agent, `Migration: 1.0 -> 2.0` is a title, `issue #42` no channel.

use super::model::{Need, Step};
use super::text::{escape, unescape};
use crate::session::Agent;

/// A heading's text, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heading {
    /// What remains.
    pub title: String,
    /// `@agent`, `@agent@1.2`.
    pub agent: Option<Agent>,
    /// `#channel`.
    pub channel: Option<String>,
    /// `!` or `?`.
    pub need: Need,
}

impl Heading {
    /// Reads the text between the marks of a heading.
    pub fn parse(text: &str) -> Self {
        let mut rest = text.trim();
        let mut need = Need::Normal;
        for mark in [Need::Required, Need::Optional] {
            if let Some(before) = take_word(rest, |word| word == mark.mark()) {
                (rest, need) = (before.0, mark);
                break;
            }
        }
        let channel = take_word(rest, |word| word.strip_prefix('#').is_some_and(is_channel));
        if let Some((before, _)) = channel {
            rest = before;
        }
        let agent = take_word(rest, |word| word.strip_prefix('@').is_some_and(is_agent));
        if let Some((before, _)) = agent {
            rest = before;
        }
        Self {
            title: unescape(rest),
            agent: agent.map(|(_, word)| Agent::parse(word)),
            channel: channel.map(|(_, word)| word[1..].to_owned()),
            need,
        }
    }

    /// The text of a step's heading.
    pub fn write(step: &Step) -> String {
        let mut out = escape(&step.title);
        if let Some(agent) = &step.agent {
            push_word(&mut out, &format!("@{agent}"));
        }
        if let Some(channel) = &step.channel {
            push_word(&mut out, &format!("#{channel}"));
        }
        push_word(&mut out, step.need.mark());
        out
    }
}

fn push_word(out: &mut String, word: &str) {
    if !out.is_empty() && !word.is_empty() {
        out.push(' ');
    }
    out.push_str(word);
}

/// The last word, if `wanted`, and what stands before it.
fn take_word(text: &str, wanted: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let start =
        text.rfind(char::is_whitespace).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let word = &text[start..];
    wanted(word).then(|| (text[..start].trim_end(), word))
}

/// Whether `name` can be an agent: a letter, then letters, digits, `_ . -`, with `@version` or without.
pub(super) fn is_agent(name: &str) -> bool {
    let (name, version) = name.split_once('@').unwrap_or((name, "0"));
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    name.starts_with(char::is_alphabetic)
        && name.chars().all(plain)
        && !version.is_empty()
        && version.chars().all(plain)
}

/// Whether `name` can be a channel: letters, digits, `_ - /`, not digits alone.
pub(super) fn is_channel(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    name.chars().all(plain) && name.chars().any(|c| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, String, String, &'static str) {
        let heading = Heading::parse(text);
        let agent = heading.agent.map_or(String::new(), |agent| agent.to_string());
        (heading.title, agent, heading.channel.unwrap_or_default(), heading.need.mark())
    }

    #[test]
    fn reads_the_tail() {
        let is = |text, title: &str, agent: &str, channel: &str, mark| {
            assert_eq!(read(text), (title.into(), agent.into(), channel.into(), mark), "{text}");
        };
        is("Validate Cart @cart-service #orders !", "Validate Cart", "cart-service", "orders", "!");
        is("Planning @planner@1.2", "Planning", "planner@1.2", "", "");
        is("Notify #ops ?", "Notify", "", "ops", "?");
        is("@coder", "", "coder", "", "");
        // What only looks like it.
        is("RFC 5322 @example.com addresses", "RFC 5322 @example.com addresses", "", "", "");
        is("Migration: 1.0 -> 2.0", "Migration: 1.0 -> 2.0", "", "", "");
        is("Fix issue #42", "Fix issue #42", "", "", "");
        is("Does it work?", "Does it work?", "", "", "");
        is("Mail me@example.com", "Mail me@example.com", "", "", "");
        is("Learn C#", "Learn C#", "", "", "");
        is("Meet @ 5", "Meet @ 5", "", "", "");
        is(r"Say hello \@world \!", "Say hello @world !", "", "", "");
    }
}
