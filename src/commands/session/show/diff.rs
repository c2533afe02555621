//! What a step changed, line by line, as its transcript has it.

use std::collections::HashMap;

use similar::{ChangeTag, TextDiff};

use crate::action::ToolKind;
use crate::action::patch::{FilePatch, PatchLine, of_call, read};
use crate::session::{Session, Step};
use crate::sync::evidence::{Transcripts, Whole};
use crate::workflow::FileDiff;

/// Lines of one file's diff; of a longer one the rest is counted.
const MOST_LINES: usize = 200;

/// The changes of a session's steps, by their ids. Without a transcript, those that the note itself has.
pub(super) fn diffs(session: &Session, transcripts: &Transcripts) -> HashMap<String, Vec<FileDiff>> {
    if !session.steps().any(|(_, step)| is_edit(step)) {
        return HashMap::new();
    }
    diffs_of(session, &transcripts.steps(session), MOST_LINES)
}

/// The changes of a session's steps where its transcript is read already, each file with at most `most` lines.
pub(in crate::commands) fn diffs_of(
    session: &Session,
    whole: &HashMap<String, Whole>,
    most: usize,
) -> HashMap<String, Vec<FileDiff>> {
    let of = |step: &Step| {
        let id = step.id.clone()?;
        let diffs = of_step(step, whole.get(&id), most);
        (!diffs.is_empty()).then_some((id, diffs))
    };
    session.steps().map(|(_, step)| step).filter(|step| is_edit(step)).filter_map(of).collect()
}

fn is_edit(step: &Step) -> bool {
    let action = step.action();
    matches!(action.kind, ToolKind::Edit | ToolKind::Write | ToolKind::Patch) || action.patch_text().is_some()
}

fn of_step(step: &Step, whole: Option<&Whole>, most: usize) -> Vec<FileDiff> {
    let map = whole.and_then(|whole| Some((whole.tool.as_str(), whole.input.as_object()?)));
    let mut files = map.map(|(tool, input)| of_call(tool, input)).unwrap_or_default();
    if files.is_empty() {
        files = step.action().patch_text().map(read).unwrap_or_default();
    }
    if files.is_empty()
        && let Some(text) = whole.and_then(given).or(step.input.as_deref())
        && crate::action::patch::is_patch(text)
    {
        files = read(text);
    }
    files.iter().map(|patch| file(patch, most)).filter(|diff| !diff.lines.is_empty()).collect()
}

/// The text that a call was given, where it was given one text and no arguments with names.
fn given(whole: &Whole) -> Option<&str> {
    whole.input.as_str().or(Some(whole.args.as_str())).filter(|text| !text.is_empty())
}

fn file(patch: &FilePatch<'_>, most: usize) -> FileDiff {
    let mut diff = FileDiff { path: patch.path().to_owned(), ..FileDiff::default() };
    for hunk in &patch.hunks {
        if !diff.lines.is_empty() {
            diff.lines.push((' ', "…".to_owned()));
        }
        let is_replacement = !hunk.lines.iter().any(|line| matches!(line, PatchLine::Kept(_)));
        if is_replacement {
            replaced(&hunk.lines, &mut diff.lines);
            continue;
        }
        diff.lines.extend(hunk.lines.iter().map(|line| match line {
            PatchLine::Kept(text) => (' ', (*text).to_owned()),
            PatchLine::Added(text) => ('+', (*text).to_owned()),
            PatchLine::Removed(text) => ('-', (*text).to_owned()),
        }));
    }
    diff.more = diff.lines.len().saturating_sub(most);
    diff.lines.truncate(most);
    diff
}

/// A text and the one that took its place: lines of both are shown once.
fn replaced(lines: &[PatchLine<'_>], out: &mut Vec<(char, String)>) {
    let pick = |wanted: fn(&PatchLine<'_>) -> bool| -> Vec<&str> {
        let text = |line: &PatchLine<'_>| wanted(line);
        lines
            .iter()
            .filter(|line| text(line))
            .map(|line| match line {
                PatchLine::Kept(text) | PatchLine::Added(text) | PatchLine::Removed(text) => *text,
            })
            .collect()
    };
    let old = pick(|line| matches!(line, PatchLine::Removed(_)));
    let new = pick(|line| matches!(line, PatchLine::Added(_)));
    // A comparison of long texts takes quadratic time.
    if old.len().saturating_mul(new.len()) > 1_000_000 {
        out.extend(old.iter().map(|line| ('-', (*line).to_owned())));
        out.extend(new.iter().map(|line| ('+', (*line).to_owned())));
        return;
    }
    let diff = TextDiff::from_slices(&old, &new);
    out.extend(diff.iter_all_changes().map(|change| {
        let mark = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Insert => '+',
            ChangeTag::Delete => '-',
        };
        (mark, change.value().to_owned())
    }));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_edit_is_shown_as_the_lines_that_changed() {
        let input = json!({ "file_path": "a.rs", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree" });
        let whole = Whole { tool: "Edit".into(), input, ..Whole::default() };
        let step = Step { tool: "Edit".into(), args: "a.rs".into(), ..Step::default() };
        let diffs = of_step(&step, Some(&whole), MOST_LINES);
        let lines: Vec<String> = diffs[0].lines.iter().map(|(mark, text)| format!("{mark}{text}")).collect();
        assert_eq!((diffs[0].path.as_str(), lines.join("|").as_str()), ("a.rs", " one|-two|+2| three"));
        assert_eq!(of_step(&step, None, MOST_LINES), []);
    }

    /// Some hosts give a patch as one text.
    #[test]
    fn a_patch_alone_is_read() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n one\n-two\n+2\n*** End Patch\n";
        let whole = Whole { tool: "Edit".into(), input: json!(patch), ..Whole::default() };
        let step = Step { tool: "Edit".into(), args: "a.rs".into(), ..Step::default() };
        let diffs = of_step(&step, Some(&whole), MOST_LINES);
        let lines: Vec<String> = diffs[0].lines.iter().map(|(mark, text)| format!("{mark}{text}")).collect();
        assert_eq!((diffs[0].path.as_str(), lines.join("|").as_str()), ("a.rs", " one|-two|+2"));
    }

    #[test]
    fn a_long_file_is_cut_and_counted() {
        let text = "line\n".repeat(1_000);
        let whole = Whole {
            tool: "Write".into(),
            input: json!({ "file_path": "long.txt", "content": text }),
            ..Whole::default()
        };
        let step = Step { tool: "Write".into(), args: "long.txt".into(), ..Step::default() };
        let diffs = of_step(&step, Some(&whole), MOST_LINES);
        assert_eq!((diffs[0].lines.len(), diffs[0].more), (MOST_LINES, 1_000 - MOST_LINES));
    }
}
