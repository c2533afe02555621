//! Tool calls: their name and main argument as a step line shows them, and what their answer will need.
//!
//! Shell commands are `Bash` and patches are `Edit` or `Write`, whatever the host's tool for them was called at the time,
//! so that notes of all agents read alike.

use serde_json::{Map, Value};

use super::code;
use crate::call::argument;
use crate::call::patch::{self, PatchedFile};
use crate::call::shell::{self, Effects};
use crate::stream::place::Place;
use cru_action::{Action, ToolKind, argv};

/// A call as it is told.
#[derive(Debug, Default)]
pub(super) struct CodexTold {
    pub(super) tool: String,
    pub(super) args: String,
    pub(super) action: CodexAction,
}

/// What a call does, as far as its answer needs to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum CodexAction {
    /// A shell command, with what it does if it succeeds.
    Shell(Effects),
    /// A patch.
    Patch(Vec<PatchedFile>),
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

/// Reads a call. `running` names a running command by its number.
pub(super) fn read(name: &str, input: &Value, place: &Place, running: &dyn Fn(&str) -> Option<String>) -> CodexTold {
    if let (EXEC, Value::String(script)) = (name, input) {
        return scripted(script, place, running);
    }
    match ToolKind::of(name) {
        ToolKind::Shell => {
            let command = ["command", "cmd"].iter().find_map(|key| input.get(key)).unwrap_or(input);
            if let Some(patch) = patch_of(command) {
                return patched(name, &Value::from(patch), place);
            }
            if let Some(script) = argv::script(command) {
                return shelled(script.trim(), argument::folder(input), place);
            }
        }
        ToolKind::Patch => return patched(name, input, place),
        _ => {}
    }
    let empty = Map::new();
    let map = input.as_object().unwrap_or(&empty);
    let get = |key: &str| map.get(key).and_then(Value::as_str).map(str::trim).filter(|value| !value.is_empty());
    let owned = |text: &str| text.to_owned();
    let (args, action) = match name {
        "update_plan" => (None, CodexAction::Plan(input.clone())),
        "request_user_input" => (None, CodexAction::Ask(input.clone())),
        "read_file" => (
            None,
            argument::path(name, input).map_or(CodexAction::Other, |path| CodexAction::View(place.show(path).into())),
        ),
        "write_stdin" => {
            let number = number(map.get("session_id"));
            let command = running(&number).unwrap_or_else(|| format!("session {number}"));
            let typed = map.get("chars").and_then(Value::as_str).filter(|chars| !chars.is_empty());
            let args = typed.map_or_else(|| format!("wait for {command}"), |typed| format!("{typed:?} to {command}"));
            (Some(args), CodexAction::Wait(number))
        }
        "spawn_agent" => {
            let task = get("message").or(get("task_name")).map(owned);
            let role = get("agent_type").or(get("task_name")).map(owned);
            let shown = task.as_deref().and_then(first_line);
            (shown, CodexAction::Spawn { role, task, model: get("model").map(owned) })
        }
        "wait" if map.contains_key("cell_id") => {
            let number = format!("{}{}", super::answer::CELL, number(map.get("cell_id")));
            (
                Some(format!("wait for {}", running(&number).unwrap_or_else(|| number.clone()))),
                CodexAction::Wait(number),
            )
        }
        "wait" | "wait_agent" | "close_agent" => (ids(map), CodexAction::Join),
        "send_input" | "send_message" | "followup_task" => {
            (get("message").or(get("target")).and_then(first_line), CodexAction::Other)
        }
        _ => (None, CodexAction::Other),
    };
    let args = args.unwrap_or_else(|| match input {
        Value::String(text) => text.trim().to_owned(),
        _ => argument::telling(name, input, place),
    });
    CodexTold { tool: name.to_owned(), args, action }
}

/// The tool that runs a script which calls others.
const EXEC: &str = "exec";

/// A script is named as what it runs: one call, or several commands. Any other is told as the script that it is.
fn scripted(script: &str, place: &Place, running: &dyn Fn(&str) -> Option<String>) -> CodexTold {
    let is_command = |(name, _): &(String, Value)| ToolKind::of(name) == ToolKind::Shell && name != EXEC;
    match code::calls(script).as_deref() {
        Some([(name, input)]) if name != EXEC => read(name, input, place, running),
        Some(calls @ [_, ..]) if calls.iter().all(is_command) => {
            let commands = calls.iter().map(|(name, input)| read(name, input, place, running).args);
            shelled(&commands.collect::<Vec<_>>().join("\n"), "", place)
        }
        calls => {
            let names: Vec<&str> = calls.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            let args = if names.is_empty() { script.trim().to_owned() } else { names.join(", ") };
            CodexTold { tool: code::SCRIPT.to_owned(), args, action: CodexAction::Other }
        }
    }
}

fn shelled(script: &str, workdir: &str, place: &Place) -> CodexTold {
    let elsewhere = argument::is_elsewhere(workdir, place);
    let args = argument::in_folder(script, workdir, place);
    let action = Action::of("Bash", script);
    // Of a command that ran elsewhere only whole paths are sure.
    let written = shell::written(&action).filter(|path| !elsewhere || path.starts_with(['/', '~']));
    let read = shell::read(&action, elsewhere, place);
    let effects = Effects { writes: written.map(|path| place.show_shell(path)).collect(), read };
    CodexTold { tool: "Bash".to_owned(), args, action: CodexAction::Shell(effects) }
}

/// The patch of a command that does nothing but apply one.
fn patch_of(command: &Value) -> Option<String> {
    if let Some([program, Value::String(patch), ..]) = command.as_array().map(Vec::as_slice)
        && program.as_str().is_some_and(|program| ToolKind::of(program) == ToolKind::Patch)
    {
        return Some(patch.clone());
    }
    let script = argv::script(command)?;
    Action::of("Bash", &script).only_patch().map(str::to_owned)
}

fn patched(name: &str, input: &Value, place: &Place) -> CodexTold {
    let name = if ToolKind::of(name) == ToolKind::Patch { name } else { "apply_patch" };
    let files = argument::patched(name, input, place);
    let created = !files.is_empty() && files.iter().all(PatchedFile::is_created);
    let tool = if created { "Write" } else { "Edit" };
    CodexTold { tool: tool.to_owned(), args: patch::names(&files), action: CodexAction::Patch(files) }
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

    fn told(name: &str, input: &Value) -> CodexTold {
        let mut place = Place::default();
        place.see("/home/mia/api");
        read(name, input, &place, &|number| (number == "7").then(|| "npm test".to_owned()))
    }

    #[test]
    fn patches_in_disguise() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
        let is = |value: Value| assert_eq!(patch_of(&value).as_deref(), Some(patch), "{value}");
        is(json!(["apply_patch", patch]));
        is(json!(["bash", "-lc", format!("apply_patch <<'EOF'\n{patch}\nEOF\n")]));
        is(json!(format!("cd sub && apply_patch <<'EOF'\n{patch}\nEOF")));
        assert_eq!(patch_of(&json!(format!("cat <<'EOF'\n{patch}\nEOF"))), None);
        assert_eq!(patch_of(&json!(5)), None);
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
        let run = |script: &str| json!(script);
        check(
            "exec",
            run("const r = await tools.exec_command({cmd: \"cargo test\"}); text(r.output);"),
            "Bash cargo test",
        );
        check(
            "exec",
            run("await Promise.all([tools.exec_command({cmd:'a'}), tools.exec_command({cmd:'b'})])"),
            "Bash a\nb",
        );
        check(
            "exec",
            run("tools.apply_patch(\"*** Begin Patch\\n*** Add File: b.rs\\n+x\\n*** End Patch\")"),
            "Write b.rs",
        );
        check(
            "exec",
            run("tools.exec_command({cmd:'a'}); tools.view_image({path:'b'})"),
            "javascript exec_command, view_image",
        );
        check("exec", run("echo(1) > x"), "javascript echo(1) > x");
        check("update_plan", json!({"plan": [1, 2]}), "update_plan 2 tasks");
        check("view_image", json!({"path": "/home/mia/api/a.png"}), "view_image a.png");
        check("write_stdin", json!({"session_id": 7, "chars": ""}), "write_stdin wait for npm test");
        check("write_stdin", json!({"session_id": "8", "chars": "y\n"}), "write_stdin \"y\\n\" to session 8");
        check("wait", json!({"ids": ["019a-01", "019a-02"]}), "wait 01 02");
        check("wait", json!({"cell_id": "7", "yield_time_ms": 1000}), "wait wait for cell 7");
        check("spawn_agent", json!({"message": "\nReview it.\nMore"}), "spawn_agent Review it.");
        check("mcp__db__query", json!({"sql": "select 1"}), "mcp__db__query {\"sql\":\"select 1\"}");
        check("shell", json!({"command": []}), "shell {\"command\":[]}");
    }
}
