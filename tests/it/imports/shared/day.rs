//! A day with two machines that share a vault: git both ways, a conflict kept by hand, a sync service's copy, a moved vault,
//! a lost state folder, a deleted note and a deleted step. Nothing is lost, doubled or resurrected.

use super::*;

fn git(at: &Path, args: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]);
    command.args(args).current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.output().unwrap().status.success()
}

/// Commits all and takes what the other side has; whether that went without a conflict. Then the other side can take it.
fn pulled(at: &Path) -> bool {
    assert!(git(at, &["add", "-A"]));
    git(at, &["commit", "-qm", "notes"]);
    let merged = git(at, &["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"]);
    if merged {
        assert!(git(at, &["push", "-q", "origin", "HEAD:main"]));
    }
    merged
}

/// Keeps both sides of every conflict, as a person does who deletes the marker lines. Of the frontmatter, which holds one
/// value for each key, one side is kept.
fn keep_both(path: &Path, kept: &str) {
    let text = fs::read_to_string(path).unwrap();
    let (mut out, mut side, mut dashes) = (String::new(), None, 0);
    for line in text.split_inclusive('\n') {
        dashes += usize::from(side.is_none() && line.trim_end() == "---");
        match line.get(..7) {
            Some("<<<<<<<") => side = Some("ours"),
            Some("=======") if side.is_some() => side = Some("theirs"),
            Some(">>>>>>>") if side.is_some() => side = None,
            _ if dashes < 2 && side.is_some_and(|side| side != kept) => {}
            _ => out.push_str(line),
        }
    }
    fs::write(path, out).unwrap();
}

fn insert_after(path: &Path, mark: &str, line: &str) {
    let text = fs::read_to_string(path).unwrap();
    let at = text.find(mark).unwrap_or_else(|| panic!("{mark}: {text}"));
    let end = at + text[at..].find('\n').unwrap() + 1;
    fs::write(path, format!("{}\n{line}\n{}", &text[..end], &text[end..])).unwrap();
}

fn append(path: &Path, line: &str) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, format!("{text}\n{line}\n")).unwrap();
}

#[test]
fn nothing_is_lost_doubled_or_resurrected() {
    day("ours");
}

#[test]
fn the_older_cursor_doubles_nothing() {
    day("theirs");
}

/// `kept` is the side of the frontmatter that is kept in a conflict.
fn day(kept: &str) {
    let world = World::new();
    let (hub, first, second) = (world.path("hub.git"), world.path("vault"), world.path("other"));
    fs::create_dir_all(&hub).unwrap();
    assert!(git(&hub, &["init", "-q", "--bare", "-b", "main"]));
    let mut one = world.machine("one", "vault");
    assert_eq!(one.cru(&["init"]).2, Some(0));
    one.import(&[]);
    assert!(git(&first, &["init", "-q", "-b", "main"]));
    assert!(git(&first, &["remote", "add", "origin", hub.to_str().unwrap()]));
    assert!(git(&first, &["add", "-A"]) && git(&first, &["commit", "-qm", "notes"]));
    assert!(git(&first, &["push", "-q", "origin", "main"]));
    assert!(git(world.temp.path(), &["clone", "-q", hub.to_str().unwrap(), "other"]));
    // The second machine has the transcripts as they were in the morning.
    let two = world.machine("two", "other");
    assert_eq!(two.import(&[]), json!({ "unchanged": 2 }));
    let name = one.note(SESSION).strip_prefix(&first).unwrap().to_owned();
    let note = |vault: &Path| vault.join(&name);

    // A person writes in the middle there, the session goes on here.
    let replies = ["Eleven stand.", "Nine are lit.", "Two are dark.", "The keeper is away."];
    insert_after(&note(&second), "Eleven stand.", "Written on the second machine.");
    assert!(pulled(&second));
    one.transcript(SESSION, "Count the lighthouses", &replies[..3]);
    assert_eq!(one.import(&[]), json!({ "unchanged": 1, "updated": 1 }));
    assert!(pulled(&first), "both sides change other places");
    assert!(pulled(&second));

    // Both write at the end: git leaves markers, a person keeps both sides.
    append(&note(&second), "Appended on the second machine.");
    assert!(pulled(&second));
    one.transcript(SESSION, "Count the lighthouses", &replies);
    one.import(&[]);
    append(&note(&first), "Appended on the first machine.");
    if !pulled(&first) {
        let (said, _, code) = one.cru(&["check"]);
        assert!(code == Some(1) && said.contains("conflict"), "{said}");
        keep_both(&note(&first), kept);
        assert!(git(&first, &["add", "-A"]) && git(&first, &["commit", "-qm", "both"]));
        assert!(git(&first, &["push", "-q", "origin", "HEAD:main"]));
    }
    assert!(pulled(&second));
    one.import(&[]);
    two.import(&[]);
    assert!(pulled(&second) && pulled(&first) && pulled(&second));

    // A sync service leaves a copy in which somebody wrote.
    let copy = note(&second).with_extension("sync-conflict-20261201-101500-ABCDEFG.md");
    fs::copy(note(&second), &copy).unwrap();
    append(&copy, "Written in the copy.");
    let named = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let merged = two.cru(&["merge", &named(&note(&second)), copy.strip_prefix(&second).unwrap().to_str().unwrap()]);
    assert_eq!(merged.2, Some(0), "{merged:?}");

    // A note and a step are deleted there.
    fs::remove_file(two.note(OTHER)).unwrap();
    let text = fs::read_to_string(note(&second)).unwrap();
    let line = text.lines().find(|line| line.contains("`Bash ls 1`")).unwrap_or_else(|| panic!("{text}")).to_owned();
    fs::write(note(&second), text.replacen(&format!("{line}\n"), "", 1)).unwrap();
    assert!(pulled(&second) && pulled(&first));
    one.import(&[]);

    // The vault moves here, and the machine loses its state.
    one.vault = world.path("moved");
    fs::rename(&first, &one.vault).unwrap();
    one.import(&[]);
    fs::remove_dir_all(one.home.join(".local/state")).unwrap();
    one.import(&[]);
    two.import(&[]);
    assert!(pulled(&one.vault) && pulled(&second) && pulled(&one.vault));

    let vaults = [one.vault.clone(), second.clone()];
    let texts: Vec<String> = vaults.iter().map(|vault| fs::read_to_string(note(vault)).unwrap()).collect();
    for (text, machine) in texts.iter().zip([&one, &two]) {
        let (_, phases) = text.split_once("\n## ").unwrap();
        let written = ["Written on the second machine.", "Appended on the second machine.", "Written in the copy."];
        for line in written.iter().chain(&replies).chain(&["Appended on the first machine."]) {
            assert_eq!(phases.matches(line).count(), 1, "{line}: {text}");
        }
        for (step, count) in [("ls 0", 1), ("ls 1", 0), ("ls 2", 1), ("ls 3", 1)] {
            assert_eq!(text.matches(&format!("`Bash {step}`")).count(), count, "{step}: {text}");
        }
        let others = machine.notes().iter().filter(|path| fs::read_to_string(path).unwrap().contains(OTHER)).count();
        assert_eq!((machine.notes().len(), others), (1, 0), "a deleted note came back");
        let before = text.clone();
        machine.import(&[]);
        assert_eq!(fs::read_to_string(note(&machine.vault)).unwrap(), before, "a second import changes nothing");
        let (said, errors, code) = machine.cru(&["check"]);
        assert_eq!(code, Some(0), "{said}{errors}");
    }
    assert_eq!(texts[0], texts[1]);
}
