//! Runs as an XES log (IEEE 1849): a trace for each session, an event for each step.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Trace, times};

/// Keys that an event has itself; each may stand there once.
const KEYS: [&str; 6] = ["status", "input", "output", "source", "duration_ms", "tokens_used"];

/// The log. An event has a time only where one is known.
pub fn export(traces: &[Trace]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <log xes.version=\"1849.2016\" xes.features=\"\" xmlns=\"http://www.xes-standard.org/\">\n\
         \u{20} <extension name=\"Concept\" prefix=\"concept\" uri=\"http://www.xes-standard.org/concept.xesext\"/>\n\
         \u{20} <extension name=\"Lifecycle\" prefix=\"lifecycle\" uri=\"http://www.xes-standard.org/lifecycle.xesext\"/>\n\
         \u{20} <extension name=\"Organizational\" prefix=\"org\" uri=\"http://www.xes-standard.org/org.xesext\"/>\n\
         \u{20} <extension name=\"Time\" prefix=\"time\" uri=\"http://www.xes-standard.org/time.xesext\"/>\n\
         \u{20} <global scope=\"trace\">\n    <string key=\"concept:name\" value=\"session\"/>\n  </global>\n\
         \u{20} <global scope=\"event\">\n    <string key=\"concept:name\" value=\"step\"/>\n    \
         <string key=\"lifecycle:transition\" value=\"complete\"/>\n  </global>\n\
         \u{20} <classifier name=\"Activity\" keys=\"concept:name\"/>\n",
    );
    let mut names = BTreeSet::new();
    for trace in traces {
        out.push_str("  <trace>\n");
        // A session that ran two workflows is two traces, and readers put traces of one name together.
        let mut session = trace.session.clone();
        if !names.insert(session.clone()) {
            session = format!("{session} ({})", trace.workflow);
        }
        string(&mut out, 4, "concept:name", &session);
        string(&mut out, 4, "workflow", &trace.workflow);
        let known = trace.started.is_some() || trace.runs.iter().any(|run| run.started.is_some());
        for (run, time) in trace.runs.iter().zip(times(trace)) {
            out.push_str("    <event>\n");
            string(&mut out, 6, "concept:name", &run.step);
            let transition = match run.status.as_str() {
                "failed" | "timeout" | "abandoned" => "ate_abort",
                "skipped" => "manualskip",
                _ => "complete",
            };
            string(&mut out, 6, "lifecycle:transition", transition);
            if let Some(agent) = &run.agent {
                string(&mut out, 6, "org:resource", agent);
            }
            if let Some(channel) = &run.channel {
                string(&mut out, 6, "org:group", channel);
            }
            if known {
                let _ = writeln!(out, "      <date key=\"time:timestamp\" value=\"{time}\"/>");
            }
            string(&mut out, 6, "status", &run.status);
            for (key, value) in [("input", &run.input), ("output", &run.output), ("source", &run.source)] {
                if let Some(value) = value {
                    string(&mut out, 6, key, value);
                }
            }
            for (key, value) in [("duration_ms", run.duration_ms), ("tokens_used", run.tokens_used)] {
                if let Some(value) = value {
                    let _ = writeln!(out, "      <float key=\"{key}\" value=\"{value}\"/>");
                }
            }
            let mut taken: BTreeSet<String> = KEYS.iter().map(|key| (*key).to_owned()).collect();
            for (column, value) in &run.more {
                let key = name(column);
                if taken.insert(key.clone()) {
                    string(&mut out, 6, &key, value);
                }
            }
            out.push_str("    </event>\n");
        }
        out.push_str("  </trace>\n");
    }
    out.push_str("</log>\n");
    out
}

/// A column's name as a key, which is a name of XML.
fn name(column: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let key: String = column.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { key } else { format!("_{key}") }
}

fn string(out: &mut String, indent: usize, key: &str, value: &str) {
    let _ = writeln!(out, "{:indent$}<string key=\"{}\" value=\"{}\"/>", "", escape(key), escape(value));
}

/// Text as the value of an attribute; what XML cannot hold is left out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}
