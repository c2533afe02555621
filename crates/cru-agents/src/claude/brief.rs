//! One line that says what a tool did better than the beginning of its output.
//!
//! One row for each tool whose record holds figures; `None` leaves it to the output's first words.

use serde_json::Value;

use super::detail::Detail;
use crate::call::brief::first_line;
use cru_action::ToolKind;
use cru_base::text::{plural, thousands};

/// The brief of a successful answer; `output` is its text.
pub(super) fn of(tool: &str, input: Option<&Value>, detail: Option<&Detail<'_>>, output: &str) -> Option<String> {
    let empty = Detail::default();
    let detail = detail.unwrap_or(&empty);
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
            let more = if detail.truncated.0 { " and more" } else { "" };
            detail.num_files.count().map(|files| format!("{}{more}", plural(files, "file")))
        }
        "TodoWrite" => todos(input?),
        "WebFetch" => {
            let code = detail.code.count()?;
            let kind = detail.code_text.filled().map(|text| format!(" {text}")).unwrap_or_default();
            let size = detail.bytes.count().map(|bytes| format!(", {} bytes", thousands(bytes))).unwrap_or_default();
            Some(format!("{code}{kind}{size}"))
        }
        "WebSearch" => detail.results.0.map(|results| plural(results, "result")),
        "ToolSearch" => detail.matches.0.map(|matches| plural(matches, "tool")),
        "Task" | "Agent" if detail.is_async.0 => Some("started in the background".to_owned()),
        "Task" | "Agent" => first_line(output).map(str::to_owned),
        "TaskCreate" => detail.task.0.as_ref()?.id.filled().map(|id| format!("task #{id}")),
        "TaskUpdate" => Some("updated".to_owned()),
        "Skill" => Some("loaded".to_owned()),
        "ExitPlanMode" => Some("approved".to_owned()),
        _ => None,
    }
}

fn command(detail: &Detail<'_>, output: &str) -> Option<String> {
    if detail.background_task_id.filled().is_some() {
        return Some("runs in the background".to_owned());
    }
    let text = output.trim();
    if !(text.is_empty() || text.eq_ignore_ascii_case("(Bash completed with no output)")) {
        return None;
    }
    Some(detail.return_code_interpretation.filled().map_or_else(|| "no output".to_owned(), str::to_owned))
}

fn read(detail: &Detail<'_>) -> Option<String> {
    match detail.kind.str() {
        "file_unchanged" => return Some("unchanged since the last reading".to_owned()),
        "image" => return Some("picture".to_owned()),
        _ => {}
    }
    let file = detail.file.0.as_ref()?;
    if detail.kind.str() == "notebook" {
        return file.cells.0.map(|cells| plural(cells, "cell"));
    }
    if matches!(detail.kind.str(), "pdf" | "parts") {
        return Some(file.count.count().map_or_else(|| "document".to_owned(), |pages| plural(pages, "page")));
    }
    let lines = file.num_lines.count()?;
    let of = file.total_lines.count().filter(|total| *total > lines).map(|total| format!(" of {}", thousands(total)));
    Some(format!("{}{}", plural(lines, "line"), of.unwrap_or_default()))
}

fn change(detail: &Detail<'_>) -> Option<String> {
    let hunks = &detail.structured_patch.0;
    let added: u64 = hunks.iter().map(|hunk| hunk.lines.count('+')).sum();
    let removed: u64 = hunks.iter().map(|hunk| hunk.lines.count('-')).sum();
    (added + removed > 0).then(|| format!("+{added} −{removed}"))
}

fn write(detail: &Detail<'_>) -> Option<String> {
    let content = detail.content?.get();
    // In the raw text a newline is `\n`; a backslash before it would be doubled.
    let lines = count_lines(content.trim_matches('"'));
    match detail.kind.str() {
        "create" => Some(format!("created, {}", plural(lines, "line"))),
        "update" => Some(change(detail).unwrap_or_else(|| plural(lines, "line"))),
        _ => None,
    }
}

/// Lines of a JSON string's inside, escapes not yet undone.
fn count_lines(raw: &str) -> u64 {
    let bytes = raw.as_bytes();
    let mut lines = 0;
    let mut open = false;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        open = true;
        if *byte == b'\\' {
            at += 1;
            if bytes.get(at) == Some(&b'n') {
                lines += 1;
                open = false;
            }
        }
        at += 1;
    }
    lines + u64::from(open)
}

fn grep(detail: &Detail<'_>) -> Option<String> {
    match detail.mode.str() {
        "content" => detail.num_lines.count().map(|lines| plural(lines, "line")),
        "count" => {
            let matches = detail.num_matches.count().map(|count| match count {
                1 => "1 match".to_owned(),
                count => format!("{} matches", thousands(count)),
            })?;
            Some(format!("{matches} in {}", plural(detail.num_files.or_zero(), "file")))
        }
        _ => detail.num_files.count().map(|files| plural(files, "file")),
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
        of(tool, None, Some(&serde_json::from_str(detail).unwrap()), output)
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
        assert_eq!(of("TodoWrite", Some(&input), None, "").as_deref(), Some("2 of 3 done"));
    }
}
