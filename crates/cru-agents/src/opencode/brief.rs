//! What an answer shows: one line that says it better than the beginning of its output, and the lines of files.

use serde_json::Value;

use crate::call::brief::{change, first_line};
use crate::call::touched;
use crate::file::value::{count, flag, list, word};
use cru_action::ToolKind;
use cru_base::text::{plural, thousands};
use cru_session::LineAnchor;

/// The brief of a successful answer, where the host says more than others.
pub(super) fn of(tool: &str, input: &Value, state: &Value, output: &str) -> Option<String> {
    let metadata = &state["metadata"];
    let more = if flag(metadata, "truncated") { " and more" } else { "" };
    let has = |key: &str| metadata.get(key).is_some_and(Value::is_number);
    match ToolKind::of(tool) {
        ToolKind::Read => return read(output),
        ToolKind::Edit => {
            let counted = changed(metadata).filter(|file| file.get("additions").is_some());
            let shown = |file| format!("+{} −{}", count(file, "additions"), count(file, "deletions"));
            return counted.map(shown).or_else(|| change(diff(metadata)));
        }
        ToolKind::Write if created(metadata) => {
            return Some(format!("created, {}", plural(word(input, "content").lines().count() as u64, "line")));
        }
        _ => {}
    }
    match tool {
        "grep" if has("matches") => match count(metadata, "matches") {
            0 => Some("no match".to_owned()),
            1 => Some("1 match".to_owned()),
            many => Some(format!("{} matches{more}", thousands(many))),
        },
        "glob" | "list" if has("count") => match count(metadata, "count") {
            0 => Some("no file".to_owned()),
            files => Some(format!("{}{more}", plural(files, "file"))),
        },
        "webfetch" => {
            let (_, kind) = word(state, "title").strip_suffix(')')?.rsplit_once(" (")?;
            let kind = kind.split(';').next().unwrap_or(kind);
            Some(format!("{kind}, {}", plural(output.chars().count() as u64, "character")))
        }
        "task" | "subagent" => first_line(answer(output)).map(str::to_owned),
        "skill" => Some("loaded".to_owned()),
        "question" => {
            let words = list(metadata, "answers").iter().flat_map(|answer| answer.as_array().into_iter().flatten());
            let words: Vec<&str> = words.filter_map(Value::as_str).collect();
            Some(words.join(", ")).filter(|words| !words.is_empty())
        }
        _ => None,
    }
}

/// How many lines of a file were read, and of how many where the host says that there are more.
fn read(output: &str) -> Option<String> {
    if output.contains("<type>directory</type>") {
        let (_, rest) = output.split_once("<entries>")?;
        let entries =
            rest.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['<', '('])).count();
        return Some(if entries == 1 {
            "1 entry".to_owned()
        } else {
            format!("{} entries", thousands(entries as u64))
        });
    }
    let (_, body) = output.split_once("<content>").or_else(|| output.split_once("<file>"))?;
    let lines = body.lines().filter(|line| is_numbered(line)).count() as u64;
    let total = body.lines().rev().filter(|line| line.starts_with('(')).find_map(|line| {
        let (_, rest) = line.split_once(" of ").or_else(|| line.split_once("total "))?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse::<u64>().ok()
    });
    let of = total.filter(|total| *total > lines).map(|total| format!(" of {}", thousands(total)));
    Some(format!("{}{}", plural(lines, "line"), of.unwrap_or_default()))
}

/// `12: text`, and `00012| text` of before.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && (rest.starts_with(':') || rest.starts_with('|'))
}

/// The answer of a sub-agent without what the host puts around it.
pub(super) fn answer(output: &str) -> &str {
    let inner = output.split_once("<task_result>").map(|(_, rest)| rest);
    let text = inner.map_or(output, |rest| rest.rsplit_once("</task_result>").map_or(rest, |(text, _)| text));
    let tagged = text.strip_prefix("<subagent ").and_then(|rest| Some(rest.split_once('>')?.1));
    let text = tagged.map_or(text, |rest| rest.rsplit_once("</subagent>").map_or(rest, |(text, _)| text));
    text.split_once("<task_metadata>").map_or(text, |(text, _)| text).trim()
}

/// The lines of a file that were read: `12: text`, and `00012| text` of older versions, between marks of the host.
pub(super) fn shown_lines(output: &str) -> Option<LineAnchor> {
    let shown = ["<content>\n", "<file>\n"].iter().find_map(|mark| Some(output.split_once(mark)?.1))?;
    // Behind the lines stands an empty one, and what the host says of the rest.
    let end = shown.rfind("\n\n(").or_else(|| shown.rfind("\n</")).unwrap_or(shown.len());
    touched::numbered(shown[..end].split('\n'), &[": ", "| ", ":", "|"])
}

/// What the host says of the file that a call changed.
fn changed(metadata: &Value) -> Option<&Value> {
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
    use serde_json::json;

    use super::*;

    fn check(tool: &str, state: &Value, output: &str, wanted: Option<&str>) {
        assert_eq!(of(tool, &json!({"content": "a\nb\n"}), state, output).as_deref(), wanted, "{tool} {output}");
    }

    #[test]
    fn figures_of_each_tool() {
        let none = json!({});
        check(
            "read",
            &none,
            "<path>a</path>\n<type>file</type>\n<content>\n1: a\n2: b\n\n(End of file - total 2 lines)\n</content>",
            Some("2 lines"),
        );
        check(
            "read",
            &none,
            "<content>\n5: a\n\n(Showing lines 5-5 of 1200. Use offset=6 to continue.)\n</content>",
            Some("1 line of 1,200"),
        );
        check("read", &none, "<file>\n00001| a\n</file>", Some("1 line"));
        check("read", &none, "<type>directory</type>\n<entries>\na/\nb\n\n(2 entries)\n</entries>", Some("2 entries"));
        check("read", &none, "Image read successfully", None);
        check("edit", &json!({"metadata": {"filediff": {"additions": 2, "deletions": 1}}}), "", Some("+2 −1"));
        check("edit", &json!({"metadata": {"diff": "--- a\n+++ a\n x\n+b\n-c\n+d"}}), "", Some("+2 −1"));
        check("write", &json!({"metadata": {"exists": false}}), "", Some("created, 2 lines"));
        check("grep", &json!({"metadata": {"matches": 0}}), "No files found", Some("no match"));
        check("glob", &json!({"metadata": {"count": 100, "truncated": true}}), "x", Some("100 files and more"));
        check("webfetch", &json!({"title": "https://a.b (text/html)"}), "<p>", Some("text/html, 3 characters"));
        check("task", &none, "task_id: s\n\n<task_result>\n## Found it\nmore\n</task_result>", Some("Found it"));
        check(
            "subagent",
            &none,
            "<subagent sessionID=\"ses_1\" state=\"completed\">\nTwo plugs.\n</subagent>",
            Some("Two plugs."),
        );
        check("task", &none, "All good.\n\n<task_metadata>\nsession_id: s\n</task_metadata>", Some("All good."));
        check("question", &json!({"metadata": {"answers": [["A", "B"], ["C"]]}}), "", Some("A, B, C"));
        check("other", &none, "x", None);
    }

    #[test]
    fn what_was_read() {
        let of = |output: &str| shown_lines(output).map(|it| (it.place(), it.hash));
        let wanted = Some(("9-11".to_owned(), cru_session::line_anchor::hash_lines("a\n\nb".lines())));
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
