//! `cru read check`.

use std::fmt::Write as _;

use serde::Serialize;

use super::answer::judge;
use super::source::Source;
use super::text_of;
use super::{Shelf, text};
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::readings::note::ReviewStatus;
use crate::readings::{Checked, check};
use crate::vault::{Catalog, Vault, VaultPath};

/// Check readings, or an answer, against the record
///
/// Without WHAT all readings that are not rejected: each claim is compared once more with the session as it is now. WHAT is a reading,
/// a session, or a file with an answer (`-`: stdin), which is checked and not written. Exit code 1 when a claim is refused.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Readings, sessions, or files with answers
    #[arg(value_name = "WHAT")]
    what: Vec<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let shelf = Shelf::read(&catalog, &vault);
    let mut report = CheckReport { schema: 1, readings: Vec::new() };
    if args.what.is_empty() {
        for note in shelf.readings.iter().filter(|it| it.head.status != ReviewStatus::Rejected) {
            report.readings.push(of_note(note, &catalog, &vault, cx));
        }
    }
    for what in &args.what {
        let file = cx.absolute(std::path::Path::new(what));
        if what == "-" {
            report.readings.push(of_file("stdin", &text_of(std::path::Path::new(what), cx)?, &catalog, &vault, cx)?);
        } else if file.is_file() && file.extension().is_none_or(|it| it != "md") {
            report.readings.push(of_file(what, &text_of(std::path::Path::new(what), cx)?, &catalog, &vault, cx)?);
        } else {
            let found = shelf.find(what).map_err(|error| match catalog.session(what, &vault, cx.env) {
                Ok(_) => error.with_hint("an answer in a file names its session: `cru read check FILE`"),
                Err(_) => error,
            });
            report.readings.push(of_note(found?, &catalog, &vault, cx));
        }
    }
    Ok(Box::new(report))
}

/// An answer in a file, checked against the session that it names.
fn of_file(name: &str, text: &str, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> Result<CheckRow> {
    let answer = match crate::readings::answer::read(text) {
        Ok(answer) => answer,
        Err(errors) => {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Ok(CheckRow { name: name.to_owned(), error: Some(errors.join("\n  ")), ..CheckRow::default() });
        }
    };
    let head = catalog.session(&answer.session, vault, cx.env)?;
    let source = Source::of(head, catalog, vault, cx)?;
    Ok(match judge(text, &source) {
        Ok(checked) => CheckRow::of(name, checked),
        Err(why) => CheckRow { name: name.to_owned(), error: Some(why.trim().to_owned()), ..CheckRow::default() },
    })
}

fn of_note(note: &crate::readings::note::ReadingNote, catalog: &Catalog, vault: &Vault, cx: &Context<'_>) -> CheckRow {
    let wrong = |error: String| CheckRow { name: note.path.clone(), error: Some(error), ..CheckRow::default() };
    let Some(answer) = &note.answer else {
        return wrong(format!("the data of the note cannot be read: {}", note.error.clone().unwrap_or_default()));
    };
    if let Some(word) = &note.odd_status {
        return wrong(format!("`status: {word}` is none of proposed, accepted, rejected"));
    }
    let source = VaultPath::new(&note.path)
        .and_then(|path| catalog.note(&note.head.session, &path))
        .ok_or_else(|| Error::no(format!("the session {} is not in the vault", note.head.session)))
        .and_then(|head| Source::of(head, catalog, vault, cx));
    match source {
        Ok(source) => CheckRow::of(&note.path, check(answer, &source.record)),
        Err(error) => wrong(error.to_string()),
    }
}

#[derive(Debug, Serialize)]
struct CheckReport {
    schema: u32,
    readings: Vec<CheckRow>,
}

#[derive(Debug, Default, Serialize)]
struct CheckRow {
    name: String,
    error: Option<String>,
    claims: usize,
    kept: usize,
    #[serde(skip)]
    checked: Option<Checked>,
    findings: Vec<crate::readings::Finding>,
}

impl CheckRow {
    fn of(name: &str, checked: Checked) -> Self {
        Self {
            name: name.to_owned(),
            error: None,
            claims: checked.claims,
            kept: checked.kept,
            findings: checked.findings.clone(),
            checked: Some(checked),
        }
    }

    fn is_bad(&self) -> bool {
        self.error.is_some() || self.checked.as_ref().is_some_and(|it| it.refused().next().is_some())
    }
}

impl PlainOutput for CheckReport {
    fn shown(&self, _: &View) -> String {
        if self.readings.is_empty() {
            return "No readings. `cru read SESSION` makes one.\n".to_owned();
        }
        let mut out = String::new();
        for row in &self.readings {
            let _ = writeln!(out, "{}", paint(style::ID, sanitise(&row.name)));
            if let Some(error) = &row.error {
                let _ = writeln!(out, "  {}", paint(style::BAD, sanitise(error)));
            }
            if let Some(checked) = &row.checked {
                text::findings(checked, &mut out);
            }
        }
        let bad = self.readings.iter().filter(|row| row.is_bad()).count() as u64;
        let all = plural(self.readings.len() as u64, "reading");
        let end = if bad == 0 {
            paint(style::GOOD, "nothing refused")
        } else {
            paint(style::WARN, format!("{bad} with something refused"))
        };
        let _ = writeln!(out, "\n{all}: {end}");
        out
    }

    fn is_no(&self) -> bool {
        self.readings.iter().any(CheckRow::is_bad)
    }
}
