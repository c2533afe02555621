//! A note as `learn` reads it: its session, and texts made fit to leave it.
//!
//! Every text of a case passes here: comments are taken out (`%%private … %%` and any other, none leaves the note),
//! control characters too, and links to blocks become the words they point at, since a case is read without its note.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memmem;

use crate::case::call::Calls;
use cru_base::{Lines, Span, text};
use cru_session::{Item, Session};

/// A session note.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    /// Path relative to the vault, `/` between folders.
    pub path: &'a str,
    /// The whole file.
    pub text: &'a str,
    /// What it says.
    pub session: &'a Session,
    /// Its calls, as the transcript has them.
    pub calls: Option<&'a Calls>,
}

impl<'a> Note<'a> {
    /// Name for links: the file name without `.md`.
    pub fn name(&self) -> &'a str {
        let file = self.path.rsplit('/').next().unwrap_or(self.path);
        file.strip_suffix(".md").unwrap_or(file)
    }

    /// Session id: as written, else the name.
    pub fn id(&self) -> &'a str {
        self.session.meta.session_id.as_deref().filter(|id| !id.is_empty()).unwrap_or_else(|| self.name())
    }
}

/// Makes the texts of one note fit to leave it.
#[derive(Debug)]
pub(crate) struct Cleaner<'a> {
    note: Note<'a>,
    lines: Lines,
    /// Whether a mark of a comment stands anywhere in the note: mostly none does.
    comments: bool,
    /// What block ids stand for, in words.
    names: HashMap<&'a str, String>,
}

/// Characters of a step shown where a link points at it.
const NAME: usize = 80;

impl<'a> Cleaner<'a> {
    /// Reads what the blocks of the note are called.
    pub(crate) fn new(note: Note<'a>) -> Self {
        let comments = memmem::find(note.text.as_bytes(), b"%%").is_some();
        let mut cleaner = Self { note, lines: Lines::of(note.text), comments, names: HashMap::new() };
        for phase in &note.session.phases {
            let title = cleaner.words(phase.heading_span, &phase.title);
            cleaner.names.insert(phase.id.as_str(), title);
        }
        for (_, item) in note.session.items() {
            let Some(id) = item.id() else { continue };
            let name = match item {
                Item::Step(step) => {
                    let line = cleaner.words(step.span, &format!("{} {}", step.tool, step.args));
                    crate::case::entry::code_span(&text::truncate(line.trim(), NAME))
                }
                other => other.callout().map(|it| cleaner.words(it.span, &it.title)).unwrap_or_default(),
            };
            if !name.is_empty() {
                cleaner.names.insert(id, name);
            }
        }
        cleaner
    }

    /// First and last line of a place.
    pub(crate) fn lines(&self, span: Span) -> (usize, usize) {
        (self.lines.line(span.start), self.lines.line(span.end.saturating_sub(1).max(span.start)))
    }

    /// A person's words: nothing but comments and control characters is taken out.
    pub(crate) fn words(&self, span: Span, words: &str) -> String {
        let clean = text::sanitise(words);
        if self.has_comment(span) { without_comments(&clean) } else { clean.into_owned() }
    }

    /// Any other text: links to blocks become words too.
    pub(crate) fn text(&self, span: Span, words: &str) -> String {
        let words = self.words(span, words);
        match self.unlinked(&words) {
            Cow::Borrowed(_) => words,
            Cow::Owned(text) => text,
        }
    }

    /// Whether a mark of a comment stands in the note's own bytes there: text of others has it escaped.
    fn has_comment(&self, span: Span) -> bool {
        let raw = self.note.text.get(span.range()).unwrap_or_default();
        // Without a place in the note nothing tells text from comment: rather lose a mark than give away a secret.
        raw.is_empty() || (self.comments && raw.match_indices("%%").any(|(at, _)| !raw[..at].ends_with('\\')))
    }

    fn unlinked<'t>(&self, words: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut rest = words;
        while let Some(at) = memmem::find(rest.as_bytes(), b"[[") {
            let inside = &rest[at + 2..];
            let Some(end) = inside.find("]]").filter(|&end| !inside[..end].contains(['\n', '['])) else {
                out.push_str(&rest[..at + 2]);
                rest = inside;
                continue;
            };
            let before = rest[..at].strip_suffix('!').unwrap_or(&rest[..at]);
            match self.named(&inside[..end]) {
                Some(name) => {
                    out.push_str(before);
                    out.push_str(name);
                }
                None => out.push_str(&rest[..at + end + 4]),
            }
            rest = &inside[end + 2..];
        }
        if out.is_empty() {
            return Cow::Borrowed(words);
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    /// The words for what a link says, where it points at a block of this note.
    fn named<'t>(&'t self, link: &'t str) -> Option<&'t str> {
        let (target, alias) = link.split_once('|').map_or((link, None), |(target, alias)| (target, Some(alias)));
        let (note, block) = target.split_once("#^")?;
        if !note.is_empty() && note != self.note.name() {
            return alias;
        }
        alias.or_else(|| self.names.get(block).map(String::as_str))
    }
}

/// `text` without `%% … %%`. Marks in code are text, unless they say `private`; an opening `%%private` that is not
/// closed takes the rest with it.
pub(crate) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut code = Code::default();
    let mut rest = text;
    while let Some(at) = rest.find("%%") {
        let (before, inside) = (&rest[..at], &rest[at + 2..]);
        code.pass(before);
        out.push_str(before);
        let private = inside.trim_start().starts_with("private");
        match inside.find("%%") {
            Some(end) if private || !code.is_open() => rest = &inside[end + 2..],
            None if private => return out,
            _ => {
                out.push_str("%%");
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether a place in a text is code: inside a fence, or behind an odd run of backticks in its line.
#[derive(Default)]
struct Code {
    fence: Option<String>,
    line: String,
}

impl Code {
    /// Goes on over `text`.
    fn pass(&mut self, text: &str) {
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                self.end_line();
            }
            self.line.push_str(part);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim();
        let marks: String = line.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        match &self.fence {
            Some(fence) if line == marks && marks.starts_with(fence.as_str()) => self.fence = None,
            None if marks.len() >= 3 && !line[marks.len()..].contains('`') => self.fence = Some(marks),
            _ => {}
        }
    }

    fn is_open(&self) -> bool {
        // Runs of backticks: every second one closes.
        let runs = self.line.split(|c| c != '`').filter(|run| !run.is_empty()).count();
        self.fence.is_some() || runs % 2 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::{Phase, Step};

    #[test]
    fn comments_never_leave() {
        assert_eq!(without_comments("a %%private key 42%% b"), "a  b");
        assert_eq!(without_comments("a %%private key 42\nb"), "a ");
        assert_eq!(without_comments("a %%x%%%%y%% b"), "a  b");
        assert_eq!(without_comments("100 %% sure"), "100 %% sure");
        let code = "```python\n# %% cell\n# %% next\n```\nand `a %% b %% c`, %%x%% end";
        assert_eq!(without_comments(code), "```python\n# %% cell\n# %% next\n```\nand `a %% b %% c`,  end");
        assert_eq!(without_comments("`a %%private b%% c`"), "`a  c`");
    }

    #[test]
    fn links_to_blocks_become_words() {
        let step =
            Step { id: Some("n-005".into()), tool: "Edit".into(), args: "src/clock.rs".into(), ..Step::default() };
        let phase =
            Phase { id: "p-01".into(), title: "Build".into(), items: vec![Item::Step(step)], ..Phase::default() };
        let session = Session { phases: vec![phase], ..Session::default() };
        let cleaner = Cleaner::new(Note { path: "sessions/s.md", text: "", session: &session, calls: None });
        let text = |words| cleaner.text(Span::default(), words);
        assert_eq!(text("inject a clock, see [[#^n-005]]."), "inject a clock, see `Edit src/clock.rs`.");
        assert_eq!(text("![[s#^p-01]] and [[#^n-005|the edit]]"), "Build and the edit");
        assert_eq!(text("if [[ -f x ]]; then [[other]] [[#^n-999]]"), "if [[ -f x ]]; then [[other]] [[#^n-999]]");
        assert_eq!(text("[[ [[#^p-01]]"), "[[ Build");
    }

    #[test]
    fn escaped_comment_marks_are_text() {
        let session = Session::default();
        let note = r"run `cargo bench \%\%` and \%%x\%%";
        let cleaner = Cleaner::new(Note { path: "s.md", text: note, session: &session, calls: None });
        assert_eq!(cleaner.words(Span::new(0, note.len()), "run %% and %%x%%"), "run %% and %%x%%");
    }
}
