//! Dependencies that somebody wrote: `after:` of a phase or step joins the steps of the workflow, too.
//!
//! A step that comes after another takes what that one made: its first output that the other does not take already, or
//! its result. So the dependency is data like any other to whoever reads the workflow.

use foldhash::{HashMap, HashSet};

use super::data::Data;
use super::draft::Draft;
use crate::model::Operand;
use cru_graph::{Place, dependency};
use cru_session::{Phase, Session};

/// What the drafts take and give, with what follows from `after:`. A dependency on something that stands further down, on
/// something that is in no step, and within a step changes nothing.
pub(super) fn joined(session: &Session, drafts: &[Draft<'_>], mut flows: Vec<Data>) -> Vec<Data> {
    let homes: HashMap<*const Phase, usize> = drafts
        .iter()
        .enumerate()
        .flat_map(|(index, draft)| draft.phases.iter().map(move |phase| (std::ptr::from_ref(*phase), index)))
        .collect();
    let home = |place: Place| {
        let phase = session.phases.get(place.phase?)?;
        homes.get(&std::ptr::from_ref(phase)).copied()
    };
    let mut names: Option<HashSet<String>> = None;
    for (of, on) in dependency::written(session) {
        let (Some(of), Some(on)) = (home(of), home(on)) else { continue };
        if on >= of || on >= flows.len() || of >= flows.len() || takes(&flows[of], &flows[on]) {
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
