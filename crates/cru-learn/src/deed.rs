//! What a call does, as far as its arguments tell: the command it runs, and the lines that it takes out of a file and puts
//! into it.
//!
//! Programs name their arguments differently; only names that several of them share are known here. A call of another
//! shape does nothing that could be judged.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::argument::{COMMANDS, FILES, NEW, OLD};
use super::entry::{Entry, Told};
use super::patch::{self, Line};
use cru_action::{Action, ToolKind};
use cru_session::attempt::{Attempt, is_shell};

/// What an edit does to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change<'a> {
    /// The file; empty where the call does not say it.
    pub(super) path: &'a str,
    /// The lines it replaces, and in a patch those around them.
    pub(super) old: Vec<&'a str>,
    /// The lines that stand there after it.
    pub(super) new: Vec<&'a str>,
}

/// The command that a call runs; a list of words as one line.
pub(super) fn command(arguments: &Map<String, Value>) -> Option<String> {
    let value = COMMANDS.iter().find_map(|name| arguments.get(*name))?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            // `bash -lc "…"`: the command is the last of them.
            let script = words.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
            Some(script.and_then(|at| words.get(at + 1)).map_or_else(|| words.join(" "), |text| (*text).to_owned()))
        }
        _ => None,
    }
}

/// The command that a step runs, as far as it is known.
pub(super) fn command_of(entry: &Entry) -> Option<String> {
    if let Some(call) = entry.whole() {
        return command(&call.arguments);
    }
    let (tool, text) = line_of(entry)?;
    // The whole of it stands in a fence below its line where that is too short for it.
    let fenced = text.split_once('\n').map(|(_, fence)| fence.trim_matches(['`', '\n']).to_owned());
    is_shell(tool).then(|| fenced.unwrap_or_else(|| text.trim_end_matches('`').to_owned()))
}

/// The tool of a step.
pub(super) fn tool(entry: &Entry) -> Option<&str> {
    entry.whole().map(|call| call.name.as_str()).or_else(|| Some(line_of(entry)?.0))
}

/// What a step tried.
pub(super) fn attempt(entry: &Entry) -> Option<Attempt> {
    let command = command_of(entry).unwrap_or_default();
    match entry.whole() {
        Some(call) => Some(Attempt::of(&call.name, &command)),
        None => line_of(entry).map(|(tool, _)| Attempt::of(tool, &command)),
    }
}

/// Whether a step changes nothing, and so mends nothing.
pub(super) fn only_looks(entry: &Entry) -> bool {
    let command = command_of(entry).unwrap_or_default();
    tool(entry).is_some_and(|tool| looks(tool, &command))
}

/// The same of a tool and what it was given.
pub(super) fn looks(tool: &str, text: &str) -> bool {
    let action = Action::of(tool, text);
    match Attempt::of_action(&action, tool) {
        Attempt::Look => true,
        Attempt::Command(_) if action.kind == ToolKind::Shell => {
            action.commands.iter().all(|command| command.reads_only || command.is_named_look())
        }
        _ => false,
    }
}

/// Tool and arguments of a step as its line has them.
fn line_of(entry: &Entry) -> Option<(&str, &str)> {
    let Told::Step { call, .. } = &entry.told else { return None };
    let line = call.trim_start_matches('`').trim_start();
    Some(line.split_once(' ').unwrap_or((line.trim_end_matches('`'), "")))
}

/// What a call changes, file by file.
pub(super) fn changes(arguments: &Map<String, Value>) -> Vec<Change<'_>> {
    let mut changes = Vec::new();
    let path = FILES.iter().find_map(|name| arguments.get(*name)?.as_str()).unwrap_or_default();
    of_edit(path, arguments, &mut changes);
    for edit in arguments.get("edits").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
        of_edit(path, edit, &mut changes);
    }
    for value in arguments.values() {
        match value {
            Value::String(text) => of_patch(text, &mut changes),
            Value::Array(items) => items.iter().filter_map(Value::as_str).for_each(|text| of_patch(text, &mut changes)),
            _ => {}
        }
    }
    changes
}

fn of_edit<'a>(path: &'a str, arguments: &'a Map<String, Value>, changes: &mut Vec<Change<'a>>) {
    let mut change = Change { path, ..Change::default() };
    for (name, value) in arguments {
        let Some(text) = value.as_str().filter(|text| !patch::is_patch(text)) else { continue };
        if OLD.contains(&name.as_str()) {
            change.old.extend(text.lines());
        } else if NEW.contains(&name.as_str()) {
            change.new.extend(text.lines());
        }
    }
    if !change.old.is_empty() || !change.new.is_empty() {
        changes.push(change);
    }
}

fn of_patch<'a>(text: &'a str, changes: &mut Vec<Change<'a>>) {
    // Lines of a patch before its first file are none of a file.
    let mut change: Option<Change<'a>> = None;
    for line in patch::lines(text) {
        match (line, &mut change) {
            (Line::File(path) | Line::New(path), _) => {
                changes.extend(change.replace(Change { path, ..Change::default() }));
            }
            (Line::In(line), Some(change)) => change.new.push(line),
            (Line::Out(line), Some(change)) => change.old.push(line),
            (Line::Kept(line), Some(change)) => {
                change.old.push(line);
                change.new.push(line);
            }
            (Line::Break, _) | (_, None) => {}
        }
    }
    changes.extend(change);
}

impl<'a> Change<'a> {
    /// The lines that it puts in and that were not there, without those of a word or a bracket.
    pub(super) fn added(&self) -> Vec<&'a str> {
        only_in(&self.new, &self.old)
    }

    /// The lines that it takes out.
    pub(super) fn removed(&self) -> Vec<&'a str> {
        only_in(&self.old, &self.new)
    }
}

fn only_in<'a>(these: &[&'a str], those: &[&'a str]) -> Vec<&'a str> {
    let those: HashSet<&str> = those.iter().map(|line| line.trim()).collect();
    these.iter().map(|line| line.trim()).filter(|line| tells(line) && !those.contains(line)).collect()
}

/// Whether a line says enough to be known again.
pub(super) fn tells(line: &str) -> bool {
    line.trim().chars().filter(|c| c.is_alphanumeric()).count() >= 8
}

/// The file's name without its folders.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::entry;
    use cru_session::Step;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("an object") };
        map
    }

    #[test]
    fn commands_in_one_line() {
        assert_eq!(command(&object(json!({ "command": "make all" }))).as_deref(), Some("make all"));
        assert_eq!(command(&object(json!({ "cmd": ["bash", "-lc", "make all"] }))).as_deref(), Some("make all"));
        assert_eq!(command(&object(json!({ "command": ["make", "all"] }))).as_deref(), Some("make all"));
        assert_eq!(command(&object(json!({ "path": "a" }))), None);
    }

    #[test]
    fn looks_change_nothing() {
        let looks = |tool: &str, args: &str| {
            let step = Step { tool: tool.into(), args: args.into(), ..Step::default() };
            only_looks(&entry::of_step(&step, &str::to_owned))
        };
        assert!(looks("Bash", "pumpctl status --all && pumpctl list-valves | grep open && ls -l"));
        assert!(looks("Read", "pump.c"));
        assert!(!looks("Bash", "pumpctl start"));
        assert!(!looks("Bash", "pumpctl status; pumpctl start"));
        assert!(!looks("Edit", "pump.c"));
        assert!(!looks("Bash", "make test"));
    }

    #[test]
    fn lines_that_come_and_go() {
        let told = |value: Value| {
            let map = object(value);
            let lines = |change: &Change<'_>| {
                format!("{} +{} -{}", change.path, change.added().join("|"), change.removed().join("|"))
            };
            changes(&map).iter().map(lines).collect::<Vec<_>>()
        };
        let edit = json!({ "file_path": "a.c", "old_string": "int first;\n}", "new_string": "int second;\n}" });
        assert_eq!(told(edit), ["a.c +int second; -int first;"]);
        let edits =
            json!({ "path": "b.c", "edits": [{ "oldText": "int first;", "newText": "int first;\nint third;" }] });
        assert_eq!(told(edits), ["b.c +int third; -"]);
        let patch = "*** Begin Patch\n*** Update File: c.c\n@@\n int around;\n-int before;\n+int behind;\n*** Add File: d.c\n+int fourth;\n*** End Patch";
        let patched = ["c.c +int behind; -int before;", "d.c +int fourth; -"];
        assert_eq!(told(json!({ "input": patch })), patched);
        assert_eq!(told(json!({ "command": ["apply_patch", patch] })), patched);
        assert_eq!(told(json!({ "file_path": "e.c", "content": "int the_fifth;" })), ["e.c +int the_fifth; -"]);
        assert!(told(json!({ "pattern": "x", "path": "src" })).is_empty());
    }
}
