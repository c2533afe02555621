//! What an answer may neither invent nor lose, compared as sets: gates, goals, decisions, corrections, checks, what goes in, when
//! it is done, what was open, and where each step comes from.

use cru_action::Verdict;
use cru_base::Span;
use cru_base::text::truncate;
use cru_session::Link;

use super::cited::{Cited, ids};
use super::head::{self, DONE, HeadLine, INPUTS, LIMIT, OPEN};
use super::known::{Known, section};
use super::{DROPPED, NOT_SHOWN, is_free, letters, texts};
use crate::align::{Features, align};
use crate::codify::head::MAX_NAMES;
use crate::model::{Gate, Part, RemarkKind, Workflow};
use crate::unify::unifies;

/// What was found when an answer was compared.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// What the answer has and no session: taken out of its place, a line each.
    pub apart: Vec<String>,
    /// What the skeleton has, and the answer neither tells nor names under [`DROPPED`].
    pub lost: Vec<String>,
}

/// Characters of something in a message.
const LONGEST: usize = 160;

/// Takes out what is invented, and puts back what is lost.
pub(super) fn compare(workflow: &mut Workflow, extract: &Workflow, known: &Known<'_>, cited: &Cited) -> Compared {
    let mut found = Compared::default();
    let dropped = Dropped::of(workflow);
    goals(workflow, extract, cited, &mut found);
    gates(workflow, extract, &dropped, &mut found);
    remarks(workflow, extract, &dropped, cited, &mut found);
    lines(workflow, known, &mut found);
    checks(workflow, extract, &dropped, cited, &mut found);
    of_head(workflow, extract, &dropped, known, cited, &mut found);
    origins(workflow, extract, cited);
    found
}

/// What stands between something and what is said of it.
const SEPARATORS: [char; 4] = [':', '：', '—', '–'];

/// What an answer leaves out, each with a reason.
struct Dropped(Vec<String>);

impl Dropped {
    fn of(workflow: &Workflow) -> Self {
        let parts = section(workflow, DROPPED).flat_map(|step| &step.parts);
        let lines = parts.flat_map(|part| match part {
            Part::Remark(it) => it.text.lines().collect::<Vec<_>>(),
            Part::Prose(it) => it.markdown.lines().collect(),
            _ => Vec::new(),
        });
        // Without a reason nothing is let go.
        let reasoned = lines.filter(|line| {
            let reason = line.rsplit_once(SEPARATORS).map_or("", |(_, reason)| reason);
            reason.chars().filter(|c| c.is_alphabetic()).count() >= 3
        });
        Self(reasoned.map(str::to_owned).collect())
    }

    /// Whether something is named there, by its first words: they stand in a line, or are all that stands before one of its colons,
    /// with or without a label (`Mind: …`).
    fn has(&self, text: &str) -> bool {
        let whole = letters(text);
        let first: String = whole.chars().take(40).collect();
        let opening = letters(text.split(SEPARATORS).next().unwrap_or_default());
        let is_named = |words: &str| {
            let words = letters(words);
            // Fewer letters may begin anything.
            whole.starts_with(&words) && (words == opening || words.chars().count() >= 8)
        };
        let names = |line: &String| {
            let starts = std::iter::once(0).chain(line.find(": ").map(|at| at + 2));
            let ends = || line.match_indices(SEPARATORS).map(|(at, _)| at);
            starts.into_iter().any(|start| ends().filter(|end| *end > start).any(|end| is_named(&line[start..end])))
        };
        !first.is_empty() && self.0.iter().any(|line| letters(line).contains(&first) || names(line))
    }
}

impl Compared {
    /// Sets something apart that stands at a place, with the reason.
    fn set_apart(&mut self, place: &str, text: &str, why: &str) {
        self.apart.push(format!("{place}: {} — {why}", shown(text)));
    }
}

fn shown(text: &str) -> String {
    truncate(&cru_base::text::fold_whitespace(text), LONGEST).into_owned()
}

fn goals(workflow: &mut Workflow, extract: &Workflow, cited: &Cited, found: &mut Compared) {
    let is_own =
        |text: &str| extract.goals.iter().any(|goal| letters(&goal.text) == letters(text)) || cited.is_task(text);
    workflow.goals.retain(|goal| {
        let own = is_own(&goal.text);
        if !own {
            found.set_apart("Goal", &goal.text, "no task or goal of the session");
        }
        own
    });
    for goal in &extract.goals {
        if !workflow.goals.iter().any(|own| letters(&own.text) == letters(&goal.text)) {
            workflow.goals.push(goal.clone());
        }
    }
}

/// Whether a gate of an answer is one of the skeleton: with its title, and nothing in it that it does not say.
fn is_gate(own: &Gate, gate: &Gate) -> bool {
    let (title, body) = (letters(&gate.title), letters(&gate.body));
    letters(&own.title) == title && own.body.split('…').all(|part| body.contains(&letters(part)))
}

/// Where a part stands: in the preface, or in a step.
type At = Option<usize>;

fn parts_of(workflow: &Workflow, at: At) -> &[Part] {
    match at {
        None => &workflow.preface,
        Some(step) => workflow.steps.get(step).map_or(&[], |step| &step.parts),
    }
}

fn parts_mut(workflow: &mut Workflow, at: At) -> &mut Vec<Part> {
    match at.filter(|at| *at < workflow.steps.len()) {
        None => &mut workflow.preface,
        Some(step) => &mut workflow.steps[step].parts,
    }
}

fn places(workflow: &Workflow) -> impl Iterator<Item = At> + use<> {
    std::iter::once(None).chain((0..workflow.steps.len()).map(Some))
}

/// The gates of a workflow with what they guard: the commands behind each, and not before it.
fn guarded(workflow: &Workflow) -> Vec<(At, Gate, Vec<String>)> {
    let mut before: Vec<String> = Vec::new();
    let mut gates: Vec<(At, Gate, Vec<String>)> = Vec::new();
    for at in places(workflow) {
        for part in parts_of(workflow, at) {
            match part {
                Part::Gate(gate) => gates.push((at, gate.clone(), Vec::new())),
                Part::Command(it) => before.push(it.command.clone()),
                Part::Script(it) => before.push(it.text.clone()),
                _ => continue,
            }
            let Some(command) = before.last().filter(|_| !matches!(part, Part::Gate(_))).cloned() else { continue };
            let is_new = before.iter().filter(|known| **known == command).count() == 1;
            gates.iter_mut().filter(|_| is_new).for_each(|(.., guards)| guards.push(command.clone()));
        }
    }
    gates
}

/// The first command of a workflow that a gate guards.
fn first_guarded(workflow: &Workflow, guards: &[String]) -> Option<(At, usize)> {
    let is_guarded = |part: &Part| match part {
        Part::Command(it) => guards.iter().any(|own| unifies(&it.command, own)),
        Part::Script(it) => guards.iter().any(|own| unifies(&it.text, own)),
        _ => false,
    };
    places(workflow).find_map(|at| Some((at, parts_of(workflow, at).iter().position(is_guarded)?)))
}

fn gates(workflow: &mut Workflow, extract: &Workflow, dropped: &Dropped, found: &mut Compared) {
    let mut wanted: Vec<(At, Gate, Vec<String>, bool)> =
        guarded(extract).into_iter().map(|(at, gate, guards)| (at, gate, guards, false)).collect();
    for at in places(workflow) {
        let mut index = 0;
        while let Some(part) = parts_of(workflow, at).get(index) {
            let Part::Gate(own) = part else {
                index += 1;
                continue;
            };
            let own = own.clone();
            let known = wanted.iter_mut().find(|(_, gate, _, told)| !told && is_gate(&own, gate));
            let Some((_, gate, guards, told)) = known else {
                found.set_apart("Gate", &format!("{} {}", own.title, own.body), "nobody was asked this");
                parts_mut(workflow, at).remove(index);
                continue;
            };
            *told = true;
            // A gate that stands behind what it guards asks too late.
            let late = first_guarded(workflow, guards).is_some_and(|first| first < (at, index));
            if late {
                found.lost.push(shown(&format!("the gate “{}” before what it guards", gate.title)));
                let gate = parts_mut(workflow, at).remove(index);
                if let Some((step, place)) = first_guarded(workflow, guards) {
                    parts_mut(workflow, step).insert(place, gate);
                }
                continue;
            }
            index += 1;
        }
    }
    for (at, gate, guards, told) in wanted {
        if told || dropped.has(&gate.title) {
            continue;
        }
        found.lost.push(shown(&format!("the gate “{}”", gate.title)));
        let gate = Part::Gate(gate);
        match (first_guarded(workflow, &guards), at) {
            (Some((step, place)), _) => parts_mut(workflow, step).insert(place, gate),
            (None, None) => workflow.preface.push(gate),
            // It guards nothing that is still there: it closes its step.
            (None, Some(step)) => {
                let home = home(workflow, extract, step);
                parts_mut(workflow, home).push(gate);
            }
        }
    }
}

/// The step of an answer that is that of the skeleton, else the nearest one before it that is still there.
fn home(workflow: &Workflow, extract: &Workflow, step: usize) -> At {
    let ((left, old), (right, new)) = (Features::all(extract), Features::all(workflow));
    let alignment = align(&old, &new);
    let pairs = alignment.pairs.iter().chain(&alignment.moved).map(|&(l, r)| (left[l], right[r]));
    pairs.filter(|(of, _)| *of <= step).max_by_key(|(of, _)| *of).map(|(_, to)| to)
}

/// Decisions and corrections: told in their words, or by the id of the words.
fn remarks(workflow: &mut Workflow, extract: &Workflow, dropped: &Dropped, cited: &Cited, found: &mut Compared) {
    let told: Vec<String> = texts(workflow).collect();
    let cites: Vec<String> = all_text(workflow).flat_map(|text| ids(text).into_iter().map(str::to_owned)).collect();
    for at in places(extract) {
        for part in parts_of(extract, at) {
            let Part::Remark(remark) = part else { continue };
            let what = match remark.kind {
                RemarkKind::Mind => "the correction",
                RemarkKind::Decided => "the decision",
                _ => continue,
            };
            let own = letters(&remark.text);
            let by_id = || cited.said_in(&remark.text).any(|id| cites.iter().any(|own| own == id));
            // A decision in other words cites the question that was asked.
            let is_decision = remark.kind == RemarkKind::Decided;
            let is_decided = || is_decision && cites.iter().any(|id| cited.decides(id, &remark.text));
            if told.iter().any(|text| text.contains(&own)) || by_id() || is_decided() || dropped.has(&remark.text) {
                continue;
            }
            found.lost.push(shown(&format!("{what} “{}”", remark.text)));
            let home = at.and_then(|step| home(workflow, extract, step));
            parts_mut(workflow, home).push(part.clone());
        }
    }
}

/// Every text of a workflow, as it stands there.
fn all_text(workflow: &Workflow) -> impl Iterator<Item = &str> {
    workflow.preface.iter().chain(workflow.steps.iter().flat_map(|step| &step.parts)).filter_map(text_of)
}

/// What a part says in words.
fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Prose(it) => Some(it.markdown.as_str()),
        Part::Remark(it) => Some(it.text.as_str()),
        Part::Command(it) => it.note.as_deref(),
        _ => None,
    }
}

/// Lines and paragraphs of an answer that neither the skeleton has nor the record proves; of a command what is said of it.
fn lines(workflow: &mut Workflow, known: &Known<'_>, found: &mut Compared) {
    for step in workflow.steps.iter_mut().filter(|step| !is_free(step)) {
        let title = step.title.clone();
        step.parts.retain_mut(|part| {
            let text = match part {
                Part::Remark(it) if it.kind != RemarkKind::After => &it.text,
                Part::Prose(it) => &it.markdown,
                Part::Command(it) => {
                    let note = it.note.clone().unwrap_or_default();
                    if let Some(why) = known.unproven(&note) {
                        found.set_apart(&format!("{title}, `{}`", it.command), &note, &why);
                        it.note = Some(format!("({})", ids(&note).join(", "))).filter(|cites| cites != "()");
                    }
                    return true;
                }
                _ => return true,
            };
            let why = unproven(text, known);
            if let Some(why) = &why {
                found.set_apart(&title, text, why);
            }
            why.is_none()
        });
    }
}

/// Why a line is no part of a recipe. A limit needs no proof; what it names has to be there.
fn unproven(text: &str, known: &Known<'_>) -> Option<String> {
    if text.starts_with(NOT_SHOWN) { known.unproven(text) } else { known.doubt(text) }
}

/// How a check ended when it was last run, with the step; `None` where no step ran it as a check.
fn last_end(command: &str, cited: &Cited) -> Option<String> {
    let (id, verdict) = cited.last_run(command)?;
    let end = match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed when it was last run",
        Verdict::Unknown => "how its last run ended is not recorded",
    };
    Some(format!("{end} ({id})"))
}

/// The checks, each with what the record says of it.
fn checks(workflow: &mut Workflow, extract: &Workflow, dropped: &Dropped, cited: &Cited, found: &mut Compared) {
    let of_extract = |command: &str| {
        extract.checks.iter().find(|own| own.command.as_deref().is_some_and(|own| unifies(command, own)))
    };
    workflow.checks.retain_mut(|check| {
        let own = match check.command.as_deref() {
            Some(command) => of_extract(command).map(|own| own.text.clone()).or_else(|| last_end(command, cited)),
            // By hand: as the skeleton says it.
            None => extract
                .checks
                .iter()
                .find(|own| own.command.is_none() && letters(&own.text) == letters(&check.text))
                .map(|own| own.text.clone()),
        };
        if let Some(text) = own {
            check.text = text;
            return true;
        }
        let words = check.command.as_deref().map_or_else(|| check.text.clone(), |it| format!("`{it}` {}", check.text));
        found.set_apart("Check", &words, "no step of the session ran it as a check");
        false
    });
    let parts = workflow.steps.iter().flat_map(|step| &step.parts);
    let told: Vec<String> = parts
        .filter_map(|part| match part {
            Part::Command(it) => Some(it.command.clone()),
            _ => None,
        })
        .collect();
    for check in &extract.checks {
        let is_there = workflow.checks.iter().any(|own| match (&own.command, &check.command) {
            (Some(own), Some(known)) => unifies(own, known),
            (None, None) => letters(&own.text) == letters(&check.text),
            _ => false,
        });
        let words = check.command.as_deref().unwrap_or(&check.text);
        if is_there || dropped.has(words) {
            continue;
        }
        // A step that runs it tells of it; its verdict is that of the record.
        let runs = check.command.as_deref().is_some_and(|own| told.iter().any(|command| unifies(command, own)));
        found.lost.extend((!runs).then(|| shown(&format!("the check `{words}`"))));
        workflow.checks.push(check.clone());
    }
}

fn of_head(
    workflow: &mut Workflow,
    extract: &Workflow,
    dropped: &Dropped,
    known: &Known<'_>,
    cited: &Cited,
    found: &mut Compared,
) {
    let wanted = head::lines(extract);
    if wanted.is_empty() {
        return;
    }
    let mut own = head::lines(workflow);
    let used = inputs_used(workflow);
    for line in &mut own {
        let of_extract: Vec<String> =
            wanted.iter().filter(|it| it.label == line.label).flat_map(|it| &it.items).map(|it| letters(it)).collect();
        let label = line.label.clone();
        line.items.retain_mut(|item| {
            let why = match label.as_str() {
                "For" => return true,
                _ if of_extract.contains(&letters(item)) => return true,
                INPUTS => is_input(item, &used, extract, cited).err().map(str::to_owned),
                DONE => tell_done(item, workflow, extract, known, cited).err(),
                OPEN => (!cited.is_open(item)).then(|| "nothing that was open".to_owned()),
                LIMIT => known.unproven(item),
                _ => known.doubt(item),
            };
            if let Some(why) = &why {
                found.set_apart(&label, item, why);
            }
            why.is_none()
        });
    }
    own.retain(|line| !line.items.is_empty() || !line.label.is_empty());
    for line in wanted {
        let mut missing = HeadLine { label: line.label.clone(), items: Vec::new() };
        let there = own.iter().position(|it| it.label == line.label);
        match line.label.as_str() {
            // What was open is told to the last point; how many more there are is none.
            OPEN => {
                for item in line.items.iter().take(MAX_NAMES) {
                    let told = there.is_some_and(|at| own[at].items.iter().any(|it| letters(it) == letters(item)));
                    if !told && !dropped.has(item) {
                        found.lost.push(shown(&format!("what was open: “{item}”")));
                        missing.items.push(item.clone());
                    }
                }
            }
            _ if there.is_none_or(|at| own[at].items.is_empty()) => missing.items.clone_from(&line.items),
            _ => {}
        }
        match there {
            Some(at) => own[at].items.extend(missing.items),
            None => own.push(missing),
        }
    }
    // In the order of the skeleton, then what the answer adds.
    let order = ["For", INPUTS, DONE, LIMIT, OPEN];
    own.sort_by_key(|line| order.iter().position(|label| *label == line.label).unwrap_or(order.len()));
    let markdown = head::write(&own);
    workflow.preface.retain(|part| !head::is_head(part));
    workflow.preface.insert(0, Part::Prose(crate::model::Prose { markdown, span: Span::default() }));
    // Other paragraphs before the first step have to be proven too.
    workflow.preface.retain(|part| {
        let text = match part {
            Part::Prose(it) if !head::is_head(part) => &it.markdown,
            Part::Remark(it) => &it.text,
            _ => return true,
        };
        let why = unproven(text, known);
        if let Some(why) = &why {
            found.set_apart("Before the first step", text, why);
        }
        why.is_none()
    });
}

/// Names in angle brackets that the steps and checks of a workflow use, in commands or in sentences.
fn inputs_used(workflow: &Workflow) -> Vec<String> {
    let parts = workflow.steps.iter().flat_map(|step| &step.parts);
    let texts = parts.filter_map(|part| match part {
        Part::Command(it) => Some(it.command.as_str()),
        Part::Script(it) => Some(it.text.as_str()),
        Part::Remark(it) => Some(it.text.as_str()),
        Part::Prose(it) => Some(it.markdown.as_str()),
        _ => None,
    });
    let texts = texts.chain(workflow.checks.iter().filter_map(|check| check.command.as_deref()));
    texts.flat_map(names).map(str::to_owned).collect()
}

/// Names in angle brackets.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('<').skip(1).filter_map(|rest| Some(rest.split_once('>')?.0));
    inside.filter(|name| name.starts_with(char::is_alphabetic) && !name.contains(char::is_whitespace))
}

/// Whether an input is one: a name that a step uses or the skeleton has, with a value that the session has; or something else
/// that is cited. Error: why not.
fn is_input(item: &str, used: &[String], extract: &Workflow, cited: &Cited) -> Result<(), &'static str> {
    let known = inputs_used(extract);
    let named: Vec<&str> = names(item).collect();
    if named.is_empty() && ids(item).is_empty() {
        return Err("neither a `<name>` nor cited");
    }
    if !named.iter().all(|name| used.iter().chain(&known).any(|own| own == name)) {
        return Err("no step uses it");
    }
    // The value stands in brackets; what stands behind them says what it is.
    let value = item.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(value, _)| value);
    let value = letters(value);
    let has_value = value.is_empty() || !ids(item).is_empty() || cited.has_words(&value);
    if has_value { Ok(()) } else { Err("the session does not have its value") }
}

/// Says of what ends the work how it stood at the end of the session, where it is a command that did not pass. Error: why it is no
/// condition of the session: neither a command that was run or asked for, nor words of a person.
fn tell_done(
    item: &mut String,
    workflow: &Workflow,
    extract: &Workflow,
    known: &Known<'_>,
    cited: &Cited,
) -> Result<(), String> {
    let cites = ids(item);
    let Some(code) = item.split('`').nth(1) else {
        let is_said = cites.iter().any(|id| id.starts_with("u-"));
        return match known.unproven(item) {
            Some(why) => Err(why),
            None if is_said => Ok(()),
            None => Err("neither a command nor words of a person (u-01)".to_owned()),
        };
    };
    let unifies_with = |own: &str| unifies(code, own);
    let of_record = extract.checks.iter().find(|it| it.command.as_deref().is_some_and(unifies_with));
    let has_check = || workflow.checks.iter().any(|it| it.command.as_deref().is_some_and(unifies_with));
    // The skeleton, or whoever asked for the work, names it as what is to be done.
    let lines = head::lines(extract);
    let done = lines.iter().filter(|line| line.label == DONE).flat_map(|line| &line.items);
    let mut demanded = done.filter_map(|item| item.split('`').nth(1));
    let is_demanded = demanded.any(unifies_with) || cites.iter().any(|id| cited.says(id, code));
    if of_record.is_none() && !known.ran(code, &cites) && !has_check() && !is_demanded {
        return Err("the session neither ran nor asked for this command".to_owned());
    }
    let words = item.replace(&format!("`{code}`"), "");
    let plain = matches!(letters(&words).as_str(), "" | "passes" | "pass");
    if !plain && cites.is_empty() {
        return Err("it cites nothing".to_owned());
    }
    let passed = |text: &str| letters(text).starts_with("pass");
    let end = of_record.map(|check| check.text.clone()).or_else(|| last_end(code, cited));
    match end {
        Some(end) if passed(&end) => {}
        Some(end) => item.push_str(&format!(" — in the session: {end}")),
        None if letters(&words).contains("pass") => {
            item.push_str(" — in the session no run of it is known to have passed");
        }
        None => {}
    }
    Ok(())
}

/// Links to phases that the skeleton has: a step has those of what it cites; those that no step cites stand below the step that they
/// belong to.
fn origins(workflow: &mut Workflow, extract: &Workflow, cited: &Cited) {
    let all = extract.steps.iter().enumerate();
    let wanted: Vec<(usize, Link)> =
        all.flat_map(|(at, step)| step.origin.iter().map(move |link| (at, link.clone()))).collect();
    let is_same = |own: &Link, link: &Link| own.target == link.target && own.block == link.block;
    for step in &mut workflow.steps {
        let texts = step.parts.iter().filter_map(text_of);
        let phases: Vec<&str> = texts.flat_map(ids).filter_map(|id| cited.phase_of(id)).collect();
        if phases.is_empty() {
            step.origin.retain(|own| wanted.iter().any(|(_, link)| is_same(own, link)));
        } else {
            let is_cited = |link: &&Link| link.block.as_deref().is_some_and(|block| phases.contains(&block));
            step.origin = wanted.iter().map(|(_, link)| link).filter(is_cited).cloned().collect();
        }
    }
    for (at, link) in wanted {
        if workflow.steps.iter().any(|step| step.origin.iter().any(|own| is_same(own, &link))) {
            continue;
        }
        if let Some(step) = home(workflow, extract, at).and_then(|home| workflow.steps.get_mut(home)) {
            step.origin.push(link);
        }
    }
}
