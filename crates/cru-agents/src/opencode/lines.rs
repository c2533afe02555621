//! The lines that reads and edits show.

use serde_json::Value;

use crate::call::touched;
use crate::file::value::{list, word};
use cru_session::LineAnchor;

/// The lines of a file that were read: `12: text`, and `00012| text` of older versions, between marks of the host.
pub(super) fn read(output: &str) -> Option<LineAnchor> {
    let shown = ["<content>\n", "<file>\n"].iter().find_map(|mark| Some(output.split_once(mark)?.1))?;
    // Behind the lines stands an empty one, and what the host says of the rest.
    let end = shown.rfind("\n\n(").or_else(|| shown.rfind("\n</")).unwrap_or(shown.len());
    touched::numbered(shown[..end].split('\n'), &[": ", "| ", ":", "|"])
}

/// What the host says of the file that a call changed.
pub(super) fn changed(metadata: &Value) -> Option<&Value> {
    metadata.get("filediff").or_else(|| list(metadata, "files").first())
}

/// Whether the call made the file.
pub(super) fn created(metadata: &Value) -> bool {
    let added = changed(metadata).is_some_and(|file| word(file, "status") == "added");
    added || metadata.get("exists") == Some(&Value::Bool(false))
}

/// The unified diff of an edit.
pub(super) fn diff(metadata: &Value) -> &str {
    match word(metadata, "diff") {
        "" => changed(metadata).map_or("", |file| word(file, "patch")),
        diff => diff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read() {
        let of = |output: &str| read(output).map(|it| (it.place(), it.hash));
        let wanted = Some(("9-11".to_owned(), cru_session::line_anchor::hash_text("a\n\nb")));
        assert_eq!(
            of(
                "<path>/x</path>\n<type>file</type>\n<content>\n9: a\n10: \n11: b\n\n(End of file - total 11 lines)\n</content>"
            ),
            wanted
        );
        assert_eq!(of("<file>\n00009| a\n00010| \n00011| b\n\n(File has more lines. Use 'offset')\n</file>"), wanted);
        assert_eq!(of("<content>\n9: a\n10: \n11: b\n</content>"), wanted);
        assert_eq!(of("text"), None);
    }
}
