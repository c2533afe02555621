//! Rows of training data in the shapes that TRL takes, and that the trainers above it take from there.
//!
//! Every row of a file has the same keys in the same order with the same types, metadata included: a column that is
//! absent or null in the first rows breaks the loading of the later ones.

use serde::Serialize;

use super::case::{Case, Kind, Source, Story};
use super::chat::{self, Message};
use super::entry::{self, Entry};

/// What a case can be filtered by, and found again by. No value is null.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metadata {
    /// Id of the case.
    pub id: String,
    /// `puzzle` or `correction`.
    pub case_type: Kind,
    /// One line.
    pub title: String,
    /// Session id.
    pub session_id: String,
    /// The session at the top of the tree of sub-agents.
    pub root_session_id: String,
    /// Where in which note.
    pub source: Source,
    /// `planner@1.2`.
    pub agent: String,
    /// Model.
    pub model: String,
    /// Program.
    pub host: String,
    /// Channel.
    pub channel: String,
    /// Heading of the phase.
    pub phase: String,
    /// Tags of the session, joined by blanks.
    pub tags: String,
    /// Status of the session.
    pub outcome: String,
    /// How the right answer is known: `later success`, `resolution`, `response`.
    pub evidence: &'static str,
    /// Whether the record itself shows that it worked.
    pub verified: bool,
    /// Why it is a correction: `words`, `denied`, `interrupted` or `titled`; empty for puzzles.
    pub rule: &'static str,
    /// Whether the answer is all that was done: long work after a correction is told by its beginning.
    pub complete: bool,
    /// Whether what was done upon a correction was corrected too.
    pub corrected_again: bool,
    /// How much of tool calls is there: `summary`, a line for each.
    pub tool_fidelity: &'static str,
    /// Changes with any text of the case.
    pub content_hash: String,
    /// Program and version that wrote the row.
    pub exporter: &'static str,
}

impl Metadata {
    /// The metadata of a case.
    pub fn of(case: &Case) -> Self {
        let origin = &case.origin;
        Self {
            id: case.id.clone(),
            case_type: case.kind(),
            title: case.title.clone(),
            session_id: origin.session.clone(),
            root_session_id: origin.root.clone(),
            source: origin.source.clone(),
            agent: origin.agent.clone(),
            model: origin.model.clone(),
            host: origin.host.clone(),
            channel: origin.channel.clone(),
            phase: origin.phase.clone(),
            tags: origin.tags.join(" "),
            outcome: origin.outcome.clone(),
            evidence: case.evidence(),
            verified: case.verified(),
            rule: match &case.story {
                Story::Correction(it) => it.rule,
                Story::Puzzle(_) => "",
            },
            complete: !matches!(&case.story, Story::Correction(it) if it.more > 0),
            corrected_again: matches!(&case.story, Story::Correction(it) if it.corrected_again),
            tool_fidelity: "summary",
            content_hash: case.content_hash.clone(),
            exporter: concat!("cru ", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// A row for supervised tuning: only the completion is trained on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sft {
    /// Up to the failure or the person's words.
    pub prompt: Vec<Message>,
    /// What helped, or what was done after the words.
    pub completion: Vec<Message>,
    /// For filtering.
    pub metadata: Metadata,
}

/// A row for preference tuning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preference {
    /// Up to where the agent went wrong.
    pub prompt: Vec<Message>,
    /// What was done after the correction.
    pub chosen: Vec<Message>,
    /// What was done before it.
    pub rejected: Vec<Message>,
    /// For filtering.
    pub metadata: Metadata,
}

/// A row of the stream: one for each case that has an answer. It loads as a file for supervised tuning too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Id of the case.
    pub id: String,
    /// `puzzle` or `correction`.
    pub r#type: Kind,
    /// One line.
    pub title: String,
    /// As in [`Sft`].
    pub prompt: Vec<Message>,
    /// As in [`Sft`].
    pub completion: Vec<Message>,
    /// What did not work: the failing step and the error, or what the agent did before the correction.
    pub rejected: String,
    /// For filtering.
    pub metadata: Metadata,
}

/// The row for supervised tuning, where the record has an answer.
pub fn sft(case: &Case, system: &str) -> Option<Sft> {
    let completion = chat::assistant(case.answer()?);
    Some(Sft { prompt: chat::prompt(case, system), completion, metadata: Metadata::of(case) })
}

/// The row for preference tuning: corrections with an answer that differs.
pub fn preference(case: &Case, system: &str) -> Option<Preference> {
    let Story::Correction(it) = &case.story else { return None };
    let answer = case.answer()?;
    let proposed: Vec<Entry> = it.behaviour.iter().map(Entry::proposed).collect();
    let rejected = entry::join(&proposed);
    let chosen = without_agreement(&answer).to_owned();
    (chosen != rejected && !rejected.is_empty()).then(|| Preference {
        prompt: chat::prompt_before(case, system),
        chosen: chat::assistant(chosen),
        rejected: chat::assistant(rejected),
        metadata: Metadata::of(case),
    })
}

/// The row of the stream, where the record has an answer.
pub fn line(case: &Case, system: &str) -> Option<Line> {
    let Sft { prompt, completion, metadata } = sft(case, system)?;
    let (title, rejected) = (case.title.clone(), case.failure());
    Some(Line { id: case.id.clone(), r#type: case.kind(), title, prompt, completion, rejected, metadata })
}

/// Sentences, in lower case and without their end, that only answer a correction. The prompt of a pair does not hold
/// the correction, so an answer that opens with one would agree with nobody.
const AGREEMENTS: &[&str] = &[
    "you're absolutely right",
    "you're right",
    "you are right",
    "you are absolutely right",
    "you're completely right",
    "absolutely",
    "good point",
    "good catch",
    "great point",
    "great catch",
    "great idea",
    "good idea",
    "ah yes",
    "ah, yes",
    "fair point",
    "fair enough",
    "understood",
    "got it",
    "sorry about that",
    "i apologize",
    "i apologise",
    "my apologies",
    "apologies",
    "sorry",
    "my mistake",
    "my bad",
    "excellent point",
    "excellent idea",
    "of course",
    "sure",
    "noted",
    "thanks for the clarification",
    "thank you for the clarification",
    "thanks for clarifying",
];

/// A text without sentences at its beginning that only agree.
fn without_agreement(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let Some(end) = rest.find(['.', '!', '\n', '—', ':']) else { return rest };
        let sentence = rest[..end].to_lowercase().replace('’', "'");
        let after = rest[end..].trim_start_matches(['.', '!', '—', ':']).trim_start();
        if after.is_empty() || !AGREEMENTS.contains(&sentence.trim()) {
            return rest;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_goes() {
        let table = [
            ("You're absolutely right! We don't need it.", "We don't need it."),
            ("Good point. Sorry about that. Here it is.", "Here it is."),
            ("You're right that the test is wrong.", "You're right that the test is wrong."),
            ("Understood.", "Understood."),
            ("Understood", "Understood"),
            ("Sure:\n- `Edit a`", "- `Edit a`"),
            ("I make a new commit.", "I make a new commit."),
        ];
        for (text, rest) in table {
            assert_eq!(without_agreement(text), rest);
        }
    }
}
