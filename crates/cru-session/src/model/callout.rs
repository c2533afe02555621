//! Callouts: decisions, errors, the user's words, sub-agents, and any other.

use jiff::Timestamp;
use serde::Serialize;

use super::{Agent, Item, Link};
use cru_base::Span;

/// What every callout has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Callout {
    /// Kind in lower case: `checkpoint`, `lesson`.
    pub kind: String,
    /// Block id without `^`, from the line after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Title after `[!kind]`; empty when there is none.
    pub title: String,
    /// `Some(true)` for `-` (closed), `Some(false)` for `+`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<bool>,
    /// Everything below the title line with the quote marks taken off and escapes undone, fields included.
    pub body: String,
    /// Lines `Name: value` of the body, in order; a value may span lines until the next field or blank line.
    pub fields: Vec<(String, String)>,
    /// `At:` field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The whole callout without its block id line.
    pub span: Span,
}

impl Callout {
    /// The value of field `name`, case ignored.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The first paragraph of the body without fields, on one line.
    pub fn paragraph(&self) -> String {
        let is_field = |line: &str| {
            self.fields
                .iter()
                .any(|(name, _)| line.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':')))
        };
        let lines = self.body.lines().map(str::trim).skip_while(|line| line.is_empty());
        lines.take_while(|line| !line.is_empty() && !is_field(line)).collect::<Vec<_>>().join(" ")
    }

    /// The question that it asks, if nobody answered it: the title, else the first line of the body.
    pub fn unanswered(&self) -> Option<&str> {
        let words = if self.title.trim().is_empty() { self.body.lines().next()? } else { &self.title };
        (self.kind == "question" && self.field("Answer").is_none()).then_some(words)
    }

    /// Whether it says nothing: neither a title nor a body.
    pub fn is_empty(&self) -> bool {
        self.title.trim().is_empty() && self.body.trim().is_empty()
    }
}

/// `> [!decision] Title`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decision {
    /// The callout itself; its title is the decision.
    #[serde(flatten)]
    pub callout: Callout,
    /// Body without fields.
    pub text: String,
    /// `Why:`.
    pub why: Option<String>,
    /// `Rejected:`.
    pub rejected: Option<String>,
    /// `Impact:`.
    pub impact: Option<String>,
    /// Links of `Rests on:`.
    pub rests_on: Vec<Link>,
}

/// `> [!error] Title`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Error {
    /// The callout itself.
    #[serde(flatten)]
    pub callout: Callout,
    /// Body without fields: what went wrong.
    pub text: String,
    /// `Resolution:` fields, joined by newlines.
    pub resolution: Option<String>,
    /// Links of the resolution.
    pub resolved_by: Vec<Link>,
    /// `Step:` or a link in the body: the failing step.
    pub steps: Vec<Link>,
}

/// `> [!user]`: a person's own words.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct User {
    /// The callout itself.
    #[serde(flatten)]
    pub callout: Callout,
    /// The exact words between the outer quotes, escapes undone. Without quotes: the whole body.
    pub words: String,
    /// What follows the last ` - ` after the closing quote.
    pub interpretation: Option<String>,
    /// Whether the title says `Correction`.
    pub correction: bool,
}

cru_base::words! {
    /// How a sub-agent's work is shown in its parent.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SubagentMode {
        /// All of it inside the callout.
        Inline = "inline",
        /// A link to a session of its own.
        #[default]
        Link = "link",
        /// `![[…]]`: shown in place.
        Embed = "embed",
    }
}

/// `> [!subagent] @agent@version (model)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Subagent {
    /// The callout itself.
    #[serde(flatten)]
    pub callout: Callout,
    /// Agent of the title.
    pub agent: Option<Agent>,
    /// Model of the title.
    pub model: Option<String>,
    /// `mode:`, or inferred from the link.
    pub mode: SubagentMode,
    /// Its session (link and embed).
    pub link: Option<Link>,
    /// `Task:` what it was asked.
    pub task: Option<String>,
    /// `Summary:`.
    pub summary: Option<String>,
    /// What else stands beside a link or an embed: the words of a person.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Inline work: steps without ids, callouts and prose.
    pub items: Vec<Item>,
}
