//! Reads an answer: strict, total, with a path for each error.

use serde_json::Value;

use super::cursor::{Fields, Problems, shown, text};
use super::proof::FORMS;
use super::{
    AbsenceOf, Answer, AnswerError, CaseAfter, CaseCheck, CaseUse, Claim, Contradiction, CountOf, MAX_BYTES, MAX_LIST,
    MAX_PROOFS, MAX_QUOTE, MAX_TEXT, MAX_TITLE, Proof, ReadCase, ReadLesson, ReadOutcome, ReadRequest, ReadSegment,
    StepRange, Summary, WorkGroup,
};

/// Characters of an id.
const MAX_ID: usize = 80;
/// Steps of a group of a workflow.
const MAX_STEPS: usize = 400;

/// The JSON object in what an agent printed: without words and fences around it.
pub fn json_of(answer: &str) -> &str {
    let answer = answer.trim().trim_start_matches('\u{feff}');
    match (answer.find('{'), answer.rfind('}')) {
        (Some(start), Some(end)) if start < end => &answer[start..=end],
        _ => answer,
    }
}

/// Reads an answer. Error: everything that is wrong with it, at most 40 places.
pub fn read(answer: &str) -> Result<Answer, Vec<AnswerError>> {
    let fail = |message: String| Err(vec![AnswerError { path: String::new(), message }]);
    if answer.len() > MAX_BYTES {
        return fail(format!("the answer has {} bytes; use at most {MAX_BYTES}", answer.len()));
    }
    let json = json_of(answer);
    if !json.starts_with('{') {
        return fail("the answer holds no JSON object; answer with one JSON object and nothing else".to_owned());
    }
    let value: Value = match serde_json::from_str(json) {
        Ok(value) => value,
        Err(error) => return fail(format!("no valid JSON: {error}; answer with one JSON object and nothing else")),
    };
    let mut problems = Problems::default();
    let answer = whole(&value, &mut problems);
    match answer {
        Some(answer) if problems.errors.is_empty() => Ok(answer),
        _ => Err(problems.errors),
    }
}

const KEYS: &[&str] =
    &["reading", "session", "record", "note", "lang", "summary", "cases", "lessons", "workflow", "segments"];

/// Keys of a brief.
const BRIEF: &[&str] = &[
    "brief",
    "session",
    "record",
    "lang",
    "title",
    "outcome",
    "requests",
    "decisions",
    "not_verified",
    "open",
    "contradicted",
];

/// Keys of the summary of a reading that is no brief.
const SUMMARY: &[&str] = &["title", "goal", "outcome", "requests", "decisions", "not_verified", "open", "contradicted"];

fn whole(value: &Value, problems: &mut Problems) -> Option<Answer> {
    let is_brief = value.get("brief").is_some();
    let (version, keys) = if is_brief { ("brief", BRIEF) } else { ("reading", KEYS) };
    let fields = Fields::of(value, "", keys, problems)?;
    match fields.get(version).and_then(Value::as_u64) {
        Some(crate::SCHEMA) => {}
        Some(other) => problems.add(version, format!("schema {other} is not known; use 1")),
        None => problems.add(version, "missing; add the version of the schema: 1"),
    }
    let session = fields.line("session", 300, "the id of the session", problems);
    let hash = if fields.get("note").is_some() { "note" } else { "record" };
    let note = fields.line(hash, MAX_ID, "the hash of the record, as the prompt names it", problems);
    let lang = fields.optional("lang", 20, problems).unwrap_or_default();
    let summary = if is_brief {
        summary(&fields, problems)
    } else {
        match fields.need("summary", "an object with title, outcome, requests, open …", problems) {
            Some(value) => Fields::of(value, "summary", SUMMARY, problems)
                .map(|fields| summary(&fields, problems))
                .unwrap_or_default(),
            None => Summary::default(),
        }
    };
    if is_brief && summary.outcome.is_none() && !problems.errors.iter().any(|it| it.path.starts_with("outcome")) {
        problems.add("outcome", "missing; add an object with state, text, proof");
    }
    let cases = each(&fields, "cases", problems, case);
    let lessons = each(&fields, "lessons", problems, lesson);
    let workflow = each(&fields, "workflow", problems, group);
    let segments = each(&fields, "segments", problems, segment);
    Some(Answer {
        reading: crate::SCHEMA,
        session: session?,
        note: note?,
        lang,
        summary,
        cases,
        lessons,
        workflow,
        segments,
        is_brief,
    })
}

fn each<T>(
    fields: &Fields<'_>,
    key: &str,
    problems: &mut Problems,
    read: impl Fn(&Value, &str, &mut Problems) -> Option<T>,
) -> Vec<T> {
    let items = fields.list(key, MAX_LIST, problems);
    let path = fields.path(key);
    items.iter().enumerate().filter_map(|(at, value)| read(value, &format!("{path}[{at}]"), problems)).collect()
}

fn summary(fields: &Fields<'_>, problems: &mut Problems) -> Summary {
    let goal = fields.get("goal").and_then(|value| claim(value, &fields.path("goal"), problems));
    let outcome = fields.get("outcome").and_then(|value| {
        let path = fields.path("outcome");
        // The first version of the schema had the sentence and its proofs in an object of their own.
        if value.get("claim").is_some() {
            let fields = Fields::of(value, &path, &["state", "claim"], problems)?;
            let state = fields.word("state", problems);
            let claim = fields.get("claim").and_then(|value| claim(value, &fields.path("claim"), problems));
            return Some(ReadOutcome { state: state?, claim: claim? });
        }
        let fields = Fields::of(value, &path, &["state", "text", "proof"], problems)?;
        let state = fields.word("state", problems);
        Some(ReadOutcome { state: state?, claim: claim_of(&fields, problems)? })
    });
    Summary {
        title: fields.optional("title", MAX_TITLE, problems),
        goal,
        requests: each(fields, "requests", problems, request),
        outcome,
        decisions: each(fields, "decisions", problems, claim),
        not_verified: each(fields, "not_verified", problems, claim),
        open: each(fields, "open", problems, claim),
        contradicted: each(fields, "contradicted", problems, contradiction),
    }
}

fn request(value: &Value, path: &str, problems: &mut Problems) -> Option<ReadRequest> {
    let fields = Fields::of(value, path, &["said", "state", "text", "proof"], problems)?;
    let said = id(&fields, "said", problems);
    let state = fields.word("state", problems);
    Some(ReadRequest { said: said?, state: state?, claim: claim_of(&fields, problems)? })
}

fn contradiction(value: &Value, path: &str, problems: &mut Problems) -> Option<Contradiction> {
    let fields = Fields::of(value, path, &["claim", "text", "proof"], problems)?;
    let said = fields.need("claim", "the agent's words, `p-02: All tests pass`", problems);
    let said = said.and_then(|value| proof(value, &fields.path("claim"), problems));
    Some(Contradiction { said: said?, claim: claim_of(&fields, problems)? })
}

fn claim(value: &Value, path: &str, problems: &mut Problems) -> Option<Claim> {
    claim_of(&Fields::of(value, path, &["text", "proof"], problems)?, problems)
}

fn claim_of(fields: &Fields<'_>, problems: &mut Problems) -> Option<Claim> {
    let text = fields.line("text", MAX_TEXT, "one sentence", problems);
    let proof = proofs(fields, "proof", true, problems);
    Some(Claim { text: text?, proof })
}

fn proofs(fields: &Fields<'_>, key: &str, needed: bool, problems: &mut Problems) -> Vec<Proof> {
    let path = fields.path(key);
    let items = fields.list(key, MAX_PROOFS, problems);
    if needed && items.is_empty() && !matches!(fields.get(key), Some(value) if !value.is_array()) {
        problems.add(&path, format!("has no proof; cite one to {MAX_PROOFS} places of the record"));
    }
    items.iter().enumerate().filter_map(|(at, value)| proof(value, &format!("{path}[{at}]"), problems)).collect()
}

fn proof(value: &Value, path: &str, problems: &mut Problems) -> Option<Proof> {
    if let Value::String(text) = value {
        let text = cru_base::text::sanitise(text);
        return text.parse().map_err(|why: String| problems.add(path, why)).ok();
    }
    // The first version of the schema had objects.
    let Value::Object(map) = value else {
        problems.add(path, format!("must be a text; {FORMS}"));
        return None;
    };
    let has = |key: &str| map.contains_key(key);
    if has("step") {
        let fields = Fields::of(value, path, &["step", "status", "has"], problems)?;
        let step = id(&fields, "step", problems);
        let status = if has("status") { Some(fields.word("status", problems)?) } else { None };
        // Without it this proof alone is refused, not the whole answer.
        let has = if has("has") {
            fields.text("has", MAX_QUOTE, "a text of that step's call or result, 8 characters or more", problems)
        } else {
            Some(String::new())
        };
        return Some(Proof::Step { step: step?, status, has: has? });
    }
    if has("said") || has("prose") {
        let key = if has("said") { "said" } else { "prose" };
        let fields = Fields::of(value, path, &[key, "quote"], problems)?;
        let block = id(&fields, key, problems);
        let quote = fields.text("quote", MAX_QUOTE, "the very words, 8 characters or more", problems);
        let (block, quote) = (block?, quote?);
        return Some(if key == "said" {
            Proof::Said { said: block, quote }
        } else {
            Proof::Prose { prose: block, quote }
        });
    }
    if has("count") {
        let fields = Fields::of(value, path, &["count", "is"], problems)?;
        let is = fields.need("is", "the number", problems)?;
        let is = is.as_u64().or_else(|| {
            problems.add(&fields.path("is"), "must be a whole number of 0 or more");
            None
        });
        let inner = fields.path("count");
        let fields = Fields::of(fields.get("count")?, &inner, &["tool", "file", "match", "from", "to"], problems)?;
        let count = CountOf {
            tool: fields.optional("tool", MAX_ID, problems),
            file: fields.optional("file", MAX_QUOTE, problems),
            text: fields.optional("match", MAX_QUOTE, problems),
            from: optional_id(&fields, "from", problems),
            to: optional_id(&fields, "to", problems),
        };
        if count.tool.is_none() && count.file.is_none() && count.text.is_none() {
            problems.add(&inner, "says nothing of what is counted; add tool, file or match");
        }
        return Some(Proof::Count { count, is: is? });
    }
    if has("none") {
        let fields = Fields::of(value, path, &["none"], problems)?;
        let fields = Fields::of(fields.get("none")?, &fields.path("none"), &["match", "from", "to"], problems)?;
        let text = fields.line("match", MAX_QUOTE, "the text that no call holds", problems);
        let (from, to) = (optional_id(&fields, "from", problems), optional_id(&fields, "to", problems));
        return Some(Proof::Absent { none: AbsenceOf { text: text?, from, to } });
    }
    problems.add(path, format!("is no proof; {FORMS}"));
    None
}

/// An id without `^` and `#`.
fn id(fields: &Fields<'_>, key: &str, problems: &mut Problems) -> Option<String> {
    fields.line(key, MAX_ID, "the id of a block, such as n-014", problems).map(|id| bare(&id))
}

fn optional_id(fields: &Fields<'_>, key: &str, problems: &mut Problems) -> Option<String> {
    fields.optional(key, MAX_ID, problems).map(|id| bare(&id))
}

fn bare(id: &str) -> String {
    id.trim_start_matches(['#', '^']).to_owned()
}

fn range(fields: &Fields<'_>, key: &str, whole: bool, problems: &mut Problems) -> Option<StepRange> {
    let value = fields.get(key)?;
    let known: &[&str] = if whole { &["from", "to", "whole"] } else { &["from", "to"] };
    let inner = Fields::of(value, &fields.path(key), known, problems)?;
    let (from, to) = (id(&inner, "from", problems), id(&inner, "to", problems));
    let whole = inner.get("whole").is_some().then(|| inner.flag("whole", problems));
    Some(StepRange { from: from?, to: to?, whole })
}

const CASE_KEYS: &[&str] = &[
    "kind",
    "title",
    "about_agent",
    "planned",
    "context",
    "failure",
    "expected",
    "wrong",
    "right",
    "check",
    "after",
    "for",
    "worth",
];

fn case(value: &Value, path: &str, problems: &mut Problems) -> Option<ReadCase> {
    let fields = Fields::of(value, path, CASE_KEYS, problems)?;
    let kind = fields.word("kind", problems);
    let title = fields.line("title", MAX_TITLE, "a few words", problems);
    let (about_agent, planned) = (fields.flag("about_agent", problems), fields.flag("planned", problems));
    let context = fields.need("context", "an object with text and proof", problems);
    let context = context.and_then(|value| claim(value, &fields.path("context"), problems));
    let failure = fields.get("failure").and_then(|value| claim(value, &fields.path("failure"), problems));
    let expected = fields.get("expected").and_then(|value| claim(value, &fields.path("expected"), problems));
    let (wrong, right) = (range(&fields, "wrong", false, problems), range(&fields, "right", true, problems));
    let check = fields.get("check").and_then(|value| {
        let fields = Fields::of(value, &fields.path("check"), &["step", "status", "same_as"], problems)?;
        let step = id(&fields, "step", problems);
        let status = fields.word("status", problems);
        let same_as = optional_id(&fields, "same_as", problems);
        Some(CaseCheck { step: step?, status: status?, same_as })
    });
    let after = fields.get("after").and_then(|value| {
        let fields = Fields::of(value, &fields.path("after"), &["said", "verdict"], problems)?;
        let said = optional_id(&fields, "said", problems);
        Some(CaseAfter { said, verdict: fields.word("verdict", problems)? })
    });
    let uses_path = fields.path("for");
    let mut uses: Vec<CaseUse> = Vec::new();
    for (at, value) in fields.list("for", CaseUse::WORDS.len(), problems).iter().enumerate() {
        match value.as_str().and_then(CaseUse::parse) {
            Some(it) if !uses.contains(&it) => uses.push(it),
            Some(_) => {}
            None => problems.add(
                &format!("{uses_path}[{at}]"),
                format!("{} is none of completion, pair, eval, lesson", shown(value)),
            ),
        }
    }
    let worth = match fields.get("worth") {
        None => 0.5,
        Some(value) => value.as_f64().filter(|worth| (0.0..=1.0).contains(worth)).unwrap_or_else(|| {
            problems.add(&fields.path("worth"), "must be a number from 0 to 1");
            0.0
        }),
    };
    Some(ReadCase {
        kind: kind?,
        title: title?,
        about_agent,
        planned,
        context: context?,
        failure,
        expected,
        wrong,
        right,
        check,
        after,
        uses,
        worth,
    })
}

fn lesson(value: &Value, path: &str, problems: &mut Problems) -> Option<ReadLesson> {
    let known = &["text", "level", "where", "confidence", "proof", "against"];
    let fields = Fields::of(value, path, known, problems)?;
    let text = fields.line("text", MAX_TEXT, "one sentence that helps in a later session", problems);
    let level = fields.word("level", problems);
    let place = fields.optional("where", 200, problems);
    let confidence = fields.word("confidence", problems);
    let proof = proofs(&fields, "proof", true, problems);
    let against = proofs(&fields, "against", false, problems);
    Some(ReadLesson { text: text?, level: level?, place, confidence: confidence?, proof, against })
}

fn group(value: &Value, path: &str, problems: &mut Problems) -> Option<WorkGroup> {
    let fields = Fields::of(value, path, &["title", "steps", "optional"], problems)?;
    let title = fields.line("title", MAX_TITLE, "a few words, in the imperative", problems);
    let items = fields.list("steps", MAX_STEPS, problems);
    let inner = fields.path("steps");
    if items.is_empty() {
        problems.add(&inner, "names no step; add ids such as n-014");
    }
    let one = |(at, value): (usize, &Value)| text(value, &format!("{inner}[{at}]"), MAX_ID, problems);
    let steps: Vec<String> = items.iter().enumerate().filter_map(one).map(|id| bare(&id)).collect();
    let optional = fields.flag("optional", problems);
    Some(WorkGroup { title: title?, steps, optional })
}

fn segment(value: &Value, path: &str, problems: &mut Problems) -> Option<ReadSegment> {
    let fields = Fields::of(value, path, &["id", "type", "outcome", "summary", "topics"], problems)?;
    let id = id(&fields, "id", problems);
    let (kind, outcome) = (fields.word("type", problems), fields.word("outcome", problems));
    let value = fields.need("summary", "an object with text and proof", problems);
    let summary = value.and_then(|value| claim(value, &fields.path("summary"), problems));
    let inner = fields.path("topics");
    let items = fields.list("topics", 8, problems);
    let one = |(at, value): (usize, &Value)| text(value, &format!("{inner}[{at}]"), 40, problems);
    let topics: Vec<String> = items.iter().enumerate().filter_map(one).collect();
    let topics = topics.iter().map(|topic| cru_base::text::fold_whitespace(topic)).collect();
    Some(ReadSegment { id: id?, kind: kind?, outcome: outcome?, summary: summary?, topics })
}
