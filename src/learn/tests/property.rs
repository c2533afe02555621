//! What must hold for any session.

use proptest::prelude::*;

use super::*;

/// Few words, so that failures, fixes and corrections meet often.
fn any_item() -> impl Strategy<Value = Item> {
    let words = prop::sample::select(vec![
        "",
        "no",
        "don't",
        "make",
        "a `b` c",
        "%%private x%%",
        "[[#^n-001]]",
        "```\nx",
        "> [!error] x",
        "# h",
        "{{ x }}",
        "\u{7}é…",
    ]);
    let result = prop::sample::select(vec!["✗ it went wrong here", "✗ denied by user", "done", ""]);
    let id = prop::sample::select(vec!["", "n-001", "n-002", "n-003"]);
    prop_oneof![
        3 => (id.clone(), words.clone(), result).prop_map(|(id, args, result)| step(id, &format!("Bash make {args}"), result)),
        1 => (words.clone(), words.clone(), prop::bool::ANY).prop_map(|(title, text, resolved)| {
            error(title, text, Some("n-001"), resolved.then_some((text, &["n-002"][..])))
        }),
        2 => (prop::sample::select(vec!["", "Correction", "Question"]), words.clone())
            .prop_map(|(title, words)| user(title, words, None)),
        1 => words.prop_map(prose),
        1 => Just(step("", "Edit src/a.rs", "+1")),
    ]
}

prop_compose! {
    fn any_session()(phases in prop::collection::vec(prop::collection::vec(any_item(), 0..12), 0..4)) -> Session {
        let phases = phases.into_iter().enumerate().map(|(at, items)| phase(&format!("p-{at}"), "Do", items));
        Session { phases: phases.collect(), ..Session::default() }
    }
}

proptest! {
    #[test]
    fn exports_hold_for_any_session(session in any_session()) {
        let found = cases(&session);
        prop_assert_eq!(&found, &cases(&session));
        let mut ids: Vec<&str> = found.cases.iter().map(|case| case.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), found.cases.len());
        for format in Format::ALL {
            for export in [export::folder, export::stream] {
                let export = export(found.cases.clone(), format, OPTIONS);
                prop_assert!(export.is_ok());
                for file in export.map(|export| export.files).unwrap_or_default() {
                    prop_assert!(!String::from_utf8_lossy(&file.bytes).contains("private x"));
                    if file.name.ends_with(".jsonl") {
                        check_rows(&file)?;
                    }
                }
            }
        }
    }
}

/// What a loader asks of a file: rows with one shape, prompts that alternate and end with the user, no empty message.
fn check_rows(file: &File) -> Result<(), TestCaseError> {
    let text = String::from_utf8_lossy(&file.bytes);
    let rows: Vec<serde_json::Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    prop_assert_eq!(rows.len(), file.rows);
    prop_assert!(text.ends_with('\n'));
    let shape = |value: &serde_json::Value| {
        let fields = value.as_object().into_iter().flatten();
        fields.map(|(key, value)| (key.clone(), std::mem::discriminant(value))).collect::<Vec<_>>()
    };
    for row in &rows {
        prop_assert_eq!(shape(row), shape(&rows[0]));
        prop_assert_eq!(shape(&row["metadata"]), shape(&rows[0]["metadata"]));
        let prompt = row.get("prompt").or(row.get("input")).and_then(|it| it.as_array()).cloned().unwrap_or_default();
        let roles: Vec<&str> = prompt.iter().filter_map(|message| message["role"].as_str()).collect();
        prop_assert_eq!(roles[0], "system");
        prop_assert!(matches!(roles.last(), Some(&"user" | &"tool")), "{:?}", roles);
        prop_assert_eq!(roles[1], "user");
        // One after the other: a tool answers the agent, and nobody speaks twice.
        prop_assert!(roles[1..].windows(2).all(|pair| pair[0] != pair[1]), "{:?}", roles);
        prop_assert!(
            prompt.iter().all(|message| message["content"].as_str().is_some_and(|text| !text.trim().is_empty()))
        );
    }
    Ok(())
}
