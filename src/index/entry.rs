//! What can be a hit: one entry for each block that a person would want to land on.

use jiff::Timestamp;
use tantivy::TantivyDocument;

use super::schema::Fields;
use super::snapshot::NoteKey;
use crate::base::Span;
use crate::note::Note;
use crate::session::{Item, Phase, Session, StepStatus};

/// Something that can be found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// `session` (frontmatter and heading), `phase`, `step`, `decision`, `error`, `user`, `subagent`, `prose`, `task`,
    /// `memory`, `evidence`, or the kind of any other callout.
    pub kind: String,
    /// Its text.
    pub text: String,
    /// Where it stands in the note; for evidence, the step.
    pub span: Span,
    /// Agent of its phase, with version.
    pub agent: Option<String>,
    /// Channel of its phase.
    pub channel: Option<String>,
    /// Tool of a step.
    pub tool: Option<String>,
    /// Files of a step.
    pub files: Vec<String>,
    /// What it is beside its kind: `failed`, `correction`, `resolved`, `open`.
    pub is: Vec<&'static str>,
    /// When.
    pub time: Option<Timestamp>,
    /// Line of the transcript, from 1; only of evidence.
    pub evidence: Option<u64>,
}

impl Entry {
    /// Every entry of a note, in order.
    pub fn all(note: &Note, session: &Session) -> Vec<Self> {
        let mut entries = Vec::new();
        for (phase, item) in session.items() {
            entries.push(Self::of(note, phase, item));
        }
        entries
    }

    fn of(note: &Note, phase: Option<&Phase>, item: &Item) -> Self {
        let kind = match item {
            Item::Step(_) => "step".to_owned(),
            Item::Tasks(_) => "task".to_owned(),
            Item::Prose(_) => "prose".to_owned(),
            other => other.callout().map(|callout| callout.kind.clone()).unwrap_or_default(),
        };
        let failed = matches!(item, Item::Step(step) if step.status == StepStatus::Failed);
        Self {
            kind,
            text: item.span().of(note.text()).to_owned(),
            span: item.span(),
            agent: phase.and_then(|phase| phase.agent.as_ref()).map(ToString::to_string),
            channel: phase.and_then(|phase| phase.channel.clone()),
            is: if failed { vec!["failed"] } else { Vec::new() },
            ..Self::default()
        }
    }

    /// A hash of all that it is made of.
    pub fn hash(&self) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&blake3::hash(format!("{self:?}").as_bytes()).as_bytes()[..8]);
        u64::from_le_bytes(bytes)
    }

    /// The entry as a document of the note `key`.
    pub fn document(&self, key: NoteKey, fields: &Fields) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_u64(fields.note, key.0);
        document.add_text(fields.kind, &self.kind);
        document.add_text(fields.body, &self.text);
        if let Some(agent) = &self.agent {
            let agent = agent.to_lowercase();
            if let Some((name, _)) = agent.split_once('@') {
                document.add_text(fields.agent, name);
            }
            document.add_text(fields.agent, agent);
        }
        if let Some(channel) = &self.channel {
            document.add_text(fields.channel, channel.to_lowercase());
        }
        if let Some(tool) = &self.tool {
            document.add_text(fields.tool, tool.to_lowercase());
        }
        for file in &self.files {
            document.add_text(fields.file, file);
        }
        for is in &self.is {
            document.add_text(fields.is, is);
        }
        if let Some(time) = self.time {
            document.add_i64(fields.time, time.as_second());
        }
        document.add_u64(fields.hash, self.hash());
        document.add_u64(fields.start, self.span.start as u64);
        document.add_u64(fields.end, self.span.end as u64);
        if let Some(line) = self.evidence {
            document.add_u64(fields.evidence, line);
        }
        document
    }
}
