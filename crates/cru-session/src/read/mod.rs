//! From a note to a session: total and generous.
//!
//! Whatever is not understood stays prose, and what is odd becomes a diagnostic; nothing makes a note unreadable. A
//! note written by hand needs no ids and no hashes. Links to other notes are the graph's business, not this one's.

mod callout;
mod check;
mod damage;
mod link;
mod list;
mod meta;
mod section;
mod tasks;
mod text;

use cru_base::{Diagnostic, threads};
use cru_note::Note;

use super::model::{Link, Meta, Phase, Session};

pub use damage::damage;
#[cfg(test)]
pub(crate) use section::inherit;
pub use section::is_header;

/// The session that a note says, and what is odd about it beyond [`Note::diagnostics`].
pub fn session(note: &Note) -> (Session, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let (values, meta) = meta::read(note.text(), note.split(), &mut diagnostics);
    let ((mut session, odd), doubled) =
        threads::join(note.text().len(), || section::read(note), || check::duplicate_ids(note));
    session.meta = meta;
    diagnostics.extend(odd);
    diagnostics.extend(doubled);
    diagnostics.extend(check::check(note, &values, &session));
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    (session, diagnostics)
}

/// The same, when nobody asks what is odd about it: cheaper in a long note.
pub fn content(note: &Note) -> Session {
    let mut diagnostics = Vec::new();
    let (_, meta) = meta::read(note.text(), note.split(), &mut diagnostics);
    Session { meta, ..section::read(note).0 }
}

/// What the bytes of a note say, when nobody asks for the note itself: cheaper still in a long one, of which no more than
/// a few parts are in memory as blocks at any time.
pub fn content_of(bytes: impl Into<Vec<u8>>) -> Session {
    let parts = Note::in_parts(bytes, |number, note| {
        let first = number == 0;
        (section::part(note), first.then(|| meta::read(note.text(), note.split(), &mut Vec::new()).1))
    });
    let (sections, metas): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let meta = metas.into_iter().flatten().next().unwrap_or_default();
    Session { meta, ..section::join(sections).0 }
}

/// The phases alone, with nothing in them.
pub fn phases(note: &Note) -> Vec<Phase> {
    section::phases(note)
}

/// The frontmatter alone of a note's text (the beginning of a file up to the frontmatter's end is enough).
pub fn meta(text: &str) -> (Meta, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let split = cru_note::frontmatter::split(text);
    let (_, meta) = meta::read(text, &split, &mut diagnostics);
    diagnostics.extend(split.diagnostics);
    (meta, diagnostics)
}

/// Every wikilink of a note's body, in order.
pub fn links(note: &Note) -> Vec<Link> {
    link::all(note, cru_base::Span::new(0, note.text().len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINES: &str = ";;;;words `a` ^id;- item;- `Bash x` → ok (09:00:00);  - reads: `a`;**Tool calls:**;> [!error] It broke;\
                         > Resolved: see [[#^id]];> [!user] Somebody;> > quote;```;```tasks;```yaml memory;%%;%% a %%;<!--;\
                         -->;<div>;</div>;# Title;## Build @coder #dev;## Build;### Below;*2026-11-20T09:31:04Z* ^p-02;\
                         from: [[#^p-01]] ^p-03;[a]: b;[^1]: note;[[link]] #tag";

    #[test]
    fn a_checkpoint_that_is_of_no_use() {
        let codes = |callout: &str| {
            let note = format!(
                "---\ntype: session\nsession_id: s\nstatus: active\nstarted: 2026-11-20T09:00:00Z\n---\n# S\n\n## P @a\n\n{callout}\n"
            );
            let (_, odd) = session(&Note::parse(&*note));
            odd.into_iter().map(|it| it.code).collect::<Vec<_>>()
        };
        let named = "> [!checkpoint] risk: before `rm x`\n> Restore: `cru checkpoint restore cp-20261116-101212`\n";
        assert_eq!(codes("> [!checkpoint]"), ["checkpoint-unreadable"]);
        assert_eq!(codes(named), ["checkpoint-unreadable"]);
        assert!(codes(&format!("{named}\n^cp-20261116-101212\n")).is_empty());
        assert!(codes("> [!checkpoint] Before the move").is_empty());
    }

    proptest! {
        // Each case is a note that is long enough to be read in parts.
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn the_parts_of_a_note_say_what_the_note_says(
            lines in prop::collection::vec(prop::sample::select(LINES.split(';').collect::<Vec<_>>()), 1..80),
            gap in "(\n|\r\n){2}",
        ) {
            let phases = format!("{}{gap}## Test @coder{gap}", lines.join("\n"));
            let text = format!("---\ntitle: a\n---\n{}", phases.repeat(threads::LONG / phases.len() + 2));
            prop_assert_eq!(content_of(text.as_str()), content(&Note::parse_whole(text)));
        }
    }
}
