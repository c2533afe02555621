//! Sessions of several agents that grow while a person works in their notes: whatever the person did between two imports
//! stays, what was deleted does not come back, and no step is lost or told twice.
//!
//! `PROPTEST_CASES` says how many random
//! histories are tried for each agent.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cru::base::files;
use cru::sync::report::Outcome;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::imports::growth::{World, captures};
use crate::transcript_set::{TranscriptSet, on_both_sets};

/// What a person does to a note; numbers choose the place.
#[derive(Clone, Debug)]
enum Edit {
    /// A remark of their own between two blocks.
    Remark(usize),
    /// A step with its nested lines goes away.
    Delete(usize),
    /// A step gets a few words more.
    Annotate(usize),
    /// A step is moved to before another one.
    Move(usize, usize),
    /// Words are added to a paragraph of the agent's.
    Reword(usize),
}

fn edits() -> impl Strategy<Value = Vec<Vec<Edit>>> {
    let place = || 0..100_000_usize;
    let edit = prop_oneof![
        place().prop_map(Edit::Remark),
        place().prop_map(Edit::Delete),
        place().prop_map(Edit::Annotate),
        (place(), place()).prop_map(|(from, to)| Edit::Move(from, to)),
        place().prop_map(Edit::Reword),
    ];
    prop::collection::vec(prop::collection::vec(edit, 0..6), 8)
}

/// What must hold from then on.
#[derive(Debug, Default)]
struct Wanted {
    /// Texts that stand in the note once.
    kept: Vec<String>,
    /// Ids of steps that are gone.
    gone: BTreeSet<String>,
}

/// The lines of a note, and which of them begin a step: at the margin, with an id at the end of the line.
fn steps(lines: &[String]) -> Vec<(usize, String)> {
    let id = |line: &String| {
        let (_, id) = line.strip_prefix("- `")?.rsplit_once(" ^n-")?;
        Some(format!("^n-{id}"))
    };
    lines.iter().enumerate().filter_map(|(at, line)| Some((at, id(line)?))).collect()
}

/// One past the last line of the step that begins at `at`.
fn end(lines: &[String], at: usize) -> usize {
    let nested = |line: &&String| line.starts_with("  ") || line.starts_with('\t');
    at + 1 + lines[at + 1..].iter().take_while(nested).count()
}

fn apply(text: &str, edit: &Edit, number: usize, wanted: &mut Wanted) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let all = steps(&lines);
    let chosen = |at: usize| (!all.is_empty()).then(|| all[at % all.len()].clone());
    match *edit {
        Edit::Remark(at) => {
            // Behind a step, or in front of a heading.
            let places: Vec<usize> = (1..lines.len()).filter(|&at| lines[at].starts_with("## ")).collect();
            if places.is_empty() {
                return text.to_owned();
            }
            let place = places[at % places.len()];
            let remark = format!("Remark {number:03} of mine.");
            lines.splice(place..place, [remark.clone(), String::new()]);
            wanted.kept.push(remark);
        }
        Edit::Delete(at) => {
            let Some((at, id)) = chosen(at) else { return text.to_owned() };
            // What was annotated before goes with it.
            let end = end(&lines, at);
            let cut: Vec<String> = lines.drain(at..end).collect();
            wanted.kept.retain(|kept| !cut.iter().any(|line| line.contains(kept.as_str())));
            wanted.gone.insert(id);
        }
        Edit::Annotate(at) => {
            let Some((at, _)) = chosen(at) else { return text.to_owned() };
            let mark = format!("seen by me {number:03}");
            let end = end(&lines, at);
            lines.insert(end, format!("  - note: {mark}"));
            wanted.kept.push(mark);
        }
        Edit::Move(from, to) => {
            let (Some((from, _)), Some((to, _))) = (chosen(from), chosen(to)) else { return text.to_owned() };
            let end = end(&lines, from);
            if (from..end).contains(&to) {
                return text.to_owned();
            }
            let cut: Vec<String> = lines.drain(from..end).collect();
            let to = if to > from { to - cut.len() } else { to };
            lines.splice(to..to, cut);
        }
        Edit::Reword(at) => {
            let is_words = |line: &String| {
                line.len() > 30 && line.starts_with(|c: char| c.is_ascii_uppercase()) && line.ends_with('.')
            };
            let places: Vec<usize> = (0..lines.len()).filter(|&at| is_words(&lines[at])).collect();
            if places.is_empty() {
                return text.to_owned();
            }
            let mark = format!("So I say {number:03}.");
            let line = &mut lines[places[at % places.len()]];
            line.push(' ');
            line.push_str(&mark);
            wanted.kept.push(mark);
        }
    }
    lines.join("\n")
}

fn put(path: &Path, bytes: &[u8]) {
    files::put(path, bytes).unwrap();
}

fn ids(text: &str) -> Vec<String> {
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    steps(&lines).into_iter().map(|(_, id)| id).collect()
}

fn main_note(world: &World, session: &str) -> (PathBuf, String) {
    let own = format!("host_session: {session}");
    let mut notes = world.notes().into_iter();
    let found = notes.find(|(_, text)| text.lines().any(|line| line == own || line == format!("{own}\r")));
    found.unwrap_or_else(|| panic!("no note of {session}"))
}

fn survives(set: &TranscriptSet, agent: &str) {
    let (name, captures) = captures(set, agent);
    let file = format!("{name}.jsonl");
    let whole = World::new();
    put(&whole.input().join(&file), captures.last().unwrap());
    assert_eq!(whole.import_of(agent).count(Outcome::Created), 1);
    let want: BTreeSet<String> = ids(&main_note(&whole, &name).1).into_iter().collect();
    assert!(want.len() > 20, "{}", want.len());

    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(4);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 40, ..Config::default() };
    let run = |history: Vec<Vec<Edit>>| {
        let world = World::remembering(history.first().is_some_and(|first| first.len() % 2 == 0));
        let mut wanted = Wanted::default();
        let mut number = 0;
        for (capture, bytes) in captures.iter().enumerate() {
            put(&world.input().join(&file), bytes);
            world.import_of(agent);
            let (path, text) = main_note(&world, &name);
            let told = ids(&text);
            let once: BTreeSet<&String> = told.iter().collect();
            prop_assert_eq!(once.len(), told.len(), "a step is told twice after {}", capture);
            for kept in &wanted.kept {
                prop_assert_eq!(text.matches(kept.as_str()).count(), 1, "{} after {} in\n{}", kept, capture, text);
            }
            for id in &wanted.gone {
                prop_assert!(!told.contains(id), "{} came back after {}", id, capture);
            }
            let before = world.notes();
            world.import_of(agent);
            prop_assert_eq!(&world.notes(), &before, "importing again changes a byte");
            if capture + 1 < captures.len() {
                let mut new = text.clone();
                for edit in &history[capture] {
                    number += 1;
                    new = apply(&new, edit, number, &mut wanted);
                }
                files::replace(&path, text.as_bytes(), new.as_bytes()).unwrap();
            }
        }
        let (_, text) = main_note(&world, &name);
        let mut told: BTreeSet<String> = ids(&text).into_iter().collect();
        told.extend(wanted.gone);
        prop_assert_eq!(&told, &want, "a step is lost");
        Ok(())
    };
    TestRunner::new(config).run(&edits(), run).unwrap();
}

fn claude(set: &TranscriptSet) {
    survives(set, "claude");
}

fn codex(set: &TranscriptSet) {
    survives(set, "codex");
}

fn pi(set: &TranscriptSet) {
    survives(set, "pi");
}

on_both_sets!(claude, codex, pi);
