//! The lessons of callouts that no note of the vault has: the one list that queries, lists, contexts and reviews ask.

use jiff::Timestamp;

use crate::base::text::note_name;
use crate::base::{Result, Span};
use crate::commands::read::Shelf;
use crate::commands::{Context, reading};
use crate::index::search::{Order, Search, SearchOptions};
use crate::index::{Query, SessionRow, Snapshot};
use crate::readings::lesson::{Likeness, TOLD, ToldLesson, likeness};
use crate::session::read::content_of;
use crate::session::{Callout, Item};
use crate::vault::{Vault, VaultPath};

/// Callouts of one kind that are looked at, the newest.
const MOST: usize = 1_000;

/// What a session tells, and when.
pub(in crate::commands) struct Told {
    pub(in crate::commands) lesson: ToldLesson,
    /// The note, relative to the vault.
    pub(in crate::commands) path: String,
    pub(in crate::commands) session: String,
    pub(in crate::commands) project: Option<String>,
    pub(in crate::commands) at: Option<Timestamp>,
}

/// All of them, in the order of time, but for those that a lesson of the vault has.
pub(in crate::commands) fn told(
    shelf: &Shelf,
    snapshot: &Snapshot,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<Vec<Told>> {
    let mut all: Vec<Told> = Vec::new();
    for kind in TOLD {
        for (row, span, time) in blocks(kind, snapshot, cx)? {
            let Some(bytes) = VaultPath::new(&row.path).and_then(|path| vault.read(&path).ok()) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            let Some(callout) = callout_at(&text, span, kind) else { continue };
            let Some(mut lesson) = ToldLesson::of(&callout, &row.id, note_name(&row.path)) else { continue };
            let at = time.or(row.started);
            lesson.lesson.project.clone_from(&row.project);
            lesson.lesson.learned = at.map(|at| at.to_string());
            all.push(Told { lesson, session: row.id, project: row.project, path: row.path, at });
        }
    }
    all.retain(|it| {
        !shelf.lessons.iter().map(|known| &known.lesson).any(|known| {
            likeness(&known.text, &it.lesson.lesson.text) == Likeness::Same
                // A callout without an id has no place of its own.
                || (it.lesson.link().contains("#^")
                    && known.evidence.iter().any(|line| line.contains(&format!("[[{}]]", it.lesson.link()))))
        })
    });
    all.sort_by(|a, b| (a.at, &a.lesson.lesson.id).cmp(&(b.at, &b.lesson.lesson.id)));
    Ok(all)
}

/// The same of the vault at hand.
pub(in crate::commands) fn told_here(shelf: &Shelf, vault: &Vault, cx: &Context<'_>) -> Result<Vec<Told>> {
    let snapshot = reading::snapshot(vault, cx)?;
    told(shelf, &snapshot, vault, cx)
}

/// The blocks of a kind: the note, and the bytes.
pub(in crate::commands) fn blocks(
    kind: &str,
    snapshot: &Snapshot,
    cx: &Context<'_>,
) -> Result<Vec<(SessionRow, Span, Option<Timestamp>)>> {
    let text = format!("kind:{kind}");
    let query = Query::parse(&text, &cx.env.now().to_zoned(snapshot.zone().clone()))
        .map_err(|error| error.into_usage(&text))?;
    let options = SearchOptions { order: Order::Time, limit: MOST, ..SearchOptions::default() };
    let hits = Search::new(snapshot, &query, &options).hits()?;
    let of = |hit: crate::index::search::Hit| Some((snapshot.session(hit.key)?.clone(), hit.span, hit.time));
    Ok(hits.into_iter().filter_map(of).collect())
}

/// The callout of a kind that stands there, with its id.
pub(in crate::commands) fn callout_at(text: &str, span: Span, kind: &str) -> Option<Callout> {
    let below = text.get(span.end..)?.trim_start();
    let id_line = below.lines().next().filter(|line| line.starts_with('^')).unwrap_or_default();
    let alone = format!("## Callout\n\n{}\n\n{id_line}\n", text.get(span.start..span.end)?);
    let session = content_of(alone);
    session.items().find_map(|(_, item)| match item {
        Item::Callout(callout) if callout.kind == kind => Some(callout.clone()),
        _ => None,
    })
}
