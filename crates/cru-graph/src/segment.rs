//! Where a session broke, and the segments between: read from the note, whoever wrote it.
//!
//! A segment is a run of phases with no boundary inside; it is an overlay, computed and never stored. What the importers
//! see in a transcript ([`cru_session::boundary`]) stands in the note as a phase that begins: with a line `from:` where
//! the session went back, with a `[!summary]` where the context was compacted or a branch was left, after a pause, or
//! with the request to hand over. A pause is measured from the last time that the note tells, so a long answer without
//! a step counts to it.

use std::ops::Range;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use cru_session::boundary::{BoundaryKind, GAP, asks_to_hand_over};
use cru_session::{Callout, Item, Phase, Session};

/// A boundary before a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Break {
    /// Its kinds by priority, each once; never empty. The first one names it.
    pub kinds: Vec<BoundaryKind>,
    /// Index of the phase that it stands before.
    pub phase: usize,
    /// Index of the phase that was left; `None` where the session begins.
    pub previous: Option<usize>,
    /// The pause before it in seconds, where that is a boundary.
    pub gap: Option<i64>,
    /// Tokens of the context before it was compacted.
    pub tokens_before: Option<u64>,
}

/// A run of phases between boundaries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// The id of the `[!segment]` callout in its first phase, where the note has one; else `s-` and 16 hexadecimal digits: of the
    /// host's session and the first phase, the same on every machine.
    pub id: String,
    /// Indexes of its phases.
    pub phases: Range<usize>,
    /// First time in it.
    pub started: Option<Timestamp>,
    /// Last time in it.
    pub ended: Option<Timestamp>,
    /// Its steps, those of inline sub-agents not counted.
    pub steps: usize,
    /// Kinds of the boundary that ended it; empty for the last.
    pub ended_by: Vec<BoundaryKind>,
}

/// The boundaries of a session, in the order of its phases. `forked`: it has a copy of another session, from which it
/// goes on.
pub fn breaks(session: &Session, forked: bool) -> Vec<Break> {
    let mut found = Vec::new();
    let mut last: Option<Timestamp> = None;
    let mut previous = None;
    for (index, phase) in session.phases.iter().enumerate() {
        // A section without agent and time is prose of the note's, no part of the work.
        if phase.agent.is_none() && phase.started.is_none() {
            continue;
        }
        let mut kinds = Vec::new();
        let opening = opening(phase);
        // A link to another note says where a fork came from, which the frontmatter says as well.
        let went_back = phase.from.as_ref().is_some_and(|from| from.target.is_empty()) && previous.is_some();
        match (opening.branch, went_back) {
            (true, _) => kinds.push(BoundaryKind::Branch),
            (false, true) => kinds.push(BoundaryKind::TreeJump),
            (false, false) => {}
        }
        if forked && previous.is_none() {
            kinds.push(BoundaryKind::Fork);
        }
        if opening.compaction {
            kinds.push(BoundaryKind::Compaction);
        }
        let pause = last.zip(phase.started).map(|(last, started)| started.duration_since(last).as_secs());
        let gap = pause.filter(|pause| *pause >= GAP);
        if gap.is_some() {
            kinds.push(BoundaryKind::Resume);
        }
        let asked = phase.items.iter().find_map(|item| if let Item::User(it) = item { Some(it) } else { None });
        if asked.is_some_and(|it| asks_to_hand_over(&it.words)) {
            kinds.push(BoundaryKind::Handoff);
        }
        kinds.sort_unstable();
        if !kinds.is_empty() {
            found.push(Break { kinds, phase: index, previous, gap, tokens_before: opening.tokens });
        }
        // As in the transcript: a time that goes back is the one that the next pause begins with.
        last = end(phase).or(last);
        previous = Some(index);
    }
    found
}

/// The segments of a session with those boundaries; none where it has no phases.
pub fn segments(session: &Session, breaks: &[Break]) -> Vec<Segment> {
    let mut starts: Vec<usize> = vec![0];
    // A boundary before the first work ends nothing.
    starts.extend(breaks.iter().filter(|it| it.previous.is_some()).map(|it| it.phase));
    let ends = starts.iter().skip(1).copied().chain([session.phases.len()]);
    let ranges = starts.iter().copied().zip(ends).filter(|(start, end)| start < end);
    ranges
        .map(|(start, end_at)| {
            let phases = session.phases.get(start..end_at).unwrap_or_default();
            let steps = phases.iter().flat_map(|phase| &phase.items).filter(|item| matches!(item, Item::Step(_)));
            Segment {
                id: id(session, start),
                phases: start..end_at,
                started: phases.iter().find_map(|phase| phase.started),
                ended: phases.iter().filter_map(end).max(),
                steps: steps.count(),
                ended_by: breaks.iter().find(|it| it.phase == end_at).map(|it| it.kinds.clone()).unwrap_or_default(),
            }
        })
        .collect()
}

/// The callout that says what a segment was.
pub fn callout(phases: &[Phase]) -> Option<&Callout> {
    phases.iter().flat_map(|phase| &phase.items).find_map(|item| item.as_callout("segment"))
}

fn id(session: &Session, phase: usize) -> String {
    let noted = session.phases.get(phase).and_then(|phase| callout(std::slice::from_ref(phase))?.id.clone());
    if let Some(id) = noted.filter(|id| id.starts_with("s-")) {
        return id;
    }
    let meta = &session.meta;
    let own = meta.host_session.as_deref().or(meta.session_id.as_deref()).unwrap_or_default();
    let first = session.phases.get(phase).map(|phase| phase.id.as_str()).unwrap_or_default();
    let hash = blake3::Hasher::new().update(own.as_bytes()).update(b"\0").update(first.as_bytes()).finalize();
    format!("s-{}", &hash.to_hex()[..16])
}

/// What a phase begins with.
#[derive(Default)]
struct Opening {
    /// The summary of a branch that was left.
    branch: bool,
    /// The summary of a compaction.
    compaction: bool,
    tokens: Option<u64>,
}

fn opening(phase: &Phase) -> Opening {
    let first = phase.items.iter().take_while(|item| !matches!(item, Item::Step(_)));
    let callouts = first.filter_map(|item| item.as_callout("summary"));
    let mut opening = Opening::default();
    for callout in callouts {
        opening.branch |= callout.title.starts_with("Branch left");
        if callout.title.starts_with("Compaction") {
            opening.compaction = true;
            opening.tokens = tokens(callout);
        }
    }
    opening
}

/// The tokens in `Compaction (auto, 167,000 tokens)`.
fn tokens(callout: &Callout) -> Option<u64> {
    let (facts, _) = callout.title.split_once('(')?.1.split_once(" token")?;
    let number = facts.rsplit(' ').next()?;
    number.chars().filter(|c| !matches!(c, ',' | '\u{202f}' | '\u{a0}')).collect::<String>().parse().ok()
}

/// The last time that a phase tells: its own, that of a step when it was done, that of a remark.
fn end(phase: &Phase) -> Option<Timestamp> {
    let of_item = |item: &Item| match item {
        Item::Step(step) => {
            let done = step
                .duration_ms
                .and_then(|ms| i64::try_from(ms).ok())
                .map_or(SignedDuration::ZERO, SignedDuration::from_millis);
            step.time.map(|time| time.checked_add(done).unwrap_or(time))
        }
        other => other.callout().and_then(|callout| callout.at),
    };
    phase.items.iter().filter_map(of_item).chain(phase.started).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(body: &str) -> Session {
        let text = format!("---\ntype: session\nhost_session: s1\n---\n# T\n\n{body}");
        cru_session::read::session(&cru_note::Note::parse(text)).0
    }

    /// Boundaries as `<phase>: <kinds> <previous> <gap> <tokens>`, then segments as `<first>..<end> <steps> <kinds>`.
    fn told(body: &str, forked: bool) -> String {
        let session = session(body);
        let breaks = breaks(&session, forked);
        let mut lines: Vec<String> = Vec::new();
        for it in &breaks {
            lines.push(format!("{}: {:?} {:?} {:?} {:?}", it.phase, it.kinds, it.previous, it.gap, it.tokens_before));
        }
        for it in segments(&session, &breaks) {
            assert!(it.id.len() == 18 && it.id.starts_with("s-"));
            lines.push(format!("{:?} {} {:?}", it.phases, it.steps, it.ended_by));
        }
        lines.join("\n")
    }

    #[test]
    fn a_pause_counts_from_the_end_of_the_last_step() {
        let body = "## One @a #dev\n\n*2026-11-20T09:00:00Z*\n\n- `Bash x` → ok (09:05:00, 60 s)\n\n## Two @a #dev\n\n\
                    *2026-11-20T09:15:59Z*\n\n- `Bash y` → ok (09:16:00)\n\n## Three @a #dev\n\n*2026-11-20T09:26:00Z*\n\n\
                    - `Bash z` → ok\n\n## Summary\n\nDone.\n";
        insta::assert_snapshot!(told(body, false), @r"
        2: [Resume] Some(1) Some(600) None
        0..2 2 [Resume]
        2..4 1 []
        ");
    }

    #[test]
    fn all_kinds_and_a_section_without_work() {
        let body = "## Notes\n\nMine.\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n- `Bash x` → ok (09:00:05)\n\n\
                    ## Two @a #dev\n\n*2026-11-20T09:01:00Z* from: [[#^p-01]] ^p-02\n\n\
                    ## Three @a #dev\n\n*2026-11-20T09:02:00Z* from: [[#^p-01]] ^p-03\n\n> [!summary]- Branch left\n> Tried.\n\n\
                    ## Four @a #dev\n\n*2026-11-20T12:02:00Z* ^p-04\n\n> [!summary]- Compaction (auto, 167,000 tokens)\n> All.\n\n\
                    ## Five @a #dev\n\n*2026-11-20T12:03:00Z* ^p-05\n\n> [!user]\n> \"/handoff to the night shift\"\n";
        insta::assert_snapshot!(told(body, true), @r"
        1: [Fork] None None None
        2: [TreeJump] Some(1) None None
        3: [Branch] Some(2) None None
        4: [Compaction, Resume] Some(3) Some(10800) Some(167000)
        5: [Handoff] Some(4) None None
        0..2 1 [TreeJump]
        2..3 0 [Branch]
        3..4 0 [Compaction, Resume]
        4..5 0 [Handoff]
        5..6 0 []
        ");
    }

    #[test]
    fn the_id_that_a_note_has_stays() {
        let body =
            "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!segment] coding: success\n> Done.\n\n^s-a1b2\n";
        let session = session(body);
        assert_eq!(segments(&session, &[])[0].id, "s-a1b2");
        assert_eq!(callout(&session.phases).map(|it| it.title.as_str()), Some("coding: success"));
    }

    #[test]
    fn nothing_breaks_nothing() {
        assert_eq!(told("", true), "");
        assert_eq!(told("Only words.\n", false), "");
    }
}
