//! Sessions as rows of a database: the loop that the hosts which keep them so have in common.
//!
//! The host may have the database open; nothing of it is changed. It says which rows are its sessions and what stands in
//! each, in order ([`RowFormat`]), and what a record means ([`State`]). A session's own row is its first record: what may be
//! another the next time (a title, tokens) is told with it and is no part of the cursor.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::jsonl::{self, State};
use super::sqlite::{Database, holds, is_database, opened};
use super::value::{filled, word};
use crate::stream::teller::Teller;
use cru_base::Result;
use cru_session::event::{StreamKey, SubagentRun};
use cru_session::source::{Account, Bundle, Header, Sink};

/// Why a file is left out that tells a session again.
const TOLD: &str = "session that the database tells";

/// The databases of a host.
#[derive(Debug)]
pub(crate) struct HostStore {
    /// What they are called, for one that cannot be read.
    pub(crate) name: &'static str,
    /// Tables with their columns: one has all of some of these sets.
    pub(crate) columns: &'static [&'static [(&'static str, &'static str)]],
    /// The tables that are read.
    pub(crate) tables: &'static [&'static str],
    /// A reader of one database.
    pub(crate) rows: fn() -> Box<dyn RowFormat>,
}

/// How a host's rows become streams.
pub(crate) trait RowFormat {
    /// The sessions, each before those that it started.
    fn sessions(&self, base: &Database<'_>) -> Result<Vec<StoredSession>>;
    /// What is known of a stream before its records; `started` are the sessions that it started.
    fn begin(&self, _: &Database<'_>, _: &StoredSession, _started: &[&StoredSession]) -> Result<Begun> {
        Ok(Begun::default())
    }
    /// Hands over the records of a session, in order.
    fn records(&self, base: &Database<'_>, session: &StoredSession, each: &mut dyn FnMut(Value)) -> Result<()>;
    /// What stays the same of a record however often the host writes it.
    fn lasting<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        Cow::Borrowed(record)
    }
    /// Whether a record may still become another one: it and what comes after it waits for the next reading.
    fn may_change(&self, _record: &Value) -> bool {
        false
    }
    /// Counts rows that belong to no session.
    fn others(&self, _base: &Database<'_>, _account: &mut Account) {}
}

/// What is known of a stream before its records.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// What is said of it as a whole.
    pub(crate) head: Value,
    /// The sub-agents that it started, with the first words that each was told.
    pub(crate) asked: Vec<(StreamKey, String)>,
    /// The same by the call that started each.
    pub(crate) runs: HashMap<String, SubagentRun<'static>>,
}

/// A row that stands for a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredSession {
    pub(crate) id: String,
    /// The session that it was started from.
    pub(crate) parent: Option<String>,
    /// The type of a sub-agent; `None` for a session of a person.
    pub(crate) agent: Option<String>,
    /// What a sub-agent was asked, in a few words.
    pub(crate) task: Option<String>,
    /// The row, its first record.
    pub(crate) row: Value,
}

impl StoredSession {
    /// Of a row that has its parent and its task in these columns; with `agent`, it is a sub-agent of that type.
    pub(crate) fn of(row: Value, parent: &str, agent: Option<&str>, task: &str) -> Self {
        let of = |column: &str| filled(&row, column).map(str::to_owned);
        let (parent, task) = (of(parent), of(task).filter(|_| agent.is_some()));
        Self { id: word(&row, "id").to_owned(), parent, agent: agent.map(str::to_owned), task, row }
    }

    /// Its identity. A sub-agent belongs to the session that started it.
    pub(crate) fn key(&self) -> StreamKey {
        match (&self.parent, &self.agent) {
            (Some(parent), Some(_)) => StreamKey { session: parent.clone(), agent: Some(self.id.clone()) },
            _ => StreamKey { session: self.id.clone(), agent: None },
        }
    }

    /// What its stream is; `keys` are the identities of all sessions by their ids.
    pub(crate) fn header(&self, path: &Path, keys: &HashMap<&str, StreamKey>) -> Header {
        let alone = |id: &String| StreamKey { session: id.clone(), agent: None };
        Header {
            key: self.key(),
            parent: self.parent.as_ref().map(|id| keys.get(id.as_str()).cloned().unwrap_or_else(|| alone(id))),
            transcript: path.to_owned(),
            agent: self.agent.clone(),
            task: self.task.clone(),
            aside: true,
        }
    }
}

impl HostStore {
    /// Whether a database is one of them.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        holds(path, self.name, &|base| {
            self.columns.iter().any(|set| set.iter().all(|(table, column)| base.has_column(table, column)))
        })
    }

    /// A database and the files that tell its sessions again are read as one. `session` says whose a file is, `rest` puts
    /// the others together.
    pub(crate) fn bundle(
        &self,
        files: Vec<PathBuf>,
        session: &dyn Fn(&Path) -> String,
        rest: &dyn Fn(Vec<PathBuf>) -> Result<Vec<Bundle>>,
    ) -> Result<Vec<Bundle>> {
        let (mut bases, mut lines): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|path| is_base(&Bundle::default(), path));
        bases.sort();
        let mut bundles = Vec::new();
        for base in bases {
            let known = if lines.is_empty() { Vec::new() } else { self.names(&base) };
            let mut beside: Vec<PathBuf> = lines.extract_if(.., |path| known.contains(&session(path))).collect();
            beside.sort();
            bundles.push(Bundle::of(std::iter::once(base).chain(beside).collect()));
        }
        bundles.extend(rest(lines)?);
        Ok(bundles)
    }

    /// The sessions that a file is of: those of a database, or the one that `session` says.
    pub(crate) fn together(&self, path: &Path, session: &dyn Fn(&Path) -> String) -> Vec<String> {
        if is_base(&Bundle::default(), path) { self.names(path) } else { vec![session(path)] }
    }

    /// The sessions of a database; none of one that cannot be read, which its reader says.
    fn names(&self, path: &Path) -> Vec<String> {
        let rows = (self.rows)();
        let of = |base: &Database<'_>| Ok(rows.sessions(base)?.into_iter().map(|it| it.key().session).collect());
        opened(path, self.tables, of).unwrap_or_default()
    }

    /// Reads the database of a bundle, leaves the files that tell its sessions again, and gives back the others. `begin`
    /// makes the state of a stream.
    pub(crate) fn read_first<S: State>(
        &self,
        bundle: &Bundle,
        session: &dyn Fn(&Path) -> String,
        begin: &dyn Fn(StreamKey, Begun) -> S,
        sink: &mut dyn Sink,
    ) -> Result<Bundle> {
        let Some((base, lines)) = bundle.files.split_first().filter(|(first, _)| is_base(bundle, first)) else {
            return Ok(bundle.clone());
        };
        let known = self.read(base, begin, sink)?;
        let is_known = |path: &&PathBuf| known.iter().any(|key| key.session == session(path));
        let (again, files): (Vec<_>, Vec<_>) = lines.iter().partition(is_known);
        for path in again {
            jsonl::leave(bundle, path, TOLD, sink)?;
        }
        Ok(Bundle { files: files.into_iter().cloned().collect(), memory: bundle.memory.clone() })
    }

    /// Reads the sessions of a database that are wanted and hands their events to the sink; the identities of all.
    fn read<S: State>(
        &self,
        path: &Path,
        begin: &dyn Fn(StreamKey, Begun) -> S,
        sink: &mut dyn Sink,
    ) -> Result<Vec<StreamKey>> {
        let rows = (self.rows)();
        let (known, account) = opened(path, self.tables, |base| {
            let mut account = Account::default();
            let sessions = once_each(rows.sessions(base)?, &mut account);
            let keys: HashMap<&str, StreamKey> = sessions.iter().map(|it| (it.id.as_str(), it.key())).collect();
            let mut started: HashMap<&str, Vec<&StoredSession>> = HashMap::new();
            for session in sessions.iter().filter(|it| it.agent.is_some()) {
                started.entry(session.parent.as_deref().unwrap_or_default()).or_default().push(session);
            }
            for session in &sessions {
                let header = session.header(path, &keys);
                if sink.wants(&header.key) {
                    let started = started.get(session.id.as_str()).map_or(&[][..], Vec::as_slice);
                    let mut state = begin(session.key(), rows.begin(base, session, started)?);
                    let path = [path.to_owned()];
                    let mut teller = Teller::open(header, &path, sink, std::slice::from_mut(&mut account));
                    take(&mut teller, &mut state, &json!({ "session": session.id }), session.row.clone());
                    rows.records(base, session, &mut |record| {
                        teller.held |= rows.may_change(&record);
                        let lasting = rows.lasting(&record).into_owned();
                        take(&mut teller, &mut state, &lasting, record);
                    })?;
                    close(teller, &mut state);
                }
            }
            rows.others(base, &mut account);
            Ok((keys.into_values().collect(), account))
        })?;
        sink.account(path, account);
        Ok(known)
    }
}

/// Whether a file of a bundle is a database.
fn is_base(bundle: &Bundle, path: &Path) -> bool {
    let mut head = [0; 16];
    bundle.peek(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && is_database(&head)
}

/// Tells one session of a file that is a document; a record that cannot be read says why.
pub(crate) fn tell<S: State>(
    header: Header,
    mut state: S,
    records: impl Iterator<Item = std::result::Result<Value, &'static str>>,
    account: &mut Account,
    sink: &mut dyn Sink,
) {
    let path = [header.transcript.clone()];
    let mut teller = Teller::open(header, &path, sink, std::slice::from_mut(account));
    for record in records {
        match record {
            Ok(record) => drop(take(&mut teller, &mut state, &record.clone(), record)),
            Err(reason) => teller.skip(reason),
        }
    }
    close(teller, &mut state);
}

/// The sessions that have a name of their own, each once, none of them started by itself.
fn once_each(sessions: Vec<StoredSession>, account: &mut Account) -> Vec<StoredSession> {
    let mut known = HashSet::new();
    let mut kept = Vec::with_capacity(sessions.len());
    for mut session in sessions {
        session.parent = session.parent.filter(|parent| *parent != session.id);
        if session.id.is_empty() {
            account.skip("session without a name");
        } else if known.insert(session.id.clone()) {
            kept.push(session);
        } else {
            account.skip("second row of a session");
        }
    }
    kept
}

/// Takes in a record by what lasts of it and tells what it says; whether it was taken in.
pub(crate) fn take<S: State>(teller: &mut Teller<'_>, state: &mut S, lasting: &Value, record: Value) -> bool {
    let id = state.id(&record);
    teller.waits = state.waits();
    let Some(number) = teller.take(lasting, &id) else { return false };
    let time = state.time(&record);
    let left = state.tell(record, &mut teller.out(number, time));
    teller.count(left);
    true
}

/// The stream is read to its end.
pub(crate) fn close<S: State>(mut teller: Teller<'_>, state: &mut S) {
    teller.waits = state.waits();
    let last = teller.intake.records();
    state.end(&mut teller.out(last, None));
    teller.close();
}
