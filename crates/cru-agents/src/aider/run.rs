//! One run while it is read: its lines to blocks, and each block to its events.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::edit::{self, AiderPiece};
use super::mark::{self, AiderTold};
use super::mark::{AiderMark, Stand, mark, started};
use crate::call::brief;
use crate::file::markdown::{Block, Fences, History, counted};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_session::FileRef;
use cru_session::event::{CallResult, EventKind, PromptOrigin, SessionFact};

/// What stands where the history does not say that an edit was made.
const UNKNOWN: &str = "not recorded as applied";

/// Edits that may still be settled; of more of them nothing is known.
const MOST: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    /// The line that a run begins with.
    Start,
    Prompt,
    Reply,
    /// A line of the program.
    Host,
    /// What the program tells the model about edits that did not fit.
    Report,
}

/// An edit that the model wrote.
#[derive(Debug)]
struct Edit {
    call: String,
    path: String,
    /// By how many lines it changes the file, where that is known.
    size: Option<String>,
}

/// The state of a run.
#[derive(Debug, Default)]
pub(super) struct AiderRun {
    begun: Option<Timestamp>,
    place: Place,
    edits: Vec<Edit>,
    calls: u64,
    messages: u64,
    model: String,
    /// What the program logs as the next prompt where it passes it on: the words of a command, the reply of an architect.
    passed: String,
}

impl History for AiderRun {
    type Kind = RunKind;

    fn begins(_: u64, line: &str) -> bool {
        started(line).is_some()
    }

    fn of(lines: &[&str]) -> (String, Option<Timestamp>, Self) {
        let begun = lines.first().and_then(|line| started(line));
        (identity(begun, lines), begun, Self { begun, ..Self::default() })
    }

    fn blocks<'l>(lines: &[&'l str]) -> Vec<Block<'l, RunKind>> {
        let mut blocks: Vec<Block<'l, RunKind>> = Vec::new();
        // What the next line may go on with, and where in a reply it stands.
        let mut open = None;
        let (mut fences, mut in_edit, mut after_blank) = (Fences::default(), false, false);
        for (at, line) in lines.iter().enumerate() {
            if let (Some(RunKind::Report), Some(report)) = (open, blocks.last_mut()) {
                report.lines.push(line);
                // It ends with the line that the program put its two blanks behind.
                open = open.filter(|_| !line.ends_with("  ") || line.trim().is_empty());
                continue;
            }
            let stand =
                Stand { in_reply: open == Some(RunKind::Reply), inside: fences.is_open() || in_edit, after_blank };
            after_blank = line.trim().is_empty();
            let (kind, text) = match mark(line, stand) {
                AiderMark::Blank if !stand.in_reply => {
                    open = None;
                    continue;
                }
                AiderMark::Start => (RunKind::Start, *line),
                AiderMark::Prompt(words) => (RunKind::Prompt, words),
                AiderMark::Host(said) if mark::tell(said) == AiderTold::Report => (RunKind::Report, said),
                AiderMark::Host(said) => (RunKind::Host, said),
                AiderMark::Blank | AiderMark::Text => (RunKind::Reply, *line),
            };
            if open != Some(kind) {
                (fences, in_edit) = (Fences::default(), false);
                blocks.push(Block { kind, at, lines: Vec::new() });
            }
            blocks.last_mut().into_iter().for_each(|block| block.lines.push(text));
            open = Some(kind).filter(|kind| !matches!(kind, RunKind::Start | RunKind::Host));
            if kind == RunKind::Reply && !after_blank {
                if in_edit {
                    in_edit = !edit::ends(line);
                } else if edit::begins(line) {
                    in_edit = true;
                } else {
                    fences.see(line);
                }
            }
        }
        blocks
    }

    fn tell(&mut self, block: &Block<'_, RunKind>, out: &mut Out<'_>) -> Option<&'static str> {
        match block.kind {
            RunKind::Start => None,
            RunKind::Prompt => self.prompt(&block.lines.join("\n"), out),
            RunKind::Reply => self.reply(&block.lines, out),
            RunKind::Host => self.host(block.lines.first().unwrap_or(&""), out),
            RunKind::Report => self.report(&block.lines, out),
        }
    }
}

/// What identifies a run: when it began and the first line of its first prompt. Nothing that comes later changes it.
fn identity(begun: Option<Timestamp>, lines: &[&str]) -> String {
    let time = begun.map(|time| time.strftime("%Y%m%d-%H%M%S").to_string());
    let prompt = lines.iter().find_map(|line| match mark(line, Stand::default()) {
        AiderMark::Prompt(words) => Some(words),
        _ => None,
    });
    let hash = prompt.map(|words| format!("-{}", &blake3::hash(words.as_bytes()).to_hex()[..8]));
    format!("{}{}", time.unwrap_or_default(), hash.unwrap_or_default())
}

impl AiderRun {
    /// What the program reports stands at each edit.
    fn report(&mut self, lines: &[&str], out: &mut Out<'_>) -> Option<&'static str> {
        const NAMES: &str = " to exactly match lines in ";
        for line in lines.iter().skip(1) {
            out.record += u64::from(counted(line).is_some());
            if let Some((_, path)) = line.split_once(NAMES).filter(|_| line.starts_with("## ")) {
                self.settle(path.trim(), Some("SEARCH block failed to exactly match"), true, out);
            }
        }
        None
    }

    fn prompt(&mut self, words: &str, out: &mut Out<'_>) -> Option<&'static str> {
        let words = words.trim();
        if words.is_empty() || words == "<blank>" {
            return Some("empty prompt");
        }
        self.edits.clear();
        let passed = std::mem::take(&mut self.passed);
        if words.split_whitespace().eq(passed.split_whitespace()) {
            return Some("words that the program passes on");
        }
        let argument = words.strip_prefix('/').and_then(|command| command.split_once(' '));
        argument.map_or("", |(_, rest)| rest).clone_into(&mut self.passed);
        let (text, origin) = match words.strip_prefix('!') {
            Some(command) => (command, PromptOrigin::Shell),
            None if words.starts_with('/') => (words, PromptOrigin::Command),
            None => (words, PromptOrigin::Typed),
        };
        // Only the beginning has a time.
        out.time = self.begun.take();
        out.prompt(text, origin);
        None
    }

    fn reply(&mut self, lines: &[&str], out: &mut Out<'_>) -> Option<&'static str> {
        self.passed = lines.join("\n");
        for piece in edit::pieces(lines) {
            match piece {
                AiderPiece::Prose(text) => out.emit(EventKind::Reply(text.into())),
                AiderPiece::Edit { path, search, replace } => {
                    let size = brief::exchange(&search, &replace);
                    // Until the program says that it was made, nothing is known of it.
                    let brief = Some(format!("{UNKNOWN} ({size})").into());
                    let input = json!({"path": path, "search": search, "replace": replace});
                    let edit = self.edit(&path, Some(size), input, out);
                    let call = edit.call.clone().into();
                    out.emit(EventKind::Result(CallResult { call, brief, ..CallResult::default() }));
                    if self.edits.len() < MOST {
                        self.edits.push(edit);
                    }
                }
            }
        }
        None
    }

    /// A call that has not been told.
    fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("e{}", self.calls)
    }

    /// Tells an edit of a file.
    fn edit(&mut self, path: &str, size: Option<String>, input: Value, out: &mut Out<'_>) -> Edit {
        let (call, path) = (self.next_call(), plain(path));
        out.call(&call, "edit", self.place.show(&path), input);
        Edit { call, path, size }
    }

    /// What became of the edits of a file, or of the first of them: `why` they were not made, or that they were.
    fn settle(&mut self, path: &str, why: Option<&str>, first: bool, out: &mut Out<'_>) {
        let path = plain(path);
        // What is settled is not settled again.
        let mut left = if first { 1 } else { usize::MAX };
        let is_settled = |edit: &mut Edit| {
            let is = edit.path == path && left > 0;
            left -= usize::from(is);
            is
        };
        let mut settled: Vec<Edit> = self.edits.extract_if(.., is_settled).collect();
        if settled.is_empty() && why.is_none() {
            // Written in a form that is no block, such as the whole file.
            settled.push(self.edit(&path, None, json!({ "path": path }), out));
        }
        for edit in settled {
            let path = self.place.show(&edit.path).into_owned();
            let writes = if why.is_none() { vec![FileRef { path, ..FileRef::default() }] } else { Vec::new() };
            let brief = why.map(str::to_owned).or(edit.size).unwrap_or_else(|| "applied".to_owned());
            out.emit(EventKind::Result(CallResult {
                call: edit.call.into(),
                output: Cow::Owned(brief.clone()),
                brief: Some(brief.into()),
                failed: why.is_some(),
                writes,
                ..CallResult::default()
            }));
        }
    }

    fn host(&mut self, said: &str, out: &mut Out<'_>) -> Option<&'static str> {
        match mark::tell(said) {
            AiderTold::Nothing(reason) => return Some(reason),
            AiderTold::Version(version) => out.facts([SessionFact::HostVersion(version.into())]),
            AiderTold::Model(model) => model.clone_into(&mut self.model),
            AiderTold::Folder(folder) => out.folder(&mut self.place, folder),
            AiderTold::Tokens(usage, cost) => {
                self.messages += 1;
                let message = self.messages.to_string().into();
                let model = if self.model.is_empty() { "unknown" } else { &self.model };
                out.quiet(EventKind::Usage { message, model: model.into(), usage });
                out.facts(cost.map(SessionFact::Cost));
            }
            AiderTold::Applied(path) => self.settle(path, None, false, out),
            AiderTold::NotApplied(path, why) => self.settle(path, Some(why), false, out),
            AiderTold::Commit(sha, words) => {
                let call = self.next_call();
                out.call(&call, "commit", format!("{sha} {words}"), json!({"commit": sha, "message": words}));
                let (brief, commits) = (Some("committed".into()), vec![sha.into()]);
                out.emit(EventKind::Result(CallResult { call: call.into(), brief, commits, ..CallResult::default() }));
            }
            AiderTold::Failure(text) => out.emit(EventKind::ApiError(text.into())),
            AiderTold::Report => {}
        }
        None
    }
}

/// A path as it is compared: the program and the model write it with different slashes.
fn plain(path: &str) -> String {
    path.replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use cru_session::source::Bundle;

    use super::*;
    use crate::file::markdown::bundle;

    #[test]
    fn what_comes_later_changes_no_identity() {
        let of = |text: &str| AiderRun::of(&text.lines().collect::<Vec<_>>()).0;
        let start = "# aider chat started at 2026-01-02 03:04:05\n";
        let first = of(&format!("{start}> Aider v1  \n#### fix it  \n"));
        assert!(first.starts_with("20260102-030405-") && first.len() == 24, "{first}");
        assert_eq!(of(&format!("{start}> Aider v1  \n#### fix it  \n#### and more  \nDone.\n#### next  \n")), first);
        assert_ne!(of(&format!("{start}#### else  \n")), first);
        assert_eq!(of(start), "20260102-030405");
    }

    #[test]
    fn copies_are_one_bundle() {
        let temp = tempfile::tempdir().unwrap();
        let run = "# aider chat started at 2026-01-02 03:04:05\n\n#### fix it  \n\nDone.\n";
        let other = run.replace("03:04", "03:05");
        let file = |name: &str, text: &str| {
            let path = temp.path().join(name).join(".aider.chat.history.md");
            cru_base::files::create(&path, text.as_bytes()).unwrap();
            path
        };
        let (old, new) = (file("a", run), file("b", &format!("{run}{other}")));
        let else_where = file("c", &other);
        let bundles = bundle::<AiderRun>(vec![else_where.clone(), old.clone(), new.clone()]).unwrap();
        assert_eq!(bundles, [Bundle::of(vec![new, old]), Bundle::of(vec![else_where])]);
    }
}
