//! TOON: what is written decodes back to the same JSON, passes the conformance fixtures, and equals what the reference
//! crate writes.
//!
//! The fixtures are no part of the project. They are in `../shared/checks/toon-fixtures` or where `CRU_TEST_TOON` says;
//! the tests on them are ignored, and fail where they are missing. Two differences between the crates are known, and
//! the specification allows both: a string that starts with U+FEFF is quoted by ours only, and a float beyond 2⁵³ has
//! its shortest digits in ours and all of them in the reference; each decodes to the same value.

use std::path::{Path, PathBuf};

use cru::index::Record;
use cru::index::record::{
    DecisionRow, ErrorRow, FileRow, PhaseRow, SessionRow, StepRow, SubagentRow, TaskRow, UserRow,
};
use cru::index::toon::to_toon;
use jiff::Timestamp;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use serde_toon::{DecodeOptions, Delimiter, ToonOptions};

fn fixtures(folder: &str) -> Vec<(String, Value)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/checks/toon-fixtures");
    #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
    let named = std::env::var_os("CRU_TEST_TOON").map(PathBuf::from);
    let folder = named.unwrap_or(beside).join(folder);
    assert!(folder.is_dir(), "no TOON fixtures in {}: CRU_TEST_TOON names them", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for test in json["tests"].as_array().unwrap() {
            cases.push((format!("{name}: {}", test["name"].as_str().unwrap()), test.clone()));
        }
    }
    cases
}

fn the_encoder_passes_the_conformance_fixtures() {
    let cases = fixtures("encode");
    assert!(cases.len() >= 173, "{} cases", cases.len());
    for (name, case) in cases {
        let options = &case["options"];
        let text = if options.is_null() {
            to_toon(&case["input"]).unwrap()
        } else {
            // Ours has no options; the crate below it has.
            let delimiter = match options["delimiter"].as_str() {
                Some("|") => Delimiter::Pipe,
                Some("\t") => Delimiter::Tab,
                _ => Delimiter::Comma,
            };
            let indent = indent(options);
            let options = ToonOptions::new().with_delimiter(delimiter).with_indent(indent);
            serde_toon::to_string_with_options(&case["input"], options).unwrap()
        };
        assert_eq!(text, case["expected"].as_str().unwrap(), "{name}");
    }
}

fn the_decoder_passes_the_conformance_fixtures() {
    let cases = fixtures("decode");
    assert!(cases.len() >= 343, "{} cases", cases.len());
    for (name, case) in cases {
        let (input, options) = (case["input"].as_str().unwrap(), &case["options"]);
        let decoded = if options["strict"] == false || !options["indentSize"].is_null() {
            let strict = options["strict"] != false;
            let options = if strict { DecodeOptions::strict() } else { DecodeOptions::lenient() }
                .with_indent_size(indent(options));
            serde_toon::from_str_with_options::<Value>(input, options).ok()
        } else {
            decode(input)
        };
        if case["shouldError"] == true {
            assert_eq!(decoded, None, "{name}");
        } else {
            assert!(decoded.as_ref().is_some_and(|value| same(value, &case["expected"])), "{name}: {decoded:?}");
        }
    }
}

/// What strict decoding makes of a text.
fn decode(text: &str) -> Option<Value> {
    serde_toon::from_str_with_options(text, DecodeOptions::strict()).ok()
}

fn indent(options: &Value) -> usize {
    options["indentSize"].as_u64().map_or(2, |indent| usize::try_from(indent).unwrap())
}

/// Whether two values are the same JSON; `1.0` is `1`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || (x.as_f64() == y.as_f64() && (x.is_f64() || y.is_f64())),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        _ => a == b,
    }
}

/// Strings that look like something else.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~]{0,12}",
        2 => any::<String>(),
        2 => prop::sample::select(vec![
            "", " ", "null", "true", "-", "- a", "[3]: 1,2", "a: b", "#", "# no", "\"", "\\", "\\n", "a,b", "a|b", "0", "-0",
            "007", "1e9", "{a}", "x\ty", "line\nline", "\r\n", "\u{0}", "\u{1b}[31m", "\u{7f}", "\u{85}", "\u{2028}", "\u{a0}x", "\u{feff}x",
            "\u{202e}abc", "日本語", "e\u{301}", "👩‍👧", ":", "2026-11-20T10:00:00Z",
        ]).prop_map(str::to_owned),
        1 => "(steps|[a-z]{1,3})\\[[0-9]{1,2}\\](\\{[a-z,]{0,5}\\})?:( x)?",
    ]
}

fn time() -> impl Strategy<Value = Timestamp> {
    (-62_000_000_000_i64..253_000_000_000, prop_oneof![Just(0), 0..1_000_000_000])
        .prop_map(|(second, nano)| Timestamp::new(second, nano).unwrap())
}

prop_compose! {
    fn session()(
        (id, path, title, participants, tags, subagent_sessions) in (text(), text(), text(), text(), text(), text()),
        (status, agent, channel, model, project, branch) in (of(text()), of(text()), of(text()), of(text()), of(text()), of(text())),
        (started, ended, duration_ms, tokens) in (of(time()), of(time()), of(any::<u64>()), of(any::<u64>())),
        (subagent, steps, cost) in (any::<bool>(), any::<u64>(), of(prop_oneof![prop::num::f64::NORMAL, 0.000_001..1000.0])),
    ) -> SessionRow {
        SessionRow {
            id, path, title, participants, tags, subagent_sessions, status, agent, channel, model, project, branch, started,
            ended, duration_ms, tokens, subagent, steps, cost_usd: cost, ..SessionRow::default()
        }
    }
}

fn step() -> impl Strategy<Value = StepRow> {
    (
        (of(text()), of(text()), text(), text(), of(text())),
        (text(), of(text()), of(time()), of(any::<i64>()), of(any::<u64>()), of(text()), any::<u64>()),
    )
        .prop_map(|((id, phase, tool, args, result), (status, check, time, exit, duration_ms, after, line))| {
            StepRow {
                id,
                phase,
                tool,
                args,
                result,
                status,
                check,
                time,
                exit,
                duration_ms,
                dependents: after.clone(),
                after,
                line,
                verdict: None,
            }
        })
}

prop_compose! {
    fn record()(
        session in session(),
        steps in vec(step(), 0..5),
        words in vec((of(text()), text(), of(text()), of(time()), any::<u64>(), any::<bool>()), 0..4),
    ) -> Record {
        let mut record = Record { session, steps, ..Record::default() };
        for (id, title, maybe, at, line, correction) in words {
            let started = at;
            let (phase, why, model, hash) = (maybe.clone(), maybe.clone(), maybe.clone(), maybe.clone());
            record.phases.push(PhaseRow { title: title.clone(), agent: id.clone(), started, line, ..PhaseRow::default() });
            record.decisions.push(DecisionRow { id: id.clone(), title: title.clone(), why, at, line, ..DecisionRow::default() });
            record.errors.push(ErrorRow { text: title.clone(), resolution: maybe.clone(), at, line, ..ErrorRow::default() });
            record.user.push(UserRow { id: id.clone(), phase, correction, words: title.clone(), action: None, at, line });
            record.subagents.push(SubagentRow { task: id.clone(), model, tokens: Some(line), ..SubagentRow::default() });
            record.files.push(FileRow { path: title.clone(), hash, time: at, line, ..FileRow::default() });
            record.tasks.push(TaskRow { id: title.clone(), content: title, priority: maybe, ..TaskRow::default() });
        }
        record
    }
}

/// Rows of one shape with plain values, as every table of ours.
fn flat() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1_000_000..1_000_000_i64).prop_map(|thousandths| json!(thousandths as f64 / 1000.0)),
        text().prop_map(Value::from),
    ];
    (vec(text(), 1..5), vec(vec(scalar, 5), 0..5)).prop_map(|(names, rows)| {
        let row = |cells: Vec<Value>| names.iter().cloned().zip(cells).collect::<Map<_, _>>();
        json!({ "schema": 1, "rows": rows.into_iter().map(row).collect::<Vec<_>>() })
    })
}

/// Whether a string of it starts with U+FEFF, where the crates are known to differ.
fn has_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with('\u{feff}'),
        Value::Array(items) => items.iter().any(has_mark),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.starts_with('\u{feff}') || has_mark(value)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_record_decodes_back(record in record()) {
        let json = serde_json::to_value(&record).unwrap();
        let text = to_toon(&json).unwrap();
        prop_assert!(same(&decode(&text).unwrap(), &json), "{}", text);
    }

    #[test]
    fn records_are_what_the_reference_writes(record in record()) {
        let json = serde_json::to_value(&record).unwrap();
        let cost = record.session.cost_usd.map_or(1.0, f64::abs);
        // Outside of this range the crates write a number in forms of their own; a cost is never there.
        if !has_mark(&json) && (1e-6..9e15).contains(&cost) {
            prop_assert_eq!(to_toon(&json).unwrap(), toon_format::encode_default(&json).unwrap());
        }
    }

    #[test]
    fn rows_are_what_the_reference_writes(value in flat()) {
        let text = to_toon(&value).unwrap();
        prop_assert!(same(&decode(&text).unwrap(), &value), "{}", text);
        if !has_mark(&value) {
            prop_assert_eq!(text, toon_format::encode_default(&value).unwrap());
        }
    }
}

#[test]
fn the_known_differences_are_still_there() {
    // When this fails, the exceptions above can go.
    let value = json!({ "a": "\u{feff}x" });
    assert_eq!(to_toon(&value).unwrap(), "a: \"\u{feff}x\"");
    assert_eq!(toon_format::encode_default(&value).unwrap(), "a: \u{feff}x");
    let value = json!({ "a": 17_381_219_676_127_197_184.0 });
    assert_eq!(to_toon(&value).unwrap(), "a: 17381219676127197000");
    assert_eq!(toon_format::encode_default(&value).unwrap(), "a: 17381219676127197184");
    assert_eq!(decode(&to_toon(&value).unwrap()).unwrap()["a"].as_f64(), value["a"].as_f64());
}

mod shared {
    #[test]
    #[ignore = "needs ../shared/checks/toon-fixtures"]
    fn the_encoder_passes_the_conformance_fixtures() {
        super::the_encoder_passes_the_conformance_fixtures();
    }

    #[test]
    #[ignore = "needs ../shared/checks/toon-fixtures"]
    fn the_decoder_passes_the_conformance_fixtures() {
        super::the_decoder_passes_the_conformance_fixtures();
    }
}
