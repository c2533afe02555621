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

/// Branches, tags and stashes.
fn names(lab: &MemoryLab) -> String {
    let refs = lab.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags"]);
    refs + &lab.git(&["stash", "list", "--format=%H %gs"])
}

#[test]
fn what_commands_take_away_comes_back() {
    let commands = [
        "rm -rf *",
        "rm -rf notes src",
        "rm -rf notes/private && rm run.sh",
        "D=notes; rm -r \"$D\"",
        "for f in app.db local.env; do rm \"$f\"; done",
        "find . -name '*.rs' -delete",
        "find notes -type f -exec rm {} +",
        "find notes -type f -print0 | xargs -0 rm -f",
        "git checkout src/a.rs",
        "git checkout -- .",
        "git restore .",
        "git rm -rqf src",
        "git clean -fdq",
        "git clean -fdxq",
        "git clean -fdxq -e not-there",
        "git checkout -q -- ':/'",
        "git checkout -q -- '*.rs'",
        "git restore ':(top)src'",
        "mv notes old-notes && rm -rf old-notes",
        "bash <<'EOF'\nrm -rf notes\nEOF",
        "echo 'rm -rf notes' | sh",
        "bash -euo pipefail -c 'rm -rf notes'",
        "grep -rl changed src | xargs sed -i s/changed/gone/",
        "python3 -c \"p = 'app.db'; open(p, 'w')\"",
        "mkdir -p /tmp/cru-put-here && echo x > /tmp/cru-put-here/app.db && cp /tmp/cru-put-here/app.db .",
        "git reset -q --hard",
        "git stash -q",
        "git stash -qu",
        "git stash drop -q",
        "git stash clear",
        "git stash clear && git reflog expire --expire=now --all && git gc -q --prune=now",
        "git branch -qD feature",
        "git branch -qD feature old && git tag -d v1",
        "git branch -qD feature && git reflog expire --expire=now --all && git gc -q --prune=now",
        "git update-ref -d refs/heads/feature",
        "echo gone > src/a.rs",
        "echo gone | tee app.db",
        "truncate -s 0 app.db",
        "cp clean.txt app.db",
        "mv clean.txt src/a.rs; git checkout -q clean.txt",
        "dd if=/dev/null of=app.db status=none",
        "sed -i s/changed/gone/ src/a.rs",
        "python3 -c \"import shutil; shutil.rmtree('notes')\"",
        "python3 - <<'EOF'\nopen('app.db', 'w')\nEOF",
        "sh -c 'cd notes && rm -f new.txt'",
        "env A=1 rm -f app.db",
        "mkdir empty && cp -r empty/. notes && rm -rf notes; rmdir empty",
    ];
    let mut forced = Vec::new();
    for command in commands {
        let lab = project();
        lab.prompt("s-1", "go");
        let (files, refs) = (tree(&lab), names(&lab));
        lab.bash("s-1", command);
        // A new stash takes nothing from those that were there.
        let keeps_names = !command.starts_with("git stash -q");
        assert!(tree(&lab) != files || names(&lab) != refs, "{command} took nothing away");
        lab.hook("s-1", "stop", &json!({}));
        assert_eq!(lab.hook_log(), "", "{command}");
        // What a command wrote over a file may be a person's as far as the record tells: that is asked for.
        let first = lab.cru(&["checkpoint", "restore", "latest"]);
        let done = if first.code == 0 {
            first.out
        } else {
            assert!(
                first.out.contains("somebody else changed it") && first.out.contains("--force"),
                "{command}: {}",
                first.out
            );
            forced.push(command);
            lab.ok(&["checkpoint", "restore", "latest", "--force"])
        };
        let now = tree(&lab);
        let lost: Vec<_> = files.iter().filter(|(path, row)| now.get(*path) != Some(row)).collect();
        assert!(lost.is_empty(), "{command}: {lost:?}\n{done}");
        if keeps_names {
            assert_eq!(names(&lab), refs, "{command}\n{done}");
        }
        for line in refs.lines().filter(|line| line.starts_with("refs/")) {
            let id = line.split(' ').nth(1).unwrap();
            lab.git(&["cat-file", "-e", &format!("{id}^{{tree}}")]);
        }
    }
    println!("asked for: {forced:?}");
    assert!(forced.len() < 14, "{forced:?}");
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
fn a_file_is_found_by_its_name_and_goes_elsewhere() {
    let lab = project();
    lab.prompt("s-1", "go");
    lab.bash("s-1", "rm notes/new.txt");
    lab.wait(60);
    lab.bash("s-1", "rm app.db");
    lab.hook("s-1", "stop", &json!({}));
    let into = lab.path("elsewhere");
    lab.ok(&["checkpoint", "restore", "latest", "--into", into.to_str().unwrap()]);
    assert_eq!(fs::read(into.join("app.db")).unwrap(), b"a database\n");
    assert!(!tree(&lab).contains_key(Path::new("app.db")));
    let done = lab.ok(&["checkpoint", "restore", "notes/new.txt"]);
    assert_eq!(tree(&lab)[Path::new("notes/new.txt")].2, b"untracked\n", "{done}");
    assert!(!tree(&lab).contains_key(Path::new("app.db")), "only that file");
    assert_eq!(lab.cru(&["checkpoint", "restore", "no-such-file"]).code, 1);
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

#[test]
fn two_checkpoints_of_one_second_are_two() {
    let lab = project();
    lab.prompt("s-1", "go");
    lab.bash("s-1", "true");
    lab.hook("s-1", "stop", &json!({}));
    let session = lab.note().0.file_stem().unwrap().to_str().unwrap().to_owned();
    lab.at("2026-11-20T12:00:00Z");
    let call = json!({ "tool_name": "Bash", "tool_use_id": "t9", "tool_input": { "command": "rm app.db" } });
    lab.hook("s-1", "pre-tool", &call);
    lab.at("2026-11-20T12:00:00Z");
    for title in ["one", "two"] {
        lab.ok(&["checkpoint", title, "--session", &session]);
        lab.at("2026-11-20T12:00:00Z");
    }
    lab.ok(&["log", "checkpoint", "three", "--session", &session]);
    lab.ok(&["flush", "--all"]);
    let note = lab.note().1;
    let ids = super::world::checkpoints(&note);
    let mut once = ids.clone();
    once.sort();
    once.dedup();
    assert_eq!((ids.len(), once.len()), (4, 4), "{note}");
    for title in ["risk: before `rm app.db`", "manual: one", "manual: two", "manual: three"] {
        assert_eq!(note.matches(&format!("[!checkpoint] {title}\n")).count(), 1, "{title}: {note}");
    }
}
