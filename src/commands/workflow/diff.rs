//! `cru diff` of workflows.

use std::fmt::Write as _;

use serde::Serialize;

use super::find::{self, FoundWorkflow};
use crate::base::Result;
use crate::base::text::one_line;
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View};
use crate::workflow::align::{Features, align};
use crate::workflow::{Need, Step, flow};

/// Two workflows, step by step. Steps are found again by what they are, not by where they stand.
pub(in crate::commands) fn diff(before: &str, after: &str, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (before, after) = (find::one(before, cx)?, find::one(after, cx)?);
    Ok(Box::new(compared(&before, &after)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum DiffKind {
    Same,
    Changed,
    Moved,
    Removed,
    Added,
}

#[derive(Debug, Serialize)]
struct DiffRow {
    kind: DiffKind,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_line: Option<usize>,
    /// What differs: name, before, after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<(&'static str, String, String)>,
}

fn compared(before: &FoundWorkflow, after: &FoundWorkflow) -> Diff {
    let ((left, features), (right, others)) = (Features::all(&before.workflow), Features::all(&after.workflow));
    let alignment = align(&features, &others);
    let mut rows: Vec<(usize, usize, DiffRow)> = Vec::new();
    let joined =
        alignment.pairs.iter().map(|pair| (pair, false)).chain(alignment.moved.iter().map(|pair| (pair, true)));
    for (&(l, r), moved) in joined {
        let (old, new) = (&before.workflow.steps[left[l]], &after.workflow.steps[right[r]]);
        let changes = changes(old, new);
        let kind = match (moved, changes.is_empty()) {
            (true, _) => DiffKind::Moved,
            (false, true) => DiffKind::Same,
            (false, false) => DiffKind::Changed,
        };
        let (before_line, after_line) = (Some(before.line(old.heading_span)), Some(after.line(new.heading_span)));
        rows.push((r, 1, DiffRow { kind, title: new.title.clone(), before_line, after_line, changes }));
    }
    for &l in &alignment.left {
        let step = &before.workflow.steps[left[l]];
        // Where it would stand: behind the pair before it.
        let at = alignment.pairs.iter().rev().find(|pair| pair.0 < l).map_or(0, |pair| pair.1);
        let before_line = Some(before.line(step.heading_span));
        let (kind, title) = (DiffKind::Removed, step.title.clone());
        rows.push((at, 2, DiffRow { kind, title, before_line, after_line: None, changes: Vec::new() }));
    }
    for r in alignment.right.iter().copied().chain(alignment.repeated.iter().map(|pair| pair.1)) {
        let step = &after.workflow.steps[right[r]];
        let after_line = Some(after.line(step.heading_span));
        let (kind, title) = (DiffKind::Added, step.title.clone());
        rows.push((r, 1, DiffRow { kind, title, before_line: None, after_line, changes: Vec::new() }));
    }
    rows.sort_by_key(|(at, order, _)| (*at, *order));
    let list = |found: &FoundWorkflow| -> Vec<String> {
        found.workflow.checks.iter().map(|it| it.command.clone().unwrap_or_else(|| it.text.clone())).collect()
    };
    let (old, new) = (list(before), list(after));
    Diff {
        schema: 1,
        before: before.path.clone(),
        after: after.path.clone(),
        steps: rows.into_iter().map(|(_, _, row)| row).collect(),
        checks_removed: old.iter().filter(|it| !new.contains(it)).cloned().collect(),
        checks_added: new.iter().filter(|it| !old.contains(it)).cloned().collect(),
    }
}

/// What two steps say otherwise.
fn changes(old: &Step, new: &Step) -> Vec<(&'static str, String, String)> {
    let lines = |step: &Step| step.flows().map(|it| flow::write(it, "→")).collect::<Vec<_>>().join("; ");
    let need = |need: Need| need.mark().to_owned();
    let name = |step: &Step| step.agent.as_ref().map_or(String::new(), |agent| format!("@{agent}"));
    let channel = |step: &Step| step.channel.as_ref().map_or(String::new(), |channel| format!("#{channel}"));
    let fields = [
        ("title", old.title.clone(), new.title.clone()),
        ("agent", name(old), name(new)),
        ("channel", channel(old), channel(new)),
        ("mark", need(old.need), need(new.need)),
        ("flow", lines(old), lines(new)),
    ];
    fields.into_iter().filter(|(_, before, after)| before != after).collect()
}

#[derive(Debug, Serialize)]
struct Diff {
    schema: u32,
    before: String,
    after: String,
    steps: Vec<DiffRow>,
    checks_removed: Vec<String>,
    checks_added: Vec<String>,
}

impl Diff {
    fn is_same(&self) -> bool {
        self.steps.iter().all(|row| row.kind == DiffKind::Same)
            && self.checks_removed.is_empty()
            && self.checks_added.is_empty()
    }
}

impl PlainOutput for Diff {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for row in &self.steps {
            let (mark, look) = match row.kind {
                DiffKind::Same => (' ', style::DIM),
                DiffKind::Changed => ('~', style::WARN),
                DiffKind::Moved => ('↕', style::WARN),
                DiffKind::Removed => ('-', style::BAD),
                DiffKind::Added => ('+', style::GOOD),
            };
            let _ = writeln!(out, "{}", paint(look, format!("{mark} {}", one_line(&row.title))));
            for (name, before, after) in &row.changes {
                let word = |text: &str| if text.is_empty() { "none".to_owned() } else { one_line(text) };
                let _ = writeln!(
                    out,
                    "    {name}: {} ⇒ {}",
                    paint(style::BAD, word(before)),
                    paint(style::GOOD, word(after))
                );
            }
        }
        for (mark, look, checks) in [('-', style::BAD, &self.checks_removed), ('+', style::GOOD, &self.checks_added)] {
            for check in checks {
                let _ = writeln!(out, "{}", paint(look, format!("{mark} check {}", one_line(check))));
            }
        }
        if self.is_same() {
            out.push_str("the same steps and checks\n");
        }
        out
    }

    fn is_no(&self) -> bool {
        !self.is_same()
    }
}
