//! One stream of a transcript while it is read: a session's own records, or those of one sub-agent.
//!
//! It holds only what later records need: open calls, the queue, the last values of what is told on change, and what
//! was consumed.

use std::borrow::Cow;
use std::rc::Rc;

use jiff::Timestamp;

use super::queue::Queue;
use super::record::ClaudeRecord;
use crate::call::open::Calls;
use crate::stream::intake::Intake;
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_session::event::{EventKind, SessionFact, StreamKey, TitleRank, Usage};
use cru_session::source::{Bounds, Consumed};

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct ClaudeStream {
    pub(super) key: Rc<StreamKey>,
    pub(super) place: Place,
    pub(super) calls: Calls,
    pub(super) queue: Queue,
    /// Number of the current turn: prompts of a person so far.
    pub(super) turn: u32,
    /// Records of the agent so far.
    pub(super) worked: u64,
    /// Whether the agent is at work: its last words were a call, or nothing was said since the prompt.
    pub(super) works: bool,
    /// A compaction whose summary has not come yet.
    pub(super) compaction: Option<ClaudeCompaction>,
    /// A shell line of the person's whose output has not come yet.
    pub(super) shell: Option<String>,
    /// The call that a person last refused or stopped.
    pub(super) refused: Option<String>,
    /// The usage that was last told.
    pub(super) usage: Option<(String, Usage)>,
    /// The message whose cost was last told.
    pub(super) cost_of: String,
    branch: String,
    version: String,
    titles: [String; 3],
    pulls: Vec<String>,
    intake: Intake,
}

/// What is known of a compaction before its summary.
#[derive(Debug)]
pub(super) struct ClaudeCompaction {
    pub(super) record: u64,
    pub(super) time: Option<Timestamp>,
    pub(super) trigger: Option<String>,
    pub(super) tokens_before: Option<u64>,
}

impl ClaudeStream {
    /// A stream of that identity, of which so much is wanted.
    pub(super) fn new(key: StreamKey, bounds: Bounds) -> Self {
        Self { key: Rc::new(key), intake: Intake::new(bounds), ..Self::default() }
    }

    /// Whether all that is wanted was consumed.
    pub(super) fn is_full(&self) -> bool {
        self.intake.is_full()
    }

    /// Takes a record's bytes into what was consumed; its number.
    pub(super) fn consume(&mut self, line: &[u8], uuid: &str) -> u64 {
        self.intake.consume(line, uuid, self.calls.waiting() > 0)
    }

    /// How many records were consumed.
    pub(super) const fn records(&self) -> u64 {
        self.intake.records()
    }

    /// What was consumed.
    pub(super) fn consumed(&self) -> Consumed {
        self.intake.consumed(self.calls.waiting() > 0)
    }

    /// Tells what the record says of the whole session, where it is new.
    pub(super) fn meta(&mut self, record: &ClaudeRecord<'_>, out: &mut Out<'_>) {
        if self.place.see(record.cwd.str()) {
            let cwd = self.place.tilde(record.cwd.str());
            out.quiet(EventKind::Meta(SessionFact::Cwd(cwd)));
        }
        if let Some(branch) = changed(&mut self.branch, record.git_branch.str()).filter(|branch| *branch != "HEAD") {
            out.quiet(EventKind::Meta(SessionFact::Branch(Cow::Borrowed(branch))));
        }
        if let Some(version) = changed(&mut self.version, record.version.str()) {
            out.quiet(EventKind::Meta(SessionFact::HostVersion(Cow::Borrowed(version))));
        }
    }

    /// Tells a title where it is new; whether it was.
    pub(super) fn title(&mut self, rank: TitleRank, text: &str, out: &mut Out<'_>) -> bool {
        let Some(text) = changed(&mut self.titles[rank as usize], text.trim()) else { return false };
        out.emit(EventKind::Meta(SessionFact::Title { rank, text: Cow::Borrowed(text) }));
        true
    }

    /// Whether a pull request is named for the first time.
    pub(super) fn is_new_pull(&mut self, url: &str) -> bool {
        const MAX: usize = 256;
        let new = !self.pulls.iter().any(|known| known == url) && self.pulls.len() < MAX;
        if new {
            self.pulls.push(url.to_owned());
        }
        new
    }

    /// Tells a compaction whose summary does not come.
    pub(super) fn flush_compaction(&mut self, out: &mut Out<'_>) {
        if let Some(compaction) = self.compaction.take() {
            out.emit_at(
                compaction.record,
                compaction.time,
                EventKind::Compaction {
                    trigger: compaction.trigger.map(Cow::Owned),
                    tokens_before: compaction.tokens_before,
                    summary: None,
                },
            );
        }
    }
}

/// The new value where it differs from the old one and says something.
fn changed<'v>(old: &mut String, new: &'v str) -> Option<&'v str> {
    if new.is_empty() || old == new {
        return None;
    }
    new.clone_into(old);
    Some(new)
}
