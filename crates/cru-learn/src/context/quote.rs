//! What a call quotes of a file, what it writes into it, and which files it names.
//!
//! Whoever wrote the call had seen what it quotes.

use serde_json::{Map, Value};

use cru_action::patch::{self, PatchLine};
use cru_action::tool::{self, Role};
use cru_action::{ToolKind, argv};

/// What a call quotes, writes and names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Quotes<'a> {
    /// Pieces of files as they stood, each as its lines.
    pub(crate) old: Vec<Vec<&'a str>>,
    /// Lines that are written.
    pub(crate) new: Vec<&'a str>,
    /// Texts in which files are named.
    pub(crate) names: Vec<&'a str>,
}

/// What stands in the arguments of a call.
pub(crate) fn of<'a>(name: &str, arguments: &'a Map<String, Value>) -> Quotes<'a> {
    let mut quotes = Quotes::default();
    for file in patch::of_call(name, arguments) {
        quotes.names.extend(file.old_path);
        for hunk in &file.hunks {
            let mut piece = Vec::new();
            for line in &hunk.lines {
                match *line {
                    PatchLine::Added(line) => quotes.new.push(line),
                    PatchLine::Kept(line) | PatchLine::Removed(line) if !line.is_empty() => piece.push(line),
                    PatchLine::Kept(_) | PatchLine::Removed(_) => {}
                }
            }
            if !piece.is_empty() {
                quotes.old.push(piece);
            }
        }
    }
    // A whole script names what it makes, too.
    let command = tool::argument(name, arguments, Role::Command).map(|(_, value)| value);
    let line = command.filter(|command| argv::script(command).is_some_and(|script| !script.contains('\n')));
    // The folder of a command is no file.
    let is_file = ToolKind::of(name) != ToolKind::Shell;
    let path = tool::argument(name, arguments, Role::Path).map(|(_, value)| value).filter(|_| is_file);
    for value in line.into_iter().chain(path) {
        match value {
            Value::Array(items) => quotes.names.extend(items.iter().filter_map(Value::as_str)),
            value => quotes.names.extend(value.as_str()),
        }
    }
    quotes.names.dedup();
    quotes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(tool: &str, arguments: &Value) -> (Vec<Vec<String>>, Vec<String>, Vec<String>) {
        let quotes = of(tool, arguments.as_object().unwrap());
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        (quotes.old.iter().map(|piece| owned(piece)).collect(), owned(&quotes.new), owned(&quotes.names))
    }

    #[test]
    fn edits() {
        let edit = serde_json::json!({ "file_path": "a/ship.rs", "edits": [{ "old_string": "mast\nsail", "new_string": "oar" }] });
        assert_eq!(
            quotes("Edit", &edit),
            (vec![vec!["mast".into(), "sail".into()]], vec!["oar".into()], vec!["a/ship.rs".into()])
        );
        let search = serde_json::json!({ "pattern": "mast", "output_mode": "content" });
        assert_eq!(quotes("Grep", &search), (vec![], vec![], vec![]));
    }

    #[test]
    fn patches() {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ship.rs\n@@\n mast\n-sail\n+oar\n@@ fn row\n-row\n*** Add File: b.rs\n+new\n*** End Patch\nEOF";
        let patch = serde_json::json!({ "command": ["bash", "-lc", patch] });
        let (old, new, names) = quotes("shell", &patch);
        assert_eq!(old, [vec!["mast".to_owned(), "sail".into()], vec!["row".into()]]);
        assert_eq!(new, ["oar", "new"]);
        assert_eq!(names, ["ship.rs"]);
    }
}
