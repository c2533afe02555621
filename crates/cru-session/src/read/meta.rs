//! Frontmatter, typed.

use jiff::Timestamp;

use crate::model::{Agent, Meta, Status, SubagentRef};
use crate::render::KEYS;
use crate::time;
use cru_base::{Diagnostic, Span};
use cru_note::frontmatter::{self, Split, Value, Values};

use super::link;

pub(super) fn read(text: &str, split: &Split, diagnostics: &mut Vec<Diagnostic>) -> (Values, Meta) {
    let Some(bounds) = &split.block else { return Default::default() };
    let (values, odd) = frontmatter::read(text, bounds);
    diagnostics.extend(odd);
    let string = |key: &str| values.string(key).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let mut bad = |key: &str, what: &str, help: &'static str| {
        let span = values.span(key);
        diagnostics.push(Diagnostic::warning("bad-value", span, format!("`{key}` {what}")).help(help));
    };
    let mut instant = |key: &str| -> Option<Timestamp> {
        let text = string(key)?;
        let read = time::parse(&text);
        if read.is_none() {
            bad(key, "is no time", "write it as 2026-11-20T09:31:04Z");
        }
        read
    };
    let (started, ended) = (instant("started"), instant("ended"));
    let mut number = |key: &str| {
        let read = values.u64(key);
        if read.is_none() && values.get(key).is_some_and(|value| *value != Value::Null) {
            bad(key, "is no whole number", "write digits alone");
        }
        read
    };
    let tokens_used = number("tokens_used");
    let links = |key: &str| values.string(key).and_then(link::first);
    let status = string("status").map(|word| Status::parse(&word));
    let channel = string("channel").map(|channel| channel.trim_start_matches('#').to_owned());
    let list = |key: &str| values.strings(key).into_iter().map(str::trim).filter(|text| !text.is_empty());
    let meta = Meta {
        kind: string("type"),
        session_id: string("session_id"),
        title: string("title"),
        aliases: list("aliases").map(str::to_owned).collect(),
        date: string("date"),
        started,
        ended,
        status,
        channel,
        participants: list("participants").map(Agent::parse).collect(),
        model: string("model"),
        tokens_used,
        cost_usd: values.f64("cost_usd"),
        project: string("project"),
        project_note: links("project_note"),
        branch: string("branch"),
        commit: string("commit"),
        host: string("host"),
        host_version: string("host_version"),
        host_session: string("host_session"),
        transcript: string("transcript"),
        parent: links("parent").or_else(|| string("parent").map(crate::Link::to_note)),
        resume_point: string("resume_point").map(|id| id.trim_start_matches('^').to_owned()),
        open: list("open").map(str::to_owned).collect(),
        subagents: values.get("subagents").map(subagents).unwrap_or_default(),
        tags: values.tags(),
        detail: string("cru_detail"),
        cursor: string("cru_cursor"),
        export: values.export(),
        extra: values
            .entries()
            .iter()
            .filter(|entry| !KEYS.contains(&entry.key.as_str()))
            .map(|entry| (entry.key.clone(), entry.value.line()))
            .collect(),
        more: frontmatter::Mapping::default(),
    };
    // Notes of another type have words of their own.
    let session = meta.kind.is_none() || meta.is_session();
    if let Some(Status::Other(word)) = meta.status.as_ref().filter(|_| session) {
        let message = format!("unknown status `{word}`");
        diagnostics.push(
            Diagnostic::warning("unknown-status", values.span("status"), message)
                .help("active, paused, completed, failed or abandoned"),
        );
    }
    (values, meta)
}

fn subagents(value: &Value) -> Vec<SubagentRef> {
    let rows = value.as_list().unwrap_or_default();
    let row = |value: &Value| {
        let Some(map) = value.as_map() else {
            // A plain name or link stands for a row.
            let text = value.text()?;
            let session = link::first(text).map_or_else(|| text.to_owned(), |link| link.target);
            return Some(SubagentRef { session, ..SubagentRef::default() });
        };
        let text = |key: &str| map.get(key).and_then(Value::text).filter(|text| !text.is_empty());
        let session = text("session")?;
        Some(SubagentRef {
            session: link::first(session).map_or_else(|| session.to_owned(), |link| link.target),
            agent: text("agent").map(Agent::parse),
            model: text("model").map(str::to_owned),
            tokens: map.get("tokens").and_then(Value::as_u64),
        })
    };
    rows.iter().filter_map(row).collect()
}

/// Where the frontmatter itself stands, for remarks about keys it lacks.
pub(super) fn place(split: &Split) -> Span {
    split.block.map_or_else(Span::default, |bounds| Span::new(bounds.span.start, bounds.span.start + 3))
}
