//! Forms that newer versions of hosts write, from the transcript to what the commands tell.

use std::path::{Path, PathBuf};
use std::process::Command;

use cru::base::files;
use serde_json::{Value, json};

/// A home with transcripts, and a vault.
struct Bed {
    temp: tempfile::TempDir,
    zone: &'static str,
}

impl Bed {
    fn new(zone: &'static str) -> Self {
        let bed = Self { temp: tempfile::tempdir().unwrap(), zone };
        let init = bed.program(&["init", &bed.vault().to_string_lossy()]).output().unwrap();
        assert!(init.status.success(), "{init:?}");
        bed
    }

    fn home(&self) -> PathBuf {
        self.temp.path().join("home")
    }

    fn vault(&self) -> PathBuf {
        self.temp.path().join("vault")
    }

    fn program(&self, args: &[&str]) -> Command {
        files::create_dir(&self.home()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).current_dir(self.home()).env_clear().env("HOME", self.home()).env("TZ", self.zone);
        command
    }

    /// What a command prints, which must succeed.
    fn run(&self, args: &[&str]) -> String {
        let output = self.program(args).env("CRU_VAULT", self.vault()).output().unwrap();
        // Nothing found is an answer.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same as JSON.
    fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.extend(["-f", "json"]);
        serde_json::from_str(&self.run(&args)).unwrap()
    }

    /// Writes lines below the home; the path.
    fn write(&self, path: &str, lines: &[Value]) -> String {
        let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
        let path = self.home().join(path);
        files::put(&path, text.as_bytes()).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Imports; all words of persons that the notes have then.
    fn import(&self, agent: &str, path: &Path) -> Value {
        let report = self.json(&["import", agent, &path.to_string_lossy()]);
        self.run(&["check"]);
        report
    }

    fn rows(&self, kind: &str, column: &str) -> Vec<String> {
        let rows = self.json(&["query", kind, "-n", "0", "--sort", "line"]);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let rows = rows["rows"].as_array().unwrap();
        let mut found: Vec<String> = rows.iter().map(|row| text(&row[column])).collect();
        found.sort();
        found
    }

    /// The notes by name, without the day.
    fn notes(&self) -> Vec<(String, String)> {
        let mut notes: Vec<(String, String)> = std::fs::read_dir(self.vault().join("sessions"))
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let text = String::from_utf8(files::read(&path).unwrap()).unwrap();
                (path.file_stem().unwrap().to_string_lossy().into_owned(), text)
            })
            .collect();
        notes.sort();
        notes
    }

    /// Tokens of input and output, together.
    fn tokens(&self) -> (u64, u64) {
        let total = &self.json(&["stats", "--cost"])["total"];
        (total["input_tokens"].as_u64().unwrap(), total["output_tokens"].as_u64().unwrap())
    }
}

/// A database of `OpenCode`: statements, each with the text that it takes.
fn database(path: &Path, statements: &[(&str, &[&str])]) {
    files::create_dir(path.parent().unwrap()).unwrap();
    let base = rusqlite::Connection::open(path).unwrap();
    for (statement, values) in statements {
        base.execute(statement, rusqlite::params_from_iter(values.iter())).unwrap();
    }
}

const SESSION_2: &str =
    "CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, fork_session_id TEXT, directory TEXT, title TEXT,
    version TEXT, time_created INTEGER, time_updated INTEGER)";
const MESSAGE_2: &str =
    "CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
    data TEXT)";
const INTO_SESSION_2: &str =
    "INSERT INTO session_v2 VALUES (?1, ?2, ?3, '/home/mia/pump', ?4, '2.0.1', 1795165200000, 1795165300000)";
const INTO_MESSAGE_2: &str = "INSERT INTO session_message VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

fn answer(words: &str, input: u64) -> String {
    json!({"model": {"id": "claude-sonnet-4-5"}, "content": [{"type": "text", "text": words}],
        "tokens": {"input": input, "output": 1, "cache": {}}, "time": {"created": 1, "completed": 2}})
    .to_string()
}

#[test]
fn opencode_2_stands_beside_stale_tables() {
    let bed = Bed::new("UTC");
    let path = bed.home().join("data/opencode-next.db");
    let (old, asked, more) =
        (answer("Old answer.", 7), json!({"text": "Fit the pump"}).to_string(), answer("Fitted.", 20));
    let shell =
        json!({"command": "git log", "status": "exited", "exit": 0, "output": {"output": "one commit"}}).to_string();
    let tool = json!({"model": {"id": "claude-sonnet-4-5"}, "time": {"created": 3, "completed": 9}, "content": [
        {"type": "tool", "id": "c1", "name": "shell", "time": {"created": 3, "ran": 4, "completed": 1500},
         "state": {"status": "completed", "input": {"command": "make fit"}, "content": [{"type": "text", "text": "fits"}], "metadata": {"exit": 0}}},
        {"type": "tool", "id": "c2", "name": "subagent", "time": {"created": 3},
         "state": {"status": "completed", "input": {"agent": "explore", "description": "Look", "prompt": "Look around"},
            "content": [{"type": "text", "text": "<subagent sessionID=\"ses_c\" state=\"completed\">\nSeen.\n</subagent>"}], "metadata": {"sessionID": "ses_c"}}},
    ]})
    .to_string();
    let old_text = json!({"type": "text", "text": "Old words"}).to_string();
    let old_data = json!({"role": "user", "time": {"created": 1_795_165_100_000_i64}}).to_string();
    let summary = json!({"status": "completed", "reason": "manual", "summary": "The pump fits."}).to_string();
    let child = json!({"text": "Look around"}).to_string();
    database(
        &path,
        &[
            (
                "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER)",
                &[],
            ),
            ("CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)", &[]),
            ("CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)", &[]),
            (SESSION_2, &[]),
            (MESSAGE_2, &[]),
            // A session of the old tables alone, and the stale beginning of one that both have.
            (
                "INSERT INTO session VALUES ('ses_o', NULL, '/home/mia/pump', 'Old one', '1.2.0', 1795165100000, 1795165100000)",
                &[],
            ),
            (
                "INSERT INTO session VALUES ('ses_a', NULL, '/home/mia/pump', 'Stale title', '1.2.0', 1795165200000, 1795165200000)",
                &[],
            ),
            ("INSERT INTO message VALUES ('m1', 'ses_o', 1795165100000, ?1)", &[&old_data]),
            ("INSERT INTO part VALUES ('p1', 'm1', 'ses_o', ?1)", &[&old_text]),
            (INTO_MESSAGE_2, &["x1", "ses_o", "assistant", "1", "1795165101000", &old]),
            ("INSERT INTO message VALUES ('m2', 'ses_a', 1795165200000, ?1)", &[&old_data]),
            (
                "INSERT INTO part VALUES ('p2', 'm2', 'ses_a', ?1)",
                &[&asked.replace("\"text\":", "\"type\":\"text\",\"text\":")],
            ),
            (INTO_SESSION_2, &["ses_a", "", "", "Fit the pump"]),
            (INTO_SESSION_2, &["ses_c", "ses_a", "", "Look"]),
            (INTO_SESSION_2, &["ses_f", "", "ses_a", "Fit the pump (fork #1)"]),
            (INTO_MESSAGE_2, &["a1", "ses_a", "user", "1", "1795165200000", &asked]),
            (INTO_MESSAGE_2, &["a2", "ses_a", "assistant", "2", "1795165201000", &tool]),
            (INTO_MESSAGE_2, &["a3", "ses_a", "shell", "3", "1795165202000", &shell]),
            (
                INTO_MESSAGE_2,
                &["a4", "ses_a", "synthetic", "4", "1795165203000", "{\"text\":\"a notice of the host\"}"],
            ),
            (INTO_MESSAGE_2, &["a5", "ses_a", "assistant", "5", "1795165204000", &more]),
            (INTO_MESSAGE_2, &["a6", "ses_a", "compaction", "6", "1795165205000", &summary]),
            (INTO_MESSAGE_2, &["c1", "ses_c", "user", "1", "1795165201500", &child]),
            (INTO_MESSAGE_2, &["c2", "ses_c", "assistant", "2", "1795165201600", &answer("Seen.", 3)]),
            // A fork: what it copied has the numbers and times of its origin.
            (INTO_MESSAGE_2, &["f1", "ses_f", "user", "1", "1795165200000", &asked]),
            (INTO_MESSAGE_2, &["f5", "ses_f", "assistant", "5", "1795165204000", &more]),
            (INTO_MESSAGE_2, &["f7", "ses_f", "user", "9", "1795165250000", "{\"text\":\"And the valve\"}"]),
            (INTO_MESSAGE_2, &["f8", "ses_f", "assistant", "10", "1795165251000", &answer("Valve fitted.", 5)]),
        ],
    );
    let report = bed.import("opencode", &bed.home().join("data"));
    assert_eq!(report["outcomes"]["created"], 4, "{report}");
    assert_eq!(bed.rows("user", "words"), ["!git log", "And the valve", "Fit the pump", "Old words"]);
    assert_eq!(bed.tokens(), (7 + 20 + 3 + 5, 4));
    let notes = bed.notes();
    let of = |words: &str| notes.iter().find(|(_, text)| text.contains(words)).unwrap();
    let (main, child, fork) = (of("Fitted."), of("> Look around"), of("Valve fitted."));
    assert!(main.1.contains("> The pump fits.") && main.1.contains("Compaction (manual"), "{}", main.1);
    assert!(main.1.contains(&format!("[[{}]]", child.0)) && !main.1.contains("a notice of the host"));
    for other in [child, fork] {
        assert!(other.1.contains(&format!("parent: \"[[{}]]\"", main.0)), "{}", other.1);
    }
    let exits = bed.json(&["query", "steps", "-w", "tool=shell", "-n", "0"]);
    assert_eq!(exits["rows"][0]["exit"], 0, "{exits}");
    // Nothing comes twice the second time.
    let again = bed.import("opencode", &bed.home().join("data"));
    assert_eq!((&again["outcomes"]["created"], bed.tokens()), (&Value::Null, (35, 4)), "{again}");
}

#[test]
fn of_several_databases_the_one_that_knows_most_is_read() {
    let bed = Bed::new("UTC");
    let make = |name: &str, answers: &[&str]| {
        let mut statements: Vec<(&str, Vec<String>)> = vec![(SESSION_2, vec![]), (MESSAGE_2, vec![])];
        let session = ["ses_a", "", "", "Fit the pump"].map(str::to_owned);
        statements.push((INTO_SESSION_2, session.to_vec()));
        let asked = json!({"text": "Fit the pump"}).to_string();
        statements
            .push((INTO_MESSAGE_2, ["m0", "ses_a", "user", "0", "1795165200000", &asked].map(str::to_owned).to_vec()));
        for (at, words) in answers.iter().enumerate() {
            let time = (1_795_165_201_000_u64 + at as u64).to_string();
            let row = [&format!("m{}", at + 1), "ses_a", "assistant", &(at + 1).to_string(), &time, &answer(words, 1)];
            statements.push((INTO_MESSAGE_2, row.map(str::to_owned).to_vec()));
        }
        let rows: Vec<Vec<&str>> = statements.iter().map(|(_, row)| row.iter().map(String::as_str).collect()).collect();
        let statements: Vec<(&str, &[&str])> =
            statements.iter().zip(&rows).map(|((text, _), row)| (*text, row.as_slice())).collect();
        database(&bed.home().join(".local/share/opencode").join(name), &statements);
    };
    make("opencode-beta.db", &["One."]);
    make("opencode.db", &["One.", "Two."]);
    let found = bed.json(&["import"]);
    assert!(found.to_string().contains("opencode"), "{found}");
    let report = bed.json(&["import", "opencode"]);
    assert_eq!((&report["outcomes"]["created"], bed.tokens()), (&json!(1), (2, 2)), "{report}");
    assert!(bed.notes()[0].1.contains("Two."));
}

fn pi(id: &str, role: &str, words: &str, second: u32) -> Value {
    let usage = if role == "assistant" { json!({"input": 10, "output": 1}) } else { Value::Null };
    json!({"type": "message", "id": id, "timestamp": format!("2026-11-20T09:00:{second:02}Z"),
        "message": {"role": role, "content": [{"type": "text", "text": words}], "model": "m", "usage": usage}})
}

#[test]
fn what_a_session_of_pi_had_run_is_told_once_and_linked() {
    let bed = Bed::new("UTC");
    let folder = ".pi/agent/sessions/--home-mia-pump--";
    let head = |id: &str, second: u32| json!({"type": "session", "id": id, "cwd": "/home/mia/pump", "timestamp": format!("2026-11-20T09:00:{second:02}Z")});
    let call = json!({"type": "message", "id": "a2", "timestamp": "2026-11-20T09:00:02Z", "message": {"role": "assistant", "model": "m",
        "usage": {"input": 10, "output": 1}, "content": [{"type": "toolCall", "id": "t", "name": "subagent", "arguments": {"agent": "scout", "task": "Find every valve"}}]}});
    let result = json!({"type": "message", "id": "a3", "timestamp": "2026-11-20T09:00:20Z",
        "message": {"role": "toolResult", "toolCallId": "t", "toolName": "subagent", "content": [{"type": "text", "text": "Two valves"}]}});
    let failed = json!({"type": "message", "id": "a5", "timestamp": "2026-11-20T09:00:31Z", "message": {"role": "toolResult", "toolCallId": "u",
        "toolName": "exec", "content": [{"type": "text", "text": "{\"status\":\"error\",\"tool\":\"exec\",\"error\":\"no such host\"}"}]}});
    let exec = json!({"type": "message", "id": "a4", "timestamp": "2026-11-20T09:00:30Z", "message": {"role": "assistant", "model": "m",
        "content": [{"type": "toolCall", "id": "u", "name": "exec", "arguments": {"command": "ping"}}]}});
    let main = [
        head("main", 0),
        pi("a1", "user", "Ask a scout", 1),
        call.clone(),
        result,
        pi("a6", "assistant", "Two.", 21),
        exec,
        failed,
    ];
    bed.write(&format!("{folder}/2026-11-20T09-00-00-000Z_main.jsonl"), &main);
    let below = format!("{folder}/2026-11-20T09-00-00-000Z_main");
    let run = [head("run", 3), pi("b1", "user", "Find every valve", 3), pi("b2", "assistant", "Found two.", 9)];
    bed.write(&format!("{below}/r1/run-0/session.jsonl"), &run);
    bed.write(&format!("{below}/subagent-artifacts/r1_scout_0.jsonl"), &run);
    let mut fork = head("fork", 10);
    fork["parentSession"] = json!("/elsewhere/sessions/2026-11-20T09-00-00-000Z_main.jsonl");
    let fork = [
        fork,
        pi("a1", "user", "Ask a scout", 1),
        call,
        pi("c1", "user", "Find relays", 11),
        pi("c2", "assistant", "One relay.", 12),
    ];
    bed.write(&format!("{below}/forks/2026-11-20T09-00-10-000Z_fork.jsonl"), &fork);
    let report = bed.import("pi", &bed.home().join(".pi/agent/sessions"));
    assert_eq!(report["outcomes"]["created"], 3, "{report}");
    assert_eq!(bed.rows("user", "words"), ["Ask a scout"], "an agent gives the others their tasks");
    assert_eq!(bed.tokens(), (40, 4));
    let notes = bed.notes();
    let of = |words: &str| notes.iter().find(|(_, text)| text.contains(words)).unwrap();
    let (main, run, fork) = (of("Two."), of("Found two."), of("One relay."));
    for other in [run, fork] {
        assert!(other.1.contains(&format!("parent: \"[[{}]]\"", main.0)), "{}", other.1);
    }
    assert!(main.1.contains(&format!("> [[{}]]", run.0)), "the call's callout links the run: {}", main.1);
    let failed = bed.json(&["query", "steps", "-w", "status=failed"]);
    assert_eq!(failed["rows"][0]["args"], "ping", "{failed}");
}

#[test]
fn cursor_tells_times_and_sub_agents() {
    let bed = Bed::new("UTC");
    let said =
        |role: &str, words: &str| json!({"role": role, "message": {"content": [{"type": "text", "text": words}]}});
    let stamped = |time: &str, words: &str| {
        said("user", &format!("<timestamp>{time}</timestamp>\n<user_query>\n{words}\n</user_query>"))
    };
    let call = json!({"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Task", "input": {"prompt": "Look at the valve", "description": "Look"}}]}});
    let folder = ".cursor/projects/home-mia-pump/agent-transcripts/s1";
    let main =
        [stamped("Friday, Nov 20, 2026, 11:30 PM (UTC-5)", "Mend the valve"), call, said("assistant", "Mended.")];
    bed.write(&format!("{folder}/s1.jsonl"), &main);
    let agent = [said("user", "<user_query>\nLook at the valve\n</user_query>"), said("assistant", "It leaks.")];
    bed.write(&format!("{folder}/subagents/a1.jsonl"), &agent);
    bed.import("cursor", &bed.home().join(".cursor/projects"));
    let notes = bed.notes();
    let main = notes.iter().find(|(_, text)| text.contains("Mended.")).unwrap();
    let agent = notes.iter().find(|(_, text)| text.contains("It leaks.")).unwrap();
    assert!(main.0.starts_with("2026-11-21-") && main.1.contains("started: 2026-11-21T04:30:00Z"), "{main:?}");
    assert!(main.1.contains(&format!("> [[{}]]", agent.0)), "{}", main.1);
    assert_eq!(bed.rows("user", "words"), ["Mend the valve"]);
}

fn claude(session: &str, uuid: &str, parent: Option<&str>, time: &str, kind: &str, message: &Value) -> Value {
    json!({"parentUuid": parent, "isSidechain": false, "cwd": "/home/mia/pump", "sessionId": session, "version": "2.1.260",
        "type": kind, "uuid": uuid, "timestamp": time, "message": message})
}

fn reply(words: &str, model: &str, usage: &Value) -> Value {
    json!({"id": format!("msg {words}"), "model": model, "role": "assistant", "content": [{"type": "text", "text": words}], "usage": usage})
}

#[test]
fn an_answer_that_claude_put_aside_is_whole() {
    let bed = Bed::new("UTC");
    let call = json!({"id": "m", "model": "claude-opus-4-8", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "cat pump.log"}}]});
    let place = "/gone/.claude/projects/-home-mia-pump/s1/tool-results/b.txt";
    let left = format!(
        "<persisted-output>\nOutput too large (90KB). Full output saved to: {place}\n\nPreview (first 2KB):\npressure 0\n...\n</persisted-output>"
    );
    let answer = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": left}]});
    let lines = [
        claude("s1", "u1", None, "2026-11-20T09:00:00Z", "user", &json!({"role": "user", "content": "Read the log"})),
        claude("s1", "u2", Some("u1"), "2026-11-20T09:00:01Z", "assistant", &call),
        claude("s1", "u3", Some("u2"), "2026-11-20T09:00:02Z", "user", &answer),
    ];
    bed.write(".claude/projects/-home-mia-pump/s1.jsonl", &lines);
    let whole = (0..3000).map(|at| format!("pressure {at}")).collect::<Vec<_>>().join("\n");
    let aside = bed.home().join(".claude/projects/-home-mia-pump/s1/tool-results/b.txt");
    files::put(&aside, whole.as_bytes()).unwrap();
    bed.import("claude", &bed.home().join(".claude/projects"));
    let shown = bed.run(&["step", "show", "n-001", "--full"]);
    assert!(shown.contains("pressure 2999") && !shown.contains("persisted-output"), "{shown:.300}");
    assert_eq!(bed.json(&["search", "\"pressure 1234\""])["sessions"], 1);
}

#[test]
fn a_session_of_claude_names_the_one_that_it_goes_on_in() {
    let bed = Bed::new("UTC");
    let usage = json!({"input_tokens": 5, "output_tokens": 1});
    let first = [
        claude("s1", "u1", None, "2026-11-20T09:00:00Z", "user", &json!({"role": "user", "content": "Mend the pump"})),
        claude(
            "s1",
            "u2",
            Some("u1"),
            "2026-11-20T09:00:01Z",
            "assistant",
            &reply("Half of it.", "claude-opus-4-8", &usage),
        ),
        json!({"type": "continued-in", "sessionId": "s1", "timestamp": "2026-11-20T09:10:00Z", "continuedInSessionId": "s2"}),
    ];
    bed.write(".claude/projects/-home-mia-pump/s1.jsonl", &first);
    bed.import("claude", &bed.home().join(".claude/projects"));
    // The other has no record of the first, and comes later.
    let next = [
        claude("s2", "v1", None, "2026-11-20T09:11:00Z", "user", &json!({"role": "user", "content": "Now the rest"})),
        claude(
            "s2",
            "v2",
            Some("v1"),
            "2026-11-20T09:11:01Z",
            "assistant",
            &reply("All of it.", "claude-opus-4-8", &usage),
        ),
    ];
    bed.write(".claude/projects/-home-mia-pump/s2.jsonl", &next);
    for _ in 0..2 {
        bed.import("claude", &bed.home().join(".claude/projects"));
        let notes = bed.notes();
        let (old, new) = (&notes[0], &notes[1]);
        assert!(new.1.contains(&format!("parent: \"[[{}]]\"", old.0)), "{}", new.1);
        assert_eq!(old.1.matches(&format!("> [!context] Continued in\n> [[{}]]\n", new.0)).count(), 1, "{}", old.1);
    }
}

#[test]
fn days_are_those_of_the_vault() {
    let bed = Bed::new("Asia/Tokyo");
    let usage = json!({"input_tokens": 1_000_000, "output_tokens": 0, "speed": "fast", "inference_geo": "us", "server_tool_use": {"web_search_requests": 3}});
    let lines = [
        claude("s1", "u1", None, "2026-11-20T16:30:00Z", "user", &json!({"role": "user", "content": "Mend the pump"})),
        claude(
            "s1",
            "u2",
            Some("u1"),
            "2026-11-20T16:30:01Z",
            "assistant",
            &reply("Mended.", "claude-opus-4-8", &usage),
        ),
    ];
    bed.write(".claude/projects/-home-mia-pump/s1.jsonl", &lines);
    bed.import("claude", &bed.home().join(".claude/projects"));
    let notes = bed.notes();
    assert!(notes[0].0.starts_with("2026-11-21-") && notes[0].1.contains("date: 2026-11-21\n"), "{notes:?}");
    let found = |args: &[&str]| {
        let mut all = vec!["session", "list"];
        all.extend(args);
        bed.json(&all)["sessions"].as_array().unwrap().len()
    };
    assert_eq!((found(&["--since", "2026-11-21"]), found(&["--until", "2026-11-20"])), (1, 0));
    for by in [&["stats", "--cost", "--by", "day"][..], &["stats", "--by", "day"]] {
        let days = bed.json(by);
        assert_eq!(days["by"][0]["groups"][0]["key"], "2026-11-21", "{days}");
    }
    assert_eq!(bed.rows("steps", "day"), Vec::<String>::new());
    let users = bed.json(&["query", "user", "--by", "day"]);
    assert!(users.to_string().contains("2026-11-21"), "{users}");
    assert_eq!(bed.json(&["search", "after:2026-11-21 pump"])["sessions"], 1);
    assert_eq!(bed.json(&["search", "before:2026-11-20 pump"])["sessions"], 0);
    // 5 US$ × 2 for speed × 1.1 for the place, and three searches.
    let total = &bed.json(&["stats", "--cost"])["total"];
    assert_eq!((&total["estimated_cost_usd"], &total["web_searches"]), (&json!(11.03), &json!(3)), "{total}");
    assert!(notes[0].1.contains("model: claude-opus-4-8\n"), "{}", notes[0].1);
}

#[test]
fn a_transcript_that_was_cut_makes_no_tokens_undone() {
    let bed = Bed::new("UTC");
    let usage = |input: u64| json!({"input_tokens": input, "output_tokens": 1});
    let turn = |at: u64, input: u64| {
        let (ask, answer) = (format!("u{at}"), format!("a{at}"));
        let (before, minute) = (format!("a{}", at.saturating_sub(1)), format!("2026-11-20T09:{at:02}"));
        let parent = (at > 0).then_some(before.as_str());
        [
            claude(
                "s1",
                &ask,
                parent,
                &format!("{minute}:00Z"),
                "user",
                &json!({"role": "user", "content": format!("Mend pump {at}")}),
            ),
            claude(
                "s1",
                &answer,
                Some(&ask),
                &format!("{minute}:05Z"),
                "assistant",
                &reply(&format!("Mended {at}."), "claude-opus-4-8", &usage(input)),
            ),
        ]
    };
    let path = ".claude/projects/-home-mia-pump/s1.jsonl";
    let projects = bed.home().join(".claude/projects");
    bed.write(path, &[turn(0, 1000), turn(1, 200)].concat());
    bed.import("claude", &projects);
    assert_eq!(bed.tokens(), (1200, 2));
    // The host prunes the first turn, and the work goes on.
    bed.write(path, &turn(1, 200));
    bed.import("claude", &projects);
    assert_eq!(bed.tokens(), (1200, 2));
    bed.write(path, &[turn(1, 200), turn(2, 30)].concat());
    bed.import("claude", &projects);
    assert_eq!(bed.tokens(), (1230, 3));
    let notes = bed.notes();
    assert!(notes[0].1.contains("Mended 0.") && notes[0].1.contains("Mended 2."), "{}", notes[0].1);
    assert!(notes[0].1.contains("tokens_used: 1233\n"), "{}", notes[0].1);
}

#[test]
fn what_cannot_be_read_and_what_is_not_known_is_named() {
    let bed = Bed::new("UTC");
    // A channel beside it is read all the same.
    let broken = bed.home().join("data/opencode.db");
    let asked = json!({"text": "Fit the pump"}).to_string();
    database(
        &bed.home().join("data/opencode-beta.db"),
        &[
            (SESSION_2, &[]),
            (MESSAGE_2, &[]),
            (INTO_SESSION_2, &["ses_a", "", "", "Fit the pump"]),
            (INTO_MESSAGE_2, &["m0", "ses_a", "user", "0", "1795165200000", &asked]),
            (INTO_MESSAGE_2, &["m1", "ses_a", "assistant", "1", "1795165201000", &answer("Fitted.", 1)]),
        ],
    );
    files::put(&broken, b"SQLite format 3\0 and nothing more").unwrap();
    let output = bed
        .program(&["import", "opencode", &bed.home().join("data").to_string_lossy()])
        .env("CRU_VAULT", bed.vault())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Files that could not be read") && text.contains("data/opencode.db"), "{text}");
    assert!(text.contains("1 session new"), "{text}");

    let block = json!({"id": "m1", "model": "claude-opus-4-8", "role": "assistant", "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [{"type": "text", "text": "It hums."}, {"type": "hologram", "words": "It glows."}]});
    let lines = [
        claude("s1", "u1", None, "2026-11-20T09:00:00Z", "user", &json!({"role": "user", "content": "Mend the pump"})),
        claude("s1", "u2", Some("u1"), "2026-11-20T09:00:01Z", "assistant", &block),
        json!({"type": "mood-ring", "sessionId": "s1", "timestamp": "2026-11-20T09:00:02Z"}),
        json!({"type": "system", "subtype": "sun_spot", "sessionId": "s1", "uuid": "u3", "parentUuid": "u2", "timestamp": "2026-11-20T09:00:03Z"}),
    ];
    bed.write(".claude/projects/-home-mia-pump/s1.jsonl", &lines);
    let report = bed.import("claude", &bed.home().join(".claude/projects"));
    let skipped = &report["records"]["skipped"];
    for name in ["unknown block `hologram`", "unknown record type `mood-ring`", "unknown system line `sun_spot`"] {
        assert_eq!(skipped[name], 1, "{skipped}");
    }
    assert_eq!(report["records"]["represented"], 1);
    assert!(bed.notes().iter().any(|note| note.1.contains("It hums.")), "what is known of the record is told");
}

#[test]
fn folders_that_moved_are_found() {
    let bed = Bed::new("UTC");
    let line = |session: &str| {
        [
            claude(
                session,
                &format!("u {session}"),
                None,
                "2026-11-20T09:00:00Z",
                "user",
                &json!({"role": "user", "content": session}),
            ),
            claude(
                session,
                &format!("a {session}"),
                None,
                "2026-11-20T09:00:01Z",
                "assistant",
                &reply(session, "m", &json!({})),
            ),
        ]
    };
    bed.write(".config/claude/projects/p/c1.jsonl", &line("c1"));
    bed.write("one/projects/p/c2.jsonl", &line("c2"));
    bed.write("two/projects/p/c3.jsonl", &line("c3"));
    let cowork = "Library/Application Support/Claude/local-agent-mode-sessions/a/b/local_1/.claude/projects/p/c4.jsonl";
    bed.write(cowork, &line("c4"));
    let found = |list: Option<&str>| {
        let mut program = bed.program(&["import", "claude", "--dry-run", "-f", "json"]);
        program.env("CRU_VAULT", bed.vault());
        if let Some(list) = list {
            program.env("CLAUDE_CONFIG_DIR", list);
        }
        let output = program.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let sessions = report["sessions"].as_array().unwrap().iter();
        let mut ids: Vec<String> = sessions.map(|it| it["host_session"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(found(None), ["c1", "c4"]);
    let (one, two) = (bed.home().join("one"), bed.home().join("two"));
    assert_eq!(found(Some(&format!("{},{}", one.display(), two.display()))), ["c1", "c2", "c3", "c4"]);
}

#[test]
fn a_compaction_at_the_end_stays_one_when_the_work_goes_on() {
    let bed = Bed::new("UTC");
    let path = ".pi/agent/sessions/p/2026-11-20T09-00-00-000Z_s1.jsonl";
    let head = json!({"type": "session", "id": "s1", "cwd": "/home/mia/pump", "timestamp": "2026-11-20T09:00:00Z"});
    let compaction = json!({"type": "compaction", "id": "k", "timestamp": "2026-11-20T09:00:20Z", "summary": "The pump is dry.", "tokensBefore": 900});
    let mut lines = vec![head, pi("a1", "user", "Drain the pump", 1), pi("a2", "assistant", "Drained.", 9), compaction];
    bed.write(path, &lines);
    bed.import("pi", &bed.home().join(".pi/agent/sessions"));
    assert_eq!(bed.notes()[0].1.matches("The pump is dry.").count(), 1);
    lines.extend([pi("a3", "user", "Now fill it", 30), pi("a4", "assistant", "Filled.", 40)]);
    bed.write(path, &lines);
    bed.import("pi", &bed.home().join(".pi/agent/sessions"));
    let notes = bed.notes();
    assert_eq!(notes[0].1.matches("The pump is dry.").count(), 1, "{}", notes[0].1);
    let (compacted, filled) = (notes[0].1.find("The pump is dry."), notes[0].1.rfind("\nFilled."));
    assert!(compacted < filled && filled.is_some());
}

/// What the host shows of an edit counts, not the texts of its call, which begin and end within lines; and of a commit without a
/// result nobody knows whether it was made.
#[test]
fn the_summary_counts_what_the_host_shows_and_knows_no_more_of_a_commit() {
    let bed = Bed::new("UTC");
    let at = |second: u32| format!("2026-11-20T09:00:{second:02}.000Z");
    let call =
        |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let edit = json!({ "file_path": "/home/jo/pump/src/pump.rs",
        "old_string": "if dry {\n        stop();\n    }\n    let valve = 1;", "new_string": "let valve = 1;" });
    let branch = |mut record: Value| {
        record["gitBranch"] = json!("fix/pump");
        record["cwd"] = json!("/home/jo/pump");
        record
    };
    let mut result = claude(
        "s1",
        "u3",
        Some("u2"),
        &at(3),
        "user",
        &json!({ "role": "user", "content":
        [{ "type": "tool_result", "tool_use_id": "t1", "content": "The file was updated." }] }),
    );
    result["toolUseResult"] = json!({ "filePath": "/home/jo/pump/src/pump.rs", "oldString": edit["old_string"],
        "newString": edit["new_string"], "structuredPatch": [{ "oldStart": 1, "oldLines": 5, "newStart": 1, "newLines": 2,
        "lines": [" fn pump() {", "-    if dry {", "-        stop();", "-    }", "     let valve = 1;"] }] });
    let lines = [
        branch(claude(
            "s1",
            "u1",
            None,
            &at(1),
            "user",
            &json!({ "role": "user", "content": "Let the pump run dry." }),
        )),
        branch(claude(
            "s1",
            "u2",
            Some("u1"),
            &at(2),
            "assistant",
            &json!({ "role": "assistant", "model": "m", "content": call("t1", "Edit", edit.clone()) }),
        )),
        branch(result),
        branch(claude(
            "s1",
            "u4",
            Some("u3"),
            &at(4),
            "assistant",
            &json!({ "role": "assistant", "model": "m",
            "content": call("t2", "Bash", json!({ "command": "git commit -am 'let it run dry'" })) }),
        )),
    ];
    let file = bed.write(".claude/projects/p/s1.jsonl", &lines);
    bed.run(&["import", &file]);
    let notes = bed.notes();
    let (_, note) = notes.iter().find(|(_, text)| text.contains("Let the pump run dry")).unwrap();
    assert!(note.contains("> Files: `src/pump.rs` +0 −3"), "{note}");
    assert!(note.contains("`git commit` without a result") && !note.contains("not committed"), "{note}");
}
