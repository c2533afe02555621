//! One rollout while it is read.
//!
//! It holds only what later records need: open calls, texts whose other record may come, sums of tokens, and what was
//! consumed.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

use super::call::CodexTold;
use super::family::CodexFamily;
use super::reason;
use super::record::payload;
use super::said::{self, CodexSaid};
use super::tokens::Counter;
use super::twin::Twins;
use crate::call::open::Calls;
use crate::call::tools;
use crate::file::jsonl::State;
use crate::file::value::{self, canonical_but, filled, number, object, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_session::event::{Attachment, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, TitleRank};

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct CodexStream {
    pub(super) key: StreamKey,
    /// The host's id of the session.
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) calls: Calls,
    /// Open calls by the id told in events.
    pub(super) open: HashMap<String, CodexTold>,
    /// What events told of calls before their answer, by the host's id.
    pub(super) hints: HashMap<String, Hint>,
    /// Commands that still run, by number, with the id of the call.
    pub(super) running: HashMap<String, (String, CodexTold)>,
    pub(super) users: Twins,
    pub(super) replies: Twins,
    pub(super) thoughts: Twins,
    /// The last prompts that were told.
    said: VecDeque<String>,
    /// Whether the host tells a person's words in events of their own.
    pub(super) has_events: bool,
    /// The prompt that was last told, until the agent does something.
    pub(super) unanswered: Option<String>,
    pub(super) counter: Counter,
    pub(super) model: String,
    /// The last error that was told.
    pub(super) error: String,
    /// Records of the prompts that the host still remembers.
    pub(super) prompts: Vec<u64>,
    /// Whether the agent works on something and was already told what.
    pub(super) in_turn: bool,
    /// Whether the host tells where turns begin; old ones do not, and then nobody can tell what was queued.
    pub(super) tells_turns: bool,
    /// Results of the web search that was just told.
    pub(super) found: Option<u64>,
    pub(super) compaction: CodexCompaction,
    /// The records that are a part of the talk, by their number in the history.
    pub(super) ordinals: Vec<(u64, u64)>,
    /// The name that the host keeps beside its sessions, until it is told.
    name: String,
    pub(super) family: Rc<RefCell<CodexFamily>>,
}

/// What is known of a compaction, which two records tell.
#[derive(Debug, Default)]
pub(super) enum CodexCompaction {
    /// Nothing.
    #[default]
    None,
    /// The event was there; the record with the summary may come.
    Event(u64, Option<Timestamp>),
    /// It was told.
    Told,
}

/// What an event told of a call.
#[derive(Debug, Default)]
pub(super) struct Hint {
    pub(super) failed: bool,
    pub(super) exit: Option<i32>,
    pub(super) duration_ms: Option<u64>,
    /// The diffs of the files that a patch changed, by path.
    pub(super) diffs: Vec<(String, String)>,
    /// The sub-agent that it started: id and part.
    pub(super) agent: Option<(String, Option<String>)>,
}

impl State for CodexStream {
    fn id(&self, _: &Value) -> String {
        String::new()
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        value::time(record, "timestamp")
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    /// A re-serialised record is the same record: its time, kind and call name it.
    fn lasting<'l>(&self, record: &Value, line: &'l [u8]) -> Cow<'l, [u8]> {
        let Some(time) = filled(record, "timestamp") else { return line.into() };
        let payload = payload(record);
        let kinds = [word(record, "type"), word(payload, "type"), word(payload, "call_id")];
        format!("{time} {}", kinds.join(" ")).into_bytes().into()
    }

    /// What the host encrypted is no part of what a record says.
    fn copied<'l>(&self, record: &Value, line: &'l [u8]) -> Cow<'l, [u8]> {
        let has_copies = self.family.borrow().several.contains(&self.id);
        if has_copies { canonical_but(record, "encrypted_content").into() } else { line.into() }
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.begin_file();
        let payload = payload(&record);
        if self.family.borrow().is_copied {
            if let Some(info) = object(payload, "info") {
                self.counter.count(info);
            }
            return Some("copied from another session");
        }
        if word(&record, "type") == "session_meta" {
            let end = self.family.borrow().head.goes_on_from();
            if let Some(end) = end {
                self.goes_back(end, out);
            }
        }
        self.ordinals.extend(number(&record, "ordinal").map(|ordinal| (ordinal, out.record)));
        self.record(&record, payload, out)
    }

    fn end_of_file(&mut self, out: &mut Out<'_>) {
        self.settle_users(out);
        self.settle_agent(out);
        self.settle_compaction(out);
        let sum = self.counter.sum();
        self.family.borrow_mut().sums.extend(sum.map(|sum| (self.id.clone(), sum)));
    }
}

impl CodexStream {
    /// A stream of that identity; `name` stands beside it.
    pub(super) fn new(key: StreamKey, id: String, name: String, family: Rc<RefCell<CodexFamily>>) -> Self {
        Self { key, id, name, family, ..Self::default() }
    }

    /// A file of it begins: one whose history stands in another file goes on with the sums of that.
    fn begin_file(&mut self) {
        let family = &mut *self.family.borrow_mut();
        if std::mem::take(&mut family.begins) && family.head.base.is_some() {
            let origin = family.head.forked_from.as_ref().or(family.head.parent.as_ref());
            self.counter.inherit(origin.and_then(|origin| family.sums.get(origin)).copied());
        }
    }

    /// Reads one record of the session's own.
    pub(super) fn record(&mut self, envelope: &Value, payload: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let name = Some(std::mem::take(&mut self.name)).filter(|name| !name.is_empty());
        out.facts(name.map(|name| SessionFact::Title { rank: TitleRank::Custom, text: name.into() }));
        match word(envelope, "type") {
            "session_meta" => self.session(payload, out),
            "turn_context" => {
                word(payload, "model").clone_into(&mut self.model);
                out.folder(&mut self.place, word(payload, "cwd"));
                Some("settings of a turn")
            }
            "response_item" => self.item(payload, out),
            "event_msg" => self.told(payload, out),
            "compacted" => self.compacted(payload, out),
            "" if filled(envelope, "record_type").is_some() => Some("state of the host"),
            "" if envelope["payload"].is_null() && filled(envelope, "id").is_some() => self.session(payload, out),
            "" => Some("no record type"),
            kind => match super::IMPORTER.agent().why_left(kind) {
                // The oldest files hold items without an envelope.
                None if envelope["payload"].is_null() => self.item(payload, out),
                known => Some(known.unwrap_or_else(|| unknown("unknown record type", kind))),
            },
        }
    }

    fn session(&mut self, meta: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let id = filled(meta, ["id", "session_id"]).unwrap_or("");
        if !id.is_empty() && id != self.id {
            return Some("copied from another session");
        }
        out.time = out.time.or_else(|| value::time(meta, "timestamp"));
        out.folder(&mut self.place, word(meta, "cwd"));
        let facts = [
            filled(meta, "cli_version").map(|version| SessionFact::HostVersion(version.into())),
            filled(meta, "/git/branch").map(|branch| SessionFact::Branch(branch.into())),
            filled(meta, "/git/commit_hash").map(|commit| SessionFact::Commit(commit.into())),
        ];
        out.facts(facts.into_iter().flatten());
        None
    }

    /// The session goes on in another file from an earlier place: what followed is no longer a part of the talk.
    pub(super) fn goes_back(&mut self, end: u64, out: &mut Out<'_>) {
        let Some(kept) = self.ordinals.iter().position(|(ordinal, _)| *ordinal >= end) else { return };
        self.settle_users(out);
        self.settle_agent(out);
        self.calls.begin_turn();
        let to = self.ordinals.get(kept).map_or(out.record, |(_, first)| first.saturating_sub(1));
        self.ordinals.truncate(kept);
        self.prompts.retain(|record| *record <= to);
        self.said.clear();
        self.in_turn = false;
        self.unanswered = None;
        out.quiet(EventKind::Rewind { to });
    }

    /// Tells words of a person, or a part of them; what they were.
    pub(super) fn prompt(
        &mut self,
        text: &str,
        mut attachments: Vec<Attachment<'static>>,
        out: &mut Out<'_>,
    ) -> Option<&'static str> {
        // Of files that are no pictures only the names are recorded.
        while attachments.len() < said::files(text) {
            attachments.push(value::attachment(value::FILE, ""));
        }
        let mut ran = None;
        let (words, origin) = match said::read(text) {
            CodexSaid::Words(words) if self.key.agent.is_some() => (words, PromptOrigin::Task),
            CodexSaid::Words(words) if self.in_turn && self.tells_turns => (words, PromptOrigin::Queued),
            CodexSaid::Words(words) => (words, PromptOrigin::Typed),
            CodexSaid::Shell(command, result) => {
                ran = result.map(|result| (command.clone(), result));
                (Cow::Owned(command), PromptOrigin::Shell)
            }
            CodexSaid::Host if attachments.is_empty() => return Some(reason::INJECTED),
            CodexSaid::Host => (Cow::Borrowed(""), PromptOrigin::Typed),
        };
        self.settle_agent(out);
        self.settle_compaction(out);
        if origin != PromptOrigin::Queued && origin != PromptOrigin::Shell {
            self.calls.begin_turn();
        }
        /// Prompts that are remembered.
        const SAID: usize = 8;
        self.said.truncate(SAID - 1);
        self.said.push_front(text.trim().to_owned());
        if origin != PromptOrigin::Shell {
            self.prompts.push(out.record);
            self.in_turn = true;
            self.unanswered = Some(text.trim().to_owned());
        }
        out.emit(EventKind::Prompt(Prompt { text: words, origin, attachments }));
        if let Some((command, result)) = ran {
            tools::shell_line(&mut self.calls, &command, *result, out);
        }
        None
    }

    /// The agent does something: what waits is told.
    pub(super) fn acts(&mut self, out: &mut Out<'_>) {
        self.settle_users(out);
        self.settle_agent(out);
        self.settle_compaction(out);
        self.unanswered = None;
        self.in_turn = true;
    }

    /// Tells words of a person that no event told.
    pub(super) fn settle_users(&mut self, out: &mut Out<'_>) {
        if self.users.is_empty() {
            return;
        }
        // Some words stand in no event: those of a person are told, what looks like the host's is not.
        let told = !self.has_events;
        let now = (out.record, out.time);
        for held in self.users.settle(true) {
            (out.record, out.time) = (held.record, held.time);
            // Pictures alone are an answer of a tool where no event says that a person sent them.
            let is_hosts = held.text.is_empty() || said::is_element(&held.text) || self.is_said(&held.text);
            let told = told || !is_hosts;
            let told = told && self.prompt(&held.text, held.attachments, out).is_none();
            out.later.push((reason::TWICE, Some(reason::INJECTED).filter(|_| !told)));
        }
        (out.record, out.time) = now;
    }

    /// Whether words were told already, with more or less of what the host puts around them.
    fn is_said(&self, text: &str) -> bool {
        /// Bytes of words that are not found in others by chance.
        const ENOUGH: usize = 20;
        let text = text.trim();
        self.said.iter().any(|said| {
            let (short, long) = if said.len() < text.len() { (said.as_str(), text) } else { (text, said.as_str()) };
            short.len() >= ENOUGH && long.contains(short)
        })
    }

    /// Tells prose and thinking that no item told.
    pub(super) fn settle_agent(&mut self, out: &mut Out<'_>) {
        for held in self.thoughts.settle(true) {
            out.emit_at(held.record, held.time, EventKind::Thinking(held.text.into()));
            out.later.push((reason::TWICE, None));
        }
        for held in self.replies.settle(true) {
            out.emit_at(held.record, held.time, EventKind::Reply(held.text.into()));
            out.later.push((reason::TWICE, None));
        }
    }

    /// Tells a compaction of which only the event is there.
    pub(super) fn settle_compaction(&mut self, out: &mut Out<'_>) {
        if let CodexCompaction::Event(record, time) = std::mem::take(&mut self.compaction) {
            let tokens_before = self.counter.compact();
            out.emit_at(record, time, EventKind::Compaction { trigger: None, tokens_before, summary: None });
            out.later.push((reason::TWICE, None));
        }
    }

    fn compacted(&mut self, payload: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.settle_users(out);
        self.settle_agent(out);
        // The event came first, or it comes again.
        self.compaction = CodexCompaction::Told;
        let tokens_before = self.counter.compact();
        out.emit(EventKind::Compaction {
            trigger: None,
            tokens_before,
            summary: filled(payload, "message").map(Cow::Borrowed),
        });
        None
    }
}
