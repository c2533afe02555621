//! Rules 2 to 5 and 7: whether a proof is true.

use super::token::Named;
use super::{Refusal, Rule};
use crate::answer::{AbsenceOf, CountOf, Proof, ProofStatus};
use crate::record::text::{alike, holds, is_long_enough, without_edges};
use crate::record::{Record, StepFact};
use cru_session::StepStatus;

/// Everything that is wrong with a proof.
pub(super) fn check(proof: &Proof, record: &Record) -> Vec<Refusal> {
    match proof {
        Proof::Line { step, line } => {
            let reason = match record.step(step) {
                None => return vec![no_block(step, "a step", record)],
                Some(step) => {
                    format!("the prompt numbers {} lines of {}, and none is {line}", step.lines.len(), step.id)
                }
            };
            vec![Refusal::of(Rule::Has, reason)]
        }
        Proof::Step { step, status, has } => check_step(step, *status, has, record),
        Proof::Said { said, quote } => {
            let Some(words) = record.words(said) else { return vec![no_block(said, "words of a person", record)] };
            let quote = unmarked(quote, &[&words.words]);
            if holds(&words.words, &quote) {
                return too_short(&quote, is_whole_line(&words.words, &quote));
            }
            let others = record.said.iter().find(|other| holds(&other.words, &quote)).map(|other| other.id.as_str());
            let agent = record.phases.iter().find(|phase| holds(&phase.prose, &quote)).map(|phase| phase.id.as_str());
            vec![Refusal::of(
                Rule::Quote,
                not_there(said, &quote, others, agent.map(|id| format!("the agent said it in {id}"))),
            )]
        }
        Proof::Prose { prose, quote } => {
            let Some(phase) = record.phase(prose) else { return vec![no_block(prose, "a phase", record)] };
            let quote = unmarked(quote, &[&phase.prose]);
            if holds(&phase.prose, &quote) {
                return too_short(&quote, is_whole_line(&phase.prose, &quote));
            }
            let others = record.phases.iter().find(|other| holds(&other.prose, &quote)).map(|other| other.id.as_str());
            let person = record.said.iter().find(|other| holds(&other.words, &quote));
            let person = person.map(|said| format!("a person said it in {}", said.id));
            vec![Refusal::of(Rule::Quote, not_there(prose, &quote, others, person))]
        }
        Proof::Count { count, is } => check_count(count, *is, record).err().into_iter().collect(),
        Proof::Absent { none } => check_absence(none, record).err().into_iter().collect(),
    }
}

fn no_block(id: &str, what: &str, record: &Record) -> Refusal {
    let hint = if record.has_block(id) { format!("{id} is not {what}") } else { format!("the session has no {id}") };
    Refusal::of(Rule::Id, hint)
}

/// A quote that is there must be long enough, or all that was said there.
fn too_short(quote: &str, is_whole: bool) -> Vec<Refusal> {
    if is_whole || is_long_enough(quote) || Named::is_one_name(quote) {
        return Vec::new();
    }
    let reason =
        format!("“{quote}” is too short: cite 8 characters or more, the whole message, or a name, path or hash");
    vec![Refusal::of(Rule::Quote, reason)]
}

/// Whether a text is a whole message, looks at marks around it aside. Messages stand on a line each.
fn is_whole_line(messages: &str, quote: &str) -> bool {
    let quote = without_edges(quote);
    !quote.is_empty() && messages.lines().any(|line| without_edges(line) == quote)
}

fn not_there(id: &str, quote: &str, elsewhere: Option<&str>, other_speaker: Option<String>) -> String {
    if quote.is_empty() {
        return format!("{id} alone proves nothing: copy the words behind a colon");
    }
    let where_else =
        elsewhere.map(|id| format!("; it stands in {id}")).or(other_speaker.map(|text| format!("; {text}")));
    format!("{id} does not hold these words verbatim{}", where_else.unwrap_or_default())
}

fn check_step(id: &str, status: Option<ProofStatus>, has: &str, record: &Record) -> Vec<Refusal> {
    let Some(step) = record.step(id) else { return vec![no_block(id, "a step", record)] };
    let mut all: Vec<Refusal> = status.and_then(|said| status_holds(step, said).err()).into_iter().collect();
    if has.trim().is_empty() {
        all.push(Refusal::of(
            Rule::Has,
            format!("{id} alone proves nothing: copy a text of its call or result behind a colon"),
        ));
        return all;
    }
    let is_name = Named::is_one_name(has);
    let has = unmarked(has, &[&step.call, &step.result]);
    // What a person answered is cited by the step that asked.
    if record.words(id).is_some_and(|said| holds(&said.words, &has)) {
        return all;
    }
    if holds(&step.call, &has) || holds(&step.result, &has) {
        let is_shown_line = step.lines.iter().any(|line| alike(line.trim_end_matches('…')) == has);
        if !(is_name || is_shown_line || is_long_enough(&has) || step.has_line(&has) || alike(&step.args) == has) {
            let reason = format!(
                "“{has}” is too short: cite 8 characters or more, the whole call, a whole line of the result, or a name, path or hash"
            );
            all.push(Refusal::of(Rule::Has, reason));
        }
        return all;
    }
    let other = near(record, id).find(|step| holds(&step.call, &has) || holds(&step.result, &has));
    let hint = other.map(|step| format!("; it stands in {}", step.id)).unwrap_or_default();
    let cut = if has.contains("...") { "; leave out the mark of a cut (…)" } else { "" };
    let nearest = if hint.is_empty() { nearest(&has, &[&step.call, &step.result]) } else { None };
    let nearest = nearest.map(|text| format!("; it holds `{text}`")).unwrap_or_default();
    let reason = format!("neither the call nor the result of {id} holds this text{hint}{nearest}{cut}");
    all.push(Refusal::of(Rule::Has, reason));
    all
}

/// A quote made alike; without the marks that the prompt puts before lines where it does not stand there with them.
fn unmarked(quote: &str, texts: &[&str]) -> String {
    let whole = alike(quote);
    if texts.iter().any(|text| holds(text, &whole)) {
        return whole;
    }
    let bare = |line: &str| {
        let line = line.trim_start();
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let line = line.strip_prefix(['|', '>', '+', '-']).unwrap_or(line);
        line.strip_prefix("→ ").unwrap_or(line).to_owned()
    };
    let lines: Vec<String> = quote.lines().map(bare).collect();
    let bare = alike(&lines.join("\n"));
    if texts.iter().any(|text| holds(text, &bare)) { bare } else { whole }
}

/// The longest stretch of words of `quote`, from its beginning or up to its end, that one of the texts holds.
fn nearest(quote: &str, texts: &[&str]) -> Option<String> {
    const SEEN: usize = 60;
    let words: Vec<&str> = quote.split(' ').take(SEEN).collect();
    let held = |part: &[&str]| {
        let part = part.join(" ");
        (is_long_enough(&part) && texts.iter().any(|text| holds(text, &part))).then_some(part)
    };
    let from_start = (1..words.len()).rev().find_map(|end| held(&words[..end]));
    let to_end = (1..words.len()).find_map(|start| held(&words[start..]));
    let found = [from_start, to_end].into_iter().flatten().max_by_key(String::len)?;
    Some(cru_base::text::truncate(&found, 120).into_owned())
}

/// Steps around one, for a hint.
fn near<'r>(record: &'r Record, id: &str) -> impl Iterator<Item = &'r StepFact> {
    let at = record.step_index(id).unwrap_or_default();
    record.steps.iter().skip(at.saturating_sub(5)).take(11)
}

/// Whether a step ended as it is said.
pub(super) fn status_holds(step: &StepFact, said: ProofStatus) -> Result<(), Refusal> {
    let holds = match step.proof_status() {
        // What was stopped or has no result ended in a way that the record does not say.
        Some(ProofStatus::Interrupted | ProofStatus::NoResult) if said == ProofStatus::Unknown => true,
        Some(real) => real == said,
        None => matches!(said, ProofStatus::Ok | ProofStatus::Unknown),
    };
    if holds {
        return Ok(());
    }
    let either = if step.proof_status().is_none() { "ok or unknown: " } else { "" };
    Err(Refusal::of(Rule::Status, format!("{} ended {either}[{}], not {}", step.id, step.ended(), said.as_str())))
}

/// The steps of a range, both ends included.
pub(super) fn range<'r>(record: &'r Record, from: Option<&str>, to: Option<&str>) -> Result<&'r [StepFact], Refusal> {
    let place = |id: &str| record.step_index(id).ok_or_else(|| no_block(id, "a step", record));
    let start = from.map_or(Ok(0), place)?;
    let end = to.map_or(Ok(record.steps.len()), |id| place(id).map(|at| at + 1))?;
    match record.steps.get(start..end) {
        Some(steps) if !(steps.is_empty() && from.is_some()) => Ok(steps),
        _ => Err(Refusal::of(
            Rule::Order,
            format!("{} comes after {}", from.unwrap_or("the first step"), to.unwrap_or("the last step")),
        )),
    }
}

fn check_count(count: &CountOf, is: u64, record: &Record) -> Result<(), Refusal> {
    let steps = range(record, count.from.as_deref(), count.to.as_deref())?;
    let text = count.text.as_deref().map(alike);
    let counts = |step: &&StepFact| {
        step.status != StepStatus::Denied
            && count.tool.as_ref().is_none_or(|tool| step.tool.eq_ignore_ascii_case(tool))
            && count.file.as_ref().is_none_or(|file| step.names_file(file))
            && text.as_ref().is_none_or(|text| step.shown.contains(text.as_str()))
    };
    let real = steps.iter().filter(counts).count() as u64;
    // That nothing was done with a file says nothing where nobody has heard of it, nor of a tool that was never called.
    if is == 0 && real == 0 {
        let has_file = |file: &String| record.steps.iter().any(|step| step.names_file(file));
        if let Some(file) = count.file.as_ref().filter(|file| !has_file(file)) {
            return Err(Refusal::of(Rule::Count, format!("no step names the file {file}; use `none` with a text")));
        }
        let is_called = |tool: &String| record.steps.iter().any(|step| step.tool.eq_ignore_ascii_case(tool));
        if let Some(tool) = count.tool.as_ref().filter(|tool| count.file.is_some() && !is_called(tool)) {
            return Err(Refusal::of(Rule::Count, format!("no step is a call of {tool}")));
        }
    }
    if real == is {
        return Ok(());
    }
    Err(Refusal::of(Rule::Count, format!("there are {real}, not {is}")))
}

/// Whether a proof cites what the agent said, or what a call of it says.
pub(super) fn is_of_agent(proof: &Proof, record: &Record) -> bool {
    match proof {
        Proof::Prose { .. } => true,
        Proof::Step { step, has, .. } => record
            .step(step)
            .is_some_and(|step| step.status != StepStatus::Denied && holds(&step.call, &unmarked(has, &[&step.call]))),
        _ => false,
    }
}

fn check_absence(none: &AbsenceOf, record: &Record) -> Result<(), Refusal> {
    let steps = range(record, none.from.as_deref(), none.to.as_deref())?;
    let text = alike(&none.text).to_lowercase();
    if text.chars().count() < 3 {
        return Err(Refusal::of(Rule::Count, "the text is too short: use 3 characters or more".to_owned()));
    }
    if record.is_brief {
        return Err(Refusal::of(
            Rule::Count,
            "the note is brief: steps that only looked are left out of it".to_owned(),
        ));
    }
    match steps.iter().find(|step| step.shown.to_lowercase().contains(&text)) {
        Some(step) => Err(Refusal::of(Rule::Count, format!("{} is one: {} {}", step.id, step.tool, step.args))),
        None => Ok(()),
    }
}
