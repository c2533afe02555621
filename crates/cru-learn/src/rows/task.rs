//! A stretch of a session as a task that can be run: a repository at a commit, the person's words, and a check that failed
//! and later passed.
//!
//! The check must have failed before anything but tests was changed since the commit: so it fails there. A command that
//! moves the work tree to other commits ends what is known of it, up to the next commit. Whether all that made it pass is
//! in the record is for who runs it to see: a record holds no work tree.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::case::entry::{self, Entry};
use crate::case::left_out::Reason;
use crate::case::{Case, Fidelity};
use crate::export::file::Planned;
use crate::find::planned::is_test;
use crate::rows::row::Metadata;
use crate::rows::tokens;
use cru_action::Verdict;
use cru_session::attempt::Attempt;

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RunnableTask {
    id: String,
    /// The folder of the repository, as the note names it.
    repository: String,
    base_commit: String,
    instruction: String,
    /// Commands that fail at the commit and pass behind the edits.
    fail_to_pass: Vec<String>,
    /// Whether the record shows that they fail at the commit.
    fails_at_commit: bool,
    /// The person's corrections, word for word.
    rubric: Vec<String>,
    /// Edits of code, in order: the reference solution.
    edits: Vec<FileEdit>,
    /// Edits of tests, which the check needs.
    test_edits: Vec<FileEdit>,
    metadata: Metadata,
}

/// A text of a file that another one takes the place of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FileEdit {
    path: String,
    /// Where the file is moved to; empty where it stays.
    moved_to: String,
    /// The text as it stood; empty where the whole file is written.
    old: String,
    /// The text that takes its place.
    new: String,
    /// Whether each occurrence is replaced.
    all: bool,
    /// Whether the file goes.
    deleted: bool,
}

/// The task of a session.
///
/// With `proposed` also one of which nobody knows whether its check fails at the commit: it failed behind edits of code.
pub(crate) fn of(case: &Case, proposed: bool) -> Result<RunnableTask, Reason> {
    if case.fidelity != Fidelity::Full {
        return Err(Reason::CallsUnknown);
    }
    if case.repository.commit.is_empty() {
        return Err(Reason::CommitUnknown);
    }
    let project = case.repository.name.trim_start_matches("~/").replace('\\', "/");
    let found = stretch(case, true).or_else(|| stretch(case, false).filter(|_| proposed));
    let stretch = found.ok_or(Reason::NoCheck)?;
    let (test_edits, edits): (Vec<FileEdit>, Vec<FileEdit>) =
        stretch.edits.iter().flat_map(|entry| edits(entry, &project)).partition(|edit| is_test(&edit.path));
    if edits.is_empty() {
        return Err(Reason::ChangeUnknown);
    }
    let words = |corrects: bool| {
        let turns = case.context[stretch.turns.clone()].iter();
        let turns = turns.filter(move |turn| turn.corrects == corrects && !turn.heading);
        turns.map(|turn| turn.asked.as_str()).filter(|words| !words.trim().is_empty())
    };
    // Without other words those that correct what came before are what is asked.
    let asks = words(false).next().is_some();
    let instruction = entry::paragraphs(words(!asks));
    if instruction.is_empty() {
        return Err(Reason::NoCheck);
    }
    let tokens = tokens::of_text(&instruction);
    Ok(RunnableTask {
        id: case.id.replacen("trajectory", "task", 1),
        repository: case.repository.name.clone(),
        base_commit: stretch.base,
        instruction,
        fails_at_commit: stretch.at_commit,
        fail_to_pass: vec![local(&stretch.command, &project)],
        rubric: if asks { words(true).map(str::to_owned).collect() } else { Vec::new() },
        edits,
        test_edits,
        metadata: Metadata::of(case, tokens, false),
    })
}

/// A stretch of a session from a commit to a check that passed.
struct Stretch<'a> {
    base: String,
    /// The turns whose words led to it.
    turns: std::ops::Range<usize>,
    /// The command that failed at the commit, and passed.
    command: String,
    /// All that was edited between.
    edits: Vec<&'a Entry>,
    /// Whether it is known that it fails there.
    at_commit: bool,
}

/// What is known of the work tree.
struct Tree<'a> {
    /// The commit; `None` where it was moved to an unknown one.
    base: Option<String>,
    /// The turn in which it was made.
    since: usize,
    edits: Vec<&'a Entry>,
    /// Checks that failed before anything but tests was changed, by what they check: the command.
    failed: HashMap<String, String>,
}

/// The first stretch in which a check failed and passed; with `at_commit` one of which it is known that it fails at the
/// commit.
fn stretch(case: &Case, at_commit: bool) -> Option<Stretch<'_>> {
    let base = Some(case.repository.commit.clone());
    let mut tree = Tree { base, since: 0, edits: Vec::new(), failed: HashMap::new() };
    for (turn, at) in case.context.iter().enumerate() {
        for entry in at.done.iter().filter(|entry| entry.is_step()) {
            if let Some(commit) = entry.commit() {
                tree =
                    Tree { base: Some(commit.to_owned()), since: turn + 1, edits: Vec::new(), failed: HashMap::new() };
                continue;
            }
            if entry.moves_tree() {
                tree.base = None;
            } else if entry.is_edit() && !entry.is_failed() {
                tree.edits.push(entry);
            }
            let (Some(base), Some(Attempt::Check(key))) = (&tree.base, entry.attempt()) else { continue };
            let Some(command) = entry.command() else { continue };
            let tests = |entry: &&Entry| {
                let changes = entry.changes();
                !changes.is_empty() && changes.iter().all(|change| is_test(change.path()))
            };
            match entry.verdict() {
                Some(Verdict::Failed) if !at_commit || tree.edits.iter().all(tests) => {
                    tree.failed.entry(key).or_insert_with(|| command.into_owned());
                }
                Some(Verdict::Passed) if !tree.edits.iter().all(tests) => {
                    if let Some(command) = tree.failed.remove(&key) {
                        let turns = tree.since.min(turn)..turn + 1;
                        return Some(Stretch { base: base.clone(), turns, command, edits: tree.edits, at_commit });
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// The edits of a call, in files of the project.
fn edits(entry: &Entry, project: &str) -> Vec<FileEdit> {
    let whole = entry.whole();
    let all = whole.is_some_and(|call| call.arguments.get("replace_all").and_then(Value::as_bool) == Some(true));
    let mut edits = Vec::new();
    for change in entry.changes() {
        let path = local(change.old_path.unwrap_or_else(|| change.path()), project);
        let moved_to = if change.is_moved() { local(change.path(), project) } else { String::new() };
        if path.is_empty() || path.starts_with('/') || path.contains("..") {
            continue;
        }
        let edit = |old: String, new: String| FileEdit {
            path: path.clone(),
            moved_to: moved_to.clone(),
            old,
            new,
            all,
            deleted: change.is_deleted(),
        };
        if change.is_deleted() || change.hunks.is_empty() {
            edits.push(edit(String::new(), String::new()));
        }
        for hunk in change.hunks.iter().filter(|_| !change.is_deleted()) {
            let lines = |old: bool| {
                let side = hunk.lines.iter().filter_map(|line| match *line {
                    cru_action::patch::PatchLine::Kept(text) => Some(text),
                    cru_action::patch::PatchLine::Removed(text) => old.then_some(text),
                    cru_action::patch::PatchLine::Added(text) => (!old).then_some(text),
                });
                side.collect::<Vec<_>>().join("\n")
            };
            edits.push(edit(lines(true), lines(false)));
        }
    }
    edits
}

/// A text with the folder of the project as `.`, wherever that lay on the machine.
fn local(text: &str, project: &str) -> String {
    if project.len() < 2 {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(project) {
        let opens = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | '(' | '`' | ':' | ';' | '|' | '&');
        let start = rest[..at].rfind(opens).map_or(0, |before| before + 1);
        // A colon may belong to a drive.
        out.push_str(&rest[..start]);
        let behind = &rest[at + project.len()..];
        let inside = behind.starts_with('/') || behind.starts_with('\\');
        let ends = behind.chars().next().is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
        out.push_str(if ends { "." } else { &rest[start..at + project.len()] });
        rest = behind;
        if inside && ends && out == "." {
            out.clear();
            rest = &behind[1..];
        }
    }
    out.push_str(rest);
    out
}

impl RunnableTask {
    /// Tokens of what is asked.
    pub(crate) const fn tokens(&self) -> usize {
        self.metadata.tokens
    }

    /// The task as a sample of Inspect.
    pub(crate) fn sample(&self) -> String {
        let mut all = serde_json::to_value(&self.metadata).unwrap_or_default();
        for (key, value) in serde_json::to_value(self).unwrap_or_default().as_object().into_iter().flatten() {
            if !matches!(key.as_str(), "metadata" | "id" | "instruction") {
                all[key] = value.clone();
            }
        }
        let target = entry::paragraphs([
            format!("`{}` passes.", self.fail_to_pass.join("`, `")).as_str(),
            &self.rubric.join("\n\n"),
        ]);
        json!({ "id": self.id, "input": self.instruction, "target": target, "metadata": all }).to_string()
    }
}

/// Applies edits, whichever folder it lies in.
const APPLY: &str = r#"import json, pathlib, sys
# Written by `cru session learn`: applies the edits of a session to the work tree.
for edit in json.load(open(sys.argv[1])):
    path = pathlib.Path(edit["path"])
    if edit["deleted"]:
        path.unlink(missing_ok=True)
        continue
    if edit["old"]:
        text = path.read_text()
        if edit["old"] not in text:
            sys.exit(f"{path}: the text to replace is not there")
        text = text.replace(edit["old"], edit["new"], -1 if edit["all"] else 1)
    else:
        text = edit["new"]
    if edit["moved_to"]:
        path.unlink(missing_ok=True)
        path = pathlib.Path(edit["moved_to"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
"#;

/// The files of a task for Harbor, from its sample.
pub(crate) fn harbor(sample: &[u8]) -> Vec<Planned> {
    let sample: Value = serde_json::from_slice(sample).unwrap_or_default();
    let (id, metadata) = (sample["id"].as_str().unwrap_or_default(), &sample["metadata"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let checks = metadata["fail_to_pass"].as_array().into_iter().flatten().map(&text);
    let checks = checks.collect::<Vec<_>>().join("\n");
    let toml = format!(
        "# Written by `cru session learn`.\nversion = \"1.0\"\n\n[metadata]\nrepository = {}\nbase_commit = {}\n\n\
         [verifier]\ntimeout_sec = 900.0\n\n[agent]\ntimeout_sec = 1800.0\n",
        metadata["repository"], metadata["base_commit"]
    );
    let docker = format!(
        "# Set REPOSITORY to the address of {}, and add what its checks need.\nFROM ubuntu:24.04\nARG REPOSITORY\n\
         RUN apt-get update && apt-get install -y git python3 ca-certificates\n\
         RUN git clone \"$REPOSITORY\" /app && cd /app && git checkout '{}'\nWORKDIR /app\n",
        text(&metadata["repository"]),
        text(&metadata["base_commit"])
    );
    let test = "#!/bin/bash\ncd /app\npython3 /tests/apply.py /tests/edits.json || exit 1\n\
                if bash -o pipefail /tests/check.sh; then reward=1; else reward=0; fi\n\
                mkdir -p /logs/verifier && echo $reward > /logs/verifier/reward.txt\n";
    let solve = "#!/bin/bash\ncd /app\npython3 /solution/apply.py /solution/edits.json\n";
    let file = |name: &str, text: String| Planned::text(&format!("{id}/{name}"), text);
    let rubric = metadata["rubric"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join("\n\n");
    let mut files = vec![
        Planned { rows: 1, ..file("task.toml", toml) },
        file("instruction.md", text(&sample["input"]) + "\n"),
        file("environment/Dockerfile", docker),
        file("tests/test.sh", test.to_owned()),
        file("tests/check.sh", checks + "\n"),
        file("tests/apply.py", APPLY.to_owned()),
        file("tests/edits.json", metadata["test_edits"].to_string() + "\n"),
        file("solution/solve.sh", solve.to_owned()),
        file("solution/apply.py", APPLY.to_owned()),
        file("solution/edits.json", metadata["edits"].to_string() + "\n"),
    ];
    if !rubric.is_empty() {
        files.push(file("tests/rubric.md", rubric + "\n"));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_the_folder_of_the_task() {
        let at = |text: &str| local(text, "code/pump");
        assert_eq!(at("/home/user/code/pump/src/a.c"), "src/a.c");
        assert_eq!(at("cd /home/user/code/pump && make -C /home/user/code/pump/lib"), "cd . && make -C ./lib");
        assert_eq!(at("cd /home/user/code/pump-2"), "cd /home/user/code/pump-2");
        assert_eq!(at("src/a.c"), "src/a.c");
    }
}
