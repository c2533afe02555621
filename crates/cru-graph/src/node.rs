//! What the graph connects.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::Serialize;

use cru_base::{Span, text};
use cru_session::{Callout, Decision, Error, Phase, Prose, Step, StepStatus, Subagent, User};
use cru_vault::{Head, Loaded, VaultPath};

/// A node's number in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// For indexing.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

cru_base::words! {
    /// What a node is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum NodeKind {
        /// A session note.
        Session = "session",
        /// A `##` section, or `###`.
        Phase = "phase",
        /// A tool call.
        Step = "step",
        /// A decision.
        Decision = "decision",
        /// An error.
        Error = "error",
        /// A person's words.
        User = "user",
        /// The place where a sub-agent was started.
        Subagent = "subagent",
        /// A lesson: a callout or a note of its own.
        Lesson = "lesson",
        /// Any other callout, or a paragraph that something can point at.
        Block = "block",
        /// A file that a step read or wrote.
        File = "file",
        /// A workflow's note.
        Workflow = "workflow",
        /// Any other note or file of the vault that something points at.
        Note = "note",
    }
}

/// What a node stands for.
#[derive(Clone, Debug)]
pub enum Body<'a> {
    /// A session.
    Session(&'a Loaded),
    /// A phase.
    Phase(&'a Phase),
    /// A step.
    Step(&'a Step),
    /// A decision.
    Decision(&'a Decision),
    /// An error.
    Error(&'a Error),
    /// A person's words.
    User(&'a User),
    /// A sub-agent's callout.
    Subagent(&'a Subagent),
    /// Any other callout.
    Callout(&'a Callout),
    /// A paragraph with a block id.
    Prose(&'a Prose),
    /// A file of a project.
    File {
        /// Relative to the project, or absolute (`~` for home).
        path: Cow<'a, str>,
        /// The project; empty for an absolute path.
        project: &'a str,
    },
    /// A note that is no session.
    Note(&'a Head),
    /// A file of the vault that is no note.
    Attachment(&'a VaultPath),
}

/// A node of the graph.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// Its name within its session: the block id, else one made of the phase's id and its place in it (`p-01.4`). For
    /// a session its id, for files and notes their path.
    pub id: Cow<'a, str>,
    /// The session it stands in, an index into [`super::Graph::sessions`]; `None` for files and notes.
    pub session: Option<u32>,
    /// What contains it.
    pub parent: Option<NodeId>,
    /// What it stands for.
    pub body: Body<'a>,
}

impl<'a> Node<'a> {
    /// What it is.
    pub fn kind(&self) -> NodeKind {
        match &self.body {
            Body::Session(_) => NodeKind::Session,
            Body::Phase(_) => NodeKind::Phase,
            Body::Step(_) => NodeKind::Step,
            Body::Decision(_) => NodeKind::Decision,
            Body::Error(_) => NodeKind::Error,
            Body::User(_) => NodeKind::User,
            Body::Subagent(_) => NodeKind::Subagent,
            Body::Callout(callout) if callout.kind == "lesson" => NodeKind::Lesson,
            Body::Callout(_) | Body::Prose(_) => NodeKind::Block,
            Body::File { .. } => NodeKind::File,
            Body::Note(head) => match head.meta.kind.as_deref() {
                Some("lesson") => NodeKind::Lesson,
                Some("workflow") => NodeKind::Workflow,
                _ => NodeKind::Note,
            },
            Body::Attachment(_) => NodeKind::Note,
        }
    }

    /// A few words for people, on one line and free of control characters; may be empty.
    pub fn label(&self) -> String {
        let label = match &self.body {
            Body::Session(loaded) => Cow::Borrowed(loaded.session.title()),
            Body::Phase(phase) => Cow::Borrowed(phase.title.as_str()),
            Body::Step(step) => Cow::Owned(format!("{} {}", step.tool, step.args)),
            Body::Decision(it) => first(&it.callout.title, &it.text),
            Body::Error(it) => first(&it.callout.title, &it.text),
            Body::User(it) => Cow::Borrowed(it.words.as_str()),
            Body::Subagent(it) => match &it.agent {
                Some(agent) => Cow::Owned(agent.to_string()),
                None => first(&it.callout.title, it.task.as_deref().unwrap_or("sub-agent")),
            },
            // The title of a lesson says how far it holds; the claim is its text.
            Body::Callout(it) if it.kind == "lesson" => first(it.body.lines().next().unwrap_or_default(), &it.title),
            Body::Callout(it) => first(&it.title, &it.body),
            Body::Prose(it) => Cow::Borrowed(it.text.as_str()),
            Body::File { path, .. } => Cow::Borrowed(path.as_ref()),
            Body::Note(head) => Cow::Owned(head.title()),
            Body::Attachment(path) => path.text(),
        };
        // A label is read, not replayed: a whole pasted file would only be cut again by whoever shows it.
        let cut = &label[..cru_base::lines::floor_char_boundary(&label, 400)];
        text::fold_whitespace(&text::sanitise(cut))
    }

    /// Where it stands in its note; empty for files and notes.
    pub fn span(&self) -> Span {
        match &self.body {
            Body::Phase(phase) => phase.span,
            Body::Step(step) => step.span,
            Body::Prose(prose) => prose.span,
            Body::Session(_) | Body::File { .. } | Body::Note(_) | Body::Attachment(_) => Span::default(),
            _ => self.callout().map(|callout| callout.span).unwrap_or_default(),
        }
    }

    /// The block id the note itself carries: what a link can point at.
    pub fn block_id(&self) -> Option<&'a str> {
        match &self.body {
            Body::Phase(phase) => phase.id_written.then_some(phase.id.as_str()),
            Body::Step(step) => step.id.as_deref(),
            Body::Prose(prose) => prose.id.as_deref(),
            _ => self.callout().and_then(|callout| callout.id.as_deref()),
        }
    }

    /// The callout it is, if it is one.
    pub fn callout(&self) -> Option<&'a Callout> {
        match &self.body {
            Body::Decision(it) => Some(&it.callout),
            Body::Error(it) => Some(&it.callout),
            Body::User(it) => Some(&it.callout),
            Body::Subagent(it) => Some(&it.callout),
            Body::Callout(it) => Some(it),
            _ => None,
        }
    }

    /// The step it is, if it is one.
    pub fn step(&self) -> Option<&'a Step> {
        match &self.body {
            Body::Step(step) => Some(step),
            _ => None,
        }
    }

    /// A step's own status.
    pub fn status(&self) -> Option<StepStatus> {
        self.step().map(|step| step.status)
    }

    /// When it happened, as far as the note says it of the node itself.
    pub fn time(&self) -> Option<Timestamp> {
        match &self.body {
            Body::Session(loaded) => loaded.session.meta.started,
            Body::Phase(phase) => phase.started,
            Body::Step(step) => step.time,
            _ => self.callout().and_then(|callout| callout.at),
        }
    }
}

/// The title, else the beginning of the text.
fn first<'t>(title: &'t str, body: &'t str) -> Cow<'t, str> {
    Cow::Borrowed(if title.trim().is_empty() { body } else { title })
}
