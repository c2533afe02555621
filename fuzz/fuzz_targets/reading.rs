//! Any answer of a reader: read and checked without a panic; what is taken reads back the same, and a note of it too.

#![cfg_attr(fuzzing, no_main)]

use cru::readings::{Checked, Record, answer, check, note};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = note::read("readings/a@1.md", text);
    let Ok(read) = answer::read(text) else { return };
    assert_eq!(answer::read(&read.to_json()).as_ref(), Ok(&read));
    let mut record = Record::default();
    record.session.clone_from(&read.session);
    record.note.clone_from(&read.note);
    let checked = check(&read, &record);
    assert!(checked.kept <= checked.claims);
    let whole = Checked { answer: read, ..Checked::default() };
    let written = note::render(&note::ReadingHead::default(), text, &whole);
    assert_eq!(note::read("readings/a@1.md", &written).and_then(|it| it.answer), Some(whole.answer));
});
