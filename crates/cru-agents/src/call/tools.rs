//! Tool calls and their answers, for agents whose tools have the usual names and arguments.
//!
//! The kind of a tool says which files its success proves to be read or written, and what its answer comes to in a few
//! words. A tool that the table does not know proves nothing.

use std::borrow::Cow;

use serde_json::Value;

use super::open::{Calls, OpenCall};
use super::touched::{Exchange, TouchedFiles};
use super::{argument, brief, patch, shell};
use crate::file::value::filled;
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_action::ToolKind;
use cru_action::tool::{Role, shared_argument};
use cru_base::text::{plural, thousands};
use cru_session::FileRef;
use cru_session::event::{Attachment, Call, CallResult, EventKind, SubagentRun};

/// Tells a call and keeps of it what its answer needs; the id that events know it by.
pub(crate) fn call(
    calls: &mut Calls,
    place: &Place,
    host_id: &str,
    tool: &str,
    input: Value,
    out: &mut Out<'_>,
) -> String {
    let args = telling(tool, &input, place);
    call_as(calls, place, [host_id, ""], tool, (args, input), out)
}

/// The same of a call that the record `made_by` made, and whose main argument its host shows in its own way.
pub(crate) fn call_as(
    calls: &mut Calls,
    place: &Place,
    [host_id, made_by]: [&str; 2],
    tool: &str,
    (args, input): (String, Value),
    out: &mut Out<'_>,
) -> String {
    let id = calls.name(host_id, out.record);
    let tool = if tool.trim().is_empty() { "tool" } else { tool };
    let mut open = OpenCall::new(id.clone(), host_id, tool, made_by);
    match ToolKind::of_call(tool, &input) {
        ToolKind::Shell => open.effects = shell::effects(tool, &input, place),
        ToolKind::Patch => open.input = Some(input.clone()),
        _ => {
            open.path = argument::path(tool, &input).map(str::to_owned);
            open.input = Some(input.clone()).filter(|input| input.to_string().len() < KEPT);
        }
    }
    calls.open(open);
    let told = id.clone();
    out.emit(EventKind::Call(Call { id: id.into(), tool: tool.to_owned().into(), args: args.into(), input }));
    told
}

/// Tells a line for the shell that a person ran in the host, and what came of it.
pub(crate) fn shell_line(calls: &mut Calls, line: &str, result: CallResult<'_>, out: &mut Out<'_>) {
    let id = calls.name("shell", out.record);
    let input = serde_json::json!({ "command": line });
    // The name says that no agent called it.
    out.emit(EventKind::Call(Call { id: id.as_str().into(), tool: "Shell".into(), args: line.into(), input }));
    out.emit(EventKind::Result(CallResult { call: id.into(), ..result }));
}

/// Arguments up to this size are kept for the answer.
const KEPT: usize = 1 << 20;

/// What an answer says.
#[derive(Debug, Default)]
pub(crate) struct Answer<'a> {
    /// Its text.
    pub(crate) output: Cow<'a, str>,
    /// What it comes to in a few words, where the agent's own importer knows better.
    pub(crate) brief: Option<Cow<'a, str>>,
    /// What it changed, as a diff, where the record has it.
    pub(crate) diff: &'a str,
    /// Whether the record says that it failed.
    pub(crate) failed: bool,
    /// Whether a person or the host's permissions refused it.
    pub(crate) denied: bool,
    /// Why the host's permissions did, in the host's words; `None` where a person did.
    pub(crate) denial: Option<Cow<'a, str>>,
    /// Exit code.
    pub(crate) exit: Option<i32>,
    /// How long it took.
    pub(crate) duration_ms: Option<u64>,
    /// Pictures in it.
    pub(crate) attachments: Vec<Attachment<'a>>,
    /// The sub-agent that it was.
    pub(crate) subagent: Option<SubagentRun<'a>>,
    /// The files that its success proves to be read and written, where the agent's own importer knows better.
    pub(crate) touched: Option<TouchedFiles>,
    /// Paths that it names as what it changes, where the host tells behind it what changed.
    pub(crate) named: Vec<String>,
}

/// Tells the answer of a call.
pub(crate) fn answer(call: &OpenCall, answer: Answer<'_>, place: &Place, out: &mut Out<'_>) {
    let Answer { brief: known, touched, .. } = answer;
    let Answer { output, diff, failed, denied, denial, exit, duration_ms, attachments, subagent, .. } = answer;
    let none = Value::Null;
    let input = call.input.as_ref().unwrap_or(&none);
    let good = !failed && !denied;
    let told = || if good && attachments.is_empty() { summary(&call.tool, input, &output, diff) } else { None };
    let touched = touched.filter(|_| good).unwrap_or_else(|| {
        let mut touched = if good { files(call, input, &output, place) } else { TouchedFiles::default() };
        // Whatever is told in other words than the file's was not read.
        touched.reads.retain(|_| known.is_none());
        touched
    });
    let brief = known.or_else(|| told().map(Cow::Owned));
    out.emit(EventKind::Result(CallResult {
        call: Cow::Borrowed(&call.id),
        output,
        brief,
        failed,
        denied,
        denial,
        exit,
        duration_ms,
        subagent,
        attachments,
        ..touched.into()
    }));
}

/// Files that the success of a call proves to be read and written.
pub(crate) fn files(call: &OpenCall, input: &Value, output: &str, place: &Place) -> TouchedFiles {
    let mut touched = TouchedFiles::default();
    let named = || call.path.as_deref().map(|path| place.show(path).into_owned());
    match ToolKind::of_call(&call.tool, input) {
        // A folder is looked at in the same way, but by tools that are called after files.
        ToolKind::Read => {
            let of_files = call.tool.to_lowercase().contains("file");
            let path = named().filter(|path| of_files || is_file(path));
            touched.reads.extend(path.map(|path| FileRef { path, ..FileRef::default() }));
        }
        ToolKind::Write | ToolKind::Edit => {
            if let Some(path) = named() {
                exchange(&call.tool, input, FileRef { path, ..FileRef::default() }, &mut touched);
            }
        }
        ToolKind::Patch => patch::written(&argument::patched(&call.tool, input, place), &mut touched),
        ToolKind::Delete => {
            touched.writes.extend(named().map(|path| FileRef { path, deleted: true, ..FileRef::default() }));
        }
        _ => shell::touched(&call.effects, output, &mut touched),
    }
    touched
}

/// What an edit or a write says of the text of its file: the diff that the host made of it, else its arguments.
pub(crate) fn wrote(tool: &str, input: &Value, file: FileRef, diff: &str, touched: &mut TouchedFiles) {
    match cru_action::patch::read_diff(diff).into_iter().next() {
        Some(change) if !change.hunks.is_empty() => touched.wrote(file, &change.hunks),
        _ => exchange(tool, input, file, touched),
    }
}

/// What the arguments of an edit or a write say of the text of its file.
pub(crate) fn exchange(tool: &str, input: &Value, file: FileRef, touched: &mut TouchedFiles) {
    // A sketch of a file is not its text.
    let is_sketch = input.get("code_edit").is_some();
    let found = input.as_object().filter(|_| !is_sketch).map(|input| cru_action::patch::of_call(tool, input));
    let exchanges: Vec<Exchange<'_>> = (found.as_deref().unwrap_or_default().iter())
        .map(|change| Exchange { old: change.removed().collect(), new: change.added().collect() })
        .collect();
    match &exchanges[..] {
        [Exchange { old, new }] if old.is_empty() && ToolKind::of_call(tool, input) == ToolKind::Write => {
            touched.wrote_text(file, &new.join("\n"));
        }
        exchanges => touched.replaced(file, exchanges),
    }
}

/// Whether the last part of a path has an ending.
fn is_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains('.') && name != "." && name != "..")
}

/// The main argument of a call, in full; paths as a note writes them.
pub(crate) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    use ToolKind::{Delete, Edit, Patch, Plan, Read, Search, Shell, Task, Write};
    if let Some(main) = argument::main(tool, input, place) {
        return main;
    }
    let kind = ToolKind::of_call(tool, input);
    // These hosts have tools of which nobody knows, with a word on what they are for.
    let known = matches!(kind, Shell | Read | Write | Edit | Delete | Patch | Search | Task | Plan);
    let words = input.as_object().and_then(|input| shared_argument(input, Role::Query)).and_then(Value::as_str);
    let said = words.filter(|_| !known);
    said.map_or_else(|| argument::telling(tool, input, place), str::to_owned)
}

/// What a successful answer comes to; `None` leaves it to the output's first words.
fn summary(tool: &str, input: &Value, output: &str, diff: &str) -> Option<String> {
    match ToolKind::of_call(tool, input) {
        ToolKind::Shell => output.trim().is_empty().then(|| "no output".to_owned()),
        ToolKind::Read => {
            let lines = output.lines().count() as u64;
            (lines > 1).then(|| plural(lines, "line"))
        }
        ToolKind::Write => {
            let whole = filled(input, ["file_text", "content", "contents", "code_edit"]);
            whole.map(|text| format!("written, {}", plural(text.lines().count() as u64, "line")))
        }
        ToolKind::Edit => brief::change(diff).or_else(|| replaced(input)).or_else(|| Some("changed".to_owned())),
        ToolKind::Patch => patch::brief(&argument::patched(tool, input, &Place::default())),
        ToolKind::Delete => Some("deleted".to_owned()),
        ToolKind::Search => listed(output),
        _ => None,
    }
}

/// `+3 −1` for a text that takes the place of another.
fn replaced(input: &Value) -> Option<String> {
    let get = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str());
    let old = get(&["old_str", "old_string", "oldText"])?;
    let new = get(&["new_str", "new_string", "newText"])?;
    Some(brief::exchange(old, new))
}

/// `12 lines` for an answer of one line each.
fn listed(output: &str) -> Option<String> {
    let text = output.trim();
    if text.is_empty() || text.starts_with("No ") || text.contains("\n\n") {
        return None;
    }
    let count = text.lines().count() as u64;
    (count > 1).then(|| format!("{} lines", thousands(count)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_that_nobody_knows_say_what_they_are_for() {
        let place = Place::default();
        let told = |tool, input: Value| telling(tool, &input, &place);
        assert_eq!(told("look_around", json!({"description": "look around", "prompt": "…"})), "look around");
        assert_eq!(told("github-search", json!({"q": 1})), r#"{"q":1}"#);
        assert_eq!(told("bash", json!(["odd"])), "");
    }

    #[test]
    fn figures() {
        let of = |tool, input: Value, output: &str| summary(tool, &input, output, "");
        assert_eq!(of("bash", json!({}), " \n").as_deref(), Some("no output"));
        assert_eq!(of("view", json!({}), "1. a\n2. b").as_deref(), Some("2 lines"));
        assert_eq!(of("create", json!({"file_text": "a\nb\n"}), "ok").as_deref(), Some("written, 2 lines"));
        assert_eq!(of("edit", json!({"old_str": "a\nb\nc", "new_str": "a\nx\ny\nc"}), "").as_deref(), Some("+2 −1"));
        assert_eq!(of("edit", json!({}), "").as_deref(), Some("changed"));
        assert_eq!(of("rg", json!({}), "a\nb").as_deref(), Some("2 lines"));
    }
}
