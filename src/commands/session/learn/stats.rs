//! `cru session learn --export FORMAT --dry-run`: an export in numbers.

use std::fmt::Write as _;

use serde::Serialize;

use super::list::left_out;
use crate::base::text::{plural, thousands};
use crate::commands::View;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{PlainOutput, bar};
use crate::learn::{Export, LeftOut, Report};

/// Columns of the longest bar.
const WIDTH: usize = 24;

/// What there is, and what an export would hold.
#[derive(Debug, Serialize)]
pub(super) struct Stats {
    schema: u32,
    /// Sessions with a case.
    sessions: usize,
    report: Report,
    left_out: Vec<LeftOut>,
}

impl Stats {
    pub(super) fn of(sessions: usize, export: Export) -> Self {
        Self { schema: 1, sessions, report: export.report, left_out: export.left_out }
    }
}

impl PlainOutput for Stats {
    fn is_no(&self) -> bool {
        self.report.kinds.is_empty()
    }

    fn shown(&self, _: &View) -> String {
        let report = &self.report;
        let mut text = String::new();
        let cases: usize = report.kinds.values().sum();
        let title = format!("{} in {}", plural(cases as u64, "case"), plural(self.sessions as u64, "session"));
        let _ = writeln!(text, "{}", paint(style::TITLE, title));
        let groups = [
            ("Type", &report.kinds),
            ("Answer", &report.answer_from),
            ("Export", &report.standing),
            ("Tool calls", &report.fidelity),
        ];
        for (name, counts) in groups {
            let _ = writeln!(text, "\n{}", paint(style::TITLE, name));
            for (kind, count) in counts {
                line(&mut text, kind, *count, cases);
            }
        }
        let _ = writeln!(text, "\n{}", paint(style::TITLE, "Split"));
        line(&mut text, "train", report.train, cases);
        line(&mut text, "validation", report.validation, cases);
        let families = if report.families == 1 { "family" } else { "families" };
        let _ = writeln!(
            text,
            "  {} {families} of sessions, {} of near duplicates, {} accepted, {} edited; secrets and personal data taken out in {}",
            thousands(report.families as u64),
            plural(report.dup_groups as u64, "group"),
            report.accepted,
            report.edited,
            plural(report.redactions as u64, "place"),
        );
        if !report.rows.is_empty() {
            let _ = writeln!(text, "\n{}", paint(style::TITLE, "Rows of an export"));
            for (file, rows) in &report.rows {
                let _ = writeln!(text, "  {file:<28}{:>7}", thousands(*rows as u64));
            }
        }
        tokens(&mut text, report);
        left_out(&mut text, &self.left_out);
        text
    }
}

fn line(text: &mut String, name: &str, count: usize, all: usize) {
    let bar = bar(count as u64, all as u64, WIDTH);
    let _ = writeln!(text, "  {name:<16}{:>7}  {}", thousands(count as u64), paint(style::DIM, bar));
}

/// The histogram of tokens, and what to train with.
pub(super) fn tokens(text: &mut String, report: &Report) {
    let most = report.tokens.iter().map(|(_, count)| *count).max().unwrap_or_default();
    if most == 0 {
        return;
    }
    let _ = writeln!(text, "\n{}", paint(style::TITLE, "Tokens of a row"));
    let last = report.tokens.iter().rposition(|(_, count)| *count > 0).unwrap_or_default();
    for (end, count) in &report.tokens[..=last] {
        let name = if *end == 0 { "more".to_owned() } else { format!("≤ {}", thousands(*end as u64)) };
        line(text, &name, *count, most);
    }
    let (longest, max_length) = (thousands(report.longest as u64), thousands(report.max_length as u64));
    let _ = writeln!(text, "  longest {longest}; train with max_length {max_length}");
}
