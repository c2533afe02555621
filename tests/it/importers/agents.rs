//! The importers of smaller hosts on invented files, with the real binary: the note that each makes, that nothing
//! changes the second time, that a file which grew ends up as if it had been imported at once, and that notes are sound.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cru::base::files;
use serde_json::{Value, json};

use crate::imports::growth::without_cursor;
use crate::transcript_set::{TranscriptSet, on_both_sets};

/// A vault, a home and a folder of transcripts.
struct Place {
    temp: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { temp: tempfile::tempdir().unwrap() };
        files::create(&place.path("vault/.cru/config.toml"), b"").unwrap();
        files::create_dir(&place.path("home")).unwrap();
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn run(&self, args: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(self.path("home")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("CRU_VAULT", self.path("vault")).env("CRU_NOW", "2036-01-01T00:00:00Z").env("NO_COLOR", "1");
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    fn import(&self, agent: &str) -> String {
        let (good, text) = self.run(&["import", agent, self.path("in").to_str().unwrap()]);
        assert!(good, "{text}");
        text
    }

    /// The notes by name, in order, without what names this machine.
    fn notes(&self) -> Vec<(String, String)> {
        let Ok(entries) = fs::read_dir(self.path("vault/sessions")) else { return Vec::new() };
        let mut notes: Vec<_> = entries
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let text = fs::read_to_string(&path).unwrap().replace(self.temp.path().to_str().unwrap(), "…");
                (path.file_stem().unwrap().to_str().unwrap().to_owned(), text)
            })
            .collect();
        notes.sort();
        notes
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        files::put(&self.path("in").join(name), bytes).unwrap();
    }
}

/// All notes of one file, as one text.
fn notes_of(agent: &str, name: &str, bytes: &[u8]) -> String {
    let place = Place::new();
    place.put(name, bytes);
    place.import(agent);
    let before = place.notes();
    let again = place.import(agent);
    assert_eq!(place.notes(), before, "{again}");
    let (sound, said) = place.run(&["check"]);
    assert!(sound && said.contains("nothing wrong"), "{said}");
    let notes = before.into_iter().map(|(name, text)| format!("=== {name}\n{}", without_cursor(&text)));
    notes.collect::<Vec<_>>().concat()
}

/// What a file is at `ends` imported one after the other, against the last at once.
fn grows(agent: &str, name: &str, bytes: &[u8], ends: &[usize]) {
    let place = Place::new();
    for &end in ends.iter().chain([&bytes.len()]) {
        place.put(name, &bytes[..end]);
        let said = place.import(agent);
        assert!(!said.contains("another one than it was"), "at {end}:\n{said}");
    }
    let plain = |text: &str| without_cursor(text);
    let grown: Vec<_> = place.notes().into_iter().map(|(_, text)| plain(&text)).collect();
    let whole = Place::new();
    whole.put(name, bytes);
    whole.import(agent);
    let whole: Vec<_> = whole.notes().into_iter().map(|(_, text)| plain(&text)).collect();
    assert_eq!(grown, whole);
}

/// The ends of lines, `count` of them spread over the file.
fn ends(bytes: &[u8], count: usize) -> Vec<usize> {
    let all: Vec<usize> = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).collect();
    let step = (all.len() / (count + 1)).max(1);
    all.into_iter().skip(step).step_by(step).take(count).collect()
}

fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect()
}

fn copilot() -> Vec<u8> {
    let event = |second: u64, kind: &str, data: Value| json!({"type": kind, "data": data, "id": format!("e{second}"), "timestamp": format!("2026-03-01T10:00:{second:02}Z")});
    lines(&[
        event(
            1,
            "session.start",
            json!({"sessionId": "5e55", "copilotVersion": "1.2.3", "selectedModel": "gpt-9",
            "context": {"cwd": "/home/mia/tides", "branch": "main"}}),
        ),
        event(2, "user.message", json!({"content": "why does `tides.ts` fail?"})),
        event(3, "assistant.message", json!({"content": "I run the tests.", "outputTokens": 12, "toolRequests": []})),
        event(
            4,
            "tool.execution_start",
            json!({"toolCallId": "c1", "toolName": "bash", "arguments": {"command": "npm test"}}),
        ),
        event(
            6,
            "tool.execution_complete",
            json!({"toolCallId": "c1", "success": true,
            "result": {"content": "error: no tide\n<exited with exit code 1>"}}),
        ),
        event(
            7,
            "tool.execution_start",
            json!({"toolCallId": "c2", "toolName": "edit",
            "arguments": {"path": "/home/mia/tides/tides.ts", "old_str": "a", "new_str": "b\nc"}}),
        ),
        event(8, "tool.execution_complete", json!({"toolCallId": "c2", "success": true, "result": {"content": "ok"}})),
        event(
            9,
            "tool.execution_start",
            json!({"toolCallId": "c3", "toolName": "bash", "arguments": {"command": "npm test"}}),
        ),
        event(
            12,
            "tool.execution_complete",
            json!({"toolCallId": "c3", "success": true,
            "result": {"content": "3 passed\n<exited with exit code 0>"}}),
        ),
        event(13, "assistant.message", json!({"content": "Mended.\n\n# What was wrong\n\nA word.", "outputTokens": 8})),
        event(14, "user.message", json!({"content": "no, keep the old name"})),
        event(15, "assistant.message", json!({"content": "Kept.", "outputTokens": 2})),
        event(
            16,
            "session.shutdown",
            json!({"modelMetrics": {"gpt-9": {"usage": {"inputTokens": 900, "outputTokens": 22,
            "cacheReadTokens": 400, "cacheWriteTokens": 0}}}}),
        ),
    ])
}

#[test]
fn copilot_becomes_a_note() {
    insta::assert_snapshot!(notes_of("copilot", "5e55/events.jsonl", &copilot()));
    grows("copilot", "5e55/events.jsonl", &copilot(), &ends(&copilot(), 6));
}

fn cursor() -> Vec<u8> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let message = |role: &str, content: Value| json!({"role": role, "message": {"content": content}});
    lines(&[
        message(
            "user",
            json!([text("<user_info>x</user_info>"), text("<user_query>\nwhich tides are kept?\n</user_query>")]),
        ),
        message(
            "assistant",
            json!([text("I look."), {"type": "tool_use", "name": "Shell", "input": {"command": "ls tides"}}]),
        ),
        message(
            "assistant",
            json!([{"type": "tool_use", "name": "StrReplace",
            "input": {"path": "/srv/tides/a.ts", "old_string": "a", "new_string": "b"}}]),
        ),
        message("assistant", json!([text("Two of them.\n\n[REDACTED]")])),
        json!({"type": "turn_ended", "status": "success"}),
        message("user", json!([text("<user_query>thanks, now write `b.ts`</user_query>")])),
        message("assistant", json!([text("Written.")])),
    ])
}

const AIDER: &str = "
# aider chat started at 2026-02-03 10:11:12

> /home/mia/bin/aider --api-key none  
> Aider v0.90.0  
> Main model: acme/large with diff edit format  
> Git working dir: /home/mia/tides  

#### /add tides.py  
> Added tides.py to the chat  

#### name the station in `tides.py`  
#### and keep the tests  

I name it.

tides.py
```python
<<<<<<< SEARCH
old = 1
=======
station = 1
unit = 2
>>>>>>> REPLACE
```

> Tokens: 2.4k sent, 91 received. Cost: $0.02 message, $0.02 session.  
> Applied edit to tides.py  
> Commit 4ab3df9 feat: Name the station  

#### no, call it port  

other.py
```python
<<<<<<< SEARCH
station
=======
port
>>>>>>> REPLACE
```

> Tokens: 3k sent, 40 received. Cost: $0.03 message, $0.05 session.  
> Skipping edits to other.py  

# aider chat started at 2026-02-03 12:00:00

#### what is left?  

Nothing.

> Tokens: 1k sent, 4 received.  
";

fn droid() -> Vec<u8> {
    let message = |second: u64, role: &str, content: Value| {
        json!({"type": "message", "id": format!("m{second}"), "timestamp": format!("2026-04-01T10:00:{second:02}Z"),
            "message": {"role": role, "content": content}})
    };
    lines(&[
        json!({"type": "session_start", "id": "d01d", "title": "mend", "sessionTitle": "Mend the tide tests", "version": 2, "cwd": "/home/mia/tides"}),
        message(
            1,
            "user",
            json!([{"type": "text", "text": "<system-reminder>x</system-reminder>mend the tests of `tides.ts`"}]),
        ),
        message(
            2,
            "assistant",
            json!([{"type": "text", "text": "I run them."},
            {"type": "tool_use", "id": "c1", "name": "Execute", "input": {"command": "npm test"}}]),
        ),
        message(
            5,
            "user",
            json!([{"type": "tool_result", "tool_use_id": "c1", "is_error": true,
            "content": "error: no tide\n\n[Process exited with code 1]"}]),
        ),
        message(
            6,
            "assistant",
            json!([{"type": "tool_use", "id": "c2", "name": "Edit",
            "input": {"file_path": "/home/mia/tides/tides.ts", "old_str": "a", "new_str": "b"}}]),
        ),
        message(7, "user", json!([{"type": "tool_result", "tool_use_id": "c2", "content": "ok"}])),
        json!({"type": "todo_state", "id": "t1", "timestamp": "2026-04-01T10:00:08Z", "todos": {"todos": "1. [completed] mend\n2. [pending] release"}}),
        message(
            9,
            "assistant",
            json!([{"type": "tool_use", "id": "c3", "name": "Execute", "input": {"command": "npm test"}}]),
        ),
        message(12, "user", json!([{"type": "tool_result", "tool_use_id": "c3", "content": "3 passed"}])),
        message(13, "assistant", json!([{"type": "text", "text": "Mended."}])),
    ])
}

const SPECSTORY: &str = "<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-05-06 07:08:09Z

<!-- Claude Code Session 9f-1 (2026-05-06 07:08:09Z) -->

_**User (2026-05-06 07:08:09Z)**_

mend the tests of `tides.ts`

---

_**Agent (claude-x 2026-05-06 07:09:05Z)**_

I look.

<tool-use data-tool-type=\"shell\" data-tool-name=\"Bash\"><details>
<summary>Tool use: **Bash**</summary>
Run the tests

`npm test`

```text
Exit code 1
error: no tide
```
</details></tool-use>

_**Agent (claude-x 2026-05-06 07:09:07Z)**_

<tool-use data-tool-type=\"write\" data-tool-name=\"Edit\"><details>
<summary>Tool use: **Edit**</summary>

```text
The file /home/mia/tides.ts has been updated successfully.
```
</details></tool-use>

_**Agent (claude-x 2026-05-06 07:09:09Z)**_

Mended:

- one word

---

_**User (2026-05-06 07:30:00Z)**_

thanks
";

#[test]
fn cursor_becomes_a_note() {
    insta::assert_snapshot!(notes_of("cursor", "c01d/c01d.jsonl", &cursor()));
    grows("cursor", "c01d/c01d.jsonl", &cursor(), &ends(&cursor(), 4));
}

#[test]
fn each_run_of_aider_becomes_a_note() {
    insta::assert_snapshot!(notes_of("aider", ".aider.chat.history.md", AIDER.as_bytes()));
    grows("aider", ".aider.chat.history.md", AIDER.as_bytes(), &ends(AIDER.as_bytes(), 9));
}

#[test]
fn a_chat_of_cursor_gives_title_model_and_start() {
    let place = Place::new();
    let bytes = cursor();
    let half = ends(&bytes, 1)[0];
    let transcript = "projects/home-mia-api/agent-transcripts/9f/9f.jsonl";
    place.put(transcript, &bytes[..half]);
    let keep = |name: &str, model: &str| {
        let path = place.path("in/chats/0a1b/9f/store.db");
        files::create_dir(path.parent().unwrap()).unwrap();
        let base = rusqlite::Connection::open(&path).unwrap();
        base.execute_batch("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)").unwrap();
        let row = json!({"agentId": "9f", "name": name, "createdAt": 1_781_256_145_540_u64, "mode": "default", "lastUsedModel": model});
        let digit = |half: u8| char::from_digit(half.into(), 16).unwrap();
        let hex: String = row.to_string().bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        base.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?1)", [hex]).unwrap();
    };
    keep("Mend the tides", "opus-9");
    place.import("cursor");
    let first = place.notes();
    assert!(first[0].0.starts_with("2026-06-12-"), "{}", first[0].0);
    let head = ["\ntitle: Mend the tides\n", "\nstarted: 2026-06-12T09:22:25Z\n"];
    assert!(
        head.iter().all(|line| first[0].1.contains(line)) && first[0].1.contains("\nmodel: opus-9\n"),
        "{}",
        first[0].1
    );
    let again = place.import("cursor");
    assert_eq!(place.notes(), first, "{again}");
    keep("Mend the tides for good", "opus-9.1");
    place.put(transcript, &bytes);
    place.import("cursor");
    let second = place.notes();
    assert_eq!(second.len(), 1);
    for said in ["title: Mend the tides for good\n", "# Mend the tides for good\n", "model: opus-9.1\n"] {
        assert_eq!(second[0].1.matches(said).count(), 1, "{said}:\n{}", second[0].1);
    }
    let again = place.import("cursor");
    assert_eq!(place.notes(), second, "{again}");
    let (sound, said) = place.run(&["check"]);
    assert!(sound && said.contains("nothing wrong"), "{said}");
}

/// What droid keeps beside a transcript.
fn droid_settings(model: &str, input: u64) -> Vec<u8> {
    let tokens = json!({"inputTokens": input, "outputTokens": 20, "cacheCreationTokens": 3, "cacheReadTokens": 400,
        "thinkingTokens": 7, "factoryCredits": 1.5});
    let settings = json!({"assistantActiveTimeMs": 61_500, "model": model, "reasoningEffort": "high",
        "autonomyMode": "normal", "autonomyLevel": "off", "interactionMode": "auto", "providerLock": "anthropic",
        "providerLockTimestamp": "2026-04-01T10:00:02Z", "tokenUsage": tokens});
    serde_json::to_vec_pretty(&settings).unwrap()
}

#[test]
fn settings_of_droid_are_told_and_followed() {
    let place = Place::new();
    let bytes = droid();
    let half = ends(&bytes, 2)[0];
    place.put("d01d.jsonl", &bytes[..half]);
    place.put("d01d.settings.json", &droid_settings("opus-9", 100));
    place.import("droid");
    let first = place.notes();
    insta::assert_snapshot!("droid_settings", without_cursor(&first[0].1));
    let again = place.import("droid");
    assert_eq!(place.notes(), first, "{again}");
    // A person's words stay, and settings that changed alone are told once.
    let note = place.path("vault/sessions").join(format!("{}.md", first[0].0));
    let edited = fs::read_to_string(&note).unwrap().replace("reasoning_effort: high", "reasoning_effort: mine");
    files::put(&note, format!("{edited}\nMy own words.\n").as_bytes()).unwrap();
    place.put("d01d.settings.json", &droid_settings("opus-9", 250));
    place.import("droid");
    let second = place.notes();
    for said in ["tokens_used: 273", "[!usage] 273 tokens", "| opus-9 | 250 | 20 | 3 | 400 |", "My own words."] {
        assert_eq!(second[0].1.matches(said).count(), 1, "{said}:\n{}", second[0].1);
    }
    assert!(!second[0].1.contains("123"), "{}", second[0].1);
    let again = place.import("droid");
    assert_eq!(place.notes(), second, "{again}");
    // With the rest of the transcript it is what it would have been at once.
    let now = fs::read_to_string(&note).unwrap().replace("reasoning_effort: mine", "reasoning_effort: high");
    files::put(&note, now.replace("\nMy own words.\n", "").as_bytes()).unwrap();
    place.put("d01d.jsonl", &bytes);
    place.put("d01d.settings.json", &droid_settings("opus-9.1", 300));
    place.import("droid");
    let whole = Place::new();
    whole.put("d01d.jsonl", &bytes);
    whole.put("d01d.settings.json", &droid_settings("opus-9.1", 300));
    whole.import("droid");
    assert_eq!(without_cursor(&place.notes()[0].1), without_cursor(&whole.notes()[0].1));
    // What is gone is not taken back, and nothing is doubled where the machine forgot what it wrote.
    let told = place.notes();
    fs::remove_dir_all(place.path("state")).unwrap();
    place.put("d01d.settings.json", &droid_settings("opus-9.1", 400));
    place.import("droid");
    assert_eq!(place.notes(), told);
    let (sound, said) = place.run(&["check"]);
    assert!(sound && said.contains("nothing wrong"), "{said}");
}

#[test]
fn settings_of_droid_that_come_later_or_go_leave_the_note_sound() {
    let place = Place::new();
    place.put("d01d.jsonl", &droid());
    place.import("droid");
    let plain = place.notes();
    place.put("d01d.settings.json", &droid_settings("opus-9", 100));
    place.import("droid");
    let told = place.notes();
    assert!(told[0].1.contains("model: opus-9") && !plain[0].1.contains("opus-9"), "{}", told[0].1);
    let (good, said) = place.run(&["import", place.path("in/d01d.jsonl").to_str().unwrap()]);
    assert!(good && said.contains("1 session unchanged"), "{said}");
    assert_eq!(place.notes(), told, "the settings go with a transcript that is named alone");
}

#[test]
fn droid_becomes_a_note() {
    insta::assert_snapshot!(notes_of("droid", "d01d.jsonl", &droid()));
    grows("droid", "d01d.jsonl", &droid(), &ends(&droid(), 5));
}

#[test]
fn specstory_becomes_a_note() {
    insta::assert_snapshot!(notes_of("specstory", "a.md", SPECSTORY.as_bytes()));
    grows("specstory", "a.md", SPECSTORY.as_bytes(), &ends(SPECSTORY.as_bytes(), 7));
}

fn every_importer_knows_its_own_files_only(set: &TranscriptSet) {
    let names = ["claude", "codex", "pi", "copilot", "cursor", "aider", "specstory", "gemini", "opencode"];
    for agent in ["copilot", "cursor", "aider", "droid", "specstory"] {
        for name in names {
            if name != agent {
                let found = cru::import::search(cru::import::find(agent).unwrap(), &[set.folder(name)]).unwrap();
                assert!(found.bundles.is_empty(), "{agent} takes files of {name}: {:?}", found.bundles);
            }
        }
    }
}

on_both_sets!(every_importer_knows_its_own_files_only);

/// Files of hosts that are told record by record: agent, name, bytes.
fn by_records() -> [(&'static str, &'static str, Vec<u8>); 4] {
    let at = |second: u64| format!("2026-03-01T10:00:{second:02}Z");
    let qwen = |second: u64, kind: &str, parts: Value| {
        json!({"uuid": format!("u{second}"), "parentUuid": format!("u{}", second - 1), "sessionId": "q1", "type": kind,
            "cwd": "/home/mia/lamp", "timestamp": at(second), "message": {"parts": parts}, "toolCallResult": {"status": "success"}})
    };
    let update = |second: u64, kind: &str, text: &str| {
        let content = json!({"type": "text", "text": text});
        json!({"timestamp": 1_772_359_200 + second, "params": {"update": {"sessionUpdate": kind, "content": content}}})
    };
    let wire = |second: u64, kind: &str, payload: Value| json!({"timestamp": 1_772_359_200 + second, "message": {"type": kind, "payload": payload}});
    let step = |second: u64, source: &str, kind: &str, content: &str| json!({"step_index": second, "source": source, "type": kind, "status": "DONE", "created_at": at(second), "content": content});
    [
        (
            "qwen",
            "chats/q1.jsonl",
            lines(&[
                qwen(1, "user", json!([{"text": "mend the lamp"}])),
                qwen(
                    2,
                    "assistant",
                    json!([{"text": "I build."}, {"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "make"}}}]),
                ),
                qwen(
                    3,
                    "tool_result",
                    json!([{"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"output": "fine"}}}]),
                ),
                qwen(4, "assistant", json!([{"text": "Mended."}])),
                qwen(5, "user", json!([{"text": "and the plug"}])),
                qwen(6, "assistant", json!([{"text": "Done."}])),
            ]),
        ),
        (
            "grok",
            "g1/updates.jsonl",
            lines(&[
                update(1, "user_message_chunk", "mend the lamp"),
                update(2, "agent_message_chunk", "I lo"),
                update(3, "agent_message_chunk", "ok, and "),
                update(4, "agent_message_chunk", "mend."),
                update(5, "user_message_chunk", "and the plug"),
                update(6, "agent_message_chunk", "Do"),
                update(7, "agent_message_chunk", "ne."),
            ]),
        ),
        (
            "kimi",
            "u1/wire.jsonl",
            lines(&[
                json!({"type": "metadata", "protocol_version": "1.6"}),
                wire(1, "TurnBegin", json!({"user_input": "mend the lamp"})),
                wire(2, "ContentPart", json!({"type": "text", "text": "I lo"})),
                wire(3, "ContentPart", json!({"type": "text", "text": "ok."})),
                wire(4, "ToolCall", json!({"id": "t", "function": {"name": "Shell", "arguments": "{\"comm"}})),
                wire(5, "ToolCallPart", json!({"arguments_part": "and\": \"make\"}"})),
                wire(
                    6,
                    "ToolResult",
                    json!({"tool_call_id": "t", "return_value": {"is_error": false, "output": "fine"}}),
                ),
                wire(7, "ContentPart", json!({"type": "text", "text": "Mended."})),
            ]),
        ),
        (
            "antigravity",
            "b1/.system_generated/logs/transcript.jsonl",
            lines(&[
                step(1, "USER_EXPLICIT", "USER_INPUT", "<USER_REQUEST>mend the lamp</USER_REQUEST>"),
                step(2, "MODEL", "PLANNER_RESPONSE", "I look."),
                step(3, "MODEL", "VIEW_FILE", "File Path: `file:///home/mia/lamp/a.rs`\n1: a"),
                step(4, "MODEL", "PLANNER_RESPONSE", "Mended."),
            ]),
        ),
    ]
}

#[test]
fn hosts_that_are_told_record_by_record() {
    for (agent, name, bytes) in by_records() {
        assert!(notes_of(agent, name, &bytes).contains("mend the lamp"), "{agent}");
        grows(agent, name, &bytes, &ends(&bytes, 20));
    }
}
