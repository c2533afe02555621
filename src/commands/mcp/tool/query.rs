//! `query`: `cru list KIND`, its rows as a table.

use serde_json::Value;

use super::{Answer, Arguments, Caller, list, project};
use crate::base::Result;
use crate::commands::Reach;
use crate::commands::ask::{option, words};

/// Rows that are given where the caller does not say how many, and the most.
const USUAL: u64 = 20;
const MOST: u64 = 200;

pub(super) fn call(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let kind = arguments.needed("kind")?;
    let (limit, skipped) = (arguments.limit(USUAL, MOST)?, arguments.cursor()?);
    let mut line = words(&["list"]);
    option(&mut line, "where", arguments.text("where")?);
    for (name, flag) in [("columns", "columns"), ("group_by", "by"), ("agg", "sum")] {
        let values = arguments.texts(name)?.join(",");
        option(&mut line, flag, Some(values.as_str()).filter(|values| !values.is_empty()));
    }
    option(&mut line, "sort", arguments.text("sort")?);
    option(&mut line, "since", arguments.text("since")?);
    // Rows are of all projects unless one is named: who adds up wants all.
    let named = arguments.text("project")?;
    option(&mut line, "project", named.and_then(|named| project(Some(named), caller.env)).as_deref());
    if arguments.is("reverse") {
        line.push("--reverse".to_owned());
    }
    line.push(format!("--limit={}", skipped + limit + 1));
    line.extend(["--".to_owned(), kind.to_owned()]);
    let found = caller.value(&line, Reach::Shared)?;
    let rows = list(&found, "rows");
    let mut answer = Answer { skipped, more: rows.len() > skipped + limit, ..Answer::default() }
        .fact("total", found.get("total").cloned().unwrap_or(Value::Null));
    answer.add("rows", rows.into_iter().skip(skipped).take(limit).collect());
    Ok(answer)
}
