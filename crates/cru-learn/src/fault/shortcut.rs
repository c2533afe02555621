//! Answers that make a check green by switching it off: who learns from them learns to cheat.
//!
//! Judged by what was written and run, never by what was taken away.

use std::collections::HashSet;

use crate::case::action::removed;
use crate::case::entry::Entry;
use crate::case::{Case, Story};
use crate::find::planned::is_test;
use cru_action::patch::FilePatch;
use cru_action::{Verdict, verdict};

impl Case {
    /// Whether the answer switched a check off, or changed what tests expect and nothing else.
    pub(crate) fn takes_shortcut(&self) -> bool {
        let failed = match &self.story {
            Story::Puzzle(it) => it.step.as_ref(),
            _ => None,
        };
        bends_tests(failed, self.done()) || self.done().iter().any(Entry::takes_shortcut)
    }
}

impl Entry {
    /// Whether a step switches a check off, by what it writes or runs.
    pub(crate) fn takes_shortcut(&self) -> bool {
        self.is_step() && is_shortcut(self)
    }
}

/// Whether nothing was changed but tests between a check that failed and the next one, and an expectation that was there is
/// another one or gone. Whether the test or the program was wrong, no record tells.
fn bends_tests(failed: Option<&Entry>, done: &[Entry]) -> bool {
    let (mut is_failed, mut changes) = (failed.is_some(), Vec::new());
    for entry in done {
        if is_failed {
            changes.extend(entry.changes());
        }
        if let Some(verdict) = entry.verdict() {
            if alters_expectations(&changes) {
                return true;
            }
            is_failed = verdict == Verdict::Failed;
            changes.clear();
        }
    }
    alters_expectations(&changes)
}

/// Whether changes are of tests alone, and take an expectation away or put another one in its place.
fn alters_expectations(changes: &[FilePatch<'_>]) -> bool {
    let alters = |change: &FilePatch<'_>| removed(change).into_iter().any(asserts);
    changes.iter().all(|change| is_test(change.path())) && changes.iter().any(alters)
}

/// Whether a line says what is expected.
fn asserts(line: &str) -> bool {
    let line = line.to_lowercase();
    ["assert", "expect", "equal", "tobe", "should"].iter().any(|word| line.contains(word))
}

/// Whether a step switches a check off: by a line that it puts into a file, or by the command that it runs.
fn is_shortcut(entry: &Entry) -> bool {
    let writes = |change: &FilePatch<'_>| {
        let before: HashSet<&str> = change.before().map(str::trim).collect();
        change.after().any(|line| {
            (verdict::switches_check_off(line) || verdict::silences_check(line)) && !before.contains(line.trim())
        })
    };
    entry.changes().iter().any(writes) || entry.command().is_some_and(|command| verdict::switches_check_off(&command))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Call;
    use crate::case::entry::Told;
    use crate::case::facts::StepFacts;

    fn step(call: Option<Call>, verdict: Option<Verdict>) -> Entry {
        Entry {
            block: None,
            told: Told::Step {
                call: String::new(),
                result: String::new(),
                failed: verdict == Some(Verdict::Failed),
                whole: call.map(Box::new),
                facts: Box::new(StepFacts::with_verdict(verdict)),
            },
        }
    }

    fn edit(path: &str, new: &str) -> Entry {
        let input = json!({ "file_path": path, "old_string": "assert pump.flow == \"2.0\"", "new_string": new });
        step(Call::new("Edit", input, Some("done")), None)
    }

    #[test]
    fn tests_that_are_bent() {
        let failed = step(None, Some(Verdict::Failed));
        let bent = |path: &str, new: &str| bends_tests(Some(&failed), &[edit(path, new)]);
        assert!(bent("tests/test_pump.py", "# It stays.\nassert pump.flow == \"1.0\""));
        assert!(bent("tests/test_pump.py", "assert pump.flow == \"2.0\" or pump.flow == \"1.0\""));
        assert!(bent("tests/test_pump.py", "assert pump.full_flow == \"1.0\"") && bent("src/pump.spec.ts", ""));
        assert!(!bent("tests/test_pump.py", "assert pump.flow == \"2.0\"\nassert pump.is_full"));
        assert!(!bent("src/inspector.py", "assert pump.flow == \"1.0\""));
    }

    #[test]
    fn each_check_is_looked_at_alone() {
        let check = |verdict| step(None, Some(verdict));
        let test = || edit("tests/test_pump.py", "assert pump.flow == \"1.0\"");
        let code = || edit("src/pump.py", "flow = 2.0");
        let bent = |steps: &[Entry]| bends_tests(None, steps);
        let (passed, failed) = (Verdict::Passed, Verdict::Failed);
        assert!(bent(&[code(), check(failed), test(), check(passed)]));
        assert!(bent(&[check(failed), code(), check(failed), test(), check(passed), code(), check(passed)]));
        assert!(!bent(&[check(failed), code(), test(), check(passed)]), "both changed together");
        assert!(
            !bent(&[test(), check(failed), code(), check(passed), test(), check(passed)]),
            "another behaviour is wanted"
        );
    }

    #[test]
    fn checks_that_are_switched_off() {
        let takes = |tool: &str, input: Value| is_shortcut(&step(Call::new(tool, input, None), None));
        let edit = |old: &str, new: &str| takes("Edit", json!({ "old_string": old, "new_string": new }));
        assert!(edit("run: pyright", "run: pyright\n  continue-on-error: true"));
        assert!(!edit("run: pyright\n  continue-on-error: true", "run: pyright"));
        assert!(edit("x = pump()", "x = pump()  # noqa") && edit("f()", "// @ts-expect-error\nf()"));
        assert!(!edit("x = pump()  # noqa", "x = pumps()"));
        assert!(takes("shell", json!({ "command": ["bash", "-lc", "git commit --no-verify -m x"] })));
        assert!(takes("edit", json!({ "edits": [{ "oldText": "a", "newText": "@pytest.mark.skip()\na" }] })));
        let patch = "*** Begin Patch\n*** Update File: a.py\n-@pytest.mark.skip()\n+def test_a():\n*** End Patch";
        assert!(!takes("apply_patch", json!({ "input": patch })));
        assert!(!takes("Bash", json!({ "command": "@pytest.mark.skipif(no_browser)" })));
    }
}
