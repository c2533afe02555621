//! Callouts: the title line, the body behind `> `, the id alone on a line below.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::callout::{CONTINUED, fields};
use crate::model::{Callout, Decision, Error, Item, Link, Subagent, SubagentMode, User};
use crate::{escape, field, time};

use super::label;

/// Words of a person longer than this (characters) stand in a closed callout, complete.
const FOLDED_WORDS: usize = 4_000;

/// Any item that is a callout; `""` for the others.
pub fn callout(item: &Item, day: Option<Date>) -> String {
    match item {
        Item::Decision(it) => shell(&it.callout, "decision", &it.callout.title, &decision(it)),
        Item::Error(it) => shell(&it.callout, "error", &it.callout.title, &error(it)),
        Item::User(it) => user(it),
        Item::Subagent(it) => subagent(it, day),
        Item::Callout(it) => shell(it, &label::kind(&it.kind), &it.title, &other(it)),
        Item::Step(_) | Item::Tasks(_) | Item::Prose(_) => String::new(),
    }
}

/// Title line, body (ready markdown), id.
fn shell(callout: &Callout, kind: &str, title: &str, body: &str) -> String {
    let title = escape::inline(title);
    let fold = match callout.folded {
        Some(true) => "-",
        Some(false) => "+",
        None => "",
    };
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
    let names = fields("decision");
    let mut body = field::text(&it.text, names, &[]);
    for (name, value) in [("Why", &it.why), ("Rejected", &it.rejected), ("Impact", &it.impact)] {
        line(&mut body, &field::line(name, value.as_deref().unwrap_or_default(), names, &[]));
    }
    links(&mut body, "Rests on", &it.rests_on);
    at(body, it.callout.at)
}

fn error(it: &Error) -> String {
    let names = fields("error");
    let (said, named): (Vec<_>, Vec<_>) =
        it.steps.iter().cloned().partition(|link| it.text.contains(&link.to_string()));
    let mut body = field::text(&it.text, names, &shown(&said));
    links(&mut body, "Step", &named);
    let keep = shown(&it.resolved_by);
    let mut resolution = it.resolution.clone().unwrap_or_default();
    for link in keep.iter().filter(|link| !resolution.contains(*link)).cloned().collect::<Vec<_>>() {
        // A link that the words do not name stands behind them.
        let _ = write!(resolution, "{}{link}", if resolution.is_empty() { "" } else { " " });
    }
    line(&mut body, &field::line("Resolution", &resolution, names, &keep));
    at(body, it.callout.at)
}

fn user(it: &User) -> String {
    let mut callout = it.callout.clone();
    if callout.folded.is_none() && it.words.chars().nth(FOLDED_WORDS).is_some() {
        callout.folded = Some(true);
    }
    // What was done about the words says it, too.
    let untitled = it.correction && callout.title.is_empty() && it.interpretation.is_none();
    let title = if untitled { "Correction" } else { &it.callout.title };
    let body = escape::quoted(&it.words, it.interpretation.as_deref());
    // What stands behind a person's words must not become a part of them.
    let time = it.callout.at.map(|at| format!("{}At: {}", if body.is_empty() { "" } else { "\n" }, time::format(at)));
    shell(&callout, "user", title, &format!("{body}{}", time.unwrap_or_default()))
}

/// A callout without fields of its own: its body holds them.
fn other(it: &Callout) -> String {
    // These are nothing but their link.
    let link = it.body.trim().strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    let is_kind = it.kind == "bookmark" || (it.kind == "context" && it.title == CONTINUED);
    let is_link = is_kind && link.is_some_and(|inner| !inner.contains(['[', ']', '\n']));
    let keep = if is_link { vec![it.body.trim().to_owned()] } else { Vec::new() };
    let body = field::text(&it.body, None, &keep);
    let has_time = field::split(&body, None).fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("at"));
    at(body, it.at.filter(|_| !has_time))
}

fn subagent(it: &Subagent, day: Option<Date>) -> String {
    let names = fields("subagent");
    let mut title = it.agent.as_ref().map(|agent| format!("@{}", label::agent(agent))).unwrap_or_default();
    if let Some(model) = it.model.as_deref().map(str::trim).filter(|model| !model.is_empty()) {
        let _ = write!(title, "{}({model})", if title.is_empty() { "" } else { " " });
    }
    if title.is_empty() {
        title.clone_from(&it.callout.title);
    }
    let mode = match it.mode {
        SubagentMode::Inline => "inline",
        SubagentMode::Link => "link",
        SubagentMode::Embed => "embed",
    };
    let mut body = format!("mode: {mode}");
    if let Some(link) = it.link.as_ref().filter(|_| it.mode != SubagentMode::Inline) {
        line(&mut body, &Link { embed: it.mode == SubagentMode::Embed, ..link.clone() }.to_string());
    }
    let [tokens, step] = ["Tokens", "Step"].map(|name| it.callout.field(name));
    let (task, summary) = (it.task.as_deref(), it.summary.as_deref());
    for (name, value) in [("Task", task), ("Summary", summary), ("Tokens", tokens), ("Step", step)] {
        line(&mut body, &field::line(name, value.unwrap_or_default(), names, &[]));
    }
    let mut body = at(body, it.callout.at);
    if it.mode == SubagentMode::Inline && !it.items.is_empty() {
        let _ = write!(body, "\n\n{}", super::inner(&it.items, day).trim_end_matches('\n'));
    }
    shell(&it.callout, "subagent", &title, &body)
}

fn shown(links: &[Link]) -> Vec<String> {
    links.iter().map(ToString::to_string).collect()
}

fn links(body: &mut String, name: &str, links: &[Link]) {
    if !links.is_empty() {
        line(body, &format!("{name}: {}", shown(links).join(", ")));
    }
}

fn at(mut body: String, at: Option<Timestamp>) -> String {
    if let Some(at) = at {
        line(&mut body, &format!("At: {}", time::format(at)));
    }
    body
}

fn line(body: &mut String, text: &str) {
    if !body.is_empty() && !text.is_empty() {
        // Two blanks keep the lines apart in every renderer.
        body.push_str(if body.ends_with('\n') { "" } else { "  \n" });
    }
    body.push_str(text);
}
