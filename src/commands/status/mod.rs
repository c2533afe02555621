//! `cru status`: the vault at a glance.

mod chats;
mod due;
mod evidence;
mod retention;
#[cfg(test)]
mod tests;
pub(super) mod waiting;

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use self::due::Due;
use self::evidence::{AtRisk, Deletes, Evidence};
use self::waiting::Waiting;
use super::check::quoted;
use super::history::line;
use super::output::style::{self, paint};
use super::output::{Align, Cell, Table, byte_size};
use super::{Context, Output, PlainOutput, View, current, reading};
use crate::base::text::{plural, thousands};
use crate::base::{Env, Result};
use crate::index::SessionRow;
use crate::index::table::{RowView, ViewedRow};
use crate::live::hook::unfiled;
use crate::vault::{Catalog, Head, Link, LinkTrust, Vault};

/// Statuses in the order of a session's life.
const STATUSES: [&str; 5] = ["active", "paused", "completed", "failed", "abandoned"];

/// Rows of a list that a glance takes in.
const MOST: usize = 8;

/// Show the state of the vault
///
/// Its sessions, what waits to be written, which transcripts are gone, and which their host will delete within seven days,
/// those that were never imported among them.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// All rows of every list
    #[arg(short, long)]
    all: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let snapshot = reading::snapshot(&vault, cx)?;
    let rows = snapshot.sessions();
    let catalog = Catalog::of(&vault, snapshot.walk().clone());
    let current = current::path(rows, &vault, cx.env);
    let current = current.and_then(|path| rows.iter().find(|row| row.path == path));
    let entries = snapshot.parts().iter().map(|part| part.searcher().num_docs()).sum();
    let index = IndexSize { entries, bytes: snapshot.size() };
    Ok(Box::new(StatusReport {
        schema: 1,
        vault: vault.root().canonicalize().unwrap_or_else(|_| vault.root().to_owned()),
        notes: catalog.heads.len() as u64,
        copies: catalog.conflict_copies().map(ConflictCopy::of).collect(),
        sessions: rows.len() as u64,
        statuses: statuses(rows),
        current: current.map(|row| {
            let view = RowView::of_sessions(&["id", "title", "path", "status", "started"]);
            view.session(row, row.subagent)
        }),
        waiting: waiting::all(&vault, cx.env, || rows.iter().map(|row| row.id.clone()).collect())?,
        unfiled: unfiled::all(cx.env).iter().map(|it| it.events).sum(),
        due: Due::of(rows, &catalog, &vault, index.bytes, cx),
        links: vault.links(),
        foreign_cache: vault.root().join(".cru/cache").symlink_metadata().is_ok(),
        index,
        evidence: Evidence::of(rows, &vault, cx.env),
        now: cx.env.now(),
        most: if args.all { usize::MAX } else { MOST },
    }))
}

/// The transcripts that will be deleted within seven days: of which host, from when on, and whether they are in a note.
pub(super) fn at_risk(rows: &[SessionRow], vault: &Vault, env: &Env) -> Vec<(&'static str, Timestamp, bool)> {
    Evidence::of(rows, vault, env).at_risk.into_iter().map(|it| (it.host, it.from, it.session.is_some())).collect()
}

#[derive(Debug, Serialize)]
struct StatusReport {
    schema: u32,
    vault: std::path::PathBuf,
    /// Markdown files, sessions among them.
    notes: u64,
    sessions: u64,
    /// Sessions by status, in the order of a session's life.
    statuses: Vec<StatusCount>,
    current: Option<ViewedRow>,
    waiting: Vec<Waiting>,
    /// Events of hooks that wait for a vault.
    unfiled: usize,
    /// Copies of sessions that a sync service left.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copies: Vec<ConflictCopy>,
    /// Symbolic links below the vault, with what may be written through each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link>,
    /// Whether the vault holds a cache that came with it, or that an older version left: it is never looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    foreign_cache: bool,
    due: Due,
    index: IndexSize,
    evidence: Evidence,
    #[serde(skip)]
    now: Timestamp,
    #[serde(skip)]
    most: usize,
}

/// A copy of a session's note.
#[derive(Debug, Serialize)]
struct ConflictCopy {
    note: String,
    copy: String,
    /// What brings them together.
    command: String,
}

impl ConflictCopy {
    fn of((copy, note): (&Head, &Head)) -> Self {
        let command = format!("cru admin merge {} {}", quoted(&note.path), quoted(&copy.path));
        Self { note: note.path.to_string(), copy: copy.path.to_string(), command }
    }
}

#[derive(Debug, Serialize)]
struct StatusCount {
    /// Nothing where the notes do not tell.
    status: Option<String>,
    sessions: u64,
}

fn statuses(rows: &[SessionRow]) -> Vec<StatusCount> {
    let mut counts: std::collections::BTreeMap<(usize, Option<&str>), u64> = std::collections::BTreeMap::new();
    for row in rows {
        let status = row.status.as_deref();
        let place = STATUSES.iter().position(|known| Some(*known) == status);
        let last = STATUSES.len() + usize::from(status.is_none());
        *counts.entry((place.unwrap_or(last), status)).or_default() += 1;
    }
    let count = |((_, status), sessions): ((usize, Option<&str>), u64)| StatusCount {
        status: status.map(str::to_owned),
        sessions,
    };
    counts.into_iter().map(count).collect()
}

/// The search index.
#[derive(Debug, Serialize)]
struct IndexSize {
    entries: u64,
    bytes: u64,
}

impl StatusReport {
    fn head(&self, out: &mut String) {
        let mut row = |name: &str, text: String| {
            let _ = writeln!(out, "{}  {text}", paint(style::DIM, format_args!("{name:<11}")));
        };
        row("Vault", paint(style::ID, line(&self.vault.display().to_string())));
        let others = self.notes.saturating_sub(self.sessions);
        let others = match others {
            0 => String::new(),
            1 => ", 1 other".to_owned(),
            others => format!(", {} others", thousands(others)),
        };
        row("Notes", format!("{}: {}{others}", thousands(self.notes), plural(self.sessions, "session")));
        if !self.statuses.is_empty() {
            let shown = self.statuses.iter().map(|it| {
                let status = it.status.as_deref().unwrap_or("without a status");
                format!("{} {}", thousands(it.sessions), paint(style::of_session(status), line(status)))
            });
            row("Sessions", shown.collect::<Vec<_>>().join(", "));
        }
        row(
            "Current",
            match &self.current {
                Some(it) => {
                    let (id, title) = (it.text("id").unwrap_or_default(), it.text("title").unwrap_or_default());
                    let title = if title == id { String::new() } else { format!("  {}", line(title)) };
                    format!("{}{title}", paint(style::ID, line(id)))
                }
                None => match self.statuses.iter().find(|it| it.status.as_deref() == Some("active")) {
                    Some(it) => format!("one of {} active sessions: CRU_SESSION names it", thousands(it.sessions)),
                    None => "none".to_owned(),
                },
            },
        );
        let waiting: usize = self.waiting.iter().map(|it| it.entries).sum();
        row(
            "To write",
            match waiting {
                0 => "nothing".to_owned(),
                entries => {
                    let entries = match entries {
                        1 => "1 entry".to_owned(),
                        _ => format!("{} entries", thousands(entries as u64)),
                    };
                    let sessions = plural(self.waiting.len() as u64, "session");
                    // What has no note is not written by a flush.
                    let what = if self.waiting.iter().any(|it| it.note) {
                        "; `cru admin flush --all` writes them"
                    } else {
                        ""
                    };
                    paint(style::WARN, format_args!("{entries} of {sessions}{what}"))
                }
            },
        );
        if self.unfiled > 0 {
            let events = plural(self.unfiled as u64, "event");
            let text = format!("{events} of hooks without a vault; `cru connect` moves them to this one");
            row("Unfiled", paint(style::WARN, text));
        }
        for (name, text) in self.due.lines() {
            row(name, paint(style::WARN, text));
        }
        for link in &self.links {
            let text = format!("{} -> {}", line(&link.path.text()), line(&link.target.display().to_string()));
            match link.trust {
                LinkTrust::Inside => {}
                LinkTrust::Trusted => row("Link", format!("{text}, trusted")),
                LinkTrust::Refused => {
                    let why = "leads out: nothing is written there; `cru init --trust-links` trusts it";
                    row("Link", paint(style::WARN, format_args!("{text} {why}")));
                }
            }
        }
        if self.foreign_cache {
            row("Old cache", ".cru/cache is not used and may be deleted".to_owned());
        }
        row("Index", format!("{} entries, {}", thousands(self.index.entries), byte_size(self.index.bytes)));
        row("Transcripts", self.evidence());
    }

    fn evidence(&self) -> String {
        let it = &self.evidence;
        let mut words = Vec::new();
        let mut add = |count: u64, what: &str, look: anstyle::Style| {
            if count > 0 {
                words.push(paint(look, format_args!("{} {what}", thousands(count))));
            }
        };
        let plain = anstyle::Style::new();
        let named = it.at_risk.iter().filter(|row| row.session.is_some()).count() as u64;
        add(it.there - named, "there", plain);
        add(it.at_risk.len() as u64, "about to be deleted", style::WARN);
        add(it.kept, "kept in the vault", style::GOOD);
        add(it.gone.len() as u64, "gone", style::DIM);
        add(it.unnamed, if it.unnamed == 1 { "session names none" } else { "sessions name none" }, style::DIM);
        if words.is_empty() { "–".to_owned() } else { words.join(", ") }
    }

    fn at_risk(&self, view: &View, out: &mut String) {
        let it = &self.evidence;
        if it.at_risk.is_empty() {
            return;
        }
        let hosts = it.hosts.iter().filter(|host| it.at_risk.iter().any(|row| row.host == host.host));
        out.push('\n');
        for host in hosts.clone() {
            let _ = writeln!(out, "{}", paint(style::WARN, self.when(host)));
            let _ = writeln!(out, "{}", why(host));
        }
        let missing = it.at_risk.iter().filter(|row| row.session.is_none()).count();
        if missing > 0 {
            let are = if missing == 1 { "1 of them is" } else { &format!("{} of them are", thousands(missing as u64)) };
            let _ = writeln!(out, "{are} in no note yet: `cru import --all` imports them.");
        }
        let keep: Vec<String> = hosts.map(|host| format!("`cru import {} --keep-evidence`", host.importer)).collect();
        let _ = writeln!(
            out,
            "A note stays, without the outputs that it shortens. A longer time in the host's settings keeps the transcripts;\n\
             {} keeps copies in `evidence/` of the vault.",
            keep.join(" or ")
        );
        let columns = [("DELETED", Align::Left), ("SESSION", Align::Left), ("TRANSCRIPT", Align::Left)];
        let mut table = Table::new(&columns);
        for row in it.at_risk.iter().take(self.most) {
            table.row([
                Cell::new(self.left(row)).style(style::WARN),
                match &row.session {
                    Some(session) => Cell::new(session).style(style::ID),
                    None => Cell::new("not imported").style(style::DIM),
                },
                Cell::new(&row.transcript),
            ]);
        }
        out.push_str(&table.render(view));
        self.more(it.at_risk.len(), out);
    }

    /// `12 transcripts will be deleted by Claude Code in 3 days`, or within the longest and shortest of several times.
    fn when(&self, host: &Deletes) -> String {
        // They are in order of their times.
        let rows: Vec<&AtRisk> = self.evidence.at_risk.iter().filter(|row| row.host == host.host).collect();
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return String::new() };
        let what = format!("{} will be deleted by {}", plural(rows.len() as u64, "transcript"), host.title);
        let (first, last) = (self.left(first), self.left(last));
        if first == last { format!("{what} {first}") } else { format!("{what}: the first {first}, the last {last}") }
    }

    /// `in 3 days`.
    fn left(&self, row: &AtRisk) -> String {
        let left = row.from.duration_since(self.now);
        match left.as_hours() {
            _ if left.is_negative() || left.is_zero() => "at its next start".to_owned(),
            hours @ ..48 => format!("in {}", plural(hours.unsigned_abs().max(1), "hour")),
            hours => format!("in {} days", hours / 24),
        }
    }

    fn gone(&self, view: &View, out: &mut String) {
        let it = &self.evidence;
        if it.gone.is_empty() {
            return;
        }
        let _ = writeln!(
            out,
            "\n{}\nDeleted by their host, or the sessions ran on another machine. The notes are all there is.",
            paint(style::TITLE, "Transcripts that are not on this machine")
        );
        let mut table = Table::new(&[("SESSION", Align::Left), ("TRANSCRIPT", Align::Left)]);
        for row in it.gone.iter().take(self.most) {
            table.row([Cell::new(&row.session).style(style::ID), Cell::new(&row.transcript).style(style::DIM)]);
        }
        out.push_str(&table.render(view));
        self.more(it.gone.len(), out);
    }

    fn waiting(&self, view: &View, out: &mut String) {
        if self.waiting.is_empty() {
            return;
        }
        out.push('\n');
        let mut table = Table::new(&[("WAITING", Align::Right), ("SESSION", Align::Left), ("", Align::Left)]);
        for it in self.waiting.iter().take(self.most) {
            table.row([
                Cell::new(thousands(it.entries as u64)),
                Cell::new(&it.session).style(style::ID),
                Cell::new(it.why()).style(style::DIM),
            ]);
        }
        out.push_str(&table.render(view));
        self.more(self.waiting.len(), out);
    }

    fn copies(&self, out: &mut String) {
        if self.copies.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n{}", paint(style::WARN, "Copies that a sync service left"));
        for it in self.copies.iter().take(self.most) {
            let _ = writeln!(out, "`{}`", line(&it.command));
        }
        self.more(self.copies.len(), out);
    }

    fn more(&self, rows: usize, out: &mut String) {
        let more = rows.saturating_sub(self.most);
        if more > 0 {
            let _ = writeln!(out, "{}", paint(style::DIM, format_args!("{} more (--all)", thousands(more as u64))));
        }
    }
}

/// When a host deletes transcripts, and what says so.
fn why(host: &Deletes) -> String {
    let mut why = format!("{} deletes", host.title);
    if let Some(hours) = host.hours {
        let age = if hours % 24 == 0 { plural(hours / 24, "day") } else { plural(hours, "hour") };
        let default = if host.set { "" } else { ", the default" };
        let _ = write!(why, " a transcript {age} after its last line ({}{default})", host.setting);
    }
    if let Some(most) = host.most {
        let and = if host.hours.is_some() { ", and" } else { "" };
        let _ = write!(why, "{and} all but the newest {} of a project (maxCount)", plural(most as u64, "transcript"));
    }
    why.push('.');
    why
}

impl PlainOutput for StatusReport {
    fn shown(&self, view: &View) -> String {
        let mut out = String::new();
        self.head(&mut out);
        self.waiting(view, &mut out);
        self.copies(&mut out);
        self.at_risk(view, &mut out);
        self.gone(view, &mut out);
        out
    }
}
