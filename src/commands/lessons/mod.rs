//! `cru lessons`: what readings and people have learned, and the way into a file that agents read.

mod add;
mod change;
pub(in crate::commands) mod told;
pub(in crate::commands) mod verdict;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

pub(super) use self::add::accept;
pub(super) use self::change::{check, show};
use super::output::style::{self, paint};
use super::read::Shelf;
use super::{Context, Output, PlainOutput, Reach, View, reading};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result, files};
use crate::note::edit::ChangedPage;
use crate::readings::answer::LessonLevel;
use crate::readings::lesson::{Lesson, REGION, region};
use crate::vault::{Catalog, Vault, page};

/// Commands on lessons.
#[derive(Debug, clap::Subcommand)]
pub enum LessonsCommand {
    Add(add::AddArgs),
    Retire(change::RetireArgs),
    Apply(ApplyArgs),
}

/// Write accepted lessons into a file that agents read
///
/// They stand between `<!-- cru:begin lessons -->` and `<!-- cru:end -->`, 40 lines at most; nothing else of the file changes, and
/// lines that you write between them are kept below. Lessons that are accepted no more are taken out. The change is shown first; `--yes` writes it without a question. Only lessons of
/// the project that the file lies in, and those of no project.
#[derive(Debug, clap::Args)]
pub struct ApplyArgs {
    /// The file; made if it is missing
    #[arg(long, value_name = "FILE", default_value = "AGENTS.md")]
    to: PathBuf,
    /// Lessons of all projects
    #[arg(long, alias = "all-projects")]
    all: bool,
    /// Write without a question
    #[arg(short, long)]
    yes: bool,
    /// Show the change and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl LessonsCommand {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Add(args) => add::add(&args, cx),
            Self::Retire(args) => change::retire(&args, cx),
            Self::Apply(args) => {
                let vault = reading::vault(cx)?;
                apply(&args, &vault, cx)
            }
        }
    }
}

fn apply(args: &ApplyArgs, vault: &Vault, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    // Agents read what is written there.
    let shelf = Shelf::within(&Catalog::read(vault), vault, Reach::Shared);
    let path = cx.absolute(&args.to);
    let folder = cx.env.at(path.parent().unwrap_or(&path)).folder();
    let meant = |lesson: &&Lesson| {
        let own = |project: &str| folder == project || folder.starts_with(&format!("{project}/"));
        args.all
            || !matches!(lesson.level, LessonLevel::Project | LessonLevel::Task)
            || lesson.project.as_deref().is_none_or(own)
    };
    let lessons: Vec<&Lesson> = shelf.lessons.iter().map(|it| &it.lesson).filter(meant).collect();
    let lines = region(&lessons);
    let with_lessons = |old: Option<&[u8]>| {
        let mut page = ChangedPage::new(old.unwrap_or_default().to_vec());
        let filled = page.fill(&lines.fill(), &|seal| page::generated(vault, seal));
        filled.map_err(|error| page::unfilled(&path.display().to_string(), REGION, &error))?;
        Ok::<_, Error>(page)
    };
    let old = if path.exists() { Some(files::read(&path)?) } else { None };
    let page = with_lessons(old.as_deref())?;
    let text = String::from_utf8_lossy(old.as_deref().unwrap_or_default());
    let new = String::from_utf8_lossy(&page.bytes);
    let diff = similar::TextDiff::from_lines(text.as_ref(), new.as_ref());
    let diff = diff.unified_diff().context_radius(2).header("as it is", "with lessons").to_string();
    let mut applied = AppliedLessons {
        schema: 1,
        file: args.to.display().to_string(),
        written: lines.written,
        left_out: lines.left_out,
        changed: page.bytes != old.as_deref().unwrap_or_default(),
        applied: false,
        diff,
    };
    if !applied.changed || args.dry_run {
        return Ok(Box::new(applied));
    }
    if !args.yes {
        for line in applied.diff.lines() {
            cx.ui.note(&sanitise(line));
        }
        match cx.ui.confirm(&format!("write {}?", args.to.display())) {
            Some(true) => applied.diff.clear(),
            Some(false) => return Ok(Box::new(applied)),
            None => return Err(Error::usage("not a terminal; pass --yes").with_hint("`--dry-run` shows the change")),
        }
    }
    // What was shown is what is written.
    applied.applied = page::change(vault, &path, |now| {
        if now == old.as_deref() { Ok(page.clone()) } else { Err(Error::Changed { path: path.clone() }) }
    })?;
    Ok(Box::new(applied))
}

#[derive(Debug, Serialize)]
struct AppliedLessons {
    schema: u32,
    file: String,
    written: usize,
    left_out: usize,
    changed: bool,
    applied: bool,
    diff: String,
}

impl PlainOutput for AppliedLessons {
    fn shown(&self, _: &View) -> String {
        let mut out = style::diff(&self.diff, "");
        let lessons = plural(self.written as u64, "lesson");
        let end = match (self.changed, self.applied) {
            (false, _) => "as it was",
            (true, true) => "written",
            (true, false) => "not written",
        };
        let _ = writeln!(out, "{}: {lessons}, {end}", paint(style::ID, sanitise(&self.file)));
        if self.left_out > 0 {
            let _ = writeln!(
                out,
                "{} do not fit into {} lines",
                plural(self.left_out as u64, "lesson"),
                crate::readings::lesson::MAX_LINES
            );
        }
        out
    }
}
