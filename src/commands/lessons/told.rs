//! The lessons of callouts that no note of the vault has: the one list that queries, lists, contexts and reviews ask.

use std::cmp::Reverse;
use std::collections::HashSet;

use jiff::Timestamp;
use rayon::prelude::*;

use crate::base::text::{lossy, note_name};
use crate::base::{Result, Span};
use crate::commands::read::Shelf;
use crate::commands::{Context, reading};
use crate::index::search::{Hit, Order, Search, SearchOptions};
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
    newest_told(usize::MAX, |_| true, shelf, snapshot, vault, cx)
}

/// The newest of them, so many at least where there are as many, of the sessions that are wanted. No other note is read.
pub(in crate::commands) fn newest_told(
    least: usize,
    wanted: impl Fn(&SessionRow) -> bool,
    shelf: &Shelf,
    snapshot: &Snapshot,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<Vec<Told>> {
    let mut found = Vec::new();
    for kind in TOLD {
        let blocks = blocks(kind, snapshot, cx)?.into_iter().filter(|(row, ..)| wanted(row));
        found.extend(blocks.map(|(row, span, time)| (Reverse(time.or(row.started)), kind, row, span)));
    }
    found.sort_by_key(|(at, ..)| *at);
    let read = |(Reverse(at), kind, row, span): &(Reverse<Option<Timestamp>>, &str, &SessionRow, Span)| {
        let bytes = vault.read(&VaultPath::new(&row.path)?).ok()?;
        let callout = callout_at(&lossy(&bytes), *span, kind)?;
        let mut lesson = ToldLesson::of(&callout, &row.id, note_name(&row.path))?;
        lesson.lesson.project.clone_from(&row.project);
        lesson.lesson.learned = at.map(|at| at.to_string());
        let (session, project, path) = (row.id.clone(), row.project.clone(), row.path.clone());
        Some(Told { lesson, session, project, path, at: *at })
    };
    let is_new = |it: &Told| {
        !shelf.lessons.iter().map(|known| &known.lesson).any(|known| {
            likeness(&known.text, &it.lesson.lesson.text) == Likeness::Same
                // A callout without an id has no place of its own.
                || (it.lesson.link().contains("#^")
                    && known.evidence.iter().any(|line| line.contains(&format!("[[{}]]", it.lesson.link()))))
        })
    };
    let (mut all, mut rest) = (Vec::new(), found.as_slice());
    while let Some(last) = rest.get(least.min(rest.len()).saturating_sub(1)).filter(|_| all.len() < least) {
        // Which of one time is newer only their notes tell.
        let (now, later) = rest.split_at(rest.partition_point(|it| it.0 <= last.0));
        all.extend(now.par_iter().filter_map(read).filter(is_new).collect::<Vec<_>>());
        rest = later;
    }
    all.sort_by(|a, b| (a.at, &a.lesson.lesson.id).cmp(&(b.at, &b.lesson.lesson.id)));
    Ok(all)
}

/// All of the vault at hand.
pub(in crate::commands) fn told_here(shelf: &Shelf, vault: &Vault, cx: &Context<'_>) -> Result<Vec<Told>> {
    let snapshot = reading::snapshot(vault, cx)?;
    told(shelf, &snapshot, vault, cx)
}

/// The blocks of a kind: the note, and the bytes.
pub(in crate::commands) fn blocks<'a>(
    kind: &str,
    snapshot: &'a Snapshot,
    cx: &Context<'_>,
) -> Result<Vec<(&'a SessionRow, Span, Option<Timestamp>)>> {
    let options = SearchOptions { order: Order::Time, limit: MOST, ..SearchOptions::default() };
    let of = |hit: Hit| Some((snapshot.session(hit.key)?, hit.span, hit.time));
    Ok(hits(&format!("kind:{kind}"), &options, snapshot, cx)?.into_iter().filter_map(of).collect())
}

/// The paths of the notes with a block that `query` finds, so many at most, those with the newest.
pub(in crate::commands) fn notes_with(
    query: &str,
    most: usize,
    snapshot: &Snapshot,
    cx: &Context<'_>,
) -> Result<HashSet<String>> {
    let limit = snapshot.len().clamp(1, most);
    let options = SearchOptions { order: Order::Time, limit, per_session: 1, ..SearchOptions::default() };
    let of = |hit: Hit| Some(snapshot.session(hit.key)?.path.clone());
    Ok(hits(query, &options, snapshot, cx)?.into_iter().filter_map(of).collect())
}

fn hits(text: &str, options: &SearchOptions, snapshot: &Snapshot, cx: &Context<'_>) -> Result<Vec<Hit>> {
    let query =
        Query::parse(text, &cx.env.now().to_zoned(snapshot.zone().clone())).map_err(|error| error.into_usage(text))?;
    Search::new(snapshot, &query, options).hits()
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
