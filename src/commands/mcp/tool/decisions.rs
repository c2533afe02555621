//! `decisions`: `cru list decisions`, a row for each.

use std::path::Path;

use serde_json::{Value, json};

use super::{Answer, Arguments, Caller, list, minute, project, text};
use crate::base::Result;
use crate::commands::Reach;
use crate::commands::ask::{option, words};
use crate::commands::mcp::reference::Reference;

/// Decisions of one answer.
const MOST: usize = 30;

/// What is told of each.
const COLUMNS: &str = "--columns=session,id,time,title,text,why,rejected";

pub(super) fn call(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let project = project(arguments.text("project")?, caller.env);
    let (file, since) = (arguments.text("file")?, arguments.text("since")?);
    decided(project.as_deref(), file, since, arguments.cursor()?, caller)
}

/// Decisions of a project that name a file, from a time on.
pub(in crate::commands::mcp) fn decided(
    project: Option<&str>,
    file: Option<&str>,
    since: Option<&str>,
    skipped: usize,
    caller: &Caller<'_>,
) -> Result<Answer> {
    let mut line = words(&["list", "decisions", "--sort=time", "--reverse", COLUMNS]);
    // Notes name a file as they like, from some folder on: its name is what they share.
    let name = file.map(|file| Path::new(file).file_name().map_or(file, |name| name.to_str().unwrap_or(file)));
    option(&mut line, "grep", name);
    option(&mut line, "since", since);
    option(&mut line, "project", project);
    line.push(format!("--limit={}", skipped + MOST + 1));
    let found = caller.value(&line, Reach::Shared)?;
    let rows = list(&found, "rows");
    let mut answer = Answer { skipped, more: rows.len() > skipped + MOST, ..Answer::default() }
        .fact("total", found.get("total").cloned().unwrap_or(Value::Null));
    answer.add("decisions", rows.iter().skip(skipped).take(MOST).map(row).collect());
    Ok(answer)
}

fn row(made: &Value) -> Value {
    json!({
        "ref": Reference::of(text(made, "session").unwrap_or_default(), text(made, "id")),
        "when": minute(made, "time"),
        "title": text(made, "title"),
        "why": text(made, "why").or_else(|| text(made, "text")),
        "rejected": text(made, "rejected"),
    })
}
