//! A folded session on its way to a note: all but its name and its links to other notes.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::part::{self, Linked};
use crate::event::StreamKey;
use crate::source::Consumed;
use crate::{Agent, Item, Link, Session, SubagentRef, usage};

/// What [`super::Fold`] made of a stream.
#[derive(Debug)]
pub struct Draft {
    /// Which stream.
    pub key: StreamKey,
    /// The stream that started it.
    pub parent: Option<StreamKey>,
    /// Sub-agent type; `None` for a main session.
    pub agent: Option<Agent>,
    /// The file its first record is in.
    pub transcript: PathBuf,
    /// The session; [`Draft::name`] and the links are still missing.
    pub session: Session,
    /// Its sub-agents, in the order of their callouts.
    pub children: Vec<Child>,
    /// Name part from the first prompt; `session` where there is none.
    pub slug: String,
    /// Why it is worth no note: it has no prompt of a person (or task) or no turn of an agent.
    pub empty: bool,
    /// How many secrets each rule took out of it.
    pub masked: BTreeMap<&'static str, u64>,
    /// The session that it goes on in.
    pub continued_in: Option<StreamKey>,
    /// Whether it tells of something that stands in no record of its transcript.
    pub aside: bool,
    /// What its steps wrote, in their order, where that was asked for: with secrets, until it is an entry
    /// ([`crate::evidence_patch::entry`]).
    pub patches: Vec<DraftPatch>,
    /// How far the transcript was read.
    pub consumed: Consumed,
}

/// What a step of a draft wrote into one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftPatch {
    /// Id of the step in the draft.
    pub step: String,
    /// When it was called.
    pub time: Option<Timestamp>,
    /// The file, as the step names it.
    pub path: String,
    /// Hunks of a unified diff.
    pub diff: String,
}

/// Where a sub-agent's callout stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The stream of its work.
    pub stream: StreamKey,
    pub(super) phase: usize,
    pub(super) item: usize,
}

impl Draft {
    /// When it began; by this and the key drafts are put in order.
    pub fn start(&self) -> Option<Timestamp> {
        self.session.meta.started
    }

    /// Gives it its id, the file stem.
    pub fn name(&mut self, id: &str) {
        self.session.meta.session_id = Some(id.to_owned());
        if self.session.meta.title.is_none() {
            self.session.meta.title = Some(id.to_owned());
            self.session.heading = Some(id.to_owned());
        } else {
            self.session.meta.aliases = self.session.meta.title.iter().cloned().collect();
        }
    }

    /// Notes the day it began on in `zone`.
    pub fn set_date(&mut self, zone: &TimeZone) {
        self.session.meta.date = self.start().map(|time| time.to_zoned(zone.clone()).date().to_string());
    }

    /// Has all phases done by `agent`.
    pub fn set_agent(&mut self, agent: &Agent) {
        for phase in &mut self.session.phases {
            phase.agent = Some(agent.clone());
        }
        self.session.meta.participants = vec![agent.clone()];
    }

    /// Puts all phases into `channel`.
    pub fn set_channel(&mut self, channel: &str) {
        for phase in &mut self.session.phases {
            phase.channel = Some(channel.to_owned());
        }
        self.session.meta.channel = Some(channel.to_owned());
    }

    /// Points to the note of the session that started it.
    pub fn link_parent(&mut self, note: &str) {
        self.session.meta.parent = Some(Link::to_note(note));
    }

    /// Says at the end in which note the session goes on.
    pub fn link_next(&mut self, note: &str) {
        let last = self.session.phases.last_mut();
        let items = last.map_or(&mut self.session.preface, |phase| &mut phase.items);
        let is_usage = |item: &Item| matches!(item, Item::Callout(it) if it.kind == usage::KIND);
        let at = items.iter().rposition(|item| !is_usage(item)).map_or(0, |at| at + 1);
        items.insert(at, part::continued(note));
    }

    /// Points to the notes of its sub-agents, in this order: in the list, and in their callouts where they have one.
    pub fn link_children(&mut self, children: Vec<(StreamKey, Linked)>) {
        let rows: HashMap<&StreamKey, &Linked> = children.iter().map(|(key, linked)| (key, linked)).collect();
        for place in &self.children {
            let Some(linked) = rows.get(&place.stream) else { continue };
            let phase = self.session.phases.get_mut(place.phase);
            if let Some(Item::Subagent(item)) = phase.and_then(|phase| phase.items.get_mut(place.item)) {
                part::link_subagent(item, linked);
            }
        }
        let row = |(_, child): (StreamKey, Linked)| SubagentRef {
            session: child.note,
            agent: child.agent,
            model: child.model,
            tokens: child.tokens,
        };
        self.session.meta.subagents.extend(children.into_iter().map(row));
    }
}
