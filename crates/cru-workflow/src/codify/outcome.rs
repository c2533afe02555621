//! How it went: marks of steps, the checks at the end, the record of the session.

use foldhash::{HashMap, HashSet};

use super::call::{Call, CallKind, Ended};
use super::data::Data;
use super::draft::Draft;
use super::standing::{Checks, Standing, passed_before};
use super::verification;
use crate::model::{Check, Need, Operand, Part, Record, Step};
use cru_base::text::truncate;
use cru_base::{Diagnostic, Span};
use cru_graph::Plan;
use cru_session::{Session, Status};

/// Word of the record for the last step of a session that was abandoned.
pub(super) const BROKEN_OFF: &str = "abandoned";
/// What is said of a check that passed, with nothing that it covers changed since.
pub(super) const PASSES: &str = "passes";
/// Exit code of a command that ran out of time, by the convention of `timeout`.
const TIMED_OUT: i32 = 124;
/// Columns of the record.
const COLUMNS: [&str; 8] = ["phase", "agent", "channel", "input", "output", "duration_ms", "status", "source"];

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The mark of its heading.
    pub need: Need,
    /// Word of the record.
    pub status: &'static str,
}

/// In which drafts what was tried ends well.
#[derive(Debug, Default)]
pub(super) struct Passes<'a>(HashMap<&'a str, Vec<usize>>);

impl<'a> Passes<'a> {
    /// Looks through all drafts.
    pub(super) fn of(drafts: &'a [Draft<'_>]) -> Self {
        let mut passes: HashMap<&str, Vec<usize>> = HashMap::default();
        for (index, draft) in drafts.iter().enumerate() {
            for key in draft.calls().filter(|call| call.succeeded()).filter_map(|call| call.identity.as_deref()) {
                let places = passes.entry(key).or_default();
                if places.last() != Some(&index) {
                    places.push(index);
                }
            }
        }
        Self(passes)
    }

    /// The first draft after `index` in which the same command ends well.
    pub(super) fn after(&self, call: &Call<'_>, index: usize) -> Option<usize> {
        let places = self.0.get(call.identity.as_deref()?)?;
        places.get(places.partition_point(|&place| place <= index)).copied()
    }
}

/// How each draft went.
///
/// A failure that was put right before the work went on, or that ended the session, stopped the work: `!`. One that was
/// left as it was, and the work went on: `?`. Looking around may fail; it decides nothing.
pub(super) fn outcomes(session: &Session, drafts: &[Draft<'_>], passes: &Passes<'_>) -> Vec<Outcome> {
    let last = drafts.iter().rposition(|draft| draft.calls().any(Call::acts));
    let broken = matches!(session.meta.status, Some(Status::Failed | Status::Abandoned | Status::Paused));
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.iter().enumerate() {
        let telling: Vec<&Call<'_>> = draft
            .calls()
            .filter(|call| call.acts() && call.kind != CallKind::Edit && call.ended != Ended::Denied)
            .collect();
        let end = telling.last().filter(|call| call.failed());
        let (need, status) = match end {
            Some(call) if passes.after(call, index).is_some() => (Need::Required, "failed"),
            Some(call) if Some(index) == last && broken => (Need::Required, word(call)),
            Some(call) => (Need::Optional, word(call)),
            None if repaired(&telling) => (Need::Required, "success"),
            None => (Need::Normal, "success"),
        };
        outcomes.push(Outcome { need, status });
    }
    // Where a session broke off, so did its last step.
    let broke = match session.meta.status {
        Some(Status::Failed) => Some("failed"),
        Some(Status::Abandoned) => Some(BROKEN_OFF),
        _ => None,
    };
    if let (Some(status), Some(last)) = (broke, outcomes.iter_mut().zip(drafts).rfind(|(_, draft)| draft.level == 2))
        && last.0.status == "success"
    {
        last.0.status = status;
    }
    outcomes
}

/// Whether a check failed and passed afterwards.
fn repaired(telling: &[&Call<'_>]) -> bool {
    let mut failed: HashSet<&str> = HashSet::default();
    telling.iter().filter(|call| call.kind == CallKind::Check).any(|call| {
        let Some(key) = call.identity.as_deref() else { return false };
        if call.failed() {
            failed.insert(key);
            return false;
        }
        call.succeeded() && failed.contains(key)
    })
}

fn word(call: &Call<'_>) -> &'static str {
    if call.step.exit == Some(TIMED_OUT) { "timeout" } else { "failed" }
}

/// The checks of a workflow.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkChecks {
    /// All of them.
    pub rows: Vec<Check>,
    /// The places of those that a request or a plan asked for.
    pub demanded: Vec<usize>,
}

/// The checks of the workflow: those that passed, and those that a plan asks for. One that passed before anything was
/// changed proves nothing of the work; it is a step of it. And what is odd about those that are left out.
pub(super) fn checks(checks: &Checks<'_>, drafts: &[Draft<'_>], plan: &Plan<'_>) -> (WorkChecks, Vec<Diagnostic>) {
    let mut warnings = Vec::new();
    let mut made: Vec<Check> = Vec::new();
    for row in checks.rows.iter().filter(|row| row.after_change) {
        let text = match row.standing {
            Standing::Passes => PASSES.to_owned(),
            Standing::Before(path) => passed_before(path),
            Standing::Failed => {
                let shown = truncate(&row.check.key, 60);
                let message = format!("`{shown}` failed when it was last run; it is no check of the workflow");
                warnings.push(Diagnostic::warning("codify-failed-check", row.call.step.span, message));
                continue;
            }
            Standing::Superseded | Standing::Unknown => continue,
        };
        made.push(Check { command: Some(row.check.text.clone()), text, ..Check::default() });
    }
    let demanded = verification::add(&mut made, checks, drafts, plan);
    (WorkChecks { rows: made, demanded }, warnings)
}

/// A prose section with the session's own run as an execution record; `None` where nothing ran.
pub(super) fn record(session: &Session, drafts: &[Draft<'_>], flows: &[Data], outcomes: &[Outcome]) -> Option<Step> {
    if drafts.is_empty() {
        return None;
    }
    let name = |operands: &[Operand]| operands.first().map_or(String::new(), |operand| operand.name.clone());
    let rows = drafts.iter().zip(flows).zip(outcomes).map(|((draft, data), outcome)| {
        let source = draft.origin.first().map(|link| {
            let block = link.block.as_ref().map_or(String::new(), |block| format!("#^{block}"));
            format!("{}{block}", link.target)
        });
        vec![
            draft.title.clone(),
            draft.agent.map_or(String::new(), |agent| agent.name.clone()),
            draft.channel.unwrap_or("").to_owned(),
            name(&data.inputs),
            name(&data.outputs),
            duration(draft),
            outcome.status.to_owned(),
            source.or_else(|| session.meta.session_id.clone()).unwrap_or_default(),
        ]
    });
    let record = Record { columns: COLUMNS.map(str::to_owned).to_vec(), rows: rows.collect(), span: Span::default() };
    let mut title = "Executions".to_owned();
    while drafts.iter().any(|draft| draft.title.eq_ignore_ascii_case(&title)) {
        title.push_str(" so far");
    }
    Some(Step { level: 2, title, parts: vec![Part::Record(record)], ..Step::default() })
}

/// Time of all commands in ms; nothing where none is recorded.
fn duration(draft: &Draft<'_>) -> String {
    let measured: u64 = draft.calls().filter_map(|call| call.step.duration_ms).fold(0, u64::saturating_add);
    if measured > 0 { measured.to_string() } else { String::new() }
}
