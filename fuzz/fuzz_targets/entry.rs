//! Any line as an event that is logged: what is read is written as it was read, and goes into a note that can be read.

#![cfg_attr(fuzzing, no_main)]

use cru::live::entry::Entry;
use cru::live::log::{Defaults, Page};
use cru::note::Note;
use cru::session::op::{Mode, apply};
use cru::session::read;
use cru::session::seal::Seals;
use libfuzzer_sys::fuzz_target;

const NOTE: &str = "---\ntype: session\nsession_id: s\nstatus: active\n---\n# S\n";

fuzz_target!(|input: (Vec<(u8, &str)>, &str)| {
    let (lines, rest) = input;
    let entries: Vec<Entry> = lines.iter().take(8).filter_map(|(kind, text)| entry(*kind, text, rest)).collect();
    for entry in &entries {
        let line = serde_json::to_string(entry).expect("JSON");
        assert_eq!(Entry::parse(&line).as_ref(), Ok(entry), "{line}");
        let _ = (entry.names(), entry.points(), entry.change());
    }
    let defaults = Defaults::default();
    let mut page = Page::of(&Note::parse(NOTE), Seals::default, &defaults, std::iter::empty());
    for (index, entry) in entries.iter().enumerate() {
        let at = "2026-11-20T09:31:10Z".parse().expect("a time");
        page.entry(&index.to_string(), at, entry);
    }
    let (ops, _) = page.finish();
    let applied = apply(NOTE.as_bytes(), &ops, Mode::First).unwrap_or_else(|error| panic!("{error:?} of {ops:#?}"));
    let note = Note::parse(applied.bytes);
    let (session, _) = read::session(&note);
    let steps = entries.iter().filter(|entry| matches!(entry, Entry::Tool(_))).count();
    assert_eq!(session.steps().count(), steps, "{}", note.text());
});

/// Most are to be nearly right.
fn entry(kind: u8, text: &str, rest: &str) -> Option<Entry> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let name = Entry::KINDS[usize::from(kind) % Entry::KINDS.len()];
    let field = ["title", "tool", "words", "text", "content", "agent", "model", "status"][usize::from(kind >> 5)];
    let line = match kind % 3 {
        0 => text.to_owned(),
        1 => format!("{{\"event\":{},{text}}}", quoted(name)),
        _ => format!("{{\"event\":{},\"{field}\":{},\"text\":{}}}", quoted(name), quoted(text), quoted(rest)),
    };
    let line = if kind.is_multiple_of(7) {
        format!(
            "{{\"event\":\"tool\",\"tool\":{},\"args\":{},\"result\":{}}}",
            quoted(text),
            quoted(rest),
            quoted(text)
        )
    } else {
        line
    };
    Entry::parse(&line).ok()
}
