//! What the steps of a session did, seen from the outside: kind, core, files.

use std::borrow::Cow;

use cru_action::ToolKind;
use rayon::prelude::*;

use super::core;
use super::kind::{self, DeedKind};
use super::place::relative;
use super::shell;
use super::verdict::{self, Ended};
use cru_graph::FinalPath;
use cru_session::{Item, Session, Step};

/// One step of a session.
#[derive(Clone, Debug)]
pub(super) struct Deed<'a> {
    /// The step.
    pub step: &'a Step,
    /// What it did.
    pub kind: DeedKind,
    /// The command worth repeating; for tools other than the shell `tool args`.
    pub core: String,
    /// Kind of the check that it is, `cargo test`; empty for others.
    check: String,
    /// Whether it ran in a shell.
    pub shell: bool,
    ended: Ended,
    /// Paths it read.
    pub reads: Vec<Cow<'a, str>>,
    /// Paths it wrote.
    pub writes: Vec<Cow<'a, str>>,
}

impl<'a> Deed<'a> {
    /// Its command as it was given, or its arguments.
    pub(super) fn command(&self) -> &'a str {
        self.step.command.as_deref().unwrap_or(&self.step.args)
    }

    /// Whether it is known to have failed.
    pub(super) fn failed(&self) -> bool {
        self.ended == Ended::Badly
    }

    /// Whether it ended well.
    pub(super) fn succeeded(&self) -> bool {
        self.ended == Ended::Well
    }

    /// What it has in common with another try of it: the kind of check, or the whole command.
    pub(super) fn key(&self) -> &str {
        if self.kind == DeedKind::Check { &self.check } else { &self.core }
    }

    /// Whether it is more than a look.
    pub(super) fn tells(&self) -> bool {
        self.kind != DeedKind::Look
    }
}

/// The deeds among `items`, in order. Inline work of sub-agents is not theirs.
pub(super) fn deeds<'a>(items: &'a [Item], project: Option<&str>) -> Vec<Deed<'a>> {
    let own = |item: &'a Item| match item {
        Item::Step(step) => Some(deed(step, project)),
        _ => None,
    };
    items.par_iter().filter_map(own).collect()
}

/// The deeds of each phase of the session, as far as they count.
pub(super) fn of_phases<'a>(session: &'a Session, path: &FinalPath) -> Vec<Vec<Deed<'a>>> {
    let project = session.meta.project.as_deref();
    let own = |index: usize| deeds(path.items(session, index), project);
    (0..session.phases.len()).into_par_iter().map(own).collect()
}

/// What a step did.
pub(super) fn deed<'a>(step: &'a Step, project: Option<&str>) -> Deed<'a> {
    let tool = ToolKind::of(&step.tool);
    let (mut reads, mut writes) = (paths(&step.reads, project), paths(&step.writes, project));
    let args = step.args.trim();
    let shell = tool == ToolKind::Shell;
    let (kind, core) = if shell {
        let command = step.command.as_deref().unwrap_or(args);
        let (kind, mut core) = core::core(command, project);
        // That a search found nothing says something only with what was looked for.
        if verdict::found_nothing(step)
            && let Some(filter) = shell::split(command).last().filter(|part| part.operator == "|")
            && !core.ends_with(filter.text)
        {
            core = format!("{core} | {}", filter.text);
        }
        (kind, relative(&core, project).into_owned())
    } else if let ("commit", Some((_, message))) = (step.tool.to_lowercase().as_str(), args.split_once(' ')) {
        // What a host committed by itself, told by hash and message.
        (DeedKind::Change, format!("git commit -m \"{}\"", message.replace('"', "'")))
    } else if tool.writes_files() {
        if writes.is_empty() && is_path(args) {
            writes.push(Cow::Borrowed(args));
        }
        (DeedKind::Edit, String::new())
    } else if tool == ToolKind::Read {
        if reads.is_empty() && is_path(args) {
            reads.push(Cow::Borrowed(args));
        }
        (DeedKind::Look, String::new())
    } else if args.is_empty() {
        // A name alone says nothing to repeat.
        (if writes.is_empty() { DeedKind::Look } else { DeedKind::Edit }, String::new())
    } else {
        let kind = if writes.is_empty() { DeedKind::of_tool(&step.tool, args) } else { DeedKind::Edit };
        (kind, format!("{} {args}", step.tool))
    };
    let check = if kind == DeedKind::Check { kind::check_key(&core) } else { String::new() };
    if shell && writes.is_empty() && kind == DeedKind::Change {
        writes.extend(edited_in_place(&core).map(|path| Cow::Owned(path.to_owned())));
    }
    let ended = verdict::ended(step, kind, shell);
    Deed { step, kind, core, check, shell, ended, reads, writes }
}

fn paths<'a>(files: &'a [cru_session::FileRef], project: Option<&str>) -> Vec<Cow<'a, str>> {
    files.iter().map(|file| relative(&file.path, project)).filter(|path| is_plain(path)).collect()
}

/// Whether a path can stand in a flow line: one line of plain text.
fn is_plain(path: &str) -> bool {
    let printable = path.bytes().all(|byte| byte.is_ascii_graphic());
    !path.is_empty() && (printable || super::clean(path) == path)
}

/// The file that a `sed -i` edits, where it is all of the command.
fn edited_in_place(core: &str) -> Option<&str> {
    let rest = core.strip_prefix("sed -i")?;
    let path = rest.split_whitespace().next_back()?.trim_matches(['"', '\'']);
    let one = !rest.contains([';', '&', '|', '\n']) || shell::split(core).len() == 1;
    (one && is_path(path) && path.contains('.') && !path.contains(['*', '$', '(', '{', '<'])).then_some(path)
}

/// Whether the argument of a file tool is one path and nothing else.
fn is_path(args: &str) -> bool {
    is_plain(args) && args.len() < 300 && !args.contains(['\n', '`', '"', '…']) && args.split_whitespace().count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(tool: &str, args: &str) -> Step {
        Step { tool: tool.into(), args: args.into(), ..Step::default() }
    }

    #[test]
    fn tools_are_told_apart() {
        for (tool, args, kind) in [
            ("Bash", "cargo test", DeedKind::Check),
            ("Read", "src/a.rs", DeedKind::Look),
            ("Edit", "src/a.rs", DeedKind::Edit),
            ("TodoWrite", "3 tasks", DeedKind::Look),
            ("mcp__github__create_issue", "x", DeedKind::Run),
            ("mcp__github__get_issue", "x", DeedKind::Look),
            ("WebFetch", "https://example.org", DeedKind::Look),
        ] {
            assert_eq!(deed(&step(tool, args), None).kind, kind, "{tool}");
        }
    }

    /// The exit code of a check with a filter behind it is the filter's, and what the filter hid nobody knows.
    #[test]
    fn a_filter_that_found_nothing_is_no_failure() {
        let (result, exit) = (Some("failed, no output".into()), Some(1));
        let status = cru_session::StepStatus::Failed;
        let step = Step { result, status, exit, ..step("Bash", "npx tsc --noEmit 2>&1 | grep -i pump") };
        let deed = deed(&step, None);
        assert_eq!(
            (deed.kind, deed.core.as_str(), deed.ended),
            (DeedKind::Check, "npx tsc --noEmit | grep -i pump", Ended::Open)
        );
    }

    #[test]
    fn paths_come_from_arguments_where_nothing_is_recorded() {
        assert_eq!(deed(&step("Write", "src/a.rs"), None).writes, ["src/a.rs"]);
        assert_eq!(deed(&step("Read", "src/a.rs"), None).reads, ["src/a.rs"]);
        assert!(deed(&step("Edit", "two words"), None).writes.is_empty());
        assert_eq!(deed(&step("Bash", "sed -i '' '7s/a|b;/c/' src/a.rs"), None).writes, ["src/a.rs"]);
        assert!(deed(&step("Bash", "sed -i s/a/b/ *.rs"), None).writes.is_empty());
        assert!(deed(&step("Bash", "sed -i s/a/b/ a.rs && ./run b.rs"), None).writes.is_empty());
    }
}
