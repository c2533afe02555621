//! What a note keeps to itself, and what a case says of its place.

use cru::learn::{Family, Format, Kind, Note, TEMPLATE, Whole, export, extract};
use cru::session::read;

const NOTE: &str = r#"---
type: session
session_id: tabs
title: Tabs %%private title%%
status: completed
---
# Tabs

## Build %%private heading%% @coder@1.0 #dev

> [!user]
> "Indent the %%private words%% file"

%%private
> [!error] A whole private block
> Resolution: private
%%

**Tool calls:**
- `Bash echo %% a %% b` → done %%private result%% ^n-001
- `Bash make` → ✗ error: %%private result%% missing separator (exit 2) ^n-002
- `Edit Makefile` → +1 −1 ^n-003
- `Bash make` → built (exit 0) ^n-004

It was the %%private inline
over lines%% separator.

> [!error] Missing %%private title%% separator
> Spaces where a tab %%private body%% belongs.
> Step: [[#^n-002]]
> Resolution: `\t` there %%private resolution%%, see [[#^n-003]]

> [!user] Correction
> "no %%private no%% spaces" - used %%private interpretation%% tabs

Tabs now.
"#;

fn exported(format: Format) -> Whole {
    let note = cru::note::Note::parse(NOTE);
    let (session, _) = read::session(&note);
    let note = Note { path: "sessions/tabs.md", text: note.text(), session: &session, calls: None };
    let found = extract(&[note], &Kind::IN_SESSIONS, &Family::default());
    assert_eq!(found.cases.len(), 2, "{found:?}");
    let layouts = export::Layouts { name: "case.md", case: TEMPLATE, prompt: "Be brief." };
    export::stream(
        &found.cases,
        format,
        export::Options { train: 0.0, proposed: true, ..export::Options::new(layouts) },
    )
    .expect("a layout of ours renders")
}

#[test]
fn private_comments_never_leave() {
    for format in Format::ALL {
        for file in exported(format).files {
            let text = String::from_utf8(file.bytes).unwrap();
            assert!(!text.contains("private"), "{text}");
            assert!(text.contains("echo %% a %% b"), "marks in code are no comment: {text}");
        }
    }
}

#[test]
fn a_case_names_its_place() {
    let file = exported(Format::Jsonl).files.remove(0);
    let rows = String::from_utf8(file.bytes).unwrap();
    let rows: Vec<serde_json::Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let places: Vec<_> = rows.iter().map(|row| row["metadata"]["source"].to_string()).collect();
    let place = |start: usize, end: usize| {
        format!(r#"{{"path":"sessions/tabs.md","line_start":{start},"line_end":{end},"block_id":""}}"#)
    };
    assert_eq!(places, [place(28, 31), place(33, 34)]);
    assert_eq!(
        rows[0]["completion"][0]["content"],
        "`\\t` there , see `Edit Makefile`\n\n- `Edit Makefile`\n- `Bash make`"
    );
}
