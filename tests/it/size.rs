//! How large the program is, by one method, against the ceilings of `tests/size.toml`.
//!
//! A ceiling is what the last change earned: it may be lowered; a raise needs a reason in the file. One that stands far above what is
//! counted fails too, so that what was gained is kept. `cargo test --test it size -- --nocapture` prints all figures.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use clap::CommandFactory as _;

use crate::source::{self, SourceFile};

/// Types of numbers, as constants name them.
const NUMBERS: [&str; 14] =
    ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];

/// How far a ceiling may stand above what is counted, in percent.
const SLACK: usize = 1;

#[test]
fn nothing_grows_above_its_ceiling() {
    let counted = count(&source::files());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/size.toml");
    let text = fs::read_to_string(path).unwrap();
    let entries = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let entry =
        |line: &str| line.split_once(" = ").and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    let ceilings: BTreeMap<String, usize> = entries.map(|line| entry(line).unwrap()).collect();
    let mut wrong = Vec::new();
    for (name, count) in &counted {
        println!("{name} = {count}");
        match ceilings.get(*name) {
            None => wrong.push(format!("{name} = {count} has no ceiling in tests/size.toml")),
            Some(ceiling) if count > ceiling => {
                wrong.push(format!("{name}: {count}, and the ceiling is {ceiling}: take away as much as was added"));
            }
            Some(ceiling) if *ceiling > count + (count * SLACK).div_ceil(100) => {
                wrong.push(format!("{name}: {count}, and the ceiling is {ceiling}: lower it in tests/size.toml"));
            }
            Some(_) => {}
        }
    }
    wrong.extend(
        ceilings
            .keys()
            .filter(|name| !counted.contains_key(name.as_str()))
            .map(|name| format!("{name} is not counted")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn count(files: &[SourceFile]) -> BTreeMap<&'static str, usize> {
    let types = types(files);
    let (commands, flags) = commands();
    BTreeMap::from([
        // Lines with code; comments, blanks and tests are none.
        ("lines", files.iter().map(|file| file.lines().count()).sum()),
        // Names of structs, enums, traits and type aliases, and those of them that are declared more than once.
        ("type_names", types.len()),
        ("shared_type_names", types.values().filter(|count| **count > 1).count()),
        // Commands without sub-commands, and the names of their long options.
        ("commands", commands),
        ("long_flags", flags),
        // Groups of files of one crate that import each other in a circle, re-exports not counted.
        ("circles", circles(files)),
        // `const NAME: T` where T is a type of numbers.
        ("numeric_constants", files.iter().flat_map(SourceFile::lines).filter(|line| is_number(line)).count()),
    ])
}

/// How often each name of a type is declared.
fn types(files: &[SourceFile]) -> BTreeMap<&str, usize> {
    let mut types = BTreeMap::new();
    for line in files.iter().flat_map(SourceFile::lines) {
        let line = line.trim_start();
        // Types within traits and their implementations are indented and have no visibility; so have some of functions.
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub") || *word == "unsafe");
        let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
        if !matches!(kind, "struct" | "enum" | "trait" | "type" | "union") {
            continue;
        }
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        if name.starts_with(char::is_uppercase)
            && !(kind == "type" && words.clone().any(|word| word.starts_with("Self")))
        {
            *types.entry(&name[..end]).or_insert(0) += 1;
        }
    }
    types
}

fn is_number(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("const ") else { return false };
    let Some((name, rest)) = rest.split_once(':') else { return false };
    let kind = rest.split(['=', ';']).next().unwrap_or_default().trim();
    name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') && NUMBERS.contains(&kind)
}

fn commands() -> (usize, usize) {
    let mut root = cru::commands::Cli::command();
    root.build();
    let (mut leaves, mut flags, mut open) = (0, BTreeSet::new(), vec![&root]);
    while let Some(command) = open.pop() {
        let inner: Vec<_> = command.get_subcommands().filter(|it| it.get_name() != "help").collect();
        leaves += usize::from(inner.is_empty());
        flags.extend(command.get_arguments().filter_map(|it| it.get_long().map(str::to_owned)));
        open.extend(inner);
    }
    (leaves, flags.len())
}

/// Groups of more than one file that import each other.
fn circles(files: &[SourceFile]) -> usize {
    let modules: BTreeMap<String, usize> =
        files.iter().enumerate().map(|(at, file)| (module(&file.path), at)).collect();
    let edges: Vec<BTreeSet<usize>> = files
        .iter()
        .enumerate()
        .map(|(at, file)| {
            let own = module(&file.path);
            imports(&file.code).iter().filter_map(|path| target(&own, path, &modules)).filter(|to| *to != at).collect()
        })
        .collect();
    components(&edges).into_iter().filter(|size| *size > 1).count()
}

/// `cru-note::frontmatter::read` of `crates/cru-note/src/frontmatter/read.rs`.
fn module(path: &str) -> String {
    let (name, inner) = match path.strip_prefix("crates/").and_then(|path| path.split_once("/src/")) {
        Some(found) => found,
        None => ("cru", path.trim_start_matches("src/")),
    };
    let inner = inner.trim_end_matches(".rs").replace('/', "::");
    let inner = inner.strip_suffix("mod").map_or(inner.as_str(), |inner| inner.trim_end_matches("::"));
    if matches!(inner, "" | "lib") { name.to_owned() } else { format!("{name}::{inner}") }
}

/// Paths that `use` declarations name, without those that are exported again.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let before = rest[..at].rsplit('\n').next().unwrap_or_default();
        let Some(end) = rest[at..].find(';').map(|end| at + end) else { break };
        if before.trim().is_empty() {
            let tree: String = rest[at + 4..end].split_whitespace().collect::<Vec<_>>().join(" ");
            spread("", &tree, &mut found);
        }
        rest = &rest[end..];
    }
    found
}

/// The paths of a tree of imports: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn spread(base: &str, tree: &str, found: &mut Vec<String>) {
    let Some((head, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default().trim();
        found.push(format!("{base}{path}"));
        return;
    };
    let base = format!("{base}{}", head.trim());
    let (mut depth, mut from) = (0, 0);
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b',' | b'}' if depth == 0 => {
                if !group[from..at].trim().is_empty() {
                    spread(&base, group[from..at].trim(), found);
                }
                from = at + 1;
                if byte == b'}' {
                    return;
                }
            }
            _ => {}
        }
    }
}

/// The file that a path of the module `own` leads to, the innermost that is one.
fn target(own: &str, path: &str, modules: &BTreeMap<String, usize>) -> Option<usize> {
    let name = own.split("::").next()?;
    let (mut base, mut rest): (Vec<&str>, Vec<&str>) = (own.split("::").collect(), path.split("::").collect());
    match *rest.first()? {
        "crate" => base = vec![name],
        "self" => {}
        "super" => {
            while rest.first() == Some(&"super") {
                base.pop();
                rest.remove(0);
            }
            rest.insert(0, "");
        }
        _ => return None,
    }
    let full: Vec<&str> = base.into_iter().chain(rest.into_iter().skip(1)).collect();
    (1..=full.len()).rev().find_map(|len| modules.get(&full[..len].join("::")).copied())
}

/// The sizes of the strongly connected components of a graph (Tarjan), without recursion.
fn components(edges: &[BTreeSet<usize>]) -> Vec<usize> {
    let count = edges.len();
    let (mut index, mut low, mut on_stack) = (vec![usize::MAX; count], vec![0; count], vec![false; count]);
    let (mut next, mut stack, mut sizes) = (0, Vec::new(), Vec::new());
    for root in 0..count {
        if index[root] != usize::MAX {
            continue;
        }
        let mut work: Vec<(usize, Vec<usize>)> = vec![(root, edges[root].iter().copied().collect())];
        (index[root], low[root], on_stack[root]) = (next, next, true);
        stack.push(root);
        next += 1;
        while let Some((node, left)) = work.last_mut() {
            let node = *node;
            if let Some(to) = left.pop() {
                if index[to] == usize::MAX {
                    (index[to], low[to], on_stack[to]) = (next, next, true);
                    stack.push(to);
                    next += 1;
                    work.push((to, edges[to].iter().copied().collect()));
                } else if on_stack[to] {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == index[node] {
                let at = stack.iter().rposition(|it| *it == node).unwrap();
                let group = stack.split_off(at);
                for it in &group {
                    on_stack[*it] = false;
                }
                sizes.push(group.len());
            }
        }
    }
    sizes
}

#[test]
fn what_is_counted() {
    assert!(is_number("    const MOST: usize = 3;") && !is_number("const NAME: &str = ____;"));
    assert_eq!(module("crates/cru-note/src/frontmatter/read.rs"), "cru-note::frontmatter::read");
    assert_eq!(
        (module("src/commands/graph/mod.rs"), module("crates/cru-base/src/lib.rs")),
        ("cru::commands::graph".to_owned(), "cru-base".to_owned())
    );
    assert_eq!(
        imports("use a::{b, c::{d, e as f}};\npub use x::y;\nuse super::z;\n"),
        ["a::b", "a::c::d", "a::c::e", "super::z"]
    );
    let edge = |to: &[usize]| to.iter().copied().collect::<BTreeSet<_>>();
    let mut sizes = components(&[edge(&[1]), edge(&[2]), edge(&[0]), edge(&[0])]);
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 3]);
    let file = |path: &str, code: &str| SourceFile { path: path.to_owned(), code: code.to_owned() };
    let files = [
        file("crates/a/src/lib.rs", "mod b;\nmod c;\n"),
        file("crates/a/src/b.rs", "use crate::c::C;\nstruct B;\n"),
        file("crates/a/src/c.rs", "use super::b::B;\nstruct C;\nenum B {}\n"),
    ];
    assert_eq!(circles(&files), 1);
    assert_eq!(types(&files), BTreeMap::from([("B", 2), ("C", 1)]));
}
