//! A session as states: where the work stood after each turn, and how the person took it.
//!
//! A state tells what the record shows after a turn, and nothing that its words claim: what was written so far, and how
//! the last check ended. A move is the next words of the person.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Serialize;

use crate::export::{dot, mermaid};
use crate::proof::Prover;
use crate::turn::{Taken, turns};
use cru_base::text;
use cru_session::{Session, StepStatus};

/// The states of one session, in order.
#[derive(Debug, Serialize)]
pub struct StateGraph<'a> {
    /// One for each turn.
    pub states: Vec<State<'a>>,
    /// From each state to the next; the last one leads to the end.
    pub moves: Vec<Move>,
    /// How the session ended, by its note.
    pub end: Option<Cow<'a, str>>,
}

/// Where the work stands after a turn.
#[derive(Debug, Serialize)]
pub struct State<'a> {
    /// Block id of the words that open the turn; `None` where it opens without, or where they have none.
    pub turn: Option<&'a str>,
    /// The words, on one line.
    pub request: String,
    /// Steps of the turn.
    pub steps: usize,
    /// Those of them that failed.
    pub failed: usize,
    /// Files that the turn wrote.
    pub files: usize,
    /// What the checks up to here prove of what was written up to here; `None` where there is neither.
    pub proof: Option<&'static str>,
    /// Steps that wrote after the last passing check.
    pub writes_after_check: u64,
}

/// How the person went on.
#[derive(Debug, Serialize)]
pub struct Move {
    /// Number of the state it leaves, from 0.
    pub from: usize,
    /// Number of the state it leads to; `None` at the end.
    pub to: Option<usize>,
    /// What the next words say of the turn before them.
    pub taken: Taken,
}

impl<'a> StateGraph<'a> {
    /// Of a session. Linear in its items.
    pub fn of(session: &'a Session) -> Self {
        let mut prover = Prover::default();
        let (mut states, mut moves) = (Vec::new(), Vec::new());
        let turns = turns(session);
        let last = turns.len().saturating_sub(1);
        for (number, turn) in turns.iter().enumerate() {
            let mut files = BTreeSet::new();
            let (mut steps, mut failed) = (0, 0);
            for (_, step) in turn.steps() {
                steps += 1;
                failed += usize::from(step.status == StepStatus::Failed);
                if step.status == StepStatus::Complete {
                    files.extend(step.writes.iter().map(|file| file.path.as_str()));
                }
                prover.step(step);
            }
            let words = turn.words().collect::<Vec<_>>().join(" ");
            let words =
                if words.is_empty() { turn.task.map_or_else(String::new, |task| task.body.clone()) } else { words };
            let words = text::fold_whitespace(&text::sanitise(&words)).trim().to_owned();
            let proof = prover.proof();
            states.push(State {
                turn: turn.id(),
                // How much of a request a box shows.
                request: text::truncate(&words, 60).into_owned(),
                steps,
                failed,
                files: files.len(),
                proof: proof.map(crate::Proof::name),
                writes_after_check: proof.map_or(0, crate::Proof::writes_after),
            });
            moves.push(Move { from: number, to: (number < last).then_some(number + 1), taken: turn.taken });
        }
        let end = session.meta.status.as_ref().map(|status| Cow::Owned(status.as_str().to_owned()));
        Self { states, moves, end }
    }

    /// What a move says: how the words took the work, and at the end how the session ended.
    pub fn label(&self, at: &Move) -> Cow<'_, str> {
        match (at.to, at.taken) {
            (None, _) => Cow::Borrowed(self.end.as_deref().unwrap_or("end")),
            (Some(_), Taken::Last) => Cow::Borrowed("goes on"),
            (Some(_), taken) => Cow::Borrowed(taken.as_str()),
        }
    }

    /// The same as a sentence.
    pub fn sentence(&self, at: &Move) -> Cow<'_, str> {
        if at.to.is_none() {
            return Cow::Owned(format!("the session ends: {}", self.label(at)));
        }
        Cow::Borrowed(match at.taken {
            Taken::Last => "goes on without words of the person",
            Taken::Continues => "the person lets it go on",
            Taken::Answers => "the person answers",
            Taken::Accepts => "the person accepts it",
            Taken::Corrects => "the person corrects it",
            Taken::Refutes => "the person brings back a failure",
            Taken::Stopped => "the person stopped it",
            Taken::Unknown => "the person says something else",
        })
    }

    /// As a flowchart of Mermaid.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n  start((start))\n");
        for (number, state) in self.states.iter().enumerate() {
            let caption = mermaid::escape(&state.caption());
            let _ = writeln!(out, "  s{number}[\"{caption}\"]");
        }
        out.push_str("  done((end))\n");
        if !self.states.is_empty() {
            out.push_str("  start --> s0\n");
        }
        for at in &self.moves {
            let to = at.to.map_or_else(|| "done".to_owned(), |to| format!("s{to}"));
            let _ = writeln!(out, "  s{} -->|{}| {to}", at.from, mermaid::escape(&self.label(at)));
        }
        out
    }

    /// In the language of Graphviz.
    pub fn dot(&self) -> String {
        let mut out = String::from(
            "digraph states {\n  rankdir=LR\n  node [shape=box, style=\"rounded\", fontname=\"sans-serif\", fontsize=10]\n  \
             edge [fontname=\"sans-serif\", fontsize=9]\n  start [shape=point]\n  end [shape=doublecircle, label=\"\"]\n",
        );
        for (number, state) in self.states.iter().enumerate() {
            let _ = writeln!(out, "  s{number} [label={}]", dot::quote(&state.caption()));
        }
        if !self.states.is_empty() {
            out.push_str("  start -> s0\n");
        }
        for at in &self.moves {
            let to = at.to.map_or_else(|| "end".to_owned(), |to| format!("s{to}"));
            let _ = writeln!(out, "  s{} -> {to} [label={}]", at.from, dot::quote(&self.label(at)));
        }
        out.push_str("}\n");
        out
    }
}

impl State<'_> {
    /// The words and the state on one line.
    pub fn caption(&self) -> String {
        format!("{} → {}", self.words(), self.outcome())
    }

    /// The words in quotes, or that there are none.
    pub fn words(&self) -> String {
        if self.request.is_empty() { "(no words)".to_owned() } else { format!("“{}”", self.request) }
    }

    /// What the record shows after the turn: `3 files written, the last check passed`.
    pub fn outcome(&self) -> String {
        let mut parts = Vec::new();
        if self.files > 0 {
            parts.push(format!("{} written", text::plural(self.files as u64, "file")));
        }
        parts.extend(self.proof.map(|proof| match proof {
            "green" => "the last check passed".to_owned(),
            "failing" => "the last check failed".to_owned(),
            "writes_after" => format!("{} after the last check", text::plural(self.writes_after_check, "write")),
            "never_checked" => "never checked".to_owned(),
            _ => "the result of the checks is unknown".to_owned(),
        }));
        if self.failed > 0 {
            parts.push(format!("{} failed", text::plural(self.failed as u64, "step")));
        }
        if parts.is_empty() { "nothing written or checked".to_owned() } else { parts.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    #[test]
    fn each_turn_is_a_state_of_what_the_record_shows_so_far() {
        let text = "---\ntype: session\nsession_id: s\nstatus: completed\n---\n# T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
            > [!user]\n> Add a \"valve\"\n\n^u-01\n\n- `Edit a.rs` → ok | writes `a.rs` ^n-001\n- `Bash cargo test` → ✗ 1 failed (exit 101) ^n-002\n\n\
            > [!user]\n> no, use the other one\n\n^u-02\n\n- `Edit a.rs` → ok | writes `a.rs` ^n-003\n- `Bash cargo test` → test result: ok. 3 passed; 0 failed ^n-004\n";
        let (session, _) = cru_session::read::session(&Note::parse(text));
        let states = StateGraph::of(&session);
        let proofs: Vec<_> = states.states.iter().map(|state| (state.turn, state.failed, state.proof)).collect();
        assert_eq!(proofs, [(Some("u-01"), 1, Some("failing")), (Some("u-02"), 0, Some("green"))]);
        let labels: Vec<_> = states.moves.iter().map(|at| states.label(at)).collect();
        assert_eq!(labels, ["corrects", "completed"]);
        assert!(states.mermaid().contains("s0 -->|corrects| s1") && !states.mermaid().contains("\"valve\""));
        assert!(states.dot().contains("s1 -> end [label=\"completed\"]"));
    }

    #[test]
    fn a_session_without_turns_is_a_graph_without_states() {
        let session = Session::default();
        let states = StateGraph::of(&session);
        assert!(states.states.is_empty() && states.mermaid().starts_with("flowchart LR"));
    }
}
