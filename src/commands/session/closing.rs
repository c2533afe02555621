//! What a session leaves behind when it is closed, in a few lines.

use jiff::Timestamp;

use crate::commands::output::proof_words;
use crate::graph;
use crate::memory::summary::{PeriodFacts, TimeWindow};
use crate::session::{Session, escape};

/// Commits and open points that are named; the others are counted.
const NAMED: usize = 5;

/// What was asked, what was committed, what the checks prove, what is open, and why it was closed; a line each, and only
/// where there is something. `None` where there is nothing at all.
pub(super) fn closing(session: &Session, reason: Option<&str>) -> Option<String> {
    let all = TimeWindow { start: Timestamp::MIN, end: Timestamp::MAX };
    let facts = PeriodFacts::of(session, all).unwrap_or_default();
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.extend(facts.requests.first().map(|words| ("Asked", format!("“{}”", escape::inline(words)))));
    let commit = |(id, subject): &(String, String)| format!("`{id}` {}", escape::inline(subject)).trim_end().to_owned();
    lines.extend(named(facts.commits.iter().map(commit).collect()).map(|text| ("Commits", text)));
    let proof = graph::proof(session);
    let words = proof.and_then(|proof| proof_words(Some(proof.name()), proof.writes_after()));
    lines.extend(words.map(|words| ("Proof", words)));
    let open: Vec<String> = facts.open.iter().map(|text| escape::inline(text)).collect();
    lines.extend(named(open).map(|text| ("Open", text)));
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    lines.extend(reason.map(|reason| ("Reason", reason.to_owned())));
    let lines: Vec<String> = lines.into_iter().map(|(name, text)| format!("{name}: {text}")).collect();
    (!lines.is_empty()).then(|| lines.join("  \n"))
}

/// The first few, and how many more there are.
fn named(mut all: Vec<String>) -> Option<String> {
    let more = all.len().saturating_sub(NAMED);
    all.truncate(NAMED);
    if more > 0 {
        all.push(format!("… {more} more"));
    }
    (!all.is_empty()).then(|| all.join("; "))
}
