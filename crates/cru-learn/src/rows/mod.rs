//! Which rows a case gives: one or several tables may take it, each with the prompt that it needs.

pub(crate) mod chat;
pub(crate) mod example;
pub(crate) mod inspect;
pub(crate) mod line;
pub(crate) mod promptfoo;
pub(crate) mod row;
pub(crate) mod task;
pub(crate) mod template;
pub(crate) mod tokens;
pub(crate) mod trajectory;

use std::cell::OnceCell;

use self::example::{End, Example};
use self::row::{Dialect, Metadata, Row, Table};
use crate::case::left_out::Reason;
use crate::case::{Case, Story};
use crate::export::format::Options;
use crate::fault::pair;

/// The rows of a case with their tokens, and why others are none; `gap` is why all of them are.
pub(crate) fn of(case: &Case, gap: Option<Reason>, options: Options<'_>) -> Vec<Result<(Table, Row, usize), Reason>> {
    let examples: [OnceCell<Result<Example, Reason>>; 4] = Default::default();
    let example = |end: End, lines: bool| {
        let known = &examples[usize::from(end == End::Before) + 2 * usize::from(lines)];
        let wanted = example::PromptOptions { lines, ..options.example() };
        known.get_or_init(|| example::example(case, end, wanted)).as_ref().map_err(|reason| *reason)
    };
    let make = |table: Table, end: End, label: bool| {
        let mut lines = options.dialect.takes_one_message(table);
        let mut example_of = example(end, lines);
        // LLaMA-Factory skips a row in which the person speaks right after a tool.
        if !lines && options.dialect == Dialect::Axolotl && example_of.is_ok_and(interrupts) {
            lines = true;
            example_of = example(end, lines);
        }
        let example = example_of?;
        // Who knows what is wrong of an answer need not see what it quotes.
        if label && !example.shown {
            return Err(Reason::Unshown);
        }
        let answer = if label { &example.chosen } else { &example.rejected };
        if answer.is_empty() || (table == Table::Preference && example.rejected.is_empty()) {
            return Err(Reason::Unchanged);
        }
        let tokens = example.tokens;
        let metadata = Metadata::of(case, tokens, lines);
        Ok((table, row::row(table, options.dialect, example, label, &metadata), tokens))
    };
    let mut made = Vec::new();
    if let Some(gap) = gap {
        made.push(Err(gap));
        return made;
    }
    if !case.uses.completion && !case.is_comparable() {
        made.push(Err(Reason::NotMeant));
        return made;
    }
    match &case.story {
        Story::Demonstration(_) => {
            // Of a whole conversation every answer is learned; what came before a later turn only leads to its answer.
            let table = if case.context.len() > 1 || case.context.iter().any(|turn| !turn.done.is_empty()) {
                Table::Completion
            } else {
                Table::Sft
            };
            made.push(make(table, End::After, true));
        }
        Story::Puzzle(_) => made.push(make(Table::Completion, End::After, true)),
        Story::Trajectory => {
            made.push(trajectory::row(case, options).map(|(row, tokens)| (Table::Trajectory, row, tokens)));
        }
        Story::Correction(_) | Story::Preference(_) => {
            if case.uses.completion {
                made.push(make(Table::Completion, End::After, true));
            }
            if !case.is_comparable() {
                return made;
            }
            if let Some(flaw) = example(End::Before, false).ok().and_then(|example| pair::flaw(case, example)) {
                made.push(Err(flaw));
                return made;
            }
            made.push(make(Table::Preference, End::Before, true));
            if options.dialect != Dialect::Openai {
                made.push(make(Table::Kto, End::Before, true));
                made.push(make(Table::Kto, End::Before, false));
            }
        }
    }
    made
}

/// Whether the person speaks right after a tool, and not after the agent.
fn interrupts(example: &Example) -> bool {
    example.prompt.windows(2).any(|pair| pair[0].role == "tool" && pair[1].role == "user")
}
