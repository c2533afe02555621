//! Transcripts that were imported and then rewritten: lines cut, changed or redacted, moved, split, copied with another
//! end, or written with other key order. Every step stands in the note once, what a person did stays, and a second import
//! changes nothing. With the real binary, on invented sessions of several agents.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cru::base::files;
use serde_json::{Value, json};

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
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    fn import(&self, agent: Agent, more: &[&str]) -> String {
        let path = self.path("in");
        let args = [&["import", agent.name, path.to_str().unwrap()], more].concat();
        let (good, text) = self.run(&args);
        assert!(good, "{text}");
        text
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        files::put(&self.path("in").join(name), bytes).unwrap();
    }

    fn note(&self) -> (PathBuf, String) {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(self.path("vault/sessions")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(paths.len(), 1, "{paths:?}");
        let path = paths.remove(0);
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    }

    /// A person adds a remark and deletes the second step.
    fn edit(&self) {
        let (path, old) = self.note();
        let kept: Vec<&str> = old.lines().filter(|line| !line.contains("make part-2`")).collect();
        assert_eq!(kept.len() + 1, old.lines().count(), "{old}");
        let new = format!("{}\n\nA remark of mine.\n", kept.join("\n"));
        files::replace(&path, old.as_bytes(), new.as_bytes()).unwrap();
    }

    /// The note tells these steps once each and no other; a second import changes nothing.
    fn tells(&self, agent: Agent, steps: &[&str]) {
        let (_, text) = self.note();
        let mut told: BTreeMap<String, usize> = BTreeMap::new();
        for line in text.lines().filter(|line| line.starts_with("- `") || line.starts_with("- 1")) {
            if let Some((_, rest)) = line.split_once("make part-") {
                *told.entry(rest.split('`').next().unwrap().to_owned()).or_default() += 1;
            }
        }
        let want: BTreeMap<String, usize> = steps.iter().map(|step| ((*step).to_owned(), 1)).collect();
        assert_eq!(told, want, "{}: {text}", agent.name);
        assert!(!text.contains("[!conflict]"), "{text}");
        let said = self.import(agent, &[]);
        assert_eq!(self.note().1, text, "{}: twice\n{said}", agent.name);
        let (sound, said) = self.run(&["check"]);
        assert!(sound, "{said}\n{text}");
    }
}

/// How one agent writes a session down.
#[derive(Clone, Copy)]
struct Agent {
    name: &'static str,
    file: &'static str,
    /// What a person asked.
    begin: fn() -> Vec<Value>,
    /// A call of `make part-<name>` and its answer, at a second.
    call: fn(u64, &str) -> Vec<Value>,
    /// A record that no note shows.
    unshown: fn(u64) -> Option<Value>,
    /// The file that holds the records.
    whole: fn(&[Value]) -> Vec<u8>,
}

fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect()
}

fn time(second: u64) -> String {
    format!("2026-03-01T10:{:02}:{:02}.000Z", second / 60, second % 60)
}

fn uuid(number: u64) -> String {
    format!("{number:04}abcd-0000-4000-8000-00000000{number:04}")
}

fn claude(number: u64, kind: &str, more: &Value) -> Value {
    let mut record = json!({ "type": kind, "uuid": uuid(number), "parentUuid": number.checked_sub(1).map(uuid),
        "sessionId": "5e55", "timestamp": time(number), "cwd": "/home/mia/api", "version": "2.1.0" });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

const CLAUDE: Agent = Agent {
    name: "claude",
    file: "5e55.jsonl",
    begin: || vec![claude(1, "user", &json!({ "message": { "role": "user", "content": "make all parts" } }))],
    call: |second, part| {
        let id = format!("c{second}");
        let call = json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("make part-{part}") } }]);
        let answer = json!([{ "type": "tool_result", "tool_use_id": id, "content": format!("token-{part}") }]);
        vec![
            claude(
                second,
                "assistant",
                &json!({ "message": { "id": format!("m{second}"), "role": "assistant", "model": "m", "content": call,
                "usage": { "input_tokens": 10, "output_tokens": 2 } } }),
            ),
            claude(second + 1, "user", &json!({ "message": { "role": "user", "content": answer } })),
        ]
    },
    unshown: |second| Some(claude(second, "progress", &json!({ "data": {} }))),
    whole: lines,
};

fn codex(second: u64, kind: &str, payload: &Value) -> Value {
    json!({ "timestamp": time(second), "type": kind, "payload": payload })
}

const CODEX: Agent = Agent {
    name: "codex",
    file: "rollout-2026-03-01T10-00-00-5e55.jsonl",
    begin: || {
        let content = json!([{ "type": "input_text", "text": "make all parts" }]);
        vec![
            codex(
                0,
                "session_meta",
                &json!({ "id": "5e55", "timestamp": time(0), "cwd": "/home/mia/api", "cli_version": "0.140.0" }),
            ),
            codex(1, "response_item", &json!({ "type": "message", "role": "user", "content": content })),
            codex(1, "event_msg", &json!({ "type": "user_message", "message": "make all parts" })),
        ]
    },
    call: |second, part| {
        let arguments = json!({ "command": ["bash", "-lc", format!("make part-{part}")] }).to_string();
        let id = format!("c{second}");
        vec![
            codex(
                second,
                "response_item",
                &json!({ "type": "function_call", "name": "shell", "arguments": arguments, "call_id": id }),
            ),
            codex(
                second + 1,
                "response_item",
                &json!({ "type": "function_call_output", "call_id": id, "output": format!("token-{part}") }),
            ),
        ]
    },
    unshown: |second| Some(codex(second, "event_msg", &json!({ "type": "task_started" }))),
    whole: lines,
};

fn pi_id(second: u64) -> String {
    format!("{second:08x}")
}

const PI: Agent = Agent {
    name: "pi",
    file: "2026-03-01_5e55.jsonl",
    begin: || {
        vec![
            json!({ "type": "session", "version": 3, "id": "5e55", "timestamp": time(0), "cwd": "/home/mia/api" }),
            json!({ "type": "message", "id": pi_id(1), "parentId": null, "timestamp": time(1), "message": { "role": "user", "content": "make all parts" } }),
        ]
    },
    call: |second, part| {
        let id = format!("c{second}");
        let call = json!([{ "type": "toolCall", "id": id, "name": "bash", "arguments": { "command": format!("make part-{part}") } }]);
        vec![
            json!({ "type": "message", "id": pi_id(second), "parentId": null, "timestamp": time(second),
                "message": { "role": "assistant", "model": "m", "content": call, "usage": { "input": 10, "output": 2 } } }),
            json!({ "type": "message", "id": pi_id(second + 1), "parentId": null, "timestamp": time(second + 1),
                "message": { "role": "toolResult", "toolCallId": id, "content": [{ "type": "text", "text": format!("token-{part}") }] } }),
        ]
    },
    unshown: |second| {
        Some(
            json!({ "type": "thinking_level_change", "id": pi_id(second), "parentId": null, "timestamp": time(second), "thinkingLevel": "low" }),
        )
    },
    whole: |records| {
        // Each follows the one before it.
        let mut records = records.to_vec();
        let mut before = Value::Null;
        for record in records.iter_mut().skip(1) {
            record["parentId"] = before;
            before = record["id"].clone();
        }
        lines(&records)
    },
};

const GEMINI: Agent = Agent {
    name: "gemini",
    file: "session-5e55.jsonl",
    begin: || {
        vec![
            json!({ "sessionId": "5e55", "projectHash": "p", "startTime": time(0), "kind": "main" }),
            json!({ "id": uuid(1), "timestamp": time(1), "type": "user", "content": "make all parts" }),
        ]
    },
    call: |second, part| {
        let result = json!([{ "functionResponse": { "response": { "output": format!("token-{part}") } } }]);
        let call = json!([{ "id": format!("c{second}"), "name": "run_shell_command", "args": { "command": format!("make part-{part}") },
            "status": "success", "timestamp": time(second), "result": result }]);
        vec![json!({ "id": uuid(second), "timestamp": time(second), "type": "gemini", "content": "", "model": "flash",
            "tokens": { "input": 9, "output": 2, "cached": 0, "thoughts": 0, "total": 11 }, "toolCalls": call })]
    },
    unshown: |second| Some(json!({ "$set": { "lastUpdated": time(second) } })),
    whole: lines,
};

const OPENCODE: Agent = Agent {
    name: "opencode",
    file: "session.json",
    begin: || {
        let text = json!({ "type": "text", "text": "make all parts", "time": { "start": 1, "end": 2 } });
        vec![
            json!({ "info": { "id": "msg_1", "role": "user", "time": { "created": 1_800_000_001_000_u64 } }, "parts": [text] }),
        ]
    },
    call: |second, part| {
        let at = |second: u64| 1_800_000_000_000 + second * 1000;
        let tool = json!({ "type": "tool", "tool": "bash", "callID": format!("c{second}"), "state": { "status": "completed",
            "input": { "command": format!("make part-{part}") }, "output": format!("token-{part}"), "metadata": { "exit": 0 },
            "time": { "start": at(second), "end": at(second + 1) } } });
        vec![json!({ "info": { "id": format!("msg_{second}"), "role": "assistant", "modelID": "small",
            "time": { "created": at(second), "completed": at(second + 1) } }, "parts": [tool] })]
    },
    unshown: |_| None,
    whole: |messages| {
        let info = json!({ "id": "ses_5e55", "projectID": "p", "directory": "/home/mia/api", "version": "1.2.0",
            "title": "Make all parts", "time": { "created": 1_800_000_000_000_u64, "updated": 1_800_000_009_000_u64 } });
        json!({ "info": info, "messages": messages }).to_string().into_bytes()
    },
};

const AGENTS: [Agent; 5] = [CLAUDE, CODEX, PI, GEMINI, OPENCODE];

/// The records of the parts, each at ten seconds of its number, the unshown one behind the first.
fn records(agent: Agent, parts: &[(u64, &str)], unshown: bool) -> Vec<Value> {
    let mut records = (agent.begin)();
    for (number, part) in parts {
        records.extend((agent.call)(number * 10, part));
        if *number == 1 && unshown {
            records.extend((agent.unshown)(15));
        }
    }
    records
}

const FIVE: [(u64, &str); 5] = [(1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5")];

/// A vault with a session of five parts, edited by a person.
fn imported(agent: Agent) -> Place {
    let place = Place::new();
    place.put(agent.file, &(agent.whole)(&records(agent, &FIVE, true)));
    place.import(agent, &[]);
    place.edit();
    place
}

#[test]
fn lines_that_were_cut_and_redacted_and_lines_that_are_new() {
    for agent in AGENTS {
        let place = imported(agent);
        let now = [(1, "1"), (2, "2"), (4, "[removed]"), (5, "5"), (6, "6"), (7, "7")];
        place.put(agent.file, &(agent.whole)(&records(agent, &now, false)));
        let said = place.import(agent, &[]);
        assert!(said.contains("rewritten"), "{}: {said}", agent.name);
        place.tells(agent, &["1", "3", "4", "5", "6", "7"]);
        let (_, text) = place.note();
        assert_eq!(text.matches("A remark of mine.").count(), 1, "{text}");
        // A new step is found in the transcript again.
        let line = text.lines().find(|line| line.contains("make part-6`")).unwrap();
        let id = line.rsplit_once('^').unwrap().1;
        let stem = place.note().0.file_stem().unwrap().to_str().unwrap().to_owned();
        let (good, said) = place.run(&["step", "show", id, "--session", &stem, "--full"]);
        let (good, said) =
            if good { (good, said) } else { place.run(&["step", "show", &format!("{stem}#^{id}"), "--full"]) };
        assert!(good && said.contains("token-6"), "{}: {said}", agent.name);
        let (good, said) = place.run(&["search", "token-7"]);
        assert!(good && said.contains(&stem), "{}: {said}", agent.name);
    }
}

#[test]
fn another_order_of_keys_changes_nothing_but_the_cursor() {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(sorted).collect(),
            Value::Object(map) => {
                let mut pairs: Vec<_> = map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
                pairs.sort_by(|a, b| b.0.cmp(&a.0));
                Value::Object(pairs.into_iter().collect())
            }
            other => other.clone(),
        }
    }
    for agent in AGENTS {
        let place = imported(agent);
        let all: Vec<Value> = records(agent, &FIVE, true).iter().map(sorted).collect();
        place.put(agent.file, &(agent.whole)(&all));
        place.import(agent, &[]);
        place.tells(agent, &["1", "3", "4", "5"]);
    }
}

#[test]
fn a_file_that_was_moved_is_followed() {
    for agent in AGENTS {
        let place = imported(agent);
        let bytes = fs::read(place.path("in").join(agent.file)).unwrap();
        files::remove(&place.path("in").join(agent.file)).unwrap();
        place.put(&format!("moved/{}", agent.file), &bytes);
        place.import(agent, &[]);
        let (_, text) = place.note();
        let transcript = text.lines().find(|line| line.starts_with("transcript:")).unwrap();
        assert!(transcript.contains("in/moved/"), "{}: {transcript}", agent.name);
        place.tells(agent, &["1", "3", "4", "5"]);
    }
}

#[test]
fn a_session_split_in_two_files_and_then_grown() {
    for agent in [CLAUDE, PI] {
        let place = imported(agent);
        let seven = [FIVE.as_slice(), &[(6, "6"), (7, "7")]].concat();
        let all = records(agent, &seven, true);
        let begin = (agent.begin)().len();
        let half = begin + (all.len() - begin) / 2;
        let bytes = (agent.whole)(&all);
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        // Both files say whose they are.
        let head: &[&[u8]] = if agent.name == "claude" { &[] } else { &lines[..1] };
        place.put(agent.file, &lines[..half].concat());
        place.put(&agent.file.replace("5e55.", "5e55z."), &[head, &lines[half..]].concat().concat());
        place.import(agent, &[]);
        place.tells(agent, &["1", "3", "4", "5", "6", "7"]);
    }
}

/// A backup, another machine's copy before it is synced: its last records need not be shown in any note.
#[test]
fn an_older_copy_changes_nothing() {
    for agent in AGENTS {
        let place = imported(agent);
        let (_, before) = place.note();
        for parts in 1..=4 {
            let mut older = records(agent, &FIVE[..parts], true);
            older.extend((agent.unshown)(parts as u64 * 10 + 6));
            place.put(agent.file, &(agent.whole)(&older));
            place.import(agent, &[]);
            assert_eq!(place.note().1, before, "{}: {parts} parts", agent.name);
        }
        place.put(agent.file, &(agent.whole)(&records(agent, &FIVE, true)));
        place.import(agent, &[]);
        assert_eq!(place.note().1, before, "{}", agent.name);
    }
}

/// A remark in the table of tokens is no part of what was generated.
#[test]
fn a_remark_in_the_usage_stays() {
    let place = Place::new();
    place.put(CLAUDE.file, &(CLAUDE.whole)(&records(CLAUDE, &FIVE[..3], false)));
    place.import(CLAUDE, &[]);
    let (path, old) = place.note();
    let row = old.lines().find(|line| line.starts_with("> | m |")).unwrap();
    let new = old.replace(row, &format!("{row}\n>\n> Paid by the client."));
    files::replace(&path, old.as_bytes(), new.as_bytes()).unwrap();
    // Written anew without its second part, and then grown.
    for parts in [&[FIVE[0], FIVE[2], FIVE[3]][..], &[FIVE[0], FIVE[3], FIVE[4]]] {
        place.put(CLAUDE.file, &(CLAUDE.whole)(&records(CLAUDE, parts, false)));
        place.import(CLAUDE, &[]);
        assert!(place.note().1.contains("> Paid by the client."), "{}", place.note().1);
    }
}

#[test]
fn two_copies_with_different_ends() {
    for agent in [CLAUDE, GEMINI] {
        let place = imported(agent);
        let other = [(1, "1"), (2, "2"), (3, "3"), (8, "8")];
        place.put(&agent.file.replace("5e55", "5e55-b"), &(agent.whole)(&records(agent, &other, true)));
        place.import(agent, &[]);
        place.tells(agent, &["1", "3", "4", "5", "8"]);
    }
}

#[test]
fn what_only_a_person_can_tell_is_named_and_written_where_asked() {
    for agent in AGENTS {
        let place = imported(agent);
        // A part between two that were imported: deleted by the person, or of another copy.
        let now = [(1, "1"), (3, "3"), (4, "4"), (44, "x"), (5, "5"), (6, "6")];
        let mut all = (agent.begin)();
        for (number, part) in now {
            all.extend((agent.call)(if number == 44 { 44 } else { number * 10 }, part));
        }
        place.put(agent.file, &(agent.whole)(&all));
        let said = place.import(agent, &[]);
        assert!(said.contains("--reattach"), "{}: {said}", agent.name);
        place.tells(agent, &["1", "3", "4", "5", "6"]);
        place.import(agent, &["--reattach"]);
        place.tells(agent, &["1", "3", "4", "5", "6", "x"]);
    }
}

#[test]
fn a_call_that_was_running_gets_its_end() {
    const FILE: &str = "threads/T-68686868-1111-4222-8333-000000000068.json";
    let thread = |run: Value, more: &[Value]| {
        let call = json!({ "type": "tool_use", "id": "A1", "name": "Bash", "input": { "cmd": "make part-1" } });
        let mut messages = vec![
            json!({ "role": "user", "messageId": 0, "content": [{ "type": "text", "text": "Make it" }] }),
            json!({ "role": "assistant", "messageId": 1, "content": [call] }),
            json!({ "role": "user", "messageId": 2, "content": [{ "type": "tool_result", "toolUseID": "A1", "run": run }] }),
        ];
        messages.extend_from_slice(more);
        json!({ "v": 1, "id": "T-68", "created": 1_800_000_000_000_u64, "messages": messages }).to_string().into_bytes()
    };
    let agent = Agent { name: "amp", file: FILE, ..CLAUDE };
    let place = Place::new();
    place.put(FILE, &thread(json!({ "status": "in-progress" }), &[]));
    place.import(agent, &[]);
    assert!(place.note().1.contains("no result recorded"), "{}", place.note().1);
    let done = json!({ "role": "assistant", "messageId": 3, "content": [{ "type": "text", "text": "It is made." }] });
    place.put(FILE, &thread(json!({ "status": "done", "result": { "output": "fine", "exitCode": 0 } }), &[done]));
    place.import(agent, &[]);
    let (_, text) = place.note();
    assert!(text.contains("`Bash make part-1` → `fine`") && text.contains("It is made."), "{text}");
    assert!(!text.contains("no result recorded"), "{text}");
    place.tells(agent, &["1"]);
}

/// A task of Cline: who said what, with times or without.
fn cline(said: &[(&str, &str)], times: bool) -> Vec<u8> {
    let message = |(number, (role, words)): (usize, &(&str, &str))| {
        let mut message = json!({ "role": role, "content": [{ "type": "text", "text": words }] });
        if times {
            message["ts"] = (1_800_000_000_000_u64 + number as u64 * 1000).into();
        }
        message
    };
    Value::Array(said.iter().enumerate().map(message).collect()).to_string().into_bytes()
}

#[test]
fn words_tell_how_far_a_note_goes_where_records_have_no_ids() {
    const FILE: &str = "saoudrizwan.claude-dev/tasks/1800000000000/api_conversation_history.json";
    let told =
        [("user", "Start the fan"), ("assistant", "It turns."), ("user", "Now the lamp"), ("assistant", "It is lit.")];
    let agent = Agent { name: "cline", file: FILE, ..CLAUDE };
    for times in [true, false] {
        let place = Place::new();
        place.put(FILE, &cline(&told, times));
        place.import(agent, &[]);
        let (path, old) = place.note();
        files::replace(&path, old.as_bytes(), format!("{old}\nA remark of mine.\n").as_bytes()).unwrap();
        // The last answer was taken back and another one given, and the session went on.
        let mut now = told.to_vec();
        now[3] = ("assistant", "The lamp is broken.");
        now.extend([("user", "Then a candle"), ("assistant", "The candle burns.")]);
        place.put(FILE, &cline(&now, times));
        let said = place.import(agent, &[]);
        let (_, text) = place.note();
        for words in ["Start the fan", "It is lit.", "Then a candle", "The candle burns.", "A remark of mine."] {
            assert!(text.contains(words), "{words}, times {times}: {said}\n{text}");
        }
        assert!(times || text.contains("The lamp is broken."), "{text}");
        assert_eq!(text.matches("> [!summary]\n").count(), 1, "{text}");
        place.tells(agent, &[]);
        // Another conversation under the same name is none that goes on.
        place.put(FILE, &cline(&[("user", "Bake bread"), ("assistant", "Flour first."), ("user", "And salt?")], times));
        let text = place.note().1;
        place.import(agent, &[]);
        assert_eq!(place.note().1, text, "times {times}");
    }
}

#[test]
fn what_was_open_is_told_anew() {
    const FILE: &str = "saoudrizwan.claude-dev/tasks/1800000000000/api_conversation_history.json";
    let agent = Agent { name: "cline", file: FILE, ..CLAUDE };
    let message = |role: &str, content: Value| json!({ "role": role, "content": [content] });
    let said = |role: &str, words: &str| message(role, json!({ "type": "text", "text": words }));
    let whole = |more: &[Value]| {
        Value::Array(
            [said("user", "Start the fan"), said("assistant", "It turns.")].into_iter().chain(more.to_vec()).collect(),
        )
    };
    let call =
        json!({ "type": "tool_use", "id": "c1", "name": "execute_command", "input": { "command": "make part-1" } });
    let failed =
        json!({ "type": "tool_result", "tool_use_id": "c1", "content": "Command failed with exit code 2: no lamp" });
    let begun = whole(&[said("user", "Now the lamp"), message("assistant", call), message("user", failed)]);
    let now = whole(&[said("user", "A candle"), said("assistant", "It burns.")]);
    let is_open = |text: &str| text.lines().any(|line| line == "open:");
    for own in ["", "open:\n  - a matter of mine\n"] {
        let place = Place::new();
        place.put(FILE, begun.to_string().as_bytes());
        place.import(agent, &[]);
        let (path, old) = place.note();
        let (head, rest) = old.split_once("open:\n").unwrap();
        let (item, rest) = rest.split_once('\n').unwrap();
        assert!(item.contains("unfinished"), "{old}");
        if !own.is_empty() {
            files::replace(&path, old.as_bytes(), format!("{head}{own}{rest}").as_bytes()).unwrap();
        }
        place.put(FILE, now.to_string().as_bytes());
        place.import(agent, &[]);
        let (_, text) = place.note();
        assert!(text.contains("It burns.") && text.contains("make part-1"), "{text}");
        assert_eq!((is_open(&text), text.contains(own)), (!own.is_empty(), true), "{text}");
    }
}

#[test]
fn what_describes_a_session_beside_its_transcript_is_followed() {
    let agent = Agent { name: "grok", file: "g1/updates.jsonl", ..CLAUDE };
    let said = |second: u64, kind: &str, text: &str| {
        let content = json!({ "type": "text", "text": text });
        json!({ "timestamp": second, "params": { "update": { "sessionUpdate": kind, "content": content } } })
    };
    let records =
        [said(1_772_359_200, "user_message_chunk", "Mend it"), said(1_772_359_201, "agent_message_chunk", "Done.")];
    let place = Place::new();
    place.put(agent.file, &lines(&records));
    let named = |title: &str, shown: &str| {
        place.put("g1/summary.json", json!({ "generated_title": title }).to_string().as_bytes());
        place.import(agent, &[]);
        let (path, text) = place.note();
        assert!(text.contains(&format!("\n# {shown}\n")), "{title}: {text}");
        assert!(place.import(agent, &[]).contains("not read again"), "nothing has changed since");
        (path, text)
    };
    named("The lamp", "The lamp");
    let (path, text) = named("The lamp in the hall", "The lamp in the hall");
    let own = text.replace("The lamp in the hall", "A lamp of mine");
    files::replace(&path, text.as_bytes(), own.as_bytes()).unwrap();
    named("The lamp of the host", "A lamp of mine");
}
