//! What a message says: the words in its content, and what the host put around those of a person.

use std::borrow::Cow;

use serde_json::Value;

use crate::file::value::{base64_size, filled, flag, list, text};
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
    /// Nothing.
    Nothing,
    /// Their words.
    Words(Cow<'a, str>),
    /// A command of the host.
    Command(Cow<'a, str>),
    /// A shell command and its output.
    Ran(Ran<'a>),
    /// A summary of what was said before.
    Summary(&'a str),
    /// Words of the host.
    Host,
}

/// Reads the words of a user message.
pub(super) fn tell(words: &str) -> GeminiSaid<'_> {
    let words = words.trim();
    if words.is_empty() {
        return GeminiSaid::Nothing;
    }
    let is_summary = words.starts_with('<') && words.contains("</state_snapshot>");
    if let Some(at) = words.find(SUMMARY).filter(|_| is_summary) {
        let inner = &words[at + SUMMARY.len()..];
        return GeminiSaid::Summary(inner.split("</state_snapshot>").next().unwrap_or(inner).trim());
    }
    match wrapper::means(AGENT, words) {
        Some(Means::Shell) => return ran(words),
        Some(_) => return GeminiSaid::Host,
        None => {}
    }
    let own = wrapper::own_words(AGENT, words);
    if own.trim().is_empty() {
        return GeminiSaid::Host;
    }
    if wrapper::is_command(&own) { GeminiSaid::Command(own) } else { GeminiSaid::Words(own) }
}

/// A command that the person ran: it stands in a fence, and what it printed in a second one.
fn ran(words: &str) -> GeminiSaid<'_> {
    let Some((_, rest)) = words.split_once("```sh\n") else { return GeminiSaid::Host };
    let Some((command, rest)) = rest.split_once("\n```") else { return GeminiSaid::Host };
    let output = rest.split_once("```\n").map_or("", |(_, output)| output);
    let output = output.trim_end().trim_end_matches("```").trim_end();
    // How it ended stands in the first line, where it did not end well.
    let first = output.lines().next().unwrap_or("");
    let behind = |head: &str| first.strip_prefix(head).map(|rest| rest.trim_end_matches('.'));
    let exit = behind("Command exited with code ").and_then(|code| code.parse().ok());
    let stopped = behind("Command was cancelled").is_some() || behind("Command terminated by signal: ").is_some();
    let output = if exit.is_some() || stopped { output[first.len()..].trim_start() } else { output };
    GeminiSaid::Ran(Ran { command, output, exit, stopped })
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
                    part.as_str().unwrap_or_else(|| if flag(part, "thought") { "" } else { text(part, "text") }),
                );
            }
            words
        }
        part => text(part, "text").to_owned(),
    }
}

/// Pictures and documents in a message.
pub(super) fn attachments(message: &Value) -> Vec<Attachment<'static>> {
    let sent = |part: &Value| {
        let data = part.get("inlineData")?;
        let bytes = base64_size(text(data, "data"));
        let media_type = filled(data, "mimeType").unwrap_or("application/octet-stream").to_owned();
        Some(Attachment { media_type: media_type.into(), bytes })
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
        assert_eq!(tell(" fix it "), GeminiSaid::Words("fix it".into()));
        assert_eq!(tell("/compress now"), GeminiSaid::Command("/compress now".into()));
        assert_eq!(tell("/home/mia is my home"), GeminiSaid::Words("/home/mia is my home".into()));
        assert_eq!(tell("System: Please continue."), GeminiSaid::Host);
        assert_eq!(
            tell("look @a.rs\n--- Content from referenced files ---\nfn a() {}"),
            GeminiSaid::Words("look @a.rs".into())
        );
        let ran =
            "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.rs\n```";
        assert_eq!(tell(ran), GeminiSaid::Ran(Ran { command: "ls", output: "a.rs", ..Ran::default() }));
        let failed = "I ran the following shell command:\n```sh\nmake\n```\n\nThis produced the following result:\n```\nCommand exited with code 2.\nno rule\n```";
        assert_eq!(
            tell(failed),
            GeminiSaid::Ran(Ran { command: "make", output: "no rule", exit: Some(2), stopped: false })
        );
        let before = "<hook_context>kept notes</hook_context>\n\nMake it purr";
        assert_eq!(tell(before), GeminiSaid::Words("Make it purr".into()));
        assert_eq!(tell("Hum<hook_context>a.c changed</hook_context>"), GeminiSaid::Words("Hum".into()));
        assert_eq!(tell("<hook_context>kept notes</hook_context>"), GeminiSaid::Host);
        let steering = "User steering update:\n<user_input>\nuse tabs\n</user_input>\nInternal instruction: Go on.";
        assert_eq!(tell(steering), GeminiSaid::Words("use tabs".into()));
        assert_eq!(tell("<state_snapshot>\nall\n</state_snapshot>"), GeminiSaid::Summary("all"));
        assert_eq!(tell(" "), GeminiSaid::Nothing);
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
