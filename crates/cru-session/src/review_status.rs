//! What was decided about something that a machine or an agent proposes: a case, a reading, a lesson.

use serde::Serialize;

cru_base::words! {
    /// What was decided about a case, a reading or a lesson.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ReviewStatus {
        /// Nothing yet.
        #[default]
        Proposed = "proposed",
        /// The program proved every statement of it; nobody has decided yet, and until then it counts.
        Proven = "proven",
        /// It is right.
        Accepted = "accepted",
        /// It is not to be used.
        Rejected = "rejected",
    }
}

impl ReviewStatus {
    /// Whether what has it is used.
    pub const fn counts(self) -> bool {
        matches!(self, Self::Proven | Self::Accepted)
    }
}
