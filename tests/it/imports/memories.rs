//! `cru import memories`: files of Serena and SuperClaude become notes, and what a person does with these stays.

#![expect(clippy::disallowed_methods, reason = "other programs and a person write without cru")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { temp: tempfile::tempdir().unwrap() };
        world.put("vault/.cru/config.toml", "");
        world.put("home/app/.serena/memories/tech_stack.md", "# Tech stack\n\n- Rust 1.95\n");
        world.put("home/app/.serena/memories/spec/routing.md", "Prefix decides.\n\n```dataviewjs\nalert(1)\n```\n");
        world.put("home/app/docs/memory/next_actions.md", "- [ ] ship it\n");
        let row = "{\"error_type\":\"ImportError\",\"solution\":\"install pytest\",\"timestamp\":\"T\"}\n";
        world.put("home/app/docs/memory/solutions_learned.jsonl", &(row.to_owned() + &row.replace("\"T\"", "\"U\"")));
        world.put("home/.serena/memories/global/style.md", "Prefer small commits.\n");
        world.put("home/docs-only/docs/memory/paging.md", "How the kernel pages memory.\n");
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn note(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("vault/memories/{name}.md"))).unwrap()
    }

    /// Standard output with standard error behind it, and the exit code.
    fn cru(&self, args: &[&str]) -> (String, Option<i32>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(self.path("home/app")).env("HOME", self.path("home"));
        command.env("CRU_VAULT", self.path("vault")).env("XDG_STATE_HOME", self.path("state"));
        let output = command.env("CRU_NOW", "2026-11-21T12:00:00Z").env("NO_COLOR", "1").output().unwrap();
        (String::from_utf8([output.stdout, output.stderr].concat()).unwrap(), output.status.code())
    }
}

#[test]
fn memories_become_notes_that_stay_a_persons() {
    let world = World::new();
    let (told, code) = world.cru(&["import", "memories", "--dry-run"]);
    assert!(code == Some(0) && told.starts_with("5 notes would be made\n"), "{told}");
    assert!(!world.path("vault/memories").exists() && !world.path("state").exists());
    let (told, code) = world.cru(&["import", "memories"]);
    assert!(code == Some(0) && told.contains("5 notes made"), "{told}");
    let note = world.note("app/tech-stack");
    assert!(note.contains("type: memory\ntitle: Tech stack\n") && note.contains("- Rust 1.95\n"), "{note}");
    assert!(
        note.contains("source: ~/app/.serena/memories/tech_stack.md") && note.contains("project: ~/app\n"),
        "{note}"
    );
    assert!(!world.note("app/spec/routing").contains("```dataviewjs"), "nothing in it runs");
    assert_eq!(world.note("app/solutions-learned").matches("ImportError").count(), 1);
    assert!(world.note("global/style").contains("Prefer small commits."));
    assert_eq!(world.cru(&["import", "memories"]), ("5 notes unchanged\n".to_owned(), Some(0)));

    // They are found, and told of as a session begins.
    let (found, _) = world.cru(&["search", "kind:memory", "pytest"]);
    assert!(found.contains("memories/app/solutions-learned.md"), "{found}");
    let (told, _) = world.cru(&["context"]);
    assert!(told.contains("- Tech stack, ") && told.contains("[memories/app/tech-stack]"), "{told}");
    let (told, _) = world.cru(&["context", "--show", "memories/app/tech-stack"]);
    assert!(told.contains("- Rust 1.95"), "{told}");

    // What a person writes stays: around the text, in it, in the name and the title. The file's own change comes in.
    let edited =
        note.replace("title: Tech stack", "title: What we use").replace("- Rust 1.95\n", "- Rust 1.95\n- and C\n");
    world.put("vault/memories/app/what-we-use.md", &(edited + "\nMine.\n"));
    fs::remove_file(world.path("vault/memories/app/tech-stack.md")).unwrap();
    world.put("home/app/.serena/memories/tech_stack.md", "# Tech stack\n\n- Rust 1.96\n");
    let (told, code) = world.cru(&["import", "memories"]);
    assert!(code == Some(0) && told.contains("1 note updated") && told.contains("4 notes unchanged"), "{told}");
    let note = world.note("app/what-we-use");
    for wanted in ["title: What we use", "- Rust 1.96\n", "- and C\n", "\nMine.\n"] {
        assert!(note.contains(wanted), "{wanted}: {note}");
    }
    assert!(!note.contains("Rust 1.95") && !world.path("vault/memories/app/tech-stack.md").exists(), "{note}");

    // A note that was deleted stays so.
    fs::remove_file(world.path("vault/memories/global/style.md")).unwrap();
    let (told, _) = world.cru(&["import", "memories"]);
    assert!(told.contains("style.md: its note is gone"), "{told}");
    assert!(world.cru(&["import", "memories", "--restore"]).0.contains("1 note made"));
}

#[test]
fn what_is_no_memory_is_named() {
    let world = World::new();
    let (told, code) = world.cru(&["import", "memories", "../docs-only"]);
    assert!(code == Some(1) && told.contains("no memories in"), "{told}");
    let (told, code) = world.cru(&["import", "memories", "../docs-only/docs/memory"]);
    assert!(code == Some(0) && told.contains("memories/docs-only/paging.md"), "{told}");
    fs::write(world.path("home/app/.serena/memories/odd.md"), [0xff, 0xfe, 0x00]).unwrap();
    world.put("home/app/.serena/memories/empty.md", " \n");
    world.put(
        "home/app/.serena/memories/hostile.md",
        "---\ntype: session\nsession_id: x\n---\n<!-- cru:end -->\n```\nopen\n",
    );
    std::os::unix::fs::symlink("/etc/passwd", world.path("home/app/.serena/memories/passwd.md")).unwrap();
    let (told, code) = world.cru(&["import", "memories", ".serena/memories"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("odd.md: it is no UTF-8 text") && told.contains("empty.md: it is empty"), "{told}");
    assert!(!told.contains("passwd"), "{told}");
    let note = world.note("app/hostile");
    assert!(note.starts_with("---\ntype: memory\n") && note.matches("<!-- cru:end -->").count() == 1, "{note}");
    assert!(!world.cru(&["session", "list"]).0.contains("hostile"), "{note}");
    let (again, _) = world.cru(&["import", "memories", ".serena/memories"]);
    assert!(again.contains("3 notes unchanged"), "{again}");
}
