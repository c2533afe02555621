//! Messages under a person's name: their words, and what the host put beside them.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use super::message::lasting;
use super::reason;
use super::session::OpenCodeSession;
use super::session::{OpenCodeContent, OpenCodeItem};
use crate::file::value::{self, attachment, filled, flag, word};
use crate::unknown::unknown;
use crate::wrapper::{self, Means};
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin};

/// The rows of the table of wrappers.
const AGENT: &str = super::IMPORTER.id;

impl OpenCodeSession<'_> {
    /// Reads a message of a person.
    pub(super) fn user(&mut self, record: u64, time: Option<Timestamp>, _: &Value, parts: &[OpenCodeItem]) {
        self.compacted(None);
        self.by_person = false;
        let mut said = OpenCodeSaid::default();
        for OpenCodeItem { id, content } in parts {
            let part = match content {
                OpenCodeContent::Whole(part) => part,
                OpenCodeContent::Broken(bytes, _) => {
                    self.told.take_broken(bytes, id, "broken part");
                    continue;
                }
                OpenCodeContent::Cut => {
                    self.told.later();
                    continue;
                }
            };
            let Some(number) = self.told.take(&lasting(part), id) else { continue };
            match word(part, "type") {
                "compaction" => {
                    self.told.shown();
                    let trigger = if flag(part, "auto") { "auto" } else { "manual" };
                    self.compaction = Some((number, time, trigger));
                }
                "text"
                    if flag(part, "synthetic") && wrapper::means(AGENT, word(part, "text")) == Some(Means::Shell) =>
                {
                    self.told.shown();
                    self.by_person = true;
                }
                _ => self.told.count(said.take(part)),
            }
        }
        let OpenCodeSaid { words, command, attachments } = said;
        let origin = match command {
            _ if self.told.is_agent() => PromptOrigin::Task,
            true => PromptOrigin::Command,
            false => PromptOrigin::Typed,
        };
        if !words.trim().is_empty() || !attachments.is_empty() {
            let prompt = Prompt { text: words.into(), origin, attachments };
            self.told.emit(record, time, EventKind::Prompt(prompt));
        }
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

/// What a person said and sent.
#[derive(Default)]
struct OpenCodeSaid {
    words: String,
    command: bool,
    attachments: Vec<Attachment<'static>>,
}

impl OpenCodeSaid {
    /// Takes a part; why it is left out, where it is.
    fn take(&mut self, part: &Value) -> Option<&'static str> {
        match word(part, "type") {
            "text" if flag(part, "synthetic") => Some(reason::HOST_WORDS),
            "text" if flag(part, "ignored") => Some("words that the agent does not see"),
            "text" => match filled(part, "text") {
                Some(words) => {
                    let words = wrapper::own_words(AGENT, words);
                    if words.trim().is_empty() {
                        return Some(reason::HOST_WORDS);
                    }
                    self.say(&unquoted(&words));
                    None
                }
                None => Some(reason::EMPTY),
            },
            "file" => self.file(part),
            "subtask" => {
                let words = filled(part, ["prompt", "description"]).unwrap_or("");
                match (filled(part, "command"), filled(part, "agent")) {
                    (Some(command), _) => {
                        self.command = true;
                        let words = filled(part, "description").filter(|said| *said != command).unwrap_or("");
                        self.say(format!("/{command} {words}").trim());
                    }
                    (None, Some(agent)) => self.say(&format!("@{agent} {words}")),
                    (None, None) => self.say(words),
                }
                None
            }
            "agent" => Some("agent that the words name"),
            "snapshot" | "step-start" => Some("snapshot of the files"),
            "" => Some("no part type"),
            kind => Some(unknown("unknown part", kind)),
        }
    }

    fn say(&mut self, words: &str) {
        if !self.words.is_empty() {
            self.words.push_str("\n\n");
        }
        self.words.push_str(words);
    }

    /// A file: one that the words name is no attachment.
    fn file(&mut self, part: &Value) -> Option<&'static str> {
        let (mime, url) = (word(part, "mime"), word(part, "url"));
        let named = part.get("source").and_then(|source| source.get("text")).is_some();
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        if data.is_none() && (named || mime.starts_with("text/") || mime == "application/x-directory") {
            return Some("file that the words name");
        }
        self.attachments
            .push(attachment(if mime.is_empty() { value::FILE } else { mime }, data.map_or("", |(_, data)| data)));
        None
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
