//! Rows of notes beside the sessions: lessons, quirks, and segments and outcomes of accepted readings.

use serde_json::{Map, Value as Json, json};

use super::Args;
use super::kind::QueryKind;
use crate::base::text::plural;
use crate::base::{Error, Result};
use crate::commands::output::{Align, Cell, Table, rows};
use crate::commands::read::Shelf;
use crate::commands::{Context, Format, Output, View, reading};
use crate::readings::Accepted;
use crate::readings::answer::LessonLevel;
use crate::vault::Catalog;

const LESSON: &[&str] = &["id", "status", "level", "confidence", "seen", "where", "project", "learned", "text"];
const OUTCOME: &[&str] = &["session", "outcome", "type", "goal", "result", "decisions", "open", "reading"];
const SEGMENT: &[&str] = &["session", "id", "type", "outcome", "topics", "summary"];

/// The columns of a kind; `None` where its rows come of sessions.
pub(super) const fn columns(kind: QueryKind) -> Option<&'static [&'static str]> {
    match kind {
        QueryKind::Lessons | QueryKind::Quirks => Some(LESSON),
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
    let shelf = Shelf::within(&Catalog::read(&vault), &vault, cx.global.reach);
    let mut found = match args.kind {
        QueryKind::Segments => segments(&shelf),
        QueryKind::Outcomes => outcomes(&shelf),
        kind => lessons(&shelf, kind),
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
    let columns = if chosen.is_empty() { columns.to_vec() } else { chosen };
    Ok(Box::new(NotedRows { kind: args.kind, columns, matched, rows: found }))
}

fn lessons(shelf: &Shelf, kind: QueryKind) -> Vec<Json> {
    let quirk = |level: LessonLevel| matches!(level, LessonLevel::Model | LessonLevel::Tool | LessonLevel::User);
    let all = shelf.lessons.iter().map(|it| &it.lesson).filter(|it| kind != QueryKind::Quirks || quirk(it.level));
    let row = |it: &crate::readings::lesson::Lesson| {
        json!({
            "id": it.id, "status": it.status, "level": it.level, "confidence": it.confidence, "seen": it.sessions.len(),
            "where": it.place, "project": it.project, "learned": it.learned, "text": it.text,
        })
    };
    all.map(row).collect()
}

/// Of each session the reading that counts.
fn segments(shelf: &Shelf) -> Vec<Json> {
    let mut rows = Vec::new();
    for (session, accepted) in shelf.all_accepted() {
        for it in &accepted.segments {
            rows.push(json!({
                "session": session, "id": it.id, "type": it.kind, "outcome": it.outcome, "topics": it.topics,
                "summary": it.summary.text,
            }));
        }
    }
    rows
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

    fn paged(&self) -> bool {
        true
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.matched == 0)
    }
}
