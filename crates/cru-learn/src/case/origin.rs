//! Where a case comes from: the session, its place in the note, and who worked in it.

use serde::Serialize;

cru_base::words! {
    /// Who found a case.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Evidence {
        /// A rule over the record.
        #[default]
        Rule = "rule",
        /// An agent that read the session, each claim checked, and accepted by a person.
        Reading = "reading",
    }
}

/// Where a case comes from, for filtering and for finding it again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Origin {
    /// Session id.
    pub session: String,
    /// Id of the session at the top of its tree of parents; itself where it has none.
    pub root: String,
    /// Name of the note for links.
    pub note: String,
    /// Title of the session.
    pub session_title: String,
    /// Where in which file.
    pub source: Source,
    /// Heading of the phase, without agent and channel.
    pub phase: String,
    /// `planner@1.2`, empty when unknown.
    pub agent: String,
    /// Model, empty when unknown.
    pub model: String,
    /// Which program ran it, empty when unknown.
    pub host: String,
    /// Channel of the phase or session, empty when unknown.
    pub channel: String,
    /// Status of the session, empty when unknown.
    pub outcome: String,
    /// Tags of the session.
    pub tags: Vec<String>,
}

/// The repository of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Repository {
    /// The folder of the work, or the address of the repository where the note has it.
    pub name: String,
    /// The commit at which the work began; empty where it is unknown.
    pub commit: String,
}

/// A place in a note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Path relative to the vault, `/` between folders.
    pub path: String,
    /// First line, from 1.
    pub line_start: usize,
    /// Last line, from 1.
    pub line_end: usize,
    /// Block id without `^`, empty when it has none.
    pub block_id: String,
}
