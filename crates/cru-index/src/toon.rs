//! TOON: the compact text that records are kept in and that `-f toon` writes.
//!
//! Each list of rows of a record is one table (`steps[3]{id,phase,…}:` and a line for each row), and a record decodes
//! back to the same record. Decoding is strict: a record that was cut short or damaged is refused, never guessed at.

mod tables;

pub use tables::decode_tables;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_toon::DecodeOptions;

use super::record::Record;
use cru_base::{Error, Result};

/// A session's record.
pub fn encode(record: &Record) -> Result<String> {
    serde_toon::to_string(record).map_err(|error| Error::internal("encode a record of the search index", error))
}

/// The record that [`encode`] was given, or the value that [`to_toon`] was; strict.
pub fn decode<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_toon::from_str_with_options(text, DecodeOptions::strict())
        .map_err(|error| Error::internal("decode what was written as TOON", error))
}

/// Any JSON value, without a line end behind it. A number that JSON cannot hold is `null`, and `-0` is `0`.
pub fn to_toon(value: &Value) -> Result<String> {
    serde_toon::to_string(value).map_err(|error| Error::internal("encode the result as TOON", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{DecisionRow, ErrorRow, FileRow, PhaseRow, StepRow, SubagentRow, TaskRow, UserRow};

    /// Two rows of each kind, one with everything and one with nothing.
    fn record() -> Record {
        let text = || Some("a, b: \"c\"\n- d".to_owned());
        let time = || "2026-11-20T10:00:00Z".parse().ok();
        Record {
            phases: vec![
                PhaseRow { agent: text(), started: time(), after: text(), ..PhaseRow::default() },
                PhaseRow::default(),
            ],
            steps: vec![
                StepRow {
                    id: text(),
                    result: text(),
                    check: text(),
                    time: time(),
                    exit: Some(-1),
                    duration_ms: Some(7),
                    after: text(),
                    dependents: text(),
                    ..StepRow::default()
                },
                StepRow::default(),
            ],
            decisions: vec![DecisionRow { why: text(), at: time(), ..DecisionRow::default() }, DecisionRow::default()],
            errors: vec![ErrorRow { resolution: text(), ..ErrorRow::default() }, ErrorRow::default()],
            user: vec![UserRow { id: text(), correction: true, ..UserRow::default() }, UserRow::default()],
            subagents: vec![SubagentRow { tokens: Some(u64::MAX), ..SubagentRow::default() }, SubagentRow::default()],
            files: vec![FileRow { hash: text(), ..FileRow::default() }, FileRow::default()],
            tasks: vec![TaskRow { priority: text(), ..TaskRow::default() }, TaskRow::default()],
            ..Record::default()
        }
    }

    #[test]
    fn every_list_of_rows_is_a_table() {
        let record = record();
        let text = encode(&record).unwrap();
        let json = serde_json::to_value(&record).unwrap();
        let mut tables = 0;
        for (name, rows) in json.as_object().unwrap() {
            let Some(rows) = rows.as_array() else { continue };
            let columns: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
            let head = format!("{name}[2]{{{}}}:", columns.join(","));
            let at = text.lines().position(|line| line == head).unwrap_or_else(|| panic!("no `{head}` in\n{text}"));
            assert_eq!(text.lines().skip(at + 1).take_while(|line| line.starts_with("  ")).count(), 2, "{name}");
            tables += 1;
        }
        assert_eq!(tables, 8, "every list of a record is looked at");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("- ")), "no list of objects\n{text}");
        assert_eq!(decode::<Record>(&text).unwrap(), record);
    }

    #[test]
    fn a_damaged_record_is_refused() {
        let text = encode(&record()).unwrap();
        assert!(decode::<Record>(&text[..text.len() - 40]).is_err(), "cut short");
        assert!(decode::<Record>(&text.replace("steps[2]", "steps[3]")).is_err(), "a row is missing");
        assert!(decode::<Record>("").is_err());
    }
}
