//! What a plan says of its verification, as checks of the workflow: each run or not run.

use std::path::Path;

use cru_action::shell::Operator;
use cru_action::{Action, Class, Command};
use cru_base::text::fold_whitespace;
use cru_graph::Plan;
use cru_graph::plan::{self, Section};
use cru_note::list_item;
use cru_session::User;
use cru_session::words::pasted::is_pasted;
use cru_session::words::quote::quote;

use super::call::Ended;
use super::draft::Draft;
use super::standing::{Checks, Standing};
use crate::model::Check;

/// Items of a plan's verification that are kept.
const MAX_ITEMS: usize = 20;
/// Characters of an item in words.
const MAX_WORDS: usize = 300;

/// Characters of a call that is quoted beside a command of a plan.
const MAX_CALL: usize = 160;

/// What is said of a command of a plan or request that was not run.
pub(super) const NOT_RUN: &str = "it was not run";
/// What is said of an item of a plan in words: what no command of the plan does, a person has to do.
pub(super) const UNTOLD: &str = "in the plan, by hand; the record does not show whether it was done";

/// Adds what the plans and requests of a session ask for and `made` does not hold yet; the places of all that they ask for.
pub(super) fn add(made: &mut Vec<Check>, checks: &Checks<'_>, drafts: &[Draft<'_>], plan: &Plan<'_>) -> Vec<usize> {
    let agreed: Vec<Vec<Section>> = plan.approved.iter().map(|(_, decision)| plan::sections(&decision.text)).collect();
    let sections = plan.requested.iter().map(|outline| outline.sections.as_slice());
    let sections: Vec<&Section> =
        sections.chain(agreed.iter().map(Vec::as_slice)).filter_map(plan::verification).collect();
    // A request that is a plan says so in its section.
    let is_plan = |user: &User| plan.requested.iter().any(|outline| std::ptr::eq(outline.request, user));
    let requests = drafts.iter().flat_map(Draft::said).filter(|user| !is_plan(user));
    let requested = requests.flat_map(|user| checks_in(&user.words)).take(MAX_ITEMS);
    let mut asked: Vec<(Item<'_>, &str)> = requested.map(|it| (it, "request")).collect();
    asked.extend(sections.into_iter().flat_map(items).map(|it| (it, "plan")));
    if asked.is_empty() {
        return Vec::new();
    }
    let run: Vec<RunCall> = drafts
        .iter()
        .flat_map(Draft::calls)
        .filter(|call| call.shell && call.ended != Ended::Denied)
        .map(|call| RunCall::of(call.step.full_args(), call.ended))
        .collect();
    let mut demanded: Vec<usize> = Vec::new();
    for (item, by) in asked {
        if demanded.len() == MAX_ITEMS {
            break;
        }
        let check = match item {
            Item::Command(command) => {
                let command = fold_whitespace(command);
                if let Some(known) = made.iter().position(|check| check.command.as_deref() == Some(&command)) {
                    cru_base::list::push_new(&mut demanded, known);
                    continue;
                }
                let text = match (checks.standing(&command), run_of(&command, &run)) {
                    (Some(Standing::Passes), _) => "passes".to_owned(),
                    (Some(Standing::Failed), _) => format!("in the {by}; it failed when it was last run"),
                    (_, Some((call, how))) => format!("in the {by}; {}", call.told(how, &command)),
                    (_, None) => format!("in the {by}; {NOT_RUN}"),
                };
                Check { command: Some(command), text, ..Check::default() }
            }
            Item::Words(words) => {
                let told = quote(words, MAX_WORDS);
                if told.is_empty() {
                    continue;
                }
                // A code span with words around it would be a command.
                let told = told.replace('`', "'");
                let text = format!("{told} — {UNTOLD}");
                Check { text: super::clean(&text), ..Check::default() }
            }
        };
        if !made.iter().any(|known| known.command == check.command && known.text == check.text) {
            demanded.push(made.len());
            made.push(check);
        }
    }
    demanded
}

/// The checks that a person's words name as code.
fn checks_in(words: &str) -> impl Iterator<Item = Item<'_>> {
    let lines = words.lines().filter(|line| !is_pasted(line.trim()));
    let codes = lines.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::trim);
    codes.filter(|code| is_command(code) && Action::of("Bash", code).is_check()).map(Item::Command)
}

/// A call of a shell.
struct RunCall {
    text: String,
    commands: Vec<RunCommand>,
    ended: Ended,
}

/// A command, as far as another run of it is told by it.
struct RunCommand {
    /// As [`Action::identity`].
    identity: String,
    /// Program, verb and what it is run on, without options.
    subject: Vec<String>,
    /// Where the call names one.
    folder: Option<String>,
}

/// How a call has to do with a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// It ran it.
    Same,
    /// It ran it with other options.
    Alike,
}

impl RunCall {
    fn of(args: &str, ended: Ended) -> Self {
        Self { text: fold_whitespace(args), commands: commands(args), ended }
    }

    /// Whether all of `planned` ran in it, each in its folder as far as both name one.
    fn ran(&self, planned: &[RunCommand], how: Ran) -> bool {
        planned.iter().all(|planned| {
            let is_same = |own: &&RunCommand| match how {
                Ran::Same => own.identity == planned.identity,
                Ran::Alike => own.subject == planned.subject,
            };
            self.commands.iter().filter(is_same).any(|own| planned.is_in_the_folder_of(own))
        })
    }

    /// What is known of `command`, which it ran: with its own words, where these are others.
    fn told(&self, how: Ran, command: &str) -> String {
        let is_same = self.text == command;
        let ended = match (self.ended, how) {
            (Ended::Badly, Ran::Same) if is_same => "it was run and failed",
            (Ended::Badly, Ran::Same) => "it was run in a call that failed",
            (Ended::Badly, Ran::Alike) => "it was run with other options in a call that failed",
            (_, Ran::Same) => "it was run",
            (_, Ran::Alike) => "it was run with other options",
        };
        if is_same || holds(&self.text, command) || self.text.chars().count() > MAX_CALL || self.text.contains('`') {
            return ended.to_owned();
        }
        format!("{ended}: '{}'", super::clean(&self.text))
    }
}

impl RunCommand {
    fn is_in_the_folder_of(&self, other: &Self) -> bool {
        let ends = |one: &str, other: &str| Path::new(one).ends_with(other) || Path::new(other).ends_with(one);
        self.folder.as_deref().zip(other.folder.as_deref()).is_none_or(|(one, other)| ends(one, other))
    }
}

/// The last call that ran a command, or all commands of a line; else the last one that did so with other options.
fn run_of<'r>(command: &str, run: &'r [RunCall]) -> Option<(&'r RunCall, Ran)> {
    let planned = commands(command);
    let last = |ran: &dyn Fn(&RunCall) -> bool, how| Some((run.iter().rev().find(|call| ran(call))?, how));
    let has = |how| {
        let planned = &planned;
        move |call: &RunCall| !planned.is_empty() && call.ran(planned, how)
    };
    last(&|call| holds(&call.text, command) || has(Ran::Same)(call), Ran::Same)
        .or_else(|| last(&has(Ran::Alike), Ran::Alike))
}

/// The commands of a call that do something; none where the call is not understood.
fn commands(args: &str) -> Vec<RunCommand> {
    let action = Action::of("Bash", args);
    let is_way = |program: &str| matches!(program, "cd" | "pushd" | "popd");
    let reads_output = |it: &Command<'_>| it.operator == Operator::Pipe && it.class == Class::Look;
    let own = action.commands.iter().filter(|it| !it.words.is_empty() && !is_way(&it.program) && !reads_output(it));
    own.map(|it| {
        let mut subject: Vec<String> =
            it.words.iter().filter(|word| !word.starts_with('-')).map(ToString::to_string).collect();
        subject.sort_unstable();
        let folder = action.folder(it).filter(|folder| !folder.is_empty());
        RunCommand { identity: action.identity_of(it), subject, folder }
    })
    .collect()
}

/// Whether a command was run within another one, as whole words.
fn holds(text: &str, command: &str) -> bool {
    text.match_indices(command).any(|(at, _)| {
        let edge = |c: Option<char>| {
            c.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\''))
        };
        edge(text[..at].chars().next_back()) && edge(text[at + command.len()..].chars().next())
    })
}

/// An item of a plan's verification.
enum Item<'t> {
    Command(&'t str),
    Words(&'t str),
}

/// The items of a section: commands in code, and lines without one.
fn items(section: &Section) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    // Where there is a list, the other lines only lead to it.
    let listed = section.text.lines().any(|line| list_item(line).is_some());
    let mut fenced = false;
    for line in section.text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        let before = items.len();
        if fenced {
            let command = bare.strip_prefix("$ ").unwrap_or(bare);
            items.extend(is_command(command).then_some(Item::Command(command)));
            continue;
        }
        let codes = bare.split('`').skip(1).step_by(2);
        items.extend(codes.filter(|code| is_command(code)).map(Item::Command));
        let item = list_item(bare);
        let words = item.unwrap_or(bare);
        if items.len() == before
            && words.split_whitespace().nth(1).is_some()
            && !words.ends_with(':')
            && (item.is_some() || !listed)
        {
            items.push(Item::Words(words));
        }
    }
    items
}

/// Whether code is a command of a known program.
fn is_command(code: &str) -> bool {
    let code = code.trim();
    let action = Action::of("Bash", code);
    code.contains(char::is_whitespace)
        && !code.contains('…')
        && action.complete
        && action.commands.first().is_some_and(|command| !command.words.is_empty())
        && action.class() != Class::Unknown
}
