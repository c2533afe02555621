//! The importer interface: what an agent's file in `import/` gives, and who receives it.
//!
//! It lives here so that whoever wants events (the import command, hooks) needs no importer by name.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;

use super::agent_table::{self, AgentEntry};
use super::event::{Event, StreamKey};
use cru_base::Result;

/// One agent's transcripts: the row an agent adds to the table in `import/`.
#[derive(Debug)]
pub struct Importer {
    /// Name on the command line, and of its row in the [table of agents](crate::agent_table): `claude`.
    pub id: &'static str,
    /// Whether a file is one of its transcripts, by path and first bytes (up to 64 KiB).
    pub recognise: fn(&Path, &[u8]) -> bool,
    /// Puts recognised files together that must be read as one: a session, its slices and its sub-agents. The result
    /// is ordered and does not depend on the order of `files`.
    pub bundle: fn(Vec<PathBuf>) -> Result<Vec<Bundle>>,
    /// The names under which [`Importer::bundle`] puts a file together with others: files that share one belong together,
    /// and so do a session and the one that it was started from. Looks at this file alone, so that files can be put
    /// together without being in one place.
    pub together: fn(&Path) -> Result<Vec<String>>,
    /// Reads one bundle and hands its events to the sink, in order within each stream.
    pub read: fn(&Bundle, &mut dyn Sink) -> Result<()>,
    /// The files that belong to the session of one transcript: itself and those of its sub-agents. Looks into the
    /// session's own folder and into no other.
    pub beside: fn(&Path) -> Vec<PathBuf>,
    /// What the host's hooks told, as the transcripts it would have written: by path, beside the path that is given.
    /// `None` for a host without hooks.
    #[expect(clippy::type_complexity, reason = "paths with texts, as the doc says; named once")]
    pub hooked: Option<fn(&Path, &[Hook<'_>]) -> Vec<(PathBuf, Vec<u8>)>>,
}

impl Importer {
    /// The row of its agent in the table; an empty one where it has none, which a test of the table rules out.
    pub fn agent(&self) -> &'static AgentEntry {
        static NONE: LazyLock<AgentEntry> = LazyLock::new(AgentEntry::default);
        agent_table::by_id(self.id).unwrap_or(&NONE)
    }

    /// Name for people: `Claude Code`.
    pub fn title(&self) -> &'static str {
        &self.agent().title
    }

    /// Frontmatter `host` and name of the agent: `claude-code`.
    pub fn host(&self) -> &'static str {
        &self.agent().host
    }
}

/// One event that a host's hook told.
#[derive(Clone, Copy, Debug)]
pub struct Hook<'a> {
    /// Unique.
    pub id: &'a str,
    /// When it was told.
    pub time: Timestamp,
    /// Its name in all hosts: `post-tool`.
    pub event: &'a str,
    /// What the host said, as it said it.
    pub input: &'a Value,
}

/// Files that are read as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// In the order they are to be read.
    pub files: Vec<PathBuf>,
    /// Bytes of files that are not on the disk.
    pub memory: BTreeMap<PathBuf, Vec<u8>>,
}

impl Bundle {
    /// These files.
    pub fn of(files: Vec<PathBuf>) -> Self {
        Self { files, memory: BTreeMap::new() }
    }

    /// Opens one of its files, to read all of it.
    pub fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead + '_>> {
        self.open_with(path, 256 << 10)
    }

    /// Opens one of its files, to read its first lines alone.
    pub fn peek(&self, path: &Path) -> io::Result<Box<dyn BufRead + '_>> {
        self.open_with(path, 8 << 10)
    }

    fn open_with(&self, path: &Path, buffer: usize) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(match self.memory.get(path) {
            Some(bytes) => Box::new(bytes.as_slice()),
            None => Box::new(BufReader::with_capacity(buffer, cru_base::files::open_regular(path)?)),
        })
    }

    /// Reads its files into memory, so that they are read once however often they are opened, and are the same each time.
    /// Where they are more than `most` bytes together, or one cannot be read, they stay where they are.
    pub fn hold(&mut self, most: u64) {
        let left = |path: &&PathBuf| !self.memory.contains_key(*path);
        let sizes = self.files.iter().filter(left).map(|path| std::fs::metadata(path).map_or(u64::MAX, |it| it.len()));
        if sizes.fold(0, u64::saturating_add) > most {
            return;
        }
        let read = |path: &PathBuf| Some((path.clone(), cru_base::files::read(path).ok()?));
        let held: Vec<_> = self.files.iter().filter(left).map(read).collect();
        self.memory.extend(held.into_iter().flatten());
    }
}

/// How much of a stream is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Records to read; the others are passed over.
    pub until: Option<u64>,
    /// Records after which the hash is wanted.
    pub mark: Option<u64>,
    /// A record that is looked for, by its id as [`crate::cursor::record_key`] shortens it.
    pub last: Option<[u8; 8]>,
}

/// What a stream is, told before its first event.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Its identity.
    pub key: StreamKey,
    /// The stream that started it: the parent of a sub-agent, the origin of a fork.
    pub parent: Option<StreamKey>,
    /// The file its first record is in.
    pub transcript: PathBuf,
    /// Sub-agent type, `reviewer`; `None` for a main session.
    pub agent: Option<String>,
    /// What the sub-agent was asked, in a few words.
    pub task: Option<String>,
    /// Whether something is told of it that stands in none of its records, and may be different the next time.
    pub aside: bool,
}

/// What was read of a stream, told after its last event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consumed {
    /// Records of this stream.
    pub records: u64,
    /// Id of the last of them.
    pub last: Option<String>,
    /// BLAKE3 over the bytes of its records (each with its newline), hex.
    pub hash: String,
    /// The same over the first [`Bounds::mark`] records, where there are as many.
    pub marked: Option<String>,
    /// The number of the record that [`Bounds::last`] names, where exactly one has that id, and of the last record without
    /// an id directly behind it.
    pub located: Option<(u64, u64)>,
    /// The last record that is not newer than the note was; its receiver finds that, and no importer.
    pub before_end: Option<u64>,
    /// The first record from which on some call waits for its answer, where one does at the end and no later prompt
    /// shows that the work went on without it.
    pub open: Option<u64>,
}

/// Receives the streams of a bundle.
pub trait Sink {
    /// Whether a stream is wanted at all. An importer that can pass over one without reading it asks before it opens it.
    fn wants(&self, _key: &StreamKey) -> bool {
        true
    }
    /// A stream begins. Opening a key again goes on with it.
    fn open(&mut self, header: Header);
    /// How much of the stream is wanted; asked once, when it is opened.
    fn bounds(&self, _key: &StreamKey) -> Bounds {
        Bounds::default()
    }
    /// What is told next comes from this line of a file, from 1.
    fn line(&mut self, _file: &Path, _line: u64) {}
    /// One event of a stream that was opened.
    fn event(&mut self, key: &StreamKey, event: Event<'_>);
    /// A stream is read to its end.
    fn close(&mut self, _key: &StreamKey, _consumed: Consumed) {}
    /// The account of one file: every record of it is represented or skipped for a named reason.
    fn account(&mut self, _file: &Path, _account: Account) {}
}

/// What became of the records of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Account {
    /// Records (lines that are not blank).
    pub records: u64,
    /// Records that a note shows or uses.
    pub represented: u64,
    /// The others, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Of those that a note shows or uses: how many belong to which stream, where the file holds several.
    #[serde(skip)]
    pub by_stream: BTreeMap<StreamKey, u64>,
}

impl Account {
    /// Counts a record that a note shows or uses.
    pub fn represent(&mut self) {
        self.records += 1;
        self.represented += 1;
    }

    /// Counts a record that the note of `stream` shows or uses.
    pub fn represent_of(&mut self, stream: &StreamKey) {
        self.represent();
        self.add_of(stream);
    }

    fn add_of(&mut self, stream: &StreamKey) {
        match self.by_stream.get_mut(stream) {
            Some(count) => *count += 1,
            None => {
                self.by_stream.insert(stream.clone(), 1);
            }
        }
    }

    /// Counts up to `count` records that a note would show or use as left out for `reason`.
    pub fn withhold(&mut self, count: u64, reason: &'static str) {
        let count = count.min(self.represented);
        if count > 0 {
            self.represented -= count;
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// Counts a record that is left out.
    pub fn skip(&mut self, reason: &'static str) {
        self.skip_all(1, reason);
    }

    /// Counts so many records that are left out.
    pub fn skip_all(&mut self, count: u64, reason: &'static str) {
        if count > 0 {
            self.records += count;
            *self.skipped.entry(reason).or_default() += count;
        }
    }

    /// Counts up to `count` records that were skipped for `from` under the reason `to`.
    pub fn rename(&mut self, from: &'static str, to: &'static str, count: u64) {
        let moved = self.skipped.get(from).copied().unwrap_or(0).min(count);
        if moved > 0 {
            *self.skipped.entry(from).or_default() -= moved;
            *self.skipped.entry(to).or_default() += moved;
        }
        self.skipped.retain(|_, count| *count > 0);
    }

    /// Counts a record that was skipped for `reason` as one that a note uses after all.
    pub fn unskip(&mut self, reason: &'static str) {
        if let Some(count) = self.skipped.get_mut(reason).filter(|count| **count > 0) {
            *count -= 1;
            self.represented += 1;
        }
        self.skipped.retain(|_, count| *count > 0);
    }

    /// As [`Account::unskip`], of a record of `stream`.
    pub fn unskip_of(&mut self, stream: &StreamKey, reason: &'static str) {
        let before = self.represented;
        self.unskip(reason);
        if self.represented > before {
            self.add_of(stream);
        }
    }

    /// Whether every record is accounted for.
    pub fn balances(&self) -> bool {
        self.records == self.represented + self.skipped.values().sum::<u64>()
    }

    /// Adds another account.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.represented += other.represented;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
        for (stream, count) in &other.by_stream {
            *self.by_stream.entry(stream.clone()).or_default() += count;
        }
    }
}
