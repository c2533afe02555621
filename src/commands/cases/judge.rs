//! `cru read c:`: a reader says which cases anybody should learn from.

use std::path::PathBuf;

use super::{find, read};
use crate::base::text::{fold_whitespace, plural, sanitise};
use crate::base::{Error, Result, files};
use crate::commands::agent::{Asked, Refused, agent, ask_twice};
use crate::commands::output::Raw;
use crate::commands::output::style::{self, paint};
use crate::commands::read::text_of;
use crate::commands::{Context, Output, PlainOutput, View};
use crate::learn::review::verdict::{self, CaseVerdict, without_verdict};
use crate::learn::{Review, ReviewStatus};
use crate::live::resume::token;
use crate::note::edit::set_key;
use crate::note::frontmatter::{Value, split};
use crate::readings::answer::json_of;
use crate::vault::Vault;
use crate::vault::config::AgentConfig;
use crate::vault::template::{Kind, Template};
use crate::workflow::recipe::fenced;

/// Cases that are to be judged, and how.
pub(in crate::commands) struct CasesToJudge {
    /// Ids, or parts of them that only one case has. Without any: all that are not rejected, have an answer, and are not judged yet.
    pub(in crate::commands) ids: Vec<String>,
    /// Print the prompt of the first cases and start nothing.
    pub(in crate::commands) prompt: bool,
    /// Take an answer from a file, or from stdin with `-`; else the reader is `[agent] judge` of the person's configuration, else
    /// `[agent] command`.
    pub(in crate::commands) from: Option<PathBuf>,
    /// Who judged, for `judge` in the notes.
    pub(in crate::commands) reader: Option<String>,
    /// Also cases that are judged already.
    pub(in crate::commands) again: bool,
    /// Estimated tokens that a run may send.
    pub(in crate::commands) budget: u64,
}

/// Estimated tokens of the cases in one prompt.
const PART: u64 = 24_000;

/// Asks a reader which cases anybody should learn from. Exports leave out what it finds weak or harmful, and take what it finds good.
pub(in crate::commands) fn judge(args: &CasesToJudge, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, _, reviews) = read(cx)?;
    let is_open = |review: &&Review| review.status != ReviewStatus::Rejected && !review.is_unanswered();
    let named: Vec<&Review> = match args.ids.as_slice() {
        [] => reviews.notes.iter().filter(is_open).collect(),
        ids => ids.iter().map(|id| find(id, &reviews)).collect::<Result<_>>()?,
    };
    // An answer may be of cases that were judged since they were asked about.
    let is_asked = |review: &&Review| args.again || args.from.is_some() || review.judged.is_none();
    let known = named.iter().filter(|review| !is_asked(review)).count();
    let cases: Vec<&Review> = named.into_iter().filter(is_asked).collect();
    if cases.is_empty() {
        return Err(match known {
            0 => Error::no("there are no cases with an answer").with_hint("`cru session learn` writes cases"),
            _ => Error::no(format!("nothing to do: {} judged already", plural(known as u64, "case")))
                .with_hint("--again judges once more"),
        });
    }
    let template = Template::of(&vault, Kind::JudgeCases)?;
    let mut report = CasesJudged { schema: 1, cases: Vec::new(), left: 0 };
    if args.prompt {
        let first = batch(&cases);
        if first.len() < cases.len() {
            let more = plural((cases.len() - first.len()) as u64, "other case");
            cx.ui.note(&format!("{more} follow: `--from` takes the answer, then run this again"));
        }
        return Ok(Box::new(Raw { name: "prompt", text: prompt(first, &template, None)? }));
    }
    vault.writable()?;
    if let Some(file) = &args.from {
        let judged = judgements(&text_of(file, cx)?, &cases)
            .map_err(|errors| Error::usage(format!("the answer cannot be used; nothing was written\n{errors}")))?;
        report.write(&cases, judged, args.reader.as_deref().unwrap_or("unknown"), &vault)?;
        return Ok(Box::new(report));
    }
    let agent = agent(cx, "; or `--prompt` prints the prompt, and `--from FILE` takes the answer")?;
    let command = if agent.judge.is_empty() { &agent.command } else { &agent.judge };
    let name = if agent.judge.is_empty() { agent.model.clone() } else { None };
    let name = name.unwrap_or_else(|| command.join(" "));
    let agent = AgentConfig { command: command.clone(), ..agent.clone() };
    let (mut rest, mut spent) = (cases.as_slice(), 0);
    while !rest.is_empty() {
        let now = batch(rest);
        spent += token::count(&prompt(now, &template, None)?);
        if spent > args.budget && !report.cases.is_empty() {
            break;
        }
        let mut made = |wrong: Option<&Refused>| prompt(now, &template, wrong);
        let mut taken = |answer: &str, _: bool| judgements(answer, now);
        match ask_twice(&agent, cx, &mut made, &mut taken)? {
            Asked::Taken(judged) => report.write(now, judged, &name, &vault)?,
            Asked::Refused(refused) => {
                cx.ui.warn(&format!(
                    "the answer could not be used twice: {}",
                    refused.errors.lines().next().unwrap_or("")
                ));
                break;
            }
            Asked::Silent(why, _) => {
                cx.ui.warn(&why);
                break;
            }
        }
        rest = &rest[now.len()..];
    }
    report.left = rest.len();
    if report.cases.is_empty() {
        return Err(Error::no("no case was judged"));
    }
    Ok(Box::new(report))
}

/// The first cases, as many as one prompt holds; at least one.
fn batch<'s, 'r>(cases: &'s [&'r Review]) -> &'s [&'r Review] {
    let mut tokens = 0;
    let fits = |case: &&&Review| {
        tokens += token::count(&case.public);
        tokens <= PART
    };
    let count = cases.iter().take_while(fits).count().max(1).min(cases.len());
    &cases[..count]
}

fn prompt(cases: &[&Review], template: &Template, wrong: Option<&Refused>) -> Result<String> {
    let shown = cases.iter().map(|case| {
        let text = without_verdict(&case.public);
        let body = &text[split(&text).body_start..];
        format!("Case {}, of the session {}:\n\n{}\n", case.id, sanitise(&case.session), fenced(body.trim()))
    });
    let shown: Vec<String> = shown.collect();
    let (errors, answer) = wrong.map(|wrong| (fenced(&wrong.errors), fenced(&wrong.answer))).unwrap_or_default();
    template.fill(&[("cases", &shown.join("\n")), ("errors", &errors), ("answer", &answer)])
}

/// What an answer says of the cases. Error: what is wrong, a line each.
fn judgements(answer: &str, cases: &[&Review]) -> Result<Vec<verdict::CaseJudgement>, String> {
    let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    let value = serde_json::from_str(json_of(answer)).map_err(|error| format!("- no valid JSON: {error}\n"))?;
    verdict::read(&value, &ids).map_err(|errors| format!("- {}\n", errors.join("\n- ")))
}

/// What was judged.
#[derive(Debug, serde::Serialize)]
struct CasesJudged {
    schema: u32,
    cases: Vec<JudgedCase>,
    /// Cases that the budget or the agent left.
    left: usize,
}

#[derive(Debug, serde::Serialize)]
struct JudgedCase {
    id: String,
    path: String,
    verdict: CaseVerdict,
    why: String,
    title: String,
}

impl CasesJudged {
    /// Writes verdicts into the notes.
    fn write(
        &mut self,
        cases: &[&Review],
        judged: Vec<verdict::CaseJudgement>,
        judge: &str,
        vault: &Vault,
    ) -> Result<()> {
        for it in judged {
            let review = cases[it.case];
            let mut text = review.text.clone();
            let values =
                [(verdict::JUDGED, it.verdict.as_str()), (verdict::JUDGE, judge), (verdict::WHY, it.why.as_str())];
            // Without a reason now, one of before is none of this verdict.
            let is_said = |value: &str| !value.is_empty() || review.judged.is_some();
            for (key, value) in values.into_iter().filter(|(_, value)| is_said(value)) {
                let patch = set_key(&text, key, &Value::String(fold_whitespace(&sanitise(value))))
                    .map_err(|error| Error::usage(format!("could not change {}: {error}", review.path)))?;
                text = String::from_utf8_lossy(&patch.apply(text.as_bytes())).into_owned();
            }
            if text != review.text {
                let path = vault.root().join(&review.path);
                files::replace_within(vault.root(), &path, review.text.as_bytes(), text.as_bytes())?;
            }
            self.cases.push(JudgedCase {
                id: review.id.clone(),
                path: review.path.clone(),
                verdict: it.verdict,
                why: it.why,
                title: review.title.clone(),
            });
        }
        Ok(())
    }
}

impl PlainOutput for CasesJudged {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        let look = |verdict| match verdict {
            CaseVerdict::Good => style::GOOD,
            CaseVerdict::Weak => style::DIM,
            CaseVerdict::Harmful => style::BAD,
        };
        for case in &self.cases {
            let verdict = paint(look(case.verdict), format!("{:7}", case.verdict.as_str()));
            let (id, title) = (paint(style::ID, sanitise(&case.id)), sanitise(&case.title));
            text.push_str(&format!("{verdict}  {id}  {title}\n"));
            if case.verdict != CaseVerdict::Good && !case.why.is_empty() {
                text.push_str(&format!("         {}\n", sanitise(&case.why)));
            }
        }
        let count = |verdict| self.cases.iter().filter(|case| case.verdict == verdict).count();
        let counts = [CaseVerdict::Good, CaseVerdict::Weak, CaseVerdict::Harmful]
            .map(|verdict| format!("{} {}", count(verdict), verdict.as_str()));
        text.push_str(&format!("\n{} judged: {}\n", plural(self.cases.len() as u64, "case"), counts.join(", ")));
        if self.left > 0 {
            text.push_str(&format!("{} left; run again to go on\n", plural(self.left as u64, "case")));
        }
        text
    }
}
