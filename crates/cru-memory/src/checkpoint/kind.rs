//! The seven kinds of checkpoints, and their ids.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Why a checkpoint was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckpointKind {
    /// Somebody asked for it.
    #[default]
    Manual,
    /// A task was completed.
    Task,
    /// Thirty minutes of active work.
    Auto,
    /// A command that takes something away comes next.
    Risk,
    /// The first success after a failure of the same tool and target.
    Recovery,
    /// The host condenses its conversation.
    Compaction,
    /// The session was paused or closed while something was open.
    Final,
}

impl CheckpointKind {
    /// All of them, as help lists them.
    pub const ALL: [Self; 7] =
        [Self::Manual, Self::Task, Self::Auto, Self::Risk, Self::Recovery, Self::Compaction, Self::Final];

    /// Their words.
    pub const WORDS: [&'static str; 7] = ["manual", "task", "auto", "risk", "recovery", "compaction", "final"];

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Task => "task",
            Self::Auto => "auto",
            Self::Risk => "risk",
            Self::Recovery => "recovery",
            Self::Compaction => "compaction",
            Self::Final => "final",
        }
    }

    /// Reads its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(word.trim()))
    }

    /// The kind and the words behind it of a callout's title, `risk: before …`. A title without a kind is manual.
    pub fn of_title(title: &str) -> (Self, &str) {
        let (word, rest) = title.split_once(':').unwrap_or((title, ""));
        Self::parse(word).map_or((Self::Manual, title.trim()), |kind| (kind, rest.trim()))
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
