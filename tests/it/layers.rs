//! Who alone may touch the world. Which crate may use which, the compiler holds.

use std::fs;
use std::path::Path;

use crate::source;

#[test]
fn only_one_place_touches_the_world() {
    // What to look for, and the files (or folders) that may hold it.
    let rules: &[(&str, &[&str])] = &[
        ("println!(", &["src/cli/"]),
        ("print!(", &["src/cli/"]),
        ("io::stdout", &["src/cli/"]),
        ("io::stderr", &["src/cli/"]),
        ("fs::write(", &["crates/cru-base/src/files"]),
        ("File::create", &["crates/cru-base/src/files"]),
        ("OpenOptions", &["crates/cru-base/src/files"]),
        ("fs::rename", &["crates/cru-base/src/files"]),
        ("fs::remove_", &["crates/cru-base/src/files"]),
        ("create_dir", &["crates/cru-base/src/files", "crates/cru-vault/src/scaffold.rs"]),
        ("env::var", &["crates/cru-base/src/env.rs"]),
        ("env::current_dir", &["crates/cru-base/src/env.rs"]),
        ("SystemTime::now", &["crates/cru-base/src/env.rs"]),
        ("Timestamp::now", &["crates/cru-base/src/env.rs"]),
        ("process::Command", &["src/cli/"]),
        ("tantivy", &["crates/cru-index/"]),
    ];
    let mut wrong = Vec::new();
    for file in source::files() {
        for line in file.lines() {
            for (word, homes) in rules {
                let uses_ours = line.contains("files::create_dir");
                if line.contains(word) && !uses_ours && !homes.iter().any(|home| file.path.starts_with(home)) {
                    wrong.push(format!("{}: {}", file.path, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_crate_says_what_it_owns() {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap() {
        let path = entry.unwrap().path().join("src/lib.rs");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//! "), "{} has no crate documentation", path.display());
    }
}
