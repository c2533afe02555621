//! Sessions that a person keeps from agents: no tool, prompt or resource of `cru mcp` tells a word of them.

use std::path::Path;

use serde_json::{Value, json};

use crate::running::mcp::Client;

/// Each stands in every kept session, in one place that something reads.
const PLANTED: [&str; 9] = [
    "plantedtitle",
    "planteduser",
    "plantedphase",
    "plantedfile",
    "plantedwhy",
    "plantederror",
    "plantedtask",
    "plantedbookmark",
    "plantedlesson",
];

fn note(id: &str, more: &str) -> String {
    let [title, user, phase, file, why, error, task, ..] = PLANTED;
    format!(
        "---\ntitle: {title} {id}\ntype: session\nsession_id: {id}\nstatus: completed\nstarted: 2026-11-20T09:00:00Z\n\
         project: /work/api\n{more}---\n\n# {title} {id}\n\n## {phase} ^p-01\n\n> [!user]\n> \"{user} please\"\n\n\
         - `Write {file}.rs` → created ^n-001\n    - writes: `{file}.rs@1d3e5f70` (created)\n\
         - `Bash cargo test` → failed ^n-002\n\n> [!error] {error}\n> it broke\n\n^e-01\n\n\
         > [!decision] Sell it {why}\n> Why: {why}\n\n^d-01\n\n- [ ] {task} ^t-01\n"
    )
}

fn vault(root: &Path) -> Vec<&'static str> {
    let put = |path: &str, text: &str| {
        cru::base::files::create(&root.join(path), text.as_bytes()).unwrap();
    };
    put(".cru/config.toml", "[vault]\nexclude = [\"away\"]\n");
    let kept = [
        ("sessions/deal-export.md", "deal-export", "export: false\n"),
        ("sessions/deal-private.md", "deal-private", "private: true\n"),
        ("sessions/deal-tagged.md", "deal-tagged", "tags: [no-mcp]\n"),
        ("away/deal-away.md", "deal-away", ""),
    ];
    let mut bookmarks = "# Bookmarks\n\n- open: [[plain#^n-001]]\n".to_owned();
    for (path, id, more) in kept {
        put(path, &note(id, more));
        bookmarks.push_str(&format!("- plantedbookmark {id}: [[{id}#^n-001]]\n"));
        put(
            &format!("lessons/of-{id}.md"),
            &format!(
                "---\ntype: lesson\ntitle: plantedlesson {id}\nstatus: accepted\nsessions:\n  - \"[[{id}]]\"\nlearned: 2026-11-20T09:00:00Z\n---\n\
                 # plantedlesson\n\nplantedlesson from [[{id}#^d-01]]\n"
            ),
        );
        put(
            &format!("cases/of-{id}.md"),
            &format!(
                "---\ntype: case\ntitle: plantedtitle case\nsession: \"[[{id}]]\"\n---\n\n# plantedtitle\n\nplanteduser\n"
            ),
        );
    }
    put("bookmarks.md", &bookmarks);
    put(
        "summaries/2026-11-20.md",
        "---\ntype: summary\ntitle: Friday\ndate: 2026-11-20\n---\n\n# Friday\n\n## Sessions\n\n- [[deal-export|plantedtitle]]: plantedwhy\n",
    );
    put(
        "projects/api.md",
        "---\ntype: project\ntitle: api\n---\n\n# api\n\n## Sessions\n\n- [[deal-private|plantedtitle]]\n",
    );
    put(
        "sessions/plain.md",
        "---\ntitle: Plain\ntype: session\nsession_id: plain\nstatus: completed\nstarted: 2026-11-19T09:00:00Z\nproject: /work/api\n---\n\n\
         # Plain\n\n## Look ^p-01\n\n- `Bash ls` → 3 files ^n-001\n\n> [!decision] Stay\n> Why: calm\n\n^d-01\n",
    );
    put("outside.md", &note("outside", "export: false\n"));
    kept.iter().map(|(_, id, _)| *id).collect()
}

#[test]
fn no_answer_of_mcp_tells_a_word_of_a_kept_session() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("vault");
    let kept = vault(&root);
    let mut client = Client::start(temp.path(), &root, &["--write"]);
    let mut asked: Vec<(String, Value)> = Vec::new();
    let tool = |name: &str, arguments: Value| ("tools/call".to_owned(), json!({"name": name, "arguments": arguments}));
    for word in ["planted", "plantedbookmark", "Sell it", "deal", "\"it broke\"", "cargo"] {
        asked.push(tool("search", json!({"query": word, "project": "*"})));
    }
    let kinds = [
        "session", "phase", "step", "decision", "error", "user", "task", "lesson", "summary", "prose", "bookmark",
        "reading", "project", "case", "workflow",
    ];
    for kind in kinds {
        for query in [format!("kind:{kind}"), format!("kind:{kind} planted*"), format!("kind:{kind} [[deal")] {
            asked.push(tool("search", json!({"query": query, "project": "*", "limit": 50})));
        }
    }
    let rows = [
        "sessions",
        "phases",
        "steps",
        "decisions",
        "errors",
        "user",
        "subagents",
        "files",
        "tasks",
        "lessons",
        "quirks",
        "segments",
        "outcomes",
    ];
    for kind in rows {
        asked.push(tool("query", json!({"kind": kind})));
    }
    for project in ["*", "api", "/work/api"] {
        asked.push(tool("decisions", json!({"project": project})));
    }
    asked.push(tool("decisions", json!({"project": "*", "file": "plantedfile.rs"})));
    asked.push(tool("before", json!({"file": "plantedfile.rs"})));
    asked.push(tool("before", json!({"command": "cargo test"})));
    asked.push(tool("before", json!({"error": "it broke plantederror"})));
    asked.push(tool("status", json!({})));
    for files in [json!([]), json!(["plantedfile.rs"])] {
        asked.push(tool("context", json!({"files": files})));
    }
    for project in ["*", "api", "."] {
        asked.push(tool("stale", json!({"project": project})));
    }
    let path = root.join("sessions/deal-export.md").display().to_string();
    let mut names: Vec<String> = kept.iter().map(|id| (*id).to_owned()).collect();
    names.extend(
        ["plantedtitle", "outside", "outside.md", "sessions/deal-export.md", "^", "@plantedbookmark"]
            .map(str::to_owned),
    );
    names.push(path);
    for name in &names {
        for block in ["", "#^n-001", "#^d-01", "#^p-01", "#^e-01"] {
            for part in ["context", "phase", "step", "raw"] {
                asked.push(tool("read", json!({"ref": format!("{name}{block}"), "part": part})));
            }
        }
        for bookmark in ["new", "plantedbookmark deal-export", "open"] {
            asked.push(tool("bookmark", json!({"name": bookmark, "ref": format!("{name}#^n-001")})));
        }
        asked.push(tool("why", json!({"file": name})));
        asked.push(tool(
            "log",
            json!({"session": name, "events": [{"event": "resolve", "error": "e-99", "text": "x"}]}),
        ));
        for prompt in ["resume", "decide", "retro", "codify"] {
            let arguments = json!({"session": name, "question": name});
            asked.push(("prompts/get".to_owned(), json!({"name": prompt, "arguments": arguments})));
        }
        for uri in ["cru://session/{}", "cru://session/{}/d-01", "cru://session/{}/n-001", "cru://project/{}"] {
            asked.push(("resources/read".to_owned(), json!({"uri": uri.replace("{}", name)})));
        }
    }
    for prompt in ["resume", "retro", "codify"] {
        asked.push(("prompts/get".to_owned(), json!({"name": prompt, "arguments": {}})));
    }
    for list in ["resources/list", "resources/templates/list", "prompts/list", "tools/list"] {
        asked.push((list.to_owned(), json!({})));
    }
    asked.push(("resources/read".to_owned(), json!({"uri": "cru://project/api"})));
    let mut told = Vec::new();
    for (method, params) in &asked {
        let answer = client.ask(method, params).to_string();
        // What the caller says itself comes back in errors.
        let said = params.to_string();
        told.extend(
            PLANTED
                .iter()
                .filter(|word| answer.contains(**word) && !said.contains(**word))
                .map(|word| format!("{word} by {method} {params}: {}", &answer[..answer.floor_char_boundary(400)])),
        );
    }
    let found = client.ok("search", &json!({"query": "kind:bookmark", "project": "*"}));
    assert!(found.contains("open"), "a bookmark of another session is found: {found}");
    let marks = std::fs::read_to_string(root.join("bookmarks.md")).unwrap();
    assert!(!marks.contains("new: "), "no bookmark leads to a kept session: {marks}");
    client.end();
    assert!(told.is_empty(), "{} of {}:\n{}", told.len(), asked.len(), told.join("\n"));
}
