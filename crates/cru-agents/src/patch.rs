//! Patches as the models of some hosts write them: which files they make, change, move and delete, and by how many lines.

/// First line of a patch.
pub(super) const BEGIN: &str = "*** Begin Patch";

/// Last line of a patch.
pub(super) const END: &str = "*** End Patch";

/// Files of one patch that are looked at.
const MAX: usize = 256;

/// What happens to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Its path, as the patch writes it.
    pub(super) path: String,
    /// Where it is moved to.
    pub(super) moved: Option<String>,
    pub(super) created: bool,
    pub(super) deleted: bool,
    pub(super) added: u64,
    pub(super) removed: u64,
}

impl Change {
    /// The path of the file afterwards.
    pub(super) fn after(&self) -> &str {
        self.moved.as_deref().unwrap_or(&self.path)
    }
}

/// The changes of a patch, in order.
pub(super) fn read(patch: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in patch.lines() {
        let begins =
            [("*** Add File: ", true, false), ("*** Update File: ", false, false), ("*** Delete File: ", false, true)];
        let found =
            begins.iter().find_map(|(head, created, deleted)| Some((line.strip_prefix(head)?, *created, *deleted)));
        if let Some((path, created, deleted)) = found {
            if changes.len() >= MAX {
                break;
            }
            changes.push(Change { path: path.trim().to_owned(), created, deleted, ..Change::default() });
            continue;
        }
        let Some(change) = changes.last_mut() else { continue };
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            change.moved = Some(path.trim().to_owned());
        } else if line.starts_with('+') {
            change.added += 1;
        } else if line.starts_with('-') {
            change.removed += 1;
        }
    }
    changes
}

/// What a patch shows after its tool: the files, or how many they are.
pub(super) fn files(paths: &[String]) -> String {
    const NAMED: usize = 3;
    let mut text = paths.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if paths.len() > NAMED {
        text.push_str(&format!(" and {} more", paths.len() - NAMED));
    }
    text
}

/// `+3 −1`, `created, 12 lines`, `deleted`.
pub(super) fn brief(changes: &[Change]) -> Option<String> {
    let (added, removed) = changes.iter().fold((0, 0), |(added, removed): (u64, u64), change| {
        (added.saturating_add(change.added), removed.saturating_add(change.removed))
    });
    match changes {
        [] => None,
        [one] if one.created => Some(format!("created, {}", cru_base::text::plural(one.added, "line"))),
        [one] if one.deleted => Some("deleted".to_owned()),
        _ => Some(format!("+{added} −{removed}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-x\n+y\n z\n*** Delete File: d.rs\n*** End Patch\n";

    #[test]
    fn files_of_a_patch() {
        let changes = read(PATCH);
        assert_eq!(changes.iter().map(Change::after).collect::<Vec<_>>(), ["a.rs", "c.rs", "d.rs"]);
        assert!(changes[0].created && changes[2].deleted);
        assert_eq!(brief(&changes).unwrap(), "+3 −1");
        assert_eq!(brief(&changes[..1]).unwrap(), "created, 2 lines");
        assert_eq!(brief(&changes[2..]).unwrap(), "deleted");
        assert_eq!(brief(&read("nothing")), None);
    }

    #[test]
    fn many_files_are_counted() {
        let paths: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        assert_eq!(files(&paths), "a, b, c and 2 more");
        assert_eq!(files(&paths[..1]), "a");
    }
}
