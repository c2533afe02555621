//! What is asked of git: always with fixed arguments, and never needed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::commands::Context;
use crate::trace::why::{Blame, read_blame};
use crate::trace::{FileState, LARGEST_FILE, ReadFiles, UnknownReason};

/// Seconds that one question may take.
const LIMIT: u64 = 60;

/// A repository.
pub(super) struct Repository<'a, 'c> {
    cx: &'a Context<'c>,
    top: PathBuf,
}

impl<'a, 'c> Repository<'a, 'c> {
    /// The one that a folder lies in: the nearest folder above with `.git`. It may be one that git refuses.
    pub(super) fn of(dir: &Path, cx: &'a Context<'c>) -> Option<Self> {
        let top = dir.ancestors().find(|dir| dir.join(".git").exists())?.to_owned();
        Some(Self { cx, top })
    }

    /// Its folder.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// The output of a question that went well.
    fn ask(&self, args: &[&str], input: &str) -> Option<Vec<u8>> {
        let answer = self.cx.ui.git(&self.top, args, input, LIMIT).ok()?;
        if answer.timed_out {
            self.cx.ui.warn(&format!("git took longer than {LIMIT} s: git {}", args.first().unwrap_or(&"")));
        }
        (answer.code == Some(0)).then_some(answer.bytes)
    }

    /// The id of a commit; `None` where it does not exist or git is not there.
    pub(super) fn commit(&self, name: &str) -> Option<String> {
        let wanted = format!("{name}^{{commit}}");
        let bytes = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted], "")?;
        let id = String::from_utf8(bytes).ok()?.trim().to_owned();
        (!id.is_empty()).then_some(id)
    }

    /// Who wrote each line of a file in a commit.
    pub(super) fn blame(&self, commit: &str, path: &str) -> Option<Blame> {
        let bytes = self.ask(&["blame", "--porcelain", "--no-textconv", commit, "--", path], "")?;
        Some(read_blame(&String::from_utf8_lossy(&bytes)))
    }

    /// A file of a commit.
    pub(super) fn file(&self, commit: &str, path: &str) -> Option<Vec<u8>> {
        self.ask(&["cat-file", "blob", &format!("{commit}:{path}")], "")
    }

    /// Whether one commit leads to another; `None` where that cannot be told.
    pub(super) fn is_ancestor(&self, old: &str, new: &str) -> Option<bool> {
        let answer = self.cx.ui.git(&self.top, &["merge-base", "--is-ancestor", old, new], "", LIMIT).ok()?;
        match answer.code {
            Some(0) => Some(true),
            Some(1) => Some(false),
            _ => None,
        }
    }

    /// Which of some commits exist, and which of these lead to `head`: by abbreviated id.
    pub(super) fn reachable(&self, ids: &[String], head: &str) -> HashMap<String, bool> {
        let input: String = ids.iter().map(|id| format!("{id}^{{commit}}\n")).collect();
        let Some(bytes) = self.ask(&["cat-file", "--batch-check=%(objectname)"], &input) else { return HashMap::new() };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let found = ids.iter().zip(text.lines());
        let whole = found.filter(|(_, line)| line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit()));
        whole.map(|(id, whole)| (id.clone(), self.is_ancestor(whole, head).unwrap_or(false))).collect()
    }

    /// New names of files: those of commits since `since`, then those of the working copy.
    pub(super) fn renames(&self, since: Option<&str>, to: &str) -> HashMap<String, String> {
        let mut names = HashMap::new();
        let mut args =
            vec!["log", "-M", "--diff-filter=R", "--name-status", "--format=", "-z", "--no-ext-diff", "-n", "3000"];
        let since = since.map(|since| format!("--since={since}"));
        args.extend(since.as_deref());
        args.push(to);
        // The newest commit stands first: the first name that a file is given stays.
        for (old, new) in pairs(&self.ask(&args, "").unwrap_or_default()) {
            names.entry(old).or_insert(new);
        }
        if to == "HEAD" {
            let args = [
                "diff",
                "-M",
                "--diff-filter=R",
                "--name-status",
                "-z",
                "--no-ext-diff",
                "--no-textconv",
                "--cached",
                "HEAD",
            ];
            names.extend(pairs(&self.ask(&args, "").unwrap_or_default()));
        }
        names
    }

    /// The last commit that touched a file: short id and day.
    pub(super) fn last_touch(&self, path: &str, head: &str) -> Option<String> {
        let bytes = self.ask(&["log", "-1", "--format=%h %as %an", "--no-show-signature", head, "--", path], "")?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

/// `R100\0old\0new\0…`
fn pairs(bytes: &[u8]) -> Vec<(String, String)> {
    let mut words = bytes.split(|&byte| byte == 0).map(String::from_utf8_lossy).filter(|word| !word.trim().is_empty());
    let mut pairs = Vec::new();
    while let (Some(status), Some(old), Some(new)) = (words.next(), words.next(), words.next()) {
        if status.trim().starts_with('R') {
            pairs.push((old.into_owned(), new.into_owned()));
        }
    }
    pairs
}

/// The files of a commit, as claims ask for them.
pub(super) struct CommitFiles<'a, 'c> {
    pub(super) repository: Repository<'a, 'c>,
    pub(super) commit: String,
    pub(super) renames: HashMap<String, String>,
}

impl CommitFiles<'_, '_> {
    /// The path from the top of the repository.
    fn name(&self, root: &Path, path: &str) -> Option<String> {
        let top = self.repository.top.canonicalize().ok()?;
        let root = root.canonicalize().ok()?;
        let folder = root.strip_prefix(top).ok()?.to_string_lossy().replace('\\', "/");
        Some(if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") })
    }
}

impl ReadFiles for CommitFiles<'_, '_> {
    fn read(&self, root: &Path, path: &str) -> FileState {
        let Some(name) = self.name(root, path) else { return FileState::Unknown(UnknownReason::Outside) };
        match self.repository.file(&self.commit, &name) {
            Some(bytes) if bytes.len() as u64 > LARGEST_FILE => FileState::Unknown(UnknownReason::Unreadable),
            Some(bytes) => FileState::Bytes(bytes),
            None => FileState::Gone,
        }
    }

    fn renamed(&self, root: &Path, path: &str) -> Option<String> {
        let name = self.name(root, path)?;
        let new = self.renames.get(&name)?;
        let folder = name.strip_suffix(path)?;
        new.strip_prefix(folder).map(str::to_owned)
    }
}
