use proptest::prelude::*;

use super::*;

const FORMATS: [SettingsFormat; 3] = [SettingsFormat::Json, SettingsFormat::JsonWithComments, SettingsFormat::Toml];

fn server(command: &str) -> Map<String, Value> {
    let Value::Object(fields) = json!({"command": command, "args": ["mcp", "--write"]}) else { panic!("an object") };
    fields
}

const PATH: [&str; 2] = ["servers", "cru"];

#[test]
fn an_entry_comes_and_goes_and_the_rest_keeps_its_bytes() {
    let texts = [
        (
            SettingsFormat::Json,
            "{\n  \"model\": \"opus\",\n  \"servers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n",
        ),
        (SettingsFormat::JsonWithComments, "// mine\n{\n\t\"servers\": {\n\t\t\"a\": 1, // one\n\t},\n}\n"),
        (SettingsFormat::JsonWithComments, "{\"a\": 1 /* one */}"),
        (SettingsFormat::Toml, "# mine\nmodel = \"o3\" # fast\n\n[servers.a]\ncommand = \"x\"\n\n[tui]\nx = 1\n"),
        (SettingsFormat::Toml, "model = 'o3'\r\n\r\n[tui] # of the terminal\r\nx = 1\r\n"),
        (SettingsFormat::Toml, "[servers]\na = { command = \"x\" }\n"),
    ];
    for (format, text) in texts {
        let more = put(text, format, &PATH, &server("/opt/cru")).unwrap();
        assert_eq!(find(&more, format, &PATH).unwrap().unwrap()["command"], "/opt/cru", "{more}");
        assert_eq!(put(&more, format, &PATH, &server("/opt/cru")).unwrap(), more, "a second time changes nothing");
        let renewed = put(&more, format, &PATH, &server("cru")).unwrap();
        assert_eq!(renewed, more.replace("/opt/cru", "cru"));
        assert_eq!(take(&more, format, &PATH).unwrap(), text, "{more}");
        assert_eq!(take(text, format, &PATH).unwrap(), text);
    }
    for format in FORMATS {
        for text in ["", "\n"] {
            let more = put(text, format, &PATH, &server("cru")).unwrap();
            assert_eq!(read(&take(&more, format, &PATH).unwrap(), format).unwrap(), json!({}));
        }
    }
}

#[test]
fn what_a_person_added_to_the_entry_stays() {
    let text = "[servers.cru]\ncommand = \"old\" # mine\nenv = { A = \"1\" }\n";
    let new = put(text, SettingsFormat::Toml, &PATH, &server("cru")).unwrap();
    assert!(new.contains("env = { A = \"1\" }") && new.contains("command = \"cru\""), "{new}");
    let text = "{\"servers\": {\"cru\": {\"command\": \"old\", \"env\": {\"A\": \"1\"}}}}";
    let new = put(text, SettingsFormat::Json, &PATH, &server("cru")).unwrap();
    assert_eq!(
        new,
        "{\"servers\": {\"cru\": {\"command\": \"cru\", \"env\": {\"A\": \"1\"}, \"args\":[\"mcp\",\"--write\"]}}}"
    );
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let refused = |text: &str, format| put(text, format, &PATH, &server("cru")).unwrap_err();
    assert_eq!(refused("{\"servers\": []}", SettingsFormat::Json).message, "`servers` is no object");
    assert_eq!(refused("{\"servers\": {\"cru\": 1}}", SettingsFormat::Json).message, "`servers.cru` is no object");
    assert_eq!(refused("servers = 1\n", SettingsFormat::Toml).message, "`servers` is no table");
    assert_eq!(refused("a = \n", SettingsFormat::Toml).place, Some((1, 5)));
    assert!(refused("a = 1\r\nb = 2\n", SettingsFormat::Toml).message.contains("CRLF"));
    assert_eq!(refused("[1]", SettingsFormat::JsonWithComments).message, "this is no JSON object");
}

#[test]
fn rare_forms_are_given_back_to_the_byte_or_refused() {
    let jsonc = [
        "\u{feff}{\r\n  // mine\r\n  \"a\": 1, // one\r\n}\r\n",
        "{\"servers\": {\"a\": 1 /* one */, /* two */ }, /* end */ } // after",
        "{\n  \"servers\": {\n    // of a\n    \"a\": {}, // behind a\n    // at the end\n  }, // behind\n  /* last */\n}",
        "{\n  \"servers\": {\n    \"a\": {}\n    // at the end\n  }\n}",
        "{\"servers\": {}, \"servers\": {\"a\": 1}}",
        "{\"servers\": {\"a\": 1, \"a\": 2}}\n",
        "{\"servers\":{}}",
        "{\n\t\"servers\": {\n\t}\n}",
        "// only\n{ }\n// words",
        "{\n  \"x\": [\n    1, // one\n    2,\n  ],\n}",
        "{ \"servers\"\n:\n{ \"a\"\n: 1\n,\n} }",
    ];
    let toml = [
        "\u{feff}a = 1\r\n",
        "servers.a.command = \"x\"\n",
        "servers.a.command = \"x\"\n\n[tui] # t\nx = 1",
        "servers = { a = { command = \"x\" } } # all\nb = 1\n",
        "servers = {}\n",
        "[servers]\n# none yet\n\n[tui]\nx = 1 # one\n# end",
        "[servers.a]\ncommand = \"x\"\n[servers.a.env]\nK = \"1\"\n\n\n# far below\n",
        "# head\n\n[[list]]\na = 1\n\n[[list]]\na = 2 # two\n",
        "\"servers\".'a' = { x = [1, # one\n 2] }\n",
        "a = 1",
        "# only words",
    ];
    let rows = jsonc.map(|text| (SettingsFormat::JsonWithComments, text));
    for (format, text) in rows.into_iter().chain(toml.map(|text| (SettingsFormat::Toml, text))) {
        let Ok(more) = put(text, format, &PATH, &server("/opt/cru")) else { continue };
        assert_eq!(find(&more, format, &PATH).unwrap().unwrap()["command"], "/opt/cru", "{more}");
        assert_eq!(more.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        match take(&more, format, &PATH) {
            Ok(less) => assert_eq!(less, text, "{more}"),
            Err(refused) => panic!("{text}: {refused:?}"),
        }
    }
}

/// Texts of JSON with comments in all places.
fn commented() -> impl Strategy<Value = String> {
    let blank = prop_oneof![
        Just(""),
        Just(" "),
        Just("\n"),
        Just("\n\t"),
        Just(" // a, \"b\": {\n"),
        Just("/* } */"),
        Just("\r\n  ")
    ];
    let scalar = prop_oneof![Just("1"), Just("\"//\""), Just("null"), Just("[1,\n2 // x\n]"), Just("{}")];
    let member = (blank.clone(), "[a-c]{1,2}", blank.clone(), scalar, blank.clone());
    (proptest::collection::vec(member, 0..5), blank.clone(), blank, any::<bool>(), any::<bool>()).prop_map(
        |(members, head, tail, nested, comma)| {
            let members: Vec<_> =
                members.iter().map(|(a, key, b, value, c)| format!("{a}\"{key}\":{b}{value}{c}")).collect();
            let end = if comma && !members.is_empty() { "," } else { "" };
            let inner = format!("{{{}{end}{tail}}}", members.join(","));
            if nested { format!("{head}{{\"servers\":{inner}}}") } else { format!("{head}{inner}") }
        },
    )
}

proptest! {
    #[test]
    fn edits_change_nothing_else(text in commented()) {
        let format = SettingsFormat::JsonWithComments;
        let comments = |text: &str| text.matches("// a").count() + text.matches("/* } */").count() + text.matches("// x").count();
        let before = read(&text, format).unwrap();
        let more = put(&text, format, &PATH, &server("cru")).unwrap();
        prop_assert_eq!(comments(&more), comments(&text), "{}", more);
        let found = find(&more, format, &PATH).unwrap().unwrap();
        prop_assert_eq!(&found["command"], "cru");
        let less = take(&more, format, &PATH).unwrap();
        prop_assert_eq!(find(&less, format, &PATH).unwrap(), None);
        let mut wanted = before;
        forget(&mut wanted, &PATH);
        prop_assert_eq!(read(&less, format).unwrap(), wanted);
    }

    #[test]
    fn any_text_is_refused_or_edited(text in "\\PC{0,40}") {
        for format in FORMATS {
            let _ = put(&text, format, &PATH, &server("cru"));
            let _ = take(&text, format, &PATH);
        }
    }
}
