//! How a person's words took the work before them: the one rule of the program.
//!
//! What the note shows counts first: a title, a refused call or a stop, the failing output of a run. Words decide only
//! where nothing else does, by lists that are data; a person settles it by a title.

use cru_session::correction::{goes_on, is_choice, lets_go_on, only_replies, opens_correction};
use cru_session::words::list::{APPROVAL, CONTRAST};
use cru_session::words::sentence::sentences;
use cru_session::words::shorten::file_name;
use cru_session::{Item, StepStatus, User};

use super::reply::is_no;
use super::{Turn, reply};

cru_base::words! {
    /// How the person's next words took the work of a turn.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Taken {
        /// There are no later words.
        #[default]
        Last = "last",
        /// They let the work go on, hand something over, or give a command of the host.
        Continues = "continues",
        /// They answer what the agent asked or offered.
        Answers = "answers",
        /// They say that it was right.
        Accepts = "accepts",
        /// They correct it: [`Turn::correction`] of the next turn says why.
        Corrects = "corrects",
        /// They bring back a failure of what it changed.
        Refutes = "refutes",
        /// The person stopped the agent, or refused its last call, and the words do not say why.
        Stopped = "stopped",
        /// The record does not say.
        Unknown = "unknown",
    }
}

/// Words that correct the work before them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction<'a> {
    /// The callout.
    pub user: &'a User,
    /// Why they count.
    pub sign: Sign,
    /// Whether they can be about what the agent did before; else they set right the person's own words.
    pub is_about_agent: bool,
}

cru_base::words! {
    /// Why words count as a correction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sign {
        /// They open like one.
        Words = "words",
        /// The person refused the agent's last call right before.
        Denied = "denied",
        /// The person stopped the agent right before.
        Interrupted = "interrupted",
        /// A person titled them so.
        Titled = "titled",
    }
}

/// Titles by which a callout is a correction, in lower case.
const TITLES: &[&str] =
    &["correction", "denied", "denial", "refused", "refusal", "rejected", "interruption", "interrupted", "interrupt"];

/// Fills in how each turn was taken. Titles of a note that `cru` has `written` follow from the words alone.
pub(super) fn decide(turns: &mut [Turn<'_>], written: bool) {
    for at in 1..turns.len() {
        let (before, after) = turns.split_at_mut(at);
        if let (Some(before), Some(turn)) = (before.last(), after.first_mut()) {
            turn.correction = corrects(turn, before, written);
        }
    }
    let mut next: Option<usize> = None;
    for at in (0..turns.len()).rev() {
        let taken = next.and_then(|next| turns.get(next)).map(|next| taken(&turns[at], next));
        turns[at].taken = taken.unwrap_or_default();
        if !turns[at].requests.is_empty() {
            next = Some(at);
        }
    }
}

fn taken(turn: &Turn<'_>, next: &Turn<'_>) -> Taken {
    if next.correction.is_some() {
        return Taken::Corrects;
    }
    let mut stated = next.words().skip(next.withdrawn);
    let Some(words) = stated.find(|words| !words.trim().is_empty()) else { return Taken::Unknown };
    let writes = || turn.steps().flat_map(|(_, step)| &step.writes).map(|file| file_name(&file.path));
    if next.words().any(|words| reply::brings_back_failure(words, writes())) {
        Taken::Refutes
    } else if is_choice(words) || (turn.last().is_some_and(reply::asks) && reply::is_answer(words)) {
        Taken::Answers
    } else if approves(words) {
        Taken::Accepts
    } else if lets_go_on(words) || reply::is_no_remark(words) {
        Taken::Continues
    } else if turn.interrupted || turn.last().is_some_and(refuses) {
        if goes_on(words) { Taken::Continues } else { Taken::Stopped }
    } else {
        Taken::Unknown
    }
}

/// Whether a person refused or stopped a call.
pub(super) fn refuses(item: &Item) -> bool {
    match item {
        Item::Step(step) if step.status == StepStatus::Denied => !step.is_denied_by_host(),
        Item::Step(step) => step.status == StepStatus::Interrupted,
        _ => false,
    }
}

/// The words of `turn` that correct what was done `before`.
fn corrects<'a>(turn: &Turn<'a>, before: &Turn<'_>, written: bool) -> Option<Correction<'a>> {
    let last = before.last();
    let stop =
        if last.is_some_and(refuses) { Some(Sign::Denied) } else { before.interrupted.then_some(Sign::Interrupted) };
    let spoken = turn.requests.iter().enumerate().filter(|(_, user)| !user.words.trim().is_empty());
    spoken.into_iter().find_map(|(at, user)| {
        let words = user.words.as_str();
        let title = user.callout.title.trim().to_lowercase();
        let titled = user.correction || TITLES.iter().any(|known| title.starts_with(known));
        // Who wrote the title has looked at what was said before; an import has not.
        let judged = !titled || written;
        let by_words = opens_correction(words);
        let offered = || last.is_some_and(reply::offers);
        // Whoever says no to an offer corrects nothing. A word or two after it choose: `hooks`.
        // Words of an answer that only chooses.
        let chooses = if by_words { is_no(words) } else { words.split_whitespace().count() <= 3 };
        if judged && chooses && offered() {
            return None;
        }
        // What is said after a stop may only let go on, hand something over, or answer.
        let is_reply = goes_on(words) || reply::is_no_remark(words) || only_replies(words);
        let replies = last.is_some_and(reply::asks_by_call) || ((stop.is_some() || titled) && is_reply);
        if judged && replies && !by_words {
            return None;
        }
        // Words after words that were stopped before anything was done set right the person's own.
        let is_about_agent = at == 0 || by_words;
        let sign = if by_words { Some(Sign::Words) } else { stop.filter(|_| !replies) };
        let sign = match (titled, title.is_empty()) {
            // An import titles so what follows words that were stopped at once.
            (true, _) if judged && at > 0 && at == turn.withdrawn => sign.unwrap_or(Sign::Interrupted),
            (true, _) => sign.unwrap_or(Sign::Titled),
            // Any other title says that it is something else.
            (false, false) => return None,
            (false, true) => sign.filter(|_| is_about_agent)?,
        };
        Some(Correction { user, sign, is_about_agent })
    })
}

/// Whether words begin by saying that it was right, and neither that sentence nor the next takes it back.
fn approves(words: &str) -> bool {
    let words = words.trim_start();
    APPROVAL.at_start(words).is_some() && !sentences(words).take(2).any(|sentence| CONTRAST.is_in(sentence))
}

#[cfg(test)]
mod tests {
    use super::approves;

    #[test]
    fn praise_that_is_taken_back_is_none() {
        for words in ["Perfect!", "Thanks. Now mend the valve, which leaks", "Danke, und jetzt der Keller"] {
            assert!(approves(words), "{words}");
        }
        for words in ["Great, but it leaks", "Perfect! However, the valve is open", "Danke, aber das Ventil leckt"] {
            assert!(!approves(words), "{words}");
        }
    }
}
