//! Briefs from the outside: what counts at once and what that changes, patches, who reads and when.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::running::mcp::Client;
use crate::small_vault::SmallVault;

/// A line of a transcript of Claude Code.
fn line(kind: &str, at: u32, content: &Value) -> String {
    let parent = if at == 1 { Value::Null } else { json!(format!("u{}", at - 1)) };
    json!({ "type": kind, "uuid": format!("u{at}"), "parentUuid": parent, "sessionId": "c1", "cwd": "/home/jo/pump",
        "version": "2.1.0", "timestamp": format!("2026-11-20T09:00:{at:02}.000Z"),
        "message": { "role": kind, "model": "m", "content": content } })
    .to_string()
}

/// A vault with an imported session: a request, an edit, a test, closing words.
struct World {
    vault: SmallVault,
}

impl std::ops::Deref for World {
    type Target = SmallVault;

    fn deref(&self) -> &SmallVault {
        &self.vault
    }
}

impl World {
    fn new() -> Self {
        let world = Self::before_import();
        world.ok(&["import", world.path(".claude/projects").to_str().unwrap()]);
        world
    }

    /// The same before the session has a note.
    fn before_import() -> Self {
        let world = Self { vault: SmallVault::new("") };
        let edit =
            json!({ "file_path": "/home/jo/pump/src/pump.rs", "old_string": "shut();", "new_string": "open();" });
        let lines = [
            line("user", 1, &json!("hi, can you have a look at what is wrong in src/pump.rs?")),
            line("assistant", 2, &json!([{ "type": "tool_use", "id": "t1", "name": "Edit", "input": edit }])),
            line(
                "user",
                3,
                &json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "The file was updated." }]),
            ),
            line(
                "assistant",
                4,
                &json!([{ "type": "tool_use", "id": "t2", "name": "Bash", "input": { "command": "cargo test" } }]),
            ),
            line(
                "user",
                5,
                &json!([{ "type": "tool_result", "tool_use_id": "t2", "content": "test result: ok. 3 passed; 0 failed" }]),
            ),
            line("assistant", 6, &json!([{ "type": "text", "text": "The pump is mended and all hoses are tight." }])),
        ];
        world.put(".claude/projects/p/c1.jsonl", &(lines.join("\n") + "\n"));
        world
    }

    /// Exit code, stdout and stderr.
    fn cru(&self, args: &[&str]) -> (i32, String, String) {
        let out = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (out.status.code().unwrap(), text(&out.stdout), text(&out.stderr))
    }

    /// The names of the notes in a folder of the vault.
    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(found) = std::fs::read_dir(self.path(&format!("vault/{folder}"))) else { return Vec::new() };
        let mut names: Vec<String> = found.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn note(&self) -> String {
        self.read(&format!("vault/sessions/{}", self.names("sessions")[0]))
    }

    fn top(&self) -> String {
        let note = self.note();
        let at = note.find("> [!summary]").unwrap();
        let lines = note[at..].lines().take_while(|line| line.starts_with('>')).map(str::trim_end);
        lines.flat_map(|line| [line, "\n"]).collect()
    }

    /// A brief of the session of which every statement holds.
    fn brief(&self) -> Value {
        let (_, prompt, _) = self.cru(&["read", "--prompt"]);
        let after = |key: &str| {
            let (_, behind) = prompt.split_once(&format!("\"{key}\": \"")).unwrap();
            behind.split('"').next().unwrap().to_owned()
        };
        json!({ "brief": 1, "session": after("session"), "record": after("record"), "lang": "en", "title": "Open the valve of the pump",
            "outcome": { "state": "done", "text": "The pump opens now, and the tests pass.", "proof": ["n-001:2", "n-002: test result: ok"] },
            "requests": [{ "said": "u-01", "state": "done", "text": "Find what is wrong in the pump.", "proof": ["u-01: what is wrong in src/pump.rs"] }],
            "not_verified": [{ "text": "The hoses were never looked at.", "proof": ["none n-001..: hose"] }],
            "open": [], "contradicted": [] })
    }

    /// An agent that keeps its prompt, arguments, folder and variables, and answers from a file; `more` is the rest of `[agent]`.
    fn agent(&self, answer: &Value, more: &str) {
        self.put("answer", &answer.to_string());
        let dir = self.home().display();
        self.put(
            "agent.sh",
            &format!("cat > {dir}/part && mv {dir}/part {dir}/prompt\necho \"$@\" > {dir}/args\nls -A > {dir}/folder\nenv > {dir}/vars\ncat {dir}/answer\n"),
        );
        let config =
            format!("[agent]\ncommand = [\"sh\", \"{dir}/agent.sh\", \"--flag\"]\nmodel = \"scripted\"\n{more}\n");
        self.put(".config/cru/config.toml", &config);
    }
}

#[test]
fn a_proven_brief_counts_at_once_and_rejecting_takes_it_back() {
    let world = World::new();
    let (facts, first) = (world.top(), world.names("sessions"));
    world.put("a.json", &world.brief().to_string());
    let (code, out, err) = world.cru(&["read", "--from", "../a.json", "--reader", "ann"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("it counts: every statement is proven") && out.contains("told on top of sessions/"), "{out}");
    // Title and name, once.
    assert_eq!(world.names("sessions"), ["2026-11-20-open-valve-pump.md"]);
    assert!(
        world.note().contains("\ntitle: Open the valve of the pump\n")
            && world.note().contains("\n# Open the valve of the pump\n")
    );
    let told = world.top();
    insta::assert_snapshot!("brief_on_top", told);
    assert!(world.read("vault/projects/pump.md").contains("[[2026-11-20-open-valve-pump|Open the valve of the pump]]"));
    let (_, listed, _) = world.cru(&["session", "list"]);
    assert!(listed.contains("Open the valve of the pump"), "{listed}");
    let (code, found, err) = world.cru(&["search", "hoses never looked"]);
    assert!(found.contains("Open the valve of the pump"), "{code} {found}{err}");
    let (_, resumed, _) = world.cru(&["session", "resume", "open-valve", "--print"]);
    assert!(resumed.contains("The pump opens now"), "{resumed}");
    // An import of all of it changes nothing.
    world.ok(&["import", "--again", "open-valve"]);
    assert_eq!(world.top(), told);
    assert_eq!(world.cru(&["check", "r:"]).0, 0, "title and summary are no part of what was read");
    let (code, out, err) = world.cru(&["read", "reject", "open-valve"]);
    assert_eq!((code, world.top()), (0, facts), "{out}{err}");
    let (code, out, err) = world.cru(&["read", "accept", "open-valve"]);
    assert_eq!((code, world.top()), (0, told), "{out}{err}");
    // The name never changes again.
    let mut other = world.brief();
    other["title"] = json!("Mend the pump");
    world.put("a.json", &other.to_string());
    world.ok(&["read", "--again", "--from", "../a.json"]);
    assert_eq!(world.names("sessions"), ["2026-11-20-open-valve-pump.md"]);
    assert_ne!(world.names("sessions"), first);
    // The title does, while no person has changed it.
    assert!(world.note().contains("\ntitle: Mend the pump\n"), "{}", world.note());
}

#[test]
fn what_a_person_named_wrote_or_linked_stays() {
    let world = World::new();
    let name = world.names("sessions")[0].clone();
    let stem = name.trim_end_matches(".md").to_owned();
    world.put("vault/diary.md", &format!("# Mine\n\nSee [[{stem}]].\n"));
    world.put("a.json", &world.brief().to_string());
    world.ok(&["read", "--from", "../a.json"]);
    assert_eq!(world.names("sessions"), std::slice::from_ref(&name), "a linked note keeps its name");
    assert!(world.note().contains("\ntitle: Open the valve of the pump\n"));

    let world = World::new();
    let mine = world.note().replace("\ntitle: ", "\ntitle: My own ").replace("> Agent, last: ", "> What I think: ");
    world.put(&format!("vault/sessions/{name}"), &mine);
    world.put("a.json", &world.brief().to_string());
    let (code, out, err) = world.cru(&["read", "--from", "../a.json"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("summary on top unchanged: a person wrote or changed the summary on top"), "{out}");
    let note = world.note();
    assert!(note.contains("\ntitle: My own ") && note.contains("> What I think: "), "{note}");
    assert_eq!(world.names("sessions"), [name]);
}

#[test]
fn a_refused_statement_waits_and_a_patch_mends_it() {
    let world = World::new();
    let facts = world.top();
    let mut brief = world.brief();
    brief["outcome"]["proof"][1] = json!("n-002: test result: FAILED");
    world.put("a.json", &brief.to_string());
    let (code, out, _) = world.cru(&["check", "r:../a.json"]);
    assert_eq!(code, 1);
    assert!(out.contains("outcome.proof[1]: refused: ") && out.contains("it holds `test result:`"), "{out}");
    let (code, out, _) = world.cru(&["read", "--from", "../a.json"]);
    assert_eq!((code, world.top()), (0, facts), "{out}");
    assert!(!out.contains("it counts"), "{out}");
    let mended = world.brief()["outcome"].clone();
    world.put("p.json", &json!({ "patch": { "outcome": mended } }).to_string());
    let (code, out, err) = world.cru(&["read", "--from", "../a.json", "--from", "../p.json"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("it counts") && world.top().contains("The pump opens now"), "{out}");
    world.put("p.json", &json!({ "patch": { "requests[7]": null } }).to_string());
    let (code, _, err) = world.cru(&["read", "--from", "../a.json", "--from", "../p.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("requests[7]: the answer has no such place"), "{err}");
}

#[test]
fn an_agent_is_asked_in_an_empty_folder_and_once_more_for_what_is_refused() {
    let world = World::new();
    world.agent(&world.brief(), "");
    let (code, out, err) = world.cru(&["read", "--all", "--budget", "50000"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("1 session, newest first; at most 50,000 tokens in"), "{err}");
    let (prompt, vars) = (world.read("prompt"), world.read("vars"));
    assert!(prompt.contains("\"brief\": 1") && !prompt.contains("\"cases\""), "{prompt}");
    assert_eq!((world.read("args").trim(), world.read("folder").trim()), ("--flag", ""));
    assert!(vars.contains("CRU_READER=1\n"), "{vars}");
    assert!(world.top().contains("Read by scripted: "), "{}", world.top());
    // Hooks of its host write nothing.
    let hook = |vars: &str| world.run_in("vault", &["hook", "prompt"], vars);
    assert!(hook("{}").status.success());
    // It is not asked again.
    let (_, out, _) = world.cru(&["read", "--all"]);
    assert!(out.contains("up to date"), "{out}");
    // What is asked for more is asked anew.
    let (_, out, _) = world.cru(&["read", "--all", "--deep", "--dry-run"]);
    assert!(out.contains("would be read"), "{out}");
    let (_, out, _) = world.cru(&["read", "--all", "--again", "--daily", "--dry-run", "--budget", "10"]);
    assert!(out.contains("over the budget of 10 tokens"), "{out}");
}

#[test]
fn a_preset_is_a_known_program() {
    let world = World::new();
    world.put(".config/cru/config.toml", "[agent]\npreset = \"nobody\"\n");
    let (code, _, err) = world.cru(&["read"]);
    assert_eq!(code, 2);
    assert!(err.contains("no such preset") && err.contains("claude, codex, gemini, opencode, pi, llm"), "{err}");
    world.put(".config/cru/config.toml", "[agent]\npreset = \"llm\"\n");
    let (_, out, err) = world.cru(&["read"]);
    assert!(format!("{out}{err}").contains("could not start the agent 'llm'"), "{out}{err}");
}

#[test]
fn a_session_is_read_when_it_ends() {
    let world = World::before_import();
    world.agent(&json!({}), "after_session = true");
    let transcript = world.path(".claude/projects/p/c1.jsonl");
    let hook = |name: &str, more: &Value| {
        let mut event = json!({ "session_id": "c1", "transcript_path": transcript, "cwd": world.path("") });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let begun = Instant::now();
        assert!(world.run_in("vault", &["hook", name], &event.to_string()).status.success());
        assert!(begun.elapsed() < Duration::from_secs(5), "a hook waits for nobody");
    };
    hook("session-start", &json!({ "source": "startup" }));
    hook("prompt", &json!({ "prompt": "hi, can you have a look at what is wrong in src/pump.rs?" }));
    hook("session-end", &json!({ "reason": "other" }));
    let begun = Instant::now();
    while !world.path("vars").exists() {
        assert!(begun.elapsed() < Duration::from_mins(1), "the agent was not asked");
        std::thread::sleep(Duration::from_millis(50));
    }
    let prompt = world.read("prompt");
    assert!(prompt.contains("n-002 Bash cargo test"), "{prompt}");
}

#[test]
fn the_agent_that_did_the_work_writes_the_brief_itself() {
    let world = World::new();
    let brief = world.brief();
    let mut client = Client::start(world.home(), &world.path("vault"), &["--write"]);
    let asked = client.ok("brief", &json!({ "budget": 8000 }));
    assert!(asked.contains("\"brief\": 1") && asked.contains("n-002 Bash cargo test"), "{asked}");
    let told = client.ok("brief", &json!({ "answer": brief.to_string(), "reader": "m", "budget": 2000 }));
    assert!(told.contains("it counts: every statement is proven"), "{told}");
    client.end();
    assert!(world.top().contains("Read by m: "), "{}", world.top());
}
