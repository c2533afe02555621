//! What people meet every day: the session that is meant where none is named, limits, order, ids, messages; and what cost,
//! time and proof come to.

#![expect(clippy::disallowed_methods, reason = "a person writes notes without cru")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::small_vault::SmallVault;

/// A vault and a home in a folder of their own.
struct World {
    temp: tempfile::TempDir,
}

impl World {
    fn new(notes: &[(&str, &str)]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        for folder in ["vault/.cru", "vault/sessions", "home", "config/cru"] {
            fs::create_dir_all(temp.path().join(folder)).unwrap();
        }
        for (name, text) in notes {
            fs::write(temp.path().join("vault/sessions").join(format!("{name}.md")), text).unwrap();
        }
        Self { temp }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.temp.path().join(path)
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cru"));
        command.args(args).env_clear().current_dir(self.path("home")).env("HOME", self.path("home"));
        command.env("XDG_STATE_HOME", self.path("state")).env("XDG_CONFIG_HOME", self.path("config"));
        command.env("CRU_VAULT", self.path("vault")).env("CRU_NOW", "2026-11-21T12:00:00Z").env("NO_COLOR", "1");
        command.output().unwrap()
    }

    /// Exit code, stdout, stderr.
    fn said(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn ok(&self, args: &[&str]) -> String {
        let (code, out, error) = self.said(args);
        assert_eq!(code, Some(0), "{args:?}: {error}");
        out
    }

    fn json(&self, args: &[&str]) -> Value {
        let out = self.ok(&[&["-q", "-f", "json"], args].concat());
        serde_json::from_str(&out).unwrap()
    }

    fn note(&self, name: &str) -> String {
        fs::read_to_string(self.path("vault/sessions").join(format!("{name}.md"))).unwrap()
    }
}

/// A session with one phase; `meta` are more lines of its frontmatter, `body` its items.
fn note(id: &str, started: &str, meta: &str, body: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: {id}\ntitle: {id}\nstarted: {started}\n{meta}---\n# {id}\n\n## Work @coder #dev\n\n\
         *{started}* ^p-01\n\n{body}"
    )
}

fn usage(model: &str, input: u64, output: u64, write: u64, read: u64) -> String {
    format!(
        "> [!usage] tokens\n> | Model | Input | Output | Cache write | Cache read |\n> | --- | ---: | ---: | ---: | ---: |\n\
         > | {model} | {input} | {output} | {write} | {read} |\n"
    )
}

#[test]
fn a_sub_agent_is_never_the_newest_session() {
    let steps = "- `Edit a.rs` → +1 −0 ^n-001\n    - writes: a.rs\n";
    let parent = note("parent", "2026-11-20T09:00:00Z", "status: completed\nsubagents:\n  - session: child\n", steps);
    let child = note("child", "2026-11-20T10:00:00Z", "status: completed\nparent: \"[[parent]]\"\n", "");
    let world = World::new(&[("parent", &parent), ("child", &child)]);
    assert!(world.ok(&["session", "show"]).starts_with("parent\n"));
    assert!(world.ok(&["-q", "session", "codify"]).contains("[[parent]]"));
    let alone = note("child", "2026-11-20T10:00:00Z", "host_session: 1/agent-2\nstatus: active\n", "");
    let world = World::new(&[("child", &alone)]);
    let (code, _, error) = world.said(&["session", "show"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("no session but those of sub-agents") && error.contains("--all"), "{error}");
}

#[test]
fn resuming_again_begins_no_second_empty_phase() {
    let text = note("tides", "2026-11-20T09:00:00Z", "status: paused\n", "- `Read a.rs` → ok ^n-001\n");
    let world = World::new(&[("tides", &text)]);
    for _ in 0..3 {
        world.ok(&["session", "resume", "tides", "--no-start"]);
    }
    assert_eq!(world.note("tides").matches("\n## ").count(), 2, "{}", world.note("tides"));
    world.ok(&["session", "resume", "tides", "--no-start", "--phase", "Another"]);
    assert_eq!(world.note("tides").matches("\n## ").count(), 3, "one that is asked for is begun");
}

#[test]
fn zero_is_all_everywhere() {
    let decision =
        "> [!decision] Minutes\n> Why: short.\n\n^d-01\n\n- `Read a.rs` → ok ^n-001\n- `Read b.rs` → ok ^n-002\n";
    let notes: Vec<(String, String)> = (1..=3)
        .map(|day| {
            let id = format!("2026-11-0{day}-tide");
            let text = note(&id, &format!("2026-11-0{day}T09:00:00Z"), "status: completed\n", decision);
            (id, text)
        })
        .collect();
    let notes: Vec<(&str, &str)> = notes.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let world = World::new(&notes);
    let count = |args: &[&str], key: &str| world.json(args)[key].as_array().map(Vec::len);
    assert_eq!(count(&["session", "list", "-n", "0"], "sessions"), Some(3));
    assert_eq!(count(&["session", "list", "-n", "2"], "sessions"), Some(2));
    assert_eq!(count(&["decisions", "-n", "0"], "rows"), Some(3));
    assert_eq!(count(&["query", "steps", "-n", "0"], "rows"), Some(6));
    assert_eq!(count(&["query", "steps", "-n", "4"], "rows"), Some(4));
    assert_eq!(count(&["history", "-n", "0"], "sessions"), Some(3));
    assert_eq!(count(&["search", "minutes", "-n", "0"], "hits"), Some(3));
    assert!(!world.ok(&["stats", "-n", "0"]).contains("more"));
}

#[test]
fn a_query_shows_the_newest_session_first_and_each_in_its_order() {
    let steps = "- `Read a.rs` → ok ^n-001\n- `Read b.rs` → ok ^n-002\n";
    let old = note("z-old", "2026-11-01T09:00:00Z", "", steps);
    let new = note("a-new", "2026-11-03T09:00:00Z", "", steps);
    let middle = note("m", "2026-11-02T09:00:00Z", "", steps);
    let world = World::new(&[("z-old", &old), ("a-new", &new), ("m", &middle)]);
    let order = |args: &[&str]| -> Vec<String> {
        let out = world.ok(&[&["-q", "-f", "jsonl", "query"], args].concat());
        let rows = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| format!("{} {}", row["session"].as_str().unwrap_or(""), row["id"].as_str().unwrap_or("")))
            .collect()
    };
    let steps = order(&["steps"]);
    assert_eq!(steps[..4], ["a-new n-001", "a-new n-002", "m n-001", "m n-002"]);
    assert_eq!(order(&["steps", "-n", "3"]), steps[..3]);
    let mut reversed = steps.clone();
    reversed.reverse();
    assert_eq!(order(&["steps", "--reverse"]), reversed);
    assert_eq!(order(&["steps", "--reverse", "-n", "2"]), reversed[..2]);
}

#[test]
fn each_verb_of_log_that_makes_a_block_prints_its_id() {
    let world = World::new(&[]);
    let session = world.ok(&["session", "start", "Tides", "--agent", "coder"]);
    let log = |args: &[&str]| world.ok(&[&["-q", "log", "--session", session.trim()], args].concat()).trim().to_owned();
    assert_eq!(log(&["phase", "Research"]), "p-01");
    assert_eq!(log(&["tool", "Bash", "ls", "--result", "ok"]), "n-001");
    assert_eq!(log(&["decision", "Minutes", "--why", "short"]), "d-01");
    assert_eq!(log(&["decision", "Hours"]), "d-02");
    assert_eq!(log(&["error", "Lost", "--step", "n-001"]), "e-001");
    assert_eq!(log(&["user", "Hello"]), "u-01");
    assert_eq!(log(&["lesson", "Signs matter", "--level", "tool"]), "l-01");
    assert_eq!(log(&["question", "Why?"]), "q-001");
    assert_eq!(log(&["task", "add", "Rotate"]), "TASK-001");
    let text = world.note(session.trim());
    for id in ["^d-01", "^d-02", "^l-01"] {
        assert!(text.contains(&format!("\n{id}\n")), "{id}: {text}");
    }
}

#[test]
fn closed_sets_take_nothing_else() {
    let world = World::new(&[]);
    let session = world.ok(&["session", "start", "Tides"]);
    for args in [["lesson", "Learn", "--level", "sometimes"], ["checkpoint", "Here", "--kind", "wild"]] {
        let (code, _, error) = world.said(&[&["log", "--session", session.trim()], &args[..]].concat());
        assert_eq!(code, Some(2), "{args:?}");
        assert!(error.contains("possible values"), "{error}");
    }
    assert_eq!(world.said(&["cases", "list", "--type", "riddle"]).0, Some(2));
}

#[test]
fn sessions_that_embed_one_another_are_shown_once() {
    let embed = |id: &str| format!("> [!subagent] @other\n> mode: embed\n> ![[{id}]]\n");
    let one = note("one", "2026-11-01T09:00:00Z", "", &embed("two"));
    let two = note("two", "2026-11-02T09:00:00Z", "", &embed("one"));
    let world = World::new(&[("one", &one), ("two", &two)]);
    let shown = world.ok(&["session", "show", "one"]);
    assert_eq!(shown.matches("## Work").count(), 2, "{shown}");
    assert!(shown.contains("(not shown: it embeds itself)"));
    let page = world.ok(&["session", "show", "one", "--html"]);
    assert_eq!(page.matches(">Work</h2>").count(), 2, "{page}");
    assert!(page.contains("(not shown: it embeds itself)"));
}

#[test]
fn a_step_without_an_id_is_a_clear_error_and_ids_of_records_are_found() {
    let text = note("s", "2026-11-01T09:00:00Z", "", "- `Read a.rs` → ok ^n-005\n- `Read b.rs` → ok ^cell-7\n");
    let world = World::new(&[("s", &text)]);
    for step in ["s#^", "@", ""] {
        let (code, _, error) = world.said(&["step", "show", step]);
        assert_eq!(code, Some(2), "{step}");
        assert!(error.contains("invalid reference") && error.contains("n-014, 14, SESSION#n-014"), "{error}");
    }
    assert!(world.ok(&["step", "show", "^"]).contains("b.rs"));
    assert!(world.ok(&["step", "show", "n_005"]).contains("a.rs"));
    assert!(world.ok(&["step", "show", "cell_7"]).contains("b.rs"));
    assert!(world.ok(&["session", "show", "s", "--phase", "p_01"]).contains("Work"));
}

#[test]
fn an_empty_vault_tells_of_no_writer_that_was_stopped() {
    let world = World::new(&[]);
    for _ in 0..2 {
        let (_, _, error) = world.said(&["session", "list"]);
        assert!(!error.contains("writer"), "{error}");
    }
    let text = note("s", "2026-11-01T09:00:00Z", "", "- `Read a.rs` → ok ^n-001\n");
    fs::write(world.path("vault/sessions/s.md"), text).unwrap();
    assert_eq!(world.json(&["session", "list"])["total"], 1);
}

#[test]
fn a_word_of_code_with_a_colon_is_no_field() {
    let text = note("s", "2026-11-01T09:00:00Z", "", "The linter wants nolint:exhaustive here.\n");
    let world = World::new(&[("s", &text)]);
    assert_eq!(world.json(&["search", "nolint:exhaustive"])["total"], 1);
    let (code, _, error) = world.said(&["search", "statsu:failed"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("did you mean `status`?"), "{error}");
}

#[test]
fn sessions_that_hold_all_of_it_in_different_blocks_are_hits() {
    let text = note("s", "2026-11-01T09:00:00Z", "", "The harbour wants minutes.\n\n- `Bash cargo test` → ok ^n-001\n");
    let other = note("t", "2026-11-02T09:00:00Z", "", "The harbour is closed.\n");
    let world = World::new(&[("s", &text), ("t", &other)]);
    let found = world.json(&["search", "harbour tool:bash"]);
    assert_eq!((&found["match"], &found["total"]), (&Value::from("blocks"), &Value::from(1)));
    assert_eq!(found["hits"][0]["session"], "s");
    let (code, out, _) = world.said(&["search", "harbour tool:bash"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("s (different blocks)") && out.contains("The harbour wants minutes."), "{out}");
}

#[test]
fn links_name_the_file_after_it_was_renamed() {
    let body =
        "> [!decision] Minutes\n> Why: short.\n\n^d-01\n\n- `Read a.rs` → ok ^n-001\n- `Edit a.rs` → +1 −0 ^n-002\n";
    let text = note("s", "2026-11-01T09:00:00Z", "status: completed\n", body);
    let world = World::new(&[("The tide plan", &text)]);
    assert!(world.ok(&["list", "decisions", "--columns", "link"]).contains("[[The tide plan#^d-01]]"));
    let workflow = world.ok(&["-q", "session", "codify", "s"]);
    assert!(workflow.contains("[[The tide plan") && !workflow.contains("[[s"), "{workflow}");
}

#[test]
fn costs_are_estimates_and_sub_agents_count_once_in_their_session() {
    let parent = note(
        "parent",
        "2026-11-01T09:00:00Z",
        "status: completed\nproject: ~/tide\ntokens_used: 1100000\nsubagents:\n  - session: child\n    tokens: 200000\n",
        &usage("claude-opus-4-5-20251101", 1_000_000, 100_000, 0, 2_000_000),
    );
    let child = note(
        "child",
        "2026-11-01T09:05:00Z",
        "status: completed\nproject: ~/tide\nparent: \"[[parent]]\"\ntokens_used: 200000\n",
        &usage("claude-haiku-4-5", 200_000, 0, 0, 0),
    );
    let house = note(
        "house",
        "2026-11-02T09:00:00Z",
        "status: abandoned\ntokens_used: 70\n",
        &usage("house-model", 50, 20, 0, 30),
    );
    let silent = note("silent", "2026-11-03T09:00:00Z", "status: failed\n", "");
    let world = World::new(&[("parent", &parent), ("child", &child), ("house", &house), ("silent", &silent)]);
    let cost = world.json(&["stats", "--cost"]);
    assert_eq!(cost["total"]["estimated_cost_usd"], 8.7);
    assert_eq!((&cost["total"]["sessions"], &cost["total"]["unpriced_tokens"]), (&Value::from(3), &Value::from(100)));
    assert_eq!(cost["unpriced_models"], serde_json::json!(["house-model"]));
    let project = &cost["by"][1]["groups"][0];
    assert_eq!((&project["key"], &project["sessions"]), (&Value::from("~/tide"), &Value::from(1)));
    assert_eq!(project["estimated_cost_usd"], 8.7);
    let days = cost["by"][2]["groups"].as_array().unwrap();
    let unknown = days.iter().find(|day| day["key"] == "2026-11-03").unwrap();
    assert_eq!(unknown["estimated_cost_usd"], Value::Null, "unknown is not nothing");
    // The figures of `stats` count each session by itself, with the same sum.
    let stats = world.json(&["stats"]);
    assert_eq!((&stats["total"]["estimated_cost_usd"], &stats["total"]["unpriced_tokens"]), (&8.7.into(), &100.into()));
    assert_eq!((&stats["total"]["failed_sessions"], &stats["total"]["abandoned_sessions"]), (&1.into(), &1.into()));
    let shown = world.ok(&["session", "show", "parent"]);
    assert!(shown.contains("about US$ 8.50 (estimate, list prices of"), "{shown}");
    assert!(shown.contains("with 1 sub-agent about US$ 8.70"), "{shown}");
    // Prices of the user's own stand over the list.
    let own = "[prices]\nhouse-model = { input = 1000000, output = 0, cache_read = 0 }\n";
    fs::write(world.path("config/cru/config.toml"), own).unwrap();
    assert_eq!(world.json(&["stats", "--cost"])["total"]["estimated_cost_usd"], 58.7);
    assert_eq!(world.note("parent"), parent, "nothing is stored");
}

#[test]
fn a_list_has_the_columns_that_are_asked_for() {
    let body = "- `Edit src/a.rs` → +1 −0 (09:01:00) ^n-001\n- `Bash cargo test` → 3 passed (09:02:00, exit 0) ^n-002\n\
                - `Edit src/a.rs` → +1 −0 (09:40:00) ^n-003\n";
    let text = note("s", "2026-11-01T09:00:00Z", "status: completed\nended: 2026-11-01T09:41:00Z\n", body);
    let world = World::new(&[("s", &text)]);
    let list = world.ok(&["session", "list", "--columns", "id,proof,active,duration,cost"]);
    let words: Vec<&str> =
        list.lines().nth(1).unwrap().split("  ").map(str::trim).filter(|it| !it.is_empty()).collect();
    assert_eq!(words, ["s", "1 write after the last passing check", "3 min", "41 min", "unknown"]);
    assert!(world.ok(&["session", "show", "s"]).contains("completed  (1 write after the last passing check)"));
    assert_eq!(world.ok(&["-q", "query", "sessions", "-w", "proof=writes_after", "-f", "jsonl"]).lines().count(), 1);
}

#[test]
fn a_page_has_contents_requests_and_the_changes_of_edits() {
    let body = "> [!user]\n> \"First\"\n\n- `Edit a.rs` → +1 −1 (09:01:00) ^n-001\n\n> [!user]\n> \"Second\"\n";
    let more = "\n## Check @coder #dev\n\n*2026-11-01T09:10:00Z* ^p-02\n\n- `Bash cargo test` → ok ^n-002\n";
    let text = note("s", "2026-11-01T09:00:00Z", "status: completed\n", &format!("{body}{more}"));
    let world = World::new(&[("s", &text)]);
    let page = world.ok(&["session", "show", "s", "--html"]);
    for part in [
        "<a href=\"#p-01\">Work</a>",
        "<a href=\"#p-02\">Check</a>",
        "id=\"request-1\"",
        "<a href=\"#request-2\" aria-label=\"next request\">",
        "<a href=\"#request-1\" aria-label=\"previous request\">",
        "<dt>Proof</dt>",
        "<dt>Wall clock</dt>",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("http:") && !page.contains("https:"), "{page}");
}

/// People read times in the zone of the vault; programs and notes have UTC.
#[test]
fn times_are_those_of_the_zone_of_the_vault() {
    let world = SmallVault::new("[vault]\nzone = \"Asia/Tokyo\"\n");
    let note = "---\ntype: session\nsession_id: s1\nstatus: completed\nstarted: 2026-11-20T20:30:00Z\nended: 2026-11-20T20:40:00Z\n---\n# Late\n\n\
                ## Work @coder\n\n*2026-11-20T20:30:00Z* ^p-01\n\n**Tool calls:**\n- `Read a.rs` → ok (20:31:07) ^n-001\n";
    world.put("vault/sessions/s1.md", note);
    let list = world.ok(&["list", "--columns", "id,started,ended"]);
    assert!(list.contains("2026-11-21 05:30") && list.contains("2026-11-21 05:40"), "{list}");
    assert!(world.ok(&["list", "steps", "--columns", "tool,time"]).contains("2026-11-21 05:31"));
    assert!(world.ok(&["list", "-f", "json"]).contains("2026-11-20T20:30:00Z"));
    let shown = world.ok(&["show", "s1"]);
    assert!(shown.contains("2026-11-21 05:30 JST  to 2026-11-21 05:40") && shown.contains("05:31:07"), "{shown}");
    let page = world.ok(&["session", "show", "--html", "s1"]);
    assert!(page.contains("2026-11-21 05:30 JST") && page.contains("05:31:07") && !page.contains("20:31:07"), "{page}");
    assert!(world.ok(&["history"]).contains("2026-11-21 05:30"));
    assert_eq!(world.read("vault/sessions/s1.md"), note);
}
