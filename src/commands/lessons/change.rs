//! `cru show l:NAME`, `cru verify l:` and `cru lessons retire`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::verdict::{JudgedLesson, LessonVerdict, judge};
use crate::base::text::{one_line, sanitise};
use crate::base::{Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::read::Shelf;
use crate::commands::trace::TraceWorld;
use crate::commands::trace::probe::{ProbeEnd, probe};
use crate::commands::{Context, Output, PlainOutput, View};
use crate::note::edit::set_key;
use crate::note::frontmatter::Value;
use crate::readings::lesson::LessonNote;
use crate::readings::note::ReviewStatus;
use crate::session::public;

/// End a lesson: it is used nowhere any more
#[derive(Debug, clap::Args)]
pub struct RetireArgs {
    /// Id or name of its note
    lesson: String,
    /// The lesson that holds instead
    by: Option<String>,
}

fn find<'s>(shelf: &'s Shelf, name: &str) -> Result<&'s LessonNote> {
    shelf
        .lesson(name)
        .ok_or_else(|| Error::no(format!("no lesson `{}`", sanitise(name))).with_hint("`cru list lessons` shows them"))
}

/// A lesson with what became of it, by its id or the name of its note.
pub(in crate::commands) fn show(name: &str, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let shelf = Shelf::read(&world.catalog, &world.vault);
    let note = find(&shelf, name)?.clone();
    let mut judged = judge(vec![note], &world, cx)?;
    let lesson = judged.pop().ok_or_else(|| Error::no("no lesson"))?;
    Ok(Box::new(ShownLesson { schema: 1, lesson }))
}

#[derive(Debug, Serialize)]
struct ShownLesson {
    schema: u32,
    lesson: JudgedLesson,
}

impl PlainOutput for ShownLesson {
    fn shown(&self, _: &View) -> String {
        let it = &self.lesson;
        let mut out = format!("{}  {}\n", paint(style::ID, one_line(&it.note.path)), it.verdict.word());
        if let LessonVerdict::Drifted { reasons } = &it.verdict {
            for reason in reasons {
                let _ = writeln!(out, "  {}", paint(style::WARN, one_line(reason)));
            }
        }
        if it.broken > 0 {
            let _ = writeln!(out, "  {}", paint(style::WARN, format!("broken {} times since", it.broken)));
        }
        let _ = write!(out, "\n{}", sanitise(&public::text(&it.note.text)));
        out
    }
}

/// Whether lessons still hold: those that are named, else all that are accepted. `runs` their checks, too; `strict`: the answer is no
/// where one does not hold.
pub(in crate::commands) fn check(
    names: &[String],
    runs: bool,
    strict: bool,
    cx: &Context<'_>,
) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let shelf = Shelf::read(&world.catalog, &world.vault);
    let named: Vec<LessonNote> = names.iter().map(|name| find(&shelf, name).cloned()).collect::<Result<_>>()?;
    let is_accepted = |it: &LessonNote| it.lesson.status == ReviewStatus::Accepted;
    let chosen = if names.is_empty() { shelf.lessons.into_iter().filter(is_accepted).collect() } else { named };
    let mut lessons = judge(chosen, &world, cx)?;
    if runs {
        run_checks(&mut lessons, &world, cx)?;
    }
    Ok(Box::new(CheckedLessons { schema: 1, strict, lessons }))
}

/// Runs the checks of lessons, those of one project together.
fn run_checks(lessons: &mut [JudgedLesson], world: &TraceWorld, cx: &Context<'_>) -> Result<()> {
    let mut by_project: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, it) in lessons.iter().enumerate().filter(|(_, it)| it.note.lesson.check.is_some()) {
        by_project.entry(it.note.lesson.project.clone().unwrap_or_default()).or_default().push(at);
    }
    for (project, places) in by_project {
        let ends = if project.is_empty() {
            vec![ProbeEnd::NotRun { why: "it names no project".to_owned() }; places.len()]
        } else {
            let commands: Vec<&str> =
                places.iter().filter_map(|at| lessons[*at].note.lesson.check.as_deref()).collect();
            probe(&commands, Some(&project), world, cx)?
        };
        for (at, end) in places.into_iter().zip(ends) {
            lessons[at].checked(end);
        }
    }
    Ok(())
}

#[derive(Debug, Serialize)]
struct CheckedLessons {
    schema: u32,
    #[serde(skip)]
    strict: bool,
    lessons: Vec<JudgedLesson>,
}

impl PlainOutput for CheckedLessons {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for it in &self.lessons {
            let look = if it.verdict.is_sound() { style::GOOD } else { style::WARN };
            let _ = writeln!(
                out,
                "{}  {}  {}",
                paint(look, format_args!("{:<12}", it.verdict.word())),
                paint(style::ID, one_line(&it.note.lesson.id)),
                one_line(&it.note.lesson.text)
            );
            if let LessonVerdict::Drifted { reasons } = &it.verdict {
                for reason in reasons {
                    let _ = writeln!(out, "              {}", one_line(reason));
                }
            }
            if let Some(check) = &it.note.lesson.check {
                let what = match &it.check {
                    None => "by hand".to_owned(),
                    Some(ProbeEnd::Passed) => "passed".to_owned(),
                    Some(ProbeEnd::Failed { .. }) => "failed".to_owned(),
                    Some(ProbeEnd::NotRun { why }) => format!("not run ({})", one_line(why)),
                };
                let _ = writeln!(out, "              {what}: {}", one_line(check));
            }
        }
        out
    }

    fn code(&self) -> u8 {
        let fails = |it: &JudgedLesson| matches!(it.verdict, LessonVerdict::Drifted { .. } | LessonVerdict::Orphaned);
        u8::from(self.strict && self.lessons.iter().any(fails))
    }
}

pub(super) fn retire(args: &RetireArgs, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let shelf = Shelf::read(&world.catalog, &world.vault);
    let old = find(&shelf, &args.lesson)?;
    let Some(new) = &args.by else {
        set(old, &[("status", "retired".to_owned())], &world)?;
        return Ok(Box::new(EndedLesson { schema: 1, path: old.path.clone(), status: "retired", by: None }));
    };
    let new = find(&shelf, new)?;
    if old.path == new.path {
        return Err(Error::usage("a lesson cannot supersede itself"));
    }
    let name = new.path.rsplit('/').next().unwrap_or(&new.path).trim_end_matches(".md");
    let by = format!("[[{name}]]");
    set(old, &[("status", "superseded".to_owned()), ("superseded_by", by.clone())], &world)?;
    Ok(Box::new(EndedLesson { schema: 1, path: old.path.clone(), status: "superseded", by: Some(by) }))
}

/// Sets keys of a lesson's frontmatter; all else of the note stays.
fn set(note: &LessonNote, keys: &[(&str, String)], world: &TraceWorld) -> Result<()> {
    world.vault.writable()?;
    let mut text = note.text.clone();
    for (key, value) in keys {
        let patch = set_key(&text, key, &Value::String(value.clone()))
            .map_err(|error| Error::usage(format!("could not change {}: {error}", note.path)))?;
        text = String::from_utf8_lossy(&patch.apply(text.as_bytes())).into_owned();
    }
    let file = world.vault.root().join(&note.path);
    files::replace_within(world.vault.root(), &file, note.text.as_bytes(), text.as_bytes())
}

#[derive(Debug, Serialize)]
struct EndedLesson {
    schema: u32,
    path: String,
    status: &'static str,
    by: Option<String>,
}

impl PlainOutput for EndedLesson {
    fn shown(&self, _: &View) -> String {
        let by = self.by.as_deref().map_or_else(String::new, |by| format!(" by {}", one_line(by)));
        format!("{}  {}{by}\n", paint(style::ID, one_line(&self.path)), self.status)
    }
}
