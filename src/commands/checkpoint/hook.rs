//! The hook before a tool's call: where the call takes something away, the files are copied first.
//!
//! It may take a second where the vault names no other time, and lets every call go: what it could not do stands in the callout or in the hooks'
//! log.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::make::{CopyTask, Making, top_of, unknown_to_git};
use super::refs;
use crate::action::tool::{self, Role, ToolKind};
use crate::base::files;
use crate::commands::Context;
use crate::live::hook::{Event, HookEntry, Host, Input};
use crate::memory::checkpoint::object::LARGEST;
use crate::memory::checkpoint::risk::{CallPlace, MANY_FILES, Risk, WorktreeRisk, of_call};
use crate::memory::checkpoint::{
    CheckpointKind, CopyLimits, CopyManifest, CopyShelf, LeftOut, ObjectStore, StoredPath,
};
use crate::session::mask::Masks;
use crate::vault::{State, Vault};

/// How long the copy of a risk may take, with what comes after it below a second.
const LIMIT: Duration = Duration::from_millis(850);

/// The longest that a vault may ask for.
const LONGEST: Duration = Duration::from_mins(1);

/// Bytes of the list of touched files that are looked at.
const LONGEST_LIST: u64 = 256 << 10;

/// Stands before the hash of what a call wrote, in the list of touched files.
const WRITTEN: &str = "=";

/// Stands between the files of two turns in the list of touched files.
const TURN: &str = "--";

/// What an event means for checkpoints, known before its input is given away.
pub(in crate::commands) struct Risky {
    what: RiskyEvent,
    cwd: PathBuf,
    /// Until when the copy may take.
    until: Instant,
}

enum RiskyEvent {
    Risk(Risk),
    Compaction(String),
}

impl Risky {
    /// Looks at an event; `None` where nothing is at risk. Keeps the list of the files that a turn's calls touch.
    pub(in crate::commands) fn of(
        host: &Host,
        event: Event,
        input: &Input,
        key: &str,
        vault: &Vault,
        state: &State,
        cx: &Context<'_>,
    ) -> Option<Self> {
        let limit = vault.config().checkpoint.limit_ms.map_or(LIMIT, Duration::from_millis);
        let until = Instant::now() + limit.min(LONGEST);
        let cwd = input.cwd()?;
        match event {
            Event::PreCompact => {
                let why = input.text("trigger").unwrap_or("the host shortens its conversation");
                let why = if why == "auto" { "the host's context is full" } else { why };
                return Some(Self { what: RiskyEvent::Compaction(why.to_owned()), cwd, until });
            }
            Event::Prompt => {
                let list = touched(state, key);
                if list.exists() {
                    // Only a mark of a list that is made anew with each session.
                    let _ = files::append_private(&list, format!("{TURN}\n").as_bytes());
                }
                return None;
            }
            Event::PreTool => {}
            _ => return None,
        }
        let name = input.text(host.fields.tool)?;
        let arguments = input.get(host.fields.tool_input)?.as_object()?;
        let kind = ToolKind::of(name);
        let mut many = None;
        if kind.writes_files()
            && let Some((_, path)) = tool::argument(name, arguments, Role::Path)
            && let Some(path) = path.as_str()
        {
            many = note_touched(&touched(state, key), &cwd.join(path))
                .then(|| Risk { title: format!("more than {MANY_FILES} files edited in one turn"), ..Risk::default() });
        }
        let place = CallPlace { cwd: &cwd, home: cx.env.home() };
        let risk = of_call(name, arguments, place, &|path| vault.config().checkpoint.paths.matches(path));
        risk.or(many).map(|risk| Self { what: RiskyEvent::Risk(risk), cwd, until })
    }

    /// Makes the checkpoint. The error in words, for the log.
    pub(in crate::commands) fn keep(self, key: &str, state: &State, cx: &Context<'_>) -> Result<(), String> {
        let until = self.until;
        let shelf = CopyShelf::of(state.dir(), key);
        let add = |manifest: &mut CopyManifest| shelf.add(manifest).map_err(|error| format!("checkpoint: {error}"));
        let risk = match self.what {
            RiskyEvent::Risk(risk) => risk,
            RiskyEvent::Compaction(why) => {
                let mut manifest = Making::new(CheckpointKind::Compaction, why, cx.env.now()).manifest;
                manifest.unwritten = true;
                return add(&mut manifest);
            }
        };
        let title = Masks::unnumbered().text(&risk.title).into_owned();
        let mut making = Making::new(CheckpointKind::Risk, title, cx.env.now());
        let limits = CopyLimits { until: Some(until), ..CopyLimits::default() };
        let written = Touched::of(state, key);
        let overwritten = unknown_to_git(&risk.overwritten, Some(until), cx);
        // What the session wrote itself is kept, and is nothing that a person has to be told of.
        let is_told = !risk.only_overwrites() || overwritten.iter().any(|file| !written.is_own(file));
        if risk.only_overwrites() && overwritten.is_empty() {
            return Ok(());
        }
        let folder = risk.folder.as_deref().unwrap_or(&self.cwd);
        let mut worktree = risk.worktree.clone();
        let mut named = [risk.named.as_slice(), &overwritten].concat();
        if !risk.unknown.is_empty() {
            let everything = WorktreeRisk { changed: true, untracked: true, ..WorktreeRisk::default() };
            match top_of(folder) {
                Some(_) => {
                    worktree = Some(worktree.map_or(everything, |risk| WorktreeRisk {
                        changed: true,
                        untracked: true,
                        paths: Vec::new(),
                        ..risk
                    }));
                }
                // A folder of a project, and not all that a person has.
                None if cx.env.home() != Some(folder) && folder.parent().is_some() => named.push(folder.to_owned()),
                None => {}
            }
        }
        if let (false, Some(top)) = (risk.refs.is_empty(), top_of(folder)) {
            let store = ObjectStore::of(state.dir());
            making.manifest.refs = refs::keep(top, &risk.refs, &store, Some(until), &mut making.manifest.left_out, cx);
        }
        let files = written.files();
        let task = CopyTask {
            folder,
            named: &named,
            worktree: worktree.as_ref(),
            written: &files,
            only_at_risk: risk.only_overwrites(),
        };
        let copied = making.copy(&task, limits, state, cx);
        if risk.only_worktree() && copied.complete && copied.at_risk == 0 && making.manifest.left_out.is_empty() {
            // Git has all of it.
            return Ok(());
        }
        for command in &risk.unknown {
            let path = Masks::unnumbered().text(command.trim_matches('`')).into_owned();
            making.manifest.left_out.push(LeftOut::new(path, "which files it names is not known"));
        }
        let mut manifest = making.manifest;
        manifest.unwritten = is_told;
        add(&mut manifest)
    }
}

/// What a hook does before a call; what went wrong, for the log.
pub(in crate::commands) fn before_call(
    risky: Option<Risky>,
    key: &str,
    state: &State,
    cx: &Context<'_>,
) -> Option<String> {
    risky.and_then(|risky| risky.keep(key, state, cx).err())
}

fn touched(state: &State, key: &str) -> PathBuf {
    state.dir().join("touched").join(key)
}

/// Notes a file that is about to be edited; whether that is the first of its turn above the number that is a risk.
fn note_touched(list: &Path, file: &Path) -> bool {
    let Some(line) = stored(file) else { return false };
    let text = files::read_regular(list, LONGEST_LIST).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let turn = text.lines().rev().take_while(|line| *line != TURN).filter(|line| !line.starts_with(WRITTEN));
    let mut turn: Vec<&str> = turn.collect();
    turn.sort_unstable();
    turn.dedup();
    if turn.binary_search(&line.as_str()).is_ok() {
        return false;
    }
    let _ = files::append_private(list, format!("{line}\n").as_bytes());
    turn.len() == MANY_FILES
}

/// Notes what a call of the session wrote.
pub(in crate::commands) fn note_written(entry: &HookEntry, key: &str, state: &State) {
    let list = touched(state, key);
    if entry.event == Event::PostTool.name() && list.exists() {
        let hashes = entry.files.iter().map(|file| &file.hash).filter(|hash| !hash.is_empty());
        let lines = hashes.fold(String::new(), |lines, hash| lines + WRITTEN + hash + "\n");
        // Without it a later write over the file is told of as one that takes something away.
        let _ = files::append_private(&list, lines.as_bytes());
    }
}

/// A path as a line of the list; one with a secret in it stands there in another form.
fn stored(file: &Path) -> Option<String> {
    let line = serde_json::to_string(&StoredPath::of(file, Path::new(""))).ok()?;
    let plain = file.to_str().filter(|text| !text.contains('\n') && !text.starts_with(['{', '=']));
    match plain {
        Some(plain) if !line.contains("\"raw\"") => Some(plain.to_owned()),
        _ => Some(line),
    }
}

/// What the calls of a session touched and wrote.
struct Touched {
    text: String,
}

impl Touched {
    fn of(state: &State, key: &str) -> Self {
        let bytes = files::read_regular(&touched(state, key), LONGEST_LIST).ok().flatten().unwrap_or_default();
        Self { text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// The files that are there.
    fn files(&self) -> Vec<PathBuf> {
        let lines = self.text.lines().filter(|line| *line != TURN && !line.starts_with(WRITTEN));
        let path = |line: &str| {
            if line.starts_with('{') {
                serde_json::from_str::<StoredPath>(line).ok().map(|stored| stored.real())
            } else {
                Some(PathBuf::from(line))
            }
        };
        let mut paths: Vec<PathBuf> = lines.filter_map(path).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| path.is_file());
        paths
    }

    /// Whether a file is as a call of the session wrote it.
    fn is_own(&self, file: &Path) -> bool {
        let Ok(Some(bytes)) = files::read_regular(file, LARGEST) else { return false };
        let hash = ObjectStore::name(&bytes);
        self.text
            .lines()
            .filter_map(|line| line.strip_prefix(WRITTEN))
            .any(|own| own.len() >= 8 && hash.starts_with(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fifty_first_file_of_a_turn() {
        let temp = tempfile::tempdir().unwrap();
        let list = temp.path().join("list");
        let file = |number: usize| PathBuf::from(format!("/w/{number}"));
        assert!((0..50).all(|number| !note_touched(&list, &file(number))));
        assert!(!note_touched(&list, &file(7)), "one that was touched already");
        assert!(note_touched(&list, &file(50)));
        assert!(!note_touched(&list, &file(51)), "once a turn");
        files::append_private(&list, b"--\n").unwrap();
        assert!(!note_touched(&list, &file(52)));
    }
}
