//! What there is: a line for each case, and what was left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::base::text::{plural, sanitise};
use crate::commands::View;
use crate::commands::output::style::{self, paint};
use crate::commands::output::{Align, Cell, PlainOutput, Table};
use crate::learn::{Case, Extraction, Grade, Kind, LeftOut};

/// What there is, without an export.
#[derive(Debug, Serialize)]
pub(super) struct CaseTable {
    schema: u32,
    /// Cases by kind.
    kinds: BTreeMap<&'static str, usize>,
    /// Cases by what an export makes of them.
    standing: BTreeMap<Grade, usize>,
    cases: Vec<CaseLine>,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct CaseLine {
    id: String,
    kind: Kind,
    title: String,
    session: String,
    path: String,
    line: usize,
    block: String,
    /// How the answer is known: `later success`, `resolution`, `response`, or empty.
    answer_from: &'static str,
    standing: Grade,
    verified: bool,
    rule: &'static str,
    /// Things done in the answer.
    steps: usize,
}

impl CaseTable {
    pub(super) fn of(extraction: Extraction) -> Self {
        let mut kinds = BTreeMap::new();
        for case in &extraction.cases {
            *kinds.entry(case.kind().as_str()).or_default() += 1;
        }
        let mut left_out = extraction.left_out;
        left_out.extend(extraction.cases.iter().filter_map(|case| Some(case.left_out(case.gap()?))));
        Self {
            schema: 1,
            kinds,
            standing: standing(&extraction.cases),
            cases: extraction.cases.iter().map(CaseLine::of).collect(),
            left_out,
        }
    }
}

impl CaseLine {
    fn of(case: &Case) -> Self {
        let (rule, answer) = (case.correction().map_or("", |it| it.rule), case.done());
        Self {
            id: case.id.clone(),
            kind: case.kind(),
            title: case.title.clone(),
            session: case.origin.session.clone(),
            path: case.origin.source.path.clone(),
            line: case.origin.source.line_start,
            block: case.origin.source.block_id.clone(),
            answer_from: case.answer_from(),
            standing: case.standing(),
            verified: case.verified(),
            rule,
            steps: answer.iter().filter(|entry| entry.is_step()).count(),
        }
    }

    /// `later success, 4 steps`; `denied, 3 steps`; `no answer`.
    fn hints(&self) -> Cell {
        if self.answer_from.is_empty() {
            return Cell::new("no answer").style(style::DIM);
        }
        let word = if self.rule.is_empty() { self.answer_from } else { self.rule };
        let steps = if self.steps > 0 { format!(", {}", plural(self.steps as u64, "step")) } else { String::new() };
        let look = if self.verified { style::GOOD } else { anstyle::Style::new() };
        Cell::new(format!("{word}{steps}")).style(look)
    }
}

impl PlainOutput for CaseTable {
    fn is_no(&self) -> bool {
        self.cases.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        let mut text = String::new();
        if self.cases.is_empty() {
            text.push_str("No cases: no failure that was overcome, no correction and no work that was checked in these sessions.\n");
            left_out(&mut text, &self.left_out);
            return text;
        }
        let mut table = Table::new(&[
            ("SESSION", Align::Left),
            ("CASE", Align::Left),
            ("ANSWER", Align::Left),
            ("TITLE", Align::Left),
        ]);
        let mut before = "";
        for row in &self.cases {
            // The id once for each session, so that the eye finds where one begins; a pipe has it on every line.
            let session = if view.terminal && row.session == before { "" } else { row.session.as_str() };
            before = &row.session;
            table.row([
                Cell::new(session).style(style::ID),
                Cell::new(row.kind.as_str()).style(match row.kind {
                    Kind::Puzzle => style::WARN,
                    Kind::Correction | Kind::Preference => style::AGENT,
                    Kind::Demonstration | Kind::Trajectory => style::GOOD,
                }),
                row.hints(),
                Cell::new(&row.title),
            ]);
        }
        text.push_str(&table.render(view));
        let sessions = self.cases.iter().map(|row| &row.session).collect::<BTreeSet<_>>().len();
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, count)| plural(*count as u64, kind)).collect();
        let _ = writeln!(
            text,
            "\n{}: {}; {}",
            paint(
                style::TITLE,
                format!("{} in {}", plural(self.cases.len() as u64, "case"), plural(sessions as u64, "session"))
            ),
            kinds.join(", "),
            told(&self.standing),
        );
        left_out(&mut text, &self.left_out);
        if self.standing.keys().any(|standing| *standing != Grade::LeftOut) {
            text.push_str("\nNext: `cru session learn` writes them as notes to review, `--export jsonl -o DIR` rows to train on,\n`--export puzzle -o DIR` samples to evaluate with.\n");
        }
        text
    }
}

/// Cases by what an export makes of them.
pub(super) fn standing(cases: &[Case]) -> BTreeMap<Grade, usize> {
    let mut standing = BTreeMap::new();
    for case in cases {
        *standing.entry(case.standing()).or_default() += 1;
    }
    standing
}

/// `3 proven, 2 proposed, 1 left out of exports`.
pub(super) fn told(standing: &BTreeMap<Grade, usize>) -> String {
    let of = |it: &Grade| if *it == Grade::LeftOut { " of exports" } else { "" };
    let parts = standing.iter().map(|(it, count)| format!("{count} {}{}", it.as_str(), of(it)));
    parts.collect::<Vec<_>>().join(", ")
}

/// What was left out, by reason, each with its place.
pub(super) fn left_out(text: &mut String, left_out: &[LeftOut]) {
    const SHOWN: usize = 5;
    if left_out.is_empty() {
        return;
    }
    text.push_str("\nLeft out of exports:\n");
    for (reason, count) in LeftOut::counts(left_out) {
        let _ = writeln!(text, "  {count} {}", paint(style::WARN, &reason));
        let mut of_reason = left_out.iter().filter(|it| it.reason.as_str() == reason);
        for it in of_reason.by_ref().take(SHOWN) {
            let place = format!("{}:{}", it.source.path, it.source.line_start);
            let _ = writeln!(text, "    {}  {}", paint(style::DIM, sanitise(&place)), sanitise(&it.title));
        }
        let more = of_reason.count();
        if more > 0 {
            let _ = writeln!(text, "    {}", paint(style::DIM, format!("… {more} more")));
        }
    }
}
