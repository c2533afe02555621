//! What a mined workflow says of how it was made: thresholds, variants, the alignment, sessions that failed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::model::{Part, Record, Step, Workflow};
use super::super::text::escape;
use super::column::Column;
use super::{Fate, Mining, Variant};
use cru_base::text::{fold_whitespace, plural, sanitise};

/// Sessions that the table shows at most; more are in the JSON.
const MAX_SHOWN: usize = 12;
/// Variants listed at most.
const MAX_VARIANTS: usize = 8;

/// The ways through the kept columns.
pub(super) fn variants(kept: &[&Column], titles: &[String], sessions: &[String]) -> Vec<Variant> {
    let mut ways: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for session in 0..sessions.len() {
        let mut way: Vec<(usize, usize)> = Vec::new();
        for (at, column) in kept.iter().enumerate() {
            way.extend(column.members.iter().filter(|member| member.0 == session).map(|member| (member.1, at)));
        }
        way.sort_unstable();
        ways.entry(way.into_iter().map(|(_, at)| at).collect()).or_default().push(session);
    }
    let mut ways: Vec<(Vec<usize>, Vec<usize>)> = ways.into_iter().collect();
    ways.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.1.cmp(&b.1)));
    ways.into_iter()
        .map(|(way, of)| Variant {
            count: of.len(),
            sessions: of.into_iter().map(|session| sessions[session].clone()).collect(),
            steps: way.into_iter().map(|at| titles[at].clone()).collect(),
        })
        .collect()
}

/// Adds the sections that are no steps.
pub(super) fn finish(workflow: &mut Workflow, mining: &Mining, record: Option<Record>) {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let text = format!(
        "Mined from {}. A step that {} of them have is on the common path, one that {} have is optional (`?`), rarer ones are \
         left out; what {} did in both orders may run side by side, what they repeated is a loop.",
        plural(mining.sessions.len() as u64, "session"),
        percent(mining.thresholds.common),
        percent(mining.thresholds.optional),
        percent(mining.thresholds.often),
    );
    workflow.preface.push(prose(text));
    if mining.variants.len() > 1 {
        let mut list = String::new();
        for variant in mining.variants.iter().take(MAX_VARIANTS) {
            let steps: Vec<String> = variant.steps.iter().map(|title| escape(&line(title))).collect();
            let _ = writeln!(list, "1. {}: {}", plural(variant.count as u64, "session"), steps.join("; "));
        }
        if mining.variants.len() > MAX_VARIANTS {
            let _ = writeln!(list, "1. and {} more", mining.variants.len() - MAX_VARIANTS);
        }
        section(workflow, "Variants", vec![prose(list.trim_end().to_owned())]);
    }
    section(workflow, "Alignment", vec![prose(table(mining))]);
    if !mining.anti_examples.is_empty() {
        let mut list = String::new();
        for anti in &mining.anti_examples {
            let lacks: Vec<String> = anti.lacks.iter().map(|title| escape(&line(title))).collect();
            let lacks =
                if lacks.is_empty() { "it has all steps".to_owned() } else { format!("it lacks {}", lacks.join("; ")) };
            let _ = writeln!(list, "1. [[{}]] is {}: {lacks}", link(&anti.session), anti.status);
        }
        section(workflow, "How not to do it", vec![prose(list.trim_end().to_owned())]);
    }
    if let Some(record) = record {
        section(workflow, "Executions", vec![Part::Record(record)]);
    }
}

fn prose(markdown: String) -> Part {
    Part::prose(markdown)
}

/// A heading that is no step: neither agent nor flow, and a title that no step has.
fn section(workflow: &mut Workflow, title: &str, parts: Vec<Part>) {
    let mut title = title.to_owned();
    while workflow.steps.iter().any(|step| step.title.eq_ignore_ascii_case(&title)) {
        title.push_str(" of the sessions");
    }
    workflow.steps.push(Step { level: 2, title, parts, ..Step::default() });
}

/// A row for each column, a column for each session.
fn table(mining: &Mining) -> String {
    let cell = |text: &str| escape(&line(text)).replace('|', "\\|");
    let shown = mining.sessions.len().min(MAX_SHOWN);
    let mut out = String::from("| step | in |");
    for session in &mining.sessions[..shown] {
        let _ = write!(out, " [[{}]] |", link(session));
    }
    let _ = write!(out, "\n| --- | --- |{}", " --- |".repeat(shown));
    for row in &mining.columns {
        let fate = match row.fate {
            Fate::Common => "",
            Fate::Optional => " (optional)",
            Fate::LeftOut => " (left out)",
        };
        let again = if row.repeated > 0 { format!(", {} × again", row.repeated) } else { String::new() };
        let _ = write!(out, "\n| {}{fate} | {}{again} |", cell(&row.title), row.sessions);
        for place in &row.cells[..shown] {
            let _ =
                write!(out, " {} |", place.as_deref().map_or("", |place| if place.is_empty() { "✓" } else { place }));
        }
    }
    if mining.sessions.len() > shown {
        let _ = write!(out, "\n\nand {} more", plural((mining.sessions.len() - shown) as u64, "session"));
    }
    out
}

fn line(text: &str) -> String {
    fold_whitespace(&sanitise(text)).replace(['→', '`'], "'")
}

/// A name as the target of a link.
fn link(name: &str) -> String {
    line(name).replace(['[', ']', '|', '#', '^'], "")
}
