//! What must not leave the vault is taken out of cases before anything is made of them, and looked for once more in what
//! was made.
//!
//! Texts are masked as they were said, before they are encoded; a secret in an argument may be known by the name it
//! stands under alone. The last look is at finished rows, read back as a loader reads them, JSON inside of JSON too: a row
//! in which it finds something is left out, since the first look has missed something.

pub(crate) mod personal;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Mutex;

use serde::Serialize;
use serde_json::Value;

use crate::case::Case;
use cru_session::mask::{self, Masks};

/// What a backslash keeps from being markup in case notes.
pub(crate) const ESCAPED: &str = "*`[]<%\\$#^_";

/// What stands where a secret was.
const MARK: &str = "[secret:";

/// Texts without what was in them (`None`: as they were), and how much of each is gone. Neighbouring cases have most of their
/// contexts in common: each text is looked through once.
#[derive(Debug, Default)]
pub(crate) struct RedactedTexts(HashMap<blake3::Hash, (Option<String>, usize)>);

/// Takes secrets and personal data out of a case and counts what is gone.
pub(crate) fn redact(case: &mut Case, known: &mut RedactedTexts) {
    let mut count = 0;
    let mut accounts = BTreeSet::new();
    case.texts_mut(&mut |_, text| accounts.extend(personal::accounts(text).map(str::to_owned)));
    let mut of_accounts = blake3::Hasher::new();
    for name in &accounts {
        of_accounts.update(name.as_bytes()).update(b" ");
    }
    case.texts_mut(&mut |name, text| {
        let mut hasher = of_accounts.clone();
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(text.as_bytes());
        let (clean, gone) = known.0.entry(hasher.finalize()).or_insert_with(|| redacted(name, text, &accounts));
        count += *gone;
        if let Some(clean) = clean {
            text.clone_from(clean);
        }
    });
    case.redactions = count;
}

fn redacted(name: &str, text: &str, accounts: &BTreeSet<String>) -> (Option<String>, usize) {
    let mut clean = None;
    if let Cow::Owned(masked) = Masks::unnumbered().text(&headed(name, text)) {
        clean = Some(masked.get(head(name)..).map(str::to_owned).unwrap_or(masked));
    }
    let (masked, mut count) = personal::mask(clean.as_deref().unwrap_or(text));
    if let Cow::Owned(masked) = masked {
        clean = Some(masked);
    }
    let (masked, named) = personal::mask_accounts(clean.as_deref().unwrap_or(text), accounts);
    if let Cow::Owned(masked) = masked {
        clean = Some(masked);
    }
    count += named;
    let marks = clean.as_deref().unwrap_or(text).matches(MARK).count();
    (clean, count + marks)
}

/// A text behind the name it stands under, as rules for names of secrets read it.
fn headed<'a>(name: &str, text: &'a str) -> Cow<'a, str> {
    if name.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{name}: {text}")) }
}

const fn head(name: &str) -> usize {
    if name.is_empty() { 0 } else { name.len() + 2 }
}

/// Something in a finished file that must not leave the vault. Its value is never told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Leak {
    /// File in the folder.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Name of the rule.
    pub rule: String,
}

/// Texts in which nothing was found. Rows of one case repeat most of each other.
#[derive(Debug, Default)]
pub(crate) struct Clean(Mutex<HashSet<blake3::Hash>>);

/// Bytes of a text that is faster known again than looked through.
const LONG: usize = 128;

impl Clean {
    fn look(&self, text: &str, rules: &mut Vec<(usize, String)>) {
        let hash = (text.len() >= LONG).then(|| blake3::hash(text.as_bytes()));
        let known = |hash| self.0.lock().is_ok_and(|known| known.contains(hash));
        if hash.as_ref().is_some_and(known) {
            return;
        }
        let before = rules.len();
        look(text, rules);
        if let (Some(hash), true, Ok(mut known)) = (hash, rules.len() == before, self.0.lock()) {
            known.insert(hash);
        }
    }
}

/// What stands in a piece of a finished file and must not: whole rows, or a whole text.
pub(crate) fn leaks(file: &str, bytes: &[u8], clean: &Clean) -> Vec<Leak> {
    let mut leaks = Vec::new();
    let text = String::from_utf8_lossy(bytes);
    let leak = |line, rule| Leak { file: file.to_owned(), line, rule };
    if !is_rows(file) {
        // As it was said, without the backslashes that keep it from being markup.
        let text = unescaped(&text);
        let mut rules = Vec::new();
        look(&text, &mut rules);
        leaks.extend(rules.into_iter().map(|(at, rule)| leak(text[..at].matches('\n').count() + 1, rule)));
        return leaks;
    }
    for (index, line) in text.lines().enumerate() {
        let mut rules = Vec::new();
        match serde_json::from_str::<Value>(line) {
            Ok(mut value) => look_inside(&mut value, clean, DEEP, &mut rules),
            Err(_) => look(line, &mut rules),
        }
        leaks.extend(rules.into_iter().map(|(_, rule)| leak(index + 1, rule)));
    }
    leaks
}

/// How often text that is JSON is read as JSON again: arguments are spelled as text in some dialects.
const DEEP: usize = 3;

/// Looks through every text of a value; one that is JSON itself is read first.
fn look_inside(value: &mut Value, clean: &Clean, deep: usize, rules: &mut Vec<(usize, String)>) {
    crate::case::call::texts_of("", value, &mut |_, text| {
        let inner =
            text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        match inner.filter(|_| deep > 0) {
            Some(mut inner) => look_inside(&mut inner, clean, deep - 1, rules),
            None => clean.look(text, rules),
        }
    });
}

/// Whether a file holds rows, one a line.
fn is_rows(file: &str) -> bool {
    file.rsplit('.').next() == Some("jsonl")
}

/// `text` without backslashes before signs of markup.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' || !chars.peek().is_some_and(|next| ESCAPED.contains(*next)) {
            out.push(c);
        }
    }
    out
}

fn look(text: &str, rules: &mut Vec<(usize, String)>) {
    rules.extend(mask::find(text).into_iter().map(|found| (found.range.start, found.rule.to_owned())));
    rules.extend(
        personal::find(text).into_iter().map(|found| (found.range.start, format!("personal data: {}", found.kind))),
    );
}
