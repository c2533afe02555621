//! Why a case has no row: what a trainer needs of it is not in the record, or would teach the wrong thing.
//!
//! A person who accepted or edited a case knows better than most of these rules. Nothing is dropped in silence: each
//! reason is counted and listed.

use crate::case::entry::Entry;
use crate::case::left_out::{LeftOut, Reason};
use crate::case::{Case, Evidence, Fidelity, Kind, Story};
use crate::find::correction;
use crate::find::failure;

impl Case {
    /// Why an export that needs a right answer leaves the case out.
    pub fn gap(&self) -> Option<Reason> {
        match (self.answer(), self.kind()) {
            (None, Kind::Puzzle) if self.is_helped() => Some(Reason::Helped),
            (None, Kind::Puzzle) if matches!(&self.story, Story::Puzzle(it) if it.retried) => Some(Reason::Retried),
            (None, Kind::Puzzle) => Some(Reason::Unresolved),
            (None, Kind::Correction | Kind::Preference) if self.evidence == Evidence::Reading => {
                Some(Reason::Unresolved)
            }
            (None, Kind::Trajectory) if self.fidelity == Fidelity::Full => None,
            (None, Kind::Trajectory) => Some(Reason::CallsUnknown),
            (None, _) => Some(Reason::Unanswered),
            (Some(_), Kind::Preference) if !self.tells_plans() => Some(Reason::PlanUnknown),
            (Some(answer), _) if answer == self.failure() => Some(Reason::Unchanged),
            // A person knows better.
            (Some(_), _) if self.accepted || self.edits.is_some() => None,
            (Some(_), _) if self.fault.is_some() => self.fault,
            (Some(_), _) if matches!(&self.story, Story::Puzzle(it) if it.planned) => Some(Reason::Planned),
            (Some(_), _) if self.hides_change() => Some(Reason::ChangeUnknown),
            (Some(_), _) if self.done().iter().any(Entry::takes_shortcut) => Some(Reason::Shortcut),
            (Some(_), _) if self.bends_tests() => Some(Reason::Bent),
            (Some(_), _) if self.shows_picture() => Some(Reason::PictureUnknown),
            (Some(_), Kind::Puzzle) if self.evidence == Evidence::Rule && self.is_silent() => Some(Reason::Silent),
            (Some(_), Kind::Correction) if self.correction().is_some_and(|it| it.undone) => {
                Some(Reason::CorrectedAgain)
            }
            (Some(_), Kind::Correction) if self.correction().is_some_and(|it| it.fails) => Some(Reason::CheckFailed),
            (Some(_), _) => None,
        }
    }

    /// Whether both plans are there, the refused and the accepted one.
    fn tells_plans(&self) -> bool {
        let edited = self.edits.as_ref().is_some_and(|edits| edits.failure.is_some() || edits.expected.is_some());
        edited
            || self
                .correction()
                .is_some_and(|it| correction::holds_plan(&it.behaviour) && correction::holds_plan(&it.response))
    }

    /// Whether the words that were answered show a picture.
    fn shows_picture(&self) -> bool {
        self.picture || self.correction().is_some_and(|it| it.words.contains("[Image"))
    }

    /// Whether nothing tells what went wrong: neither the note in words, nor what the failed step answered.
    pub(crate) fn is_silent(&self) -> bool {
        let Story::Puzzle(it) = &self.story else { return false };
        let title = if it.title.ends_with(" failed") { "" } else { it.title.as_str() };
        let answer = it.step.as_ref().map(Entry::answer).unwrap_or_default();
        let told = [title, &it.text, answer.trim_start_matches('✗')];
        it.resolution.is_none() && it.step.is_some() && !told.iter().any(|text| failure::has_sign(text))
    }

    /// Whether what had failed worked only after the person had said more.
    const fn is_helped(&self) -> bool {
        matches!(&self.story, Story::Puzzle(it) if it.helped)
    }

    /// Whether an edit of the answer, or of what was corrected, is told without what was edited, although the
    /// transcript is there: a line such as `Edit a.rs` beside real calls teaches to write lines instead of calls. Of a
    /// note whose transcript is gone such lines are all there is.
    fn hides_change(&self) -> bool {
        let told = match &self.story {
            Story::Puzzle(it) => it.resolution.is_some(),
            Story::Correction(it) | Story::Preference(it) => it.interpretation.is_some(),
            Story::Demonstration(_) | Story::Trajectory => false,
        };
        let behaviour = self.correction().map(|it| it.behaviour.as_slice()).unwrap_or_default();
        let known = !matches!(self.tools.as_ref(), "" | "[]");
        known && !told && self.done().iter().chain(behaviour).any(Entry::hides_change)
    }

    /// The case as something left out.
    pub fn left_out(&self, reason: Reason) -> LeftOut {
        LeftOut {
            reason,
            evidence: self.evidence,
            session: self.origin.session.clone(),
            case: self.id.clone(),
            title: self.title.clone(),
            source: self.origin.source.clone(),
        }
    }
}
