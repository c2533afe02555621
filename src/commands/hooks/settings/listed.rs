//! Hooks in JSON: lists of commands by event, in groups or flat.

use cru_settings::json::{self, Node};
use serde_json::{Value, json};

use super::{FoundHooks, HOOKS, Program, Refused, find_in, ours};
use crate::live::hook::{HookLayout, Host};

/// The key of the version of flat settings.
const VERSION: &str = "version";

/// Reads settings, which must be an object; white space alone stands for an empty one.
pub(super) fn parse(text: &str, host: &Host) -> Result<(Node, Value), Refused> {
    let (root, value) = json::parse(text, host.settings.comments)?;
    if value.is_object() {
        Ok((root, value))
    } else {
        Err(Refused::at(text, root.span.start, "this is no JSON object"))
    }
}

fn is_flat(host: &Host) -> bool {
    matches!(host.settings.layout, HookLayout::Flat { .. })
}

pub(super) fn install(text: &str, host: &Host, program: &Program) -> Result<String, Refused> {
    let mut now = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    let (root, value) = parse(&now, host)?;
    if is_flat(host) && value.get(VERSION).is_none() {
        now = json::append(&now, &root, Some(VERSION), &json!(1));
    }
    for row in &host.rows {
        let (root, value) = parse(&now, host)?;
        let found: Vec<_> = find_in(&value).into_iter().filter(|found| found.name == row.name).collect();
        match found.first() {
            None if !row.installed => {}
            None => now = add(&now, &root, row.name, &program.group(host, row), host)?,
            Some(found) if found.ours.is(program, host, row) => {}
            Some(found) => {
                let handler = handler(&root, found).ok_or_else(|| Refused::at(&now, 0, "a hook was lost"))?;
                now = renew(&now, handler, &program.line(host, row), host);
            }
        }
        // One of them is enough. The last goes first, so that the places of the others stay.
        for second in found.iter().skip(1).rev() {
            now = take_out(&now, second, host)?;
        }
    }
    same_but_ours(text, &now, host)?;
    Ok(now)
}

pub(super) fn uninstall(text: &str, host: &Host) -> Result<String, Refused> {
    let mut now = text.to_owned();
    while let Some(found) = super::find(&now, host)?.into_iter().next_back() {
        now = take_out(&now, &found, host)?;
    }
    same_but_ours(text, &now, host)?;
    Ok(now)
}

fn handler<'n>(root: &'n Node, found: &FoundHooks) -> Option<&'n Node> {
    let group = root.get(HOOKS)?.get(&found.name)?.items().get(found.group)?;
    group.get(HOOKS).map_or(Some(group), |handlers| handlers.items().get(found.handler))
}

/// Another command line in a handler, whose other fields a person may have set.
fn renew(text: &str, handler: &Node, line: &str, host: &Host) -> String {
    let Some(command) = handler.get("command") else { return text.to_owned() };
    let renewed = json::replace(text, command, &json!(line));
    if handler.get("args").is_none() {
        return renewed;
    }
    // Arguments are part of the line now.
    let Ok((root, _)) = parse(&renewed, host) else { return text.to_owned() };
    let Some(again) = node_at(&root, handler.span.start) else { return text.to_owned() };
    again.position("args").map_or(renewed.clone(), |index| json::remove(&renewed, again, index))
}

fn node_at(node: &Node, start: usize) -> Option<&Node> {
    if node.span.start == start {
        return Some(node);
    }
    let parts: Vec<&Node> = match &node.kind {
        json::JsonKind::Object(members) => members.iter().map(|member| &member.value).collect(),
        json::JsonKind::Array(items) => items.iter().collect(),
        json::JsonKind::Scalar => Vec::new(),
    };
    parts.into_iter().find(|part| part.span.contains(&start)).and_then(|part| node_at(part, start))
}

/// Adds a group to the list of an event.
fn add(text: &str, root: &Node, name: &str, group: &Value, host: &Host) -> Result<String, Refused> {
    let Some(hooks) = root.get(HOOKS) else {
        let begun = json::append(text, root, Some(HOOKS), &json!({}));
        return add(&begun, &parse(&begun, host)?.0, name, group, host);
    };
    if !matches!(hooks.kind, json::JsonKind::Object(_)) {
        return Err(Refused::at(text, hooks.span.start, "`hooks` is no object"));
    }
    let Some(groups) = hooks.get(name) else {
        return Ok(json::append(text, hooks, Some(name), &json!([group])));
    };
    if !matches!(groups.kind, json::JsonKind::Array(_)) {
        return Err(Refused::at(text, groups.span.start, format!("`{name}` is no list")));
    }
    Ok(json::append(text, groups, None, group))
}

/// Takes a handler out, with all around it that would be empty then.
fn take_out(text: &str, found: &FoundHooks, host: &Host) -> Result<String, Refused> {
    let lost = || Refused::at(text, 0, "a hook was lost");
    let (root, _) = parse(text, host)?;
    let hooks = root.get(HOOKS).ok_or_else(lost)?;
    let groups = hooks.get(&found.name).ok_or_else(lost)?;
    let handlers = groups.items().get(found.group).ok_or_else(lost)?.get(HOOKS);
    let (node, index) = match handlers {
        Some(handlers) if handlers.len() > 1 => (handlers, Some(found.handler)),
        _ if groups.len() > 1 => (groups, Some(found.group)),
        _ if hooks.len() > 1 => (hooks, hooks.position(&found.name)),
        _ => (&root, root.position(HOOKS)),
    };
    Ok(json::remove(text, node, index.ok_or_else(lost)?))
}

/// Refuses a change of anything but our hooks.
fn same_but_ours(old: &str, new: &str, host: &Host) -> Result<(), Refused> {
    if without_ours(old, host)? == without_ours(new, host)? {
        return Ok(());
    }
    Err(Refused::new("the edit would change more than the hooks of cru; nothing was written"))
}

/// The settings without our hooks, without empty lists of hooks, and without the version of flat ones.
pub(super) fn without_ours(text: &str, host: &Host) -> Result<Value, Refused> {
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    let (_, mut value) = parse(text, host)?;
    if let Some(hooks) = value.get_mut(HOOKS).and_then(Value::as_object_mut) {
        for groups in hooks.values_mut().filter_map(Value::as_array_mut) {
            groups.retain_mut(|group| {
                let Some(handlers) = group.get_mut(HOOKS).and_then(Value::as_array_mut) else {
                    return ours(group).is_none();
                };
                let before = handlers.len();
                handlers.retain(|handler| ours(handler).is_none());
                before == handlers.len() || !handlers.is_empty()
            });
        }
        hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    }
    if let Some(map) = value.as_object_mut() {
        if map.get(HOOKS).is_some_and(|hooks| *hooks == json!({})) {
            map.shift_remove(HOOKS);
        }
        if is_flat(host) && map.get(VERSION).is_some_and(|version| *version == 1) {
            map.shift_remove(VERSION);
        }
    }
    Ok(value)
}
