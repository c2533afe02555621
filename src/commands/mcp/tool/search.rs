//! `search`: `cru search`, a row for each hit.

use serde_json::{Value, json};

use super::{Answer, Arguments, Caller, list, minute, project, text};
use crate::base::Result;
use crate::commands::Reach;
use crate::commands::ask::words;
use crate::commands::mcp::reference::Reference;
use crate::index::Query;

/// Hits that are given where the caller does not say how many, and the most.
const USUAL: u64 = 8;
const MOST: u64 = 50;

pub(super) fn call(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let asked = arguments.needed("query")?;
    // Errors show the query as the caller wrote it.
    Query::parse(asked, &caller.env.now().to_zoned(jiff::tz::TimeZone::UTC))
        .map_err(|error| error.into_usage(asked))?;
    let named = arguments.text("project")?;
    let (limit, skipped) = (arguments.limit(USUAL, MOST)?, arguments.cursor()?);
    let ask = |project: Option<&str>| -> Result<Value> {
        let mut query = vec![format!("({asked})")];
        query.extend(arguments.text("kind")?.map(|kind| format!("kind:{}", quoted(kind))));
        query.extend(arguments.text("since")?.map(|since| format!("after:{}", quoted(since))));
        query.extend(project.map(|project| format!("project~{}", quoted(project))));
        let mut line = words(&["search"]);
        line.push(format!("--limit={}", skipped + limit + 1));
        line.extend(["--".to_owned(), query.join(" ")]);
        caller.value(&line, Reach::Earlier)
    };
    let here = project(named, caller.env);
    let mut found = ask(here.as_deref())?;
    let mut answer = Answer { skipped, ..Answer::default() };
    if named.is_none() && here.is_some() && list(&found, "hits").is_empty() {
        found = ask(None)?;
        if !list(&found, "hits").is_empty() {
            answer = answer.fact("project", "nothing in this project; hits of all projects");
        }
    }
    let hits = list(&found, "hits");
    answer.more = hits.len() > skipped + limit;
    answer = answer
        .fact("total", found.get("total").cloned().unwrap_or_default())
        .fact("sessions", found.get("sessions").cloned().unwrap_or_default());
    if let Some(matched) = text(&found, "match").filter(|matched| *matched != "all") {
        answer = answer.fact("match", matched);
    }
    let shown = hits.iter().skip(skipped).take(limit);
    answer.add("hits", shown.map(row).collect());
    Ok(answer)
}

fn row(hit: &Value) -> Value {
    json!({
        "ref": Reference::of(text(hit, "session").unwrap_or_default(), text(hit, "block")),
        "kind": text(hit, "kind"),
        "when": minute(hit, "time"),
        "agent": text(hit, "agent"),
        "text": text(hit, "text").or_else(|| text(hit, "title")),
    })
}

/// A value of a query: it holds blanks, and no quote ends it.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace(['"', '\\'], " "))
}
