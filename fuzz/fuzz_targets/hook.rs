//! Any bytes on the stdin of a hook: what is kept is one line that reads back, and no name of it becomes a path.

#![cfg_attr(fuzzing, no_main)]

use cru::live::hook::{HOSTS, HookEntry, Input};
use cru::vault::state::key;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], u8)| {
    let (bytes, which) = input;
    let text = match which {
        0..=63 => bytes.to_vec(),
        64..=127 => [br#"{"session_id":"s","tool_input":"#, bytes, b"}"].concat(),
        128..=191 => [br#"{"hook_event_name":"PostToolUse","session_id":""#, bytes, br#""}"#].concat(),
        _ => {
            [br#"{"session_id":1,"tool_name":"Read","tool_input":{"file_path":"x"},"tool_response":""#, bytes, br#""}"#]
                .concat()
        }
    };
    for host in HOSTS.iter() {
        let Ok(input) = Input::read(&text) else { return };
        if let Some(session) = input.session() {
            let key = key(&session);
            assert!(!key.is_empty() && !key.starts_with('.') && key.len() < 200, "{key:?}");
            assert!(!key.contains(['/', '\\', ':', '\0']), "{key:?}");
        }
        assert!(input.cwd().is_none_or(|cwd| cwd.is_absolute()));
        let row = &host.rows[usize::from(which) % host.rows.len()];
        let event = input.event(host).unwrap_or(row.event);
        let entry = HookEntry::new(host, event, input);
        assert_eq!(entry.event(), Some(event));
        let line = serde_json::to_string(&entry).expect("JSON");
        assert!(!line.contains(['\n', '\r']));
        let back: HookEntry = serde_json::from_str(&line).expect("what was written");
        assert_eq!(serde_json::to_string(&back).expect("JSON"), line);
    }
});
