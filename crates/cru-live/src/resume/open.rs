//! What is not done: open tasks, open questions, errors without a resolution, and the state that was written down last.

use std::collections::HashSet;

use super::entry::Entry;
use super::phase::{self, Detail};
use super::point::{ItemPlace, Point};
use super::{text, token};
use cru_base::text::fold_whitespace;
use cru_graph::plan::is_begun;
use cru_session::open::{OpenPoint, open_points};
use cru_session::{Callout, Item, Session, StepStatus, Task};

/// Kind of a host's own summary, which stands where it compacted its context.
pub(super) const SUMMARY: &str = "summary";
/// Words in a checkpoint's field that mean: nothing.
const NOTHING: &[&str] = &["", "-", "–", "—", "none", "no", "nothing", "n/a"];
/// Tokens of what went wrong, in a list; the phase has all of it.
const ERROR: u64 = 60;

/// Tasks and questions, most urgent first.
pub(super) fn entries(session: &Session, point: &Point<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let tasks = session.tasks();
    let of = |point: &OpenPoint| match point {
        OpenPoint::Task(content) => tasks.iter().find(|task| fold_whitespace(&task.content) == *content).copied(),
        _ => None,
    };
    let points = open_points(session);
    let is_later = |point: &&OpenPoint| of(point).is_some_and(|task| !is_begun(task));
    // What is being worked on comes before what was not begun.
    let (later, first): (Vec<&OpenPoint>, Vec<&OpenPoint>) = points.iter().partition(is_later);
    let (tasks, others): (Vec<&OpenPoint>, Vec<&OpenPoint>) =
        first.into_iter().chain(later).partition(|point| matches!(point, OpenPoint::Task(_)));
    entries.extend(tasks.into_iter().filter_map(of).map(|task| Entry::new(task.content.as_str(), line(task))));
    // A question that was answered in the note is not open in a checkpoint.
    let answered = session.items().filter_map(|(_, item)| match item {
        Item::Callout(it) if it.kind == "question" && it.field("Answer").is_some() => Some(text::inline(&it.title)),
        _ => None,
    });
    let mut known: HashSet<String> = answered.map(|words| words.to_lowercase()).collect();
    for point in others {
        let words = match point {
            OpenPoint::Question(words) => words.clone(),
            other => other.to_line(),
        };
        let words = text::inline(&words);
        if known.insert(words.to_lowercase()) && !words.is_empty() {
            let kind = if matches!(point, OpenPoint::Question(_)) { "Question: " } else { "" };
            entries.push(Entry::new(words.as_str(), format!("- {kind}{words}")));
        }
    }
    asked_last(point, &mut known, &mut entries);
    for (place, item) in point.items() {
        let place = place.and_then(|index| session.phases.get(index)).map(|phase| text::short(&phase.id, 20));
        let place = place.map_or_else(String::new, |id| format!(" ({id})"));
        match item {
            Item::Error(error) if error.resolution.is_none() && error.resolved_by.is_empty() => {
                let title = phase::or(text::inline(&error.callout.title), "untitled");
                let (said, _) = text::cut(&text::clean(&error.text), ERROR);
                let quote = text::quote(&said, "  ");
                let line = format!("- Error without a resolution: **{title}**{place}\n{quote}");
                entries.push(Entry::new(title, line.trim_end()));
            }
            Item::Step(step) if matches!(step.status, StepStatus::Pending | StepStatus::Running) => {
                let command = text::code(format!("{} {}", step.tool, step.args).trim(), 120);
                entries.push(Entry::new(command.as_str(), format!("- Step without a result: {command}{place}")));
            }
            _ => {}
        }
    }
    entries
}

/// What the last checkpoint asks or waits for; a question that stands in the note, too, stands here once.
fn asked_last(point: &Point<'_>, known: &mut HashSet<String>, entries: &mut Vec<Entry>) {
    let Some((_, checkpoint)) = checkpoint(point).filter(|(_, it)| it.kind != SUMMARY) else { return };
    for (index, (name, value)) in checkpoint.fields.iter().enumerate() {
        let answered = checkpoint.fields.get(index + 1).is_some_and(|(next, _)| next.eq_ignore_ascii_case("answer"));
        let kind = match name.to_lowercase().as_str() {
            "question" | "questions" if !answered => "Question",
            "blocked" => "Blocked",
            _ => continue,
        };
        let words = text::inline(value);
        if !NOTHING.contains(&words.to_lowercase().as_str()) && known.insert(words.to_lowercase()) {
            entries.push(Entry::new(words.as_str(), format!("- {kind}: {words}")));
        }
    }
}

/// `- [ ] TASK-008 Rotate signing keys (in_progress, high, progress 50)`.
fn line(task: &Task) -> String {
    let mut facts = vec![text::short(if task.status.is_empty() { "pending" } else { &task.status }, 30)];
    facts.extend(task.priority.as_deref().map(|priority| text::short(priority, 30)));
    for (name, value) in &task.extra {
        // What the host adds for its own display says the task again.
        if value.is_number() || (name == "blocked" && value.is_string()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            facts.push(format!("{} {}", text::short(name, 20), text::short(&value, 80)));
        }
    }
    let id = text::short(&task.id, 30);
    let words = text::inline(&task.content);
    format!("- [ ] {id}{}{words} ({})", if id.is_empty() || words.is_empty() { "" } else { " " }, facts.join(", "))
}

/// The checkpoint that is the resume point, else the newest up to it that says something, or a newer summary that the host went on
/// from.
pub(super) fn checkpoint<'a>(point: &Point<'a>) -> Option<(ItemPlace, &'a Callout)> {
    let phases = point.before().iter().enumerate().rev();
    let callouts = phases.flat_map(|(index, phase)| {
        let items = phase.items.iter().enumerate().rev();
        items.filter_map(move |(at, item)| match item {
            Item::Callout(it) if is_checkpoint(it) && !it.is_empty() => Some(((Some(index), at), it)),
            _ => None,
        })
    });
    let is_named = |it: &Callout| it.id.as_deref().is_some_and(|id| point.block == Some(id));
    let all: Vec<(ItemPlace, &Callout)> = callouts.collect();
    all.iter().find(|(_, it)| is_named(it)).or(all.first()).copied()
}

/// Whether a checkpoint that says nothing stands behind the one that is taken.
fn skips(session: &Session, taken: ItemPlace) -> bool {
    let phases = session.phases.iter().enumerate();
    let mut all = phases
        .flat_map(|(index, phase)| phase.items.iter().enumerate().map(move |(at, item)| ((Some(index), at), item)));
    all.any(|(place, item)| place > taken && matches!(item, Item::Callout(it) if is_checkpoint(it) && it.is_empty()))
}

fn is_checkpoint(callout: &Callout) -> bool {
    callout.kind == "checkpoint" || is_compaction(callout)
}

fn is_compaction(callout: &Callout) -> bool {
    callout.kind == SUMMARY && callout.title.trim_start().to_lowercase().starts_with("compaction")
}

/// What a checkpoint says, within `room` tokens.
pub(super) fn written(checkpoint: &Callout, session: &Session, place: ItemPlace, room: u64) -> Option<Entry> {
    let phase = place.0.and_then(|index| session.phases.get(index));
    let title = text::inline(&checkpoint.title);
    let mut head = phase.map_or_else(String::new, |phase| format!("In {}", text::short(&phase.id, 20)));
    if let Some(at) = checkpoint.at {
        head.push_str(&format!(", {}", phase::minute(at)));
    }
    if !title.is_empty() {
        head.push_str(&format!(": **{title}**"));
    }
    if skips(session, place) {
        head.push_str(" (a later checkpoint says nothing)");
    }
    let whole = phase::remark(&head, &checkpoint.body, Detail::Full);
    if token::count(&whole) <= room {
        return Some(Entry::new(title, whole));
    }
    let left = room.checked_sub(token::count(&head) + 20)?;
    // A quote costs a mark a line.
    let body = text::clean(&checkpoint.body);
    // A summary ends with what was being done.
    let cut = if checkpoint.kind == SUMMARY { text::tail } else { text::cut };
    let (body, _) = cut(&body, left * 3 / 4);
    let short = phase::remark(&head, &body, Detail::Full);
    (token::count(&short) <= room).then(|| Entry::new(title, short).cut(true))
}

/// The working memory, as written.
pub(super) fn memory(session: &Session) -> Vec<Entry> {
    let fences = session.memory.iter().filter(|fence| !fence.body.trim().is_empty());
    fences.map(|fence| Entry::new("", text::fence(&fence.body, "").trim_end())).filter(|it| it.tokens > 0).collect()
}
