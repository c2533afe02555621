//! The whole call and result of a step, as its transcript has them.

use std::collections::HashSet;

use cru_action::Action;
use cru_action::patch::{self, of_call};
use cru_action::verdict::{silences_check, switches_check_off};
use serde_json::Value;

/// The whole call and result of a step, from its transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FullText {
    /// Every text of its arguments.
    pub call: String,
    /// Its answer.
    pub result: String,
    /// Lines that the call puts into files and that were not there before.
    pub added: Vec<String>,
    /// Lines that it takes out of files.
    pub removed: Vec<String>,
}

impl FullText {
    /// Of a call with its arguments and answer. Linear in them.
    pub fn of(tool: &str, input: &Value, args: &str, output: Option<&str>) -> Self {
        let mut call = format!("{tool}\n{args}\n");
        texts(input, &mut call);
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let action = Action::of(tool, args);
        let mut files = match input {
            Value::Object(map) => of_call(tool, map),
            Value::String(text) => patch::read(text),
            _ => Vec::new(),
        };
        // Some hosts give a patch to a shell, or as the whole argument.
        if files.is_empty() && patch::find(args).is_some() {
            files = patch::read(action.patch_text().unwrap_or(args));
        }
        for file in files {
            let [before, after]: [HashSet<&str>; 2] =
                [file.before().map(str::trim).collect(), file.after().map(str::trim).collect()];
            added.extend(file.after().filter(|line| !before.contains(line.trim())).map(str::to_owned));
            removed.extend(file.before().filter(|line| !after.contains(line.trim())).map(str::to_owned));
        }
        Self { call, result: output.unwrap_or_default().to_owned(), added, removed }
    }
}

fn texts(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(map) => {
            for (key, value) in map {
                if !value.is_string() && !value.is_object() && !value.is_array() {
                    out.push_str(&format!("{key}: {value}\n"));
                }
                texts(value, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What switches a check off or silences it in a call, where something does.
pub(crate) fn shortcut(action: &Action<'_>, full: Option<&FullText>) -> Option<String> {
    let mut added = full.into_iter().flat_map(|full| &full.added).map(String::as_str);
    let mut commands = action.commands.iter().map(|command| action.text(command));
    let text = commands
        .find(|text| switches_check_off(text))
        .or_else(|| added.find(|line| switches_check_off(line) || silences_check(line)))?;
    Some(cru_base::text::truncate(&cru_base::text::one_line(text), 80).into_owned())
}
