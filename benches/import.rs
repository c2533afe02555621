//! How fast transcripts are read to events, against a bare parser of the same lines.
//!
//! `cargo bench --bench import` prints MB/s and a ratio; with `-- --require 0.8` it exits with 1 when reading is slower
//! than that share of the bare parser. The bare parser reads every line into a struct with typed message content, tool
//! input as a generic value, and keeps nothing. Both run on one thread and take turns; medians count, so that a busy
//! machine slows both alike.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench talks to a terminal")]

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cru::import;
use cru::session::event::{Event, StreamKey};
use cru::session::source::{Account, Bundle, Consumed, Header, Importer, Sink};
use serde::Deserialize;
use serde_json::Value;

const ROUNDS: usize = 15;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "parsed and dropped")]
struct Bare<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parent_uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<BareMessage<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "parsed and dropped")]
struct BareMessage<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<BareContent<'a>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "parsed and dropped")]
enum BareContent<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    #[serde(borrow)]
    Blocks(Vec<BareBlock<'a>>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "parsed and dropped")]
enum BareBlock<'a> {
    Text {
        #[serde(borrow)]
        text: Cow<'a, str>,
    },
    Thinking {
        #[serde(borrow)]
        thinking: Cow<'a, str>,
    },
    ToolUse {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        name: Cow<'a, str>,
        input: Value,
    },
    ToolResult {
        #[serde(borrow)]
        tool_use_id: Cow<'a, str>,
        content: Option<Value>,
    },
    #[serde(other)]
    Other,
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

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let required = args.iter().position(|arg| arg == "--require").map(|at| {
        let share = args.get(at + 1).and_then(|share| share.parse::<f64>().ok());
        share.unwrap_or(0.8)
    });
    let importer = import::find("claude").expect("a row of the table");
    let generated = tempfile::tempdir().expect("a folder for generated transcripts");
    std::fs::write(generated.path().join("generated.jsonl"), lines(4_000)).expect("a generated transcript");
    let mut corpora = vec![("generated", vec![generated.path().to_owned()])];
    match places() {
        places if places.is_empty() => println!("no transcripts at hand: only generated lines are measured"),
        places => corpora.insert(0, ("transcripts", places)),
    }
    let mut slow = false;
    for (name, places) in corpora {
        let bundles = import::search(importer, &places).expect("folders that can be read").bundles;
        let bytes: u64 = files(&bundles).map(|path| std::fs::metadata(path).map_or(0, |meta| meta.len())).sum();
        let (bare, import) = measure(importer, &bundles);
        let speed = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
        let ratio = bare.as_secs_f64() / import.as_secs_f64();
        println!("{name}: {:.1} MB", bytes as f64 / 1e6);
        println!("  bare parser  {:6.0} MB/s", speed(bare));
        println!("  to events    {:6.0} MB/s  {ratio:.2} of bare", speed(import));
        slow |= required.is_some_and(|share| ratio < share);
    }
    if slow {
        println!("slower than required");
        std::process::exit(1);
    }
}

fn measure(importer: &Importer, bundles: &[Bundle]) -> (Duration, Duration) {
    let mut bare = Vec::new();
    let mut import = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        files(bundles).for_each(parse);
        bare.push(start.elapsed());
        let start = Instant::now();
        let mut count = Count::default();
        for bundle in bundles {
            (importer.read)(bundle, &mut count).expect("files that can be read");
        }
        black_box(count.0);
        import.push(start.elapsed());
    }
    (median(bare), median(import))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn files(bundles: &[Bundle]) -> impl Iterator<Item = &Path> {
    bundles.iter().flat_map(|bundle| bundle.files.iter().map(PathBuf::as_path))
}

fn parse(path: &Path) {
    let mut source = BufReader::with_capacity(256 << 10, File::open(path).expect("a file"));
    let mut line = Vec::new();
    while source.read_until(b'\n', &mut line).expect("a file that can be read") > 0 {
        let record = std::str::from_utf8(&line).ok().and_then(|line| serde_json::from_str::<Bare<'_>>(line).ok());
        black_box(&record);
        line.clear();
    }
}

fn places() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
    let folder = std::env::var_os("CRU_TEST_TRANSCRIPTS").map_or(beside, PathBuf::from);
    ["claude", "claude-projects"].iter().map(|name| folder.join(name)).filter(|place| place.is_dir()).collect()
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
