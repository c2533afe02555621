//! How fast transcripts become notes, against the least that any importer must do.
//!
//! `cargo bench --bench import` prints MB/s and ratios; with `-- --require 0.4` it exits with 1 when the import is slower
//! than that share of the floor. Transcripts are looked for in `../shared/transcripts` or where `CRU_TEST_TRANSCRIPTS`
//! says; `-- FOLDER` names another place. Generated lines are measured too.
//!
//! The floor: one thread reads the same files and deserialises each line into a struct with typed message content, texts
//! borrowed where they can be and the input of tools as a value. The import is the whole of it: search, read, fold, name,
//! render, write all notes into a new vault, sync. Between them stands reading to events alone. All take turns, and
//! medians count, so that a busy machine slows them alike.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench talks to a terminal")]

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cru::base::files;
use cru::import::{find, search};
use cru::session::event::{Event, StreamKey};
use cru::session::source::{Account, Bundle, Consumed, Header, Importer, Sink};
use cru::sync::import::{Options, Unwatched, ingest};
use cru::sync::report::Outcome;
use cru::vault::Vault;
use rayon::ThreadPool;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

const ROUNDS: usize = 9;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let required = args.iter().position(|arg| arg == "--require").map(|at| {
        let share = args.get(at + 1).and_then(|share| share.parse::<f64>().ok());
        share.unwrap_or(0.4)
    });
    let is_folder = |arg: &&String| !arg.starts_with('-') && arg.parse::<f64>().is_err();
    let named: Vec<PathBuf> = args.iter().filter(is_folder).map(PathBuf::from).collect();
    let generated = tempfile::tempdir()?;
    std::fs::write(generated.path().join("generated.jsonl"), lines(4_000))?;
    let mut corpora = vec![("generated", vec![generated.path().to_owned()])];
    match if named.is_empty() { places() } else { named } {
        places if places.is_empty() => println!("no transcripts at hand: only generated lines are measured"),
        places => corpora.insert(0, ("transcripts", places)),
    }
    let importer = find("claude").ok_or("no row of the table")?;
    let (one, all) = (pool(1)?, pool(0)?);
    let mut slow = false;
    for (index, (name, places)) in corpora.iter().enumerate() {
        let bundles = search(importer, places)?.bundles;
        let files = || bundles.iter().flat_map(|bundle| &bundle.files);
        let bytes: u64 = files().map(|path| std::fs::metadata(path).map_or(0, |meta| meta.len())).sum();
        let mut times = [const { Vec::new() }; 4];
        let mut notes = 0;
        for round in 0..=ROUNDS {
            let runs = [
                floor(&bundles)?,
                events(importer, &bundles)?,
                import(&one, importer, places, &mut notes)?,
                import(&all, importer, places, &mut notes)?,
            ];
            // The first round only warms up.
            if round > 0 {
                times.iter_mut().zip(runs).for_each(|(times, run)| times.push(run));
            }
        }
        let [floor, events, alone, import] = times.map(median);
        println!("{name}: {} files, {:.1} MB, {notes} notes", files().count(), bytes as f64 / 1e6);
        let row = |what: &str, time: Duration| {
            let (speed, share) = (bytes as f64 / 1e6 / time.as_secs_f64(), floor.as_secs_f64() / time.as_secs_f64());
            println!("  {what:24} {speed:6.0} MB/s  {share:.2} of the floor");
            share
        };
        row("deserialise, one thread", floor);
        row("to events, one thread", events);
        row("import, one thread", alone);
        let share = row(&format!("import, {} threads", all.current_num_threads()), import);
        // Real transcripts decide, where there are any.
        slow |= index == 0 && required.is_some_and(|required| share < required);
    }
    if slow {
        println!("slower than required");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn pool(threads: usize) -> Result<ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}

/// Reads and deserialises every line.
fn floor(bundles: &[Bundle]) -> Result<Duration, std::io::Error> {
    let start = Instant::now();
    for path in bundles.iter().flat_map(|bundle| &bundle.files) {
        let bytes = std::fs::read(path)?;
        for line in bytes.split(|byte| *byte == b'\n') {
            black_box(serde_json::from_slice::<Record<'_>>(line).ok());
        }
    }
    Ok(start.elapsed())
}

/// Reads every bundle to events and drops them.
fn events(importer: &Importer, bundles: &[Bundle]) -> Result<Duration, cru::base::Error> {
    let start = Instant::now();
    let mut count = Count::default();
    for bundle in bundles {
        (importer.read)(bundle, &mut count)?;
    }
    black_box(count.0);
    Ok(start.elapsed())
}

/// Imports everything into a vault of its own; making and removing the vault does not count.
fn import(
    pool: &ThreadPool,
    importer: &Importer,
    places: &[PathBuf],
    notes: &mut u64,
) -> Result<Duration, Box<dyn Error>> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    files::create(&folder.path().join(".cru/config.toml"), b"")?;
    let vault = Vault::open(folder.path())?;
    let start = Instant::now();
    let report = pool.install(|| ingest(&vault, importer, places, &Options::default(), &Unwatched))?;
    let time = start.elapsed();
    *notes = report.count(Outcome::Created);
    Ok(time)
}

/// Counts what it is told.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn open(&mut self, _: Header) {}
    fn event(&mut self, _: &StreamKey, event: Event<'_>) {
        self.0 += 1;
        black_box(&event);
    }
    fn close(&mut self, _: &StreamKey, consumed: Consumed) {
        black_box(&consumed);
    }
    fn account(&mut self, _: &Path, _: Account) {}
}

/// One line, as far as every importer must look into it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "deserialised and dropped")]
struct Record<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    uuid: Text<'a>,
    #[serde(borrow, default)]
    parent_uuid: Text<'a>,
    #[serde(borrow, default)]
    session_id: Text<'a>,
    #[serde(borrow, default)]
    timestamp: Text<'a>,
    #[serde(borrow, default)]
    cwd: Text<'a>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "deserialised and dropped")]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    model: Text<'a>,
    #[serde(borrow, default)]
    content: Content<'a, Block<'a>>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "deserialised and dropped")]
#[allow(clippy::struct_field_names, reason = "the names are those of the record")]
struct Usage {
    #[serde(default)]
    input_tokens: u64,
    #[serde(default)]
    output_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: u64,
    #[serde(default)]
    cache_read_input_tokens: u64,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "deserialised and dropped")]
struct Block<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(default)]
    input: Option<Value>,
    #[serde(borrow, default)]
    tool_use_id: Text<'a>,
    #[serde(borrow, default)]
    content: Content<'a, Part<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "deserialised and dropped")]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Text<'a>,
}

/// A text that borrows from the line where it holds no escape (`Option<Cow<str>>` would always own it).
type Text<'a> = Content<'a, IgnoredAny>;

/// A text, or a list, or nothing.
#[derive(Default)]
#[expect(dead_code, reason = "deserialised and dropped")]
enum Content<'a, T> {
    #[default]
    None,
    Text(Cow<'a, str>),
    List(Vec<T>),
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Content<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Any<T> {
            type Value = Content<'de, T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text or a list")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(text.into()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(text.to_owned().into()))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Content::None)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(Content::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Content::None)
            }
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

fn places() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
    let folder = std::env::var_os("CRU_TEST_TRANSCRIPTS").map_or(beside, PathBuf::from);
    ["claude-projects", "claude"].iter().map(|name| folder.join(name)).filter(|place| place.is_dir()).collect()
}

/// Lines of the usual kinds in the usual proportions: a call and its answer, progress in between, prose now and then.
fn lines(turns: usize) -> String {
    let mut text = String::new();
    let output = "fn main() {\\n    println!(\\\"{}\\\", 1);\\n}\\n".repeat(30);
    for turn in 0..turns {
        let id = |kind: u32| format!("{kind:08x}-0000-4000-8000-{turn:012x}");
        let head = |own: u32, parent: u32| {
            format!(
                r#""uuid":"{}","parentUuid":"{}","sessionId":"generated","cwd":"/home/mia/api","version":"2.1.9","isSidechain":false,"timestamp":"2026-03-01T10:00:00.000Z""#,
                id(own),
                id(parent)
            )
        };
        let _ = writeln!(
            text,
            r#"{{"type":"user",{},"message":{{"role":"user","content":"look at part {turn}"}}}}"#,
            head(1, 4)
        );
        let _ = writeln!(
            text,
            r#"{{"type":"assistant",{},"message":{{"id":"m{turn}","model":"some-model","content":[{{"type":"tool_use","id":"t{turn}","name":"Read","input":{{"file_path":"/home/mia/api/src/part{turn}.rs"}}}}],"usage":{{"input_tokens":5,"output_tokens":9}}}}}}"#,
            head(2, 1)
        );
        let _ = writeln!(
            text,
            r#"{{"type":"progress",{},"data":{{"type":"hook_progress","output":"{output}"}}}}"#,
            head(3, 2)
        );
        let _ = writeln!(
            text,
            r#"{{"type":"user",{},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{turn}","content":"{output}"}}]}},"toolUseResult":{{"type":"text","file":{{"filePath":"/home/mia/api/src/part{turn}.rs","content":"{output}","numLines":30,"totalLines":30}}}}}}"#,
            head(4, 2)
        );
    }
    text
}
