//! Whole sessions in, whole notes out.

mod failures;
mod remarks;
mod rules;
mod steps;

use proptest::prelude::*;

use super::super::tests::bare;
use super::super::{parse, render, validate};
use super::*;
use cru_note::Note;
use cru_session::{
    Agent, Callout, Decision, Error, FileRef, Item, Link, Meta, Phase, Step, StepStatus, Subagent, Task, Tasks, User,
};

fn session(id: &str, title: &str, phases: Vec<Phase>) -> Session {
    let meta = Meta {
        session_id: Some(id.into()),
        title: Some(title.into()),
        project: Some("~/code/api".into()),
        status: Some(Status::Completed),
        ..Meta::default()
    };
    let phases =
        phases.into_iter().enumerate().map(|(index, phase)| Phase { id: format!("p-{:02}", index + 1), ..phase });
    Session { meta, phases: phases.collect(), ..Session::default() }
}

fn phase(title: &str, agent: &str, items: Vec<Item>) -> Phase {
    Phase {
        title: title.into(),
        level: 2,
        agent: Some(Agent::parse(agent)),
        channel: Some("dev".into()),
        items,
        ..Phase::default()
    }
}

fn said(words: &str) -> Item {
    Item::User(User { words: words.into(), ..User::default() })
}

fn ran(command: &str, result: &str) -> Item {
    Item::Step(Step { tool: "Bash".into(), args: command.into(), result: Some(result.into()), ..Step::default() })
}

fn failed(command: &str, result: &str) -> Item {
    let status = StepStatus::Failed;
    Item::Step(Step {
        tool: "Bash".into(),
        args: command.into(),
        result: Some(result.into()),
        status,
        exit: Some(1),
        ..Step::default()
    })
}

fn refs(path: &str, created: bool) -> Vec<FileRef> {
    vec![FileRef { path: path.into(), created, ..FileRef::default() }]
}

fn looked(path: &str) -> Item {
    Item::Step(Step { tool: "Read".into(), args: path.into(), reads: refs(path, false), ..Step::default() })
}

fn edited(path: &str) -> Item {
    Item::Step(Step {
        tool: "Edit".into(),
        args: path.into(),
        reads: refs(path, false),
        writes: refs(path, false),
        ..Step::default()
    })
}

fn wrote(path: &str) -> Item {
    Item::Step(Step { tool: "Write".into(), args: path.into(), writes: refs(path, true), ..Step::default() })
}

fn callout(title: &str) -> Callout {
    Callout { title: title.into(), ..Callout::default() }
}

fn made(session: &Session) -> (String, Vec<&'static str>) {
    let (workflow, told) = codify(session, &Options::REPLAY);
    let text = render(&workflow);
    let (read, odd) = parse(&Note::parse(text.as_str()));
    // Words that an editor or a plugin would run are written so that nothing runs them, and read as they are written.
    assert_eq!(render(&read), text);
    if !text.contains('\\') {
        assert_eq!(bare(read), workflow, "{text}");
    }
    assert_eq!(odd, vec![], "{text}");
    assert_eq!(validate(&workflow), vec![], "{text}");
    assert_eq!(render(&codify(session, &Options::REPLAY).0), text);
    (text, told.iter().map(|it| it.code).collect())
}

#[test]
fn a_feature_with_an_approved_plan() {
    let plan = Decision {
        callout: callout("Plan: rotate refresh tokens"),
        text: "1. Store hashes of tokens -> table\n2. Rotate on use".into(),
        ..Decision::default()
    };
    let short = Decision {
        callout: callout("Short-lived access tokens"),
        why: Some("limits a leak without logging people out, see [[#^n-002]]".into()),
        rejected: Some("server sessions (state)".into()),
        ..Decision::default()
    };
    let correction = User {
        words: "don't store them in localStorage".into(),
        interpretation: Some("switched to httpOnly cookies".into()),
        correction: true,
        ..User::default()
    };
    let mut session = session(
        "2026-11-20-refresh-tokens",
        "Refresh tokens",
        vec![
            phase(
                "Plan the token store",
                "planner@1.2",
                vec![
                    said("Hi, can you please add refresh tokens to the API?"),
                    looked("src/auth.rs"),
                    looked("docs/auth.md"),
                    Item::Decision(plan),
                    Item::Decision(short),
                ],
            ),
            phase(
                "Hi, can you please go ahead and build the rotation of tokens in src/token.rs…",
                "coder@2.0",
                vec![
                    said("Hi, can you please go ahead and build the rotation of tokens in src/token.rs, with tests?"),
                    looked("src/auth.rs"),
                    wrote("src/token.rs"),
                    edited("src/auth.rs"),
                    wrote("tests/token.rs"),
                    ran("cd /home/me/code/api && cargo test -p auth 2>&1 | tail -5", "test result: ok. 41 passed"),
                    Item::User(correction),
                    edited("src/auth.rs"),
                    ran("cargo test -p auth", "test result: ok. 43 passed"),
                    ran("git add -A && git commit -m 'feat(auth): rotate refresh tokens'", "[main 4f1c2ab] feat"),
                ],
            ),
            phase(
                "thanks! what does the rotation cost?",
                "coder@2.0",
                vec![said("thanks! what does the rotation cost?"), looked("src/token.rs")],
            ),
            phase(
                "Now open a pull request",
                "coder@2.0",
                vec![
                    said("Now open a pull request"),
                    ran(
                        "git cherry-pick 4f1c2ab && gh pr create --title \"Rotate refresh tokens\" --body \"x\"",
                        "https://example.org/pr/7",
                    ),
                ],
            ),
            phase("Summary", "", vec![]),
        ],
    );
    let task = |content: &str, status: &str| Task { content: content.into(), status: status.into(), ..Task::default() };
    let tasks = vec![task("Rotate signing keys", "completed"), task("Write the guide", "pending")];
    session.preface.push(Item::Tasks(Tasks { tasks, ..Tasks::default() }));
    let (text, told) = made(&session);
    assert_eq!(told, ["codify-open-tasks"]);
    insta::assert_snapshot!(text, @r#"
    ---
    type: workflow
    title: Refresh tokens
    source: "[[2026-11-20-refresh-tokens]]"
    ---
    # Refresh tokens

    For: change of Rust files, checked with `cargo test -p auth`, committed, published
    Inputs: not recorded
    Done when: `cargo test -p auth` passes
    Open at the end: task not done: Write the guide

    ## Goals

    - Rotate signing keys
    - Write the guide

    ## Plan the token store @planner #dev

    Hi, can you please add refresh tokens to the API?

    src/auth.rs::Rust, docs/auth.md::Markdown → result

    > [!looks]- 2 looks
    > - `Read src/auth.rs`
    > - `Read docs/auth.md`

    > [!gate] Plan: rotate refresh tokens
    > 1. Store hashes of tokens -> table
    > 2. Rotate on use

    - Decided: Short-lived access tokens — limits a leak without logging people out, see n-002 (not: server sessions (state))

    From [[2026-11-20-refresh-tokens#^p-01]].

    ## Build the rotation of tokens in token.rs, with tests @coder #dev

    Hi, can you please go ahead and build the rotation of tokens in src/token.rs, with tests?

    src/auth.rs::Rust → src/token.rs::Rust, src/auth.rs@2::Rust, tests/token.rs::Rust, commit::Commit

    - After: Plan the token store

    > [!looks]- 1 look
    > - `Read src/auth.rs`

    - Changed: `src/token.rs`, a new file
    - Changed: `src/auth.rs`
    - Changed: `tests/token.rs`, a new file
    - Mind: don't store them in localStorage — switched to httpOnly cookies
    - Changed: `src/auth.rs`
    - `cargo test -p auth` — passes (test result: ok. 43 passed)
    - `git add -A && git commit -m 'feat(auth): rotate refresh tokens'`

    From [[2026-11-20-refresh-tokens#^p-02]].

    ## Open a pull request @coder #dev

    thanks! what does the rotation cost?

    src/token.rs::Rust, commit::Commit → result@2

    - Uses: commit, printed by “Build the rotation of tokens in token.rs, with tests” (4f1c2ab in the session)

    > [!looks]- 1 look
    > - `Read src/token.rs`

    - Then: Now open a pull request
    - `git cherry-pick <commit> && gh pr create --title "Rotate refresh tokens" --body "x"`

    From [[2026-11-20-refresh-tokens#^p-03]], [[2026-11-20-refresh-tokens#^p-04]].

    ## Validation

    - `cargo test -p auth` — passes

    ## Executions

    ```session-toon
    execution[3]{phase,agent,channel,input,output,duration_ms,status,source}:
      Plan the token store,planner,dev,src/auth.rs,result,"",success,2026-11-20-refresh-tokens#^p-01
      "Build the rotation of tokens in token.rs, with tests",coder,dev,src/auth.rs,src/token.rs,"",success,2026-11-20-refresh-tokens#^p-02
      Open a pull request,coder,dev,src/token.rs,result@2,"",success,2026-11-20-refresh-tokens#^p-03
    ```
    "#);
}

#[test]
fn a_debugging_session() {
    let error = Error {
        callout: callout("Flaky clock in the token test"),
        resolution: Some("inject a clock, see [[#^n-005]].".into()),
        ..Error::default()
    };
    let mut phases = vec![
        phase(
            "the build is broken since yesterday",
            "claude-code@2.1",
            vec![
                said("the build is broken since yesterday, find out why"),
                failed("cargo build", "error[E0308]: mismatched types"),
                looked("src/clock.rs"),
                ran("git log --oneline -5", "5 lines"),
            ],
        ),
        phase(
            "try pinning jiff",
            "claude-code@2.1",
            vec![
                said("try pinning jiff to the old version in Cargo.toml"),
                edited("Cargo.toml"),
                failed("cargo build", "still mismatched"),
            ],
        ),
        phase(
            "fix src/clock.rs instead so that the build and the tests pass again",
            "claude-code@2.1",
            vec![
                said("fix src/clock.rs instead so that the build and the tests pass again"),
                edited("src/clock.rs"),
                ran("cargo build", "Finished"),
                failed("cargo test", "1 failed"),
                Item::Error(error),
                edited("tests/token.rs"),
                failed("cargo test --features clock", "no such feature `clock`"),
                ran("cargo test", "41 passed"),
            ],
        ),
        phase(
            "publish it",
            "claude-code@2.1",
            vec![said("now publish the crate to the registry"), failed("cargo publish", "401 Unauthorized")],
        ),
    ];
    phases[2].from = Some(Link::to_block("p-01"));
    let (text, told) = made(&Session {
        meta: Meta { status: Some(Status::Failed), ..session("x", "y", vec![]).meta },
        ..session("2026-11-21-broken-build", "the build is broken since yesterday", phases)
    });
    assert_eq!(told, ["codify-unfinished", "codify-abandoned"]);
    insta::assert_snapshot!(text, @r#"
    ---
    type: workflow
    title: "y"
    source: "[[x]]"
    ---
    # y

    For: change of Rust files, checked with `cargo build`, `cargo test`
    Inputs: not recorded
    Done when: `cargo test` passes
    Open at the end: unfinished: the session is failed

    ## The build is broken since yesterday, find out why @claude-code #dev !

    src/clock.rs::Rust → result

    - `cargo build` — failed, exit 1: error[E0308]: mismatched types; the same command passes later

    > [!looks]- 1 look
    > - `Read src/clock.rs`

    - `git log --oneline -5`

    From [[x#^p-01]].

    ## Fix clock.rs instead so that the build and the tests pass again @claude-code #dev !

    fix src/clock.rs instead so that the build and the tests pass again

    src/clock.rs::Rust, tests/token.rs::Rust → src/clock.rs@2::Rust, tests/token.rs@2::Rust

    - After: The build is broken since yesterday, find out why
    - Changed: `src/clock.rs`
    - `cargo build` — passed, then tests/token.rs was changed
    - `cargo test` — failed, exit 1: 1 failed; the same command passes later
    - Trouble: Flaky clock in the token test — inject a clock, see n-005.
    - Changed: `tests/token.rs`
    - `cargo test --features clock` — failed, exit 1: no such feature `clock`
    - `cargo test` — passes (41 passed)

    From [[x#^p-03]].

    ## publish it @claude-code #dev !

    now publish the crate to the registry

    - After: Fix clock.rs instead so that the build and the tests pass again
    - `cargo publish` — failed, exit 1: 401 Unauthorized

    From [[x#^p-04]].

    ## Validation

    - `cargo build` — passed, then tests/token.rs was changed
    - `cargo test` — passes

    ## Executions

    ```session-toon
    execution[3]{phase,agent,channel,input,output,duration_ms,status,source}:
      "The build is broken since yesterday, find out why",claude-code,dev,src/clock.rs,result,"",failed,x#^p-01
      Fix clock.rs instead so that the build and the tests pass again,claude-code,dev,src/clock.rs,src/clock.rs@2,"",success,x#^p-03
      publish it,claude-code,dev,"","","",failed,x#^p-04
    ```
    "#);
}

#[test]
fn sub_agents_and_sub_phases() {
    let reviewer = Subagent {
        callout: callout("@reviewer@1.0"),
        agent: Some(Agent::parse("reviewer@1.0")),
        task: Some("Review src/token.rs for races".into()),
        summary: Some("two findings, both fixed".into()),
        link: Some(Link::to_note("2026-11-22-review-reviewer")),
        ..Subagent::default()
    };
    let inline = Subagent {
        callout: callout("@runner"),
        agent: Some(Agent::parse("runner")),
        items: vec![ran("cargo bench", "ok")],
        ..Subagent::default()
    };
    let mut nested = phase("Measure #1 @ noon ?", "bench", vec![wrote("results.csv"), Item::Subagent(inline)]);
    (nested.level, nested.parent) = (3, Some(0));
    nested.channel = None;
    let phases = vec![
        phase("Phase 1: Review", "lead@3", vec![Item::Subagent(reviewer), edited("src/token.rs")]),
        nested,
        phase("Phase 2: Report → people", "lead@3", vec![looked("results.csv"), wrote("report.md")]),
    ];
    let (text, told) = made(&session("2026-11-22-review", "Review the token store", phases));
    assert_eq!(told, Vec::<&str>::new());
    insta::assert_snapshot!(text, @r#"
    ---
    type: workflow
    title: Review the token store
    source: "[[2026-11-22-review]]"
    ---
    # Review the token store

    For: change of Rust, CSV, Markdown files, checked with `cargo bench`
    Inputs: not recorded
    Done when: `cargo bench` passes
    Open at the end: not recorded

    ## Review @lead #dev

    src/token.rs::Rust → src/token.rs@2::Rust

    - here the sub-agent works: “Review token.rs for races”
    - Changed: `src/token.rs`

    From [[2026-11-22-review#^p-01]].

    ### Review token.rs for races @reviewer

    Review src/token.rs for races

    - Result: two findings, both fixed

    From [[2026-11-22-review-reviewer]].

    ### Measure #1 @ noon \? @bench #dev

    request → results.csv::CSV

    - Changed: `results.csv`, a new file
    - here the sub-agent works: “Let runner work”

    From [[2026-11-22-review#^p-02]].

    #### Let runner work @runner

    - `cargo bench` — passes

    From [[2026-11-22-review#^p-02]].

    ## Report → people @lead #dev

    results.csv::CSV → report.md::Markdown

    > [!looks]- 1 look
    > - `Read results.csv`

    - Changed: `report.md`, a new file

    From [[2026-11-22-review#^p-03]].

    ## Validation

    - `cargo bench` — passes

    ## Executions

    ```session-toon
    execution[5]{phase,agent,channel,input,output,duration_ms,status,source}:
      Review,lead,dev,src/token.rs,src/token.rs@2,"",success,2026-11-22-review#^p-01
      Review token.rs for races,reviewer,"","","","",success,2026-11-22-review-reviewer
      Measure #1 @ noon ?,bench,dev,request,results.csv,"",success,2026-11-22-review#^p-02
      Let runner work,runner,"","","","",success,2026-11-22-review#^p-02
      Report → people,lead,dev,results.csv,report.md,"",success,2026-11-22-review#^p-03
    ```
    "#);
}

/// What people said stands in a workflow as they said it, whatever it begins with.
#[test]
fn words_of_people_are_not_turned() {
    let rows = [
        "No tests should be deleted",
        "please don't ever push to the main branch",
        "ok, only the first of all pumps, and no others",
        "now just the docs. Never the code",
        "bitte keine Tests löschen",
        "请不要删除任何测试",
    ];
    for words in rows {
        let correction = User { words: words.into(), correction: true, ..User::default() };
        let items = vec![
            said("mend the valve of the pump"),
            edited("a.rs"),
            Item::User(correction),
            said(words),
            edited("b.rs"),
        ];
        let (text, _) = made(&session("x", "Pumps", vec![phase("Mend the valve of the pump", "claude-code", items)]));
        for line in [format!("- Mind: {words}"), format!("- Then: {words}")] {
            assert!(text.lines().any(|told| told == line), "{line}\n{text}");
        }
    }
}

#[test]
fn nothing_to_repeat() {
    let talk = phase("hello", "claude-code", vec![said("hello")]);
    let (text, told) = made(&session("s", "hello", vec![talk]));
    assert_eq!(told, ["codify-empty"]);
    insta::assert_snapshot!(text, @r#"
    ---
    type: workflow
    title: hello
    source: "[[s]]"
    ---
    # hello
    "#);
    let (text, told) = made(&Session::default());
    assert_eq!(told, ["codify-empty"]);
    assert!(text.contains("# untitled") || text.contains("# Untitled"), "{text}");
}

/// Text that would break a note if it were not tamed.
fn hostile() -> impl Strategy<Value = String> {
    let odd = prop_oneof![
        Just("## Goals"),
        Just("→"),
        Just("a -> b"),
        Just("```"),
        Just("`"),
        Just("> [!gate] x"),
        Just("[[x]]"),
        Just("---"),
        Just("- [ ] x"),
        Just("If x → y"),
        Just("From [[a]]."),
        Just(" @me #dev !"),
        Just("^p-01"),
        Just("\n"),
        Just("\n\n"),
        Just("1. "),
        Just("<b>"),
        Just("%%"),
        Just("::T"),
        Just("\u{1b}[1m"),
        Just("\u{202e}"),
        Just("|a|b|"),
        Just("fix the "),
        Just("src/a.rs"),
        Just("\\"),
        Just("git commit -m 'x y'"),
        Just("Decided: "),
        Just("é"),
        Just("$("),
        Just("<<EOF"),
        Just("..."),
        Just("?"),
        Just(" ")
    ];
    prop::collection::vec(odd, 0..6).prop_map(|parts| parts.concat())
}

fn item() -> impl Strategy<Value = Item> {
    let texts = || (hostile(), hostile(), hostile());
    let tool = prop_oneof![Just("Bash"), Just("Read"), Just("Edit"), Just("Odd")];
    let status = prop_oneof![Just(StepStatus::Complete), Just(StepStatus::Failed), Just(StepStatus::Pending)];
    prop_oneof![
        (tool, texts(), status, prop::collection::vec(hostile(), 0..8)).prop_map(
            |(tool, (args, result, read), status, writes)| {
                let refs = |path: String| FileRef { path, ..FileRef::default() };
                let (reads, writes) = (vec![refs(read)], writes.into_iter().map(refs).collect());
                Item::Step(Step {
                    tool: tool.into(),
                    args,
                    result: Some(result),
                    status,
                    reads,
                    writes,
                    ..Step::default()
                })
            }
        ),
        (texts(), any::<bool>()).prop_map(|((words, made, _), correction)| {
            Item::User(User { words, interpretation: Some(made), correction, ..User::default() })
        }),
        texts().prop_map(|(title, why, text)| {
            Item::Decision(Decision { callout: callout(&title), why: Some(why), text, ..Decision::default() })
        }),
        texts().prop_map(|(title, body, _)| Item::Callout(Callout { kind: "gate".into(), body, ..callout(&title) })),
        texts().prop_map(|(title, text, help)| {
            Item::Error(Error { callout: callout(&title), text, resolution: Some(help), ..Error::default() })
        }),
        texts().prop_map(|(task, summary, agent)| {
            let agent = Some(Agent { name: agent, version: None });
            Item::Subagent(Subagent { task: Some(task), summary: Some(summary), agent, ..Subagent::default() })
        }),
    ]
}

proptest! {
    #[test]
    fn whatever_is_in_a_session_is_read_back(
        title in hostile(),
        tasks in prop::collection::vec(hostile(), 0..3),
        phases in prop::collection::vec((hostile(), hostile(), prop::collection::vec(item(), 0..5), 2_u8..4), 0..5),
    ) {
        let phases = phases.into_iter().enumerate().map(|(index, (title, agent, items, level))| {
            let parent = (level == 3 && index > 0).then_some(0);
            Phase { level, parent, ..phase(&title, &agent, items) }
        });
        let mut session = session("2026-11-20-x", &title, phases.collect());
        let tasks = tasks.into_iter().map(|content| Task { content, ..Task::default() }).collect();
        session.preface.push(Item::Tasks(Tasks { tasks, ..Tasks::default() }));
        made(&session);
    }
}
