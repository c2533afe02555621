//! Patches whose lines are as they stand in the file: the host shows each tab at the start of a line as two blanks.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use cru_action::patch::{Hunk, PatchLine};

/// What is known of the text of a file.
#[derive(Debug, Default)]
pub(super) struct KnownText<'t> {
    /// All of it before the call.
    pub(super) before: Option<&'t str>,
    /// All of it after the call.
    pub(super) after: Option<&'t str>,
    /// Parts of it. The first and the last line of a part may be parts of lines.
    pub(super) parts: Vec<&'t str>,
}

/// Puts the tabs back. The added lines of which it is not known whether they begin with tabs.
pub(super) fn restore<'t>(hunks: &mut [Hunk<'t>], known: &KnownText<'t>) -> HashSet<&'t str> {
    let [before, after] = [known.before, known.after].map(|text| text.map(|text| text.lines().collect::<Vec<_>>()));
    let parts: Vec<&str> = known.parts.iter().flat_map(|part| part.lines()).collect();
    let by_form: HashMap<Cow<'_, str>, &str> = (parts.iter().copied())
        .chain(before.iter().flatten().copied())
        .filter(|line| line.starts_with('\t'))
        .map(|line| (shown(line), line))
        .collect();
    let own: HashSet<&str> = parts.iter().copied().filter(|line| line.starts_with("  ")).collect();
    // Who indents with blanks alone does so in every line.
    let has_blanks = by_form.is_empty() && (!own.is_empty() || before.is_some());
    let mut unsure = HashSet::new();
    for hunk in hunks {
        let found = after.as_deref().zip(hunk.new_start).is_some_and(|(after, start)| from_file(hunk, after, start));
        for line in &mut hunk.lines {
            let (is_added, is_removed) = (matches!(line, PatchLine::Added(_)), matches!(line, PatchLine::Removed(_)));
            let (PatchLine::Kept(text) | PatchLine::Added(text) | PatchLine::Removed(text)) = line;
            if found && !is_removed || !text.starts_with("  ") || own.contains(text) {
                continue;
            }
            match by_form.get(*text) {
                Some(whole) => *text = whole,
                None if is_added && !has_blanks => drop(unsure.insert(*text)),
                None => {}
            }
        }
    }
    unsure
}

/// Takes the kept and added lines of a hunk from the file that it leads to; nothing where they are other ones.
fn from_file<'t>(hunk: &mut Hunk<'t>, after: &[&'t str], start: u64) -> bool {
    let Some(first) = usize::try_from(start).ok().and_then(|start| start.checked_sub(1)) else { return false };
    let mut there = after.get(first..).unwrap_or_default().iter();
    let mut lines = hunk.lines.clone();
    for line in &mut lines {
        if let PatchLine::Kept(text) | PatchLine::Added(text) = line {
            let Some(whole) = there.next().filter(|whole| shown(whole) == *text) else { return false };
            *text = whole;
        }
    }
    hunk.lines = lines;
    true
}

/// A line as the host shows it.
fn shown(line: &str) -> Cow<'_, str> {
    let rest = line.trim_start_matches('\t');
    match line.len() - rest.len() {
        0 => Cow::Borrowed(line),
        tabs => Cow::Owned(format!("{}{rest}", "  ".repeat(tabs))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hunk<'a>(start: u64, lines: &[&'a str]) -> Hunk<'a> {
        let line = |line: &&'a str| match line.split_at(1) {
            ("+", text) => PatchLine::Added(text),
            ("-", text) => PatchLine::Removed(text),
            (_, text) => PatchLine::Kept(text),
        };
        Hunk { old_start: Some(start), new_start: Some(start), heading: "", lines: lines.iter().map(line).collect() }
    }

    fn added<'a>(hunk: &Hunk<'a>) -> Vec<&'a str> {
        let added = |line: &PatchLine<'a>| if let PatchLine::Added(text) = line { Some(*text) } else { None };
        hunk.lines.iter().filter_map(added).collect()
    }

    #[test]
    fn tabs_come_from_the_file() {
        let mut hunks = [hunk(1, &[" f {", "-  old", "+    new", "+  two", " }"])];
        let known = KnownText {
            before: Some("f {\n\told\n}\n"),
            after: Some("f {\n\t\tnew\n  two\n}\n"),
            parts: vec!["old", "\tnew\n  two"],
        };
        assert_eq!(restore(&mut hunks, &known), HashSet::new());
        assert_eq!(added(&hunks[0]), ["\t\tnew", "  two"]);
        assert_eq!(hunks[0].lines[1], PatchLine::Removed("\told"));
    }

    #[test]
    fn without_the_file_they_come_from_the_parts() {
        let mut hunks = [hunk(7, &["+  one(", "+    two", "+  three", "+four"])];
        let known = KnownText { parts: vec!["", "one(\n\t\ttwo\n\tthree\nfour"], ..KnownText::default() };
        assert_eq!(restore(&mut hunks, &known), HashSet::from(["  one("]));
        assert_eq!(added(&hunks[0]), ["  one(", "\t\ttwo", "\tthree", "four"]);
        // Who shows blanks has blanks.
        let mut hunks = [hunk(7, &["+  one(", "+  two"])];
        let known = KnownText { parts: vec!["", "one(\n  two"], ..KnownText::default() };
        assert_eq!(restore(&mut hunks, &known), HashSet::new());
        // Of one line nothing is known.
        let mut hunks = [hunk(7, &["+  one(1)"])];
        let known = KnownText { parts: vec!["one()", "one(1)"], ..KnownText::default() };
        assert_eq!(restore(&mut hunks, &known), HashSet::from(["  one(1)"]));
    }

    proptest! {
        #[test]
        fn a_file_is_restored(lines in proptest::collection::vec("[\t ]{0,3}[ab]{0,2}", 1..9)) {
            let after = format!("{}\n", lines.join("\n"));
            let told: Vec<String> = lines.iter().map(|line| format!("+{}", shown(line))).collect();
            let told: Vec<&str> = told.iter().map(String::as_str).collect();
            let mut hunks = [hunk(1, &told)];
            let known = KnownText { after: Some(&after), ..KnownText::default() };
            prop_assert_eq!(restore(&mut hunks, &known), HashSet::new());
            prop_assert_eq!(added(&hunks[0]), lines.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
