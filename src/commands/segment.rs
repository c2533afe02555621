//! `cru segment`: where a session broke, and what lies between.
//!
//! Nothing runs beside the agents, so the rules are applied when somebody asks. The last segment of a session that is
//! still active is open until ten minutes have gone by without anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use jiff::Timestamp;
use serde::Serialize;

use super::graph::boundary_words;
use super::output::style::{self, paint};
use super::output::{duration, minute};
use super::read::Shelf;
use super::session::current_or_newest;
use super::{Context, Output, PlainOutput, View, reading};
use crate::base::Result;
use crate::base::text::{one_line, plural};
use crate::graph::segment;
use crate::readings::answer::ReadSegment;
use crate::session::boundary::{BoundaryKind, GAP};
use crate::session::{Item, Session, Status};
use crate::vault::{Catalog, Head, Vault};

/// List segments of sessions: between branches, jumps, forks, compactions, pauses and hand-offs
///
/// A segment is the work between two such boundaries. Type, outcome and summary are those of an accepted reading, else of a
/// `[!segment]` callout in it. Without SESSION: the current session, else the newest. `cru query segments` lists those of all
/// sessions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which sessions
    session: Vec<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let heads: Vec<&Head> = if args.session.is_empty() {
        vec![current_or_newest(&catalog, &vault, cx)?]
    } else {
        args.session.iter().map(|name| catalog.session(name, &vault, cx.env)).collect::<Result<_>>()?
    };
    let now = cx.env.now();
    let shelf = Shelf::within(&catalog, &vault, cx.global.reach);
    let cut = |head: &Head| {
        let read = shelf.accepted(&head.path.stem()).map(|it| it.segments).unwrap_or_default();
        cut(head, &read, &catalog, &vault, now)
    };
    let sessions = heads.into_iter().map(cut).collect::<Result<_>>()?;
    Ok(Box::new(ShownSegments { schema: 1, sessions }))
}

/// The segments of a session, with what an accepted reading says of them.
pub(in crate::commands) fn of(
    head: &Head,
    read: &[ReadSegment],
    catalog: &Catalog,
    vault: &Vault,
    now: Timestamp,
) -> Result<Vec<Segment>> {
    Ok(cut(head, read, catalog, vault, now)?.segments)
}

/// One session, cut.
fn cut(head: &Head, read: &[ReadSegment], catalog: &Catalog, vault: &Vault, now: Timestamp) -> Result<Cut> {
    let session = vault.load(&head.path)?.session;
    let breaks = segment::breaks(&session, is_fork(head, catalog, vault));
    let id = |index: usize| session.phases.get(index).map(|phase| phase.id.clone()).unwrap_or_default();
    let active = session.meta.status == Some(Status::Active);
    // A boundary inside is the one that it begins with.
    let within = |range: &Range<usize>| {
        let at = breaks.partition_point(|it| it.phase < range.start);
        breaks.get(at).is_some_and(|it| it.phase < range.end).then_some(at)
    };
    let parts = segment::segments(&session, &breaks);
    let alone = parts.len() == 1;
    let segments = parts.into_iter().map(|it| Segment {
        facts: SegmentFacts::of(&session, it.phases.clone(), alone),
        read: read.iter().find(|own| own.id == it.id).cloned(),
        boundary: within(&it.phases),
        id: it.id,
        phases: session.phases[it.phases.clone()]
            .iter()
            .map(|phase| Phase { id: phase.id.clone(), title: phase.title.clone() })
            .collect(),
        open: active
            && it.phases.end == session.phases.len()
            && it.ended.is_some_and(|last| now.as_second() - last.as_second() < GAP),
        started: it.started,
        ended: it.ended,
        steps: it.steps,
        ended_by: it.ended_by,
    });
    let segments = segments.collect();
    let boundaries = breaks.iter().map(|it| Boundary {
        kinds: it.kinds.clone(),
        phase: id(it.phase),
        previous: it.previous.map(id),
        time: session.phases.get(it.phase).and_then(|phase| phase.started),
        gap_seconds: it.gap,
        tokens_before: it.tokens_before,
        words: boundary_words(it).unwrap_or_else(|| "fork".to_owned()),
    });
    let boundaries = boundaries.collect();
    Ok(Cut { session: head.id(), title: head.title(), path: head.path.to_string(), segments, boundaries })
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

#[derive(Debug, Serialize)]
struct ShownSegments {
    schema: u32,
    sessions: Vec<Cut>,
}

#[derive(Debug, Serialize)]
struct Cut {
    session: String,
    title: String,
    path: String,
    segments: Vec<Segment>,
    boundaries: Vec<Boundary>,
}

/// Work between two boundaries.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Segment {
    pub(in crate::commands) id: String,
    phases: Vec<Phase>,
    pub(in crate::commands) started: Option<Timestamp>,
    pub(in crate::commands) ended: Option<Timestamp>,
    pub(in crate::commands) steps: usize,
    /// More may come.
    open: bool,
    #[serde(flatten)]
    pub(in crate::commands) facts: SegmentFacts,
    #[serde(skip)]
    boundary: Option<usize>,
    pub(in crate::commands) ended_by: Vec<BoundaryKind>,
    /// What an accepted reading says that it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) read: Option<ReadSegment>,
}

/// What the record says of a segment: its `[!segment]` callout, its steps, and the session's own fields.
#[derive(Clone, Debug, Default, Serialize)]
pub(in crate::commands) struct SegmentFacts {
    /// What it was and how it ended, by the title of the callout: `coding: success`, `coding · success`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) outcome: Option<String>,
    /// Its first paragraph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) summary: Option<String>,
    /// Whether the person had a clear goal, as an analyst says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) goal: Option<String>,
    /// As an analyst says, else the one in which most files were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) frameworks: Option<String>,
    /// Of the segment; of the session where that is one segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) machine: Option<String>,
    /// The host's entries, as an analyst names them; else the first and the last step, with the count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) entries: Option<String>,
    /// `2, after a1b2-v1`, and when and by what it was analysed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
        let steps: Vec<&crate::session::Step> = phases
            .iter()
            .flat_map(|phase| &phase.items)
            .filter_map(|item| match item {
                Item::Step(step) => Some(step),
                _ => None,
            })
            .collect();
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

#[derive(Debug, Serialize)]
struct Phase {
    id: String,
    title: String,
}

#[derive(Debug, Serialize)]
struct Boundary {
    kinds: Vec<BoundaryKind>,
    phase: String,
    previous: Option<String>,
    time: Option<Timestamp>,
    gap_seconds: Option<i64>,
    tokens_before: Option<u64>,
    #[serde(skip)]
    words: String,
}

impl PlainOutput for ShownSegments {
    fn shown(&self, _: &View) -> String {
        let cuts: Vec<String> = self.sessions.iter().map(Cut::text).collect();
        cuts.join("\n")
    }
}

impl Cut {
    fn text(&self) -> String {
        let mut out = format!("{}\n", paint(style::TITLE, one_line(&self.title)));
        let count = |number: usize, noun: &str| plural(number as u64, noun);
        let boundaries = match self.boundaries.len() {
            1 => "1 boundary".to_owned(),
            number => format!("{number} boundaries"),
        };
        let counts = format!("{} · {boundaries}", count(self.segments.len(), "segment"));
        let _ = writeln!(out, "{}  {counts}", paint(style::ID, one_line(&self.session)));
        for segment in &self.segments {
            out.push('\n');
            if let Some(boundary) = segment.boundary.and_then(|at| self.boundaries.get(at)) {
                let from = boundary
                    .previous
                    .as_deref()
                    .map(|from| format!("  {} → {}", one_line(from), one_line(&boundary.phase)));
                let words = format!("↳ {}{}", one_line(&boundary.words), from.unwrap_or_default());
                let _ = writeln!(out, "{}", paint(style::WARN, words));
            }
            let mut facts = vec![count(segment.steps, "step")];
            facts.extend(segment.started.map(|time| format!("{} UTC", minute(time))));
            let took = segment.started.zip(segment.ended).map(|(from, to)| to.as_second() - from.as_second());
            let took = took.and_then(|seconds| u64::try_from(seconds).ok()).filter(|seconds| *seconds > 0);
            facts.extend(took.map(duration));
            facts.extend(segment.open.then(|| "open".to_owned()));
            let read = segment.read.as_ref().map(|it| format!("{}, {}", it.kind.as_str(), it.outcome.as_str()));
            let told: Vec<&str> = segment.facts.kind.iter().chain(&segment.facts.outcome).map(String::as_str).collect();
            facts.extend(read.or_else(|| Some(told.join(", ")).filter(|text| !text.is_empty())));
            facts.extend(segment.facts.language.clone());
            let facts = facts.join(" · ");
            let _ = writeln!(out, "{}  {facts}", paint(style::ID, &segment.id));
            if let Some(read) = &segment.read {
                let _ = writeln!(out, "  {}", one_line(&read.summary.text));
            }
            for phase in &segment.phases {
                let _ = writeln!(out, "  {}  {}", paint(style::DIM, one_line(&phase.id)), one_line(&phase.title));
            }
        }
        out
    }
}
