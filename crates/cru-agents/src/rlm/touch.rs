//! The log of files that were read and written, and the outputs of the tools that did it.
//!
//! The log says what was touched and the output what came of it; neither says which belongs to which. An output of a
//! tool that reads (or writes) one file and an access of that kind within two seconds are one access.

use crate::file::value::filled;
use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;
use serde_json::Value;

use cru_action::ToolKind;

/// Seconds between an access and the output of the same access.
const NEAR: i64 = 2;

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FileAccess {
    Read,
    Write,
    Create,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) path: String,
    pub(super) access: FileAccess,
}

impl Access {
    /// Reads a line; `None` where it names no file.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let path = filled(value, ["path", "file_path", "file"])?.trim().to_owned();
        let names =
            ["operation", "op", "access_type", "access", "type", "action", "mode", "event", "tool", "tool_name"];
        let word = filled(value, names).unwrap_or("read").to_ascii_lowercase();
        let access = if word.contains("creat") {
            FileAccess::Create
        } else if ["write", "edit", "modif", "delet", "w"]
            .iter()
            .any(|part| word == *part || (part.len() > 1 && word.contains(part)))
        {
            FileAccess::Write
        } else {
            FileAccess::Read
        };
        Some(Self { path, access })
    }
}

/// Outputs that wait for the access of the same access, by kind and second.
#[derive(Debug, Default)]
pub(super) struct Waiting(HashMap<(bool, i64), VecDeque<usize>>);

impl Waiting {
    /// The output with this index.
    pub(super) fn add(&mut self, tool: &str, time: Option<Timestamp>, index: usize) {
        let kind = ToolKind::of(tool);
        if let Some(time) = time.filter(|_| kind == ToolKind::Read || kind.writes_files()) {
            self.0.entry((kind == ToolKind::Read, time.as_second())).or_default().push_back(index);
        }
    }

    /// Takes the output of the same access, the nearest in time and the first among those.
    pub(super) fn take(&mut self, access: &Access, time: Option<Timestamp>) -> Option<usize> {
        let second = time?.as_second();
        let mut seconds: Vec<i64> = (-NEAR..=NEAR).collect();
        seconds.sort_by_key(|away| away.abs());
        seconds.into_iter().find_map(|away| {
            self.0.get_mut(&(access.access == FileAccess::Read, second.saturating_add(away)))?.pop_front()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_lines_say() {
        let of = |value: Value| Access::of(&value).map(|access| (access.path, access.access));
        assert_eq!(of(json!({"path": "a", "operation": "read"})), Some(("a".to_owned(), FileAccess::Read)));
        assert_eq!(of(json!({"file_path": "a", "op": "WRITE"})), Some(("a".to_owned(), FileAccess::Write)));
        assert_eq!(of(json!({"file": "a", "mode": "w"})), Some(("a".to_owned(), FileAccess::Write)));
        assert_eq!(of(json!({"file": "a", "type": "created"})), Some(("a".to_owned(), FileAccess::Create)));
        assert_eq!(of(json!({"file": "a", "mode": "view"})), Some(("a".to_owned(), FileAccess::Read)));
        assert_eq!(of(json!({"path": 1})), None);
    }

    #[test]
    fn near_ones_are_one_deed() {
        let at = |second: i64| Timestamp::from_second(second).ok();
        let read = Access { path: "a".to_owned(), access: FileAccess::Read };
        let mut waiting = Waiting::default();
        waiting.add("Read", at(100), 1);
        waiting.add("Read", at(102), 2);
        waiting.add("Bash", at(102), 3);
        assert_eq!(waiting.take(&read, at(103)), Some(2));
        assert_eq!(waiting.take(&read, at(103)), None);
        assert_eq!(waiting.take(&Access { access: FileAccess::Write, ..read.clone() }, at(100)), None);
        assert_eq!(waiting.take(&read, None), None);
        assert_eq!(waiting.take(&read, at(100)), Some(1));
    }
}
