//! How the checks of a session stand at its end.
//!
//! "Passes" is said of a check only where it passed after the last change of what it covers. What a check covers nobody
//! wrote down, so it is taken widely: all that it may depend on.

use std::collections::BTreeMap;

use cru_action::{CallEnd, CheckKind, Verdict};
use cru_graph::Place;
use cru_session::StepStatus;
use foldhash::HashMap;

use super::call::{Call, CallKind, CheckCommand, Ended};
use super::draft::Draft;
use super::file::is_of_project;
use super::file_type;
use crate::evidence::Evidence;

/// Later runs of a check that are compared with one that failed.
const MAX_LATER: usize = 100;

/// How a check stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing<'a> {
    /// It passed, and nothing that it covers was changed since.
    Passes,
    /// It passed, and this file was changed since.
    Before(&'a str),
    /// It failed when it was last run, and nothing like it passed since.
    Failed,
    /// It failed, and another run of its like passed since.
    Superseded,
    /// The record does not say how it ended.
    Unknown,
}

/// What is said of a check that passed before the last change of what it covers.
pub(super) fn passed_before(path: &str) -> String {
    format!("passed, then {path} was changed")
}

/// A check of the session.
#[derive(Clone, Debug)]
pub(super) struct CheckRow<'a> {
    /// The check as it was run.
    pub check: &'a CheckCommand,
    /// The last call that ran it and told how it ended, else the last one.
    pub call: &'a Call<'a>,
    /// How it stands.
    pub standing: Standing<'a>,
    /// Whether something had been changed when it was run.
    pub after_change: bool,
}

/// The checks of a session, each once, in the order of their last runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Checks<'a> {
    /// The rows.
    pub rows: Vec<CheckRow<'a>>,
    by_text: HashMap<&'a str, usize>,
}

impl<'a> Checks<'a> {
    /// Of all drafts. `project` is the folder of the session, `~` for home: what lies elsewhere no check judges.
    pub(super) fn of(drafts: &'a [Draft<'_>], evidence: &Evidence, project: Option<&str>) -> Self {
        let mut calls: Vec<&Call<'_>> = drafts.iter().flat_map(Draft::calls).collect();
        calls.sort_by_key(|call| call.place);
        let changes = |call: &Call<'_>| {
            matches!(call.kind, CallKind::Run | CallKind::Change | CallKind::Edit) && call.succeeded()
        };
        let changed_at = calls.iter().find(|call| changes(call)).map(|call| call.place);
        // Last write of each path, last ones first.
        let mut writes: HashMap<&str, Place> = HashMap::default();
        let edits = calls.iter().filter(|call| call.succeeded() || call.ended == Ended::Open);
        for call in edits.clone() {
            let own = call.writes.iter().filter(|path| is_of_project(path, project));
            writes.extend(own.map(|path| (path.as_ref(), call.place)));
        }
        let mut writes: Vec<(Place, &str)> = writes.into_iter().map(|(path, place)| (place, path)).collect();
        writes.sort_unstable_by(|a, b| b.cmp(a));
        let mut last: BTreeMap<&str, (&CheckCommand, &Call<'_>, Ended)> = BTreeMap::new();
        let mut passed: HashMap<&str, Vec<(Place, &CheckCommand)>> = HashMap::default();
        for call in calls.iter().filter(|call| call.shell && call.ended != Ended::Denied) {
            let each = ended_each(call, evidence);
            for (check, ended) in call.checks.iter().zip(each).filter(|(check, _)| !check.text.is_empty()) {
                if ended == Ended::Well {
                    passed.entry(&check.key).or_default().push((call.place, check));
                }
                let row = last.entry(&check.text).or_insert((check, call, ended));
                // One of several that failed together may be the one that did.
                if ended != Ended::Open || row.2 == Ended::Open || call.failed() {
                    *row = (check, call, ended);
                }
            }
        }
        let standing = |check: &CheckCommand, call: &Call<'_>, ended: Ended| match ended {
            Ended::Well => {
                let mut later = writes.iter().take_while(|(place, _)| *place > call.place);
                later.find(|(_, path)| covers(check, path)).map_or(Standing::Passes, |(_, path)| Standing::Before(path))
            }
            Ended::Badly
                if passed.get(check.key.as_str()).is_some_and(|passed| {
                    let later = passed.iter().rev().take_while(|(place, _)| *place > call.place);
                    later.take(MAX_LATER).any(|(_, own)| own.answers(check))
                }) =>
            {
                Standing::Superseded
            }
            Ended::Badly => Standing::Failed,
            Ended::Denied | Ended::Open => Standing::Unknown,
        };
        let mut rows: Vec<CheckRow<'a>> = last
            .into_values()
            .map(|(check, call, ended)| CheckRow {
                check,
                call,
                standing: standing(check, call, ended),
                after_change: changed_at.is_none_or(|place| place < call.place),
            })
            .collect();
        rows.sort_by(|a, b| (a.call.place, &a.check.text).cmp(&(b.call.place, &b.check.text)));
        let by_text: HashMap<&str, usize> =
            rows.iter().enumerate().map(|(at, row)| (row.check.text.as_str(), at)).collect();
        Self { rows, by_text }
    }

    /// How the check with that text stands.
    pub(super) fn standing(&self, text: &str) -> Option<Standing<'a>> {
        self.by_text.get(text).map(|at| self.rows[*at].standing)
    }

    /// What is known of the checks of a call, in words; `None` where it runs none.
    pub(super) fn note(&self, call: &Call<'_>) -> Option<String> {
        if call.checks.is_empty() || !call.shell {
            return None;
        }
        // Where the record does not say how it ended, nothing is said of it.
        if call.ended != Ended::Well {
            return None;
        }
        let standings = || call.checks.iter().filter_map(|check| self.standing(&check.text));
        if standings().any(|it| it == Standing::Failed) {
            return Some("passed here, failed later".to_owned());
        }
        let before = standings().find_map(|it| match it {
            Standing::Before(path) => Some(passed_before(path)),
            _ => None,
        });
        Some(before.unwrap_or_else(|| {
            let result = super::clean(call.step.result.as_deref().unwrap_or(""));
            let told = (3..=60).contains(&result.chars().count()) && !result.contains(['`', '→', '…', '<']);
            // A count says more than that it passed.
            let told =
                told && result.contains(|c: char| c.is_ascii_digit()) && result.starts_with(char::is_alphanumeric);
            // The first of several lines says little.
            let told = told && !result.contains("(+");
            if told { format!("passes ({result})") } else { "passes".to_owned() }
        }))
    }
}

/// How each check of a call ended: as the call did, but that of several checks in a call that failed each is judged by its
/// own part of the output.
pub(super) fn ended_each(call: &Call<'_>, evidence: &Evidence) -> Vec<Ended> {
    if !call.failed() || call.checks.len() < 2 {
        return vec![call.ended; call.checks.len()];
    }
    let step = call.step;
    let output = evidence.output(step.id.as_deref()).or(step.output.as_deref()).or(step.result.as_deref());
    let failed = step.status == StepStatus::Failed;
    let end = CallEnd { output: output.unwrap_or_default(), exit: step.exit, failed, has_status: true };
    let each = step.action().decide_each(&end);
    let told = |check: &CheckCommand| match each.iter().find(|(at, _)| *at == check.index) {
        Some((_, Verdict::Passed)) => Ended::Well,
        Some((_, Verdict::Failed)) => Ended::Badly,
        _ => Ended::Open,
    };
    call.checks.iter().map(told).collect()
}

/// Whether a change of a file may change how a check ends. One that is given files to judge each by itself covers these;
/// tests and builds do not depend on prose; anything else depends on all.
fn covers(check: &CheckCommand, path: &str) -> bool {
    let judges_each = matches!(check.kind, CheckKind::Lint | CheckKind::Format);
    if judges_each && !check.paths.is_empty() && check.paths.iter().all(|own| file_type::is_known(own)) {
        return check.paths.iter().any(|own| own == path || path.ends_with(&format!("/{own}")));
    }
    // A script of the project that lints may judge anything; a tool that is named judges code.
    let script = check.kind == CheckKind::General || (judges_each && check.key.contains(" run "));
    script || !file_type::is_prose(path)
}
