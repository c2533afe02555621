//! What is logged by hand: one kind of entry for each thing that can happen in a session, and one JSON form for all of
//! them. The same form stands in the journal, comes from `cru log --json`, and is made by the verbs of `cru log`.
//!
//! `{"event":"tool","tool":"Bash","args":"cargo test","result":"2 passed"}`: `event` names the kind, `at` is when it
//! happened where that is not now, and a name that a kind does not have is an error that says where it stands.

mod rule;

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use cru_session::SubagentMode;
use cru_session::mask::Masks;
use cru_session::time;

pub use rule::{STATES, TASK_STATES};

impl Entry {
    /// The same without the secrets in its texts. Error: one stands where its placeholder cannot (a number, a state), so
    /// that the entry is not to be written at all.
    pub fn masked(self) -> Result<Self, Bad> {
        let bad = |message: String| Bad { message, column: 0 };
        let mut masks = Masks::unnumbered();
        let mut value = serde_json::to_value(&self).map_err(|error| bad(error.to_string()))?;
        masks.value(&mut value);
        if masks.counts().is_empty() {
            return Ok(self);
        }
        // What was written is read back, as from the journal.
        Self::parse(&value.to_string()).map_err(|error| bad(format!("without its secret: {}", error.message)))
    }
}

/// An entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Bad {
    /// What is wrong, and what is allowed.
    pub message: String,
    /// Column in the line, from 1; 0 where no place is to blame.
    pub column: usize,
}

/// The table of kinds: name in JSON, type, and fields. `at` and `event` are added to each.
macro_rules! entries {
    ($(
        $(#[doc = $doc:literal])*
        $name:literal $kind:ident { $( $(#[$meta:meta])* $field:ident: $type:ty, )* }
    )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
            #[serde(default, deny_unknown_fields)]
            pub struct $kind {
                #[serde(skip_serializing)]
                #[doc(hidden)]
                pub event: IgnoredAny,
                /// When, where that is not the moment of logging.
                #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "instant")]
                pub at: Option<Timestamp>,
                $( $(#[$meta])* #[serde(skip_serializing_if = "is_empty")] pub $field: $type, )*
            }
        )*

        /// One thing that happened.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "event")]
        pub enum Entry {
            $( $(#[doc = $doc])* #[serde(rename = $name)] $kind($kind), )*
        }

        impl Entry {
            /// The names of all kinds.
            pub const KINDS: &[&str] = &[$($name),*];

            /// When it happened, where that is said.
            pub const fn at(&self) -> Option<Timestamp> {
                match self { $( Self::$kind(it) => it.at, )* }
            }

            /// Says when it happened, where it does not say so itself.
            pub fn set_at(&mut self, at: Timestamp) {
                match self { $( Self::$kind(it) => { it.at.get_or_insert(at); } )* }
            }

            /// The name of its kind.
            pub const fn name(&self) -> &'static str {
                match self { $( Self::$kind(_) => $name, )* }
            }

            fn of_kind(name: &str, text: &str) -> Option<serde_json::Result<Self>> {
                match name { $( $name => Some(serde_json::from_str(text).map(Self::$kind)), )* _ => None }
            }
        }
    };
}

entries! {
    /// A phase begins.
    "phase" Phase {
        /// Its title.
        title: String,
        /// Who works, `coder@2.0`.
        agent: Option<String>,
        /// `#channel`.
        channel: Option<String>,
        /// Whether it is part of the phase before.
        sub: bool,
    }
    /// A tool was called or a command run.
    "tool" Tool {
        /// The tool's name.
        tool: String,
        /// Its arguments, or the command.
        args: String,
        /// What came of it.
        result: Option<String>,
        /// Whether it failed.
        failed: bool,
        /// Exit code.
        exit: Option<i32>,
        /// Seconds it took.
        duration: Option<f64>,
        /// Files read, `path` or `path@hash`.
        reads: Vec<String>,
        /// Files written.
        writes: Vec<String>,
        /// Files made.
        created: Vec<String>,
        /// Steps it depends on.
        after: Vec<String>,
        /// The step that it runs again.
        replays: Option<String>,
        /// The cell that it ran, `[[note#^c-01]]`.
        cell: Option<String>,
        /// How its checks ended: `passed`, `failed`, `unknown`.
        check: Option<String>,
        /// Commits that it made, `` `4f1c2ab` Subject ``.
        commits: Vec<String>,
        /// Other sessions that were active in the folder meanwhile.
        also_active: Vec<String>,
        /// What recorded it: `cru run`.
        by: Option<String>,
        /// The handle under which it was begun.
        opened: Option<String>,
    }
    /// Something was decided.
    "decision" Decision {
        /// The decision.
        title: String,
        /// More of it.
        text: String,
        /// Why.
        why: Option<String>,
        /// What was not taken.
        rejected: Option<String>,
        /// What follows from it.
        impact: Option<String>,
        /// Steps it rests on.
        rests_on: Vec<String>,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// Something went wrong.
    "error" Error {
        /// What.
        title: String,
        /// More of it.
        text: String,
        /// The failing steps.
        step: Vec<String>,
        /// How it was handled.
        resolution: Option<String>,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// An error was handled.
    "resolve" Resolve {
        /// Its id, title, or `last`.
        error: String,
        /// How.
        text: String,
    }
    /// A person said something.
    "user" User {
        /// The exact words.
        words: String,
        /// What was done.
        action: Option<String>,
        /// Whether they corrected the agent.
        correction: bool,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// A sub-agent begins.
    "subagent" Subagent {
        /// Who, `reviewer@1.0`.
        agent: String,
        /// Its model.
        model: Option<String>,
        /// What it was asked.
        task: Option<String>,
        /// How its work is shown.
        mode: Option<SubagentMode>,
        /// The session of its work.
        session: Option<String>,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// A sub-agent is done.
    "subagent_done" SubagentDone {
        /// Who.
        agent: String,
        /// Its model.
        model: Option<String>,
        /// What it was asked.
        task: Option<String>,
        /// How its work is shown.
        mode: Option<SubagentMode>,
        /// The session of its work, or the handle it was given.
        session: Option<String>,
        /// What came of it.
        summary: Option<String>,
        /// Its own tokens.
        tokens: Option<u64>,
        /// All of its work as markdown, for `inline`.
        text: Option<String>,
    }
    /// A task was added or changed.
    "task" Task {
        /// `TASK-001`, or words that only one task has; nothing for a new one.
        task: Option<String>,
        /// What to do.
        content: Option<String>,
        /// `pending`, `in_progress`, `completed`.
        status: Option<String>,
        /// `high`, `medium`, `low`.
        priority: Option<String>,
    }
    /// Something was learned.
    "lesson" Lesson {
        /// The claim.
        text: String,
        /// What it is about: `project`, `task`, `user`, `model`, `tool`, `skill`, `subagent`.
        level: Option<String>,
        /// How sure it is: `high`, `medium`, `low`.
        confidence: Option<String>,
        /// What to do.
        #[serde(rename = "do")]
        advice: Option<String>,
        /// Steps that it rests on.
        evidence: Vec<String>,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// Prose.
    "note" Note {
        /// Markdown.
        text: String,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// Something is open.
    "question" Question {
        /// The question.
        text: String,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// A question was answered.
    "answer" Answer {
        /// Its id, words, or `last`.
        question: String,
        /// The answer.
        text: String,
    }
    /// The state of the work, with all that is open.
    "checkpoint" Checkpoint {
        /// `manual`, `task`, `auto`, `risk`, `recovery`, `compaction`, `final`.
        kind: Option<String>,
        /// What for.
        title: String,
        /// What it waits for.
        blocked: Option<String>,
        /// What was done since the last one.
        since: Option<String>,
        /// Files of its copy.
        files: Option<String>,
        /// Files that have no copy, and why.
        left_out: Option<String>,
        /// Commit and branch.
        base: Option<String>,
        /// The command that restores its copy.
        restore: Option<String>,
        /// Its id, `cp-20261116-101212`, where it has one already; a note that has it does not get it again.
        id: Option<String>,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// A short account of what was done.
    "summary" Summary {
        /// What of: `Restored cp-20261116-101212`.
        title: String,
        /// Markdown.
        text: String,
        /// The step it stands behind.
        after: Option<String>,
    }
    /// What the agent was told at its start, from other notes.
    "context" Context {
        /// Markdown, with links to where it stands.
        text: String,
    }
    /// Tokens were used.
    "usage" Usage {
        /// By which model.
        model: String,
        /// Input tokens.
        input: u64,
        /// Output tokens.
        output: u64,
        /// Tokens written to the cache.
        cache_write: u64,
        /// Tokens read from the cache.
        cache_read: u64,
        /// What it cost, in dollars.
        cost: Option<f64>,
    }
    /// The session was paused, closed or taken up again.
    "status" Status {
        /// `active`, `paused`, `completed`, `failed`, `abandoned`.
        status: String,
        /// Why.
        reason: Option<String>,
    }
}

/// A time as notes have it, or RFC 3339.
fn instant<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let read = time::parse(&text);
    read.map(Some).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no time; write 2026-11-20T09:31:04Z")))
}

/// Values that say nothing are not written.
trait Emptiness {
    fn says_nothing(&self) -> bool;
}

fn is_empty(value: &impl Emptiness) -> bool {
    value.says_nothing()
}

impl Emptiness for String {
    fn says_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<T> Emptiness for Option<T> {
    fn says_nothing(&self) -> bool {
        self.is_none()
    }
}

impl<T> Emptiness for Vec<T> {
    fn says_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl Emptiness for bool {
    fn says_nothing(&self) -> bool {
        !self
    }
}

impl Emptiness for u64 {
    fn says_nothing(&self) -> bool {
        *self == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        match Entry::parse(text) {
            Ok(entry) => serde_json::to_string(&entry).unwrap(),
            Err(bad) => format!("{} (column {})", bad.message, bad.column),
        }
    }

    #[test]
    fn reads_what_it_writes() {
        for text in [
            r#"{"event":"phase","title":"Build","agent":"coder@2.0","sub":true}"#,
            r#"{"event":"tool","at":"2026-11-20T09:31:04Z","tool":"Bash","args":"ls","exit":0,"reads":["a@0123abcd"]}"#,
            r#"{"event":"usage","model":"m","input":12}"#,
            r#"{"event":"subagent","agent":"reviewer","mode":"embed"}"#,
        ] {
            assert_eq!(said(text), text);
        }
    }

    #[test]
    fn what_is_decided_cannot_be_told() {
        let found = |text: &str| Entry::told(text).map_err(|bad| (bad.message, bad.column));
        let told = |field: &str, kind: &str| format!("`{field}` of a {kind} cannot be told: cru decides it");
        let step = r#"{"event":"tool","tool":"Bash","args":"make check","check":"passed"}"#;
        assert_eq!(found(step), Err((told("check", "tool"), 51)));
        let copy = r#"{"event":"checkpoint","title":"x","restore":"rm -rf ~"}"#;
        assert_eq!(found(copy), Err((told("restore", "checkpoint"), 35)));
        assert!(found(r#"{"event":"tool","tool":"Bash","args":"check","exit":1}"#).is_ok());
        assert!(Entry::parse(step).is_ok(), "the journal has what was decided");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        insta::assert_snapshot!(
            [
                r#"{"event":"tool","tool":"Bash","argz":"ls"}"#,
                r#"{"event":"tool","tool":"Bash","exit":"one"}"#,
                r#"{"event":"tol"}"#,
                r#"{"tool":"Bash"}"#,
                r#"{"event":"note","text":"x","at":"soon"}"#,
                r#"{"event":"note"}"#,
                r#"{"event":"status","status":"done"}"#,
                "not json",
                "[]",
            ]
            .map(said)
            .join("\n"),
            @r#"
        unknown field `argz`, expected one of `at`, `tool`, `args`, `result`, `failed`, `exit`, `duration`, `reads`, `writes`, `created`, `after`, `replays`, `cell`, `check`, `commits`, `also_active`, `by`, `opened` (column 36)
        invalid type: string "one", expected i32 (column 42)
        unknown event `tol`; it is one of phase, tool, decision, error, resolve, user, subagent, subagent_done, task, lesson, note, question, answer, checkpoint, summary, context, usage, status (column 0)
        it has no `event`; it is one of phase, tool, decision, error, resolve, user, subagent, subagent_done, task, lesson, note, question, answer, checkpoint, summary, context, usage, status (column 0)
        `soon` is no time; write 2026-11-20T09:31:04Z (column 39)
        a note needs `text` (column 0)
        `status` is one of active, paused, completed, failed, abandoned (column 0)
        an entry is a JSON object (column 1)
        an entry is a JSON object (column 1)
        "#
        );
    }
}
