//! Frontmatter as another splitter reads it: the same, but for the differences listed here, each of which must still
//! be one.

use std::path::Path;

use cru::note::frontmatter::{Value, read, split};
use gray_matter::engine::YAML;
use gray_matter::{Matter, ParsedEntity, Pod};

/// Why the other one reads a text otherwise. For all texts it trims the properties, takes the blank lines off the
/// start of the body and the line end off its end, and turns `\r\n` into `\n`; that is allowed for below.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Difference {
    None,
    /// It does not look behind a byte order mark.
    ByteOrderMark,
    /// It drops the first line of a note whose frontmatter has no end.
    Unclosed,
    /// It takes any white space behind the dashes, not blanks alone.
    OddBlank,
    /// It gives nothing at all where one line is broken.
    Refused,
    /// It reads a value otherwise.
    Value,
}

use Difference::{ByteOrderMark, None, OddBlank, Refused, Unclosed, Value as Values};

const TEXTS: &[(Difference, &str)] = &[
    (None, "---\ntype: session\nstatus: active\n---\n# Title\n\nText.\n"),
    (None, "---\ntags:\n  - a\n  - b\nn: 3\nf: 1.5\nyes: true\nnothing:\n---\nbody"),
    (None, "---\r\na: 1\r\nb: two words # why\r\n---\r\nbody\r\nmore\r\n"),
    (None, "---  \na: \"x: y\"\n---\t\nbody\n"),
    (None, "---\n---\nbody\n"),
    (None, "---\n\n---\n\n\nbody\n"),
    (None, "---\na: 1\n---"),
    (None, "---\na: |\n  one\n  two\nb: [x, 'y']\nc: {d: e}\n---\nbody\n---\nnot an excerpt\n"),
    (None, "no frontmatter\n\n---\na: 1\n---\n"),
    (None, "\n---\na: 1\n---\n"),
    (None, " ---\na: 1\n---\n"),
    (None, "----\na: 1\n----\n"),
    (None, "---\nstarted: 2026-11-20T09:31:04Z\ncommit: \"0042\"\nanswer: no\nyes: y\n---\nbody\n"),
    (ByteOrderMark, "\u{feff}---\na: 1\n---\nbody\n"),
    (Unclosed, "---\na: 1\nbody\n"),
    (Unclosed, "---\n\nA text below a rule.\n"),
    (OddBlank, "---\na: 1\n---\u{a0}\nbody\n---\nmore\n"),
    (Refused, "---\ntitle: Fix: the bug\nstatus: active\n---\nbody\n"),
    (Refused, "---\na: 1\na: 2\n---\nbody\n"),
    (Refused, "---\ndate: {{date}}\na: 1\n---\nbody\n"),
    (Values, "---\na: .inf\n---\nbody\n"),
];

#[test]
fn reads_what_another_splitter_reads() {
    for &(difference, text) in TEXTS {
        assert_eq!(compare(text), difference == None, "{difference:?}: {text:?}");
    }
}

#[test]
fn reads_the_notes_of_the_example_vault_alike() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("vault-example")];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "md") {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(compare(&text), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 0, "no notes in vault-example/");
}

/// Whether properties, their values and the body are the same.
fn compare(text: &str) -> bool {
    let split = split(text);
    let yaml = split.block.map_or("", |bounds| bounds.yaml.of(text));
    let values = split.block.map(|bounds| read(text, &bounds).0).unwrap_or_default();
    let Ok(other) = Matter::<YAML>::new().parse::<Pod>(text) else { return false };
    let ParsedEntity { data, content, matter, .. } = other;
    let lines = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    let body = text[split.body_start..].replace("\r\n", "\n");
    let body = body.trim_start_matches('\n');
    let fields = match data {
        Some(Pod::Hash(fields)) => fields,
        Some(_) => return false,
        Option::None => std::collections::HashMap::new(),
    };
    lines(yaml) == matter
        && body.strip_suffix('\n').unwrap_or(body) == content
        && fields.len() == values.entries().len()
        && values.entries().iter().all(|entry| fields.get(&entry.key).is_some_and(|pod| same(&entry.value, pod)))
}

fn same(value: &Value, pod: &Pod) -> bool {
    match (value, pod) {
        (Value::Null, Pod::Null) => true,
        (Value::Bool(one), Pod::Boolean(other)) => one == other,
        (Value::String(one), Pod::String(other)) => one == other,
        (Value::Number(one), Pod::Integer(other)) => one.as_str() == other.to_string(),
        (Value::Number(one), Pod::Float(other)) => one.as_f64() == Some(*other),
        (Value::List(one), Pod::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Map(one), Pod::Hash(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => false,
    }
}
