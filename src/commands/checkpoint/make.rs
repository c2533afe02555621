//! Making a copy of the files of a working folder.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::commands::Context;
use crate::live::git::checkout;
use crate::memory::checkpoint::choose::{IndexState, Wanted, changed, index_entries, modified, paths};
use crate::memory::checkpoint::copy::{CopyLimits, CopyWish, copy};
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

    /// Copies the files of `folder` that git does not have, `named` first; without git those of `written`.
    #[expect(clippy::too_many_arguments, reason = "what a copy depends on")]
    pub(super) fn copy(
        &mut self,
        folder: &Path,
        named: &[PathBuf],
        ignored: bool,
        written: &[PathBuf],
        limits: CopyLimits,
        state: &State,
        cx: &Context<'_>,
    ) {
        let top = folder.ancestors().find(|dir| dir.join(".git").exists());
        let root = top.unwrap_or(folder).to_owned();
        let mut wish = CopyWish { root: root.clone(), named: named.to_vec(), ..CopyWish::default() };
        match top {
            Some(top) => {
                let out = checkout(top);
                (self.manifest.base, self.manifest.branch) = (out.commit, out.branch);
                let (index, complete) = index_state(top, ignored, limits.until, cx);
                (wish.files, wish.gone) = changed(top, &index);
                if !named.is_empty() {
                    wish.tracked = index.entries.iter().map(|entry| top.join(&entry.path)).collect();
                }
                if !complete {
                    let why = "git did not tell in time what changed".to_owned();
                    self.manifest.left_out.push(LeftOut { path: ".".to_owned(), why });
                }
            }
            None => wish.files = written.iter().map(|path| Wanted { path: path.clone(), untracked: true }).collect(),
        }
        self.manifest.host = hostname(cx);
        copy(&wish, &limits, &ObjectStore::of(state.dir()), &mut self.manifest);
    }
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
        entries: index_entries(&ask(&["ls-files", "-z", "--debug"])),
        staged: paths(&staged),
        untracked: paths(&ask(&["ls-files", "-z", "--others", "--exclude-standard"])),
        ..IndexState::default()
    };
    if ignored {
        index.ignored = paths(&ask(&["ls-files", "-z", "--others", "--ignored", "--exclude-standard"]));
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
