//! Lessons that stand in sessions as callouts: an agent logged them, an import found them, or a person wrote them down.

use cru_session::Callout;

use super::Lesson;
use crate::answer::{Confidence, LessonLevel};
use crate::note::ReviewStatus;

/// The kinds of callouts that say what was learned.
pub const TOLD: [&str; 2] = ["lesson", "quirk"];

/// A lesson that a session tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldLesson {
    /// As a proposed lesson; its id is the reference `session#l-01`, and a hash of its words where the callout has none.
    pub lesson: Lesson,
    /// How sure it is, where the callout says so.
    pub confidence: Option<Confidence>,
    /// Other fields of the callout: `Frequency`, `Severity`, `Tags`.
    pub fields: Vec<(String, String)>,
}

impl ToldLesson {
    /// Of a callout of the note `name` of a session; `None` where it is of another kind or says nothing.
    pub fn of(callout: &Callout, session: &str, name: &str) -> Option<Self> {
        let is_quirk = callout.kind == "quirk";
        if !TOLD.contains(&callout.kind.as_str()) {
            return None;
        }
        let mut parts = callout.title.split('·').map(str::trim);
        let first = parts.next().unwrap_or_default();
        let level = LessonLevel::parse(first).filter(|_| !is_quirk);
        let confidence = callout.field("Confidence").or_else(|| parts.next()).and_then(Confidence::parse);
        // A title that names no level is what was learned; of a quirk it is the model.
        let own = if level.is_some() || is_quirk { "" } else { callout.title.trim() };
        let text = if own.is_empty() { callout.paragraph() } else { own.to_owned() };
        let text = cru_base::text::fold_whitespace(&cru_base::text::sanitise(&text));
        if !text.chars().any(char::is_alphanumeric) {
            return None;
        }
        // One that a person wrote down may have no id: it is known by its words.
        let id = callout.id.clone().unwrap_or_else(|| id_by_words(&text));
        let place = callout.id.as_deref().map(|id| format!("#^{id}")).unwrap_or_default();
        let advice = callout.field("Do").or_else(|| callout.field("Workaround")).map(str::to_owned);
        let told = |(field, _): &&(String, String)| !["Do", "Workaround", "Confidence", "At"].contains(&field.as_str());
        let lesson = Lesson {
            id: format!("{session}#{id}"),
            text,
            level: level.unwrap_or(if is_quirk { LessonLevel::Model } else { LessonLevel::Project }),
            place: Some(first.to_owned()).filter(|model| is_quirk && !model.is_empty()),
            confidence: confidence.unwrap_or(Confidence::Low),
            status: ReviewStatus::Proposed,
            sessions: vec![name.to_owned()],
            evidence: vec![format!("Evidence: [[{name}{place}]]")],
            advice,
            ..Lesson::default()
        };
        Some(Self { lesson, confidence, fields: callout.fields.iter().filter(told).cloned().collect() })
    }

    /// Where it stands, without brackets: `note#^l-01`; of a callout without an id its note.
    pub fn link(&self) -> &str {
        let line = self.lesson.evidence.first().map_or("", String::as_str);
        line.trim_start_matches("Evidence: [[").trim_end_matches("]]")
    }

    /// Whether a callout without an id of its own is known by this one.
    pub fn is_known_as(callout: &Callout, id: &str) -> bool {
        let reference = |it: Self| it.lesson.id;
        callout.id.is_none()
            && id.starts_with("x-")
            && Self::of(callout, "", "").map(reference) == Some(format!("#{id}"))
    }

    /// The value of a field of the callout, case ignored.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// What stands for the id of a callout that has none.
fn id_by_words(text: &str) -> String {
    let hash = crate::hash(&[text]);
    format!("x-{}", &hash["b3:".len()..][..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    fn told(callout: &str) -> Option<ToldLesson> {
        let text = format!("---\ntype: session\n---\n# T\n\n## One @a\n\n{callout}\n");
        let (session, _) = cru_session::read::session(&Note::parse(text));
        let callout = session.items().find_map(|(_, item)| item.callout().cloned())?;
        ToldLesson::of(&callout, "s1", "s1")
    }

    #[test]
    fn callouts_are_lessons() {
        let it = told("> [!lesson] task · high\n> Never push\n> to main.\n>\n> It is closed.\n> Do: push to a branch\n> Tags: git, ci\n\n^l-01").unwrap();
        assert_eq!((it.lesson.id.as_str(), it.lesson.text.as_str()), ("s1#l-01", "Never push to main."));
        assert_eq!((it.lesson.level, it.lesson.confidence), (LessonLevel::Task, Confidence::High));
        assert_eq!((it.lesson.advice.as_deref(), it.field("tags")), (Some("push to a branch"), Some("git, ci")));
        let it = told("> [!lesson] Measure first\n\n^l-02").unwrap();
        assert_eq!((it.lesson.text.as_str(), it.lesson.level), ("Measure first", LessonLevel::Project));
        let it =
            told("> [!quirk] zai/glm-4.7\n> Uses sed to read.\n> Severity: low\n> Workaround: name the tool\n\n^q-01")
                .unwrap();
        assert_eq!((it.lesson.level, it.lesson.place.as_deref()), (LessonLevel::Model, Some("zai/glm-4.7")));
        assert_eq!(
            (it.lesson.text.as_str(), it.lesson.advice.as_deref()),
            ("Uses sed to read.", Some("name the tool"))
        );
        let it = told("> [!lesson] Measure first\n").unwrap();
        assert_eq!((it.lesson.id.len(), &it.lesson.id[..5]), ("s1#x-12345678".len(), "s1#x-"));
        assert_eq!(it.lesson.evidence, ["Evidence: [[s1]]"]);
        assert_eq!(told("> [!lesson] project\n\n^l-03"), None);
        assert_eq!(told("> [!note] Measure first\n\n^x-01"), None);
    }
}
