//! The notes that are there, by the host session they tell of.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;

use cru_session::cursor::Cursor;
use cru_session::event::StreamKey;
use cru_session::fold::Linked;
use cru_session::source::Bounds;
use cru_vault::Head;
use cru_vault::catalog::conflict_copies;

/// The notes of one host.
pub(crate) struct Existing<'a> {
    by_host: BTreeMap<&'a str, Vec<&'a Head>>,
}

impl<'a> Existing<'a> {
    /// Of the notes whose frontmatter was read.
    pub(crate) fn of(heads: &'a [Head], host: &str) -> Self {
        let mut by_host: BTreeMap<&str, Vec<&Head>> = BTreeMap::new();
        let of_host = |head: &&Head| head.meta.host.as_deref().is_none_or(|name| name == host);
        // A copy that a sync service left is no other note of its session.
        let copies: HashSet<usize> = conflict_copies(heads).into_iter().map(|(copy, _)| copy).collect();
        let heads = heads.iter().enumerate().filter(|(at, _)| !copies.contains(at)).map(|(_, head)| head);
        for head in heads.filter(of_host) {
            if let Some(host) = head.meta.host_session.as_deref() {
                by_host.entry(host).or_default().push(head);
            }
        }
        Self { by_host }
    }

    /// Whether no session of the host has a note.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_host.is_empty()
    }

    /// The note of a host session; of several, the one that holds the same records.
    pub(crate) fn find(&self, host: &str, cursor: Option<&str>) -> Option<&'a Head> {
        let heads = self.by_host.get(host)?;
        let wanted = cursor.and_then(Cursor::parse);
        let same = heads.iter().find(|head| {
            let cursor = head.meta.cursor.as_deref().and_then(Cursor::parse);
            cursor.zip(wanted.as_ref()).is_some_and(|(one, other)| one.same_records(other))
        });
        same.or_else(|| heads.first()).copied()
    }

    /// The note of a stream.
    pub(crate) fn of_stream(&self, key: &StreamKey) -> Option<&'a Head> {
        self.find(&key.to_string(), None)
    }

    /// How far that note has come: of these records the hash is wanted.
    pub(crate) fn mark(&self, key: &StreamKey) -> Bounds {
        let cursor = self.of_stream(key).and_then(|head| head.meta.cursor.as_deref()).and_then(Cursor::parse);
        let last = cursor.as_ref().and_then(Cursor::last_key);
        Bounds { until: None, mark: cursor.map(|cursor| cursor.records), last }
    }

    /// When the last record of that note was written, as far as the note says.
    pub(crate) fn ended(&self, key: &StreamKey) -> Option<Timestamp> {
        self.of_stream(key).and_then(|head| head.meta.ended)
    }

    /// A note that is there, as the child of another.
    pub(crate) fn linked(&self, key: &StreamKey) -> Option<Linked> {
        let head = self.of_stream(key)?;
        let (meta, note) = (&head.meta, head.path.stem().into_owned());
        let agent = meta.participants.first().cloned();
        Some(Linked { note, agent, model: meta.model.clone(), tokens: meta.tokens_used })
    }

    /// The name of a stream's note, as links say it.
    pub(crate) fn stem(&self, key: &StreamKey) -> Option<String> {
        self.of_stream(key).map(|head| head.path.stem().into_owned())
    }
}
