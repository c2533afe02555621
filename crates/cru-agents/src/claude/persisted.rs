//! Answers that were too large for the transcript: the host leaves their beginning, and where the rest is.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use crate::call::spilled;
use crate::file::value::filled;

const OPEN: &str = "<persisted-output>";
/// How the host begins where the answer of a server is too long.
const TOO_LONG: &str = "Error: result (";
const CLOSE: &str = "</persisted-output>";

/// An answer that the host put aside, and what it comes to where the file is gone.
pub(super) struct Persisted {
    pub(super) text: String,
    pub(super) brief: Option<String>,
}

/// The answer, where the host put it aside.
pub(super) fn read(text: &str, detail: &Value, transcript: &Path) -> Option<Persisted> {
    let named = filled(detail, "persistedOutputPath");
    let inside = text.trim_start().strip_prefix(OPEN);
    if inside.is_none() && named.is_none() && !text.trim_start().starts_with(TOO_LONG) {
        return None;
    }
    if let Some(text) = spilled::whole(text, named, transcript) {
        return Some(Persisted { text: blocks(&text).unwrap_or(text), brief: None });
    }
    let (head, preview) = shown(inside?);
    let size = head.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(size, _)| size);
    let kept = if preview.is_empty() { "not in the transcript" } else { "in the transcript only its beginning" };
    let size = if size.is_empty() { "too much" } else { size };
    let brief = format!("{size} of output, {kept}");
    Some(Persisted { text: preview.to_owned(), brief: Some(brief) })
}

/// What the host says of the size, and the beginning that it left.
fn shown(inside: &str) -> (&str, &str) {
    let inside = inside.split_once(CLOSE).map_or(inside, |(inside, _)| inside).trim();
    let (head, rest) = inside.split_once('\n').unwrap_or((inside, ""));
    let rest = rest.trim_start();
    let preview = match rest.split_once('\n') {
        Some((line, preview)) if line.starts_with("Preview (") => preview,
        _ => rest,
    };
    (head, preview.trim_end().strip_suffix("...").unwrap_or(preview).trim_end())
}

/// The words of an answer that was put aside as JSON: a list of blocks.
fn blocks(text: &str) -> Option<String> {
    let value = crate::file::value::read(text.trim_start().starts_with('[').then_some(text)?.as_bytes())?;
    let words = value.as_array()?.iter().map(|block| block.get("text")?.as_str().map(Cow::Borrowed));
    words.collect::<Option<Vec<_>>>().filter(|words| !words.is_empty()).map(|words| words.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_where_the_file_is_gone() {
        let text = "<persisted-output>\nOutput too large (80KB). Full output saved to: /x/tool-results/b.txt\n\nPreview (first 2KB):\nline 0\nline 1\n...\n</persisted-output>";
        let left = read(text, &Value::Null, Path::new("/nowhere/s.jsonl")).unwrap();
        assert_eq!(left.text, "line 0\nline 1");
        assert_eq!(left.brief.as_deref(), Some("80KB of output, in the transcript only its beginning"));
        assert!(read("line 0 <persisted-output>", &Value::Null, Path::new("/nowhere/s.jsonl")).is_none());
        assert_eq!(blocks(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).as_deref(), Some("a\nb"));
        assert_eq!(blocks("[1, 2]"), None);
    }
}
