//! Rows of notes beside the sessions: lessons, quirks, and segments and outcomes of accepted readings.

use rayon::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::Args;
use super::kind::QueryKind;
use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::commands::lessons::told::{Told, told_here};
use crate::commands::output::{Align, Cell, Table, rows};
use crate::commands::read::Shelf;
use crate::commands::{Context, Format, Output, View, reading, segment};
use crate::readings::Accepted;
use crate::readings::answer::LessonLevel;
use crate::readings::lesson::ToldLesson;
use crate::vault::{Catalog, Head, Vault};

const LESSON: &[&str] =
    &["id", "status", "level", "confidence", "seen", "where", "project", "learned", "text", "do", "tags"];
const QUIRK: &[&str] = &[
    "id",
    "status",
    "level",
    "where",
    "frequency",
    "severity",
    "confidence",
    "seen",
    "project",
    "learned",
    "text",
    "do",
];
const OUTCOME: &[&str] = &["session", "outcome", "type", "goal", "result", "decisions", "open", "reading"];
const SEGMENT: &[&str] = &[
    "session",
    "id",
    "type",
    "outcome",
    "goal",
    "language",
    "frameworks",
    "steps",
    "tokens",
    "cost",
    "machine",
    "entries",
    "started",
    "ended",
    "ended_by",
    "topics",
    "version",
    "analyzed",
    "summary",
];
/// What is shown of a segment where nobody names columns.
const SEGMENT_SHOWN: &[&str] =
    &["session", "id", "type", "outcome", "language", "steps", "started", "ended_by", "summary"];

/// The columns of a kind; `None` where its rows come of sessions.
pub(super) const fn columns(kind: QueryKind) -> Option<&'static [&'static str]> {
    match kind {
        QueryKind::Lessons => Some(LESSON),
        QueryKind::Quirks => Some(QUIRK),
        QueryKind::Segments => Some(SEGMENT),
        QueryKind::Outcomes => Some(OUTCOME),
        _ => None,
    }
}

pub(super) fn run(args: &Args, columns: &'static [&'static str], cx: &Context<'_>) -> Result<Box<dyn Output>> {
    if !args.conditions.is_empty() || !args.group_by.is_empty() || !args.aggregates.is_empty() || args.sort.is_some() {
        return Err(Error::usage(format!("--where, --group-by, --agg and --sort are not for {}", args.kind.name()))
            .with_hint("use --columns, -n and -f json, jsonl or csv"));
    }
    let mut chosen: Vec<&'static str> = Vec::new();
    for name in &args.columns {
        let known = columns.iter().find(|known| known.eq_ignore_ascii_case(name.trim()));
        chosen.push(known.ok_or_else(|| {
            Error::usage(format!("--columns: {} have no column `{}`", args.kind.name(), name.trim()))
                .with_hint(format!("columns: {}", columns.join(", ")))
        })?);
    }
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let shelf = Shelf::within(&catalog, &vault, cx.global.reach);
    let mut found = match args.kind {
        QueryKind::Segments => segments(&shelf, &catalog, &vault, cx),
        QueryKind::Outcomes => outcomes(&shelf),
        kind => {
            let told = told_here(&shelf, &vault, cx)?;
            lessons(&shelf, &told, kind)
        }
    };
    if args.reverse {
        found.reverse();
    }
    let matched = found.len();
    if args.limit > 0 {
        found.truncate(args.limit);
    }
    if matched == 0 {
        cx.ui.note(&format!("no {} in this vault; `cru read SESSION` makes readings", args.kind.one()));
    }
    let shown =
        if args.kind == QueryKind::Segments && cx.global.format == Format::Text { SEGMENT_SHOWN } else { columns };
    let columns = if chosen.is_empty() { shown.to_vec() } else { chosen };
    Ok(Box::new(NotedRows { kind: args.kind, columns, matched, rows: found }))
}

/// Lessons of notes, and those that sessions tell.
fn lessons(shelf: &Shelf, told: &[Told], kind: QueryKind) -> Vec<Json> {
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
    all.filter(|(it, _)| kind != QueryKind::Quirks || quirk(it.level)).map(row).collect()
}

/// The segments of every session: what they were as an accepted reading says, else as the record does.
fn segments(shelf: &Shelf, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> Vec<Json> {
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
        all.into_iter().map(row).collect::<Vec<_>>()
    };
    let mut heads: Vec<&Head> = catalog.sessions().filter(|head| cx.global.reach.allows(&head.meta)).collect();
    heads.sort_by_key(|head| (std::cmp::Reverse(head.meta.started), head.path.clone()));
    heads.par_iter().map(of).collect::<Vec<_>>().concat()
}

/// What came of each session that has an accepted reading.
fn outcomes(shelf: &Shelf) -> Vec<Json> {
    let row = |(session, it): (String, Accepted)| {
        json!({
            "session": session, "outcome": it.outcome.as_ref().map(|it| it.state), "type": it.main_type(), "goal": it.goal,
            "result": it.outcome.map(|it| it.text), "decisions": it.decisions, "open": it.open, "reading": it.name,
        })
    };
    shelf.all_accepted().into_iter().map(row).collect()
}

/// Rows of notes.
struct NotedRows {
    kind: QueryKind,
    columns: Vec<&'static str>,
    matched: usize,
    rows: Vec<Json>,
}

impl NotedRows {
    fn objects(&self) -> impl Iterator<Item = Json> {
        self.rows.iter().map(|row| {
            let cell = |name: &&str| ((*name).to_owned(), row.get(*name).cloned().unwrap_or(Json::Null));
            Json::Object(self.columns.iter().map(cell).collect::<Map<_, _>>())
        })
    }
}

impl Output for NotedRows {
    fn text(&self, view: &View) -> String {
        let names: Vec<String> = self.columns.iter().map(|name| name.to_uppercase()).collect();
        let heads: Vec<(&str, Align)> = names.iter().map(|name| (name.as_str(), Align::Left)).collect();
        let mut table = Table::new(&heads);
        for row in &self.rows {
            table.row(self.columns.iter().map(|name| match row.get(*name) {
                None | Some(Json::Null) => Cell::new("–"),
                Some(Json::String(text)) => Cell::new(text),
                Some(Json::Array(items)) => {
                    Cell::new(items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join("; "))
                }
                Some(other) => Cell::new(other.to_string()),
            }));
        }
        let rows = self.rows.len();
        let more = if rows < self.matched { format!(" of {}", self.matched) } else { String::new() };
        format!(
            "{}\n{rows}{more} {}\n",
            table.render(view),
            plural(rows as u64, "row").split(' ').next_back().unwrap_or_default()
        )
    }

    fn json(&self) -> serde_json::Result<Json> {
        let rows: Vec<Json> = self.objects().collect();
        Ok(
            json!({ "schema": 1, "kind": self.kind.name(), "matched": self.matched, "total": self.matched, "rows": rows }),
        )
    }

    fn export(&self, format: Format) -> Option<String> {
        rows::export(format, &self.columns, self.objects())
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.matched == 0)
    }
}
