//! Accepted lessons in a file of instructions, between marks.

use cru_note::edit::{EditError, replace_region};
use cru_note::{Note, Patch};
use cru_session::escape::inline;

use super::Lesson;
use crate::answer::LessonLevel;
use crate::note::{ReviewStatus, code};

/// Lines that are written at most.
pub const MAX_LINES: usize = 40;

const NAME: &str = "lessons";

/// What is written between the marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The lines, without those that do not fit.
    pub text: String,
    /// Lessons that are written.
    pub written: usize,
    /// Lessons that do not fit into [`MAX_LINES`].
    pub left_out: usize,
}

/// The lines of accepted lessons: the surest first, those for one place behind those for all.
pub fn region(lessons: &[&Lesson]) -> Region {
    let mut accepted: Vec<&&Lesson> = lessons.iter().filter(|it| it.status == ReviewStatus::Accepted).collect();
    accepted.sort_by_key(|it| (std::cmp::Reverse(it.confidence), it.place.is_some(), it.level, it.text.clone()));
    let fit = accepted.len().min(MAX_LINES - 2);
    let mut lines = Vec::new();
    if fit > 0 {
        lines.push("Lessons of earlier sessions:\n".to_owned());
    }
    for lesson in &accepted[..fit] {
        let place =
            lesson.place.as_deref().filter(|place| !place.is_empty()).map(|place| format!(" ({})", code(place)));
        let level = match lesson.level {
            LessonLevel::Project | LessonLevel::Task | LessonLevel::User => String::new(),
            other => format!("[{}] ", other.as_str()),
        };
        lines.push(format!("- {}{}{}", inline(&level), inline(&lesson.text), place.unwrap_or_default()));
    }
    Region { text: lines.join("\n"), written: fit, left_out: accepted.len() - fit }
}

impl Region {
    /// What changes in a file. Where it has no marks they are added at its end. Error: the marks are broken.
    pub fn patch(&self, text: &str) -> Result<Patch, EditError> {
        let note = Note::parse(text);
        let begin = format!("<!-- cru:begin {NAME} -->");
        if !text.contains(&begin) {
            if self.text.is_empty() {
                return Ok(Patch::default());
            }
            let blank = if text.is_empty() || text.ends_with("\n\n") {
                ""
            } else if text.ends_with('\n') {
                "\n"
            } else {
                "\n\n"
            };
            let added = format!("{blank}{begin}\n\n{}\n\n<!-- cru:end -->\n", self.text);
            return Ok(Patch::insert(text.len(), added));
        }
        replace_region(&note, NAME, "", &self.text, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Confidence;

    fn lesson(text: &str, status: ReviewStatus) -> Lesson {
        Lesson {
            id: "x".into(),
            text: text.into(),
            level: LessonLevel::Project,
            place: None,
            confidence: Confidence::High,
            status,
            project: None,
            learned: None,
            sessions: Vec::new(),
            evidence: Vec::new(),
            contradicts: Vec::new(),
        }
    }

    #[test]
    fn only_what_is_accepted_stands_between_the_marks() {
        let apply = |lessons: &[Lesson], text: &str| {
            let lessons: Vec<&Lesson> = lessons.iter().collect();
            let patch = region(&lessons).patch(text).unwrap();
            String::from_utf8(patch.apply(text.as_bytes())).unwrap()
        };
        let mut two =
            [lesson("Use pnpm.", ReviewStatus::Accepted), lesson("Ask <first>.\n# x", ReviewStatus::Proposed)];
        let first = apply(&two, "# Agents\n\nMine.\n");
        assert_eq!(
            first,
            "# Agents\n\nMine.\n\n<!-- cru:begin lessons -->\n\nLessons of earlier sessions:\n\n- Use pnpm.\n\n<!-- cru:end -->\n"
        );
        assert_eq!(apply(&two, &first), first, "a second run changes nothing");
        two[1].status = ReviewStatus::Accepted;
        let more = apply(&two, &first.replace("Mine.", "Ours."));
        assert!(more.contains("Ours.") && more.contains("- Ask \\<first>. # x\n"), "{more}");
        for it in &mut two {
            it.status = ReviewStatus::Rejected;
        }
        assert_eq!(apply(&two, &first), "# Agents\n\nMine.\n\n<!-- cru:begin lessons -->\n<!-- cru:end -->\n");
        assert_eq!(apply(&two, "# Agents\n"), "# Agents\n");
        let many: Vec<Lesson> = (0..50).map(|n| lesson(&format!("Lesson {n}"), ReviewStatus::Accepted)).collect();
        let many: Vec<&Lesson> = many.iter().collect();
        let region = region(&many);
        assert!(region.text.lines().count() <= MAX_LINES);
        assert_eq!((region.written, region.left_out), (38, 12));
    }
}
