//! A vault and a machine's state that an earlier version wrote: today's program goes on with them and loses nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SESSION: &str = "2026-11-20-mend-tap";

struct Earlier {
    temp: tempfile::TempDir,
}

impl Earlier {
    /// With its state, where that was not lost.
    fn new(with_state: bool) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let from = root.join("tests/fixtures/earlier");
        copy(&from.join("vault"), &temp.path().join("vault"));
        let vault = temp.path().join("vault").canonicalize().unwrap();
        let key = &blake3::hash(vault.as_os_str().as_encoded_bytes()).to_hex()[..8];
        if with_state {
            copy(&from.join("state"), &temp.path().join(".local/state/cru").join(format!("earlier-{key}")));
        }
        copy(
            &root.join("tests/fixtures/claude/-home-mara-code-tidepool"),
            &temp.path().join(".claude/projects/-home-mara-code-tidepool"),
        );
        Self { temp }
    }

    fn cru(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_cru"))
            .args(args)
            .env_clear()
            .current_dir(self.temp.path())
            .env("HOME", self.temp.path())
            .env("CRU_VAULT", self.temp.path().join("vault"))
            .env("CRU_NOW", "2026-11-22T08:00:00Z")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    }

    fn ok(&self, args: &[&str]) -> String {
        let (code, said) = self.cru(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
        said
    }

    /// All notes, by their names.
    fn notes(&self) -> Vec<(PathBuf, String)> {
        let mut notes = Vec::new();
        let mut open = vec![self.temp.path().join("vault")];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                match entry.file_type().unwrap().is_dir() {
                    true if entry.file_name() != ".cru" => open.push(path),
                    true => {}
                    false => notes.push((path.clone(), fs::read_to_string(&path).unwrap())),
                }
            }
        }
        notes
    }

    fn holds(&self, word: &str) -> bool {
        self.notes().iter().any(|(_, text)| text.contains(word))
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn an_earlier_vault_is_gone_on_with_and_nothing_is_lost() {
    for with_state in [true, false] {
        let earlier = Earlier::new(with_state);
        let before: Vec<String> = earlier.notes().into_iter().map(|(_, text)| text).collect();
        assert_eq!(before.iter().filter(|text| text.contains("word")).count(), 3, "the fixture has changed");
        for args in [
            ["log", "--session", SESSION, "tool", "Bash", "make test", "--result", "12 passed"].as_slice(),
            &["flush", "--all"],
            &["import", "claude"],
            &["import", "--again", "-y", "--detail", "full"],
            &["session", "mark", "completed", SESSION],
            &["bookmark", "the edit", &format!("{SESSION}#n-002")],
            &["summary", "day", "--write"],
        ] {
            earlier.ok(args);
        }
        for word in ["wordone", "wordtwo", "wordthree", "Close it first", "Measure it", "make test", "the edit"] {
            assert!(earlier.holds(word), "{word} is gone, with state: {with_state}");
        }
        let note = fs::read_to_string(earlier.temp.path().join(format!("vault/sessions/{SESSION}.md"))).unwrap();
        for id in ["n-001", "n-002", "n-003", "d-01"] {
            assert_eq!(note.matches(&format!("^{id}\n")).count(), 1, "{id}, with state: {with_state}:\n{note}");
        }
        earlier.ok(&["check"]);
        let named: Vec<_> = earlier.notes().into_iter().map(|(path, _)| path).collect();
        let of_session = named.iter().filter(|path| path.to_string_lossy().contains("sessions/2026-11-12-fix-umlauts"));
        assert_eq!(of_session.count(), 2, "{named:?}");
    }
}
