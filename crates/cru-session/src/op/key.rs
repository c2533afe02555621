//! A frontmatter key: set while it says what `cru` knows, else left to the person.

use serde_json::Value as Json;

use super::conflict::{self, Conflict, Where};
use super::run::{Mode, Outcome, Run};
use super::{Op, value};
use crate::render::{FIRST_KEYS, KEYS};
use cru_note::edit::{self, EditError};
use cru_note::frontmatter::{self, Value, emit, split};

const EDITED: &str = "You have changed this property, so it stays as you wrote it.";
const ODD: &str = "This property is written in a way that cru cannot change without changing others, so it stays.";

/// Sets `key` from `old` to `new`; one that is new stands where a new note has it.
pub(super) fn set(
    run: &mut Run<'_>,
    index: usize,
    key: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> Result<Outcome, EditError> {
    let [old, new] = [old, new].map(|json| value::some(json.map(value::of)));
    let text = run.draft.text().into_owned();
    let bounds = split(&text);
    if let Some(diagnostic) = bounds.diagnostics.first() {
        return Err(EditError::Frontmatter(diagnostic.message.clone()));
    }
    let values = bounds.block.map(|block| frontmatter::read(&text, &block).0).unwrap_or_default();
    let current = value::some(values.get(key).cloned());
    let is = |value: Option<&Value>| value::same_or_none(current.as_ref(), value);
    let later = run.later_values(key, index);
    if is(new.as_ref()) || later.iter().any(|later| is(later.as_ref())) {
        return Ok(Outcome::Present);
    }
    let mut wanted = new.clone();
    if !is(old.as_ref()) {
        let list = |value: &Option<Value>| value.as_ref().is_none_or(|value| matches!(value, Value::List(_)));
        let lists = matches!(new.as_ref().or(old.as_ref()), Some(Value::List(_))) && list(&new) && list(&old);
        let merged = lists.then(|| {
            let new = new.clone().unwrap_or(Value::List(Vec::new()));
            value::merged(current.as_ref().unwrap_or(&Value::Null), old.as_ref(), &new)
        });
        match merged.flatten() {
            Some(merged) if is(Some(&merged)) => return Ok(Outcome::Present),
            Some(Value::List(items)) if items.is_empty() && current.is_none() => return Ok(Outcome::Gone),
            Some(merged) => wanted = Some(merged),
            None if current.is_none() => return Ok(Outcome::Gone),
            // What a later operation did is told by that one.
            None if !later.is_empty() => return Ok(Outcome::Present),
            None => return tell(run, key, EDITED, [old, new], &later),
        }
    }
    let patch = match &wanted {
        Some(value) => {
            // Keys of other names stand before what programs need, as in a new note.
            let (first, last) = KEYS.split_at(FIRST_KEYS);
            let other: &[&str] = if KEYS.contains(&key) { &[] } else { &[key] };
            edit::set_key_at(&text, key, value, &[first, other, last].concat())
        }
        None => edit::remove_key(&text, key),
    };
    match patch {
        Ok(patch) => run.draft.apply(&patch),
        Err(error @ EditError::Frontmatter(_)) => return Err(error),
        Err(_) => return tell(run, key, ODD, [old, new], &later),
    }
    Ok(Outcome::Done)
}

/// The callout that says what was to be set.
fn tell(
    run: &mut Run<'_>,
    key: &str,
    reason: &str,
    [old, new]: [Option<Value>; 2],
    later: &[Option<Value>],
) -> Result<Outcome, EditError> {
    let say = |value: &Option<Value>| {
        let lines = value.as_ref().map(|value| emit(&[(key, value.clone())]));
        conflict::property(lines.as_deref(), reason)
    };
    let conflict = Conflict {
        title: key.to_owned(),
        wanted: say(&new),
        before: Some(say(&old)),
        later: later.iter().map(say).collect(),
    };
    conflict.tell(&mut run.draft, Where::Preface)?;
    Ok(Outcome::Conflict)
}

impl Run<'_> {
    /// What later operations set a key to, where all of them may have been applied before.
    fn later_values(&self, key: &str, index: usize) -> Vec<Option<Value>> {
        if self.mode == Mode::First {
            return Vec::new();
        }
        let later = self.ops[index + 1..].iter().filter_map(|op| match op {
            Op::Set { key: other, new, .. } if other == key => Some(value::some(new.as_ref().map(value::of))),
            _ => None,
        });
        later.collect()
    }
}
