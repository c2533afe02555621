//! What is shown of each kind of rows, as data.

use crate::index::Table as Rows;
use crate::index::table::column::{self, Column};

/// What a kind is called, and what people are shown of it unless they say otherwise.
pub(super) struct KindView {
    pub(super) name: &'static str,
    pub(super) one: &'static str,
    /// Under which key programs find its rows.
    pub(super) key: &'static str,
    /// Where its rows come from.
    pub(super) source: RowSource,
    /// Without any all are shown.
    pub(super) shown: &'static [&'static str],
}

/// Where the rows of a kind come from.
#[derive(Clone, Copy)]
pub(super) enum RowSource {
    /// Each session is one.
    Sessions,
    /// A table of the records of sessions.
    Records(Rows),
    /// Notes and state beside the sessions: where rows come from, for who has none, and their columns.
    Notes(&'static str, &'static [Column]),
}

use RowSource::{Notes, Records, Sessions};

const READINGS: &str = "`cru read SESSION` makes readings";

const fn view([name, one, key]: [&'static str; 3], source: RowSource, shown: &'static [&'static str]) -> KindView {
    KindView { name, one, key, source, shown }
}

/// In the order of [`super::kind::ListKind`].
pub(super) const VIEWS: [KindView; 19] = [
    view(
        ["sessions", "session", "rows"],
        Sessions,
        &["id", "status", "started", "agent", "channel", "steps", "failed_steps", "tokens", "title"],
    ),
    view(
        ["phases", "phase", "rows"],
        Records(Rows::Phases),
        &["session", "id", "agent", "channel", "started", "steps", "failed_steps", "title"],
    ),
    view(
        ["steps", "step", "rows"],
        Records(Rows::Steps),
        &["session", "id", "agent", "status", "duration_ms", "tool", "args"],
    ),
    view(["decisions", "decision", "rows"], Records(Rows::Decisions), &["session", "id", "agent", "title", "why"]),
    view(["errors", "error", "rows"], Records(Rows::Errors), &["session", "id", "step", "title", "resolution"]),
    view(
        ["user", "word of the user", "rows"],
        Records(Rows::User),
        &["session", "id", "at", "correction", "words", "action"],
    ),
    view(
        ["subagents", "sub-agent", "rows"],
        Records(Rows::Subagents),
        &["session", "agent", "model", "tokens", "link", "task"],
    ),
    view(["files", "file", "rows"], Records(Rows::Files), &["session", "step", "tool", "access", "time", "path"]),
    view(["tasks", "task", "rows"], Records(Rows::Tasks), &["session", "id", "status", "priority", "content"]),
    view(
        ["lessons", "lesson", "rows"],
        Notes(READINGS, column::LESSON),
        &["id", "status", "verdict", "broken", "level", "confidence", "seen", "text"],
    ),
    view(["quirks", "quirk", "rows"], Notes(READINGS, column::QUIRK), &[]),
    view(
        ["segments", "segment", "rows"],
        Notes(READINGS, column::SEGMENT),
        &["session", "id", "type", "outcome", "language", "steps", "started", "ended_by", "summary"],
    ),
    view(["outcomes", "outcome", "rows"], Notes(READINGS, column::OUTCOME), &[]),
    view(
        ["cases", "case", "cases"],
        Notes("`cru learn` writes case notes", column::CASE),
        &["id", "status", "edited", "session", "title"],
    ),
    view(
        ["checkpoints", "checkpoint", "checkpoints"],
        Notes("`cru checkpoint` makes one; `--all` lists those of all sessions", column::CHECKPOINT),
        &["time", "kind", "id", "files", "elsewhere", "title"],
    ),
    view(
        ["bookmarks", "bookmark", "bookmarks"],
        Notes("`cru bookmark NAME REF` adds one", column::BOOKMARK),
        &["name", "target", "problem", "leads_to"],
    ),
    view(
        ["workflows", "workflow", "workflows"],
        Notes("`cru codify SESSION -o workflows/NAME.md` makes one of a session", column::WORKFLOW),
        &["workflow", "steps", "checks", "runs", "agents", "errors", "warnings", "title"],
    ),
    view(
        ["runs", "run", "runs"],
        Notes("a run is a row of a `session-toon` fence of a workflow", column::RUN),
        &["started", "status", "duration_ms", "agent", "workflow", "step"],
    ),
    view(
        ["groups", "group", "groups"],
        Notes("no two of the sessions did the same", column::GROUP),
        &["size", "same_request", "shared", "sessions"],
    ),
];
