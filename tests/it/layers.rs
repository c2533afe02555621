//! The layers of `docs/architecture.md`: who may import whom, and who alone may touch the world.

use std::fs;
use std::path::{Path, PathBuf};

/// Folder of `src/`, and the folders of ours that it may name.
const LAYERS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("note", &["base"]),
    ("session", &["base", "note"]),
    ("vault", &["base", "note", "session"]),
    ("graph", &["base", "note", "session", "vault"]),
    ("index", &["base", "note", "session", "vault", "graph"]),
    ("import", &["base", "session"]),
    ("workflow", &["base", "note", "session", "graph"]),
    ("learn", &["base", "session", "graph", "index"]),
    ("live", &["base", "note", "session", "vault"]),
    ("commands", &["base", "note", "session", "vault", "graph", "index", "import", "workflow", "learn", "live"]),
    ("cli", &["base", "commands"]),
];

fn sources() -> Vec<(String, PathBuf, String)> {
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
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&src, &mut found);
    // Files of tests may build and read what they need.
    found.retain(|path| !path.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs"));
    found.sort();
    let source = |path: PathBuf| {
        let relative = path.strip_prefix(&src).unwrap();
        let folder = relative.components().next().unwrap().as_os_str().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        // Tests may build what they need from anywhere.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        (folder, relative.to_owned(), code)
    };
    found.into_iter().map(source).collect()
}

/// Code lines without comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).filter(|line| !line.trim().is_empty())
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (folder, path, text) in sources() {
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == folder) else {
            assert!(path.components().count() == 1, "src/{folder} is not in the table of layers");
            continue;
        };
        for line in code(&text) {
            for (at, _) in line.match_indices("crate::") {
                let name: String = line[at + 7..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                if LAYERS.iter().any(|(layer, _)| *layer == name) && name != folder && !allowed.contains(&name.as_str())
                {
                    wrong.push(format!("src/{}: {folder} may not import {name}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_one_place_touches_the_world() {
    // What to look for, and the files (or folders) that may hold it.
    let rules: &[(&str, &[&str])] = &[
        ("println!(", &["cli/"]),
        ("print!(", &["cli/"]),
        ("io::stdout", &["cli/"]),
        ("io::stderr", &["cli/"]),
        ("fs::write(", &["base/files"]),
        ("File::create", &["base/files"]),
        ("OpenOptions", &["base/files"]),
        ("fs::rename", &["base/files"]),
        ("fs::remove_", &["base/files"]),
        ("create_dir", &["base/files", "vault/scaffold.rs"]),
        ("env::var", &["base/env.rs"]),
        ("env::current_dir", &["base/env.rs"]),
        ("SystemTime::now", &["base/env.rs"]),
        ("Timestamp::now", &["base/env.rs"]),
        ("process::Command", &["cli/"]),
        ("tantivy", &["index/"]),
    ];
    let mut wrong = Vec::new();
    for (_, path, text) in sources() {
        let path = path.to_str().unwrap().replace('\\', "/");
        for line in code(&text) {
            for (word, homes) in rules {
                let uses_ours = line.contains("files::create_dir");
                if line.contains(word) && !uses_ours && !homes.iter().any(|home| path.starts_with(home)) {
                    wrong.push(format!("src/{path}: {}", line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_says_what_it_owns() {
    for (folder, _) in LAYERS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("mod.rs");
        if let Ok(text) = fs::read_to_string(&path) {
            assert!(text.starts_with("//! "), "src/{folder}/mod.rs has no module documentation");
        }
    }
}
