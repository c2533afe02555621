//! The prompts of a session: by parts where it is long.

use std::collections::HashSet;

use super::source::Source;
use super::{Args, answer::NO_REFUSALS};
use crate::base::{Error, Result};
use crate::commands::output::Raw;
use crate::commands::session::current_or_newest;
use crate::commands::{Context, Output, reading};
use crate::live::resume::token;
use crate::readings::answer::{Answer, Proof};
use crate::readings::ledger::triggers;
use crate::vault::Vault;
use crate::vault::template::{Kind, Template};
use crate::workflow::recipe::fenced;

/// Estimated tokens of the record in one prompt.
pub(super) const PART: u64 = 24_000;

/// The prompts of one session.
pub(super) struct Prompts<'a> {
    source: &'a Source,
    template: Template,
    only: String,
    /// The pieces of the record, each for one prompt.
    pub(super) parts: Vec<String>,
}

impl<'a> Prompts<'a> {
    /// Of the phases from `from` on; `deep` asks for cases, lessons, workflow and segments too.
    pub(super) fn of(source: &'a Source, from: usize, only: &[String], deep: bool, vault: &Vault) -> Result<Self> {
        let mut parts = source.ledger.parts(from, PART, &token::count);
        if parts.is_empty() {
            parts.push(String::new());
        }
        Ok(Self {
            source,
            template: Template::of(vault, if deep { Kind::Read } else { Kind::Brief })?,
            only: only.join(", "),
            parts,
        })
    }

    /// Hash of the template.
    pub(super) fn template(&self) -> String {
        crate::readings::hash(&[&self.template.text])
    }

    /// The prompt of a part, with what was read before and what was wrong with the last answer.
    pub(super) fn part(&self, at: usize, so_far: Option<&str>, wrong: Option<(&str, &str)>) -> Result<String> {
        let part = match self.parts.len() {
            1 => String::new(),
            all => format!(", part {} of {all}", at + 1),
        };
        let text = self.parts.get(at).map(String::as_str).unwrap_or_default();
        let found = triggers(&self.source.session);
        // Of a part only what is found in it.
        let ids = |line: &str| {
            line.split(|c: char| !(c.is_alphanumeric() || c == '-'))
                .any(|word| word.contains('-') && self.parts.len() > 1 && text.contains(&format!("\n{word} ")))
        };
        let lines = found.iter().map(|it| it.text.as_str()).filter(|line| self.parts.len() == 1 || ids(line));
        let lines: Vec<String> = lines.take(60).map(|line| format!("- {line}")).collect();
        let triggers = if lines.is_empty() { String::new() } else { fenced(&lines.join("\n")) };
        self.fill(&[("ledger", &fenced(text)), ("part", &part), ("triggers", &triggers)], so_far, wrong)
    }

    /// The prompt that joins the answers to the parts.
    pub(super) fn joining(&self, answers: &str, wrong: Option<(&str, &str)>) -> Result<String> {
        self.fill(&[("parts", &fenced(answers)), ("ledger", ""), ("triggers", "")], None, wrong)
    }

    /// The numbers of the parts, from 1, that no statement of an answer cites.
    pub(super) fn uncited(&self, answer: &Answer) -> Vec<usize> {
        let claims = answer.claims();
        let cited: HashSet<&str> = claims.iter().flat_map(|(_, claim)| &claim.proof).filter_map(Proof::block).collect();
        // Each step and each word stands on a line of its own, which begins with its id.
        let is_cited = |part: &String| {
            part.lines().any(|line| {
                let line = line.strip_prefix("## ").unwrap_or(line);
                line.split(' ').next().is_some_and(|id| cited.contains(id))
            })
        };
        (1..).zip(&self.parts).filter(|(_, part)| !is_cited(part)).map(|(number, _)| number).collect()
    }

    fn fill(&self, own: &[(&str, &str)], so_far: Option<&str>, wrong: Option<(&str, &str)>) -> Result<String> {
        let head = fenced(&self.source.ledger.head);
        let so_far = so_far.map(fenced).unwrap_or_default();
        let (errors, answer) = wrong.map(|(errors, answer)| (fenced(errors), fenced(answer))).unwrap_or_default();
        let record = &self.source.record;
        let mut values = vec![
            ("session_id", record.session.as_str()),
            ("note", record.note.as_str()),
            ("only", self.only.as_str()),
            ("head", head.as_str()),
            ("summary", so_far.as_str()),
            ("errors", errors.as_str()),
            ("answer", answer.as_str()),
        ];
        values.extend(own.iter().copied());
        self.template.fill(&values)
    }
}

/// `cru read --prompt`.
pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let head = match args.sessions.as_slice() {
        [] => current_or_newest(&catalog, &vault, cx)?,
        [one] => catalog.session(one, &vault, cx.env)?,
        _ => return Err(Error::usage("--prompt takes one session")),
    };
    cx.global.reach.check(&head.meta)?;
    let source = Source::of(head, &catalog, &vault, cx)?;
    let prompts = Prompts::of(&source, 0, &args.only, args.is_deep(), &vault)?;
    let all = prompts.parts.len();
    let at = match args.part {
        Some(part) if part == 0 || part > all => {
            return Err(Error::usage(format!(
                "--part {part}: the prompt has {all} part{}",
                if all == 1 { "" } else { "s" }
            )));
        }
        Some(part) => part - 1,
        None => 0,
    };
    if all > 1 {
        let next = format!("`cru read --prompt --part N {}`", head.id());
        cx.ui.note(&format!("the session is long: this is part {} of {all}; {next} prints the others; give all answers at once, `cru read --from FILE --from FILE`, or one answer to the whole", at + 1));
    }
    let text = prompts.part(at, None, NO_REFUSALS)?;
    Ok(Box::new(Raw { name: "prompt", text }))
}
