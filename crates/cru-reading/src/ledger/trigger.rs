//! What rules find worth a look in a session: cheap, and meant to find too much rather than too little.

use cru_action::Verdict;
use cru_graph::{Place, Taken, proof, recoveries, turns};
use cru_session::{Session, Step, StepStatus};
use serde::Serialize;

/// Something worth a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trigger {
    /// Its kind in one word: `correction`, `recovery`, `denied`, `delivered`, `failing`.
    pub kind: &'static str,
    /// What it is, with ids.
    pub text: String,
}

/// What is worth a look in a session, in no order of worth. Linear in its items.
pub fn triggers(session: &Session) -> Vec<Trigger> {
    let mut found = Vec::new();
    let id = |place: Place| place.id_in(session).unwrap_or("?").to_owned();
    for it in recoveries(session) {
        let times = if it.count > 1 { format!(", {} times", it.count) } else { String::new() };
        let what = if it.is_same { "the same command worked" } else { "the same check passed with other arguments" };
        let text = format!("failed {}{times}; {what} later in {}", id(it.failed), id(it.worked));
        found.push(Trigger { kind: "recovery", text });
    }
    let turns = turns(session);
    for (at, turn) in turns.iter().enumerate() {
        let Some(words) = turn.id() else { continue };
        let before = at.checked_sub(1).and_then(|at| turns.get(at));
        let last = before.and_then(|turn| turn.steps().next_back()).and_then(|(_, step)| step.id.as_deref());
        let behind = last.map(|id| format!(", behind {id}")).unwrap_or_default();
        if let Some(correction) = &turn.correction {
            let text = format!("words {words} may correct the agent ({}){behind}", correction.sign.as_str());
            found.push(Trigger { kind: "correction", text });
            continue;
        }
        match before.map(|turn| turn.taken) {
            Some(Taken::Refutes) => {
                found.push(Trigger { kind: "correction", text: format!("words {words} bring back a failure{behind}") });
            }
            Some(Taken::Stopped) => {
                found.push(Trigger {
                    kind: "correction",
                    text: format!("a person stopped the agent before {words}{behind}"),
                });
            }
            Some(taken) if before.is_some_and(|turn| turn.steps().any(|(_, step)| writes(step))) => {
                let how = if taken == Taken::Accepts { "accept" } else { "follow" };
                found.push(Trigger { kind: "delivered", text: format!("words {words} {how} delivered work{behind}") });
            }
            _ => {}
        }
    }
    let denied = session.steps().filter(|(_, step)| step.status == StepStatus::Denied && !step.is_denied_by_host());
    let denied: Vec<&str> = denied.filter_map(|(_, step)| step.id.as_deref()).take(20).collect();
    if !denied.is_empty() {
        found.push(Trigger { kind: "denied", text: format!("a person refused {}", denied.join(", ")) });
    }
    if is_last_check_failed(session) {
        found.push(Trigger { kind: "failing", text: "the last check of the session failed".to_owned() });
    }
    found
}

fn writes(step: &Step) -> bool {
    !step.writes.is_empty() || step.action().kind.writes_files()
}

/// Whether the last check of a session failed. Of one whose result is unknown nothing is said.
pub(crate) fn is_last_check_failed(session: &Session) -> bool {
    let last = session.steps().filter_map(|(_, step)| step.verdict()).last();
    last == Some(Verdict::Failed) && proof::proof(session) == Some(proof::Proof::Failing)
}
