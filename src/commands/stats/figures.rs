//! Sums over sessions.
//!
//! A session's tokens and cost are its own alone, so each session counts once and those of sub-agents are not counted
//! twice. A sub-agent that has no note in the vault is known only from the list of the session that started it: its
//! tokens are added to that session's ([`Orphans`]).

use serde::Serialize;

use crate::commands::output::Estimate;
use crate::index::table::Families;
use crate::index::{SessionRow, ToolUse};
use crate::price::Prices;
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
    /// Failed ones.
    pub(super) failed_sessions: u64,
    /// Abandoned ones, which did not fail.
    pub(super) abandoned_sessions: u64,
    /// Failed of closed ones.
    pub(super) session_failure_rate: Option<f64>,
    /// Steps.
    pub(super) steps: u64,
    /// Those that failed; denied and interrupted ones did not.
    pub(super) failed_steps: u64,
    /// Failed steps of all steps.
    pub(super) step_failure_rate: Option<f64>,
    /// Tokens without those read from a cache; nothing where no session tells any.
    pub(super) tokens: Option<u64>,
    /// Tokens read from a cache; nothing where no session tells any.
    pub(super) cache_read_tokens: Option<u64>,
    /// Tokens among them of sub-agents without a note.
    pub(super) tokens_without_note: u64,
    /// Cost by list prices, an estimate; nothing where no token has a price.
    pub(super) estimated_cost_usd: Option<f64>,
    /// Tokens whose price or model is unknown, cache reads included; the estimate is without them.
    pub(super) unpriced_tokens: u64,
    /// Cost as the records of agents have it; nothing where no session has one.
    pub(super) cost_usd: Option<f64>,
    /// Sessions whose record has a cost.
    pub(super) sessions_with_cost: u64,
    /// Sessions whose active time is known.
    pub(super) sessions_with_active_time: u64,
    /// Their active time: pauses of ten minutes and more do not count.
    pub(super) active_ms: Option<u64>,
    /// Average active time.
    pub(super) average_active_ms: Option<u64>,
    /// Median active time.
    pub(super) median_active_ms: Option<u64>,
    /// Sessions whose duration by the wall clock is known.
    pub(super) sessions_with_duration: u64,
    /// Their duration.
    pub(super) duration_ms: Option<u64>,
    /// Average duration.
    pub(super) average_duration_ms: Option<u64>,
    /// Median duration.
    pub(super) median_duration_ms: Option<u64>,
}

/// [`Figures`] that grow.
#[derive(Clone, Debug, Default)]
pub(super) struct FigureSum {
    figures: Figures,
    active: Vec<u64>,
    durations: Vec<u64>,
}

impl FigureSum {
    /// Adds a session.
    pub(super) fn add(&mut self, it: &Counted<'_>) {
        let (row, sum) = (it.row, &mut self.figures);
        sum.sessions += 1;
        sum.subagent_sessions += u64::from(it.subagent);
        let status = row.status.as_deref().map(Status::parse);
        if status.as_ref().is_some_and(Status::is_closed) {
            sum.closed_sessions += 1;
            sum.failed_sessions += u64::from(status == Some(Status::Failed));
            sum.abandoned_sessions += u64::from(status == Some(Status::Abandoned));
        }
        sum.steps += row.steps;
        sum.failed_steps += row.failed_steps;
        sum.tokens_without_note = sum.tokens_without_note.saturating_add(it.orphans);
        for tokens in row.tokens.into_iter().chain((it.orphans > 0).then_some(it.orphans)) {
            sum.tokens = Some(sum.tokens.unwrap_or(0).saturating_add(tokens));
        }
        for tokens in row.usage.iter().filter_map(|usage| usage.cache_read) {
            sum.cache_read_tokens = Some(sum.cache_read_tokens.unwrap_or(0).saturating_add(tokens));
        }
        if let Some(cost) = it.estimate.known_usd {
            sum.estimated_cost_usd = Some(sum.estimated_cost_usd.unwrap_or(0.0) + cost);
        }
        sum.unpriced_tokens = sum.unpriced_tokens.saturating_add(it.estimate.unpriced).saturating_add(it.orphans);
        if let Some(cost) = row.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            sum.cost_usd = Some(sum.cost_usd.unwrap_or(0.0) + cost);
            sum.sessions_with_cost += 1;
        }
        self.active.extend(row.active_ms);
        self.durations.extend(row.duration_ms);
    }

    /// Adds the use of one tool by a session.
    pub(super) fn add_tool(&mut self, it: &Counted<'_>, tool: &ToolUse) {
        self.figures.sessions += 1;
        self.figures.subagent_sessions += u64::from(it.subagent);
        self.figures.steps += tool.steps;
        self.figures.failed_steps += tool.failed;
    }

    /// What it came to.
    pub(super) fn done(self) -> Figures {
        let Self { figures: mut sum, mut active, mut durations } = self;
        sum.session_failure_rate = rate(sum.failed_sessions, sum.closed_sessions);
        sum.step_failure_rate = rate(sum.failed_steps, sum.steps);
        // Sums of cents have no more digits than cents of a cent.
        sum.cost_usd = sum.cost_usd.map(rounded);
        sum.estimated_cost_usd = sum.estimated_cost_usd.map(rounded);
        active.sort_unstable();
        sum.sessions_with_active_time = active.len() as u64;
        sum.active_ms = whole(&active);
        sum.average_active_ms = average(&active);
        sum.median_active_ms = median(&active);
        durations.sort_unstable();
        sum.sessions_with_duration = durations.len() as u64;
        sum.duration_ms = whole(&durations);
        sum.average_duration_ms = average(&durations);
        sum.median_duration_ms = median(&durations);
        sum
    }
}

impl Figures {
    /// Of all of them.
    pub(super) fn of<'a>(sessions: impl IntoIterator<Item = &'a Counted<'a>>) -> Self {
        let mut sum = FigureSum::default();
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
    /// The session that it counts in: of costs the outermost one that it worked for and that is asked for, else itself.
    pub(super) root: &'a SessionRow,
    /// Whether a sub-agent worked in it.
    pub(super) subagent: bool,
    /// Tokens of its sub-agents that have no note.
    pub(super) orphans: u64,
    /// What its own tokens cost by list prices.
    pub(super) estimate: Estimate,
}

impl<'a> Counted<'a> {
    /// A session as it counts in `families`.
    pub(super) fn of(row: &'a SessionRow, families: &Families<'_>, prices: &Prices) -> Self {
        let (subagent, orphans) = (families.is_subagent(row), families.tokens_without_note(row));
        Self { row, root: row, subagent, orphans, estimate: Estimate::of(row, prices) }
    }
}

fn rate(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| ((part as f64 / whole as f64) * 1e6).round() / 1e6)
}

/// Without what sums of binary fractions add behind the sixth digit.
pub(super) fn rounded(cost: f64) -> f64 {
    (cost * 1e6).round() / 1e6
}

fn whole(values: &[u64]) -> Option<u64> {
    (!values.is_empty()).then(|| values.iter().copied().fold(0, u64::saturating_add))
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
        let prices = Prices::default();
        let families = Families::of(rows);
        let counted: Vec<_> = rows.iter().map(|row| Counted::of(row, &families, &prices)).collect();
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
        assert_eq!((closed.closed_sessions, closed.failed_sessions, closed.abandoned_sessions), (3, 1, 1));
        assert_eq!((closed.session_failure_rate, closed.step_failure_rate), (Some(0.333_333), Some(0.25)));
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
