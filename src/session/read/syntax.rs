//! Interim.
use crate::session::model::{FileRef, Step, StepStatus};
use jiff::civil::Date;
pub(super) fn prose(text: &str) -> String {
    text.trim().to_owned()
}
pub(super) fn inline(text: &str) -> String {
    text.trim().to_owned()
}
pub(super) fn body(_kind: &str, text: &str) -> String {
    text.trim().to_owned()
}
pub(super) fn words(text: &str) -> (String, Option<String>) {
    let text = text.trim();
    let Some(rest) = text.strip_prefix('"') else { return (text.to_owned(), None) };
    let Some(end) = rest.rfind('"') else { return (text.to_owned(), None) };
    let after = rest[end + 1..].trim();
    let after = after.strip_prefix("- ").or_else(|| after.strip_prefix("-\n")).unwrap_or(after).trim();
    (rest[..end].to_owned(), (!after.is_empty()).then(|| after.to_owned()))
}
pub(super) fn is_step_line(line: &str, header: bool) -> bool {
    line.starts_with('`') && (header || line.contains("→") || line.contains("->"))
}
pub(super) fn step_line(line: &str, _day: Option<Date>) -> Option<Step> {
    let rest = line.strip_prefix('`')?;
    let (code, rest) = rest.split_once('`')?;
    let (tool, args) = code.split_once(' ').unwrap_or((code, ""));
    let rest = rest.trim().trim_start_matches("→").trim_start_matches("->").trim();
    let status = if rest.starts_with('✗') { StepStatus::Failed } else { StepStatus::Complete };
    Some(Step {
        tool: tool.to_owned(),
        args: args.to_owned(),
        result: Some(rest.trim_start_matches('✗').trim().to_owned()),
        status,
        ..Step::default()
    })
}
pub(super) fn nested(step: &mut Step, line: &str) {
    let Some((name, value)) = line.split_once(':') else { return };
    match name {
        "reads" => step.reads.extend(value.split(',').map(|p| file(p.trim().trim_matches('`')))),
        "writes" => step.writes.extend(value.split(',').map(|p| file(p.trim().trim_matches('`')))),
        _ => step.fields.push((name.to_owned(), value.trim().to_owned())),
    }
}
pub(super) fn file(text: &str) -> FileRef {
    match text.rsplit_once('@') {
        Some((p, h)) => FileRef { path: p.to_owned(), hash: Some(h.to_owned()), created: false },
        None => FileRef { path: text.to_owned(), ..FileRef::default() },
    }
}
