//! What is refused, where, and with which words; and that reading is total.

use proptest::prelude::*;
use serde_json::json;

use super::{Answer, read};

fn good() -> serde_json::Value {
    json!({
        "reading": 1, "session": "s", "note": "b3:00", "lang": "en",
        "summary": {
            "goal": { "text": "Mend the test.", "proof": [{ "said": "^u-01", "quote": "mend the test" }] },
            "outcome": { "state": "done", "claim": { "text": "It passes.", "proof": [
                { "step": "n-002", "status": "ok", "has": "1 passed in 0.1s" }] } },
            "decisions": [], "open": []
        },
        "cases": [{
            "kind": "puzzle", "title": "T", "about_agent": true, "planned": false,
            "context": { "text": "c", "proof": [{ "prose": "p-01", "quote": "I look at it" }] },
            "failure": { "text": "f", "proof": [{ "count": { "tool": "Edit", "from": "n-001" }, "is": 2 }] },
            "expected": { "text": "e", "proof": [{ "none": { "match": "npm test" } }] },
            "wrong": { "from": "n-001", "to": "n-001" }, "right": { "from": "n-002", "to": "n-002", "whole": true },
            "check": { "step": "n-002", "status": "ok", "same_as": "n-001" },
            "after": { "said": null, "verdict": "none" }, "for": ["eval"], "worth": 0.5
        }],
        "lessons": [{ "text": "l", "level": "project", "where": "src/**", "confidence": "low",
            "proof": [{ "said": "u-01", "quote": "mend the test" }] }],
        "workflow": [{ "title": "Test", "steps": ["n-002"], "optional": false }]
    })
}

fn errors(value: &serde_json::Value) -> String {
    match read(&value.to_string()) {
        Ok(_) => "ok".to_owned(),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    }
}

#[test]
fn what_is_read_is_written_alike() {
    let answer = read(&good().to_string()).unwrap();
    assert_eq!(answer.summary.goal.as_ref().unwrap().proof[0].block(), Some("u-01"), "without the mark");
    assert_eq!(read(&answer.to_json()).unwrap(), answer);
    let fenced = format!("Here it is:\n```json\n{}\n```\n", answer.to_json());
    assert_eq!(read(&fenced).unwrap(), answer);
    assert_eq!(answer.claims().len(), 5);
}

#[test]
fn an_empty_text_is_none_where_there_need_be_none() {
    let mut answer = good();
    answer["lessons"][0]["where"] = json!(" ");
    answer["cases"][0]["after"]["said"] = json!("");
    answer["lang"] = json!("");
    let read = read(&answer.to_string()).unwrap();
    assert_eq!((read.lessons[0].place.as_deref(), read.lang.as_str()), (None, ""));
    answer["cases"][0]["title"] = json!("");
    assert_eq!(errors(&answer), "cases[0].title: is empty");
}

#[test]
fn a_status_is_a_word_or_left_out() {
    let mut answer = good();
    answer["cases"][0]["check"]["status"] = json!("");
    let claim = |answer: &mut serde_json::Value, proof: serde_json::Value| {
        answer["summary"]["outcome"]["claim"]["proof"][0] = proof;
    };
    claim(&mut answer, json!({ "step": "n-002", "status": "", "has": "1 passed in 0.1s" }));
    let wanted = "is none of ok, failed, denied, interrupted, no_result, unknown";
    assert_eq!(
        errors(&answer),
        format!("summary.outcome.claim.proof[0].status: `` {wanted}\ncases[0].check.status: `` {wanted}")
    );
    // Words in quotes have no form of one line: what was written is read again.
    let mut answer = good();
    claim(&mut answer, json!({ "step": "n-002", "has": "\"passed\"" }));
    let first = read(&answer.to_string()).unwrap();
    assert_eq!(read(&first.to_json()).unwrap(), first);
}

#[test]
fn errors_say_where_and_what_to_do() {
    let mut bad = good();
    bad["extra"] = json!(1);
    bad["summary"]["goal"]["proof"] = json!([]);
    bad["summary"]["outcome"]["state"] = json!("finished");
    bad["summary"]["outcome"]["claim"]["proof"][0] = json!({ "step": "n-2", "status": "ok" });
    bad["cases"][0]["context"]["text"] = json!("x".repeat(301));
    bad["cases"][0]["for"] = json!(["training"]);
    bad["cases"][0]["worth"] = json!(7);
    bad["lessons"][0]["proof"][0] = json!({ "quote": "x" });
    bad["workflow"][0]["steps"] = json!([]);
    insta::assert_snapshot!(errors(&bad), @r"
    unknown key `extra`; remove it. Known keys: reading, session, record, note, lang, summary, cases, lessons, workflow, segments
    summary.goal.proof: has no proof; cite one to 5 places of the record
    summary.outcome.state: `finished` is none of done, partly, failed, answered, dropped, abandoned, unknown
    cases[0].context.text: has 301 characters; use at most 300
    cases[0].for[0]: `training` is none of completion, pair, eval, lesson
    cases[0].worth: must be a number from 0 to 1
    lessons[0].proof[0]: is no proof; use `n-042: text`, `n-042:3`, `u-03: words`, `p-04: words`, `none n-050..: text` or `count Edit x.go n-023..n-047 = 8`
    workflow[0].steps: names no step; add ids such as n-014
    ");
    assert_eq!(
        errors(&json!({ "reading": 2, "session": "s", "note": "n", "summary": {} })),
        "reading: schema 2 is not known; use 1"
    );
    let none = read("I cannot do that.").unwrap_err();
    assert!(none[0].message.contains("holds no JSON object"), "{none:?}");
    assert!(read("{\"reading\": 1,}").unwrap_err()[0].message.contains("no valid JSON"));
}

#[test]
fn a_deep_or_long_answer_is_refused() {
    let deep = format!("{}{}", "{\"summary\":".repeat(5_000), "}".repeat(5_000));
    assert!(read(&deep).is_err());
    assert!(read(&format!("{{\"a\":\"{}\"}}", "x".repeat(super::MAX_BYTES))).is_err());
    let mut many = good();
    many["lessons"] = json!(vec![many["lessons"][0].clone(); 70]);
    assert!(errors(&many).contains("lessons: has 70 entries; keep the 60 that matter most"));
    let mut wrong = good();
    wrong["cases"] = json!(vec![json!({}); 60]);
    assert_eq!(read(&wrong.to_string()).unwrap_err().len(), 40, "errors are limited");
}

#[test]
fn control_characters_are_taken_out() {
    let mut value = good();
    value["cases"][0]["title"] = json!("a\u{1b}[31mb\u{202e}\nc");
    assert_eq!(read(&value.to_string()).unwrap().cases[0].title, "ab c");
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let word = prop_oneof![
        Just("reading"),
        Just("summary"),
        Just("goal"),
        Just("proof"),
        Just("text"),
        Just("step"),
        Just("has"),
        Just("cases"),
        Just("count"),
        Just("none"),
        Just("from"),
        Just("right"),
        Just("x")
    ];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|it| json!(it)),
        any::<i64>().prop_map(|it| json!(it)),
        ".{0,20}".prop_map(|it| json!(it)),
        Just(json!("n-001"))
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|it| json!(it)),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|it| it.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        ]
    })
}

proptest! {
    #[test]
    fn reading_is_total(text in ".{0,300}", value in any_json()) {
        let _ = read(&text);
        let _ = read(&format!("{{{text}}}"));
        if let Ok(answer) = read(&value.to_string()) {
            prop_assert_eq!(read(&answer.to_json()).unwrap(), answer);
        }
    }

    #[test]
    fn any_part_may_be_anything(at in 0..9usize, value in any_json()) {
        let mut answer = good();
        let keys: Vec<String> = answer.as_object().unwrap().keys().cloned().collect();
        if let Some(key) = keys.get(at) {
            answer[key] = value;
        }
        if let Ok(answer) = read(&answer.to_string()) {
            let again: Answer = read(&answer.to_json()).unwrap();
            prop_assert_eq!(again, answer);
        }
    }
}
