//! How long an agent waits for `cru hook post-tool`: whole process, files in the page cache, no state of ours in memory.
//!
//! `cargo bench --bench hook` prints median and p99 in milliseconds and the ratio to starting `true` in the same run;
//! with `-- --require` it exits with 1 when the median is over 5 ms, p99 over 15 ms, or the size of the note matters.
//!
//! Runs of all cases take turns, so that a busy machine slows all alike: `true`, a vault whose session's note has 1 KB,
//! and one with 10 MB. The input is that of an edit with a file to hash.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench talks to a terminal and makes its world")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 300;
const WARM: usize = 20;

fn main() -> ExitCode {
    let required = std::env::args().any(|arg| arg == "--require");
    let temp = match tempfile::tempdir() {
        Ok(temp) => temp,
        Err(error) => {
            println!("no temporary folder: {error}");
            return ExitCode::FAILURE;
        }
    };
    let cases = [Case::new(temp.path(), "1 KB", 1 << 10), Case::new(temp.path(), "10 MB", 10 << 20)];
    let mut times = vec![Vec::new(); cases.len() + 1];
    for round in 0..RUNS + WARM {
        let mut took = vec![start(Command::new("true"), b"")];
        took.extend(cases.iter().map(Case::call));
        if round >= WARM {
            for (times, took) in times.iter_mut().zip(took) {
                times.push(took);
            }
        }
    }
    for times in &mut times {
        times.sort_unstable();
    }
    let bare = median(&times[0]);
    println!("{RUNS} runs, {:5.2} ms to start `true`", ms(bare));
    let mut slow = false;
    for (case, times) in cases.iter().zip(&times[1..]) {
        let (middle, late) = (median(times), times[times.len() * 99 / 100]);
        println!(
            "note of {:>5}: median {:5.2} ms, p99 {:5.2} ms, {:.1} of `true`",
            case.name,
            ms(middle),
            ms(late),
            ms(middle) / ms(bare)
        );
        slow |= middle > Duration::from_millis(5) || late > Duration::from_millis(15);
        let journal = case.journal();
        if journal != RUNS + WARM {
            println!("{journal} lines in the journal: the hook did not do its work");
            return ExitCode::FAILURE;
        }
    }
    let growth = ms(median(&times[2])) / ms(median(&times[1]));
    println!("a note of 10 MB costs {growth:.2} times one of 1 KB");
    if required && (slow || growth > 1.15) {
        println!("slower than required");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// A vault with a session of one note.
struct Case {
    name: &'static str,
    root: PathBuf,
    input: String,
}

impl Case {
    fn new(temp: &Path, name: &'static str, size: usize) -> Self {
        let root = temp.join(name.replace(' ', "-"));
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
            if let Err(error) = made {
                println!("{}: {error}", path.display());
            }
        };
        // Starting the writer is another program's time; here every event only goes to the journal.
        put("vault/.cru/config.toml", "[vault]\nid = \"bench\"\n[hooks]\nflush = \"never\"\n");
        let head = "---\ntype: session\nsession_id: bench\nstatus: active\nhost_session: bench\n---\n# Bench\n";
        let line = "- `Bash cargo test` → ok, 12 passed (10:02:03, 1.2 s)\n";
        put("vault/sessions/bench.md", &format!("{head}{}", line.repeat(size.saturating_sub(head.len()) / line.len())));
        put("vault/src/a.rs", &"fn main() {}\n".repeat(500));
        let text = "let answer = 42;\n".repeat(100);
        let input = serde_json::json!({
            "session_id": "bench",
            "transcript_path": "/nowhere/bench.jsonl",
            "cwd": root.join("vault"),
            "hook_event_name": "PostToolUse",
            "tool_name": "Edit",
            "tool_use_id": "toolu_01",
            "tool_input": {"file_path": "src/a.rs", "old_string": "fn main() {}", "new_string": text},
            "tool_response": {"filePath": "src/a.rs", "originalFile": text, "structuredPatch": []},
        });
        Self { name, root, input: input.to_string() }
    }

    fn call(&self) -> Duration {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(["hook", "post-tool"]).env_clear();
        command.env("HOME", &self.root).env("XDG_STATE_HOME", self.root.join("state"));
        start(command, self.input.as_bytes())
    }

    /// Lines in the journal.
    fn journal(&self) -> usize {
        let states = std::fs::read_dir(self.root.join("state/cru")).into_iter().flatten().flatten();
        let journals = states.map(|state| state.path().join("journal/claude-code--bench.jsonl"));
        journals.filter_map(|path| std::fs::read(path).ok()).map(|text| memchr::memchr_iter(b'\n', &text).count()).sum()
    }
}

/// Starts a program, gives it its input, and waits for its end.
fn start(mut command: Command, input: &[u8]) -> Duration {
    let begin = Instant::now();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return Duration::MAX };
    if let Some(mut stdin) = child.stdin.take() {
        // `true` reads nothing.
        let _ = stdin.write_all(input);
    }
    let _ = child.wait();
    begin.elapsed()
}

fn median(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
