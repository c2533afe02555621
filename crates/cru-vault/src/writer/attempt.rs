//! One attempt at a write, from the bytes on disk to the bytes that replace them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, tz::TimeZone};
use serde_json::Value as Json;

use super::apply::{Refusal, Text};
use super::disk::{Disk, hash};
use super::displaced::{self, Gained, Kept, Merge};
use super::foreign;
use super::heal::{self, Todo};
use super::{Known, Plan, Writer, Written, cursor, keep};
use crate::VaultPath;
use crate::journal::Journal;
use crate::operations::{Base, Operations, Record, Undo, WrittenOperation};
use crate::{seals, state};
use cru_base::files::{Keep, Prepared, Stable};
use cru_base::{Error, Result, files};
use cru_note::Note;
use cru_note::frontmatter::{self, Values};
use cru_session::cursor::Cursor;
use cru_session::op::{Done, Mode, Op, Outcome};

/// How old the newest entry of a consumed journal is when the file goes: an old buffer that is saved within that time
/// finds its entries still there.
const SETTLED: SignedDuration = SignedDuration::from_mins(10);

/// The frontmatter of a note.
fn values_of(bytes: &[u8]) -> Values {
    let text = String::from_utf8_lossy(bytes);
    let block = frontmatter::split(&text).block;
    block.map(|bounds| frontmatter::read(&text, &bounds).0).unwrap_or_default()
}

/// Properties that say how a session stands, which commands keep up to date.
const STATES: [&str; 5] = ["status", "ended", "resume_point", "tokens_used", "cost_usd"];

/// How often a note that is not there is looked for: an editor may be about to put its new text there.
const LOOKS: u32 = 4;

/// How long a text of others must not change that looks as if its save went on, and how often that is looked at.
const REST_BETWEEN_LOOKS: Duration = if cfg!(test) { Duration::from_millis(1) } else { Duration::from_millis(40) };
const MOST_LOOKS_AT_REST: u32 = 25;

/// What to write, given the note, what is known, and the log.
pub(super) type Wish<'j> = &'j mut dyn FnMut(&Note, &Known, &Operations) -> Result<Job>;

/// A plan and what is new in it.
#[derive(Debug, Default)]
pub(super) struct Job {
    /// Without its operations.
    pub(super) plan: Plan,
    /// In order.
    pub(super) new: Vec<New>,
    /// Whether nothing is to be written.
    pub(super) dry: bool,
}

/// Something that was not done before.
#[derive(Debug)]
pub(super) enum New {
    /// An operation.
    Op(Op),
    /// Something is taken back.
    Undo(Undo),
}

/// What became of a displaced file.
#[derive(Debug)]
pub(super) enum Brought {
    /// None has anything new.
    Nothing,
    /// What it gained is in the note, or is tried again.
    Merged,
    /// It was copied to this place.
    Copied(PathBuf),
}

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum Step {
    /// It is written, or there was nothing to write.
    Done(Written),
    /// Somebody else was faster; what was to be written is in the log.
    Refused,
}

/// A displaced file that is brought in by this attempt.
struct Bringing<'m> {
    gained: &'m Gained,
    merge: &'m Merge,
    /// Hash of the note that this was decided for.
    disk: &'m str,
}

/// The attempts at one write.
#[derive(Debug)]
pub(super) struct WriteAttempts<'a> {
    writer: &'a Writer<'a>,
    key: &'a str,
    note: &'a VaultPath,
    path: PathBuf,
    log: Operations,
    /// Ids of what this call wants written, over all attempts.
    mine: Vec<String>,
    /// Whether a replacement was refused: the newest record is then of this call, and was not done.
    refused: bool,
    label: String,
    /// The bytes that the last write made.
    written_bytes: Vec<u8>,
    /// What revisions of this state are marked with.
    writer_id: String,
}

impl<'a> WriteAttempts<'a> {
    pub(super) fn new(writer: &'a Writer<'a>, key: &'a str, note: &'a VaultPath, path: PathBuf) -> Self {
        let log = Operations::at(writer.state.operations(key));
        let (mine, refused, label) = (Vec::new(), false, String::new());
        Self {
            writer,
            key,
            note,
            path,
            log,
            mine,
            refused,
            label,
            written_bytes: Vec::new(),
            writer_id: writer.state.writer_in(writer.vault.root()),
        }
    }

    /// Brings in what one displaced file gained.
    pub(super) fn bring_in(&mut self) -> Result<Brought> {
        let Writer { vault, state, now } = *self.writer;
        let all = displaced::all(vault, state, self.key);
        if all.is_empty() {
            return Ok(Brought::Nothing);
        }
        displaced::tidy(&all, now);
        if !displaced::may_gain(&all) {
            return Ok(Brought::Nothing);
        }
        let Some(disk) = settled(self.read())? else { return Ok(Brought::Nothing) };
        let revision = disk.revision(&self.writer_id);
        let Some(gained) = displaced::gained(&all, revision) else { return Ok(Brought::Nothing) };
        let merge = gained.merge(&disk.bytes, revision, &self.log.all()?, &all);
        match &merge {
            Merge::Known => gained.done(revision.unwrap_or(0), None, now),
            Merge::Copy | Merge::Unfinished => {
                let kept = keep::copy(state, self.key, &gained.bytes, revision.unwrap_or(0), now)?;
                let after = (merge == Merge::Unfinished).then_some(disk.bytes.as_slice());
                gained.done(revision.unwrap_or(0), after, now);
                return Ok(Brought::Copied(kept));
            }
            Merge::Instead | Merge::Tail(_) => {
                let bringing = Bringing { gained: &gained, merge: &merge, disk: &disk.hash };
                let nothing = &mut |_: &Note, _: &Known, _: &Operations| Ok(Job::default());
                match self.make_of(Some(&bringing), nothing) {
                    Ok(Step::Done(written)) => {
                        let after =
                            (merge == Merge::Instead && written.changed).then_some(self.written_bytes.as_slice());
                        gained.done(written.revision, after, now);
                    }
                    Ok(Step::Refused) => {}
                    // A text that nothing can be written into, and that nobody goes on with.
                    Err(Error::Usage { .. }) if gained.kept.is_old(now) => {
                        let kept = keep::copy(state, self.key, &gained.bytes, revision.unwrap_or(0), now)?;
                        gained.done(revision.unwrap_or(0), None, now);
                        return Ok(Brought::Copied(kept));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Brought::Merged)
    }

    /// Tries once.
    pub(super) fn make(&mut self, wish: Wish<'_>) -> Result<Step> {
        self.make_of(None, wish)
    }

    fn make_of(&mut self, bringing: Option<&Bringing<'_>>, wish: Wish<'_>) -> Result<Step> {
        let Some((found, mut records)) = self.at_rest()? else { return Ok(Step::Refused) };
        if let Some(place) = cru_session::conflict::marker(&found.bytes) {
            let line = memchr::memchr_iter(b'\n', &found.bytes[..place.start]).count() + 1;
            return Err(self.conflicted(line));
        }
        if bringing.is_some_and(|it| it.disk != found.hash) {
            return Ok(Step::Refused);
        }
        // What the new text is made of: the note, or a displaced file in its stead.
        let disk = match bringing.map(|it| it.merge) {
            Some(Merge::Tail(tail)) => found.with(&with_tail(&found.bytes, tail)),
            Some(Merge::Instead) => found.with(&bringing.map(|it| it.gained.bytes.clone()).unwrap_or_default()),
            _ => found.clone(),
        };
        let revision = disk.revision(&self.writer_id);
        if bringing.is_some() {
            records = self.log.all()?;
        }
        let logged = records.last().map_or(0, |record| record.revision);
        let seen = revision.map_or(logged == 0, |revision| revision >= logged);
        self.tidy(&records, seen)?;

        let mut text = Text::new(disk.bytes.clone());
        let instead = bringing.filter(|it| *it.merge == Merge::Instead).map(|it| &it.gained.kept);
        let todo = match instead {
            _ if seen => self.unseen(&records),
            Some(kept) => {
                let revision = revision.unwrap_or_else(|| heal::guess(&records, &disk.bytes));
                heal::missing_since(&records, revision, kept.revision)
            }
            None => self.todo(&mut records, &disk)?,
        };
        text.run(&todo).map_err(|refusal| self.refusal(&refusal))?;
        let again = text.done.iter().filter(|done| done.outcome != Outcome::Present).count();
        let stale = text.written_ops.len();
        if bringing.is_some() {
            // Should the note not get this text, all of it may be there already.
            text.written_ops.iter_mut().for_each(|written_op| written_op.again = true);
        }
        let total = disk.cursor.as_ref().map_or(0, |cursor| cursor.revision);
        let known = self.known(&records, total > logged);
        let mut place = place_of(&disk, records.last(), seen, &self.writer_id);

        // The plan sees the note with all that belongs in it, its revision too.
        let healed = if seen { text.bytes.clone() } else { self.stamp(&text.bytes, &place)? };
        let healed = Rc::new(Note::parse(healed));
        let job = wish(&healed, &known, &self.log)?;
        if healed.bytes() == text.bytes {
            text.know(healed);
        }
        if !job.plan.label.is_empty() {
            self.label.clone_from(&job.plan.label);
        }
        if let Some(consumed) = &job.plan.cursor {
            let wanted = Cursor::first(consumed);
            place = Cursor { revision: place.revision, writers: place.writers, ..wanted };
        }
        let on_disk = found.cursor.as_ref().map_or(0, |cursor| cursor.revision);
        // Seals of a later text than this one are of other revisions.
        let sealed = seals::read(self.writer.vault, self.key).newest();
        let next = logged.max(total).max(on_disk).max(sealed) + 1;
        let before = text.bytes.clone();
        text.run(&first(&job.new, next)).map_err(|refusal| self.refusal(&refusal))?;
        let mut changes: Vec<_> = text.written_ops.iter_mut().flat_map(|it| &mut it.changes).collect();
        cru_session::op::mark_doubled(&mut changes, &text.bytes);
        self.mine.extend(text.written_ops[stale..].iter().map(|written_op| written_op.id.clone()));
        let moved = match &disk.cursor {
            Some(cursor) => !cursor.same_records(&place),
            None => job.plan.cursor.is_some(),
        };
        let writes = text.bytes != before || stale > 0 || !seen || moved || disk.bytes != found.bytes;
        let mut written = Written { again, made: known.made.clone(), ..Written::default() };
        written.made.extend(job.plan.made.clone());
        if job.dry {
            written.done = self.done(&text);
            return Ok(Step::Done(written));
        }

        let mut record = self.record(records.last(), &job.plan, &text, stale);
        if !writes {
            let last = logged.max(total).max(on_disk);
            written.revision = last;
            written.done = self.done(&text);
            // Its own newest revision: that of others is none that it wrote.
            record.revision = logged.max(revision.unwrap_or(0));
            record.ops.clear();
            if tells(records.last(), &record, &job.plan) {
                self.put_base(&mut record, &job.plan, records.last())?;
                self.commit(&record)?;
                self.forget_base(&record, records.last())?;
            }
            if job.plan.generated.as_ref().is_some_and(|it| it.all) {
                seals::add(self.writer.vault, self.key, &self.seals(&job.plan, &text.bytes, &text.bytes, &text, last))?;
            }
            return Ok(Step::Done(written));
        }

        // Refused before and nothing new since: what is in the log already only needs its place in the note.
        let newest = records.last().filter(|_| self.refused && !seen && job.new.is_empty());
        let repeated = newest.filter(|newest| !tells(Some(newest), &record, &job.plan) && is_at(newest, &place));
        if let Some(newest) = repeated {
            place.revision = newest.revision;
            place.set_writer(&self.writer_id, newest.revision);
            let after = self.stamp(&text.bytes, &place)?;
            let Some(prepared) = self.prepare(&found, &after)? else { return Ok(Step::Refused) };
            return self.replace(prepared, &found, &after, &text, written, newest, &records);
        }
        place.revision = next;
        place.set_writer(&self.writer_id, next);
        let after = self.stamp(&text.bytes, &place)?;
        let today = |record: &Record| record.time.to_zoned(TimeZone::UTC).date();
        let newest = records.iter().rev().find(|record| record.writes());
        let conflict = text.done.iter().any(|done| done.outcome == Outcome::Conflict);
        if stale > 0 || conflict || newest.is_none_or(|newest| today(newest) != today(&record)) {
            keep::copy(self.writer.state, self.key, &found.bytes, on_disk, self.writer.now)?;
        }
        let Some(prepared) = self.prepare(&found, &after)? else { return Ok(Step::Refused) };
        record.revision = next;
        record.from = revision;
        record.cursor = Some(place.to_string());
        record.before.clone_from(&found.hash);
        record.after = hash(&after);
        record.size = after.len() as u64;
        record.merged = bringing.map(|it| it.gained.mark());
        // Another machine has written since: what was generated here last says nothing of the note any more.
        if total > logged && job.plan.base.is_none() {
            record.base_before = record.base.take().map(|base| base.revision).or(record.base_before);
        }
        record.seals = self.seals(&job.plan, &disk.bytes, &after, &text, next);
        self.put_base(&mut record, &job.plan, records.last())?;
        self.commit(&record)?;
        // Before the note has the text: a seal too many is one of a text that no person wrote.
        seals::add(self.writer.vault, self.key, &record.seals)?;
        self.forget_base(&record, records.last())?;
        self.replace(prepared, &found, &after, &text, written, &record, &records)
    }

    /// The new text beside the note; `None` where the note is on its way.
    fn prepare(&self, found: &Disk, after: &[u8]) -> Result<Option<Prepared>> {
        let target = files::within(self.writer.vault.root(), &self.path)?;
        settled(Prepared::new(&target, &found.bytes, after))
    }

    /// The new text in the place of the note, if that is still what was read.
    #[expect(clippy::too_many_arguments, reason = "all that one exchange needs")]
    fn replace(
        &mut self,
        prepared: Prepared,
        disk: &Disk,
        after: &[u8],
        text: &Text,
        written: Written,
        record: &Record,
        records: &[Record],
    ) -> Result<Step> {
        if settled(prepared.replace(&self.keep(disk, after, record, records)))?.is_none() {
            self.refused = true;
            return Ok(Step::Refused);
        }
        let revision = record.revision;
        self.written_bytes = after.to_vec();
        Ok(Step::Done(Written { revision, changed: true, done: self.done(text), ..written }))
    }

    /// Where a file goes that `record` displaces.
    fn keep(&self, old: &Disk, after: &[u8], record: &Record, records: &[Record]) -> Keep {
        let Writer { vault, state, now } = *self.writer;
        let places = |mtime, text| Kept::new(mtime, record, text, records, now).places(vault, state, self.key);
        Keep { old: places(Some(old.fingerprint.mtime), (&*old.bytes, &*hash(after))), new: places(None, (after, "")) }
    }

    /// The note once it rests, and the newest records. A text that `cru` has not written, and that is shorter than what
    /// it wrote or lacks its end, may be a save that goes on: it counts when it does not change for a while. `None`
    /// where it changes all the time.
    fn at_rest(&self) -> Result<Option<(Disk, Vec<Record>)>> {
        let Some(mut disk) = settled(self.read())? else { return Ok(None) };
        let mut quiet = 0;
        for _ in 0..MOST_LOOKS_AT_REST {
            let revision = disk.revision(&self.writer_id);
            let records = self.log.tail(|record| revision.is_some_and(|revision| record.revision <= revision))?;
            if quiet >= disk.looks_wanted(records.iter().rev().find(|record| record.writes())) {
                return Ok(Some((disk, records)));
            }
            std::thread::sleep(REST_BETWEEN_LOOKS);
            let Some(again) = settled(self.read())? else { return Ok(None) };
            let same = (again.fingerprint, &again.hash) == (disk.fingerprint, &disk.hash);
            quiet = if same { quiet + 1 } else { 0 };
            disk = again;
        }
        Ok(None)
    }

    fn read(&self) -> Result<Disk> {
        let mut look = 0;
        let Stable { bytes, fingerprint } = loop {
            match files::read_stable(&self.path) {
                Ok(stable) => break stable,
                Err(error) if look == LOOKS || self.path.symlink_metadata().is_ok() => return Err(error),
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10 << look)),
            }
            look += 1;
        };
        Ok(Disk::of(bytes, fingerprint))
    }

    /// What the text on disk lacks. Reads more of the log where that is needed.
    fn todo(&self, records: &mut Vec<Record>, disk: &Disk) -> Result<Vec<Todo>> {
        let revision = disk.revision(&self.writer_id);
        let Some(newest) = records.last() else { return Ok(Vec::new()) };
        let undone = newest.before == disk.hash || (self.refused && heal::is_base(records, newest, revision));
        if newest.writes() && undone {
            return Ok(heal::once_more(newest));
        }
        if revision.is_none_or(|revision| heal::undoes(records, revision)) {
            *records = self.log.all()?;
        }
        let revision = revision.unwrap_or_else(|| heal::guess(records, &disk.bytes));
        let mut todo = heal::missing(records, revision);
        if disk.is_foreign(records.last(), &self.writer_id) {
            foreign::renumber(&mut todo, &String::from_utf8_lossy(&disk.bytes));
        }
        Ok(todo)
    }

    fn stamp(&self, bytes: &[u8], place: &Cursor) -> Result<Vec<u8>> {
        cursor::set(bytes, place).map_err(|error| self.refusal(&Refusal::Edit(error)))
    }

    /// The note has two texts at once, and somebody has to choose.
    fn conflicted(&self, line: usize) -> Error {
        let path = self.writer.state.journal(self.key);
        Error::usage(format!("{}:{line}: the note has conflict markers", self.note)).with_hint(format!(
            "what was logged stays in {}; resolve the conflict, and the next command writes it",
            path.display()
        ))
    }

    fn refusal(&self, refusal: &Refusal) -> Error {
        match refusal {
            Refusal::Edit(error) => {
                let path = self.writer.state.journal(self.key);
                Error::usage(format!("{}: {error}", self.note)).with_hint(format!(
                    "what was logged stays in {}; mend the note, and the next command writes it",
                    path.display()
                ))
            }
            Refusal::Undo(..) => Error::no(format!("{}: {refusal}", self.note))
                .with_hint("take it out by hand; `cru undo --list` shows what was written"),
        }
    }

    fn known(&self, records: &[Record], ahead: bool) -> Known {
        let mut known = known(records);
        // A note that another machine has written since is ahead of what was generated here.
        let base = records.last().filter(|_| !ahead).and_then(|newest| newest.base.as_ref());
        known.base = base.and_then(|base| {
            let bytes = files::read(&self.writer.state.base(self.key, base.revision)).ok()?;
            (hash(&bytes) == base.hash).then(|| String::from_utf8(bytes).ok())?
        });
        known
    }

    fn record(&self, newest: Option<&Record>, plan: &Plan, text: &Text, stale: usize) -> Record {
        let mut consumed = newest.map(|newest| newest.consumed.clone()).unwrap_or_default();
        consumed.extend(plan.consumed.clone());
        let label = if text.written_ops.len() == stale && stale > 0 { "again" } else { self.label.as_str() };
        Record {
            time: self.writer.now,
            label: if plan.label.is_empty() { label.to_owned() } else { plan.label.clone() },
            note: self.note.to_string(),
            ops: text.written_ops.clone(),
            consumed,
            made: plan.made.clone(),
            base: newest.and_then(|newest| newest.base.clone()),
            base_before: newest.and_then(|newest| newest.base_before),
            cursor: newest.and_then(|newest| newest.cursor.clone()),
            ..Record::default()
        }
    }

    /// Lines of seals for a write that makes `revision`: `after` of what was `before`. What is put into a note by hand or by a log is nobody's to
    /// write anew: it gets none, but for the state of the session, which others bring up to date.
    fn seals(&self, plan: &Plan, before: &[u8], after: &[u8], text: &Text, revision: u64) -> String {
        let own = cursor::read(before).map_or(0, |cursor| cursor.revision);
        let seals = seals::read(self.writer.vault, self.key).of_revision(own);
        let ops = || text.written_ops.iter();
        let states = ops().filter_map(|it| match &it.op {
            Some(Op::Set { key, new: Some(new), .. }) if STATES.contains(&key.as_str()) && !plan.is_of_copy => {
                Some((key.as_str(), new))
            }
            _ => None,
        });
        // Of several values that a write gave, the last.
        let states: BTreeMap<&str, &Json> = states.collect();
        let now = if states.is_empty() { Values::default() } else { values_of(after) };
        let mut lines: String =
            states.into_iter().map(|(key, value)| seals.property(key, value, &now, revision)).collect();
        let takes = |it: &WrittenOperation| {
            it.undo.is_some()
                || matches!(
                    it.op,
                    Some(Op::Body { .. } | Op::Lines { .. } | Op::Replace { .. } | Op::Set { new: None, .. })
                )
        };
        let generated = plan.generated.as_ref().map(|it| (it.all, Note::parse(it.text.as_str())));
        if generated.is_none() && !ops().any(takes) && seals.newest() <= own {
            return lines;
        }
        let (before, after) = (Note::parse(before), Note::parse(after));
        let (all, generated) = generated.unzip();
        let is_new = generated.as_ref().filter(|_| all == Some(false));
        lines.push_str(&seals.written(is_new, &before, &after, revision));
        if let Some(generated) = generated.filter(|_| all == Some(true)) {
            lines.push_str(&seals.all(&generated, &after, revision));
        }
        lines
    }

    /// Puts what was generated beside the log; the two newest are kept.
    fn put_base(&self, record: &mut Record, plan: &Plan, newest: Option<&Record>) -> Result<()> {
        let Some(text) = &plan.base else { return Ok(()) };
        let base = Base { revision: record.revision, hash: hash(text.as_bytes()) };
        let old = newest.and_then(|newest| newest.base.as_ref());
        if old.is_some_and(|old| old.hash == base.hash) {
            return Ok(());
        }
        files::put_private(&self.writer.state.base(self.key, base.revision), text.as_bytes())?;
        if let Some(old) = old.filter(|old| old.revision != base.revision) {
            record.base_before = Some(old.revision);
        }
        record.base = Some(base);
        Ok(())
    }

    /// The moment the write is decided. What the journals hold is on disk before they count as consumed.
    fn commit(&self, record: &Record) -> Result<()> {
        for key in record.consumed.keys() {
            files::sync(&self.writer.state.journal(&state::key(key)))?;
        }
        self.log.append(record)
    }

    /// What is left to do of earlier writes: journals that nobody needs.
    fn tidy(&self, records: &[Record], seen: bool) -> Result<()> {
        let Some(newest) = records.last() else { return Ok(()) };
        let (state, now) = (self.writer.state, self.writer.now);
        if !seen {
            // Whoever decided on it may have been killed before the next step.
            seals::add(self.writer.vault, self.key, &newest.seals)?;
        }
        if seen {
            for (key, mark) in &newest.consumed {
                Journal::at(state.journal(&state::key(key))).compact(mark, SETTLED, now)?;
            }
        }
        Ok(())
    }

    /// Takes away the base before the two newest.
    fn forget_base(&self, record: &Record, newest: Option<&Record>) -> Result<()> {
        let old = newest.and_then(|newest| newest.base_before);
        if let Some(old) =
            old.filter(|old| newest.is_some_and(|it| it.base != record.base) && record.base_before != Some(*old))
        {
            files::remove(&self.writer.state.base(self.key, old))?;
        }
        Ok(())
    }

    /// What this call wants and a note from elsewhere, that came between its attempts, may not have.
    fn unseen(&self, records: &[Record]) -> Vec<Todo> {
        let written_ops = records.last().map(|newest| newest.ops.as_slice()).unwrap_or_default();
        let mine = written_ops.iter().filter(|written_op| self.mine.contains(&written_op.id));
        mine.map(|written_op| Todo { written_op: written_op.clone(), mode: Mode::Again }).collect()
    }

    /// What became of what this call wanted.
    fn done(&self, text: &Text) -> Vec<Done> {
        let all = text.written_ops.iter().zip(&text.done);
        all.filter(|(written_op, _)| self.mine.contains(&written_op.id)).map(|(_, done)| done.clone()).collect()
    }
}

/// What was found or done, unless somebody else is writing in this moment.
fn settled<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(it) => Ok(Some(it)),
        Err(Error::Changed { path }) if path.symlink_metadata().is_ok() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The cursor that the note should have now: what the log says where it is ahead of the note. Of what several states have
/// read of a transcript, the most counts.
fn place_of(disk: &Disk, newest: Option<&Record>, seen: bool, me: &str) -> Cursor {
    let logged = || Cursor::parse(newest?.cursor.as_deref()?);
    let is_further = |logged: &Cursor| {
        disk.cursor.as_ref().is_none_or(|cursor| !disk.is_foreign(newest, me) || cursor.records <= logged.records)
    };
    let ahead = if seen { None } else { logged().filter(is_further) };
    let mut place = ahead.or_else(|| disk.cursor.clone()).unwrap_or_else(cursor::none);
    place.writers = disk.cursor.as_ref().map(|cursor| cursor.writers.clone()).unwrap_or_default();
    if !seen {
        let own = newest.map_or(0, |newest| newest.revision);
        // Another machine may have come further.
        place.revision = own.max(disk.cursor.as_ref().map_or(0, |cursor| cursor.revision));
        place.set_writer(me, own);
    }
    place
}

/// Whether there is something to remember though nothing is to be written.
fn tells(newest: Option<&Record>, record: &Record, plan: &Plan) -> bool {
    let none = std::collections::BTreeMap::new();
    let consumed = newest.map_or(&none, |newest| &newest.consumed);
    let base = plan.base.as_ref().map(|text| hash(text.as_bytes()));
    let has = newest.and_then(|newest| newest.base.as_ref()).map(|base| base.hash.clone());
    *consumed != record.consumed || !plan.made.is_empty() || (base.is_some() && base != has)
}

/// Whether a record stands for the same part of the transcript.
fn is_at(record: &Record, place: &Cursor) -> bool {
    record.cursor.as_deref().and_then(Cursor::parse).is_some_and(|cursor| cursor.same_records(place))
}

/// New operations of revision `next`, to be applied for the first time.
fn first(new: &[New], next: u64) -> Vec<Todo> {
    let written_op = |(index, new): (usize, &New)| {
        let mut written_op =
            WrittenOperation { id: format!("{next}.{index}"), first: next, ..WrittenOperation::default() };
        match new {
            New::Op(op) => written_op.op = Some(op.clone()),
            New::Undo(undo) => written_op.undo = Some(undo.clone()),
        }
        Todo { written_op, mode: Mode::First }
    };
    new.iter().enumerate().map(written_op).collect()
}

/// What the newest records say, but for the base.
pub(super) fn known(records: &[Record]) -> Known {
    let made = records.iter().flat_map(|record| record.made.clone()).collect();
    Known { consumed: records.last().map(|newest| newest.consumed.clone()).unwrap_or_default(), base: None, made }
}

/// A text with more lines at its end.
fn with_tail(text: &[u8], tail: &[u8]) -> Vec<u8> {
    let end: &[u8] = if text.is_empty() || text.ends_with(b"\n") { b"" } else { b"\n" };
    [text, end, tail].concat()
}
