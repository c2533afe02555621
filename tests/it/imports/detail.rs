//! `cru import --detail`: one session told briefly, as usual and in full; and how each of them grows.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use cru::base::files;
use cru::session::Session;
use cru::session::detail::Level;
use cru::session::fold;
use cru::sync::import::{Machine, Options, Unwatched, ingest};
use cru::sync::report::{Outcome, Report};
use cru::vault::State;
use serde_json::{Value, json};

use crate::imports::growth::{World, order_free, without_cursor};
use crate::transcript_set::{TranscriptSet, on_both_sets};

const SESSION: &str = "c0ffee00-0000-4000-8000-000000000001";

/// A transcript of a day's work, a record a line.
#[derive(Default)]
struct Day {
    lines: Vec<String>,
}

impl Day {
    fn record(&mut self, minute: usize, kind: &str, content: &Value, more: &Value) {
        let number = self.lines.len() + 1;
        let id = |number: usize| format!("c0ffee00-0000-4000-9000-{number:012}");
        let parent = if number == 1 { Value::Null } else { id(number - 1).into() };
        let mut message = json!({"role": kind, "content": content});
        if kind == "assistant" {
            message["id"] = format!("m{number}").into();
            message["model"] = "claude-sonnet-4-5".into();
            message["usage"] = json!({"input_tokens": 10, "output_tokens": 20});
        }
        let time = format!("2025-03-01T{:02}:{:02}:00.000Z", 9 + minute / 60, minute % 60);
        let mut record = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/mara/code/tidepool",
            "sessionId": SESSION, "version": "2.1.40", "gitBranch": "main", "type": kind, "uuid": id(number),
            "timestamp": time, "message": message,
        });
        for (key, value) in more.as_object().unwrap() {
            record[key] = value.clone();
        }
        self.lines.push(record.to_string());
    }

    fn says(&mut self, minute: usize, words: &str) {
        self.record(minute, "user", &json!(words), &json!({}));
    }

    fn replies(&mut self, minute: usize, words: &str) {
        self.record(minute, "assistant", &json!([{"type": "text", "text": words}]), &json!({}));
    }

    fn calls(&mut self, minute: usize, tool: &str, input: &Value, output: &str, failed: bool) {
        let id = format!("toolu_{}", self.lines.len());
        self.record(
            minute,
            "assistant",
            &json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]),
            &json!({}),
        );
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]);
        self.record(minute, "user", &result, &json!({}));
    }

    fn thinks(&mut self, minute: usize, words: &str) {
        self.record(
            minute,
            "assistant",
            &json!([{"type": "thinking", "thinking": words, "signature": "x"}]),
            &json!({}),
        );
    }

    fn invented() -> Self {
        let bash = |command: &str| json!({"command": command, "description": "Do it"});
        let mut day = Self::default();
        day.says(0, "Make the gauge page show the newest level of every station in metres");
        day.replies(1, "I look at how the page is made.");
        day.thinks(1, "The unit must be somewhere near the template.");
        day.calls(
            2,
            "Grep",
            &json!({"pattern": "level", "path": "src"}),
            "Found 2 files\nsrc/page.rs\nsrc/unit.rs",
            false,
        );
        day.calls(
            2,
            "Read",
            &json!({"file_path": "/home/mara/code/tidepool/src/page.rs"}),
            "     1→fn page() {}\n     2→// end",
            false,
        );
        day.calls(3, "Bash", &bash("git status --short && ls src | head"), " M src/page.rs\npage.rs", false);
        day.replies(4, "The levels are in millimetres. Shall I convert them in the template?");
        day.says(5, "yes, go on");
        day.calls(6, "Edit", &json!({"file_path": "/home/mara/code/tidepool/src/page.rs", "old_string": "fn page() {}", "new_string": "fn page() {\n    metres();\n}"}), "The file has been updated.", false);
        day.calls(
            7,
            "Bash",
            &bash("cargo test --quiet"),
            "Exit code 101\nrunning 3 tests\nerror[E0425]: cannot find function `metres`\n --> src/page.rs:2",
            true,
        );
        day.calls(8, "Read", &json!({"file_path": "/home/mara/code/tidepool/src/unit.rs"}), "     1→// empty", false);
        day.calls(
            9,
            "Write",
            &json!({"file_path": "/home/mara/code/tidepool/src/unit.rs", "content": "pub fn metres() {}\n"}),
            "File created successfully",
            false,
        );
        day.calls(
            10,
            "Bash",
            &bash("cargo test --quiet"),
            "running 3 tests\ntest result: ok. 3 passed; 0 failed",
            false,
        );
        day.replies(11, "All three tests pass.");
        day.calls(11, "Bash", &bash("git diff --stat"), " src/page.rs | 2 +-", false);
        day.replies(12, "The page shows metres now.");
        let token = ["ghp_", "xV7qLm2ZtR9bKc4WnYp8Hd3JsF6gTa1QeU5o"].concat();
        day.says(34, &format!("Deploy it with the token {token} to the pier server"));
        day.calls(35, "Bash", &bash("curl -s https://pier.example/health"), "ok", false);
        day.calls(36, "Bash", &bash("scripts/deploy.sh pier"), &format!("{}done", "step\n".repeat(60)), false);
        day.calls(
            37,
            "WebFetch",
            &json!({"url": "https://pier.example", "prompt": "Is it up?"}),
            "Levels: 1.007 m",
            false,
        );
        day.replies(38, "It is deployed, and the page answers.");
        day
    }

    fn text(&self, lines: usize) -> String {
        self.lines[..lines].join("\n") + "\n"
    }
}

fn import(world: &World, level: Level, thinking: bool) -> Report {
    let importer = cru::import::find("claude").unwrap();
    let machine = Some(Machine { state: world.state.clone(), now: world.env.now() });
    let fold = fold::Options { level, thinking, ..fold::Options::default() };
    ingest(&world.vault, importer, &[world.input()], &Options { machine, fold, ..Options::default() }, &Unwatched)
        .unwrap()
}

fn put(world: &World, text: &str) {
    files::put(&world.input().join(format!("{SESSION}.jsonl")), text.as_bytes()).unwrap();
}

fn note(world: &World) -> String {
    world.notes().into_values().next().unwrap().replace(world.temp.path().to_str().unwrap(), "[TEMP]")
}

fn whole(level: Level, thinking: bool) -> (World, String) {
    let (world, day) = (World::new(), Day::invented());
    put(&world, &day.text(day.lines.len()));
    import(&world, level, thinking);
    let text = note(&world);
    (world, text)
}

/// The steps of a session by id, but for what only a full account has.
fn steps(session: &Session) -> BTreeMap<String, Value> {
    let steps = session.steps().map(|(_, step)| {
        let mut value = serde_json::to_value(step).unwrap();
        value.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "input" | "output" | "span"));
        (step.id.clone().unwrap(), value)
    });
    steps.collect()
}

/// What a brief tells of a step: its line, and what it wrote.
fn shortened(mut step: Value) -> Value {
    step.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "command" | "reads"));
    step
}

#[test]
fn one_session_in_three_lengths() {
    for level in Level::ALL {
        let (world, text) = whole(level, false);
        insta::assert_snapshot!(format!("detail_{}", level.as_str()), text);
        assert!(!text.contains("ghp_") && text.contains("[secret:github-token-1]"));
        let before = world.notes();
        assert_eq!(import(&world, Level::Normal, false).count(Outcome::Unchanged), 1);
        assert_eq!(world.notes(), before, "twice changes no byte");
    }
}

#[test]
fn what_is_shown_has_the_same_ids_in_all_lengths() {
    let of = |level| steps(&whole(level, false).0.sessions().into_values().next().unwrap().1);
    let (brief, normal, full) = (of(Level::Brief), of(Level::Normal), of(Level::Full));
    assert_eq!(normal, full);
    let short = |step: &Value| shortened(step.clone());
    let same = |(id, step): (&String, &Value)| normal.get(id).map(short) == Some(short(step));
    assert!(brief.len() < normal.len() && brief.iter().all(same), "{brief:?}");
}

#[test]
fn a_note_grows_as_it_was_made() {
    let day = Day::invented();
    for (at, level) in Level::ALL.into_iter().enumerate() {
        for thinking in [false, true] {
            let (_, want) = whole(level, thinking);
            for cut in (2 + at..day.lines.len()).step_by(3) {
                for forget in [cut % 2 == 0] {
                    let world = World::new();
                    put(&world, &day.text(cut));
                    import(&world, level, thinking);
                    if world.notes().is_empty() {
                        continue;
                    }
                    if forget {
                        forget_all(&world);
                    }
                    put(&world, &day.text(day.lines.len()));
                    // Nobody says again how much is wanted.
                    let report = import(&world, Level::Normal, false);
                    assert_eq!(report.count(Outcome::Updated), 1, "{level:?} {cut}: {:?}", report.sessions);
                    let text = |text: &str| order_free(&without_cursor(text));
                    assert_eq!(
                        text(&note(&world)),
                        text(&want),
                        "{level:?} {thinking} cut at {cut}, forgotten: {forget}"
                    );
                }
            }
        }
    }
}

fn forget_all(world: &World) {
    let state = world.temp.path().join(".local");
    assert!(state.is_dir(), "the machine state lies elsewhere");
    fs::remove_dir_all(&state).unwrap();
    let _ = State::of(&world.vault, &world.env).unwrap();
}

#[test]
fn what_a_person_wrote_into_a_short_note_stays() {
    let day = Day::invented();
    let world = World::new();
    put(&world, &day.text(22));
    import(&world, Level::Brief, false);
    let path: PathBuf = world.notes().into_keys().next().unwrap();
    let old = fs::read_to_string(&path).unwrap();
    let new = old.replacen("> [!left-out]", "Mine.\n\n> [!left-out]", 1);
    assert_ne!(old, new);
    files::replace(&path, old.as_bytes(), new.as_bytes()).unwrap();
    put(&world, &day.text(day.lines.len()));
    import(&world, Level::Normal, false);
    let text = note(&world);
    assert!(text.contains("\nMine.\n") && text.contains("cru_detail: brief") && !text.contains("conflict"), "{text}");
}

fn sessions_in_all_lengths(set: &TranscriptSet) {
    let importer = cru::import::find("claude").unwrap();
    let bundles = cru::import::search(importer, &set.folders(&["claude", "claude-projects"])).unwrap().bundles;
    let mut compared = 0;
    for bundle in bundles.iter().step_by(set.least(1, 9)) {
        let size: u64 = bundle.files.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        if size > 400_000 {
            continue;
        }
        let mut told = BTreeMap::new();
        for level in Level::ALL {
            let world = World::new();
            for (number, path) in bundle.files.iter().enumerate() {
                let to = world.input().join(format!("{number}/{}", path.file_name().unwrap().to_str().unwrap()));
                files::create_dir(to.parent().unwrap()).unwrap();
                files::put(&to, &fs::read(path).unwrap()).unwrap();
            }
            import(&world, level, false);
            let before = world.notes();
            import(&world, Level::Normal, false);
            assert_eq!(world.notes(), before, "twice changes no byte: {:?}", bundle.files);
            told.insert(level.as_str(), world.sessions());
        }
        for (host, (_, session)) in &told["normal"] {
            let (brief, full) = (&told["brief"][host].1, &told["full"][host].1);
            assert_eq!(brief.phases.len(), session.phases.len(), "{host}");
            let known = steps(session);
            let short = |step: &Value| shortened(step.clone());
            assert!(steps(brief).iter().all(|(id, step)| known.get(id).map(short) == Some(short(step))), "{host}");
            assert_eq!(steps(full), known, "{host}");
            compared += 1;
        }
    }
    assert!(compared > set.least(10, 2), "{compared}");
}

on_both_sets!(sessions_in_all_lengths);
