//! Notes of readings: they read back, hold nothing unescaped, and know a person's changes.

use cru_note::{BlockKind, Note};
use proptest::prelude::*;

use super::{ReadingHead, ReviewStatus, path_of, read, render, version_of};
use crate::answer::{Answer, Claim, Proof, ReadLesson, Summary};
use crate::check::Checked;

fn head() -> ReadingHead {
    ReadingHead {
        session: "2026-11-20-pump".into(),
        note: "b3:1".into(),
        through: "p-02".into(),
        before: "b3:0".into(),
        reader: "sh -c cat".into(),
        prompt: "b3:2".into(),
        key: "b3:3".into(),
        judge: None,
        claims: (2, 3),
        read: None,
        reason: "initial".to_owned(),
        tokens: Some(1200),
        status: ReviewStatus::Proposed,
    }
}

fn checked(text: &str, quote: &str) -> Checked {
    let proof = vec![Proof::Said { said: "u-01".into(), quote: quote.to_owned() }];
    let claim = Claim { text: text.to_owned(), proof: proof.clone() };
    let summary = Summary { goal: Some(claim.clone()), open: vec![claim], ..Summary::default() };
    let lesson = ReadLesson {
        text: text.to_owned(),
        level: crate::answer::LessonLevel::Project,
        place: Some("src/**".into()),
        confidence: crate::answer::Confidence::Low,
        proof,
        against: Vec::new(),
    };
    let answer = Answer {
        reading: 1,
        session: "s".into(),
        note: "b3:1".into(),
        summary,
        lessons: vec![lesson],
        ..Answer::default()
    };
    Checked { answer, findings: Vec::new(), claims: 3, kept: 3 }
}

#[test]
fn a_note_for_people() {
    let text = render(&head(), "Mend the pump", &checked("Mend the pump.", "Mend the pump in src/pump.rs"));
    let body = text.split("\n## Data").next().unwrap();
    let hash = body.split("rendered: ").nth(1).unwrap().split('\n').next().unwrap();
    let body = body.replace(hash, "HASH");
    insta::assert_snapshot!(body, @r#"
    ---
    type: reading
    title: "Reading: Mend the pump"
    session: "[[2026-11-20-pump]]"
    status: proposed
    claims: 2/3
    reader: sh -c cat
    tokens: 1200
    reason: initial
    schema: 1
    note: b3:1
    through: p-02
    before: b3:0
    prompt: b3:2
    key: b3:3
    rendered: HASH
    ---
    # Reading: Mend the pump

    ## Goal

    - Mend the pump.
        - [[2026-11-20-pump#^u-01|u-01]] person: “Mend the pump in src/pump.rs”

    ## Open

    - Mend the pump.
        - [[2026-11-20-pump#^u-01|u-01]] person: “Mend the pump in src/pump.rs”

    ## Lessons

    - Mend the pump. (project · low · `src/**`)
        - [[2026-11-20-pump#^u-01|u-01]] person: “Mend the pump in src/pump.rs”
    "#);
    let note = read("readings/a.md", &text).unwrap();
    assert_eq!((note.head, note.changed, note.error), (head(), false, None));
    let accepted = read("readings/a.md", &text.replace("status: proposed", "status: accepted")).unwrap();
    assert_eq!((accepted.head.status, accepted.changed), (ReviewStatus::Accepted, false), "a decision is no edit");
    assert!(read("a.md", &text.replace("pump.\n", "pumps.\n")).unwrap().changed);
    assert!(!read("a.md", &text.replace('\n', "\r\n")).unwrap().changed, "a tool may change line ends");
    assert_eq!(read("a.md", "---\ntype: session\n---\n"), None);
    assert!(read("a.md", "---\ntype: reading\n---\n").unwrap().error.unwrap().contains("fence"));
}

#[test]
fn versions_stand_in_names() {
    assert_eq!((path_of("s", 1), path_of("s", 3)), ("readings/s@1.md".to_owned(), "readings/s@3.md".to_owned()));
    assert_eq!((version_of("readings/s.md"), version_of("readings/s@3.md")), (1, 3));
}

proptest! {
    #[test]
    fn no_text_opens_anything(text in cru_testing::nasty(), quote in cru_testing::nasty()) {
        let (text, quote) = (text.trim(), quote.trim());
        prop_assume!(!text.is_empty() && !quote.is_empty() && text.chars().count() <= 300 && quote.chars().count() <= 1_000);
        let written = render(&head(), text, &checked(text, quote));
        let read_back = read("readings/a.md", &written).unwrap();
        prop_assert!(!read_back.changed);
        prop_assert_eq!(&read_back.head.session, "2026-11-20-pump");
        prop_assert!(read_back.answer.is_some(), "{:?}", read_back.error);
        let note = Note::parse(written.as_str());
        let headings = note.blocks().iter().filter(|block| matches!(block.kind, BlockKind::Heading { .. })).count();
        prop_assert_eq!(headings, 5, "{}", written);
        let others = note.blocks().iter().any(|block| matches!(block.kind, BlockKind::Callout { .. } | BlockKind::Comment { .. }));
        prop_assert!(!others, "{}", written);
    }
}

#[test]
fn a_version_says_why_it_was_made() {
    let of = |note: &str, prompt: &str, status: ReviewStatus, changed: bool| super::ReadingNote {
        path: "readings/a@1.md".to_owned(),
        head: ReadingHead { note: note.to_owned(), prompt: prompt.to_owned(), status, ..head() },
        odd_status: None,
        changed,
        answer: None,
        error: None,
        text: String::new(),
    };
    let new = ReadingHead { note: "n".to_owned(), prompt: "p".to_owned(), ..head() };
    let why = |before: Option<super::ReadingNote>| new.reason(before.as_ref());
    let proven = ReviewStatus::Proven;
    assert_eq!(why(None), "initial");
    assert_eq!(why(Some(of("other", "p", proven, true))), "session_changed");
    assert_eq!(why(Some(of("n", "p", proven, true))), "user_feedback");
    assert_eq!(why(Some(of("n", "p", ReviewStatus::Rejected, false))), "user_feedback");
    assert_eq!(why(Some(of("n", "other", proven, false))), "prompt_update");
    assert_eq!(why(Some(of("n", "p", proven, false))), "again");
}
