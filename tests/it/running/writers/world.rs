//! A home with a vault, a project and settings of other programs, all with words of a person in them.

#![expect(clippy::disallowed_methods, reason = "a person and other programs write without cru")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::making::readings;

/// The session that is logged to.
pub(super) const LIVE: &str = "2026-11-21-live-one";

/// Files below the home that are looked at for a person's words: not what the program keeps for itself.
const OWN: [&str; 4] = [".cache", ".cru", ".git", ".local"];

/// A folder that is always at the same place: it is put back from a copy for each run.
pub(super) struct World {
    home: PathBuf,
}

/// What a command did.
pub(super) struct Ran {
    /// `None` where it was killed.
    pub(super) code: Option<i32>,
    pub(super) err: String,
}

/// Contents of files by their path below the home.
pub(super) type Tree = BTreeMap<String, String>;

impl World {
    /// One in `lane`, with a copy of it to go back to.
    pub(super) fn new(lane: &Path) -> Self {
        let world = Self { home: lane.join("home") };
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::create_dir_all(&world.home).unwrap();
        copy(&root.join("vault-example"), &world.path("vault"));
        let _ = fs::remove_dir_all(world.path("vault/.cru/local"));
        world
            .add("vault/.cru/config.toml", "\n[hooks]\nflush = \"inline\"\n\n[summary]\ndaily = \"Daily/{date}.md\"\n");
        let transcripts = world.path(".claude/projects/-home-mara-code-tidepool");
        fs::create_dir_all(transcripts.parent().unwrap()).unwrap();
        copy(&root.join("tests/fixtures/claude/-home-mara-code-tidepool"), &transcripts);
        world.put("vault/sessions/s1.md", readings::SESSION);
        world.put("vault/notes/links.md", &format!("# Links\n\n[[{LIVE}]] and [[s1]]\n"));
        world.put("vault/notes/map.canvas", &format!("{{\n  \"nodes\": [{{\"id\": \"a\", \"type\": \"file\", \"file\": \"sessions/{LIVE}.md\", \"x\": 0, \"y\": 0, \"width\": 9, \"height\": 9}}]\n}}\n"));
        world.put("code/AGENTS.md", "# Agents\n\nMine.\n");
        world.put("code/src/a.rs", "fn a() {}\n");
        world.put(".claude/settings.json", "{\n  \"model\": \"x\"\n}\n");
        for args in [["init", "-q", "."].as_slice(), &["add", "."], &["commit", "-qm", "x"]] {
            let git = world.command("git", "code").args(args).output().unwrap();
            assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
        }
        for args in [
            ["session", "start", "Live one", "--agent", "a@1"].as_slice(),
            &["log", "--session", LIVE, "tool", "Read", "src/a.rs"],
            &["log", "--session", LIVE, "decision", "Keep the first answer", "--why", "it is the first"],
            &["log", "--session", LIVE, "task", "add", "Write it down"],
            &["log", "--session", LIVE, "question", "Is it so?"],
            &["log", "--session", LIVE, "error", "It does not hold", "--text", "at all"],
            &["lessons", "add", "The first answer holds", "--from", &format!("{LIVE}#d-01")],
            &["bookmark", "the first", &format!("{LIVE}#n-001")],
            &["summary", "day", "--write"],
        ] {
            world.must(args, "");
        }
        world
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }

    pub(super) fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn add(&self, path: &str, text: &str) {
        let old = fs::read_to_string(self.path(path)).unwrap();
        self.put(path, &(old + text));
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn command(&self, program: &str, dir: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(dir)).env_clear().env("PATH", "/bin:/usr/bin").env("HOME", &self.home);
        command.env("GIT_AUTHOR_NAME", "x").env("GIT_AUTHOR_EMAIL", "x@x").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_COMMITTER_NAME", "x").env("GIT_COMMITTER_EMAIL", "x@x");
        command
    }

    /// Runs the program in the project.
    pub(super) fn cru(&self, args: &[&str], input: &str, vars: &[(&str, &str)]) -> Ran {
        let mut command = self.command(env!("CARGO_BIN_EXE_cru"), "code");
        command.env("CRU_VAULT", self.path("vault")).env("CRU_NOW", "2026-11-21T09:00:00Z").env("NO_COLOR", "1");
        command.env("RAYON_NUM_THREADS", "1").envs(vars.iter().copied()).args(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // Who reads nothing may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran { code: output.status.code(), err: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    /// The answer of a command that only reads.
    pub(super) fn said(&self, args: &[&str]) -> String {
        let mut command = self.command(env!("CARGO_BIN_EXE_cru"), "code");
        command.env("CRU_VAULT", self.path("vault")).env("CRU_NOW", "2026-11-21T09:00:00Z").args(args);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    /// Runs what prepares; the exit code 1 is an answer.
    pub(super) fn must(&self, args: &[&str], input: &str) {
        let ran = self.cru(args, input, &[]);
        assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {:?} {}", ran.code, ran.err);
    }

    /// A person writes a word of their own into each file that is theirs; which words.
    pub(super) fn plant(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        for (number, (path, text)) in self.tree().into_iter().enumerate() {
            if !["vault/", "code/", ".claude/settings"].iter().any(|own| path.starts_with(own)) {
                continue;
            }
            let word = format!("planted{number}x");
            let is = |end: &str| Path::new(&path).extension().is_some_and(|it| it == end);
            let text = match text.trim_end().strip_suffix('}') {
                Some(start) if is("json") || is("canvas") => {
                    format!("{},\n  \"{word}\": 1\n}}\n", start.trim_end())
                }
                _ if is("md") => format!("{text}\n{word}\n"),
                _ => continue,
            };
            self.put(&path, &text);
            words.insert(word);
        }
        words
    }

    /// All that a person sees.
    pub(super) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        Self::walk(&self.home, &mut |path, shown| {
            if shown && let Ok(text) = fs::read_to_string(path) {
                tree.insert(path.strip_prefix(&self.home).unwrap().to_string_lossy().into_owned(), text);
            }
        });
        tree
    }

    /// Words of saves in any file at all.
    pub(super) fn saved(&self) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        Self::walk(&self.home, &mut |path, _| {
            let text = fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let found = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| {
                word.strip_prefix("saved")
                    .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
            });
            words.extend(found.map(str::to_owned));
        });
        words
    }

    /// Temporary files and intentions, wherever they are.
    pub(super) fn temporary(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        Self::walk(&self.home, &mut |path, _| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with(".cru-") {
                found.push(path.to_owned());
            }
        });
        found
    }

    /// Lets a while pass for what was left half made.
    pub(super) fn age(&self) {
        for path in self.temporary() {
            if let Ok(file) = fs::File::options().append(true).open(&path) {
                let made = file.metadata().unwrap().modified().unwrap();
                file.set_modified(made - Duration::from_hours(3)).unwrap();
            }
        }
        Self::walk(&self.home, &mut |path, _| {
            if path.file_name().is_some_and(|name| name == "swept") {
                let _ = fs::remove_file(path);
            }
        });
    }

    fn walk(dir: &Path, seen: &mut dyn FnMut(&Path, bool)) {
        let mut open = vec![(dir.to_owned(), true)];
        while let Some((dir, shown)) = open.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.to_string_lossy();
                if entry.file_type().unwrap().is_dir() {
                    open.push((path, shown && !OWN.contains(&&*name)));
                } else {
                    let is_temporary = name.starts_with(".cru-") || name.starts_with(".editor-");
                    seen(&path, shown && !is_temporary);
                }
            }
        }
    }

    pub(super) fn keep_as(&self, copy_to: &Path) {
        let _ = fs::remove_dir_all(copy_to);
        copy(&self.home, copy_to);
    }

    pub(super) fn go_back_to(&self, kept: &Path) {
        fs::remove_dir_all(&self.home).unwrap();
        copy(kept, &self.home);
    }
}

/// Copies a folder with the times of its files.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(copied.success());
}
