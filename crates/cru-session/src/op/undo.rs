//! The inverse of what was written, on today's text.
//!
//! A change is undone where the bytes it put there stand unedited and their place is certain; what a person wrote
//! since, around it or elsewhere, stays. Anything else is refused, with the words that are in question.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use super::change::{Change, splice};
use super::presence::{collect, joined};
use super::unit::{Unit, units};
use cru_base::text;
use cru_note::{Note, frontmatter};

/// A text shorter than this is not looked for without what stood around it.
const TELLING: usize = 12;

/// Why nothing was undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// The text is not there as it was written.
    #[error("what was written has been edited since: `{0}`")]
    Edited(String),
    /// Without it, what stands around it would become one block.
    #[error("what stands around it would become one without: `{0}`")]
    Merge(String),
    /// It stands in several places.
    #[error("what was written stands in more than one place: `{0}`")]
    Ambiguous(String),
}

/// `bytes` without `changes`, which were made one after the other. All of them or none.
pub fn undo(bytes: &[u8], changes: &[Change]) -> Result<Vec<u8>, UndoError> {
    let undone = undone(bytes, changes, &HashSet::new())?;
    let twice = twice(&undone, changes);
    if twice.is_empty() { Ok(undone) } else { self::undone(bytes, changes, &twice) }
}

/// The ids, in small letters, of blocks that the changes took out and that stand in the text more than once when all of
/// these are back.
fn twice(undone: &[u8], changes: &[Change]) -> HashSet<String> {
    if !changes.iter().any(|change| change.removed.contains(&b'^')) {
        return HashSet::new();
    }
    let mut removed = HashMap::new();
    for change in changes {
        count(&part(&change.removed), 1, &mut removed);
    }
    // What the changes themselves took out several times comes back as often.
    let mut left = removed.clone();
    count(&Note::parse(undone), -1, &mut left);
    let is_doubled = |id: &String| changes.iter().any(|change| change.doubled.contains(id));
    left.retain(|id, left| *left < 0 && removed.contains_key(id) && !is_doubled(id));
    left.into_keys().collect()
}

/// Says in the changes of one write, which made the text `after`, of which blocks that they took out another stood there.
pub fn mark_doubled(changes: &mut [&mut Change], after: &[u8]) {
    if !changes.iter().any(|change| change.removed.contains(&b'^')) {
        return;
    }
    let mut elsewhere = HashMap::new();
    count(&Note::parse(after), 1, &mut elsewhere);
    for change in changes.iter() {
        count(&part(&change.inserted), -1, &mut elsewhere);
    }
    for change in changes {
        let mut removed = HashMap::new();
        count(&part(&change.removed), 1, &mut removed);
        change.doubled = removed.into_keys().filter(|id| elsewhere.get(id).is_some_and(|left| *left > 0)).collect();
        change.doubled.sort_unstable();
    }
}

/// The note that a part of a body is: a first line of dashes is no frontmatter.
fn part(bytes: &[u8]) -> Note {
    Note::parse([b"\n", bytes].concat())
}

/// Counts the ids, in small letters, of the blocks of a note.
fn count(note: &Note, by: i64, counts: &mut HashMap<String, i64>) {
    for id in units(note, false).iter().filter_map(|unit| unit.id(note)) {
        *counts.entry(id.to_lowercase()).or_default() += by;
    }
}

/// The same; what was taken out with one of the ids in `back` does not come back.
fn undone(bytes: &[u8], changes: &[Change], back: &HashSet<String>) -> Result<Vec<u8>, UndoError> {
    let mut bytes = bytes.to_vec();
    let mut rest = changes;
    while let Some((last, before)) = rest.split_last() {
        // Texts that were put one behind the other mostly stand so still.
        let run = run(rest);
        if let Some((whole, count)) = run
            && let Ok(undone) = one(&bytes, &whole, back)
        {
            (bytes, rest) = (undone, &rest[..rest.len() - count]);
            continue;
        }
        (bytes, rest) = (one(&bytes, last, back)?, before);
    }
    Ok(bytes)
}

/// The insertions at the end of `changes` that follow one another, as one; `None` where there is but one.
fn run(changes: &[Change]) -> Option<(Change, usize)> {
    let follows = |pair: &[Change]| pair[1].removed.is_empty() && pair[1].at == pair[0].at + pair[0].inserted.len();
    let count = 1 + changes.windows(2).rev().take_while(|pair| follows(pair)).count();
    let all = &changes[changes.len() - count..];
    let mut whole = all.first().filter(|_| count > 1)?.clone();
    for change in &all[1..] {
        whole.inserted.extend_from_slice(&change.inserted);
    }
    Some((whole, count))
}

fn one(bytes: &[u8], change: &Change, back: &HashSet<String>) -> Result<Vec<u8>, UndoError> {
    let (at, certain) = find(bytes, change)?;
    let change = &without_what_is_back(bytes, at, change, back);
    let undone = take_back(bytes, at, change);
    if !certain && change.removed.is_empty() && !keeps(bytes, at..at + change.inserted.len(), &undone) {
        return Err(UndoError::Merge(shown(&change.inserted)));
    }
    Ok(undone)
}

/// The change without the blocks that it took out with one of the ids in `back`: they stand in the text again, as a person
/// or an old buffer put them there.
fn without_what_is_back<'a>(bytes: &[u8], at: usize, change: &'a Change, back: &HashSet<String>) -> Cow<'a, Change> {
    let Ok(removed) = std::str::from_utf8(&change.removed) else { return Cow::Borrowed(change) };
    // A part of a line is no block.
    let is_line = at == 0 || bytes.get(at - 1) == Some(&b'\n') || removed.starts_with(['\n', '\r']);
    let Some(start) = removed.find(|c: char| !c.is_whitespace()).filter(|_| is_line && !back.is_empty()) else {
        return Cow::Borrowed(change);
    };
    let note = part(&change.removed);
    let all = units(&note, false);
    // What was put in its place under the same id goes with the change.
    let put = part(&change.inserted);
    let mut own = HashSet::new();
    collect(&put, put.blocks(), &mut own);
    let is_back = |unit: &&Unit| {
        let id = unit.id(&note).map(str::to_lowercase);
        id.is_some_and(|id| back.contains(&id) && !own.contains(&id))
    };
    if !all.iter().any(|unit| is_back(&unit)) {
        return Cow::Borrowed(change);
    }
    let left: Vec<Unit> = all.iter().filter(|unit| !is_back(unit)).copied().collect();
    let (mut text, tail) = (joined(&note, &left), &removed[removed.trim_end().len()..]);
    if !text.is_empty() {
        text = [&removed[..start], text.trim_end(), tail].concat();
    }
    let text = if removed.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text };
    Cow::Owned(Change { removed: text.into_bytes(), ..change.clone() })
}

/// Whether every block outside `range` is one still once that is gone.
fn keeps(bytes: &[u8], range: Range<usize>, undone: &[u8]) -> bool {
    let [old, new] = [bytes, undone].map(Note::parse);
    let new_units = units(&new, true);
    let mut found = new_units.iter();
    let outside = |unit: &&Unit| unit.span.end <= range.start || unit.span.start >= range.end;
    units(&old, true).iter().filter(outside).all(|unit| found.any(|other| other.text(&new) == unit.text(&old)))
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

/// Where the inserted bytes stand now, and whether just where they were put.
fn find(bytes: &[u8], change: &Change) -> Result<(usize, bool), UndoError> {
    let Change { at, inserted, before, after, .. } = change;
    let before = standing(bytes, before);
    let whole = [before, inserted, after].concat();
    let here = at.checked_sub(before.len());
    let alone = before.is_empty() || after.is_empty();
    // At the ends of the text little or nothing stands around it, and the end itself is part of the place.
    let fits = |start: usize| {
        bytes.get(start..).is_some_and(|rest| rest.starts_with(&whole))
            && (!before.is_empty() || start == 0)
            && (!after.is_empty() || start + whole.len() == bytes.len())
    };
    if let Some(start) = here.filter(|&start| fits(start)) {
        return Ok((start + before.len(), true));
    }
    if inserted.is_empty() && alone {
        // Something was taken away at an end of the text, and the end is another one now.
        let edge = if before.is_empty() { 0 } else { bytes.len() };
        let same = if before.is_empty() { bytes.starts_with(after) } else { bytes.ends_with(before) };
        return if same { Ok((edge, false)) } else { Err(UndoError::Edited(shown(&change.removed))) };
    }
    let wanted = [
        (whole, before.len()),
        ([before, inserted].concat(), before.len()),
        ([inserted.as_slice(), after].concat(), 0),
        (inserted.clone(), 0),
    ];
    // Where a short text is found by one side, the other has to be the edge of a line: else somebody has written on there.
    let short = inserted.trim_ascii().len() < TELLING;
    let is_bounded = |index: usize, from: usize, text: &[u8]| {
        let end = from + inserted.len();
        match index {
            1 => text.ends_with(b"\n") || bytes.get(end).is_none_or(|byte| matches!(byte, b'\n' | b'\r')),
            2 => inserted.starts_with(b"\n") || from == 0 || bytes.get(from - 1) == Some(&b'\n'),
            _ => true,
        }
    };
    let head = room_for_property(bytes, change);
    for (index, (text, lead)) in wanted.iter().enumerate() {
        // A short text is known by what stood before or after it, as `  - tag` above a property that has changed since; so is
        // the place of a property that was taken out.
        let is_alone = text.len() == inserted.len() || inserted.trim_ascii().is_empty() && head == 0;
        let telling = if is_alone { inserted.trim_ascii().len() } else { text.trim_ascii().len() };
        if text.is_empty() || index > 0 && telling < TELLING {
            break;
        }
        if let Some(first) = memmem::find(bytes, text) {
            let is_below = head > 0 && first + lead > head;
            if short && !is_bounded(index, first + lead, text) || index > 0 && is_below {
                continue;
            }
            return match memmem::find(&bytes[first + 1..], text) {
                None => Ok((first + lead, false)),
                Some(_) => Err(UndoError::Ambiguous(shown(inserted))),
            };
        }
    }
    Err(UndoError::Edited(shown(if inserted.is_empty() { &change.removed } else { inserted })))
}

/// What stood before a change; without the properties where it is there no more: each write changes the revision among them.
fn standing<'a>(bytes: &[u8], before: &'a [u8]) -> &'a [u8] {
    let ends = [b"\n---\n".as_slice(), b"\n---\r\n"];
    let end = ends.into_iter().filter_map(|end| memmem::rfind(before, end)).max();
    end.filter(|_| memmem::find(bytes, before).is_none()).map_or(before, |end| &before[end..])
}

/// Where the properties of a note end that has none of the name that the change took out; 0 where it took out no property.
fn room_for_property(bytes: &[u8], change: &Change) -> usize {
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    let removed = String::from_utf8_lossy(&change.removed);
    let Some((key, _)) = removed.split_once(':').filter(|_| change.inserted.is_empty()) else { return 0 };
    let (end, name) = (frontmatter::split(text).body_start, format!("{key}:"));
    let is_name = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name && !text[..end].lines().any(|line| line.starts_with(&name)) { end } else { 0 }
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    // How much of a text a message shows (characters).
    text::truncate(&text::fold_whitespace(&text::sanitise(&text)), 60).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(before: &str, inserted: &str, removed: &str, after: &str) -> Change {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Change {
            at: before.len(),
            before: bytes(before),
            inserted: bytes(inserted),
            removed: bytes(removed),
            after: bytes(after),
            doubled: Vec::new(),
        }
    }

    #[test]
    fn a_block_that_is_back_does_not_come_twice() {
        let steps = "**Tool calls:**\n- `Read a` → ok ^n-001\n- `Read b` → ok ^n-002\n\n";
        let change = set("# T\n\n", "", steps, "End.\n");
        let undone =
            |text: &str| String::from_utf8(undo(text.as_bytes(), std::slice::from_ref(&change)).unwrap()).unwrap();
        assert_eq!(undone("# T\n\nEnd.\n"), format!("# T\n\n{steps}End.\n"));
        let other = "# T\n\nEnd.\n\n- `Read c` → ok ^n-0011\n";
        assert_eq!(undone(other), other.replacen("# T\n\n", &format!("# T\n\n{steps}"), 1));
        let back = "\n**Tool calls:**\n- `Read a` → mine ^n-001\n";
        let left = "**Tool calls:**\n- `Read b` → ok ^n-002\n\n";
        assert_eq!(undone(&format!("# T\n\nEnd.\n{back}")), format!("# T\n\n{left}End.\n{back}"));
        // A part of a line comes back whole, and what the change itself put there is no other block.
        let line = set("- `Read a` → ", "new ^n-001", "old ^n-001", "\n");
        let copied = "- `Read a` → new ^n-001\n\n- `Read a` → new ^n-001\n";
        let undo_line = undo(copied.as_bytes(), &[line]).map(String::from_utf8);
        assert_eq!(undo_line, Ok(Ok(copied.replacen("new", "old", 1))));
        let back = format!("{back}- `Read b` → ok ^n-002\n");
        assert_eq!(undone(&format!("# T\n\nEnd.\n{back}")), format!("# T\n\nEnd.\n{back}"));
    }

    #[test]
    fn a_block_of_which_a_copy_stood_there_comes_back() {
        let (own, copy) = ("- `Read a` → ok ^n-001\n", "- `Read a` → mine ^n-001\n");
        let after = format!("# T\n\n{copy}\nOther words of it.\n\nEnd.\n");
        let mut change = set(&after[..after.len() - 5], "", &format!("{own}\n"), "End.\n");
        mark_doubled(&mut [&mut change], after.as_bytes());
        let undone = undo(after.as_bytes(), std::slice::from_ref(&change)).map(String::from_utf8);
        assert_eq!(undone, Ok(Ok(after.replace("End.", &format!("{own}\nEnd.")))));
        // A copy that goes with what the change itself put there is none.
        let mut line = set("# T\n\n", copy, own, "");
        mark_doubled(&mut [&mut line], format!("# T\n\n{copy}").as_bytes());
        assert!(line.doubled.is_empty());
    }

    #[test]
    fn a_block_that_was_moved_stands_where_it_was() {
        let (one, two) = ("- `Read a` → ok ^n-001\n", "- `Read b` → ok ^n-002\n");
        let before = format!("# T\n\nFirst words of it.\n\nOther words of it.\n\n{one}{two}\nEnd.\n");
        let after = format!("# T\n\n{one}\nFirst words of it.\n\n{two}\nEnd.\n");
        let up = set("# T\n\n", &format!("{one}\n"), "", "First words of it.\n");
        let mut gone =
            set(&format!("# T\n\n{one}\nFirst words of it.\n\n"), "", &format!("Other words of it.\n\n{one}"), two);
        gone.before = gone.before.split_off(gone.at - 20);
        let all = [up, gone];
        assert_eq!(undo(after.as_bytes(), &all).map(String::from_utf8), Ok(Ok(before.clone())));
        // Another step came back there meanwhile, as somebody has it.
        let edited = after.replace("End.", &format!("End.\n\n{}", one.replace("ok", "mine")));
        let undone = String::from_utf8(undo(edited.as_bytes(), &all).unwrap()).unwrap();
        assert_eq!((undone.matches("^n-001").count(), undone.matches("mine").count()), (1, 1), "{undone}");
    }

    #[test]
    fn the_first_words_of_a_note_stand_behind_properties_that_have_changed() {
        for (line, title) in [("\n", "# T\n"), ("\r\n", "# T\n"), ("\n", "")] {
            let text = |cursor: &str, words: &str| {
                format!("---\nstatus: active\ncru_cursor: {cursor}\n---\n{title}{words}").replace('\n', line)
            };
            let words = "\nhello\n";
            let change = set(&text("\"r1 0 - -\"", ""), &words.replace('\n', line), "", "");
            let undone = |text: &str| undo(text.as_bytes(), std::slice::from_ref(&change)).map(String::from_utf8);
            assert_eq!(undone(&text("r2 0 - - f5ef2079:2", words)), Ok(Ok(text("r2 0 - - f5ef2079:2", ""))));
            assert!(matches!(undone(&text("r2 0", "\nhello to Ann\n")), Err(UndoError::Edited(_))));
        }
    }

    #[test]
    fn a_line_that_was_taken_out_comes_back_beside_one_that_has_changed() {
        let change = set("---\ntranscript: /a/b.jsonl\n", "", "cru_detail: full\n", "cru_cursor: r2 1\n---\n");
        let undone = |text: &str| undo(text.as_bytes(), std::slice::from_ref(&change)).map(String::from_utf8);
        let wanted = "---\ntranscript: /a/b.jsonl\ncru_detail: full\ncru_cursor: r3 1\n---\n";
        assert_eq!(undone("---\ntranscript: /a/b.jsonl\ncru_cursor: r3 1\n---\n"), Ok(Ok(wanted.to_owned())));
        // There is one again; and a line of the text is no property.
        for other in [wanted.replace("full", "brief"), "A.\n\ntranscript: /a/b.jsonl\ncru_cursor: r3 1\n".to_owned()] {
            assert!(matches!(undone(&other), Err(UndoError::Edited(_))), "{other}");
        }
    }

    #[test]
    fn words_written_below_a_block_stay_below_it() {
        let change = set("- `Read a` → ok ^n-001\n", "", "- `Read b` → ok ^n-002\n", "- `Read c` → ok ^n-003\n");
        let text = "- `Read a` → ok ^n-001\n  my words on a\n- `Read c` → ok ^n-003\n";
        assert!(matches!(undo(text.as_bytes(), &[change]), Err(UndoError::Edited(_))));
        let twice = "- `Read a` → ok ^n-001\n- `Read a` → ok ^n-001\n\n";
        let change = set("# T\n\n", "", twice, "End.\n");
        let undone = undo(b"# T\n\nEnd.\n", &[change]).map(String::from_utf8);
        assert_eq!(undone, Ok(Ok(format!("# T\n\n{twice}End.\n"))));
    }

    #[test]
    fn a_short_value_goes_only_where_nobody_wrote_on() {
        let change = set("a\nstatus: ", "paused", "active", "\ntitle: x\n");
        let undone = |text: &str| undo(text.as_bytes(), std::slice::from_ref(&change)).map(String::from_utf8);
        assert_eq!(undone("a\nstatus: paused\ntitle: x\n"), Ok(Ok("a\nstatus: active\ntitle: x\n".to_owned())));
        assert_eq!(undone("a\nstatus: paused\ntitle: y\n"), Ok(Ok("a\nstatus: active\ntitle: y\n".to_owned())));
        for edited in ["a\nstatus: paused, waiting for Ann\ntitle: y\n", "a\nstate: not paused\ntitle: x\n"] {
            assert!(matches!(undone(edited), Err(UndoError::Edited(_))), "{edited}");
        }
    }
}
