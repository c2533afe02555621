//! Which commands the exit status of a text speaks of.

use std::ops::Range;

use super::{Hidden, Operator, PipePlace, SimpleCommand};

/// Options of the shell that were set before an item.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
}

/// One item of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct Element {
    /// The commands in it.
    pub(super) commands: Range<usize>,
    /// Whether the first of them is all of it, but for substitutions.
    pub(super) simple: bool,
    /// The command whose status is that of the item.
    pub(super) status: Option<usize>,
    /// What stands before it.
    pub(super) join: Operator,
    pub(super) negated: bool,
    /// Whether `&` stands behind it.
    pub(super) background: bool,
    pub(super) flags: Flags,
}

/// Hides commands that are not hidden yet.
pub(super) fn hide(commands: &mut [SimpleCommand<'_>], why: Hidden) {
    for command in commands {
        command.hidden.get_or_insert(why);
    }
}

/// Marks the commands of a list: their places in pipelines, and what hides them. The command whose status is that of
/// the list.
pub(super) fn mark(commands: &mut [SimpleCommand<'_>], elements: &[Element]) -> Option<usize> {
    let lists: Vec<&[Element]> =
        elements.chunk_by(|_, next| !matches!(next.join, Operator::Sequence | Operator::Background)).collect();
    let mut status = None;
    for (at, list) in lists.iter().enumerate() {
        let next = lists.get(at + 1);
        let passes_on = next.and_then(|next| forwards(commands, next));
        let goes_on = next.is_some() && passes_on.is_none();
        let background = list.last().is_some_and(|last| last.background);
        if background {
            hide(&mut commands[span(list)], Hidden::Background);
        }
        and_or(commands, list, goes_on, passes_on == Some(Forward::Stages));
        status = if background { None } else { list.last().and_then(|last| last.status) };
        if passes_on.is_some() && at + 2 == lists.len() {
            break;
        }
    }
    status
}

/// Marks what `&&` and `||` join. `goes_on`: a later list ends the text.
fn and_or(commands: &mut [SimpleCommand<'_>], list: &[Element], goes_on: bool, stages_told: bool) {
    let pipelines: Vec<&[Element]> = list.chunk_by(|_, next| next.join == Operator::Pipe).collect();
    let mut taken = false;
    for (at, stages) in pipelines.iter().enumerate().rev() {
        let Some(first) = stages.first() else { continue };
        let all = span(stages);
        pipeline(commands, stages, stages_told);
        if first.negated {
            hide(&mut commands[all.clone()], Hidden::Negated);
        }
        if first.join == Operator::Or || taken {
            hide(&mut commands[all.clone()], Hidden::Or);
        }
        taken |= first.join == Operator::Or && !fails(commands, first);
        // With `-e` the text ends where the last command of `&&` fails.
        let ends_text = first.flags.errexit && at + 1 == pipelines.len();
        if goes_on && !ends_text {
            hide(&mut commands[all], Hidden::Sequence);
        }
    }
}

fn span(elements: &[Element]) -> Range<usize> {
    match (elements.first(), elements.last()) {
        (Some(first), Some(last)) => first.commands.start..last.commands.end,
        _ => 0..0,
    }
}

fn pipeline(commands: &mut [SimpleCommand<'_>], pipeline: &[Element], stages_told: bool) {
    let len = pipeline.len();
    for (index, element) in pipeline.iter().enumerate() {
        if element.simple
            && let Some(command) = commands.get_mut(element.commands.start)
        {
            command.pipe = PipePlace { index, len };
        }
        let told = pipeline[0].flags.pipefail || (stages_told && index == 0);
        if index + 1 < len && !told {
            hide(&mut commands[element.commands.clone()], Hidden::Pipe);
        }
    }
}

/// What a list does with the status of the list before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forward {
    /// `exit $?`
    Status,
    /// `exit ${PIPESTATUS[0]}`
    Stages,
}

/// Whether a list ends the text with the status of the one before it.
fn forwards(commands: &[SimpleCommand<'_>], list: &[Element]) -> Option<Forward> {
    let [element] = list else { return None };
    let command = commands.get(element.commands.start).filter(|_| element.simple)?;
    let [exit, code] = command.words.as_slice() else { return None };
    match code.text.as_ref() {
        _ if exit.text != "exit" => None,
        "$?" => Some(Forward::Status),
        "${PIPESTATUS[0]}" | "${pipestatus[1]}" => Some(Forward::Stages),
        _ => None,
    }
}

/// Whether an item fails for sure.
fn fails(commands: &[SimpleCommand<'_>], element: &Element) -> bool {
    let last = if element.simple { Some(element.commands.start) } else { element.status };
    let Some(command) = last.and_then(|at| commands.get(at)) else { return false };
    let mut words = command.words.iter().map(|word| word.text.as_ref());
    match words.next() {
        Some("false") => true,
        Some("exit" | "return") => words.next().is_some_and(|code| code != "0"),
        _ => false,
    }
}
