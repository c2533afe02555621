//! Our hooks in the text of a host's settings: finding, adding, renewing, taking out.
//!
//! Everything else in the text keeps its bytes; each change is read again, and refused when anything but ours differs.

use serde_json::{Value, json};

use super::handler::{Ours, Program, ours};
use super::json::{self, Node};
use crate::live::hook::Host;

/// Where the hooks are kept.
const HOOKS: &str = "hooks";

/// A handler of ours and where it stands.
#[derive(Debug)]
pub(super) struct FoundHooks {
    /// The host's name of the event.
    pub(super) name: String,
    pub(super) ours: Ours,
    group: usize,
    handler: usize,
}

/// Why settings cannot be edited, with the place in the text where it is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) message: String,
    /// Line and column from 1.
    pub(super) place: Option<(usize, usize)>,
}

impl Refused {
    fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = &text[..offset];
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        Self { message: message.into(), place: Some((before.matches('\n').count() + 1, column)) }
    }
}

/// Reads settings, which must be an object; white space alone stands for an empty one.
fn parse(text: &str) -> Result<(Node, Value), Refused> {
    let (root, value) = json::parse(text)
        .map_err(|error| Refused { message: error.to_string(), place: Some((error.line(), error.column())) })?;
    if value.is_object() {
        Ok((root, value))
    } else {
        Err(Refused::at(text, root.span.start, "this is no JSON object"))
    }
}

/// All handlers of ours.
pub(super) fn find(text: &str) -> Result<Vec<FoundHooks>, Refused> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    Ok(find_in(&parse(text)?.1))
}

fn find_in(value: &Value) -> Vec<FoundHooks> {
    let mut found = Vec::new();
    for (name, groups) in value.get(HOOKS).and_then(Value::as_object).into_iter().flatten() {
        for (group, it) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = it.get(HOOKS).and_then(Value::as_array);
            for (handler, it) in handlers.into_iter().flatten().enumerate() {
                found.extend(ours(it).map(|ours| FoundHooks { name: name.clone(), ours, group, handler }));
            }
        }
    }
    found
}

/// `text` with our hooks for `host`: those that are there are renewed where they stand, the missing ones added.
pub(super) fn install(text: &str, host: &Host, program: &Program) -> Result<String, Refused> {
    let mut now = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    for row in host.rows {
        let (root, value) = parse(&now)?;
        let found: Vec<_> = find_in(&value).into_iter().filter(|found| found.name == row.name).collect();
        match found.first() {
            None if !row.installed => {}
            None => now = add(&now, &root, row.name, &program.group(host, row))?,
            Some(found) if found.ours.is(program, host, row) => {}
            Some(found) => {
                let handler = handler(&root, found).ok_or_else(|| Refused::at(&now, 0, "a hook was lost"))?;
                now = renew(&now, handler, &program.line(host, row));
            }
        }
        // One of them is enough. The last goes first, so that the places of the others stay.
        for second in found.iter().skip(1).rev() {
            now = take_out(&now, second)?;
        }
    }
    same_but_ours(text, &now)?;
    Ok(now)
}

/// `text` without our hooks, and without the lists that held nothing else.
pub(super) fn uninstall(text: &str) -> Result<String, Refused> {
    let mut now = text.to_owned();
    while let Some(found) = find(&now)?.into_iter().next_back() {
        now = take_out(&now, &found)?;
    }
    same_but_ours(text, &now)?;
    Ok(now)
}

fn handler<'n>(root: &'n Node, found: &FoundHooks) -> Option<&'n Node> {
    let group = root.get(HOOKS)?.get(&found.name)?.items().get(found.group)?;
    group.get(HOOKS)?.items().get(found.handler)
}

/// Another command line in a handler, whose other fields a person may have set.
fn renew(text: &str, handler: &Node, line: &str) -> String {
    let Some(command) = handler.get("command") else { return text.to_owned() };
    let renewed = json::replace(text, command, &json!(line));
    if handler.get("args").is_none() {
        return renewed;
    }
    // Arguments are part of the line now.
    let Ok((root, _)) = json::parse(&renewed) else { return text.to_owned() };
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
fn add(text: &str, root: &Node, name: &str, group: &Value) -> Result<String, Refused> {
    let Some(hooks) = root.get(HOOKS) else {
        let begun = json::append(text, root, Some(HOOKS), &json!({}));
        return add(&begun, &parse(&begun)?.0, name, group);
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
fn take_out(text: &str, found: &FoundHooks) -> Result<String, Refused> {
    let lost = || Refused::at(text, 0, "a hook was lost");
    let (root, _) = parse(text)?;
    let hooks = root.get(HOOKS).ok_or_else(lost)?;
    let groups = hooks.get(&found.name).ok_or_else(lost)?;
    let handlers = groups.items().get(found.group).and_then(|group| group.get(HOOKS)).ok_or_else(lost)?;
    let (node, index) = if handlers.len() > 1 {
        (handlers, Some(found.handler))
    } else if groups.len() > 1 {
        (groups, Some(found.group))
    } else if hooks.len() > 1 {
        (hooks, hooks.position(&found.name))
    } else {
        (&root, root.position(HOOKS))
    };
    Ok(json::remove(text, node, index.ok_or_else(lost)?))
}

/// What becomes of a text when our hooks come, come again, and go.
#[doc(hidden)]
#[derive(Debug)]
pub struct Edited {
    /// With them.
    pub installed: String,
    /// With them again.
    pub again: String,
    /// Without.
    pub removed: String,
    /// Whether there was none of ours and no empty list, which goes with ours.
    pub is_clean: bool,
}

/// For the fuzz target.
#[doc(hidden)]
pub fn edited(text: &str) -> Result<Edited, String> {
    let words = |refused: Refused| refused.message;
    let program = Program { path: "/opt/cru".to_owned(), vault: None };
    let host = crate::live::hook::HOSTS[0];
    let installed = install(text, host, &program).map_err(words)?;
    let again = install(&installed, host, &program).map_err(words)?;
    let removed = uninstall(&installed).map_err(words)?;
    let (value, without) = (
        if text.trim().is_empty() { json!({}) } else { parse(text).map_err(words)?.1 },
        without_ours(text).map_err(words)?,
    );
    let is_clean = value == without && value != json!({});
    Ok(Edited { installed, again, removed, is_clean })
}

/// Refuses a change of anything but our hooks.
fn same_but_ours(old: &str, new: &str) -> Result<(), Refused> {
    if without_ours(old)? == without_ours(new)? {
        return Ok(());
    }
    Err(Refused {
        message: "the edit would change more than the hooks of cru; nothing was written".to_owned(),
        place: None,
    })
}

/// The settings without our hooks and without empty lists of hooks.
fn without_ours(text: &str) -> Result<Value, Refused> {
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    let (_, mut value) = parse(text)?;
    if let Some(hooks) = value.get_mut(HOOKS).and_then(Value::as_object_mut) {
        for groups in hooks.values_mut().filter_map(Value::as_array_mut) {
            groups.retain_mut(|group| {
                let Some(handlers) = group.get_mut(HOOKS).and_then(Value::as_array_mut) else { return true };
                let before = handlers.len();
                handlers.retain(|handler| ours(handler).is_none());
                before == handlers.len() || !handlers.is_empty()
            });
        }
        hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    }
    if let Some(map) = value.as_object_mut().filter(|map| map.get(HOOKS).is_some_and(|hooks| *hooks == json!({}))) {
        map.shift_remove(HOOKS);
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
