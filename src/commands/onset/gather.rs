//! What there is to know, in the order in which it is told.

use std::collections::HashSet;

use serde::Serialize;

use crate::base::text::{fold_whitespace, one_line, plural};
use crate::base::{Env, Result};
use crate::commands::Context;
use crate::commands::lessons::told::newest_told;
use crate::commands::lessons::verdict::{JudgedLesson, LessonVerdict, judge};
use crate::commands::output::proof_text;
use crate::commands::read::Shelf;
use crate::commands::trace::TraceWorld;
use crate::commands::trace::stale::{self, StaleQuestion};
use crate::index::{Record, SessionRow, Table};
use crate::live::resume::token;
use crate::readings::answer::LessonLevel;
use crate::readings::note::ReviewStatus;
use crate::session::open::open_points;
use crate::session::words::quote::quote;
use crate::session::words::shorten;
use crate::session::{Item, Step, StepStatus, file_ref, public};
use crate::sync::{memories, untold};
use crate::vault::VaultPath;

/// Characters of a line.
const LONGEST: usize = 240;

cru_base::words! {
    /// A part of the context with what stands above its lines, in the order in which parts are told.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum ContextPart {
        Lessons = "Lessons of earlier sessions",
        Drifted = "Check first, what they rest on has changed",
        Open = "Left open by the last sessions",
        Last = "The last session",
        Decisions = "Decisions on these files",
        Memories = "Memories of other programs, to be read with `cru context --show ID`",
    }
}

/// A line that is known, and whether it was told or had no room.
#[derive(Debug, Default, Serialize)]
pub(super) struct ContextLine {
    pub(super) part: &'static str,
    /// What `--show` takes; empty where there is no more to show.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) id: String,
    pub(super) text: String,
    pub(super) tokens: u64,
    pub(super) told: bool,
    /// The note that says it.
    #[serde(skip)]
    pub(super) note: String,
}

/// All that is known.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) project: String,
    pub(super) lines: Vec<ContextLine>,
}

impl Gathered {
    fn add(&mut self, part: ContextPart, id: &str, path: &str, text: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let note = name.strip_suffix(".md").unwrap_or(name).to_owned();
        let text = fold_whitespace(&one_line(text));
        self.lines.push(ContextLine { part: part.as_str(), id: id.to_owned(), text, note, ..ContextLine::default() });
    }
}

/// Gathers what concerns the project in a folder, and files of it. `own` are names of the session that asks: it knows what it
/// did. One that goes on beside it, or broke off a moment ago, is told of like any other.
pub(super) fn gather(folder: &str, paths: &[String], own: &[&str], cx: &Context<'_>) -> Result<Gathered> {
    let mut gathered = Gathered { project: folder.to_owned(), ..Gathered::default() };
    let world = TraceWorld::read_with_index(cx)?;
    lessons(folder, paths, &world, cx, &mut gathered)?;
    stale(folder, &world, cx, &mut gathered)?;
    let snapshot = world.snapshot(cx)?;
    let is_own =
        |row: &SessionRow| own.iter().any(|name| row.id == *name || row.host_session.as_deref() == Some(*name));
    let mut rows: Vec<&SessionRow> =
        snapshot.sessions().iter().filter(|row| !row.subagent && is_in(row, folder, cx.env) && !is_own(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.started, &row.path)));
    // Sessions whose open tasks and questions are told.
    for row in rows.iter().take(3) {
        open(row, &world, &mut gathered);
    }
    if let Some(row) = rows.first() {
        last(row, &world, &mut gathered);
    }
    if !paths.is_empty() {
        let wanted: HashSet<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        let mut told = Vec::new();
        let of = |record: Record| decisions(&record, paths);
        let tables = [Table::Decisions, Table::Files];
        snapshot.each_record(
            |row| row.decisions > 0 && wanted.contains(row.path.as_str()),
            &tables,
            of,
            |it| told.extend(it),
        );
        told.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        for (_, id, path, text) in told {
            gathered.add(ContextPart::Decisions, &id, &path, &text);
        }
    }
    memories(folder, &world, cx, &mut gathered);
    Ok(gathered)
}

/// Whether a session worked in the folder or below it.
fn is_in(row: &SessionRow, folder: &str, env: &Env) -> bool {
    let Some(project) = row.project.as_deref().map(|project| env.short(project)) else { return false };
    let rest = project.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        || folder.strip_prefix(project.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a path of a note names one of the files, or lies below one of the folders.
fn is_of(path: &str, paths: &[String]) -> bool {
    paths.iter().any(|wanted| {
        let wanted = wanted.trim_start_matches("./").trim_end_matches('/');
        let below = |path: &str| path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below(path) || path.match_indices('/').any(|(at, _)| below(&path[at + 1..]))
    })
}

fn lessons(
    folder: &str,
    paths: &[String],
    world: &TraceWorld,
    cx: &Context<'_>,
    gathered: &mut Gathered,
) -> Result<()> {
    let shelf = Shelf::within(&world.catalog, &world.vault, cx.global.reach);
    let is_here = |project: Option<&str>| {
        project
            .map(|own| cx.env.short(own))
            .is_none_or(|own| own == folder || folder.starts_with(&format!("{}/", own.trim_end_matches('/'))))
    };
    // Lessons that nobody has decided about, at most.
    let undecided = 5;
    let is_told = |row: &SessionRow| is_here(row.project.as_deref());
    let told = newest_told(undecided, is_told, &shelf, world.snapshot(cx)?, &world.vault, cx)?;
    let wanted =
        shelf.lessons.into_iter().filter(|it| it.lesson.status == ReviewStatus::Accepted && it.lesson.ended.is_none());
    let wanted = wanted.filter(|it| {
        !matches!(it.lesson.level, LessonLevel::Project | LessonLevel::Task) || is_here(it.lesson.project.as_deref())
    });
    let mut judged = judge(wanted.collect(), world, cx)?;
    let names_path = |it: &JudgedLesson| {
        let lesson = &it.note.lesson;
        let anchored = lesson.anchors.iter().any(|text| is_of(&file_ref::parse(text).path, paths));
        anchored || lesson.place.as_deref().is_some_and(|place| is_of(place.trim_end_matches(['*', '/']), paths))
    };
    let order = |it: &JudgedLesson| {
        let level = match it.note.lesson.level {
            _ if names_path(it) => 0,
            LessonLevel::Project | LessonLevel::Task => 1,
            LessonLevel::User => 2,
            _ => 3,
        };
        (level, std::cmp::Reverse(it.note.lesson.confidence), it.note.lesson.text.clone())
    };
    judged.sort_by_key(order);
    for it in judged.iter().filter(|it| it.verdict.is_sound()) {
        let lesson = &it.note.lesson;
        let advice = lesson.advice.as_deref().map_or_else(String::new, |advice| format!(" ({advice})"));
        gathered.add(ContextPart::Lessons, &lesson.id, &it.note.path, &format!("{}{advice}", lesson.text));
    }
    // What sessions here tell and nobody has decided about, the newest last.
    for it in told.iter().rev().take(undecided) {
        let lesson = &it.lesson.lesson;
        let advice = lesson.advice.as_deref().map_or_else(String::new, |advice| format!(" ({advice})"));
        gathered.add(ContextPart::Lessons, &lesson.id, &it.path, &format!("not reviewed: {}{advice}", lesson.text));
    }
    for it in &judged {
        if let LessonVerdict::Drifted { reasons } = &it.verdict {
            let reason = reasons.first().map_or("", String::as_str);
            let lesson = &it.note.lesson;
            gathered.add(ContextPart::Drifted, &lesson.id, &it.note.path, &format!("{}: {reason}", lesson.text));
        }
    }
    Ok(())
}

/// What is kept of the project's sessions and rests on what has changed: bookmarks, decisions, checks, runs.
fn stale(folder: &str, world: &TraceWorld, cx: &Context<'_>, gathered: &mut Gathered) -> Result<()> {
    // Sessions, the newest, whose checks and runs are looked at.
    let asked = StaleQuestion { project: Some(folder), newest: Some(20), ..StaleQuestion::default() };
    // Lessons are told of as such.
    let rows = stale::gather(&asked, world, cx)?.rows;
    // Claims that do not hold any more.
    for row in rows.iter().filter(|row| !row.kept.starts_with("lesson ")).take(5) {
        let kept = if row.kept.is_empty() { String::new() } else { format!(" ({})", row.kept) };
        gathered.add(
            ContextPart::Drifted,
            "",
            &row.path.to_string(),
            &format!("{}: {}{kept}", row.reference, row.reason),
        );
    }
    Ok(())
}

/// What other programs remember of the project, by title, with what reading it costs.
fn memories(folder: &str, world: &TraceWorld, cx: &Context<'_>, gathered: &mut Gathered) {
    for head in world.catalog.heads.iter().filter(|head| head.path.as_path().starts_with(memories::FOLDER)) {
        let is_here = head.meta.project.as_deref().is_none_or(|own| cx.env.short(own) == folder);
        let Some(bytes) = world.vault.read(&head.path).ok().filter(|_| is_here) else { continue };
        let tokens = token::count(&public::text(&String::from_utf8_lossy(&bytes)));
        let path = head.path.text();
        let id = path.strip_suffix(".md").unwrap_or(&path);
        gathered.add(ContextPart::Memories, id, &path, &format!("{}, {}", head.title(), plural(tokens, "token")));
    }
}

/// What a session left open.
fn open(row: &SessionRow, world: &TraceWorld, gathered: &mut Gathered) {
    let Some(session) = VaultPath::new(&row.path).and_then(|path| world.vault.session(&path).ok()) else { return };
    let mut add = |words: &str| gathered.add(ContextPart::Open, "", &row.path, &format!("{words} ({})", row.id));
    for point in open_points(&session) {
        add(&quote(&point.to_line(), LONGEST));
    }
    let broke_off =
        |item: &Item| matches!(item, Item::Callout(it) if it.kind == "summary" && it.title == untold::TITLE);
    if row.status.as_deref() != Some("completed") && session.items().any(|(_, item)| broke_off(item)) {
        add(&format!("broke off in its work: {}", quote(&row.title, LONGEST)));
    }
}

/// The last session: what it was, its last steps, and the agent's last words.
fn last(row: &SessionRow, world: &TraceWorld, gathered: &mut Gathered) {
    let mut line = row.title.clone();
    let zone = &world.vault.config().zone;
    let day = row.started.map(|at| at.to_zoned(zone.clone()).date().to_string());
    let steps = (row.steps > 0).then(|| plural(row.steps, "step"));
    for part in [day, row.status.clone(), steps, proof_text(row)].into_iter().flatten() {
        line.push_str(&format!(", {part}"));
    }
    gathered.add(ContextPart::Last, "", &row.path, &format!("{line} ({})", row.id));
    let Some(session) = VaultPath::new(&row.path).and_then(|path| world.vault.session(&path).ok()) else { return };
    let steps: Vec<&Step> = session.steps().map(|(_, step)| step).collect();
    // Its last steps that are told.
    for step in &steps[steps.len().saturating_sub(3)..] {
        let call = format!("{} {}", step.tool, step.command.as_deref().unwrap_or(&step.args));
        let result = step.result.as_deref().unwrap_or(step.status.name());
        let mark = if step.status == StepStatus::Failed { "✗ " } else { "" };
        // Characters of a call and of its result.
        let short = |text: &str| shorten::at_word(&fold_whitespace(text), 100);
        let line = format!("{} → {mark}{}", short(&call), short(result));
        gathered.add(ContextPart::Last, "", &row.path, &line);
    }
    let prose = session.items().filter_map(|(_, item)| if let Item::Prose(it) = item { Some(it) } else { None });
    let words = prose.last().map(|prose| quote(&prose.text, LONGEST)).unwrap_or_default();
    if !words.is_empty() {
        gathered.add(ContextPart::Last, "", &row.path, &format!("Agent, last: \"{words}\""));
    }
}

/// The decisions of phases that wrote the files, with their time, id and note.
fn decisions(record: &Record, paths: &[String]) -> Vec<(Option<jiff::Timestamp>, String, String, String)> {
    let written = record.files.iter().filter(|file| file.access != "read" && is_of(&file.path, paths));
    let phases: HashSet<&str> = written.filter_map(|file| file.phase.as_deref()).collect();
    let wanted = record.decisions.iter().filter(|it| it.phase.as_deref().is_some_and(|phase| phases.contains(phase)));
    let told = wanted.map(|it| {
        let why = it.why.as_deref().filter(|why| !why.trim().is_empty());
        let text = match why {
            Some(why) => format!("{} – {}", quote(&it.title, LONGEST), quote(why, LONGEST)),
            None => quote(&it.title, LONGEST),
        };
        let id = it.id.as_deref().map_or_else(|| record.session.id.clone(), |id| format!("{}#{id}", record.session.id));
        (it.at.or(record.session.started), id, record.session.path.clone(), text)
    });
    told.collect()
}

/// A lesson's note, or a decision, in full.
pub(super) fn whole(id: &str, cx: &Context<'_>) -> Result<Option<String>> {
    let world = TraceWorld::read(cx)?;
    let shelf = Shelf::within(&world.catalog, &world.vault, cx.global.reach);
    if let Some(lesson) = shelf.lesson(id) {
        return Ok(Some(public::text(&lesson.text)));
    }
    let memory = world.catalog.heads.iter().find(|head| {
        head.path.as_path().starts_with(memories::FOLDER) && head.path.text().strip_suffix(".md") == Some(id)
    });
    if let Some(head) = memory {
        let bytes = world.vault.read(&head.path)?;
        return Ok(Some(public::text(&String::from_utf8_lossy(&bytes))));
    }
    let Some((name, block)) = id.split_once('#') else { return Ok(None) };
    let Ok(head) = world.catalog.session(name, &world.vault, cx.env) else { return Ok(None) };
    cx.global.reach.check(&head.meta)?;
    let session = world.vault.session(&head.path)?;
    let block = block.trim_start_matches('^');
    let found = session.items().find_map(|(_, item)| match item {
        Item::Decision(it) if it.callout.id.as_deref() == Some(block) => Some(it),
        _ => None,
    });
    Ok(found.map(|it| format!("{}\n\n{}\n", it.callout.title, it.callout.body)))
}
