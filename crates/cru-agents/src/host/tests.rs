//! What each host's records mean, on invented files in its form; damage loses and breaks nothing.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::ALL;
use crate::told::{Told, lines, survives_cuts, survives_flips, told, told_of};
use crate::{IMPORTERS, find};
use cru_session::source::Importer;

fn host(id: &str) -> &'static Importer {
    find(id).unwrap()
}

fn read(id: &str, files: &[(&str, Vec<u8>)]) -> Told {
    told(host(id), files)
}

fn document(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn trim(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(told: &Told, key: &str, wanted: &str) {
    assert_eq!(trim(told.stream(key)), trim(wanted), "{:?}", told.streams.keys());
}

#[test]
fn every_host_is_in_the_table_once() {
    for host in &ALL {
        assert_eq!(IMPORTERS.iter().filter(|importer| importer.id == host.id).count(), 1, "{}", host.id);
    }
}

fn vscode() -> Value {
    let node =
        json!({"node": {"children": [{"text": "a", "lineBreakBefore": true}, {"text": "b", "lineBreakBefore": true}]}});
    let rounds = json!([
        {"response": "I look.", "thinking": {"text": ["Which", "file?"]}, "toolCalls": [
            {"id": "c1__vscode-1", "name": "read_file", "arguments": "{\"filePath\": \"/home/mia/lamp/a.rs\"}"},
            {"id": "c2__vscode-2", "name": "run_in_terminal", "arguments": "{\"command\": \"make\"}"}]},
        {"response": "Done.", "toolCalls": [{"id": "c3", "name": "apply_patch", "arguments": "{}"}]}]);
    let results = json!({"c1__vscode-1": {"content": [{"value": node}]}, "c3": {"content": [{"value": "Applying patch failed with error: x"}]}});
    json!({
        "version": 3, "responderUsername": "GitHub Copilot", "sessionId": "s1", "customTitle": "The lamp", "requests": [
            {"requestId": "r1", "timestamp": 1_772_359_200_000_u64, "message": {"text": "mend it"}, "modelId": "copilot/gpt-4.1",
             "response": [{"kind": "hologram"}, {"kind": "toolInvocationSerialized", "toolCallId": "c2", "isConfirmed": {"type": 0}}],
             "result": {"timings": {"totalElapsed": 9000}, "metadata": {"promptTokens": 10, "outputTokens": 3,
                "toolCallRounds": rounds, "toolCallResults": results}}},
            {"requestId": "r2", "timestamp": 1_772_359_300_000_u64, "message": {"text": "and this"}, "isCanceled": true,
             "response": [{"value": "See "}, {"kind": "inlineReference", "inlineReference": {"path": "/home/mia/lamp/b.rs"}},
                {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "x", "isComplete": true,
                 "pastTenseMessage": {"value": "Read b.rs"}, "invocationMessage": {"uris": {"k": {"path": "/home/mia/lamp/b.rs"}}}}]},
            {"requestId": "r3", "message": {"text": "running"}, "response": [], "modelState": {"value": 0}}]
    })
}

const VSCODE: &str = r"
    1 title Custom The lamp
    1 prompt (typed) mend it
    1 Meta(Model(`gpt-4.1`))
    1 thinking Which
    file?
    1 reply I look.
    1 call c1__vscode-1 read_file a.rs
    1 result c1__vscode-1 2 lines reads a.rs
    1 call c2__vscode-2 run_in_terminal make
    1 result c2__vscode-2 denied
    1 reply Done.
    1 call c3 apply_patch
    1 result c3 failed Applying patch failed with error: x
    2 prompt (typed) and this
    2 reply See `b.rs`
    2 call x readFile b.rs
    2 result x Read b.rs reads b.rs
    2 interrupt -
";

#[test]
fn vscode_requests() {
    let folder = ("ws/workspace.json", document(&json!({"folder": "file:///home/mia/lamp"})));
    let told = told_beside("vscode", &[("ws/chatSessions/s1.json", document(&vscode())), folder], 1);
    check(&told, "s1", &VSCODE.replace('`', "\"").replace("\"b.rs\"", "`b.rs`"));
    assert_eq!((told.tokens("s1").input, told.tokens("s1").output, told.skipped("unknown part")), (10, 3, 1));
}

/// Reads the first `count` of these files; the others lie beside them.
fn told_beside(id: &str, files: &[(&str, Vec<u8>)], count: usize) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    for (path, (_, bytes)) in paths.iter().zip(files) {
        cru_base::files::create(path, bytes).unwrap();
    }
    let mut told = Told::default();
    for path in &paths[..count] {
        let bytes = cru_base::files::read(path).unwrap();
        assert!((host(id).recognise)(path, &bytes), "{}", path.display());
    }
    for bundle in (host(id).bundle)(paths[..count].to_vec()).unwrap() {
        (host(id).read)(&bundle, &mut told).unwrap();
    }
    told
}

#[test]
fn vscode_logs_of_changes() {
    let mut begun = vscode();
    let requests = begun["requests"].as_array_mut().unwrap().split_off(1);
    let answer = begun["requests"][0]["result"].take();
    let log = lines(&[
        json!({"kind": 0, "v": begun}),
        json!({"kind": 1, "k": ["requests", 0, "result"], "v": answer}),
        json!({"kind": 2, "k": ["requests"], "v": [{"requestId": "gone"}, {"requestId": "gone"}]}),
        json!({"kind": 2, "k": ["requests"], "i": 1}),
        json!({"kind": 2, "k": ["requests"], "v": requests, "i": 9}),
        json!({"kind": 1, "k": ["requests", 900, "x"], "v": 1}),
        json!({"kind": 3, "k": ["customTitle"]}),
        json!({"kind": 9}),
    ]);
    let told = told_beside(
        "vscode",
        &[
            ("ws/chatSessions/s1.jsonl", log),
            ("ws/workspace.json", document(&json!({"folder": "file:///home/mia/lamp"}))),
        ],
        1,
    );
    let wanted = VSCODE.replace('`', "\"").replace("\"b.rs\"", "`b.rs`").replace("1 title Custom The lamp\n", "");
    check(&told, "s1", &wanted);
}

#[test]
fn vscode_parts_of_answers() {
    let terminal = json!({"commandLine": {"original": "make"}, "terminalCommandState": {"exitCode": 2}, "terminalCommandOutput": {"text": "no rule"}});
    let part = |id: &str| {
        json!({"kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": id, "isConfirmed": {"type": 4},
            "isComplete": {"value": true}, "toolSpecificData": terminal})
    };
    let asked = json!({"kind": "questionCarousel", "data": {"q": {"selectedValue": "r", "freeformValue": "dark"}, "p": "oak"}, "questions": [
        {"id": "q", "title": "Colour", "message": "Which?", "options": [{"label": "Red", "value": "r"}, {"label": "Blue", "value": "b"}]},
        {"id": "p", "title": "Wood?"}]});
    let edit = |edits: Value| json!({"kind": "textEditGroup", "uri": {"path": "/w/a.rs"}, "edits": edits});
    let call = |id: &str| json!({"id": id, "name": "run_in_terminal", "arguments": "{\"command\": \"make\"}"});
    let result = json!({"content": [{"value": "none\n\nCommand exited with code 3"}]});
    let session = json!({"version": 3, "responderUsername": "x", "sessionId": "s2", "requests": [
        {"requestId": "1", "message": {"text": "go"}, "response": [part("a"), asked, edit(json!([[{"text": "x"}]])), edit(json!([[]]))]},
        {"requestId": "2", "message": {"text": "on"}, "response": [part("a"), asked], "result": {"metadata": {
            "toolCallRounds": [{"response": "I build.", "toolCalls": [call("a__1"), call("b__1")]}],
            "toolCallResults": {"a__1": result, "b__1": result}}}}]});
    let told = read("vscode", &[("s2.json", document(&session))]);
    check(
        &told,
        "s2",
        r#"
        1 prompt (typed) go
        1 call a run_in_terminal make
        1 result a failed exit 2 no rule
        1 decision Colour: Red, dark rejected ["Blue"]
        1 decision oak rejected []
        1 call 1.2 edit_file /w/a.rs
        1 result 1.2 changed writes /w/a.rs
        2 prompt (typed) on
        2 reply I build.
        2 call a__1 run_in_terminal make
        2 result a__1 failed exit 2 none
        Command exited with code 3
        2 call b__1 run_in_terminal make
        2 result b__1 failed exit 3 none
        Command exited with code 3
        2 decision Colour: Red, dark rejected ["Blue"]
        2 decision oak rejected []"#,
    );
}

fn qwen() -> Vec<u8> {
    let line = |id: &str, before: Value, kind: &str, more: Value| {
        let mut line = json!({"uuid": id, "parentUuid": before, "sessionId": "s", "type": kind, "cwd": "/home/mia/lamp",
            "timestamp": "2026-03-01T10:00:00Z"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let text = |words: &str| json!({"message": {"parts": [{"text": words}]}});
    let call = |id: &str, tool: &str, args: Value| json!({"functionCall": {"id": id, "name": tool, "args": args}});
    let event = |event: Value| json!({"subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}});
    let output = "Command: make\nDirectory: (root)\nOutput: no rule\nError: (none)\nExit Code: 2\nSignal: (none)";
    lines(&[
        line("1", json!(null), "user", text("mend it <system-reminder>be kind</system-reminder>")),
        line(
            "2",
            json!("1"),
            "assistant",
            json!({"model": "coder", "message": {"parts": [{"text": "Hm.", "thought": true}, {"text": "I build."},
            call("c1", "run_shell_command", json!({"command": "make"})), call("c2", "edit", json!({"file_path": "/home/mia/lamp/a.rs", "old_string": "a", "new_string": "b"}))]},
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 9, "thoughtsTokenCount": 3, "totalTokenCount": 109, "cachedContentTokenCount": 40}}),
        ),
        line(
            "3",
            json!("2"),
            "tool_result",
            json!({"message": {"parts": [{"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": output}}}]}, "toolCallResult": {"status": "success"}}),
        ),
        line(
            "4",
            json!("3"),
            "system",
            event(
                json!({"event.name": "qwen-code.tool_call", "function_name": "edit", "status": "error", "error": "Tool \"edit\" was canceled by the user."}),
            ),
        ),
        line("5", json!("4"), "system", event(json!({"event.name": "qwen-code.api_error", "error_message": "429"}))),
        line(
            "6",
            json!("5"),
            "system",
            json!({"subtype": "custom_title", "systemPayload": {"customTitle": "Lamp", "titleSource": "auto"}}),
        ),
        line("7", json!("6"), "system", json!({"subtype": "hologram"})),
        line("8", json!("1"), "user", text("another way")),
        line("9", json!("8"), "assistant", text("Yes.")),
        line(
            "10",
            json!("9"),
            "user",
            json!({"isSidechain": true, "agentId": "a1", "agentName": "explore", "message": {"parts": [{"text": "look"}]}}),
        ),
    ])
}

#[test]
fn qwen_lines() {
    let told = read("qwen", &[("s.jsonl", qwen())]);
    check(
        &told,
        "s",
        r#"
        1 prompt (typed) mend it
        2 thinking Hm.
        2 reply I build.
        2 call c1 run_shell_command make
        2 call c2 edit a.rs
        3 result c1 failed exit 2 no rule
        4 result c2 denied Tool "edit" was canceled by the user.
        5 failure 429
        6 title Host Lamp
        8 Rewind { to: 1 }
        8 prompt (typed) another way
        9 reply Yes."#
            .replace("Rewind { to: 1 }", "rewind to 1")
            .as_str(),
    );
    check(&told, "s/agent-a1", "1 prompt (task) look");
    let tokens = told.tokens("s");
    assert_eq!((tokens.input, tokens.output, tokens.cache_read), (60, 9, 40));
    assert_eq!(told.skipped("unknown record type"), 1);
}

#[test]
fn qwen_words_of_the_host_and_copies() {
    let line = |id: u64, kind: &str, more: Value| {
        let mut line =
            json!({"uuid": id.to_string(), "parentUuid": (id - 1).to_string(), "sessionId": "b", "type": kind});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let said = |subtype: &str, words: &str, shown: Value| json!({"subtype": subtype, "message": {"parts": [{"text": words}]}, "systemPayload": shown});
    let copied = json!({"message": {"parts": [{"text": "mend it"}]}, "usageMetadata": {"promptTokenCount": 9}, "forkedFrom": {"sessionId": "a"}});
    let event = |event: Value| json!({"subtype": "ui_telemetry", "systemPayload": {"uiEvent": event}});
    let image = json!({"displayText": "", "attachmentReferences": [{"mimeType": "image/png", "size": 8}]});
    let fork = lines(&[
        line(1, "user", copied.clone()),
        line(2, "assistant", copied),
        line(3, "user", said("", "paint it\n--- a.rs ---\nx", json!({"displayText": "paint it"}))),
        line(
            4,
            "user",
            said("mid_turn_user_message", "\n[User message received during tool execution]: red", json!({})),
        ),
        line(5, "user", said("mid_turn_user_message", "\n[User message received while you were responding]: ", image)),
        line(6, "user", said("notification", "<task-notification>", json!({"displayText": "done"}))),
        line(7, "user", said("cron", "look", json!({}))),
        line(8, "user", said("goal_runtime", "go on", json!({}))),
        line(9, "system", event(json!({"event.name": "qwen-code.api_error", "error_type": "APIUserAbortError"}))),
    ]);
    let own = "prompt (typed) paint it\n4 prompt (typed) red\n5 prompt (typed)  +image/png 8\n9 interrupt -";
    let told = told_beside("qwen", &[("b.jsonl", fork.clone()), ("a.jsonl", qwen())], 1);
    check(&told, "b", &format!("3 {own}"));
    assert_eq!((told.tokens("b").used(), told.skipped("words of the host")), (0, 3));
    // Nothing else tells what was copied from a session that is gone.
    let told = told_beside("qwen", &[("b.jsonl", fork)], 1);
    check(&told, "b", &format!("1 prompt (typed) mend it\n2 reply mend it\n3 {own}"));
}

fn kimi() -> Vec<u8> {
    let line = |kind: &str, payload: Value| json!({"timestamp": 1_774_273_363.5, "message": {"type": kind, "payload": payload}});
    lines(&[
        json!({"type": "metadata", "protocol_version": "1.6"}),
        line(
            "TurnBegin",
            json!({"user_input": [{"type": "text", "text": "mend it"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}),
        ),
        line("ContentPart", json!({"type": "think", "think": "Hm."})),
        line("ContentPart", json!({"type": "text", "text": "I lo"})),
        line("ContentPart", json!({"type": "text", "text": "ok."})),
        line("ToolCall", json!({"id": "t1", "function": {"name": "Agent", "arguments": "{\"description\": \""}})),
        line(
            "SubagentEvent",
            json!({"parent_tool_call_id": "t0", "subagent_type": "coder", "event": {"type": "TurnBegin", "payload": {"user_input": "look"}}}),
        ),
        line("ToolCallPart", json!({"arguments_part": "look\"}"})),
        line(
            "StatusUpdate",
            json!({"message_id": "m", "token_usage": {"input_other": 5, "output": 2, "input_cache_read": 7, "input_cache_creation": 0}}),
        ),
        line(
            "ToolResult",
            json!({"tool_call_id": "t1", "return_value": {"is_error": true, "output": "", "message": "blocked"}}),
        ),
        line("Hologram", json!({})),
        line("ToolCall", json!({"id": "t2", "function": {"name": "Shell", "arguments": "{\"comm"}})),
    ])
}

#[test]
fn kimi_wire() {
    let told = read(
        "kimi",
        &[("u1/wire.jsonl", kimi()), ("u1/context.jsonl", lines(&[json!({"role": "_checkpoint", "id": 0})]))],
    );
    check(
        &told,
        "u1",
        r"
        2 prompt (typed) mend it +image/png 3
        3 thinking Hm.
        4 reply I look.
        9 call t1 Agent look
        9 result t1 failed blocked agent - u1/agent-t1
        11 call t2 Shell",
    );
    check(&told, "u1/agent-t0", "1 prompt (task) look");
    assert_eq!((told.tokens("u1").used(), told.tokens("u1").cache_read), (7, 7));
    assert_eq!((told.skipped("unknown record type"), told.skipped("context that other lines tell")), (1, 1));
    assert!(told.consumed["u1"].open.is_some());
}

#[test]
fn kimi_writes_a_call_while_another_is_answered() {
    let line = |kind: &str, payload: Value| json!({"timestamp": 1_774_273_363.5, "message": {"type": kind, "payload": payload}});
    let read_file = |id: &str, written: &str| {
        line("ToolCall", json!({"id": id, "function": {"name": "ReadFile", "arguments": written}}))
    };
    let answer = |id: &str| line("ToolResult", json!({"tool_call_id": id, "return_value": {"output": id}}));
    let whole = lines(&[
        json!({"type": "metadata", "protocol_version": "1.6"}),
        line("TurnBegin", json!({"user_input": "look"})),
        read_file("a", "{\"path\": \"Makefile\"}"),
        read_file("b", "{\"path\": \"b.r"),
        answer("a"),
        line("ToolCallPart", json!({"arguments_part": "s\"}"})),
        answer("b"),
    ]);
    let told = read("kimi", &[("u1/wire.jsonl", whole)]);
    check(
        &told,
        "u1",
        r"
        2 prompt (typed) look
        4 call a ReadFile Makefile
        5 result a a reads Makefile
        7 call b ReadFile b.rs
        7 result b b reads b.rs",
    );
}

#[test]
fn kimi_says_why_it_failed_and_names_nobody() {
    let line = |kind: &str, payload: Value| json!({"timestamp": 1_774_273_363.5, "message": {"type": kind, "payload": payload}});
    let call = |id: &str, tool: &str, input: Value| {
        line("ToolCall", json!({"id": id, "function": {"name": tool, "arguments": input.to_string()}}))
    };
    let failed = |id: &str, output: &str, why: &str| {
        let value = json!({"is_error": true, "output": output, "message": why});
        line("ToolResult", json!({"tool_call_id": id, "return_value": value}))
    };
    let wire = lines(&[
        line("TurnBegin", json!({"user_input": "mend it"})),
        call("a", "Glob", json!({"pattern": "**/a"})),
        failed("a", "-rw-r--r-- a.md", "Pattern is not allowed."),
        call("b", "Shell", json!({"command": "make"})),
        failed("b", "no rule", "Command failed with exit code: 2."),
        call("c", "SetTodoList", json!({"todos": [{"title": "one", "status": "done"}]})),
        line("StepInterrupted", json!({})),
    ]);
    let told = read("kimi", &[("u1/wire.jsonl", wire)]);
    check(
        &told,
        "u1",
        r"
        1 prompt (typed) mend it
        3 call a Glob **/a
        3 result a failed Pattern is not allowed.
        -rw-r--r-- a.md
        5 call b Shell make
        5 result b failed exit 2 no rule
        7 tasks 1 one completed
        7 call c SetTodoList 1 task
        7 interrupt by nobody named",
    );
}

#[test]
fn kimi_context_and_code() {
    let context = lines(&[
        json!({"role": "_system_prompt", "content": "You are"}),
        json!({"role": "user", "content": "mend it"}),
        json!({"role": "assistant", "content": [], "tool_calls": [{"id": "t", "function": {"name": "Shell", "arguments": "{\"command\": \"ls\"}"}}]}),
        json!({"role": "tool", "tool_call_id": "t", "content": "a"}),
    ]);
    let told = read("kimi", &[("u1/context.jsonl", context)]);
    check(&told, "u1", "2 prompt (typed) mend it\n3 call t Shell ls\n4 result t a");
    let event =
        |event: Value| json!({"type": "context.append_loop_event", "event": event, "time": 1_782_295_201_100_u64});
    let code = lines(&[
        json!({"type": "metadata", "protocol_version": "1.4"}),
        json!({"type": "config.update", "cwd": "/home/mia/lamp", "modelAlias": "k2"}),
        json!({"type": "context.append_message", "message": {"role": "user", "content": [{"type": "text", "text": "mend it"}]}}),
        event(json!({"type": "content.part", "part": {"type": "text", "text": "I lo"}})),
        event(json!({"type": "content.part", "part": {"type": "text", "text": "ok."}})),
        event(json!({"type": "tool.call", "toolCallId": "t", "name": "Read", "args": {"path": "/home/mia/lamp/a.rs"}})),
        event(json!({"type": "tool.result", "toolCallId": "t", "result": {"isError": true, "output": "gone"}})),
        json!({"type": "context.append_message", "message": {"role": "assistant", "content": "I look."}}),
        json!({"type": "context.apply_compaction", "summary": "all", "tokensBefore": 9}),
        json!({"type": "usage.record", "model": "k2", "usage": {"inputOther": 4, "output": 1}}),
        json!({"type": "hologram"}),
    ]);
    let told = read(
        "kimi",
        &[("session_1/agents/main/wire.jsonl", code.clone()), ("session_1/agents/agent-0/wire.jsonl", code)],
    );
    check(
        &told,
        "session_1",
        r#"
        2 Meta(Model("k2"))
        3 prompt (typed) mend it
        4 reply I look.
        6 call t Read a.rs
        7 result t failed gone
        9 compaction - 9 all"#,
    );
    assert_eq!(told.parents["session_1/agent-agent-0"], "session_1");
    assert_eq!((told.tokens("session_1").used(), told.skipped("unknown record type")), (5, 2));
}

#[test]
fn kimi_words_beside_the_turn() {
    let line = |kind: &str, payload: Value| json!({"timestamp": 1_774_273_363.5, "message": {"type": kind, "payload": payload}});
    let text = |words: &str| line("ContentPart", json!({"type": "text", "text": words}));
    let refused = "The tool call is rejected by the user. User feedback: use ninja";
    let wire = lines(&[
        line("TurnBegin", json!({"user_input": "mend it"})),
        text("One."),
        line("StepBegin", json!({"n": 2})),
        text("Two."),
        line("ToolCall", json!({"id": "t", "function": {"name": "Shell", "arguments": "{\"command\": \"ma"}})),
        line("BtwBegin", json!({"id": "b", "question": "is it lit?"})),
        line("BtwEnd", json!({"id": "b", "response": "No."})),
        line("ToolCallPart", json!({"arguments_part": "ke\"}"})),
        line(
            "ToolResult",
            json!({"tool_call_id": "t", "return_value": {"is_error": true, "output": "", "message": refused}}),
        ),
    ]);
    let told = read("kimi", &[("u1/wire.jsonl", wire)]);
    check(
        &told,
        "u1",
        r"
        1 prompt (typed) mend it
        2 reply One.
        4 reply Two.
        6 prompt (command) /btw is it lit?
        7 reply No.
        9 call t Shell make
        9 result t denied The tool call is rejected by the user. User feedback: use ninja
        9 prompt (typed) use ninja",
    );
    let event = |event: Value| json!({"type": "context.append_loop_event", "event": event});
    let said = |words: &str| event(json!({"type": "content.part", "part": {"type": "text", "text": words}}));
    let skill = |trigger: &str| {
        let origin = json!({"kind": "skill_activation", "skillName": "init", "skillArgs": "all", "trigger": trigger});
        json!({"type": "context.append_message", "message": {"role": "user", "content": "body", "origin": origin}})
    };
    let code = lines(&[
        skill("user-slash"),
        said("One."),
        event(json!({"type": "step.begin"})),
        said("Two."),
        event(json!({"type": "tool.call", "toolCallId": "t", "name": "Bash", "args": {"command": "make"}})),
        json!({"type": "permission.record_approval_result", "toolCallId": "t", "result": {"decision": "rejected", "feedback": "use ninja"}}),
        event(json!({"type": "tool.result", "toolCallId": "t", "result": {"isError": true, "output": "no"}})),
        json!({"type": "turn.steer", "input": []}),
        skill("model-tool"),
    ]);
    let told = read("kimi", &[("session_1/agents/main/wire.jsonl", code)]);
    check(
        &told,
        "session_1",
        r"
        1 prompt (command) /init all
        2 reply One.
        4 reply Two.
        5 call t Bash make
        6 result t denied use ninja
        6 prompt (typed) use ninja",
    );
}

fn cline() -> Value {
    json!([
        {"role": "user", "content": [{"type": "text", "text": "<task>\nmend it\n</task>"}, {"type": "text", "text": "<environment_details>\n# Current Working Directory (/home/mia/lamp) Files\n</environment_details>"}]},
        {"role": "assistant", "content": "I look.\n\n<execute_command>\n<command>make</command>\n</execute_command>"},
        {"role": "user", "content": [{"type": "text", "text": "[execute_command for 'make'] Result:"}, {"type": "text", "text": "Command failed.\nExit code: 2"}, {"type": "text", "text": "<environment_details></environment_details>"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "write_to_file", "input": {"path": "/home/mia/lamp/a.rs", "content": "a\n"}}, {"type": "hologram"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "The user denied this operation."}]},
        {"role": "assistant", "content": "<attempt_completion><result>\nMended.\n</result></attempt_completion>"}
    ])
}

#[test]
fn cline_tasks() {
    let request = |at: u64, tokens: u64| {
        json!({"ts": 1_772_359_200_000_u64 + at, "type": "say", "say": "api_req_started", "conversationHistoryIndex": at,
        "text": json!({"tokensIn": tokens, "tokensOut": 2, "cacheReads": 1, "cost": 0.25}).to_string()})
    };
    let shown = document(&json!([request(0, 10), request(2, 20)]));
    let item = document(&json!({"id": "7", "parentTaskId": "6", "workspace": "/home/mia/lamp", "modelId": "m"}));
    let told = told_beside(
        "cline",
        &[
            ("tasks/7/api_conversation_history.json", document(&cline())),
            ("tasks/7/ui_messages.json", shown),
            ("tasks/7/history_item.json", item),
        ],
        1,
    );
    check(
        &told,
        "7",
        r#"
        1 Meta(Model("m"))
        1 Meta(Started(2026-03-01T10:00:00Z))
        1 Meta(TotalCost(0.5))
        1 prompt (typed) mend it
        2 reply I look.
        2 call @2 execute_command make
        3 result @2 failed exit 2 Command failed.
        Exit code: 2
        4 call t write_to_file a.rs
        5 result t denied The user denied this operation.
        6 reply Mended."#,
    );
    assert_eq!(told.headers[0].parent.as_ref().unwrap().session, "6");
    assert_eq!((told.tokens("7").input, told.tokens("7").output, told.tokens("7").cache_read), (30, 4, 2));
    assert_eq!(told.skipped("unknown block"), 1);
}

/// What a person said to an answer is theirs, in each form that the hosts have for it.
#[test]
fn cline_words_to_answers() {
    let agent = |tool: &str, input: Value| json!({"role": "assistant", "content": [{"type": "tool_use", "id": tool, "name": tool, "input": input}]});
    let native = |tool: &str, text: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": tool, "content": text}]});
    let text = |texts: &[&str]| json!({"role": "user", "content": texts.iter().map(|text| json!({"type": "text", "text": text})).collect::<Vec<_>>()});
    let write = || agent("write_to_file", json!({"path": "a.rs", "content": "a"}));
    let run = || agent("execute_command", json!({"command": "make"}));
    let ask = || {
        agent("ask_followup_question", json!({"question": "Which?", "follow_up": [{"text": "red"}, {"text": "blue"}]}))
    };
    let done = || agent("attempt_completion", json!({"result": "Done."}));
    let resumed = "[TASK RESUMPTION] It was interrupted.";
    let task = json!([
        write(),
        native("write_to_file", r#"{"status":"denied","feedback":"not there"}"#),
        run(),
        native(
            "execute_command",
            "{\"status\":\"approved\",\"feedback\":\"quietly\"}\nCommand executed in terminal. Command execution was not successful.\nExit code: 1\nOutput:\nno rule"
        ),
        run(),
        native("execute_command", "Command executed in terminal. Process terminated by signal SIGKILL\nOutput:\n"),
        run(),
        text(&["[execute_command for 'make'] Result:", "Command failed with exit code 4.\nno rule"]),
        run(),
        native(
            "execute_command",
            "Command executed.\nOutput:\nExit code: 5\nThe user denied this operation\n<feedback>"
        ),
        ask(),
        native("ask_followup_question", "<user_message>\nred\n</user_message>"),
        ask(),
        text(&["[ask_followup_question for 'Which?'] Result:", "<answer>\ngreen\n</answer>"]),
        done(),
        native("attempt_completion", "<user_message>\nonce more\n</user_message>"),
        text(&[
            "[plan_mode_respond] Result:",
            "[The user has switched]\n\nThe user also provided the following message:\n<user_message>\ngo\n</user_message>"
        ]),
        text(&[r#"{"status":"guidance","feedback":"other way"}"#]),
        text(&[&format!("{resumed}\n\nNew instructions:\n<user_message>\nand tests\n</user_message>")]),
        text(&[
            resumed,
            "New instructions:\n<user_message>\nand docs\n</user_message>",
            "<environment_details>\n</environment_details>"
        ]),
        text(&[resumed]),
    ]);
    let told = read("cline", &[("tasks/1772359200000/api_conversation_history.json", document(&task))]);
    check(
        &told,
        "1772359200000",
        r#"
        1 Meta(Started(2026-03-01T10:00:00Z))
        1 call write_to_file write_to_file a.rs
        2 result write_to_file denied
        2 prompt (typed) not there
        3 call execute_command execute_command make
        4 result execute_command failed exit 1 Command executed in terminal. Command execution was not successful.
        Exit code: 1
        Output:
        no rule
        4 prompt (typed) quietly
        5 call execute_command@5 execute_command make
        6 result execute_command@5 failed Command executed in terminal. Process terminated by signal SIGKILL
        Output:
        7 call execute_command@7 execute_command make
        8 result execute_command@7 failed exit 4 Command failed with exit code 4.
        no rule
        9 call execute_command@9 execute_command make
        10 result execute_command@9 Command executed.
        Output:
        Exit code: 5
        The user denied this operation
        <feedback>
        11 call ask_followup_question ask_followup_question Which?
        12 result ask_followup_question red
        12 decision red rejected ["blue"]
        13 call ask_followup_question@13 ask_followup_question Which?
        14 result ask_followup_question@13 green
        14 decision green rejected []
        15 reply Done.
        16 prompt (typed) once more
        17 prompt (typed) go
        18 prompt (typed) other way
        19 prompt (typed) and tests
        20 prompt (typed) and docs"#,
    );
}

/// An answer in words is that of a call of the message before it, whatever stands of the call, and nothing else that the
/// host writes beside it is a person's.
#[test]
fn cline_answers_in_words() {
    let agent = |id: &str, tool: &str, input: Value| {
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}],
        "modelInfo": {"modelId": "m"}, "metrics": {"tokens": {"prompt": 10, "completion": 2, "cached": 1}}})
    };
    let host = |texts: &[&str]| {
        let texts = texts.iter().chain(&[
            "# TODO LIST\n- [ ] mend",
            "<environment_details>\n# Current Working Directory (c:/lamp) Files\n</environment_details>",
        ]);
        json!({"role": "user", "content": texts.map(|text| json!({"type": "text", "text": text})).collect::<Vec<_>>()})
    };
    let run = |id: &str, command: &str| agent(id, "execute_command", json!({ "command": command }));
    let task = json!([
        host(&["<task>\nmend it\n</task>"]),
        agent("a", "use_subagents", json!({"prompt_1": "look"})),
        host(&["[subagents] Result:\nTotal: 1"]),
        run("b", "make one"),
        host(&["[TASK RESUMPTION] It was interrupted.", "(No message.)"]),
        run("c", "make 2>nul"),
        host(&["[execute_command for 'make 2>nul'] Result:\nCommand executed successfully (exit code 0)."]),
        run("d", "echo 'a\n\nb'"),
        host(&["[execute_command for 'echo 'a\n\nb''] Result:\nCommand failed with exit code 1."]),
        agent("e", "ask_followup_question", json!({"question": "## Done\n\nGo on?"})),
        host(&["[ask_followup_question for '## Done\n\nGo on?'] Result:\n<answer>\nyes\n</answer>"]),
        agent("f", "write_to_file", json!({"absolutePath": r"c:\lamp\src\a.rs", "content": "a"})),
        host(&["[write_to_file for 'c:\\lamp\\src\\a.rs'] Result:\nThe content was successfully saved."]),
    ]);
    let told = read("cline", &[("tasks/1772359200000/api_conversation_history.json", document(&task))]);
    check(
        &told,
        "1772359200000",
        r#"
        1 Meta(Model("m"))
        1 Meta(Started(2026-03-01T10:00:00Z))
        1 prompt (typed) mend it
        2 call a use_subagents {"prompt_1":"look"}
        3 result a Total: 1
        4 call b execute_command make one
        6 call c execute_command make 2>nul
        7 result c Command executed successfully (exit code 0).
        8 call d execute_command echo 'a

        b'
        9 result d failed exit 1 Command failed with exit code 1.
        10 call e ask_followup_question ## Done

        Go on?
        11 result e yes
        11 decision yes rejected []
        12 call f write_to_file src/a.rs
        13 result f written, 1 line writes src/a.rs"#,
    );
    let used = told.tokens("1772359200000");
    assert_eq!((used.input, used.output, used.cache_read), (60, 12, 6));
}

/// What a person says or a file holds may look like the host's own word.
#[test]
fn what_only_looks_like_the_host() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let call = |id: &str, tool: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": {}}]});
    let result = |id: &str, text: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]});
    let task = json!([
        user("<task>why is <feedback>no</feedback> there?</task>"),
        call("a", "write_to_file"),
        result("a", r#"{"status":"denied","feedback":"end it with </feedback>, and stop"}"#),
        call("b", "use_mcp_tool"),
        result("b", r#"{"status":"denied","loan":5}"#),
        user(r#"{"status":"guidance","feedback":"hi"} what does this mean?"#),
    ]);
    let told = read("cline", &[("tasks/1772359200000/api_conversation_history.json", document(&task))]);
    let shown = told.stream("1772359200000");
    for words in ["why is <feedback>no</feedback> there?", "end it with </feedback>, and stop", "what does this mean?"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!shown.contains("result b denied"), "{shown}");

    let own = json!({"uuid": "1", "sessionId": "q", "type": "user", "message": {"parts": [{"text": "mend it"}]}, "forkedFrom": {"sessionId": "q"}});
    check(&told_beside("qwen", &[("q.jsonl", lines(&[own]))], 1), "q", "1 prompt (typed) mend it");

    let events = String::from_utf8(openhands()).unwrap();
    let by_hook = events
        .replace("\"rejection_reason\":\"keep it\"", "\"rejection_reason\":\"no rm\",\"rejection_source\":\"hook\"");
    let told = read("openhands", &[("events.jsonl", by_hook.into_bytes())]);
    let shown = told.stream("e1");
    assert!(shown.contains("result u denied") && !shown.contains("prompt (denial"), "{shown}");
}

#[test]
fn cline_sessions() {
    let messages = document(&json!({"version": 1, "agent": "lead", "sessionId": "s", "messages": [
        {"id": "1", "role": "user", "content": [{"type": "text", "text": "mend it"}], "ts": 1_772_359_200_000_u64},
        {"id": "2", "role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read_files", "input": {"files": [{"path": "/w/a.rs"}]}}],
         "metrics": {"inputTokens": 12, "outputTokens": 3, "cacheReadTokens": 10, "cost": 0.5}, "modelInfo": {"id": "m"}},
        {"id": "3", "role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"query": "/w/a.rs", "result": "1 | a", "success": false}]}]}]}));
    let about = document(
        &json!({"session_id": "s", "cwd": "/w", "metadata": {"title": "mend", "fork": {"forkedFromSessionId": "r"}}}),
    );
    let told = told_beside("cline", &[("s/s.messages.json", messages), ("s/s.json", about)], 1);
    check(
        &told,
        "s",
        r"
        1 prompt (typed) mend it
        2 call t read_files a.rs
        2 Meta(Cost(0.5))
        3 result t failed 1 | a",
    );
    assert_eq!((told.tokens("s").input, told.tokens("s").cache_read), (2, 10));
}

fn amp() -> Value {
    json!({"v": 3, "id": "T-1", "created": 1_772_359_200_000_u64, "title": "Lamp", "agentMode": "smart", "nextMessageId": 4,
        "env": {"initial": {"trees": [{"uri": "file:///home/mia/my%20lamp"}], "platform": {"client": "CLI", "clientVersion": "0.1"}}},
        "usageLedger": {"events": [{"timestamp": "2026-03-01T10:00:09Z", "toMessageId": 1, "credits": 1.5}]},
        "messages": [
            {"role": "user", "messageId": 0, "content": [{"type": "text", "text": "mend it"}]},
            {"role": "assistant", "messageId": 1, "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "id": "t", "name": "Bash", "input": {"cmd": "make"}}],
             "usage": {"model": "m", "inputTokens": 2, "outputTokens": 3, "cacheReadInputTokens": 4, "cacheCreationInputTokens": 5}},
            {"role": "user", "messageId": 2, "content": [{"type": "tool_result", "toolUseID": "t", "run": {"status": "done", "result": {"output": "no rule", "exitCode": 2}}}]},
            {"role": "assistant", "messageId": 3, "content": [{"type": "text", "text": "Gone."}], "state": {"type": "cancelled"}},
            {"role": "info", "messageId": 4, "content": [{"type": "manual_bash_invocation", "args": {"cmd": "make"},
                "toolRun": {"status": "done", "result": {"output": "no rule", "exitCode": 2}}}]},
            {"role": "assistant", "messageId": 5, "content": [{"type": "tool_use", "id": "u", "name": "Bash", "input": {"cmd": "ls"}}]},
            {"role": "user", "messageId": 6, "content": [{"type": "tool_result", "toolUseID": "u", "run": {"status": "in-progress"}}]}]})
}

#[test]
fn amp_threads() {
    let told = read("amp", &[("T-1.json", document(&amp()))]);
    check(
        &told,
        "T-1",
        r#"
        1 title Host Lamp
        1 Meta(Started(2026-03-01T10:00:00Z))
        1 Meta(Property { key: "amp", value: Object {"credits": Number(1.5)} })
        1 prompt (typed) mend it
        2 thinking Hm.
        2 call t Bash make
        3 result t failed exit 2 no rule
        4 reply Gone.
        4 interrupt -
        5 prompt (shell) make
        5 call shell@5 Shell make
        5 result shell@5 failed exit 2 no rule
        6 call u Bash ls"#,
    );
    assert_eq!((told.skipped("call that goes on"), told.consumed["T-1"].open), (1, Some(6)));
    assert_eq!((told.tokens("T-1").used(), told.tokens("T-1").cache_read), (10, 4));
}

fn antigravity() -> Vec<u8> {
    let step = |index: u64, source: &str, kind: &str, content: &str, more: Value| {
        let mut step = json!({"step_index": index, "source": source, "type": kind, "status": "DONE", "created_at": "2026-03-01T10:00:00Z", "content": content});
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        step
    };
    lines(&[
        step(
            0,
            "USER_EXPLICIT",
            "USER_INPUT",
            "<USER_REQUEST>\nmend it\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nx\n</ADDITIONAL_METADATA>",
            json!({}),
        ),
        step(1, "SYSTEM", "CONVERSATION_HISTORY", "", json!({})),
        step(
            2,
            "MODEL",
            "PLANNER_RESPONSE",
            "I look.",
            json!({"thinking": "Hm.", "tool_calls": [
            {"name": "view_file", "args": {"AbsolutePath": "/home/mia/a.rs"}}, {"name": "run_command", "args": {"CommandLine": "make"}}]}),
        ),
        step(3, "MODEL", "VIEW_FILE", "1: a\n2: b", json!({})),
        step(4, "MODEL", "RUN_COMMAND", "no rule\nExit code: 2", json!({"status": "ERROR"})),
        step(5, "MODEL", "GREP_SEARCH", "a.rs:1", json!({})),
        step(6, "SYSTEM", "ERROR_MESSAGE", "overloaded", json!({})),
        step(7, "MODEL", "HOLOGRAM", "x", json!({})),
    ])
}

#[test]
fn antigravity_steps() {
    let logs = "brain/c1/.system_generated/logs";
    let cut =
        |at: u64| json!({"step_index": at, "source": "MODEL", "created_at": "2026-03-01T10:00:00Z", "content": "cut"});
    let cut = lines(&[cut(2), cut(9)]);
    let told = read(
        "antigravity",
        &[(&format!("{logs}/transcript_full.jsonl"), antigravity()), (&format!("{logs}/transcript.jsonl"), cut)],
    );
    check(
        &told,
        "c1",
        r"
        1 prompt (typed) mend it
        3 thinking Hm.
        3 reply I look.
        3 call @3 view_file ~/a.rs
        3 call @3@3 run_command make
        4 result @3 2 lines reads ~/a.rs
        5 result @3@3 failed exit 2 no rule
        Exit code: 2
        6 call @6 grep_search
        6 result @6 a.rs:1
        7 failure overloaded
        9 reply cut",
    );
    assert_eq!((told.skipped("unknown record type"), told.skipped("duplicate record")), (1, 1));
}

fn grok() -> Vec<u8> {
    let line = |update: Value| json!({"timestamp": 1_784_278_801, "params": {"update": update}});
    let chunk =
        |kind: &str, text: &str| line(json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}));
    lines(&[
        chunk("user_message_chunk", "<user_query>mend"),
        chunk("user_message_chunk", " "),
        chunk("user_message_chunk", "it</user_query>"),
        line(json!({"sessionUpdate": "user_message_chunk", "content": {"type": "image", "data": "AAAA"}})),
        line(json!({"sessionUpdate": "user_message_chunk", "content": {"text": "now"}, "_meta": {"promptIndex": 1}})),
        chunk("agent_thought_chunk", "H"),
        chunk("agent_thought_chunk", "m."),
        chunk("agent_message_chunk", "I lo"),
        chunk("agent_message_chunk", "ok."),
        line(
            json!({"sessionUpdate": "tool_call", "toolCallId": "t", "kind": "execute", "title": "make all", "status": "pending", "rawInput": {"command": "make all"}}),
        ),
        line(json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"})),
        line(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed", "content": [{"type": "content", "content": {"type": "text", "text": "no rule"}}]}),
        ),
        line(json!({"sessionUpdate": "hologram"})),
        chunk("agent_message_chunk", "It fai"),
        chunk("agent_message_chunk", "ls."),
    ])
}

#[test]
fn grok_updates() {
    let about = document(
        &json!({"info": {"id": "g1", "cwd": "/home/mia/lamp"}, "generated_title": "Lamp", "current_model_id": "grok-4", "parent_session_id": "g0"}),
    );
    let told = told_beside("grok", &[("g1/updates.jsonl", grok()), ("g1/summary.json", about)], 1);
    check(
        &told,
        "g1",
        r#"
        1 title Host Lamp
        1 Meta(Model("grok-4"))
        1 prompt (typed) mend it +image 3
        5 prompt (typed) now
        6 thinking Hm.
        8 reply I look.
        10 call t shell make all
        12 result t failed no rule
        14 reply It fails."#,
    );
    assert_eq!((told.parents["g1"].as_str(), told.skipped("unknown record type")), ("g0", 1));
}

fn openhands() -> Vec<u8> {
    let event = |id: &str, kind: &str, source: &str, more: Value| {
        let mut event = json!({"id": id, "kind": kind, "source": source, "timestamp": "2026-03-01T10:00:00"});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    lines(&[
        event(
            "e1",
            "MessageEvent",
            "user",
            json!({"llm_message": {"role": "user", "content": [{"type": "text", "text": "mend it"}]}}),
        ),
        event(
            "e2",
            "ActionEvent",
            "agent",
            json!({"thought": [{"type": "text", "text": "<think>Hm.</think>\nI look."}], "reasoning_content": "Hm.",
            "tool_name": "terminal", "tool_call_id": "t", "action": {"kind": "TerminalAction", "command": "make", "timeout": null}}),
        ),
        event(
            "e3",
            "ObservationEvent",
            "environment",
            json!({"tool_call_id": "t", "observation": {"content": [{"type": "text", "text": "no rule"}], "metadata": {"exit_code": 2}}}),
        ),
        event(
            "e4",
            "ConversationStateUpdateEvent",
            "environment",
            json!({"key": "stats", "value": {"usage_to_metrics": {"default": {"model_name": "m", "accumulated_cost": 0.5,
            "accumulated_token_usage": {"prompt_tokens": 10, "completion_tokens": 2, "cache_read_tokens": 4}}}}}),
        ),
        event("e5", "HologramEvent", "agent", json!({})),
        event(
            "e6",
            "ActionEvent",
            "agent",
            json!({"tool_name": "terminal", "tool_call_id": "u", "action": {"kind": "TerminalAction", "command": "rm x"}}),
        ),
        event(
            "e7",
            "UserRejectObservation",
            "environment",
            json!({"tool_call_id": "u", "rejection_reason": "keep it"}),
        ),
        event("e8", "Condensation", "environment", json!({"summary": "They looked."})),
        event(
            "e9",
            "ActionEvent",
            "agent",
            json!({"tool_name": "finish", "tool_call_id": "f", "action": {"kind": "FinishAction", "message": "Mended."}}),
        ),
        event(
            "e10",
            "ObservationEvent",
            "environment",
            json!({"tool_call_id": "f", "observation": {"kind": "FinishObservation", "content": []}}),
        ),
    ])
}

#[test]
fn openhands_events() {
    let told = read("openhands", &[("events.jsonl", openhands())]);
    check(
        &told,
        "e1",
        r"
        1 prompt (typed) mend it
        2 thinking Hm.
        2 reply I look.
        2 call t terminal make
        3 result t failed exit 2 no rule
        4 Meta(TotalCost(0.5))
        6 call u terminal rm x
        7 result u denied keep it
        7 prompt (denial of u) keep it
        8 compaction - 0 They looked.
        9 reply Mended.",
    );
    assert_eq!((told.tokens("e1").input, told.tokens("e1").cache_read, told.skipped("unknown record type")), (6, 4, 1));
    // Each event in a file of its own.
    let all = String::from_utf8(openhands()).unwrap();
    let files: Vec<_> =
        all.lines().enumerate().map(|(at, line)| (format!("c1/events/event-{at:05}-x.json"), line.into())).collect();
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, line): &(String, Vec<u8>)| (name.as_str(), line.clone())).collect();
    assert_eq!(read("openhands", &files).stream("c1"), told.stream("e1"));
    let state = json!({"stats": {"usage_to_metrics": {
        "agent": {"model_name": "m", "accumulated_token_usage": {"prompt_tokens": 7, "completion_tokens": 1}},
        "condenser": {"model_name": "m", "accumulated_token_usage": {"prompt_tokens": 2}, "accumulated_cost": 0.25},
    }}});
    let files = [("c2/base_state.json", document(&state)), ("c2/events/event-00005-x.json", files[5].1.clone())];
    let told = read("openhands", &files);
    assert_eq!((told.tokens("c2").input, told.stream("c2").contains("TotalCost(0.25)")), (9, true));
}

#[test]
fn openhands_trajectories() {
    let list = document(&json!([
        {"id": 0, "timestamp": "2026-03-01T10:00:00", "source": "user", "action": "message", "args": {"content": "mend it"}},
        {"id": 1, "timestamp": "2026-03-01T10:00:01", "source": "agent", "action": "run", "args": {"command": "make", "thought": "I build."}},
        {"id": 2, "timestamp": "2026-03-01T10:00:02", "source": "agent", "observation": "run", "cause": 1, "content": "no rule", "extras": {"metadata": {"exit_code": 2}}},
        {"id": 3, "timestamp": "2026-03-01T10:00:03", "source": "agent", "action": "finish", "args": {"final_thought": "Gone."}}
    ]));
    let told = read("openhands", &[("trajectory.json", list)]);
    check(
        &told,
        "trajectory",
        r"
        1 prompt (typed) mend it
        2 reply I build.
        2 call 1 bash make
        3 result 1 failed exit 2 no rule
        4 reply Gone.",
    );
}

#[test]
fn vibe_sessions() {
    let messages = lines(&[
        json!({"role": "user", "content": "mend it", "message_id": "1"}),
        json!({"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "message_id": "2",
            "tool_calls": [{"id": "t", "function": {"name": "read_file", "arguments": {"path": "a.rs"}}}]}),
        json!({"role": "tool", "content": "a\nb", "tool_call_id": "t", "message_id": "3"}),
    ]);
    let about = json!({"session_id": "v1", "title": "Lamp", "start_time": "2026-03-01T10:00:00Z", "environment": {"working_directory": "/home/mia/lamp"},
        "stats": {"session_prompt_tokens": 9, "session_completion_tokens": 2, "session_cost": 0.5}, "agent_config": {"active_model": "m"}});
    let wanted = r#"
        1 title Host Lamp
        1 Meta(Model("m"))
        1 Meta(Started(2026-03-01T10:00:00Z))
        1 Meta(TotalCost(0.5))
        1 prompt (typed) mend it
        2 thinking Hm.
        2 reply I look.
        2 call t read_file a.rs
        3 result t 2 lines reads a.rs"#;
    let told = told_beside("vibe", &[("x/messages.jsonl", messages.clone()), ("x/meta.json", document(&about))], 1);
    check(&told, "v1", wanted);
    assert_eq!(told.tokens("v1").used(), 11);
    let all: Vec<Value> =
        messages.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let old = document(&json!({"metadata": about, "messages": all}));
    check(&read("vibe", &[("session_20260301_v1.json", old)]), "v1", wanted);
}

#[test]
fn vibe_words_of_the_host() {
    let call = |id: &str, tool: &str, args: Value| json!({"id": id, "function": {"name": tool, "arguments": args}});
    let write = json!({"path": "/w/a.c", "content": "a"});
    let answer = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let messages = lines(&[
        json!({"role": "assistant", "content": "", "tool_calls": [call("1", "bash", json!({"command": "make"})), call("2", "write_file", write.clone()),
            call("3", "write_file", write), call("4", "search_replace", json!({"file_path": "/w/b.c", "content": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"}))]}),
        answer("1", "<tool_error>bash failed: Command failed: 'make'\nReturn code: 2\nStderr: no rule</tool_error>"),
        answer("2", "<user_cancellation>write_file</user_cancellation>"),
        answer("3", "<user_cancellation>Tool execution interrupted by user.</user_cancellation>"),
        answer("4", "blocks_applied: 1"),
        json!({"role": "user", "content": "<user_cancellation>User cancelled the operation.</user_cancellation>"}),
        json!({"role": "user", "content": "<user_cancellation> is what in my log?"}),
    ]);
    let told = told_beside(
        "vibe",
        &[("x/messages.jsonl", messages), ("x/meta.json", document(&json!({"session_id": "v2"})))],
        1,
    );
    check(
        &told,
        "v2",
        r"
        1 call 1 bash make
        1 call 2 write_file /w/a.c
        1 call 3 write_file /w/a.c
        1 call 4 search_replace /w/b.c
        2 result 1 failed exit 2 <tool_error>bash failed: Command failed: 'make'
        Return code: 2
        Stderr: no rule</tool_error>
        3 result 2 denied <user_cancellation>write_file</user_cancellation>
        4 result 3 failed Tool execution interrupted by user.
        5 result 4 changed writes /w/b.c
        6 interrupt -
        7 prompt (typed) <user_cancellation> is what in my log?",
    );
}

#[test]
fn continue_sessions() {
    let run = |id: &str| json!({"id": id, "function": {"name": "run_terminal_command", "arguments": "{\"command\": \"make\"}"}});
    let ended = |id: &str, status: &str, printed: &str| json!({"toolCallId": id, "status": "done", "output": [{"name": "Terminal", "status": status, "content": printed}]});
    let session = document(
        &json!({"sessionId": "k1", "title": "New Session", "workspaceDirectory": "file:///home/mia/lamp", "history": [
        {"message": {"role": "user", "content": [{"type": "text", "text": "mend it"}]}, "contextItems": []},
        {"message": {"role": "assistant", "content": "I look.", "toolCalls": [{"id": "t", "function": {"name": "read_file", "arguments": "{\"filepath\": \"a.rs\"}"}}]},
         "promptLogs": [{"modelTitle": "M", "completionOptions": {"model": "m"}}],
         "toolCallStates": [{"toolCallId": "t", "status": "errored", "output": [{"content": "gone"}]}]},
        {"message": {"role": "tool", "toolCallId": "t", "content": "gone"}},
        {"message": {"role": "user", "content": [{"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,AAAA"}}]}},
        {"message": {"role": "assistant", "content": "", "toolCalls": [run("u"), run("v"), run("w")]}, "toolCallStates": [
            ended("u", "", "boom\n\nCommand failed with exit code 2"), ended("v", "Command failed with: no shell", "x"), ended("w", "Command completed", "x")]}], "usage": {"promptTokens": 4, "completionTokens": 1, "totalCost": 0.5}}),
    );
    let told = read("continue", &[("k1.json", session)]);
    check(
        &told,
        "k1",
        r#"
        1 Meta(Model("m"))
        1 Meta(TotalCost(0.5))
        1 prompt (typed) mend it
        2 reply I look.
        2 call t read_file a.rs
        2 result t failed gone
        4 prompt (typed)  +image/png 3
        5 call u run_terminal_command make
        5 call v run_terminal_command make
        5 call w run_terminal_command make
        5 result u failed exit 2 boom
        Command failed with exit code 2
        5 result v failed x
        5 result w x"#,
    );
    assert_eq!((told.tokens("k1").used(), told.skipped("repeated answer")), (5, 1));
}

#[test]
fn exports_of_claude_ai() {
    let said = |words: &str| json!([{"type": "text", "text": words}]);
    let whole = document(&json!([
        {"uuid": "u1", "name": "Lamp", "created_at": "2026-03-01T10:00:00Z", "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "mend it", "content": [], "created_at": "2026-03-01T10:00:00Z",
             "attachments": [{"file_name": "a.txt", "file_type": "text/plain", "file_size": 12, "extracted_content": "dark"}],
             "files": [{"file_name": "b.png"}]},
            {"uuid": "m2", "sender": "assistant", "text": "So.", "created_at": "2026-03-01T10:00:05Z", "content": [
                {"type": "thinking", "thinking": "Hm."}, {"type": "token_budget"},
                {"type": "tool_use", "name": "web_search", "input": {"query": "lamp"}},
                {"type": "tool_use", "name": "web_search", "input": {"query": "bulb"}},
                {"type": "tool_result", "name": "web_search", "content": said("found")},
                {"type": "tool_result", "name": "web_search", "content": said("none"), "is_error": true},
                {"type": "hologram"}, {"type": "text", "text": "So."}]},
            {"uuid": "m3", "sender": "human", "text": "", "content": [], "attachments": [{"file_name": "", "extracted_content": "so long"}]}]},
        {"uuid": "u2", "name": "", "chat_messages": []}, {"name": "no id", "chat_messages": []}]));
    let told = read("claude-ai", &[("conversations.json", whole)]);
    check(
        &told,
        "u1",
        r"
        1 title Host Lamp
        1 Meta(Started(2026-03-01T10:00:00Z))
        1 prompt (typed) mend it
        a.txt
        dark +b.png 0
        2 thinking Hm.
        2 call @2 web_search lamp
        2 call @2@2 web_search bulb
        2 result @2 found
        2 result @2@2 failed none
        2 reply So.
        3 prompt (typed) so long",
    );
    assert_eq!((told.skipped("unknown block `hologram`"), told.skipped("conversation without an id")), (1, 1));
}

/// The blocks of a message have times of their own.
#[test]
fn blocks_of_a_message_have_their_times() {
    let time = |second: u32| format!("2026-03-01T10:00:{second:02}Z");
    let whole = document(&json!([{"uuid": "u", "name": "", "chat_messages": [
        {"uuid": "m", "sender": "assistant", "created_at": time(9), "content": [
            {"type": "tool_use", "id": "t", "name": "web_search", "input": {}, "start_timestamp": time(1), "stop_timestamp": time(2)},
            {"type": "tool_result", "tool_use_id": "t", "content": "found", "start_timestamp": null},
            {"type": "text", "text": "So.", "start_timestamp": time(4), "stop_timestamp": time(5)}]}]}]));
    let told = read("claude-ai", &[("conversations.json", whole)]);
    let times: Vec<String> = told.times.iter().map(|time| time.unwrap().to_string()).collect();
    assert_eq!(times, [time(1), time(1), time(5)]);
}

#[test]
fn exports_of_chatgpt() {
    let node = |id: &str, parent: &str, role: &str, kind: &str, words: &str, to: &str| {
        json!({"id": id, "parent": parent, "message": {"id": id, "author": {"role": role, "name": "python"}, "recipient": to,
            "create_time": 1_772_359_200.5, "content": {"content_type": kind, "parts": [words]}, "metadata": {"model_slug": "gpt-5"}}})
    };
    let whole = |current: &str| {
        document(
            &json!([{"title": "Lamp", "conversation_id": "c1", "create_time": 1_772_359_200.5, "current_node": current, "mapping": {
            "0": {"id": "0", "parent": null, "message": null}, "s": node("s", "0", "system", "text", "", "all"),
            "1": node("1", "s", "user", "text", "mend it", "all"), "2": node("2", "1", "assistant", "text", "an older branch", "all"),
            "t": node("t", "1", "assistant", "thoughts", "Hm.", "all"), "3": node("3", "t", "assistant", "code", "1+1", "python"),
            "4": node("4", "3", "tool", "execution_output", "2", "all"), "5": node("5", "4", "assistant", "text", "Two.", "all")}}]),
        )
    };
    let told = read("chatgpt", &[("conversations.json", whole("5"))]);
    check(
        &told,
        "c1",
        r#"
        1 title Host Lamp
        1 Meta(Started(2026-03-01T10:00:00.5Z))
        1 Meta(Model("gpt-5"))
        2 prompt (typed) mend it
        3 thinking Hm.
        4 call 3 python {"input":"1+1"}
        5 result 3 2
        6 reply Two."#,
    );
    assert_eq!((told.skipped("message of another branch"), told.skipped("words of the host")), (1, 1));
    // A damaged export goes in circles.
    let circle = String::from_utf8(whole("5")).unwrap().replace("\"parent\":\"s\"", "\"parent\":\"5\"");
    assert!(read("chatgpt", &[("conversations.json", circle.into_bytes())]).stream("c1").contains("reply Two."));
}

#[test]
fn files_of_others_are_not_taken() {
    let samples: [(&str, &str, Vec<u8>); 11] = [
        ("claude-ai", "conversations.json", document(&json!([{"uuid": "u", "name": "", "chat_messages": []}]))),
        ("chatgpt", "conversations.json", document(&json!([{"title": "t", "mapping": {}}]))),
        ("vscode", "x/chatSessions/a.json", document(&vscode())),
        ("qwen", "a.jsonl", qwen()),
        ("kimi", "a/wire.jsonl", kimi()),
        ("cline", "7/api_conversation_history.json", document(&cline())),
        ("amp", "T-1.json", document(&amp())),
        ("antigravity", "logs/transcript.jsonl", antigravity()),
        ("grok", "g/updates.jsonl", grok()),
        ("openhands", "events.jsonl", openhands()),
        ("continue", "k.json", document(&json!({"sessionId": "k", "workspaceDirectory": "/w", "history": []}))),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (id, name, bytes) in &samples {
        let path = folder.path().join(id).join(name);
        cru_base::files::create(&path, bytes).unwrap();
        let any = crate::any::search(&[path]).unwrap();
        assert_eq!(any.found.iter().map(|(importer, _)| importer.id).collect::<Vec<_>>(), [*id], "{name}");
    }
    for importer in ALL.iter().map(|host| find(host.id).unwrap()) {
        for (name, text) in [
            ("a.json", "{}"),
            ("a.json", "[]"),
            ("a.jsonl", "{\"a\":1}\n"),
            ("package.json", "{\"name\":\"x\",\"version\":\"1\"}"),
            ("a.json", ""),
            (
                "chat.json",
                r#"{"version": 3, "responderUsername": "x", "requests": [{"timestamp": 1, "prompt": "a", "completion": "b"}]}"#,
            ),
        ] {
            assert!(!(importer.recognise)(Path::new(name), text.as_bytes()), "{} takes {text}", importer.id);
        }
    }
}

#[test]
fn cut_anywhere() {
    survives_cuts(host("qwen"), "a.jsonl", &qwen(), true);
    survives_cuts(host("kimi"), "a/wire.jsonl", &kimi(), false);
    survives_cuts(host("antigravity"), "logs/transcript.jsonl", &antigravity(), true);
    survives_cuts(host("grok"), "g/updates.jsonl", &grok(), false);
    survives_cuts(host("openhands"), "events.jsonl", &openhands(), true);
    survives_cuts(host("amp"), "T-1.json", &document(&amp()), false);
    survives_cuts(host("cline"), "7/api_conversation_history.json", &document(&cline()), false);
    crate::told::survives_other_types(host("vscode"), "a.json", &document(&vscode()));
}

proptest! {
    // Each name that nobody knows is kept, up to a limit: the tests of other hosts need some of them.
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn damaged_anywhere(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
        survives_flips(host("vscode"), "x/chatSessions/a.json", &document(&vscode()), &flips);
        survives_flips(host("qwen"), "a.jsonl", &qwen(), &flips);
        survives_flips(host("kimi"), "a/wire.jsonl", &kimi(), &flips);
        survives_flips(host("cline"), "7/api_conversation_history.json", &document(&cline()), &flips);
        survives_flips(host("amp"), "T-1.json", &document(&amp()), &flips);
        survives_flips(host("antigravity"), "logs/transcript.jsonl", &antigravity(), &flips);
        survives_flips(host("grok"), "g/updates.jsonl", &grok(), &flips);
        survives_flips(host("openhands"), "events.jsonl", &openhands(), &flips);
    }
}

#[test]
fn damaged_documents_keep_their_account() {
    let told = told_of(
        host("amp"),
        "T-1.json",
        br#"{"id":"T-1","messages":[{"role":"user","content":"a"},{"role":}, {"ro"#.to_vec(),
    );
    assert_eq!((told.skipped("broken record"), told.skipped("partial last record")), (1, 1));
}
