//! The exports: one table of formats, each for a folder and for a pipe.
//!
//! Gives bytes; who called writes them. The same cases give the same bytes, in the order of the cases. What a format
//! cannot take is in the list of what was left out, with the reason.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::card::{self, Table};
use super::case::Case;
use super::document::{self, Layout};
use super::harvest::{LeftOut, Reason};
use super::{inspect, row};
use crate::base::Result;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Rows to train on.
    Jsonl,
    /// Notes to read.
    Markdown,
    /// Samples to evaluate with.
    Puzzle,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Jsonl, Self::Markdown, Self::Puzzle];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Markdown => "markdown",
            Self::Puzzle => "puzzle",
        }
    }
}

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name in the folder, never a path.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Rows or cases in it; 0 for a card.
    pub rows: usize,
}

/// What an export is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Export {
    /// For a folder: in the order of names. For a pipe: one.
    pub files: Vec<File>,
    /// Cases that the format cannot take.
    pub left_out: Vec<LeftOut>,
}

impl Export {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.rows == 0)
    }

    /// Rows and cases in all files.
    pub fn rows(&self) -> usize {
        self.files.iter().map(|file| file.rows).sum()
    }
}

/// What a vault may replace.
#[derive(Clone, Copy, Debug)]
pub struct Layouts<'a> {
    /// What errors call the layout of cases.
    pub name: &'a str,
    /// The layout of cases.
    pub case: &'a str,
    /// What a model is told first.
    pub prompt: &'a str,
}

/// The export as files of a folder.
pub fn folder(cases: &[Case], format: Format, layouts: Layouts<'_>) -> Result<Export> {
    match format {
        Format::Jsonl => Ok(rows(cases, layouts.prompt)),
        Format::Markdown => {
            let layout = Layout::new(layouts.name, layouts.case)?;
            let mut files = Vec::new();
            for case in cases {
                let bytes = layout.render(case, true)?.into_bytes();
                files.push(File { name: document::file_name(case), bytes, rows: 1 });
            }
            files.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(Export { files, left_out: Vec::new() })
        }
        Format::Puzzle => Ok(samples(cases, layouts.prompt)),
    }
}

/// The export as one text.
pub fn stream(cases: &[Case], format: Format, layouts: Layouts<'_>) -> Result<Export> {
    match format {
        Format::Jsonl => {
            let mut sheet = Sheet::default();
            sheet.fill(
                cases,
                "cases.jsonl",
                |case| row::line(case, layouts.prompt),
                |line| to_text(&(&line.prompt, &line.completion)),
            );
            Ok(sheet.export())
        }
        Format::Markdown => {
            let layout = Layout::new(layouts.name, layouts.case)?;
            let texts = cases.iter().map(|case| layout.render(case, false)).collect::<Result<Vec<_>>>()?;
            let bytes = texts.join("\n---\n\n").into_bytes();
            Ok(Export { files: vec![File { name: "cases.md".into(), bytes, rows: cases.len() }], left_out: Vec::new() })
        }
        Format::Puzzle => Ok(samples(cases, layouts.prompt)),
    }
}

fn rows(cases: &[Case], system: &str) -> Export {
    let mut sheet = Sheet::default();
    let sft =
        sheet.fill(cases, "sft.jsonl", |case| row::sft(case, system), |row| to_text(&(&row.prompt, &row.completion)));
    let pairs: Vec<Case> = cases.iter().filter(|case| case.kind() == super::Kind::Correction).cloned().collect();
    let body = |row: &row::Preference| to_text(&(&row.prompt, &row.chosen, &row.rejected));
    let preference = sheet.fill(&pairs, "preference.jsonl", |case| row::preference(case, system), body);
    let mut tables = Vec::new();
    for (config, file, about, filled) in [
        ("sft", "sft.jsonl", "supervised tuning: `prompt`, `completion`", sft),
        ("preference", "preference.jsonl", "preference tuning: `prompt`, `chosen`, `rejected`", preference),
    ] {
        if let Some((rows, sample)) = filled {
            tables.push(Table { config, file, about, rows, sample });
        }
    }
    let mut export = sheet.export();
    if !tables.is_empty() {
        let card = card::card(&tables, &counts(&export.left_out));
        export.files.push(File { name: "README.md".into(), bytes: card.into_bytes(), rows: 0 });
        export.files.sort_by(|a, b| a.name.cmp(&b.name));
    }
    export
}

fn samples(cases: &[Case], system: &str) -> Export {
    let mut sheet = Sheet::default();
    sheet.fill(
        cases,
        "puzzles.jsonl",
        |case| inspect::sample(case, system),
        |sample| to_text(&(&sample.input, &sample.target)),
    );
    sheet.export()
}

/// Reasons with their counts, in the order of reasons.
pub fn counts(left_out: &[LeftOut]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
    for it in left_out {
        *counts.entry(it.reason).or_default() += 1;
    }
    counts.into_iter().map(|(reason, count)| (reason.as_str().to_owned(), count)).collect()
}

/// Files of rows in the making.
#[derive(Default)]
struct Sheet {
    files: Vec<File>,
    left_out: Vec<LeftOut>,
    told: HashSet<(String, Reason)>,
}

impl Sheet {
    /// Adds a file with the rows that `make` gives, each example once; `body` is what makes two rows one example. Gives
    /// the number of rows and the first of them.
    fn fill<T: Serialize>(
        &mut self,
        cases: &[Case],
        name: &str,
        make: impl Fn(&Case) -> Option<T>,
        body: impl Fn(&T) -> String,
    ) -> Option<(usize, serde_json::Value)> {
        let mut bytes = Vec::new();
        let mut seen = HashSet::new();
        let mut sample = None;
        for case in cases {
            let reason = match case.gap() {
                Some(reason) => Some(reason),
                None => match make(case) {
                    None => Some(Reason::GivenAway),
                    Some(row) if !seen.insert(body(&row)) => Some(Reason::Duplicate),
                    Some(row) => {
                        bytes.extend(to_text(&row).into_bytes());
                        bytes.push(b'\n');
                        sample = sample.or_else(|| serde_json::to_value(&row).ok());
                        None
                    }
                },
            };
            if let Some(reason) = reason {
                // What has no answer has none in any file: it is told once.
                if self.told.insert((case.id.clone(), reason)) {
                    self.left_out.push(case.left_out(reason));
                }
            }
        }
        let rows = seen.len();
        if rows > 0 {
            self.files.push(File { name: name.to_owned(), bytes, rows });
        }
        sample.map(|sample| (rows, sample))
    }

    fn export(self) -> Export {
        Export { files: self.files, left_out: self.left_out }
    }
}

/// A value of ours as JSON. Our rows are structs of strings, numbers and lists: they always serialise.
fn to_text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
