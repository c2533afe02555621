//! Reads a bundle: lines to records, records to streams, and the account of what became of each.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::head::{self, CodexHead};
use super::reason;
use super::record::payload;
use super::stream::CodexStream;
use crate::file::jsonl;
use crate::file::value::{self, canonical, canonical_but, filled, object, word};
use crate::stream::intake::LATER;
use crate::stream::out::Out;
use cru_base::Result;
use cru_base::hash::short;
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Sink};

/// A hash of a record.
type CodexMark = [u8; 16];

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut heads = Vec::with_capacity(bundle.files.len());
    for path in &bundle.files {
        heads.push(CodexHead::read(bundle, path)?);
    }
    let mut reader = CodexReader::new(sink, &heads);
    for (path, head) in bundle.files.iter().zip(heads) {
        reader.file(bundle, path, head)?;
    }
    reader.finish();
    Ok(())
}

struct CodexReader<'s> {
    sink: &'s mut dyn Sink,
    streams: Vec<CodexStream>,
    by_key: HashMap<StreamKey, usize>,
    keys: HashMap<String, StreamKey>,
    /// Sessions with more than one file, and the records seen in the earlier ones.
    copies: HashMap<String, HashSet<CodexMark>>,
    /// Sessions that others go on with, and what their records say.
    origins: HashMap<String, HashSet<CodexMark>>,
    /// Sub-agents by id: their part and task, as the call that started them says.
    spawned: HashMap<String, (Option<String>, Option<String>)>,
    file: CodexFile,
}

/// The file that is read.
#[derive(Default)]
struct CodexFile {
    head: CodexHead,
    account: Account,
    stream: usize,
    /// Records of this file, where the session has more than one.
    own: Vec<CodexMark>,
    /// Whether what was read so far may be a copy of the session before.
    copying: bool,
}

impl<'s> CodexReader<'s> {
    fn new(sink: &'s mut dyn Sink, heads: &[CodexHead]) -> Self {
        let mut files: HashMap<&str, usize> = HashMap::new();
        for head in heads {
            *files.entry(&head.id).or_default() += 1;
        }
        let several = files.iter().filter(|(_, count)| **count > 1);
        let copies = several.map(|(id, _)| ((*id).to_owned(), HashSet::new())).collect();
        let above = heads.iter().filter_map(CodexHead::above).filter(|id| files.contains_key(id));
        let origins = above.map(|id| (id.to_owned(), HashSet::new())).collect();
        Self {
            sink,
            streams: Vec::new(),
            by_key: HashMap::new(),
            keys: heads.iter().map(|head| (head.id.clone(), head.key())).collect(),
            copies,
            origins,
            spawned: HashMap::new(),
            file: CodexFile::default(),
        }
    }

    fn file(&mut self, bundle: &Bundle, path: &Path, head: CodexHead) -> Result<()> {
        let stream = self.stream(&head, path);
        // A file that names its history repeats nothing of it.
        let copying = head.base.is_none() && head.above().is_some_and(|above| self.origins.contains_key(above));
        if head.base.is_some() {
            let origin = head.forked_from.as_ref().or(head.parent.as_ref());
            let origin = origin.and_then(|id| self.streams.iter().find(|stream| stream.id == *id));
            let sum = origin.and_then(|origin| origin.counter.sum());
            self.streams[stream].counter.inherit(sum);
        }
        self.file = CodexFile { head, stream, copying, ..CodexFile::default() };
        jsonl::each_line(bundle, path, |number, line| {
            self.sink.line(path, number);
            match line {
                Ok((record, line, ended)) => self.line(record, line, ended),
                Err(reason) => self.file.account.skip(reason),
            }
        })?;
        self.end_of_file(path);
        Ok(())
    }

    fn line(&mut self, record: Option<Value>, line: &[u8], ended: bool) {
        match record.map(|record| self.record(&record, line)) {
            Some(None) => self.file.account.represent(),
            Some(Some(reason)) => self.file.account.skip(reason),
            // A write in progress is no record yet: the next reading takes it whole.
            None if !ended => self.file.account.skip("partial last line"),
            None if self.is_copy(line, None) => self.file.account.skip("duplicate record"),
            None if self.streams[self.file.stream].is_full() => self.file.account.skip(LATER),
            None => {
                self.streams[self.file.stream].consume(line);
                self.file.account.skip("broken line");
            }
        }
        let stream = &mut self.streams[self.file.stream];
        let (untwinned, injected) = (std::mem::take(&mut stream.untwinned), std::mem::take(&mut stream.injected));
        for _ in 0..untwinned {
            self.file.account.unskip(reason::TWICE);
        }
        self.file.account.rename(reason::TWICE, reason::INJECTED, injected);
    }

    fn record(&mut self, envelope: &Value, line: &[u8]) -> Option<&'static str> {
        let payload = payload(envelope);
        if self.is_copy(line, Some(envelope)) {
            return Some("duplicate record");
        }
        let copied = self.is_of_origin(envelope, payload);
        let stream = &mut self.streams[self.file.stream];
        if stream.is_full() {
            return Some(LATER);
        }
        // A re-serialised record is the same record: its time, kind and call name it.
        let number = match filled(envelope, "timestamp") {
            Some(time) => {
                let kinds = [word(envelope, "type"), word(payload, "type"), word(payload, "call_id")];
                stream.consume(format!("{time} {}", kinds.join(" ")).as_bytes())
            }
            None => stream.consume(line),
        };
        if copied {
            if let Some(info) = object(payload, "info") {
                stream.counter.count(info);
            }
            return Some("copied from another session");
        }
        let time = value::time(envelope, "timestamp");
        let mut out = Out::new(&mut *self.sink, stream.key.clone(), number, time);
        let goes_on = self.file.head.goes_on() && word(envelope, "type") == "session_meta";
        if let Some(end) = self.file.head.base.as_ref().filter(|_| goes_on).and_then(|base| base.end) {
            stream.goes_back(end, &mut out);
        }
        if let Some(ordinal) = value::number(envelope, "ordinal") {
            stream.ordinals.push((ordinal, number));
        }
        let left = stream.record(envelope, payload, &mut out);
        for (id, part, task) in std::mem::take(&mut stream.spawned) {
            self.spawned.entry(id).or_insert((part, task));
        }
        left
    }

    /// Whether a record stands in an earlier file of the session.
    fn is_copy(&mut self, line: &[u8], record: Option<&Value>) -> bool {
        let Some(seen) = self.copies.get(&self.file.head.id) else { return false };
        // What the host encrypted is no part of what a record says.
        let mark = mark(&record.map_or_else(|| line.to_owned(), |record| canonical_but(record, "encrypted_content")));
        self.file.own.push(mark);
        seen.contains(&mark)
    }

    /// Whether a record was copied from the session that this one goes on with. The copies stand at the beginning.
    fn is_of_origin(&mut self, envelope: &Value, payload: &Value) -> bool {
        let id = &self.file.head.id;
        if !self.file.copying && !self.origins.contains_key(id) {
            return false;
        }
        let mark = mark(&canonical(payload));
        let above = self.file.head.above().filter(|_| self.file.copying);
        let copied = above.and_then(|above| self.origins.get(above)).is_some_and(|marks| marks.contains(&mark));
        if let Some(own) = self.origins.get_mut(id) {
            own.insert(mark);
        }
        // Work of its own shows that the copy has come to its end; what the host notes between is no work.
        let works = match word(envelope, "type") {
            "response_item" => !matches!(word(payload, "role"), "developer" | "system" | "user"),
            "event_msg" => matches!(word(payload, "type"), "user_message" | "agent_message"),
            _ => false,
        };
        if works && !copied {
            self.file.copying = false;
        }
        copied && word(envelope, "type") != "session_meta"
    }

    fn stream(&mut self, head: &CodexHead, path: &Path) -> usize {
        let key = head.key();
        if let Some(&stream) = self.by_key.get(&key) {
            return stream;
        }
        let above = head.above().map(|above| {
            let session = || StreamKey { session: above.to_owned(), agent: None };
            self.keys.get(above).cloned().unwrap_or_else(session)
        });
        let (part, task) = self.spawned.get(&head.id).cloned().unwrap_or_default();
        let name = if key.agent.is_none() { head::name(path, &head.id) } else { String::new() };
        self.sink.open(Header {
            aside: !name.is_empty(),
            parent: above.filter(|above| *above != key),
            transcript: PathBuf::from(path),
            agent: head.role.clone().or(part).or_else(|| key.agent.as_ref().map(|_| "agent".to_owned())),
            task,
            key: key.clone(),
        });
        let stream = self.streams.len();
        let bounds = self.sink.bounds(&key);
        self.streams.push(CodexStream::new(key.clone(), head.id.clone(), name, bounds));
        self.by_key.insert(key, stream);
        stream
    }

    fn end_of_file(&mut self, path: &Path) {
        let stream = &mut self.streams[self.file.stream];
        let mut out = Out::new(&mut *self.sink, stream.key.clone(), stream.records(), None);
        stream.end_of_file(&mut out);
        let mut account = std::mem::take(&mut self.file.account);
        for _ in 0..std::mem::take(&mut stream.untwinned) {
            account.unskip(reason::TWICE);
        }
        account.rename(reason::TWICE, reason::INJECTED, std::mem::take(&mut stream.injected));
        if let Some(seen) = self.copies.get_mut(&self.file.head.id) {
            seen.extend(self.file.own.drain(..));
        }
        self.sink.account(path, account);
    }

    fn finish(self) {
        for state in &self.streams {
            self.sink.close(&state.key, state.consumed());
        }
    }
}

fn mark(bytes: &[u8]) -> CodexMark {
    short(&blake3::hash(bytes))
}
