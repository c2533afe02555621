//! Requests and answers of HTTP/1.1, as far as a browser on the same machine needs them: one request a connection, bounded in
//! size and time.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use crate::base::text::percent_decoded;

/// A request.
#[derive(Debug, Default)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// Without percent signs; it begins with `/`.
    pub(super) path: String,
    pub(super) query: BTreeMap<String, String>,
    pub(super) form: BTreeMap<String, String>,
    /// By their names in lower case; of several of one name none, as it is not known which is meant.
    headers: BTreeMap<String, Option<String>>,
}

impl HttpRequest {
    /// Reads one request; `None` where what came is none, is too large or ended early. Error: the connection's.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        let (mut request, body) = loop {
            match Self::head(&bytes) {
                Ok(Some(head)) => break head,
                Ok(None) if bytes.len() < 16 * 1024 => {}
                _ => return Ok(None),
            }
            let mut some = [0; 4096];
            match stream.read(&mut some)? {
                0 => return Ok(None),
                count => bytes.extend_from_slice(&some[..count]),
            }
        };
        let length = request.header("content-length").map_or(Ok(0), str::parse);
        let is_encoded = request.headers.contains_key("transfer-encoding");
        let Some(length) = length.ok().filter(|length| *length <= 64 * 1024 && !is_encoded) else {
            return Ok(None);
        };
        let mut form = bytes.split_off(body);
        form.truncate(length);
        let rest = (length - form.len()) as u64;
        stream.take(rest).read_to_end(&mut form)?;
        let text = String::from_utf8(form).ok().filter(|form| form.len() == length);
        Ok(text.and_then(|text| fields(&text)).map(|form| {
            request.form = form;
            request
        }))
    }

    /// What the head says and where the body begins; `None` where it is not whole yet.
    fn head(bytes: &[u8]) -> Result<Option<(Self, usize)>, ()> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        let httparse::Status::Complete(body) = parsed.parse(bytes).map_err(drop)? else { return Ok(None) };
        let target = parsed.path.filter(|target| target.starts_with('/')).ok_or(())?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: percent_decoded(path).filter(|path| !path.contains('\0')).ok_or(())?,
            query: fields(query).ok_or(())?,
            ..Self::default()
        };
        for header in parsed.headers.iter() {
            let value = std::str::from_utf8(header.value).map_err(drop)?.to_owned();
            let known = request.headers.entry(header.name.to_ascii_lowercase());
            known.and_modify(|known| *known = None).or_insert(Some(value));
        }
        Ok(Some((request, body)))
    }

    /// The value of a header that is there once.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.as_deref()
    }

    /// Whether a header is there, once or more often.
    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }
}

/// `a=1&b=x+y` as names and values; `None` where it stands for no text.
fn fields(text: &str) -> Option<BTreeMap<String, String>> {
    let decoded = |part: &str| percent_decoded(&part.replace('+', " "));
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// An answer.
#[derive(Debug)]
pub(super) struct HttpAnswer {
    status: u16,
    kind: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl HttpAnswer {
    pub(super) fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, headers: Vec::new(), body: body.into() }
    }

    pub(super) fn html(status: u16, page: String) -> Self {
        Self::new(status, "text/html; charset=utf-8", page)
    }

    /// Says where to go on. `to` begins with `/`.
    pub(super) fn go_on(to: &str) -> Self {
        Self::new(303, "text/plain; charset=utf-8", "").with("Location", to.to_owned())
    }

    pub(super) fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Writes it, without its body for a request that wants none.
    pub(super) fn write(&self, to: &mut impl Write, body: bool) -> io::Result<()> {
        let reason = match self.status {
            200 => "OK",
            303 => "See Other",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            409 => "Conflict",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let mut head = format!("HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\n", self.status, self.kind);
        for (name, value) in GUARDS.iter().copied().chain(self.headers.iter().map(|(name, value)| (*name, &**value))) {
            // A value is ours or was encoded; a line end in one would begin another header.
            if !value.contains(['\r', '\n']) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        head.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n", self.body.len()));
        to.write_all(head.as_bytes())?;
        to.write_all(if body { &self.body } else { &[] })?;
        to.flush()
    }
}

/// What every answer says: nothing but our own style, script and forms, in no frame, kept nowhere, told to no other page.
pub(super) const GUARDS: &[(&str, &str)] = &[
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    // With `no-referrer` a browser would not say either which page a form comes from.
    ("Referrer-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<HttpRequest> {
        HttpRequest::read(&mut text.as_bytes()).unwrap()
    }

    #[test]
    fn reads_a_request_and_no_more() {
        let request = read(
            "POST /note/a%20b.html?q=x+y&z HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: 12\r\n\r\nid=r-1&a=%26rest",
        )
        .unwrap();
        assert_eq!((&*request.method, &*request.path), ("POST", "/note/a b.html"));
        assert_eq!(request.query, BTreeMap::from([("q".into(), "x y".into()), ("z".into(), String::new())]));
        assert_eq!(request.form, BTreeMap::from([("id".into(), "r-1".into()), ("a".into(), "&".into())]));
        assert_eq!(request.header("host"), Some("127.0.0.1:1"));
    }

    #[test]
    fn what_is_no_request_is_none() {
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(16 * 1024));
        for text in [
            "",
            "GET / HTTP/1.1\r\n",
            "GET http://other/ HTTP/1.1\r\n\r\n",
            "GET /%ff HTTP/1.1\r\n\r\n",
            "GET /%00 HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nab",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            &long,
        ] {
            assert!(read(text).is_none(), "{text}");
        }
        let twice = read("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n").unwrap();
        assert!(twice.header("host").is_none() && twice.has("host"));
    }

    #[test]
    fn no_value_adds_a_header() {
        let mut bytes = Vec::new();
        HttpAnswer::go_on("/a\r\nSet-Cookie: b").write(&mut bytes, true).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("Set-Cookie") && text.contains("frame-ancestors 'none'"), "{text}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = HttpRequest::read(&mut &bytes[..]);
        }
    }
}
