//! The lines that reads and edits show.

use serde_json::Value;

use super::brief;
use crate::call::touched;
use cru_action::patch::{Hunk, PatchLine};
use cru_session::LineAnchor;

/// The lines of a file that were read. The host splits it at `\n`, so a last `\n` is there where the end is reached.
pub(super) fn read(input: &Value, output: &str) -> Option<LineAnchor> {
    let first = input.get("offset").and_then(Value::as_u64).unwrap_or(1).max(1);
    let (text, more) = brief::without_note(output);
    // A note that stands alone says why nothing is shown.
    let is_note = text.starts_with('[') && text.trim_end().ends_with(']') && text.lines().count() == 1;
    touched::split_lines(first, text, more.is_none()).filter(|_| !is_note)
}

/// The hunks of the diff that the host shows: each line behind its sign and its number, those that are left out as
/// `...`. Kept and removed lines have their number before, those that come the one after.
pub(super) fn changed(diff: &str) -> Vec<Hunk<'_>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let (mut open, mut old, mut new) = (false, 0_u64, 0_u64);
    for line in diff.lines() {
        let (sign, rest) = match line.as_bytes().first() {
            Some(b'+' | b'-' | b' ') => line.split_at(1),
            _ => continue,
        };
        let Some((number, text)) = touched::number_of(rest, &[" ", ""]) else {
            open = false;
            continue;
        };
        if !open {
            hunks.push(Hunk::default());
            (open, old, new) = (true, 0, 0);
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        if sign == "+" {
            hunk.new_start = hunk.new_start.or_else(|| number.checked_sub(new));
        } else {
            hunk.old_start = hunk.old_start.or_else(|| number.checked_sub(old));
        }
        old += u64::from(sign != "+");
        new += u64::from(sign != "-");
        hunk.lines.push(match sign {
            "+" => PatchLine::Added(text),
            "-" => PatchLine::Removed(text),
            _ => PatchLine::Kept(text),
        });
    }
    hunks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_read() {
        let of = |input: Value, output: &str| read(&input, output).map(|it| it.place());
        assert_eq!(of(json!({}), "a\nb\n").as_deref(), Some("1-2"));
        let note = "a\n\n\n[7 more lines in file. Use offset=7 to continue.]";
        assert_eq!(of(json!({"offset": 5}), note).as_deref(), Some("5-6"));
        assert_eq!(of(json!({}), "a\n\n[not a note]").as_deref(), Some("1-3"));
        assert_eq!(of(json!({}), "[Line 1 is 60KB, exceeds 50KB limit.]"), None);
    }

    #[test]
    fn what_was_changed() {
        let diff = "    ...\n 21 a\n 22 \n+23 new\n+24 \n 23 b\n-24 gone\n+26 come\n    ...\n 80 z\n+83 end";
        let hunks = changed(diff);
        let runs: Vec<_> = hunks.iter().flat_map(cru_session::evidence_patch::written).collect();
        let runs: Vec<_> = runs.iter().map(|run| (run.first, run.lines.join("|"))).collect();
        assert_eq!(runs, [(Some(23), "new|".to_owned()), (Some(26), "come".to_owned()), (Some(83), "end".to_owned())]);
        assert_eq!((hunks[0].old_start, hunks[0].new_start), (Some(21), Some(21)));
        assert_eq!(changed("nothing"), []);
    }
}
