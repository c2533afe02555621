//! What a user line really is: a person's words, or something the host put there under their name.
//!
//! The host writes commands, shell lines, notices and reminders as user messages in tags of its own. A text is judged
//! by how it begins; inside a person's own text only the parts that the host inserts are cut out.

use std::borrow::Cow;

use crate::wrapper::{self, Means};

/// The rows of the table of wrappers.
const AGENT: &str = super::IMPORTER.id;

/// A text under a person's name, told apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClaudeSaid<'a> {
    /// Words of a person.
    Words(Cow<'a, str>),
    /// A command of the host or of the person's own, as typed: `/review src`.
    Command(String),
    /// A line for the shell: `ls -l`.
    Shell(Cow<'a, str>),
    /// What that line printed.
    ShellOutput(String),
    /// Something that ran in the background came back.
    Notice(Notice<'a>),
    /// The person stopped the agent; whether a tool ran.
    Interrupt { tool: bool },
    /// The summary after a compaction.
    Summary(Cow<'a, str>),
    /// A plan that the person accepted, with which the context was cleared, in the words that the host makes of it.
    Plan(Cow<'a, str>),
    /// Left out, and why.
    Nothing(&'static str),
}

/// A `<task-notification>`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Notice<'a> {
    pub(crate) task: &'a str,
    pub(crate) status: &'a str,
    pub(crate) summary: &'a str,
    pub(crate) result: Option<&'a str>,
}

/// Reasons that are told for records which are left out.
pub(super) mod reason {
    pub(in super::super) const EMPTY: &str = "empty message";
    pub(in super::super) const INJECTED: &str = "injected by the host";
    pub(in super::super) const INTERFACE: &str = "command of the host's interface";
    pub(in super::super) const OTHER_AGENT: &str = "message of another agent";
}

/// Commands of the table that say something about the work: the one when it has words, the other always.
const TELLING: [&str; 2] = ["compact", "plan"];

/// Tells what a text under a person's name is.
pub(crate) fn tell(text: &str) -> ClaudeSaid<'_> {
    let start = text.trim();
    if start.is_empty() {
        return ClaudeSaid::Nothing(reason::EMPTY);
    }
    if let Some(rest) = start.strip_prefix("[Request interrupted by user") {
        match rest {
            "]" => return ClaudeSaid::Interrupt { tool: false },
            " for tool use]" => return ClaudeSaid::Interrupt { tool: true },
            _ => {}
        }
    }
    match wrapper::means(AGENT, start) {
        Some(Means::Command) => command(start),
        Some(Means::Shell) => {
            element(start, "bash-input").map_or_else(|| words(text), |line| ClaudeSaid::Shell(line.trim().into()))
        }
        Some(Means::ShellOutput) => {
            let output = element(start, "bash-stdout").unwrap_or("");
            let errors = element(start, "bash-stderr").unwrap_or("");
            let between = if output.is_empty() || errors.is_empty() || output.ends_with('\n') { "" } else { "\n" };
            ClaudeSaid::ShellOutput(format!("{output}{between}{errors}"))
        }
        Some(Means::Notice) => ClaudeSaid::Notice(notice(start)),
        Some(Means::Memory) => {
            let note = element(start, "user-memory-input");
            note.map_or_else(|| words(text), |note| ClaudeSaid::Command(format!("# {}", note.trim())))
        }
        Some(Means::Summary) => ClaudeSaid::Summary(Cow::Borrowed(start)),
        Some(Means::Plan) => ClaudeSaid::Plan(Cow::Borrowed(text)),
        Some(Means::Agent) => ClaudeSaid::Nothing(reason::OTHER_AGENT),
        Some(_) => ClaudeSaid::Nothing(reason::INJECTED),
        None => words(text),
    }
}

/// The plan in the words that the host makes of one which a person accepted.
pub(crate) fn plan_in(text: &str) -> &str {
    let inside = text.split_once(':').map_or(text, |(_, plan)| plan);
    // Behind it the host says where more is to be found.
    inside.rfind("\n\nIf you need specific details").map_or(inside, |at| &inside[..at]).trim()
}

/// As [`tell`], for words that were typed into the queue: a command stands there as it was typed.
pub(super) fn tell_queued(text: &str) -> ClaudeSaid<'_> {
    let line = text.trim();
    if let Some(name) = line.strip_prefix('/').and_then(|rest| rest.split_whitespace().next()) {
        // A path holds a second slash.
        let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
        if is_interface(name) {
            return ClaudeSaid::Nothing(reason::INTERFACE);
        }
        if is_name {
            return ClaudeSaid::Command(line.to_owned());
        }
    }
    if wrapper::is(AGENT, Means::Queued, line) {
        return ClaudeSaid::Nothing(reason::INJECTED);
    }
    tell(text)
}

/// Whether a command only works the host's interface and says nothing about the work.
fn is_interface(command: &str) -> bool {
    !TELLING.contains(&command) && super::IMPORTER.agent().commands.iter().any(|known| known == command)
}

/// The part of `text` between `<name>` and the last `</name>`.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    // What a person wrote may itself hold the closing tag.
    rest.rsplit_once(&format!("</{name}>")).map(|(inside, _)| inside)
}

fn command(text: &str) -> ClaudeSaid<'_> {
    let name = first_element(text, "command-name").unwrap_or("").trim();
    let args = element(text, "command-args").unwrap_or("").trim();
    let bare = name.trim_start_matches('/');
    if bare.is_empty() {
        return ClaudeSaid::Nothing(reason::INTERFACE);
    }
    // What a compaction leads to is told by itself; what the person asked of it is not.
    if is_interface(bare) || (bare == "compact" && args.is_empty()) {
        return ClaudeSaid::Nothing(reason::INTERFACE);
    }
    let blank = if args.is_empty() { "" } else { " " };
    ClaudeSaid::Command(format!("/{bare}{blank}{args}"))
}

fn first_element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inside, _)| inside)
}

fn notice(text: &str) -> Notice<'_> {
    let head = |name| first_element(text, name).unwrap_or("").trim();
    Notice {
        task: Some(head("task-id")).filter(|id| !id.is_empty()).unwrap_or_else(|| head("agent-id")),
        status: head("status"),
        summary: head("summary"),
        result: element(text, "result").map(str::trim).filter(|result| !result.is_empty()),
    }
}

/// A person's own text without what the host inserted.
fn words(text: &str) -> ClaudeSaid<'_> {
    match wrapper::own_words(AGENT, text) {
        Cow::Borrowed(text) => ClaudeSaid::Words(Cow::Borrowed(text)),
        Cow::Owned(rest) if rest.trim().is_empty() => ClaudeSaid::Nothing(reason::INJECTED),
        Cow::Owned(rest) => ClaudeSaid::Words(Cow::Owned(rest.trim().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_as_they_are() {
        assert_eq!(tell(" fix the <b>login</b>\n"), ClaudeSaid::Words(" fix the <b>login</b>\n".into()));
        assert_eq!(tell("<div>why?</div>"), ClaudeSaid::Words("<div>why?</div>".into()));
        assert_eq!(
            tell("look: <command-name>/x</command-name>"),
            ClaudeSaid::Words("look: <command-name>/x</command-name>".into())
        );
        assert_eq!(tell(" \n"), ClaudeSaid::Nothing(reason::EMPTY));
    }

    #[test]
    fn commands_as_typed() {
        let long = "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n<command-args>src and </command-args> too</command-args>";
        assert_eq!(tell(long), ClaudeSaid::Command("/review src and </command-args> too".into()));
        assert_eq!(
            tell("<command-name>init</command-name>\n  <command-args></command-args>"),
            ClaudeSaid::Command("/init".into())
        );
        assert_eq!(
            tell("<command-name>/model</command-name><command-args>x</command-args>"),
            ClaudeSaid::Nothing(reason::INTERFACE)
        );
        assert_eq!(
            tell("<command-name>/compact</command-name><command-args></command-args>"),
            ClaudeSaid::Nothing(reason::INTERFACE)
        );
        let compact = "<command-name>/compact</command-name><command-args>keep the plan</command-args>";
        assert_eq!(tell(compact), ClaudeSaid::Command("/compact keep the plan".into()));
    }

    #[test]
    fn queued_words() {
        assert_eq!(tell_queued("/model"), ClaudeSaid::Nothing(reason::INTERFACE));
        assert_eq!(tell_queued("/review src "), ClaudeSaid::Command("/review src".into()));
        assert_eq!(tell_queued("/etc/hosts is wrong"), ClaudeSaid::Words("/etc/hosts is wrong".into()));
        assert_eq!(tell_queued("{\"task_id\":\"b1\"}"), ClaudeSaid::Nothing(reason::INJECTED));
    }

    #[test]
    fn shell_lines() {
        assert_eq!(tell("<bash-input> ls -l</bash-input>"), ClaudeSaid::Shell("ls -l".into()));
        let output = "<bash-stdout>one</bash-stdout><bash-stderr>two</bash-stderr>";
        assert_eq!(tell(output), ClaudeSaid::ShellOutput("one\ntwo".into()));
    }

    #[test]
    fn host_texts() {
        assert_eq!(tell("[Request interrupted by user]"), ClaudeSaid::Interrupt { tool: false });
        assert_eq!(tell("[Request interrupted by user for tool use]"), ClaudeSaid::Interrupt { tool: true });
        assert!(matches!(tell("[Request interrupted by user] was what I saw"), ClaudeSaid::Words(_)));
        assert_eq!(tell("<local-command-stdout>ok</local-command-stdout>"), ClaudeSaid::Nothing(reason::INJECTED));
        assert_eq!(
            tell("<teammate-message teammate_id=\"a\">hi</teammate-message>"),
            ClaudeSaid::Nothing(reason::OTHER_AGENT)
        );
        assert!(matches!(
            tell("This session is being continued from a previous conversation that ran out of context. …"),
            ClaudeSaid::Summary(_)
        ));
    }

    #[test]
    fn inserted_parts_are_cut_out() {
        let text = "<ide_opened_file>The user opened a.rs</ide_opened_file>\nrename it<system-reminder>be kind</system-reminder>";
        assert_eq!(tell(text), ClaudeSaid::Words("rename it".into()));
        assert_eq!(tell("<system-reminder>only this</system-reminder>"), ClaudeSaid::Nothing(reason::INJECTED));
        assert_eq!(tell("what is <system-reminder>?"), ClaudeSaid::Words("what is <system-reminder>?".into()));
    }

    #[test]
    fn notices() {
        let text = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent done</summary>\n<result>Two findings.</result>\n</task-notification>";
        let wanted = Notice { task: "a1", status: "completed", summary: "Agent done", result: Some("Two findings.") };
        assert_eq!(tell(text), ClaudeSaid::Notice(wanted));
    }
}
