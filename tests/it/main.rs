//! The one integration test program. `every_file_is_a_module` finds a file of this folder that is not named here and so
//! would never run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::case_sensitive_file_extension_comparisons,
    clippy::inconsistent_struct_constructor,
    reason = "a test stops where something is not as it must be, and prints what it counted"
)]

// The fuzz targets take their macro from there.
extern crate self as libfuzzer_sys;

mod cmd;
mod corpus;
mod everyday;
mod fuzzed;
mod layers;
mod one_build;
mod size;
mod small_vault;
mod source;
mod transcript_set;

#[cfg(unix)]
mod hostile {
    pub(crate) mod cache;
    pub(crate) mod links;
    pub(crate) mod odd;
}
mod importers {
    pub(crate) mod agents;
    pub(crate) mod agents_real;
    pub(crate) mod codex;
    pub(crate) mod gemini;
    pub(crate) mod newer;
    pub(crate) mod odd_text;
    pub(crate) mod opencode;
    pub(crate) mod pi;
    pub(crate) mod seeds;
    mod stored;
}
mod imports {
    pub(crate) mod again;
    pub(crate) mod anchors;
    pub(crate) mod detail;
    pub(crate) mod evidence;
    pub(crate) mod generated;
    pub(crate) mod grown_edited;
    pub(crate) mod growth;
    pub(crate) mod huge;
    pub(crate) mod import;
    pub(crate) mod importing;
    #[cfg(unix)]
    mod memories;
    pub(crate) mod rewritten;
    pub(crate) mod seals;
    pub(crate) mod shared;
    pub(crate) mod transcripts;
    pub(crate) mod unreadable;
}
mod making {
    pub(crate) mod briefs;
    pub(crate) mod cases;
    pub(crate) mod flow_key;
    pub(crate) mod hand_written;
    pub(crate) mod learn;
    pub(crate) mod read_sessions;
    pub(crate) mod readings;
    pub(crate) mod said;
    pub(crate) mod secrets;
    pub(crate) mod skill_hosts;
    pub(crate) mod verdicts;
    pub(crate) mod workflows;
}
mod memory {
    pub(crate) mod checkpoints;
    #[cfg(unix)]
    pub(crate) mod crashes;
    pub(crate) mod lessons;
    pub(crate) mod prune;
    pub(crate) mod review;
    pub(crate) mod risks;
    pub(crate) mod undone;
    pub(crate) mod week;
    mod world;
}
mod notes {
    pub(crate) mod browser;
    pub(crate) mod chromium;
    pub(crate) mod format;
    pub(crate) mod format_doc;
    pub(crate) mod frontmatter;
    pub(crate) mod links;
    pub(crate) mod obsidian;
    #[cfg(unix)]
    mod picker;
    pub(crate) mod regions;
    pub(crate) mod toon;
    pub(crate) mod view;
}
mod running {
    pub(crate) mod away;
    pub(crate) mod care;
    pub(crate) mod crowd;
    pub(crate) mod day;
    pub(crate) mod earlier;
    pub(crate) mod hooked;
    pub(crate) mod hooks;
    pub(crate) mod host_settings;
    pub(crate) mod kept_back;
    pub(crate) mod kill;
    pub(crate) mod live;
    pub(crate) mod mcp;
    pub(crate) mod mcp_limits;
    pub(crate) mod newcomer;
    pub(crate) mod replay;
    pub(crate) mod resume;
    pub(crate) mod summary;
    pub(crate) mod templates;
    mod writers;
    pub(crate) mod writing;
}
mod searching {
    pub(crate) mod difference;
    pub(crate) mod findable;
    pub(crate) mod index_crowd;
    pub(crate) mod index_fresh;
    pub(crate) mod planted;
    pub(crate) mod private;
    pub(crate) mod relevance;
    pub(crate) mod search;
}
mod tracing {
    pub(crate) mod claims;
    pub(crate) mod consent;
    pub(crate) mod refs;
    pub(crate) mod replay;
    pub(crate) mod repositories;
    pub(crate) mod run;
    pub(crate) mod shells;
    pub(crate) mod verify;
    pub(crate) mod why;
    mod world;
}

#[path = "../../examples/gen_vault/generate/mod.rs"]
#[allow(dead_code, reason = "shared with an example and a bench, each of which uses a part")]
mod generate;

#[test]
fn every_file_is_a_module() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = include_str!("main.rs");
    let mut seen = 0;
    for file in ignore::WalkBuilder::new(&here).max_depth(Some(2)).build().flatten() {
        let path = file.path();
        let folder = path.parent().unwrap();
        // A folder with a module file names its own files.
        if path.extension().is_none_or(|end| end != "rs") || folder.join("mod.rs").exists() {
            continue;
        }
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if stem != "main" {
            assert!(main.contains(&format!("mod {stem};")), "{} is not a module of tests/it/main.rs", path.display());
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}
