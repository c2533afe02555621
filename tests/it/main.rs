//! The one integration test program. `every_file_is_a_module` finds a file of this folder that is not named here and so
//! would never run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::inconsistent_struct_constructor,
    reason = "a test stops where something is not as it must be, and prints what it counted"
)]

mod agents;
mod agents_real;
mod away;
mod cases;
mod cmd;
mod codex;
mod corpus;
mod crowd;
mod detail;
mod difference;
mod everyday;
mod evidence;
mod findable;
mod flow_key;
mod format;
mod format_doc;
mod frontmatter;
mod gemini;
mod generated;
mod grown_edited;
mod growth;
mod hooked;
mod hooks;
mod huge;
mod import;
mod importing;
mod index_crowd;
mod index_fresh;
mod kill;
mod layers;
mod learn;
mod live;
mod opencode;
mod pi;
mod planted;
mod relevance;
mod replay;
mod resume;
mod rewritten;
mod search;
mod secrets;
mod seeds;
mod shared;
mod toon;
mod transcript_set;
mod transcripts;
mod unreadable;
mod verdicts;
mod workflows;
mod writing;

#[path = "../../examples/gen_vault/generate/mod.rs"]
#[allow(dead_code, reason = "shared with an example and a bench, each of which uses a part")]
mod generate;

#[test]
fn every_file_is_a_module() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = include_str!("main.rs");
    let mut seen = 0;
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix(".rs") else { continue };
        if stem != "main" {
            assert!(main.contains(&format!("mod {stem};")), "tests/it/{name} is not a module of tests/it/main.rs");
            seen += 1;
        }
    }
    assert!(seen > 0);
}
