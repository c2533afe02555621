//! The account of a tag or of a folder.

use std::collections::HashSet;

use super::ToldSummary;
use crate::base::text::note_name;
use crate::base::{Error, Result};
use crate::commands::read::Shelf;
use crate::commands::{Context, reading};
use crate::index::{Record, SessionRow, Table};
use crate::memory::summary::{Account, Section};
use crate::readings::note::ReviewStatus;
use crate::session::escape;
use crate::session::words::quote::quote;
use crate::vault::{Catalog, Vault};

/// Bytes of the account of a topic.
const BYTES: usize = 12_000;
/// Characters of one fact.
const LONGEST: usize = 240;

/// What a topic is.
enum Topic<'a> {
    Tag(&'a str),
    Path(&'a str),
}

impl<'a> Topic<'a> {
    fn of(text: &'a str) -> Result<Self> {
        let text = text.trim();
        let path = text.trim_start_matches("./").trim_end_matches('/');
        match text.strip_prefix('#') {
            Some(tag) if !tag.is_empty() => Ok(Self::Tag(tag)),
            None if path.is_empty() => Err(Error::usage("the topic is empty")),
            None if text.contains('/') => Ok(Self::Path(path)),
            None => Ok(Self::Tag(text)),
            Some(_) => Err(Error::usage("the topic is empty")),
        }
    }

    const fn name(&self) -> &str {
        match self {
            Self::Tag(name) | Self::Path(name) => name,
        }
    }
}

/// Whether a file lies below a path; notes have paths in their project, or whole ones.
fn is_below(file: &str, path: &str) -> bool {
    let file = file.trim_start_matches("./");
    let rest = |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    rest(file) || file.match_indices('/').any(|(at, _)| rest(&file[at + 1..]))
}

/// What one session says of a topic.
struct OnTopic {
    row: SessionRow,
    decisions: Vec<String>,
    errors: Vec<String>,
}

impl OnTopic {
    fn of(record: Record, topic: &Topic<'_>) -> Option<Self> {
        let phases: Option<HashSet<String>> = match topic {
            Topic::Tag(_) => None,
            Topic::Path(path) => {
                let written = record.files.iter().filter(|it| it.access != "read" && is_below(&it.path, path));
                let phases: HashSet<String> = written.map(|it| it.phase.clone().unwrap_or_default()).collect();
                if phases.is_empty() {
                    return None;
                }
                Some(phases)
            }
        };
        let is_meant = |phase: &Option<String>| {
            phases.as_ref().is_none_or(|phases| phases.contains(phase.as_deref().unwrap_or_default()))
        };
        let line = |text: &str| escape::inline(&quote(text, LONGEST));
        let decision = |title: &str, why: &Option<String>| match why {
            Some(why) if !why.trim().is_empty() => format!("{} – {}", line(title), line(why)),
            _ => line(title),
        };
        let decisions = record.decisions.iter().filter(|it| is_meant(&it.phase));
        let errors = record.errors.iter().filter(|it| is_meant(&it.phase));
        let error = |title: &str, resolution: &Option<String>| match resolution {
            Some(how) => format!("{} – resolved: {}", line(title), line(how)),
            None => format!("{} – open", line(title)),
        };
        Some(Self {
            decisions: decisions.map(|it| decision(&it.title, &it.why)).collect(),
            errors: errors.map(|it| error(&it.title, &it.resolution)).collect(),
            row: record.session,
        })
    }
}

/// The account of a topic.
pub(super) fn topic(text: &str, vault: &Vault, cx: &Context<'_>) -> Result<ToldSummary> {
    let topic = Topic::of(text)?;
    let snapshot = reading::snapshot(vault, cx)?;
    let may_be = |row: &SessionRow| match &topic {
        _ if row.subagent => false,
        Topic::Tag(tag) => row.tags.split(", ").any(|own| own.trim_start_matches('#').eq_ignore_ascii_case(tag)),
        Topic::Path(_) => true,
    };
    let mut told: Vec<OnTopic> = Vec::new();
    let tables = [Table::Decisions, Table::Errors, Table::Files];
    snapshot.each_record(may_be, &tables, |record| OnTopic::of(record, &topic), |it| told.extend(it));
    told.sort_by(|a, b| (b.row.started, &a.row.path).cmp(&(a.row.started, &b.row.path)));
    let names: HashSet<&str> = told.iter().map(|it| note_name(&it.row.path)).collect();
    let shelf = Shelf::read(&Catalog::read(vault), vault);
    let of_topic =
        |place: Option<&str>| matches!((&topic, place), (Topic::Path(path), Some(place)) if place.contains(path));
    let mut lessons = Section { head: "**Lessons**".to_owned(), lines: Vec::new() };
    for it in shelf.lessons.iter().filter(|it| it.lesson.status == ReviewStatus::Accepted) {
        let is_theirs = it.lesson.sessions.iter().any(|name| names.contains(name.as_str()));
        if is_theirs || of_topic(it.lesson.place.as_deref()) {
            lessons.push(1, format!("{} ([[{}]])", escape::inline(&it.lesson.text), note_name(&it.path)));
        }
    }
    let mut decisions = Section { head: "**Decisions**".to_owned(), lines: Vec::new() };
    let mut errors = Section { head: "**Errors**".to_owned(), lines: Vec::new() };
    let mut sessions = Section { head: "**Sessions**".to_owned(), lines: Vec::new() };
    for it in &told {
        let name = note_name(&it.row.path);
        let day =
            it.row.started.map(|at| format!("{} ", at.to_zoned(snapshot.zone().clone()).date())).unwrap_or_default();
        sessions.push(2, format!("{day}[[{name}]] {}", escape::inline(&it.row.title)));
        for text in &it.decisions {
            decisions.push(2, format!("{text} ([[{name}]])"));
        }
        for text in &it.errors {
            errors.push(3, format!("{text} ([[{name}]])"));
        }
    }
    let count = told.len() as u64;
    let total = format!("**{}**: {}", escape::inline(topic.name()), crate::base::text::plural(count, "session"));
    let sections = [lessons, decisions, errors, sessions].into_iter().filter(|it| !it.lines.is_empty()).collect();
    let text = Account { total, sections }.render(BYTES);
    let name = topic.name().to_owned();
    let (zone, sessions) = (String::new(), count);
    Ok(ToldSummary { schema: 1, kind: "topic", name, zone, sessions, text, note: None, written: false })
}
