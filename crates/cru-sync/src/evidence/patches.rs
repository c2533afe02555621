//! What sessions wrote, kept for the time after the host has deleted its transcripts: `evidence/<session_id>.patch`.
//!
//! Entries are appended and never changed: what stands there may be all that is left. Secrets are masked.

use std::collections::HashSet;
use std::path::PathBuf;

use cru_base::{Result, files};
use cru_session::evidence_patch;
use cru_session::fold::DraftPatch;
use cru_vault::Vault;
use cru_vault::state::key;

/// The file of a session, whether or not it is there.
pub fn path(vault: &Vault, session_id: &str) -> PathBuf {
    vault.root().join("evidence").join(format!("{}.patch", key(session_id)))
}

/// What is kept of a session; `None` where nothing is. [`cru_session::evidence_patch::read`] gives the entries.
pub fn read(vault: &Vault, session_id: &str) -> Option<String> {
    // Bytes of the largest file that is read.
    let bytes = files::read_regular(&path(vault, session_id), 256 << 20).ok().flatten()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Appends what a session wrote and its file lacks; `now` gives the id that a step has in the note. How many entries
/// that are.
///
/// # Errors
///
/// The file cannot be written.
pub(crate) fn append<'d>(
    vault: &Vault,
    session_id: &str,
    patches: &'d [DraftPatch],
    now: impl Fn(&'d str) -> &'d str,
) -> Result<usize> {
    if patches.is_empty() {
        return Ok(0);
    }
    let there = read(vault, session_id).unwrap_or_default();
    let known: HashSet<(&str, &str)> =
        evidence_patch::read(&there).iter().map(|entry| (entry.step, entry.path)).collect();
    let mut text = String::new();
    let mut count = 0;
    for patch in patches {
        let step = now(&patch.step);
        let entry = evidence_patch::entry(step, patch.time, &patch.path, "");
        let is_known = evidence_patch::read(&entry).iter().any(|entry| known.contains(&(step, entry.path)));
        if !is_known {
            text.push_str(&evidence_patch::entry(step, patch.time, &patch.path, &patch.diff));
            count += 1;
        }
    }
    if count > 0 {
        // An entry that was torn by a crash must not take the next one with it.
        let start = if there.is_empty() || there.ends_with('\n') { "" } else { "\n" };
        files::append_private(&path(vault, session_id), format!("{start}{text}").as_bytes())?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_appended_and_never_changed() {
        let temp = tempfile::tempdir().unwrap();
        files::put(&temp.path().join(".cru/config.toml"), b"").unwrap();
        let vault = Vault::open(temp.path()).unwrap();
        let patch = |step: &str, path: &str, line: &str| DraftPatch {
            step: step.into(),
            time: None,
            path: path.into(),
            diff: format!("@@ -0,0 +1,1 @@\n+{line}\n"),
        };
        let mut patches = vec![patch("n-001", "a\nb", "one"), patch("n-001", "c", "one")];
        assert_eq!(append(&vault, "s", &patches, |id| id).unwrap(), 2);
        let first = read(&vault, "s").unwrap();
        patches[1].diff.push_str("+changed\n");
        patches.push(patch("n-002", "c", "two"));
        assert_eq!(append(&vault, "s", &patches, |id| if id == "n-002" { "n-007" } else { id }).unwrap(), 1);
        let then = read(&vault, "s").unwrap();
        assert_eq!(then, format!("{first}# n-007 - c\n--- a/c\n+++ b/c\n@@ -0,0 +1,1 @@\n+two\n"));
        assert_eq!(append(&vault, "s", &patches, |id| if id == "n-002" { "n-007" } else { id }).unwrap(), 0);
        files::append(&path(&vault, "s"), b"torn").unwrap();
        assert_eq!(append(&vault, "s", &[patch("n-009", "d", "x")], |id| id).unwrap(), 1);
        let text = read(&vault, "s").unwrap();
        assert!(text.contains("\n+two\ntorn\n# n-009 - d\n"), "{text}");
        assert_eq!(append(&vault, "t", &[], |id| id).unwrap(), 0);
        assert_eq!(read(&vault, "t"), None);
    }
}
