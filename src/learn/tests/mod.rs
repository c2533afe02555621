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
    Note { path: "sessions/2026-11-20-refresh-tokens.md", text: "", session, calls: None }
}

fn cases(session: &Session) -> Harvest {
    harvest(&[note(session)], &Kind::ALL, &Family::default())
}

fn text(export: &Whole, name: &str) -> String {
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

const OPTIONS: export::Options<'static> = export::Options {
    train: 1.0,
    ..export::Options::new(export::Layouts {
        name: "templates/case.md",
        case: TEMPLATE,
        prompt: "You are a coding agent.",
    })
};

/// All cases are kept to evaluate with.
const ASKED: export::Options<'static> = export::Options { train: 0.0, ..OPTIONS };

#[test]
fn what_is_found() {
    let session = tokens();
    let harvest = cases(&session);
    let lines = |case: &Case| format!("{} | {} | {} | {:?}", case.id, case.title, case.evidence(), case.gap());
    assert_snapshot!(harvest.cases.iter().map(lines).collect::<Vec<_>>().join("\n"));
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
    let export = export::folder(&harvest.cases, Format::Jsonl, OPTIONS).expect("rows");
    let names: Vec<(&str, usize)> = export.files.iter().map(|file| (file.name.as_str(), file.rows)).collect();
    assert_eq!(
        names,
        [("README.md", 0), ("completion/train.jsonl", 4), ("kto/train.jsonl", 7), ("preference/train.jsonl", 2),]
    );
    let first = text(&export, "completion/train.jsonl").lines().next().unwrap_or_default().to_owned();
    assert_snapshot!(pretty(&first));
    let pair = text(&export, "preference/train.jsonl").lines().next_back().unwrap_or_default().to_owned();
    assert_snapshot!(pretty(&without_metadata(&pair)));
    let card = text(&export, "README.md");
    // The features are those of the rows, which loaders check.
    let card: Vec<&str> = card.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_snapshot!(card.join("\n"));
    let left_out: Vec<(&str, Reason)> = export.left_out.iter().map(|it| (it.title.as_str(), it.reason)).collect();
    assert_eq!(left_out, [("Advisory for an old crate", Reason::Unresolved), ("no, leave it", Reason::Unanswered)]);
}

#[test]
fn samples_for_evaluation() {
    let harvest = harvest(&[note(&tokens())], &[Kind::Puzzle], &Family::default());
    let export = export::stream(&harvest.cases, Format::Puzzle, ASKED).expect("samples");
    let rows = text(&export, "puzzles.jsonl");
    assert_eq!(rows.lines().count(), 2);
    assert_snapshot!(pretty(rows.lines().next().unwrap_or_default()));
}

#[test]
fn notes_to_read() {
    let harvest = cases(&tokens());
    let export = export::folder(&harvest.cases[..1], Format::Markdown, OPTIONS).expect("a note");
    let name = export.files[0].name.clone();
    assert_snapshot!(name);
    assert_snapshot!(text(&export, &name));
    let export = export::stream(&harvest.cases[3..4], Format::Markdown, OPTIONS).expect("a document");
    assert_snapshot!(text(&export, "cases.md"));
}

#[test]
fn a_vault_may_have_its_own_layout() {
    let harvest = cases(&tokens());
    let export = export::stream(
        &harvest.cases[..1],
        Format::Markdown,
        export::Options::new(export::Layouts { name: "mine", case: "{{ kind }}: {{ title }}", prompt: "" }),
    )
    .expect("one");
    assert_eq!(text(&export, "cases.md"), "puzzle: Flaky clock in the token test\n");
}
