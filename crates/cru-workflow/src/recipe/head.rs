//! The head of a workflow as lines of items: `Inputs: a; b`.

use crate::model::{Part, Prose, Workflow};

/// A line of a head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HeadLine {
    /// `Inputs`.
    pub label: String,
    /// What stands behind it, cut at semicolons.
    pub items: Vec<String>,
}

/// What the work starts from.
pub(super) const INPUTS: &str = "Inputs";
/// When the work is done.
pub(super) const DONE: &str = "Done when";
/// What was open at the end.
pub(super) const OPEN: &str = "Open at the end";
const FOR: &str = "For";
/// What the session leaves open, as [`super::NOT_SHOWN`] begins a line.
pub(super) const LIMIT: &str = "Not shown";
const NOTHING: &str = "not recorded";

/// Whether a part is of the head that says what the workflow is for: a paragraph that begins with one of its labels.
pub(super) fn is_head(part: &Part) -> bool {
    let label = |prose: &Prose| Some(prose.markdown.split_once(": ")?.0.to_owned());
    matches!(part, Part::Prose(prose)
        if label(prose).is_some_and(|label| [FOR, INPUTS, DONE, OPEN, LIMIT].contains(&label.as_str())))
}

/// The lines of the head; none where there is none.
pub(super) fn lines(workflow: &Workflow) -> Vec<HeadLine> {
    let head = workflow.preface.iter().filter(|part| is_head(part)).filter_map(|part| match part {
        Part::Prose(prose) => Some(prose.markdown.as_str()),
        _ => None,
    });
    let line = |line: &str| {
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        // What it is for, and what is open, are one sentence, whatever stands in it.
        let items: Vec<String> = match label {
            FOR | LIMIT => vec![rest.trim().to_owned()],
            _ => items(rest),
        };
        HeadLine { label: label.to_owned(), items }
    };
    head.flat_map(str::lines).filter(|line| !line.trim().is_empty()).map(line).collect()
}

/// Cut at semicolons that stand in no code, quotation or brackets.
fn items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let (mut code, mut deep) = (false, 0_usize);
    for c in text.chars() {
        match c {
            '`' => code = !code,
            '(' | '“' if !code => deep += 1,
            ')' | '”' if !code => deep = deep.saturating_sub(1),
            ';' if !code && deep == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    // Marks that nothing closes say nothing.
    if code || deep > 0 {
        items = text.split(';').map(str::to_owned).collect();
    }
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty() && item != NOTHING).collect()
}

/// The head as text.
pub(super) fn write(lines: &[HeadLine]) -> String {
    let line = |line: &HeadLine| {
        let items = if line.items.is_empty() { NOTHING.to_owned() } else { line.items.join("; ") };
        if line.label.is_empty() { items } else { format!("{}: {items}", line.label) }
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_cut_at_semicolons_alone() {
        let cut = |text| items(text);
        assert_eq!(cut("`a; b` passes; c (d; e); “f; g”"), ["`a; b` passes", "c (d; e)", "“f; g”"]);
        assert_eq!(cut("not recorded"), Vec::<String>::new());
        assert_eq!(cut("a (open; b"), ["a (open", "b"]);
    }
}
