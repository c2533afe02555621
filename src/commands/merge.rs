//! `cru admin merge`.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::check::quoted;
use super::output::style;
use super::{Context, Output, PlainOutput, View};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::vault::{Catalog, Head, State, Vault};

/// Merge a copy of a note into the note
///
/// For the copies that a sync service leaves where two machines wrote one note; `cru check` and `cru status` name them.
/// Steps and other blocks are known by their id, else by their text: each stands in the note once. Where this machine
/// knows what both were made of, a change or deletion on one side is made; else what either has stays. A block that both
/// changed keeps the note's text, and the copy's becomes a `[!conflict]` callout behind it. The copy is then moved to
/// `.trash/`. `cru undo` takes the changes of the note back.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The note that stays: a path or a session
    note: String,
    /// The copy: a path
    copy: PathBuf,
    /// Show the changes and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let catalog = Catalog::read(&vault);
    let head = catalog.session(&args.note, &vault, cx.env)?;
    let copy = catalog.session(&args.copy.to_string_lossy(), &vault, cx.env)?;
    if head.path == copy.path {
        return Err(Error::usage("the note and the copy are one file"));
    }
    if catalog.conflict_copies().any(|(it, of)| it.path == head.path && of.path == copy.path) {
        return Err(Error::usage(format!("{} is the copy of {}", head.path, copy.path)).with_hint(format!(
            "cru admin merge {} {}",
            quoted(&copy.path),
            quoted(&head.path)
        )));
    }
    if !is_same_session(head, copy) {
        return Err(Error::usage(format!("{} is another session than {}", copy.path, head.path))
            .with_hint("a copy has the `session_id` of the note"));
    }
    let state = if args.dry_run { State::there_or_not(&vault, cx.env) } else { State::of(&vault, cx.env)? };
    let merged = crate::sync::merge::merge(&vault, &state, cx.env.now(), head, &copy.path, args.dry_run)?;
    Ok(Box::new(MergeReport {
        schema: 1,
        note: head.path.to_string(),
        copy: copy.path.to_string(),
        three_way: merged.has_base,
        moved: merged.moved.map(|path| path.to_string()),
        diff: super::output::note_diff(&merged.before, &merged.after, 1),
        missing: crate::session::public::text(&merged.missing.join("\n")).lines().map(str::to_owned).collect(),
    }))
}

fn is_same_session(one: &Head, other: &Head) -> bool {
    let same = |one: Option<&str>, other: Option<&str>| one.is_some() && one == other;
    same(one.meta.session_id.as_deref(), other.meta.session_id.as_deref())
        || (one.meta.host == other.meta.host
            && same(one.meta.host_session.as_deref(), other.meta.host_session.as_deref()))
}

#[derive(Debug, Serialize)]
struct MergeReport {
    schema: u32,
    note: String,
    copy: String,
    /// Whether three versions were compared.
    three_way: bool,
    /// Where the copy is now; absent when nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<String>,
    diff: String,
    /// Lines of the copy that are not in the note.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

impl PlainOutput for MergeReport {
    fn shown(&self, _: &View) -> String {
        let verb = if self.moved.is_some() { "merged" } else { "would merge" };
        let versions = if self.three_way { "three versions" } else { "two versions" };
        let mut text = format!("{verb} {} into {} ({versions})\n", sanitise(&self.copy), sanitise(&self.note));
        text.push_str(&style::diff(&self.diff, "    "));
        if !self.missing.is_empty() {
            let _ = writeln!(text, "{} of the copy not in the note:", plural(self.missing.len() as u64, "line"));
            for line in &self.missing {
                let _ = writeln!(text, "    {}", sanitise(line));
            }
        }
        if let Some(moved) = &self.moved {
            let _ = writeln!(text, "the copy is in {}; `cru undo` takes the changes of the note back", sanitise(moved));
        }
        text
    }
}
