//! Whether somebody wrote into a region that `cru` generates, and what.

use std::collections::HashSet;

/// The seal of a generated text, eight hexadecimal digits: white space at the ends of lines, blank lines and names of notes
/// do not count, which editors change.
pub fn seal(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in text.lines().map(without_targets).filter(|line| !line.is_empty()) {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..8].to_owned()
}

/// What a person wrote into a region: the lines of `inside` that none of the generated texts has.
pub fn theirs(inside: &str, generated: &[&str]) -> String {
    let ours: HashSet<String> = generated.iter().flat_map(|text| text.lines()).map(without_targets).collect();
    let is_theirs = |line: &&str| line.trim().is_empty() || !ours.contains(&without_targets(line));
    let kept: Vec<&str> = inside.lines().filter(is_theirs).collect();
    kept.join("\n").trim_matches('\n').to_owned()
}

/// A line without the names that its links lead to, which an editor changes when a note is renamed, and white space at its
/// end.
fn without_targets(line: &str) -> String {
    let mut parts = line.trim_end().split("[[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("[[");
        plain.push_str(part.find(['#', '|', ']']).and_then(|at| part.get(at..)).unwrap_or(part));
    }
    plain
}
