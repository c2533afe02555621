//! The first hour as README has it: each of its lines, in its order, in an empty home with invented transcripts.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cru::base::files;
use jiff::SignedDuration;
use serde_json::{Value, json};

/// An empty home with the transcripts of two sessions of Claude Code.
pub(crate) struct World {
    temp: tempfile::TempDir,
}

const DAY: i64 = 24 * 60 * 60;

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        world.transcript("11111111-0000-4000-8000-000000000001", "Nightly station import crashes", 28);
        world.transcript("22222222-0000-4000-8000-000000000002", "Names of harbours on the page", 3);
        world
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        let project = self.home().join("code/tidepool");
        files::create_dir(&project).unwrap();
        project
    }

    /// A session in which a test failed and was repaired, whose last line was written some days ago.
    fn transcript(&self, id: &str, title: &str, days: i64) {
        let common = |number: u32, kind: &str, message: &Value| {
            json!({
                "uuid": format!("{id}-{number}"), "parentUuid": (number > 1).then(|| format!("{id}-{}", number - 1)),
                "sessionId": id, "type": kind, "message": message, "cwd": self.project(), "version": "2.1.40",
                "isSidechain": false, "userType": "external", "timestamp": format!("2026-11-01T09:{number:02}:00.000Z"),
            })
        };
        let says = |number, content: Value| {
            let message = json!({
                "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                "content": content, "usage": {"input_tokens": 10, "output_tokens": 5},
            });
            common(number, "assistant", &message)
        };
        let call = |number, tool: &str, input: Value| {
            says(number, json!([{"type": "tool_use", "id": format!("t{number}"), "name": tool, "input": input}]))
        };
        let result = |number: u32, text: &str, failed: bool| {
            let part = json!({"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": text, "is_error": failed});
            common(number, "user", &json!({"role": "user", "content": [part]}))
        };
        let request = format!("{title}: find out why the import crash happens and repair it.");
        let lines = [
            common(1, "user", &json!({"role": "user", "content": request})),
            call(2, "Bash", json!({"command": "cargo test --test import"})),
            result(3, "test result: FAILED. 1 passed; 1 failed", true),
            call(4, "Write", json!({"file_path": self.project().join("src/import.rs"), "content": "fn import() {}\n"})),
            result(5, "File created successfully", false),
            call(6, "Bash", json!({"command": "cargo test --test import"})),
            result(7, "test result: ok. 2 passed; 0 failed", false),
            says(8, json!([{"type": "text", "text": format!("{title}: the import reads empty lines now.")}])),
            json!({"type": "custom-title", "customTitle": title, "sessionId": id}),
        ];
        let text = lines.map(|line| line.to_string()).join("\n") + "\n";
        let path = self.home().join(format!(".claude/projects/-home-mara-code-tidepool/{id}.jsonl"));
        files::create(&path, text.as_bytes()).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        // Some minutes more, so that no whole day is cut off by the time that the test takes.
        let written = cru::base::Env::real().now() - SignedDuration::from_secs(days * DAY - 600);
        file.set_modified(written.into()).unwrap();
    }

    pub(crate) fn command(&self, program: &str, dir: &Path) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_cru")).parent().unwrap();
        let mut command = Command::new(program);
        command.env_clear().current_dir(dir).env("HOME", self.home()).env("NO_COLOR", "1");
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        command
    }

    /// What a line prints; it must succeed.
    pub(crate) fn line(&self, line: &str, dir: &Path) -> String {
        let output = give(self.command("sh", dir).args(["-c", line]), "");
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{line}: {out}{errors}");
        out
    }

    /// Calls the command that the settings of Claude Code hold for an event, as it does.
    pub(crate) fn event(&self, name: &str, session: &str, dir: &Path, more: &Value) {
        let settings = files::read(&self.home().join(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_slice(&settings).unwrap();
        let command = settings["hooks"][name][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        let mut input = json!({"session_id": session, "cwd": dir, "hook_event_name": name});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let output = give(self.command("sh", dir).args(["-c", &command]), &input.to_string());
        assert_eq!(
            (output.status.code(), text(&output.stdout), text(&output.stderr)),
            (Some(0), String::new(), String::new())
        );
    }
}

/// A call without which a session is worth no note.
pub(crate) fn step() -> Value {
    json!({
        "tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "cargo build"},
        "tool_response": {"stdout": "Finished", "stderr": "", "interrupted": false},
    })
}

fn give(command: &mut Command, input: &str) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// The commands of a section of README, without the comments behind them.
fn commands(section: &str) -> Vec<String> {
    let readme = readme();
    let (_, rest) = readme.split_once(&format!("\n## {section}\n")).unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    let mut lines = Vec::new();
    let mut shell = false;
    for line in section.lines() {
        match line {
            "```sh" => shell = true,
            "```" => shell = false,
            line if shell => lines.push(line.split(" #").next().unwrap().trim().to_owned()),
            _ => {}
        }
    }
    lines
}

#[test]
fn the_first_hour_goes_as_readme_says() {
    let world = World::new();
    let (home, notes) = (world.home(), world.home().join("notes"));
    let lines = commands("The first hour");
    let [init, import, view, status, search, show, codify, read, install, hooks] = lines.as_slice() else {
        panic!("{lines:?}")
    };

    let said = world.line(init, &home);
    assert!(said.contains("created") && said.contains("Next: `cd") && said.contains("`cru import`"), "{said}");
    assert_eq!(files::read(&notes.join(".gitignore")).unwrap(), b"/.cru/local/\n/evidence/\n");

    // It goes on until a person ends it; tests of the view ask it.
    assert_eq!(view, "cru view");
    let said = world.line("cru import", &notes);
    assert!(said.contains("Claude Code") && std::fs::read_dir(notes.join("sessions")).unwrap().count() == 0, "{said}");
    // Nothing was imported yet, and this is when it matters.
    let said = world.line(status, &notes);
    assert!(said.contains("1 transcript will be deleted by Claude Code in 2 days"), "{said}");
    assert!(said.contains("1 of them is in no note yet"), "{said}");

    world.line(import, &notes);
    assert_eq!(std::fs::read_dir(notes.join("sessions")).unwrap().count(), 2);
    let said = world.line(status, &notes);
    assert!(said.contains("1 transcript will be deleted by Claude Code in 2 days"), "{said}");
    assert!(!said.contains("in no note") && !said.contains("not imported"), "{said}");

    assert!(world.line(search, &notes).contains("station-import-crashes"));
    let said = world.line(show, &notes);
    assert!(said.contains("cargo test --test import"), "{said}");
    let said = world.line(&format!("{show} import-crashes"), &notes);
    assert!(said.contains("Nightly station import crashes"), "{said}");
    assert!(world.line(codify, &notes).contains("type: workflow"));
    world.line(read, &notes);
    assert!(text(&files::read(&notes.join("prompt.txt")).unwrap()).contains("\"brief\": 1"));

    let config = home.join(".config/cru/config.toml");
    let said = world.line(&format!("{install} --dry-run"), &notes);
    assert!(said.contains("config.toml") && said.contains("+vault = ") && !config.exists(), "{said}");
    world.line(&format!("{install} --yes"), &notes);
    assert_eq!(text(&files::read(&config).unwrap()), format!("vault = {:?}\n", notes.to_str().unwrap()));

    let before = std::fs::read_dir(notes.join("sessions")).unwrap().count();
    for dir in [&notes, &home] {
        let said = world.line(hooks, dir);
        let wanted = format!("arrives in {}.", notes.display());
        assert!(said.contains("Test: an event from another folder") && said.contains(&wanted), "{said}");
    }
    assert_eq!(std::fs::read_dir(notes.join("sessions")).unwrap().count(), before, "no note of the test event");

    assert!(text(&files::read(&home.join(".claude.json")).unwrap()).contains("mcpServers"));

    // An event from another folder.
    world.event("UserPromptSubmit", "s-1", &world.project(), &json!({"prompt": "Draw the tides as a curve"}));
    world.event("PostToolUse", "s-1", &world.project(), &step());
    world.line("cru admin flush --all", &notes);
    assert!(world.line("cru search curve", &notes).contains("curve"));
}

/// The lines of all fences `sh` of a text, without comments.
fn fenced(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut shell = false;
    for line in text.lines() {
        match line {
            "```sh" => shell = true,
            line if line.starts_with("```") => shell = false,
            line if shell => lines.push(line.split(" #").next().unwrap().trim().to_owned()),
            _ => {}
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            files::put(&to, &files::read(&from).unwrap()).unwrap();
        }
    }
}

/// Lines of README and of the guide that need more than this home, and what they say then.
const NEEDS: [(&str, &str); 2] = [
    ("cru session codify --refine", "no agent is named"),
    ("cru --vault vault-example read --from answer.json 2026-11-16-refresh-tokens", "answer.json"),
];

#[test]
fn every_line_of_readme_and_guide_is_understood_in_any_home() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["README.md", "docs/guide.md"] {
        let world = World::new();
        world.transcript("33333333-0000-4000-8000-000000000003", "ok so lets look at the login flow", 1);
        let mut dir = world.home();
        let mut session = String::new();
        copy(&root.join("vault-example"), &world.home().join("checkout/vault-example"));
        let document = std::fs::read_to_string(root.join(name)).unwrap();
        let lines = fenced(&document);
        let own = lines.iter().filter(|line| {
            // What builds the program, and what would go on until somebody ends it.
            let is_build = line.starts_with("cargo ") || line.starts_with("mkdir ") || line.contains(" > ~/.local/");
            !is_build && !line.ends_with(" --watch")
        });
        let mut count = 0;
        for line in own {
            // A person is asked on a terminal.
            let asks = ["cru connect", "import --again", "lessons apply"];
            let yes = if asks.iter().any(|it| line.contains(it)) { " --yes" } else { "" };
            // The server goes on until a person ends it; its pages as files are the same.
            let files = if line.ends_with(" view") { " --html ~/pages" } else { "" };
            let is_example = line.starts_with("cru --vault vault-example ");
            let script =
                format!("{line}{yes}{files}; code=$?; printf '\\n@@%s@@%s@@%s' $code \"$PWD\" \"$CRU_SESSION\"");
            let checkout = world.home().join("checkout");
            let mut command = world.command("sh", if is_example { &checkout } else { &dir });
            command.env("CRU_SESSION", &session).env("EDITOR", "true").args(["-c", &script]);
            let output = give(&mut command, "");
            let (out, errors) = (text(&output.stdout), text(&output.stderr));
            let (said, end) = out.rsplit_once("\n@@").unwrap_or_else(|| panic!("{name}: {line}: {out}{errors}"));
            let end: Vec<&str> = end.split("@@").collect();
            if !is_example {
                (dir, session) = (PathBuf::from(end[1]), end[2].to_owned());
            }
            match NEEDS.iter().find(|(needs, _)| needs == line) {
                Some((_, words)) => {
                    assert!(format!("{said}{errors}").contains(words), "{name}: {line}: {said}{errors}");
                }
                // 1 says that nothing was found, or that something is to be looked at.
                None => assert!(["0", "1"].contains(&end[0]), "{name}: {line}: {}: {said}{errors}", end[0]),
            }
            assert!(!errors.contains("panicked"), "{name}: {line}: {errors}");
            count += 1;
        }
        assert!(count >= 10, "{name}: {lines:?}");
        let notes = world.home().join("notes");
        assert!(std::fs::read_dir(notes.join("sessions")).unwrap().count() >= 3, "{name}");
        if name == "docs/guide.md" {
            assert!(std::fs::read_dir(notes.join("workflows")).unwrap().count() > 0, "codify --interactive writes one");
        }
    }
}

#[test]
fn an_event_without_a_vault_waits_for_one() {
    let world = World::new();
    let project = world.project();
    world.line("cru hooks install --yes", &project);
    for (event, more) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Draw the tides as a curve"})),
        ("PostToolUse", step()),
    ] {
        world.event(event, "s-1", &project, &more);
    }
    let said = world.line("cru check hooks", &project);
    assert!(
        said.contains("finds no vault and is kept") && said.contains("3 events of 1 session found no vault"),
        "{said}"
    );

    // They come with the next event that has one.
    world.line("cru init notes", &world.home());
    let notes = world.home().join("notes");
    assert!(world.line("cru status", &notes).contains("3 events of hooks without a vault"));
    world.line("cru hooks install --yes", &notes);
    let said = world.line("cru check hooks", &project);
    assert!(said.contains("arrives in") && !said.contains("found no vault"), "{said}");
    assert!(!world.line("cru status", &notes).contains("Unfiled"));
    world.event("Stop", "s-1", &project, &json!({}));
    world.line("cru admin flush --all", &notes);
    assert!(world.line("cru search curve", &notes).contains("curve"));
}

#[test]
fn events_move_to_a_vault_also_where_the_hooks_are_installed_already() {
    let world = World::new();
    let (home, project) = (world.home(), world.project());
    let config = home.join(".config/cru/config.toml");
    let gone = format!("vault = {:?}\n", home.join("gone").to_str().unwrap());
    files::put(&config, gone.as_bytes()).unwrap();
    let said = world.line("cru hooks install --yes", &project);
    assert!(said.contains("gone, which is no vault: where it was moved"), "{said}");
    world.event("UserPromptSubmit", "s-1", &project, &json!({"prompt": "Draw the tides as a curve"}));
    assert!(world.line("cru check hooks", &project).contains("1 event of 1 session found no vault"));
    assert!(!home.join("gone").exists());

    world.line("cru init gone", &home);
    let said = world.line("cru hooks install --dry-run", &project);
    assert!(!said.contains("had found no vault moved"), "{said}");
    let said = world.line("cru hooks install", &project);
    assert!(said.contains("already installed") && said.contains("1 event that had found no vault moved"), "{said}");
    assert!(!world.line("cru check hooks", &project).contains("found no vault"));
}

/// Follows what the program says to do until nothing is said any more; the vault is where it was moved to.
#[test]
fn each_hint_of_a_moved_vault_leads_out() {
    let world = World::new();
    let (home, project) = (world.home(), world.project());
    let (notes, moved) = (home.join("notes"), home.join("moved"));
    world.line("cru init notes", &home);
    world.line("cru hooks install --yes", &notes);
    world.line("cru import --all", &notes);
    files::rename(&notes, &moved).unwrap();
    for line in ["cru status", "cru session list", "cru admin doctor"] {
        let output = give(world.command("sh", &project).args(["-c", line]), "");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains("`cru connect` in its new folder names that one"), "{line}: {said}");
    }
    let said = world.line("cru check hooks", &project);
    assert!(said.contains("Run `cru connect` in the vault to name it"), "{said}");
    let said = world.line("cru hooks install --yes", &project);
    assert!(said.contains("where it was moved, run `cru connect` in its new folder"), "{said}");
    assert!(!notes.exists(), "no second vault is made");
    // Within the vault all is well already, and the one command of every hint mends the rest.
    assert!(world.line("cru session list", &moved).contains("Nightly"));
    world.line("cru hooks install --yes", &moved);
    let config = std::fs::read_to_string(home.join(".config/cru/config.toml")).unwrap();
    assert_eq!(config.matches("vault = ").count(), 1, "{config}");
    for line in ["cru status", "cru session list", "cru admin doctor"] {
        world.line(line, &project);
    }
    let said = world.line("cru check hooks", &project);
    assert!(said.contains(&format!("arrives in {}", moved.display())), "{said}");
    world.event("UserPromptSubmit", "s-1", &project, &json!({"prompt": "Draw the tides as a curve"}));
    world.event("PostToolUse", "s-1", &project, &step());
    world.event("Stop", "s-1", &project, &json!({}));
    world.line("cru admin flush --all", &moved);
    assert!(world.line("cru search curve", &project).contains("curve"));
    // What was undone before the move can be undone behind it: the state came along.
    assert!(world.line("cru admin doctor", &moved).contains("state"));
}

#[test]
fn a_copied_vault_and_one_made_again_leave_the_first_alone() {
    let world = World::new();
    let (home, project) = (world.home(), world.project());
    world.line("cru init notes", &home);
    world.line("cru hooks install --yes", &home.join("notes"));
    world.line("cru import --all", &home.join("notes"));
    world.line("cp -r notes copy", &home);
    assert!(world.line("cru session list", &home.join("copy")).contains("Nightly"));
    let said = world.line("cru hooks install --yes", &home.join("copy"));
    assert!(said.contains("notes (`vault` in the user configuration)"), "a vault that was named stays: {said}");
    // Deleted and made again at its place: it is named, and is there.
    world.line("rm -r notes && cru init notes", &home);
    for line in ["cru status", "cru admin doctor", "cru check hooks"] {
        world.line(line, &project);
    }
}

#[test]
fn hooks_of_a_plugin_are_known_and_tested() {
    let world = World::new();
    let notes = world.home().join("notes");
    world.line("cru init notes", &world.home());
    let root = world.home().join("plugin");
    world.line("cru connect --plugin plugin", &world.home());
    let put = |path: &str, value: &Value| files::put(&world.home().join(path), value.to_string().as_bytes()).unwrap();
    put(".claude/settings.json", &json!({"enabledPlugins": {"cru@cru": true}}));
    put(".claude/plugins/installed_plugins.json", &json!({"plugins": {"cru@cru": [{"installPath": root}]}}));
    let said = world.line("cru check hooks", &notes);
    assert!(
        said.contains("plugin cru@cru: enabled, 12 events") && said.contains("finds no vault and is kept"),
        "{said}"
    );
    files::put(&world.home().join(".config/cru/config.toml"), format!("vault = {notes:?}\n").as_bytes()).unwrap();
    let said = world.line("cru check hooks", &notes);
    assert!(said.contains(&format!("arrives in {}.", notes.display())), "{said}");
}

#[test]
fn what_readme_says_of_its_first_command_is_true() {
    let lines = commands("Try it");
    assert_eq!(lines.last().map(String::as_str), Some("cargo test"));
    let ci = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run")).unwrap();
    let main = lines.iter().find(|line| line.contains("codify")).unwrap();
    assert!(ci.lines().any(|line| line == format!("step {main}")), "{main} is not the command of .ci/run");
    let args = lines[0].split_once(" -- ").unwrap().1;
    let output = Command::new(env!("CARGO_BIN_EXE_cru"))
        .args(args.split(' '))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let shown = text(&output.stdout);
    for said in [
        "## Parse the hourly file",
        "✗ Bash cargo test",
        "recovered at",
        "Correction",
        "◆ decision",
        "Why:",
        "◎ @reviewer",
    ] {
        assert!(shown.contains(said), "{said} is not in\n{shown}");
    }
}

#[test]
#[cfg(unix)]
fn the_extras_of_packages_are_written() {
    let temp = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = root.join("packaging/extras.sh");
    let done = Command::new("sh").arg(script).arg(env!("CARGO_BIN_EXE_cru")).arg(temp.path()).status().unwrap();
    assert!(done.success());
    let man = temp.path().join("man");
    let page = std::fs::read_to_string(man.join("cru-session-start.1")).unwrap();
    assert!(page.contains(".TH") && temp.path().join("completions/_cru").metadata().unwrap().len() > 1000);
    // Each page that a page refers to is there.
    let mut count = 0;
    for entry in std::fs::read_dir(&man).unwrap().flatten() {
        let page = std::fs::read_to_string(entry.path()).unwrap().replace("\\-", "-");
        for name in page.lines().filter_map(|line| line.strip_suffix("(1)")).filter(|name| name.starts_with("cru-")) {
            assert!(man.join(format!("{name}.1")).exists(), "{name} in {}", entry.path().display());
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}
