//! `cru files`: who read and wrote a file, when and why.

mod place;
mod text;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use self::place::{Place, Wanted};
use super::session::filter::Filter;
use super::{Context, Output, View, reading};
use crate::base::Result;
use crate::index::record::{FileRow, PhaseRow, Record};
use crate::index::{NoteKey, touch};

/// Files of a list where none is named.
const MOST: usize = 20;

/// Who read and wrote a file, when, and in what work
///
/// PATH is absolute, below the working directory, or as notes have it: what its names from the end agree with is meant.
/// Without PATH: the files that were touched most.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file: `src/a.rs`, `./a.rs`, `~/x/src/a.rs`
    path: Option<String>,
    /// Only who wrote it
    #[arg(long, conflicts_with = "readers")]
    writers: bool,
    /// Only who read it
    #[arg(long)]
    readers: bool,
    /// At most that many; 0 is all [default: 20 files, all of one]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    filter: Filter,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let chosen = args.filter.read(cx.env)?;
    let vault = reading::vault(cx)?;
    let snapshot = reading::snapshot(&vault, cx)?;
    let wanted = args.path.as_deref().map(|path| Wanted::read(path, cx.env));
    let notes = match &wanted {
        Some(wanted) => touch::notes(&snapshot, wanted.name())?,
        None => None,
    };
    let may = |path: &str| notes.as_ref().is_none_or(|notes| notes.contains(&NoteKey::of_text(path)));
    let records = snapshot.records(|row| row.steps > 0 && may(&row.path) && chosen.matches_row(row))?;
    let mut files: HashMap<Place, Vec<Touch>> = HashMap::new();
    for record in &records {
        let phases: HashMap<&str, &PhaseRow> = record.phases.iter().map(|it| (it.id.as_str(), it)).collect();
        for row in &record.files {
            let access = Access::of(row);
            if (args.writers && access == Access::Read) || (args.readers && access != Access::Read) {
                continue;
            }
            let place = Place::of(&row.path, record.session.project.as_deref(), cx.env);
            let phase = row.phase.as_deref().and_then(|id| phases.get(id)).copied();
            files.entry(place).or_default().push(Touch::of(row, phase, record, access));
        }
    }
    let limit = args.limit.map(|limit| if limit == 0 { usize::MAX } else { limit });
    if let Some(wanted) = &wanted {
        let places: HashSet<Place> = wanted.choose(files.keys()).into_iter().cloned().collect();
        files.retain(|place, _| places.contains(place));
    }
    let mut files: Vec<File> = files.into_iter().map(|(place, touches)| File::of(&place, touches)).collect();
    let (total, one) = (files.len(), wanted.is_some());
    if one {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        for file in &mut files {
            file.touches.truncate(limit.unwrap_or(usize::MAX));
        }
    } else {
        files.sort_by(|a, b| {
            let key = |it: &File| (Reverse(it.reads + it.writes), Reverse(it.last));
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
        });
        files.truncate(limit.unwrap_or(MOST));
    }
    let report = Report { schema: 1, total, one, files };
    if report.files.is_empty() {
        cx.ui.note(match &args.path {
            Some(_) => "no session names such a file; `cru files` lists those that were touched most",
            None => "no session names a file",
        });
    }
    Ok(Box::new(report))
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Access {
    Read,
    Write,
    Create,
}

impl Access {
    fn of(row: &FileRow) -> Self {
        match row.access.as_str() {
            "write" => Self::Write,
            "create" => Self::Create,
            _ => Self::Read,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "wrote",
            Self::Create => "created",
        }
    }
}

#[derive(Debug, Serialize)]
struct Report {
    schema: u32,
    total: usize,
    #[serde(skip)]
    one: bool,
    files: Vec<File>,
}

/// A file and all that was done to it.
#[derive(Debug, Serialize)]
struct File {
    /// From the root or home, where that is known.
    path: String,
    reads: u64,
    writes: u64,
    sessions: u64,
    last: Option<Timestamp>,
    /// The newest first.
    touches: Vec<Touch>,
}

impl File {
    fn of(place: &Place, mut touches: Vec<Touch>) -> Self {
        touches.sort_by(|a, b| {
            (Reverse(a.time), &a.note, Reverse(a.line), Reverse(a.access)).cmp(&(
                Reverse(b.time),
                &b.note,
                Reverse(b.line),
                Reverse(b.access),
            ))
        });
        let reads = touches.iter().filter(|it| it.access == Access::Read).count() as u64;
        let sessions: HashSet<&str> = touches.iter().map(|it| it.note.as_str()).collect();
        Self {
            path: place.text(),
            reads,
            writes: touches.len() as u64 - reads,
            sessions: sessions.len() as u64,
            last: touches.first().and_then(|it| it.time),
            touches,
        }
    }
}

/// One access.
#[derive(Debug, Serialize)]
struct Touch {
    access: Access,
    /// When: the step's own time, else that its phase or session began.
    time: Option<Timestamp>,
    agent: Option<String>,
    tool: String,
    step: Option<String>,
    phase: Option<String>,
    phase_title: Option<String>,
    session: String,
    session_title: String,
    hash: Option<String>,
    note: String,
    line: u64,
}

impl Touch {
    fn of(row: &FileRow, phase: Option<&PhaseRow>, record: &Record, access: Access) -> Self {
        let session = &record.session;
        Self {
            access,
            time: row.time.or_else(|| phase.and_then(|it| it.started)).or(session.started),
            agent: phase.and_then(|it| it.agent.clone()).or_else(|| session.agent.clone()),
            tool: row.tool.clone(),
            step: row.step.clone(),
            phase: row.phase.clone(),
            phase_title: phase.map(|it| it.title.clone()),
            session: session.id.clone(),
            session_title: session.title.clone(),
            hash: row.hash.clone(),
            note: session.path.clone(),
            line: row.line,
        }
    }
}

impl Output for Report {
    fn text(&self, view: &View) -> String {
        text::render(self, view)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut json = serde_json::to_value(self)?;
        if !self.one
            && let Some(files) = json.get_mut("files").and_then(serde_json::Value::as_array_mut)
        {
            for file in files.iter_mut().filter_map(serde_json::Value::as_object_mut) {
                file.shift_remove("touches");
            }
        }
        Ok(json)
    }

    fn paged(&self) -> bool {
        true
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.files.is_empty())
    }
}
