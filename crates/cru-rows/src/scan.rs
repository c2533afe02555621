//! What one object says of itself: whose session it is, when, and by which keys it belongs together with others.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;

use crate::guard::guarded;
use crate::stage::Stage;
use cru_agents::any;
use cru_base::Result;
use cru_session::agent_table::{self, AgentEntry};
use cru_session::event::{Event, EventKind, StreamKey};
use cru_session::mask;
use cru_session::source::{Bundle, Header, Importer, Sink};

/// Bytes that [`ScanRow::prefix_hash`] is made of.
const PREFIX: usize = 4096;

/// Ends of the names of files that hosts keep beside a transcript: without them the names are the same.
const BESIDE: &[&str] = &[".meta.json", ".settings.json", ".messages.json"];

/// What an object says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanRow {
    /// Its URI.
    pub uri: String,
    /// Its bytes.
    pub size: u64,
    /// BLAKE3 of its bytes, 32 hex digits: another one means that it changed.
    pub hash: String,
    /// BLAKE3 of its first 4 KiB, 32 hex digits: slices and copies of one session often share it.
    pub prefix_hash: String,
    /// `transcript`, `other` (no transcript of an agent that is known; it may stand beside one) or `failed`.
    pub status: &'static str,
    /// Which host wrote it.
    pub host: Option<&'static str>,
    /// The host's id of its first session.
    pub session: Option<String>,
    /// The host's id of the session that started that one.
    pub parent: Option<String>,
    /// Objects that share a key belong to one family. Sorted.
    pub keys: Vec<String>,
    /// The earliest time of its records.
    pub first_time: Option<Timestamp>,
    /// The latest time of its records.
    pub last_time: Option<Timestamp>,
    /// Why it is no transcript, or could not be read.
    pub reason: Option<String>,
}

/// Scans the one object that lies in `stage`; nothing where none does. Never fails: what cannot be read has a reason.
pub fn scan(stage: &Stage) -> Option<ScanRow> {
    let Some(path) = stage.paths().into_iter().next() else {
        let (uri, reason) = stage.failed().first()?;
        let row = ScanRow { uri: uri.clone(), status: "failed", reason: Some(reason.clone()), ..ScanRow::default() };
        return Some(with_own_key(row));
    };
    let mut row = ScanRow { uri: stage.uri(&path), status: "failed", ..ScanRow::default() };
    row.size = std::fs::metadata(&path).map_or(0, |it| it.len());
    row.hash = cru_base::files::digest(&path).ok().flatten().map(|digest| hex(&digest)).unwrap_or_default();
    let prefix = cru_base::files::beginning(&path, PREFIX as u64).unwrap_or_default();
    row.prefix_hash = hex(blake3::hash(&prefix).as_bytes());
    let known = row.clone();
    let looked = guarded(move || {
        let mut row = known;
        look(stage, &path, &mut row).map(|()| row)
    });
    let failed = match looked {
        Ok(Ok(looked)) => return Some(with_own_key(looked)),
        Ok(Err(error)) => error.with_causes(),
        Err(defect) => defect,
    };
    row.reason = Some(mask::mask(&stage.public(&failed)).into_owned());
    Some(with_own_key(row))
}

/// Reads the object with the importer that knows it.
fn look(stage: &Stage, path: &Path, row: &mut ScanRow) -> Result<()> {
    let any::Any { found, strangers, .. } = any::search(&[path.to_owned()])?;
    let Some((importer, found)) = found.into_iter().next() else {
        row.status = "other";
        row.reason = strangers.first().map(|(_, reason)| (*reason).to_owned());
        return Ok(());
    };
    row.host = Some(importer.host());
    let mut heard = Heard::default();
    let name = |session: &str| format!("{} {}", importer.id, stage.public(session));
    let mut keys: BTreeSet<String> = (importer.together)(path)?.iter().map(|key| name(key)).collect();
    let read = found.bundles.iter().try_for_each(|bundle| read(importer, bundle, &mut heard));
    keys.extend(heard.sessions.iter().filter(|session| !session.is_empty()).map(|session| name(session)));
    row.keys = keys.into_iter().collect();
    if let Some((key, parent)) = heard.first {
        row.session = Some(stage.public(&key.to_string()));
        row.parent = parent.map(|parent| stage.public(&parent.to_string()));
    }
    (row.first_time, row.last_time) = (heard.times.map(|it| it.0), heard.times.map(|it| it.1));
    row.status = "transcript";
    if let Err(error) = read {
        row.status = "failed";
        row.reason = Some(mask::mask(&stage.public(&error.with_causes())).into_owned());
    }
    Ok(())
}

fn read(importer: &Importer, bundle: &Bundle, heard: &mut Heard) -> Result<()> {
    (importer.read)(bundle, heard)
}

/// Adds the key that an object shares with what stands beside it.
fn with_own_key(mut row: ScanRow) -> ScanRow {
    let end = BESIDE.iter().find(|end| row.uri.ends_with(**end)).map_or_else(
        || row.uri.rfind('.').filter(|dot| !row.uri[*dot..].contains(['/', '\\'])).unwrap_or(row.uri.len()),
        |end| row.uri.len() - end.len(),
    );
    row.keys.push(format!("name {}", &row.uri[..end]));
    let folder = row.uri.rfind(['/', '\\']).map(|at| (&row.uri[..at], &row.uri[at + 1..]));
    // A host that describes a session beside its transcript keeps a folder for each.
    let is_of = |row: &AgentEntry, name: &str| {
        let names = row.names.iter().filter(|_| !row.described.is_empty()).chain(&row.described);
        names.into_iter().any(|known| known == name)
    };
    let folder = folder.filter(|(_, name)| agent_table::all().iter().any(|row| is_of(row, name)));
    row.keys.extend(folder.map(|(folder, _)| format!("folder {folder}")));
    row.keys.sort();
    row.keys.dedup();
    row
}

fn hex(bytes: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*bytes).to_hex().chars().take(32).collect()
}

/// Hears which streams a transcript tells of, and when.
#[derive(Debug, Default)]
struct Heard {
    first: Option<(StreamKey, Option<StreamKey>)>,
    sessions: BTreeSet<String>,
    times: Option<(Timestamp, Timestamp)>,
}

impl Heard {
    fn session(&mut self, session: &str) {
        if !self.sessions.contains(session) {
            self.sessions.insert(session.to_owned());
        }
    }
}

impl Sink for Heard {
    fn open(&mut self, header: Header) {
        self.session(&header.key.session);
        if let Some(parent) = &header.parent {
            self.session(&parent.session);
        }
        self.first.get_or_insert((header.key, header.parent));
    }

    fn event(&mut self, _: &StreamKey, event: Event<'_>) {
        if let Some(time) = event.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        if let EventKind::SubagentDone { stream, .. } = &event.kind {
            self.session(&stream.session);
        }
    }
}
