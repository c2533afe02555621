//! A patch of an answer: the refused statements alone, by their places.
//!
//! `{"patch": {"outcome": {…}, "requests[1]": {…}, "open[0]": null}}`; `null` takes a statement out. Paths are those that
//! findings name; those of the summary may leave out `summary.`.

use serde_json::Value;

use super::{AnswerError, json_of};

/// The JSON of an answer after `text`: `before` with the statements of a patch, else `text` itself.
///
/// Errors: a patch without an answer before it; a place that the answer does not have.
pub fn patched(before: Option<&str>, text: &str) -> Result<String, Vec<AnswerError>> {
    let Ok(Value::Object(mut map)) = serde_json::from_str(json_of(text)) else { return Ok(text.to_owned()) };
    let Some(Value::Object(patch)) = map.remove("patch") else { return Ok(text.to_owned()) };
    let error = |path: &str, message: &str| AnswerError { path: path.to_owned(), message: message.to_owned() };
    let missing = || vec![error("patch", "there is no answer that it belongs to; give the whole answer first")];
    let mut answer: Value = serde_json::from_str(json_of(before.ok_or_else(missing)?)).map_err(|_| missing())?;
    let mut errors = Vec::new();
    for (path, new) in patch {
        let place = place(&mut answer, &path).is_some();
        let path = if place { path } else { format!("summary.{path}") };
        match self::place(&mut answer, &path) {
            Some(old) => *old = new,
            None => errors.push(error(path.trim_start_matches("summary."), "the answer has no such place")),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    without_nulls(&mut answer);
    Ok(answer.to_string())
}

/// The value at a path such as `summary.requests[1]`.
fn place<'v>(value: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let mut at = value;
    for part in path.split('.') {
        let (key, indexes) = part.split_once('[').map_or((part, ""), |(key, rest)| (key, rest));
        at = at.as_object_mut()?.get_mut(key)?;
        for index in indexes.split(['[', ']']).filter(|index| !index.is_empty()) {
            at = at.as_array_mut()?.get_mut(index.parse::<usize>().ok()?)?;
        }
    }
    Some(at)
}

/// Takes out the entries of lists that are `null`.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(without_nulls);
        }
        Value::Object(map) => map.values_mut().for_each(without_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_statements_change() {
        let before = r#"{"brief":1,"outcome":{"text":"a"},"open":[{"text":"b"},{"text":"c"}],"requests":[]}"#;
        let patch = r#"Here: {"patch": {"outcome": {"text": "d"}, "open[0]": null}}"#;
        let new: Value = serde_json::from_str(&patched(Some(before), patch).unwrap()).unwrap();
        assert_eq!(new, serde_json::json!({"brief":1,"outcome":{"text":"d"},"open":[{"text":"c"}],"requests":[]}));
        let deep = r#"{"summary":{"open":[{"text":"b"}]}}"#;
        let new = patched(Some(deep), r#"{"patch": {"open[0]": {"text": "x"}}}"#).unwrap();
        assert_eq!(new, r#"{"summary":{"open":[{"text":"x"}]}}"#);
        let wrong = patched(Some(before), r#"{"patch": {"open[9]": null}}"#).unwrap_err();
        assert_eq!(wrong[0].to_string(), "open[9]: the answer has no such place");
        assert!(patched(None, patch).is_err());
        assert_eq!(patched(Some(before), before).unwrap(), before);
        assert_eq!(patched(Some(before), "no JSON").unwrap(), "no JSON");
    }

    proptest::proptest! {
        #[test]
        fn any_patch_is_taken_or_refused(path in "([a-z.\\[\\]0-9]{0,20})", text in "\\PC{0,40}") {
            let patch = serde_json::json!({ "patch": { path: text } }).to_string();
            let _ = patched(Some(r#"{"open":[{"text":"b"}],"a":[[1]]}"#), &patch);
        }
    }
}
