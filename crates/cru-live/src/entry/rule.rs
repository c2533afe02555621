//! What an entry must say, and what it names in the note: reading one line, and the rules that its types do not hold.

use cru_action::Verdict;
use serde::Deserialize;

use super::{Bad, Entry, Task};

/// Fields that the program alone fills in, by kind: nobody else can know them, and a verdict is decided from the command,
/// its exit status and its output.
const DECIDED: &[(&str, &[&str])] = &[
    ("tool", &["check", "also_active", "by", "opened"]),
    ("checkpoint", &["files", "left_out", "base", "restore", "id"]),
];

impl Entry {
    /// Reads one JSON object of somebody else: the same without the fields that the program decides itself.
    pub fn told(text: &str) -> Result<Self, Bad> {
        let entry = Self::parse(text)?;
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(text).map_err(|error| bad(&error))?;
        let decided = DECIDED.iter().find(|(kind, _)| *kind == entry.name()).map_or(&[][..], |(_, fields)| fields);
        match decided.iter().find(|field| fields.contains_key(**field)) {
            Some(field) => {
                let column = text.find(&format!("\"{field}\"")).map_or(0, |at| text[..at].chars().count() + 1);
                Err(Bad { message: format!("`{field}` of a {} cannot be told: cru decides it", entry.name()), column })
            }
            None => Ok(entry),
        }
    }

    /// Reads one JSON object.
    pub fn parse(text: &str) -> Result<Self, Bad> {
        #[derive(Deserialize)]
        struct Head {
            event: Option<String>,
        }
        if !text.trim_start().starts_with('{') {
            return Err(Bad { message: "an entry is a JSON object".to_owned(), column: 1 });
        }
        let head: Head = serde_json::from_str(text).map_err(|error| bad(&error))?;
        let kinds = || Self::KINDS.join(", ");
        let Some(name) = head.event else {
            return Err(Bad { message: format!("it has no `event`; it is one of {}", kinds()), column: 0 });
        };
        let entry = Self::of_kind(&name, text)
            .ok_or_else(|| Bad { message: format!("unknown event `{name}`; it is one of {}", kinds()), column: 0 })?
            .map_err(|error| bad(&error))?;
        entry.check().map_err(|message| Bad { message, column: 0 })?;
        Ok(entry)
    }

    /// What it cannot do without.
    pub fn check(&self) -> Result<(), String> {
        let needs = |text: &str, name: &str| {
            if text.trim().is_empty() { Err(format!("a {} needs `{name}`", self.name())) } else { Ok(()) }
        };
        match self {
            Self::Phase(it) => needs(&it.title, "title"),
            Self::Tool(it) if it.check.as_deref().is_some_and(|word| Verdict::of_word(word).is_none()) => {
                Err("`check` of a step is one of passed, failed, unknown".to_owned())
            }
            Self::Tool(it) => needs(&it.tool, "tool"),
            Self::Decision(it) => needs(&it.title, "title"),
            Self::Error(it) => needs(&it.title, "title"),
            Self::Resolve(it) => needs(&it.error, "error").and_then(|()| needs(&it.text, "text")),
            Self::User(it) => needs(&it.words, "words"),
            Self::Subagent(it) => needs(&it.agent, "agent"),
            Self::SubagentDone(it) => needs(it.session.as_deref().unwrap_or(&it.agent), "session"),
            Self::Task(it) => {
                let status = it.status.as_deref().is_none_or(|status| TASK_STATES.contains(&status));
                if !status {
                    return Err(format!("`status` of a task is one of {}", TASK_STATES.join(", ")));
                }
                needs(it.content.as_deref().or(it.task.as_deref()).unwrap_or_default(), "content")
            }
            Self::Lesson(it) => needs(&it.text, "text"),
            Self::Note(it) => needs(&it.text, "text"),
            Self::Question(it) => needs(&it.text, "text"),
            Self::Answer(it) => needs(&it.question, "question").and_then(|()| needs(&it.text, "text")),
            Self::Checkpoint(_) => Ok(()),
            Self::Summary(it) => needs(&it.title, "title"),
            Self::Context(it) => needs(&it.text, "text"),
            Self::Usage(it) => needs(&it.model, "model"),
            Self::Status(it) if STATES.contains(&it.status.as_str()) => Ok(()),
            Self::Status(_) => Err(format!("`status` is one of {}", STATES.join(", "))),
        }
    }

    /// Whether it names something that must be there.
    pub fn points(&self) -> bool {
        let changes = matches!(self, Self::Resolve(_) | Self::Answer(_) | Self::Task(Task { task: Some(_), .. }));
        changes || !self.names().is_empty()
    }

    /// What became of the thing that it speaks of, for a kind that makes none.
    pub fn change(&self) -> Option<&'static str> {
        match self {
            Self::Resolve(_) => Some("resolved"),
            Self::Answer(_) => Some("answered"),
            Self::SubagentDone(_) => Some("done"),
            Self::Task(it) if it.task.is_some() => match it.status.as_deref() {
                Some("completed") => Some("done"),
                Some("in_progress") => Some("started"),
                Some("pending") => Some("not started"),
                _ => None,
            },
            _ => None,
        }
    }

    /// The blocks of the note that it names and that must be there.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        match self {
            Self::Tool(it) => names.extend(it.after.iter().chain(&it.replays).map(String::as_str)),
            Self::Decision(it) => {
                names.extend(it.rests_on.iter().map(String::as_str));
                names.extend(it.after.as_deref());
            }
            Self::Error(it) => {
                names.extend(it.step.iter().map(String::as_str));
                names.extend(it.after.as_deref());
            }
            Self::User(it) => names.extend(it.after.as_deref()),
            Self::Subagent(it) => names.extend(it.after.as_deref()),
            Self::Lesson(it) => {
                names.extend(it.evidence.iter().map(String::as_str));
                names.extend(it.after.as_deref());
            }
            Self::Note(it) => names.extend(it.after.as_deref()),
            Self::Question(it) => names.extend(it.after.as_deref()),
            Self::Checkpoint(it) => names.extend(it.after.as_deref()),
            Self::Summary(it) => names.extend(it.after.as_deref()),
            _ => {}
        }
        names
    }
}

/// The states of a task.
pub const TASK_STATES: &[&str] = &["pending", "in_progress", "completed"];

/// The states of a session.
pub const STATES: &[&str] = &["active", "paused", "completed", "failed", "abandoned"];

/// Without serde's words for the place, which the column says.
fn bad(error: &serde_json::Error) -> Bad {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
    // The two that every kind has are no use to somebody who looks for a name.
    let message = message.replace("one of `event`, `at`, ", "one of `at`, ");
    Bad { message, column: error.column() }
}
