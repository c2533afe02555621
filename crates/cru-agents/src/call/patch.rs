//! What a note says of a patch.

use super::touched::{TouchedFiles, anchors};
use cru_action::patch::{self, FilePatch};
use cru_session::evidence_patch::{diff, written as written_runs};
use cru_session::{FileRef, LineAnchor};

/// Files of one patch that are told.
const MAX: usize = 256;

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchedFile {
    /// Its path before, as a note writes it; `None` for a file that the patch makes.
    pub(crate) before: Option<String>,
    /// Its path afterwards, or before where it is deleted.
    pub(crate) path: String,
    pub(crate) deleted: bool,
    added: u64,
    removed: u64,
    /// The lines that it writes; without places, where the patch does not tell them.
    lines: Vec<LineAnchor>,
    /// Its hunks as a unified diff.
    diff: String,
}

impl PatchedFile {
    fn of(file: &FilePatch<'_>, show: impl Fn(&str) -> String) -> Self {
        Self {
            before: file.old_path.map(&show),
            path: show(file.path()),
            deleted: file.is_deleted(),
            added: file.added().count() as u64,
            removed: file.removed().count() as u64,
            lines: anchors(file.hunks.iter().flat_map(written_runs).collect()),
            diff: diff(&file.hunks),
        }
    }

    /// Takes the places of lines from a diff of the same change.
    pub(crate) fn place(&mut self, unified: &str) {
        let text = format!("--- a\n+++ b\n{unified}");
        let Some(file) = patch::read_diff(&text).into_iter().next().filter(|file| !file.hunks.is_empty()) else {
            return;
        };
        self.lines = anchors(file.hunks.iter().flat_map(written_runs).collect());
        self.diff = diff(&file.hunks);
    }

    pub(crate) const fn is_created(&self) -> bool {
        self.before.is_none()
    }
}

/// The files of a patch, in order; `show` gives a path as a note writes it.
pub(crate) fn read(text: &str, show: impl Fn(&str) -> String) -> Vec<PatchedFile> {
    patch::read(text).iter().take(MAX).map(|file| PatchedFile::of(file, &show)).collect()
}

/// The files that a patch wrote or deleted.
pub(crate) fn written(files: &[PatchedFile], touched: &mut TouchedFiles) {
    for file in files {
        touched.add_change(&file.path, file.diff.clone());
        let PatchedFile { path, lines, deleted, .. } = file.clone();
        touched.writes.push(FileRef { path, lines, deleted, created: file.is_created(), ..FileRef::default() });
    }
}

/// What a step shows of a patch: the files, or the first and how many more. Empty where there is none.
pub(crate) fn names(files: &[PatchedFile]) -> String {
    const NAMED: usize = 3;
    let mut text = files.iter().take(NAMED).map(|file| file.path.as_str()).collect::<Vec<_>>().join(", ");
    if files.len() > NAMED {
        text.push_str(&format!(" and {} more", files.len() - NAMED));
    }
    text
}

/// `+3 −1`, `created, 12 lines`, `deleted`.
pub(crate) fn brief(files: &[PatchedFile]) -> Option<String> {
    match files {
        [] => None,
        [one] if one.is_created() => Some(format!("created, {}", cru_base::text::plural(one.added, "line"))),
        [one] if one.deleted => Some("deleted".to_owned()),
        _ => {
            let sum = |lines: fn(&PatchedFile) -> u64| files.iter().map(lines).fold(0, u64::saturating_add);
            Some(format!("+{} −{}", sum(|file| file.added), sum(|file| file.removed)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_patch() {
        let text = "*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-x\n+y\n z\n*** Delete File: d.rs\n*** End Patch\n";
        let files = read(text, str::to_owned);
        assert_eq!(names(&files), "a.rs, c.rs, d.rs");
        assert_eq!(files[1].before.as_deref(), Some("b.rs"));
        assert!(files[0].is_created() && files[2].deleted);
        assert_eq!(brief(&files).unwrap(), "+3 −1");
        assert_eq!(brief(&files[..1]).unwrap(), "created, 2 lines");
        assert_eq!(brief(&files[2..]).unwrap(), "deleted");
        assert_eq!(brief(&read("nothing", str::to_owned)), None);
        let five = [&files[..], &files[..2]].concat();
        assert_eq!(names(&five), "a.rs, c.rs, d.rs and 2 more");
    }
}
