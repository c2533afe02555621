//! Sums over sessions.
//!
//! A session's tokens and cost are its own alone, so each session counts once and those of sub-agents are not counted
//! twice. A sub-agent that has no note in the vault is known only from the list of the session that started it: its
//! tokens are added to that session's ([`Orphans`]).

use std::collections::HashSet;

use serde::Serialize;

use crate::index::SessionRow;
use crate::session::Status;

/// What many sessions come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Figures {
    /// Sessions.
    pub(super) sessions: u64,
    /// Those of sub-agents among them.
    pub(super) subagent_sessions: u64,
    /// Completed, failed and abandoned ones.
    pub(super) closed_sessions: u64,
    /// Failed and abandoned ones.
    pub(super) failed_sessions: u64,
    /// Failed and abandoned of closed ones.
    pub(super) session_failure_rate: Option<f64>,
    /// Steps.
    pub(super) steps: u64,
    /// Those that failed.
    pub(super) failed_steps: u64,
    /// Failed steps of all steps.
    pub(super) step_failure_rate: Option<f64>,
    /// Tokens; nothing where no session tells any.
    pub(super) tokens: Option<u64>,
    /// Tokens among them of sub-agents without a note.
    pub(super) tokens_without_note: u64,
    /// Cost; nothing where no session tells one.
    pub(super) cost_usd: Option<f64>,
    /// Sessions that tell a cost.
    pub(super) sessions_with_cost: u64,
    /// Sessions whose duration is known.
    pub(super) sessions_with_duration: u64,
    /// Their average.
    pub(super) average_duration_ms: Option<u64>,
    /// Their median.
    pub(super) median_duration_ms: Option<u64>,
}

/// [`Figures`] that grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    figures: Figures,
    durations: Vec<u64>,
}

impl Sum {
    /// Adds a session.
    pub(super) fn add(&mut self, it: &Counted<'_>) {
        let (row, sum) = (it.row, &mut self.figures);
        sum.sessions += 1;
        sum.subagent_sessions += u64::from(it.subagent);
        let status = row.status.as_deref().map(Status::parse);
        if status.as_ref().is_some_and(Status::is_closed) {
            sum.closed_sessions += 1;
            sum.failed_sessions += u64::from(status != Some(Status::Completed));
        }
        sum.steps += row.steps;
        sum.failed_steps += row.failed_steps;
        sum.tokens_without_note = sum.tokens_without_note.saturating_add(it.orphans);
        for tokens in row.tokens.into_iter().chain((it.orphans > 0).then_some(it.orphans)) {
            sum.tokens = Some(sum.tokens.unwrap_or(0).saturating_add(tokens));
        }
        if let Some(cost) = row.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            sum.cost_usd = Some(sum.cost_usd.unwrap_or(0.0) + cost);
            sum.sessions_with_cost += 1;
        }
        self.durations.extend(row.duration_ms);
    }

    /// What it came to.
    pub(super) fn done(self) -> Figures {
        let Self { figures: mut sum, mut durations } = self;
        sum.session_failure_rate = rate(sum.failed_sessions, sum.closed_sessions);
        sum.step_failure_rate = rate(sum.failed_steps, sum.steps);
        // Sums of cents have no more digits than cents of a cent.
        sum.cost_usd = sum.cost_usd.map(|cost| (cost * 1e6).round() / 1e6);
        durations.sort_unstable();
        sum.sessions_with_duration = durations.len() as u64;
        sum.average_duration_ms = average(&durations);
        sum.median_duration_ms = median(&durations);
        sum
    }
}

impl Figures {
    /// Of all of them.
    pub(super) fn of<'a>(sessions: impl IntoIterator<Item = &'a Counted<'a>>) -> Self {
        let mut sum = Sum::default();
        for it in sessions {
            sum.add(it);
        }
        sum.done()
    }
}

/// A session that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted<'a> {
    /// Its row.
    pub(super) row: &'a SessionRow,
    /// Whether a sub-agent worked in it.
    pub(super) subagent: bool,
    /// Tokens of its sub-agents that have no note.
    pub(super) orphans: u64,
}

/// Which sub-agents have a note of their own, and which sessions are of sub-agents.
pub(super) struct Families<'a> {
    names: HashSet<&'a str>,
    children: HashSet<&'a str>,
}

impl<'a> Families<'a> {
    /// Of all sessions of a vault, whichever of them are asked for.
    pub(super) fn of(rows: &'a [SessionRow]) -> Self {
        let names = rows.iter().flat_map(|row| [row.id.as_str(), stem(&row.path)]).collect();
        let children = rows.iter().flat_map(|row| row.subagent_sessions.split(", ")).filter(|it| !it.is_empty());
        Self { names, children: children.collect() }
    }

    /// A session as it counts.
    pub(super) fn count(&self, row: &'a SessionRow) -> Counted<'a> {
        let listed = row.subagent_sessions.split(", ").zip(row.subagent_tokens.split(", "));
        let alone = listed.filter(|(name, _)| !self.names.contains(stem(name)));
        let tokens = alone.filter_map(|(_, tokens)| tokens.parse::<u64>().ok());
        Counted {
            row,
            subagent: row.subagent
                || self.children.contains(row.id.as_str())
                || self.children.contains(stem(&row.path)),
            orphans: tokens.fold(0, u64::saturating_add),
        }
    }
}

/// A note's name of its path.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

fn rate(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| ((part as f64 / whole as f64) * 1e6).round() / 1e6)
}

fn average(values: &[u64]) -> Option<u64> {
    let sum: u128 = values.iter().copied().map(u128::from).sum();
    u64::try_from(sum.checked_div(values.len() as u128)?).ok()
}

fn median(sorted: &[u64]) -> Option<u64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(u64::midpoint(*sorted.get(middle - 1)?, upper)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, status: &str) -> SessionRow {
        SessionRow {
            id: id.into(),
            path: format!("sessions/{id}.md"),
            status: Some(status.into()),
            ..SessionRow::default()
        }
    }

    fn figures(rows: &[SessionRow]) -> Figures {
        let families = Families::of(rows);
        let counted: Vec<_> = rows.iter().map(|row| families.count(row)).collect();
        Figures::of(&counted)
    }

    #[test]
    fn sub_agents_are_not_counted_twice() {
        let mut parent = row("a", "completed");
        parent.tokens = Some(100);
        parent.subagent_sessions = "a-helper, a-gone, a-silent".into();
        parent.subagent_tokens = "30, 7, -".into();
        let mut child = row("a-helper", "completed");
        child.tokens = Some(30);
        let both = figures(&[parent.clone(), child]);
        assert_eq!((both.tokens, both.tokens_without_note), (Some(137), 7));
        assert_eq!((both.sessions, both.subagent_sessions), (2, 1));
        let alone = figures(&[parent]);
        assert_eq!((alone.tokens, alone.tokens_without_note), (Some(137), 37), "the note of one is gone");
    }

    #[test]
    fn a_rate_of_nothing_is_none() {
        let open = figures(&[row("a", "active"), row("b", "someday")]);
        assert_eq!((open.session_failure_rate, open.step_failure_rate), (None, None));
        assert_eq!((open.tokens, open.cost_usd, open.average_duration_ms, open.median_duration_ms), Default::default());
        let mut rows = [row("a", "completed"), row("b", "failed"), row("c", "abandoned"), row("d", "paused")];
        rows[1].steps = 8;
        rows[1].failed_steps = 2;
        let closed = figures(&rows);
        assert_eq!((closed.closed_sessions, closed.failed_sessions), (3, 2));
        assert_eq!((closed.session_failure_rate, closed.step_failure_rate), (Some(0.666_667), Some(0.25)));
    }

    #[test]
    fn averages_and_medians() {
        let timed = |values: &[u64]| {
            let rows: Vec<_> =
                values.iter().map(|ms| SessionRow { duration_ms: Some(*ms), ..row("a", "completed") }).collect();
            let figures = figures(&rows);
            (figures.average_duration_ms, figures.median_duration_ms)
        };
        assert_eq!(timed(&[9, 1, 2]), (Some(4), Some(2)));
        assert_eq!(timed(&[1, 100, 3, 4]), (Some(27), Some(3)));
        assert_eq!(timed(&[u64::MAX, u64::MAX]), (Some(u64::MAX), Some(u64::MAX)));
    }

    #[test]
    fn no_number_of_a_note_breaks_a_sum() {
        let mut rows = [row("a", "completed"), row("b", "completed"), row("c", "completed")];
        for (row, cost) in rows.iter_mut().zip([f64::NAN, f64::INFINITY, 0.5]) {
            row.tokens = Some(u64::MAX);
            row.cost_usd = Some(cost);
            row.subagent_sessions = "x, y".into();
            row.subagent_tokens = format!("{}, {}", u64::MAX, u64::MAX);
        }
        let sum = figures(&rows);
        assert_eq!((sum.tokens, sum.cost_usd, sum.sessions_with_cost), (Some(u64::MAX), Some(0.5), 1));
    }
}
