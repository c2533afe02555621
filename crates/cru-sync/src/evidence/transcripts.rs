//! The full inputs and outputs of tools, from the transcripts that notes point to, for the index.
//!
//! The calls of a transcript are folded once more, which gives each the step that it became, and tells the line that each
//! call and answer stands in. Secrets are masked before anything else is done; pictures and other data that no person
//! reads are left out. Sub-agents' transcripts belong to their own notes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;

use crate::evidence::files::{Files, Slices};
use crate::evidence::store::Store;
use crate::ids::Ids;
use crate::read::heard::{Heard, HeardText, LineNow, OneStream, StreamWords};
use cru_base::Env;
use cru_base::hash::short;
use cru_index::evidence::{Evidence, Steps};
use cru_index::{Entry, SessionRow};
use cru_note::Note;
use cru_session::source::{Bundle, Consumed, Importer};
use cru_session::{Meta, Session, Step};
use cru_vault::config::expand_home;
use cru_vault::{Vault, VaultPath};

/// Raised when a transcript would give other entries than before.
const VERSION: u64 = 2;

/// Supplies the evidence of a vault's notes.
#[derive(Debug)]
pub struct Transcripts {
    env: Env,
    limit: usize,
    slices: Slices,
    store: Store,
    heard: Option<Arc<Heard>>,
}

impl Transcripts {
    /// For the notes of `vault`.
    pub fn of(vault: &Vault, env: &Env) -> Self {
        // Bytes of one input or output that are searchable.
        let limit = vault.config().index.evidence_bytes.unwrap_or(64 << 10);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { env: env.clone(), limit, slices: Slices::default(), store: Store::of(vault, env), heard: None }
    }

    /// The same, with what an import of this process has heard: those transcripts need not be read again.
    pub fn with_heard(vault: &Vault, env: &Env, heard: Arc<Heard>) -> Self {
        Self { heard: Some(heard), ..Self::of(vault, env) }
    }

    /// Collects what the calls of an import say, as far as it is to be searchable.
    pub fn listen(&self) -> Option<Arc<Heard>> {
        (self.limit > 0).then(|| Arc::new(Heard::new(self.limit)))
    }

    /// Bytes of one input or output that are searchable.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// The files of a note's transcript: those that are still there, else the copies that were kept of them.
    pub(crate) fn files(&self, of: Pointer<'_>) -> Option<(&'static Importer, Files)> {
        let importer = cru_agents::of_host(of.host?)?;
        let named = expand_home(of.transcript?, &self.env)?;
        if std::fs::metadata(&named).is_ok_and(|metadata| metadata.is_file()) {
            return Some((importer, self.slices.files(importer, named, of.host_session.unwrap_or_default())));
        }
        let kept = of.session.filter(|session| self.store.fingerprint(session).is_some())?;
        let (all, _) = self.store.files(kept);
        all.contains(&named).then(|| (importer, Files { named, all, kept: Some(kept.to_owned()) }))
    }

    /// The files that are searched: none where nothing of them is to be searchable.
    pub(crate) fn searched(&self, of: Pointer<'_>) -> Option<(&'static Importer, Files)> {
        self.files(of).filter(|_| self.limit > 0)
    }

    /// Them, ready to be read.
    pub(crate) fn bundle(&self, files: &Files) -> Bundle {
        files.kept.as_ref().map_or_else(|| Bundle::of(files.all.clone()), |session| self.store.bundle(session))
    }
}

/// What a note says of its transcript.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pointer<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) transcript: Option<&'a str>,
    pub(crate) host_session: Option<&'a str>,
    /// `session_id`.
    pub(crate) session: Option<&'a str>,
}

impl<'a> Pointer<'a> {
    pub(crate) fn of(meta: &'a Meta) -> Self {
        Self {
            host: meta.host.as_deref(),
            transcript: meta.transcript.as_deref(),
            host_session: meta.host_session.as_deref(),
            session: meta.session_id.as_deref(),
        }
    }

    pub(crate) fn of_row(row: &'a SessionRow) -> Self {
        Self {
            host: row.host.as_deref(),
            transcript: row.transcript.as_deref(),
            host_session: row.host_session.as_deref(),
            session: Some(&row.id),
        }
    }
}

impl Evidence for Transcripts {
    fn fingerprint(&self, row: &SessionRow) -> Option<u64> {
        let host_session = row.host_session.as_deref();
        let (_, files) = self.searched(Pointer::of_row(row))?;
        let mut hasher = blake3::Hasher::new();
        for number in [VERSION, self.limit as u64] {
            hasher.update(&number.to_le_bytes());
        }
        let copies = files.kept.as_ref().and_then(|session| self.store.fingerprint(session));
        for number in copies.iter().flat_map(|it| [it.size, it.mtime.unsigned_abs()]) {
            hasher.update(&number.to_le_bytes());
        }
        for path in files.all.iter().filter(|_| copies.is_none()) {
            let metadata = std::fs::metadata(path).ok()?;
            let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            for number in [metadata.len(), changed.as_secs(), changed.subsec_nanos().into()] {
                hasher.update(&number.to_le_bytes());
            }
            hasher.update(path.as_os_str().as_encoded_bytes());
            hasher.update(&[0]);
        }
        hasher.update(host_session.unwrap_or_default().as_bytes());
        Some(u64::from_le_bytes(short(&hasher.finalize())))
    }

    fn size(&self, row: &SessionRow) -> u64 {
        let files = self.searched(Pointer::of_row(row));
        if let Some(session) = files.as_ref().and_then(|(_, files)| files.kept.as_deref()) {
            return self.store.files(session).1;
        }
        let all = files.iter().flat_map(|(_, files)| &files.all);
        all.filter_map(|path| std::fs::metadata(path).ok()).map(|metadata| metadata.len()).sum()
    }

    fn entries(&self, _: &VaultPath, note: &Note, session: &Session) -> Vec<Entry> {
        let meta = &session.meta;
        let wanted = meta.host_session.as_deref();
        let files = self.searched(Pointer::of(meta));
        let (Some((importer, files)), Some(wanted)) = (files, wanted) else { return Vec::new() };
        let kept =
            self.heard.as_ref().filter(|_| files.kept.is_none()).and_then(|heard| heard.take(wanted, &files.all));
        let words = kept.or_else(|| {
            let (host, limit) = (importer.host(), self.limit);
            let mut reading = OneStream { wanted, host, limit, now: LineNow::default(), words: None };
            (importer.read)(&self.bundle(&files), &mut reading).ok()?;
            reading.words.map(|(_, words)| words)
        });
        let Some(StreamWords { fold, told, .. }) = words else { return Vec::new() };
        let steps = Steps::of(note, session);
        let calls: Vec<(Option<String>, HeardText)> =
            told.into_iter().map(|told| (fold.step_of(&told.call), told)).collect();
        let account = fold.finish(Consumed::default()).session;
        let ids = Ids::found(&account, session);
        let (told, there) = (step_keys(&account), step_keys(session));
        let entry = |(id, it): (Option<String>, HeardText)| {
            let id = id?;
            let now = ids.now(&id);
            // The step of another session, whose records are copied here, may have the same number. One that the note
            // leaves out cannot be compared.
            let told = *told.get(id.as_str())?;
            let same = there.get(now).is_none_or(|there| is_same(told, *there));
            let source = it
                .file
                .filter(|file| **file != files.named)
                .and_then(|file| Some(file.file_name()?.to_str()?.to_owned()));
            same.then(|| steps.entry(now, it.line, source, it.text.readable(self.limit)))?
        };
        calls.into_iter().filter_map(entry).collect()
    }
}

/// Tool and second of the steps of a session, by their ids.
pub(crate) fn step_keys(session: &Session) -> HashMap<&str, (&str, Option<i64>)> {
    let seconds = |step: &Step| step.time.map(Timestamp::as_second);
    session.steps().filter_map(|(_, step)| Some((step.id.as_deref()?, (step.tool.as_str(), seconds(step))))).collect()
}

/// Whether two steps may be the same one, as far as that is told.
pub(crate) fn is_same(one: (&str, Option<i64>), other: (&str, Option<i64>)) -> bool {
    one.0 == other.0 && one.1.zip(other.1).is_none_or(|(one, other)| one == other)
}
