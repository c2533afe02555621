//! Rows in TOON: flat tables, each value decoding back to the same JSON.

use crate::base::{Error, Result};

use super::record::Record;

/// A session's record.
pub fn encode(record: &Record) -> Result<String> {
    serde_toon::to_string(record).map_err(|error| Error::usage(format!("a record could not be encoded: {error}")))
}

/// The record that [`encode`] was given.
pub fn decode(text: &str) -> Result<Record> {
    serde_toon::from_str(text).map_err(|error| Error::usage(format!("a record could not be decoded: {error}")))
}
