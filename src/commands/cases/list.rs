//! `cru cases list`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::look;
use crate::base::Result;
use crate::base::text::plural;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, PlainOutput, Table};
use crate::commands::{Context, Output, View};
use crate::learn::ReviewStatus;

/// List case notes
///
/// Ids, what was decided, and whether somebody changed the note since it was written.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only of this status
    #[arg(long, value_enum, value_name = "STATUS")]
    status: Option<StatusArg>,
    /// Only of this type
    #[arg(long = "type", value_parser = ["puzzle", "correction", "demonstration", "preference"], value_name = "TYPE")]
    kind: Option<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum StatusArg {
    /// Nobody has decided
    Proposed,
    /// Right
    Accepted,
    /// Not to be used
    Rejected,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (_, _, reviews) = super::read(cx)?;
    let status = args.status.map(|status| match status {
        StatusArg::Proposed => ReviewStatus::Proposed,
        StatusArg::Accepted => ReviewStatus::Accepted,
        StatusArg::Rejected => ReviewStatus::Rejected,
    });
    let all = reviews.notes.len();
    let rows: Vec<CaseRow> = reviews
        .notes
        .into_iter()
        .filter(|review| status.is_none_or(|status| review.status == status))
        .filter(|review| args.kind.as_ref().is_none_or(|kind| review.kind == *kind))
        .map(|review| CaseRow {
            id: review.id,
            kind: review.kind,
            status: review.status,
            edited: review.changed && review.status == ReviewStatus::Proposed,
            title: review.title,
            session: review.session,
            path: review.path,
        })
        .collect();
    let mut statuses = BTreeMap::new();
    for row in &rows {
        *statuses.entry(row.status.as_str()).or_default() += 1;
    }
    Ok(Box::new(CaseList { schema: 1, all, statuses, cases: rows }))
}

#[derive(Debug, Serialize)]
struct CaseList {
    schema: u32,
    /// Case notes in the vault.
    all: usize,
    statuses: BTreeMap<&'static str, usize>,
    cases: Vec<CaseRow>,
}

#[derive(Debug, Serialize)]
struct CaseRow {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    status: ReviewStatus,
    /// Whether a person changed the note and has not decided.
    edited: bool,
    title: String,
    session: String,
    path: String,
}

impl PlainOutput for CaseList {
    fn is_no(&self) -> bool {
        self.cases.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        if self.cases.is_empty() {
            return if self.all == 0 {
                "No case notes. `cru session learn` writes them.\n".to_owned()
            } else {
                format!("None of {} is of that kind.\n", plural(self.all as u64, "case note"))
            };
        }
        let mut table = Table::new(&[
            ("ID", Align::Left),
            ("STATUS", Align::Left),
            ("SESSION", Align::Left),
            ("TITLE", Align::Left),
        ]);
        for row in &self.cases {
            let status = if row.edited { "edited" } else { row.status.as_str() };
            let session = row.session.split('#').next().unwrap_or_default();
            table.row([
                Cell::new(&row.id).style(style::ID),
                Cell::new(status).style(look(row.status)),
                Cell::new(session),
                Cell::new(&row.title),
            ]);
        }
        let mut text = table.render(view);
        let counts: Vec<String> = self.statuses.iter().map(|(status, count)| format!("{count} {status}")).collect();
        let _ =
            writeln!(text, "\n{}: {}", paint(style::TITLE, plural(self.cases.len() as u64, "case")), counts.join(", "));
        text
    }
}
