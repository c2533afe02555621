//! How much a session or phase holds.

use crate::base::text::plural;
use crate::commands::output::style::{self, paint};
use crate::graph::{Graph, NodeId, NodeKind};
use crate::session::StepStatus;

/// How many of what a node contains.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    steps: u64,
    failed: u64,
    decisions: u64,
    errors: u64,
}

impl Count {
    pub(super) fn of(graph: &Graph<'_>, id: NodeId) -> Self {
        let node = graph.node(id);
        let is = |kind| u64::from(node.kind() == kind);
        Self {
            steps: is(NodeKind::Step),
            failed: u64::from(node.status() == Some(StepStatus::Failed)),
            decisions: is(NodeKind::Decision),
            errors: is(NodeKind::Error),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.failed += other.failed;
        self.decisions += other.decisions;
        self.errors += other.errors;
    }

    /// `6 steps, 1 failed, 2 decisions`; empty for nothing.
    pub(super) fn words(self) -> String {
        let mut words = Vec::new();
        if self.steps > 0 {
            words.push(plural(self.steps, "step"));
        }
        if self.failed > 0 {
            words.push(paint(style::BAD, format!("{} failed", self.failed)));
        }
        if self.decisions > 0 {
            words.push(plural(self.decisions, "decision"));
        }
        if self.errors > 0 {
            words.push(plural(self.errors, "error"));
        }
        words.join(", ")
    }
}
