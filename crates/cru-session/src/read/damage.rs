//! What git and editors leave in a note that hides a part of it: conflict markers, and fences that never close.

use cru_base::{Diagnostic, Span};
use cru_note::{BlockKind, Note};

use super::section;
use crate::conflict::ConflictMark;
use crate::model::Item;

/// Conflict markers and fences that hold steps of the note, in order. In time linear in the text.
pub fn damage(note: &Note) -> Vec<Diagnostic> {
    let mut diagnostics = conflict_markers(note);
    diagnostics.extend(swallowing_fences(note));
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    diagnostics
}

/// Markers outside of closed fences: what an agent printed is no damage. A lone `=======` underlines a heading.
fn conflict_markers(note: &Note) -> Vec<Diagnostic> {
    let text = note.text();
    let mut fences = note.blocks().iter().filter_map(|block| match block.kind {
        BlockKind::Fence { body, closed: true, .. } => Some(body),
        _ => None,
    });
    let mut fence = fences.next();
    let mut marks: Vec<(ConflictMark, Span)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        while fence.is_some_and(|fence| fence.end <= span.start) {
            fence = fences.next();
        }
        if fence.is_none_or(|fence| span.start < fence.start) {
            let line = line.trim_end_matches(['\r', '\n']);
            marks.extend(ConflictMark::of(line.as_bytes()).map(|mark| (mark, span)));
        }
    }
    let mut found = Vec::new();
    let mut open = false;
    for (mark, span) in marks {
        let message = match mark {
            ConflictMark::Begin => "a conflict begins: the lines up to `=======` are of one side",
            ConflictMark::Base if open => "the lines up to `=======` are what both sides had before",
            ConflictMark::Middle if open => "the lines from here are of the other side",
            ConflictMark::End => "a conflict ends here",
            ConflictMark::Base | ConflictMark::Middle => continue,
        };
        open = (open || mark == ConflictMark::Begin) && mark != ConflictMark::End;
        let help = "keep what both sides added, and take the markers out; `cru check` then says which ids stand twice";
        found.push(Diagnostic::error("conflict-marker", span, message).help(help));
    }
    found
}

/// Fences that hold steps which belong to the note: those that never close, and those that close only with the fence of
/// a later block, whose beginning then stands in them.
fn swallowing_fences(note: &Note) -> Vec<Diagnostic> {
    let text = note.text();
    let mut found = Vec::new();
    for block in note.blocks() {
        let BlockKind::Fence { body, closed, .. } = block.kind else { continue };
        let opening = text[block.content.start..].lines().next().unwrap_or_default();
        if closed && !holds_opening(opening, body.of(text)) {
            continue;
        }
        let (steps, phases) = swallowed(body.of(text));
        if steps + phases == 0 {
            continue;
        }
        let span = Span::new(block.content.start, block.content.start + opening.len());
        let count = |count: usize, what: &str| (count > 0).then(|| cru_base::text::plural(count as u64, what));
        let what: Vec<String> = [count(steps, "step"), count(phases, "phase")].into_iter().flatten().collect();
        let how = if closed { "closes only with a later one" } else { "is never closed" };
        let message = format!("this fence {how}, so {} in it are not read", what.join(" and "));
        let help = "put a line with the same marks where the code ends";
        found.push(Diagnostic::error("unclosed-fence", span, message).help(help));
    }
    found
}

/// Whether a fence holds a line that opens another one of its kind. What `cru` renders never does: its fences are longer
/// than any in their text.
fn holds_opening(opening: &str, body: &str) -> bool {
    let Some(mark) = opening.bytes().next().filter(|mark| matches!(mark, b'`' | b'~')) else { return false };
    let marks = |line: &str| line.bytes().take_while(|&byte| byte == mark).count();
    let length = marks(opening);
    body.lines().any(|line| {
        let own = marks(line);
        let info = line.get(own..).unwrap_or_default().trim();
        own >= length && !info.is_empty() && !info.contains('`')
    })
}

/// How many steps with an id and how many phases with one a text holds.
fn swallowed(text: &str) -> (usize, usize) {
    // A step or phase of a note has an id; without one it is no more than an example.
    if !text.contains(" ^n-") && !text.contains("^p-") {
        return (0, 0);
    }
    let (session, _) = section::read(&Note::parse(text));
    let steps = session.items().filter(|(_, item)| matches!(item, Item::Step(step) if step.id.is_some())).count();
    (steps, session.phases.iter().filter(|phase| phase.id_written).count())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<(usize, &'static str)> {
        let note = Note::parse(text);
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        damage(&note).iter().map(|it| (line(it.span.start), it.code)).collect()
    }

    #[test]
    fn markers_of_git() {
        let both = "# A\n<<<<<<< HEAD\none\n||||||| base\n=======\ntwo\n>>>>>>> main\n";
        let codes: Vec<_> = found(both).into_iter().collect();
        assert_eq!(codes, [2, 4, 5, 7].map(|line| (line, "conflict-marker")));
        assert_eq!(found("Title\n=======\ntext\n"), [], "a heading");
        assert_eq!(found("```\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> main\n```\n"), [], "what a program printed");
        assert_eq!(found("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"), [], "an edit that an agent proposes");
        assert_eq!(found("<<<<<<<< eight\n<<<<<<<x\n"), []);
        assert_eq!(found("a\r\n>>>>>>> main\r\n"), [(2, "conflict-marker")], "one was left behind");
    }

    #[test]
    fn fences_that_hold_steps() {
        let step = "- `Bash ls` → 2 files ^n-001\n";
        assert_eq!(found(&format!("## Look\n\n```text\nout\n\n{step}")), [(3, "unclosed-fence")]);
        assert_eq!(found(&format!("```text\nout\n\n{step}\n```rust\nfn a() {{}}\n```\n")), [(1, "unclosed-fence")]);
        assert_eq!(found(&format!("```text\nout\n```\n\n{step}")), []);
        assert_eq!(found(&format!("````md\n```text\n{step}```\n````\n")), [], "a longer one holds what it likes");
        assert_eq!(found(&format!("```md\n{step}```\n")), [], "an example");
        assert_eq!(found("```text\nout\n"), [], "nothing is lost");
    }

    proptest! {
        #[test]
        fn total_and_inside_the_text(text in "([`~<=>| a-]{0,8}(\\^n-001)?\n){0,30}") {
            let note = Note::parse(text.as_str());
            for it in damage(&note) {
                prop_assert!(note.text().get(it.span.start..it.span.end).is_some());
            }
        }
    }
}
