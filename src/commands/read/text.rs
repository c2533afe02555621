//! What `cru read` prints of a reading that it took.

use std::fmt::Write as _;

use serde::Serialize;

use super::write::WrittenReading;
use crate::base::text::{plural, sanitise};
use crate::commands::output::style::{self, paint};
use crate::commands::{PlainOutput, View};
use crate::readings::Checked;
use crate::readings::check::Severity;

/// A reading that was taken.
#[derive(Debug, Serialize)]
pub(super) struct TakenReading {
    pub(super) schema: u32,
    pub(super) session: String,
    pub(super) written: WrittenReading,
    #[serde(serialize_with = "summed")]
    pub(super) checked: Checked,
}

/// The numbers and findings of a checked reading; the claims stand in the note.
fn summed<S: serde::Serializer>(checked: &Checked, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::json!({ "claims": checked.claims, "kept": checked.kept, "findings": checked.findings })
        .serialize(serializer)
}

/// The numbers and findings of a checked reading, for people.
pub(super) fn findings(checked: &Checked, out: &mut String) {
    let title = if checked.answer.summary.title.is_some() { ", the title among them" } else { "" };
    let _ = writeln!(out, "  statements that hold: {} of {}{title}", checked.kept, checked.claims);
    for finding in &checked.findings {
        let look = if finding.severity == Severity::Refused { style::BAD } else { style::WARN };
        let line = sanitise(&finding.to_string()).replace('\n', " ");
        let _ = writeln!(out, "  {}", paint(look, line));
        if !finding.text.is_empty() {
            let _ = writeln!(out, "      {}", paint(style::DIM, sanitise(&finding.text)));
        }
    }
}

impl PlainOutput for TakenReading {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{}  {}", paint(style::ID, sanitise(&self.written.path)), self.written.fate);
        findings(&self.checked, &mut out);
        let written = &self.written;
        if written.new_lessons + written.merged_lessons > 0 {
            let (new, known) = (plural(written.new_lessons as u64, "new lesson"), written.merged_lessons);
            let _ = writeln!(out, "  {new}, {known} known");
        }
        for id in &written.contrary {
            let _ = writeln!(
                out,
                "  {} says the contrary of a lesson of this session; decide with `cru review`",
                paint(style::WARN, sanitise(id))
            );
        }
        let session = sanitise(&self.session);
        if written.counts {
            let _ = writeln!(out, "  it counts: every statement is proven");
            if let Some(before) = &written.renamed {
                let _ = writeln!(
                    out,
                    "  note renamed: {} → {}",
                    sanitise(before),
                    paint(style::ID, sanitise(&written.note))
                );
            }
            let told = match written.summary {
                None => format!("told on top of {}", paint(style::ID, sanitise(&written.note))),
                Some(why) => paint(style::WARN, format!("summary on top unchanged: {why}")),
            };
            let _ = writeln!(out, "  {told}");
            let _ = writeln!(out, "\n`cru review reject {session}` takes it back.");
        } else {
            let _ = writeln!(out, "\nNext: `cru show r:{session}`, then `cru review accept {session}` or `reject`.");
        }
        out
    }
}
