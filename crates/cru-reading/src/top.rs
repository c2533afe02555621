//! The summary on top of a session's note as a reading that counts tells it: what was asked, what came of it, what nobody
//! verified, what the record refutes and what is open are the reader's; files, checks, commits and time stay the record's.
//!
//! The summary that the record alone gives is made elsewhere and kept; who may take its place is decided by its seal, never by
//! its text.

use cru_base::Span;
use cru_note::{Block, BlockKind, Note};
use cru_session::escape::inline;
use cru_session::open::{OpenPoint, open_line};
use cru_session::words::shorten::at_word;

use crate::accepted::Accepted;

/// Lines that the record gives and that stay, in the order of the page; those of one row stand on one line.
const FACTS: [&[&str]; 2] = [&["Files", "Checks"], &["Commits", "Published", "Time"]];

/// Characters of the whole, and of a line that is cut to make room.
const MOST: usize = 900;
const LEAST: usize = 40;

/// Between two lines.
const BREAK: &str = "  \n> ";

/// The callout on top of a note: the first of its kind before all phases, without a block id.
pub fn summary_block(note: &Note) -> Option<Span> {
    let is_phase = |block: &Block| matches!(block.kind, BlockKind::Heading { level, .. } if level > 1);
    let text = note.text();
    let is_summary = |block: &&Block| match block.kind {
        BlockKind::Callout { kind, .. } => kind.of(text).eq_ignore_ascii_case("summary") && block.id.is_none(),
        _ => false,
    };
    note.blocks().iter().take_while(|block| !is_phase(block)).find(is_summary).map(|block| block.content)
}

/// A summary as the reading tells it, with the facts of `block`, which the record alone gave; `open` is what the session left
/// open. `None` where the reading says neither what was asked nor what came of it.
pub fn told(block: &str, accepted: &Accepted, open: &[OpenPoint]) -> Option<String> {
    let outcome = accepted.outcome.as_ref();
    if outcome.is_none() && accepted.goal.is_none() {
        return None;
    }
    let list = |texts: &[String]| Some(texts.iter().map(|text| inline(text)).collect::<Vec<_>>().join("; "));
    let named = |name: &str, text: Option<String>| Some(format!("{name}: {}", text.filter(|text| !text.is_empty())?));
    let asked = accepted.goal.as_deref().map(inline).or_else(|| field(block, "Asked").map(str::to_owned));
    let open_of_record = || open_line(open).map(|line| inline(&line));
    let left = list(&accepted.open).filter(|text| !text.is_empty()).or_else(open_of_record);
    let mut lines: Vec<String> = [
        named("Asked", asked),
        named("Outcome", outcome.map(|it| inline(&it.text))),
        named("Not verified", list(&accepted.not_verified)),
        named("Contradicted", list(&accepted.contradicted)),
        named("Open", left),
    ]
    .into_iter()
    .flatten()
    .collect();
    for names in FACTS {
        let facts = names.iter().filter_map(|name| Some(format!("{name}: {}", field(block, name)?)));
        lines.extend(Some(facts.collect::<Vec<_>>().join(" · ")).filter(|line| !line.is_empty()));
    }
    let (kept, all) = accepted.claims;
    let statements = if all == 1 { "statement" } else { "statements" };
    let reader = at_word(&inline(&accepted.reader), LEAST);
    lines.push(format!("Read by {reader}: {kept} of {all} {statements} proven · [[{}]]", link_name(&accepted.name)));
    let head = head(outcome.map(|it| it.state.as_str()), open);
    let last = lines.len() - 1;
    // The longest line gives way first; the last one names the reading and stays whole.
    while head.chars().count() + lines.iter().map(|line| line.chars().count() + BREAK.len()).sum::<usize>() > MOST {
        let longest = lines[..last].iter().enumerate().max_by_key(|(_, line)| line.chars().count());
        let Some((at, length)) = longest.map(|(at, line)| (at, line.chars().count())).filter(|it| it.1 > LEAST) else {
            break;
        };
        lines[at] = at_word(&lines[at], (length - length / 8 - 1).max(LEAST));
    }
    Some(format!("{head}\n> {}", lines.join(BREAK)))
}

/// The title line: how the session came out, and what of its work is not handed over.
fn head(state: Option<&str>, open: &[OpenPoint]) -> String {
    let short = |point: &OpenPoint| match point {
        OpenPoint::NotCommitted(_) => Some("not committed"),
        OpenPoint::NotPushed => Some("not pushed"),
        OpenPoint::Check(_) => Some("a check fails"),
        _ => None,
    };
    let mut words: Vec<&str> = state.into_iter().chain(open.iter().filter_map(short)).collect();
    words.dedup();
    format!("> [!summary] {}", words.join(", ")).trim_end().to_owned()
}

/// The text of a summary without what a reading told in it, for notes of which nobody knows any more what the record gave;
/// `None` where it tells of no reading.
pub fn untold(block: &str) -> Option<String> {
    let is_told = block.lines().any(|line| {
        let line = line.trim_start_matches(['>', ' ']);
        (line.starts_with("Read by ") || line.starts_with("Reading: ")) && line.trim_end().ends_with("]]")
    });
    if !is_told {
        return None;
    }
    let names = FACTS.into_iter().flatten();
    let facts = names.filter_map(|name| Some(format!("{name}: {}", field(block, name)?)));
    let facts = facts.collect::<Vec<_>>().join(BREAK);
    Some(format!("> [!summary]\n> {facts}").trim_end_matches([' ', '>', '\n']).to_owned())
}

/// The text of a note whose summary reads as the reading tells it; `None` where nothing of it changes.
pub fn told_in(text: &str, accepted: &Accepted, open: &[OpenPoint]) -> Option<String> {
    let note = Note::parse(text);
    let span = summary_block(&note)?;
    let new = told(span.of(text), accepted, open)?;
    let changed = format!("{}{new}{}", &text[..span.start], &text[span.end..]);
    (changed != text).then_some(changed)
}

/// The value of a line of a generated summary; lines of the record may stand behind each other on one.
fn field<'b>(block: &'b str, name: &str) -> Option<&'b str> {
    let parts = block.lines().flat_map(|line| line.trim_start_matches(['>', ' ']).split(" · "));
    let value = parts.map(str::trim).find_map(|part| part.strip_prefix(name)?.strip_prefix(": "))?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

/// The name of a file as a link may hold it.
fn link_name(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '[' | ']' | '|' | '#' | '^') && !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use cru_testing::nasty;
    use proptest::prelude::*;

    use super::*;
    use crate::accepted::AcceptedOutcome;
    use crate::answer::OutcomeState;

    fn accepted() -> Accepted {
        Accepted {
            name: "s@1".into(),
            record: String::new(),
            reader: "claude-sonnet-5".into(),
            claims: (9, 9),
            title: Some("A pump that works".into()),
            goal: Some("Mend [[the]] pump.".into()),
            outcome: Some(AcceptedOutcome { state: OutcomeState::Partly, text: "The valve is new.".into() }),
            decisions: Vec::new(),
            not_verified: vec!["The pump at night.".into()],
            open: vec!["The pump leaks.".into()],
            contradicted: Vec::new(),
            workflow: Vec::new(),
            segments: Vec::new(),
        }
    }

    const FACTS_ALONE: &str = "# T\n\n> [!summary]\n> Asked: \"mend it\"  \n> Agent, last: \"Done.\"  \n> Files: `a.rs` +1 −0  \n> Checks: `make test` passed  \n> Open: not pushed  \n> Time: 2 min active\n\n## Do\n\n> [!summary] below\n> Asked: no\n";

    #[test]
    fn the_reader_takes_the_place_of_the_quotations_and_facts_stay() {
        insta::assert_snapshot!(told_in(FACTS_ALONE, &accepted(), &[OpenPoint::NotPushed]).unwrap());
        let silent = Accepted { goal: None, outcome: None, open: Vec::new(), ..accepted() };
        assert_eq!(told_in(FACTS_ALONE, &silent, &[]), None);
        let own = "# T\n\n> [!summary] T\n> Asked: x\n\n^s-01\n";
        assert_eq!(told_in(own, &accepted(), &[]), None, "one with an id is somebody's own");
    }

    #[test]
    fn the_summary_of_an_older_version_keeps_its_facts() {
        let many = "> [!summary] T\n> - \"mend it\" → Done.\n> - \"and now?\"\n>\n> Files: `a.rs` +1 −0";
        let new = told(many, &accepted(), &[]).unwrap();
        assert!(new.contains("> Files: `a.rs` +1 −0") && !new.contains("mend it"), "{new}");
        let back = untold(&new).unwrap();
        assert_eq!(back, "> [!summary]\n> Files: `a.rs` +1 −0");
        assert_eq!(untold(&back), None);
    }

    proptest! {
        #[test]
        fn no_answer_leaves_the_callout_or_makes_it_long(
            goal in nasty(), text in nasty(), open in prop::collection::vec(nasty(), 0..5), reader in nasty(), times in 1..40_usize,
        ) {
            prop_assume!(!goal.trim().is_empty() && !text.trim().is_empty());
            let long = |text: &str| text.repeat(times);
            let outcome = Some(AcceptedOutcome { state: OutcomeState::Done, text: long(&text) });
            let accepted = Accepted {
                goal: Some(long(&goal)), outcome, reader, not_verified: open.clone(), contradicted: open.clone(), open,
                ..accepted()
            };
            let text = told_in(FACTS_ALONE, &accepted, &[OpenPoint::NotCommitted(String::new())]).unwrap();
            let shape = |text: &str| Note::parse(text).blocks().iter().map(|block| std::mem::discriminant(&block.kind)).collect::<Vec<_>>();
            prop_assert_eq!(shape(&text), shape(FACTS_ALONE), "{}", text);
            let note = Note::parse(text.as_str());
            let block = summary_block(&note).unwrap().of(&text).to_owned();
            prop_assert!(block.lines().count() <= 9 && block.chars().count() <= MOST, "{}", block);
        }
    }
}
