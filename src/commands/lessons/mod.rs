//! `cru lessons`: what readings and people have learned, and the way into a file that agents read.

mod add;
mod change;
pub(in crate::commands) mod told;
pub(super) mod verdict;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

pub(super) use self::add::accept;
use self::verdict::JudgedLesson;
use super::output::style::{self, paint};
use super::output::{Align, Cell, Table};
use super::read::Shelf;
use super::trace::TraceWorld;
use super::{Context, Output, PlainOutput, Reach, View, reading};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result, files};
use crate::note::edit::ChangedPage;
use crate::readings::answer::LessonLevel;
use crate::readings::lesson::{Lesson, LessonNote, REGION, region};
use crate::readings::note::ReviewStatus;
use crate::vault::{Catalog, Vault, page};

/// Commands on lessons.
#[derive(Debug, clap::Subcommand)]
pub enum LessonsCommand {
    List(ListArgs),
    Add(add::AddArgs),
    From(add::FromArgs),
    Show(change::ShowArgs),
    Check(change::CheckArgs),
    Retire(change::RetireArgs),
    Supersede(change::SupersedeArgs),
    Apply(ApplyArgs),
}

/// What a lesson is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum LessonLevelArg {
    /// The project
    #[default]
    Project,
    /// One task
    Task,
    /// What a person likes
    User,
    /// A model
    Model,
    /// A tool
    Tool,
    /// A skill
    Skill,
    /// A sub-agent
    Subagent,
}

impl LessonLevelArg {
    const fn level(self) -> LessonLevel {
        match self {
            Self::Project => LessonLevel::Project,
            Self::Task => LessonLevel::Task,
            Self::User => LessonLevel::User,
            Self::Model => LessonLevel::Model,
            Self::Tool => LessonLevel::Tool,
            Self::Skill => LessonLevel::Skill,
            Self::Subagent => LessonLevel::Subagent,
        }
    }
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
            Self::List(args) => list(&args, cx),
            Self::Add(args) => add::add(&args, cx),
            Self::From(args) => add::from(&args, cx),
            Self::Show(args) => change::show(&args, cx),
            Self::Check(args) => change::check(&args, cx),
            Self::Retire(args) => change::retire(&args, cx),
            Self::Supersede(args) => change::supersede(&args, cx),
            Self::Apply(args) => {
                let vault = reading::vault(cx)?;
                apply(&args, &vault, cx)
            }
        }
    }
}

fn list(args: &ListArgs, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let shelf = Shelf::read(&world.catalog, &world.vault);
    let level = args.level.as_deref().and_then(LessonLevel::parse);
    let status = args.status.as_deref().and_then(ReviewStatus::parse);
    let told = told::told_here(&shelf, &world.vault, cx)?;
    let mut lessons = shelf.lessons;
    // What sessions tell and nobody has decided about.
    lessons.extend(told.into_iter().map(|it| LessonNote {
        path: it.path,
        lesson: it.lesson.lesson,
        of_reading: false,
        changed: false,
        text: String::new(),
    }));
    let all = lessons.len();
    lessons.retain(|it| {
        level.is_none_or(|level| it.lesson.level == level) && status.is_none_or(|status| it.lesson.status == status)
    });
    let lessons = verdict::judge(lessons, &world, cx)?;
    Ok(Box::new(LessonList { schema: 1, all, lessons }))
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
struct LessonList {
    schema: u32,
    /// Lessons of the vault.
    all: usize,
    lessons: Vec<JudgedLesson>,
}

impl PlainOutput for LessonList {
    fn shown(&self, view: &View) -> String {
        if self.lessons.is_empty() {
            return format!("None of {} is meant.\n", plural(self.all as u64, "lesson"));
        }
        let heads = ["ID", "STATUS", "HOLDS", "BROKEN", "LEVEL", "CONFIDENCE", "SEEN", "LESSON"];
        let columns: Vec<(&str, Align)> = heads.into_iter().map(|name| (name, Align::Left)).collect();
        let mut table = Table::new(&columns);
        for judged in &self.lessons {
            let it = &judged.note.lesson;
            let look = if judged.verdict.is_sound() { style::GOOD } else { style::WARN };
            table.row([
                Cell::new(&it.id).style(style::ID),
                Cell::new(it.ended.as_deref().unwrap_or(it.status.as_str())),
                Cell::new(judged.verdict.word()).style(look),
                Cell::new(if judged.broken == 0 { String::new() } else { judged.broken.to_string() }),
                Cell::new(it.level.as_str()),
                Cell::new(it.confidence.as_str()),
                Cell::new(it.sessions.len().to_string()),
                Cell::new(&it.text),
            ]);
        }
        table.render(view)
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
