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
use super::public::Public;

pub use damage::damage;
#[cfg(test)]
pub(crate) use section::inherit;
pub use section::is_header;

/// The session that a note says, and what is odd about it beyond [`Note::diagnostics`]: what of it is [`Public`].
pub fn session(note: &Note) -> (Session, Vec<Diagnostic>) {
    let public = Public::of(note);
    if public.is_whole() {
        return written(note);
    }
    let (mut session, mut diagnostics) = written(&Note::parse(public.as_str()));
    public.lead_back(&mut session, &mut diagnostics);
    (session, diagnostics)
}

/// The session with what its person keeps to themselves, in titles, rows and properties as it stands in the note: for what
/// writes the note again, and for nothing else.
pub fn written(note: &Note) -> (Session, Vec<Diagnostic>) {
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

/// [`session`], when nobody asks what is odd about it: cheaper in a long note.
pub fn content(note: &Note) -> Session {
    let public = Public::of(note);
    if public.is_whole() {
        return written_content(note);
    }
    let mut session = written_content(&Note::parse(public.as_str()));
    public.lead_back(&mut session, &mut []);
    session
}

/// [`written`], when nobody asks what is odd about it.
pub fn written_content(note: &Note) -> Session {
    let mut diagnostics = Vec::new();
    let (_, meta) = meta::read(note.text(), note.split(), &mut diagnostics);
    Session { meta, ..section::read(note).0 }
}

/// [`content`] of the bytes of a note, when nobody asks for the note itself: cheaper still in a long one, of which no more
/// than a few parts are in memory as blocks at any time.
pub fn content_of(bytes: impl Into<Vec<u8>>) -> Session {
    let bytes = bytes.into();
    if Public::may_differ(&bytes) {
        return content(&Note::parse(bytes));
    }
    let parts = Note::in_parts(bytes, |number, note| {
        let first = number == 0;
        (section::part(note), first.then(|| meta::read(note.text(), note.split(), &mut Vec::new()).1))
    });
    let (sections, metas): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let meta = metas.into_iter().flatten().next().unwrap_or_default();
    Session { meta, ..section::join(sections).0 }
}

/// The phases alone, with nothing in them, as they are written.
pub fn phases(note: &Note) -> Vec<Phase> {
    section::phases(note)
}

/// The frontmatter alone of a note's text (the beginning of a file up to the frontmatter's end is enough).
pub fn meta(text: &str) -> (Meta, Vec<Diagnostic>) {
    let split = cru_note::frontmatter::split(text);
    let head = text.get(..split.body_start).unwrap_or(text);
    if !Public::may_differ(head.as_bytes()) {
        return written_meta(text);
    }
    let note = Note::parse(head);
    let public = Public::of(&note);
    let (meta, mut diagnostics) = written_meta(public.as_str());
    public.lead_back(&mut Session::default(), &mut diagnostics);
    (meta, diagnostics)
}

/// [`meta`] with what a person keeps to themselves, for what writes it again.
pub fn written_meta(text: &str) -> (Meta, Vec<Diagnostic>) {
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
