//! `cru diff` of readings.

use std::fmt::Write as _;

use serde::Serialize;

use super::Shelf;
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::output::style::{self, paint};
use crate::commands::{Context, Output, PlainOutput, View, reading};
use crate::readings::diff::{self, Difference};
use crate::vault::Catalog;

/// Two readings, or the two newest versions of the reading of a session.
pub(in crate::commands) fn diff(a: &str, b: Option<&str>, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let vault = reading::vault(cx)?;
    let shelf = Shelf::read(&Catalog::read(&vault), &vault);
    let (a, b) = if let Some(b) = b {
        (shelf.find(a)?, shelf.find(b)?)
    } else {
        let newest = shelf.find(a)?;
        match shelf.of(&newest.head.session).as_slice() {
            [.., a, b] => (*a, *b),
            _ => {
                return Err(Error::no(format!("{} has one reading", newest.head.session))
                    .with_hint("`cru read --again SESSION` makes another version"));
            }
        }
    };
    let (Some(old), Some(new)) = (&a.answer, &b.answer) else {
        return Err(Error::usage("the data of one of them cannot be read; `cru check r:` says why"));
    };
    Ok(Box::new(ReadingDiff { schema: 1, a: a.path.clone(), b: b.path.clone(), differences: diff::diff(old, new) }))
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
