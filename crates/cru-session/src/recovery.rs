//! What failed and worked later: the one rule, for steps on their way into a note and for steps read from one.
//!
//! A failure is recovered when the same thing works later and something was done in between. A failure that went away by
//! itself, or after looking around only, is none that was recovered. Failures of the same thing without a success between
//! them are one failure.

use std::collections::HashMap;

use cru_action::Verdict;

/// One step, as far as the rule asks.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    /// The name by which the same thing is known again; `None` where its failure matters to nobody.
    pub key: Option<&'a str>,
    /// How it ended, as far as the record proves it: a check of which that is unknown neither failed nor passed.
    pub verdict: Verdict,
    /// Whether it changed something: looking around mends nothing.
    pub acts: bool,
}

/// Failures of one thing, by the numbers of their steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
    /// How many.
    pub count: usize,
    /// The last step behind it that tried the same thing again after something was done, with an unknown verdict.
    pub rerun: Option<usize>,
}

/// What became of the failures of some steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Those that were recovered, each with the step by which it worked, in the order of the successes.
    pub recovered: Vec<(Failure, usize)>,
    /// Those behind which the same thing did not work again, by their last failure.
    pub open: Vec<Failure>,
}

/// Follows steps, each with its number, in their order.
pub fn outcomes<'a>(tried: impl IntoIterator<Item = (usize, Tried<'a>)>) -> Outcomes {
    let mut found = Outcomes::default();
    let mut open: HashMap<&str, Failure> = HashMap::new();
    let mut done: Option<usize> = None;
    for (index, step) in tried {
        if let Some(key) = step.key {
            let is_mended = |failure: &Failure| done.is_some_and(|done| done > failure.last);
            match step.verdict {
                Verdict::Failed => {
                    let new = Failure { first: index, last: index, count: 0, rerun: None };
                    let failure = open.entry(key).or_insert(new);
                    *failure = Failure { last: index, count: failure.count + 1, rerun: None, ..*failure };
                    continue;
                }
                Verdict::Passed => {
                    if let Some(failure) = open.remove(key).filter(is_mended) {
                        found.recovered.push((failure, index));
                    }
                }
                Verdict::Unknown => {
                    if let Some(failure) = open.get_mut(key).filter(|failure| is_mended(failure)) {
                        failure.rerun = Some(index);
                    }
                }
            }
        }
        if step.verdict != Verdict::Failed && step.acts {
            done = Some(index);
        }
    }
    found.open = open.into_values().collect();
    found.open.sort_unstable_by_key(|failure| failure.last);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `t-` failed, `t+` worked, `t?` did one of these, `_` changed something, `.` looked.
    fn told(steps: &str) -> String {
        let tried = steps.split(' ').enumerate().map(|(index, step)| {
            let key = step.strip_suffix(['+', '-', '?']);
            let verdict = match step.as_bytes().last() {
                Some(b'-') => Verdict::Failed,
                Some(b'?') => Verdict::Unknown,
                _ => Verdict::Passed,
            };
            (index, Tried { key, verdict, acts: step != "." })
        });
        let found = outcomes(tried);
        let recovered = found.recovered.iter().map(|(failure, success)| {
            let Failure { first, last, count, .. } = failure;
            format!("{first}..{last}*{count}→{success}")
        });
        let open = found.open.iter().map(|it| {
            let rerun = it.rerun.map(|rerun| format!(" rerun {rerun}")).unwrap_or_default();
            format!("{}..{}*{} open{rerun}", it.first, it.last, it.count)
        });
        recovered.chain(open).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn table_of_outcomes() {
        assert_eq!(told("t- _ t+"), "0..0*1→2");
        assert_eq!(told("t- _ t- _ t+"), "0..2*2→4");
        assert_eq!(told("t- t+"), "", "it went away by itself");
        assert_eq!(told("t- . t+"), "", "looking around mends nothing");
        assert_eq!(told("t- t+ _ t+"), "", "it worked before anything was done");
        assert_eq!(told("t- _ u+"), "0..0*1 open");
        assert_eq!(told("t- u- _ u+ t+"), "1..1*1→3 0..0*1→4");
        assert_eq!(told("t- _"), "0..0*1 open");
        assert_eq!(told("t- _ t?"), "0..0*1 open rerun 2");
        assert_eq!(told("t- t?"), "0..0*1 open");
        assert_eq!(told("t- _ t? _ t+"), "0..0*1→4");
        assert_eq!(told("t- _ t? t-"), "0..3*2 open");
    }
}
