//! The exports: one table of formats, each for a folder and for a pipe.
//!
//! Gives bytes; who called writes them. The same cases give the same bytes. What a format cannot take is in the list of
//! what was left out, with the reason, and everything that was made is counted in a [`Report`].

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;
use serde::Serialize;

use super::card::{self, Config};
use super::case::{Case, Kind, Story};
use super::document::{self, Layout};
use super::example::{self, End, Example};
use super::harvest::{LeftOut, Reason};
use super::report::Report;
use super::row::{self, Dialect, Metadata, Row, Table};
use super::split::{self, Split};
use super::{inspect, promptfoo};
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

/// What samples are evaluated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eval {
    /// Inspect AI.
    #[default]
    Inspect,
    /// promptfoo.
    Promptfoo,
}

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name in the folder: a file, or a file in a folder in it.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
    /// Rows or cases in it; 0 for a card.
    pub rows: usize,
}

impl File {
    /// Whether it holds rows, one a line.
    pub fn is_rows(&self) -> bool {
        self.name.rsplit('.').next() == Some("jsonl")
    }
}

/// What an export is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Export {
    /// For a folder: in the order of names. For a pipe: one.
    pub files: Vec<File>,
    /// Cases that the format cannot take.
    pub left_out: Vec<LeftOut>,
    /// What there is in numbers.
    pub report: Report,
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

/// What is wanted of an export.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// What a vault may replace.
    pub layouts: Layouts<'a>,
    /// Whose words rows are written in.
    pub dialect: Dialect,
    /// What samples are evaluated with.
    pub eval: Eval,
    /// Share of session families that are trained on.
    pub train: f64,
    /// Tokens that a row may take.
    pub max_tokens: usize,
    /// Least quality of a case.
    pub min_quality: f64,
}

impl<'a> Options<'a> {
    /// What is done where nothing is said.
    pub const fn new(layouts: Layouts<'a>) -> Self {
        Self { layouts, dialect: Dialect::Hf, eval: Eval::Inspect, train: 0.9, max_tokens: 8_192, min_quality: 0.0 }
    }

    const fn example(&self) -> example::Options<'a> {
        example::Options { system: self.layouts.prompt, max_tokens: self.max_tokens }
    }
}

/// The export as files of a folder.
pub fn folder(cases: Vec<Case>, format: Format, options: Options<'_>) -> Result<Export> {
    let sheet = Sheet::of(cases, options);
    match format {
        Format::Jsonl => Ok(sheet.tables(options)),
        Format::Markdown => {
            let layout = Layout::new(options.layouts.name, options.layouts.case)?;
            let mut files = Vec::new();
            let mut names = HashSet::new();
            for case in &sheet.cases {
                let bytes = layout.render(case, true)?.into_bytes();
                let mut name = document::file_name(case);
                if !names.insert(name.clone()) {
                    name = format!("{}.md", case.id);
                }
                files.push(File { name, bytes, rows: 1 });
            }
            Ok(sheet.export(files))
        }
        Format::Puzzle => Ok(sheet.samples(options, true)),
    }
}

/// The export as one text.
pub fn stream(cases: Vec<Case>, format: Format, options: Options<'_>) -> Result<Export> {
    let sheet = Sheet::of(cases, options);
    match format {
        Format::Jsonl => Ok(sheet.lines(options)),
        Format::Markdown => {
            let layout = Layout::new(options.layouts.name, options.layouts.case)?;
            let texts = sheet.cases.iter().map(|case| layout.render(case, false)).collect::<Result<Vec<_>>>()?;
            let bytes = texts.join("\n---\n\n").into_bytes();
            let rows = sheet.cases.len();
            Ok(sheet.export(vec![File { name: "cases.md".into(), bytes, rows }]))
        }
        Format::Puzzle => Ok(sheet.samples(options, false)),
    }
}

/// Reasons with their counts, in the order of reasons.
pub fn counts(left_out: &[LeftOut]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<Reason, usize> = BTreeMap::new();
    for it in left_out {
        *counts.entry(it.reason).or_default() += 1;
    }
    counts.into_iter().map(|(reason, count)| (reason.as_str().to_owned(), count)).collect()
}

/// Cases on their way into files.
struct Sheet {
    cases: Vec<Case>,
    split: Split,
    left_out: Vec<LeftOut>,
    told: HashSet<(String, Reason)>,
    report: Report,
}

/// What a case gives for tables, or why it gives nothing.
type Made = Vec<std::result::Result<(Table, Row, usize), Reason>>;

impl Sheet {
    /// Takes the cases that are good enough, each once, and splits them.
    fn of(cases: Vec<Case>, options: Options<'_>) -> Self {
        let doubled = split::duplicates(&cases);
        let mut sheet = Self {
            cases: Vec::new(),
            split: Split::default(),
            left_out: Vec::new(),
            told: HashSet::new(),
            report: Report::default(),
        };
        for (case, doubled) in cases.into_iter().zip(doubled) {
            let reason = if doubled {
                Some(Reason::Duplicate)
            } else {
                (case.gap().is_none() && case.quality() < options.min_quality).then_some(Reason::LowQuality)
            };
            match reason {
                Some(reason) => sheet.leave_out(&case.left_out(reason)),
                None => sheet.cases.push(case),
            }
        }
        sheet.split = split::of(&sheet.cases, options.train);
        sheet.report = Report::of(&sheet.cases, &sheet.split);
        sheet
    }

    fn leave_out(&mut self, it: &LeftOut) {
        // What has no answer has none in any file: it is told once.
        if self.told.insert((it.case.clone(), it.reason)) {
            self.left_out.push(it.clone());
        }
    }

    fn export(mut self, mut files: Vec<File>) -> Export {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        self.left_out.sort_by(|a, b| (&a.session, a.source.line_start).cmp(&(&b.session, b.source.line_start)));
        self.report.left_out = counts(&self.left_out);
        Export { files, left_out: self.left_out, report: self.report }
    }

    /// A file for each table and split, and the card.
    fn tables(mut self, options: Options<'_>) -> Export {
        let (cases, split) = (&self.cases, &self.split);
        let made: Vec<Made> =
            cases.par_iter().enumerate().map(|(at, case)| rows_of(case, split.dup_group[at], options)).collect();
        let mut tables: BTreeMap<(Table, bool), Vec<Row>> = BTreeMap::new();
        let mut seen: HashSet<(Table, blake3::Hash)> = HashSet::new();
        let mut longest: BTreeMap<Table, usize> = BTreeMap::new();
        for (at, made) in made.into_iter().enumerate() {
            let mut reasons = Vec::new();
            for made in made {
                match made {
                    Err(reason) => reasons.push(reason),
                    Ok((table, row, _)) if !seen.insert((table, row.body)) => reasons.push(Reason::Duplicate),
                    Ok((table, row, tokens)) => {
                        self.report.row(tokens);
                        let most = longest.entry(table).or_default();
                        *most = (*most).max(tokens);
                        tables.entry((table, self.split.validation[at])).or_default().push(row);
                    }
                }
            }
            for reason in reasons {
                let left_out = self.cases[at].left_out(reason);
                self.leave_out(&left_out);
            }
        }
        let mut files = Vec::new();
        let mut configs: Vec<Config> = Vec::new();
        for ((table, validation), mut rows) in tables {
            // Who loads a file alone takes its shape from the first row.
            let richest = rows.iter().enumerate().max_by_key(|(at, row)| (row.shapes, std::cmp::Reverse(*at)));
            if let Some((at, _)) = richest {
                rows[..=at].rotate_right(1);
            }
            let split = if validation { "validation" } else { "train" };
            let name = format!("{}/{split}.jsonl", table.as_str());
            let sample = rows.first().and_then(|row| serde_json::from_str(&row.text).ok()).unwrap_or_default();
            let count = rows.len();
            let mut bytes = Vec::with_capacity(rows.iter().map(|row| row.text.len() + 1).sum());
            for row in rows {
                bytes.extend_from_slice(row.text.as_bytes());
                bytes.push(b'\n');
            }
            self.report.rows.insert(name.clone(), count);
            if configs.last().is_none_or(|last| last.table != table) {
                let longest = longest.get(&table).copied().unwrap_or_default();
                configs.push(Config { table, splits: Vec::new(), sample, longest });
            }
            if let Some(config) = configs.last_mut() {
                config.splits.push((split, name.clone(), count));
            }
            files.push(File { name, bytes, rows: count });
        }
        let mut export = self.export(files);
        if !configs.is_empty() {
            let card = card::card(&configs, &export.report.left_out);
            export.files.push(File { name: "README.md".into(), bytes: card.into_bytes(), rows: 0 });
            if options.dialect == Dialect::Axolotl {
                let info = card::llama_factory(&configs);
                export.files.push(File { name: "dataset_info.json".into(), bytes: info.into_bytes(), rows: 0 });
            }
            export.files.sort_by(|a, b| a.name.cmp(&b.name));
        }
        export
    }

    /// One row for each case that has an answer.
    fn lines(mut self, options: Options<'_>) -> Export {
        let mut bytes = Vec::new();
        let mut rows = 0;
        for at in 0..self.cases.len() {
            let case = &self.cases[at];
            let made = match case.gap() {
                Some(reason) => Err(reason),
                None => example::example(case, End::After, options.example()),
            };
            match made {
                Err(reason) => {
                    let left_out = case.left_out(reason);
                    self.leave_out(&left_out);
                }
                Ok(example) => {
                    self.report.row(example.tokens);
                    let line = Line::of(case, &example, &self.split, at);
                    bytes.extend(format!("{}\n", serde_json::to_string(&line).unwrap_or_default()).into_bytes());
                    rows += 1;
                }
            }
        }
        let files = if rows > 0 { vec![File { name: "cases.jsonl".into(), bytes, rows }] } else { Vec::new() };
        self.export(files)
    }

    /// What models are asked: cases that none is trained on.
    fn samples(mut self, options: Options<'_>, folder: bool) -> Export {
        let mut samples = Vec::new();
        for at in 0..self.cases.len() {
            let case = &self.cases[at];
            let reason = if matches!(case.kind(), Kind::Demonstration) {
                continue;
            } else if let Some(gap) = case.gap() {
                Err(gap)
            } else if !self.split.validation[at] {
                Err(Reason::Trained)
            } else {
                inspect::sample(case, options.example(), self.split.dup_group[at])
            };
            match reason {
                Ok(sample) => samples.push(sample),
                Err(reason) => {
                    let left_out = case.left_out(reason);
                    self.leave_out(&left_out);
                }
            }
        }
        if samples.is_empty() {
            return self.export(Vec::new());
        }
        for sample in &samples {
            self.report.row(sample.metadata.common.tokens);
        }
        let files = match options.eval {
            Eval::Promptfoo if folder => promptfoo::files(&samples),
            Eval::Promptfoo => vec![promptfoo::tests(&samples)],
            Eval::Inspect => {
                let line = |sample| format!("{}\n", serde_json::to_string(sample).unwrap_or_default()).into_bytes();
                let bytes = samples.iter().flat_map(line).collect();
                vec![File { name: "puzzles.jsonl".into(), bytes, rows: samples.len() }]
            }
        };
        for file in files.iter().filter(|file| file.rows > 0) {
            self.report.rows.insert(file.name.clone(), file.rows);
        }
        self.export(files)
    }
}

/// The rows that a case gives.
fn rows_of(case: &Case, dup_group: usize, options: Options<'_>) -> Made {
    let make = |table: Table, end: End, label: bool| {
        let example = example::example(case, end, options.example())?;
        let answer = if label { &example.chosen } else { &example.rejected };
        if answer.is_empty() || (table == Table::Preference && example.rejected.is_empty()) {
            return Err(Reason::Unchanged);
        }
        let tokens = example.tokens;
        let metadata = Metadata::of(case, tokens, dup_group);
        Ok((table, row::row(table, options.dialect, &example, label, &metadata), tokens))
    };
    let kto = options.dialect != Dialect::Openai;
    let mut made = Vec::new();
    match (case.gap(), &case.story) {
        (Some(gap), Story::Puzzle(it)) => {
            // What failed for good is wrong, although nobody knows what is right.
            if kto && gap == Reason::Unresolved && it.step.is_some() {
                made.push(make(Table::Kto, End::Before, false));
            }
            made.push(Err(gap));
        }
        (Some(gap), _) => made.push(Err(gap)),
        (None, Story::Demonstration(_)) => made.push(make(Table::Sft, End::After, true)),
        (None, Story::Puzzle(it)) => {
            made.push(make(Table::Completion, End::After, true));
            if kto && it.verified {
                made.push(make(Table::Kto, End::After, true));
            }
        }
        (None, Story::Correction(_) | Story::Preference(_)) => {
            made.push(make(Table::Completion, End::After, true));
            made.push(make(Table::Preference, End::Before, true));
            if kto {
                made.push(make(Table::Kto, End::Before, true));
                made.push(make(Table::Kto, End::Before, false));
            }
        }
    }
    made
}

/// A row of the stream: one for each case that has an answer. It loads as a file for supervised tuning too.
#[derive(Clone, Debug, Serialize)]
struct Line<'a> {
    id: &'a str,
    r#type: Kind,
    title: &'a str,
    split: &'static str,
    prompt: &'a [super::chat::Message],
    completion: &'a [super::chat::Message],
    /// What did not work.
    rejected: String,
    tools: &'a str,
    metadata: Metadata,
}

impl<'a> Line<'a> {
    fn of(case: &'a Case, example: &'a Example, split: &Split, at: usize) -> Self {
        Self {
            id: &case.id,
            r#type: case.kind(),
            title: &case.title,
            split: if split.validation[at] { "validation" } else { "train" },
            prompt: &example.prompt,
            completion: &example.chosen,
            rejected: case.failure(),
            tools: &example.tools,
            metadata: Metadata::of(case, example.tokens, split.dup_group[at]),
        }
    }
}
