//! Conflict markers that a merge of git left in a note: it has two texts at once, and somebody has to choose.

use std::ops::Range;

/// The three lines of a conflict, in order.
const MARKERS: [&[u8]; 3] = [b"<<<<<<< ", b"=======", b">>>>>>> "];

/// How the same marks begin in answers of agents that propose an edit.
pub(crate) const PROPOSED: &[u8] = b"<<<<<<< SEARCH";

/// The first line of the first whole conflict of a text that is in no fence.
pub fn marker(text: &[u8]) -> Option<Range<usize>> {
    memchr::memmem::find(text, MARKERS[0])?;
    let (mut begun, mut next, mut fence, mut at) = (0..0, 0, None, 0);
    for line in text.split(|&byte| byte == b'\n') {
        let place = at..at + line.len();
        at = place.end + 1;
        let is_next = line.starts_with(MARKERS[next]) && !line.starts_with(PROPOSED);
        if next == 0 && (is_fence(line, &mut fence) || fence.is_some() || !is_next) {
            continue;
        }
        if is_next {
            match next {
                0 => begun = place,
                2 => return Some(begun),
                _ => {}
            }
            next += 1;
        }
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
