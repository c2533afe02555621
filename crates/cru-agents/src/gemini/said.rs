//! What a message says: the words in its content, and what the host put around those of a person.

use serde_json::Value;

use crate::file::value::{filled, flag, list, text};
use cru_session::event::Attachment;

/// What the host puts behind words that name files.
const FILES: &str = "\n--- Content from referenced files ---";
/// How the host begins the messages that it writes under a person's name.
const HOST: &[&str] = &[
    "System: Please continue.",
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context",
    "<hook_context>",
];
/// How it begins what it tells the agent of a command that the person ran.
const RAN: &str = "I ran the following shell command:\n```sh\n";
/// How a summary begins that takes the place of what was said.
const SUMMARY: &str = "<state_snapshot>";

/// What stands under a person's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// Nothing.
    Nothing,
    /// Their words.
    Words(&'a str),
    /// A command of the host.
    Command(&'a str),
    /// A shell command and its output.
    Ran(&'a str, &'a str),
    /// A summary of what was said before.
    Summary(&'a str),
    /// Words of the host.
    Host,
}

/// Reads the words of a user message.
pub(super) fn tell(words: &str) -> Said<'_> {
    let words = words.trim();
    if words.is_empty() {
        return Said::Nothing;
    }
    if let Some((command, rest)) = words.strip_prefix(RAN).and_then(|rest| rest.split_once("\n```")) {
        let output = rest.split_once("```\n").map_or("", |(_, output)| output);
        return Said::Ran(command, output.trim_end().trim_end_matches("```").trim_end());
    }
    if let Some(at) = words.find(SUMMARY) {
        let inner = &words[at + SUMMARY.len()..];
        return Said::Summary(inner.split("</state_snapshot>").next().unwrap_or(inner).trim());
    }
    if HOST.iter().any(|start| words.starts_with(start)) {
        return Said::Host;
    }
    let own = words.find(FILES).map_or(words, |at| words[..at].trim_end());
    let first = own.split_whitespace().next().unwrap_or("");
    let is_command = first.strip_prefix('/').is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
    });
    if is_command { Said::Command(own) } else { Said::Words(own) }
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
        let bytes = (text(data, "data").trim_end_matches('=').len() as u64).saturating_mul(3) / 4;
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

/// Tokens before a compaction that the host tells of, 0 where it does not say: `Chat history compressed from 1200 to 300 tokens.`
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
        assert_eq!(tell(" fix it "), Said::Words("fix it"));
        assert_eq!(tell("/compress now"), Said::Command("/compress now"));
        assert_eq!(tell("/home/mia is my home"), Said::Words("/home/mia is my home"));
        assert_eq!(tell("System: Please continue."), Said::Host);
        assert_eq!(tell("look @a.rs\n--- Content from referenced files ---\nfn a() {}"), Said::Words("look @a.rs"));
        let ran =
            "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na.rs\n```";
        assert_eq!(tell(ran), Said::Ran("ls", "a.rs"));
        assert_eq!(tell("<state_snapshot>\nall\n</state_snapshot>"), Said::Summary("all"));
        assert_eq!(tell(" "), Said::Nothing);
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
