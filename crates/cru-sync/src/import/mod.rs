//! Transcripts into notes: find the files, read them in parallel, fold, name, link, write, account for all of it.
//!
//! What is written depends on the transcripts and the vault alone, not on the order in which threads finish. A note
//! that is there gets what its transcript gained and nothing else ([`crate::grow`]); one whose transcript is another
//! than it was is reported and left. Knows no agent; the importer is handed in.

pub mod again;
pub(crate) mod book;
pub mod follow;
mod options;

pub use book::seen_files;
pub use options::{Machine, Options};

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use rayon::prelude::*;

use crate::evidence::store::Store;
use crate::evidence::{keep, patches};
use crate::existing::Existing;
use crate::grow::{Grower, Grown};
use crate::import::book::{Book, Standing};
use crate::plan::imported::{self, ImportedSessions};
use crate::plan::made::{self, Made, MadeNotes};
use crate::plan::{Ground, Old, Plan, Rules, Taken};
use crate::read::bundle::Bundled;
use crate::read::reading::Reading;
use crate::report::{Outcome, Report, SessionReport};
use cru_base::files::Bulk;
use cru_base::{Error, Result, files};
use cru_live::hook::trouble;
use cru_note::Note;
use cru_session::Status;
use cru_session::event::StreamKey;
use cru_session::fold::Draft;
use cru_session::render;
use cru_session::seal::Seals;
use cru_session::source::{Bundle, Importer};
use cru_vault::project::NewProjectNote;
use cru_vault::state::key;
use cru_vault::template::{Kind, Template};
use cru_vault::{Catalog, Vault, VaultPath, seals};

/// Is told how far the work is.
pub trait Watch: Sync {
    /// `total` steps of `what` begin.
    fn begin(&self, what: &str, total: u64);
    /// One of them is done.
    fn step(&self);
    /// Something is odd; the work goes on.
    fn warn(&self, message: &str);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _: &str, _: u64) {}
    fn step(&self) {}
    fn warn(&self, _: &str) {}
}

/// Notes that are rendered before they are written, so that memory stays bounded.
const BATCH: usize = 64;

/// Seconds without a sign of life after which a session that a hook left active is taken for over.
pub(crate) const IDLE: i64 = 3600;

/// Brings the transcripts below `paths` into the vault.
///
/// A file that cannot be read is told in the report and the rest goes on. Errors: a path that does not exist, or a note
/// that could not be written.
pub fn ingest(
    vault: &Vault,
    importer: &Importer,
    paths: &[PathBuf],
    options: &Options,
    watch: &dyn Watch,
) -> Result<Report> {
    let cru_agents::Listed { files, unreadable, others } = cru_agents::list(importer, paths)?;
    let book = options.machine.as_ref().and_then(|machine| Book::open(vault, importer, options, machine));
    if let Some(unread) = book.as_ref().and_then(|book| book.covers(vault, &files)).filter(|_| unreadable.is_empty()) {
        let mut report = Report::new(importer, options.dry_run, unread.sessions, Vec::new(), unread.strangers);
        report.known_files = unread.files;
        report.other_files = others;
        if let Some(machine) = options.machine.as_ref().filter(|_| !options.dry_run) {
            let imported = ImportedSessions::read(vault, importer.host())?;
            list_missing(vault, machine, importer, &imported, &report.sessions, options.restore);
        }
        return Ok(report);
    }
    let mut found = cru_agents::recognised(importer, files)?;
    found.strangers.extend(unreadable.into_iter().map(|path| (path, cru_agents::UNREADABLE)));
    found.others = others;
    ingest_with(vault, importer, found, options, (book, true), watch)
}

/// Brings transcripts that were found into the vault, as [`ingest`] does.
pub fn ingest_found(
    vault: &Vault,
    importer: &Importer,
    found: cru_agents::Found,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Report> {
    let book = options.machine.as_ref().and_then(|machine| Book::open(vault, importer, options, machine));
    ingest_with(vault, importer, found, options, (book, true), watch)
}

/// The same for transcripts that were just written to: nothing of them can be known already.
pub(crate) fn ingest_live(
    vault: &Vault,
    importer: &Importer,
    found: cru_agents::Found,
    options: &Options,
) -> Result<Report> {
    ingest_with(vault, importer, found, options, (None, true), &Unwatched)
}

/// `is_first`: what was written by others meanwhile is read once more.
fn ingest_with(
    vault: &Vault,
    importer: &Importer,
    found: cru_agents::Found,
    options: &Options,
    (mut book, is_first): (Option<Book>, bool),
    watch: &dyn Watch,
) -> Result<Report> {
    let cru_agents::Found { mut bundles, strangers, others } = found;
    let mut known = book.as_ref().map(|book| book.take(vault, &mut bundles)).unwrap_or_default();
    let mut earlier = 0;
    bundles.retain(|bundle| {
        let is_earlier = options.choice.is_earlier(bundle);
        earlier += if is_earlier { bundle.files.len() as u64 } else { 0 };
        !is_earlier
    });
    let catalog = Catalog::read(vault);
    let existing = Existing::of(&catalog.heads, importer.host());
    let machine = options.machine.as_ref();
    let made = machine.map(|machine| MadeNotes::read(&machine.state, importer.host())).transpose()?.unwrap_or_default();
    let imported = machine.map(|_| ImportedSessions::read(vault, importer.host())).transpose()?.unwrap_or_default();
    let listen = options.heard.as_ref().map(|heard| heard.limit());
    let reading = Reading { listen, ..Reading::of(importer, options.fold, &existing) };
    let runs =
        |draft: &Draft| machine.is_some_and(|machine| is_running(vault, &existing, machine, draft, options.live));
    let mut drafts: Vec<Draft> = Vec::new();
    let mut accounts = Vec::new();
    let mut bundle_of: HashMap<StreamKey, usize> = HashMap::new();
    let mut before = Vec::new();
    let mut standings: Vec<Standing> = Vec::new();
    while standings.len() < bundles.len() {
        let fresh = &bundles[standings.len()..];
        before.extend(fresh.iter().map(|bundle| Arc::new(Book::fingerprints(bundle))));
        watch.begin("Reading", fresh.len() as u64);
        let files = &before[standings.len()..];
        let bundled: Vec<Bundled> = (fresh.par_iter().zip(files))
            .map(|(bundle, files)| {
                let mut read = reading.read(bundle, &runs);
                // What is beyond the bound of memory is let go at once.
                if let Some(heard) = &options.heard {
                    for (key, words) in std::mem::take(&mut read.words) {
                        heard.keep(&key, files, words);
                    }
                }
                watch.step();
                read
            })
            .collect();
        for bundle in bundled {
            let index = standings.len();
            for draft in &bundle.drafts {
                bundle_of.entry(draft.key.clone()).or_insert(index);
            }
            let active = |draft: &Draft| draft.session.meta.status == Some(Status::Active);
            let settled = bundle.accounts.iter().all(|read| read.error.is_none()) && !bundle.drafts.iter().any(active);
            standings.push(Standing { settled, rows: Vec::new() });
            drafts.extend(bundle.drafts);
            accounts.extend(bundle.accounts);
        }
        // The note of a session shows those that it started, which may be in other bundles: then it is needed too.
        let parents: HashSet<&StreamKey> = drafts.iter().filter_map(|draft| draft.parent.as_ref()).collect();
        let (needed, rest): (Vec<_>, Vec<_>) =
            known.into_iter().partition(|(_, rows)| rows.iter().any(|row| parents.contains(row.key())));
        known = rest;
        bundles.extend(needed.into_iter().map(|(bundle, _)| bundle));
    }
    // A note whose parent has none yet gets a link once there is one, and one of a session that goes on in another.
    let mut waiting: Vec<usize> = Vec::new();
    for draft in &drafts {
        let parent = draft.parent.as_ref();
        let there = |key: &StreamKey| existing.of_stream(key).is_some() || bundle_of.contains_key(key);
        let next = draft.continued_in.as_ref();
        if [parent, next].into_iter().flatten().any(|other| !there(other)) {
            waiting.extend(bundle_of.get(&draft.key));
        }
    }
    for index in waiting {
        standings[index].settled = false;
    }
    let rules = Rules::of(&vault.config().import, vault.config().channel.as_deref(), &vault.config().zone);
    let left = options.choice.leaves_out(&drafts);
    let ground = Ground {
        vault,
        existing: &existing,
        made: &made,
        imported: &imported,
        rules: &rules,
        left: &left,
        restore: options.restore,
        can_grow: machine.is_some(),
        all: false,
        reattach: options.reattach,
    };
    let Plan { drafts, olds, mut sessions, projects } = Plan::make(&ground, || Taken::of(vault, &catalog), drafts);
    let unsealed = Cell::new(0);
    let grower = |reattach| {
        let Machine { state, now } = machine.filter(|_| !options.dry_run)?;
        let (now, rules, unsealed) = (*now, &rules, &unsealed);
        Some(Grower { vault, state, now, reading, rules, label: "import", reattach, renewal: None, unsealed })
    };
    if !options.dry_run {
        make_projects(vault, &projects)?;
        write(vault, importer, machine, &drafts, &mut sessions, watch)?;
        if let Some(grower) = grower(false) {
            remember(&grower, &drafts, &sessions)?;
        }
    }
    let mut grown = 0;
    if let Some(grower) = grower(options.reattach) {
        watch.begin("Updating", olds.len() as u64);
        let mut stale: Vec<usize> = Vec::new();
        for old in &olds {
            let index = bundle_of.get(&old.draft.key).copied();
            match update(&grower, old, index.and_then(|index| bundles.get(index)), &mut sessions) {
                Some(records) => grown += records,
                None => stale.extend(index.filter(|index| !stale.contains(index))),
            }
            watch.step();
        }
        if is_first && !stale.is_empty() {
            let bundles = stale.into_iter().map(|index| bundles[index].clone()).collect();
            let found = cru_agents::Found { bundles, strangers: Vec::new(), others: 0 };
            let again = ingest_with(vault, importer, found, options, (None, false), watch)?;
            grown += again.new_records;
            for row in again.sessions {
                if let Some(first) = sessions.iter_mut().find(|first| first.key() == row.key()) {
                    *first = row;
                }
            }
        }
    } else {
        let is_grown = |old: &&Old| sessions.get(old.row).is_some_and(|row| row.outcome == Outcome::Updated);
        grown = olds.iter().filter(is_grown).map(|old| old.records).sum();
    }
    if let Some(machine) = machine.filter(|_| !options.dry_run) {
        let known = known.iter().flat_map(|(_, rows)| rows);
        list_missing(vault, machine, importer, &imported, sessions.iter().chain(known), options.restore);
    }
    let store = options.keep.as_ref().filter(|_| !options.dry_run).map(|env| Store::of(vault, env));
    let kept = store.map(|store| keep::all(&store, importer, &existing, &bundles, &accounts, &sessions)).transpose()?;
    if let Some(mut book) = book.take().filter(|_| !options.dry_run) {
        for (row, session) in sessions.iter().enumerate() {
            if let Some(standing) = bundle_of.get(session.key()).and_then(|&index| standings.get_mut(index)) {
                standing.rows.push(row);
            }
        }
        for (files, standing) in before.into_iter().zip(&standings) {
            book.enter(vault, &files, standing, &sessions);
        }
        book.strangers(&strangers);
        book.close()?;
    }
    let known_files = known.iter().map(|(bundle, _)| bundle.files.len() as u64).sum();
    sessions.extend(known.into_iter().flat_map(|(_, rows)| rows));
    let mut report = Report::new(importer, options.dry_run, sessions, accounts, strangers);
    report.known_files = known_files;
    report.kept = kept;
    report.new_records = grown;
    report.unsealed = unsealed.get();
    report.earlier_files = earlier;
    report.other_files = others;
    Ok(report)
}

/// Whether a session still runs, as far as its note and its records tell; `live`: though no hook says so.
fn is_running(vault: &Vault, existing: &Existing<'_>, machine: &Machine, draft: &Draft, live: bool) -> bool {
    let idle = vault.config().session.idle.map(|minutes| match minutes {
        0 => i64::MAX,
        minutes => i64::try_from(minutes).unwrap_or(i64::MAX).saturating_mul(60),
    });
    let head = existing.of_stream(&StreamKey { session: draft.key.session.clone(), agent: None });
    let active = head.is_some_and(|head| head.meta.status == Some(Status::Active));
    let is_recent = |last: Timestamp| machine.now.as_second() - last.as_second() < idle.unwrap_or(IDLE);
    (active || live) && draft.session.meta.ended.is_some_and(is_recent)
}

/// Lists the sessions whose notes were made before there was a list, or by a killed process, or in another vault, and
/// with `restore` those that were forgotten. The notes are what matters: where the vault cannot be written, the next
/// import tries again.
fn list_missing<'a>(
    vault: &Vault,
    machine: &Machine,
    importer: &Importer,
    imported: &ImportedSessions,
    rows: impl IntoIterator<Item = &'a SessionReport>,
    restore: bool,
) {
    let had_note = |row: &&SessionReport| match row.outcome {
        Outcome::Updated | Outcome::Unchanged | Outcome::Deleted | Outcome::Forgotten => true,
        // Without a name somebody else's note is in its place, and its own is still to be made.
        Outcome::Grown => row.note.is_some(),
        _ => false,
    };
    let is_missing = |row: &&SessionReport| {
        had_note(row)
            && (!imported.has(&row.host_session) && !imported.is_forgotten(&row.host_session)
                || (restore && imported.is_forgotten(&row.host_session)))
    };
    let missing: HashSet<&str> = rows.into_iter().filter(is_missing).map(|row| row.host_session.as_str()).collect();
    let mut missing: Vec<&str> = missing.into_iter().collect();
    missing.sort_unstable();
    let _ = imported::enter(vault, &machine.state, machine.now, importer.host(), missing);
}

/// Brings one note up to its draft and says in the report what became of it; how many records that were. `None` where the
/// note is another one than was read.
fn update(grower: &Grower<'_>, old: &Old, bundle: Option<&Bundle>, sessions: &mut [SessionReport]) -> Option<u64> {
    let (Some(row), Some(bundle)) = (sessions.get_mut(old.row), bundle) else { return Some(0) };
    let grew = row.outcome == Outcome::Updated;
    let refused = match grower.grow(old, bundle, &BTreeMap::new()) {
        Ok(Grown::Written) => {
            row.outcome = Outcome::Updated;
            return Some(if grew { old.records } else { 0 });
        }
        Ok(Grown::Same) => {
            row.outcome = if grew { Outcome::Updated } else { Outcome::Unchanged };
            return Some(0);
        }
        Ok(Grown::Older) => {
            (row.outcome, row.detail) = (Outcome::Unchanged, Some("an older copy of the transcript".to_owned()));
            return Some(0);
        }
        Ok(Grown::Partly { missing, changed }) => {
            row.outcome = if changed || grew { Outcome::Updated } else { Outcome::Unchanged };
            let steps = cru_base::text::plural(missing as u64, "step");
            let more = cru_base::text::plural(old.records, "new record");
            row.detail = Some(format!(
                "transcript rewritten; {more}; {steps} of it not in the note: `cru import --reattach` writes them"
            ));
            return Some(if grew { old.records } else { 0 });
        }
        Ok(Grown::Stale) => {
            (row.outcome, row.detail) = (Outcome::Grown, Some(again::STALE.to_owned()));
            return None;
        }
        Ok(Grown::Refused(why)) => why.to_owned(),
        Err(error) => error.to_string(),
    };
    (row.outcome, row.detail) = (Outcome::Grown, Some(refused));
    Some(0)
}

/// Keeps what was generated of the new notes whose transcripts are likely to grow, so that they need not be read twice
/// then, and of those that tell of something which cannot be read again as it was.
fn remember(grower: &Grower<'_>, drafts: &[(usize, Draft)], sessions: &[SessionReport]) -> Result<()> {
    let may_grow = |draft: &Draft| {
        if draft.aside {
            return true;
        }
        let Ok(file) = std::fs::metadata(&draft.transcript) else { return false };
        let written = file.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        // Seconds since a transcript was written to, in which it is likely to grow.
        written.is_none_or(|time| grower.now.as_second() - time.as_second() < (2 * 24 * 3600))
    };
    for (row, draft) in drafts.iter().filter(|(_, draft)| may_grow(draft)) {
        let made = sessions.get(*row).filter(|row| row.outcome == Outcome::Created);
        if let Some(path) = made.and_then(|row| VaultPath::new(row.note.as_ref()?)) {
            grower.remember(draft, &path)?;
        }
    }
    Ok(())
}

/// Makes project notes, before the sessions that link them: a link without its note says that a person deleted it. One that
/// somebody else made meanwhile stays.
pub(crate) fn make_projects(vault: &Vault, projects: &[NewProjectNote]) -> Result<()> {
    for note in projects {
        files::create(&vault.file(&note.path), note.text.as_bytes())?;
    }
    Ok(())
}

/// Renders the named drafts in parallel and makes their files in order.
pub(crate) fn write(
    vault: &Vault,
    importer: &Importer,
    machine: Option<&Machine>,
    drafts: &[(usize, Draft)],
    sessions: &mut [SessionReport],
    watch: &dyn Watch,
) -> Result<()> {
    if drafts.is_empty() {
        return Ok(());
    }
    watch.begin("Writing", drafts.len() as u64);
    let mut made = Vec::new();
    let (session, of_session) = Template::of_or_built_in(vault, Kind::Session);
    let (subagent, of_subagent) = Template::of_or_built_in(vault, Kind::Subagent);
    let mut fault = of_session.or(of_subagent);
    let mut templates = [session, subagent];
    let framed = |draft: &Draft, [session, subagent]: &[Template; 2]| {
        let template = if draft.key.agent.is_some() { subagent } else { session };
        let id = draft.session.meta.session_id.as_deref().unwrap_or_default();
        let generated = Note::parse(render::note(&draft.session));
        let (text, refused) = template.frame_or_note(generated.text().to_owned(), id);
        // Mostly there is no template, and nothing to read again.
        let framed = (text != generated.text()).then(|| Note::parse(text));
        let seals = Seals::first(&generated, framed.as_ref().unwrap_or(&generated));
        (seals, framed.unwrap_or(generated), refused)
    };
    let mut bulk = Bulk::new();
    for batch in drafts.chunks(BATCH) {
        let notes: Vec<(String, Note, Option<Error>)> =
            batch.par_iter().map(|(_, draft)| framed(draft, &templates)).collect();
        // One that no note can be put into is not tried with all the others.
        if notes.iter().all(|(.., refused)| refused.is_some()) {
            templates = [Kind::Session, Kind::Subagent].map(Template::built_in);
        }
        for ((row, draft), (lines, note, refused)) in batch.iter().zip(notes) {
            fault = fault.or(refused);
            // Rows of the plan are those of the report.
            let Some(session) = sessions.get_mut(*row) else { continue };
            let path = session.note.as_ref().and_then(VaultPath::new).map(|path| vault.file(&path));
            // First the proof, then what it is of.
            let is_free = path.as_deref().is_some_and(|path| path.symlink_metadata().is_err());
            if let Some(id) = draft.session.meta.session_id.as_deref().filter(|_| is_free) {
                seals::add(vault, &key(id), &lines)?;
            }
            // The name was free when the vault was walked; whoever took it since keeps it.
            if !path.as_deref().map_or(Ok(false), |path| bulk.create(path, note.bytes()))? {
                session.outcome = Outcome::Grown;
                let name = session.note.take().unwrap_or_default();
                session.detail = Some(format!("{name} was made by another process meanwhile; run it again"));
            } else if let Some(note) = session.note.clone() {
                let id = draft.session.meta.session_id.clone().unwrap_or_default();
                let host_session = draft.session.meta.host_session.clone().unwrap_or_default();
                made.push(Made { host: importer.host().to_owned(), host_session, session: id, note });
            }
            watch.step();
        }
    }
    bulk.finish()?;
    if let Some(fault) = fault {
        let message = format!("{fault}; the built-in template was used");
        watch.warn(&message);
        if let Some(machine) = machine {
            let _ = trouble::note(&machine.state.hook_log(), machine.now, "template", &message);
        }
    }
    let is_made = |row: &usize| sessions.get(*row).is_some_and(|session| session.outcome == Outcome::Created);
    drafts.par_iter().filter(|(row, _)| is_made(row)).try_for_each(|(_, draft)| {
        let id = draft.session.meta.session_id.as_deref().unwrap_or_default();
        patches::append(vault, id, &draft.patches, |step| step).map(drop)
    })?;
    let Some(machine) = machine else { return Ok(()) };
    made::remember(&machine.state, &made)?;
    let sessions = made.iter().map(|made| made.host_session.as_str());
    imported::enter(vault, &machine.state, machine.now, importer.host(), sessions)
}
