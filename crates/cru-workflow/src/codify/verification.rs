//! What a plan says of its verification, as checks of the workflow: each run or not run.

use cru_action::{Action, Class};
use cru_base::text::fold_whitespace;
use cru_graph::Plan;
use cru_graph::plan::{self, Section};
use cru_session::words::quote::quote;

use super::call::Ended;
use super::draft::Draft;
use super::standing::{Checks, Standing};
use crate::model::Check;

/// Items of a plan's verification that are kept.
const MAX_ITEMS: usize = 20;
/// Characters of an item in words.
const MAX_WORDS: usize = 300;

/// What is said of a command of a plan that was not run.
pub(super) const NOT_RUN: &str = "in the plan; it was not run";
/// What is said of an item of a plan in words: what no command of the plan does, a person has to do.
pub(super) const UNTOLD: &str = "in the plan, by hand; not run, as far as the record shows";

/// Adds what the plans of a session ask for and `made` does not hold yet.
pub(super) fn add(made: &mut Vec<Check>, checks: &Checks<'_>, drafts: &[Draft<'_>], plan: &Plan<'_>) {
    let agreed: Vec<Vec<Section>> = plan.approved.iter().map(|(_, decision)| plan::sections(&decision.text)).collect();
    let sections = plan.requested.iter().map(|outline| outline.sections.as_slice());
    let sections: Vec<&Section> =
        sections.chain(agreed.iter().map(Vec::as_slice)).filter_map(plan::verification).collect();
    if sections.is_empty() {
        return;
    }
    let run: Vec<(String, Ended)> = drafts
        .iter()
        .flat_map(Draft::calls)
        .filter(|call| call.shell && call.ended != Ended::Denied)
        .map(|call| (fold_whitespace(call.step.full_args()), call.ended))
        .collect();
    let mut added = 0;
    for item in sections.into_iter().flat_map(items) {
        if added == MAX_ITEMS {
            break;
        }
        let check = match item {
            Item::Command(command) => {
                let command = fold_whitespace(command);
                if made.iter().any(|check| check.command.as_deref() == Some(&command)) {
                    continue;
                }
                let own = run.iter().rev().find(|(text, _)| holds(text, &command));
                let text = match (checks.standing(&command), own) {
                    (Some(Standing::Passes), _) => "passes",
                    (Some(Standing::Failed), _) => "in the plan; it failed when it was last run",
                    (_, Some((text, Ended::Badly))) if *text == command => "in the plan; it was run and failed",
                    (_, Some((_, Ended::Badly))) => "in the plan; a call that ran it failed",
                    (_, Some(_)) => "in the plan; it was run",
                    (_, None) => NOT_RUN,
                };
                Check { command: Some(command), text: text.to_owned(), ..Check::default() }
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
            made.push(check);
            added += 1;
        }
    }
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
    let is_item =
        |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '*' | '+'));
    // Where there is a list, the other lines only lead to it.
    let listed = section.text.lines().any(is_item);
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
        let words = bare.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '*' | ' '));
        if items.len() == before
            && words.split_whitespace().nth(1).is_some()
            && !words.ends_with(':')
            && (is_item(line) || !listed)
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
