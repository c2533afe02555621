//! What the records of a file look like, for a report of a form that is not known: names of members and types of values,
//! never what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::file::document;
use crate::file::lines::{Line, Lines, MAX_LINE, trim};
use crate::file::sqlite::{is_database, opened};
use crate::file::{unpack, value};
use cru_base::{Error, Result};
use cru_session::source::Bundle;

/// Members whose value names the kind of a record, and is told where it is a plain word.
const KINDS: [&str; 6] = ["type", "subtype", "kind", "role", "event", "version"];

/// Kinds that are told, members of one object, and levels.
const MOST: usize = 64;
const DEPTH: usize = 8;

/// The kinds of records in a file, each with how many there are and the form of them all together; the columns of the
/// tables of a database. Nothing of a file that holds no JSON. Errors: a file that cannot be read.
pub fn shapes(path: &Path) -> Result<Vec<Value>> {
    let failed = |source| Error::io("read", path, source);
    if super::head(path).is_ok_and(|head| is_database(&head)) {
        return opened(path, &[], |base| {
            let columns = "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'";
            let mut tables: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
            let rows = base.base.prepare(columns).and_then(|mut rows| {
                rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect::<Result<Vec<_>, _>>()
            });
            for (table, column, kind) in rows.unwrap_or_default() {
                let (table, column, kind): (String, String, String) = (table, column, kind);
                tables.entry(name(&table)).or_default().insert(name(&column), name(&kind.to_lowercase()));
            }
            Ok(tables.into_iter().map(|(table, form)| json!({ "table": table, "form": form })).collect())
        });
    }
    let bundle = Bundle::default();
    let mut lines = Lines::new(unpack::open(&bundle, path).map_err(failed)?, MAX_LINE);
    let mut found = Shapes::default();
    while let Some(line) = lines.next().map_err(failed)? {
        if let Line::Whole(line, _) = line
            && let Some(record) = value::read(trim(line)).filter(Value::is_object)
        {
            found.add(&record);
        }
    }
    if found.0.is_empty()
        && let Some(whole) = document::read(&bundle, path)?.and_then(|text| value::read(text.as_bytes()))
    {
        found.add(&whole);
    }
    let told = |(kind, (records, form)): (String, (u64, BTreeMap<String, BTreeSet<String>>))| {
        let types = |kinds: BTreeSet<String>| kinds.into_iter().collect::<Vec<_>>().join(" | ");
        let form: BTreeMap<String, String> = form.into_iter().map(|(way, kinds)| (way, types(kinds))).collect();
        json!({ "kind": kind, "records": records, "form": form })
    };
    Ok(found.0.into_iter().map(told).collect())
}

/// Records by kind: how many, and the types of each member by its way through objects and lists.
#[derive(Default)]
struct Shapes(BTreeMap<String, (u64, BTreeMap<String, BTreeSet<String>>)>);

impl Shapes {
    fn add(&mut self, record: &Value) {
        let inner = record.as_object().into_iter().flatten().filter(|(_, value)| value.is_object());
        let words = words(record).into_iter().chain(inner.flat_map(|(_, value)| self::words(value)));
        let kind = words.collect::<Vec<_>>().join(" ");
        if self.0.len() < MOST || self.0.contains_key(&kind) {
            let (records, form) = self.0.entry(kind).or_default();
            *records += 1;
            walk(record, "", DEPTH, form);
        }
    }
}

/// Takes in the types of a value and of what is in it.
fn walk(value: &Value, way: &str, depth: usize, form: &mut BTreeMap<String, BTreeSet<String>>) {
    let last = way.rsplit('.').next().unwrap_or(way);
    let told = value.as_str().filter(|word| KINDS.contains(&last) && is_plain(word));
    let kind = match value {
        Value::Object(_) | Value::Array(_) if depth == 0 => "…",
        Value::Object(members) => {
            for (key, value) in members.iter().take(MOST) {
                let way = if way.is_empty() { name(key) } else { format!("{way}.{}", name(key)) };
                walk(value, &way, depth - 1, form);
            }
            return;
        }
        Value::Array(list) => {
            list.iter().take(MOST).for_each(|item| walk(item, &format!("{way}[]"), depth - 1, form));
            return;
        }
        Value::String(_) => told.unwrap_or("string"),
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
    };
    if form.len() < MOST * DEPTH || form.contains_key(way) {
        let kinds = form.entry(way.to_owned()).or_default();
        if kinds.len() < MOST {
            kinds.insert(kind.to_owned());
        }
    }
}

/// The words that name the kind of an object.
fn words(record: &Value) -> Vec<String> {
    let word = |key: &&str| record.get(*key)?.as_str().filter(|word| is_plain(word)).map(str::to_owned);
    KINDS.iter().filter(|key| **key != "version").filter_map(word).collect()
}

/// Whether a text is a name that a program gives, and nothing that a person wrote.
fn is_plain(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.len() <= 48 && text.chars().all(fits)
}

/// A member's name; those that are no plain names may hold paths or words.
fn name(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { "…".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, bytes: &[u8]) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        cru_base::files::create(&path, bytes).unwrap();
        shapes(&path).unwrap()
    }

    #[test]
    fn names_and_types_and_no_text() {
        let records = "{\"type\":\"say\",\"text\":\"my secret\",\"files\":{\"/home/mia/x\":1}}\n\
                       {\"type\":\"say\",\"text\":null,\"more\":[{\"role\":\"user\"},{\"role\":\"who am I?\",\"n\":2}]}\n\
                       {\"type\":\"cost-state\",\"usage\":{\"m\":1.5}}\nbroken\n";
        let told = Value::from(of("a.jsonl", records.as_bytes()));
        assert_eq!(
            told,
            json!([
                { "kind": "cost-state", "records": 1, "form": { "type": "cost-state", "usage.m": "number" } },
                { "kind": "say", "records": 2, "form": {
                    "type": "say", "text": "null | string", "files.…": "number",
                    "more[].role": "string | user", "more[].n": "number",
                } },
            ])
        );
        assert_eq!(of("a.json", b"[\n{\"a\":\ntrue}\n]")[0]["form"], json!({ "[].a": "boolean" }));
        assert!(of("a.md", b"# words\n").is_empty());
    }

    #[test]
    fn tables_of_a_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let made = "CREATE TABLE session (id TEXT, tokens INTEGER); INSERT INTO session VALUES ('my secret', 1);";
        rusqlite::Connection::open(&path).unwrap().execute_batch(made).unwrap();
        let wanted = json!({ "table": "session", "form": { "id": "text", "tokens": "integer" } });
        assert_eq!(shapes(&path).unwrap(), [wanted]);
    }

    #[test]
    fn deep_and_wide_values_are_cut() {
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        assert!(of("a.json", deep.as_bytes())[0].to_string().len() < 200);
        let wide: serde_json::Map<_, _> = (0..1000).map(|at| (format!("k{at}"), at.into())).collect();
        let told = of("a.json", Value::Object(wide).to_string().as_bytes());
        assert_eq!(told[0]["form"].as_object().unwrap().len(), MOST);
    }
}
