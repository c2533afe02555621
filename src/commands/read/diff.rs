//! `cru read diff`.

use std::fmt::Write as _;

use serde::Serialize;

use super::Shelf;
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::readings::diff::{Difference, diff};
use crate::vault::Catalog;

/// Compare two readings
///
/// With one SESSION: its two newest versions. Exit code 1 when they differ.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// A reading, or a session with two of them
    a: String,
    /// Another reading
    b: Option<String>,
}

pub(super) fn run(args: &Args, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let shelf = Shelf::read(&Catalog::read(&vault), &vault);
    let (a, b) = if let Some(b) = &args.b {
        (shelf.find(&args.a)?, shelf.find(b)?)
    } else {
        let newest = shelf.find(&args.a)?;
        match shelf.of(&newest.head.session).as_slice() {
            [.., a, b] => (*a, *b),
            _ => {
                return Err(Error::no(format!("{} has one reading", newest.head.session))
                    .with_hint("`cru read --again SESSION` makes another version"));
            }
        }
    };
    let (Some(old), Some(new)) = (&a.answer, &b.answer) else {
        return Err(Error::usage("the data of one of them cannot be read; `cru read check` says why"));
    };
    Ok(Box::new(ReadingDiff { schema: 1, a: a.path.clone(), b: b.path.clone(), differences: diff(old, new) }))
}

#[derive(Debug, Serialize)]
struct ReadingDiff {
    schema: u32,
    a: String,
    b: String,
    differences: Vec<Difference>,
}

impl PlainOutput for ReadingDiff {
    fn shown(&self, _: &View) -> String {
        let mut out = format!("{} → {}\n", paint(style::ID, sanitise(&self.a)), paint(style::ID, sanitise(&self.b)));
        for it in &self.differences {
            let _ = writeln!(out, "\n{} {}", it.part, paint(style::TITLE, sanitise(&it.name)));
            if let Some(text) = &it.before {
                let _ = writeln!(out, "{}", paint(style::BAD, format!("- {}", sanitise(text))));
            }
            if let Some(text) = &it.after {
                let _ = writeln!(out, "{}", paint(style::GOOD, format!("+ {}", sanitise(text))));
            }
        }
        let _ = writeln!(out, "\n{}", plural(self.differences.len() as u64, "difference"));
        out
    }

    fn is_no(&self) -> bool {
        !self.differences.is_empty()
    }
}
