//! What of a note may leave it: its text without comments and secrets.
//!
//! [`Public::of`] alone makes one, and everything that reads a session for somebody ([`super::read`]) reads it from there, so
//! no command has to think of it. Only what writes the note again reads the whole of it ([`super::read::written`]).

use std::borrow::Cow;

use cru_base::{Diagnostic, Span};
use cru_note::{Note, hidden};

use crate::model::{Callout, Decision, Error, Fence, Item, Link, Phase, Prose, Session, Subagent, Tasks, User};

/// The text of a note without what its person keeps to themselves, and the way back to places in the note.
///
/// Comments (`%%…%%`) are cut out, and `[secret:rule]` stands in the place of a secret.
#[derive(Debug)]
pub struct Public<'a> {
    text: Cow<'a, str>,
    places: Places,
    whole: &'a str,
}

/// What stands in the place of some bytes of the note.
#[derive(Clone, Debug)]
struct Cut {
    /// The bytes of the note.
    note: Span,
    /// What stands there now, in the public text.
    text: Span,
    is_secret: bool,
}

impl<'a> Public<'a> {
    /// What of a note may leave it.
    pub fn of(note: &'a Note) -> Self {
        let whole = note.text();
        let cuts = hidden::comments(note).into_iter().flat_map(|span| cut_of(whole, span));
        let spoken = Self::without(whole, cuts.map(|span| (span, String::new())).collect());
        let secrets = cru_secrets::find(&spoken.text);
        if secrets.is_empty() {
            return spoken;
        }
        let name = |rule: &str| format!("[secret:{rule}]");
        let secrets: Vec<(Span, String)> =
            secrets.iter().map(|found| (spoken.span(found.range.clone().into()), name(found.rule))).collect();
        let around = |cut: &Cut| {
            let next = secrets.partition_point(|(span, _)| span.end <= cut.note.start);
            secrets.get(next).is_some_and(|(span, _)| span.start < cut.note.end)
        };
        let mut all: Vec<(Span, String)> =
            spoken.places.cuts.iter().filter(|cut| !around(cut)).map(|cut| (cut.note, String::new())).collect();
        all.extend(secrets.iter().cloned());
        all.sort_unstable();
        Self::without(whole, all)
    }

    /// Whether the text of a note of these bytes may be less than all of it; cheaper than to make it.
    pub fn may_differ(bytes: &[u8]) -> bool {
        memchr::memmem::find(bytes, b"%%").is_some() || !cru_secrets::find(&String::from_utf8_lossy(bytes)).is_empty()
    }

    /// `whole` with other words in place of some of its bytes; places come in order.
    fn without(whole: &'a str, places: Vec<(Span, String)>) -> Self {
        if places.is_empty() {
            return Self { text: Cow::Borrowed(whole), places: Places::default(), whole };
        }
        let (mut text, mut cuts, mut at) = (String::with_capacity(whole.len()), Vec::with_capacity(places.len()), 0);
        for (note, words) in places {
            let note = Span::new(note.start.max(at), note.end.max(at));
            text.push_str(Span::new(at, note.start).of(whole));
            let start = text.len();
            text.push_str(&words);
            cuts.push(Cut { note, text: Span::new(start, text.len()), is_secret: !words.is_empty() });
            at = note.end;
        }
        text.push_str(Span::new(at, whole.len()).of(whole));
        Self { text: Cow::Owned(text), places: Places { cuts }, whole }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is all of the note.
    pub fn is_whole(&self) -> bool {
        self.places.cuts.is_empty()
    }

    /// Where the bytes `span` of the text stand in the note.
    pub fn span(&self, span: Span) -> Span {
        self.places.span(span)
    }

    /// The way back, for who keeps it longer than the text.
    pub fn into_places(self) -> Places {
        self.places
    }

    /// Has the places of a session that was read from the text, and of what is odd about it, be those of the note.
    pub fn lead_back(&self, session: &mut Session, diagnostics: &mut [Diagnostic]) {
        move_spans(session, &|span| self.span(span));
        for diagnostic in diagnostics {
            diagnostic.span = self.span(diagnostic.span);
        }
    }

    /// The words that stand for the bytes `span` of the note, a blank for each comment.
    pub fn words(&self, span: Span) -> String {
        let mut out = String::new();
        let mut at = span.start;
        let from = self.places.cuts.partition_point(|cut| cut.note.end <= span.start);
        for cut in self.places.cuts[from..].iter().take_while(|cut| cut.note.start < span.end) {
            out.push_str(Span::new(at, cut.note.start.max(at)).of(self.whole));
            out.push_str(if cut.is_secret { cut.text.of(&self.text) } else { " " });
            at = at.max(cut.note.end);
        }
        out.push_str(Span::new(at, span.end.max(at)).of(self.whole));
        out
    }

    /// [`Public::blanked`] with blanks alone, for frames that point into the note.
    pub fn shown(&self) -> String {
        self.blanked().replace('\u{1}', " ")
    }

    /// The note's text of the same length, lines and places, with `…` and control characters where something was taken out;
    /// text that is shown is rid of those anyway.
    pub fn blanked(&self) -> String {
        const FILL: char = '\u{1}';
        const CUT: char = '…';
        let mut out = String::with_capacity(self.whole.len());
        let mut at = 0;
        for cut in &self.places.cuts {
            out.push_str(Span::new(at, cut.note.start).of(self.whole));
            // Blanks that went with a comment are none of its own.
            let blanks = |text: &str, trimmed: &str| text.len() - trimmed.len();
            let all = cut.note.of(self.whole);
            let (before, after) =
                (blanks(all, all.trim_start_matches([' ', '\t'])), blanks(all, all.trim_end_matches([' ', '\t'])));
            let inner = Span::new(before, all.len() - after);
            out.push_str(Span::new(0, before.min(inner.end)).of(all));
            let hidden = inner.of(all).as_bytes();
            let head = hidden.iter().take(CUT.len_utf8()).filter(|byte| **byte != b'\n').count();
            let head = if head == CUT.len_utf8() { head } else { 0 };
            out.extend((head > 0).then_some(CUT));
            let line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
            out.extend(hidden.iter().skip(head).map(|byte| if line_end(byte) { char::from(*byte) } else { FILL }));
            out.push_str(Span::new(inner.end, all.len()).of(all));
            at = cut.note.end;
        }
        out.push_str(Span::new(at, self.whole.len()).of(self.whole));
        out
    }
}

/// Where the bytes of a public text stand in its note.
#[derive(Clone, Debug, Default)]
pub struct Places {
    cuts: Vec<Cut>,
}

impl Places {
    /// Where the bytes `span` of the text stand in the note.
    pub fn span(&self, span: Span) -> Span {
        if span == Span::default() {
            return span;
        }
        let start = self.place(span.start);
        if span.is_empty() { Span::at(start) } else { Span::new(start, self.end(span.end)) }
    }

    /// Where the byte `at` of the text stands in the note.
    fn place(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|cut| cut.text.start <= at);
        match before.checked_sub(1).and_then(|index| self.cuts.get(index)) {
            Some(cut) if at < cut.text.end => cut.note.start,
            Some(cut) => cut.note.end + (at - cut.text.end),
            None => at,
        }
    }

    /// The end in the note of what ends at `at` in the text.
    fn end(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|cut| cut.text.start < at);
        match before.checked_sub(1).and_then(|index| self.cuts.get(index)) {
            Some(cut) => cut.note.end + at.saturating_sub(cut.text.end),
            None => at,
        }
    }
}

/// [`Public::blanked`] of a note of these bytes. Its blocks are read only where there may be a comment.
pub fn blanked(bytes: Vec<u8>) -> String {
    let is_plain = memchr::memmem::find(&bytes, b"%%").is_none();
    Public::of(&if is_plain { Note::without_blocks(bytes) } else { Note::parse(bytes) }).blanked()
}

/// [`Public::of`] a note of which nothing but the text is known.
pub fn text(note: &str) -> String {
    Public::of(&Note::parse(note)).text.into_owned()
}

/// What is cut out for a comment, so that the lines around it say what they would say without it.
///
/// Blanks before it at the end of a line go with it, and so does the whole line in a container where nothing else is on it.
/// Of a comment over several lines that text follows, the line it ends on keeps the marks that it begins with.
fn cut_of(text: &str, comment: Span) -> Vec<Span> {
    let Span { start, end } = comment;
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |len| at + len);
    let is_margin = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'>'));
    let before_blanks = |at: usize| at - (text[..at].len() - text[..at].trim_end_matches([' ', '\t']).len());
    let first = line_start(start);
    let margin = Span::new(first, start).of(text);
    if Span::new(end, line_end(end)).of(text).trim().is_empty() {
        let is_alone = !margin.is_empty() && is_margin(margin);
        let span = if is_alone {
            Span::new(first, (line_end(end) + 1).min(text.len()))
        } else {
            Span::new(before_blanks(start).max(first), end)
        };
        return vec![span];
    }
    let blanks = text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len();
    let last = line_start(end);
    if last <= start {
        let is_set_off = is_margin(margin) || margin.ends_with([' ', '\t']);
        return vec![Span::new(start, end + if is_set_off { blanks } else { 0 })];
    }
    let marks = last + marks(Span::new(last, end).of(text));
    vec![
        Span::new(before_blanks(start).max(first), line_end(start)),
        Span::new(line_end(start) + 1, last),
        Span::new(marks, end + blanks),
    ]
}

/// Bytes of the marks that a line begins with: of quotes, an item of a list, a heading.
fn marks(line: &str) -> usize {
    let rest = line.trim_start_matches([' ', '\t', '>']);
    let word = rest.split([' ', '\t']).next().unwrap_or_default();
    let number = word.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_mark =
        matches!(word, "-" | "*" | "+") || is_number || (!word.is_empty() && word.bytes().all(|byte| byte == b'#'));
    line.len() - rest.len() + if is_mark && word.len() < rest.len() { word.len() + 1 } else { 0 }
}

/// Everything is taken apart without `..`, so that what gets a new place does not compile until it is moved too.
fn move_spans(session: &mut Session, to: &impl Fn(Span) -> Span) {
    let Session { meta: _, heading: _, preface, phases, memory } = session;
    for item in preface {
        move_item(item, to);
    }
    for phase in phases {
        let Phase {
            id: _,
            id_written: _,
            level: _,
            parent: _,
            title: _,
            agent: _,
            channel: _,
            started: _,
            after,
            from,
            items,
            span,
            heading_span,
        } = phase;
        move_links(after.iter_mut().chain(from), to);
        for item in items {
            move_item(item, to);
        }
        *span = to(*span);
        *heading_span = to(*heading_span);
    }
    for Fence { info: _, body: _, span } in memory {
        *span = to(*span);
    }
}

fn move_item(item: &mut Item, to: &impl Fn(Span) -> Span) {
    let callout = |it: &mut Callout| it.span = to(it.span);
    match item {
        Item::Step(step) => {
            move_links(step.after.iter_mut().chain(&mut step.replays).chain(&mut step.cell), to);
            step.span = to(step.span);
        }
        Item::Decision(Decision { callout: it, text: _, why: _, rejected: _, impact: _, rests_on }) => {
            callout(it);
            move_links(rests_on, to);
        }
        Item::Error(Error { callout: it, text: _, resolution: _, resolved_by, steps }) => {
            callout(it);
            move_links(resolved_by.iter_mut().chain(steps), to);
        }
        Item::User(User { callout: it, words: _, interpretation: _, correction: _ }) => callout(it),
        Item::Subagent(Subagent {
            callout: it,
            agent: _,
            model: _,
            mode: _,
            link,
            task: _,
            summary: _,
            text: _,
            items,
        }) => {
            callout(it);
            move_links(link, to);
            for item in items {
                move_item(item, to);
            }
        }
        Item::Tasks(Tasks { tasks: _, span }) | Item::Prose(Prose { id: _, text: _, span }) => *span = to(*span),
        Item::Callout(it) => callout(it),
    }
}

fn move_links<'a>(links: impl IntoIterator<Item = &'a mut Link>, to: &impl Fn(Span) -> Span) {
    for link in links {
        link.span = to(link.span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> String {
        Public::of(&Note::parse(text)).as_str().to_owned()
    }

    #[test]
    fn the_text_is_what_it_would_be_without_comments() {
        for (text, wanted) in [
            ("a %%b%% c\n", "a c\n"),
            ("a%%b%%c\n", "ac\n"),
            ("%%a%%   b\n", "b\n"),
            ("# a %%b%%\n", "# a\n"),
            ("## a %%b%% @c #d\n", "## a @c #d\n"),
            ("- [ ] %%a%% b ^c\n", "- [ ] b ^c\n"),
            ("- `x` → ok (09:00:00) %%a%%\n", "- `x` → ok (09:00:00)\n"),
            ("> [!x] a %%b\n> c%% d\n", "> [!x] a\n> d\n"),
            ("> a\n> %%\n> b\n> %%\n> c\n", "> a\n> c\n"),
            ("- a %%b\n- c%% d\n", "- a\n- d\n"),
            ("a %%b\n\nc%% d\n", "a\nd\n"),
            ("a\n%%\nb\n\nc\n%%\nd\n", "a\n\nd\n"),
            ("a %%b\r\nc%%\r\nd\r\n", "a\r\nd\r\n"),
            ("a %%private b\n\nc\n", "a"),
            ("---\ntitle: \"a %%b%%\"\n---\n", "---\ntitle: \"a \"\n---\n"),
        ] {
            assert_eq!(public(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_secret_is_named() {
        let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        assert_eq!(public(&format!("use {key} %%x%% now\n")), "use [secret:github-token] now\n");
        let split = format!("use {} now\n", key.replace("H8", "H%%x%%8"));
        assert_eq!(public(&split), "use [secret:github-token] now\n");
        let note = Note::parse(split.as_str());
        let public = Public::of(&note);
        assert_eq!(public.span(Span::new(4, 25)).of(&split), &split[4..split.len() - 5]);
        assert_eq!(public.words(Span::new(0, split.len())), "use [secret:github-token] now\n");
    }

    #[test]
    fn places_lead_back() {
        let text = "# a %%b%% c\n\n> [!decision] d %%e\n> f%% g\n\n%%\nh\n%%\n\n- `x` → y %%z%% ^n-001\n";
        let note = Note::parse(text);
        let public = Public::of(&note);
        for word in ["# a", "c", "d", "g", "- `x`", "^n-001"] {
            let at = public.as_str().find(word).unwrap();
            assert_eq!(public.span(Span::new(at, at + word.len())).of(text), word);
        }
        assert_eq!(public.span(Span::default()), Span::default());
    }

    #[test]
    fn a_note_without_its_blocks_is_blanked_alike() {
        let key = format!("ghp_{}", "aB3dE5gH7jK9".repeat(3));
        for text in
            ["# a\n\nb %%c%%\n", "a\nb\n", "---\ntitle: x\n---\n# a\n", &format!("# a\n\n`Bash export T={key}` → ok\n")]
        {
            for bytes in [text.as_bytes().to_vec(), [b"\xef\xbb\xbf\xff", text.as_bytes()].concat()] {
                let whole = Public::of(&Note::parse(bytes.clone())).blanked();
                assert_eq!(super::blanked(bytes), whole);
                assert!(!whole.contains(&key) && !whole.contains("c%%"), "{whole:?}");
            }
        }
    }

    #[test]
    fn blanked_text_keeps_its_places() {
        let text = "> [!note] a %%pä\n> b%% c\n\n%%\nx\n%%\n\n%%%% d %%\n\n%%";
        let note = Note::parse(text);
        let blanked = Public::of(&note).blanked();
        assert_eq!(blanked.len(), text.len());
        let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(lines(&blanked), lines(text));
        assert!(!blanked.contains(['p', 'b', 'x', '%']) || blanked.contains("d %%"), "{blanked:?}");
    }
}
