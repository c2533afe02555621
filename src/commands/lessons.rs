//! `cru lessons`: what readings and people have learned, and the way into a file that agents read.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::output::style::{self, paint};
use super::output::{Align, Cell, Table};
use super::read::Shelf;
use super::{Context, Output, View, reading};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result, files};
use crate::readings::answer::LessonLevel;
use crate::readings::lesson::{Lesson, region};
use crate::readings::note::ReviewStatus;
use crate::vault::Catalog;

/// Commands on lessons.
#[derive(Debug, clap::Subcommand)]
pub enum LessonsCommand {
    List(ListArgs),
    Apply(ApplyArgs),
}

/// List lessons
#[derive(Debug, clap::Args)]
pub struct ListArgs {
    /// Only of this level
    #[arg(long, value_parser = ["project", "task", "user", "model", "tool", "skill", "subagent"], value_name = "LEVEL")]
    level: Option<String>,
    /// Only of this status
    #[arg(long, value_parser = ["proposed", "accepted", "rejected"], value_name = "STATUS")]
    status: Option<String>,
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
    #[arg(long)]
    all_projects: bool,
    /// Write without a question
    #[arg(short, long)]
    yes: bool,
    /// Show the change and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl LessonsCommand {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        let vault = reading::vault(cx)?;
        let shelf = Shelf::read(&Catalog::read(&vault), &vault);
        match self {
            Self::List(args) => Ok(Box::new(list(&args, shelf))),
            Self::Apply(args) => apply(&args, &shelf, cx),
        }
    }
}

fn list(args: &ListArgs, shelf: Shelf) -> LessonList {
    let level = args.level.as_deref().and_then(LessonLevel::parse);
    let status = args.status.as_deref().and_then(ReviewStatus::parse);
    let all = shelf.lessons.len();
    let mut lessons: Vec<Lesson> = shelf.lessons.into_iter().map(|it| it.lesson).collect();
    lessons.retain(|it| level.is_none_or(|level| it.level == level) && status.is_none_or(|status| it.status == status));
    LessonList { schema: 1, all, lessons }
}

fn apply(args: &ApplyArgs, shelf: &Shelf, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let path = cx.absolute(&args.to);
    let folder = cx.env.at(path.parent().unwrap_or(&path)).folder();
    let meant = |lesson: &&Lesson| {
        let own = |project: &str| folder == project || folder.starts_with(&format!("{project}/"));
        args.all_projects
            || !matches!(lesson.level, LessonLevel::Project | LessonLevel::Task)
            || lesson.project.as_deref().is_none_or(own)
    };
    let lessons: Vec<&Lesson> = shelf.lessons.iter().map(|it| &it.lesson).filter(meant).collect();
    let lines = region(&lessons);
    let old = if path.exists() { Some(files::read(&path)?) } else { None };
    let text = String::from_utf8(old.clone().unwrap_or_default())
        .map_err(|_| Error::usage(format!("{} is no UTF-8 text", path.display())))?;
    let patch = lines.patch(&text).map_err(|_| {
        Error::usage(format!("the marks in {} are broken", path.display())).with_hint(
            "correct `<!-- cru:begin lessons -->` and `<!-- cru:end -->`, each once and on a line of its own",
        )
    })?;
    let new = patch.apply_to(&text);
    let diff = similar::TextDiff::from_lines(&text, &new);
    let diff = diff.unified_diff().context_radius(2).header("as it is", "with lessons").to_string();
    let mut applied = AppliedLessons {
        schema: 1,
        file: args.to.display().to_string(),
        written: lines.written,
        left_out: lines.left_out,
        changed: !patch.is_empty(),
        applied: false,
        diff,
    };
    if patch.is_empty() || args.dry_run {
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
    match old {
        Some(old) => files::replace(&path, &old, new.as_bytes())?,
        None if files::create(&path, new.as_bytes())? => {}
        None => return Err(Error::Changed { path }),
    }
    applied.applied = true;
    Ok(Box::new(applied))
}

#[derive(Debug, Serialize)]
struct LessonList {
    schema: u32,
    /// Lessons of the vault.
    all: usize,
    lessons: Vec<Lesson>,
}

impl Output for LessonList {
    fn text(&self, view: &View) -> String {
        if self.lessons.is_empty() {
            return format!("None of {} is meant.\n", plural(self.all as u64, "lesson"));
        }
        let heads = ["ID", "STATUS", "LEVEL", "CONFIDENCE", "SEEN", "LESSON"];
        let columns: Vec<(&str, Align)> = heads.into_iter().map(|name| (name, Align::Left)).collect();
        let mut table = Table::new(&columns);
        for it in &self.lessons {
            table.row([
                Cell::new(&it.id).style(style::ID),
                Cell::new(it.status.as_str()),
                Cell::new(it.level.as_str()),
                Cell::new(it.confidence.as_str()),
                Cell::new(it.sessions.len().to_string()),
                Cell::new(&it.text),
            ]);
        }
        table.render(view)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
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

impl Output for AppliedLessons {
    fn text(&self, _: &View) -> String {
        let mut out = String::new();
        for line in self.diff.lines() {
            let look = match line.chars().next() {
                Some('+') => style::GOOD,
                Some('-') => style::BAD,
                _ => style::DIM,
            };
            let _ = writeln!(out, "{}", paint(look, sanitise(line)));
        }
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

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}
