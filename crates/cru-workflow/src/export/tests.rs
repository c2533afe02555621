//! The formats, on a workflow that tries to break each.

use super::*;
use crate::parse;
use cru_note::Note;

const ODD: &str = "# A \"quoted\" title\n\n## end; graph \"x\"] --> y @coder !\n\nin.md::Markdown → out\n\n\
    > [!gate] Ok?\n\nIf a < b & c → proceed to Last\n\n### Child #dev\n\n## Last @r\n\nout → fin\n\n## Executions\n\n```session-toon\n\
    execution[3]{phase,agent,duration_ms,status,source,started,1 cost}:\n\
    \x20 \"end; graph \\\"x\\\"] --> y\",coder,1500,success,s-1#^p-01,2026-11-20T09:00:00Z,\"<1>\"\n\
    \x20 Last,r,,failed,s-1#^p-02,,\n  Last,,,skipped,s-2,,\n```\n";

fn traces() -> Vec<Trace> {
    let (workflow, _) = parse(&Note::parse(ODD));
    let mut traces: Vec<Trace> = Vec::new();
    for run in crate::history::runs(&workflow) {
        let session = run.session().unwrap_or_default().to_owned();
        match traces.iter_mut().find(|trace| trace.session == session) {
            Some(trace) => trace.runs.push(run),
            None => traces.push(Trace { workflow: "odd".into(), session, started: None, runs: vec![run] }),
        }
    }
    traces
}

#[test]
fn drawings_hold_only_their_own_structure() {
    let (workflow, _) = parse(&Note::parse(ODD));
    let picture = graph::picture(&workflow);
    insta::assert_snapshot!(mermaid::export(&picture), @r#"
    flowchart TD
        s0{{"end#59; graph #34;x#34;#93; --#62; y @coder !"}}
        s1["Child"]
        s2["Last @r"]
        s0 --o s1
        s0 -->|"out"| s2
        s0 -.->|"a #60; b #38; c"| s2
    "#);
    insta::assert_snapshot!(dot::export(&picture), @r#"
    digraph workflow {
        rankdir=TB;
        node [shape=box];
        label="A \"quoted\" title";
        s0 [label="end; graph \"x\"] --> y @coder !", shape=hexagon];
        s1 [label="Child"];
        s2 [label="Last @r"];
        s0 -> s1 [label="", arrowhead=odot];
        s0 -> s2 [label="out"];
        s0 -> s2 [label="a < b & c", style=dashed];
    }
    "#);
    assert_eq!((picture.inputs, picture.results), (vec!["in.md".to_owned()], vec!["fin".to_owned()]));
}

/// Elements of an XML text with their depth; attributes are looked at for what must not stand in them.
fn elements(xml: &str) -> Vec<(usize, String)> {
    let mut depth = 0;
    let mut found = Vec::new();
    for tag in xml.split('<').skip(1) {
        let (tag, after) = tag.split_once('>').unwrap();
        assert!(after.trim().is_empty(), "text outside of elements: {after:?}");
        if tag.starts_with('?') {
            continue;
        }
        if tag.starts_with('/') {
            depth -= 1;
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        for (at, _) in tag.match_indices('&') {
            assert!(["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|it| tag[at..].starts_with(it)), "{tag}");
        }
        let name = tag.split([' ', '/']).next().unwrap();
        found.push((depth, name.to_owned()));
        if !tag.ends_with('/') {
            depth += 1;
        }
    }
    assert_eq!(depth, 0);
    found
}

#[test]
fn xes_has_the_order_of_its_schema() {
    let xml = xes::export(&traces());
    let elements = elements(&xml);
    assert_eq!(elements[0], (0, "log".to_owned()));
    // Below the log: extensions, globals, classifiers, traces; in a trace attributes before events.
    let rank = |name: &str| ["extension", "global", "classifier", "trace"].iter().position(|it| *it == name).unwrap();
    let top: Vec<usize> = elements.iter().filter(|(depth, _)| *depth == 1).map(|(_, name)| rank(name)).collect();
    assert!(top.is_sorted() && top.iter().filter(|&&it| it == 3).count() == 2, "{top:?}");
    assert_eq!(elements.iter().filter(|(_, name)| name == "event").count(), 3);
    for (depth, name) in &elements {
        let fits = match name.as_str() {
            "string" | "float" | "date" => (2..=3).contains(depth),
            "event" => *depth == 2,
            _ => *depth <= 1,
        };
        assert!(fits, "{depth} {name}");
    }
    assert!(xml.contains("<date key=\"time:timestamp\" value=\"2026-11-20T09:00:00Z\"/>"), "{xml}");
    assert!(xml.contains("<string key=\"_1_cost\" value=\"&lt;1&gt;\"/>"), "{xml}");
}

#[test]
fn ocel_names_everything_it_relates() {
    let log = ocel::export(&traces());
    let names = |key: &str, field: &str| -> Vec<String> {
        log[key].as_array().unwrap().iter().map(|it| it[field].as_str().unwrap().to_owned()).collect()
    };
    let (objects, types) = (names("objects", "id"), names("objectTypes", "name"));
    let unique: std::collections::BTreeSet<_> = objects.iter().collect();
    assert_eq!(unique.len(), objects.len());
    for object in log["objects"].as_array().unwrap() {
        assert!(types.contains(&object["type"].as_str().unwrap().to_owned()));
    }
    let events = log["events"].as_array().unwrap();
    assert_eq!(events.len(), 3);
    for it in events.iter().chain(log["objects"].as_array().unwrap()) {
        for relation in it["relationships"].as_array().unwrap() {
            assert!(objects.contains(&relation["objectId"].as_str().unwrap().to_owned()), "{relation}");
            assert!(relation["qualifier"].is_string());
        }
    }
    for event in events {
        assert!(names("eventTypes", "name").contains(&event["type"].as_str().unwrap().to_owned()));
        assert!(event["time"].as_str().unwrap().parse::<jiff::Timestamp>().is_ok());
        for attribute in event["attributes"].as_array().unwrap() {
            let declared = log["eventTypes"][0]["attributes"].as_array().unwrap();
            let of = declared.iter().find(|it| it["name"] == attribute["name"]).unwrap();
            // The published schema takes strings alone; the type says how they are to be read.
            let value = attribute["value"].as_str().unwrap();
            assert!(of["type"] != "float" || value.parse::<f64>().is_ok(), "{value}");
        }
    }
}
