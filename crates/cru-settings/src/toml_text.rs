//! Reading and writing TOML with `toml_edit`, which keeps comments and layout.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, TableLike};

use super::Refused;

/// A document, and what its lines end with: `toml_edit` writes line feeds alone.
pub(crate) struct TomlText {
    pub(crate) document: DocumentMut,
    is_crlf: bool,
}

impl TomlText {
    pub(crate) fn read(text: &str) -> Result<Self, Refused> {
        let is_crlf = text.contains("\r\n");
        if is_crlf && text.matches('\n').count() != text.matches("\r\n").count() {
            return Err(Refused::new("some lines end with CRLF and some with LF"));
        }
        let document = text.replace("\r\n", "\n").parse::<DocumentMut>().map_err(|error| {
            Refused::at(text, error.span().map_or(0, |span| span.start), error.message().to_owned())
        })?;
        Ok(Self { document, is_crlf })
    }

    pub(crate) fn write(&self) -> String {
        let text = self.document.to_string();
        if self.is_crlf { text.replace('\n', "\r\n") } else { text }
    }

    /// All values.
    pub(crate) fn value(&self) -> Value {
        table(self.document.as_table())
    }
}

/// What an item holds; times are texts.
pub(crate) fn plain(item: &Item) -> Value {
    if let Some(list) = item.as_array_of_tables() {
        return list.iter().map(|it| table(it)).collect();
    }
    if let Some(it) = item.as_table_like() {
        return table(it);
    }
    item.as_value().map_or(Value::Null, of_value)
}

fn table(it: &dyn TableLike) -> Value {
    let members = it.iter().filter(|(_, item)| !item.is_none());
    Value::Object(members.map(|(key, item)| (key.to_owned(), plain(item))).collect::<Map<_, _>>())
}

fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(it) => Value::from(it.value().as_str()),
        toml_edit::Value::Integer(it) => Value::from(*it.value()),
        toml_edit::Value::Float(it) => Value::from(*it.value()),
        toml_edit::Value::Boolean(it) => Value::from(*it.value()),
        toml_edit::Value::Datetime(it) => Value::from(it.value().to_string()),
        toml_edit::Value::Array(list) => list.iter().map(of_value).collect(),
        toml_edit::Value::InlineTable(it) => table(it),
    }
}

/// A text, a number, a truth value, or a list of these; `None` for anything else.
pub(crate) fn item(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::String(it) => it.as_str().into(),
        Value::Bool(it) => (*it).into(),
        Value::Number(it) => it.as_i64()?.into(),
        Value::Array(list) => list.iter().map(item).collect::<Option<Array>>()?.into(),
        _ => return None,
    })
}
