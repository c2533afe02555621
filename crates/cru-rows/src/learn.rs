//! Cases of the sessions of one family, from their notes.

use std::collections::HashMap;

use crate::record::SessionHead;
use crate::table::{RowTable, TableRows, day};
use cru_learn::{Family, Kind, Note, extract};
use cru_session::Session;

/// A session as the table `sessions` holds it.
#[derive(Clone, Copy, Debug)]
pub struct SessionNote<'a> {
    /// `session_uid`.
    pub uid: &'a str,
    /// `note`.
    pub text: &'a str,
    /// What the note says.
    pub session: &'a Session,
    /// `host`.
    pub host: &'a str,
}

/// Adds the rows of `cases`. Cases of a session depend on it and on the parents in its family alone.
pub fn add(family: i64, notes: &[SessionNote<'_>], rows: &mut TableRows) {
    let paths: Vec<String> = notes.iter().map(|note| format!("sessions/{}.md", note.uid)).collect();
    let learned: Vec<Note<'_>> = notes
        .iter()
        .zip(&paths)
        .map(|(note, path)| Note { path, text: note.text, session: note.session, calls: None })
        .collect();
    let parents = Family::of(notes.iter().map(|note| (note.uid, &note.session.meta)));
    let by_uid: HashMap<&str, &SessionNote<'_>> = notes.iter().map(|note| (note.uid, note)).collect();
    let mut found = extract(&learned, &Kind::IN_SESSIONS, &parents);
    found.sort();
    let mut places: HashMap<String, usize> = HashMap::new();
    for case in found.cases {
        let uid = case.origin.session.clone();
        let Some(note) = by_uid.get(uid.as_str()) else { continue };
        let head =
            SessionHead { uid: uid.clone(), family, day: day(note.session.meta.started), host: note.host.to_owned() };
        let seq = places.entry(uid).or_default();
        let mut row = head.cells();
        let fault = case.fault.map(|reason| serde_json::to_value(reason).unwrap_or_default());
        row.extend([
            (*seq).into(),
            case.id.clone().into(),
            case.kind().as_str().into(),
            case.title.clone().into(),
            Some(case.origin.source.block_id.clone()).filter(|id| !id.is_empty()).into(),
            case.fidelity.as_str().into(),
            case.content_hash.clone().into(),
            case.redactions.into(),
            fault.as_ref().and_then(serde_json::Value::as_str).map(str::to_owned).into(),
            serde_json::to_string(&case).unwrap_or_default().into(),
        ]);
        *seq += 1;
        rows.push(RowTable::Cases, row);
    }
}
