//! Seals: which blocks, properties and tasks of a note `cru` generated, as hashes of the very texts.
//!
//! A text counts as generated if and only if it hashes to a seal; everything else is a person's. Seals are lines that are only
//! ever added, so two sets of them are merged by taking all lines of both, in any order. They are made of what was
//! generated, never of a note, so a seal too many is the hash of a text that no person wrote.
//!
//! A line is `PLACE KIND HASH [MARK]`. The place is a block's id, the phase that a block without one stands in, the key of a
//! property, or the id of a task. Line ends do not count, nor how YAML spells a value. The mark is that of a write:
//!
//! - none: generated when the note was made; `+7`: generated, and stands in the note from revision 7 on;
//! - `?`: generated, and does not stand in the note, where a person changed it;
//! - `-7`: revision 7 of `cru` took it out.
//!
//! Where a place was written last, as far as the revision of a text goes, and is not in it, a person took it out.

mod gate;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::model::{Item, Session, Task};
use crate::op::unit::{Unit, normal, units};
use crate::{delta::property, read};
use cru_base::Span;
use cru_base::hash::short;
use cru_note::frontmatter::{self, Values};
use cru_note::{BlockKind, Note};

pub(crate) use gate::has_comment;
pub use gate::keep_proven;

/// Says that the seals were kept since the note was made: what has none is a person's because they wrote it.
const WHOLE: &str = "whole";

/// The revision of a new note.
const MADE: u64 = 1;

/// Bytes of a hash.
const BYTES: usize = 8;

type Hash = [u8; BYTES];

/// What a file of seals says.
#[derive(Clone, Debug, Default)]
pub struct Seals {
    is_whole: bool,
    hashes: HashSet<Hash>,
    places: HashMap<String, Place>,
    /// The revision of the text that is asked about; none for all that was written.
    revision: Option<u64>,
}

/// What was done at one place.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The words of a line about it, without a mark.
    head: String,
    marks: Vec<PlaceMark>,
}

/// What a write did at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceMark {
    /// It stands there from this revision on.
    Put(u64),
    /// It was taken out.
    Out(u64),
}

/// A text that has a seal of its own.
#[derive(Clone, Debug)]
struct Sealed {
    place: String,
    kind: &'static str,
    hash: Hash,
    /// The hash without the blanks that editors take off the ends of lines.
    bare: Option<Hash>,
    /// Which of several that say the same at one place.
    number: usize,
}

impl Seals {
    /// What the lines of `text` say. A line that is none, because it is torn or a merge left it, says nothing.
    pub fn parse(text: &str) -> Self {
        let mut seals = Self::default();
        for line in text.lines() {
            seals.is_whole |= line == WHOLE;
            seals.read(line);
        }
        seals
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let (place, kind, text, mark) = (words.next()?, words.next()?, words.next()?, words.next());
        if words.next().is_some() || place.is_empty() || kind.is_empty() {
            return None;
        }
        let (hex, number) = text.split_once('.').map_or((text, Some(1)), |(hex, number)| (hex, number.parse().ok()));
        let (hash, number) = (hash_of_hex(hex)?, number?);
        let mark = match mark {
            None => Some(PlaceMark::Put(MADE)),
            Some("?") => None,
            Some(mark) => Some(match mark.split_at_checked(1)? {
                ("+", revision) => PlaceMark::Put(revision.parse().ok()?),
                ("-", revision) => PlaceMark::Out(revision.parse().ok()?),
                _ => return None,
            }),
        };
        // What was taken out may have been a person's.
        if !matches!(mark, Some(PlaceMark::Out(_))) {
            self.hashes.insert(hash);
        }
        let it = self.places.entry(place_key(place, kind, hash, number)).or_default();
        if it.head.is_empty() && !matches!(mark, Some(PlaceMark::Out(_))) {
            it.head = format!("{place} {kind} {text}");
        }
        it.marks.extend(mark);
        Some(())
    }

    /// The same, about a text of that revision: what was written later says nothing of it.
    #[must_use]
    pub const fn of_revision(mut self, revision: u64) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Whether they were kept since the note was made.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether nothing has a seal.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a block was generated as it is: its text with the line of its id.
    pub fn has_block(&self, text: &str) -> bool {
        self.hashes.contains(&hash("", &normal(text)))
    }

    /// Whether a property was generated with this value.
    pub fn has_property(&self, key: &str, value: &Json) -> bool {
        self.hashes.contains(&property_hash(key, value))
    }

    /// Whether `cru` may give a property another value than the one that stands there: that one is its own, or nobody took it
    /// out.
    pub fn is_own(&self, key: &str, now: Option<&Json>) -> bool {
        now.map_or_else(|| !self.is_property_deleted(key), |now| self.has_property(key, now))
    }

    /// Whether nothing tells who wrote a property: the seals were not kept since the note was made, and none names it.
    pub fn is_unknown(&self, key: &str) -> bool {
        !self.is_whole && !self.places.contains_key(&place_key(key, PROPERTY, Hash::default(), 1))
    }

    /// Whether a task was generated as it is.
    pub fn has_task(&self, task: &Task) -> bool {
        self.hashes.contains(&task_hash(task))
    }

    /// Whether a property that is not in the note was taken out of it by a person.
    pub fn is_property_deleted(&self, key: &str) -> bool {
        self.is_deleted(&place_key(key, PROPERTY, Hash::default(), 1))
    }

    /// Whether what is not in the note at this place ([`places`]) was taken out of it by a person.
    pub fn is_deleted(&self, place: &str) -> bool {
        self.stands(place, self.revision.unwrap_or(u64::MAX))
    }

    /// The newest revision that any of them is of.
    pub fn newest(&self) -> u64 {
        let marks = self.places.values().flat_map(|it| &it.marks);
        let of = |mark: &PlaceMark| match *mark {
            PlaceMark::Put(revision) | PlaceMark::Out(revision) => revision,
        };
        marks.map(of).max().unwrap_or_default()
    }

    /// Whether what was done last at a place, up to a revision, was to write it.
    fn stands(&self, place: &str, revision: u64) -> bool {
        let marks = self.places.get(place).map(|it| it.marks.as_slice()).unwrap_or_default();
        let (mut put, mut out) = (None, None);
        for mark in marks {
            match *mark {
                PlaceMark::Put(at) if at <= revision => put = put.max(Some(at)),
                PlaceMark::Out(at) if at <= revision => out = out.max(Some(at)),
                _ => {}
            }
        }
        put > out
    }

    /// The lines for a new note: what was generated of it, and the note as it is written.
    pub fn first(generated: &Note, note: &Note) -> String {
        let lines = Self::default().lines(generated, None, note, MADE);
        format!("{WHOLE}\n{lines}")
    }

    /// That all that stands in `note`, of `revision`, as it is generated counts as generated from now on.
    pub fn all(&self, generated: &Note, note: &Note, revision: u64) -> String {
        let whole = if self.is_whole { String::new() } else { format!("{WHOLE}\n") };
        whole + &self.lines(generated, None, note, revision)
    }

    /// The lines for a write that brings `before` to `after`, with what was generated for it: what it put there, what it
    /// took out, and what it put back.
    pub fn written(&self, generated: Option<&Note>, before: &Note, after: &Note, revision: u64) -> String {
        let mut lines = generated.map(|it| self.lines(it, Some(before), after, revision)).unwrap_or_default();
        let placed = |note: &Note| {
            let all = sealed(note).filter(|it| it.kind != TASK);
            all.map(|it| (it.key(), it)).collect::<HashMap<String, Sealed>>()
        };
        let (old, new) = (placed(before), placed(after));
        // What stood there may have been a person's: it gets no seal.
        let hash = |it: &Sealed| if self.hashes.contains(&it.hash) { it.hash } else { Hash::default() };
        let gone = old.iter().filter(|(key, _)| !new.contains_key(*key) && self.stands(key, u64::MAX));
        let mut marks: Vec<String> = gone.map(|(_, it)| it.line(hash(it), &format!(" -{revision}"))).collect();
        let back = new.iter().filter(|(key, _)| self.places.contains_key(*key) && !self.stands(key, u64::MAX));
        let is_edited = |it: &Sealed| it.kind == NAMED || self.hashes.contains(&it.hash);
        marks.extend(back.filter(|(_, it)| is_edited(it)).map(|(_, it)| it.line(hash(it), &format!(" +{revision}"))));
        // A person took it out of a text of the time before `cru` did.
        let lost = self.places.iter().filter(|(key, it)| {
            let is_there = old.contains_key(*key) || new.contains_key(*key);
            !it.head.is_empty() && !is_there && self.is_deleted(key) && !self.stands(key, u64::MAX)
        });
        marks.extend(lost.map(|(_, it)| format!("{} +{revision}\n", it.head)));
        marks.sort_unstable();
        lines.push_str(&marks.concat());
        lines
    }

    /// The line for a property that a command has set to `value` in `revision`; none where the note does not have it `now`.
    pub fn property(&self, key: &str, value: &Json, now: &Values, revision: u64) -> String {
        // A number is read with as few digits as say it.
        let same = |now: &Json| now == value || now.as_f64().is_some_and(|now| Some(now) == value.as_f64());
        let Some(now) = now.get(key).map(property::json).filter(same) else { return String::new() };
        let hash = property_hash(key, &now);
        let property = Sealed { place: key.to_owned(), kind: PROPERTY, hash, bare: None, number: 1 };
        let is_known = self.hashes.contains(&property.hash) && self.stands(&property.key(), u64::MAX);
        if is_known { String::new() } else { property.lines(&format!(" +{revision}")) }
    }

    /// The lines for a note in which `cru` changed nothing but links: a block that was generated is so still.
    pub fn carried(&self, before: &Note, after: &Note) -> String {
        let [old, new] = [before, after].map(|note| sealed(note).collect::<Vec<_>>());
        if old.len() != new.len() {
            return String::new();
        }
        let changed = old.iter().zip(&new).filter(|(old, new)| old.hash != new.hash && self.hashes.contains(&old.hash));
        changed.map(|(_, new)| new.lines("")).collect()
    }

    /// Seals of what `generated` says: of texts that `after` has and `before` has not, and of those that a person has
    /// changed where these seals are whole.
    fn lines(&self, generated: &Note, before: Option<&Note>, after: &Note, revision: u64) -> String {
        let there = |note: &Note| sealed(note).map(|it| (it.key(), it.hash)).collect::<HashSet<(String, Hash)>>();
        let (before, after) = (before.map(there).unwrap_or_default(), there(after));
        let put = if revision == MADE { String::new() } else { format!(" +{revision}") };
        let mut lines = String::new();
        for it in sealed(generated) {
            let text = (it.key(), it.hash);
            let stands = after.contains(&text);
            let is_known = self.hashes.contains(&it.hash) && (!stands || self.stands(&text.0, u64::MAX));
            if is_known || (stands && before.contains(&text)) || (!stands && !self.is_whole) {
                continue;
            }
            lines.push_str(&it.lines(if stands { &put } else { " ?" }));
        }
        lines
    }
}

impl Sealed {
    fn key(&self) -> String {
        place_key(&self.place, self.kind, self.hash, self.number)
    }

    fn lines(&self, mark: &str) -> String {
        let mut lines = self.line(self.hash, mark);
        if let Some(bare) = self.bare {
            // Where it stands is said above.
            lines.push_str(&self.line(bare, " ?"));
        }
        lines
    }

    fn line(&self, hash: Hash, mark: &str) -> String {
        let hex = hex(hash);
        let number = if self.number > 1 { format!(".{}", self.number) } else { String::new() };
        format!("{} {} {hex}{number}{mark}\n", self.place, self.kind)
    }
}

/// The places of the blocks of a note that [`crate::op::renewed`] compares, by where each begins.
pub fn places(note: &Note) -> HashMap<usize, String> {
    blocks(note).map(|(unit, it)| (unit.span.start, it.key())).collect()
}

/// The text of a block that a seal is of: with the line of its id, from the beginning of its line for a step.
pub(crate) fn text<'a>(note: &'a Note, unit: &Unit) -> std::borrow::Cow<'a, str> {
    let whole = unit.whole();
    let start = if unit.item.is_some() { line_start(note, whole.start) } else { whole.start };
    normal(Span::new(start, whole.end).of(note.text()))
}

pub(crate) fn line_start(note: &Note, at: usize) -> usize {
    let head = &note.text().as_bytes()[..at];
    memchr::memrchr(b'\n', head).map_or(0, |line| line + 1).max(note.split().body_start)
}

/// The texts of the blocks of a note that a seal is of.
pub fn block_texts(note: &Note) -> Vec<String> {
    units(note, false).iter().map(|unit| text(note, unit).into_owned()).collect()
}

/// The ids, in small letters, of the blocks of a note that were generated as they are.
pub fn generated_ids(note: &Note, seals: &Seals) -> HashSet<String> {
    let all = units(note, false);
    let generated = all.iter().filter(|unit| seals.has_block(&text(note, unit)));
    generated.filter_map(|unit| unit.id(note).map(str::to_lowercase)).collect()
}

/// The properties of a note that were generated with their values, as `cru` writes them.
pub fn generated_properties(note: &Note, seals: &Seals) -> String {
    let Some(bounds) = note.frontmatter() else { return String::new() };
    let (values, _) = frontmatter::read(note.text(), &bounds);
    let entries = values.entries().iter();
    let generated = entries.filter(|it| seals.has_property(&it.key, &property::json(&it.value)));
    frontmatter::emit(&generated.map(|it| (it.key.clone(), it.value.clone())).collect::<Vec<_>>())
}

/// The tasks above the first phase.
pub(crate) fn tasks(session: &Session) -> Vec<Task> {
    let fences = session.preface.iter().filter_map(|item| match item {
        Item::Tasks(tasks) => Some(tasks.tasks.clone()),
        _ => None,
    });
    fences.flatten().collect()
}

/// All that has a seal of its own in a note.
fn sealed(note: &Note) -> impl Iterator<Item = Sealed> {
    properties(note).into_iter().chain(blocks(note).map(|(_, it)| it)).chain(task_rows(note))
}

const PROPERTY: &str = "key";
const TASK: &str = "task";

fn properties(note: &Note) -> Vec<Sealed> {
    let Some(bounds) = note.frontmatter() else { return Vec::new() };
    let (values, _) = frontmatter::read(note.text(), &bounds);
    let is_key = |key: &str| key != "cru_cursor" && !key.is_empty() && !key.contains(char::is_whitespace);
    let entries = values.entries().iter().filter(|entry| is_key(&entry.key));
    let of = |entry: &frontmatter::Entry| {
        let hash = property_hash(&entry.key, &property::json(&entry.value));
        Sealed { place: entry.key.clone(), kind: PROPERTY, hash, bare: None, number: 1 }
    };
    entries.map(of).collect()
}

fn task_rows(note: &Note) -> Vec<Sealed> {
    let is_list = |block: &cru_note::Block| match &block.kind {
        BlockKind::List { .. } => true,
        BlockKind::Fence { info, .. } => info.of(note.text()).trim() == "tasks",
        _ => false,
    };
    let preface = note.blocks().iter().take_while(|it| !matches!(it.kind, BlockKind::Heading { level: 2 | 3, .. }));
    if !preface.into_iter().any(is_list) {
        return Vec::new();
    }
    let rows = tasks(&read::written(note).0);
    let of = |task: &Task| {
        let is_word = !task.id.is_empty() && !task.id.contains(char::is_whitespace);
        let place = if is_word { task.id.clone() } else { "-".to_owned() };
        Sealed { place, kind: TASK, hash: task_hash(task), bare: None, number: 1 }
    };
    rows.iter().map(of).collect()
}

fn blocks(note: &Note) -> impl Iterator<Item = (Unit, Sealed)> {
    let phases: HashMap<usize, String> =
        read::phases(note).into_iter().map(|phase| (phase.heading_span.start, phase.id)).collect();
    let mut phase = "top".to_owned();
    let mut seen: HashMap<(String, Hash), usize> = HashMap::new();
    let all = units(note, false).into_iter().map(|unit| {
        let start = note.blocks().get(unit.top).map_or(unit.span.start, |block| block.content.start);
        if let Some(id) = phases.get(&start).filter(|id| !id.contains(char::is_whitespace)) {
            phase.clone_from(id);
        }
        let text = text(note, &unit);
        let own = hash("", &text);
        let place = unit.id(note).map_or_else(|| phase.clone(), str::to_lowercase);
        let is_named = unit.id.is_some();
        let number = if is_named {
            1
        } else {
            let count = seen.entry((phase.clone(), own)).or_default();
            *count += 1;
            *count
        };
        let bare = text.lines().any(|line| line.ends_with([' ', '\t'])).then(|| {
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            hash("", &lines.join("\n"))
        });
        let kind = if is_named { NAMED } else { kind(note, &unit) };
        (unit, Sealed { place, kind, hash: own, bare, number })
    });
    all.collect::<Vec<_>>().into_iter()
}

/// The kind of a block that has an id.
const NAMED: &str = "id";

fn kind(note: &Note, unit: &Unit) -> &'static str {
    match unit.block(note).map(|block| &block.kind) {
        Some(BlockKind::Heading { .. }) => "heading",
        Some(BlockKind::Callout { .. }) => "callout",
        Some(BlockKind::ListItem { .. }) => "step",
        Some(BlockKind::Paragraph) => "text",
        Some(BlockKind::List { .. }) => "list",
        Some(BlockKind::Fence { .. }) => "fence",
        _ => "block",
    }
}

/// What two lines about the same have in common: what has an id may say something else the next time.
fn place_key(place: &str, kind: &str, hash: Hash, number: usize) -> String {
    match kind {
        NAMED => format!("^{place}"),
        PROPERTY => format!("{place}:"),
        _ => format!("{place} {kind} {}.{number}", hex(hash)),
    }
}

fn property_hash(key: &str, value: &Json) -> Hash {
    hash(key, &value.to_string())
}

fn task_hash(task: &Task) -> Hash {
    hash(TASK, &serde_json::to_string(task).unwrap_or_default())
}

fn hash(name: &str, text: &str) -> Hash {
    let mut hasher = blake3::Hasher::new();
    if !name.is_empty() {
        hasher.update(name.as_bytes());
        hasher.update(b": ");
    }
    hasher.update(text.as_bytes());
    short(&hasher.finalize())
}

fn hex(hash: Hash) -> String {
    hash.iter().fold(String::with_capacity(2 * BYTES), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn hash_of_hex(hex: &str) -> Option<Hash> {
    let mut hash = [0; BYTES];
    if hex.len() != 2 * BYTES || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(hash)
}
