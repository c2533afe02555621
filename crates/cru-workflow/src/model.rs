//! What a workflow note says.
//!
//! One model for both directions: [`super::parse`] fills it with the byte range of everything, [`super::codify`] with
//! empty ranges. What [`super::render`] writes is read back to the same model but for the ranges. Text fields hold
//! plain text, escapes undone; only [`Prose`] and [`Gate::body`] are markdown.

use serde::Serialize;

use cru_base::Span;
use cru_session::{Agent, Link};

cru_base::words! {
    /// A dialect of the markup.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Dialect {
        /// The default: a title, channels, marks, types.
        #[default]
        A = "a",
        /// Crucible's.
        Crucible = "crucible",
    }
}

/// A workflow note.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Workflow {
    /// Which dialect it is written in: it decides which headings are steps.
    pub dialect: Dialect,
    /// The level-1 heading, else `title` of the frontmatter.
    pub title: String,
    /// `description` of the frontmatter.
    pub description: Option<String>,
    /// The sessions it was made from: `source` of the frontmatter, one link or a list.
    pub sources: Vec<Link>,
    /// Whether it is a recipe, and what a person said of it: `recipe` of the frontmatter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<RecipeStatus>,
    /// What stands before the first heading of level 2 or deeper.
    pub preface: Vec<Part>,
    /// The items of `## Goals`.
    pub goals: Vec<Goal>,
    /// The headings of level 2 or deeper but Goals and Validation, in document order.
    pub steps: Vec<Step>,
    /// The items of `## Validation`.
    pub checks: Vec<Check>,
}

cru_base::words! {
    /// What a person said of a recipe.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RecipeStatus {
        /// Nothing yet.
        #[default]
        Proposed = "proposed",
        /// It is right: hosts may follow it.
        Accepted = "accepted",
        /// It is not.
        Rejected = "rejected",
    }
}

/// A heading of level 2 or deeper with what stands under it. Whether it is a step or mere prose (`## Summary`) follows
/// from its annotations and children: [`Workflow::step_flags`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Step {
    /// 2 to 6; 1 too in dialect B.
    pub level: u8,
    /// Index into [`Workflow::steps`] of the heading it stands under.
    pub parent: Option<usize>,
    /// Heading without annotations.
    pub title: String,
    /// `@agent`.
    pub agent: Option<Agent>,
    /// `#channel`, without `#`.
    pub channel: Option<String>,
    /// `!`, `?` or nothing.
    pub need: Need,
    /// `-> name`: what its result is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binds: Option<String>,
    /// A leading `&`: it runs beside its neighbours.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parallel: bool,
    /// A trailing `(parallel)`: the steps right below run beside each other.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fork: bool,
    /// Pairs `[key:: value]` of the heading that have no place of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<(String, String)>,
    /// What stands under the heading, without the headings below it.
    pub parts: Vec<Part>,
    /// Where it comes from: the phases of the line `From [[…]], [[…]]`.
    pub origin: Vec<Link>,
    /// Heading to the next heading.
    pub span: Span,
    /// The heading line.
    pub heading_span: Span,
}

/// What a failure of a step means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// No mark: not critical.
    #[default]
    Normal,
    /// `!`: the run stops.
    Required,
    /// `?`: recorded as skipped, the run goes on.
    Optional,
}

impl Need {
    /// The mark of the heading, `""` where there is none.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::Required => "!",
            Self::Optional => "?",
        }
    }
}

/// Something under a heading, in document order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub enum Part {
    /// Markdown with no meaning of its own here.
    Prose(Prose),
    /// `a, b → c::Type`.
    Flow(Flow),
    /// `If … → proceed to Step`, `Otherwise → Step`.
    Branch(Branch),
    /// `> [!gate] Title`: a person has to agree.
    Gate(Gate),
    /// `` - `command` — note ``.
    Command(Command),
    /// A command of several lines: an `sh` fence.
    Script(Script),
    /// `- Decided: …` and its like; any other bullet.
    Remark(Remark),
    /// A `session-toon` fence.
    Record(Record),
}

/// One block of markdown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Prose {
    /// As written.
    pub markdown: String,
    /// Where it stands.
    pub span: Span,
}

/// A data flow: each stage gives the next. `a → b → c` has three.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flow {
    /// At least two, none empty.
    pub stages: Vec<Vec<Operand>>,
    /// The line.
    pub span: Span,
}

impl Flow {
    /// The first stage: what has to be there.
    pub fn inputs(&self) -> &[Operand] {
        self.stages.first().map_or(&[], Vec::as_slice)
    }

    /// Every stage after the first.
    pub fn outputs(&self) -> impl Iterator<Item = &Operand> {
        self.stages.iter().skip(1).flatten()
    }
}

/// A named datum of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Operand {
    /// A file, or a name. One that ends with `/` stands for the files below it.
    pub name: String,
    /// `::Type`, perhaps with `[]`; a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// `12 files in src/`: how many files the name stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// Where it stands.
    pub span: Span,
}

/// A condition that leads to a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Branch {
    /// What is asked; `None`: otherwise.
    pub condition: Option<String>,
    /// Title of the step.
    pub target: String,
    /// The line.
    pub span: Span,
    /// The title in it.
    pub target_span: Span,
}

/// Where a person has to agree before the work goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gate {
    /// What is asked.
    pub title: String,
    /// More, markdown.
    pub body: String,
    /// The callout.
    pub span: Span,
}

/// A command of one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Command {
    /// The command.
    pub command: String,
    /// What is known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The list item.
    pub span: Span,
}

/// How the note of a command begins that did not do what it should: it is told because it was tried.
const TRIED: &[&str] = &["failed", "stopped", "ended by a signal", "no result is recorded"];

impl Command {
    /// Whether it was only tried: it failed, was stopped, or nothing is known of its end.
    pub fn is_attempt(&self) -> bool {
        self.note.as_deref().is_some_and(|note| TRIED.iter().any(|word| note.starts_with(word)))
    }
}

/// A command of several lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Script {
    /// Its lines.
    pub text: String,
    /// The fence.
    pub span: Span,
}

/// A bullet of one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Remark {
    /// Which word opens it.
    pub kind: RemarkKind,
    /// The rest.
    pub text: String,
    /// The list item.
    pub span: Span,
}

cru_base::words! {
    /// The word that opens a bullet.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RemarkKind {
        /// None.
        #[default]
        Plain = "",
        /// What was decided, and why.
        Decided = "Decided",
        /// What a person corrected: not to be done wrong again.
        Mind = "Mind",
        /// A further request that belongs to the step.
        Then = "Then",
        /// What went wrong, and what helped.
        Trouble = "Trouble",
        /// What was tried in vain.
        DeadEnd = "Dead end",
        /// A value that an earlier step printed, or a skill, page or tool.
        Uses = "Uses",
        /// The title of the step that was done before, where no data join the two.
        After = "After",
        /// What the step came to, in the agent's closing words.
        Result = "Result",
        /// How a file was changed.
        Changed = "Changed",
        /// What the agent said before the next call: a reason, a finding, a slip.
        Agent = "Agent",
    }
}

/// The record of runs: a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`; an empty cell is `""`.
    pub rows: Vec<Vec<String>>,
    /// The fence.
    pub span: Span,
}

impl Record {
    /// The cell of column `name` in `row`, if it is there and not empty.
    pub fn cell(&self, row: usize, name: &str) -> Option<&str> {
        let column = self.columns.iter().position(|column| column == name)?;
        self.rows.get(row)?.get(column).map(String::as_str).filter(|cell| !cell.is_empty())
    }
}

/// An item of `## Goals`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Goal {
    /// What is to be reached.
    pub text: String,
    /// Whether it is ticked.
    pub done: bool,
    /// Whether it has no box to be ticked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plain: bool,
    /// `[id:: g1]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The item.
    pub span: Span,
}

/// An item of `## Validation`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Check {
    /// Its block id, by which `cru run` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What to run; `None`: a check by hand.
    pub command: Option<String>,
    /// What it shows.
    pub text: String,
    /// The item.
    pub span: Span,
}

impl Workflow {
    /// For each heading whether it is a step: it has an agent, a channel, a mark, a flow or condition line, or a step
    /// below it. In dialect B every heading is one.
    pub fn step_flags(&self) -> Vec<bool> {
        if self.dialect == Dialect::Crucible {
            return vec![true; self.steps.len()];
        }
        let mut flags: Vec<bool> = self.steps.iter().map(Step::is_annotated).collect();
        // A parent stands before its children, so one pass from the end carries the mark up.
        for index in (0..self.steps.len()).rev() {
            if flags[index]
                && let Some(parent) = self.steps[index].parent
                && let Some(flag) = flags.get_mut(parent)
            {
                *flag = true;
            }
        }
        flags
    }

    /// Every execution record, in document order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        let parts = self.preface.iter().chain(self.steps.iter().flat_map(|step| &step.parts));
        parts.filter_map(|part| match part {
            Part::Record(record) => Some(record),
            _ => None,
        })
    }
}

impl Part {
    /// A bullet that no file has yet.
    pub(crate) fn remark(kind: RemarkKind, text: String) -> Self {
        Self::Remark(Remark { kind, text, ..Remark::default() })
    }

    /// Markdown that no file has yet.
    pub(crate) fn prose(markdown: String) -> Self {
        Self::Prose(Prose { markdown, ..Prose::default() })
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Prose(it) => it.span,
            Self::Flow(it) => it.span,
            Self::Branch(it) => it.span,
            Self::Gate(it) => it.span,
            Self::Command(it) => it.span,
            Self::Script(it) => it.span,
            Self::Remark(it) => it.span,
            Self::Record(it) => it.span,
        }
    }
}

impl Step {
    /// Whether its own heading or a line under it says that it is a step.
    pub fn is_annotated(&self) -> bool {
        self.agent.is_some()
            || self.channel.is_some()
            || self.need != Need::Normal
            || self.binds.is_some()
            || self.parallel
            || self.fork
            || !self.pairs.is_empty()
            || self.parts.iter().any(|part| matches!(part, Part::Flow(_) | Part::Branch(_)))
    }

    /// Names of bindings that its text asks for: `**name**`, with their places in the file.
    pub fn inserts(&self) -> Vec<(&str, Span)> {
        let mut found = Vec::new();
        for part in &self.parts {
            let (text, at) = match part {
                Part::Prose(prose) => (prose.markdown.as_str(), Some(prose.span)),
                Part::Remark(remark) => (remark.text.as_str(), None),
                Part::Gate(gate) => (gate.body.as_str(), None),
                _ => continue,
            };
            let mut rest = text;
            while let Some((_, after)) = rest.split_once("**") {
                let start = text.len() - after.len();
                let Some((name, after)) = after.split_once("**") else { break };
                if super::heading::is_ident(name) {
                    let whole = part.span();
                    let exact = at.map(|at| Span::new(at.start + start, at.start + start + name.len()));
                    found.push((name, exact.filter(|exact| exact.end <= whole.end).unwrap_or(whole)));
                    rest = after;
                } else {
                    // These stars may close something and open the next.
                    rest = &text[start..];
                }
            }
        }
        found
    }

    /// Its flow lines.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.parts.iter().filter_map(|part| match part {
            Part::Flow(flow) => Some(flow),
            _ => None,
        })
    }
}
