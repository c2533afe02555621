//! `cru step show`: one step, as its note has it or with all that its transcript says.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::output::style::{self, checked, paint};
use super::output::{duration, minute};
use super::session::current_or_newest;
use super::trace::run::record::output_path;
use super::{Context, Output, View, reading};
use crate::base::text::{one_line, plural, sanitise};
use crate::base::{Error, Result};
use crate::graph::place::is_same_id;
use crate::session::{Phase, Step, StepStatus};
use crate::sync::evidence::{Missing, Transcripts, Whole};
use crate::vault::{Catalog, Vault};

/// Commands on steps.
#[derive(Debug, clap::Subcommand)]
pub enum StepCommand {
    Show(Args),
}

/// Show steps
///
/// STEP is an id (`n-014`) or a number. The last word is the session where it names no step; without one: the current
/// session, else the newest. `SESSION#n-014` names both.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which steps, and behind them of which session
    #[arg(required = true, value_name = "STEP")]
    steps: Vec<String>,
    /// All of its input and output, from the transcript
    #[arg(long)]
    full: bool,
    /// Show secrets as they are; else `[secret:github-token-1]` takes the place of each
    #[arg(long, requires = "full")]
    no_redact: bool,
}

impl StepCommand {
    pub(super) fn run(self, cx: &Context<'_>) -> Result<Box<dyn Output>> {
        match self {
            Self::Show(args) => show(&args, cx),
        }
    }
}

fn show(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (session, steps) = match args.steps.as_slice() {
        [steps @ .., last] if !steps.is_empty() && !names_step(last) => (Some(last.as_str()), steps),
        steps => (None, steps),
    };
    let mut shown = steps.iter().map(|step| show_one(step, session, args, cx));
    match steps.len() {
        1 => shown.next().unwrap_or_else(|| Err(Error::usage("no step is named"))),
        _ => Ok(Box::new(ShownSteps(shown.collect::<Result<_>>()?))),
    }
}

/// Whether a word has the form of a step: an id, a number, or either behind a session.
fn names_step(word: &str) -> bool {
    let step = word.rsplit_once('#').map_or(word, |(_, step)| step).trim_start_matches('^').trim_end_matches("]]");
    let number = step.strip_prefix("n-").or_else(|| step.strip_prefix("n_")).unwrap_or(step);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Steps one below the other.
struct ShownSteps(Vec<Box<dyn Output>>);

impl Output for ShownSteps {
    fn text(&self, view: &View) -> String {
        self.0.iter().map(|step| step.text(view)).collect::<Vec<_>>().join("\n")
    }

    fn json(&self) -> serde_json::Result<Value> {
        let steps = self.0.iter().map(|step| step.json()).collect::<serde_json::Result<Vec<_>>>()?;
        Ok(json!({ "schema": 1, "steps": steps }))
    }

    fn paged(&self) -> bool {
        true
    }
}

fn show_one(word: &str, session: Option<&str>, args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (named, step) = match word.rsplit_once('#') {
        Some((session, step)) => (Some(session), step),
        None => (session, word),
    };
    let vault = reading::vault(cx)?;
    let catalog = Catalog::read(&vault);
    let head = match named {
        Some(name) => catalog.session(name, &vault, cx.env)?,
        None => current_or_newest(&catalog, &vault, cx)?,
    };
    cx.global.reach.check(&head.meta)?;
    let session = vault.load(&head.path)?.session;
    let wanted = step.trim_end_matches("]]").trim_start_matches('^');
    if wanted.is_empty() {
        return Err(Error::usage(format!("invalid step `{}`: it has no id", sanitise(word)))
            .with_hint("use n-014, 14 or SESSION#n-014; `cru session show` lists the steps"));
    }
    let number = wanted.parse::<u64>().ok();
    let is_it = |step: &Step| {
        let id = step.id.as_deref().unwrap_or_default();
        is_same_id(id, wanted)
            || number.is_some_and(|number| id.strip_prefix("n-").and_then(|it| it.parse().ok()) == Some(number))
    };
    let transcripts = Transcripts::of(&vault, cx.env);
    let Some((phase, found)) = session.steps().find(|(_, step)| is_it(step)) else {
        // What a brief note leaves out has its number all the same.
        let id = number.map_or_else(|| wanted.to_owned(), |number| format!("n-{number:03}"));
        if session.is_brief()
            && let Ok(Ok(whole)) = transcripts.step(&session, &id, args.no_redact)
        {
            let step = Step { id: Some(id), tool: whole.tool.clone(), args: whole.args.clone(), ..Step::default() };
            return Ok(Box::new(ShownStep::of(head.id(), None, step, session.meta.transcript, Some(whole), cx)));
        }
        let ids: Vec<&str> = session.steps().filter_map(|(_, step)| step.id.as_deref()).collect();
        let hint = match (ids.first(), ids.last()) {
            (Some(first), Some(last)) => {
                format!("it has {first} … {last}; `cru session show {}` lists them", head.id())
            }
            _ => "it has no steps".to_owned(),
        };
        let wanted = sanitise(wanted).into_owned();
        return Err(Error::no(format!("no step {wanted} in {}", head.id())).with_hint(hint));
    };
    let id = found.id.clone().unwrap_or_default();
    let transcript = session.meta.transcript.clone();
    let whole = if args.full {
        match transcripts.step(&session, &id, args.no_redact)? {
            Ok(whole) => Some(whole),
            Err(missing) => match kept_output(&vault, &head.id(), found) {
                Some(whole) => Some(whole),
                None => return Err(gone(missing, transcript.as_deref(), &id, &head.id())),
            },
        }
    } else {
        None
    };
    Ok(Box::new(ShownStep::of(head.id(), phase, found.clone(), transcript, whole, cx)))
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
    let note = format!("`cru step show {id} {session}` shows what the note has");
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
    fn text(&self, _: &View) -> String {
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
        facts.extend(step.time.map(minute));
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

    fn paged(&self) -> bool {
        true
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
