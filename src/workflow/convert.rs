//! From one dialect to the other: what the target cannot say finds another place, nothing is dropped.

use super::dialect::Dialect;
use super::heading::is_ident;
use super::model::{Part, Prose, Step, Workflow};
use crate::base::Span;
use crate::base::text::fold_whitespace;

/// The workflow as dialect A says it: every step is annotated, and none stands at level 1.
pub(super) fn to_a(workflow: &Workflow) -> Workflow {
    let mut made = workflow.clone();
    if workflow.dialect == Dialect::A {
        return made;
    }
    made.dialect = Dialect::A;
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
    made
}

/// The workflow as dialect B says it: a description, names of results that a heading can hold, and no heading that is
/// not a step. Prose under a heading of its own goes to the step before it.
pub(super) fn to_crucible(workflow: &Workflow) -> Workflow {
    let flags = workflow.step_flags();
    let mut made = Workflow { dialect: Dialect::Crucible, steps: Vec::new(), ..workflow.clone() };
    if made.title.trim().is_empty() {
        "Untitled".clone_into(&mut made.title);
    }
    let described = made.description.as_deref().is_some_and(|text| !text.trim().is_empty());
    if !described {
        made.description = Some(describe(workflow));
    }
    let mut places: Vec<Option<usize>> = Vec::with_capacity(workflow.steps.len());
    for (step, flag) in workflow.steps.iter().zip(flags) {
        if !flag {
            places.push(None);
            let title = fold_whitespace(&step.title);
            let heading = Part::Prose(Prose { markdown: super::codify::paragraph(&title), span: Span::default() });
            let target = made.steps.last_mut().map_or(&mut made.preface, |last| &mut last.parts);
            target.extend((!title.is_empty()).then_some(heading));
            target.extend(step.parts.iter().cloned());
            continue;
        }
        places.push(Some(made.steps.len()));
        let parent = step.parent.and_then(|parent| places.get(parent).copied().flatten());
        let mut step = Step { parent, level: step.level.max(2), ..step.clone() };
        if step.binds.is_none() {
            step.binds = result(&step);
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
