//! Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, sub-agents in files of their own or between the lines.
//!
//! The host calls its format internal and changes it between releases, so every field may be missing or of another
//! type: what is not understood is skipped and counted, never fatal. Lines are read one at a time and borrowed from.

mod agents;
mod argument;
mod assistant;
mod brief;
mod bundle;
mod calls;
mod decision;
mod denial;
mod detail;
mod lenient;
mod place;
mod proof;
mod queue;
mod reader;
mod record;
mod result;
mod said;
mod shell;
mod stream;
mod system;
mod tree;
mod user;

#[cfg(test)]
mod tests;

use crate::session::source::Importer;

/// Claude Code.
pub(super) const IMPORTER: Importer = Importer {
    id: "claude",
    title: "Claude Code",
    host: "claude-code",
    places: &["~/.claude/projects"],
    recognise: bundle::recognise,
    bundle: bundle::bundle,
    read: reader::read,
};

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// A note shows or uses it.
    Shown,
    /// It is left out for this reason.
    Skipped(&'static str),
}
