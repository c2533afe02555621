//! Callouts: the title line, the body behind `> `, the id alone on a line below.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::session::model::{Callout, Decision, Error, Item, Link, Subagent, SubagentMode, User};
use crate::session::{escape, time};

/// Words of a person longer than this (bytes) stand in a closed callout, complete.
const FOLDED_WORDS: usize = 4_000;

/// Any item that is a callout; `""` for the others.
pub fn callout(item: &Item, day: Option<Date>) -> String {
    match item {
        Item::Decision(it) => shell(&it.callout, "decision", &it.callout.title, &decision(it)),
        Item::Error(it) => shell(&it.callout, "error", &it.callout.title, &error(it)),
        Item::User(it) => user(it),
        Item::Subagent(it) => subagent(it, day),
        Item::Callout(it) => shell(it, &it.kind, &it.title, &at(escape::prose(&it.body), it.at)),
        Item::Step(_) | Item::Tasks(_) | Item::Prose(_) => String::new(),
    }
}

/// Title line, body (ready markdown), id.
fn shell(callout: &Callout, kind: &str, title: &str, body: &str) -> String {
    let fold = match callout.folded {
        Some(true) => "-",
        Some(false) => "+",
        None => "",
    };
    let title = escape::inline(title);
    let mut out = format!("> [!{kind}]{fold}{}{title}\n", if title.is_empty() { "" } else { " " });
    let body = body.trim_matches('\n');
    if !body.is_empty() {
        for line in body.split('\n') {
            let _ = writeln!(out, ">{}{line}", if line.is_empty() { "" } else { " " });
        }
    }
    if let Some(id) = &callout.id {
        let _ = write!(out, "\n^{id}\n");
    }
    out
}

fn decision(it: &Decision) -> String {
    let mut body = escape::prose(&it.text);
    field(&mut body, "Why", it.why.as_deref(), &[]);
    field(&mut body, "Rejected", it.rejected.as_deref(), &[]);
    field(&mut body, "Impact", it.impact.as_deref(), &[]);
    links(&mut body, "Rests on", &it.rests_on);
    at(body, it.callout.at)
}

fn error(it: &Error) -> String {
    let mut body = escape::prose(&it.text);
    links(&mut body, "Step", &it.steps);
    for resolution in it.resolution.iter().flat_map(|text| text.lines()) {
        field(&mut body, "Resolution", Some(resolution), &it.resolved_by);
    }
    at(body, it.callout.at)
}

fn user(it: &User) -> String {
    let mut callout = it.callout.clone();
    if callout.folded.is_none() && it.words.len() > FOLDED_WORDS {
        callout.folded = Some(true);
    }
    let title = if it.correction && callout.title.is_empty() { "Correction" } else { &it.callout.title };
    let body = escape::quoted(&it.words, it.interpretation.as_deref());
    shell(&callout, "user", title, &body)
}

fn subagent(it: &Subagent, day: Option<Date>) -> String {
    let mut title = it.agent.as_ref().map(|agent| format!("@{agent}")).unwrap_or_default();
    if let Some(model) = &it.model {
        let _ = write!(title, " ({model})");
    }
    let mode = match it.mode {
        SubagentMode::Inline => "inline",
        SubagentMode::Link => "link",
        SubagentMode::Embed => "embed",
    };
    let mut body = format!("mode: {mode}");
    if let Some(link) = &it.link {
        let _ = write!(body, "\n{}", Link { embed: it.mode == SubagentMode::Embed, ..link.clone() });
    }
    field(&mut body, "Task", it.task.as_deref(), &[]);
    field(&mut body, "Summary", it.summary.as_deref(), &[]);
    field(&mut body, "Tokens", it.callout.field("Tokens"), &[]);
    let mut body = at(body, it.callout.at);
    if !it.items.is_empty() {
        let _ = write!(body, "\n\n{}", super::items(&it.items, day).trim_end_matches('\n'));
    }
    let shown = shell(&it.callout, "subagent", "", &body);
    // Agent and model are our own words: `@` opens nothing here and must not be escaped.
    shown.replacen('\n', &format!("{}{title}\n", if title.is_empty() { "" } else { " " }), 1)
}

/// Adds `Name: value` on one line; the links among `own` stay links, everything else is escaped.
fn field(body: &mut String, name: &str, value: Option<&str>, own: &[Link]) {
    let Some(value) = value.filter(|value| !value.trim().is_empty()) else { return };
    line(body, &format!("{name}: {}", keep_links(value, own)));
}

fn keep_links(value: &str, own: &[Link]) -> String {
    for link in own {
        let shown = link.to_string();
        if let Some((before, after)) = value.split_once(&shown) {
            let gap = |text: &str| if text.is_empty() { "" } else { " " };
            let (start, end) = (keep_links(before, own), keep_links(after, own));
            let left = if before.ends_with(char::is_whitespace) { gap(&start) } else { "" };
            let right = if after.starts_with(char::is_whitespace) { gap(&end) } else { "" };
            return format!("{start}{left}{shown}{right}{end}");
        }
    }
    escape::inline(value)
}

fn links(body: &mut String, name: &str, links: &[Link]) {
    if !links.is_empty() {
        let shown: Vec<_> = links.iter().map(ToString::to_string).collect();
        line(body, &format!("{name}: {}", shown.join(", ")));
    }
}

fn at(mut body: String, at: Option<Timestamp>) -> String {
    if let Some(at) = at {
        line(&mut body, &format!("At: {}", time::format(at)));
    }
    body
}

fn line(body: &mut String, text: &str) {
    if !body.is_empty() {
        body.push('\n');
    }
    body.push_str(text);
}
