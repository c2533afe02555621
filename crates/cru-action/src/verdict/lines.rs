//! Lines of an output as a person saw them: without colour codes, each part of a progress line by itself.

use std::borrow::Cow;
use std::ops::Range;

/// Bytes of a line that are looked at: a summary is shorter.
const LONGEST: usize = 1024;

/// The ranges of the lines of `text` within `range`; a carriage return ends a line, too.
pub(super) fn ranges(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let bytes = &text.as_bytes()[range.clone()];
    let mut ends = memchr::memchr2_iter(b'\n', b'\r', bytes);
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let end = ends.next();
        start = end.map(|end| end + 1);
        Some(range.start + from..range.start + end.unwrap_or(bytes.len()))
    })
}

/// A line without escape codes, control characters and the blanks around it, cut to what is looked at.
pub(super) fn clean(line: &[u8]) -> Cow<'_, [u8]> {
    // Codes are removed before the cut, so that they do not move it; the bound keeps hostile lines cheap.
    let line = &line[..line.len().min(8 * LONGEST)];
    if memchr::memchr3(0x1b, 0x08, 0x00, line).is_none() && memchr::memmem::find(line, b"\xc2\x9b").is_none() {
        let line = line.trim_ascii();
        return Cow::Borrowed(line[..line.len().min(LONGEST)].trim_ascii_end());
    }
    let mut kept = Vec::with_capacity(line.len().min(LONGEST));
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match byte {
            0x1b => after_escape(after),
            0xc2 if after.first() == Some(&0x9b) => after_control_sequence(&after[1..]),
            0x08 | 0x00 => after,
            _ => {
                kept.push(byte);
                after
            }
        };
    }
    let trimmed = kept.trim_ascii();
    Cow::Owned(trimmed[..trimmed.len().min(LONGEST)].trim_ascii_end().to_vec())
}

/// What follows an escape sequence whose escape character is gone.
fn after_escape(rest: &[u8]) -> &[u8] {
    match rest.first() {
        Some(b'[') => after_control_sequence(&rest[1..]),
        // A title or a link: up to a bell or the string terminator.
        Some(b']') => {
            let bell = memchr::memchr2(0x07, 0x1b, rest);
            match bell {
                Some(at) if rest[at] == 0x07 => &rest[at + 1..],
                Some(at) => rest.get(at + 2..).unwrap_or(&[]),
                None => &[],
            }
        }
        // Two characters after the escape: the choice of a character set.
        Some(b'(' | b')' | b'#') => rest.get(2..).unwrap_or(&[]),
        Some(byte) if byte.is_ascii() => &rest[1..],
        _ => rest,
    }
}

fn after_control_sequence(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte) || !byte.is_ascii());
    match end {
        Some(at) if rest[at].is_ascii() => &rest[at + 1..],
        Some(at) => &rest[at..],
        None => &[],
    }
}

/// `line` without what a task runner puts before each line of a task: `[lint] `, `web:test: `, `packages/a test: `, `| `.
pub(super) fn without_task_prefix(line: &[u8]) -> Option<&[u8]> {
    const LONGEST_PREFIX: usize = 80;
    let head = &line[..line.len().min(LONGEST_PREFIX)];
    let rest = match head.first()? {
        b'[' => &line[memchr::memchr(b']', head)? + 1..],
        b'|' => &line[1..],
        _ if line.starts_with("│".as_bytes()) => &line["│".len()..],
        _ => {
            let end = memchr::memmem::find(head, b": ").or_else(|| memchr::memmem::find(head, b" | "))?;
            let name = &head[..end];
            let is_compose = head[end] == b' ';
            let mut words = name.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
            let is_word = |word: &[u8]| {
                !word.is_empty() && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"@/._-#:".contains(byte))
            };
            let (first, second, third) = (words.next()?, words.next(), words.next());
            let fits = is_word(first)
                && third.is_none()
                && match second {
                    None => is_compose || first.contains(&b':') || first.contains(&b'#'),
                    Some(second) => is_word(second) && first.iter().any(|byte| b"/.@".contains(byte)),
                };
            if !fits {
                return None;
            }
            &line[end + if is_compose { 3 } else { 2 }..]
        }
    };
    let rest = rest.trim_ascii_start();
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_progress() {
        let text = "a\r\n10%\r100%\nb";
        let lines: Vec<&str> =
            ranges(text, 0..text.len()).map(|range| &text[range]).filter(|l| !l.is_empty()).collect();
        assert_eq!(lines, ["a", "10%", "100%", "b"]);
        assert_eq!(ranges("", 0..0).count(), 1);
    }

    #[test]
    fn codes_are_removed() {
        let rows: &[(&str, &str)] = &[
            ("\u{1b}[32m ok \u{1b}[0m", "ok"),
            ("\u{1b}]8;;file:///a\u{7}name\u{1b}]8;;\u{1b}\\ end", "name end"),
            ("\u{1b}[2K\u{1b}[1Gdone", "done"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("\u{9b}31mred", "red"),
            ("\u{1b}(Bplain", "plain"),
        ];
        for (line, cleaned) in rows {
            assert_eq!(clean(line.as_bytes()).as_ref(), cleaned.as_bytes(), "{line:?}");
        }
    }

    #[test]
    fn prefixes_of_tasks() {
        let rows: &[(&str, Option<&str>)] = &[
            ("[lint:go] 0 issues.", Some("0 issues.")),
            ("web:test:  Tests  5 passed (5)", Some("Tests  5 passed (5)")),
            ("packages/a test: ok", Some("ok")),
            ("api-1  | ready", Some("ready")),
            ("| x", Some("x")),
            ("error: could not", None),
            ("FAIL: TestX", None),
            ("plain text", None),
            ("[", None),
        ];
        for (line, rest) in rows {
            assert_eq!(without_task_prefix(line.as_bytes()), rest.map(str::as_bytes), "{line}");
        }
    }
}
