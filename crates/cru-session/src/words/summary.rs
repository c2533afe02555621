//! What closing words say, in a line: an agent's last message has a list, a heading and an offer where a step has room
//! for two sentences.
//!
//! Nothing is understood. Marks of markdown, code and tables are taken off, and what an agent says to itself before the
//! matter and to the person after it; then whole sentences and items are kept as far as there is room.

use cru_base::text::{fold_whitespace, sanitise};

use super::emphasis::without_emphasis;
use super::list::{LEAD, List, OFFER};
use super::sentence::clauses;

/// Bytes that are looked at: more than any room that is asked for needs.
const SEEN: usize = 12_000;

/// `text` as one line of at most `max` characters, with `…` where something was left out. Empty where nothing is said.
pub fn summary(text: &str, max: usize) -> String {
    let seen = cru_base::lines::floor_char_boundary(text, SEEN);
    let pieces = pieces(&sanitise(&text[..seen]));
    // The last words often say what is still open: where not all fits, there is room for them.
    let all: usize = pieces.iter().map(|piece| piece.text.chars().count() + 2).sum();
    let whole = text.len() == seen;
    let end = pieces.last().filter(|piece| whole && all > max && pieces.len() > 2 && !piece.leads());
    let end = end.map(|piece| piece.text.as_str()).filter(|text| text.chars().count() * 3 < max);
    let (pieces, max) = match end {
        Some(end) => (&pieces[..pieces.len() - 1], max - end.chars().count() - 2),
        None => (&pieces[..], max),
    };
    let mut line = String::new();
    let mut room = max.saturating_sub(2);
    let mut left_out = !whole;
    let mut before: Option<&Piece> = None;
    for (at, piece) in pieces.iter().enumerate() {
        // A heading or a sentence with a colon says nothing without what it leads to.
        let needed = piece.text.chars().count() + if piece.leads() { 24 } else { 2 };
        if needed > room {
            left_out = true;
            // What there is room for says more than a heading.
            if line.chars().count() * 2 < max {
                let between = if line.is_empty() { 0 } else { 2 };
                let more = sentences_within(&piece.text, room.saturating_sub(between));
                if !line.is_empty() && !more.is_empty() {
                    line.push_str(if line.ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：']) {
                        " "
                    } else {
                        ". "
                    });
                }
                line.push_str(&more);
            }
            break;
        }
        if piece.leads() && pieces.get(at + 1).is_none_or(|next| next.heading) {
            continue;
        }
        if let Some(before) = before {
            let ends = line.ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：']);
            line.push_str(match (before.item, piece.item) {
                _ if ends => " ",
                (true, true) => "; ",
                _ => ". ",
            });
        }
        let said = if piece.heading { piece.text.trim_end_matches([':', '：']) } else { piece.text.as_str() };
        line.push_str(said.trim_end_matches(if piece.item { &['.', ';', ','][..] } else { &[';', ','][..] }));
        if piece.heading {
            line.push(':');
        }
        room = max.saturating_sub(2 + line.chars().count());
        before = Some(piece);
    }
    if line.is_empty() && pieces.iter().all(Piece::leads) {
        // What it led to has no words: then it is all that was said.
        let lead = pieces.iter().rev().map(|piece| piece.text.as_str()).find(|text| text.chars().count() < max);
        line.push_str(lead.unwrap_or_default());
    }
    let mut told = line.trim_end_matches([':', '：', ';', ' ']).to_owned();
    if left_out && !told.is_empty() && !told.ends_with('…') {
        told.push_str(" …");
    }
    match end {
        Some(end) if told.ends_with(['…', '.', '!', '?', '。', '！', '？']) => format!("{told} {end}"),
        Some(end) => format!("{told}. {end}"),
        None => told,
    }
}

/// A paragraph, an item of a list or a heading, on one line and without marks.
#[derive(Debug, PartialEq)]
struct Piece {
    text: String,
    item: bool,
    heading: bool,
}

impl Piece {
    /// Whether it only leads to what follows.
    fn leads(&self) -> bool {
        self.heading || self.text.ends_with([':', '：'])
    }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut open = false;
    let mut fence: Option<&str> = None;
    // Whether the rows of a table follow.
    let mut rows = false;
    for line in text.lines() {
        let trimmed = line.trim().trim_start_matches("> ");
        if let Some(mark) = fence {
            if trimmed.starts_with(mark) {
                fence = None;
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
                pieces.push(Piece { text: plain(&cells(row)), item: true, heading: false });
            }
            continue;
        }
        rows = false;
        let rule = !trimmed.is_empty() && trimmed.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | ' '));
        if trimmed.is_empty()
            || rule
            || trimmed.starts_with('<')
            || (trimmed.starts_with('[') && trimmed.ends_with(']'))
        {
            open = false;
            continue;
        }
        let heading = trimmed.starts_with('#');
        let item = item(trimmed);
        let words = plain(item.unwrap_or_else(|| trimmed.trim_start_matches('#').trim_start()));
        match pieces.last_mut() {
            // A wrapped line goes on.
            Some(last) if open && item.is_none() && !heading => {
                last.text.push(' ');
                last.text.push_str(&words);
            }
            _ => pieces.push(Piece { text: words, item: item.is_some(), heading }),
        }
        open = !heading;
    }
    pieces.retain(|piece| piece.text.contains(char::is_alphanumeric));
    while pieces.last().is_some_and(|piece| begins(&piece.text, &OFFER)) {
        pieces.pop();
    }
    pieces.retain(|piece| piece.item || !begins(&piece.text, &OFFER));
    // An offer may stand behind the last words.
    if let Some(last) = pieces.last_mut().filter(|last| !last.item && !last.heading) {
        let offer = clauses(&last.text).last().filter(|sentence| begins(sentence, &OFFER)).map(str::len);
        let end = last.text.len() - offer.unwrap_or(0);
        last.text.truncate(last.text[..end].trim_end().len());
    }
    pieces.retain(|piece| !piece.text.is_empty());
    strip_leads(&mut pieces);
    pieces
}

/// The cells of a row that have words.
pub(super) fn cells(row: &str) -> String {
    let cells = row.split('|').map(str::trim).filter(|cell| cell.contains(char::is_alphabetic));
    cells.collect::<Vec<_>>().join(" – ")
}

/// The words of an item, if the line is one.
pub(crate) fn item(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (rest.len() < line.len()).then(|| rest.strip_prefix(". ").or(rest.strip_prefix(") "))).flatten();
    let item = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)).or(numbered)?;
    Some(["[x] ", "[ ] ", "[X] "].iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item))
}

/// Without emphasis, and with the words of links for the links.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let Some(from) = rest[..at].rfind('[').filter(|from| !rest[..*from].ends_with('!')) else { break };
        let Some(end) = rest[at..].find(')') else { break };
        out.push_str(&rest[..from]);
        out.push_str(&rest[from + 1..at]);
        rest = &rest[at + end + 1..];
    }
    out.push_str(rest);
    let bare = fold_whitespace(&without_emphasis(&out));
    let emphasis = bare.strip_prefix('*').and_then(|rest| rest.strip_suffix('*')).filter(|rest| !rest.contains('*'));
    match emphasis {
        Some(words) => words.to_owned(),
        None => bare,
    }
}

/// Takes off what the agent says to itself before the matter: the sentences up to the last one that leads to it, among
/// the first few.
fn strip_leads(pieces: &mut Vec<Piece>) {
    let lead =
        pieces.iter().take(4).rposition(|piece| !piece.heading && !piece.item && last_lead(&piece.text).is_some());
    // Where nothing would be left, what there is says more than nothing.
    if let Some(at) = lead
        && let Some(end) = last_lead(&pieces[at].text)
    {
        let rest = pieces[at].text[end..].trim_start().to_owned();
        if !rest.is_empty() || pieces.len() > at + 1 {
            pieces.drain(..at);
            pieces[0].text = rest;
        }
    }
    if let Some(first) = pieces.first_mut() {
        // A cry says nothing: "Done.", "Perfect!".
        while let Some((cry, rest)) = first.text.split_once(['.', '!']) {
            if cry.split_whitespace().count() > 2 || !rest.starts_with(' ') || rest.trim().is_empty() {
                break;
            }
            first.text = rest.trim_start().to_owned();
        }
    }
    let cry = |piece: &Piece| !piece.item && !piece.heading && piece.text.split_whitespace().count() <= 2;
    while pieces.len() > 1 && (pieces[0].text.is_empty() || (cry(&pieces[0]) && !pieces[0].text.ends_with([':', '：'])))
    {
        pieces.remove(0);
    }
}

/// Where the last sentence that only leads to the matter ends.
fn last_lead(text: &str) -> Option<usize> {
    let mut end = None;
    let mut at = 0;
    for sentence in clauses(text) {
        at += sentence.len();
        if begins(sentence, &LEAD) || sentence.trim_end().ends_with("below.") || sentence.trim_end().ends_with("below:")
        {
            end = Some(at);
        }
    }
    end
}

fn begins(text: &str, list: &List) -> bool {
    list.at_start(text.trim_start()).is_some()
}

/// The first sentences that fit, else the first words.
fn sentences_within(text: &str, max: usize) -> String {
    if max < 12 {
        return String::new();
    }
    let mut line = String::new();
    for sentence in clauses(text) {
        if line.chars().count() + sentence.chars().count() > max {
            break;
        }
        line.push_str(sentence);
    }
    if line.chars().count() * 3 < max {
        line = text.chars().take(max - 1).collect();
        line.truncate(line.rfind(' ').unwrap_or(line.len()));
        // A code span that the cut left open.
        if line.matches('`').count() % 2 == 1 {
            line.truncate(line.rfind('`').unwrap_or(line.len()));
        }
        return format!("{}…", line.trim_end());
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_words_become_a_line() {
        let text = "Done. Here's what changed in the pump:\n\n##### Store\n- **`Valve`** opens first.\n- adds a [guide](x.md)\n\n\
                    ```rust\nfn x() {}\n```\n\n| a | b |\n|---|---|\n\nAll 12 tests pass.\n\nWant me to commit?";
        assert_eq!(summary(text, 400), "Store: `Valve` opens first; adds a guide. All 12 tests pass.");
        assert_eq!(summary(text, 40), "Store: `Valve` opens first …");
        assert_eq!(
            summary(
                "Two are mended:\n\n| # | File | Fault |\n|---|:--|--|\n| 1 | a.rs | leaks |\n| 2 | `b.rs` | **hangs** |",
                200
            ),
            "Two are mended: a.rs – leaks; `b.rs` – hangs"
        );
        assert_eq!(summary("This is the whole call:\n\n```\nx\n```", 200), "This is the whole call");
        assert_eq!(
            summary("### Found:\n\nThe cache is old. Let me know if you want more.", 200),
            "Found: The cache is old."
        );
    }

    #[test]
    fn thoughts_before_the_matter_go() {
        let text = "`Issuer()` is exported. Minor gap. Now I have the full picture. Let me compose my analysis.\n\n## Findings\n\n1. The cache is never cleared.";
        assert_eq!(summary(text, 200), "Findings: The cache is never cleared");
        assert_eq!(summary("Wait — that is odd.", 200), "Wait — that is odd.");
    }

    #[test]
    fn what_is_too_long_is_cut_at_a_sentence() {
        let text =
            "The clock was read twice. The second reading came after the sleep, so the test failed on slow machines.";
        assert_eq!(summary(text, 60), "The clock was read twice. …");
        assert_eq!(summary("one two three four five six seven", 20), "one two three…");
        assert_eq!(summary("see `a very long command line` here", 16), "see…");
        assert_eq!(summary("*Interrupted by the user.*", 60), "Interrupted by the user.");
    }

    #[test]
    fn the_last_words_have_room() {
        let text = "The pump was dry. It is filled now, up to the mark on the glass.\n\n- the first valve is open\n- the second valve is shut\n\nNot tested on a cold day.";
        assert_eq!(
            summary(text, 110),
            "The pump was dry. It is filled now, up to the mark on the glass. … Not tested on a cold day."
        );
        // They are told once, even where they are the only thing that does not fit.
        let text = "The pump was dry.\n\nIt is filled.\n\nNot tested.";
        assert_eq!(summary(text, 50), "The pump was dry. It is filled. Not tested.");
        assert_eq!(summary(text, 43), "The pump was dry. … Not tested.");
    }

    #[test]
    fn nothing_said_is_nothing() {
        for text in ["", "```\nx\n```", "| a |", "---", "#"] {
            assert_eq!(summary(text, 100), "", "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_line_within_its_room(text in "([ a-z`*#|:.\\n-]|Let me |\\[x\\]\\(y\\)|…|é){0,60}", max in 8_usize..200) {
            let line = summary(&text, max);
            proptest::prop_assert!(line.chars().count() <= max && !line.contains('\n'), "{line:?}");
        }
    }
}
