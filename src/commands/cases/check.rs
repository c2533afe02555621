//! `cru cases check`: what is wrong in case notes.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::base::Result;
use crate::base::text::{plural, sanitise};
use crate::commands::output::style::{self, paint};
use crate::commands::session::learn::{WantedCases, extract};
use crate::commands::{Context, Output, PlainOutput, View};
use crate::learn::review::Part;
use crate::learn::{Kind, ReviewStatus};
use crate::session::mask;
use crate::vault::VaultPath;

/// Check case notes for errors
///
/// A status that is none, parts that are missing or empty, links to sessions and steps that are gone, two notes of one
/// case, secrets, and cases that the sessions no longer tell. Exit code 1 when there is something.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub(super) fn run(_: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, catalog, reviews) = super::read(cx)?;
    let what = WantedCases { sessions: &[], kinds: &Kind::ALL, filter: None };
    let known: HashSet<String> = if reviews.notes.is_empty() {
        HashSet::new()
    } else {
        extract(what, &catalog, &vault, cx)?.cases.into_iter().map(|case| case.id).collect()
    };
    let mut findings = Vec::new();
    let mut seen: HashMap<&str, &str> = HashMap::new();
    for review in &reviews.notes {
        let mut find =
            |message: String| findings.push(Finding { path: review.path.clone(), id: review.id.clone(), message });
        if let Some(word) = &review.odd_status {
            find(format!("`status: {word}` is none of proposed, accepted, rejected"));
        }
        if Kind::parse(&review.kind).is_none() {
            find(format!("`case_type: {}` is no type of case", review.kind));
        }
        if let Some(other) = seen.insert(&review.id, &review.path) {
            find(format!("the same case as {other}: the first of them counts"));
        }
        if review.status == ReviewStatus::Rejected {
            continue;
        }
        let parts = review.parts();
        let needed: &[(Part, &str)] = match Kind::parse(&review.kind) {
            Some(Kind::Demonstration) => &[(Part::Context, "task"), (Part::Expected, "what was done")],
            _ => &[(Part::Context, "context"), (Part::Failure, "failure"), (Part::Expected, "expected behaviour")],
        };
        for (part, name) in needed {
            match parts.iter().find(|(known, _)| known == part) {
                None => find(format!("the part with the {name} is missing")),
                Some((Part::Context, _)) => {}
                Some((_, text)) if text.trim().is_empty() => find(format!("the part with the {name} is empty")),
                Some((Part::Expected, text)) if text.trim() == "Not in the record." => {
                    find("no expected behaviour: it is in no export until somebody writes it".to_owned());
                }
                Some(_) => {}
            }
        }
        let (name, block) = review.session.split_once("#^").unwrap_or((&review.session, ""));
        match VaultPath::new(&review.path).and_then(|path| catalog.note(name, &path)) {
            None => find(format!("the session {name} is not in the vault")),
            Some(head) => {
                let there = block.is_empty() || vault.read(&head.path).is_ok_and(|bytes| holds(&bytes, block));
                if !there {
                    find(format!("{name} has no block ^{block}"));
                }
            }
        }
        if !known.contains(&review.id) {
            find("the session does not tell this case any more: it is in no export".to_owned());
        }
        for found in mask::find(&review.text) {
            let line = review.text[..found.range.start].matches('\n').count() + 1;
            find(format!("line {line}: a secret ({})", found.rule));
        }
    }
    Ok(Box::new(CheckedCases { schema: 1, cases: reviews.notes.len(), findings }))
}

/// Whether a note has a block of that id.
fn holds(bytes: &[u8], block: &str) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let mark = format!("^{block}");
    text.match_indices(&mark)
        .any(|(at, _)| !text[at + mark.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-'))
}

#[derive(Debug, Serialize)]
struct Finding {
    path: String,
    id: String,
    message: String,
}

#[derive(Debug, Serialize)]
struct CheckedCases {
    schema: u32,
    cases: usize,
    findings: Vec<Finding>,
}

impl PlainOutput for CheckedCases {
    fn shown(&self, _: &View) -> String {
        let cases = plural(self.cases as u64, "case note");
        if self.findings.is_empty() {
            return format!("{cases}: {}\n", paint(style::GOOD, "nothing wrong"));
        }
        let mut text = String::new();
        let mut before = "";
        for finding in &self.findings {
            if finding.path != before {
                text.push_str(&format!("{}\n", paint(style::ID, sanitise(&finding.path))));
                before = &finding.path;
            }
            text.push_str(&format!("  {}\n", sanitise(&finding.message)));
        }
        text.push_str(&format!("\n{} in {cases}\n", paint(style::WARN, plural(self.findings.len() as u64, "finding"))));
        text
    }

    fn is_no(&self) -> bool {
        !self.findings.is_empty()
    }
}
