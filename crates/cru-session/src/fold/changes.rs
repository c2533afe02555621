//! What calls do to files, by their arguments: lines that come and go.
//!
//! An argument holds more than what changes: of a text and the one that takes its place, only the lines that differ
//! count.

use cru_action::patch::{self, FilePatch, PatchLine};
use cru_action::{Action, ToolKind};
use serde_json::Value;
use similar::{Algorithm, DiffOp};

use crate::event::Call;
use cru_base::diff;

/// What a call does to files if it succeeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallChanges {
    /// Lines by file, as the call names it.
    pub(super) files: Vec<LineCount>,
}

/// Lines of a file that come and go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineCount {
    pub(super) path: String,
    pub(super) added: u64,
    pub(super) removed: u64,
    /// Whether the whole text is written: of a file that was there nobody knows what went.
    pub(super) is_whole: bool,
}

impl LineCount {
    /// The lines of the hunks of a unified diff of one file, which have no heads.
    pub(super) fn of_diff(path: &str, diff: &str) -> Self {
        let mut count = Self { path: path.to_owned(), ..Self::default() };
        for file in patch::read_diff(&format!("--- a/x\n+++ b/x\n{diff}")) {
            count.add(&file);
        }
        count
    }

    /// Adds what a patch changes.
    fn add(&mut self, file: &FilePatch<'_>) {
        self.is_whole |= file.removed().next().is_none() && file.before().next().is_none();
        for hunk in &file.hunks {
            // Lines of a text that are compared.
            let mut rest = &hunk.lines[..hunk.lines.len().min(20_000)];
            while !rest.is_empty() {
                let (gone, come, behind) = block(rest);
                rest = behind;
                let (gone, come) = differing(&gone, &come);
                self.added += come.len() as u64;
                self.removed += gone.len() as u64;
            }
        }
    }
}

impl CallChanges {
    /// Reads a call. `None` for one that names no change of a file.
    pub(super) fn of(call: &Call<'_>) -> Option<Self> {
        let mut changes = Self::default();
        if ToolKind::of(&call.tool) == ToolKind::Shell {
            if patch::find(&call.args).is_some() {
                let action = Action::of(&call.tool, &call.args);
                let text = action.patch_text().unwrap_or_default();
                changes.all(&patch::read(text));
            }
        } else if ToolKind::of_call(&call.tool, &call.input).writes_files() {
            match &call.input {
                Value::Object(input) => changes.all(&patch::of_call(&call.tool, input)),
                Value::String(text) => changes.all(&patch::read(text)),
                _ => {}
            }
            if changes.files.is_empty() {
                changes.all(&patch::read(&call.args));
            }
        }
        (!changes.files.is_empty()).then_some(changes)
    }

    fn all(&mut self, files: &[FilePatch<'_>]) {
        for file in files {
            self.file(file);
        }
    }

    fn file(&mut self, file: &FilePatch<'_>) {
        let mut count = LineCount { path: file.path().to_owned(), ..LineCount::default() };
        count.add(file);
        match self.files.iter_mut().find(|known| known.path == count.path) {
            Some(known) => {
                known.added += count.added;
                known.removed += count.removed;
                known.is_whole |= count.is_whole;
            }
            None => self.files.push(count),
        }
    }
}

/// The first run of lines that change, those that go and those that come, and what follows it.
fn block<'l, 'a>(lines: &'l [PatchLine<'a>]) -> (Vec<&'a str>, Vec<&'a str>, &'l [PatchLine<'a>]) {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        match line {
            PatchLine::Removed(text) => gone.push(*text),
            PatchLine::Added(text) => come.push(*text),
            PatchLine::Kept(_) => return (gone, come, &lines[at + 1..]),
        }
    }
    (gone, come, &[])
}

/// The lines that are in one and not in the other.
fn differing<'a>(gone: &[&'a str], come: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let first = gone.iter().zip(come).take_while(|(a, b)| a == b).count();
    let (gone, come) = (&gone[first..], &come[first..]);
    let last = gone.iter().rev().zip(come.iter().rev()).take_while(|(a, b)| a == b).count();
    let (gone, come) = (&gone[..gone.len() - last], &come[..come.len() - last]);
    // Lines that go and come together of which a difference is looked for; of more, all count but those that both begin and
    // end with.
    if gone.is_empty() || come.is_empty() || gone.len() + come.len() > 2_000 {
        return (gone.to_vec(), come.to_vec());
    }
    let (mut out, mut into) = (Vec::new(), Vec::new());
    for op in diff(Algorithm::Myers, gone, come, None) {
        if !matches!(op, DiffOp::Equal { .. }) {
            out.extend_from_slice(&gone[op.old_range()]);
            into.extend_from_slice(&come[op.new_range()]);
        }
    }
    (out, into)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(tool: &str, args: &str, input: Value) -> Option<CallChanges> {
        let call = Call { id: "c".into(), tool: tool.into(), args: args.into(), input };
        CallChanges::of(&call)
    }

    #[test]
    fn hunks_without_heads_are_counted() {
        let count = LineCount::of_diff("a", "@@ -1,5 +1,2 @@\n a\n-b\n-c\n-d\n e\n@@ -0,1 +0,1 @@\n-x\n+y\n");
        assert_eq!((count.added, count.removed), (1, 4));
    }

    #[test]
    fn an_edit_counts_the_lines_that_differ() {
        let input = json!({"file_path": "src/a.rs", "old_string": "fn a() {\n    one();\n}", "new_string": "fn a() {\n    one();\n    two();\n}"});
        let told = changes("Edit", "src/a.rs", input).unwrap();
        assert_eq!(told.files, [LineCount { path: "src/a.rs".to_owned(), added: 1, ..LineCount::default() }]);
    }

    #[test]
    fn lines_that_stay_between_two_changes_do_not_count() {
        let input =
            json!({"file_path": "a.md", "old_string": "one\ntwo\nthree\nfour", "new_string": "1\ntwo\nthree\n4"});
        let told = changes("Edit", "a.md", input).unwrap();
        assert_eq!((told.files[0].added, told.files[0].removed), (2, 2));
    }

    #[test]
    fn a_look_changes_nothing() {
        assert_eq!(changes("Read", "docs/plan.md", json!({"file_path": "docs/plan.md"})), None);
    }
}
