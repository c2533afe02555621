//! One line that says what a tool did better than the beginning of its output.
//!
//! One row for each tool whose record holds figures; `None` leaves it to the output's first words.

use serde_json::Value;

use crate::call::brief::first_line;
use crate::file::value::{count, filled, flag, length, list, number, object, word};
use cru_action::ToolKind;
use cru_base::text::{plural, thousands};

/// The brief of a successful answer; `output` is its text.
pub(super) fn of(tool: &str, input: Option<&Value>, detail: &Value, output: &str) -> Option<String> {
    match ToolKind::of(tool) {
        ToolKind::Shell => return command(detail, output),
        ToolKind::Read => return read(detail),
        ToolKind::Edit => return change(detail),
        ToolKind::Write => return write(detail),
        _ => {}
    }
    match tool {
        "Grep" => grep(detail),
        "Glob" => {
            let more = if flag(detail, "truncated") { " and more" } else { "" };
            number(detail, "numFiles").map(|files| format!("{}{more}", plural(files, "file")))
        }
        "TodoWrite" => todos(input?),
        "WebFetch" => {
            let code = number(detail, "code")?;
            let kind = filled(detail, "codeText").map(|text| format!(" {text}")).unwrap_or_default();
            let size = number(detail, "bytes").map(|bytes| format!(", {} bytes", thousands(bytes))).unwrap_or_default();
            Some(format!("{code}{kind}{size}"))
        }
        "WebSearch" => length(detail, "results").map(|results| plural(results, "result")),
        "ToolSearch" => length(detail, "matches").map(|matches| plural(matches, "tool")),
        "Task" | "Agent" if flag(detail, "isAsync") => Some("started in the background".to_owned()),
        "Task" | "Agent" => first_line(output).map(str::to_owned),
        "TaskCreate" => filled(&detail["task"], "id").map(|id| format!("task #{id}")),
        "TaskUpdate" => Some("updated".to_owned()),
        "Skill" => Some("loaded".to_owned()),
        "ExitPlanMode" => Some("approved".to_owned()),
        _ => None,
    }
}

fn command(detail: &Value, output: &str) -> Option<String> {
    if filled(detail, "backgroundTaskId").is_some() {
        return Some("runs in the background".to_owned());
    }
    let text = output.trim();
    if !(text.is_empty() || text.eq_ignore_ascii_case("(Bash completed with no output)")) {
        return None;
    }
    Some(filled(detail, "returnCodeInterpretation").map_or_else(|| "no output".to_owned(), str::to_owned))
}

fn read(detail: &Value) -> Option<String> {
    match word(detail, "type") {
        "file_unchanged" => return Some("unchanged since the last reading".to_owned()),
        "image" => return Some("picture".to_owned()),
        _ => {}
    }
    let file = object(detail, "file")?;
    if word(detail, "type") == "notebook" {
        return length(file, "cells").map(|cells| plural(cells, "cell"));
    }
    if matches!(word(detail, "type"), "pdf" | "parts") {
        return Some(number(file, "count").map_or_else(|| "document".to_owned(), |pages| plural(pages, "page")));
    }
    let lines = number(file, "numLines")?;
    let of = number(file, "totalLines").filter(|total| *total > lines).map(|total| format!(" of {}", thousands(total)));
    Some(format!("{}{}", plural(lines, "line"), of.unwrap_or_default()))
}

fn change(detail: &Value) -> Option<String> {
    let lines =
        || list(detail, "structuredPatch").iter().flat_map(|hunk| list(hunk, "lines")).filter_map(Value::as_str);
    let starting_with = |sign| lines().filter(|line| line.starts_with(sign)).count();
    let (added, removed) = (starting_with('+'), starting_with('-'));
    (added + removed > 0).then(|| format!("+{added} −{removed}"))
}

fn write(detail: &Value) -> Option<String> {
    let lines = detail["content"].as_str()?.lines().count() as u64;
    match word(detail, "type") {
        "create" => Some(format!("created, {}", plural(lines, "line"))),
        "update" => Some(change(detail).unwrap_or_else(|| plural(lines, "line"))),
        _ => None,
    }
}

fn grep(detail: &Value) -> Option<String> {
    match word(detail, "mode") {
        "content" => number(detail, "numLines").map(|lines| plural(lines, "line")),
        "count" => {
            let matches = number(detail, "numMatches").map(|count| match count {
                1 => "1 match".to_owned(),
                count => format!("{} matches", thousands(count)),
            })?;
            Some(format!("{matches} in {}", plural(count(detail, "numFiles"), "file")))
        }
        _ => number(detail, "numFiles").map(|files| plural(files, "file")),
    }
}

fn todos(input: &Value) -> Option<String> {
    let todos = input.get("todos")?.as_array()?;
    let done = todos.iter().filter(|todo| todo.get("status").and_then(Value::as_str) == Some("completed")).count();
    Some(format!("{done} of {} done", todos.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn brief(tool: &str, detail: &str, output: &str) -> Option<String> {
        of(tool, None, &serde_json::from_str(detail).unwrap(), output)
    }

    #[test]
    fn figures_of_each_tool() {
        let check =
            |tool, detail, wanted: &str| assert_eq!(brief(tool, detail, "x").as_deref(), Some(wanted), "{tool}");
        check("Read", r#"{"type":"text","file":{"numLines":412,"totalLines":412}}"#, "412 lines");
        check("Read", r#"{"type":"text","file":{"numLines":1,"totalLines":1200}}"#, "1 line of 1,200");
        check("Edit", r#"{"structuredPatch":[{"lines":[" a","+b","+c","-d"]},{"lines":["+e"]}]}"#, "+3 −1");
        check("Write", r#"{"type":"create","content":"a\nb\\n\n"}"#, "created, 2 lines");
        check("Write", r#"{"type":"update","content":"a\n","structuredPatch":[{"lines":["+a"]}]}"#, "+1 −0");
        check("Grep", r#"{"mode":"files_with_matches","numFiles":12}"#, "12 files");
        check("Grep", r#"{"mode":"content","numFiles":0,"numLines":1}"#, "1 line");
        check("Grep", r#"{"mode":"count","numFiles":2,"numMatches":9}"#, "9 matches in 2 files");
        check("Glob", r#"{"numFiles":100,"truncated":true}"#, "100 files and more");
        check("WebFetch", r#"{"code":200,"codeText":"OK","bytes":1234}"#, "200 OK, 1,234 bytes");
        check("WebSearch", r#"{"results":[1,2]}"#, "2 results");
        assert_eq!(brief("Task", "{}", "\n## **Two findings**\nmore").as_deref(), Some("Two findings"));
        assert_eq!(brief("Edit", "{}", "ok"), None);
    }

    #[test]
    fn commands() {
        assert_eq!(brief("Bash", "{}", "ok"), None);
        assert_eq!(brief("Bash", "{}", " \n").as_deref(), Some("no output"));
        assert_eq!(
            brief("Bash", r#"{"returnCodeInterpretation":"No matches found"}"#, "").as_deref(),
            Some("No matches found")
        );
        assert_eq!(
            brief("Bash", r#"{"backgroundTaskId":"b1"}"#, "Command running").as_deref(),
            Some("runs in the background")
        );
    }

    #[test]
    fn done_of_all() {
        let input = json!({"todos": [{"status": "completed"}, {"status": "pending"}, {"status": "completed"}]});
        assert_eq!(of("TodoWrite", Some(&input), &Value::Null, "").as_deref(), Some("2 of 3 done"));
    }
}
