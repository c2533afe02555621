//! `why`, `stale`, `context` and `bookmark`: the commands of these names, as their people see them.

use std::path::{Component, Path};

use super::{Answer, Arguments, Caller};
use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::commands::Reach;
use crate::commands::ask::{option, words};
use crate::commands::mcp::reference::Reference;

pub(super) fn why(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let file = inside(arguments.needed("file")?)?;
    let lines = arguments.text("lines")?.map(|lines| format!(":{lines}")).unwrap_or_default();
    let mut line = words(&["why", "--"]);
    line.push(format!("{file}{lines}"));
    told(&line, arguments, caller)
}

pub(super) fn stale(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let mut line = words(&["stale"]);
    option(&mut line, "project", arguments.text("project")?.or(Some(".")).filter(|project| *project != "*"));
    told(&line, arguments, caller)
}

pub(super) fn context(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let mut line = words(&["context"]);
    option(&mut line, "budget", Some(&arguments.budget()?.to_string()));
    line.push("--".to_owned());
    for file in arguments.texts("files")? {
        line.push(inside(file)?.to_owned());
    }
    told(&line, arguments, caller)
}

pub(super) fn bookmark(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let Reference { session, block } = Reference::parse(arguments.needed("ref")?)?;
    let block = block.ok_or_else(|| {
        Error::usage("a bookmark leads to a block of a session").with_hint("`ref` is `session#^n-014`")
    })?;
    let mut line = words(&["bookmark", "--"]);
    line.extend([arguments.needed("name")?.to_owned(), format!("{session}#{block}")]);
    told(&line, arguments, caller)
}

/// What a command prints, or that it has nothing to say.
fn told(line: &[String], arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let text = caller.text(line, Reach::Shared)?;
    if text.trim().is_empty() {
        return Ok(Answer::default().fact("found", "nothing"));
    }
    Ok(Answer { text: Some(text), skipped: arguments.cursor()?, ..Answer::default() })
}

/// A path of the working folder, or an error: the vault's server shows no other files.
fn inside(path: &str) -> Result<&str> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if Path::new(path).components().all(is_plain) && !path.trim().is_empty() {
        return Ok(path);
    }
    Err(Error::usage(format!("`{}` is no path below the working folder", sanitise(path))))
}
