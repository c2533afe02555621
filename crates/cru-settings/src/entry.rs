//! One entry of a settings text, found by the keys that lead to it: added, renewed, removed.

use serde_json::{Map, Value, json};
use toml_edit::{Item, Table, TableLike};

use super::json::{self, JsonKind, Node};
use super::toml_text::{self, TomlText};
use super::{Refused, SettingsFormat};

/// The byte order mark of a text, and the rest of it.
pub fn without_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |rest| (&text[..'\u{feff}'.len_utf8()], rest))
}

/// The value at the end of `path`; `None` where there is none.
pub fn find(text: &str, format: SettingsFormat, path: &[&str]) -> Result<Option<Value>, Refused> {
    let value = read(text, format)?;
    Ok(path.iter().try_fold(&value, |value, key| value.get(*key)).cloned())
}

/// All of a text; white space alone stands for an empty object.
pub fn read(text: &str, format: SettingsFormat) -> Result<Value, Refused> {
    let (_, text) = without_mark(text);
    if text.trim().is_empty() {
        return Ok(json!({}));
    }
    match format {
        SettingsFormat::Toml => Ok(TomlText::read(text)?.value()),
        _ => parse(text, format).map(|(_, value)| value),
    }
}

fn parse(text: &str, format: SettingsFormat) -> Result<(Node, Value), Refused> {
    let (root, value) = json::parse(text, format == SettingsFormat::JsonWithComments)?;
    if value.is_object() {
        Ok((root, value))
    } else {
        Err(Refused::at(text, root.span.start, "this is no JSON object"))
    }
}

/// `text` with `fields` at the end of `path`; without one, in TOML, at the top. Where there is an entry, the fields that
/// differ are renewed where they stand and its other fields stay.
pub fn put(text: &str, format: SettingsFormat, path: &[&str], fields: &Map<String, Value>) -> Result<String, Refused> {
    let (mark, text) = without_mark(text);
    let new = match format {
        SettingsFormat::Toml => put_toml(text, path, fields)?,
        _ => put_json(text, format, path, fields)?,
    };
    if path.is_empty() {
        for field in fields.keys() {
            same_but(text, &new, format, &[field])?;
        }
    } else {
        same_but(text, &new, format, path)?;
    }
    Ok([mark, &new].concat())
}

/// `text` without the entry at the end of `path`, and without the objects around it that held nothing else.
pub fn take(text: &str, format: SettingsFormat, path: &[&str]) -> Result<String, Refused> {
    if find(text, format, path)?.is_none() {
        return Ok(text.to_owned());
    }
    let (mark, text) = without_mark(text);
    let new = match format {
        SettingsFormat::Toml => take_toml(text, path)?,
        _ => take_json(text, format, path)?,
    };
    same_but(text, &new, format, path)?;
    Ok([mark, &new].concat())
}

fn put_json(text: &str, format: SettingsFormat, path: &[&str], fields: &Map<String, Value>) -> Result<String, Refused> {
    let mut now = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    let (root, _) = parse(&now, format)?;
    let mut node = &root;
    for (depth, key) in path.iter().enumerate() {
        if !matches!(node.kind, JsonKind::Object(_)) {
            let named = path[..depth].join(".");
            return Err(Refused::at(&now, node.span.start, format!("`{named}` is no object")));
        }
        let Some(found) = node.get(key) else {
            // What is missing below is made with it.
            let value = path[depth + 1..].iter().rev().fold(json!(fields), |value, key| json!({ *key: value }));
            return Ok(json::append(&now, node, Some(key), &value));
        };
        node = found;
    }
    if !matches!(node.kind, JsonKind::Object(_)) {
        return Err(Refused::at(&now, node.span.start, format!("`{}` is no object", path.join("."))));
    }
    for (name, wanted) in fields {
        let (root, value) = parse(&now, format)?;
        let at = |node| path.iter().try_fold(node, |node: &Node, key| node.get(key));
        let Some(entry) = at(&root) else { continue };
        let has = path.iter().try_fold(&value, |value, key| value.get(*key)).and_then(|entry| entry.get(name));
        now = match entry.get(name) {
            Some(_) if has == Some(wanted) => now,
            Some(field) => json::replace(&now, field, wanted),
            None => json::append(&now, entry, Some(name), wanted),
        };
    }
    Ok(now)
}

fn take_json(text: &str, format: SettingsFormat, path: &[&str]) -> Result<String, Refused> {
    let (root, _) = parse(text, format)?;
    let mut node = &root;
    // The outermost object whose member on the way leads to nothing but the entry.
    let mut from = (&root, path[0]);
    for key in path {
        if node.len() > 1 || std::ptr::eq(node, &raw const root) {
            from = (node, *key);
        }
        node = node.get(key).ok_or_else(|| Refused::new("the entry was lost"))?;
    }
    let index = from.0.position(from.1).ok_or_else(|| Refused::new("the entry was lost"))?;
    Ok(json::remove(text, from.0, index))
}

fn put_toml(text: &str, path: &[&str], fields: &Map<String, Value>) -> Result<String, Refused> {
    let mut toml = TomlText::read(text)?;
    let (last, parents) = match path.split_last() {
        Some((last, parents)) => (Some(last), parents),
        None => (None, path),
    };
    let mut table: &mut dyn TableLike = toml.document.as_table_mut();
    for (depth, key) in parents.iter().enumerate() {
        let parent = table.entry(key).or_insert_with(|| {
            let mut parent = Table::new();
            parent.set_implicit(true);
            Item::Table(parent)
        });
        let named = path[..=depth].join(".");
        table = parent.as_table_like_mut().ok_or_else(|| Refused::new(format!("`{named}` is no table")))?;
    }
    let entry = match last {
        Some(last) => {
            let entry = table.entry(last).or_insert_with(|| Item::Table(Table::new()));
            entry.as_table_like_mut().ok_or_else(|| Refused::new(format!("`{}` is no table", path.join("."))))?
        }
        None => table,
    };
    for (name, wanted) in fields {
        if entry.get(name).is_some_and(|has| toml_text::plain(has) == *wanted) {
            continue;
        }
        let Some(mut value) = toml_text::item(wanted) else { continue };
        match entry.get_mut(name) {
            // Comments around it are a person's.
            Some(old) => {
                if let Some(decor) = old.as_value().map(|old| old.decor().clone()) {
                    *value.decor_mut() = decor;
                }
                *old = Item::Value(value);
            }
            None => drop(entry.insert(name, Item::Value(value))),
        }
    }
    Ok(toml.write())
}

fn take_toml(text: &str, path: &[&str]) -> Result<String, Refused> {
    fn take(table: &mut dyn TableLike, path: &[&str]) {
        let Some((key, rest)) = path.split_first() else { return };
        if !rest.is_empty() {
            let Some(below) = table.get_mut(key).and_then(Item::as_table_like_mut) else { return };
            take(below, rest);
            if !below.is_empty() {
                return;
            }
        }
        table.remove(key);
    }
    let mut toml = TomlText::read(text)?;
    take(toml.document.as_table_mut(), path);
    Ok(toml.write())
}

/// Refuses a change of anything but the entry, and the empty objects around it.
fn same_but(old: &str, new: &str, format: SettingsFormat, path: &[&str]) -> Result<(), Refused> {
    let without = |text: &str| -> Result<Value, Refused> {
        let mut value = read(text, format)?;
        forget(&mut value, path);
        Ok(value)
    };
    if without(old)? == without(new)? {
        return Ok(());
    }
    Err(Refused::new("the edit would change more than the entry of cru; nothing was written"))
}

fn forget(value: &mut Value, path: &[&str]) {
    let (Some((key, rest)), Some(map)) = (path.split_first(), value.as_object_mut()) else { return };
    if let Some(below) = map.get_mut(*key) {
        forget(below, rest);
        if rest.is_empty() || below.as_object().is_some_and(Map::is_empty) {
            map.shift_remove(*key);
        }
    }
}

#[cfg(test)]
mod tests;
