//! The inverse of what was written, on today's text.
//!
//! A change is undone where the bytes it put there stand unedited and their place is certain; what a person wrote
//! since, around it or elsewhere, stays. Anything else is refused, with the words that are in question.

use memchr::memmem;

use super::change::{Change, splice};
use crate::base::text;

/// A text shorter than this is not looked for without what stood around it.
const TELLING: usize = 12;
/// How much of a text a message shows (characters).
const SHOWN: usize = 60;

/// Why nothing was undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// The text is not there as it was written.
    #[error("what was written has been edited since: `{0}`")]
    Edited(String),
    /// It stands in several places.
    #[error("what was written stands in more than one place: `{0}`")]
    Ambiguous(String),
}

/// `bytes` without `changes`, which were made one after the other. All of them or none.
pub fn undo(bytes: &[u8], changes: &[Change]) -> Result<Vec<u8>, UndoError> {
    let mut bytes = bytes.to_vec();
    for change in changes.iter().rev() {
        let at = find(&bytes, change)?;
        bytes = take_back(&bytes, at, change);
    }
    Ok(bytes)
}

fn take_back(bytes: &[u8], at: usize, change: &Change) -> Vec<u8> {
    let end = at + change.inserted.len();
    // A text that was put behind a last line without end gave that line its end; what came later needs it.
    let unended = change.removed.is_empty() && !change.before.is_empty() && !change.before.ends_with(b"\n");
    let lead = change.inserted.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let only_end = change.inserted[..lead].iter().all(|byte| matches!(byte, b'\r' | b'\n'));
    let kept = if unended && change.after.is_empty() && end < bytes.len() && only_end { lead } else { 0 };
    splice(bytes, at + kept, change.inserted.len() - kept, &change.removed)
}

/// Where the inserted bytes stand now.
fn find(bytes: &[u8], change: &Change) -> Result<usize, UndoError> {
    let Change { at, inserted, before, after, .. } = change;
    let whole = [before.as_slice(), inserted, after].concat();
    let here = at.checked_sub(before.len());
    let alone = before.is_empty() || after.is_empty();
    // At the ends of the text little or nothing stands around it, and the end itself is part of the place.
    let fits = |start: usize| {
        bytes.get(start..).is_some_and(|rest| rest.starts_with(&whole))
            && (!before.is_empty() || start == 0)
            && (!after.is_empty() || start + whole.len() == bytes.len())
    };
    if let Some(start) = here.filter(|&start| fits(start)) {
        return Ok(start + before.len());
    }
    if inserted.is_empty() && alone {
        // Something was taken away at an end of the text, and the end is another one now.
        let edge = if before.is_empty() { 0 } else { bytes.len() };
        let same = if before.is_empty() { bytes.starts_with(after) } else { bytes.ends_with(before) };
        return if same { Ok(edge) } else { Err(UndoError::Edited(shown(&change.removed))) };
    }
    let wanted = [
        (whole, before.len()),
        ([before.as_slice(), inserted].concat(), before.len()),
        ([inserted.as_slice(), after].concat(), 0),
        (inserted.clone(), 0),
    ];
    for (index, (text, lead)) in wanted.iter().enumerate() {
        let blank = inserted.trim_ascii().len() < TELLING;
        if text.is_empty() || index > 0 && blank {
            break;
        }
        if let Some(first) = memmem::find(bytes, text) {
            return match memmem::find(&bytes[first + 1..], text) {
                None => Ok(first + lead),
                Some(_) => Err(UndoError::Ambiguous(shown(inserted))),
            };
        }
    }
    Err(UndoError::Edited(shown(if inserted.is_empty() { &change.removed } else { inserted })))
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text::truncate(&text::fold_whitespace(&text::sanitise(&text)), SHOWN).into_owned()
}
