//! What an importer says of invented files, as lines of text: the sink of the importers' own tests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use cru_session::event::{Event, EventKind, PromptOrigin, SessionFact, StreamKey, Usage};
use cru_session::source::{Account, Bundle, Consumed, Header, Importer, Sink};

/// What a bundle was read as.
#[derive(Default)]
pub(super) struct Told {
    /// Events as lines, by stream.
    pub(super) streams: BTreeMap<String, String>,
    /// The times of all of them.
    pub(super) times: Vec<Option<jiff::Timestamp>>,
    pub(super) parents: BTreeMap<String, String>,
    pub(super) headers: Vec<Header>,
    pub(super) usage: BTreeMap<(String, String), Usage>,
    pub(super) consumed: BTreeMap<String, Consumed>,
    pub(super) accounts: Vec<Account>,
}

impl Told {
    /// The events of a stream, each with the number of its record.
    pub(super) fn stream(&self, key: &str) -> &str {
        self.streams.get(key).map_or("", String::as_str)
    }

    /// How many records of all files were skipped for that reason, whatever it names.
    pub(super) fn skipped(&self, reason: &str) -> u64 {
        let is = |told: &str| told.strip_prefix(reason).is_some_and(|name| name.is_empty() || name.starts_with(" `"));
        let all = self.accounts.iter().flat_map(|account| &account.skipped);
        all.filter(|(told, _)| is(told)).map(|(_, count)| count).sum()
    }

    /// How many records all files hold.
    pub(super) fn records(&self) -> u64 {
        self.accounts.iter().map(|account| account.records).sum()
    }

    /// Tokens of a stream.
    pub(super) fn tokens(&self, key: &str) -> Usage {
        let own = self.usage.iter().filter(|((stream, _), _)| stream == key);
        own.fold(Usage::default(), |mut sum, (_, usage)| {
            sum.add(*usage);
            sum
        })
    }
}

impl Sink for Told {
    fn open(&mut self, header: Header) {
        let key = header.key.to_string();
        if let Some(parent) = &header.parent {
            self.parents.insert(key.clone(), parent.to_string());
        }
        assert!(self.streams.insert(key, String::new()).is_none(), "a stream is opened once");
        self.headers.push(header);
    }

    fn event(&mut self, key: &StreamKey, event: Event<'_>) {
        let line = match &event.kind {
            EventKind::Usage { message, usage, .. } => {
                self.usage.insert((key.to_string(), message.to_string()), *usage);
                return;
            }
            // Where a record was made says nothing in most tests.
            EventKind::Meta(
                SessionFact::Cwd(_)
                | SessionFact::HostVersion(_)
                | SessionFact::Branch(_)
                | SessionFact::ContinuedIn(_)
                | SessionFact::CopiedUntil(_),
            ) => return,
            kind => line(kind),
        };
        self.times.push(event.time);
        let stream = self.streams.get_mut(&key.to_string()).expect("an event only after its stream was opened");
        let _ = writeln!(stream, "{} {line}", event.record);
    }

    fn close(&mut self, key: &StreamKey, consumed: Consumed) {
        assert!(self.consumed.insert(key.to_string(), consumed).is_none(), "a stream is closed once");
    }

    fn account(&mut self, _: &Path, account: Account) {
        assert!(account.balances(), "{account:?}");
        self.accounts.push(account);
    }
}

fn line(kind: &EventKind<'_>) -> String {
    match kind {
        EventKind::Prompt(prompt) => {
            let origin = match &prompt.origin {
                PromptOrigin::Denial { call } => format!("denial of {call}"),
                origin => format!("{origin:?}").to_lowercase(),
            };
            let mut line = format!("prompt ({origin}) {}", prompt.text);
            for sent in &prompt.attachments {
                let _ = write!(line, " +{} {}", sent.media_type, sent.bytes);
            }
            line
        }
        EventKind::Reply(text) => format!("reply {text}"),
        EventKind::Thinking(text) => format!("thinking {text}"),
        EventKind::Call(call) => format!("call {} {} {}", call.id, call.tool, call.args),
        EventKind::Result(result) => {
            let mut line = format!("result {}", result.call);
            for (word, is) in
                [(" failed", result.failed), (" denied", result.denied), (" by the host", result.denial.is_some())]
            {
                line.push_str(if is { word } else { "" });
            }
            if let Some(exit) = result.exit {
                let _ = write!(line, " exit {exit}");
            }
            let _ = write!(line, " {}", result.brief.as_ref().unwrap_or(&result.output));
            for (word, files) in [("reads", &result.reads), ("writes", &result.writes)] {
                for file in files {
                    let _ = write!(line, " {word} {}", file.path);
                }
            }
            if let Some(run) = &result.subagent {
                let stream = run.stream.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
                let _ = write!(line, " agent {} {stream}", run.agent.as_deref().unwrap_or("-"));
                line.push_str(if run.background { " background" } else { "" });
            }
            line
        }
        EventKind::Compaction { trigger, tokens_before, summary } => {
            format!(
                "compaction {} {} {}",
                trigger.as_deref().unwrap_or("-"),
                tokens_before.unwrap_or(0),
                summary.as_deref().unwrap_or("-")
            )
        }
        EventKind::Rewind { to } => format!("rewind to {to}"),
        EventKind::Interrupt { unnamed: true, .. } => "interrupt by nobody named".to_owned(),
        EventKind::Interrupt { call, .. } => format!("interrupt {}", call.as_deref().unwrap_or("-")),
        EventKind::ApiError(text) => format!("failure {text}"),
        EventKind::Decision(made) => {
            let word = if made.approval { "approval" } else { "decision" };
            format!("{word} {} rejected {:?}", made.title, made.rejected)
        }
        EventKind::Tasks(tasks) => {
            let tasks: Vec<_> =
                tasks.iter().map(|task| format!("{} {} {}", task.id, task.content, task.status)).collect();
            format!("tasks {}", tasks.join(", "))
        }
        EventKind::Task(task) => format!("task {} {} {}", task.id, task.content, task.status),
        EventKind::Subagent { call, run } => {
            let stream = run.stream.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("also {call} {stream} {}", run.task.as_deref().unwrap_or("-"))
        }
        EventKind::SubagentDone { stream, summary, failed } => {
            format!("done {stream} {} {failed}", summary.as_deref().unwrap_or("-"))
        }
        EventKind::Meta(SessionFact::Title { rank, text }) => format!("title {rank:?} {text}"),
        EventKind::PullRequest { url, number } => format!("pull {number} {url}"),
        other => format!("{other:?}"),
    }
}

/// Records as JSON lines.
pub(super) fn lines(records: &[Value]) -> Vec<u8> {
    records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect()
}

/// Reads files, all bundles one after the other. Those whose names end in `.meta.json` only lie beside the others.
pub(super) fn told(importer: &Importer, files: &[(&str, Vec<u8>)]) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let mut paths: Vec<PathBuf> = Vec::new();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        cru_base::files::create(&path, bytes).unwrap();
        let beside = [".meta.json", "base_state.json", "workspace.yaml", "session_index.jsonl"];
        if !beside.iter().any(|end| name.ends_with(end)) {
            paths.push(path);
        }
    }
    let mut backwards = paths.clone();
    backwards.reverse();
    let bundles = (importer.bundle)(paths).unwrap();
    assert_eq!((importer.bundle)(backwards).unwrap(), bundles, "the order of files changes nothing");
    let mut all = Told::default();
    for bundle in &bundles {
        (importer.read)(bundle, &mut all).unwrap();
    }
    // Files of many records hold the same ones many times.
    let is_small = |bytes: &[u8]| bytes.len() < 3_000;
    for (name, bytes) in files.iter().filter(|(_, bytes)| is_small(bytes)) {
        let path = folder.path().join(name);
        with_other_types_in(bytes, |changed| {
            for bundle in &bundles {
                let memory = BTreeMap::from([(path.clone(), changed.clone())]);
                let _ = (importer.read)(&Bundle { memory, ..bundle.clone() }, &mut Told::default());
            }
        });
    }
    all
}

/// Reads one file from memory, by its own bundle.
pub(super) fn told_of(importer: &Importer, name: &str, bytes: Vec<u8>) -> Told {
    let path = PathBuf::from(name);
    let bundle = Bundle { files: vec![path.clone()], memory: BTreeMap::from([(path, bytes)]) };
    let mut told = Told::default();
    (importer.read)(&bundle, &mut told).unwrap();
    assert_eq!(told.accounts.len(), 1);
    assert_eq!(told.consumed.len(), told.streams.len());
    told
}

/// Reads a file on the disk, which the importer must know.
pub(super) fn told_at(importer: &Importer, path: &Path) -> Told {
    let bytes = cru_base::files::read(path).unwrap();
    assert!((importer.recognise)(path, &bytes[..bytes.len().min(1 << 16)]), "{}", path.display());
    let mut told = Told::default();
    for bundle in (importer.bundle)(vec![path.to_owned()]).unwrap() {
        (importer.read)(&bundle, &mut told).unwrap();
    }
    told
}

/// A database that is made so, read.
pub(super) fn told_base(importer: &Importer, name: &str, made: &str) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    rusqlite::Connection::open(&path).unwrap().execute_batch(made).unwrap();
    told_at(importer, &path)
}

/// A database that another connection writes is read as it is, with its log, with a torn one and without it, and no byte
/// of it and of the files beside it changes. What is told after `more` goes on from what was told before.
pub(super) fn survives_a_writer(importer: &Importer, name: &str, made: &str, more: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let of = |path: &Path| {
        let names = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        // The writer marks the index of the log.
        let names = names.filter(|path| path.is_file() && !path.to_string_lossy().ends_with("-shm"));
        let mut all: Vec<_> = names.map(|path| (path.clone(), cru_base::files::read(&path).unwrap())).collect();
        all.sort();
        all
    };
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    writer.execute_batch(made).unwrap();
    let read = |path: &Path| {
        let before = of(path);
        let told = told_at(importer, path);
        assert_eq!(of(path), before, "nothing is written");
        told
    };
    let first = read(&path);
    assert!(!first.streams.is_empty());
    assert_eq!((read(&path).streams, read(&path).consumed), (first.streams.clone(), first.consumed.clone()));
    writer.execute_batch(more).unwrap();
    let second = read(&path);
    assert_ne!(second.streams, first.streams);
    for (key, text) in &first.streams {
        assert!(second.stream(key).starts_with(text), "{key}: {text}\n{}", second.stream(key));
    }
    let torn = folder.path().join("torn").join(name);
    cru_base::files::create(&torn, &cru_base::files::read(&path).unwrap()).unwrap();
    let log = cru_base::files::read(&folder.path().join(format!("{name}-wal"))).unwrap();
    cru_base::files::create(&torn.with_file_name(format!("{name}-wal")), &log[..log.len() - 100]).unwrap();
    for (key, text) in read(&torn).streams {
        assert!(second.stream(&key).starts_with(&text));
    }
    drop(writer);
    assert!(!folder.path().join(format!("{name}-wal")).exists());
    assert_eq!(read(&path).streams, second.streams, "without its log");
    survives_other_cells(importer, &path);
    survives_damage(importer, &path);
}

/// A database is read with a value of another type in the place of each of its cells, and of each value of JSON in one.
fn survives_other_cells(importer: &Importer, path: &Path) {
    const TYPES: [&str; 4] = ["NULL", "7", "'odd'", "x'00ff'"];
    let bytes = cru_base::files::read(path).unwrap();
    let base = rusqlite::Connection::open(path).unwrap();
    let rows = |query: &str| -> Vec<String> {
        let mut found = base.prepare(query).unwrap();
        let rows = found.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let columns = "SELECT 'UPDATE \"' || m.name || '\" SET \"' || c.name || '\" = ' FROM sqlite_master m, pragma_table_info(m.name) c \
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.sql NOT LIKE '%WITHOUT ROWID%'";
    let other = path.with_file_name("other.db");
    let mut reads = 0;
    let mut try_with = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        cru_base::files::put(&other, &bytes).unwrap();
        let changed = rusqlite::Connection::open(&other).unwrap();
        changed
            .execute_batch(
                "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA ignore_check_constraints = ON",
            )
            .unwrap();
        // A key of a row may not be anything.
        let is_made = changed.execute(sql, values).is_ok();
        drop(changed);
        if is_made {
            reads += 1;
            let bundle = Bundle::of(vec![other.clone()]);
            let read = std::panic::catch_unwind(|| drop((importer.read)(&bundle, &mut Told::default())));
            assert!(read.is_ok(), "{} after {sql}", importer.id);
        }
    };
    for update in rows(columns) {
        let (table, column) = update.split_once(" SET ").unwrap();
        let (table, column) = (table.trim_start_matches("UPDATE "), column.trim_end_matches(" = "));
        for row in rows(&format!("SELECT CAST(rowid AS TEXT) FROM {table}")) {
            for other in TYPES {
                try_with(&format!("{update}{other} WHERE rowid = {row}"), &[]);
            }
            let cell =
                rows(&format!("SELECT COALESCE(CAST({column} AS TEXT), '') FROM {table} WHERE rowid = {row}")).concat();
            let Ok(value) = serde_json::from_str::<Value>(&cell) else { continue };
            for changed in with_other_types(&value).filter(|_| value.is_object() || value.is_array()) {
                try_with(&format!("{update}?1 WHERE rowid = {row}"), &[&changed.to_string()]);
            }
        }
    }
    assert!(reads > 0, "{} has cells", importer.id);
}

/// A database with bytes changed at many places is read, or is an error.
fn survives_damage(importer: &Importer, path: &Path) {
    let bytes = cru_base::files::read(path).unwrap();
    for round in 1..150_usize {
        let mut damaged = bytes.clone();
        for at in (round * 37 % 101..damaged.len()).step_by(97 * round) {
            damaged[at] ^= u8::try_from(round).unwrap() | 1;
        }
        damaged.truncate(if round % 7 == 0 { bytes.len() - round * 13 % bytes.len() } else { bytes.len() });
        cru_base::files::put(path, &damaged).unwrap();
        let _ = (importer.recognise)(path, &damaged);
        let _ = (importer.read)(&Bundle::of(vec![path.to_owned()]), &mut Told::default());
    }
}

/// A file that ends at any byte is read to there, and what it tells is how the whole begins where `prefix` says so.
pub(super) fn survives_cuts(importer: &Importer, name: &str, bytes: &[u8], prefix: bool) {
    let whole = told_of(importer, name, bytes.to_vec()).streams;
    for end in 0..bytes.len() {
        let told = told_of(importer, name, bytes[..end].to_vec());
        for (key, text) in &told.streams {
            assert!(!prefix || whole.get(key).is_some_and(|whole| whole.starts_with(text)), "{end}: {text}");
        }
    }
    survives_other_types(importer, name, bytes);
}

/// A file of JSON is read with a value of another type in the place of each of its values. Nothing is said of files of words.
pub(super) fn survives_other_types(importer: &Importer, name: &str, bytes: &[u8]) {
    with_other_types_in(bytes, |changed| drop(told_of(importer, name, changed)));
}

/// Calls `read` with a file, line by line or as a whole, that has a value of another type in the place of each value.
fn with_other_types_in(bytes: &[u8], read: impl Fn(Vec<u8>)) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let is_document = serde_json::from_str::<Value>(text).is_ok();
    let texts: Vec<&str> = if is_document { vec![text] } else { text.lines().collect() };
    let Ok(records) = texts.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<Value>, _>>() else {
        return;
    };
    for (at, record) in records.iter().enumerate() {
        for changed in with_other_types(record) {
            let changed = changed.to_string();
            let mut all = texts.clone();
            all[at] = &changed;
            let bytes = all.join("\n").into_bytes();
            let is_read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(bytes))).is_ok();
            assert!(is_read, "with {changed}");
        }
    }
}

/// The value with one of another type in the place of each of its values, one at a time.
fn with_other_types(value: &Value) -> impl Iterator<Item = Value> + use<'_> {
    fn places(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        for (key, inner) in value.as_object().into_iter().flatten() {
            places(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
        }
        for (key, inner) in value.as_array().into_iter().flatten().enumerate() {
            places(inner, &format!("{at}/{key}"), found);
        }
    }
    let mut found = Vec::new();
    places(value, "", &mut found);
    let others = [Value::Null, json!(7), json!("odd"), json!([["odd"]]), json!({ "odd": {} })];
    found.into_iter().flat_map(move |place| others.clone().map(|other| (place.clone(), other))).map(|(place, other)| {
        let mut changed = value.clone();
        if let Some(inner) = changed.pointer_mut(&place) {
            *inner = other;
        }
        changed
    })
}

/// A file with bytes changed at random places is read.
pub(super) fn survives_flips(importer: &Importer, name: &str, bytes: &[u8], flips: &[(proptest::sample::Index, u8)]) {
    let mut bytes = bytes.to_vec();
    for (at, byte) in flips {
        let at = at.index(bytes.len());
        bytes[at] = *byte;
    }
    told_of(importer, name, bytes);
}
