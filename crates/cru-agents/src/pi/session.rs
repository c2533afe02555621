//! One session while it is read: each entry to its events.
//!
//! It holds only what later entries need: open calls, the chain of entries, the model, and what was consumed.

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::head::PiHead;
use super::{HOST, below, reason, said};
use crate::call::tools::Answer;
use crate::file::jsonl::{Format, State};
use crate::file::value::{blocks, exit, filled, flag, number, object, word};
use crate::record::message::media;
use crate::record::session::{HOST_WORDS, RecordSession};
use crate::stream::out::Out;
use crate::unknown::{left_out, unknown};
use crate::wrapper;
use cru_base::Result;
use cru_session::boundary::{Boundary, BoundaryKind, Entry, Parent, Tracker, What, asks_to_hand_over};
use cru_session::event::{EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, TitleRank};
use cru_session::source::{Bundle, Header};

/// The state of one session.
#[derive(Debug)]
pub(super) struct PiSession {
    pub(super) session: RecordSession,
    tracker: Tracker,
    /// When it was forked, where it was.
    forked: Option<Timestamp>,
    /// Whether the file that it was forked from is at hand: what was copied stands in that one's note.
    has_origin: bool,
    /// Whether the last entry was a copied one.
    in_copy: bool,
    /// Record number of the last copied entry that was left out.
    copied: u64,
}

impl State for PiSession {
    fn id(&self, record: &Value) -> String {
        // The header's id is the session's.
        if word(record, "type") == "session" { String::new() } else { self.session.id(record) }
    }

    fn time(&self, record: &Value) -> Option<Timestamp> {
        self.session.time(record)
    }

    fn waits(&self) -> bool {
        self.session.waits()
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.entry(&record, out)
    }
}

impl PiSession {
    /// Reads one entry, whose time is `out`'s.
    fn entry(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let kind = word(record, "type");
        if kind == "session" {
            return self.header(record, out);
        }
        let boundary = self.boundary(record, out);
        if self.in_copy && self.has_origin {
            self.copied = out.record;
            return Some(reason::COPIED);
        }
        let boundary = boundary.as_ref();
        if let Some(boundary) = boundary.filter(|boundary| boundary.is(BoundaryKind::TreeJump)) {
            out.quiet(EventKind::Rewind { to: boundary.follows.unwrap_or(0) });
        }
        match kind {
            "message" => self.message(record, boundary, out),
            "compaction" => {
                self.tokens(object(record, "usage"), None, out);
                self.compaction(record, out)
            }
            "branch_summary" => {
                self.tokens(object(record, "usage"), None, out);
                branch(boundary, record, out)
            }
            "usage" => {
                self.tokens(object(record, "usage"), filled(record, "model"), out);
                (!out.told).then_some(reason::EMPTY)
            }
            "session_info" => title(filled(record, "name"), TitleRank::Custom, out),
            "title" | "title_change" => {
                let rank = if word(record, "source") == "user" { TitleRank::Custom } else { TitleRank::Host };
                title(filled(record, "title"), rank, out)
            }
            "model_change" => {
                if let Some(model) = filled(record, ["modelId", "model"]) {
                    model.clone_into(&mut self.session.model);
                }
                Some("choice of a model")
            }
            "label" => self.label(record, out),
            "custom" => self.custom(record, out),
            "" => Some("no record type"),
            kind => Some(left_out(HOST.id, "unknown record type", kind)),
        }
    }

    /// A bookmark that the person set. The host sets those of copied entries again, at the end of what it copied.
    fn label(&self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let Some(label) = filled(record, "label") else { return Some("removed label") };
        let Some(to) = self.tracker.content_of(word(record, "targetId")) else {
            return Some("label of an unknown entry");
        };
        if to <= self.copied {
            return Some(reason::COPIED);
        }
        out.emit(EventKind::Bookmark { to, label: label.into() });
        None
    }

    fn header(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        // A fork's header is younger than the entries that were copied.
        out.time = None;
        out.facts(self.forked.map(SessionFact::CopiedUntil));
        out.folder(&mut self.session.place, word(record, "cwd"));
        if let Some(model) = filled(record, "modelId") {
            model.clone_into(&mut self.session.model);
        }
        None
    }

    /// Takes an entry into the chain; the boundary before it.
    fn boundary(&mut self, record: &Value, out: &Out<'_>) -> Option<Boundary> {
        if self.in_copy && self.forked <= out.time.or(self.forked) && out.time.is_some() {
            self.in_copy = false;
            self.tracker.fork();
        }
        let message = &record["message"];
        let role = word(message, "role");
        let what = match (word(record, "type"), role) {
            ("message", "branchSummary") => What::Branch(word(message, "fromId")),
            ("message", "compactionSummary") | ("compaction", _) => What::Compaction,
            ("message", "user") if is_handoff(message) => What::Handoff,
            ("message", "system") => What::Aside,
            ("message" | "custom_message", _) => What::Content,
            ("branch_summary", _) => What::Branch(word(record, "fromId")),
            _ => What::Aside,
        };
        let parent = match record.get("parentId") {
            // Words that a host delivers from elsewhere hang on nothing; no one went back for them.
            Some(Value::Null) if !matches!(role, "assistant" | "toolResult") => Parent::Root,
            Some(Value::String(id)) => Parent::Id(id),
            // The first version of the format has no tree.
            _ => Parent::Unsaid,
        };
        self.tracker.see(out.record, Entry { id: word(record, "id"), parent, time: out.time, what })
    }

    fn message(&mut self, record: &Value, boundary: Option<&Boundary>, out: &mut Out<'_>) -> Option<&'static str> {
        let message = &record["message"];
        match word(message, "role") {
            "user" => self.user(message, out),
            "assistant" => self.assistant(message, word(record, "id"), out),
            "toolResult" => self.result(message, word(record, "parentId"), out),
            "bashExecution" => self.shell(message, out),
            "compactionSummary" => self.compaction(message, out),
            "branchSummary" => branch(boundary, message, out),
            "" => Some(reason::EMPTY),
            role => Some(left_out(HOST.id, "unknown role", role)),
        }
    }

    fn user(&mut self, message: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let (mut words, mut sent, mut left) = (Vec::new(), Vec::new(), None);
        let blocks = blocks(&message["content"]);
        for block in &blocks {
            match word(block, "type") {
                "text" => words.push(word(block, "text")),
                "image" => sent.push(media(block)),
                kind => left = Some(unknown("unknown block", kind)),
            }
        }
        let words = words.join("\n\n");
        let is_host = wrapper::means(HOST.id, &words).is_some();
        let own = if is_host { Cow::Borrowed("") } else { wrapper::own_words(HOST.id, &words) };
        if own.trim().is_empty() && sent.is_empty() {
            return Some(if words.trim().is_empty() { left.unwrap_or(reason::EMPTY) } else { HOST_WORDS });
        }
        let text = said::typed(&own);
        let origin = match &text {
            Cow::Owned(line) if line.starts_with("/skill:") => PromptOrigin::Command,
            _ if self.session.is_agent => PromptOrigin::Task,
            _ => PromptOrigin::Typed,
        };
        self.session.calls.begin_turn();
        out.emit(EventKind::Prompt(Prompt { text, origin, attachments: sent }));
        left
    }

    /// A shell command that the person ran in the host.
    fn shell(&mut self, message: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let Some(line) = filled(message, "command") else { return Some(reason::EMPTY) };
        let (output, stopped) = (word(message, "output"), flag(message, "cancelled"));
        let brief = if stopped { "stopped" } else { "no output" };
        let answer = Answer {
            output: output.into(),
            brief: output.trim().is_empty().then(|| brief.into()),
            failed: stopped,
            exit: exit(message, "exitCode"),
            ..Answer::default()
        };
        self.session.shell_line(line, Some(answer), out);
        None
    }

    fn compaction(&mut self, told: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.session.compact(number(told, "tokensBefore"), word(told, "summary"), out)
    }

    /// What an extension keeps for itself; a failure of the model service is told that way by one host.
    fn custom(&mut self, record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let error = filled(record, "/data/error").filter(|_| word(record, "customType").ends_with("prompt-error"));
        error.map_or(Some("state of an extension"), |text| self.session.fail(text, out))
    }
}

/// Whether a person asks to hand over to another session.
fn is_handoff(message: &Value) -> bool {
    let blocks = blocks(&message["content"]);
    asks_to_hand_over(blocks.iter().find_map(|block| filled(block, "text")).unwrap_or(""))
}

fn branch(boundary: Option<&Boundary>, told: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let to = boundary.and_then(|boundary| boundary.follows).unwrap_or(0);
    let summary = filled(told, "summary").map(Cow::Borrowed);
    out.emit(EventKind::Branch { to, summary });
    None
}

fn title(text: Option<&str>, rank: TitleRank, out: &mut Out<'_>) -> Option<&'static str> {
    let Some(text) = text else { return Some("empty title") };
    out.emit(EventKind::Meta(SessionFact::Title { rank, text: text.into() }));
    None
}

/// Each file is a session.
#[derive(Default)]
pub(super) struct Pi {
    /// The beginning of the file that is read.
    head: PiHead,
    /// Whether the file that it was forked from is at hand.
    has_origin: bool,
}

impl Format for Pi {
    type State = PiSession;

    fn file(&mut self, bundle: &Bundle, path: &Path) -> Result<Header> {
        self.head = PiHead::read(bundle, path)?;
        self.has_origin = self.head.origin(path).is_some_and(|(_, at_hand)| at_hand);
        Ok(Header {
            key: StreamKey { session: self.head.session.clone(), agent: None },
            parent: self.head.before(path).map(|session| StreamKey { session, agent: None }),
            agent: self.head.runner().map(|_| "agent".to_owned()),
            transcript: path.to_owned(),
            aside: below::folder(path).is_dir(),
            ..Header::default()
        })
    }

    fn begin(&mut self, header: &Header) -> PiSession {
        let mut session = RecordSession::new(&HOST, header.key.clone(), Value::Null);
        session.started = below::started(&header.transcript, &header.key);
        session.is_agent = header.agent.is_some();
        let forked = self.head.time.filter(|_| self.head.origin.is_some());
        let (in_copy, has_origin) = (forked.is_some(), self.has_origin);
        PiSession { session, tracker: Tracker::default(), forked, has_origin, in_copy, copied: 0 }
    }
}
