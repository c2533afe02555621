//! Tool calls: their name and main argument as a step line shows them, and what their answer will need.
//!
//! Shell commands are `Bash` and patches are `Edit` or `Write`, whatever the host's tool for them was called at the time,
//! so that notes of all agents read alike.

use serde_json::{Map, Value};

use super::script::{self, Run};
use crate::argument::compact;
use crate::patch::{self, Change};
use crate::place::Place;
use crate::shell;
use cru_base::text;

/// A call as it is told.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) tool: String,
    pub(super) args: String,
    pub(super) deed: Deed,
}

/// What a call does, as far as its answer needs to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Deed {
    /// A shell command, with the files it writes if it succeeds, and whether it makes a commit.
    Shell { writes: Vec<String>, commits: bool },
    /// A patch.
    Patch(Vec<Change>),
    /// The list of tasks.
    Plan(Value),
    /// Questions to the person.
    Ask(Value),
    /// A file that is looked at.
    View(String),
    /// Input for a running command, or waiting for it: its number.
    Wait(String),
    /// A sub-agent is started.
    Spawn { role: Option<String>, task: Option<String>, model: Option<String> },
    /// Sub-agents are waited for or ended.
    Join,
    /// Anything else.
    #[default]
    Other,
}

/// Names under which shell commands were run.
const SHELLS: &[&str] =
    &["container.exec", "exec", "exec_command", "local_shell", "run_shell_command", "shell", "shell_command"];

/// Reads a call. `running` names a running command by its number.
pub(super) fn read(name: &str, input: &Value, place: &Place, running: impl Fn(&str) -> Option<String>) -> Told {
    if SHELLS.contains(&name) {
        let command = ["command", "cmd"].iter().find_map(|key| input.get(key)).unwrap_or(input);
        let workdir = ["workdir", "cwd", "working_directory"].iter().find_map(|key| input.get(key)?.as_str());
        match script::read(command) {
            Some(Run::Patch(text)) => return patched(&text, place),
            Some(Run::Script(script)) => return shelled(&script, workdir.unwrap_or(""), place),
            None => {}
        }
    }
    if matches!(name, "apply_patch" | "applypatch") {
        let text = input.as_str().or_else(|| ["input", "patch"].iter().find_map(|key| input.get(key)?.as_str()));
        return patched(text.unwrap_or(""), place);
    }
    let empty = Map::new();
    let map = input.as_object().unwrap_or(&empty);
    let get = |key: &str| map.get(key).and_then(Value::as_str).map(str::trim).filter(|value| !value.is_empty());
    let list = |key: &str| map.get(key).and_then(Value::as_array).map(Vec::len).unwrap_or_default() as u64;
    let owned = |text: &str| text.to_owned();
    let (args, deed) = match name {
        "update_plan" => (Some(text::plural(list("plan"), "task")), Deed::Plan(input.clone())),
        "request_user_input" => (questions(input), Deed::Ask(input.clone())),
        "view_image" | "read_file" | "list_dir" => {
            let path = get("path").or(get("file_path")).or(get("dir_path")).map(|path| place.show(path).into_owned());
            let deed = path.clone().filter(|_| name == "read_file").map_or(Deed::Other, Deed::View);
            (path, deed)
        }
        "grep_files" => (get("pattern").map(owned), Deed::Other),
        "write_stdin" => {
            let number = number(map.get("session_id"));
            let command = running(&number).unwrap_or_else(|| format!("session {number}"));
            let typed = map.get("chars").and_then(Value::as_str).filter(|chars| !chars.is_empty());
            let args = typed.map_or_else(|| format!("wait for {command}"), |typed| format!("{typed:?} to {command}"));
            (Some(args), Deed::Wait(number))
        }
        "spawn_agent" => {
            let task = get("message").or(get("task_name")).map(owned);
            let role = get("agent_type").or(get("task_name")).map(owned);
            let shown = task.as_deref().and_then(first_line);
            (shown, Deed::Spawn { role, task, model: get("model").map(owned) })
        }
        "wait" | "wait_agent" | "close_agent" => (ids(map), Deed::Join),
        "send_input" | "send_message" | "followup_task" => {
            (get("message").or(get("target")).and_then(first_line), Deed::Other)
        }
        _ => (None, Deed::Other),
    };
    let args = args.unwrap_or_else(|| match input {
        Value::String(text) => text.trim().to_owned(),
        _ => compact(map, place),
    });
    Told { tool: name.to_owned(), args, deed }
}

fn shelled(script: &str, workdir: &str, place: &Place) -> Told {
    let folder = place.show_shell(workdir);
    let elsewhere = !workdir.is_empty() && !matches!(folder.as_str(), "." | "") && folder != place.show_shell(".");
    let args = if elsewhere { format!("cd {folder} && {script}") } else { script.to_owned() };
    // Of a command that ran elsewhere only whole paths are sure.
    let is_sure = |path: &String| !elsewhere || path.starts_with(['/', '~']);
    let writes = shell::written(script).into_iter().filter(is_sure).map(|path| place.show_shell(&path)).collect();
    Told { tool: "Bash".to_owned(), args, deed: Deed::Shell { writes, commits: script.contains("git commit") } }
}

fn patched(text: &str, place: &Place) -> Told {
    let mut changes = patch::read(text);
    for change in &mut changes {
        change.path = place.show_shell(&change.path);
        change.moved = change.moved.as_deref().map(|path| place.show_shell(path));
    }
    let created = !changes.is_empty() && changes.iter().all(|change| change.created);
    let paths: Vec<String> = changes.iter().map(|change| change.after().to_owned()).collect();
    let tool = if created { "Write" } else { "Edit" };
    Told { tool: tool.to_owned(), args: patch::files(&paths), deed: Deed::Patch(changes) }
}

fn questions(input: &Value) -> Option<String> {
    let asked = input.get("questions")?.as_array()?.iter().filter_map(|question| question.get("question")?.as_str());
    Some(asked.collect::<Vec<_>>().join(" / ")).filter(|asked| !asked.is_empty())
}

fn ids(map: &Map<String, Value>) -> Option<String> {
    let one = ["id", "target"].iter().find_map(|key| map.get(*key)?.as_str());
    if let Some(one) = one {
        return Some(short(one));
    }
    let many = ["ids", "targets"].iter().find_map(|key| map.get(*key)?.as_array())?;
    let many: Vec<String> = many.iter().filter_map(Value::as_str).map(short).collect();
    (!many.is_empty()).then(|| many.join(" "))
}

/// An id by its last part, which differs from one to the next.
fn short(id: &str) -> String {
    id.rsplit('-').next().unwrap_or(id).to_owned()
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// The number of a running command, which comes as a number or as a text.
fn number(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(name: &str, input: &Value) -> Told {
        let mut place = Place::default();
        place.see("/home/mia/api");
        read(name, input, &place, |number| (number == "7").then(|| "npm test".to_owned()))
    }

    #[test]
    fn each_tool_shows_what_tells() {
        let check = |name: &str, input: Value, wanted: &str| {
            let told = told(name, &input);
            assert_eq!(format!("{} {}", told.tool, told.args), wanted, "{input}");
        };
        check(
            "shell",
            json!({"command": ["bash", "-lc", "cargo test"], "workdir": "/home/mia/api"}),
            "Bash cargo test",
        );
        check("exec_command", json!({"cmd": "ls", "workdir": "/home/mia/api/web"}), "Bash cd web && ls");
        check("exec_command", json!({"cmd": "ls", "workdir": "/srv"}), "Bash cd /srv && ls");
        check("shell_command", json!({"command": "ls", "workdir": "."}), "Bash ls");
        check("apply_patch", json!("*** Begin Patch\n*** Update File: /home/mia/api/a.rs\n*** End Patch"), "Edit a.rs");
        check(
            "shell",
            json!({"command": ["apply_patch", "*** Begin Patch\n*** Add File: b.rs\n+x\n*** End Patch"]}),
            "Write b.rs",
        );
        check("update_plan", json!({"plan": [1, 2]}), "update_plan 2 tasks");
        check("view_image", json!({"path": "/home/mia/api/a.png"}), "view_image a.png");
        check("write_stdin", json!({"session_id": 7, "chars": ""}), "write_stdin wait for npm test");
        check("write_stdin", json!({"session_id": "8", "chars": "y\n"}), "write_stdin \"y\\n\" to session 8");
        check("wait", json!({"ids": ["019a-01", "019a-02"]}), "wait 01 02");
        check("spawn_agent", json!({"message": "\nReview it.\nMore"}), "spawn_agent Review it.");
        check("mcp__db__query", json!({"sql": "select 1"}), "mcp__db__query {\"sql\":\"select 1\"}");
        check("shell", json!({"command": []}), "shell {\"command\":[]}");
    }
}
