//! A note as `learn` reads it: its session, and texts made fit to leave it.
//!
//! Every text of a case passes here: control characters are taken out, and links to blocks become the words they point at,
//! since a case is read without its note. What a person keeps to themselves is in no session that is read.

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
    /// What block ids stand for, in words.
    names: HashMap<&'a str, String>,
}

/// Characters of a step shown where a link points at it.
const NAME: usize = 80;

impl<'a> Cleaner<'a> {
    /// Reads what the blocks of the note are called.
    pub(crate) fn new(note: Note<'a>) -> Self {
        let mut cleaner = Self { note, lines: Lines::of(note.text), names: HashMap::new() };
        for phase in &note.session.phases {
            let title = Self::words(&phase.title);
            cleaner.names.insert(phase.id.as_str(), title);
        }
        for (_, item) in note.session.items() {
            let Some(id) = item.id() else { continue };
            let name = match item {
                Item::Step(step) => {
                    let line = Self::words(&format!("{} {}", step.tool, step.args));
                    crate::case::entry::code_span(&text::truncate(line.trim(), NAME))
                }
                other => other.callout().map(|it| Self::words(&it.title)).unwrap_or_default(),
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

    /// A person's words: nothing but control characters is taken out.
    pub(crate) fn words(words: &str) -> String {
        text::sanitise(words).into_owned()
    }

    /// Any other text: links to blocks become words too.
    pub(crate) fn text(&self, words: &str) -> String {
        let words = text::sanitise(words);
        self.unlinked(&words).into_owned()
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

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::{Phase, Step};

    #[test]
    fn links_to_blocks_become_words() {
        let step =
            Step { id: Some("n-005".into()), tool: "Edit".into(), args: "src/clock.rs".into(), ..Step::default() };
        let phase =
            Phase { id: "p-01".into(), title: "Build".into(), items: vec![Item::Step(step)], ..Phase::default() };
        let session = Session { phases: vec![phase], ..Session::default() };
        let cleaner = Cleaner::new(Note { path: "sessions/s.md", text: "", session: &session, calls: None });
        let text = |words| cleaner.text(words);
        assert_eq!(text("inject a clock, see [[#^n-005]]."), "inject a clock, see `Edit src/clock.rs`.");
        assert_eq!(text("![[s#^p-01]] and [[#^n-005|the edit]]"), "Build and the edit");
        assert_eq!(text("if [[ -f x ]]; then [[other]] [[#^n-999]]"), "if [[ -f x ]]; then [[other]] [[#^n-999]]");
        assert_eq!(text("[[ [[#^p-01]]"), "[[ Build");
    }
}
