//! What must hold for any session.

use proptest::prelude::*;

use super::*;

/// Few words, so that failures, fixes and corrections meet often.
fn any_item(link: &'static str) -> impl Strategy<Value = Item> {
    let words = prop::sample::select(vec![
        "",
        "no",
        "don't",
        "make",
        "a `b` c",
        "%%private x%%",
        link,
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
    fn any_session(link: &'static str)(phases in prop::collection::vec(prop::collection::vec(any_item(link), 0..12), 0..4)) -> Session {
        let phases = phases.into_iter().enumerate().map(|(at, items)| phase(&format!("p-{at}"), "Do", items));
        Session { phases: phases.collect(), ..Session::default() }
    }
}

proptest! {
    #[test]
    fn exports_hold_for_any_session(session in any_session("[[#^n-001]]")) {
        let found = cases(&session);
        prop_assert_eq!(&found, &cases(&session));
        let mut ids: Vec<&str> = found.cases.iter().map(|case| case.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), found.cases.len());
        for format in Format::ALL {
            for export in [export::folder, export::stream] {
                let export = export(&found.cases, format, OPTIONS);
                prop_assert!(export.is_ok());
                for file in export.map(|export| export.files).unwrap_or_default() {
                    if is_rows(&file) {
                        check_rows(&file)?;
                    }
                }
            }
        }
    }
}

/// Calls for some of the steps, with words that no note holds.
fn any_calls() -> impl Strategy<Value = Calls> {
    let id = prop::sample::select(vec!["n-001", "n-002", "n-003"]);
    let word = prop::sample::select(vec!["alpha", "two\nlines", "a `b`", "", "✗ → …"]);
    let call = (id, word.clone(), prop::option::of(word)).prop_map(|(id, input, output)| {
        let call = Call::new("Bash", serde_json::json!({ "command": input, "nested": [input] }), output);
        (id.to_owned(), call.unwrap_or_default())
    });
    prop::collection::vec(call, 0..4).prop_map(|calls| calls.into_iter().collect())
}

/// Every string of a value.
fn strings(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => out.push(text.clone()),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(map) => map.values().for_each(|value| strings(value, out)),
        _ => {}
    }
}

/// Without what only lays text out.
fn squashed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '`' | '-' | '\\') && !c.is_control()).collect()
}

proptest! {
    /// Nothing is invented: what stands in a conversation stands in the note or in its transcript, but for the few words
    /// that hold it together.
    #[test]
    fn every_text_of_a_case_is_in_the_record(session in any_session("[[other]]"), calls in any_calls()) {
        let note = Note { calls: Some(&calls), ..note(&session) };
        let found = extract(&[note], &Kind::IN_SESSIONS, &Family::default());
        let mut record = Vec::new();
        strings(&serde_json::to_value(&session).unwrap_or_default(), &mut record);
        strings(&serde_json::to_value(&calls).unwrap_or_default(), &mut record);
        record.extend(session.steps().map(|(_, step)| format!("{} {}", step.tool, step.args)));
        record.extend(["untitled".to_owned(), "✗".to_owned()]);
        let record = record.iter().map(|text| squashed(text)).collect::<Vec<_>>().join("\n");
        for format in [Format::Jsonl, Format::Puzzle] {
            for options in [OPTIONS, ASKED] {
                let export = export::folder(&found.cases, format, options);
                for file in export.map(|export| export.files).unwrap_or_default() {
                    for line in String::from_utf8_lossy(&file.bytes).lines().filter(|_| is_rows(&file)) {
                        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
                        for column in ["prompt", "completion", "chosen", "rejected", "messages", "input"] {
                            for message in row[column].as_array().into_iter().flatten().skip_while(|it| it["role"] == "system") {
                                in_record(message, &record)?;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether every line of a message stands in the record, part by part.
fn in_record(message: &serde_json::Value, record: &str) -> Result<(), TestCaseError> {
    const OURS: [&str; 4] = ["Done so far:", "What do you do next?", "Go on.", "(exit 101)"];
    let mut texts = Vec::new();
    strings(&message["content"], &mut texts);
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        strings(&call["function"]["arguments"], &mut texts);
    }
    for text in texts {
        for line in text.lines() {
            let line = OURS.iter().fold(line.to_owned(), |line, ours| line.replace(ours, "\n"));
            // A field of a callout stands behind its name, a result behind its call.
            let line = line.replace("Resolution: ", "\n").replace("Error: ", "\n").replace("untitled: ", "\n");
            for part in line.split(['→', '✗', '\n']).map(squashed) {
                prop_assert!(record.contains(&part), "{part:?} of {text:?}\n{record}");
            }
        }
    }
    Ok(())
}

/// Whether a file holds rows.
fn is_rows(file: &File) -> bool {
    file.name.rsplit('.').next() == Some("jsonl")
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
