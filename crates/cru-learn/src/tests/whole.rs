//! Whole sessions: trajectories and tasks.

use serde_json::{Value, json};

use super::*;
use crate::rows::row::Dialect;

fn run(command: &str, output: &str) -> Call {
    Call::new("Bash", json!({ "command": command }), Some(output)).unwrap()
}

fn edit(path: &str, old: &str, new: &str) -> Call {
    Call::new("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }), Some("ok")).unwrap()
}

/// A session of these steps: the line of each, its result, and its call.
fn session(steps: &[(&str, &str, Call)], words: &[(usize, &str)]) -> (Session, Calls) {
    let (mut items, mut calls) = (Vec::new(), Calls::new());
    for (at, (line, result, call)) in steps.iter().enumerate() {
        let id = format!("n-{at:03}");
        items.extend(words.iter().filter(|(before, _)| *before == at).map(|(_, words)| user("", words, None)));
        let mut item = step(&id, line, result);
        if let (Item::Step(step), Some(commit)) = (&mut item, result.strip_prefix("commit ")) {
            step.fields.push(("commit".into(), format!("`{commit}` seal")));
        }
        items.push(item);
        calls.insert(id, call.clone());
    }
    items.push(prose("It runs."));
    let mut session = Session { phases: vec![phase("p-01", "Build", items)], ..Session::default() };
    (session.meta.project, session.meta.commit) = (Some("~/code/pump".into()), Some("abcdef0".into()));
    (session, calls)
}

fn whole(session: &Session, calls: &Calls) -> Vec<Case> {
    let note = Note { calls: Some(calls), ..note(session) };
    extract(&[note], &[Kind::Trajectory], &Family::default()).cases
}

fn rows_of(cases: &[Case], options: export::Options<'_>) -> (Vec<Value>, Vec<Reason>) {
    let export = export::folder(cases, Format::Trajectories, options).unwrap();
    let rows = export.files.iter().filter(|file| file.rows > 0).flat_map(|file| {
        let text = String::from_utf8(file.bytes.clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    });
    (rows.collect(), export.left_out.iter().map(|it| it.reason).collect())
}

fn pump() -> (Session, Calls) {
    let steps = [
        ("Bash make test", "✗ pump.c:1: error: no valve", run("make test", "pump.c:1: error: no valve")),
        ("Edit src/pump.c", "+1", edit("/home/jo/code/pump/src/pump.c", "int a;", "int b;")),
        ("Bash git commit --no-verify -m x", "done", run("git commit --no-verify -m x", "done")),
        ("Bash make test", "9 passed", run("make test", "9 passed")),
    ];
    session(&steps, &[(0, "Make the test of the pump pass, please.")])
}

#[test]
fn a_changed_expectation_is_no_check_that_was_switched_off() {
    let reasons = |path: &str, new: &str| {
        let steps = [
            ("Bash make test", "✗ pump.c:1: error: no valve", run("make test", "pump.c:1: error: no valve")),
            ("Edit a file", "+1 −1", edit(path, "assert flow == 2", new)),
            ("Bash make test", "9 passed", run("make test", "9 passed")),
        ];
        let (session, calls) = session(&steps, &[(0, "Make the test of the pump pass, please.")]);
        let note = Note { calls: Some(&calls), ..note(&session) };
        let cases = extract(&[note], &[Kind::Puzzle], &Family::default()).cases;
        cases.iter().map(Case::gap).collect::<Vec<_>>()
    };
    assert_eq!(reasons("tests/test_pump.py", "assert flow == 1"), [Some(Reason::Bent)]);
    assert_eq!(reasons("tests/test_pump.py", "@pytest.mark.skip()"), [Some(Reason::Shortcut)]);
    assert_eq!(reasons("src/pump.py", "flow = 2"), [None]);
}

#[test]
fn a_trajectory_is_a_session_with_a_mask() {
    let (session, calls) = pump();
    let cases = whole(&session, &calls);
    assert_eq!(cases.iter().map(Case::gap).collect::<Vec<_>>(), [None]);
    let (rows, left_out) = rows_of(&cases, OPTIONS);
    assert_eq!((rows.len(), left_out), (1, vec![]));
    let told: Vec<String> = rows[0]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .zip(rows[0]["mask"].as_array().unwrap())
        .map(|(message, mask)| {
            let call = message["tool_calls"][0]["function"]["name"].as_str().unwrap_or_default();
            format!("{} {} {}{}", mask, message["role"].as_str().unwrap(), message["content"].as_str().unwrap(), call)
        })
        .collect();
    assert_eq!(
        told,
        [
            "0 system You are a coding agent.",
            "0 user Make the test of the pump pass, please.",
            "0 assistant Bash",
            "0 tool pump.c:1: error: no valve",
            "1 assistant Edit",
            "0 tool ok",
            // It switches a check off.
            "0 assistant Bash",
            "0 tool done",
            "1 assistant Bash",
            "0 tool 9 passed",
            "1 assistant It runs.",
        ]
    );
    assert_eq!(rows[0]["metadata"]["complete"], true);
    let openai = rows_of(&cases, export::Options { dialect: Dialect::Openai, ..OPTIONS }).0;
    assert_eq!((&openai[0]["messages"][2]["weight"], &openai[0]["messages"][4]["weight"]), (&json!(0), &json!(1)));
    let axolotl = rows_of(&cases, export::Options { dialect: Dialect::Axolotl, ..OPTIONS }).0;
    assert_eq!(
        (&axolotl[0]["messages"][2]["train"], &axolotl[0]["messages"][4]["train"]),
        (&json!(false), &json!(true))
    );
    assert!(whole(&session, &Calls::new()).iter().all(|case| case.gap() == Some(Reason::CallsUnknown)));
}

#[test]
fn what_is_too_long_loses_whole_turns_at_its_end() {
    let steps: Vec<_> =
        (0..6).map(|at| ("Bash make", "done", run(&format!("make {at}"), &"word ".repeat(900)))).collect();
    let words: Vec<(usize, &str)> = (0..6).map(|at| (at, "Go on with the next one.")).collect();
    let (session, calls) = session(&steps, &words);
    let cases = whole(&session, &calls);
    let rows = |max_tokens| rows_of(&cases, export::Options { max_tokens, ..OPTIONS });
    let last = |row: &Value| row["messages"].as_array().unwrap().last().unwrap()["role"].clone();
    let (all, cut, none) = (rows(32_768).0, rows(600), rows(10));
    assert_eq!((&all[0]["metadata"]["complete"], &last(&all[0])), (&json!(true), &json!("assistant")));
    let tokens = cut.0[0]["metadata"]["tokens"].as_u64().unwrap();
    assert!(tokens <= 600 && cut.0[0]["metadata"]["complete"] == false && last(&cut.0[0]) == "assistant", "{cut:?}");
    assert_eq!(none.1, [Reason::TooLong]);
}

#[test]
fn sessions_that_end_alike_are_two() {
    let last = |first: &str| {
        let steps = [("Bash make", "done", run(first, "done")), ("Bash git push", "done", run("git push", "done"))];
        session(&steps, &[(0, first), (1, "push it")])
    };
    let of = |first: &str, id: &str| {
        let (mut session, calls) = last(first);
        session.meta.session_id = Some(id.into());
        whole(&session, &calls).remove(0)
    };
    let (one, other) = (of("mend the pump", "a"), of("paint the fence", "b"));
    assert_eq!(rows_of(&[one.clone(), other], OPTIONS).0.len(), 2);
    assert_eq!(rows_of(&[one, of("mend the pump", "c")], OPTIONS).1, [Reason::Duplicate]);
}

/// The task of a session, or why it has none.
fn task(steps: &[(&str, &str, Call)], words: &[(usize, &str)]) -> Result<Value, Reason> {
    let (session, calls) = session(steps, words);
    let cases = whole(&session, &calls);
    let export = export::stream(&cases, Format::Task, OPTIONS).unwrap();
    // Who asks for proposals gets what is known, and what is not.
    let all = export::stream(&cases, Format::Task, export::Options { proposed: true, ..OPTIONS }).unwrap();
    for file in &all.files {
        let row: Value = serde_json::from_slice(&file.bytes).unwrap();
        assert_eq!(row["metadata"]["fails_at_commit"], !export.files.is_empty());
    }
    assert!(all.files.len() >= export.files.len());
    match export.files.first() {
        Some(file) => Ok(serde_json::from_slice(&file.bytes).unwrap()),
        None => Err(export.left_out[0].reason),
    }
}

#[test]
fn a_task_fails_at_its_commit_and_passes_behind_its_edits() {
    let test = |result: &'static str| ("Bash make test", result, run("cd /home/jo/code/pump && make test", "x"));
    let failed = || test("✗ pump.c:1: error: no valve");
    let passed = || test("9 passed");
    let path = |file: &str| format!("/home/jo/code/pump/{file}");
    let code = || ("Edit src/pump.c", "+1", edit(&path("src/pump.c"), "int a;", "int b;"));
    let tests = || ("Edit tests/pump.c", "+1", edit(&path("tests/pump.c"), "no", "yes"));
    let commit = || ("Bash git commit -m seal", "commit 1234567", run("git commit -m seal", "[main 1234567] seal"));
    let ask = "Make the test of the pump pass, please.";
    let row = task(&[failed(), code(), passed()], &[(0, ask)]).unwrap();
    let told = |row: &Value| {
        let all = &row["metadata"];
        let paths = |key: &str| {
            all[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|edit| edit["path"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let check = all["fail_to_pass"][0].as_str().unwrap();
        format!(
            "{} | {} | {check} | {} | {}",
            row["input"].as_str().unwrap(),
            all["base_commit"].as_str().unwrap(),
            paths("edits"),
            paths("test_edits")
        )
    };
    let mend = "Make the test of the pump pass, please. | abcdef0 | cd . && make test | src/pump.c | ";
    assert_eq!(told(&row), mend);
    // A test that was written first fails at the commit, together with it.
    let row = task(&[tests(), failed(), code(), passed()], &[(0, ask)]).unwrap();
    assert_eq!(told(&row), format!("{mend}tests/pump.c"));
    // Behind a commit what was asked before is done.
    let words = [(0, "Paint the fence."), (2, ask)];
    let row = task(&[code(), commit(), failed(), code(), passed()], &words).unwrap();
    assert_eq!(told(&row), mend.replace("abcdef0", "1234567"));
    // What the agent broke itself is no task, and what is known of no commit is none.
    assert_eq!(task(&[code(), failed(), code(), passed()], &[(0, ask)]), Err(Reason::NoCheck));
    let merge = ("Bash git merge main", "done", run("git merge main", "done"));
    assert_eq!(task(&[merge, failed(), code(), passed()], &[(0, ask)]), Err(Reason::NoCheck));
    assert_eq!(task(&[failed(), passed()], &[(0, ask)]), Err(Reason::NoCheck));
}

#[test]
fn a_task_for_harbor_is_a_folder() {
    let steps = [
        ("Bash make test", "✗ pump.c:1: error: no valve", run("make test", "x")),
        ("Edit src/pump.c", "+1", edit("src/pump.c", "int a;", "int b;")),
        ("Bash make test", "9 passed", run("make test", "9 passed")),
    ];
    let (session, calls) = session(&steps, &[(0, "Make the test of the pump pass, please.")]);
    let options = export::Options { eval: Eval::Harbor, ..OPTIONS };
    let export = export::folder(&whole(&session, &calls), Format::Task, options).unwrap();
    let names: Vec<&str> = export.files.iter().filter_map(|file| Some(file.name.split_once('/')?.1)).collect();
    let expected = [
        "environment/Dockerfile",
        "instruction.md",
        "solution/apply.py",
        "solution/edits.json",
        "solution/solve.sh",
        "task.toml",
        "tests/apply.py",
        "tests/check.sh",
        "tests/edits.json",
        "tests/test.sh",
    ];
    assert_eq!(names, expected);
    let file = |name: &str| {
        let file = export.files.iter().find(|file| file.name.ends_with(name)).unwrap();
        String::from_utf8(file.bytes.clone()).unwrap()
    };
    assert_eq!((file("tests/check.sh").as_str(), file("tests/edits.json").as_str()), ("make test\n", "[]\n"));
    let edits: Value = serde_json::from_str(&file("solution/edits.json")).unwrap();
    assert_eq!(
        (&edits[0]["path"], &edits[0]["old"], &edits[0]["new"]),
        (&json!("src/pump.c"), &json!("int a;"), &json!("int b;"))
    );
    assert!(file("Dockerfile").contains("git checkout 'abcdef0'"));
}

#[test]
fn words_beside_a_call_get_a_turn_where_a_template_drops_them() {
    let (mut session, calls) = pump();
    session.phases[0].items.insert(2, prose("I change the valve."));
    let cases = whole(&session, &calls);
    let beside = |template| {
        let rows = rows_of(&cases, export::Options { template, ..OPTIONS }).0;
        let (messages, mask) = (rows[0]["messages"].as_array().unwrap(), rows[0]["mask"].as_array().unwrap());
        assert_eq!(messages.len(), mask.len());
        let words = messages.iter().any(|message| message["content"] == "I change the valve.");
        assert!(words, "nothing is lost");
        messages.iter().filter(|it| it["tool_calls"].is_array() && it["content"] != "").count()
    };
    assert_eq!(beside(ChatTemplate::Any), 1);
    for template in [ChatTemplate::Llama3, ChatTemplate::GptOss, ChatTemplate::DeepSeek] {
        assert_eq!(beside(template), 0, "{template:?}");
    }
}

/// A decorator is no address of anybody, neither in a row nor in JSON inside of it.
#[test]
fn a_row_that_leaks_is_left_out_and_named_and_the_rest_is_written() {
    let (code, calls) = pump();
    let route = edit("/home/jo/code/pump/api.py", "app = 1", "@app.get(\"/pump\")\ndef pump():\n    return {\"a\": 1}");
    let calls =
        calls.into_iter().map(|(id, call)| if id == "n-001" { (id, route.clone()) } else { (id, call) }).collect();
    for dialect in [Dialect::Hf, Dialect::Openai, Dialect::Axolotl] {
        let (rows, left_out) = rows_of(&whole(&code, &calls), export::Options { dialect, ..OPTIONS });
        assert_eq!((rows.len(), left_out), (1, vec![]), "{dialect:?}");
        assert!(rows[0].to_string().contains("@app.get"), "{dialect:?}");
    }
    // What masking has missed is looked for in what was made.
    let mut cases = whole(&code, &calls);
    let mut leaky = cases[0].clone();
    leaky.id = "trajectory-leaky".into();
    leaky.context[0].asked = "Write to jane.doe@pumps.io, please.".into();
    cases.push(leaky);
    let (rows, left_out) = rows_of(&cases, OPTIONS);
    assert_eq!((rows.len(), left_out), (1, vec![Reason::Leaks]));
}
