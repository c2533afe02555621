//! What an export is asked to be: its format, whose words it is written in, and how much is taken.

use crate::rows::example;
use crate::rows::row::Dialect;
use crate::rows::template::ChatTemplate;

cru_base::words! {
    /// A format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format {
        /// Rows to train on.
        Jsonl = "jsonl",
        /// Notes to read.
        Markdown = "markdown",
        /// Samples to evaluate with.
        Puzzle = "puzzle",
        /// Whole sessions to train on.
        Trajectories = "trajectories",
        /// Tasks that can be run.
        Task = "task",
    }
}

cru_base::words! {
    /// What samples are evaluated with.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Eval {
        /// Inspect AI.
        #[default]
        Inspect = "inspect",
        /// promptfoo; not for tasks.
        Promptfoo = "promptfoo",
        /// Harbor; for tasks alone.
        Harbor = "harbor",
    }
}

/// What a vault may replace.
#[derive(Clone, Copy, Debug)]
pub struct Layouts<'a> {
    /// What errors call the layout of cases.
    pub name: &'a str,
    /// The layout of cases.
    pub case: &'a str,
    /// What a model is told first.
    pub prompt: &'a str,
}

/// What is wanted of an export.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// What a vault may replace.
    pub layouts: Layouts<'a>,
    /// Whose words rows are written in.
    pub dialect: Dialect,
    /// What samples are evaluated with.
    pub eval: Eval,
    /// Share of session families that are trained on.
    pub train: f64,
    /// Tokens that a row may take.
    pub max_tokens: usize,
    /// Whether cases that nothing but a rule proposes are exported too.
    pub proposed: bool,
    /// The chat templates that rows are written for.
    pub template: ChatTemplate,
}

impl<'a> Options<'a> {
    /// What is done where nothing is said.
    pub const fn new(layouts: Layouts<'a>) -> Self {
        Self {
            layouts,
            dialect: Dialect::Hf,
            eval: Eval::Inspect,
            train: 0.9,
            max_tokens: 8_192,
            proposed: false,
            template: ChatTemplate::Any,
        }
    }

    pub(crate) const fn example(&self) -> example::PromptOptions<'a> {
        example::PromptOptions {
            system: self.layouts.prompt,
            max_tokens: self.max_tokens,
            lines: false,
            template: self.template,
        }
    }
}
