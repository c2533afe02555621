//! How much of each turn's closing words stands in the summary on top.
//!
//! There is room for what a person reads in a minute. The last turn comes first, then those that wrote most files, then
//! the others from the end; a turn that finds no room left has one line. Nothing is chosen by its words.

use super::assembly::phase_id;
use super::step::StepDraft;
use super::turns::ToldTurn;
use crate::StepStatus;
use crate::words::closing::{Closing, Room, closing};

/// Characters and lines of all closing words, and of those of one turn.
const CHARS: usize = 1_600;
const CHARS_OF_ONE: usize = 1_200;
const LINES: usize = 20;
const LINES_OF_ONE: usize = 12;

/// Lines that there are in any case.
const FEWEST: usize = 8;

/// Room of a turn that is not the last and wrote nothing: it only led to others.
const OF_TALK: Room = Room { chars: 400, lines: 3 };

/// With less room than this, a turn has one line.
const WORTH: Room = Room { chars: 300, lines: 3 };

/// The turns of `all` at the places `shown`, which are to be told at length: by place, in parts.
pub(super) fn at_length(all: &[ToldTurn], shown: &[usize], steps: &[StepDraft]) -> Vec<(usize, Closing)> {
    let writes = |turn: &ToldTurn| {
        let of_turn = steps.get(turn.steps.clone()).unwrap_or_default().iter();
        of_turn.filter(|it| it.step.status == StepStatus::Complete && !it.step.writes.is_empty()).count()
    };
    let mut order: Vec<usize> = shown.iter().copied().filter(|&at| !all[at].concluded.is_empty()).collect();
    let last = order.last().copied();
    order.sort_by_cached_key(|&at| (Some(at) != last, std::cmp::Reverse((writes(&all[at]), at))));
    let mut chars = CHARS;
    let mut lines = LINES.saturating_sub(shown.len()).max(FEWEST);
    let mut told = Vec::new();
    for at in order {
        if chars < WORTH.chars || lines < WORTH.lines {
            break;
        }
        let is_talk = Some(at) != last && writes(&all[at]) == 0;
        let most = if is_talk { OF_TALK } else { Room { chars: CHARS_OF_ONE, lines: LINES_OF_ONE } };
        let room = Room { chars: chars.min(most.chars), lines: lines.min(most.lines) };
        let words = closing(&all[at].concluded, room);
        chars = chars.saturating_sub(words.lines.iter().map(|line| line.text.chars().count()).sum());
        lines = lines.saturating_sub(words.lines.len().saturating_sub(1));
        told.push((at, words));
    }
    told
}

/// Closing words that are the only ones.
pub(super) fn alone(text: &str) -> Closing {
    closing(text, Room { chars: CHARS_OF_ONE, lines: LINES_OF_ONE })
}

/// Closing words as markdown: the first part behind what stands before it, the others as items of a list indented by
/// `indent`, then how much is left and where.
pub(super) fn listed(words: &Closing, phase: usize, indent: &str) -> String {
    let mut out = String::new();
    for (at, line) in words.lines.iter().enumerate() {
        let nested = if line.is_nested { "    " } else { "" };
        let open = if line.is_open { "☐ " } else { "" };
        if at > 0 {
            out.push_str(&format!("\n{indent}{nested}- "));
        }
        out.push_str(open);
        out.push_str(&line.text);
    }
    let place = phase.checked_sub(1).map(|phase| format!("[[#^{}]]", phase_id(phase)));
    match place.filter(|_| words.left > 0 && !words.lines.is_empty()) {
        Some(place) if words.lines.len() == 1 => out.push_str(&format!(" (… {} more in {place})", words.left)),
        Some(place) => out.push_str(&format!("\n{indent}- … {} more in {place}", words.left)),
        None => {}
    }
    out
}
