//! The table of agents: who they are, where their transcripts lie, how a session is resumed, when transcripts are
//! deleted.
//!
//! The one place for these facts; `data/agents.toml` holds them. What reads an agent's transcripts is an
//! [`Importer`](crate::source::Importer), which names its row.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// One agent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentEntry {
    /// Name on the command line: `claude`.
    pub id: String,
    /// Frontmatter `host` and name of the agent in a note: `claude-code`.
    pub host: String,
    /// Other names under which a note or a configuration names the host.
    pub aliases: Vec<String>,
    /// Name for people: `Claude Code`.
    pub title: String,
    /// Where its transcripts lie, `~` for home; several are all searched.
    pub places: Vec<String>,
    /// How the names of its transcripts end; only such files are looked at in a folder.
    pub names: Vec<String>,
    /// Variables that move one of its folders.
    pub moved: Vec<MovedFolder>,
    /// Whether its transcripts tell of each call whether it failed; where not, only the output tells.
    pub statuses: bool,
    /// Whether its transcripts hold no words of the agent, so that none can be missing at the end.
    pub silent: bool,
    /// Seconds after which a command in the foreground ends where its call names no limit of its own; 0 where none is known.
    /// A longer time between call and answer holds a person's waiting, who was asked for leave.
    pub command_limit: u64,
    /// Types of its records and of their parts that no note has, by the reason; with a `.` or `_` at the end all that begin so.
    pub left: BTreeMap<String, Vec<String>>,
    /// Files that describe a session, from the folder of its transcript: it is read again when they change.
    pub described: Vec<String>,
    /// Whether its hooks are understood: they write the phases of a session.
    pub hooks: bool,
    /// Program and arguments that continue one of its sessions; empty where none is known.
    pub resume: Vec<String>,
    /// Program and arguments that start a session with a prompt; empty where none is known.
    pub start: Vec<String>,
    /// Commands about the host itself, without `/`.
    pub commands: Vec<String>,
    /// Those of them that take words: `/compact keep the names`.
    pub worded: Vec<String>,
    /// When it deletes transcripts, where such a rule is documented.
    pub retention: Option<Retention>,
    /// Where the knowledge of its format comes from.
    pub evidence: Evidence,
}

impl AgentEntry {
    /// Why a record or a part of that type is left out, where the row says so.
    pub fn why_left(&self, kind: &str) -> Option<&str> {
        let is = |known: &String| known == kind || known.ends_with(['.', '_']) && kind.starts_with(known.as_str());
        self.left.iter().find(|(_, kinds)| kinds.iter().any(is)).map(|(reason, _)| reason.as_str())
    }
}

/// What the importer of an agent was last compared with; empty where nobody has said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evidence {
    /// The files or programs.
    pub source: String,
    /// The commit of the source, where it is a repository.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// The newest version of the host that it was compared with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// When that was, as `2026-11` or a day.
    pub date: String,
}

/// A variable that moves a folder of an agent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MovedFolder {
    /// Name of the variable.
    pub variable: String,
    /// The folder where the variable is not set.
    pub folder: String,
    /// Where the folder is below the variable's value.
    pub below: String,
}

/// When an agent deletes transcripts by itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// The user's settings.
    pub settings: String,
    /// The setting in them that says after how long; names of nested objects joined by points.
    pub setting: String,
    /// The folder whose transcripts are deleted; never one that lies elsewhere.
    pub folder: String,
    /// What the setting looks like.
    pub form: RetentionForm,
    /// Days after the last line, where the settings say nothing.
    pub days: u32,
    /// Name of the folders whose transcripts are counted together, with the work of sub-agents in folders below them;
    /// empty where each transcript goes by itself.
    pub together: String,
}

/// What a setting of [`Retention`] looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RetentionForm {
    /// A number of days.
    #[default]
    Days,
    /// A text such as `30d` or `12h`; beside it may stand `enabled`, `minRetention` and `maxCount`.
    Period,
}

#[derive(Deserialize)]
struct Table {
    agent: Vec<AgentEntry>,
}

static AGENTS: LazyLock<Vec<AgentEntry>> = LazyLock::new(|| read(include_str!("../data/agents.toml")));

/// The rows of an embedded table; a test reads each of them.
fn read(text: &str) -> Vec<AgentEntry> {
    toml::from_str::<Table>(text).map(|table| table.agent).unwrap_or_default()
}

/// Every agent, in the order of the table.
pub fn all() -> &'static [AgentEntry] {
    &AGENTS
}

/// The agent with that name on the command line.
pub fn by_id(id: &str) -> Option<&'static AgentEntry> {
    AGENTS.iter().find(|agent| agent.id == id)
}

/// The agent that a note's `host`, or a configuration, names; case is ignored.
pub fn by_host(host: &str) -> Option<&'static AgentEntry> {
    let named = |agent: &&AgentEntry| {
        agent.host.eq_ignore_ascii_case(host) || agent.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(host))
    };
    AGENTS.iter().find(named)
}

/// Whether a command, without `/`, is one of some agent about itself.
pub fn is_command(name: &str) -> bool {
    static COMMANDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| AGENTS.iter().flat_map(|agent| agent.commands.iter().map(String::as_str)).collect());
    COMMANDS.contains(name)
}

/// Whether a command of the agent `id` about itself, without `/`, takes words and not a value alone. Of an agent whose row names no
/// commands, one takes words that does so with another agent.
pub fn takes_words(id: &str, name: &str) -> bool {
    let own = by_id(id).filter(|agent| !agent.commands.is_empty());
    let rows = AGENTS.iter().filter(|agent| own.is_none_or(|own| own.id == agent.id));
    rows.flat_map(|agent| &agent.worded).any(|command| command == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_read_and_names_are_unique() {
        assert_eq!(all().len(), include_str!("../data/agents.toml").matches("[[agent]]").count());
        let mut names = BTreeSet::new();
        for agent in all() {
            assert!(!agent.title.is_empty() && !agent.places.is_empty() && !agent.names.is_empty(), "{}", agent.id);
            assert_eq!(by_id(&agent.id).map(|found| &found.host), Some(&agent.host));
            for name in agent.aliases.iter().chain([&agent.host]) {
                assert!(names.insert(name.to_lowercase()), "{name} names two agents");
                assert_eq!(by_host(&name.to_uppercase()).map(|found| &found.id), Some(&agent.id));
            }
        }
        assert!(by_host("typewriter").is_none());
        assert!(is_command("clear") && is_command("map-refresh") && !is_command("review"));
        for agent in all() {
            assert!(agent.worded.iter().all(|command| agent.commands.contains(command)), "{}", agent.id);
        }
        let takes = |id| ["compact", "rename", "login"].map(|name| takes_words(id, name));
        assert_eq!([takes("claude"), takes("cline")], [[true, true, false]; 2]);
        assert_eq!(takes("aider"), [false; 3], "its own row names its commands");
    }

    #[test]
    fn the_row_of_the_documentation_is_one() {
        let rows = read(include_str!("../data/example.toml"));
        assert_eq!((rows.len(), rows[0].id.as_str(), rows[0].title.as_str()), (1, "parrot", "Parrot"));
        assert!(!rows[0].resume.is_empty() && rows[0].retention.is_some() && by_id("parrot").is_none());
    }
}
