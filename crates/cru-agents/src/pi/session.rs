//! One session while it is read: each entry to its events.
//!
//! It holds only what later entries need: open calls, the chain of entries, the model, and what was consumed.

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::head::PiHead;
use super::said::{PiSaid, tell};
use super::{below, reason};
use crate::call::open::Calls;
use crate::call::started::StartedAgents;
use crate::call::tools;
use crate::file::jsonl::{Format, State};
use crate::file::value::{self, blocks, exit, filled, flag, number, object, word};
use crate::stream::out::Out;
use crate::stream::place::Place;
use crate::unknown::{left_out, unknown};
use cru_base::Result;
use cru_session::boundary::{Boundary, BoundaryKind, Entry, Parent, Tracker, What, asks_to_hand_over};
use cru_session::event::{Attachment, CallResult, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, TitleRank};
use cru_session::source::{Bundle, Header};

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct PiSession {
    pub(super) place: Place,
    pub(super) calls: Calls,
    /// The model that was last chosen.
    pub(super) model: String,
    /// Messages whose tokens were told.
    pub(super) messages: u64,
    tracker: Tracker,
    /// Whether another session had it run.
    is_agent: bool,
    /// When it was forked, where it was.
    forked: Option<Timestamp>,
    /// Whether the file that it was forked from is at hand: what was copied stands in that one's note.
    has_origin: bool,
    /// Whether the last entry was a copied one.
    in_copy: bool,
    /// Record number of the last copied entry that was left out.
    copied: u64,
    /// What the session had run, as far as no call of it was met yet.
    pub(super) started: StartedAgents,
}

impl State for PiSession {
    fn id(&self, record: &Value) -> String {
        // The header's id is the session's; a redaction tool leaves one word in place of every id.
        let is_own = word(record, "type") != "session";
        filled(record, "id").filter(|id| is_own && *id != "REDACTED").unwrap_or("").to_owned()
    }

    /// When an entry was written: in words, or in its message as milliseconds.
    fn time(&self, record: &Value) -> Option<Timestamp> {
        value::time(record, "timestamp").or_else(|| value::millis(&record["message"], "timestamp"))
    }

    fn waits(&self) -> bool {
        self.calls.waiting() > 0
    }

    fn tell(&mut self, record: Value, out: &mut Out<'_>) -> Option<&'static str> {
        self.entry(&record, out)
    }
}

impl PiSession {
    /// A session that begins so, and had those run.
    pub(super) fn new(head: &PiHead, has_origin: bool, started: StartedAgents) -> Self {
        let forked = head.time.filter(|_| head.origin.is_some());
        let in_copy = forked.is_some();
        Self { is_agent: head.runner().is_some(), forked, has_origin, in_copy, started, ..Self::default() }
    }

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
                compaction(record, out)
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
                    model.clone_into(&mut self.model);
                }
                Some("choice of a model")
            }
            "label" => self.label(record, out),
            "custom" => custom(record, out),
            "" => Some("no record type"),
            kind => Some(left_out(super::IMPORTER.id, "unknown record type", kind)),
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
        out.folder(&mut self.place, word(record, "cwd"));
        if let Some(model) = filled(record, "modelId") {
            model.clone_into(&mut self.model);
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
            "compactionSummary" => compaction(message, out),
            "branchSummary" => branch(boundary, message, out),
            "" => Some(reason::EMPTY),
            role => Some(left_out(super::IMPORTER.id, "unknown role", role)),
        }
    }

    fn user(&mut self, message: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let mut words = String::new();
        let mut attachments = Vec::new();
        let mut strange = None;
        for block in blocks(&message["content"]) {
            match word(&block, "type") {
                "text" => {
                    if !words.is_empty() {
                        words.push_str("\n\n");
                    }
                    words.push_str(word(&block, "text"));
                }
                "image" => attachments.push(attachment(&block)),
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        if words.trim().is_empty() && attachments.is_empty() {
            return Some(strange.unwrap_or(reason::EMPTY));
        }
        let (text, origin) = match tell(&words) {
            PiSaid::Words(text) if self.is_agent => (text, PromptOrigin::Task),
            PiSaid::Words(text) => (text, PromptOrigin::Typed),
            PiSaid::Command(line) => (Cow::Owned(line), PromptOrigin::Command),
            PiSaid::Host if attachments.is_empty() => return Some(reason::HOST_WORDS),
            PiSaid::Host => (Cow::Borrowed(""), PromptOrigin::Typed),
        };
        self.calls.begin_turn();
        out.emit(EventKind::Prompt(Prompt { text, origin, attachments }));
        strange
    }

    /// A shell command that the person ran in the host.
    fn shell(&mut self, message: &Value, out: &mut Out<'_>) -> Option<&'static str> {
        let Some(line) = filled(message, "command") else { return Some(reason::EMPTY) };
        out.prompt(line, PromptOrigin::Shell);
        let output = word(message, "output");
        let exit = exit(message, "exitCode");
        let stopped = flag(message, "cancelled");
        let brief = match (stopped, output.trim().is_empty()) {
            (true, true) => Some("stopped".into()),
            (false, true) => Some("no output".into()),
            _ => None,
        };
        let failed = stopped || exit.is_some_and(|code| code != 0);
        let exit = exit.filter(|_| failed);
        let result = CallResult { output: output.into(), brief, failed, exit, ..CallResult::default() };
        tools::shell_line(&mut self.calls, line, result, out);
        None
    }
}

/// Whether a person asks to hand over to another session.
fn is_handoff(message: &Value) -> bool {
    let blocks = blocks(&message["content"]);
    asks_to_hand_over(blocks.iter().find_map(|block| filled(block, "text")).unwrap_or(""))
}

fn compaction(told: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let (tokens_before, summary) = (number(told, "tokensBefore"), filled(told, "summary").map(Cow::Borrowed));
    out.emit(EventKind::Compaction { trigger: None, tokens_before, summary });
    None
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

/// What an extension keeps for itself; a failure of the model service is told that way by one host.
fn custom(record: &Value, out: &mut Out<'_>) -> Option<&'static str> {
    let error = filled(&record["data"], "error");
    match error.filter(|_| word(record, "customType").ends_with("prompt-error")) {
        Some(text) => {
            out.emit(EventKind::ApiError(text.into()));
            None
        }
        None => Some("state of an extension"),
    }
}

/// A picture.
pub(super) fn attachment(block: &Value) -> Attachment<'static> {
    value::attachment(filled(block, "mimeType").unwrap_or(value::FILE), word(block, "data"))
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
        let started = below::started(&header.transcript, &header.key);
        PiSession::new(&self.head, self.has_origin, started)
    }
}
