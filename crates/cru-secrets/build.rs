//! Makes tables of Rust from `data/rules.toml` and `data/gitleaks.toml`, so that no run has to read them.

#![expect(clippy::disallowed_methods, reason = "a build script has its folders from the environment of cargo")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

type Result<T> = std::result::Result<T, String>;

fn main() -> Result<()> {
    let out = env::var("OUT_DIR").map_err(|error| error.to_string())?;
    let (own, public) = (read("data/rules.toml")?, read("data/gitleaks.toml")?);
    let skip = texts(own.get("public").and_then(|it| it.get("skip")));
    let made = [("rules.rs", rules(&own)?), ("words.rs", words(&own)?), ("public.rs", public_rules(&public, &skip)?)];
    made.into_iter()
        .try_for_each(|(name, code)| fs::write(Path::new(&out).join(name), code).map_err(|error| error.to_string()))
}

fn read(path: &str) -> Result<Table> {
    println!("cargo::rerun-if-changed={path}");
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    text.parse().map_err(|error| format!("{path}: {error}"))
}

/// The rows of an array of tables, in the order of the file; a kind comes whole before the next.
fn rows<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = &'a Table> {
    table.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

fn text<'a>(row: &'a Table, name: &str) -> Result<&'a str> {
    row.get(name).and_then(Value::as_str).ok_or_else(|| format!("no text `{name}` in {row}"))
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The rules of cru.
fn rules(own: &Table) -> Result<String> {
    let mut code = "/// The rules of cru; where two find at one place, the first one counts.\n".to_owned();
    code.push_str("pub(crate) const RULES: &[Rule] = &[\n");
    tokens(own, "token", &mut code)?;
    for row in rows(own, "shape") {
        let (name, keys, find) = (text(row, "name")?, texts(row.get("keys")), text(row, "find")?);
        let by = if text(row, "at")? == "word" { "Word" } else { "Around" };
        let _ = writeln!(code, "Rule {{ name: {name:?}, by: By::{by}(&{keys:?}, {find}) }},");
    }
    for row in rows(own, "command") {
        let (name, keys) = (text(row, "name")?, texts(row.get("keys")));
        let (next, joined) = (texts(row.get("next")), texts(row.get("joined")));
        let part = match row.get("part").and_then(Value::as_str) {
            Some("user") => "User",
            Some("cookie") => "Cookie",
            Some("pair") => "Pair",
            Some("first") => "First",
            _ => "Whole",
        };
        let _ = writeln!(
            code,
            "Rule {{ name: {name:?}, by: By::Command(Command {{ starts: &{keys:?}, next: &{next:?}, joined: &{joined:?}, \
             part: Part::{part} }}) }},"
        );
    }
    for row in rows(own, "value") {
        let (name, keys, find) = (text(row, "name")?, texts(row.get("keys")), text(row, "find")?);
        let _ = writeln!(code, "Rule {{ name: {name:?}, by: By::Value(&{keys:?}, {find}) }},");
    }
    code.push_str("];\n/// Those that are asked of long words alone.\npub(crate) const RUNS: &[Rule] = &[\n");
    tokens(own, "run", &mut code)?;
    code.push_str("];\n");
    Ok(code)
}

/// The rules of one kind for tokens that say by their beginning what they are.
fn tokens(own: &Table, kind: &str, code: &mut String) -> Result<()> {
    for row in rows(own, kind) {
        let (name, keys, bytes) = (text(row, "name")?, texts(row.get("keys")), text(row, "bytes")?);
        let number = |name: &str| row.get(name).and_then(Value::as_integer);
        let least = number("exact").or(number("least")).ok_or_else(|| format!("no length in {row}"))?;
        let is = |name: &str| row.get(name).and_then(Value::as_bool).unwrap_or_default();
        let body = if is("sure") {
            "Any"
        } else if is("drawn") {
            "Drawn"
        } else {
            "Mixed"
        };
        let bytes = format!("{}{}", bytes[..1].to_uppercase(), &bytes[1..]);
        let exact = number("exact").is_some();
        let _ = writeln!(
            code,
            "Rule {{ name: {name:?}, by: By::Prefix(Prefix {{ starts: &{keys:?}, bytes: Bytes::{bytes}, least: {least}, \
             exact: {exact}, body: Body::{body} }}) }},"
        );
    }
    Ok(())
}

/// The lists of words, and the letters that follow each letter.
fn words(own: &Table) -> Result<String> {
    let mut code = String::new();
    let words = own.get("words").and_then(Value::as_table).ok_or("no words")?;
    for (name, list) in words {
        let _ = writeln!(code, "pub(crate) const {}: &[&str] = &{:?};", name.to_uppercase(), texts(Some(list)));
    }
    let letters = own.get("letters").and_then(Value::as_table).ok_or("no letters")?;
    let pairs = (b'a'..=b'z').map(|letter| {
        let follow = letters.get(&char::from(letter).to_string()).and_then(Value::as_str).unwrap_or_default();
        format!("b{follow:?}")
    });
    let pairs: Vec<String> = pairs.collect();
    code.push_str("/// By letter: those that follow it in words.\n");
    let _ = writeln!(code, "pub(crate) const PAIRS: [&[u8]; 26] = [{}];", pairs.join(", "));
    Ok(code)
}

/// The rules of gitleaks that need no file name.
fn public_rules(public: &Table, skip: &[String]) -> Result<String> {
    let mut code = format!("const EVERYWHERE: Allow = {};\n", allowed(public.get("allowlist")));
    code.push_str("pub(crate) const PUBLIC_RULES: &[PublicRule] = &[\n");
    for name in skip {
        if !rows(public, "rules").any(|row| text(row, "id") == Ok(name)) {
            return Err(format!("no public rule `{name}`"));
        }
    }
    for row in rows(public, "rules").filter(|row| !skip.iter().any(|name| text(row, "id") == Ok(name))) {
        let id = text(row, "id")?;
        if row.contains_key("path") {
            return Err(format!("{id} is asked by file name"));
        }
        let keys: Vec<String> = texts(row.get("keywords")).iter().map(|key| key.to_ascii_lowercase()).collect();
        let entropy = row.get("entropy").and_then(|it| it.as_float().or(it.as_integer().map(|it| it as f64)));
        let group = row.get("secretGroup").and_then(Value::as_integer).unwrap_or_default();
        // A list for certain files alone says nothing here.
        let lists = rows(row, "allowlists").filter(|list| !list.contains_key("paths"));
        let allow: Vec<String> = lists.map(|list| allowed(Some(&Value::Table(list.clone())))).collect();
        let _ = writeln!(
            code,
            "PublicRule {{ name: {id:?}, regex: {:?}, keys: &{keys:?}, entropy: {:?}, group: {group}, allow: &[{}] }},",
            translated(text(row, "regex")?),
            entropy.unwrap_or_default(),
            allow.join(", ")
        );
    }
    code.push_str("];\n");
    Ok(code)
}

/// A list of what is no secret.
fn allowed(list: Option<&Value>) -> String {
    let field = |name: &str| list.and_then(|list| list.get(name));
    let regexes: Vec<String> = texts(field("regexes")).iter().map(|regex| translated(regex)).collect();
    let target = match field("regexTarget").and_then(Value::as_str) {
        Some("match") => "Match",
        Some("line") => "Line",
        _ => "Secret",
    };
    let words: Vec<String> = texts(field("stopwords")).iter().map(|word| word.to_ascii_lowercase()).collect();
    format!("Allow {{ regexes: &{regexes:?}, target: Target::{target}, words: &{words:?} }}")
}

/// How most public rules end: in files of code a quote, a blank or `;` follows.
const END: &str = r#"(?:[\x60'"\s;]|\\[nr]|$)"#;

/// In prose and file names other signs do as well.
const END_IN_TEXT: &str = r"(?:[^\w=+/-]|$)";

/// An expression of Go as one of Rust: there a brace that begins no count stands for itself, and a bracket inside of
/// a class as well.
fn translated(regex: &str) -> String {
    let regex = regex.replace(END, END_IN_TEXT);
    let mut out = String::with_capacity(regex.len());
    let mut class: Option<usize> = None;
    let mut chars = regex.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = &regex[at + c.len_utf8()..];
        match (c, class) {
            ('\\', _) => {
                out.push(c);
                out.extend(chars.next().map(|(_, next)| next));
                continue;
            }
            ('[', None) => class = Some(at + 1 + usize::from(rest.starts_with('^'))),
            ('[', Some(_)) if !rest.starts_with(':') => out.push('\\'),
            // The one of `[:alnum:]` ends no class, nor does one that stands first in it.
            (']', Some(first)) if at == first => out.push('\\'),
            (']', Some(_)) if !regex[..at].ends_with(':') => class = None,
            ('{', None) if !is_count(rest) => out.push('\\'),
            _ => {}
        }
        out.push(c);
    }
    out
}

/// Whether `3}`, `3,}` or `3,5}` follows.
fn is_count(rest: &str) -> bool {
    let Some((count, _)) = rest.split_once('}') else { return false };
    let (least, most) = count.split_once(',').unwrap_or((count, ""));
    !least.is_empty() && [least, most].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}
