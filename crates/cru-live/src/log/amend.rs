//! A line more in a callout that stands in the note: what a person made of the others stays as it is.

use cru_note::Note;
use cru_session::{Callout, Item, render};

/// A callout of the note, as it stands there.
#[derive(Clone, Debug)]
pub(super) struct NoteCallout {
    /// The phase it stands in.
    pub(super) phase: Option<String>,
    /// Its markdown with the line of its id, line ends `\n`.
    pub(super) text: String,
    /// What it says.
    pub(super) item: Item,
}

impl NoteCallout {
    /// That of an item read from `note`.
    pub(super) fn read(note: &Note, phase: Option<&str>, item: &Item) -> Self {
        let mut text = item.span().of(note.text()).replace("\r\n", "\n");
        text.truncate(text.trim_end().len());
        text.push('\n');
        if let Some(id) = item.id() {
            text.push_str("\n^");
            text.push_str(id);
            text.push('\n');
        }
        Self { phase: phase.map(str::to_owned), text, item: item.clone() }
    }

    /// That of an item which is to be written.
    pub(super) fn new(phase: Option<&str>, item: &Item) -> Self {
        let text = render::callout(item, None);
        Self { phase: phase.map(str::to_owned), text, item: item.clone() }
    }

    pub(super) fn callout(&self) -> Callout {
        self.item.callout().cloned().unwrap_or_default()
    }

    /// The block with the lines of `more` (a callout of the same kind; its first `skip` lines stand there already) below
    /// its own. `whole` is the item as it then is; it is rendered anew where the lines cannot be put there, as behind a
    /// fence that is not closed.
    pub(super) fn with(&self, more: &Item, skip: usize, whole: Item) -> Self {
        let lines = render::callout(more, None);
        let lines: Vec<&str> = lines.lines().skip(skip).take_while(|line| line.starts_with('>')).collect();
        let id = self.item.id().map(|id| format!("\n^{id}\n")).unwrap_or_default();
        let body = self.text.strip_suffix(id.as_str()).unwrap_or(&self.text).trim_end();
        for gap in ["\n", "\n>\n"] {
            let text = format!("{body}{gap}{}\n{id}", lines.join("\n"));
            if says(&text, &whole) {
                return Self { text, item: whole, phase: self.phase.clone() };
            }
        }
        Self { text: render::callout(&whole, None), item: whole, phase: self.phase.clone() }
    }
}

/// Whether a text is one block that says what `item` does.
fn says(text: &str, item: &Item) -> bool {
    let (read, _) = cru_session::read::written(&Note::parse(text));
    match read.preface.as_slice() {
        [one] => render::callout(one, None) == render::callout(item, None) && one.id() == item.id(),
        _ => false,
    }
}
