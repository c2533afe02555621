//! Names of git that a command takes away, and what only they lead to: kept before, given back behind.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::action::argv;
use crate::base::files;
use crate::base::text::plural;
use crate::commands::Context;
use crate::memory::checkpoint::{KeptRef, KeptRefs, LeftOut, ObjectStore};

/// Bytes of a part of a pack, and of a whole one.
const PART: usize = 8 << 20;
const LONGEST: usize = 60 << 20;

/// Names, and commits of the reflog, that are kept.
const MOST: usize = 5000;

/// How long git may take where nobody waits for a command.
const PATIENT: Duration = Duration::from_secs(20);

/// What git is asked, within a time.
struct Asked<'a> {
    top: &'a Path,
    until: Option<Instant>,
    cx: &'a Context<'a>,
}

impl Asked<'_> {
    fn bytes(&self, args: &[&str], input: &str) -> Option<Vec<u8>> {
        let left = self.until.map_or(PATIENT, |until| until.saturating_duration_since(Instant::now()) * 2 / 3);
        let answer = self.cx.ui.git_within(self.top, args, input, left.max(Duration::from_millis(20))).ok()?;
        (answer.code == Some(0)).then_some(answer.bytes)
    }

    fn text(&self, args: &[&str]) -> String {
        String::from_utf8_lossy(&self.bytes(args, "").unwrap_or_default()).into_owned()
    }
}

/// Keeps the names of git that the words of commands take away, and the objects that only these lead to.
pub(super) fn keep(
    top: &Path,
    words: &[String],
    store: &ObjectStore,
    until: Option<Instant>,
    left_out: &mut Vec<LeftOut>,
    cx: &Context<'_>,
) -> KeptRefs {
    let git = Asked { top, until, cx };
    let all = names(&git);
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let mut kept = KeptRefs::default();
    let walks = has(&["reflog", "gc", "prune", "repack", "filter-branch", "filter-repo"]);
    // The stashes are entries of a reflog, too.
    if walks || has(&["stash"]) {
        kept.stashes = stashes(&git);
    }
    let is_all = has(&["filter-branch", "filter-repo", "--mirror", "--prune", "remote", "--stdin"]);
    let current = git.text(&["symbolic-ref", "-q", "HEAD"]);
    let moves = has(&["reset", "rebase", "checkout", "switch"]);
    let is_meant = |it: &&KeptRef| {
        is_all || words.iter().any(|word| is_named(&it.name, word)) || moves && it.name == current.trim()
    };
    kept.refs = all.iter().filter(is_meant).cloned().collect();
    if kept.refs.is_empty() && kept.stashes.is_empty() && !walks && !has(&["stash"]) {
        // The names come from elsewhere: any may be meant.
        kept.refs = all.iter().filter(|it| !it.name.starts_with("refs/remotes/")).cloned().collect();
    }
    if kept.refs.len() > MOST {
        let more = plural((kept.refs.len() - MOST) as u64, "more name");
        left_out.push(LeftOut::new("names of git", format!("{more} than are kept of one command")));
        kept.refs.truncate(MOST);
    }
    if walks {
        kept.commits = unnamed(&git);
    }
    if !moves || is_all {
        pack(&git, &mut kept, &all, store, left_out);
    }
    kept
}

/// Whether a word of a command is, or holds, a name of git: `x`, `refs/heads/x`, `origin/x`, `+a:x`, `:x`.
fn is_named(name: &str, word: &str) -> bool {
    let word = word.trim_start_matches('+');
    let short = ["refs/heads/", "refs/tags/", "refs/remotes/", "refs/notes/", "refs/"]
        .iter()
        .find_map(|start| name.strip_prefix(start));
    // On the other side a branch has no `origin/` before it.
    let there = name.strip_prefix("refs/remotes/").and_then(|rest| Some(rest.split_once('/')?.1));
    word.split(':').filter(|word| !word.is_empty()).any(|word| {
        let bare = word.strip_prefix("refs/heads/").unwrap_or(word);
        name == word || short == Some(word) || there == Some(bare)
    })
}

fn names(git: &Asked<'_>) -> Vec<KeptRef> {
    let text = git.text(&["for-each-ref", "--format=%(objectname) %(refname) %(symref)"]);
    let plain = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (id, name, points) = (words.next()?, words.next()?, words.next().unwrap_or_default());
        (points.is_empty() && name != "refs/stash").then(|| KeptRef { name: name.to_owned(), id: id.to_owned() })
    });
    plain.collect()
}

/// The stashes, newest first.
fn stashes(git: &Asked<'_>) -> Vec<KeptRef> {
    let text = git.text(&["log", "-g", "--format=%H %gs", "refs/stash", "--"]);
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.take(MOST).map(|(id, name)| KeptRef { name: name.to_owned(), id: id.to_owned() }).collect()
}

/// Commits that the reflog leads to, or nothing at all.
fn unnamed(git: &Asked<'_>) -> Vec<String> {
    let mut found: Vec<String> = git.text(&["rev-list", "-g", "--all"]).lines().map(str::to_owned).collect();
    let lost = git.text(&["fsck", "--unreachable", "--no-reflogs", "--connectivity-only", "--no-progress"]);
    found.extend(lost.lines().filter_map(|line| line.strip_prefix("unreachable commit ")).map(str::to_owned));
    found.sort();
    found.dedup();
    found.truncate(MOST);
    found
}

/// Keeps the objects that only what is kept leads to.
fn pack(git: &Asked<'_>, kept: &mut KeptRefs, all: &[KeptRef], store: &ObjectStore, left_out: &mut Vec<LeftOut>) {
    let wanted = kept.refs.iter().chain(&kept.stashes).map(|it| &it.id).chain(&kept.commits);
    let mut input = wanted.fold(String::new(), |input, id| input + id + "\n");
    if input.is_empty() {
        return;
    }
    let others = all.iter().filter(|it| !kept.refs.contains(it));
    others.for_each(|it| input.push_str(&format!("^{}\n", it.id)));
    let args = ["pack-objects", "--revs", "--stdout", "-q", "--window=0"];
    let packed = git.bytes(&args, &input).filter(|bytes| bytes.starts_with(b"PACK") && bytes.len() < LONGEST);
    let parts =
        packed.and_then(|bytes| bytes.chunks(PART).map(|part| store.put(part).ok()).collect::<Option<Vec<_>>>());
    match parts {
        Some(parts) => kept.pack = parts,
        None => left_out
            .push(LeftOut::new("commits", "git has them until it cleans up; there was no time or room for a copy")),
    }
}

/// What became of a name of git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct RefRow {
    pub(super) name: String,
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) act: RefAct,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub(super) enum RefAct {
    /// It is there, and leads to the same.
    Same,
    /// It was made again, or would be.
    Create,
    /// It leads elsewhere now; a person decides.
    Moved {
        /// The command that moves it back.
        command: String,
    },
    /// What it led to is gone.
    Lost,
    /// It could not be made.
    Failed,
}

/// Gives back the names of git that are gone. One that is there stays as it is. With `dry`, only looks.
pub(super) fn restore(kept: &KeptRefs, top: &Path, store: &ObjectStore, dry: bool, cx: &Context<'_>) -> Vec<RefRow> {
    if kept.is_empty() {
        return Vec::new();
    }
    let git = Asked { top, until: None, cx };
    let all = names(&git);
    let current = git.text(&["symbolic-ref", "-q", "HEAD"]);
    let there = stashes(&git);
    let mut rows = Vec::new();
    let has = |id: &str| git.bytes(&["cat-file", "-e", id], "").is_some();
    let ids = || kept.refs.iter().chain(&kept.stashes).map(|it| &it.id).chain(&kept.commits);
    if !kept.pack.is_empty() && ids().any(|id| !has(id)) && !dry {
        install(&git, kept, store);
    }
    let can = |id: &str| has(id) || dry && !kept.pack.is_empty();
    for it in &kept.refs {
        let act = match all.iter().find(|now| now.name == it.name) {
            Some(now) if now.id == it.id => RefAct::Same,
            Some(_) => RefAct::Moved { command: back(it, current.trim()) },
            None if !can(&it.id) => RefAct::Lost,
            None if dry => RefAct::Create,
            None => {
                let nothing = "0".repeat(it.id.len());
                let made = git.bytes(&["update-ref", "-m", "cru checkpoint restore", &it.name, &it.id, &nothing], "");
                made.map_or(RefAct::Failed, |_| RefAct::Create)
            }
        };
        rows.push(RefRow { name: it.name.clone(), id: it.id.clone(), act });
    }
    // Each goes on top, so the oldest comes first.
    for it in kept.stashes.iter().rev().filter(|it| !there.iter().any(|now| now.id == it.id)) {
        let act = match can(&it.id) {
            false => RefAct::Lost,
            true if dry => RefAct::Create,
            true => {
                git.bytes(&["stash", "store", "-m", &it.name, &it.id], "").map_or(RefAct::Failed, |_| RefAct::Create)
            }
        };
        rows.push(RefRow { name: format!("stash {}", it.name), id: it.id.clone(), act });
    }
    for id in kept.commits.iter().filter(|id| !can(id)) {
        rows.push(RefRow { name: "commit".to_owned(), id: id.clone(), act: RefAct::Lost });
    }
    rows
}

/// The command that moves a name back to where it was.
fn back(it: &KeptRef, current: &str) -> String {
    match it.name.strip_prefix("refs/heads/") {
        Some(_) if it.name == current => argv::join(&["git", "reset", "--keep", &it.id]),
        Some(branch) => argv::join(&["git", "branch", "-f", branch, &it.id]),
        None => argv::join(&["git", "update-ref", &it.name, &it.id]),
    }
}

/// Puts the objects of a copy into the repository, as a pack of its own.
fn install(git: &Asked<'_>, kept: &KeptRefs, store: &ObjectStore) -> Option<()> {
    let parts: Option<Vec<Vec<u8>>> = kept.pack.iter().map(|part| store.get(part)).collect();
    let bytes = parts?.concat();
    let dir = git.text(&["rev-parse", "--git-path", "objects/pack"]);
    let dir = git.top.join(dir.trim());
    let name = format!("pack-{}", blake3::hash(&bytes).to_hex().get(..40)?);
    let path = dir.join(format!("{name}.pack"));
    files::create(&path, &bytes).ok()?;
    git.bytes(&["index-pack", path.to_str()?], "").map(drop)
}
