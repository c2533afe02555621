use std::mem::discriminant;

use proptest::prelude::*;

use crate::edit::{EditError, Join, Target, add_id, append, append_phase, append_to_preface, insert_after};
use crate::{Block, BlockKind, Note, Patch};
use cru_base::Span;

const NOTE: &str = "---
type: session
---
# Title

Preface.

## One @a #dev

*2026-11-20T09:31:10Z* ^p-01

**Tool calls:**
- `Read a` → ok ^n-001
    - reads: `a@9f2c11ab`
- `Bash b` → ok ^n-002

### Part

Text ^t-1


## Two

> [!decision] D
> why

^d-1

Last";

fn done(note: &str, patch: Result<Patch, EditError>) -> String {
    patch.unwrap().apply_to(note)
}

fn note(text: &str) -> Note {
    Note::parse(text)
}

#[test]
fn appends_to_a_phase() {
    let new = done(NOTE, append(&note(NOTE), Target::Id("p-01"), "> [!error] E\n> x\n\n^e-1\n", Join::Never));
    assert_eq!(new, NOTE.replace("^n-002\n", "^n-002\n\n> [!error] E\n> x\n\n^e-1\n"));
    let new = done(NOTE, append(&note(NOTE), Target::Id("t-1"), "More", Join::Never));
    assert_eq!(new, NOTE.replace("^t-1\n", "^t-1\n\nMore\n"));
    let new = done(NOTE, append(&note(NOTE), Target::Id("d-1"), "End", Join::Never));
    assert_eq!(new, NOTE.replace("Last", "Last\n\nEnd\n"));
    let new = done(NOTE, append_to_preface(&note(NOTE), "Second.", Join::Never));
    assert_eq!(new, NOTE.replace("Preface.\n", "Preface.\n\nSecond.\n"));
    let new = done("# T\n## A\n", append_to_preface(&note("# T\n## A\n"), "Second.", Join::Never));
    assert_eq!(new, "# T\n\nSecond.\n\n## A\n");
    let missing = append(&note(NOTE), Target::Id("none"), "x", Join::Never);
    assert_eq!(missing, Err(EditError::NoBlock("^none".to_owned())));
}

#[test]
fn items_join_the_list_before_them() {
    let item = "- `Read c` → ok ^n-003\n    - reads: `c`";
    let new = done(NOTE, append(&note(NOTE), Target::Id("p-01"), item, Join::List));
    assert_eq!(new, NOTE.replace("^n-002\n", &format!("^n-002\n{item}\n")));
    let new = done(NOTE, append(&note(NOTE), Target::Id("d-1"), item, Join::List));
    assert_eq!(new, format!("{NOTE}\n\n{item}\n"), "no list stands before");
    let new = done("- a", append(&note("- a"), Target::At(0), "- b\n- c\n", Join::List));
    assert_eq!(new, "- a\n- b\n- c\n");
    let listed = "- a\n\n^l-1\n\nx\n";
    assert_eq!(done(listed, append(&note(listed), Target::At(0), "y", Join::List)), format!("{listed}\ny\n"));
    let last = "- a\n\n^l-1\n";
    assert_eq!(done(last, append(&note(last), Target::At(0), "- b", Join::List)), "- a\n- b\n\n^l-1\n");
}

#[test]
fn lists_that_must_not_join_are_kept_apart() {
    let new = done("- step\n", append(&note("- step\n"), Target::At(0), "- prose", Join::Never));
    assert_eq!(new, "- step\n\n<!-- -->\n\n- prose\n");
    let text = "A\n\n- step\n";
    assert_eq!(done(text, insert_after(&note(text), Target::At(0), "- prose")), "A\n\n- prose\n\n<!-- -->\n\n- step\n");
}

#[test]
fn a_phase_goes_to_the_end() {
    let phase = "## Three\n\n*t* ^p-03\n";
    assert_eq!(done(NOTE, append_phase(&note(NOTE), phase)), format!("{NOTE}\n\n{phase}"));
    for (text, new) in [
        ("", "## Three\n\n*t* ^p-03\n"),
        ("\n\n", "## Three\n\n*t* ^p-03\n\n\n"),
        ("\u{feff}", "\u{feff}## Three\n\n*t* ^p-03\n"),
        ("---\na: 1\n---", "---\na: 1\n---\n## Three\n\n*t* ^p-03\n"),
        ("a\r\n", "a\r\n\r\n## Three\r\n\r\n*t* ^p-03\r\n"),
        ("a\n\n\n", "a\n\n## Three\n\n*t* ^p-03\n\n\n"),
        ("> quote", "> quote\n\n## Three\n\n*t* ^p-03\n"),
        ("%% hidden %%", "%% hidden %%\n\n## Three\n\n*t* ^p-03\n"),
    ] {
        assert_eq!(done(text, append_phase(&note(text), phase)), new, "{text:?}");
    }
}

#[test]
fn a_block_without_end_swallows_nothing() {
    for open in ["```rs\nfn x", "%% hidden\n", "<!-- hidden\n", "<script>\nx"] {
        let text = format!("## A\n\ntext\n\n{open}");
        let new = done(&text, append(&note(&text), Target::At(0), "more", Join::Never));
        assert_eq!(new, format!("## A\n\ntext\n\nmore\n\n{open}"));
        assert_eq!(append_phase(&note(&text), "## B"), Err(EditError::Merge), "{open}");
        let alone = open.to_owned();
        assert_eq!(append(&note(&alone), Target::At(0), "more", Join::Never), Err(EditError::Merge), "{open}");
        let closed = "## A\n\ntext\n";
        assert_eq!(append(&note(closed), Target::At(0), open, Join::Never), Err(EditError::Open), "{open}");
    }
    assert_eq!(append(&note("x"), Target::At(0), " \n", Join::Never), Err(EditError::Blank));
}

#[test]
fn inserts_after_a_block_and_its_id() {
    let error = "> [!error] E";
    let new = done(NOTE, insert_after(&note(NOTE), Target::Id("d-1"), error));
    assert_eq!(new, NOTE.replace("^d-1\n", "^d-1\n\n> [!error] E\n"));
    let new = done(NOTE, insert_after(&note(NOTE), Target::Id("n-001"), error));
    assert_eq!(new, NOTE.replace("^n-002\n", "^n-002\n\n> [!error] E\n"));
    let tight = "# T\ntext\n- a\n```\nx\n```\n";
    let at = |needle: &str| Target::At(tight.find(needle).unwrap());
    assert_eq!(
        done(tight, insert_after(&note(tight), at("# T"), error)),
        tight.replace("# T\n", "# T\n\n> [!error] E\n\n")
    );
    assert_eq!(
        done(tight, insert_after(&note(tight), at("text"), error)),
        tight.replace("text\n", "text\n\n> [!error] E\n\n")
    );
    assert_eq!(
        done(tight, insert_after(&note(tight), at("- a"), error)),
        tight.replace("- a\n", "- a\n\n> [!error] E\n\n")
    );
}

#[test]
fn gives_ids() {
    let text = "# H #\n\nText  \n\n- [ ] item\n    - nested\n      lazy\n\n> [!x] c\n> y\n\n| a |\n|---|\n\n```\nx\n```\nS\n===\n\n> q";
    let parsed = note(text);
    let at = |needle: &str| {
        let offset = text.find(needle).unwrap();
        let mut found: Vec<&Block> = parsed.blocks().iter().collect();
        let mut at = 0;
        while at < found.len() {
            let block = found[at];
            found.extend(&block.children);
            at += 1;
        }
        // The innermost that may have an id: items before their paragraphs.
        let may = |it: &&Block| match it.kind {
            BlockKind::List { .. } => false,
            BlockKind::Paragraph => it.span.start == offset,
            _ => it.span.contains(offset),
        };
        found.into_iter().filter(may).min_by_key(|it| it.span.len()).unwrap()
    };
    for (needle, old, new) in [
        ("# H", "# H #\n", "# H ^id #\n"),
        ("Text", "Text  \n", "Text ^id  \n"),
        ("- [ ]", "- [ ] item\n", "- [ ] item ^id\n"),
        ("- nested", "nested\n", "nested ^id\n"),
        ("> [!x]", "> y\n", "> y\n\n^id\n"),
        ("| a", "|---|\n", "|---|\n\n^id\n"),
        ("```", "x\n```\n", "x\n```\n\n^id\n\n"),
        ("S\n", "S\n===", "S ^id\n==="),
        ("> q", "> q", "> q\n\n^id\n"),
    ] {
        assert_eq!(done(text, add_id(&parsed, at(needle), "id")), text.replace(old, new), "{needle}");
    }
    let list = note("- a\n- b\n\nx");
    assert_eq!(done("- a\n- b\n\nx", add_id(&list, &list.blocks()[0], "l-1")), "- a\n- b\n\n^l-1\n\nx");
    let owned = note("a ^b\n\nc\n\n---\n");
    assert_eq!(add_id(&owned, &owned.blocks()[0], "b"), Ok(Patch::default()));
    assert_eq!(add_id(&owned, &owned.blocks()[0], "d"), Err(EditError::HasId("b".to_owned())));
    assert_eq!(add_id(&owned, &owned.blocks()[1], "b"), Err(EditError::IdTaken("b".to_owned())));
    assert_eq!(add_id(&owned, &owned.blocks()[1], "b_c"), Err(EditError::BadId("b_c".to_owned())));
    assert_eq!(add_id(&owned, &owned.blocks()[2], "d"), Err(EditError::NoPlace));
}

#[test]
fn bytes_that_are_no_text_stay() {
    let bytes = b"## A\n\n\xff\xfe\n\n## B\n".to_vec();
    let note = Note::parse(bytes.clone());
    let new = append(&note, Target::At(0), "more", Join::Never).unwrap().apply(&bytes);
    assert_eq!(new, b"## A\n\n\xff\xfe\n\nmore\n\n## B\n");
}

/// Blocks as people write them, each closed.
const BLOCKS: &[&str] = &[
    "text",
    "two\nlines  ",
    "text ^id",
    "# Title",
    "## Phase @a #b",
    "### Part ^h",
    "#### deep",
    "Setext\n---",
    "- a\n- b",
    "- a\n\n  b\n- c ^n-1",
    "* star",
    "1. one\n2. two",
    "- `x` → y ^n-2\n    - reads: `a`\n\n      ```\n      x\n      ```",
    "> quote\nlazy",
    "> [!error]- E\n> ```\n> x",
    "> [!decision] D\n> why\n\n^d-1",
    "```rs\nfn x() {}\n\n```",
    "~~~~\n```\n~~~~",
    "    code\n\n    more",
    "| a |\n|---|\n| b |",
    "<!-- comment -->",
    "<div>\n\nx\n\n</div>",
    "---",
    "***",
    "%% hidden\n# not\n%%",
    "%%private%%",
    "[^1]: note\n    more",
    "[a]: http://x",
    "^orphan",
    "\\# text",
];

/// What a note may end in that swallows all that follows.
const OPEN: &[&str] =
    &["```\nx", "%%\nx", "<!-- x", "> x", "- x\n  ```\n  y", "<pre>\nx", "    code", "| a |\n|---|", "[^2]: x"];

fn any_note() -> impl Strategy<Value = String> {
    let gap = prop::sample::select(vec!["\n\n", "\n\n", "\n\n\n", "\n", "\n \n"]);
    let block = prop::sample::select(BLOCKS);
    (
        prop::sample::select(vec!["", "", "\u{feff}", "---\na: 1\n---\n", "---\n---", "\n"]),
        prop::collection::vec((block, gap), 0..8),
        prop::option::weighted(0.3, prop::sample::select(OPEN)),
        prop::sample::select(vec!["", "\n", "\n\n"]),
        any::<bool>(),
    )
        .prop_map(|(head, blocks, open, end, crlf)| {
            let mut text = head.to_owned();
            for (block, gap) in &blocks {
                if text == "---\n---" {
                    text.push('\n');
                }
                text.push_str(block);
                text.push_str(gap);
            }
            if let Some(open) = open {
                text.push_str(open);
            } else {
                text.truncate(text.trim_end_matches(['\n', ' ']).len());
            }
            text.push_str(end);
            if crlf { text.replace('\n', "\r\n") } else { text }
        })
}

/// The old blocks stand in the new note with their bytes and ids, moved by what was inserted before them; except
/// `touched`.
fn old_blocks_stay(old: &Note, new: &Note, patch: &Patch, touched: Option<usize>) -> Result<(), TestCaseError> {
    let moved = |at: usize, is_start: bool| {
        let before = patch.edits().iter().filter(|it| it.span.start < at || is_start && it.span.start == at);
        at + before.map(|it| it.text.len()).sum::<usize>()
    };
    prop_assert!(patch.edits().iter().all(|it| it.span.is_empty()), "only insertions");
    for (index, block) in old.blocks().iter().enumerate() {
        if Some(index) == touched || matches!(block.kind, BlockKind::Blank) {
            continue;
        }
        let span = Span::new(moved(block.content.start, true), moved(block.content.end, false));
        let found = new.blocks().iter().find(|it| it.content == span);
        let Some(found) = found else {
            return Err(TestCaseError::fail(format!("{block:?} is gone from {:?}", new.text())));
        };
        prop_assert_eq!(discriminant(&found.kind), discriminant(&block.kind));
        prop_assert_eq!(new.id(found), old.id(block));
        prop_assert_eq!(found.content.of(new.text()), block.content.of(old.text()));
    }
    Ok(())
}

/// Whether the last block of the note has no end.
fn ends_open(note: &Note) -> bool {
    let fence = |block: &Block| matches!(block.kind, BlockKind::Fence { closed: false, .. });
    let text = note.text().replace("\r\n", "\n");
    note.blocks().last().is_some_and(fence) || OPEN.iter().any(|it| text.trim_end().ends_with(it))
}

fn line_ends_agree(note: &Note, text: &str) -> bool {
    !note.text().contains("\r\n") || !text.replace("\r\n", "").contains('\n')
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_added_changes_nothing_else(text in any_note(), added in prop::sample::select(BLOCKS), place in 0usize..400, join in any::<bool>(), how in 0..4) {
        let note = Note::parse(text.as_str());
        let target = Target::At(place.min(text.len()));
        let join = if join { Join::List } else { Join::Never };
        let result = match how {
            0 => append(&note, target, added, join),
            1 => append_to_preface(&note, added, join),
            2 => append_phase(&note, added),
            _ => insert_after(&note, target, added),
        };
        match result {
            Ok(patch) => {
                let new = Note::parse(patch.apply(note.bytes()));
                crate::tests::check(&new).map_err(TestCaseError::fail)?;
                prop_assert!(line_ends_agree(&note, new.text()), "{:?}", new.text());
                prop_assert_eq!(new.frontmatter().map(|it| it.yaml), note.frontmatter().map(|it| it.yaml));
                let grown = (0..note.blocks().len()).find(|&at| {
                    let old = &note.blocks()[at];
                    join == Join::List && how < 2 && matches!(old.kind, BlockKind::List { .. })
                        && new.blocks().len() == note.blocks().len()
                        && new.blocks()[at].children.len() > old.children.len()
                });
                old_blocks_stay(&note, &new, &patch, grown)?;
                // The text is there, whole, as the blocks that it is by itself.
                let crlf = note.text().contains("\r\n");
                let wanted = if crlf { added.replace('\n', "\r\n") } else { added.to_owned() };
                let wanted = wanted.trim_end();
                prop_assert!(patch.edits()[0].text.contains(wanted));
                if grown.is_none() {
                    let alone = Note::parse(format!("\n{wanted}\n"));
                    for block in alone.blocks() {
                        let there = new.blocks().iter().any(|it| {
                            discriminant(&it.kind) == discriminant(&block.kind)
                                && it.content.of(new.text()) == block.content.of(alone.text())
                                && new.id(it) == alone.id(block)
                        });
                        prop_assert!(there, "{block:?} is not in {:?}", new.text());
                    }
                }
            }
            Err(EditError::NoBlock(_)) => prop_assert!(note.blocks().is_empty() || place < note.split().body_start),
            Err(EditError::Merge) => {
                // Only an orphan id, which goes to whatever stands before it, or a place behind an open block.
                let open = ends_open(&note);
                // Or a rule that would close one at the start of the note to a frontmatter.
                let rules = note.frontmatter().is_none() && text.trim_start_matches('\u{feff}').starts_with("---");
                prop_assert!(open || rules || added == "^orphan" || text.contains("^orphan"), "{text:?} {added:?}");
            }
            Err(error) => prop_assert!(false, "{error}: {text:?}"),
        }
    }

    #[test]
    fn an_id_changes_nothing_else(text in any_note(), which in 0usize..8) {
        let note = Note::parse(text.as_str());
        let Some(block) = note.blocks().get(which) else { return Ok(()) };
        match add_id(&note, block, "new-1") {
            Ok(patch) => {
                let new = Note::parse(patch.apply(note.bytes()));
                crate::tests::check(&new).map_err(TestCaseError::fail)?;
                prop_assert_eq!(new.id(&new.blocks()[which]), Some("new-1"));
                old_blocks_stay(&note, &new, &patch, Some(which))?;
                prop_assert!(line_ends_agree(&note, new.text()));
            }
            Err(EditError::HasId(_) | EditError::NoPlace) => {}
            Err(error) => {
                let open = ends_open(&note);
                prop_assert!(open || text.contains("^orphan"), "{error}: {text:?} {which}");
            }
        }
    }
}
