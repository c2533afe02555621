//! Hosts whose sessions are told record by record: what each of them needs that is the same.
//!
//! A host says which files are its own, whose session a file holds and what a record means ([`RecordHost`]). Its files
//! hold a record a line, or are documents that it takes apart. What is said of a session as a whole may be another the
//! next time, so it is told with the first record and is no part of the cursor.

pub(crate) mod message;
pub(crate) mod session;

use std::path::{Path, PathBuf};

use serde_json::Value;

use self::session::RecordSession;
pub(crate) use self::session::{EachSession, RecordHost};
use crate::file::document;
use crate::file::jsonl::{self, Format};
use crate::file::lines::read_head;
use crate::file::sqlite::is_database;
use crate::file::{tables, value};
use crate::{bundles, claude};
use cru_base::{Error, Result, files};
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Sink};

impl RecordHost {
    /// A host of whose files each is a session of lines.
    pub(crate) const PLAIN: Self = Self {
        id: "",
        recognise: |_, _| false,
        session: |path| (bundles::stem(path), 0),
        passes: |_, _| None,
        header: |path, session| header(path, session, None),
        aside: |_, _| None,
        beside: |_| Value::Null,
        lines: holds_lines,
        document: |_, _, _| {},
        ids: &[],
        times: &[],
        tell: |_, _, _| None,
        answers: true,
        store: None,
        hooked: false,
    };

    /// As [`Importer::recognise`](cru_session::source::Importer::recognise).
    pub(crate) fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        match &self.store {
            Some(store) if is_database(head) => store.is_own(path),
            _ => (self.recognise)(path, head),
        }
    }

    /// As [`Importer::bundle`](cru_session::source::Importer::bundle).
    pub(crate) fn bundle(&'static self, files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
        let rest = |files| {
            bundles::by_session(files, |path| {
                let (session, rank) = (self.session)(path);
                Ok((session, rank, None))
            })
        };
        match &self.store {
            Some(store) => store.bundle(files, &|path| (self.session)(path).0, &rest),
            None => rest(files),
        }
    }

    /// As [`Importer::together`](cru_session::source::Importer::together).
    pub(crate) fn together(&self, path: &Path) -> Vec<String> {
        let session = |path: &Path| (self.session)(path).0;
        self.store.as_ref().map_or_else(|| vec![session(path)], |store| store.together(path, &session))
    }

    /// As [`Importer::read`](cru_session::source::Importer::read).
    pub(crate) fn read(&'static self, bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
        let begin = |key, begun| RecordSession::begun(self, key, begun);
        let bundle = match &self.store {
            Some(store) => &store.read_first(bundle, &|path| (self.session)(path).0, &begin, sink)?,
            None => bundle,
        };
        let mut lines = Vec::new();
        for path in &bundle.files {
            if self.hooked && !(self.recognise)(path, &beginning(bundle, path)?) {
                let one = Bundle { files: vec![path.clone()], memory: bundle.memory.clone() };
                (claude::IMPORTER.read)(&one, sink)?;
            } else if let Some(reason) = (self.passes)(bundle, path) {
                jsonl::leave(bundle, path, reason, sink)?;
            } else if (self.lines)(path) {
                lines.push(path.clone());
            } else {
                self.read_document(bundle, path, sink)?;
            }
        }
        jsonl::read_some(self, bundle, &lines, sink)
    }

    fn read_document(&'static self, bundle: &Bundle, path: &Path, sink: &mut dyn Sink) -> Result<()> {
        let mut account = Account::default();
        match document::read_json(bundle, path)? {
            None => account.skip("oversized file"),
            Some(text) => (self.document)(path, &text, &mut |header, beside, records| {
                if sink.wants(&header.key) {
                    let state = RecordSession::new(self, header.key.clone(), beside);
                    tables::tell(header, state, records.into_iter(), &mut account, sink);
                }
            }),
        }
        sink.account(path, account);
        Ok(())
    }
}

impl Format for &'static RecordHost {
    type State = RecordSession;

    fn file(&mut self, _: &Bundle, path: &Path) -> Result<Header> {
        Ok((self.header)(path, (self.session)(path).0))
    }

    fn aside(&mut self, own: &StreamKey, record: &Value) -> Option<Header> {
        (self.aside)(own, record)
    }

    fn begin(&mut self, header: &Header) -> RecordSession {
        let beside = if header.aside { (self.beside)(&header.transcript) } else { Value::Null };
        RecordSession::new(self, header.key.clone(), beside)
    }
}

/// A stream whose records stand in `path`; with `parent`, it was started or copied from that session.
pub(crate) fn header(path: &Path, session: String, parent: Option<&str>) -> Header {
    let parent = parent.map(str::trim).filter(|parent| !parent.is_empty() && *parent != session);
    let parent = parent.map(|parent| StreamKey { session: parent.to_owned(), agent: None });
    let key = StreamKey { session, agent: None };
    Header { key, parent, transcript: path.to_owned(), aside: true, ..Header::default() }
}

/// The same for a sub-agent of a session.
pub(crate) fn agent_header(path: &Path, session: &str, agent: &str, kind: &str) -> Header {
    let parent = StreamKey { session: session.to_owned(), agent: None };
    let key = StreamKey { session: session.to_owned(), agent: Some(agent.to_owned()) };
    let agent = Some(if kind.is_empty() { "agent" } else { kind }.to_owned());
    Header { key, parent: Some(parent), transcript: path.to_owned(), agent, ..Header::default() }
}

/// A small document beside a transcript; null where there is none.
pub(crate) fn neighbour(path: &Path) -> Value {
    files::read_regular(path, 4 << 20).ok().flatten().and_then(|bytes| value::read(&bytes)).unwrap_or_default()
}

/// The records of a list, of those that cannot be read the reason.
pub(crate) fn values(list: &str) -> Vec<std::result::Result<Value, &'static str>> {
    document::items(list).iter().map(|piece| piece.value().ok_or_else(|| piece.trouble())).collect()
}

/// Whether a file is called as files of lines are.
pub(crate) fn holds_lines(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

/// The name of a file.
pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default()
}

/// The name of the folder that lies so many levels above a file.
pub(crate) fn above(path: &Path, levels: usize) -> &str {
    path.ancestors().nth(levels).map_or("", name)
}

/// Whether one of the first lines of a file is a record that only this host writes.
pub(crate) fn has_line(head: &[u8], is_own: impl Fn(&Value) -> bool) -> bool {
    jsonl::head(head, 20).any(|record| is_own(&record))
}

/// What of a file is looked at to recognise it.
pub(crate) fn beginning(bundle: &Bundle, path: &Path) -> Result<Vec<u8>> {
    let failed = |source| Error::io("read", path, source);
    let mut head = Vec::new();
    read_head(bundle.peek(path).map_err(failed)?, &mut head).map_err(failed)?;
    Ok(head)
}
