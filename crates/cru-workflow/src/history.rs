//! Execution records as rows that can be asked: by agent, status, time, with sums over groups.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::model::{Part, Workflow};
use super::record::squeeze;

/// One run of one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Run {
    /// The step as the workflow calls it; as the record does where there is none.
    pub step: String,
    /// The `phase` cell.
    pub phase: String,
    /// `agent`, else that of the step.
    pub agent: Option<String>,
    /// `channel`, else that of the step.
    pub channel: Option<String>,
    /// `input`.
    pub input: Option<String>,
    /// `output`.
    pub output: Option<String>,
    /// `duration_ms`.
    pub duration_ms: Option<f64>,
    /// `status`: success, failed, timeout, skipped.
    pub status: String,
    /// `tokens_used`.
    pub tokens_used: Option<f64>,
    /// `source`: session and phase.
    pub source: Option<String>,
    /// `started`, `time` or `timestamp`.
    pub started: Option<Timestamp>,
    /// Other columns.
    pub more: BTreeMap<String, String>,
}

/// Columns that have a place of their own.
const KNOWN: [&str; 10] =
    ["phase", "agent", "channel", "input", "output", "duration_ms", "status", "tokens_used", "source", "started"];

/// Every run that a workflow records, in document order.
pub fn runs(workflow: &Workflow) -> Vec<Run> {
    let titles: BTreeMap<String, usize> =
        workflow.steps.iter().enumerate().rev().map(|(index, step)| (squeeze(&step.title), index)).collect();
    let flags = workflow.step_flags();
    let here = workflow.steps.iter().enumerate().map(|(index, step)| (Some(index), &step.parts));
    let places = std::iter::once((None, &workflow.preface)).chain(here);
    let mut runs = Vec::new();
    for (place, parts) in places {
        for part in parts {
            let Part::Record(record) = part else { continue };
            for row in 0..record.rows.len() {
                let cell = |name: &str| record.cell(row, name).map(str::to_owned);
                let phase = cell("phase").unwrap_or_default();
                let named = titles.get(&squeeze(&phase)).copied();
                // A record below a step is that step's, whatever its cell says.
                let step = named.or_else(|| place.filter(|&place| flags[place])).map(|index| &workflow.steps[index]);
                let number =
                    |name: &str| cell(name).and_then(|text| text.parse::<f64>().ok()).filter(|it| it.is_finite());
                let time = |name: &str| cell(name).and_then(|text| text.parse::<Timestamp>().ok());
                let more = record.columns.iter().filter(|name| !KNOWN.contains(&name.as_str()));
                let more = more.filter_map(|name| Some((name.clone(), cell(name)?)));
                runs.push(Run {
                    step: step.map_or_else(|| phase.clone(), |step| step.title.clone()),
                    agent: cell("agent").or_else(|| Some(step?.agent.as_ref()?.name.clone())),
                    channel: cell("channel").or_else(|| step?.channel.clone()),
                    input: cell("input"),
                    output: cell("output"),
                    duration_ms: number("duration_ms"),
                    status: cell("status").unwrap_or_default(),
                    tokens_used: number("tokens_used"),
                    source: cell("source"),
                    started: time("started").or_else(|| time("time")).or_else(|| time("timestamp")),
                    more: more.collect(),
                    phase,
                });
            }
        }
    }
    runs
}

impl Run {
    /// The session it was, without the phase.
    pub fn session(&self) -> Option<&str> {
        let source = self.source.as_deref()?;
        let source = source.trim_start_matches("[[").trim_end_matches("]]");
        Some(source.split('#').next().unwrap_or(source)).filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use cru_note::Note;

    #[test]
    fn rows_find_their_steps() {
        let text = "# T\n\n## Phase 1: Planning @pm #room\n\n```session-toon\nexecution[2]{phase,status,duration_ms,cost,started}:\n \
                    Planning,success,4500,0.5,2026-11-20T09:00:00Z\n Nowhere,failed,,x,\n```\n\n## Receive Order @intake\n\n\
                    ```session-toon\nexecution[1]{phase,agent,status,source}:\n  ReceiveOrder,other,skipped,\"s1#^p-02\"\n```\n";
        let (workflow, _) = parse(&Note::parse(text));
        let runs = runs(&workflow);
        let shown: Vec<String> = runs
            .iter()
            .map(|run| {
                format!("{} {} {} {:?}", run.step, run.agent.as_deref().unwrap_or("-"), run.status, run.duration_ms)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Phase 1: Planning pm success Some(4500.0)",
                "Phase 1: Planning pm failed None",
                "Receive Order other skipped None"
            ]
        );
        assert_eq!(runs[2].session(), Some("s1"));
        assert_eq!(runs[0].started.map(|time| time.to_string()).as_deref(), Some("2026-11-20T09:00:00Z"));
    }
}
