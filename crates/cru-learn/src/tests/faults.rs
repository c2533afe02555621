//! What only looks like something to learn from, each kind once: seen in real sessions, told with invented words.

use std::collections::HashMap;

use serde_json::json;

use super::*;
use crate::rows;

/// The same session as `cru` writes it.
fn written(items: Vec<Item>) -> Session {
    let mut session = failed(items);
    session.meta.cursor = Some("1 5".into());
    session
}

fn stopped() -> Item {
    prose("*Interrupted by the user.*")
}

/// Texts of what was corrected, of each correction.
fn corrected(session: &Session) -> Vec<Vec<String>> {
    let texts = |case: &Case| {
        case.correction().map(|it| it.behaviour.iter().map(Entry::text).collect::<Vec<_>>()).unwrap_or_default()
    };
    cases(session).cases.iter().filter(|case| case.kind() == Kind::Correction).map(texts).collect()
}

#[test]
fn words_after_a_stop_that_only_reply() {
    let after = |beat: Item, title: &str, words: &str| {
        let items = vec![prose("I look."), beat, user(title, words, None), prose("Here it is.")];
        corrected(&written(items)).len()
    };
    let refused = |tool: &str| step("n-001", &format!("{tool} x"), "✗ denied by user");
    // A question that is turned away is answered in words.
    assert_eq!(after(refused("AskUserQuestion"), "Correction", "the second one seems fine, and name it so"), 0);
    assert_eq!(after(refused("AskUserQuestion"), "Correction", "no, that is the wrong table"), 1);
    assert_eq!(after(refused("Edit"), "Correction", "the second one seems fine, and name it so"), 1);
    // Material, and answers by number.
    assert_eq!(after(stopped(), "Correction", "/home/user/app/logs/run-7.json"), 0);
    assert_eq!(after(stopped(), "Correction", "1. the newest\n2. both\n\n3. relative"), 0);
    assert_eq!(after(stopped(), "Correction", "the log is /home/user/app/logs/run-7.json"), 1);
    // A person's title counts in a person's note.
    let items = vec![prose("I look."), stopped(), user("Correction", "1. the newest\n2. both", None), prose("So.")];
    assert_eq!(corrected(&failed(items)).len(), 1);
}

#[test]
fn what_was_stopped_is_what_was_wrong() {
    let before = vec![
        prose("I add the entry."),
        step("n-001", "Bash git pull", "conflict"),
        step("n-002", "Read NEWS.md", "12 lines"),
    ];
    let end = |last: Vec<Item>, words: &str| {
        let items = before.clone().into_iter().chain(last).chain([stopped(), user("", words, None), prose("So.")]);
        corrected(&failed(items.collect())).remove(0)
    };
    let write = step("n-003", "Write NEWS.md", "written");
    assert_eq!(end(vec![write.clone()], "make small edits there"), ["`Write NEWS.md` → written"]);
    // A look or a check shows nothing by itself.
    let check = step("n-004", "Bash make", "built");
    assert_eq!(end(vec![write.clone(), check.clone()], "make small edits there").len(), 2);
    let announced = vec![write.clone(), prose("Now I check:"), check];
    assert_eq!(end(announced, "make small edits there").len(), 3);
    let look = vec![prose("It is not there."), step("n-004", "Read b.c", "9 lines")];
    assert_eq!(end(look, "make small edits there").len(), 2);
    // Words that correct may be about more than the last thing.
    assert_eq!(end(vec![write], "no, undo all of that").len(), 4);
}

#[test]
fn a_success_after_further_words_is_no_solution() {
    let link: (&str, &[&str]) = ("worked in [[#^n-003]]", &["n-003"]);
    let items = |link| {
        vec![
            step("n-001", "Bash git push", "✗ error: failed to push some refs"),
            error("error: failed to push some refs", "", Some("n-001"), Some(link)),
            user("", "first take the branch of the others in", None),
            step("n-002", "Edit NEWS.md", "+1"),
            step("n-003", "Bash git push", "done"),
        ]
    };
    let gap = |session: &Session| cases(session).cases.iter().find(|case| case.kind() == Kind::Puzzle).unwrap().gap();
    assert_eq!(gap(&written(items(link))), Some(Reason::Helped));
    assert_eq!(gap(&failed(items(link))), None, "who links by hand has thought of it");
    let told: (&str, &[&str]) = ("rebase first, then [[#^n-003]]", &["n-003"]);
    assert_eq!(gap(&written(items(told))), None);
}

#[test]
fn what_was_done_before_the_last_attempt_is_no_part_of_the_solution() {
    let link: (&str, &[&str]) = ("worked in [[#^n-099]]", &["n-099"]);
    let mut items = vec![
        step("n-001", "Bash git rebase main", "✗ error: could not apply 1a"),
        error("error: could not apply 1a", "", Some("n-001"), Some(link)),
        step("n-002", "Edit a.c", "+1"),
    ];
    items.extend((3..30).map(|at| step(&format!("n-{at:03}"), "Read b.c", "9 lines")));
    items.push(step("n-030", "Bash git rebase --continue", "✗ error: could not apply 2b"));
    items.push(step("n-031", "Edit b.c", "+1"));
    items.push(step("n-099", "Bash git rebase --continue", "done"));
    let extraction = cases(&failed(items));
    let Story::Puzzle(puzzle) = &extraction.cases[0].story else { panic!("a puzzle") };
    let blocks: Vec<_> = puzzle.fix.iter().filter_map(|entry| entry.block.as_deref()).collect();
    assert_eq!(blocks, ["n-031", "n-099"]);
}

#[test]
fn an_interruption_alone_marks_nothing_as_wrong() {
    let layouts = export::Layouts { name: "case.md", case: TEMPLATE, prompt: "Be brief." };
    let tables = |stop: Item, accepted: bool| {
        let items = vec![stop, user("", "that file is in use elsewhere", None), prose("So this one.")];
        let mut case = cases(&failed(items)).cases.remove(0);
        case.accepted = accepted;
        let rows = rows::of(&case, case.gap(), export::Options::new(layouts));
        rows.iter().flatten().map(|(table, ..)| table.as_str()).collect::<Vec<_>>()
    };
    let refused = || step("n-001", "Edit a.c", "✗ denied by user");
    let stopped = || prose("I edit a.c now.\n\n*Interrupted by the user.*");
    // A rule alone says what may be right, and never what is wrong.
    assert_eq!(tables(refused(), false), ["completion"]);
    assert_eq!(tables(refused(), true), ["completion", "preference", "kto", "kto"]);
    assert_eq!((tables(stopped(), false), tables(stopped(), true)), (vec!["completion"], vec!["completion"]));
}

#[test]
fn edits_of_which_only_the_file_is_known() {
    let items = vec![
        step("n-001", "Bash make", "✗ a.c:3: error: missing semicolon"),
        error("a.c:3: error", "", Some("n-001"), Some(("[[#^n-003]]", &["n-003"]))),
        step("n-002", "Edit a.c", "+1"),
        step("n-003", "Bash make", "done"),
    ];
    let session = written(items);
    let call = |name: &str, input| Call::new(name, input, Some("error: missing semicolon")).unwrap();
    let mut calls: HashMap<String, Call> =
        ["n-001", "n-003"].map(|id| (id.to_owned(), call("Bash", json!({ "command": "make" })))).into();
    let gap = |calls: Option<&Calls>| {
        extract(&[Note { calls, ..note(&session) }], &Kind::IN_SESSIONS, &Family::default()).cases[0].gap()
    };
    assert_eq!(gap(Some(&calls)), Some(Reason::ChangeUnknown));
    assert_eq!(gap(None), None, "where the transcript is gone a note's lines are all there is");
    let edit = call("Edit", json!({ "file_path": "a.c", "old_string": "int a", "new_string": "int a;" }));
    calls.insert("n-002".into(), edit);
    assert_eq!(gap(Some(&calls)), None);
}

#[test]
fn a_failure_is_no_wrong_answer() {
    let layouts = export::Layouts { name: "case.md", case: TEMPLATE, prompt: "Be brief." };
    let rows = |result: &str| {
        let items = vec![step("n-001", "Bash tsc | grep button", result), error("tsc failed", "", Some("n-001"), None)];
        let extraction = cases(&failed(items));
        let rows = rows::of(&extraction.cases[0], extraction.cases[0].gap(), export::Options::new(layouts));
        rows.iter().filter(|row| row.is_ok()).count()
    };
    // Who runs a check does nothing wrong, whatever it finds.
    assert_eq!(rows("✗ (no output)"), 0);
    assert_eq!(rows("✗ button.ts:3: error: no such name"), 0);
}

#[test]
fn a_demonstration_stands_on_its_own() {
    let shown = |asked: &str, words: &str| {
        let first = vec![user("", "Read the code, please.", None), step("n-001", "Read a.c", "9 lines"), prose(asked)];
        let work = vec![
            user("", words, None),
            step("n-002", "Grep footer", "1 hit"),
            step("n-003", "Edit b.c", "+1"),
            step("n-004", "Bash make", "built"),
            prose("Done."),
        ];
        let phases = vec![phase("p-01", "Read", first), phase("p-02", "Work", work)];
        let extraction = cases(&Session { phases, ..Session::default() });
        extraction.cases.iter().filter(|case| case.kind() == Kind::Demonstration).count()
    };
    let long = "and make the footer stick to the lower end of the page, as the header does above";
    let asking = "Here it is.\n\nShall I change it?";
    assert_eq!(shown(asking, &format!("Now look {long}.")), 1);
    assert_eq!(shown(asking, &format!("Yes, {long}.")), 0);
    assert_eq!(shown(asking, &format!("1. the first one, {long}\n2. yup")), 0);
    assert_eq!(shown("Here it is.", &format!("Yes, {long}.")), 1);
    assert_eq!(shown("Here it is.", &format!("As in [Image #2] {long}.")), 0);
}

#[test]
fn what_a_picture_shows_is_not_in_the_record() {
    let gap = |words: &str| {
        let items = vec![step("n-001", "Edit a.css", "+1"), prose("Done."), user("Correction", words, None)];
        let session = failed(items.into_iter().chain([prose("The border is blue now.")]).collect());
        cases(&session).cases[0].gap()
    };
    assert_eq!(gap("no, it looks like this: [Image #1]"), Some(Reason::PictureUnknown));
    assert_eq!(gap("no, the border is blue"), None);
}

/// The one correction among what was said and done.
fn correction(after: Vec<Item>) -> Case {
    let before = vec![step("n-001", "Edit a.c", "+1"), prose("Done."), user("Correction", "no, in b.c", None)];
    let extraction = cases(&written(before.into_iter().chain(after).collect()));
    let mut found = extraction.cases.into_iter().filter(|case| case.kind() == Kind::Correction);
    found.next().unwrap()
}

#[test]
fn an_answer_whose_last_check_failed_is_none() {
    let answer = |checks: &[&str]| {
        let checks = checks.iter().enumerate().map(|(at, result)| step(&format!("n-01{at}"), "Bash make test", result));
        correction([step("n-002", "Edit b.c", "+1")].into_iter().chain(checks).chain([prose("It is there.")]).collect())
    };
    assert_eq!(answer(&["✗ 1 failed"]).gap(), Some(Reason::CheckFailed));
    assert_eq!(answer(&["✗ 1 failed", "2 passed"]).gap(), None);
    assert_eq!(answer(&[]).gap(), None);
}

#[test]
fn an_answer_ends_with_no_promise() {
    let mut after = vec![prose("You mean this."), step("n-002", "Edit b.c", "+1"), prose("Now the other one:")];
    let texts = |case: &Case| case.done().iter().map(Entry::text).collect::<Vec<_>>();
    assert_eq!(texts(&correction(after.clone())), ["You mean this.", "`Edit b.c` → +1"]);
    after.push(step("n-003", "Edit c.c", "+1"));
    assert_eq!(texts(&correction(after)).len(), 4);
    // Long work is told by its beginning, which does not end where something failed.
    let mut long: Vec<Item> = (2..17).map(|at| step(&format!("n-0{at}"), "Edit b.c", "+1")).collect();
    long.push(step("n-020", "Bash make", "✗ 1 error"));
    long.push(step("n-021", "Bash make", "built"));
    assert_eq!(texts(&correction(long)).len(), 15);
}

#[test]
fn agreement_goes_from_all_of_a_compared_answer() {
    let layouts = export::Layouts { name: "case.md", case: TEMPLATE, prompt: "Be brief." };
    let after = vec![prose("I look."), step("n-002", "Read b.c", "9 lines"), prose("You're right! It is in b.c.")];
    let rows = rows::of(&correction(after), None, export::Options::new(layouts));
    let with: Vec<_> = rows.iter().flatten().filter(|(_, row, _)| row.text.contains("You're right!")).collect();
    assert_eq!(with.iter().map(|(table, ..)| table.as_str()).collect::<Vec<_>>(), ["completion"]);
}

#[test]
fn a_later_turn_is_shown_with_what_led_to_it() {
    let layouts = export::Layouts { name: "case.md", case: TEMPLATE, prompt: "Be brief." };
    let work = |first: &str| {
        vec![
            user("", first, None),
            step("n-002", "Grep footer", "1 hit"),
            step("n-003", "Edit b.c", "+1"),
            step("n-004", "Bash make", "built"),
            prose("Done."),
        ]
    };
    let words = "Now make the footer stick to the lower end of the page, as the header does on top of each.";
    let first = vec![user("", "Read the code, please.", None), step("n-001", "Read a.c", "9 lines"), prose("Read.")];
    let phases = vec![phase("p-01", "Read", first), phase("p-02", "Work", work(words))];
    let extraction = cases(&Session { phases, ..Session::default() });
    let case = extraction.cases.iter().find(|case| case.kind() == Kind::Demonstration).unwrap();
    let asked: Vec<_> = case.context.iter().map(|turn| turn.asked.as_str()).collect();
    assert_eq!(asked, ["Read the code, please.", words]);
    let tables = |case: &Case| {
        let rows = rows::of(case, case.gap(), export::Options::new(layouts));
        rows.iter().flatten().map(|(table, ..)| table.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(tables(case), ["completion"]);
    let extraction = cases(&Session { phases: vec![phase("p-01", "Work", work(words))], ..Session::default() });
    assert_eq!(tables(&extraction.cases[0]), ["sft"]);
}

#[test]
fn a_second_try_alone_is_no_solution() {
    let gap = |between: &[Item], last: &str| {
        let link: (&str, &[&str]) = ("passed in [[#^n-099]]", &["n-099"]);
        let mut items = vec![
            step("n-001", "Bash make check", "✗ error: no such file"),
            error("error: no such file", "", Some("n-001"), Some(link)),
        ];
        items.extend(between.iter().cloned());
        items.push(step("n-099", last, "done"));
        cases(&written(items)).cases[0].gap()
    };
    let far: Vec<Item> = (2..30).map(|at| step(&format!("n-{at:03}"), "Read b.c", "9 lines")).collect();
    assert_eq!(gap(&far, "Bash make check"), Some(Reason::Retried));
    assert_eq!(gap(&far, "Bash make check DIR=lib"), None, "the call itself was set right");
    assert_eq!(gap(&[step("n-002", "Edit b.c", "+1")], "Bash make check"), None);
}

/// What the record of a recovered failure proves by itself, and what it leaves to somebody who knows.
#[test]
fn what_a_later_success_proves() {
    let standing = |fix: &[(&str, &str)], success: &str| {
        let mut items = vec![
            user("", "Make the test pass.", None),
            step("n-001", "Bash cd pump && make test", "✗ error: no valve"),
        ];
        for (at, (line, result)) in fix.iter().enumerate() {
            items.push(step(&format!("n-1{at:02}"), line, result));
        }
        let (success, lint) = success.split_once(" ;; ").unwrap_or((success, ""));
        items.push(step("n-900", success, "9 passed"));
        if !lint.is_empty() {
            let mut last = step("n-901", "Bash make lint", "✗ error: 1 warning");
            if let Item::Step(step) = &mut last {
                step.check = Some(cru_action::Verdict::Failed);
            }
            items.push(last);
        }
        items.push(prose("It passes."));
        let found = cases(&failed(items)).cases;
        found.iter().find(|case| case.kind() == Kind::Puzzle).map(Case::standing)
    };
    let (edit, again) = (("Edit pump/valve.c", "+1"), "Bash cd pump && make test 2>&1 | tail -5");
    assert_eq!(standing(&[edit], again), Some(Grade::Proven));
    let fails = format!("{again} ;; make lint");
    assert_eq!(standing(&[edit], &fails), Some(Grade::Proposed), "another check fails at last");
    assert_eq!(standing(&[edit], "Bash cd hose && make test"), Some(Grade::Proposed), "in another folder");
    assert_eq!(standing(&[edit, ("Bash rm -rf pump/old", "done")], again), Some(Grade::Proposed), "it deletes");
    let formats = ("Bash cargo fmt", "1 file changed");
    assert_eq!(standing(&[formats], again), Some(Grade::Proposed), "what was changed is not in the record");
    assert_eq!(standing(&[("Bash npm install valve", "added 1 package")], again), Some(Grade::Proven));
}

/// A check that passed says nothing of what the plan asks besides.
#[test]
fn a_plan_that_was_not_carried_out_is_no_demonstration() {
    let standing = |open: &[&str]| {
        let mut check = step("n-003", "Bash make test", "9 passed");
        if let Item::Step(step) = &mut check {
            step.check = Some(cru_action::Verdict::Passed);
        }
        let items = vec![
            user("", "Carry out the plan for the pump and its hose.", None),
            step("n-001", "Read pump.c", "9 lines"),
            step("n-002", "Edit pump.c", "+2"),
            check,
            prose("All of it is done."),
        ];
        let mut session = failed(items);
        session.meta.open = open.iter().map(|point| (*point).to_owned()).collect();
        cases(&session).cases.iter().find(|case| case.kind() == Kind::Demonstration).map(Case::standing)
    };
    assert_eq!(standing(&[]), Some(Grade::Proven));
    assert_eq!(standing(&["not committed"]), Some(Grade::Proven));
    assert_eq!(standing(&["not committed", "not run: make check"]), Some(Grade::Proposed));
}
