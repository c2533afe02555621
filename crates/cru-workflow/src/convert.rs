//! From one dialect to the other: what the target cannot say finds another place, nothing is dropped.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::heading::is_ident;
use super::model::{Dialect, Part, Step, Workflow};
use super::validate::Graph;
use cru_base::text::fold_whitespace;

/// The workflow as dialect A says it: every step is annotated, and none stands at level 1.
pub(super) fn to_a(workflow: &Workflow) -> Cow<'_, Workflow> {
    if workflow.dialect == Dialect::A {
        return Cow::Borrowed(workflow);
    }
    let mut made = Workflow { dialect: Dialect::A, ..workflow.clone() };
    if made.steps.iter().any(|step| step.level < 2) {
        made.steps.iter_mut().for_each(|step| step.level = (step.level + 1).min(6));
    }
    // A heading without any mark would be read as prose.
    let flags = made.step_flags();
    for (step, flag) in made.steps.iter_mut().zip(flags) {
        if !flag {
            step.pairs.push(("step".into(), "yes".into()));
        }
    }
    Cow::Owned(made)
}

/// The workflow as dialect B says it: a description, names of results that a heading can hold, and no heading that is
/// not a step. Prose under a heading of its own goes to the step before it.
pub(super) fn to_crucible(workflow: &Workflow) -> Workflow {
    let flags = workflow.step_flags();
    let bound = if workflow.dialect == Dialect::A { bindings(workflow) } else { Bindings::default() };
    let mut made = Workflow { dialect: Dialect::Crucible, steps: Vec::new(), ..workflow.clone() };
    if made.title.trim().is_empty() {
        "Untitled".clone_into(&mut made.title);
    }
    let described = made.description.as_deref().is_some_and(|text| !text.trim().is_empty());
    if !described {
        made.description = Some(describe(workflow));
    }
    let mut places: Vec<Option<usize>> = Vec::with_capacity(workflow.steps.len());
    for (index, (step, flag)) in workflow.steps.iter().zip(flags).enumerate() {
        if !flag {
            places.push(None);
            let title = fold_whitespace(&step.title);
            let heading = Part::prose(super::codify::paragraph(&title));
            let target = made.steps.last_mut().map_or(&mut made.preface, |last| &mut last.parts);
            target.extend((!title.is_empty()).then_some(heading));
            target.extend(step.parts.iter().cloned());
            continue;
        }
        places.push(Some(made.steps.len()));
        let parent = step.parent.and_then(|parent| places.get(parent).copied().flatten());
        let mut step = Step { parent, level: step.level.max(2), ..step.clone() };
        if step.binds.is_none() {
            step.binds = bound.given.get(&index).cloned().or_else(|| result(&step));
        }
        if let Some(names) = bound.taken.get(&index) {
            let names: Vec<String> = names.iter().map(|name| format!("**{name}**")).collect();
            let markdown = format!("Takes {}.", names.join(" and "));
            let at = step.parts.iter().position(|part| !matches!(part, Part::Prose(_))).unwrap_or(step.parts.len());
            step.parts.insert(at, Part::prose(markdown));
        }
        if let Some(agent) = &mut step.agent {
            agent.version = None;
            // A dot is no part of a name there.
            agent.name = agent.name.chars().map(|c| if is_ident(&format!("a{c}")) { c } else { '-' }).collect();
        }
        made.steps.push(step);
    }
    made
}

/// Names that hand a result from one step to another.
#[derive(Default)]
struct Bindings {
    /// What a step's heading calls its result.
    given: BTreeMap<usize, String>,
    /// What a step's text asks for.
    taken: BTreeMap<usize, BTreeSet<String>>,
}

/// For each step the first of its results that another takes, under a name that a heading can hold.
fn bindings(workflow: &Workflow) -> Bindings {
    let graph = Graph::of(workflow);
    let operands = workflow.steps.iter().flat_map(Step::flows).flat_map(|flow| flow.stages.iter().flatten());
    let mut used: BTreeSet<String> = operands.map(|operand| operand.name.clone()).collect();
    used.extend(workflow.steps.iter().filter_map(|step| step.binds.clone()));
    let mut takers: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    for edge in graph.edges() {
        takers.entry((edge.from, edge.name)).or_default().push(edge.to);
    }
    let mut bound = Bindings::default();
    for (index, step) in workflow.steps.iter().enumerate().filter(|(_, step)| step.binds.is_none()) {
        let outputs = step.flows().flat_map(super::model::Flow::outputs);
        let found = outputs.map(|it| it.name.as_str()).find_map(|name| Some((name, takers.get(&(index, name))?)));
        let Some((output, takers)) = found else { continue };
        let name = if is_ident(output) { output.to_owned() } else { ident(output, &mut used) };
        for &taker in takers {
            bound.taken.entry(taker).or_default().insert(name.clone());
        }
        bound.given.insert(index, name);
    }
    bound
}

/// The last part of a path as a name that nothing else has: `tides_rs`.
fn ident(output: &str, used: &mut BTreeSet<String>) -> String {
    let last = output.trim_end_matches('/').rsplit('/').next().unwrap_or(output);
    let plain: String = last.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let base = if is_ident(&plain) { plain } else { format!("data_{plain}") };
    let mut name = base.clone();
    let mut number = 1;
    while !used.insert(name.clone()) {
        number += 1;
        name = format!("{base}_{number}");
    }
    name
}

/// What a step gives, where a heading can name it.
fn result(step: &Step) -> Option<String> {
    let outputs = step.flows().flat_map(super::model::Flow::outputs);
    outputs.map(|operand| operand.name.as_str()).find(|name| is_ident(name)).map(str::to_owned)
}

fn describe(workflow: &Workflow) -> String {
    let goals: Vec<&str> = workflow.goals.iter().take(3).map(|goal| goal.text.as_str()).collect();
    if !goals.is_empty() {
        return goals.join("; ");
    }
    match workflow.sources.as_slice() {
        [] => format!("How to: {}", workflow.title.trim()),
        [source] => format!("Made from the session {}", source.target),
        sources => format!("Made from {} sessions", sources.len()),
    }
}
