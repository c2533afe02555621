//! What sessions cost by list prices: an estimate by model, project, day.
//!
//! A sub-agent counts in the session that it worked for, and once. By model each model counts what was used of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::json;

use super::figures::{Counted, rounded};
use super::group::{By, Grouped, SessionGroup};
use crate::commands::output::{Estimate, PlainOutput};
use crate::commands::{View, session::filter::Chosen};
use crate::index::table::Families;
use crate::index::{ModelUsage, SessionRow};
use crate::price::Prices;
use crate::session::event::Usage;

/// Tables where none is asked for.
pub(super) const OVERVIEW: &[By] = &[By::Model, By::Project, By::Day];

/// What many sessions cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CostSum {
    /// Sessions, those of sub-agents not counted apart.
    pub(super) sessions: u64,
    /// Tokens and searches of the web, as far as they are known.
    pub(super) usage: Usage,
    /// US dollars by list prices, and the tokens that these leave out.
    pub(super) cost: Estimate,
}

impl Serialize for CostSum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { sessions, usage, cost } = self;
        let value = json!({
            "sessions": sessions,
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "cache_write_tokens": usage.cache_write,
            "cache_read_tokens": usage.cache_read,
            "web_searches": usage.web_searches,
            "estimated_cost_usd": cost.known_usd,
            "unpriced_tokens": cost.unpriced,
        });
        value.serialize(serializer)
    }
}

impl CostSum {
    /// Adds what one session used, or used of one model.
    fn add(&mut self, used: impl IntoIterator<Item = Usage>, cost: Estimate) {
        used.into_iter().for_each(|used| self.usage.add(used));
        self.cost = self.cost.plus(cost);
    }
}

/// The answer of `cru stats --cost`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CostReport {
    schema: u32,
    /// The day of the list prices.
    pub(super) prices_date: &'static str,
    /// Where they come from.
    pub(super) prices_source: &'static str,
    pub(super) total: CostSum,
    /// Models without a price, the most used first.
    pub(super) unpriced_models: Vec<String>,
    pub(super) by: Vec<Grouped<CostSum>>,
    #[serde(skip)]
    pub(super) limit: usize,
}

impl CostReport {
    /// Of the sessions of a vault that are chosen, with all their sub-agents. `limit`: rows of a table of text.
    pub(super) fn of(rows: &[SessionRow], chosen: &Chosen, prices: &Prices, kinds: &[By], limit: usize) -> Self {
        let placed = placed(rows, prices, |row| chosen.matches_row(row));
        Self::of_placed(&placed, prices, kinds, limit, chosen.zone())
    }

    fn of_placed(placed: &[Counted<'_>], prices: &Prices, kinds: &[By], limit: usize, zone: &TimeZone) -> Self {
        let mut unpriced: BTreeMap<&str, u64> = BTreeMap::new();
        for usage in placed.iter().flat_map(|it| &it.row.usage) {
            if prices.of(&usage.model).is_none() {
                let tokens = unpriced.entry(&usage.model).or_default();
                *tokens = tokens.saturating_add(usage.usage().used());
            }
        }
        let mut unpriced: Vec<(&str, u64)> = unpriced.into_iter().collect();
        unpriced.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        let total = table(By::Status, placed, |_| Some(Cow::Borrowed("")));
        Self {
            schema: 1,
            prices_date: Prices::date(),
            prices_source: Prices::source(),
            total: total.groups.into_iter().next().map(|group| group.sum).unwrap_or_default(),
            unpriced_models: unpriced.into_iter().map(|(model, _)| model.to_owned()).collect(),
            by: kinds
                .iter()
                .map(|by| match by {
                    By::Model => by_model(placed, prices),
                    by => table(*by, placed, |root| by.key(root, zone)),
                })
                .collect(),
            limit,
        }
    }
}

/// The sessions that count, each with the outermost chosen session that it worked for.
fn placed<'a>(rows: &'a [SessionRow], prices: &Prices, is_chosen: impl Fn(&SessionRow) -> bool) -> Vec<Counted<'a>> {
    let families = Families::of(rows);
    let place = |row| {
        let root = families.ancestry(row).into_iter().rev().find(|row| is_chosen(row))?;
        Some(Counted { root, ..Counted::of(row, &families, prices) })
    };
    rows.iter().filter_map(place).collect()
}

/// What a session's tokens cost, with those of sub-agents without a note, whose price is unknown.
fn estimate(it: &Counted<'_>) -> Estimate {
    it.estimate.plus(Estimate { known_usd: None, unpriced: it.orphans })
}

fn table<'a>(
    by: By,
    placed: &'a [Counted<'a>],
    key: impl Fn(&'a SessionRow) -> Option<Cow<'a, str>>,
) -> Grouped<CostSum> {
    let mut groups: BTreeMap<Option<Cow<'_, str>>, CostSum> = BTreeMap::new();
    for it in placed {
        let group = groups.entry(key(it.root)).or_default();
        group.sessions += u64::from(std::ptr::eq(it.row, it.root));
        group.add(it.row.usage.iter().map(ModelUsage::usage), estimate(it));
    }
    finished(by, groups)
}

fn by_model(placed: &[Counted<'_>], prices: &Prices) -> Grouped<CostSum> {
    let mut groups: BTreeMap<Option<Cow<'_, str>>, (CostSum, BTreeSet<&str>)> = BTreeMap::new();
    for it in placed {
        let mut rest = estimate(it).unpriced;
        for usage in &it.row.usage {
            let (counts, known_usd) = (usage.usage(), prices.cost(&usage.model, usage.usage()));
            let unpriced = if known_usd.is_some() { 0 } else { counts.used().saturating_add(counts.cache_read) };
            rest = rest.saturating_sub(unpriced);
            let (sum, roots) = groups.entry(Some(usage.model.as_str().into())).or_default();
            roots.insert(&it.root.path);
            sum.add([counts], Estimate { known_usd, unpriced });
        }
        // What no usage table splits by model.
        if rest > 0 {
            let (sum, roots) = groups.entry(None).or_default();
            roots.insert(&it.root.path);
            sum.add([], Estimate { known_usd: None, unpriced: rest });
        }
    }
    let counted = groups.into_iter().map(|(key, (sum, roots))| (key, CostSum { sessions: roots.len() as u64, ..sum }));
    finished(By::Model, counted.collect())
}

/// Days stand in their order, other groups by cost.
fn finished(by: By, groups: BTreeMap<Option<Cow<'_, str>>, CostSum>) -> Grouped<CostSum> {
    let group = |(key, mut sum): (Option<Cow<'_, str>>, CostSum)| {
        sum.cost.known_usd = sum.cost.known_usd.map(rounded);
        SessionGroup { key: key.map(Cow::into_owned), sum }
    };
    let mut groups: Vec<SessionGroup<CostSum>> = groups.into_iter().map(group).collect();
    if !by.is_time() {
        let cost = |group: &SessionGroup<CostSum>| group.sum.cost.known_usd.unwrap_or(-1.0);
        groups.sort_by(|a, b| {
            cost(b).total_cmp(&cost(a)).then(b.sum.cost.unpriced.cmp(&a.sum.cost.unpriced)).then(a.key.cmp(&b.key))
        });
    }
    Grouped { by, groups }
}

impl PlainOutput for CostReport {
    fn is_no(&self) -> bool {
        self.total.sessions == 0
    }

    fn shown(&self, view: &View) -> String {
        super::text::costs(self, view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, model: &str, input: u64) -> SessionRow {
        let usage = ModelUsage {
            model: model.into(),
            input: Some(input),
            output: 0,
            cache_write: Some(0),
            cache_write_1h: Some(0),
            cache_read: Some(0),
            web_searches: 0,
        };
        SessionRow {
            id: id.into(),
            path: format!("sessions/{id}.md"),
            project: Some(format!("~/{id}")),
            tokens: Some(input),
            usage: vec![usage],
            ..SessionRow::default()
        }
    }

    fn family() -> Vec<SessionRow> {
        let mut parent = row("a", "claude-opus-4-5", 1_000_000);
        parent.subagent_sessions = "a-one, a-gone".into();
        parent.subagent_tokens = "2000000, 70".into();
        let mut child = row("a-one", "claude-haiku-4-5", 2_000_000);
        child.subagent_sessions = "a-two".into();
        let mut grandchild = row("a-two", "house-model", 30);
        grandchild.subagent = true;
        vec![parent, child, grandchild]
    }

    fn report(rows: &[SessionRow], is_chosen: fn(&SessionRow) -> bool) -> CostReport {
        CostReport::of_placed(
            &placed(rows, &Prices::default(), is_chosen),
            &Prices::default(),
            OVERVIEW,
            8,
            &TimeZone::UTC,
        )
    }

    #[test]
    fn sub_agents_count_in_their_session_and_once() {
        let rows = family();
        let all = report(&rows, |_| true);
        assert_eq!((all.total.sessions, all.total.cost.known_usd, all.total.cost.unpriced), (1, Some(7.0), 100));
        let keys = |at: usize| -> Vec<(Option<&str>, Option<f64>, u64, u64)> {
            let groups = all.by[at].groups.iter();
            groups.map(|it| (it.key.as_deref(), it.sum.cost.known_usd, it.sum.cost.unpriced, it.sum.sessions)).collect()
        };
        assert_eq!(
            keys(0),
            [
                (Some("claude-opus-4-5"), Some(5.0), 0, 1),
                (Some("claude-haiku-4-5"), Some(2.0), 0, 1),
                (None, None, 70, 1),
                (Some("house-model"), None, 30, 1),
            ]
        );
        assert_eq!(keys(1), [(Some("~/a"), Some(7.0), 100, 1)]);
        assert_eq!(all.unpriced_models, ["house-model"]);
    }

    #[test]
    fn a_sub_agent_alone_counts_for_itself() {
        let rows = family();
        let alone = report(&rows, |row| row.id != "a");
        assert_eq!((alone.total.sessions, alone.total.cost.known_usd), (1, Some(2.0)));
        let parent = report(&rows, |row| row.id == "a");
        assert_eq!((parent.total.sessions, parent.total.cost.known_usd), (1, Some(7.0)), "with all its sub-agents");
        assert_eq!(report(&rows, |_| false).total, CostSum::default());
    }

    #[test]
    fn sessions_that_name_one_another_end() {
        let mut rows = family();
        rows[2].subagent_sessions = "a, a-two".into();
        assert!(report(&rows, |_| true).total.sessions <= 3);
    }
}
