//! One session that is verified.

use std::collections::HashMap;

use serde::Serialize;

use super::count::VerdictCount;
use crate::base::Result;
use crate::commands::Context;
use crate::commands::output::proof_words;
use crate::commands::trace::files::{CommitFiles, WorkingFiles};
use crate::commands::trace::git::Repository;
use crate::commands::trace::work::{LoadedWork, by_place, decision_verdict, is_other_branch, repository};
use crate::commands::trace::{TraceWorld, project};
use crate::graph::place::{Blocks, items};
use crate::graph::proof;
use crate::session::{Item, Session};
use crate::trace::why::commits_of;
use crate::trace::{AnswerCache, ClaimVerdict, JudgedStep, ReadFiles, UnknownReason, judge, project::inside};
use crate::vault::Head;

/// What is said of a claim without one.
const NO_HASH: &str = "without a hash";

#[derive(Debug, Default, Serialize)]
pub(super) struct VerifiedSession {
    pub(super) session: String,
    /// Whether a check passed after the last write; `null` where nothing was written and nothing checked.
    proof: Option<&'static str>,
    writes_after_check: u64,
    /// The commit that the files were compared with; `null` for the working copy.
    at: Option<String>,
    writes: VerdictCount,
    reads: VerdictCount,
    commits: u64,
    commits_reachable: u64,
    decisions: VerdictCount,
    /// What does not hold.
    pub(super) stale: Vec<StaleClaim>,
    /// Why nothing can be said of most, where that is so.
    pub(super) unknown: Option<&'static str>,
    /// Whether the note has no hash of any file.
    pub(super) has_no_hashes: bool,
    #[serde(skip)]
    is_repository: bool,
}

/// A claim that does not hold.
#[derive(Debug, Serialize)]
pub(super) struct StaleClaim {
    pub(super) step: String,
    pub(super) verdict: String,
    /// `src/a.rs:118-129`; empty for what rests on another step.
    pub(super) path: String,
    pub(super) detail: String,
}

impl VerifiedSession {
    pub(super) fn of(
        head: &Head,
        at: Option<&str>,
        world: &TraceWorld,
        cache: &mut AnswerCache,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let loaded = LoadedWork::read(head, world)?;
        let session = &loaded.session;
        let repository = repository(&loaded, at, cx)?;
        let since = session.meta.started;
        let working;
        let committed;
        let files: &dyn ReadFiles = if let (Some(_), Some((repository, commit))) = (at, &repository) {
            committed = CommitFiles::new(repository, commit, since);
            &committed
        } else {
            working = WorkingFiles::new(since, cx);
            &working
        };
        let work = loaded.work(is_other_branch(session, repository.as_ref()));
        let steps = judge(&work, &world.roots, files, cache, cx.env.now());
        let ids: Vec<String> = commits_of(session).into_iter().map(|tie| tie.id).collect();
        let reachable = repository.as_ref().map(|(it, commit)| it.reachable(&ids, commit)).unwrap_or_default();
        let proof = proof(session);
        let mut verified = Self {
            session: head.id(),
            proof: proof.map(crate::graph::Proof::name),
            writes_after_check: proof.map_or(0, crate::graph::Proof::writes_after),
            at: at.and(repository.as_ref()).map(|(_, commit)| commit.get(..7).unwrap_or(commit).to_owned()),
            commits: ids.len() as u64,
            commits_reachable: ids.iter().filter(|id| reachable.contains(*id)).count() as u64,
            decisions: decisions(session, &steps),
            unknown: loaded.root.is_none().then_some(UnknownReason::NoProject.as_str()),
            has_no_hashes: !loaded.has_hashes(),
            is_repository: repository.is_some(),
            ..Self::default()
        };
        for step in &steps {
            step.written().iter().for_each(|verdict| verified.writes.add(verdict));
            step.read().iter().for_each(|verdict| verified.reads.add(verdict));
        }
        verified.stale = stale(&loaded, &steps, repository.as_ref());
        Ok(verified)
    }

    /// Whether all that can be told holds; with `strict` also whether all can be told.
    pub(super) fn holds(&self, strict: bool) -> bool {
        let unknown = self.writes.unknown + self.reads.unknown + self.decisions.unknown > 0 || self.unknown.is_some();
        self.stale.is_empty() && self.decisions.drifted + self.decisions.gone == 0 && !(strict && unknown)
    }

    /// The rows above what does not hold.
    pub(super) fn head(&self) -> Vec<(&'static str, String)> {
        let proof = proof_words(self.proof, self.writes_after_check);
        let commits = match (self.commits, self.is_repository) {
            (0, _) => "none".to_owned(),
            (all, false) => format!("{all}, not compared"),
            (all, true) => {
                let commit = self.at.as_deref().unwrap_or("HEAD");
                format!("{} of {all} reachable from {commit}", self.commits_reachable)
            }
        };
        vec![
            ("proof", proof.unwrap_or_else(|| "none: its own steps record no change of code and no check".to_owned())),
            ("writes", self.writes.text(NO_HASH)),
            ("reads", self.reads.text(NO_HASH)),
            ("commits", commits),
            ("decisions", self.decisions.text("without \"Rests on\"")),
        ]
    }
}

/// The claims that do not hold, in the order in which their steps were done.
fn stale(
    loaded: &LoadedWork,
    steps: &[JudgedStep],
    repository: Option<&(Repository<'_, '_>, String)>,
) -> Vec<StaleClaim> {
    let member = |step: &JudgedStep| match step.member.checked_sub(1).and_then(|at| loaded.children.get(at)) {
        Some((id, session)) => (Some(id), session),
        None => (None, &loaded.session),
    };
    let name = |step: &JudgedStep| {
        let (id, session) = member(step);
        let own = step.place.id_in(session).unwrap_or("–");
        id.map_or_else(|| own.to_owned(), |id| format!("{id}#{own}"))
    };
    let touches = Touches::of(loaded, steps, repository);
    let mut all = Vec::new();
    for step in steps {
        for anchor in step.anchors.iter().filter(|anchor| anchor.verdict.is_stale()) {
            let place = if anchor.place.is_empty() { String::new() } else { format!(":{}", anchor.place) };
            let kind = if anchor.written { "wrote" } else { "read" };
            let touch = touches.of_path(project(member(step).1), &anchor.path);
            let touch = touch.map(|touch| format!("; last commit {touch}")).unwrap_or_default();
            all.push(StaleClaim {
                step: name(step),
                verdict: anchor.verdict.name().to_owned(),
                path: format!("{}{place}", anchor.path),
                detail: format!("{kind}; {}{touch}", anchor.verdict.words()),
            });
        }
        let own = step.own.as_ref().is_some_and(ClaimVerdict::is_stale);
        if let Some(on) = step.rests_on.and_then(|on| steps.get(on)).filter(|_| !own) {
            let detail = format!("rests on {}, which does not hold", name(on));
            all.push(StaleClaim { step: name(step), verdict: "rests".to_owned(), path: String::new(), detail });
        }
    }
    all
}

/// The last commits that touched files.
#[derive(Default)]
struct Touches {
    folder: String,
    by_path: HashMap<String, String>,
}

impl Touches {
    /// Of all files of which something does not hold.
    fn of(loaded: &LoadedWork, steps: &[JudgedStep], repository: Option<&(Repository<'_, '_>, String)>) -> Self {
        let Some(((repository, commit), root)) = repository.zip(loaded.root.as_deref()) else { return Self::default() };
        let Some(folder) = repository.folder(root) else { return Self::default() };
        let stale = steps.iter().flat_map(|step| &step.anchors).filter(|anchor| anchor.verdict.is_stale());
        let project = project(&loaded.session);
        let mut paths: Vec<String> =
            stale.filter_map(|anchor| Some(format!("{folder}{}", inside(project, &anchor.path)?))).collect();
        paths.sort();
        paths.dedup();
        let by_path = repository.last_touches(&paths, loaded.session.meta.started, commit);
        Self { folder, by_path }
    }

    fn of_path(&self, project: &str, path: &str) -> Option<&str> {
        let inside = inside(project, path)?;
        self.by_path.get(&format!("{}{inside}", self.folder)).map(String::as_str)
    }
}

/// The verdicts of decisions. One that names no step rests on nothing: nothing of it is claimed.
fn decisions(session: &Session, steps: &[JudgedStep]) -> VerdictCount {
    let mut count = VerdictCount::default();
    let (blocks, steps) = (Blocks::of(session), by_place(steps));
    for (_, item) in items(session) {
        let Item::Decision(decision) = item else { continue };
        let verdict = decision_verdict(session, &blocks, decision, &steps);
        count.add(&verdict.unwrap_or(ClaimVerdict::unknown(UnknownReason::NoHash)));
    }
    count
}
