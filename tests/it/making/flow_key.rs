//! Data flow beside a key that a person wrote: ten sessions, and what went from one phase to another in each.

use std::collections::BTreeSet;
use std::path::Path;

use cru::note::Note;
use cru::session::read;
use cru::workflow::{Graph, Options, codify};

/// An edge: phases of the producer, phases of the consumer, name without its state.
type Edge = (BTreeSet<String>, BTreeSet<String>, String);

fn edges(text: &str) -> Vec<Edge> {
    let (session, _) = read::session(&Note::parse(text));
    let (workflow, _) = codify(&session, &Options::REPLAY);
    let phases = |step: usize| -> BTreeSet<String> {
        workflow.steps[step].origin.iter().filter_map(|link| link.block.clone()).collect()
    };
    let base = |name: &str| match name.rsplit_once('@') {
        Some((base, number)) if number.parse::<u32>().is_ok() => base.to_owned(),
        _ => name.to_owned(),
    };
    Graph::of(&workflow).edges().map(|it| (phases(it.from), phases(it.to), base(it.name))).collect()
}

#[test]
fn edges_are_those_of_the_key() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/flow");
    let key = std::fs::read_to_string(dir.join("key.txt")).unwrap();
    let rows: Vec<Vec<&str>> = key
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split(' ').collect())
        .collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(names.len(), 10);
    let (mut found, mut right, mut met) = (0_usize, 0_usize, 0_usize);
    let mut odd = Vec::new();
    for name in &names {
        let text = std::fs::read_to_string(dir.join(format!("{name}.md"))).unwrap();
        let edges = edges(&text);
        let fits = |row: &[&str], edge: &Edge| {
            edge.0.contains(row[1]) && edge.1.contains(row[2]) && row[3].trim_matches(['<', '>']) == edge.2
        };
        let own: Vec<&Vec<&str>> = rows.iter().filter(|row| row[0] == *name).collect();
        for edge in &edges {
            found += 1;
            if own.iter().any(|row| fits(row, edge)) {
                right += 1;
            } else {
                odd.push(format!("{name}: not in the key: {edge:?}"));
            }
        }
        for row in own {
            if edges.iter().any(|edge| fits(row, edge)) {
                met += 1;
            } else {
                odd.push(format!("not found: {}", row.join(" ")));
            }
        }
    }
    let (precision, recall) = (right as f64 / found as f64, met as f64 / rows.len() as f64);
    println!("precision {precision:.3} ({right} of {found}), recall {recall:.3} ({met} of {})", rows.len());
    assert!(precision >= 0.9 && recall >= 0.8, "precision {precision}, recall {recall}\n{}", odd.join("\n"));
}
