//! What an answer needs stays in its row.

use std::collections::HashMap;

use serde_json::json;

use super::*;

/// Lines of a file that nobody else has written.
fn file(name: &str, lines: usize) -> String {
    let lines: Vec<String> = (0..lines).map(|at| format!("  {at}→    {name}.plank({at}).nail();\n")).collect();
    lines.concat()
}

/// A failure that an edit solves, behind so many looks at other files.
fn solved(before: usize, looks: &[(&str, String)], old: &str) -> (Session, Calls) {
    let mut items: Vec<Item> = Vec::new();
    let mut calls: HashMap<String, Call> = HashMap::new();
    let mut add = |line: &str, input, output: &str, failed: bool| {
        let id = format!("n-{:03}", items.len() + 1);
        let tool = line.split(' ').next().unwrap_or_default();
        items.push(step(&id, line, if failed { "✗ error: the hull leaks" } else { "done" }));
        calls.insert(id, Call::new(tool, input, Some(output)).unwrap());
    };
    for (name, text) in looks {
        add(&format!("Read {name}"), json!({ "path": name }), text, false);
    }
    for at in 0..before {
        add(
            &format!("Read other{at}.c"),
            json!({ "path": format!("other{at}.c") }),
            &file(&format!("oar{at}"), 9),
            false,
        );
    }
    add("Bash make", json!({ "command": "make" }), "error: the hull leaks", true);
    add("Edit ship.c", json!({ "path": "ship.c", "old_string": old, "new_string": "caulk();" }), "done", false);
    add("Bash make", json!({ "command": "make" }), "built", false);
    (failed(items), calls)
}

/// The prompt of the one completion, or why there is none.
fn prompt((session, calls): &(Session, Calls)) -> std::result::Result<Vec<serde_json::Value>, Reason> {
    let extraction = extract(&[Note { calls: Some(calls), ..note(session) }], &[Kind::Puzzle], &Family::default());
    let export = export::folder(&extraction.cases, Format::Jsonl, OPTIONS).expect("rows");
    if let Some(left_out) = export.left_out.first() {
        return Err(left_out.reason);
    }
    let row: serde_json::Value = serde_json::from_str(text(&export, "completion/train.jsonl").trim()).expect("a row");
    Ok(row["prompt"].as_array().cloned().unwrap_or_default())
}

fn flat(messages: &[serde_json::Value]) -> String {
    messages.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const QUOTED: &str = "    ship.plank(300).nail();\n    ship.plank(301).nail();";

#[test]
fn a_look_that_shows_what_is_edited_stays() {
    let looks = [("boat.c", file("boat", 5)), ("ship.c", file("ship", 600)), ("raft.c", file("raft", 5))];
    let made = flat(&prompt(&solved(60, &looks, QUOTED)).unwrap());
    assert!(made.contains("ship.plank(300).nail()") && made.contains("ship.plank(301).nail()"), "{made}");
    // What is cut of it is elsewhere, and what nobody needs is left out.
    assert!(made.contains("characters left out") && !made.contains("ship.plank(200)"));
    assert!(made.contains("steps left out") && !made.contains("oar2.plank(8)"), "{made}");
}

#[test]
fn what_stands_nowhere_is_no_answer() {
    let looks = [("ship.c", file("ship", 20))];
    assert_eq!(prompt(&solved(3, &looks, QUOTED)), Err(Reason::Unshown));
    // A person who accepted it knows better.
    let (session, calls) = solved(3, &looks, QUOTED);
    let mut extraction =
        extract(&[Note { calls: Some(&calls), ..note(&session) }], &[Kind::Puzzle], &Family::default());
    extraction.cases[0].accepted = true;
    assert!(export::folder(&extraction.cases, Format::Jsonl, OPTIONS).expect("rows").left_out.is_empty());
}

#[test]
fn words_of_a_person_stay_whole_and_hold_no_marks() {
    let long = format!("Make it build. {}", "The hull must be tight and dry. ".repeat(300));
    let (session, calls) = solved(60, &[("ship.c", file("ship", 600))], QUOTED);
    let mut items = session.phases[0].items.clone();
    items[0] = user("", &long, None);
    items.insert(40, user("", "and mind the keel", None));
    let session = Session { phases: vec![phase("p-01", "Build", items)], ..Session::default() };
    let messages = prompt(&(session, calls)).unwrap();
    let users: Vec<&str> =
        messages.iter().filter(|it| it["role"] == "user").filter_map(|it| it["content"].as_str()).collect();
    assert_eq!(users, [long.trim(), "and mind the keel"]);
    let roles: Vec<&str> = messages.iter().filter_map(|it| it["role"].as_str()).collect();
    assert!(roles.windows(2).all(|pair| pair != ["user", "user"]), "{roles:?}");
}

#[test]
fn a_picture_beside_the_words_is_not_in_the_record() {
    let gap = |mark: &str| {
        let after = vec![user("Correction", "no, the other border", None), prose(mark), prose("It is blue now.")];
        let items: Vec<Item> = vec![step("n-001", "Edit a.css", "+1"), prose("Done.")];
        cases(&failed(items.into_iter().chain(after).collect())).cases[0].gap()
    };
    assert_eq!(gap("*[image/png, 30 kB]*"), Some(Reason::PictureUnknown));
    assert_eq!(gap("*The image is wide.*"), None);
}

#[test]
fn an_answer_ends_with_the_words_behind_its_last_call() {
    let last = |words: &str| {
        let (mut session, calls) = solved(0, &[("ship.c", file("ship", 302))], QUOTED);
        session.phases[0].items.push(prose(words));
        let found = extract(&[Note { calls: Some(&calls), ..note(&session) }], &[Kind::Puzzle], &Family::default());
        found.cases[0].done().last().map(Entry::text).unwrap_or_default()
    };
    assert_eq!(last("The hull is tight."), "The hull is tight.");
    assert_eq!(last("Now the mast:"), "`Bash make` → done");
}
