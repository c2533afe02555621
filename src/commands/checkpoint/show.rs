//! `cru show cp-…`.

use std::fmt::Write as _;

use serde::Serialize;

use super::shelf::NamedCheckpoint;
use crate::base::Result;
use crate::base::text::{one_line, plural, sanitise};
use crate::commands::output::byte_size;
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::memory::checkpoint::{CopyManifest, ObjectStore, listing};
use crate::vault::State;

/// How a checkpoint is named.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct CheckpointOptions {
    /// A checkpoint of this session
    #[arg(long, value_name = "SESSION")]
    pub(super) session: Option<String>,
}

/// The id of a checkpoint where a word names one: `cp-20261116-101212`, `cp:latest`.
pub(in crate::commands) fn named(word: &str) -> Option<&str> {
    word.strip_prefix("cp:").or_else(|| word.starts_with("cp-").then_some(word))
}

impl CheckpointOptions {
    /// One that is given.
    pub(in crate::commands) fn given(&self) -> Option<&'static str> {
        self.session.as_ref().map(|_| "--session")
    }
}

/// A checkpoint, by its id or as `latest`: what was open, and which files its copy holds.
pub(in crate::commands) fn show(id: &str, args: &CheckpointOptions, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let state = State::there_or_not(&vault, cx.env);
    let named = NamedCheckpoint::find(id, args.session.as_deref(), &vault, &state, cx)?;
    let store = ObjectStore::of(state.dir());
    let callout = listing::written(&named.session).find(|it| it.id.as_deref() == Some(named.id.as_str()));
    let copy = named.copy().cloned();
    let damaged: Vec<String> = copy
        .iter()
        .flat_map(|copy| &copy.files)
        .filter_map(|file| {
            let hash = file.hash.as_deref()?;
            store.get(hash).is_none().then(|| file.path().to_owned())
        })
        .collect();
    let instead = (!damaged.is_empty() || copy.is_none()).then(|| named.before().map(|copy| copy.id.clone())).flatten();
    Ok(Box::new(ShownCheckpoint {
        schema: 1,
        session: named.target.id.clone(),
        id: named.id.clone(),
        title: callout.map(|it| it.title.clone()),
        text: callout.map(|it| it.body.clone()),
        elsewhere: copy.is_none() && callout.is_some_and(|it| it.field("Files").is_some()),
        copy,
        damaged,
        instead,
    }))
}

#[derive(Debug, Serialize)]
struct ShownCheckpoint {
    schema: u32,
    session: String,
    id: String,
    /// Title of its callout; none where the note has none.
    title: Option<String>,
    text: Option<String>,
    copy: Option<CopyManifest>,
    /// Whether the note tells of a copy that is not on this machine.
    elsewhere: bool,
    /// Files of the copy whose bytes are missing or others.
    damaged: Vec<String>,
    /// The checkpoint before it that has a copy, where this one's is not whole.
    instead: Option<String>,
}

impl PlainOutput for ShownCheckpoint {
    fn shown(&self, _: &View) -> String {
        let mut out =
            format!("{}  {}\n", paint(style::ID, &self.id), one_line(self.title.as_deref().unwrap_or_default()));
        let _ = writeln!(out, "session  {}", one_line(&self.session));
        for line in self.text.as_deref().unwrap_or_default().lines().filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(out, "{}", sanitise(line));
        }
        if let Some(copy) = &self.copy {
            let files = plural(copy.files.len() as u64, "file");
            let _ = writeln!(out, "\ncopy     {files}, {}", byte_size(copy.size()));
            for file in &copy.files {
                let mark = match (&file.hash, file.untracked, self.damaged.iter().any(|path| path == file.path())) {
                    (_, _, true) => paint(style::BAD, "damaged"),
                    (None, ..) => "not there".to_owned(),
                    (Some(_), true, _) => "not in git".to_owned(),
                    (Some(_), false, _) => "changed".to_owned(),
                };
                let _ = writeln!(out, "  {mark:<10}  {}", one_line(file.path()));
            }
            for it in copy.refs.refs.iter().chain(&copy.refs.stashes) {
                let _ = writeln!(out, "  {:<10}  {} at {}", "git", one_line(&it.name), one_line(&it.id));
            }
            for it in &copy.left_out {
                let _ = writeln!(out, "  left out    {}: {}", one_line(&it.path), it.words());
            }
            if copy.more_left_out > 0 {
                let _ = writeln!(out, "  left out    {} more", copy.more_left_out);
            }
        } else if self.elsewhere {
            let _ = writeln!(out, "\nthe copy is on another machine, or was removed");
        }
        if let Some(instead) = &self.instead {
            let _ = writeln!(out, "\nthe checkpoint before it with a copy: {instead}");
        }
        out
    }
}
