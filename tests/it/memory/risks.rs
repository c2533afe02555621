//! Commands that take something away, really run in a repository: what comes back is what was there, to the byte.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::world::MemoryLab;

/// A repository with files of every kind, two branches, a tag and two stashes.
fn project() -> MemoryLab {
    let lab = MemoryLab::new();
    lab.write(".gitignore", b"node_modules/\nlocal.env\n");
    for name in ["src/a.rs", "src/b.rs", "docs/guide.md", "clean.txt"] {
        lab.write(name, format!("{name}, first\n").as_bytes());
    }
    symlink("a.rs", lab.path("home/code/src/link.rs")).unwrap();
    lab.repository();
    lab.git(&["branch", "old"]);
    lab.git(&["tag", "v1"]);
    lab.git(&["checkout", "-q", "-b", "feature"]);
    lab.write("feature.txt", b"only on a branch\n");
    lab.git(&["add", "-A"]);
    lab.git(&["commit", "-q", "-m", "feature"]);
    lab.git(&["checkout", "-q", "-"]);
    for number in 1..=2 {
        lab.write("clean.txt", format!("stashed {number}\n").as_bytes());
        lab.git(&["stash", "push", "-q", "-m", &format!("stash {number}")]);
    }
    lab.write("src/a.rs", b"changed by a person\n");
    lab.write("src/staged.rs", b"staged\n");
    lab.git(&["add", "src/staged.rs"]);
    lab.write("notes/new.txt", b"untracked\n");
    lab.write("notes/key.pem", b"secret\n");
    mode(&lab, "notes/key.pem", 0o600);
    lab.write("run.sh", b"#!/bin/sh\n");
    mode(&lab, "run.sh", 0o755);
    symlink("nowhere", lab.path("home/code/notes/dangling")).unwrap();
    fs::create_dir(lab.path("home/code/notes/private")).unwrap();
    lab.write("notes/private/x", b"x\n");
    mode(&lab, "notes/private", 0o700);
    lab.write("local.env", b"ignored\n");
    lab.write("node_modules/pack/index.js", b"made again\n");
    lab.write("app.db", b"a database\n");
    lab
}

fn mode(lab: &MemoryLab, path: &str, mode: u32) {
    fs::set_permissions(lab.path("home/code").join(path), fs::Permissions::from_mode(mode)).unwrap();
}

/// Everything but git's own: kind, permissions and bytes by path.
fn tree(lab: &MemoryLab) -> BTreeMap<PathBuf, (char, u32, Vec<u8>)> {
    let root = lab.path("home/code");
    let (mut found, mut open) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let mode = metadata.permissions().mode() & 0o777;
            let row = if metadata.is_symlink() {
                ('l', 0, fs::read_link(&path).unwrap().into_os_string().into_vec())
            } else if metadata.is_dir() {
                open.push(path.clone());
                ('d', mode, Vec::new())
            } else {
                ('f', mode, fs::read(&path).unwrap())
            };
            found.insert(path.strip_prefix(&root).unwrap().to_owned(), row);
        }
    }
    found
}

#[test]
fn harmless_commands_leave_no_checkpoint() {
    let lab = project();
    lab.prompt("s-1", "go");
    lab.write("made.txt", b"x");
    for command in [
        "git status",
        "rm -f not-there",
        "echo x > new.log",
        "cp clean.txt other.txt",
        "git checkout -q feature",
        "git checkout -q -",
        "git stash list",
        "git branch --show-current",
        "ls node_modules",
        "echo rm -rf notes",
        "sed -n 1p app.db",
        "sed -i s/first/second/ docs/guide.md",
        "git checkout -q docs/guide.md clean.txt",
        "git push --dry-run",
        "cat app.db | grep x",
    ] {
        lab.bash("s-1", command);
    }
    lab.hook("s-1", "stop", &json!({}));
    // `git checkout docs/guide.md` took the edit away that `sed` had made.
    let titles: Vec<String> =
        lab.note().1.lines().filter(|line| line.contains("[!checkpoint] risk")).map(str::to_owned).collect();
    assert_eq!(titles, ["> [!checkpoint] risk: before `git checkout -q docs/guide.md clean.txt`"]);
}

#[test]
fn changed_sources_are_kept_beside_thousands_of_made_files() {
    let lab = MemoryLab::new();
    lab.write(".gitignore", b"node_modules/\n");
    for number in 0..20 {
        lab.write(&format!("src/{number}.rs"), b"first\n");
    }
    for number in 0..400 {
        lab.write(&format!("data/{number}.csv"), &[b'x'; 3000]);
    }
    lab.repository();
    for number in 0..20 {
        lab.write(&format!("src/{number}.rs"), format!("changed {number}\n").as_bytes());
    }
    for number in 0..3000 {
        lab.write(&format!("node_modules/{}/{number}.js", number % 50), format!("{number}").as_bytes());
    }
    // Every file has another time than git knows.
    lab.bash("s-0", "find . -path ./.git -prune -o -type f -exec touch {} +");
    lab.prompt("s-1", "go");
    lab.bash("s-1", "rm -rf *");
    lab.hook("s-1", "stop", &json!({}));
    // Its exit code tells whether something was refused; files that were left out are none of that.
    lab.cru(&["checkpoint", "restore", "latest"]);
    for number in 0..20 {
        assert_eq!(lab.files()[&format!("src/{number}.rs")], format!("changed {number}\n").as_bytes());
    }
}

#[test]
fn names_that_are_no_text_come_back() {
    let lab = project();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"home/code/odd \xff\n name"));
    cru::base::files::rename(&lab.path("home/code/app.db"), &lab.path("").join(odd)).unwrap();
    lab.prompt("s-1", "go");
    let before = tree(&lab);
    lab.bash("s-1", "git clean -fdq");
    lab.hook("s-1", "stop", &json!({}));
    lab.ok(&["checkpoint", "restore", "latest"]);
    assert_eq!(tree(&lab), before);
}

#[test]
fn what_lies_outside_is_named_first() {
    let lab = project();
    let outside = lab.path("home/list.txt");
    cru::base::files::rename(&lab.path("home/code/app.db"), &outside).unwrap();
    lab.prompt("s-1", "go");
    lab.bash("s-1", "rm ../list.txt");
    lab.hook("s-1", "stop", &json!({}));
    let refused = lab.cru(&["checkpoint", "restore", "latest"]);
    assert_eq!(refused.code, 1, "{}", refused.out);
    let line = refused.out.lines().find(|line| line.contains("outside of the project")).unwrap();
    assert!(!outside.exists());
    let command = line.split('`').nth(1).unwrap().strip_prefix("cru ").unwrap().to_owned();
    lab.ok(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(fs::read(&outside).unwrap(), b"a database\n");
}
