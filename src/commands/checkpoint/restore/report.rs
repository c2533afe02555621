//! What a restore did, or would do.

use std::fmt::Write as _;

use serde::Serialize;

use crate::action::argv;
use crate::base::text::{one_line, plural};
use crate::commands::checkpoint::refs::{RefAct, RefRow};
use crate::commands::{PlainOutput, View};
use crate::memory::checkpoint::LeftOut;
use crate::memory::checkpoint::restore::{EntryKind, RestoreAct, RestoreRow};

/// Files that the copy is without, which are named one by one.
const LEFT_OUT: usize = 20;

#[derive(Debug, Serialize)]
pub(super) struct FailedRow {
    pub(super) path: String,
    pub(super) why: String,
}

/// Where bytes of a file are kept beside the copy.
#[derive(Debug, Serialize)]
pub(super) struct KeptElsewhere {
    pub(super) path: String,
    /// Checkpoints, newest first, and git.
    pub(super) places: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Restored {
    schema: u32,
    pub(super) id: String,
    session: String,
    dry_run: bool,
    pub(super) rows: Vec<RestoreRow>,
    /// Names of git.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) refs: Vec<RefRow>,
    pub(super) failed: Vec<FailedRow>,
    /// Where else there are bytes of files that were not put back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) elsewhere: Vec<KeptElsewhere>,
    /// What the copy is without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<LeftOut>,
    /// The command that takes it back.
    pub(super) undo: Option<String>,
    /// The checkpoint before it with a copy, where this one is damaged.
    pub(super) instead: Option<String>,
}

impl Restored {
    pub(super) fn of(id: &str, session: &str, dry_run: bool, rows: Vec<RestoreRow>) -> Self {
        Self { schema: 1, id: id.to_owned(), session: session.to_owned(), dry_run, rows, ..Self::default() }
    }

    /// Files that were written or removed.
    pub(super) fn done(&self) -> u64 {
        let planned = self.rows.iter().filter(|row| row.changes() && row.kind != EntryKind::Folder).count();
        planned.saturating_sub(self.failed.len()) as u64
    }

    /// Whether the copy has no bytes of a file, or wrong ones.
    pub(super) fn is_damaged(&self) -> bool {
        self.rows.iter().any(|row| row.act == RestoreAct::Damaged)
    }

    /// The command that goes on with a file.
    fn command(&self, row: &RestoreRow, option: &str) -> String {
        let path = row.at.real();
        let path = path.to_str().unwrap_or(&row.path);
        let end = if path.starts_with('-') { " --" } else { "" };
        format!("`cru checkpoint restore {}{option}{end} {}`", self.id, one_line(&argv::join(&[path])))
    }

    fn row(&self, row: &RestoreRow) -> Option<String> {
        let path = one_line(&row.path);
        Some(match &row.act {
            RestoreAct::Create => format!("create   {path}"),
            RestoreAct::Replace => format!("replace  {path}"),
            RestoreAct::Mode => format!("mode     {path}: {:o} again", row.mode.unwrap_or_default()),
            RestoreAct::Delete => format!("delete   {path}"),
            RestoreAct::New => format!("stays    {path}: it was not there"),
            RestoreAct::Foreign => {
                format!("refused  {path}: somebody else changed it; {} overwrites it", self.command(row, " --force"))
            }
            RestoreAct::Damaged => format!("refused  {path}: its copy is damaged"),
            RestoreAct::Blocked { why } => {
                format!("refused  {path}: {why}; {} puts it elsewhere", self.command(row, " --into DIR"))
            }
            RestoreAct::Outside => {
                format!("refused  {path}: it lies outside of the project; {} restores it", self.command(row, ""))
            }
            RestoreAct::Same => return None,
        })
    }
}

impl PlainOutput for Restored {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for line in self.rows.iter().filter_map(|row| self.row(row)) {
            let _ = writeln!(out, "{line}");
        }
        for row in &self.refs {
            let (name, id) = (one_line(&row.name), row.id.get(..8).unwrap_or(&row.id));
            let _ = match &row.act {
                RefAct::Same => Ok(()),
                RefAct::Create => writeln!(out, "create   {name} at {id}"),
                RefAct::Moved { command } => {
                    writeln!(out, "stays    {name}: it was at {id}; `{}` moves it there", one_line(command))
                }
                RefAct::Lost => writeln!(out, "refused  {name}: git does not have {id} any more"),
                RefAct::Failed => writeln!(out, "failed   {name}: git did not make it; it was at {}", row.id),
            };
        }
        for it in &self.failed {
            let _ = writeln!(out, "failed   {}: {}", one_line(&it.path), one_line(&it.why));
        }
        for it in &self.elsewhere {
            let _ = writeln!(out, "{} is also kept in: {}", one_line(&it.path), it.places.join(", "));
        }
        for it in self.left_out.iter().take(LEFT_OUT) {
            let _ = writeln!(out, "no copy  {}: {}", one_line(&it.path), it.words());
        }
        if self.left_out.len() > LEFT_OUT {
            let more = self.left_out.len() - LEFT_OUT;
            let _ = writeln!(out, "no copy  of {more} more: `cru show {}` names them", self.id);
        }
        let same = self.rows.iter().filter(|row| row.act == RestoreAct::Same).count();
        if same > 0 {
            let _ = writeln!(out, "{} as in the copy", plural(same as u64, "file"));
        }
        if let Some(instead) = &self.instead {
            let _ = writeln!(out, "the checkpoint before {} with a copy is {instead}", self.id);
        }
        if !self.failed.is_empty() {
            let files = plural(self.failed.len() as u64, "file");
            let _ = writeln!(out, "{files} not restored; once that is mended: cru checkpoint restore {}", self.id);
        }
        let is_refused = self.rows.iter().any(|row| row.act.is_refusal());
        match (&self.undo, self.dry_run) {
            (Some(undo), _) => {
                let _ = writeln!(out, "Restored {} of {}. Undo: {undo}", plural(self.done(), "file"), self.id);
            }
            (None, true) => out.push_str("nothing was written (--dry-run)\n"),
            (None, false) if self.done() > 0 => {
                let _ = writeln!(out, "Wrote {} of {}.", plural(self.done(), "file"), self.id);
            }
            (None, false) if self.refs.iter().any(|row| row.act == RefAct::Create) => {}
            (None, false) if is_refused => {
                let _ = writeln!(out, "nothing of {} was written", self.id);
            }
            (None, false) => out.push_str("nothing to write\n"),
        }
        out
    }

    /// 3 where something could not be written, 1 where something was refused.
    fn code(&self) -> u8 {
        let is_failed = !self.failed.is_empty() || self.refs.iter().any(|row| row.act == RefAct::Failed);
        let is_refused =
            self.rows.iter().any(|row| row.act.is_refusal()) || self.refs.iter().any(|row| row.act == RefAct::Lost);
        if is_failed { 3 } else { u8::from(is_refused) }
    }
}
