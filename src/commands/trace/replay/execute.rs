//! Running the steps of a plan: in the project or in a copy of it, recorded or only compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use similar::TextDiff;

use super::plan::{PlannedStep, Redo, ReplayPlan};
use super::scratch::Scratch;
use super::stored::{OutputSource, comparable, stored_output};
use crate::base::{Error, Result};
use crate::commands::trace::TraceWorld;
use crate::commands::trace::agree::{Agreement, Consenting, ReadyCommand};
use crate::commands::trace::run::record::{RunCommand, RunRequest, StepRecorder};
use crate::commands::{Context, Passing};
use crate::live::file;
use crate::session::{Link, StepStatus, file_ref};
use crate::sync::evidence::Transcripts;
use crate::trace::consent::Consent;
use crate::trace::project::inside;
use crate::vault::VaultPath;

/// Seconds that a command may take that is only compared.
const LIMIT: u64 = 600;

/// What became of a step of a plan.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReplayRow {
    /// `session#n-003`
    pub(super) reference: String,
    pub(super) command: String,
    /// `equal`, `different`, `failed`, `not run`, `waits`, `unchanged`.
    pub(super) outcome: &'static str,
    /// Why, or what differs.
    pub(super) detail: String,
    /// The step that was appended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) replayed_by: Option<String>,
    /// What differs, as a unified diff.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) diff: String,
}

/// How steps run.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct ReplayMode {
    /// Whether steps are appended; else they are only compared.
    pub(super) is_recorded: bool,
    pub(super) in_scratch: bool,
    /// Whether what depends on a failed step runs all the same.
    pub(super) skips_failed: bool,
    /// Whether a step that only rests on others is left out where those came to the same.
    pub(super) stops_at_equal: bool,
}

/// Runs a plan.
pub(super) fn execute(
    plan: &ReplayPlan,
    mode: ReplayMode,
    world: &TraceWorld,
    consenting: &Consenting<'_>,
    cx: &Context<'_>,
) -> Result<Vec<ReplayRow>> {
    let agreements = agreements(plan, consenting);
    let recorder = if mode.is_recorded { Some(StepRecorder::find(None, cx)?) } else { None };
    let transcripts = Transcripts::of(&world.vault, cx.env);
    let mut scratches: BTreeMap<PathBuf, Scratch<'_, '_>> = BTreeMap::new();
    let mut rows: Vec<ReplayRow> = Vec::new();
    // The step that each was run again as, with its note.
    let mut new_steps: BTreeMap<(VaultPath, String), String> = BTreeMap::new();
    for (step, agreement) in plan.steps.iter().zip(&agreements) {
        let mut row = ReplayRow {
            reference: step.key(),
            command: format!("{} {}", step.step.tool, step.step.args),
            outcome: "not run",
            detail: String::new(),
            replayed_by: None,
            diff: String::new(),
        };
        let before = || step.on.iter().filter_map(|on| rows.get(*on));
        let stops = |row: &&ReplayRow| matches!(row.outcome, "failed" | "not run" | "waits");
        if let Some(stopped) = before().find(stops).filter(|_| !mode.skips_failed) {
            row.outcome = "waits";
            row.detail = format!("for {}", stopped.reference);
        } else if let Agreement::No(why) = agreement {
            row.detail.clone_from(why);
        } else if mode.stops_at_equal
            && step.reasons.is_empty()
            && !step.on.is_empty()
            && before().all(|row| matches!(row.outcome, "equal" | "unchanged"))
        {
            row.outcome = "unchanged";
            "what it rests on came to the same".clone_into(&mut row.detail);
        } else if let Agreement::Yes(command) = agreement {
            let project = &step.folder.path;
            if mode.in_scratch && !scratches.contains_key(project) {
                scratches.insert(project.clone(), Scratch::of(project, cx)?);
            }
            let dir = scratches.get(project).filter(|_| mode.in_scratch).map(|it| it.dir.clone());
            match command.ready(dir.as_deref().unwrap_or(project), cx) {
                Err(why) => row.detail = why,
                Ok(command) => {
                    let run = Run { step, command, dir: dir.as_deref(), plan, world, transcripts: &transcripts, cx };
                    match &recorder {
                        Some(recorder) => run.record(recorder, &mut new_steps, &mut row)?,
                        None => run.compare(&mut row)?,
                    }
                }
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Who agrees to each step; everything is asked at once, before anything runs.
fn agreements(plan: &ReplayPlan, consenting: &Consenting<'_>) -> Vec<Agreement> {
    let mut answers: BTreeMap<usize, Agreement> = BTreeMap::new();
    let mut by_folder: BTreeMap<&Path, Vec<(usize, &PlannedStep, &Consent)>> = BTreeMap::new();
    for (at, step) in plan.steps.iter().enumerate() {
        match &step.redo {
            Redo::Command(consent) if step.refusal().is_none() => {
                by_folder.entry(&step.folder.path).or_default().push((at, step, consent));
            }
            _ => drop(answers.insert(at, Agreement::No(step.refusal().unwrap_or_default()))),
        }
    }
    for steps in by_folder.into_values() {
        let Some((_, first, _)) = steps.first() else { continue };
        let commands = steps.iter().map(|(_, step, consent)| (step.step.full_args(), (*consent).clone())).collect();
        let given = consenting.agree(commands, &first.folder);
        answers.extend(steps.iter().map(|(at, ..)| *at).zip(given));
    }
    answers.into_values().collect()
}

/// A step that runs.
struct Run<'a, 'c> {
    step: &'a PlannedStep,
    command: ReadyCommand,
    /// The scratch folder.
    dir: Option<&'a Path>,
    plan: &'a ReplayPlan,
    world: &'a TraceWorld,
    transcripts: &'a Transcripts,
    cx: &'a Context<'c>,
}

impl Run<'_, '_> {
    /// Where it runs.
    fn folder(&self) -> &Path {
        self.dir.unwrap_or(&self.step.folder.path)
    }

    /// Runs it and appends a step.
    fn record(
        &self,
        recorder: &StepRecorder<'_>,
        new_steps: &mut BTreeMap<(VaultPath, String), String>,
        row: &mut ReplayRow,
    ) -> Result<()> {
        let old = &self.step.step;
        let id = old.id.clone().unwrap_or_default();
        let link = |path: &VaultPath, id: &str| {
            let note = if *path == recorder.target.path { String::new() } else { path.stem().into_owned() };
            format!("[[{note}#^{id}]]")
        };
        let after = |it: &Link| {
            let block = it.block.clone()?;
            let own = it.target.trim().is_empty();
            let path = if own {
                self.step.path.clone()
            } else {
                self.world.catalog.note(&it.target, &self.step.path)?.path.clone()
            };
            match new_steps.get(&(path.clone(), block.clone())) {
                Some(new) => Some(format!("[[#^{new}]]")),
                None => Some(link(&path, &block)),
            }
        };
        let names = |files: &[crate::session::FileRef]| -> Vec<String> {
            let inside = |path: &str| inside(&self.step.project, path).unwrap_or_else(|| path.to_owned());
            files.iter().map(|file| inside(&file.path)).collect()
        };
        let request = RunRequest {
            command: RunCommand::Note(self.command.clone()),
            shown: Some(old.full_args().to_owned()),
            reads: names(&old.reads),
            writes: names(&old.writes).into_iter().filter(|path| self.folder().join(path).exists()).collect(),
            after: old.after.iter().filter_map(after).collect(),
            replays: Some(link(&self.step.path, &id)).filter(|_| !id.is_empty()),
            cell: old.cell.as_ref().map(ToString::to_string),
            dir: self.command.dir.clone(),
            scratch: self.dir.map(Path::to_owned),
        };
        let recorded = recorder.run(&request, Passing::ToStderr)?;
        let hashes = |names: &[String]| -> Option<BTreeMap<String, String>> {
            let file = |name: &String| {
                let file = file_ref::parse(name);
                Some((file.path, file.hash?))
            };
            names.iter().map(file).collect()
        };
        let before: Option<BTreeMap<String, String>> =
            old.writes.iter().map(|file| Some((file.path.clone(), file.hash.clone()?))).collect();
        let written = before.zip(hashes(&recorded.writes)).filter(|(old, new)| !old.is_empty() && !new.is_empty());
        let is_equal = (recorded.exit == 0) == (old.status == StepStatus::Complete)
            && written.map_or_else(|| old.result.as_deref() == Some(recorded.result.as_str()), |(old, new)| old == new);
        row.outcome = match recorded.exit {
            0 if is_equal => "equal",
            0 => "different",
            _ => "failed",
        };
        row.detail = match recorded.exit {
            0 => recorded.result.clone(),
            code => format!("exit {code}: {}", recorded.result),
        };
        if let Some(new) = &recorded.step {
            row.replayed_by = Some(format!("{}#{new}", recorded.session));
            new_steps.insert((self.step.path.clone(), id), new.clone());
        }
        Ok(())
    }

    /// Runs it and says what differs; nothing is written down.
    fn compare(&self, row: &mut ReplayRow) -> Result<()> {
        let old = &self.step.step;
        let call = self.command.call(Passing::Nothing, Some(Duration::from_secs(LIMIT)));
        let end = self.cx.ui.pass(&call).map_err(|source| Error::io("run", self.folder(), source))?;
        let Some(session) = self.plan.sessions.get(&self.step.path) else { return Ok(()) };
        let (stored, source) = stored_output(self.world, self.transcripts, &self.step.session_id, session, old);
        let dir = self.folder().to_string_lossy();
        let output = String::from_utf8_lossy(&end.output);
        let output = crate::session::mask::Masks::unnumbered().text(&output).into_owned();
        let (was, now) = if source == OutputSource::Note {
            let line = crate::session::fold::result_line(&output, end.code != 0);
            (comparable(&stored, "", ""), comparable(&line, &dir, &self.step.project))
        } else {
            (comparable(&stored, "", ""), comparable(&output, &dir, &self.step.project))
        };
        let mut differs = Vec::new();
        let code = old.exit.unwrap_or(i32::from(old.status == StepStatus::Failed));
        if end.timed_out {
            differs.push(format!("took longer than {LIMIT} s"));
        } else if code != i32::from(end.code) {
            differs.push(format!("exit {code} → {}", end.code));
        }
        if was != now {
            differs.push("output".to_owned());
            let diff = TextDiff::from_lines(&was, &now);
            row.diff = diff.unified_diff().context_radius(2).header("recorded", "now").to_string();
        }
        for written in &old.writes {
            let (Some(hash), Some(path)) = (&written.hash, inside(&self.step.project, &written.path)) else { continue };
            match file::hash(&self.folder().join(&path)) {
                None => differs.push(format!("{path} is not written")),
                Some(new) if !hash.starts_with(&new) && !new.starts_with(hash.as_str()) => {
                    differs.push(format!("{path} ({hash} → {new})"));
                }
                Some(_) => {}
            }
        }
        row.outcome = if differs.is_empty() { "equal" } else { "different" };
        row.detail = if differs.is_empty() { source.as_str().to_owned() } else { differs.join(", ") };
        Ok(())
    }
}

/// Whether the steps of a plan are all such as no command can redo, or by hand.
pub(super) fn has_command(plan: &ReplayPlan) -> bool {
    plan.steps.iter().any(|step| matches!(step.redo, Redo::Command(_)) && step.refusal().is_none())
}
