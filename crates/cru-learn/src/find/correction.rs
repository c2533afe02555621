//! Corrections: a person set the agent right, and what it then did.
//!
//! Which words correct is the answer of [`cru_graph::turn`]. What is right is what the agent did afterwards, as far as
//! it is written down: nothing is made of the person's sentence.

use crate::case::entry::{Entry, Told};
use crate::case::note::Cleaner;
use crate::case::{Correction, Kind, Turn};
use crate::find::ending;
use crate::find::failure;
use crate::find::puzzle::one_line;
use crate::find::turns::{self, SessionTurn, TurnItem, Turns};
use cru_action::{ToolKind, Verdict};
use cru_base::Span;
use cru_graph::recovery::attempt;
use cru_graph::turn::{self, Sign};
use cru_session::attempt::Attempt;
use cru_session::{Item, StepStatus, User};

/// How much of what the agent did right before counts as the behaviour that was corrected: things done, and bytes.
const BEHAVIOUR: usize = 8;
const BEHAVIOUR_BYTES: usize = 4_000;

/// How much of what it did afterwards is the answer, whole things only: the reaction to the words, and not all work
/// that followed.
const RESPONSE: usize = 16;
const RESPONSE_BYTES: usize = 4_000;

/// A correction with its place.
#[derive(Debug)]
pub(crate) struct FoundCorrection {
    /// A correction, or a preference where what was refused was a plan.
    pub(crate) kind: Kind,
    /// Index of the round that the words open.
    pub(crate) round: usize,
    /// The callout.
    pub(crate) span: Span,
    /// Its block id.
    pub(crate) block: Option<String>,
    /// One line.
    pub(crate) title: String,
    /// What was asked and done before the behaviour.
    pub(crate) context: Vec<Turn>,
    /// The correction; without behaviour where nothing was done before the words.
    pub(crate) correction: Correction,
}

/// The corrections of one session, in the order of the note.
pub(crate) fn all(trail: &Turns<'_>) -> Vec<FoundCorrection> {
    let mut found = Vec::new();
    for (index, round) in trail.rounds.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| trail.rounds.get(before));
        let Some(turn::Correction { user, sign, is_about_agent }) = round.correction else { continue };
        let stopped = sign == Sign::Interrupted;
        let (split, behaviour) =
            before.filter(|_| is_about_agent).map(|round| behaviour(round, stopped)).unwrap_or_default();
        let plan = plan_instead(round, before.and_then(|before| before.beats.last()));
        let (response, more) = match plan {
            Some(end) => (turns::told(&round.beats[..end]), 0),
            None => response(round),
        };
        let fails = plan.is_none() && fails(&round.beats);
        let interpretation = |user: &&User| {
            let words = user.interpretation.as_deref()?;
            // A note's lines are wrapped; what it says of the words is a sentence.
            let text = cru_base::text::fold_whitespace(&trail.cleaner.text(words));
            (!text.is_empty()).then_some(text)
        };
        let words = trail.words(round);
        if words.is_empty() {
            continue;
        }
        let next = trail.rounds.get(index + 1).filter(|next| next.correction.is_some());
        let interpretation = round.users.iter().find_map(interpretation);
        found.push(FoundCorrection {
            kind: if plan.is_some() { Kind::Preference } else { Kind::Correction },
            round: index,
            span: user.callout.span,
            block: user.callout.id.clone(),
            title: one_line(&Cleaner::words(&user.words)),
            context: if index == 0 { Vec::new() } else { trail.context(index - 1, split) },
            correction: Correction {
                behaviour,
                words,
                rule: sign.as_str(),
                corrected_again: next.is_some(),
                // Refused calls are no part of an answer in which something was changed, and what a note says of it
                // somebody has thought of. Looks alone lead to what was refused.
                undone: next.is_some()
                    && interpretation.is_none()
                    && !(round.beats.last().is_some_and(refused) && round.beats.iter().any(changes)),
                interpretation,
                response,
                more,
                fails,
            },
        });
    }
    found
}

/// Whether a person refused a call.
pub(crate) fn refused(beat: &TurnItem<'_>) -> bool {
    matches!(beat.item, Item::Step(step) if failure::stopped(step))
}

/// Whether a file was changed.
fn changes(beat: &TurnItem<'_>) -> bool {
    matches!(beat.item, Item::Step(step) if step.status == StepStatus::Complete
        && (!step.writes.is_empty() || attempt(step) == Attempt::Edit))
}

/// What was done upon a correction, and how many things more. A call at its end that a person refused is no part of what
/// is right.
fn response(round: &SessionTurn<'_>) -> (Vec<Entry>, usize) {
    let end = round.beats.iter().rposition(|beat| !refused(beat)).map_or(0, |last| last + 1);
    let mut bytes = 0;
    let whole = round.beats[..end].iter().take(RESPONSE).take_while(|beat| {
        let first = bytes == 0;
        bytes += beat.entry.text().len();
        first || bytes <= RESPONSE_BYTES
    });
    let mut shown = whole.count();
    // Words that announce what is not shown promise it to nobody, and no excerpt ends with what did not work.
    let promises = |at: usize| match &round.beats[at].entry.told {
        Told::Prose(text) => ending::announces(text),
        _ => false,
    };
    let failed = |beat: &TurnItem<'_>| matches!(beat.item, Item::Step(step) if step.status == StepStatus::Failed);
    let cut = shown < end;
    while shown > 1 && (promises(shown - 1) || (cut && failed(&round.beats[shown - 1]))) {
        shown -= 1;
    }
    (turns::told(&round.beats[..shown]), turns::told(&round.beats[shown..end]).len())
}

/// Whether the last check of what was done failed.
fn fails(beats: &[TurnItem<'_>]) -> bool {
    let mut checks = beats.iter().filter_map(|beat| match beat.item {
        Item::Step(step) if matches!(attempt(step), Attempt::Check(_)) => Some(step),
        _ => None,
    });
    checks.next_back().is_some_and(|step| step.verdict() == Some(Verdict::Failed))
}

/// The last things done in a round, and the index of the first of them. Where a person refused calls, what was wrong is
/// those calls and the words that led to them; where a person `stopped` the agent, the last thing that it did or said.
/// What came before that stays in the prompt, since the answer builds on it.
fn behaviour(round: &SessionTurn<'_>, stopped: bool) -> (usize, Vec<Entry>) {
    let mut from = round.beats.len();
    if round.beats.last().is_some_and(refused) {
        while from > 0 && refused(&round.beats[from - 1]) {
            from -= 1;
        }
        from = before_prose(round, from);
        return (from, turns::told(&round.beats[from..]));
    }
    let mut bytes = 0;
    while from > 0 && round.beats.len() - from < BEHAVIOUR {
        bytes += round.beats[from - 1].entry.text().len();
        if bytes > BEHAVIOUR_BYTES && from < round.beats.len() {
            break;
        }
        from -= 1;
        if stopped && is_deed(round, from) {
            break;
        }
    }
    from = before_prose(round, from);
    (from, turns::told(&round.beats[from..]))
}

/// Whether what was done shows by itself what the agent was about: a step that neither looks nor checks, or words that do
/// more than announce a check.
fn is_deed(round: &SessionTurn<'_>, at: usize) -> bool {
    let checks =
        |beat: &TurnItem<'_>| matches!(beat.item, Item::Step(step) if matches!(attempt(step), Attempt::Check(_)));
    let after = &round.beats[at + 1..];
    match round.beats[at].item {
        Item::Prose(_) => after.is_empty() || !after.iter().all(checks),
        Item::Step(step) => !matches!(attempt(step), Attempt::Look | Attempt::Check(_)),
        _ => false,
    }
}

/// Where the words begin that led to what was done at `from`: words and the act they announce are one.
fn before_prose(round: &SessionTurn<'_>, mut from: usize) -> usize {
    while from > 0 && matches!(round.beats[from - 1].item, Item::Prose(_)) {
        from -= 1;
    }
    from
}

/// Whether a step shows a plan to a person, who takes or refuses it.
fn shows_plan(item: &Item) -> bool {
    matches!(item, Item::Step(step) if ToolKind::of(&step.tool) == ToolKind::Plan)
}

/// Where a plan was refused, the end of what was offered instead and accepted.
fn plan_instead(round: &SessionTurn<'_>, last: Option<&TurnItem<'_>>) -> Option<usize> {
    let last = last?;
    if shows_plan(last.item) && refused(last) {
        let at = round.beats.iter().position(|beat| shows_plan(beat.item))?;
        let accepted = matches!(round.beats[at].item, Item::Step(step) if step.status == StepStatus::Complete);
        // The note tells the plan again as the decision it became.
        let told = matches!(round.beats.get(at + 1).map(|beat| beat.item), Some(Item::Decision(_)));
        return accepted.then_some(at + 1 + usize::from(told));
    }
    None
}

/// Whether the plan itself stands among what was done: in the call that showed it, or in words.
pub(crate) fn holds_plan(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| {
        let whole = entry.whole().and_then(|call| call.arguments.get("plan")).and_then(|plan| plan.as_str());
        whole.is_some_and(|plan| !plan.trim().is_empty())
    })
}
