//! `cru stale`: what is kept and does not hold any more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;

use super::files::WorkingFiles;
use super::git::Repository;
use super::work::{LoadedWork, by_place, decision_verdict};
use super::{TraceWorld, project};
use crate::base::Result;
use crate::base::text::{one_line, plural};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View};
use crate::graph::Place;
use crate::graph::place::{Blocks, items};
use crate::session::{Item, Session, Status, Step};
use crate::trace::{ClaimVerdict, FileState, JudgedAnchor, JudgedStep, ReadFiles, judge};
use crate::vault::{Head, VaultPath};

/// List what is kept and does not hold any more
///
/// Looks at what somebody keeps: bookmarks, decisions that rest on a step, accepted lessons, workflows, steps of `cru run`,
/// and the last check of sessions that are active or paused. A step that was run again since (`cru replay`) is not looked
/// at, but the newest run. A line says what changed or what it depends on. With --all: every step of every session.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Exit codes: 0 nothing is stale, 1 something is, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// Part of the project's path; `.` is the current folder
    #[arg(long, value_name = "PATH")]
    project: Option<String>,
    /// Look at every step
    #[arg(long)]
    all: bool,
    /// Exit with 1 also where something cannot be told, sessions of projects that are not on this machine among them
    #[arg(long)]
    strict: bool,
}

mod keep;

use keep::Replays;

/// Steps of a session that are kept, with the reason.
pub(super) type KeptSteps = BTreeMap<Place, String>;

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let asked = StaleQuestion {
        project: args.project.as_deref(),
        all: args.all,
        elsewhere: args.strict,
        ..StaleQuestion::default()
    };
    let report = StaleReport { strict: args.strict, ..gather(&asked, &world, cx)? };
    report.dangling.iter().for_each(|message| cx.ui.warn(message));
    if report.rows.is_empty() {
        let unknown = if report.unknown == 0 { String::new() } else { format!(", {} unknown", report.unknown) };
        let elsewhere = match report.elsewhere {
            0 => String::new(),
            count => format!("; {} left out: the project is not on this machine", plural(count, "session")),
        };
        cx.ui.note(&format!("nothing is stale ({} looked at{unknown}{elsewhere})", plural(report.looked_at, "claim")));
    }
    Ok(Box::new(report))
}

/// What is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::commands) struct StaleQuestion<'a> {
    /// Part of the project's path; all projects without it.
    pub(in crate::commands) project: Option<&'a str>,
    /// Every step, and not only what is kept.
    pub(in crate::commands) all: bool,
    /// Only so many sessions, the newest, and those that something outside of sessions leads to, such as a bookmark.
    pub(in crate::commands) newest: Option<usize>,
    /// Sessions of projects that are not on this machine as well, of whose claims nothing can be told.
    pub(in crate::commands) elsewhere: bool,
}

/// Verdicts of steps by note and id.
pub(in crate::commands) type StepVerdicts = HashMap<(String, String), String>;

/// The verdict of every step on what it read and wrote, of the sessions whose project is on this machine.
pub(in crate::commands) fn verdicts(cx: &Context<'_>) -> Result<StepVerdicts> {
    let world = TraceWorld::read(cx)?;
    Ok(gather(&StaleQuestion { all: true, ..StaleQuestion::default() }, &world, cx)?.verdicts)
}

/// Looks at what is kept.
pub(in crate::commands) fn gather(
    asked: &StaleQuestion<'_>,
    world: &TraceWorld,
    cx: &Context<'_>,
) -> Result<StaleReport> {
    let references = world.references(None, cx);
    let mut dangling = Vec::new();
    let mut kept = keep::named(&references, world, &mut dangling)?;
    let here = asked.project.map(|wanted| wanted_project(wanted, cx));
    let mut heads: Vec<&Head> = world.catalog.sessions().filter(|head| is_in(head, here.as_deref())).collect();
    let asked_for = heads.len();
    if !asked.elsewhere {
        let mut roots: HashMap<&str, bool> = HashMap::new();
        heads.retain(|head| {
            let project = head.meta.project.as_deref().unwrap_or_default();
            *roots.entry(project).or_insert_with(|| world.roots.root(project).is_some())
        });
    }
    if let Some(newest) = asked.newest {
        let mut starts: Vec<_> = heads.iter().map(|head| head.meta.started).collect();
        starts.sort_by(|one, other| other.cmp(one));
        let oldest = starts.get(newest.saturating_sub(1)).copied().flatten();
        heads.retain(|head| {
            kept.contains_key(&head.path) || oldest.is_none_or(|oldest| head.meta.started >= Some(oldest))
        });
    }
    // The index knows which sessions keep nothing, and an open session is marked: others are not read.
    let rows = if asked.all { &[] } else { world.snapshot(cx)?.sessions() };
    let idle: HashSet<&str> = rows.iter().filter(|row| !row.claims).map(|row| row.path.as_str()).collect();
    let may =
        |head: &&&Head| is_open(head) || kept.contains_key(&head.path) || !idle.contains(head.path.text().as_ref());
    let mut loaded: Vec<(&Head, LoadedWork)> =
        heads.par_iter().filter(may).filter_map(|head| Some((*head, LoadedWork::read(head, world).ok()?))).collect();
    let replays = Replays::of(&loaded, &world.catalog);
    replays.move_kept(&mut kept);
    for (head, work) in &mut loaded {
        work.cleared = replays.cleared(&head.path);
    }
    let since = loaded.iter().filter_map(|(_, work)| work.session.meta.started).min();
    let mut checked = StaleCheck {
        world,
        files: WorkingFiles::new(since, cx),
        commits: HashMap::new(),
        report: StaleReport {
            schema: 1,
            dangling,
            elsewhere: (asked_for - heads.len()) as u64,
            ..StaleReport::default()
        },
        cx,
    };
    let mut cache = world.answers();
    let none = KeptSteps::new();
    for (head, work) in &loaded {
        let other_branch = checked.is_other_branch(work);
        let steps = judge(&work.work(other_branch), &world.roots, &checked.files, &mut cache, cx.env.now());
        let own = kept.get(&head.path).unwrap_or(&none);
        let mut wanted = wanted_steps(&work.session, head, own, asked.all);
        if !asked.all {
            wanted.retain(|place, _| !replays.is_replaced(&head.path, *place));
        }
        checked.steps(head, work, &steps, wanted);
        checked.decisions(head, work, &steps);
    }
    world.keep(&cache);
    Ok(checked.report)
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
    let steps = || items(session).filter_map(|(place, item)| Some((place, item.as_step()?)));
    let last_check = steps().filter(|(_, step)| step.verdict().is_some()).last();
    if let Some((place, _)) = last_check.filter(|_| is_open(head)) {
        wanted.entry(place).or_insert_with(|| "last check".to_owned());
    }
    for (place, step) in steps() {
        if is_recorded(step) {
            wanted.entry(place).or_insert_with(|| "run".to_owned());
        }
    }
    if all {
        for (place, _) in steps() {
            wanted.entry(place).or_default();
        }
    }
    wanted
}

/// Whether `cru run` recorded a step.
pub(super) fn is_recorded(step: &Step) -> bool {
    let by = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("by") && value.trim() == crate::commands::trace::run::record::RECORDER
    };
    step.fields.iter().any(by)
}

/// A claim that is kept and stale, and one reason.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct StaleRow {
    /// `session#n-003`
    pub(in crate::commands) reference: String,
    /// Why it is looked at: `bookmark NAME`, `lesson ID`, `workflow NAME`, `decision`, `run`, `last check`; empty for all
    /// steps.
    pub(in crate::commands) kept: String,
    pub(in crate::commands) reason: String,
    /// The note, and the place in it.
    #[serde(skip)]
    pub(in crate::commands) path: VaultPath,
    #[serde(skip)]
    pub(in crate::commands) place: Place,
}

#[derive(Debug, Default, Serialize)]
pub(in crate::commands) struct StaleReport {
    schema: u32,
    #[serde(skip)]
    strict: bool,
    looked_at: u64,
    unknown: u64,
    /// Sessions that were left out, since their projects are not on this machine.
    elsewhere: u64,
    pub(in crate::commands) rows: Vec<StaleRow>,
    /// Bookmarks that lead nowhere, in words.
    #[serde(skip)]
    dangling: Vec<String>,
    /// Every step that is stale or rests on such, of the sessions that have a row, with what changed.
    #[serde(skip)]
    pub(in crate::commands) steps: BTreeMap<(VaultPath, Place), Vec<String>>,
    /// Of each step that read or wrote something.
    #[serde(skip)]
    verdicts: StepVerdicts,
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
        for (place, step) in &own {
            let rests = step.rests_on.is_some().then(|| "rests on stale".to_owned());
            let verdict = match &step.own {
                Some(verdict) if verdict.is_stale() => Some(verdict.name().to_owned()),
                own => rests.or_else(|| own.as_ref().map(|verdict| verdict.name().to_owned())),
            };
            if let (Some(id), Some(verdict)) = (place.id_in(&work.session), verdict) {
                self.report.verdicts.insert((head.path.to_string(), id.to_owned()), verdict);
            }
            let changed = step.anchors.iter().filter(|anchor| anchor.verdict.is_stale());
            let mut reasons: Vec<String> = changed.map(|anchor| self.reason(&work.session, step, anchor)).collect();
            reasons.dedup();
            if !reasons.is_empty() || step.rests_on.is_some() {
                self.report.steps.insert((head.path.clone(), *place), reasons);
            }
        }
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
        let path = head.path.clone();
        self.report.rows.push(StaleRow { reference, kept: kept.to_owned(), reason, path, place });
    }
}

impl PlainOutput for StaleReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let kept = if row.kept.is_empty() { String::new() } else { format!("  ({})", one_line(&row.kept)) };
            let name = paint(style::ID, one_line(&row.reference));
            let _ = writeln!(out, "{name}  {}{}", one_line(&row.reason), paint(style::DIM, kept));
        }
        out
    }

    fn is_no(&self) -> bool {
        !self.rows.is_empty() || self.strict && self.unknown > 0
    }
}
