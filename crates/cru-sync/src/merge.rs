//! A copy of a note that a sync service or a person made, brought into the note.

use jiff::Timestamp;

use crate::ids::Ids;
use cru_base::{Error, Result, files};
use cru_note::Note;
use cru_session::cursor::Cursor;
use cru_session::source::Consumed;
use cru_session::{delta, read};
use cru_vault::state::key;
use cru_vault::writer::Plan;
use cru_vault::{Head, State, Vault, VaultPath, Writer};

/// The folder that a merged copy is moved to: Obsidian's own, which no command reads.
const TRASH: &str = ".trash";

/// What a merge did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The note before.
    pub before: String,
    /// The note after.
    pub after: String,
    /// Whether three versions were compared, and not two.
    pub has_base: bool,
    /// Lines of the copy that are not in the note; the moved copy has them.
    pub missing: Vec<String>,
    /// Where the copy is now; `None` when nothing was written.
    pub moved: Option<VaultPath>,
}

/// Brings `copy` into the note of `head` and moves it to the trash of the vault. With `dry`, only looks.
///
/// Errors: a file that cannot be read or written. The copy stays until the note is written and its own bytes stand in the
/// trash.
pub fn merge(vault: &Vault, state: &State, now: Timestamp, head: &Head, copy: &VaultPath, dry: bool) -> Result<Merged> {
    let session = key(&head.id());
    let writer = Writer::new(vault, state, now);
    let bytes = vault.read(copy)?.into_owned();
    let other = Note::parse(bytes.clone());
    // What cannot be written into the note is text of the copy.
    let of_copy = |error: Error| match error.to_string().strip_prefix(&format!("{}: ", head.path)) {
        Some(trouble) => Error::usage(format!("{copy} cannot be merged: {trouble}"))
            .with_hint("correct the copy and run `cru admin merge` again; neither file was changed"),
        None => error,
    };
    let mut found: Option<(String, Option<String>)> = None;
    let mut plan = |note: &Note, known: &cru_vault::writer::Known| -> Result<Plan> {
        let base = base_of(known.base.as_deref(), note, &other);
        let ops = delta::union(base.as_ref(), note, &other);
        found = Some((note.text().to_owned(), base.map(|base| base.text().to_owned())));
        let cursor = further(note, &other);
        // What was generated last is of fewer records than the note has now: it is made again at the next import.
        let base = cursor.as_ref().and(known.base.as_ref()).map(|_| String::new());
        Ok(Plan { ops, cursor, base, is_of_copy: true, label: "merge".to_owned(), ..Plan::default() })
    };
    let after = if dry {
        let own = vault.read(&head.path)?;
        writer.preview(&session, &own, &mut plan).map_err(of_copy)?
    } else {
        writer.write(&session, &head.path, &mut plan).map_err(of_copy)?;
        vault.read(&head.path)?.into_owned()
    };
    let (before, base) = found.unwrap_or_default();
    let result = Note::parse(after);
    let base = base.map(Note::parse);
    let missing = delta::missing_lines(base.as_ref(), &result, &other);
    let moved = if dry { None } else { Some(move_aside(vault, copy, &bytes)?) };
    Ok(Merged { before, after: result.text().to_owned(), has_base: base.is_some(), missing, moved })
}

/// How far the copy has come, where it holds more records of the transcript than the note.
fn further(note: &Note, copy: &Note) -> Option<Consumed> {
    let (note, copy) = (cursor(note)?, cursor(copy)?);
    let is_further = copy.records > note.records && !copy.is_hooked() && !note.is_hooked();
    is_further.then(|| Consumed { records: copy.records, last: copy.last_id(), hash: copy.hash, ..Consumed::default() })
}

fn cursor(note: &Note) -> Option<Cursor> {
    read::meta(note.text()).0.cursor.as_deref().and_then(Cursor::parse)
}

/// What was generated last, where both sides hold the same records of the transcript: then all that differs from it is
/// what people changed.
fn base_of(base: Option<&str>, note: &Note, copy: &Note) -> Option<Note> {
    let (one, other) = (cursor(note)?, cursor(copy)?);
    let base = base.filter(|_| one.same_records(&other))?;
    Some(Note::parse(Ids::unpack(base).1)).filter(|base| !base.text().is_empty())
}

/// Moves the copy, whose bytes were merged, to the trash under a name that is free.
fn move_aside(vault: &Vault, copy: &VaultPath, bytes: &[u8]) -> Result<VaultPath> {
    let stem = copy.stem();
    for number in 1..10_000_u32 {
        let name = if number == 1 { format!("{stem}.md") } else { format!("{stem} {number}.md") };
        let Some(target) = VaultPath::new(format!("{TRASH}/{name}")) else { break };
        if !files::create(&vault.file(&target), bytes)? {
            continue;
        }
        return match files::remove_unchanged(&vault.file(copy), bytes) {
            Ok(()) => Ok(target),
            Err(Error::Changed { .. }) => Err(Error::no(format!("{copy} was changed meanwhile; it stays where it is"))
                .with_hint("run `cru admin merge` again")),
            Err(error) => Err(error),
        };
    }
    Err(Error::no(format!("no name for {copy} is free in {TRASH}/; it stays where it is")))
}
