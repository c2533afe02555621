//! `cru view`, asked over HTTP: who is answered, what is shown, what is written; and the same pages as files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::small_vault::SmallVault;

/// A text that would run, load or end something where it stood as markup.
const HOSTILE: &str = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'><b>{{ 7 * 7 }}";

const SESSION: &str = r#"---
type: session
session_id: tides
title: "Tides TITLE"
status: active
project: ~/work/lamp
channel: dev
started: 2026-11-20T09:00:00Z
participants:
  - coder@2.0
tags: [sea]
---
# Tides

```tasks
[{"id":"T-1","content":"Print them TASK","status":"pending"}]
```

## Plan PHASE @coder@2.0 #dev

*2026-11-20T09:00:00Z* ^p-01

> [!user] Request
> "Show the tides WORDS of a week" - read [the table](javascript:alert(3)) and [[lesson]]

^u-01

It goes on from [[kept]].

> [!lesson] Keep the datum LESSON

^l-01

**Tool calls:**
- `Bash make ARGS` → ✗ exit 2 (09:00:09) ^n-001
    - writes: `src/tide.rs`
- `Bash cargo test` → 3 passed (09:05:00) ^n-002
"#;

const KEPT: &str = "---\ntype: session\nsession_id: kept\ntitle: Secretword\nexport: false\nstatus: completed\nproject: ~/work/secretproject\n---\n# Secretword\n\n## Secretword @a\n\n> [!user]\n> \"Secretword\"\n";

const LESSON: &str = "---\ntype: lesson\ntitle: Keep it BODY\nlevel: project\nstatus: proposed\n---\n# Keep it BODY\n\nAs was said.\n\n- Evidence: [[tides#^u-01]]\n";

pub(super) fn vault() -> SmallVault {
    let vault = SmallVault::new("[vault]\nid = \"v\"\n");
    let hostile = |text: &str, words: &[&str]| {
        let quoted = HOSTILE.replace('"', "\\\"");
        let text = text.replace("TITLE", &quoted).replace("TASK", &quoted);
        words.iter().fold(text, |text, word| text.replace(word, HOSTILE))
    };
    vault.put("vault/sessions/tides.md", &hostile(SESSION, &["PHASE", "WORDS", "LESSON", "ARGS"]));
    vault.put("vault/sessions/kept.md", KEPT);
    vault.put("vault/lessons/lesson.md", &hostile(LESSON, &["BODY"]));
    vault.put("work/lamp/src/tide.rs", "fn tide() {}\n");
    vault.put("outside.md", "# Outsideword\n");
    vault.put("vault/notes.txt", "Textword\n");
    vault
}

/// A session of `phases` with a request and so many steps each.
pub(super) fn long(phases: usize, steps: usize) -> String {
    let mut note = "---\ntype: session\nsession_id: long\ntitle: Long night\nstatus: active\nproject: ~/work/lamp\n\
        started: 2026-11-20T00:00:00Z\n---\n# Long night\n"
        .to_owned();
    for phase in 0..phases {
        note.push_str(&format!(
            "\n## Turn {phase} @coder\n\n*2026-11-20T00:00:00Z* ^p-{phase:03}\n\n> [!user]\n> \"Lamp {phase}\"\n\n^u-{phase:03}\n\n\
             **Tool calls:**\n"
        ));
        for step in 1..=steps {
            let number = phase * steps + step;
            let ends = if number.is_multiple_of(50) { "✗ exit 2" } else { "ok" };
            let time = format!("{:02}:{:02}:{:02}", number / 3_600, number / 60 % 60, number % 60);
            note.push_str(&format!("- `Bash echo lamp{number}` → {ends} ({time}) ^n-{number:05}\n"));
        }
        if phase == 1 {
            note.push_str("\n> [!decision] Count them\n> As [[#^n-00001]] shows.\n\n^d-001\n");
        }
    }
    note
}

/// A running server, ended with the value.
pub(super) struct Server {
    child: Child,
    pub(super) port: u16,
    pub(super) token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    head: String,
    pub(super) body: String,
}

impl Server {
    pub(super) fn start(home: &Path, vault: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cru"))
            .args(["view", "--no-open"])
            .env_clear()
            .current_dir(home)
            .envs([("HOME", home.as_os_str()), ("CRU_VAULT", vault.as_os_str()), ("PATH", "/bin:/usr/bin".as_ref())])
            .env("CRU_NOW", "2026-11-21T08:00:00Z")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "it ended");
            if line.starts_with("http://127.0.0.1:") {
                break line;
            }
        };
        // It is not kept from saying more.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let (host, token) = address.trim().split_once("/?token=").unwrap();
        let port = host.rsplit(':').next().unwrap().parse().unwrap();
        Self { child, port, token: token.to_owned() }
    }

    pub(super) fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn with(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{line} HTTP/1.1\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        self.raw(&format!("{request}Content-Length: {}\r\n\r\n{body}", body.len()))
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn cookie(&self) -> String {
        format!("cru-{}={}", self.port, self.token)
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.with(&format!("GET {path}"), &[("Host", &self.host()), ("Cookie", &self.cookie())], "")
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let origin = format!("http://{}", self.host());
        let headers = [("Host", &*self.host()), ("Cookie", &self.cookie()), ("Origin", &origin)];
        self.with(&format!("POST {path}"), &headers, &body.join("&"))
    }
}

/// The values of the hidden fields of the form that has this one.
fn form(page: &str, marks: &str) -> BTreeMap<String, String> {
    let at = page.find(marks).unwrap_or_else(|| panic!("no {marks} in {page}"));
    let begin = page[..at].rfind("<form").unwrap();
    let form = &page[begin..begin + page[begin..].find("</form>").unwrap()];
    let inputs = form.split("<input type=\"hidden\" name=\"").skip(1);
    let plain = |text: &str| {
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    };
    inputs
        .map(|input| {
            let (name, rest) = input.split_once("\" value=\"").unwrap();
            (name.to_owned(), plain(rest.split('"').next().unwrap()))
        })
        .collect()
}

const PAGES: &[&str] = &[
    "/",
    "/index.html?where=status%3Aactive",
    "/index-cost.html",
    "/projects.html",
    "/projects-tokens.html",
    "/decisions.html",
    "/files.html",
    "/lessons.html",
    "/workflows.html",
    "/cases.html",
    "/stats.html",
    "/inbox.html",
    "/search.html?q=tides",
    "/note/sessions/tides.html",
    "/note/lessons/lesson.html",
    "/output?note=sessions/tides.md&step=n-001",
];

#[test]
fn only_our_own_pages_are_answered() {
    let vault = vault();
    let server = Server::start(vault.home(), &vault.path("vault"));
    let (host, cookie, origin) = (server.host(), server.cookie(), format!("http://{}", server.host()));
    assert_eq!(server.get("/").status, 200);
    let first = server.with(&format!("GET /?token={}", server.token), &[("Host", &host)], "");
    assert_eq!(first.status, 303);
    assert!(
        first.head.contains("HttpOnly; SameSite=Strict") && first.head.contains("\r\nLocation: /\r\n"),
        "{first:?}"
    );
    let wrong = format!("cru-{}={}", server.port, "0".repeat(64));
    let other = format!("cru-1={}", server.token);
    for (what, line, headers) in [
        ("no cookie", "GET /", vec![("Host", &*host)]),
        ("a wrong cookie", "GET /", vec![("Host", &host), ("Cookie", &wrong)]),
        ("a cookie of another port", "GET /", vec![("Host", &host), ("Cookie", &other)]),
        ("a wrong token", "GET /?token=00", vec![("Host", &host)]),
        ("a token elsewhere", &format!("GET /stats.html?token={}", server.token), vec![("Host", &host)]),
        ("no host", "GET /", vec![("Cookie", &cookie)]),
        ("a host that leads here", "GET /", vec![("Host", "evil.example"), ("Cookie", &cookie)]),
        ("another port", "GET /", vec![("Host", "127.0.0.1:1"), ("Cookie", &cookie)]),
        ("two hosts", "GET /", vec![("Host", &host), ("Host", "evil.example"), ("Cookie", &cookie)]),
        ("another origin", "GET /", vec![("Host", &host), ("Cookie", &cookie), ("Origin", "http://evil.example")]),
        ("no origin that is known", "GET /", vec![("Host", &host), ("Cookie", &cookie), ("Origin", "null")]),
        ("another site", "GET /", vec![("Host", &host), ("Cookie", &cookie), ("Sec-Fetch-Site", "cross-site")]),
        ("a neighbour", "GET /", vec![("Host", &host), ("Cookie", &cookie), ("Sec-Fetch-Site", "same-site")]),
        ("a form from nowhere", "POST /inbox", vec![("Host", &host), ("Cookie", &cookie)]),
        (
            "a form of another",
            "POST /inbox",
            vec![("Host", &host), ("Cookie", &cookie), ("Origin", "http://evil.example")],
        ),
        ("a form without a cookie", "POST /inbox", vec![("Host", &host), ("Origin", &origin)]),
    ] {
        let answer = server.with(line, &headers, "");
        assert_eq!(answer.status, 403, "{what}: {answer:?}");
        assert!(!answer.body.contains("Tides") && !answer.head.contains("Set-Cookie"), "{what}: {answer:?}");
    }
    assert_eq!(server.with("DELETE /", &[("Host", &host), ("Cookie", &cookie)], "").status, 405);
    assert_eq!(server.raw("\r\n\r\nnothing of it\r\n\r\n").status, 400);
    assert_eq!(server.get("/").status, 200, "it goes on");
}

#[test]
fn no_path_leads_out_and_nothing_private_is_served() {
    let vault = vault();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(vault.path("outside.md"), vault.path("vault/sessions/link.md")).unwrap();
        std::os::unix::fs::symlink(vault.home(), vault.path("vault/out")).unwrap();
    }
    let server = Server::start(vault.home(), &vault.path("vault"));
    // A file that no session names has no page, though somebody asks for it by its name.
    let named = format!("/file/etc-passwd-{}.html?name=/etc/passwd", &blake3::hash(b"/etc/passwd").to_hex()[..8]);
    for path in [
        &named,
        "/note/../outside.html",
        "/note/..%2Foutside.html",
        "/note/%2e%2e/outside.html",
        "/note/sessions/../../outside.html",
        "/note/sessions/%2e%2e%2f%2e%2e%2foutside.html",
        "/note/sessions/..%5c..%5coutside.html",
        "/note//etc/passwd.html",
        "/note/sessions/link.html",
        "/note/out/outside.html",
        "/note/.cru/config.html",
        "/note/notes.txt",
        "/notes.txt",
        "/../../outside.md",
        "/vault/sessions/tides.md",
        "/note/sessions/kept.html",
        "/output?note=sessions/kept.md&step=n-001",
        "/output?note=../outside.md&step=n-001",
        "/file/etc-passwd-00000000.html",
        "/project/secretproject-00000000.html",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(!answer.body.contains("Outsideword") && !answer.body.contains("root:"), "{path}");
    }
    for path in PAGES.iter().copied().chain(["/search.html?q=Secretword", "/index.html?where=title~secretword"]) {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let told = answer
            .body
            .replace("where=title~secretword", "")
            .replace("value=\"title~secretword\"", "")
            .replace("<q>Secretword</q>", "");
        for word in ["Secretword", "secretword", "secretproject", "Outsideword", "Textword"] {
            assert!(!told.contains(word), "{path} tells {word}: {told}");
        }
    }
}

#[test]
fn nothing_of_a_note_runs() {
    let vault = vault();
    let server = Server::start(vault.home(), &vault.path("vault"));
    let mut told = 0;
    for path in PAGES {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let policy = answer.head.lines().find(|line| line.starts_with("Content-Security-Policy")).unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert!(answer.head.contains("nosniff") && answer.head.contains("no-store"), "{path}");
        if answer.head.contains("Content-Type: text/plain") {
            continue;
        }
        told += answer.body.matches("alert(1)").count();
        assert!(!answer.body.contains("<script>") && !answer.body.contains("<img"), "{path}: {}", answer.body);
        assert!(!answer.body.contains("href=\"javascript") && !answer.body.contains(" style=\""), "{path}");
        assert!(!answer.body.contains("><b>{{") && !answer.body.contains(">49<"), "{path}: {}", answer.body);
        assert!(!answer.body.contains(" onerror=alert(2)>"), "{path}: {}", answer.body);
    }
    assert!(told > 8, "the words are there, as words: {told}");
    let search = server.get("/search.html?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    assert!(!search.body.contains("<script>"), "{}", search.body);
}

#[test]
fn what_is_decided_is_written_as_the_command_writes_it() {
    let (vault, twin) = (vault(), vault());
    let server = Server::start(vault.home(), &vault.path("vault"));
    let lesson = "vault/lessons/lesson.md";
    let before = vault.read(lesson);
    let inbox = server.get("/inbox.html").body;
    assert!(inbox.contains("tides#^u-01") && inbox.contains("of a week"), "the cited words stand beside it: {inbox}");
    let item = inbox.split("<article").find(|item| item.contains("lessons/lesson.html")).unwrap();
    let shown = form(item, "value=\"accept\"");
    let (id, seen) = (&*shown["id"], &*shown["seen"]);
    let at = inbox.find(&format!("id=\"{id}\"")).unwrap();
    assert!(inbox[at..].contains("Keep it"));

    // Somebody changed it since it was shown.
    vault.put(lesson, &before.replace("As was said.", "As I say it."));
    let changed = vault.read(lesson);
    let conflict = server.post("/inbox", &[("id", id), ("seen", seen), ("mark", "accept")]);
    assert_eq!(conflict.status, 409, "{conflict:?}");
    assert!(conflict.body.contains("has changed since it was shown") && conflict.body.contains("As I say it."));
    assert_eq!(vault.read(lesson), changed, "nothing was written");
    assert_eq!(server.post("/inbox", &[("id", "r-00000000"), ("seen", seen), ("mark", "accept")]).status, 409);
    assert_eq!(server.post("/inbox", &[("id", id), ("seen", seen), ("mark", "delete")]).status, 404);
    assert_eq!(vault.read(lesson), changed);

    vault.put(lesson, &before);
    let answer = server.post("/inbox", &[("id", id), ("seen", seen), ("mark", "accept")]);
    assert_eq!(answer.status, 303, "{answer:?}");
    let accepted = twin.run_in("vault", &["review", "accept", id], "");
    assert!(accepted.status.success(), "{accepted:?}");
    assert_eq!(vault.read(lesson), twin.read(lesson));
    assert_ne!(vault.read(lesson), before);
}

#[test]
fn a_task_is_ticked_once_and_only_as_it_was_shown() {
    let (vault, twin) = (vault(), vault());
    let server = Server::start(vault.home(), &vault.path("vault"));
    let note = "vault/sessions/tides.md";
    let page = server.get("/note/sessions/tides.html").body;
    let shown = form(&page, "class=\"tick\"");
    let tick = |seen: &str| server.post("/task", &[("note", &shown["note"]), ("task", &shown["task"]), ("seen", seen)]);
    let before = vault.read(note);
    assert_eq!(tick("other words").status, 409);
    assert_eq!(vault.read(note), before);
    let answer = tick(&shown["seen"]);
    assert_eq!(answer.status, 303, "{answer:?}");
    let done = twin.run_in("vault", &["log", "--session", "tides", "task", "done", &shown["task"]], "");
    assert!(done.status.success(), "{done:?}");
    // The cursor names the journal, which each has for itself.
    let own =
        |text: String| text.lines().filter(|line| !line.starts_with("cru_cursor:")).collect::<Vec<_>>().join("\n");
    assert_eq!(own(vault.read(note)), own(twin.read(note)));
    assert!(vault.read(note).contains("\"status\":\"completed\""));
    assert_eq!(tick(&shown["seen"]).status, 409, "it is done already");
    let kept = server.post("/task", &[("note", "sessions/kept.md"), ("task", "T-1"), ("seen", "x")]);
    assert_eq!(kept.status, 404);
}

#[test]
fn open_pages_are_told_of_each_change() {
    let vault = vault();
    let server = Server::start(vault.home(), &vault.path("vault"));
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
    let request = format!("GET /changes HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n\r\n", server.host(), server.cookie());
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == ": open"));
    let grown = vault.run_in("vault", &["log", "--session", "tides", "note", "Freshwords"], "");
    assert!(grown.status.success(), "{grown:?}");
    // A watch that began a moment later sees the next change.
    let told = std::thread::scope(|scope| {
        scope.spawn(|| lines.any(|line| line.starts_with("data: ")));
        scope.spawn(|| vault.run_in("vault", &["log", "--session", "tides", "note", "Freshwords again"], "")).join()
    });
    assert!(told.unwrap().status.success());
    assert!(server.get("/note/sessions/tides.html").body.contains("Freshwords again"));
}

/// Files of a folder, by their paths in it.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten();
    let paths: Vec<PathBuf> = walk.map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect();
    let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// Links of pages that lead to no file, or to no place in it.
pub(super) fn dead_links(files: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut dead = BTreeSet::new();
    for (name, page) in files.iter().filter(|(name, _)| name.ends_with(".html")) {
        let attributes = ["href=\"", "src=\"", "action=\""].into_iter().flat_map(|mark| page.split(mark).skip(1));
        for link in attributes.map(|rest| rest.split('"').next().unwrap().replace("&amp;", "&")) {
            if ["http://", "https://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((&link, ""));
            let path = cru::base::text::percent_decoded(path).unwrap();
            let mut parts: Vec<&str> = name.split('/').collect();
            parts.pop();
            for part in path.split('/').filter(|part| !part.is_empty()) {
                match part {
                    ".." => _ = parts.pop(),
                    part => parts.push(part),
                }
            }
            let target = if path.is_empty() { name.clone() } else { parts.join("/") };
            let place = cru::base::text::percent_decoded(place).unwrap();
            let is_there = |page: &String| place.is_empty() || page.contains(&format!("id=\"{place}\""));
            if !files.get(&target).is_some_and(is_there) {
                dead.insert(format!("{name}: {link}"));
            }
        }
    }
    dead
}

#[test]
fn pages_as_files_link_to_each_other_and_to_nothing_else() {
    let vault = vault();
    let site = vault.path("site");
    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    let first = files(&site);
    assert_eq!(dead_links(&first), BTreeSet::new());
    assert!(first.contains_key("note/sessions/tides.html") && !first.contains_key("note/sessions/kept.html"));
    assert!(first.values().all(|page| !page.contains("Secretword") && !page.contains("method=\"post\"")));
    assert!(first["search-index.js"].contains("of a week"));

    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    assert_eq!(files(&site), first, "the same again");
    // What is kept from now on goes; what somebody changed stays and is said.
    let tides = vault.read("vault/sessions/tides.md");
    vault.put("vault/sessions/tides.md", &tides.replacen("status:", "export: false\nstatus:", 1));
    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    assert!(!site.join("note/sessions/tides.html").exists());
    vault.put("site/lessons.html", "mine");
    let refused = vault.run_in("vault", &["view", "--html", site.to_str().unwrap()], "");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(vault.read("site/lessons.html"), "mine");
    let other = vault.run_in("vault", &["view", "--html", vault.path("work").to_str().unwrap()], "");
    assert_eq!(other.status.code(), Some(2), "a folder of somebody else: {other:?}");
}

/// Names hold what they hold on any system, and what a step found counts as much as how its call ended.
#[test]
fn projects_of_every_system_have_their_sessions() {
    let vault = vault();
    let note = |project: &str, more: &str| {
        format!(
            "---\ntype: session\nsession_id: ID\ntitle: Build of ID\nstatus: completed\nstarted: 2026-11-20T09:00:00Z\n\
             project: '{project}'\n{more}---\n# Build of ID\n\n## Build\n\n*2026-11-20T09:00:00Z* ^p-01\n\n**Tool calls:**\n\
             - `Bash cargo build` → `E0999 of the linker` (09:00:10) ^n-001\n    - check: failed\n\n\
             > [!error] The linker is missing\n> Nothing was linked.\n"
        )
    };
    vault.put("vault/sessions/far.md", &note(r"C:\work\tide", "").replace("ID", "far"));
    let part = note(r"D:\only\part", "parent: \"[[far]]\"\n");
    vault.put("vault/sessions/part.md", &part.replace("ID", "part"));
    let site = vault.path("site");
    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    let all = files(&site);
    assert_eq!(dead_links(&all), BTreeSet::new());
    let page = |text: &str| all.iter().find(|(name, page)| name.starts_with("project/") && page.contains(text));
    assert!(page("Build of far").is_some() && page("Build of part").is_some());
    assert!(all["note/sessions/far.html"].contains("<li class=\"failed\" id=\"n-001\">"));
    let found = vault.ok(&["search", "linked", "-f", "json"]);
    assert!(found.contains("\"block\": \"n-001\""), "{found}");
}

/// A long session comes in parts; each link to something in it asks for the part that has it.
#[test]
fn parts_of_a_long_session_are_asked_for() {
    let vault = vault();
    vault.put("vault/sessions/long.md", &long(10, 100));
    let server = Server::start(vault.home(), &vault.path("vault"));
    let get = |query: &str| server.get(&format!("/note/sessions/long.html{query}")).body;
    let has = |page: &str, id: &str| page.contains(&format!("id=\"{id}\""));
    let first = get("");
    assert_eq!(first.matches("<details class=\"part\"").count(), 10);
    assert!(has(&first, "u-000") && !has(&first, "n-00001") && has(&first, "n-01000"), "requests, and the last part");
    assert!(first.contains("100 steps, <span class=\"bad\">2 failed</span>") && first.contains("1 decision"));
    assert!(first.contains("href=\"?at=part-1#part-1\"") && first.contains("href=\"?at=n-00050#n-00050\""));
    for (query, id) in [("?at=part-1", "n-00001"), ("?at=n-00550", "n-00501"), ("?at=d-001", "n-00150")] {
        let page = get(query);
        assert!(has(&page, id) && page.matches("class=\"part\" id").count() == 10, "{query}");
        assert_eq!(page.matches("<li class=").count(), 200, "{query}");
    }
    assert!(get("?at=d-001").contains("href=\"?at=n-00001#n-00001\""), "within the page too");
    let found = server.get("/search.html?q=lamp777").body;
    assert!(found.contains("note/sessions/long.html?at=n-00777#n-00777"), "{found}");

    let site = vault.path("site");
    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    let all = files(&site);
    assert_eq!(dead_links(&all), BTreeSet::new());
    let page = &all["note/sessions/long.html"];
    assert!(has(page, "n-00001") && page.matches("<details class=\"part\"").count() == 10 && !page.contains("?at="));
    assert!(page.contains("<code>cru show --full long#n-00001</code>"), "where the outputs are");
    vault.put("vault/sessions/short.md", &long(1, 100));
    assert!(!server.get("/note/sessions/short.html").body.contains("class=\"part\""));
}

#[test]
fn lists_have_orders_and_what_they_name_has_a_page() {
    let vault = vault();
    let session = |id: &str, active: u32, tokens: u32| {
        format!(
            "---\ntype: session\nsession_id: {id}\ntitle: Work {id}\nstatus: completed\nproject: ~/work/{id}\ntokens_used: {tokens}\n\
             started: 2026-11-0{active}T09:00:00Z\n---\n# Work {id}\n\n> [!summary]\n> Time: 3 min active\n\n\
             **Tasks:**\n- [ ] Mend the pump ^task-6\n\nWords that are named.\n\n^x-1\n\n\
             ## Work @coder\n\n*2026-11-0{active}T09:00:00Z* ^p-01\n\n\
             > [!decision] Use {id}\n> It is there.\n\n\
             **Tool calls:**\n- `Bash cargo test` → ok (09:00:01) ^n-001\n    - check: passed\n\
             - `Write src/{id}.rs` → ok (09:0{active}:00) ^n-002\n    - writes: `src/{id}.rs`\n"
        )
    };
    vault.put("vault/sessions/one.md", &session("one", 3, 70));
    vault.put("vault/sessions/two.md", &session("two", 1, 90));
    vault.put("vault/sessions/one (conflict 2026).md", &session("one", 3, 70).replace("It is there.", "Otherwise."));
    let server = Server::start(vault.home(), &vault.path("vault"));
    let order = |path: &str| {
        let page = server.get(path).body;
        let rows = page.split("<section aria-labelledby=\"newest\"").nth(1).unwrap_or(&page).to_owned();
        let at = |words: &str| rows.find(words).unwrap_or_else(|| panic!("no {words} in {page}"));
        assert!(page.contains("aria-current=\"true\""), "{path}");
        at("/one") < at("/two")
    };
    assert!(order("/index.html") && order("/index-active.html") && !order("/index-tokens.html"));
    assert!(order("/projects.html") && !order("/projects-tokens.html"));
    assert_eq!(server.get("/index-nothing.html").status, 404);
    let filtered = server.get("/index.html?where=status%3Acompleted").body;
    assert!(filtered.contains("href=\"index-cost.html?where=status%3Acompleted\""), "{filtered}");

    let decisions = server.get("/decisions.html").body;
    assert!(decisions.contains("Use one") && decisions.contains("sessions/two.html?at=p-01#p-01"), "{decisions}");

    let page = server.get("/note/sessions/two.html").body;
    for id in ["task-6", "x-1"] {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}: {page}");
    }
    assert!(!page.contains("<dt>Active</dt>") && page.contains("Time: 3 min active"), "one active time: {page}");
    let file = page.split("<details class=\"changed\">").nth(1).unwrap().split("href=\"../..").nth(1).unwrap();
    let file = server.get(file.split('"').next().unwrap());
    assert!(file.status == 200 && file.body.contains("Work two"), "{file:?}");

    // What was written after the last check, and what a copy has otherwise.
    let inbox = server.get("/inbox.html").body;
    let item =
        |words: &str| inbox.split("<article").find(|item| item.contains(words)).unwrap_or_else(|| panic!("{inbox}"));
    assert!(item("Work two, 1 write").contains("cargo test") && item("Work two, 1 write").contains("src/two.rs"));
    assert!(item("has a copy").contains("Otherwise."));

    let site = vault.path("site");
    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    let all = files(&site);
    assert_eq!(dead_links(&all), BTreeSet::new());
    assert!(all.contains_key("index-cost.html") && all["note/sessions/two.html"].contains("href=\"../../file/"));
}

/// What is kept from one question to the next is never older than the notes.
#[test]
fn what_is_kept_between_questions_follows_the_notes() {
    let vault = vault();
    let settled = |path: &str| {
        let file = std::fs::File::options().write(true).open(vault.path(path)).unwrap();
        // Long before the time of the server.
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000)).unwrap();
    };
    let notes = ["vault/sessions/tides.md", "vault/sessions/kept.md", "vault/lessons/lesson.md"];
    for path in &notes {
        settled(path);
    }
    let server = Server::start(vault.home(), &vault.path("vault"));
    let found = |words: &str| server.get(&format!("/search.html?q={words}")).body.contains("class=\"row\"");
    assert!(found("datum") && found("datum") && !found("Freshword") && !found("Secretword"));
    let tides = vault.read(notes[0]);
    vault.put(notes[0], &tides.replace("It goes on from", "Freshword goes on from"));
    assert!(found("Freshword"));
    settled(notes[0]);
    assert!(found("Freshword") && found("Freshword"));
    vault.put(notes[0], &tides.replacen("status:", "export: false\nstatus:", 1));
    settled(notes[0]);
    assert!(!found("Freshword") && !found("datum"), "it is kept by now");
    vault.put(notes[0], &tides);
    assert!(found("datum"));
    vault.put("vault/.cru/config.toml", "[vault]\nid = \"v\"\nexclude = [\"sessions\"]\n");
    assert!(!found("datum"), "the configuration leaves it out");
}
