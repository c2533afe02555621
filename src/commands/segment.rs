//! The rows of `cru list segments`: where a session broke, and what lies between.
//!
//! Nothing runs beside the agents, so the rules are applied when somebody asks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;

use crate::base::Result;
use crate::base::text::one_line;
use crate::graph::segment;
use crate::readings::answer::ReadSegment;
use crate::session::boundary::BoundaryKind;
use crate::session::{Item, Session};
use crate::vault::{Catalog, Head, Vault};

/// The segments of a session, with what an accepted reading says of them: the work between branches, jumps, forks, compactions,
/// pauses and hand-offs.
pub(super) fn of(head: &Head, read: &[ReadSegment], catalog: &Catalog, vault: &Vault) -> Result<Vec<Segment>> {
    let session = vault.load(&head.path)?.session;
    let breaks = segment::breaks(&session, is_fork(head, catalog, vault));
    let parts = segment::segments(&session, &breaks);
    let alone = parts.len() == 1;
    let segment = |it: segment::Segment| Segment {
        facts: SegmentFacts::of(&session, it.phases, alone),
        read: read.iter().find(|own| own.id == it.id).cloned(),
        id: it.id,
        started: it.started,
        ended: it.ended,
        steps: it.steps,
        ended_by: it.ended_by,
    };
    Ok(parts.into_iter().map(segment).collect())
}

/// Whether the session is a copy of another from which it goes on, and not the work of a sub-agent.
pub(super) fn is_fork(head: &Head, catalog: &Catalog, vault: &Vault) -> bool {
    let Some(parent) = &head.meta.parent else { return false };
    let Some(parent) = catalog.note(&parent.target, &head.path) else { return true };
    let own = |name: &str, from: &Head| catalog.note(name, &from.path).is_some_and(|note| note.path == head.path);
    if parent.meta.subagents.iter().any(|row| own(&row.session, parent)) {
        return false;
    }
    let started = |session: &Session| {
        session.items().any(|(_, item)| match item {
            Item::Subagent(it) => it.link.as_ref().is_some_and(|link| own(&link.target, parent)),
            _ => false,
        })
    };
    !vault.load(&parent.path).is_ok_and(|loaded| started(&loaded.session))
}

/// Work between two boundaries.
#[derive(Debug)]
pub(in crate::commands) struct Segment {
    pub(in crate::commands) id: String,
    pub(in crate::commands) started: Option<Timestamp>,
    pub(in crate::commands) ended: Option<Timestamp>,
    pub(in crate::commands) steps: usize,
    pub(in crate::commands) facts: SegmentFacts,
    pub(in crate::commands) ended_by: Vec<BoundaryKind>,
    /// What an accepted reading says that it was.
    pub(in crate::commands) read: Option<ReadSegment>,
}

/// What the record says of a segment: its `[!segment]` callout, its steps, and the session's own fields.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct SegmentFacts {
    /// What it was and how it ended, by the title of the callout: `coding: success`, `coding · success`.
    pub(in crate::commands) kind: Option<String>,
    pub(in crate::commands) outcome: Option<String>,
    /// Its first paragraph.
    pub(in crate::commands) summary: Option<String>,
    /// Whether the person had a clear goal, as an analyst says.
    pub(in crate::commands) goal: Option<String>,
    /// As an analyst says, else the one in which most files were written.
    pub(in crate::commands) language: Option<String>,
    pub(in crate::commands) frameworks: Option<String>,
    /// Of the segment; of the session where that is one segment.
    pub(in crate::commands) tokens: Option<u64>,
    pub(in crate::commands) cost_usd: Option<f64>,
    pub(in crate::commands) machine: Option<String>,
    /// The host's entries, as an analyst names them; else the first and the last step, with the count.
    pub(in crate::commands) entries: Option<String>,
    /// `2, after a1b2-v1`, and when and by what it was analysed.
    pub(in crate::commands) version: Option<String>,
    pub(in crate::commands) analyzed: Option<String>,
}

impl SegmentFacts {
    /// Of the phases of a session; `alone` where these are all of it.
    fn of(session: &Session, phases: Range<usize>, alone: bool) -> Self {
        let phases = session.phases.get(phases).unwrap_or_default();
        let callout = segment::callout(phases);
        let title = callout.map(|it| one_line(&it.title)).unwrap_or_default();
        let mut told = title.splitn(2, [':', '·']).map(|part| part.trim().to_owned()).filter(|part| !part.is_empty());
        let field = |name: &str| callout.and_then(|it| it.field(name)).map(one_line);
        let steps: Vec<&crate::session::Step> =
            phases.iter().flat_map(|phase| &phase.items).filter_map(Item::as_step).collect();
        let ids: Vec<&str> = steps.iter().filter_map(|step| step.id.as_deref()).collect();
        let entries = ids.first().zip(ids.last()).map(|(first, last)| format!("{first} … {last} ({})", ids.len()));
        let digits = |text: String| text.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok();
        let meta = &session.meta;
        Self {
            kind: told.next(),
            outcome: told.next(),
            summary: callout.map(|it| one_line(&it.paragraph())).filter(|text| !text.is_empty()),
            goal: field("Goal"),
            language: field("Language").or_else(|| language(&steps)),
            frameworks: field("Frameworks"),
            tokens: field("Segment tokens").and_then(digits).or(meta.tokens_used.filter(|_| alone)),
            cost_usd: meta.cost_usd.filter(|_| alone),
            machine: meta.extra.iter().find(|(key, _)| key == "machine").map(|(_, name)| one_line(name)),
            entries: field("Entries").or(entries),
            version: field("Version"),
            analyzed: field("Analyzed"),
        }
    }
}

/// The language in which most files were written; of several the first by name.
fn language(steps: &[&crate::session::Step]) -> Option<String> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let paths: BTreeSet<&str> = steps.iter().flat_map(|step| &step.writes).map(|file| file.path.as_str()).collect();
    for name in paths.into_iter().filter_map(crate::workflow::language_of) {
        *counts.entry(name).or_insert(0) += 1;
    }
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(name, _)| name.to_owned())
}
