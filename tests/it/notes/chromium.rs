//! `cru view` in a real browser, by the protocol of its developer tools: search as one types, live growth, the inbox, the keyboard.
//!
//! Nothing is waited for by the clock: the page says when it has what is asked for.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::view::{Server, vault};
use crate::small_vault::SmallVault;

/// A tab of a browser, which ends with the value.
struct Tab {
    child: Child,
    socket: TcpStream,
    session: Option<String>,
    count: u64,
    /// What the console complained about.
    faults: Vec<Value>,
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tab {
    #[expect(clippy::disallowed_methods, reason = "which browser is meant")]
    fn open(profile: &Path) -> Self {
        let mut command = Command::new(std::env::var_os("CRU_CHROMIUM").unwrap_or_else(|| "chromium".into()));
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]);
        command.args(["--remote-debugging-port=0", "--window-size=1280,900", "about:blank"]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "the browser ended");
            if let Some((_, address)) = line.split_once("ws://") {
                break address.trim().to_owned();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let (host, path) = address.split_once('/').unwrap();
        let mut socket = TcpStream::connect(host).unwrap();
        socket.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
        let hello = format!(
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        socket.write_all(hello.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let mut tab = Self { child, socket, session: None, count: 0, faults: Vec::new() };
        let target = tab.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = tab.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        tab.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.asked(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The answer, or the browser's error.
    fn asked(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        self.count += 1;
        let mut request = json!({ "id": self.count, "method": method });
        request["params"] = parameters;
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        let text = request.to_string();
        // One frame of text; the mask is four zeros.
        let mut frame = vec![0x81, 0xff];
        frame.extend((text.len() as u64).to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.socket.write_all(&frame).unwrap();
        loop {
            let mut answer = self.message();
            if answer["id"] == self.count {
                let error = answer["error"].take();
                return if error.is_null() { Ok(answer["result"].take()) } else { Err(error) };
            }
            if matches!(answer["method"].as_str(), Some("Log.entryAdded" | "Runtime.exceptionThrown")) {
                self.faults.push(answer["params"].take());
            }
        }
    }

    fn message(&mut self) -> Value {
        let mut text = Vec::new();
        loop {
            let mut head = [0; 2];
            self.socket.read_exact(&mut head).unwrap();
            let mut size = [0; 8];
            let length = match head[1] & 0x7f {
                126 => {
                    self.socket.read_exact(&mut size[6..]).unwrap();
                    u64::from_be_bytes(size)
                }
                127 => {
                    self.socket.read_exact(&mut size).unwrap();
                    u64::from_be_bytes(size)
                }
                short => u64::from(short),
            };
            let mut part = vec![0; usize::try_from(length).unwrap()];
            self.socket.read_exact(&mut part).unwrap();
            text.extend(part);
            if head[0] & 0x80 != 0 {
                return serde_json::from_slice(&text).unwrap();
            }
        }
    }

    /// The value of an expression; that of a promise once it is kept.
    fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].take()
    }

    /// Waits until an expression holds on the page that is there then; how long a page takes to load is not counted.
    fn until(&mut self, what: &str) {
        loop {
            let asked = format!(
                "new Promise((kept) => {{ let left = 200; const look = () => {{ \
                 const whole = document.readyState === 'complete'; if (whole && ({what})) kept(true); \
                 else if (!whole || left-- > 0) setTimeout(look, 20); else kept(false); }}; look(); }})"
            );
            let asked = json!({ "expression": asked, "awaitPromise": true, "returnByValue": true });
            // A page that goes away takes the promise with it; then the next page is asked.
            let answer = self.asked("Runtime.evaluate", asked).ok();
            match answer {
                Some(answer) if answer["result"]["value"] == true => return,
                Some(answer) if answer["result"]["value"] == false => {
                    let page = self.value("document.documentElement.innerText");
                    panic!("never: {what}\n{page}");
                }
                _ => {}
            }
        }
    }

    fn go(&mut self, address: &str, until: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        self.until(until);
    }

    /// A screen of that width, for somebody who wants light or dark pages, and perhaps no motion.
    fn look(&mut self, width: u32, dark: bool, is_still: bool) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        let motion =
            json!({ "name": "prefers-reduced-motion", "value": if is_still { "reduce" } else { "no-preference" } });
        self.call("Emulation.setEmulatedMedia", json!({ "media": "", "features": [scheme, motion] }));
    }

    /// Presses Tab until what has the focus is `wanted`, as somebody without a mouse does.
    fn tab_to(&mut self, wanted: &str) {
        for _ in 0..200 {
            self.press("Tab");
            if self.value(&format!("document.activeElement.matches({wanted:?})")) == true {
                let outline = self.value("getComputedStyle(document.activeElement).outlineStyle");
                assert_ne!(outline, "none", "{wanted} shows that it has the focus");
                return;
            }
        }
        panic!("no Tab leads to {wanted}");
    }

    fn press(&mut self, key: &str) {
        let (text, code) = match key {
            "Enter" => ("\r", 13),
            "ArrowDown" => ("", 40),
            "Tab" => ("", 9),
            "Escape" => ("", 27),
            " " => (" ", 32),
            key => (key, 0),
        };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let down = json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code }));
    }
}

#[test]
#[ignore = "needs Chromium (CRU_CHROMIUM)"]
fn browser_view_is_used_by_keyboard_and_follows_the_vault() {
    let vault = vault();
    let server = Server::start(vault.home(), &vault.path("vault"));
    let root = format!("http://127.0.0.1:{}", server.port);
    let mut tab = Tab::open(&vault.path("profile"));
    tab.go(&format!("{root}/?token={}", server.token), "document.querySelector('.row a.title')");
    assert_eq!(tab.value("location.search"), "", "the secret is not in the address");
    assert_eq!(tab.value("document.cookie"), "", "and no script reads it");

    // From the keyboard: to a row, and into it.
    tab.press("j");
    tab.until("document.activeElement.matches('.row.at a.title')");
    tab.press("Enter");
    tab.until("location.pathname === '/note/sessions/tides.html' && document.querySelector('.meta')");

    // What is written while it is open appears, and what is open stays open.
    tab.value("document.querySelectorAll('details').forEach((it) => { it.open = true; })");
    tab.until("performance.getEntriesByType('resource').some((it) => it.name.endsWith('/waiting'))");
    let grown = || vault.run_in("vault", &["log", "--session", "tides", "note", "Freshwords"], "");
    assert!(grown().status.success());
    tab.value("window.before = document.querySelector('.meta')");
    assert!(vault.run_in("vault", &["log", "--session", "tides", "note", "Laterwords"], "").status.success());
    tab.until("document.getElementById('main').innerText.includes('Laterwords')");
    assert_eq!(tab.value("window.before === document.querySelector('.meta')"), true, "the page was not loaded again");
    assert_eq!(tab.value("[...document.querySelectorAll('details')].every((it) => it.open)"), true);
    // What a step said, on demand.
    tab.value("document.querySelector('a.more').click()");
    tab.until("document.querySelector('pre.whole')");

    // Search as one types.
    tab.press("/");
    tab.until("document.activeElement.matches('.find input')");
    tab.call("Input.insertText", json!({ "text": "fresh" }));
    tab.until("document.querySelector('.hits .row mark')");
    assert_eq!(tab.value("location.pathname + location.search"), "/search.html?q=fresh");
    tab.press("ArrowDown");
    tab.until("document.activeElement.matches('.hits .row.at a.title')");

    // A decision, and the bytes of its note.
    tab.go(&format!("{root}/inbox.html"), "document.querySelectorAll('.item').length > 1");
    let items = tab.value("document.querySelectorAll('.item').length").as_u64().unwrap();
    let click = "[...document.querySelectorAll('.item')].find((it) => it.querySelector('a.title').href.includes('lessons/lesson')).querySelector('.accept').click()";
    tab.value(click);
    tab.until(&format!(
        "location.pathname === '/inbox.html' && document.querySelectorAll('.item').length === {}",
        items - 1
    ));
    assert!(
        vault.read("vault/lessons/lesson.md").contains("status: accepted"),
        "{}",
        vault.read("vault/lessons/lesson.md")
    );

    // Nothing that a note says ran or was loaded, and no policy was broken.
    assert!(tab.faults.is_empty(), "{:?}", tab.faults);
}

#[test]
#[ignore = "needs Chromium (CRU_CHROMIUM)"]
fn browser_search_of_pages_as_files() {
    let vault = vault();
    let site = vault.path("site");
    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    let mut tab = Tab::open(&vault.path("profile"));
    tab.go(&format!("file://{}/search.html?q=week", site.display()), "document.querySelector('.hits .row a.title')");
    let paper = tab.value("getComputedStyle(document.querySelector('.bar')).position");
    assert_eq!(paper, "sticky", "the style is there");
    tab.value("document.querySelector('.hits a.title').click()");
    tab.until("location.pathname.includes('/note/') && document.querySelector('h1')");
    assert!(tab.faults.is_empty(), "{:?}", tab.faults);
}

#[test]
#[ignore = "needs Chromium (CRU_CHROMIUM)"]
fn browser_pages_need_no_mouse_and_no_motion() {
    let vault = vault();
    let running = super::view::long(1, 3).replace("2026-11-20T00:00:00Z", "2026-11-21T07:59:00Z");
    vault.put("vault/sessions/long.md", &running.replace("(00:00:", "(07:59:"));
    let server = Server::start(vault.home(), &vault.path("vault"));
    let root = format!("http://127.0.0.1:{}", server.port);
    let mut tab = Tab::open(&vault.path("profile"));
    tab.look(1280, false, false);
    tab.go(&format!("{root}/?token={}", server.token), "document.querySelector('.row a.title')");
    let pulse = "getComputedStyle(document.querySelector('.running .state.active'), '::before').animationName";
    assert_eq!(tab.value(pulse), "pulse");
    tab.look(1280, false, true);
    assert_eq!(tab.value(pulse), "none", "no motion where none is wanted");

    tab.tab_to(".skip");
    tab.press("Enter");
    tab.until("location.hash === '#main'");
    // The filter and back; a row; into it and to what is folded there.
    tab.press("f");
    tab.until("document.activeElement.id === 'filter'");
    tab.press("Escape");
    tab.until("document.activeElement === document.body");
    tab.tab_to("main .row a.title[href*='tides']");
    tab.press("Enter");
    tab.until("location.pathname === '/note/sessions/tides.html' && document.querySelector('.meta')");
    tab.tab_to("button.tick");
    tab.tab_to(".changed summary");
    tab.press(" ");
    tab.until("document.querySelector('.changed').open");
    tab.tab_to(".changed a");
    tab.press("Enter");
    tab.until("location.pathname.startsWith('/file/') && document.getElementById('who')");

    // A decision.
    tab.go(&format!("{root}/inbox.html"), "document.querySelectorAll('.item').length > 1");
    tab.tab_to(".item:has(a.title[href*='lessons/lesson']) .accept");
    tab.press("Enter");
    tab.until("!document.querySelector(\".item a.title[href*='lessons/lesson']\")");
    assert!(vault.read("vault/lessons/lesson.md").contains("status: accepted"));
    assert!(tab.faults.is_empty(), "{:?}", tab.faults);
}

/// As many steps as a long night of an agent has: what the browser gets at first does not grow with them.
#[test]
#[ignore = "needs Chromium (CRU_CHROMIUM)"]
fn browser_long_sessions_come_in_parts() {
    let vault = vault();
    vault.put("vault/sessions/long.md", &super::view::long(30, 100));
    let server = Server::start(vault.home(), &vault.path("vault"));
    let page = format!("http://127.0.0.1:{}/note/sessions/long.html", server.port);
    let mut tab = Tab::open(&vault.path("profile"));
    tab.go(&format!("http://127.0.0.1:{}/?token={}", server.port, server.token), "document.querySelector('.row')");
    tab.go(&page, "document.getElementById('n-03000')");
    let nodes = tab.value("document.querySelectorAll('*').length").as_u64().unwrap();
    assert!(nodes < 3_000, "{nodes} elements");

    // A part is filled when it is opened, and stays so when the page is told of a change.
    assert_eq!(tab.value("document.getElementById('n-00150')"), Value::Null);
    tab.value("document.querySelectorAll('details.part > summary')[1].click()");
    tab.until("document.getElementById('n-00150')?.checkVisibility()");
    tab.until("performance.getEntriesByType('resource').some((it) => it.name.endsWith('/waiting'))");
    let grown = |words: &str| vault.run_in("vault", &["log", "--session", "long", "note", words], "");
    assert!(grown("Freshwords").status.success());
    assert!(grown("Laterwords").status.success());
    tab.until("document.getElementById('main').innerText.includes('Laterwords')");
    assert_eq!(tab.value("document.getElementById('n-00150')?.checkVisibility()"), true);

    // A link to a step opens the part that has it, also one that does not name the part.
    for address in [format!("{page}?at=n-01500#n-01500"), format!("{page}#n-02100")] {
        let id = address.rsplit('#').next().unwrap().to_owned();
        tab.go("about:blank", "true");
        tab.go(&address, &format!("document.getElementById('{id}')?.checkVisibility()"));
        let top = tab.value(&format!("document.getElementById('{id}').getBoundingClientRect().top"));
        assert!(top.as_f64().is_some_and(|top| (0.0..900.0).contains(&top)), "{address}: {top}");
    }

    // As a file it has all of it, and prints it.
    let site = vault.path("site");
    vault.ok(&["view", "--html", site.to_str().unwrap()]);
    let file = format!("file://{}/note/sessions/long.html", site.display());
    tab.go(&file, "document.getElementById('n-00150')");
    assert_eq!(tab.value("document.getElementById('n-00150').checkVisibility()"), false);
    tab.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let height = tab.value("document.getElementById('n-00150').getBoundingClientRect().height");
    assert!(height.as_f64().is_some_and(|height| height > 0.0), "{height}");
    tab.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    tab.go("about:blank", "true");
    tab.go(&format!("{file}#n-00150"), "document.getElementById('n-00150')?.checkVisibility()");
    assert!(tab.faults.is_empty(), "{:?}", tab.faults);
}

/// `CRU_AXE` is the file `axe.min.js` of the package `axe-core`.
#[test]
#[ignore = "needs Chromium (CRU_CHROMIUM) and axe-core (CRU_AXE)"]
#[expect(clippy::disallowed_methods, reason = "which file is meant")]
fn axe_finds_nothing_on_any_page() {
    let axe = std::fs::read_to_string(std::env::var_os("CRU_AXE").expect("CRU_AXE names axe.min.js")).unwrap();
    let vault = SmallVault::new("");
    super::browser::copy(Path::new("vault-example"), &vault.path("vault"));
    let server = Server::start(vault.home(), &vault.path("vault"));
    let root = format!("http://127.0.0.1:{}", server.port);
    let mut tab = Tab::open(&vault.path("profile"));
    tab.go(&format!("{root}/?token={}", server.token), "document.querySelector('.row a.title')");
    let names = ["index", "inbox", "projects", "decisions", "files", "lessons", "workflows", "cases", "stats"];
    let mut pages: Vec<String> = names.map(|name| format!("{root}/{name}.html")).into();
    pages.push(format!("{root}/search.html?q=tide"));
    pages.push(format!("{root}/note/sessions/2026-11-04-tide-forecast-endpoint.html"));
    for list in ["projects", "files"] {
        tab.go(&format!("{root}/{list}.html"), "document.querySelector('td a.title')");
        pages.push(tab.value("document.querySelector('td a.title').href").as_str().unwrap().to_owned());
    }
    let mut looked_at = 0;
    for page in &pages {
        for (width, dark) in [(1280, false), (1280, true), (375, false), (375, true)] {
            tab.look(width, dark, true);
            tab.go(page, "document.querySelector('main h1')");
            tab.value(&format!("{axe}; true"));
            let run = "axe.run(document).then((found) => [found.passes.length, \
                found.violations.map((it) => it.id + ': ' + it.nodes.map((node) => node.html).join(' '))])";
            let found = tab.value(run);
            assert_eq!(found[1], json!([]), "{page} at {width}, dark: {dark}");
            assert!(found[0].as_u64().is_some_and(|rules| rules > 10), "{page}: {found}");
            looked_at += 1;
        }
    }
    assert_eq!(looked_at, pages.len() * 4);
}
