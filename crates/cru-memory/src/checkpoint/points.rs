//! Checkpoints that are computed from a session and written nowhere: completed tasks, 30 minutes of active work, recovered
//! errors, and commits.

use cru_graph::place::Place;
use cru_graph::plan::plan;
use cru_graph::recovery::recoveries;
use cru_session::{Item, Session};
use jiff::{SignedDuration, Timestamp};

use super::kind::CheckpointKind;

/// A pause that is longer does not count as work.
const PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// Active work between two automatic checkpoints.
const AUTO: SignedDuration = SignedDuration::from_mins(30);

/// A computed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// When; `None` where the note does not tell.
    pub time: Option<Timestamp>,
    /// Why.
    pub what: PointKind,
    /// In words.
    pub title: String,
    /// Id of the step or block that it stands at.
    pub block: Option<String>,
}

/// What makes a computed checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointKind {
    /// One of the kinds of checkpoints.
    Kind(CheckpointKind),
    /// A commit.
    Commit,
}

impl PointKind {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kind(kind) => kind.as_str(),
            Self::Commit => "commit",
        }
    }
}

/// The computed checkpoints of a session, in order of time.
pub fn points(session: &Session) -> Vec<Point> {
    let mut points = tasks(session);
    points.extend(active(session));
    points.extend(recovered(session));
    points.extend(commits(session));
    // What tells no time stays behind what stands before it.
    let mut last = None;
    let mut keyed: Vec<(Option<Timestamp>, Point)> = points.into_iter().map(|point| (point.time, point)).collect();
    for (time, _) in &mut keyed {
        last = time.or(last);
        *time = last;
    }
    keyed.sort_by_key(|(time, _)| *time);
    keyed.into_iter().map(|(_, point)| point).collect()
}

/// When something in a phase happened: the time of the item, else of the nearest one before it.
fn time_at(session: &Session, place: Place) -> Option<Timestamp> {
    let phase = place.phase.and_then(|at| session.phases.get(at));
    let items = phase.map_or(&session.preface, |phase| &phase.items);
    let before = items.iter().take(place.item.map_or(0, |item| item + 1));
    let told = before.filter_map(item_time).next_back();
    told.or_else(|| phase.and_then(|phase| phase.started)).or(session.meta.started)
}

fn item_time(item: &Item) -> Option<Timestamp> {
    match item {
        Item::Step(step) => step.time,
        other => other.callout().and_then(|callout| callout.at),
    }
}

/// The nearest step at or before a place, which a person can go to.
fn step_at(session: &Session, place: Place) -> Option<String> {
    let phase = place.phase.and_then(|at| session.phases.get(at));
    let items = phase.map_or(&session.preface, |phase| &phase.items);
    let before = items.iter().take(place.item.map_or(0, |item| item + 1)).rev();
    let step = before.filter(|item| matches!(item, Item::Step(_))).find_map(Item::id);
    step.map(str::to_owned).or_else(|| phase.map(|phase| phase.id.clone()))
}

fn tasks(session: &Session) -> Vec<Point> {
    let mut done = std::collections::HashSet::new();
    let mut found = Vec::new();
    for (place, task) in plan(session).transitions {
        let name = if task.id.is_empty() { &task.content } else { &task.id };
        if task.is_open() {
            done.remove(name);
        } else if done.insert(name.clone()) {
            let told = ["completed", "completed_at"].iter().find_map(|key| task.extra.get(*key)?.as_str());
            let time = told.and_then(cru_session::time::parse).or_else(|| time_at(session, place));
            let title = if task.id.is_empty() { task.content.clone() } else { format!("{} {}", task.id, task.content) };
            let block = step_at(session, place);
            found.push(Point { time, what: PointKind::Kind(CheckpointKind::Task), title, block });
        }
    }
    found
}

/// A point for each 30 minutes in which something happened at least every ten minutes.
fn active(session: &Session) -> Vec<Point> {
    let mut times: Vec<(Timestamp, Option<&str>)> =
        session.items().filter_map(|(_, item)| Some((item_time(item)?, item.id()))).collect();
    times.extend(session.phases.iter().filter_map(|phase| Some((phase.started?, Some(phase.id.as_str())))));
    times.sort();
    let mut found = Vec::new();
    let (mut worked, mut next) = (SignedDuration::ZERO, AUTO);
    for pair in times.windows(2) {
        let gap = pair[1].0.duration_since(pair[0].0);
        if gap <= PAUSE {
            worked += gap;
        }
        if worked >= next {
            let title = format!("{} min of active work", next.as_mins());
            let block = pair[1].1.map(str::to_owned);
            found.push(Point { time: Some(pair[1].0), what: PointKind::Kind(CheckpointKind::Auto), title, block });
            next += AUTO;
        }
    }
    found
}

fn recovered(session: &Session) -> Vec<Point> {
    let point = |recovery: cru_graph::recovery::Recovery| {
        let step = recovery.worked.item_in(session);
        let Some(Item::Step(step)) = step else { return None };
        let times = if recovery.count == 1 { "1 failure".to_owned() } else { format!("{} failures", recovery.count) };
        Some(Point {
            time: time_at(session, recovery.worked),
            what: PointKind::Kind(CheckpointKind::Recovery),
            title: format!("{} {} after {times}", step.tool, step.args)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
            block: step_at(session, recovery.worked),
        })
    };
    recoveries(session).into_iter().filter_map(point).collect()
}

fn commits(session: &Session) -> Vec<Point> {
    let mut found = Vec::new();
    for (_, step) in session.steps() {
        found.extend(step.commits().map(|(id, subject)| {
            let title = format!("{id} {subject}").trim().to_owned();
            Point { time: step.time, what: PointKind::Commit, title, block: step.id.clone() }
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let session = cru_session::read::content_of(text.as_bytes().to_vec());
        let line = |point: Point| {
            let time = point.time.map(|time| time.strftime("%H:%M").to_string()).unwrap_or_default();
            format!("{time} {} {} {}", point.what.as_str(), point.title, point.block.unwrap_or_default())
        };
        points(&session).into_iter().map(line).collect()
    }

    #[test]
    fn a_day() {
        let mut steps = String::new();
        for minute in (0..70).step_by(5) {
            let (hour, minute_of) = (9 + minute / 60, minute % 60);
            steps.push_str(&format!("- `Read a{minute}.rs` → ok ({hour:02}:{minute_of:02}:00) ^n-{:03}\n", minute + 1));
        }
        let note = format!(
            "---\ntype: session\nsession_id: s\nstarted: 2026-11-20T09:00:00Z\n---\n# S\n\n## Work @coder\n\n*2026-11-20T09:00:00Z* ^p-01\n\n**Tool calls:**\n{steps}\
             - `Bash cargo test` → ✗ 1 failed (13:00:00, exit 101) ^n-100\n    - check: failed\n- `Edit a.rs` → +1 −1 (13:00:30) ^n-103\n    - writes: `a.rs`\n- `Bash cargo test` → 3 passed (13:01:00) ^n-101\n    - check: passed\n- `Bash git commit -m x` → ok (13:02:00) ^n-102\n    - commit: `4f1c2ab` Fix the clock\n\n\
             ```tasks\n[{{\"id\":\"TASK-1\",\"content\":\"Fix the clock\",\"status\":\"completed\"}}]\n```\n"
        );
        let found = shown(&note);
        assert_eq!(found.iter().filter(|line| line.contains(" auto ")).count(), 2, "{found:#?}");
        assert!(
            found.iter().any(|line| line.starts_with("13:01 recovery Bash cargo test after 1 failure n-101")),
            "{found:#?}"
        );
        assert!(found.iter().any(|line| line.starts_with("13:02 commit 4f1c2ab Fix the clock n-102")), "{found:#?}");
        assert!(found.iter().any(|line| line.starts_with("13:02 task TASK-1 Fix the clock n-102")), "{found:#?}");
    }
}
