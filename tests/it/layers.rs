//! Who alone may touch the world. Which crate may use which, the compiler holds.

use std::fs;
use std::path::{Path, PathBuf};

/// Path below the root of the repository, and code without tests, of each source file.
fn sources() -> Vec<(PathBuf, String)> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["src", "crates"] {
        walk(&root.join(folder), &mut found);
    }
    // A build script is no part of the program.
    found.retain(|path| path.file_name().is_none_or(|name| name != "build.rs"));
    // Files of tests may build and read what they need, and examples are programs of their own.
    let is_aside =
        |part: std::path::Component<'_>| ["tests", "tests.rs", "examples"].iter().any(|name| part.as_os_str() == *name);
    found.retain(|path| !path.components().any(is_aside));
    found.sort();
    let source = |path: PathBuf| {
        let relative = path.strip_prefix(root).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        // Tests may build what they need from anywhere.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        (relative.to_owned(), code)
    };
    found.into_iter().map(source).collect()
}

/// Code lines without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).filter(|line| !line.trim().is_empty())
}

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
    for (path, text) in sources() {
        let path = path.to_str().unwrap().replace('\\', "/");
        for line in code(&text) {
            for (word, homes) in rules {
                let uses_ours = line.contains("files::create_dir");
                if line.contains(word) && !uses_ours && !homes.iter().any(|home| path.starts_with(home)) {
                    wrong.push(format!("{path}: {}", line.trim()));
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
