//! The dataset card: a `README.md` that tells loaders what is in a folder of rows, so that they infer nothing.
//!
//! The features are read off a row itself, so the card cannot say something else than the rows do.

use std::fmt::Write as _;

use serde_json::Value;

/// Stands in every card; a folder whose `README.md` lacks it is somebody else's.
pub const MARK: &str = "<!-- Written by `cru session learn`: the next export into this folder replaces it. -->";

/// One file of rows.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name of the configuration: `sft`.
    pub config: &'static str,
    /// File name in the folder.
    pub file: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Any of its rows.
    pub sample: Value,
}

/// The card of a folder with these files.
pub fn card(tables: &[Table], left_out: &[(String, usize)]) -> String {
    let mut card = String::from("---\npretty_name: Cases from agent sessions\nconfigs:\n");
    for (index, table) in tables.iter().enumerate() {
        let default = if index == 0 { "  default: true\n" } else { "" };
        let _ = writeln!(
            card,
            "- config_name: {}\n{default}  data_files:\n  - split: train\n    path: {}",
            table.config, table.file
        );
    }
    card.push_str("dataset_info:\n");
    for table in tables {
        let _ = writeln!(card, "- config_name: {}\n  features:", table.config);
        features(&mut card, &table.sample);
    }
    card.push_str("---\n\n# Cases from agent sessions\n\n");
    card.push_str(MARK);
    card.push_str("\n\n| configuration | file | rows | for |\n| --- | --- | ---: | --- |\n");
    for table in tables {
        let _ = writeln!(card, "| `{}` | `{}` | {} | {} |", table.config, table.file, table.rows, table.about);
    }
    card.push_str(ABOUT);
    if !left_out.is_empty() {
        card.push_str("\n## Left out\n\n");
        for (reason, count) in left_out {
            let _ = writeln!(card, "- {count}: {reason}");
        }
    }
    card
}

const ABOUT: &str = r#"
```python
from datasets import load_dataset
rows = load_dataset("path/to/this/folder", "sft", split="train")
```

Every answer stands in a session's record: what solved a failure, or what the agent did after a person corrected it. None
is made up. Only `completion` is meant to be trained on; a prompt that was too long has lost its middle, an answer is
whole, so train with a `max_length` that holds the longest row.

Tool calls are lines of text, `` `tool arguments` → result ``, since that is what a session note holds
(`metadata.tool_fidelity: summary`). Filter by `metadata`:

| key | meaning |
| --- | --- |
| `case_type` | `puzzle` (something failed) or `correction` (a person set the agent right) |
| `evidence`, `verified` | how the answer is known; whether a later success of what had failed stands in the record |
| `rule` | why it counts as a correction: its `words`, a call `denied` or the agent `interrupted` right before, or only that it is `titled` so |
| `complete` | whether the answer is all that was done: long work after a correction is told by its beginning |
| `corrected_again` | whether the person had to correct the answer too |
| `session_id`, `root_session_id` | split by the root, so that a session and its sub-agents stay together |
| `source` | file, lines and block of the note that says it |
| `content_hash` | changes with any text of the case |
"#;

/// The features of a row in the form of the card's front matter.
fn features(card: &mut String, row: &Value) {
    let Some(row) = row.as_object() else { return };
    for (name, value) in row {
        feature(card, name, value, "  ");
    }
}

/// One feature. Rows are three levels deep (a column, an object in it, one in that), so the recursion is bounded by
/// our own types.
fn feature(card: &mut String, name: &str, value: &Value, indent: &str) {
    let _ = writeln!(card, "{indent}- name: {name}");
    let deeper = format!("{indent}  ");
    match value {
        Value::Object(fields) => {
            let _ = writeln!(card, "{deeper}struct:");
            for (name, value) in fields {
                feature(card, name, value, &deeper);
            }
        }
        Value::Array(items) => {
            let _ = writeln!(card, "{deeper}list:");
            for (name, value) in items.first().and_then(Value::as_object).into_iter().flatten() {
                feature(card, name, value, &deeper);
            }
        }
        Value::Bool(_) => {
            let _ = writeln!(card, "{deeper}dtype: bool");
        }
        Value::Number(_) => {
            let _ = writeln!(card, "{deeper}dtype: int64");
        }
        Value::String(_) | Value::Null => {
            let _ = writeln!(card, "{deeper}dtype: string");
        }
    }
}
