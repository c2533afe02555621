//! Cases of places that somebody names.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::rows;

/// A session in which the agent goes on after what was wrong, and looks before it does what is right.
fn session() -> Session {
    let check = |id: &str, result: &str| step(id, "Bash make test", result);
    let items = vec![
        user("", "Mend the pump.", None),
        prose("I change the valve."),
        step("n-001", "Edit valve.c", "+1"),
        check("n-002", "✗ 1 failed"),
        prose("It fails, and I stop here."),
        user("", "The pump, please. Look at its seal.", None),
        step("n-003", "Read pump.c", "9 lines"),
        prose("The seal it is."),
        step("n-004", "Edit pump.c", "+2"),
        check("n-005", "9 passed"),
        prose("The seal is new."),
        user("", "Thanks.", None),
        step("n-006", "Bash git commit -m seal", "1 file changed"),
    ];
    Session { phases: vec![phase("p-01", "Build", items)], ..Session::default() }
}

const WANTED: TypedCase<'static> = TypedCase {
    title: "The pump, not the valve",
    wrong: Some(("n-001", "n-001")),
    fault: FaultPlaces { steps: Vec::new(), quotes: Vec::new() },
    failed: None,
    said: None,
    right: Some(("n-004", "n-005")),
    in_words: false,
    check: None,
    verified: true,
    planned: false,
    expected: Some("The seal of the pump is changed."),
    uses: CaseUses { completion: true, pair: true, eval: true },
    reading: "b3:1",
};

fn made(kind: Kind, wanted: &TypedCase<'_>) -> Result<Case, Reason> {
    typed(note(&session()), &Family::default(), kind, wanted).map_err(|why| why.reason)
}

/// The rows of a case: tables, or reasons.
fn tables(case: &Case) -> Vec<String> {
    let rows = rows::of(case, case.gap(), OPTIONS);
    let name = |row: &Result<(Table, rows::row::Row, usize), Reason>| match row {
        Ok((table, ..)) => table.as_str().to_owned(),
        Err(reason) => reason.as_str().to_owned(),
    };
    rows.iter().map(name).collect()
}

/// The messages of a row as `role: content`.
fn messages(row: &str, column: &str) -> Vec<String> {
    let row: serde_json::Value = serde_json::from_str(row).unwrap();
    let text = |message: &serde_json::Value| {
        format!("{}: {}", message["role"].as_str().unwrap_or_default(), message["content"].as_str().unwrap_or_default())
    };
    row[column].as_array().into_iter().flatten().skip_while(|it| it["role"] == "system").map(text).collect()
}

#[test]
fn all_between_wrong_and_right_stands_between_them() {
    let case = made(Kind::Correction, &WANTED).unwrap();
    assert_eq!((case.evidence, case.reading.as_str(), case.gap()), (Evidence::Reading, "b3:1", None));
    assert_eq!(case.standing(), Grade::Judged);
    assert_eq!(
        tables(&case),
        ["completion"],
        "something was done between the words and the answer: nothing to compare"
    );
    let (_, row, _) = rows::of(&case, None, OPTIONS).remove(0).unwrap();
    let prompt = messages(&row.text, "prompt");
    assert_eq!(
        prompt,
        [
            "user: Mend the pump.",
            "assistant: I change the valve.\n\n- `Edit valve.c` → +1\n- `Bash make test` → ✗ 1 failed (exit 101)\n\nIt fails, and I stop here.",
            "user: The pump, please. Look at its seal.",
            "assistant: - `Read pump.c` → 9 lines",
        ]
    );
    let answer = messages(&row.text, "completion");
    assert_eq!(
        answer,
        ["assistant: The seal it is.\n\n- `Edit pump.c`\n- `Bash make test`\n\nThe seal is new."],
        "up to what the agent says of it"
    );
    assert!(!row.text.contains("is changed."), "what a reader says is trained on by nobody");
}

/// An answer ends with its check and with what the agent says of it, wherever who read it named its end.
#[test]
fn an_answer_is_whole() {
    let done = |right, check, change: &dyn Fn(&mut Vec<Item>)| {
        let mut session = session();
        change(&mut session.phases[0].items);
        let wanted = TypedCase { right: Some(right), check, ..WANTED };
        let case = typed(note(&session), &Family::default(), Kind::Correction, &wanted);
        case.map(|case| case.done().iter().filter_map(|entry| entry.block.clone()).collect::<Vec<_>>())
            .map_err(|why| why.reason)
    };
    let steps = |ids: &[&str]| Ok(ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
    assert_eq!(done(("n-004", "n-004"), None, &|_| {}), steps(&["n-004", "n-005"]), "the check right behind");
    let more = |items: &mut Vec<Item>| items.insert(9, step("n-007", "Edit seal.c", "+1"));
    assert_eq!(done(("n-004", "n-004"), None, &more), steps(&["n-004"]), "something else is changed first");
    assert_eq!(done(("n-004", "n-004"), Some("n-005"), &more), steps(&["n-004", "n-007", "n-005"]), "up to its check");
    let fails = |items: &mut Vec<Item>| items[9] = step("n-005", "Bash make test", "✗ 1 failed");
    assert_eq!(done(("n-004", "n-004"), None, &fails), Err(Reason::CheckFailed));
}

#[test]
fn who_reads_names_the_uses() {
    let uses = |completion, pair, eval| CaseUses { completion, pair, eval };
    let of = |wrong, right, uses| {
        let case =
            made(Kind::Correction, &TypedCase { wrong: Some(wrong), right: Some(right), uses, ..WANTED }).unwrap();
        tables(&case)
    };
    let (near, all) = (("n-003", "n-005"), ["completion", "preference", "kto", "kto"]);
    assert_eq!(of(("n-001", "n-002"), near, uses(true, true, true)), all);
    assert_eq!(of(("n-001", "n-002"), near, uses(true, false, true)), all[..1]);
    assert_eq!(of(("n-001", "n-002"), near, uses(false, true, true)), all[1..]);
    assert_eq!(of(("n-001", "n-002"), near, uses(false, false, true)), [Reason::NotMeant.as_str()]);
    let case = made(Kind::Correction, &TypedCase { uses: uses(true, true, false), ..WANTED }).unwrap();
    let export = export::stream(std::slice::from_ref(&case), Format::Puzzle, ASKED).unwrap();
    assert_eq!(export.left_out[0].reason, Reason::NotMeant);
    let case = Case { uses: uses(true, true, true), ..case };
    let sample = text(&export::stream(&[case], Format::Puzzle, ASKED).unwrap(), "puzzles.jsonl");
    let sample: serde_json::Value = serde_json::from_str(&sample).unwrap();
    assert!(sample["target"].as_str().unwrap().starts_with("The seal of the pump is changed.\n\n"), "{sample}");
}

#[test]
fn places_that_give_no_case() {
    let gone = |wanted: TypedCase<'_>| made(Kind::Correction, &wanted).err();
    let refused = Some(Reason::NotOneTurn);
    assert_eq!(gone(TypedCase { wrong: Some(("n-001", "n-009")), ..WANTED }), refused, "no such step");
    assert_eq!(gone(TypedCase { wrong: Some(("n-002", "n-001")), ..WANTED }), refused, "the wrong way round");
    assert_eq!(gone(TypedCase { right: Some(("n-005", "n-006")), ..WANTED }), refused, "of two turns");
    assert_eq!(gone(TypedCase { wrong: Some(("n-004", "n-004")), right: Some(("n-001", "n-002")), ..WANTED }), refused);
    assert_eq!(gone(TypedCase { right: Some(("n-002", "n-002")), ..WANTED }), refused, "no words between");
    let mut session = session();
    session.meta.export = Some(false);
    let why = typed(note(&session), &Family::default(), Kind::Correction, &WANTED).err().map(|why| why.reason);
    assert_eq!(why, Some(Reason::ExportFalse));
}

#[test]
fn a_puzzle_begins_with_the_step_that_failed() {
    let wanted = TypedCase { wrong: Some(("n-001", "n-002")), right: Some(("n-003", "n-005")), ..WANTED };
    let case = made(Kind::Puzzle, &wanted).unwrap();
    assert_eq!((case.gap(), case.answer_from()), (None, "later success"));
    let (_, row, _) = rows::of(&case, None, OPTIONS).remove(0).unwrap();
    let prompt = messages(&row.text, "prompt");
    assert_eq!(prompt.last().unwrap(), "user: The pump, please. Look at its seal.");
    assert!(prompt.iter().any(|message| message.contains("✗ 1 failed")), "{prompt:?}");
    let named = TypedCase { wrong: None, failed: Some("n-002"), ..wanted.clone() };
    assert!(made(Kind::Puzzle, &named).unwrap().failure().contains("make test"));
    // What was wrong did not fail by itself.
    let edited = TypedCase { wrong: Some(("n-001", "n-001")), failed: Some("n-002"), ..wanted.clone() };
    assert!(made(Kind::Puzzle, &edited).unwrap().failure().contains("make test"));
    let later = TypedCase { failed: Some("n-005"), ..edited };
    assert!(made(Kind::Puzzle, &later).unwrap().failure().contains("Edit valve.c"), "it ran behind the answer");
    let unsolved = TypedCase { right: None, verified: false, ..wanted.clone() };
    assert_eq!(made(Kind::Puzzle, &unsolved).unwrap().gap(), Some(Reason::Unresolved));
    let planned = TypedCase { planned: true, ..wanted };
    assert_eq!(made(Kind::Puzzle, &planned).unwrap().gap(), Some(Reason::Planned));
}

#[test]
fn a_demonstration_has_what_came_before_in_its_prompt() {
    let wanted = TypedCase { wrong: None, ..WANTED };
    let case = made(Kind::Demonstration, &wanted).unwrap();
    assert_eq!((case.gap(), case.answer_from()), (None, "check passed"));
    assert_eq!(tables(&case), ["completion"]);
    assert_eq!(made(Kind::Demonstration, &TypedCase { verified: false, ..wanted }).unwrap().answer_from(), "reading");
}

#[test]
fn words_that_were_set_right_are_compared_with_nothing() {
    let mut session = session();
    let Item::User(user) = &mut session.phases[0].items[5] else { panic!("words") };
    user.callout.id = Some("u-02".into());
    let fault = FaultPlaces { quotes: vec!["I stop here"], ..FaultPlaces::default() };
    let wanted = TypedCase { wrong: None, fault, said: Some("u-02"), ..WANTED };
    let case = typed(note(&session), &Family::default(), Kind::Correction, &wanted).unwrap();
    assert_eq!(
        (case.correction().unwrap().words.as_str(), case.uses.pair),
        ("The pump, please. Look at its seal.", false)
    );
    assert!(case.failure().contains("It fails, and I stop here."), "all of the turn that tells it");
    assert_eq!(tables(&case), ["completion"]);
    // Where nobody says that something was wrong, the words ask and set nothing right.
    let wished = TypedCase { fault: FaultPlaces::default(), ..wanted.clone() };
    let wish = typed(note(&session), &Family::default(), Kind::Correction, &wished).unwrap();
    assert_eq!((wish.kind(), wish.failure().as_str(), wish.gap()), (Kind::Demonstration, "", None));
    assert_eq!(tables(&wish), ["completion"]);
    let row = |case: &Case| rows::of(case, None, OPTIONS).remove(0).unwrap().1.text;
    assert_eq!(messages(&row(&wish), "prompt"), messages(&row(&case), "prompt"), "a row asks the same");
    let nobody = TypedCase { said: Some("u-09"), right: None, ..wanted };
    assert!(typed(note(&session), &Family::default(), Kind::Correction, &nobody).is_err());
}

#[test]
fn an_edit_that_failed_is_no_answer() {
    let mut session = session();
    session.phases[0].items[8] = step("n-004", "Edit pump.c", "✗ no match");
    session.phases[0].items.insert(9, step("n-007", "Edit pump.c", "+3"));
    let of = |session: &Session, right| {
        let wanted = TypedCase { right: Some(right), ..WANTED };
        typed(note(session), &Family::default(), Kind::Correction, &wanted).unwrap()
    };
    let blocks: Vec<String> =
        of(&session, ("n-004", "n-005")).done().iter().filter_map(|entry| entry.block.clone()).collect();
    assert_eq!(blocks, ["n-007", "n-005"]);
    session.phases[0].items[7] = step("", "Read x", "y");
    let alone = of(&session, ("n-004", "n-004"));
    assert!(alone.done().is_empty() && alone.gap() == Some(Reason::Unresolved), "{:?}", alone.done());
}

#[test]
fn only_the_same_check_that_failed_before_proves() {
    let of = |later: Vec<Item>, check: &str, failed: Option<&str>, wrong: Option<(&str, &str)>| {
        let mut session = session();
        let items = &mut session.phases[0].items;
        items.splice(10..10, later);
        is_proof(&session, check, failed, wrong)
    };
    assert!(of(vec![], "n-005", Some("n-002"), None));
    assert!(of(vec![], "n-005", None, Some(("n-001", "n-002"))));
    assert!(!of(vec![], "n-005", None, Some(("n-001", "n-001"))), "nothing failed before");
    assert!(!of(vec![], "n-005", None, None), "silence is no proof");
    assert!(!of(vec![], "n-005", Some("n-001"), None), "that did not fail");
    assert!(!of(vec![], "n-099", Some("n-002"), None));
    let again = |result| vec![step("n-008", "Bash make test", result)];
    assert!(!of(again("✗ 2 failed"), "n-005", Some("n-002"), None), "it failed again before the person spoke");
    assert!(of(again("9 passed"), "n-005", Some("n-002"), None));
    assert!(of(
        vec![user("", "More.", None), step("n-008", "Bash make test", "✗ 2 failed")],
        "n-005",
        Some("n-002"),
        None
    ));
}

#[test]
fn a_note_shows_what_was_changed_and_what_failed() {
    let output = format!(
        "{}--- FAIL: TestSeal (0.00s)\n    seal_test.go:9: want 1, got 2\nFAIL\n{}",
        "ok line\n".repeat(90),
        "tail\n".repeat(90)
    );
    let edit = json!({ "file_path": "pump.c", "old_string": "int seal = 1;\nkeep();", "new_string": "int seal = 2;\n```\nkeep();" });
    let mut session = session();
    session.phases[0].items[3] = step("n-002", "Bash go test ./...", "✗ FAIL");
    let calls = [
        ("n-002".to_owned(), Call::new("Bash", json!({ "command": "go test ./..." }), Some(&output)).unwrap()),
        ("n-004".to_owned(), Call::new("Edit", edit, Some("ok")).unwrap()),
    ];
    let calls = calls.into();
    let note = Note { calls: Some(&calls), ..note(&session) };
    let wanted = TypedCase { wrong: Some(("n-001", "n-002")), ..WANTED };
    let case = typed(note, &Family::default(), Kind::Puzzle, &wanted).unwrap();
    let layout = crate::review::document::Layout::new("case.md", crate::review::document::TEMPLATE).unwrap();
    let text = layout.render(&case, true).unwrap();
    assert!(text.contains("-int seal = 1;") && text.contains("+int seal = 2;"), "{text}");
    assert!(text.contains("````diff") && text.contains("--- FAIL: TestSeal"), "{text}");
    assert_eq!(text.matches("  tail\n").count(), 3, "what stands around it: {text}");
    assert!(text.contains("status: proposed"));
    let unsolved =
        typed(note, &Family::default(), Kind::Puzzle, &TypedCase { right: None, verified: false, ..wanted }).unwrap();
    let text = layout.render(&unsolved, true).unwrap();
    assert!(
        text.contains("status: proposed") && text.contains("Not in the record: no row is made of this case."),
        "{text}"
    );
    assert_eq!(tables(&unsolved), [Reason::Unresolved.as_str()]);
}

#[test]
fn texts_between_are_masked() {
    let mut session = session();
    session.phases[0].items[6] = step("n-003", "Read pump.c", "mail jane.doe@pumps.io");
    let call = Call::new("Read", json!({ "path": "x", "to": "joe.bloggs@pumps.io" }), Some("ok"));
    let calls = [("n-003".to_owned(), call.unwrap())].into();
    let note = Note { calls: Some(&calls), ..note(&session) };
    let case = typed(note, &Family::default(), Kind::Correction, &WANTED).unwrap();
    let told = format!("{:?}", case.between);
    assert!(case.redactions > 0 && !told.contains("jane.doe") && !told.contains("joe.bloggs"), "{told}");
}

proptest! {
    /// Any places give a case whose texts are the record's, or none; the same places give the same case.
    #[test]
    fn any_places(ends in prop::array::uniform4(1_usize..8), kind in prop::sample::select(Kind::IN_SESSIONS.to_vec())) {
        let ids: Vec<String> = ends.iter().map(|n| format!("n-00{n}")).collect();
        let wanted = TypedCase {
            wrong: Some((&ids[0], &ids[1])),
            right: Some((&ids[2], &ids[3])),
            ..WANTED
        };
        let case = made(kind, &wanted);
        prop_assert_eq!(&case, &made(kind, &wanted));
        if let Ok(case) = case {
            for row in rows::of(&case, case.gap(), OPTIONS).into_iter().flatten() {
                let all: Vec<String> = ["prompt", "completion"].iter().flat_map(|column| messages(&row.1.text, column)).collect();
                let told = all.join("\n");
                // In the order of the record, and each once.
                let at: Vec<usize> = (1..7).filter_map(|n| told.find(["Edit valve.c", "make test` → ✗", "Read pump.c", "Edit pump.c", "9 passed", "git commit"][n - 1])).collect();
                prop_assert!(at.windows(2).all(|pair| pair[0] < pair[1]), "{}", told);
                prop_assert!(told.matches("Edit pump.c").count() < 2 && told.matches("Edit valve.c").count() < 2, "{}", told);
            }
        }
    }
}
