//! What of a case must stay when it is cut: what its answer quotes, tells again or opens.

use std::collections::HashSet;

use memchr::memmem;

use crate::case::entry::Entry;
use crate::case::{Case, Turn};
use crate::context::excerpt::{Wants, cut_around};
use crate::context::ground::{self, Ground};
use crate::context::trace;

/// Characters of what a tool answered that are kept, and more only where more is needed.
const OUTPUT: usize = 6_000;

/// What must stay of a case.
#[derive(Debug, Default)]
pub(crate) struct Need {
    /// What must stay of texts that are cut.
    pub(crate) wants: Wants,
    /// Which texts of the context hold it: words and things done, counted in their order.
    holders: HashSet<u32>,
}

impl Need {
    /// What must stay of a case.
    pub(crate) fn of(case: &Case) -> Self {
        let mut ground = Ground::default();
        let mut number = 0;
        for turn in &case.context {
            look_through(&mut ground, &mut number, turn);
        }
        let context = number;
        for entry in case.story.wrong() {
            ground.add_entry(number, entry);
            number += 1;
        }
        ground.add(number, case.correction().map_or("", |it| it.words.as_str()));
        number += 1;
        ground.finish();
        let shown = context..number;
        let needed = ground.needed(case.done(), number, &[shown]);
        let mut wants = needed.wants;
        wants.lines.extend(&case.recalled);
        let mut holders: HashSet<u32> = needed.places.into_iter().collect();
        holders.extend(wants.parts.iter().filter_map(|part| last_with(part, case)));
        Self { wants, holders }
    }

    /// Whether a text of the context must stay.
    pub(crate) fn holds(&self, number: usize) -> bool {
        u32::try_from(number).is_ok_and(|number| self.holders.contains(&number))
    }
}

/// The number of the last text of the context with a part of a line.
fn last_with(part: &str, case: &Case) -> Option<u32> {
    let holds = |text: &str| memmem::find(trace::squashed(text).as_bytes(), part.as_bytes()).is_some();
    let mut number = 0;
    let mut last = None;
    for turn in &case.context {
        for entry in std::iter::once(None).chain(turn.done.iter().map(Some)) {
            let mut found = false;
            match entry {
                Some(entry) => ground::texts(entry, &mut |text| found |= holds(text)),
                None => found = holds(&turn.asked),
            }
            last = if found { Some(number) } else { last };
            number += 1;
        }
    }
    last
}

fn look_through(ground: &mut Ground, number: &mut u32, turn: &Turn) {
    ground.add(*number, &turn.asked);
    *number += 1;
    for entry in &turn.done {
        ground.add_entry(*number, entry);
        *number += 1;
    }
}

/// Cuts what tools answered, but for what the answer needs: a case holds no whole files.
pub(crate) fn shorten(case: &mut Case) {
    let long =
        |entry: &Entry| entry.whole().and_then(|call| call.output.as_ref()).is_some_and(|text| text.len() > OUTPUT);
    if !case.entries().any(long) {
        return;
    }
    let need = Need::of(case);
    case.outputs_mut(&mut |output| {
        if output.len() > OUTPUT {
            *output = cut_around(output, OUTPUT, &need.wants).into_owned();
        }
    });
}
