//! What a file of RLM is, by its name and place and by what it begins with, and which files are read as one: those of one
//! session, wherever they lie.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::file::document::{Piece, member, members, told};
use crate::record;
use cru_base::Result;
use cru_session::source::Bundle;

/// Folder of the copies made before a context was shortened.
const EXTERNALIZED: &str = "rlm-externalized";
/// Folder of the summaries.
const TRAJECTORIES: &str = "rlm-trajectories";

/// The kinds of files, in the order they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RlmKind {
    /// Activation, depth, tokens: `{id}.json`, or all of a session in one: `session.json`.
    State,
    /// `session-metadata.json`: which session the host runs.
    Metadata,
    /// `{id}_context.json`: messages, files, outputs.
    Context,
    /// `context.json`: the same of the session that is run.
    Shared,
    /// `file-access-{id}.jsonl`.
    Access,
    /// `cells/cell_….json`: a call with its answer.
    Cell,
    /// `cells/index.json`, which is computed of the cells.
    CellIndex,
    /// `reasoning/decisions.jsonl`.
    Decisions,
    /// `reasoning/traces.jsonl`.
    Traces,
    /// `memory-snapshot.json`: the memory at the end.
    Memory,
    /// A copy of a context.
    Backup,
    /// A summary.
    Trajectory,
}

impl RlmKind {
    /// Whether such a file proves that there is a session of RLM; others may be of any program.
    pub(super) const fn proves_a_session(self) -> bool {
        matches!(self, Self::State | Self::Metadata | Self::Cell | Self::Backup | Self::Trajectory)
    }

    /// Whether the folder that it lies in says whose it is.
    pub(super) const fn is_of_folder(self) -> bool {
        matches!(self, Self::Cell | Self::CellIndex | Self::Decisions | Self::Traces | Self::Memory | Self::Access)
    }
}

/// Whether the file that begins with `head` is one of them.
pub(super) fn recognise(path: &Path, head: &[u8]) -> bool {
    kind(path, &String::from_utf8_lossy(head)).is_some()
}

/// What it is.
pub(super) fn kind(path: &Path, head: &str) -> Option<RlmKind> {
    let name = path.file_name()?.to_string_lossy();
    let begins = head.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).chars().next()?;
    if name == "rlm-config.json" || !matches!(begins, '{' | '[') {
        return None;
    }
    if below(path, EXTERNALIZED).0 {
        return Some(RlmKind::Backup);
    }
    if below(path, TRAJECTORIES).0 {
        return Some(RlmKind::Trajectory);
    }
    let root = members(head);
    let has = |names: &[&str]| names.iter().any(|name| member(&root, name).is_some());
    if name.starts_with("file-access") && name.ends_with(".jsonl") {
        return has(&["path", "file_path", "file"]).then_some(RlmKind::Access);
    }
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    match (folder.to_string_lossy().as_ref(), name.as_ref()) {
        ("cells", "index.json") => {
            return has(&["session_id", "cells", "roots", "execution_order"]).then_some(RlmKind::CellIndex);
        }
        ("cells", name) if name.starts_with("cell_") => return has(&["input", "output"]).then_some(RlmKind::Cell),
        ("reasoning", "decisions.jsonl") => return Some(RlmKind::Decisions),
        ("reasoning", "traces.jsonl") => return Some(RlmKind::Traces),
        (_, "memory-snapshot.json") => return Some(RlmKind::Memory),
        _ => {}
    }
    if name == "session-metadata.json" {
        return has(&["session_id"]).then_some(RlmKind::Metadata);
    }
    let state = has(&["rlm_active", "total_recursive_calls", "trajectory_events_count"]);
    if state || (has(&["activation"]) && has(&["metadata", "budget", "context"])) {
        return Some(RlmKind::State);
    }
    let named = name == "context.json" || name.ends_with("_context.json");
    let holds = has(&["tool_outputs", "working_memory"]) || (named && has(&["messages", "conversation", "files"]));
    match (holds, name == "context.json") {
        (true, true) => Some(RlmKind::Shared),
        (true, false) => Some(RlmKind::Context),
        (false, _) => None,
    }
}

/// The session that a file is of, as far as the file alone tells.
pub(super) fn session(kind: RlmKind, path: &Path, head: &str) -> Option<String> {
    let root = members(head);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned())?;
    let folder = || Some(path.parent()?.file_name()?.to_string_lossy().into_owned());
    let said = || said(&root);
    let id = match kind {
        RlmKind::Metadata => said(),
        RlmKind::Shared => None,
        RlmKind::State if stem == "session" => said().or_else(folder),
        // The names of the files say it; what stands in them came later.
        RlmKind::State => Some(stem),
        RlmKind::Context => stem.strip_suffix("_context").map(str::to_owned).or_else(said),
        RlmKind::Access => stem.strip_prefix("file-access-").map(str::to_owned).or_else(folder),
        RlmKind::Cell | RlmKind::CellIndex | RlmKind::Decisions | RlmKind::Traces | RlmKind::Memory => {
            of_session(path).map(|folder| folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
        }
        RlmKind::Backup => below(path, EXTERNALIZED).1.or_else(said).or(Some(stem)),
        RlmKind::Trajectory => said().or_else(|| below(path, TRAJECTORIES).1).or_else(|| Some(plain(&stem))),
    };
    id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// The folder of the session that a file lies in: the one above `cells` and `reasoning`, or its own.
pub(super) fn of_session(path: &Path) -> Option<&Path> {
    let folder = path.parent()?;
    let is_inner = folder.file_name().is_some_and(|name| name == "cells" || name == "reasoning");
    if is_inner { folder.parent() } else { Some(folder) }
}

fn said(root: &[(Cow<'_, str>, Piece<'_>)]) -> Option<String> {
    let metadata = || told(&members(member(root, "metadata")?.text), &["session_id"]);
    told(root, &["session_id", "sessionId"]).or_else(metadata)
}

/// Whether a path lies below a folder of that name, and the folder in there that it lies in.
fn below(path: &Path, folder: &str) -> (bool, Option<String>) {
    let parts: Vec<_> = path.components().map(std::path::Component::as_os_str).collect();
    let Some(at) = parts.iter().rposition(|part| *part == folder) else { return (false, None) };
    let inner = parts.get(at + 1).filter(|_| at + 2 < parts.len());
    (true, inner.map(|part| part.to_string_lossy().into_owned()))
}

/// The id in the name of a summary.
fn plain(stem: &str) -> String {
    let stem = ["trajectory-", "trajectory_"].iter().find_map(|word| stem.strip_prefix(word)).unwrap_or(stem);
    let stem = ["-trajectory", "_trajectory", "-summary", "_summary"]
        .iter()
        .find_map(|word| stem.strip_suffix(word))
        .unwrap_or(stem);
    stem.to_owned()
}

/// Groups files by session. A context that names none is of the session that the host ran when it was written.
pub(super) fn bundle(mut files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    files.sort();
    files.dedup();
    let none = Bundle::default();
    let mut rows = Vec::with_capacity(files.len());
    let mut running: HashMap<PathBuf, String> = HashMap::new();
    // What a session's own state calls it counts for all that lies in its folder.
    let mut folders: HashMap<PathBuf, String> = HashMap::new();
    for path in files {
        let (kind, session) = look(&none, &path)?;
        if let (Some(RlmKind::Metadata), Some(session), Some(folder)) = (kind, &session, path.parent()) {
            running.insert(folder.to_owned(), session.clone());
        }
        let folder = of_session(&path).filter(|_| path.file_stem().is_some_and(|stem| stem == "session"));
        if let (Some(RlmKind::State), Some(session), Some(folder)) = (kind, &session, folder) {
            folders.insert(folder.to_owned(), session.clone());
        }
        rows.push((kind, session, path));
    }
    let mut sessions: BTreeMap<String, Vec<(Option<RlmKind>, PathBuf)>> = BTreeMap::new();
    for (kind, session, path) in rows {
        let inner = kind.filter(|kind| kind.is_of_folder()).and(of_session(&path));
        let session = inner.and_then(|folder| folders.get(folder)).cloned().or(session);
        let of_folder = || path.parent().and_then(|folder| running.get(folder)).cloned();
        sessions.entry(session.or_else(of_folder).unwrap_or_default()).or_default().push((kind, path));
    }
    let bundle = |mut files: Vec<(Option<RlmKind>, PathBuf)>| {
        files.sort();
        Bundle::of(files.into_iter().map(|(_, path)| path).collect())
    };
    Ok(sessions.into_values().map(bundle).collect())
}

/// The session that a file names, and its folder, of whose session a file is that names none.
pub(super) fn together(path: &Path) -> Result<Vec<String>> {
    let (_, session) = look(&Bundle::default(), path)?;
    let folder = of_session(path).map(|folder| format!("folder {}", folder.display()));
    Ok(session.into_iter().chain(folder).collect())
}

/// What a file is, and the session that it names.
pub(super) fn look(bundle: &Bundle, path: &Path) -> Result<(Option<RlmKind>, Option<String>)> {
    let head = record::beginning(bundle, path)?;
    let head = String::from_utf8_lossy(&head);
    let kind = kind(path, &head);
    Ok((kind, kind.and_then(|kind| session(kind, path, &head))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, head: &str) -> Option<(RlmKind, Option<String>)> {
        let path = Path::new(path);
        let kind = kind(path, head)?;
        Some((kind, session(kind, path, head)))
    }

    #[test]
    fn table() {
        let id = |id: &str| Some(id.to_owned());
        let rows = [
            ("s1.json", r#"{"created_at":1,"rlm_active":true"#, Some((RlmKind::State, id("s1")))),
            ("s1/session.json", r#"{"metadata":{"session_id":"x"},"activation":{}}"#, Some((RlmKind::State, id("x")))),
            ("s1/session.json", r#"{"activation":{},"budget":{}}"#, Some((RlmKind::State, id("s1")))),
            ("s1_context.json", r#"{"messages":[{"role":"user"#, Some((RlmKind::Context, id("s1")))),
            ("any.json", r#"{"session_id":"s2","tool_outputs":[]}"#, Some((RlmKind::Context, id("s2")))),
            ("context.json", r#"{"conversation":[]}"#, Some((RlmKind::Shared, None))),
            ("session-metadata.json", r#"{"session_id":"s1","cwd":"/x"}"#, Some((RlmKind::Metadata, id("s1")))),
            ("file-access-s1.jsonl", "{\"path\":\"a\"}\n", Some((RlmKind::Access, id("s1")))),
            ("s1/cells/cell_1.json", r#"{"id":"cell_1","input":{},"output":{}}"#, Some((RlmKind::Cell, id("s1")))),
            ("s1/cells/index.json", r#"{"roots":[]}"#, Some((RlmKind::CellIndex, id("s1")))),
            ("s1/reasoning/decisions.jsonl", "{}", Some((RlmKind::Decisions, id("s1")))),
            ("s1/memory-snapshot.json", "{}", Some((RlmKind::Memory, id("s1")))),
            ("s1/other/cell_1.json", r#"{"id":"cell_1","input":{},"output":{}}"#, None),
            ("rlm-externalized/s1/a.json", "{}", Some((RlmKind::Backup, id("s1")))),
            ("rlm-trajectories/s1_trajectory.json", "{}", Some((RlmKind::Trajectory, id("s1")))),
            ("rlm-trajectories/a.jsonl", r#"{"session_id":"s3"}"#, Some((RlmKind::Trajectory, id("s3")))),
            ("rlm-config.json", r#"{"rlm_active":true}"#, None),
            ("other.json", r#"{"messages":[]}"#, None),
            ("s1_context.json", "[]", None),
            ("file-access-s1.jsonl", "no json", None),
        ];
        for (path, head, wanted) in rows {
            assert_eq!(of(path, head), wanted, "{path}");
        }
    }
}
