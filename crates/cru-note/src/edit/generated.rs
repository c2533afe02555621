//! What `cru` generated for a region, so that what a person wrote there is told from it.

use std::collections::{HashMap, HashSet};
use std::fmt;

use similar::{Algorithm, DiffOp};

use cru_base::diff;
use cru_base::hash::short;
/// The lines of a generated text as hashes, without blank ones.
///
/// White space at the ends of lines and blank lines do not count, which editors change; nor does the tick of a line that
/// ends with an id in a comment (`- [x] … %%r-1a2b%%`), which is read as such.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratedLines(Vec<LineHash>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LineHash {
    /// Of the line.
    line: u64,
    /// Of the line without the names that its links lead to.
    shape: u64,
}

impl GeneratedLines {
    /// Those of `text`.
    pub fn of(text: &str) -> Self {
        Self(text.lines().filter_map(LineHash::of).collect())
    }

    /// Those that were written with [`fmt::Display`]; what is no such line is left out.
    pub fn parse(text: &str) -> Self {
        let hash = |text: &str| (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten();
        let of = |line: &str| {
            let (line, shape) = line.trim_end().split_once(' ')?;
            Some(LineHash { line: hash(line)?, shape: hash(shape)? })
        };
        Self(text.lines().filter_map(of).collect())
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the line was generated.
    pub fn has(&self, line: &str) -> bool {
        LineHash::of(line).is_none_or(|hash| self.0.iter().any(|it| it.line == hash.line))
    }

    /// What stands for the text in the first marker of a region: eight hexadecimal digits.
    pub fn seal(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for hash in &self.0 {
            hasher.update(&hash.line.to_le_bytes());
        }
        hasher.finalize().to_hex()[..8].to_owned()
    }
}

/// One hash a line.
impl fmt::Display for GeneratedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|it| writeln!(f, "{:016x} {:016x}", it.line, it.shape))
    }
}

impl LineHash {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() {
            return None;
        }
        let line = unticked(line);
        Some(Self { line: hash(&line), shape: hash(&without_targets(&line)) })
    }
}

fn hash(text: &str) -> u64 {
    u64::from_le_bytes(short(&blake3::hash(text.as_bytes())))
}

/// A line that ends with an id in a comment, without its tick.
fn unticked(line: &str) -> std::borrow::Cow<'_, str> {
    let tick = || {
        let at = line.find("- [").or_else(|| line.find("* ["))? + 3;
        let sign = line.get(at..)?.chars().next()?;
        let is_ticked = line.ends_with("%%") && line[at + sign.len_utf8()..].starts_with(']');
        (is_ticked && line[..at - 3].trim().is_empty()).then_some((at, sign))
    };
    match tick() {
        Some((at, sign)) => format!("{} {}", &line[..at], &line[at + sign.len_utf8()..]).into(),
        None => line.into(),
    }
}

/// A line without the names that its links lead to.
fn without_targets(line: &str) -> String {
    let mut parts = line.trim_end().split("[[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("[[");
        plain.push_str(part.find(['#', '|', ']']).and_then(|at| part.get(at..)).unwrap_or(part));
    }
    plain
}

/// The names that the links of a text lead to, without folders.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("[[").skip(1).filter_map(|part| {
        let target = part.get(..part.find(['#', '|', ']'])?)?;
        Some(target.rsplit('/').next().unwrap_or(target))
    })
}

/// The seal that earlier versions wrote, in which names of notes do not count.
pub(super) fn earlier_seal(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for line in text.lines().map(without_targets).filter(|line| !line.is_empty()) {
        hasher.update(line.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize().to_hex()[..8].to_owned()
}

/// What a person wrote into a region: what of `inside` is not `generated`, each generated line once. A line in which only
/// names of notes differ is generated where `text`, which takes its place, leads to those names: the notes were renamed.
/// The lines of `kept` stand elsewhere and are left out. Lines that stood together stay together.
pub(super) fn theirs(inside: &str, generated: &GeneratedLines, text: &str, kept: &[&str]) -> String {
    let lines: Vec<&str> = inside.lines().collect();
    let filled: Vec<(usize, LineHash)> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, LineHash::of(line)?))).collect();
    let (old, new): (Vec<u64>, Vec<u64>) =
        (generated.0.iter().map(|it| it.line).collect(), filled.iter().map(|(_, it)| it.line).collect());
    let mut is_ours = vec![false; filled.len()];
    let mut is_left = vec![true; old.len()];
    for op in diff(Algorithm::Myers, &old, &new, None) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            is_ours[new_index..new_index + len].fill(true);
            is_left[old_index..old_index + len].fill(false);
        }
    }
    // Generated lines that were moved, then those whose links follow a note that was renamed, then what stands elsewhere.
    let left = || generated.0.iter().zip(&is_left).filter(|(_, left)| **left).map(|(hash, _)| hash);
    let mut moved: HashMap<u64, usize> = HashMap::new();
    left().for_each(|it| *moved.entry(it.line).or_default() += 1);
    let take = |left: &mut HashMap<u64, usize>, hash: u64| match left.get_mut(&hash) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    for ((_, hash), ours) in filled.iter().zip(&mut is_ours) {
        *ours = *ours || take(&mut moved, hash.line);
    }
    let mut renamed: HashMap<u64, usize> = HashMap::new();
    for it in left() {
        if take(&mut moved, it.line) {
            *renamed.entry(it.shape).or_default() += 1;
        }
    }
    let known: HashSet<&str> = targets(text).collect();
    let mut elsewhere: HashMap<u64, usize> = HashMap::new();
    kept.iter().flat_map(|text| text.lines()).filter_map(LineHash::of).for_each(|it| {
        *elsewhere.entry(it.line).or_default() += 1;
    });
    for ((at, hash), ours) in filled.iter().zip(&mut is_ours).filter(|(_, ours)| !**ours) {
        let is_link = lines[*at].contains("[[") && targets(lines[*at]).all(|name| known.contains(name));
        *ours = is_link && take(&mut renamed, hash.shape) || take(&mut elsewhere, hash.line);
    }
    let ours: HashSet<usize> = filled.iter().zip(is_ours).filter(|(_, ours)| *ours).map(|((at, _), _)| *at).collect();
    together(&lines, &ours)
}

/// The lines that are not `ours`; a blank line between those that did not stand together, but for items of one list.
fn together(lines: &[&str], ours: &HashSet<usize>) -> String {
    let is_item = |line: &str| ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
    let mut out = String::new();
    let mut last: Option<usize> = None;
    for (at, line) in lines.iter().enumerate() {
        if line.trim().is_empty() || ours.contains(&at) {
            continue;
        }
        if let Some(last) = last {
            let between = last + 1..at;
            let blank = between.clone().filter(|at| lines[*at].trim().is_empty()).count();
            let is_apart = between.clone().any(|at| ours.contains(&at));
            let breaks = match (is_apart, is_item(lines[last]) && is_item(line)) {
                (true, false) => 2,
                (true, true) => 1,
                (false, _) => blank + 1,
            };
            out.extend(std::iter::repeat_n('\n', breaks));
        }
        out.push_str(line);
        last = Some(at);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(inside: &str, old: &str, new: &str) -> String {
        theirs(inside, &GeneratedLines::of(old), new, &[])
    }

    #[test]
    fn lines_that_were_not_generated_are_a_persons() {
        assert_eq!(of("\n- a\n\n- b  \n", "- a\n- b", ""), "");
        assert_eq!(of("mine\n- a\n- b, mine\n- c", "- a\n- b\n- c", ""), "mine\n\n- b, mine");
        assert_eq!(of("- b\n- a", "- a\n- b", ""), "", "moved lines are generated still");
        assert_eq!(of("- a\n- a", "- a", ""), "- a", "a second one is not");
        let table = "| a |\n| - |\n| 1 |";
        assert_eq!(of(&format!("{table}\n\n| x |\n| - |"), "| x |\n| - |", ""), table, "blocks stay whole");
        assert_eq!(of("one\n\n\ntwo", "", ""), "one\n\n\ntwo");
    }

    #[test]
    fn a_renamed_note_is_no_edit_and_another_link_is_one() {
        let old = "- x [[a#^d-01|A]]\n- [[b]] B";
        assert_eq!(of("- x [[s/c#^d-01|A]]\n- [[b]] B", old, "- [[c]]"), "");
        assert_eq!(of("- x [[mine#^d-01|A]]\n- [[b]] B", old, "- [[c]]"), "- x [[mine#^d-01|A]]");
        assert_eq!(of("- [[mine]]\n- [[b]]", "- [[b]]", "- [[mine]]"), "- [[mine]]", "the exact line is taken first");
    }

    #[test]
    fn ticks_of_lines_with_an_id_do_not_count() {
        let lines = GeneratedLines::of("- [ ] lesson: a %%r-1a2b%%\n- [ ] plain");
        assert!(lines.has("- [x] lesson: a %%r-1a2b%%") && !lines.has("- [->] lesson: a %%r-1a2b%%"));
        assert!(!lines.has("- [x] plain"));
        assert_eq!(theirs("- mine", &lines, "", &["- mine"]), "");
    }

    #[test]
    fn hashes_are_read_as_they_were_written() {
        let lines = GeneratedLines::of("a\n\n- [[b]]\r\n");
        assert_eq!(GeneratedLines::parse(&lines.to_string()), lines);
        assert_eq!(GeneratedLines::parse("<<<<<<< x\n12 zz\n"), GeneratedLines::default());
        assert_eq!(lines.seal(), GeneratedLines::of("\na  \r\n- [[b]]").seal());
        assert_ne!(lines.seal(), GeneratedLines::of("a\n- [[c]]").seal());
    }
}
