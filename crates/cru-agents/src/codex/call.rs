//! Tool calls: their name and main argument as a step line shows them, and what their answer will need.
//!
//! Shell commands are `Bash` and patches are `Edit` or `Write`, whatever the host's tool for them was called at the time,
//! so that notes of all agents read alike.

use serde_json::Value;

use super::answer::CELL;
use super::code;
use crate::call::argument;
use crate::call::patch::{self, PatchedFile};
use crate::call::shell::{self, Effects};
use crate::file::value::{strings, trimmed, word};
use crate::stream::place::Place;
use cru_action::{Action, ToolKind, argv};
use cru_base::text::truncate;

/// A call as it is told, and what its answer needs of it.
#[derive(Clone, Debug, Default)]
pub(super) struct CodexTold {
    pub(super) tool: String,
    pub(super) args: String,
    /// What was called with which arguments, perhaps by a script; nothing of commands and patches.
    pub(super) name: String,
    pub(super) input: Value,
    /// What a command does if it succeeds.
    pub(super) effects: Effects,
    /// What a patch does if it succeeds.
    pub(super) files: Vec<PatchedFile>,
}

impl CodexTold {
    /// Of a tool that is told with these words.
    pub(super) fn of(tool: &str, args: impl Into<String>) -> Self {
        Self { tool: tool.to_owned(), args: args.into(), ..Self::default() }
    }

    /// Whether it runs a command.
    pub(super) fn is_command(&self) -> bool {
        self.tool == BASH
    }

    /// Whether it may go on in the background.
    pub(super) fn may_run(&self) -> bool {
        self.is_command() || self.tool == code::SCRIPT
    }

    /// What it is called while it runs.
    pub(super) fn shown(&self) -> String {
        const SHOWN: usize = 50;
        let shown = if self.may_run() { self.args.lines().next().unwrap_or("") } else { &self.tool };
        truncate(shown, SHOWN).into_owned()
    }

    /// The number of the running command that it gives input to or waits for.
    pub(super) fn waits_for(&self) -> Option<String> {
        match self.name.as_str() {
            "write_stdin" => Some(number(self.input.get("session_id"))),
            "wait" => Some(format!("{CELL}{}", number(Some(self.input.get("cell_id")?)))),
            _ => None,
        }
    }
}

/// Under which name a command of the shell is told.
const BASH: &str = "Bash";

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
    let told = CodexTold { name: name.to_owned(), input: input.clone(), ..CodexTold::of(name, "") };
    let args = match name {
        _ if let Some(number) = told.waits_for() => {
            let unnamed = if number.starts_with(CELL) { "" } else { "session " };
            let command = running(&number).unwrap_or_else(|| format!("{unnamed}{number}"));
            Some(match word(input, "chars") {
                "" => format!("wait for {command}"),
                typed => format!("{typed:?} to {command}"),
            })
        }
        "spawn_agent" => trimmed(input, ["message", "task_name"]).and_then(first_line),
        "wait" | "wait_agent" | "close_agent" => ids(input),
        "send_input" | "send_message" | "followup_task" => trimmed(input, ["message", "target"]).and_then(first_line),
        _ => None,
    };
    let args = args.unwrap_or_else(|| match input {
        Value::String(text) => text.trim().to_owned(),
        _ => argument::telling(name, input, place),
    });
    CodexTold { args, ..told }
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
            CodexTold::of(code::SCRIPT, args)
        }
    }
}

fn shelled(script: &str, workdir: &str, place: &Place) -> CodexTold {
    let elsewhere = argument::is_elsewhere(workdir, place);
    let args = argument::in_folder(script, workdir, place);
    let action = Action::of(BASH, script);
    // Of a command that ran elsewhere only whole paths are sure.
    let written = shell::written(&action).filter(|path| !elsewhere || path.starts_with(['/', '~']));
    let read = shell::read(&action, elsewhere, place);
    let effects = Effects { writes: written.map(|path| place.show_shell(path)).collect(), read };
    CodexTold { effects, ..CodexTold::of(BASH, args) }
}

/// The patch of a command that does nothing but apply one.
fn patch_of(command: &Value) -> Option<String> {
    if let Some([program, Value::String(patch), ..]) = command.as_array().map(Vec::as_slice)
        && program.as_str().is_some_and(|program| ToolKind::of(program) == ToolKind::Patch)
    {
        return Some(patch.clone());
    }
    let script = argv::script(command)?;
    Action::of(BASH, &script).only_patch().map(str::to_owned)
}

fn patched(name: &str, input: &Value, place: &Place) -> CodexTold {
    let name = if ToolKind::of(name) == ToolKind::Patch { name } else { "apply_patch" };
    let files = argument::patched(name, input, place);
    let created = !files.is_empty() && files.iter().all(PatchedFile::is_created);
    let tool = if created { "Write" } else { "Edit" };
    let told = CodexTold::of(tool, patch::names(&files));
    CodexTold { files, ..told }
}

fn ids(input: &Value) -> Option<String> {
    let named = ["id", "target", "ids", "targets"].iter().find_map(|key| input.get(*key));
    Some(strings(named).into_iter().map(short).collect::<Vec<_>>().join(" ")).filter(|ids| !ids.is_empty())
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
