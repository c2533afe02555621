//! Any query: read it is a tree whose parts stand in the text, or an error with its place; words can be marked in it.

#![cfg_attr(fuzzing, no_main)]

use cru::index::Query;
use cru::index::search::Marker;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (text, note) = input;
    let now = "2026-11-20T09:31:10+00:00[UTC]".parse().expect("a time");
    match Query::parse(text, &now) {
        Ok(query) => {
            for part in query.parts() {
                assert!(!query.of(part).is_empty());
            }
            for line in note.lines().chain([text]) {
                let mut end = 0;
                for span in Marker::new(&query).marks(line).spans {
                    assert!(span.start >= end && !span.of(line).is_empty());
                    end = span.end;
                }
            }
        }
        Err(error) => {
            assert!(text.get(error.span.range()).is_some());
            assert!(!error.frame(text).contains('\u{1b}'));
        }
    }
});
