//! Words under a person's name: which are theirs, and which the host put there.

use std::borrow::Cow;

use super::answer::seconds;
use crate::wrapper::{self, Means};
use cru_session::event::CallResult;

/// The rows of the table of wrappers.
const AGENT: &str = super::IMPORTER.id;

/// What a text is.
#[derive(Debug)]
pub(super) enum CodexSaid<'a> {
    /// A person's words.
    Words(Cow<'a, str>),
    /// A shell command that the person ran in the host, and what came of it, where the record says so.
    Shell(String, Option<Box<CallResult<'static>>>),
    /// The host's.
    Host,
}

/// What the words of one part are.
pub(super) fn read(text: &str) -> CodexSaid<'_> {
    let trimmed = text.trim();
    match wrapper::means(AGENT, trimmed) {
        _ if trimmed.is_empty() => CodexSaid::Host,
        Some(Means::Shell) => shell(trimmed).map_or(CodexSaid::Host, |(command, ran)| CodexSaid::Shell(command, ran)),
        Some(_) => CodexSaid::Host,
        None => match wrapper::own_words(AGENT, text) {
            own if own.trim().is_empty() => CodexSaid::Host,
            own => CodexSaid::Words(own),
        },
    }
}

/// How many files the host says that a person sent with their words.
pub(super) fn files(text: &str) -> usize {
    let text = text.trim_start();
    let named = || text.lines().skip(1).take_while(|line| !line.ends_with(':')).filter(|line| line.starts_with("## "));
    if wrapper::is(AGENT, Means::Files, text) { named().count() } else { 0 }
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

fn shell(text: &str) -> Option<(String, Option<Box<CallResult<'static>>>)> {
    let between = |text: &str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from)?;
        Some(rest.rsplit_once(to).map_or(rest, |(inside, _)| inside).to_owned())
    };
    let command = text.split_once("<command>")?.1.split_once("</command>")?.0.trim().to_owned();
    let Some(told) = between(text, "<result>", "</result>") else { return Some((command, None)) };
    let head = told.split("\nOutput:").next().unwrap_or(&told);
    let line = |name: &str| head.lines().find_map(|line| line.trim().strip_prefix(name)).map(str::trim);
    let exit = line("Exit code:").and_then(|code| code.parse().ok()).filter(|code| *code != 0);
    let duration_ms = seconds(line("Duration:").and_then(|it| it.split_whitespace().next()?.parse().ok()));
    let output = told.split_once("\nOutput:").map_or("", |(_, output)| output).trim().to_owned();
    let brief = (output.is_empty() && exit.is_none()).then(|| "no output".into());
    let (failed, output) = (exit.is_some(), output.into());
    let ran = CallResult { output, brief, failed, exit, duration_ms, ..CallResult::default() };
    Some((command, Some(Box::new(ran))))
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
            assert!(matches!(read(text), CodexSaid::Host), "{text}");
        }
        let open = "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>";
        assert!(matches!(read(open), CodexSaid::Shell(command, None) if command == "ls"));
        let ended = "<user_shell_command>\n<command>\ngo test\n</command>\n<result>\nExit code: 1\nDuration: 2.5000 seconds\nOutput:\nFAIL\n</result>\n</user_shell_command>";
        let CodexSaid::Shell(command, Some(ran)) = read(ended) else { panic!("{ended}") };
        assert_eq!((command.as_str(), &*ran.output, ran.failed), ("go test", "FAIL", true));
        assert_eq!((ran.exit, ran.duration_ms), (Some(1), Some(2500)));
        let words = |text: &'static str| match read(text) {
            CodexSaid::Words(words) => words,
            other => panic!("{other:?}"),
        };
        for text in ["add a test", "<skill> is what I mean", "<div>\n</div>", "why does <environment_context> come?"] {
            assert_eq!(words(text), text);
        }
        let editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nrename it\n";
        assert_eq!(words(editor), "rename it");
        let sent = "\n# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## b: c…: /tmp/b.txt\n\n## My request for Codex:\n## Mend it\n";
        assert_eq!((words(sent), files(sent)), ("## Mend it".into(), 2));
        assert_eq!((words("# Notes\n\n## a: b\n"), files("# Notes\n\n## a: b\n")), ("# Notes\n\n## a: b\n".into(), 0));
    }
}
