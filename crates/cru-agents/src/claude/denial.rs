//! Refused tool calls: who refused, and what was said.
//!
//! The host writes a refusal as an error text in words that changed over the versions; newer records also carry the
//! kind of refusal and the person's words as fields.

use crate::wrapper::{self, Means};

/// The rows of the table of wrappers.
const AGENT: &str = super::IMPORTER.id;

/// What a failed answer says about a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Denial<'a> {
    /// A person refused the call, perhaps with words.
    Person(Option<&'a str>),
    /// The host's permissions refused it, for this reason.
    Host(&'a str),
    /// The call was stopped while it ran.
    Interrupted,
}

/// What stands before a person's words.
const BEFORE_WORDS: &[&str] = &[
    "To tell you how to proceed, the user said:",
    "The user provided the following reason for the rejection:",
    "the user said:",
];

/// What the host adds after a person's words.
const AFTER_WORDS: &[&str] = &[
    "\n\nNote: The user's next message may contain a correction or preference.",
    "\n\nNote: The user",
    "\n\nRejected plan:",
];

/// Beginnings of words that the host wrote for the person.
const NOT_WORDS: &[&str] = &["The user wants to clarify these questions."];

/// What stands before and after the host's reason.
const REASON: (&str, &str) = ("Reason: ", ". If you have other tasks");

/// Reads the text of a failed answer, its kind (`toolDenialKind`) and the words in a field of their own.
pub(super) fn read<'a>(text: &'a str, kind: &str, feedback: Option<&'a str>) -> Option<Denial<'a>> {
    match kind {
        "interrupted" | "cancelled" => return Some(Denial::Interrupted),
        "user-rejected" => return Some(Denial::Person(feedback.or_else(|| words(text)))),
        _ => {}
    }
    let text = text.trim_start();
    if wrapper::is(AGENT, Means::Refused, text) {
        return Some(Denial::Person(feedback.or_else(|| words(text))));
    }
    if text.starts_with("[Request interrupted by user") {
        // In the editor's window the answer is the interruption itself.
        return Some(Denial::Interrupted);
    }
    let first = text.lines().next().unwrap_or("");
    let by_host = !kind.is_empty() || wrapper::is(AGENT, Means::RefusedByHost, first);
    let reason = first.split_once(REASON.0).map_or(first, |(_, reason)| reason);
    by_host.then(|| Denial::Host(reason.split(REASON.1).next().unwrap_or(reason).trim()))
}

fn words(text: &str) -> Option<&str> {
    let from = BEFORE_WORDS.iter().find_map(|mark| text.find(mark).map(|at| at + mark.len()))?;
    let mut words = &text[from..];
    for mark in AFTER_WORDS {
        words = words.find(mark).map_or(words, |end| &words[..end]);
    }
    let words = words.trim();
    let own = !words.is_empty() && !NOT_WORDS.iter().any(|head| words.starts_with(head));
    own.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wordings_of_all_times() {
        let head = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). ";
        let said = format!(
            "{head}To tell you how to proceed, the user said:\nuse pnpm\n\nplease\n\nNote: The user's next message may contain a correction or preference. Pay close attention"
        );
        assert_eq!(read(&said, "", None), Some(Denial::Person(Some("use pnpm\n\nplease"))));
        let reason = format!("{head}The user provided the following reason for the rejection:  use pnpm");
        assert_eq!(read(&reason, "", None), Some(Denial::Person(Some("use pnpm"))));
        let stop = format!("{head}STOP what you are doing and wait for the user to tell you how to proceed.");
        assert_eq!(read(&stop, "", None), Some(Denial::Person(None)));
        let host = format!(
            "{head}To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n  More"
        );
        assert_eq!(read(&host, "", None), Some(Denial::Person(None)));
    }

    #[test]
    fn permissions_of_the_host() {
        let told = |text: &str, reason: &str| assert_eq!(read(text, "", None), Some(Denial::Host(reason)), "{text}");
        told(
            "Permission for this action was denied by the Claude Code auto mode classifier. Reason: Pushing to main. If you have other tasks that don't depend on this action, continue working on those.",
            "Pushing to main",
        );
        told("Permission to use Bash has been denied.", "Permission to use Bash has been denied.");
        let asked = "Claude requested permissions to use WebSearch, but you haven't granted it yet.";
        told(asked, asked);
        for whole in [
            "This command requires approval",
            "This Bash command contains multiple operations. The following part requires approval: rm -r x",
            "cd to '/etc' was blocked. For security, Claude Code may only change directories to the child directories of the allowed working directories for this session: '/a'.",
        ] {
            told(whole, whole);
        }
        assert_eq!(read("the port was blocked. For security", "", None), None);
        assert_eq!(read("Permission to read a: it has\nbeen denied", "", None), None);
        assert_eq!(read("ls: Permission denied", "", None), None);
    }

    #[test]
    fn fields_of_newer_records() {
        assert_eq!(read("no", "user-rejected", Some("wait")), Some(Denial::Person(Some("wait"))));
        assert_eq!(read("no", "interrupted", None), Some(Denial::Interrupted));
        assert_eq!(read("No.", "rule", None), Some(Denial::Host("No.")));
        assert_eq!(read("[Request interrupted by user for tool use]", "", None), Some(Denial::Interrupted));
        assert_eq!(read("Exit code 1", "", None), None);
    }
}
