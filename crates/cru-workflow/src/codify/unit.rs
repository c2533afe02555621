//! The turns of a session with what was done in each, as the pieces that steps are made of.
//!
//! Turns, conclusions, corrections and how the next words took the work are those of [`cru_graph::turn`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::HashMap;
use rayon::prelude::*;

use super::call::{Call, CallKind, Ended};
use super::request;
use cru_graph::turn::{PlacedItem, Sign, Turn};
use cru_graph::{FinalPath, Place, Taken};
use cru_session::correction::{is_choice, only_replies};
use cru_session::{Item, Phase, Prose, Session, Step, User};

/// Something that was said or done, in the order of the page.
#[derive(Clone, Debug)]
pub(super) enum Entry<'a> {
    /// A tool call.
    Call(Box<Call<'a>>),
    /// Words of a person.
    Request {
        /// The words.
        user: &'a User,
        /// Whether they correct the work before them.
        corrects: bool,
        /// Whether they are to be minded when it is done again.
        rules: bool,
    },
    /// The agent's closing words of a turn, and how the person took them.
    Conclusion(&'a Prose, Taken),
    /// Anything else.
    Item(&'a Item, Place),
}

impl<'a> Entry<'a> {
    /// The call that it is.
    pub(super) fn call(&self) -> Option<&Call<'a>> {
        match self {
            Self::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The words of a person that it is.
    pub(super) fn said(&self) -> Option<&'a User> {
        match self {
            Self::Request { user, .. } => Some(user),
            _ => None,
        }
    }

    /// What it asks for, where it corrects nothing.
    pub(super) fn request(&self) -> Option<&'a User> {
        self.said().filter(|_| !matches!(self, Self::Request { corrects: true, .. }))
    }
}

/// A turn; all turns of a phase whose heading is somebody's own are one unit.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(super) struct Unit<'a> {
    /// The level-2 phase that it stands in.
    pub phase: Option<(usize, &'a Phase)>,
    /// Whether the heading of the phase is somebody's own, not made from a prompt.
    pub declared: bool,
    /// Whether it is the first one of its phase, after whose words the phase is called.
    pub first: bool,
    /// Whether the request says nothing by itself: "continue".
    pub talk: bool,
    /// Whether it answers or lets go on what the turn before it ended with.
    pub answers: bool,
    /// Whether it corrects the turn before it.
    pub corrects: bool,
    /// How much was done.
    pub weight: usize,
    /// Whether anything was looked at.
    pub looked: bool,
    /// Files it wrote.
    pub written: Vec<Cow<'a, str>>,
    /// Programs and verbs that it ran.
    pub ran: Vec<String>,
    /// What the parent agent asked for, where the session is a sub-agent's.
    pub task: Option<&'a str>,
    /// What was said and done in the phase itself.
    pub entries: Vec<Entry<'a>>,
    /// What was done in phases below it, by their index.
    pub parts: BTreeMap<usize, Vec<Entry<'a>>>,
}

/// The turns of the final path.
pub(super) fn units<'a>(session: &'a Session, path: &FinalPath) -> Vec<Unit<'a>> {
    let turns = cru_graph::turns(session);
    let mut calls = calls(session, path);
    let mut units: Vec<Unit<'a>> = Vec::with_capacity(turns.len());
    let mut declared: Option<(usize, bool)> = None;
    let mut now = Taken::Unknown;
    for turn in &turns {
        let taken = std::mem::replace(&mut now, turn.taken);
        let phase = turn.phase.and_then(|index| Some((index, session.phases.get(index)?)));
        let own = match (phase, declared) {
            (None, _) => false,
            (Some((index, _)), Some((known, own))) if known == index => own,
            (Some((index, phase)), _) => {
                let own = !is_from_prompt(phase);
                declared = Some((index, own));
                own
            }
        };
        let index = phase.map(|(index, _)| index);
        // A section of prose (`## Goals`) is no step: what stands in it belongs to the work before it.
        if let Some((_, phase)) = phase
            && is_prose(phase, turn)
            && let Some(last) = units.last_mut()
        {
            last.entries.extend(turn.work.iter().map(|it| Entry::Item(it.item, it.place)));
            continue;
        }
        // What was typed while the agent worked ends no piece of work.
        let joins = (own || turn.queued) && units.last().is_some_and(|last| last.phase.map(|(last, _)| last) == index);
        let answers = matches!(taken, Taken::Answers | Taken::Continues | Taken::Accepts);
        // A word that answers says nothing without the question.
        let says_nothing = |words: &str| {
            let is_word = || words.split_whitespace().nth(1).is_none();
            request::is_talk(words) || is_choice(words) || (taken == Taken::Answers && is_word())
        };
        if !joins {
            units.push(Unit {
                phase,
                declared: own,
                first: units.last().is_none_or(|last| last.phase.map(|(last, _)| last) != index),
                talk: !turn.requests.is_empty() && turn.words().skip(turn.withdrawn).all(says_nothing),
                answers,
                corrects: turn.correction.is_some(),
                ..Unit::default()
            });
        }
        if let Some(unit) = units.last_mut() {
            unit.take(turn, &mut calls);
        }
    }
    units
}

/// Whether a turn stands in a section that is no phase: it has neither agent nor channel, and nothing was done or asked.
fn is_prose(phase: &Phase, turn: &Turn<'_>) -> bool {
    phase.agent.is_none() && phase.channel.is_none() && turn.requests.is_empty() && turn.steps().next().is_none()
}

/// Every call of the final path, by its place.
fn calls<'a>(session: &'a Session, path: &FinalPath) -> HashMap<Place, Call<'a>> {
    let project = session.meta.project.as_deref();
    let preface = session.preface.iter().enumerate().map(|(at, item)| (Place { phase: None, item: Some(at) }, item));
    let phases = (0..session.phases.len()).filter(|&index| path.has(index)).flat_map(|index| {
        let items = path.items(session, index).iter().enumerate();
        items.map(move |(at, item)| (Place { phase: Some(index), item: Some(at) }, item))
    });
    let steps: Vec<(Place, &Step)> =
        preface.chain(phases).filter_map(|(place, item)| Some((place, item.as_step()?))).collect();
    let read = |(place, step): (Place, &'a Step)| (place, Call::of(step, place, project));
    let read: Vec<(Place, Call<'a>)> = steps.into_par_iter().map(read).collect();
    read.into_iter().collect()
}

/// Looks from which a session that did nothing else is a review and no chat.
const REVIEW: usize = 3;

/// Whether there is anything that somebody could do again: something was changed, run, checked, decided or handed to
/// another agent, or looking around was the work.
pub(super) fn is_repeatable(units: &[Unit<'_>], session: &Session) -> bool {
    let mut looks = 0;
    let calls = units.iter().flat_map(Unit::all).filter_map(Entry::call);
    for call in calls.filter(|call| call.ended != Ended::Denied) {
        if call.acts() {
            return true;
        }
        looks += usize::from(call.succeeded());
    }
    let counts = |item: &Item| match item {
        Item::Decision(_) | Item::Subagent(_) => true,
        Item::Callout(callout) => callout.kind == "gate",
        _ => false,
    };
    looks >= REVIEW || session.items().any(|(_, item)| counts(item))
}

/// Whether the heading was made from words that were said in the phase: then it is no better than they are.
fn is_from_prompt(phase: &Phase) -> bool {
    const SEEN: usize = 8_000;
    let title: String = letters(&phase.title, SEEN).chars().take(16).collect();
    // A short title ("Build") is found in many words by chance.
    let fits = |words: &str| {
        let long = title.len() >= 12 || phase.title.contains(' ');
        letters(words, 64).starts_with(&title) || (long && letters(words, SEEN).contains(&title))
    };
    // A phase that no prompt opened is called so; what was cut or shortened was cut from a prompt.
    title == "continue"
        || phase.title.contains('…')
        || phase.title.starts_with("Command /")
        || said(phase).take(8).any(|user| fits(&user.words))
}

/// What people said in a phase.
fn said(phase: &Phase) -> impl Iterator<Item = &User> {
    phase.items.iter().filter_map(Item::as_user)
}

/// Letters and digits of the first `seen` characters, in lower case.
fn letters(text: &str, seen: usize) -> String {
    let mut letters = String::with_capacity(text.len().min(seen));
    if text.is_ascii() {
        let bytes = text.bytes().take(seen).filter(u8::is_ascii_alphanumeric);
        letters.extend(bytes.map(|byte| char::from(byte.to_ascii_lowercase())));
        return letters;
    }
    for c in text.chars().take(seen) {
        if c.is_ascii() {
            letters.extend(c.is_ascii_alphanumeric().then_some(c.to_ascii_lowercase()));
        } else if c.is_alphanumeric() {
            letters.extend(c.to_lowercase());
        }
    }
    letters
}

impl<'a> Unit<'a> {
    fn take(&mut self, turn: &Turn<'a>, calls: &mut HashMap<Place, Call<'a>>) {
        for user in turn.requests.iter().skip(turn.withdrawn) {
            let own = turn.correction.as_ref().filter(|it| std::ptr::eq(it.user, *user));
            let titled = user.correction && !only_replies(&user.words);
            // That the agent was stopped before them makes words no rule.
            let rules = own.map_or(titled, |it| it.sign != Sign::Interrupted);
            self.entries.push(Entry::Request { user, corrects: own.is_some() || titled, rules });
        }
        let conclusion = turn.conclusion();
        for placed in turn.own.iter().chain(&turn.work) {
            let entry = match placed.item {
                Item::Step(_) => match calls.remove(&placed.place) {
                    Some(call) => Entry::Call(Box::new(call)),
                    None => continue,
                },
                Item::Prose(prose) if conclusion.is_some_and(|it| std::ptr::eq(it, prose)) => {
                    Entry::Conclusion(prose, turn.taken)
                }
                item => Entry::Item(item, placed.place),
            };
            self.weigh(&entry, placed);
            let own = self.phase.map(|(index, _)| index) == placed.place.phase;
            let below = placed.place.phase.filter(|_| !own);
            match below {
                Some(part) => self.parts.entry(part).or_default().push(entry),
                None => self.entries.push(entry),
            }
        }
        self.task = self.task.or(turn.task.map(|task| task.body.as_str()));
    }

    fn weigh(&mut self, entry: &Entry<'a>, placed: &PlacedItem<'a>) {
        match (entry, placed.item) {
            (Entry::Call(call), _) => {
                self.looked = true;
                self.weight += match call.kind {
                    CallKind::Look => 0,
                    CallKind::Run => 1,
                    CallKind::Change | CallKind::Check => 2,
                    CallKind::Edit => 3,
                };
                // Nothing goes on with a phase of somebody's own.
                if self.declared {
                    return;
                }
                if call.shell && call.acts() {
                    self.ran.extend(
                        call.programs.iter().filter(|key| !self.ran.contains(*key)).cloned().collect::<Vec<_>>(),
                    );
                }
                if call.succeeded() {
                    self.written.extend(call.writes.iter().cloned());
                }
            }
            (_, Item::Decision(_) | Item::Subagent(_)) => self.weight += 3,
            (_, Item::Callout(callout)) if callout.kind == "gate" => self.weight += 3,
            _ => {}
        }
    }

    /// Everything in it, phases below it included.
    pub(super) fn all(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.entries.iter().chain(self.parts.values().flatten())
    }
}
