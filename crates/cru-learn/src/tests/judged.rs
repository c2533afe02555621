//! Answers that the record itself shows to be none, and answers that cannot be compared, through the whole extraction.

use serde_json::json;

use super::*;
use crate::rows;

fn gaps(session: &Session, calls: Option<&Calls>) -> Vec<(Kind, Option<Reason>)> {
    let found = extract(&[Note { calls, ..note(session) }], &Kind::IN_SESSIONS, &Family::default());
    found.cases.iter().map(|case| (case.kind(), case.gap())).collect()
}

fn built(items: Vec<Item>) -> Session {
    let mut session = Session { phases: vec![phase("p-01", "Build", items)], ..Session::default() };
    session.meta.cursor = Some("1 5".into());
    session
}

#[test]
fn what_was_brought_back_is_no_answer() {
    let session = |next: &str| {
        built(vec![
            user("", "Mend the pump.", None),
            step("n-001", "Edit pump.c", "+1"),
            step("n-002", "Bash make test", "9 passed"),
            prose("It runs."),
            user("", next, None),
            prose("I look."),
        ])
    };
    let edit = Call::new("Edit", json!({ "file_path": "pump.c", "old_string": "a", "new_string": "b" }), Some("ok"));
    let make = Call::new("Bash", json!({ "command": "make test" }), Some("9 passed"));
    let calls = [("n-001", edit), ("n-002", make)].into_iter().map(|(id, call)| (id.to_owned(), call.unwrap()));
    let calls: Calls = calls.collect();
    let gap = |next: &str| gaps(&session(next), Some(&calls))[0].1;
    assert_eq!(gap("Traceback (most recent call last):\n  in pump.c"), Some(Reason::ShownWrong));
    assert_eq!(gap("Traceback (most recent call last):\n  in hose.c"), None);
    assert_eq!(gap("pump.c gets a header now"), None);
}

#[test]
fn a_linter_alone_shows_nothing() {
    let shown = |asked: &str, checks: &[&str]| {
        let mut items = vec![user("", asked, None), step("n-001", "Edit pump.c", "+1")];
        items.extend(checks.iter().map(|check| step("", &format!("Bash {check}"), "fine")));
        items.push(prose("It runs."));
        gaps(&built(items), None).len()
    };
    assert_eq!(shown("Make the pump faster.", &["ruff check"]), 0);
    assert_eq!(shown("Make the pump faster.", &["make test", "ruff check"]), 1);
    assert_eq!(shown("Mend what ruff says of the pump.", &["ruff check"]), 1);
}

#[test]
fn a_pair_needs_one_prompt() {
    let layouts = export::Layouts { name: "case.md", case: TEMPLATE, prompt: "Be brief." };
    let pairs = |words: &str, answer: &str, accepted: bool| {
        let session = built(vec![
            user("", "Mend the pump.", None),
            step("n-001", "Edit pump.c", "+1"),
            prose("Done."),
            user("Correction", words, None),
            prose(answer),
        ]);
        let mut case = cases(&session).cases.remove(0);
        assert_eq!(case.gap(), None);
        case.accepted = accepted;
        let rows = rows::of(&case, case.gap(), export::Options::new(layouts));
        let tables: Vec<_> = rows.iter().flatten().map(|(table, ..)| table.as_str()).collect();
        let reasons: Vec<_> = rows.iter().filter_map(|row| row.as_ref().err()).copied().collect();
        (tables.len(), reasons)
    };
    let all = (4, vec![]);
    assert_eq!(pairs("no, the other pump", "I mend that pump.", false), (1, vec![]), "a rule alone compares nothing");
    assert_eq!(pairs("no, the other pump", "I mend that pump.", true), all);
    assert_eq!(pairs("no, with `rubber`", "I take rubber.", true), (1, vec![Reason::ToldLater]));
    assert_eq!(pairs("no, on port 8080", "It listens on 8080.", true), (1, vec![Reason::ToldLater]));
}

#[test]
fn guesses_are_no_part_of_the_solution() {
    let fix = |failures: usize| {
        let mut items = vec![
            user("", "Mend the pump.", None),
            step("n-001", "Bash make", "✗ error: no valve"),
            error("error: no valve", "", Some("n-001"), None),
        ];
        for at in 0..failures {
            items.push(step(&format!("n-1{at}"), &format!("Edit guess{at}.c"), "+1"));
            items.push(step(&format!("n-2{at}"), "Bash make", "✗ error: no valve"));
        }
        items.push(step("n-003", "Edit pump.c", "+1"));
        items.push(step("n-004", "Bash make", "built"));
        if let Item::Error(error) = &mut items[2] {
            error.resolution = Some("passed in [[#^n-004]]".into());
            error.resolved_by = vec![Link::to_block("n-004")];
        }
        let found = cases(&built(items));
        found.cases.iter().find(|case| case.kind() == Kind::Puzzle).unwrap().done().len()
    };
    assert_eq!(fix(2), 6);
    assert_eq!(fix(3), 2);
}

#[test]
fn looks_that_led_to_a_refused_call_are_no_answer() {
    let gap = |second: &str| {
        let session = built(vec![
            user("", "Mend the pump.", None),
            step("n-001", "Edit pump.c", "+1"),
            user("Correction", "no, read it first", None),
            step("n-002", second, "9 lines"),
            step("n-003", "Edit hose.c", "✗ denied by user"),
            user("Correction", "no, the valve", None),
            prose("The valve."),
        ]);
        gaps(&session, None)[0].1
    };
    assert_eq!(gap("Read pump.c"), Some(Reason::CorrectedAgain));
    assert_eq!(gap("Edit valve.c"), None);
}
