//! Any text splits and reads without a crash; every place lies in the text; what was read can be written and read
//! back; setting a key gives its value and leaves the others.

#![cfg_attr(fuzzing, no_main)]

use cru::note::edit::{remove_key, set_key};
use cru::note::frontmatter::{Value, read, split};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    // Most inputs are to have frontmatter.
    let text = if input.starts_with("---") { input.to_owned() } else { format!("---\n{input}\n---\nbody") };
    let parts = split(&text);
    assert!(text.get(parts.body_start..).is_some());
    let Some(bounds) = parts.block else { return };
    let (values, diagnostics) = read(&text, &bounds);
    for span in diagnostics.iter().map(|it| it.span).chain(values.entries().iter().map(|it| it.span)) {
        assert!(text.get(span.range()).is_some() && bounds.span.encloses(span), "{span:?}");
    }

    let map = values.to_map();
    let copy = format!("---\n{}---\n", map.emit());
    let again = read(&copy, &split(&copy).block.expect("a block")).0;
    // A value at the limits of nesting and size may not be readable a level deeper.
    if text.len() < 4096
        && map.iter().all(|(key, _)| key.len() < 512)
        && text.matches(['[', '{', '-', ':']).count() < 60
    {
        assert_eq!(again.to_map(), map, "{copy}");
    }

    let key = if input.len().is_multiple_of(2) { "a" } else { "new" };
    let value = match input.len() % 5 {
        0 => Value::from("x: y"),
        1 => Value::Null,
        2 => Value::from(3u64),
        _ => Value::from(vec!["one", "two"]),
    };
    if let Ok(patch) = set_key(&text, key, &value) {
        let new = patch.apply_to(&text);
        let after = read(&new, &split(&new).block.expect("a block")).0;
        assert_eq!(after.get(key), Some(&value));
        for entry in values.entries().iter().filter(|entry| entry.key != key) {
            assert_eq!(after.get(&entry.key), values.get(&entry.key));
        }
    }
    if let Ok(patch) = remove_key(&text, key) {
        assert!(patch.edits().iter().all(|edit| edit.text.is_empty()));
        let new = patch.apply_to(&text);
        assert_eq!(read(&new, &split(&new).block.expect("a block")).0.get(key), None);
    }
});
