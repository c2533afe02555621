//! What became of a claim.

use serde::{Deserialize, Serialize};

cru_base::words! {
    /// Why nothing can be said of a claim.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum UnknownReason {
        /// The note has no hash of it.
        NoHash = "no hash",
        /// The project is not on this machine.
        NoProject = "project not on this machine",
        /// The file lies outside of the project.
        Outside = "outside the project",
        /// The file is too large, or no regular file, or cannot be read.
        Unreadable = "unreadable or larger than 8 MiB",
        /// The search would take too long.
        TooMuchWork = "too much to search",
        /// The session began at a commit that is no ancestor of what is checked out.
        OtherBranch = "other branch",
        /// It depends on itself.
        Cycle = "depends on itself",
    }
}

/// What became of a claim. The order is that of severity: of several anchors the greatest counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// A person closed it.
    Retired,
    /// Same bytes, or the lines stand at their place.
    Holds,
    /// The lines stand elsewhere.
    Moved {
        /// The file they stand in, where that is another one.
        file: Option<String>,
        /// Number of the first line, from 1.
        line: u64,
    },
    /// Nothing can be said.
    Unknown {
        /// Why.
        reason: UnknownReason,
    },
    /// A later step of the same work wrote over it.
    Superseded,
    /// The file is there and the lines are not.
    Drifted {
        /// How many of its lines are left anywhere in the file, where their text is known.
        left: Option<u64>,
        /// How many lines it had; 0 for a whole file.
        of: u64,
    },
    /// No such file.
    Gone,
}

impl ClaimVerdict {
    /// Nothing is known, for this reason.
    pub const fn unknown(reason: UnknownReason) -> Self {
        Self::Unknown { reason }
    }

    /// One word for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Retired => "retired",
            Self::Holds => "holds",
            Self::Moved { .. } => "moved",
            Self::Unknown { .. } => "unknown",
            Self::Superseded => "superseded",
            Self::Drifted { .. } => "drifted",
            Self::Gone => "gone",
        }
    }

    /// Whether what rests on it is in doubt: drifted or gone.
    pub const fn is_stale(&self) -> bool {
        matches!(self, Self::Drifted { .. } | Self::Gone)
    }

    /// Whether what was written or read is still there, in this place or another.
    pub const fn stands(&self) -> bool {
        matches!(self, Self::Holds | Self::Moved { .. })
    }

    /// A few words for people.
    pub fn words(&self) -> String {
        match self {
            Self::Moved { file: Some(file), line } => format!("moved to {file}:{line}"),
            Self::Moved { file: None, line } => format!("moved to line {line}"),
            Self::Unknown { reason } => format!("unknown: {}", reason.as_str()),
            Self::Drifted { left: Some(left), of } if *of > 0 => format!("drifted: {left} of {of} lines left"),
            other => other.name().to_owned(),
        }
    }

    /// The worst of several; `None` of none.
    pub fn worst(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().max()
    }
}
