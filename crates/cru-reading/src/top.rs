//! The summary on top of a session's note as an accepted reading tells it: goal, outcome and what is open of the reading, all
//! else as the record gives it.
//!
//! What the record gives is made elsewhere and kept; here lines of it are replaced, so that the same can be done with what was
//! generated before, and a person's own words are known as such.

use cru_base::Span;
use cru_note::{Block, BlockKind, Note};
use cru_session::escape::inline;

use crate::accepted::Accepted;

/// Lines of the record that say the same in its own way.
const GOAL: [&str; 2] = ["Asked", "Goal"];
const OUTCOME: [&str; 3] = ["Result", "Agent, last", "Outcome"];

/// What is open that is named.
const OPEN: usize = 4;

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

/// The text of a summary as the reading tells it; `None` where it tells nothing, or where the callout is no summary of ours.
pub fn told(block: &str, accepted: &Accepted) -> Option<String> {
    if accepted.goal.is_none() && accepted.outcome.is_none() && accepted.open.is_empty() {
        return None;
    }
    let mut lines = block.lines();
    let head = lines.next().filter(|line| line.starts_with("> [!summary]"))?;
    let body: Vec<&str> =
        lines.map(|line| line.strip_prefix("> ").or_else(|| line.strip_prefix('>'))).collect::<Option<_>>()?;
    // Lists of turns stand as they are; fields are the last paragraph.
    let (mut turns, mut fields): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    for line in body {
        match field(line) {
            Some(_) => fields.push(line.trim_end().to_owned()),
            None if fields.is_empty() => turns.push(line),
            // What goes on below a field belongs to it.
            None if line.trim().is_empty() => {}
            None => return None,
        }
    }
    while turns.last().is_some_and(|line| line.trim().is_empty()) {
        turns.pop();
    }
    let mut first: Vec<String> = Vec::new();
    if let Some(goal) = &accepted.goal {
        fields.retain(|line| !is_named(line, &GOAL));
        first.push(format!("Goal: {}", inline(goal)));
    }
    if let Some(outcome) = &accepted.outcome {
        fields.retain(|line| !is_named(line, &OUTCOME));
        first.push(format!("Outcome: {}, {}", outcome.state.as_str(), inline(&outcome.text)));
    }
    if !accepted.open.is_empty() {
        let at = fields.iter().position(|line| is_named(line, &["Open"]));
        let at = at.or_else(|| fields.iter().position(|line| is_named(line, &["Time"]))).unwrap_or(fields.len());
        fields.retain(|line| !is_named(line, &["Open"]));
        let mut open: Vec<String> = accepted.open.iter().take(OPEN).map(|text| inline(text)).collect();
        let more = accepted.open.len().saturating_sub(OPEN);
        if more > 0 {
            open.push(format!("… and {more} more"));
        }
        fields.insert(at.min(fields.len()), format!("Open: {}", open.join("; ")));
    }
    fields.push(format!("Reading: [[{}]]", link_name(&accepted.name)));
    let paragraphs = if turns.is_empty() {
        first.extend(fields);
        vec![first.join("  \n")]
    } else {
        vec![first.join("  \n"), turns.join("\n"), fields.join("  \n")]
    };
    let paragraphs: Vec<String> = paragraphs.into_iter().filter(|it| !it.is_empty()).collect();
    let body = paragraphs.join("\n\n");
    let quoted = body.lines().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") });
    Some(std::iter::once(head.trim_end().to_owned()).chain(quoted).collect::<Vec<_>>().join("\n"))
}

/// The text of a summary without what a reading told in it, for notes of which nobody knows any more what the record gave;
/// `None` where it tells of no reading.
pub fn untold(block: &str) -> Option<String> {
    let told = |line: &&str| is_named(line.trim_start_matches(['>', ' ']), &["Goal", "Outcome", "Open", "Reading"]);
    if !block.lines().any(|line| is_named(line.trim_start_matches(['>', ' ']), &["Reading"])) {
        return None;
    }
    let mut lines: Vec<&str> = block.lines().filter(|line| !told(line)).collect();
    if lines.get(1).is_some_and(|line| line.trim_end() == ">") {
        lines.remove(1);
    }
    while lines.last().is_some_and(|line| line.trim_end() == ">") {
        lines.pop();
    }
    let mut text = lines.join("\n");
    text.truncate(text.trim_end().len());
    Some(text)
}

/// The text of a note whose summary reads as the reading tells it; `None` where nothing of it changes.
pub fn told_in(text: &str, accepted: &Accepted) -> Option<String> {
    let note = Note::parse(text);
    let span = summary_block(&note)?;
    let new = told(span.of(text), accepted)?;
    let changed = format!("{}{new}{}", &text[..span.start], &text[span.end..]);
    (changed != text).then_some(changed)
}

/// The name and value of a field.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(": ")?;
    let is_letter = |b: u8| b.is_ascii_alphabetic() || matches!(b, b',' | b' ');
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(is_letter);
    is_name.then_some((name, value))
}

fn is_named(line: &str, names: &[&str]) -> bool {
    field(line).is_some_and(|(name, _)| names.contains(&name))
}

/// The name of a file as a link may hold it.
fn link_name(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '[' | ']' | '|' | '#' | '^') && !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::accepted::AcceptedOutcome;
    use crate::answer::OutcomeState;

    fn accepted() -> Accepted {
        Accepted {
            name: "s@1".into(),
            record: String::new(),
            goal: Some("Mend [[the]] pump.".into()),
            outcome: Some(AcceptedOutcome { state: OutcomeState::Partly, text: "The valve is new.".into() }),
            decisions: Vec::new(),
            open: vec!["The pump leaks.".into()],
            workflow: Vec::new(),
            segments: Vec::new(),
        }
    }

    const SHORT: &str = "# T\n\n> [!summary] T\n> Asked: mend it  \n> Result: Done.  \n> Files: `a.rs` +1 −0  \n> Open: not pushed  \n> Time: 2 min active\n\n## Do\n\n> [!summary] below\n> Asked: no\n";

    #[test]
    fn of_one_turn() {
        insta::assert_snapshot!(told_in(SHORT, &accepted()).unwrap(), @r"
        # T

        > [!summary] T
        > Goal: Mend \[[the]] pump.  
        > Outcome: partly, The valve is new.  
        > Files: `a.rs` +1 −0  
        > Open: The pump leaks.  
        > Time: 2 min active  
        > Reading: [[s@1]]

        ## Do

        > [!summary] below
        > Asked: no
        ");
        let facts = Accepted { goal: None, outcome: None, open: Vec::new(), ..accepted() };
        assert_eq!(told_in(SHORT, &facts), None);
    }

    #[test]
    fn of_many_turns() {
        let many = "> [!summary] T\n> - \"mend it\" → Done.\n> - \"and now?\"\n>\n> Files: `a.rs` +1 −0";
        insta::assert_snapshot!(told(many, &accepted()).unwrap(), @r#"
        > [!summary] T
        > Goal: Mend \[[the]] pump.  
        > Outcome: partly, The valve is new.
        >
        > - "mend it" → Done.
        > - "and now?"
        >
        > Files: `a.rs` +1 −0  
        > Open: The pump leaks.  
        > Reading: [[s@1]]
        "#);
        let mine = "> [!summary] T\n> Files: `a.rs`\n> and what I think of it";
        assert_eq!(told(mine, &accepted()), None);
        assert_eq!(
            told_in("# T\n\n> [!summary] T\n> Asked: x\n\n^s-01\n", &accepted()),
            None,
            "one with an id is somebody's own"
        );
    }

    proptest! {
        #[test]
        fn no_claim_leaves_the_callout(goal in cru_session::escape::nasty::nasty(), open in cru_session::escape::nasty::nasty()) {
            prop_assume!(!goal.trim().is_empty() && !open.trim().is_empty());
            let accepted = Accepted { goal: Some(goal), open: vec![open], ..accepted() };
            let text = told_in(SHORT, &accepted).unwrap();
            let shape = |text: &str| Note::parse(text).blocks().iter().map(|block| std::mem::discriminant(&block.kind)).collect::<Vec<_>>();
            prop_assert_eq!(shape(&text), shape(SHORT), "{}", text);
            let note = Note::parse(text.as_str());
            let block = summary_block(&note).unwrap();
            prop_assert_eq!(block.of(&text).lines().count(), 7);
        }
    }
}
