//! User lines: words of a person, answers of tools, and what the host puts under that name.

use std::borrow::Cow;

use serde_json::Value;

use super::agents::Agents;
use super::decision;
use super::record::{attachment, words};
use super::said::{ClaudeSaid, Notice, plan_in, reason, tell, tell_queued};
use super::stream::ClaudeStream;
use super::tree::ClaudeNode;
use crate::call::tools;
use crate::file::value::{blocks, filled, flag, object, word};
use crate::stream::out::Out;
use crate::unknown::unknown;
use cru_session::event::{Attachment, CallResult, EventKind, Prompt, PromptOrigin, StreamKey};

impl ClaudeStream {
    /// Reads a user line; `parent` is the record it hangs on.
    pub(super) fn user(
        &mut self,
        record: &Value,
        parent: Option<ClaudeNode>,
        out: &mut Out<'_>,
        agents: &mut Agents,
    ) -> Option<&'static str> {
        let Some(message) = object(record, "message") else { return Some(reason::EMPTY) };
        if flag(record, "isCompactSummary") {
            self.summary(words(&message["content"]).into(), out);
            return None;
        }
        let mut gathered = Gathered { meta: is_hosts(record), ..Gathered::default() };
        let mut strange = None;
        let blocks = blocks(&message["content"]);
        let alone = blocks.iter().filter(|block| word(block, "type") == "tool_result").count() == 1;
        for block in &blocks {
            match word(block, "type") {
                "tool_result" => {
                    let left = self.result(block, record, alone, out, agents);
                    gathered.note(left);
                }
                "image" | "document" if !gathered.meta => gathered.attachments.extend(attachment(block)),
                "image" | "document" => {}
                "text" => {
                    if let Some(words) = block["text"].as_str() {
                        self.said(tell(words), &mut gathered, out, agents);
                    }
                }
                kind => strange = Some(unknown("unknown block", kind)),
            }
        }
        // Accepting a plan and clearing the context begins anew with it, whoever is said to have typed that.
        let plan = filled(record, "planContent").or(gathered.plan.as_deref()).filter(|_| self.key.agent.is_none());
        if let Some(plan) = plan {
            out.emit(EventKind::Decision(decision::approved(plan, None)));
        }
        let attachments = std::mem::take(&mut gathered.attachments);
        if gathered.words.is_some() || !attachments.is_empty() {
            let source = word(record, "promptSource");
            let text = gathered.words.take().unwrap_or_default();
            let origin = if gathered.command { PromptOrigin::Command } else { self.origin(&text, source) };
            self.prompt(Prompt { text, origin, attachments }, parent, out);
            return strange;
        }
        if let Some(reason) = strange {
            return Some(reason);
        }
        (!out.told).then_some(gathered.reason.unwrap_or(reason::EMPTY))
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
    pub(super) fn queued(&mut self, content: &Value, out: &mut Out<'_>, agents: &Agents) -> Option<&'static str> {
        let attachments: Vec<_> = blocks(content).iter().filter_map(|block| attachment(block)).collect();
        let text = words(content);
        if self.queue.arrived(&text) {
            return Some("duplicate record");
        }
        let prompt = match tell_queued(&text) {
            ClaudeSaid::Words(text) => Prompt { text, origin: PromptOrigin::Queued, attachments },
            ClaudeSaid::Command(text) => Prompt { text: text.into(), origin: PromptOrigin::Command, attachments },
            ClaudeSaid::Notice(notice) => return self.notice(&notice, out, agents),
            ClaudeSaid::Nothing(_) if !attachments.is_empty() => {
                Prompt { text: Cow::Borrowed(""), origin: PromptOrigin::Queued, attachments }
            }
            ClaudeSaid::Nothing(reason) => return Some(reason),
            _ => return Some(reason::INJECTED),
        };
        out.emit(EventKind::Prompt(prompt));
        None
    }

    /// One text under a person's name, told apart.
    pub(super) fn said<'a>(
        &mut self,
        said: ClaudeSaid<'a>,
        gathered: &mut Gathered<'a>,
        out: &mut Out<'_>,
        agents: &Agents,
    ) {
        match said {
            ClaudeSaid::Notice(notice) => {
                let left = self.notice(&notice, out, agents);
                gathered.note(left);
            }
            // The agent had ended its turn.
            ClaudeSaid::Interrupt { .. } if self.stopped_hook == Some((self.worked, self.turn)) => {
                gathered.note(Some(reason::INJECTED));
            }
            ClaudeSaid::Interrupt { tool } => {
                let call = self.refused.take().filter(|_| tool);
                out.emit(EventKind::Interrupt { call: call.map(Cow::Owned), unnamed: false });
            }
            ClaudeSaid::Summary(text) => self.summary(text, out),
            ClaudeSaid::Nothing(reason) => gathered.note(Some(reason)),
            ClaudeSaid::Plan(text) => {
                gathered.plan = Some(plan_in(&text).to_owned());
                gathered.say(text);
            }
            // A line that is marked as the host's own is none of the person's words.
            _ if gathered.meta => gathered.note(Some(reason::INJECTED)),
            ClaudeSaid::Words(text) => gathered.say(text),
            ClaudeSaid::Command(line) => {
                gathered.command = true;
                gathered.say(Cow::Owned(line));
            }
            ClaudeSaid::Shell(line) => {
                self.shell = Some(line.clone().into_owned());
                out.prompt(line, PromptOrigin::Shell);
            }
            ClaudeSaid::ShellOutput(output) => self.shell_output(&output, gathered, out),
        }
    }

    fn shell_output(&mut self, output: &str, gathered: &mut Gathered<'_>, out: &mut Out<'_>) {
        let Some(line) = self.shell.take() else {
            gathered.note(Some(reason::INJECTED));
            return;
        };
        let quiet = output.trim().is_empty() || output == "(Bash completed with no output)";
        let result = CallResult {
            output: if quiet { "" } else { output }.into(),
            brief: quiet.then(|| "no output".into()),
            unstated: true,
            ..CallResult::default()
        };
        tools::shell_line(&mut self.calls, &line, result, out);
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
    pub(super) fn notice(&mut self, notice: &Notice<'_>, out: &mut Out<'_>, agents: &Agents) -> Option<&'static str> {
        let stream = StreamKey { session: self.key.session.clone(), agent: Some(notice.task.to_owned()) };
        if notice.task.is_empty() || agents.get(&stream).is_none() {
            // `Background command "make" failed with exit code 2`
            let how = notice.summary.rsplit_once('"').map_or(notice.summary, |(_, how)| how).trim();
            let exit = how.split_once("exit code ").and_then(|(_, code)| code.trim_end_matches(')').parse().ok());
            let known = self.ended(notice.task, notice.status, exit, how, out);
            return (!known).then_some("notice of a background command");
        }
        let summary = notice.result.unwrap_or(notice.summary);
        out.emit(EventKind::SubagentDone {
            stream,
            summary: Some(summary).filter(|summary| !summary.is_empty()).map(Cow::Borrowed),
            failed: !matches!(notice.status, "completed" | ""),
        });
        None
    }
}

/// Whether the line is marked as put there by the host.
fn is_hosts(record: &Value) -> bool {
    let origin = word(&record["origin"], "kind");
    flag(record, "isMeta") || word(record, "promptSource") == "system" || !matches!(origin, "" | "human")
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
            self.note(Some(reason::INJECTED));
            return;
        }
        self.words = Some(match self.words.take() {
            None => text,
            Some(before) => Cow::Owned(format!("{before}\n\n{text}")),
        });
    }

    fn note(&mut self, left: Option<&'static str>) {
        self.reason = self.reason.or(left);
    }
}
