//! The summary on top of a note as an accepted reading tells it.
//!
//! A summary that has no seal is a person's, and stays. What the record gives is kept in the machine state and never holds a
//! reading's words; where it is not kept, a summary that names no reading is what the record gives.

use cru_base::{Result, files};
use cru_note::{Note, frontmatter};
use cru_reading::note::{ReadingNote, path_of, version_of};
use cru_reading::top::{summary_block, told, told_in, untold};
use cru_reading::{Accepted, accepted};
use cru_session::op::Op;
use cru_session::open::open_points;
use cru_session::read;
use cru_session::seal::Seals;
use cru_vault::writer::{Generated, Known, Plan, Writer};
use cru_vault::{State, Vault, VaultPath, seals};
use jiff::Timestamp;

use crate::ids::Ids;

/// Where the summary of a note lies as it was before a reading told it.
fn kept_at(state: &State, session: &str) -> std::path::PathBuf {
    state.dir().join("tops").join(format!("{session}.md"))
}

/// Brings the summary of a note in line with what counts of the readings of its session; why it tells none of them, where one
/// counts. `session` is the key of the note in the machine state, `readings` all of the session.
pub fn refresh(
    (vault, state, now): (&Vault, &State, Timestamp),
    session: &str,
    path: &VaultPath,
    readings: &[&ReadingNote],
) -> Result<Option<&'static str>> {
    // Where what was generated is not kept, the summary is as it was before a reading told it.
    let kept_at = kept_at(state, session);
    let kept = cru_base::files::read_text(&kept_at);
    let mut facts = None;
    let mut why = None;
    let mut plan = |note: &Note, known: &Known| -> Result<Plan> {
        let base = known.base.as_deref().filter(|text| !text.is_empty()).map(|text| Note::parse(Ids::unpack(text).1));
        let generated = base.and_then(|base| Some(summary_block(&base)?.of(base.text()).to_owned()));
        let seals = seals::read(vault, session);
        why = why_untold(note, &seals, readings);
        let changed = change(note, &seals, &[generated.as_deref(), kept.as_deref()], readings);
        facts = changed.as_ref().map(|it| it.facts.clone());
        let generated = changed.as_ref().map(|it| Generated { text: it.new.clone(), all: false });
        let op = changed.map(|it| Op::Replace { phase: None, old: it.own, new: it.new });
        Ok(Plan { ops: op.into_iter().collect(), generated, label: "read".to_owned(), ..Plan::default() })
    };
    Writer::new(vault, state, now).write(session, path, &mut plan)?;
    if let Some(facts) = facts.filter(|facts| kept.as_ref() != Some(facts)) {
        files::put_private(&kept_at, facts.as_bytes())?;
    }
    Ok(why)
}

/// Why the summary of a note does not tell a reading that counts.
fn why_untold(note: &Note, seals: &Seals, readings: &[&ReadingNote]) -> Option<&'static str> {
    let counts = accepted(readings.iter().copied())?;
    match own(note) {
        None => Some("the note has no summary on top"),
        Some(own) if !seals.has_block(&own) => Some("a person wrote or changed the summary on top"),
        Some(_) if !counts.is_of(&read::session(note).0) => Some("the session has gone on since it was read"),
        Some(own) if told(&own, &counts, &[]).is_none() => {
            Some("the reading says neither what was asked nor the outcome")
        }
        Some(_) => None,
    }
}

/// How a summary is to change.
struct ChangedTop {
    /// As it stands in the note.
    own: String,
    /// As the record alone gives it.
    facts: String,
    /// As it is to be.
    new: String,
}

/// How the summary of a note is to change; `None` where it stays, as one that a person has written does. `known` are what the
/// record alone gave, as far as that is known.
fn change(note: &Note, seals: &Seals, known: &[Option<&str>], readings: &[&ReadingNote]) -> Option<ChangedTop> {
    let own = own(note).filter(|own| seals.has_block(own))?;
    let session = read::session(note).0;
    let open = open_points(&session);
    let is_told = |facts: &str| {
        let mut all = readings.iter().filter_map(|it| Accepted::of(it));
        all.any(|it| told(facts, &it, &open).is_some_and(|it| same(&it, &own)))
    };
    let mut known = known.iter().copied().flatten();
    let found = known.find(|facts| same(facts, &own) || is_told(facts)).map(str::to_owned);
    let is_known = found.is_some();
    let facts = found.unwrap_or_else(|| untold(&own).unwrap_or_else(|| own.clone()));
    let now = accepted(readings.iter().copied()).filter(|it| it.is_of(&session));
    let as_told = now.and_then(|it| told(&facts, &it, &open));
    // Where the lines of the record are not known, a summary that says it already has more of them.
    let stands = |new: &String| new.lines().all(|line| own.lines().any(|it| it.trim_end() == line.trim_end()));
    if !is_known && as_told.as_ref().is_some_and(stands) {
        return None;
    }
    let new = as_told.unwrap_or_else(|| facts.clone());
    (!same(&new, &own)).then_some(ChangedTop { own, facts, new })
}

/// What was generated last and what is generated now, each with the summary as it stands in the note and as it is to be; `None`
/// where the record alone says it.
#[derive(Debug, Default)]
pub(crate) struct ToldTops {
    pub(crate) base: Option<Note>,
    pub(crate) new: Option<Note>,
}

impl ToldTops {
    /// Of a note at `path`; `base` and `new` as the record alone gives them.
    pub(crate) fn of(vault: &Vault, path: &VaultPath, note: &Note, base: &Note, new: &Note) -> Self {
        let readings = readings(vault, path, note);
        let Some(own) = own(note).filter(|_| !readings.is_empty()) else { return Self::default() };
        let open = |note: &Note| open_points(&read::session(note).0);
        let as_it_stands = |reading: &ReadingNote| {
            let text = told_in(base.text(), &Accepted::of(reading)?, &open(base))?;
            let block = summary_block(&Note::parse(text.as_str()))?;
            same(block.of(&text), &own).then_some(text)
        };
        let standing = readings.iter().rev().find_map(as_it_stands);
        // What was read is not what is there now.
        let is_same = || {
            let record = |note: &Note| {
                cru_reading::Ledger::of(&read::session(note).0, false, &std::collections::HashMap::new()).note()
            };
            record(base) == record(new)
        };
        let now = accepted(&readings).filter(|it| it.is_of(&read::session(note).0) && is_same());
        let told = now.and_then(|it| told_in(new.text(), &it, &open(new)));
        Self { base: standing.map(Note::parse), new: told.map(Note::parse) }
    }
}

/// The readings of a note, which names the newest of them, by version.
fn readings(vault: &Vault, path: &VaultPath, note: &Note) -> Vec<ReadingNote> {
    let named = note.split().block.and_then(|block| {
        let (values, _) = frontmatter::read(note.text(), &block);
        values.string("reading").map(str::to_owned)
    });
    let Some(named) = named else { return Vec::new() };
    // Versions of a reading that are looked at.
    let newest = version_of(named.trim_start_matches('[').trim_end_matches(']')).min(100);
    let stem = path.stem();
    // A note that was renamed has readings of its older name.
    let name = named.trim_start_matches('[').split(['@', '|', ']']).next().unwrap_or_default().to_owned();
    let read = |version| {
        let path = path_of(&name, version);
        let bytes = vault.read(&VaultPath::new(&path)?).ok()?;
        cru_reading::note::read(&path, &String::from_utf8_lossy(&bytes)).filter(|it| it.head.session == stem)
    };
    (1..=newest).filter_map(read).collect()
}

/// The summary as it stands in a note, with line ends of Unix.
fn own(note: &Note) -> Option<String> {
    Some(summary_block(note)?.of(note.text()).replace("\r\n", "\n"))
}

/// Whether two blocks say the same; blanks at line ends are lost by many editors.
fn same(one: &str, other: &str) -> bool {
    one.lines().map(str::trim_end).eq(other.lines().map(str::trim_end))
}
