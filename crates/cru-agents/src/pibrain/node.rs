//! One node as a phase: the reading of the segment, decisions, errors, what was learned, what the analyst asks.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::file::value::{filled, flag, moment, number, objects, strings};
use crate::stream::out::{Out, remark};
use crate::stream::place::Place;
use cru_base::text::thousands;
use cru_session::event::{DecisionEvent, EventKind, Remark};
use cru_session::{Task, time};

/// A field of a section; some writers leave the section out.
pub(super) fn field<'v>(node: &'v Value, section: &str, name: &str) -> Option<&'v Value> {
    node.get(section).and_then(|section| section.get(name)).or_else(|| node.get(name)).filter(|value| !value.is_null())
}

fn word<'v>(node: &'v Value, section: &str, name: &str) -> Option<&'v str> {
    field(node, section, name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// When its segment began.
pub(super) fn began(node: &Value) -> Option<Timestamp> {
    moment(node.get("metadata")?, "timestamp").or_else(|| moment(node, "timestamp"))
}

/// When its segment ended.
pub(super) fn ended(node: &Value) -> Option<Timestamp> {
    let minutes =
        field(node, "metadata", "durationMinutes")?.as_f64().filter(|minutes| (0.0..1e7).contains(minutes))?;
    began(node)?.checked_add(SignedDuration::try_from_secs_f64((minutes * 60.0).round()).ok()?).ok()
}

/// Tells a node; `id` is its own, where no other node of the note has it.
pub(super) fn tell(node: &Value, id: Option<&str>, place: &Place, out: &mut Out<'_>) {
    let summary = word(node, "content", "summary").unwrap_or("");
    let kind = word(node, "classification", "type").unwrap_or("other");
    let title = match summary.split_inclusive(". ").next().map(|first| first.trim_end().trim_end_matches('.')) {
        Some(first) if !first.is_empty() => first.to_owned(),
        _ => kind.to_owned(),
    };
    out.emit(EventKind::Phase(title.into()));
    let title = match word(node, "content", "outcome") {
        Some(outcome) => format!("{kind}: {outcome}"),
        None => kind.to_owned(),
    };
    out.emit(EventKind::Remark(Remark {
        fields: fields(node, place).into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        id: id.map(|id| format!("s-{id}").into()),
        ..remark("segment", title, summary)
    }));
    decisions(node, out);
    errors(node, out);
    lessons(node, out);
    analyst(node, id.unwrap_or("node"), out);
}

/// What the callout says below the summary.
fn fields(node: &Value, place: &Place) -> Vec<(&'static str, String)> {
    let mut fields: Vec<(&'static str, String)> = Vec::new();
    let mut put = |name: &'static str, value: Option<String>| fields.extend(value.map(|value| (name, value)));
    let list = |words: Vec<&str>| (!words.is_empty()).then(|| words.join(", "));
    let flag = |section: &str, name: &str| field(node, section, name).and_then(Value::as_bool);
    put("Goal", flag("classification", "hadClearGoal").map(|is| if is { "clear" } else { "unclear" }.to_owned()));
    put("Project", flag("classification", "isNewProject").filter(|is| *is).map(|_| "new".to_owned()));
    put("Language", word(node, "classification", "language").map(str::to_owned));
    put("Frameworks", list(strings(field(node, "classification", "frameworks"))));
    let files = strings(field(node, "content", "filesTouched"));
    let files: Vec<String> = files.iter().map(|path| format!("`{}`", place.show(path).replace('`', "'"))).collect();
    put("Files", (!files.is_empty()).then(|| files.join(", ")));
    put("Tools", list(strings(field(node, "content", "toolsUsed"))));
    let minutes = field(node, "metadata", "durationMinutes").and_then(Value::as_f64).filter(|minutes| *minutes > 0.0);
    put("Duration", minutes.map(|minutes| format!("{minutes} min")));
    put("Entries", segment(node));
    put("Segment tokens", number(&node["daemonMeta"], "segmentTokenCount").map(thousands));
    put("RLM", flag("daemonMeta", "rlmUsed").filter(|is| *is).map(|_| "used".to_owned()));
    put("Version", version(node));
    put("Analyzed", analyzed(node));
    put(
        "Log",
        word(node, "daemonMeta", "analysisLog").map(|path| format!("`{}`", place.tilde(path).replace('`', "'"))),
    );
    fields
}

/// `e1 … e9 (12)`.
fn segment(node: &Value) -> Option<String> {
    let segment = node.get("source")?.get("segment")?;
    let ends = [filled(segment, "startEntryId"), filled(segment, "endEntryId")];
    let mut ends =
        ends.into_iter().flatten().map(|id| format!("`{}`", id.replace('`', "'"))).collect::<Vec<_>>().join(" … ");
    if let Some(count) = number(segment, "entryCount") {
        let gap = if ends.is_empty() { "" } else { " " };
        ends = format!("{ends}{gap}({count})");
    }
    (!ends.is_empty()).then_some(ends)
}

/// `2, after a1b2-v1`: said only of one that was read again.
fn version(node: &Value) -> Option<String> {
    let before = strings(node.get("previousVersions"));
    let version = number(node, "version").filter(|version| *version > 1 || !before.is_empty())?;
    Some(if before.is_empty() { version.to_string() } else { format!("{version}, after {}", before.join(", ")) })
}

/// `2026-01-06T02:00:00Z by 9f2c11ab`.
fn analyzed(node: &Value) -> Option<String> {
    let metadata = &node["metadata"];
    let at = moment(metadata, "analyzedAt").or_else(|| moment(node, "analyzedAt")).map(time::format);
    let by = word(node, "metadata", "analyzerVersion").map(|by| format!("by `{}`", by.replace('`', "'")));
    let told: Vec<String> = at.into_iter().chain(by).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn decisions(node: &Value, out: &mut Out<'_>) {
    for decision in objects(field(node, "content", "keyDecisions")) {
        let Some(what) = filled(decision, "what") else { continue };
        out.emit(EventKind::Decision(DecisionEvent {
            title: what.into(),
            why: filled(decision, "why").map(Into::into),
            rejected: strings(decision.get("alternativesConsidered")).into_iter().map(Into::into).collect(),
            ..DecisionEvent::default()
        }));
    }
}

fn errors(node: &Value, out: &mut Out<'_>) {
    for error in objects(field(node, "content", "errorsSeen")) {
        let message = filled(error, "message").unwrap_or("");
        let title = filled(error, "type").unwrap_or("Error");
        let fields = if flag(error, "resolved") {
            vec![("Resolution".into(), "resolved in this segment".into())]
        } else {
            Vec::new()
        };
        out.emit(EventKind::Remark(Remark { fields, ..remark("error", title, message) }));
    }
    for error in objects(field(node, "observations", "toolUseErrors")) {
        let parts = [filled(error, "tool"), filled(error, "errorType")];
        let title = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let mut said: Vec<String> = filled(error, "context").map(str::to_owned).into_iter().collect();
        said.extend(filled(error, "model").map(|model| format!("The model was {model}.")));
        if flag(error, "wasRetried") {
            said.push("It was tried again.".to_owned());
        }
        let title = if title.is_empty() { "Tool error" } else { &title };
        out.emit(EventKind::Remark(remark("error", title, said.join("\n"))));
    }
}

/// What the analyst decided for itself; what it wants to be looked at is a task.
fn analyst(node: &Value, id: &str, out: &mut Out<'_>) {
    let daemon = &node["daemonMeta"];
    for (number, decision) in (1..).zip(objects(daemon.get("decisions"))) {
        let Some(what) = filled(decision, "decision") else { continue };
        let at = moment(decision, "timestamp").map(|at| ("At".into(), time::format(at).into()));
        let told = remark("context", format!("pi-brain: {what}"), filled(decision, "reasoning").unwrap_or(""));
        out.emit(EventKind::Remark(Remark { fields: at.into_iter().collect(), folded: true, ..told }));
        if flag(decision, "needsReview") {
            out.emit(EventKind::Task(Task {
                id: format!("REVIEW-{id}-{number}"),
                content: format!("Review: {what}"),
                status: "pending".to_owned(),
                ..Task::default()
            }));
        }
    }
}

/// What a lesson is about, widest first.
const LEVELS: &[&str] = &["project", "task", "user", "model", "tool", "skill", "subagent"];

/// Tells all that a node says was learned.
fn lessons(node: &Value, out: &mut Out<'_>) {
    let lessons = &node["lessons"];
    for level in LEVELS {
        for lesson in lessons.get(*level).and_then(Value::as_array).into_iter().flatten() {
            self::lesson(level, lesson, out);
        }
    }
    for (name, word) in [("promptingWins", "worked"), ("promptingFailures", "did not work")] {
        for said in strings(field(node, "observations", name)) {
            learned("lesson", "user".to_owned(), said.to_owned(), vec![("Prompting", word.to_owned())], out);
        }
    }
    for quirk in objects(field(node, "observations", "modelQuirks")) {
        let Some(observation) = filled(quirk, "observation") else { continue };
        let fields = rows(quirk, &[("Frequency", "frequency"), ("Severity", "severity"), ("Workaround", "workaround")]);
        learned("quirk", filled(quirk, "model").unwrap_or("").to_owned(), observation.to_owned(), fields, out);
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
    let mut fields = rows(lesson, &[("Do", "actionable")]);
    let tags = strings(lesson.get("tags"));
    if !tags.is_empty() {
        fields.push(("Tags", tags.join(", ")));
    }
    learned("lesson", title, claim.join("\n\n"), fields, out);
}

fn rows(value: &Value, names: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    names.iter().filter_map(|(shown, name)| Some((*shown, filled(value, [*name])?.to_owned()))).collect()
}

fn learned(kind: &'static str, title: String, text: String, fields: Vec<(&'static str, String)>, out: &mut Out<'_>) {
    let fields = fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    out.emit(EventKind::Remark(Remark { fields, ..remark(kind, title, text) }));
}
