//! `cru import --again`: notes that were imported before, written anew.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use serde::Serialize;

use super::{Args, ImportBar};
use crate::base::text::{note_name, plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::reading as notes;
use crate::commands::{Context, Output, PlainOutput, View};
use crate::session::fold;
use crate::sync::import::Machine;
use crate::sync::import::again::{AgainNote, AgainOptions, UNSEALED, again};
use crate::vault::{Catalog, State, Vault, VaultPath};

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = Vault::find(cx.vault_arg(), cx.env)?;
    let wanted = wanted(&args.what, &vault, cx)?;
    let state = if args.dry_run { State::there_or_not(&vault, cx.env) } else { State::of(&vault, cx.env)? };
    let machine = Machine { state, now: cx.env.now() };
    let options = AgainOptions {
        fold: fold::Options {
            thinking: args.thinking,
            no_redact: args.no_redact,
            level: vault.config().import.detail,
            patches: args.keep_evidence.unwrap_or(vault.config().import.keep_evidence).keeps_writes(),
        },
        level: args.detail,
        choice: args.filter.read(&vault, cx.env)?,
        trust: args.trust,
    };
    let mut shown = false;
    let watch = ImportBar { ui: cx.ui, bar: Mutex::new(None) };
    // Who trusts sees all of it.
    let verbose = cx.global.verbose > 0 || args.trust;
    let done = again(&vault, cx.env, &machine, &wanted, &options, &watch, &mut |found| {
        watch.end();
        if args.dry_run {
            return Ok(false);
        }
        if !args.yes {
            cx.ui.note(&AgainReport::of(found, false, verbose).diffs());
            match cx.ui.confirm("Write this?") {
                Some(true) => shown = true,
                Some(false) => return Err(Error::no("nothing was written")),
                None => {
                    return Err(Error::usage("not a terminal; pass --yes")
                        .with_hint("--dry-run shows the changes and writes nothing"));
                }
            }
        }
        Ok(true)
    })?;
    drop(watch);
    if !args.dry_run && done.iter().any(AgainNote::is_changed) {
        notes::refresh(&vault, None, cx);
    }
    Ok(Box::new(AgainReport { hide: shown, ..AgainReport::of(&done, !args.dry_run, verbose) }))
}

/// The notes that are named; all sessions that were imported where none is.
fn wanted(names: &[PathBuf], vault: &Vault, cx: &Context<'_>) -> Result<Vec<VaultPath>> {
    let catalog = Catalog::read(vault);
    if names.is_empty() {
        let imported = catalog.sessions().filter(|head| head.meta.host_session.is_some() && head.meta.cursor.is_some());
        return Ok(imported.map(|head| head.path.clone()).collect());
    }
    let find = |name: &PathBuf| {
        let head = catalog.session(&name.to_string_lossy(), vault, cx.env)?;
        if head.meta.host_session.is_none() || head.meta.cursor.is_none() {
            return Err(Error::usage(format!("{} was not imported", head.path))
                .with_hint("--again rewrites notes that `cru import` made"));
        }
        Ok(head.path.clone())
    };
    names.iter().map(find).collect()
}

/// What was done to the notes.
#[derive(Debug, Serialize)]
struct AgainReport {
    schema: u32,
    /// Whether it was written.
    written: bool,
    /// Notes whose text changes.
    rewritten: Vec<RewrittenRow>,
    /// Notes that say already what they would say.
    unchanged: usize,
    /// Notes that cannot be written anew.
    left: Vec<LeftRow>,
    #[serde(skip)]
    hide: bool,
    #[serde(skip)]
    verbose: bool,
}

#[derive(Debug, Serialize)]
struct RewrittenRow {
    note: String,
    added: usize,
    removed: usize,
    /// Whether the transcript is gone and was read from the copies in `evidence/`.
    from_evidence: bool,
    diff: String,
}

#[derive(Debug, Serialize)]
struct LeftRow {
    note: String,
    reason: String,
}

impl AgainReport {
    fn of(done: &[AgainNote], written: bool, verbose: bool) -> Self {
        let row = |it: &AgainNote| {
            let diff = similar::TextDiff::from_lines(&it.before, &it.after);
            let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
            RewrittenRow {
                note: it.note.clone(),
                added: count(similar::ChangeTag::Insert),
                removed: count(similar::ChangeTag::Delete),
                from_evidence: it.from_evidence,
                diff: crate::commands::output::note_diff(&it.before, &it.after, 1),
            }
        };
        let left = |it: &AgainNote| Some(LeftRow { note: it.note.clone(), reason: it.left.clone()? });
        Self {
            schema: 1,
            written,
            rewritten: done.iter().filter(|it| it.is_changed()).map(row).collect(),
            unchanged: done.iter().filter(|it| !it.is_changed() && it.left.is_none()).count(),
            left: done.iter().filter_map(left).collect(),
            hide: false,
            verbose,
        }
    }

    fn diffs(&self) -> String {
        let mut text = String::new();
        // Notes whose changes are shown in full; of more, how many lines change.
        let all = self.verbose || self.rewritten.len() <= 20;
        for row in &self.rewritten {
            let source = if row.from_evidence { ", from evidence/" } else { "" };
            let counts = format!("+{} −{}{source}", row.added, row.removed);
            let _ =
                writeln!(text, "{}  {}", paint(style::ID, sanitise(note_name(&row.note))), paint(style::DIM, counts));
            if all {
                text.push_str(&style::diff(&row.diff, "    "));
            }
        }
        if !all {
            let _ = writeln!(text, "{}", paint(style::DIM, "-v shows the changed lines"));
        }
        text
    }
}

impl PlainOutput for AgainReport {
    fn shown(&self, _: &View) -> String {
        let mut text = if self.hide { String::new() } else { self.diffs() };
        if !self.left.is_empty() {
            let _ = writeln!(text, "{}", paint(style::TITLE, "Left as they are"));
            for row in &self.left {
                let _ = writeln!(
                    text,
                    "  {}  {}",
                    paint(style::ID, sanitise(note_name(&row.note))),
                    paint(style::DIM, sanitise(&row.reason))
                );
            }
        }
        let verb = if self.written { "rewritten" } else { "would be rewritten" };
        let _ = write!(text, "{} {verb}", plural(self.rewritten.len() as u64, "note"));
        if self.unchanged > 0 {
            let _ = write!(text, ", {} unchanged", self.unchanged);
        }
        if !self.left.is_empty() {
            let _ = write!(text, ", {} left as they are", self.left.len());
        }
        text.push('\n');
        if self.left.iter().any(|row| row.reason == UNSEALED) {
            text.push_str("hint: `cru import --again --trust` shows what would be written anew in notes without seals, and asks\n");
        }
        if self.written && !self.rewritten.is_empty() {
            text.push_str("`cru undo` takes the changes of a note back\n");
        }
        text
    }
}
