//! Answers that make a check green by switching it off: who learns from them learns to cheat.
//!
//! Judged by what was written and run, never by what was taken away.

use serde_json::Value;

use super::case::{Case, Story};
use super::entry::Entry;

/// What makes a check pass, or not run at all, whatever it finds.
const SHORTCUTS: &[&str] = &[
    "continue-on-error: true",
    "allow_failure: true",
    "--no-verify",
    "--passWithNoTests",
    "@pytest.mark.skip(",
    "@pytest.mark.xfail",
    "@unittest.skip",
    "t.Skip(",
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "#[ignore]",
];

impl Case {
    /// Whether the answer to a failure, or work whose check passed, switched a check off.
    pub(super) fn takes_shortcut(&self) -> bool {
        let done = match &self.story {
            Story::Puzzle(it) if it.resolution.is_none() => &it.fix,
            Story::Demonstration(it) => &it.done,
            _ => return false,
        };
        done.iter().filter(|entry| entry.is_step()).any(is_shortcut)
    }
}

fn is_shortcut(entry: &Entry) -> bool {
    match entry.whole() {
        Some(call) => call.arguments.iter().any(|(name, value)| writes_shortcut(name, value)),
        None => has_shortcut(&entry.acted().text()),
    }
}

/// Whether what is passed under `name` writes one; what an edit replaces is passed as `old…`.
fn writes_shortcut(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => !name.starts_with("old") && has_shortcut(text),
        Value::Array(items) => items.iter().any(|item| writes_shortcut(name, item)),
        Value::Object(map) => map.iter().any(|(name, value)| writes_shortcut(name, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a text holds one on a line that a patch does not take away.
fn has_shortcut(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.starts_with('-'));
    lines.any(|line| SHORTCUTS.iter().any(|shortcut| line.contains(shortcut)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn checks_that_are_switched_off() {
        let edit = |old: &str, new: &str| writes_shortcut("", &json!({ "old_string": old, "new_string": new }));
        assert!(edit("run: pyright", "run: pyright\n  continue-on-error: true"));
        assert!(!edit("run: pyright\n  continue-on-error: true", "run: pyright"));
        assert!(writes_shortcut("", &json!({ "command": ["bash", "-lc", "git commit --no-verify -m x"] })));
        assert!(writes_shortcut("", &json!({ "edits": [{ "oldText": "a", "newText": "@pytest.mark.skip()\na" }] })));
        assert!(!writes_shortcut("input", &json!("*** Update File: a.py\n-@pytest.mark.skip()\n+def test_a():")));
        assert!(!writes_shortcut("command", &json!("@pytest.mark.skipif(no_browser)")));
    }
}
