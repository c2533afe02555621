//! Making a copy of the files of a working folder.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::base::files;
use crate::commands::Context;
use crate::live::git::checkout;
use crate::memory::checkpoint::blob::blob_id;
use crate::memory::checkpoint::choose::{IndexState, index_entries, modified, paths};
use crate::memory::checkpoint::copy::{CopyLimits, CopyWish, copy};
use crate::memory::checkpoint::object::LARGEST;
use crate::memory::checkpoint::risk::WorktreeRisk;
use crate::memory::checkpoint::{CheckpointKind, CopyManifest, LeftOut, ObjectStore};
use crate::vault::State;

/// How long git may take where nobody waits for a command.
const PATIENT: Duration = Duration::from_secs(20);

/// A checkpoint that is being made.
pub(super) struct Making {
    pub(super) manifest: CopyManifest,
}

impl Making {
    pub(super) fn new(kind: CheckpointKind, title: String, time: Timestamp) -> Self {
        Self { manifest: CopyManifest { time, kind, title, ..CopyManifest::default() } }
    }

    /// Copies what is at risk, and what else git does not have.
    pub(super) fn copy(&mut self, what: &CopyTask<'_>, limits: CopyLimits, state: &State, cx: &Context<'_>) -> Copied {
        let top = top_of(what.folder);
        let root = top.unwrap_or(what.folder).to_owned();
        let mut wish = CopyWish {
            root,
            named: what.named.to_vec(),
            worktree: what.worktree.cloned(),
            files: what.written.to_vec(),
            only_at_risk: what.only_at_risk,
            ..CopyWish::default()
        };
        let mut complete = top.is_some();
        if let Some(top) = top {
            let out = checkout(top);
            (self.manifest.base, self.manifest.branch) = (out.commit, out.branch);
            let ignored = !what.named.is_empty() || what.worktree.is_some_and(|risk| risk.ignored);
            let index;
            (index, complete) = index_state(top, ignored, limits.until, cx);
            if !complete {
                self.manifest.left_out.push(LeftOut::new(".", "git did not tell in time what changed"));
            }
            wish.index = Some(index);
        }
        self.manifest.host = hostname(cx);
        let outcome = copy(&wish, &limits, &ObjectStore::of(state.dir()), &mut self.manifest);
        Copied { at_risk: outcome.at_risk, complete }
    }
}

/// What a copy is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyTask<'a> {
    /// The folder that the work is in.
    pub(super) folder: &'a Path,
    /// Files and folders at risk.
    pub(super) named: &'a [PathBuf],
    /// What git's working copy may lose.
    pub(super) worktree: Option<&'a WorktreeRisk>,
    /// Files of the session, which are all that is known of the work where there is no git.
    pub(super) written: &'a [PathBuf],
    /// Whether nothing else is copied.
    pub(super) only_at_risk: bool,
}

impl<'a> CopyTask<'a> {
    /// All that git does not have of a folder, and files of the session.
    pub(super) const fn of(folder: &'a Path, written: &'a [PathBuf]) -> Self {
        Self { folder, named: &[], worktree: None, written, only_at_risk: false }
    }
}

/// What came of a copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    /// Files at risk that git has not.
    pub(super) at_risk: u64,
    /// Whether git told all that it was asked.
    pub(super) complete: bool,
}

/// The working copy of git that a folder lies in.
pub(super) fn top_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|dir| dir.join(".git").exists())
}

/// Those of some files whose bytes git has not in its index; each repository is asked once.
pub(super) fn unknown_to_git(paths: &[PathBuf], until: Option<Instant>, cx: &Context<'_>) -> Vec<PathBuf> {
    let left = until.map_or(PATIENT, |until| until.saturating_duration_since(Instant::now()) / 3);
    let mut inside: BTreeMap<&Path, Vec<&str>> = BTreeMap::new();
    for path in paths {
        if let Some(top) = path.parent().and_then(top_of)
            && let Some(path) = path.strip_prefix(top).ok().and_then(Path::to_str)
        {
            inside.entry(top).or_default().push(path);
        }
    }
    let mut known: HashMap<PathBuf, String> = HashMap::new();
    for (top, paths) in inside {
        let args = [&["--literal-pathspecs", "ls-files", "-z", "--stage", "--"], paths.as_slice()].concat();
        let Ok(answer) = cx.ui.git_within(top, &args, "", left) else { continue };
        known.extend(index_entries(&answer.bytes).into_iter().map(|entry| (top.join(entry.path), entry.id)));
    }
    let is_known = |path: &PathBuf| -> Option<bool> {
        let id = known.get(path)?;
        Some(blob_id(&files::read_regular(path, LARGEST).ok()??, id) == *id)
    };
    paths.iter().filter(|path| is_known(path) != Some(true)).cloned().collect()
}

/// The name of this machine, as far as its environment tells.
pub(super) fn hostname(cx: &Context<'_>) -> String {
    let file = || std::fs::read_to_string("/etc/hostname").ok().map(|text| text.trim().to_owned());
    cx.env.var("HOSTNAME").map(str::to_owned).or_else(file).unwrap_or_default()
}

/// What git says, and whether it said all of it. No question runs a program of the repository or looks into its files.
fn index_state(top: &Path, ignored: bool, until: Option<Instant>, cx: &Context<'_>) -> (IndexState, bool) {
    let mut complete = true;
    let mut ask = |args: &[&str]| -> Vec<u8> {
        let left = until.map_or(PATIENT, |until| until.saturating_duration_since(Instant::now()) * 2 / 3);
        let answer = cx.ui.git_within(top, args, "", left.max(Duration::from_millis(20)));
        match answer {
            Ok(answer) if answer.code == Some(0) => answer.bytes,
            _ => {
                complete = false;
                Vec::new()
            }
        }
    };
    // What is copied first is asked first: the time may be up.
    let staged = ask(&["diff-index", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z", "HEAD"]);
    let mut index = IndexState {
        entries: index_entries(&ask(&["ls-files", "-z", "--stage", "--debug"])),
        staged: paths(&staged).into_iter().collect(),
        untracked: paths(&ask(&["ls-files", "-z", "--others", "--exclude-standard"])),
        ..IndexState::default()
    };
    if ignored {
        index.ignored = paths(&ask(&["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]));
    }
    // Before the first commit there is no HEAD, and all that is staged counts.
    if staged.is_empty() && checkout(top).commit.is_none() {
        index.staged = index.entries.iter().map(|entry| entry.path.clone()).collect();
        complete = true;
    }
    index.written = index_time(top);
    (index, complete)
}

/// When the index was written.
fn index_time(top: &Path) -> i128 {
    let git = top.join(".git");
    let dir = match std::fs::read_to_string(&git) {
        Ok(text) => text.trim().strip_prefix("gitdir:").map_or(git.clone(), |path| top.join(path.trim())),
        Err(_) => git,
    };
    std::fs::metadata(dir.join("index")).ok().and_then(|it| modified(&it)).unwrap_or(0)
}
