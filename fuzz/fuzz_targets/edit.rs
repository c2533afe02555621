//! Whatever is added to whatever note, the blocks that stood there stand as they did.

#![cfg_attr(fuzzing, no_main)]

use cru::note::edit::{
    Fill, Join, Missing, Target, add_id, append, append_phase, append_to_preface, insert_after, renew_region,
};
use cru::note::{Block, BlockKind, Note, Patch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &str, u16, u8)| {
    let (bytes, text, place, how) = input;
    let note = Note::parse(bytes);
    let target = Target::At(usize::from(place));
    let join = if how & 8 == 0 { Join::Never } else { Join::List };
    let result = match how % 7 {
        0 => append(&note, target, text, join),
        1 => append_to_preface(&note, text, join),
        2 => append_phase(&note, text),
        3 => insert_after(&note, target, text),
        4 => renew_region(&note, &Fill::new("r", text, Missing::Append(None)), &|_| None).map(|it| it.patch),
        5 => append(&note, Target::Id("a"), text, join),
        _ => match note.blocks().get(usize::from(place % 8)) {
            Some(block) => add_id(&note, block, "new-1"),
            None => return,
        },
    };
    let Ok(patch) = result else { return };
    let new = Note::parse(patch.apply(note.bytes()));
    assert_eq!(new.split().bom, note.split().bom);
    assert_eq!(new.frontmatter().map(|it| it.yaml), note.frontmatter().map(|it| it.yaml));
    let replaced = match patch.edits() {
        [first, .., last] => cru::base::Span::new(first.span.start, last.span.end),
        [only] => only.span,
        [] => cru::base::Span::default(),
    };
    for block in note.blocks() {
        let changed = matches!(block.kind, BlockKind::Blank)
            || how % 7 == 4 && replaced.encloses(block.content)
            || how % 7 == 6 && block.span.contains(replaced.start.saturating_sub(1))
            || join == Join::List && matches!(block.kind, BlockKind::List { .. });
        assert!(changed || stands(&note, block, &new, &patch), "{block:?}\nin {:?}\nof {:?}", new.text(), note.text());
    }
});

fn stands(note: &Note, block: &Block, new: &Note, patch: &Patch) -> bool {
    let before = patch.edits().iter().filter(|edit| edit.span.start <= block.content.start);
    let moved = before.fold(block.content.start, |at, edit| at + edit.text.len() - edit.span.len());
    new.blocks().iter().any(|it| {
        it.content.start == moved
            && it.content.of(new.text()) == block.content.of(note.text())
            && std::mem::discriminant(&it.kind) == std::mem::discriminant(&block.kind)
            && new.id(it) == note.id(block)
    })
}
