//! `path@hash`: a file that a step read or wrote, inside a code span.

use std::fmt::Write as _;

use super::escape::code;
use super::model::FileRef;

/// Reads the text of a code span. The last `@` before 8 to 64 hex digits ends the path; `@-` says that there is no
/// hash, for a path that itself ends like one.
pub fn parse(text: &str) -> FileRef {
    let plain = || FileRef { path: text.to_owned(), ..FileRef::default() };
    let Some((path, hash)) = text.rsplit_once('@').filter(|(path, _)| !path.is_empty()) else { return plain() };
    if hash == "-" {
        return FileRef { path: path.to_owned(), ..FileRef::default() };
    }
    if !is_hash(hash) {
        return plain();
    }
    FileRef { path: path.to_owned(), hash: Some(hash.to_ascii_lowercase()), created: false }
}

/// `path@hash` without the code span.
pub fn format(file: &FileRef) -> String {
    match &file.hash {
        Some(hash) => format!("{}@{hash}", file.path),
        None if file.path.rsplit_once('@').is_some_and(|(_, end)| end == "-" || is_hash(end)) => {
            format!("{}@-", file.path)
        }
        None => file.path.clone(),
    }
}

/// Reads `` `a@9f2c11ab`, `b` (created) ``. Without code spans, commas part the files.
pub fn parse_list(text: &str) -> Vec<FileRef> {
    let spans = code::spans(text, false);
    if spans.is_empty() {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        return parts.map(|part| created(part.strip_suffix("(created)").map_or(part, str::trim_end), part)).collect();
    }
    let ends = spans.iter().skip(1).map(|next| next.start).chain([text.len()]);
    spans.iter().zip(ends).map(|(span, end)| created(code::text(&text[span.clone()]), &text[span.end..end])).collect()
}

fn created(path: &str, after: &str) -> FileRef {
    FileRef { created: after.trim_end_matches([',', ' ']).ends_with("(created)"), ..parse(path) }
}

/// Writes what [`parse_list`] reads.
pub fn format_list(files: &[FileRef]) -> String {
    let mut out = String::new();
    for file in files {
        let separator = if out.is_empty() { "" } else { ", " };
        let _ = write!(out, "{separator}{}", code::span(&format(file)));
        if file.created {
            out.push_str(" (created)");
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
        FileRef { path: path.into(), hash: hash.map(Into::into), created }
    }

    #[test]
    fn reads_and_writes() {
        for it in [
            vec![file("src/a.rs", Some("9f2c11ab"), false), file("b c, d.txt", None, true)],
            vec![file("odd@9f2c11ab", None, false)],
            vec![file("odd@-", None, false), file("a`b", Some("0011223344556677"), true)],
            vec![file("me@example.org", None, false)],
        ] {
            assert_eq!(parse_list(&format_list(&it)), it, "{}", format_list(&it));
        }
    }

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse_list("a.rs, b.rs (created)"), [file("a.rs", None, false), file("b.rs", None, true)]);
        assert_eq!(parse_list(""), []);
        assert_eq!(parse("@9f2c11ab"), file("@9f2c11ab", None, false));
    }
}
