//! The public rules of gitleaks: regular expressions, each asked only near one of its keywords.
//!
//! Their file is taken as it is (`data/gitleaks.toml`, with its licence beside it); `data/rules.toml` names those that
//! are not used. An expression sees a bounded part of the text around a keyword and is made when it is first asked.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Regex, RegexBuilder};

use super::allow;
use super::entropy::entropy;
use super::prefix::is_mixed;

/// Bytes behind the start of a keyword that a find may end with.
const BEHIND: usize = 600;

/// A rule of the public set.
pub(crate) struct PublicRule {
    pub(crate) name: &'static str,
    regex: &'static str,
    pub(crate) keys: &'static [&'static str],
    /// Bits a byte that a find must say more than; 0 for any.
    entropy: f64,
    /// Which group is the secret; 0 for the first that took part.
    group: usize,
    allow: &'static [Allow],
}

/// What is no secret.
struct Allow {
    regexes: &'static [&'static str],
    target: Target,
    /// In lower case.
    words: &'static [&'static str],
}

/// What the expressions of an [`Allow`] are asked of.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "which of them are asked for is up to the file")]
enum Target {
    Secret,
    Match,
    Line,
}

include!(concat!(env!("OUT_DIR"), "/public.rs"));

/// A rule with its expressions.
struct Compiled {
    regex: Regex,
    allow: Vec<(Target, Vec<Regex>)>,
}

static COMPILED: LazyLock<Vec<OnceLock<Option<Compiled>>>> =
    LazyLock::new(|| PUBLIC_RULES.iter().map(|_| OnceLock::new()).collect());

static EVERYWHERE_REGEXES: LazyLock<Vec<Regex>> = LazyLock::new(|| compiled_all(EVERYWHERE.regexes));

fn compiled(regex: &str) -> Option<Regex> {
    RegexBuilder::new(regex).unicode(false).build().ok()
}

fn compiled_all(regexes: &[&str]) -> Vec<Regex> {
    regexes.iter().filter_map(|regex| compiled(regex)).collect()
}

/// What rule number `rule` finds around the keyword at `at`. Nothing ends beyond [`BEHIND`] bytes.
pub(crate) fn find(bytes: &[u8], rule: usize, at: usize) -> Option<Range<usize>> {
    let row = PUBLIC_RULES.get(rule)?;
    let compiled = COMPILED.get(rule)?.get_or_init(|| {
        let allow = row.allow.iter().map(|list| (list.target, compiled_all(list.regexes))).collect();
        Some(Compiled { regex: compiled(row.regex)?, allow })
    });
    let compiled = compiled.as_ref()?;
    let end = bytes.len().min(at + BEHIND);
    let part = bytes.get(..end)?;
    // Bytes before a keyword that a find may begin with.
    let mut from = at.saturating_sub(64);
    // What ends before the keyword belongs to another one, unless it stands nowhere near one.
    let mut before = None;
    while let Some(found) = compiled.regex.captures_at(part, from) {
        let Some(whole) = found.get(0) else { break };
        let secret = match row.group {
            0 => found.iter().skip(1).flatten().find(|group| !group.is_empty()).unwrap_or(whole),
            group => found.get(group)?,
        };
        if is_secret(bytes, row, compiled, whole.range(), secret.range()) {
            if whole.end() > at {
                return Some(secret.range());
            }
            before = Some(secret.range());
        }
        from = whole.end().max(from + 1);
        if from >= end {
            break;
        }
    }
    before
}

fn is_secret(bytes: &[u8], row: &PublicRule, rule: &Compiled, whole: Range<usize>, secret: Range<usize>) -> bool {
    let value = &bytes[secret];
    if entropy(value) <= row.entropy || allow::is_placeholder(value) || !is_mixed(value, 1) {
        return false;
    }
    let line = || {
        let from = memchr::memrchr(b'\n', &bytes[whole.start.saturating_sub(BEHIND)..whole.start]);
        let from = from.map_or(whole.start.saturating_sub(BEHIND), |at| whole.start.saturating_sub(BEHIND) + at + 1);
        let rest = &bytes[whole.end..bytes.len().min(whole.end + BEHIND)];
        &bytes[from..whole.end + memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
    };
    let holds = |words: &[&str]| {
        let lower = value.to_ascii_lowercase();
        words.iter().any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
    };
    let is_allowed = rule.allow.iter().any(|(target, regexes)| {
        let part = match target {
            Target::Secret => value,
            Target::Match => &bytes[whole.clone()],
            Target::Line => line(),
        };
        regexes.iter().any(|regex| regex.is_match(part))
    });
    !is_allowed
        && !row.allow.iter().any(|list| holds(list.words))
        && !holds(EVERYWHERE.words)
        && !EVERYWHERE_REGEXES.iter().any(|regex| regex.is_match(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_can_be_made() {
        for row in PUBLIC_RULES {
            assert!(compiled(row.regex).is_some(), "{}: {}", row.name, row.regex);
            assert!(!row.keys.is_empty(), "{}", row.name);
            for list in row.allow {
                assert_eq!(compiled_all(list.regexes).len(), list.regexes.len(), "{}", row.name);
            }
        }
        assert_eq!(EVERYWHERE_REGEXES.len(), EVERYWHERE.regexes.len());
        assert!(PUBLIC_RULES.len() > 180, "{}", PUBLIC_RULES.len());
    }
}
