//! Texts of programs that are given on the command line: `python -c '…'`, `node -e '…'`, here-documents.
//!
//! Nothing is parsed: calls are looked for by name, and the strings behind them are what they take away.

use std::borrow::Cow;

use super::Loss;
use super::table::LossRow;

/// Strings of one text that are looked at.
const MOST: usize = 200;

/// What program texts take away.
pub(super) fn losses(row: &LossRow, args: &[Cow<'_, str>], bodies: &[&str]) -> Vec<Loss> {
    let Some(options) = &row.code else { return Vec::new() };
    let mut texts: Vec<&str> = Vec::new();
    for (at, word) in args.iter().enumerate() {
        if options.split_ascii_whitespace().any(|option| is_option(option, word)) {
            texts.extend(args.get(at + 1).map(AsRef::as_ref));
        }
    }
    // A here-document is the program where no file is named: `python - <<EOF`.
    if !args.iter().any(|word| !word.starts_with('-')) {
        texts.extend(bodies);
    }
    texts.into_iter().flat_map(|text| of_text(row, text)).collect()
}

fn is_option(option: &str, word: &str) -> bool {
    match option.strip_prefix("-[") {
        Some(letter) => word.strip_prefix('-').is_some_and(|rest| {
            !rest.starts_with('-') && rest.bytes().all(|it| it.is_ascii_alphabetic()) && rest.ends_with(&letter[..1])
        }),
        None => word == option,
    }
}

fn of_text(row: &LossRow, text: &str) -> Vec<Loss> {
    let mut losses = Vec::new();
    let removed = calls(text, &row.removes);
    if !removed.is_empty() {
        let files: Vec<String> = removed.iter().flatten().cloned().collect();
        // Where one names no string, any string of the text may be meant, or any file.
        let all = if removed.iter().any(Vec::is_empty) { strings(text) } else { files };
        losses.push(if all.is_empty() { Loss::Anything } else { Loss::Removed(all) });
    }
    // Where one names no string, any string of the text may be meant.
    let writes: Vec<Vec<String>> = calls(text, &row.writes).into_iter().chain(opened(text)).collect();
    let is_named = writes.iter().all(|files| !files.is_empty());
    let written = if is_named { writes.into_iter().flatten().collect() } else { strings(text) };
    if !written.is_empty() {
        losses.push(Loss::Overwritten(written));
    }
    losses
}

/// The strings that stand beside each call of one of `names`: its arguments, or what it is a method of.
fn calls(text: &str, names: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for name in names.split_ascii_whitespace() {
        for (at, _) in text.match_indices(name) {
            let begins = name.starts_with('.') || !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let behind = &text[at + name.len()..];
            let ends = name.ends_with('(') || !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if !begins || !ends {
                continue;
            }
            let line_from = text[..at].rfind(['\n', ';']).map_or(0, |from| from + 1);
            let before = if name.starts_with('.') { strings(&text[line_from..at]) } else { Vec::new() };
            let arguments = behind.find(['\n', ';', ')']).map_or(behind, |end| &behind[..end]);
            found.push(before.into_iter().chain(strings(arguments)).collect());
            if found.len() >= MOST {
                return found;
            }
        }
    }
    found
}

/// The files that each `open('file', 'w')` empties: none where it names no string.
fn opened(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("open(") {
        let behind = &text[at + 5..];
        let arguments = behind.find([')', '\n']).map_or(behind, |end| &behind[..end]);
        let is_mode = |mode: &String| mode.len() <= 3 && mode.starts_with(['w', 'x']);
        match strings(arguments).as_slice() {
            [file, mode, ..] if is_mode(mode) => found.push(vec![file.clone()]),
            [mode] if is_mode(mode) && arguments.contains(',') => found.push(Vec::new()),
            _ => {}
        }
    }
    found
}

/// The strings in quotes of a text, without escapes.
fn strings(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let quote = rest[at..].chars().next().unwrap_or('\'');
        let inner = &rest[at + 1..];
        let Some(end) = inner.find(quote) else { break };
        let string = &inner[..end];
        if !string.is_empty() && !string.contains('\n') && found.len() < MOST {
            found.push(string.to_owned());
        }
        rest = &inner[end + 1..];
    }
    found
}
