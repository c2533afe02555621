//! Any settings of a host: our hooks come and go, and everything else stays, byte for byte.

#![cfg_attr(fuzzing, no_main)]

use cru::commands::fuzz_settings;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: (&str, &str, u8)| {
    let (one, two, which) = input;
    let text = match which % 4 {
        0 => one.to_owned(),
        1 => format!("{{{one}\"hooks\": {two}}}"),
        2 => format!("{{\"hooks\": {{\"Stop\": [{one}]}}{two}}}"),
        _ => format!("{{\"hooks\":{{{one}}}, \"a\": {two}}}"),
    };
    let Ok(edited) = fuzz_settings(&text) else { return };
    let read = |text: &str| {
        if text.trim().is_empty() {
            Value::Object(serde_json::Map::default())
        } else {
            serde_json::from_str(text).expect("JSON")
        }
    };
    let [old, installed, removed] = [&text, &edited.installed, &edited.removed].map(|text| read(text));
    for new in [&installed, &removed] {
        for (key, value) in old.as_object().expect("an object").iter().filter(|(key, _)| *key != "hooks") {
            assert_eq!(new.get(key), Some(value));
        }
    }
    assert_eq!(edited.again, edited.installed, "a second time changes nothing");
    if edited.is_clean {
        assert_eq!(edited.removed, text);
    }
});
