//! Demonstrations: a stretch of work that succeeded, from what was asked to the agent's last word.
//!
//! Only what stands on its own is taken: the first turn of a session, or of a phase whose opening words are long enough
//! to say what is wanted, answer no question, and show no picture that the record lacks. There the agent must also have
//! looked before it edited, at files that the words name or that it searched for: else it knew them from what came
//! before. It must have changed something, nothing may be left failing, nobody stopped or corrected it, and either a
//! check passed after the last change or the person's next words say that it was right.

use crate::case::entry;
use crate::case::{Demonstration, Turn};
use crate::find::correction;
use crate::find::proof;
use crate::find::puzzle::one_line;
use crate::find::recovery;
use crate::find::turns::{self, SessionTurn, Turns};
use cru_action::Verdict;
use cru_base::Span;
use cru_graph::recovery::attempt;
use cru_graph::turn::Taken;
use cru_session::attempt::Attempt;
use cru_session::{Item, Step, StepStatus};

/// Characters of words that say by themselves what is wanted, where something came before them.
const ALONE: usize = 80;

/// Characters of the first words of a session; fewer (`continue`) point at something outside of it.
const FIRST: usize = 12;

/// Steps of a stretch: one alone shows no way of working, and of very many nobody learns.
const STEPS: std::ops::RangeInclusive<usize> = 2..=60;

/// A demonstration with its place.
#[derive(Debug)]
pub(crate) struct FoundDemonstration {
    /// Index of the round.
    pub(crate) round: usize,
    /// The words that open it.
    pub(crate) span: Span,
    /// Their block id.
    pub(crate) block: Option<String>,
    /// One line.
    pub(crate) title: String,
    /// What was asked.
    pub(crate) words: String,
    /// The same, behind what was asked and done in the phase before.
    pub(crate) context: Vec<Turn>,
    /// What was done.
    pub(crate) demonstration: Demonstration,
}

/// The demonstrations of one session, in the order of the note.
pub(crate) fn all(trail: &Turns<'_>) -> Vec<FoundDemonstration> {
    let rounds = trail.rounds.iter().enumerate();
    rounds.filter_map(|(index, round)| of(trail, index, round)).collect()
}

fn of(trail: &Turns<'_>, index: usize, round: &SessionTurn<'_>) -> Option<FoundDemonstration> {
    let words = trail.words(round);
    let opens = index == 0 || trail.rounds[index - 1].phase != round.phase;
    let alone = words.chars().count() >= if index == 0 { FIRST } else { ALONE };
    if words.is_empty() || !opens || !alone || round.interrupted || round.beats.iter().any(correction::refused) {
        return None;
    }
    let before = index.checked_sub(1).and_then(|before| trail.rounds.get(before));
    let answers = before.is_some_and(|before| before.taken == Taken::Answers);
    if answers || words.contains("[Image") || (before.is_some() && !finds_its_files(round, &words)) {
        return None;
    }
    let next = trail.rounds.get(index + 1);
    if next.is_some_and(|next| next.correction.is_some()) {
        return None;
    }
    let steps: Vec<(usize, &Step)> =
        (0..round.beats.len()).filter_map(|at| Some((at, recovery::step_at(&round.beats, at)?))).collect();
    let changed = steps.iter().rfind(|(_, step)| changes(step)).map(|(at, _)| *at)?;
    let unresolved =
        round.beats.iter().any(|beat| matches!(beat.item, Item::Error(error) if error.resolution.is_none()));
    let ends = round.beats.iter().rev().find(|beat| beat.entry.is_own() && !beat.entry.is_blank());
    if !STEPS.contains(&steps.len()) || unresolved || !ends.is_some_and(|last| matches!(last.item, Item::Prose(_))) {
        return None;
    }
    // What failed must have passed in the end.
    let mut failing: Vec<String> = Vec::new();
    let mut check = None;
    let first = steps.iter().find(|(_, step)| changes(step)).map_or(changed, |(at, _)| *at);
    let done: Vec<_> = steps.iter().map(|(at, step)| (*step, &round.beats[*at].entry)).collect();
    let mut proven = false;
    for (at, step) in &steps {
        let Attempt::Check(key) = attempt(step) else { continue };
        let Some(verdict @ (Verdict::Passed | Verdict::Failed)) = step.verdict() else { continue };
        failing.retain(|known| *known != key);
        if verdict == Verdict::Passed {
            proven |= *at > first && !proof::is_weak(step, &words, &done);
            check = (*at > changed).then_some(key).or(check);
        } else {
            failing.push(key);
        }
    }
    // A linter at the end says that what had been tried is well written.
    let check = check.filter(|_| proven);
    if !failing.is_empty() {
        return None;
    }
    if check.is_none() && round.taken != Taken::Accepts {
        return None;
    }
    let user = round.users.first().map(|user| &user.callout).or(round.task)?;
    Some(FoundDemonstration {
        round: index,
        span: user.span,
        block: user.id.clone(),
        title: title(trail, index, &words),
        context: context(trail, index, &words),
        words,
        demonstration: Demonstration { done: turns::told(&round.beats), check },
    })
}

/// What the session or the phase is called whose first words these are; without a name their first line.
fn title(trail: &Turns<'_>, index: usize, words: &str) -> String {
    let name = match index {
        0 if trail.is_named() => trail.title(),
        0 => String::new(),
        _ => trail.phase_title(trail.rounds[index].phase),
    };
    one_line(if name.trim().is_empty() { words } else { &name })
}

/// What led here, and what was asked.
fn context(trail: &Turns<'_>, index: usize, words: &str) -> Vec<Turn> {
    let mut turns = index.checked_sub(1).map(|before| trail.context(before, usize::MAX)).unwrap_or_default();
    let open = turns.pop_if(|last| last.done.is_empty() && !last.heading);
    let asked = open.map_or_else(|| words.to_owned(), |open| entry::paragraphs([open.asked.as_str(), words]));
    turns.push(Turn { asked, ..Turn::default() });
    turns
}

/// Whether the first file that is opened or edited is one that the words name or that was searched for: an edit before
/// any look and the very place in a file that nobody named are known from what came before, which a demonstration does
/// not hold.
fn finds_its_files(round: &SessionTurn<'_>, words: &str) -> bool {
    let words = words.to_lowercase();
    for at in 0..round.beats.len() {
        let Some(step) = recovery::step_at(&round.beats, at) else { continue };
        if changes(step) {
            return false;
        }
        let mut files = step
            .full_args()
            .split(|c: char| c.is_whitespace() || "'\"`,:;()[]{}".contains(c))
            .filter_map(file_name)
            .peekable();
        if files.peek().is_some() {
            return files.any(|name| parts_of_name(name).any(|part| words.contains(&part)));
        }
        if matches!(attempt(step), Attempt::Look | Attempt::Check(_)) {
            return true;
        }
    }
    true
}

/// The name of a file at the end of a path, without its extension.
fn file_name(word: &str) -> Option<&str> {
    let (name, extension) = word.rsplit('/').next()?.rsplit_once('.')?;
    let plain = (1..=5).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric());
    let named = name.starts_with(|c: char| c.is_alphanumeric() || c == '_') && name.contains(char::is_alphabetic);
    (plain && named && !word.starts_with('-') && !word.starts_with("//")).then_some(name)
}

/// The words of a file's name, in lower case, but for very short ones.
fn parts_of_name(name: &str) -> impl Iterator<Item = String> + '_ {
    const LEAST: usize = 3;
    name.split(|c: char| !c.is_alphanumeric()).filter(|part| part.chars().count() >= LEAST).map(str::to_lowercase)
}

/// Whether a step changed a file.
fn changes(step: &Step) -> bool {
    step.status == StepStatus::Complete && (!step.writes.is_empty() || attempt(step) == Attempt::Edit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_first_is_named_or_found() {
        let finds = |words: &str, steps: &[(&str, &str)]| {
            let step = |(tool, args): &(&str, &str)| {
                let status = StepStatus::Complete;
                Item::Step(Step { tool: (*tool).into(), args: (*args).into(), status, ..Step::default() })
            };
            let items: Vec<Item> = steps.iter().map(step).collect();
            let beat = |item| Some(turns::TurnItem { item, entry: entry::of_item(item, &str::to_owned)? });
            finds_its_files(
                &SessionTurn { beats: items.iter().filter_map(beat).collect(), ..SessionTurn::default() },
                words,
            )
        };
        let words = "the clock of the scheduler runs fast after a restart";
        assert!(finds(words, &[("Read", "src/clock.rs"), ("Edit", "src/clock.rs")]));
        assert!(finds(words, &[("Grep", "restart src"), ("Read", "src/timer.rs"), ("Edit", "src/timer.rs")]));
        assert!(finds(words, &[("Bash", "gh api x/comments --jq '.[] | .user.login'"), ("Edit", "src/timer.rs")]));
        assert!(finds(words, &[("Bash", "cargo test"), ("Edit", "src/timer.rs")]));
        assert!(finds(words, &[("bash", "sed -n '1,9p' src/run_scheduler.rs"), ("Edit", "src/timer.rs")]));
        assert!(!finds(words, &[("read", "./src/timer.rs:530-549"), ("Edit", "src/timer.rs")]));
        assert!(!finds(words, &[("Read", "src/timer.rs"), ("Edit", "src/timer.rs")]));
        assert!(!finds(words, &[("Edit", "src/clock.rs"), ("Bash", "cargo test")]));
    }
}
