//! The main argument of a tool call: what a step line shows after the tool.
//!
//! What a tool is and which of its arguments tells most is said by `cru_action::tool`; here it is shown as a note writes
//! it. A host's own rows stand in its own module and come first.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::patch::{self, PatchedFile};
use crate::file::value::trimmed;
use crate::stream::place::Place;
use cru_action::tool::{self, Role};
use cru_action::{ToolKind, argv};
use cru_base::text;

/// The main argument of a call in full, paths as a note writes them; else its arguments as compact JSON.
pub(crate) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    main(tool, input, place).unwrap_or_else(|| input.as_object().map_or_else(String::new, |map| compact(map, place)))
}

/// The main argument of a call; `None` for a tool that the table does not know, or that was given nothing of the kind.
pub(crate) fn main(tool: &str, input: &Value, place: &Place) -> Option<String> {
    named(tool, input, place).or_else(|| tool::default_argument(tool).filter(|_| input.is_object()).map(str::to_owned))
}

fn named(tool: &str, input: &Value, place: &Place) -> Option<String> {
    let kind = ToolKind::of_call(tool, input);
    let query = || Some(role(tool, input, Role::Query)?.to_owned());
    match kind {
        ToolKind::Patch => Some(patch::names(&patched(tool, input, place))).filter(|names| !names.is_empty()),
        ToolKind::Shell => script(tool, input, place),
        ToolKind::Read => match shown_path(tool, input, place) {
            Some(path) => Some(format!("{path}{}", lines_of(input.as_object()?))),
            None => looked_at(tool, input, place),
        },
        ToolKind::Edit | ToolKind::Write | ToolKind::Delete => shown_path(tool, input, place),
        ToolKind::Search => match role(tool, input, Role::Pattern) {
            Some(pattern) => Some(format!("{pattern}{}", scope(tool, input, place))),
            None => shown_path(tool, input, place),
        },
        ToolKind::Ask => questions(input).or_else(query),
        ToolKind::Plan => query().map(|plan| heading(&plan).to_owned()),
        ToolKind::Task => tasks(tool, input),
        ToolKind::Skill => query().map(|skill| match input.get("args").and_then(Value::as_str) {
            Some(args) if !args.trim().is_empty() => format!("{skill} {}", args.trim()),
            _ => skill,
        }),
        // Its arguments are its server's own.
        ToolKind::Mcp => None,
        ToolKind::Fetch | ToolKind::Subagent => query(),
        ToolKind::Other => shown_path(tool, input, place).or_else(query),
    }
}

/// The shell command of a call, with the way to the folder that the call says.
pub(crate) fn script(tool: &str, input: &Value, place: &Place) -> Option<String> {
    command(tool, input).map(|script| in_folder(script.trim(), folder(input), place))
}

/// The folder that a call of a shell says it runs in; empty where it says none.
pub(crate) fn folder(input: &Value) -> &str {
    const NAMES: [&str; 8] =
        ["workdir", "cwd", "working_directory", "workingDirectory", "dir_path", "directory", "dir", "cd"];
    NAMES.iter().find_map(|name| input.get(name)?.as_str()).unwrap_or_default()
}

/// Whether a folder that a call names is another one than the one that the session is in.
pub(crate) fn is_elsewhere(folder: &str, place: &Place) -> bool {
    let shown = place.show_shell(folder);
    !folder.is_empty() && !matches!(shown.as_str(), "." | "") && shown != place.show_shell(".")
}

/// A script with the way to the folder that it runs in, where that is another one: as a person would type it.
pub(crate) fn in_folder(script: &str, folder: &str, place: &Place) -> String {
    if !is_elsewhere(folder, place) || script.is_empty() {
        return script.to_owned();
    }
    let folder = place.show_shell(folder);
    // A blank, or a sign that a shell reads otherwise.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '\\' | '.' | '_' | '-' | '~' | ':' | '@' | '+');
    let folder = if folder.chars().all(is_plain) { folder } else { format!("'{}'", folder.replace('\'', r"'\''")) };
    format!("cd {folder} && {script}")
}

/// The shell command of a call.
pub(crate) fn command<'v>(tool: &str, input: &'v Value) -> Option<Cow<'v, str>> {
    tool::argument(tool, input.as_object()?, Role::Command).and_then(|(_, value)| argv::script(value))
}

/// The file or folder that a call names, of several the first.
pub(crate) fn path<'v>(tool: &str, input: &'v Value) -> Option<&'v str> {
    let (_, value) = tool::argument(tool, input.as_object()?, Role::Path)?;
    value.as_str().or_else(|| value.as_array()?.first()?.as_str()).map(str::trim)
}

/// The files of a patch that a call gives as it is or as an argument.
pub(crate) fn patched(tool: &str, input: &Value, place: &Place) -> Vec<PatchedFile> {
    let text = input.as_str().or_else(|| role(tool, input, Role::Patch)).unwrap_or("");
    patch::read(text, |path| place.show_shell(path))
}

/// The first line of a plan that says something, without its mark-up.
pub(crate) fn heading(plan: &str) -> &str {
    let line = plan.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    line.unwrap_or("")
}

fn role<'v>(tool: &str, input: &'v Value, role: Role) -> Option<&'v str> {
    tool::argument(tool, input.as_object()?, role)?.1.as_str().map(str::trim)
}

fn shown_path(tool: &str, input: &Value, place: &Place) -> Option<String> {
    path(tool, input).map(|path| place.show(path).into_owned())
}

/// What is read that is no text of a file: `findReferences src/a.rs:12`.
fn looked_at(tool: &str, input: &Value, place: &Place) -> Option<String> {
    let named = place.show(role(tool, input, Role::Query)?);
    let line = input.get("line").and_then(Value::as_u64).map(|line| format!(":{line}")).unwrap_or_default();
    let what = role(tool, input, Role::Pattern).map(|what| format!("{what} ")).unwrap_or_default();
    Some(format!("{what}{named}{line}"))
}

/// Where a tool searches: ` in src (*.rs)`. The project's own folder is not said.
fn scope(tool: &str, input: &Value, place: &Place) -> String {
    let path = shown_path(tool, input, place).filter(|path| path != ".");
    let mut scope = path.map(|path| format!(" in {path}")).unwrap_or_default();
    if let Some(files) = role(tool, input, Role::Filter) {
        scope = format!("{scope} ({files})");
    }
    scope
}

/// What a person is asked, of several questions all.
fn questions(input: &Value) -> Option<String> {
    let asked = input.get("questions")?.as_array()?.iter();
    let asked = asked.filter_map(|question| trimmed(question, ["question", "prompt"]));
    Some(asked.collect::<Vec<_>>().join(" / ")).filter(|asked| !asked.is_empty())
}

/// `3 tasks` for a list of tasks, each an item of the list or a line of a text.
fn tasks(tool: &str, input: &Value) -> Option<String> {
    let (_, rows) = tool::argument(tool, input.as_object()?, Role::Query)?;
    let count = match rows {
        Value::Array(rows) => rows.len(),
        Value::String(lines) => lines.lines().filter(|line| !line.trim().is_empty()).count(),
        _ => return None,
    };
    Some(text::plural(count as u64, "task"))
}

/// `:10-60` for a part of a file.
fn lines_of(input: &Map<String, Value>) -> String {
    let pair = |key: &str| {
        let list = input.get(key)?.as_array()?;
        Some((list.first()?.as_u64()?, list.get(1)?.as_i64()?))
    };
    if let Some((from, to)) = pair("view_range").or_else(|| pair("read_range")) {
        return if to < 0 { format!(":{from}-") } else { format!(":{from}-{to}") };
    }
    if input.get("should_read_entire_file") == Some(&Value::Bool(true)) {
        return String::new();
    }
    // Numbers come as strings now and then.
    let number = |key: &str| {
        input.get(key).and_then(|value| value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok())))
    };
    let from = number("start_line").or_else(|| number("start_line_one_indexed"));
    let to = number("end_line").or_else(|| number("end_line_one_indexed_inclusive"));
    match (from, to, number("offset"), number("limit")) {
        (Some(from), Some(to), ..) => format!(":{from}-{to}"),
        // From the first line to the last.
        (_, _, None | Some(0 | 1), None) => String::new(),
        (_, _, Some(from), None) => format!(":{from}-"),
        (_, _, from, Some(limit)) => {
            let from = from.unwrap_or(1).max(1);
            format!(":{from}-{}", from.saturating_add(limit).saturating_sub(1))
        }
    }
}

/// Arguments as compact JSON: as many of the first as fit a line, long words cut.
pub(crate) fn compact(input: &Map<String, Value>, place: &Place) -> String {
    const LINE: usize = 200;
    const WORD: usize = 80;
    const FEW: usize = 8;
    let mut line = String::new();
    for (key, value) in input {
        let value = match value {
            Value::String(word) => {
                let word = text::fold_whitespace(head(word));
                Value::String(text::truncate(&place.show(&word), WORD).into_owned())
            }
            Value::Array(list) if list.iter().any(is_deep) || list.len() > FEW => {
                Value::String(text::plural(list.len() as u64, "item"))
            }
            Value::Array(_) => short(value, "[…]", WORD),
            Value::Object(_) => short(value, "{…}", WORD),
            plain => plain.clone(),
        };
        let part = format!("{}:{value}", Value::String(text::truncate(key, WORD).into_owned()));
        if !line.is_empty() && line.len() + part.len() > LINE {
            line.push_str(",…");
            break;
        }
        if !line.is_empty() {
            line.push(',');
        }
        line.push_str(&part);
    }
    if line.is_empty() { line } else { format!("{{{line}}}") }
}

/// A small list or object as it is, else a sign that there is one.
fn short(value: &Value, sign: &str, limit: usize) -> Value {
    let small = match value {
        Value::Array(list) => !list.iter().any(is_deep),
        Value::Object(map) => map.len() <= 4 && !map.values().any(is_deep),
        _ => true,
    };
    if small && value.to_string().len() <= limit { value.clone() } else { Value::String(sign.to_owned()) }
}

/// Whether a value is more than a short word or number.
fn is_deep(value: &Value) -> bool {
    const LONG: usize = 80;
    match value {
        Value::String(word) => word.len() > LONG,
        Value::Array(_) | Value::Object(_) => true,
        _ => false,
    }
}

/// The beginning of a word, enough of it to be cut by characters.
fn head(word: &str) -> &str {
    &word[..cru_base::lines::floor_char_boundary(word, 4000)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, input: &Value, wanted: &str) {
        let mut place = Place::default();
        place.see("/home/mia/api");
        assert_eq!(telling(tool, input, &place), wanted, "{tool} {input}");
    }

    #[test]
    fn commands_and_files() {
        check("Bash", &json!({"command": "cargo test\n", "description": "Run"}), "cargo test");
        check("Execute", &json!({"command": "ls"}), "ls");
        check("shell", &json!({"command": ["bash", "-lc", "ls | head"]}), "ls | head");
        check("Bash", &json!({"command": 5}), r#"{"command":5}"#);
        check("bash", &json!({"command": "npm test", "workdir": "/home/mia/api/web"}), "cd web && npm test");
        check("bash", &json!({"command": "npm test", "workdir": "/home/mia/api/"}), "npm test");
        check("run_shell_command", &json!({"command": "ls", "dir_path": "/srv/a b"}), "cd '/srv/a b' && ls");
        check("Read", &json!({"file_path": "/home/mia/api/src/a.rs"}), "src/a.rs");
        check("Read", &json!({"file_path": "/home/mia/x.md", "offset": 10, "limit": 51}), "~/x.md:10-60");
        check("Read", &json!({"file_path": "/etc/x", "limit": "20"}), "/etc/x:1-20");
        check("view", &json!({"path": "/home/mia/api/a.ts", "view_range": [1, 60]}), "a.ts:1-60");
        check("view", &json!({"path": "/home/mia/api/a.ts", "view_range": [5, -1]}), "a.ts:5-");
        check("read_file", &json!({"target_file": "a.ts", "offset": 10, "limit": 51}), "a.ts:10-60");
        check("read", &json!({"file_path": "/src/a.rs", "start_line": 1, "end_line": 10}), "/src/a.rs:1-10");
        check("Read", &json!({"path": "a.ts", "should_read_entire_file": true, "offset": 3}), "a.ts");
        check("read", &json!({"path": "a.ts", "offset": 0}), "a.ts");
        check("lsp", &json!({"filePath": "/home/mia/api/a.ts", "operation": "hover", "line": 3}), "hover a.ts:3");
        check("str_replace_editor", &json!({"command": "create", "path": "/home/mia/x.md"}), "~/x.md");
        check("apply_patch", &json!("*** Begin Patch\n*** Add File: /home/mia/api/n.md\n+x\n*** End Patch"), "n.md");
        check("apply_patch", &json!({"patchText": "*** Begin Patch\n*** Update File: b\n*** End Patch"}), "b");
    }

    #[test]
    fn searches() {
        check("Grep", &json!({"pattern": "fn a", "path": "/home/mia/api/src", "glob": "*.rs"}), "fn a in src (*.rs)");
        check("Grep", &json!({"pattern": "x", "path": "/home/mia/api"}), "x");
        check("rg", &json!({"pattern": "fn", "paths": ["/home/mia/api/src"], "glob": "*.ts"}), "fn in src (*.ts)");
        check(
            "search_file_content",
            &json!({"pattern": "fn", "dir_path": "src", "include": "*.ts"}),
            "fn in src (*.ts)",
        );
        check("LS", &json!({"directory_path": "/home/mia/api/src"}), "src");
        check("list_directory", &json!({"dir_path": "/home/mia/api"}), ".");
        check("ls", &json!({}), ".");
    }

    #[test]
    fn what_else_tells() {
        check("Task", &json!({"description": "Review", "prompt": "Look at …"}), "Review");
        check("TodoWrite", &json!({"todos": [1, 2]}), "2 tasks");
        check("TodoWrite", &json!({"todos": "1. [x] one\n2. [ ] two\n"}), "2 tasks");
        check("update_plan", &json!({"plan": [1, 2]}), "2 tasks");
        check("ExitPlanMode", &json!({"plan": "\n# Move the **cache**\n\nText"}), "Move the **cache**");
        check("ExitPlanMode", &json!({"description": ""}), "");
        check("Skill", &json!({"skill": "release", "args": "1.2"}), "release 1.2");
        check("google_web_search", &json!({"query": "rust"}), "rust");
        check("KillShell", &json!({"shell_id": "b1"}), "b1");
        let asked = json!({"questions": [{"question": "Which?"}, {"question": "When?"}]});
        check("AskUserQuestion", &asked, "Which? / When?");
    }

    #[test]
    fn unknown_tools_show_their_arguments() {
        let input = json!({"sql": "select 1", "rows": [1, 2], "deep": {"a": 1}});
        check("mcp__db__query", &input, r#"{"sql":"select 1","rows":[1,2],"deep":{"a":1}}"#);
        check("mcp__x__y", &json!({}), "");
        check("mcp__x__y", &json!([1]), "");
        let long = json!({"a": "word ".repeat(50), "b": "x".repeat(500), "c": "y".repeat(500), "d": 1});
        let line = telling("mcp__x__y", &long, &Place::default());
        assert!(line.chars().count() < 300 && line.ends_with(",…}"), "{line}");
    }
}
