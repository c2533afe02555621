//! User lines: words of a person, answers of tools, and what the host puts under that name.

use std::borrow::Cow;

use super::agents::Agents;
use super::decision;
use super::record::{ClaudeBlock, ClaudeContent, ClaudeRecord};
use super::said::{ClaudeSaid, Notice, plan_in, reason, tell, tell_queued};
use super::stream::ClaudeStream;
use super::tree::ClaudeNode;
use crate::file::lenient::Text;
use crate::stream::out::{Fate, Out};
use crate::unknown::unknown;
use cru_session::event::{Attachment, Call, CallResult, EventKind, Prompt, PromptOrigin, StreamKey};

/// The name under which a person's own shell line is told.
const SHELL: &str = "Shell";

impl ClaudeStream {
    /// Reads a user line; `parent` is the record it hangs on.
    pub(super) fn user(
        &mut self,
        record: &mut ClaudeRecord<'_>,
        parent: Option<ClaudeNode>,
        out: &mut Out<'_>,
        agents: &mut Agents,
    ) -> Fate {
        let Some(message) = record.message.0.take() else { return Fate::Skipped(reason::EMPTY) };
        if record.is_compact_summary.0 {
            self.summary(Cow::Owned(message.content.to_string()), out);
            return Fate::Shown;
        }
        let mut gathered = Gathered { meta: is_hosts(record), ..Gathered::default() };
        let mut strange = None;
        match message.content {
            ClaudeContent::None => {}
            ClaudeContent::Text(text) => self.text(text, &mut gathered, out, agents),
            ClaudeContent::Blocks(blocks) => {
                let alone = blocks.iter().filter(|block| block.kind.str() == "tool_result").count() == 1;
                for block in blocks {
                    match block.kind.str() {
                        "tool_result" => {
                            let fate = self.result(block, record, alone, out, agents);
                            gathered.note(fate);
                        }
                        "image" | "document" => gathered.attach(&block),
                        "text" => self.text(block.text, &mut gathered, out, agents),
                        kind => strange = Some(unknown("unknown block", kind)),
                    }
                }
            }
        }
        // Accepting a plan and clearing the context begins anew with it, whoever is said to have typed that.
        let plan = record.plan_content.filled().or(gathered.plan.as_deref()).filter(|_| self.key.agent.is_none());
        if let Some(plan) = plan {
            out.emit(EventKind::Decision(decision::approved(plan, None)));
        }
        let attachments = std::mem::take(&mut gathered.attachments);
        if gathered.words.is_some() || !attachments.is_empty() {
            let text = gathered.words.take().unwrap_or_default();
            let origin =
                if gathered.command { PromptOrigin::Command } else { self.origin(&text, record.prompt_source.str()) };
            self.prompt(Prompt { text, origin, attachments }, parent, out);
            return strange.map_or(Fate::Shown, Fate::Skipped);
        }
        if let Some(reason) = strange {
            return Fate::Skipped(reason);
        }
        if out.told { Fate::Shown } else { Fate::Skipped(gathered.reason.unwrap_or(reason::EMPTY)) }
    }

    /// How words at the prompt came.
    fn origin(&mut self, text: &str, source: &str) -> PromptOrigin<'static> {
        if self.key.agent.is_some() {
            return PromptOrigin::Task;
        }
        let sent = self.queue.was_sent(text, self.worked);
        if source == "queued" || (sent && source != "sdk") { PromptOrigin::Queued } else { PromptOrigin::Typed }
    }

    /// Tells a prompt that begins a turn, and before it whether it goes back to an earlier one.
    fn prompt(&mut self, prompt: Prompt<'_>, parent: Option<ClaudeNode>, out: &mut Out<'_>) {
        self.flush_compaction(out);
        self.tell_untold(out);
        if let Some(parent) = parent.filter(|parent| parent.turn != self.turn && self.key.agent.is_none()) {
            out.emit(EventKind::Rewind { to: parent.record });
        }
        self.turn = self.turn.saturating_add(1);
        self.works = true;
        self.calls.begin_turn();
        out.began_turn = true;
        out.emit(EventKind::Prompt(prompt));
    }

    /// Tells prompts that were handed over from the queue and are written nowhere else.
    pub(super) fn tell_untold(&mut self, out: &mut Out<'_>) {
        for queued in self.queue.untold() {
            let prompt = match tell_queued(&queued.text) {
                ClaudeSaid::Words(text) => Prompt { text, origin: PromptOrigin::Queued, attachments: Vec::new() },
                ClaudeSaid::Command(text) => {
                    Prompt { text: text.into(), origin: PromptOrigin::Command, attachments: Vec::new() }
                }
                _ => continue,
            };
            out.emit_at(queued.record, queued.time.or(out.time), EventKind::Prompt(prompt));
        }
    }

    /// Words of an attachment of the host that holds a queued prompt.
    pub(super) fn queued(&mut self, content: &ClaudeContent<'_>, out: &mut Out<'_>, agents: &Agents) -> Fate {
        let mut attachments = Vec::new();
        if let ClaudeContent::Blocks(blocks) = content {
            attachments.extend(blocks.iter().filter_map(attachment));
        }
        let text = content.to_string();
        if self.queue.arrived(&text) {
            return Fate::Skipped("duplicate record");
        }
        let prompt = match tell_queued(&text) {
            ClaudeSaid::Words(text) => Prompt { text, origin: PromptOrigin::Queued, attachments },
            ClaudeSaid::Command(text) => Prompt { text: text.into(), origin: PromptOrigin::Command, attachments },
            ClaudeSaid::Notice(notice) => return self.notice(&notice, out, agents),
            ClaudeSaid::Nothing(_) if !attachments.is_empty() => {
                Prompt { text: Cow::Borrowed(""), origin: PromptOrigin::Queued, attachments }
            }
            ClaudeSaid::Nothing(reason) => return Fate::Skipped(reason),
            _ => return Fate::Skipped(reason::INJECTED),
        };
        out.emit(EventKind::Prompt(prompt));
        Fate::Shown
    }

    /// One text under a person's name.
    fn text<'a>(&mut self, text: Text<'a>, gathered: &mut Gathered<'a>, out: &mut Out<'_>, agents: &Agents) {
        let Some(text) = text.0 else { return };
        // A text with escapes is owned by the record; what is said of it is owned as well.
        match text {
            Cow::Borrowed(text) => {
                let said = tell(text);
                self.said(said, gathered, out, agents);
            }
            Cow::Owned(text) => match tell(&text) {
                ClaudeSaid::Words(Cow::Borrowed(same)) if same.len() == text.len() => gathered.say(Cow::Owned(text)),
                ClaudeSaid::Words(words) => gathered.say(Cow::Owned(words.into_owned())),
                ClaudeSaid::Shell(line) => {
                    self.said(ClaudeSaid::Shell(Cow::Owned(line.into_owned())), gathered, out, agents);
                }
                ClaudeSaid::Summary(text) => {
                    self.said(ClaudeSaid::Summary(Cow::Owned(text.into_owned())), gathered, out, agents);
                }
                ClaudeSaid::Notice(notice) => {
                    let fate = self.notice(&notice, out, agents);
                    gathered.note(fate);
                }
                ClaudeSaid::Command(line) => self.said(ClaudeSaid::Command(line), gathered, out, agents),
                ClaudeSaid::ShellOutput(output) => self.said(ClaudeSaid::ShellOutput(output), gathered, out, agents),
                ClaudeSaid::Interrupt { tool } => self.said(ClaudeSaid::Interrupt { tool }, gathered, out, agents),
                ClaudeSaid::Plan(text) => {
                    self.said(ClaudeSaid::Plan(Cow::Owned(text.into_owned())), gathered, out, agents);
                }
                ClaudeSaid::Nothing(reason) => gathered.note(Fate::Skipped(reason)),
            },
        }
    }

    pub(super) fn said<'a>(
        &mut self,
        said: ClaudeSaid<'a>,
        gathered: &mut Gathered<'a>,
        out: &mut Out<'_>,
        agents: &Agents,
    ) {
        match said {
            ClaudeSaid::Notice(notice) => {
                let fate = self.notice(&notice, out, agents);
                gathered.note(fate);
            }
            ClaudeSaid::Interrupt { tool } => {
                let call = self.refused.take().filter(|_| tool);
                out.emit(EventKind::Interrupt { call: call.map(Cow::Owned) });
            }
            ClaudeSaid::Summary(text) => self.summary(text, out),
            ClaudeSaid::Nothing(reason) => gathered.note(Fate::Skipped(reason)),
            ClaudeSaid::Plan(text) => {
                gathered.plan = Some(plan_in(&text).to_owned());
                gathered.say(text);
            }
            // A line that is marked as the host's own is none of the person's words.
            _ if gathered.meta => gathered.note(Fate::Skipped(reason::INJECTED)),
            ClaudeSaid::Words(text) => gathered.say(text),
            ClaudeSaid::Command(line) => {
                gathered.command = true;
                gathered.say(Cow::Owned(line));
            }
            ClaudeSaid::Shell(line) => {
                self.shell = Some(line.clone().into_owned());
                let prompt = Prompt { text: line, origin: PromptOrigin::Shell, attachments: Vec::new() };
                out.emit(EventKind::Prompt(prompt));
            }
            ClaudeSaid::ShellOutput(output) => self.shell_output(&output, gathered, out),
        }
    }

    fn shell_output(&mut self, output: &str, gathered: &mut Gathered<'_>, out: &mut Out<'_>) {
        let Some(line) = self.shell.take() else {
            gathered.note(Fate::Skipped(reason::INJECTED));
            return;
        };
        let id = self.calls.name("shell", out.record);
        let input = serde_json::json!({ "command": line });
        out.emit(EventKind::Call(Call { id: id.as_str().into(), tool: SHELL.into(), args: line.into(), input }));
        let quiet = output.trim().is_empty() || output == "(Bash completed with no output)";
        out.emit(EventKind::Result(CallResult {
            call: id.into(),
            output: if quiet { "" } else { output }.into(),
            brief: quiet.then(|| "no output".into()),
            unstated: true,
            ..CallResult::default()
        }));
    }

    /// The summary after a compaction.
    fn summary(&mut self, text: Cow<'_, str>, out: &mut Out<'_>) {
        let boundary = self.compaction.take();
        out.emit(EventKind::Compaction {
            trigger: boundary.as_ref().and_then(|boundary| boundary.trigger.clone()).map(Cow::Owned),
            tokens_before: boundary.as_ref().and_then(|boundary| boundary.tokens_before),
            summary: Some(text).filter(|text| !text.trim().is_empty()),
        });
    }

    /// Something that ran in the background came back.
    pub(super) fn notice(&mut self, notice: &Notice<'_>, out: &mut Out<'_>, agents: &Agents) -> Fate {
        let stream = StreamKey { session: self.key.session.clone(), agent: Some(notice.task.to_owned()) };
        if notice.task.is_empty() || agents.get(&stream).is_none() {
            return Fate::Skipped("notice of a background command");
        }
        let summary = notice.result.unwrap_or(notice.summary);
        out.emit(EventKind::SubagentDone {
            stream,
            summary: Some(summary).filter(|summary| !summary.is_empty()).map(Cow::Borrowed),
            failed: !matches!(notice.status, "completed" | ""),
        });
        Fate::Shown
    }
}

/// Whether the line is marked as put there by the host.
fn is_hosts(record: &ClaudeRecord<'_>) -> bool {
    let origin = record.origin.0.as_ref().map_or("", |origin| origin.kind.str());
    record.is_meta.0 || record.prompt_source.str() == "system" || !matches!(origin, "" | "human")
}

/// What the parts of a user line come to.
#[derive(Debug, Default)]
pub(super) struct Gathered<'a> {
    pub(super) meta: bool,
    pub(super) words: Option<Cow<'a, str>>,
    pub(super) command: bool,
    plan: Option<String>,
    pub(super) reason: Option<&'static str>,
    attachments: Vec<Attachment<'static>>,
}

impl<'a> Gathered<'a> {
    fn say(&mut self, text: Cow<'a, str>) {
        if self.meta {
            self.note(Fate::Skipped(reason::INJECTED));
            return;
        }
        self.words = Some(match self.words.take() {
            None => text,
            Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
        });
    }

    fn note(&mut self, fate: Fate) {
        if let Fate::Skipped(reason) = fate {
            self.reason.get_or_insert(reason);
        }
    }

    fn attach(&mut self, block: &ClaudeBlock<'_>) {
        if !self.meta {
            self.attachments.extend(attachment(block));
        }
    }
}

/// A picture or document sent along.
fn attachment(block: &ClaudeBlock<'_>) -> Option<Attachment<'static>> {
    if !matches!(block.kind.str(), "image" | "document") {
        return None;
    }
    let source = block.source.0.as_ref();
    let media_type = source.and_then(|source| source.media_type.filled()).unwrap_or("application/octet-stream");
    let bytes = source.map_or(0, super::record::ClaudeSource::bytes);
    Some(Attachment { media_type: media_type.to_owned().into(), bytes })
}
