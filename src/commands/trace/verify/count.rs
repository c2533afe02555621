//! How many claims have which verdict.

use serde::Serialize;

use crate::trace::{ClaimVerdict, UnknownReason};

/// How many claims have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct VerdictCount {
    pub(super) total: u64,
    pub(super) holds: u64,
    pub(super) moved: u64,
    pub(super) superseded: u64,
    pub(super) drifted: u64,
    pub(super) gone: u64,
    pub(super) unknown: u64,
    /// Those that only name a file: nothing of it is claimed.
    pub(super) untracked: u64,
}

impl VerdictCount {
    pub(super) fn add(&mut self, verdict: &ClaimVerdict) {
        self.total += 1;
        *match verdict {
            ClaimVerdict::Holds | ClaimVerdict::Retired => &mut self.holds,
            ClaimVerdict::Moved { .. } => &mut self.moved,
            ClaimVerdict::Superseded => &mut self.superseded,
            ClaimVerdict::Drifted { .. } => &mut self.drifted,
            ClaimVerdict::Gone => &mut self.gone,
            ClaimVerdict::Unknown { reason: UnknownReason::NoHash } => &mut self.untracked,
            ClaimVerdict::Unknown { .. } => &mut self.unknown,
        } += 1;
    }

    /// `12: 9 hold, 2 moved, 1 drifted`; `9 hold` where all are alike; `none`. `untracked` is what is said of those of
    /// which nothing is claimed.
    pub(super) fn text(&self, untracked: &str) -> String {
        let all = [
            (self.holds, if self.holds == 1 { "holds" } else { "hold" }),
            (self.moved, "moved"),
            (self.superseded, "superseded"),
            (self.drifted, "drifted"),
            (self.gone, "gone"),
            (self.unknown, "unknown"),
            (self.untracked, untracked),
        ];
        let parts: Vec<String> =
            all.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        match parts.as_slice() {
            [] => "none".to_owned(),
            [one] => one.clone(),
            _ => format!("{}: {}", self.total, parts.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let mut count = VerdictCount::default();
        assert_eq!(count.text("x"), "none");
        count.add(&ClaimVerdict::Holds);
        assert_eq!(count.text("x"), "1 holds");
        count.add(&ClaimVerdict::Gone);
        count.add(&ClaimVerdict::unknown(UnknownReason::NoHash));
        count.add(&ClaimVerdict::unknown(UnknownReason::Outside));
        assert_eq!(count.text("without a hash"), "4: 1 holds, 1 gone, 1 unknown, 1 without a hash");
    }
}
