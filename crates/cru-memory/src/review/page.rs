//! `review.md`: the items in a region, the ticks of a person, and what was rejected, settled or put off.
//!
//! Below `## Rejected`, `## Settled` and `## Later` the note is source: what stands there with its id is not shown again, of
//! `## Later` until the day that stands before it. The rest of the note is the person's.

use std::collections::{BTreeMap, BTreeSet};

use cru_note::edit::{ChangedPage, EditError, Fill, GeneratedLines, Missing, region};
use cru_note::{Note, Patch};
use jiff::civil::Date;

use super::item::{DIGITS, ReviewItem};

/// The note.
pub const NOTE: &str = "review.md";

/// The region's name.
pub const NAME: &str = "review";

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
/// region. What a person wrote into the region stays: the words of an item that still waits in its line, all else below
/// the region. `known` gives the lines that were generated for a seal.
///
/// Error: the marks of the region are broken, or what stands inside cannot stand below.
pub fn write(
    old: &[u8],
    items: &[ReviewItem],
    done: &BTreeMap<String, (Mark, String)>,
    today: Date,
    known: &dyn Fn(&str) -> Option<GeneratedLines>,
) -> Result<ChangedPage, EditError> {
    let note = Note::parse(old);
    let text = note.text();
    let page = read(text, today);
    let hidden: BTreeSet<String> = page.hidden.iter().map(|id| (*id).to_owned()).collect();
    let is_open = |item: &&ReviewItem| !hidden.contains(&item.id) && !done.contains_key(&item.id);
    let found = region(&note, NAME).ok();
    let generated = found.and_then(|found| known(found.seal));
    let inside: Vec<&str> = found.map(|found| found.inside.lines().collect()).unwrap_or_default();
    // The line of an item, and the words in it that a person changed.
    let line_of = |id: &str| page.lines.iter().find(|line| line.id == id);
    let own_words = |id: &str, words: &str| {
        let line = line_of(id)?;
        let is_own = match &generated {
            Some(generated) => !generated.has(&row(None, line.words, id)),
            None => line.words != words && inside.iter().any(|raw| raw.contains(line.words)),
        };
        is_own.then(|| line.words.to_owned())
    };
    let rows: Vec<WaitingRow> = items
        .iter()
        .filter(is_open)
        .map(|item| {
            // A tick that nobody has acted on yet stays.
            let mark = line_of(&item.id).and_then(|line| line.mark);
            let words = item.words();
            let shown = own_words(&item.id, &words);
            WaitingRow {
                shown: row(mark, shown.as_ref().unwrap_or(&words), &item.id),
                generated: row(mark, &words, &item.id),
            }
        })
        .collect();
    let done: BTreeMap<&String, (Mark, String)> = done
        .iter()
        .filter(|(id, _)| !hidden.contains(*id))
        .map(|(id, (mark, words))| (id, (*mark, own_words(id, words).unwrap_or_else(|| words.clone()))))
        .collect();
    let join = |of: fn(&WaitingRow) -> &str| rows.iter().map(of).collect::<Vec<_>>().join("\n");
    // Words that stand in the region still, or below a heading.
    let is_kept = |raw: &&&str| {
        line(raw).is_some_and(|it| {
            let end = row(None, it.words, it.id);
            rows.iter().any(|row| row.shown.get(5..) == end.get(5..))
                || done.iter().any(|(id, (_, words))| *id == it.id && words == it.words)
        })
    };
    let kept: Vec<&str> = inside.iter().filter(is_kept).copied().collect();
    let missing = text.find("\n## ").map_or(Missing::Append(None), |at| Missing::At(at + 1));
    let mut new = ChangedPage::new(old.to_vec());
    if text.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty() {
        let eol = note.split().line_end.as_str();
        new.bytes = Patch::insert(text.len(), format!("# Review{eol}{eol}")).apply(old);
    }
    let (shown, generated) = (join(|row| &row.shown), join(|row| &row.generated));
    new.fill(&Fill { generated: &generated, kept: &kept, ..Fill::new(NAME, &shown, missing) }, known)?;
    for mark in [Mark::Reject, Mark::Accept, Mark::Later] {
        let rows: Vec<String> = done
            .iter()
            .filter(|(_, (of, _))| *of == mark)
            .map(|(id, (_, words))| match mark {
                Mark::Later => {
                    let due = today.checked_add(jiff::Span::new().days(LATER_DAYS)).unwrap_or(today);
                    format!("- {due} {words} %%{id}%%")
                }
                _ => format!("- {words} %%{id}%%"),
            })
            .collect();
        if !rows.is_empty() {
            let note = Note::parse(new.bytes.as_slice());
            new.bytes = below(&note, mark.heading(), &rows).apply(&new.bytes);
        }
    }
    Ok(new)
}

/// The line of an item.
fn row(mark: Option<Mark>, words: &str, id: &str) -> String {
    let sign = match mark {
        Some(Mark::Accept) => 'x',
        Some(Mark::Reject) => '-',
        Some(Mark::Later) => '>',
        None => ' ',
    };
    format!("- [{sign}] {words} %%{id}%%")
}

/// The line of an item that waits.
struct WaitingRow {
    /// As it is generated.
    generated: String,
    /// With the words that a person gave it.
    shown: String,
}

/// What puts more lines at the end of the list below a heading, which is made at the end where it is missing.
fn below(note: &Note, heading: &str, rows: &[String]) -> Patch {
    let (text, eol) = (note.text(), note.split().line_end.as_str());
    let rows = rows.join(eol);
    let mut start = 0;
    let mut heading_at = None;
    let mut last = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        match heading_at {
            None if line.trim_end() == heading => {
                heading_at = Some(end);
                last = end;
            }
            Some(_) if line.starts_with('#') || line.contains("<!-- cru:begin") => break,
            Some(_) if !line.trim().is_empty() => last = end,
            _ => {}
        }
        start = end;
    }
    let Some(heading_end) = heading_at else {
        let gap = match () {
            () if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
            () if text.ends_with('\n') => eol.to_owned(),
            () => eol.repeat(2),
        };
        return Patch::insert(text.len(), [&gap, heading, eol, eol, &rows, eol].concat());
    };
    let above = match (text[..last].ends_with('\n'), last == heading_end) {
        (true, true) => eol.to_owned(),
        (true, false) => String::new(),
        (false, true) => eol.repeat(2),
        (false, false) => eol.to_owned(),
    };
    let behind = if text[last..].starts_with('#') { eol } else { "" };
    let end = if text[..last].ends_with('\n') || last < text.len() { eol } else { "" };
    Patch::insert(last, [&above, &rows, end, behind].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::item::ReviewKind;
    use super::*;

    thread_local! {
        static GENERATED: std::cell::RefCell<BTreeMap<String, GeneratedLines>> = std::cell::RefCell::default();
    }

    /// Writes and remembers, as the vault does.
    fn write(
        text: &str,
        items: &[ReviewItem],
        done: &BTreeMap<String, (Mark, String)>,
        today: Date,
    ) -> Result<String, EditError> {
        let known = |seal: &str| GENERATED.with_borrow(|all| all.get(seal).cloned());
        let page = super::write(text.as_bytes(), items, done, today, &known)?;
        let lines = page.regions().iter().map(|it| (it.generated.seal(), it.generated.clone()));
        GENERATED.with_borrow_mut(|all| all.extend(lines));
        Ok(String::from_utf8(page.bytes).unwrap())
    }

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
        assert!(text.starts_with("# Review\n\n<!-- cru:begin review "), "{text}");
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

    #[test]
    fn words_of_a_person_outlive_their_item() {
        let items = items(3);
        let none = BTreeMap::new();
        let text = write("", &items, &none, TODAY).unwrap();
        let told = text
            .replace("u-01]] %%r-", "u-01]] call Ann %%r-")
            .replacen("Claim 1", "Claim one", 1)
            .replace("- [ ] lesson: Claim 2", "- [x] lesson: Claim 2");
        let waiting = write(&told, &items, &none, TODAY).unwrap();
        assert_eq!(waiting, told, "what waits keeps the words in its line");
        let done = BTreeMap::from([(
            items[2].id.clone(),
            (Mark::Accept, "lesson: Claim 2 — [[s#^u-01]] call Ann".to_owned()),
        )]);
        let fewer = write(&told, &items[..1], &done, TODAY).unwrap();
        assert_eq!(fewer.matches("call Ann").count(), 3, "{fewer}");
        assert_eq!(fewer.matches("Claim 2").count(), 1, "a tick that was acted on moves once: {fewer}");
        let (_, below) = fewer.split_once("<!-- cru:end -->").unwrap();
        assert!(below.contains("- [ ] lesson: Claim one — [[s#^u-01]] call Ann"), "{fewer}");
        assert_eq!(write(&fewer, &items[..1], &none, TODAY).unwrap(), fewer);
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
