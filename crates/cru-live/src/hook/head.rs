//! The commit that is checked out before and after a command that makes commits.

use serde_json::Value;

use super::{Event, FIELDS, Input};
use crate::git;
use cru_action::{Action, ToolKind};

/// Verbs of git that move the branch to another commit.
const MOVE_THE_BRANCH: &[&str] = &["commit", "merge", "rebase", "cherry-pick", "revert", "am", "pull"];

/// The commit that is checked out where the agent works; `None` for any other call, and where there is none.
pub(super) fn of(event: Event, input: &Input) -> Option<String> {
    if !matches!(event, Event::PreTool | Event::PostTool | Event::PostToolFailure) {
        return None;
    }
    let tool = input.text(FIELDS.tool)?;
    let command = input.get(FIELDS.tool_input)?.get("command").and_then(Value::as_str)?;
    // Most commands are of another program, and need no reading.
    // Bytes of the longest command that is read; the agent waits for it.
    if command.len() > (64 << 10) || !command.contains("git") || ToolKind::of(tool) != ToolKind::Shell {
        return None;
    }
    let action = Action::of(tool, command);
    let moves = action.commands.iter().any(|it| it.program == "git" && MOVE_THE_BRANCH.contains(&it.verb.as_str()));
    git::checkout(&input.cwd().filter(|_| moves)?).commit
}

#[cfg(test)]
mod tests {
    use cru_base::files;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_makes_commits_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let commit = "4f1c2ab".repeat(6);
        files::create(&dir.path().join(".git/HEAD"), &commit.as_bytes()[..40]).unwrap();
        let head = |tool: &str, command: &str, event| {
            let input = json!({"tool_name": tool, "tool_input": {"command": command}, "cwd": dir.path()});
            of(event, &Input::read(input.to_string().as_bytes()).unwrap())
        };
        let shown = Some(commit[..7].to_owned());
        assert_eq!(head("Bash", "cd x && git commit -qm a", Event::PreTool), shown);
        assert_eq!(head("Bash", "git -C . rebase main", Event::PostToolFailure), shown);
        for (tool, command) in
            [("Bash", "git status"), ("Bash", "echo git commit"), ("Task", "git commit"), ("Bash", "ls")]
        {
            assert_eq!(head(tool, command, Event::PostTool), None, "{tool} {command}");
        }
        assert_eq!(head("Bash", "git commit", Event::Stop), None);
    }
}
