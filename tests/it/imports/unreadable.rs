//! Notes and folders that cannot be read are told on stderr, and the others are listed.
//!
//! Whoever may read everything (root) cannot see these cases: for them the tests end early.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use cru::base::files;

struct Bed {
    dir: tempfile::TempDir,
}

impl Bed {
    /// A vault of three sessions, one of them in a folder of its own.
    fn new() -> Self {
        let bed = Self { dir: tempfile::tempdir().unwrap() };
        files::create_dir(&bed.vault().join(".cru")).unwrap();
        for name in ["sessions/one", "sessions/two", "locked/three"] {
            let text =
                "---\ntype: session\nstatus: active\n---\n# A day\n\n## Build @coder\n\n- `Bash x` → ok ^n-001\n";
            files::put(&bed.vault().join(name).with_extension("md"), text.as_bytes()).unwrap();
        }
        bed
    }

    fn vault(&self) -> PathBuf {
        self.dir.path().join("vault")
    }

    /// The caches of the machine.
    fn cache(&self) -> PathBuf {
        self.dir.path().join(".cache")
    }

    /// Standard output and standard error.
    fn ask(&self, args: &[&str]) -> (String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(self.vault()).env_clear().env("HOME", self.dir.path());
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }
}

/// Takes the right to read away as long as it lives.
struct Locked(PathBuf, u32);

impl Locked {
    fn new(path: &Path) -> Self {
        let before = fs::metadata(path).unwrap().permissions().mode();
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        Self(path.to_owned(), before)
    }

    fn holds(&self) -> bool {
        fs::read(&self.0).is_err() && fs::read_dir(&self.0).is_err()
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, fs::Permissions::from_mode(self.1));
    }
}

#[test]
fn what_cannot_be_read_is_told_each_time_and_the_rest_is_listed() {
    let bed = Bed::new();
    let (note, folder) = (Locked::new(&bed.vault().join("sessions/two.md")), Locked::new(&bed.vault().join("locked")));
    if !note.holds() || !folder.holds() {
        return;
    }
    for args in [&["session", "list"][..], &["query", "steps"], &["history"], &["stats"]] {
        // Once while the index is made, once when it is there.
        for _ in 0..2 {
            let (out, told) = bed.ask(args);
            let warnings: Vec<&str> = told.lines().filter(|line| line.starts_with("warning: ")).collect();
            assert_eq!(warnings.len(), 2, "{args:?}: {told}");
            assert!(warnings[0].starts_with("warning: locked: could not read this: "), "{told}");
            assert!(warnings[1].starts_with("warning: sessions/two.md: could not read this: "), "{told}");
            assert!(!out.is_empty() && !out.contains("warning") && !out.contains("two"), "{args:?}: {out}");
        }
        files::remove_derived(&bed.cache()).unwrap();
    }
    let (out, _) = bed.ask(&["session", "list", "-f", "jsonl"]);
    assert!(out.lines().count() == 1 && out.contains("sessions/one.md"), "{out}");
    drop((note, folder));
    let (out, told) = bed.ask(&["session", "list", "-f", "jsonl"]);
    assert_eq!((out.lines().count(), told.as_str()), (3, ""));
}
