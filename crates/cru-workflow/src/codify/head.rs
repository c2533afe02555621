//! The head of a workflow: what kind of work it is for, what goes in, when it is done, what was left open.

use std::collections::BTreeSet;

use foldhash::HashSet;

use super::call::{Call, CallKind};
use super::draft::Draft;
use super::facts::{Facts, Setting};
use super::input::Inputs;
use super::outcome::{PASSES, WorkChecks};
use super::{Shape, block_link, clean, file_type, inline, step_title};
use crate::evidence::Evidence;
use crate::model::{Check, Goal, Part, Step, Workflow};
use crate::text::code_span;
use cru_base::list::distinct;
use cru_base::text::{plural, truncate};
use cru_graph::Plan;
use cru_session::open::{OpenPoint, open_points};
use cru_session::words::pasted::is_pasted;
use cru_session::words::quote::quote;
use cru_session::{Link, Session, User};

/// Names in a line; fewer for the inputs of a skeleton that has no room.
pub(crate) const MAX_NAMES: usize = 6;
/// Tasks listed as goals at most.
const MAX_GOALS: usize = 30;
/// Characters of a value, a task, a check.
const MAX_VALUE: usize = 160;
/// Characters of a check that is named as it was called.
const MAX_CHECK: usize = 80;
/// Bytes of people's words in which files are looked for.
const MAX_WORDS: usize = 200_000;
/// Documents that were read and are looked for in them.
const MAX_DOCUMENTS: usize = 200;
/// Plans that may all be what is done.
const MAX_PLANS: usize = 3;
/// What stands where the session does not say.
const NOTHING: &str = "not recorded";

impl Facts<'_> {
    /// The workflow of `steps` with its head, in which a line has at most `names` names, and `preface` below that.
    pub(super) fn workflow(&self, steps: Vec<Step>, names: usize, preface: impl IntoIterator<Item = Part>) -> Workflow {
        let (setting, session) = (self.setting, self.setting.session);
        let goals = goals(session);
        // The replay lists the goals; the skeleton has a line of its head for them.
        let is_replay = setting.options.shape == Shape::Replay;
        let (listed, told): (Vec<Goal>, &[Goal]) = if is_replay { (goals, &[]) } else { (Vec::new(), &goals) };
        let most = if is_replay { usize::MAX } else { names };
        let mut workflow = Workflow {
            title: step_title::workflow_title(session, self.drafts, setting.work.part),
            sources: sources(session),
            goals: listed,
            checks: self.checks.rows.iter().take(most).cloned().collect(),
            steps,
            ..Workflow::default()
        };
        workflow.preface.push(head(self, told, &workflow, names));
        workflow.preface.extend(preface);
        workflow
    }
}

/// The links to the session.
pub(super) fn sources(session: &Session) -> Vec<Link> {
    session.meta.session_id.iter().map(|id| Link::to_note(clean(id))).collect()
}

/// The tasks of the session.
fn goals(session: &Session) -> Vec<Goal> {
    let tasks = session.tasks();
    let mut seen = HashSet::default();
    let texts = tasks.iter().map(|task| truncate(&clean(&task.content), 160).into_owned());
    let texts: Vec<String> = texts.filter(|text| !text.is_empty() && seen.insert(text.to_lowercase())).collect();
    // A workflow is to be done again: there is nothing to tick.
    texts.into_iter().take(MAX_GOALS).map(|text| Goal { text, plain: true, ..Goal::default() }).collect()
}

/// The head, with `most` names in a line; `workflow` has its steps already. `goals` are the tasks of the session, where they are
/// no section of the workflow.
fn head(facts: &Facts<'_>, goals: &[Goal], workflow: &Workflow, most: usize) -> Part {
    let Facts { setting, drafts, inputs, checks, .. } = facts;
    let Setting { work, session, evidence, .. } = setting;
    let mut calls: Vec<&Call<'_>> = drafts.iter().flat_map(Draft::calls).collect();
    calls.sort_by_key(|call| call.place);
    let or_nothing = |parts: Vec<String>| if parts.is_empty() { NOTHING.to_owned() } else { parts.join("; ") };
    let also =
        work.idle.iter().take(most).map(|user| format!("Also asked: “{}”", inline(&quote(&user.words, MAX_VALUE))));
    let lines = [
        format!("For: {}", kind(&calls, setting, most)),
        format!(
            "Inputs: {}",
            or_nothing(inputs_of([documents(session, drafts, &work.asked), values(inputs, workflow)], most))
        ),
        format!("Done when: {}", or_nothing(done(workflow, goals, checks))),
        format!("Open at the end: {}", or_nothing(open(session, evidence))),
    ];
    let lines: Vec<String> = lines.into_iter().chain(also).collect();
    Part::prose(lines.join("\n"))
}

/// Documents and values, at most so many of each.
fn inputs_of(both: [Vec<String>; 2], most: usize) -> Vec<String> {
    let some = |mut names: Vec<String>| {
        let more = names.len().saturating_sub(most);
        names.truncate(most);
        names.extend((more > 0).then(|| format!("{more} more")));
        names
    };
    both.into_iter().flat_map(some).collect()
}

/// The kind of work: what it changes, how it is checked, how it is handed over.
fn kind(calls: &[&Call<'_>], &Setting { session, evidence, .. }: &Setting<'_>, most: usize) -> String {
    let mut types: Vec<(&str, usize)> = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for path in calls.iter().filter(|call| call.succeeded()).flat_map(|call| &call.writes) {
        if !seen.insert(path) {
            continue;
        }
        let Some(ty) = file_type::common(&[path.as_ref()]) else { continue };
        match types.iter_mut().find(|(known, _)| *known == ty) {
            Some((_, count)) => *count += 1,
            None => types.push((ty, 1)),
        }
    }
    types.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let types: Vec<&str> = types.iter().filter(|(ty, _)| *ty != "Path").map(|(ty, _)| *ty).take(3).collect();
    let ran = |kind: CallKind| -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for call in calls.iter().filter(|call| call.kind == kind && call.shell && call.succeeded()) {
            // A check as it was called; of anything else program and verb.
            let as_called: Vec<&String> = call.checks.iter().map(|check| &check.text).collect();
            let as_called: Vec<&String> =
                as_called.into_iter().filter(|text| text.chars().count() <= MAX_CHECK).collect();
            let called = if kind == CallKind::Check && !as_called.is_empty() {
                as_called
            } else {
                call.programs.iter().collect()
            };
            for name in called {
                let name = if kind == CallKind::Check { code_span(name) } else { name.to_owned() };
                if !names.contains(&name) && names.len() < most {
                    names.push(name);
                }
            }
        }
        names
    };
    let mut parts: Vec<String> = Vec::new();
    if !seen.is_empty() {
        let of = if types.is_empty() { String::new() } else { format!("{} ", types.join(", ")) };
        parts.push(format!("change of {of}files"));
    }
    let (changes, checks) = (ran(CallKind::Change), ran(CallKind::Check));
    if parts.is_empty() && !changes.is_empty() {
        parts.push(format!("commands that change something ({})", changes.join(", ")));
    }
    if !checks.is_empty() {
        parts.push(format!("checked with {}", checks.join(", ")));
    }
    let made = |of: fn(&Call<'_>) -> bool| calls.iter().any(|call| call.succeeded() && of(call));
    for (word, made) in [
        ("committed", calls.iter().any(|call| call.has_committed())),
        ("pushed", calls.iter().any(|call| pushed(call, evidence))),
        ("published", made(|call| call.publishes && !call.pushes)),
    ] {
        if made {
            parts.push(word.to_owned());
        }
    }
    if parts.is_empty() {
        let runs = ran(CallKind::Run);
        let looks = ran(CallKind::Look);
        let end = if session.meta.tells_changes() { "nothing is changed" } else { "changes are not recorded" };
        parts.push(match (runs.is_empty(), looks.is_empty()) {
            (false, _) => format!("runs of {}", runs.join(", ")),
            (true, false) => format!("looking, with {}; {end}", looks.join(", ")),
            (true, true) => format!("looking; {end}"),
        });
    }
    inline(&parts.join(", "))
}

/// Whether a call is known to have pushed.
fn pushed(call: &Call<'_>, evidence: &Evidence) -> bool {
    call.has_pushed(evidence.output(call.step.id.as_deref()))
}

/// The documents that the work starts from: what a request hands over with headings, a plan that was agreed to, files that
/// requests name, and plans that were read and not written before.
fn documents(session: &Session, drafts: &[Draft<'_>], asked: &Plan<'_>) -> Vec<String> {
    let note = session.meta.session_id.as_deref();
    let mut told: Vec<String> = Vec::new();
    let told_title = |text: &str| inline(&quote(text, MAX_VALUE));
    let here: Vec<&User> = drafts.iter().flat_map(Draft::said).collect();
    let address = |user: &User| std::ptr::from_ref(user).addr();
    let of_drafts: HashSet<usize> = here.iter().map(|user| address(user)).collect();
    for outline in asked.requested.iter().filter(|it| of_drafts.contains(&address(it.request))) {
        let Some(first) = outline.sections.first() else { continue };
        let at =
            outline.request.callout.id.as_deref().map_or_else(String::new, |id| format!(" ({})", block_link(note, id)));
        told.push(format!("the document in the request, “{}”{at}", told_title(&first.title)));
    }
    // What a request hands over names what is to be changed, too; files that are meant as sources stand in short words.
    let handed: HashSet<usize> = asked.requested.iter().map(|it| address(it.request)).collect();
    let mut words: String = String::new();
    for user in here.into_iter().filter(|user| !handed.contains(&address(user))) {
        if words.len() + user.words.len() > MAX_WORDS {
            break;
        }
        for line in user.words.lines().filter(|line| !is_pasted(line.trim())) {
            words.push_str(line);
            words.push('\n');
        }
    }
    told.extend(mentioned(&words).into_iter().map(code_span));
    let mut calls: Vec<&Call<'_>> = drafts.iter().flat_map(Draft::calls).filter(|call| call.succeeded()).collect();
    calls.sort_by_key(|call| call.place);
    let written: BTreeSet<&str> = calls.iter().flat_map(|call| &call.writes).map(AsRef::as_ref).collect();
    let read = calls.iter().flat_map(|call| &call.reads).map(AsRef::as_ref);
    let documents = read.filter(|path| file_type::is_document(path) && !written.contains(path));
    let read: Vec<&str> = distinct(documents, MAX_DOCUMENTS);
    // Many plans are what somebody looked through, and none of them what is done.
    let plans = read.iter().filter(|path| is_plan(path)).count();
    for path in read {
        let shown = code_span(&clean(path));
        if !told.contains(&shown) && ((is_plan(path) && plans <= MAX_PLANS) || names(&words, path)) {
            told.push(shown);
        }
    }
    told
}

/// The files that words mention with `@`, as hosts take them along.
fn mentioned(words: &str) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for word in words.split_whitespace() {
        let Some(path) = word.strip_prefix('@').filter(|_| all.len() < MAX_DOCUMENTS) else { continue };
        let path = path.trim_end_matches(['.', ',', ':', ';', ')', '"', '\'', '!', '?']);
        // `pytest.mark.tui` is none: a file without a folder has one dot.
        let is_path = path.contains('/') || path.trim_start_matches('.').matches('.').count() == 1;
        // A package has one slash behind its scope, and no extension.
        let is_package = path.matches('/').count() == 1 && !path.contains('.');
        if is_path
            && !is_package
            && !path.contains('@')
            && path.is_ascii()
            && path.len() < MAX_VALUE
            && !all.contains(&path)
        {
            all.push(path);
        }
    }
    all
}

/// Whether words name a file, as a whole word.
fn names(words: &str, path: &str) -> bool {
    path.len() > 4
        && words.match_indices(path).any(|(at, _)| {
            let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            let before = words[..at].chars().next_back();
            let after = words[at + path.len()..].chars().next();
            !before.is_some_and(joins) && !after.is_some_and(joins)
        })
}

/// Whether a path is that of a plan: a part of it says so.
fn is_plan(path: &str) -> bool {
    let mut words = path.split(|c: char| !c.is_alphanumeric());
    words.any(|word| word.eq_ignore_ascii_case("plan") || word.eq_ignore_ascii_case("plans"))
}

/// The inputs that the workflow names, with the values of the session.
fn values(inputs: &Inputs, workflow: &Workflow) -> Vec<String> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut add = |text: &str| {
        for (at, _) in text.match_indices('<') {
            if let Some((name, _)) = text[at + 1..].split_once('>').filter(|(name, _)| name.len() < 40) {
                used.insert(name.to_owned());
            }
        }
    };
    for part in workflow.steps.iter().flat_map(|step| &step.parts) {
        match part {
            Part::Command(it) => add(&it.command),
            Part::Script(it) => add(&it.text),
            _ => {}
        }
    }
    for check in &workflow.checks {
        add(check.command.as_deref().unwrap_or(""));
    }
    for flow in workflow.steps.iter().flat_map(crate::model::Step::flows) {
        used.extend(flow.inputs().iter().map(|operand| operand.name.clone()));
    }
    let one = |name: &str, value: &str| {
        let name = code_span(&format!("<{name}>"));
        // A home folder is that of one person and one machine.
        if value.is_empty() { name } else { format!("{name} ({})", inline(&truncate(&clean(value), MAX_VALUE))) }
    };
    let mut lines: Vec<String> = Vec::new();
    let own = inputs.all.iter().map(|input| (input.name.as_str(), input.value.as_str()));
    let places = [("project", inputs.project.as_deref()), ("home", inputs.names_home.then_some(""))];
    let places = places.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let mut all: Vec<(&str, &str)> = own.chain(places).filter(|(name, _)| used.contains(*name)).collect();
    all.sort_unstable();
    lines.extend(all.into_iter().map(|(name, value)| one(name, value)));
    lines
}

/// When the work is done: the checks that a request or plan asked for, run or not, else those that pass at the end, else the
/// goals.
fn done(workflow: &Workflow, goals: &[Goal], checks: &WorkChecks) -> Vec<String> {
    let told = |check: &Check| match &check.command {
        Some(command) if check.text == PASSES => format!("{} passes", code_span(command)),
        Some(command) => format!("{} ({})", code_span(command), inline(&check.text)),
        None => inline(&check.text),
    };
    let demanded = checks.demanded.iter().filter_map(|at| checks.rows.get(*at));
    let mut parts: Vec<String> = demanded.map(told).collect();
    if parts.is_empty() {
        parts.extend(checks.rows.iter().filter(|check| check.command.is_some() && check.text == PASSES).map(told));
    }
    let more = parts.len().saturating_sub(MAX_NAMES);
    parts.truncate(MAX_NAMES);
    if more > 0 {
        parts.push(plural(more as u64, "more check"));
    }
    if parts.is_empty() && !workflow.goals.is_empty() {
        parts.push("all goals are reached".to_owned());
    } else if parts.is_empty() {
        let tasks = goals
            .iter()
            .take(MAX_NAMES)
            .map(|goal| format!("{} is done", inline(&format!("“{}”", truncate(&goal.text, 80)))));
        parts.extend(tasks);
        let more = goals.len().saturating_sub(MAX_NAMES);
        parts.extend((more > 0).then(|| plural(more as u64, "more task")));
    }
    parts
}

/// What the session left open, as its note says it: by an accepted reading, else by the record.
fn open(session: &Session, evidence: &Evidence) -> Vec<String> {
    let points = match evidence.open() {
        [] => open_points(session).iter().map(OpenPoint::to_line).collect(),
        open => open.to_vec(),
    };
    let mut parts: Vec<String> =
        points.iter().take(MAX_NAMES).map(|point| inline(&truncate(&clean(point), MAX_VALUE))).collect();
    if points.len() > MAX_NAMES {
        parts.push(format!("{} more", points.len() - MAX_NAMES));
    }
    parts
}
