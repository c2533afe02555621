use cru_settings::json::{self, Node};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::live::hook::HOSTS;

fn parse(text: &str) -> (Node, Value) {
    json::parse(text, false).unwrap()
}

fn without_ours(text: &str) -> Result<Value, Refused> {
    listed::without_ours(text, &HOSTS[0])
}

fn uninstall(text: &str) -> Result<String, Refused> {
    super::uninstall(text, &HOSTS[0]).map(Option::unwrap_or_default)
}

fn find(text: &str) -> Result<Vec<FoundHooks>, Refused> {
    super::find(text, &HOSTS[0])
}

fn program(path: &str) -> Program {
    Program { path: path.to_owned(), vault: None }
}

fn with(text: &str) -> String {
    install(text, &HOSTS[0], &program("/opt/cru")).unwrap()
}

const PERSON: &str = r#"{
    "model": "opus",
    "hooks": {
        "PostToolUse": [
            { "matcher": "Edit|Write", "hooks": [{"type": "command", "command": "prettier --write"}] }
        ],
        "Stop": []
    },
    "env": {"A":  "1"}
}
"#;

#[test]
fn a_new_file() {
    let text = with("");
    let (_, value) = parse(&text);
    let events: Vec<_> = value["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, HOSTS[0].installed.iter().map(|row| row.name).collect::<Vec<_>>());
    let first = r#"{
  "hooks": {
    "SessionStart": [{ "hooks": [{ "type": "command", "command": "/opt/cru hook session-start", "timeout": 10 }] }],
    "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "/opt/cru hook prompt", "timeout": 10 }] }],
"#;
    assert!(text.starts_with(first), "{text}");
    assert!(text.ends_with("]\n  }\n}\n"), "{text}");
}

#[test]
fn a_person_s_file_keeps_every_line() {
    let text = with(PERSON);
    let mut rest = text.lines();
    for line in PERSON.lines().filter(|line| !line.contains("\"Stop\": []")) {
        let line = line.trim_end_matches(',');
        assert!(rest.any(|it| it.trim_end_matches(',') == line), "{line} is gone from\n{text}");
    }
    assert!(text.contains("            { \"matcher\": \"Edit|Write\", \"hooks\": [{\"type\": \"command\", \"command\": \"prettier --write\"}] },\n            { \"hooks\": ["));
    assert_eq!(with(&text), text, "a second time changes no byte");
    let removed = uninstall(&text).unwrap();
    assert_eq!(removed, PERSON.replace("        ],\n        \"Stop\": []\n", "        ]\n"));
}

#[test]
fn older_ones_are_renewed_where_they_stand() {
    let old = r#"{"hooks": {"Stop": [{"hooks": [
        {"type": "command", "timeout": 3, "command": "/old/place/cru hook stop", "args": ["--vault", "/v"]},
        {"type": "command", "command": "mine"},
        {"type": "command", "command": "cru hook stop"}]}],
      "Notification": [{"hooks": [{"command": "cru hook notification"}]}]}}"#;
    let text = with(old);
    let (_, value) = parse(&text);
    assert_eq!(
        value["hooks"]["Stop"],
        json!([{"hooks": [
            {"type": "command", "timeout": 3, "command": "/opt/cru hook stop"},
            {"type": "command", "command": "mine"}
        ]}])
    );
    assert_eq!(value["hooks"]["Notification"][0]["hooks"][0]["command"], "/opt/cru hook notification");
    assert_eq!(find(&text).unwrap().len(), HOSTS[0].installed.len() + 1);
    let left = uninstall(&text).unwrap();
    assert_eq!(parse(&left).1, json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}));
}

#[test]
fn what_cannot_be_edited_is_refused_with_its_place() {
    let refused = |text: &str| {
        let refused = install(text, &HOSTS[0], &program("cru")).unwrap_err();
        let (line, column) = refused.place.unwrap();
        format!("{line}:{column} {}", refused.message)
    };
    assert_eq!(refused("{\n  \"a\": 1,\n}"), "3:1 trailing comma at line 3 column 1");
    assert_eq!(refused("\n [1]"), "2:2 this is no JSON object");
    assert_eq!(refused("{\"a\":1,\n \"hooks\": []}"), "2:11 `hooks` is no object");
    assert_eq!(refused("{\"hooks\": {\"Stop\": {}}}"), "1:20 `Stop` is no list");
    assert!(refused("// mine\n{}").starts_with("1:1 expected value"));
}

/// Settings as people and programs write them.
fn settings() -> impl Strategy<Value = Value> {
    let command = prop_oneof![
        "[a-z ]{0,12}",
        Just("/old/cru hook stop".to_owned()),
        Just("cru hook post-tool --vault /v".to_owned()),
        Just("cru hook x | tee y".to_owned()),
    ];
    let handler = prop_oneof![
        command.prop_map(|command| json!({"type": "command", "command": command, "timeout": 5})),
        Just(json!({"type": "prompt", "prompt": "cru hook stop"})),
        Just(json!(null)),
    ];
    let group = prop_oneof![
        proptest::collection::vec(handler, 0..3).prop_map(|hooks| json!({"matcher": "*", "hooks": hooks})),
        Just(json!({"matcher": "Bash"})),
        Just(json!(7)),
    ];
    let name = prop_oneof![
        Just("Stop"),
        Just("PostToolUse"),
        Just("Notification"),
        Just("SessionEnd"),
        Just("Unknown\"Event")
    ];
    let hooks = proptest::collection::btree_map(name, proptest::collection::vec(group, 0..3), 0..4);
    let other = prop_oneof![
        "\\PC{0,8}".prop_map(Value::from),
        any::<i32>().prop_map(|it| Value::from(f64::from(it) / 8.0)),
        proptest::collection::vec("[a-z\"\\\\{}]{0,5}", 0..3).prop_map(Value::from),
        Just(json!({"deep": [{"hooks": {"Stop": []}}, []]})),
    ];
    let others = proptest::collection::vec(("[a-z\\\\\"é]{1,6}", other), 0..4);
    (others, proptest::option::of(hooks), 0..5_usize).prop_map(|(others, hooks, at)| {
        let mut map = Map::new();
        for (index, (key, value)) in others.into_iter().enumerate() {
            if index == at
                && let Some(hooks) = &hooks
            {
                map.insert(HOOKS.to_owned(), json!(hooks));
            }
            map.insert(key, value);
        }
        if let Some(hooks) = &hooks {
            map.insert(HOOKS.to_owned(), json!(hooks));
        }
        Value::Object(map)
    })
}

/// A value in one of several layouts.
fn layout(value: &Value, which: u8) -> String {
    match which {
        0 => value.to_string(),
        1 => format!("{value:#}\n"),
        2 => format!("{value:#}").replace('\n', "\r\n"),
        3 => {
            let tabbed = |line: &str| {
                let text = line.trim_start_matches(' ');
                format!("\n{}{text}", "\t".repeat((line.len() - text.len()) / 2))
            };
            format!("{value:#}").lines().map(tabbed).collect()
        }
        _ => format!("{value:#}").lines().map(|line| format!("{line} ")).collect::<Vec<_>>().join("\n\n"),
    }
}

fn has_ours(value: &Value) -> bool {
    !find_in(value).is_empty()
}

/// Whether there is an empty list where ours would be put, which goes with them.
fn has_empty(value: &Value) -> bool {
    let Some(hooks) = value.get(HOOKS).and_then(Value::as_object) else { return value == &json!({}) };
    hooks.is_empty() || hooks.values().any(|groups| groups == &json!([]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn installing_changes_nothing_but_ours(value in settings(), which in 0..5_u8) {
        let text = layout(&value, which);
        let installed = with(&text);
        let now = parse(&installed).1;
        prop_assert_eq!(without_ours(&installed).unwrap(), without_ours(&text).unwrap());
        for row in &HOSTS[0].installed {
            let calls = find_in(&now).into_iter().filter(|found| found.name == row.name).count();
            prop_assert_eq!(calls, 1, "{}", row.name);
        }
        for (key, old) in value.as_object().unwrap().iter().filter(|(key, _)| *key != HOOKS) {
            prop_assert_eq!(&now[key], old);
        }
        prop_assert_eq!(with(&installed), installed.clone());
        // And back.
        let removed = uninstall(&installed).unwrap();
        prop_assert!(!has_ours(&parse(&removed).1));
        prop_assert_eq!(without_ours(&removed).unwrap(), without_ours(&text).unwrap());
        if !has_ours(&value) && !has_empty(&value) {
            prop_assert_eq!(removed, text);
        }
    }

    #[test]
    fn places_are_found_in_any_json(value in settings(), which in 0..5_u8) {
        let text = layout(&value, which);
        let (root, read) = parse(&text);
        prop_assert_eq!(&read, &value);
        fn same(text: &str, node: &Node, value: &Value) -> bool {
            let here: Value = serde_json::from_str(&text[node.span.clone()]).unwrap();
            here == *value
                && match (&node.kind, value) {
                    (json::JsonKind::Object(members), Value::Object(map)) => {
                        members.len() == map.len() && members.iter().all(|it| same(text, &it.value, &map[&it.key]))
                    }
                    (json::JsonKind::Array(items), Value::Array(list)) => {
                        items.len() == list.len() && items.iter().zip(list).all(|(item, value)| same(text, item, value))
                    }
                    (json::JsonKind::Scalar, value) => !value.is_object() && !value.is_array(),
                    _ => false,
                }
        }
        prop_assert!(same(&text, &root, &value));
    }
}

#[test]
fn hooks_of_every_host_come_and_go_without_a_trace() {
    for host in &HOSTS {
        let program = program("/opt/my tools/cru");
        let text = match host.settings.layout {
            HookLayout::Rows => {
                "# mine\ntheme = \"dark\" # of course\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\n"
            }
            HookLayout::Script(_) => "",
            _ if host.settings.comments => "// mine\n{\n  \"theme\": \"dark\", // of course\n}\n",
            _ => "{\n  \"theme\": \"dark\"\n}\n",
        };
        let installed = install(text, host, &program).unwrap();
        assert_eq!(install(&installed, host, &program).unwrap(), installed, "{}", host.id);
        let found = super::find(&installed, host).unwrap();
        let names: Vec<_> = found.iter().map(|found| found.name.as_str()).collect();
        let wanted: Vec<_> = host.installed.iter().map(|row| row.name).collect();
        assert_eq!(names, wanted, "{}", host.id);
        for found in &found {
            let row = host.rows().find(|row| row.name == found.name).unwrap();
            assert!(found.ours.is(&program, host, row), "{}: {found:?}", host.id);
        }
        let other = Program { path: "cru".to_owned(), vault: Some("/v".to_owned()) };
        let renewed = install(&installed, host, &other).unwrap();
        assert!(super::find(&renewed, host).unwrap().iter().all(|found| found.ours.program == other), "{renewed}");
        let left = super::uninstall(&installed, host).unwrap().unwrap_or_default();
        let version = if matches!(host.settings.layout, HookLayout::Flat { .. }) { ",\n  \"version\": 1" } else { "" };
        assert_eq!(left.replace(version, ""), text, "{}", host.id);
        let fresh = install("", host, &program).unwrap();
        if host.settings.own {
            assert_eq!(super::uninstall(&fresh, host).unwrap(), None, "{}", host.id);
        }
    }
    let script = HOSTS.iter().find(|host| matches!(host.settings.layout, HookLayout::Script(_))).unwrap();
    assert!(install("export default 1\n", script, &program("cru")).unwrap_err().message.contains("not written by cru"));
}
