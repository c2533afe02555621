//! How it went: marks of steps, the checks that passed in the end, the record of the session.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::clean;
use super::data::Data;
use super::deed::Deed;
use super::draft::Draft;
use super::kind::{self, DeedKind};
use super::shell;
use crate::model::{Check, Need, Operand, Part, Record, Step};
use cru_base::text::truncate;
use cru_base::{Diagnostic, Span};
use cru_session::{Session, Status};

/// Word of the record for the last step of a session that was abandoned.
pub(super) const BROKEN_OFF: &str = "abandoned";
/// Checks listed at most.
const MAX_CHECKS: usize = 10;
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

/// In which drafts which commands end well.
#[derive(Debug, Default)]
pub(super) struct Passes<'a>(HashMap<&'a str, Vec<usize>>);

impl<'a> Passes<'a> {
    /// Looks through all drafts.
    pub(super) fn of(drafts: &'a [Draft<'_>]) -> Self {
        let mut passes: HashMap<&str, Vec<usize>> = HashMap::default();
        for (index, draft) in drafts.iter().enumerate() {
            for deed in draft.deeds.iter().filter(|deed| deed.tells() && deed.succeeded()) {
                let places = passes.entry(deed.key()).or_default();
                if places.last() != Some(&index) {
                    places.push(index);
                }
            }
        }
        Self(passes)
    }

    /// The first draft after `index` in which another try of `deed` ends well.
    pub(super) fn after(&self, deed: &Deed<'_>, index: usize) -> Option<usize> {
        let places = self.0.get(deed.key())?;
        places.get(places.partition_point(|&place| place <= index)).copied()
    }
}

/// How each draft went.
///
/// A failure that was put right before the work went on, or that ended the session, stopped the work: `!`. One that was
/// left as it was, and the work went on: `?`. Looking around may fail; it decides nothing.
pub(super) fn outcomes(session: &Session, drafts: &[Draft<'_>], passes: &Passes<'_>) -> Vec<Outcome> {
    let last = drafts.iter().rposition(|draft| draft.deeds.iter().any(Deed::tells));
    let broken = matches!(session.meta.status, Some(Status::Failed | Status::Abandoned | Status::Paused));
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.iter().enumerate() {
        let telling: Vec<&Deed<'_>> =
            draft.deeds.iter().filter(|deed| deed.tells() && deed.kind != DeedKind::Edit).collect();
        let end = telling.last().filter(|deed| deed.failed());
        let repaired = repaired(&telling);
        let (need, status) = match end {
            Some(deed) if passes.after(deed, index).is_some() => (Need::Required, "failed"),
            Some(deed) if Some(index) == last && broken => (Need::Required, word(deed)),
            Some(deed) => (Need::Optional, word(deed)),
            None if draft.subagent.is_some_and(|it| failed_words(it.summary.as_deref())) => (Need::Optional, "failed"),
            None if repaired => (Need::Required, "success"),
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
fn repaired(telling: &[&Deed<'_>]) -> bool {
    let mut failed: HashSet<&str> = HashSet::default();
    telling.iter().filter(|deed| deed.kind == DeedKind::Check).any(|deed| {
        if deed.failed() {
            failed.insert(deed.key());
            return false;
        }
        deed.succeeded() && failed.contains(deed.key())
    })
}

fn word(deed: &Deed<'_>) -> &'static str {
    let timeout =
        deed.step.exit == Some(124) || deed.step.result.as_deref().is_some_and(|text| text.contains("timed out"));
    if timeout { "timeout" } else { "failed" }
}

fn failed_words(summary: Option<&str>) -> bool {
    summary.is_some_and(|text| text.trim_start().to_lowercase().starts_with("failed"))
}

/// The checks whose last run passed, in the order of that run. One that passed before anything was changed proves
/// nothing of the work; it is a step of it. And what is odd about those that are left out.
pub(super) fn checks(drafts: &[Draft<'_>]) -> (Vec<Check>, Vec<Diagnostic>) {
    let mut warnings = Vec::new();
    let mut last: BTreeMap<&str, (usize, &Deed<'_>)> = BTreeMap::new();
    let changes =
        |deed: &Deed<'_>| matches!(deed.kind, DeedKind::Run | DeedKind::Change | DeedKind::Edit) && !deed.failed();
    let deeds = drafts.iter().flat_map(|draft| &draft.deeds).skip_while(|deed| !changes(deed));
    for (at, deed) in deeds.filter(|deed| deed.shell && deed.kind == DeedKind::Check).enumerate() {
        if deed.failed() || deed.succeeded() {
            last.insert(deed.key(), (at, deed));
        }
    }
    for (key, (_, deed)) in last.iter().filter(|(_, (_, deed))| deed.failed()) {
        let message =
            format!("`{}` failed when it was last run; it is no check of the workflow", truncate(&clean(key), 60));
        warnings.push(Diagnostic::warning("codify-failed-check", deed.step.span, message));
    }
    let mut passed: Vec<(usize, &Deed<'_>)> = last.into_values().filter(|(_, deed)| deed.succeeded()).collect();
    passed.sort_by_key(|(at, _)| *at);
    let skip = passed.len().saturating_sub(MAX_CHECKS);
    let check = |(_, deed): (usize, &Deed<'_>)| {
        let command = Some(checking_part(&deed.core)).filter(|command| !command.is_empty());
        Check { command, text: "passes".to_owned(), span: Span::default() }
    };
    (passed.into_iter().skip(skip).map(check).collect(), warnings)
}

/// The part of a command line that checks, with what leads to its folder.
fn checking_part(core: &str) -> String {
    let parts = shell::split(core);
    let mut out = String::new();
    let mut checks = false;
    for part in &parts {
        // A filter is there only where what it leaves decides.
        let filters = checks && part.operator == "|";
        checks = kind::kind(part.text) == DeedKind::Check || filters;
        if checks || shell::words(part.text).first() == Some(&"cd") {
            out.push_str(if filters {
                " | "
            } else if out.is_empty() {
                ""
            } else {
                " && "
            });
            out.push_str(part.text);
        }
    }
    truncate(&clean(&out), 160).into_owned()
}

/// What a check that passed says: its own words where they are a verdict, else `passes`.
pub(super) fn verdict(deed: &Deed<'_>) -> String {
    let result = deed.step.result.as_deref().map(clean).unwrap_or_default();
    let plain = result.to_lowercase();
    let tells = ["passed", "0 errors", "no issues", "0 failed", "test result: ok", "0 warnings", "all checks"]
        .iter()
        .any(|word| plain.contains(word));
    if tells && result.chars().count() <= 60 && !result.contains(['`', '→']) {
        format!("passes ({result})")
    } else {
        "passes".to_owned()
    }
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

/// Time of all commands in ms; where none is recorded, from the first to the last thing that has a time.
fn duration(draft: &Draft<'_>) -> String {
    let measured: u64 = draft.deeds.iter().filter_map(|deed| deed.step.duration_ms).fold(0, u64::saturating_add);
    if measured > 0 {
        return measured.to_string();
    }
    let mut elapsed = 0_i64;
    for phase in &draft.phases {
        let times = draft
            .deeds
            .iter()
            .filter_map(|deed| deed.step.time)
            .filter(|time| phase.started.is_some_and(|start| *time >= start));
        if let (Some(start), Some(end), true) = (phase.started, times.max(), draft.phases.len() == 1) {
            elapsed = end.as_millisecond().saturating_sub(start.as_millisecond());
        }
    }
    if elapsed > 0 { elapsed.to_string() } else { String::new() }
}
