//! A vault, a project with git, and an agent whose hooks call the program. Commands that an agent would run are really run.

#![expect(clippy::disallowed_methods, reason = "a person and an agent write without cru")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// `home/code` is a repository, `vault` the vault.
pub(super) struct MemoryLab {
    temp: tempfile::TempDir,
    now: std::cell::Cell<Timestamp>,
    vault: std::cell::RefCell<String>,
    /// Lines of the transcript of the host's sessions.
    calls: std::cell::Cell<u64>,
}

/// What a command did.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl MemoryLab {
    pub(super) fn new() -> Self {
        // Copies are whole, however busy the machine is.
        Self::with_config("[hooks]\nflush = \"inline\"\n[checkpoint]\nlimit_ms = 60000\n")
    }

    pub(super) fn with_config(config: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["vault/.cru", "vault/sessions", "home/code", "state", "transcripts"] {
            fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        fs::write(temp.path().join("vault/.cru/config.toml"), config).unwrap();
        let now = "2026-11-20T09:00:00Z".parse().unwrap();
        Self { temp, now: std::cell::Cell::new(now), calls: std::cell::Cell::new(0), vault: "vault".to_owned().into() }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    /// The time of the next command; it moves on by itself with events.
    pub(super) fn at(&self, time: &str) {
        self.now.set(time.parse().unwrap());
    }

    pub(super) fn wait(&self, seconds: i64) {
        self.now.set(self.now.get() + SignedDuration::from_secs(seconds));
    }

    fn command(&self, dir: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command
            .current_dir(self.path(dir))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("home/.config"))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("CRU_VAULT", self.path(&self.vault()))
            .env("CRU_NOW", self.now.get().to_string())
            .env("NO_COLOR", "1");
        command
    }

    /// Runs `cru` in the project.
    pub(super) fn cru(&self, args: &[&str]) -> Ran {
        self.cru_in("home/code", args, "")
    }

    pub(super) fn cru_in(&self, dir: &str, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(dir);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// The folder of the vault.
    pub(super) fn vault(&self) -> String {
        self.vault.borrow().clone()
    }

    /// Moves the vault to another folder.
    pub(super) fn move_vault(&self, to: &str) {
        fs::rename(self.path(&self.vault()), self.path(to)).unwrap();
        to.clone_into(&mut self.vault.borrow_mut());
    }

    /// Starts the program and kills it a moment later.
    pub(super) fn killed(&self, args: &[&str], input: &str) {
        let mut command = self.command("home/code");
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        std::thread::sleep(std::time::Duration::from_millis(15));
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// Runs what must succeed; its answer.
    pub(super) fn ok(&self, args: &[&str]) -> String {
        let ran = self.cru(args);
        assert_eq!(ran.code, 0, "{args:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    /// An event of a session, with the host's fields.
    pub(super) fn hook(&self, session: &str, event: &str, more: &Value) -> Ran {
        let mut input = json!({
            "session_id": session,
            "cwd": self.path("home/code"),
            "transcript_path": self.path(&format!("transcripts/{session}.jsonl")),
        });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        let ran = self.cru_in("home/code", &["hook", event], &input.to_string());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{event}");
        self.wait(1);
        ran
    }

    /// A call of the shell tool: the hook before it, the command itself, and the hook behind it.
    pub(super) fn bash(&self, session: &str, command: &str) -> i32 {
        self.bash_in(session, "home/code", command)
    }

    pub(super) fn bash_in(&self, session: &str, dir: &str, command: &str) -> i32 {
        let id = format!("toolu_{}", self.calls.replace(self.calls.get() + 1));
        let call = json!({
            "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": command }, "cwd": self.path(dir)
        });
        self.hook(session, "pre-tool", &call);
        let output = Command::new("bash")
            .args(["-c", command])
            .current_dir(self.path(dir))
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        let code = output.status.code().unwrap_or(-1);
        let mut done = call;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if code == 0 {
            done["tool_response"] = json!({ "stdout": said, "stderr": errors });
            self.hook(session, "post-tool", &done);
        } else {
            done["error"] = json!(format!("Exit code {code}\n{said}{errors}"));
            self.hook(session, "post-tool-failure", &done);
        }
        code
    }

    /// A call of the write tool.
    pub(super) fn edit(&self, session: &str, path: &str, text: &str) {
        let id = format!("toolu_{}", self.calls.replace(self.calls.get() + 1));
        let file = self.path("home/code").join(path);
        let kind = if file.exists() { "update" } else { "create" };
        let call = json!({
            "tool_name": "Write", "tool_use_id": id, "tool_input": { "file_path": file, "content": text }
        });
        self.hook(session, "pre-tool", &call);
        self.write(path, text.as_bytes());
        let mut done = call;
        done["tool_response"] = json!({ "type": kind, "filePath": file });
        self.hook(session, "post-tool", &done);
    }

    pub(super) fn prompt(&self, session: &str, words: &str) {
        self.hook(session, "prompt", &json!({ "prompt": words }));
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path("home/code").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Runs git in the project; it must succeed.
    pub(super) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main"])
            .args(["-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"])
            .args(args)
            .current_dir(self.path("home/code"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", "2026-11-19T10:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-11-19T10:00:00Z")
            .output()
            .expect("these tests need git");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Makes the project a repository with one commit of what is there.
    pub(super) fn repository(&self) {
        self.git(&["init", "-q"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    }

    /// Every file of the project but git's own, by path.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let root = self.path("home/code");
        let mut found = BTreeMap::new();
        let mut open = vec![root.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    if path.file_name().unwrap() != ".git" {
                        open.push(path);
                    }
                } else {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// The only note of a session in `sessions/`, and its path.
    pub(super) fn note(&self) -> (PathBuf, String) {
        let mut notes: Vec<PathBuf> =
            fs::read_dir(self.path("vault/sessions")).unwrap().flatten().map(|it| it.path()).collect();
        notes.retain(|path| path.extension().is_some_and(|end| end == "md"));
        assert_eq!(notes.len(), 1, "{notes:?}");
        let text = fs::read_to_string(&notes[0]).unwrap();
        (notes.remove(0), text)
    }

    pub(super) fn put_note(&self, id: &str, text: &str) {
        self.put(&format!("sessions/{id}.md"), text);
    }

    /// Writes a note of the vault.
    pub(super) fn put(&self, path: &str, text: &str) {
        let path = self.path("vault").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Reads a note of the vault.
    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path("vault").join(path)).unwrap()
    }

    /// What hooks could not do.
    pub(super) fn hook_log(&self) -> String {
        let mut log = String::new();
        for dir in fs::read_dir(self.path("state/cru")).into_iter().flatten().flatten() {
            log.push_str(&fs::read_to_string(dir.path().join("hook.log")).unwrap_or_default());
        }
        log
    }
}

/// The ids of the checkpoints that stand in a text, in order.
pub(super) fn checkpoints(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix('^').filter(|id| id.starts_with("cp-")))
        .map(str::to_owned)
        .collect()
}

/// Removes a folder that a test has made.
pub(super) fn remove_dir(path: &Path) {
    fs::remove_dir_all(path).unwrap();
}
