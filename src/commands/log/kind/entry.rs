//! The entry that a verb with its arguments asks for.

use super::super::text;
use super::{LogKind, Subagent, TaskAction, Tool};
use crate::base::Result;
use crate::live::entry::{self, Entry};

impl LogKind {
    /// The entry that was asked for; text is read from stdin where that is meant.
    pub(in crate::commands::log) fn entry(&self) -> Result<Entry> {
        Ok(match self {
            Self::Phase { title, agent, channel, sub } => Entry::Phase(entry::Phase {
                title: text::of_words(title, "the title")?,
                agent: agent.clone(),
                channel: channel.clone(),
                sub: *sub,
                ..Default::default()
            }),
            Self::Tool(it) => Entry::Tool(it.entry()?),
            Self::Decision { title, text, why, rejected, impact, rests_on, after } => {
                Entry::Decision(entry::Decision {
                    title: text::of_words(title, "the decision")?,
                    text: text::of_option(text.as_ref())?.unwrap_or_default(),
                    why: why.clone(),
                    rejected: rejected.clone(),
                    impact: impact.clone(),
                    rests_on: rests_on.clone(),
                    after: after.clone(),
                    ..Default::default()
                })
            }
            Self::Error { title, resolve: Some(error), .. } => Entry::Resolve(entry::Resolve {
                error: error.clone(),
                text: text::of_words(title, "the resolution")?,
                ..Default::default()
            }),
            Self::Error { title, text, step, resolution, after, resolve: None } => Entry::Error(entry::Error {
                title: text::of_words(title, "the error")?,
                text: text::of_option(text.as_ref())?.unwrap_or_default(),
                step: step.clone(),
                resolution: resolution.clone(),
                after: after.clone(),
                ..Default::default()
            }),
            Self::User { words, action, correction, after } => Entry::User(entry::User {
                words: text::of_words(words, "the words")?,
                action: action.clone(),
                correction: *correction,
                after: after.clone(),
                ..Default::default()
            }),
            Self::Subagent(it) => it.entry()?,
            Self::Task { action, words, priority } => {
                let words = text::of_words(words, "the task")?;
                let (content, task, status) = match action {
                    TaskAction::Add => (Some(words), None, None),
                    TaskAction::Start => (None, Some(words), Some("in_progress".to_owned())),
                    TaskAction::Done => (None, Some(words), Some("completed".to_owned())),
                };
                Entry::Task(entry::Task { content, task, status, priority: priority.clone(), ..Default::default() })
            }
            Self::Lesson { text, level, confidence, advice, evidence, after } => Entry::Lesson(entry::Lesson {
                text: text::of_words(text, "the lesson")?,
                level: level.clone(),
                confidence: confidence.clone(),
                advice: advice.clone(),
                evidence: evidence.clone(),
                after: after.clone(),
                ..Default::default()
            }),
            Self::Note { text, after } => Entry::Note(entry::Note {
                text: text::of_words(text, "the text")?,
                after: after.clone(),
                ..Default::default()
            }),
            Self::Question { text, answer: Some(question), .. } => Entry::Answer(entry::Answer {
                question: question.clone(),
                text: text::of_words(text, "the answer")?,
                ..Default::default()
            }),
            Self::Question { text, answer: None, after } => Entry::Question(entry::Question {
                text: text::of_words(text, "the question")?,
                after: after.clone(),
                ..Default::default()
            }),
            Self::Checkpoint { title, kind, blocked } => Entry::Checkpoint(entry::Checkpoint {
                kind: Some(kind.clone()),
                title: title.join(" "),
                blocked: blocked.clone(),
                ..Default::default()
            }),
            Self::Usage { model, input, output, cache_write, cache_read, cost } => Entry::Usage(entry::Usage {
                model: model.clone(),
                input: *input,
                output: *output,
                cache_write: *cache_write,
                cache_read: *cache_read,
                cost: *cost,
                ..Default::default()
            }),
            // Read as a stream before it comes here.
        })
    }
}

impl Tool {
    fn entry(&self) -> Result<entry::Tool> {
        Ok(entry::Tool {
            // The one that was begun has a name.
            tool: self.name.clone().unwrap_or_else(|| "tool".to_owned()),
            args: match self.args.as_slice() {
                [one] if one == "-" => text::stdin()?,
                words => words.join(" "),
            },
            result: text::of_option(self.result.as_ref())?,
            failed: self.failed,
            exit: self.exit,
            duration: self.duration,
            reads: self.read.clone(),
            writes: self.write.clone(),
            created: self.created.clone(),
            after: self.after.clone(),
            ..Default::default()
        })
    }
}

impl Subagent {
    fn entry(&self) -> Result<Entry> {
        let Some(done) = &self.done else {
            return Ok(Entry::Subagent(entry::Subagent {
                agent: self.agent.clone().unwrap_or_default(),
                model: self.model.clone(),
                task: text::of_option(self.task.as_ref())?,
                mode: self.mode,
                after: self.after.clone(),
                ..Default::default()
            }));
        };
        Ok(Entry::SubagentDone(entry::SubagentDone {
            session: Some(done.clone()),
            model: self.model.clone(),
            summary: text::of_option(self.summary.as_ref())?,
            tokens: self.tokens,
            text: text::of_option(self.text.as_ref())?,
            ..Default::default()
        }))
    }
}
