//! One bundle read: its streams folded, its files accounted for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::read::heard::{LineNow, StreamWords};
use crate::read::hook_facts::HookFacts;
use jiff::Timestamp;

use cru_base::text::fold_whitespace;
use cru_session::event::{Event, EventKind, SessionFact, StreamKey};
use cru_session::fold::{Draft, Fold, Options};
use cru_session::mask::Masks;
use cru_session::source::{Account, Bounds, Bundle, Consumed, Header, Importer, Sink};

/// What a bundle gave.
#[derive(Debug, Default)]
pub struct Bundled {
    /// One for each stream, by key.
    pub drafts: Vec<Draft>,
    /// One for each file, in the order they were read.
    pub accounts: Vec<FileAccount>,
    /// What the calls of each stream say, where that was asked for.
    pub(crate) words: BTreeMap<StreamKey, StreamWords>,
    /// Where the calls of each stream stand, by the step that they became, where that was asked for.
    pub places: BTreeMap<StreamKey, BTreeMap<String, CallPlace>>,
}

/// The record of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPlace {
    /// The file.
    pub file: Arc<PathBuf>,
    /// Its line, from 1.
    pub line: u64,
}

/// What became of one file.
#[derive(Debug, Default)]
pub struct FileAccount {
    /// The file.
    pub path: PathBuf,
    /// What became of its records.
    pub account: Account,
    /// The streams that its records belong to.
    pub streams: BTreeSet<StreamKey>,
    /// The version of the host that wrote it, the last where it names several.
    pub version: Option<String>,
    /// Why it could not be read, to its end or at all. Then no file of the bundle gives anything: half of a session
    /// would be wrong.
    pub error: Option<String>,
}

/// What is known before a bundle is read.
#[derive(Clone, Copy)]
pub(crate) struct BeforeRead<'a> {
    /// How much of a stream is wanted.
    pub(crate) bounds: &'a (dyn Fn(&StreamKey) -> Bounds + Sync),
    /// When the last record of a stream's note was written, where there is one.
    pub(crate) ended: &'a (dyn Fn(&StreamKey) -> Option<Timestamp> + Sync),
    /// What hooks saw of the calls.
    pub(crate) facts: Option<&'a HookFacts>,
    /// The one stream that is wanted, where it is not all.
    pub(crate) only: Option<&'a StreamKey>,
    /// How many bytes of each input and output are to be kept, where they are.
    pub(crate) listen: Option<usize>,
    /// Whether the places of calls are wanted.
    pub(crate) places: bool,
}

impl<'a> BeforeRead<'a> {
    /// Of all streams as much as `bounds` say, and nothing more.
    pub(crate) fn within(bounds: &'a (dyn Fn(&StreamKey) -> Bounds + Sync)) -> Self {
        Self { bounds, ended: &|_| None, facts: None, only: None, listen: None, places: false }
    }
}

/// How a stream becomes a note.
pub(crate) type Asked<'a> = &'a dyn Fn(&StreamKey) -> Options;

/// Reads a bundle and folds its streams.
pub(crate) fn read(importer: &Importer, bundle: &Bundle, options: Asked<'_>, before: BeforeRead<'_>) -> Bundled {
    let pass = |known| {
        let mut collector = Collector {
            host: importer.host(),
            options,
            before,
            known,
            open: BTreeMap::new(),
            consumed: BTreeMap::new(),
            ended: BTreeMap::new(),
            touched: BTreeSet::new(),
            accounts: Vec::new(),
            version: None,
            now: LineNow::default(),
            words: BTreeMap::new(),
            calls: BTreeMap::new(),
        };
        let failed = (importer.read)(bundle, &mut collector).err().map(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            format!("{error}{cause}")
        });
        (collector, failed)
    };
    let (mut collector, mut failed) = pass(BTreeMap::new());
    // What stood before the place that tells a secret was taken in already.
    let folds = || collector.open.values().map(Fold::masks);
    let hindsight = |fold: &Fold| fold.masks().with_hindsight(folds());
    let known: BTreeMap<_, _> =
        collector.open.iter().filter_map(|(key, fold)| Some((key.clone(), hindsight(fold)?))).collect();
    if failed.is_none() && !known.is_empty() {
        (collector, failed) = pass(known);
    }
    collector.finish(bundle, failed.as_deref())
}

/// Receives the streams of a bundle.
struct Collector<'a> {
    host: &'static str,
    options: Asked<'a>,
    before: BeforeRead<'a>,
    /// Secrets of the streams, where they were read before.
    known: BTreeMap<StreamKey, Masks>,
    open: BTreeMap<StreamKey, Fold>,
    consumed: BTreeMap<StreamKey, Consumed>,
    /// Where a stream's note ended.
    ended: BTreeMap<StreamKey, NoteEnd>,
    /// Streams that had an event since the last file was accounted for.
    touched: BTreeSet<StreamKey>,
    accounts: Vec<FileAccount>,
    /// The version of the host that was last told.
    version: Option<String>,
    now: LineNow,
    words: BTreeMap<StreamKey, StreamWords>,
    /// Calls with their places, in their order.
    calls: BTreeMap<StreamKey, Vec<(String, CallPlace)>>,
}

/// The records of a transcript up to the end of its note, by time.
#[derive(Clone, Copy, Debug, Default)]
struct NoteEnd {
    time: Timestamp,
    /// The last record with an event until then; 0 for none.
    last: u64,
    /// Whether an event is of a later time.
    is_newer: bool,
    /// Whether an event without a time stands behind `last`.
    is_untimed: bool,
}

impl NoteEnd {
    fn event(&mut self, event: &Event<'_>) {
        match event.time {
            Some(time) if time.as_second() <= self.time.as_second() => {
                self.last = event.record.max(self.last);
                self.is_untimed = false;
            }
            Some(_) => self.is_newer = true,
            None => self.is_untimed = true,
        }
    }

    /// How many records belong to the note; those behind its last event that give none do as well.
    fn records(&self, all: u64) -> Option<u64> {
        let records = if self.is_newer || self.is_untimed { self.last } else { all };
        (self.last > 0).then_some(records)
    }
}

impl Collector<'_> {
    fn finish(mut self, bundle: &Bundle, failed: Option<&str>) -> Bundled {
        let told: BTreeSet<PathBuf> = self.accounts.iter().map(|read| read.path.clone()).collect();
        let missing = bundle.files.iter().filter(|path| !told.contains(*path));
        self.accounts.extend(missing.map(|path| FileAccount { path: path.clone(), ..FileAccount::default() }));
        if failed.is_some() {
            // Half of a session would be a wrong note: the whole bundle waits for the next run.
            for read in &mut self.accounts {
                read.error = failed.map(ToOwned::to_owned);
            }
            return Bundled { accounts: self.accounts, ..Bundled::default() };
        }
        // An importer may account for its files only at the end: then the header says where a stream began.
        for (key, fold) in &self.open {
            let begun = self.accounts.iter_mut().find(|read| read.path == fold.header().transcript);
            if let Some(read) = begun {
                read.streams.insert(key.clone());
            }
        }
        let mut places = BTreeMap::new();
        for (key, calls) in self.calls {
            let Some(fold) = self.open.get(&key) else { continue };
            let mut of_stream = BTreeMap::new();
            for (call, place) in calls {
                if let Some(step) = fold.step_of(&call) {
                    of_stream.entry(step).or_insert(place);
                }
            }
            places.insert(key, of_stream);
        }
        let mut consumed = self.consumed;
        let drafts = self.open.into_iter().map(|(key, fold)| fold.finish(consumed.remove(&key).unwrap_or_default()));
        Bundled { drafts: drafts.collect(), accounts: self.accounts, words: self.words, places }
    }
}

impl Sink for Collector<'_> {
    fn wants(&self, key: &StreamKey) -> bool {
        self.before.only.is_none_or(|only| only == key)
    }

    fn open(&mut self, header: Header) {
        let (host, options) = (self.host, (self.options)(&header.key));
        self.touched.insert(header.key.clone());
        if let Some(ended) = (self.before.ended)(&header.key) {
            self.ended.entry(header.key.clone()).or_insert(NoteEnd { time: ended, ..NoteEnd::default() });
        }
        if let Some(limit) = self.before.listen.filter(|_| !self.words.contains_key(&header.key)) {
            self.words.insert(header.key.clone(), StreamWords::new(header.clone(), host, limit));
        }
        let (key, known) = (header.key.clone(), self.known.get(&header.key));
        let fold = || Fold::with_masks(header, host, options, known.cloned().unwrap_or_default());
        self.open.entry(key).or_insert_with(fold);
    }

    fn bounds(&self, key: &StreamKey) -> Bounds {
        (self.before.bounds)(key)
    }

    fn line(&mut self, path: &Path, line: u64) {
        if self.before.listen.is_some() || self.before.places {
            self.now.set(path, line);
        }
    }

    fn event(&mut self, key: &StreamKey, mut event: Event<'_>) {
        if let Some(words) = self.words.get_mut(key) {
            words.event(&event, self.now.file.as_ref(), self.now.line);
        }
        if let (Some(facts), EventKind::Result(result)) = (self.before.facts, &mut event.kind) {
            facts.join(result);
        }
        if let Some(end) = self.ended.get_mut(key) {
            end.event(&event);
        }
        if let EventKind::Meta(SessionFact::HostVersion(version)) = &event.kind {
            self.version = Some(fold_whitespace(version));
        }
        if let (true, EventKind::Call(call), Some(file)) = (self.before.places, &event.kind, &self.now.file) {
            let place = CallPlace { file: Arc::clone(file), line: self.now.line };
            let call = call.id.clone().into_owned();
            match self.calls.get_mut(key) {
                Some(calls) => calls.push((call, place)),
                None => drop(self.calls.insert(key.clone(), vec![(call, place)])),
            }
        }
        if let Some(fold) = self.open.get_mut(key) {
            fold.event(event);
            if !self.touched.contains(key) {
                self.touched.insert(key.clone());
            }
        }
    }

    fn close(&mut self, key: &StreamKey, mut consumed: Consumed) {
        if let Some(end) = self.ended.get(key) {
            consumed.before_end = end.records(consumed.records).or(consumed.before_end);
        }
        self.consumed.insert(key.clone(), consumed);
    }

    fn account(&mut self, file: &Path, account: Account) {
        let mut streams = std::mem::take(&mut self.touched);
        // A session in several files is told in the order of its times: then all of them are its.
        if streams.is_empty() && account.represented > 0 && self.open.len() == 1 {
            streams.extend(self.open.keys().cloned());
        }
        let version = self.version.clone();
        self.accounts.push(FileAccount { path: file.to_owned(), account, streams, version, error: None });
    }
}
