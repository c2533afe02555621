//! What transcripts say of the steps of a session beyond what its note shows: what edits changed, line by line, what
//! failed calls answered, and what sub-agents were told. A workflow is made without it too; it then tells less of each edit.

use std::collections::HashMap;

use cru_reading::answer::WorkGroup;

/// What is known of the steps of one session, by their block ids without `^`.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    changes: HashMap<String, Vec<FileDiff>>,
    outputs: HashMap<String, String>,
    prompts: HashMap<String, String>,
    groups: Vec<WorkGroup>,
    open: Vec<String>,
}

/// How a step changed one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// The file; empty where the call names none.
    pub path: String,
    /// Its lines with their marks: `+`, `-`, or a blank for one that stayed.
    pub lines: Vec<(char, String)>,
    /// How many more lines there are that are not in `lines`.
    pub more: usize,
}

impl FileDiff {
    /// How many lines have this mark.
    pub(crate) fn count(&self, mark: char) -> usize {
        self.lines.iter().filter(|(own, _)| *own == mark).count()
    }
}

impl Evidence {
    /// Adds what the step `id` changed.
    pub fn add_changes(&mut self, id: String, changes: Vec<FileDiff>) {
        self.changes.insert(id, changes);
    }

    /// Adds what the step `id` answered.
    pub fn add_output(&mut self, id: String, output: String) {
        self.outputs.insert(id, output);
    }

    /// Adds what the step `id` told a sub-agent to do.
    pub fn add_prompt(&mut self, id: String, prompt: String) {
        self.prompts.insert(id, prompt);
    }

    /// Says which steps belong together, as an accepted reading does.
    pub fn set_groups(&mut self, groups: Vec<WorkGroup>) {
        self.groups = groups;
    }

    /// Which steps belong together; empty where nobody said so.
    pub(crate) fn groups(&self) -> &[WorkGroup] {
        &self.groups
    }

    /// Says what an accepted reading calls open.
    pub fn set_open(&mut self, open: Vec<String>) {
        self.open = open;
    }

    /// What an accepted reading calls open; empty where it says nothing.
    pub(crate) fn open(&self) -> &[String] {
        &self.open
    }

    /// What the step `id` changed, file by file.
    pub(crate) fn changes(&self, id: Option<&str>) -> &[FileDiff] {
        id.and_then(|id| self.changes.get(id)).map_or(&[], Vec::as_slice)
    }

    /// What the step `id` told a sub-agent to do.
    pub(crate) fn prompt(&self, id: Option<&str>) -> Option<&str> {
        self.prompts.get(id?).map(String::as_str)
    }

    /// What the step `id` answered.
    pub(crate) fn output(&self, id: Option<&str>) -> Option<&str> {
        self.outputs.get(id?).map(String::as_str)
    }
}
