//! Reading with an agent: one session after the other, each written when it is read.

use std::fmt::Write as _;

use serde::Serialize;

use super::answer::{NO_REFUSALS, join, judge, listed, only, told};
use super::one::{grown_from, head, key};
use super::prompt::Prompts;
use super::shelf::Shelf;
use super::source::Source;
use super::{Args, text, write};
use crate::base::Result;
use crate::base::text::{one_line, plural, sanitise, thousands, truncate};
use crate::commands::agent::{agent, ask};
use crate::commands::output::style::{self, paint};
use crate::commands::session::current_or_newest;
use crate::commands::session::filter::SessionFilter;
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::live::resume::token;
use crate::readings::answer::{AnswerError, patched};
use crate::readings::note::ReadingNote;
use crate::readings::{Checked, judge as second};
use crate::session::{Session, Status};
use crate::vault::config::{AgentConfig, UserConfig};
use crate::vault::template::{Kind, Template};
use crate::vault::{Catalog, Head, Vault};
use crate::workflow::recipe::fenced;

/// Estimated tokens of one session that are sent where nobody named it.
const SESSION: u64 = 40_000;
/// Estimated tokens of an answer.
const ANSWER: u64 = 1_200;
/// Estimated tokens of a day that are sent without being asked for.
const DAILY: u64 = 200_000;
/// What works where no agent is named.
const WITHOUT: &str = ". Without one: `cru read --prompt SESSION`, then `cru read --from FILE SESSION`";
/// Calls of the agent that may fail in a row.
const FAILURES: usize = 3;

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let agent = if args.dry_run { UserConfig::read(cx.env)?.0.agent } else { agent(cx, WITHOUT)? };
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let bulk = args.sessions.is_empty() && (args.all || args.pending || args.filter != SessionFilter::default());
    let heads = heads(args, bulk, &catalog, &vault, cx)?;
    let mut report = BatchReport { schema: 1, dry_run: args.dry_run, ..BatchReport::default() };
    let reader = label(&agent.command, agent.model.as_deref());
    let (mut spent, mut failures) = (0, 0);
    let mut shelf = Shelf::read(&catalog, &vault);
    // What was sent today counts, whoever sent it.
    let budget = if args.daily { args.budget.min(daily_left(&agent, &shelf, cx)) } else { args.budget };
    if bulk && !args.dry_run {
        cx.ui.note(&format!(
            "{}, newest first; at most {} tokens in, about {} out for each; `--dry-run` estimates them",
            plural(heads.len() as u64, "session"),
            thousands(budget),
            thousands(ANSWER)
        ));
    }
    let progress = cx.ui.progress("Reading sessions", heads.len() as u64);
    for session in heads {
        progress.say(&session.id());
        let row =
            match one(session, bulk, (&mut spent, budget), &agent, &reader, args, &catalog, &mut shelf, &vault, cx) {
                Ok(row) => row,
                Err(error) => ReadRow::of(session, "failed", error.to_string()),
            };
        failures = if row.fate == "failed" { failures + 1 } else { 0 };
        report.sessions.push(row);
        progress.advance(1);
        if failures == FAILURES {
            cx.ui.warn("the agent failed three times in a row; the other sessions are left");
            break;
        }
    }
    report.sent = spent;
    Ok(Box::new(report))
}

/// Tokens that `[agent] daily_tokens` leaves for the rest of the day, by the readings that were made today.
fn daily_left(agent: &AgentConfig, shelf: &Shelf, cx: &Context<'_>) -> u64 {
    let most = agent.daily_tokens.unwrap_or(DAILY);
    let today = cx.env.now().strftime("%F").to_string();
    let is_of_today = |it: &&ReadingNote| it.head.read.as_deref().is_some_and(|time| time.starts_with(&today));
    let sent: u64 =
        shelf.readings.iter().filter(is_of_today).filter_map(|it| it.head.tokens).fold(0, u64::saturating_add);
    most.saturating_sub(sent)
}

/// The sessions that are meant, the newest first.
fn heads<'c>(args: &Args, bulk: bool, catalog: &'c Catalog, vault: &Vault, cx: &Context<'_>) -> Result<Vec<&'c Head>> {
    if !bulk {
        return if args.sessions.is_empty() {
            Ok(vec![current_or_newest(catalog, vault, cx)?])
        } else {
            args.sessions.iter().map(|name| catalog.session(name, vault, cx.env)).collect()
        };
    }
    let asked = reading::asked(&args.filter, cx)?;
    let rows = asked.snapshot.sessions().iter().filter(|row| asked.chosen.matches_row(row));
    let paths: std::collections::HashSet<&str> = rows.map(|row| row.path.as_str()).collect();
    let meant = |head: &&Head| paths.contains(head.path.text().as_ref()) && !catalog.is_subagent(head);
    let mut heads: Vec<&Head> = catalog.sessions().filter(meant).collect();
    heads.sort_by_key(|head| std::cmp::Reverse(head.meta.started));
    Ok(heads)
}

/// What `reader` says of an agent.
fn label(command: &[String], model: Option<&str>) -> String {
    let words = model.map_or_else(|| command.join(" "), str::to_owned);
    truncate(&one_line(&words), 60).into_owned()
}

/// Why a session is not worth reading unless somebody names it.
fn not_worth(session: &Session) -> Option<&'static str> {
    if session.meta.export == Some(false) || session.meta.has_tag("no-train") {
        return Some("it is not to be exported");
    }
    let prompts: Vec<&str> = session.items().filter_map(|(_, item)| Some(item.as_user()?.words.trim())).collect();
    if prompts.len() > 1 && prompts.iter().all(|words| *words == prompts[0]) {
        return Some("one prompt again and again");
    }
    prompts.is_empty().then_some("nobody asked for anything")
}

#[expect(clippy::too_many_arguments, reason = "one session of a run, with all that the run knows")]
fn one(
    session: &Head,
    bulk: bool,
    (spent, budget): (&mut u64, u64),
    agent: &AgentConfig,
    reader: &str,
    args: &Args,
    catalog: &Catalog,
    shelf: &mut Shelf,
    vault: &Vault,
    cx: &Context<'_>,
) -> Result<ReadRow> {
    let source = Source::of(session, catalog, vault, cx)?;
    if bulk && source.session.meta.status == Some(Status::Active) {
        return Ok(ReadRow::of(session, "skipped", "it is being worked on".to_owned()));
    }
    if bulk && let Some(why) = not_worth(&source.session) {
        return Ok(ReadRow::of(session, "skipped", why.to_owned()));
    }
    let deep = args.is_deep();
    // A brief says nothing of what a deep reading is asked for.
    let of_kind = |it: &&ReadingNote| it.answer.as_ref().is_none_or(|answer| answer.is_brief != deep);
    let newest = shelf.of(&source.name).into_iter().rfind(of_kind);
    let whole = Prompts::of(&source, 0, &args.only, deep, vault)?;
    let template = whole.template();
    // Who has a better prompt or model says so with `--again`: else all that was read would be asked about once more.
    let is_read = |old: &&ReadingNote| {
        let head = &old.head;
        head.key == key(&source, &head.prompt, &head.reader, &args.only)
            || (args.pending && head.note == source.record.note)
    };
    if let Some(old) = newest.filter(is_read).filter(|_| !args.again) {
        let is_other = old.head.prompt != template || old.head.reader != reader;
        let told = if is_other { "by another prompt or reader; `--again` reads it once more" } else { "" };
        return Ok(ReadRow::of(session, "up to date", told.to_owned()));
    }
    let old = newest.filter(|_| !args.again);
    let from = old.and_then(|old| grown_from(&source, old));
    let prompts = match from {
        Some(from) => Prompts::of(&source, from, &args.only, deep, vault)?,
        None => whole,
    };
    let before = from.and(old).and_then(|old| old.answer.clone());
    let summary = before.as_ref().map(crate::readings::Answer::to_json);
    let first = prompts.part(0, summary.as_deref(), NO_REFUSALS)?;
    let rest: u64 = prompts.parts.iter().skip(1).map(|part| token::count(part)).sum();
    let fixed = token::count(&first).saturating_sub(prompts.parts.first().map_or(0, |part| token::count(part)));
    let calls = prompts.parts.len() as u64 + u64::from(prompts.parts.len() > 1);
    let estimate = token::count(&first) + rest + fixed * (calls - 1);
    let row =
        |fate, why: String| ReadRow { tokens: estimate, answer: ANSWER * calls, ..ReadRow::of(session, fate, why) };
    if bulk && estimate > SESSION {
        return Ok(row(
            "skipped",
            format!("longer than {} tokens; name it to read it all the same", thousands(SESSION)),
        ));
    }
    if *spent + estimate > budget {
        return Ok(row("left", format!("over the budget of {} tokens; run again to go on", thousands(budget))));
    }
    *spent += estimate;
    if args.dry_run {
        return Ok(row("would be read", String::new()));
    }
    let mut tokens = 0;
    let mut checked = match read(&prompts, summary.as_deref(), first, agent, &source, &mut tokens, cx) {
        Ok(checked) => checked,
        Err(why) => return Ok(row("failed", why)),
    };
    if let Some(before) = before {
        let parts = [before, checked.answer.clone()];
        if let Some(whole) = join(&parts, &source) {
            checked = Checked { claims: checked.claims.max(whole.claims), ..whole };
        }
    }
    only(&mut checked, &args.only);
    let judged = second_reader(&mut checked, agent, &source, vault, &mut tokens, cx);
    let mut head = head(&source, &prompts, reader, &args.only, &checked, Some(tokens));
    head.judge = judged;
    head.read = Some(crate::session::time::format(cx.env.now()));
    let written = write::write(&checked, &head, args.again, &source, vault, shelf, cx)?;
    // The next session may tell the same lessons.
    *shelf = Shelf::read(&Catalog::read(vault), vault);
    let mut row = row("read", String::new());
    row.path = Some(written.path);
    row.claims = Some((checked.kept, checked.claims));
    let mut findings = String::new();
    text::findings(&checked, &mut findings);
    cx.ui.detail(findings.trim_end());
    Ok(row)
}

/// Asks for each part, and once more to join them.
fn read(
    prompts: &Prompts<'_>,
    summary: Option<&str>,
    first: String,
    agent: &AgentConfig,
    source: &Source,
    tokens: &mut u64,
    cx: &Context<'_>,
) -> Result<Checked, String> {
    let mut parts: Vec<Checked> = Vec::new();
    let mut first = Some(first);
    for at in 0..prompts.parts.len() {
        let so_far = parts.last().map(|it| it.answer.to_json()).or(summary.map(str::to_owned));
        let prompt = match first.take() {
            Some(prompt) => prompt,
            None => prompts.part(at, so_far.as_deref(), NO_REFUSALS).map_err(|error| error.to_string())?,
        };
        let again = |errors: &str, answer: &str| prompts.part(at, so_far.as_deref(), Some((errors, answer)));
        parts.push(asked(&prompt, &again, agent, source, tokens, cx)?);
    }
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let answers: Vec<String> = parts.iter().map(|it| it.answer.to_json()).collect();
    let answers = answers.join("\n");
    let again = |errors: &str, answer: &str| prompts.joining(&answers, Some((errors, answer)));
    let prompt = prompts.joining(&answers, NO_REFUSALS).map_err(|error| error.to_string())?;
    let parts: Vec<_> = parts.into_iter().map(|it| it.answer).collect();
    match asked(&prompt, &again, agent, source, tokens, cx) {
        Ok(joined) if joined.kept > 0 => Ok(joined),
        // What was said of the parts is not lost where joining fails.
        _ => join(&parts, source).ok_or_else(|| "the agent said nothing".to_owned()),
    }
}

/// Asks, and once more with what is wrong. Of two answers that can be used the one with more claims that hold counts.
fn asked(
    prompt: &str,
    again: &dyn Fn(&str, &str) -> Result<String>,
    agent: &AgentConfig,
    source: &Source,
    tokens: &mut u64,
    cx: &Context<'_>,
) -> Result<Checked, String> {
    let mut send = |prompt: &str| {
        let answer = ask(agent, prompt, cx)?;
        *tokens += token::count(prompt) + token::count(&answer);
        Ok::<String, String>(answer)
    };
    let answer = send(prompt)?;
    let first = judge(&answer, source);
    let wrong = match &first {
        Ok(checked) if checked.refused().next().is_none() => return first,
        Ok(checked) => told(checked),
        Err(why) => why.clone(),
    };
    let prompt = again(&wrong, &answer).map_err(|error| error.to_string())?;
    let second = send(&prompt).and_then(|new| {
        let errors = |errors: Vec<AnswerError>| listed(errors.iter());
        judge(&patched(Some(&answer), &new).map_err(errors)?, source)
    });
    match (first, second) {
        (Ok(first), Ok(second)) => Ok(if second.kept >= first.kept { second } else { first }),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(_), Err(why)) => {
            let line = why.lines().next().unwrap_or_default().trim_start_matches("- ").to_owned();
            Err(format!("the agent's answer could not be used twice: {line}"))
        }
    }
}

/// Asks the second reader; who it was, where it judged.
fn second_reader(
    checked: &mut Checked,
    agent: &AgentConfig,
    source: &Source,
    vault: &Vault,
    tokens: &mut u64,
    cx: &Context<'_>,
) -> Option<String> {
    if agent.judge.is_empty() || checked.kept == 0 {
        return None;
    }
    let claims = second::claims(checked, &source.record);
    let template = Template::of(vault, Kind::Judge);
    let prompt = template.and_then(|template| template.fill(&[("claims", &fenced(&second::listed(&claims)))]));
    let judge = AgentConfig { command: agent.judge.clone(), ..agent.clone() };
    let answer = prompt.map_err(|error| error.to_string()).and_then(|prompt| {
        let answer = ask(&judge, &prompt, cx)?;
        *tokens += token::count(&prompt) + token::count(&answer);
        second::read(&answer, claims.len()).map_err(|error| error.to_string())
    });
    match answer {
        Ok(judgements) => {
            second::apply(checked, &claims, &judgements);
            Some(label(&agent.judge, None))
        }
        Err(why) => {
            cx.ui.warn(&format!("the second reader did not judge: {why}"));
            None
        }
    }
}

/// What became of the sessions of a run.
#[derive(Debug, Default, Serialize)]
struct BatchReport {
    schema: u32,
    dry_run: bool,
    /// Estimated tokens that were sent, or would be.
    sent: u64,
    sessions: Vec<ReadRow>,
}

/// What became of a session.
#[derive(Debug, Default, Serialize)]
struct ReadRow {
    session: String,
    title: String,
    /// `read`, `up to date`, `skipped`, `left`, `failed`, `would be read`.
    fate: &'static str,
    /// Why, where it was not read.
    why: String,
    /// Estimated tokens in.
    tokens: u64,
    /// Estimated tokens out.
    answer: u64,
    /// Claims that hold, and claims that were made.
    claims: Option<(usize, usize)>,
    path: Option<String>,
}

impl ReadRow {
    fn of(head: &Head, fate: &'static str, why: String) -> Self {
        Self { session: head.id(), title: head.title(), fate, why, ..Self::default() }
    }
}

impl PlainOutput for BatchReport {
    fn shown(&self, _: &View) -> String {
        let mut out = String::new();
        for row in self.sessions.iter().filter(|row| row.fate != "skipped") {
            let look = match row.fate {
                "read" => style::GOOD,
                "failed" => style::BAD,
                "left" => style::WARN,
                _ => style::DIM,
            };
            let mut facts = Vec::new();
            facts.extend(row.claims.map(|(kept, all)| format!("{kept} of {} hold", plural(all as u64, "claim"))));
            facts.extend(
                (row.tokens > 0)
                    .then(|| format!("≈ {} tokens in, {} out", thousands(row.tokens), thousands(row.answer))),
            );
            facts.extend((!row.why.is_empty()).then(|| sanitise(&row.why).into_owned()));
            let _ = writeln!(
                out,
                "{}  {}  {}",
                paint(style::ID, sanitise(&row.session)),
                paint(look, row.fate),
                facts.join(" · ")
            );
        }
        let mut skipped: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
        for row in self.sessions.iter().filter(|row| row.fate == "skipped") {
            *skipped.entry(row.why.as_str()).or_default() += 1;
        }
        for (why, count) in skipped {
            let _ = writeln!(out, "{}", paint(style::DIM, format!("skipped {}: {why}", plural(count, "session"))));
        }
        let count = |fate: &str| self.sessions.iter().filter(|row| row.fate == fate).count() as u64;
        let (done, fate) =
            if self.dry_run { (count("would be read"), "would be read") } else { (count("read"), "read") };
        let _ = writeln!(out, "\n{} {fate}, ≈ {} tokens", plural(done, "session"), thousands(self.sent));
        if !self.dry_run && done > 0 {
            let _ = writeln!(out, "Next: `cru review`.");
        }
        out
    }

    fn is_no(&self) -> bool {
        self.sessions.iter().any(|row| row.fate == "failed")
    }
}
