//! Data flow between steps: files that one writes and another reads, and values that one prints and another uses.
//!
//! A name stands for one state of a thing: where a step changes a file that stood in the workflow before, the new state
//! is `path@2`. So a name has one producer, and the order of work never looks like a cycle. A file that a step reads and
//! then changes goes in as `path` and comes out as `path@2`; one that it writes without a look is only its result.

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::call::Call;
use super::draft::Draft;
use super::file::{Groups, files, groups};
use super::file_type;
use super::input::Inputs;
use super::value::{label, value_type, values};
use crate::model::{Flow, Operand};

const MAX_INPUTS: usize = 6;
const MAX_OUTPUTS: usize = 6;
/// Values of people that a flow line shows.
const MAX_GIVEN: usize = 4;

/// What a step of the workflow touches, as far as the flow asks for it. No step's depends on another's.
#[derive(Debug)]
pub(super) struct Touched<'a> {
    /// The values of each call.
    values: Vec<Values<'a>>,
    /// Words of its commands, which may name what another step wrote.
    named: Vec<&'a str>,
    /// Values in its commands that people gave.
    given: Vec<Operand>,
    /// Paths read before they were written.
    reads: Vec<&'a str>,
    /// Paths written.
    writes: Vec<&'a str>,
    /// These by folder.
    written: Groups<'a>,
}

/// The values of a call.
#[derive(Debug)]
struct Values<'a> {
    /// In its command.
    used: Vec<&'a str>,
    /// What it printed, each with what kind it is.
    printed: Vec<(&'a str, &'static str)>,
}

impl<'a> Touched<'a> {
    /// What `calls` touch.
    pub(super) fn of<'c: 'a>(calls: impl Iterator<Item = &'a Call<'c>>, inputs: &Inputs) -> Self {
        let calls: Vec<&'a Call<'c>> = calls.collect();
        let of_call = |call: &&'a Call<'c>| {
            // The number of a process says nothing but that it is another one each time.
            let ends = call.programs.iter().any(|program| matches!(program.as_str(), "kill" | "wait" | "ps"));
            let used = values(&call.text, "").map(|(value, _)| value).filter(|_| !ends).collect();
            let result = call.step.result.as_deref().filter(|_| call.shell && call.succeeded());
            Values { used, printed: result.into_iter().flat_map(|result| values(result, &call.text)).collect() }
        };
        let (reads, writes) = files(&calls);
        let written = groups(&writes, MAX_OUTPUTS);
        let named = calls.iter().filter(|call| call.shell).flat_map(|call| &call.words).map(String::as_str).collect();
        let given = given(&calls, inputs);
        Self { values: calls.iter().map(of_call).collect(), named, given, reads, writes, written }
    }
}

/// Values of commands that people gave.
fn given(calls: &[&Call<'_>], inputs: &Inputs) -> Vec<Operand> {
    let mut given: Vec<Operand> = Vec::new();
    for call in calls.iter().filter(|call| call.shell && call.succeeded()) {
        if given.len() >= MAX_GIVEN {
            break;
        }
        for input in inputs.used_in(&call.text, call.keeps_versions) {
            if given.len() < MAX_GIVEN && given.iter().all(|known| known.name != input.name) {
                given.push(input.operand());
            }
        }
    }
    given
}

/// Names given so far.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    /// How many states a name has.
    states: HashMap<String, usize>,
    /// Operands given so far.
    operands: Vec<Operand>,
    /// Which of them now stands for a path.
    current: HashMap<&'a str, usize>,
    /// Values printed, and who printed them.
    values: HashMap<&'a str, Value>,
    /// Values that were there before any step printed them.
    seen: HashSet<&'a str>,
    /// Values that people gave, with their names.
    inputs: Option<&'a Inputs>,
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
    /// Values used that people gave: what varies from one run to the next.
    pub given: Vec<Operand>,
}

impl Data {
    /// A command with names in place of the values that earlier steps printed.
    pub(super) fn named(&self, command: &str) -> String {
        let mut command = command.to_owned();
        for it in &self.carried {
            command = command.replace(it.value.as_str(), &format!("<{}>", it.operand.name));
        }
        command
    }
}

impl<'a> Names<'a> {
    /// With the values that people gave.
    pub(super) fn with(inputs: &'a Inputs) -> Self {
        let mut names = Self { inputs: Some(inputs), ..Self::default() };
        for input in &inputs.all {
            names.states.insert(input.name.clone(), 1);
        }
        names
    }

    /// A name that nothing has yet.
    fn fresh(&mut self, base: &str) -> String {
        let count = self.states.entry(base.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { base.to_owned() } else { format!("{base}@{count}") }
    }

    /// What step `index` takes and gives; called in the order of the steps.
    pub(super) fn data(&mut self, index: usize, calls: &[&Call<'_>], touched: &Touched<'a>) -> Data {
        let carried = self.carried(index, calls, touched);
        let mut data = Data { carried, given: touched.given.clone(), ..Data::default() };
        let changed: HashSet<&str> = touched.writes.iter().copied().collect();
        let mut named: HashSet<usize> = HashSet::default();
        let (mut edited, mut outside): (Vec<&'a str>, Vec<&'a str>) = (Vec::new(), Vec::new());
        let named_files = touched.named.iter().filter(|path| self.current.contains_key(*path)).copied();
        let taken: Vec<&'a str> = touched.reads.iter().copied().chain(named_files).collect();
        for path in taken {
            match self.current.get(path) {
                Some(&operand) if data.inputs.len() < MAX_INPUTS && named.insert(operand) => {
                    data.inputs.extend(self.operands.get(operand).cloned());
                }
                None if changed.contains(path) => edited.push(path),
                None => outside.push(path),
                Some(_) => {}
            }
        }
        data.inputs.extend(data.carried.iter().map(|carried| carried.operand.clone()));
        data.inputs.extend(data.given.iter().cloned());
        // What is changed matters more than what was only looked at.
        for paths in [&edited, &outside] {
            let room = MAX_INPUTS.saturating_sub(data.inputs.len());
            if room > 0 && !paths.is_empty() {
                data.inputs.extend(self.name_all(&groups(paths, room)));
            }
        }
        data.outputs = self.name_all(&touched.written);
        if data.outputs.is_empty() && !data.inputs.is_empty() {
            // What it found out, as the request is what it was asked.
            data.outputs.push(Operand { name: self.fresh("result"), ..Operand::default() });
        }
        if data.inputs.is_empty() && !data.outputs.is_empty() {
            data.inputs.push(Operand { name: "request".into(), ..Operand::default() });
        }
        data
    }

    /// Operands for groups of paths; each path now goes by its operand.
    fn name_all(&mut self, groups: &Groups<'a>) -> Vec<Operand> {
        let mut operands = Vec::new();
        for (base, members) in groups {
            let ty = file_type::common(members).map(str::to_owned);
            let operand = match members.as_slice() {
                [path] => Operand { name: self.fresh(path), ty, ..Operand::default() },
                members => {
                    let ty = ty.map(|ty| format!("{ty}[]"));
                    Operand { name: self.fresh(base), ty, files: Some(members.len()), ..Operand::default() }
                }
            };
            self.current.extend(members.iter().map(|path| (*path, self.operands.len())));
            self.operands.push(operand.clone());
            operands.push(operand);
        }
        operands
    }

    fn carried(&mut self, index: usize, calls: &[&Call<'_>], touched: &Touched<'a>) -> Vec<Carried> {
        let mut carried: Vec<Carried> = Vec::new();
        for (call, Values { used, printed }) in calls.iter().zip(&touched.values) {
            for &token in used {
                if self.inputs.is_some_and(|inputs| inputs.has(token)) {
                    continue;
                }
                let Some(value) = self.values.get_mut(token) else {
                    self.seen.insert(token);
                    continue;
                };
                if value.step == index
                    || !call.shell
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
            for &(token, label) in printed.iter().filter(|(token, _)| !self.seen.contains(token)) {
                self.values.entry(token).or_insert(Value { step: index, label, operand: None });
            }
        }
        // Values of one kind are named all or not at all: one of seven that is named says that the others are the same.
        let of_kind = |value: &str| label(value, "");
        let taken: HashSet<&str> = carried.iter().map(|it| it.value.as_str()).collect();
        let is_other = |token: &str| !taken.contains(token) && !self.inputs.is_some_and(|inputs| inputs.has(token));
        let used = touched.values.iter().flat_map(|it| &it.used).filter(|token| is_other(token));
        let uneven: HashSet<&str> = used.filter_map(|token| of_kind(token)).filter(|kind| *kind == "id").collect();
        carried.retain(|it| of_kind(&it.value).is_none_or(|kind| !uneven.contains(kind)));
        carried
    }
}

/// What each draft takes and gives.
pub(super) fn flows(drafts: &[Draft<'_>], inputs: &Inputs) -> Vec<Data> {
    let drafted = drafts.par_iter();
    let touched: Vec<Touched<'_>> = drafted.map(|draft| Touched::of(draft.calls(), inputs)).collect();
    let mut names = Names::with(inputs);
    let mut flows: Vec<Data> = Vec::with_capacity(drafts.len());
    for (index, (draft, touched)) in drafts.iter().zip(&touched).enumerate() {
        let calls: Vec<&Call<'_>> = draft.calls().collect();
        flows.push(names.data(index, &calls, touched));
    }
    // Who printed a value learns only later that somebody used it.
    let carried: Vec<Carried> = flows.iter().flat_map(|data| data.carried.clone()).collect();
    for it in carried {
        let Some(data) = flows.get_mut(it.from) else { continue };
        if data.outputs.iter().any(|operand| operand.name == it.operand.name) {
            continue;
        }
        data.outputs.push(it.operand);
        if data.inputs.is_empty() {
            data.inputs.push(Operand { name: "request".into(), ..Operand::default() });
        }
    }
    flows
}

/// The flow line of a step, if it takes or gives anything.
pub(super) fn flow(data: &Data) -> Option<Flow> {
    let some = !data.inputs.is_empty() && !data.outputs.is_empty();
    some.then(|| Flow { stages: vec![data.inputs.clone(), data.outputs.clone()], ..Flow::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::write;
    use cru_session::{FileRef, Step};

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
        let place = cru_graph::Place { phase: None, item: None };
        let made: Vec<Vec<Call<'_>>> =
            steps.iter().map(|steps| steps.iter().map(|step| Call::of(step, place, None)).collect()).collect();
        let mut names = Names::default();
        let mut lines = Vec::new();
        let touched: Vec<_> = made.iter().map(|calls| Touched::of(calls.iter(), &Inputs::default())).collect();
        for (index, calls) in made.iter().enumerate() {
            let calls: Vec<&Call<'_>> = calls.iter().collect();
            let data = names.data(index, &calls, &touched[index]);
            lines.push(flow(&data).map_or(String::new(), |flow| write(&flow, "→")));
        }
        lines
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
                "a.rs::Rust → result",
                "a.rs::Rust → a.rs@2::Rust, b.md::Markdown",
                "b.md::Markdown, c.rs::Rust → c.rs@2::Rust",
                "c.rs@2::Rust → c.rs@3::Rust",
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
}
