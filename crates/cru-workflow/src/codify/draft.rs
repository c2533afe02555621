//! Drafts of steps: which parts of the session each is made of, and what leads it.

use super::activity::Activity;
use super::call::Call;
use super::condense::{Neighbour, condense};
use super::unit::Entry;
use super::{Options, request};
use crate::heading::{is_agent, is_channel};
use crate::model::{Need, Step};
use cru_graph::Place;
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
    pub hint: Option<String>,
    /// The request that it opens with: nothing was done or concluded before it.
    pub opening: Option<&'a User>,
    /// The request after which it is called.
    pub called: Option<&'a User>,
    /// The task that a sub-agent's own session was given.
    pub task: Option<&'a str>,
    /// The sub-agent it is, if it is one.
    pub subagent: Option<&'a Subagent>,
    /// The phases it is made of.
    pub phases: Vec<usize>,
    /// Links back.
    pub origin: Vec<Link>,
    /// What leads it.
    pub lead: Option<Lead<'a>>,
    /// Whether somebody said that it may be left out.
    pub optional: bool,
}

/// How chapters are cut into steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// By a plan or tasks, else by what was done; sub-agents are steps below.
    ByWork,
    /// Only where a plan or tasks name the parts.
    ByName,
}

/// What a chapter is called after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead<'a> {
    pub phase: &'a Phase,
    /// Whether its heading is somebody's own.
    pub declared: bool,
    /// Whether the phase is called after these words.
    pub first: bool,
    /// The words.
    pub request: Option<&'a User>,
}

/// Joins neighbours until `most` are left: first what stands below another step, then the lightest.
pub(super) fn fold(drafts: &mut Vec<Draft<'_>>, most: usize) {
    if drafts.len() <= most.max(1) {
        return;
    }
    *drafts = condense(std::mem::take(drafts), most.max(1));
    // Where something was joined, no place of a parent is what it was.
    for draft in drafts {
        (draft.parent, draft.level) = (None, 2);
    }
}

impl Neighbour for Draft<'_> {
    fn weight(&self) -> usize {
        self.calls().filter(|call| call.acts()).count() + 1
    }

    fn is_below(&self) -> bool {
        self.parent.is_some()
    }

    /// A joined step keeps the name of the one in which more was done.
    fn join(&mut self, next: Self, is_heavier: bool) {
        // Names that a reader gave are kept: one of them alone would say less than what is done.
        let named = self.hint.as_ref().zip(next.hint.as_ref()).map(|(own, next)| format!("{own}; {next}"));
        if is_heavier {
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
        self.entries.iter().filter_map(Entry::request)
    }

    /// The first request in it that says more than to go on, where nothing was done, decided or concluded before it.
    pub(super) fn opens_with(&self) -> Option<&'a User> {
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

    /// Everything that people said.
    pub(super) fn said(&self) -> impl Iterator<Item = &'a User> {
        self.entries.iter().filter_map(Entry::said)
    }

    /// Whether somebody who read the session named it.
    pub(super) const fn is_named(&self) -> bool {
        self.hint.is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        let counts = |entry: &Entry<'_>| match entry {
            Entry::Call(_) => true,
            Entry::Item(Item::Decision(_) | Item::Subagent(_), _) => true,
            Entry::Item(Item::Callout(callout), _) => callout.kind == "gate",
            _ => false,
        };
        !self.entries.iter().any(counts)
    }

    pub(super) fn of_subagent(subagent: &'a Subagent, place: Place, session: &Session, phase: Option<&Link>) -> Self {
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
