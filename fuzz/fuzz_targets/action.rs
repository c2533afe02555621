//! Any text as a shell call with any output, and as a patch: ranges lie in the text, and a verdict cites a line of the
//! output.

#![cfg_attr(fuzzing, no_main)]

use cru::action::shell::{Dialect, Script};
use cru::action::{Action, CallEnd, patch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, i8)| {
    let (text, output, exit) = input;
    for dialect in [Dialect::Posix, Dialect::PowerShell, Dialect::Cmd] {
        let script = Script::read_as(text, dialect);
        for command in &script.commands {
            assert!(text.get(command.range.clone()).is_some(), "{command:?}");
            assert!(command.words.iter().all(|word| text.get(word.range.clone()).is_some()), "{command:?}");
        }
    }
    let action = Action::of("Bash", text);
    let _ = (action.class(), action.is_read_only(), action.checks().count(), action.writes().len());
    let end = CallEnd { output, exit: (exit >= 0).then(|| i32::from(exit)), failed: exit > 0, has_status: exit >= 0 };
    if let Some(decision) = action.decide(&end) {
        assert!(decision.evidence.is_none_or(|line| output.get(line).is_some()), "{text:?} {output:?}");
    }
    for file in patch::read(text) {
        let lines = text.lines().count();
        assert!(file.lines().count() <= lines && file.added().count() <= lines && file.path().len() <= text.len());
    }
});
