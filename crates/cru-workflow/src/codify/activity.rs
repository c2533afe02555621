//! The work of a chapter cut into the steps that it took: by the sections of a plan, by the tasks that the agent began,
//! else round by round and in each by what was done: looked around, changed, checked, handed over.

use std::collections::HashMap;

use foldhash::HashSet;

use super::call::{Call, CallKind, Ended};
use super::condense::{Neighbour, condense};
use super::unit::Entry;
use cru_action::ToolKind;
use cru_base::list::distinct;
use cru_graph::plan::{Section, is_begun};
use cru_session::Item;

/// Calls from which a round is cut up.
const LONG: usize = 8;
/// Calls that short neighbours have together at most.
const SHORT: usize = 12;
/// Looks from which looking around is a step of its own.
const FEW: usize = 3;
/// Groups of a chapter that stay apart.
const MAX_GROUPS: usize = 24;

/// Files and sections of a plan that are compared.
const MAX_FILES: usize = 200;
const MAX_SECTIONS: usize = 60;

/// What the calls of a step are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Activity {
    /// Looking around.
    Explore,
    /// Changing files, running what changes something.
    Change,
    /// Tests, builds, linters.
    Verify,
    /// Commits, pushes, and whatever others see.
    Publish,
    /// Several of these, in a few calls.
    Mixed,
}

/// What belongs together in a chapter.
#[derive(Clone, Debug)]
pub(super) struct ActivityGroup<'a> {
    /// What it is about.
    pub activity: Activity,
    /// What it is called, where a plan or a task says so.
    pub title: Option<String>,
    /// What was said and done.
    pub entries: Vec<Entry<'a>>,
}

impl<'a> ActivityGroup<'a> {
    /// All of a chapter, called after nothing.
    pub(super) fn unnamed(entries: Vec<Entry<'a>>) -> Self {
        Self { activity: Activity::Mixed, title: None, entries }
    }
}

impl Neighbour for ActivityGroup<'_> {
    fn weight(&self) -> usize {
        self.entries.iter().filter(|entry| entry.call().is_some()).count()
    }

    fn join(&mut self, next: Self, _: bool) {
        if self.activity != next.activity {
            self.activity = Activity::Mixed;
        }
        if self.title != next.title {
            self.title = None;
        }
        self.entries.extend(next.entries);
    }
}

/// By what calls belong to one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    round: usize,
    activity: Activity,
    /// The section of the plan, or the task.
    part: Option<usize>,
}

/// The groups of a chapter, each a stretch of it: their entries one after another are those of the chapter, in the order
/// of the session. `plan` has the sections of a plan for this work, `done`
/// those after which a group is called already: what is done again for one, after other work, mends or adds.
pub(super) fn groups<'a>(
    entries: Vec<Entry<'a>>,
    plan: &[Section],
    done: &mut HashSet<String>,
) -> Vec<ActivityGroup<'a>> {
    let keys = match by_task(&entries) {
        Some(keys) => keys,
        None => by_activity(&entries, plan),
    };
    let titles = titles(&entries, plan, &keys);
    let keys = spread(&entries, keys);
    let mut groups: Vec<ActivityGroup<'a>> = Vec::new();
    let mut last: Option<Key> = None;
    for (entry, key) in entries.into_iter().zip(keys) {
        if last != Some(key) {
            let title =
                titles.get(&key).filter(|title| key.activity == Activity::Mixed || done.insert((*title).clone()));
            let title = title.cloned();
            groups.push(ActivityGroup { activity: key.activity, title, entries: Vec::new() });
            last = Some(key);
        }
        if let Some(group) = groups.last_mut() {
            group.entries.push(entry);
        }
    }
    condense(groups, MAX_GROUPS)
}

/// The groups of a chapter as tasks or the sections of a plan name them; one group where neither does. What belongs to no
/// task or section goes with what stands before it.
pub(super) fn named_groups<'a>(entries: Vec<Entry<'a>>, plan: &[Section]) -> Vec<ActivityGroup<'a>> {
    let (keys, names) = match by_task(&entries) {
        Some(keys) => (keys, tasks(&entries)),
        None => match by_section(&entries, plan) {
            Some(keys) => (keys, plan.iter().map(|section| section.title.clone()).collect()),
            None => return vec![ActivityGroup::unnamed(entries)],
        },
    };
    let keys = spread(&entries, keys);
    let mut groups: Vec<ActivityGroup<'a>> = Vec::new();
    for (entry, key) in entries.into_iter().zip(keys) {
        let title = key.part.and_then(|part| names.get(part)).cloned();
        match groups.last_mut() {
            Some(group) if title.is_none() || group.title == title => group.entries.push(entry),
            // What stands before the first task prepares it.
            Some(group) if group.title.is_none() => {
                group.title = title;
                group.entries.push(entry);
            }
            _ => groups.push(ActivityGroup { activity: Activity::Mixed, title, entries: vec![entry] }),
        }
    }
    groups
}

/// By the section of the plan that names the files that are changed; `None` where fewer than two were worked on, or they are woven
/// into each other.
fn by_section(entries: &[Entry<'_>], plan: &[Section]) -> Option<Vec<Option<Key>>> {
    let naming = naming(entries, plan)?;
    let mut now: Option<usize> = None;
    let mut runs: Vec<usize> = Vec::new();
    let mut keys: Vec<Option<Key>> = Vec::with_capacity(entries.len());
    for entry in entries {
        let Some(call) = entry.call() else {
            keys.push(None);
            continue;
        };
        now = call.writes.iter().find_map(|path| section_of(&naming, path)).or(now);
        if let Some(part) = now.filter(|part| runs.last() != Some(part)) {
            if runs.contains(&part) {
                return None;
            }
            runs.push(part);
        }
        keys.push(now.map(|part| Key { round: 0, activity: Activity::Mixed, part: Some(part) }));
    }
    (runs.len() > 1).then_some(keys)
}

/// The key of each entry: what is no call goes with the next call where it opens something, else with the one before.
fn spread(entries: &[Entry<'_>], keys: Vec<Option<Key>>) -> Vec<Key> {
    let none = Key { round: 0, activity: Activity::Mixed, part: None };
    let mut next: Vec<Option<Key>> = keys.clone();
    for at in (0..next.len()).rev() {
        if next[at].is_none() {
            next[at] = next.get(at + 1).copied().flatten();
        }
    }
    // What the agent says before a call belongs to the call.
    let mut leads: Vec<bool> = vec![false; entries.len()];
    let mut called = false;
    for (at, entry) in entries.iter().enumerate().rev() {
        called = match entry {
            Entry::Call(_) => true,
            Entry::Request { .. } | Entry::Conclusion(..) => false,
            Entry::Item(..) => called,
        };
        leads[at] = called;
    }
    let mut before: Option<Key> = None;
    let mut spread = Vec::with_capacity(keys.len());
    for (at, key) in keys.into_iter().enumerate() {
        let closes = match &entries[at] {
            // A sub-agent stands behind the call that started it.
            Entry::Conclusion(..) | Entry::Item(Item::Error(_) | Item::Subagent(_), _) => true,
            Entry::Item(Item::Prose(_), _) => !leads[at],
            _ => false,
        };
        let key = key.or(if closes { before.or(next[at]) } else { next[at].or(before) }).unwrap_or(none);
        before = Some(key);
        spread.push(key);
    }
    spread
}

/// What the groups are called, where a plan or a task says so.
fn titles(entries: &[Entry<'_>], plan: &[Section], keys: &[Option<Key>]) -> HashMap<Key, String> {
    let tasks = tasks(entries);
    let mut titles = HashMap::new();
    for key in keys.iter().flatten() {
        let Some(part) = key.part else { continue };
        let title = match tasks.get(part) {
            Some(task) if key.activity == Activity::Mixed => Some(task.clone()),
            _ => plan.get(part).map(|section| section.title.clone()),
        };
        titles.extend(title.map(|title| (*key, title)));
    }
    titles
}

/// The tasks that are begun among the entries, in order.
fn tasks(entries: &[Entry<'_>]) -> Vec<String> {
    let tasks = entries.iter().flat_map(|entry| match entry {
        Entry::Item(Item::Tasks(fence), _) => fence.tasks.as_slice(),
        _ => &[],
    });
    distinct(tasks.filter(|task| is_begun(task)).map(|task| task.content.clone()), 40)
}

/// By the task that was begun last; `None` where fewer than two were.
fn by_task(entries: &[Entry<'_>]) -> Option<Vec<Option<Key>>> {
    let tasks = tasks(entries);
    let mut begun: Option<usize> = None;
    let mut used: Vec<usize> = Vec::new();
    let mut keys: Vec<Option<Key>> = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            Entry::Item(Item::Tasks(fence), _) => {
                let now = fence
                    .tasks
                    .iter()
                    .filter(|task| is_begun(task))
                    .filter_map(|task| tasks.iter().position(|known| *known == task.content));
                begun = now.max().or(begun);
                keys.push(None);
            }
            Entry::Call(_) => {
                if let Some(task) = begun.filter(|task| !used.contains(task)) {
                    used.push(task);
                }
                let activity = if begun.is_some() { Activity::Mixed } else { Activity::Explore };
                keys.push(Some(Key { round: 0, activity, part: begun }));
            }
            _ => keys.push(None),
        }
    }
    (used.len() > 1).then_some(keys)
}

/// What a call does by itself; `None` where it goes with what is being done.
fn own(call: &Call<'_>) -> Option<Activity> {
    if call.commits || call.pushes || call.publishes {
        return Some(Activity::Publish);
    }
    match call.kind {
        CallKind::Look | CallKind::Run => None,
        CallKind::Edit if call.failed() || call.ended == Ended::Denied => None,
        CallKind::Edit | CallKind::Change => Some(Activity::Change),
        CallKind::Check => Some(Activity::Verify),
    }
}

/// By rounds, and in each by what was done. A round ends with a turn, and where work goes on after a commit or a check:
/// what was changed before a check and after it are two steps, in that order.
fn by_activity(entries: &[Entry<'_>], plan: &[Section]) -> Vec<Option<Key>> {
    let mut keys: Vec<Option<Key>> = vec![None; entries.len()];
    let mut round = 0;
    let mut now: Option<Activity> = None;
    // Looks of which only the next call says what they belong to.
    let mut pending: Vec<usize> = Vec::new();
    let mut any = false;
    for (at, entry) in entries.iter().enumerate() {
        let call = match entry {
            Entry::Call(call) => call,
            Entry::Request { .. } if any => {
                close(entries, &mut keys, &mut pending, (&mut round, now));
                (now, any) = (None, false);
                round += 1;
                continue;
            }
            _ => continue,
        };
        any = true;
        let look = call.kind == CallKind::Look && own(call).is_none();
        match own(call) {
            None if now.is_none() || now == Some(Activity::Explore) => {
                let activity = if look { Activity::Explore } else { Activity::Change };
                now = Some(activity);
                keys[at] = Some(Key { round, activity, part: None });
            }
            None => pending.push(at),
            Some(activity) => {
                let over = match now {
                    Some(Activity::Publish) => activity != Activity::Publish,
                    Some(Activity::Verify) => activity == Activity::Change,
                    _ => false,
                };
                if over {
                    round += 1;
                    let looked = if pending.len() > 2 { Activity::Explore } else { activity };
                    place(&mut keys, &mut pending, round, looked);
                } else {
                    place(&mut keys, &mut pending, round, now.unwrap_or(activity));
                }
                now = Some(activity);
                keys[at] = Some(Key { round, activity, part: None });
            }
        }
    }
    close(entries, &mut keys, &mut pending, (&mut round, now));
    parts(entries, &mut keys, plan);
    join(&mut keys);
    glance(&mut keys);
    keys
}

fn place(keys: &mut [Option<Key>], pending: &mut Vec<usize>, round: usize, activity: Activity) {
    for at in pending.drain(..) {
        keys[at] = Some(Key { round, activity, part: None });
    }
}

/// Ends a round. Research behind its last commit is a step of its own; a look at what was done belongs to it.
fn close(
    entries: &[Entry<'_>],
    keys: &mut [Option<Key>],
    pending: &mut Vec<usize>,
    (round, now): (&mut usize, Option<Activity>),
) {
    let calls = || pending.iter().filter_map(|at| entries.get(*at)?.call());
    let reads = |call: &&Call<'_>| matches!(call.tool, ToolKind::Read | ToolKind::Search | ToolKind::Fetch);
    let researches = calls().filter(reads).count() >= FEW && !calls().any(Call::acts);
    if now == Some(Activity::Publish) && researches {
        *round += 1;
        place(keys, pending, *round, Activity::Explore);
    } else {
        place(keys, pending, *round, now.unwrap_or(Activity::Explore));
    }
}

/// The section of the plan that names the files that a call changes.
fn parts(entries: &[Entry<'_>], keys: &mut [Option<Key>], plan: &[Section]) {
    let Some(naming) = naming(entries, plan) else { return };
    let (mut part, mut round): (Option<usize>, usize) = (None, 0);
    for (entry, key) in entries.iter().zip(keys.iter_mut()) {
        let (Some(call), Some(key)) = (entry.call(), key) else { continue };
        // What is changed after a check is of that section alone that names the file.
        if std::mem::replace(&mut round, key.round) != key.round {
            part = None;
        }
        if key.activity != Activity::Change {
            continue;
        }
        // A command goes with the change before it; a file that no section names, or several, is of none.
        if !call.writes.is_empty() {
            part = call.writes.iter().find_map(|path| section_of(&naming, path));
        }
        key.part = part;
    }
    unweave(keys);
}

/// For each section of a plan the files that are written and that it names; `None` where it has fewer than two sections.
fn naming<'e>(entries: &'e [Entry<'_>], plan: &[Section]) -> Option<Vec<HashSet<&'e str>>> {
    if plan.len() < 2 {
        return None;
    }
    let calls = entries.iter().filter_map(Entry::call);
    let written: HashSet<&str> = calls.flat_map(|call| &call.writes).map(AsRef::as_ref).take(MAX_FILES).collect();
    // A section that names few files says most of them: another may only list all.
    let of = |section: &Section| written.iter().copied().filter(|path| names(section, path)).collect::<HashSet<&str>>();
    Some(plan.iter().take(MAX_SECTIONS).map(of).collect())
}

/// The section that alone names a file; sections that name all that it names and more only list it.
fn section_of(naming: &[HashSet<&str>], path: &str) -> Option<usize> {
    let sections = || naming.iter().enumerate().filter(|(_, named)| named.contains(path));
    let (best, own) = sections().min_by_key(|(_, named)| named.len())?;
    let lists = |(at, named): (usize, &HashSet<&str>)| at == best || (named.len() > own.len() && own.is_subset(named));
    sections().all(lists).then_some(best)
}

/// Sections whose changes are woven into each other, in one round, are one stretch of work and none of them by itself.
fn unweave(keys: &mut [Option<Key>]) {
    let changes: Vec<usize> = (0..keys.len())
        .filter(|at| keys[*at].is_some_and(|key| key.activity == Activity::Change && key.part.is_some()))
        .collect();
    let key = |at: usize| keys[at].map(|key| (key.round, key.part));
    // Where each section is changed last.
    let mut ends: HashMap<Option<(usize, Option<usize>)>, usize> = HashMap::new();
    for (index, &at) in changes.iter().enumerate() {
        ends.insert(key(at), index);
    }
    let (mut from, mut woven): (usize, Vec<usize>) = (0, Vec::new());
    while from < changes.len() {
        let own = key(changes[from]);
        let (mut to, mut at) = (ends.get(&own).copied().unwrap_or(from), from);
        let mut alone = true;
        while at <= to {
            let other = key(changes[at]);
            alone &= other == own;
            to = to.max(ends.get(&other).copied().unwrap_or(at));
            at += 1;
        }
        if !alone {
            woven.extend(&changes[from..=to]);
        }
        from = to + 1;
    }
    for at in woven {
        if let Some(key) = &mut keys[at] {
            key.part = None;
        }
    }
}

/// Whether a section names a file, by its path or by its name alone.
fn names(section: &Section, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let holds = |text: &str| {
        text.match_indices(name).any(|(at, _)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-'));
            edge(text[..at].chars().next_back()) && edge(text[at + name.len()..].chars().next())
        })
    };
    name.len() > 2 && (holds(&section.title) || holds(&section.text))
}

/// A look or two before the work belong to the work.
fn glance(keys: &mut [Option<Key>]) {
    let mut counts: HashMap<Key, usize> = HashMap::new();
    for key in keys.iter().flatten() {
        *counts.entry(*key).or_insert(0) += 1;
    }
    let mut next: Option<Key> = None;
    for key in keys.iter_mut().rev().flatten() {
        let few = key.activity == Activity::Explore && counts.get(key).is_some_and(|count| *count < FEW);
        match next.filter(|next| few && next.round == key.round) {
            Some(next) => *key = next,
            None => next = Some(*key),
        }
    }
}

/// Puts short rounds together.
fn join(keys: &mut [Option<Key>]) {
    let mut sizes: Vec<usize> = Vec::new();
    for key in keys.iter().flatten() {
        if sizes.len() <= key.round {
            sizes.resize(key.round + 1, 0);
        }
        sizes[key.round] += 1;
    }
    // Each round gets the number of the one that it is a part of, and whether that one is too short to be cut up.
    let mut joined: Vec<(usize, bool)> = Vec::with_capacity(sizes.len());
    let (mut number, mut sum) = (0, 0);
    for (round, &size) in sizes.iter().enumerate() {
        let short = size < LONG;
        let before = joined.last().is_some_and(|(_, short)| *short);
        if round > 0 && !(short && before && sum + size <= SHORT) {
            number += 1;
            sum = 0;
        }
        sum += size;
        joined.push((number, short));
    }
    let planned: HashSet<usize> = keys.iter().flatten().filter(|key| key.part.is_some()).map(|key| key.round).collect();
    for key in keys.iter_mut().flatten() {
        let Some(&(number, short)) = joined.get(key.round) else { continue };
        let short = short && !planned.contains(&key.round);
        key.round = number;
        if short {
            key.activity = Activity::Mixed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_known_by_a_file_that_it_alone_names() {
        let set = |paths: &[&'static str]| -> HashSet<&str> { paths.iter().copied().collect() };
        let naming = [set(&["a.c", "b.c", "c.c"]), set(&["a.c"]), set(&["b.c", "d.c"]), set(&["c.c"]), set(&["c.c"])];
        assert_eq!(section_of(&naming, "a.c"), Some(1), "the first one lists all");
        assert_eq!(section_of(&naming, "b.c"), None, "two sections tell of it");
        assert_eq!(section_of(&naming, "c.c"), None);
        assert_eq!(section_of(&naming, "d.c"), Some(2));
        assert_eq!(section_of(&naming, "e.c"), None);
    }
}
