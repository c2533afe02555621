//! The one line that a step's result is: what the record says in brief, else the line of the output that tells most.
//!
//! For a failure that is the line with the error and not the first one; for a success the first line that is neither
//! banner nor progress, with the number of lines that follow.

use crate::event::{Attachment, CallResult};
use crate::words::shorten::deep_paths;
use crate::{DENIED_BY_HOST, StepStatus};
use cru_base::text::{fold_whitespace, plural, sanitise, truncate};

/// Characters of a result.
const MAX: usize = 100;

/// Lines at the start and at the end of an output that are looked at.
const EDGE: usize = 400;

/// What shows a failure, strongest first: a line that starts with it, each run of blanks as one.
const FAILURE_STARTS: &str = "\
    error[|error:|Error:|ERROR:|fatal:|--- FAIL|FAILED|FAIL |FAIL:|E |panic:|✗|✖|×|npm ERR!|npm error|\
    error |ERROR|Failed|failed";

/// What shows a failure anywhere in a line, weaker than the above.
const FAILURE_PARTS: &str = "\
    test result: FAILED| panicked at |command not found|No such file or directory|Permission denied|Error: |\
    Exception: |error TS| error: |: error| failed|AssertionError|cannot |Cannot |not found|timed out|\
    undefined";

/// What a successful run of checks ends with.
const SUCCESS_PARTS: &[&str] =
    &["test result: ok", " passed", "Tests:", "Successfully ", "0 errors", "All checks passed"];

/// Progress and banners: skipped unless there is nothing else.
const NOISE_STARTS: &str = "\
    Compiling |Checking |Downloading |Downloaded |Updating |Locking |Finished |Running |Blocking |\
    Collecting |Installing |Resolving |Fetching |> |$ |warning:|npm warn|npm notice|(node:|platform |\
    rootdir:|plugins:|cachedir:|added |make[|Doc-tests |yarn run ";

/// The line for `result`, which counts as failed or not whatever its host says; never empty.
pub(super) fn line(result: &CallResult<'_>, failed: bool) -> String {
    if result.denied {
        let words = StepStatus::Denied.words().unwrap_or_default();
        let reason = result.denial.as_deref().map(|reason| fold_whitespace(&sanitise(reason)));
        return match reason {
            None => words.to_owned(),
            Some(reason) => truncate(&format!("{DENIED_BY_HOST}: {reason}"), MAX).into_owned(),
        };
    }
    let brief =
        result.brief.as_deref().map(|brief| fold_whitespace(&sanitise(brief))).filter(|brief| !brief.is_empty());
    if let Some(brief) = brief {
        return truncate(&brief, MAX).into_owned();
    }
    let output = if failed { &result.output } else { without_exit(&result.output) };
    let told = if failed { failure(output) } else { success(output) };
    told.or_else(|| attached(&result.attachments))
        .unwrap_or_else(|| if failed { "failed, no output".to_owned() } else { "no output".to_owned() })
}

/// The one line that tells most of an output: what a step shows behind `→`; never empty.
pub fn result_line(output: &str, failed: bool) -> String {
    line(&CallResult { output: output.into(), failed, ..CallResult::default() }, failed)
}

/// The line for an output that tells of a failure.
pub(super) fn failure_line(output: &str) -> String {
    failure(output).unwrap_or_else(|| "failed, no output".to_owned())
}

/// The line for a failure that the output says in words of its own.
pub(super) fn error(message: &str) -> String {
    let line = fold_whitespace(&sanitise(message));
    if line.is_empty() { "failed".to_owned() } else { truncate(&line, MAX).into_owned() }
}

/// The exit code that an output states in its first line: `Exit code 101`.
pub(super) fn stated_exit(output: &str) -> Option<i32> {
    output.lines().next()?.trim().strip_prefix("Exit code ")?.trim().parse().ok()
}

/// An output without the line that states its exit code.
fn without_exit(output: &str) -> &str {
    match stated_exit(output) {
        Some(_) => output.split_once('\n').map_or("", |(_, rest)| rest),
        None => output,
    }
}

/// `image/png, 34 kB` for each.
pub(super) fn attached(attachments: &[Attachment<'_>]) -> Option<String> {
    const SHOWN: usize = 3;
    let mut texts: Vec<String> = attachments.iter().take(SHOWN).map(attachment).collect();
    if attachments.len() > SHOWN {
        texts.push(format!("{} more", attachments.len() - SHOWN));
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// `image/png, 34 kB`.
pub(super) fn attachment(attachment: &Attachment<'_>) -> String {
    let media = fold_whitespace(&sanitise(&attachment.media_type));
    let size = match attachment.bytes {
        0 => return media,
        bytes @ 1..1000 => format!("{bytes} B"),
        bytes @ 1000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        bytes => format!("{:.1} MB", bytes as f64 / 1e6),
    };
    format!("{}, {size}", truncate(&media, 40))
}

fn success(output: &str) -> Option<String> {
    let lines: Vec<&str> = edges(output).collect();
    let is_told = |line: &String| SUCCESS_PARTS.iter().any(|part| line.contains(part));
    // Most outputs have no such word at all: then no line needs to be looked at for it.
    let may_tell =
        SUCCESS_PARTS.iter().any(|part| memchr::memmem::find(output.as_bytes(), part.trim().as_bytes()).is_some());
    let told = lines.iter().rev().filter(|_| may_tell).filter_map(|line| meaningful(line)).find(is_told);
    if let Some(line) = told {
        return Some(truncate(&line, MAX).into_owned());
    }
    if is_json(output) {
        let start = &output[..cru_base::lines::floor_char_boundary(output, 600)];
        return Some(truncate(&fold_whitespace(&sanitise(start)), MAX).into_owned());
    }
    let quiet = |line: &String| !NOISE_STARTS.split('|').any(|start| line.starts_with(start));
    let said = || lines.iter().filter_map(|line| meaningful(line));
    let first = said().find(quiet).or_else(|| said().next_back())?;
    let more = count_lines(output).saturating_sub(1);
    if more == 0 {
        return Some(truncate(&first, MAX).into_owned());
    }
    let tail = format!(" (+{})", plural(more, "line"));
    Some(format!("{}{tail}", truncate(&first, MAX - tail.len())))
}

fn failure(output: &str) -> Option<String> {
    let lines: Vec<String> = edges(output).filter_map(meaningful).collect();
    let strong = FAILURE_STARTS.split('|').find_map(|start| lines.iter().find(|line| line.starts_with(start)));
    // A Python traceback says what happened in its last line.
    let raised = || {
        let trace = lines.iter().position(|line| line.starts_with("Traceback (most recent call last)"))?;
        lines[trace..].iter().rev().find(|line| line.contains("Error") || line.contains("Exception"))
    };
    let weak = || FAILURE_PARTS.split('|').find_map(|part| lines.iter().find(|line| line.contains(part)));
    let quiet = || lines.iter().find(|line| !NOISE_STARTS.split('|').any(|start| line.starts_with(start)));
    let located = || lines.iter().find(|line| is_located(line));
    let told = raised().or(strong).or_else(located).or_else(weak).or_else(quiet).or_else(|| lines.first())?;
    Some(truncate(&deep_paths(told), MAX).into_owned())
}

/// Whether an output is data, whose first line says nothing.
fn is_json(output: &str) -> bool {
    let output = output.trim_start();
    match output.strip_prefix('[') {
        Some(rest) => rest.trim_start().starts_with(['{', '[', '"', ']']),
        None => output.starts_with('{'),
    }
}

/// Whether a line names a place in a file and what is wrong there: `src/a.go:12:3: not enough arguments`. A warning, which
/// compilers and interpreters call so in the word before the colon, is not what failed.
fn is_located(line: &str) -> bool {
    let Some((place, rest)) = line.split_once(": ") else { return false };
    let place = place.rsplit(' ').next().unwrap_or(place);
    let mut parts = place.split(':');
    let file = parts.next().is_some_and(|file| file.contains('.'));
    let number = parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    let warns = rest.split(':').next().is_some_and(|kind| kind.to_lowercase().ends_with("warning"));
    file && number && !rest.is_empty() && !warns
}

/// The first and the last lines of an output.
fn edges(output: &str) -> impl Iterator<Item = &str> {
    let total = count_all(output);
    output.lines().enumerate().filter(move |(index, _)| *index < EDGE || index + EDGE >= total).map(|(_, line)| line)
}

fn count_all(output: &str) -> usize {
    memchr::memchr_iter(b'\n', output.as_bytes()).count() + 1
}

fn count_lines(output: &str) -> u64 {
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    lines.count().try_into().unwrap_or(u64::MAX)
}

/// A line as a person would quote it; `None` when it says nothing.
fn meaningful(line: &str) -> Option<String> {
    // A giant line is cut before it is looked at: its start decides.
    let line = &line[..cru_base::lines::floor_char_boundary(line, 1000)];
    let clean = fold_whitespace(&sanitise(line));
    let mut text = clean.as_str();
    for (open, close) in WRAPPERS {
        text = text.strip_prefix(open).unwrap_or(text);
        text = text.strip_suffix(close).unwrap_or(text);
    }
    if OF_THE_HOST.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    // Headings of a tool's report name its parts; fences and list marks say nothing.
    if text.starts_with("```") || (text.starts_with('#') && text.trim_start_matches('#').starts_with(' ')) {
        return None;
    }
    let text = unnumbered(text).trim();
    let text = text.strip_prefix("- ").unwrap_or(text);
    text.chars().any(char::is_alphanumeric).then(|| text.to_owned())
}

/// Lines that hosts add to an output.
const OF_THE_HOST: &[&str] =
    &["Exit code ", "<system-reminder>", "Output too large", "Preview (first ", "Shell cwd was reset to "];

/// Marks that hosts put around an output.
const WRAPPERS: &[(&str, &str)] = &[
    ("<tool_use_error>", "</tool_use_error>"),
    ("<persisted-output>", "</persisted-output>"),
    ("<error>", "</error>"),
    ("<stdout>", "</stdout>"),
    ("<stderr>", "</stderr>"),
];

/// Without the line number that a viewer put before it: `12→text`.
fn unnumbered(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < line.len() { rest.strip_prefix('→').unwrap_or(line) } else { line }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn result(output: &str, failed: bool) -> CallResult<'_> {
        CallResult { output: Cow::Borrowed(output), failed, ..CallResult::default() }
    }

    #[test]
    fn table_of_successes() {
        let rows: &[(&str, &str)] = &[
            ("", "no output"),
            ("\n\n", "no output"),
            ("done\n", "done"),
            ("On branch main\nYour branch is up to date\n\nnothing to commit\n", "On branch main (+2 lines)"),
            ("   Compiling a v1\n   Compiling b v1\n    Finished dev\n", "Finished dev (+2 lines)"),
            ("running 2 tests\n...\ntest result: ok. 41 passed; 0 failed\n\n", "test result: ok. 41 passed; 0 failed"),
            ("==========\nplatform linux\nitems 3\n=== 3 passed in 0.1s ===\n", "=== 3 passed in 0.1s ==="),
            ("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{ \"a\": 1, \"b\": 2 }"),
            ("\u{1b}[32mgreen\u{1b}[0m\n", "green"),
            ("     1→fn main() {}\n", "fn main() {}"),
            ("Shell cwd was reset to /srv\n", "no output"),
            ("[lint] $ run\n0 issues\n", "[lint] $ run (+1 line)"),
            ("### Result\n```js\n- /srv/a\n```\n", "/srv/a (+3 lines)"),
        ];
        for (output, line_shown) in rows {
            assert_eq!(result_line(output, false), *line_shown, "{output}");
        }
    }

    #[test]
    fn table_of_failures() {
        let rows: &[(&str, &str)] = &[
            ("", "failed, no output"),
            ("Exit code 1\n", "failed, no output"),
            (
                "Exit code 101\n   Compiling a\nerror[E0308]: mismatched types\n --> src/a.rs\nerror: aborting",
                "error[E0308]: mismatched types",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\"\nValueError: no such key\n",
                "ValueError: no such key",
            ),
            ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
            ("bash: foo: command not found", "bash: foo: command not found"),
            ("first\nsecond", "first"),
            ("[lint] ERROR task failed\ncmd/a.go:12:3: not enough arguments", "cmd/a.go:12:3: not enough arguments"),
            (
                "/lib/a.py:3: DeprecationWarning: old\n  old()\ntests/b.py:6: in <module>\nE   ModuleNotFoundError: No module named 'c'\n",
                "E ModuleNotFoundError: No module named 'c'",
            ),
            ("a.c:1:2: warning: unused variable 'x'\na.c:9:1: unknown type name 'y'", "a.c:9:1: unknown type name 'y'"),
            ("/Users/mia/code/api/src/a.py:1:2 - error: bad", "…/a.py:1:2 - error: bad"),
        ];
        for (output, line_shown) in rows {
            assert_eq!(result_line(output, true), *line_shown, "{output}");
        }
    }

    #[test]
    fn briefs_refusals_and_pictures() {
        let brief = CallResult { brief: Some(Cow::Borrowed("412\nlines")), ..result("x", false) };
        assert_eq!(line(&brief, false), "412 lines");
        assert_eq!(line(&CallResult { denied: true, failed: true, ..result("x", false) }, true), "denied by user");
        let denial = Some(Cow::Borrowed("Pushes\nto main."));
        let denied = CallResult { denied: true, denial, ..result("x", true) };
        assert_eq!(line(&denied, true), "denied by host: Pushes to main.");
        assert_eq!(StepStatus::of_crossed(&line(&denied, true)), StepStatus::Denied);
        let picture = Attachment { media_type: Cow::Borrowed("image/png"), bytes: 33_210 };
        assert_eq!(line(&CallResult { attachments: vec![picture], ..result("", false) }, false), "image/png, 34 kB");
    }

    #[test]
    fn never_longer_than_a_line() {
        let output = format!("{}\nnext", "word ".repeat(100));
        let shown = result_line(&output, false);
        assert!(shown.chars().count() <= 100 && shown.ends_with("… (+1 line)"), "{shown}");
    }

    #[test]
    fn exits() {
        assert_eq!(stated_exit("Exit code 101\nerror"), Some(101));
        assert_eq!(stated_exit("Exit code: many"), None);
    }
}
