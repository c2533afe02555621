//! The heading of a step: `title @agent #channel !`.
//!
//! Only the tail counts, in this order; anything that is not exactly a mark, a channel or an agent belongs to the
//! title. `RFC 5322 @example.com addresses` has no agent, `Migration: 1.0 -> 2.0` is a title, `issue #42` no channel.

use super::model::{Need, Step};
use super::text::{escape, unescape};
use crate::base::Span;
use crate::note::heading::Tail;
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
        let tail = Tail::parse_marked(text);
        let owned = |span: Span| span.of(text).to_owned();
        Self {
            title: unescape(tail.title.of(text)),
            agent: tail.agent.map(|name| Agent { name: owned(name), version: tail.version.map(owned) }),
            channel: tail.channel.map(owned),
            need: match tail.marker {
                Some('!') => Need::Required,
                Some('?') => Need::Optional,
                _ => Need::Normal,
            },
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

/// Whether `name` (perhaps with `@version`) would be read back as an agent.
pub(super) fn is_agent(name: &str) -> bool {
    !name.contains(char::is_whitespace) && Tail::parse(&format!("x @{name}")).agent.is_some()
}

/// Whether `name` would be read back as a channel.
pub(super) fn is_channel(name: &str) -> bool {
    !name.contains(char::is_whitespace) && Tail::parse(&format!("x #{name}")).channel.is_some()
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
