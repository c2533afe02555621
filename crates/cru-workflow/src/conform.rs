//! A session beside a workflow: what was skipped, added, repeated, and done in another order.
//!
//! The session is codified first, so that both sides are steps of one kind; its phases give the places. A workflow has steps of
//! turns or of activities: the session is codified in both ways, and the one that is nearest to the workflow in the number of its
//! steps is laid beside it.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::align::{Features, align};
use super::key::command_key;
use super::model::{Need, Part, RemarkKind, Step, Workflow};
use super::record::squeeze;
use super::shown::{self, Shown};
use super::validate::Graph;
use super::{Options, codify};
use cru_action::{CallEnd, Verdict};
use cru_base::Span;
use cru_session::{Phase, Session};

cru_base::words! {
    /// How the session deviates.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Kind {
        /// A step of the workflow was not done.
        Skipped = "skipped",
        /// Something was done that the workflow does not know.
        Extra = "extra",
        /// A step was done more than once.
        Repeated = "repeated",
        /// A step was done before one that it should follow, or after one that it should precede.
        Reordered = "reordered",
        /// A check of the workflow was not run.
        Unchecked = "unchecked",
    }
}

/// One deviation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deviation {
    /// How.
    pub kind: Kind,
    /// Title of the step.
    pub step: String,
    /// Where the workflow says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Span>,
    /// Where the session did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<Span>,
    /// The phase of the session it belongs to: where it was done, else the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// More in words.
    pub message: String,
    /// Whether the workflow allows it: an optional step, one that only a condition leads to, an order that no data ask for.
    pub allowed: bool,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Conformance {
    /// Steps of the workflow.
    pub steps: usize,
    /// Steps of it that were done.
    pub done: usize,
    /// In the order of the session.
    pub deviations: Vec<Deviation>,
}

impl Conformance {
    /// Whether nothing deviates that is not allowed.
    pub fn holds(&self) -> bool {
        self.deviations.iter().all(|it| it.allowed)
    }
}

/// A session in the form of workflows, by its activities and by its turns, to be compared with others by [`nearest`].
pub fn forms(session: &Session) -> [Workflow; 2] {
    [Options::REPLAY, Options::default()].map(|options| codify(session, &options).0)
}

/// Compares `session` with `workflow`.
pub fn conform(workflow: &Workflow, session: &Session) -> Conformance {
    nearest(workflow, &forms(session), session)
}

/// How a session of these [`forms`] deviates from `workflow`.
pub fn nearest(workflow: &Workflow, forms: &[Workflow; 2], session: &Session) -> Conformance {
    let steps = |of: &Workflow| of.step_flags().into_iter().filter(|is_step| *is_step).count();
    let wanted = steps(workflow);
    let distance = forms.each_ref().map(|own| steps(own).abs_diff(wanted));
    let near = forms.iter().zip(distance).filter(|(_, it)| Some(it) == distance.iter().min());
    let found = near.map(|(own, _)| compare(workflow, own, session));
    found.min_by_key(|it| it.deviations.iter().filter(|it| !it.allowed).count()).unwrap_or_default()
}

fn compare(workflow: &Workflow, own: &Workflow, session: &Session) -> Conformance {
    let (left, expected) = Features::all(workflow);
    let (right, found) = Features::all(own);
    let alignment = align(&expected, &found);
    let graph = Graph::of(workflow);
    let conditional = conditional(workflow, &graph);
    let phases: HashMap<&str, &Phase> = session.phases.iter().map(|phase| (phase.id.as_str(), phase)).collect();
    let place = |r: usize| place(&phases, own, right[r]);
    // The phase that a skipped step would have followed.
    let mut order: Vec<(usize, usize)> = alignment.pairs.iter().chain(&alignment.moved).copied().collect();
    order.sort_unstable();
    let before = |l: usize| {
        let done = order.iter().rev().find(|(other, _)| *other < l).map(|&(_, r)| r);
        done.map_or((None, None), &place)
    };
    let mut found: Vec<(usize, Deviation)> = Vec::new();
    // What no step of the session is like may still be shown by its calls and words.
    let shown = (!alignment.left.is_empty()).then(|| Shown::of(session));
    let skipped: Vec<usize> = alignment
        .left
        .iter()
        .copied()
        .filter(|&l| shown.as_ref().is_none_or(|shown| shown.find(&workflow.steps[left[l]]).is_none()))
        .collect();
    for &l in &skipped {
        let step = &workflow.steps[left[l]];
        let (at, phase) = before(l);
        let (allowed, message) = if step.need == Need::Optional {
            (true, "the step is optional")
        } else if conditional.contains(&left[l]) {
            (true, "only a condition leads to it")
        } else if step.need == Need::Required {
            (false, "the step is required")
        } else {
            (false, "the workflow has it, the session has not")
        };
        let sort = at.map_or(0, |span| span.end);
        let deviation = Deviation {
            kind: Kind::Skipped,
            step: step.title.clone(),
            expected: Some(step.heading_span),
            found: None,
            phase,
            message: message.to_owned(),
            allowed,
        };
        found.push((sort, deviation));
    }
    // A step that only holds others says nothing by itself.
    let holds: BTreeSet<usize> = own.steps.iter().filter_map(|step| step.parent).collect();
    let known: Vec<&str> = workflow.steps.iter().flat_map(shown::commands).collect();
    // Looking around deviates from nothing, and what runs a command of the workflow is a part of one of its steps.
    let is_extra = |step: &Step| {
        let mut own = shown::commands(step).peekable();
        let looks = own.peek().is_none() && !step.parts.iter().any(is_change);
        !looks && !own.any(|command| known.iter().any(|template| Shown::is_alike(template, command)))
    };
    for &r in alignment.right.iter().filter(|r| !holds.contains(&right[**r]) && is_extra(&own.steps[right[**r]])) {
        let (at, phase) = place(r);
        let step = own.steps[right[r]].title.clone();
        let message = "no step of the workflow is like it".to_owned();
        let deviation =
            Deviation { kind: Kind::Extra, step, expected: None, found: at, phase, message, allowed: false };
        found.push((at.map_or(usize::MAX, |span| span.start), deviation));
    }
    for &(l, r) in &alignment.repeated {
        let (at, phase) = place(r);
        let step = workflow.steps[left[l]].title.clone();
        let message = "it was done before".to_owned();
        let expected = Some(workflow.steps[left[l]].heading_span);
        let allowed = loops(workflow, &graph, left[l]);
        let deviation = Deviation { kind: Kind::Repeated, step, expected, found: at, phase, message, allowed };
        found.push((at.map_or(usize::MAX, |span| span.start), deviation));
    }
    for &(l, r) in &alignment.moved {
        let (at, phase) = place(r);
        let (message, allowed) = order_broken(workflow, &graph, &left, l, r, &order);
        let step = workflow.steps[left[l]].title.clone();
        let expected = Some(workflow.steps[left[l]].heading_span);
        let deviation = Deviation { kind: Kind::Reordered, step, expected, found: at, phase, message, allowed };
        found.push((at.map_or(usize::MAX, |span| span.start), deviation));
    }
    for (check, span) in unchecked(workflow, session) {
        let message = "no run of it that passed is in the session".to_owned();
        let (kind, step, phase) = (Kind::Unchecked, check, session.phases.last().map(|phase| phase.id.clone()));
        let deviation = Deviation { kind, step, expected: Some(span), found: None, phase, message, allowed: false };
        found.push((usize::MAX, deviation));
    }
    found.sort_by_key(|(at, deviation)| (*at, deviation.kind));
    let deviations = found.into_iter().map(|(_, deviation)| deviation).collect();
    Conformance { steps: left.len(), done: left.len() - skipped.len(), deviations }
}

/// Whether a part says that something was changed, decided or corrected.
fn is_change(part: &Part) -> bool {
    match part {
        Part::Flow(flow) => flow.outputs().any(|operand| operand.name.contains(['.', '/'])),
        Part::Gate(_) | Part::Branch(_) => true,
        Part::Remark(remark) => {
            matches!(remark.kind, RemarkKind::Changed | RemarkKind::Decided | RemarkKind::Mind | RemarkKind::DeadEnd)
        }
        _ => false,
    }
}

/// The phase that a codified step came from: its heading and id. A sub-agent's is that of its parent.
fn place(phases: &HashMap<&str, &Phase>, own: &Workflow, step: usize) -> (Option<Span>, Option<String>) {
    let mut at = Some(step);
    while let Some(step) = at.and_then(|at| own.steps.get(at)) {
        let phase = step.origin.iter().find_map(|link| phases.get(link.block.as_deref()?));
        if let Some(phase) = phase {
            return (Some(phase.heading_span), Some(phase.id.clone()));
        }
        at = step.parent;
    }
    (None, None)
}

/// Steps that conditions of other steps lead to.
fn conditional(workflow: &Workflow, graph: &Graph<'_>) -> BTreeSet<usize> {
    let mut targets = BTreeSet::new();
    for (from, step) in workflow.steps.iter().enumerate() {
        for part in &step.parts {
            if let Part::Branch(branch) = part {
                targets.extend(graph.step(&branch.target).filter(|&to| to != from));
            }
        }
    }
    targets
}

/// Whether the workflow says that a step may be done again: a condition leads back to it or to one before it, from one
/// after it.
fn loops(workflow: &Workflow, graph: &Graph<'_>, step: usize) -> bool {
    workflow.steps.iter().enumerate().any(|(from, other)| {
        other.parts.iter().any(|part| match part {
            Part::Branch(branch) => graph.step(&branch.target).is_some_and(|to| to <= step && step <= from),
            _ => false,
        })
    })
}

/// Which neighbour of a moved step stands on the wrong side of it, and whether that matters: data go from one to the
/// other, directly or through steps between.
fn order_broken(
    workflow: &Workflow,
    graph: &Graph<'_>,
    left: &[usize],
    l: usize,
    r: usize,
    order: &[(usize, usize)],
) -> (String, bool) {
    let title = |l: usize| workflow.steps[left[l]].title.as_str();
    let broken = order.iter().filter(|&&(other, at)| (other < l && at > r) || (other > l && at < r));
    let words = |other: usize| {
        if other < l {
            format!("done before “{}”", title(other))
        } else {
            format!("done after “{}”", title(other))
        }
    };
    let mut first = None;
    for &(other, _) in broken {
        let (from, to) = if other < l { (left[other], left[l]) } else { (left[l], left[other]) };
        if leads(graph, from, to) {
            return (format!("{}, which data join it to", words(other)), false);
        }
        first = first.or(Some(other));
    }
    let beside = workflow.steps[left[l]].parallel
        || workflow.steps[left[l]].parent.is_some_and(|parent| workflow.steps[parent].fork);
    (first.map_or_else(|| "in another order".to_owned(), words), beside)
}

/// Whether data go from one step to another.
fn leads(graph: &Graph<'_>, from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(step) = open.pop() {
        for next in graph.joined_after(step) {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Commands of `## Validation` of which no run passed in the session.
fn unchecked(workflow: &Workflow, session: &Session) -> Vec<(String, Span)> {
    let mut passed: BTreeSet<String> = BTreeSet::new();
    for item in session.phases.iter().flat_map(|phase| &phase.items) {
        if let cru_session::Item::Step(step) = item {
            let ok = step.status == cru_session::StepStatus::Complete && step.exit.is_none_or(|exit| exit == 0);
            let command = step.command.as_deref().unwrap_or(&step.args);
            if ok {
                passed.insert(command_key(command));
            }
            // A call may run several checks, each with its own end.
            let action = step.action();
            let output = step.output.as_deref().or(step.result.as_deref()).unwrap_or_default();
            let failed = step.status == cru_session::StepStatus::Failed;
            let each = action.decide_each(&CallEnd { output, exit: step.exit, failed, has_status: true });
            let each = each.into_iter().filter(|(_, verdict)| *verdict == Verdict::Passed);
            passed.extend(each.filter_map(|(at, _)| Some(action.commands.get(at)?.key())));
        }
    }
    let asked = workflow.checks.iter().filter_map(|check| Some((check.command.as_ref()?, check.span)));
    let missing = asked.filter(|(command, _)| {
        let key = command_key(command);
        !key.is_empty() && !passed.contains(&key) && !squeeze(&key).is_empty()
    });
    missing.map(|(command, span)| (command.clone(), span)).collect()
}
