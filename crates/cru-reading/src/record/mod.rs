//! The record of a session: the facts that claims are compared with.

pub mod text;

use std::collections::{HashMap, HashSet};

use cru_action::verdict::host_error;
use cru_action::{Action, Class, ToolKind, Verdict};
use cru_graph::path::FinalPath;
use cru_graph::segment;
use cru_session::attempt::Attempt;
use cru_session::{Decision, Item, Session, Step, StepStatus};

use crate::answer::{ProofStatus, ended};
use crate::full_text::{FullText, shortcut};
use crate::ledger::{Ledger, is_last_check_failed};
use text::{alike, is_long_enough, without_edges};

/// A step.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a step")]
pub struct StepFact {
    /// Block id without `^`.
    pub id: String,
    /// Its place among steps and words.
    pub at: usize,
    /// The tool.
    pub tool: String,
    /// Its arguments as the note has them.
    pub args: String,
    /// How it ended.
    pub status: StepStatus,
    /// How its checks ended.
    pub verdict: Option<Verdict>,
    /// Whether a pipe or the like hides how a check of it ended.
    pub hidden: bool,
    /// Whether it only looks, as far as that is known.
    pub looks: bool,
    /// Whether it runs checks and nothing that changes something.
    pub only_checks: bool,
    /// Whether it writes files.
    pub writes: bool,
    /// Whether the host, and no program, failed.
    pub host_failed: bool,
    /// Whether it lies on the way to the end of the session.
    pub on_path: bool,
    /// The name by which the same command is known again.
    pub key: Option<String>,
    /// The same for each command of its call.
    pub keys: Vec<String>,
    /// What switches a check off, where something does.
    pub shortcut: Option<String>,
    /// Files that it names.
    files: Vec<String>,
    /// Tool and arguments as a reader is shown them, made alike: without bodies that are not shown.
    pub shown: String,
    /// Its whole call, made alike.
    pub call: String,
    /// Its whole result, made alike.
    pub result: String,
    /// The lines that the prompt shows below it, by their numbers.
    pub lines: Vec<String>,
    /// Lines of the result that are too short to be found inside a text, made alike.
    short_lines: HashSet<String>,
}

/// Words of a person.
#[derive(Clone, Debug)]
pub struct SaidFact {
    /// Block id without `^`; of an answer to a question that of the step that asked.
    pub id: String,
    /// Their place among steps and words.
    pub at: usize,
    /// The words, made alike.
    pub words: String,
}

/// What the agent said in a phase.
#[derive(Clone, Debug)]
pub struct PhaseFact {
    /// Block id without `^`.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// The agent's words, made alike, each text on a line.
    pub prose: String,
}

/// The record of a session.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Id of the session.
    pub session: String,
    /// Hash of the record as a reader was shown it.
    pub note: String,
    /// Title of the session.
    pub title: String,
    /// Steps in the order of the note.
    pub steps: Vec<StepFact>,
    /// Words of persons in the order of the note.
    pub said: Vec<SaidFact>,
    /// Phases in the order of the note.
    pub phases: Vec<PhaseFact>,
    /// Ids of segments.
    pub segments: Vec<String>,
    /// Whether steps of the transcript are left out of the note.
    pub is_brief: bool,
    /// Whether the last check of the session failed; not where what it found is unknown.
    pub is_failing: bool,
    /// Everything else that the note says, made alike: callouts, frontmatter.
    rest: String,
    step_ids: HashMap<String, usize>,
    said_ids: HashMap<String, usize>,
    phase_ids: HashMap<String, usize>,
    other_ids: HashSet<String>,
}

impl Record {
    /// Of a session and what a reader is shown of it; `forked` as [`segment::breaks`] wants it, `full` the texts of the
    /// transcript by step, as far as it is at hand.
    pub fn of(session: &Session, ledger: &Ledger, forked: bool, full: &HashMap<String, FullText>) -> Self {
        let path = FinalPath::of(session);
        let breaks = segment::breaks(session, forked);
        let mut record = Self {
            session: session.meta.session_id.clone().unwrap_or_default(),
            note: ledger.note(),
            title: session.title().to_owned(),
            segments: segment::segments(session, &breaks).into_iter().map(|it| it.id).collect(),
            is_brief: session.is_brief(),
            is_failing: is_last_check_failed(session),
            ..Self::default()
        };
        let mut at = 0;
        let meta = &session.meta;
        let known = [&meta.title, &meta.project, &meta.branch, &meta.commit, &meta.model, &meta.host, &meta.channel];
        for text in known.into_iter().flatten() {
            record.add_rest(text);
        }
        record.add_rest(&meta.started.map(|time| time.to_string()).unwrap_or_default());
        for item in &session.preface {
            record.add(item, None, true, ledger, full, &mut at);
        }
        for (index, phase) in session.phases.iter().enumerate() {
            let number = record.phases.len();
            record.phase_ids.entry(phase.id.clone()).or_insert(number);
            let fact = PhaseFact { id: phase.id.clone(), title: phase.title.clone(), prose: String::new() };
            record.phases.push(fact);
            record.add_rest(&phase.title);
            for item in &phase.items {
                record.add(item, Some(number), path.has(index), ledger, full, &mut at);
            }
        }
        record
    }

    fn add_rest(&mut self, text: &str) {
        self.rest.push_str(&alike(text));
        self.rest.push('\n');
    }

    fn add(
        &mut self,
        item: &Item,
        phase: Option<usize>,
        on_path: bool,
        ledger: &Ledger,
        full: &HashMap<String, FullText>,
        at: &mut usize,
    ) {
        match item {
            Item::Step(step) => {
                let Some(id) = step.id.clone().filter(|id| !self.step_ids.contains_key(id)) else { return };
                self.step_ids.insert(id.clone(), self.steps.len());
                let lines = ledger.lines(&id).map(str::to_owned).collect();
                self.steps.push(StepFact { lines, ..StepFact::of(step, id.clone(), *at, on_path, full.get(&id)) });
                *at += 1;
            }
            Item::User(user) => {
                // Words without an id of their own are cited by their phase.
                let phase = phase.and_then(|phase| self.phases.get(phase)).map(|phase| phase.id.clone());
                let Some(id) = user.callout.id.clone().or(phase) else {
                    self.add_rest(&user.words);
                    return;
                };
                if let Some(known) = self.said_ids.get(&id).and_then(|at| self.said.get_mut(*at)) {
                    known.words.push('\n');
                    known.words.push_str(&alike(&user.words));
                    return;
                }
                self.said_ids.insert(id.clone(), self.said.len());
                self.said.push(SaidFact { id, at: *at, words: alike(&user.words) });
                *at += 1;
            }
            Item::Prose(prose) => match phase.and_then(|phase| self.phases.get_mut(phase)) {
                Some(phase) => {
                    phase.prose.push_str(&alike(&prose.text));
                    phase.prose.push('\n');
                }
                None => self.add_rest(&prose.text),
            },
            Item::Tasks(tasks) => {
                for task in &tasks.tasks {
                    self.add_rest(&format!("{} {}", task.id, task.content));
                }
            }
            other => {
                if let Item::Decision(it) = other {
                    self.add_answer(it, at);
                }
                if let Some(callout) = other.callout() {
                    self.other_ids.extend(callout.id.clone());
                    self.add_rest(&format!("{}\n{}", callout.title, callout.body));
                }
                if let Item::Subagent(it) = other {
                    let names = [&it.task, &it.summary, &it.model];
                    names.into_iter().flatten().for_each(|text| self.add_rest(text));
                }
            }
        }
    }

    /// What a person answered to a question of the agent: cited by the step that asked.
    fn add_answer(&mut self, decision: &Decision, at: &mut usize) {
        let asked = decision.rests_on.iter().filter_map(|link| link.block.as_deref());
        let mut asked = asked.filter(|id| self.step(id).is_some_and(|step| ToolKind::of(&step.tool) == ToolKind::Ask));
        let Some(id) = asked.next().map(str::to_owned) else { return };
        // The title is the answer; of a longer one the text has all of it, behind the question.
        let title = decision.callout.title.trim_end_matches('…');
        let mut start = 0;
        let mut parts = decision.text.split_inclusive("\n\n");
        let whole = parts.find_map(|part| {
            let own = start;
            start += part.len();
            part.trim_start().starts_with(title).then_some(own)
        });
        let words = alike(whole.map_or(title, |own| &decision.text[own..]));
        if let Some(known) = self.said_ids.get(&id).and_then(|at| self.said.get_mut(*at)) {
            known.words.push('\n');
            known.words.push_str(&words);
            return;
        }
        self.said_ids.insert(id.clone(), self.said.len());
        self.said.push(SaidFact { id, at: *at, words });
        *at += 1;
    }

    /// The step with an id.
    pub fn step(&self, id: &str) -> Option<&StepFact> {
        self.step_ids.get(id).map(|at| &self.steps[*at])
    }

    /// The place of a step in [`Record::steps`].
    pub fn step_index(&self, id: &str) -> Option<usize> {
        self.step_ids.get(id).copied()
    }

    /// The words with an id.
    pub fn words(&self, id: &str) -> Option<&SaidFact> {
        self.said_ids.get(id).map(|at| &self.said[*at])
    }

    /// The phase with an id.
    pub fn phase(&self, id: &str) -> Option<&PhaseFact> {
        self.phase_ids.get(id).map(|at| &self.phases[*at])
    }

    /// Whether a block has this id.
    pub fn has_block(&self, id: &str) -> bool {
        self.step(id).is_some()
            || self.words(id).is_some()
            || self.phase(id).is_some()
            || self.other_ids.contains(id)
            || self.segments.iter().any(|known| known == id)
    }

    /// The texts of a block: of a step its call, its result and how it ended; of words and phases what was said.
    pub fn block(&self, id: &str) -> Vec<String> {
        let step = self.step(id).map(|step| {
            // A call that is done has ended with 0, whether or not its host wrote so.
            let exit = if step.status == StepStatus::Complete { "0" } else { "" };
            [step.call.clone(), step.result.clone(), step.ended(), exit.to_owned()]
        });
        let said = self.words(id).map(|it| it.words.clone());
        let prose = self.phase(id).map(|it| format!("{}\n{}", it.title, it.prose));
        step.into_iter().flatten().chain(said).chain(prose).collect()
    }

    /// Every text of the record, made alike.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let steps = self.steps.iter().flat_map(|step| [step.call.as_str(), step.result.as_str()]);
        let said = self.said.iter().map(|said| said.words.as_str());
        let prose = self.phases.iter().map(|phase| phase.prose.as_str());
        steps.chain(said).chain(prose).chain([self.rest.as_str(), self.session.as_str()])
    }

    /// What a block says, in one line of at most `max` characters, for a person who judges a claim.
    pub fn line_of(&self, id: &str, max: usize) -> String {
        let text = if let Some(step) = self.step(id) {
            let result: String = step.result.chars().take(max / 2).collect();
            format!("{} {} → {} [{}]", step.tool, step.args, result, step.ended())
        } else if let Some(said) = self.words(id) {
            format!("person: {}", said.words)
        } else if let Some(phase) = self.phase(id) {
            format!("agent, in “{}”: {}", phase.title, phase.prose)
        } else {
            return String::new();
        };
        cru_base::text::truncate(&cru_base::text::one_line(&text), max).into_owned()
    }
}

impl StepFact {
    fn of(step: &Step, id: String, at: usize, on_path: bool, full: Option<&FullText>) -> Self {
        let args = step.full_args();
        let action = step.action();
        let mut call = format!("{} {args}", step.tool);
        let mut result = [step.result.as_deref(), step.output.as_deref()].map(Option::unwrap_or_default).join("\n");
        for (name, value) in &step.fields {
            result.push_str(&format!("\n{name}: {value}"));
        }
        if let Some(input) = &step.input {
            call.push('\n');
            call.push_str(input);
        }
        if let Some(full) = full {
            call.push('\n');
            call.push_str(&full.call);
            result.push('\n');
            result.push_str(&full.result);
        }
        let shortcut = shortcut(&action, full);
        let output = full.map(|full| full.result.as_str()).or(step.result.as_deref()).unwrap_or_default();
        let files = step.writes.iter().chain(&step.reads).map(|file| file.path.clone());
        let attempt = Attempt::of_action(&action, &step.tool);
        Self {
            at,
            on_path,
            status: step.status,
            verdict: step.verdict(),
            hidden: action.checks().any(|check| check.command().hidden.is_some()),
            looks: attempt == Attempt::Look,
            only_checks: is_check_alone(&action),
            writes: !step.writes.is_empty() || action.kind.writes_files() || !action.writes().is_empty(),
            host_failed: step.is_denied_by_host()
                || (step.status == StepStatus::Failed
                    && action.kind != ToolKind::Shell
                    && host_error(output).is_some()),
            key: attempt.key().map(str::to_owned),
            keys: Attempt::keys(&action, &step.tool),
            shown: alike(&format!("{} {args}", step.tool)),
            lines: Vec::new(),
            short_lines: short_lines(&result),
            shortcut,
            files: files.collect(),
            call: alike(&call),
            result: alike(&result),
            tool: step.tool.clone(),
            args: cru_base::text::one_line(args),
            id,
        }
    }

    /// Whether it runs again what another step tried, by itself or among other commands.
    pub fn repeats(&self, other: &Self) -> bool {
        other.key.as_ref().is_some_and(|key| self.keys.contains(key))
    }

    /// How it ended, as a proof says it. `None` where both [`ProofStatus::Ok`] and [`ProofStatus::Unknown`] are true: it was
    /// done, and what its check found is not known.
    pub fn proof_status(&self) -> Option<ProofStatus> {
        match (self.status, self.verdict) {
            (StepStatus::Complete, Some(Verdict::Unknown)) => None,
            (StepStatus::Complete, Some(Verdict::Failed)) | (StepStatus::Failed, _) => Some(ProofStatus::Failed),
            (StepStatus::Complete, _) => Some(ProofStatus::Ok),
            (StepStatus::Denied, _) => Some(ProofStatus::Denied),
            (StepStatus::Interrupted, _) => Some(ProofStatus::Interrupted),
            (StepStatus::NoResult, _) => Some(ProofStatus::NoResult),
            _ => Some(ProofStatus::Unknown),
        }
    }

    /// Whether a check of it passed for sure: by its exit status, or by its output where that is hidden.
    pub fn passed(&self) -> bool {
        match self.verdict {
            Some(verdict) => verdict == Verdict::Passed && self.status != StepStatus::Denied,
            None => self.status == StepStatus::Complete,
        }
    }

    /// Whether it failed.
    pub fn failed(&self) -> bool {
        self.proof_status() == Some(ProofStatus::Failed)
    }

    /// Whether a short text is a whole line of its result.
    pub fn has_line(&self, text: &str) -> bool {
        self.short_lines.contains(without_edges(text))
    }

    /// How it ended, in words: first the word that a proof needs.
    pub fn ended(&self) -> String {
        ended(self.status, self.verdict, None)
    }

    /// Whether it names a file, by its path or its end.
    pub fn names_file(&self, file: &str) -> bool {
        let file = file.trim_start_matches("./");
        let ends =
            |path: &str| path.strip_suffix(file).is_some_and(|before| before.is_empty() || before.ends_with('/'));
        self.files.iter().any(|path| ends(path))
            || self.args.split_whitespace().any(|word| ends(word.trim_matches(['"', '\''])))
    }
}

/// The lines of a result that are too short to be found inside a text. A line without a letter or digit says nothing.
fn short_lines(result: &str) -> HashSet<String> {
    let lines = result.lines().map(alike).filter(|line| !is_long_enough(line));
    lines.map(|line| without_edges(&line).to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Whether a call does nothing but check, looks aside. What a script does besides its name is not known.
fn is_check_alone(action: &Action<'_>) -> bool {
    let harmless = |class: Class| matches!(class, Class::Check | Class::Look | Class::GitLook);
    let only_checks = action.commands.iter().all(|it| harmless(it.class) && !it.by_file);
    action.kind == ToolKind::Shell && action.is_check() && only_checks
}
