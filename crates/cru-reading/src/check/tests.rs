//! Readings of the invented vault are spoiled, one way at a time, and what the checks catch is counted; and every rule has a row.

use std::collections::HashMap;
use std::path::Path;

use cru_note::Note;
use cru_session::Session;
use proptest::prelude::*;
use serde_json::json;

use super::{Checked, Rule, check};
use crate::answer::{self, Answer, CaseKind, Claim, Proof, ProofStatus};
use crate::full_text::FullText;
use crate::ledger::Ledger;
use crate::record::Record;

fn session(text: &str) -> Session {
    cru_session::read::session(&Note::parse(text)).0
}

fn record(session: &Session, full: &HashMap<String, FullText>) -> Record {
    Record::of(session, &Ledger::of(session, false, full), false, full)
}

/// The records of the invented vault.
fn records() -> Vec<Record> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vault-example/sessions");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| record(&session(&std::fs::read_to_string(path).unwrap()), &HashMap::new());
    // The tenth is the one that the rules are tried on.
    files.iter().map(read).chain([pump()]).collect()
}

fn of_claims(record: &Record, decisions: Vec<Claim>) -> Answer {
    let summary = answer::Summary { decisions, ..answer::Summary::default() };
    Answer { reading: 1, session: record.session.clone(), note: record.note.clone(), summary, ..Answer::default() }
}

/// Whether one claim passes.
fn passes(record: &Record, claim: Claim) -> bool {
    check(&of_claims(record, vec![claim]), record).kept == 1
}

/// Some words of a text, from its start.
fn words_of(text: &str, count: usize) -> Option<String> {
    let line = text.lines().find(|line| line.split(' ').count() >= 3)?;
    let words: Vec<&str> = line.split(' ').take(count).collect();
    let text = words.join(" ");
    (text.chars().count() >= 8).then_some(text)
}

/// A good claim for each step and each words of a record.
fn good_claims(record: &Record) -> Vec<Claim> {
    let mut claims = Vec::new();
    for step in &record.steps {
        let text = if step.args.chars().count() >= 8 { step.args.clone() } else { step.call.clone() };
        let has = if step.result.chars().count() >= 12 { &step.result } else { &text };
        let has: String = words_of(has, 6).unwrap_or_else(|| has.clone());
        let status = step.proof_status().unwrap_or(ProofStatus::Ok);
        let name = step.args.split_whitespace().next().unwrap_or("it").to_owned();
        let proof = Proof::Step { step: step.id.clone(), status: Some(status), has };
        claims.push(Claim { text: format!("The agent called `{name}` here."), proof: vec![proof.clone()] });
        let is_number = |word: &&str| word.len() < 9 && word.bytes().all(|byte| byte.is_ascii_digit());
        let number = proof.quoted().and_then(|has| has.split(' ').find(is_number)).filter(|word| !word.is_empty());
        if let Some(number) = number {
            claims.push(Claim { text: format!("It tells {number} there."), proof: vec![proof.clone()] });
        }
    }
    for said in &record.said {
        if let Some(quote) = words_of(&said.words, 7) {
            let proof = Proof::Said { said: said.id.clone(), quote: quote.clone() };
            claims.push(Claim { text: format!("The person said: {quote}"), proof: vec![proof] });
        }
    }
    for phase in &record.phases {
        if let Some(quote) = words_of(&phase.prose, 7) {
            let proof = Proof::Prose { prose: phase.id.clone(), quote: quote.clone() };
            claims.push(Claim { text: format!("The agent said: {quote}"), proof: vec![proof] });
        }
    }
    claims.retain(|claim| claim.proof[0].quoted().is_some_and(|text| text.chars().count() >= 8));
    claims
}

/// A claim spoiled in one way; `None` where it cannot be.
type Spoil = fn(&Record, &Claim) -> Option<Claim>;

fn with(claim: &Claim, proof: Proof) -> Option<Claim> {
    (proof != claim.proof[0]).then(|| Claim { text: claim.text.clone(), proof: vec![proof] })
}

fn missing_id(_: &Record, claim: &Claim) -> Option<Claim> {
    let proof = match claim.proof[0].clone() {
        Proof::Step { status, has, .. } => Proof::Step { step: "n-9999".into(), status, has },
        Proof::Said { quote, .. } => Proof::Said { said: "u-999".into(), quote },
        Proof::Prose { quote, .. } => Proof::Prose { prose: "p-999".into(), quote },
        other => other,
    };
    with(claim, proof)
}

fn turned_status(_: &Record, claim: &Claim) -> Option<Claim> {
    let Proof::Step { step, status, has } = claim.proof[0].clone() else { return None };
    let status = if status == Some(ProofStatus::Ok) { ProofStatus::Failed } else { ProofStatus::Ok };
    with(claim, Proof::Step { step, status: Some(status), has })
}

fn changed_word(_: &Record, claim: &Claim) -> Option<Claim> {
    let changed = |text: &str| {
        let mut words: Vec<&str> = text.split(' ').collect();
        let middle = words.len() / 2;
        *words.get_mut(middle)? = "marmalade";
        Some(words.join(" "))
    };
    let proof = match claim.proof[0].clone() {
        Proof::Said { said, quote } => Proof::Said { said, quote: changed(&quote)? },
        Proof::Prose { prose, quote } => Proof::Prose { prose, quote: changed(&quote)? },
        _ => return None,
    };
    with(claim, proof)
}

fn other_speaker(record: &Record, claim: &Claim) -> Option<Claim> {
    let proof = match claim.proof[0].clone() {
        Proof::Said { quote, .. } => Proof::Prose { prose: record.phases.first()?.id.clone(), quote },
        Proof::Prose { quote, .. } => Proof::Said { said: record.said.first()?.id.clone(), quote },
        _ => return None,
    };
    with(claim, proof)
}

fn other_phase(record: &Record, claim: &Claim) -> Option<Claim> {
    let proof = match claim.proof[0].clone() {
        Proof::Prose { prose, quote } => {
            Proof::Prose { prose: record.phases.iter().find(|other| other.id != prose)?.id.clone(), quote }
        }
        Proof::Said { said, quote } => {
            Proof::Said { said: record.said.iter().find(|other| other.id != said)?.id.clone(), quote }
        }
        _ => return None,
    };
    with(claim, proof)
}

fn changed_name(_: &Record, claim: &Claim) -> Option<Claim> {
    let (before, rest) = claim.text.split_once('`')?;
    let (name, after) = rest.split_once('`')?;
    let cut: String = name.chars().take(name.chars().count() / 2).collect();
    Some(Claim { text: format!("{before}`{cut}x{}`{after}", &name[cut.len()..]), proof: claim.proof.clone() })
}

fn next_id(record: &Record, claim: &Claim) -> Option<Claim> {
    let Proof::Step { step, has, .. } = claim.proof[0].clone() else { return None };
    let next = record.steps.get(record.step_index(&step)? + 1)?;
    // As a careful liar would: with the status of that step.
    let status = next.proof_status().unwrap_or(ProofStatus::Ok);
    with(claim, Proof::Step { step: next.id.clone(), status: Some(status), has })
}

fn other_step(record: &Record, claim: &Claim) -> Option<Claim> {
    let Proof::Step { step, has, .. } = claim.proof[0].clone() else { return None };
    let at = record.step_index(&step)?;
    let other = record.steps.get((at + record.steps.len() / 2) % record.steps.len())?;
    let status = other.proof_status().unwrap_or(ProofStatus::Ok);
    with(claim, Proof::Step { step: other.id.clone(), status: Some(status), has })
}

fn changed_number(_: &Record, claim: &Claim) -> Option<Claim> {
    let at = claim.text.strip_prefix("It tells ")?;
    let (number, rest) = at.split_once(' ')?;
    let other = number.parse::<u64>().ok()? + 7;
    Some(Claim { text: format!("It tells {other} {rest}"), proof: claim.proof.clone() })
}

fn negated(_: &Record, claim: &Claim) -> Option<Claim> {
    let (before, after) = claim.text.split_once(' ')?;
    Some(Claim { text: format!("{before} never {after}"), proof: claim.proof.clone() })
}

/// What only a second reader or a person finds: the text of another claim over good proofs, and the meaning turned round.
#[test]
fn what_the_checks_cannot_see() {
    let (mut swapped, mut doubted, mut turned, mut all) = (0, 0, 0, 0);
    for record in &records() {
        let claims = good_claims(record);
        for (claim, other) in claims.iter().zip(claims.iter().skip(1)) {
            let checked =
                check(&of_claims(record, vec![Claim { text: other.text.clone(), proof: claim.proof.clone() }]), record);
            swapped += usize::from(checked.kept == 0);
            doubted += usize::from(!checked.findings.is_empty());
            turned += usize::from(negated(record, claim).is_some_and(|claim| !passes(record, claim)));
            all += 1;
        }
    }
    assert!(all > 30 && turned == 0, "{turned} of {all}: a word of the language decides about a claim");
    assert!(doubted * 4 >= all && doubted >= swapped, "{doubted} of {all} swapped texts are at least doubted");
}

/// One claim of a reading is spoiled: it alone goes.
#[test]
fn a_spoiled_claim_takes_no_other_along() {
    let mut readings = 0;
    for record in &records() {
        let claims: Vec<Claim> = good_claims(record).into_iter().take(answer::MAX_LIST).collect();
        readings += usize::from(!claims.is_empty());
        for at in 0..claims.len() {
            let mut spoiled = claims.clone();
            let Some(claim) = missing_id(record, &claims[at]).filter(|it| *it != claims[at]) else { continue };
            spoiled[at] = claim;
            let kept = check(&of_claims(record, spoiled), record).answer.summary.decisions;
            let others: Vec<Claim> =
                claims.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, it)| it.clone()).collect();
            assert_eq!(kept, others);
        }
    }
    assert_eq!(readings, 10);
}

#[test]
fn what_the_checks_catch() {
    let table: &[(&str, Spoil, f64)] = &[
        ("id that does not exist", missing_id, 1.0),
        ("outcome turned round", turned_status, 1.0),
        ("one word of a quote changed", changed_word, 0.99),
        ("quote of another speaker", other_speaker, 0.95),
        ("quote of another phase or other words", other_phase, 1.0),
        ("identifier changed", changed_name, 0.95),
        ("number changed", changed_number, 0.95),
        ("another step, with a text", other_step, 0.95),
        ("id off by one, with a text", next_id, 0.91),
    ];
    let records = records();
    let mut good = 0;
    let mut counts: Vec<(usize, usize)> = vec![(0, 0); table.len()];
    for record in &records {
        for claim in good_claims(record) {
            assert!(
                passes(record, claim.clone()),
                "{claim:?}: {:?}",
                check(&of_claims(record, vec![claim.clone()]), record).findings
            );
            good += 1;
            for ((_, spoil, _), (caught, all)) in table.iter().zip(&mut counts) {
                if let Some(claim) = spoil(record, &claim) {
                    *all += 1;
                    *caught += usize::from(!passes(record, claim));
                }
            }
        }
    }
    assert!(good >= 40, "{good} claims are too few to say something");
    for ((name, _, least), (caught, all)) in table.iter().zip(&counts) {
        assert!(*all >= 5, "{name}: only {all}");
        let rate = *caught as f64 / *all as f64;
        assert!(rate >= *least, "{name}: {caught}/{all}");
    }
}

const NOTE: &str = "---\ntype: session\nsession_id: s\ntitle: Mend the pump\nstarted: 2026-11-20T09:00:00Z\n---\n# Mend the pump\n\n\
## Mend it @coder #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Mend the pump in src/pump.rs, no tests should be deleted.\"\n\n^u-01\n\n\
I look at the pump first.\n\n**Tool calls:**\n- `Read src/pump.rs` → 120 lines of rust (09:00:10) ^n-001\n\
- `Edit src/pump.rs` → `+4 −2` in one place (09:00:20) ^n-002\n    - writes: `src/pump.rs`\n\
- `Bash cargo test` → ✗ test result: FAILED. 2 passed; 1 failed (09:00:30, exit 101) ^n-003\n    - check: failed\n\n\
> [!user]\n> \"No, use the valve in src/valve.rs with limit 4711 instead.\"\n\n^u-02\n\nYou're right, the valve it is.\n\n**Tool calls:**\n\
- `Edit src/valve.rs` → `+9 −1` for the valve (09:01:20) ^n-004\n    - writes: `src/valve.rs`\n\
- `Bash cargo test` → test result: ok. 3 passed; 0 failed (09:01:30, exit 0) ^n-005\n    - check: passed\n\
- `Bash cargo test 2>&1 | tail -1` → finished somehow (09:01:40) ^n-006\n    - check: unknown\n\
- `Bash git commit --no-verify -m valve` → 1 file changed (09:01:50) ^n-007\n\n\
> [!user]\n> \"That is still wrong, the pump leaks.\"\n\n^u-03\n\n**Tool calls:**\n\
- `Bash rm -rf build` → ✗ denied by user: leave it alone (09:02:00) ^n-008\n- `Edit src/pump.rs` → `+1 −1` again (09:02:10) ^n-009\n    - writes: `src/pump.rs`\n";

fn pump() -> Record {
    record(&session(NOTE), &HashMap::new())
}

fn case(change: impl Fn(&mut serde_json::Value)) -> Checked {
    let record = pump();
    let step = |id: &str, status: &str, has: &str| json!({ "step": id, "status": status, "has": has });
    let mut value = json!({
        "reading": 1, "session": "s", "note": record.note, "lang": "en",
        "summary": { "goal": null, "outcome": null, "decisions": [], "open": [] },
        "cases": [{
            "kind": "correction", "title": "The valve, not the pump", "about_agent": true, "planned": false,
            "context": { "text": "The pump was to be mended.", "proof": [{ "said": "u-01", "quote": "Mend the pump" }] },
            "failure": { "text": "The test failed after the edit.", "proof": [step("n-003", "failed", "test result: FAILED")] },
            "expected": { "text": "The valve is changed.", "proof": [
                { "said": "u-02", "quote": "use the valve in src/valve.rs" }, step("n-004", "ok", "+9 −1 for the valve")] },
            "wrong": { "from": "n-002", "to": "n-003" },
            "right": { "from": "n-004", "to": "n-005", "whole": true },
            "check": { "step": "n-005", "status": "ok", "same_as": "n-003" },
            "after": { "said": "u-03", "verdict": "moves_on" }, "for": ["completion"], "worth": 0.8
        }],
        "lessons": [], "workflow": []
    });
    // Code spans are not part of the result as the model has it.
    value["cases"][0]["expected"]["proof"][1]["has"] = json!("for the valve");
    change(&mut value);
    let answer = answer::read(&value.to_string()).unwrap_or_else(|errors| panic!("{errors:?}"));
    check(&answer, &record)
}

/// Rules of the findings of a changed case.
fn rules(change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let mut rules: Vec<u8> = case(change).findings.iter().map(|it| it.rule.number()).collect();
    rules.dedup();
    rules
}

#[test]
fn a_good_case_passes() {
    let checked = case(|_| {});
    assert_eq!(checked.findings, []);
    assert_eq!((checked.claims, checked.kept, checked.answer.cases.len()), (3, 3, 1));
}

/// What is spoiled, the rules that say so, and how.
type RuleRow<'a> = (&'a str, &'a [u8], &'a dyn Fn(&mut serde_json::Value));

#[test]
fn every_rule_has_a_row() {
    let rows: &[RuleRow<'_>] = &[
        ("another record", &[1], &|it| it["note"] = json!("b3:0")),
        ("another session", &[1], &|it| it["session"] = json!("t")),
        ("no such step", &[2], &|it| it["cases"][0]["right"]["to"] = json!("n-099")),
        ("a step that was refused is no failure", &[3], &|it| {
            it["cases"][0]["failure"]["proof"][0] =
                json!({ "step": "n-008", "status": "failed", "has": "leave it alone" });
        }),
        ("text of another step", &[4], &|it| it["cases"][0]["failure"]["proof"][0]["has"] = json!("for the valve")),
        ("an answer whose next check fails", &[9], &|it| {
            let case = &mut it["cases"][0];
            for part in ["failure", "wrong", "check"] {
                case[part] = serde_json::Value::Null;
            }
            case["kind"] = json!("demonstration");
            case["right"] = json!({ "from": "n-001", "to": "n-002" });
            case["after"] = json!({ "said": "u-02", "verdict": "moves_on" });
        }),
        ("a step without a text of it", &[4], &|it| {
            it["cases"][0]["failure"]["proof"][0].as_object_mut().unwrap().remove("has");
        }),
        ("the id of a step alone", &[4], &|it| it["cases"][0]["failure"]["proof"][0] = json!("n-002")),
        ("the id of words alone", &[5], &|it| it["cases"][0]["context"]["proof"][0] = json!("u-01")),
        ("a text that is too short", &[4], &|it| it["cases"][0]["failure"]["proof"][0]["has"] = json!("test")),
        ("a negation cut off inside a word", &[5], &|it| {
            it["cases"][0]["context"]["proof"][0]["quote"] = json!("o tests should be deleted");
        }),
        ("words of the agent", &[5], &|it| it["cases"][0]["context"]["proof"][0]["quote"] = json!("the valve it is")),
        ("a name that is nowhere", &[6], &|it| {
            it["cases"][0]["failure"]["text"] = json!("The test in src/pipe.rs failed.");
        }),
        ("a small number that is not cited", &[6], &|it| {
            it["cases"][0]["failure"]["text"] = json!("The 7 of the test failed.");
        }),
        ("a number of edits", &[7], &|it| {
            it["cases"][0]["failure"]["text"] = json!("Two edits before the test failed.");
        }),
        ("a wrong count", &[7], &|it| {
            it["cases"][0]["failure"]["proof"][0] = json!({ "count": { "tool": "Edit", "to": "n-003" }, "is": 2 });
        }),
        ("not absent", &[7], &|it| {
            it["cases"][0]["failure"]["proof"][0] = json!({ "none": { "match": "cargo test", "from": "n-004" } });
        }),
        ("no words between", &[8], &|it| {
            it["cases"][0]["expected"]["proof"] = json!([{ "step": "n-004", "status": "ok", "has": "for the valve" }]);
        }),
        ("right before wrong", &[8], &|it| it["cases"][0]["wrong"] = json!({ "from": "n-004", "to": "n-005" })),
        ("a range turned round", &[8], &|it| it["cases"][0]["right"] = json!({ "from": "n-005", "to": "n-004" })),
        ("a check behind a pipe", &[8], &|it| {
            it["cases"][0]["right"]["to"] = json!("n-006");
            it["cases"][0]["check"]["step"] = json!("n-006");
        }),
        ("a check that failed", &[3, 8], &|it| it["cases"][0]["check"] = json!({ "step": "n-003", "status": "ok" })),
        ("a check of another command", &[8], &|it| {
            it["cases"][0]["check"] = json!({ "step": "n-005", "status": "ok", "same_as": "n-002" });
        }),
        ("gaps", &[9], &|it| it["cases"][0]["right"]["whole"] = json!(false)),
        ("an answer out of the person's words", &[10], &|it| it["cases"][0]["for"] = json!(["pair"])),
        ("a look is never wrong", &[11], &|it| it["cases"][0]["wrong"] = json!({ "from": "n-001", "to": "n-001" })),
        ("the person complains", &[12], &|it| {
            it["cases"][0]["after"] = json!({ "said": "u-03", "verdict": "complains" });
        }),
        ("a secret", &[13], &|it| {
            it["cases"][0]["title"] = json!(format!("key {}{}", "ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"));
        }),
        ("no check is switched off", &[14], &|it| it["cases"][0]["right"]["to"] = json!("n-007")),
        ("no word of what is cited", &[15], &|it| it["cases"][0]["failure"]["text"] = json!("Marmalade everywhere.")),
        ("two cases of one range", &[16], &|it| {
            let case = it["cases"][0].clone();
            it["cases"].as_array_mut().unwrap().push(case);
        }),
    ];
    for (name, expected, change) in rows {
        let found = rules(change);
        assert!(expected.iter().all(|rule| found.contains(rule)), "{name}: {expected:?}, found {found:?}");
    }
    let all: std::collections::BTreeSet<u8> = rows.iter().flat_map(|(_, rules, _)| rules.iter().copied()).collect();
    assert_eq!(all, (1..=16).collect());
}

/// One look may lead to two answers.
#[test]
fn a_look_may_belong_to_two_cases() {
    let shares = |from: &str, to: &str, said: &str| {
        let checked = case(|it| {
            let case = &mut it["cases"][0];
            case["kind"] = json!("demonstration");
            for part in ["failure", "wrong", "check"] {
                case[part] = serde_json::Value::Null;
            }
            case["right"] = json!({ "from": from, "to": to });
            case["after"] = json!({ "said": said, "verdict": "moves_on" });
            let other = case.clone();
            it["cases"].as_array_mut().unwrap().push(other);
        });
        checked.findings.iter().any(|finding| finding.rule.number() == 16)
    };
    assert!(!shares("n-001", "n-001", "u-02") && shares("n-004", "n-005", "u-03"));
}

/// One change may answer words and mend a failure, or two remarks: these are two cases.
#[test]
fn one_change_may_belong_to_cases_of_two_things() {
    let is_one = |change: &dyn Fn(&mut serde_json::Value)| {
        let checked = case(|it| {
            let mut other = it["cases"][0].clone();
            change(&mut other);
            it["cases"].as_array_mut().unwrap().push(other);
        });
        checked.findings.iter().any(|finding| finding.rule.number() == 16)
    };
    assert!(is_one(&|other| other["kind"] = json!("preference")), "the same words");
    assert!(!is_one(&|other| other["kind"] = json!("puzzle")), "words, and a failure");
    let puzzles = |wrong: &str| {
        let checked = case(|it| {
            it["cases"][0]["kind"] = json!("puzzle");
            let mut other = it["cases"][0].clone();
            other["check"]["same_as"] = serde_json::Value::Null;
            other["wrong"] = json!({ "from": wrong, "to": wrong });
            it["cases"].as_array_mut().unwrap().push(other);
        });
        checked.findings.iter().any(|finding| finding.rule.number() == 16)
    };
    assert!(puzzles("n-003") && !puzzles("n-001"), "the same failure, and another");
}

/// A case that is refused itself takes no other along.
#[test]
fn a_refused_case_stands_in_nobodys_way() {
    let checked = case(|it| {
        let case = it["cases"][0].clone();
        it["cases"][0]["right"]["to"] = json!("n-099");
        it["cases"].as_array_mut().unwrap().push(case);
    });
    assert!(checked.findings.iter().all(|finding| finding.rule.number() != 16));
    assert_eq!(checked.answer.cases.len(), 1);
}

/// What a person answered to a question is cited by the step that asked.
#[test]
fn answers_to_questions_are_words_of_the_person() {
    let note = NOTE.replace(
        "> [!user]\n> \"That is still wrong",
        "- `AskUserQuestion Which valve?` → `User has answered your questions: \"Which valve?\"=\"The red valve of the cellar\"` (09:01:55) ^n-010\n\n\
         > [!decision] The red valve of the cellar\n> Which valve of the pump shall I take?  \n> Rests on: [[#^n-010]]\n\n\
         > [!user]\n> \"That is still wrong",
    );
    let record = record(&session(&note), &HashMap::new());
    let claim = |quote: &str| Claim {
        text: "The person chose the red valve.".to_owned(),
        proof: vec![Proof::Said { said: "n-010".to_owned(), quote: quote.to_owned() }],
    };
    assert!(passes(&record, claim("The red valve of the cellar")));
    assert!(!passes(&record, claim("Which valve of the pump shall I take?")), "the agent asked that");
}

#[test]
fn a_refused_part_takes_its_case_along_and_nothing_else() {
    let checked = case(|it| {
        it["cases"][0]["failure"]["proof"][0]["has"] = json!("something invented");
        it["lessons"] = json!([{ "text": "Look at the valve first.", "level": "project", "confidence": "high",
            "proof": [{ "said": "u-02", "quote": "use the valve in src/valve.rs" }] }]);
    });
    assert_eq!((checked.answer.cases.len(), checked.answer.lessons.len()), (0, 1));
    let told: Vec<String> = checked.findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "cases[0].failure.proof[0]: refused: neither the call nor the result of n-003 holds this text; the case goes with it"
        ]
    );
    let pair = case(|it| it["cases"][0]["for"] = json!(["pair", "eval"]));
    assert_eq!(pair.answer.cases[0].uses, [answer::CaseUse::Eval], "only that use is refused");
    assert_eq!(pair.findings[0].rule, Rule::Pair);
    let doubted = case(|it| it["cases"][0]["failure"]["text"] = json!("Marmalade everywhere."));
    assert!((doubted.answer.cases[0].worth - 0.4).abs() < 1e-9, "a doubt halves the worth");
    assert!(doubted.findings[0].to_string().ends_with("; it is written, with less confidence"));
}

#[test]
fn an_answer_that_the_person_complains_of_is_none() {
    let complains = json!({ "said": "u-03", "verdict": "complains" });
    let checked = case(|it| {
        it["cases"][0]["after"] = complains.clone();
        it["cases"][0]["for"] = json!(["completion", "lesson"]);
    });
    let left = &checked.answer.cases[0];
    assert_eq!((left.kind, &left.right, &left.check), (CaseKind::Unsolved, &None, &None));
    assert_eq!(left.uses, [answer::CaseUse::Lesson], "no row rewards it");
    let demonstration = case(|it| {
        it["cases"][0]["kind"] = json!("demonstration");
        it["cases"][0]["after"] = complains.clone();
        it["cases"][0]["failure"] = json!(null);
        it["cases"][0]["wrong"] = json!(null);
    });
    assert!(demonstration.answer.cases.is_empty(), "nothing is left of it");
    let message = |after: serde_json::Value| case(|it| it["cases"][0]["after"] = after.clone()).findings[0].to_string();
    assert!(message(json!(null)).contains("u-03 follows n-005: say in `after`"));
    assert!(message(json!({ "said": null, "verdict": "none" })).contains("u-03 follows n-005"));
}

#[test]
fn a_step_that_is_wrong_in_one_case_is_not_right_in_another() {
    let two = |ends: [&str; 2]| {
        case(|it| {
            let mut other = it["cases"][0].clone();
            other["kind"] = json!("unsolved");
            other["wrong"] = json!({ "from": ends[0], "to": ends[1] });
            (other["right"], other["check"]) = (json!(null), json!(null));
            it["cases"].as_array_mut().unwrap().push(other);
        })
    };
    let checked = two(["n-004", "n-006"]);
    assert_eq!(
        checked.findings[0].to_string(),
        "cases[0].right: refused: n-004 is `wrong` in cases[1]: one step is not right and wrong"
    );
    assert_eq!((checked.answer.cases[0].kind, checked.answer.cases.len()), (CaseKind::Unsolved, 2));
    assert_eq!(two(["n-002", "n-003"]).findings, []);
}

#[test]
fn words_that_were_set_right_need_no_wrong_steps() {
    let of_words = |kind: &'static str, failure: serde_json::Value| {
        case(move |it| {
            it["cases"][0]["kind"] = json!(kind);
            it["cases"][0]["wrong"] = json!(null);
            it["cases"][0]["check"] = json!(null);
            it["cases"][0]["failure"] = failure.clone();
            it["cases"][0]["for"] = json!(["completion", "pair"]);
        })
    };
    let prose = json!({ "text": "The agent looked at the pump.", "proof": [{ "prose": "p-01", "quote": "I look at the pump first." }] });
    for kind in ["correction", "preference"] {
        let checked = of_words(kind, prose.clone());
        let found: Vec<(&str, Rule)> = checked.findings.iter().map(|it| (it.path.as_str(), it.rule)).collect();
        assert_eq!(found, [("cases[0].for[pair]", Rule::Pair)], "{kind}: all but the pair holds");
        assert_eq!(checked.answer.cases.len(), 1);
    }
    assert_eq!(of_words("preference", json!(null)).answer.cases.len(), 1);
    assert!(of_words("correction", json!(null)).answer.cases.is_empty());
    let step = json!({ "text": "The test failed.", "proof": [{ "step": "n-003", "status": "failed", "has": "test result: FAILED" }] });
    assert!(of_words("correction", step).answer.cases.is_empty(), "a step that failed is `wrong`");
}

#[test]
fn short_texts_that_say_it_all() {
    let text = NOTE
        .replace("→ finished somehow", "→ 3 fail")
        .replace("No, use the valve in src/valve.rs with limit 4711 instead.", "Yes.")
        .replace("1 file changed", "[main f943c0b] valve");
    let session = session(&text);
    let output = FullText::of("Bash", &json!({}), "", Some(" 12 pass\n 3 fail\nRan 15 tests\n"));
    let record = record(&session, &HashMap::from([("n-006".to_owned(), output)]));
    let one = |proof: serde_json::Value| {
        let mut value = serde_json::to_value(of_claims(&record, Vec::new())).unwrap();
        value["summary"]["decisions"] = json!([{ "text": "The pump changed.", "proof": [proof] }]);
        check(&answer::read(&value.to_string()).unwrap(), &record).kept == 1
    };
    let step = |id: &str, has: &str| one(json!({ "step": id, "status": "ok", "has": has }));
    assert!(step("n-006", "3 fail") && step("n-006", "12 pass"), "whole lines");
    assert!(!step("n-006", "fail") && !step("n-006", "Ran 15"));
    assert!(step("n-007", "f943c0b") && !step("n-007", "943c0b") && !step("n-007", "valve"));
    assert!(one(json!({ "said": "u-02", "quote": "Yes" })) && !one(json!({ "said": "u-03", "quote": "pump" })));
}

#[test]
fn the_first_word_behind_a_step_is_the_status_that_holds() {
    let text = NOTE.replace(
        "→ ✗ test result: FAILED. 2 passed; 1 failed (09:00:30, exit 101)",
        "→ test result: FAILED. 2 passed; 1 failed (09:00:30, exit 0)",
    );
    let session = session(&text);
    let ledger = Ledger::of(&session, false, &HashMap::new());
    let record = record(&session, &HashMap::new());
    let shown: String = ledger.phases.iter().map(|phase| phase.text.as_str()).collect();
    let mut seen = 0;
    for step in &record.steps {
        let line = shown.lines().find(|line| line.starts_with(&step.id)).unwrap();
        let word = line.rsplit_once('[').unwrap().1.split([',', ']']).next().unwrap();
        let status = ProofStatus::parse(word).unwrap();
        assert!(super::proof::status_holds(step, status).is_ok(), "{line}");
        seen += usize::from(word == "failed");
    }
    assert!(seen == 1 && shown.contains("[failed, exit 0, check failed]"), "{shown}");
}

#[test]
fn all_that_is_wrong_with_a_proof_is_told_at_once() {
    let checked = case(|it| {
        it["cases"][0]["failure"]["proof"][0] = json!({ "step": "n-003", "status": "ok", "has": "invented" });
        it["cases"][0]["right"] = json!({ "from": "n-098", "to": "n-099" });
        it["cases"][0]["expected"] = json!(null);
    });
    let rules: Vec<u8> = checked.findings.iter().map(|it| it.rule.number()).collect();
    assert_eq!(rules, [3, 4, 2, 8, 8], "{:?}", checked.findings);
}

#[test]
fn counts_see_what_is_shown_and_as_many_steps_prove_a_number() {
    let session = session(NOTE);
    let body = FullText::of("Edit", &json!({ "new_string": "run cargo doc here" }), "src/valve.rs", None);
    let record = record(&session, &HashMap::from([("n-004".to_owned(), body)]));
    let claim = |text: &str, proof: Vec<Proof>| passes(&record, Claim { text: text.to_owned(), proof });
    let none = answer::AbsenceOf { text: "cargo doc".into(), from: None, to: None };
    assert!(
        claim("Nothing was documented.", vec![Proof::Absent { none }]),
        "a body that is not shown is no call of it"
    );
    let step = |id: &str| Proof::Step { step: id.into(), status: Some(ProofStatus::Ok), has: "cargo test".into() };
    let failed = Proof::Step { step: "n-003".into(), status: Some(ProofStatus::Failed), has: "cargo test".into() };
    assert!(claim("It ran cargo test twice.", vec![failed.clone(), step("n-005")]));
    assert!(!claim("It ran cargo test twice.", vec![failed.clone()]));
    assert!(!claim("It ran cargo test three times.", vec![failed, step("n-005"), step("n-005")]));
}

#[test]
fn a_check_without_a_known_result_did_not_fail_last() {
    let of = |text: &str| record(&session(text), &HashMap::new()).is_failing;
    let failing = NOTE
        .replace("test result: ok. 3 passed; 0 failed", "test result: FAILED. 0 passed")
        .replace("check: passed", "check: failed");
    assert!(!of(&failing), "a check of which nothing is known came later");
    assert!(of(&failing.replace(
        "- `Bash cargo test 2>&1 | tail -1` → finished somehow (09:01:40) ^n-006\n    - check: unknown\n",
        ""
    )));
}

#[test]
fn the_whole_text_of_a_step_counts() {
    let session = session(NOTE);
    let input = json!({ "file_path": "src/valve.rs", "old_string": "open()", "new_string": "open_slowly(4711) // nolint:slow" });
    let full = FullText::of("Edit", &input, "src/valve.rs", Some("The file was updated by the editor."));
    let record = record(&session, &HashMap::from([("n-004".to_owned(), full)]));
    let claim = |has: &str| Claim {
        text: "The valve opens slowly.".to_owned(),
        proof: vec![Proof::Step { step: "n-004".into(), status: Some(ProofStatus::Ok), has: has.into() }],
    };
    assert!(passes(&record, claim("open_slowly(4711)")) && passes(&record, claim("updated by the editor")));
    assert!(record.step("n-004").unwrap().shortcut.is_some(), "a line that switches a check off is seen in the call");
    assert_eq!(record.note, pump().note, "the transcript changes nothing of the hash");
}

proptest! {
    #[test]
    fn checking_is_total(text in ".{0,80}", id in "[nup]-[0-9]{1,4}|.{0,6}", quote in ".{0,40}", is in 0..5u64) {
        let record = pump();
        let count = answer::CountOf { text: Some(quote.clone()), from: Some(id.clone()), to: None, ..answer::CountOf::default() };
        let absent = answer::AbsenceOf { text: quote.clone(), from: None, to: Some(id.clone()) };
        let proofs = vec![
            Proof::Step { step: id.clone(), status: Some(ProofStatus::Ok), has: quote.clone() },
            Proof::Said { said: id.clone(), quote: quote.clone() },
            Proof::Prose { prose: id, quote },
            Proof::Count { count, is },
            Proof::Absent { none: absent },
        ];
        let checked = check(&of_claims(&record, vec![Claim { text, proof: proofs }]), &record);
        prop_assert!(checked.kept <= checked.claims);
    }
}

/// A script that is called like a check may do anything: an answer may say that it was wrong.
#[test]
fn a_script_is_no_check_by_its_name_alone() {
    let note = NOTE.replace("`Bash cargo test` → ✗", "`Bash ./scripts/check-pump.sh --reset` → ✗");
    let record = record(&session(&note), &HashMap::new());
    assert!(!record.step("n-003").unwrap().only_checks);
    assert!(record.step("n-005").unwrap().only_checks);
}

/// A claim of what is missing, a contradiction, a request, with what they may say.
#[test]
fn what_is_missing_may_be_named_and_what_was_written_is_a_claim() {
    let record = pump();
    let none = |text: &str| format!("none: {text}").parse::<Proof>().unwrap();
    let claim = |text: &str, proof: Proof| Claim { text: text.to_owned(), proof: vec![proof] };
    let missing = || claim("No `Cargo.toml.orig` was removed.", none("Cargo.toml.orig"));
    let kept = |summary: answer::Summary| {
        let answer = Answer { summary, ..of_claims(&record, Vec::new()) };
        let checked = check(&answer, &record);
        (checked.kept, checked.findings.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (count, findings) = kept(answer::Summary { not_verified: vec![missing()], ..answer::Summary::default() });
    assert_eq!((count, findings.len()), (1, 0), "{findings:?}");
    // What was done is not proven by what is missing.
    let (count, _) = kept(answer::Summary { decisions: vec![missing()], ..answer::Summary::default() });
    assert_eq!(count, 0);

    let step = record.steps.iter().find(|step| step.writes).unwrap();
    let said = |text: String| Proof::Step { step: step.id.clone(), status: None, has: text };
    let contradicted = |said: Proof| answer::Summary {
        contradicted: vec![answer::Contradiction { said, claim: claim("The valve stayed as it was.", none("hoses")) }],
        ..answer::Summary::default()
    };
    assert_eq!(kept(contradicted(said(step.args.clone()))).0, 1, "a call is what the agent wrote");
    let result = record.steps.iter().find(|step| step.result.len() > 12 && !step.call.contains(&step.result)).unwrap();
    let printed = Proof::Step { step: result.id.clone(), status: None, has: result.result.clone() };
    assert_eq!(kept(contradicted(printed)).0, 0, "what a program printed is not");

    let words = &record.said[0];
    let request = answer::ReadRequest {
        said: words.id.clone(),
        state: answer::OutcomeState::Done,
        claim: claim("Zzz yyy", Proof::Said { said: words.id.clone(), quote: words.words.clone() }),
    };
    let (_, findings) = kept(answer::Summary { requests: vec![request], ..answer::Summary::default() });
    assert!(findings.iter().all(|it| !it.contains("in common")), "{findings:?}");
}

/// A count of nothing proves something only of what the record knows.
#[test]
fn nothing_of_nothing_is_no_proof() {
    let record = pump();
    let refused = |proof: &str| super::proof::check(&proof.parse::<Proof>().unwrap(), &record);
    let all = record.steps.iter().filter(|step| step.tool == "Bash");
    let (all, denied) =
        (all.clone().count(), all.filter(|step| step.status == cru_session::StepStatus::Denied).count());
    let bash = all - denied;
    assert!(denied > 0 && !refused(&format!("count Bash * n-001.. = {all}")).is_empty(), "what did not run counts not");
    assert!(bash > 0 && refused(&format!("count Bash * n-001.. = {bash}")).is_empty());
    assert!(!refused("count Bash * n-001.. = 0").is_empty());
    assert!(!refused("count Edit nonsense.zz n-001.. = 0").is_empty());
    assert!(!refused("count Fdit src/valve.rs n-001.. = 0").is_empty());
    assert!(
        refused("count Read src/valve.rs n-001.. = 0").is_empty() || record.steps.iter().all(|it| it.tool != "Read")
    );
}
