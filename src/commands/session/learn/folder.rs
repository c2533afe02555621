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
use crate::commands::output::{Align, Cell, Table};
use crate::commands::{Output, View};
use crate::learn::{Export, File, Format, LeftOut, card};

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Fate {
    Created,
    Replaced,
    Unchanged,
    Kept,
}

/// Writes the files of an export. Rows replace rows of an earlier export; a note that stands there already may have been
/// edited and is kept. Refuses a folder whose files of these names are somebody else's, before anything is written.
pub(super) fn write(dir: &Path, export: &Export, format: Format) -> Result<Vec<(String, usize, Fate)>> {
    let mut plan = Vec::new();
    for file in &export.files {
        let path = dir.join(&file.name);
        let old = if path.exists() { Some(files::read(&path)?) } else { None };
        if format != Format::Markdown && old.as_ref().is_some_and(|old| !is_ours(file, old)) {
            return Err(Error::usage(format!("{} was not written by an export", path.display()))
                .with_hint("choose an empty folder, or move the file away"));
        }
        plan.push((file, path, old));
    }
    let mut written = Vec::new();
    for (file, path, old) in plan {
        let fate = match old {
            Some(old) if old == file.bytes => Fate::Unchanged,
            Some(_) if format == Format::Markdown => Fate::Kept,
            Some(old) => {
                files::replace(&path, &old, &file.bytes)?;
                Fate::Replaced
            }
            None if files::create(&path, &file.bytes)? => Fate::Created,
            None => return Err(Error::Changed { path }),
        };
        written.push((file.name.clone(), file.rows, fate));
    }
    files::sync_dir(dir);
    Ok(written)
}

/// Whether bytes in the place of a file of rows or a card come from an earlier export.
fn is_ours(file: &File, old: &[u8]) -> bool {
    let text = String::from_utf8_lossy(old);
    match file.name.as_str() {
        "README.md" => text.contains(card::MARK),
        _ => text.trim().is_empty() || text.lines().next().is_some_and(|row| row.contains(r#""exporter":"cru "#)),
    }
}

/// Files of rows that an earlier export left and this one has no rows for.
pub(super) fn left_over(dir: &Path, export: &Export) -> Vec<&'static str> {
    let has_card = export.files.iter().any(|file| file.name == "README.md");
    let rows = ["sft.jsonl", "preference.jsonl"].into_iter().filter(|_| has_card);
    rows.filter(|name| export.files.iter().all(|file| file.name != *name) && dir.join(name).exists()).collect()
}

/// What an export wrote.
#[derive(Debug, Serialize)]
pub(super) struct Written {
    schema: u32,
    format: &'static str,
    dir: PathBuf,
    files: Vec<WrittenFile>,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Serialize)]
struct WrittenFile {
    name: String,
    rows: usize,
    fate: Fate,
}

impl Written {
    pub(super) fn of(dir: &Path, format: Format, written: Vec<(String, usize, Fate)>, export: &Export) -> Self {
        let files = written.into_iter().map(|(name, rows, fate)| WrittenFile { name, rows, fate }).collect();
        Self { schema: 1, format: format.as_str(), dir: dir.to_owned(), files, left_out: export.left_out.clone() }
    }

    fn count(&self, fate: Fate) -> usize {
        self.files.iter().filter(|file| file.fate == fate).count()
    }
}

impl Output for Written {
    fn text(&self, view: &View) -> String {
        let mut text = String::new();
        let dir = self.dir.display();
        if self.format == Format::Markdown.as_str() {
            let _ = writeln!(text, "{} in {dir}", paint(style::TITLE, plural(self.files.len() as u64, "case")));
            for (fate, words) in [
                (Fate::Created, "written"),
                (Fate::Unchanged, "unchanged"),
                (Fate::Kept, "kept as they are: edited, or from other text"),
            ] {
                if self.count(fate) > 0 {
                    let _ = writeln!(text, "  {} {words}", self.count(fate));
                }
            }
        } else {
            let mut table = Table::new(&[("FILE", Align::Left), ("ROWS", Align::Right), ("", Align::Left)]);
            for file in &self.files {
                let rows = if file.rows > 0 { file.rows.to_string() } else { "–".to_owned() };
                let fate = match file.fate {
                    Fate::Created => Cell::new("created").style(style::GOOD),
                    Fate::Replaced => Cell::new("replaced").style(style::WARN),
                    Fate::Unchanged | Fate::Kept => Cell::new("unchanged").style(style::DIM),
                };
                let path = self.dir.join(&file.name);
                table.row([Cell::new(path.to_string_lossy()).style(style::ID), Cell::new(rows), fate]);
            }
            text.push_str(&table.render(view));
        }
        left_out(&mut text, &self.left_out);
        if self.format == Format::Jsonl.as_str() {
            let _ =
                write!(text, "\nNext: load_dataset(\"{dir}\", \"sft\") in Python; {dir}/README.md says the rest.\n");
        }
        text
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}
