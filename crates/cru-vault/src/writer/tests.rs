//! Writing a note, and what must hold whoever else writes it.

mod editor;
mod held;
mod kept;
mod states;
mod trouble;
mod undone;

use jiff::SignedDuration;

use super::*;
use crate::Journal;
use cru_base::Env;
use cru_session::op::Outcome;

const NOTE: &str =
    "---\ntype: session\nsession_id: s\ntitle: Tokens # mine\n---\n# Tokens\n\nMy words.\n\n## Build\n\n";
const KEY: &str = "s";

struct World {
    dir: tempfile::TempDir,
    vault: Vault,
    state: State,
    note: VaultPath,
    now: Timestamp,
}

fn world() -> World {
    world_with(NOTE)
}

fn world_with(text: &str) -> World {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("vault");
    files::create_dir(&root.join(".cru")).unwrap();
    files::create(&root.join("sessions/s.md"), text.as_bytes()).unwrap();
    let vault = Vault::open(&root).unwrap();
    let state = State::at(dir.path().join("state"));
    let now = "2026-11-21T12:00:00Z".parse().unwrap();
    World { vault, state, note: VaultPath::new("sessions/s.md").unwrap(), now, dir }
}

fn step(number: u32) -> Op {
    Op::Append { phase: None, text: format!("- `Bash run {number}` → ok ^n-{number:03}\n") }
}

fn words(text: &str) -> Op {
    Op::Append { phase: None, text: format!("> [!user]\n> \"{text}\"\n") }
}

fn plan(ops: Vec<Op>) -> Plan {
    Plan { ops, label: "log".to_owned(), ..Plan::default() }
}

impl World {
    fn writer(&self) -> Writer<'_> {
        Writer::new(&self.vault, &self.state, self.now)
    }

    fn write(&self, ops: &[Op]) -> Written {
        self.writer().write(KEY, &self.note, &mut |_, _| Ok(plan(ops.to_vec()))).unwrap()
    }

    fn fails(&self, ops: &[Op]) -> Error {
        self.writer().write(KEY, &self.note, &mut |_, _| Ok(plan(ops.to_vec()))).unwrap_err()
    }

    fn path(&self) -> PathBuf {
        self.vault.file(&self.note)
    }

    fn text(&self) -> String {
        String::from_utf8(files::read(&self.path()).unwrap()).unwrap()
    }

    /// What an editor does.
    fn save(&self, text: &str) {
        files::put(&self.path(), text.as_bytes()).unwrap();
    }

    fn revision(&self) -> u64 {
        cursor::read(self.text().as_bytes()).unwrap().revision
    }

    fn steps(&self) -> Vec<u32> {
        let text = self.text();
        let numbers = text.match_indices("^n-").map(|(at, _)| text[at + 3..at + 6].parse().unwrap());
        numbers.collect()
    }

    fn log(&self) -> Operations {
        Operations::at(self.state.operations(KEY))
    }

    fn copies(&self) -> Vec<String> {
        let dir = std::fs::read_dir(self.state.recovery(KEY)).into_iter().flatten();
        let mut texts: Vec<_> = dir.map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap()).collect();
        texts.sort();
        texts
    }

    fn beside(&self) -> Vec<String> {
        let dir = std::fs::read_dir(self.path().parent().unwrap()).unwrap();
        dir.map(|it| it.unwrap().file_name().into_string().unwrap()).filter(|name| name != "s.md").collect()
    }
}

#[test]
fn a_write_raises_the_revision_and_leaves_the_rest() {
    let world = world();
    let written = world.write(&[step(1)]);
    assert_eq!((written.revision, written.changed, written.again), (1, true, 0));
    assert_eq!(written.done[0].outcome, Outcome::Done);
    let text = world.text();
    let expected = NOTE.replace("# mine\n", &format!("# mine\ncru_cursor: r1 0 - - {}:1\n", world.state.writer()));
    assert!(text.starts_with(expected.trim_end()), "{text}");
    assert_eq!(world.steps(), [1]);
    assert_eq!(world.write(&[step(2), step(3)]).revision, 2);
    assert_eq!((world.steps(), world.revision()), (vec![1, 2, 3], 2));
    assert_eq!(world.beside(), [] as [&str; 0]);
}

#[test]
fn nothing_to_write_writes_nothing() {
    let world = world();
    let written = world.write(&[]);
    assert_eq!((written.changed, world.text().as_str()), (false, NOTE));
    assert!(!world.state.operations(KEY).exists());
    world.write(&[step(1)]);
    let before = files::fingerprint(&world.path()).unwrap();
    let log = files::read(&world.state.operations(KEY)).unwrap();
    assert_eq!(world.write(&[]).revision, 1);
    assert_eq!(files::fingerprint(&world.path()).unwrap(), before);
    assert_eq!(files::read(&world.state.operations(KEY)).unwrap(), log);
}

#[test]
fn consumed_without_a_change_is_remembered() {
    let world = world();
    world.write(&[step(1)]);
    let mark = Mark { generation: "g".to_owned(), end: 7 };
    let consumed: BTreeMap<_, _> = [("j".to_owned(), mark)].into();
    let mut known = Vec::new();
    for _ in 0..2 {
        let written = world.writer().write(KEY, &world.note, &mut |_, it| {
            known.push(it.consumed.clone());
            Ok(Plan { consumed: consumed.clone(), ..Plan::default() })
        });
        assert!(!written.unwrap().changed);
    }
    assert_eq!(known, [BTreeMap::new(), consumed]);
    assert_eq!(world.log().all().unwrap().len(), 2, "once");
    // A record without a write stands in the way of nothing.
    let old = world.text();
    world.write(&[step(2)]);
    world.save(&old);
    assert_eq!((world.write(&[]).again, world.steps()), (1, vec![1, 2]));
}
