//! Patches, in the shape that agents write (`*** Begin Patch`) and in those of `diff -u` and `git diff`.
//!
//! Total: any text gives a list of files, an empty one where it holds no patch.

mod agent;
mod call;
mod diff;

#[cfg(test)]
mod tests;

pub(crate) use call::blocks;
pub use call::of_call;

/// How a patch of an agent begins.
pub const BEGIN: &str = "*** Begin Patch";

/// How it ends.
pub const END: &str = "*** End Patch";

/// Files of one patch that are read.
pub const MAX_FILES: usize = 4096;

/// What a patch does to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch<'a> {
    /// The path before; `None` for a file that it creates.
    pub old_path: Option<&'a str>,
    /// The path after; `None` for a file that it deletes.
    pub new_path: Option<&'a str>,
    /// Its changes in order.
    pub hunks: Vec<Hunk<'a>>,
}

/// Lines that stand together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// Number of its first line in the file before, from 1, where the patch tells it.
    pub old_start: Option<u64>,
    /// Number of its first line in the file after.
    pub new_start: Option<u64>,
    /// What stands behind `@@`.
    pub heading: &'a str,
    /// Its lines, without line ends.
    pub lines: Vec<PatchLine<'a>>,
}

/// A line of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchLine<'a> {
    /// It stays.
    Kept(&'a str),
    /// It comes.
    Added(&'a str),
    /// It goes.
    Removed(&'a str),
}

impl<'a> FilePatch<'a> {
    /// The path after, or before where the file is deleted.
    pub fn path(&self) -> &'a str {
        self.new_path.or(self.old_path).unwrap_or("")
    }

    /// Whether it makes the file.
    pub const fn is_created(&self) -> bool {
        self.old_path.is_none() && self.new_path.is_some()
    }

    /// Whether it deletes the file.
    pub const fn is_deleted(&self) -> bool {
        self.new_path.is_none()
    }

    /// Whether the file has another path afterwards.
    pub fn is_moved(&self) -> bool {
        matches!((self.old_path, self.new_path), (Some(old), Some(new)) if old != new)
    }

    /// All its lines in order.
    pub fn lines(&self) -> impl Iterator<Item = PatchLine<'a>> {
        self.hunks.iter().flat_map(|hunk| hunk.lines.iter().copied())
    }

    /// The lines that come.
    pub fn added(&self) -> impl Iterator<Item = &'a str> {
        self.lines().filter_map(|line| match line {
            PatchLine::Added(text) => Some(text),
            PatchLine::Kept(_) | PatchLine::Removed(_) => None,
        })
    }

    /// The lines as they stood before, as far as the patch shows them.
    pub fn before(&self) -> impl Iterator<Item = &'a str> {
        self.lines().filter_map(|line| match line {
            PatchLine::Kept(text) | PatchLine::Removed(text) => Some(text),
            PatchLine::Added(_) => None,
        })
    }

    /// The lines as they stand after it, as far as the patch shows them.
    pub fn after(&self) -> impl Iterator<Item = &'a str> {
        self.lines().filter_map(|line| match line {
            PatchLine::Kept(text) | PatchLine::Added(text) => Some(text),
            PatchLine::Removed(_) => None,
        })
    }

    /// The lines that go.
    pub fn removed(&self) -> impl Iterator<Item = &'a str> {
        self.lines().filter_map(|line| match line {
            PatchLine::Removed(text) => Some(text),
            PatchLine::Kept(_) | PatchLine::Added(_) => None,
        })
    }
}

/// Whether a text is a patch, or a command that holds one.
pub fn is_patch(text: &str) -> bool {
    text.contains(BEGIN) || text.starts_with("*** ") && !agent::read(text).is_empty() || is_diff(text)
}

fn is_diff(text: &str) -> bool {
    let begins = |mark: &str| text.starts_with(mark.trim_start_matches('\n')) || text.contains(mark);
    (begins("\n+++ ") && begins("\n@@ ")) || (begins("\ndiff --git ") && !text.contains(BEGIN))
}

/// The patch of an agent within a text, from its first mark to its last.
pub fn find(text: &str) -> Option<&str> {
    let from = text.find(BEGIN)?;
    let to = text.rfind(END).filter(|to| *to > from).map_or(text.len(), |at| at + END.len());
    text.get(from..to)
}

/// The files of the patch that a text holds, in order. Of several patches of agents in one text all count.
pub fn read(text: &str) -> Vec<FilePatch<'_>> {
    if text.contains(BEGIN) || !is_diff(text) { agent::read(text) } else { diff::read(text) }
}

/// The files of a unified diff, whatever its lines look like.
pub fn read_diff(text: &str) -> Vec<FilePatch<'_>> {
    diff::read(text)
}
