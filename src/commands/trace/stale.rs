//! `cru stale`: what is kept and does not hold any more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use super::files::WorkingFiles;
use super::git::Repository;
use super::refs::References;
use super::work::{LoadedWork, by_place, decision_verdict};
use super::{TraceWorld, project};
use crate::base::Result;
use crate::base::text::{one_line, plural};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, View};
use crate::graph::Place;
use crate::graph::place::{Blocks, items};
use crate::session::{Item, Session, Status};
use crate::trace::{ClaimVerdict, FileState, JudgedAnchor, JudgedStep, ReadFiles, judge};
use crate::vault::{Head, VaultPath};

/// List what is kept and does not hold any more
///
/// Looks at what somebody keeps: bookmarks, decisions that rest on a step, and the last check of sessions that are active
/// or paused. A line says what changed or what it depends on. With --all: every step of every session.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Exit codes: 0 nothing is stale, 1 something is, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// Part of the project's path; `.` is the current folder
    #[arg(long, value_name = "PATH")]
    project: Option<String>,
    /// Look at every step
    #[arg(long)]
    all: bool,
    /// Exit with 1 also where something cannot be told
    #[arg(long)]
    strict: bool,
}

/// Steps of a session that are kept, with the reason.
type KeptSteps = BTreeMap<Place, String>;

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let mut kept: HashMap<VaultPath, KeptSteps> = HashMap::new();
    let references = References { vault: &world.vault, catalog: &world.catalog, cx };
    for bookmark in references.bookmarks()? {
        match references.follow(&bookmark) {
            Ok(block) => {
                let name = format!("bookmark {}", bookmark.name);
                kept.entry(block.path).or_default().entry(block.place).or_insert(name);
            }
            Err(error) => cx.ui.warn(&format!("the bookmark \"{}\" leads nowhere: {error}", one_line(&bookmark.name))),
        }
    }
    let here = args.project.as_deref().map(|wanted| wanted_project(wanted, cx));
    let heads: Vec<&Head> = world.catalog.sessions().filter(|head| is_in(head, here.as_deref())).collect();
    // A decision that rests on something says so, and an open session is marked: others are not parsed.
    let may = |head: &&&Head| {
        let rests = || {
            let bytes = world.vault.read(&head.path).unwrap_or_default();
            memchr::memmem::find(&bytes, b"Rests on:").is_some()
        };
        args.all || is_open(head) || kept.contains_key(&head.path) || rests()
    };
    let loaded: Vec<(&Head, LoadedWork)> =
        heads.par_iter().filter(may).filter_map(|head| Some((*head, LoadedWork::read(head, &world).ok()?))).collect();
    let since = loaded.iter().filter_map(|(_, work)| work.session.meta.started).min();
    let mut checked = StaleCheck {
        world: &world,
        files: WorkingFiles::new(since, cx),
        commits: HashMap::new(),
        report: StaleReport { schema: 1, strict: args.strict, ..StaleReport::default() },
        cx,
    };
    let mut cache = world.answers();
    let none = KeptSteps::new();
    for (head, work) in &loaded {
        let other_branch = checked.is_other_branch(work);
        let steps = judge(&work.work(other_branch), &world.roots, &checked.files, &mut cache, cx.env.now());
        let own = kept.get(&head.path).unwrap_or(&none);
        checked.steps(head, work, &steps, wanted_steps(&work.session, head, own, args.all));
        checked.decisions(head, work, &steps);
    }
    world.keep(&cache);
    let report = checked.report;
    if report.rows.is_empty() {
        let unknown = if report.unknown == 0 { String::new() } else { format!(", {} unknown", report.unknown) };
        cx.ui.note(&format!("nothing is stale ({} looked at{unknown})", plural(report.looked_at, "claim")));
    }
    Ok(Box::new(report))
}

fn is_open(head: &Head) -> bool {
    matches!(head.meta.status, Some(Status::Active | Status::Paused))
}

fn wanted_project(wanted: &str, cx: &Context<'_>) -> String {
    if wanted == "." { cx.env.folder() } else { wanted.to_owned() }.to_lowercase()
}

fn is_in(head: &Head, wanted: Option<&str>) -> bool {
    let own = head.meta.project.as_deref().unwrap_or_default().to_lowercase();
    wanted.is_none_or(|wanted| own.contains(wanted))
}

/// The steps of a session that are kept, and why; all of them where all are asked for.
fn wanted_steps(session: &Session, head: &Head, kept: &KeptSteps, all: bool) -> KeptSteps {
    let mut wanted = kept.clone();
    let steps = || {
        items(session).filter_map(|(place, item)| match item {
            Item::Step(step) => Some((place, step)),
            _ => None,
        })
    };
    let last_check = steps().filter(|(_, step)| step.verdict().is_some()).last();
    if let Some((place, _)) = last_check.filter(|_| is_open(head)) {
        wanted.entry(place).or_insert_with(|| "last check".to_owned());
    }
    if all {
        for (place, _) in steps() {
            wanted.entry(place).or_default();
        }
    }
    wanted
}

/// A claim that is kept and stale, and one reason.
#[derive(Debug, Serialize)]
struct StaleRow {
    /// `session#n-003`
    reference: String,
    /// Why it is looked at: `bookmark NAME`, `decision`, `last check`; empty for all steps.
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

/// What the check of all sessions uses.
struct StaleCheck<'a, 'c> {
    world: &'a TraceWorld,
    files: WorkingFiles<'a, 'c>,
    /// The commit that is checked out, by folder of a project.
    commits: HashMap<PathBuf, Option<(Repository<'a, 'c>, String)>>,
    report: StaleReport,
    cx: &'a Context<'c>,
}

impl StaleCheck<'_, '_> {
    /// Whether the session began at a commit that is no ancestor of what is checked out.
    fn is_other_branch(&mut self, work: &LoadedWork) -> bool {
        let (Some(root), Some(_)) = (&work.root, &work.session.meta.commit) else { return false };
        let cx = self.cx;
        let checked_out = self.commits.entry(root.clone()).or_insert_with(|| {
            let repository = Repository::of(root, cx)?;
            let commit = repository.commit("HEAD")?;
            Some((repository, commit))
        });
        super::work::is_other_branch(&work.session, checked_out.as_ref())
    }

    /// Looks at steps that are kept.
    fn steps(&mut self, head: &Head, work: &LoadedWork, steps: &[JudgedStep], kept: KeptSteps) {
        let own = by_place(steps);
        for (place, why) in kept {
            let Some(step) = own.get(&place) else { continue };
            self.report.looked_at += 1;
            self.report.unknown += u64::from(matches!(step.own, Some(ClaimVerdict::Unknown { .. })));
            let mut told = HashSet::new();
            for anchor in step.anchors.iter().filter(|anchor| anchor.verdict.is_stale()) {
                let reason = self.reason(&work.session, step, anchor);
                if told.insert(reason.clone()) {
                    self.add(head, &work.session, place, &why, reason);
                }
            }
            if let Some(on) = step.rests_on.and_then(|on| steps.get(on)) {
                let name = on.place.id_in(&work.session).filter(|_| on.member == 0).unwrap_or("a step of a sub-agent");
                self.add(head, &work.session, place, &why, format!("depends on stale: {name}"));
            }
        }
    }

    /// Looks at decisions that rest on steps.
    fn decisions(&mut self, head: &Head, work: &LoadedWork, steps: &[JudgedStep]) {
        let (session, own) = (&work.session, by_place(steps));
        let blocks = Blocks::of(session);
        for (place, item) in items(session) {
            let Item::Decision(decision) = item else { continue };
            let Some(verdict) = decision_verdict(session, &blocks, decision, &own) else { continue };
            self.report.looked_at += 1;
            self.report.unknown += u64::from(matches!(verdict, ClaimVerdict::Unknown { .. }));
            if verdict.is_stale() {
                let on: Vec<String> = decision.rests_on.iter().filter_map(|link| link.block.clone()).collect();
                self.add(head, session, place, "decision", format!("rests on {}: {}", on.join(", "), verdict.words()));
            }
        }
    }

    /// `input changed: samples.csv (7f3a01c2 → 91bb20e4)`
    fn reason(&self, session: &Session, step: &JudgedStep, anchor: &JudgedAnchor) -> String {
        let what = if anchor.written { "output" } else { "input" };
        if anchor.verdict == ClaimVerdict::Gone {
            return format!("{what} gone: {}", anchor.path);
        }
        if !anchor.place.is_empty() {
            let left = match &anchor.verdict {
                ClaimVerdict::Drifted { left: Some(left), of } if *of > 0 => format!(" ({left} of {of} lines left)"),
                _ => String::new(),
            };
            return format!("{what} changed: {}:{}{left}", anchor.path, anchor.place);
        }
        let hashes = self.hashes(session, step.place, anchor);
        format!("{what} changed: {}{}", anchor.path, hashes.unwrap_or_default())
    }

    /// ` (7f3a01c2 → 91bb20e4)` of a whole file.
    fn hashes(&self, session: &Session, place: Place, anchor: &JudgedAnchor) -> Option<String> {
        let step = place.step_in(session)?;
        let all = if anchor.written { &step.writes } else { &step.reads };
        let old = all.iter().find(|file| file.path == anchor.path)?.hash.as_deref()?;
        let (root, path) = self.world.roots.file(project(session), &anchor.path).ok()?;
        let FileState::Bytes(bytes) = self.files.read(Path::new(&root), &path) else { return None };
        let new = blake3::hash(&bytes).to_hex();
        Some(format!(" ({} → {})", old.get(..8)?, new.as_str().get(..8)?))
    }

    fn add(&mut self, head: &Head, session: &Session, place: Place, kept: &str, reason: String) {
        let reference = format!("{}#{}", head.id(), place.id_in(session).unwrap_or("–"));
        self.report.rows.push(StaleRow { reference, kept: kept.to_owned(), reason });
    }
}

impl Output for StaleReport {
    fn text(&self, _: &View) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let kept = if row.kept.is_empty() { String::new() } else { format!("  ({})", one_line(&row.kept)) };
            let name = paint(style::ID, one_line(&row.reference));
            let _ = writeln!(out, "{name}  {}{}", one_line(&row.reason), paint(style::DIM, kept));
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
