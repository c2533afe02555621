//! Columns of like steps over several sequences.

use std::collections::BTreeSet;

use super::super::align::{Features, align};
use super::super::model::{Step, Workflow};

/// Sequences among which the one to begin with is looked for.
const SAMPLE: usize = 24;

/// Steps of several sessions that are the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    /// Session and index of the step, in the order in which sessions were added.
    pub(super) members: Vec<(usize, usize)>,
    /// More of it in sessions that are members already.
    pub(super) again: Vec<(usize, usize)>,
    features: Features,
}

impl Column {
    /// How many sessions have it.
    pub(super) fn support(&self) -> usize {
        self.members.len()
    }

    /// In how many sessions it was done more than once.
    pub(super) fn repeated(&self) -> usize {
        self.again.iter().map(|(session, _)| session).collect::<BTreeSet<_>>().len()
    }

    /// The members as steps.
    pub(super) fn steps<'a>(&self, made: &'a [Workflow]) -> Vec<&'a Step> {
        self.members.iter().filter_map(|&(session, step)| made.get(session)?.steps.get(step)).collect()
    }

    /// The first member's title.
    pub(super) fn title(&self, made: &[Workflow]) -> String {
        self.steps(made).first().map_or(String::new(), |step| step.title.clone())
    }

    /// For each session the phase it was done in.
    pub(super) fn cells(&self, made: &[Workflow], total: usize) -> Vec<Option<String>> {
        let mut cells = vec![None; total];
        for &(session, step) in &self.members {
            let link = made.get(session).and_then(|it| it.steps.get(step)?.origin.first());
            if let Some(cell) = cells.get_mut(session) {
                *cell = Some(link.map_or(String::new(), ToString::to_string));
            }
        }
        cells
    }
}

/// The columns of all sequences, in an order that most of them agree with.
pub(super) fn columns(made: &[Workflow]) -> Vec<Column> {
    let sequences: Vec<(Vec<usize>, Vec<Features>)> = made.iter().map(Features::all).collect();
    let first = medoid(&sequences);
    let mut columns: Vec<Column> = Vec::new();
    let order = std::iter::once(first).chain((0..made.len()).filter(|&session| session != first));
    for session in order {
        if let Some((steps, features)) = sequences.get(session) {
            add(&mut columns, session, steps, features);
        }
    }
    by_majority(&mut columns);
    fold_loops(&mut columns);
    columns
}

/// Neighbours of one title are one step that was done again.
fn fold_loops(columns: &mut Vec<Column>) {
    let mut folded: Vec<Column> = Vec::with_capacity(columns.len());
    for column in columns.drain(..) {
        let Some(last) = folded.last_mut().filter(|last| last.features.is_same_title(&column.features)) else {
            folded.push(column);
            continue;
        };
        let there: BTreeSet<usize> = last.members.iter().map(|member| member.0).collect();
        for member in column.members {
            if there.contains(&member.0) {
                last.again.push(member);
            } else {
                last.members.push(member);
            }
        }
        last.again.extend(column.again);
    }
    *columns = folded;
}

/// The sequence that has most in common with the others, of a sample.
fn medoid(sequences: &[(Vec<usize>, Vec<Features>)]) -> usize {
    let step = sequences.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<usize> = (0..sequences.len()).step_by(step).collect();
    let shared = |one: usize| -> usize {
        let others = sample.iter().filter(|&&other| other != one);
        others.map(|&other| 2 * align(&sequences[one].1, &sequences[other].1).pairs.len()).sum()
    };
    // What is alike counts for a sequence, what it has beside that against it.
    let rank = |one: usize| {
        let length = sequences[one].1.len() * sample.len().saturating_sub(1);
        (i64::try_from(shared(one)).unwrap_or(i64::MAX) - i64::try_from(length).unwrap_or(0), std::cmp::Reverse(one))
    };
    sample.iter().copied().max_by_key(|&one| rank(one)).unwrap_or(0)
}

fn add(columns: &mut Vec<Column>, session: usize, steps: &[usize], features: &[Features]) {
    let known: Vec<&Features> = columns.iter().map(|column| &column.features).collect();
    let alignment = align(&known, features);
    let mut home: Vec<Option<usize>> = vec![None; features.len()];
    for &(column, at) in alignment.pairs.iter().chain(&alignment.moved) {
        columns[column].members.push((session, steps[at]));
        home[at] = Some(column);
    }
    for &(column, at) in &alignment.repeated {
        columns[column].again.push((session, steps[at]));
    }
    // New columns stand behind the column of the step before them; from the end, so that places stay right.
    let mut fresh: Vec<(usize, Column)> = Vec::new();
    for &at in &alignment.right {
        let before = home[..at].iter().rev().find_map(|home| *home).map_or(0, |column| column + 1);
        let column = Column { members: vec![(session, steps[at])], again: Vec::new(), features: features[at].clone() };
        fresh.push((before, column));
    }
    for (place, column) in fresh.into_iter().rev() {
        columns.insert(place, column);
    }
}

/// In how many sessions one column comes before the other, and after it.
pub(super) fn before_after(one: &Column, other: &Column) -> (usize, usize) {
    let mut counts = (0, 0);
    let places: std::collections::BTreeMap<usize, usize> = other.members.iter().copied().collect();
    for (session, step) in &one.members {
        match places.get(session) {
            Some(there) if step < there => counts.0 += 1,
            Some(_) => counts.1 += 1,
            None => {}
        }
    }
    counts
}

/// Neighbours that most sessions have the other way round change places, until none do.
fn by_majority(columns: &mut [Column]) {
    for _ in 0..columns.len().min(64) {
        let mut changed = false;
        for at in 1..columns.len() {
            let (before, after) = before_after(&columns[at - 1], &columns[at]);
            if after > before {
                columns.swap(at - 1, at);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
}
