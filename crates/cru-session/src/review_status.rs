//! What was decided about something that a machine or an agent proposes: a case, a reading, a lesson.

use serde::Serialize;

/// What was decided about a case, a reading or a lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewStatus {
    /// Nothing yet.
    #[default]
    Proposed,
    /// The program proved every statement of it; nobody has decided yet, and until then it counts.
    Proven,
    /// It is right.
    Accepted,
    /// It is not to be used.
    Rejected,
}

impl ReviewStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Proposed, Self::Proven, Self::Accepted, Self::Rejected];

    /// The word in a note.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Proven => "proven",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }

    /// Whether what has it is used.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Proven | Self::Accepted)
    }

    /// The status of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word.trim()))
    }
}
