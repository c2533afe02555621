//! Reader of the data files: the part of TOML that they use, without a copy of any text.
//!
//! Tables `[name]` and `[[name]]`, and keys with a text in `"…"` or `"""…"""` or with `true`. No escapes. A test
//! compares the outcome with that of a whole TOML reader.

/// A table of a data file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    /// What stands between the brackets: `program.cargo`, `program."json.tool"`.
    pub(crate) name: &'static str,
    /// Keys and values in order.
    pub(crate) keys: Vec<(&'static str, &'static str)>,
}

impl Section {
    /// The value of a key; `true` for a flag.
    pub(crate) fn get(&self, key: &str) -> Option<&'static str> {
        self.keys.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// The words of the value of a key.
    pub(crate) fn words(&self, key: &str) -> impl Iterator<Item = &'static str> {
        self.get(key).unwrap_or("").split_ascii_whitespace()
    }
}

/// The tables of a file in order.
pub(crate) fn read(source: &'static str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut rest = source;
    while !rest.is_empty() {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix('[') {
            let name = name.trim_start_matches('[').trim_end_matches(']');
            sections.push(Section { name, keys: Vec::new() });
        } else if let Some((key, value)) = trimmed.split_once(" = ").filter(|_| !trimmed.starts_with('#')) {
            let mut text = value.trim_matches('"');
            let mut next = behind;
            if let Some(first) = value.strip_prefix("\"\"\"") {
                // The text goes on to the next `"""`.
                let from = source.len() - rest.len() + line.find("\"\"\"").unwrap_or(0) + 3;
                let long = source.get(from..).unwrap_or("");
                text = long.split_once("\"\"\"").map_or(first, |(text, _)| text);
                let end = source.get(from + text.len() + 3..).unwrap_or("");
                next = end.split_once('\n').map_or("", |(_, next)| next);
            }
            if let Some(section) = sections.last_mut() {
                section.keys.push((key, text));
            }
            rest = next;
            continue;
        }
        rest = behind;
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_toml_reader_reads() {
        for source in [include_str!("../data/programs.toml"), include_str!("../data/tools.toml")] {
            let whole: toml::Table = toml::from_str(source).unwrap();
            let count = |value: &toml::Value| {
                value.as_table().map_or(1, |table| table.values().filter(|it| it.is_table()).count().max(1))
            };
            let tables: usize =
                whole.values().map(|value| value.as_array().map_or_else(|| count(value), Vec::len)).sum();
            let sections = read(source);
            assert_eq!(sections.len(), tables);
            for section in &sections {
                let mut place = Vec::new();
                if section.name.contains('.') {
                    let (first, last) = section.name.split_once('.').unwrap();
                    place.push(whole[first][last.trim_matches('"')].as_table().unwrap());
                } else if let Some(table) = whole[section.name].as_table() {
                    place.push(table);
                } else {
                    place.extend(whole[section.name].as_array().unwrap().iter().map(|it| it.as_table().unwrap()));
                }
                let same = |table: &&toml::Table| {
                    table.len() == section.keys.len()
                        && section.keys.iter().all(|(key, value)| match &table.get(*key) {
                            Some(toml::Value::String(text)) => text == value,
                            Some(toml::Value::Boolean(flag)) => flag.to_string() == *value,
                            _ => false,
                        })
                };
                assert!(place.iter().any(same), "{}", section.name);
            }
        }
    }
}
