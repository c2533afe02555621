//! All drafts of an export: what is taken, on which side it is, and which files hold it.
//!
//! Each case is taken once and split; what is left out is listed with the reason, and everything is counted. The same
//! drafts give the same files.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::case::left_out::{LeftOut, Reason};
use crate::export::card::{self, Config};
use crate::export::draft::{Draft, Drafter, Piece, Place, Record};
use crate::export::file::{FilePart, Planned};
use crate::export::format::{Eval, Format, Options};
use crate::export::hole::Hole;
use crate::export::product::Export;
use crate::export::report::Report;
use crate::export::split::{self, Split};
use crate::rows::promptfoo;
use crate::rows::row::{Dialect, Table};
use crate::rows::task;
use cru_base::Result;
use cru_base::files::Spool;

/// Stands between two notes of a pipe.
const RULE: &[u8] = b"\n---\n\n";

/// Drafts, in the order of the cases.
#[derive(Debug)]
pub struct Pile {
    records: Vec<Record>,
    spool: Spool,
}

impl Pile {
    /// Nothing yet; so many bytes of texts may stay in memory.
    pub const fn new(memory: usize) -> Self {
        Self { records: Vec::new(), spool: Spool::new(memory) }
    }

    /// Lays a draft on it.
    pub fn add(&mut self, draft: Draft) -> Result<()> {
        let Draft { mut record, texts } = draft;
        record.start = self.spool.append(&texts)?.start;
        record.made.shrink_to_fit();
        self.records.push(record);
        Ok(())
    }

    /// Whether there is no case at all.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// How many sessions have a case.
    pub fn sessions(&self) -> usize {
        self.records.iter().map(|record| &record.session).collect::<BTreeSet<_>>().len()
    }

    /// The export of all drafts that `drafter` made.
    pub fn export(self, drafter: &Drafter<'_>) -> Result<Export> {
        let mut sheet = Sheet::of(self, drafter.options.train);
        let files = match drafter.format {
            Format::Jsonl if drafter.place == Place::Pipe => sheet.lines("cases.jsonl"),
            Format::Trajectories if drafter.place == Place::Pipe => sheet.lines("trajectories.jsonl"),
            Format::Jsonl | Format::Trajectories => sheet.tables(drafter.options)?,
            Format::Task if drafter.options.eval == Eval::Harbor => sheet.harbor()?,
            Format::Task => sheet.lines("tasks.jsonl"),
            Format::Markdown if drafter.place == Place::Pipe => sheet.document(),
            Format::Markdown => sheet.notes(),
            Format::Puzzle => sheet.samples(drafter),
        };
        Ok(sheet.export(files))
    }
}

/// Cases on their way into files.
struct Sheet {
    records: Vec<Record>,
    spool: Spool,
    split: Split,
    left_out: Vec<LeftOut>,
    told: HashSet<(String, Reason)>,
    report: Report,
}

impl Sheet {
    /// Takes the cases that are good enough, each once, and splits them.
    fn of(pile: Pile, train: f64) -> Self {
        let doubled = split::duplicates(&pile.records);
        let mut sheet = Self {
            records: Vec::new(),
            spool: pile.spool,
            split: Split::default(),
            left_out: Vec::new(),
            told: HashSet::new(),
            report: Report::default(),
        };
        let mut counted = Report::default();
        pile.records.iter().for_each(|record| counted.case(record));
        for (record, doubled) in pile.records.into_iter().zip(doubled) {
            if doubled {
                sheet.leave_out(&record, Reason::Duplicate);
            } else {
                sheet.records.push(record);
            }
        }
        sheet.split = split::of(&sheet.records, train);
        sheet.report = counted.split(&sheet.split);
        sheet
    }

    fn leave_out(&mut self, record: &Record, reason: Reason) {
        // What has no answer has none in any file: it is told once.
        if self.told.insert((record.id.clone(), reason)) {
            self.left_out.push(record.left_out(reason));
        }
    }

    /// Goes through all pieces in order; what `take` refuses is left out.
    fn each(&mut self, mut take: impl FnMut(&mut Report, &Record, Piece, Hole) -> std::result::Result<(), Reason>) {
        let records = std::mem::take(&mut self.records);
        for (at, record) in records.iter().enumerate() {
            let mut is_counted = false;
            for made in record.pieces() {
                let taken = made.and_then(|(piece, hole)| {
                    let (dup_group, validation) = (self.split.dup_group[at], self.split.validation[at]);
                    take(&mut self.report, record, piece, Hole { dup_group, validation, ..hole })
                });
                match taken {
                    Err(reason) => self.leave_out(record, reason),
                    Ok(()) if !std::mem::replace(&mut is_counted, true) => {
                        *self.report.grades.entry(record.grade.as_str()).or_default() += 1;
                    }
                    Ok(()) => {}
                }
            }
        }
        self.records = records;
    }

    fn export(mut self, mut files: Vec<Planned>) -> Export {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        self.left_out.sort_by(|a, b| (&a.session, a.source.line_start).cmp(&(&b.session, b.source.line_start)));
        self.report.left_out = LeftOut::counts(&self.left_out);
        Export { files, left_out: self.left_out, report: self.report, spool: self.spool }
    }

    /// A file for each table and split, and the card.
    fn tables(&mut self, options: Options<'_>) -> Result<Vec<Planned>> {
        let dialect = options.dialect;
        let mut tables: BTreeMap<(Table, bool), Vec<(Piece, Hole)>> = BTreeMap::new();
        let mut seen: HashSet<(Table, blake3::Hash)> = HashSet::new();
        let mut longest: BTreeMap<Table, usize> = BTreeMap::new();
        self.each(|report, _, piece, hole| {
            let (Some(table), Some(body)) = (piece.table, piece.body) else { return Ok(()) };
            if !seen.insert((table, body)) {
                return Err(Reason::Duplicate);
            }
            report.row(piece.tokens);
            let most = longest.entry(table).or_default();
            *most = (*most).max(piece.tokens);
            // Of tables each file is one side: no row says it.
            let row = (piece, Hole { validation: false, ..hole });
            tables.entry((table, hole.validation)).or_default().push(row);
            Ok(())
        });
        let mut files = Vec::new();
        let mut configs: Vec<Config> = Vec::new();
        for ((table, validation), mut rows) in tables {
            // Who loads a file alone takes its shape from the first row.
            let richest = rows.iter().enumerate().max_by_key(|(at, row)| (row.0.shapes, std::cmp::Reverse(*at)));
            if let Some((at, _)) = richest {
                rows[..=at].rotate_right(1);
            }
            let split = if validation { "validation" } else { "train" };
            let name = format!("{}/{split}.jsonl", table.as_str());
            self.report.rows.insert(name.clone(), rows.len());
            if configs.last().is_none_or(|last| last.table != table) {
                let first = rows.first().map(|(piece, row)| row.cut(piece.aside).0.filled(&self.spool)).transpose()?;
                let first = first.unwrap_or_default();
                let sample = serde_json::from_slice(&first).unwrap_or_default();
                let longest = longest.get(&table).copied().unwrap_or_default();
                configs.push(Config { table, splits: Vec::new(), sample, longest });
            }
            if let Some(config) = configs.last_mut() {
                config.splits.push((split, name.clone(), rows.len()));
            }
            let (rows, aside): (Vec<Hole>, Vec<Hole>) = rows.iter().map(|(piece, row)| row.cut(piece.aside)).unzip();
            if !dialect.has_metadata() {
                let mut aside = Planned::stored(format!("{}/{split}.metadata.jsonl", table.as_str()), aside);
                // What is said of rows is none.
                aside.rows = 0;
                files.push(aside);
            }
            files.push(Planned::stored(name, rows));
        }
        if !configs.is_empty() {
            let card = card::card(&configs, &LeftOut::counts(&self.left_out), options);
            files.push(Planned::text("README.md", card));
            if dialect == Dialect::Axolotl {
                files.push(Planned::text("dataset_info.json", card::llama_factory(&configs)));
            }
        }
        Ok(files)
    }

    /// One row for each case that has an answer.
    fn lines(&mut self, name: &str) -> Vec<Planned> {
        let mut rows = Vec::new();
        self.each(|report, _, piece, row| {
            report.row(piece.tokens);
            rows.push(row.cut(piece.aside).0);
            Ok(())
        });
        if rows.is_empty() {
            return Vec::new();
        }
        self.report.rows.insert(name.to_owned(), rows.len());
        vec![Planned::stored(name, rows)]
    }

    /// A folder of files for each task.
    fn harbor(&mut self) -> Result<Vec<Planned>> {
        let mut samples = Vec::new();
        self.each(|_, _, _, sample| {
            samples.push(Hole { validation: false, ..sample });
            Ok(())
        });
        let files = samples.iter().map(|sample| Ok(task::harbor(&sample.filled(&self.spool)?)));
        Ok(files.collect::<Result<Vec<_>>>()?.concat())
    }

    /// A note for each case.
    fn notes(&mut self) -> Vec<Planned> {
        let mut files = Vec::new();
        let mut names = HashSet::new();
        self.each(|_, record, _, note| {
            let mut name = record.file_name();
            if !names.insert(name.clone()) {
                name = format!("{}.md", record.id);
            }
            files.push(Planned::stored(name, [Hole { validation: false, dup_group: 0, ..note }]));
            Ok(())
        });
        files
    }

    /// All notes as one document.
    fn document(&mut self) -> Vec<Planned> {
        let mut parts = Vec::new();
        let mut rows = 0;
        self.each(|_, _, _, note| {
            if rows > 0 {
                parts.push(FilePart::Text(RULE.to_vec()));
            }
            rows += 1;
            parts.push(FilePart::Stored(Hole { validation: false, dup_group: 0, ..note }));
            Ok(())
        });
        vec![Planned { name: "cases.md".into(), rows, parts }]
    }

    /// What models are asked: cases that none is trained on.
    fn samples(&mut self, drafter: &Drafter<'_>) -> Vec<Planned> {
        let mut samples = Vec::new();
        for (at, record) in self.records.iter_mut().enumerate() {
            if !self.split.validation[at] && !record.gap && !record.made.is_empty() {
                record.made = vec![Err(Reason::Trained)];
            }
        }
        self.each(|report, _, piece, sample| {
            report.row(piece.tokens);
            samples.push(Hole { validation: false, ..sample });
            Ok(())
        });
        if samples.is_empty() {
            return Vec::new();
        }
        let mut files = match (drafter.options.eval, drafter.place) {
            (Eval::Promptfoo, Place::Folder) => promptfoo::files(),
            _ => Vec::new(),
        };
        let name = match drafter.options.eval {
            Eval::Promptfoo => promptfoo::TESTS,
            Eval::Inspect | Eval::Harbor => "puzzles.jsonl",
        };
        self.report.rows.insert(name.to_owned(), samples.len());
        files.push(Planned::stored(name, samples));
        files
    }
}
