//! `cru diff cp-…`.

use super::shelf::NamedCheckpoint;
use super::show::CheckpointOptions;
use crate::base::text::sanitise;
use crate::base::{Error, Result, files};
use crate::commands::{Context, Output, View, reading};
use crate::memory::checkpoint::ObjectStore;
use crate::vault::State;

/// How the files of a checkpoint's copy differ from what is there now: all, one, or those below a folder.
pub(in crate::commands) fn diff(
    id: &str,
    path: Option<&str>,
    args: &CheckpointOptions,
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let state = State::there_or_not(&vault, cx.env);
    let named = NamedCheckpoint::find(id, args.session.as_deref(), &vault, &state, cx)?;
    let copy = named.needed()?;
    let store = ObjectStore::of(state.dir());
    let below = |own: &str| {
        path.is_none_or(|only| {
            let only = only.trim_start_matches("./").trim_end_matches('/');
            own == only || own.strip_prefix(only).is_some_and(|rest| rest.starts_with('/'))
        })
    };
    let mut diff = String::new();
    let mut found = false;
    for file in copy.files.iter().filter(|file| below(file.path())) {
        found = true;
        let old = match &file.hash {
            Some(hash) => store.get(hash),
            None => Some(Vec::new()),
        };
        let Some(old) = old else {
            cx.ui.warn(&format!("the copy of {} is damaged", file.path()));
            continue;
        };
        let place = copy.place(&file.at).unwrap_or_default();
        let new = match std::fs::read_link(&place) {
            Ok(target) => target.as_os_str().as_encoded_bytes().to_vec(),
            // Bytes of a file that are compared.
            Err(_) => files::read_regular(&place, 8 << 20).ok().flatten().unwrap_or_default(),
        };
        if old == new {
            continue;
        }
        let name = sanitise(file.path());
        match (std::str::from_utf8(&old), std::str::from_utf8(&new)) {
            (Ok(old), Ok(new)) => {
                let lines = similar::TextDiff::from_lines(old, new);
                let (from, to) = (format!("{} {name}", copy.id), format!("now {name}"));
                diff.push_str(&lines.unified_diff().context_radius(3).header(&from, &to).to_string());
            }
            _ => diff.push_str(&format!("{name}: {} and {} bytes, no text\n", old.len(), new.len())),
        }
    }
    if !found {
        return Err(Error::no(format!("the copy of {} has no such file", named.id)));
    }
    Ok(Box::new(CheckpointDiff { id: named.id, diff }))
}

struct CheckpointDiff {
    id: String,
    diff: String,
}

impl Output for CheckpointDiff {
    fn text(&self, _: &View) -> String {
        if self.diff.is_empty() {
            return format!("no file differs from {}\n", self.id);
        }
        self.diff.lines().flat_map(|line| [sanitise(line), "\n".into()]).collect()
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::json!({ "schema": 1, "id": self.id, "diff": self.diff }))
    }
}
