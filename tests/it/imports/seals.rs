//! What a person wrote into a note or took out of it, by the seals in the vault. With the real binary.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cru::base::files;

use super::again::Desk;

fn seals(desk: &Desk) -> PathBuf {
    let mut paths = fs::read_dir(desk.path("vault/.cru/seals")).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.extension().is_some_and(|extension| extension == "txt")).unwrap()
}

/// A session of long ago: nothing of its note is kept in the machine state.
fn imported() -> Desk {
    let desk = Desk::new();
    desk.import(&[]);
    desk
}

#[test]
fn an_import_between_makes_no_edit_a_generated_text() {
    let desk = imported();
    desk.edit(|note| {
        note.replacen("title: ", "title: My own name, ", 1)
            .replacen("\n# ", "\n# My own heading, ", 1)
            .replacen("> Asked: ", "> Asked: my own words, ", 1)
            .replacen("Step 1 comes.", "Step 1 comes.\n\n%% a remark of mine %%", 1)
            .replacen(" ^n-003", " and a tick of mine ^n-003", 1)
    });
    let edited = desk.note().1;
    for _ in 0..2 {
        desk.import(&[]);
        desk.again(&["--yes"]);
        assert_eq!(desk.note().1, edited);
    }
    for level in ["full", "brief", "normal"] {
        desk.again(&["--yes", "--detail", level]);
        for mine in [
            "title: My own name, ",
            "# My own heading, ",
            "my own words, ",
            "%% a remark of mine %%",
            "a tick of mine ^n-003",
        ] {
            assert_eq!(desk.note().1.matches(mine).count(), 1, "{level}: {mine}\n{}", desk.note().1);
        }
    }
}

#[test]
fn a_step_that_was_deleted_does_not_come_back() {
    let desk = imported();
    let cut = |note: &str, id: &str| {
        let lines = note.lines().filter(|line| !line.ends_with(&format!(" ^{id}")));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    let has = |id: &str| desk.note().1.lines().any(|line| line.ends_with(&format!(" ^{id}")));
    desk.edit(|note| cut(note, "n-002"));
    for level in ["full", "normal", "brief", "normal"] {
        desk.again(&["--yes", "--detail", level]);
        assert!(!has("n-002"), "{level}");
    }
    assert!(has("n-001") && has("n-003"));
    // Taken out behind a renewal that had put it back.
    desk.edit(|note| cut(note, "n-001"));
    fs::remove_dir_all(desk.path("state")).unwrap();
    for level in ["brief", "normal", "brief", "full"] {
        desk.again(&["--yes", "--detail", level]);
        assert!(!has("n-001") && !has("n-002"), "{level}");
    }
    assert!(has("n-003"));
    // What the program took out comes back when that is undone, and when it is put back by hand it may be deleted again.
    desk.again(&["--yes", "--detail", "brief"]);
    assert!(desk.run(&["undo", "--session", "c0ffee00-0000-4000-8000-000000000009"]).0);
    assert!(has("n-003"));
    desk.edit(|note| cut(note, "n-003"));
    for level in ["brief", "normal"] {
        desk.again(&["--yes", "--detail", level]);
        assert!(!has("n-003"), "{level}");
    }
}

#[test]
fn without_seals_all_of_a_note_is_a_persons() {
    let desk = imported();
    files::remove(&seals(&desk)).unwrap();
    let first = desk.note().1;
    let said = desk.again(&["--yes", "--detail", "brief"]);
    assert!(said.contains("it has no seals, so all of it counts as yours") && said.contains("--trust"), "{said}");
    assert_eq!(desk.note().1, first);
    let (good, said) = desk.run(&["import", "--again", "--trust", "--detail", "brief"]);
    assert!(!good && said.contains("-- `Grep limit`") && said.contains("pass --yes"), "{said}");
    assert_eq!(desk.note().1, first);
    desk.edit(|note| note.replacen("Step 0 comes.", "Step 0 comes, I say.", 1));
    desk.again(&["--trust", "--yes", "--detail", "brief"]);
    let brief = desk.note().1;
    assert!(!brief.contains("`Grep limit`") && brief.contains("Step 0 comes, I say."), "{brief}");
    // From then on it has them.
    desk.again(&["--yes", "--detail", "normal"]);
    assert!(desk.note().1.contains("`Grep limit`") && desk.note().1.contains("Step 0 comes, I say."));
}

#[test]
fn what_a_note_without_seals_keeps_is_told_once() {
    let desk = imported();
    files::remove(&seals(&desk)).unwrap();
    let mut count = 0;
    let mut grow = || {
        count += 1;
        let transcript = fs::read_to_string(desk.transcript()).unwrap();
        let more: String = transcript.lines().skip(1).take(3).fold(String::new(), |more, line| {
            let line = line.replace("T09:", &format!("T1{count}:")).replace("-9000-", &format!("-{count}000-"));
            more + &line.replace("toolu_", &format!("toolu_{count}")) + "\n"
        });
        files::put(&desk.transcript(), (transcript + &more).as_bytes()).unwrap();
        let path = desk.path("in");
        desk.run(&["import", "claude", path.to_str().unwrap()]).1
    };
    let before = desk.note().1;
    let said = grow();
    assert!(said.contains("without seals in .cru/seals") && said.contains("--trust"), "{said}");
    assert!(!grow().contains("without seals"), "it is said once");
    let lines: Vec<&str> = before.lines().filter(|line| !line.starts_with("cru_cursor:")).collect();
    let after = desk.note().1;
    assert!(after.matches("Step 0 comes.").count() == 3, "what is new is added: {after}");
    let missing: Vec<&&str> = lines.iter().filter(|line| !after.lines().any(|it| it == **line)).collect();
    assert!(missing.is_empty(), "{missing:?}\n{after}");
}

#[test]
fn a_new_vault_in_the_place_of_another_starts_afresh() {
    let desk = imported();
    files::remove_derived(&desk.path("vault")).unwrap();
    for _ in 0..2 {
        let vault = desk.path("vault");
        assert!(desk.run(&["init", vault.to_str().unwrap()]).0);
        desk.import(&[]);
        let (path, _) = desk.note();
        // In one vault it stays deleted.
        files::remove(&path).unwrap();
        desk.import(&[]);
        assert_eq!(fs::read_dir(desk.path("vault/sessions")).unwrap().count(), 0);
        files::remove_derived(&vault).unwrap();
    }
}

/// A host and a container: one vault, two states under one name.
#[test]
fn two_states_of_one_machine_put_back_what_they_wrote() {
    let desk = Desk::new();
    let log = |state: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(desk.path("home")).env_clear().stdin(Stdio::null());
        command.env("HOME", desk.path("home")).env("XDG_STATE_HOME", desk.path(state));
        command.env("CRU_VAULT", desk.path("vault")).env("CRU_NOW", "2036-01-01T00:00:00Z");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let id = log("host", &["session", "start", "-q", "Pump"]);
    let note = |state: &str, text: &str| drop(log(state, &["log", "note", "--session", &id, text]));
    note("host", "word0");
    let buffer = desk.note().1;
    for round in 0..3 {
        note("box", &format!("box{round}"));
        note("host", &format!("host{round}"));
        note("host", &format!("again{round}"));
        desk.edit(|_| buffer.replacen("word0", "word0 of an old buffer", 1));
        note(if round % 2 == 0 { "box" } else { "host" }, &format!("last{round}"));
        for state in ["host", "box"] {
            log(state, &["flush", "--all"]);
            note(state, &format!("{state}end{round}"));
        }
    }
    let text = desk.note().1;
    let mut wanted = vec!["old buffer".to_owned()];
    for round in 0..3 {
        wanted.extend(["box", "host", "again", "last", "hostend", "boxend"].map(|word| format!("{word}{round}")));
    }
    for word in wanted {
        assert_eq!(text.matches(&word).count(), 1, "{word}: {text}");
    }
}

/// Numbers by chance, the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// The same as the property test of the library, with processes: how often is told by `CRU_TEST_SEEDS`.
#[test]
fn no_edit_is_lost_whatever_comes_between() {
    let seeds = cru::base::Env::real().var("CRU_TEST_SEEDS").and_then(|text| text.parse().ok()).unwrap_or(4);
    for seed in 0..seeds {
        let mut chance = Chance(seed);
        let desk = imported();
        let (mut words, mut gone, mut did): (Vec<String>, Vec<String>, Vec<String>) = Default::default();
        for number in 0..12 {
            let what = chance.below(12);
            did.push(what.to_string());
            match what {
                0..=4 => {
                    let word = format!("mine{number}");
                    let at = chance.below(100);
                    let before = desk.note().1;
                    let is = |line: &str| match what {
                        0 => line.starts_with("# "),
                        1 => line.starts_with("> Asked") || line.starts_with("> Result") || line.starts_with("> Files"),
                        2 => line.starts_with("Step "),
                        _ => line.starts_with("- `") && line.contains(" ^n-"),
                    };
                    let mut lines: Vec<String> = before.lines().map(str::to_owned).collect();
                    let all: Vec<usize> = (0..lines.len()).filter(|at| is(&lines[*at])).collect();
                    let Some(&line) = all.get(at % all.len().max(1)) else { continue };
                    if what == 4 {
                        let old = lines.remove(line);
                        while lines.get(line).is_some_and(|next| next.starts_with("    ")) {
                            lines.remove(line);
                        }
                        words.retain(|word| !old.contains(&format!("{word} ")));
                        gone.push(old.rsplit_once(" ^").unwrap().1.to_owned());
                    } else {
                        let old = lines[line].trim_end().to_owned();
                        lines[line] = match old.rsplit_once(" ^") {
                            Some((head, id)) => format!("{head} {word} ^{id}"),
                            None => format!("{old} {word} "),
                        };
                        words.push(word);
                    }
                    desk.edit(|_| lines.join("\n") + "\n");
                }
                5 => desk.import(&[]),
                6..=8 => drop(desk.again(&["--yes", "--detail", ["brief", "normal", "full"][what - 6]])),
                9 => drop(desk.run(&["undo", "--session", "c0ffee00-0000-4000-8000-000000000009"])),
                10 => files::remove_derived(&desk.path("state")).unwrap(),
                _ => files::remove_derived(&desk.path("vault/.cru/cache")).unwrap(),
            }
            let text = desk.note().1;
            for word in &words {
                assert_eq!(text.matches(&format!("{word} ")).count(), 1, "{seed}: {word} after {did:?}\n{text}");
            }
            for id in &gone {
                assert!(
                    !text.lines().any(|line| line.ends_with(&format!(" ^{id}"))),
                    "{seed}: {id} after {did:?}\n{text}"
                );
            }
        }
    }
}
