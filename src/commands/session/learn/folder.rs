//! An export written into a folder, and what is said of it.
//!
//! Rows replace rows of an earlier export and nothing else; notes that stand there already may have been edited and are
//! kept.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::list::left_out;
use crate::base::text::plural;
use crate::base::{Error, Result, files};
use crate::commands::output::style::{self, paint};
use crate::commands::output::{self, Align, Cell};
use crate::commands::{PlainOutput, View};
use crate::learn::Table;
use crate::learn::export::Planned;
use crate::learn::export::card;
use crate::learn::{Export, Format, LeftOut, Report};

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileFate {
    Created,
    Replaced,
    Unchanged,
    Kept,
    Removed,
}

/// Writes the files of an export. Rows replace rows of an earlier export, and those that it has none for now are removed;
/// a note or a configuration that stands there already may have been edited and is kept. Refuses a folder whose files of
/// these names are somebody else's, before anything is written.
pub(super) fn write(dir: &Path, export: &Export, format: Format) -> Result<Vec<(String, usize, FileFate)>> {
    let mut plan = Vec::new();
    for file in &export.files {
        let path = dir.join(&file.name);
        let old = files::digest(&path)?;
        if !is_kept(&file.name, format) && old.is_some() && !is_ours(dir, &file.name)? {
            return Err(Error::usage(format!("{} was not written by an export", path.display()))
                .with_hint("choose an empty folder, or move the file away"));
        }
        plan.push((file, path, old));
    }
    let mut written = Vec::new();
    let mut bulk = files::Bulk::new();
    for (file, path, old) in plan {
        let fate = match old {
            Some(old) if old == digest(export, file)? => FileFate::Unchanged,
            Some(_) if is_kept(&file.name, format) => FileFate::Kept,
            None if format == Format::Markdown => {
                if !bulk.create(&path, &export.bytes(file)?)? {
                    return Err(Error::Changed { path });
                }
                FileFate::Created
            }
            old => {
                let mut long = files::Long::new(&path)?;
                export.pieces(file).try_for_each(|piece| long.write(&piece?))?;
                long.settle(old)?;
                if old.is_some() { FileFate::Replaced } else { FileFate::Created }
            }
        };
        written.push((file.name.clone(), file.rows, fate));
    }
    bulk.finish()?;
    for name in left_over(dir, export) {
        let path = dir.join(&name);
        // Known before it is looked at: what is saved after that stays.
        let Some(old) = files::digest(&path)? else { continue };
        if is_ours(dir, &name)? {
            files::remove_of(&path, old)?;
            written.push((name, 0, FileFate::Removed));
        }
    }
    files::sync_dir(dir);
    Ok(written)
}

/// Bytes of a file that tell whether an export wrote it: its first row.
const FIRST: u64 = 16 * 1024 * 1024;

/// The digest of a file as it will be written.
fn digest(export: &Export, file: &Planned) -> Result<files::Digest> {
    let mut hasher = blake3::Hasher::new();
    for piece in export.pieces(file) {
        hasher.update(&piece?);
    }
    Ok(hasher.finalize().into())
}

/// Whether a file of that name is a person's once it is there.
fn is_kept(name: &str, format: Format) -> bool {
    format == Format::Markdown
        || matches!(name, "promptfooconfig.yaml" | "prompt.js")
        || (format == Format::Task && name.contains('/'))
}

/// Whether a file in the place of rows or a card comes from an earlier export.
fn is_ours(dir: &Path, name: &str) -> Result<bool> {
    let old = files::beginning(&dir.join(name), FIRST)?;
    let text = String::from_utf8_lossy(&old);
    Ok(match name {
        "README.md" => text.contains(card::MARK),
        "dataset_info.json" => text.contains(r#""file_name""#),
        _ => {
            let marked = |row: &str| row.contains(r#""exporter":"cru "#);
            // Rows of a dialect without metadata have it beside them.
            let aside = || files::beginning(&dir.join(aside(name)), FIRST).unwrap_or_default();
            text.trim().is_empty()
                || text.lines().next().is_some_and(marked)
                || String::from_utf8_lossy(&aside()).lines().next().is_some_and(marked)
        }
    })
}

/// The file with the metadata of a file of rows.
fn aside(rows: &str) -> String {
    rows.replace(".jsonl", ".metadata.jsonl")
}

/// Files of rows that an earlier export left and this one has no rows for.
fn left_over(dir: &Path, export: &Export) -> Vec<String> {
    if export.files.iter().all(|file| file.name != "README.md") {
        return Vec::new();
    }
    let names = Table::ALL.into_iter().flat_map(|table| {
        let rows = ["train", "validation"].map(|split| format!("{}/{split}.jsonl", table.as_str()));
        rows.into_iter().flat_map(|rows| {
            let aside = aside(&rows);
            [rows, aside]
        })
    });
    names
        .filter(|name| export.files.iter().all(|file| file.name != *name))
        .filter(|name| is_ours(dir, name).is_ok_and(|ours| ours))
        .collect()
}

/// What an export wrote.
#[derive(Debug, Serialize)]
pub(super) struct WrittenFolder {
    schema: u32,
    format: &'static str,
    dir: PathBuf,
    files: Vec<WrittenFile>,
    report: Report,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct WrittenFile {
    name: String,
    rows: usize,
    fate: FileFate,
}

impl WrittenFolder {
    pub(super) fn of(dir: &Path, format: Format, written: Vec<(String, usize, FileFate)>, export: Export) -> Self {
        let files = written.into_iter().map(|(name, rows, fate)| WrittenFile { name, rows, fate }).collect();
        Self {
            schema: 1,
            format: format.as_str(),
            dir: dir.to_owned(),
            files,
            report: export.report,
            left_out: export.left_out,
        }
    }

    fn count(&self, fate: FileFate) -> usize {
        self.files.iter().filter(|file| file.fate == fate).count()
    }
}

impl PlainOutput for WrittenFolder {
    fn shown(&self, view: &View) -> String {
        let mut text = String::new();
        let dir = self.dir.display();
        if self.format == Format::Markdown.as_str() {
            let _ = writeln!(text, "{} in {dir}", paint(style::TITLE, plural(self.files.len() as u64, "case")));
            for (fate, words) in [
                (FileFate::Created, "written"),
                (FileFate::Unchanged, "unchanged"),
                (FileFate::Kept, "kept as they are: edited, or from other text"),
            ] {
                if self.count(fate) > 0 {
                    let _ = writeln!(text, "  {} {words}", self.count(fate));
                }
            }
        } else {
            let mut table = output::Table::new(&[("FILE", Align::Left), ("ROWS", Align::Right), ("", Align::Left)]);
            for file in &self.files {
                let rows = if file.rows > 0 { file.rows.to_string() } else { "–".to_owned() };
                let fate = match file.fate {
                    FileFate::Created => Cell::new("created").style(style::GOOD),
                    FileFate::Replaced => Cell::new("replaced").style(style::WARN),
                    FileFate::Unchanged => Cell::new("unchanged").style(style::DIM),
                    FileFate::Kept => Cell::new("kept").style(style::DIM),
                    FileFate::Removed => Cell::new("removed").style(style::WARN),
                };
                let path = self.dir.join(&file.name);
                table.row([Cell::new(path.to_string_lossy()).style(style::ID), Cell::new(rows), fate]);
            }
            text.push_str(&table.render(view));
        }
        if self.format != Format::Markdown.as_str() {
            super::stats::tokens(&mut text, &self.report);
        }
        left_out(&mut text, &self.left_out);
        let first = self.files.iter().find_map(|file| file.name.split_once('/')).map(|(table, _)| table);
        if let Some(table) =
            first.filter(|_| [Format::Jsonl, Format::Trajectories].iter().any(|it| it.as_str() == self.format))
        {
            let _ = write!(
                text,
                "\nNext: load_dataset(\"{dir}\", \"{table}\") in Python, max_length {}; {dir}/README.md says the rest.\n",
                self.report.max_length
            );
        }
        text
    }
}
