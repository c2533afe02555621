//! What hooks saw that the transcript does not hold: the hashes of files at the moment of a call, and the commit that a
//! command made.
//!
//! Joined by the host's id of the call. A hash that the record itself proves stays.

use std::collections::HashMap;

use serde_json::Value;

use cru_live::hook::{HashedFile, HookEntry};
use cru_session::event::CallResult;

/// What hooks saw, by call.
#[derive(Clone, Debug, Default)]
pub struct HookFacts {
    files: HashMap<String, Vec<HashedFile>>,
    /// The commits that were checked out while a call ran, in order.
    heads: HashMap<String, Vec<String>>,
}

impl HookFacts {
    /// Of the entries of a session's journal.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a HookEntry>) -> Self {
        let mut facts = Self::default();
        for entry in entries {
            let call = entry.input.get("tool_use_id").and_then(Value::as_str);
            if let (Some(call), Some(head)) = (call.filter(|call| !call.is_empty()), &entry.head) {
                facts.heads.entry(call.to_owned()).or_default().push(head.clone());
            }
            if let Some(call) = call.filter(|call| !call.is_empty() && !entry.files.is_empty()) {
                let known = facts.files.entry(call.to_owned()).or_default();
                // What is told after the call tells of the same files as they are then.
                known.retain(|old| !entry.files.iter().any(|new| new.path == old.path));
                known.extend(entry.files.iter().cloned());
            }
        }
        facts
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.heads.is_empty()
    }

    /// Gives a result the commit that its call made, and its files the hashes that a hook saw.
    pub(crate) fn join(&self, result: &mut CallResult<'_>) {
        // Where the same commit is checked out before and after, none was made.
        if let Some([before, .., after]) = self.heads.get(result.call.as_ref()).map(Vec::as_slice)
            && before != after
        {
            result.commits.push(after.clone().into());
        }
        let Some(known) = self.files.get(result.call.as_ref()) else { return };
        // Behind the call a file that it wrote is no longer what it read.
        let overwritten: Vec<String> = result.writes.iter().map(|file| file.path.clone()).collect();
        for (file, written) in
            result.reads.iter_mut().map(|file| (file, false)).chain(result.writes.iter_mut().map(|file| (file, true)))
        {
            let Some(seen) = known.iter().find(|seen| same(&seen.path, &file.path)) else { continue };
            if file.hash.is_none() && is_hash(&seen.hash) && (written || !overwritten.contains(&file.path)) {
                file.hash = Some(seen.hash[..SHOWN].to_owned());
            }
            file.created |= written && seen.created;
        }
    }
}

/// Digits of a hash that a note shows.
const SHOWN: usize = 8;

fn is_hash(text: &str) -> bool {
    text.len() >= SHOWN && text.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

/// Whether a hook's path and a note's are of one file: the note's is relative to the project, or to home with `~`.
fn same(told: &str, shown: &str) -> bool {
    let told = told.replace('\\', "/");
    let end = shown.strip_prefix("~/").unwrap_or(shown);
    let end = end.strip_prefix("./").unwrap_or(end);
    !end.is_empty() && told.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::FileRef;

    fn entry(call: &str, path: &str, hash: &str, created: bool) -> HookEntry {
        HookEntry {
            host: "claude-code".to_owned(),
            event: "post-tool".to_owned(),
            input: serde_json::json!({ "tool_use_id": call }),
            files: vec![HashedFile { path: path.to_owned(), hash: hash.to_owned(), created }],
            head: None,
            continues: None,
        }
    }

    fn file(path: &str, hash: Option<&str>) -> FileRef {
        FileRef { path: path.to_owned(), hash: hash.map(str::to_owned), ..FileRef::default() }
    }

    #[test]
    fn a_commit_is_that_of_a_call_that_moved_the_branch() {
        let at = |call: &str, head: &str| HookEntry { head: Some(head.to_owned()), ..entry(call, "a", "", false) };
        let entries =
            [at("t1", "4f1c2ab"), at("t1", "0a1b2c3"), at("t2", "0a1b2c3"), at("t2", "0a1b2c3"), at("t3", "9")];
        let facts = HookFacts::of(&entries);
        let commits = |call: &'static str| {
            let mut result = CallResult { call: call.into(), ..CallResult::default() };
            facts.join(&mut result);
            result.commits.join(" ")
        };
        assert_eq!((commits("t1"), commits("t2"), commits("t3")), ("0a1b2c3".to_owned(), String::new(), String::new()));
    }

    #[test]
    fn hashes_come_to_the_files_of_their_call() {
        let entries = [
            entry("t1", "/home/me/api/src/a.rs", "0123456789abcdef", false),
            entry("t2", "/home/me/api/b", "fedcba9876543210", true),
            entry("t3", "/etc/x", "not a hash, not at all", false),
        ];
        let facts = HookFacts::of(&entries);
        let joined = |call: &'static str, reads: Vec<FileRef>, writes: Vec<FileRef>| {
            let mut result = CallResult { call: call.into(), reads, writes, ..CallResult::default() };
            facts.join(&mut result);
            (result.reads, result.writes)
        };
        let (reads, _) = joined("t1", vec![file("src/a.rs", None), file("a.rs2", None), file("rc/a.rs", None)], vec![]);
        assert_eq!(reads[0].hash.as_deref(), Some("01234567"));
        assert_eq!((&reads[1].hash, &reads[2].hash), (&None, &None));
        let (reads, writes) = joined("t2", vec![file("b", Some("aaaaaaaa"))], vec![file("b", None)]);
        assert_eq!(reads[0], file("b", Some("aaaaaaaa")), "what the record proves stays");
        assert_eq!(writes[0], FileRef { created: true, ..file("b", Some("fedcba98")) });
        let (reads, writes) = joined("t2", vec![file("b", None)], vec![file("b", None)]);
        assert_eq!((reads[0].hash.as_deref(), writes[0].hash.as_deref()), (None, Some("fedcba98")), "an edit");
        assert_eq!(joined("t3", vec![file("/etc/x", None)], vec![]).0[0].hash, None);
        assert_eq!(joined("t4", vec![file("b", None)], vec![]).0[0].hash, None);
    }
}
