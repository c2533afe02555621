//! The server: who may ask, and what answers.
//!
//! It listens on the loopback address alone. A page of another origin cannot ask (`Host`, `Origin`, `Sec-Fetch-Site`), and another
//! program of this machine does not know the secret, which the first address has and a cookie afterwards.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::act;
use super::http::{HttpAnswer, HttpRequest};
use super::live::Changes;
use super::site::{ICON, SCRIPT, Site, stylesheet};
use crate::base::{Error, Result};
use crate::commands::Context;

/// How long a connection may take to say what it wants, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(10);

struct ViewServer<'a> {
    site: Site<'a>,
    changes: Changes,
    secret: String,
    port: u16,
    connections: AtomicUsize,
}

/// Serves until the process is ended. `open`: a browser is started with the address.
pub(super) fn run(port: u16, open: bool, cx: &Context<'_>) -> Result<()> {
    let failed = |error| Error::io("listen on", format!("127.0.0.1:{port}"), error);
    let site = Site::of(cx, true)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    let server =
        ViewServer { site, changes: Changes::default(), secret: secret()?, port, connections: AtomicUsize::default() };
    let address = format!("http://127.0.0.1:{port}/?token={}", server.secret);
    std::thread::scope(|scope| {
        let server = &server;
        scope.spawn(|| {
            if let Err(error) = server.changes.watch(cx) {
                cx.ui.warn(&error.with_causes());
            }
        });
        cx.ui.note(&format!("{address}\nIt is served to this machine alone; Ctrl-C ends it."));
        if open && let Err(error) = cx.ui.open(&address) {
            cx.ui.warn(&format!("no browser was started ({error}): open the address in one"));
        }
        for stream in listener.incoming() {
            match stream {
                Ok(stream) => drop(scope.spawn(move || server.connected(stream))),
                // A connection that ended before it was taken, or too many open files: the next may work.
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    });
    Ok(())
}

/// What nobody guesses.
fn secret() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| Error::internal("make a secret", error.to_string()))?;
    Ok(blake3::Hash::from_bytes(bytes).to_hex().to_string())
}

impl ViewServer<'_> {
    fn connected(&self, stream: TcpStream) {
        // A browser opens six, and one for each page that follows its note.
        if self.connections.fetch_add(1, Ordering::Relaxed) < 64 {
            // A peer that has gone needs no answer.
            let _ = self.talk(stream);
        }
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    fn talk(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Some(request) = HttpRequest::read(&mut stream)? else {
            return refused(400, "this is no request that is understood").write(&mut stream, true);
        };
        let body = request.method != "HEAD";
        if let Err(answer) = self.admitted(&request) {
            return answer.write(&mut stream, body);
        }
        if request.path == "/changes" {
            return self.changes.tell(&mut stream);
        }
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&request)));
        let answer = answer.unwrap_or_else(|_| Ok(refused(500, "this page failed inside of cru; others go on")));
        let answer = answer.unwrap_or_else(|error| self.told(&error));
        answer.write(&mut stream, body)?;
        stream.flush()
    }

    /// Whether a request comes from a page of ours; else its answer.
    fn admitted(&self, request: &HttpRequest) -> Result<(), HttpAnswer> {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let Some(host) = request.header("host").filter(|host| hosts.iter().any(|own| own == host)) else {
            return Err(refused(403, "another host"));
        };
        let is_own = |origin: &str| origin == format!("http://{host}");
        let is_post = request.method == "POST";
        if (is_post || request.has("origin")) && !request.header("origin").is_some_and(is_own) {
            return Err(refused(403, "another origin"));
        }
        let site = request.header("sec-fetch-site");
        if request.has("sec-fetch-site") && !matches!(site, Some("same-origin" | "none")) {
            return Err(refused(403, "another site"));
        }
        if !matches!(&*request.method, "GET" | "HEAD" | "POST") {
            return Err(refused(405, "GET and POST alone"));
        }
        let name = format!("cru-{}", self.port);
        let cookies = request.header("cookie").unwrap_or_default().split(';');
        let known = cookies.filter_map(|it| it.trim().split_once('=')).find(|(own, _)| *own == name);
        if known.is_some_and(|(_, value)| self.is_secret(value)) {
            return Ok(());
        }
        if request.path == "/" && request.query.get("token").is_some_and(|token| self.is_secret(token)) {
            let cookie = format!("{name}={}; Path=/; HttpOnly; SameSite=Strict", self.secret);
            return Err(HttpAnswer::go_on("/").with("Set-Cookie", cookie));
        }
        Err(refused(403, "the address that `cru view` printed opens the vault in this browser"))
    }

    /// Compares hashes, so that the time says nothing of how much was right.
    fn is_secret(&self, given: &str) -> bool {
        blake3::hash(given.as_bytes()) == blake3::hash(self.secret.as_bytes())
    }

    fn answer(&self, request: &HttpRequest) -> Result<HttpAnswer> {
        let text = "text/plain; charset=utf-8";
        if request.method == "POST" {
            return match &*request.path {
                "/inbox" => act::decide(&request.form, &self.site),
                "/task" => act::tick(&request.form, &self.site),
                _ => self.missing(),
            };
        }
        match &*request.path {
            // The address with the secret stays in no history: it goes on to the page.
            "/" if request.query.contains_key("token") => Ok(HttpAnswer::go_on("/")),
            "/" => self.page("index.html", request),
            "/style.css" => Ok(HttpAnswer::new(200, "text/css; charset=utf-8", stylesheet())),
            "/view.js" => Ok(HttpAnswer::new(200, "text/javascript; charset=utf-8", SCRIPT)),
            "/icon.svg" => Ok(HttpAnswer::new(200, "image/svg+xml", ICON)),
            "/waiting" => Ok(HttpAnswer::new(200, text, act::waiting(&self.site)?.to_string())),
            "/output" => {
                let output = self.site.output(&request.query)?;
                output.map_or_else(|| self.missing(), |output| Ok(HttpAnswer::new(200, text, output)))
            }
            path => self.page(path.trim_start_matches('/'), request),
        }
    }

    fn page(&self, address: &str, request: &HttpRequest) -> Result<HttpAnswer> {
        let page = self.site.page(address, &request.query)?;
        page.map_or_else(|| self.missing(), |page| Ok(HttpAnswer::html(200, page)))
    }

    fn missing(&self) -> Result<HttpAnswer> {
        let text = "There is no such page, or what it shows is kept in the vault.";
        Ok(HttpAnswer::html(404, self.site.message("Not here", text)?))
    }

    fn told(&self, error: &Error) -> HttpAnswer {
        let text = error.with_causes();
        match self.site.message("This did not work", &text) {
            Ok(page) => HttpAnswer::html(if error.exit_code() == 3 { 500 } else { 404 }, page),
            Err(_) => refused(500, &text),
        }
    }
}

fn refused(status: u16, why: &str) -> HttpAnswer {
    HttpAnswer::new(status, "text/plain; charset=utf-8", format!("{why}\n"))
}
