//! `review.md`: the items in a region, the ticks of a person, and what was rejected, settled or put off.
//!
//! Below `## Rejected`, `## Settled` and `## Later` the note is source: what stands there with its id is not shown again, of
//! `## Later` until the day that stands before it. The rest of the note is the person's.

use std::collections::{BTreeMap, BTreeSet};

use cru_note::edit::{EditError, region, replace_region};
use cru_note::{Note, Patch};
use jiff::civil::Date;

use super::item::{DIGITS, ReviewItem};

/// The note.
pub const NOTE: &str = "review.md";

/// The region's name.
const NAME: &str = "review";

/// Days that `later` puts off.
pub const LATER_DAYS: i32 = 7;

/// What a person made of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// `[x]`
    Accept,
    /// `[-]`
    Reject,
    /// Put off, on the command line or `[>]`.
    Later,
}

impl Mark {
    fn of(sign: &str) -> Option<Self> {
        match sign {
            "x" | "X" => Some(Self::Accept),
            "-" => Some(Self::Reject),
            ">" => Some(Self::Later),
            _ => None,
        }
    }

    /// The heading that such items stand below.
    const fn heading(self) -> &'static str {
        match self {
            Self::Accept => "## Settled",
            Self::Reject => "## Rejected",
            Self::Later => "## Later",
        }
    }
}

/// A line of the page that names an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLine<'a> {
    /// Its id.
    pub id: &'a str,
    /// The tick; `None` without one.
    pub mark: Option<Mark>,
    /// The words, without mark and id.
    pub words: &'a str,
}

/// What the page says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page<'a> {
    /// Lines with an id outside of the three lists, in order. A line that stands there twice is told once.
    pub lines: Vec<PageLine<'a>>,
    /// Ids that are not to be shown.
    pub hidden: BTreeSet<&'a str>,
}

/// Reads a line that ends with `%%r-…%%`.
fn line(text: &str) -> Option<PageLine<'_>> {
    let text = text.trim();
    let (words, id) = text.strip_suffix("%%")?.rsplit_once("%%")?;
    let digits = id.strip_prefix("r-")?;
    if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let words = words.trim();
    let words = words.strip_prefix("- ").or_else(|| words.strip_prefix("* ")).unwrap_or(words).trim_start();
    let boxed = words.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (mark, words) = match boxed.filter(|(sign, _)| sign.chars().count() <= 1) {
        Some((sign, rest)) => (Mark::of(sign), rest.trim()),
        None => (None, words),
    };
    Some(PageLine { id, mark, words })
}

/// Reads the page. `today` decides whether what was put off is due.
pub fn read(text: &str, today: Date) -> Page<'_> {
    let mut page = Page::default();
    let mut section = None;
    for raw in text.lines() {
        if raw.starts_with("# ") || raw.starts_with("## ") || raw.contains("<!-- cru:begin") {
            section =
                [Mark::Accept, Mark::Reject, Mark::Later].into_iter().find(|mark| raw.trim_end() == mark.heading());
            continue;
        }
        let Some(found) = line(raw) else { continue };
        match section {
            Some(Mark::Later) => {
                let due = found.words.split(' ').next().and_then(|day| day.parse::<Date>().ok());
                // Without a day it waits for a person.
                if due.is_none_or(|due| today < due) {
                    page.hidden.insert(found.id);
                }
            }
            Some(_) => {
                page.hidden.insert(found.id);
            }
            None if page.lines.iter().all(|known| known.id != found.id) => page.lines.push(found),
            None => {}
        }
    }
    page
}

/// The words of a proposal that a person wrote anew: those of the line, where they are others than the item's.
pub fn reworded<'a>(line: &PageLine<'a>, item: &ReviewItem) -> Option<&'a str> {
    let own = line.words.strip_prefix(item.kind.as_str())?.strip_prefix(':')?;
    let own = own.rsplit_once(" — [[").map_or(own, |(own, _)| own).trim();
    (!own.is_empty() && own != item.text).then_some(own)
}

/// The page with `items` in its region, and what was `done` below its headings. An item that is hidden or done is in no
/// region. Lines of a person inside the region move below it; all else stays as it is.
///
/// Error: the marks of the region are broken.
pub fn write(
    text: &str,
    items: &[ReviewItem],
    done: &BTreeMap<String, (Mark, String)>,
    today: Date,
) -> Result<String, EditError> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let page = read(text, today);
    let hidden: BTreeSet<String> = page.hidden.iter().map(|id| (*id).to_owned()).collect();
    let is_open = |item: &&ReviewItem| !hidden.contains(&item.id) && !done.contains_key(&item.id);
    // A tick that nobody has acted on yet stays.
    let sign = |id: &str| {
        let mark = page.lines.iter().find(|line| line.id == id).and_then(|line| line.mark);
        match mark {
            Some(Mark::Accept) => 'x',
            Some(Mark::Reject) => '-',
            Some(Mark::Later) => '>',
            None => ' ',
        }
    };
    let words = |item: &ReviewItem| {
        let written = page.lines.iter().find(|line| line.id == item.id);
        written.filter(|line| reworded(line, item).is_some()).map_or_else(|| item.words(), |line| line.words.to_owned())
    };
    let rows: Vec<String> = items
        .iter()
        .filter(is_open)
        .map(|item| format!("- [{}] {} %%{}%%", sign(&item.id), words(item), item.id))
        .collect();
    let mut new = in_region(text, &rows.join("\n"))?;
    for mark in [Mark::Reject, Mark::Accept, Mark::Later] {
        let rows: Vec<String> = done
            .iter()
            .filter(|(id, (of, _))| *of == mark && !hidden.contains(*id))
            .map(|(id, (_, words))| match mark {
                Mark::Later => {
                    let due = today.checked_add(jiff::Span::new().days(LATER_DAYS)).unwrap_or(today);
                    format!("- {due} {words} %%{id}%%")
                }
                _ => format!("- {words} %%{id}%%"),
            })
            .collect();
        if !rows.is_empty() {
            new = below(&new, mark.heading(), &rows, end);
        }
    }
    Ok(new)
}

/// The text with these lines in the region, which is made behind the title where it is missing.
fn in_region(text: &str, rows: &str) -> Result<String, EditError> {
    if !text.contains("<!-- cru:begin review") {
        let empty = format!("<!-- cru:begin {NAME} -->\n\n<!-- cru:end -->\n");
        if text.trim().is_empty() {
            return in_region(&format!("# Review\n\n{empty}"), rows);
        }
        let at = text.find("\n## ").map_or(text.len(), |at| at + 1);
        let gap = match () {
            () if text[..at].ends_with("\n\n") => "",
            () if text[..at].ends_with('\n') => "\n",
            () => "\n\n",
        };
        let behind = if at < text.len() { "\n" } else { "" };
        return in_region(&Patch::insert(at, format!("{gap}{empty}{behind}")).apply_to(text), rows);
    }
    let note = Note::parse(text);
    let found = region(&note, NAME)?;
    let is_theirs = |raw: &&str| !raw.trim().is_empty() && line(raw).is_none();
    let theirs: Vec<&str> = found.inside.lines().filter(is_theirs).collect();
    let seal = found.seal.to_owned();
    Ok(replace_region(&note, NAME, &seal, rows, &theirs.join("\n"))?.apply_to(text))
}

/// The text with more lines at the end of the list below a heading, which is made at the end where it is missing.
fn below(text: &str, heading: &str, rows: &[String], end: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.trim_end() == heading);
    let Some(at) = at else {
        let text = text.trim_end();
        return format!("{text}{end}{end}{heading}{end}{end}{}{end}", rows.join(end));
    };
    let next = lines[at + 1..].iter().position(|line| line.starts_with('#') || line.contains("<!-- cru:begin"));
    let stop = next.map_or(lines.len(), |next| at + 1 + next);
    let last = (at + 1..stop).rev().find(|place| !lines[*place].trim().is_empty());
    let place = last.map_or(at + 1, |last| last + 1);
    if last.is_none() {
        lines.insert(place, "");
    }
    let place = if last.is_none() { place + 1 } else { place };
    for (number, row) in rows.iter().enumerate() {
        lines.insert(place + number, row);
    }
    if lines.get(place + rows.len()).is_some_and(|line| line.starts_with('#')) {
        lines.insert(place + rows.len(), "");
    }
    lines.join(end) + end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::item::ReviewKind;
    use super::*;

    const TODAY: Date = jiff::civil::date(2026, 11, 20);

    fn items(count: usize) -> Vec<ReviewItem> {
        (0..count)
            .map(|at| ReviewItem::new(ReviewKind::Lesson, &format!("l-{at}"), "", &format!("Claim {at}"), "s#^u-01"))
            .collect()
    }

    fn shown(text: &str) -> Vec<String> {
        read(text, TODAY).lines.iter().map(|line| line.id.to_owned()).collect()
    }

    #[test]
    fn a_page_is_made_ticked_and_written_again() {
        let items = items(3);
        let text = write("", &items, &BTreeMap::new(), TODAY).unwrap();
        assert!(text.starts_with("# Review\n\n<!-- cru:begin review -->\n"), "{text}");
        assert_eq!(write(&text, &items, &BTreeMap::new(), TODAY).unwrap(), text, "a second time changes nothing");
        let ticked = text
            .replace("- [ ] lesson: Claim 0", "- [x] lesson: Claim nought")
            .replace("- [ ] lesson: Claim 1", "- [-] lesson: Claim 1")
            .replace("<!-- cru:end -->", "my own line\n<!-- cru:end -->\n\nBelow.");
        let page = read(&ticked, TODAY);
        assert_eq!(
            page.lines.iter().map(|line| line.mark).collect::<Vec<_>>(),
            [Some(Mark::Accept), Some(Mark::Reject), None]
        );
        assert_eq!(reworded(&page.lines[0], &items[0]), Some("Claim nought"));
        assert_eq!(reworded(&page.lines[1], &items[1]), None);
        assert_eq!(shown(&write(&ticked, &items, &BTreeMap::new(), TODAY).unwrap()).len(), 3, "ticks wait");
        let done = BTreeMap::from([
            (items[0].id.clone(), (Mark::Accept, "lesson: Claim nought".to_owned())),
            (items[1].id.clone(), (Mark::Reject, items[1].words())),
            (items[2].id.clone(), (Mark::Later, items[2].words())),
        ]);
        let new = write(&ticked, &items, &done, TODAY).unwrap();
        assert!(shown(&new).is_empty(), "{new}");
        assert!(new.contains("my own line") && new.contains("Below."), "{new}");
        assert!(new.contains("## Rejected\n\n- lesson: Claim 1 — [[s#^u-01]] %%r-"), "{new}");
        assert!(new.contains("## Later\n\n- 2026-11-27 lesson: Claim 2"), "{new}");
        assert_eq!(write(&new, &items, &BTreeMap::new(), TODAY).unwrap(), new);
        let later = jiff::civil::date(2026, 11, 27);
        let due = write(&new, &items, &BTreeMap::new(), later).unwrap();
        assert_eq!(read(&due, later).lines.len(), 1, "{due}");
    }

    #[test]
    fn lines_that_were_half_deleted_are_no_ticks() {
        for (text, mark) in [
            ("- [x] lesson: a %%r-9f2c11ab%%", Some(Some(Mark::Accept))),
            ("  * [-] lesson: a %%r-9f2c11ab%%\r", Some(Some(Mark::Reject))),
            ("- [ ] %%r-9f2c11ab%%", Some(None)),
            ("- [x lesson: a %%r-9f2c11ab%%", Some(None)),
            ("- [x] lesson: a %%r-9f2c11ab%", None),
            ("- [x] lesson: a %%r-9f2c11a%%", None),
            ("- [x] lesson: a", None),
            ("%%r-9f2c11ab%%", Some(None)),
        ] {
            assert_eq!(line(text).map(|line| line.mark), mark, "{text}");
        }
    }

    proptest! {
        /// Whatever a person does between two runs, nothing that was rejected comes back, the person's lines stay, and a run
        /// without news changes nothing.
        #[test]
        fn rejected_stays_rejected(
            edits in proptest::collection::vec((0usize..6, 0usize..4, "[a-zA-Z \\]\\[x%-]{0,12}"), 0..12),
            crlf in any::<bool>(),
            rejected in proptest::collection::btree_set(0usize..6, 0..4),
        ) {
            let items = items(6);
            let mut text = write("", &items, &BTreeMap::new(), TODAY).unwrap();
            let done: BTreeMap<String, (Mark, String)> =
                rejected.iter().map(|at| (items[*at].id.clone(), (Mark::Reject, items[*at].words()))).collect();
            text = write(&text, &items, &done, TODAY).unwrap();
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            let mut own = Vec::new();
            for (at, what, words) in edits {
                let id = &items[at].id;
                let region = text.find("<!-- cru:end").unwrap_or(0);
                let place = text[..region].find(id.as_str());
                match (what, place) {
                    (0, Some(place)) => {
                        let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
                        if text[start..].starts_with("- [ ]") {
                            text.replace_range(start..start + 5, "- [x]");
                        }
                    }
                    (1, Some(place)) => {
                        let start = text[..place].rfind('\n').map_or(0, |at| at + 1);
                        let stop = text[place..].find('\n').map_or(text.len(), |at| place + at + 1);
                        text.replace_range(start..stop, "");
                    }
                    (2, _) => {
                        let line = format!("mine {} {}", own.len(), words.replace(['%', '[', ']'], ""));
                        text.push_str(&format!("\n{}\n", line.trim_end()));
                        own.push(line.trim_end().to_owned());
                    }
                    _ => {}
                }
            }
            let new = write(&text, &items, &BTreeMap::new(), TODAY).unwrap();
            let page = read(&new, TODAY);
            for at in &rejected {
                prop_assert!(page.lines.iter().all(|line| line.id != items[*at].id), "{}", new);
            }
            for line in &own {
                prop_assert!(new.contains(line.as_str()), "{:?} in {}", line, new);
            }
            prop_assert_eq!(write(&new, &items, &BTreeMap::new(), TODAY).unwrap(), new);
        }

        #[test]
        fn total(text in "\\PC{0,60}|(- \\[x\\]|%%r-9f2c11ab%%|<!-- cru:begin review -->|<!-- cru:end -->|\n|## Rejected|## Later){0,14}") {
            let _ = read(&text, TODAY);
            if let Ok(new) = write(&text, &items(2), &BTreeMap::new(), TODAY) {
                prop_assert!(write(&new, &items(2), &BTreeMap::new(), TODAY).is_ok());
            }
        }
    }
}
