//! Runs as an OCEL 2.0 log in JSON: events for steps; sessions, workflows, agents and data as objects.
//!
//! Values are strings, numbers too: the published schema takes nothing else, and readers go by the declared type. What is
//! not known is left out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Trace, times};

/// The log. Every event has a time, as the format asks; where none is known it is 1970.
pub fn export(traces: &[Trace]) -> Value {
    let mut objects: BTreeMap<(&str, String), Vec<Value>> = BTreeMap::new();
    let mut events = Vec::new();
    let mut types: BTreeSet<&str> = BTreeSet::new();
    for trace in traces {
        let session = ("session", trace.session.clone());
        let workflow = ("workflow", trace.workflow.clone());
        objects.entry(workflow.clone()).or_default();
        let relations = objects.entry(session.clone()).or_default();
        let follows = json!({ "objectId": id(&workflow), "qualifier": "follows" });
        cru_base::list::push_new(relations, follows);
        for (run, time) in trace.runs.iter().zip(times(trace)) {
            types.insert(&run.step);
            let mut relations = vec![json!({ "objectId": id(&session), "qualifier": "session" })];
            relations.push(json!({ "objectId": id(&workflow), "qualifier": "workflow" }));
            let mut relate = |kind: &'static str, name: &Option<String>, qualifier: &str| {
                if let Some(name) = name {
                    let object = (kind, name.clone());
                    relations.push(json!({ "objectId": id(&object), "qualifier": qualifier }));
                    objects.entry(object).or_default();
                }
            };
            relate("agent", &run.agent, "agent");
            relate("data", &run.input, "input");
            relate("data", &run.output, "output");
            let mut attributes = vec![json!({ "name": "status", "value": run.status })];
            let known = [
                ("channel", run.channel.clone()),
                ("duration_ms", run.duration_ms.map(|number| number.to_string())),
                ("tokens_used", run.tokens_used.map(|number| number.to_string())),
            ];
            let known = known.into_iter().filter_map(|(name, value)| Some(json!({ "name": name, "value": value? })));
            attributes.extend(known);
            events.push(json!({
                "id": format!("e{}", events.len() + 1),
                "type": run.step,
                "time": time.to_string(),
                "attributes": attributes,
                "relationships": relations,
            }));
        }
    }
    let attributes = json!([
        { "name": "status", "type": "string" },
        { "name": "channel", "type": "string" },
        { "name": "duration_ms", "type": "float" },
        { "name": "tokens_used", "type": "float" },
    ]);
    let name = json!([{ "name": "name", "type": "string" }]);
    let kinds: BTreeSet<&str> = objects.keys().map(|(kind, _)| *kind).collect();
    let objects: Vec<Value> = objects
        .iter()
        .map(|(object, relations)| {
            json!({
                "id": id(object),
                "type": object.0,
                "attributes": [{ "name": "name", "value": object.1, "time": "1970-01-01T00:00:00Z" }],
                "relationships": relations,
            })
        })
        .collect();
    json!({
        "objectTypes": kinds.iter().map(|kind| json!({ "name": kind, "attributes": name })).collect::<Vec<_>>(),
        "eventTypes": types.iter().map(|kind| json!({ "name": kind, "attributes": attributes })).collect::<Vec<_>>(),
        "objects": objects,
        "events": events,
    })
}

/// Ids are one space for all objects.
fn id((kind, name): &(&str, String)) -> String {
    format!("{kind}:{name}")
}
