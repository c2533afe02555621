//! Seals under random edits, growth and renewals, with and without what is kept of the last text.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::{Seals, keep_proven};
use crate::op::{self, Mode, Op, Proof};
use crate::{delta, read};
use cru_note::Note;

/// How much a note tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Brief,
    Normal,
    Full,
}

/// What `cru` would write of `count` records; `wording` is the version.
fn generated(level: Level, count: usize, wording: u8) -> String {
    let done = if wording == 0 { "Done" } else { "It is done" };
    let mut text = format!(
        "---\ntype: session\nsession_id: s\ntitle: Tokens\ntags:\n  - valve\n  - pump\nstatus: completed\nmodel: m{wording}\ncru_cursor: r1 {count} - -\ncru_detail: {level:?}\n---\n\
         # Tokens\n\n> [!summary] Tokens\n> Asked: mend it  \n> Result: {done} {count}.\n\n**Tasks:**\n- [ ] Mend the valve ^t-1\n- [x] Ask Mia ^t-2\n"
    );
    for number in 1..=count {
        if number % 3 == 1 {
            let phase = number / 3 + 1;
            let _ = write!(text, "\n## Part {phase} @a\n\n*2026-11-20T09:0{}:00Z* ^p-{phase:02}\n", phase % 10);
            let _ = write!(text, "\n> [!user]\n> \"Mend {phase}\"\n\n^u-{phase:03}\n");
        }
        if level != Level::Brief || number % 4 == 0 {
            let result = if wording == 0 { "ok" } else { "fine" };
            let _ = write!(text, "\n**Tool calls:**\n- `Bash step{number}` → `{result}` ^n-{number:03}\n");
        }
        if level == Level::Full {
            let _ = writeln!(text, "    - output: `line {number}`");
        }
        if level != Level::Brief {
            let _ = write!(text, "\nLooking at {number}.\n");
        }
    }
    let _ = write!(text, "\n{done}.\n");
    text
}

/// What a test knows of a note.
struct World {
    note: String,
    seals: String,
    bases: [Option<String>; 2],
    level: Level,
    count: usize,
    wording: u8,
    words: Vec<String>,
    /// How many words were ever written.
    count_of_words: usize,
    gone: Vec<String>,
    /// Whether nobody has touched the note.
    is_untouched: bool,
    revision: u64,
    newest: u64,
}

struct Sealed(Seals);

impl Proof for Sealed {
    fn is_generated(&self, text: &str) -> bool {
        self.0.has_block(text)
    }

    fn is_deleted(&self, place: &str) -> bool {
        self.0.is_deleted(place)
    }

    fn is_held(&self, _: &str) -> bool {
        false
    }
}

impl World {
    fn new() -> Self {
        let note = generated(Level::Normal, 3, 0);
        let parsed = Note::parse(note.as_str());
        Self {
            seals: Seals::first(&parsed, &parsed),
            bases: [Some(note.clone()), None],
            note,
            level: Level::Normal,
            count: 3,
            wording: 0,
            words: Vec::new(),
            count_of_words: 0,
            gone: Vec::new(),
            is_untouched: true,
            revision: 1,
            newest: 1,
        }
    }

    fn grow(&mut self, machine: usize, more: usize) {
        let base = self.bases[machine].clone().unwrap_or_else(|| generated(self.level, self.count, self.wording));
        self.count = (self.count + more).min(12);
        let new = Note::parse(generated(self.level, self.count, self.wording));
        let (base, note) = (Note::parse(base), Note::parse(self.note.as_str()));
        let there = read::written(&note).0;
        let mut ops = delta::notes(&base, &new, Some(delta::There { note: &note, session: &there }));
        keep_proven(&mut ops, &Seals::parse(&self.seals).of_revision(self.revision), &base, &note, &there);
        self.write(&ops, &new, machine);
    }

    fn renew(&mut self, machine: usize, level: Level, wording: u8) {
        let seals = Seals::parse(&self.seals).of_revision(self.revision);
        if !seals.is_whole() {
            return;
        }
        let base = self.bases[machine].clone().unwrap_or_else(|| generated(self.level, self.count, self.wording));
        (self.level, self.wording) = (level, wording);
        let new = Note::parse(generated(level, self.count, wording));
        let (base, note) = (Note::parse(base), Note::parse(self.note.as_str()));
        let there = read::written(&note).0;
        let mut ops = delta::notes(&base, &new, Some(delta::There { note: &note, session: &there }));
        ops.retain(|op| matches!(op, Op::Set { .. } | Op::Tasks { .. }));
        keep_proven(&mut ops, &seals, &base, &note, &there);
        let body = op::renewed(&base, &note, &new, &Sealed(seals));
        ops.insert(0, Op::Body { old: op::body_hash(&note), new: body });
        self.write(&ops, &new, machine);
        if self.is_untouched {
            // Its cursor is the writer's.
            let bare =
                |text: &str| text.lines().filter(|line| !line.starts_with("cru_cursor")).collect::<Vec<_>>().join("\n");
            assert_eq!(
                bare(&self.note.replace("\r\n", "\n")),
                bare(new.text()),
                "what nobody touched is as it is generated"
            );
        }
    }

    fn write(&mut self, ops: &[Op], new: &Note, machine: usize) {
        let applied = op::apply(self.note.as_bytes(), ops, Mode::First).unwrap();
        let (before, after) = (Note::parse(self.note.as_str()), Note::parse(applied.bytes));
        let lines =
            Seals::parse(&self.seals).of_revision(self.revision).written(Some(new), &before, &after, self.newest + 1);
        self.seals.push_str(&lines);
        self.newest += 1;
        self.revision = self.newest;
        self.note = after.text().to_owned();
        self.bases[machine] = Some(new.text().to_owned());
        // What another machine knows is older than the note now.
        self.bases[1 - machine] = None;
    }

    fn edit(&mut self, what: u8, at: usize) {
        self.is_untouched = false;
        let eol = if self.note.contains("\r\n") { "\r\n" } else { "\n" };
        self.count_of_words += 1;
        let word = format!("mine{}", self.count_of_words);
        let mut lines: Vec<String> = self.note.lines().map(str::to_owned).collect();
        let is = |line: &str| match what {
            0 => line.starts_with("title: "),
            1 => line.starts_with("# "),
            2 => line.starts_with("> Result") || line.starts_with("> Asked"),
            3 => line.starts_with("- ["),
            4 | 8 => line.contains(" ^n-"),
            5 => line.starts_with("Looking at"),
            6 => line.starts_with("model: "),
            7 => line.starts_with("  - "),
            9 => line.starts_with("Looking at") && line.len() < 16,
            10 | 11 => line.trim().is_empty(),
            _ => line.starts_with("## "),
        };
        let all: Vec<usize> = (0..lines.len()).filter(|&at| is(&lines[at])).collect();
        let Some(&line) = all.get(at % all.len().max(1)) else { return };
        match what {
            3 => {
                let (head, id) = lines[line].rsplit_once(" ^").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
                lines[line] = format!("{} {word} ^{id}", head.replace("[ ]", "[x]"));
            }
            4 => {
                let (head, id) = lines[line].rsplit_once(" ^").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
                lines[line] = format!("{head} {word} ^{id}");
            }
            8 => {
                let gone = lines.remove(line);
                while lines.get(line).is_some_and(|next| next.starts_with("    - output")) {
                    lines.remove(line);
                }
                // A step that a person had written into takes their word along.
                self.words.retain(|word| !has_word(&gone, word));
                self.gone.push(gone.rsplit_once('^').unwrap().1.to_owned());
            }
            9 => self.gone.push(lines.remove(line)),
            10 => {
                lines.insert(line, format!("{eol}%% {word} %%{eol}").trim_end().to_owned());
            }
            11 => {
                lines.insert(line, format!("{eol}A paragraph, {word}.{eol}").trim_end().to_owned());
            }
            _ => {
                let bare = lines[line].trim_end().to_owned();
                lines[line] = format!("{bare} {word}");
            }
        }
        if what != 8 && what != 9 {
            self.words.push(word);
        }
        self.note = lines.join(eol) + eol;
    }

    fn check(&self, did: &dyn std::fmt::Debug) {
        for word in &self.words {
            let count = self.note.split(|c: char| !c.is_alphanumeric()).filter(|it| it == word).count();
            assert_eq!(count, 1, "{word} after {did:?}:\n{}\n{}", self.note, self.seals);
        }
        for gone in &self.gone {
            let is_back = |line: &str| match gone.strip_prefix("n-") {
                Some(_) => line.ends_with(&format!(" ^{gone}")),
                None => line == gone,
            };
            assert!(!self.note.lines().any(is_back), "{gone} is back after {did:?}:\n{}\n{}", self.note, self.seals);
        }
    }
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).any(|it| it == word)
}

#[derive(Clone, Debug)]
enum Did {
    Grow(usize, usize),
    Renew(usize, Level, u8),
    Edit(u8, usize),
    LineEnds,
    LoseBase,
    LoseSeals,
    Torn,
    Shuffle,
    /// An editor saves, with an edit, what stood there before a renewal.
    Stale(Level, u8, usize),
}

fn did() -> impl Strategy<Value = Did> {
    let level = prop_oneof![Just(Level::Brief), Just(Level::Normal), Just(Level::Full)];
    prop_oneof![
        4 => (0..2_usize, 0..3_usize).prop_map(|(machine, more)| Did::Grow(machine, more)),
        4 => (0..2_usize, level.clone(), 0..2_u8).prop_map(|(machine, level, wording)| Did::Renew(machine, level, wording)),
        2 => (level.clone(), 0..13_u8, 0..20_usize).prop_map(|(level, what, at)| Did::Stale(level, what, at)),
        8 => (0..13_u8, 0..20_usize).prop_map(|(what, at)| Did::Edit(what, at)),
        1 => Just(Did::LineEnds),
        1 => Just(Did::LoseBase),
        1 => Just(Did::LoseSeals),
        1 => Just(Did::Torn),
        1 => Just(Did::Shuffle),
    ]
}

proptest! {
    /// No word of a person is lost or doubled, nothing that they took out is back, and what nobody touched is renewed.
    #[test]
    fn no_edit_is_lost(all in proptest::collection::vec(did(), 1..10)) {
        let mut world = World::new();
        for did in &all {
            match *did {
                Did::Grow(machine, more) => world.grow(machine, more),
                Did::Renew(machine, level, wording) => world.renew(machine, level, wording),
                Did::Edit(what, at) => world.edit(what, at),
                Did::Stale(level, what, at) => {
                    let (note, revision, was) = (world.note.clone(), world.revision, world.level);
                    world.renew(0, level, 0);
                    (world.note, world.revision, world.level) = (note, revision, was);
                    // The bases are of a later revision.
                    world.bases = [None, None];
                    world.edit(what, at);
                }
                Did::LineEnds => {
                    let unix = world.note.replace("\r\n", "\n");
                    world.note = if unix == world.note { unix.replace('\n', "\r\n") } else { unix };
                }
                Did::LoseBase => world.bases = [None, None],
                Did::LoseSeals => {
                    world.seals.clear();
                    world.is_untouched = false;
                    // Who took something out is not known without them.
                    world.gone.clear();
                }
                Did::Torn => {
                    world.seals.push_str("n-001 id 12ab");
                    world.seals.push('\n');
                }
                Did::Shuffle => {
                    // Two machines' lines, merged in another order.
                    let mut lines: Vec<&str> = world.seals.lines().collect();
                    lines.reverse();
                    world.seals = lines.join("\n") + "\n";
                }
            }
            world.check(&all);
        }
    }
}

#[test]
fn a_text_is_generated_if_its_hash_is_there() {
    let note = Note::parse(generated(Level::Normal, 3, 0));
    let lines = Seals::first(&note, &note);
    let seals = Seals::parse(&lines.replace('\n', "\r\n"));
    assert!(seals.is_whole() && seals.has_block("# Tokens") && !seals.has_block("# Tokens, mine"));
    assert!(seals.has_block("- `Bash step2` → `ok` ^n-002"));
    assert!(seals.has_block("> [!user]\r\n> \"Mend 1\"\r\n\r\n^u-001"), "line ends do not count");
    let summary = "> [!summary] Tokens\n> Asked: mend it  \n> Result: Done 3.";
    assert!(
        seals.has_block(summary) && seals.has_block(&summary.replace("  \n", "\n")),
        "nor blanks that editors take"
    );
    assert!(seals.has_property("title", &"Tokens".into()) && !seals.has_property("title", &"Tokens, mine".into()));
    assert!(!seals.has_property("cru_cursor", &"r1 3 - -".into()));
    // A line that is torn, of a merge, or of somebody else says nothing.
    let hash = lines.lines().find(|line| line.starts_with("n-001 ")).unwrap();
    let torn = hash[..hash.len() - 1].to_owned();
    let others = ["<<<<<<< HEAD", "n-001 id zzzzzzzzzzzzzzzz"].map(str::to_owned);
    for odd in others.into_iter().chain([torn, format!("{hash} x"), format!("{hash} -x")]) {
        assert!(Seals::parse(&odd).is_empty(), "{odd}");
    }
    assert!(Seals::parse(&format!("{hash} -1")).hashes.is_empty(), "a mark proves no text");
}

#[test]
fn what_a_command_takes_out_may_come_back_and_what_a_person_took_out_may_not() {
    let (full, brief) = (Note::parse(generated(Level::Normal, 3, 0)), Note::parse(generated(Level::Brief, 3, 0)));
    let mut lines = Seals::first(&full, &full);
    let place = "^n-002";
    assert!(Seals::parse(&lines).is_deleted(place), "where it is not in the note");
    for round in [2, 4] {
        lines.push_str(&Seals::parse(&lines).written(Some(&brief), &full, &brief, round));
        assert!(!Seals::parse(&lines).is_deleted(place) && lines.contains(&format!(" -{round}\n")), "{lines}");
        lines.push_str(&Seals::parse(&lines).written(Some(&full), &brief, &full, round + 1));
        assert!(Seals::parse(&lines).is_deleted(place) && lines.contains(&format!(" +{}\n", round + 1)), "{lines}");
    }
    // A text of the time before tells nothing of what was written later.
    let at = |revision| Seals::parse(&lines).of_revision(revision).is_deleted(place);
    assert_eq!([1, 2, 3, 4, 5].map(at), [true, false, true, false, true]);
    // Lines of two machines, in any order and twice.
    let mut other: Vec<&str> = lines.lines().chain(lines.lines()).collect();
    other.sort_unstable();
    assert!(Seals::parse(&other.join("\n")).is_deleted(place));
}

#[test]
fn a_block_whose_links_follow_a_rename_is_generated_still() {
    let before = Note::parse("---\nparent: \"[[old]]\"\n---\n# T\n\n> [!subagent] x\n> [[old]]\n\n[[old]] is mine.\n");
    let after = Note::parse(before.text().replace("old", "new"));
    let generated = Note::parse("---\nparent: \"[[old]]\"\n---\n# T\n\n> [!subagent] x\n> [[old]]\n");
    let seals = Seals::parse(&Seals::first(&generated, &before));
    let seals = Seals::parse(&(Seals::first(&generated, &before) + &seals.carried(&before, &after)));
    assert!(seals.has_block("> [!subagent] x\n> [[new]]") && seals.has_property("parent", &"[[new]]".into()));
    assert!(!seals.has_block("[[new]] is mine."));
}

/// A number is written with as few digits as say it, and is known again.
#[test]
fn a_property_that_a_command_sets_is_known_again() {
    let note = Note::parse("---\nsession_id: s\ncost_usd: 1\n---\n# S\n");
    let values = cru_note::frontmatter::read(note.text(), &note.frontmatter().unwrap()).0;
    let sealed = |key: &str, value: serde_json::Value| Seals::default().property(key, &value, &values, 3);
    let seals = Seals::parse(&sealed("cost_usd", serde_json::json!(1.0)));
    assert!(seals.is_own("cost_usd", Some(&serde_json::json!(1))) && !seals.is_unknown("cost_usd"));
    assert!(!seals.is_own("cost_usd", Some(&serde_json::json!(2))) && seals.is_unknown("ended"));
    assert_eq!(sealed("cost_usd", serde_json::json!(2.0)), "", "somebody changed it");
    assert_eq!(sealed("ended", serde_json::json!("now")), "", "it was taken out again");
}
