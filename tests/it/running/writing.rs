//! What the tests of many writers and of killed ones share: a vault, a session, and processes that log to it.
//!
//! A process is this test program, called again for one ignored test, with what it is to do in variables.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cru::base::Result;
use cru::session::op::Op;
use cru::vault::writer::{Known, Plan, Written};
use cru::vault::{Journal, State, Vault, VaultPath, Writer};
use jiff::Timestamp;

pub(crate) const KEY: &str = "2026-11-21-tokens";
pub(crate) const NOTE: &str = "---\ntype: session\nsession_id: 2026-11-21-tokens\nstatus: active\n---\n# Tokens\n\n\
                               Paragraph one, version 0.\n\n## Build version 0\n\n**Tool calls:**\n";

/// One session in one vault.
pub(crate) struct World {
    pub(crate) vault: Vault,
    pub(crate) state: State,
    pub(crate) note: VaultPath,
}

impl World {
    /// A new one in this folder.
    pub(crate) fn make(dir: &Path) -> Self {
        let root = dir.join("vault");
        cru::base::files::create_dir(&root.join(".cru")).unwrap();
        cru::base::files::create(&root.join("sessions").join(format!("{KEY}.md")), NOTE.as_bytes()).unwrap();
        Self::open(dir)
    }

    /// That in this folder.
    pub(crate) fn open(dir: &Path) -> Self {
        let note = VaultPath::new(format!("sessions/{KEY}.md")).unwrap();
        Self { vault: Vault::open(&dir.join("vault")).unwrap(), state: State::at(dir.join("state")), note }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.vault.file(&self.note)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(std::fs::read(self.path()).unwrap()).unwrap()
    }

    pub(crate) fn journal(&self) -> Journal {
        Journal::at(self.state.journal(KEY))
    }

    /// Puts a step into the journal; `name` is its id.
    pub(crate) fn append(&self, name: &str, now: Timestamp) -> Result<String> {
        self.journal().append(&name, now)
    }

    /// Writes what the journal holds.
    pub(crate) fn flush(&self, now: Timestamp) -> Result<Written> {
        Writer::new(&self.vault, &self.state, now).write(KEY, &self.note, &mut |_, known| self.plan(known))
    }

    /// Writes what the journal holds, unless somebody else has written this entry.
    pub(crate) fn flush_entry(&self, entry: &str, now: Timestamp) -> Result<Written> {
        let writer = Writer::new(&self.vault, &self.state, now);
        writer.write_entry(KEY, &self.note, entry, &mut |_, known| self.plan(known))
    }

    fn plan(&self, known: &Known) -> Result<Plan> {
        let read = self.journal().read(known.consumed.get(KEY))?;
        let step = |name: &str| Op::Append { phase: None, text: format!("- `Bash {name}` → ok ^{name}\n") };
        let ops = read.entries.iter().map(|entry| step(entry.event.get().trim_matches('"'))).collect();
        let made = read.entries.iter().map(|entry| (entry.id.clone(), entry.event.get().to_owned())).collect();
        let consumed = if read.mark.generation.is_empty() { [].into() } else { [(KEY.to_owned(), read.mark)].into() };
        Ok(Plan { ops, consumed, made, label: "flush".to_owned(), ..Plan::default() })
    }

    /// Ids of the steps, in the order of the note.
    pub(crate) fn steps(&self) -> Vec<String> {
        let text = self.text();
        let id = |line: &str| Some(line.strip_prefix("- `Bash ")?.split_once(" ^")?.1.to_owned());
        text.lines().filter_map(id).collect()
    }
}

pub(crate) fn now() -> Timestamp {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

/// Why a process of a test does not run by itself.
pub(crate) const ALONE: &str = "this is a process that another test starts; do not run it by itself";

/// Starts this program again for the ignored test `name`.
pub(crate) fn again(name: &str, dir: &Path, vars: &[(&str, String)]) -> Child {
    this(name, dir, vars).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// This program, for one ignored test in this folder.
pub(crate) fn this(name: &str, dir: &Path, vars: &[(&str, String)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("CRU_TEST_DIR", dir).envs(vars.iter().map(|(name, value)| (*name, value)));
    command
}

/// What the process that started this one told it; `None` when it was called like any other test.
#[expect(clippy::disallowed_methods, reason = "a test has no other way to be told")]
pub(crate) fn told(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
