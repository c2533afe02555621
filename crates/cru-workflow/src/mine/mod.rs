//! One workflow of several sessions: what they have in common, what some of them did, what may run side by side.
//!
//! Each session is codified by itself; the sequences of steps are laid side by side, one after the other, into columns of
//! like steps ([`column`]). Columns that enough sessions have become steps ([`merge`]). Sessions that failed have no say:
//! they are compared with the result and told as warnings.

mod column;
mod group;
mod merge;
mod page;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::Serialize;

use super::conform::conform;
use super::model::Workflow;
use super::{Options, codify};
use column::{Column, columns};
use cru_base::{Diagnostic, Span};
use cru_session::{Session, Status};
pub use group::{Group, groups};

/// Share of sessions from which a step is on the common path.
pub const COMMON: f64 = 0.7;
/// Share of sessions from which a step is kept as an optional one; two sessions at least.
pub const OPTIONAL: f64 = 0.3;
/// Share of sessions from which a repetition is a loop, and both orders mean that steps may run side by side; two
/// sessions at least.
pub const OFTEN: f64 = 0.25;

/// One session with the name that links call it by.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it says.
    pub session: &'a Session,
}

/// What came out of mining, beside the workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Mining {
    /// Sessions that succeeded, in the order given.
    pub sessions: Vec<String>,
    /// Sessions that failed or were abandoned.
    pub anti_examples: Vec<AntiExample>,
    /// The thresholds.
    pub thresholds: Thresholds,
    /// Every column of like steps, in order.
    pub columns: Vec<Row>,
    /// Ways through the kept steps, the most frequent first.
    pub variants: Vec<Variant>,
    /// Titles of steps that were done in both orders.
    pub parallel: Vec<[String; 2]>,
}

/// From which share of sessions on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// A step is on the common path.
    pub common: f64,
    /// A step is optional.
    pub optional: f64,
    /// A repetition is a loop; both orders mean side by side.
    pub often: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { common: COMMON, optional: OPTIONAL, often: OFTEN }
    }
}

/// What becomes of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// On the common path.
    Common,
    /// An optional step.
    Optional,
    /// Too rare.
    LeftOut,
}

/// A column of like steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What it is called.
    pub title: String,
    /// How many sessions have it.
    pub sessions: usize,
    /// How many of them did it more than once.
    pub repeated: usize,
    /// What became of it.
    pub fate: Fate,
    /// For each session the phase it was done in.
    pub cells: Vec<Option<String>>,
}

/// A way through the kept steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// How many sessions went it.
    pub count: usize,
    /// Which.
    pub sessions: Vec<String>,
    /// Titles in the order in which they were done first.
    pub steps: Vec<String>,
}

/// A session that failed, beside the workflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AntiExample {
    /// Its id.
    pub session: String,
    /// Its status.
    pub status: String,
    /// Titles of required and common steps that it lacks.
    pub lacks: Vec<String>,
}

/// Whether a session is an example of how not to do it.
fn is_anti(session: &Session) -> bool {
    matches!(session.meta.status, Some(Status::Failed | Status::Abandoned))
}

/// Makes one workflow of several sessions. Without one that succeeded it is empty.
pub fn mine(sources: &[Source<'_>], options: &Options) -> (Workflow, Vec<Diagnostic>, Mining) {
    let (anti, good): (Vec<_>, Vec<_>) = sources.iter().copied().partition(|source| is_anti(source.session));
    let made: Vec<Workflow> = good
        .par_iter()
        .map(|source| codify(source.session, &Options { shape: crate::Shape::Replay, ..*options }).0)
        .collect();
    let mut diagnostics = Vec::new();
    let mut tell = |code, message: String| diagnostics.push(Diagnostic::info(code, Span::default(), message));
    let columns = columns(&made);
    let total = good.len();
    let fates: Vec<Fate> = columns.iter().map(|column| fate(column, total)).collect();
    let mut mining = Mining { sessions: good.iter().map(|source| source.id.to_owned()).collect(), ..Mining::default() };
    // What only some sessions did is optional beside what most of them did.
    let has_common = fates.contains(&Fate::Common);
    let is_kept = |(_, fate): &(&Column, &Fate)| has_common && **fate != Fate::LeftOut;
    let kept: Vec<&Column> = columns.iter().zip(&fates).filter(is_kept).map(|(column, _)| column).collect();
    let (mut workflow, titles) = merge::workflow(&kept, &made, total);
    mining.parallel = merge::parallel(&mut workflow, &kept, &titles, total);
    let mut names = titles.iter();
    for (column, &fate) in columns.iter().zip(&fates) {
        let title = if fate == Fate::LeftOut { None } else { names.next().cloned() };
        mining.columns.push(Row {
            title: title.unwrap_or_else(|| column.title(&made)),
            sessions: column.support(),
            repeated: column.repeated(),
            fate,
            cells: column.cells(&made, total),
        });
    }
    mining.variants = page::variants(&kept, &titles, &mining.sessions);
    for source in anti {
        let found = conform(&workflow, source.session);
        let lacks = found.deviations.iter().filter(|it| !it.allowed && it.kind == super::conform::Kind::Skipped);
        mining.anti_examples.push(AntiExample {
            session: source.id.to_owned(),
            status: source.session.meta.status.as_ref().map_or("", Status::as_str).to_owned(),
            lacks: lacks.map(|it| it.step.clone()).collect(),
        });
    }
    let rare = fates.iter().filter(|fate| **fate == Fate::LeftOut).count();
    if rare > 0 {
        tell("mine-rare", format!("{} in too few sessions, left out", cru_base::text::plural(rare as u64, "step")));
    }
    if !mining.anti_examples.is_empty() {
        let count = cru_base::text::plural(mining.anti_examples.len() as u64, "session");
        tell("mine-failed", format!("{count} failed or abandoned: only told as how not to do it"));
    }
    if workflow.steps.is_empty() {
        let message = "the sessions have no step in common".to_owned();
        diagnostics.push(Diagnostic::warning("mine-nothing", Span::default(), message));
    }
    page::finish(&mut workflow, &mining, merge::record(&kept, &titles, &made));
    (workflow, diagnostics, mining)
}

fn fate(column: &Column, total: usize) -> Fate {
    let share = column.support() as f64 / total.max(1) as f64;
    if share >= COMMON {
        Fate::Common
    } else if share >= OPTIONAL && column.support() >= 2 {
        Fate::Optional
    } else {
        Fate::LeftOut
    }
}

/// Whether something happened in enough of `total` sessions.
fn often(count: usize, total: usize) -> bool {
    count >= 2 && count as f64 >= OFTEN * total as f64
}
