//! Any text as a command of a note: it is decided, and no text that names the network's programs is ever allowed.

#![no_main]

use cru::trace::consent::{Consent, ConsentRules};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let rules = ConsentRules::new(&["cargo test*".to_owned(), "*".to_owned()]);
    let decided = rules.decide(text, &["~/code", "/home/ann/code"]);
    if text.chars().any(|c| !c.is_ascii() && c.is_whitespace()) || text.contains("$(") || text.contains('`') {
        assert!(matches!(decided, Consent::ByHand(_)), "{text:?}");
    }
});
