//! `cru files`: who read and wrote a file, when and why.

pub(super) mod place;
mod text;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use self::place::{FilePlace, WantedFile};
use super::output::PlainOutput;
use super::reading::{self, Asked};
use super::session::filter::SessionFilter;
use super::{Context, Output, View};
use crate::base::{Env, Result};
use crate::index::record::FileRow;
use crate::index::table::{RowItem, RowView, ViewedRow, rows};
use crate::index::{NoteKey, Record, SessionRow, Table, touch};

/// Files of a list where none is named.
const MOST: usize = 20;

/// List who read and wrote a file, and when
///
/// PATH is absolute, below the working directory, or as notes have it: what its names from the end agree with is meant.
/// Without PATH: the files that were touched most.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file: `src/a.rs`, `./a.rs`, `~/x/src/a.rs`
    path: Option<String>,
    /// Only who wrote it, or only who read it
    #[arg(long, value_enum, value_name = "WHO")]
    only: Option<Only>,
    /// Files or accesses to show; 0 for all [default: 20 files, all of one]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    filter: SessionFilter,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let Asked { chosen, snapshot, .. } = reading::asked(&args.filter, cx)?;
    let wanted = args.path.as_deref().map(|path| WantedFile::read(path, cx.env));
    let notes = match &wanted {
        Some(wanted) => touch::notes(&snapshot, wanted.name())?,
        None => None,
    };
    let may = |path: &str| notes.as_ref().is_none_or(|notes| notes.contains(&NoteKey::of_text(path)));
    let with = |row: &SessionRow| row.steps > 0 && may(&row.path) && chosen.matches_row(row);
    let asked = |access: Access| match access {
        Access::Read => args.only != Some(Only::Writers),
        Access::Write | Access::Create | Access::Delete => args.only != Some(Only::Readers),
    };
    let touched = |record: Record| TouchedFile::all(&record, wanted.as_ref(), asked, cx.env);
    let mut files: HashMap<FilePlace, TouchedFile> = HashMap::new();
    let add = |some: HashMap<FilePlace, TouchedFile>| {
        for (place, file) in some {
            files.entry(place).or_default().merge(file);
        }
    };
    snapshot.each_record(with, &[Table::Phases, Table::Files], touched, add);
    let limit = args.limit.map(|limit| if limit == 0 { usize::MAX } else { limit });
    if let Some(wanted) = &wanted {
        let places: HashSet<FilePlace> = wanted.choose(files.keys()).into_iter().cloned().collect();
        files.retain(|place, _| places.contains(place));
    }
    let mut files: Vec<TouchedFile> = files.into_iter().map(|(place, file)| file.named(&place)).collect();
    let (total, one) = (files.len(), wanted.is_some());
    if one {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        for file in &mut files {
            file.touches.truncate(limit.unwrap_or(usize::MAX));
        }
    } else {
        files.sort_by(|a, b| {
            let key = |it: &TouchedFile| (Reverse(it.reads + it.writes), Reverse(it.last));
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
        });
        files.truncate(limit.unwrap_or(MOST));
    }
    let report = FilesReport { schema: 1, total, one, files };
    if report.files.is_empty() {
        cx.ui.note(match &args.path {
            Some(_) => "no session names such a file; `cru files` lists those that were touched most",
            None => "no session names a file",
        });
    }
    Ok(Box::new(report))
}

/// Whose accesses are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Only {
    /// Those that wrote
    Writers,
    /// Those that read
    Readers,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Access {
    Read,
    Write,
    Create,
    Delete,
}

impl Access {
    fn of(row: &FileRow) -> Self {
        match row.access.as_str() {
            "write" => Self::Write,
            "create" => Self::Create,
            "delete" => Self::Delete,
            _ => Self::Read,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "wrote",
            Self::Create => "created",
            Self::Delete => "deleted",
        }
    }
}

#[derive(Debug, Serialize)]
struct FilesReport {
    schema: u32,
    total: usize,
    #[serde(skip)]
    one: bool,
    files: Vec<TouchedFile>,
}

/// A file and all that was done to it.
#[derive(Debug, Default, Serialize)]
struct TouchedFile {
    /// From the root or home, where that is known.
    path: String,
    reads: u64,
    writes: u64,
    sessions: u64,
    last: Option<Timestamp>,
    /// The newest first; none where many files are listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    touches: Vec<Touch>,
}

impl TouchedFile {
    /// What one session did to files: to those that may be `wanted`, each time; else how often to all.
    fn all(
        record: &Record,
        wanted: Option<&WantedFile>,
        asked: impl Fn(Access) -> bool,
        env: &Env,
    ) -> HashMap<FilePlace, Self> {
        let view = RowView::of(Table::Files.columns(), VIEW);
        let mut files: HashMap<FilePlace, Self> = HashMap::new();
        for row in rows(record, false, Table::Files.rows(), &TimeZone::UTC) {
            let RowItem::File(own) = row.item else { continue };
            let access = Access::of(own);
            let place = FilePlace::of(&own.path, record.session.project.as_deref(), env);
            if !asked(access) || wanted.is_some_and(|wanted| !wanted.may_be(&place)) {
                continue;
            }
            let time = row.time();
            let file = files.entry(place).or_default();
            file.reads += u64::from(access == Access::Read);
            file.writes += u64::from(access != Access::Read);
            file.sessions = 1;
            file.last = file.last.max(time);
            if wanted.is_some() {
                file.touches.push(Touch { access, time, row: view.row(row) });
            }
        }
        files
    }

    /// Adds what another session did to it.
    fn merge(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.sessions += other.sessions;
        self.last = self.last.max(other.last);
        self.touches.extend(other.touches);
    }

    /// The same with its path, and the newest first.
    fn named(mut self, place: &FilePlace) -> Self {
        place.text().clone_into(&mut self.path);
        self.touches.sort_by(|a, b| {
            let within = |it: &Touch| (Reverse(it.row.count("line")), Reverse(it.access));
            let key = |it: &Touch| (Reverse(it.time), it.row.text("note").map(str::to_owned), within(it));
            key(a).cmp(&key(b))
        });
        self
    }
}

/// One access.
#[derive(Debug, Serialize)]
struct Touch {
    access: Access,
    /// When: the step's own time, else that its phase or session began.
    time: Option<Timestamp>,
    #[serde(flatten)]
    row: ViewedRow,
}

/// What is told of an access.
const VIEW: &[&str] =
    &["agent", "tool", "step", "phase", "phase_title", "session", "session_title", "hash", "note", "line"];

impl PlainOutput for FilesReport {
    fn is_no(&self) -> bool {
        self.files.is_empty()
    }

    fn shown(&self, view: &View) -> String {
        text::render(self, view)
    }
}
