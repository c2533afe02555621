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
fn a_byte_order_mark_and_comments_beside_the_entry_stay() {
    for text in [
        "\u{feff}{\r\n  // mine\r\n  \"a\": 1, // one\r\n}\r\n",
        "{\"servers\": {\"a\": 1 /* one */, /* two */ }, /* end */ } // after",
    ] {
        let format = SettingsFormat::JsonWithComments;
        let more = put(text, format, &PATH, &server("/opt/cru")).unwrap();
        assert_eq!(find(&more, format, &PATH).unwrap().unwrap()["command"], "/opt/cru", "{more}");
        assert_eq!(more.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
        assert_eq!(take(&more, format, &PATH).unwrap(), text, "{more}");
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
