//! Earlier readings of a segment: what the next one says otherwise, by the path in the node.

use serde_json::Value;

use super::node::field;
use crate::file::value::{filled, number};
use crate::stream::out::{Out, remark};
use cru_session::event::{EventKind, Remark};

/// Sections that are the reading; the others say how and when it was made.
const SECTIONS: &[&str] = &["classification", "content", "lessons", "observations", "semantic"];

/// Differences that are told; of more the number.
const TOLD: usize = 20;

/// Characters of a value.
const VALUE: usize = 200;

/// Tells an earlier version of a node, in a folded callout that `^s-ID-v1` names: its summary, and what `next` changed.
pub(super) fn tell(earlier: &Value, next: &Value, id: &str, out: &mut Out<'_>) {
    let number = |node: &Value| number(node, "version").unwrap_or(1);
    let word = |section: &str, name: &str| field(earlier, section, name).and_then(Value::as_str);
    let kind = [word("classification", "type"), word("content", "outcome")];
    let kind: Vec<&str> = kind.into_iter().flatten().collect();
    let mut changes = Vec::new();
    for section in SECTIONS {
        differences(section, earlier.get(section), next.get(section), &mut changes);
    }
    let mut lines =
        vec![filled(earlier, ["content", "summary"]).or(word("content", "summary")).unwrap_or("").to_owned()];
    let more = changes.len().saturating_sub(TOLD);
    lines.extend(changes.into_iter().take(TOLD).map(|change| format!("- {change}")));
    lines.extend((more > 0).then(|| format!("- … and {more} more")));
    lines.retain(|line| !line.is_empty());
    let told = if kind.is_empty() { String::new() } else { format!(", {}", kind.join(": ")) };
    let title = format!("pi-brain: version {}{told}, before version {}", number(earlier), number(next));
    let id = (!id.is_empty()).then(|| format!("s-{id}-v{}", number(earlier)).into());
    out.emit(EventKind::Remark(Remark { folded: true, id, ..remark("context", title, lines.join("\n")) }));
}

/// Every value that differs, with its path as `lessons.model[0]`.
fn differences(path: &str, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<String>) {
    match (old, new) {
        (old, new) if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            for key in old.keys().chain(added) {
                differences(&format!("{path}.{key}"), old.get(key), new.get(key), found);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for at in 0..old.len().max(new.len()) {
                differences(&format!("{path}[{at}]"), old.get(at), new.get(at), found);
            }
        }
        (Some(old), Some(new)) => found.push(format!("`{path}` changed: {} → {}", shown(old), shown(new))),
        (Some(old), None) => found.push(format!("`{path}` removed: {}", shown(old))),
        (None, Some(new)) => found.push(format!("`{path}` added: {}", shown(new))),
        (None, None) => {}
    }
}

fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    cru_base::text::truncate(&cru_base::text::fold_whitespace(&text), VALUE).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_next_version_says_otherwise() {
        let old = json!({ "summary": "a", "tools": ["read", "edit"], "gone": 1 });
        let new = json!({ "summary": "b", "tools": ["read", "bash", "grep"], "flag": true });
        let mut found = Vec::new();
        differences("content", Some(&old), Some(&new), &mut found);
        assert_eq!(
            found,
            [
                "`content.summary` changed: a → b",
                "`content.tools[1]` changed: edit → bash",
                "`content.tools[2]` added: grep",
                "`content.gone` removed: 1",
                "`content.flag` added: true",
            ]
        );
    }
}
