//! What a session cost and how long it took, for its header.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::base::Lines;
use crate::base::text::{plural, thousands};
use crate::commands::output::{Estimate, Spent, duration, proof_text};
use crate::index::{Record, SessionRow};
use crate::price::Prices;
use crate::session::Session;
use crate::vault::{Catalog, Head, Vault, VaultPath};

/// Sub-agents, and theirs, whose costs are added up; a session with more says so.
const MOST_SUBAGENTS: usize = 500;

/// The figures of one session.
#[derive(Debug, Default)]
pub(super) struct SessionFigures {
    row: SessionRow,
    own: Estimate,
    /// With all its sub-agents: how many of them have a note, and the sum.
    family: Option<(u64, Spent)>,
    /// Whether there are more sub-agents than were added up.
    is_partial: bool,
}

impl SessionFigures {
    /// Of the session `session` of the note at `head`; its sub-agents are read.
    pub(super) fn of(session: &Session, head: &Head, catalog: &Catalog, vault: &Vault, prices: &Prices) -> Self {
        let row = row(&head.path, session);
        let own = Spent::of(&row, prices);
        let mut sum = own;
        let mut seen = BTreeSet::from([head.path.clone()]);
        let mut open = links(session, head, &mut sum, row.inline_tokens, catalog);
        let (mut count, mut is_partial) = (0, false);
        while let Some(child) = open.pop() {
            if seen.contains(&child.path) {
                continue;
            }
            if seen.len() > MOST_SUBAGENTS {
                is_partial = true;
                break;
            }
            seen.insert(child.path.clone());
            let Ok(loaded) = vault.load(&child.path) else { continue };
            let row = self::row(&child.path, &loaded.session);
            count += 1;
            sum = sum.plus(Spent::of(&row, prices));
            open.extend(links(&loaded.session, child, &mut sum, row.inline_tokens, catalog));
        }
        let family = (count > 0 || sum != own).then_some((count, sum));
        Self { row, own: own.cost, family, is_partial }
    }

    /// `148,210; 1,204,332 read from caches`.
    pub(super) fn tokens(&self) -> Option<String> {
        let reads = self.cache_reads();
        let reads = reads.map(|tokens| format!("{} read from caches", thousands(tokens)));
        let with = self.family.filter(|(_, sum)| sum.tokens > self.row.tokens.unwrap_or(0));
        let with = with.map(|(count, sum)| format!("with {} {}", self.those(count), thousands(sum.tokens)));
        let parts: Vec<String> = self.row.tokens.map(thousands).into_iter().chain(reads).chain(with).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// `2 sub-agents`, for a sum with theirs.
    fn those(&self, count: u64) -> String {
        let those = if count == 0 { "its sub-agents".to_owned() } else { plural(count, "sub-agent") };
        if self.is_partial { format!("the first {those}") } else { those }
    }

    fn cache_reads(&self) -> Option<u64> {
        self.row.usage.iter().filter_map(|usage| usage.cache_read).reduce(u64::saturating_add)
    }

    /// The estimate with that of its sub-agents, and what the agent recorded. `None` where nothing is known of tokens.
    pub(super) fn cost(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(cost) = self.row.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            parts.push(format!("US$ {cost:.2} recorded"));
        }
        let knows = |it: Estimate| it.known_usd.is_some() || it.unpriced > 0;
        if knows(self.own) {
            let date = if self.own.known_usd.is_some() {
                format!(" (estimate, list prices of {})", Prices::date())
            } else {
                String::new()
            };
            let what = if date.is_empty() && !parts.is_empty() { "estimate " } else { "" };
            parts.push(format!("{what}{}{date}", self.own.text()));
        }
        // Where nothing has a price, that was just said.
        let says_more = |sum: Estimate| knows(sum) && (sum.known_usd.is_some() || !knows(self.own));
        if let Some((count, sum)) = self.family.filter(|(_, sum)| says_more(sum.cost)) {
            parts.push(format!("with {} {}", self.those(count), sum.cost.text()));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// `38 min`; pauses of ten minutes and more left out.
    pub(super) fn active(&self) -> Option<String> {
        self.row.active_ms.map(|ms| duration(ms / 1_000))
    }

    /// `2 h`, from the begin to the end or to the last moment that the note records.
    pub(super) fn wall_clock(&self) -> Option<String> {
        self.row.duration_ms.filter(|ms| *ms > 0).map(|ms| duration(ms / 1_000))
    }

    /// What checks prove, in words.
    pub(super) fn proof(&self) -> Option<String> {
        proof_text(&self.row)
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let estimate = |it: Estimate| json!({ "estimated_cost_usd": it.known_usd, "unpriced_tokens": it.unpriced });
        let mut value = json!({
            "tokens": self.row.tokens,
            "cache_read_tokens": self.cache_reads(),
            "cost_usd": self.row.cost_usd,
            "estimated_cost_usd": self.own.known_usd,
            "unpriced_tokens": self.own.unpriced,
            "prices_date": Prices::date(),
            "active_ms": self.row.active_ms,
            "duration_ms": self.row.duration_ms,
            "proof": self.row.proof,
            "writes_after_check": self.row.writes_after_check,
        });
        if let Some((count, sum)) = self.family {
            value["with_subagents"] = estimate(sum.cost);
            value["with_subagents"]["tokens"] = json!(sum.tokens);
            value["with_subagents"]["subagents"] = json!(count);
            if self.is_partial {
                value["with_subagents"]["partial"] = json!(true);
            }
        }
        value
    }
}

fn row(path: &VaultPath, session: &Session) -> SessionRow {
    Record::of(path, session, &Lines::of("")).session
}

/// The notes of a session's sub-agents. Tokens of those without a note are added to what has no price.
fn links<'a>(
    session: &Session,
    head: &Head,
    sum: &mut Spent,
    inline_tokens: u64,
    catalog: &'a Catalog,
) -> Vec<&'a Head> {
    let mut found = Vec::new();
    *sum = sum.and_tokens(inline_tokens);
    for subagent in &session.meta.subagents {
        match catalog.note(&subagent.session, &head.path) {
            Some(child) => found.push(child),
            None => *sum = sum.and_tokens(subagent.tokens.unwrap_or(0)),
        }
    }
    found
}
