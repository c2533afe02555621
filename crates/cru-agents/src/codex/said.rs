//! Words under a person's name: which are theirs, and which the host put there.

use std::borrow::Cow;

/// What a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// A person's words.
    Words(Cow<'a, str>),
    /// A shell command that the person ran in the host.
    Shell(Cow<'a, str>),
    /// The host's.
    Host,
}

/// Elements that are the host's from their first tag to their last.
const ELEMENTS: &[&str] = &[
    "INSTRUCTIONS",
    "apps_instructions",
    "collaboration_mode",
    "environment_context",
    "environments",
    "goal_context",
    "hook_prompt",
    "image",
    "model_switch",
    "permissions instructions",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "skill",
    "skills_instructions",
    "subagent_notification",
    "turn_aborted",
    "user_action",
    "user_instructions",
];

/// Beginnings of texts that are the host's.
const HEADS: &[&str] = &[
    "# AGENTS.md instructions",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via",
];

/// What an editor puts before the request.
const REQUEST: &[&str] = &["## My request for Codex:", "# My request for Codex:"];

/// What the words of one part are.
pub(super) fn read(text: &str) -> Said<'_> {
    let trimmed = text.trim();
    if trimmed.is_empty() || HEADS.iter().any(|head| trimmed.starts_with(head)) {
        return Said::Host;
    }
    if let Some(rest) = trimmed.strip_prefix("<user_shell_command>") {
        let command = rest.split_once("<command>").and_then(|(_, rest)| rest.split_once("</command>"));
        return command.map_or(Said::Host, |(command, _)| Said::Shell(Cow::Borrowed(command.trim())));
    }
    if let Some(rest) = trimmed.strip_prefix('<') {
        let is = |name: &&&str| {
            let after = rest.strip_prefix(**name);
            after.is_some_and(|after| after.starts_with(['>', ' ', '\n', '/']))
        };
        // `<image name=…>` is opened and closed in parts of their own.
        let closing = rest.strip_prefix('/').is_some_and(|rest| rest.trim_end_matches('>') == "image");
        if closing || ELEMENTS.iter().find(is).is_some_and(|name| *name == "image" || closes(trimmed, name)) {
            return Said::Host;
        }
    }
    Said::Words(Cow::Borrowed(request(text)))
}

/// Whether the text ends with the end of the element that it begins with.
fn closes(text: &str, name: &str) -> bool {
    text.ends_with(&format!("</{name}>"))
}

/// The person's request, without what the editor told beside it.
fn request(text: &str) -> &str {
    if !text.trim_start().starts_with("# Context from my IDE setup:") {
        return text;
    }
    let found = REQUEST.iter().find_map(|mark| text.find(mark).map(|at| &text[at + mark.len()..]));
    found.map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_words_they_are() {
        for text in [
            "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>",
            "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
            "<user_instructions>\n\nBe brief.\n\n</user_instructions>",
            "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
            "<skill>\n<name>x</name>\n</skill>",
            "<image name=[Image #1]>",
            "</image>",
            "  \n",
        ] {
            assert_eq!(read(text), Said::Host, "{text}");
        }
        assert_eq!(
            read("<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>"),
            Said::Shell("ls".into())
        );
        for text in ["add a test", "<skill> is what I mean", "<div>\n</div>", "why does <environment_context> come?"] {
            assert_eq!(read(text), Said::Words(text.into()), "{text}");
        }
        let editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nrename it\n";
        assert_eq!(read(editor), Said::Words("rename it".into()));
    }
}
