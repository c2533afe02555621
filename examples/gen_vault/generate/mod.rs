//! Session notes like real ones in mix and length, made of nothing but numbers: the same recipe makes the same vault
//! everywhere, whatever is made at the same time.
//!
//! Benches and tests include this folder too. A note never needs another note to be made, only its number.

mod again;
mod identity;
mod note;
mod part;
mod random;
mod share;
mod step;
mod word;

use std::path::Path;

use rayon::prelude::*;

pub(crate) use again::Sources;

/// A word that stands in nearly every note.
pub(crate) const COMMON: &str = "test";

/// A word that stands in one note of [`RARE_EVERY`].
pub(crate) const RARE: &str = "quixelbrandt";

/// How many notes there are to one with [`RARE`].
pub(crate) const RARE_EVERY: usize = 500;

/// The first note with [`RARE`].
pub(crate) const RARE_FIRST: usize = 37;

/// What is to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    /// How many sessions.
    pub(crate) sessions: usize,
    /// Another seed makes other sessions.
    pub(crate) seed: u64,
    /// Steps of a session on average.
    pub(crate) steps: usize,
}

impl Default for Recipe {
    fn default() -> Self {
        Self { sessions: 10_000, seed: 1, steps: 100 }
    }
}

/// What was made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Made {
    pub(crate) notes: usize,
    pub(crate) bytes: usize,
    /// Bytes of steps, of what is nested in them, of prose, the user's words, other callouts, the rest.
    pub(crate) kinds: [usize; 6],
}

impl Made {
    fn and(self, other: Self) -> Self {
        let kinds = std::array::from_fn(|at| self.kinds[at] + other.kinds[at]);
        Self { notes: self.notes + other.notes, bytes: self.bytes + other.bytes, kinds }
    }
}

impl Recipe {
    /// Path and text of a note, and the bytes of each kind.
    pub(crate) fn note(&self, number: usize) -> (String, String, [usize; 6]) {
        let (identity, note) = note::note(self, number);
        let kinds = note.bytes();
        (identity.path(), note.text, kinds)
    }

    /// Writes the vault at `root`, side by side.
    pub(crate) fn write(&self, root: &Path) -> std::io::Result<Made> {
        frame(root)?;
        let one = |number| {
            let (path, text, kinds) = self.note(number);
            put(&root.join(path), &text)?;
            Ok(Made { notes: 1, bytes: text.len(), kinds })
        };
        (0..self.sessions).into_par_iter().map(one).try_reduce(Made::default, |a, b| Ok(a.and(b)))
    }
}

/// Writes `sessions` notes at `root` that are those of `sources` again and again.
pub(crate) fn write_again(sources: &Sources, sessions: usize, root: &Path) -> std::io::Result<Made> {
    frame(root)?;
    let one = |number| {
        let (path, text) = sources.note(number);
        put(&root.join(path), &text)?;
        Ok(Made { notes: 1, bytes: text.len(), ..Made::default() })
    };
    (0..sessions).into_par_iter().map(one).try_reduce(Made::default, |a, b| Ok(a.and(b)))
}

/// What makes a folder a vault.
fn frame(root: &Path) -> std::io::Result<()> {
    put(&root.join(".cru/config.toml"), "[vault]\nid = \"generated\"\n")?;
    put(&root.join("Home.md"), "# Home\n\nNotes beside sessions are read too.\n")
}

#[expect(
    clippy::disallowed_methods,
    reason = "nobody edits a vault that is being made, and no note needs to be durable"
)]
fn put(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
