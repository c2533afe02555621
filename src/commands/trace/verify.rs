//! `cru verify`: whether what a session claims still holds.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::git::{CommitFiles, Repository};
use super::{TraceWorld, project};
use crate::action::ToolKind;
use crate::base::text::{one_line, plural};
use crate::base::{Error, Result};
use crate::commands::output::proof_words;
use crate::commands::output::style::{self, paint};
use crate::commands::session::current_or_newest;
use crate::commands::{Context, Output, View};
use crate::graph::place::{Blocks, items};
use crate::graph::{Place, proof};
use crate::session::{Item, Session};
use crate::trace::why::commits_of;
use crate::trace::{ClaimVerdict, DiskFiles, JudgedStep, ReadFiles, UnknownReason, Work, WorkMember, judge};
use crate::vault::{Head, VaultPath};

/// Check whether what sessions read and wrote still stands
///
/// Compares the files of the project, or those of a commit, with what each step read and wrote. Shows the proof (whether
/// a check passed after the last write), writes, reads, commits and decisions, then each step that does not hold. Without
/// SESSION: the current one, else the newest.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all hold, 1 something does not, 2 usage error, 3 I/O error.")]
pub struct Args {
    /// Which sessions
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Compare with this commit
    #[arg(long, value_name = "REV")]
    at: Option<String>,
    /// Exit with 1 also where nothing can be said
    #[arg(long)]
    strict: bool,
    /// Write the result into the note, below `## Verified`
    #[arg(long)]
    write: bool,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let world = TraceWorld::read(cx)?;
    let mut heads: Vec<Head> = Vec::new();
    for name in &args.sessions {
        heads.push(world.catalog.session(name, &world.vault, cx.env)?.clone());
    }
    if heads.is_empty() {
        heads.push(current_or_newest(&world.catalog, &world.vault, cx)?.clone());
    }
    let mut cache = world.answers();
    let mut sessions = Vec::new();
    for head in &heads {
        sessions.push(VerifiedSession::of(head, args.at.as_deref(), &world, &mut cache, cx)?);
    }
    world.keep(&cache);
    if args.write {
        for (head, verified) in heads.iter().zip(&sessions) {
            write(&world, &head.path, verified, args.at.as_deref(), cx)?;
        }
    }
    Ok(Box::new(Verified { schema: 1, strict: args.strict, sessions }))
}

/// How many claims have which verdict.
#[derive(Debug, Default, Serialize)]
pub(super) struct VerdictCount {
    total: u64,
    holds: u64,
    moved: u64,
    superseded: u64,
    drifted: u64,
    gone: u64,
    unknown: u64,
    /// Steps that only name a file: nothing of it is claimed.
    untracked: u64,
}

impl VerdictCount {
    fn add(&mut self, verdict: &ClaimVerdict) {
        self.total += 1;
        *match verdict {
            ClaimVerdict::Holds | ClaimVerdict::Retired => &mut self.holds,
            ClaimVerdict::Moved { .. } => &mut self.moved,
            ClaimVerdict::Superseded => &mut self.superseded,
            ClaimVerdict::Drifted { .. } => &mut self.drifted,
            ClaimVerdict::Gone => &mut self.gone,
            ClaimVerdict::Unknown { reason: UnknownReason::NoHash } => &mut self.untracked,
            ClaimVerdict::Unknown { .. } => &mut self.unknown,
        } += 1;
    }

    fn text(&self) -> String {
        if self.total == 0 {
            return "none".to_owned();
        }
        let all = [
            (self.holds, "hold"),
            (self.moved, "moved"),
            (self.superseded, "superseded"),
            (self.drifted, "drifted"),
            (self.gone, "gone"),
            (self.unknown, "unknown"),
            (self.untracked, "without a hash"),
        ];
        let parts: Vec<String> =
            all.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        format!("{}: {}", self.total, parts.join(", "))
    }
}

#[derive(Debug, Serialize)]
struct VerifiedSession {
    session: String,
    proof: Option<&'static str>,
    writes_after_check: u64,
    writes: VerdictCount,
    reads: VerdictCount,
    commits: u64,
    commits_reachable: u64,
    decisions: VerdictCount,
    /// What does not hold.
    stale: Vec<StaleStep>,
    /// Why nothing can be said of most, where that is so.
    unknown: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct StaleStep {
    step: String,
    verdict: String,
    path: String,
    detail: String,
}

impl VerifiedSession {
    fn of(
        head: &Head,
        at: Option<&str>,
        world: &TraceWorld,
        cache: &mut crate::trace::AnswerCache,
        cx: &Context<'_>,
    ) -> Result<Self> {
        let session = world.vault.load(&head.path)?.session;
        let children: Vec<(String, Session)> = session
            .meta
            .subagents
            .iter()
            .filter_map(|row| world.catalog.note(&row.session, &head.path))
            .filter_map(|child| Some((child.id(), world.vault.load(&child.path).ok()?.session)))
            .collect();
        let root = world.roots.root(project(&session));
        let repository = root.as_deref().and_then(|root| Repository::of(root, cx));
        let commit = match (&repository, at) {
            (Some(repository), rev) => {
                let commit = repository.commit(rev.unwrap_or("HEAD"));
                if let (Some(rev), None) = (rev, &commit) {
                    return Err(Error::usage(format!("no commit `{rev}` in {}", repository.top().display())));
                }
                commit
            }
            (None, Some(_)) => {
                return Err(Error::usage(format!("the project {} is in no repository here", project(&session)))
                    .with_hint("`[projects]` in the user's configuration names its folder"));
            }
            (None, None) => None,
        };
        let other_branch = match (&repository, &commit, &session.meta.commit) {
            (Some(repository), Some(now), Some(base)) => repository.is_ancestor(base, now) == Some(false),
            _ => false,
        };
        let ties = commits_of(&session);
        let (commits, reachable) = match (&repository, &commit) {
            (Some(repository), Some(now)) => {
                let ids: Vec<String> = ties.iter().map(|tie| tie.id.clone()).collect();
                let found = repository.reachable(&ids, now);
                (ids.len() as u64, ids.iter().filter(|id| found.get(*id) == Some(&true)).count() as u64)
            }
            _ => (ties.len() as u64, 0),
        };
        let patches: Vec<String> = std::iter::once(head.id())
            .chain(children.iter().map(|(id, _)| id.clone()))
            .map(|id| world.patch(&id))
            .collect();
        let all = std::iter::once(&session).chain(children.iter().map(|(_, child)| child));
        let members = all.zip(&patches).map(|(session, patch)| WorkMember { session, patch, other_branch }).collect();
        let work = Work { members };
        let since = session.meta.started.map(|time| time.to_string());
        let renames = |to: &str| repository.as_ref().map(|it| it.renames(since.as_deref(), to)).unwrap_or_default();
        let mut disk = DiskFiles::default();
        let revision;
        let files: &dyn ReadFiles = match (at, &repository, &commit, &root) {
            (Some(_), Some(repository), Some(commit), Some(root)) => {
                let repository = Repository::of(repository.top(), cx);
                let repository = repository.ok_or_else(|| Error::no(format!("{} is gone", root.display())))?;
                revision = CommitFiles { repository, commit: commit.clone(), renames: renames(commit) };
                &revision
            }
            (_, Some(repository), _, Some(root)) => {
                // Names from the top of the repository become names in the project.
                let folder = root.strip_prefix(repository.top()).unwrap_or(std::path::Path::new(""));
                let below = |name: &str| {
                    std::path::Path::new(name)
                        .strip_prefix(folder)
                        .ok()
                        .map(|it| it.to_string_lossy().replace('\\', "/"))
                };
                let names: HashMap<String, String> =
                    renames("HEAD").iter().filter_map(|(old, new)| below(old).zip(below(new))).collect();
                disk.renames.insert(root.clone(), names);
                &disk
            }
            _ => &disk,
        };
        let steps = judge(&work, &world.roots, files, cache, cx.env.now());
        let last =
            |path: &str| repository.as_ref().zip(commit.as_deref()).and_then(|(it, now)| it.last_touch(path, now));
        let proof = proof(&session);
        let own: Vec<&JudgedStep> = steps.iter().filter(|step| step.member == 0).collect();
        let mut verified = Self {
            session: head.id(),
            proof: proof.map(crate::graph::Proof::name),
            writes_after_check: proof.map_or(0, crate::graph::Proof::writes_after),
            writes: VerdictCount::default(),
            reads: VerdictCount::default(),
            commits,
            commits_reachable: reachable,
            decisions: decisions(&session, &own),
            stale: Vec::new(),
            unknown: root.is_none().then_some(UnknownReason::NoProject.words()),
        };
        let mut touched: HashMap<String, Option<String>> = HashMap::new();
        for step in &steps {
            step.written().iter().for_each(|verdict| verified.writes.add(verdict));
            step.read().iter().for_each(|verdict| verified.reads.add(verdict));
            let member = &work.members[step.member];
            let id = step.place.id_in(member.session).unwrap_or("–");
            let name = if step.member == 0 { id.to_owned() } else { format!("{}#{id}", children[step.member - 1].0) };
            for anchor in step.anchors.iter().filter(|anchor| anchor.verdict.is_stale()) {
                let place = if anchor.place.is_empty() { String::new() } else { format!(":{}", anchor.place) };
                let touch = touched.entry(anchor.path.clone()).or_insert_with(|| last(&anchor.path)).clone();
                let kind = if anchor.written { "wrote" } else { "read" };
                let touch = touch.map(|touch| format!("; last changed by {touch}")).unwrap_or_default();
                verified.stale.push(StaleStep {
                    step: name.clone(),
                    verdict: anchor.verdict.name().to_owned(),
                    path: format!("{}{place}", anchor.path),
                    detail: format!("{kind}; {}{touch}", anchor.verdict.words()),
                });
            }
            if let Some(on) = step.rests_on.filter(|_| !step.own.as_ref().is_some_and(ClaimVerdict::is_stale)) {
                let on = steps[on].place.id_in(work.members[steps[on].member].session).unwrap_or("–");
                let detail = format!("rests on {on}, which does not hold");
                verified.stale.push(StaleStep { step: name, verdict: "rests".to_owned(), path: String::new(), detail });
            }
        }
        Ok(verified)
    }

    fn holds(&self, strict: bool) -> bool {
        let unknown = self.writes.unknown + self.reads.unknown + self.decisions.unknown > 0 || self.unknown.is_some();
        self.stale.is_empty() && self.decisions.drifted + self.decisions.gone == 0 && !(strict && unknown)
    }
}

/// The verdicts of decisions that rest on something: the worst of the steps that they name. A question that was asked
/// rests on nothing by itself.
pub(super) fn decisions(session: &Session, steps: &[&JudgedStep]) -> VerdictCount {
    let mut count = VerdictCount::default();
    for (_, item) in items(session) {
        let Item::Decision(decision) = item else { continue };
        count.add(&decision_verdict(session, decision, steps));
    }
    count
}

pub(super) fn decision_verdict(
    session: &Session,
    decision: &crate::session::Decision,
    steps: &[&JudgedStep],
) -> ClaimVerdict {
    let blocks = Blocks::of(session);
    let on = |place: Place| {
        let is_question = place.step_in(session).is_some_and(|step| step.action().kind == ToolKind::Ask);
        let step = steps.iter().find(|step| step.place == place).filter(|_| !is_question)?;
        let rests = step.rests_on.map(|_| ClaimVerdict::Drifted { left: None, of: 0 });
        ClaimVerdict::worst(step.own.clone().into_iter().chain(rests))
    };
    let verdicts = decision.rests_on.iter().filter_map(|link| blocks.follow(session, link)).filter_map(on);
    ClaimVerdict::worst(verdicts).unwrap_or(ClaimVerdict::unknown(UnknownReason::NoHash))
}

/// Marks of the region that `--write` owns.
const BEGIN: &str = "<!-- cru:begin verify -->";
const END: &str = "<!-- cru:end verify -->";

/// Puts the result into the note; nothing else of it changes.
fn write(
    world: &TraceWorld,
    path: &VaultPath,
    verified: &VerifiedSession,
    at: Option<&str>,
    cx: &Context<'_>,
) -> Result<()> {
    let file = world.vault.file(path);
    let old = crate::base::files::read(&file)?;
    let text = String::from_utf8_lossy(&old).into_owned();
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let region = verified.region(at, cx).replace('\n', end);
    let new = match text.find(BEGIN).zip(text.find(END)).filter(|(from, to)| from < to) {
        Some((from, to)) => format!("{}{region}{}", &text[..from], &text[to + END.len()..]),
        None => format!("{}{end}{end}## Verified{end}{end}{region}{end}", text.trim_end()),
    };
    if new.as_bytes() == old {
        return Ok(());
    }
    crate::base::files::replace(&file, &old, new.as_bytes())
}

impl VerifiedSession {
    fn region(&self, at: Option<&str>, cx: &Context<'_>) -> String {
        let cell = |text: &str| one_line(text).replace('|', "\\|");
        let mut out = format!("{BEGIN}\n\n");
        let when = crate::session::time::format(cx.env.now());
        let at = at.map(|at| format!(" at `{}`", cell(at))).unwrap_or_default();
        let _ = writeln!(out, "{when}{at}\n");
        let _ = writeln!(out, "| | |\n| --- | --- |");
        for (name, value) in self.head() {
            let _ = writeln!(out, "| {name} | {} |", cell(&value));
        }
        if !self.stale.is_empty() {
            let _ = writeln!(out, "\n| step | file | verdict |\n| --- | --- | --- |");
            for it in &self.stale {
                let path = if it.path.is_empty() { String::new() } else { format!("`{}`", cell(&it.path)) };
                let _ = writeln!(out, "| {} | {path} | {} |", cell(&it.step), cell(&it.detail));
            }
        }
        out + "\n" + END
    }

    fn head(&self) -> Vec<(&'static str, String)> {
        let proof = proof_words(self.proof, self.writes_after_check).unwrap_or_else(|| "nothing to check".to_owned());
        vec![
            ("proof", proof),
            ("writes", self.writes.text()),
            ("reads", self.reads.text()),
            (
                "commits",
                if self.commits == 0 {
                    "none".to_owned()
                } else {
                    format!("{} of {} reachable", self.commits_reachable, self.commits)
                },
            ),
            ("decisions", self.decisions.text()),
        ]
    }
}

#[derive(Debug, Serialize)]
struct Verified {
    schema: u32,
    #[serde(skip)]
    strict: bool,
    sessions: Vec<VerifiedSession>,
}

impl Output for Verified {
    fn text(&self, _: &View) -> String {
        let mut out = String::new();
        for (at, it) in self.sessions.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let _ = writeln!(out, "{}", paint(style::ID, one_line(&it.session)));
            for (name, value) in it.head() {
                let _ = writeln!(out, "  {}  {}", paint(style::DIM, format_args!("{name:<9}")), one_line(&value));
            }
            if let Some(why) = it.unknown {
                let _ = writeln!(out, "  {}", paint(style::WARN, why));
            }
            for stale in &it.stale {
                let path = if stale.path.is_empty() { String::new() } else { format!("{}  ", one_line(&stale.path)) };
                let step = paint(style::ID, one_line(&stale.step));
                let _ = writeln!(out, "  {step}  {path}{}", paint(style::DIM, one_line(&stale.detail)));
            }
        }
        if self.sessions.len() > 1 {
            let bad = self.sessions.iter().filter(|it| !it.holds(self.strict)).count() as u64;
            let _ = writeln!(
                out,
                "\n{}, {bad} with something that does not hold",
                plural(self.sessions.len() as u64, "session")
            );
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
        u8::from(!self.sessions.iter().all(|it| it.holds(self.strict)))
    }
}
