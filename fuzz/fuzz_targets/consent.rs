//! Any text as a command of a note: it is decided, and what is allowed is words that the rules name.

#![cfg_attr(fuzzing, no_main)]

use cru::trace::RunFolder;
use cru::trace::consent::{Consent, ConsentRules, Start};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (rules, _) = ConsentRules::new(&["cargo test *".to_owned(), "cat *".to_owned()]);
    let names = vec!["/home/ann/code".to_owned(), "~/code".to_owned()];
    let project = RunFolder { path: "/home/ann/code".into(), names, is_known: true, ..RunFolder::default() };
    let decided = rules.decide(text, &project);
    if let Consent::Allowed(command) = &decided {
        let (start, folder) = command.in_folder(&project.path).expect("a plain command runs anywhere");
        let Start::Words(words) = start else { panic!("{text:?} needs a shell and is allowed") };
        assert!(words[0] == "cat" || words[..2] == ["cargo", "test"], "{text:?}");
        assert!(folder.starts_with(&project.path), "{text:?}");
    }
    let is_odd = text.chars().any(|c| !c.is_ascii() && c.is_whitespace());
    if is_odd || text.contains("$(") && !text.contains(['\'', '\\']) {
        assert!(matches!(decided, Consent::ByHand(_)), "{text:?}");
    }
});
