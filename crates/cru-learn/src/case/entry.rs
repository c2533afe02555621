//! One thing an agent did or said, as text that stands on its own.
//!
//! A step keeps its call and its result apart, because a puzzle shows the call as the agent's and the result as the
//! answer it got. Steps are told as text, one line each: a note holds no tool call with typed arguments, and none is
//! made up here.

use std::borrow::Cow;

use serde::Serialize;

use crate::case::call::{Call, Calls};
use crate::case::facts::StepFacts;
use cru_action::Verdict;
use cru_graph::recovery::names_steps;
use cru_graph::turn;
use cru_session::correction::INTERRUPTED;
use cru_session::{Item, Step, StepStatus};

/// One thing an agent did or said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Block id without `^`, for links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// What it was.
    pub told: Told,
}

/// What was done or said.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Told {
    /// A tool call.
    Step {
        /// Tool and arguments as a code span, a fence with the whole command below it where it did not fit.
        call: String,
        /// The beginning of its result, `✗` first when it failed, with the exit code where one is known; may be empty.
        result: String,
        /// Whether it failed.
        failed: bool,
        /// The call as it was made, where the transcript still has it.
        #[serde(skip_serializing_if = "Option::is_none")]
        whole: Option<Box<Call>>,
        /// What the note's line says of it.
        #[serde(skip)]
        facts: Box<StepFacts>,
    },
    /// Prose.
    Prose(String),
    /// A decision, an error on the way, a sub-agent's work, a remark: each opens with the word for it.
    Remark(String),
}

impl Entry {
    /// The entry as text.
    pub fn text(&self) -> String {
        match &self.told {
            Told::Step { call, result, .. } if result.is_empty() => call.clone(),
            // The result follows the code span, before a fence with the whole command.
            Told::Step { call, result, .. } => match call.split_once('\n') {
                Some((line, fence)) => format!("{line} → {result}\n{fence}"),
                None => format!("{call} → {result}"),
            },
            Told::Prose(text) | Told::Remark(text) => text.clone(),
        }
    }

    /// As the agent proposed it: a call that a person refused without the mark of it, which no agent writes.
    pub(crate) fn proposed(&self) -> Self {
        let mut entry = self.clone();
        let refused = entry.is_refused();
        if let Told::Step { result, whole, .. } = &mut entry.told
            && refused
        {
            result.clear();
            if let Some(call) = whole {
                call.output = None;
            }
        }
        entry
    }

    /// The entry without what tools answered: what is trained on is what an agent writes.
    pub(crate) fn acted(&self) -> Self {
        let mut entry = self.clone();
        if let Told::Step { result, .. } = &mut entry.told {
            result.clear();
        }
        entry
    }

    /// The call as it was made, where the transcript still has it.
    pub fn whole(&self) -> Option<&Call> {
        match &self.told {
            Told::Step { whole, .. } => whole.as_deref(),
            Told::Prose(_) | Told::Remark(_) => None,
        }
    }

    /// What a call answered, where the transcript has it.
    pub(crate) fn output_mut(&mut self) -> Option<&mut String> {
        match &mut self.told {
            Told::Step { whole: Some(call), .. } => call.output.as_mut(),
            _ => None,
        }
    }

    /// What a call answered, as far as it is known.
    pub(crate) fn answer(&self) -> &str {
        match (&self.told, self.whole().and_then(|call| call.output.as_deref())) {
            (_, Some(output)) => output,
            (Told::Step { result, .. }, None) => result,
            _ => "",
        }
    }

    /// Takes the call as it was made from those of the transcript.
    pub(crate) fn complete(&mut self, calls: Option<&Calls>) {
        if let (Told::Step { whole, .. }, Some(id)) = (&mut self.told, &self.block) {
            *whole = calls.and_then(|calls| calls.get(id)).map(|call| Box::new(call.clone()));
        }
    }

    /// Whether it is something that an agent said or did, and not what a note says of it.
    pub(crate) fn is_own(&self) -> bool {
        !matches!(&self.told, Told::Remark(text) if text.starts_with("Error: ") || text.starts_with("Sub-agent: "))
    }

    /// Every text, for hygiene.
    pub(crate) fn texts_mut(&mut self, each: &mut dyn FnMut(&str, &mut String)) {
        match &mut self.told {
            Told::Step { call, result, whole, .. } => {
                each("", call);
                each("", result);
                if let Some(whole) = whole {
                    whole.texts_mut(each);
                }
            }
            Told::Prose(text) | Told::Remark(text) => each("", text),
        }
    }

    /// Whether it tells nothing: a mark of an error that the step above it already tells.
    pub fn is_blank(&self) -> bool {
        matches!(&self.told, Told::Prose(text) | Told::Remark(text) if text.is_empty())
    }

    /// Without the line that says that a person stopped the agent: it is none of the agent's words.
    pub(crate) fn without_stop(self) -> Option<Self> {
        let Told::Prose(text) = self.told else { return Some(self) };
        let lines: Vec<&str> = text.lines().filter(|line| line.trim() != INTERRUPTED).collect();
        let text = lines.join("\n").trim().to_owned();
        (!text.is_empty()).then_some(Self { block: self.block, told: Told::Prose(text) })
    }

    /// What the note's line of a step says of it.
    pub(super) fn facts(&self) -> Option<&StepFacts> {
        match &self.told {
            Told::Step { facts, .. } => Some(facts),
            Told::Prose(_) | Told::Remark(_) => None,
        }
    }

    /// How a step ended.
    pub(crate) fn status(&self) -> Option<StepStatus> {
        self.facts().map(|facts| facts.status)
    }

    /// How the check that a step ran ended.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        self.facts()?.verdict
    }

    /// Whether it is a call that a person refused or stopped.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.status(), Some(StepStatus::Denied | StepStatus::Interrupted))
    }

    /// Whether it is a call that failed, or that a person refused or stopped.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(self.told, Told::Step { failed: true, .. })
            || self.is_refused()
            || self.verdict() == Some(Verdict::Failed)
    }

    /// Whether it is a tool call.
    pub const fn is_step(&self) -> bool {
        matches!(self.told, Told::Step { .. })
    }
}

/// Entries as one text: neighbouring steps as a list, everything else as paragraphs.
pub(crate) fn join(entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut in_list = false;
    for entry in entries {
        if !text.is_empty() {
            text.push_str(if in_list && entry.is_step() { "\n" } else { "\n\n" });
        }
        in_list = entry.is_step();
        if in_list {
            text.push_str("- ");
            text.push_str(&entry.text().replace('\n', "\n  "));
        } else {
            text.push_str(entry.text().trim());
        }
    }
    text
}

/// Texts that are not blank, with a blank line between.
pub(crate) fn paragraphs<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.into_iter().map(str::trim).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// Kinds of callouts that belong to the account of the work. The others are bookkeeping (usage, checkpoint, segment),
/// somebody's later reading, or the agent's private thought.
const REMARKS: &[(&str, &str)] =
    &[("lesson", "Lesson"), ("quirk", "Quirk"), ("deviation", "Deviation"), ("gate", "Gate")];

/// What an item tells, `None` where it is no part of the account. Texts go through `clean` first.
pub(crate) fn of_item(item: &Item, clean: &dyn Fn(&str) -> String) -> Option<Entry> {
    let told = match item {
        Item::Step(step) => return Some(of_step(step, clean)),
        Item::Decision(it) => {
            let why = field("Why", it.why.as_deref(), clean);
            let rejected = field("Rejected", it.rejected.as_deref(), clean);
            let impact = field("Impact", it.impact.as_deref(), clean);
            let fields = [why, rejected, impact].concat();
            remark("Decision", &clean(&it.callout.title), &format!("{}\n{fields}", clean(&it.text)))
        }
        Item::Error(it) => {
            let resolution = it.resolution.as_deref().filter(|words| !names_steps(words));
            let mark = resolution.is_none() && only_counts(&it.text);
            // A mark that repeats the step above it is kept as a place and tells nothing.
            let told = if mark { Some(Told::Remark(String::new())) } else { None };
            let resolution = field("Resolution", resolution, clean);
            told.or_else(|| remark("Error", &clean(&it.callout.title), &format!("{}\n{resolution}", clean(&it.text))))
        }
        Item::Subagent(it) => {
            let agent = it.agent.as_ref().map(ToString::to_string).unwrap_or_default();
            let task = field("Task", it.task.as_deref(), clean);
            let summary = field("Summary", it.summary.as_deref(), clean);
            remark("Sub-agent", &agent, &[task, summary].concat())
        }
        Item::Callout(it) => {
            let (_, word) = REMARKS.iter().find(|(kind, _)| *kind == it.kind)?;
            remark(word, &clean(&it.title), &clean(&it.body))
        }
        Item::Prose(it) => {
            let text = clean(&it.text);
            let text = text.trim();
            let marked = text.lines().any(turn::is_mark);
            let text: Cow<'_, str> = if marked {
                text.lines().filter(|line| !turn::is_mark(line)).collect::<Vec<_>>().join("\n").trim().to_owned().into()
            } else {
                text.into()
            };
            (!text.is_empty() && !turn::is_label(&text)).then(|| Told::Prose(text.into_owned()))
        }
        Item::User(_) | Item::Tasks(_) => None,
    };
    told.map(|told| Entry { block: item.id().map(str::to_owned), told })
}

/// Whether the text of an error says nothing but that something failed, and how often: `` `make` failed 3 times. ``
pub(crate) fn only_counts(text: &str) -> bool {
    let text = text.trim();
    let after = text.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(_, after)| after);
    after.and_then(|after| after.strip_prefix(" failed")).is_some_and(|rest| {
        let rest = rest.trim_end_matches('.').trim();
        rest.is_empty() || rest.strip_suffix("times").is_some_and(|n| n.trim().chars().all(|c| c.is_ascii_digit()))
    })
}

/// A step as an entry.
pub(crate) fn of_step(step: &Step, clean: &dyn Fn(&str) -> String) -> Entry {
    let failed = step.status.is_crossed();
    let line = format!("{} {}", step.tool, step.args);
    let mut call = code_span(line.trim());
    if let Some(command) = &step.command {
        let fence = "`".repeat(longest_run(command).max(2) + 1);
        call = format!("{call}\n{fence}\n{}\n{fence}", command.trim_end());
    }
    let call = clean(&call);
    let mut result = clean(step.result.as_deref().unwrap_or_default()).trim().to_owned();
    if failed {
        let code = step.exit.map(|code| format!("(exit {code})")).unwrap_or_default();
        let parts = ["✗", result.as_str(), code.as_str()];
        result = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    }
    Entry {
        block: step.id.clone(),
        told: Told::Step { call, result, failed, whole: None, facts: Box::new(StepFacts::of(step)) },
    }
}

fn field(name: &str, value: Option<&str>, clean: &dyn Fn(&str) -> String) -> String {
    let value = value.map(clean).unwrap_or_default();
    if value.trim().is_empty() { String::new() } else { format!("{name}: {}\n", value.trim()) }
}

fn remark(word: &str, title: &str, body: &str) -> Option<Told> {
    let (title, body) = (title.trim(), body.trim());
    match (title.is_empty(), body.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Told::Remark(format!("{word}: {title}"))),
        (true, false) => Some(Told::Remark(format!("{word}: {body}"))),
        (false, false) => Some(Told::Remark(format!("{word}: {title}\n{body}"))),
    }
}

/// `text` as a code span whose marks are longer than any run of backticks inside.
pub(crate) fn code_span(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{pad}{text}{pad}{marks}")
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(args: &str, result: &str) -> Entry {
        let step = Step {
            tool: "Bash".into(),
            args: args.into(),
            result: Some(result.into()),
            status: cru_session::StepStatus::Failed,
            exit: Some(101),
            ..Step::default()
        };
        of_step(&step, &str::to_owned)
    }

    #[test]
    fn a_step_is_one_line() {
        assert_eq!(step("cargo test", "2 failed").text(), "`Bash cargo test` → ✗ 2 failed (exit 101)");
        assert_eq!(step("echo `date`", "").text(), "`` Bash echo `date` `` → ✗ (exit 101)");
    }

    #[test]
    fn a_long_command_stands_in_a_fence_below_its_line() {
        let long = Step {
            tool: "Bash".into(),
            args: "cat > a.md…".into(),
            command: Some("cat > a.md <<E\n```\nE\n".into()),
            result: Some("written".into()),
            ..Step::default()
        };
        let text = of_step(&long, &str::to_owned).text();
        assert_eq!(text, "`Bash cat > a.md…` → written\n````\ncat > a.md <<E\n```\nE\n````");
    }

    #[test]
    fn what_says_nothing_by_itself() {
        assert!(only_counts("`cargo test` failed 3 times."));
        assert!(only_counts("`cargo test` failed."));
        assert!(!only_counts("`cargo test` failed because of the clock."));
    }

    #[test]
    fn labels_of_lists_are_no_prose() {
        assert!(turn::is_label("**Tool calls:**"));
        assert!(!turn::is_label("**Note:** two things"));
        assert!(!turn::is_label("**a:** and **b:**"));
    }

    #[test]
    fn steps_join_as_a_list() {
        let prose = Entry { block: None, told: Told::Prose("I look first.".into()) };
        let entries = [prose, step("a", "x"), step("b", "y")];
        insta::assert_snapshot!(join(&entries), @r"
        I look first.

        - `Bash a` → ✗ x (exit 101)
        - `Bash b` → ✗ y (exit 101)
        ");
    }
}
