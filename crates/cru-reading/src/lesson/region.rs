//! Accepted lessons in a file of instructions, between marks.

use cru_note::edit::{Fill, Missing};
use cru_session::escape::inline;

use super::Lesson;
use crate::answer::LessonLevel;
use crate::note::{ReviewStatus, code};

/// Lines that are written at most.
pub const MAX_LINES: usize = 40;

/// The region's name.
pub const NAME: &str = "lessons";

/// The line above the lessons.
const HEADING: &str = "Lessons of earlier sessions:";

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
        lines.push(format!("{HEADING}\n"));
    }
    lines.extend(accepted[..fit].iter().map(|lesson| line(lesson)));
    Region { text: lines.join("\n"), written: fit, left_out: accepted.len() - fit }
}

fn line(lesson: &Lesson) -> String {
    let place = lesson.place.as_deref().filter(|place| !place.is_empty()).map(|place| format!(" ({})", code(place)));
    let level = match lesson.level {
        LessonLevel::Project | LessonLevel::Task | LessonLevel::User => String::new(),
        other => format!("[{}] ", other.as_str()),
    };
    format!("- {}{}{}", inline(&level), inline(&lesson.text), place.unwrap_or_default())
}

impl Region {
    /// How a file of instructions is filled: where it has no marks they are added at its end, but for no lesson at all.
    pub const fn fill(&self) -> Fill<'_> {
        let missing = if self.text.is_empty() { Missing::Leave } else { Missing::Append(None) };
        Fill::new(NAME, self.text.as_str(), missing)
    }
}

#[cfg(test)]
mod tests {
    use cru_note::Note;
    use cru_note::edit::{GeneratedLines, renew_region};

    use super::*;
    use crate::answer::Confidence;

    fn lesson(text: &str, status: ReviewStatus) -> Lesson {
        Lesson {
            id: "x".into(),
            text: text.into(),
            level: LessonLevel::Project,
            confidence: Confidence::High,
            status,
            ..Lesson::default()
        }
    }

    #[test]
    fn only_what_is_accepted_stands_between_the_marks() {
        let apply = |lessons: &[Lesson], text: &str| {
            let lessons: Vec<&Lesson> = lessons.iter().collect();
            renew_region(&Note::parse(text), &region(&lessons).fill(), &|_| None).unwrap().patch.apply_to(text)
        };
        let seal = |text: &str| GeneratedLines::of(text).seal();
        let mut two =
            [lesson("Use pnpm.", ReviewStatus::Accepted), lesson("Ask <first>.\n# x", ReviewStatus::Proposed)];
        let first = apply(&two, "# Agents\n\nMine.\n");
        assert_eq!(
            first.replace(&seal("Lessons of earlier sessions:\n\n- Use pnpm."), "SEAL"),
            "# Agents\n\nMine.\n\n<!-- cru:begin lessons SEAL -->\n\nLessons of earlier sessions:\n\n- Use pnpm.\n\n<!-- cru:end -->\n"
        );
        assert_eq!(apply(&two, &first), first, "a second run changes nothing");
        two[1].status = ReviewStatus::Accepted;
        let more = apply(&two, &first.replace("Mine.", "Ours."));
        assert!(more.contains("Ours.") && more.contains("- Ask \\<first>. # x\n"), "{more}");
        for it in &mut two {
            it.status = ReviewStatus::Rejected;
        }
        let emptied = format!("# Agents\n\nMine.\n\n<!-- cru:begin lessons {} -->\n<!-- cru:end -->\n", seal(""));
        assert_eq!(apply(&two, &first), emptied);
        assert_eq!(apply(&two, "# Agents\n"), "# Agents\n");
        let many: Vec<Lesson> = (0..50).map(|n| lesson(&format!("Lesson {n}"), ReviewStatus::Accepted)).collect();
        let many: Vec<&Lesson> = many.iter().collect();
        let region = region(&many);
        assert!(region.text.lines().count() <= MAX_LINES);
        assert_eq!((region.written, region.left_out), (38, 12));
    }
}
