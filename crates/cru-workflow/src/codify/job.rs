//! Which chapters of a session belong to one job: those that share a file or a value.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::HashMap;

use super::chapter::Chapter;
use super::unit::{Entry, Unit};
use super::value::values;

/// The chapters of each job, in order. Chapters that share a file that either wrote, or a value of people's words, belong
/// together; one that names neither belongs to the one before it. Phases with headings of their own are one job.
pub(super) fn jobs(chapters: &[Chapter<'_>]) -> Vec<Vec<usize>> {
    let mut homes: Vec<usize> = (0..chapters.len()).collect();
    let mut written: HashMap<Cow<'_, str>, usize> = HashMap::default();
    let mut heard: HashMap<&str, usize> = HashMap::default();
    let mut declared: Option<usize> = None;
    // Who wrote a file is known before who reads it is asked.
    for (index, chapter) in chapters.iter().enumerate() {
        for path in paths(chapter, true) {
            written.entry(path).or_insert(index);
        }
    }
    for (index, chapter) in chapters.iter().enumerate() {
        let mut alone = true;
        if chapter.declared() {
            join(&mut homes, index, *declared.get_or_insert(index));
        }
        for path in paths(chapter, true).chain(paths(chapter, false)) {
            if let Some(&other) = written.get(&path) {
                join(&mut homes, index, other);
                alone = false;
            }
        }
        for value in chapter.units.iter().flat_map(Unit::all).flat_map(said) {
            let other = *heard.entry(value).or_insert(index);
            join(&mut homes, index, other);
        }
        if alone && index > 0 {
            join(&mut homes, index, index - 1);
        }
    }
    let mut jobs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in 0..chapters.len() {
        jobs.entry(root(&homes, index)).or_default().push(index);
    }
    jobs.into_values().collect()
}

/// The paths that a chapter wrote, or read.
fn paths<'c>(chapter: &'c Chapter<'_>, written: bool) -> impl Iterator<Item = Cow<'c, str>> {
    let calls = chapter.units.iter().flat_map(Unit::all).filter_map(Entry::call);
    let paths = calls.flat_map(move |call| if written { &call.writes } else { &call.reads });
    paths.filter(|path| !cru_action::is_scratch(path)).map(|path| Cow::Borrowed(path.as_ref()))
}

/// The values in what a person said, and in commands.
fn said<'e>(entry: &'e Entry<'_>) -> Vec<&'e str> {
    let text = match entry {
        Entry::Request { user, .. } => user.words.as_str(),
        Entry::Call(call) if call.shell => call.text.as_str(),
        _ => return Vec::new(),
    };
    values(text, "").map(|(value, _)| value).collect()
}

fn root(homes: &[usize], mut index: usize) -> usize {
    while homes[index] != index {
        index = homes[index];
    }
    index
}

/// The earlier of two roots leads.
fn join(homes: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(homes, a), root(homes, b));
    let (first, last) = (a.min(b), a.max(b));
    homes[last] = first;
}
