//! Every text of an event, masked by the rules of `cru-secrets`.
//!
//! Events are taken apart field by field and without `..`, so one that gets a new field does not compile until somebody
//! has said here what is done with it. Ids stay: they are joined and not shown.

use std::borrow::Cow;

use serde_json::Value;

use crate::event::{
    Attachment, Call, CallResult, DecisionEvent, Event, EventKind, FileChange, Prompt, PromptOrigin, Remark,
    SessionFact, SubagentRun,
};
use crate::source::Header;
use crate::{FileRef, Task};
pub use cru_secrets::{Found, Masks, VERSION, find, find_all, mask};

/// Secrets out of what importers tell.
pub trait MaskEvents {
    /// What is told of a stream before its first event.
    fn header(&mut self, header: &mut Header);

    /// One event.
    fn event(&mut self, event: &mut Event<'_>);
}

impl MaskEvents for Masks {
    fn header(&mut self, header: &mut Header) {
        let Header { key: _, parent: _, transcript: _, agent, task, aside: _ } = header;
        self.string_of(agent);
        self.string_of(task);
    }

    fn event(&mut self, event: &mut Event<'_>) {
        let Event { record: _, time: _, kind } = event;
        match kind {
            EventKind::Prompt(Prompt { text, origin, attachments }) => {
                match origin {
                    PromptOrigin::Typed
                    | PromptOrigin::Queued
                    | PromptOrigin::Command
                    | PromptOrigin::Shell
                    | PromptOrigin::Denial { call: _ }
                    | PromptOrigin::Task => {}
                }
                self.cow(text);
                self.attachments(attachments);
            }
            EventKind::Reply(text) | EventKind::Thinking(text) | EventKind::ApiError(text) => self.cow(text),
            EventKind::Call(Call { id: _, tool, args, input }) => {
                self.cow(tool);
                self.cow(args);
                // What a note shows of it are `args`.
                *input = Value::Null;
            }
            EventKind::Result(result) => self.result(result),
            EventKind::Usage { message: _, model, usage: _ } => self.cow(model),
            EventKind::Compaction { trigger, tokens_before: _, summary } => {
                self.cow_of(trigger);
                self.cow_of(summary);
            }
            EventKind::Rewind { to: _ } | EventKind::Interrupt { .. } => {}
            EventKind::Branch { to: _, summary } => self.cow_of(summary),
            EventKind::Bookmark { to: _, label } => self.cow(label),
            EventKind::Decision(DecisionEvent { title, text, why, rejected, approval: _, call: _ }) => {
                self.cow(title);
                self.cow(text);
                self.cow_of(why);
                for text in rejected {
                    self.cow(text);
                }
            }
            EventKind::Tasks(tasks) => tasks.iter_mut().for_each(|task| self.task(task)),
            EventKind::Task(task) => self.task(task),
            EventKind::Subagent { call: _, run } => self.run(run),
            EventKind::SubagentDone { stream: _, summary, failed: _ } => self.cow_of(summary),
            EventKind::Phase(title) => self.cow(title),
            EventKind::Detail { call: _, name, value } => {
                self.cow(name);
                self.cow(value);
            }
            EventKind::Remark(Remark { kind, title, text, fields, folded: _, about: _, id: _ }) => {
                self.cow(kind);
                self.cow(title);
                self.cow(text);
                for (name, value) in fields {
                    self.cow(name);
                    self.cow(value);
                }
            }
            EventKind::Meta(meta) => match meta {
                SessionFact::Title { rank: _, text }
                | SessionFact::Cwd(text)
                | SessionFact::Project(text)
                | SessionFact::Branch(text)
                | SessionFact::Commit(text)
                | SessionFact::Agent(text)
                | SessionFact::HostVersion(text)
                | SessionFact::Model(text)
                | SessionFact::Tag(text) => self.cow(text),
                SessionFact::Memory { key, value } | SessionFact::Property { key, value } => {
                    self.cow(key);
                    self.member(key, value);
                }
                SessionFact::Cost(_)
                | SessionFact::Tokens(_)
                | SessionFact::Started(_)
                | SessionFact::TotalCost(_)
                | SessionFact::ContinuedIn(_)
                | SessionFact::CopiedUntil(_) => {}
            },
            EventKind::PullRequest { url, number: _ } => self.cow(url),
        }
    }
}

/// The parts of an event.
trait MaskParts {
    fn result(&mut self, result: &mut CallResult<'_>);
    fn run(&mut self, run: &mut SubagentRun<'_>) {
        let SubagentRun { stream: _, agent, model, task, background: _ } = run;
        for text in [agent, model, task] {
            self.cow_of(text);
        }
    }

    fn attachments(&mut self, attachments: &mut [Attachment<'_>]);
    fn task(&mut self, task: &mut Task);
    fn cow(&mut self, text: &mut Cow<'_, str>);
    fn cow_of(&mut self, text: &mut Option<Cow<'_, str>>);
    fn string(&mut self, text: &mut String);
    fn string_of(&mut self, text: &mut Option<String>);
}

impl MaskParts for Masks {
    fn result(&mut self, result: &mut CallResult<'_>) {
        let CallResult {
            call: _,
            output,
            brief,
            failed: _,
            denied: _,
            denial,
            exit: _,
            duration_ms: _,
            reads,
            writes,
            changes,
            subagent,
            attachments,
            commits,
            unstated: _,
        } = result;
        self.cow(output);
        self.cow_of(brief);
        self.cow_of(denial);
        for commit in commits {
            self.cow(commit);
        }
        for FileRef { path, hash: _, lines: _, created: _, deleted: _ } in reads.iter_mut().chain(writes) {
            self.string(path);
        }
        // What a diff shows stands in no note: it is masked where it is
        // written, and the secrets of the note keep their numbers.
        for FileChange { path, diff: _ } in changes {
            self.string(path);
        }
        if let Some(run) = subagent {
            self.run(run);
        }
        self.attachments(attachments);
    }

    fn attachments(&mut self, attachments: &mut [Attachment<'_>]) {
        for Attachment { media_type, bytes: _ } in attachments {
            self.cow(media_type);
        }
    }

    fn task(&mut self, task: &mut Task) {
        let Task { id, content, status, priority, extra } = task;
        self.string(id);
        self.string(content);
        self.string(status);
        self.string_of(priority);
        extra.values_mut().for_each(|value| self.value(value));
    }

    fn cow(&mut self, text: &mut Cow<'_, str>) {
        if let Cow::Owned(masked) = self.text(text) {
            *text = Cow::Owned(masked);
        }
    }

    fn cow_of(&mut self, text: &mut Option<Cow<'_, str>>) {
        if let Some(text) = text {
            self.cow(text);
        }
    }

    fn string(&mut self, text: &mut String) {
        if let Cow::Owned(masked) = self.text(text) {
            *text = masked;
        }
    }

    fn string_of(&mut self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.string(text);
        }
    }
}
