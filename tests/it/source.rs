//! The source of the program as the tests of its structure see it: product code alone, without comments and tests.
//!
//! A file is read by a lexer of its own that knows comments, strings and characters: what they hold is no code, and a
//! brace in them ends nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of product code.
pub(crate) struct SourceFile {
    /// Path below the root of the repository, with `/`.
    pub(crate) path: String,
    /// Its code: comments and tests are blank, and the contents of strings are `_`. Lines keep their numbers.
    pub(crate) code: String,
}

impl SourceFile {
    /// Lines that hold code.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.code.lines().filter(|line| !line.trim().is_empty())
    }
}

/// All files of product code, in order: those below `src` of the program and of each crate that are no tests, examples or
/// build scripts.
pub(crate) fn files() -> Vec<SourceFile> {
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
    let is_aside = |part: std::path::Component<'_>| {
        ["tests", "tests.rs", "examples", "build.rs"].iter().any(|it| part.as_os_str() == *it)
    };
    found.retain(|path| !path.components().any(is_aside));
    found.sort();
    let mut tests = BTreeSet::new();
    let mut files = Vec::new();
    for path in found {
        let masked = masked(&fs::read_to_string(&path).unwrap());
        let (code, modules) = without_tests(&masked);
        let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
            Some("lib" | "main" | "mod") => path.parent().unwrap().to_owned(),
            _ => path.with_extension(""),
        };
        tests.extend(modules.iter().flat_map(|name| [folder.join(format!("{name}.rs")), folder.join(name)]));
        files.push((path, code));
    }
    let is_product = |path: &Path| !path.ancestors().any(|path| tests.contains(path));
    let relative = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
    let product = files.into_iter().filter(|(path, _)| is_product(path));
    product.map(|(path, code)| SourceFile { path: relative(&path), code }).collect()
}

/// `text` with comments as blanks and the contents of strings and characters as `_`; line ends stay.
fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (len, mask) = match c {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), ' '),
            '/' if rest.starts_with("/*") => (block_comment(rest), ' '),
            '"' => (string(rest), '_'),
            'r' | 'b' | 'c' if !out.ends_with(|c: char| c.is_alphanumeric() || c == '_') => match raw_string(rest) {
                Some(len) => (len, '_'),
                None => (0, '_'),
            },
            '\'' => (character(rest), '_'),
            _ => (0, '_'),
        };
        if len == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        out.extend(rest[..len].chars().map(|c| if c == '\n' { '\n' } else { mask }));
        rest = &rest[len..];
    }
    out
}

/// Bytes of the comment that `text` begins with; comments stand in each other.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Bytes of the string that `text` begins with, both quotes included.
fn string(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of the raw string, byte string or string of C that `text` begins with.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = text.bytes().take_while(|byte| matches!(byte, b'r' | b'b' | b'c')).count();
    let rest = &text[prefix..];
    let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
    if prefix > 2 || !rest[hashes..].starts_with('"') {
        return None;
    }
    if !text[..prefix].contains('r') {
        return (hashes == 0).then(|| prefix + string(rest));
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let body = prefix + hashes + 1;
    Some(text[body..].find(&end).map_or(text.len(), |at| body + at + end.len()))
}

/// Bytes of the character that `text` begins with; 0 for a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => text[2..].char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(0, |(at, _)| 2 + at + 1),
        Some(_) => chars.next().filter(|(_, c)| *c == '\'').map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

/// Code without the items that are of tests alone, and the names of the modules among these.
fn without_tests(code: &str) -> (String, Vec<String>) {
    const MARK: &str = "#[cfg(test)]";
    let (mut out, mut modules, mut rest) = (String::with_capacity(code.len()), Vec::new(), code);
    while let Some(at) = rest.find(MARK) {
        out.push_str(&rest[..at]);
        let item = &rest[at..];
        // A field ends with its comma; the types of anything else may hold one.
        const ITEMS: [&str; 11] =
            ["fn", "impl", "mod", "use", "struct", "enum", "const", "static", "type", "trait", "macro_rules!"];
        let is_item = item[MARK.len()..].split_whitespace().take(6).any(|word| ITEMS.contains(&word));
        let (mut depth, mut end) = (0_usize, item.len());
        for (at, byte) in item.bytes().enumerate().skip(MARK.len()) {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        end = at + 1 + usize::from(item[at + 1..].starts_with(';'));
                        break;
                    }
                }
                b',' if is_item => {}
                b';' | b',' if depth == 0 => {
                    end = at + 1;
                    break;
                }
                _ => {}
            }
        }
        let words: Vec<&str> = item[MARK.len()..end].split_whitespace().collect();
        if let Some(at) = words.iter().position(|word| *word == "mod") {
            modules.extend(words.get(at + 1).and_then(|name| name.strip_suffix(';')).map(str::to_owned));
        }
        out.extend(item[..end].chars().filter(|c| *c == '\n'));
        rest = &item[end..];
    }
    out.push_str(rest);
    (out, modules)
}

#[test]
fn comments_strings_and_tests_are_no_code() {
    let text = "/// a {\nfn a<'x>(b: &'x str) -> char { '}' } // }\n#[cfg(test)]\nfn only() { \"}\"; r#\"}\"}\"#; }\n\
                const A: &str = \"fs::write( // x\";\n#[cfg(test)]\npub mod shapes;\n/* x /* y */ */ fn z() { '\\'' }\n";
    let (code, modules) = without_tests(&masked(text));
    assert_eq!(modules, ["shapes"]);
    let lines: Vec<&str> = code.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 3, "{code}");
    assert!(lines[0].starts_with("fn a<'x>") && lines[1].starts_with("const A") && lines[2].starts_with("fn z()"));
    assert!(!code.contains("fs::write") && !code.contains("only"));
    assert_eq!(code.lines().count(), text.lines().count(), "lines keep their numbers");
}
