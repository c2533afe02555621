//! What a session shows that a recipe may cite.

use std::collections::{HashMap, HashSet};

use cru_action::{ToolKind, Verdict};
use cru_session::{Item, Session, StepStatus};

use super::letters;

/// What the sessions of a workflow show.
#[derive(Debug, Default)]
pub struct Cited {
    /// Commands of the steps by their ids; of several sessions those of all.
    pub(super) commands: HashMap<String, Vec<String>>,
    /// How the checks of steps ended, by the ids of these.
    pub(super) verdicts: HashMap<String, Verdict>,
    /// Words of people and agents by the ids of their blocks: letters and digits in lower case.
    said: Vec<(String, String)>,
    ids: HashSet<String>,
    /// Tasks of the sessions.
    tasks: HashSet<String>,
    /// All words of people and agents, and what commands printed: letters and digits in lower case.
    words: String,
}

impl Cited {
    /// Of the sessions from which a workflow was made.
    pub fn of<'s>(sessions: impl IntoIterator<Item = &'s Session>) -> Self {
        let mut cited = Self::default();
        for session in sessions {
            cited.tasks.extend(session.tasks().iter().map(|task| letters(&task.content)));
            for (_, item) in session.items() {
                let (id, texts) = match item {
                    Item::User(it) => (&it.callout.id, [it.words.as_str(), ""]),
                    Item::Prose(it) => (&None, [it.text.as_str(), ""]),
                    Item::Decision(it) => (&it.callout.id, [it.callout.title.as_str(), it.text.as_str()]),
                    Item::Callout(it) => (&it.id, [it.title.as_str(), it.body.as_str()]),
                    Item::Error(it) => (&it.callout.id, [it.callout.title.as_str(), it.text.as_str()]),
                    Item::Step(_) | Item::Tasks(_) | Item::Subagent(_) => continue,
                };
                cited.say(id.as_deref(), &texts.concat());
            }
            for phase in &session.phases {
                let prose = phase.items.iter().filter_map(|item| match item {
                    Item::Prose(prose) => Some(prose.text.as_str()),
                    _ => None,
                });
                cited.said.push((phase.id.clone(), letters(&prose.collect::<String>())));
                cited.ids.insert(phase.id.clone());
            }
            for (_, step) in session.steps() {
                let printed = [step.result.as_deref(), step.output.as_deref(), Some(step.full_args())];
                cited.words.extend(printed.into_iter().flatten().map(letters));
                let Some(id) = step.id.clone() else { continue };
                // A hand-written step may be the command itself.
                let shell = step.action().kind == ToolKind::Shell;
                let command =
                    if shell { step.full_args().to_owned() } else { format!("{} {}", step.tool, step.full_args()) };
                if step.status != StepStatus::Denied {
                    cited.commands.entry(id.clone()).or_default().push(command);
                }
                cited.verdicts.extend(step.verdict().map(|verdict| (id.clone(), verdict)));
                cited.ids.insert(id);
            }
        }
        cited
    }

    fn say(&mut self, id: Option<&str>, words: &str) {
        let words = letters(words);
        self.words.push_str(&words);
        if let Some(id) = id {
            self.ids.insert(id.to_owned());
            self.said.push((id.to_owned(), words));
        }
    }

    /// Whether nothing is known of any session.
    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a block has this id.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Whether a session has these words somewhere; a mark of a cut stands for anything.
    pub(super) fn has_words(&self, words: &str) -> bool {
        words.split('…').map(letters).all(|part| self.words.contains(&part))
    }

    /// Whether it is a task of a session.
    pub(super) fn is_task(&self, text: &str) -> bool {
        self.tasks.contains(&letters(text))
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
        ids.iter().any(|id| self.verdicts.get(*id) == Some(&Verdict::Passed))
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
