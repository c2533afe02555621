//! Words under a person's name: which are theirs, and which the host put there.

use std::borrow::Cow;

use crate::wrapper::{self, Means};

/// The rows of the table of wrappers.
const AGENT: &str = super::IMPORTER.id;

/// What a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CodexSaid<'a> {
    /// A person's words.
    Words(Cow<'a, str>),
    /// A shell command that the person ran in the host.
    Shell(ShellRun),
    /// The host's.
    Host,
}

/// A command that a person ran, and what came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellRun {
    pub(super) command: String,
    /// Whether the record says how it ended.
    pub(super) ended: bool,
    pub(super) exit: Option<i32>,
    pub(super) duration_ms: Option<u64>,
    pub(super) output: String,
}

/// What the words of one part are.
pub(super) fn read(text: &str) -> CodexSaid<'_> {
    let trimmed = text.trim();
    match wrapper::means(AGENT, trimmed) {
        _ if trimmed.is_empty() => CodexSaid::Host,
        Some(Means::Shell) => shell(trimmed).map_or(CodexSaid::Host, CodexSaid::Shell),
        Some(_) => CodexSaid::Host,
        None => match wrapper::own_words(AGENT, text) {
            own if own.trim().is_empty() => CodexSaid::Host,
            own => CodexSaid::Words(own),
        },
    }
}

/// Whether a text looks as what hosts write: one element from its beginning to its end.
pub(super) fn is_element(text: &str) -> bool {
    let inside = text.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let name = inside.and_then(|inside| inside.split(['>', ' ', '\n']).next());
    name.is_some_and(|name| !name.is_empty() && inside.is_some_and(|inside| inside.ends_with(&format!("</{name}"))))
}

/// The agent's words as the host shows them, and as the event of the same answer has them: without the element of its own that may
/// close them, `<oai-mem-citation>`.
pub(super) fn shown(text: &str) -> &str {
    let text = text.trim_end();
    let own = text.rfind("\n<oai-").filter(|at| is_element(&text[*at..]));
    own.map_or(text, |at| text[..at].trim_end())
}

fn shell(text: &str) -> Option<ShellRun> {
    let between = |text: &str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from)?;
        Some(rest.rsplit_once(to).map_or(rest, |(inside, _)| inside).to_owned())
    };
    let command = text.split_once("<command>")?.1.split_once("</command>")?.0.trim().to_owned();
    let Some(told) = between(text, "<result>", "</result>") else {
        return Some(ShellRun { command, ..ShellRun::default() });
    };
    let head = told.split("\nOutput:").next().unwrap_or(&told);
    let line = |name: &str| head.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    let exit = line("Exit code:").and_then(|code| code.parse().ok());
    let seconds = line("Duration:").and_then(|it| it.split_whitespace().next()?.parse::<f64>().ok());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let duration_ms = seconds.filter(|it| *it >= 0.0).map(|seconds| (seconds * 1000.0) as u64);
    let output = told.split_once("\nOutput:").map_or("", |(_, output)| output).trim().to_owned();
    Some(ShellRun { command, ended: true, exit, duration_ms, output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_keeps_for_itself_is_not_shown() {
        let citation =
            "<oai-mem-citation>\n<citation_entries>\nMEMORY.md:1-2\n</citation_entries>\n</oai-mem-citation>";
        assert_eq!(shown(&format!("Done.\n\n{citation}\n")), "Done.");
        for text in ["Done.", "Done.\n<oai-x> is a tag", "`<oai-x></oai-x>`", &format!("Done.\n{citation}\nMore.")] {
            assert_eq!(shown(text), text);
        }
    }

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
            assert_eq!(read(text), CodexSaid::Host, "{text}");
        }
        assert_eq!(
            read("<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>"),
            CodexSaid::Shell(ShellRun { command: "ls".into(), ..ShellRun::default() })
        );
        let ended = "<user_shell_command>\n<command>\ngo test\n</command>\n<result>\nExit code: 1\nDuration: 2.5000 seconds\nOutput:\nFAIL\n</result>\n</user_shell_command>";
        let wanted = ShellRun {
            command: "go test".into(),
            ended: true,
            exit: Some(1),
            duration_ms: Some(2500),
            output: "FAIL".into(),
        };
        assert_eq!(read(ended), CodexSaid::Shell(wanted));
        for text in ["add a test", "<skill> is what I mean", "<div>\n</div>", "why does <environment_context> come?"] {
            assert_eq!(read(text), CodexSaid::Words(text.into()), "{text}");
        }
        let editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nrename it\n";
        assert_eq!(read(editor), CodexSaid::Words("rename it".into()));
    }
}
