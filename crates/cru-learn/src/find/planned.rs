//! Tests that were meant to fail first: nothing but tests had been changed when they ran.
//!
//! A fact of the files that steps write. Who writes the test before the code expects it to fail, so that failure is no
//! mistake.

use crate::find::recovery::step_at;
use crate::find::turns::TurnItem;
use cru_action::{CheckKind, is_prose};
use cru_session::{Step, StepStatus};

/// Whether the check that failed at `failed` was run after only tests had been changed in its turn.
pub(crate) fn is_planned(beats: &[TurnItem<'_>], failed: usize) -> bool {
    let Some(check) = step_at(beats, failed) else { return false };
    let is_test_run = check.action().checks().any(|check| matches!(check.kind(), CheckKind::Test));
    let written = (0..failed).filter_map(|at| step_at(beats, at)).flat_map(files);
    let mut last: Vec<String> = written.collect();
    last.dedup();
    is_test_run && !last.is_empty() && last.iter().all(|path| is_test(path))
}

/// The files that a step changed.
fn files(step: &Step) -> Vec<String> {
    if step.status != StepStatus::Complete {
        return Vec::new();
    }
    if step.writes.is_empty() && cru_action::ToolKind::of(&step.tool).writes_files() {
        return step.args.split_whitespace().next().map(str::to_owned).into_iter().collect();
    }
    step.writes.iter().map(|file| file.path.clone()).collect()
}

/// Whether a path is one of tests: by its name, or by a folder that it lies in.
pub(crate) fn is_test(path: &str) -> bool {
    let path = path.to_lowercase().replace('\\', "/");
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let part = |text: &str| text.split(['.', '_', '-']).any(|word| matches!(word, "test" | "tests" | "spec" | "specs"));
    !is_prose(name) && part(name) || folders.split('/').any(|folder| matches!(folder, "test" | "tests" | "__tests__"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::entry;
    use cru_session::Item;

    fn planned(steps: &[(&str, &str)]) -> bool {
        let status = |at| if at + 1 == steps.len() { StepStatus::Failed } else { StepStatus::Complete };
        let step = |(at, (tool, args)): (usize, &(&str, &str))| {
            Item::Step(Step { tool: (*tool).into(), args: (*args).into(), status: status(at), ..Step::default() })
        };
        let items: Vec<Item> = steps.iter().enumerate().map(step).collect();
        let beat = |item| Some(TurnItem { item, entry: entry::of_item(item, &str::to_owned)? });
        is_planned(&items.iter().filter_map(beat).collect::<Vec<_>>(), steps.len() - 1)
    }

    #[test]
    fn tests_before_code() {
        let run = ("Bash", "cargo test");
        assert!(planned(&[("Write", "tests/pump.rs"), run]));
        assert!(planned(&[("Edit", "src/pump.test.ts"), ("Bash", "npm test")]));
        assert!(!planned(&[("Write", "tests/pump.rs"), ("Edit", "src/pump.rs"), run]));
        assert!(!planned(&[("Edit", "src/pump.rs"), run]));
        assert!(!planned(&[run]), "nothing was written");
        assert!(!planned(&[("Write", "tests/pump.rs"), ("Bash", "cargo build")]), "no test");
        assert!(!is_test("src/latest.rs") && is_test("pump_test.go") && is_test("a/__tests__/b.ts"));
        assert!(is_test("spec/pump_spec.rb") && !is_test("specs/pump.md"), "what is specified is no test");
    }
}
