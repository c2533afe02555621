//! Rules 6, 7, 13 and 15: what the text of a claim may say, given its proofs.

use std::collections::{HashMap, HashSet};

use super::token::{Named, counted, found};
use super::{Findings, Refusal, Rule, Severity, proof};
use crate::answer::{Answer, Claim, Proof};
use crate::record::Record;
use crate::record::text::{alike, holds};
use cru_session::mask;
use cru_session::words::list::is_unspaced;

/// What the texts of an answer name, and what of it the record has.
pub(super) struct Names<'a> {
    named: HashMap<&'a str, Named>,
    known: HashSet<String>,
}

impl<'a> Names<'a> {
    /// Of every text of an answer, by one pass over the record.
    pub(super) fn of(answer: &'a Answer, record: &Record) -> Self {
        let mut texts: Vec<&str> = answer.claims().into_iter().map(|(_, claim)| claim.text.as_str()).collect();
        texts.extend(answer.summary.title.as_deref());
        texts.extend(answer.lessons.iter().map(|lesson| lesson.text.as_str()));
        texts.extend(answer.cases.iter().map(|case| case.title.as_str()));
        texts.extend(answer.workflow.iter().map(|group| group.title.as_str()));
        let named: HashMap<&str, Named> = texts.into_iter().map(|text| (text, Named::of(text))).collect();
        let names: HashSet<&str> =
            named.values().flat_map(|named| named.names.iter().chain(&named.small)).map(String::as_str).collect();
        let known = found(&names, record.texts()).into_iter().map(str::to_owned).collect();
        Self { named, known }
    }
}

/// Checks a claim.
pub(super) fn check(path: &str, claim: &Claim, names: &Names<'_>, findings: &mut Findings<'_>) {
    proofs(path, &claim.text, &claim.proof, findings);
    let absent = absent_texts(path, claim);
    names_besides(path, &claim.text, &claim.text, &absent, names, findings);
    small_numbers(path, claim, names, findings);
    numbers(path, claim, findings);
    secret(path, &claim.text, findings);
    // A request says in other words what `said` names.
    if !path.contains(".requests[") && !findings.refused(path) && shares_no_word(claim, findings.record) {
        let refusal = Refusal::of(Rule::Words, "the sentence and what it cites have no word in common");
        findings.add(path, &claim.text, Severity::Doubted, None, refusal);
    }
}

/// Checks proofs.
pub(super) fn proofs(path: &str, text: &str, all: &[Proof], findings: &mut Findings<'_>) {
    for (at, one) in all.iter().enumerate() {
        for refusal in proof::check(one, findings.record) {
            findings.add(path, text, Severity::Refused, Some(at), refusal);
        }
        if let Some(quoted) = one.quoted() {
            secret(path, quoted, findings);
        }
    }
}

/// The texts whose absence a claim of what is missing proves: it may name them, though the record does not.
fn absent_texts(path: &str, claim: &Claim) -> Vec<String> {
    let of_missing = [".not_verified[", ".open[", ".contradicted["].iter().any(|part| path.contains(part));
    let texts = claim.proof.iter().filter_map(|proof| match proof {
        Proof::Absent { none } => Some(none.text.as_str()),
        _ => None,
    });
    texts.filter(|_| of_missing).map(|text| alike(text).to_lowercase()).collect()
}

/// What `text` names must stand in the record.
pub(super) fn names_of(path: &str, text: &str, claim: &str, names: &Names<'_>, findings: &mut Findings<'_>) {
    names_besides(path, text, claim, &[], names, findings);
}

/// What `text` names must stand in the record, or in one of `others`.
fn names_besides(
    path: &str,
    text: &str,
    claim: &str,
    others: &[String],
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) {
    let Some(named) = names.named.get(text) else { return };
    let is_known = |name: &String| names.known.contains(name) || others.iter().any(|other| holds(other, name));
    for name in named.names.iter().filter(|name| !is_known(name)) {
        let refusal = Refusal::of(Rule::Name, format!("the record does not hold `{}`", as_written(text, name)));
        findings.add(path, claim, Severity::Refused, None, refusal);
    }
    for id in named.blocks.iter().filter(|id| !findings.record.has_block(id)).cloned().collect::<Vec<_>>() {
        findings.add(path, claim, Severity::Refused, None, Refusal::of(Rule::Id, format!("the session has no {id}")));
    }
}

/// A name in lower case as the text spells it.
fn as_written<'t>(text: &'t str, name: &'t str) -> &'t str {
    let spelled = text.char_indices().filter_map(|(at, _)| text.get(at..at + name.len()));
    spelled.into_iter().find(|part| part.eq_ignore_ascii_case(name)).unwrap_or(name)
}

/// A number of one or two digits stands somewhere in every record: it must stand in what the claim cites.
fn small_numbers(path: &str, claim: &Claim, names: &Names<'_>, findings: &mut Findings<'_>) {
    let Some(named) = names.named.get(claim.text.as_str()).filter(|named| !named.small.is_empty()) else { return };
    let record = findings.record;
    let counts: Vec<String> = claim
        .proof
        .iter()
        .filter_map(|proof| match proof {
            Proof::Count { is, .. } => Some(is.to_string()),
            _ => None,
        })
        .collect();
    let cited: Vec<&str> = claim.proof.iter().flat_map(|proof| cited_texts(proof, record)).collect();
    let small: HashSet<&str> = named.small.iter().map(String::as_str).collect();
    let there = found(&small, cited.into_iter());
    let missing = |number: &&&str| !there.contains(**number) && !counts.iter().any(|count| count == **number);
    let mut missing: Vec<&str> = small.iter().filter(missing).copied().collect();
    missing.sort_unstable();
    for number in missing {
        let reason = format!("what it cites does not hold the number {number}; cite where it stands, or use `count`");
        findings.add(path, &claim.text, Severity::Refused, None, Refusal::of(Rule::Name, reason));
    }
}

/// The whole texts of the places that a proof cites.
fn cited_texts<'r>(proof: &Proof, record: &'r Record) -> Vec<&'r str> {
    let id = proof.block().unwrap_or_default();
    match proof {
        // An answer to a question stands at the step that asked.
        Proof::Step { .. } => {
            let step = record.step(id).map(|it| [it.call.as_str(), it.result.as_str()]);
            step.into_iter().flatten().chain(said(id, record)).collect()
        }
        Proof::Said { .. } => said(id, record).collect(),
        Proof::Prose { .. } => record.phase(id).map(|it| vec![it.prose.as_str()]).unwrap_or_default(),
        Proof::Line { .. } | Proof::Count { .. } | Proof::Absent { .. } => Vec::new(),
    }
}

fn said<'r>(id: &str, record: &'r Record) -> impl Iterator<Item = &'r str> + use<'r> {
    record.words(id).map(|it| it.words.as_str()).into_iter()
}

/// What `text` names that is unproven: identifiers, paths, code and long numbers that stand nowhere in the records, and numbers of
/// one or two digits that do not stand in the blocks with the ids `cited`. Names in angle brackets (`<branch>`) stand for anything.
pub fn unproven(text: &str, cited: &[&str], records: &[Record]) -> Vec<String> {
    let text = without_placeholders(text);
    let named = Named::of(&text);
    let texts = records.iter().flat_map(Record::texts);
    let blocks = records.iter().flat_map(|record| cited.iter().flat_map(|id| record.block(id)));
    let blocks: Vec<String> = blocks.collect();
    let missing = |names: &[String], there: &HashSet<&str>| -> Vec<String> {
        let missing = names.iter().filter(|name| !there.contains(name.as_str()));
        missing.map(|name| as_written(&text, name).to_owned()).collect()
    };
    let names: HashSet<&str> = named.names.iter().map(String::as_str).collect();
    let small: HashSet<&str> = named.small.iter().map(String::as_str).collect();
    let mut unproven = missing(&named.names, &found(&names, texts));
    unproven.extend(missing(&named.small, &found(&small, blocks.iter().map(String::as_str))));
    unproven
}

/// `text` without words that hold a name in angle brackets; code around such a name is read word by word.
fn without_placeholders(text: &str) -> String {
    let plain: String = text
        .split('`')
        .enumerate()
        .map(|(at, piece)| match (at % 2 == 1, piece.contains('<')) {
            (true, true) => format!(" {piece} "),
            (true, false) => format!("`{piece}`"),
            (false, _) => piece.to_owned(),
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().filter(|word| !word.contains('<')).collect();
    words.join(" ")
}

/// A number of edits, commands and the like needs a count, so many steps or words that are cited, or the very words that say
/// it.
fn numbers(path: &str, claim: &Claim, findings: &mut Findings<'_>) {
    let record = findings.record;
    for (number, word) in counted(&claim.text) {
        let digits = number.to_string();
        let says = |text: &str| {
            let text = alike(text).to_lowercase();
            holds(&text, &digits) || counted(&text).iter().any(|(other, _)| *other == number)
        };
        let proven = claim.proof.iter().any(|proof| match proof {
            Proof::Count { is, .. } => *is == number,
            // A person's number is theirs, wherever in the message it stands.
            Proof::Said { said: id, .. } => said(id, record).any(says),
            other => other.quoted().is_some_and(says),
        });
        if !proven && number > cited_blocks(claim) {
            let reason =
                format!("“{word}” is said without a `count`; or cite {number} different steps, or leave it out");
            findings.add(path, &claim.text, Severity::Refused, None, Refusal::of(Rule::Count, reason));
        }
    }
}

/// How many different steps a claim cites, or different words of a person where those are more.
fn cited_blocks(claim: &Claim) -> u64 {
    let (mut steps, mut said) = (HashSet::new(), HashSet::new());
    for proof in &claim.proof {
        match proof {
            Proof::Step { step, .. } => drop(steps.insert(step)),
            Proof::Said { said: words, .. } => drop(said.insert(words)),
            _ => {}
        }
    }
    steps.len().max(said.len()) as u64
}

/// A text that holds a secret is refused; what it is is never told.
pub(super) fn secret(path: &str, text: &str, findings: &mut Findings<'_>) {
    if let Some(found) = mask::find(text).first() {
        let refusal = Refusal::of(Rule::Secret, format!("it holds a secret ({})", found.rule));
        findings.add(path, "(not shown)", Severity::Refused, None, refusal);
    }
}

/// Whether a claim shares no word of three letters with the places that it cites. Of texts without blanks, and of those that only
/// count, nothing is said.
fn shares_no_word(claim: &Claim, record: &Record) -> bool {
    let text = alike(&claim.text).to_lowercase();
    if text.chars().any(is_unspaced) || claim.proof.iter().any(|proof| proof.quoted().is_none()) {
        return false;
    }
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3);
        words.map(|word| word.chars().take(5).collect()).collect()
    };
    let own = words(&text);
    let cited: Vec<&str> = claim.proof.iter().flat_map(|proof| cited_texts(proof, record)).collect();
    !own.is_empty() && cited.iter().all(|text| words(&text.to_lowercase()).is_disjoint(&own))
}
