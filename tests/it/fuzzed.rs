//! The fuzz targets over what is kept in `fuzz/corpus`, and over bytes of chance: what a fuzzer found once is tried each time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

mod target {
    /// What `libfuzzer_sys` has by this name, for a test: the function that the fuzzer calls.
    #[macro_export]
    macro_rules! fuzz_target {
        (|$input:ident: $kind:ty| $body:block) => {
            pub(super) fn run(bytes: &[u8]) {
                let try_it = |$input: $kind| $body;
                if let Ok(input) =
                    <$kind as arbitrary::Arbitrary>::arbitrary_take_rest(arbitrary::Unstructured::new(bytes))
                {
                    try_it(input);
                }
            }
        };
    }
}

#[path = "../../fuzz/fuzz_targets/action.rs"]
mod action;
#[path = "../../fuzz/fuzz_targets/consent.rs"]
mod consent;
#[path = "../../fuzz/fuzz_targets/edit.rs"]
mod edit;
#[path = "../../fuzz/fuzz_targets/entry.rs"]
mod entry;
#[path = "../../fuzz/fuzz_targets/frontmatter.rs"]
mod frontmatter;
#[path = "../../fuzz/fuzz_targets/hook.rs"]
mod hook;
#[path = "../../fuzz/fuzz_targets/journal.rs"]
mod journal;
#[path = "../../fuzz/fuzz_targets/note.rs"]
mod note;
#[path = "../../fuzz/fuzz_targets/ops.rs"]
mod ops;
#[path = "../../fuzz/fuzz_targets/query.rs"]
mod query;
#[path = "../../fuzz/fuzz_targets/reading.rs"]
mod reading;
#[path = "../../fuzz/fuzz_targets/settings.rs"]
mod settings;
#[path = "../../fuzz/fuzz_targets/workflow.rs"]
mod workflow;

/// What a fuzzer calls.
type Run = fn(&[u8]);

const TARGETS: &[(&str, Run)] = &[
    ("action", action::run),
    ("consent", consent::run),
    ("edit", edit::run),
    ("entry", entry::run),
    ("frontmatter", frontmatter::run),
    ("hook", hook::run),
    ("journal", journal::run),
    ("note", note::run),
    ("ops", ops::run),
    ("query", query::run),
    ("reading", reading::run),
    ("settings", settings::run),
    ("workflow", workflow::run),
];

#[test]
fn every_target_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert_eq!(names, TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn what_was_found_holds() {
    let mut tried = 0;
    for (name, run) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let held = catch_unwind(AssertUnwindSafe(|| run(&bytes)));
            assert!(held.is_ok(), "{} fails", path.display());
            tried += 1;
        }
    }
    assert!(tried >= TARGETS.len(), "{tried}");
}

#[test]
fn bytes_of_chance_hold() {
    for (name, run) in TARGETS {
        let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
        let held = runner.run(&proptest::collection::vec(any::<u8>(), 0..400), |bytes| {
            run(&bytes);
            Ok(())
        });
        assert!(held.is_ok(), "{name}: {held:?}");
    }
}
