//! `cru read review`: what nobody has decided about, the most useful and the most doubtful first.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Shelf, decide};
use crate::base::Result;
use crate::base::text::{plural, sanitise};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::readings::answer::Confidence;
use crate::readings::note::ReviewStatus;
use crate::vault::{Catalog, Vault};

/// Review readings and lessons that nobody has decided about
///
/// The most useful and most doubtful come first. With `--ask` each is shown on a terminal, with what it cites, and it is asked whether to
/// accept it, and if not, whether to reject it; without it they are listed. Everything here is also done by editing `status` in a note.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Ask for each whether it is accepted or rejected
    #[arg(long)]
    ask: bool,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let shelf = Shelf::read(&Catalog::read(&vault), &vault);
    let mut rows = rows(&shelf);
    if args.ask {
        for row in &mut rows {
            if let Some(status) = ask(row, &vault, cx)? {
                row.status = status;
            } else {
                cx.ui.warn("not a terminal; the list is printed instead");
                break;
            }
        }
    }
    let rows = rows.into_iter().filter(|row| row.status == ReviewStatus::Proposed).collect();
    Ok(Box::new(ReviewList { schema: 1, rows }))
}

/// What nobody has decided about.
fn rows(shelf: &Shelf) -> Vec<ReviewRow> {
    let mut rows = Vec::new();
    for it in shelf.readings.iter().filter(|it| it.head.status == ReviewStatus::Proposed) {
        let worth = it.answer.iter().flat_map(|answer| &answer.cases).map(|case| case.worth).fold(0.3, f64::max);
        let (kept, all) = it.head.claims;
        let doubt = if all == 0 { 1.0 } else { 1.0 - kept as f64 / all as f64 };
        let doubt = if it.head.judge.is_some() { doubt } else { doubt + 0.2 };
        rows.push(ReviewRow {
            kind: "reading",
            name: it.path.trim_end_matches(".md").rsplit('/').next().unwrap_or_default().to_owned(),
            path: it.path.clone(),
            status: it.head.status,
            session: it.head.session.clone(),
            rank: worth * (0.1 + doubt),
            text: format!(
                "{kept}/{all} claims, {}",
                plural(it.answer.as_ref().map_or(0, |it| it.cases.len()) as u64, "case")
            ),
            cited: Vec::new(),
            note: it.text.clone(),
        });
    }
    for it in shelf.lessons.iter().filter(|it| it.lesson.status == ReviewStatus::Proposed) {
        let doubt = match it.lesson.confidence {
            Confidence::High => 0.2,
            Confidence::Medium => 0.5,
            Confidence::Low => 0.8,
        };
        let worth = 0.5 + 0.1 * (it.lesson.sessions.len().min(5) as f64);
        let mut cited = it.lesson.evidence.clone();
        cited.extend(it.lesson.contradicts.iter().map(|id| format!("Contradicts: {id}")));
        rows.push(ReviewRow {
            kind: "lesson",
            name: it.lesson.id.clone(),
            path: it.path.clone(),
            status: it.lesson.status,
            session: String::new(),
            rank: worth * doubt,
            text: format!("{} ({} · {})", it.lesson.text, it.lesson.level.as_str(), it.lesson.confidence.as_str()),
            cited,
            note: it.text.clone(),
        });
    }
    rows.sort_by(|a, b| b.rank.total_cmp(&a.rank).then_with(|| a.name.cmp(&b.name)));
    rows
}

/// Shows one and asks; `None` where nobody can answer.
fn ask(row: &ReviewRow, vault: &Vault, cx: &Context<'_>) -> Result<Option<ReviewStatus>> {
    let body = if row.kind == "reading" {
        let shown = crate::session::public::text(&row.note);
        shown.split("\n## Data\n").next().unwrap_or_default().split("\n---\n").nth(1).unwrap_or_default().to_owned()
    } else {
        format!("{}\n{}", row.text, row.cited.join("\n"))
    };
    for line in body.lines() {
        cx.ui.note(&sanitise(line));
    }
    let confirm = |word: &str| cx.ui.confirm(&format!("{word} {} {}?", row.kind, sanitise(&row.name)));
    let status = match confirm("accept") {
        None => return Ok(None),
        Some(true) => ReviewStatus::Accepted,
        Some(false) if confirm("reject") == Some(true) => ReviewStatus::Rejected,
        Some(false) => return Ok(Some(ReviewStatus::Proposed)),
    };
    decide::set(&row.path, &row.note, status, vault)?;
    if row.kind == "reading" {
        decide::refresh_top(&row.session, vault, cx)?;
    }
    Ok(Some(status))
}

#[derive(Debug, Serialize)]
struct ReviewList {
    schema: u32,
    rows: Vec<ReviewRow>,
}

#[derive(Debug, Serialize)]
struct ReviewRow {
    kind: &'static str,
    name: String,
    path: String,
    status: ReviewStatus,
    /// Name of the session's note that a reading is of.
    #[serde(skip)]
    session: String,
    /// Worth times doubt.
    rank: f64,
    text: String,
    cited: Vec<String>,
    #[serde(skip)]
    note: String,
}

impl PlainOutput for ReviewList {
    fn shown(&self, _: &View) -> String {
        if self.rows.is_empty() {
            return "Nothing to review. `cru read SESSION` makes readings.\n".to_owned();
        }
        let mut out = String::new();
        for row in &self.rows {
            let _ = writeln!(out, "{}  {}  {}", row.kind, paint(style::ID, sanitise(&row.name)), sanitise(&row.text));
            for line in &row.cited {
                let _ = writeln!(out, "    {}", paint(style::DIM, sanitise(line)));
            }
        }
        let _ = writeln!(
            out,
            "\n{} to review: `cru read show NAME`, `cru review accept NAME`, `cru review reject NAME`.",
            plural(self.rows.len() as u64, "note")
        );
        out
    }
}
