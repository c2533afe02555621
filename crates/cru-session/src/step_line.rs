//! The line of a step: `` `tool args` → result (09:33:20, exit 101, 3.2 s) ``, and its nested lines.
//!
//! The one grammar for both directions. The last parenthesis of the line holds facts if every part of it is one;
//! anything else belongs to the result, which stands in a code span.

use std::fmt::Write as _;

use jiff::civil::Date;

use cru_action::Verdict;

use super::escape::{self, code};
use super::model::{Link, Step, StepStatus};
use super::{file_ref, time};

/// A result longer than this is cut (characters).
pub const LONGEST_RESULT: usize = 100;
/// Arguments longer than this go into a fence, with a shortened form on the line (characters).
pub const LONGEST_ARGS: usize = 120;

/// Whether a line (without bullet) is a step: a code span and an arrow behind it. With `listed` (a `**Tool calls:**`
/// line stands above) a code span at the start is enough.
pub fn is_step(line: &str, listed: bool) -> bool {
    let Some((_, rest)) = split_code(line) else { return false };
    listed || arrow(rest).is_some()
}

/// Reads the line without bullet and block id, where it is a step ([`is_step`]). `day` is the day of clock times.
pub fn parse(line: &str, listed: bool, day: Option<Date>) -> Option<Step> {
    let (command, rest) = split_code(line)?;
    let behind = arrow(rest);
    if behind.is_none() && !listed {
        return None;
    }
    let command = escape::uncode_text(command);
    let (tool, args) = command.split_once(' ').unwrap_or((&command, ""));
    let rest = behind.unwrap_or(rest).trim();
    let (result, facts) = split_facts(rest, day);
    let mut step = Step { tool: tool.to_owned(), args: args.to_owned(), ..facts };
    let result = match result.chars().next() {
        Some('✗') => {
            let result = result['✗'.len_utf8()..].trim_start();
            step.status = StepStatus::of_crossed(&said(result));
            result
        }
        Some('▶') => {
            step.status = StepStatus::Running;
            result['▶'.len_utf8()..].trim_start()
        }
        Some('✓') => result['✓'.len_utf8()..].trim_start(),
        Some('…') if result == "…" => {
            step.status = StepStatus::Pending;
            ""
        }
        _ => result,
    };
    step.result = (!result.is_empty()).then(|| said(result));
    Some(step)
}

/// What a result says: in a code span, as it is written, or by hand without one.
fn said(result: &str) -> String {
    match code::leading(result) {
        Some(end) if end == result.len() => escape::uncode_text(code::text(result)).into_owned(),
        _ => escape::uninline(result),
    }
}

/// Writes what [`parse`] reads. `day` is the day of the phase: times of another day are written whole.
pub fn format(step: &Step, day: Option<Date>) -> String {
    let mut command = if step.args.is_empty() { step.tool.clone() } else { format!("{} {}", step.tool, step.args) };
    if escape::is_called(&command) {
        // No tool is called so; what it is called then is nothing that an editor runs.
        command.insert(0, '_');
    }
    let mut line = code::span(&escape::code_text(&command));
    let facts = facts(step, day);
    let mark = match step.status {
        StepStatus::Failed | StepStatus::Denied | StepStatus::Interrupted | StepStatus::NoResult => Some("✗"),
        StepStatus::Running => Some("▶"),
        StepStatus::Pending => Some("…"),
        StepStatus::Complete => None,
    };
    let result = step.result.clone().filter(|result| !result.trim().is_empty());
    // These say by their words what they are.
    let result = match step.status.words() {
        Some(words) if StepStatus::of_crossed(result.as_deref().unwrap_or("")) != step.status => {
            Some(result.map_or_else(|| words.to_owned(), |result| format!("{words}: {result}")))
        }
        _ => result,
    };
    // What a program printed is no markdown: no tag, no link, no field.
    let result = result.map(|result| match step.status.words() {
        Some(words) if words == result => result,
        // Inline code that begins like this would be run.
        _ if escape::is_called(&result) => escape::inline(&result) + if facts.is_empty() { " ()" } else { "" },
        _ => code::span(&escape::code_text(&result)),
    });
    if mark.is_some() || result.is_some() || !facts.is_empty() {
        line.push_str(" →");
    }
    if let Some(mark) = mark {
        let _ = write!(line, " {mark}");
    }
    if let Some(result) = &result {
        let _ = write!(line, " {result}");
    }
    if !facts.is_empty() {
        let _ = write!(line, " ({})", facts.join(", "));
    }
    line
}

/// Reads one nested line (`reads: …`, `writes: …`, `name: value`) into the step. `after`, `replays` and `cell` are links, which
/// the note has read already.
pub fn nested(step: &mut Step, line: &str) {
    let Some((name, value)) = line.split_once(':') else { return };
    let (name, value) = (name.trim(), value.trim());
    let files = match name {
        _ if name.eq_ignore_ascii_case("reads") => &mut step.reads,
        _ if name.eq_ignore_ascii_case("writes") => &mut step.writes,
        _ if name.eq_ignore_ascii_case("check") && step.check.is_none() && Verdict::of_word(value).is_some() => {
            step.check = Verdict::of_word(value);
            return;
        }
        _ => return step.fields.push((name.to_owned(), escape::uninline(value))),
    };
    let found = file_ref::parse_list(value);
    if files.is_empty() { *files = found } else { files.extend(found) }
}

/// The nested lines of a step, without bullets.
pub fn nested_lines(step: &Step) -> Vec<String> {
    let links = |links: &[Link]| links.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = Vec::new();
    if !step.reads.is_empty() {
        lines.push(format!("reads: {}", file_ref::format_list(&step.reads)));
    }
    if !step.writes.is_empty() {
        lines.push(format!("writes: {}", file_ref::format_list(&step.writes)));
    }
    if let Some(verdict) = step.check {
        lines.push(format!("check: {}", verdict.as_str()));
    }
    if !step.after.is_empty() {
        lines.push(format!("after: {}", links(&step.after)));
    }
    if let Some(replays) = &step.replays {
        lines.push(format!("replays: {replays}"));
    }
    if let Some(cell) = &step.cell {
        lines.push(format!("cell: {cell}"));
    }
    lines.extend(step.fields.iter().map(|(name, value)| format!("{name}: {}", escape::inline(value))));
    lines
}

fn split_code(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let end = code::leading(line)?;
    Some((code::text(&line[..end]), &line[end..]))
}

/// What stands behind the arrow.
fn arrow(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    rest.strip_prefix('→').or_else(|| rest.strip_prefix("->"))
}

/// Cuts the last parenthesis off when it holds nothing but facts, and gives a step that has them.
fn split_facts(text: &str, day: Option<Date>) -> (&str, Step) {
    let none = (text, Step::default());
    let Some(inner) = text.strip_suffix(')') else { return none };
    let Some(open) = inner.rfind('(') else { return none };
    if open > 0 && !text[..open].ends_with(' ') {
        return none;
    }
    let mut facts = Step::default();
    let inner = &inner[open + 1..];
    if !inner.is_empty() && !inner.split(',').all(|part| fact(part.trim(), day, &mut facts)) {
        return none;
    }
    (text[..open].trim_end(), facts)
}

fn fact(part: &str, day: Option<Date>, facts: &mut Step) -> bool {
    if let Some(code) = part.strip_prefix("exit ") {
        facts.exit = code.parse().ok();
        return facts.exit.is_some();
    }
    if let Some(text) = part.strip_suffix(" s") {
        facts.duration_ms = seconds(text);
        return facts.duration_ms.is_some();
    }
    let clock = part.contains(':') && part.starts_with(|c: char| c.is_ascii_digit());
    if clock && let Some(at) = time::parse_clock(part, day) {
        facts.time = Some(at);
        return true;
    }
    // A clock time without a day to belong to is still a fact, though nobody can say when.
    clock && part.parse::<jiff::civil::Time>().is_ok()
}

/// `3.2` seconds in milliseconds.
fn seconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 3
        || !part.bytes().all(|byte| byte.is_ascii_digit())
        || !whole.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    let millis: u64 = part.bytes().zip([100, 10, 1]).map(|(digit, worth)| u64::from(digit - b'0') * worth).sum();
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(millis)
}

fn facts(step: &Step, day: Option<Date>) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(at) = step.time {
        let whole = time::format(at);
        // `2026-11-20T09:31:04Z`: the clock is what stands between `T` and `Z`.
        match whole.get(11..19).filter(|_| day == Some(time::date(at))) {
            Some(clock) => facts.push(clock.to_owned()),
            None => facts.push(whole),
        }
    }
    if let Some(exit) = step.exit {
        facts.push(format!("exit {exit}"));
    }
    if let Some(ms) = step.duration_ms {
        facts.push(format!("{} s", shown_seconds(ms)));
    }
    facts
}

/// Seconds as written: one decimal below 100 s, none from there.
fn shown_seconds(ms: u64) -> String {
    if ms >= 100_000 { (ms / 1_000).to_string() } else { format!("{}.{}", ms / 1_000, ms % 1_000 / 100) }
}

/// The duration that is left of `ms` once it has been written and read.
pub fn written_duration(ms: u64) -> u64 {
    if ms >= 100_000 { ms / 1_000 * 1_000 } else { ms / 100 * 100 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day() -> Option<Date> {
        "2026-11-20".parse().ok()
    }

    fn read(line: &str) -> Step {
        parse(line, true, day()).unwrap()
    }

    #[test]
    fn reads_a_whole_line() {
        let step = read("`Bash cargo test -p auth` → ✗ 2 of 41 failed (09:33:20, exit 101, 3.2 s)");
        assert_eq!((step.tool.as_str(), step.args.as_str()), ("Bash", "cargo test -p auth"));
        assert_eq!(step.status, StepStatus::Failed);
        assert_eq!(step.result.as_deref(), Some("2 of 41 failed"));
        assert_eq!(step.time.map(time::format).as_deref(), Some("2026-11-20T09:33:20Z"));
        assert_eq!((step.exit, step.duration_ms), (Some(101), Some(3_200)));
    }

    #[test]
    fn reads_what_people_write() {
        assert_eq!(read("`ls` -> ok").result.as_deref(), Some("ok"));
        assert_eq!(read("`ls`").result, None);
        assert_eq!(read("`ls` → …").status, StepStatus::Pending);
        assert_eq!(read("`ls` → ▶").status, StepStatus::Running);
        assert_eq!(read("`ls` → ✓ done").result.as_deref(), Some("done"));
        assert_eq!(read("`` echo `x` `` → y").args, "`x`");
        assert!(!is_step("`ls` lists files", false));
        assert!(is_step("`ls` lists files", true));
        assert!(!is_step("plain text → `x`", true));
    }

    #[test]
    fn a_result_is_the_same_with_a_code_span_and_without() {
        for (plain, code) in [("`x` → ok (09:00:00)", "`x` → `ok` (09:00:00)"), ("`x` → ✗ a #tag", "`x` → ✗ `a #tag`")]
        {
            assert_eq!(read(plain), read(code));
        }
        assert_eq!(read("`x` → `a` and `b`").result.as_deref(), Some("`a` and `b`"));
        assert_eq!(read("`x` → ✗ `denied by host: no`").status, StepStatus::Denied);
    }

    #[test]
    fn a_parenthesis_that_is_no_fact_stays() {
        assert_eq!(read("`x` → 3 files (2 new)").result.as_deref(), Some("3 files (2 new)"));
        assert_eq!(read("`x` → 3 files (2 new) (09:00:00)").result.as_deref(), Some("3 files (2 new)"));
        assert_eq!(read("`x` → took (3.2 s) ()").result.as_deref(), Some("took (3.2 s)"));
    }

    #[test]
    fn writes_what_it_reads() {
        for line in [
            "`Bash cargo test` → ✗ `2 failed` (09:33:20, exit 101, 3.2 s)",
            "`Read a` → `412 lines` (2026-11-21T00:00:01Z)",
            "`Read a` → ✗ denied by user (09:00:00)",
            "`Read a` → ``a `b` c``",
            "`x`",
            "`x` → …",
            "`x` → ▶ (09:00:00)",
            "`x` → `took (3.2 s)`",
            "`x` → `✗ is what it said`",
            "`x` → `ok` (250 s)",
        ] {
            assert_eq!(format(&read(line), day()), line);
        }
    }

    #[test]
    fn nested_lines_round_trip() {
        let mut step = Step::default();
        for line in ["reads: `src/a.rs@9f2c11ab`, `b`", "writes: `c` (created)", "kind: refactor"] {
            nested(&mut step, line);
        }
        assert_eq!(nested_lines(&step), ["reads: `src/a.rs@9f2c11ab`, `b`", "writes: `c` (created)", "kind: refactor"]);
    }
}
