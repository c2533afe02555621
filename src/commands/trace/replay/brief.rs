//! What an agent is told of steps that no command can redo: what changed, what rests on it, and what the person asked.

use std::fmt::Write as _;

use super::plan::{Redo, ReplayPlan};
use crate::base::text::{fold_whitespace, sanitise};
use crate::commands::Context;
use crate::commands::trace::TraceWorld;
use crate::commands::trace::git::Repository;
use crate::graph::place::items;
use crate::graph::{Place, dependencies};
use crate::session::{Session, Step};
use crate::trace::project;

/// Lines of one diff.
const MOST_LINES: usize = 120;

/// The brief as markdown; empty where nothing needs one.
pub(super) fn brief(plan: &ReplayPlan, world: &TraceWorld, cx: &Context<'_>) -> String {
    let meant: Vec<_> = plan.steps.iter().filter(|it| it.redo == Redo::Agent).collect();
    if meant.is_empty() {
        return String::new();
    }
    let mut out = String::from("# Work that rests on what has changed\n");
    out.push_str("\nLook at each step below, and redo what does not hold any more. Nothing else has to change.\n");
    for it in meant {
        let Some(session) = plan.sessions.get(&it.path) else { continue };
        let _ = writeln!(out, "\n## {}\n", it.key());
        let _ = writeln!(out, "- did: {} {}", line(&it.step.tool), line(&it.step.args));
        if let Some(asked) = asked(session, it.place) {
            let _ = writeln!(out, "- asked: “{}”", line(&asked));
        }
        for reason in &it.reasons {
            let _ = writeln!(out, "- {}", line(reason));
        }
        let rests: Vec<&str> = dependencies(session)
            .into_iter()
            .filter(|dependency| dependency.of == it.place)
            .filter_map(|dependency| dependency.on.id_in(session))
            .collect();
        if !rests.is_empty() {
            let _ = writeln!(out, "- depends on: {}", rests.join(", "));
        }
        let on_it: Vec<&str> = dependencies(session)
            .into_iter()
            .filter(|dependency| dependency.on == it.place)
            .filter_map(|dependency| dependency.of.id_in(session))
            .collect();
        if !on_it.is_empty() {
            let _ = writeln!(out, "- rests on it: {}", on_it.join(", "));
        }
        for text in diffs(&it.step, &it.project, world, cx) {
            let _ = write!(out, "\n{text}");
        }
    }
    out
}

/// The words of a person before a step, else the title of its phase.
fn asked(session: &Session, place: Place) -> Option<String> {
    let before = items(session).take_while(|(at, _)| *at < place);
    let words = before.filter_map(|(_, item)| Some(item.as_user()?.words.clone()));
    words.last().or_else(|| Some(session.phases.get(place.phase?)?.title.clone()))
}

/// What git knows of how the files of a step changed since it was done.
fn diffs(step: &Step, project: &str, world: &TraceWorld, cx: &Context<'_>) -> Vec<String> {
    let Some((root, time)) = world.roots.root(project).zip(step.time) else { return Vec::new() };
    let Some(repository) = Repository::of(&root, cx) else { return Vec::new() };
    let mut paths: Vec<String> =
        step.reads.iter().chain(&step.writes).filter_map(|file| project::inside(project, &file.path)).collect();
    paths.sort();
    paths.dedup();
    let diff = |path: &String| {
        let text = repository.changes_since(&root, path, time)?;
        let text = sanitise(&text).into_owned();
        let mut lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
        if text.lines().count() > MOST_LINES {
            lines.push("…");
        }
        // No line of the text ends the fence.
        let ticks = "`".repeat(3.max(1 + longest_run(&text)));
        Some(format!("{ticks}diff\n{}\n{ticks}\n", lines.join("\n")))
    };
    paths.iter().filter_map(diff).collect()
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn line(text: &str) -> String {
    fold_whitespace(&sanitise(text))
}
