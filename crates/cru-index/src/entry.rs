//! What can be a hit: one entry for each block that a person would want to land on.

mod front;
mod walk;

use jiff::Timestamp;
use tantivy::TantivyDocument;

use super::schema::Fields;
use cru_base::Span;
use cru_base::hash::short;
use cru_note::Note;
use cru_session::Session;
use cru_vault::VaultPath;

/// What entries know their note by: a hash of its path in the vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoteKey(pub u64);

impl NoteKey {
    /// The key of the note at a path.
    pub fn of(path: &VaultPath) -> Self {
        Self::of_text(&path.text())
    }

    /// The key of the note at a path as a row has it.
    pub fn of_text(path: &str) -> Self {
        Self(u64::from_le_bytes(short(&blake3::hash(path.as_bytes()))))
    }
}

/// Something that can be found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// `session` (frontmatter and heading), `phase`, `step`, `decision`, `error`, `user`, `subagent`, `prose`, `task`,
    /// `memory`, `evidence`, or the kind of any other callout.
    pub kind: String,
    /// Its text: the bytes of the note at its span, without comments; of an inline sub-agent and of a phase without what
    /// is an entry of its own.
    pub text: String,
    /// Where it stands in the note; for evidence, the step.
    pub span: Span,
    /// Agent of its phase (of an inline sub-agent: its own), with version.
    pub agent: Option<String>,
    /// Channel of its phase.
    pub channel: Option<String>,
    /// Tool of a step.
    pub tool: Option<String>,
    /// Files of a step.
    pub files: Vec<String>,
    /// What it is beside its kind: `failed`, `correction`, `resolved`, `open`.
    pub is: Vec<&'static str>,
    /// When: its own time, else that of what stands before it in its phase.
    pub time: Option<Timestamp>,
    /// Line of the transcript, from 1; only of evidence.
    pub evidence: Option<u64>,
    /// The file beside the note's transcript that the line stands in, where it is another one.
    pub source: Option<String>,
}

impl Entry {
    /// Every entry of a note, in order.
    ///
    /// All that the note says is in exactly one of them: the frontmatter and what stands before the first phase in
    /// `session`, headings with the line below them in `phase`, and what is no item of its own in the one before it or
    /// in `prose`. What stands in a comment (`%%`) is in none.
    pub fn all(note: &Note, session: &Session) -> Vec<Self> {
        walk::entries(note, session)
    }

    /// A hash of all that it is made of.
    pub fn hash(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        let mut text = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        text(&self.kind);
        text(&self.text);
        for part in [&self.agent, &self.channel, &self.tool, &self.source] {
            // What is not there is no empty text.
            text(if part.is_some() { "1" } else { "0" });
            text(part.as_deref().unwrap_or_default());
        }
        self.files.iter().for_each(|file| text(file));
        text("is");
        self.is.iter().for_each(|is| text(is));
        let numbers = [
            self.span.start as u64,
            self.span.end as u64,
            self.time.map_or(0, |time| time.as_millisecond().cast_unsigned()),
            self.evidence.unwrap_or(0),
        ];
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
        u64::from_le_bytes(short(&hasher.finalize()))
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
        document.add_u64(fields.start, self.span.start as u64);
        document.add_u64(fields.end, self.span.end as u64);
        if let Some(line) = self.evidence {
            document.add_u64(fields.evidence, line);
        }
        if let Some(source) = &self.source {
            document.add_text(fields.source, source);
        }
        document.add_u64(fields.hash, self.hash());
        document
    }
}

#[cfg(test)]
mod tests;
