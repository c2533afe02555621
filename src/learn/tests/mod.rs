//! Handmade sessions through harvest and every export.

mod property;

use insta::assert_snapshot;

use super::*;
use crate::session::{Agent, Callout, Error, Item, Link, Meta, Phase, Prose, Session, Status, Step, StepStatus, User};

fn step(id: &str, line: &str, result: &str) -> Item {
    let (tool, args) = line.split_once(' ').unwrap_or((line, ""));
    let failed = result.strip_prefix("✗ ");
    Item::Step(Step {
        id: (!id.is_empty()).then(|| id.to_owned()),
        tool: tool.into(),
        args: args.into(),
        result: Some(failed.unwrap_or(result).to_owned()),
        status: if failed.is_some() { StepStatus::Failed } else { StepStatus::Complete },
        exit: failed.map(|_| 101),
        ..Step::default()
    })
}

fn user(title: &str, words: &str, interpretation: Option<&str>) -> Item {
    Item::User(User {
        callout: Callout { kind: "user".into(), title: title.into(), ..Callout::default() },
        words: words.into(),
        interpretation: interpretation.map(str::to_owned),
        correction: title == "Correction",
    })
}

fn prose(text: &str) -> Item {
    Item::Prose(Prose { text: text.into(), ..Prose::default() })
}

fn error(title: &str, text: &str, step: Option<&str>, resolution: Option<(&str, &[&str])>) -> Item {
    Item::Error(Error {
        callout: Callout { kind: "error".into(), title: title.into(), id: Some("e-01".into()), ..Callout::default() },
        text: text.into(),
        resolution: resolution.map(|(text, _)| text.to_owned()),
        resolved_by: resolution.map(|(_, ids)| ids.iter().map(|id| Link::to_block(*id)).collect()).unwrap_or_default(),
        steps: step.map(Link::to_block).into_iter().collect(),
    })
}

fn phase(id: &str, title: &str, items: Vec<Item>) -> Phase {
    Phase {
        id: id.into(),
        title: title.into(),
        level: 2,
        agent: Some(Agent::parse("coder@2.0")),
        channel: Some("dev".into()),
        items,
        ..Phase::default()
    }
}

/// A session with a puzzle told by a callout, one told by steps alone, and two corrections.
fn tokens() -> Session {
    Session {
        meta: Meta {
            session_id: Some("2026-11-20-refresh-tokens".into()),
            title: Some("Refresh tokens".into()),
            status: Some(Status::Completed),
            model: Some("claude-opus-4-5".into()),
            host: Some("claude-code".into()),
            tags: vec!["auth".into(), "jwt".into()],
            ..Meta::default()
        },
        phases: vec![
            phase(
                "p-01",
                "Build",
                vec![
                    user("", "Add refresh tokens to the login.", None),
                    prose("I read the code first."),
                    step("n-001", "Read src/auth.rs", "412 lines"),
                    step("n-002", "Bash cargo test -p auth", "✗ 2 of 41 failed"),
                    error(
                        "Flaky clock in the token test",
                        "Expiry was compared with the wall clock.",
                        Some("n-002"),
                        Some(("inject a clock, as `FixedClock`; see [[#^n-003]].", &["n-003"])),
                    ),
                    step("n-003", "Edit src/clock.rs", "+12 −3"),
                    step("n-004", "Bash cargo test -p auth", "41 passed"),
                    step("n-005", "Bash npm run lint", "✗ error: 'token' is never read"),
                    step("n-006", "Edit web/login.ts", "+0 −1"),
                    step("n-007", "Bash npm run lint", "no output"),
                    step("n-008", "Write web/store.ts", "created, 30 lines"),
                    prose("The tokens are in `localStorage` now."),
                    user("", "don't store them in localStorage", Some("switched to httpOnly cookies.")),
                    step("n-009", "Edit web/store.ts", "+8 −20"),
                    step("n-010", "Bash git push --force", "✗ denied by user"),
                    user("Correction", "never force-push: make a new commit", None),
                    prose("I make a new commit."),
                    step("n-011", "Bash git commit -m fix", "1 file changed"),
                ],
            ),
            phase(
                "p-02",
                "Review",
                vec![
                    step("n-012", "Bash cargo deny check", "✗ error: 1 advisory found"),
                    error("Advisory for an old crate", "", Some("n-012"), None),
                    user("", "no, leave it", None),
                ],
            ),
        ],
        ..Session::default()
    }
}

fn note(session: &Session) -> Note<'_> {
    Note { path: "sessions/2026-11-20-refresh-tokens.md", text: "", session }
}

fn cases(session: &Session) -> Harvest {
    harvest(&[note(session)], &Kind::ALL, &Family::default())
}

fn text(export: &Export, name: &str) -> String {
    let file = export.files.iter().find(|file| file.name == name).expect("the export has the file");
    String::from_utf8(file.bytes.clone()).expect("exports are UTF-8")
}

fn pretty(jsonl: &str) -> String {
    let rows = jsonl.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a row is JSON"));
    rows.map(|row| serde_json::to_string_pretty(&row).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn without_metadata(row: &str) -> String {
    let mut row: serde_json::Value = serde_json::from_str(row).expect("a row is JSON");
    row.as_object_mut().and_then(|row| row.remove("metadata"));
    row.to_string()
}

const LAYOUT: export::Layouts<'static> =
    export::Layouts { name: "templates/case.md", case: TEMPLATE, prompt: super::chat::SYSTEM };

#[test]
fn what_is_found() {
    let session = tokens();
    let harvest = cases(&session);
    let lines = |case: &Case| format!("{} | {} | {} | {:?}", case.id, case.title, case.evidence(), case.gap());
    assert_snapshot!(harvest.cases.iter().map(lines).collect::<Vec<_>>().join("\n"), @"
    puzzle-df20fe0d3aa550e0 | Flaky clock in the token test | later success | None
    puzzle-e78d17e9f590b4d9 | npm run lint: error: 'token' is never read | later success | None
    puzzle-1aa61cc8b7f843ce | Advisory for an old crate |  | Some(Unresolved)
    correction-c08f562df165d920 | don't store them in localStorage | response | None
    correction-fa67b8129d7262e8 | never force-push: make a new commit | response | None
    correction-ff47c64e2fcb6dae | no, leave it |  | Some(Unanswered)
    ");
    assert!(harvest.left_out.is_empty());
}

#[test]
fn sessions_kept_from_training() {
    let mut session = tokens();
    session.meta.export = Some(false);
    let harvest = cases(&session);
    assert_eq!((harvest.cases.len(), harvest.left_out[0].reason), (0, Reason::ExportFalse));
    session.meta.export = None;
    session.meta.tags.push("no-train".into());
    assert_eq!(cases(&session).left_out[0].reason, Reason::NoTrain);
}

#[test]
fn ids_stay_when_the_note_is_edited_elsewhere() {
    let mut session = tokens();
    let before: Vec<(String, String)> = cases(&session).cases.into_iter().map(|c| (c.id, c.content_hash)).collect();
    session.phases[0].items.insert(1, prose("A line more."));
    let after: Vec<(String, String)> = cases(&session).cases.into_iter().map(|c| (c.id, c.content_hash)).collect();
    assert!(before.iter().zip(&after).all(|(before, after)| before.0 == after.0));
    assert_ne!(before, after);
}

#[test]
fn rows_for_tuning() {
    let harvest = cases(&tokens());
    let export = export::folder(&harvest.cases, Format::Jsonl, LAYOUT).expect("rows");
    let names: Vec<(&str, usize)> = export.files.iter().map(|file| (file.name.as_str(), file.rows)).collect();
    assert_eq!(names, [("README.md", 0), ("preference.jsonl", 2), ("sft.jsonl", 4)]);
    let first = text(&export, "sft.jsonl").lines().next().unwrap_or_default().to_owned();
    assert_snapshot!(pretty(&first), @r#"
    {
      "prompt": [
        {
          "role": "system",
          "content": "You are a coding agent. Your tool calls are written as lines of text: the tool with its arguments, then `→` and the beginning of the result; `✗` marks a failure."
        },
        {
          "role": "user",
          "content": "Add refresh tokens to the login."
        },
        {
          "role": "assistant",
          "content": "I read the code first.\n\n- `Read src/auth.rs` → 412 lines\n- `Bash cargo test -p auth`"
        },
        {
          "role": "user",
          "content": "✗ 2 of 41 failed (exit 101)\n\nFlaky clock in the token test\n\nExpiry was compared with the wall clock."
        }
      ],
      "completion": [
        {
          "role": "assistant",
          "content": "inject a clock, as `FixedClock`; see `Edit src/clock.rs`.\n\n- `Edit src/clock.rs` → +12 −3\n- `Bash cargo test -p auth` → 41 passed"
        }
      ],
      "metadata": {
        "id": "puzzle-df20fe0d3aa550e0",
        "case_type": "puzzle",
        "title": "Flaky clock in the token test",
        "session_id": "2026-11-20-refresh-tokens",
        "root_session_id": "2026-11-20-refresh-tokens",
        "source": {
          "path": "sessions/2026-11-20-refresh-tokens.md",
          "line_start": 1,
          "line_end": 1,
          "block_id": "e-01"
        },
        "agent": "coder@2.0",
        "model": "claude-opus-4-5",
        "host": "claude-code",
        "channel": "dev",
        "phase": "Build",
        "tags": "auth jwt",
        "outcome": "completed",
        "evidence": "later success",
        "verified": true,
        "rule": "",
        "complete": true,
        "corrected_again": false,
        "tool_fidelity": "summary",
        "content_hash": "c85dbe528ab1abde",
        "exporter": "cru 0.1.0"
      }
    }
    "#);
    let pair = text(&export, "preference.jsonl").lines().next_back().unwrap_or_default().to_owned();
    assert_snapshot!(pretty(&without_metadata(&pair)), @r#"
    {
      "prompt": [
        {
          "role": "system",
          "content": "You are a coding agent. Your tool calls are written as lines of text: the tool with its arguments, then `→` and the beginning of the result; `✗` marks a failure."
        },
        {
          "role": "user",
          "content": "Add refresh tokens to the login."
        },
        {
          "role": "assistant",
          "content": "I read the code first.\n\n- `Read src/auth.rs` → 412 lines\n- `Bash cargo test -p auth` → ✗ 2 of 41 failed (exit 101)\n\nError: Flaky clock in the token test\nExpiry was compared with the wall clock.\nResolution: inject a clock, as `FixedClock`; see `Edit src/clock.rs`.\n\n- `Edit src/clock.rs` → +12 −3\n- `Bash cargo test -p auth` → 41 passed\n- `Bash npm run lint` → ✗ error: 'token' is never read (exit 101)\n- `Edit web/login.ts` → +0 −1\n- `Bash npm run lint` → no output\n- `Write web/store.ts` → created, 30 lines\n\nThe tokens are in `localStorage` now."
        },
        {
          "role": "user",
          "content": "don't store them in localStorage\n\nDone so far:\n\n- `Edit web/store.ts` → +8 −20"
        }
      ],
      "chosen": [
        {
          "role": "assistant",
          "content": "I make a new commit.\n\n- `Bash git commit -m fix` → 1 file changed"
        }
      ],
      "rejected": [
        {
          "role": "assistant",
          "content": "- `Bash git push --force`"
        }
      ]
    }
    "#);
    let card = text(&export, "README.md");
    // The features are those of the rows, which loaders check.
    let card: Vec<&str> = card.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_snapshot!(card.join("\n"), @r#"
    ---
    pretty_name: Cases from agent sessions
    configs:
    - config_name: sft
      default: true
      data_files:
      - split: train
    - config_name: preference
      data_files:
      - split: train
    dataset_info:
    - config_name: sft
      features:
      - name: prompt
      - name: completion
      - name: metadata
    - config_name: preference
      features:
      - name: prompt
      - name: chosen
      - name: rejected
      - name: metadata
    ---

    # Cases from agent sessions

    <!-- Written by `cru session learn`: the next export into this folder replaces it. -->

    | configuration | file | rows | for |
    | --- | --- | ---: | --- |
    | `sft` | `sft.jsonl` | 4 | supervised tuning: `prompt`, `completion` |
    | `preference` | `preference.jsonl` | 2 | preference tuning: `prompt`, `chosen`, `rejected` |

    ```python
    from datasets import load_dataset
    rows = load_dataset("path/to/this/folder", "sft", split="train")
    ```

    Every answer stands in a session's record: what solved a failure, or what the agent did after a person corrected it. None
    is made up. Only `completion` is meant to be trained on; a prompt that was too long has lost its middle, an answer is
    whole, so train with a `max_length` that holds the longest row.

    Tool calls are lines of text, `` `tool arguments` → result ``, since that is what a session note holds
    (`metadata.tool_fidelity: summary`). Filter by `metadata`:

    | key | meaning |
    | --- | --- |
    | `case_type` | `puzzle` (something failed) or `correction` (a person set the agent right) |
    | `evidence`, `verified` | how the answer is known; whether a later success of what had failed stands in the record |
    | `rule` | why it counts as a correction: its `words`, a call `denied` or the agent `interrupted` right before, or only that it is `titled` so |
    | `complete` | whether the answer is all that was done: long work after a correction is told by its beginning |
    | `corrected_again` | whether the person had to correct the answer too |
    | `session_id`, `root_session_id` | split by the root, so that a session and its sub-agents stay together |
    | `source` | file, lines and block of the note that says it |
    | `content_hash` | changes with any text of the case |

    ## Left out

    - 1: no resolution and no later success
    - 1: nothing written after the correction
    "#);
    let left_out: Vec<(&str, Reason)> = export.left_out.iter().map(|it| (it.title.as_str(), it.reason)).collect();
    assert_eq!(left_out, [("Advisory for an old crate", Reason::Unresolved), ("no, leave it", Reason::Unanswered)]);
}

#[test]
fn samples_for_evaluation() {
    let harvest = harvest(&[note(&tokens())], &[Kind::Puzzle], &Family::default());
    let export = export::stream(&harvest.cases, Format::Puzzle, LAYOUT).expect("samples");
    let rows = text(&export, "puzzles.jsonl");
    assert_eq!(rows.lines().count(), 2);
    assert_snapshot!(pretty(rows.lines().next().unwrap_or_default()), @r#"
    {
      "id": "puzzle-df20fe0d3aa550e0",
      "input": [
        {
          "role": "system",
          "content": "You are a coding agent. Your tool calls are written as lines of text: the tool with its arguments, then `→` and the beginning of the result; `✗` marks a failure."
        },
        {
          "role": "user",
          "content": "Add refresh tokens to the login."
        },
        {
          "role": "assistant",
          "content": "I read the code first.\n\n- `Read src/auth.rs` → 412 lines\n- `Bash cargo test -p auth`"
        },
        {
          "role": "user",
          "content": "✗ 2 of 41 failed (exit 101)\n\nFlaky clock in the token test\n\nExpiry was compared with the wall clock.\n\nWhat do you do next?"
        }
      ],
      "target": "inject a clock, as `FixedClock`; see `Edit src/clock.rs`.\n\n- `Edit src/clock.rs` → +12 −3\n- `Bash cargo test -p auth` → 41 passed",
      "metadata": {
        "failure": "`Bash cargo test -p auth` → ✗ 2 of 41 failed (exit 101)\n\nFlaky clock in the token test\n\nExpiry was compared with the wall clock.",
        "must_include": [
          "FixedClock"
        ],
        "must_not_include": [],
        "id": "puzzle-df20fe0d3aa550e0",
        "case_type": "puzzle",
        "title": "Flaky clock in the token test",
        "session_id": "2026-11-20-refresh-tokens",
        "root_session_id": "2026-11-20-refresh-tokens",
        "source": {
          "path": "sessions/2026-11-20-refresh-tokens.md",
          "line_start": 1,
          "line_end": 1,
          "block_id": "e-01"
        },
        "agent": "coder@2.0",
        "model": "claude-opus-4-5",
        "host": "claude-code",
        "channel": "dev",
        "phase": "Build",
        "tags": "auth jwt",
        "outcome": "completed",
        "evidence": "later success",
        "verified": true,
        "rule": "",
        "complete": true,
        "corrected_again": false,
        "tool_fidelity": "summary",
        "content_hash": "c85dbe528ab1abde",
        "exporter": "cru 0.1.0"
      }
    }
    "#);
}

#[test]
fn notes_to_read() {
    let harvest = cases(&tokens());
    let export = export::folder(&harvest.cases[..1], Format::Markdown, LAYOUT).expect("a note");
    let name = export.files[0].name.clone();
    assert_snapshot!(name, @"puzzle-flaky-clock-in-the-token-test-df20fe0d.md");
    assert_snapshot!(text(&export, &name), @r#"
    ---
    type: case
    case_id: puzzle-df20fe0d3aa550e0
    case_type: puzzle
    session: "[[2026-11-20-refresh-tokens]]"
    agent: coder@2.0
    model: claude-opus-4-5
    channel: dev
    evidence: later success
    verified: true
    tags:
      - auth
      - jwt
    ---
    # Flaky clock in the token test

    Puzzle from [[2026-11-20-refresh-tokens#^e-01|Refresh tokens]], phase “Build”, coder@2.0.

    ## Context

    > [!user]
    > Add refresh tokens to the login.

    > I read the code first.

    - `Read src/auth.rs` → 412 lines [[2026-11-20-refresh-tokens#^n-001]]

    ## Failure

    - `Bash cargo test -p auth` → ✗ 2 of 41 failed (exit 101) [[2026-11-20-refresh-tokens#^n-002]]

    > [!error] Flaky clock in the token test
    > Expiry was compared with the wall clock.

    ## Expected behaviour

    > inject a clock, as `FixedClock`; see `Edit src/clock.rs`.

    - `Edit src/clock.rs` → +12 −3 [[2026-11-20-refresh-tokens#^n-003]]
    - `Bash cargo test -p auth` → 41 passed [[2026-11-20-refresh-tokens#^n-004]]
    "#);
    let export = export::stream(&harvest.cases[3..4], Format::Markdown, LAYOUT).expect("a document");
    assert_snapshot!(text(&export, "cases.md"), @"
    # don't store them in localStorage

    Correction from [[2026-11-20-refresh-tokens|Refresh tokens]], phase “Build”, coder@2.0.

    ## Context

    > [!user]
    > Add refresh tokens to the login.

    > I read the code first.

    - `Read src/auth.rs` → 412 lines [[2026-11-20-refresh-tokens#^n-001]]
    - `Bash cargo test -p auth` → ✗ 2 of 41 failed (exit 101) [[2026-11-20-refresh-tokens#^n-002]]

    ## What the agent did

    > Error: Flaky clock in the token test
    > Expiry was compared with the wall clock.
    > Resolution: inject a clock, as `FixedClock`; see `Edit src/clock.rs`.

    - `Edit src/clock.rs` → +12 −3 [[2026-11-20-refresh-tokens#^n-003]]
    - `Bash cargo test -p auth` → 41 passed [[2026-11-20-refresh-tokens#^n-004]]
    - `Bash npm run lint` → ✗ error: 'token' is never read (exit 101) [[2026-11-20-refresh-tokens#^n-005]]
    - `Edit web/login.ts` → +0 −1 [[2026-11-20-refresh-tokens#^n-006]]
    - `Bash npm run lint` → no output [[2026-11-20-refresh-tokens#^n-007]]
    - `Write web/store.ts` → created, 30 lines [[2026-11-20-refresh-tokens#^n-008]]

    > The tokens are in `localStorage` now.

    ## Correction

    > [!user] Correction
    > don't store them in localStorage

    ## What it did then

    > switched to httpOnly cookies.

    - `Edit web/store.ts` → +8 −20 [[2026-11-20-refresh-tokens#^n-009]]
    ");
}

#[test]
fn a_vault_may_have_its_own_layout() {
    let harvest = cases(&tokens());
    let export = export::stream(
        &harvest.cases[..1],
        Format::Markdown,
        export::Layouts { name: "mine", case: "{{ kind }}: {{ title }}", prompt: "" },
    )
    .expect("one");
    assert_eq!(text(&export, "cases.md"), "puzzle: Flaky clock in the token test\n");
}
