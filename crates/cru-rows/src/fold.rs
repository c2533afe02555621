//! One family read whole, as rows of all tables.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::guard::guarded;
use crate::note::{self, NotedSession};
use crate::record::{SessionHead, StepPlaces};
use crate::stage::Stage;
use crate::table::{RowCell, RowTable, TableRows};
use crate::{learn, lines, record};
use cru_agents::any;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::fold::Options;
use cru_session::mask;
use cru_session::source::Account;
use cru_sync::read::CallPlace;
use cru_sync::read::FileAccount;
use cru_sync::read::alone::drafts;

/// The rows of the family whose objects lie in `stage`. Never fails: an object that cannot be read is a row of
/// `accounting`, and the others of its bundle with it, since half of a session would be wrong.
pub fn fold(family: i64, stage: &Stage) -> TableRows {
    let read = guarded(|| sessions(family, stage));
    let (mut rows, mut files) = match read {
        Ok(Ok(read)) => read,
        Ok(Err(error)) => (TableRows::default(), failed(stage, &error.with_causes())),
        Err(defect) => (TableRows::default(), failed(stage, &defect)),
    };
    for (uri, reason) in stage.failed() {
        files.push(ObjectAccount {
            uri: uri.clone(),
            outcome: "failed",
            reason: Some(reason.clone()),
            ..ObjectAccount::default()
        });
    }
    files.sort_by(|a, b| a.uri.cmp(&b.uri));
    for (seq, file) in files.into_iter().enumerate() {
        rows.push(RowTable::Accounting, file.row(family, seq));
    }
    rows
}

/// What became of an object.
#[derive(Debug, Default)]
struct ObjectAccount {
    uri: String,
    host: &'static str,
    outcome: &'static str,
    reason: Option<String>,
    /// Sessions that its records belong to, and the day that the first began.
    sessions: Vec<String>,
    day: i32,
    account: Account,
}

impl ObjectAccount {
    fn row(self, family: i64, seq: usize) -> Vec<RowCell> {
        let head = SessionHead {
            uid: self.sessions.first().cloned().unwrap_or_default(),
            family,
            day: self.day,
            host: self.host.to_owned(),
        };
        let mut row = head.cells();
        let skipped = serde_json::to_string(&self.account.skipped).unwrap_or_default();
        row.extend([
            seq.into(),
            self.uri.into(),
            self.outcome.into(),
            self.reason.into(),
            self.sessions.into(),
            self.account.records.into(),
            self.account.represented.into(),
            skipped.into(),
        ]);
        row
    }
}

/// All objects as ones that could not be read.
fn failed(stage: &Stage, reason: &str) -> Vec<ObjectAccount> {
    let reason = mask::mask(&stage.public(reason)).into_owned();
    let account = |path: PathBuf| ObjectAccount {
        uri: stage.uri(&path),
        outcome: "failed",
        reason: Some(reason.clone()),
        ..ObjectAccount::default()
    };
    stage.paths().into_iter().map(account).collect()
}

/// Reads the objects: the rows but for `accounting`, and what became of each object.
fn sessions(family: i64, stage: &Stage) -> Result<(TableRows, Vec<ObjectAccount>)> {
    let paths = stage.paths();
    let any::Any { found, strangers, .. } = any::search(&paths)?;
    let mut files = Vec::new();
    for (path, reason) in strangers {
        let reason = Some(reason.to_owned());
        files.push(ObjectAccount { uri: stage.uri(&path), outcome: "other", reason, ..ObjectAccount::default() });
    }
    let mut rows = TableRows::default();
    for (importer, found) in found {
        let mut all = Vec::new();
        let mut accounts: Vec<FileAccount> = Vec::new();
        let mut places: BTreeMap<StreamKey, BTreeMap<String, CallPlace>> = BTreeMap::new();
        for bundle in &found.bundles {
            let read = guarded(|| drafts(importer, bundle, Options::default()));
            match read {
                Ok(read) => {
                    all.extend(read.drafts);
                    accounts.extend(read.accounts);
                    for (key, of_stream) in read.places {
                        places.entry(key).or_insert(of_stream);
                    }
                }
                Err(defect) => accounts.extend(bundle.files.iter().map(|path| FileAccount {
                    path: path.clone(),
                    error: Some(defect.clone()),
                    ..FileAccount::default()
                })),
            }
        }
        let (noted, twice) = note::noted(importer.host(), all, stage);
        let evidence = evidence(stage, &places);
        add(family, &noted, &evidence, &mut rows);
        let days: HashMap<&StreamKey, (&str, i32)> =
            noted.iter().map(|it| (&it.key, (it.uid.as_str(), crate::table::day(it.session.meta.started)))).collect();
        let twice: HashSet<StreamKey> = twice.into_iter().collect();
        let account = |file: FileAccount| account(file, importer.host(), &days, &twice, stage);
        files.extend(accounts.into_iter().map(account));
    }
    // What an importer reads beside a transcript, and accounts for with none.
    let told: BTreeSet<String> = files.iter().map(|file| file.uri.clone()).collect();
    for path in paths {
        let uri = stage.uri(&path);
        if !told.contains(&uri) {
            let reason = Some("read with another object, or not at all".to_owned());
            files.push(ObjectAccount { uri, outcome: "other", reason, ..ObjectAccount::default() });
        }
    }
    // A file may be accounted for by more than one bundle.
    files.sort_by(|a, b| (&a.uri, b.sessions.len()).cmp(&(&b.uri, a.sessions.len())));
    files.dedup_by(|a, b| a.uri == b.uri);
    Ok((rows, files))
}

fn account(
    file: FileAccount,
    host: &'static str,
    days: &HashMap<&StreamKey, (&str, i32)>,
    twice: &HashSet<StreamKey>,
    stage: &Stage,
) -> ObjectAccount {
    let known: Vec<(&str, i32)> = file.streams.iter().filter_map(|key| days.get(key).copied()).collect();
    let (outcome, reason) = match &file.error {
        Some(error) => ("failed", Some(mask::mask(&stage.public(error)).into_owned())),
        None if !known.is_empty() => ("read", None),
        None if file.streams.iter().any(|key| twice.contains(key)) => {
            ("duplicate", Some("its session stands in another object".to_owned()))
        }
        None => ("empty", Some("no prompt, or no answer to it".to_owned())),
    };
    ObjectAccount {
        uri: stage.uri(&file.path),
        host,
        outcome,
        reason,
        sessions: known.iter().map(|(uid, _)| (*uid).to_owned()).collect(),
        day: known.iter().map(|(_, day)| *day).min().unwrap_or(0),
        account: file.account,
    }
}

/// Where the calls of steps stand in their objects.
fn evidence(
    stage: &Stage,
    places: &BTreeMap<StreamKey, BTreeMap<String, CallPlace>>,
) -> HashMap<StreamKey, StepPlaces> {
    let mut wanted: BTreeMap<&Path, BTreeSet<u64>> = BTreeMap::new();
    for place in places.values().flat_map(BTreeMap::values) {
        wanted.entry(place.file.as_path()).or_default().insert(place.line);
    }
    // With offset and length of the lines.
    let found: HashMap<&Path, (String, BTreeMap<_, _>)> =
        wanted.into_iter().map(|(path, wanted)| (path, (stage.uri(path), lines::places(path, wanted)))).collect();
    let cell = |place: &CallPlace| {
        let (uri, lines) = found.get(place.file.as_path())?;
        let number = |number: u64| i64::try_from(number).ok();
        let range = lines.get(&place.line);
        Some(RowCell::Place(Box::new((
            uri.clone(),
            range.and_then(|it| number(it.0)),
            range.and_then(|it| number(it.1)),
        ))))
    };
    let of_stream = |steps: &BTreeMap<String, CallPlace>| {
        steps.iter().filter_map(|(step, place)| Some((step.clone(), cell(place)?))).collect()
    };
    places.iter().map(|(key, steps)| (key.clone(), of_stream(steps))).collect()
}

fn add(family: i64, noted: &[NotedSession], evidence: &HashMap<StreamKey, StepPlaces>, rows: &mut TableRows) {
    let none = StepPlaces::new();
    for it in noted {
        record::add(family, it, evidence.get(&it.key).unwrap_or(&none), rows);
    }
    let notes: Vec<learn::SessionNote<'_>> = noted
        .iter()
        .map(|it| learn::SessionNote { uid: &it.uid, text: &it.text, session: &it.session, host: it.host })
        .collect();
    learn::add(family, &notes, rows);
}
