//! What was decided about something that a machine or an agent proposes: a case, a reading, a lesson.

use serde::Serialize;

/// What was decided about a case, a reading or a lesson.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewStatus {
    /// Nothing yet.
    #[default]
    Proposed,
    /// It is right.
    Accepted,
    /// It is not to be used.
    Rejected,
}

impl ReviewStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Proposed, Self::Accepted, Self::Rejected];

    /// The word in a note.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }

    /// The status of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word.trim()))
    }
}
