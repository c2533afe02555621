//! More of the sessions that are there: notes of a vault once more, under other names and on other days.
//!
//! What links to a session of the same vault links to its copy of the same round, so that families stay together.

use std::collections::HashSet;
use std::path::Path;

use jiff::ToSpan as _;
use jiff::civil::Date;

use cru::vault::{Catalog, Vault};

/// The sessions of a vault, to be written again and again.
pub(crate) struct Sources {
    notes: Vec<(String, String)>,
    names: HashSet<String>,
}

impl Sources {
    /// Reads them all.
    pub(crate) fn read(root: &Path) -> cru::base::Result<Self> {
        let vault = Vault::open(root)?;
        let catalog = Catalog::read(&vault);
        let (mut notes, mut names) = (Vec::new(), HashSet::new());
        for head in catalog.sessions() {
            let text = String::from_utf8_lossy(&vault.read(&head.path)?).into_owned();
            names.insert(head.path.stem().into_owned());
            names.insert(head.id());
            notes.push((head.path.stem().into_owned(), text));
        }
        Ok(Self { notes, names })
    }

    /// Whether there is nothing to write again.
    pub(crate) fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// Path and text of note `number`; each round through all of them is another copy.
    pub(crate) fn note(&self, number: usize) -> (String, String) {
        let round = number / self.notes.len();
        let (name, text) = &self.notes[number % self.notes.len()];
        let mut made = String::with_capacity(text.len() + text.len() / 16);
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let mut rest = text.as_str();
        while let Some(from) = rest.find(inside) {
            made.push_str(&rest[..from]);
            rest = &rest[from..];
            let token = &rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())];
            rest = &rest[token.len()..];
            if self.names.contains(token) {
                made.push_str(&renamed(token, round));
            } else if made.ends_with("host_session: ") && round > 0 {
                made.push_str(&format!("r{round}-{token}"));
            } else {
                made.push_str(&shifted(token, round, true));
            }
        }
        made.push_str(rest);
        (format!("sessions/{}.md", renamed(name, round)), made)
    }
}

fn renamed(name: &str, round: usize) -> String {
    if round == 0 { name.to_owned() } else { format!("{}-r{round}", shifted(name, round, false)) }
}

/// A date at the start of a token, `round` days later; where a time is wanted, only one that a time follows.
fn shifted(token: &str, round: usize, timed: bool) -> String {
    let date = token.get(..10).and_then(|head| head.parse::<Date>().ok());
    let date = date.filter(|_| round > 0 && (!timed || token.as_bytes().get(10) == Some(&b'T')));
    let days = i64::try_from(round).unwrap_or(0);
    match date.and_then(|date| date.checked_add(days.days()).ok()) {
        Some(date) => format!("{date}{}", &token[10..]),
        None => token.to_owned(),
    }
}
