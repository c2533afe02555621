//! One line that says what a tool did better than the beginning of its output.

use serde_json::{Map, Value};

use crate::call::brief::change;
use cru_action::ToolKind;
use cru_base::text::{plural, thousands};

/// The brief of a successful answer; `None` leaves it to the output's first words.
pub(super) fn of(tool: &str, input: &Map<String, Value>, output: &str, diff: &str) -> Option<String> {
    match ToolKind::of(tool) {
        ToolKind::Shell => return matches!(output.trim(), "" | "(no output)").then(|| "no output".to_owned()),
        ToolKind::Read => return read(input, output),
        ToolKind::Edit => return Some(change(diff).unwrap_or_else(|| "changed".to_owned())),
        ToolKind::Write => {
            let lines = input.get("content").and_then(Value::as_str).map(|text| text.lines().count());
            return lines.map(|lines| format!("written, {}", plural(lines as u64, "line")));
        }
        _ => {}
    }
    match tool {
        "ls" => listed(output, "entry", "entries"),
        "find" => listed(output, "file", "files"),
        "grep" => listed(output, "line", "lines"),
        _ => None,
    }
}

/// How many lines of a file were read, and of how many where the host says that there are more.
fn read(input: &Map<String, Value>, output: &str) -> Option<String> {
    let (text, more) = without_note(output);
    if output.trim().is_empty() {
        return None;
    }
    // Before the host's note the last line may be an empty one.
    let lines = if more.is_some() { text.split('\n').count() } else { output.lines().count() } as u64;
    let first = input.get("offset").and_then(Value::as_u64).unwrap_or(1).max(1);
    let of = more.map(|more| match more {
        More::Behind(behind) => first.saturating_sub(1).saturating_add(lines).saturating_add(behind),
        More::All(all) => all,
    });
    Some(format!("{}{}", plural(lines, "line"), of.map(|of| format!(" of {}", thousands(of))).unwrap_or_default()))
}

/// What was read of a file, and what the host says of the rest of it.
pub(super) fn without_note(output: &str) -> (&str, Option<More>) {
    let found = output.trim_end().rsplit_once("\n\n[");
    match found.and_then(|(text, note)| Some((text, more(note)?))) {
        Some((text, more)) => (text, Some(more)),
        None => (output, None),
    }
}

/// What the host says of the rest of a file.
pub(super) enum More {
    /// So many lines stand behind what was read.
    Behind(u64),
    /// It has so many.
    All(u64),
}

/// `127 more lines in file. Use offset=550 to continue]`, `Showing lines 1-200 of 327 …`.
fn more(note: &str) -> Option<More> {
    let note = note.strip_suffix(']')?;
    if let Some((number, _)) = note.split_once(" more lines") {
        return number.parse().ok().map(More::Behind);
    }
    let (_, rest) = note.strip_prefix("Showing lines ")?.split_once(" of ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok().map(More::All)
}

/// `12 files` for one line each.
fn listed(output: &str, one: &str, many: &str) -> Option<String> {
    let text = output.trim();
    if text.is_empty() || text.starts_with("No ") || text.starts_with("(empty") || text.contains("\n\n") {
        return None;
    }
    let count = text.lines().count() as u64;
    Some(format!("{} {}", thousands(count), if count == 1 { one } else { many }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, input: &Value, output: &str, diff: &str, wanted: Option<&str>) {
        assert_eq!(of(tool, input.as_object().unwrap(), output, diff).as_deref(), wanted, "{tool} {output}");
    }

    #[test]
    fn figures_of_each_tool() {
        check("bash", &json!({}), "(no output)", "", Some("no output"));
        check("bash", &json!({}), "ok", "", None);
        check("read", &json!({}), "a\nb\n", "", Some("2 lines"));
        check(
            "read",
            &json!({"offset": 11}),
            "a\nb\n\n[1200 more lines in file. Use offset=13 to continue]",
            "",
            Some("2 lines of 1,212"),
        );
        check(
            "read",
            &json!({}),
            "a\n\n[Showing lines 1-1 of 327. Use offset=2 to continue.]",
            "",
            Some("1 line of 327"),
        );
        check("read", &json!({}), "a\n\n\n[2 more lines in file. Use offset=3 to continue]", "", Some("2 lines of 4"));
        check("read", &json!({}), "a\n\n[a link]", "", Some("3 lines"));
        check("edit", &json!({}), "Successfully replaced", " 1 a\n+2 b\n-2 c\n+3 d", Some("+2 −1"));
        check("edit", &json!({}), "Successfully replaced", "", Some("changed"));
        check("write", &json!({"content": "a\nb\n"}), "Successfully wrote", "", Some("written, 2 lines"));
        check("ls", &json!({}), "a\nb", "", Some("2 entries"));
        check("find", &json!({}), "a", "", Some("1 file"));
        check("grep", &json!({}), "No matches found", "", None);
        check("other", &json!({}), "x", "", None);
    }
}
