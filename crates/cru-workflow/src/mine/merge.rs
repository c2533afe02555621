//! Columns made into steps: what their members agree on stays, what differs becomes a named input.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::align::{unnumbered, unnumbered_state};
use super::super::codify::file_type;
use super::super::codify::title::short_name;
use super::super::key::command_key;
use super::super::model::{Branch, Command, Flow, Goal, Need, Operand, Part, Record, RemarkKind, Step, Workflow};
use super::super::record::squeeze;
use super::super::validate::Graph;
use super::column::{Column, before_after};
use super::{COMMON, often};
use cru_base::Span;
use cru_base::text::{plural, without_links};
use cru_session::words::list::STOP;

/// Links back that a step carries at most.
const MAX_ORIGIN: usize = 12;

/// The workflow of the kept columns, and their titles.
pub(super) fn workflow(kept: &[&Column], made: &[Workflow], total: usize) -> (Workflow, Vec<String>) {
    let title = shared_title(made.iter().map(|it| it.title.as_str()));
    let mut workflow = Workflow {
        title: title.unwrap_or_else(|| format!("What {} share", plural(total as u64, "session"))),
        sources: made.iter().flat_map(|it| it.sources.iter().cloned()).collect(),
        goals: goals(made),
        checks: checks(made),
        ..Workflow::default()
    };
    let mut data = MergedNames::default();
    let mut titles: Vec<String> = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for column in kept {
        let mut lifted = Vec::new();
        let mut step = step(column, made, total, &mut data, &mut lifted);
        let base = step.title.clone();
        let mut number = 1;
        while !taken.insert(step.title.to_lowercase()) {
            number += 1;
            step.title = format!("{base} ({number})");
        }
        let flow = data.flow(&step.title, column, made, lifted);
        let at = step.parts.iter().position(|part| !matches!(part, Part::Prose(_))).unwrap_or(step.parts.len());
        step.parts.splice(at..at, flow.map(Part::Flow));
        titles.push(step.title.clone());
        workflow.steps.push(step);
    }
    // What is called otherwise here stands in its order.
    let is_known = |part: &Part| match part {
        Part::Remark(it) if it.kind == RemarkKind::After => {
            titles.iter().any(|title| squeeze(title) == squeeze(&it.text))
        }
        _ => true,
    };
    workflow.steps.iter_mut().for_each(|step| step.parts.retain(is_known));
    nest(&mut workflow, kept, made);
    (workflow, titles)
}

/// What is said most often; of equals the first.
fn most<T: Ord + Clone + Default>(all: impl Iterator<Item = T>) -> T {
    let mut counts: BTreeMap<T, (usize, usize)> = BTreeMap::new();
    for (at, it) in all.enumerate() {
        let entry = counts.entry(it).or_insert((0, usize::MAX - at));
        entry.0 += 1;
    }
    counts.into_iter().max_by_key(|(_, rank)| *rank).map(|(it, _)| it).unwrap_or_default()
}

/// The step of a column. Its words are those of the member that has most of them under the most frequent title.
fn step(column: &Column, made: &[Workflow], total: usize, data: &mut MergedNames, lifted: &mut Vec<Operand>) -> Step {
    let members = column.steps(made);
    let titles = members.iter().map(|step| unnumbered(&step.title));
    let title = shared_title(titles.clone()).unwrap_or_else(|| most(titles).to_owned());
    let same = |step: &&&Step| squeeze(unnumbered(&step.title)) == squeeze(&title);
    let longest = |step: &&&Step| step.parts.len();
    let lead = members.iter().filter(same).max_by_key(longest).or_else(|| members.iter().max_by_key(longest));
    let Some(lead) = lead else { return Step::default() };
    let session =
        column.members.iter().zip(&members).find(|(_, step)| std::ptr::eq(**step, *lead)).map_or(0, |it| it.0.0);
    let share = column.support() as f64 / total.max(1) as f64;
    let required = members.iter().filter(|step| step.need == Need::Required).count() * 2 > members.len();
    let mut step = Step {
        level: 2,
        title: title.clone(),
        agent: most(members.iter().map(|step| step.agent.clone())),
        channel: most(members.iter().map(|step| step.channel.clone())),
        need: match (share >= COMMON, required) {
            (false, _) => Need::Optional,
            (true, true) => Need::Required,
            (true, false) => Need::Normal,
        },
        origin: members.iter().filter_map(|step| step.origin.first().cloned()).take(MAX_ORIGIN).collect(),
        ..Step::default()
    };
    let said = counted(&members);
    let count = |part: &Part| words_of_part(part).and_then(|words| said.get(&words).copied()).unwrap_or(0);
    let is_shared = |part: &Part| count(part) * 2 >= members.len();
    for part in &lead.parts {
        match part {
            Part::Flow(_) | Part::Record(_) => {}
            // What one session tried in vain, looked at or wrote is no part of what they have in common.
            Part::Command(it) if it.is_attempt() => {}
            Part::Prose(it) if FOLDED.iter().any(|kind| it.markdown.starts_with(kind)) => {}
            // Nor are words in one of them. What somebody corrected stands below, of all of them.
            Part::Remark(it) if it.kind == RemarkKind::Mind => {}
            Part::Prose(_) | Part::Remark(_) if !is_shared(part) => {}
            Part::Command(it) => step.parts.extend(command(it, session, &members, data, lifted)),
            Part::Script(it) if is_shared(part) => step.parts.push(Part::Script(it.clone())),
            // Its text is one session's, what it runs is theirs.
            Part::Script(it) if shared(&it.text, &members) => {
                let command = format!("{} …", command_key(&it.text));
                step.parts.push(Part::Command(Command { command, ..Command::default() }));
            }
            Part::Script(_) => {}
            // Values of one session, and what it came to, say nothing of the others.
            Part::Remark(it)
                if matches!(
                    it.kind,
                    RemarkKind::Uses | RemarkKind::Result | RemarkKind::Changed | RemarkKind::Agent
                ) => {}
            other => step.parts.push(other.clone()),
        }
    }
    step.parts.extend(corrections(&members, &count, total));
    if column.support() < total {
        step.parts.push(Part::remark(RemarkKind::Plain, format!("In {} of {total} sessions", column.support())));
    }
    if often(column.repeated(), total) {
        let condition = Some(format!("it has to be done again, as in {} of {total} sessions", column.repeated()));
        step.parts.push(Part::Branch(Branch { condition, target: title, ..Branch::default() }));
    }
    step
}

/// How callouts begin that hold what one session looked at and changed.
const FOLDED: &[&str] = &["> [!looks]", "> [!diff]", "> [!document]"];

/// The title that half of them are, else the words that all of them share, in their order; `None` where these say nothing.
fn shared_title<'t>(titles: impl Iterator<Item = &'t str> + Clone) -> Option<String> {
    let title = most(titles.clone());
    let is_same = |other: &&str| squeeze(other) == squeeze(title);
    if titles.clone().filter(is_same).count() * 2 >= titles.clone().count() {
        return Some(title.to_owned());
    }
    let words: Vec<&str> = title.split_whitespace().collect();
    let common = titles.fold(words.clone(), |common, title| {
        let other: Vec<&str> = title.split_whitespace().collect();
        let parts = similar::capture_diff_slices(similar::Algorithm::Lcs, &common, &other);
        let kept = parts.iter().filter(|part| part.tag() == similar::DiffTag::Equal);
        kept.flat_map(|part| &common[part.old_range()]).copied().collect()
    });
    let says = |word: &&str| word.contains(char::is_alphanumeric) && !STOP.has(&word.to_lowercase());
    common.iter().find(|word| says(word))?;
    let mut left = common.into_iter().peekable();
    let mut shown: Vec<&str> = Vec::new();
    for word in words {
        match left.next_if_eq(&word) {
            Some(word) => shown.push(word),
            None if shown.last() == Some(&"…") => {}
            None => shown.push("…"),
        }
    }
    Some(shown.join(" "))
}

/// How many members of a column say the same words.
fn counted(members: &[&Step]) -> HashMap<String, usize> {
    let mut said = HashMap::new();
    for step in members {
        let own: BTreeSet<String> = step.parts.iter().filter_map(words_of_part).collect();
        for words in own {
            *said.entry(words).or_insert(0) += 1;
        }
    }
    said
}

/// What a part says, without the links to where its session says it.
fn words_of_part(part: &Part) -> Option<String> {
    let text = match part {
        Part::Prose(it) => &it.markdown,
        Part::Remark(it) => &it.text,
        Part::Script(it) => &it.text,
        _ => return None,
    };
    Some(squeeze(&without_links(text, true)))
}

/// What persons corrected in any of the members, each once; where it was not in all sessions, in how many.
fn corrections(members: &[&Step], count: &dyn Fn(&Part) -> usize, total: usize) -> Vec<Part> {
    let mut told = BTreeSet::new();
    let parts = members.iter().flat_map(|step| &step.parts);
    let new = parts.filter_map(|part| match part {
        Part::Remark(it) if it.kind == RemarkKind::Mind && told.insert(words_of_part(part)) => {
            let count = count(part);
            let of = if count < total { format!(" (in {count} of {total} sessions)") } else { String::new() };
            Some(Part::remark(it.kind, format!("{}{of}", it.text)))
        }
        _ => None,
    });
    new.collect()
}

/// Whether half of the members ran a command of that kind.
fn shared(text: &str, members: &[&Step]) -> bool {
    let key = command_key(text);
    let has = |step: &&&Step| {
        step.parts.iter().any(|part| match part {
            Part::Command(it) => command_key(&it.command) == key,
            Part::Script(it) => command_key(&it.text) == key,
            _ => false,
        })
    };
    members.iter().filter(has).count() * 2 >= members.len()
}

/// A command that half of the members have; words that differ among those of one kind become named inputs.
fn command(
    own: &Command,
    session: usize,
    members: &[&Step],
    data: &mut MergedNames,
    lifted: &mut Vec<Operand>,
) -> Option<Part> {
    if !shared(&own.command, members) {
        return None;
    }
    let key = command_key(&own.command);
    let mut words: Vec<String> = words_of(&own.command).into_iter().map(str::to_owned).collect();
    let mut varies = vec![false; words.len()];
    for step in members {
        for part in &step.parts {
            let Part::Command(other) = part else { continue };
            let theirs = words_of(&other.command);
            if theirs.len() != words.len() || command_key(&other.command) != key {
                continue;
            }
            let differ: Vec<bool> = words.iter().zip(&theirs).map(|(a, b)| a != b).collect();
            // Mostly other words: another command.
            if differ.iter().filter(|differs| **differs).count() * 2 <= words.len() {
                varies.iter_mut().zip(differ).for_each(|(varies, differs)| *varies |= differs);
            }
        }
    }
    for (word, _) in words.iter_mut().zip(varies).filter(|(word, varies)| *varies && !word.starts_with(['<', '-'])) {
        let bare = word.trim_matches(['"', '\'']).to_owned();
        let operand = data.named(session, &bare);
        *word = format!("<{}>", operand.name);
        if !lifted.iter().any(|it| it.name == operand.name) {
            lifted.push(operand);
        }
    }
    // What one session's run said is not what the next one's will say.
    let note = own.note.as_ref().map(|note| note.split(" (").next().unwrap_or(note).to_owned());
    Some(Part::Command(Command { command: words.join(" "), note, span: Span::default() }))
}

/// The words of a command; one in quotes has blanks in it.
pub(super) fn words_of(command: &str) -> Vec<&str> {
    let mut quote = None;
    command
        .split(|c: char| {
            match quote {
                Some(open) if open == c => quote = None,
                None if matches!(c, '"' | '\'') => quote = Some(c),
                _ => {}
            }
            c == ' ' && quote.is_none()
        })
        .collect()
}

/// What kind of value a word is, and its type.
fn kind_of(word: &str) -> (&'static str, &'static str) {
    if word.starts_with("http://") || word.starts_with("https://") {
        ("url", "URL")
    } else if !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        ("number", "Number")
    } else if word.contains(['/', '.']) {
        ("file", file_type::of(word))
    } else {
        ("value", "Text")
    }
}

/// Data names over all sessions.
#[derive(Debug, Default)]
struct MergedNames {
    /// What a name of one session is called in the workflow.
    called: HashMap<(usize, String), String>,
    /// How many states a name has.
    states: HashMap<String, usize>,
    /// The state that now stands for a name, with its type.
    current: HashMap<String, (String, Option<String>)>,
}

impl MergedNames {
    /// The name of a value that varies: that of the data it is, else a new one.
    fn named(&mut self, session: usize, word: &str) -> Operand {
        if let Some(name) = self.called.get(&(session, word.to_owned())) {
            let (name, ty) = self.current.get(name).cloned().unwrap_or_else(|| (name.clone(), None));
            return Operand { name, ty, ..Operand::default() };
        }
        let (label, ty) = kind_of(word);
        let count = self.states.entry(label.to_owned()).or_insert(0);
        *count += 1;
        let name = if *count == 1 { label.to_owned() } else { format!("{label}@{count}") };
        Operand { name, ty: Some(ty.to_owned()), ..Operand::default() }
    }

    /// What the members of a column take and give, in common names; `lifted` are inputs of its commands.
    fn flow(&mut self, title: &str, column: &Column, made: &[Workflow], lifted: Vec<Operand>) -> Option<Flow> {
        let short = short_name(title);
        let inputs = self.side(column, made, &format!("{short}-input"), true);
        let outputs = self.side(column, made, &format!("{short}-output"), false);
        let state = |names: &mut Self, (name, ty, files): Side| {
            let count = names.states.entry(name.clone()).or_insert(0);
            *count += 1;
            let own = if *count == 1 { name.clone() } else { format!("{name}@{count}") };
            names.current.insert(name, (own.clone(), ty.clone()));
            Operand { name: own, ty, files, ..Operand::default() }
        };
        let mut taken: Vec<Operand> = Vec::new();
        for side in inputs {
            let known = self.current.get(&side.0).cloned();
            let changes = outputs.iter().any(|output| output.0 == side.0);
            match known {
                Some((name, ty)) => taken.push(Operand { name, ty, files: side.2, ..Operand::default() }),
                // What is only changed in place was there before.
                None if changes => {}
                None => taken.push(state(self, side)),
            }
        }
        let news = lifted.into_iter().filter(|it| taken.iter().all(|other| other.name != it.name)).collect::<Vec<_>>();
        taken.extend(news);
        let given: Vec<Operand> = outputs.into_iter().map(|side| state(self, side)).collect();
        if given.is_empty() {
            return None;
        }
        if taken.is_empty() {
            taken.push(Operand { name: "request".into(), ..Operand::default() });
        }
        Some(Flow { stages: vec![taken, given], ..Flow::default() })
    }

    /// Names that half of the members have; the others are lifted to one name of their own.
    fn side(&mut self, column: &Column, made: &[Workflow], lifted: &str, inputs: bool) -> Vec<Side> {
        let members: Vec<(usize, Vec<&Operand>)> = column
            .members
            .iter()
            .filter_map(|&(session, step)| {
                let step = made.get(session)?.steps.get(step)?;
                let stages = step.flows().flat_map(|flow| flow.stages.iter().enumerate());
                let operands: Vec<&Operand> =
                    stages.filter(|(at, _)| (*at == 0) == inputs).flat_map(|(_, it)| it).collect();
                Some((session, operands))
            })
            .collect();
        let mut order: Vec<String> = Vec::new();
        let mut counts: HashMap<String, (usize, Option<String>, Option<usize>)> = HashMap::new();
        let mut called: Vec<(usize, String, String, Option<String>)> = Vec::new();
        for (session, operands) in &members {
            let mut seen = BTreeSet::new();
            for operand in operands {
                let raw = unnumbered_state(&operand.name).to_owned();
                let name = self.called.get(&(*session, raw.clone())).cloned().unwrap_or_else(|| raw.clone());
                if name != "request" && seen.insert(name.clone()) {
                    let entry = counts.entry(name.clone()).or_insert_with(|| {
                        order.push(name.clone());
                        (0, operand.ty.clone(), operand.files)
                    });
                    entry.0 += 1;
                    called.push((*session, raw, name, operand.ty.clone()));
                }
            }
        }
        let is_common = |name: &str| counts.get(name).is_some_and(|(count, ..)| *count * 2 >= members.len());
        let mut sides: Vec<Side> = order
            .iter()
            .filter(|name| is_common(name))
            .map(|name| {
                let (_, ty, files) = counts[name.as_str()].clone();
                (name.clone(), ty, files)
            })
            .collect();
        let rest: Vec<&(usize, String, String, Option<String>)> =
            called.iter().filter(|(_, _, name, _)| !is_common(name)).collect();
        let sessions: BTreeSet<usize> = rest.iter().map(|it| it.0).collect();
        if sessions.len() * 2 >= members.len() && members.len() > 1 && !rest.is_empty() {
            let types: BTreeSet<&str> =
                rest.iter().map(|it| it.3.as_deref().unwrap_or_else(|| file_type::of(&it.1))).collect();
            let ty = if types.len() == 1 { types.first().copied() } else { None };
            for (session, raw, _, _) in &rest {
                self.called.insert((*session, raw.clone()), lifted.to_owned());
            }
            sides.push((lifted.to_owned(), Some(ty.unwrap_or("Path").to_owned()), None));
        }
        sides
    }
}

/// Name, type, number of files.
type Side = (String, Option<String>, Option<usize>);

/// Steps that stand below another in most sessions stand below it here too.
fn nest(workflow: &mut Workflow, kept: &[&Column], made: &[Workflow]) {
    let place: HashMap<(usize, usize), usize> = kept
        .iter()
        .enumerate()
        .flat_map(|(at, column)| column.members.iter().map(move |member| (*member, at)))
        .collect();
    for (at, column) in kept.iter().enumerate() {
        let parents = column.members.iter().map(|&(session, step)| {
            let parent = made.get(session)?.steps.get(step)?.parent?;
            place.get(&(session, parent)).copied().filter(|&parent| parent < at)
        });
        let Some(parent) = most(parents) else { continue };
        // Only right behind its parent, or behind another child of it.
        let fits = parent + 1 == at || workflow.steps.get(at - 1).is_some_and(|step| step.parent == Some(parent));
        if fits && let Some(level) = workflow.steps.get(parent).map(|step| step.level + 1) {
            workflow.steps[at].parent = Some(parent);
            workflow.steps[at].level = level.min(6);
        }
    }
}

/// Neighbours that were done in both orders, and that no data join: each is told of the other.
pub(super) fn parallel(workflow: &mut Workflow, kept: &[&Column], titles: &[String], total: usize) -> Vec<[String; 2]> {
    let mut pairs: Vec<(usize, usize, usize, usize)> = Vec::new();
    {
        let graph = Graph::of(workflow);
        for at in 1..kept.len() {
            let (before, after) = before_after(kept[at - 1], kept[at]);
            let joined = graph.joined_after(at - 1).any(|to| to == at);
            if often(before.min(after), total) && !joined {
                pairs.push((at - 1, at, after.min(before), before + after));
            }
        }
    }
    for &(one, other, count, both) in &pairs {
        for (step, beside) in [(one, other), (other, one)] {
            let text =
                format!("May run beside “{}”: {count} of {both} sessions did it the other way round", titles[beside]);
            workflow.steps[step].parts.push(Part::remark(RemarkKind::Plain, text));
        }
    }
    pairs.iter().map(|&(one, other, ..)| [titles[one].clone(), titles[other].clone()]).collect()
}

/// The runs of all sessions, each under the title that its step has here.
pub(super) fn record(kept: &[&Column], titles: &[String], made: &[Workflow]) -> Option<Record> {
    let mut place: HashMap<(usize, &str), &str> = HashMap::new();
    for (column, title) in kept.iter().zip(titles) {
        for &(session, step) in column.members.iter().chain(&column.again) {
            if let Some(step) = made.get(session).and_then(|it| it.steps.get(step)) {
                place.insert((session, &step.title), title);
            }
        }
    }
    let mut all = Record::default();
    for (session, workflow) in made.iter().enumerate() {
        for record in workflow.records() {
            let phase = record.columns.iter().position(|name| name == "phase")?;
            all.columns.clone_from(&record.columns);
            for row in &record.rows {
                if let Some(title) = row.get(phase).and_then(|own| place.get(&(session, own.as_str()))) {
                    let mut row = row.clone();
                    (*title).clone_into(&mut row[phase]);
                    all.rows.push(row);
                }
            }
        }
    }
    (!all.rows.is_empty()).then_some(all)
}

/// Goals that half of the sessions have.
fn goals(made: &[Workflow]) -> Vec<Goal> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for goal in made.iter().flat_map(|it| &it.goals) {
        *counts.entry(squeeze(&goal.text)).or_default() += 1;
    }
    let mut seen = BTreeSet::new();
    let goals = made.iter().flat_map(|it| &it.goals);
    let often = |goal: &&Goal| counts.get(&squeeze(&goal.text)).is_some_and(|count| *count * 2 >= made.len());
    goals.filter(often).filter(|goal| seen.insert(squeeze(&goal.text))).cloned().collect()
}

/// Checks of which half of the sessions have one of the kind.
fn checks(made: &[Workflow]) -> Vec<super::super::model::Check> {
    let key = |check: &super::super::model::Check| check.command.as_deref().map(command_key).unwrap_or_default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for workflow in made {
        let keys: BTreeSet<String> = workflow.checks.iter().map(&key).collect();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    let mut seen = BTreeSet::new();
    let all = made.iter().flat_map(|it| &it.checks);
    all.filter(|check| counts.get(&key(check)).is_some_and(|count| *count * 2 >= made.len()))
        .filter(|check| seen.insert(key(check)))
        .cloned()
        .collect()
}
