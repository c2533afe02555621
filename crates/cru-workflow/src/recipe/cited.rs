//! What the records of the sessions say of what a recipe cites.

use std::collections::{HashMap, HashSet};

use cru_action::{ToolKind, Verdict};
use cru_reading::Record;
use cru_reading::check::unproven;
use cru_session::open::open_points;
use cru_session::{Item, Session, StepStatus};

use super::letters;
use crate::unify::unifies;

/// What the sessions of a workflow show.
#[derive(Debug, Default)]
pub struct Cited {
    records: Vec<Record>,
    /// The commands that were run, in their order.
    runs: Vec<CitedRun>,
    /// Words of people and agents by the ids of their blocks: letters and digits in lower case.
    said: Vec<(String, String)>,
    /// The phases of blocks, of a workflow of one session: blocks of several have the same ids.
    phases: HashMap<String, String>,
    /// Tasks of the sessions.
    tasks: HashSet<String>,
    /// What is open in the sessions: letters and digits in lower case.
    open: HashSet<String>,
    /// All words of people and agents, and what commands printed: letters and digits in lower case.
    words: String,
}

/// A command that a step ran.
#[derive(Debug)]
struct CitedRun {
    /// Block id of the step.
    id: String,
    /// The command; of a tool that is no shell its name and arguments.
    command: String,
    /// How it ended as a check.
    verdict: Option<Verdict>,
}

impl Cited {
    /// Of the sessions from which a workflow was made, with the record of each.
    pub fn of<'s>(sessions: impl IntoIterator<Item = (&'s Session, Record)>) -> Self {
        let mut cited = Self::default();
        for (session, record) in sessions {
            cited.tasks.extend(session.tasks().iter().map(|task| letters(&task.content)));
            cited.open.extend(open_points(session).iter().map(|point| letters(&point.to_line())));
            for (_, item) in session.items() {
                let (id, text) = match item {
                    Item::User(it) => (it.callout.id.as_deref(), it.words.clone()),
                    Item::Step(_) | Item::Tasks(_) | Item::Subagent(_) | Item::Prose(_) => continue,
                    other => {
                        let Some(callout) = other.callout() else { continue };
                        (callout.id.as_deref(), format!("{}{}", callout.title, callout.body))
                    }
                };
                cited.said.extend(id.map(|id| (id.to_owned(), letters(&text))));
            }
            let run = session.steps().filter(|(_, step)| step.status != StepStatus::Denied);
            cited.runs.extend(run.filter_map(|(_, step)| {
                // A hand-written step may be the command itself.
                let is_shell = step.action().kind == ToolKind::Shell;
                let args = step.full_args();
                let command = if is_shell { args.to_owned() } else { format!("{} {args}", step.tool) };
                Some(CitedRun { id: step.id.clone()?, command, verdict: step.verdict() })
            }));
            for (phase, item) in session.items() {
                let block = phase.zip(item.id());
                cited.phases.extend(block.map(|(phase, id)| (id.to_owned(), phase.id.clone())));
            }
            cited.phases.extend(session.phases.iter().map(|phase| (phase.id.clone(), phase.id.clone())));
            cited.said.extend(record.phases.iter().map(|phase| (phase.id.clone(), letters(&phase.prose))));
            record.texts().for_each(|text| cited.words.push_str(&letters(text)));
            cited.records.push(record);
        }
        if cited.records.len() > 1 {
            cited.phases.clear();
        }
        cited
    }

    /// The phase of a block.
    pub(super) fn phase_of(&self, id: &str) -> Option<&str> {
        self.phases.get(id).map(String::as_str)
    }

    /// Whether a block holds a decision: its question and its answer.
    pub(super) fn decides(&self, id: &str, decision: &str) -> bool {
        let block: String =
            self.records.iter().flat_map(|record| record.block(id)).map(|text| letters(&text)).collect();
        let parts = decision.split([':', '：', '—', '…']).map(letters).filter(|part| !part.is_empty());
        !block.is_empty() && parts.take(2).all(|part| block.contains(&part))
    }

    /// Whether somebody said a text in a block.
    pub(super) fn says(&self, id: &str, text: &str) -> bool {
        let text = letters(text);
        !text.is_empty() && self.said.iter().any(|(own, said)| own == id && said.contains(&text))
    }

    /// Whether nothing is known of any session.
    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether a block has this id.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.records.iter().any(|record| record.has_block(id))
    }

    /// The commands of the steps with one of these ids.
    pub(super) fn commands<'c>(&'c self, ids: &[&str]) -> impl Iterator<Item = &'c str> {
        let runs = self.runs.iter().filter(|run| ids.contains(&run.id.as_str()));
        runs.map(|run| run.command.as_str())
    }

    /// Whether a session has these words somewhere; a mark of a cut stands for anything.
    pub(super) fn has_words(&self, words: &str) -> bool {
        words.split('…').map(letters).all(|part| self.words.contains(&part))
    }

    /// Whether it is a task of a session.
    pub(super) fn is_task(&self, text: &str) -> bool {
        self.tasks.contains(&letters(text))
    }

    /// Whether it is a point that is open in a session.
    pub(super) fn is_open(&self, text: &str) -> bool {
        self.open.contains(&letters(text))
    }

    /// The ids of blocks in which somebody said these words.
    pub(super) fn said_in<'c>(&'c self, words: &str) -> impl Iterator<Item = &'c str> {
        // The beginning is enough to know them again; what a workflow shortens it ends with a mark.
        let words: String = letters(words.split('…').next().unwrap_or_default()).chars().take(80).collect();
        let said = self.said.iter().filter(move |(_, own)| !words.is_empty() && own.contains(&words));
        said.map(|(id, _)| id.as_str())
    }

    /// Whether a check passed in one of these steps.
    pub(super) fn passed(&self, ids: &[&str]) -> bool {
        self.runs.iter().any(|run| run.verdict == Some(Verdict::Passed) && ids.contains(&run.id.as_str()))
    }

    /// The last step that ran a command as a check, and how that ended.
    pub(super) fn last_run(&self, template: &str) -> Option<(&str, Verdict)> {
        let run = self.runs.iter().rfind(|run| run.verdict.is_some() && unifies(template, &run.command))?;
        Some((&run.id, run.verdict?))
    }

    /// What a line names that neither any session nor what it cites holds.
    pub(super) fn unproven(&self, line: &str) -> Vec<String> {
        unproven(line, &ids(line), &self.records)
    }
}

/// The ids that a text cites: `n-014`, `^u-03`, `p-02`.
pub fn ids(text: &str) -> Vec<&str> {
    let edge = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let is_id = |word: &&str| {
        let number = ["n-", "u-", "p-"].iter().find_map(|kind| word.strip_prefix(kind));
        number.is_some_and(|it| it.len() >= 2 && it.bytes().next().is_some_and(|byte| byte.is_ascii_digit()))
    };
    text.split(edge).filter(is_id).collect()
}
