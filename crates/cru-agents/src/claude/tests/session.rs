//! One session's own records.

use std::collections::BTreeMap;

use super::*;
use cru_session::event::{Event, EventKind, StreamKey, Usage};
use cru_session::source::{Header, Sink};

#[test]
fn usage_counts_once_for_a_message_and_the_last_line_wins() {
    let line = |id: &str, output: u64| {
        let mut line = says(id, "", "part");
        line["message"]["id"] = json!("m1");
        line["message"]["usage"] = json!({ "input_tokens": 5, "output_tokens": output, "cache_read_input_tokens": 7 });
        line
    };
    let told = session(&[line("a", 1), line("b", 1), line("c", 9)]);
    let wanted = Usage { input: 5, output: 9, cache_write: 0, cache_read: 7, ..Usage::default() };
    assert_eq!(told.usage, BTreeMap::from([(("s".to_owned(), "m1".to_owned()), wanted)]));
}

#[test]
fn synthetic_texts_are_failures_or_nothing() {
    let synthetic = |id: &str, text: &str, marked: bool| {
        let mut line = says(id, "", text);
        line["message"]["model"] = json!("<synthetic>");
        line["isApiErrorMessage"] = json!(marked);
        line
    };
    let told = session(&[
        synthetic("a", "API Error: 529 overloaded", false),
        synthetic("b", "No response requested.", false),
        synthetic("c", "Something new broke", true),
        record("system", "d", "", json!({ "subtype": "api_error", "retryAttempt": 1 })),
    ]);
    assert_eq!(told.stream("s"), "1 failure API Error: 529 overloaded\n3 failure Something new broke\n");
    assert!(told.usage.is_empty());
    assert_eq!((told.skipped("injected by the host"), told.skipped("failure that the host retried")), (1, 1));
}

#[test]
fn prompts_among_what_only_looks_like_them() {
    let mut meta = user("b", "a", "Base folder of this skill: x");
    meta["isMeta"] = json!(true);
    let picture = json!([
        { "type": "text", "text": "<ide_opened_file>The user opened a.rs</ide_opened_file>" },
        { "type": "text", "text": "what is this?" },
        { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "QUJDRA==" } },
    ]);
    let told = session(&[
        user("a", "", "fix the \"login\"\n\nplease"),
        meta,
        user(
            "c",
            "b",
            "<command-message>review</command-message><command-name>/review</command-name><command-args>src</command-args>",
        ),
        user("d", "c", "<command-name>/clear</command-name><command-args></command-args>"),
        user("e", "d", "<local-command-stdout>Set model</local-command-stdout>"),
        user("f", "e", "<bash-input>ls</bash-input>"),
        user("g", "f", "<bash-stdout>a.rs</bash-stdout><bash-stderr></bash-stderr>"),
        user("h", "g", picture),
        user("i", "h", "rename it<system-reminder>be kind</system-reminder>"),
        user("j", "i", "<teammate-message teammate_id=\"x\">hello</teammate-message>"),
        user("k", "j", " "),
        user("l", "k", json!([{ "type": "text", "text": "[Request interrupted by user]" }])),
    ]);
    insta::assert_snapshot!(told.stream("s"), @r#"
    1 prompt (typed) fix the "login"

    please
    3 prompt (command) /review src
    6 prompt (shell) ls
    7 call shell Shell ls
    7 result shell a.rs
    8 prompt (typed) what is this? +image/png 4
    9 prompt (typed) rename it
    12 interrupt -
    "#);
    assert_eq!(told.accounts[0].represented, 7);
}

#[test]
fn queued_prompts_are_told_once() {
    let queue = |operation: &str, content: Value| json!({ "type": "queue-operation", "operation": operation, "content": content, "sessionId": "s", "timestamp": "2026-03-01T10:00:01.000Z" });
    let attached = |id: &str, text: &str| {
        record("attachment", id, "", json!({ "attachment": { "type": "queued_command", "prompt": text } }))
    };
    let mut later = user("e", "d", "then commit");
    later["promptSource"] = json!("queued");
    let told = session(&[
        user("a", "", "build it"),
        queue("enqueue", json!("use pnpm")),
        queue("remove", Value::Null),
        says("b", "a", "With pnpm."),
        queue("enqueue", json!("and test it")),
        queue("remove", Value::Null),
        attached("c", "and test it"),
        says("d", "b", "Tested."),
        queue("enqueue", json!("then commit")),
        queue("dequeue", Value::Null),
        later,
        queue("enqueue", json!("/model")),
        queue("remove", Value::Null),
        queue("enqueue", json!("never seen")),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 prompt (typed) build it
    3 prompt (queued) use pnpm
    4 reply With pnpm.
    7 prompt (queued) and test it
    8 reply Tested.
    11 prompt (queued) then commit
    ");
    assert_eq!(told.skipped("queued prompt that was never sent"), 1);
}

#[test]
fn refusals_and_interruptions() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). ";
    let told = session(&[
        calls("a", "", "t1", "Bash", json!({ "command": "npm install" })),
        fails("b", "a", "t1", &format!("{refused}To tell you how to proceed, the user said:\nuse pnpm")),
        calls("c", "b", "t2", "Bash", json!({ "command": "sleep 9 > log.txt" })),
        fails(
            "d",
            "c",
            "t2",
            &format!("{refused}STOP what you are doing and wait for the user to tell you how to proceed."),
        ),
        user("e", "d", json!([{ "type": "text", "text": "[Request interrupted by user for tool use]" }])),
        calls("f", "e", "t3", "Bash", json!({ "command": "false" })),
        fails("g", "f", "t3", "Exit code 3\nno"),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 call t1 Bash npm install
    2 result t1 failed denied The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:
    use pnpm
    2 prompt (denial of t1) use pnpm
    3 call t2 Bash sleep 9 > log.txt
    4 result t2 failed denied The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.
    5 interrupt t2
    6 call t3 Bash false
    7 result t3 failed exit 3 no
    ");
}

/// Who stops a hook behind the last words of the agent stops no work.
#[test]
fn a_hook_that_is_stopped_interrupts_nothing() {
    let interrupt = |id, parent| user(id, parent, json!([{ "type": "text", "text": "[Request interrupted by user]" }]));
    let of = |event: &str| {
        let hook = json!({ "attachment": { "type": "hook_cancelled", "hookName": event, "hookEvent": event } });
        let records = [user("a", "", "go"), says("b", "a", "Done."), record("attachment", "c", "b", hook)];
        let more = [interrupt("d", "c"), user("e", "d", "more"), says("f", "e", "I"), interrupt("g", "f")];
        session(&[&records[..], &more[..]].concat()).stream("s").matches("interrupt -").count()
    };
    assert_eq!([of("Stop"), of("UserPromptSubmit")], [1, 2]);
}

#[test]
fn questions_and_plans() {
    let asked = json!({ "questions": [{ "question": "Where?", "header": "Store", "options": [
        { "label": "Disk (Recommended)", "description": "Safe." }, { "label": "Memory", "description": "Fast." }] }] });
    let mut plan = user("g", "f", "Implement the following plan:\n\n# Plan: move it");
    plan["planContent"] = json!("# Plan: move it");
    let told = session(&[
        calls("a", "", "t1", "AskUserQuestion", asked),
        answers("b", "a", "t1", "answered", json!({ "answers": { "Where?": "Disk (Recommended)" } })),
        calls("c", "b", "t2", "ExitPlanMode", json!({ "plan": "# Cut the cache\n\n1. Cut." })),
        answers("d", "c", "t2", "User has approved your plan.", json!({ "plan": "# Cut the cache" })),
        calls("e", "d", "t3", "ExitPlanMode", json!({ "plan": "# Other" })),
        fails("f", "e", "t3", "The user doesn't want to proceed with this tool use. STOP what you are doing and wait"),
        plan,
    ]);
    insta::assert_snapshot!(told.stream("s"), @r#"
    1 call t1 AskUserQuestion Where?
    2 result t1 answered
    2 decision Store: Disk rejected ["Memory"]
    3 call t2 ExitPlanMode Cut the cache
    4 result t2 approved
    4 approval Plan: Cut the cache rejected []
    5 call t3 ExitPlanMode Other
    6 result t3 failed denied The user doesn't want to proceed with this tool use. STOP what you are doing and wait
    7 approval Plan: move it rejected []
    7 prompt (typed) Implement the following plan:

    # Plan: move it
    "#);
}

#[test]
fn parallel_calls_are_no_forks_and_a_prompt_on_an_earlier_turn_is_one() {
    let progress = record("progress", "p", "c", json!({ "data": { "type": "hook_progress" } }));
    let told = session(&[
        user("a", "", "first"),
        calls("b", "a", "t1", "Read", json!({ "file_path": "/home/mia/api/a.rs" })),
        calls("c", "b", "t2", "Read", json!({ "file_path": "/home/mia/api/b.rs" })),
        progress,
        answers("d", "b", "t1", "x", json!({ "type": "text", "file": { "numLines": 1, "totalLines": 1 } })),
        answers("e", "c", "t2", "y", json!({})),
        user("f", "d", "second"),
        says("g", "f", "Done."),
        user("h", "p", "second, in other words"),
        says("i", "h", "Done again."),
        user("j", "i", "third"),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 prompt (typed) first
    2 call t1 Read a.rs
    3 call t2 Read b.rs
    5 result t1 1 line reads a.rs
    6 result t2 y reads b.rs
    7 prompt (typed) second
    8 reply Done.
    9 rewind to 4
    9 prompt (typed) second, in other words
    10 reply Done again.
    11 prompt (typed) third
    ");
}

#[test]
fn compactions() {
    let boundary = json!({ "subtype": "compact_boundary", "logicalParentUuid": "b", "compactMetadata": { "trigger": "auto", "preTokens": 1200 } });
    let mut summary = user("d", "c", "This session is being continued. We built it.");
    summary["isCompactSummary"] = json!(true);
    let told = session(&[
        user("a", "", "build"),
        says("b", "a", "Built."),
        record("system", "c", "", boundary.clone()),
        summary,
        user("e", "d", "go on"),
        record("system", "f", "e", json!({ "subtype": "microcompact_boundary" })),
        record("system", "g", "", boundary),
        says("h", "g", "No summary came."),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 prompt (typed) build
    2 reply Built.
    4 compaction auto 1200 This session is being continued. We built it.
    5 prompt (typed) go on
    7 compaction auto 1200 -
    8 reply No summary came.
    ");
}

#[test]
fn tasks_titles_pulls_and_commits() {
    let title = |kind: &str, key: &str, text: &str| json!({ "type": kind, key: text, "sessionId": "s" });
    let pull = json!({ "type": "pr-link", "prNumber": 7, "prUrl": "https://example.org/pull/7", "sessionId": "s" });
    let told = session(&[
        json!({ "type": "summary", "summary": "Of this one", "leafUuid": "f" }),
        json!({ "type": "summary", "summary": "Of another", "leafUuid": "zz" }),
        calls(
            "a",
            "",
            "t1",
            "TodoWrite",
            json!({ "todos": [{ "content": "one", "status": "completed" }, { "content": "two", "status": "pending" }] }),
        ),
        answers("b", "a", "t1", "ok", json!({})),
        calls("c", "b", "t2", "TaskCreate", json!({ "subject": "three", "description": "x" })),
        answers("d", "c", "t2", "ok", json!({ "task": { "id": "3" } })),
        calls("e", "d", "t3", "TaskUpdate", json!({ "taskId": "3", "status": "in_progress" })),
        answers("f", "e", "t3", "ok", json!({})),
        calls("g", "f", "t4", "Bash", json!({ "command": "echo x > out/a.txt && git commit -m x" })),
        answers("h", "g", "t4", "[main 4f1c2ab] x\n 1 file changed", json!({ "stdout": "" })),
        title("ai-title", "aiTitle", "Made by the host"),
        title("ai-title", "aiTitle", "Made by the host"),
        title("custom-title", "customTitle", "Mine"),
        pull.clone(),
        pull,
        json!({ "type": "mode", "mode": "x", "sessionId": "s" }),
        json!({ "type": "brand-new", "sessionId": "s" }),
    ]);
    insta::assert_snapshot!(told.stream("s"), @r#"
    3 call t1 TodoWrite 2 tasks
    4 result t1 1 of 2 done
    4 tasks 1 one completed, 2 two pending
    5 call t2 TaskCreate three
    6 result t2 task #3
    6 task 3 three pending
    7 call t3 TaskUpdate #3 in_progress
    8 result t3 updated
    8 task 3  in_progress
    9 call t4 Bash echo x > out/a.txt && git commit -m x
    10 result t4 [main 4f1c2ab] x
     1 file changed writes out/a.txt
    11 title Host Made by the host
    13 title Custom Mine
    14 pull 7 https://example.org/pull/7
    1 title Summary Of this one
    "#);
    assert_eq!((told.skipped("unknown record type"), told.skipped("summary of another session")), (1, 1));
}

#[test]
fn a_command_in_the_background_ends_where_it_was_called() {
    let starts = |id: &str, call: &str, command: &str| {
        calls(id, "a", call, "Bash", json!({ "command": command, "run_in_background": true }))
    };
    let runs = |id: &str, call: &str, task: &str| {
        answers(id, "a", call, "Command running in background", json!({ "backgroundTaskId": task }))
    };
    let notice = |id: &str, task: &str, status: &str, how: &str| {
        let summary = format!("Background command \"exit code 9\" {how}");
        user(
            id,
            "a",
            format!(
                "<task-notification><task-id>{task}</task-id><status>{status}</status><summary>{summary}</summary></task-notification>"
            ),
        )
    };
    let told = session(&[
        starts("b", "t1", "make > log"),
        runs("c", "t1", "b1"),
        starts("d", "t2", "make lamp > out"),
        runs("e", "t2", "b2"),
        starts("f", "t3", "make on"),
        runs("g", "t3", "b3"),
        starts("h", "t4", "make off"),
        runs("i", "t4", "b4"),
        notice("j", "b1", "failed", "failed with exit code 2"),
        notice("k", "b2", "completed", "completed (exit code 0)"),
        calls("l", "k", "t5", "BashOutput", json!({ "bash_id": "b3" })),
        answers("m", "l", "t5", "on", json!({ "shellId": "b3", "status": "failed", "exitCode": 3, "stdout": "dark" })),
        calls("n", "m", "t6", "TaskOutput", json!({ "task_id": "b4" })),
        answers("o", "n", "t6", "off", json!({ "task": { "task_id": "b4", "status": "running", "exitCode": null } })),
        calls("p", "o", "t7", "KillShell", json!({ "shell_id": "b4" })),
        answers("q", "p", "t7", "killed", json!({ "message": "Successfully killed shell: b4", "shell_id": "b4" })),
        notice("r", "b4", "killed", "was stopped"),
    ]);
    insta::assert_snapshot!(told.stream("s"), @"
    1 call t1 Bash make > log
    2 result t1 runs in the background
    3 call t2 Bash make lamp > out
    4 result t2 runs in the background
    5 call t3 Bash make on
    6 result t3 runs in the background
    7 call t4 Bash make off
    8 result t4 runs in the background
    9 result t1 failed exit 2 failed with exit code 2
    10 result t2 exit 0 completed (exit code 0) writes out
    11 call t5 BashOutput b3
    12 result t5 on
    12 result t3 failed exit 3 dark
    13 call t6 TaskOutput b4
    14 result t6 off
    15 call t7 KillShell b4
    16 result t7 killed
    16 result t4 failed killed
    ");
    assert_eq!(told.skipped("notice of a background command"), 1);
}

#[derive(Default)]
struct Places(Vec<String>);
impl Sink for Places {
    fn open(&mut self, _: Header) {}
    fn event(&mut self, _: &StreamKey, event: Event<'_>) {
        if let EventKind::Meta(meta) = event.kind {
            self.0.push(format!("{meta:?}"));
        }
    }
}

#[test]
fn where_it_ran() {
    let mut moved = says("b", "a", "x");
    moved["cwd"] = json!("/home/mia/api/sub");
    moved["gitBranch"] = json!("main");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    cru_base::files::create(&path, format!("{}\n{moved}\n", user("a", "", "x")).as_bytes()).unwrap();
    let mut places = Places::default();
    (IMPORTER.read)(&cru_session::source::Bundle::of(vec![path]), &mut places).unwrap();
    assert_eq!(places.0, [r#"Cwd("~/api")"#, r#"HostVersion("2.1.9")"#, r#"Cwd("~/api/sub")"#, r#"Branch("main")"#]);
}
