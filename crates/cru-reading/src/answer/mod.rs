//! The answer of a reader, schema 1.

mod cursor;
mod patch;
mod proof;
mod read;
#[cfg(test)]
mod tests;

use cru_action::Verdict;
use cru_session::StepStatus;
use serde::Serialize;

pub use patch::patched;
pub use read::{json_of, read};

/// Bytes of an answer that are read at most.
pub const MAX_BYTES: usize = 512 * 1024;
/// Characters of the text of a claim.
pub const MAX_TEXT: usize = 300;
/// Characters of a title.
pub const MAX_TITLE: usize = 120;
/// Characters of a quote or of a text of a step.
pub const MAX_QUOTE: usize = 1_000;
/// Proofs of a claim.
pub const MAX_PROOFS: usize = 5;
/// Entries of a list of claims, cases or lessons.
pub const MAX_LIST: usize = 60;

/// What is wrong with an answer, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerError {
    /// JSON path, `cases[0].failure.proof[1].has`; empty for the whole.
    pub path: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl std::fmt::Display for AnswerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

/// A reading, as a reader gives it and as a note of it keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// Version of the schema.
    pub reading: u64,
    /// Id of the session.
    pub session: String,
    /// Hash of the record that was read.
    pub note: String,
    /// Language of the texts, `en`; empty where it is not said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub lang: String,
    /// What the session was about.
    pub summary: Summary,
    /// Cases to learn from.
    pub cases: Vec<ReadCase>,
    /// Lessons.
    pub lessons: Vec<ReadLesson>,
    /// The work in steps that somebody could repeat.
    pub workflow: Vec<WorkGroup>,
    /// What each segment was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<ReadSegment>,
    /// Whether it was asked for, and given, as a brief: without cases, lessons, workflow and segments.
    #[serde(skip)]
    pub is_brief: bool,
}

/// A sentence with its proofs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The sentence.
    pub text: String,
    /// One to [`MAX_PROOFS`].
    pub proof: Vec<Proof>,
}

/// What a claim rests on. Written as one string, see [`Proof::from_str`](std::str::FromStr).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// A line of a step, as the prompt numbers it from 1; [`crate::check`] puts its text in its place.
    Line {
        /// Block id without `^`.
        step: String,
        /// The number.
        line: u32,
    },
    /// A step, how it ended, and a text of its call or result.
    Step {
        /// Block id without `^`.
        step: String,
        /// How it ended; `None` where the proof does not say: the program knows.
        status: Option<ProofStatus>,
        /// Text of its call or result.
        has: String,
    },
    /// Words of a person.
    Said {
        /// Block id without `^`.
        said: String,
        /// Their very words.
        quote: String,
    },
    /// Words of the agent.
    Prose {
        /// The phase.
        prose: String,
        /// Their very words.
        quote: String,
    },
    /// A number that the program counts.
    Count {
        /// Which steps.
        count: CountOf,
        /// How many there are.
        is: u64,
    },
    /// That something was not done.
    Absent {
        /// Which steps there are none of.
        none: AbsenceOf,
    },
}

cru_base::words! {
    /// How a step ended, as a proof says it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ProofStatus {
        /// It did what it was called for.
        Ok = "ok",
        /// It failed.
        Failed = "failed",
        /// A person or the host refused it.
        Denied = "denied",
        /// A person stopped it.
        Interrupted = "interrupted",
        /// The record holds no result of it.
        NoResult = "no_result",
        /// The record does not say.
        Unknown = "unknown",
    }
}

/// How a step ended, in words: first the word that a proof needs, then the exit status and what its check found.
pub(crate) fn ended(status: StepStatus, verdict: Option<Verdict>, exit: Option<i32>) -> String {
    let word = match (status, verdict) {
        (StepStatus::Complete, Some(Verdict::Failed)) => ProofStatus::Failed.as_str(),
        (StepStatus::Complete, _) => ProofStatus::Ok.as_str(),
        (other, _) => other.name(),
    };
    let exit = exit.map(|exit| format!(", exit {exit}")).unwrap_or_default();
    let check = match verdict {
        Some(Verdict::Passed) => ", check passed",
        Some(Verdict::Failed) => ", check failed",
        Some(Verdict::Unknown) => ", result of the check unknown",
        None => "",
    };
    format!("{word}{exit}{check}")
}

/// A proof as an object, as the first version of the schema had it.
#[derive(Serialize)]
#[serde(untagged)]
enum ProofObject<'p> {
    Step { step: &'p str, status: &'static str, has: &'p str },
    Unstated { step: &'p str, has: &'p str },
    Said { said: &'p str, quote: &'p str },
    Prose { prose: &'p str, quote: &'p str },
    Count { count: &'p CountOf, is: u64 },
    Absent { none: &'p AbsenceOf },
}

impl<'p> ProofObject<'p> {
    fn of(proof: &'p Proof) -> Self {
        match proof {
            Proof::Line { step, .. } => Self::Step { step, status: "unknown", has: "" },
            Proof::Step { step, status: Some(status), has } => Self::Step { step, status: status.as_str(), has },
            Proof::Step { step, status: None, has } => Self::Unstated { step, has },
            Proof::Said { said, quote } => Self::Said { said, quote },
            Proof::Prose { prose, quote } => Self::Prose { prose, quote },
            Proof::Count { count, is } => Self::Count { count, is: *is },
            Proof::Absent { none } => Self::Absent { none },
        }
    }
}

/// Steps that are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CountOf {
    /// Only of this tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only those that name this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Only those whose call holds this text.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The first step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Steps that there are none of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AbsenceOf {
    /// No call holds this text.
    #[serde(rename = "match")]
    pub text: String,
    /// From this step on; from the first one where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Up to this step; up to the end where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// What the session was about: the brief.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// What to call the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the person wanted; only readings of the first version of the schema say it beside the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<Claim>,
    /// What was asked, in order, and what came of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<ReadRequest>,
    /// What came of it.
    pub outcome: Option<ReadOutcome>,
    /// What was decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Claim>,
    /// What nobody verified.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_verified: Vec<Claim>,
    /// What is still open.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Claim>,
    /// What the agent claimed and the record refutes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradicted: Vec<Contradiction>,
}

/// A request, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadRequest {
    /// Block id of the words, without `^`.
    pub said: String,
    /// In one word.
    pub state: OutcomeState,
    /// What was asked, in a sentence.
    #[serde(flatten)]
    pub claim: Claim,
}

/// What the agent claimed and the record refutes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contradiction {
    /// The agent's words.
    #[serde(rename = "claim")]
    pub said: Proof,
    /// What is so instead, in a sentence.
    #[serde(flatten)]
    pub claim: Claim,
}

/// What came of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadOutcome {
    /// In one word.
    pub state: OutcomeState,
    /// In a sentence.
    #[serde(flatten)]
    pub claim: Claim,
}

cru_base::words! {
    /// What came of a session, a request or a segment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum OutcomeState {
        /// All that was asked was done.
        Done = "done",
        /// Some of it was done.
        Partly = "partly",
        /// It failed.
        Failed = "failed",
        /// A question was answered.
        Answered = "answered",
        /// It was given up, or something else took its place.
        Dropped = "dropped",
        /// The same, in the first version of the schema.
        Abandoned = "abandoned",
        /// The record does not say.
        Unknown = "unknown",
    }
}

cru_base::words! {
    /// What a case is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CaseKind {
        /// A person set the agent right.
        Correction = "correction",
        /// A failure and what solved it.
        Puzzle = "puzzle",
        /// A person preferred one answer to another.
        Preference = "preference",
        /// Work that was done well.
        Demonstration = "demonstration",
        /// A failure without an answer in the record.
        Unsolved = "unsolved",
        /// Something that should not have been done.
        Unsafe = "unsafe",
    }
}

cru_base::words! {
    /// What a case may be used for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CaseUse {
        /// A right answer.
        Completion = "completion",
        /// A right answer against a wrong one.
        Pair = "pair",
        /// A question of an evaluation.
        Eval = "eval",
        /// A lesson.
        Lesson = "lesson",
    }
}

cru_base::words! {
    /// How the person's next words took an answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AfterVerdict {
        /// They say that it was right.
        Accepts = "accepts",
        /// They complain.
        Complains = "complains",
        /// They go on to something else.
        MovesOn = "moves_on",
        /// There are none.
        None = "none",
    }
}

cru_base::words! {
    /// What a lesson is about.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LessonLevel {
        /// The project.
        #[default]
        Project = "project",
        /// A kind of task.
        Task = "task",
        /// The person.
        User = "user",
        /// The model.
        Model = "model",
        /// A tool or program.
        Tool = "tool",
        /// A skill of the agent.
        Skill = "skill",
        /// Sub-agents.
        Subagent = "subagent",
    }
}

cru_base::words! {
    /// How sure something is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Confidence {
        /// Not sure.
        #[default]
        Low = "low",
        /// Likely.
        Medium = "medium",
        /// Sure.
        High = "high",
    }
}

cru_base::words! {
    /// What a segment was.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SegmentType {
        /// New code.
        Coding = "coding",
        /// A search for a cause.
        Debugging = "debugging",
        /// Code that does the same, written otherwise.
        Refactoring = "refactoring",
        /// Machines and services.
        Sysadmin = "sysadmin",
        /// Finding something out.
        Research = "research",
        /// A plan.
        Planning = "planning",
        /// Tests and reviews.
        Qa = "qa",
        /// Ideas, talk.
        Brainstorm = "brainstorm",
        /// Work handed over to another session.
        Handoff = "handoff",
        /// Documents.
        Documentation = "documentation",
        /// Settings of tools and builds.
        Configuration = "configuration",
        /// Data that were looked at or changed.
        Data = "data",
        /// Anything else.
        Other = "other",
    }
    old { "review" = Qa, "ops" = Sysadmin, "chat" = Brainstorm }
}

/// A case to learn from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadCase {
    /// What it is.
    pub kind: CaseKind,
    /// A few words.
    pub title: String,
    /// Whether it is about what the agent did, and not the person's own mistake.
    pub about_agent: bool,
    /// Whether the failure was meant to happen, as of a test written first.
    pub planned: bool,
    /// What was asked and known.
    pub context: Claim,
    /// What went wrong; `None` for a demonstration.
    pub failure: Option<Claim>,
    /// What is right.
    pub expected: Option<Claim>,
    /// The steps that were wrong.
    pub wrong: Option<StepRange>,
    /// The steps that were right; `None` where the record has none.
    pub right: Option<StepRange>,
    /// The check that shows it.
    pub check: Option<CaseCheck>,
    /// How the person took it.
    pub after: Option<CaseAfter>,
    /// What it may be used for.
    #[serde(rename = "for")]
    pub uses: Vec<CaseUse>,
    /// From 0 to 1.
    pub worth: f64,
}

impl ReadCase {
    /// Whether words of a person are cited for what went wrong or what is right.
    pub fn cites_person(&self) -> bool {
        let mut proofs = self.expected.iter().chain(&self.failure).flat_map(|claim| &claim.proof);
        proofs.any(|proof| matches!(proof, Proof::Said { .. }))
    }

    /// Whether a person set words right, and the agent's answer is words as well, which `expected` cites.
    pub fn is_answered_in_words(&self) -> bool {
        let of_words = matches!(self.kind, CaseKind::Correction | CaseKind::Preference);
        let mut proofs = self.expected.iter().flat_map(|claim| &claim.proof);
        of_words && self.right.is_none() && proofs.any(|proof| matches!(proof, Proof::Prose { .. }))
    }
}

/// A run of steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepRange {
    /// The first.
    pub from: String,
    /// The last.
    pub to: String,
    /// Whether nothing between is to be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<bool>,
}

/// The check that shows that a case is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseCheck {
    /// The step.
    pub step: String,
    /// How it ended.
    pub status: ProofStatus,
    /// The failed step whose command it repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
}

/// How the person took the answer of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseAfter {
    /// Their words.
    pub said: Option<String>,
    /// How they took it.
    pub verdict: AfterVerdict,
}

/// A lesson.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadLesson {
    /// One sentence.
    pub text: String,
    /// What it is about.
    pub level: LessonLevel,
    /// Where it holds: a glob of paths, or the name of a tool or model.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it rests on.
    pub proof: Vec<Proof>,
    /// What speaks against it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<Proof>,
}

/// Steps of the record that are one step of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkGroup {
    /// What is done.
    pub title: String,
    /// Block ids of steps.
    pub steps: Vec<String>,
    /// Whether it may be left out.
    pub optional: bool,
}

/// What a segment was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadSegment {
    /// Its id, as the record names it.
    pub id: String,
    /// What it was.
    #[serde(rename = "type")]
    pub kind: SegmentType,
    /// What came of it.
    pub outcome: OutcomeState,
    /// One sentence.
    pub summary: Claim,
    /// A few words that name what it was about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
}

impl Proof {
    /// The id of the block that it cites, without `^`.
    pub fn block(&self) -> Option<&str> {
        match self {
            Self::Step { step, .. } | Self::Line { step, .. } => Some(step),
            Self::Said { said, .. } => Some(said),
            Self::Prose { prose, .. } => Some(prose),
            Self::Count { count, .. } => count.from.as_deref(),
            Self::Absent { none } => none.from.as_deref(),
        }
    }

    /// The text that it quotes.
    pub fn quoted(&self) -> Option<&str> {
        match self {
            Self::Step { has, .. } => Some(has),
            Self::Said { quote, .. } | Self::Prose { quote, .. } => Some(quote),
            Self::Line { .. } | Self::Count { .. } | Self::Absent { .. } => None,
        }
    }
}

impl Answer {
    /// As one JSON text, two blanks deep; a brief as its reader wrote it.
    pub fn to_json(&self) -> String {
        if !self.is_brief {
            return serde_json::to_string_pretty(self).unwrap_or_default();
        }
        let mut map = serde_json::Map::new();
        map.insert("brief".to_owned(), self.reading.into());
        map.insert("session".to_owned(), self.session.as_str().into());
        map.insert("record".to_owned(), self.note.as_str().into());
        if !self.lang.is_empty() {
            map.insert("lang".to_owned(), self.lang.as_str().into());
        }
        if let Ok(serde_json::Value::Object(summary)) = serde_json::to_value(&self.summary) {
            map.extend(summary.into_iter().filter(|(_, value)| !value.is_null()));
        }
        serde_json::to_string_pretty(&map).unwrap_or_default()
    }

    /// Every claim with its path.
    pub fn claims(&self) -> Vec<(String, &Claim)> {
        let mut all: Vec<(String, &Claim)> = Vec::new();
        let summary = &self.summary;
        all.extend(summary.goal.iter().map(|it| ("summary.goal".to_owned(), it)));
        all.extend(summary.outcome.iter().map(|it| ("summary.outcome".to_owned(), &it.claim)));
        let list = |name: &str, at: usize| format!("summary.{name}[{at}]");
        all.extend(summary.requests.iter().enumerate().map(|(at, it)| (list("requests", at), &it.claim)));
        all.extend(summary.not_verified.iter().enumerate().map(|(at, it)| (list("not_verified", at), it)));
        all.extend(summary.contradicted.iter().enumerate().map(|(at, it)| (list("contradicted", at), &it.claim)));
        all.extend(summary.decisions.iter().enumerate().map(|(at, it)| (format!("summary.decisions[{at}]"), it)));
        all.extend(summary.open.iter().enumerate().map(|(at, it)| (format!("summary.open[{at}]"), it)));
        for (at, case) in self.cases.iter().enumerate() {
            all.push((format!("cases[{at}].context"), &case.context));
            all.extend(case.failure.iter().map(|it| (format!("cases[{at}].failure"), it)));
            all.extend(case.expected.iter().map(|it| (format!("cases[{at}].expected"), it)));
        }
        all.extend(self.segments.iter().enumerate().map(|(at, it)| (format!("segments[{at}].summary"), &it.summary)));
        all
    }
}
