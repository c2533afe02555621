//! What the agent said stands with the call that it precedes; what names a step, goes in, and was taken back.

use super::*;
use crate::{Evidence, render};

const HEAD: &str = "---\ntype: session\nsession_id: s\ntitle: Pumps\nproject: ~/pump\ncru_cursor: 1 5\n---\n# Pumps\n\n\
                    ## Mend the leaking pump @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Mend the leaking pump\"\n\n";

fn with(body: &str, evidence: &Evidence) -> String {
    let session = cru_session::read::session(&Note::parse(format!("{HEAD}{body}"))).0;
    render(&crate::codify_with(&session, &Options::REPLAY, evidence).0)
}

fn text(body: &str) -> String {
    with(body, &Evidence::default())
}

fn edit(file: &str, id: u32) -> String {
    format!("- `Edit {file}` → ok ^n-{id:03}\n    - writes: `{file}`\n")
}

/// What the agent said is told where it was said.
#[test]
fn words_stand_with_the_call_they_precede() {
    let told = text(&format!(
        "Let me read the valve.\n\n- `Read valve.c` → 9 lines ^n-001\n    - reads: `valve.c`\n\n\
         The valve is not the cause. The hose leaks where the plan says it is dry.\n\n\
         - `Read hose.c` → 9 lines ^n-002\n    - reads: `hose.c`\n\nSo I seal the hose:\n\n{}\n\
         Wait, the seal has to come first. I take that back.\n\n{}\nNow the whole of it.\n\n\
         - `Bash make pump` → ✗ no rule (exit 2) ^n-005\n\nThe pump runs.\n",
        edit("hose.c", 3),
        edit("seal.c", 4),
    ));
    let order = [
        "- Agent: Let me read the valve.\n",
        "- Agent: The valve is not the cause. The hose leaks where the plan says it is dry.\n",
        "`Read hose.c`",
        "- Agent: So I seal the hose:\n",
        "- Changed: `hose.c` ([[s#^n-003|n-003]])\n",
        "- Agent: Wait, the seal has to come first. I take that back.\n",
        "- Changed: `seal.c` ([[s#^n-004|n-004]])\n",
        "- Agent: Now the whole of it.\n",
        "- `make pump` — failed, exit 2: no rule",
        "- Result: The pump runs.",
    ];
    let mut rest = told.as_str();
    for line in order {
        let at = rest.find(line);
        assert!(at.is_some(), "{line}\n---\n{told}");
        rest = &rest[at.unwrap_or(0) + line.len()..];
    }
}

/// A list of findings keeps its items, and the edit behind it does not repeat the last of them.
#[test]
fn findings_are_a_list() {
    let told = text(&format!(
        "Three findings:\n\n1. The valve is fine.\n2. The hose leaks.\n3. The seal is gone.\n\nI mend two.\n\n{}",
        edit("hose.c", 1)
    ));
    let wanted = "- Agent: Three findings:\n\n> Three findings:\n>\n> 1. The valve is fine.\n> 2. The hose leaks.\n\
                  > 3. The seal is gone.\n>\n> I mend two.\n\n- Changed: `hose.c` ([[s#^n-001|n-001]])\n";
    assert!(told.contains(wanted), "{told}");
}

/// Words before the first call of a part belong to that part, not to the one before it.
#[test]
fn reasons_open_their_part() {
    let mut body = String::new();
    for at in 0..8 {
        body.push_str(&edit(&format!("a{at}.c"), at));
    }
    body.push_str("\nNow the tests. They run in two parts.\n\n- `Bash make test` → ok ^n-020\n\nDone.\n");
    let told = text(&body);
    let check = told.find("## Check with make test").unwrap_or_default();
    assert!(told.find("- Agent: Now the tests.").is_some_and(|at| at > check && check > 0), "{told}");
}

/// A step is called after the turn in which most was done.
#[test]
fn the_weightiest_turn_names_a_chapter() {
    let told = text(&format!(
        "A pump is a machine.\n\n> [!user]\n> \"Rebuild the valves of the second pump\"\n\n{}{}{}\nRebuilt.\n",
        edit("a.c", 1),
        edit("b.c", 2),
        edit("c.c", 3)
    ));
    assert!(told.contains("## Rebuild the valves of the second pump @a #dev"), "{told}");
}

/// What was put aside, undone or taken over is said of the step that made it.
#[test]
fn versions_are_told_as_they_stand() {
    let commit = |id: u32, text: &str| {
        format!(
            "- `Bash git commit -am '{text} it'` → [main 4f1c2a{id}] {text} it ^n-{id:03}\n    - commit: `4f1c2a{id}` {text} it\n"
        )
    };
    let run = |id: u32, command: &str| format!("- `Bash {command}` → ok ^n-{id:03}\n");
    let told =
        text(&[edit("a.c", 1), commit(2, "Mend"), commit(3, "Seal"), run(4, "git reset --soft HEAD~1")].concat());
    assert!(told.contains("git commit -am 'Seal it'` — the commit is undone later in [[s#^n-004|n-004]]"), "{told}");
    assert!(!told.contains("'Mend it'` — the commit is undone"), "{told}");
    // Only what the record shows is committed or pushed.
    let pulled = text(&[edit("a.c", 1), run(2, "git pull origin main"), run(3, "git merge main")].concat());
    assert!(!pulled.contains("committed"), "{pulled}");
    let hidden = text(&[edit("a.c", 1), commit(2, "Mend"), run(3, "git push 2>&1 | tail -3")].concat());
    assert!(hidden.contains(", committed\n") && !hidden.contains("not pushed"), "{hidden}");
    let pushed = text(&[edit("a.c", 1), commit(2, "Mend"), run(3, "git push")].concat());
    assert!(pushed.contains(", committed, pushed\n") && pushed.contains("Open at the end: not recorded"), "{pushed}");
    let given_up = text(
        &[
            "- `Bash git rebase main` → ✗ CONFLICT (exit 1) ^n-001\n".to_owned(),
            run(2, "git rebase --abort"),
            edit("a.c", 3),
            commit(4, "Mend"),
        ]
        .concat(),
    );
    assert!(given_up.contains("given up later ([[s#^n-002|n-002]])"), "{given_up}");
}

/// Edits that were put aside and did not come back are none of the result.
#[test]
fn a_stash_puts_edits_aside() {
    let change = |line: &str| crate::FileDiff { path: "a.c".into(), lines: vec![('+', line.into())], more: 0 };
    let mut evidence = Evidence::default();
    evidence.add_changes("n-001".into(), vec![change("int valve;")]);
    let body = |then: &str| [edit("a.c", 1).as_str(), "- `Bash git stash` → Saved ^n-002\n", then].concat();
    let told = with(&body(""), &evidence);
    assert!(told.contains("put aside later with `git stash` in [[s#^n-002|n-002]]"), "{told}");
    let told = with(&body("- `Bash git stash pop` → ok ^n-003\n"), &evidence);
    assert!(!told.contains("put aside later"), "{told}");
}

/// A failure is quoted by the lines that say what failed, whatever stands behind them.
#[test]
fn a_failure_is_quoted_by_its_lines() {
    let mut evidence = Evidence::default();
    let output = "Compiling pump\nerror[E0308]: mismatched types\n --> src/a.rs:3:1\nerror: could not compile `pump`\n\
                  For more information about this error, try `rustc --explain E0308`.\nwarning: build failed, waiting for other jobs\n\
                  note: see the log for all of it\nhint: rerun with more words\n";
    evidence.add_output("n-001".into(), output.into());
    let told = with("- `Bash cargo build` → ✗ Compiling pump (exit 101) ^n-001\n    - check: failed\n", &evidence);
    assert!(told.contains("error[E0308]: mismatched types") && !told.contains("hint: rerun"), "{told}");
}

/// A sub-agent stands in the step that starts it, with all that it was told where the transcript has that.
#[test]
fn a_sub_agent_is_told_what_to_do() {
    let body = "- `Task Look at the valves` → Good. ^n-001\n\n> [!subagent] @Explore\n> mode: inline  \n\
                > Task: Look at the valves  \n> Summary: The red one leaks.\n\nThe red one leaks.\n\n\
                > [!user]\n> \"And what does the manual say of it?\"\n\n- `Read manual.md` → 9 lines ^n-002\n    - reads: `manual.md`\n";
    let mut evidence = Evidence::default();
    let prompt = "Look at every valve of the pump.\n\n1. Say which one leaks.\n2. Say why.";
    evidence.add_prompt("n-001".into(), prompt.into());
    let told = with(body, &evidence);
    let at = |text: &str| told.find(text).unwrap_or_else(|| panic!("{text}\n{told}"));
    assert!(at("here the sub-agent works: “Look at the valves”") < at("what does the manual say"), "{told}");
    assert!(at("### Look at the valves @Explore") < at("1. Say which one leaks. 2. Say why."), "{told}");
}

/// A call and the callout of its sub-agent are told as one: by the step that the callout names, else by their words.
#[test]
fn what_was_handed_over_is_told_once() {
    let callout = |summary: &str, step: &str| {
        format!("> [!subagent] @build\n> mode: inline  \n> Task: Test the pump  \n> Summary: {summary}  \n{step}\n")
    };
    let skeleton = |body: &str| {
        let session = cru_session::read::session(&Note::parse(format!("{HEAD}{body}{}", edit("a.c", 9)))).0;
        let told = render(&crate::codify(&session, &Options::default()).0);
        told.lines().filter_map(|line| Some(line.split_once("delegated to ")?.1.to_owned())).collect::<Vec<_>>()
    };
    let calls =
        "- `task @build Test the pump` → ✗ no answer ^n-001\n- `task @build Test the pump` → It holds. ^n-002\n\n";
    let failed = "a sub-agent: “@build Test the pump” → no answer";
    let worked = "\\@build: “Test the pump” → It holds.";
    assert_eq!(skeleton(&format!("{calls}{}", callout("It holds.", "> Step: [[#^n-002]]\n"))), [failed, worked]);
    assert_eq!(skeleton(&format!("{calls}{}", callout("It holds.", ""))), [failed, worked]);
    let both = [callout("No answer came.", "> Step: [[#^n-001]]\n"), callout("It holds.", "> Step: [[#^n-002]]\n")];
    let told = skeleton(&format!("{calls}{}", both.concat()));
    assert_eq!(told, ["\\@build: “Test the pump” → No answer came.", worked]);
}

/// Of a sub-agent's answer all is told where the transcript has it; another answer is none of it.
#[test]
fn answers_of_sub_agents_are_whole() {
    let body = "- `Task Look at the valves` → Good. (+9 lines) ^n-001\n\n> [!subagent] @Explore\n> mode: inline  \n\
                > Task: Look at the valves  \n> Summary: Valves of the pump in the cellar: the red one leaks …\n";
    let answer = |text: &str| {
        let mut evidence = Evidence::default();
        evidence.add_output("n-001".into(), text.into());
        with(body, &evidence)
    };
    let told = answer(
        "Good.\n\n# Valves of the pump in the cellar\n\n## 1. The red one leaks\n\nThe blue one does not, and nobody uses it.\n",
    );
    assert!(told.contains("The blue one does not, and nobody uses it."), "{told}");
    let told = answer("The agent was started. It answers later, when it is done with all of its work at the pump.\n");
    assert!(told.contains("- Result: Valves of the pump in the cellar: the red one leaks …"), "{told}");
}

/// A document in the request, a mentioned file and a plan that was read go in.
#[test]
fn documents_are_inputs() {
    let head = HEAD.replace(
        "Mend the leaking pump\"\n\n",
        "Implement this plan:\n>\n> # Plan: move the valve\n>\n> ## Steps\n>\n> In `a.c`.\n>\n> ## Verification\n>\n> - Listen to the pump\"\n\n^u-01\n\n",
    );
    let body = format!("{head}{}", edit("a.c", 1));
    let session = cru_session::read::session(&Note::parse(body)).0;
    let told = render(&crate::codify(&session, &Options::REPLAY).0);
    assert!(told.contains("Inputs: the document in the request, “Plan: move the valve” ([[s#^u-01|u-01]])"), "{told}");
    assert!(
        told.contains("- Listen to the pump — in the plan, by hand; the record does not show whether it was done"),
        "{told}"
    );
    let read = "- `Read docs/plans/valve.md` → 9 lines\n    - reads: `docs/plans/valve.md`\n";
    let told = text(&format!(
        "> [!user]\n> \"Take @docs/valves.md and do what NOTES.md says, not @acme/pump\"\n\n{read}{}{}",
        read.replace("docs/plans/valve.md", "NOTES.md"),
        edit("a.c", 1)
    ));
    for path in ["`docs/valves.md`", "`docs/plans/valve.md`", "`NOTES.md`"] {
        assert!(told.lines().any(|line| line.starts_with("Inputs: ") && line.contains(path)), "{path}\n{told}");
    }
    assert!(!told.contains("`acme/pump`"), "{told}");
}

proptest! {
    /// Whatever an agent says between its calls, what is quoted of it was said, and the workflow is read again as it was
    /// written.
    #[test]
    fn remarks_are_words_of_the_session(words in "[a-z ]{1,30}([.:!?] [a-z ]{1,30}){0,3}(\n- [a-z ]{1,20}){0,3}") {
        let told = text(&format!("{words}\n\n{}", edit("a.c", 1)));
        let source = cru_base::text::fold_whitespace(&words);
        for line in told.lines().filter_map(|line| line.strip_prefix("- Agent: ")) {
            let line = line.trim_end_matches([' ', '…']);
            prop_assert!(source.contains(line), "{line:?} in {source:?}");
        }
        let read = parse(&Note::parse(told.clone())).0;
        prop_assert_eq!(render(&read), told);
    }
}

/// Where the record does not name what was changed, nothing is said of it.
#[test]
fn changes_that_the_record_does_not_tell_are_not_denied() {
    let look = |at: u32| format!("- `Read a{at}.c` → 9 lines ^n-00{at}\n    - reads: `a{at}.c`\n");
    let looks = (1..9).map(look).collect::<Vec<_>>().concat();
    let of = |property: &str, body: &str| {
        let note = format!("{}{body}", HEAD.replacen("cru_cursor", &format!("{property}cru_cursor"), 1));
        let session = cru_session::read::session(&Note::parse(note)).0;
        let (workflow, remarks) = crate::codify_with(&session, &Options::REPLAY, &Evidence::default());
        (render(&workflow), remarks.into_iter().map(|remark| remark.message).collect::<String>())
    };
    let untold = "changes: not all recorded\n";
    assert!(of("", &looks).0.contains("For: looking; nothing is changed"));
    assert!(of(untold, &looks).0.contains("For: looking; changes are not recorded"));
    assert!(of("", "Words.\n").1.contains("nothing was changed") && of(untold, "Words.\n").1.contains("names no file"));
}
