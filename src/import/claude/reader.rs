//! Reads a bundle: each line goes to its stream, and every line is accounted for.

use std::borrow::Cow;
use std::path::Path;

use super::Fate;
use super::agents::Agents;
use super::bundle::{self, Identity};
use super::lenient::Maybe;
use super::record::{Envelope, Record, with_record};
use super::stream::{Out, Stream};
use super::tree::{Node, Tree};
use crate::base::{Result, files};
use crate::import::lines::{Line, Lines};
use crate::session::event::{StreamKey, TitleRank};
use crate::session::source::{Account, Bundle, Header, Sink};

/// Hosts write a summary's title before the records it is about; more than this are not kept.
const MOST_SUMMARIES: usize = 1_000;

/// Reads a bundle; see [`crate::session::source::Importer::read`].
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut reader = Reader { sink, streams: Vec::new(), tree: Tree::default(), agents: Agents::default() };
    let mut identities = Vec::new();
    for file in &bundle.files {
        let identity = bundle::identify(file)?;
        let key = StreamKey { session: identity.session.clone(), agent: identity.agent.clone() };
        reader.agents.has_file(&key, identity.prompt.as_deref());
        if key.agent.is_some() {
            describe(file, &key, &mut reader.agents);
        }
        identities.push((file, identity, key));
    }
    for (file, identity, key) in &identities {
        reader.file(file, identity, key)?;
    }
    reader.finish();
    Ok(())
}

/// What `agent-<id>.meta.json` beside a sub-agent's file says of it.
fn describe(file: &Path, key: &StreamKey, agents: &mut Agents) {
    const LARGEST: u64 = 1 << 20;
    let beside = file.with_extension("meta.json");
    if !std::fs::metadata(&beside).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST) {
        return;
    }
    let Ok(bytes) = files::read(&beside) else { return };
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return };
    let text = |name: &str| value.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
    agents.described(key, text("agentType"), text("description"));
}

struct Reader<'s> {
    sink: &'s mut dyn Sink,
    streams: Vec<Stream>,
    tree: Tree,
    agents: Agents,
}

/// A file while it is read.
struct Open<'f> {
    path: &'f Path,
    /// Index of the file's own stream.
    stream: usize,
    account: Account,
    /// Titles of the host about records that may come later: record number, leaf, title.
    summaries: Vec<(u64, String, String)>,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, identity: &Identity, key: &StreamKey) -> Result<()> {
        let mut account = Account::default();
        let mut lines = Lines::open(path)?;
        if identity.agent.as_ref().is_some_and(|agent| agent.starts_with("acompact-")) {
            // The host asks itself for the summary that stands in the session anyway.
            while let Some(line) = next(&mut lines, path)? {
                if !is_blank(&line) {
                    account.skip("the host's own compaction");
                }
            }
            self.sink.account(path, account);
            return Ok(());
        }
        let stream = self.stream(key, path);
        let mut open = Open { path, stream, account, summaries: Vec::new() };
        while let Some(line) = next(&mut lines, path)? {
            if is_blank(&line) {
                continue;
            }
            match line {
                Line::Oversized => open.account.skip("line over the limit"),
                Line::Whole(bytes, ended) => self.line(bytes, ended, &mut open),
            }
        }
        self.titles(&mut open);
        self.sink.account(path, open.account);
        Ok(())
    }

    fn line(&mut self, bytes: &[u8], ended: bool, open: &mut Open<'_>) {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let fate = if is_progress(&text) {
            let placed = serde_json::from_str::<Maybe<Envelope<'_>>>(&text).ok().and_then(|Maybe(envelope)| envelope);
            match placed {
                Some(envelope) if envelope.kind.str() == "progress" => Some(self.link(&envelope, bytes, open)),
                _ => with_record(&text, |record| self.record(record, bytes, open)),
            }
        } else {
            with_record(&text, |record| self.record(record, bytes, open))
        };
        match fate {
            Some(Fate::Shown) => open.account.represent(),
            Some(Fate::Skipped(reason)) => open.account.skip(reason),
            None if !ended => open.account.skip("line that is still being written"),
            None => open.account.skip("broken line"),
        }
    }

    /// A progress line: nothing to show, but records may hang on it.
    fn link(&mut self, envelope: &Envelope<'_>, bytes: &[u8], open: &Open<'_>) -> Fate {
        let uuid = envelope.uuid.str();
        if self.tree.get(uuid).is_some() {
            return Fate::Skipped("duplicate record");
        }
        let parent = self.tree.get(envelope.parent_uuid.str());
        let stream = parent.map_or(open.stream, |parent| parent.stream);
        let record = self.streams[stream].consume(bytes, uuid);
        let turn = self.streams[stream].turn;
        self.tree.insert(uuid, Node { stream, record, turn });
        Fate::Skipped("progress line")
    }

    fn record(&mut self, record: Record<'_>, bytes: &[u8], open: &mut Open<'_>) -> Fate {
        let uuid = record.uuid.str().to_owned();
        if self.tree.get(&uuid).is_some() {
            return Fate::Skipped("duplicate record");
        }
        let parent =
            self.tree.get(record.parent_uuid.str()).or_else(|| self.tree.get(record.logical_parent_uuid.str()));
        let index = self.stream_of(&record, parent, open);
        let Some(stream) = self.streams.get_mut(index) else { return Fate::Skipped("broken line") };
        let number = stream.consume(bytes, &uuid);
        let time = record.timestamp.str().parse().ok();
        let mut out = Out::new(self.sink, stream.key.clone(), number, time);
        stream.meta(&record, &mut out);
        let fate = match record.kind.str() {
            "user" => stream.user(record, parent.filter(|parent| parent.stream == index), &mut out, &mut self.agents),
            "assistant" => stream.assistant(record, &mut out, &mut self.agents),
            "system" => stream.system(&record, &mut out, &self.agents),
            "attachment" => stream.attachment(&record, &mut out, &self.agents),
            "queue-operation" => stream.queue_operation(&record, &out),
            "progress" => Fate::Skipped("progress line"),
            "file-history-snapshot" | "file-history-delta" => Fate::Skipped("file history of the host"),
            "summary" => {
                if open.summaries.len() < MOST_SUMMARIES {
                    open.summaries.push((number, record.leaf_uuid.str().to_owned(), record.summary.str().to_owned()));
                }
                // Counted when the whole file is known: a summary may be about another session.
                return self.insert(&uuid, index, number, Fate::Skipped(SUMMARY));
            }
            _ => stream.session_line(&record, &mut out),
        };
        self.insert(&uuid, index, number, fate)
    }

    fn insert(&mut self, uuid: &str, stream: usize, record: u64, fate: Fate) -> Fate {
        let turn = self.streams[stream].turn;
        self.tree.insert(uuid, Node { stream, record, turn });
        fate
    }

    /// The stream a record belongs to: the file's own, or that of a sub-agent whose lines stand in its parent's file.
    fn stream_of(&mut self, record: &Record<'_>, parent: Option<Node>, open: &Open<'_>) -> usize {
        let own = open.stream;
        let is_agents_file = self.streams[own].key.agent.is_some();
        if is_agents_file
            || !record.is_sidechain.0
            || !matches!(record.kind.str(), "user" | "assistant" | "system" | "attachment")
        {
            return own;
        }
        if let Some(parent) = parent.filter(|parent| parent.stream != own) {
            return parent.stream;
        }
        let key = &self.streams[own].key;
        let asked = record.message.0.as_ref().map(|message| message.content.to_string()).unwrap_or_default();
        let told = record.agent_id.filled().map(str::to_owned);
        let id =
            told.unwrap_or_else(|| record.uuid.str().chars().filter(char::is_ascii_alphanumeric).take(8).collect());
        let key = StreamKey {
            session: key.session.clone(),
            agent: Some(if id.is_empty() { "sidechain".to_owned() } else { id }),
        };
        let own_key = self.streams[own].key.clone();
        if let Some(call) = self.streams[own].calls.agent_for(&asked) {
            call.sidechain = key.agent.clone();
            let input = |name: &str| call.input.as_ref()?.get(name)?.as_str().map(str::to_owned);
            self.agents.started(&key, &own_key, input("subagent_type").as_deref(), input("description").as_deref());
        }
        self.agents.has_file(&key, None);
        self.stream(&key, open.path)
    }

    /// The stream of that identity, opened where it is new.
    fn stream(&mut self, key: &StreamKey, path: &Path) -> usize {
        if let Some(index) = self.streams.iter().position(|stream| stream.key == *key) {
            return index;
        }
        let known = self.agents.get(key).cloned().unwrap_or_default();
        let parent = key
            .agent
            .as_ref()
            .map(|_| known.parent.clone().unwrap_or_else(|| StreamKey { session: key.session.clone(), agent: None }));
        self.sink.open(Header {
            key: key.clone(),
            parent,
            transcript: path.to_owned(),
            agent: known.agent,
            task: known.task,
        });
        self.streams.push(Stream::new(key.clone()));
        self.streams.len() - 1
    }

    /// Titles that the host made for records of this file.
    fn titles(&mut self, open: &mut Open<'_>) {
        for (number, leaf, title) in std::mem::take(&mut open.summaries) {
            let about = self.tree.get(&leaf).map(|node| node.stream);
            let Some(stream) =
                about.filter(|stream| *stream == open.stream).and_then(|stream| self.streams.get_mut(stream))
            else {
                continue;
            };
            let mut out = Out::new(self.sink, stream.key.clone(), number, None);
            if stream.title(TitleRank::Summary, &title, &mut out) {
                move_to_represented(&mut open.account, SUMMARY);
            }
        }
    }

    fn finish(mut self) {
        for stream in &mut self.streams {
            let consumed = stream.consumed();
            let mut out = Out::new(self.sink, stream.key.clone(), consumed.records, None);
            stream.flush_compaction(&mut out);
            stream.tell_untold(&mut out);
            self.sink.close(&stream.key, consumed);
        }
    }
}

const SUMMARY: &str = "title of another session";

fn move_to_represented(account: &mut Account, reason: &'static str) {
    if let Some(count) = account.skipped.get_mut(reason) {
        *count -= 1;
        if *count == 0 {
            account.skipped.remove(reason);
        }
        account.represented += 1;
    }
}

fn next<'l>(lines: &'l mut Lines<std::io::BufReader<std::fs::File>>, path: &Path) -> Result<Option<Line<'l>>> {
    lines.next().map_err(|source| crate::base::Error::io("read", path, source))
}

fn is_blank(line: &Line<'_>) -> bool {
    matches!(line, Line::Whole(bytes, _) if bytes.iter().all(u8::is_ascii_whitespace))
}

/// Whether a line may be a progress line, of which only the envelope is read.
fn is_progress(line: &Cow<'_, str>) -> bool {
    memchr::memmem::find(line.as_bytes(), b"\"type\":\"progress\"").is_some()
}
