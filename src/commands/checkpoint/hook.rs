//! The hook before a tool's call: where the call takes something away, the files are copied first.
//!
//! It may take a second and no more, and lets every call go: what it could not do stands in the callout or in the hooks'
//! log.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::make::Making;
use crate::action::tool::{self, Role, ToolKind};
use crate::base::files;
use crate::commands::Context;
use crate::live::hook::{Event, Host, Input};
use crate::memory::checkpoint::risk::{CallPlace, MANY_FILES, Risk, of_call};
use crate::memory::checkpoint::{CheckpointKind, CopyLimits, CopyShelf, LeftOut};
use crate::session::mask::Masks;
use crate::vault::{State, Vault};

/// How long the copy of a risk may take, with what comes after it below a second.
const LIMIT: Duration = Duration::from_millis(850);

/// Bytes of the list of touched files that are looked at.
const LONGEST_LIST: u64 = 256 << 10;

/// Stands between the files of two turns in the list of touched files.
const TURN: &str = "--";

/// What an event means for checkpoints, known before its input is given away.
pub(in crate::commands) struct Risky {
    what: RiskyEvent,
    cwd: PathBuf,
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
        let cwd = input.cwd()?;
        match event {
            Event::PreCompact => {
                let why = input.text("trigger").unwrap_or("the host shortens its conversation");
                let why = if why == "auto" { "the host's context is full" } else { why };
                return Some(Self { what: RiskyEvent::Compaction(why.to_owned()), cwd });
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
        risk.or(many).map(|risk| Self { what: RiskyEvent::Risk(risk), cwd })
    }

    /// Makes the checkpoint. The error in words, for the log.
    pub(in crate::commands) fn keep(self, key: &str, state: &State, cx: &Context<'_>) -> Result<(), String> {
        let until = Instant::now() + LIMIT;
        let kind = match &self.what {
            RiskyEvent::Risk(_) => CheckpointKind::Risk,
            RiskyEvent::Compaction(_) => CheckpointKind::Compaction,
        };
        let title = match &self.what {
            RiskyEvent::Risk(risk) => Masks::unnumbered().text(&risk.title).into_owned(),
            RiskyEvent::Compaction(why) => why.clone(),
        };
        let mut making = Making::new(kind, title, cx.env.now());
        if let RiskyEvent::Risk(risk) = &self.what {
            let limits = CopyLimits { until: Some(until), ..CopyLimits::default() };
            let written = known_touched(&touched(state, key));
            making.copy(
                risk.folder.as_deref().unwrap_or(&self.cwd),
                &risk.named,
                risk.ignored,
                &written,
                limits,
                state,
                cx,
            );
            for command in &risk.unknown {
                let why = "the folder that it works in is not known".to_owned();
                let path = Masks::unnumbered().text(command.trim_matches('`')).into_owned();
                making.manifest.left_out.push(LeftOut { path, why });
            }
        }
        let mut manifest = making.manifest;
        manifest.unwritten = true;
        CopyShelf::of(state.dir(), key).add(&mut manifest).map_err(|error| format!("checkpoint: {error}"))
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
    let Some(line) = file.to_str().filter(|line| !line.contains('\n')) else { return false };
    let text = files::read_regular(list, LONGEST_LIST).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut turn: Vec<&str> = text.lines().rev().take_while(|line| *line != TURN).collect();
    turn.sort_unstable();
    turn.dedup();
    if turn.binary_search(&line).is_ok() {
        return false;
    }
    let _ = files::append_private(list, format!("{line}\n").as_bytes());
    turn.len() == MANY_FILES
}

/// The files that calls of the session touched.
fn known_touched(list: &Path) -> Vec<PathBuf> {
    let text = files::read_regular(list, LONGEST_LIST).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut paths: Vec<PathBuf> = text.lines().filter(|line| *line != TURN).map(PathBuf::from).collect();
    paths.sort();
    paths.dedup();
    paths.retain(|path| path.is_file());
    paths
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
