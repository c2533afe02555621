//! The form of notes: no byte is lost by reading, and a note is what it was rendered from.

use std::fs;
use std::path::{Path, PathBuf};

use cru::base::{Severity, files};
use cru::note::edit::set_key;
use cru::note::frontmatter::Value;
use cru::note::{Note, Patch};
use cru::session::{read, render};

use crate::transcript_set::{TranscriptSet, on_both_sets};

use super::world::{below, world};

/// The frontmatter and the blocks, which must follow each other without gap or overlap.
fn joined(note: &Note) -> Vec<u8> {
    let bounds = note.frontmatter().into_iter().flat_map(|bounds| [bounds.open, bounds.yaml, bounds.close]);
    let spans: Vec<_> = bounds.chain(note.blocks().iter().map(|block| block.span)).collect();
    let mut at = spans.first().map_or(0, |span| span.start);
    let mut bytes = note.bytes()[..at].to_vec();
    // Before the first span only a byte order mark may stand.
    assert!(bytes.is_empty() || bytes == "\u{feff}".as_bytes());
    for span in spans {
        assert_eq!(span.start, at);
        bytes.extend_from_slice(&note.bytes()[span.range()]);
        at = span.end;
    }
    bytes
}

fn keeps_every_byte(path: &Path, bytes: &[u8]) {
    let note = Note::parse(bytes);
    assert!(note.bytes() == bytes, "{}", path.display());
    assert!(joined(&note) == bytes, "{}", path.display());
    assert!(Patch::default().apply(bytes) == bytes, "{}", path.display());
}

fn notes_keep_every_byte(set: &TranscriptSet) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("vault-example");
    let mut folders: Vec<PathBuf> = vec![example];
    folders.push(set.folder("specstory"));
    for path in folders.iter().flat_map(|folder| below(folder)) {
        keeps_every_byte(&path, &fs::read(&path).unwrap());
    }
    let world = world(set);
    for (path, bytes) in &world.files {
        keeps_every_byte(Path::new(path), bytes);
    }
}

fn an_empty_change_writes_nothing(set: &TranscriptSet) {
    let world = world(set);
    let vault = world.on_disk();
    for written in &world.notes {
        let path = vault.path().join(&written.path);
        let before = fs::metadata(&path).unwrap();
        let bytes = written.note.bytes();
        let status = written.session.meta.status.as_ref().map(|status| status.as_str().to_owned()).unwrap();
        let same = set_key(written.note.text(), "status", &Value::String(status)).unwrap();
        assert!(same.is_empty(), "{}", written.path);
        files::replace(&path, bytes, &same.apply(bytes)).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(before.modified().unwrap(), after.modified().unwrap());
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::MetadataExt::ino(&before), std::os::unix::fs::MetadataExt::ino(&after));
    }
}

fn notes_are_read_without_errors_and_rendered_to_themselves(set: &TranscriptSet) {
    let world = world(set);
    let mut wrong = Vec::new();
    for written in &world.notes {
        let (session, diagnostics) = read::session(&written.note);
        let all = written.note.diagnostics().iter().chain(&diagnostics);
        for found in all.filter(|found| found.severity == Severity::Error) {
            wrong.push(format!("{}: {} {}", written.path, found.code, found.message));
        }
        let again = render::note(&session);
        let pair = written.note.text().lines().zip(again.lines()).enumerate().find(|(_, (one, other))| one != other);
        if again != written.note.text() {
            wrong.push(format!("{}: rendered otherwise: {pair:?}", written.path));
        }
    }
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

on_both_sets!(
    notes_keep_every_byte,
    an_empty_change_writes_nothing,
    notes_are_read_without_errors_and_rendered_to_themselves,
);
