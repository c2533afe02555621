//! What the rest of a session says of an answer: its lines were taken out again, or it left a failure that the person
//! brings back.
//!
//! Nothing of it stands in the answer, so each sign must be one of its own: lines of the same file, or a file that it wrote.

use std::collections::HashSet;

use crate::case::action::{added, removed};
use crate::case::entry::Entry;
use crate::find::turns::{SessionTurn, Turns};
use cru_action::patch::FilePatch;
use cru_graph::turn::reply;
use cru_session::words::shorten::file_name;

/// Lines of which half must be gone; of fewer, half must go with the next change that the person's words lead to.
const LEAST: usize = 5;

/// How many turns later a line may be taken out for what it was: far behind that other work has begun, unless a failure
/// brings the person back to it.
const SOON: usize = 6;

/// How many turns later nothing is looked at any more.
const FAR: usize = 40;

/// How many turns later a person may bring a failure back.
const TURNS: usize = 6;

/// Whether what came after shows that what was done in round `index` was not right.
pub(crate) fn shows_wrong(trail: &Turns<'_>, index: usize, done: &[Entry]) -> bool {
    let (mut lines, mut files) = (HashSet::new(), HashSet::new());
    for change in changes(done.iter()) {
        let file = file_name(change.path());
        files.insert(file);
        lines.extend(added(&change).into_iter().map(|line| (file, line)));
    }
    if files.is_empty() {
        return false;
    }
    let mut turns = trail.rounds.iter().skip(index + 1).take(TURNS);
    turns.any(|round| reply::brings_back_failure(&trail.words(round), files.iter().copied()))
        || is_gone(trail, index, &lines)
}

/// Whether the person's next words lead to another change of a file that was changed in round `index`: they were not done with it.
pub(crate) fn is_reworked(trail: &Turns<'_>, index: usize, done: &[Entry]) -> bool {
    let files: HashSet<String> = changes(done.iter()).map(|change| change.path().to_owned()).collect();
    let next = trail.rounds.get(index + 1).filter(|next| !next.users.is_empty());
    next.is_some_and(|next| changes_in(next).any(|change| files.contains(change.path())))
}

/// What the calls among these change that nobody refused.
fn changes<'a>(done: impl Iterator<Item = &'a Entry>) -> impl Iterator<Item = FilePatch<'a>> {
    done.filter(|entry| !entry.is_refused()).flat_map(Entry::changes)
}

/// The same of a turn.
fn changes_in<'a>(round: &'a SessionTurn<'_>) -> impl Iterator<Item = FilePatch<'a>> {
    changes(round.beats.iter().map(|beat| &beat.entry))
}

/// Whether at least half of what was added is taken out soon after, upon words of the person.
fn is_gone(trail: &Turns<'_>, index: usize, lines: &HashSet<(&str, &str)>) -> bool {
    if lines.is_empty() {
        return false;
    }
    let is_short = lines.len() < LEAST;
    let mut gone: HashSet<(&str, &str)> = HashSet::new();
    let mut spoken = false;
    for (later, round) in trail.rounds.iter().skip(index + 1).take(FAR).enumerate() {
        spoken |= !round.users.is_empty();
        if later >= SOON && !reply::is_failing_output(&trail.words(round)) {
            continue;
        }
        for change in changes_in(round).filter(|_| spoken) {
            let file = file_name(change.path());
            let known = |line: &&str| lines.contains(&(file, *line));
            gone.extend(removed(&change).into_iter().filter(known).map(|line| (file, line)));
            // What is put back, or only moved, is still there.
            added(&change).into_iter().filter(known).for_each(|line| {
                gone.remove(&(file, line));
            });
        }
        if is_short && changes_in(round).next().is_some() {
            break;
        }
    }
    gone.len() * 2 >= lines.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::{prose, step, user, with_calls};
    use crate::{Call, Calls};
    use cru_session::Item;

    /// Whether what was done in the first turn is shown to be wrong by the second one.
    fn wrong(words: &str, opening: &str, old: &str, new: &str) -> bool {
        let first = "int a_valve;\nint b_valve;\nint c_valve;\nint d_valve;\nint e_valve;";
        let edit = |old: &str, new: &str| {
            let input = json!({ "file_path": "lib/pump.c", "old_string": old, "new_string": new });
            Call::new("Edit", input, Some("done")).unwrap()
        };
        let calls: Calls = [("n-001", edit("", first)), ("n-002", edit(old, new))]
            .map(|(id, call)| (id.to_owned(), call))
            .into_iter()
            .collect();
        let items: Vec<Item> = vec![
            user("", "Mend the pump.", None),
            step("n-001", "Edit lib/pump.c", "+5"),
            prose("Done."),
            user("", words, None),
            prose(opening),
            step("n-002", "Edit lib/pump.c", "+1"),
        ];
        with_calls(items, &calls, |trail| {
            let done: Vec<Entry> = trail.rounds[0].beats.iter().map(|beat| beat.entry.clone()).collect();
            shows_wrong(trail, 0, &done)
        })
    }

    #[test]
    fn lines_that_were_taken_out() {
        let three = "int a_valve;\nint b_valve;\nint c_valve;";
        assert!(wrong("shorter, please", "I look.", three, "int valves;"));
        assert!(!wrong("shorter, please", "I look.", "int a_valve;\nint b_valve;", "int valves;"));
        assert!(!wrong("sorted, please", "I look.", three, "int c_valve;\nint b_valve;\nint a_valve;"));
    }

    /// Of a few lines half must go with the next change.
    #[test]
    fn few_lines_that_were_taken_out() {
        let edit = |id: &str, old: &str, new: &str| {
            let input = json!({ "file_path": "lib/pump.c", "old_string": old, "new_string": new });
            (id.to_owned(), Call::new("Edit", input, Some("done")).unwrap())
        };
        let wrong = |then: &[(&str, &str)]| {
            let mut calls: Calls = [edit("n-000", "", "open(valve, path);")].into_iter().collect();
            let mut items =
                vec![user("", "Mend the pump.", None), step("n-000", "Edit lib/pump.c", "+1"), prose("Done.")];
            for (at, (old, new)) in then.iter().enumerate() {
                let id = format!("n-00{}", at + 1);
                items.extend([user("", "and now this", None), step(&id, "Edit lib/pump.c", "+1"), prose("Done.")]);
                calls.extend([edit(&id, old, new)]);
            }
            with_calls(items, &calls, |trail| {
                let done: Vec<Entry> = trail.rounds[0].beats.iter().map(|beat| beat.entry.clone()).collect();
                shows_wrong(trail, 0, &done)
            })
        };
        let replaced = ("open(valve, path);", "open(valve, name);");
        assert!(wrong(&[replaced]));
        let reworked = |path: &str, words: &str| {
            let input = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
            let again = ("n-001".to_owned(), Call::new("Edit", input, Some("done")).unwrap());
            let calls: Calls = [edit("n-000", "", "open(valve, path);"), again].into_iter().collect();
            let items = vec![
                user("", "Mend the pump.", None),
                step("n-000", "Edit lib/pump.c", "+1"),
                user("", words, None),
                step("n-001", &format!("Edit {path}"), "+1"),
            ];
            with_calls(items, &calls, |trail| {
                let done: Vec<Entry> = trail.rounds[0].beats.iter().map(|beat| beat.entry.clone()).collect();
                is_reworked(trail, 0, &done)
            })
        };
        assert!(reworked("lib/pump.c", "and now this"));
        assert!(!reworked("lib/hose.c", "and now this"));
        assert!(!wrong(&[("int flow_rate;", "int flow_limit;"), replaced]), "other work has begun");
    }

    #[test]
    fn failures_that_come_back() {
        let fails = |words: &str| wrong(words, "I look.", "", "int z_valve;");
        assert!(fails("error: lib/pump.c:3: no such valve\nmake: *** [pump.o] Error 1"));
        assert!(!fails("error: lib/hose.c:3: no such valve\nmake: *** [hose.o] Error 1"));
        assert!(!fails("now lib/pump.c gets a header"));
    }
}
