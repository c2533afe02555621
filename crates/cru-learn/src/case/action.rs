//! What a step did, as [`cru_action`] reads its call.
//!
//! A call as it was made is known better than its line in the note. Of an entry that is no step nothing is known.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::case::call::Call;
use crate::case::entry::Entry;
use cru_action::patch::{self, FilePatch, PatchLine};
use cru_action::tool::{self, Role};
use cru_action::{Action, CallEnd, CheckKind, Class, ToolKind, argv};
use cru_graph::recovery;
use cru_session::attempt::Attempt;

impl Entry {
    /// The last commit that a step made.
    pub(crate) fn commit(&self) -> Option<&str> {
        self.facts()?.commits.last().map(String::as_str)
    }

    /// Whether a step moves the work tree to other commits, or changes files in a way that no record shows.
    pub(crate) fn moves_tree(&self) -> bool {
        let Some(command) = self.command() else { return false };
        let action = Action::of("Bash", &command);
        let moves = |verb: &str| !matches!(verb, "add" | "commit" | "push" | "tag" | "fetch");
        action.commands.iter().any(|command| match command.class {
            Class::GitChange | Class::Destroy => command.program != "git" || moves(&command.verb),
            _ => false,
        })
    }

    /// The command that a step runs, as far as it is known.
    pub(crate) fn command(&self) -> Option<Cow<'_, str>> {
        match self.whole() {
            Some(call) => call.command(),
            None => self.facts().filter(|it| is_shell(&it.tool)).map(|it| Cow::Borrowed(it.args.as_str())),
        }
    }

    /// What a step tried.
    pub(crate) fn attempt(&self) -> Option<Attempt> {
        let Some(call) = self.whole() else {
            let facts = self.facts()?;
            return Some(recovery::attempt_of(&facts.tool, &facts.args));
        };
        let kind = call.kind();
        if kind.is_look() {
            return Some(Attempt::Look);
        }
        Some(Attempt::of(&call.name, &call.command().unwrap_or_default()))
    }

    /// Whether it is an edit of a file by a tool.
    pub(crate) fn is_edit(&self) -> bool {
        self.attempt() == Some(Attempt::Edit)
    }

    /// Whether it is an edit of which only the file is known.
    pub(crate) fn hides_change(&self) -> bool {
        self.whole().is_none() && self.is_edit()
    }

    /// Whether a step shows what it changes: an edit, or a command that does something of its own. A check shows nothing, and of
    /// what a formatter or another program changes in files the record holds no line.
    pub(crate) fn shows_change(&self) -> bool {
        if self.is_edit() || !self.changes().is_empty() {
            return true;
        }
        let Some(command) = self.command() else { return false };
        let action = Action::of("Bash", &command);
        let acts = |class: Class| !matches!(class, Class::Look | Class::GitLook | Class::Check | Class::Change);
        action.checks().next().is_none() && action.commands.iter().any(|command| acts(command.class))
    }

    /// Whether a step runs checks, and none but linters and formatters.
    pub(crate) fn judges_style(&self) -> bool {
        let Some(command) = self.command() else { return false };
        let action = Action::of("Bash", &command);
        let mut checks = action.checks().peekable();
        checks.peek().is_some() && checks.all(|check| matches!(check.kind(), CheckKind::Lint | CheckKind::Format))
    }

    /// Whether a step deletes or discards something that may not come back.
    pub(crate) fn destroys(&self) -> bool {
        let of_tool = self.whole().is_some_and(|call| call.kind() == ToolKind::Delete);
        let is_destroying = |command: Cow<'_, str>| {
            Action::of("Bash", &command).commands.iter().any(|command| command.class == Class::Destroy)
        };
        of_tool || self.command().is_some_and(is_destroying)
    }

    /// Whether a step changes nothing, and so mends nothing.
    pub(crate) fn is_look(&self) -> bool {
        match self.whole() {
            Some(call) if call.kind().is_look() => true,
            Some(call) => looks(&call.name, &call.command().unwrap_or_default()),
            None => self.facts().is_some_and(|it| looks(&it.tool, &it.args)),
        }
    }

    /// The lines of the whole output that say what failed, as ranges of its bytes.
    pub(crate) fn failing(&self) -> Vec<Range<usize>> {
        let Some(call) = self.whole() else { return Vec::new() };
        let Some(output) = call.output.as_deref() else { return Vec::new() };
        let exit = self.facts().and_then(|it| it.exit);
        let end = CallEnd { output, exit, failed: self.is_failed(), has_status: exit.is_some() };
        let lines = Action::of(&call.name, &call.command().unwrap_or_default()).failing(&end);
        lines.into_iter().filter(|line| output.get(line.clone()).is_some()).collect()
    }

    /// What the call of a step changes, where it is known as it was made.
    pub(crate) fn changes(&self) -> Vec<FilePatch<'_>> {
        self.whole().map(Call::changes).unwrap_or_default()
    }
}

impl Call {
    /// What the tool is for.
    pub(crate) fn kind(&self) -> ToolKind {
        // Tools of editors do several things, by an argument.
        match (ToolKind::of(&self.name), self.arguments.get("command").and_then(Value::as_str)) {
            (ToolKind::Edit, Some("view")) => ToolKind::Read,
            (kind, _) => kind,
        }
    }

    /// The command that it runs.
    pub(crate) fn command(&self) -> Option<Cow<'_, str>> {
        argv::script(tool::argument(&self.name, &self.arguments, Role::Command)?.1)
    }

    /// What it changes.
    pub(crate) fn changes(&self) -> Vec<FilePatch<'_>> {
        patch::of_call(&self.name, &self.arguments)
    }
}

fn is_shell(tool: &str) -> bool {
    ToolKind::of(tool) == ToolKind::Shell
}

/// Whether a call changes nothing, as far as its name and its argument tell.
pub(crate) fn looks(tool: &str, args: &str) -> bool {
    let action = Action::of(tool, args);
    match Attempt::of_action(&action, tool) {
        Attempt::Look => true,
        Attempt::Command(_) if action.kind == ToolKind::Shell => {
            action.commands.iter().all(|command| command.reads_only || command.is_named_look())
        }
        _ => false,
    }
}

/// A change as a difference, in a fence.
pub(crate) fn diff(change: &FilePatch<'_>) -> String {
    let name = |path: Option<&str>| path.map_or_else(|| "/dev/null".to_owned(), str::to_owned);
    let mut text = format!("```diff\n--- {}\n+++ {}\n", name(change.old_path), name(change.new_path));
    for hunk in &change.hunks {
        // An edit names a text and what takes its place: what differs in them is less.
        let side = |old: bool| -> Vec<&str> {
            let lines = hunk.lines.iter().filter_map(|line| match *line {
                PatchLine::Kept(line) => Some(line),
                PatchLine::Added(line) => (!old).then_some(line),
                PatchLine::Removed(line) => old.then_some(line),
            });
            lines.collect()
        };
        let (before, after) = (side(true), side(false));
        let compared = TextDiff::from_slices(&before, &after);
        for group in compared.grouped_ops(CONTEXT) {
            text.push_str("@@\n");
            for line in group.iter().flat_map(|op| compared.iter_changes(op)) {
                text.push(match line.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                });
                text.push_str(line.value());
                text.push('\n');
            }
        }
    }
    text + "```"
}

/// Lines that are shown around what differs.
const CONTEXT: usize = 3;

/// The lines that a change puts into a file and that were not there, without those of a word or a bracket.
pub(crate) fn added<'a>(change: &FilePatch<'a>) -> Vec<&'a str> {
    only_in(change.after(), change.before())
}

/// The lines that it takes out.
pub(crate) fn removed<'a>(change: &FilePatch<'a>) -> Vec<&'a str> {
    only_in(change.before(), change.after())
}

fn only_in<'a>(these: impl Iterator<Item = &'a str>, those: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let those: HashSet<&str> = those.map(str::trim).collect();
    these.map(str::trim).filter(|line| tells(line) && !those.contains(line)).collect()
}

/// Whether a line says enough to be known again.
fn tells(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).nth(7).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::case::entry;
    use cru_session::Step;

    #[test]
    fn looks_change_nothing() {
        let looks = |tool: &str, args: &str| {
            let step = Step { tool: tool.into(), args: args.into(), ..Step::default() };
            entry::of_step(&step, &str::to_owned).is_look()
        };
        assert!(looks("Bash", "pumpctl status --all && pumpctl list-valves | grep open && ls -l"));
        assert!(looks("Read", "pump.c"));
        assert!(!looks("Bash", "pumpctl start"));
        assert!(!looks("Bash", "pumpctl status; pumpctl start"));
        assert!(!looks("Edit", "pump.c"));
        assert!(!looks("Bash", "make test"));
    }

    #[test]
    fn a_call_is_known_better_than_its_line() {
        let whole = |name: &str, input: Value| {
            let mut entry =
                entry::of_step(&Step { tool: "x".into(), id: Some("n".into()), ..Step::default() }, &str::to_owned);
            entry.complete(Some(&[("n".to_owned(), Call::new(name, input, None).unwrap())].into()));
            entry
        };
        let shell = whole("shell", json!({ "command": ["bash", "-lc", "git commit -m x"] }));
        assert_eq!(shell.command().as_deref(), Some("git commit -m x"));
        assert!(whole("str_replace_editor", json!({ "command": "view", "path": "a b" })).is_look());
        assert!(whole("str_replace_editor", json!({ "command": "create", "path": "a", "file_text": "b c" })).is_edit());
    }

    #[test]
    fn lines_that_come_and_go() {
        let input = json!({ "file_path": "a.c", "old_string": "int first;\n}", "new_string": "  int second;\n}" });
        let Value::Object(input) = input else { panic!("an object") };
        let changes = patch::of_call("Edit", &input);
        assert_eq!((added(&changes[0]), removed(&changes[0])), (vec!["int second;"], vec!["int first;"]));
    }
}
