//! Links to a note that gets another name: wikilinks and embeds, links in properties, markdown links, files of a canvas.
//!
//! Only the name in a link changes: folder, extension, heading, block id, alias and spelling stay. What stands in code or in
//! a comment is no link and stays too.

use std::fmt::Write as _;
use std::ops::Range;

use cru_base::text::percent_decoded;
use cru_note::{InlineKind, Note, link};

/// A text with changed links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelinkedText {
    /// The whole of it.
    pub bytes: Vec<u8>,
    /// How many links changed.
    pub links: usize,
}

/// The text of a note whose links to another note name it `stem`; `None` where none does. `means` says whether a link's
/// target (what stands before `#`) means that note.
pub fn relinked(note: &Note, means: &dyn Fn(&str) -> bool, stem: &str) -> Option<RelinkedText> {
    let text = note.text();
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut wikilink = |start: usize, inner: &str| {
        let target = link::parse(inner).target;
        if target.is_empty() || !means(target) {
            return;
        }
        let at = start + inner.find(target).unwrap_or_default();
        let new = renamed(target, stem);
        if new != target {
            changes.push((at..at + target.len(), new));
        }
    };
    if let Some(bounds) = note.frontmatter() {
        let yaml = bounds.yaml.of(text);
        let mut at = 0;
        while let Some(open) = yaml[at..].find("[[").map(|open| at + open + 2) {
            let Some(len) = yaml[open..].find("]]") else { break };
            let inner = &yaml[open..open + len];
            if !inner.contains(['\n', '[']) {
                wikilink(bounds.yaml.start + open, inner);
            }
            at = open + if inner.contains(['\n', '[']) { 0 } else { len + 2 };
        }
    }
    let inlines = note.inlines();
    for inline in inlines {
        if let InlineKind::Wikilink { inner, .. } = &inline.kind {
            wikilink(inner.start, inner.of(text));
        }
    }
    for inline in inlines {
        let InlineKind::Link { dest } = &inline.kind else { continue };
        let Some(new) = renamed_destination(dest, means, stem) else { continue };
        // The destination is the last thing in a link but a title.
        let Some(at) = inline.span.of(text).rfind(dest.as_str()) else { continue };
        let at = inline.span.start + at;
        changes.push((at..at + dest.len(), new));
    }
    apply(note.bytes(), text.len(), changes)
}

/// The text of a canvas whose nodes of a file name another one; `None` where none does. Paths are those of the vault.
pub fn relinked_canvas(bytes: &[u8], from: &str, to: &str) -> Option<RelinkedText> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (old, new) = (serde_json::to_string(from).ok()?, serde_json::to_string(to).ok()?);
    let is_file = |at: usize| {
        let before = text[..at].trim_end().strip_suffix(':').map(str::trim_end);
        before.is_some_and(|before| before.ends_with("\"file\""))
    };
    let found = text.match_indices(&old).filter(|(at, _)| is_file(*at));
    let changes = found.map(|(at, _)| (at..at + old.len(), new.clone())).collect();
    apply(bytes, text.len(), changes)
}

/// Bytes that are no text are not counted in a note's places, so such a note is left.
fn apply(bytes: &[u8], len: usize, mut changes: Vec<(Range<usize>, String)>) -> Option<RelinkedText> {
    if changes.is_empty() || bytes.len() != len || std::str::from_utf8(bytes).is_err() {
        return None;
    }
    changes.sort_by_key(|(range, _)| range.start);
    let (mut new, mut at, mut count) = (Vec::with_capacity(bytes.len()), 0, 0);
    for (range, text) in changes {
        // Links do not overlap; one that did would be left.
        if range.start < at {
            continue;
        }
        new.extend_from_slice(&bytes[at..range.start]);
        new.extend_from_slice(text.as_bytes());
        at = range.end;
        count += 1;
    }
    new.extend_from_slice(&bytes[at..]);
    Some(RelinkedText { bytes: new, links: count })
}

/// `folder/old.md` as `folder/new.md`.
fn renamed(target: &str, stem: &str) -> String {
    let (folder, name) = target.rfind('/').map_or(("", target), |at| target.split_at(at + 1));
    let extension = name.len().checked_sub(3).and_then(|at| name.get(at..)).filter(|it| it.eq_ignore_ascii_case(".md"));
    [folder, stem, extension.unwrap_or_default()].concat()
}

/// The destination of a markdown link with the new name; `None` where it does not mean the note.
fn renamed_destination(dest: &str, means: &dyn Fn(&str) -> bool, stem: &str) -> Option<String> {
    let path = dest.split('#').next().unwrap_or_default();
    if path.is_empty() || path.contains(':') {
        return None;
    }
    let plain = percent_decoded(path)?;
    if !means(&plain) {
        return None;
    }
    let new = renamed(path, &encoded(stem));
    (new != path).then(|| [&new, &dest[path.len()..]].concat())
}

/// A name as a destination has it: blanks and what would end it as percent signs.
fn encoded(stem: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '(' | ')' | '<' | '>' | '%' | '#' | '\\');
    let mut encoded = String::with_capacity(stem.len());
    for c in stem.chars() {
        if plain(c) {
            encoded.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn changed(text: &str) -> String {
        let means = |target: &str| {
            let name = target.rsplit('/').next().unwrap_or_default();
            matches!(name.strip_suffix(".md").unwrap_or(name), "old" | "OLD")
        };
        relinked(&Note::parse(text), &means, "new name")
            .map_or_else(|| "same".to_owned(), |new| String::from_utf8(new.bytes).unwrap())
    }

    #[test]
    fn every_form_of_a_link() {
        for (text, wanted) in [
            ("a [[old]] b", "a [[new name]] b"),
            ("[[OLD]]", "[[new name]]"),
            ("![[sessions/old#^n-001|old]]", "![[sessions/new name#^n-001|old]]"),
            ("[[ old.md#A#^b ]] [[older]]", "[[ new name.md#A#^b ]] [[older]]"),
            ("| [[old\\|x]] |\n|---|\n", "| [[new name\\|x]] |\n|---|\n"),
            ("[old](old.md)", "[old](new%20name.md)"),
            ("[x](../sessions/old.md#^n-001 \"old.md\")", "[x](../sessions/new%20name.md#^n-001 \"old.md\")"),
            ("[x](https://old.md/old)", "same"),
            ("`[[old]]` and\n\n```\n[[old]]\n```\n", "same"),
            ("> [!subagent]\n> [[old]]\n", "> [!subagent]\n> [[new name]]\n"),
            (
                "---\nparent: \"[[old]]\"\nlist:\n  - \"[[x]]\"\n  - \"[[old|o]]\"\n---\n",
                "---\nparent: \"[[new name]]\"\nlist:\n  - \"[[x]]\"\n  - \"[[new name|o]]\"\n---\n",
            ),
            ("---\nflow: [[old]]\n---\n", "---\nflow: [[new name]]\n---\n"),
            ("[[#^n-001]]", "same"),
        ] {
            assert_eq!(changed(text), wanted, "{text}");
        }
    }

    #[test]
    fn files_of_a_canvas() {
        let canvas = br#"{"nodes":[{"type":"file","file" : "s/a.md"},{"type":"text","text":"s/a.md"}]}"#;
        let new = relinked_canvas(canvas, "s/a.md", "s/b.md").unwrap();
        assert_eq!(new.links, 1);
        let wanted = String::from_utf8_lossy(canvas).replacen("s/a.md", "s/b.md", 1);
        assert_eq!(String::from_utf8(new.bytes).unwrap(), wanted);
        assert_eq!(relinked_canvas(canvas, "s/c.md", "s/b.md"), None);
    }

    proptest! {
        /// Any text can be given, and the new name put back gives the text that was there.
        #[test]
        fn there_and_back(text in "(\\[\\[|\\]\\]|old|new|\\||#|---|\n|`|%|\\(|\\)|\\[x\\]|\\.md| |é){0,40}") {
            let is = |wanted: &'static str| move |target: &str| target.trim_end_matches(".md") == wanted;
            // Only texts that do not name the new note: both would be one afterwards.
            prop_assume!(!text.contains("new"));
            if let Some(RelinkedText { bytes, links }) = relinked(&Note::parse(text.clone()), &is("old"), "new") {
                let back = relinked(&Note::parse(bytes), &is("new"), "old");
                prop_assert_eq!(back, Some(RelinkedText { bytes: text.into_bytes(), links }));
            }
        }
    }
}
