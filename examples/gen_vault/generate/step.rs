//! Steps as an import writes them: the line, and what stands below it.

use std::fmt::Write as _;

use super::random::Random;
use super::share::{Kind, Share};
use super::word;

const COMMANDS: &[&str] = &[
    "cargo test -p",
    "cargo clippy --all-targets -p",
    "git log --oneline -n 20 --",
    "git diff main --stat --",
    "npm run build --workspace",
    "rg -n",
    "ls -la",
    "python3 -m pytest -x -q",
    "sed -n 1,80p",
    "docker compose logs --tail 100",
];
const FAILURES: &[&str] = &[
    "2 of 41 failed",
    "error[E0308]: mismatched types",
    "thread 'main' panicked at src/main.rs",
    "command not found",
    "ENOENT: no such file or directory",
    "timed out after 120 s",
    "String to replace not found in file",
];

/// Where a note's steps are in time and count.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Seconds since 1970.
    pub(crate) now: i64,
    /// Second at which the phase's day began.
    pub(crate) day: i64,
}

impl Clock {
    /// The time as a fact: a clock time, or a whole one on another day than the phase's.
    pub(crate) fn fact(&self) -> String {
        let second = self.now - self.day;
        if second < 86_400 {
            return format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
        }
        jiff::Timestamp::from_second(self.now).map(|now| now.to_string()).unwrap_or_default()
    }
}

/// Writes the step of that number; whether it failed.
pub(crate) fn step(note: &mut Share, number: usize, project: usize, clock: &mut Clock, random: &mut Random) -> bool {
    clock.now += i64::try_from(random.between(2, 90)).unwrap_or(0);
    let tool = random.below(100);
    let failed = random.percent(7);
    let mut path = String::new();
    word::path(&mut path, project, random);
    let mut long = None;
    note.add(Kind::Step, |text| {
        text.push_str("- `");
        match tool {
            0..40 => {
                let command = random.pick(COMMANDS);
                let _ = write!(text, "Bash {command} ");
                word::name(text, random);
                if random.percent(12) {
                    let mut rest = String::new();
                    for line in 0..random.between(2, 8) {
                        rest.push_str(if line > 0 { "    " } else { "" });
                        rest.push_str(random.pick(COMMANDS));
                        rest.push(' ');
                        word::words(&mut rest, 4, random);
                        rest.push_str(" | tee ");
                        word::name(&mut rest, random);
                        rest.push('\n');
                    }
                    text.push_str(" …");
                    long = Some(rest);
                }
            }
            40..62 => {
                let _ = write!(text, "Read {path}");
            }
            62..80 => {
                let _ = write!(text, "Edit {path}");
            }
            80..85 => {
                let _ = write!(text, "Write {path}");
            }
            85..94 => {
                text.push_str("Grep ");
                word::name(text, random);
            }
            94..97 => {
                text.push_str("Glob **/*.rs");
            }
            _ => {
                text.push_str("WebFetch https://docs.example.org/");
                word::name(text, random);
            }
        }
        text.push_str("` → ");
        if failed {
            let _ = write!(text, "✗ {}", random.pick(FAILURES));
        } else {
            match tool {
                0..40 => {
                    word::words(text, random.between(1, 3), random);
                }
                40..62 => {
                    let _ = write!(text, "{} lines", random.rank(4_000) + 1);
                }
                62..85 => {
                    let _ = write!(text, "+{} −{}", random.rank(400) + 1, random.rank(90));
                }
                _ => {
                    let _ = write!(text, "{} matches in ", random.rank(300) + 1);
                    word::words(text, 2, random);
                }
            }
        }
        let _ = write!(text, " ({}", clock.fact());
        if failed && tool < 40 {
            let _ = write!(text, ", exit {}", random.rank(127) + 1);
        }
        let tenths = random.rank(1_200) + 1;
        if tenths < 1_000 {
            let _ = write!(text, ", {}.{} s", tenths / 10, tenths % 10);
        } else {
            let _ = write!(text, ", {} s", tenths / 10);
        }
        let _ = writeln!(text, ") ^n-{number:03}");
    });
    note.add(Kind::Nested, |text| {
        if let Some(rest) = long {
            let _ = write!(text, "    ```\n    {rest}    ```\n");
        }
        let file = |text: &mut String, random: &mut Random| {
            let _ = write!(text, "`{path}");
            if random.percent(70) {
                text.push('@');
                word::hash(text, 16, random);
            }
            text.push('`');
        };
        match tool {
            40..80 if !failed => {
                text.push_str("    - reads: ");
                file(text, random);
                text.push('\n');
                if tool >= 62 {
                    text.push_str("    - writes: ");
                    file(text, random);
                    text.push('\n');
                }
            }
            80..85 if !failed => {
                text.push_str("    - writes: ");
                file(text, random);
                text.push_str(" (created)\n");
            }
            _ => {}
        }
    });
    if note.lacks(Kind::Nested) {
        note.add(Kind::Nested, |text| {
            if number > 1 && random.percent(25) {
                let _ = writeln!(text, "    - after: [[#^n-{:03}]]", random.between(1, number - 1));
            } else {
                text.push_str("    - description: ");
                word::words(text, random.between(4, 12), random);
                text.push('\n');
            }
        });
    }
    failed
}
