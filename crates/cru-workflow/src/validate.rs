//! Whether a workflow can be run as written.
//!
//! Data names join steps: who gives a name comes before who takes it. Errors: a cycle, a condition that leads nowhere.
//! Warnings: a name with two producers, types that differ. A name that nobody gives is an input from outside, no error.
//! Conditions are asked while the work goes on, so a way back through one is no cycle.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use super::model::{Operand, Part, RemarkKind, Workflow};
use super::record::squeeze;
use cru_base::{Diagnostic, Span};

/// Producers of one name that are joined with its consumers.
const MAX_PRODUCERS: usize = 16;
/// Steps that are looked through for a title like a misspelt one.
const MAX_NEAR: usize = 400;

/// Everything that is odd about how the steps fit together, in document order.
pub fn validate(workflow: &Workflow) -> Vec<Diagnostic> {
    let graph = Graph::of(workflow);
    let mut found = graph.duplicates();
    found.extend(graph.types());
    found.extend(branches(workflow, &graph.titles));
    found.extend(graph.cycle(workflow));
    found.extend(titles(workflow));
    found.extend(records(workflow));
    found.sort_by_key(|it| (it.span.start, it.code));
    found
}

/// A name where a step gives or takes it.
#[derive(Clone, Copy, Debug)]
pub struct Use<'a> {
    /// Index of the step.
    pub step: usize,
    /// `::Type`.
    pub ty: Option<&'a str>,
    /// Where it stands.
    pub span: Span,
}

/// A data edge: `to` takes what `from` gives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataEdge<'a> {
    /// Index of the producer.
    pub from: usize,
    /// Index of the consumer.
    pub to: usize,
    /// What is handed over.
    pub name: &'a str,
}

/// How the steps of a workflow hang together.
#[derive(Debug, Default)]
pub struct Graph<'a> {
    /// Steps by title in lower case; the first of a title counts.
    titles: HashMap<String, usize>,
    /// Who gives a name, in document order.
    producers: BTreeMap<&'a str, Vec<Use<'a>>>,
    /// Who takes a name, in document order.
    consumers: BTreeMap<&'a str, Vec<Use<'a>>>,
    /// For each step those that come after it.
    next: Vec<BTreeSet<usize>>,
    /// Data edges, sorted.
    edges: BTreeSet<DataEdge<'a>>,
    /// Pairs of which the second says `After:` of the first.
    order: BTreeSet<(usize, usize)>,
}

impl<'a> Graph<'a> {
    /// Joins steps by data names, and by right sides that name a step.
    pub fn of(workflow: &'a Workflow) -> Self {
        let mut titles = HashMap::new();
        for (index, step) in workflow.steps.iter().enumerate() {
            titles.entry(step.title.to_lowercase()).or_insert(index);
        }
        let mut graph = Self { titles, next: vec![BTreeSet::new(); workflow.steps.len()], ..Self::default() };
        let mut bound: BTreeSet<&str> = BTreeSet::new();
        for (index, step) in workflow.steps.iter().enumerate() {
            let of = |operand: &'a Operand| Use { step: index, ty: operand.ty.as_deref(), span: operand.span };
            if let Some(name) = &step.binds {
                bound.insert(name);
                graph.producers.entry(name).or_default().push(Use { step: index, ty: None, span: step.heading_span });
            }
            for flow in step.flows() {
                for operand in flow.inputs() {
                    graph.consumers.entry(&operand.name).or_default().push(of(operand));
                }
                for operand in flow.outputs() {
                    match graph.titles.get(&operand.name.to_lowercase()) {
                        Some(&to) if to != index => {
                            graph.next[index].insert(to);
                        }
                        Some(_) => {}
                        None => graph.producers.entry(&operand.name).or_default().push(of(operand)),
                    }
                }
            }
        }
        for (index, step) in workflow.steps.iter().enumerate() {
            for part in &step.parts {
                let Part::Remark(remark) = part else { continue };
                if remark.kind == RemarkKind::After
                    && let Some(&before) = graph.titles.get(&remark.text.to_lowercase())
                    && before != index
                {
                    graph.next[before].insert(index);
                    graph.order.insert((before, index));
                }
            }
            for (name, span) in step.inserts() {
                // Bold words are a name only where some step binds it.
                if bound.contains(name) {
                    graph.consumers.entry(name).or_default().push(Use { step: index, ty: None, span });
                }
            }
        }
        graph.join();
        graph
    }

    fn join(&mut self) {
        for (&name, consumers) in &self.consumers {
            let exact = self.producers.contains_key(name);
            for from in self.sources(name) {
                for to in consumers {
                    // A step that changes what it takes does not wait for itself. A folder stands for what is in it only
                    // where nobody names the file, and only once it is made.
                    let folder = !exact && from.step > to.step;
                    if from.step != to.step && !folder {
                        self.next[from.step].insert(to.step);
                        self.edges.insert(DataEdge { from: from.step, to: to.step, name });
                    }
                }
            }
        }
    }

    /// Who gives `name`: under this name, else as a folder above it. Of many the first few, so that the joins stay linear.
    fn sources(&self, name: &str) -> Vec<Use<'a>> {
        let first = |name: &str| self.producers.get(name).into_iter().flatten().take(MAX_PRODUCERS).copied();
        let mut sources: Vec<_> = first(name).collect();
        if !sources.is_empty() {
            return sources;
        }
        for (at, _) in name.match_indices('/').take(32) {
            let folder = &name[..=at];
            if folder != name {
                sources.extend(first(folder));
            }
        }
        sources
    }

    /// Names that no step gives, sorted: what has to be there before.
    pub fn external(&self) -> Vec<&'a str> {
        self.consumers.keys().copied().filter(|name| self.sources(name).is_empty()).collect()
    }

    /// Names that no step takes, sorted: what comes out in the end.
    pub fn results(&self) -> Vec<&'a str> {
        let taken: BTreeSet<(usize, &str)> = self.edges.iter().map(|edge| (edge.from, edge.name)).collect();
        let last = |(&name, makers): (&&'a str, &Vec<Use<'_>>)| {
            let used = makers.iter().any(|maker| taken.contains(&(maker.step, name)));
            (!used).then_some(name)
        };
        self.producers.iter().filter_map(last).collect()
    }

    /// Who takes what from whom, sorted.
    pub fn edges(&self) -> impl Iterator<Item = &DataEdge<'a>> {
        self.edges.iter()
    }

    /// Steps that come directly after `step`, sorted.
    pub fn after(&self, step: usize) -> impl Iterator<Item = usize> {
        self.next.get(step).into_iter().flatten().copied()
    }

    /// Whether only `After:` joins `from` to `to`, and neither data nor a right side that names the step.
    pub fn is_order(&self, from: usize, to: usize) -> bool {
        let least = DataEdge { from, to, name: "" };
        let data = || self.edges.range(least..).next().is_some_and(|edge| edge.from == from && edge.to == to);
        self.order.contains(&(from, to)) && !data()
    }

    /// Steps that come directly after `step` for more than the order in which they were done once.
    pub fn joined_after(&self, step: usize) -> impl Iterator<Item = usize> {
        self.after(step).filter(move |&to| !self.is_order(step, to))
    }

    /// The step of that title, in any case.
    pub fn step(&self, title: &str) -> Option<usize> {
        self.titles.get(&title.to_lowercase()).copied()
    }

    /// The order in which steps can be done: data first, else as they stand. Steps of a cycle come last, as they stand.
    pub fn order(&self) -> Vec<usize> {
        let mut waits = vec![0_usize; self.next.len()];
        for &to in self.next.iter().flatten() {
            waits[to] += 1;
        }
        let ready = waits.iter().enumerate().filter(|(_, count)| **count == 0).map(|(step, _)| Reverse(step));
        let mut ready: BinaryHeap<Reverse<usize>> = ready.collect();
        let mut order = Vec::with_capacity(waits.len());
        let mut done = vec![false; waits.len()];
        while let Some(Reverse(step)) = ready.pop() {
            order.push(step);
            done[step] = true;
            for &to in &self.next[step] {
                waits[to] -= 1;
                if waits[to] == 0 {
                    ready.push(Reverse(to));
                }
            }
        }
        order.extend((0..done.len()).filter(|&step| !done[step]));
        order
    }

    fn duplicates(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (name, producers) in &self.producers {
            let mut steps = BTreeSet::new();
            for producer in producers {
                if steps.insert(producer.step) && steps.len() > 1 {
                    let message = format!("'{name}' is made by more than one step");
                    found.push(
                        Diagnostic::warning("duplicate-producer", producer.span, message)
                            .help("give each result its own name, so that it is clear which one is meant"),
                    );
                }
            }
        }
        found
    }

    fn types(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (name, consumers) in &self.consumers {
            let made = self.producers.get(name).into_iter().flatten().find_map(|producer| producer.ty);
            let Some(made) = made else { continue };
            for consumer in consumers {
                if let Some(wanted) = consumer.ty.filter(|wanted| !wanted.eq_ignore_ascii_case(made)) {
                    let message = format!("'{name}' is made as {made} and taken as {wanted}");
                    found.push(Diagnostic::warning("type-mismatch", consumer.span, message));
                }
            }
        }
        found
    }

    /// The first cycle, with its path.
    fn cycle(&self, workflow: &Workflow) -> Option<Diagnostic> {
        let path = self.cycle_path()?;
        let title = |&index: &usize| workflow.steps.get(index).map_or("", |step| step.title.as_str());
        let names: Vec<&str> = path.iter().map(title).collect();
        let span = path.first().and_then(|&index| workflow.steps.get(index)).map(|step| step.heading_span)?;
        let message = format!("the steps wait for each other: {}", names.join(" → "));
        Some(
            Diagnostic::error("cycle", span, message)
                .help("let one of them take something that stands before the others"),
        )
    }

    /// The steps of a cycle, the first repeated at the end. No recursion: the steps on the way stand in a list.
    fn cycle_path(&self) -> Option<Vec<usize>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.next.len()];
        for start in 0..self.next.len() {
            if marks[start] != Mark::New {
                continue;
            }
            marks[start] = Mark::Open;
            let mut way = vec![(start, self.next[start].iter())];
            while let Some((here, rest)) = way.last_mut() {
                let here = *here;
                match rest.next() {
                    Some(&to) if marks[to] == Mark::Open => {
                        let from = way.iter().position(|(step, _)| *step == to)?;
                        return Some(way[from..].iter().map(|(step, _)| *step).chain([to]).collect());
                    }
                    Some(&to) if marks[to] == Mark::New => {
                        marks[to] = Mark::Open;
                        way.push((to, self.next[to].iter()));
                    }
                    Some(_) => {}
                    None => {
                        marks[here] = Mark::Done;
                        way.pop();
                    }
                }
            }
        }
        None
    }
}

/// Conditions that lead to a step that is not there.
fn branches(workflow: &Workflow, titles: &HashMap<String, usize>) -> Vec<Diagnostic> {
    let parts = workflow.steps.iter().flat_map(|step| &step.parts).chain(&workflow.preface);
    let mut found = Vec::new();
    for part in parts {
        let Part::Branch(branch) = part else { continue };
        if titles.contains_key(&branch.target.to_lowercase()) {
            continue;
        }
        let message = format!("there is no step '{}'", branch.target);
        let mut diagnostic = Diagnostic::error("unknown-step", branch.target_span, message);
        let near = workflow.steps.iter().take(MAX_NEAR).map(|step| step.title.as_str());
        let near =
            near.map(|title| (strsim::jaro_winkler(&title.to_lowercase(), &branch.target.to_lowercase()), title));
        if let Some((score, title)) = near.max_by(|a, b| a.0.total_cmp(&b.0))
            && score > 0.8
        {
            diagnostic = diagnostic.help(format!("did you mean '{title}'?"));
        }
        found.push(diagnostic);
    }
    found
}

/// Titles that stand twice: a condition can only lead to the first.
fn titles(workflow: &Workflow) -> Vec<Diagnostic> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    for (step, flag) in workflow.steps.iter().zip(workflow.step_flags()) {
        if flag && !step.title.is_empty() {
            let count = seen.entry(step.title.to_lowercase()).or_insert(0);
            *count += 1;
            if *count > 1 {
                let message = format!("there is a step '{}' already; conditions lead to the first", step.title);
                found.push(Diagnostic::warning("duplicate-step", step.heading_span, message));
            }
        }
    }
    found
}

/// Rows of execution records that name no step.
fn records(workflow: &Workflow) -> Vec<Diagnostic> {
    let known: BTreeSet<String> = workflow.steps.iter().map(|step| squeeze(&step.title)).collect();
    let mut found = Vec::new();
    for record in workflow.records() {
        for row in 0..record.rows.len() {
            let Some(phase) = record.cell(row, "phase") else { continue };
            if !known.contains(&squeeze(phase)) {
                let message = format!("the execution record names '{phase}', which is no step");
                found.push(Diagnostic::info("record-step", record.span, message));
            }
        }
    }
    found
}
