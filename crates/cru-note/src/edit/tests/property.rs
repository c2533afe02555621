use proptest::prelude::*;

use crate::edit::{EditError, remove_key, set_key, set_keys};
use crate::frontmatter::{Mapping, Value, emit, read, split};

fn set(text: &str, key: &str, value: impl Into<Value>) -> String {
    set_key(text, key, &value.into()).unwrap().apply_to(text)
}

#[test]
fn a_scalar_changes_alone() {
    let text =
        "---\ntype:   session   # kind\nstatus: 'active'\t# state\ntitle: \"a # b\"\nempty:\nnone: # yet\n---\nbody";
    assert_eq!(set(text, "type", "note"), text.replace("session ", "note "));
    assert_eq!(set(text, "status", "paused"), text.replace("'active'", "paused"));
    assert_eq!(set(text, "title", "x: y"), text.replace("\"a # b\"", "\"x: y\""));
    assert_eq!(set(text, "empty", 3u64), text.replace("empty:", "empty: 3"));
    assert_eq!(set(text, "none", "x"), text.replace("none: #", "none: x #"));
    assert_eq!(set(text, "title", Value::Null), text.replace(" \"a # b\"", ""));
    assert_eq!(set(text, "status", "active"), text, "the value that is there writes nothing");
}

#[test]
fn a_new_key_goes_to_the_end() {
    assert_eq!(set("---\na: 1\n# last\n---\n# T\n", "b", "x"), "---\na: 1\n# last\nb: x\n---\n# T\n");
    assert_eq!(set("---\n---\n", "b", vec!["x"]), "---\nb:\n  - x\n---\n");
    assert_eq!(set("\u{feff}# T\r\n", "b", "x"), "\u{feff}---\r\nb: x\r\n---\r\n# T\r\n");
    assert_eq!(set("", "b", "x"), "---\nb: x\n---\n");
    assert_eq!(set("---\n\nA text below a rule.\n", "b", "x"), "---\nb: x\n---\n---\n\nA text below a rule.\n");
    let both = [("b", Some(Value::from("x"))), ("a", None), ("c", Some(Value::from(true)))];
    assert_eq!(set_keys("---\na: 1\n---", &both).unwrap().apply_to("---\na: 1\n---"), "---\nb: x\nc: true\n---");
}

#[test]
fn lists_keep_the_items_that_stay() {
    let text = "---\ntags: # mine\n  # first\n  - 'a'\n  # second\n  - b\n# between\nx: 1\n---\n";
    assert_eq!(set(text, "tags", vec!["a", "b", "c"]), text.replace("  - b\n", "  - b\n  - c\n"));
    assert_eq!(set(text, "tags", vec!["b"]), text.replace("  - 'a'\n", ""));
    assert_eq!(set(text, "tags", vec!["0", "a", "b"]), text.replace("  - 'a'\n", "  - \"0\"\n  - 'a'\n"));
    assert_eq!(set(text, "tags", vec!["a", "c"]), text.replace("- b", "- c"));
    assert_eq!(
        set(text, "tags", Vec::<String>::new()),
        "---\ntags: [] # mine\n# first\n# second\n# between\nx: 1\n---\n"
    );
    let flow = "---\ntags: [a, b] # mine\nx: 1\n---\n";
    assert_eq!(set(flow, "tags", vec!["a"]), "---\ntags: # mine\n  - a\nx: 1\n---\n");
    let flush = "---\r\ntags:\r\n- a\r\nx: 1\r\n---\r\n";
    assert_eq!(set(flush, "tags", vec!["a", "b"]), "---\r\ntags:\r\n- a\r\n- b\r\nx: 1\r\n---\r\n");
}

#[test]
fn lists_of_maps_grow() {
    let text = "---\nsubagents:\n  - session: a\n    tokens: 1 # few\nx: 1\n---\n";
    let row = |session: &str, tokens: u64| -> Value {
        Value::Map(
            [("session", Value::from(session)), ("tokens", Value::from(tokens))].into_iter().collect::<Mapping>(),
        )
    };
    let grown = set(text, "subagents", Value::List(vec![row("a", 1), row("b", 2)]));
    assert_eq!(grown, text.replace("few\n", "few\n  - session: b\n    tokens: 2\n"));
}

#[test]
fn longer_values_are_replaced_whole() {
    let text = "---\na: |\n  one\n  # two\n\n# c\nb: \"x\n  y\"\nc:\n  d: 1 # deep\n---\n";
    assert_eq!(set(text, "a", "short"), "---\na: short\n\n# c\nb: \"x\n  y\"\nc:\n  d: 1 # deep\n---\n");
    assert_eq!(set(text, "b", "z"), text.replace("\"x\n  y\"", "z"));
    assert_eq!(set(text, "b", "y\nz\n"), text.replace("\"x\n  y\"\n", "|\n  y\n  z\n"));
    assert_eq!(set(text, "c", 1u64), text.replace("c:\n  d: 1 # deep\n", "c: 1\n"));
}

#[test]
fn removes_lines_and_keeps_comments() {
    let text = "---\n# a\na: 1 # one\n# b\nb:\n  - x\n\n# end\n---\nbody\n";
    assert_eq!(remove_key(text, "a").unwrap().apply_to(text), text.replace("a: 1 # one\n", ""));
    assert_eq!(remove_key(text, "b").unwrap().apply_to(text), text.replace("b:\n  - x\n", ""));
    assert!(remove_key(text, "c").unwrap().is_empty());
    assert!(remove_key("no frontmatter", "c").unwrap().is_empty());
}

#[test]
fn one_broken_line_does_not_stop_the_others() {
    let text = "---\ntitle: Fix: the bug\nstatus: active\n---\n";
    assert_eq!(set(text, "status", "paused"), text.replace("active", "paused"));
    assert_eq!(set(text, "title", "Fix: the bug"), text.replace("Fix: the bug", "\"Fix: the bug\""));
    assert_eq!(set(text, "n", 1u64), text.replace("active\n", "active\nn: 1\n"));
}

#[test]
fn refuses_what_it_cannot_do_alone() {
    let refused = |text: &str, key: &str| set_key(text, key, &"x".into()).unwrap_err();
    assert_eq!(refused("---\na: 1\na: 2\n---\n", "a"), EditError::RepeatedKey("a".to_owned()));
    assert_eq!(refused("---\n{a: 1, b: 2}\n---\n", "a"), EditError::Key("a".to_owned()));
    assert!(matches!(refused("---\n{a: 1, b: 2}\n---\n", "c"), EditError::SideEffect { .. }));
    assert!(matches!(refused("---\n- a\n---\n", "c"), EditError::Frontmatter(_)));
    assert!(matches!(refused("---\na: &x 1\nb: *x\n---\n", "a"), EditError::SideEffect { .. }));
    let kept = remove_key("---\na: |+\n  x\nb: 1\n\nc: 2\n---\n", "b");
    assert!(matches!(kept, Err(EditError::SideEffect { .. })), "a blank line would become part of `a`");
    assert!(matches!(refused("---\na: 1\n# no end\n", "a"), EditError::Frontmatter(_)));
    assert!(matches!(refused("+++\na = 1\n+++\n", "a"), EditError::Frontmatter(_)));
    assert!(matches!(refused("", &"k".repeat(2000)), EditError::Key(_)));
    let text = "---\na: \"x\nb: 1\"\n---\n";
    assert_eq!(set(text, "b", "z"), "---\na: \"x\nb: 1\"\nb: z\n---\n", "a line inside a quotation is no key");
}

/// Text of all kinds that YAML finds hard.
fn hard_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9 ]{0,8}",
        "[ -~\u{a0}-\u{ff}]{0,12}",
        "[-?:,\\[\\]{}#&*!|>'\"%@`=~ a1\n\t]{0,8}",
        "[0-9+._eExo:-]{1,8}",
        any::<String>().prop_map(|text| text.chars().take(12).collect()),
        "([a-z ]{0,5}\n){1,4}[a-z]{0,3}",
        Just("2026-11-20T09:31:04Z".to_owned()),
        Just("---".to_owned()),
        Just("null".to_owned()),
        Just("No".to_owned()),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => hard_text().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec((hard_text(), inner), 0..4).prop_map(|it| Value::Map(it.into_iter().collect())),
        ]
    })
}

/// Lines of one key in many hands' styles, with the key; `K` stands for it.
fn block_of_key(key: &'static str) -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "K: plain text # why\n",
        "K:    12\n",
        "K: 1.50\n",
        "'K': 'it''s'\n",
        "\"K\" : \"q \\\" # x\"   # c\n",
        "K:\n",
        "K: # nothing\n",
        "K: [a, 'b', {c: d}] # flow\n",
        "K: [a,\n  b]\n",
        "K:\n  - a\n  # in between\n  - \"b\"\n\n  - 3\n",
        "K:\n- a\n-   b # x\n-\n  c\n",
        "K:\n    d: e\n    # deep\n    f:\n      - g\n",
        "K:\n  - s: a\n    t: 1\n  -   s: b\n      t: 2\n",
        "K: |\n  text\n  # no comment\n\n  more\n",
        "K: >-\n  folded\n  text\n",
        "K: |+\n  kept\n\n# behind\n",
        "K: \"two\n  lines\"\n",
        "K: two\n  lines\n",
        "K: !tag x\n",
        "K: @broken\n",
        "K: a: b\n",
        "K: 2026-11-20\n",
        "K: No\n",
    ])
    .prop_map(move |lines| lines.replace('K', key))
}

fn frontmatter() -> impl Strategy<Value = Vec<String>> {
    let glue = prop::sample::select(vec!["", "", "", "# comment\n", "\n", "# one\n  # indented\n\n# two\n"]);
    let keys = ["alpha", "b c", "gamma", "status"].map(|key| (glue.clone(), block_of_key(key)));
    (keys, glue, any::<[bool; 4]>()).prop_map(|(keys, last, present)| {
        let mut blocks = Vec::new();
        for ((glue, lines), present) in keys.into_iter().zip(present) {
            blocks.push(glue.to_owned());
            blocks.push(if present { lines } else { String::new() });
        }
        blocks.push(last.to_owned());
        blocks
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_emitted_reads_back(map in prop::collection::vec((hard_text(), any_value()), 0..6)) {
        let map: Mapping = map.into_iter().collect();
        let text = format!("---\n{}---\n", map.emit());
        let bounds = split(&text).block.unwrap();
        prop_assert_eq!(bounds.close.end, text.len());
        let (values, diagnostics) = read(&text, &bounds);
        prop_assert_eq!(values.to_map(), map, "{}", text);
        prop_assert!(diagnostics.iter().all(|it| it.code == "frontmatter-number"), "{:?}", diagnostics);
        let entries: Vec<_> = values.entries().iter().map(|it| (it.key.clone(), it.value.clone())).collect();
        prop_assert_eq!(format!("---\n{}---\n", emit(&entries)), text);
    }

    /// Only the lines of the key differ, and the values are right.
    #[test]
    fn only_the_key_changes(
        blocks in frontmatter(),
        which in 0usize..5,
        value in prop::option::of(any_value()),
        crlf in any::<bool>(),
        bom in any::<bool>(),
        body in prop::sample::select(vec!["", "body", "\n# T\n\ntext\n", "---\nrule\n"]),
        final_newline in any::<bool>(),
    ) {
        let key = ["alpha", "b c", "gamma", "status", "new"][which];
        let place = 2 * which + 1;
        let end = if final_newline || !body.is_empty() { "\n" } else { "" };
        let whole = |blocks: &[String]| {
            let text = format!("{}---\n{}---{end}{body}", if bom { "\u{feff}" } else { "" }, blocks.concat());
            if crlf { text.replace('\n', "\r\n") } else { text }
        };
        let text = whole(&blocks);
        let (before, _) = read(&text, &split(&text).block.unwrap());
        let patch = match &value { Some(value) => set_key(&text, key, value), None => remove_key(&text, key) };
        let patch = patch.map_err(|error| TestCaseError::fail(format!("{error} in {text}")))?;
        let new = patch.apply_to(&text);
        let (after, _) = read(&new, &split(&new).block.unwrap());
        prop_assert_eq!(after.get(key), value.as_ref());
        for entry in before.entries().iter().filter(|it| it.key != key) {
            prop_assert_eq!(after.get(&entry.key), Some(&entry.value));
            prop_assert_eq!(after.entry(&entry.key).unwrap().lines.unwrap().of(&new), entry.lines.unwrap().of(&text));
        }
        // All bytes before and behind the key's own block are there, in their places.
        let ended = |text: String| if crlf { text.replace('\n', "\r\n") } else { text };
        let (head, tail) = if which < 4 {
            let bom = if bom { "\u{feff}" } else { "" };
            (format!("{bom}---\n{}", blocks[..place].concat()), format!("{}---{end}{body}", blocks[place + 1..].concat()))
        } else {
            let bom = if bom { "\u{feff}" } else { "" };
            (format!("{bom}---\n{}", blocks.concat()), format!("---{end}{body}"))
        };
        let (head, tail) = (ended(head), ended(tail));
        let is_new = which < 4 && blocks[place].is_empty();
        if is_new {
            let head = text.len() - ended(format!("---{end}{body}")).len();
            prop_assert_eq!(&new[..head], &text[..head]);
        } else {
            prop_assert!(new.starts_with(&head), "{new:?} lost {head:?}");
            prop_assert!(new.ends_with(&tail), "{new:?} lost {tail:?}");
        }
        if crlf {
            prop_assert!(!new.replace("\r\n", "").contains('\n'));
        }
        // Doing it again changes nothing.
        let again = match &value { Some(value) => set_key(&new, key, value), None => remove_key(&new, key) };
        prop_assert!(again.unwrap().is_empty());
    }
}
