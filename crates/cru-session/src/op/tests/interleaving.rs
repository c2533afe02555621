//! A machine that logs and a person who edits, also from old buffers: nobody loses anything.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::read;
use cru_note::Note;

const START: &str = "---
type: session
title: T
tokens_used: 0
---
# T

Human preface.

## One @a

*2026-11-20T10:00:00Z* ^p-01

Human one.

## Two @b

*2026-11-20T11:00:00Z* ^p-02

> [!note] Human two
> as is
";

/// What happens.
#[derive(Clone, Debug)]
enum Event {
    /// The machine adds steps to a phase.
    Steps { phase: usize, count: u32 },
    /// A phase of its own.
    Phase,
    /// A callout behind the last step, or in a phase.
    Callout { phase: usize, behind: bool },
    /// A key.
    Tokens,
    /// A person saves an edit of today's text, or (`old` revisions ago) of a buffer.
    Edit { old: usize, edit: Edit },
}

#[derive(Clone, Copy, Debug)]
enum Edit {
    Paragraph(usize),
    Rename(usize),
    Callout(usize),
    Delete(usize),
    Reword,
    Remark(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let place = 0..6_usize;
    let edit = prop_oneof![
        3 => place.clone().prop_map(Edit::Paragraph),
        1 => place.clone().prop_map(Edit::Rename),
        1 => place.clone().prop_map(Edit::Callout),
        1 => place.clone().prop_map(Edit::Delete),
        1 => Just(Edit::Reword),
        1 => place.clone().prop_map(Edit::Remark),
    ];
    prop_oneof![
        5 => (place.clone(), 1..4_u32).prop_map(|(phase, count)| Event::Steps { phase, count }),
        1 => Just(Event::Phase),
        2 => (place, any::<bool>()).prop_map(|(phase, behind)| Event::Callout { phase, behind }),
        1 => Just(Event::Tokens),
        3 => (prop_oneof![2 => Just(0_usize), 2 => 1..8_usize], edit).prop_map(|(old, edit)| Event::Edit { old, edit }),
    ]
}

/// The world: the note, every state it had after a write, and what was written then.
struct World {
    disk: String,
    /// Revision of the disk.
    at: usize,
    states: Vec<String>,
    log: Vec<Vec<Op>>,
    steps: u32,
    phases: u32,
    tokens: u64,
    words: u32,
    /// The phase that each step was written to.
    home: Vec<(String, String)>,
    callouts: Vec<String>,
}

impl World {
    fn new() -> Self {
        let disk = START.to_owned();
        Self {
            states: vec![disk.clone()],
            disk,
            at: 0,
            log: Vec::new(),
            steps: 0,
            phases: 2,
            tokens: 0,
            words: 0,
            home: Vec::new(),
            callouts: Vec::new(),
        }
    }

    /// As the writer does: first what an old buffer lacks, then what is new.
    fn write(&mut self, ops: Vec<Op>) {
        let missing: Vec<Op> = self.log[self.at..].concat();
        if !missing.is_empty() {
            self.disk = with(&self.disk, &missing, Mode::Again).0;
        }
        self.disk = with(&self.disk, &ops, Mode::First).0;
        self.log.push(ops);
        self.at = self.log.len();
        self.states.push(self.disk.clone());
    }

    fn phase(&self, index: usize) -> String {
        format!("p-{:02}", index % self.phases as usize + 1)
    }

    fn happen(&mut self, event: &Event) {
        match event {
            Event::Steps { phase, count } => {
                let phase = self.phase(*phase);
                let ops = (0..*count).map(|_| self.step(&phase)).collect();
                self.write(ops);
            }
            Event::Phase => {
                self.phases += 1;
                let id = format!("p-{:02}", self.phases);
                let step = self.step(&id);
                let Op::Append { text, .. } = &step else { return };
                let text = format!("## Phase {id} @x\n\n*2026-11-20T12:00:00Z* ^{id}\n\n{text}");
                self.write(vec![Op::Phase { text }]);
            }
            Event::Callout { phase, behind } => {
                let phase = self.phase(*phase);
                let name = format!("machine-{}", self.callouts.len());
                let text = format!("> [!error] {name}\n> It broke.\n");
                let op = match self.home.last() {
                    Some((block, home)) if *behind => {
                        Op::InsertAfter { block: block.clone(), phase: Some(home.clone()), text }
                    }
                    _ => append(&phase, &text),
                };
                self.callouts.push(name);
                self.write(vec![op]);
            }
            Event::Tokens => {
                let old = self.tokens;
                self.tokens += 10;
                self.write(vec![set("tokens_used", json!(old), json!(self.tokens))]);
            }
            Event::Edit { old, edit } => {
                let back = if *old == 0 || self.log.is_empty() { 0 } else { 1 + (old - 1) % self.log.len() };
                if back > 0 {
                    self.at = self.states.len() - 1 - back;
                    self.disk = self.states[self.at].clone();
                }
                self.disk = self.edited(*edit);
            }
        }
    }

    fn step(&mut self, phase: &str) -> Op {
        self.steps += 1;
        let id = format!("n-{:03}", self.steps);
        self.home.push((id, phase.to_owned()));
        append(phase, &step(self.steps))
    }

    /// What a person makes of the text.
    fn edited(&mut self, edit: Edit) -> String {
        self.words += 1;
        let word = format!("Human {}.", self.words);
        let text = self.disk.clone();
        let headings: Vec<usize> = text.match_indices("\n## ").map(|(at, _)| at + 1).collect();
        let end_of_phase = |index: usize| headings.get(index % headings.len() + 1).copied().unwrap_or(text.len());
        let insert = |at: usize, new: &str| format!("{}{new}{}", &text[..at], &text[at..]);
        match edit {
            Edit::Paragraph(at) => insert(end_of_phase(at), &format!("\n{word}\n\n")),
            Edit::Callout(at) => insert(end_of_phase(at), &format!("\n> [!note] {word}\n> as is\n\n")),
            Edit::Rename(at) => insert(headings[at % headings.len()] + 3, &format!("{word} ")),
            Edit::Remark(at) => {
                let lists: Vec<usize> = text.match_indices("\n- `").map(|(at, _)| at + 1).collect();
                match lists.get(at % lists.len().max(1)) {
                    Some(&line) => insert(line, &format!("- {word}\n")),
                    None => text,
                }
            }
            Edit::Reword => text.replacen("Human one.", &format!("Human one, {word}"), 1),
            Edit::Delete(at) => {
                let note = Note::parse(text.clone());
                let human = note.blocks().iter().filter(|block| {
                    let text = block.content.of(note.text());
                    text.starts_with("Human") || text.starts_with("> [!note]") || text.starts_with("> [!error]")
                });
                let human: Vec<_> = human.collect();
                match human.get(at) {
                    Some(block) => format!("{}{}", &text[..block.span.start], &text[block.span.end..]),
                    None => text,
                }
            }
        }
    }
}

/// The words of a person in a text.
fn human(text: &str) -> Vec<&str> {
    text.match_indices("Human ").map(|(at, _)| text[at..].split(['\n', '@']).next().unwrap().trim()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_loses_anything(events in vec(event(), 1..25)) {
        let mut world = World::new();
        for event in &events {
            world.happen(event);
        }
        let saved = world.disk.clone();
        let lost: Vec<String> = world.log[world.at..].iter().flatten().filter_map(|op| match op {
            Op::Append { text, .. } | Op::InsertAfter { text, .. } => text.lines().next().map(str::to_owned),
            _ => None,
        }).filter(|line| line.starts_with("> [!error]")).collect();
        world.write(Vec::new());
        let (session, _) = read::session(&Note::parse(world.disk.clone()));
        // Every step once, in its phase, in order.
        for phase in &session.phases {
            let ids: Vec<&str> = phase.items.iter().filter_map(|item| match item {
                crate::Item::Step(step) => step.id.as_deref(),
                _ => None,
            }).collect();
            let written: Vec<&str> = world.home.iter().filter(|(_, home)| *home == phase.id).map(|(id, _)| id.as_str()).collect();
            prop_assert_eq!(ids, written, "{} of\n{}", phase.id, world.disk);
        }
        prop_assert_eq!(session.steps().count(), world.home.len());
        prop_assert_eq!(session.phases.len(), world.phases as usize);
        // Every word of a person, in order.
        let (before, after) = (human(&saved), human(&world.disk));
        prop_assert_eq!(before, after);
        // Callouts that an old buffer lacked are there again, none is there twice.
        for line in lost {
            prop_assert_eq!(world.disk.matches(&line).count(), 1, "{} in\n{}", line, world.disk);
        }
        for name in &world.callouts {
            prop_assert!(world.disk.matches(&format!("{name}\n")).count() <= 1, "{} in\n{}", name, world.disk);
        }
        prop_assert_eq!(session.meta.tokens_used, Some(world.tokens));
    }
}
