//! `cru admin secrets`: keys and passwords that stand in notes. Only their places are told, never what they are.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;

use super::check::{Target, targets};
use super::output::style::{self, paint};
use super::{Context, Output, PlainOutput, View};
use crate::base::text::{plural, sanitise, thousands};
use crate::base::{Lines, Result, files};
use crate::session::mask;

/// List secrets in notes by place and rule
///
/// Without PATH the whole vault. The same rules as for what is imported, but nothing is changed: each find is told by its
/// place and rule, its value never. Exit code 1 when there is one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Notes or other files, folders, or patterns on paths in the vault (`sessions/2026-*`)
    paths: Vec<PathBuf>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let targets = targets(&args.paths, false, cx)?;
    let progress = cx.ui.progress("scanning", targets.len() as u64);
    let scanned: Vec<Result<Vec<SecretPlace>>> = targets
        .par_iter()
        .map(|target| {
            let places = places(target);
            progress.advance(1);
            places
        })
        .collect();
    drop(progress);
    let mut found = Vec::new();
    for places in scanned {
        found.extend(places?);
    }
    let mut rules: BTreeMap<&'static str, u64> = BTreeMap::new();
    for place in &found {
        *rules.entry(place.rule).or_default() += 1;
    }
    Ok(Box::new(Scanned { schema: 1, files: targets.len() as u64, secrets: found.len() as u64, rules, found }))
}

fn places(target: &Target) -> Result<Vec<SecretPlace>> {
    let bytes = files::read_note(&target.path)?;
    let text = String::from_utf8_lossy(&bytes);
    let found = mask::find_all(&text);
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let lines = Lines::of(&text);
    let place = |found: mask::Found| {
        let (line, column) = lines.place(&text, found.range.start);
        SecretPlace { path: sanitise(&target.shown).into_owned(), line, column, rule: found.rule }
    };
    Ok(found.into_iter().map(place).collect())
}

/// Where a secret stands.
#[derive(Debug, Serialize)]
struct SecretPlace {
    path: String,
    line: usize,
    column: usize,
    rule: &'static str,
}

#[derive(Debug, Serialize)]
struct Scanned {
    schema: u32,
    /// How many were looked through.
    files: u64,
    secrets: u64,
    rules: BTreeMap<&'static str, u64>,
    found: Vec<SecretPlace>,
}

impl PlainOutput for Scanned {
    fn shown(&self, _: &View) -> String {
        let mut text = String::new();
        if self.found.is_empty() {
            let _ = writeln!(text, "{}: {}", plural(self.files, "file"), paint(style::GOOD, "no secrets found"));
            return text;
        }
        let place = |it: &SecretPlace| format!("{}:{}:{}", it.path, it.line, it.column);
        let width = self.found.iter().map(|it| place(it).chars().count()).max().unwrap_or(0);
        for it in &self.found {
            let place = place(it);
            let blanks = " ".repeat(width.saturating_sub(place.chars().count()));
            let _ = writeln!(text, "{place}{blanks}  {}", paint(style::WARN, it.rule));
        }
        let mut paths: Vec<&str> = self.found.iter().map(|it| it.path.as_str()).collect();
        paths.dedup();
        let found = paint(style::BAD, plural(self.secrets, "secret"));
        let _ = writeln!(text, "\n{found} in {} of {}", thousands(paths.len() as u64), plural(self.files, "file"));
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by_key(|(rule, count)| (Reverse(**count), **rule));
        for (rule, count) in rules {
            let _ = writeln!(text, "  {:>6}  {rule}", thousands(*count));
        }
        text
    }

    fn is_no(&self) -> bool {
        !self.found.is_empty()
    }
}
