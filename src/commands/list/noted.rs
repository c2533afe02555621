//! Rows of notes beside the sessions: lessons, quirks, segments and outcomes of accepted readings, cases, bookmarks, workflows and
//! their runs; and checkpoints.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::Question;
use super::kind::ListKind;
use crate::base::Result;
use crate::commands::checkpoint::{SessionCopies, listing};
use crate::commands::lessons::told::{Told, told_here};
use crate::commands::lessons::verdict::judge;
use crate::commands::read::Shelf;
use crate::commands::session::current_or_newest;
use crate::commands::session::learn::Reviews;
use crate::commands::trace::{TraceWorld, refs::References};
use crate::commands::workflow::{self, FoundWorkflow, history::RunRow};
use crate::commands::{Context, segment};
use crate::index::SessionRow;
use crate::learn::ReviewStatus;
use crate::live::log::Target;
use crate::readings::Accepted;
use crate::readings::answer::LessonLevel;
use crate::readings::lesson::LessonNote;
use crate::vault::{Catalog, Head, State, Vault};

/// A row with the path of the session that it is about.
pub(super) type NotedRow = (Option<String>, Json);

/// The rows of a kind, in their order.
pub(super) fn rows(
    question: &Question,
    sessions: &[&SessionRow],
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<Vec<NotedRow>> {
    let catalog = Catalog::read(vault);
    let shelf = Shelf::within(&catalog, vault, cx.global.reach);
    Ok(match question.kind {
        ListKind::Segments => segments(&shelf, &heads(question, &catalog, cx), &catalog, vault),
        ListKind::Outcomes => outcomes(&shelf, &catalog),
        ListKind::Cases => cases(&catalog, vault),
        ListKind::Checkpoints => checkpoints(&heads(question, &catalog, cx), vault, cx),
        ListKind::Bookmarks => bookmarks(&catalog, vault, cx)?,
        ListKind::Workflows => {
            let found = workflow::meant(&question.workflows, vault, &catalog, cx)?;
            found.iter().map(|found| (None, workflow::row(found))).collect()
        }
        ListKind::Runs => runs(&workflow::meant(&question.workflows, vault, &catalog, cx)?, &catalog, cx),
        ListKind::Groups => workflow::kinds(sessions, vault).into_iter().map(|row| (None, row)).collect(),
        _ => lessons(shelf, vault, question, cx)?,
    })
}

/// The sessions that are meant and may be shown, the newest first.
fn heads<'a>(question: &Question, catalog: &'a Catalog, cx: &Context<'_>) -> Vec<&'a Head> {
    let is_meant = |head: &&Head| {
        let named = question.sessions.as_ref();
        cx.global.reach.allows(&head.meta) && named.is_none_or(|named| named.contains(&*head.path.text()))
    };
    let mut heads: Vec<&Head> = catalog.sessions().filter(is_meant).collect();
    heads.sort_by_key(|head| (std::cmp::Reverse(head.meta.started), head.path.clone()));
    heads
}

/// Lessons of notes, and those that sessions tell; with what became of them where the question asks.
fn lessons(shelf: Shelf, vault: &Vault, question: &Question, cx: &Context<'_>) -> Result<Vec<NotedRow>> {
    let quirk = |level: LessonLevel| matches!(level, LessonLevel::Model | LessonLevel::Tool | LessonLevel::User);
    let told = told_here(&shelf, vault, cx)?;
    let fields: Vec<_> =
        shelf.lessons.iter().map(|_| Vec::new()).chain(told.iter().map(|it| it.lesson.fields.clone())).collect();
    let mut notes = shelf.lessons;
    notes.extend(told.into_iter().map(|Told { path, lesson, .. }| LessonNote {
        path,
        lesson: lesson.lesson,
        of_reading: false,
        changed: false,
        text: String::new(),
    }));
    let is_judged = question.asks("verdict") || question.asks("broken");
    let judged = if is_judged { judge(notes.clone(), &TraceWorld::read(cx)?, cx)? } else { Vec::new() };
    let row = |(at, (note, fields)): (usize, (LessonNote, Vec<(String, String)>))| {
        let field = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let (it, judged) = (&note.lesson, judged.get(at));
        let row = json!({
            "id": it.id, "status": it.ended.as_deref().unwrap_or(it.status.as_str()), "level": it.level, "confidence": it.confidence,
            "seen": it.sessions.len(), "where": it.place, "project": it.project, "learned": it.learned, "text": it.text,
            "do": it.advice, "tags": field("Tags"), "frequency": field("Frequency"), "severity": field("Severity"),
            "verdict": judged.map(|it| it.verdict.word()), "broken": judged.map(|it| it.broken), "path": note.path,
        });
        (None, row)
    };
    let all = notes.into_iter().zip(fields).enumerate();
    Ok(all.filter(|(_, (note, _))| question.kind != ListKind::Quirks || quirk(note.lesson.level)).map(row).collect())
}

/// The segments of sessions: what they were as an accepted reading says, else as the record does.
fn segments(shelf: &Shelf, heads: &[&Head], catalog: &Catalog, vault: &Vault) -> Vec<NotedRow> {
    let accepted = shelf.all_accepted();
    let of = |head: &&Head| {
        let read = accepted.get(&*head.path.stem()).map(|it| it.segments.as_slice()).unwrap_or_default();
        // A note that cannot be read is told of by `cru check`.
        let all = segment::of(head, read, catalog, vault).unwrap_or_default();
        let row = |it: segment::Segment| {
            let facts = &it.facts;
            let read = it.read.as_ref();
            json!({
                "session": head.id(), "id": it.id,
                "type": read.map(|it| it.kind.as_str().to_owned()).or_else(|| facts.kind.clone()),
                "outcome": read.map(|it| it.outcome.as_str().to_owned()).or_else(|| facts.outcome.clone()),
                "goal": facts.goal, "language": facts.language, "frameworks": facts.frameworks, "steps": it.steps,
                "tokens": facts.tokens, "cost": facts.cost_usd, "machine": facts.machine, "entries": facts.entries,
                "started": it.started, "ended": it.ended, "ended_by": it.ended_by,
                "topics": read.map(|it| it.topics.clone()), "version": facts.version, "analyzed": facts.analyzed,
                "summary": read.map(|it| it.summary.text.clone()).or_else(|| facts.summary.clone()),
            })
        };
        all.into_iter().map(|it| (Some(head.path.text().into_owned()), row(it))).collect::<Vec<_>>()
    };
    heads.par_iter().map(of).collect::<Vec<_>>().concat()
}

/// What came of each session that has an accepted reading.
fn outcomes(shelf: &Shelf, catalog: &Catalog) -> Vec<NotedRow> {
    let paths = paths_by_stem(catalog);
    let row = |(session, it): (String, Accepted)| {
        let row = json!({
            "session": session, "outcome": it.outcome.as_ref().map(|it| it.state), "type": it.main_type(), "goal": it.goal,
            "result": it.outcome.map(|it| it.text), "decisions": it.decisions, "open": it.open, "reading": it.name,
        });
        (paths.get(&session).cloned(), row)
    };
    shelf.all_accepted().into_iter().map(row).collect()
}

/// Case notes, as their notes say.
fn cases(catalog: &Catalog, vault: &Vault) -> Vec<NotedRow> {
    let paths = paths_by_stem(catalog);
    let row = |it: crate::learn::Review| {
        let session = it.session.split('#').next().unwrap_or_default();
        let row = json!({
            "id": it.id, "status": it.status.as_str(), "edited": it.changed && it.status == ReviewStatus::Proposed,
            "type": it.kind, "title": it.title, "session": it.session, "path": it.path,
        });
        (paths.get(session).cloned(), row)
    };
    Reviews::read(catalog, vault).notes.into_iter().map(row).collect()
}

/// The checkpoints of sessions: of the note, copies on this machine, and those that are computed.
fn checkpoints(heads: &[&Head], vault: &Vault, cx: &Context<'_>) -> Vec<NotedRow> {
    let state = State::existing(vault, cx.env);
    let of = |head: &&Head| {
        let copies = state.as_ref().map(|state| SessionCopies::of(&Target::of(head), state).all());
        let (copies, odd) = copies.unwrap_or_default();
        let rows = listing::list(vault.session(&head.path).ok().as_ref(), &copies);
        let path = head.path.text().into_owned();
        let row = |it: listing::ListedCheckpoint| {
            let mut row = json!(it);
            row["session"] = head.id().into();
            (Some(path.clone()), row)
        };
        (rows.into_iter().map(row).collect::<Vec<_>>(), odd)
    };
    let (rows, odd): (Vec<_>, Vec<_>) = heads.par_iter().map(of).unzip();
    for id in odd.concat() {
        cx.ui.warn(&format!("checkpoint-unreadable: the copy of {id} cannot be read"));
    }
    rows.concat()
}

/// Bookmarks and where they lead.
fn bookmarks(catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> Result<Vec<NotedRow>> {
    let references = References { vault, catalog, cx, home: None, snapshot: None };
    let row = |it: crate::commands::trace::bookmarks::KeptBookmark| {
        let (path, leads_to, problem) = match references.follow(&it) {
            Ok(block) => {
                let step = block.step().map_or_else(String::new, |it| format!("{} {}", it.tool, it.args));
                (Some(block.path.to_string()), Some(step), None)
            }
            Err(error) => (None, None, Some(error.to_string())),
        };
        let row = json!({
            "name": it.name, "target": it.target, "note": it.note, "leads_to": leads_to, "problem": problem,
        });
        (path, row)
    };
    Ok(references.bookmarks()?.into_iter().map(row).collect())
}

/// What workflows record of their runs.
fn runs(found: &[FoundWorkflow], catalog: &Catalog, cx: &Context<'_>) -> Vec<NotedRow> {
    let paths = paths_by_stem(catalog);
    let row = |row: RunRow| {
        let session = row.run.session().map(str::to_owned);
        let more: Vec<String> = row.run.more.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut out = json!(row);
        (out["session"], out["more"]) = (json!(session), json!(Some(more.join("; ")).filter(|more| !more.is_empty())));
        (session.and_then(|session| paths.get(&session).cloned()), out)
    };
    workflow::history::gather(found, cx).into_iter().map(row).collect()
}

/// The paths of all sessions, by the name of their note.
fn paths_by_stem(catalog: &Catalog) -> HashMap<String, String> {
    catalog.sessions().map(|head| (head.path.stem().into_owned(), head.path.text().into_owned())).collect()
}

/// The paths of the sessions that are named; `None` where none is, and all are meant.
pub(super) fn named(
    kind: ListKind,
    of: &[String],
    all: bool,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<Option<HashSet<String>>> {
    let is_current = of.is_empty() && kind == ListKind::Checkpoints && !all;
    if kind.is_of_workflows() || (of.is_empty() && !is_current) {
        return Ok(None);
    }
    let catalog = Catalog::read(vault);
    if is_current {
        return Ok(Some(HashSet::from([current_or_newest(&catalog, vault, cx)?.path.to_string()])));
    }
    let path = |name: &String| Ok(catalog.session(name, vault, cx.env)?.path.to_string());
    of.iter().map(path).collect::<Result<_>>().map(Some)
}
