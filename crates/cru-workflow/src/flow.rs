//! Lines with an arrow: data flows and conditions.
//!
//! A line is one only if all of it fits the grammar; anything else is prose, arrow or not. Names that do not fit (with
//! blanks, commas or markdown in them) stand in code spans.

use super::model::{Branch, Flow, Operand};
use super::text::{Piece, code_span, escape, pieces, unescape};
use cru_base::Span;

/// Words that may stand around a name, in lower case.
const FILLERS: &str = "\
    takes take reads read uses use using from with creates create writes write produces produce parses parse \
    generates generate gives give outputs makes into to the a an and then";

/// Whether a word may stand around a name.
fn is_filler(word: &str) -> bool {
    let word = word.to_lowercase();
    FILLERS.split(' ').any(|filler| filler == word)
}

/// Words before the name of a step that a condition leads to.
const LEADS: [&str; 7] = ["proceed to", "continue with", "continue to", "go back to", "go to", "back to", "jump to"];

/// What a line with an arrow is.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrow {
    /// A data flow.
    Flow(Flow),
    /// A data flow whose results follow as bullets: its last stage is still missing.
    Open(Flow),
    /// A condition.
    Branch(Branch),
}

/// Reads a line that starts at `at` in the file. `is_title` tells whether a text is a step's title (in any case): such
/// a right side is taken whole.
pub fn parse(line: &str, at: usize, is_title: &dyn Fn(&str) -> bool) -> Option<Arrow> {
    let start = at + (line.len() - line.trim_start().len());
    let line = line.trim();
    let span = Span::new(start, start + line.len());
    let segments = split(line, true)?;
    if let Ok(branch) = branch(line, &segments, start, is_title) {
        return branch.map(Arrow::Branch);
    }
    let (&(last_at, last), before) = segments.split_last()?;
    let mut stages = Vec::with_capacity(segments.len());
    for &(offset, segment) in before {
        stages.push(operands(segment, start + offset, is_title)?);
    }
    if let Some(words) = last.trim().strip_suffix(':') {
        let filler = words.split_whitespace().all(is_filler);
        return filler.then_some(Arrow::Open(Flow { stages, span }));
    }
    stages.push(operands(last, start + last_at, is_title)?);
    Some(Arrow::Flow(Flow { stages, span }))
}

/// Reads a bullet under an open flow.
pub fn operand(text: &str, at: usize) -> Option<Operand> {
    one(text, at, &|_| false)
}

/// The texts of a line outside of code, each with its place.
fn texts(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    pieces(line, true).into_iter().filter_map(move |piece| {
        let (Piece::Text(text) | Piece::Code(text)) = piece;
        end += text.len();
        matches!(piece, Piece::Text(_)).then_some((end - text.len(), text))
    })
}

/// The segments between arrows with their offsets; `None` without an arrow. Arrows in code spans do not count.
fn split(line: &str, ascii: bool) -> Option<Vec<(usize, &str)>> {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    for (at, text) in texts(line) {
        for arrow in ["→", "â†’"] {
            cuts.extend(text.match_indices(arrow).map(|(found, _)| (at + found, arrow.len())));
        }
        if ascii {
            let blank = |c: Option<char>| c.is_some_and(char::is_whitespace);
            let loose = |found: usize| {
                blank(line[..found].chars().next_back())
                    && (found + 2 == line.len() || blank(line[found + 2..].chars().next()))
            };
            let arrows = text.match_indices("->").map(|(found, _)| at + found);
            cuts.extend(arrows.filter(|found| loose(*found)).map(|found| (found, 2)));
        }
    }
    if cuts.is_empty() {
        return None;
    }
    cuts.sort_unstable();
    let mut segments = Vec::with_capacity(cuts.len() + 1);
    let mut from = 0;
    for (cut, len) in cuts {
        segments.push((from, &line[from..cut]));
        from = cut + len;
    }
    segments.push((from, &line[from..]));
    Some(segments)
}

/// The line is no condition.
struct NoBranch;

/// A condition; `Err` where the line does not begin like one, `Ok(None)` where it begins so but leads nowhere.
fn branch(
    line: &str,
    segments: &[(usize, &str)],
    start: usize,
    is_title: &dyn Fn(&str) -> bool,
) -> Result<Option<Branch>, NoBranch> {
    let word = line.split(|c: char| !c.is_alphabetic()).next().unwrap_or("").to_lowercase();
    // A title may hold an arrow itself: the longest right side that is one, else what follows the last arrow.
    let mut rights =
        segments.iter().enumerate().skip(1).map(|(index, &(at, _))| (index, at, lead_stripped(&line[at..])));
    let named = rights.clone().find(|(_, _, target)| is_title(target));
    let (index, right_at, mut target) = named.or_else(|| rights.next_back()).ok_or(NoBranch)?;
    let &(condition_at, condition) = segments.get(index - 1).ok_or(NoBranch)?;
    // A file in a folder of that name is no condition.
    let stands_alone =
        |len: usize| line.get(len..).is_some_and(|rest| rest.starts_with([' ', '\t', '(', '`', '"', '*']));
    let condition = match word.as_str() {
        "if" if stands_alone(2) => Some(unescape(line.get(2..condition_at + condition.len()).unwrap_or("").trim())),
        "otherwise" | "else" if index == 1 && condition.split_whitespace().count() == 1 => None,
        _ => return Err(NoBranch),
    };
    if named.is_none() {
        target = target.trim_end_matches('.');
    }
    let offset = start + right_at + line[right_at..].rfind(target).unwrap_or(0);
    let target_span = Span::new(offset, offset + target.len());
    let says = !target.is_empty() && condition.as_ref().is_none_or(|text| !text.is_empty());
    let span = Span::new(start, start + line.len());
    Ok(says.then(|| Branch { condition, target: unescape(target), span, target_span }))
}

/// A right side without blanks around it and the words that lead to a step.
fn lead_stripped(right: &str) -> &str {
    let right = right.trim();
    LEADS.iter().find_map(|lead| strip_prefix_ignoring_case(right, lead)).unwrap_or(right)
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    let rest = &text[prefix.len()..];
    (head.eq_ignore_ascii_case(prefix) && rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// The operands of one stage; `None` where it is no list of names.
fn operands(segment: &str, at: usize, is_title: &dyn Fn(&str) -> bool) -> Option<Vec<Operand>> {
    let mut operands = Vec::new();
    let mut from = 0;
    for (offset, text) in texts(segment) {
        for (comma, _) in text.match_indices(',') {
            operands.push(one(&segment[from..offset + comma], at + from, is_title)?);
            from = offset + comma + 1;
        }
    }
    operands.push(one(&segment[from..], at + from, is_title)?);
    Some(operands)
}

/// One operand: fillers, perhaps `12 files in`, a name, perhaps a type.
fn one(text: &str, at: usize, is_title: &dyn Fn(&str) -> bool) -> Option<Operand> {
    let at = at + (text.len() - text.trim_start().len());
    let text = text.trim();
    let span = Span::new(at, at + text.len());
    if is_title(text) {
        return Some(Operand { name: unescape(text), span, ..Operand::default() });
    }
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(char::is_whitespace) {
        if !is_filler(word) {
            break;
        }
        rest = after.trim_start();
    }
    let mut files = None;
    if let Some((count, after)) = rest.split_once(" files in ")
        && let Ok(count) = count.parse()
    {
        (files, rest) = (Some(count), after.trim_start());
    }
    let (name, ty) = name_and_type(rest)?;
    Some(Operand { name, ty, files, span })
}

fn name_and_type(text: &str) -> Option<(String, Option<String>)> {
    if let Some((code, rest)) = super::text::leading_code(text) {
        let ty = match rest {
            "" => None,
            rest => Some(rest.strip_prefix("::").filter(|ty| is_type(ty))?.to_owned()),
        };
        return (!code.is_empty()).then(|| (code.to_owned(), ty));
    }
    let text = text.trim_matches('*');
    let (name, ty) = match text.rsplit_once("::") {
        Some((name, ty)) if is_type(ty) => (name, Some(ty.to_owned())),
        Some(_) => return None,
        None => (text, None),
    };
    let name = name.strip_prefix("[[").and_then(|name| name.strip_suffix("]]")).unwrap_or(name);
    let words = name.split_whitespace().count();
    let fits = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-' | '/' | '~' | '@' | '+' | '#');
    // A sentence has more words, or ends like one.
    let sentence = words > 1 && name.ends_with('.');
    let starts = name.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_' | '@'));
    ((1..=3).contains(&words)
        && starts
        && !sentence
        && name.chars().all(fits)
        && name.chars().any(char::is_alphanumeric))
    .then(|| (name.to_owned(), ty))
}

fn is_type(text: &str) -> bool {
    let name = text.strip_suffix("[]").unwrap_or(text);
    name.starts_with(char::is_alphabetic) && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '+'))
}

/// The line of a flow, with `arrow` between stages.
pub fn write(flow: &Flow, arrow: &str) -> String {
    let stage = |operands: &Vec<Operand>| operands.iter().map(write_operand).collect::<Vec<_>>().join(", ");
    flow.stages.iter().map(stage).collect::<Vec<_>>().join(&format!(" {arrow} "))
}

fn write_operand(operand: &Operand) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '~' | '@' | '+');
    // Underscores at the edge of a word would be emphasis, `@` at its start a mention.
    let edge = operand
        .name
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| word.starts_with('_') || word.ends_with('_'));
    let bare = operand.name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '~' || c == '.' || c == '/')
        && operand.name.chars().all(plain)
        && operand.name.chars().any(|c| c.is_ascii_alphanumeric())
        && !edge
        && !operand.name.contains("~~");
    let mut out = operand.files.map_or(String::new(), |files| format!("{files} files in "));
    if bare {
        out.push_str(&operand.name);
    } else {
        out.push_str(&code_span(&operand.name));
    }
    if let Some(ty) = &operand.ty {
        out.push_str("::");
        out.push_str(ty);
    }
    out
}

/// The line of a condition.
pub fn write_branch(branch: &Branch, arrow: &str) -> String {
    match &branch.condition {
        Some(condition) => format!("If {} {arrow} proceed to {}", escape(condition), escape(&branch.target)),
        None => format!("Otherwise {arrow} proceed to {}", escape(&branch.target)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str) -> bool {
        text.eq_ignore_ascii_case("Payment Processing And Ledger")
    }

    /// The canonical form of what a line says.
    fn read(line: &str) -> Option<String> {
        Some(match parse(line, 0, &title)? {
            Arrow::Flow(flow) => write(&flow, "→"),
            Arrow::Open(flow) => format!("{} → :", write(&flow, "→")),
            Arrow::Branch(branch) => write_branch(&branch, "→"),
        })
    }

    #[test]
    fn reads_flows() {
        let is = |line, canonical: &str| assert_eq!(read(line).as_deref(), Some(canonical), "{line}");
        is("file.md → parsed_content", "file.md → parsed_content");
        is("config::Config -> schema.sql::SQL", "config::Config → schema.sql::SQL");
        is("a, b → c::C[]", "a, b → c::C[]");
        is("spec â†’ diagram::SVG, notes::Markdown", "spec → diagram::SVG, notes::Markdown");
        is("a → b → c", "a → b → c");
        is("Takes X → creates Y", "X → Y");
        is("Reads file.md → parses content", "file.md → content");
        is("x → creates:", "x → :");
        is("user request → the plan", "`user request` → plan");
        is("12 files in src/auth/ → report.md::Markdown", "12 files in src/auth/ → report.md::Markdown");
        is("`my file, v2.md` → src/__init__.py", "`my file, v2.md` → `src/__init__.py`");
        is("[[spec]] → plan", "spec → plan");
        is("order → Payment Processing And Ledger", "order → `Payment Processing And Ledger`");
    }

    #[test]
    fn reads_conditions() {
        let is = |line, canonical: &str| assert_eq!(read(line).as_deref(), Some(canonical), "{line}");
        is("If cart is valid → proceed to Payment", "If cart is valid → proceed to Payment");
        is("If a -> b holds → go to Step Two.", "If a -> b holds → proceed to Step Two");
        is("Otherwise → Cancel Order", "Otherwise → proceed to Cancel Order");
        is("if x -> Y", "If x → proceed to Y");
        assert!(!matches!(parse("if/a.rs → b", 0, &|_| false), Some(Arrow::Branch(_))));
    }

    #[test]
    fn leaves_prose_alone() {
        for line in [
            "Requirements: 3 → Production: 4 days",
            "fn main() -> Result",
            "no arrow here",
            "`a → b`",
            "ptr->field",
            "We moved from the old one → which took three days.",
            "→",
            "a → ",
            "\"quoted\" → x",
            "std::io::Error( → x",
            "- a → b",
            "If → x",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
