//! What differs between two readings of a session.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::answer::{Answer, Claim};
use crate::merge::case_id;

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `summary`, `case`, `lesson`, `workflow`, `segment`.
    pub part: &'static str,
    /// What it is about: an id or a name.
    pub name: String,
    /// What the first one says; `None` where it says nothing.
    pub before: Option<String>,
    /// What the second one says.
    pub after: Option<String>,
}

/// The differences of two readings, in the order of the schema.
pub fn diff(before: &Answer, after: &Answer) -> Vec<Difference> {
    let mut all = Vec::new();
    for part in ["summary", "case", "lesson", "workflow", "segment"] {
        let (old, new) = (parts(before, part), parts(after, part));
        for (name, text) in &old {
            if new.get(name) != Some(text) {
                let after = new.get(name).cloned();
                all.push(Difference { part, name: name.clone(), before: Some(text.clone()), after });
            }
        }
        for (name, text) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
            all.push(Difference { part, name: name.clone(), before: None, after: Some(text.clone()) });
        }
    }
    all
}

/// The texts of a part by name.
fn parts(answer: &Answer, part: &str) -> BTreeMap<String, String> {
    let text = |claim: &Claim| claim.text.clone();
    let summary = &answer.summary;
    match part {
        "summary" => {
            let mut all = BTreeMap::new();
            all.extend(summary.goal.iter().map(|claim| ("goal".to_owned(), text(claim))));
            let outcome = summary
                .outcome
                .iter()
                .map(|it| ("outcome".to_owned(), format!("{}: {}", it.state.as_str(), it.claim.text)));
            all.extend(outcome);
            all.extend(summary.decisions.iter().map(|claim| (format!("decision: {}", claim.text), text(claim))));
            all.extend(summary.open.iter().map(|claim| (format!("open: {}", claim.text), text(claim))));
            all
        }
        "case" => answer
            .cases
            .iter()
            .map(|case| {
                let claims = [Some(&case.context), case.failure.as_ref(), case.expected.as_ref()];
                let texts: Vec<String> = claims.into_iter().flatten().map(text).collect();
                (case_id(&answer.session, case), format!("{}: {}", case.title, texts.join(" ")))
            })
            .collect(),
        "lesson" => answer
            .lessons
            .iter()
            .map(|it| (it.text.clone(), format!("{} ({} · {})", it.text, it.level.as_str(), it.confidence.as_str())))
            .collect(),
        "workflow" => answer.workflow.iter().map(|it| (it.title.clone(), it.steps.join(", "))).collect(),
        _ => answer
            .segments
            .iter()
            .map(|it| (it.id.clone(), format!("{}, {}: {}", it.kind.as_str(), it.outcome.as_str(), it.summary.text)))
            .collect(),
    }
}
