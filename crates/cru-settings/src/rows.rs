//! Lists of tables in TOML, `[[hooks]]`: rows are added at the end, renewed and removed.

use serde_json::{Map, Value};
use toml_edit::{ArrayOfTables, Item, Table};

use super::Refused;
use super::toml_text::{TomlText, item, plain};

/// The rows of a list; none where there is no such list.
pub fn all(text: &str, name: &str) -> Result<Vec<Value>, Refused> {
    let toml = TomlText::read(text)?;
    match toml.document.get(name) {
        None => Ok(Vec::new()),
        Some(list) if list.is_array_of_tables() => Ok(plain(list).as_array().cloned().unwrap_or_default()),
        Some(_) => Err(Refused::new(format!("`{name}` is no list of tables"))),
    }
}

/// `text` with one row more at the end of the list.
pub fn push(text: &str, name: &str, fields: &Map<String, Value>) -> Result<String, Refused> {
    let mut toml = TomlText::read(text)?;
    let list = toml.document.entry(name).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let list = list.as_array_of_tables_mut().ok_or_else(|| Refused::new(format!("`{name}` is no list of tables")))?;
    let mut row = Table::new();
    for (field, value) in fields {
        row.extend(item(value).map(|value| (field.as_str(), value)));
    }
    list.push(row);
    Ok(toml.write())
}

/// `text` with another value of a field in one row.
pub fn set(text: &str, name: &str, index: usize, field: &str, value: &Value) -> Result<String, Refused> {
    let mut toml = TomlText::read(text)?;
    let row = toml.document.get_mut(name).and_then(Item::as_array_of_tables_mut).and_then(|list| list.get_mut(index));
    if let (Some(row), Some(value)) = (row, item(value)) {
        row.insert(field, Item::Value(value));
    }
    Ok(toml.write())
}

/// `text` without one row; without the list where that was its last.
pub fn remove(text: &str, name: &str, index: usize) -> Result<String, Refused> {
    let mut toml = TomlText::read(text)?;
    let mut is_empty = false;
    if let Some(list) = toml.document.get_mut(name).and_then(Item::as_array_of_tables_mut) {
        if index < list.len() {
            list.remove(index);
        }
        is_empty = list.is_empty();
    }
    if is_empty {
        toml.document.remove(name);
    }
    Ok(toml.write())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_come_and_go() {
        let Value::Object(row) = json!({"event": "Stop", "command": "cru hook stop", "timeout": 10}) else {
            panic!("an object")
        };
        for text in ["", "a = 1 # one\n", "# mine\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\" # y\n\n[b]\nc = 2\n"] {
            let before = all(text, "hooks").unwrap().len();
            let more = push(text, "hooks", &row).unwrap();
            assert_eq!(all(&more, "hooks").unwrap()[before], Value::Object(row.clone()), "{more}");
            let renewed = set(&more, "hooks", before, "command", &json!("other")).unwrap();
            assert_eq!(renewed, more.replace("cru hook stop", "other"));
            assert_eq!(remove(&more, "hooks", before).unwrap(), text, "{more}");
        }
        assert_eq!(push("hooks = 1\n", "hooks", &row).unwrap_err().message, "`hooks` is no list of tables");
    }
}
