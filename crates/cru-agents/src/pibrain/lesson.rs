//! What was learned in a segment: lessons by level, what helped and what did not, oddities of models.

use serde_json::Value;

use super::node::field;
use crate::file::value::{filled, objects, strings};
use crate::stream::out::{self, Out};
use cru_session::event::{EventKind, Remark};

/// What a lesson is about, widest first.
const LEVELS: &[&str] = &["project", "task", "user", "model", "tool", "skill", "subagent"];

/// Tells all that a node says was learned.
pub(super) fn tell(node: &Value, out: &mut Out<'_>) {
    let lessons = &node["lessons"];
    for level in LEVELS {
        for lesson in lessons.get(*level).and_then(Value::as_array).into_iter().flatten() {
            self::lesson(level, lesson, out);
        }
    }
    for (name, word) in [("promptingWins", "worked"), ("promptingFailures", "did not work")] {
        for said in strings(field(node, "observations", name)) {
            remark("lesson", "user".to_owned(), said.to_owned(), vec![("Prompting", word.to_owned())], out);
        }
    }
    for quirk in objects(field(node, "observations", "modelQuirks")) {
        let Some(observation) = filled(quirk, "observation") else { continue };
        let fields =
            fields(quirk, &[("Frequency", "frequency"), ("Severity", "severity"), ("Workaround", "workaround")]);
        remark("quirk", filled(quirk, "model").unwrap_or("").to_owned(), observation.to_owned(), fields, out);
    }
}

fn lesson(level: &str, lesson: &Value, out: &mut Out<'_>) {
    let summary = lesson.as_str().or_else(|| filled(lesson, "summary"));
    let details = filled(lesson, "details");
    let claim: Vec<&str> =
        summary.into_iter().chain(details.filter(|details| summary != Some(details))).map(str::trim).collect();
    if claim.is_empty() {
        return;
    }
    let title = match filled(lesson, "confidence") {
        Some(confidence) => format!("{level} · {confidence}"),
        None => level.to_owned(),
    };
    let mut fields = fields(lesson, &[("Do", "actionable")]);
    let tags = strings(lesson.get("tags"));
    if !tags.is_empty() {
        fields.push(("Tags", tags.join(", ")));
    }
    remark("lesson", title, claim.join("\n\n"), fields, out);
}

fn fields(value: &Value, names: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    names.iter().filter_map(|(shown, name)| Some((*shown, filled(value, [*name])?.to_owned()))).collect()
}

fn remark(kind: &'static str, title: String, text: String, fields: Vec<(&'static str, String)>, out: &mut Out<'_>) {
    let fields = fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    out.emit(EventKind::Remark(Remark { fields, ..out::remark(kind, title, text) }));
}
