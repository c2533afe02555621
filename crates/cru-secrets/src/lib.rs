//! Secrets in text: where they stand, and the text without them.
//!
//! What a transcript holds may be shown, indexed or written only when keys and passwords are out of it. The rules are
//! data (`data/rules.toml`, and beside them the public set of gitleaks); each names what it finds, and
//! `[secret:github-token]` takes its place, numbered within a session ([`Masks`]). One scan for the keywords of all
//! rules tells where a rule is asked at all, and a rule looks at a bounded number of bytes around a place, so the time
//! is linear in the text, whatever the text is. What only looks like a secret (`$TOKEN`, `<password>`, the examples of
//! handbooks) stays.

mod allow;
mod assignment;
mod command;
mod entropy;
mod form;
mod keywords;
mod letters;
mod masks;
mod password;
mod prefix;
mod public;
mod scan;
mod set;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

pub use masks::Masks;
pub use scan::find;

/// Raised when the rules find other secrets than before, or write something else in their place.
pub const VERSION: u32 = 8;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Name of the rule, `github-token`.
    pub rule: &'static str,
    /// Its bytes.
    pub range: Range<usize>,
}

/// Every secret of a whole note, in order: also where one stands again that only its place told.
pub fn find_all(text: &str) -> Vec<Found> {
    let mut all = find(text);
    let known = all.len();
    let secret = |found: &Found| text.get(found.range.clone()).filter(|secret| is_known_by_place(secret));
    let (secrets, rules): (Vec<&str>, Vec<&'static str>) =
        all.iter().filter_map(|found| Some((secret(found)?, found.rule))).unzip();
    let Some(search) = search_for(&secrets) else { return all };
    for again in search.find_iter(text) {
        let next = all[..known].partition_point(|found| found.range.end <= again.start());
        if all[..known].get(next).is_none_or(|found| found.range.start >= again.end()) {
            all.push(Found { rule: rules[again.pattern()], range: again.range() });
        }
    }
    all.sort_by_key(|found| found.range.start);
    all
}

/// Whether a secret is one wherever it stands, and no rule finds it there.
fn is_known_by_place(secret: &str) -> bool {
    let is_found = || find(secret).first().is_some_and(|found| found.range == (0..secret.len()));
    password::is_unmistakable(secret) && !is_found()
}

/// What finds each of these; none for none.
fn search_for(secrets: &[impl AsRef<[u8]>]) -> Option<AhoCorasick> {
    let mut search = AhoCorasick::builder();
    search.match_kind(MatchKind::LeftmostLongest).build(secrets).ok().filter(|_| !secrets.is_empty())
}

/// `text` without its secrets. What stands in their place has no number: nothing is known of the session.
pub fn mask(text: &str) -> Cow<'_, str> {
    masked(text, |rule, _, out| {
        out.push_str("[secret:");
        out.push_str(rule);
        out.push(']');
    })
}

/// `text` with what `put` writes for a rule and a secret in the place of each secret, until none is found in it: what is taken
/// out may have hidden what stands beside it.
fn masked(text: &str, mut put: impl FnMut(&'static str, &str, &mut String)) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    // Each look leaves less of the text; the bound is for what no rule does.
    for _ in 0..8 {
        let found = find(&text);
        if found.is_empty() {
            break;
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for Found { rule, range } in found {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            // `[[` would begin a link.
            if out.ends_with('[') {
                out.push(' ');
            }
            at = range.end;
            put(rule, text.get(range).unwrap_or_default(), &mut out);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        text = Cow::Owned(out);
    }
    text
}
