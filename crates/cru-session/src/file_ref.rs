//! `path@hash`, `path:A-B@hash`: a file that a step read or wrote, inside a code span.

use std::fmt::Write as _;

use super::escape::{code, code_text, is_called, uncode_text};
use super::line_anchor::{self, LineAnchor};
use super::model::FileRef;

/// Reads the text of a code span. The last `@` before 8 to 64 hex digits ends the path; `@-` says that there is no
/// hash, for a path that itself ends like one. Before the hash, `:A-B`, `:A` and `:~N` make it the hash of these lines;
/// `:-` ends a path that itself ends like that. Without a hash there are no lines: `a:12` is a path.
pub fn parse(text: &str) -> FileRef {
    let (whole, hash) = match text.rsplit_once('@').filter(|(path, _)| !path.is_empty()) {
        Some((path, "-")) => return FileRef { path: path.to_owned(), ..FileRef::default() },
        Some((path, hash)) if is_hash(hash) => (path, Some(hash)),
        _ => (text, None),
    };
    let (path, place) = whole.rsplit_once(':').filter(|(path, _)| !path.is_empty()).unwrap_or((whole, ""));
    if place == "-" {
        return FileRef { path: path.to_owned(), hash: hash.map(str::to_ascii_lowercase), ..FileRef::default() };
    }
    if let Some(anchor) = hash.and_then(|hash| LineAnchor::parse(place, hash)) {
        return FileRef { path: path.to_owned(), lines: vec![anchor], ..FileRef::default() };
    }
    FileRef { path: whole.to_owned(), hash: hash.map(str::to_ascii_lowercase), ..FileRef::default() }
}

/// `path@hash` without the code span, without the lines.
pub fn format(file: &FileRef) -> String {
    let path = &file.path;
    let ends_as_lines = path.rsplit_once(':').is_some_and(|(path, end)| !path.is_empty() && line_anchor::is_place(end));
    let mark = if ends_as_lines { ":-" } else { "" };
    match &file.hash {
        Some(hash) => format!("{path}{mark}@{hash}"),
        None if path.rsplit_once('@').is_some_and(|(_, end)| end == "-" || is_hash(end)) => format!("{path}@-"),
        None => format!("{path}{mark}"),
    }
}

/// What stands in the code spans of a file: the file with the hash of its bytes, where it has one or nothing else is
/// known, then an anchor each.
pub fn spans(file: &FileRef) -> Vec<String> {
    let whole = (file.hash.is_some() || file.lines.is_empty()).then(|| format(file));
    let lines = file.lines.iter().map(|lines| format!("{}:{}@{}", file.path, lines.place(), lines.hash));
    whole.into_iter().chain(lines).collect()
}

/// Reads `` `a@9f2c11ab`, `b` (created) ``. Without code spans, commas part the files. Lines belong to the file before
/// them where it is the same.
pub fn parse_list(text: &str) -> Vec<FileRef> {
    let spans = code::spans(text, false);
    let mut files = Vec::new();
    if spans.is_empty() {
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let path = ["(created)", "(deleted)"].iter().find_map(|mark| part.strip_suffix(mark));
            add(&mut files, marked(path.map_or(part, str::trim_end), part));
        }
        return files;
    }
    let ends = spans.iter().skip(1).map(|next| next.start).chain([text.len()]);
    for (span, end) in spans.iter().zip(ends) {
        add(&mut files, marked(&uncode_text(code::text(&text[span.clone()])), &text[span.end..end]));
    }
    files
}

fn add(files: &mut Vec<FileRef>, file: FileRef) {
    match files.last_mut().filter(|last| !file.lines.is_empty() && last.path == file.path) {
        Some(last) => {
            last.created |= file.created;
            last.deleted |= file.deleted;
            last.lines.extend(file.lines);
        }
        None => files.push(file),
    }
}

fn marked(path: &str, after: &str) -> FileRef {
    let after = after.trim_end_matches([',', ' ']);
    FileRef { created: after.ends_with("(created)"), deleted: after.ends_with("(deleted)"), ..parse(path) }
}

/// Writes what [`parse_list`] reads.
pub fn format_list(files: &[FileRef]) -> String {
    let mut out = String::new();
    for file in files {
        for (at, text) in spans(file).iter().enumerate() {
            let separator = if out.is_empty() { "" } else { ", " };
            // The same file by another name, since inline code that begins like this would be run.
            let here = if is_called(text) { "./" } else { "" };
            let _ = write!(out, "{separator}{}", code::span(&code_text(&format!("{here}{text}"))));
            out.push_str(if at == 0 { file.mark() } else { "" });
        }
    }
    out
}

fn is_hash(text: &str) -> bool {
    (8..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, hash: Option<&str>, created: bool) -> FileRef {
        FileRef { path: path.into(), hash: hash.map(Into::into), created, ..FileRef::default() }
    }

    fn lines(first: Option<u64>, count: u64) -> LineAnchor {
        LineAnchor { first, count, hash: "1d3e5f70".into() }
    }

    #[test]
    fn reads_and_writes() {
        for it in [
            vec![file("src/a.rs", Some("9f2c11ab"), false), file("b c, d.txt", None, true)],
            vec![file("odd@9f2c11ab", None, false)],
            vec![FileRef { deleted: true, ..file("a.rs", None, false) }, file("b.rs", None, true)],
            vec![file("odd@-", None, false), file("a`b", Some("0011223344556677"), true)],
            vec![file("me@example.org", None, false)],
            vec![file("a:12", None, false), file("a:12", Some("9f2c11ab"), false), file("a:-", None, false)],
            vec![file("a:~2@9f2c11ab", None, false), file("a@9f2c11ab:1-2", None, false), file("C:/x", None, false)],
            vec![FileRef { lines: vec![lines(Some(118), 12), lines(Some(140), 1)], ..file("src/a.rs", None, true) }],
            vec![
                FileRef { lines: vec![lines(None, 3)], ..file("a:7", Some("9f2c11ab"), false) },
                FileRef { lines: vec![lines(Some(1), 1)], ..file("a:-", None, false) },
            ],
        ] {
            assert_eq!(parse_list(&format_list(&it)), it, "{}", format_list(&it));
        }
    }

    #[test]
    fn a_path_stays_on_its_line() {
        for path in
            ["a\n\n```dataviewjs\nx()\n```\n\nb", "a\r\n> [!user]\n> \"yes\"", "a\u{2028}b\u{b}c", "h`\n## Fake @a"]
        {
            let line = format_list(&[file(path, Some("9f2c11ab"), true)]);
            assert!(!line.contains(|c: char| c.is_control() || c == '\u{2028}'), "{line}");
            assert_eq!(parse_list(&line).len(), 1, "{line}");
        }
    }

    #[test]
    fn lines_are_written_as_people_count_them() {
        let many = FileRef { lines: vec![lines(Some(118), 12), lines(Some(140), 1)], ..file("src/a.rs", None, false) };
        assert_eq!(format_list(&[many]), "`src/a.rs:118-129@1d3e5f70`, `src/a.rs:140@1d3e5f70`");
        let made = FileRef { lines: vec![lines(None, 3)], ..file("b", Some("9f2c11ab"), true) };
        assert_eq!(format_list(&[made]), "`b@9f2c11ab` (created), `b:~3@1d3e5f70`");
        assert_eq!(format_list(&[file("odd:12", None, false)]), "`odd:12:-`");
    }

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse_list("a.rs, b.rs (created)"), [file("a.rs", None, false), file("b.rs", None, true)]);
        assert_eq!(parse_list("a.rs (deleted)"), [FileRef { deleted: true, ..file("a.rs", None, false) }]);
        assert_eq!(parse_list(""), []);
        assert_eq!(parse("@9f2c11ab"), file("@9f2c11ab", None, false));
        assert_eq!(parse("src/a.rs:12"), file("src/a.rs:12", None, false), "no hash, no lines");
        assert_eq!(parse(":12@9f2c11ab"), file(":12", Some("9f2c11ab"), false));
        assert_eq!(parse("a:012@9f2c11ab"), file("a:012", Some("9f2c11ab"), false));
        assert_eq!(parse(":-"), file(":-", None, false));
    }
}
