//! One session while it is read: each entry to its events.
//!
//! It holds only what later entries need: open calls, the chain of entries, the model, and what was consumed.

use std::borrow::Cow;
use std::rc::Rc;

use jiff::Timestamp;

use super::head::PiHead;
use super::reason;
use super::record::{Parent as PiSaid, PiBlock, PiMessage, PiRecord};
use super::said::{self, tell};
use crate::call::open::Calls;
use crate::call::started::StartedAgents;
use crate::stream::intake::Intake;
use crate::stream::out::{Fate, Out};
use crate::stream::place::Place;
use crate::unknown::unknown;
use cru_session::boundary::{Boundary, BoundaryKind, Entry, Parent, Tracker, What, asks_to_hand_over};
use cru_session::event::{
    Attachment, Call, CallResult, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey, TitleRank,
};
use cru_session::source::Bounds;

/// The name under which a person's own shell line is told.
const SHELL: &str = "Shell";

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct PiSession {
    pub(super) key: Rc<StreamKey>,
    pub(super) place: Place,
    pub(super) calls: Calls,
    pub(super) intake: Intake,
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

impl PiSession {
    /// A session of that identity, of which so much is wanted.
    pub(super) fn new(key: StreamKey, bounds: Bounds, head: &PiHead, has_origin: bool) -> Self {
        let forked = head.time.filter(|_| head.origin.is_some());
        let in_copy = forked.is_some();
        Self {
            key: Rc::new(key),
            intake: Intake::new(bounds),
            is_agent: head.runner().is_some(),
            forked,
            has_origin,
            in_copy,
            ..Self::default()
        }
    }

    /// Reads one entry, whose time is `out`'s.
    pub(super) fn entry(&mut self, record: &mut PiRecord<'_>, out: &mut Out<'_>) -> Fate {
        let kind = record.kind.str().to_owned();
        if kind == "session" {
            return self.header(record, out);
        }
        let boundary = self.boundary(record, out);
        if self.in_copy && self.has_origin {
            self.copied = out.record;
            return Fate::Skipped(reason::COPIED);
        }
        let boundary = boundary.as_ref();
        if let Some(boundary) = boundary.filter(|boundary| boundary.is(BoundaryKind::TreeJump)) {
            out.quiet(EventKind::Rewind { to: boundary.follows.unwrap_or(0) });
        }
        match kind.as_str() {
            "message" => self.message(record, boundary, out),
            "compaction" => {
                self.tokens(record.usage.0.as_ref(), None, out);
                compaction(record.tokens_before.count(), record.summary.take(), out)
            }
            "branch_summary" => {
                self.tokens(record.usage.0.as_ref(), None, out);
                branch(boundary, record.summary.take(), out)
            }
            "usage" => {
                self.tokens(record.usage.0.as_ref(), record.model.filled(), out);
                if out.told { Fate::Shown } else { Fate::Skipped(reason::EMPTY) }
            }
            "session_info" => title(record.name.filled(), TitleRank::Custom, out),
            "title" | "title_change" => {
                let rank = if record.source.str() == "user" { TitleRank::Custom } else { TitleRank::Host };
                title(record.title.filled(), rank, out)
            }
            "model_change" => {
                if let Some(model) = record.model_id.filled().or_else(|| record.model.filled()) {
                    model.clone_into(&mut self.model);
                }
                Fate::Skipped("choice of a model")
            }
            "thinking_level_change" => Fate::Skipped("choice of a thinking level"),
            "label" => self.label(record, out),
            "custom" => custom(record, out),
            "custom_message" => Fate::Skipped(reason::EXTENSION),
            "context_edit" => Fate::Skipped("change of the context"),
            "" => Fate::Skipped("no record type"),
            kind => Fate::Skipped(unknown("unknown record type", kind)),
        }
    }

    /// A bookmark that the person set. The host sets those of copied entries again, at the end of what it copied.
    fn label(&self, record: &mut PiRecord<'_>, out: &mut Out<'_>) -> Fate {
        let Some(label) = record.label.take() else { return Fate::Skipped("removed label") };
        let Some(to) = self.tracker.content_of(record.target_id.str()) else {
            return Fate::Skipped("label of an unknown entry");
        };
        if to <= self.copied {
            return Fate::Skipped(reason::COPIED);
        }
        out.emit(EventKind::Bookmark { to, label });
        Fate::Shown
    }

    fn header(&mut self, record: &PiRecord<'_>, out: &mut Out<'_>) -> Fate {
        // A fork's header is younger than the entries that were copied.
        out.time = None;
        if let Some(forked) = self.forked {
            out.quiet(EventKind::Meta(SessionFact::CopiedUntil(forked)));
        }
        if self.place.see(record.cwd.str()) {
            let cwd = self.place.tilde(record.cwd.str());
            out.quiet(EventKind::Meta(SessionFact::Cwd(cwd)));
        }
        if let Some(model) = record.model_id.filled() {
            model.clone_into(&mut self.model);
        }
        Fate::Shown
    }

    /// Takes an entry into the chain; the boundary before it.
    fn boundary(&mut self, record: &PiRecord<'_>, out: &Out<'_>) -> Option<Boundary> {
        if self.in_copy && self.forked <= out.time.or(self.forked) && out.time.is_some() {
            self.in_copy = false;
            self.tracker.fork();
        }
        let message = record.message.0.as_ref();
        let role = message.map_or("", |message| message.role.str());
        let what = match (record.kind.str(), role) {
            ("message", "branchSummary") => What::Branch(message.map_or("", |message| message.from_id.str())),
            ("message", "compactionSummary") | ("compaction", _) => What::Compaction,
            ("message", "user") if message.is_some_and(is_handoff) => What::Handoff,
            ("message", "system") => What::Aside,
            ("message" | "custom_message", _) => What::Content,
            ("branch_summary", _) => What::Branch(record.from_id.str()),
            _ => What::Aside,
        };
        let parent = match &record.parent_id {
            PiSaid::Unsaid => Parent::Unsaid,
            // Words that a host delivers from elsewhere hang on nothing; no one went back for them.
            PiSaid::Root if matches!(role, "assistant" | "toolResult") => Parent::Unsaid,
            PiSaid::Root => Parent::Root,
            PiSaid::Id(id) => Parent::Id(id.str()),
        };
        self.tracker.see(out.record, Entry { id: record.id.str(), parent, time: out.time, what })
    }

    fn message(&mut self, record: &mut PiRecord<'_>, boundary: Option<&Boundary>, out: &mut Out<'_>) -> Fate {
        let Some(mut message) = record.message.0.take() else { return Fate::Skipped(reason::EMPTY) };
        match message.role.str() {
            "user" => self.user(&message, out),
            "assistant" => self.assistant(&message, record.id.str(), out),
            "toolResult" => self.result(&message, record.parent_id.id(), out),
            "bashExecution" => self.shell(&message, out),
            "compactionSummary" => compaction(message.tokens_before.count(), message.summary.take(), out),
            "branchSummary" => branch(boundary, message.summary.take(), out),
            "custom" | "hookMessage" => Fate::Skipped(reason::EXTENSION),
            "system" => Fate::Skipped("system prompt"),
            "" => Fate::Skipped(reason::EMPTY),
            role => Fate::Skipped(unknown("unknown role", role)),
        }
    }

    fn user(&mut self, message: &PiMessage<'_>, out: &mut Out<'_>) -> Fate {
        let mut words = String::new();
        let mut attachments = Vec::new();
        let mut strange = None;
        for block in message.blocks() {
            match block.kind.str() {
                "text" => {
                    if !words.is_empty() {
                        words.push_str("\n\n");
                    }
                    words.push_str(block.text.str());
                }
                "image" => attachments.push(attachment(&block)),
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        if words.trim().is_empty() && attachments.is_empty() {
            return Fate::Skipped(strange.unwrap_or(reason::EMPTY));
        }
        let (text, origin) = match tell(&words) {
            said::PiSaid::Words(text) if self.is_agent => (text, PromptOrigin::Task),
            said::PiSaid::Words(text) => (text, PromptOrigin::Typed),
            said::PiSaid::Command(line) => (Cow::Owned(line), PromptOrigin::Command),
            said::PiSaid::Host if attachments.is_empty() => return Fate::Skipped(reason::HOST_WORDS),
            said::PiSaid::Host => (Cow::Borrowed(""), PromptOrigin::Typed),
        };
        self.calls.begin_turn();
        out.emit(EventKind::Prompt(Prompt { text, origin, attachments }));
        strange.map_or(Fate::Shown, Fate::Skipped)
    }

    /// A shell command that the person ran in the host.
    fn shell(&mut self, message: &PiMessage<'_>, out: &mut Out<'_>) -> Fate {
        let Some(line) = message.command.filled() else { return Fate::Skipped(reason::EMPTY) };
        let prompt = Prompt { text: line.into(), origin: PromptOrigin::Shell, attachments: Vec::new() };
        out.emit(EventKind::Prompt(prompt));
        let id = self.calls.name("shell", out.record);
        let input = serde_json::json!({ "command": line });
        out.emit(EventKind::Call(Call { id: id.as_str().into(), tool: SHELL.into(), args: line.into(), input }));
        let output = message.output.str();
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        let exit = message.exit_code.0.map(|code| code as i32);
        let stopped = message.cancelled.0;
        let brief = match (stopped, output.trim().is_empty()) {
            (true, true) => Some("stopped".into()),
            (false, true) => Some("no output".into()),
            _ => None,
        };
        let failed = stopped || exit.is_some_and(|code| code != 0);
        out.emit(EventKind::Result(CallResult {
            call: id.into(),
            output: output.into(),
            brief,
            failed,
            exit: exit.filter(|_| failed),
            ..CallResult::default()
        }));
        Fate::Shown
    }
}

/// Whether a person asks to hand over to another session.
fn is_handoff(message: &PiMessage<'_>) -> bool {
    let blocks = message.blocks();
    asks_to_hand_over(blocks.iter().find_map(|block| block.text.filled()).unwrap_or(""))
}

fn compaction(tokens_before: Option<u64>, summary: Option<Cow<'_, str>>, out: &mut Out<'_>) -> Fate {
    out.emit(EventKind::Compaction { trigger: None, tokens_before, summary });
    Fate::Shown
}

fn branch(boundary: Option<&Boundary>, summary: Option<Cow<'_, str>>, out: &mut Out<'_>) -> Fate {
    let to = boundary.and_then(|boundary| boundary.follows).unwrap_or(0);
    out.emit(EventKind::Branch { to, summary });
    Fate::Shown
}

fn title(text: Option<&str>, rank: TitleRank, out: &mut Out<'_>) -> Fate {
    let Some(text) = text else { return Fate::Skipped("empty title") };
    out.emit(EventKind::Meta(SessionFact::Title { rank, text: text.into() }));
    Fate::Shown
}

/// What an extension keeps for itself; a failure of the model service is told that way by one host.
fn custom(record: &PiRecord<'_>, out: &mut Out<'_>) -> Fate {
    let error = record.data.0.as_ref().and_then(|data| data.error.filled());
    match error.filter(|_| record.custom_type.str().ends_with("prompt-error")) {
        Some(text) => {
            out.emit(EventKind::ApiError(text.into()));
            Fate::Shown
        }
        None => Fate::Skipped("state of an extension"),
    }
}

/// A picture.
pub(super) fn attachment(block: &PiBlock<'_>) -> Attachment<'static> {
    let media_type = block.mime_type.filled().unwrap_or("application/octet-stream").to_owned();
    Attachment { media_type: media_type.into(), bytes: block.bytes() }
}
