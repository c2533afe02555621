//! Which transcripts need not be read again: neither they nor their notes have changed since the last import.
//!
//! A book in the machine state, one for each importer, that may be deleted at any time: then everything is read once
//! more, to the same end. A file counts as unchanged by size, time and number; one that was written in the moment it was
//! read is not entered, since its time may not tell the next write. Nothing is decided here that reading would not
//! decide: an entry is made only where the notes have all of it and nothing else could change them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::import::options::{Machine, Options};
use crate::report::{Outcome, SessionReport};
use cru_base::Result;
use cru_base::files::{self, Fingerprint};
use cru_session::agent_table;
use cru_session::event::StreamKey;
use cru_session::mask;
use cru_session::source::{Bundle, Importer};
use cru_vault::{State, Vault, VaultPath};

/// Raised when the book is written otherwise.
const VERSION: u32 = 2;
/// Nanoseconds for which a file must have been left alone.
const SETTLED: i64 = 2_000_000_000;
/// Larger books are none.
const LARGEST: u64 = 256 << 20;

/// What files are called that are no transcripts; others are entered by none of them.
const REASONS: [&str; 3] = ["not a transcript of this agent", "empty file", "not readable"];

#[derive(Debug, Default, Serialize, Deserialize)]
struct Pages {
    version: u32,
    /// What else a note depends on.
    rules: String,
    bundles: Vec<Known>,
    strangers: BTreeMap<PathBuf, (Fingerprint, usize)>,
}

/// A bundle whose notes have all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    files: Vec<(PathBuf, Fingerprint)>,
    /// What describes the session beside them, also where it is not there.
    described: Vec<(PathBuf, Option<Fingerprint>)>,
    sessions: Vec<Seen>,
    /// Whether copies of the files were kept.
    kept: bool,
}

/// One session of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Seen {
    session: String,
    agent: Option<String>,
    subagent: bool,
    title: Option<String>,
    /// Its note; none where it is worth none.
    note: Option<(String, Fingerprint)>,
}

/// The book of one importer.
#[derive(Debug)]
pub(crate) struct Book {
    path: PathBuf,
    /// Names of the files that describe a session beside its transcript.
    names: &'static [String],
    pages: Pages,
    /// Bundle of each file.
    at: HashMap<PathBuf, usize>,
    now: i64,
    keep: bool,
    changed: bool,
}

/// The files that the last import of an agent found in notes, empty, or no transcripts.
pub fn seen_files(importer: &Importer, state: &State) -> BTreeSet<PathBuf> {
    let path = state.dir().join("seen").join(format!("{}.bin", importer.id));
    let bytes = files::read_regular(&path, LARGEST).ok().flatten().unwrap_or_default();
    let pages = postcard::from_bytes::<Pages>(&bytes).ok().filter(|pages| pages.version == VERSION);
    let Some(pages) = pages else { return BTreeSet::new() };
    let known = pages.bundles.into_iter().flat_map(|known| known.files).map(|(path, _)| path);
    known.chain(pages.strangers.into_keys()).collect()
}

/// What is told of bundles that are not read.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    pub(crate) files: u64,
    pub(crate) sessions: Vec<SessionReport>,
    pub(crate) strangers: Vec<(PathBuf, &'static str)>,
}

/// What is known of a bundle that was read.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// Whether nothing but a change of files can change what its notes should say.
    pub(crate) settled: bool,
    pub(crate) rows: Vec<usize>,
}

impl Book {
    /// The book of an importer, where reading it makes sense.
    pub(crate) fn open(vault: &Vault, importer: &Importer, options: &Options, machine: &Machine) -> Option<Self> {
        if options.restore || options.reattach || !options.choice.is_all() {
            return None;
        }
        let config = vault.config();
        let rules = format!(
            "{} {} {:?} {:?} {:?} {:?}",
            env!("CARGO_PKG_VERSION"),
            mask::VERSION,
            options.fold,
            config.import,
            config.channel,
            config.session
        );
        let path = machine.state.dir().join("seen").join(format!("{}.bin", importer.id));
        let bytes = files::read_regular(&path, LARGEST).ok().flatten().unwrap_or_default();
        let pages = postcard::from_bytes::<Pages>(&bytes).ok();
        let pages = pages.filter(|pages| pages.version == VERSION && pages.rules == rules);
        let pages = pages.unwrap_or_else(|| Pages { version: VERSION, rules, ..Pages::default() });
        let mut at = HashMap::new();
        for (index, known) in pages.bundles.iter().enumerate() {
            at.extend(known.files.iter().map(|(path, _)| (path.clone(), index)));
        }
        let now = i64::try_from(machine.now.as_nanosecond()).unwrap_or(i64::MAX);
        let names = agent_table::by_id(importer.id).map_or(&[][..], |row| &row.described);
        Some(Self { path, names, pages, at, now, keep: options.keep.is_some(), changed: false })
    }

    /// What is told of `files` where none of them needs to be read; `None` where one does.
    pub(crate) fn covers(&self, vault: &Vault, files: &BTreeSet<PathBuf>) -> Option<Unread> {
        let mut bundles = BTreeSet::new();
        let mut strangers = Vec::new();
        for path in files {
            match (self.at.get(path), self.pages.strangers.get(path)) {
                (Some(index), _) => {
                    bundles.insert(*index);
                }
                (None, Some((fingerprint, reason))) => strangers.push((path, *fingerprint, *reason)),
                (None, None) => return None,
            }
        }
        let known: Vec<&Known> = bundles.iter().filter_map(|index| self.pages.bundles.get(*index)).collect();
        let total: usize = known.iter().map(|known| known.files.len()).sum();
        // A file of a bundle that is not among them is gone, or was not asked for.
        let same = total + strangers.len() == files.len()
            && known.par_iter().all(|known| self.holds(known, vault))
            && strangers.par_iter().all(|(path, fingerprint, _)| is_same(path, *fingerprint));
        same.then(|| Unread {
            files: total as u64,
            sessions: known.iter().flat_map(|known| known.rows()).collect(),
            strangers: strangers.into_iter().map(|(path, _, at)| (path.clone(), reason(at))).collect(),
        })
    }

    /// Takes the bundles out of `bundles` that need not be read, each with what is told of it.
    pub(crate) fn take(&self, vault: &Vault, bundles: &mut Vec<Bundle>) -> Vec<(Bundle, Vec<SessionReport>)> {
        let all = std::mem::take(bundles);
        let known: Vec<Option<&Known>> = all.par_iter().map(|bundle| self.of(bundle, vault)).collect();
        let mut taken = Vec::new();
        for (bundle, known) in all.into_iter().zip(known) {
            match known {
                Some(known) => taken.push((bundle, known.rows().collect())),
                None => bundles.push(bundle),
            }
        }
        taken
    }

    fn of(&self, bundle: &Bundle, vault: &Vault) -> Option<&Known> {
        let known = self.pages.bundles.get(*self.at.get(bundle.files.first()?)?)?;
        let same = known.files.len() == bundle.files.len()
            && known.files.iter().zip(&bundle.files).all(|((known, _), path)| known == path);
        (same && bundle.memory.is_empty() && self.holds(known, vault)).then_some(known)
    }

    fn holds(&self, known: &Known, vault: &Vault) -> bool {
        let note = |(note, fingerprint): &(String, Fingerprint)| {
            VaultPath::new(note).is_some_and(|path| is_same(&vault.file(&path), *fingerprint))
        };
        (known.kept || !self.keep)
            && known.files.iter().all(|(path, fingerprint)| is_same(path, *fingerprint))
            && known.described.iter().all(|(path, fingerprint)| files::fingerprint(path).ok() == *fingerprint)
            && known.sessions.iter().filter_map(|seen| seen.note.as_ref()).all(note)
    }

    /// The fingerprints of a bundle's files, to be taken before they are read.
    pub(crate) fn fingerprints(bundle: &Bundle) -> Vec<(PathBuf, Fingerprint)> {
        let of = |path: &PathBuf| Some((path.clone(), files::fingerprint(path).ok()?));
        bundle.files.iter().filter_map(of).collect()
    }

    /// The files beside transcripts that describe their sessions, as they are now.
    fn described(&self, files: &[(PathBuf, Fingerprint)]) -> Vec<(PathBuf, Option<Fingerprint>)> {
        let beside = files.iter().flat_map(|(path, _)| {
            let stem = path.file_name().and_then(OsStr::to_str).and_then(|name| name.split('.').next());
            self.names.iter().map(move |name| path.with_file_name(name.replace('*', stem.unwrap_or_default())))
        });
        let beside: BTreeSet<PathBuf> = beside.collect();
        beside.into_iter().map(|path| (path.clone(), files::fingerprint(&path).ok())).collect()
    }

    /// Enters a bundle that was read, or strikes it out.
    pub(crate) fn enter(
        &mut self,
        vault: &Vault,
        files: &[(PathBuf, Fingerprint)],
        standing: &Standing,
        sessions: &[SessionReport],
    ) {
        let mut seen = Vec::new();
        let mut settled = standing.settled && !files.is_empty();
        let is_old = |it: &Fingerprint| it.mtime < self.now - SETTLED;
        settled &= files.iter().all(|(path, it)| is_old(it) && is_same(path, *it));
        let described = self.described(files);
        settled &= described.iter().all(|(_, it)| it.as_ref().is_none_or(is_old));
        for row in standing.rows.iter().filter_map(|row| sessions.get(*row)) {
            let note = match row.outcome {
                Outcome::Created | Outcome::Updated | Outcome::Unchanged => {
                    let path = row.note.as_ref().and_then(VaultPath::new).map(|path| vault.file(&path));
                    let fingerprint = path.and_then(|path| files::fingerprint(&path).ok());
                    settled &= fingerprint.is_some();
                    row.note.clone().zip(fingerprint)
                }
                Outcome::Empty => None,
                _ => {
                    settled = false;
                    None
                }
            };
            let StreamKey { session, agent } = row.key().clone();
            seen.push(Seen { session, agent, subagent: row.subagent, title: row.title.clone(), note });
        }
        let known = Known { files: files.to_vec(), described, sessions: seen, kept: self.keep };
        let old = known.files.iter().find_map(|(path, _)| self.at.get(path)).copied();
        match old.and_then(|index| self.pages.bundles.get_mut(index)) {
            Some(old) if settled && *old == known => {}
            // It stays where it is, so that the places of the others stay true.
            Some(old) => {
                *old = if settled { known } else { Known { files: Vec::new(), ..known } };
                self.changed = true;
            }
            None if settled => {
                self.pages.bundles.push(known);
                self.changed = true;
            }
            None => {}
        }
    }

    /// Enters files that are no transcripts.
    pub(crate) fn strangers(&mut self, strangers: &[(PathBuf, &'static str)]) {
        for (path, why) in strangers {
            let at = REASONS.iter().position(|reason| reason == why).unwrap_or(0);
            let Ok(fingerprint) = files::fingerprint(path) else { continue };
            let entry = (fingerprint, at);
            if fingerprint.mtime < self.now - SETTLED && self.pages.strangers.get(path) != Some(&entry) {
                self.pages.strangers.insert(path.clone(), entry);
                self.changed = true;
            }
        }
    }

    /// Writes it where something changed.
    pub(crate) fn close(mut self) -> Result<()> {
        if !self.changed {
            return Ok(());
        }
        let mut taken = BTreeSet::new();
        // Of two entries of one file the later one counts.
        self.pages.bundles.reverse();
        self.pages
            .bundles
            .retain(|known| !known.files.is_empty() && known.files.iter().all(|(path, _)| taken.insert(path.clone())));
        self.pages.bundles.reverse();
        // A book that cannot be written costs time and nothing else.
        postcard::to_allocvec(&self.pages).map_or(Ok(()), |bytes| files::put_private(&self.path, &bytes))
    }
}

impl Known {
    fn rows(&self) -> impl Iterator<Item = SessionReport> {
        self.sessions.iter().map(|seen| {
            let key = StreamKey { session: seen.session.clone(), agent: seen.agent.clone() };
            let outcome = if seen.note.is_some() { Outcome::Unchanged } else { Outcome::Empty };
            let note = seen.note.as_ref().map(|(note, _)| note.clone());
            SessionReport::known(key, outcome, note, seen.title.clone(), seen.subagent)
        })
    }
}

/// Whether a file is as it was. Of a database with a log, the file itself says nothing.
fn is_same(path: &Path, known: Fingerprint) -> bool {
    files::fingerprint(path).is_ok_and(|now| now == known) && !has_log(path)
}

/// Whether some of a database stands in the log beside it.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let is_base = |end: &std::ffi::OsStr| matches!(end.to_str(), Some("db" | "vscdb" | "sqlite" | "sqlite3"));
    path.extension().is_some_and(is_base) && std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

fn reason(at: usize) -> &'static str {
    REASONS.get(at).copied().unwrap_or(REASONS[0])
}
