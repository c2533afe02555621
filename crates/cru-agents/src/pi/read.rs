//! Reads a bundle: lines to records, records to sessions, and the account of what became of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::below;
use super::head::PiHead;
use super::reason;
use super::record::{PiRecord, with_record};
use super::session::PiSession;
use crate::file::lines::{Line, Lines, MAX_LINE, trim};
use crate::stream::intake::LATER;
use crate::stream::out::{Fate, Out};
use cru_base::{Error, Result, json};
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Sink};

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut reader = PiReader {
        sink,
        sessions: Vec::new(),
        by_key: HashMap::new(),
        seen: HashMap::new(),
        plain: HashMap::new(),
        file: PiFile::default(),
    };
    for path in &bundle.files {
        reader.file(bundle, path)?;
    }
    for session in &reader.sessions {
        reader.sink.close(&session.key, session.intake.consumed(session.calls.waiting() > 0));
    }
    Ok(())
}

/// Hash of a line.
type PiHash = [u8; 16];

struct PiReader<'s> {
    sink: &'s mut dyn Sink,
    sessions: Vec<PiSession>,
    by_key: HashMap<StreamKey, usize>,
    /// Entries by session and id: the file each stands in, and its hash.
    seen: HashMap<(usize, String), (usize, PiHash)>,
    /// Lines without id, by session and hash, and the file they stand in: copies in another file are told once.
    plain: HashMap<(usize, PiHash), usize>,
    file: PiFile,
}

/// The file that is read.
#[derive(Default)]
struct PiFile {
    path: PathBuf,
    index: usize,
    head: PiHead,
    /// Its session, once a record of it was read.
    session: Option<usize>,
    account: Account,
}

impl PiReader<'_> {
    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<()> {
        let head = PiHead::read(bundle, path)?;
        let index = self.file.index + 1;
        self.file = PiFile { path: path.to_owned(), index, head, session: None, account: Account::default() };
        let source = bundle.open(path).map_err(|source| Error::io("read", path, source))?;
        let mut lines = Lines::new(source, MAX_LINE);
        for number in 1.. {
            self.sink.line(path, number);
            match lines.next().map_err(|source| Error::io("read", path, source))? {
                None => break,
                Some(Line::Oversized) => self.file.account.skip("oversized line"),
                Some(Line::Whole(line, ended)) => {
                    let line = trim(line);
                    if !line.is_empty() {
                        self.line(line, ended);
                    }
                }
            }
        }
        let account = std::mem::take(&mut self.file.account);
        self.sink.account(path, account);
        Ok(())
    }

    fn line(&mut self, line: &[u8], ended: bool) {
        let text = json::text(line);
        let fate = with_record(&text, |record| self.record(record, line)).or_else(|| self.joined(&text, line));
        match fate {
            Some(Fate::Shown) => self.file.account.represent(),
            Some(Fate::Skipped(reason)) => self.file.account.skip(reason),
            // A write in progress is no record yet: the next reading takes it whole.
            None if !ended => self.file.account.skip("partial last line"),
            None => {
                let session = self.session();
                if self.is_copy(session, "", line) {
                    self.file.account.skip(reason::DUPLICATE);
                } else if self.sessions[session].intake.is_full() {
                    self.file.account.skip(LATER);
                } else {
                    self.consume(session, line, "");
                    self.file.account.skip("broken line");
                }
            }
        }
    }

    /// A line that holds more than one entry: two processes wrote at once. `None` where it is anything else.
    fn joined(&mut self, text: &str, line: &[u8]) -> Option<Fate> {
        let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let parts: Vec<&str> = values.map(|it| it.map(RawValue::get)).collect::<Result<_, _>>().ok()?;
        if parts.len() < 2 || parts.iter().any(|part| !part.starts_with('{')) {
            return None;
        }
        let session = self.session();
        if self.is_copy(session, "", line) {
            return Some(Fate::Skipped(reason::DUPLICATE));
        }
        if self.sessions[session].intake.is_full() {
            return Some(Fate::Skipped(LATER));
        }
        let number = self.consume(session, line, "");
        let mut fate = None;
        for part in parts {
            let one = with_record(part, |record| {
                let id = record.id.filled().unwrap_or("").to_owned();
                if !id.is_empty() && self.is_copy(session, &id, part.as_bytes()) {
                    return Fate::Skipped(reason::DUPLICATE);
                }
                self.tell(session, number, record)
            });
            fate = if fate == Some(Fate::Shown) { fate } else { one.or(fate) };
        }
        fate
    }

    fn record(&mut self, record: &mut PiRecord<'_>, line: &[u8]) -> Fate {
        let session = self.session();
        // The header's id is the session's; a redaction tool leaves one word in place of every id.
        let id = match record.kind.str() {
            "session" => "",
            _ => record.id.filled().filter(|id| *id != "REDACTED").unwrap_or(""),
        };
        if self.is_copy(session, id, line) {
            return Fate::Skipped(reason::DUPLICATE);
        }
        if self.sessions[session].intake.is_full() {
            return Fate::Skipped(LATER);
        }
        let number = self.consume(session, line, id);
        self.tell(session, number, record)
    }

    fn tell(&mut self, session: usize, number: u64, record: &mut PiRecord<'_>) -> Fate {
        let state = &mut self.sessions[session];
        let mut out = Out::new(&mut *self.sink, state.key.clone(), number, time(record));
        state.entry(record, &mut out)
    }

    fn consume(&mut self, session: usize, line: &[u8], id: &str) -> u64 {
        let state = &mut self.sessions[session];
        state.intake.consume(line, id, state.calls.waiting() > 0)
    }

    /// Whether an entry was read before: in an earlier file of the bundle, or word for word in this one.
    fn is_copy(&mut self, session: usize, id: &str, line: &[u8]) -> bool {
        let mut hash = PiHash::default();
        hash.copy_from_slice(&blake3::hash(line).as_bytes()[..16]);
        let file = self.file.index;
        if id.is_empty() {
            return *self.plain.entry((session, hash)).or_insert(file) != file;
        }
        let (known, same) = *self.seen.entry((session, id.to_owned())).or_insert((file, PiHash::default()));
        if known != file || same == hash {
            return true;
        }
        // Two entries of one file under one id are both told; an id says no more than its record then.
        self.seen.insert((session, id.to_owned()), (file, hash));
        false
    }

    /// The session of the file.
    fn session(&mut self) -> usize {
        if let Some(session) = self.file.session {
            return session;
        }
        let session = self.open(StreamKey { session: self.file.head.session.clone(), agent: None });
        self.file.session = Some(session);
        session
    }

    fn open(&mut self, key: StreamKey) -> usize {
        if let Some(&session) = self.by_key.get(&key) {
            return session;
        }
        let origin = self.file.head.origin(&self.file.path);
        let has_origin = origin.as_ref().is_some_and(|(_, at_hand)| *at_hand);
        self.sink.open(Header {
            parent: self.file.head.before(&self.file.path).map(|session| StreamKey { session, agent: None }),
            agent: self.file.head.runner().map(|_| "agent".to_owned()),
            transcript: self.file.path.clone(),
            key: key.clone(),
            aside: below::folder(&self.file.path).is_dir(),
            ..Header::default()
        });
        let bounds = self.sink.bounds(&key);
        let mut session = PiSession::new(key.clone(), bounds, &self.file.head, has_origin);
        session.started = below::started(&self.file.path, &key);
        self.sessions.push(session);
        self.by_key.insert(key, self.sessions.len() - 1);
        self.sessions.len() - 1
    }
}

/// When an entry was written: in words, or in its message as milliseconds.
fn time(record: &PiRecord<'_>) -> Option<Timestamp> {
    let told = || record.message.0.as_ref().and_then(|message| message.timestamp.0);
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let millis = || told().and_then(|millis| Timestamp::from_millisecond(millis as i64).ok());
    record.timestamp.str().parse().ok().or_else(millis)
}
