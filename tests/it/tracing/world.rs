//! A vault, and beside it a repository whose history the tests make.

#![expect(clippy::disallowed_methods, reason = "a person writes without cru")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cru::session::evidence_patch;
use cru::session::line_anchor::LineAnchor;

/// When the commands run.
pub(super) const NOW: &str = "2026-11-21T12:00:00Z";

/// `home/code` is the repository, `vault` the vault.
pub(super) struct TraceLab {
    temp: tempfile::TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl TraceLab {
    pub(super) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["vault/.cru", "vault/sessions", "vault/evidence", "home/code/src", "state"] {
            fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        Self { temp }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    /// Runs `cru` in the project.
    pub(super) fn cru(&self, args: &[&str]) -> Ran {
        self.cru_in("home/code", args)
    }

    pub(super) fn cru_in(&self, dir: &str, args: &[&str]) -> Ran {
        ran(&self.command(dir, args).output().unwrap())
    }

    /// Runs git in the repository; it must succeed.
    pub(super) fn git(&self, args: &[&str]) -> String {
        self.git_at("2026-11-20T10:00:00Z", args)
    }

    /// With this time as the author's and the committer's.
    pub(super) fn git_at(&self, time: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"])
            .args(["-c", "commit.gpgSign=false", "-c", "core.autocrlf=false", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.path("home/code"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", time)
            .env("GIT_COMMITTER_DATE", time)
            .output()
            .expect("these tests need git");
        let ran = ran(&output);
        assert_eq!(ran.code, 0, "git {args:?}: {}", ran.err);
        ran.out
    }

    /// Commits everything; its short id.
    pub(super) fn commit(&self, time: &str, subject: &str) -> String {
        self.git(&["add", "-A"]);
        self.git_at(time, &["commit", "-q", "-m", subject]);
        self.git(&["rev-parse", "--short=7", "HEAD"]).trim().to_owned()
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path("home/code").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path("home/code").join(path)).unwrap()
    }

    /// Writes a session note whose steps are `steps`.
    pub(super) fn note(&self, id: &str, head: &str, steps: &str) {
        let text = format!(
            "---\ntype: session\nsession_id: {id}\ntitle: Tides\nstatus: completed\nproject: ~/code\n\
             started: 2026-11-20T09:00:00Z\n{head}---\n# Tides\n\n## Heights @coder #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
             > [!user]\n> Keep heights above chart datum.\n\n**Tool calls:**\n{steps}"
        );
        self.put_note(id, &text);
    }

    pub(super) fn put_note(&self, id: &str, text: &str) {
        fs::write(self.path("vault/sessions").join(format!("{id}.md")), text).unwrap();
    }

    pub(super) fn note_text(&self, id: &str) -> String {
        fs::read_to_string(self.path("vault/sessions").join(format!("{id}.md"))).unwrap()
    }

    /// Adds what a step wrote to the evidence of a session: `first` is the line in the new file.
    pub(super) fn evidence(&self, id: &str, step: &str, path: &str, first: u64, lines: &[&str]) {
        let added = lines.iter().fold(String::new(), |text, line| text + "+" + line + "\n");
        let diff = format!("@@ -{},0 +{first},{} @@\n{added}", first - 1, lines.len());
        let file = self.path("vault/evidence").join(format!("{id}.patch"));
        let old = fs::read_to_string(file).unwrap_or_default();
        self.put_evidence(id, step, path, &diff);
        let file = self.path("vault/evidence").join(format!("{id}.patch"));
        fs::write(&file, old + &fs::read_to_string(&file).unwrap()).unwrap();
    }

    /// Makes the diff of one step all the evidence of a session.
    pub(super) fn put_evidence(&self, id: &str, step: &str, path: &str, diff: &str) {
        let entry = evidence_patch::entry(step, Some("2026-11-20T09:30:00Z".parse().unwrap()), path, diff);
        fs::write(self.path("vault/evidence").join(format!("{id}.patch")), entry).unwrap();
    }
}

/// `src/a.rs:3-4@1d3e5f70`
pub(super) fn anchor(path: &str, first: u64, lines: &[&str]) -> String {
    let anchor = LineAnchor::of(Some(first), lines.iter().copied()).unwrap();
    format!("{path}:{}@{}", anchor.place(), anchor.hash)
}

fn ran(output: &Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

/// A script that leaves a mark, for places from which nothing may be run.
#[cfg(unix)]
pub(super) fn trap(dir: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let script = dir.join("trap.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\ncat\n", dir.join("sprung").display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

impl TraceLab {
    /// Runs `cru` in the project with variables of its own.
    pub(super) fn cru_with(&self, vars: &[(&str, &str)], args: &[&str]) -> Ran {
        let mut command = self.command("home/code", args);
        command.envs(vars.iter().copied());
        ran(&command.output().unwrap())
    }

    /// `cru`, ready to be started in a folder.
    pub(super) fn command(&self, dir: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command
            .args(["--vault", self.path("vault").to_str().unwrap()])
            .args(args)
            .current_dir(self.path(dir))
            .env_remove("CRU_SESSION")
            .env_remove("CRU_VAULT")
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("home/.config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("CRU_NOW", NOW)
            .env("NO_COLOR", "1");
        command
    }

    /// Begins a session of the project that is the current one.
    pub(super) fn begin(&self, id: &str) {
        self.put_note(
            id,
            &format!(
                "---\ntype: session\nsession_id: {id}\ntitle: Samples\nstatus: active\nproject: ~/code\n\
                 started: 2026-11-21T11:00:00Z\n---\n# Samples\n\n## Normalise @coder #dev\n\n\
                 *2026-11-21T11:00:00Z* ^p-01\n\n> [!user]\n> Normalise the samples.\n"
            ),
        );
    }

    /// Closes it.
    pub(super) fn end(&self, id: &str) {
        let text = self.note_text(id).replace("status: active", "status: completed");
        self.put_note(id, &text);
    }

    /// `[run] allow` of the user's own configuration.
    pub(super) fn allow(&self, patterns: &[&str]) {
        fs::create_dir_all(self.path("home/.config/cru")).unwrap();
        fs::write(self.path("home/.config/cru/config.toml"), format!("[run]\nallow = {patterns:?}\n")).unwrap();
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.path("home/code").join(path).exists()
    }
}
