//! Data flow between steps: files that one writes and another reads, and values that one prints and another uses.
//!
//! A name stands for one state of a thing: where a step changes a file that stood in the workflow before, the new state
//! is `path@2`. So a name has one producer, and the order of work never looks like a cycle. A file that a step edits in
//! place, and nobody named before, is only its result.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::deed::Deed;
use super::file_type;
use super::shell::Kind;
use super::title;
use crate::workflow::model::{Flow, Operand};

const MAX_INPUTS: usize = 4;
const MAX_OUTPUTS: usize = 5;
/// Folders below which nothing is told apart, so that depth costs nothing.
const MAX_DEPTH: usize = 12;

/// Names given so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// How many states a name has.
    states: HashMap<String, usize>,
    /// The operand that now stands for a path.
    current: HashMap<String, Operand>,
    /// Values printed, and who printed them.
    values: HashMap<String, Value>,
    /// Words that were there before any step printed them.
    seen: HashSet<String>,
    /// Values that people said, and what they go by once a step has used them.
    said: HashMap<String, Option<Operand>>,
}

/// A printed value.
#[derive(Clone, Debug)]
struct Value {
    step: usize,
    label: &'static str,
    operand: Option<Operand>,
}

/// A value that a step takes from an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Carried {
    /// Index of the step that printed it.
    pub from: usize,
    /// The value.
    pub value: String,
    /// Its name in the flow.
    pub operand: Operand,
}

/// What a step takes and gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Data {
    /// Operands on the left.
    pub inputs: Vec<Operand>,
    /// Operands on the right.
    pub outputs: Vec<Operand>,
    /// Values used that earlier steps printed.
    pub carried: Vec<Carried>,
    /// Values used that people gave: what varies from one run to the next, with its name.
    pub lifted: Vec<(String, Operand)>,
}

impl Data {
    /// A command with names in place of the values that belong to one run.
    pub(super) fn named(&self, command: &str) -> String {
        let carried = self.carried.iter().map(|it| (&it.value, &it.operand));
        let lifted = self.lifted.iter().map(|(value, operand)| (value, operand));
        let mut command = command.to_owned();
        for (value, operand) in carried.chain(lifted) {
            command = command.replace(value.as_str(), &format!("<{}>", operand.name));
        }
        command
    }
}

impl Names {
    fn fresh(&mut self, base: &str) -> String {
        let count = self.states.entry(base.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { base.to_owned() } else { format!("{base}@{count}") }
    }

    /// Words that a person said: a value among them is not the work of a step.
    pub(super) fn hear(&mut self, words: &str) {
        for token in tokens(words) {
            if label(token, "").is_some() && !self.values.contains_key(token) {
                self.said.entry(token.to_owned()).or_default();
            }
            self.seen.insert(token.to_owned());
        }
    }

    /// Values of this step's commands that people gave, each with the name it goes by.
    fn lifted(&mut self, deeds: &[Deed<'_>]) -> Vec<(String, Operand)> {
        let mut lifted: Vec<(String, Operand)> = Vec::new();
        for deed in deeds.iter().filter(|deed| deed.tells() && deed.shell) {
            let text = deed.step.command.as_deref().unwrap_or(&deed.step.args);
            for token in tokens(text) {
                let Some(known) = self.said.get(token).cloned() else { continue };
                if lifted.len() >= 3 || lifted.iter().any(|(value, _)| value == token) {
                    continue;
                }
                let operand = known.unwrap_or_else(|| {
                    let label = label(token, &deed.core).unwrap_or("value");
                    Operand { name: self.fresh(label), ty: value_type(label), ..Operand::default() }
                });
                self.said.insert(token.to_owned(), Some(operand.clone()));
                lifted.push((token.to_owned(), operand));
            }
        }
        lifted
    }

    /// What step `index` takes and gives; called in the order of the steps.
    pub(super) fn data(&mut self, index: usize, title: &str, deeds: &[Deed<'_>]) -> Data {
        let carried = self.carried(index, deeds);
        let mut data = Data { carried, lifted: self.lifted(deeds), ..Data::default() };
        let (reads, writes) = files(deeds);
        let changed: HashSet<&str> = writes.iter().copied().collect();
        let mut named: HashSet<String> = HashSet::new();
        let mut outside: Vec<&str> = Vec::new();
        for path in &reads {
            match self.current.get(*path) {
                Some(operand) if named.insert(operand.name.clone()) => data.inputs.push(operand.clone()),
                None if !changed.contains(path) => outside.push(path),
                _ => {}
            }
        }
        data.inputs = fewer(data.inputs, MAX_INPUTS);
        data.inputs.extend(data.carried.iter().map(|carried| carried.operand.clone()));
        data.inputs.extend(data.lifted.iter().map(|(_, operand)| operand.clone()));
        let room = MAX_INPUTS.saturating_sub(data.inputs.len());
        if room > 0 {
            data.inputs.extend(self.name_all(&outside, room));
        }
        data.outputs = self.name_all(&writes, MAX_OUTPUTS);
        if data.outputs.is_empty() && !data.inputs.is_empty() {
            let checks = deeds.iter().any(|deed| deed.kind == Kind::Check);
            let base = format!("{}-{}", title::short_name(title), if checks { "results" } else { "notes" });
            data.outputs.push(Operand { name: self.fresh(base.trim_start_matches('-')), ..Operand::default() });
        }
        if data.inputs.is_empty() && !data.outputs.is_empty() {
            data.inputs.push(Operand { name: "request".into(), ..Operand::default() });
        }
        data
    }

    /// Operands for paths, grouped by folder where there are more than `limit`; each path now goes by its operand.
    fn name_all(&mut self, paths: &[&str], limit: usize) -> Vec<Operand> {
        let mut operands = Vec::new();
        for (base, members) in groups(paths, limit) {
            let ty = file_type::common(&members).map(str::to_owned);
            let operand = match members.as_slice() {
                [path] => Operand { name: self.fresh(path), ty, ..Operand::default() },
                members => {
                    let ty = ty.map(|ty| format!("{ty}[]"));
                    Operand { name: self.fresh(&base), ty, files: Some(members.len()), ..Operand::default() }
                }
            };
            for path in members {
                self.current.insert(path.to_owned(), operand.clone());
            }
            operands.push(operand);
        }
        operands
    }

    fn carried(&mut self, index: usize, deeds: &[Deed<'_>]) -> Vec<Carried> {
        let mut carried: Vec<Carried> = Vec::new();
        for deed in deeds {
            let text = deed.step.command.as_deref().unwrap_or(&deed.step.args);
            for token in tokens(text) {
                let Some(value) = self.values.get_mut(token) else {
                    self.seen.insert(token.to_owned());
                    continue;
                };
                if value.step == index
                    || !deed.tells()
                    || carried.len() >= 3
                    || carried.iter().any(|it| it.value == token)
                {
                    continue;
                }
                let (from, label, named) = (value.step, value.label, value.operand.clone());
                let operand = named.unwrap_or_else(|| Operand {
                    name: self.fresh(label),
                    ty: value_type(label),
                    ..Operand::default()
                });
                if let Some(value) = self.values.get_mut(token) {
                    value.operand = Some(operand.clone());
                }
                carried.push(Carried { from, value: token.to_owned(), operand });
            }
            if deed.shell && deed.succeeded() && deed.tells() {
                for token in deed.step.result.as_deref().into_iter().flat_map(tokens) {
                    if !self.seen.contains(token)
                        && let Some(label) = label(token, &deed.core)
                    {
                        self.values.entry(token.to_owned()).or_insert(Value { step: index, label, operand: None });
                    }
                }
            }
        }
        carried
    }
}

/// Paths read before they were written, and paths written, in order of appearance, of deeds that ended well.
fn files<'a>(deeds: &'a [Deed<'_>]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let (mut read, mut written) = (HashSet::new(), HashSet::new());
    for deed in deeds.iter().filter(|deed| deed.succeeded()) {
        for path in deed.reads.iter().map(AsRef::as_ref).filter(|path| !is_scratch(path)) {
            if !written.contains(path) && read.insert(path) {
                reads.push(path);
            }
        }
        for path in deed.writes.iter().map(AsRef::as_ref).filter(|path| !is_scratch(path)) {
            if written.insert(path) {
                writes.push(path);
            }
        }
    }
    (reads, writes)
}

/// Files of nobody's interest: temporary ones, the agent's own.
fn is_scratch(path: &str) -> bool {
    let own = path.starts_with("~/.claude/") || path.contains("/.claude/projects/") || path.contains("/.claude/plans/");
    own || super::shell::is_scratch(path)
}

/// The first ones, the rest dropped.
fn fewer(mut operands: Vec<Operand>, limit: usize) -> Vec<Operand> {
    operands.truncate(limit);
    operands
}

/// Paths put together by folder, as deep as gives at most `limit` groups; a group of one is the file itself.
fn groups<'a>(paths: &[&'a str], limit: usize) -> Vec<(String, Vec<&'a str>)> {
    let folder = |path: &str, depth: usize| {
        let parts: Vec<&str> = path.split(['/', '\\']).collect();
        let parts = &parts[..parts.len().saturating_sub(1).min(depth)];
        if parts.is_empty() { "./".to_owned() } else { parts.join("/") + "/" }
    };
    if paths.len() <= limit {
        return paths.iter().map(|path| ((*path).to_owned(), vec![*path])).collect();
    }
    let mut best = Vec::new();
    for depth in (0..=MAX_DEPTH).rev() {
        let mut order: Vec<(String, Vec<&str>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for path in paths {
            let key = folder(path, depth);
            let place = *places.entry(key.clone()).or_insert_with(|| {
                order.push((key, Vec::new()));
                order.len() - 1
            });
            order[place].1.push(path);
        }
        best = order;
        if best.len() <= limit {
            break;
        }
    }
    best
}

/// Words of a text that could be values.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '=' | '<' | '>' | '|' | '$'
            )
    })
    .map(|word| word.trim_end_matches(['.', ':', '…', '/']).trim_start_matches(['#', '@']))
    .filter(|word| (5..=200).contains(&word.len()) && word.is_ascii())
}

/// What kind of value a word is; `None`: too common to be one.
fn label(token: &str, core: &str) -> Option<&'static str> {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let hex = token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if token.starts_with("https://") || token.starts_with("http://") {
        return (token.len() > 15).then_some("url");
    }
    if token.contains(['/', '\\', '.', '%', '*', '…']) {
        return None;
    }
    if digits == token.len() {
        return (5..=20).contains(&digits).then_some("number");
    }
    if hex && (7..=64).contains(&token.len()) && digits > 0 {
        return Some(if core.contains("git ") { "commit" } else { "hash" });
    }
    let word = token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (word && token.len() >= 8 && digits >= 3 && token.bytes().any(|byte| byte.is_ascii_alphabetic())).then_some("id")
}

/// The type of a kind of value.
fn value_type(label: &str) -> Option<String> {
    let ty = match label {
        "url" => "URL",
        "number" => "Number",
        "commit" => "Commit",
        "hash" => "Hash",
        "id" => "Id",
        _ => return None,
    };
    Some(ty.to_owned())
}

/// The flow line of a step, if it takes or gives anything.
pub(super) fn flow(data: &Data) -> Option<Flow> {
    let some = !data.inputs.is_empty() && !data.outputs.is_empty();
    some.then(|| Flow { stages: vec![data.inputs.clone(), data.outputs.clone()], ..Flow::default() })
}

#[cfg(test)]
mod tests {
    use super::super::deed::deed;
    use super::*;
    use crate::session::{FileRef, Step};
    use crate::workflow::flow::write;

    fn step(tool: &str, args: &str, result: &str, reads: &[&str], writes: &[&str]) -> Step {
        let refs =
            |paths: &[&str]| paths.iter().map(|path| FileRef { path: (*path).into(), ..FileRef::default() }).collect();
        let result = Some(result.into());
        Step {
            tool: tool.into(),
            args: args.into(),
            result,
            reads: refs(reads),
            writes: refs(writes),
            ..Step::default()
        }
    }

    fn lines(steps: &[Vec<Step>]) -> Vec<String> {
        let mut names = Names::default();
        let line = |(index, steps): (usize, &Vec<Step>)| {
            let deeds: Vec<_> = steps.iter().map(|step| deed(step, None)).collect();
            flow(&names.data(index, &format!("Step {index}"), &deeds)).map_or(String::new(), |flow| write(&flow, "→"))
        };
        steps.iter().enumerate().map(line).collect()
    }

    #[test]
    fn states_of_a_file_have_names() {
        let lines = lines(&[
            vec![step("Read", "a.rs", "", &["a.rs"], &[])],
            vec![step("Edit", "a.rs", "", &["a.rs"], &["a.rs"]), step("Write", "b.md", "", &[], &["b.md"])],
            vec![step("Read", "b.md", "", &["b.md"], &[]), step("Edit", "c.rs", "", &["c.rs"], &["c.rs"])],
            vec![step("Edit", "c.rs", "", &["c.rs"], &["c.rs"])],
        ]);
        assert_eq!(
            lines,
            [
                "a.rs::Rust → step-0-notes",
                "a.rs::Rust → a.rs@2::Rust, b.md::Markdown",
                "b.md::Markdown → c.rs::Rust",
                "c.rs::Rust → c.rs@2::Rust",
            ]
        );
    }

    #[test]
    fn many_files_are_grouped() {
        let paths: Vec<String> = (0..9).map(|n| format!("src/auth/f{n}.rs")).chain(["README.md".into()]).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let lines = lines(&[vec![step("apply_patch", "x", "", &[], &paths)]]);
        assert_eq!(lines, ["request → 9 files in src/auth/::Rust[], README.md::Markdown"]);
    }

    #[test]
    fn values_are_carried() {
        let lines = lines(&[
            vec![step("Bash", "./submit --now", "queued as job-48213-a", &[], &[])],
            vec![step("Bash", "./collect job-48213-a > out.csv", "", &[], &["out.csv"])],
        ]);
        assert_eq!(lines, ["", "id::Id → out.csv::CSV"]);
    }

    #[test]
    fn what_people_gave_is_an_input() {
        let mut names = Names::default();
        names.hear("Fetch https://example.org/data/2026.csv for ticket 4821733");
        let steps = [
            step("Bash", "curl -o raw.csv https://example.org/data/2026.csv", "", &[], &["raw.csv"]),
            step("Bash", "./close 4821733", "", &[], &[]),
        ];
        let deeds: Vec<_> = steps.iter().map(|step| deed(step, None)).collect();
        let data = names.data(0, "Fetch", &deeds);
        assert_eq!(write(&flow(&data).unwrap(), "→"), "url::URL, number::Number → raw.csv::CSV");
        assert_eq!(data.named("./close 4821733"), "./close <number>");
        // The same value goes by the same name later.
        let data = names.data(1, "Again", &deeds[1..]);
        assert_eq!(data.lifted[0].1.name, "number");
    }
}
