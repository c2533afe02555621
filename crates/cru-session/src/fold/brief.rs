//! The short account of a stream: what is left out of it, and the line that says so.
//!
//! Phases, the words of a person, decisions, errors, sub-agents and tasks stay whole. Of calls stay those that changed
//! something or may have, those that failed, and those that another block names, each on its line; of what the agent said,
//! the last words before each of the person's and at a phase's end, cut where they are long. The rest is counted where the phase ends, with its ids: they are
//! the ones that a longer account has.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use jiff::Timestamp;

use super::part;
use super::step::StepDraft;
use super::stream::NoteEntry;
use crate::attempt::{Attempt, is_shell};
use crate::words::quote;
use crate::{Item, Link, Step, StepStatus};
use cru_base::text::plural;

/// Characters of what the agent said last in a turn.
const REPLY: usize = 600;

/// Takes out of a stream's entries what is not shown. `errors` are the callouts that steps get.
pub(super) fn shorten(entries: Vec<NoteEntry>, steps: &[StepDraft], errors: &BTreeMap<usize, Item>) -> Vec<NoteEntry> {
    let mut named = HashSet::new();
    for item in errors.values() {
        name(item, &mut named);
    }
    for entry in &entries {
        if let NoteEntry::Item(item) = entry {
            name(item, &mut named);
        }
    }
    let mut kept = Vec::with_capacity(entries.len());
    let mut left = Left::default();
    // The agent's last words, as long as nobody knows whether more come.
    let mut reply: Option<(usize, Box<str>)> = None;
    for entry in entries {
        match entry {
            NoteEntry::Step(index) if steps.get(index).is_some_and(|draft| is_left(draft, &named)) => {
                left.step(index, &steps[index]);
            }
            NoteEntry::Reply(text) => {
                if reply.replace((kept.len(), text)).is_some() {
                    left.replies += 1;
                }
            }
            NoteEntry::Phase(_) => {
                settle(&mut kept, &mut reply);
                kept.extend(left.take());
                kept.push(entry);
            }
            NoteEntry::Item(ref item) if matches!(**item, Item::User(_)) => {
                settle(&mut kept, &mut reply);
                kept.push(entry);
            }
            NoteEntry::Step(_) | NoteEntry::Item(_) => kept.push(entry),
        }
    }
    settle(&mut kept, &mut reply);
    kept.extend(left.take());
    for entry in &mut kept {
        match entry {
            NoteEntry::Reply(text) => shorten_reply(text),
            NoteEntry::Item(item) => without_body(item),
            NoteEntry::Phase(_) | NoteEntry::Step(_) => {}
        }
    }
    kept
}

/// Takes from a step what a brief does not tell: a command that goes on behind its line, files that it read.
pub(super) fn shorten_step(step: &mut Step) {
    step.command = None;
    step.reads.clear();
}

/// Of words of the agent that are longer, the first sentences stay.
fn shorten_reply(text: &mut Box<str>) {
    if text.chars().count() > REPLY {
        let told = quote(text, REPLY);
        if !told.is_empty() {
            *text = told.into();
        }
    }
}

/// The host's own summary, which repeats what was told, keeps its title.
fn without_body(item: &mut Item) {
    if let Item::Callout(it) = item
        && it.kind == "summary"
    {
        it.body.clear();
    }
}

/// Puts the last words where they were said.
fn settle(kept: &mut Vec<NoteEntry>, reply: &mut Option<(usize, Box<str>)>) {
    if let Some((at, text)) = reply.take() {
        kept.insert(at.min(kept.len()), NoteEntry::Reply(text));
    }
}

/// The blocks that an item links to.
fn name(item: &Item, named: &mut HashSet<String>) {
    const OPEN: &str = "[[#^";
    let mut links = |links: &[Link]| named.extend(links.iter().filter_map(|link| link.block.clone()));
    match item {
        Item::Decision(it) => links(&it.rests_on),
        Item::Error(it) => {
            links(&it.steps);
            links(&it.resolved_by);
        }
        Item::Callout(it) => {
            let targets = it.body.split(OPEN).skip(1).filter_map(|rest| rest.split_once("]]"));
            named.extend(targets.map(|(id, _)| id.to_owned()));
        }
        _ => {}
    }
}

fn is_left(draft: &StepDraft, named: &HashSet<String>) -> bool {
    let step = &draft.step;
    let is_quiet = draft.answered && !draft.denied && step.status == StepStatus::Complete && draft.runs.is_empty();
    let is_named = step.id.as_ref().is_some_and(|id| named.contains(id));
    if !is_quiet || is_named || !step.writes.is_empty() {
        return false;
    }
    if !is_shell(&step.tool) {
        return draft.attempt == Attempt::Look;
    }
    step.action().is_read_only()
}

/// What a phase does not show.
#[derive(Default)]
struct Left {
    tools: BTreeMap<String, u64>,
    /// Runs of steps, by their indexes.
    runs: Vec<(usize, usize)>,
    replies: u64,
    /// When the last of them was done, by which a pause after it is measured.
    last: Option<Timestamp>,
}

impl Left {
    fn step(&mut self, index: usize, draft: &StepDraft) {
        *self.tools.entry(draft.step.tool.clone()).or_default() += 1;
        self.last = self.last.max(draft.step.time);
        match self.runs.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => self.runs.push((index, index)),
        }
    }

    /// The callout that tells of it; nothing where all is shown.
    fn take(&mut self) -> Option<NoteEntry> {
        let Self { tools, runs, replies, last } = std::mem::take(self);
        if tools.is_empty() && replies == 0 {
            return None;
        }
        let mut title = Vec::new();
        if !tools.is_empty() {
            let mut tools: Vec<(String, u64)> = tools.into_iter().collect();
            tools.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            let sum = tools.iter().map(|(_, count)| count).sum();
            let each: Vec<String> = tools.iter().map(|(tool, count)| format!("{count} {tool}")).collect();
            title.push(format!("{} that only looked ({})", plural(sum, "call"), each.join(", ")));
        }
        if replies > 0 {
            title.push(plural_replies(replies));
        }
        let mut ids = String::new();
        for (first, last) in runs {
            let id = super::step::step_id;
            let _ = match last - first {
                0 => write!(ids, ", {}", id(first)),
                1 => write!(ids, ", {}, {}", id(first), id(last)),
                _ => write!(ids, ", {} … {}", id(first), id(last)),
            };
        }
        Some(NoteEntry::item(part::left_out(&title.join(", "), ids.trim_start_matches(", "), last)))
    }
}

fn plural_replies(count: u64) -> String {
    if count == 1 { "1 earlier reply".to_owned() } else { format!("{count} earlier replies") }
}
