//! Reads any bytes as a note and checks what must hold for each: nothing is lost, every range fits.
//!
//! `cargo +nightly fuzz run note`

#![cfg_attr(fuzzing, no_main)]

use cru::base::Span;
use cru::note::{Block, Note};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let note = Note::parse(bytes);
    assert_eq!(note.bytes(), bytes);
    assert_eq!(note.text().len(), bytes.len());
    let mut joined = note.split().body_start;
    for block in note.blocks() {
        assert_eq!(block.span.start, joined);
        assert!(!block.span.is_empty());
        joined = block.span.end;
        check(&note, block);
    }
    assert_eq!(joined, bytes.len());
    for inline in note.inlines() {
        assert!(note.text().get(inline.span.range()).is_some());
    }
});

/// The tree is at most 66 levels deep, so this ends.
fn check(note: &Note, block: &Block) {
    assert!(block.span.encloses(block.content), "{block:?}");
    assert!(note.text().get(block.content.range()).is_some(), "{block:?}");
    let unquoted = note.unquoted(block);
    for (at, line) in unquoted.lines() {
        assert_eq!(note.text().get(at..at + line.len()), Some(line));
    }
    let mut end = block.span.start;
    for child in &block.children {
        assert!(Span::new(end, block.span.end).encloses(child.span), "{child:?}");
        end = child.span.end;
        check(note, child);
    }
}
