//! What must not leave the vault is taken out of cases before anything is made of them, and looked for once more in what
//! was made.
//!
//! Texts are masked as they were said, before they are encoded; a secret in an argument may be known by the name it stands
//! under alone. The last look is at finished files, read back as a loader reads them: what it finds there refuses the
//! export, since it says that the first look has missed something.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::case::Case;
use super::export::File;
use super::personal;
use crate::session::mask::{self, Masks};

/// What a backslash keeps from being markup in case notes.
pub(super) const ESCAPED: &str = "*`[]<%\\$#^_";

/// What stands where a secret was.
const MARK: &str = "[secret:";

/// Takes secrets and personal data out of a case and counts what is gone.
pub(super) fn redact(case: &mut Case) {
    let mut masks = Masks::unnumbered();
    let mut personal = 0;
    let mut marks = 0;
    case.texts_mut(&mut |name, text| {
        if let Cow::Owned(clean) = masks.text(&headed(name, text)) {
            *text = clean.get(head(name)..).map(str::to_owned).unwrap_or(clean);
        }
        let (clean, count) = personal::mask(text);
        personal += count;
        if let Cow::Owned(clean) = clean {
            *text = clean;
        }
        marks += text.matches(MARK).count();
    });
    case.redactions = personal + marks;
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

/// What stands in finished files and must not.
pub fn leaks(files: &[File]) -> Vec<Leak> {
    let mut leaks = Vec::new();
    for file in files {
        let text = String::from_utf8_lossy(&file.bytes);
        if !file.is_rows() {
            // As it was said, without the backslashes that keep it from being markup.
            let text = unescaped(&text);
            let mut rules = Vec::new();
            look(&text, &mut rules);
            leaks.extend(rules.into_iter().map(|(at, rule)| {
                let line = text[..at].matches('\n').count() + 1;
                Leak { file: file.name.clone(), line, rule }
            }));
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let mut rules = Vec::new();
            match serde_json::from_str::<Value>(line) {
                Ok(mut value) => super::whole::texts_of("", &mut value, &mut |_, text| look(text, &mut rules)),
                Err(_) => look(line, &mut rules),
            }
            leaks.extend(rules.into_iter().map(|(_, rule)| Leak { file: file.name.clone(), line: index + 1, rule }));
        }
    }
    leaks
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
