//! Tool calls and their answers, for agents whose tools have the usual names and arguments.
//!
//! The kind of a tool says which argument tells most, which files its success proves to be read or written, and what
//! its answer comes to in a few words. A tool that the table does not know shows its arguments as compact JSON and
//! proves nothing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::argument::{compact, lines_of};
use super::calls::{Calls, OpenCall};
use super::git::commit_in;
use super::out::Out;
use super::place::Place;
use super::{patch, shell};
use cru_base::text::{plural, thousands};
use cru_session::event::{Attachment, Call, CallResult, EventKind, Meta, SubagentRun};
use cru_session::{FileRef, Task};

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs a shell command.
    Shell,
    /// Reads a file.
    Read,
    /// Makes a file, or writes all of it.
    Write,
    /// Changes a file.
    Edit,
    /// Applies a patch to several files.
    Patch,
    /// Deletes a file.
    Delete,
    /// Searches or lists.
    Look,
    /// Anything else.
    Other,
}

/// The kind of a tool, by its name in any spelling: `read_file`, `ReadFile`.
pub(super) fn kind(tool: &str, input: &Value) -> Kind {
    let name: String =
        tool.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).take(40).collect();
    match name.as_str() {
        "bash" | "shell" | "execute" | "powershell" | "runterminalcmd" | "runterminalcommand" | "terminal"
        | "runcommand" | "executecommand" => Kind::Shell,
        "view" | "read" | "readfile" | "viewfile" | "openfile" => Kind::Read,
        "create" | "write" | "writefile" | "createfile" | "writetofile" => Kind::Write,
        "edit" | "editfile" | "strreplace" | "searchreplace" | "multiedit" | "multistrreplace" | "editnotebook"
        | "replace" | "insert" => Kind::Edit,
        "strreplaceeditor" => match input.get("command").and_then(Value::as_str) {
            Some("view") => Kind::Read,
            Some("create") => Kind::Write,
            _ => Kind::Edit,
        },
        "applypatch" | "patch" => Kind::Patch,
        "delete" | "deletefile" => Kind::Delete,
        "grep" | "rg" | "grepsearch" | "ripgrep" | "glob" | "globfilesearch" | "globtool" | "find" | "filesearch"
        | "codebasesearch" | "semanticsearch" | "ls" | "listdir" | "listdirectory" | "list" => Kind::Look,
        _ => Kind::Other,
    }
}

/// Tells a call and keeps of it what its answer needs; the id that events know it by.
pub(super) fn call(
    calls: &mut Calls,
    place: &Place,
    host_id: &str,
    tool: &str,
    input: Value,
    out: &mut Out<'_>,
) -> String {
    let id = calls.name(host_id, out.record);
    let tool = if tool.trim().is_empty() { "tool" } else { tool };
    let mut open = OpenCall::new(id.clone(), host_id, tool, "");
    match kind(tool, &input) {
        Kind::Shell => {
            let command = text(&input, &["command", "cmd"]).unwrap_or("");
            open.writes = shell::written(command).iter().map(|path| place.show_shell(path)).collect();
            open.commits = command.contains("git") && command.contains("commit");
        }
        Kind::Patch => open.input = Some(input.clone()),
        _ => {
            open.path = path(&input).map(str::to_owned);
            open.input = Some(input.clone()).filter(|input| input.to_string().len() < KEPT);
        }
    }
    calls.open(open);
    let args = telling(tool, &input, place);
    let told = id.clone();
    out.emit(EventKind::Call(Call { id: id.into(), tool: tool.to_owned().into(), args: args.into(), input }));
    told
}

/// Arguments up to this size are kept for the answer.
const KEPT: usize = 1 << 20;

/// What an answer says.
#[derive(Debug, Default)]
pub(super) struct Answer<'a> {
    /// Its text.
    pub(super) output: Cow<'a, str>,
    /// What it comes to in a few words, where the agent's own importer knows better.
    pub(super) brief: Option<Cow<'a, str>>,
    /// What it changed, as a diff, where the record has it.
    pub(super) diff: &'a str,
    /// Whether the record says that it failed.
    pub(super) failed: bool,
    /// Whether a person refused it.
    pub(super) denied: bool,
    /// Exit code.
    pub(super) exit: Option<i32>,
    /// How long it took.
    pub(super) duration_ms: Option<u64>,
    /// Pictures in it.
    pub(super) attachments: Vec<Attachment<'a>>,
    /// The sub-agent that it was.
    pub(super) subagent: Option<SubagentRun<'a>>,
}

/// Tells the answer of a call.
pub(super) fn answer(call: &OpenCall, answer: Answer<'_>, place: &Place, out: &mut Out<'_>) {
    let Answer { output, brief: known, diff, failed, denied, exit, duration_ms, attachments, subagent } = answer;
    let none = Value::Null;
    let input = call.input.as_ref().unwrap_or(&none);
    let good = !failed && !denied;
    let told = || if good && attachments.is_empty() { brief(&call.tool, input, &output, diff) } else { None };
    let (mut reads, writes) = if good { files(call, input, place) } else { Default::default() };
    // Whatever is told in other words than the file's was not read.
    if known.is_some() {
        reads.clear();
    }
    let brief = known.or_else(|| told().map(Cow::Owned));
    let commit = commit_in(&output).filter(|_| call.commits && good).map(str::to_owned);
    out.emit(EventKind::Result(CallResult {
        call: Cow::Borrowed(&call.id),
        output,
        brief,
        failed,
        denied,
        exit,
        duration_ms,
        reads,
        writes,
        subagent,
        attachments,
    }));
    if let Some(sha) = commit {
        out.emit(EventKind::Meta(Meta::Commit(Cow::Owned(sha))));
    }
}

/// Files that the success of a call proves to be read and written.
fn files(call: &OpenCall, input: &Value, place: &Place) -> (Vec<FileRef>, Vec<FileRef>) {
    let file = |path: String| FileRef { path, ..FileRef::default() };
    let named = || call.path.as_deref().map(|path| place.show(path).into_owned());
    match kind(&call.tool, input) {
        // A folder is looked at in the same way.
        Kind::Read => (named().filter(|path| is_file(path)).map(file).into_iter().collect(), Vec::new()),
        Kind::Write | Kind::Edit => (Vec::new(), named().map(file).into_iter().collect()),
        Kind::Patch => {
            let changes = patch::read(patch_text(input));
            let kept = changes.iter().filter(|change| !change.deleted);
            let row = |change: &patch::Change| FileRef {
                path: place.show(change.after()).into_owned(),
                created: change.created,
                ..FileRef::default()
            };
            (Vec::new(), kept.map(row).collect())
        }
        _ => (Vec::new(), call.writes.iter().cloned().map(file).collect()),
    }
}

/// Whether the last part of a path has an ending.
fn is_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains('.') && name != "." && name != "..")
}

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let shown = || path(input).map(|path| place.show(path).into_owned());
    let found = match kind(tool, input) {
        Kind::Shell => text(input, &["command", "cmd"]).map(str::to_owned),
        Kind::Patch => {
            let paths: Vec<String> =
                patch::read(patch_text(input)).iter().map(|change| place.show(change.after()).into_owned()).collect();
            (!paths.is_empty()).then(|| patch::files(&paths))
        }
        Kind::Read => shown().map(|path| format!("{path}{}", range(input))),
        Kind::Write | Kind::Edit | Kind::Delete => shown(),
        Kind::Look => {
            let wanted = text(input, &["pattern", "regex", "glob_pattern", "query", "search_term"]);
            match wanted {
                Some(wanted) => Some(format!("{wanted}{}", scope(input, place))),
                None => shown().or_else(|| directory(input).map(|path| place.show(path).into_owned())),
            }
        }
        // The plan stands in the decision about it.
        Kind::Other if matches!(tool, "exit_plan_mode" | "ExitPlanMode" | "ExitSpecMode") => Some(String::new()),
        Kind::Other => {
            let telling = ["description", "question", "query", "search_term", "url", "skill", "name", "intent", "task"];
            text(input, &telling).map(str::to_owned)
        }
    };
    let none = Map::new();
    found.unwrap_or_else(|| compact(input.as_object().unwrap_or(&none), place))
}

/// The file that a call names.
pub(super) fn path(input: &Value) -> Option<&str> {
    text(input, &["path", "file_path", "filePath", "target_file", "relative_workspace_path", "target_notebook", "file"])
}

fn directory(input: &Value) -> Option<&str> {
    let list = ["paths", "target_directories"].iter().find_map(|key| input.get(key)?.as_array()?.first()?.as_str());
    text(input, &["directory_path", "target_directory", "directory", "folder", "paths"]).or(list)
}

/// The first of these arguments that says something.
pub(super) fn text<'v>(input: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| input.get(key)?.as_str().map(str::trim).filter(|value| !value.is_empty()))
}

/// A patch is given as it is or under a key.
fn patch_text(input: &Value) -> &str {
    input.as_str().or_else(|| text(input, &["patch", "input", "patchText"])).unwrap_or("")
}

/// `:10-60` for a part of a file.
fn range(input: &Value) -> String {
    let pair = |key: &str| {
        let list = input.get(key)?.as_array()?;
        Some((list.first()?.as_u64()?, list.get(1)?.as_i64()?))
    };
    let number = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_u64());
    if let Some((from, to)) = pair("view_range").or_else(|| pair("read_range")) {
        return if to < 0 { format!(":{from}-") } else { format!(":{from}-{to}") };
    }
    if input.get("should_read_entire_file") == Some(&Value::Bool(true)) {
        return String::new();
    }
    let from = number(&["start_line", "start_line_one_indexed"]);
    match (from, number(&["end_line", "end_line_one_indexed_inclusive"])) {
        (Some(from), Some(to)) => format!(":{from}-{to}"),
        _ => input.as_object().map(lines_of).unwrap_or_default(),
    }
}

/// ` in src (*.rs)`.
fn scope(input: &Value, place: &Place) -> String {
    let mut scope = String::new();
    if let Some(path) = path(input).or_else(|| directory(input)).map(|path| place.show(path)).filter(|it| it != ".") {
        scope = format!(" in {path}");
    }
    if let Some(kinds) = text(input, &["glob", "include", "include_pattern", "type"]) {
        scope = format!("{scope} ({kinds})");
    }
    scope
}

/// What a successful answer comes to; `None` leaves it to the output's first words.
fn brief(tool: &str, input: &Value, output: &str, diff: &str) -> Option<String> {
    match kind(tool, input) {
        Kind::Shell => output.trim().is_empty().then(|| "no output".to_owned()),
        Kind::Read => {
            let lines = output.lines().count() as u64;
            (lines > 1).then(|| plural(lines, "line"))
        }
        Kind::Write => {
            let whole = text(input, &["file_text", "content", "contents", "code_edit"]);
            whole.map(|text| format!("written, {}", plural(text.lines().count() as u64, "line")))
        }
        Kind::Edit => change(diff).or_else(|| replaced(input)).or_else(|| Some("changed".to_owned())),
        Kind::Patch => patch::brief(&patch::read(patch_text(input))),
        Kind::Delete => Some("deleted".to_owned()),
        Kind::Look => listed(output),
        Kind::Other => None,
    }
}

/// `+3 −1` from the lines of a unified diff.
pub(super) fn change(diff: &str) -> Option<String> {
    let starts =
        |sign: char, head: &str| diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count();
    let (added, removed) = (starts('+', "+++"), starts('-', "---"));
    (added + removed > 0).then(|| format!("+{added} −{removed}"))
}

/// `+3 −1` for a text that takes the place of another.
fn replaced(input: &Value) -> Option<String> {
    let get = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str());
    let old = get(&["old_str", "old_string", "oldText"])?;
    let new = get(&["new_str", "new_string", "newText"])?;
    Some(exchange(old, new))
}

/// `+3 −1` for lines that take the place of others, without those that both begin and end with.
pub(super) fn exchange(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    format!("+{} −{}", new.len() - head - tail, old.len() - head - tail)
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

/// The tasks that a call of a task list gives: objects with words and a state, or lines of a markdown list.
pub(super) fn tasks(input: &Value) -> Vec<Task> {
    const MOST: usize = 1000;
    let row = |(index, row): (usize, &Value)| {
        let content = text(row, &["content", "text", "title"])?.to_owned();
        let id = text(row, &["id"]).map_or_else(|| (index + 1).to_string(), str::to_owned);
        let status = text(row, &["status"]).unwrap_or("pending").to_lowercase();
        let priority = text(row, &["priority"]).map(str::to_owned);
        Some(Task { id, content, status, priority, ..Task::default() })
    };
    match input.get("todos") {
        Some(Value::Array(rows)) => rows.iter().take(MOST).enumerate().filter_map(row).collect(),
        Some(Value::String(list)) => list.lines().take(MOST).filter_map(item).zip(1_u64..).map(numbered).collect(),
        _ => Vec::new(),
    }
}

/// `- [x] words`, `1. [completed] words`: the words and the state.
fn item(line: &str) -> Option<(&str, &'static str)> {
    let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '*' | ' '));
    let (mark, words) = line.strip_prefix('[')?.split_once(']')?;
    let status = match mark.trim().to_lowercase().as_str() {
        "x" | "completed" | "done" => "completed",
        "~" | ">" | "-" | "in_progress" => "in_progress",
        _ => "pending",
    };
    Some(words.trim()).filter(|words| !words.is_empty()).map(|words| (words, status))
}

fn numbered(((content, status), id): ((&str, &str), u64)) -> Task {
    Task { id: id.to_string(), content: content.to_owned(), status: status.to_owned(), ..Task::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, input: &Value, wanted: &str) {
        let mut place = Place::default();
        place.see("/home/mia/api");
        assert_eq!(telling(tool, input, &place), wanted, "{tool}");
    }

    #[test]
    fn each_tool_shows_what_tells() {
        check("bash", &json!({"command": "npm test\n", "description": "x"}), "npm test");
        check("Execute", &json!({"command": "ls"}), "ls");
        check("view", &json!({"path": "/home/mia/api/a.ts", "view_range": [1, 60]}), "a.ts:1-60");
        check("view", &json!({"path": "/home/mia/api/a.ts", "view_range": [5, -1]}), "a.ts:5-");
        check("read_file", &json!({"target_file": "a.ts", "offset": 10, "limit": 51}), "a.ts:10-60");
        check("Read", &json!({"path": "a.ts", "should_read_entire_file": true, "offset": 3}), "a.ts");
        check("str_replace_editor", &json!({"command": "create", "path": "/home/mia/x.md"}), "~/x.md");
        check("rg", &json!({"pattern": "fn", "paths": ["/home/mia/api/src"], "glob": "*.ts"}), "fn in src (*.ts)");
        check("LS", &json!({"directory_path": "/home/mia/api/src"}), "src");
        check("apply_patch", &json!("*** Begin Patch\n*** Add File: /home/mia/api/n.md\n+x\n*** End Patch"), "n.md");
        check("task", &json!({"agent_type": "explore", "description": "look around", "prompt": "…"}), "look around");
        check("github-search", &json!({"q": 1}), r#"{"q":1}"#);
        check("bash", &json!(["odd"]), "");
    }

    #[test]
    fn task_lists() {
        let told = |todos: Value| {
            let rows = tasks(&json!({ "todos": todos }));
            rows.into_iter().map(|row| format!("{} {} {}", row.id, row.content, row.status)).collect::<Vec<_>>()
        };
        assert_eq!(told(json!([{"id": "a", "content": "one", "status": "DONE"}, {"x": 1}, 5])), ["a one done"]);
        assert_eq!(
            told(json!("1. [completed] one\n- [ ] two\n* [~] three\nnone")),
            ["1 one completed", "2 two pending", "3 three in_progress"]
        );
        assert!(told(json!(7)).is_empty());
    }

    #[test]
    fn figures() {
        let of = |tool, input: Value, output: &str| brief(tool, &input, output, "");
        assert_eq!(of("bash", json!({}), " \n").as_deref(), Some("no output"));
        assert_eq!(of("view", json!({}), "1. a\n2. b").as_deref(), Some("2 lines"));
        assert_eq!(of("create", json!({"file_text": "a\nb\n"}), "ok").as_deref(), Some("written, 2 lines"));
        assert_eq!(of("edit", json!({"old_str": "a\nb\nc", "new_str": "a\nx\ny\nc"}), "").as_deref(), Some("+2 −1"));
        assert_eq!(of("edit", json!({}), "").as_deref(), Some("changed"));
        assert_eq!(of("rg", json!({}), "a\nb").as_deref(), Some("2 lines"));
        assert_eq!(change("--- a\n+++ b\n-x\n+y\n+z").as_deref(), Some("+2 −1"));
        assert_eq!((exchange("", ""), exchange("a", "a\na")), ("+0 −0".to_owned(), "+1 −0".to_owned()));
    }
}
