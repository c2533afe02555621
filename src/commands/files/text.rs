//! Files for people.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::{Access, FilesReport, Touch, TouchedFile};
use crate::base::text::{plural, thousands};
use crate::commands::View;
use crate::commands::history::line;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, Table, minute};

pub(super) fn render(report: &FilesReport, view: &View) -> String {
    if report.files.is_empty() {
        return String::new();
    }
    if !report.one {
        return most(report, view);
    }
    let mut out = String::new();
    for (at, file) in report.files.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        one(file, view, &mut out);
    }
    out
}

fn when(time: Option<Timestamp>, view: &View) -> Cell {
    Cell::new(time.map_or_else(|| "–".to_owned(), |time| minute(time, &view.zone)))
}

/// The files that were touched most.
fn most(report: &FilesReport, view: &View) -> String {
    let mut table = Table::new(&[
        ("READ", Align::Right),
        ("WRITTEN", Align::Right),
        ("SESSIONS", Align::Right),
        ("LAST", Align::Left),
        ("FILE", Align::Left),
    ]);
    let count = |count: u64| match count {
        0 => Cell::new("–").style(style::DIM),
        count => Cell::new(thousands(count)),
    };
    for file in &report.files {
        table.row([
            count(file.reads),
            count(file.writes),
            Cell::new(thousands(file.sessions)),
            when(file.last, view),
            Cell::new(&file.path).style(style::ID),
        ]);
    }
    let mut out = table.render(view);
    let more = report.total - report.files.len();
    if more > 0 {
        let foot = format!("{} (-n 0 shows all)", plural(more as u64, "more file"));
        let _ = writeln!(out, "{}", paint(style::DIM, foot));
    }
    out
}

/// A file with all that was done to it.
fn one(file: &TouchedFile, view: &View, out: &mut String) {
    let mut facts = Vec::new();
    if file.writes > 0 {
        facts.push(format!("written {}×", thousands(file.writes)));
    }
    if file.reads > 0 {
        facts.push(format!("read {}×", thousands(file.reads)));
    }
    let path = paint(style::TITLE, line(&file.path));
    let _ = writeln!(out, "{path}  {}, by {}", facts.join(", "), plural(file.sessions, "session"));
    let mut table = Table::new(&[
        ("WHEN", Align::Left),
        ("WHAT", Align::Left),
        ("AGENT", Align::Left),
        ("TOOL", Align::Left),
        ("STEP", Align::Left),
        ("WHY", Align::Left),
    ]);
    let wrote = |it: &Touch| it.access != Access::Read;
    for (at, it) in file.touches.iter().enumerate() {
        // A step that edits reads and writes: that is told in one line.
        let own = |key: &str| it.row.text(key);
        let same = |other: &&Touch| ["note", "line"].iter().all(|key| other.row.get(key) == it.row.get(key));
        let before = at.checked_sub(1).and_then(|at| file.touches.get(at)).filter(same);
        if !wrote(it) && before.is_some_and(wrote) {
            continue;
        }
        let edited = it.access == Access::Write && file.touches.get(at + 1).filter(same).is_some_and(|it| !wrote(it));
        let word = if edited { "edited" } else { it.access.word() };
        let look = if it.access == Access::Read { style::DIM } else { style::WARN };
        let session = own("session_title").unwrap_or_default();
        let step = match own("step") {
            Some(id) => format!("{}#{id}", own("session").unwrap_or_default()),
            None => format!("{}:{}", own("note").unwrap_or_default(), it.row.count("line")),
        };
        let phase = own("phase_title").filter(|title| *title != session && !title.is_empty());
        table.row([
            when(it.time, view),
            Cell::new(word).style(look),
            Cell::new(own("agent").unwrap_or("–")).style(style::AGENT),
            Cell::new(own("tool").unwrap_or_default()),
            Cell::new(step).style(style::ID),
            Cell::new(match phase {
                Some(phase) => format!("{session} › {phase}"),
                None => session.to_owned(),
            }),
        ]);
    }
    out.push_str(&table.render(view));
}
