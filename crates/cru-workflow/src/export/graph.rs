//! The steps and what joins them, for every drawing of it.

use serde::Serialize;

use crate::model::{Need, Part, Workflow};
use crate::validate::Graph;
use cru_base::text::{one_line, truncate};

/// Letters of a label that are shown.
const LABEL: usize = 60;

/// What an arrow means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrowKind {
    /// Data go from one to the other.
    Data,
    /// A right side names the step.
    Step,
    /// It was done after the other, and no data join them.
    Order,
    /// A condition leads there.
    Condition,
    /// The step stands below the other.
    Child,
}

/// An arrow from step to step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct GraphArrow {
    /// Index of a step.
    pub from: usize,
    /// Index of a step.
    pub to: usize,
    /// What it means.
    pub kind: ArrowKind,
    /// Names of the data, or the condition.
    pub label: String,
}

/// A step as a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Box {
    /// Index of the step.
    pub index: usize,
    /// Its title.
    pub title: String,
    /// Its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What its failure means.
    pub need: Need,
    /// Index of the step it stands below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// Whether a person has to agree in it.
    pub gate: bool,
}

/// Everything there is to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// Title of the workflow.
    pub title: String,
    /// Its steps in document order; prose headings left out.
    pub steps: Vec<Box>,
    /// Sorted.
    pub arrows: Vec<GraphArrow>,
    /// Indices of steps in the order in which they can be done.
    pub order: Vec<usize>,
    /// Data that no step makes.
    pub inputs: Vec<String>,
    /// Data that no step takes.
    pub results: Vec<String>,
}

/// The picture of a workflow.
pub fn picture(workflow: &Workflow) -> Picture {
    let graph = Graph::of(workflow);
    let flags = workflow.step_flags();
    let mut arrows: Vec<GraphArrow> = Vec::new();
    let mut names: std::collections::BTreeMap<(usize, usize), Vec<&str>> = std::collections::BTreeMap::new();
    for edge in graph.edges() {
        names.entry((edge.from, edge.to)).or_default().push(edge.name);
    }
    for (step, flag) in flags.iter().enumerate() {
        if !flag {
            continue;
        }
        for to in graph.after(step) {
            let data = names.get(&(step, to));
            let kind = match data {
                Some(_) => ArrowKind::Data,
                None if graph.is_order(step, to) => ArrowKind::Order,
                None => ArrowKind::Step,
            };
            let label = data.map_or(String::new(), |names| one_line(&names.join(", ")));
            arrows.push(GraphArrow { from: step, to, kind, label });
        }
        let own = &workflow.steps[step];
        if let Some(from) = own.parent.filter(|&parent| flags[parent]) {
            arrows.push(GraphArrow { from, to: step, kind: ArrowKind::Child, label: String::new() });
        }
        for part in &own.parts {
            let Part::Branch(branch) = part else { continue };
            if let Some(to) = graph.step(&branch.target) {
                let label = branch.condition.as_deref().map_or_else(|| "otherwise".to_owned(), one_line);
                arrows.push(GraphArrow { from: step, to, kind: ArrowKind::Condition, label });
            }
        }
    }
    arrows.sort();
    arrows.dedup();
    let steps = workflow.steps.iter().enumerate().filter(|(index, _)| flags[*index]).map(|(index, step)| Box {
        index,
        title: one_line(&step.title),
        agent: step.agent.as_ref().map(|agent| one_line(&agent.to_string())),
        channel: step.channel.as_deref().map(one_line),
        need: step.need,
        parent: step.parent.filter(|&parent| flags[parent]),
        gate: step.parts.iter().any(|part| matches!(part, Part::Gate(_))),
    });
    Picture {
        title: one_line(&workflow.title),
        steps: steps.collect(),
        arrows,
        order: graph.order().into_iter().filter(|&step| flags[step]).collect(),
        inputs: graph.external().into_iter().map(one_line).collect(),
        results: graph.results().into_iter().map(one_line).collect(),
    }
}

/// What a box says.
pub(super) fn caption(step: &Box) -> String {
    let agent = step.agent.as_ref().map_or(String::new(), |agent| format!(" @{agent}"));
    let mark = step.need.mark();
    let mark = if mark.is_empty() { String::new() } else { format!(" {mark}") };
    format!("{}{agent}{mark}", truncate(&step.title, LABEL))
}

/// What an arrow says.
pub(super) fn label(arrow: &GraphArrow) -> String {
    truncate(&arrow.label, LABEL).into_owned()
}
