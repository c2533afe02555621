//! Chapters cut into drafts of steps: as somebody named them who read the session, as a plan or tasks name them, else by what
//! was done.
//!
//! Where a reader named steps, commands, files and checks still come from the record. A chapter of which no call is in a group
//! stays as it is. In the others calls of no group stay with the group before them, words of a person go with what was done next,
//! the agent's with what was done before.

use foldhash::{HashMap, HashSet};

use super::activity::{self, Activity, ActivityGroup};
use super::chapter::Chapter;
use super::draft::{Cut, Draft, Lead};
use super::unit::{Entry, Unit};
use super::{clean, request, step_title};
use cru_base::list::distinct;
use cru_graph::Plan;
use cru_graph::plan::{self, Section};
use cru_reading::answer::WorkGroup;
use cru_session::{Item, Link, Phase, Session, User};

/// What becomes steps.
enum Stretch<'a> {
    /// A group, by its place, with what was said and done.
    Group(usize, Vec<Entry<'a>>),
    /// Chapters of no group.
    Chapters(Vec<Chapter<'a>>),
}

/// The drafts in document order: the steps of `groups` where calls of the session are in them, else those of the chapters.
pub(super) fn drafts<'a>(
    session: &'a Session,
    chapters: Vec<Chapter<'a>>,
    plan: &Plan<'a>,
    groups: &[WorkGroup],
    cut: Cut,
) -> Vec<Draft<'a>> {
    let lead = chapters.iter().flat_map(|chapter| &chapter.units).find_map(|unit| Some(unit.phase?.1));
    let mut drafter = Drafter { session, plan, cut, drafts: Vec::new() };
    for stretch in stretches(chapters, groups) {
        match stretch {
            Stretch::Group(at, entries) => {
                if let Some(group) = groups.get(at) {
                    drafter.add_group(group, lead, entries);
                }
            }
            Stretch::Chapters(chapters) => drafter.add_chapters(chapters),
        }
    }
    drafter.drafts
}

/// Groups and the chapters between them, in the order in which they were begun; all chapters together where there is no group.
fn stretches<'a>(chapters: Vec<Chapter<'a>>, groups: &[WorkGroup]) -> Vec<Stretch<'a>> {
    let mut group_of: HashMap<&str, usize> = HashMap::default();
    for (at, group) in groups.iter().enumerate() {
        for id in &group.steps {
            group_of.entry(id.as_str()).or_insert(at);
        }
    }
    let of = |entry: &Entry<'_>| group_of.get(entry.call()?.step.id.as_deref()?).copied();
    let is_grouped = |chapter: &Chapter<'a>| chapter.units.iter().flat_map(Unit::all).any(|it| of(it).is_some());
    if !chapters.iter().any(is_grouped) {
        return vec![Stretch::Chapters(chapters)];
    }
    let mut found: Vec<Stretch<'a>> = Vec::new();
    // Where each group stands in `found`.
    let mut places: HashMap<usize, usize> = HashMap::default();
    for chapter in chapters {
        if !is_grouped(&chapter) {
            found.push(Stretch::Chapters(vec![chapter]));
            continue;
        }
        let units = chapter.units.into_iter();
        let entries = units.flat_map(|unit| unit.entries.into_iter().chain(unit.parts.into_values().flatten()));
        let mut current: Option<usize> = None;
        let mut waiting: Vec<Entry<'a>> = Vec::new();
        for entry in entries {
            if let Some(group) = of(&entry) {
                let at = *places.entry(group).or_insert_with(|| {
                    found.push(Stretch::Group(group, Vec::new()));
                    found.len() - 1
                });
                add_waiting(&mut found, at, &mut waiting);
                current = Some(at);
            }
            waiting.push(entry);
            let asks = waiting.iter().any(|entry| matches!(entry, Entry::Request { .. }));
            if let Some(at) = current.filter(|_| !asks) {
                add_waiting(&mut found, at, &mut waiting);
            }
        }
        if let Some(at) = current {
            add_waiting(&mut found, at, &mut waiting);
        }
    }
    found
}

/// Adds what waits to the group that stands at `at`.
fn add_waiting<'a>(found: &mut [Stretch<'a>], at: usize, waiting: &mut Vec<Entry<'a>>) {
    if let Some(Stretch::Group(_, entries)) = found.get_mut(at) {
        entries.append(waiting);
    }
}

/// Drafts in the making.
struct Drafter<'a, 'p> {
    session: &'a Session,
    plan: &'p Plan<'a>,
    cut: Cut,
    drafts: Vec<Draft<'a>>,
}

impl<'a> Drafter<'a, '_> {
    /// Adds a step that somebody named.
    fn add_group(&mut self, group: &WorkGroup, lead: Option<&'a Phase>, entries: Vec<Entry<'a>>) {
        let base = Draft {
            agent: lead.and_then(|phase| phase.agent.as_ref()),
            channel: lead.and_then(|phase| phase.channel.as_deref()),
            ..Draft::default()
        };
        let named = ActivityGroup { activity: Activity::Mixed, title: Some(group.title.clone()), entries };
        let mut draft = of_group(&base, named, None);
        draft.optional = group.optional;
        draft.opening = draft.opens_with();
        self.push(draft);
    }

    /// Adds the steps of chapters that belong together.
    fn add_chapters(&mut self, chapters: Vec<Chapter<'a>>) {
        let sole = chapters.len() == 1;
        let mut outline: Vec<Section> = Vec::new();
        let mut done: HashSet<String> = HashSet::default();
        for chapter in chapters {
            if let Some(own) = outline_of(&chapter, self.plan) {
                outline = own;
            }
            self.add_chapter(chapter, sole, &outline, &mut done);
        }
    }

    fn add_chapter(&mut self, chapter: Chapter<'a>, sole: bool, outline: &[Section], done: &mut HashSet<String>) {
        let (base, lead) = base(&chapter);
        let declared = chapter.declared();
        let (mut entries, mut parts): (Vec<Entry<'a>>, Vec<(usize, Vec<Entry<'a>>)>) = (Vec::new(), Vec::new());
        for unit in chapter.units {
            entries.extend(unit.entries);
            parts.extend(unit.parts);
        }
        let mut groups = match self.cut {
            Cut::ByWork => activity::groups(entries, outline, done),
            Cut::ByName if declared => vec![ActivityGroup::unnamed(entries)],
            Cut::ByName => activity::named_groups(entries, outline),
        };
        if self.cut == Cut::ByWork {
            step_title::name_changes(&mut groups);
        }
        let is_flat = self.cut == Cut::ByName || (sole && !declared && parts.is_empty());
        let first = self.drafts.len();
        if groups.len() < 2 {
            let entries = groups.into_iter().flat_map(|group| group.entries).collect();
            self.push(Draft { entries, ..base.clone() });
        } else {
            if !is_flat {
                // What opens the chapter stands above its parts.
                let opening = groups.first_mut().map(|group| {
                    let calls = group.entries.iter().position(|entry| entry.call().is_some()).unwrap_or(0);
                    group.entries.drain(..calls).collect()
                });
                self.push(Draft { entries: opening.unwrap_or_default(), ..base.clone() });
            }
            for group in groups {
                let mut draft = of_group(&base, group, (!is_flat).then_some(first));
                draft.opening = draft.opens_with().filter(|_| self.cut == Cut::ByName);
                self.push(draft);
            }
        }
        for (index, entries) in parts {
            if let Some(draft) = of_part(self.session, index, entries, first, &base) {
                self.push(draft);
            }
        }
        call_after(&mut self.drafts, first, lead, base.task);
    }

    /// Adds a draft, and below it its sub-agents where the work is told.
    fn push(&mut self, mut draft: Draft<'a>) {
        let id = self.session.meta.session_id.as_ref();
        let link = |index: &usize| {
            let phase = self.session.phases.get(*index)?;
            Some(Link { target: clean(id?), block: Some(clean(&phase.id)), ..Link::default() })
        };
        draft.origin = draft.phases.iter().filter_map(link).collect();
        let mut below: Vec<Draft<'a>> = Vec::new();
        for entry in draft.entries.iter().filter(|_| self.cut == Cut::ByWork) {
            if let Entry::Item(Item::Subagent(subagent), place) = entry {
                let sub = Draft::of_subagent(subagent, *place, self.session, draft.origin.first());
                below.push(Draft { level: (draft.level + 1).min(6), parent: Some(self.drafts.len()), ..sub });
            }
        }
        self.drafts.push(draft);
        self.drafts.append(&mut below);
    }
}

/// The sections of the plan that a chapter was given: in the words of its request, or in a plan that was agreed to.
fn outline_of(chapter: &Chapter<'_>, plan: &Plan<'_>) -> Option<Vec<Section>> {
    let entries = || chapter.units.iter().flat_map(|unit| &unit.entries);
    let asked = plan.requested.iter().rev().find(|outline| {
        entries().any(|entry| matches!(entry, Entry::Request { user, .. } if std::ptr::eq(*user, outline.request)))
    });
    let agreed = || {
        plan.approved.iter().rev().find_map(|(_, decision)| {
            let here = |entry: &Entry<'_>| {
                matches!(entry, Entry::Item(Item::Decision(own), _) if std::ptr::eq(own, *decision))
            };
            entries().any(here).then(|| plan::sections(&decision.text)).filter(|sections| !sections.is_empty())
        })
    };
    asked.map(|outline| outline.sections.clone()).or_else(agreed)
}

/// What the steps of a chapter have in common, and what leads it.
fn base<'a>(chapter: &Chapter<'a>) -> (Draft<'a>, Option<Lead<'a>>) {
    let lead = chapter.units.get(chapter.lead()).and_then(|unit| {
        let requests = unit.entries.iter().filter_map(Entry::request);
        let request = requests.clone().find(|user| !request::is_talk(&user.words)).or_else(|| requests.clone().next());
        let (_, phase) = unit.phase?;
        Some(Lead { phase, declared: unit.declared, first: unit.first, request })
    });
    let phase = lead.map(|lead| lead.phase);
    let base = Draft {
        level: 2,
        agent: phase.and_then(|phase| phase.agent.as_ref()),
        channel: phase.and_then(|phase| phase.channel.as_deref()),
        phases: distinct(chapter.units.iter().filter_map(|unit| Some(unit.phase?.0)), usize::MAX),
        task: chapter.units.iter().find_map(|unit| unit.task),
        lead,
        ..Draft::default()
    };
    (base, lead)
}

/// A phase below one of a chapter as a step.
fn of_part<'a>(
    session: &'a Session,
    index: usize,
    entries: Vec<Entry<'a>>,
    parent: usize,
    base: &Draft<'a>,
) -> Option<Draft<'a>> {
    let phase = session.phases.get(index)?;
    let request = entries.iter().find_map(Entry::said);
    let draft = Draft {
        level: 3,
        parent: Some(parent),
        agent: phase.agent.as_ref().or(base.agent),
        channel: phase.channel.as_deref().or(base.channel),
        phases: vec![index],
        lead: Some(Lead { phase, declared: true, first: true, request }),
        entries,
        ..Draft::default()
    };
    (!draft.is_empty()).then_some(draft)
}

/// Says after which words the steps of a chapter, from `first` on, are called and with which they open.
fn call_after<'a>(drafts: &mut [Draft<'a>], first: usize, lead: Option<Lead<'a>>, task: Option<&'a str>) {
    if let Some(top) = drafts.get_mut(first) {
        let opens = |user: &&User| !request::is_talk(&user.words);
        let lead = lead.and_then(|lead| lead.request).filter(opens);
        // Those of the turn in which most was done, after which the step is called.
        let of_lead = top.requests().find(|user| lead.is_some_and(|lead| std::ptr::eq(lead, *user)));
        top.called = of_lead.or_else(|| top.requests().find(opens));
        top.opening = top.opens_with();
        top.task = task;
    }
    for draft in drafts.iter_mut().skip(first + 1).filter(|draft| draft.subagent.is_none() && draft.activity.is_none())
    {
        let called = draft.requests().find(|user| !request::is_talk(&user.words));
        draft.called = called;
        draft.opening = draft.opens_with();
    }
}

/// A part of a chapter as a step.
fn of_group<'a>(base: &Draft<'a>, group: ActivityGroup<'a>, parent: Option<usize>) -> Draft<'a> {
    let of_entry = |entry: &Entry<'a>| match entry {
        Entry::Call(call) => call.place.phase,
        Entry::Item(_, place) => place.phase,
        _ => None,
    };
    let phases = distinct(group.entries.iter().filter_map(of_entry), usize::MAX);
    Draft {
        level: if parent.is_some() { 3 } else { 2 },
        parent,
        activity: Some(group.activity),
        hint: group.title,
        phases: if phases.is_empty() { base.phases.clone() } else { phases },
        entries: group.entries,
        ..base.clone()
    }
}
