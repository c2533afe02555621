//! What an entry names must be there: said before it is logged, while somebody can still correct it.

use super::amend::NoteCallout;
use super::change::is_open;
use super::known::Known;
use super::page::Page;
use super::task::Missing;
use super::{link, task};
use crate::entry::{self, Entry};

impl Page<'_> {
    /// What an entry names and this note does not have; for those who can still be told.
    pub fn missing(&self, entry: &Entry) -> Option<Missing> {
        for name in entry.names().into_iter().filter_map(link::block) {
            if matches!(entry, Entry::Tool(_)) && name == self.known.peek("n", 3) {
                let message = format!("a step cannot come after itself: {name} is what this one will be");
                return Some(Missing { message, hint: self.steps() });
            }
            if !self.known.has(&name) {
                return Some(Missing { message: format!("no block '{name}' in this session"), hint: self.steps() });
            }
        }
        let titles = |blocks: &[NoteCallout], what: &str| {
            let of = |block: &NoteCallout| {
                let words = self.shown.told(block.item.id(), &block.callout().title)?;
                Some(format!("{} {words}", block.item.id().unwrap_or("-")))
            };
            let lines: Vec<String> = blocks.iter().rev().filter_map(of).take(8).collect();
            if lines.is_empty() { format!("it has no {what}s") } else { format!("{what}s:\n  {}", lines.join("\n  ")) }
        };
        match entry {
            Entry::Resolve(it) if Known::find(&self.known.errors, &it.error, is_open).is_none() => Some(Missing {
                message: format!("no error '{}' in this session", it.error),
                hint: titles(&self.known.errors, "error"),
            }),
            Entry::Answer(it) if Known::find(&self.known.questions, &it.question, is_open).is_none() => Some(Missing {
                message: format!("no question '{}' in this session", it.question),
                hint: titles(&self.known.questions, "question"),
            }),
            Entry::Task(entry::Task { task: Some(name), content: None, .. }) => {
                task::find(&self.tasks, name).is_none().then(|| task::missing(&self.tasks, &self.shown, name))
            }
            _ => None,
        }
    }

    fn steps(&self) -> String {
        let next = self.known.peek("n", 3);
        match next.trim_start_matches("n-").parse::<u64>() {
            Ok(2) => "its only step is n-001".to_owned(),
            Ok(next) if next > 2 => format!("its steps are n-001 to n-{:03}", next - 1),
            _ => "it has no step yet".to_owned(),
        }
    }
}
