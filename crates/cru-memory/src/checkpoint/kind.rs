//! The seven kinds of checkpoints, and their ids.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

cru_base::words! {
    /// Why a checkpoint was made.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum CheckpointKind {
        /// Somebody asked for it.
        #[default]
        Manual = "manual",
        /// A task was completed.
        Task = "task",
        /// Thirty minutes of active work.
        Auto = "auto",
        /// A command that takes something away comes next.
        Risk = "risk",
        /// The first success after a failure of the same tool and target.
        Recovery = "recovery",
        /// The host condenses its conversation.
        Compaction = "compaction",
        /// The session was paused or closed while something was open.
        Final = "final",
    }
}

impl CheckpointKind {
    /// The kind and the words behind it of a callout's title, `risk: before …`. A title without a kind is manual.
    pub fn of_title(title: &str) -> (Self, &str) {
        let (word, rest) = title.split_once(':').unwrap_or((title, ""));
        Self::parse_any_case(word).map_or((Self::Manual, title.trim()), |kind| (kind, rest.trim()))
    }
}

/// The id of a checkpoint of a moment: `cp-20261116-101212`, to the second.
pub fn id_of(time: Timestamp) -> String {
    format!("cp-{}", time.strftime("%Y%m%d-%H%M%S"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_titles() {
        for (kind, word) in CheckpointKind::ALL.into_iter().zip(CheckpointKind::WORDS) {
            assert_eq!((CheckpointKind::parse(word), kind.as_str()), (Some(kind), word));
        }
        assert_eq!(CheckpointKind::of_title("risk: before `rm -rf x`"), (CheckpointKind::Risk, "before `rm -rf x`"));
        assert_eq!(
            CheckpointKind::of_title("before: the refactoring"),
            (CheckpointKind::Manual, "before: the refactoring")
        );
        assert_eq!(CheckpointKind::of_title("final"), (CheckpointKind::Final, ""));
        assert_eq!(id_of("2026-11-16T10:12:12.5Z".parse().unwrap()), "cp-20261116-101212");
    }
}
