//! Dependencies between calls that join the steps of the workflow, too: what somebody wrote as `after:`, and files.
//!
//! A step that comes after another takes what that one made: its first output that the other does not take already, or
//! its result. So the dependency is data like any other to whoever reads the workflow. Steps that nothing joins get an
//! edge of order, which says no more than that the one was done after the other.

use foldhash::{HashMap, HashSet};

use super::data::Data;
use super::draft::Draft;
use crate::model::Operand;
use cru_graph::{Place, Reason};
use cru_session::Session;

/// What the drafts take and give, with what follows from `after:`. A dependency on something that stands further down, on
/// something that is in no step, and within a step changes nothing.
pub(super) fn joined(session: &Session, drafts: &[Draft<'_>], mut flows: Vec<Data>) -> Vec<Data> {
    let mut homes: HashMap<Place, usize> = HashMap::default();
    for (index, draft) in drafts.iter().enumerate() {
        for phase in draft.phases.iter().filter(|_| draft.subagent.is_none()) {
            homes.entry(Place { phase: Some(*phase), item: None }).or_insert(index);
        }
        homes.extend(draft.calls().filter(|call| call.place.item.is_some()).map(|call| (call.place, index)));
    }
    let home = |place: Place| homes.get(&place).copied();
    let joined = joins(&flows);
    let mut names: Option<HashSet<String>> = None;
    for dependency in cru_graph::dependencies(session) {
        let (Some(of), Some(on)) = (home(dependency.of), home(dependency.on)) else { continue };
        if on >= of || on >= flows.len() || of >= flows.len() || takes(&flows[of], &flows[on]) {
            continue;
        }
        // Files have their own lines; what they do not say is only that the one came after the other.
        if dependency.reason == Reason::Data && joined[of] {
            continue;
        }
        let names = names.get_or_insert_with(|| {
            let operands = flows.iter().flat_map(|data| data.inputs.iter().chain(&data.outputs));
            operands.map(|operand| operand.name.clone()).collect()
        });
        if flows[on].outputs.is_empty() {
            flows[on].outputs.push(Operand { name: fresh("result", names), ..Operand::default() });
        }
        let Some(operand) = flows[on].outputs.first().cloned() else { continue };
        let request = || Operand { name: "request".into(), ..Operand::default() };
        if flows[on].inputs.is_empty() {
            flows[on].inputs.push(request());
        }
        flows[of].inputs.push(operand);
        if flows[of].outputs.is_empty() {
            flows[of].outputs.push(Operand { name: fresh("result", names), ..Operand::default() });
        }
    }
    flows
}

/// For each draft the one that was done before it, where no data join it to any before: what stands before it at the same
/// place. Data of what stands below a draft count as its own.
pub(super) fn order(drafts: &[Draft<'_>], flows: &[Data]) -> Vec<Option<usize>> {
    // For each name who gave it first.
    let mut makers: HashMap<&str, usize> = HashMap::default();
    let mut joined = vec![false; drafts.len()];
    for (index, data) in flows.iter().enumerate() {
        for input in &data.inputs {
            let Some(&maker) = makers.get(input.name.as_str()) else { continue };
            // The steps above hold what stands below them.
            let mut at = Some(index);
            while let Some(here) = at {
                if maker < here {
                    joined[here] = true;
                }
                at = drafts[here].parent.filter(|parent| *parent < here);
            }
        }
        for output in &data.outputs {
            makers.entry(&output.name).or_insert(index);
        }
    }
    let mut last: HashMap<Option<usize>, usize> = HashMap::default();
    let mut after = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.iter().enumerate() {
        // Sub-agents may run beside each other.
        if draft.subagent.is_some() {
            after.push(None);
            continue;
        }
        let before = last.insert(draft.parent, index);
        after.push(before.filter(|_| !joined[index]));
    }
    after
}

/// For each step whether it takes something that one before it gives.
fn joins(flows: &[Data]) -> Vec<bool> {
    let mut given: HashSet<String> = HashSet::default();
    let mut joined = Vec::with_capacity(flows.len());
    for data in flows {
        joined.push(data.inputs.iter().any(|input| given.contains(&input.name)));
        given.extend(data.outputs.iter().map(|output| output.name.clone()));
    }
    joined
}

/// Whether a step takes something that the other one gives.
fn takes(data: &Data, from: &Data) -> bool {
    data.inputs.iter().any(|input| from.outputs.iter().any(|output| output.name == input.name))
}

/// A name that no operand has: `result`, `result@2`, as states of a thing are named.
fn fresh(base: &str, names: &mut HashSet<String>) -> String {
    let mut name = base.to_owned();
    let mut number = 1;
    while !names.insert(name.clone()) {
        number += 1;
        name = format!("{base}@{number}");
    }
    name
}
