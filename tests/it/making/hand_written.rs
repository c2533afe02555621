//! A note that a person wrote by hand, in every form that the format allows: what it says is there wherever the session is
//! read again.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Sections with headings of the person's own, a decision without a title, a sub-agent in the plain form, corrections by
/// their title, by their place behind a refusal and by what the agent was stopped in, gates before the first step, after the
/// goals and after the checks.
const NOTE: &str = "---\ntype: session\nsession_id: hand\ntitle: Repair the pump\nproject: ~/pump\n---\n# Repair the pump\n\n\
    > [!gate] The owner agrees to stop the pump\n> By phone is enough.\n\n\
    ## Goals\n\n- the pump runs\n\n> [!gate] The budget is approved\n\n\
    ## Look at it @ann #shop\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Why does the pump leak?\"\n\n\
    - `Read pump.c` → 40 lines ^n-001\n    - reads: `pump.c`\n- `Edit pump.c` → ✗ denied by user ^n-002\n\n\
    > [!user]\n> \"Take the other valve.\"\n\n\
    > [!decision]\n> We use the red valve, it is in stock.\n> Why: delivery takes a week.\n> Rejected: the blue valve\n\n\
    > [!subagent] @tester\n> mode: inline\n> Measured the pressure twice. It holds.\n>\n> - `make pressure` → 4 bar\n\n\
    ## Mend it @ann #shop\n\n*2026-11-20T10:00:00Z* after: [[#^p-01]] ^p-02\n\n\
    - `Edit pump.c` → ok ^n-003\n    - writes: `pump.c`\n\n*Interrupted by the user.*\n\n\
    > [!user]\n> \"Never grease the hose.\"\n\n- `make test` → 3 passed ^n-004\n\n\
    > [!user] Correction\n> \"The seal goes in first.\"\n\n- `Edit seal.c` → ok ^n-005\n    - writes: `seal.c`\n\n\
    The valve is in. All tests pass.\n\n\
    ## Validation\n\n- `make test` passes\n\n> [!gate] The owner has seen it run\n";

/// What has to be there wherever the session is read again.
const KEPT: &[&str] = &[
    "The owner agrees to stop the pump",
    "By phone is enough",
    "The budget is approved",
    "The owner has seen it run",
    "Take the other valve.",
    "Never grease the hose.",
    "The seal goes in first.",
    "We use the red valve, it is in stock",
    "delivery takes a week",
    "the blue valve",
    "Measured the pressure twice. It holds.",
];

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        world.put("vault/.cru/config.toml", "");
        world.put("vault/sessions/hand.md", NOTE);
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        assert!(cru::base::files::create(&self.path(path), text.as_bytes()).unwrap());
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(self.path("vault")).env("NO_COLOR", "1").env("HOME", self.path("home"));
        command.env("XDG_STATE_HOME", self.path("state")).env("XDG_CONFIG_HOME", self.path("config"));
        command.env_remove("CRU_VAULT").env_remove("CRU_SESSION").output().unwrap()
    }

    /// What a command prints, which must succeed.
    fn told(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

fn has_all(text: &str, what: &str) {
    has(text, what, KEPT);
}

fn has(text: &str, what: &str, wanted: &[&str]) {
    // Words are compared without line ends and the marks of quotations.
    let plain = |text: &str| {
        let words = text.split_whitespace().filter(|word| !matches!(*word, ">" | "│"));
        words.collect::<Vec<_>>().join(" ")
    };
    let text = plain(text);
    for kept in wanted {
        assert!(text.contains(&plain(kept)), "{what}: {kept}\n{text}");
    }
}

#[test]
fn every_form_is_read_shown_resumed_and_codified() {
    let world = World::new();
    has_all(&world.told(&["session", "show", "hand"]), "show");
    has_all(&world.told(&["session", "show", "hand", "-f", "json"]), "show as data");
    has_all(&world.told(&["session", "resume", "hand", "--print"]), "resume");
    let made = world.told(&["session", "codify", "hand", "-o", "workflows/pump.md"]);
    assert!(made.contains("workflows/pump.md"), "{made}");
    has_all(&world.told(&["session", "codify", "hand"]), "codify");
    has_all(&world.told(&["session", "codify", "hand", "--dialect", "crucible"]), "codify in the other dialect");
}

/// Both dialects, there and back, and the ways out of a workflow.
#[test]
fn every_form_is_converted_and_exported() {
    let world = World::new();
    world.told(&["session", "codify", "hand", "-o", "workflows/pump.md"]);
    let crucible = world.told(&["workflow", "show", "pump", "--dialect", "crucible"]);
    has_all(&crucible, "converted");
    world.put("vault/workflows/other.md", &crucible);
    has_all(&world.told(&["workflow", "show", "other", "--dialect", "a"]), "converted back");
    for (format, file) in [("skill", "skills"), ("command", "pump.command.md")] {
        world.told(&["workflow", "export", "pump", "--to", format, "-o", file]);
    }
    let skill = std::fs::read_to_string(world.path("vault/skills/repair-the-pump/SKILL.md")).unwrap();
    has_all(&skill, "skill");
    has_all(&std::fs::read_to_string(world.path("vault/pump.command.md")).unwrap(), "command");
}

/// An agent that leaves all of it out gets it back.
#[test]
#[cfg(unix)]
fn every_form_survives_an_agent() {
    let world = World::new();
    let answer = "cat > /dev/null\ncat <<'E'\n---\ntype: workflow\ntitle: Repair the pump\n---\n# Repair the pump\n\n\
                  ## Look at it @ann #shop\n\npump.c → result\n\n## Let tester work @tester\n\n- Result: Measured the pressure twice. It holds.\n\n\
                  ## Mend it @ann #shop\n\nresult → seal.c\nE\n";
    world.put("agent.sh", answer);
    let agent = world.path("agent.sh");
    world.put("config/cru/config.toml", &format!("[agent]\ncommand = [\"sh\", \"{}\"]\n", agent.display()));
    let output = world.run(&["session", "codify", "hand", "--refine", "-o", "w.md"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let written = std::fs::read_to_string(world.path("vault/w.md")).unwrap_or_default();
    assert!(!written.is_empty(), "{said}");
    // Words behind a stop may be a further request: they are no rule, and an answer may leave them out.
    let rules: Vec<&str> = KEPT.iter().copied().filter(|it| *it != "Never grease the hose.").collect();
    has(&written, &said, &rules);
}
