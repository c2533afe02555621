//! The line a hook leaves in the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event of a host, as it was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Id of the host.
    pub host: String,
    /// Name of the event, the same in all hosts: `post-tool`.
    pub event: String,
    /// The host's JSON; very long texts of tools are cut.
    pub input: Value,
    /// Files that the call names, as they were at that moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<HashedFile>,
}

/// A file that a tool call names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashedFile {
    /// As the call names it.
    pub path: String,
    /// The first 16 digits of its BLAKE3; empty where it was not read.
    pub hash: String,
    /// Whether the call makes it: before the call it was not there.
    pub created: bool,
}
