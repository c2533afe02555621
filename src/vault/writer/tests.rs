use jiff::SignedDuration;

use super::*;
use crate::base::Env;
use crate::session::op::Outcome;
use crate::vault::Journal;

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
    let expected = NOTE.replace("# mine\n", "# mine\ncru_cursor: \"r1 0 - -\"\n");
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

#[test]
fn an_old_buffer_gets_what_it_lacks() {
    let world = world();
    world.write(&[step(1)]);
    let buffer = world.text();
    world.write(&[step(2)]);
    world.write(&[step(3)]);
    let lost = buffer.replace("My words.", "My other words.");
    world.save(&lost);
    let written = world.write(&[step(4)]);
    assert_eq!((written.again, written.revision, written.done.len()), (2, 4, 1));
    assert_eq!(world.steps(), [1, 2, 3, 4]);
    assert!(world.text().contains("My other words."));
    assert!(world.copies().contains(&lost), "as it was saved");
    // The same buffer again, and nothing new to write.
    world.save(&buffer);
    let written = world.write(&[]);
    assert_eq!((written.again, written.changed, written.revision), (3, true, 5));
    assert_eq!(world.steps(), [1, 2, 3, 4]);
    assert_eq!(world.write(&[]).again, 0);
}

#[test]
fn what_a_person_deleted_stays_deleted() {
    let world = world();
    let delete = |number: u32| {
        let text = world.text();
        let line = text.lines().find(|line| line.ends_with(&format!("^n-{number:03}"))).unwrap().to_owned();
        text.replace(&format!("{line}\n"), "")
    };
    world.write(&[step(1), step(2)]);
    world.save(&delete(1));
    world.write(&[step(3)]);
    assert_eq!(world.steps(), [2, 3]);
    // Deleted in a buffer that is old for other reasons: that it had is not brought back.
    let buffer = delete(2);
    world.write(&[step(4)]);
    world.save(&buffer);
    world.write(&[]);
    assert_eq!(world.steps(), [3, 4]);
    // Deleted in a text that was healed in between.
    let buffer = delete(3);
    world.save(&buffer);
    world.write(&[step(5)]);
    world.save(&buffer);
    world.write(&[]);
    assert_eq!(world.steps(), [4, 5]);
}

#[test]
fn a_lost_revision_is_found_again() {
    let world = world();
    world.write(&[step(1), words("one")]);
    world.write(&[step(2)]);
    let without = |text: &str| {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("cru_cursor")).collect();
        lines.join("\n") + "\n"
    };
    // The key alone.
    world.save(&without(&world.text()));
    let written = world.write(&[]);
    assert_eq!((written.again, written.changed, world.revision()), (0, true, 3));
    assert_eq!(world.steps(), [1, 2]);
    // The whole frontmatter, of an old buffer.
    let buffer = world.text();
    world.write(&[step(3)]);
    world.save(buffer.split_once("---\n# ").unwrap().1);
    assert_eq!(world.write(&[step(4)]).again, 1);
    assert_eq!((world.steps(), world.revision()), (vec![1, 2, 3, 4], 5));
    // A buffer of the time before the first write.
    world.save(NOTE);
    world.write(&[]);
    assert_eq!(world.steps(), [1, 2, 3, 4]);
}

#[test]
fn a_typed_revision_does_no_harm() {
    let world = world();
    world.write(&[step(1)]);
    for typed in ["r18446744073709551615 0 - -", "r-1", "x", "[]", "r0 0 - -"] {
        world.save(&world.text().replace(&format!("r{} 0 - -", world.revision()), typed));
        world.write(&[]);
        assert_eq!(world.steps(), [1], "{typed}");
    }
    // Ahead of the log, as after a write of another machine: that is so.
    world.save(&world.text().replace(&format!("r{} 0", world.revision()), "r70 0"));
    assert_eq!(world.write(&[step(2)]).revision, 71);
}

#[test]
fn lost_state_is_begun_anew() {
    let world = world();
    world.write(&[step(1)]);
    world.write(&[step(2)]);
    std::fs::remove_dir_all(world.state.dir()).unwrap();
    assert_eq!(world.write(&[step(3)]).revision, 3);
    assert_eq!(world.steps(), [1, 2, 3]);
}

#[test]
fn a_faster_editor_is_no_loss_and_no_double() {
    let world = world();
    world.write(&[words("go on")]);
    let mut calls = 0;
    let written = world.writer().write(KEY, &world.note, &mut |_, known| {
        calls += 1;
        let mut consumed = known.consumed.clone();
        if consumed.is_empty() {
            world.save(&world.text().replace("My words.", "Faster."));
            consumed.insert("j".to_owned(), Mark { generation: "g".to_owned(), end: 1 });
            let made = [("entry".to_owned(), "n-001".to_owned())].into();
            // The same words as before, without an id: said twice.
            return Ok(Plan { ops: vec![words("go on"), step(1)], consumed, made, ..plan(Vec::new()) });
        }
        Ok(Plan::default())
    });
    let written = written.unwrap();
    assert_eq!((calls, written.changed, written.done.len()), (2, true, 2));
    assert!(written.done.iter().all(|done| done.outcome == Outcome::Done), "{:?}", written.done);
    assert_eq!(written.made["entry"], "n-001");
    assert_eq!(world.text().matches("go on").count(), 2);
    assert_eq!(world.steps(), [1]);
    assert!(world.text().contains("Faster."));
    let past = world.writer().history(KEY).unwrap();
    assert_eq!(past.iter().map(|past| past.revision).collect::<Vec<_>>(), [1, 2], "told once");
}

#[test]
fn a_refused_write_is_repeated_only_for_what_it_was_computed_for() {
    let world = world();
    world.write(&[step(1)]);
    let old = world.text();
    world.write(&[step(2)]);
    // Decided for a text with step 2, then twice refused for an old buffer without it.
    let mut call = 0;
    let written = world.writer().write(KEY, &world.note, &mut |_, _| {
        call += 1;
        match call {
            1 | 2 => world.save(&old.replace("My words.", &format!("Words {call}."))),
            _ => {}
        }
        Ok(plan(if call == 1 { vec![step(3)] } else { Vec::new() }))
    });
    assert_eq!((call, written.unwrap().revision), (3, 3));
    assert_eq!(world.steps(), [1, 2, 3]);
    assert!(world.text().contains("Words 2."));
}

/// One attempt while an editor is at work: which of the texts that ever stood there it saves, whether with its own words
/// and whether without its revision; and whether there is a new step to write.
type Tried = (Option<(proptest::sample::Index, bool, bool)>, bool);

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    /// Every text that stands there has all that was written up to its revision, whatever is saved in between.
    #[test]
    fn no_old_buffer_takes_a_step_away(
        writes in proptest::collection::vec(proptest::collection::vec(tried(), 1..6), 1..8),
    ) {
        let world = world();
        let mut texts = vec![world.text()];
        let mut number = 0;
        for tries in &writes {
            let mut tries = tries.iter();
            let written = world.writer().write(KEY, &world.note, &mut |_, _| {
                let Some((saved, more)) = tries.next() else { return Ok(plan(Vec::new())) };
                if let Some((which, edited, bare)) = saved {
                    let mut text: String = which.get(&texts).clone();
                    if *edited {
                        text = text.replace("My words.", &format!("My words. {}", texts.len()));
                    }
                    if *bare {
                        text = text.split_inclusive('\n').filter(|line| !line.starts_with("cru_cursor")).collect();
                    }
                    world.save(&text);
                    texts.push(text);
                }
                number += u32::from(*more);
                Ok(plan(if *more { vec![step(number)] } else { Vec::new() }))
            });
            written.unwrap();
            // The last save may have come after all was read; the next contact finds it.
            texts.push(world.text());
            world.write(&[]);
            texts.push(world.text());
            let mut steps = world.steps();
            steps.sort_unstable();
            proptest::prop_assert_eq!(steps, (1..=number).collect::<Vec<_>>());
        }
    }
}

fn tried() -> impl proptest::strategy::Strategy<Value = Tried> {
    let saved = (
        proptest::prelude::any::<proptest::sample::Index>(),
        proptest::prelude::any::<bool>(),
        proptest::bool::weighted(0.1),
    );
    (proptest::option::weighted(0.8, saved), proptest::bool::weighted(0.4))
}

#[test]
fn an_editor_that_never_rests_leaves_it_to_the_next_contact() {
    let world = world();
    let mut number = 0;
    let mut first = true;
    let error = world.writer().write(KEY, &world.note, &mut |_, _| {
        number += 1;
        world.save(&NOTE.replace("My words.", &format!("Words {number}.")));
        Ok(if std::mem::take(&mut first) { plan(vec![step(1)]) } else { Plan::default() })
    });
    assert!(matches!(error, Err(Error::Changed { .. })), "{error:?}");
    assert_eq!(world.steps(), [] as [u32; 0]);
    assert_eq!(world.log().all().unwrap().len(), 1, "decided once, however often it is tried");
    world.write(&[step(2)]);
    assert_eq!(world.steps(), [1, 2]);
    assert!(world.text().contains(&format!("Words {number}.")));
    assert_eq!(world.beside(), [] as [&str; 0]);
}

#[test]
fn a_record_without_its_write_is_made_good() {
    let world = world();
    world.write(&[words("go on")]);
    let before = world.text();
    world.write(&[words("go on"), step(1)]);
    // As a kill leaves it between the record and the exchange, and once more.
    for _ in 0..2 {
        world.save(&before);
        world.write(&[]);
        assert_eq!(world.text().matches("go on").count(), 2, "the exact text is still there, so nothing was done");
        assert_eq!(world.steps(), [1]);
    }
}

#[test]
fn a_note_that_is_gone_is_told() {
    let world = world();
    files::remove(&world.path()).unwrap();
    let error = world.fails(&[step(1)]);
    assert!(matches!(&error, Error::Missing { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("journal/s.jsonl"), "{error:?}");
    assert_eq!(world.beside(), [] as [&str; 0]);
    assert!(!world.path().exists() && !world.state.operations(KEY).exists());
}

#[cfg(unix)]
#[test]
fn a_note_that_may_not_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = world();
    std::fs::set_permissions(world.path(), std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = world.fails(&[step(1)]);
    assert!(matches!(&error, Error::Io { .. }), "{error:?}");
    assert!(error.to_string().contains("sessions/s.md"), "{error}");
    assert!(error.hint().unwrap().contains("the next command tries again"), "{error:?}");
    assert!(!world.state.operations(KEY).exists(), "nothing is decided, so the journal keeps it");
    std::fs::set_permissions(world.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    world.write(&[step(1)]);
    assert_eq!(world.steps(), [1]);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_outside_the_vault() {
    let world = world();
    let outside = world.dir.path().join("outside.md");
    files::create(&outside, NOTE.as_bytes()).unwrap();
    files::remove(&world.path()).unwrap();
    std::os::unix::fs::symlink(&outside, world.path()).unwrap();
    let error = world.fails(&[step(1)]);
    assert!(error.to_string().contains("leads out of the vault"), "{error}");
    assert_eq!(files::read(&outside).unwrap(), NOTE.as_bytes());
}

#[test]
fn a_broken_note_is_left_and_told() {
    let world = world_with("---\ntype: session\nno end\n");
    let error = world.fails(&[step(1)]);
    assert!(error.to_string().starts_with("sessions/s.md: "), "{error}");
    assert!(error.hint().unwrap().contains("mend the note"), "{error:?}");
    assert!(!world.state.operations(KEY).exists());
}

#[test]
fn bytes_that_are_no_text_stay() {
    let world = world();
    let odd = [NOTE.as_bytes(), b"\xff\xfe caf\xe9\r\n"].concat();
    files::put(&world.path(), &odd).unwrap();
    world.write(&[step(1)]);
    let bytes = files::read(&world.path()).unwrap();
    assert!(memchr::memmem::find(&bytes, b"\xff\xfe caf\xe9\r\n").is_some());
    let undone = world.writer().undo(KEY, &world.note, Which::Newest(1), false).unwrap();
    assert_eq!(undone.revision, Some(2));
    let bytes = files::read(&world.path()).unwrap();
    assert!(bytes.ends_with(b"\xff\xfe caf\xe9\r\n"));
}

#[test]
fn two_bases_are_kept_and_only_whole_ones_known() {
    let world = world();
    let mut known = Vec::new();
    let mut number = 0;
    let mut write = |text: Option<&str>| {
        number += 1;
        let written = world.writer().write(KEY, &world.note, &mut |_, it| {
            known.push(it.base.clone());
            Ok(Plan { base: text.map(str::to_owned), ..plan(vec![step(number)]) })
        });
        written.unwrap();
    };
    for text in [Some("a"), Some("b"), None, Some("c"), Some("c"), None] {
        write(text);
    }
    let base = |revision| world.state.base(KEY, revision).exists();
    assert_eq!((1..=6).map(base).collect::<Vec<_>>(), [false, true, false, true, false, false]);
    files::put(&world.state.base(KEY, 4), b"half").unwrap();
    write(None);
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(known, [None, some("a"), some("b"), some("b"), some("c"), some("c"), None]);
}

#[test]
fn the_cursor_follows_the_transcript_and_the_log() {
    let world = world();
    let at =
        |records: u64| Consumed { records, last: Some("abc".to_owned()), hash: "ff".to_owned(), ..Consumed::default() };
    let write = |records, ops: Vec<Op>| {
        let plan = Plan { cursor: Some(at(records)), ..plan(ops) };
        world.writer().write(KEY, &world.note, &mut |_, _| Ok(plan.clone())).unwrap()
    };
    write(10, vec![step(1)]);
    assert!(world.text().contains("cru_cursor: r1 10 abc ff\n"));
    assert!(!write(10, Vec::new()).changed, "the same again");
    let buffer = world.text();
    assert!(write(20, Vec::new()).changed);
    world.save(&buffer);
    let seen = std::cell::RefCell::new(String::new());
    world
        .writer()
        .write(KEY, &world.note, &mut |note, _| {
            *seen.borrow_mut() = note.text().to_owned();
            Ok(Plan::default())
        })
        .unwrap();
    assert!(seen.borrow().contains("cru_cursor: r2 20 abc ff\n"), "the plan sees how far it is");
    assert!(world.text().contains("cru_cursor: r3 20 abc ff\n"));
}

#[test]
fn copies_are_kept_once_a_day_and_twenty() {
    let mut world = world();
    world.write(&[step(1)]);
    world.write(&[step(2)]);
    assert_eq!(world.copies(), [NOTE]);
    for number in 3..30 {
        world.now += SignedDuration::from_hours(24);
        world.write(&[step(number)]);
    }
    assert_eq!(world.copies().len(), 20);
    assert!(!world.copies().contains(&NOTE.to_owned()), "the oldest goes");
}

#[test]
fn the_journal_goes_when_its_revision_was_seen() {
    let mut world = world();
    let journal = Journal::at(world.state.journal(KEY));
    journal.append(&1, world.now).unwrap();
    let write = |world: &World| {
        let plan = &mut |_: &Note, known: &Known| {
            let read = Journal::at(world.state.journal(KEY)).read(known.consumed.get(KEY))?;
            let ops = read.entries.iter().map(|entry| step(entry.event.get().parse().unwrap())).collect();
            Ok(Plan { consumed: [(KEY.to_owned(), read.mark)].into(), ..plan(ops) })
        };
        world.writer().write(KEY, &world.note, plan).unwrap()
    };
    write(&world);
    write(&world);
    assert!(journal.path().exists());
    world.now += SignedDuration::from_mins(11);
    write(&world);
    assert!(!journal.path().exists());
    journal.append(&2, world.now).unwrap();
    write(&world);
    assert_eq!(world.steps(), [1, 2]);
}

#[test]
fn what_a_killed_writer_left_is_taken_away_or_kept() {
    let mut world = world();
    world.write(&[step(1)]);
    let before = world.text();
    world.write(&[step(2)]);
    let temp = world.log().newest().unwrap().unwrap().temp.unwrap();
    let beside = world.path().with_file_name(&temp);
    files::put(&beside, before.as_bytes()).unwrap();
    assert_eq!(world.write(&[]).recovered, None);
    assert!(!beside.exists());
    files::put(&beside, b"saved in that moment").unwrap();
    let kept = world.write(&[]).recovered.unwrap();
    assert_eq!((files::read(&kept).unwrap(), beside.exists()), (b"saved in that moment".to_vec(), false));
    // One that nobody has told of goes when it is old; another session's stays.
    files::put(&world.path().with_file_name(keep::temp_name(KEY, 9)), before.as_bytes()).unwrap();
    files::put(&world.path().with_file_name(keep::temp_name("other", 9)), b"x").unwrap();
    world.write(&[step(3)]);
    assert_eq!(world.beside().len(), 2);
    world.now = "2100-01-01T00:00:00Z".parse().unwrap();
    world.write(&[step(4)]);
    assert_eq!(world.beside().len(), 1);
}

#[test]
fn a_write_is_undone_and_that_too() {
    let world = world();
    world.write(&[step(1)]);
    world.write(&[step(2), words("why")]);
    world.save(&world.text().replace("My words.", "Other words."));
    let undo = |which, dry| world.writer().undo(KEY, &world.note, which, dry);
    let looked = undo(Which::Newest(1), true).unwrap();
    assert_eq!((looked.revision, world.steps(), world.revision()), (None, vec![1, 2], 2));
    assert!(looked.before.contains("n-002") && !looked.after.contains("n-002"));
    let undone = undo(Which::Newest(1), false).unwrap();
    assert_eq!((undone.revision, undone.writes[0].revision, undone.writes[0].what.len()), (Some(3), 2, 2));
    assert_eq!(world.steps(), [1]);
    assert!(world.text().contains("Other words.") && !world.text().contains("why"));
    let undone: Vec<bool> = world.writer().history(KEY).unwrap().iter().map(|past| past.undone).collect();
    assert_eq!(undone, [false, true, false]);
    // The undoing is a write like any other.
    undo(Which::Revision(3), false).unwrap();
    assert_eq!((world.steps(), world.text().matches("why").count()), (vec![1, 2], 1));
    assert!(matches!(undo(Which::Revision(3), false), Err(Error::No { .. })));
    undo(Which::Newest(2), false).unwrap();
    assert_eq!(world.steps(), [] as [u32; 0]);
    assert!(matches!(undo(Which::Newest(1), false), Err(Error::No { .. })));
    assert!(matches!(undo(Which::Revision(77), false), Err(Error::No { .. })));
}

#[test]
fn what_was_undone_stays_undone_in_old_buffers() {
    let world = world();
    world.write(&[step(1)]);
    let one = world.text();
    world.write(&[step(2)]);
    let two = world.text();
    world.writer().undo(KEY, &world.note, Which::Newest(1), false).unwrap();
    let undone = world.text();
    for (buffer, name) in [(&one, "before it was written"), (&two, "before it was undone")] {
        world.save(&buffer.replace("My words.", name));
        world.write(&[]);
        assert_eq!(world.steps(), [1], "{name}");
        assert!(world.text().contains(name));
    }
    world.writer().undo(KEY, &world.note, Which::Revision(3), false).unwrap();
    assert_eq!(world.steps(), [1, 2]);
    for (buffer, name) in [(&one, "one"), (&two, "two"), (&undone, "three")] {
        world.save(&buffer.replace("My words.", name));
        world.write(&[]);
        assert_eq!(world.steps(), [1, 2], "{name}");
    }
}

#[test]
fn what_a_person_edited_is_not_undone() {
    let world = world();
    world.write(&[step(1)]);
    world.save(&world.text().replace("run 1", "run it"));
    let text = world.text();
    let error = world.writer().undo(KEY, &world.note, Which::Newest(1), false).unwrap_err();
    assert!(matches!(&error, Error::No { .. }), "{error:?}");
    assert!(error.to_string().contains("r1") && error.hint().is_some(), "{error:?}");
    assert_eq!(world.text(), text);
}

#[test]
fn state_that_cannot_be_written_has_another_home() {
    let world = world();
    // A file where the folder should be.
    let home = world.dir.path().join("home");
    files::create(&home, b"").unwrap();
    let env = Env::fixed(world.now, world.dir.path(), &[("XDG_STATE_HOME", home.to_str().unwrap())]);
    let state = State::of(&world.vault, &env).unwrap();
    assert!(state.dir().starts_with(world.vault.root().join(".cru/local")), "{state:?}");
    Writer::new(&world.vault, &state, world.now).write(KEY, &world.note, &mut |_, _| Ok(plan(vec![step(1)]))).unwrap();
    assert_eq!(world.steps(), [1]);
}
