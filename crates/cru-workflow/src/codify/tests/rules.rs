//! What a workflow promises, on notes as people and importers write them.

use super::*;
use crate::{Dialect, RemarkKind, codify_jobs, recipe, render_as};

const HEAD: &str = "---\ntype: session\nsession_id: s\ntitle: Pumps\nproject: ~/pump\n---\n# Pumps\n\n";

fn read(body: &str) -> Session {
    cru_session::read::session(&Note::parse(format!("{HEAD}{body}"))).0
}

fn workflow(body: &str) -> Workflow {
    codify(&read(body), &Options::REPLAY).0
}

fn text(body: &str) -> String {
    render(&workflow(body))
}

/// An imported phase, called after its first words.
fn imported(words: &str, rest: &str) -> String {
    format!("## {words} @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"{words}\"\n\n{rest}\n")
}

/// Gates, decisions and corrections, as `kind: text`.
fn kept(workflow: &Workflow) -> Vec<String> {
    let parts = workflow.preface.iter().chain(workflow.steps.iter().flat_map(|step| &step.parts));
    let mut kept: Vec<String> = parts
        .filter_map(|part| match part {
            Part::Gate(gate) => Some(format!("gate: {} {}", gate.title, gate.body)),
            Part::Remark(it) if matches!(it.kind, RemarkKind::Decided | RemarkKind::Mind) => {
                Some(format!("{}: {}", it.kind.as_str(), it.text))
            }
            _ => None,
        })
        .collect();
    kept.sort();
    kept
}

/// Written by hand: gates before the first step and below sections of prose, a decision without a title, a correction
/// behind a refused call, a sub-agent whose text stands right below its mode.
const BY_HAND: &str = "> [!gate] The owner agrees\n> By phone is enough.\n\n## Goals\n\n- [ ] the pump runs\n\n> [!gate] Budget is approved\n\n\
    ## Look at it @ann #shop\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Why does it leak?\"\n\n\
    - `Read pump.c` → 40 lines ^n-001\n    - reads: `pump.c`\n- `Edit pump.c` → ✗ denied by user ^n-002\n\n\
    > [!user]\n> \"Take the other valve.\"\n\n\
    > [!decision]\n> We use the red valve, it is in stock.\n> Why: delivery takes a week.\n> Rejected: the blue valve\n\n\
    > [!subagent] @tester\n> mode: inline\n> Measured the pressure twice. It holds.\n>\n> - `make pressure` → 4 bar\n\n\
    ## Mend it @ann #shop\n\n*2026-11-20T10:00:00Z* ^p-02\n\n- `Edit pump.c` → ok ^n-003\n    - writes: `pump.c`\n\
    - `make test` → 3 passed ^n-004\n\nThe valve is in.\n\n## Validation\n\n- by eye\n\n> [!gate] The owner has seen it run\n";

#[test]
fn what_people_wrote_stays() {
    let made = workflow(BY_HAND);
    let before: Vec<&str> = made
        .preface
        .iter()
        .filter_map(|part| match part {
            Part::Gate(gate) => Some(gate.title.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(before, ["The owner agrees", "Budget is approved"]);
    let titles: Vec<&str> = made.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["Look at it", "Let tester work", "Mend it", "Executions"]);
    assert_eq!(
        kept(&made),
        [
            "Decided: We use the red valve, it is in stock. — delivery takes a week (not: the blue valve)",
            "Mind: Edit pump.c: denied by user",
            "Mind: Take the other valve.",
            "gate: Budget is approved ",
            "gate: The owner agrees By phone is enough.",
            "gate: The owner has seen it run ",
        ]
    );
    let text = render(&made);
    assert!(text.contains("- Result: Measured the pressure twice. It holds."), "{text}");
}

/// Through both dialects, and through an agent that leaves everything out.
#[test]
fn what_people_wrote_survives_every_way() {
    let made = workflow(BY_HAND);
    let other = parse(&Note::parse(render_as(&made, Dialect::Crucible))).0;
    assert_eq!(kept(&other), kept(&made));
    let back = parse(&Note::parse(render(&other))).0;
    assert_eq!((kept(&back), back.sources), (kept(&made), made.sources.clone()));
    let answer =
        "# Pumps\n\n## Look at it @ann #shop\n\npump.c → result\n\n## Mend it @ann #shop\n\nresult → pump.c@2\n";
    let refined = recipe::accept(&made, &recipe::Cited::default(), answer, true).unwrap().workflow;
    assert_eq!((kept(&refined), refined.sources.clone()), (kept(&made), made.sources.clone()));
    assert!(render(&refined).contains("For: "), "{}", render(&refined));
}

/// A gate of a workflow that stands below the goals or the checks.
#[test]
fn gates_of_sections_stay() {
    let note = "# T\n\n## Goals\n\n- [ ] x\n\n> [!gate] One\n\n## Do it @a\n\n## Validation\n\n- y\n\n> [!gate] Two\n";
    let (read, odd) = parse(&Note::parse(note));
    assert_eq!((kept(&read), odd), (vec!["gate: One ".to_owned(), "gate: Two ".to_owned()], vec![]));
    assert_eq!(kept(&parse(&Note::parse(render_as(&read, Dialect::Crucible))).0), kept(&read));
}

/// "Passes" is said where nothing that the check covers was changed since.
#[test]
fn passes_means_now() {
    let body = |last: &str| {
        let steps = format!(
            "- `Edit pump.rs` → ok ^n-001\n    - writes: `pump.rs`\n- `Bash cargo test` → 3 passed ^n-002\n    - check: passed\n{last}"
        );
        text(&imported("Mend the leaking pump", &steps))
    };
    assert!(body("").contains("- `cargo test` — passes (3 passed)"));
    let later = body("- `Edit pump.rs` → ok ^n-003\n    - writes: `pump.rs`\n");
    assert!(
        later.contains("- `cargo test` — passed, then pump.rs was changed") && !later.contains("passes"),
        "{later}"
    );
    assert!(body("- `Edit README.md` → ok ^n-003\n    - writes: `README.md`\n").contains("`cargo test` passes"));
    let steps = |check: &str| {
        let steps = format!(
            "- `Edit pump.rs` → ok\n    - writes: `pump.rs`\n- `Bash {check}` → ok\n    - check: passed\n- `Edit a.md` → ok\n    - writes: `a.md`\n"
        );
        text(&imported("Mend the leaking pump", &steps))
    };
    assert!(steps("npm run test").contains("`npm run test` passes"));
    assert!(steps("npm run lint").contains("`npm run lint` — passed, then a.md was changed"));
    let failed = body("- `Bash cargo test` → ✗ 1 failed ^n-003\n    - check: failed\n");
    assert!(!failed.contains("passes"), "{failed}");
}

/// The person's words stand behind what they are about; that it was wrong nobody says for them.
#[test]
fn conclusions_are_told_as_they_were_taken() {
    let steps = "- `Edit pump.c` → ok ^n-001\n    - writes: `pump.c`\n\nThe valve is in.\n\n> [!user] Correction\n> \"Not that valve.\"\n\n\
                 - `Edit pump.c` → ok ^n-002\n    - writes: `pump.c`\n\nNow the red one is in.\n";
    let text = text(&imported("Mend the leaking pump", steps));
    assert!(text.contains("- Result: The valve is in.\n- Mind: Not that valve.\n"), "{text}");
    assert!(text.contains("- Result: Now the red one is in."), "{text}");
}

/// Long closing words stand whole, with their lines, tables and code; of very long ones whole paragraphs, with a mark.
#[test]
fn long_conclusions_are_whole() {
    let items: Vec<String> = (1..30).map(|n| format!("{n}. Valve {n} of the pump was taken out and cleaned")).collect();
    let items = items.join("\n");
    let steps = |more: &str| {
        format!(
            "- `Edit pump.c` → ok ^n-001\n    - writes: `pump.c`\n\nAll mended:\n\n{items}\n\n```c\nint x;\n```\n\n{more}The pump runs.\n"
        )
    };
    let told = text(&imported("Mend the leaking pump", &steps("")));
    assert!(told.contains("- Result: All mended:\n\n> All mended:\n>\n> 1. Valve 1 of the pump"), "{told}");
    assert!(
        told.contains("> 29. Valve 29 of") && told.contains("> ```c\n> int x;\n> ```\n>\n> The pump runs.\n"),
        "{told}"
    );
    let long = "One more paragraph on the valves, which nobody has to read.\n\n".repeat(600);
    let told = text(&imported("Mend the leaking pump", &steps(&long)));
    assert!(told.contains("nobody has to read.\n>\n> …"), "{told}");
    assert!(!told.contains("The pump runs."), "{told}");
}

/// A long turn is cut into what was done.
#[test]
fn a_long_turn_has_parts() {
    let mut steps = String::new();
    for file in ["a", "b", "c", "d"] {
        steps.push_str(&format!("- `Read {file}.c` → 9 lines\n    - reads: `{file}.c`\n"));
    }
    for file in ["a", "b", "c"] {
        steps.push_str(&format!("- `Edit {file}.c` → ok\n    - writes: `{file}.c`\n"));
    }
    steps.push_str("- `Bash make test` → ok\n- `Bash git commit -am 'Tighten the valves'` → ok\n");
    let made = workflow(&imported("Mend the leaking pumps", &steps));
    let titles: Vec<&str> = made.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "Read a.c and 3 other files",
            "Tighten the valves",
            "Check with make test",
            "Commit: Tighten the valves",
            "Executions"
        ]
    );
    // Data join the first two; the check follows the change, which only the order says.
    let picture = crate::export::graph::picture(&made);
    let arrows: Vec<(usize, usize)> = picture.arrows.iter().map(|it| (it.from, it.to)).collect();
    assert_eq!(arrows, [(0, 1), (1, 2), (2, 3)]);
}

/// An order that no data ask for is no rule: who does it the other way round deviates from nothing that matters.
#[test]
fn order_alone_joins_nothing() {
    let note =
        "# T\n\n## Paint @a\n\nx → y\n\n## Sweep @a\n\n- After: Paint\n\n## Ship @a\n\ny → z\n\n- After: Paint\n";
    let (read, _) = parse(&Note::parse(note));
    let graph = validate::Graph::of(&read);
    assert_eq!(graph.after(0).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(graph.joined_after(0).collect::<Vec<_>>(), [2]);
    assert!(graph.is_order(0, 1) && !graph.is_order(0, 2));
}

/// The sections of a plan in the request are the steps, and its verification the checks.
#[test]
fn a_plan_in_the_request_gives_the_steps() {
    let words = "Implement this plan:\n>\n> # Red valves\n>\n> ## 1. Cut the pipe\n>\n> In `pipe.c`.\n>\n> ## 2. Set the valve\n>\n\
                 > In `valve.c`.\n>\n> ## Verification\n>\n> - `make test`\n> - `make bench -j2`\n> - Look at it by eye\n> - 100+ drops fall, 3 of 5 by hand";
    let steps = "- `Edit valve.c` → ok\n    - writes: `valve.c`\n- `Edit pipe.c` → ok\n    - writes: `pipe.c`\n- `Bash make test` → ok\n";
    let body = format!("## Red valves @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"{words}\"\n\n{steps}");
    let made = workflow(&body);
    let titles: Vec<&str> = made.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["Set the valve", "Cut the pipe", "Check with make test", "Executions"]);
    let checks: Vec<String> =
        made.checks.iter().map(|it| format!("{}: {}", it.command.as_deref().unwrap_or("-"), it.text)).collect();
    assert_eq!(
        checks,
        [
            "make test: passes",
            "make bench -j2: in the plan; it was not run",
            "-: Look at it by eye — in the plan, by hand; the record does not show whether it was done",
            "-: 100+ drops fall, 3 of 5 by hand — in the plan, by hand; the record does not show whether it was done"
        ]
    );
}

/// A command of a plan was run where a call ran the same command, with other words around it and on another way to its
/// folder.
#[test]
fn a_command_of_a_plan_is_found_in_other_words() {
    let planned = [
        "cd valves && make lint",
        "make bench -j2 pump",
        "cd doors && make test",
        "make dist --fast",
        "make check -k",
        "make \"gate\"",
    ];
    let items = planned.map(|command| format!(">\n> - `{command}`\n")).concat();
    let words = format!(
        "Implement this plan:\n>\n> # Red valves\n>\n> ## 1. Cut the pipe\n>\n> In `pipe.c`.\n>\n> ## Verification\n{items}>"
    );
    let ran = [
        "cd ~/code/valves && make lint",
        "make bench pump -j2 2>&1 | tail -3",
        "cd gates && make test",
        "make -j4 check",
        "make gate",
    ];
    let calls = ran.map(|command| format!("- `Bash {command}` → ok\n")).concat();
    let steps = format!("- `Edit pipe.c` → ok\n    - writes: `pipe.c`\n{calls}");
    let body =
        format!("## Red valves @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"{words} Go\"\n\n{steps}");
    let made = workflow(&body);
    let told = |command: &&str| {
        let check = made.checks.iter().find(|it| it.command.as_deref() == Some(command));
        check.map(|it| it.text.clone()).unwrap_or_default()
    };
    assert_eq!(
        planned.iter().map(told).collect::<Vec<_>>(),
        [
            "in the plan; it was run: 'cd ~/code/valves && make lint'",
            "in the plan; it was run: 'make bench pump -j2 2>&1 | tail -3'",
            "in the plan; it was not run",
            "in the plan; it was not run",
            "in the plan; it was run with other options: 'make -j4 check'",
            "in the plan; it was run: 'make gate'"
        ]
    );
}

/// Tasks that the agent began one after the other are the steps.
#[test]
fn begun_tasks_are_the_steps() {
    let fence = |first: &str, second: &str| {
        format!(
            "```tasks\n[{{\"id\":\"1\",\"content\":\"Cut the pipe\",\"status\":\"{first}\"}},{{\"id\":\"2\",\"content\":\"Set the valve\",\"status\":\"{second}\"}}]\n```\n\n"
        )
    };
    let steps = format!(
        "{}- `Edit pipe.c` → ok\n    - writes: `pipe.c`\n\n{}- `Edit valve.c` → ok\n    - writes: `valve.c`\n",
        fence("in_progress", "pending"),
        fence("completed", "in_progress")
    );
    let made = workflow(&imported("Mend the leaking pump", &steps));
    let titles: Vec<&str> = made.steps.iter().map(|step| step.title.as_str()).collect();
    assert_eq!(titles, ["Cut the pipe", "Set the valve", "Executions"]);
}

/// What people gave has one name; commands stand as they were run but for it; refused ones do not stand at all.
#[test]
fn commands_are_as_they_were_run() {
    let steps = "- `Bash cd /home/ann/pump && gh pr checkout 4821 2>&1 | tail -3` → ok\n\
                 - `Bash make serve & sleep 3` → ok\n- `Bash git push --force` → ✗ denied by user: never\n\
                 - `Bash cp /home/ann/pump/a.c /home/ann/old/` → ok\n";
    let text = text(&imported("See https://github.com/acme/pump/pull/4821 please", steps));
    for line in [
        "Inputs: `<home>`; `<pr>` (4821); `<project>` (~/pump)",
        "- `gh pr checkout <pr> 2>&1 | tail -3`",
        "- `make serve & sleep 3`",
        "- `cp <project>/a.c <home>/old/`",
        "- Mind: git push --force: denied by user: never",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

/// Skills, pages and tools of servers are named.
#[test]
fn what_was_used_is_named() {
    let steps = "- `Skill pumps:repair` → loaded\n- `WebFetch https://example.org/valves` → 3 kB\n\
                 - `mcp__store__get_valve {\"id\":1}` → red\n- `Edit a.c` → ok\n    - writes: `a.c`\n\
                 - `commit 1a2b3c4 feat: mend the \"red\" pump` → ok\n";
    let text = text(&imported("Mend the leaking pump", steps));
    let uses: Vec<&str> = text.lines().filter(|line| line.starts_with("- called ")).collect();
    assert_eq!(
        uses,
        [
            "- called Skill pumps:repair",
            "- called WebFetch https://example.org/valves",
            "- called mcp__store__get_valve {\"id\":1}"
        ]
    );
    assert!(text.contains("- `git commit -m \"feat: mend the 'red' pump\"`"), "{text}");
}

/// Turns that share nothing are jobs of their own; a chat is none.
#[test]
fn jobs_are_told_apart() {
    let turn = |words: &str, file: &str| {
        let edits = format!("- `Edit {file}` → ok\n    - writes: `{file}`\n").repeat(4);
        imported(words, &edits)
    };
    let two =
        format!("{}{}", turn("Mend the leaking pump", "pump.c"), turn("Write the guide of the harbour", "guide.md"));
    let jobs = codify_jobs(&read(&two), &Options::REPLAY, &crate::Evidence::default());
    let titles: Vec<&str> = jobs.iter().map(|(workflow, _)| workflow.title.as_str()).collect();
    assert_eq!(titles, ["Mend the leaking pump", "Write the guide of the harbour"]);
    let told = codify(&read(&two), &Options::REPLAY).1;
    assert!(told.iter().any(|it| it.code == "codify-jobs"), "{told:?}");
    let one = format!("{}{}", turn("Mend the leaking pump", "pump.c"), turn("Oil the pump once more", "pump.c"));
    assert_eq!(codify_jobs(&read(&one), &Options::REPLAY, &crate::Evidence::default()).len(), 1);
    let chat = codify(&read(&imported("What is a pump?", "A machine.\n")), &Options::REPLAY);
    assert_eq!((chat.0.steps.len(), chat.1[0].code), (0, crate::NOTHING_TO_REPEAT));
}

/// What is open stands in the head as the note says it; what was asked last and brought no work is told.
#[test]
fn what_is_open_is_what_the_note_says() {
    let body = imported(
        "Mend the leaking pump",
        "- `Edit a.c` → ok\n    - writes: `a.c`\n\nDone.\n\n> [!user]\n> \"Now paint the house.\"\n",
    );
    let note =
        format!("{HEAD}{body}").replacen("---\n", "---\nopen:\n  - \"failing: make check\"\n  - not pushed\n", 1);
    let session = cru_session::read::session(&Note::parse(note)).0;
    let text = render(&crate::codify_with(&session, &Options::REPLAY, &Evidence::default()).0);
    assert!(
        text.contains("Open at the end: failing: `make check`; not pushed\nAlso asked: “Now paint the house.”"),
        "{text}"
    );
}

/// A command that was given to another one as a text is told with that one: alone it would not run, or not there.
#[test]
fn a_command_in_a_text_is_told_whole() {
    let body = imported(
        "Mend the leaking pump",
        "- `Edit a.py` → ok\n    - writes: `a.py`\n\
         - `Bash cd /home/ann/pump && nix-shell --run \"pytest -q && pylint .\" 2>&1 | tail -40` → ok\n    - check: passed\n\nDone.\n",
    );
    let session = read(&body);
    for options in [Options::REPLAY, Options::default()] {
        let text = render(&codify(&session, &options).0);
        assert!(text.contains("`nix-shell --run \"pytest -q && pylint .\"`"), "{text}");
        assert!(!text.contains("`pytest") && !text.contains("`pylint"), "{text}");
    }
}
