//! From transcripts to notes: read, fold, name, link, write.
//!
//! Knows no agent. Transcripts are read in parallel and named together, in order of their start, so the result depends
//! on nothing but the transcripts and the notes that are there. A note that exists is never written here.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use crate::base::{Result, files, text};
use crate::import::{self, Found};
use crate::session::cursor::Cursor;
use crate::session::event::{Event, StreamKey};
use crate::session::fold::{Draft, Fold, Linked, Options};
use crate::session::source::{Account, Bundle, Consumed, Header, Importer, Sink};
use crate::session::{render, time};
use crate::vault::{Catalog, Head, Vault};

/// What an import may be told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// Write nothing.
    pub dry_run: bool,
    /// How notes are made.
    pub fold: Options,
}

/// What became of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It has a new note.
    Created,
    /// Its note has all of it.
    Unchanged,
    /// Its transcript is another one than its note was made from; the note was left alone.
    Grown,
    /// It holds no request, or no answer.
    Empty,
    /// The vault's settings leave it out.
    Excluded,
}

/// One session of the import.
#[derive(Clone, Debug, Serialize)]
pub struct SessionReport {
    /// The host's id, as in `host_session`.
    pub host_session: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Its note, relative to the vault.
    pub note: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Whether a parent agent started it.
    pub subagent: bool,
}

/// One file of the import.
#[derive(Clone, Debug, Serialize)]
pub struct FileReport {
    /// Where it is.
    pub path: PathBuf,
    /// What became of its records.
    pub account: Account,
    /// Host ids of the sessions it holds records of.
    pub sessions: Vec<String>,
    /// Why no note was made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The account of an import.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ingested {
    /// Every file, in order.
    pub files: Vec<FileReport>,
    /// Every session, in order of start.
    pub sessions: Vec<SessionReport>,
}

impl Ingested {
    /// How many sessions had that outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.sessions.iter().filter(|session| session.outcome == outcome).count() as u64
    }

    /// The accounts of all files together.
    pub fn total(&self) -> Account {
        let mut total = Account::default();
        for file in &self.files {
            total.add(&file.account);
        }
        total
    }
}

/// Imports what `importer` finds under `paths`. `step` is told of every file that was read.
pub fn ingest(
    vault: &Vault,
    importer: &Importer,
    paths: &[PathBuf],
    plan: Plan,
    found: impl FnOnce(usize),
    step: &(dyn Fn(&Path) + Sync),
) -> Result<Ingested> {
    let Found { bundles, strangers } = import::search(importer, paths)?;
    found(bundles.iter().map(|bundle| bundle.files.len()).sum());
    let read: Vec<Reading> = bundles.par_iter().map(|bundle| read(importer, bundle, plan.fold, step)).collect();
    let mut ingested = Ingested::default();
    let mut drafts = Vec::new();
    for reading in read {
        ingested.files.extend(reading.files);
        drafts.extend(reading.drafts);
    }
    for (path, reason) in strangers {
        let reason = Some(reason.to_owned());
        ingested.files.push(FileReport { path, account: Account::default(), sessions: Vec::new(), reason });
    }
    ingested.files.sort_by(|a, b| a.path.cmp(&b.path));
    drafts.sort_by(|a, b| (a.start(), &a.key).cmp(&(b.start(), &b.key)));
    let catalog = Catalog::read(vault);
    let mut desk = Desk::new(vault, importer, &catalog);
    desk.judge(drafts);
    desk.name();
    desk.link();
    ingested.sessions = desk.write(plan.dry_run)?;
    explain(&mut ingested);
    Ok(ingested)
}

/// Says of each file that gave no note why.
fn explain(ingested: &mut Ingested) {
    let outcomes: HashMap<&str, Outcome> =
        ingested.sessions.iter().map(|session| (session.host_session.as_str(), session.outcome)).collect();
    for file in ingested.files.iter_mut().filter(|file| file.reason.is_none()) {
        let own: BTreeSet<Outcome> = file.sessions.iter().filter_map(|id| outcomes.get(id.as_str()).copied()).collect();
        file.reason = match own.first() {
            Some(Outcome::Created | Outcome::Unchanged | Outcome::Grown) => None,
            Some(Outcome::Excluded) => Some("left out by the settings of the vault".to_owned()),
            Some(Outcome::Empty) => Some("no request or no answer in it".to_owned()),
            None => {
                let reason = file.account.skipped.iter().max_by_key(|(_, count)| **count).map(|(reason, _)| *reason);
                Some(reason.unwrap_or("nothing in it").to_owned())
            }
        };
    }
}

/// What one bundle gave.
struct Reading {
    files: Vec<FileReport>,
    drafts: Vec<Draft>,
}

fn read(importer: &Importer, bundle: &Bundle, options: Options, step: &(dyn Fn(&Path) + Sync)) -> Reading {
    let mut collector = Collector {
        host: importer.host,
        options,
        folds: BTreeMap::new(),
        drafts: Vec::new(),
        files: Vec::new(),
        touched: BTreeSet::new(),
        step,
    };
    let result = (importer.read)(bundle, &mut collector);
    let Collector { mut files, drafts, .. } = collector;
    match result {
        Ok(()) => Reading { files, drafts },
        // Half of a session would be a wrong note: the whole bundle waits for the next run.
        Err(error) => {
            let read: HashSet<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
            let missing = bundle.files.iter().filter(|path| !read.contains(*path)).cloned();
            files.extend(missing.map(|path| FileReport {
                path,
                account: Account::default(),
                sessions: Vec::new(),
                reason: None,
            }));
            for file in &mut files {
                file.reason = Some(error.to_string());
            }
            Reading { files, drafts: Vec::new() }
        }
    }
}

struct Collector<'a> {
    host: &'static str,
    options: Options,
    folds: BTreeMap<StreamKey, Fold>,
    drafts: Vec<Draft>,
    files: Vec<FileReport>,
    /// Streams that the current file had records of.
    touched: BTreeSet<String>,
    step: &'a (dyn Fn(&Path) + Sync),
}

impl Sink for Collector<'_> {
    fn open(&mut self, header: Header) {
        self.touched.insert(header.key.to_string());
        let (host, options) = (self.host, self.options);
        self.folds.entry(header.key.clone()).or_insert_with(|| Fold::new(header, host, options));
    }

    fn event(&mut self, key: &StreamKey, event: Event<'_>) {
        if let Some(fold) = self.folds.get_mut(key) {
            fold.event(event);
        }
    }

    fn close(&mut self, key: &StreamKey, consumed: Consumed) {
        if let Some(fold) = self.folds.remove(key) {
            self.drafts.push(fold.finish(consumed));
        }
    }

    fn account(&mut self, file: &Path, account: Account) {
        (self.step)(file);
        let sessions = std::mem::take(&mut self.touched).into_iter().collect();
        self.files.push(FileReport { path: file.to_owned(), account, sessions, reason: None });
    }
}

/// A draft with what is decided about it.
struct Case {
    draft: Draft,
    outcome: Outcome,
    /// File stem of its note.
    name: Option<String>,
    /// Path of its note in the vault.
    path: Option<String>,
}

/// Where drafts become notes.
struct Desk<'a> {
    vault: &'a Vault,
    importer: &'a Importer,
    /// Notes that are there, by host id.
    notes: HashMap<String, &'a Head>,
    /// File stems that are taken, in lower case: file systems that ignore case must not lose a note.
    taken: HashSet<String>,
    cases: Vec<Case>,
}

impl<'a> Desk<'a> {
    fn new(vault: &'a Vault, importer: &'a Importer, catalog: &'a Catalog) -> Self {
        let mut notes = HashMap::new();
        for head in catalog.sessions() {
            let of_host = head.meta.host.as_deref().is_none_or(|host| host == importer.host);
            if let Some(id) = head.meta.host_session.as_ref().filter(|_| of_host) {
                notes.entry(id.clone()).or_insert(head);
            }
        }
        let taken = catalog.heads.iter().map(|head| head.path.stem().to_lowercase()).collect();
        Self { vault, importer, notes, taken, cases: Vec::new() }
    }

    fn judge(&mut self, drafts: Vec<Draft>) {
        for draft in drafts {
            let note = self.notes.get(&draft.key.to_string()).copied();
            let outcome = match note {
                Some(head) => {
                    let written = head.meta.cursor.as_deref().and_then(Cursor::parse);
                    let now = Cursor::first(&draft.consumed);
                    let same = written.is_some_and(|written| written.same_records(&now));
                    if same { Outcome::Unchanged } else { Outcome::Grown }
                }
                None if draft.empty => Outcome::Empty,
                None if self.is_excluded(&draft) => Outcome::Excluded,
                None => Outcome::Created,
            };
            let name = note.map(|head| head.path.stem().into_owned());
            let path = note.map(|head| head.path.text().into_owned());
            self.cases.push(Case { draft, outcome, name, path });
        }
    }

    fn is_excluded(&self, draft: &Draft) -> bool {
        let meta = &draft.session.meta;
        self.vault.config().import.exclude.iter().any(|wanted| {
            let id = wanted == &draft.key.session || *wanted == draft.key.to_string();
            let glob = globset::Glob::new(wanted).map(|glob| glob.compile_matcher());
            id || glob.is_ok_and(|glob| meta.project.as_deref().is_some_and(|project| glob.is_match(project)))
        })
    }

    /// Names the new ones: sessions first, then their sub-agents after them.
    fn name(&mut self) {
        let mut names: HashMap<StreamKey, String> =
            self.cases.iter().filter_map(|case| Some((case.draft.key.clone(), case.name.clone()?))).collect();
        // A sub-agent may itself have sub-agents; each round names those whose parent has a name.
        let mut last = false;
        loop {
            let mut named = 0;
            for index in 0..self.cases.len() {
                let case = &self.cases[index];
                if case.outcome != Outcome::Created || case.name.is_some() {
                    continue;
                }
                let parent = case.draft.parent.as_ref().filter(|_| case.draft.key.agent.is_some());
                let base = match parent {
                    None => own_name(&case.draft),
                    Some(parent) => match names.get(parent) {
                        Some(parent) => format!("{parent}-{}", agent_name(&case.draft)),
                        None if last => own_name(&case.draft),
                        None => continue,
                    },
                };
                let name = self.free(&base);
                names.insert(self.cases[index].draft.key.clone(), name.clone());
                self.cases[index].name = Some(name);
                named += 1;
            }
            if named == 0 && last {
                return;
            }
            last = named == 0;
        }
    }

    /// `base`, or with `-2`, `-3` where it is taken.
    fn free(&mut self, base: &str) -> String {
        let is_free = |name: &str, desk: &Self| {
            !desk.taken.contains(&name.to_lowercase()) && !desk.vault.sessions_dir().join(format!("{name}.md")).exists()
        };
        let mut name = base.to_owned();
        let mut number = 2_u64;
        while !is_free(&name, self) {
            name = format!("{base}-{number}");
            number += 1;
        }
        self.taken.insert(name.to_lowercase());
        name
    }

    /// Links parents and children that both have a note, whether old or new.
    fn link(&mut self) {
        let names: HashMap<StreamKey, String> = self
            .cases
            .iter()
            .filter(|case| !matches!(case.outcome, Outcome::Empty | Outcome::Excluded))
            .filter_map(|case| Some((case.draft.key.clone(), case.name.clone()?)))
            .collect();
        let mut children: BTreeMap<StreamKey, Vec<(StreamKey, Linked)>> = BTreeMap::new();
        for case in &self.cases {
            let (Some(note), Some(parent)) = (names.get(&case.draft.key), &case.draft.parent) else { continue };
            let meta = &case.draft.session.meta;
            let linked = Linked {
                note: note.clone(),
                agent: meta.participants.first().cloned(),
                model: meta.model.clone(),
                tokens: meta.tokens_used,
            };
            children.entry(parent.clone()).or_default().push((case.draft.key.clone(), linked));
        }
        for case in self.cases.iter_mut().filter(|case| case.outcome == Outcome::Created) {
            if let Some(name) = &case.name {
                case.draft.name(name);
            }
            let parent = case.draft.parent.as_ref();
            let of_vault = |key: &StreamKey| self.notes.get(&key.to_string()).map(|head| head.path.stem().into_owned());
            if let Some(parent) = parent.and_then(|parent| names.get(parent).cloned().or_else(|| of_vault(parent))) {
                case.draft.link_parent(&parent);
            }
            for (key, linked) in children.get(&case.draft.key).into_iter().flatten() {
                case.draft.link_child(key, linked);
            }
        }
    }

    fn write(self, dry_run: bool) -> Result<Vec<SessionReport>> {
        let config = &self.vault.config().import;
        let dir = self.vault.sessions_dir();
        let texts: Vec<Option<String>> = self
            .cases
            .par_iter()
            .map(|case| {
                (case.outcome == Outcome::Created && !dry_run).then(|| {
                    let mut session = case.draft.session.clone();
                    if let Some(channel) = &config.channel {
                        session.meta.channel = Some(channel.clone());
                        session.phases.iter_mut().for_each(|phase| phase.channel = Some(channel.clone()));
                    }
                    render::note(&session)
                })
            })
            .collect();
        let mut bulk = files::Bulk::new();
        let mut reports = Vec::new();
        for (case, text) in self.cases.into_iter().zip(texts) {
            let mut path = case.path;
            if let (Outcome::Created, Some(name)) = (case.outcome, &case.name) {
                let file = dir.join(format!("{name}.md"));
                if let Some(text) = text
                    && !bulk.create(&file, text.as_bytes())?
                {
                    // Somebody made a note of that name since we looked; theirs stays, ours comes with the next run.
                    return Err(crate::base::Error::Changed { path: file });
                }
                path = self.vault.relative(&file).map(|path| path.text().into_owned());
            }
            reports.push(SessionReport {
                host_session: case.draft.key.to_string(),
                outcome: case.outcome,
                note: path,
                title: case.draft.session.meta.title.clone(),
                subagent: case.draft.key.agent.is_some(),
            });
        }
        bulk.finish()?;
        let _ = self.importer;
        Ok(reports)
    }
}

/// `2026-11-20-refresh-tokens`.
fn own_name(draft: &Draft) -> String {
    match draft.start() {
        Some(start) => format!("{}-{}", time::date(start), draft.slug),
        None => draft.slug.clone(),
    }
}

fn agent_name(draft: &Draft) -> String {
    let slug = draft.agent.as_ref().map(|agent| text::slug(&agent.name, 4)).unwrap_or_default();
    if slug.is_empty() { "agent".to_owned() } else { slug }
}
