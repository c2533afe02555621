//! One stream of a transcript while it is read: a session's own records, or those of one sub-agent.
//!
//! It holds only what later records need: open calls, the queue, the last values of what is told on change, and what
//! was consumed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use jiff::Timestamp;

use serde_json::Value;

use super::agents::Agents;
use super::queue::Queue;
use crate::call::open::Calls;
use crate::file::value::{self, word};
use crate::stream::intake::Intake;
use crate::stream::out::{Out, changed};
use crate::stream::place::Place;
use cru_session::event::{EventKind, SessionFact, StreamKey, TitleRank, Usage};
use cru_session::source::{Bounds, Consumed};

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct ClaudeStream {
    pub(super) key: Rc<StreamKey>,
    /// The file that its first record is in.
    pub(super) transcript: PathBuf,
    pub(super) place: Place,
    pub(super) calls: Calls,
    pub(super) queue: Queue,
    /// Number of the current turn: prompts of a person so far.
    pub(super) turn: u32,
    /// Records of the agent so far.
    pub(super) worked: u64,
    /// Whether the agent is at work: its last words were a call, or nothing was said since the prompt.
    pub(super) works: bool,
    /// Where a hook was stopped that ran behind the agent's last words: its records and the turns by then.
    pub(super) stopped_hook: Option<(u64, u32)>,
    /// A compaction whose summary has not come yet.
    pub(super) compaction: Option<ClaudeCompaction>,
    /// A shell line of the person's whose output has not come yet.
    pub(super) shell: Option<String>,
    /// Commands in the background by the host's id: the call, and what it writes if it succeeds.
    pub(super) background: HashMap<String, (String, Vec<String>)>,
    /// The call that a person last refused or stopped.
    pub(super) refused: Option<String>,
    /// Answers without their calls in the record that is read: the ids of the calls.
    pub(super) unmet: Vec<String>,
    /// Records with an answer whose call may come later, with the id of the call.
    early: Vec<(String, Value)>,
    /// The usage that was last told.
    pub(super) usage: Option<(String, Usage)>,
    /// The models of all messages.
    pub(super) models: HashSet<String>,
    /// Tokens by model as the host last summed them up.
    sums: Vec<(String, Usage)>,
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
    pub(super) fn new(key: StreamKey, bounds: Bounds, transcript: PathBuf) -> Self {
        Self { key: Rc::new(key), transcript, intake: Intake::new(bounds), ..Self::default() }
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

    /// Keeps the record that was read where it answers calls that may come later; few do, and a slice of a session has many.
    pub(super) fn keep_early(&mut self, record: &Value) {
        let unmet = std::mem::take(&mut self.unmet);
        self.early.extend(unmet.into_iter().map(|id| (id, record.clone())));
        let many = self.early.len().saturating_sub(64);
        self.early.drain(..many);
    }

    /// Tells the answers that stood before their calls, now that these were told; how many.
    pub(super) fn tell_early(&mut self, out: &mut Out<'_>, agents: &mut Agents) -> usize {
        let met: Vec<_> = self.early.extract_if(.., |(id, _)| self.calls.knows(id)).collect();
        for (id, record) in &met {
            let blocks = value::blocks(&record["message"]["content"]);
            let answers = || blocks.iter().filter(|block| word(block, "type") == "tool_result");
            let alone = answers().count() == 1;
            let time = std::mem::replace(&mut out.time, value::time(record, "timestamp"));
            for block in answers().filter(|block| word(block, "tool_use_id") == id) {
                self.result(block, record, alone, out, agents);
            }
            out.time = time;
        }
        met.len()
    }

    /// Tells what the record says of the whole session, where it is new.
    pub(super) fn meta(&mut self, record: &Value, out: &mut Out<'_>) {
        out.folder(&mut self.place, word(record, "cwd"));
        let branch = changed(&mut self.branch, word(record, "gitBranch")).filter(|branch| *branch != "HEAD");
        out.facts(branch.map(|branch| SessionFact::Branch(branch.into())));
        let version = changed(&mut self.version, word(record, "version"));
        out.facts(version.map(|version| SessionFact::HostVersion(version.into())));
    }

    /// Tells the folder of a repository whose work tree the session began in; whether it did.
    pub(super) fn project(&self, folder: &str, out: &mut Out<'_>) -> bool {
        let began_below = self.place.start().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        if began_below && !folder.is_empty() {
            out.quiet(EventKind::Meta(SessionFact::Project(self.place.tilde(folder))));
        }
        began_below
    }

    /// Reads what the host summed up: cost, and tokens by model. Each sum holds those before it.
    pub(super) fn host_sums(&mut self, record: &Value, out: &mut Out<'_>) -> bool {
        let sums = record["modelUsage"].as_object().into_iter().flatten();
        self.sums = sums.map(|(model, told)| (model.clone(), summed(told))).collect();
        let Some(cost) = record["totalCostUSD"].as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0) else {
            return false;
        };
        out.emit(EventKind::Meta(SessionFact::TotalCost(cost)));
        true
    }

    /// Tells the tokens of models that no message names: the host asked them beside the conversation, for titles and
    /// searches.
    pub(super) fn side_calls(&mut self, out: &mut Out<'_>) {
        for (model, usage) in std::mem::take(&mut self.sums) {
            if usage != Usage::default() && !self.models.contains(&model) {
                let message = format!("side calls of {model}");
                out.quiet(EventKind::Usage { message: message.into(), model: model.into(), usage });
            }
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

/// The tokens of one model as the host sums them up.
fn summed(told: &Value) -> Usage {
    let usage = value::usage(told, ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"]);
    Usage { web_searches: value::count(told, "webSearchRequests"), ..usage }
}
