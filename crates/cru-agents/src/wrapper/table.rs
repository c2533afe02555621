//! The rows of `data/wrappers.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

/// What a text or a part of it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Means {
    /// A command, as typed.
    Command,
    /// A line for the shell that a person typed.
    Shell,
    /// What that line printed.
    ShellOutput,
    /// Something in the background came back.
    Notice,
    /// A line for the memory of the host.
    Memory,
    /// The summary after a compaction.
    Summary,
    /// A plan that a person accepted, with which the context was cleared.
    Plan,
    /// A message of another agent.
    Agent,
    /// Words of the host.
    #[default]
    Host,
    /// Around the person's own words.
    Words,
    /// Before their words.
    Before,
    /// Anywhere in their words.
    Inserted,
    /// Behind their words, to the end.
    After,
    /// Behind their words, on the last line.
    LastLine,
    /// Before a mark, behind which their words are.
    Behind,
    /// The same, and names files that were sent with them.
    Files,
    /// Words of the host among the prompts that wait.
    Queued,
    /// At the end of a tool's answer.
    Answer,
    /// At the end of a sub-agent's answer.
    AgentAnswer,
    /// At the beginning of an agent's words.
    Reply,
    /// The host's text of a command, around what was typed behind its name.
    Template,
    /// The host's word that something went wrong.
    Failed,
    /// Its word that a person refused a call.
    Refused,
    /// Its word that its permissions did.
    RefusedByHost,
}

impl Means {
    /// Whether it says what a whole text is.
    pub(super) const fn is_whole(self) -> bool {
        matches!(
            self,
            Self::Command
                | Self::Shell
                | Self::ShellOutput
                | Self::Notice
                | Self::Memory
                | Self::Summary
                | Self::Plan
                | Self::Agent
                | Self::Host
        )
    }
}

/// One row.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Row {
    pub(super) agents: Vec<String>,
    pub(super) means: Means,
    pub(super) element: Vec<String>,
    pub(super) head: Vec<String>,
    pub(super) label: Vec<String>,
    pub(super) ends: Vec<String>,
    pub(super) closed: bool,
    pub(super) stamp: bool,
}

#[derive(Default, Deserialize)]
struct WrapperFile {
    wrapper: Vec<Row>,
}

/// The embedded table; a test reads it.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    toml::from_str::<WrapperFile>(include_str!("../../data/wrappers.toml")).unwrap_or_default().wrapper
});

/// The rows of an importer, in order.
pub(super) fn rows(agent: &str) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |row| row.agents.iter().any(|known| known == agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_says_something() {
        let file: WrapperFile = toml::from_str(include_str!("../../data/wrappers.toml")).unwrap();
        assert_eq!(file.wrapper.len(), ROWS.len());
        for row in &file.wrapper {
            assert!(row.agents.iter().all(|agent| crate::find(agent).is_some()) && !row.agents.is_empty(), "{row:?}");
            assert!(!row.element.is_empty() || !row.head.is_empty(), "{row:?}");
            assert!(row.means == Means::Before || (row.label.is_empty() && !row.stamp), "{row:?}");
        }
    }
}
