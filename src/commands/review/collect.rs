//! What waits, gathered from where each of it is known.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use rayon::prelude::*;

use super::learned;
use crate::base::text::{lossy, note_name, plural};
use crate::base::{Result, Span};
use crate::commands::lessons::told::{blocks, callout_at};
use crate::commands::lessons::verdict::{LessonVerdict, judge};
use crate::commands::read::Shelf;
use crate::commands::session::learn::Reviews;
use crate::commands::trace::TraceWorld;
use crate::commands::trace::stale::{StaleQuestion, gather};
use crate::commands::{Context, status, workflow};
use crate::index::{SessionRow, Snapshot};
use crate::memory::review::{ReviewItem, ReviewKind};
use crate::readings::note::ReviewStatus;
use crate::vault::{Catalog, Vault, VaultPath};

/// A question that is open for so long is asked again.
const OPEN: SignedDuration = SignedDuration::from_hours(7 * 24);

/// All that waits, in no order.
pub(super) fn items(vault: &Vault, cx: &Context<'_>) -> Result<Vec<ReviewItem>> {
    let world = TraceWorld::read_with_index(cx)?;
    let catalog = &world.catalog;
    let snapshot = world.snapshot(cx)?;
    let mut items = Vec::new();
    let shelf = Shelf::read(catalog, vault);
    proposals(&shelf, &mut items);
    recipes(vault, catalog, cx, &mut items);
    cases(vault, catalog, &mut items);
    learned::proposals(&shelf, snapshot, vault, cx, &mut items)?;
    for (copy, note) in catalog.conflict_copies() {
        let text = format!("{} has a copy {}: `cru admin merge`", note.path.stem(), copy.path.stem());
        items.push(ReviewItem::new(ReviewKind::Copy, &copy.path.text(), "", &text, &note.path.stem()));
    }
    items.extend(snapshot.sessions().iter().filter(|row| row.is_unproven()).map(unproven));
    conflicts(snapshot, vault, cx, &mut items)?;
    questions(snapshot, vault, cx, &mut items)?;
    bookmarks(&world, cx, &mut items)?;
    drifted(&world, cx, &mut items)?;
    lessons(shelf, &world, cx, &mut items)?;
    transcripts(snapshot.sessions(), vault, cx, &mut items);
    Ok(items)
}

fn proposals(shelf: &Shelf, items: &mut Vec<ReviewItem>) {
    for it in shelf.lessons.iter().filter(|it| it.lesson.status == ReviewStatus::Proposed) {
        let lesson = &it.lesson;
        let weight = lesson.sessions.len() as f64;
        items.push(
            ReviewItem::new(ReviewKind::Lesson, &lesson.id, "", &lesson.text, note_name(&it.path)).weighing(weight),
        );
    }
    for it in shelf.readings.iter().filter(|it| it.head.status == ReviewStatus::Proposed && it.answer.is_some()) {
        let (kept, all) = it.head.claims;
        let text = format!("{}, {kept} of {all} claims hold", it.head.session);
        items.push(ReviewItem::new(ReviewKind::Reading, note_name(&it.path), "", &text, note_name(&it.path)));
    }
}

/// Recipes that nobody has decided about.
fn recipes(vault: &Vault, catalog: &Catalog, cx: &Context<'_>, items: &mut Vec<ReviewItem>) {
    for found in workflow::proposed(vault, catalog, cx) {
        let text = format!("{}; each line beside what proves it: `cru show --evidence w:{}`", found.title, found.stem);
        items.push(ReviewItem::new(ReviewKind::Recipe, &found.path, "", &text, &found.stem));
    }
}

/// The cases that are proposed, as one item: they are many, and `cru list` shows them.
fn cases(vault: &Vault, catalog: &Catalog, items: &mut Vec<ReviewItem>) {
    let count = Reviews::read(catalog, vault).proposed();
    if count > 0 {
        let text =
            format!("{} of `cru learn`: `cru list cases`, `cru review accept ID`", plural(count, "proposed case"));
        items.push(ReviewItem::new(ReviewKind::Cases, "cases", &count.to_string(), &text, ""));
    }
}

fn unproven(row: &SessionRow) -> ReviewItem {
    let text = format!("{}, {} after the last check", row.title, plural(row.writes_after_check, "write"));
    let state = row.writes_after_check.to_string();
    let item = ReviewItem::new(ReviewKind::Unproven, &row.id, &state, &text, note_name(&row.path));
    // Of two the newer one, as its work is the more likely to go on.
    let age = row.started.map_or(0.0, |started| started.as_second() as f64);
    item.weighing(age)
}

fn conflicts(snapshot: &Snapshot, vault: &Vault, cx: &Context<'_>, items: &mut Vec<ReviewItem>) -> Result<()> {
    for (row, span, _) in blocks("conflict", snapshot, cx)? {
        let Some(path) = VaultPath::new(&row.path) else { continue };
        let bytes = vault.read(&path)?;
        let text = lossy(&bytes);
        let first = text.get(span.start..span.end).and_then(|text| text.lines().next()).unwrap_or_default();
        let what = first.split_once(']').map_or("", |(_, rest)| rest.trim());
        let text = format!("{} {what}", row.title);
        let state = blake3::hash(text.as_bytes()).to_hex().to_string();
        items.push(ReviewItem::new(ReviewKind::Conflict, &row.id, &state, text.trim_end(), note_name(&row.path)));
    }
    Ok(())
}

fn questions(snapshot: &Snapshot, vault: &Vault, cx: &Context<'_>, items: &mut Vec<ReviewItem>) -> Result<()> {
    let old = |time: &Timestamp| cx.env.now().duration_since(*time) >= OPEN;
    let hits: Vec<_> = blocks("question", snapshot, cx)?
        .into_iter()
        .filter_map(|(row, span, time)| Some((time.or(row.started).filter(old)?, span, row)))
        .collect();
    let open = |(asked, span, row): &(Timestamp, Span, &SessionRow)| {
        let bytes = vault.read(&VaultPath::new(&row.path)?).ok()?;
        let (words, id) = open_question(&lossy(&bytes), *span)?;
        let link = match id {
            Some(id) => format!("{}#^{id}", note_name(&row.path)),
            None => note_name(&row.path).to_owned(),
        };
        let item = ReviewItem::new(ReviewKind::Question, &format!("{} {words}", row.id), "", &words, &link);
        Some(item.weighing(-(asked.as_second() as f64)))
    };
    items.extend(hits.par_iter().filter_map(open).collect::<Vec<_>>());
    Ok(())
}

/// The words and the id of the question that stands there, if nobody answered it. Only the callout is read, not the note.
fn open_question(text: &str, span: Span) -> Option<(String, Option<String>)> {
    let callout = callout_at(text, span, "question")?;
    Some((callout.unanswered()?.to_owned(), callout.id))
}

fn bookmarks(world: &TraceWorld, cx: &Context<'_>, items: &mut Vec<ReviewItem>) -> Result<()> {
    let references = world.references(None, cx);
    for bookmark in references.bookmarks()? {
        if let Err(error) = references.follow(&bookmark) {
            let text = format!("{} leads nowhere: {error}", bookmark.name);
            let note = note_name(&bookmark.note);
            items.push(ReviewItem::new(ReviewKind::Bookmark, &bookmark.name, &bookmark.target, &text, note));
        }
    }
    Ok(())
}

/// What is kept and rests on what has changed, as `cru stale` tells.
fn drifted(world: &TraceWorld, cx: &Context<'_>, items: &mut Vec<ReviewItem>) -> Result<()> {
    for row in gather(&StaleQuestion::default(), world, cx)?.rows {
        // A lesson is told once, with all that it rests on.
        if row.kept.starts_with("lesson ") {
            continue;
        }
        let words = if row.kept.is_empty() { row.reason } else { format!("{}: {}", row.kept, row.reason) };
        let link = row.reference.replacen('#', "#^", 1);
        items.push(ReviewItem::new(ReviewKind::Drifted, &row.reference, &words, &words, &link));
    }
    Ok(())
}

/// Accepted lessons that do not hold any more, or that later corrections have broken more than once.
fn lessons(shelf: Shelf, world: &TraceWorld, cx: &Context<'_>, items: &mut Vec<ReviewItem>) -> Result<()> {
    const OFTEN: u64 = 2;
    let mut accepted = shelf.lessons;
    accepted.retain(|it| it.lesson.status == ReviewStatus::Accepted);
    if accepted.is_empty() {
        return Ok(());
    }
    for it in judge(accepted, world, cx)? {
        let why = match &it.verdict {
            LessonVerdict::Drifted { reasons } => reasons.first().cloned().unwrap_or_default(),
            LessonVerdict::Orphaned => "nothing that it rests on is there any more".to_owned(),
            _ if it.broken >= OFTEN => format!("broken {} times since", it.broken),
            _ => continue,
        };
        let words = format!("lesson {}: {why}", it.note.lesson.text);
        items.push(ReviewItem::new(ReviewKind::Drifted, &it.note.lesson.id, &why, &words, note_name(&it.note.path)));
    }
    Ok(())
}

/// Transcripts that will be deleted, as `cru status` tells: one item for each host and day.
fn transcripts(rows: &[SessionRow], vault: &Vault, cx: &Context<'_>, items: &mut Vec<ReviewItem>) {
    let mut by_host: BTreeMap<&str, (u64, u64, String)> = BTreeMap::new();
    for (host, from, is_noted) in status::at_risk(rows, vault, cx.env) {
        let day = from.to_zoned(vault.config().zone.clone()).date().to_string();
        let (count, missing, first) = by_host.entry(host).or_insert_with(|| (0, 0, day.clone()));
        *count += 1;
        *missing += u64::from(!is_noted);
        *first = std::mem::take(first).min(day);
    }
    for (host, (count, missing, day)) in by_host {
        let what = match missing {
            0 => "each in a note; `cru status` says what keeps copies".to_owned(),
            missing => format!("{missing} in no note: `cru import`"),
        };
        let text = format!("{} of {host} may be deleted from {day} on, {what}", plural(count, "transcript"));
        items.push(ReviewItem::new(ReviewKind::Transcripts, host, &day, &text, ""));
    }
}
