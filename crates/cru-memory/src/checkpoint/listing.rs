//! The checkpoints of a session as one list: what stands in its note, what is computed of it, and the copies of this
//! machine.

use cru_session::{Callout, Session};
use jiff::Timestamp;
use serde::Serialize;

use super::kind::CheckpointKind;
use super::manifest::CopyManifest;
use super::points::{PointKind, points};

/// A row of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListedCheckpoint {
    /// When.
    pub time: Option<Timestamp>,
    /// `risk`, or `commit`.
    pub kind: String,
    /// `cp-…`; none where it is computed.
    pub id: Option<String>,
    /// Files of its copy here; `None` where there is no copy on this machine.
    pub files: Option<usize>,
    /// Step or block of the note.
    pub block: Option<String>,
    /// In words.
    pub title: String,
    /// Whether the note tells of a copy that is not on this machine.
    pub elsewhere: bool,
}

/// The time that an id names; `cp-20261116-101212` and what goes on from it.
pub fn time_of_id(id: &str) -> Option<Timestamp> {
    let stamp = id.strip_prefix("cp-")?.get(..15)?;
    let (date, time) = stamp.split_once('-')?;
    let parts = [date.get(..4)?, date.get(4..6)?, date.get(6..8)?, time.get(..2)?, time.get(2..4)?, time.get(4..6)?];
    if date.len() != 8 || !parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let [year, month, day, hour, minute, second] = parts;
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()
}

/// The checkpoint callouts of a session.
pub fn written(session: &Session) -> impl Iterator<Item = &Callout> {
    session.items().filter_map(|(_, item)| item.as_callout("checkpoint"))
}

/// All checkpoints of a session, oldest first.
pub fn list(session: Option<&Session>, copies: &[CopyManifest]) -> Vec<ListedCheckpoint> {
    let mut rows: Vec<ListedCheckpoint> = Vec::new();
    for callout in session.into_iter().flat_map(written) {
        let (kind, title) = CheckpointKind::of_title(&callout.title);
        let copy = copies.iter().find(|copy| callout.id.as_deref() == Some(copy.id.as_str()));
        let files = copy.map(|copy| copy.files.len()).filter(|files| *files > 0);
        rows.push(ListedCheckpoint {
            id: callout.id.clone(),
            time: callout.at.or_else(|| time_of_id(callout.id.as_deref()?)),
            kind: kind.as_str().to_owned(),
            title: title.to_owned(),
            block: callout.id.clone(),
            elsewhere: files.is_none() && callout.field("Files").is_some(),
            files,
        });
    }
    let told: Vec<Option<String>> = rows.iter().map(|row| row.id.clone()).collect();
    for copy in copies.iter().filter(|copy| !told.iter().flatten().any(|id| *id == copy.id)) {
        let files = Some(copy.files.len()).filter(|files| *files > 0);
        rows.push(ListedCheckpoint {
            id: Some(copy.id.clone()),
            time: Some(copy.time),
            kind: copy.kind.as_str().to_owned(),
            title: copy.title.clone(),
            block: None,
            elsewhere: files.is_none() && copy.has_copy(),
            files,
        });
    }
    for point in session.map(points).unwrap_or_default() {
        let kind = match point.what {
            PointKind::Kind(kind) => kind.as_str(),
            PointKind::Commit => "commit",
        };
        rows.push(ListedCheckpoint {
            time: point.time,
            kind: kind.to_owned(),
            title: point.title,
            block: point.block,
            ..ListedCheckpoint::default()
        });
    }
    rows.sort_by_key(|row| row.time);
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn notes_and_copies_are_one_list() {
        let note = "---\ntype: session\nsession_id: s\nstarted: 2026-11-16T10:00:00Z\n---\n# S\n\n## P @a\n\n> [!checkpoint] risk: before `rm x`\n> Files: `x@aabbccdd`\n\n^cp-20261116-101212\n";
        let session = cru_session::read::content_of(note.as_bytes().to_vec());
        let copy = |id: &str, kind| CopyManifest {
            id: id.into(),
            time: "2026-11-16T10:13:00Z".parse().unwrap(),
            kind,
            files: vec![super::super::CopiedFile::default()],
            ..CopyManifest::default()
        };
        let copies =
            [copy("cp-20261116-101212", CheckpointKind::Risk), copy("cp-20261116-101300", CheckpointKind::Manual)];
        let rows = list(Some(&session), &copies);
        let shown: Vec<_> = rows.iter().map(|row| (row.kind.as_str(), row.files, row.block.is_some())).collect();
        assert_eq!(shown, [("risk", Some(1), true), ("manual", Some(1), false)]);
        assert_eq!(rows[0].time, "2026-11-16T10:12:12Z".parse().ok());
    }

    proptest! {
        #[test]
        fn times_of_ids_are_total(id in "cp-[0-9]{0,9}-?[0-9]{0,7}(-2)?|\\PC{0,20}") {
            let _ = time_of_id(&id);
        }
    }
}
