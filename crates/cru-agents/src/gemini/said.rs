//! What a message says: the words in its content, and what the host put around those of a person.

use serde_json::Value;

use crate::file::value::{self, attachment, filled, flag, list, word};
use crate::wrapper::{self, Means};
use cru_session::event::Attachment;

/// The rows of the table of wrappers.
const AGENT: &str = super::IMPORTER.id;

/// How a summary begins that takes the place of what was said.
const SUMMARY: &str = "<state_snapshot>";

/// A shell command that a person ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ran<'a> {
    pub(super) command: &'a str,
    pub(super) output: &'a str,
    /// Its exit code, where that is not 0.
    pub(super) exit: Option<i32>,
    /// Whether it was stopped.
    pub(super) stopped: bool,
}

/// What stands under a person's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GeminiSaid<'a> {
    /// Words, theirs or the host's.
    Words,
    /// A shell command and its output.
    Ran(Ran<'a>),
    /// A summary of what was said before.
    Summary(&'a str),
}

/// Reads the words of a user message.
pub(super) fn tell(words: &str) -> GeminiSaid<'_> {
    let words = words.trim();
    let is_summary = words.starts_with('<') && words.contains("</state_snapshot>");
    if let Some(at) = words.find(SUMMARY).filter(|_| is_summary) {
        let inner = &words[at + SUMMARY.len()..];
        return GeminiSaid::Summary(inner.split("</state_snapshot>").next().unwrap_or(inner).trim());
    }
    let is_line = wrapper::means(AGENT, words) == Some(Means::Shell);
    is_line.then(|| ran(words)).flatten().map_or(GeminiSaid::Words, GeminiSaid::Ran)
}

/// A command that the person ran: it stands in a fence, and what it printed in a second one.
fn ran(words: &str) -> Option<Ran<'_>> {
    let (command, rest) = words.split_once("```sh\n")?.1.split_once("\n```")?;
    let output = rest.split_once("```\n").map_or("", |(_, output)| output);
    let output = output.trim_end().trim_end_matches("```").trim_end();
    // How it ended stands in the first line, where it did not end well.
    let first = output.lines().next().unwrap_or("");
    let behind = |head: &str| first.strip_prefix(head).map(|rest| rest.trim_end_matches('.'));
    let exit = behind("Command exited with code ").and_then(|code| code.parse().ok());
    let stopped = behind("Command was cancelled").is_some() || behind("Command terminated by signal: ").is_some();
    let output = if exit.is_some() || stopped { output[first.len()..].trim_start() } else { output };
    Some(Ran { command, output, exit, stopped })
}

/// The words of a message, without thoughts: what was shown, else what was sent.
pub(super) fn words(message: &Value) -> String {
    let shown = message.get("displayContent").map(joined).filter(|words| !words.trim().is_empty());
    shown.unwrap_or_else(|| message.get("content").map(joined).unwrap_or_default())
}

fn joined(content: &Value) -> String {
    match content {
        Value::String(words) => words.clone(),
        Value::Array(parts) => {
            let mut words = String::new();
            for part in parts {
                words.push_str(
                    part.as_str().unwrap_or_else(|| if flag(part, "thought") { "" } else { word(part, "text") }),
                );
            }
            words
        }
        part => word(part, "text").to_owned(),
    }
}

/// Pictures and documents in a message.
pub(super) fn attachments(message: &Value) -> Vec<Attachment<'static>> {
    let sent = |part: &Value| {
        let data = part.get("inlineData")?;
        Some(attachment(filled(data, "mimeType").unwrap_or(value::FILE), word(data, "data")))
    };
    list(message, "content").iter().filter_map(sent).collect()
}

/// Whether a message holds nothing but answers of tools, which their calls tell.
pub(super) fn is_answer(message: &Value) -> bool {
    let parts = list(message, "content");
    !parts.is_empty()
        && parts.iter().any(|part| part.get("functionResponse").is_some())
        && words(message).trim().is_empty()
}

/// Tokens before a compaction that the host tells of, 0 where it does not say: `Chat history compressed from 1200 to
/// 300 tokens.`
pub(super) fn compressed(words: &str) -> Option<u64> {
    let (_, rest) = words.split_once("history compressed from ")?;
    Some(rest.split_whitespace().next().and_then(|number| number.replace([',', '.'], "").parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn persons_and_hosts() {
        assert_eq!(tell(" fix it "), GeminiSaid::Words);
        let ran =
            "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.rs\n```";
        assert_eq!(tell(ran), GeminiSaid::Ran(Ran { command: "ls", output: "a.rs", ..Ran::default() }));
        let failed = "I ran the following shell command:\n```sh\nmake\n```\n\nThis produced the following result:\n```\nCommand exited with code 2.\nno rule\n```";
        assert_eq!(
            tell(failed),
            GeminiSaid::Ran(Ran { command: "make", output: "no rule", exit: Some(2), stopped: false })
        );
        assert_eq!(tell("<state_snapshot>\nall\n</state_snapshot>"), GeminiSaid::Summary("all"));
    }

    #[test]
    fn contents() {
        assert_eq!(words(&json!({"content": [{"text": "a"}, "b", {"text": "no", "thought": true}, 3]})), "ab");
        assert_eq!(words(&json!({"content": "long", "displayContent": "short"})), "short");
        assert_eq!(words(&json!({"content": {"text": "x"}})), "x");
        assert!(is_answer(&json!({"content": [{"functionResponse": {}}]})));
        assert_eq!(compressed("Chat history compressed from 12345 to 300 tokens."), Some(12345));
        assert_eq!(compressed("hello"), None);
    }
}
