//! What a call quotes of a file, what it writes into it, and which files it names.
//!
//! Read off the shape of arguments alone: an old text beside a new one, or a patch. Whoever wrote the call had seen what it
//! quotes.

use serde_json::{Map, Value};

use super::argument::{COMMANDS, FILES, NEW, OLD};
use super::patch::{self, Line};

/// What a call quotes, writes and names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Quotes<'a> {
    /// Pieces of files as they stood, each as its lines.
    pub(super) old: Vec<Vec<&'a str>>,
    /// Lines that are written.
    pub(super) new: Vec<&'a str>,
    /// Texts in which files are named.
    pub(super) names: Vec<&'a str>,
}

/// What stands in the arguments of a call.
pub(super) fn of(arguments: &Map<String, Value>) -> Quotes<'_> {
    let mut quotes = Quotes::default();
    for (name, value) in arguments {
        quotes.take(name, value);
    }
    quotes
}

impl<'a> Quotes<'a> {
    /// Arguments are as deep as a JSON reader lets them be.
    fn take(&mut self, name: &str, value: &'a Value) {
        match value {
            Value::String(text) if OLD.contains(&name) => self.old.push(text.lines().collect()),
            Value::String(text) if NEW.contains(&name) => self.new.extend(text.lines()),
            Value::String(text) if FILES.contains(&name) => self.names.push(text),
            Value::String(text) if patch::is_patch(text) => self.patch(text),
            Value::String(text) if COMMANDS.contains(&name) && !text.contains('\n') => self.names.push(text),
            Value::Array(items) => items.iter().for_each(|item| self.take(name, item)),
            Value::Object(map) => map.iter().for_each(|(name, value)| self.take(name, value)),
            _ => {}
        }
    }

    /// The pieces of a patch: what it takes out and what it keeps was there, the rest is new.
    fn patch(&mut self, text: &'a str) {
        let mut piece = Vec::new();
        let end = |old: &mut Vec<Vec<&'a str>>, piece: &mut Vec<&'a str>| {
            if !piece.is_empty() {
                old.push(std::mem::take(piece));
            }
        };
        for line in patch::lines(text) {
            match line {
                Line::File(path) => {
                    end(&mut self.old, &mut piece);
                    self.names.push(path);
                }
                Line::New(_) | Line::Break => end(&mut self.old, &mut piece),
                Line::In(line) => self.new.push(line),
                Line::Out(line) | Line::Kept(line) if !line.is_empty() => piece.push(line),
                Line::Out(_) | Line::Kept(_) => {}
            }
        }
        end(&mut self.old, &mut piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotes(arguments: &Value) -> (Vec<Vec<String>>, Vec<String>, Vec<String>) {
        let quotes = of(arguments.as_object().unwrap());
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        (quotes.old.iter().map(|piece| owned(piece)).collect(), owned(&quotes.new), owned(&quotes.names))
    }

    #[test]
    fn edits() {
        let edit = serde_json::json!({ "file_path": "a/ship.rs", "edits": [{ "old_string": "mast\nsail", "new_string": "oar" }] });
        assert_eq!(
            quotes(&edit),
            (vec![vec!["mast".into(), "sail".into()]], vec!["oar".into()], vec!["a/ship.rs".into()])
        );
        let search = serde_json::json!({ "pattern": "mast", "output_mode": "content" });
        assert_eq!(quotes(&search), (vec![], vec![], vec![]));
    }

    #[test]
    fn patches() {
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ship.rs\n@@\n mast\n-sail\n+oar\n@@ fn row\n-row\n*** Add File: b.rs\n+new\n*** End Patch\nEOF";
        let patch = serde_json::json!({ "command": ["bash", "-lc", patch] });
        let (old, new, names) = quotes(&patch);
        assert_eq!(old, [vec!["mast".to_owned(), "sail".into()], vec!["row".into()]]);
        assert_eq!(new, ["oar", "new"]);
        assert_eq!(names, ["bash", "-lc", "ship.rs"]);
    }
}
