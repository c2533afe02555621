//! `read`: a session as `cru session resume --print` has it, a step with `cru show --full`, a phase with `cru
//! session show --phase`, anything else as it stands in the note.

use super::{Answer, Arguments, Caller};
use crate::base::{Error, Result};
use crate::commands::Reach;
use crate::commands::ask::words;
use crate::commands::mcp::reference::Reference;
use crate::note::Note;

/// What is read of a ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::mcp) enum Part {
    Context,
    Phase,
    Step,
    Raw,
}

impl Part {
    fn parse(text: &str) -> Result<Self> {
        Ok(match text {
            "context" => Self::Context,
            "phase" => Self::Phase,
            "step" => Self::Step,
            "raw" => Self::Raw,
            _ => return Err(Error::usage("no such part").with_hint("context, phase, step or raw")),
        })
    }

    /// What a ref means where nobody says.
    fn of(reference: &Reference) -> Self {
        match reference.block.as_deref().map(|block| &block[..block.len().min(2)]) {
            None => Self::Context,
            Some("n-") => Self::Step,
            Some("p-") => Self::Phase,
            Some(_) => Self::Raw,
        }
    }
}

pub(super) fn call(arguments: &Arguments, caller: &Caller<'_>) -> Result<Answer> {
    let part = arguments.text("part")?.map(Part::parse).transpose()?;
    let mut refs = arguments.texts("refs")?;
    refs.extend(arguments.text("ref")?);
    let (budget, skipped) = (arguments.budget()?, arguments.cursor()?);
    match refs.as_slice() {
        [] => Err(Error::usage("`ref` is missing")),
        [one] => read_one(&Reference::parse(one)?, part, budget, skipped, caller),
        many if many.len() > 8 => Err(Error::usage("at most 8 refs at once")),
        many => {
            let share = budget / many.len() as u64;
            let mut text = String::new();
            for one in many {
                let read = Reference::parse(one).and_then(|it| read_one(&it, part, share, 0, caller));
                let read = read.map(|answer| answer.text.unwrap_or_default());
                let read = read.unwrap_or_else(|error| format!("error: {error}"));
                text.push_str(&format!("== {one}\n{}\n", within(&read, share)));
            }
            Ok(Answer { text: Some(text), skipped, ..Answer::default() })
        }
    }
}

/// The lines of a text that fit into a share of the budget.
fn within(text: &str, tokens: u64) -> String {
    let mut left = tokens.saturating_sub(20);
    let fits = |line: &&str| {
        let price = crate::live::resume::token::count(line);
        let fits = price <= left;
        left = left.saturating_sub(price);
        fits
    };
    let lines: Vec<&str> = text.lines().take_while(fits).collect();
    let more = if lines.len() < text.lines().count() { "\n…" } else { "" };
    format!("{}{more}", lines.join("\n"))
}

/// What a ref names.
pub(in crate::commands::mcp) fn read_one(
    reference: &Reference,
    part: Option<Part>,
    budget: u64,
    skipped: usize,
    caller: &Caller<'_>,
) -> Result<Answer> {
    let Reference { session, block } = reference;
    let named = |line: &[&str]| {
        let mut line = words(line);
        line.extend(["--".to_owned(), session.clone()]);
        line
    };
    let text = match (part.unwrap_or_else(|| Part::of(reference)), block.as_deref()) {
        (Part::Context, _) | (Part::Phase, None) => {
            // The frame and the lines that are shared with the next page.
            let pack = format!("--budget={}", if skipped > 0 { 8_000 } else { budget.saturating_sub(60).max(100) });
            caller.text(&named(&["session", "resume", "--print", &pack]), Reach::Shared)?
        }
        (Part::Raw, None) => raw(session, caller)?,
        (Part::Raw, Some(block)) => {
            let note = Note::parse(raw(session, caller)?);
            let found = note.block(block);
            let missing = || Error::no(format!("no block ^{block} in {session}"));
            found.map(|it| it.content.of(note.text()).to_owned()).ok_or_else(missing)?
        }
        (Part::Step, None) => return Err(Error::usage("this ref names no step").with_hint("session#^n-014")),
        (Part::Step, Some(block)) => step(session, block, caller)?,
        (Part::Phase, Some(block)) => {
            let phase = phase_of(session, block, caller)?;
            let option = format!("--phase={phase}");
            caller.text(&named(&["session", "show", &option]), Reach::Shared)?
        }
    };
    Ok(Answer { text: Some(text), skipped, ..Answer::default() })
}

/// A step with whole input and output; what its note says where the transcript is gone.
fn step(session: &str, block: &str, caller: &Caller<'_>) -> Result<String> {
    let line = |full: bool| {
        let mut line = words(&["step", "show"]);
        line.extend(full.then(|| "--full".to_owned()));
        line.extend(["--".to_owned(), block.to_owned(), session.to_owned()]);
        line
    };
    match caller.text(&line(true), Reach::Shared) {
        Ok(text) => Ok(text),
        Err(error) => caller.text(&line(false), Reach::Shared).map_err(|_| error),
    }
}

/// What of the note may leave it.
fn raw(session: &str, caller: &Caller<'_>) -> Result<String> {
    let mut line = words(&["session", "show", "--raw"]);
    line.extend(["--".to_owned(), session.to_owned()]);
    caller.text(&line, Reach::Shared)
}

/// The phase that a block stands in; itself where it is one.
fn phase_of(session: &str, block: &str, caller: &Caller<'_>) -> Result<String> {
    if block.starts_with("p-") {
        return Ok(block.to_owned());
    }
    let mut line = words(&["session", "show"]);
    line.extend(["--".to_owned(), session.to_owned()]);
    let shown = caller.value(&line, Reach::Shared)?;
    let phases = shown["session"]["phases"].as_array().cloned().unwrap_or_default();
    let holds = |phase: &&serde_json::Value| {
        let items = phase["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().any(|item| item.to_string().contains(&format!("\"id\":\"{block}\"")))
    };
    let found = phases.iter().find(holds).and_then(|phase| phase["id"].as_str());
    found.map(str::to_owned).ok_or_else(|| Error::no(format!("no block ^{block} in {session}")))
}
