//! Two sequences of steps laid side by side.
//!
//! A weighted edit alignment: steps that are alike (words of the title, agent, channel, commands, files; else what they
//! do) are pairs in order, at the least cost of leaving the rest out. What is left is looked through once more: a step that has its like
//! elsewhere was moved, one whose like is a pair already was repeated.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use cru_base::diff;
use similar::{Algorithm, DiffOp};

use super::key::{command_key, command_keys};
use super::model::{Need, Part, Step, Workflow};
use super::record::squeeze;
use cru_session::words::list::STOP;

/// From which likeness on two steps are the same one.
pub const ALIKE: f64 = 0.5;
/// Which share of what two steps do makes them the same step.
const SAME_WORK: f64 = 0.5;
/// Cells of the table at most; longer sequences are compared by their titles alone.
const MAX_CELLS: usize = 4_000_000;
/// Steps that are left and looked through once more.
const MAX_LEFT: usize = 400;

/// What two steps are compared by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    squeezed: String,
    /// Hashes of the telling words of the title, sorted: sequences are compared word by word, many million times.
    words: Vec<u64>,
    agent: Option<String>,
    channel: Option<String>,
    commands: BTreeSet<String>,
    files: BTreeSet<String>,
    need: Need,
    /// What it does: programs and verbs of its commands, files that it writes.
    activities: BTreeSet<String>,
    /// A bit for each word and activity: without one in common two steps are never alike, and that is told at once.
    mask: u64,
}

impl Features {
    /// Of one step.
    pub fn of(step: &Step) -> Self {
        let title = unnumbered(&step.title);
        let mut files = BTreeSet::new();
        for operand in step.flows().flat_map(|flow| flow.inputs().iter().chain(flow.outputs())) {
            let name = unnumbered_state(&operand.name);
            if name.contains(['.', '/']) {
                files.insert(name.to_lowercase());
            }
        }
        let mut commands = BTreeSet::new();
        let (mut acts, mut looks) = (BTreeSet::new(), BTreeSet::new());
        for part in &step.parts {
            let command = match part {
                Part::Command(it) => &it.command,
                Part::Script(it) => &it.text,
                _ => continue,
            };
            commands.insert(command_key(command));
            for (key, is_look) in command_keys(command) {
                if is_look {
                    looks.insert(key)
                } else {
                    acts.insert(key)
                };
            }
        }
        commands.remove("");
        // Looking tells a step only where it does nothing else.
        let mut activities = if acts.is_empty() { looks } else { acts };
        let written = step.flows().flat_map(crate::model::Flow::outputs).map(|operand| unnumbered_state(&operand.name));
        activities.extend(written.filter(|name| name.contains(['.', '/'])).map(str::to_lowercase));
        let words = words(title);
        let bits = words.iter().copied().chain(activities.iter().map(|name| hash(name)));
        Self {
            mask: bits.fold(0, |mask, word| mask | 1 << (word % 64)),
            activities,
            squeezed: squeeze(title),
            words,
            agent: step.agent.as_ref().map(|agent| agent.name.to_lowercase()),
            channel: step.channel.as_ref().map(|channel| channel.to_lowercase()),
            commands,
            files,
            need: step.need,
        }
    }

    /// Of the steps of a workflow, with their indices.
    pub fn all(workflow: &Workflow) -> (Vec<usize>, Vec<Self>) {
        let flags = workflow.step_flags();
        let steps = workflow.steps.iter().enumerate().filter(|(index, _)| flags[*index]);
        steps.map(|(index, step)| (index, Self::of(step))).unzip()
    }

    /// Whether two steps have one title, numbers and marks aside.
    pub fn is_same_title(&self, other: &Self) -> bool {
        !self.squeezed.is_empty() && self.squeezed == other.squeezed
    }

    /// How alike two steps are, 0 to 1. What only one of them says counts for nothing.
    pub fn likeness(&self, other: &Self) -> f64 {
        if self.mask & other.mask == 0 {
            return 0.0;
        }
        self.likeness_in_words(other).max(self.likeness_in_activities(other))
    }

    /// How alike two steps are in what they do, however they are called: from half of it on.
    fn likeness_in_activities(&self, other: &Self) -> f64 {
        let both = self.activities.len() + other.activities.len();
        let shared = self.activities.intersection(&other.activities).count();
        let dice = if shared == 0 { 0.0 } else { 2.0 * shared as f64 / both as f64 };
        if dice < SAME_WORK { 0.0 } else { ALIKE + (dice - SAME_WORK) * 0.5 }
    }

    fn likeness_in_words(&self, other: &Self) -> f64 {
        let shared = dice(&self.words, &other.words);
        if shared == 0.0 {
            return 0.0;
        }
        let mut sum = 0.0;
        let mut weight = 0.0;
        let mut add = |part: f64, score: f64| {
            sum += part * score;
            weight += part;
        };
        add(0.55, shared);
        if let (Some(a), Some(b)) = (&self.agent, &other.agent) {
            add(0.12, f64::from(a == b));
        }
        if let (Some(a), Some(b)) = (&self.channel, &other.channel) {
            add(0.03, f64::from(a == b));
        }
        if !self.commands.is_empty() && !other.commands.is_empty() {
            add(0.12, overlap(&self.commands, &other.commands));
        }
        if !self.files.is_empty() && !other.files.is_empty() {
            add(0.18, overlap(&self.files, &other.files));
        }
        let score = sum / weight;
        if !self.squeezed.is_empty() && self.squeezed == other.squeezed { score.max(0.95) } else { score }
    }
}

/// A title without the ` (2)` that tells it from an earlier one.
pub(super) fn unnumbered(title: &str) -> &str {
    let number = title.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match number {
        Some((before, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => title,
    }
}

/// A name of data without the `@2` of a later state.
pub(super) fn unnumbered_state(name: &str) -> &str {
    match name.rsplit_once('@') {
        Some((before, number)) if !before.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => name,
    }
}

/// The telling words of a title, in lower case, plurals as singulars.
fn words(title: &str) -> Vec<u64> {
    let mut words: Vec<u64> = Vec::new();
    for word in title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        let stem = word.strip_suffix('s').filter(|stem| stem.len() > 3 && !stem.ends_with('s')).unwrap_or(&word);
        if !STOP.has(stem) {
            words.push(hash(stem));
        }
    }
    words.sort_unstable();
    words.dedup();
    words
}

/// FNV-1a: the same on every machine.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// How much two sorted lists share.
fn dice(a: &[u64], b: &[u64]) -> f64 {
    let (mut at, mut shared) = (0, 0_usize);
    for word in a {
        while b.get(at).is_some_and(|other| other < word) {
            at += 1;
        }
        shared += usize::from(b.get(at) == Some(word));
    }
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / (a.len() + b.len()) as f64 }
}

fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    a.intersection(b).count() as f64 / a.len().min(b.len()).max(1) as f64
}

/// Two sequences side by side; numbers are places in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    /// Pairs in the order of both.
    pub pairs: Vec<(usize, usize)>,
    /// Pairs that stand in another order.
    pub moved: Vec<(usize, usize)>,
    /// Steps of the right side whose like is a pair already.
    pub repeated: Vec<(usize, usize)>,
    /// Steps of the left side that have no like.
    pub left: Vec<usize>,
    /// Steps of the right side that have no like.
    pub right: Vec<usize>,
}

/// Lays `right` beside `left`.
pub fn align(left: &[impl Borrow<Features>], right: &[impl Borrow<Features>]) -> Alignment {
    let left: Vec<&Features> = left.iter().map(Borrow::borrow).collect();
    let right: Vec<&Features> = right.iter().map(Borrow::borrow).collect();
    aligned(&left, &right)
}

fn aligned(left: &[&Features], right: &[&Features]) -> Alignment {
    let pairs =
        if left.len().saturating_mul(right.len()) <= MAX_CELLS { cheapest(left, right) } else { by_title(left, right) };
    let mut alignment = Alignment { pairs, ..Alignment::default() };
    let (mut taken_left, mut taken_right) = (vec![false; left.len()], vec![false; right.len()]);
    for &(l, r) in &alignment.pairs {
        (taken_left[l], taken_right[r]) = (true, true);
    }
    let free = |taken: &[bool]| -> Vec<usize> {
        taken.iter().enumerate().filter(|(_, taken)| !**taken).map(|(at, _)| at).take(MAX_LEFT).collect()
    };
    // The likest first, so that a step finds its own before another takes it.
    let mut rest: Vec<(f64, usize, usize)> = Vec::new();
    for r in free(&taken_right) {
        for l in free(&taken_left) {
            let score = left[l].likeness(right[r]);
            if score >= ALIKE {
                rest.push((score, l, r));
            }
        }
    }
    rest.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (_, l, r) in rest {
        if !taken_left[l] && !taken_right[r] {
            (taken_left[l], taken_right[r]) = (true, true);
            alignment.moved.push((l, r));
        }
    }
    for r in free(&taken_right) {
        let likest = left.iter().take(MAX_LEFT).enumerate().map(|(l, it)| (it.likeness(right[r]), l));
        let likest = likest.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        if let Some((_, l)) = likest.filter(|(score, _)| *score >= ALIKE) {
            taken_right[r] = true;
            alignment.repeated.push((l, r));
        }
    }
    alignment.moved.sort_unstable();
    alignment.repeated.sort_unstable_by_key(|&(_, r)| r);
    alignment.left = (0..left.len()).filter(|&l| !taken_left[l]).collect();
    alignment.right = (0..right.len()).filter(|&r| !taken_right[r]).collect();
    alignment
}

/// The pairs of the cheapest edit: a pair costs what it is unlike, twice; a step left out costs 1, an optional one half.
fn cheapest(left: &[&Features], right: &[&Features]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    let skip = |l: usize| if left[l].need == Need::Optional { 0.5 } else { 1.0 };
    let mut cost = vec![0.0_f32; (left.len() + 1) * width];
    for r in 1..width {
        cost[r] = cost[r - 1] + 1.0;
    }
    let mut unlike = vec![f32::INFINITY; left.len() * right.len()];
    for l in 0..left.len() {
        cost[(l + 1) * width] = cost[l * width] + skip(l);
        for r in 0..right.len() {
            let score = left[l].likeness(right[r]);
            #[expect(clippy::cast_possible_truncation, reason = "a cost between 0 and 2")]
            let pair = if score >= ALIKE { (2.0 * (1.0 - score)) as f32 } else { f32::INFINITY };
            unlike[l * right.len() + r] = pair;
            let best = (cost[l * width + r + 1] + skip(l)).min(cost[(l + 1) * width + r] + 1.0);
            cost[(l + 1) * width + r + 1] = best.min(cost[l * width + r] + pair);
        }
    }
    let mut pairs = Vec::new();
    let (mut l, mut r) = (left.len(), right.len());
    while l > 0 && r > 0 {
        let here = cost[l * width + r];
        let pair = unlike[(l - 1) * right.len() + r - 1];
        // The same sums as above, so they are equal to the bit.
        if pair.is_finite() && (cost[(l - 1) * width + r - 1] + pair).to_bits() == here.to_bits() {
            pairs.push((l - 1, r - 1));
            (l, r) = (l - 1, r - 1);
        } else if (cost[(l - 1) * width + r] + skip(l - 1)).to_bits() == here.to_bits() {
            l -= 1;
        } else {
            r -= 1;
        }
    }
    pairs.reverse();
    pairs
}

/// Pairs of equal titles in order, for sequences too long for a table.
fn by_title(left: &[&Features], right: &[&Features]) -> Vec<(usize, usize)> {
    let titles = |side: &[&Features]| side.iter().map(|it| it.squeezed.clone()).collect::<Vec<_>>();
    let (left, right) = (titles(left), titles(right));
    let ops = diff(Algorithm::Patience, &left, &right, None);
    let mut pairs = Vec::new();
    for op in ops {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|at| (old_index + at, new_index + at)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(titles: &str) -> Vec<Features> {
        let step = |title: &str| Features::of(&Step { title: title.trim().into(), ..Step::default() });
        titles.split(',').map(step).collect()
    }

    #[test]
    fn edits_are_told_apart() {
        let left = side("Plan the import, Fetch the file, Parse stations, Write the report");
        let same = align(&left, &side("Plan the import, Fetch file, Parse the stations, Write report"));
        assert_eq!(same, Alignment { pairs: vec![(0, 0), (1, 1), (2, 2), (3, 3)], ..Alignment::default() });
        let skipped = align(&left, &side("Plan the import, Parse stations, Write the report"));
        assert_eq!((skipped.pairs.len(), skipped.left), (3, vec![1]));
        let extra = align(&left, &side("Plan the import, Fetch the file, Argue, Parse stations, Write the report"));
        assert_eq!((extra.pairs.len(), extra.right), (4, vec![2]));
        let twice = align(
            &left,
            &side("Plan the import, Fetch the file, Parse stations, Parse stations (2), Write the report"),
        );
        assert_eq!((twice.pairs.len(), twice.repeated.len(), twice.right.len()), (4, 1, 0));
        let moved = align(&left, &side("Plan the import, Parse stations, Write the report, Fetch the file"));
        assert_eq!((moved.pairs.len(), moved.moved), (3, vec![(1, 3)]));
    }

    #[test]
    fn likeness_is_between_0_and_1() {
        let sides = side("Build, build the tests, Review (2), , Straße bauen");
        for a in &sides {
            for b in &sides {
                let score = a.likeness(b);
                assert!((0.0..=1.0).contains(&score) && (score - b.likeness(a)).abs() < 1e-9);
            }
        }
        assert!(sides[0].likeness(&sides[2]) < ALIKE);
    }

    #[test]
    fn long_sequences_are_aligned_too() {
        let many = |skip: usize| -> Vec<Features> {
            let step = |n: usize| Features::of(&Step { title: format!("Step {n}"), ..Step::default() });
            (0..2_100).filter(|n| *n != skip).map(step).collect()
        };
        let alignment = align(&many(usize::MAX), &many(700));
        assert_eq!((alignment.pairs.len(), alignment.left), (2_099, vec![700]));
    }
}
