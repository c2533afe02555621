//! Accepted lessons in a file of instructions, between marks.

use cru_note::edit::{self, EditError, replace_region, seal, theirs};
use cru_note::{Note, Patch};
use cru_session::escape::inline;

use super::Lesson;
use crate::answer::LessonLevel;
use crate::note::{ReviewStatus, code};

/// Lines that are written at most.
pub const MAX_LINES: usize = 40;

const NAME: &str = "lessons";

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
    /// The lines of all lessons that there are, accepted or not: an older region may hold them.
    known: String,
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
    let known: Vec<String> = lessons.iter().map(|lesson| line(lesson)).collect();
    Region { text: lines.join("\n"), written: fit, left_out: accepted.len() - fit, known: known.join("\n") }
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
    /// What changes in a file. Where it has no marks they are added at its end. The first mark holds the seal of what was
    /// written; lines that a person wrote between the marks move below them. Error: the marks are broken.
    pub fn patch(&self, text: &str) -> Result<Patch, EditError> {
        let note = Note::parse(text);
        let own = seal(&self.text);
        let is_begin = |line: &str| line.trim_start().starts_with(&format!("<!-- cru:begin {NAME}"));
        if !text.lines().any(is_begin) {
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
            let added = format!("{blank}<!-- cru:begin {NAME} {own} -->\n\n{}\n\n<!-- cru:end -->\n", self.text);
            return Ok(Patch::insert(text.len(), added));
        }
        let found = edit::region(&note, NAME)?;
        let is_ours = found.inside.trim().is_empty() || found.seal == seal(found.inside);
        let below = if is_ours { String::new() } else { theirs(found.inside, &[HEADING, &self.known, &self.text]) };
        replace_region(&note, NAME, &own, &self.text, &below)
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
            ended: None,
            commit: None,
            advice: None,
            anchors: Vec::new(),
            check: None,
            broke: Vec::new(),
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

    #[test]
    fn what_a_person_wrote_between_the_marks_is_kept_below_them() {
        let apply = |lesson: &Lesson, text: &str| {
            let patch = region(&[lesson]).patch(text).unwrap();
            String::from_utf8(patch.apply(text.as_bytes())).unwrap()
        };
        let old = lesson("Use pnpm.", ReviewStatus::Accepted);
        let first = apply(&old, "# Agents\n");
        let new = lesson("Use pnpm, not npm.", ReviewStatus::Accepted);
        let renewed = apply(&new, &first);
        assert!(renewed.contains("- Use pnpm, not npm.\n") && !renewed.contains("- Use pnpm.\n"), "{renewed}");
        let mine = first.replace("- Use pnpm.", "- Use pnpm.\n- Mine: ask before a deploy.");
        let kept = apply(&new, &mine);
        let (inside, below) = kept.split_once("<!-- cru:end -->").unwrap();
        assert!(!inside.contains("Mine:") && below.contains("- Mine: ask before a deploy."), "{kept}");
        assert_eq!(apply(&new, &kept), kept, "a second run changes nothing");
    }
}
