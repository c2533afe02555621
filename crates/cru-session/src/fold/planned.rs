//! Checks that a plan names in its last section and that no call ran: for what a session left open.
//!
//! Only the form of the plan is read: sections with headings, and in the last one commands in code spans. Of a plan of which no
//! check ran nothing is said: the session may not have followed it.

use std::collections::HashSet;

use cru_action::{Action, Check, CheckKind, ToolKind};
use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};

use super::step::StepDraft;
use crate::StepStatus;
use crate::words::pasted::is_fence;
use crate::words::shorten;

/// The checks that a plan names in its last section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedChecks {
    all: Vec<PlannedCheck>,
    /// Steps there were when it was given.
    from: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PlannedCheck {
    text: String,
    key: String,
    kind: CheckKind,
}

impl PlannedChecks {
    /// Reads a plan given before the step `from`. `None` for a text that has not the form of one, or names no check.
    pub(super) fn of(text: &str, from: usize) -> Option<Self> {
        const HEADINGS: usize = 2;
        // Bytes of a plan that are read.
        let seen = &text[..floor_char_boundary(text, 64_000)];
        seen.lines().filter(|line| line.starts_with('#')).nth(HEADINGS - 1)?;
        let text = sanitise(seen);
        let mut all = Vec::new();
        let mut fenced = false;
        for line in text.lines().map(str::trim) {
            fenced ^= is_fence(line);
            match line {
                _ if fenced => {}
                heading if heading.starts_with('#') => all.clear(),
                line => {
                    for span in line.split('`').skip(1).step_by(2).filter(|span| !span.is_empty()) {
                        let action = Action::of("Bash", span);
                        all.extend(action.checks().map(|check| PlannedCheck::of(span, check)));
                    }
                }
            }
        }
        (!all.is_empty()).then_some(Self { all, from })
    }

    /// Those that did not run, where one of them did.
    pub(super) fn not_run(&self, steps: &[StepDraft]) -> Vec<String> {
        let (mut keys, mut kinds) = (HashSet::new(), Vec::new());
        for draft in steps.get(self.from..).unwrap_or_default() {
            let action = draft.step.action();
            // What hooks and sub-agents ran is not known here.
            if draft.hooks.is_some() || action.kind == ToolKind::Subagent || !draft.runs.is_empty() {
                return Vec::new();
            }
            if !matches!(draft.step.status, StepStatus::Denied | StepStatus::NoResult) {
                keys.extend(action.checks().map(|check| check.key()));
                kinds.extend(action.checks().map(|check| check.kind()));
            }
        }
        // Another check of the same kind stands for the one that was planned.
        let has_run = |check: &PlannedCheck| keys.contains(&check.key) || kinds.contains(&check.kind);
        if !self.all.iter().any(has_run) {
            return Vec::new();
        }
        let mut not_run: Vec<String> =
            self.all.iter().filter(|check| !has_run(check)).map(|check| check.text.clone()).collect();
        not_run.dedup();
        not_run
    }
}

impl PlannedCheck {
    fn of(span: &str, check: Check<'_, '_>) -> Self {
        // Characters of a check.
        Self { text: shorten::at_word(&fold_whitespace(span), 80), key: check.key(), kind: check.kind() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checks_of_the_last_section() {
        let plan = "Do this:\n\n# Move the cache\n\n## Files\n\n- `src/a.rs`\n- `make lint`\n\n## Check it\n\n\
            1. `cargo test` passes\n2. `cargo clippy`\n```\n`npm test`\n```\n3. **By hand**: open the *cellar*\n";
        let planned = PlannedChecks::of(plan, 3).unwrap();
        let checks: Vec<&str> = planned.all.iter().map(|check| check.text.as_str()).collect();
        assert_eq!((checks, planned.from), (vec!["cargo test", "cargo clippy"], 3));
        for text in ["", "# One\n\n`cargo test`", "# One\n## Two\n\nwords", "# A\n# B\n- by hand\n"] {
            assert_eq!(PlannedChecks::of(text, 0), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "([ a-z`*#|./-]|\\n|\\n- |\\n# |```\\n|é){0,60}") {
            let _ = PlannedChecks::of(&text, 0);
        }
    }
}
