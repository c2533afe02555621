//! Secrets in transcripts: every shape in every place where text can stand, and none of it in what is written.
//!
//! The secrets are put together here, so that no scanner takes this file for a leak.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cru::base::files;
use cru::index::{Evidence, Options as IndexOptions, Snapshot, Sources};
use cru::note::Note;
use cru::session::fold;
use cru::session::mask;
use cru::session::read;
use cru::sync::evidence::Transcripts;
use cru::sync::import::{Machine, Options, Unwatched, ingest};
use cru::sync::report::{Outcome, Report};
use cru::vault::VaultPath;
use serde_json::{Value, json};

use crate::imports::growth::World;
use crate::searching::findable::{answer, call, record};

fn write(path: &Path, records: &[Value]) {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    files::put(path, format!("{}\n", lines.join("\n")).as_bytes()).unwrap();
}

/// Signs that look random and differ by `seed`.
fn drawn(signs: &[u8], seed: usize, len: usize) -> String {
    let mut state = seed as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        signs[(state >> 33) as usize % signs.len()] as char
    };
    (0..len).map(|_| next()).collect()
}

/// Letters and digits; one of each at least.
fn random(seed: usize, len: usize) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    format!("{}k7", drawn(SIGNS, seed, len - 2))
}

fn hex(seed: usize, len: usize) -> String {
    drawn(b"0123456789abcdef", seed, len)
}

/// Letters of both cases and no digit.
fn letters(seed: usize, len: usize) -> String {
    drawn(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", seed, len)
}

fn capitals(seed: usize, len: usize) -> String {
    drawn(b"ABCDEFGHJKLMNPQRSTUVWXYZ234567", seed, len)
}

/// Every shape: rule, what must not be left of it, and the text that it stands in.
pub(crate) fn shapes(seed: usize) -> Vec<(&'static str, String, String)> {
    let r = |len: usize| random(seed, len);
    let bare = |rule, secret: String| (rule, secret.clone(), secret);
    let with =
        |rule, secret: String, before: &str, behind: &str| (rule, secret.clone(), format!("{before}{secret}{behind}"));
    let pem = |kind: &str| {
        let lines = [random(seed, 64), random(seed + 1, 64), random(seed + 2, 40)];
        let text = format!("-----BEGIN {kind}-----\n{}==\n-----END {kind}-----", lines.join("\n"));
        ("private-key", lines[1].clone(), text)
    };
    let jwt = format!("eyJ{}.eyJ{}.{}", r(20), r(40), r(43));
    vec![
        bare("aws-access-key", format!("{}{}", "AKIA", capitals(seed, 16))),
        bare("aws-access-key", format!("{}{}", "ASIA", capitals(seed, 16))),
        with("aws-secret-key", r(40), "aws_secret_access_key = ", ""),
        bare("google-api-key", format!("{}{}", "AIza", r(35))),
        bare("google-oauth", format!("{}{}", "ya29.", r(60))),
        bare("google-oauth", format!("{}{}", "GOCSPX-", r(28))),
        with("azure-key", format!("{}==", r(86)), "AccountName=tide;AccountKey=", ";EndpointSuffix=x"),
        bare("azure-secret", format!("{}8Q~{}", &r(3), r(34))),
        bare("github-token", format!("{}{}", "ghp_", r(36))),
        bare("github-token", format!("{}{}", "ghs_", r(36))),
        bare("github-token", format!("{}{}_{}", "github_pat_", r(22), r(59))),
        bare("gitlab-token", format!("{}{}", "glpat-", r(20))),
        bare("slack-token", format!("{}2048{}-{}", "xoxb-", seed, r(24))),
        bare("slack-webhook", format!("{}T0{}/B0{}/{}", "https://hooks.slack.com/services/", seed, seed, r(24))),
        bare("stripe-key", format!("{}{}", "sk_live_", r(24))),
        bare("stripe-key", format!("{}{}", "whsec_", r(32))),
        bare("openai-key", format!("{}{}T3BlbkFJ{}", "sk-", r(20), r(20))),
        bare("openai-key", format!("{}{}", "sk-proj-", r(64))),
        bare("anthropic-key", format!("{}{}-{}AA", "sk-ant-api03-", r(40), r(50))),
        bare("hugging-face-token", format!("{}{}", "hf_", r(34))),
        bare("npm-token", format!("{}{}", "npm_", r(36))),
        bare("pypi-token", format!("{}{}", "pypi-AgEIcHlwaS5vcmc", r(70))),
        bare("jwt", jwt),
        pem("RSA PRIVATE KEY"),
        pem("OPENSSH PRIVATE KEY"),
        pem("PGP PRIVATE KEY BLOCK"),
        with("url-password", r(14), "postgres://tide:", "@db.internal:5432/tide"),
        with("authorization", r(40), "curl -H 'Authorization: Bearer ", "' x"),
        with("bearer-token", r(40), "curl -H 'X-Tide: Bearer ", "' x"),
        with("password", r(12), "Server=db;User Id=sa;Password=", ";Encrypt=true"),
        with("password", r(10), "DB_PASSWORD=", ""),
        with("password", r(10), "{\"password\": \"", "\"}"),
        with("secret", r(32), "export TIDE_API_TOKEN=", ""),
        with("secret", hex(seed, 32), "TWILIO_AUTH_TOKEN=", ""),
        bare("twilio-key", format!("{}{}", "SK", hex(seed, 32))),
        bare("sendgrid-key", format!("{}{}.{}", "SG.", r(22), r(43))),
        bare("telegram-token", format!("{}{}:AA{}", 1_234_567 + seed, 8, r(33))),
        with("discord-token", format!("{}{}.{}.{}", "MTk4", r(20), r(6), r(32)), "client.login('", "')"),
        with("discord-token", format!("{}{}.{}.{}", "MTk4", r(20), r(6), r(32)), "DISCORD_TOKEN=", ""),
        bare("digitalocean-token", format!("{}{}", "dop_v1_", hex(seed, 64))),
        bare("docker-token", format!("{}{}", "dckr_pat_", r(27))),
        with("docker-auth", "dGlkZTptb29uLXBoYXNlLTc=".to_owned(), "{\"auths\": {\"x\": {\"auth\": \"", "\"}}}"),
        bare("vault-token", format!("{}{}", "hvs.", r(90))),
        bare("age-key", format!("{}{}", "AGE-SECRET-KEY-1", capitals(seed, 58))),
        bare("service-key", format!("{}{}", "gsk_", r(52))),
        // Names that a value without a digit stands behind.
        with("password", letters(seed + 2025, 16), "password: ", ""),
        with("password", letters(seed + 2026, 18), "passwd: ", ""),
        with("password", letters(seed + 2027, 18), "pass: ", ""),
        with("password", letters(seed + 2028, 20), "pwd=", ""),
        with("password", letters(seed + 2029, 16), "export PASS=", ""),
        with("password", letters(seed + 2030, 16), "--password=", " --host db"),
        with("secret", letters(seed + 2031, 24), "API_TOKEN=", ""),
        with("secret", letters(seed + 2032, 32), "client_secret: \"", "\""),
        // Prefixes that decide alone.
        bare("github-token", format!("{}{}", "ghp_", letters(seed + 2033, 36))),
        bare("gitlab-token", format!("{}{}", "glpat-", letters(seed + 2034, 20))),
        bare("stripe-key", format!("{}{}", "sk_live_", letters(seed + 2035, 24))),
        // Markdown and prose.
        with("secret", random(seed + 1001, 32), "**Token:** ", ""),
        with("secret", random(seed + 1002, 32), "**API key**: `", "`"),
        with("secret", random(seed + 1003, 32), "| API key | ", " | of the server |"),
        with("secret", random(seed + 1004, 32), "`API_KEY`: `", "`"),
        with("secret", random(seed + 1005, 32), "the secret key is ", ""),
        with("password", random(seed + 1006, 14), "my password is ", ""),
        // Command lines, cookies and files.
        with("password", random(seed + 1007, 14), "curl -s -u admin:", " https://example.org"),
        with("password", random(seed + 1008, 14), "mysql -h db -u root -p", " tide"),
        with("password", random(seed + 1009, 14), "sshpass -p ", " ssh root@db"),
        with("password", random(seed + 1010, 14), "docker login -u me -p ", " registry.io"),
        with("password", random(seed + 1011, 14), "redis-cli -a ", " ping"),
        with("password", random(seed + 1012, 14), "wget --password=", " https://example.org"),
        with("password", random(seed + 1013, 14), "mongosh -u me -p ", " db"),
        with("password", random(seed + 1014, 14), "machine api.example.org login me password ", ""),
        with("cookie", random(seed + 1015, 32), "Cookie: theme=dark; sid=", ""),
        with("cookie", random(seed + 1016, 32), "Set-Cookie: session=", "; Path=/; HttpOnly"),
        // More services.
        with("google-oauth", format!("{}{}", "1//0", random(seed + 1017, 60)), "refresh_token: ", ""),
        bare("nvidia-key", format!("{}{}", "nvapi-", random(seed + 1018, 64))),
        bare("new-relic-key", format!("{}{}", "NRAK-", capitals(seed, 27))),
        bare("tailscale-key", format!("{}{}-{}", "tskey-auth-", random(seed + 1019, 17), random(seed + 1020, 32))),
        bare("pulumi-token", format!("{}{}", "pul-", hex(seed + 40, 40))),
        bare("terraform-token", format!("{}.atlasv1.{}", random(seed + 1021, 14), random(seed + 1022, 67))),
        bare("mailgun-key", format!("{}{}", "key-", hex(seed + 50, 32))),
        bare("shopify-token", format!("{}{}", "shpat_", hex(seed + 60, 32))),
        bare("postman-api-token", format!("{}{}-{}", "PMAK-", hex(seed + 70, 24), hex(seed + 1, 34))),
        bare("linear-api-key", format!("{}{}", "lin_api_", random(seed + 1023, 40))),
        bare("service-key", format!("{}{}", "figd_", random(seed + 1024, 40))),
        bare("sendinblue-api-token", format!("{}{}-{}", "xkeysib-", hex(seed + 80, 64), hex(seed + 1, 16))),
        bare("shippo-api-token", format!("{}{}", "shippo_live_", hex(seed + 90, 40))),
        with("datadog-access-token", hex(seed + 100, 40), "datadog: ", ""),
    ]
}

#[test]
fn every_shape_is_found_by_its_rule() {
    assert!(shapes(1).len() >= 82, "{}", shapes(1).len());
    for seed in [1, 4, 30] {
        for (rule, secret, text) in shapes(seed) {
            for text in [text.clone(), format!("see {text} there"), format!("x\n{text}\ny"), json!([text]).to_string()]
            {
                let found = mask::find(&text);
                assert_eq!(found.iter().map(|found| found.rule).collect::<Vec<_>>(), [rule], "{text}");
                let masked = mask::mask(&text);
                assert!(!masked.contains(&secret), "{masked}");
                assert_eq!(mask::mask(&masked), masked);
            }
        }
    }
}

/// A transcript that says `text` in every place where text can stand.
fn transcript(text: &str) -> Vec<Value> {
    let none = json!({});
    let user = |content: &str| json!({ "role": "user", "content": content });
    let said = |id: usize, content: Value| {
        record(
            "assistant",
            id,
            &json!({ "role": "assistant", "model": "m", "id": format!("m{id}"), "content": content }),
            &none,
        )
    };
    let failed = json!([{ "type": "tool_result", "tool_use_id": "t8", "is_error": true, "content": format!("Exit code 1\nerror: {text}") }]);
    let questions = json!({ "questions": [{ "question": format!("Which? {text}"), "header": "Key", "options": [
        { "label": format!("this {text}"), "description": text }, { "label": "none", "description": "no" }] }] });
    let answers = json!({ "toolUseResult": { "questions": questions["questions"], "answers": { format!("Which? {text}"): format!("this {text}") } } });
    vec![
        json!({ "type": "summary", "summary": format!("Title {text}"), "leafUuid": "u1" }),
        record(
            "user",
            1,
            &user(&format!("please use {text} now")),
            &json!({ "cwd": "/p", "gitBranch": format!("b-{text}") }),
        ),
        said(2, json!([{ "type": "thinking", "thinking": format!("hm {text}"), "signature": "" }])),
        said(3, json!([{ "type": "text", "text": format!("I take {text} as it is.\n\n```sh\n{text}\n```\n") }])),
        call(4, "Bash", &json!({ "command": format!("echo {text}"), "description": text }), &none),
        answer(5, 4, &format!("first\n{text}\nlast"), &none),
        call(6, "Write", &json!({ "file_path": format!("/p/{text}.txt"), "content": format!("a\n{text}\nb") }), &none),
        answer(
            7,
            6,
            "File created successfully",
            &json!({ "toolUseResult": { "type": "create", "filePath": format!("/p/{text}.txt"), "content": text } }),
        ),
        call(8, "Bash", &json!({ "command": "cargo test" }), &none),
        record("user", 9, &json!({ "role": "user", "content": failed }), &none),
        call(10, "AskUserQuestion", &questions, &none),
        answer(11, 10, &format!("User has answered your questions: \"Which? {text}\"=\"this {text}\""), &answers),
        call(
            12,
            "TodoWrite",
            &json!({ "todos": [{ "content": format!("do {text}"), "status": "pending", "activeForm": text }] }),
            &none,
        ),
        answer(13, 12, "ok", &none),
        call(14, "ExitPlanMode", &json!({ "plan": format!("# Plan {text}\n\nuse {text}") }), &none),
        answer(15, 14, "User has approved your plan.", &none),
        call(16, "mcp__x__y", &json!({ "a": text, "b": { "c": [text] } }), &none),
        answer(17, 16, text, &none),
        call(
            18,
            "Task",
            &json!({ "description": format!("d {text}"), "prompt": format!("go {text}"), "subagent_type": "reviewer" }),
            &none,
        ),
        answer(
            19,
            18,
            &format!("All is well with {text}."),
            &json!({ "toolUseResult": { "agentId": "a1", "status": "completed" } }),
        ),
        record("user", 20, &user(&format!("no, not that: {text}")), &none),
        said(21, json!([{ "type": "text", "text": "Done." }])),
        json!({ "type": "custom-title", "customTitle": format!("Named {text}"), "sessionId": "s" }),
    ]
}

fn subagent(text: &str) -> Vec<Value> {
    let side = json!({ "isSidechain": true, "agentId": "a1" });
    let said = json!({ "role": "assistant", "model": "m", "id": "m4", "content": format!("All is well with {text}.") });
    vec![
        record("user", 1, &json!({ "role": "user", "content": format!("go {text}") }), &side),
        call(2, "Grep", &json!({ "pattern": text }), &side),
        answer(3, 2, &format!("x\n{text}\ny"), &side),
        record("assistant", 4, &said, &side),
    ]
}

fn import(world: &World, fold: fold::Options) -> Report {
    let importer = cru::import::find("claude").unwrap();
    let machine = Some(Machine { state: world.state.clone(), now: world.env.now() });
    let options = Options { machine, fold, ..Options::default() };
    ingest(&world.vault, importer, &[world.input()], &options, &Unwatched).unwrap()
}

/// Every file below `root`, by path.
fn all_files(root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all_files(&path, found);
        } else {
            found.insert(path.to_str().unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
}

/// A file name and a command line have no line ends.
fn on_one_line(text: &str) -> bool {
    !text.contains('\n')
}

#[test]
fn nothing_of_a_secret_is_left_anywhere() {
    let world = World::new();
    let shapes = shapes(7);
    for (at, (_, _, text)) in shapes.iter().enumerate() {
        let session = format!("s{at}");
        let named = |mut records: Vec<Value>| {
            for record in &mut records {
                for (name, value) in
                    [("sessionId", session.clone()), ("uuid", String::new()), ("parentUuid", String::new())]
                {
                    if let Some(old) = record.get(name).and_then(Value::as_str) {
                        record[name] = json!(if value.is_empty() { format!("{old}-{session}") } else { value });
                    }
                }
            }
            records
        };
        write(&world.input().join(format!("{session}.jsonl")), &named(transcript(text)));
        write(&world.input().join(format!("{session}/subagents/agent-a1.jsonl")), &named(subagent(text)));
    }
    let report = import(&world, fold::Options { thinking: true, ..fold::Options::default() });
    assert_eq!(report.count(Outcome::Created), 2 * shapes.len() as u64, "{report:?}");
    for (rule, ..) in &shapes {
        assert!(report.masked.get(rule).is_some_and(|count| *count > 0), "{rule}: {:?}", report.masked);
    }
    let told = serde_json::to_string(&report).unwrap();
    let supplier = Transcripts::of(&world.vault, &world.env);
    let sources = Sources { evidence: Some(&supplier) };
    Snapshot::open_with(
        &world.vault.clone().cached_in(world.vault.root().join(".machine")),
        &IndexOptions { sources, complete: true, rebuild: true, ..IndexOptions::default() },
    )
    .unwrap();
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    texts.insert("report".to_owned(), told);
    let mut found = BTreeMap::new();
    all_files(world.vault.root(), &mut found);
    all_files(world.state.dir(), &mut found);
    for (path, bytes) in found {
        texts.insert(path.clone(), format!("{path}\n{}", String::from_utf8_lossy(&bytes)));
    }
    let mut evidence = 0;
    for (path, text) in world.notes() {
        let note = Note::parse(text.as_str());
        let session = read::content(&note);
        let path = VaultPath::new(path.strip_prefix(world.vault.root()).unwrap().to_str().unwrap()).unwrap();
        for (at, entry) in supplier.entries(&path, &note, &session).into_iter().enumerate() {
            evidence += 1;
            texts.insert(format!("evidence {path} {at}"), entry.text.clone());
        }
    }
    assert!(evidence > 5 * shapes.len(), "{evidence}");
    let exports = world.temp.path().join("out");
    for args in [
        &["--format", "json", "query", "steps"][..],
        &["--format", "json", "query", "user"],
        &["--format", "json", "session", "list"],
        &["--format", "json", "decisions"],
        &["session", "learn", "--export", "jsonl", "-o", exports.to_str().unwrap()],
        &["session", "learn", "--export", "markdown"],
    ] {
        texts.insert(args.join(" "), cru(&world, args));
    }
    let mut exported = BTreeMap::new();
    all_files(&exports, &mut exported);
    for (path, bytes) in exported {
        texts.insert(path, String::from_utf8_lossy(&bytes).into_owned());
    }
    let codified = world.sessions()["s0"].1.meta.session_id.clone().unwrap();
    texts.insert("codify".to_owned(), cru(&world, &["session", "codify", &codified]));
    let mut left: Vec<String> = Vec::new();
    for (rule, secret, _) in &shapes {
        for (place, text) in &texts {
            // Half of it would be too much as well.
            let half = &secret[secret.len() / 3..];
            let at = text.find(half).map(|at| &text[text.floor_char_boundary(at.saturating_sub(90))..]);
            let near = at.map(|near| &near[..near.floor_char_boundary(200)]);
            left.extend(near.map(|near| format!("{rule} in {place}: {secret}: {near}")));
        }
    }
    assert!(left.is_empty(), "{}: {}", left.len(), left.join("\n"));
    for (rule, secret, _) in shapes.iter().filter(|(_, secret, _)| on_one_line(secret)) {
        let output = cru(&world, &["--format", "json", "search", &format!("\"{secret}\"")]);
        let hits: Value = serde_json::from_str(&output).unwrap_or_default();
        assert!(hits["hits"].as_array().is_none_or(Vec::is_empty), "{rule}: {hits}");
    }
    let scanned = cru(&world, &["secrets", "scan"]);
    assert!(scanned.contains("no secrets found"), "{scanned}");
}

/// What the program says.
fn cru(world: &World, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_cru"))
        .arg("--vault")
        .arg(world.vault.root())
        .args(args)
        .env("HOME", world.temp.path())
        .env("XDG_STATE_HOME", world.temp.path().join("xdg"))
        .env("CRU_NOW", "2036-01-01T00:00:00Z")
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code().is_some_and(|code| code <= 1), "{args:?}: {errors}");
    format!("{}{errors}", String::from_utf8(output.stdout).unwrap())
}

#[test]
fn names_of_secrets_stay_the_same() {
    let world = World::new();
    let (one, two) = (format!("{}{}", "ghp_", random(1, 36)), format!("{}{}", "ghp_", random(2, 36)));
    let path = world.input().join("s.jsonl");
    let prompt = |id: usize, text: &str| {
        record("user", id, &json!({ "role": "user", "content": text }), &json!({ "cwd": "/p" }))
    };
    let reply = |id: usize, text: &str| {
        record(
            "assistant",
            id,
            &json!({ "role": "assistant", "model": "m", "id": format!("m{id}"), "content": text }),
            &json!({}),
        )
    };
    let begun = vec![prompt(1, &format!("take {two} and {one}")), reply(2, &format!("I take {one}, then {two}."))];
    write(&path, &begun);
    import(&world, fold::Options::default());
    let first = world.notes();
    let text = first.values().next().unwrap();
    assert!(text.contains("\"take [secret:github-token-1] and [secret:github-token-2]\""), "{text}");
    assert!(text.contains("I take [secret:github-token-2], then [secret:github-token-1]."), "{text}");
    let again = import(&world, fold::Options::default());
    assert_eq!((again.count(Outcome::Unchanged), world.notes() == first, again.masked.len()), (1, true, 0));

    let mut grown = begun;
    grown.extend([prompt(3, "now write the second file"), reply(4, &format!("With {one} and TIDE_PASSWORD=k1pferl."))]);
    write(&path, &grown);
    let report = import(&world, fold::Options::default());
    assert_eq!(report.masked, BTreeMap::from([("github-token", 2), ("password", 1)]));
    let notes = world.notes();
    let text = notes.values().next().unwrap();
    assert!(text.contains("With [secret:github-token-2] and TIDE_PASSWORD=[secret:password-1]"), "{text}");
    let at_once = World::new();
    write(&at_once.input().join("s.jsonl"), &grown);
    import(&at_once, fold::Options::default());
    let body = |text: &str| {
        text.lines()
            .filter(|line| !["transcript:", "session_id:", "cru_"].iter().any(|key| line.starts_with(key)))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(body(text), body(at_once.notes().values().next().unwrap()));
}

/// What one place of a session tells to be a secret is masked in all others, also before it and in its sub-agents.
#[test]
fn a_password_that_is_told_once_is_masked_everywhere() {
    let world = World::new();
    let odd = format!("{}.z", random(5, 10));
    let none = json!({});
    let prompt = |id: usize, text: &str| {
        record("user", id, &json!({ "role": "user", "content": text }), &json!({ "cwd": "/p" }))
    };
    let ran = |id: usize, command: &str| {
        [call(id, "Bash", &json!({ "command": command }), &none), answer(id + 1, id, &format!("as {odd}"), &none)]
    };
    let mut records = vec![prompt(1, &format!("log in with {odd} and write the first file"))];
    records.extend(ran(2, &format!("plink -pw {odd} host ls")));
    let path = world.input().join("s.jsonl");
    write(&path, &records);
    import(&world, fold::Options::default());
    let text = || world.notes().into_values().collect::<String>();
    assert!(text().contains(&odd), "nothing tells it yet: {}", text());
    records.extend(ran(4, &format!("mysql --password='{odd}' -e x")));
    records.extend(ran(6, &format!("echo {odd} | ssh host")));
    write(&path, &records);
    let report = import(&world, fold::Options::default());
    assert_eq!(report.masked, BTreeMap::from([("password", 1)]));
    let grown = text();
    assert!(!grown.contains(&odd), "{grown}");
    assert!(grown.contains("plink -pw [secret:password-1] host") && grown.contains("log in with [secret:password-1]"));
    records.extend(ran(8, &format!("echo {odd}")));
    write(&path, &records);
    import(&world, fold::Options::default());
    assert!(!text().contains(&odd) && text().contains("echo [secret:password-1]`"), "{}", text());
    let steps = ["n-001", "n-003"].map(|step| cru(&world, &["show", step, "--full"]));
    assert!(steps.iter().all(|step| step.contains("[secret:password-1]") && !step.contains(&odd)), "{steps:?}");
    // What a person writes stays as it is, and is told with all places.
    let (name, _) = world.notes().into_iter().next().unwrap();
    let note = world.vault.root().join(name);
    let mine = format!("{}\nMine: {odd}, password='{odd}'\n", fs::read_to_string(&note).unwrap());
    files::put(&note, mine.as_bytes()).unwrap();
    import(&world, fold::Options::default());
    assert!(text().contains(&format!("Mine: {odd}")));
    assert!(cru(&world, &["admin", "secrets"]).contains("2 secrets"));
}

#[test]
fn what_an_older_note_says_stays_and_what_is_new_is_masked() {
    for forgotten in [false, true] {
        let world = World::new();
        let (one, two) = (format!("{}{}", "ghp_", random(1, 36)), format!("{}{}", "ghp_", random(2, 36)));
        let path = world.input().join("s.jsonl");
        let prompt = |id: usize, text: &str| {
            record("user", id, &json!({ "role": "user", "content": text }), &json!({ "cwd": "/p" }))
        };
        let mut records = vec![
            prompt(1, &format!("take {one}")),
            call(2, "Bash", &json!({ "command": format!("echo {one}") }), &json!({})),
            answer(3, 2, &one, &json!({})),
            record(
                "assistant",
                4,
                &json!({ "role": "assistant", "model": "m", "id": "m4", "content": "Done." }),
                &json!({}),
            ),
        ];
        write(&path, &records);
        let open = import(&world, fold::Options { no_redact: true, ..fold::Options::default() });
        assert!(open.masked.is_empty());
        let before = world.notes().into_values().next().unwrap();
        assert!(before.contains(&one));
        import(&world, fold::Options::default());
        assert_eq!(world.notes().into_values().next().unwrap(), before);
        if forgotten {
            fs::remove_dir_all(world.state.dir()).unwrap();
        }
        records.extend([
            prompt(5, &format!("and now write {two} into the file")),
            call(6, "Bash", &json!({ "command": format!("echo {two} {one}") }), &json!({})),
            answer(7, 6, "ok", &json!({})),
        ]);
        write(&path, &records);
        let report = import(&world, fold::Options::default());
        assert_eq!(report.count(Outcome::Updated), 1, "{report:?}");
        let after = world.notes().into_values().next().unwrap();
        let body = before.split("\n## ").nth(1).unwrap().split("[!usage]").next().unwrap();
        assert!(after.contains(body), "{forgotten}:\n{before}\n{after}");
        assert!(!after.contains(&two), "{after}");
        assert_eq!(after.matches("`Bash echo ").count(), 2, "{after}");
        assert!(after.contains("echo [secret:github-token-2] [secret:github-token-1]"), "{after}");
        assert_eq!(import(&world, fold::Options::default()).count(Outcome::Unchanged), 1);
        assert_eq!(world.notes().into_values().next().unwrap(), after);
    }
}

#[test]
fn ordinary_code_and_prose_stay() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    for folder in ["src", "crates", "docs", "examples", "benches", "plugin", "templates", "vault-example"] {
        all_files(&root.join(folder), &mut found);
    }
    for file in ["Cargo.toml", "Cargo.lock", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"] {
        found.insert(file.to_owned(), fs::read(root.join(file)).unwrap());
    }
    let (mut lines, mut wrong) = (0, Vec::new());
    for (path, bytes) in
        found.into_iter().filter(|(path, _)| !path.contains("/cru-secrets/") && !path.contains("/.cru/"))
    {
        let text = String::from_utf8_lossy(&bytes);
        lines += text.lines().count();
        for found in mask::find(&text) {
            wrong.push(format!("{path}: {} {:?}", found.rule, &text[found.range]));
        }
    }
    assert!(lines > 20_000, "{lines}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn logs_stay() {
    let text = include_str!("../../fixtures/logs.txt");
    assert!(text.lines().count() > 100);
    for line in text.lines() {
        assert_eq!(mask::find(line), [], "{line}");
    }
    assert_eq!(mask::find(text), []);
}

/// Code in many languages, lock files, logs, hashes, ids, dumps, examples of handbooks: nothing in it is a secret.
#[test]
fn two_thousand_ordinary_lines_stay() {
    let text = include_str!("../../fixtures/ordinary.txt");
    assert!(text.lines().count() >= 2_000, "{}", text.lines().count());
    let shown = |text: &str| -> Vec<String> {
        mask::find(text).into_iter().map(|found| format!("{} {:?}", found.rule, &text[found.range])).collect()
    };
    assert_eq!(shown(text), [""; 0], "as one text");
    for line in text.lines() {
        assert_eq!(shown(line), [""; 0], "{line}");
        // As it stands in a record, and as a value of one.
        let quoted = serde_json::to_string(line).unwrap();
        assert_eq!(shown(&quoted), [""; 0], "{quoted}");
    }
}

#[test]
fn what_is_logged_is_masked_unless_somebody_says_otherwise() {
    let world = World::new();
    let token = format!("{}{}", "ghp_", random(3, 36));
    cru(&world, &["session", "start", &format!("Try {token}")]);
    cru(&world, &["log", "phase", &format!("Look at {token}")]);
    cru(&world, &["log", "tool", "Bash", &format!("echo {token}"), "--result", &token]);
    let note = || world.notes().into_iter().next().unwrap();
    let (path, text) = note();
    assert!(!text.contains(&token) && !path.to_str().unwrap().contains(&token.to_lowercase()[4..20]), "{text}");
    assert_eq!(text.matches("[secret:github-token]").count(), 6, "{text}");
    cru(&world, &["log", "--no-redact", "tool", "Bash", &format!("echo {token}")]);
    assert_eq!(note().1.matches(token.as_str()).count(), 1, "{}", note().1);
}

/// What a hook is given, in the machine state: neither raw nor for others.
#[cfg(unix)]
#[test]
fn machine_state_holds_no_secret_and_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let token = format!("{}{}", "ghp_", random(5, 36));
    let input = |event: &str, more: &Value| {
        let mut input = json!({ "session_id": "s-1", "cwd": world.temp.path(), "hook_event_name": event,
            "transcript_path": world.temp.path().join("none/s-1.jsonl") });
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        input
    };
    let call =
        json!({ "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": format!("echo {token}") } });
    let mut result = call.clone();
    result["tool_response"] = json!({ "stdout": token, "stderr": "" });
    for (name, input) in [
        ("session-start", input("SessionStart", &json!({ "source": "startup" }))),
        (
            "prompt",
            input("UserPromptSubmit", &json!({ "prompt": format!("use {token} and password: {}", letters(3, 16)) })),
        ),
        ("pre-tool", input("PreToolUse", &call)),
        ("post-tool", input("PostToolUse", &result)),
        ("stop", input("Stop", &json!({}))),
    ] {
        hook(&world, name, &input);
    }
    let state = world.temp.path().join("xdg");
    let files = || {
        let mut files = BTreeMap::new();
        all_files(&state, &mut files);
        files
    };
    let journal = |files: &BTreeMap<String, Vec<u8>>| files.keys().any(|path| path.contains("/journal/claude-code--"));
    assert!(journal(&files()), "{:?}", files().keys());
    cru(&world, &["flush", "s-1"]);
    for (path, bytes) in files() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&token[8..]) && !text.contains(&letters(3, 16)), "{path}: {text}");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o177, 0, "{path}: {mode:o}");
        for folder in Path::new(&path).ancestors().skip(1).take_while(|folder| folder.starts_with(state.join("cru"))) {
            let mode = fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}: {mode:o}", folder.display());
        }
    }
    assert!(!world.notes().is_empty());
    hook(&world, "session-end", &input("SessionEnd", &json!({ "reason": "exit" })));
    cru(&world, &["flush", "--all"]);
    assert!(!journal(&files()), "what is in the note is emptied: {:?}", files().keys());
    let note = world.notes().into_values().next().unwrap();
    assert!(note.contains("[secret:github-token") && !note.contains(&token[8..]), "{note}");
}

/// Calls a hook with the host's JSON on its stdin.
#[cfg(unix)]
fn hook(world: &World, name: &str, input: &Value) {
    use std::io::Write as _;
    use std::process::Stdio;
    fs::create_dir_all(world.vault.root().join(".cru")).unwrap();
    files::put(&world.vault.root().join(".cru/config.toml"), b"[hooks]\nflush = \"never\"\n").unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_cru"))
        .args(["hook", name])
        .env("CRU_VAULT", world.vault.root())
        .env("HOME", world.temp.path())
        .env("XDG_STATE_HOME", world.temp.path().join("xdg"))
        .env("CRU_NOW", "2036-01-01T00:00:00Z")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

/// Control and bidirectional characters of a note that somebody wrote by hand.
#[test]
fn commands_print_no_raw_control_or_bidirectional_characters() {
    let world = World::new();
    let evil = "a\u{202e}b\u{2066}c\u{1b}[31md\u{7}e\u{9b}f";
    let note = format!(
        "---\ntype: session\nsession_id: s-1\ntitle: \"T {}\"\nstatus: active\nstarted: 2026-11-20T09:00:00Z\ntags: [\"x\"]\n---\n# T {evil}\n\n\
         ## P {evil}\n\n> [!user] W {evil} ^u-01\n> \"do {evil}\" - done {evil}\n\nprose {evil}\n\n> [!decision] D {evil} ^d-01\n> text {evil}\n\n\
         **Tool calls**\n- `Bash`: `echo {evil}` → ok {evil} ^n-001\n",
        evil.replace('\u{1b}', "\\x1b").replace('\u{7}', "\\x07")
    );
    files::put(&world.vault.root().join("sessions/s-1.md"), note.as_bytes()).unwrap();
    for args in [
        &["session", "list"][..],
        &["session", "show", "s-1"],
        &["session", "show", "s-1", "--html"],
        &["session", "resume", "s-1", "--print"],
        &["session", "codify", "s-1"],
        &["query", "steps"],
        &["query", "user"],
        &["decisions"],
        &["search", "prose"],
        &["graph", "s-1"],
        &["context", "s-1"],
        &["history"],
        &["stats"],
        &["check"],
        &["status"],
    ] {
        for format in ["text", "json", "toon"] {
            let output = Command::new(env!("CARGO_BIN_EXE_cru"))
                .args(["--vault".as_ref(), world.vault.root().as_os_str(), "--format".as_ref(), format.as_ref()])
                .args(args)
                .env("HOME", world.temp.path())
                .env("XDG_STATE_HOME", world.temp.path().join("xdg"))
                .output()
                .unwrap();
            let said =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            let raw = |c: &char| (c.is_control() && *c != '\n' && *c != '\t') || "\u{202e}\u{2066}".contains(*c);
            assert_eq!(said.chars().find(raw), None, "{args:?} {format}: {said:?}");
        }
    }
}

/// What a person or a page brings does not make the reader's program ask others.
#[test]
fn nothing_in_a_note_is_loaded_from_elsewhere() {
    let world = World::new();
    let image = "![x](https://track.example/a.png?id=1)";
    let embed =
        "<img src=\"https://track.example/b.png\"> ![[https://track.example]] <iframe src=\"https://track.example\">";
    let prompt = format!("look at https://host.example/cb?code=4711abc {image}");
    let records = vec![
        record("user", 1, &json!({ "role": "user", "content": prompt }), &json!({ "cwd": "/p" })),
        record(
            "assistant",
            2,
            &json!({ "role": "assistant", "model": "m", "id": "m2", "content": format!("{image}\n\n{embed}") }),
            &json!({}),
        ),
    ];
    write(&world.input().join("s.jsonl"), &records);
    import(&world, fold::Options::default());
    let (path, note) = world.notes().into_iter().next().unwrap();
    for line in note.lines() {
        for sign in ["![", "<img", "<iframe"] {
            for (at, _) in line.match_indices(sign) {
                let inner = sign == "![" && line[at..].starts_with("!\\[");
                assert!(inner || line[..at].ends_with('\\'), "{line}");
            }
        }
    }
    let (_, session) = world.sessions().into_values().next().unwrap();
    assert!(!session.title().contains("4711abc") && !path.to_string_lossy().contains("4711abc"), "{}", session.title());
    assert!(session.phases.iter().all(|phase| !phase.title.contains("4711abc")));
    let html = cru(&world, &["session", "show", "--html"]);
    assert!(html.contains("Content-Security-Policy") && html.contains("default-src 'none'"), "{html}");
    assert!(!html.contains("<img src"), "{html}");
    // What is told again says the same.
    assert_eq!(import(&world, fold::Options::default()).count(Outcome::Unchanged), 1);
}
