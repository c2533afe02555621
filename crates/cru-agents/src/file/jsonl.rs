//! Sessions as JSON lines, one value a line: the loop that the agents which write them so have in common.
//!
//! It reads lines, finds the stream of each record, leaves out copies, counts and hashes what was taken in and accounts
//! for every line. What a record means is the agent's own ([`Format`], [`State`]). Records are generic values: a key
//! that is missing or of another type reads as null, and of a key that stands there twice the last counts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

use super::lines::{Line, Lines, MAX_LINE, trim};
use super::unpack;
use crate::stream::intake::{Intake, LATER};
use crate::stream::out::Out;
use cru_base::hash::short;
use cru_base::{Error, Result, json};
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Sink};

/// Told by an earlier line.
pub(crate) const DUPLICATE: &str = "duplicate record";

/// How an agent's files become streams.
pub(crate) trait Format {
    /// What is kept of a stream while it is read.
    type State: State;
    /// The stream that a file's records are of.
    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header>;
    /// The stream of a record that is none of its file's own: the work of a sub-agent.
    fn aside(&mut self, _own: &StreamKey, _record: &Value) -> Option<Header> {
        None
    }
    /// A stream begins.
    fn begin(&mut self, header: &Header) -> Self::State;
}

/// One stream of an agent while it is read.
pub(crate) trait State {
    /// The id of a record, `""` where it has none.
    fn id(&self, record: &Value) -> String;
    /// When a record was written.
    fn time(&self, record: &Value) -> Option<Timestamp>;
    /// Tells what a record says; why it is left out, where it is.
    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str>;
    /// Whether some call waits for its answer.
    fn waits(&self) -> bool;
    /// The bytes of a record by which the cursor knows it: what stays the same when the host writes it anew.
    fn lasting<'l>(&self, _record: &Value, line: &'l [u8]) -> Cow<'l, [u8]> {
        Cow::Borrowed(line)
    }
    /// The bytes that a record has in common with its copies in other files.
    fn copied<'l>(&self, _record: &Value, line: &'l [u8]) -> Cow<'l, [u8]> {
        Cow::Borrowed(line)
    }
    /// One of its files ends: tells what no other file goes on with.
    fn end_of_file(&mut self, _out: &mut Out<'_>) {}
    /// Tells what was waiting for a further record: there is none.
    fn end(&mut self, _out: &mut Out<'_>) {}
}

/// Reads a bundle and hands its events to the sink.
pub(crate) fn read<F: Format>(format: F, bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    read_some(format, bundle, &bundle.files, sink)
}

/// Reads those files of a bundle that are JSON lines.
pub(crate) fn read_some<F: Format>(format: F, bundle: &Bundle, files: &[PathBuf], sink: &mut dyn Sink) -> Result<()> {
    let mut reader = Reader {
        format,
        sink,
        streams: Vec::new(),
        by_key: HashMap::new(),
        seen: HashMap::new(),
        plain: HashMap::new(),
        file: 0,
        account: Account::default(),
    };
    for (index, path) in files.iter().enumerate() {
        reader.file = index;
        reader.file(bundle, path)?;
    }
    for stream in &mut reader.streams {
        let waits = stream.state.waits();
        stream.state.end(&mut Out::new(&mut *reader.sink, stream.key.clone(), stream.intake.records(), None));
        reader.sink.close(&stream.key, stream.intake.consumed(waits));
    }
    Ok(())
}

/// A record, its bytes and whether it has an end, or why a line is left out. What is no record has no value.
pub(crate) type Told<'l> = std::result::Result<(Option<Value>, &'l [u8], bool), &'static str>;

/// Hands over the records of a file, with the numbers of their lines. What stands before damage of a packed file is good.
pub(crate) fn each_line(bundle: &Bundle, path: &Path, mut then: impl FnMut(u64, Told<'_>)) -> Result<()> {
    let failed = |source| Error::io("read", path, source);
    let mut lines = Lines::new(unpack::open(bundle, path).map_err(failed)?, MAX_LINE);
    for number in 1.. {
        match lines.next() {
            Ok(None) => break,
            Ok(Some(Line::Oversized)) => then(number, Err("oversized line")),
            Ok(Some(Line::Whole(line, ended))) => {
                let text = json::text(trim(line));
                let records = records(&text);
                // Behind a part of a line stands another record: nothing is added to it.
                let count = records.len();
                for (at, (record, part)) in records.into_iter().enumerate() {
                    then(number, Ok((record, part.as_bytes(), ended || at + 1 < count)));
                }
            }
            Err(error) if unpack::is_damage(&error) => {
                then(number, Err("damaged from here on"));
                break;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// Accounts for the lines of a file that nothing is told of, for this reason.
pub(crate) fn leave(bundle: &Bundle, path: &Path, reason: &'static str, sink: &mut dyn Sink) -> Result<()> {
    let mut account = Account::default();
    each_line(bundle, path, |_, _| account.skip(reason))?;
    sink.account(path, account);
    Ok(())
}

/// The records at the beginning of a file, as far as they are whole.
pub(crate) fn beginning(bundle: &Bundle, path: &Path, most: usize) -> Result<Vec<Value>> {
    let mut records = Vec::new();
    first(bundle, path, most, |record| {
        records.push(record);
        true
    })?;
    Ok(records)
}

/// Hands over the records at the beginning of a file, while more of them are wanted. What stands behind damage of a
/// packed file is not looked at.
pub(crate) fn first(
    bundle: &Bundle,
    path: &Path,
    most: usize,
    mut wants_more: impl FnMut(Value) -> bool,
) -> Result<()> {
    const LONGEST: usize = 4 << 20;
    let failed = |source| Error::io("read", path, source);
    let mut lines = Lines::new(unpack::peek(bundle, path).map_err(failed)?, LONGEST);
    for _ in 0..most {
        match lines.next() {
            Ok(Some(Line::Oversized)) => {}
            Ok(Some(Line::Whole(line, _))) => {
                let text = json::text(trim(line));
                if records(&text).into_iter().filter_map(|(record, _)| record).any(|record| !wants_more(record)) {
                    break;
                }
            }
            Ok(None) => break,
            Err(error) if unpack::is_damage(&error) => break,
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// The whole records among the first bytes of a file.
pub(crate) fn head(bytes: &[u8], most: usize) -> impl Iterator<Item = Value> + '_ {
    let lines = bytes.split(|byte| *byte == b'\n').map(trim).filter(|line| !line.is_empty());
    lines.take(most).filter_map(|line| object(&json::text(line)))
}

/// A line that is an object.
fn object(line: &str) -> Option<Value> {
    serde_json::from_str(line).ok().filter(Value::is_object)
}

/// The records of a line with the text of each: one, or several where two processes wrote at once or one was stopped and left
/// the beginning of a record, which is none. What stands behind the last whole record is none either; where it may still belong
/// to a beginning, the line is none as a whole.
fn records(line: &str) -> Vec<(Option<Value>, &str)> {
    if let Some(record) = object(line) {
        return vec![(Some(record), line)];
    }
    if line.trim().is_empty() {
        return Vec::new();
    }
    let (mut found, mut rest, mut is_torn) = (Vec::<(Option<Value>, &str)>::new(), line, false);
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        let next = match values.next() {
            Some(Ok(value @ Value::Object(_))) => Some((Some(value), values.byte_offset())),
            // Where the text goes wrong, another record begins.
            Some(Err(error)) if error.is_syntax() => {
                let begin = rest.bytes().take(error.column()).rposition(|byte| byte == b'{');
                begin.filter(|begin| *begin > 0).map(|begin| (None, begin))
            }
            _ => None,
        };
        // Behind a beginning stands a whole one.
        let next = next.filter(|(record, _)| !is_torn || record.is_some());
        // What stands behind whole records is none; behind a part of one nothing is sure.
        if next.is_none() && found.iter().any(|(record, _)| record.is_none()) {
            return vec![(None, line)];
        }
        let (record, end) = next.unwrap_or((None, rest.len()));
        is_torn = record.is_none();
        found.push((record, rest[..end].trim()));
        rest = rest[end..].trim_start();
    }
    found
}

/// Hash of a line.
type Hash = [u8; 16];

struct Stream<S> {
    key: Rc<StreamKey>,
    intake: Intake,
    state: S,
}

struct Reader<'s, F: Format> {
    format: F,
    sink: &'s mut dyn Sink,
    streams: Vec<Stream<F::State>>,
    by_key: HashMap<StreamKey, usize>,
    /// Records by stream and id: the file each stands in, and its hash.
    seen: HashMap<(usize, String), (usize, Hash)>,
    /// Lines without id, by stream and hash, and the file they stand in: copies in another file are told once.
    plain: HashMap<(usize, Hash), usize>,
    file: usize,
    /// What became of its records.
    account: Account,
}

impl<F: Format> Reader<'_, F> {
    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<()> {
        let own = self.format.file(bundle, path)?;
        each_line(bundle, path, |number, line| {
            self.sink.line(path, number);
            match line.and_then(|(record, line, ended)| self.line(&own, record, line, ended)) {
                Ok(index) => self.account.represent_of(&self.streams[index].key),
                Err(reason) => self.account.skip(reason),
            }
        })?;
        if let Some(&index) = self.by_key.get(&own.key) {
            let last = self.streams[index].intake.records();
            self.tell(index, last, None, State::end_of_file);
        }
        self.sink.account(path, std::mem::take(&mut self.account));
        Ok(())
    }

    /// Has a stream tell something; records that were left out before may be told by it.
    fn tell<T>(
        &mut self,
        index: usize,
        record: u64,
        time: Option<Timestamp>,
        tell: impl FnOnce(&mut F::State, &mut Out<'_>) -> T,
    ) -> T {
        let stream = &mut self.streams[index];
        let mut out = Out::new(&mut *self.sink, stream.key.clone(), record, time);
        let told = tell(&mut stream.state, &mut out);
        for (before, now) in std::mem::take(&mut out.later) {
            match now {
                Some(now) => self.account.rename(before, now, 1),
                None => self.account.unskip_of(&stream.key, before),
            }
        }
        told
    }

    /// Reads a line: the stream that it was told of, or why it is left out.
    fn line(
        &mut self,
        own: &Header,
        record: Option<Value>,
        line: &[u8],
        ended: bool,
    ) -> std::result::Result<usize, &'static str> {
        if record.is_none() && !ended {
            // A write in progress is no record yet: the next reading takes it whole.
            return Err("partial last line");
        }
        let aside = record.as_ref().and_then(|record| self.format.aside(&own.key, record));
        let index = self.open(aside.as_ref().unwrap_or(own));
        let state = &self.streams[index].state;
        let id = record.as_ref().map_or_else(String::new, |record| state.id(record));
        let copied = record.as_ref().map_or(Cow::Borrowed(line), |record| state.copied(record, line));
        if self.is_copy(index, &id, &copied) {
            return Err(DUPLICATE);
        }
        let stream = &mut self.streams[index];
        if stream.intake.is_full() {
            return Err(LATER);
        }
        let lasting = record.as_ref().map_or(Cow::Borrowed(line), |record| stream.state.lasting(record, line));
        let number = stream.intake.consume(&lasting, &id, stream.state.waits());
        let Some(record) = record else { return Err("broken line") };
        let time = stream.state.time(&record);
        self.tell(index, number, time, |state, out| state.tell(record, out)).map_or(Ok(index), Err)
    }

    /// Whether a record was read before: in an earlier file of the bundle, or word for word in this one.
    fn is_copy(&mut self, stream: usize, id: &str, line: &[u8]) -> bool {
        let hash = short(&blake3::hash(line));
        if id.is_empty() {
            return *self.plain.entry((stream, hash)).or_insert(self.file) != self.file;
        }
        let mut first = false;
        let entry = self.seen.entry((stream, id.to_owned())).or_insert_with(|| {
            first = true;
            (self.file, hash)
        });
        if first {
            return false;
        }
        if entry.0 != self.file || entry.1 == hash {
            return true;
        }
        // Two records of one file under one id are both told; an id says no more than its record then.
        entry.1 = hash;
        false
    }

    fn open(&mut self, header: &Header) -> usize {
        if let Some(&index) = self.by_key.get(&header.key) {
            return index;
        }
        let key = header.key.clone();
        self.sink.open(header.clone());
        let intake = Intake::new(self.sink.bounds(&key));
        let state = self.format.begin(header);
        self.streams.push(Stream { key: Rc::new(key.clone()), intake, state });
        self.by_key.insert(key, self.streams.len() - 1);
        self.streams.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_one_line() {
        let of = |line: &str| -> Vec<(bool, String)> {
            records(line).into_iter().map(|(record, part)| (record.is_some(), part.to_owned())).collect()
        };
        let whole = r#"{"kind":"said","text":"a {\"b\""}"#;
        let is = |line: &str, parts: &[(bool, &str)]| {
            let parts: Vec<_> = parts.iter().map(|(is_whole, part)| (*is_whole, (*part).to_owned())).collect();
            assert_eq!(of(line), parts, "{line}");
        };
        is(whole, &[(true, whole)]);
        is(&format!("{whole}{whole} {whole}"), &[(true, whole), (true, whole), (true, whole)]);
        for torn in
            [r#"{"kind":"said","#, r#"{"ki"#, r#"{"kind":"sa\"#, "{", r#"{"kind":tr"#, r#"{"kind":1,"#, r#"{"kind""#]
        {
            is(&format!("{torn}{whole}"), &[(false, torn), (true, whole)]);
            is(torn, &[(false, torn)]);
            is(&format!("{whole}{torn}"), &[(true, whole), (false, torn)]);
        }
        is(r#"{"a":1} x"#, &[(true, r#"{"a":1}"#), (false, "x")]);
        assert_eq!(of("\u{b}\u{3000}"), []);
        // No record stands at the end.
        for broken in ["[1]", "x", r#"{"a":{"b":1}"#, r#"{"a":{"b":1}x{"c":2}}"#, "{{{{"] {
            is(broken, &[(false, broken)]);
        }
    }
}
