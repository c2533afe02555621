//! Reads the files of one session: documents to records in the order of their times, records to events, and the account
//! of what became of each.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::context::{self, MESSAGES, when};
use super::file::RlmKind;
use super::file::look;
use super::head::RlmHead;
use super::touch::{Access, Waiting};
use crate::call::open::Calls;
use crate::file::document::{self, BROKEN, PARTIAL, Piece, Where, items, members};
use crate::file::jsonl::DUPLICATE;
use crate::file::value::{self, filled};
use crate::stream::place::Place;
use crate::stream::teller::Teller;
use cru_base::Result;
use cru_session::event::{EventKind, StreamKey};
use cru_session::source::{Account, Bundle, Header, Sink};

/// A context whose session is named by no file of its own.
const NO_SESSION: &str = "no session file";

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut session = RlmSession { accounts: vec![Account::default(); bundle.files.len()], ..RlmSession::default() };
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
    for (file, (path, kind)) in bundle.files.iter().zip(&kinds).enumerate() {
        match (document::read(bundle, path)?, kind) {
            (None, _) => session.skip(file, "oversized file"),
            (Some(text), Some(kind)) => session.take(file, *kind, &text),
            (Some(_), None) => session.skip(file, BROKEN),
        }
    }
    session.tell(StreamKey { session: key.unwrap_or_default(), agent: None }, &bundle.files, sink);
    for (path, account) in bundle.files.iter().zip(session.accounts) {
        sink.account(path, account);
    }
    Ok(())
}

/// What a record is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Message,
    Output,
    Access,
    Cell,
    Decision,
    Trace,
    Memory,
    Backup,
    /// With the number of its events that stand in lines.
    Trajectory(usize),
    /// The files that a context knows.
    Files,
}

struct RlmRecord {
    time: Option<Timestamp>,
    file: usize,
    line: u64,
    bytes: Vec<u8>,
    what: What,
    value: Value,
    /// The access that it is, or the one of an output.
    access: Option<Access>,
}

/// One session while it is read.
#[derive(Default)]
struct RlmSession {
    head: RlmHead,
    accounts: Vec<Account>,
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
        self.accounts[file].skip(reason);
    }

    fn take(&mut self, file: usize, kind: RlmKind, document: &str) {
        match kind {
            RlmKind::State | RlmKind::Metadata => self.state(file, kind, document),
            RlmKind::Context | RlmKind::Shared => self.context(file, document),
            RlmKind::Access => self.lines(file, document, What::Access),
            RlmKind::Cell => self.document(file, document, What::Cell),
            RlmKind::Memory => self.document(file, document, What::Memory),
            RlmKind::Backup => self.document(file, document, What::Backup),
            RlmKind::CellIndex => self.skip(file, "index of cells: it is computed"),
            RlmKind::Decisions => self.lines(file, document, What::Decision),
            RlmKind::Traces => self.lines(file, document, What::Trace),
            RlmKind::Trajectory => self.trajectory(file, document),
        }
    }

    fn state(&mut self, file: usize, kind: RlmKind, document: &str) {
        let Some(value) = object(document) else { return self.skip(file, PARTIAL) };
        if kind == RlmKind::State {
            self.head.state(&value);
        } else {
            self.head.metadata(&value);
        }
        self.accounts[file].represent();
        if let Some((_, context)) = members(document).iter().find(|(name, _)| name == "context") {
            self.context(file, context.text);
        }
    }

    /// Messages, outputs and memory. Each list is told up to where it is cut off.
    fn context(&mut self, file: usize, document: &str) {
        let root = members(document);
        if root.is_empty() {
            return self.skip(file, if document.trim() == "{}" { "empty context" } else { BROKEN });
        }
        let mut place = Where::new(document);
        // The members in their order, so that lines are found going forward.
        for (name, piece) in &root {
            match name.as_ref() {
                name if MESSAGES.contains(&name) => self.list(file, piece, &mut place, What::Message),
                "tool_outputs" => self.list(file, piece, &mut place, What::Output),
                "files" => {
                    let files = members(piece.text).into_iter();
                    let files = files.map(|(name, about)| (name.into_owned(), about.value().unwrap_or_default()));
                    match files.collect::<Value>() {
                        Value::Object(files) if files.is_empty() => {}
                        _ if self.logged => self.skip(file, "table of files: the log tells of them"),
                        files => self.add(file, 1, What::Files, files),
                    }
                }
                "working_memory" if self.known => match piece.value() {
                    Some(memory) => self.head.remember(Some(&memory)),
                    None => self.skip(file, piece.trouble()),
                },
                _ => {}
            }
        }
    }

    fn list(&mut self, file: usize, piece: &Piece<'_>, place: &mut Where<'_>, what: What) {
        for item in items(piece.text) {
            match item.value().filter(Value::is_object) {
                Some(value) => self.add(file, place.line(item.text), what, value),
                None => self.skip(file, item.trouble()),
            }
        }
    }

    /// A record that is a file of its own.
    fn document(&mut self, file: usize, document: &str, what: What) {
        match object(document) {
            Some(value) => self.add(file, 1, what, value),
            None => self.skip(file, PARTIAL),
        }
    }

    /// A record a line.
    fn lines(&mut self, file: usize, document: &str, what: What) {
        for (number, line) in (1..).zip(document.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            match object(line) {
                Some(value) => self.add(file, number, what, value),
                None => self.skip(file, BROKEN),
            }
        }
    }

    /// A summary: a document, or lines of events of which one sums up.
    fn trajectory(&mut self, file: usize, document: &str) {
        if let Some(value) = object(document) {
            return self.add(file, 1, What::Trajectory(0), value);
        }
        let (mut sum, mut events) = (Value::Null, 0);
        for line in document.lines().filter(|line| !line.trim().is_empty()) {
            let Some(value) = object(line) else {
                self.skip(file, BROKEN);
                continue;
            };
            // The other lines are counted and stand in the file alone.
            if events > 0 {
                self.skip(file, "event of a trajectory");
            }
            events += 1;
            if sum.is_null() || filled(&value, ["summary", "final_summary", "final_answer"]).is_some() {
                sum = value;
            }
        }
        if events > 0 {
            self.add(file, 1, What::Trajectory(events), sum);
        }
    }

    fn add(&mut self, file: usize, line: u64, what: What, value: Value) {
        let access = if what == What::Access { Access::of(&value) } else { None };
        let (time, bytes) = match value.as_object() {
            // What is told of files may become more.
            Some(files) if what == What::Files => {
                (None, files.keys().map(String::as_str).collect::<Vec<_>>().join("\n").into_bytes())
            }
            _ => (when(&value), value::exact_but(&value, &[])),
        };
        // Contexts are stored twice now and then; within one file the same words are said again.
        let first = *self.seen.entry(blake3::hash(&bytes)).or_insert(file);
        if what == What::Access && access.is_none() {
            self.skip(file, "access without a file");
        } else if !self.known {
            self.skip(file, NO_SESSION);
        } else if first != file {
            self.skip(file, DUPLICATE);
        } else {
            self.records.push(RlmRecord { time, file, line, bytes, what, value, access });
        }
    }

    fn tell(&mut self, key: StreamKey, files: &[PathBuf], sink: &mut dyn Sink) {
        if !self.known || (self.records.is_empty() && !self.head.says_something()) {
            for account in &mut self.accounts {
                account.withhold(account.represented, "session without content");
            }
            return;
        }
        let mut records = in_order(std::mem::take(&mut self.records));
        join(&mut records);
        let first = records.iter().map(|record| record.file).min().unwrap_or(0);
        let transcript = files.get(first).cloned().unwrap_or_default();
        let header = Header { key, transcript, ..Header::default() };
        let mut teller = Teller::open(header, files, sink, &mut self.accounts);
        let (mut place, mut calls) = (Place::default(), Calls::default());
        let subject = self.head.subject().unwrap_or("Kept state");
        self.head.open(&mut place, &mut teller.out(0, self.head.started));
        let asks = records
            .first()
            .is_some_and(|first| first.what == What::Message && filled(&first.value, "role") == Some("user"));
        let all_cells: HashSet<&str> =
            records.iter().filter(|it| it.what == What::Cell).filter_map(|it| context::id(&it.value)).collect();
        let mut cells: HashMap<&str, String> = HashMap::new();
        for (index, record) in records.iter().enumerate() {
            teller.go_to_file(record.file);
            let Some(number) = teller.take_line(Some(record.line), &record.bytes, "") else { continue };
            let mut out = teller.out(number, record.time);
            if index == 0 && !asks {
                out.quiet(EventKind::Phase(subject.into()));
            }
            let id = calls.name("", number);
            let value = &record.value;
            let lies_at = || shown(&files[record.file], &place);
            let left = match (record.what, &record.access) {
                (What::Message, _) => context::message(value, &mut out),
                (What::Output, _) if filled(value, "cell_id").is_some_and(|id| all_cells.contains(id)) => {
                    Some("output that its cell tells")
                }
                (What::Cell, _) => {
                    context::cell(value, &id, &cells, &place, &mut out);
                    cells.extend(context::id(value).map(|cell| (cell, id)));
                    None
                }
                (What::Decision, _) => context::decision(value, &mut out),
                (What::Trace, _) => context::trace(value, &mut out),
                (What::Memory, _) => context::snapshot(value, &mut out),
                (What::Output, access) => context::output(value, access.as_ref(), &id, &place, &mut out),
                (What::Access, Some(access)) => context::access(access, &id, &place, &mut out),
                // The output of the same access tells it.
                (What::Access, None) => None,
                (What::Backup, _) => context::backup(value, &lies_at(), &mut out),
                (What::Trajectory(events), _) => context::trajectory(value, events, &lies_at(), &mut out),
                (What::Files, _) => context::file_table(value, &place, &mut out),
            };
            teller.count(left);
        }
        let mut out = teller.out(teller.intake.records(), self.head.latest.or(self.head.started));
        if records.is_empty() {
            out.quiet(EventKind::Phase(subject.into()));
            out.time = self.head.latest;
        }
        self.head.close(&mut out);
        teller.close();
    }
}

/// An object.
fn object(text: &str) -> Option<Value> {
    value::read(text.as_bytes()).filter(Value::is_object)
}

/// A path as a note writes it.
fn shown(path: &Path, place: &Place) -> String {
    place.tilde(&path.to_string_lossy()).replace('`', "'")
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

/// Gives outputs the access that they are of.
fn join(records: &mut [RlmRecord]) {
    let mut waiting = Waiting::default();
    for (index, record) in records.iter().enumerate().filter(|(_, record)| record.what == What::Output) {
        waiting.add(filled(&record.value, ["tool_name", "tool", "name"]).unwrap_or(""), record.time, index);
    }
    for index in 0..records.len() {
        let RlmRecord { what: What::Access, access: Some(access), time, .. } = &records[index] else { continue };
        if let Some(output) = waiting.take(access, *time) {
            records[output].access = records[index].access.take();
        }
    }
}
