//! Hooks in TOML: rows of `[[hooks]]`.

use cru_settings::rows;
use serde_json::{Value, json};

use super::{FoundHooks, HOOKS, Program, Refused, ours};
use crate::live::hook::Host;

pub(super) fn find(text: &str) -> Result<Vec<FoundHooks>, Refused> {
    let rows = rows::all(text, HOOKS)?;
    let found = rows.iter().enumerate().filter_map(|(handler, row)| {
        let name = row.get("event").and_then(Value::as_str)?.to_owned();
        Some(FoundHooks { name, ours: ours(row)?, group: 0, handler })
    });
    Ok(found.collect())
}

pub(super) fn install(text: &str, host: &Host, program: &Program) -> Result<String, Refused> {
    let mut now = text.to_owned();
    for row in &host.rows {
        let found: Vec<_> = find(&now)?.into_iter().filter(|found| found.name == row.name).collect();
        match found.first() {
            None if !row.installed => {}
            None => {
                let fields = program.group(host, row);
                now = rows::push(&now, HOOKS, fields.as_object().unwrap_or(&serde_json::Map::new()))?;
            }
            Some(found) if found.ours.is(program, host, row) => {}
            Some(found) => {
                now = rows::set(&now, HOOKS, found.handler, "command", &json!(program.line(host, row)))?;
            }
        }
        for second in found.iter().skip(1).rev() {
            now = rows::remove(&now, HOOKS, second.handler)?;
        }
    }
    same_but_ours(text, &now)?;
    Ok(now)
}

pub(super) fn uninstall(text: &str) -> Result<String, Refused> {
    let mut now = text.to_owned();
    for found in find(text)?.iter().rev() {
        now = rows::remove(&now, HOOKS, found.handler)?;
    }
    same_but_ours(text, &now)?;
    Ok(now)
}

/// Refuses a change of anything but our hooks.
fn same_but_ours(old: &str, new: &str) -> Result<(), Refused> {
    let without = |text: &str| -> Result<Value, Refused> {
        let mut value = cru_settings::entry::read(text, cru_settings::SettingsFormat::Toml)?;
        if let Some(list) = value.get_mut(HOOKS).and_then(Value::as_array_mut) {
            list.retain(|row| ours(row).is_none());
        }
        if let Some(map) = value.as_object_mut().filter(|map| map.get(HOOKS).is_some_and(|it| *it == json!([]))) {
            map.shift_remove(HOOKS);
        }
        Ok(value)
    };
    if without(old)? == without(new)? {
        return Ok(());
    }
    Err(Refused::new("the edit would change more than the hooks of cru; nothing was written"))
}
