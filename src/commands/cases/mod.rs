//! The case notes of a vault, and what was decided about them.
//!
//! Everything here is also done by editing a note: `status` in its frontmatter is what counts.

mod check;
mod judge;
mod show;

pub(super) use check::checked;
pub(super) use judge::{CasesToJudge, judge};
pub(super) use show::show;

use super::session::learn::Reviews;
use super::{Context, Output, PlainOutput, View, reading};
use crate::base::text::{note_name, plural};
use crate::base::{Error, Result, files};
use crate::learn::{Review, ReviewStatus};
use crate::note::edit::set_key;
use crate::note::frontmatter::Value;
use crate::vault::{Catalog, Vault};

/// The vault with its case notes.
fn read(cx: &Context<'_>) -> Result<(Vault, Catalog, Reviews)> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let reviews = Reviews::read(&catalog, &vault);
    Ok((vault, catalog, reviews))
}

/// The one note that an id, a part of one or a file name means.
fn find<'a>(wanted: &str, reviews: &'a Reviews) -> Result<&'a Review> {
    let wanted = note_name(wanted);
    if let Some(review) = reviews.notes.iter().find(|review| review.id == wanted || note_name(&review.path) == wanted) {
        return Ok(review);
    }
    let found: Vec<&Review> = reviews
        .notes
        .iter()
        .filter(|review| !wanted.is_empty() && (review.id.contains(wanted) || note_name(&review.path).contains(wanted)))
        .collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Error::no(format!("no case note `{}`", crate::base::text::sanitise(wanted)))
            .with_hint("`cru list cases` lists them; `cru session learn` writes them")),
        many => {
            let ids: Vec<&str> = many.iter().take(5).map(|review| review.id.as_str()).collect();
            Err(Error::usage(format!(
                "`{}` means {}",
                crate::base::text::sanitise(wanted),
                plural(many.len() as u64, "case")
            ))
            .with_hint(format!("say more of it: {}", ids.join(", "))))
        }
    }
}

/// Decides about cases by their ids, or parts of them that only one case has.
pub(super) fn decide(ids: &[String], status: ReviewStatus, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, _, reviews) = read(cx)?;
    vault.writable()?;
    // Nothing is written before all of them are known.
    let notes = ids.iter().map(|id| find(id, &reviews)).collect::<Result<Vec<_>>>()?;
    let mut decided = Decided { schema: 1, status, cases: Vec::new() };
    for review in notes {
        let patch = set_key(&review.text, "status", &Value::String(status.as_str().to_owned()))
            .map_err(|error| Error::usage(format!("could not change {}: {error}", review.path)))?;
        let was = if review.odd_status.is_some() { None } else { Some(review.status) };
        if !patch.is_empty() {
            let new = patch.apply(review.text.as_bytes());
            files::replace_within(vault.root(), &vault.root().join(&review.path), review.text.as_bytes(), &new)?;
        }
        decided.cases.push(DecidedCase {
            id: review.id.clone(),
            path: review.path.clone(),
            was,
            title: review.title.clone(),
        });
    }
    Ok(Box::new(decided))
}

/// What was decided.
#[derive(Debug, serde::Serialize)]
struct Decided {
    schema: u32,
    status: ReviewStatus,
    cases: Vec<DecidedCase>,
}

#[derive(Debug, serde::Serialize)]
struct DecidedCase {
    id: String,
    path: String,
    was: Option<ReviewStatus>,
    title: String,
}

impl PlainOutput for Decided {
    fn shown(&self, _: &View) -> String {
        use super::output::style::{self, paint};
        let mut text = String::new();
        for case in &self.cases {
            let before = case.was.map_or("none", ReviewStatus::as_str);
            let now = paint(look(self.status), self.status.as_str());
            let change =
                if case.was == Some(self.status) { format!("{now} already") } else { format!("{before} → {now}") };
            let title = crate::base::text::sanitise(&case.title);
            text.push_str(&format!("{}  {change}  {title}\n", paint(style::ID, crate::base::text::sanitise(&case.id))));
        }
        text
    }
}

/// How a status looks.
const fn look(status: ReviewStatus) -> anstyle::Style {
    use super::output::style;
    match status {
        ReviewStatus::Proposed | ReviewStatus::Proven => style::DIM,
        ReviewStatus::Accepted => style::GOOD,
        ReviewStatus::Rejected => style::BAD,
    }
}
