//! Who a note is for, as its frontmatter says: the keys `export` and `private`, and tags.
//!
//! Whoever writes one of these words means it. The keys are read in any case, and a repeated one that keeps the note back
//! counts; a value that means neither yes nor no keeps it back too, and is told of.

use super::{Entry, Value, Values};
use cru_base::Diagnostic;

const KEEPS: [(&str, bool); 2] = [("export", false), ("private", true)];
const TAGS: [&str; 2] = ["tags", "tag"];

impl Values {
    /// The tags, without `#`: the items of a list, and the keys of a map; a text is parted at commas and blanks, as Obsidian does.
    pub fn tags(&self) -> Vec<String> {
        let mut tags = Vec::new();
        for entry in self.entries_of(&TAGS) {
            match &entry.value {
                Value::List(items) => items.iter().for_each(|item| add_tags(item, &mut tags)),
                Value::Map(_) => add_tags(&entry.value, &mut tags),
                other => tags.extend(other.line().split(is_between).map(str::to_owned)),
            }
        }
        let tags = tags.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned());
        tags.filter(|tag| !tag.is_empty()).collect()
    }

    /// Whether the note may leave the vault: `Some(false)` where anything in it keeps it back, also tags that cannot be read.
    pub fn export(&self) -> Option<bool> {
        let keeps = |(key, kept): (&str, bool)| {
            self.entries_of(&[key]).any(|it| is_said(it) && meaning(it).is_none_or(|value| value == kept))
        };
        if KEEPS.into_iter().any(keeps) || self.entries_of(&TAGS).any(|entry| !entry.whole) {
            return Some(false);
        }
        self.entries_of(&["export"]).any(is_said).then_some(true)
    }

    /// Whether no agent may be told of the note.
    pub fn is_kept_from_agents(&self) -> bool {
        self.export() == Some(false) || self.tags().iter().any(|tag| is_tag(tag, NO_MCP))
    }

    fn entries_of<'a>(&'a self, keys: &'a [&str]) -> impl Iterator<Item = &'a Entry> {
        self.entries().iter().filter(|entry| keys.iter().any(|key| entry.key.trim().eq_ignore_ascii_case(key)))
    }

    /// Values of `export` and `private` that are neither yes nor no.
    pub(super) fn unclear_privacy(&self) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        for (key, kept) in KEEPS {
            for entry in self.entries_of(&[key]).filter(|entry| is_said(entry) && meaning(entry).is_none()) {
                let message = format!("`{key}` is neither true nor false, so the note is kept back");
                let help = format!("write `{key}: {kept}` to keep it back, `{key}: {}` to let it be told", !kept);
                told.push(Diagnostic::warning("bad-value", entry.span, message).help(help));
            }
        }
        told
    }
}

fn add_tags(value: &Value, tags: &mut Vec<String>) {
    match value {
        Value::Map(map) => {
            for (key, value) in map.iter() {
                tags.push(key.to_owned());
                add_tags(value, tags);
            }
        }
        other => tags.push(other.line()),
    }
}

/// The tag that keeps a note from agents.
pub const NO_MCP: &str = "no-mcp";

/// Whether `tag` is the tag `name` or one below it (`name/…`). Case does not count; of several tags in one text any does.
pub fn is_tag(tag: &str, name: &str) -> bool {
    let first =
        |tag: &str| tag.trim_start_matches('#').split('/').next().is_some_and(|it| it.eq_ignore_ascii_case(name));
    tag.split(is_between).any(first)
}

fn is_between(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// Whether anything stands behind the key; an editor writes a new property without a value.
fn is_said(entry: &Entry) -> bool {
    entry.value != Value::Null || !entry.span.is_empty() || !entry.whole
}

/// What a word means in any version of YAML.
fn meaning(entry: &Entry) -> Option<bool> {
    match entry.value.text()?.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, split};

    #[test]
    fn every_spelling_of_no_keeps_a_note_back() {
        let said = |yaml: &str| {
            let text = format!("---\n{yaml}\n---\n");
            let (values, told) = read(&text, &split(&text).block.unwrap());
            let is_unclear = told.iter().any(|it| it.message.contains("neither true nor false"));
            (values.is_kept_from_agents(), is_unclear)
        };
        for yaml in [
            "export: false",
            "Export: false",
            "EXPORT: 'No'",
            "export: off",
            "export: 0",
            "export: n",
            "Private: true",
            "private: yes",
            "private: \"on\"",
            "private: 1",
            "export: false\nexport: true",
            "private: true\nPrivate: false",
            "tags: a, no-mcp",
            "tags: a no-mcp",
            "Tags: [no-mcp]",
            "tag: No-MCP",
            "tags: [[no-mcp]]",
            "tags: ['#no-mcp/x']",
            "tags: ['a, no-mcp']",
            "tags: [a, no-mcp",
            "tags:\n- a\ntags:\n- no-mcp\ntags: b",
            "{export: no}",
            "tags: '#no-mcp'",
            "tags: 'no-mcp",
            "tags: \"no-mcp",
            "tags: {no-mcp",
            "tags: no-mcp: x",
            "tags: {no-mcp: }",
            "tags:\n- no-mcp:",
            "tags:\n- a: no-mcp",
        ] {
            assert_eq!(said(yaml), (true, false), "{yaml}");
        }
        for yaml in
            ["export: [false]", "export: never", "private: {a: b}", "export: [false", "private: ja", "export: ~"]
        {
            assert_eq!(said(yaml), (true, true), "{yaml}");
        }
        for yaml in [
            "export: true",
            "Export: yes",
            "private: no",
            "private: false",
            "export:",
            "private: # later",
            "tags: no-mcp-yet",
            "title: no-mcp",
            "tags: [a, b]",
            "exported: no",
        ] {
            assert_eq!(said(yaml), (false, false), "{yaml}");
        }
    }
}
