//! Messages under a person's name: their words, and what the host put beside them.

use std::borrow::Cow;

use serde_json::Value;

use super::state::OpenCodeSession;
use super::{EMPTY, HOST};
use crate::file::value::{self, attachment, filled, flag, word};
use crate::record::session::HOST_WORDS;
use crate::stream::out::Out;
use crate::unknown::unknown;
use crate::wrapper::{self, Means};
use cru_session::event::{EventKind, PromptOrigin};

impl OpenCodeSession {
    /// Takes a part of a person's message; why it is left out, where it is.
    pub(super) fn said(&mut self, part: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        match (word(part, "type"), filled(part, "text")) {
            ("compaction", _) => {
                self.compaction_asked(if flag(part, "auto") { "auto" } else { "manual" }, out);
                None
            }
            ("text", words) if flag(part, "synthetic") => {
                let is_shell = wrapper::means(HOST.id, words.unwrap_or_default()) == Some(Means::Shell);
                self.by_person |= is_shell;
                (!is_shell).then_some(HOST_WORDS)
            }
            ("text", _) if flag(part, "ignored") => Some("words that the agent does not see"),
            ("text", None) => Some(EMPTY),
            ("text", Some(words)) => {
                // What a sub-agent is given is all its task.
                let own = if self.session.is_agent { words.into() } else { wrapper::own_words(HOST.id, words) };
                self.say(&unquoted(&own))
            }
            ("file", _) => self.file(part),
            ("subtask", _) => {
                let words = filled(part, ["prompt", "description"]).unwrap_or("");
                match (filled(part, "command"), filled(part, "agent")) {
                    // The prompt is the command's template, filled in with what was typed behind its name.
                    (Some(command), _) => {
                        self.typed.origin = PromptOrigin::Command;
                        let prompt = word(part, "prompt");
                        let said = match wrapper::typed(HOST.id, prompt) {
                            Some(typed) => format!("/{command} {typed}"),
                            // What of it was typed stands nowhere.
                            None => format!("/{command}\n\n{prompt}"),
                        };
                        self.say(said.trim())
                    }
                    (None, Some(agent)) => self.say(&format!("@{agent} {words}")),
                    (None, None) => self.say(words),
                }
            }
            ("agent", _) => Some("agent that the words name"),
            ("snapshot" | "step-start", _) => Some("snapshot of the files"),
            ("", _) => Some("no part type"),
            (kind, _) => Some(unknown("unknown part", kind)),
        }
    }

    fn say(&mut self, words: &str) -> Option<&'static str> {
        if words.trim().is_empty() {
            return Some(HOST_WORDS);
        }
        let text = self.typed.text.to_mut();
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(words);
        None
    }

    /// A person's message is read to its end.
    pub(super) fn said_all(&mut self, out: &mut Out<'_>) {
        let mut typed = std::mem::take(&mut self.typed);
        if self.session.is_agent {
            typed.origin = PromptOrigin::Task;
        }
        if !typed.text.trim().is_empty() || !typed.attachments.is_empty() {
            out.emit_at(self.typed_in, self.time, EventKind::Prompt(typed));
        }
    }

    /// A file: one that the words name is no attachment.
    fn file(&mut self, part: &Value) -> Option<&'static str> {
        let (mime, url) = (word(part, "mime"), word(part, "url"));
        let named = part.pointer("/source/text").is_some();
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        if data.is_none() && (named || mime.starts_with("text/") || mime == "application/x-directory") {
            return Some("file that the words name");
        }
        let sent = attachment(if mime.is_empty() { value::FILE } else { mime }, data.map_or("", |(_, data)| data));
        self.typed.attachments.push(sent);
        None
    }
}

/// Words without the quotes that `opencode run` puts around an argument that has spaces.
fn unquoted(words: &str) -> Cow<'_, str> {
    let inner = words.trim_end().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner.filter(|inner| inner.contains(char::is_whitespace)) {
        Some(inner) if !inner.replace("\\\"", "").contains('"') => Cow::Owned(inner.replace("\\\"", "\"")),
        _ => Cow::Borrowed(words),
    }
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn quotes_of_the_command_line_come_off() {
        for (words, expected) in [
            ("\"Fix the pump\n\"\n", "Fix the pump\n"),
            (r#""Say \"hi\" to it""#, r#"Say "hi" to it"#),
            (r#""one" and "two""#, r#""one" and "two""#),
            ("\"word\"", "\"word\""),
            ("\"", "\""),
            ("fix it", "fix it"),
        ] {
            assert_eq!(unquoted(words), expected);
        }
    }
}
