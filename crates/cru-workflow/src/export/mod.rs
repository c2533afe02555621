//! A workflow as a graph in formats of others, and its records as event logs for process mining.
//!
//! Names and words come from notes and may hold anything; each format's file knows what it must not let through. Output is
//! the same for the same workflow.

pub mod dot;
pub mod graph;
pub mod mermaid;
pub mod ocel;
pub mod skill;
#[cfg(test)]
mod tests;
pub mod xes;

use super::history::Run;

/// A session with the steps it ran, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The workflow.
    pub workflow: String,
    /// The session, else what stands for it.
    pub session: String,
    /// When it began, where that is known.
    pub started: Option<jiff::Timestamp>,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// The time of each run in rising order: its own, else that of the one before, else the session's; 1970 where none is known.
fn times(trace: &Trace) -> Vec<jiff::Timestamp> {
    let mut last = trace.started.unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let mut times = Vec::with_capacity(trace.runs.len());
    for run in &trace.runs {
        last = run.started.unwrap_or(last);
        times.push(last);
    }
    times
}
