//! Reads a bundle: lines to records, records to streams, and the account of what became of each.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agents::Agents;
use super::head::{ClaudeHead, described};
use super::record::words;
use super::said::reason;
use super::stream::ClaudeStream;
use super::system::BOOKKEEPING_REASON;
use super::tree::{self, ClaudeNode, Tree};
use super::workflow;
use crate::call::open::UNMET;
use crate::file::jsonl;
use crate::file::value::{self, filled, flag, word};
use crate::stream::intake::LATER;
use crate::stream::out::Out;
use cru_base::Result;
use cru_base::hash::short;
use cru_session::event::{StreamKey, TitleRank};
use cru_session::source::{Account, Bundle, Header, Sink};

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut reader = ClaudeReader::new(sink);
    let mut heads = Vec::with_capacity(bundle.files.len());
    for path in &bundle.files {
        let head = ClaudeHead::read(bundle, path)?;
        reader.agents.has_file(&head.key, head.prompt.as_deref());
        if let Some(run) = workflow::run_of(path) {
            reader.agents.has_run(&head.key, run, head.prompt.as_deref());
            if let Some((agent, task)) = described(path) {
                reader.agents.described(&head.key, agent, task);
            }
        }
        heads.push(head);
    }
    ClaudeHead::join(&mut heads);
    for (path, head) in bundle.files.iter().zip(heads) {
        reader.file(bundle, path, head)?;
    }
    reader.finish();
    Ok(())
}

struct ClaudeReader<'s> {
    sink: &'s mut dyn Sink,
    streams: Vec<ClaudeStream>,
    by_key: HashMap<StreamKey, usize>,
    tree: Tree,
    agents: Agents,
    /// Lines without id, by hash, and the file they stand in: copies in another file are told once.
    plain: HashMap<[u8; 16], usize>,
    /// Inline sub-agents: the root of each, and the last that was read.
    last_sidechain: Option<usize>,
    /// The stream that the record which is read was taken into.
    last: Option<usize>,
    /// Summaries whose record may still come: stream, record, leaf, words.
    summaries: Vec<(usize, u64, String, String, PathBuf)>,
    file: ClaudeFile,
}

/// The file that is read.
#[derive(Default)]
struct ClaudeFile {
    path: PathBuf,
    index: usize,
    key: StreamKey,
    /// Its stream, once it was opened.
    stream: Option<usize>,
    forked_from: Option<String>,
    account: Account,
}

impl<'s> ClaudeReader<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            streams: Vec::new(),
            by_key: HashMap::new(),
            tree: Tree::default(),
            agents: Agents::default(),
            plain: HashMap::new(),
            last_sidechain: None,
            last: None,
            summaries: Vec::new(),
            file: ClaudeFile::default(),
        }
    }

    fn file(&mut self, bundle: &Bundle, path: &Path, head: ClaudeHead) -> Result<()> {
        if let Some((agent, task)) = head.key.agent.as_ref().and_then(|_| described(path)) {
            self.agents.described(&head.key, agent, task);
        }
        let left_out = left_out(&head);
        self.last_sidechain = None;
        self.file = ClaudeFile {
            path: path.to_owned(),
            index: self.file.index + 1,
            key: head.key,
            stream: None,
            forked_from: head.forked_from,
            account: Account::default(),
        };
        jsonl::each_line(bundle, path, |number, line| {
            self.sink.line(path, number);
            match (line, left_out) {
                (Err(reason), _) | (Ok(_), Some(reason)) => self.file.account.skip(reason),
                (Ok((record, line, ended)), None) => self.line(record, line, ended),
            }
        })?;
        self.end_of_file();
        Ok(())
    }

    fn line(&mut self, record: Option<Value>, line: &[u8], ended: bool) {
        self.last = None;
        match record.map(|record| self.record(&record, line)) {
            Some(None) => match self.last {
                Some(stream) => self.file.account.represent_of(&self.streams[stream].key),
                None => self.file.account.represent(),
            },
            Some(Some(reason)) => self.file.account.skip(reason),
            // A write in progress is no record yet: the next reading takes it whole.
            None if !ended => self.file.account.skip("partial last line"),
            None => {
                if !self.is_copy(line) {
                    let stream = self.main_stream();
                    if self.streams[stream].is_full() {
                        self.file.account.skip(LATER);
                        return;
                    }
                    self.streams[stream].consume(line, "");
                }
                self.file.account.skip("broken line");
            }
        }
    }

    /// Takes in a line of which only the place in the chain counts.
    fn link(&mut self, envelope: &Value, line: &[u8]) -> &'static str {
        let uuid = word(envelope, "uuid");
        let id = tree::id(uuid);
        let parent = self.tree.get(tree::id(word(envelope, "parentUuid")));
        if self.tree.get(id).is_some() || (uuid.is_empty() && self.is_copy(line)) {
            return "duplicate record";
        }
        // A progress line of an inline sub-agent's work belongs to the session that shows it.
        let stream = match parent.filter(|_| flag(envelope, "isSidechain")) {
            Some(parent) => parent.stream,
            None => self.main_stream(),
        };
        let state = &mut self.streams[stream];
        if state.is_full() {
            return LATER;
        }
        let record = state.consume(line, uuid);
        let turn = parent.filter(|parent| parent.stream == stream).map_or(state.turn, |parent| parent.turn);
        self.tree.insert(id, ClaudeNode { stream, record, turn });
        "progress line"
    }

    fn record(&mut self, record: &Value, line: &[u8]) -> Option<&'static str> {
        if word(record, "type") == "progress" {
            return Some(self.link(record, line));
        }
        let uuid = word(record, "uuid");
        let id = tree::id(uuid);
        if self.tree.get(id).is_some() || (uuid.is_empty() && self.is_copy(line)) {
            return Some("duplicate record");
        }
        let logical = word(record, "logicalParentUuid");
        let parent = self.tree.get(tree::id(word(record, "parentUuid"))).or_else(|| self.tree.get(tree::id(logical)));
        let stream = self.stream_of(record, parent);
        let state = &mut self.streams[stream];
        if state.is_full() {
            return Some(LATER);
        }
        self.last = Some(stream);
        let number = state.consume(line, uuid);
        let parent = parent.filter(|parent| parent.stream == stream);
        let copied = filled(&record["forkedFrom"], "sessionId");
        let copied = copied.is_some_and(|origin| origin != self.file.key.session);

        let time = value::time(record, "timestamp");
        let mut out = Out::new(&mut *self.sink, state.key.clone(), number, time);
        state.meta(record, &mut out);
        let left = match word(record, "type") {
            _ if copied => Some("copied from another session"),
            "assistant" => {
                let left = state.assistant(record, &mut out, &mut self.agents);
                for _ in 0..state.tell_early(&mut out, &mut self.agents) {
                    self.file.account.unskip_of(&state.key, UNMET);
                }
                left
            }
            "user" => {
                let left = state.user(record, parent, &mut out, &mut self.agents);
                if !state.unmet.is_empty() {
                    state.keep_early(record);
                }
                left
            }
            "system" => state.system(record, &mut out, &self.agents),
            "attachment" => state.attachment(record, &mut out, &self.agents),
            "queue-operation" => state.queue_operation(record, &out),
            "summary" => {
                let (leaf, words) = (word(record, "leafUuid").to_owned(), word(record, "summary").to_owned());
                self.summaries.push((stream, number, leaf, words, self.file.path.clone()));
                Some(BOOKKEEPING_REASON)
            }
            "" => Some("no record type"),
            _ => state.session_line(record, &mut out),
        };
        let before = parent.map(|parent| parent.turn);
        // A prompt begins a turn of its own; everything else stands in the turn it hangs on.
        let turn = if out.began_turn { state.turn } else { before.unwrap_or(state.turn) };
        self.tree.insert(id, ClaudeNode { stream, record: number, turn });
        left
    }

    /// Whether a line without id stands in an earlier file of the bundle.
    fn is_copy(&mut self, line: &[u8]) -> bool {
        let hash = short(&blake3::hash(line));
        *self.plain.entry(hash).or_insert(self.file.index) != self.file.index
    }

    fn main_stream(&mut self) -> usize {
        if let Some(stream) = self.file.stream {
            return stream;
        }
        let key = self.file.key.clone();
        let stream = self.stream(key, None);
        self.file.stream = Some(stream);
        stream
    }

    /// The stream of a record: the file's own, or that of an inline sub-agent.
    fn stream_of(&mut self, record: &Value, parent: Option<ClaudeNode>) -> usize {
        let main = self.main_stream();
        if !flag(record, "isSidechain") || self.file.key.agent.is_some() {
            return main;
        }
        if let Some(agent) = filled(record, "agentId") {
            let key = StreamKey { session: self.file.key.session.clone(), agent: Some(agent.to_owned()) };
            return self.stream(key, Some(main));
        }
        if let Some(parent) = parent.filter(|parent| parent.stream != main) {
            self.last_sidechain = Some(parent.stream);
            return parent.stream;
        }
        // A record in mid-chain whose parent is missing goes on with the work that was last seen.
        let begins = filled(record, "parentUuid").is_none() || parent.is_some();
        if let Some(last) = self.last_sidechain.filter(|_| !begins) {
            return last;
        }
        let stream = self.sidechain(record, main);
        self.last_sidechain = Some(stream);
        stream
    }

    /// Begins the stream of an inline sub-agent and joins it to the call that asked for it.
    fn sidechain(&mut self, record: &Value, main: usize) -> usize {
        let session = self.file.key.session.clone();
        let agent = filled(record, "uuid").unwrap_or("inline").to_owned();
        let key = StreamKey { session, agent: Some(agent.clone()) };
        self.agents.has_file(&key, None);
        let prompt = words(&record["message"]["content"]);
        if let Some(call) = self.streams[main].calls.agent_for(&prompt) {
            call.sidechain = Some(agent);
            let input = |name: &str| call.input.as_ref().and_then(|input| input.get(name)?.as_str());
            let parent = &self.file.key;
            self.agents.started(&key, parent, input("subagent_type"), input("description"));
        }
        self.stream(key, Some(main))
    }

    fn stream(&mut self, key: StreamKey, started_by: Option<usize>) -> usize {
        if let Some(&stream) = self.by_key.get(&key) {
            return stream;
        }
        let known = self.agents.get(&key);
        let started_by = started_by.map(|stream| StreamKey::clone(&self.streams[stream].key));
        let session = StreamKey { session: key.session.clone(), agent: None };
        let origin = |session: &String| StreamKey { session: session.clone(), agent: None };
        let parent = match key.agent {
            Some(_) => known.and_then(|known| known.parent.clone()).or(started_by).or(Some(session)),
            None => self.file.forked_from.as_ref().map(origin).filter(|origin| *origin != key),
        };
        self.sink.open(Header {
            aside: false,
            parent,
            transcript: self.file.path.clone(),
            agent: known.and_then(|known| known.agent.clone()),
            task: known.and_then(|known| known.task.clone()),
            key: key.clone(),
        });
        let stream = self.streams.len();
        let bounds = self.sink.bounds(&key);
        self.streams.push(ClaudeStream::new(key.clone(), bounds, self.file.path.clone()));
        self.by_key.insert(key, stream);
        stream
    }

    fn end_of_file(&mut self) {
        let mut account = std::mem::take(&mut self.file.account);
        for stream in &mut self.streams {
            let unsent = stream.queue.forget_unsent();
            account.rename("queue bookkeeping", "queued prompt that was never sent", unsent);
        }
        // A summary counts where the record it names is of this session; only now are all of them known.
        let path = self.file.path.clone();
        let (here, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.summaries).into_iter().partition(|of| of.4 == path);
        self.summaries = rest;
        for (stream, record, leaf, words, _) in here {
            let state = &mut self.streams[stream];
            let mut out = Out::new(&mut *self.sink, state.key.clone(), record, None);
            let ours = self.tree.get(tree::id(&leaf)).is_some_and(|node| node.stream == stream);
            let used = ours && state.title(TitleRank::Summary, &words, &mut out);
            if used {
                account.unskip_of(&state.key, BOOKKEEPING_REASON);
            } else if !ours {
                account.rename(BOOKKEEPING_REASON, "summary of another session", 1);
            }
        }
        self.sink.account(&path, account);
    }

    fn finish(mut self) {
        for state in &mut self.streams {
            let mut out = Out::new(&mut *self.sink, state.key.clone(), state.records(), None);
            state.flush_compaction(&mut out);
            state.tell_untold(&mut out);
            state.side_calls(&mut out);
        }
        for state in &self.streams {
            self.sink.close(&state.key, state.consumed());
        }
    }
}

/// Why a whole file is left out.
fn left_out(head: &ClaudeHead) -> Option<&'static str> {
    let agent = head.key.agent.as_deref()?;
    if agent.starts_with("acompact") {
        return Some("the host's own summarising");
    }
    (head.prompt.as_deref().map(str::trim) == Some("Warmup")).then_some(reason::INJECTED)
}
