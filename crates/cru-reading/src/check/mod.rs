//! The rules by which claims of a reading are compared with the record.
//!
//! They find evidence that is invented, not evidence that is read wrongly: that needs a second reader
//! ([`crate::judge`]) or a person.

mod case;
mod claim;
mod proof;
#[cfg(test)]
mod tests;
mod token;

use serde::Serialize;

pub use claim::unproven;

use crate::answer::{Answer, CaseKind, CaseUse, Claim, Confidence, Proof};
use crate::record::Record;

/// Why a claim is refused or doubted. The numbers are those of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// 1: it is of another record.
    Stale,
    /// 2: an id does not exist.
    Id,
    /// 3: a step ended otherwise.
    Status,
    /// 4: the step does not hold the text.
    Has,
    /// 5: words are not those of that speaker.
    Quote,
    /// 6: the claim names something that the record does not.
    Name,
    /// 7: a number or an absence is wrong.
    Count,
    /// 8: the order is wrong, or the check is none.
    Order,
    /// 9: the right answer has gaps.
    Gap,
    /// 10: the answer needs what its prompt lacks.
    Pair,
    /// 11: what is called wrong is not.
    Wrong,
    /// 12: the person's next words complain.
    After,
    /// 13: it holds a secret.
    Secret,
    /// 14: the answer switches a check off.
    Shortcut,
    /// 15: the claim has no word of its proofs.
    Words,
    /// 16: another case has the same steps.
    Twice,
    /// The second reader does not find it in what is cited.
    Judge,
}

impl Rule {
    /// Its number in the documentation; 17 for the second reader.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// Whether a finding refuses or only doubts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The claim is refused.
    Refused,
    /// The claim stays, with less confidence.
    Doubted,
}

/// Something that is wrong with a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// JSON path of the claim, `cases[0].failure`.
    pub path: String,
    /// The claim's text.
    pub text: String,
    /// The rule.
    pub rule: Rule,
    /// Whether it refuses.
    pub severity: Severity,
    /// The proof, where it is about one: its place in the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<usize>,
    /// Why, and what the record says.
    pub reason: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self.severity {
            Severity::Refused => "refused",
            Severity::Doubted => "doubted",
        };
        let proof = self.proof.map(|at| format!(".proof[{at}]")).unwrap_or_default();
        let part = self.path.rsplit('.').next().unwrap_or_default();
        // A brief is nothing but the summary.
        let path = self.path.strip_prefix("summary.").unwrap_or(&self.path);
        let fate = match self.severity {
            Severity::Doubted => "; it is written, with less confidence",
            Severity::Refused if self.path.starts_with("cases[") && CASE_PARTS.contains(&part) => {
                "; the case goes with it"
            }
            Severity::Refused => "",
        };
        write!(f, "{path}{proof}: {word}: {}{fate}", self.reason)
    }
}

/// The claims of a case that it cannot do without.
const CASE_PARTS: [&str; 3] = ["context", "failure", "expected"];

/// A reading that was checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Checked {
    /// What is left of it.
    pub answer: Answer,
    /// What was wrong.
    pub findings: Vec<Finding>,
    /// Claims of the answer as it was given.
    pub claims: usize,
    /// Claims that are left.
    pub kept: usize,
}

impl Checked {
    /// Findings that refuse.
    pub fn refused(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Refused)
    }
}

/// Why something is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    rule: Rule,
    reason: String,
}

impl Refusal {
    fn of(rule: Rule, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into() }
    }
}

/// Collects findings.
pub(crate) struct Findings<'r> {
    record: &'r Record,
    all: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, path: &str, text: &str, severity: Severity, proof: Option<usize>, refusal: Refusal) {
        let Refusal { rule, reason } = refusal;
        self.all.push(Finding { path: path.to_owned(), text: text.to_owned(), rule, severity, proof, reason });
    }

    fn refused(&self, path: &str) -> bool {
        self.all.iter().any(|it| it.severity == Severity::Refused && it.path == path)
    }
}

/// Checks an answer against the record. Total; linear in the record for each rule.
pub fn check(answer: &Answer, record: &Record) -> Checked {
    let claims = count(answer);
    let answer = &with_lines(answer, record);
    let mut findings = Findings { record, all: Vec::new() };
    if answer.note != record.note || answer.session != record.session {
        let reason = if answer.session == record.session {
            "the session has changed since it was read; read it again".to_owned()
        } else {
            format!("it is a reading of `{}`, not of `{}`", answer.session, record.session)
        };
        findings.add("note", "", Severity::Refused, None, Refusal::of(Rule::Stale, reason));
        let empty = Answer {
            reading: answer.reading,
            session: record.session.clone(),
            note: record.note.clone(),
            lang: answer.lang.clone(),
            is_brief: answer.is_brief,
            ..Answer::default()
        };
        return Checked { answer: empty, findings: findings.all, claims, kept: 0 };
    }
    let names = claim::Names::of(answer, record);
    for (path, claim) in answer.claims() {
        claim::check(&path, claim, &names, &mut findings);
    }
    for (at, lesson) in answer.lessons.iter().enumerate() {
        let path = format!("lessons[{at}]");
        let claim = Claim { text: lesson.text.clone(), proof: lesson.proof.clone() };
        claim::check(&path, &claim, &names, &mut findings);
        claim::proofs(&path, &lesson.text, &lesson.against, &mut findings);
        claim::secret(&path, lesson.place.as_deref().unwrap_or_default(), &mut findings);
    }
    case::check(answer, &names, &mut findings);
    others(answer, &names, &mut findings);
    let answer = left(answer, &findings.all);
    let kept = count(&answer);
    Checked { answer, findings: findings.all, claims, kept }
}

/// The answer with the text of each line that a proof names by its number.
fn with_lines(answer: &Answer, record: &Record) -> Answer {
    let mut answer = answer.clone();
    let fill = |proof: &mut Proof| {
        if let Proof::Line { step, line } = proof
            && let Some(text) = record.step(step).and_then(|it| it.lines.get((*line as usize).checked_sub(1)?))
        {
            // The mark of a cut is no text of the record.
            let has = text.trim_end_matches('…').trim().to_owned();
            *proof = Proof::Step { step: step.clone(), status: None, has };
        }
    };
    let summary = &mut answer.summary;
    let claims = (summary.goal.iter_mut())
        .chain(summary.outcome.iter_mut().map(|it| &mut it.claim))
        .chain(summary.requests.iter_mut().map(|it| &mut it.claim))
        .chain(&mut summary.decisions)
        .chain(&mut summary.not_verified)
        .chain(&mut summary.open)
        .chain(answer.segments.iter_mut().map(|it| &mut it.summary));
    claims.flat_map(|claim| &mut claim.proof).for_each(fill);
    summary.contradicted.iter_mut().for_each(|it| {
        fill(&mut it.said);
        it.claim.proof.iter_mut().for_each(fill);
    });
    for case in &mut answer.cases {
        let claims = std::iter::once(&mut case.context).chain(&mut case.failure).chain(&mut case.expected);
        claims.flat_map(|claim| &mut claim.proof).for_each(fill);
    }
    answer.lessons.iter_mut().flat_map(|it| it.proof.iter_mut().chain(&mut it.against)).for_each(fill);
    answer
}

/// Title, requests, contradictions, outcome, workflow and segments.
fn others(answer: &Answer, names: &claim::Names<'_>, findings: &mut Findings<'_>) {
    let record = findings.record;
    if let Some(outcome) = &answer.summary.outcome
        && outcome.state == crate::answer::OutcomeState::Done
        && record.is_failing
    {
        let refusal = Refusal::of(Rule::Status, "the last check of the session failed");
        findings.add("summary.outcome", &outcome.claim.text, Severity::Doubted, None, refusal);
    }
    if let Some(title) = &answer.summary.title {
        claim::names_of("summary.title", title, title, names, findings);
        claim::secret("summary.title", title, findings);
    }
    for (at, request) in answer.summary.requests.iter().enumerate() {
        if record.words(&request.said).is_none() {
            let refusal = Refusal::of(Rule::Id, format!("the session has no words of a person {}", request.said));
            findings.add(&format!("summary.requests[{at}]"), &request.claim.text, Severity::Refused, None, refusal);
        }
    }
    for (at, it) in answer.summary.contradicted.iter().enumerate() {
        let path = format!("summary.contradicted[{at}]");
        claim::proofs(&path, &it.claim.text, std::slice::from_ref(&it.said), findings);
        if !proof::is_of_agent(&it.said, record) {
            let reason =
                "`claim` must be words of the agent: `p-02: All tests pass`, or `n-042: text` that a call of it writes";
            findings.add(&path, &it.claim.text, Severity::Refused, None, Refusal::of(Rule::Quote, reason));
        }
    }
    for (at, group) in answer.workflow.iter().enumerate() {
        let path = format!("workflow[{at}]");
        for id in group.steps.iter().filter(|id| record.step(id).is_none()) {
            let refusal = Refusal::of(Rule::Id, format!("the session has no step {id}"));
            findings.add(&path, &group.title, Severity::Refused, None, refusal);
        }
        claim::names_of(&path, &group.title, &group.title, names, findings);
        claim::secret(&path, &group.title, findings);
    }
    for (at, segment) in answer.segments.iter().enumerate() {
        if !record.segments.contains(&segment.id) {
            let refusal = Refusal::of(Rule::Id, format!("the session has no segment {}", segment.id));
            findings.add(&format!("segments[{at}]"), &segment.summary.text, Severity::Refused, None, refusal);
        }
        for topic in &segment.topics {
            claim::secret(&format!("segments[{at}]"), topic, findings);
        }
    }
}

/// Claims of an answer: sentences, lessons, groups of a workflow.
pub(crate) fn count(answer: &Answer) -> usize {
    answer.claims().len() + usize::from(answer.summary.title.is_some()) + answer.lessons.len() + answer.workflow.len()
}

/// What is left of an answer: without claims that are refused. A case goes with its claims.
pub(crate) fn left(answer: &Answer, findings: &[Finding]) -> Answer {
    let mut left = answer.clone();
    let refused = |path: &str| findings.iter().any(|it| it.severity == Severity::Refused && it.path == path);
    let doubted = |path: &str| findings.iter().any(|it| it.severity == Severity::Doubted && it.path == path);
    let summary = &mut left.summary;
    if refused("summary.goal") {
        summary.goal = None;
    }
    if refused("summary.outcome") {
        summary.outcome = None;
    }
    if refused("summary.title") {
        summary.title = None;
    }
    keep(&mut summary.requests, |at| !refused(&format!("summary.requests[{at}]")));
    keep(&mut summary.decisions, |at| !refused(&format!("summary.decisions[{at}]")));
    keep(&mut summary.not_verified, |at| !refused(&format!("summary.not_verified[{at}]")));
    keep(&mut summary.open, |at| !refused(&format!("summary.open[{at}]")));
    keep(&mut summary.contradicted, |at| !refused(&format!("summary.contradicted[{at}]")));
    for (at, case) in left.cases.iter_mut().enumerate() {
        let path = format!("cases[{at}]");
        if refused(&format!("{path}.right")) {
            // What nobody may learn from as an answer still tells what went wrong.
            (case.right, case.check) = (None, None);
            if case.kind != CaseKind::Unsafe {
                case.kind = CaseKind::Unsolved;
            }
            case.uses.retain(|it| *it == CaseUse::Lesson);
        }
        case.uses.retain(|it| !refused(&format!("{path}.for[{}]", it.as_str())));
        let parts = [path.clone(), format!("{path}.context"), format!("{path}.failure"), format!("{path}.expected")];
        if parts.iter().any(|part| doubted(part)) {
            case.worth = (case.worth * 0.5).clamp(0.0, 1.0);
        }
    }
    keep(&mut left.cases, |at| {
        let path = format!("cases[{at}]");
        let has_nothing = answer.cases[at].kind == CaseKind::Demonstration && refused(&format!("{path}.right"));
        !refused(&path) && !has_nothing && CASE_PARTS.iter().all(|part| !refused(&format!("{path}.{part}")))
    });
    for (at, lesson) in left.lessons.iter_mut().enumerate() {
        if doubted(&format!("lessons[{at}]")) {
            lesson.confidence = Confidence::Low;
        }
    }
    keep(&mut left.lessons, |at| !refused(&format!("lessons[{at}]")));
    keep(&mut left.workflow, |at| !refused(&format!("workflow[{at}]")));
    keep(&mut left.segments, |at| !refused(&format!("segments[{at}]")) && !refused(&format!("segments[{at}].summary")));
    left
}

/// Takes out what the judge of places says no to.
pub(crate) fn keep<T>(items: &mut Vec<T>, stays: impl Fn(usize) -> bool) {
    let mut at = 0;
    items.retain(|_| {
        at += 1;
        stays(at - 1)
    });
}

/// The texts that the proofs of a claim cite, for a second reader: the block and its own text.
pub(crate) fn cited(proof: &Proof, record: &Record) -> String {
    match proof {
        Proof::Count { count, is } => {
            format!("counted by the program: {is} × {}", serde_json::to_string(count).unwrap_or_default())
        }
        Proof::Line { step, line } => format!("line {line} of {step}"),
        Proof::Absent { none } => format!("checked by the program: no call holds `{}`", none.text),
        _ => {
            let id = proof.block().unwrap_or_default();
            let line = record.line_of(id, 400);
            format!("{id}: {line} — cited: “{}”", proof.quoted().unwrap_or_default())
        }
    }
}
