//! What is told of invented sessions, in all three ways that they are kept.

use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::IMPORTER;
use crate::told::{Told, told};
use cru_session::event::Usage;

fn session(id: &str) -> Value {
    json!({ "id": id, "projectID": "p", "directory": "/home/mia/api", "title": "Fix the build", "version": "1.2.0",
        "time": { "created": 1_800_000_000_000_i64, "updated": 1_800_000_100_000_i64 } })
}

fn user(id: &str, parts: &[Value]) -> Value {
    message(json!({ "id": id, "role": "user", "time": { "created": at(id) } }), parts)
}

fn agent(id: &str, parts: &[Value]) -> Value {
    let time = json!({ "created": at(id), "completed": at(id) + 900 });
    message(json!({ "id": id, "role": "assistant", "modelID": "m", "time": time }), parts)
}

/// Messages are a second apart, by the number in their ids.
fn at(id: &str) -> i64 {
    1_800_000_000_000 + 1000 * id.trim_start_matches("msg_").parse::<i64>().unwrap_or(0)
}

#[expect(clippy::needless_pass_by_value, reason = "what is written in place")]
fn message(info: Value, parts: &[Value]) -> Value {
    let id = info["id"].as_str().unwrap_or("").to_owned();
    let mut parts = parts.to_vec();
    for (index, part) in parts.iter_mut().enumerate() {
        part["id"] = json!(format!("prt_{id}_{index}"));
        part["messageID"] = json!(id);
    }
    json!({ "info": info, "parts": parts })
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "text": words })
}

fn done(tool: &str, input: &Value, output: &str, metadata: &Value) -> Value {
    json!({ "type": "tool", "tool": tool, "callID": "c", "state": { "status": "completed", "input": input,
        "output": output, "metadata": metadata, "title": "", "time": { "start": 1, "end": 2 } } })
}

fn failed(tool: &str, input: &Value, error: &str) -> Value {
    json!({ "type": "tool", "tool": tool, "callID": "c", "state": { "status": "error", "input": input, "error": error } })
}

fn finish() -> Value {
    let tokens = json!({ "input": 10, "output": 3, "reasoning": 2, "cache": { "read": 100, "write": 5 } });
    json!({ "type": "step-finish", "tokens": tokens, "cost": 0.25 })
}

#[test]
fn thinking_is_counted_once() {
    let of = |total: Value| {
        let tokens =
            json!({ "total": total, "input": 10, "output": 3, "reasoning": 2, "cache": { "read": 100, "write": 5 } });
        super::state::usage(&tokens).output
    };
    assert_eq!([of(json!(118)), of(json!(120)), of(Value::Null)], [3, 5, 5]);
}

fn export(info: &Value, messages: &[Value]) -> Vec<u8> {
    serde_json::to_vec_pretty(&json!({ "info": info, "messages": messages })).unwrap()
}

fn of_export(messages: &[Value]) -> Told {
    told(&IMPORTER, &[("a.json", export(&session("ses_1"), messages))])
}

/// A database of these sessions.
fn database(sessions: &[(Value, Vec<Value>)]) -> Vec<u8> {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("a.db");
    let base = rusqlite::Connection::open(&path).unwrap();
    base.execute_batch(
        "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT,
            summary_diffs TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
         CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
         CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
         CREATE TABLE todo (session_id TEXT, content TEXT);",
    )
    .unwrap();
    for (info, messages) in sessions {
        let word = |key: &str| info[key].as_str().map(str::to_owned);
        let row = (word("id"), word("parentID"), word("directory"), word("title"), info["time"]["created"].as_i64());
        base.execute("INSERT INTO session (id, parent_id, directory, title, time_created, version) VALUES (?1, ?2, ?3, ?4, ?5, '1.2.0')", row).unwrap();
        for message in messages {
            let mut data = message["info"].clone();
            let id = data["id"].as_str().unwrap().to_owned();
            let created = data["time"]["created"].as_i64();
            data.as_object_mut().unwrap().remove("id");
            let row = (&id, word("id"), created, data.to_string());
            base.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", row).unwrap();
            for part in message["parts"].as_array().unwrap() {
                let mut data = part.clone();
                let own = data["id"].as_str().unwrap().to_owned();
                data.as_object_mut().unwrap().retain(|key, _| key != "id" && key != "messageID");
                let row = (own, &id, word("id"), data.to_string());
                base.execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4)", row).unwrap();
            }
        }
    }
    drop(base);
    cru_base::files::read(&path).unwrap()
}

/// The files of before.
fn tree(info: &Value, messages: &[Value]) -> Vec<(String, Vec<u8>)> {
    let session = info["id"].as_str().unwrap();
    let mut files = vec![(format!("storage/session/p/{session}.json"), info.to_string().into_bytes())];
    for message in messages {
        let id = message["info"]["id"].as_str().unwrap();
        files.push((format!("storage/message/{session}/{id}.json"), message["info"].to_string().into_bytes()));
        for part in message["parts"].as_array().unwrap() {
            let own = part["id"].as_str().unwrap();
            files.push((format!("storage/part/{id}/{own}.json"), part.to_string().into_bytes()));
        }
    }
    files
}

fn whole() -> Vec<Value> {
    vec![
        user("msg_1", &[text("fix it"), json!({"type": "text", "text": "<system>", "synthetic": true})]),
        agent(
            "msg_2",
            &[
                json!({"type": "step-start"}),
                json!({"type": "reasoning", "text": "hm"}),
                text("On it."),
                done("bash", &json!({"command": "touch out.bin"}), "ok\n", &json!({"exit": 0})),
                done("read", &json!({"filePath": "/home/mia/api/a.rs"}), "<content>\n1: x\n</content>", &json!({})),
                finish(),
                json!({"type": "patch", "hash": "h", "files": ["/home/mia/api/out.bin"]}),
            ],
        ),
        user("msg_3", &[text("and now?")]),
        agent("msg_4", &[text("Done.")]),
    ]
}

#[test]
fn a_session_as_it_went() {
    let told = of_export(&whole());
    assert_eq!(
        told.stream("ses_1"),
        "1 title Host Fix the build\n\
         2 prompt (typed) fix it\n\
         7 thinking hm\n\
         8 reply On it.\n\
         9 call c bash touch out.bin\n\
         10 call c@10 read a.rs\n\
         10 result c@10 1 line reads a.rs\n\
         11 Meta(Cost(0.25))\n\
         9 result c ok\n writes out.bin\n\
         13 prompt (typed) and now?\n\
         16 reply Done.\n"
    );
    assert_eq!(
        told.tokens("ses_1"),
        Usage { input: 10, output: 5, cache_write: 5, cache_read: 100, ..Usage::default() }
    );
    assert_eq!((told.records(), told.skipped("words of the host"), told.skipped("begin of a step")), (16, 1, 1));
}

#[test]
fn a_file_that_changed_is_of_the_command_that_names_it_as_what_it_changes() {
    let told = |command: &str, more: &Value, files: &[&str]| {
        let mut input = json!({ "command": command });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let call = done("bash", &input, "ok\n", &json!({"exit": 0}));
        let files: Vec<String> = files.iter().map(|file| format!("/home/mia/api/{file}")).collect();
        let patch = json!({"type": "patch", "hash": "h", "files": files});
        of_export(&[user("msg_1", &[text("go")]), agent("msg_2", &[call, finish(), patch])]).stream("ses_1").to_owned()
    };
    let untold = |told: &str| told.contains("not all recorded");
    let here = json!({});
    for command in [
        "sed -i s/a/b/ docs/notes.md",
        "cd docs && sed -i s/a/b/ ../docs/notes.md",
        "npx prettier --write /home/mia/api/docs/notes.md",
        "touch ~/api/docs/notes.md",
        "for i in 1 2; do echo $i >> ./docs/notes.md; done",
        "python3 - <<'E'\nopen('docs/notes.md', 'w').write('x')\nE",
        "git checkout -- docs/notes.md",
        "git restore .",
        "mv docs/notes.md b.md",
        "cp other/notes.md docs",
    ] {
        let told = told(command, &here, &["docs/notes.md"]);
        assert!(told.contains("writes docs/notes.md") && !untold(&told), "{command}: {told}");
    }
    for command in [
        "git status",
        "ls -la | head",
        "make",
        "python docs/notes.md",
        "./number docs/notes.md",
        "cp docs/notes.md b.md",
        "curl -d @docs/notes.md https://example.com",
        "python3 -c 'print(\"docs/notes.md\")'",
        "npx prettier --check docs/notes.md",
        "git add docs/notes.md && git commit -m 'Mend docs/notes.md'",
        "sed -i s/a/b/ other/notes.md",
        "sed -i s/a/b/ notes.md",
        "cat docs/notes.md >> b.md",
    ] {
        let told = told(command, &here, &["docs/notes.md"]);
        assert!(!told.contains("writes docs") && untold(&told), "{command}: {told}");
    }
    let moved = json!({ "workdir": "/home/mia/api/docs" });
    assert!(told("touch notes.md", &moved, &["docs/notes.md"]).contains("writes docs/notes.md"));
    // What a part leaves out is untold, too, and one without files leaves nothing out.
    let both = told("touch a.rs", &here, &["a.rs", "pnpm-lock.yaml"]);
    assert!(both.contains("writes a.rs\n") && untold(&both), "{both}");
    assert!(!untold(&told("make", &here, &[])));
    let many: Vec<String> = (0..5_000).map(|number| format!("{number}.rs")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let told = told("touch 0.rs 1.rs 4000.rs", &here, &many);
    assert!(told.contains("writes 0.rs writes 1.rs\n") && untold(&told), "{told}");
}

#[test]
fn a_command_is_told_as_it_was_typed() {
    let template = |input: &str| {
        format!(
            "You are a code reviewer. Your job is to review code changes and provide feedback.\n\n---\n\nInput: {input}\n\n---\n\n## Determining What to Review\n\nRun `git show {input}`."
        )
    };
    let command = |name: &str, prompt: &str| {
        let part = json!({"type": "subtask", "agent": "build", "command": name, "prompt": prompt, "description": "looks at changes"});
        let told = of_export(&[user("msg_1", &[part]), agent("msg_2", &[text("Done.")])]);
        let told = told.stream("ses_1").split_once("prompt ").unwrap().1;
        told.split_once("\n5 reply").unwrap().0.to_owned()
    };
    assert_eq!(command("review", &template("main…pumps with care")), "(command) /review main…pumps with care");
    assert_eq!(command("review", &template("")), "(command) /review");
    // Of a text that is not the host's nobody knows what was typed.
    assert_eq!(command("dry", "Dry run.\n\nInput: all"), "(command) /dry\n\nDry run.\n\nInput: all");
    assert_eq!(command("dry", ""), "(command) /dry");
    // What a person pasted is theirs.
    let pasted = template("x");
    let told_pasted = of_export(&[user("msg_1", &[text(&pasted)]), agent("msg_2", &[text("Done.")])]);
    assert!(told_pasted.stream("ses_1").contains(&format!("prompt (typed) {pasted}\n")));
    // The sub-agent has all of it as its task.
    let mut child = session("ses_2");
    child["parentID"] = json!("ses_1");
    let child = (child, vec![user("msg_5", &[text(&template("x"))]), agent("msg_6", &[text("Found.")])]);
    let told = told(&IMPORTER, &[("opencode.db", database(&[(session("ses_1"), whole()), child]))]);
    assert!(told.stream("ses_1/agent-ses_2").contains("prompt (task) You are a code reviewer."));
}

#[test]
fn kept_in_any_way_it_is_the_same_session() {
    let info = session("ses_1");
    let one = of_export(&whole());
    let two = told(&IMPORTER, &[("opencode.db", database(&[(info.clone(), whole())]))]);
    let files = tree(&info, &whole());
    let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let three = told(&IMPORTER, &files);
    for other in [&two, &three] {
        assert_eq!(other.streams, one.streams);
        assert_eq!(other.consumed, one.consumed);
        assert_eq!(other.records(), one.records());
        assert_eq!(other.usage, one.usage);
    }
}

#[test]
fn refusals_stops_failures_and_answers() {
    let refused = "The user rejected permission to use this specific tool call with the following feedback: use bun";
    let by_rule =
        "The user has specified a rule which prevents you from using this specific tool call. Here they are: []";
    let asked =
        json!({"questions": [{"question": "Which?", "header": "Way", "options": [{"label": "A"}, {"label": "B"}]}]});
    let parts = [
        failed("bash", &json!({"command": "npm i"}), refused),
        failed("bash", &json!({"command": "sleep 9"}), "Tool execution aborted"),
        failed("bash", &json!({"command": "rm x"}), by_rule),
        done(
            "bash",
            &json!({"command": "false"}),
            "no\n\n<bash_metadata>\ntold\n</bash_metadata>",
            &json!({"exit": 3}),
        ),
        done("invalid", &json!({"tool": "edit", "error": "x"}), "bad input", &json!({})),
        done("question", &asked, "…", &json!({"answers": [["A"]]})),
        done("todowrite", &json!({"todos": [{"content": "one", "status": "pending"}]}), "", &json!({})),
    ];
    let mut last = agent("msg_4", &[text("half")]);
    last["info"]["error"] = json!({"name": "APIError", "data": {"message": "overloaded"}});
    let told = of_export(&[user("msg_1", &[text("go")]), agent("msg_2", &parts), last]);
    assert_eq!(
        told.stream("ses_1").lines().skip(2).collect::<Vec<_>>(),
        [
            "5 call c bash npm i",
            &format!("5 result c denied {refused}"),
            "5 prompt (denial of c) use bun",
            "6 call c@6 bash sleep 9",
            "6 result c@6 failed Tool execution aborted",
            "6 interrupt c@6",
            "7 call c@7 bash rm x",
            &format!("7 result c@7 denied by the host {by_rule}"),
            "8 call c@8 bash false",
            "8 result c@8 failed exit 3 no",
            "9 call c@9 edit ",
            "9 result c@9 failed bad input",
            "10 call c@10 question Which?",
            "10 result c@10 A",
            "10 decision Way: A rejected [\"B\"]",
            "11 call c@11 todowrite 1 task",
            "11 tasks 1 one pending",
            "11 result c@11 ",
            "13 reply half",
            "14 failure overloaded",
        ]
    );
}

#[test]
fn compaction_shell_lines_and_what_was_undone() {
    let ran = json!({"type": "text", "text": "The following tool was executed by the user", "synthetic": true});
    let mut sum = agent("msg_4", &[text("## All of it")]);
    sum["info"]["summary"] = json!(true);
    let messages = [
        user("msg_1", &[ran]),
        agent("msg_2", &[done("bash", &json!({"command": "ls"}), "a", &json!({"exit": 0})), finish()]),
        user("msg_3", &[json!({"type": "compaction", "auto": true})]),
        sum,
        user(
            "msg_5",
            &[text("go on"), json!({"type": "file", "mime": "image/png", "url": "data:image/png;base64,QUJD"})],
        ),
    ];
    let mut info = session("ses_1");
    info["revert"] = json!({"messageID": "msg_5"});
    let told = told(&IMPORTER, &[("a.json", export(&info, &messages))]);
    let lines: Vec<_> = told.stream("ses_1").lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "5 prompt (shell) ls",
            "5 call c Shell ls",
            "5 result c a",
            "6 Meta(Cost(0.25))",
            "8 compaction auto 120 ## All of it",
            "11 prompt (typed) go on +image/png 3",
            r#"13 Remark(Remark { kind: "context", title: "Undone by the person", text: "", fields: [], folded: false, about: None, id: None })"#,
            "13 rewind to 10",
        ]
    );
}

#[test]
fn what_may_still_change_is_left_for_later() {
    let mut running = agent("msg_2", &[text("On it."), done("bash", &json!({"command": "make"}), "ok", &json!({}))]);
    running["info"]["time"].as_object_mut().unwrap().remove("completed");
    running["parts"][1]["state"] = json!({"status": "running", "input": {"command": "make"}});
    let told_of = |more: &[Value]| {
        let mut messages = vec![user("msg_1", &[text("go")]), running.clone()];
        messages.extend_from_slice(more);
        of_export(&messages)
    };
    let held = told_of(&[user("msg_3", &[text("queued")])]);
    assert!(held.stream("ses_1").ends_with("5 reply On it.\n"), "{}", held.stream("ses_1"));
    assert_eq!(held.skipped("not read yet: still being written"), 3);
    assert_eq!(held.consumed["ses_1"].records, 5);
    // The agent went on: no answer will come.
    let dead = told_of(&[user("msg_3", &[text("again")]), agent("msg_4", &[text("yes")])]);
    assert!(dead.stream("ses_1").contains("6 call c bash make\n7 prompt"), "{}", dead.stream("ses_1"));
}

#[test]
fn sub_agents_are_sessions_of_their_own() {
    let mut child = session("ses_2");
    child["parentID"] = json!("ses_1");
    child["title"] = json!("Look around (@explore subagent)");
    let mut third = session("ses_3");
    third["parentID"] = json!("ses_2");
    let input = json!({"description": "Look around", "prompt": "…", "subagent_type": "explore"});
    let task = done("task", &input, "<task_result>\nFound.\n</task_result>", &json!({"sessionId": "ses_2"}));
    let sessions = [
        (session("ses_1"), vec![user("msg_1", &[text("go")]), agent("msg_2", &[task])]),
        (child, vec![user("msg_3", &[text("look")]), agent("msg_4", &[text("Found.")])]),
        (third, vec![user("msg_5", &[text("deeper")])]),
    ];
    let told = told(&IMPORTER, &[("opencode.db", database(&sessions))]);
    assert!(told.stream("ses_1").contains("result c Found. agent explore ses_1/agent-ses_2"));
    assert!(told.stream("ses_1/agent-ses_2").contains("prompt (task) look"));
    assert_eq!(told.parents["ses_1/agent-ses_2"], "ses_1");
    assert_eq!(told.parents["ses_2/agent-ses_3"], "ses_1/agent-ses_2");
    let header = told.headers.iter().find(|header| header.key.agent.as_deref() == Some("ses_2")).unwrap();
    assert_eq!((header.agent.as_deref(), header.task.as_deref()), (Some("explore"), Some("Look around")));
}

#[test]
fn a_fork_of_before_tells_what_is_its_own() {
    let first = [user("msg_1", &[text("mend it")]), agent("msg_2", &[text("Done."), finish()])];
    let copies = [user("msg_01", &[text("mend it")]), agent("msg_02", &[text("Done."), finish()])];
    let own = [user("msg_9", &[text("paint it")]), agent("msg_10", &[text("Painted."), finish()])];
    let mut fork = session("ses_2");
    fork["time"]["created"] = json!(at("msg_5"));
    let base = database(&[(session("ses_1"), first.to_vec()), (fork, [copies, own].concat())]);
    let told = told(&IMPORTER, &[("opencode.db", base)]);
    assert_eq!((told.tokens("ses_1"), told.tokens("ses_2")), (told.tokens("ses_2"), told.tokens("ses_1")));
    assert_eq!((told.parents["ses_2"].as_str(), told.stream("ses_2").contains("mend it")), ("ses_1", false));
    assert_eq!(told.skipped("message of the session that it was forked from"), 2);
}

#[test]
fn kilo_keeps_its_sessions_so() {
    assert!(IMPORTER.agent().places.iter().any(|place| place.ends_with("kilo/kilo.db")));
    assert!(super::database::is_own(Path::new("kilo.db")), "its tables may stand in its log");
}

#[test]
fn circles_and_ids_that_are_paths() {
    let (mut one, mut two) = (session("ses_1"), session("../../x"));
    one["parentID"] = json!("../../x");
    two["parentID"] = json!("ses_1");
    let both = [(one.clone(), whole()), (two.clone(), Vec::new())];
    assert_eq!(told(&IMPORTER, &[("opencode.db", database(&both))]).streams.len(), 2);
    let mut files = tree(&one, &whole());
    files.push(("storage/session/p/x.json".to_owned(), two.to_string().into_bytes()));
    let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    assert_eq!(told(&IMPORTER, &files).streams.len(), 2);
    one["parentID"] = json!("ses_1");
    assert!(told(&IMPORTER, &[("a.json", export(&one, &whole()))]).parents.is_empty());
}

#[test]
fn odd_values_everywhere() {
    for odd in [json!(null), json!(true), json!(-3.5), json!("x"), json!([[]]), json!({"type": {}, "state": 3})] {
        of_export(&[
            odd.clone(),
            json!({"info": odd, "parts": odd}),
            json!({"info": {"role": "assistant"}, "parts": [odd]}),
        ]);
        of_export(&[json!({"info": {"role": "user", "time": odd}, "parts": [odd, {"type": "tool", "state": odd}]})]);
        let part = json!({"type": "tool", "tool": "bash", "state": {"status": "completed", "input": odd, "metadata": odd, "output": odd}});
        of_export(&[user("msg_1", &[text("x")]), agent("msg_2", &[part])]);
    }
    let unknown = json!({"type": "hologram"});
    let told = of_export(&[agent("msg_1", &[unknown]), json!({"info": {"role": "oracle"}, "parts": [{}]})]);
    assert_eq!((told.skipped("unknown part"), told.skipped("unknown role")), (1, 1));
}

#[test]
fn what_cannot_be_read_is_known_by_its_id() {
    let mut files = tree(&session("ses_1"), &whole());
    for (name, bytes) in &mut files {
        if name.ends_with("/msg_3.json") || name.ends_with("/prt_msg_4_0.json") {
            bytes.truncate(9);
        }
    }
    let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let told = told(&IMPORTER, &files);
    assert_eq!((told.skipped("broken message"), told.skipped("broken part")), (1, 1));
    assert_eq!(told.consumed["ses_1"].last.as_deref(), Some("prt_msg_4_0"));
    assert!(super::kept::item(b"{", "msg_3").is_err_and(|(_, id, _)| id == "msg_3"));
}

#[test]
fn values_of_other_types_break_nothing() {
    crate::told::survives_other_types(&IMPORTER, "a.json", &export(&session("ses_1"), &whole()));
}

#[test]
fn cut_at_every_byte() {
    let bytes = export(&session("ses_1"), &whole());
    let mut shown = 0;
    for end in 1..bytes.len() {
        let told = told(&IMPORTER, &[("a.json", bytes[..end].to_vec())]);
        let now = told.streams.values().map(|events| events.lines().count()).max().unwrap_or(0);
        assert!(now >= shown, "what was whole stays: {end}");
        shown = now;
    }
    assert!(shown >= 10);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits(flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..20)) {
        let mut bytes = export(&session("ses_1"), &whole());
        let mut base = database(&[(session("ses_1"), whole())]);
        for (at, bit) in flips {
            let (one, two) = (at.index(bytes.len()), at.index(base.len()));
            bytes[one] ^= 1 << bit;
            base[two] ^= 1 << bit;
        }
        told(&IMPORTER, &[("a.json", bytes)]);
        // A damaged database is an error, or gives what is good.
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("opencode.db");
        cru_base::files::create(&path, &base).unwrap();
        read_lossy(&path);
    }
}

fn read_lossy(path: &Path) {
    let bundles = (IMPORTER.bundle)(vec![path.to_owned()]).unwrap();
    for bundle in &bundles {
        let _ = (IMPORTER.read)(bundle, &mut Told::default());
    }
}
