//! A change of a settings file: shown, agreed to, written.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::place::SettingsPlace;
use super::record;
use crate::base::text::sanitise;
use crate::base::{Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, PlainOutput, View};

/// Whether it is written.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(in crate::commands) struct Consent {
    /// Show the change and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write it without asking
    #[arg(short, long, conflicts_with = "dry_run")]
    yes: bool,
}

impl Consent {
    /// Whether nothing is to be written at all.
    pub(in crate::commands) const fn is_dry_run(self) -> bool {
        self.dry_run
    }
}

/// A text and what it becomes; `None` for no file.
#[derive(Debug)]
pub(in crate::commands) struct Change {
    pub(in crate::commands) place: SettingsPlace,
    pub(in crate::commands) old: Option<String>,
    pub(in crate::commands) new: Option<String>,
    /// Other files that are changed beside the settings.
    pub(in crate::commands) beside: Vec<FileChange>,
}

/// A file's text and what it becomes; `None` for no file.
#[derive(Debug)]
pub(in crate::commands) struct FileChange {
    pub(in crate::commands) path: PathBuf,
    pub(in crate::commands) old: Option<String>,
    pub(in crate::commands) new: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct ChangeReport {
    schema: u32,
    settings: PathBuf,
    /// `written`, `unchanged`, `shown`.
    result: &'static str,
    /// In words.
    message: String,
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Change {
    /// Writes it if that is wanted. `done` and `already` say what it means.
    pub(in crate::commands) fn make(
        self,
        consent: Consent,
        done: &str,
        already: &str,
        cx: &Context<'_>,
    ) -> Result<ChangeReport> {
        let settings = FileChange { path: self.place.path.clone(), old: self.old.clone(), new: self.new.clone() };
        let is_changed = self.beside.iter().any(FileChange::is_change) || settings.is_change();
        let diff = settings.diff() + &self.beside.iter().map(FileChange::diff).collect::<String>();
        let report = |result, message: &str, backup| ChangeReport {
            schema: 1,
            settings: self.place.path.clone(),
            result,
            message: message.to_owned(),
            diff: diff.clone(),
            backup,
            notes: Vec::new(),
        };
        if !is_changed {
            return Ok(report("unchanged", already, None));
        }
        if consent.dry_run {
            return Ok(report("shown", "nothing was written", None));
        }
        let mut shown = false;
        if !consent.yes {
            cx.ui.note(&diff);
            match cx.ui.confirm("Write this?") {
                Some(true) => shown = true,
                Some(false) => return Err(Error::no("nothing was written")),
                None => {
                    return Err(Error::usage("not a terminal; pass --yes")
                        .with_hint("--dry-run shows the change and writes nothing"));
                }
            }
        }
        // Without the vault no event would arrive, so that is written first.
        for beside in self.beside.iter().filter(|beside| beside.is_change()) {
            beside.write()?;
        }
        let old = self.old.as_deref().filter(|_| settings.is_change());
        let backup = old.map(|old| record::back_up(&self.place, old, cx.env)).transpose()?;
        if settings.is_change() {
            settings.write()?;
        }
        let mut report = report("written", done, backup);
        if shown {
            report.diff.clear();
        }
        Ok(report)
    }
}

impl FileChange {
    fn is_change(&self) -> bool {
        self.old != self.new
    }

    fn write(&self) -> Result<()> {
        let path = &self.path;
        match (&self.old, &self.new) {
            (None, None) => Ok(()),
            (None, Some(new)) if files::create(path, new.as_bytes())? => Ok(()),
            (None, Some(_)) => Err(Error::Changed { path: path.clone() }),
            (Some(old), Some(new)) => files::replace(path, old.as_bytes(), new.as_bytes()),
            (Some(old), None) => files::remove_unchanged(path, old.as_bytes()),
        }
    }

    fn diff(&self) -> String {
        let (old, new) = (self.old.as_deref().unwrap_or(""), self.new.as_deref().unwrap_or(""));
        if old == new {
            return String::new();
        }
        let path = self.path.display().to_string();
        let name = |text: &Option<String>| if text.is_some() { path.clone() } else { "/dev/null".to_owned() };
        let diff = similar::TextDiff::from_lines(old, new);
        let mut unified = diff.unified_diff();
        sanitise(&unified.context_radius(2).header(&name(&self.old), &name(&self.new)).to_string()).into_owned()
    }
}

impl ChangeReport {
    /// With something a person should know.
    pub(in crate::commands) fn note(mut self, note: Option<String>) -> Self {
        self.notes.extend(note);
        self
    }

    pub(in crate::commands) fn is_written(&self) -> bool {
        self.result == "written"
    }
}

impl PlainOutput for ChangeReport {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        for line in self.diff.lines() {
            let style = match line.as_bytes() {
                [b'+', b'+', ..] | [b'-', b'-', ..] => style::DIM,
                [b'+', ..] => style::GOOD,
                [b'-', ..] => style::BAD,
                [b'@', ..] => style::CHANNEL,
                _ => anstyle::Style::new(),
            };
            let _ = writeln!(text, "{}", paint(style, line));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let path = sanitise(&self.settings.to_string_lossy()).into_owned();
        let _ = writeln!(text, "{path}: {}", self.message);
        if let Some(backup) = &self.backup {
            let _ = writeln!(text, "{}", paint(style::DIM, format!("What it was: {}", backup.display())));
        }
        for note in &self.notes {
            let _ = writeln!(text, "{} {}", paint(style::WARN, "note:"), sanitise(note));
        }
        text
    }
}
