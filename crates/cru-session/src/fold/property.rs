//! Properties and remembered values that the record holds as JSON, as the frontmatter and the `yaml memory` fence have them.
//!
//! What is nested deeper than a person would read stands as one line of JSON, so that no record can make a note that a
//! YAML reader refuses.

use serde_json::Value as Json;

use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_note::frontmatter::{Mapping, Value, emit};

/// Members of one list or map.
const MOST: usize = 500;

/// Named values in the order they came; a name that comes again has the later value.
#[derive(Debug, Default)]
pub(super) struct Properties(Vec<(String, Value)>);

impl Properties {
    /// Takes in a value.
    pub(super) fn add(&mut self, name: &str, value: &Json) {
        let Some(name) = named(name) else { return };
        let value = converted(value, 0);
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == name) {
            *known = value;
        } else if self.0.len() < MOST {
            self.0.push((name, value));
        }
    }

    /// As keys of the frontmatter: their names hold letters, digits, `_` and `-`.
    pub(super) fn as_frontmatter(&self) -> Mapping {
        let plain = |name: &&(String, Value)| name.0.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        self.0.iter().filter(plain).cloned().collect()
    }

    /// As the lines of a fence; `None` where there are none.
    pub(super) fn as_yaml(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| emit(&self.0))
    }
}

fn named(name: &str) -> Option<String> {
    // Characters of a name.
    let name = truncate(&fold_whitespace(&sanitise(name)), 120).into_owned();
    (!name.is_empty()).then_some(name)
}

fn converted(value: &Json, level: usize) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(number), _) => Value::from(number),
            (None, Some(number)) => Value::from(number),
            (None, None) => Value::from(number.to_string()),
        },
        Json::String(text) => Value::from(sanitise(text).into_owned()),
        // Levels of lists and maps.
        Json::Array(_) | Json::Object(_) if level >= 4 => Value::from(value.to_string()),
        Json::Array(items) => Value::List(items.iter().take(MOST).map(|item| converted(item, level + 1)).collect()),
        Json::Object(map) => {
            let members =
                map.iter().take(MOST).filter_map(|(name, value)| Some((named(name)?, converted(value, level + 1))));
            Value::Map(members.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_as_yaml() {
        let mut memory = Properties::default();
        memory.add("goal", &json!("rotate\nthe keys"));
        memory.add("tries", &json!([1, -2.5, null, true, {"a": {"b": {"c": [1]}}}]));
        memory.add("goal", &json!("rotate the keys: \u{1b}[1mall"));
        memory.add(" ", &json!(1));
        insta::assert_snapshot!(memory.as_yaml().unwrap(), @r#"
        goal: "rotate the keys: all"
        tries:
          - 1
          - -2.5
          -
          - true
          - a:
              b:
                c: "[1]"
        "#);
    }

    #[test]
    fn only_plain_names_are_keys() {
        let mut properties = Properties::default();
        properties.add("rlm", &json!({"depth": 2}));
        properties.add("a: b\n---", &json!(1));
        assert_eq!(properties.as_frontmatter().iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>(), ["rlm"]);
        assert_eq!(Properties::default().as_yaml(), None);
    }

    #[test]
    fn a_deep_value_is_one_line() {
        let deep = (0..100).fold(json!(1), |value, _| json!([value]));
        let mut memory = Properties::default();
        memory.add("deep", &deep);
        assert!(memory.as_yaml().unwrap().lines().count() < 10);
    }
}
