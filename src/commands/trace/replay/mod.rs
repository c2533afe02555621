//! `cru replay`: what steps said, and what they say when they run again.

mod brief;
mod execute;
mod plan;
mod scratch;
mod stored;

use std::fmt::Write as _;

use serde::Serialize;

use super::TraceWorld;
use super::agree::Consenting;
use crate::base::text::{one_line, plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, Raw, View};
use crate::sync::evidence::Transcripts;
use crate::trace::consent::Consent;
use execute::{ReplayMode, ReplayRow};
use plan::{Redo, ReplayPlan};

/// Show, compare or run steps again
///
/// REF is a step (`^`, `n-014`, `SESSION#n-014`, `@NAME`) or a range `n-003..n-007`. Without a mode, steps are shown as
/// they were recorded. A note may come from anyone: every command is shown whole and asked for on a terminal; without
/// one, only plain commands run that `[run] allow` of your own configuration names, in the project that you stand in or that
/// `[projects]` there names. Commands that use the network, change git, destroy something or are not understood are never run. `--stale` is the plan for what `cru stale` lists: the commands in the
/// order of their dependencies, then a brief for what only an agent can redo.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 success, 1 something differs, failed or was not run, 2 usage error, 3 I/O error."
)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Args {
    /// Which steps
    #[arg(required_unless_present = "stale", conflicts_with = "stale", value_name = "REF|RANGE")]
    references: Vec<String>,
    /// What `cru stale` lists, with what it rests on
    #[arg(long)]
    stale: bool,
    /// Show what was recorded; with `--stale` the plan
    #[arg(long, group = "mode")]
    show: bool,
    /// Run in a copy of the project and show what differs; writes nothing
    #[arg(long, group = "mode")]
    compare: bool,
    /// Run and append a step for each that names the one it replays
    #[arg(long, group = "mode")]
    run: bool,
    /// Where: a copy of the project (the default of `--compare`) or the project (the default of `--run`)
    #[arg(long = "in", value_name = "WHERE", value_enum)]
    place: Option<ReplayPlace>,
    /// Run also what depends on a step that failed
    #[arg(long)]
    skip_failed: bool,
    /// Print the brief for an agent: `cru replay --stale --brief | claude -p`
    #[arg(long, group = "mode")]
    brief: bool,
    /// Part of the project's path; `.` is the current folder
    #[arg(long, value_name = "PATH")]
    project: Option<String>,
}

/// Where steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ReplayPlace {
    /// A copy of the project, with what is not committed
    Scratch,
    /// The project itself
    Tree,
}

pub(in crate::commands) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let stale = args.stale;
    let world = TraceWorld::read(cx)?;
    let consenting = Consenting::of(&world.vault, cx)?;
    let references = world.references(None, cx);
    let plan = if stale {
        plan::stale(args.project.as_deref(), &world, &consenting, cx)?
    } else {
        plan::named(&args.references, &references, &world, &consenting)?
    };
    if args.brief {
        let text = brief::brief(&plan, &world, cx);
        if text.is_empty() {
            cx.ui.note("nothing needs an agent");
        }
        return Ok(Box::new(Raw { name: "brief", text }));
    }
    if plan.steps.is_empty() {
        cx.ui.note("nothing is stale");
        return Ok(Box::new(ReplayReport::default()));
    }
    if !args.compare && !args.run {
        if stale {
            return Ok(Box::new(PlanReport::of(&plan, brief::brief(&plan, &world, cx))));
        }
        return Ok(Box::new(shown(&plan, &world, cx)));
    }
    if !stale && !execute::has_command(&plan) && plan.steps.len() == 1 {
        let step = &plan.steps[0];
        let why = step.refusal().unwrap_or_default();
        return Err(Error::no(format!("{} was not run: {why}", step.key()))
            .with_hint(format!("its command: {}", sanitise(step.step.full_args()))));
    }
    let default = if args.compare { ReplayPlace::Scratch } else { ReplayPlace::Tree };
    let mode = ReplayMode {
        is_recorded: args.run,
        in_scratch: args.place.unwrap_or(default) == ReplayPlace::Scratch,
        skips_failed: args.skip_failed,
        stops_at_equal: stale && args.run,
    };
    let rows = execute::execute(&plan, mode, &world, &consenting, cx)?;
    let go_on = go_on(&plan, &rows);
    let brief = if stale { brief::brief(&plan, &world, cx) } else { String::new() };
    Ok(Box::new(ReplayReport { schema: 1, is_run: args.run, steps: rows, go_on, brief }))
}

/// The ranges to go on with once what failed is put right.
fn go_on(plan: &ReplayPlan, rows: &[ReplayRow]) -> Vec<String> {
    let mut ranges = Vec::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.outcome == "failed") {
        let first = &plan.steps[at];
        let mut branch = vec![at];
        for (later, step) in plan.steps.iter().enumerate().skip(at + 1) {
            if step.path == first.path && rows[later].outcome == "waits" && step.on.iter().any(|on| branch.contains(on))
            {
                branch.push(later);
            }
        }
        let last = branch.iter().map(|at| &plan.steps[*at]).max_by_key(|step| step.place);
        let id = |step: &plan::PlannedStep| step.step.id.clone().unwrap_or_default();
        ranges.push(match last.filter(|last| last.place > first.place) {
            Some(last) => format!("{}..{}", row.reference, id(last)),
            None => row.reference.clone(),
        });
    }
    ranges
}

fn shown(plan: &ReplayPlan, world: &TraceWorld, cx: &Context<'_>) -> ShownReport {
    let transcripts = Transcripts::of(&world.vault, cx.env);
    let steps = plan.steps.iter().filter_map(|it| {
        let session = plan.sessions.get(&it.path)?;
        let (output, source) = stored::stored_output(world, &transcripts, &it.session_id, session, &it.step);
        Some(StoredStep {
            reference: it.key(),
            tool: it.step.tool.clone(),
            args: it.step.full_args().to_owned(),
            status: it.step.status.name(),
            exit: it.step.exit,
            source: source.as_str(),
            output,
        })
    });
    ShownReport { schema: 1, steps: steps.collect() }
}

/// A step as it was recorded.
#[derive(Debug, Serialize)]
struct StoredStep {
    reference: String,
    tool: String,
    args: String,
    status: &'static str,
    exit: Option<i32>,
    /// Where the output is from.
    source: &'static str,
    output: String,
}

#[derive(Debug, Serialize)]
struct ShownReport {
    schema: u32,
    steps: Vec<StoredStep>,
}

impl PlainOutput for ShownReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for (at, step) in self.steps.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let exit = step.exit.map(|exit| format!(", exit {exit}")).unwrap_or_default();
            let _ = writeln!(
                out,
                "{}  {} {}  {}",
                paint(style::ID, one_line(&step.reference)),
                one_line(&step.tool),
                sanitise(&step.args),
                paint(style::DIM, format_args!("{}{exit}; {}", step.status, step.source))
            );
            let output = sanitise(&step.output);
            if !output.trim().is_empty() {
                let _ = writeln!(out, "{}", output.trim_end());
            }
        }
        out
    }
}

/// A step of a plan that is only shown.
#[derive(Debug, Serialize)]
struct PlanRow {
    reference: String,
    command: String,
    /// Why it is stale by itself; empty where it rests on another.
    reasons: Vec<String>,
    /// Steps of the plan that it depends on.
    after: Vec<String>,
    /// `ask`, `allowed`, `by hand`, `agent`.
    consent: &'static str,
    /// Why it is by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_hand: Option<String>,
}

/// The plan for what is stale.
#[derive(Debug, Serialize)]
struct PlanReport {
    schema: u32,
    steps: Vec<PlanRow>,
    brief: String,
}

impl PlanReport {
    fn of(plan: &ReplayPlan, brief: String) -> Self {
        let row = |step: &plan::PlannedStep| {
            let (consent, by_hand) = match &step.redo {
                Redo::Agent => ("agent", None),
                Redo::Command(Consent::Ask(_)) => ("ask", None),
                Redo::Command(Consent::Allowed(_)) => ("allowed", None),
                Redo::Command(Consent::ByHand(why)) => ("by hand", Some(why.clone())),
            };
            PlanRow {
                reference: step.key(),
                command: step.step.full_args().to_owned(),
                reasons: step.reasons.clone(),
                after: step.on.iter().filter_map(|on| plan.steps.get(*on)).map(plan::PlannedStep::key).collect(),
                consent,
                by_hand,
            }
        };
        Self { schema: 1, steps: plan.steps.iter().map(row).collect(), brief }
    }
}

impl PlainOutput for PlanReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for row in &self.steps {
            let name = paint(style::ID, one_line(&row.reference));
            let _ = writeln!(out, "{name}  {}", sanitise(&row.command));
            for reason in &row.reasons {
                let _ = writeln!(out, "  {}", paint(style::DIM, one_line(reason)));
            }
            if row.reasons.is_empty() && !row.after.is_empty() {
                let _ = writeln!(out, "  {}", paint(style::DIM, format_args!("depends on {}", row.after.join(", "))));
            }
            let how = match (row.consent, &row.by_hand) {
                ("agent", _) => "only an agent can redo it; see the brief".to_owned(),
                (_, Some(why)) => format!("by hand: {why}"),
                ("allowed", None) => "runs again: your configuration allows it".to_owned(),
                _ => "runs again once you agree".to_owned(),
            };
            let _ = writeln!(out, "  {}", paint(style::DIM, one_line(&how)));
        }
        if self.steps.iter().any(|row| matches!(row.consent, "ask" | "allowed")) {
            let _ = writeln!(out, "\n{}", paint(style::DIM, "`cru replay --stale --run` runs these"));
        }
        if !self.brief.is_empty() {
            let _ = write!(out, "\n{}", sanitise(&self.brief));
        }
        out
    }

    fn is_no(&self) -> bool {
        !self.steps.is_empty()
    }
}

/// What was run again.
#[derive(Debug, Default, Serialize)]
struct ReplayReport {
    schema: u32,
    #[serde(skip)]
    is_run: bool,
    steps: Vec<ReplayRow>,
    /// References to go on with after a failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    go_on: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    brief: String,
}

impl PlainOutput for ReplayReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for row in &self.steps {
            let look = match row.outcome {
                "equal" | "unchanged" => style::GOOD,
                "failed" | "not run" => style::BAD,
                _ => style::WARN,
            };
            let new = row.replayed_by.as_ref().map(|new| format!(" → {}", one_line(new))).unwrap_or_default();
            let name = paint(style::ID, one_line(&row.reference));
            let _ = writeln!(out, "{name}{new}  {}  {}", paint(look, row.outcome), one_line(&row.detail));
            if matches!(row.outcome, "not run") {
                let _ = writeln!(out, "  {}", paint(style::DIM, one_line(&row.command)));
            }
            for line in sanitise(&row.diff).lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
        for range in &self.go_on {
            let _ = writeln!(out, "go on with: cru replay {} --run", one_line(range));
        }
        if self.is_run && !self.steps.is_empty() {
            let run = self.steps.iter().filter(|row| row.replayed_by.is_some()).count() as u64;
            let _ = writeln!(out, "{} appended", plural(run, "step"));
        }
        if !self.brief.is_empty() {
            let _ = write!(out, "\n{}", sanitise(&self.brief));
        }
        out
    }

    /// Running again is done where everything ran; comparing holds where everything is equal.
    fn code(&self) -> u8 {
        let is_good = |row: &ReplayRow| match row.outcome {
            "equal" | "unchanged" => true,
            "different" => self.is_run,
            _ => false,
        };
        u8::from(!self.steps.iter().all(is_good))
    }
}
