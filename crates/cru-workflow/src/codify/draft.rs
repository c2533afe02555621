//! Drafts of steps: which parts of the session each is made of, and what it is called.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use rayon::prelude::*;

use super::activity::{self, Activity, ActivityGroup};
use super::call::{Call, CallKind};
use super::chapter::Chapter;
use super::unit::Entry;
use super::{Options, clean, request, title};
use crate::heading::{is_agent, is_channel};
use crate::model::{Need, Step};
use cru_graph::plan::{self, Section};
use cru_graph::{Place, Plan};
use cru_reading::answer::WorkGroup;
use cru_session::words::pasted;
use cru_session::words::title::{self as words_title, Title};
use cru_session::{Agent, Item, Link, Phase, Session, Subagent, User};

/// A step to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft<'a> {
    /// 2 to 6.
    pub level: u8,
    /// Index into the drafts.
    pub parent: Option<usize>,
    /// Title, unique among the drafts.
    pub title: String,
    /// Agent of the leading phase or sub-agent.
    pub agent: Option<&'a Agent>,
    /// Channel of the leading phase.
    pub channel: Option<&'a str>,
    /// What was said and done, in the order of the page.
    pub entries: Vec<Entry<'a>>,
    /// What its calls are about, where it is a part of a chapter.
    pub activity: Option<Activity>,
    /// What a plan or a task calls it.
    hint: Option<String>,
    /// The request that it opens with: nothing was done or concluded before it.
    pub opening: Option<&'a User>,
    /// The request after which it is called.
    called: Option<&'a User>,
    /// The task that a sub-agent's own session was given.
    pub task: Option<&'a str>,
    /// The sub-agent it is, if it is one.
    pub subagent: Option<&'a Subagent>,
    /// The phases it is made of.
    pub phases: Vec<usize>,
    /// Links back.
    pub origin: Vec<Link>,
    /// What leads it.
    lead: Option<Lead<'a>>,
    /// Whether somebody said that it may be left out.
    optional: bool,
}

/// What a chapter is called after.
#[derive(Clone, Copy, Debug)]
struct Lead<'a> {
    phase: &'a Phase,
    /// Whether its heading is somebody's own.
    declared: bool,
    /// Whether the phase is called after these words.
    first: bool,
    /// The words.
    request: Option<&'a User>,
}

/// How chapters are cut into steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// By a plan or tasks, else by what was done; sub-agents are steps below.
    ByWork,
    /// Only where a plan or tasks name the parts.
    ByName,
}

/// The drafts in document order.
pub(super) fn drafts<'a>(
    session: &'a Session,
    chapters: Vec<Chapter<'a>>,
    plan: &Plan<'a>,
    cut: Cut,
) -> Vec<Draft<'a>> {
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    let sole = chapters.len() == 1;
    let mut outline: Vec<Section> = Vec::new();
    let mut done: HashSet<String> = HashSet::default();
    for chapter in chapters {
        if let Some(own) = outline_of(&chapter, plan) {
            outline = own;
        }
        match cut {
            Cut::ByWork => add(session, chapter, sole, (&outline, &mut done), &mut drafts),
            Cut::ByName => add_named(session, chapter, &outline, &mut drafts),
        }
    }
    drafts
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

/// Adds the steps of a chapter as tasks or a plan name them; else it is one.
fn add_named<'a>(session: &'a Session, chapter: Chapter<'a>, outline: &[Section], drafts: &mut Vec<Draft<'a>>) {
    let (base, lead) = base(&chapter);
    let (declared, task) = (chapter.declared(), base.task);
    let first = drafts.len();
    let mut entries: Vec<Entry<'a>> = Vec::new();
    let mut parts: Vec<(usize, Vec<Entry<'a>>)> = Vec::new();
    for unit in chapter.units {
        entries.extend(unit.entries);
        parts.extend(unit.parts);
    }
    let groups = if declared { Vec::new() } else { activity::named(std::mem::take(&mut entries), outline) };
    if groups.len() > 1 {
        for group in groups {
            let mut draft = of_group(&base, group, None);
            draft.opening = draft.opens_with();
            put(session, drafts, draft);
        }
    } else {
        entries.extend(groups.into_iter().flat_map(|group| group.entries));
        put(session, drafts, Draft { entries, ..base.clone() });
    }
    for (index, entries) in parts {
        if let Some(draft) = of_part(session, index, entries, first, &base) {
            put(session, drafts, draft);
        }
    }
    call_after(drafts, first, lead, task);
}

fn add<'a>(
    session: &'a Session,
    chapter: Chapter<'a>,
    sole: bool,
    (outline, done): (&[Section], &mut HashSet<String>),
    drafts: &mut Vec<Draft<'a>>,
) {
    let (base, lead) = base(&chapter);
    let (declared, task) = (chapter.declared(), base.task);
    let mut entries: Vec<Entry<'a>> = Vec::new();
    let mut parts: Vec<(usize, Vec<Entry<'a>>)> = Vec::new();
    for unit in chapter.units {
        entries.extend(unit.entries);
        parts.extend(unit.parts);
    }
    let mut groups = activity::groups(entries, outline, done);
    name_changes(&mut groups);
    let flat = sole && !declared && parts.is_empty() && groups.len() > 1;
    let first = drafts.len();
    if groups.len() < 2 {
        let entries = groups.into_iter().flat_map(|group| group.entries).collect();
        push(session, drafts, Draft { entries, task, ..base.clone() });
    } else if flat {
        for group in groups {
            let draft = of_group(&base, group, None);
            push(session, drafts, draft);
        }
    } else {
        // What opens the chapter stands above its parts.
        let opening = groups.first_mut().map(|group| {
            let calls = group.entries.iter().position(|entry| entry.call().is_some()).unwrap_or(0);
            group.entries.drain(..calls).collect::<Vec<_>>()
        });
        push(session, drafts, Draft { entries: opening.unwrap_or_default(), task, ..base.clone() });
        for group in groups {
            let draft = of_group(&base, group, Some(first));
            push(session, drafts, draft);
        }
    }
    for (index, entries) in parts {
        if let Some(draft) = of_part(session, index, entries, first, &base) {
            push(session, drafts, draft);
        }
    }
    call_after(drafts, first, lead, task);
}

/// What the steps of a chapter have in common, and what leads it.
fn base<'a>(chapter: &Chapter<'a>) -> (Draft<'a>, Option<Lead<'a>>) {
    let lead = chapter.units.get(chapter.lead()).and_then(|unit| {
        let requests = unit.entries.iter().filter_map(|entry| match entry {
            Entry::Request { user, corrects: false, .. } => Some(*user),
            _ => None,
        });
        let request = requests.clone().find(|user| !request::is_talk(&user.words)).or_else(|| requests.clone().next());
        let (_, phase) = unit.phase?;
        Some(Lead { phase, declared: unit.declared, first: unit.first, request })
    });
    let phase = lead.map(|lead| lead.phase);
    let base = Draft {
        level: 2,
        agent: phase.and_then(|phase| phase.agent.as_ref()),
        channel: phase.and_then(|phase| phase.channel.as_deref()),
        phases: phases(chapter.units.iter().filter_map(|unit| Some(unit.phase?.0))),
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
    let request = entries.iter().find_map(|entry| match entry {
        Entry::Request { user, .. } => Some(*user),
        _ => None,
    });
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

/// Adds a step that somebody named.
pub(super) fn push_named<'a>(
    session: &'a Session,
    drafts: &mut Vec<Draft<'a>>,
    group: &WorkGroup,
    lead: Option<&'a Phase>,
    entries: Vec<Entry<'a>>,
    cut: Cut,
) {
    let base = Draft {
        agent: lead.and_then(|phase| phase.agent.as_ref()),
        channel: lead.and_then(|phase| phase.channel.as_deref()),
        ..Draft::default()
    };
    let named = ActivityGroup { activity: Activity::Mixed, title: Some(group.title.clone()), entries };
    let mut draft = of_group(&base, named, None);
    draft.optional = group.optional;
    draft.opening = draft.opens_with();
    match cut {
        Cut::ByWork => push(session, drafts, draft),
        Cut::ByName => put(session, drafts, draft),
    }
}

/// Adds steps that were made by themselves: what they say of each other's places moves along.
pub(super) fn extend<'a>(drafts: &mut Vec<Draft<'a>>, mut below: Vec<Draft<'a>>) {
    let first = drafts.len();
    for draft in &mut below {
        draft.parent = draft.parent.map(|at| at + first);
    }
    drafts.append(&mut below);
}

/// Calls the changes of a round as the one commit does that took them up: after what was changed, and the last of it was
/// committed in the next hand-over.
fn name_changes(groups: &mut [ActivityGroup<'_>]) {
    let mut changed: Vec<usize> = Vec::new();
    for at in 0..groups.len() {
        match groups[at].activity {
            Activity::Change => changed.push(at),
            Activity::Publish => {
                let calls: Vec<&Call<'_>> = groups[at].entries.iter().filter_map(Entry::call).collect();
                let message = title::commit(&calls).filter(|_| title::is_of_one_commit(&calls));
                let edits = |call: &Call<'_>| call.kind == CallKind::Edit && call.succeeded();
                if let (Some(message), [only]) = (message, changed.as_slice())
                    && groups[*only].title.is_none()
                    && groups[*only].entries.iter().filter_map(Entry::call).any(edits)
                {
                    groups[*only].title = Some(capital(&message));
                }
                changed.clear();
            }
            Activity::Mixed => changed.clear(),
            Activity::Explore | Activity::Verify => {}
        }
    }
}

/// A message as a title: its first word, where it is a plain word, with a capital letter.
fn capital(message: &str) -> String {
    let plain = message.split(' ').next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    match message.get(..1).filter(|_| plain) {
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), &message[1..]),
        None => message.to_owned(),
    }
}

/// A part of a chapter as a step.
fn of_group<'a>(base: &Draft<'a>, group: ActivityGroup<'a>, parent: Option<usize>) -> Draft<'a> {
    let of_entry = |entry: &Entry<'a>| match entry {
        Entry::Call(call) => call.place.phase,
        Entry::Item(_, place) => place.phase,
        _ => None,
    };
    let phases = phases(group.entries.iter().filter_map(of_entry));
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

/// Joins neighbours until `most` are left: first what stands below another step, then the lightest. A joined step keeps the name of
/// the one in which more was done.
pub(super) fn fold(drafts: &mut Vec<Draft<'_>>, most: usize) {
    let weight = |draft: &Draft<'_>| draft.calls().filter(|call| call.acts()).count() + 1;
    let mut bound = 0;
    while drafts.len() > most.max(1) {
        let mut left = drafts.len();
        let mut joined: Vec<(usize, Draft<'_>)> = Vec::with_capacity(left);
        for draft in drafts.drain(..) {
            let own = weight(&draft);
            let fits = |(sum, _): &&mut (usize, Draft<'_>)| {
                left > most.max(1) && if bound == 0 { draft.parent.is_some() } else { *sum + own <= bound }
            };
            match joined.last_mut().filter(fits) {
                Some((sum, last)) => {
                    last.join(draft, own > *sum);
                    *sum += own;
                    left -= 1;
                }
                None => joined.push((own, draft)),
            }
        }
        drafts.extend(joined.into_iter().map(|(_, draft)| draft));
        bound = if bound == 0 { 2 } else { bound * 2 };
    }
    // Where something was joined, no place of a parent is what it was.
    if bound > 0 {
        for draft in drafts {
            (draft.parent, draft.level) = (None, 2);
        }
    }
}

/// Each phase once, in order.
fn phases(of: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut phases: Vec<usize> = Vec::new();
    for index in of {
        if phases.last() != Some(&index) && !phases.contains(&index) {
            phases.push(index);
        }
    }
    phases
}

/// Adds a draft.
fn put<'a>(session: &'a Session, drafts: &mut Vec<Draft<'a>>, mut draft: Draft<'a>) {
    let id = session.meta.session_id.as_ref();
    let link = |index: &usize| {
        let phase = session.phases.get(*index)?;
        Some(Link { target: clean(id?), block: Some(clean(&phase.id)), ..Link::default() })
    };
    draft.origin = draft.phases.iter().filter_map(link).collect();
    drafts.push(draft);
}

/// Adds a draft, and below it its sub-agents.
fn push<'a>(session: &'a Session, drafts: &mut Vec<Draft<'a>>, draft: Draft<'a>) {
    let at = drafts.len();
    put(session, drafts, draft);
    let Some(draft) = drafts.get(at) else { return };
    let level = draft.level;
    let origin = draft.origin.first().cloned();
    let below: Vec<Draft<'a>> = draft
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Item(Item::Subagent(subagent), place) => {
                Some(Draft::of_subagent(subagent, *place, session, origin.as_ref()))
            }
            _ => None,
        })
        .collect();
    for sub in below {
        drafts.push(Draft { level: (level + 1).min(6), parent: Some(at), ..sub });
    }
}

/// Gives each draft a title of its own: conditions and flows name steps by them. `sole` says that there is one chapter.
pub(super) fn set_titles(session: &Session, sole: bool, drafts: &mut [Draft<'_>], cut: Cut) {
    let sole = Some(session).filter(|_| sole);
    let title = |draft: &Draft<'_>| match (draft.subagent, draft.activity, draft.lead) {
        (Some(subagent), ..) => subagent_title(subagent),
        (None, Some(_), Some(lead)) if cut == Cut::ByName && draft.hint.is_none() => {
            lead_title(draft, &lead, sole, cut)
        }
        (None, Some(activity), _) => group_title(draft, activity),
        (None, None, Some(lead)) => lead_title(draft, &lead, sole, cut),
        (None, None, None) => of_work(draft).unwrap_or_else(|| "Work".to_owned()),
    };
    let mut titles: Vec<String> = drafts.par_iter().map(title).collect();
    // A part that is called as the whole says more by what was done in it.
    for (index, draft) in drafts.iter().enumerate() {
        let whole = draft.parent.filter(|_| draft.activity.is_some()).and_then(|parent| titles.get(parent));
        if whole.is_some_and(|whole| *whole == titles[index])
            && let Some(made) = of_work(draft)
        {
            titles[index] = clean(&made);
        }
    }
    make_unique(&mut titles);
    for (draft, title) in drafts.iter_mut().zip(titles) {
        draft.title = title;
    }
}

impl<'a> Draft<'a> {
    /// What was done.
    pub(super) fn calls(&self) -> impl DoubleEndedIterator<Item = &Call<'a>> + Clone {
        self.entries.iter().filter_map(Entry::call)
    }

    /// How much it is needed: what somebody said of it, else what the record says.
    pub(super) fn need(&self, of_record: Need) -> Need {
        if self.optional { Need::Optional } else { of_record }
    }

    /// What people asked for, corrections left out.
    pub(super) fn requests(&self) -> impl Iterator<Item = &'a User> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Request { user, corrects: false, .. } => Some(*user),
            _ => None,
        })
    }

    /// The first request in it that says more than to go on, where nothing was done, decided or concluded before it.
    fn opens_with(&self) -> Option<&'a User> {
        let comes_first = |entry: &&Entry<'a>| match entry {
            Entry::Request { user, corrects, .. } => !corrects && request::is_nod(&user.words),
            Entry::Item(Item::Prose(_) | Item::Tasks(_), _) => true,
            Entry::Item(Item::Callout(callout), _) => callout.kind != "gate",
            _ => false,
        };
        match self.entries.iter().find(|entry| !comes_first(entry)) {
            Some(Entry::Request { user, corrects: false, .. }) => Some(*user),
            _ => None,
        }
    }

    /// The request after which it is called.
    pub(super) fn called(&self) -> Option<&'a User> {
        self.called
    }

    /// Everything that people said.
    pub(super) fn said(&self) -> impl Iterator<Item = &'a User> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Request { user, .. } => Some(*user),
            _ => None,
        })
    }

    /// Takes in the next one, under its name where `renames`.
    fn join(&mut self, next: Self, renames: bool) {
        // Names that a reader gave are kept: one of them alone would say less than what is done.
        let named = self.hint.as_ref().zip(next.hint.as_ref()).map(|(own, next)| format!("{own}; {next}"));
        if renames {
            (self.agent, self.channel) = (next.agent, next.channel);
            (self.lead, self.called, self.hint, self.activity) = (next.lead, next.called, next.hint, next.activity);
        }
        self.hint = named.or(self.hint.take());
        self.optional &= next.optional;
        self.task = self.task.or(next.task);
        self.entries.extend(next.entries);
        for (index, link) in next.phases.into_iter().zip(next.origin) {
            if !self.phases.contains(&index) {
                self.phases.push(index);
                self.origin.push(link);
            }
        }
    }

    /// Whether somebody who read the session named it.
    pub(super) const fn is_named(&self) -> bool {
        self.hint.is_some()
    }

    fn is_empty(&self) -> bool {
        let counts = |entry: &Entry<'_>| match entry {
            Entry::Call(_) => true,
            Entry::Item(Item::Decision(_) | Item::Subagent(_), _) => true,
            Entry::Item(Item::Callout(callout), _) => callout.kind == "gate",
            _ => false,
        };
        !self.entries.iter().any(counts)
    }

    fn of_subagent(subagent: &'a Subagent, place: Place, session: &Session, phase: Option<&Link>) -> Self {
        let own = subagent.link.as_ref().filter(|link| !link.target.is_empty());
        let origin =
            own.map(|link| Link { embed: false, alias: None, span: cru_base::Span::default(), ..link.clone() });
        let project = session.meta.project.as_deref();
        let entry = |item: &'a Item| match item {
            Item::Step(step) => Entry::Call(Box::new(Call::of(step, place, project))),
            Item::User(user) => Entry::Request { user, corrects: user.correction, rules: user.correction },
            item => Entry::Item(item, place),
        };
        Draft {
            agent: subagent.agent.as_ref(),
            subagent: Some(subagent),
            entries: subagent.items.iter().map(entry).collect(),
            origin: origin.or_else(|| phase.cloned()).into_iter().collect(),
            ..Draft::default()
        }
    }

    /// The heading of the step; body and mark are still missing. Every step gets an agent or a channel, else it would
    /// be read as prose.
    pub(super) fn step(&self, session: &Session, options: Options) -> Step {
        let named = |agent: &Agent| {
            let version = agent.version.clone().filter(|_| options.versions);
            let text = agent.name.clone() + &version.as_ref().map_or(String::new(), |version| format!("@{version}"));
            is_agent(&text).then(|| Agent { name: agent.name.clone(), version })
        };
        let channel = self.channel.filter(|channel| is_channel(channel)).map(str::to_owned);
        let mut agent = self.agent.and_then(named);
        if agent.is_none() && channel.is_none() {
            let host = session.meta.host.as_deref().map(Agent::parse);
            agent = session.meta.participants.iter().chain(&host).find_map(named);
            agent = agent.or_else(|| Some(Agent { name: "agent".into(), version: None }));
        }
        Step {
            level: self.level,
            parent: self.parent,
            title: self.title.clone(),
            agent,
            channel,
            origin: self.origin.clone(),
            ..Step::default()
        }
    }
}

/// Whether a session is called after a request with which it ended and for which nothing was done: the work before has
/// another name.
pub(super) fn is_of_idle_end(session: &Session) -> bool {
    let does = |phase: &Phase| {
        phase.items.iter().any(|item| matches!(item, Item::Step(_) | Item::Decision(_) | Item::Subagent(_)))
    };
    let Some(last) = session.phases.iter().rposition(does) else { return false };
    let own = session.title().trim();
    let named = session.phases.iter().position(|phase| phase.title.trim() == own);
    session.meta.host.is_some() && named.is_some_and(|named| named > last)
}

/// What to call the work of a sub-agent: what it was told to do.
fn subagent_title(subagent: &Subagent) -> String {
    let named = words_title::of(subagent.task.as_deref().unwrap_or("")).map(Title::into_text);
    let name = subagent.agent.as_ref().map(|agent| agent.name.as_str()).filter(|name| is_agent(name));
    named.map_or_else(|| format!("Let {} work", name.unwrap_or("the sub-agent")), |named| clean(&named))
}

/// What to call a part of a chapter: as the plan or task does, else after what was done.
fn group_title(draft: &Draft<'_>, activity: Activity) -> String {
    let hint = draft.hint.as_deref().map(|hint| title::given(strip_number(&clean(hint))));
    if let Some(hint) = hint.filter(|hint| hint.contains(char::is_alphanumeric)) {
        return hint;
    }
    let calls: Vec<&Call<'_>> = draft.calls().collect();
    let made = match activity {
        Activity::Explore => title::from_looks(&calls),
        Activity::Change => title::from_files(&calls).or_else(|| title::from_commands(&calls)),
        Activity::Verify => title::from_checks(&calls),
        Activity::Publish => title::from_commits(&calls),
        Activity::Mixed => {
            let asked = draft.said().map(|user| user.words.as_str()).filter_map(words_title::of);
            asked.filter(|title| title.tells).map(Title::into_text).next()
        }
    };
    let made = made.or_else(|| of_work(draft)).unwrap_or_else(|| "Work".to_owned());
    clean(&made)
}

/// What to call a step after what was done in it.
fn of_work(draft: &Draft<'_>) -> Option<String> {
    let calls: Vec<&Call<'_>> = draft.calls().collect();
    title::from_files(&calls).or_else(|| title::from_commands(&calls)).or_else(|| title::from_looks(&calls))
}

/// What to call a step that a phase or turn leads: as the note calls it, where that names something.
fn lead_title(draft: &Draft<'_>, lead: &Lead<'_>, sole: Option<&Session>, cut: Cut) -> String {
    let own = clean(&lead.phase.title);
    let own = strip_number(&own);
    if lead.declared && own.contains(char::is_alphanumeric) {
        return title::given(own);
    }
    // Words of the turn in which most was done come first, then those with which the step opens, then the others.
    let asks = |user: &&User| !request::is_talk(&user.words);
    let request = lead.request.filter(asks).or(draft.called).or(lead.request);
    let opens = lead.request.zip(request).is_none_or(|(lead, request)| std::ptr::eq(lead, request));
    let pasted = request.is_some_and(|user| pasted::is_mostly_pasted(&user.words));
    let named = Some(own).filter(|own| lead.first && opens && !pasted && words_title::tells(own)).map(str::to_owned);
    let asked = || {
        let people = request.into_iter().chain(lead.request).chain(draft.requests()).map(|user| user.words.as_str());
        let titles = people.chain(draft.task).filter_map(words_title::of);
        titles.filter(|title| title.tells && !pasted).map(Title::into_text).next()
    };
    let calls: Vec<&Call<'_>> = draft.calls().collect();
    // What a commit says of the work tells more than the log that asked for it.
    let committed = || title::commit(&calls).filter(|_| title::is_of_one_commit(&calls));
    let of_session = || {
        let session = sole.filter(|session| !is_of_idle_end(session))?;
        Some(clean(session.title())).filter(|title| words_title::tells(title))
    };
    let decided = || {
        draft.entries.iter().find_map(|entry| match entry {
            Entry::Item(Item::Decision(it), _) => Some(title::given(&format!("Decide: {}", clean(&it.callout.title)))),
            _ => None,
        })
    };
    let said = || lead.request.and_then(|user| words_title::of(&user.words)).map(Title::into_text);
    let made = asked()
        .or(named)
        .or_else(committed)
        .or_else(of_session)
        .or_else(|| of_work(draft).filter(|_| cut == Cut::ByWork))
        .or_else(decided)
        .or_else(said)
        .unwrap_or_else(|| title::given(own));
    if made.contains(char::is_alphanumeric) { clean(&made) } else { "Work".to_owned() }
}

/// Without `Phase 2:` or `3.` before it; the order of a workflow is its own.
fn strip_number(title: &str) -> &str {
    let rest = title.strip_prefix("Phase ").or_else(|| title.strip_prefix("phase ")).unwrap_or(title);
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if after.len() == rest.len() {
        return title;
    }
    let stripped = after.trim_start_matches([':', '.', ')']);
    let cut = stripped.len() < after.len() && stripped.starts_with(' ') && !stripped.trim().is_empty();
    if cut { stripped.trim_start() } else { title }
}

fn make_unique(titles: &mut [String]) {
    let mut counts: HashMap<String, usize> = HashMap::with_capacity(titles.len());
    let mut taken: HashSet<String> = titles.iter().map(|title| title.to_lowercase()).collect();
    taken.extend(["goals".to_owned(), "validation".to_owned()]);
    for title in titles {
        let key = title.to_lowercase();
        let reserved = key == "goals" || key == "validation";
        let count = counts.entry(key).or_insert(0);
        *count += 1;
        if *count == 1 && !reserved {
            continue;
        }
        let mut number = (*count).max(2);
        let mut numbered = format!("{title} ({number})");
        while !taken.insert(numbered.to_lowercase()) {
            number += 1;
            numbered = format!("{title} ({number})");
        }
        *count = number;
        *title = numbered;
    }
}
