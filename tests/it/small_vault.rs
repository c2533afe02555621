//! A home with a vault of a few hand-written notes, and the program run in it at a fixed time.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cru::base::files;

/// It. Paths are relative to the home; the vault is the folder `vault`.
pub(crate) struct SmallVault {
    temp: tempfile::TempDir,
}

impl SmallVault {
    /// With this text as `.cru/config.toml`.
    pub(crate) fn new(config: &str) -> Self {
        let it = Self { temp: tempfile::tempdir().unwrap() };
        it.put("vault/.cru/config.toml", config);
        it
    }

    pub(crate) fn home(&self) -> &Path {
        self.temp.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.home().join(path)
    }

    /// Writes a file, whatever was there.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        drop(files::remove(&path));
        files::create_dir(path.parent().unwrap()).unwrap();
        files::put(&path, text.as_bytes()).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Runs the program in a folder of the home, with this on its stdin.
    pub(crate) fn run_in(&self, folder: &str, args: &[&str], input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cru"))
            .args(args)
            .env_clear()
            .current_dir(self.path(folder))
            .env("HOME", self.home())
            .env("PATH", "/bin:/usr/bin")
            .env("CRU_VAULT", self.path("vault"))
            .env("CRU_NOW", "2026-11-21T08:00:00Z")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Who reads nothing may be gone already.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_in("vault", args, "")
    }

    /// Runs what must succeed; its answer.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        succeeded(args, &self.run(args))
    }
}

/// The answer of a run that must have succeeded.
pub(crate) fn succeeded(args: &[&str], output: &Output) -> String {
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}
