//! Files that a record proves were read or written, and the hashes it proves.
//!
//! A hash is claimed only where the record holds the whole file's exact bytes: what Write put there, and the file
//! before and after an Edit. Under Windows nothing is hashed, since the host turns `\r\n` into `\n` in its records.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::detail::Detail;
use crate::stream::place::Place;
use cru_action::ToolKind;
use cru_session::FileRef;

/// Files read and written by one call.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Files {
    pub(super) reads: Vec<FileRef>,
    pub(super) writes: Vec<FileRef>,
}

/// What a successful call with a path argument proves.
pub(super) fn of(tool: &str, path: Option<&str>, detail: Option<&Detail<'_>>, place: &Place) -> Files {
    let empty = Detail::default();
    let detail = detail.unwrap_or(&empty);
    let mut files = Files::default();
    let file = |path: &str, hash: Option<String>, created: bool| FileRef {
        path: place.show(path).into_owned(),
        hash,
        created,
        ..FileRef::default()
    };
    match (ToolKind::of(tool), path) {
        (ToolKind::Read, Some(path)) => files.reads.push(file(path, None, false)),
        (ToolKind::Write, Some(path)) => {
            let created = detail.kind.str() == "create";
            let before = original(detail).map(|text| hash(&text));
            if !created && before.is_some() {
                files.reads.push(file(path, before.filter(|_| !place.is_windows()), false));
            }
            let after = detail.content.and_then(string).filter(|_| !place.is_windows()).map(|text| hash(&text));
            files.writes.push(file(path, after, created));
        }
        (ToolKind::Edit, Some(path)) => {
            let before = original(detail).filter(|_| !place.is_windows());
            let after = before.as_deref().and_then(|before| edited(before, detail));
            // An edit with an empty old text makes the file.
            let created = detail.old_string.0.as_deref() == Some("") && before.as_deref().is_none_or(str::is_empty);
            if !created {
                files.reads.push(file(path, before.as_deref().map(hash), false));
            }
            files.writes.push(file(path, after, created));
        }
        _ => {}
    }
    files
}

/// Hash of the file after the edit, where the record says all that is needed.
fn edited(before: &str, detail: &Detail<'_>) -> Option<String> {
    let old = detail.old_string.0.as_deref().filter(|old| !old.is_empty())?;
    let new = detail.new_string.0.as_deref()?;
    // Taking text out may take the end of its line with it; the record does not say.
    if new.is_empty() && !old.ends_with('\n') {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    let mut kept = 0;
    let limit = if detail.replace_all.0 { usize::MAX } else { 1 };
    for (at, _) in before.match_indices(old).take(limit) {
        hasher.update(&before.as_bytes()[kept..at]).update(new.as_bytes());
        kept = at + old.len();
    }
    // Nothing was found: the record is not of this file.
    (kept > 0).then(|| hasher.update(&before.as_bytes()[kept..]).finalize().to_hex()[..8].to_owned())
}

fn original<'a>(detail: &Detail<'a>) -> Option<Cow<'a, str>> {
    detail.original_file.and_then(string)
}

/// A raw value as a string, borrowed where it holds no escape.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Borrowed<'_>>(raw.get()).ok().map(|Borrowed(text)| text)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..8].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prove(tool: &str, detail: &str, cwd: &str) -> Files {
        let mut place = Place::default();
        place.see(cwd);
        of(tool, Some(&format!("{cwd}/a.txt")), Some(&serde_json::from_str(detail).unwrap()), &place)
    }

    #[test]
    fn written_whole() {
        let files = prove("Write", r#"{"type":"create","content":"one\n\"two\"\n"}"#, "/home/mia/api");
        let wanted =
            FileRef { path: "a.txt".into(), hash: Some(hash("one\n\"two\"\n")), created: true, ..FileRef::default() };
        assert_eq!(files, Files { reads: vec![], writes: vec![wanted] });
    }

    #[test]
    fn edited_before_and_after() {
        let detail = r#"{"oldString":"b","newString":"x","originalFile":"a b b\n","replaceAll":false}"#;
        let files = prove("Edit", detail, "/home/mia/api");
        assert_eq!(files.reads[0].hash, Some(hash("a b b\n")));
        assert_eq!(files.writes[0].hash, Some(hash("a x b\n")));
        let all = detail.replace("false", "true");
        assert_eq!(prove("Edit", &all, "/home/mia/api").writes[0].hash, Some(hash("a x x\n")));
    }

    #[test]
    fn no_hash_where_bytes_are_not_sure() {
        let gone = r#"{"oldString":"b","newString":"","originalFile":"a b\n"}"#;
        assert_eq!(prove("Edit", gone, "/home/mia/api").writes[0].hash, None);
        assert_eq!(
            prove("Edit", r#"{"oldString":"b","newString":"c","originalFile":null}"#, "/x/y").writes[0].hash,
            None
        );
        assert_eq!(prove("Write", r#"{"type":"create","content":"x"}"#, r"C:\x").writes[0].hash, None);
        assert_eq!(prove("Read", r#"{"type":"text","file":{"content":"x"}}"#, "/x/y").reads[0].hash, None);
    }
}
