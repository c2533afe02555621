//! New keys at their place among those that have an order.

use proptest::prelude::*;

use crate::edit::{remove_key, set_key_at};
use crate::frontmatter::{Value, read, split};

const ORDER: &[&str] = &["type", "title", "ended", "status", "list", "tags", "cursor"];

fn set(text: &str, key: &str, value: impl Into<Value>) -> String {
    set_key_at(text, key, &value.into(), ORDER).unwrap().apply_to(text)
}

#[test]
fn behind_the_nearest_that_stands_before_it() {
    let text = "---\ntype: session\nmine: 1\nstatus: active\ncursor: r1\n---\n# T\n";
    assert_eq!(set(text, "ended", "x"), text.replace("session\n", "session\nended: x\n"));
    assert_eq!(set(text, "tags", vec!["a"]), text.replace("active\n", "active\ntags:\n  - a\n"));
    assert_eq!(set(text, "mine too", "x"), text.replace("r1\n", "r1\nmine too: x\n"), "a person's key has no place");
    assert_eq!(set(text, "status", "paused"), text.replace("active", "paused"), "one that is there stays there");
    let moved = "---\ncursor: r1\nstatus: active\n# why\ntype: session\n---\n";
    assert_eq!(set(moved, "title", "x"), moved.replace("session\n", "session\ntitle: x\n"));
    assert_eq!(set(moved, "tags", "x"), moved.replace("active\n", "active\ntags: x\n"));
}

#[test]
fn before_the_next_one_where_none_stands_before_it() {
    let text = "---\n# of the note\n\nmine: 1\n# of the status\n# and more\nstatus: active\n---\n";
    assert_eq!(set(text, "title", "x"), text.replace("# of the status", "title: x\n# of the status"));
    assert_eq!(set("---\nmine: 1\n---\n", "title", "x"), "---\nmine: 1\ntitle: x\n---\n", "else at the end");
    assert_eq!(set("---\n---\n", "title", "x"), "---\ntitle: x\n---\n");
    assert_eq!(set("# T\n", "title", "x"), "---\ntitle: x\n---\n# T\n");
}

#[test]
fn behind_all_of_a_longer_value() {
    for value in [
        "list:\n  - a\n  - b: c\n    d: e\n  # of the list\n",
        "list:\n- a\n# in the list\n- b\n",
        "list:\n  a:\n    b: c\n\n    # deep\n",
        "list: [a,\n  b] # flow\n",
        "list: {a: b, c: [d]}\n",
        "list: |\n  text\n\n  # text\n",
        "list: |+\n  text\n\n",
        "list: \"two\n  lines\"\n",
        "list: # none\n",
    ] {
        let text = format!("---\ntype: session\n{value}# of the cursor\ncursor: r1\n---\n");
        let wanted = text.replace("# of the cursor", "tags: x\n# of the cursor");
        assert_eq!(set(&text, "tags", "x"), wanted);
        let [text, wanted] = [text, wanted].map(|text| text.replace('\n', "\r\n"));
        assert_eq!(set(&text, "tags", "x"), wanted);
    }
}

#[test]
fn a_place_that_would_change_a_value_is_not_taken() {
    let text = "---\n? title\n: x\nstatus: \"a\nb: c\"\n---\n";
    assert_eq!(set(text, "tags", "x"), text.replace("c\"\n", "c\"\ntags: x\n"));
    assert!(set_key_at("---\n{type: 1, b: 2}\n---\n", "title", &"x".into(), ORDER).is_err(), "nothing can stand there");
}

/// A key in many styles; `K` stands for it.
fn lines_of(key: &'static str) -> impl Strategy<Value = String> {
    let styles = vec![
        "",
        "K: plain # why\n",
        "'K': 'q'\n",
        "K:\n",
        "K: # nothing\n",
        "K: [a, {c: d}]\n",
        "K: [a,\n  b]\n",
        "K:\n  - a\n  # between\n\n  - 3\n",
        "K:\n- a\n-   b # x\n",
        "K:\n    d: e\n    # deep\n    f:\n      - g\n  # less\n",
        "K: |\n  text\n  # no comment\n\n",
        "K: >-\n  folded\n",
        "K: |+\n  kept\n\n",
        "K: \"two\n  lines\"\n",
        "K: a: b\n",
        "K: two\n  lines\n  # indented\n",
        "K: !tag x\n",
        "K: @broken\n",
        "# above\nK: 1\n",
        "\nK: 1\n# below\n",
    ];
    prop::sample::select(styles).prop_map(move |lines| lines.replace('K', key))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Lines are added and none is changed; what is added goes away with the key.
    #[test]
    fn nothing_else_changes(
        mut lines in ORDER.iter().chain(&["mine", "x y"]).map(|key| lines_of(key)).collect::<Vec<_>>().prop_shuffle(),
        which in 0..ORDER.len(),
        list in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let key = ORDER[which];
        for line in &mut lines {
            if line.lines().any(|line| line.trim_matches('\'').starts_with(key)) {
                line.clear();
            }
        }
        let mut text = format!("---\n{}---\nbody\n", lines.concat());
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let value = if list { Value::from(vec!["a", "b"]) } else { Value::from("x") };
        let patch = set_key_at(&text, key, &value, ORDER).unwrap();
        prop_assert_eq!(patch.edits().len(), 1);
        prop_assert!(patch.edits()[0].span.is_empty());
        let new = patch.apply_to(&text);
        let (values, _) = read(&new, &split(&new).block.unwrap());
        prop_assert_eq!(values.get(key), Some(&value));
        prop_assert_eq!(remove_key(&new, key).unwrap().apply_to(&new), text);
    }
}
