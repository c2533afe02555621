//! Conflict markers that a merge of git left in a note: it has two texts at once, and somebody has to choose.

use std::ops::Range;

/// Marks of a conflict in the order in which git writes them: seven times the same character at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictMark {
    /// The lines of one side follow.
    Begin,
    /// The lines that both sides had before follow.
    Base,
    /// The lines of the other side follow.
    Middle,
    /// The conflict ends.
    End,
}

impl ConflictMark {
    /// What a line without its end is; `None` also for the marks between which agents propose an edit.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        const WIDTH: usize = 7;
        let mark = match line.first()? {
            b'<' => Self::Begin,
            b'|' => Self::Base,
            b'=' => Self::Middle,
            b'>' => Self::End,
            _ => return None,
        };
        let (marks, rest) = line.split_at_checked(WIDTH)?;
        let names = rest.is_empty() || (rest[0] == b' ' && mark != Self::Middle);
        let is_proposed = matches!(rest, b" SEARCH" | b" REPLACE");
        (marks.iter().all(|byte| *byte == line[0]) && names && !is_proposed).then_some(mark)
    }
}

/// The first line of the first whole conflict of a text that is in no fence.
pub fn marker(text: &[u8]) -> Option<Range<usize>> {
    memchr::memmem::find(text, b"<<<<<<<")?;
    let (mut begun, mut wanted, mut fence, mut at) = (0..0, ConflictMark::Begin, None, 0);
    for line in text.split(|&byte| byte == b'\n') {
        let place = at..at + line.len();
        at = place.end + 1;
        let mark = ConflictMark::of(line.strip_suffix(b"\r").unwrap_or(line));
        let is_open = wanted != ConflictMark::Begin;
        if !is_open && (is_fence(line, &mut fence) || fence.is_some()) || mark != Some(wanted) {
            continue;
        }
        wanted = match wanted {
            ConflictMark::Begin => {
                begun = place;
                ConflictMark::Middle
            }
            ConflictMark::End => return Some(begun),
            ConflictMark::Base | ConflictMark::Middle => ConflictMark::End,
        };
    }
    None
}

/// Whether a line opens or closes a fence; `open` is the one that is open: its mark and how long it is.
fn is_fence(line: &[u8], open: &mut Option<(u8, usize)>) -> bool {
    let line = line.trim_ascii();
    let Some(&mark) = line.first().filter(|mark| matches!(mark, b'`' | b'~')) else { return false };
    let length = line.iter().take_while(|&&byte| byte == mark).count();
    match open {
        None if length >= 3 => *open = Some((mark, length)),
        Some((is, least)) if *is == mark && length >= *least && line.len() == length => *open = None,
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFLICT: &str = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n";

    #[test]
    fn knows_a_conflict() {
        assert_eq!(marker(CONFLICT.as_bytes()), Some(0..12));
        assert_eq!(marker(format!("# T\n\n{CONFLICT}").as_bytes()), Some(5..17));
        assert_eq!(marker(format!("```\nx\n```\n{CONFLICT}").as_bytes()), Some(10..22));
        for none in [
            "",
            "<<<<<<< HEAD\na\n=======\nb\n",
            "text <<<<<<< HEAD\n=======\n>>>>>>> main\n",
            "======= a\n>>>>>>> main\n",
            "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
            &format!("````diff\n```\n{CONFLICT}````\n"),
            &format!("~~~\n{CONFLICT}"),
        ] {
            assert_eq!(marker(none.as_bytes()), None, "{none}");
        }
    }

    proptest::proptest! {
        #[test]
        fn lies_in_the_text(text in "(<<<<<<< a|=======|>>>>>>> b|```|~~~|x|\n){0,20}") {
            let place = marker(text.as_bytes()).unwrap_or(0..0);
            proptest::prop_assert!(text.get(place).is_some());
        }
    }
}
