//! Closing words as lines that a person reads at a glance.
//!
//! Nothing is understood and nothing is said in other words: the parts of the markdown (paragraphs, items of lists, rows of
//! tables, lines of code) stand as they were written, without marks. Where not all fit, each section gives its first part
//! before one gives its second, so that no section is missing because another is long; the last part has room before
//! others. Cuts are at ends of sentences, and what was left out is counted.

use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};

use super::sentence::sentences;
use super::shorten;
use super::summary::{cells, item, plain};
use crate::escape::code;

/// Bytes that are looked at.
pub const SEEN: usize = 12_000;

/// Characters of a part where not all parts fit.
const PART: usize = 240;

/// Characters of a heading that stands before the first part of its section; longer ones have a line of their own.
const LEAD: usize = 80;

/// Characters that are worth a line.
const WORTH: usize = 40;

/// How much may be told.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Characters in all.
    pub chars: usize,
    /// Lines.
    pub lines: usize,
}

/// Closing words, as far as there is room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// One part a line, on one line each.
    pub lines: Vec<ClosingLine>,
    /// Parts that were left out or shortened.
    pub left: usize,
}

/// A part of closing words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosingLine {
    /// Its words, after those of the heading that it is the first of.
    pub text: String,
    /// Whether it belongs to the item before it.
    pub is_nested: bool,
    /// Whether it is a task that is not ticked: `- [ ] Tag the release`.
    pub is_open: bool,
}

/// The parts of `text` for which there is room, in their order. Linear in the text up to sorting.
pub fn closing(text: &str, room: Room) -> Closing {
    let seen = floor_char_boundary(text, SEEN);
    let mut parts = parts(&sanitise(&text[..seen]));
    rank(&mut parts);
    let told: Vec<usize> = (0..parts.len()).filter(|&at| !parts[at].is_lead).collect();
    let chars: usize = parts.iter().map(|part| part.text.chars().count() + 2).sum();
    let whole = chars <= room.chars && told.len() <= room.lines;
    let mut left = usize::from(seen < text.len());
    if !whole {
        for part in parts.iter_mut().filter(|part| !part.is_lead) {
            left += usize::from(part.shorten(PART));
        }
    }
    let mut order = told.clone();
    order.sort_by_key(|&at| (parts[at].rank, at));
    let (mut chars, mut lines) = (room.chars, room.lines);
    let mut taken = vec![false; parts.len()];
    for at in order {
        let lead = parts[at].lead.filter(|&lead| !taken[lead]);
        let needed = lead.map_or(0, |lead| parts[lead].text.chars().count() + 2);
        let length = parts[at].text.chars().count();
        if lines == 0 || needed + WORTH.min(length) > chars {
            left += usize::from(!parts[at].is_short);
            continue;
        }
        if needed + length > chars {
            // Only what comes first or last is worth half a sentence.
            if parts[at].rank > 0 {
                left += usize::from(!parts[at].is_short);
                continue;
            }
            left += usize::from(parts[at].shorten(chars - needed));
        }
        chars = chars.saturating_sub(needed + parts[at].text.chars().count());
        lines -= 1;
        taken[at] = true;
        if let Some(lead) = lead {
            taken[lead] = true;
        }
    }
    Closing { lines: lines_of(&parts, &taken), left }
}

/// The parts that were taken, each behind the lead that it is the first of.
fn lines_of(parts: &[Part], taken: &[bool]) -> Vec<ClosingLine> {
    let mut lines: Vec<ClosingLine> = Vec::new();
    let mut said: Option<usize> = None;
    for (part, _) in parts.iter().zip(taken).filter(|(part, taken)| **taken && !part.is_lead) {
        let lead = part.lead.filter(|lead| said != Some(*lead));
        said = part.lead.or(said);
        let text = match lead.map(|lead| parts[lead].text.trim_end_matches([':', '：', ' '])) {
            Some(lead) => format!("{lead}: {}", part.text),
            None => part.text.clone(),
        };
        let parent = part.parent.is_some_and(|parent| taken[parent]);
        lines.push(ClosingLine { text, is_nested: parent, is_open: part.is_open });
    }
    lines
}

/// A part of a markdown text.
#[derive(Debug, Default)]
struct Part {
    /// On one line, without marks.
    text: String,
    kind: PartKind,
    /// How far an item is indented.
    indent: usize,
    /// Whether it only leads to what follows.
    is_lead: bool,
    is_open: bool,
    /// Whether it was shortened, and so counted.
    is_short: bool,
    /// The heading or sentence that leads to it.
    lead: Option<usize>,
    /// The item that it belongs to.
    parent: Option<usize>,
    /// What is told first has the lowest.
    rank: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PartKind {
    #[default]
    Paragraph,
    Heading,
    Item,
    Row,
    Code,
}

impl Part {
    /// Keeps whole sentences of at most `max` characters. Whether something was left out for the first time.
    fn shorten(&mut self, max: usize) -> bool {
        if self.text.chars().count() <= max {
            return false;
        }
        self.text = if self.kind == PartKind::Code {
            code::span(&shorten::at_word(code::text(&self.text), max.saturating_sub(2)))
        } else {
            shortened(&self.text, max)
        };
        !std::mem::replace(&mut self.is_short, true)
    }
}

/// Whole sentences of at most `max` characters, else its first words.
fn shortened(text: &str, max: usize) -> String {
    let first = sentences(text).next().unwrap_or_default().trim_end().chars().count();
    let short =
        if first + 2 <= max { shorten::at_sentence(text, max).into_owned() } else { shorten::at_word(text, max) };
    // A code span that the cut left open.
    match short.rfind('`').filter(|_| short.matches('`').count() % 2 == 1) {
        Some(at) => format!("{}…", short[..at].trim_end()),
        None => short,
    }
}

/// The parts of a markdown text, those without a word left out.
fn parts(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut open, mut rows) = (false, false);
    let mut fence: Option<&str> = None;
    // A comment in code, which says what the line below it does.
    let mut comment: Option<String> = None;
    let of_code = |line: &str| Part { text: code::span(line), kind: PartKind::Code, ..Part::default() };
    for line in text.lines() {
        let trimmed = line.trim().trim_start_matches("> ");
        if let Some(mark) = fence {
            let said = fold_whitespace(trimmed);
            if trimmed.starts_with(mark) {
                fence = None;
                parts.extend(comment.take().map(|comment| of_code(&comment)));
            } else if said.starts_with("# ") || said.starts_with("// ") {
                parts.extend(comment.replace(said).map(|comment| of_code(&comment)));
            } else if trimmed.contains(char::is_alphanumeric) {
                parts.push(match comment.take() {
                    Some(comment) => of_code(&format!("{said}  {comment}")),
                    None => of_code(&said),
                });
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            (fence, open) = (Some(mark), false);
            continue;
        }
        if let Some(row) = trimmed.strip_prefix('|') {
            open = false;
            if row.chars().all(|c| matches!(c, '-' | ':' | '|' | ' ')) {
                rows = true;
            } else if rows {
                parts.push(Part { text: plain(&cells(row)), kind: PartKind::Row, ..Part::default() });
            }
            continue;
        }
        rows = false;
        if !trimmed.contains(char::is_alphanumeric) || trimmed.starts_with('<') {
            open = false;
            continue;
        }
        let is_heading = trimmed.starts_with('#') && trimmed.trim_start_matches('#').starts_with(' ');
        let item = item(trimmed);
        let words = plain(item.unwrap_or_else(|| trimmed.trim_start_matches('#').trim_start()));
        let kind = match item {
            Some(_) => PartKind::Item,
            None if is_heading || is_bold(trimmed) => PartKind::Heading,
            None => PartKind::Paragraph,
        };
        match parts.last_mut() {
            // A wrapped line goes on.
            Some(last) if open && item.is_none() && !is_heading => {
                last.text.push(' ');
                last.text.push_str(&words);
                last.kind = if last.kind == PartKind::Heading { PartKind::Paragraph } else { last.kind };
            }
            _ => {
                let indent = line.len() - line.trim_start().len();
                let is_open = item.is_some() && trimmed.contains("[ ] ");
                parts.push(Part { text: words, kind, indent, is_open, ..Part::default() });
            }
        }
        open = !is_heading;
    }
    parts.extend(comment.map(|comment| of_code(&comment)));
    parts.retain(|part| part.text.contains(char::is_alphanumeric));
    split_leads(parts)
}

/// Whether a line is bold as a whole, as headings are written by many.
fn is_bold(line: &str) -> bool {
    let line = line.trim_end_matches([':', '：']);
    let inner = line.strip_prefix("**").and_then(|rest| rest.strip_suffix("**").or(rest.strip_suffix(":**")));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains("**"))
}

/// Takes the last sentence of a paragraph that leads to what follows off the others.
fn split_leads(parts: Vec<Part>) -> Vec<Part> {
    let mut split = Vec::with_capacity(parts.len());
    for mut part in parts {
        if part.kind == PartKind::Paragraph && part.text.ends_with([':', '：']) {
            let last = sentences(&part.text).last().map_or(0, str::len);
            let lead = part.text.split_off(part.text.len() - last);
            part.text.truncate(part.text.trim_end().len());
            if !part.text.is_empty() {
                split.push(part);
            }
            split.push(Part { text: lead, ..Part::default() });
        } else {
            split.push(part);
        }
    }
    split
}

/// Decides what leads to what, and what is told first.
fn rank(parts: &mut [Part]) {
    let count = parts.len();
    // The lead that is open, the first item of the list, the items that others may belong to, members so far.
    let mut lead: Option<usize> = None;
    let mut parents: Vec<usize> = Vec::new();
    let (mut paragraphs, mut items, mut nested, mut lines) = (0, 0, 0, 0);
    for at in 0..count {
        let next = parts.get(at + 1).map(|next| next.kind);
        let leads = match parts[at].kind {
            PartKind::Heading => true,
            PartKind::Paragraph => parts[at].text.ends_with([':', '：']) && parts[at].text.chars().count() <= LEAD,
            _ => false,
        };
        if leads && next.is_some() {
            (paragraphs, items, nested, lines) = (0, 0, 0, 0);
            parents.clear();
            // Of two headings one below the other both lead; a sentence that leads to a heading says no more.
            let before = lead.filter(|&before| before + 1 == at);
            match before {
                Some(before) if parts[before].kind == PartKind::Heading => {
                    let both = format!("{}: {}", parts[before].text.trim_end_matches([':', '：']), parts[at].text);
                    if both.chars().count() <= LEAD {
                        parts[at].text = both;
                    }
                }
                _ => {}
            }
            parts[at].is_lead = true;
            lead = Some(at);
            continue;
        }
        let kind = parts[at].kind;
        parts[at].lead = lead;
        parts[at].rank = match kind {
            PartKind::Paragraph | PartKind::Heading => {
                parents.clear();
                (items, nested, lines) = (0, 0, 0);
                paragraphs += 1;
                paragraphs - 1
            }
            // The first line of code says what it is.
            PartKind::Code => {
                lines += 1;
                if lines == 1 { 1 } else { lines + 4 }
            }
            PartKind::Item | PartKind::Row => {
                while parents.last().is_some_and(|&parent| parts[parent].indent >= parts[at].indent) {
                    parents.pop();
                }
                parts[at].parent = parents.last().copied().filter(|_| kind == PartKind::Item);
                parents.push(at);
                if parts[at].parent.is_some() {
                    nested += 1;
                    items + 3 + nested
                } else {
                    nested = 0;
                    items += 1;
                    items - 1
                }
            }
        };
    }
    // What stands last, often what is open, has room; so have tasks that are not ticked.
    if let Some(last) = parts.last_mut() {
        last.is_lead = false;
        last.rank = 0;
    }
    for part in parts.iter_mut().filter(|part| part.is_open) {
        part.rank = part.rank.min(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, chars: usize, lines: usize) -> (String, usize) {
        let closing = closing(text, Room { chars, lines });
        let line = |it: &ClosingLine| format!("{}{}", if it.is_nested { "  " } else { "" }, it.text);
        (closing.lines.iter().map(line).collect::<Vec<_>>().join("\n"), closing.left)
    }

    const TEXT: &str = "All done. Here is what changed:\n\n**Store (`src/store`)**:\n- the first **valve** opens\n- the second valve shuts\n\
        - the third valve leaks\n\n## Pump\n\n1. It runs:\n   - slowly\n   - at night\n2. It stops\n\n```sh\ngit tag v1\n```\n\n\
        However, the glass is not tested.\n";

    #[test]
    fn what_fits_stands_whole() {
        let (lines, left) = told(TEXT, 1_000, 20);
        insta::assert_snapshot!(lines, @r"
        All done.
        Store (`src/store`): the first valve opens
        the second valve shuts
        the third valve leaks
        Pump: It runs:
          slowly
          at night
        It stops
        `git tag v1`
        However, the glass is not tested.
        ");
        assert_eq!(left, 0);
    }

    #[test]
    fn each_section_is_told_before_one_is_told_whole() {
        let (lines, left) = told(TEXT, 1_000, 5);
        insta::assert_snapshot!(lines, @r"
        All done.
        Store (`src/store`): the first valve opens
        the second valve shuts
        Pump: It runs:
        However, the glass is not tested.
        ");
        assert_eq!(left, 5);
    }

    #[test]
    fn tables_and_boxes() {
        let text = "Both are mended:\n\n| # | File | Fault |\n|---|:--|--|\n| 1 | a.rs | leaks |\n| 2 | `b.rs` | **hangs** |\n\n- [ ] tag it\n- [x] build it";
        let (lines, left) = told(text, 500, 9);
        assert_eq!((lines.as_str(), left), ("Both are mended: a.rs – leaks\n`b.rs` – hangs\ntag it\nbuild it", 0));
        let open: Vec<bool> =
            closing(text, Room { chars: 500, lines: 9 }).lines.iter().map(|line| line.is_open).collect();
        assert_eq!(open, [false, false, true, false]);
    }

    #[test]
    fn comments_of_code_stand_with_what_they_say() {
        let text = "怎样启动：\n\n```sh\n# 1. 先启动后端\nkimi web\n# last\n```\n";
        assert_eq!(told(text, 500, 9), ("怎样启动: `kimi web  # 1. 先启动后端`\n`# last`".to_owned(), 0));
    }

    #[test]
    fn cuts_are_at_sentences_and_counted() {
        let text =
            format!("The pump runs. {}.\n\nNot pushed.", "It was dry and it was filled again ".repeat(12).trim_end());
        let (lines, left) = told(&text, 200, 9);
        assert_eq!((lines.as_str(), left), ("The pump runs. …\nNot pushed.", 1));
        assert_eq!(told("", 100, 3), (String::new(), 0));
    }

    proptest::proptest! {
        #[test]
        fn within_its_room(text in "([ a-z`*#|:.\\n-]|\\n- |\\n  - |\\n## |```\\n|\\[ \\] |é){0,80}", chars in 40_usize..300, lines in 1_usize..9) {
            let told = closing(&text, Room { chars, lines });
            let sum: usize = told.lines.iter().map(|line| line.text.chars().count()).sum();
            proptest::prop_assert!(told.lines.len() <= lines && sum <= chars + 2 * lines, "{told:?}");
            proptest::prop_assert!(told.lines.iter().all(|line| !line.text.contains('\n')));
        }
    }
}
