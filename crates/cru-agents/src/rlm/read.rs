//! Reads the files of one session: documents to records in the order of their times, records to events, and the account
//! of what became of each.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

use super::bundle::look;
use super::cell;
use super::context::{self, MESSAGES, bytes, when};
use super::file::RlmKind;
use super::head::RlmHead;
use super::touch::{Access, Waiting};
use crate::call::open::Calls;
use crate::file::document::{self, BROKEN, PARTIAL, Piece, Where, items, members, text};
use crate::file::value;
use crate::stream::intake::{Intake, LATER};
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use cru_base::Result as Read;
use cru_session::event::{EventKind, StreamKey};
use cru_session::source::{Account, Bundle, Header, Sink};

/// A context whose session is named by no file of its own.
const NO_SESSION: &str = "no session file";
/// Told by another file of the session.
const DUPLICATE: &str = "duplicate record";

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Read<()> {
    let mut session = RlmSession::default();
    let mut key = None;
    let mut kinds = Vec::with_capacity(bundle.files.len());
    for path in &bundle.files {
        let (kind, id) = look(bundle, path)?;
        key = key.or(id);
        kinds.push(kind);
    }
    // What lies in a folder of its own needs no other file to say whose it is.
    session.known = key.is_some() && kinds.iter().flatten().any(|kind| kind.proves_a_session());
    session.logged = kinds.contains(&Some(RlmKind::Access));
    for (path, kind) in bundle.files.iter().zip(&kinds) {
        let file = session.files.len();
        session.files.push((path.clone(), Account::default()));
        match (document::read(bundle, path)?, kind) {
            (None, _) => session.skip(file, "oversized file"),
            (Some(text), Some(kind)) => session.take(file, *kind, &text),
            (Some(_), None) => session.skip(file, BROKEN),
        }
    }
    session.tell(&StreamKey { session: key.unwrap_or_default(), agent: None }, sink);
    for (path, account) in session.files {
        sink.account(&path, account);
    }
    Ok(())
}

/// What a record is.
enum What {
    Message(Value),
    Output(Value, Option<Access>),
    Access(Access),
    Cell(Value),
    Decision(Value),
    Trace(Value),
    Memory(Value),
    Backup(Value),
    Trajectory(Value, usize),
    Files(Vec<(String, Value)>),
}

struct RlmRecord {
    time: Option<Timestamp>,
    file: usize,
    line: u64,
    bytes: Vec<u8>,
    what: What,
}

/// One session while it is read.
#[derive(Default)]
struct RlmSession {
    head: RlmHead,
    files: Vec<(PathBuf, Account)>,
    records: Vec<RlmRecord>,
    /// The file that each record was met in first.
    seen: HashMap<blake3::Hash, usize>,
    /// Whether some file says that there is such a session.
    known: bool,
    /// Whether a log tells which files were touched.
    logged: bool,
}

impl RlmSession {
    fn skip(&mut self, file: usize, reason: &'static str) {
        self.files[file].1.skip(reason);
    }

    fn take(&mut self, file: usize, kind: RlmKind, document: &str) {
        match kind {
            RlmKind::State | RlmKind::Metadata => self.state(file, kind, document),
            RlmKind::Context | RlmKind::Shared => self.context(file, document),
            RlmKind::Access => {
                let access = |value| Access::of(&value).map(What::Access).ok_or("access without a file");
                self.lines(file, document, access);
            }
            RlmKind::Cell => self.document(file, document, What::Cell),
            RlmKind::Memory => self.document(file, document, What::Memory),
            RlmKind::Backup => self.document(file, document, What::Backup),
            RlmKind::CellIndex => self.skip(file, "index of cells: it is computed"),
            RlmKind::Decisions => self.lines(file, document, |value| Ok(What::Decision(value))),
            RlmKind::Traces => self.lines(file, document, |value| Ok(What::Trace(value))),
            RlmKind::Trajectory => self.trajectory(file, document),
        }
    }

    fn state(&mut self, file: usize, kind: RlmKind, document: &str) {
        let Some(value) = whole(document) else { return self.skip(file, PARTIAL) };
        if kind == RlmKind::State {
            self.head.state(&value);
        } else {
            self.head.metadata(&value);
        }
        self.files[file].1.represent();
        if let Some((_, context)) = members(document).iter().find(|(name, _)| name == "context") {
            self.context(file, context.text);
        }
    }

    /// Messages, outputs and memory. Each list is told up to where it is cut off.
    fn context(&mut self, file: usize, document: &str) {
        let root = members(document);
        if root.is_empty() {
            return if document.trim() == "{}" { self.skip(file, "empty context") } else { self.skip(file, BROKEN) };
        }
        let mut place = Where::new(document);
        // The members in their order, so that lines are found going forward.
        for (name, piece) in &root {
            match name.as_ref() {
                name if MESSAGES.contains(&name) => self.list(file, piece, &mut place, What::Message),
                "tool_outputs" => self.list(file, piece, &mut place, |value| What::Output(value, None)),
                "files" => self.file_table(file, piece),
                "working_memory" if self.known => match piece.value() {
                    Some(memory) => self.head.remember(Some(&memory)),
                    None => self.skip(file, piece.trouble()),
                },
                _ => {}
            }
        }
    }

    fn list(&mut self, file: usize, piece: &Piece<'_>, place: &mut Where<'_>, what: impl Fn(Value) -> What) {
        for item in items(piece.text) {
            match item.value().filter(Value::is_object) {
                Some(value) => self.add(file, place.line(item.text), when(&value), bytes(&value), what(value)),
                None => self.skip(file, item.trouble()),
            }
        }
    }

    fn file_table(&mut self, file: usize, piece: &Piece<'_>) {
        let members = members(piece.text);
        let files: Vec<(String, Value)> =
            members.into_iter().map(|(name, about)| (name.into_owned(), about.value().unwrap_or_default())).collect();
        if files.is_empty() {
            return;
        }
        if self.logged {
            return self.skip(file, "table of files: the log tells of them");
        }
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let bytes = names.join("\n").into_bytes();
        self.add(file, 1, None, bytes, What::Files(files));
    }

    /// A record that is a file of its own.
    fn document(&mut self, file: usize, document: &str, what: impl Fn(Value) -> What) {
        match whole(document) {
            Some(value) => self.add(file, 1, when(&value), bytes(&value), what(value)),
            None => self.skip(file, PARTIAL),
        }
    }

    /// A record a line.
    fn lines(&mut self, file: usize, document: &str, what: impl Fn(Value) -> Result<What, &'static str>) {
        for (number, line) in (1..).zip(document.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            match value::read(line.as_bytes()).filter(Value::is_object) {
                Some(value) => {
                    let (time, bytes) = (when(&value), bytes(&value));
                    match what(value) {
                        Ok(what) => self.add(file, number, time, bytes, what),
                        Err(reason) => self.skip(file, reason),
                    }
                }
                None => self.skip(file, BROKEN),
            }
        }
    }

    /// A summary: a document, or lines of events of which one sums up.
    fn trajectory(&mut self, file: usize, document: &str) {
        if let Some(value) = whole(document) {
            return self.add(file, 1, when(&value), bytes(&value), What::Trajectory(value, 0));
        }
        let (mut sum, mut events) = (Value::Null, 0);
        for line in document.lines().filter(|line| !line.trim().is_empty()) {
            match value::read(line.as_bytes()).filter(Value::is_object) {
                Some(value) => {
                    events += 1;
                    let sums_up = text(&value, &["summary", "final_summary", "final_answer"]).is_some();
                    if sums_up || sum.is_null() {
                        sum = value;
                    }
                }
                None => self.skip(file, BROKEN),
            }
        }
        if events > 0 {
            // The other lines are counted and stand in the file alone.
            for _ in 1..events {
                self.skip(file, "event of a trajectory");
            }
            self.add(file, 1, when(&sum), bytes(&sum), What::Trajectory(sum, events));
        }
    }

    fn add(&mut self, file: usize, line: u64, time: Option<Timestamp>, bytes: Vec<u8>, what: What) {
        // Contexts are stored twice now and then; within one file the same words are said again.
        let first = *self.seen.entry(blake3::hash(&bytes)).or_insert(file);
        if !self.known {
            self.skip(file, NO_SESSION);
        } else if first != file {
            self.skip(file, DUPLICATE);
        } else {
            self.records.push(RlmRecord { time, file, line, bytes, what });
        }
    }

    fn tell(&mut self, key: &StreamKey, sink: &mut dyn Sink) {
        if !self.known || (self.records.is_empty() && !self.head.says_something()) {
            for (_, account) in &mut self.files {
                let count = account.represented;
                for _ in 0..count {
                    account.skip("session without content");
                }
                account.records -= count;
                account.represented = 0;
            }
            return;
        }
        let mut records = in_order(std::mem::take(&mut self.records));
        let merged = join(&mut records);
        let first = records.iter().map(|record| record.file).min().unwrap_or(0);
        let transcript = self.files.get(first).map(|(path, _)| path.clone()).unwrap_or_default();
        sink.open(Header { key: key.clone(), transcript, ..Header::default() });
        let mut intake = Intake::new(sink.bounds(key));
        let key = Rc::new(key.clone());
        let (mut place, mut calls) = (Place::default(), Calls::default());
        self.head.open(&mut place, &mut Out::new(sink, Rc::clone(&key), 0, self.head.started));
        let asks = matches!(records.first().map(|it| &it.what), Some(What::Message(value)) if text(value, &["role"]) == Some("user"));
        let is_cell = |record: &RlmRecord| match &record.what {
            What::Cell(value) => cell::id(value).map(str::to_owned),
            _ => None,
        };
        let all_cells: HashSet<String> = records.iter().filter_map(is_cell).collect();
        let mut cells: HashMap<String, String> = HashMap::new();
        for (index, record) in records.iter().enumerate() {
            if intake.is_full() {
                self.skip(record.file, LATER);
                continue;
            }
            let number = intake.consume(&record.bytes, "", false);
            let (path, account) = &mut self.files[record.file];
            sink.line(path, record.line);
            let mut out = Out::new(sink, Rc::clone(&key), number, record.time);
            if index == 0 && !asks {
                let subject = self.head.subject().unwrap_or("Kept state");
                out.quiet(EventKind::Phase(subject.to_owned().into()));
            }
            let id = calls.name("", number);
            let fate = match &record.what {
                What::Message(value) => context::message(value, &mut out),
                What::Output(value, _) if text(value, &["cell_id"]).is_some_and(|id| all_cells.contains(id)) => {
                    Fate::Skipped("output that its cell tells")
                }
                What::Cell(value) => {
                    let fate = cell::cell(value, &id, &cells, &place, &mut out);
                    cells.extend(cell::id(value).map(|cell| (cell.to_owned(), id.clone())));
                    fate
                }
                What::Decision(value) => cell::decision(value, &mut out),
                What::Trace(value) => cell::trace(value, &mut out),
                What::Memory(value) => cell::snapshot(value, &mut out),
                What::Output(value, access) => context::output(value, access.as_ref(), &id, &place, &mut out),
                What::Access(_) if merged.contains(&index) => Fate::Shown,
                What::Access(access) => context::access(access, &id, &place, &mut out),
                What::Backup(value) => context::backup(value, &shown(path, &place), &mut out),
                What::Trajectory(value, events) => context::trajectory(value, *events, &shown(path, &place), &mut out),
                What::Files(names) => {
                    context::file_table(names, &place, &mut out);
                    Fate::Shown
                }
            };
            match fate {
                Fate::Shown => account.represent(),
                Fate::Skipped(reason) => account.skip(reason),
            }
        }
        let mut out = Out::new(sink, Rc::clone(&key), intake.records(), self.head.latest.or(self.head.started));
        if records.is_empty() {
            let subject = self.head.subject().unwrap_or("Kept state");
            out.quiet(EventKind::Phase(subject.to_owned().into()));
            out.time = self.head.latest;
        }
        self.head.close(&mut out);
        sink.close(&key, intake.consumed(false));
    }
}

/// A whole document that is an object.
fn whole(document: &str) -> Option<Value> {
    value::read(document.as_bytes()).filter(Value::is_object)
}

/// A path as a note writes it.
fn shown(path: &Path, place: &Place) -> String {
    let path = path.to_string_lossy();
    let path: Cow<'_, str> = place.tilde(&path);
    path.replace('`', "'")
}

/// By time. A record without one stays behind the one before it.
fn in_order(records: Vec<RlmRecord>) -> Vec<RlmRecord> {
    let mut last = (usize::MAX, None);
    let keyed = records.into_iter().map(|record| {
        let before = if last.0 == record.file { last.1 } else { None };
        last = (record.file, record.time.or(before));
        (last.1, record)
    });
    let mut keyed: Vec<_> = keyed.collect();
    // What has no time at all stands behind what has one.
    keyed.sort_by_key(|(time, _)| (time.is_none(), *time));
    keyed.into_iter().map(|(_, record)| record).collect()
}

/// Gives outputs the file that they touched; the indices of the accesses that are told by them.
fn join(records: &mut [RlmRecord]) -> HashSet<usize> {
    let mut waiting = Waiting::default();
    for (index, record) in records.iter().enumerate() {
        if let What::Output(value, _) = &record.what {
            waiting.add(text(value, &["tool_name", "tool", "name"]).unwrap_or(""), record.time, index);
        }
    }
    let mut merged = HashSet::new();
    for index in 0..records.len() {
        let What::Access(access) = &records[index].what else { continue };
        let access = access.clone();
        let Some(output) = waiting.take(&access, records[index].time) else { continue };
        if let What::Output(_, joined) = &mut records[output].what {
            *joined = Some(access);
            merged.insert(index);
        }
    }
    merged
}
