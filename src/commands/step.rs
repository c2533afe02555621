//! `cru show`: one step, as its note has it or with all that its transcript says.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::output::style::{self, checked, paint};
use super::output::{duration, minute};
use super::trace::refs::{NamedBlock, NamedThing, References};
use super::trace::run::record::output_path;
use super::{Context, Output, View, reading};
use crate::base::text::{one_line, plural, sanitise};
use crate::base::{Error, Result};
use crate::session::{Phase, Step, StepStatus};
use crate::sync::evidence::{Missing, Transcripts, Whole};
use crate::trace::reference::{self, StepReference};
use crate::vault::Vault;

/// How steps are shown.
#[derive(Debug, clap::Args)]
pub(super) struct StepOptions {
    /// Of a step all of its input and output, from the transcript
    #[arg(long)]
    full: bool,
    /// Show secrets as they are; else `[secret:github-token-1]` takes the place of each
    #[arg(long, requires = "full")]
    no_redact: bool,
}

impl StepOptions {
    /// One that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        self.full.then_some("--full")
    }
}

/// The steps that the words name; the last word is the session where it names no step, else the first one.
pub(super) fn run(words: &[String], args: &StepOptions, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let is_session = |word: &str| !reference::names_step(word) && catalog.session(word, &vault, cx.env).is_ok();
    let (session, steps) = match words {
        [first, steps @ ..]
            if !steps.is_empty() && steps.iter().all(|it| reference::names_step(it)) && is_session(first) =>
        {
            (Some(first.clone()), steps)
        }
        [steps @ .., last] if !steps.is_empty() && !reference::names_step(last) => (Some(last.clone()), steps),
        // Beside a step with its session, one without is of that session too.
        steps => (steps.iter().rev().find_map(|step| reference::session_of(step)), steps),
    };
    let references = References { vault: &vault, catalog: &catalog, cx, home: session.as_deref(), snapshot: None };
    let shown = Shown { references, args };
    let shown: Vec<Vec<ShownStep>> = steps.iter().map(|step| shown.named(step)).collect::<Result<_>>()?;
    let mut shown: Vec<ShownStep> = shown.into_iter().flatten().collect();
    match shown.pop() {
        None => Err(Error::usage("no step is named")),
        Some(only) if shown.is_empty() => Ok(Box::new(only)),
        Some(last) => {
            shown.push(last);
            Ok(Box::new(ShownSteps(shown)))
        }
    }
}

/// Steps one below the other.
struct ShownSteps(Vec<ShownStep>);

impl Output for ShownSteps {
    fn text(&self, view: &View) -> String {
        self.0.iter().map(|step| step.text(view)).collect::<Vec<_>>().join("\n")
    }

    fn json(&self) -> serde_json::Result<Value> {
        let steps = self.0.iter().map(Output::json).collect::<serde_json::Result<Vec<_>>>()?;
        Ok(json!({ "schema": 1, "steps": steps }))
    }
}

/// What is asked of the steps that are named.
struct Shown<'a, 'c> {
    references: References<'a, 'c>,
    args: &'a StepOptions,
}

impl Shown<'_, '_> {
    /// The steps that a word names.
    fn named(&self, word: &str) -> Result<Vec<ShownStep>> {
        let named = self.references.all(word);
        if let Err(error) = named {
            return self.left_out(word).map_or(Err(error), |step| Ok(vec![step]));
        }
        let shown = named?.into_iter().map(|thing| match thing {
            NamedThing::Block(block) if block.step().is_some() => self.noted(*block),
            NamedThing::Block(block) => Err(Error::usage(format!("{} is no step", block.key()))
                .with_hint(format!("`cru session show {}` shows all of it", block.session_id))),
            NamedThing::File(path) => Err(Error::usage(format!("`{}` is the file {path} and no step", sanitise(word)))),
        });
        shown.collect()
    }

    /// A step that the note has.
    fn noted(&self, block: NamedBlock) -> Result<ShownStep> {
        let References { vault, cx, .. } = self.references;
        let NamedBlock { session_id, session, place, .. } = block;
        let Some(found) = place.step_in(&session) else { return Err(Error::usage("no step is named")) };
        let phase = place.phase.and_then(|at| session.phases.get(at));
        let id = found.id.clone().unwrap_or_default();
        let transcript = session.meta.transcript.clone();
        let whole = if self.args.full {
            match Transcripts::of(vault, cx.env).step(&session, &id, self.args.no_redact)? {
                Ok(whole) => Some(whole),
                Err(missing) => match kept_output(vault, &session_id, found) {
                    Some(whole) => Some(whole),
                    None => return Err(gone(missing, transcript.as_deref(), &id, &session_id)),
                },
            }
        } else {
            None
        };
        Ok(ShownStep::of(session_id, phase, found.clone(), transcript, whole, cx))
    }

    /// A step that a brief note leaves out: it has its number all the same, and the transcript has the step.
    fn left_out(&self, word: &str) -> Option<ShownStep> {
        let Some(StepReference::Block { session: named, id }) = reference::one(word) else { return None };
        let References { vault, cx, .. } = self.references;
        let NamedBlock { session_id, session, .. } = self.references.session(named.as_deref()).ok()?;
        if !session.is_brief() {
            return None;
        }
        let id = id.parse::<u64>().map_or(id, |number| format!("n-{number:03}"));
        let whole = Transcripts::of(vault, cx.env).step(&session, &id, self.args.no_redact).ok()?.ok()?;
        let step = Step { id: Some(id), tool: whole.tool.clone(), args: whole.args.clone(), ..Step::default() };
        Some(ShownStep::of(session_id, None, step, session.meta.transcript, Some(whole), cx))
    }
}

/// What `cru run` kept of a step.
fn kept_output(vault: &Vault, session_id: &str, step: &Step) -> Option<Whole> {
    let path = output_path(vault, session_id, step.id.as_deref()?);
    let bytes = crate::base::files::read_regular(&path, 4 << 20).ok().flatten()?;
    let output = Some(String::from_utf8_lossy(&bytes).into_owned());
    Some(Whole { tool: step.tool.clone(), args: step.full_args().to_owned(), output, ..Whole::default() })
}

/// Why the transcript says nothing of it, and what to do.
fn gone(missing: Missing, transcript: Option<&str>, id: &str, session: &str) -> Error {
    let transcript = sanitise(transcript.unwrap_or_default()).into_owned();
    let note = format!("`cru show {id} {session}` shows what the note has");
    match missing {
        Missing::Unnamed => Error::no(format!("{session} names no transcript that can be read")).with_hint(note),
        Missing::Gone => Error::no(format!("the transcript is gone: {transcript}"))
            .with_hint(format!("{note}; `cru import --keep-evidence` keeps copies of those that are still there")),
        Missing::NotInIt => Error::no(format!("the transcript {transcript} has no such step"))
            .with_hint(format!("a step that was logged or written by hand has none; {note}")),
    }
}

fn short(path: &Path, cx: &Context<'_>) -> String {
    cx.env.at(path).folder()
}

/// A step.
struct ShownStep {
    session: String,
    /// Id and title.
    phase: (String, String),
    step: Step,
    transcript: Option<String>,
    whole: Option<Whole>,
    call: Option<(String, u64)>,
    answer: Option<(String, u64)>,
}

impl Output for ShownStep {
    fn text(&self, view: &View) -> String {
        let step = &self.step;
        let mut out = String::new();
        let look = match step.status {
            StepStatus::Complete => style::GOOD,
            StepStatus::Failed => style::BAD,
            _ => style::WARN,
        };
        let mut facts = vec![paint(look, step.status.name())];
        facts.extend(step.check.map(checked));
        facts.extend(step.exit.map(|exit| format!("exit {exit}")));
        facts.extend(step.duration_ms.filter(|ms| *ms >= 1_000).map(|ms| duration(ms / 1_000)));
        facts.extend(step.time.map(|time| minute(time, &view.zone)));
        let id = step.id.as_deref().unwrap_or_default();
        let head = format!("{}  {}", paint(style::ID, sanitise(id)), paint(style::TITLE, one_line(&step.tool)));
        let _ = writeln!(out, "{head}  {}", facts.join(paint(style::DIM, " · ").as_str()));
        let place = format!("{}  {} {}", one_line(&self.session), one_line(&self.phase.0), one_line(&self.phase.1));
        let _ = writeln!(out, "{}", paint(style::DIM, place.trim_end()));
        match &self.whole {
            Some(whole) => self.whole(whole, &mut out),
            None => self.of_note(&mut out),
        }
        out
    }

    fn json(&self) -> serde_json::Result<Value> {
        let place =
            |place: &Option<(String, u64)>| place.as_ref().map(|(path, line)| json!({ "path": path, "line": line }));
        let mut value = json!({
            "schema": 1,
            "session": self.session,
            "phase": self.phase.0,
            "step": serde_json::to_value(&self.step)?,
            "transcript": self.transcript,
        });
        if let Some(whole) = &self.whole {
            value["full"] = json!({
                "tool": whole.tool,
                "input": if whole.input.is_null() { json!(whole.args) } else { whole.input.clone() },
                "output": whole.output,
                "call": place(&self.call),
                "answer": place(&self.answer),
                "from_copy": whole.from_copy,
            });
        }
        Ok(value)
    }
}

impl ShownStep {
    fn of(
        session: String,
        phase: Option<&Phase>,
        step: Step,
        transcript: Option<String>,
        whole: Option<Whole>,
        cx: &Context<'_>,
    ) -> Self {
        let place =
            |place: &Option<(std::path::PathBuf, u64)>| place.as_ref().map(|(path, line)| (short(path, cx), *line));
        Self {
            session,
            phase: phase.map(|phase| (phase.id.clone(), phase.title.clone())).unwrap_or_default(),
            call: whole.as_ref().and_then(|whole| place(&whole.call)),
            answer: whole.as_ref().and_then(|whole| place(&whole.answer)),
            step,
            transcript,
            whole,
        }
    }

    /// What the note says.
    fn of_note(&self, out: &mut String) {
        let step = &self.step;
        section("Input", step.command.as_deref().unwrap_or(&step.args), out);
        section("Output", step.result.as_deref().unwrap_or_default(), out);
        for (title, of) in [("Reads", &step.reads), ("Writes", &step.writes)] {
            section(title, &of.iter().map(|file| file.path.as_str()).collect::<Vec<_>>().join("\n"), out);
        }
        if self.transcript.is_some() {
            let _ = writeln!(out, "\n{}", paint(style::DIM, "--full shows all of it, from the transcript"));
        }
    }

    /// What the transcript says.
    fn whole(&self, whole: &Whole, out: &mut String) {
        let mut input = String::new();
        match &whole.input {
            Value::Null => input.clone_from(&whole.args),
            Value::Object(map) => {
                let alone = map.len() == 1;
                for (name, value) in map {
                    argument(name, value, alone, &mut input);
                }
            }
            other => input = text_of(other),
        }
        section("Input", &input, out);
        match whole.output.as_deref() {
            None => section("Output", "none: the call was not answered", out),
            Some("") => section("Output", "empty", out),
            Some(output) => {
                let lines = output.lines().count() as u64;
                let title = if lines > 1 { format!("Output ({})", plural(lines, "line")) } else { "Output".to_owned() };
                section(&title, output, out);
            }
        }
        let Some((path, call)) = &self.call else { return };
        let answer = self.answer.as_ref().map(|(file, line)| {
            if file == path { format!(", answer #{line}") } else { format!(", answer {file}#{line}") }
        });
        let copy = if whole.from_copy { " (gone; this is the copy in evidence/)" } else { "" };
        let pointer = format!("{}#{call}{}{copy}", one_line(path), one_line(&answer.unwrap_or_default()));
        let _ = writeln!(out, "\n{}", paint(style::DIM, pointer));
    }
}

/// An argument under its name; one that takes several lines stands below it.
fn argument(name: &str, value: &Value, alone: bool, out: &mut String) {
    let text = text_of(value);
    let name = one_line(name);
    if alone && text.contains('\n') {
        out.push_str(&text);
    } else if text.contains('\n') {
        let _ = writeln!(out, "{name}:");
        for line in text.lines() {
            let _ = writeln!(out, "  {line}");
        }
    } else {
        let _ = writeln!(out, "{name}: {text}");
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        other => other.to_string(),
    }
}

/// A titled text, free of what a terminal would obey; nothing where there is none.
fn section(title: &str, text: &str, out: &mut String) {
    let text = sanitise(text);
    let text = text.trim_end();
    if !text.is_empty() {
        let _ = writeln!(out, "\n{}\n{text}", paint(style::TITLE, title));
    }
}
