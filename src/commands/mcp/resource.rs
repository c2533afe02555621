//! Sessions, their blocks, and projects as resources: `cru://session/{id}`, `cru://session/{id}/{block}`,
//! `cru://project/{name}`.

use rmcp::model::{ListResourcesResult, Resource, ResourceTemplate};
use serde_json::Value;

use super::answer::{Answer, LARGEST_BUDGET};
use super::reference::{Reference, decoded};
use super::tool;
use crate::base::{Error, Result};
use crate::commands::Reach;
use crate::commands::ask::{Caller, option, words};

/// Sessions of one page of the list.
const PAGE: usize = 50;

/// The templates.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, what: &str| {
        ResourceTemplate::new(uri, name).with_description(what).with_mime_type("text/plain")
    };
    vec![
        template("cru://session/{id}", "session", "what is needed to go on with a session"),
        template("cru://session/{id}/{block}", "block", "a step, phase, decision or error of a session"),
        template("cru://project/{name}", "project", "decisions and sessions of a project"),
    ]
}

/// The newest sessions; `cursor` says how many were given before.
pub(super) fn list(cursor: Option<&str>, caller: &Caller<'_>) -> Result<ListResourcesResult> {
    let skipped: usize = cursor.map_or(Ok(0), str::parse).map_err(|_| Error::usage("this cursor was not given"))?;
    let mut line = words(&["list", "sessions", "--columns=id,title,status,started"]);
    line.push(format!("--limit={}", skipped.saturating_add(PAGE + 1)));
    let found = caller.value(&line, Reach::Shared)?;
    let rows = found.get("rows").and_then(Value::as_array).cloned().unwrap_or_default();
    let more = rows.len() > skipped + PAGE;
    let resource = |row: &Value| {
        let id = row.get("id")?.as_str()?;
        let title = row.get("title").and_then(Value::as_str).unwrap_or(id);
        let title = super::answer::framed_title(title);
        Some(Resource::new(format!("cru://session/{}", encoded(id)), id).with_title(title).with_mime_type("text/plain"))
    };
    let mut result =
        ListResourcesResult::with_all_items(rows.iter().skip(skipped).take(PAGE).filter_map(resource).collect());
    result.next_cursor = more.then(|| (skipped + PAGE).to_string());
    Ok(result)
}

/// What a resource holds.
pub(super) fn read(uri: &str, caller: &Caller<'_>) -> Result<Answer> {
    if let Some(name) = uri.strip_prefix("cru://project/") {
        return project(&decoded(name), caller);
    }
    if !uri.starts_with("cru://session/") {
        return Err(Error::usage("there is no such resource").with_hint("cru://session/{id} or cru://project/{name}"));
    }
    tool::read_one(&Reference::parse(uri)?, None, LARGEST_BUDGET, 0, caller)
}

/// Decisions and sessions of a project.
fn project(name: &str, caller: &Caller<'_>) -> Result<Answer> {
    let mut answer = tool::decided(Some(name), None, None, 0, caller)?;
    let mut line = words(&["list", "sessions", "--columns=id,title,status,started,steps", "--limit=20"]);
    option(&mut line, "project", Some(name));
    let found = caller.value(&line, Reach::Shared)?;
    answer.add("sessions", found.get("rows").and_then(Value::as_array).cloned().unwrap_or_default());
    if answer.rows.is_empty() {
        return Err(Error::no("no session of such a project"));
    }
    Ok(answer)
}

/// `a b` as `a%20b`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
