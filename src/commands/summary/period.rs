//! The account of a day and of a week.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use rayon::prelude::*;

use super::{ToldSummary, zone};
use crate::base::text::{note_name, plural, thousands};
use crate::base::{Error, Result};
use crate::commands::output::{Spent, duration, proof_text};
use crate::commands::prices::prices;
use crate::commands::{Context, reading};
use crate::index::SessionRow;
use crate::index::table::Families;
use crate::memory::summary::{Account, DAY_BYTES, PeriodFacts, Section, TimeWindow};
use crate::session::escape;
use crate::vault::{Vault, VaultPath};

/// Bytes of the account of a week.
const WEEK_BYTES: usize = 12_000;

/// A session and what it did in the time.
struct ToldSession {
    row: SessionRow,
    facts: PeriodFacts,
    /// With what worked for it.
    spent: Spent,
}

/// The account of a day.
pub(super) fn day(date: Date, vault: &Vault, cx: &Context<'_>) -> Result<ToldSummary> {
    let zone = zone(vault);
    let told = gather(window(date, date, &zone)?, vault, cx)?;
    let mut account = Account { total: total(&date.to_string(), &zone, &told), sections: Vec::new() };
    for it in &told {
        account.sections.push(session(it, &zone));
    }
    Ok(summary("day", date.to_string(), &zone, told.len(), account.render(DAY_BYTES)))
}

/// The account of the week, from Monday on, that a day lies in.
pub(super) fn week(date: Date, vault: &Vault, cx: &Context<'_>) -> Result<ToldSummary> {
    let zone = zone(vault);
    let iso = date.iso_week_date();
    let name = format!("{}-W{:02}", iso.year(), iso.week());
    let first = date.checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days()).map_err(|_| no_day(date))?;
    let last = first.checked_add(6.days()).map_err(|_| no_day(date))?;
    let told = gather(window(first, last, &zone)?, vault, cx)?;
    let mut by_project: BTreeMap<String, Vec<&ToldSession>> = BTreeMap::new();
    for it in &told {
        by_project.entry(it.row.project.clone().unwrap_or_default()).or_default().push(it);
    }
    let mut account =
        Account { total: total(&format!("{name}, {first} to {last}"), &zone, &told), sections: Vec::new() };
    for (project, sessions) in &by_project {
        account.sections.push(of_project(project, sessions, &zone));
    }
    let mut open = Section { head: "**Open**".to_owned(), lines: Vec::new() };
    for it in &told {
        for text in &it.facts.open {
            open.push(1, format!("{} ([[{}]])", escape::inline(text), note_name(&it.row.path)));
        }
    }
    if !open.lines.is_empty() {
        account.sections.push(open);
    }
    Ok(summary("week", name, &zone, told.len(), account.render(WEEK_BYTES)))
}

fn summary(kind: &'static str, name: String, zone: &TimeZone, sessions: usize, text: String) -> ToldSummary {
    let zone = zone_name(zone).to_owned();
    ToldSummary { schema: 1, kind, name, zone, sessions: sessions as u64, text, note: None, written: false }
}

fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().filter(|name| *name != "Etc/UTC").unwrap_or("UTC")
}

fn no_day(date: Date) -> Error {
    Error::usage(format!("{date} has no day in this time zone"))
}

/// From the first moment of one day to the end of another.
fn window(first: Date, last: Date, zone: &TimeZone) -> Result<TimeWindow> {
    let start = |date: Date| zone.to_zoned(date.at(0, 0, 0, 0)).map(|zoned| zoned.timestamp());
    let next = last.tomorrow().map_err(|_| no_day(last))?;
    Ok(TimeWindow { start: start(first).map_err(|_| no_day(first))?, end: start(next).map_err(|_| no_day(next))? })
}

/// The sessions that did something in the time, by its first moment; those of sub-agents are part of their parents' work.
/// One that is kept from agents is not told of: an account is a page that they read.
fn gather(window: TimeWindow, vault: &Vault, cx: &Context<'_>) -> Result<Vec<ToldSession>> {
    let (snapshot, prices) = (reading::snapshot(vault, cx)?, prices(cx)?);
    let families = Families::of(snapshot.sessions());
    let touches = |row: &&SessionRow| {
        let Some(from) = row.started else { return false };
        let length = SignedDuration::from_millis(i64::try_from(row.duration_ms.unwrap_or(0)).unwrap_or(i64::MAX));
        let to = from.checked_add(length).unwrap_or(Timestamp::MAX).max(row.ended.unwrap_or(from));
        !families.is_shown_by_another(row) && !row.private && window.touches(from, to)
    };
    let rows: Vec<SessionRow> = snapshot.sessions().iter().filter(touches).cloned().collect();
    let read = |row: SessionRow| {
        let session = vault.session(&VaultPath::new(&row.path)?).ok()?;
        let spent = Spent::of_family(&row, &families, &prices);
        Some(ToldSession { facts: PeriodFacts::of(&session, window)?, row, spent })
    };
    let mut told: Vec<ToldSession> = rows.into_par_iter().filter_map(read).collect();
    told.sort_by(|a, b| (a.facts.from, &a.row.path).cmp(&(b.facts.from, &b.row.path)));
    Ok(told)
}

/// The first line of an account.
fn total(name: &str, zone: &TimeZone, told: &[ToldSession]) -> String {
    let steps: usize = told.iter().map(|it| it.facts.steps).sum();
    let commits: usize = told.iter().map(|it| it.facts.commits.len()).sum();
    let active: SignedDuration = told.iter().map(|it| it.facts.active).sum();
    let mut line = format!(
        "**{name}** ({}): {}, {}",
        zone_name(zone),
        plural(told.len() as u64, "session"),
        plural(steps as u64, "step")
    );
    if commits > 0 {
        let _ = write!(line, ", {}", plural(commits as u64, "commit"));
    }
    line.push_str(&worked(active));
    // Tokens have no time of their own: a session that goes on elsewhere has some there.
    if !told.is_empty() && told.iter().all(|it| it.facts.is_whole) {
        line.push_str(&spent(told.iter().map(|it| it.spent).fold(Spent::default(), Spent::plus)));
    }
    line
}

fn worked(active: SignedDuration) -> String {
    let seconds = u64::try_from(active.as_secs()).unwrap_or(0);
    if seconds < 60 { String::new() } else { format!(", {} active", duration(seconds)) }
}

fn spent(Spent { tokens, cost }: Spent) -> String {
    let mut text = String::new();
    if tokens > 0 {
        let _ = write!(text, ", {} tokens", thousands(tokens));
    }
    if cost.known_usd.is_some() {
        let _ = write!(text, ", {}", cost.text());
    }
    text
}

/// A session in the account of a day.
fn session(it: &ToldSession, zone: &TimeZone) -> Section {
    let ToldSession { row, facts, spent: used } = it;
    let mut head = format!("[[{}]] {}", note_name(&row.path), escape::inline(&row.title));
    let clock = |at: Option<Timestamp>| at.map(|at| at.to_zoned(zone.clone()).strftime("%H:%M").to_string());
    match (clock(facts.from), clock(facts.to)) {
        (Some(from), Some(to)) if from == to => head.push_str(&format!(", {from}")),
        (Some(from), Some(to)) => head.push_str(&format!(", {from}–{to}")),
        _ => {}
    }
    if facts.steps > 0 {
        let _ = write!(head, ", {}", plural(facts.steps as u64, "step"));
    }
    head.push_str(&worked(facts.active));
    if facts.is_whole {
        head.push_str(&spent(*used));
    }
    let proof = proof_text(row);
    if let Some(proof) = proof {
        let _ = write!(head, ", {proof}");
    }
    let mut section = Section { head, lines: Vec::new() };
    let quoted = |text: &str| format!("“{}”", escape::inline(text));
    for (at, text) in facts.requests.iter().enumerate() {
        section.push(if at == 0 { 1 } else { 6 }, format!("asked: {}", quoted(text)));
    }
    for text in &facts.corrections {
        section.push(2, format!("corrected: {}", quoted(text)));
    }
    for text in &facts.decisions {
        section.push(3, format!("decided: {}", escape::inline(text)));
    }
    let (named, bare): (Vec<_>, Vec<_>) = facts.commits.iter().partition(|(_, subject)| !subject.is_empty());
    for (id, subject) in named {
        section.push(4, format!("commit `{id}` {}", escape::inline(subject)));
    }
    if !bare.is_empty() {
        let ids: Vec<String> = bare.iter().map(|(id, _)| format!("`{id}`")).collect();
        section.push(4, format!("commits without a subject: {}", ids.join(", ")));
    }
    for text in &facts.errors {
        section.push(6, format!("error: {}", escape::inline(text)));
    }
    if facts.fixed > 0 {
        section.push(7, format!("{} resolved", plural(facts.fixed as u64, "error")));
    }
    for text in &facts.lessons {
        section.push(2, format!("lesson: {}", escape::inline(text)));
    }
    for text in &facts.open {
        section.push(5, format!("open: {}", escape::inline(text)));
    }
    section
}

/// A project in the account of a week: its sessions, then what was decided in them.
fn of_project(project: &str, sessions: &[&ToldSession], zone: &TimeZone) -> Section {
    let name = project.trim_end_matches('/').rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
    let steps: usize = sessions.iter().map(|it| it.facts.steps).sum();
    let commits: usize = sessions.iter().map(|it| it.facts.commits.len()).sum();
    let mut head = format!(
        "**{}**: {}, {}",
        escape::inline(name.unwrap_or("without a project")),
        plural(sessions.len() as u64, "session"),
        plural(steps as u64, "step")
    );
    if commits > 0 {
        let _ = write!(head, ", {}", plural(commits as u64, "commit"));
    }
    let mut section = Section { head, lines: Vec::new() };
    for it in sessions {
        let day = it.facts.from.map(|at| at.to_zoned(zone.clone()).date().to_string()).unwrap_or_default();
        let mut line = format!("{day} [[{}]] {}", note_name(&it.row.path), escape::inline(&it.row.title));
        if let Some(proof) = proof_text(&it.row) {
            let _ = write!(line, ", {proof}");
        }
        section.push(1, line);
    }
    for it in sessions {
        for text in &it.facts.decisions {
            section.push(2, format!("decided: {} ([[{}]])", escape::inline(text), note_name(&it.row.path)));
        }
        for text in &it.facts.corrections {
            section.push(3, format!("corrected: “{}” ([[{}]])", escape::inline(text), note_name(&it.row.path)));
        }
    }
    section
}
