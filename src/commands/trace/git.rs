//! What is asked of git: always with fixed arguments, and never needed.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::commands::Context;
use crate::trace::why::{AddedLines, Blame, read_blame};

/// Seconds that one question may take.
const LIMIT: u64 = 60;

/// Commits that are looked at for renames and last changes.
const MOST_COMMITS: &str = "3000";

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

    /// A folder in it as the start of paths from the top: `packages/api/`, and nothing for the top itself. `None` where
    /// the folder lies elsewhere.
    pub(super) fn folder(&self, dir: &Path) -> Option<String> {
        let inside = match dir.strip_prefix(&self.top) {
            Ok(inside) => inside.to_owned(),
            Err(_) => dir.canonicalize().ok()?.strip_prefix(self.top.canonicalize().ok()?).ok()?.to_owned(),
        };
        let inside = inside.to_string_lossy().replace('\\', "/");
        Some(if inside.is_empty() { inside } else { format!("{inside}/") })
    }

    /// The change of a file, below the folder `dir`, since the last commit before a time, as a unified diff; `None` where
    /// there is none to be told.
    pub(super) fn changes_since(&self, dir: &Path, path: &str, time: Timestamp) -> Option<String> {
        let folder = self.folder(dir)?;
        let before = format!("--before={time}");
        let bytes = self.ask(&["rev-list", "-n", "1", &before, "HEAD"], "")?;
        let commit = String::from_utf8(bytes).ok()?.trim().to_owned();
        let path = format!("{folder}{path}");
        let args = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", &commit, "--", &path];
        let bytes = self.ask(&args, "").filter(|_| !commit.is_empty())?;
        Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty())
    }

    /// Makes a worktree of HEAD without its files, and fills its index; whether that went well.
    pub(super) fn add_worktree(&self, dir: &Path) -> bool {
        let Some(name) = dir.to_str() else { return false };
        let made = self.ask(&["worktree", "add", "--quiet", "--detach", "--no-checkout", name, "HEAD"], "").is_some();
        let index = || self.cx.ui.git(dir, &["read-tree", "HEAD"], "", LIMIT);
        made && index().is_ok_and(|answer| answer.code == Some(0))
    }

    /// Takes such a worktree away.
    pub(super) fn remove_worktree(&self, dir: &Path) {
        let Some(name) = dir.to_str() else { return };
        let _ = self.ask(&["worktree", "remove", "--force", "--force", name], "");
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
        // With `--end-of-options`, older versions print that line too.
        let text = String::from_utf8(bytes).ok()?;
        text.lines().last().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty())
    }

    /// Who wrote each line of a file in a commit.
    pub(super) fn blame(&self, commit: &str, path: &str) -> Option<Blame> {
        let bytes = self.ask(&["blame", "--porcelain", "--no-textconv", commit, "--", path], "")?;
        Some(read_blame(&String::from_utf8_lossy(&bytes)))
    }

    /// The lines that commits up to `commit` added to files since `since`, as far as they are `wanted`.
    pub(super) fn added(&self, commit: &str, paths: &[&str], since: Timestamp, wanted: &HashSet<&str>) -> AddedLines {
        let since = format!("--since={since}");
        let mut args = vec!["log", "--topo-order", "--reverse", "-p", "-U0", "--no-renames", "--no-color"];
        args.extend(["--no-ext-diff", "--no-textconv", "--no-show-signature", "-n", MOST_COMMITS, AddedLines::FORMAT]);
        args.extend([&since, commit, "--"]);
        args.extend(paths.iter().take(256));
        let bytes = self.ask(&args, "").unwrap_or_default();
        AddedLines::read(&String::from_utf8_lossy(&bytes), wanted)
    }

    /// A file of a commit.
    pub(super) fn file(&self, commit: &str, path: &str) -> Option<Vec<u8>> {
        self.ask(&["cat-file", "blob", &format!("{commit}:{path}")], "")
    }

    /// Whether one commit leads to another; `None` where that cannot be told.
    pub(super) fn is_ancestor(&self, old: &str, new: &str) -> Option<bool> {
        let whole = self.commit(old)?;
        let answer = self.cx.ui.git(&self.top, &["merge-base", "--is-ancestor", &whole, new], "", LIMIT).ok()?;
        match answer.code {
            Some(0) => Some(true),
            Some(1) => Some(false),
            _ => None,
        }
    }

    /// Those of some commits, by abbreviated id, that lead to `head`. In two calls of git, however many they are.
    pub(super) fn reachable(&self, ids: &[String], head: &str) -> HashSet<String> {
        let input = ids.iter().fold(String::new(), |input, id| input + id + "^{commit}\n");
        let Some(bytes) = self.ask(&["cat-file", "--batch-check=%(objectname)"], &input) else { return HashSet::new() };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_id = |line: &str| line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        let whole: Vec<(&String, &str)> = ids.iter().zip(text.lines()).filter(|(_, line)| is_id(line)).collect();
        let input = whole.iter().fold(format!("^{head}\n"), |input, (_, id)| input + id + "\n");
        let Some(bytes) = self.ask(&["rev-list", "--stdin"], &input) else { return HashSet::new() };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let elsewhere: HashSet<&str> = text.lines().collect();
        whole.into_iter().filter(|(_, whole)| !elsewhere.contains(whole)).map(|(id, _)| id.clone()).collect()
    }

    /// Those of some commits, by abbreviated id, that touched one of some files. In two calls of git.
    pub(super) fn touching(&self, ids: &HashSet<String>, paths: &[&str]) -> HashSet<String> {
        if ids.is_empty() || paths.is_empty() {
            return HashSet::new();
        }
        let input = ids.iter().fold(String::new(), |input, id| input + id + "^{commit}\n");
        let Some(bytes) = self.ask(&["cat-file", "--batch-check=%(objectname)"], &input) else { return HashSet::new() };
        let whole = String::from_utf8_lossy(&bytes).into_owned();
        let is_id = |line: &str| line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        let input: String = whole.lines().filter(|line| is_id(line)).fold(String::new(), |input, id| input + id + "\n");
        let mut args = vec![
            "diff-tree",
            "--stdin",
            "-r",
            "--root",
            "-m",
            "--name-only",
            "-z",
            "--no-ext-diff",
            "--no-textconv",
            "--",
        ];
        args.extend(paths.iter().take(256));
        let bytes = self.ask(&args, &input).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // Only commits with such a file are printed.
        let found: HashSet<&str> = text.split(['\0', '\n']).filter(|word| is_id(word)).collect();
        let named = ids.iter().zip(whole.lines()).filter(|(_, whole)| found.contains(whole));
        named.map(|(id, _)| id.clone()).collect()
    }

    /// New names of files by their old ones: those of commits since `since`, then those of the index.
    pub(super) fn renames(&self, since: Option<Timestamp>, to: &str) -> HashMap<String, String> {
        let mut names = HashMap::new();
        let mut args = vec![
            "log",
            "-M",
            "--diff-filter=R",
            "--name-status",
            "--format=",
            "-z",
            "--no-ext-diff",
            "-n",
            MOST_COMMITS,
        ];
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

    /// By path: the last commit up to `head` that touched it since `since`, as `4f1c2ab 2026-11-20 Ann`. In one call.
    pub(super) fn last_touches(
        &self,
        paths: &[String],
        since: Option<Timestamp>,
        head: &str,
    ) -> HashMap<String, String> {
        if paths.is_empty() {
            return HashMap::new();
        }
        let since = since.map(|since| format!("--since={since}"));
        let mut args = vec!["log", "--name-only", "--format=%x01%h %as %an", "-z", "--no-renames", "-n", MOST_COMMITS];
        args.extend(since.as_deref());
        args.extend([head, "--"]);
        args.extend(paths.iter().take(256).map(String::as_str));
        let bytes = self.ask(&args, "").unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut touches = HashMap::new();
        for commit in text.split('\u{1}') {
            let mut words = commit.split(['\0', '\n']).map(str::trim).filter(|word| !word.is_empty());
            let Some(name) = words.next() else { continue };
            for path in words {
                touches.entry(path.to_owned()).or_insert_with(|| name.to_owned());
            }
        }
        touches
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
