//! Files for people that are made again and again: one is replaced only as it was written.

use std::path::Path;

use crate::base::{Error, Result, files};

/// Writes a page, a style or a script. Error: a file is there that `generator` did not write, or that was changed since.
pub(in crate::commands) fn write_sealed(file: &Path, text: &str, generator: &str) -> Result<()> {
    let text = sealed(text, ending(file));
    if files::create(file, text.as_bytes())? {
        return Ok(());
    }
    let there = files::read(file)?;
    if there == text.as_bytes() {
        return Ok(());
    }
    let refused = |what: &str| {
        Err(Error::usage(format!("{} {what}", file.display())).with_hint("name another place, or move this file"))
    };
    if !is_of(&there, generator) {
        return refused(&format!("exists and is not a page of {generator}"));
    }
    if !is_sealed(file, &there) {
        return refused("was changed since cru wrote it");
    }
    files::replace(file, &there, text.as_bytes())
}

/// Whether a file is one that `generator` wrote, byte by byte.
pub(in crate::commands) fn is_as_written(file: &Path, generator: &str) -> Result<bool> {
    let there = files::read(file)?;
    Ok(is_of(&there, generator) && is_sealed(file, &there))
}

/// Whether a file says that `generator` wrote it: a page in its head, a style or script in its first line.
fn is_of(there: &[u8], generator: &str) -> bool {
    let head = String::from_utf8_lossy(&there[..there.len().min(1_024)]);
    let page = format!("<meta name=\"generator\" content=\"{generator}\">");
    head.contains(&page) || head.starts_with(&format!("/* {generator} */"))
}

fn is_sealed(file: &Path, there: &[u8]) -> bool {
    let (begin, end) = ending(file);
    let body = std::str::from_utf8(there).ok().and_then(|text| Some(text.rsplit_once(begin)?.0));
    body.is_some_and(|body| sealed(body, (begin, end)).as_bytes() == there)
}

/// What stands before and behind the hash of a file, in its last line.
fn ending(file: &Path) -> (&'static str, &'static str) {
    if file.extension().is_some_and(|end| end == "css" || end == "js") {
        ("/* cru:seal ", " */\n")
    } else {
        ("<!-- cru:seal ", " -->\n")
    }
}

/// The text with a last line that holds its hash.
fn sealed(text: &str, (begin, end): (&str, &str)) -> String {
    format!("{text}{begin}{}{end}", &blake3::hash(text.as_bytes()).to_hex()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_a_person_changed_stays() {
        let temp = tempfile::tempdir().unwrap();
        for (name, head) in [("page.html", "<meta name=\"generator\" content=\"cru x\">\n"), ("a.css", "/* cru x */\n")]
        {
            let path = temp.path().join(name);
            let page = |words: &str| format!("{head}p {words}\n");
            write_sealed(&path, &page("one"), "cru x").unwrap();
            write_sealed(&path, &page("two"), "cru x").unwrap();
            assert!(is_as_written(&path, "cru x").unwrap() && !is_as_written(&path, "cru y").unwrap());
            let text = String::from_utf8(files::read(&path).unwrap()).unwrap();
            assert!(text.contains("two") && !text.contains("one"), "{text}");
            for edited in [text.replace("two", "two, and mine"), format!("{text}mine\n"), page("of an earlier version")]
            {
                files::put(&path, edited.as_bytes()).unwrap();
                let refused = write_sealed(&path, &page("three"), "cru x").unwrap_err();
                assert!(refused.to_string().contains("was changed since cru wrote it"), "{refused}");
                assert_eq!(files::read(&path).unwrap(), edited.as_bytes());
            }
        }
    }
}
