//! Lessons as notes: one claim each, merged over the sessions that tell it.

mod region;
mod same;
mod told;

use std::fmt::Write as _;

use cru_note::frontmatter::{self, Value, emit};
use cru_session::escape::{inert, inline, uncode_text, uninline};
use cru_session::public;
use serde::Serialize;

use crate::answer::{Confidence, LessonLevel, ReadLesson};
use crate::note::{ReviewStatus, code, evidence, one_line, rendered, with_hash};

pub use region::{MAX_LINES, NAME as REGION, Region, region};
pub use same::{Likeness, likeness};
pub use told::{TOLD, ToldLesson};

/// Statuses of a lesson that is used no more.
const ENDED: &[&str] = &["retired", "superseded"];

/// The folder of lessons.
pub const FOLDER: &str = "lessons";

/// A lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lesson {
    /// Name of its file and id: words of it and eight hexadecimal digits.
    pub id: String,
    /// One sentence.
    pub text: String,
    /// What it is about.
    pub level: LessonLevel,
    /// Where it holds.
    pub place: Option<String>,
    /// How sure it is.
    pub confidence: Confidence,
    /// What was decided.
    pub status: ReviewStatus,
    /// The project of the first session that told it.
    pub project: Option<String>,
    /// When the first session that told it began.
    pub learned: Option<String>,
    /// Names of the notes of the sessions that tell it.
    pub sessions: Vec<String>,
    /// Lines of evidence, as markdown, without the list mark.
    #[serde(skip)]
    pub evidence: Vec<String>,
    /// Ids of lessons that say the contrary.
    pub contradicts: Vec<String>,
    /// `retired` or `superseded`, where it is one of them; its status is then rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The commit at which it was learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What to do (`Do:`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Lines of files that it rests on (`Anchor:`), `src/a.rs:1-17@2725f4c8`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<String>,
    /// A command that shows whether it holds (`Check:`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Links to corrections that it did not prevent (`broke`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broke: Vec<String>,
}

/// A lesson that a note holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LessonNote {
    /// Path relative to the vault.
    pub path: String,
    /// The lesson.
    pub lesson: Lesson,
    /// Whether it is of a reading; others were written by hand or logged.
    pub of_reading: bool,
    /// Whether a person changed anything but `status`.
    pub changed: bool,
    /// The whole file.
    #[serde(skip)]
    pub text: String,
}

impl Lesson {
    /// Of a reading of a session. `name` is the session's note.
    pub fn of(lesson: &ReadLesson, name: &str, project: Option<&str>, learned: Option<&str>) -> Self {
        let hash = crate::hash(&[lesson.level.as_str(), &same::normal(&lesson.text)]);
        let slug = cru_base::text::slug(&lesson.text, 7);
        let short = &hash[3..11];
        let line = |kind: &str, proof: &crate::Proof| format!("{kind}: {}", evidence(proof, name));
        let lines = lesson.proof.iter().map(|proof| line("Evidence", proof));
        Self {
            id: if slug.is_empty() { format!("lesson-{short}") } else { format!("{slug}-{short}") },
            text: lesson.text.clone(),
            level: lesson.level,
            place: lesson.place.clone(),
            confidence: lesson.confidence,
            status: ReviewStatus::Proposed,
            project: project.map(str::to_owned),
            learned: learned.map(str::to_owned),
            sessions: vec![name.to_owned()],
            evidence: lines.chain(lesson.against.iter().map(|proof| line("Against", proof))).collect(),
            ..Self::default()
        }
    }

    /// The note of one that a person writes down: accepted, and nobody's but theirs.
    pub fn render_own(&self) -> String {
        let text = |text: &str| Value::String(one_line(text));
        let mut entries = vec![
            ("type", text("lesson")),
            ("title", text(&self.text)),
            ("level", text(self.level.as_str())),
            ("confidence", text(self.confidence.as_str())),
            ("status", text(self.status.as_str())),
        ];
        entries.extend(self.project.as_deref().map(|project| ("project", text(project))));
        entries.extend(self.learned.as_deref().map(|learned| ("learned", text(learned))));
        entries.extend(self.commit.as_deref().map(|commit| ("commit", text(commit))));
        let mut out = format!("---\n{}---\n# {}\n\n", emit(&entries), inline(&self.text));
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(out, "- {name}: {value}");
        };
        if let Some(advice) = &self.advice {
            line("Do", &inline(advice));
        }
        for evidence in &self.evidence {
            line("Evidence", evidence.trim_start_matches("Evidence: "));
        }
        for anchor in &self.anchors {
            line("Anchor", &code(anchor));
        }
        if let Some(check) = &self.check {
            line("Check", &code(check));
        }
        inert(&out, &[])
    }

    /// Takes over what another session says of the same: `true` where that is new.
    pub fn merge(&mut self, other: &Self) -> bool {
        let before = (self.sessions.len(), self.evidence.len());
        let is_new = other.sessions.iter().any(|session| !self.sessions.contains(session));
        for session in &other.sessions {
            if !self.sessions.contains(session) {
                self.sessions.push(session.clone());
            }
        }
        for line in &other.evidence {
            if !self.evidence.contains(line) {
                self.evidence.push(line.clone());
            }
        }
        // Two sessions that tell the same are better than one.
        if is_new && self.contradicts.is_empty() {
            self.confidence = raised(self.confidence.max(other.confidence));
        }
        (self.sessions.len(), self.evidence.len()) != before
    }

    /// Notes that another lesson says the contrary: both are less sure.
    pub fn contradicted_by(&mut self, other: &str) -> bool {
        if self.contradicts.iter().any(|known| known == other) {
            return false;
        }
        self.contradicts.push(other.to_owned());
        self.confidence = Confidence::Low;
        true
    }

    /// Its path in the vault.
    pub fn path(&self) -> String {
        format!("{FOLDER}/{}.md", self.id)
    }

    /// Its note.
    pub fn render(&self) -> String {
        let text = |text: &str| Value::String(one_line(text));
        let mut entries = vec![
            ("type", text("lesson")),
            ("title", text(&self.text)),
            ("lesson_id", text(&self.id)),
            ("level", text(self.level.as_str())),
            ("confidence", text(self.confidence.as_str())),
            ("status", text(self.ended.as_deref().unwrap_or(self.status.as_str()))),
        ];
        entries.extend(self.place.as_deref().map(|place| ("where", text(place))));
        entries.extend(self.project.as_deref().map(|project| ("project", text(project))));
        entries.extend(self.learned.as_deref().map(|learned| ("learned", text(learned))));
        let sessions = self.sessions.iter().map(|name| text(&format!("[[{name}]]"))).collect();
        entries.extend([
            ("seen", Value::from(self.sessions.len() as u64)),
            ("sessions", Value::List(sessions)),
            ("evidence", text("reading")),
        ]);
        let mut out = format!("---\n{}---\n# {}\n\n", emit(&entries), inline(&self.text));
        for line in &self.evidence {
            let _ = writeln!(out, "- {line}");
        }
        for other in &self.contradicts {
            let _ = writeln!(out, "- Contradicts: [[{other}]]");
        }
        with_hash(&inert(&out, &[]))
    }
}

impl LessonNote {
    /// Reads a note of type `lesson`, whoever wrote it; `None` for any other.
    pub fn read(path: &str, text: &str) -> Option<Self> {
        let (whole, text) = (text, &*public::text(text));
        let (values, _) = frontmatter::read(text, &frontmatter::split(text).block?);
        let value = |key| values.string(key).unwrap_or_default();
        if value("type") != "lesson" {
            return None;
        }
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
        let owned = |key: &str| values.string(key).map(str::to_owned);
        let lines = |kinds: &[&str]| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
            lines
                .filter(|line| kinds.iter().any(|kind| line.starts_with(kind)))
                .map(|line| line.trim_end().to_owned())
                .collect()
        };
        let link = |link: &str| link.trim().trim_start_matches("[[").trim_end_matches("]]").to_owned();
        // `- Do: …`, and as other programs write relations: `- broke [[…]]`.
        let listed = |name: &str| -> Vec<String> {
            let rest = |line: &&str| {
                let line = line.trim().strip_prefix("- ")?;
                line.strip_prefix(name)?.strip_prefix([':', ' ']).map(|rest| rest.trim().to_owned())
            };
            text.lines().filter_map(|line| rest(&line)).filter(|rest| !rest.is_empty()).collect()
        };
        let heading = text.lines().find_map(|line| line.strip_prefix("# ")).map(uninline);
        let lesson = Lesson {
            id: owned("lesson_id").unwrap_or_else(|| stem.to_owned()),
            text: owned("title").or(heading).unwrap_or_else(|| stem.to_owned()),
            level: LessonLevel::parse(value("level")).unwrap_or(LessonLevel::Project),
            place: owned("where"),
            confidence: Confidence::parse(value("confidence")).unwrap_or(Confidence::Low),
            ended: Some(value("status").trim().to_lowercase()).filter(|word| ENDED.contains(&word.as_str())),
            commit: owned("commit"),
            advice: listed("Do").first().map(|text| uninline(text)),
            anchors: listed("Anchor").iter().map(|text| uncode_text(text.trim_matches('`')).into_owned()).collect(),
            check: listed("Check").into_iter().next().map(|text| uncode_text(text.trim_matches('`')).into_owned()),
            broke: listed("broke").iter().chain(&listed("Broke")).map(|it| link(it)).collect(),
            // One that a person wrote needs nobody's consent.
            status: match (ReviewStatus::parse_any_case(value("status")), values.get("status")) {
                (Some(status), _) => status,
                (None, Some(_)) if ENDED.contains(&value("status").trim().to_lowercase().as_str()) => {
                    ReviewStatus::Rejected
                }
                (None, None) if values.get("lesson_id").is_none() => ReviewStatus::Accepted,
                (None, _) => ReviewStatus::Proposed,
            },
            project: owned("project"),
            learned: owned("learned"),
            sessions: values.strings("sessions").into_iter().map(link).collect(),
            evidence: lines(&["Evidence:", "Against:"]),
            contradicts: lines(&["Contradicts:"])
                .iter()
                .filter_map(|line| Some(link(line.split_once(':')?.1)))
                .collect(),
        };
        Some(Self {
            path: path.to_owned(),
            lesson,
            of_reading: values.get("lesson_id").is_some(),
            changed: value("rendered") != rendered(whole),
            text: whole.to_owned(),
        })
    }
}

const fn raised(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::Low => Confidence::Medium,
        Confidence::Medium | Confidence::High => Confidence::High,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Proof;

    fn lesson(text: &str, session: &str) -> Lesson {
        let read = ReadLesson {
            text: text.to_owned(),
            level: LessonLevel::Project,
            place: Some("src/**".into()),
            confidence: Confidence::Low,
            proof: vec![Proof::Said { said: "u-01".into(), quote: "use `pnpm` [[x]]".into() }],
            against: Vec::new(),
        };
        Lesson::of(&read, session, Some("~/code/x"), Some("2026-11-20T09:00:00Z"))
    }

    #[test]
    fn a_lesson_reads_back() {
        let mut one = lesson("Use pnpm, not npm.", "a");
        assert!(one.id.starts_with("use-pnpm-not-npm-"), "{}", one.id);
        let note = LessonNote::read(&one.path(), &one.render()).unwrap();
        assert_eq!((&note.lesson, note.changed, note.of_reading), (&one, false, true));
        let two = lesson("Use pnpm, not npm.", "b");
        assert_eq!(one.id, two.id);
        assert!(one.merge(&two) && !one.merge(&two));
        assert_eq!((one.confidence, one.sessions.len(), one.evidence.len()), (Confidence::Medium, 2, 2));
        assert!(one.contradicted_by("use-npm") && !one.contradicted_by("use-npm"));
        let text = one.render();
        assert_eq!(LessonNote::read(&one.path(), &text).unwrap().lesson, one);
        assert!(text.contains(r"“use `pnpm` \[\[x]]”") || text.contains(r"\[[x"), "{text}");
        assert!(LessonNote::read("l.md", &text.replace("# Use", "# Always use")).unwrap().changed);
    }

    #[test]
    fn lessons_by_hand_are_read_too() {
        let text = "---\ntype: lesson\ntitle: Keep the datum\nlevel: project\nconfidence: high\n---\n# Keep the datum\n\n- Evidence: [[a#^d-01]]\n";
        let note = LessonNote::read("lessons/keep.md", text).unwrap();
        assert_eq!((note.lesson.status, note.of_reading), (ReviewStatus::Accepted, false));
        assert_eq!(note.lesson.evidence, ["Evidence: [[a#^d-01]]"]);
        assert_eq!(LessonNote::read("a.md", "---\ntype: case\n---\n"), None);
    }
}
