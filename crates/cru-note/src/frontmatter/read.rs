//! The properties of a note, each with its lines.
//!
//! When YAML as a whole cannot be read, every property is tried by itself, so that one broken line hides no other.
//! Total: what cannot be used becomes a diagnostic at its line.

use std::collections::{HashMap, HashSet};

use super::key::{self, KeyLines};
use super::split::{Bounds, line_at};
use super::tree::{self, Failure, ValueTree};
use super::{Mapping, Value, emit, remark};
use cru_base::{Diagnostic, Span};

/// How many properties are read by themselves where the whole cannot be read; starting the YAML reader has its price.
const MAX_TRIES: usize = 1000;

/// What a frontmatter says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    entries: Vec<Entry>,
    stray: bool,
}

/// One property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// Its value; [`Value::Null`] where it could not be read.
    pub value: Value,
    /// Whether YAML takes its lines; else `value` is the best that could be made of them.
    pub whole: bool,
    /// The text of a one-line scalar without quotes, as written (`True`, `0x1F`).
    pub written: Option<String>,
    /// Its lines, without the comments and blank lines that follow; `None` when it stands on no lines of its own
    /// (`{a: 1, b: 2}`).
    pub lines: Option<Span>,
    /// Its value: a scalar without comment and blanks, or all of a longer value. Empty range at the block's start
    /// where `lines` is `None`.
    pub span: Span,
}

impl Values {
    /// The properties in the order of the file; a repeated key stands as often as it is written.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Whether something that belongs to no property keeps the block from being read as YAML (a list, `...`).
    pub const fn has_stray_text(&self) -> bool {
        self.stray
    }

    /// The property `key`; the last one of that name.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// A scalar as text: numbers, booleans and dates as written. `None` for null, lists and maps.
    pub fn string(&self, key: &str) -> Option<&str> {
        let entry = self.entry(key)?;
        let text = entry.value.text()?;
        Some(match (&entry.value, &entry.written) {
            (Value::Bool(_), Some(written)) => written,
            _ => text,
        })
    }

    /// The texts of a list, or of a scalar as a list of one; empty when there is nothing.
    pub fn strings(&self, key: &str) -> Vec<&str> {
        match self.get(key) {
            Some(Value::List(items)) => items.iter().filter_map(Value::text).collect(),
            _ => self.string(key).into_iter().collect(),
        }
    }

    /// A whole number from 0, also when written as text.
    pub fn u64(&self, key: &str) -> Option<u64> {
        self.get(key)?.as_u64()
    }

    /// A finite number, also when written as text.
    pub fn f64(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    /// `true` or `false`, also when written as text.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// Where `key`'s value stands; the empty range at 0 when there is no such key.
    pub fn span(&self, key: &str) -> Span {
        self.entry(key).map_or_else(Span::default, |entry| entry.span)
    }

    /// All of it as a map; the last value of a repeated key wins.
    pub fn to_map(&self) -> Mapping {
        self.entries.iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect()
    }
}

/// Reads the properties of a block of `text` (the whole file). Spans are bytes of `text`.
pub fn read(text: &str, bounds: &Bounds) -> (Values, Vec<Diagnostic>) {
    let yaml = bounds.yaml.of(text);
    let keys = key::scan(yaml);
    let values = Values::default();
    let mut reader = Reader { yaml, base: bounds.yaml.start, keys, values, diagnostics: Vec::new() };
    match tree::read(yaml) {
        Ok(tree) => reader.whole(tree),
        Err(failure) => reader.one_by_one(&failure),
    }
    reader.repeated_keys();
    reader.diagnostics.extend(reader.values.unclear_privacy());
    reader.diagnostics.sort_by_key(|it| it.span);
    (reader.values, reader.diagnostics)
}

struct Reader<'a> {
    yaml: &'a str,
    base: usize,
    keys: Vec<KeyLines<'a>>,
    values: Values,
    diagnostics: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Joins what YAML says with the lines found by the scan. The scan may have taken a line inside a quotation for a
    /// key, so both lists are walked in order and only lines whose key comes next in YAML count.
    fn whole(&mut self, tree: ValueTree) {
        let mut places: Option<HashMap<&str, Vec<usize>>> = None;
        let mut entries = Vec::with_capacity(tree.entries.len());
        let mut at = 0;
        for (key, value) in tree.entries {
            let found = match self.keys.get(at) {
                Some(lines) if lines.key == key => Some(at),
                _ => {
                    let places = places.get_or_insert_with(|| self.places());
                    let places = places.get(&*key).map_or(&[][..], Vec::as_slice);
                    places.get(places.partition_point(|&place| place < at)).copied()
                }
            };
            // A key that the scan did not see has no lines; the search for the next one goes on where it was.
            at = found.map_or(at, |found| found + 1);
            entries.push(self.entry(key, value, true, found));
        }
        self.values.entries = entries;
        for (index, issue) in tree.issues {
            let span = self.values.entries.get(index).map_or_else(|| Span::at(self.base), |entry| entry.span);
            self.diagnostics.push(remark::issue(&issue, span));
        }
        self.odd_spellings();
    }

    /// Where each key is found by the scan, in order.
    fn places(&self) -> HashMap<&str, Vec<usize>> {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, lines) in self.keys.iter().enumerate() {
            places.entry(&*lines.key).or_default().push(at);
        }
        places
    }

    fn one_by_one(&mut self, whole: &Failure) {
        let before = self.diagnostics.len();
        let mut tries = 0;
        for at in 0..self.keys.len() {
            let lines = self.keys[at].span;
            let (value, failed) = if let Some(value) = self.simple(at) {
                (value, None)
            } else if tries == MAX_TRIES {
                (self.plain_text(at), Some(Failure::TooLong))
            } else {
                tries += 1;
                self.one(at)
            };
            if let Some(failure) = &failed {
                let diagnostic = remark::failure(failure, self.yaml, lines, self.base);
                self.diagnostics.push(diagnostic);
            }
            let key = self.keys[at].key.clone().into_owned();
            let entry = self.entry(key, value, failed.is_none(), Some(at));
            self.values.entries.push(entry);
        }
        let is_whole = self.values.entries.iter().all(|entry| entry.whole);
        // Words between properties stay where they are.
        let has_words = self.keys.iter().any(|lines| lines.has_rest);
        self.values.stray = !matches!(whole, Failure::TooLong) && is_whole && !has_words;
        if self.values.stray || self.diagnostics.len() == before || matches!(whole, Failure::TooLong) {
            let all = Span::new(0, self.yaml.len());
            self.diagnostics.push(remark::failure(whole, self.yaml, all, self.base));
        }
    }

    /// A value that needs no YAML reader: none, or text that YAML reads as this very text.
    fn simple(&self, at: usize) -> Option<Value> {
        let KeyLines { span, value, .. } = &self.keys[at];
        let text = value.of(self.yaml);
        let one_line = line_at(self.yaml, span.start).end == span.end;
        match (one_line, text.is_empty()) {
            (true, true) => Some(Value::Null),
            (true, false) if emit::is_plain(text) => Some(Value::from(text)),
            _ => None,
        }
    }

    /// The lines of one property, read by themselves.
    fn one(&mut self, at: usize) -> (Value, Option<Failure>) {
        let lines = self.keys[at].span;
        match tree::read(lines.of(self.yaml)) {
            Ok(mut tree) if tree.entries.len() == 1 => {
                let issues = tree.issues.iter().map(|(_, issue)| remark::issue(issue, lines.shift(self.base)));
                self.diagnostics.extend(issues);
                (tree.entries.remove(0).1, None)
            }
            Ok(_) => {
                let message = "not one property".to_owned();
                (self.plain_text(at), Some(Failure::Syntax { line: 0, message }))
            }
            Err(failure) => (self.plain_text(at), Some(failure)),
        }
    }

    /// What a broken line most likely means: `title: Fix: the bug` is that text.
    fn plain_text(&self, at: usize) -> Value {
        let text = self.keys[at].value.of(self.yaml).lines().next().unwrap_or("").trim();
        let unusable = text.is_empty() || text.starts_with(['|', '>', '[', '&', '*']) || text.len() > tree::MAX_BYTES;
        if unusable { Value::Null } else { Value::from(text) }
    }

    fn entry(&self, key: String, value: Value, whole: bool, at: Option<usize>) -> Entry {
        let lines = at.map(|at| &self.keys[at]);
        let text = lines.map_or("", |lines| lines.value.of(self.yaml));
        let bare = !text.contains('\n') && !text.starts_with(['"', '\'', '&', '*', '!', '|', '>', '[', '{']);
        Entry {
            key,
            whole,
            written: (bare && !text.is_empty() && value.text().is_some()).then(|| text.to_owned()),
            value,
            lines: lines.map(|lines| lines.span.shift(self.base)),
            span: lines.map_or(Span::at(self.base), |lines| lines.value.shift(self.base)),
        }
    }

    fn repeated_keys(&mut self) {
        let mut seen = HashSet::new();
        for entry in &self.values.entries {
            if !seen.insert(&entry.key) {
                let span = entry.lines.unwrap_or(entry.span);
                self.diagnostics.push(remark::repeated_key(&entry.key, span));
            }
        }
    }

    /// Remarks on what YAML takes but the person hardly meant.
    fn odd_spellings(&mut self) {
        for entry in &self.values.entries {
            let Some(lines) = entry.lines else { continue };
            let text = Span::new(entry.span.start - self.base, entry.span.end - self.base).of(self.yaml);
            let quoted =
                Span::new(lines.start - self.base, lines.end - self.base).of(self.yaml).starts_with(['"', '\'']);
            if !quoted && emit::is_no_text(&entry.key) {
                self.diagnostics.push(remark::odd_key(&entry.key, lines));
            }
            if text.starts_with(['&', '*']) {
                self.diagnostics.push(remark::alias(entry.span));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::split;
    use super::*;
    use cru_base::Lines;

    /// Values and `line: code` of each diagnostic.
    fn read_all(yaml: &str) -> (Values, Vec<String>) {
        let text = format!("---\n{yaml}---\nbody\n");
        let (values, diagnostics) = read(&text, &split(&text).block.unwrap());
        for entry in values.entries() {
            let lines = entry.lines.unwrap_or(entry.span);
            assert!(lines.encloses(entry.span) && text.get(lines.range()).is_some(), "{entry:?}");
        }
        let lines = Lines::of(&text);
        let told = diagnostics.iter().map(|it| {
            assert!(text.get(it.span.range()).is_some());
            format!("{} {}", lines.line(it.span.start), it.code)
        });
        (values.clone(), told.collect())
    }

    fn told(yaml: &str) -> Vec<String> {
        read_all(yaml).1
    }

    #[test]
    fn getters() {
        let (values, told) = read_all(concat!(
            "title: Refresh tokens # why\n",
            "started: 2026-11-20T09:31:04Z\n",
            "tokens_used: 48210\n",
            "cost_usd: 0.410\n",
            "commit: \"0042\"\n",
            "export: False\n",
            "participants:\n  - planner@1.2\n  - 1.10\n",
            "tag: auth\n",
            "empty:\n",
        ));
        assert_eq!(told, [] as [&str; 0]);
        assert_eq!(values.string("title"), Some("Refresh tokens"));
        assert_eq!(values.string("started"), Some("2026-11-20T09:31:04Z"));
        assert_eq!((values.u64("tokens_used"), values.string("tokens_used")), (Some(48210), Some("48210")));
        assert_eq!((values.f64("cost_usd"), values.string("cost_usd")), (Some(0.41), Some("0.410")));
        assert_eq!(values.string("commit"), Some("0042"));
        assert_eq!((values.bool("export"), values.string("export")), (Some(false), Some("False")));
        assert_eq!(values.strings("participants"), ["planner@1.2", "1.10"]);
        assert_eq!(values.strings("tag"), ["auth"]);
        assert_eq!((values.get("empty"), values.string("empty")), (Some(&Value::Null), None));
        assert_eq!(values.get("nowhere"), None);
    }

    #[test]
    fn spans_are_bytes_of_the_file() {
        let text = "\u{feff}---\r\na: 'x' # c\r\n# between\r\nb:\r\n  - y\r\n\r\n---\r\n";
        let (values, _) = read(text, &split(text).block.unwrap());
        let places: Vec<_> = values.entries().iter().map(|it| (it.lines.unwrap().of(text), it.span.of(text))).collect();
        assert_eq!(places, [("a: 'x' # c\r\n", "'x'"), ("b:\r\n  - y\r\n", "\r\n  - y")]);
    }

    #[test]
    fn one_broken_line_hides_no_other() {
        for (broken, code, value) in [
            ("title: Fix: the bug", "frontmatter-syntax", Some("Fix: the bug")),
            ("agent: @coder", "frontmatter-syntax", Some("@coder")),
            ("tags: [#a]", "frontmatter-syntax", None),
            ("x: \"open", "frontmatter-syntax", Some("\"open")),
            ("x:\n\ty: 1", "frontmatter-tab", None),
            ("x: {{date}}", "frontmatter-template", Some("{{date}}")),
            ("x: *bold*", "frontmatter-alias", None),
            ("x: a\u{0}b", "frontmatter-syntax", Some("a\u{0}b")),
            ("x:\n  - a\n b: c", "frontmatter-syntax", None),
        ] {
            let (values, told) = read_all(&format!("session_id: s-1\n{broken}\nstatus: active\nn: 3\n"));
            assert_eq!(values.string("session_id"), Some("s-1"), "{broken}");
            assert_eq!(values.string("status"), Some("active"), "{broken}");
            assert_eq!(values.u64("n"), Some(3), "{broken}");
            assert_eq!(values.entries()[1].value.text(), value, "{broken}");
            let line = if broken.contains('\n') { 4 + broken.matches('\n').count() - 1 } else { 3 };
            assert_eq!(told, [format!("{line} {code}")], "{broken}");
        }
    }

    #[test]
    fn what_is_odd_is_told_at_its_line() {
        assert_eq!(told("a: 1\nb: 2\na: 3\n"), ["4 frontmatter-duplicate-key"]);
        assert_eq!(read_all("a: 1\na: 3\n").0.u64("a"), Some(3));
        assert_eq!(told("a: 1\nb: !Name x\n"), ["3 frontmatter-tag"]);
        assert_eq!(read_all("b: !Name x\n").0.string("b"), Some("x"));
        assert_eq!(
            told("n: .nan\nm: 123456789012345678901234567890\n"),
            ["2 frontmatter-number", "3 frontmatter-number"]
        );
        assert_eq!(told("1: a\n"), ["2 frontmatter-key"]);
        assert_eq!(told("a: &x 1\nb: *x\n"), ["2 frontmatter-alias", "3 frontmatter-alias"]);
        assert_eq!(told("- a\n- b\n"), ["2 frontmatter-not-a-map"]);
        assert_eq!(told("just words\n"), ["2 frontmatter-not-a-map"]);
        assert_eq!(told("? [a, b]\n: c\n"), ["2 frontmatter-key"]);
        assert_eq!(told("a: 1\n...\nb: 2\n"), ["2 frontmatter-syntax"]);
        assert_eq!(told("a: {b: 1, b: 2}\n"), ["2 frontmatter-duplicate-key"]);
        assert_eq!(told("# only a comment\n"), [] as [&str; 0]);
    }

    #[test]
    fn bombs_leave_the_other_properties() {
        let deep = format!("status: active\nx: {}\ny: 1\n", "[".repeat(100_000));
        let (values, told) = read_all(&deep);
        assert_eq!((values.string("status"), values.u64("y")), (Some("active"), Some(1)));
        assert_eq!(told, ["3 frontmatter-too-deep"]);
        let long = format!("status: active\nx: {}\ny: 1\n", "x".repeat(3 << 20));
        let (values, told) = read_all(&long);
        assert_eq!((values.string("status"), values.u64("y")), (Some("active"), Some(1)));
        assert_eq!(told, ["2 frontmatter-too-long"]);
        let many = format!("{}a: plain\nz: 'last'\n", "q: \"x\n".repeat(MAX_TRIES));
        let (values, told) = read_all(&many);
        assert_eq!((values.string("a"), values.string("z")), (Some("plain"), Some("'last'")));
        assert_eq!(told.last().unwrap(), &format!("{} frontmatter-too-long", MAX_TRIES + 3));
    }
}
