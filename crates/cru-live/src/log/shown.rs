//! Which words of a note's questions, errors and tasks may be told: in hints, and in text that is written elsewhere.
//!
//! A comment may begin in one block and end in a later one, so the words of one block do not tell what of them is hidden:
//! they are looked up in the session as everybody but the writer reads it.

use std::collections::{HashMap, HashSet};

use cru_note::Note;
use cru_session::{Session, mask, public, read};

/// The words that may be told, by id.
#[derive(Debug, Default)]
pub(super) struct ShownWords {
    /// `None` where the note has no comment.
    words: Option<HashMap<String, String>>,
    /// What the note has, hidden or not.
    there: HashSet<String>,
}

impl ShownWords {
    /// Of a note, which says `written` with all that is hidden in it.
    pub(super) fn of(note: &Note, written: &Session) -> Self {
        if memchr::memmem::find(note.bytes(), b"%%").is_none() {
            return Self::default();
        }
        let there = words(written).map(|(id, _)| id).collect();
        Self { words: Some(words(&read::content(note)).collect()), there }
    }

    /// What may be told of the words of a block; `None` where all of it is hidden.
    pub(super) fn told(&self, id: Option<&str>, words: &str) -> Option<String> {
        let id = id.filter(|id| !id.is_empty());
        match (&self.words, id) {
            (None, _) => Some(mask::mask(words).into_owned()),
            (Some(shown), Some(id)) if self.there.contains(id) => shown.get(id).cloned(),
            (Some(_), _) => Some(public::text(words)),
        }
    }
}

fn words(session: &Session) -> impl Iterator<Item = (String, String)> {
    let of_callout = |(_, item): (_, &cru_session::Item)| Some((item.id()?.to_owned(), item.callout()?.title.clone()));
    let tasks = session.tasks().into_iter().map(|task| (task.id.clone(), task.content.clone()));
    session.items().filter_map(of_callout).chain(tasks.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_ends_in_a_later_block_hides_what_is_before_its_end() {
        let text = "---\ntype: session\n---\n## Work @a ^p-01\n\n> [!question] Which table %%for ACME\n\n^q-01\n\n> [!question] Hidden\n\n^q-02\n\nto here%%\n\n> [!question] Plain\n\n^q-03\n";
        let note = Note::parse(text);
        let shown = ShownWords::of(&note, &read::written_content(&note));
        let first = shown.told(Some("q-01"), "Which table %%for ACME");
        assert!(first.as_deref().is_none_or(|words| words.trim() == "Which table"), "{first:?}");
        assert_eq!(shown.told(Some("q-02"), "Hidden"), None);
        assert_eq!(shown.told(Some("q-03"), "Plain").as_deref(), Some("Plain"));
        assert_eq!(shown.told(Some("q-09"), "New %%x%%").as_deref().map(str::trim), Some("New"));
    }
}
