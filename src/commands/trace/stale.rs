//! `cru stale`: what is kept and does not hold any more.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;

use super::refs::References;
use super::verify::decision_verdict;
use super::{TraceWorld, project};
use crate::base::Result;
use crate::base::text::{one_line, plural};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, View};
use crate::graph::Place;
use crate::graph::place::items;
use crate::session::{Item, Session, Status};
use crate::trace::{ClaimVerdict, DiskFiles, FileState, JudgedStep, ReadFiles as _, Work, WorkMember, judge};
use crate::vault::{Head, VaultPath};

/// List what is kept and does not hold any more
///
/// Looks at bookmarks, decisions that rest on something, and the last checks of sessions that are active or paused. One
/// line for each reason. With --all: every step of every session.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 nothing is stale, 1 something is, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// Part of the project's path; `.` is the current folder
    #[arg(long, value_name = "PATH")]
    project: Option<String>,
    /// Look at every step
    #[arg(long)]
    all: bool,
    /// Exit with 1 also where nothing can be said
    #[arg(long)]
    strict: bool,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let mut kept: BTreeMap<VaultPath, HashSet<(Place, String)>> = BTreeMap::new();
    let references = References { vault: &world.vault, catalog: &world.catalog, cx };
    for bookmark in references.bookmarks()? {
        if let Ok(block) = references.follow(&bookmark) {
            kept.entry(block.path).or_default().insert((block.place, format!("bookmark {}", bookmark.name)));
        }
    }
    let here = args.project.as_deref().map(|wanted| wanted_project(wanted, cx));
    let heads: Vec<&Head> = world.catalog.sessions().filter(|head| is_in(head, here.as_deref())).collect();
    // A decision that rests on something says so, and an open session is marked: others are not parsed.
    let may = |head: &&&Head| {
        let open = matches!(head.meta.status, Some(Status::Active | Status::Paused));
        let rests = || {
            let bytes = world.vault.read(&head.path).unwrap_or_default();
            memchr::memmem::find(&bytes, b"Rests on:").is_some()
        };
        args.all || open || kept.contains_key(&head.path) || rests()
    };
    let loaded: Vec<(&Head, Session)> = heads
        .par_iter()
        .filter(may)
        .filter_map(|head| Some((*head, world.vault.load(&head.path).ok()?.session)))
        .collect();
    let mut cache = world.answers();
    let files = DiskFiles::default();
    let mut report = StaleReport { schema: 1, strict: args.strict, ..StaleReport::default() };
    let none = HashSet::new();
    for (head, session) in &loaded {
        let patch = world.patch(&head.id());
        let member = WorkMember { session, patch: &patch, other_branch: false };
        let steps = judge(&Work { members: vec![member] }, &world.roots, &files, &mut cache, cx.env.now());
        let all: Vec<&JudgedStep> = steps.iter().collect();
        let mut seen = HashSet::new();
        let own = kept.get(&head.path).unwrap_or(&none);
        for (place, why) in wanted_steps(session, head, own, args.all) {
            let Some(at) = steps.iter().position(|step| step.place == place) else { continue };
            report.looked_at += 1;
            if seen.insert(at) {
                report.step(head, session, &steps, at, &why, &world, &files);
            }
        }
        for (place, item) in items(session) {
            let Item::Decision(decision) = item else { continue };
            if decision.rests_on.is_empty() {
                continue;
            }
            report.looked_at += 1;
            let verdict = decision_verdict(session, decision, &all);
            if verdict.is_stale() {
                let on = decision.rests_on.first().map(ToString::to_string).unwrap_or_default();
                report.add(head, session, place, "decision", &format!("rests on {on}: {}", verdict.words()));
            }
        }
    }
    world.keep(&cache);
    if report.rows.is_empty() {
        cx.ui.note(&format!("nothing is stale ({} looked at)", plural(report.looked_at, "claim")));
    }
    Ok(Box::new(report))
}

fn wanted_project(wanted: &str, cx: &Context<'_>) -> String {
    if wanted == "." { cx.env.folder() } else { wanted.to_owned() }.to_lowercase()
}

fn is_in(head: &Head, wanted: Option<&str>) -> bool {
    let own = head.meta.project.as_deref().unwrap_or_default().to_lowercase();
    wanted.is_none_or(|wanted| own.contains(wanted))
}

/// The steps of a session that are kept, and why; all of them where all are asked for.
fn wanted_steps(session: &Session, head: &Head, kept: &HashSet<(Place, String)>, all: bool) -> Vec<(Place, String)> {
    let mut wanted: Vec<(Place, String)> = kept.iter().cloned().collect();
    let open = matches!(head.meta.status, Some(Status::Active | Status::Paused));
    let last_check = items(session)
        .filter(|(_, item)| matches!(item, Item::Step(step) if step.verdict().is_some()))
        .map(|(place, _)| place)
        .last();
    if let Some(place) = last_check.filter(|_| open) {
        wanted.push((place, "last check".to_owned()));
    }
    if all {
        let steps = items(session).filter(|(_, item)| matches!(item, Item::Step(_)));
        wanted.extend(steps.map(|(place, _)| (place, "step".to_owned())));
    }
    wanted.sort();
    wanted.dedup_by_key(|(place, _)| *place);
    wanted
}

#[derive(Debug, Serialize)]
struct StaleRow {
    session: String,
    step: String,
    kept: String,
    reason: String,
}

#[derive(Debug, Default, Serialize)]
struct StaleReport {
    schema: u32,
    #[serde(skip)]
    strict: bool,
    looked_at: u64,
    unknown: u64,
    rows: Vec<StaleRow>,
}

impl StaleReport {
    #[expect(clippy::too_many_arguments, reason = "what a line is made of")]
    fn step(
        &mut self,
        head: &Head,
        session: &Session,
        steps: &[JudgedStep],
        at: usize,
        why: &str,
        world: &TraceWorld,
        files: &DiskFiles,
    ) {
        let step = &steps[at];
        let mut told = HashSet::new();
        for anchor in step.anchors.iter().filter(|anchor| anchor.verdict.is_stale()) {
            let what = if anchor.written { "output" } else { "input" };
            let place = if anchor.place.is_empty() { String::new() } else { format!(":{}", anchor.place) };
            let path = format!("{}{place}", anchor.path);
            let reason = if anchor.verdict == ClaimVerdict::Gone {
                format!("{what} is gone: {}", anchor.path)
            } else {
                let hashes = hashes(session, step.place, &anchor.path, anchor.written, world, files);
                format!("{what} changed: {path}{}", hashes.filter(|_| place.is_empty()).unwrap_or_default())
            };
            if told.insert(reason.clone()) {
                self.add(head, session, step.place, why, &reason);
            }
        }
        if let Some(on) = step.rests_on {
            let on = steps[on].place.id_in(session).unwrap_or("–");
            self.add(head, session, step.place, why, &format!("depends on stale: {on}"));
        }
        self.unknown += u64::from(matches!(step.own, Some(ClaimVerdict::Unknown { .. })));
    }

    fn add(&mut self, head: &Head, session: &Session, place: Place, kept: &str, reason: &str) {
        let step = place.id_in(session).unwrap_or("–").to_owned();
        self.rows.push(StaleRow { session: head.id(), step, kept: kept.to_owned(), reason: reason.to_owned() });
    }
}

/// ` (7f3a01c2 → 91bb20e4)` of a whole file.
fn hashes(
    session: &Session,
    place: Place,
    path: &str,
    written: bool,
    world: &TraceWorld,
    files: &DiskFiles,
) -> Option<String> {
    let step = place.step_in(session)?;
    let all = if written { &step.writes } else { &step.reads };
    let old = all.iter().find(|file| file.path == path)?.hash.as_deref()?;
    let (root, path) = world.roots.file(project(session), path).ok()?;
    let FileState::Bytes(bytes) = files.read(Path::new(&root), &path) else { return None };
    let new = blake3::hash(&bytes).to_hex();
    Some(format!(" ({} → {})", old.get(..8)?, new.as_str().get(..8)?))
}

impl Output for StaleReport {
    fn text(&self, _: &View) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let name = paint(style::ID, format_args!("{}#{}", one_line(&row.session), one_line(&row.step)));
            let _ = writeln!(out, "{name}  {}  {}", one_line(&row.reason), paint(style::DIM, one_line(&row.kept)));
        }
        out
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }

    fn paged(&self) -> bool {
        true
    }

    fn exit_code(&self) -> u8 {
        u8::from(!self.rows.is_empty() || self.strict && self.unknown > 0)
    }
}
