//! Hooks in a file of our own, in the host's language. The first line says whose it is.

use serde_json::json;

use super::{FoundHooks, Program, Refused};
use crate::commands::hooks::handler::Ours;
use crate::live::hook::Host;

/// What the first line begins with.
const MARK: &str = "// Written by `cru hooks install";

/// What the words of the command stand behind.
const CALL: &str = " = [";

/// A file of ours calls for all events.
pub(super) fn find(text: &str, host: &Host) -> Vec<FoundHooks> {
    let Some(program) = program(text) else { return Vec::new() };
    let found = |row: &crate::live::hook::Row| FoundHooks {
        name: row.name.to_owned(),
        ours: Ours::new(program.clone(), row.event.name(), host),
        group: 0,
        handler: 0,
    };
    host.installed.iter().map(found).collect()
}

/// The program that a file of ours calls.
fn program(text: &str) -> Option<Program> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.starts_with(MARK))?;
    let line = lines.find(|line| line.starts_with("const call") && line.contains(CALL))?;
    let list = &line[line.find(CALL)? + CALL.len() - 1..];
    let words: Vec<String> = serde_json::from_str(list).ok()?;
    let vault = words.iter().position(|word| word == "--vault").and_then(|at| words.get(at + 1)).cloned();
    Some(Program { path: words.first()?.clone(), vault })
}

/// Whether a file of ours holds anything but what was written: a call, in the text of this version.
pub(super) fn is_changed(text: &str, template: &str) -> bool {
    let Some((above, below)) = template.split_once("{call}") else { return false };
    let is_as_written = text
        .strip_prefix(above)
        .and_then(|rest| rest.strip_suffix(below))
        .is_some_and(|call| serde_json::from_str::<Vec<String>>(call).is_ok());
    text.starts_with(MARK) && !is_as_written
}

/// The file; one of somebody else is not replaced.
pub(super) fn install(text: &str, template: &str, host: &Host, program: &Program) -> Result<String, Refused> {
    if !text.trim().is_empty() && !text.starts_with(MARK) {
        return Err(Refused::at(text, 0, "this file was not written by cru"));
    }
    Ok(template.replace("{call}", &json!(program.words(host)).to_string()))
}
