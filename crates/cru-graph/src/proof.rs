//! What stands behind a session that says it is done: whether a check passed after its last write.

use cru_action::{ToolKind, Verdict, is_prose, is_scratch};
use cru_session::{Item, Session, Step, StepStatus};

/// What the checks of a session prove of its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The last check passed and nothing was written after it.
    Green,
    /// The last check passed, and so many steps wrote files after it.
    WritesAfter(u64),
    /// The last check whose result is known failed.
    Failing,
    /// Files were written and no check was run.
    NeverChecked,
    /// Checks were run, and the result of none is known.
    Unknown,
}

impl Proof {
    /// One word for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::WritesAfter(_) => "writes_after",
            Self::Failing => "failing",
            Self::NeverChecked => "never_checked",
            Self::Unknown => "unknown",
        }
    }

    /// Steps that wrote after the last passing check; 0 for every other proof.
    pub const fn writes_after(self) -> u64 {
        match self {
            Self::WritesAfter(count) => count,
            _ => 0,
        }
    }
}

/// The proof of a session's own steps; `None` where nothing was written and no check was run.
pub fn proof(session: &Session) -> Option<Proof> {
    let mut prover = Prover::default();
    for (_, item) in session.items() {
        if let Item::Step(step) = item {
            prover.step(step);
        }
    }
    prover.proof()
}

/// What is proven by the steps so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prover {
    checked: bool,
    last: Option<Verdict>,
    wrote: bool,
    writes_after: u64,
}

impl Prover {
    /// Takes the next step.
    pub(crate) fn step(&mut self, step: &Step) {
        if writes(step) {
            self.wrote = true;
            self.writes_after += 1;
        }
        match step.verdict() {
            Some(Verdict::Unknown) => self.checked = true,
            Some(verdict) => {
                (self.checked, self.last) = (true, Some(verdict));
                self.writes_after = 0;
            }
            None => {}
        }
    }

    /// The proof of all steps that it took; `None` where nothing was written and no check was run.
    pub(crate) fn proof(self) -> Option<Proof> {
        match (self.last, self.checked) {
            (Some(Verdict::Failed), _) => Some(Proof::Failing),
            (Some(_), _) if self.writes_after > 0 => Some(Proof::WritesAfter(self.writes_after)),
            (Some(_), _) => Some(Proof::Green),
            (None, true) => Some(Proof::Unknown),
            (None, false) => self.wrote.then_some(Proof::NeverChecked),
        }
    }
}

/// Whether a step wrote a file that a check may judge, as far as its tool, its files and its redirections say. Devices,
/// folders of temporary files and documents in prose do not count.
fn writes(step: &Step) -> bool {
    if step.status != StepStatus::Complete {
        return false;
    }
    let counts = |path: &str| !is_scratch(path) && !is_prose(path);
    if !step.writes.is_empty() {
        return step.writes.iter().any(|file| counts(&file.path));
    }
    let action = step.action();
    match action.kind {
        ToolKind::Edit | ToolKind::Write | ToolKind::Delete | ToolKind::Patch => counts(&step.args),
        ToolKind::Shell => action.writes().iter().any(|write| counts(&write.path)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    fn of(steps: &[&str]) -> Option<Proof> {
        let lines: Vec<String> =
            steps.iter().enumerate().map(|(at, step)| format!("- {step} ^n-{:03}\n", at + 1)).collect();
        let text = format!("---\ntype: session\nsession_id: s\n---\n# T\n\n## One @a #dev\n\n{}", lines.concat());
        proof(&cru_session::read::session(&Note::parse(text.as_str())).0)
    }

    #[test]
    fn what_checks_prove() {
        let (edit, pass, fail) = (
            "`Edit src/a.rs` → ok",
            "`Bash cargo test` → test result: ok. 3 passed; 0 failed; 0 ignored",
            "`Bash cargo test` → ✗ test result: FAILED. 2 passed; 1 failed",
        );
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["`Read a.rs` → 12 lines"]), None);
        assert_eq!(of(&[edit]), Some(Proof::NeverChecked));
        assert_eq!(of(&[edit, fail, edit, pass]), Some(Proof::Green));
        assert_eq!(of(&[edit, pass, edit, "`Bash ls > /tmp/x` → ok", edit]), Some(Proof::WritesAfter(2)));
        assert_eq!(of(&[edit, pass, "`Edit CHANGELOG.md` → ok"]), Some(Proof::Green));
        assert_eq!(of(&[edit, pass, edit, fail, edit]), Some(Proof::Failing));
        assert_eq!(of(&[edit, "`Bash cargo test` → ok\n    - check: unknown"]), Some(Proof::Unknown));
        assert_eq!(of(&["`Edit a.rs` → ✗ denied: not here"]), None, "a denied edit writes nothing");
    }
}
