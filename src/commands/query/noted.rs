//! Rows of notes beside the sessions: lessons, quirks, and segments and outcomes of accepted readings.

use std::collections::HashMap;

use rayon::prelude::*;
use serde_json::{Value as Json, json};

use super::kind::QueryKind;
use crate::base::Result;
use crate::commands::lessons::told::{Told, told_here};
use crate::commands::read::Shelf;
use crate::commands::{Context, segment};
use crate::readings::Accepted;
use crate::readings::answer::LessonLevel;
use crate::readings::lesson::ToldLesson;
use crate::vault::{Catalog, Head, Vault};

/// A row with the path of the session that it is about.
pub(super) type NotedRow = (Option<String>, Json);

/// The rows of a kind, in their order.
pub(super) fn rows(kind: QueryKind, vault: &Vault, cx: &Context<'_>) -> Result<Vec<NotedRow>> {
    let catalog = Catalog::read(vault);
    let shelf = Shelf::within(&catalog, vault, cx.global.reach);
    Ok(match kind {
        QueryKind::Segments => segments(&shelf, &catalog, vault, cx),
        QueryKind::Outcomes => outcomes(&shelf, &catalog),
        kind => lessons(&shelf, &told_here(&shelf, vault, cx)?, kind),
    })
}

/// Lessons of notes, and those that sessions tell.
fn lessons(shelf: &Shelf, told: &[Told], kind: QueryKind) -> Vec<NotedRow> {
    let quirk = |level: LessonLevel| matches!(level, LessonLevel::Model | LessonLevel::Tool | LessonLevel::User);
    let noted = shelf.lessons.iter().map(|it| (&it.lesson, None));
    let all = noted.chain(told.iter().map(|it| (&it.lesson.lesson, Some(&it.lesson))));
    let row = |(it, told): (&crate::readings::lesson::Lesson, Option<&ToldLesson>)| {
        let field = |name: &str| told.and_then(|told| told.field(name));
        json!({
            "id": it.id, "status": it.status, "level": it.level, "confidence": it.confidence, "seen": it.sessions.len(),
            "where": it.place, "project": it.project, "learned": it.learned, "text": it.text, "do": it.advice,
            "tags": field("Tags"), "frequency": field("Frequency"), "severity": field("Severity"),
        })
    };
    all.filter(|(it, _)| kind != QueryKind::Quirks || quirk(it.level)).map(|it| (None, row(it))).collect()
}

/// The segments of every session: what they were as an accepted reading says, else as the record does.
fn segments(shelf: &Shelf, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> Vec<NotedRow> {
    let accepted = shelf.all_accepted();
    let now = cx.env.now();
    let of = |head: &&Head| {
        let read = accepted.get(&*head.path.stem()).map(|it| it.segments.as_slice()).unwrap_or_default();
        // A note that cannot be read is told of by `cru check`.
        let all = segment::of(head, read, catalog, vault, now).unwrap_or_default();
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
    let mut heads: Vec<&Head> = catalog.sessions().filter(|head| cx.global.reach.allows(&head.meta)).collect();
    heads.sort_by_key(|head| (std::cmp::Reverse(head.meta.started), head.path.clone()));
    heads.par_iter().map(of).collect::<Vec<_>>().concat()
}

/// What came of each session that has an accepted reading.
fn outcomes(shelf: &Shelf, catalog: &Catalog) -> Vec<NotedRow> {
    let paths: HashMap<String, String> =
        catalog.sessions().map(|head| (head.path.stem().into_owned(), head.path.text().into_owned())).collect();
    let row = |(session, it): (String, Accepted)| {
        let row = json!({
            "session": session, "outcome": it.outcome.as_ref().map(|it| it.state), "type": it.main_type(), "goal": it.goal,
            "result": it.outcome.map(|it| it.text), "decisions": it.decisions, "open": it.open, "reading": it.name,
        });
        (paths.get(&session).cloned(), row)
    };
    shelf.all_accepted().into_iter().map(row).collect()
}
