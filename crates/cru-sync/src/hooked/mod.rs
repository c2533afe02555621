//! One session of a host whose hooks are installed, brought into its notes.
//!
//! Its transcript is read by the importer as always, and what hooks saw beside it is joined by the host's ids. Where the
//! transcript cannot be read, what the hooks told takes its place; a later flush completes the note from the transcript.
//! Looks at the notes of this session alone: the vault is walked only when a note is to be made or was moved.

mod entries;
mod handover;
pub(crate) mod journal;

pub use journal::{HookLine, Hooked};

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use self::journal::{is_untold, keys, last_told};
use crate::existing::Existing;
use crate::grow::{Grower, Grown};
use crate::import::book::Book;
use crate::import::{Machine, Unwatched, make_projects, write};
use crate::plan::imported::ImportedSessions;
use crate::plan::made::MadeNotes;
use crate::plan::{Ground, Plan, Rules, Taken};
use crate::read::heard::Heard;
use crate::read::hook_facts::HookFacts;
use crate::read::reading::Reading;
use crate::report::{Outcome, SessionReport};
use crate::untold;
use cru_base::files::Fingerprint;
use cru_base::{Env, Error, Result};
use cru_live::hook::called;
use cru_live::policy;
use cru_live::status;
use cru_live::turn::Turn;
use cru_session::fold::Draft;
use cru_session::source::{Bundle, Hook, Importer};
use cru_session::{Meta, fold};
use cru_vault::state::key;
use cru_vault::{Catalog, Head, Journal, State, Vault, VaultPath, Writer};

/// How long nothing was told where a journal that is in its note is emptied.
const QUIET: SignedDuration = SignedDuration::from_mins(10);

/// How long a prompt has no answer where it gets its note without one.
const UNANSWERED: SignedDuration = SignedDuration::from_secs(policy::LATEST);

/// Bytes of a session's transcripts that are held in memory while they are brought into its notes: they are looked at
/// several times, and are to be read once.
const HELD: u64 = 64 << 20;

/// What is to be done behind a round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Done,
    /// Look at the notes once more: they were just made, and their journal is to be consumed as well.
    Look,
    /// Read the transcripts once more: a note has come further than they were.
    Read,
}

/// What became of it.
#[derive(Clone, Debug, Default)]
pub struct Synced {
    /// Every note of the session and its sub-agents.
    pub notes: Vec<SessionReport>,
    /// Records that notes which were there got.
    pub records: u64,
    /// Whether the transcript could be read.
    pub from_transcript: bool,
}

impl Synced {
    /// Counts what rounds before this one did: a note that they made or changed is there when it is looked at again.
    fn add(&mut self, before: &Self) {
        self.records += before.records;
        let did = |row: &&SessionReport| matches!(row.outcome, Outcome::Created | Outcome::Updated);
        for earlier in before.notes.iter().filter(did) {
            let same = self.notes.iter_mut().find(|row| row.key() == earlier.key());
            if let Some(row) = same.filter(|row| matches!(row.outcome, Outcome::Unchanged | Outcome::Updated)) {
                row.outcome = earlier.outcome;
            }
        }
    }
}

/// Since when nothing happened in an active session that the next flush pauses or closes for that; `None` where it goes on.
/// `newest` is when something last happened, as far as the note says it.
pub fn idle_since(vault: &Vault, env: &Env, meta: &Meta, newest: Option<Timestamp>) -> Option<Timestamp> {
    let is_due = |last| status::due(meta, last, env.now(), vault.config().session.idle);
    // Journals are read of sessions alone that are idle by their notes.
    if !is_due(newest) {
        return None;
    }
    let told = last_told(&State::there_or_not(vault, env), meta).ok().flatten();
    newest.max(told).max(meta.started).filter(|last| is_due(Some(*last)))
}

/// Brings every session with hooks into its notes, or those that `names` names: by host session, or by the `session_id`
/// of their note; each with what became of it, `None` where there was nothing to do. Whoever writes one now is waited for. What
/// fails for one session leaves the others alone.
pub fn flush_hooked(
    vault: &Vault,
    state: &State,
    env: &Env,
    names: Option<&[&str]>,
    heard: Option<&Heard>,
) -> Result<Vec<(String, Result<Option<Synced>>)>> {
    let keys = keys(state, names)?;
    let flushed = keys.into_iter().filter_map(|key| match flush_one(vault, state, env, &key, heard) {
        Ok(Some(flushed)) => Some((flushed.0, Ok(flushed.1))),
        Ok(None) => None,
        Err(error) => Some((key, Err(error))),
    });
    Ok(flushed.collect())
}

/// Brings one session into its notes where something waits. Nothing where the journal tells of no session.
fn flush_one(
    vault: &Vault,
    state: &State,
    env: &Env,
    key: &str,
    heard: Option<&Heard>,
) -> Result<Option<(String, Option<Synced>)>> {
    let _turn = Turn::take(state, key)?;
    let Some(hooked) = Hooked::of_journal(&Journal::at(state.journal(key)))? else { return Ok(None) };
    let done = is_consumed(vault, state, &hooked)?;
    let synced = if done { None } else { Some(sync_one(vault, state, env, &hooked, heard)?) };
    if synced.as_ref().is_some_and(|synced| synced.from_transcript) {
        entries::forget(state, key)?;
    }
    if let Some(last) = hooked.told.iter().rev().find(|told| !is_untold(&told.entry)) {
        called::remember(state, &hooked.host, last.time)?;
    }
    // What is in the note is not kept twice: at once behind the end of a session, else when it is quiet.
    if done || is_consumed(vault, state, &hooked)? {
        let age = if hooked.over { SignedDuration::ZERO } else { QUIET };
        untold::remember(state, key, &hooked)?;
        Journal::at(state.journal(key)).compact(&hooked.mark, age, env.now())?;
    }
    Ok(Some((hooked.session, synced)))
}

/// A session whose hooks told what its note does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingSession {
    /// The `session_id` of its note; the host's id where it has none.
    pub session: String,
    /// The host's id.
    pub host_session: String,
    /// The name of its journal.
    pub key: String,
    /// How many entries wait.
    pub entries: usize,
    /// Whether a process writes them now.
    pub is_written: bool,
}

/// The sessions whose hooks told what their notes do not have yet. Writes nothing.
pub fn waiting(vault: &Vault, state: &State) -> Result<Vec<WaitingSession>> {
    let mut found = Vec::new();
    for name in keys(state, None)? {
        let journal = Journal::at(state.journal(&name));
        let Some(hooked) = Hooked::of_journal(&journal)? else { continue };
        let made = MadeNotes::read(state, &hooked.host)?;
        let mark = match made.of(&hooked.session) {
            Some(made) => Writer::new(vault, state, Timestamp::default()).peek(&key(&made.session))?.consumed,
            None => BTreeMap::new(),
        };
        let entries = journal.read(mark.get(&name))?.entries.len();
        if entries > 0 {
            let host_session = hooked.session;
            let session = made.of(&host_session).map_or_else(|| host_session.clone(), |made| made.session.clone());
            let is_written = Turn::is_taken(state, &name);
            found.push(WaitingSession { session, host_session, key: name, entries, is_written });
        }
    }
    Ok(found)
}

/// Whether the session's note has all that the journal holds.
fn is_consumed(vault: &Vault, state: &State, hooked: &Hooked) -> Result<bool> {
    let made = MadeNotes::read(state, &hooked.host)?;
    let Some(made) = made.of(&hooked.session) else { return Ok(false) };
    let known = Writer::new(vault, state, Timestamp::default()).peek(&key(&made.session))?;
    Ok(known.consumed.get(&Hooked::key(&hooked.host, &hooked.session)) == Some(&hooked.mark))
}

/// Brings one session into its notes; `heard` keeps what its calls say for the index.
pub fn sync_one(vault: &Vault, state: &State, env: &Env, hooked: &Hooked, heard: Option<&Heard>) -> Result<Synced> {
    let importer = cru_agents::of_host(&hooked.host)
        .ok_or_else(|| Error::usage(format!("no importer reads what `{}` writes", hooked.host)))?;
    let mut held = Held::read(state, importer, hooked)?;
    let mut before = Synced::default();
    for round in 1.. {
        let (mut synced, next) = once(vault, state, env, importer, hooked, &held, heard.filter(|_| round == 1))?;
        synced.add(&before);
        // How often a note is read again that somebody else wrote meanwhile.
        if next == Next::Done || round == 4 {
            return Ok(Synced { from_transcript: held.from_transcript, ..synced });
        }
        if next == Next::Read {
            held = Held::read(state, importer, hooked)?;
        }
        before = synced;
    }
    Ok(Synced::default())
}

fn once(
    vault: &Vault,
    state: &State,
    env: &Env,
    importer: &Importer,
    hooked: &Hooked,
    held: &Held,
    heard: Option<&Heard>,
) -> Result<(Synced, Next)> {
    let made = MadeNotes::read(state, importer.host())?;
    let imported = ImportedSessions::read(vault, importer.host())?;
    let known = known_heads(vault, &made, hooked);
    let catalog = known.is_none().then(|| Catalog::read(vault));
    let heads = known.as_deref().or(catalog.as_ref().map(|catalog| catalog.heads.as_slice())).unwrap_or_default();
    let existing = Existing::of(heads, importer.host());
    let facts = HookFacts::of(hooked.told.iter().map(|told| &told.entry));
    let config = &vault.config().import;
    let patches = config.keep_evidence.keeps_writes();
    let fold = fold::Options { level: config.detail, patches, ..fold::Options::default() };
    let reading =
        Reading { facts: Some(&facts), listen: heard.map(Heard::limit), ..Reading::of(importer, fold, &existing) };
    let mut bundled = reading.read(&held.bundle, &|_| !hooked.over);
    if let Some(heard) = heard {
        for (key, words) in std::mem::take(&mut bundled.words) {
            heard.keep(&key, &held.files, words);
        }
    }
    // A prompt that nobody has answered for so long is kept, whatever becomes of the session.
    let is_late = |told: &HookLine| env.now().duration_since(told.time).abs() >= UNANSWERED;
    if hooked.told.last().is_some_and(is_late) {
        let has_words = |draft: &&mut Draft| draft.key.agent.is_none() && !draft.session.phases.is_empty();
        bundled.drafts.iter_mut().filter(has_words).for_each(|draft| draft.empty = false);
    }
    let before = handover::before(vault, hooked);
    if let Some(before) = &before {
        bundled.drafts.iter_mut().filter(|draft| draft.key.agent.is_none()).for_each(|draft| before.link(draft));
    }
    let rules = Rules::of(&vault.config().import, vault.config().channel.as_deref(), &vault.config().zone);
    let left = HashMap::new();
    let ground = Ground {
        vault,
        existing: &existing,
        made: &made,
        imported: &imported,
        rules: &rules,
        left: &left,
        restore: false,
        can_grow: true,
        all: true,
        reattach: false,
    };
    let taken = || match &catalog {
        Some(catalog) => Taken::of(vault, catalog),
        None => Taken::of(vault, &Catalog::read(vault)),
    };
    let Plan { drafts, olds, mut sessions, projects } = Plan::make(&ground, taken, bundled.drafts);
    let machine = Machine { state: state.clone(), now: env.now() };
    make_projects(vault, &projects)?;
    write(vault, importer, Some(&machine), &drafts, &mut sessions, &Unwatched)?;
    if let Some(before) = before {
        let main = drafts.iter().map(|(row, draft)| (sessions.get(*row), draft));
        let made = main.filter(|(row, _)| row.is_some_and(|row| row.outcome == Outcome::Created));
        for (_, draft) in made.filter(|(_, draft)| draft.key.agent.is_none()) {
            before.tell(draft, &Writer::new(vault, state, machine.now))?;
        }
    }
    let grower = Grower {
        vault,
        state,
        now: machine.now,
        reading,
        rules: &rules,
        label: "flush",
        reattach: false,
        renewal: None,
        unsealed: &Cell::new(0),
    };
    let mut synced = Synced::default();
    let made = sessions.iter().any(|row| row.outcome == Outcome::Created);
    let mut next = if made { Next::Look } else { Next::Done };
    let own = BTreeMap::from([(Hooked::key(&hooked.host, &hooked.session), hooked.mark.clone())]);
    for old in &olds {
        let Some(row) = sessions.get_mut(old.row) else { continue };
        let consumed = if old.draft.key.agent.is_none() { own.clone() } else { BTreeMap::new() };
        match grower.grow(old, &held.bundle, &consumed)? {
            Grown::Written | Grown::Partly { .. } => {
                synced.records += old.records;
                row.outcome = Outcome::Updated;
            }
            Grown::Same | Grown::Older => row.outcome = Outcome::Unchanged,
            Grown::Stale => next = Next::Read,
            Grown::Refused(why) => (row.outcome, row.detail) = (Outcome::Grown, Some(why.to_owned())),
        }
    }
    synced.notes = sessions;
    Ok((synced, next))
}

/// The heads of the session's notes where all that were made are where they were made; `None` where the vault must be
/// walked.
fn known_heads(vault: &Vault, made: &MadeNotes, hooked: &Hooked) -> Option<Vec<Head>> {
    made.of(&hooked.session)?;
    let mut heads = Vec::new();
    for made in made.family(&hooked.session) {
        let head = Head::read(vault, VaultPath::new(&made.note)?);
        if head.meta.host_session.as_deref() != Some(made.host_session.as_str()) {
            return None;
        }
        heads.push(head);
    }
    heads.sort_by(|a, b| a.path.cmp(&b.path));
    Some(heads)
}

/// The files of a session, as they were at one moment.
struct Held {
    bundle: Bundle,
    /// Whether they are its transcript.
    from_transcript: bool,
    /// As they were before they were read.
    files: Arc<Vec<(PathBuf, Fingerprint)>>,
}

impl Held {
    fn read(state: &State, importer: &Importer, hooked: &Hooked) -> Result<Self> {
        let (mut bundle, from_transcript) = bundle(state, importer, hooked)?;
        let files = Arc::new(Book::fingerprints(&bundle));
        bundle.hold(HELD);
        Ok(Self { bundle, from_transcript, files })
    }
}

/// The files of the session; whether they are its transcript.
fn bundle(state: &State, importer: &Importer, hooked: &Hooked) -> Result<(Bundle, bool)> {
    if let Some(path) = hooked.transcript.as_deref().filter(|path| cru_agents::is_transcript(importer, path)) {
        let bundles = (importer.bundle)((importer.beside)(path))?;
        let own = bundles.into_iter().find(|bundle| bundle.files.iter().any(|file| file == path));
        return Ok((own.unwrap_or_else(|| Bundle::of(vec![path.to_owned()])), true));
    }
    let Some(convert) = importer.hooked else { return Ok((Bundle::default(), false)) };
    let told = entries::keep(state, &Hooked::key(&hooked.host, &hooked.session), &hooked.told)?;
    let hooks: Vec<Hook<'_>> = told
        .iter()
        .map(|told| Hook { id: &told.id, time: told.time, event: &told.entry.event, input: &told.entry.input })
        .collect();
    let name = || PathBuf::from(format!("{}.jsonl", key(&hooked.session)));
    let path = hooked.transcript.clone().unwrap_or_else(name);
    let pages = convert(&path, &hooks);
    let files = pages.iter().map(|(path, _)| path.clone()).collect();
    Ok((Bundle { files, memory: pages.into_iter().collect() }, false))
}
