//! Values of names that say that they are secret: `password=…`, `API_TOKEN: …`, `Authorization: …`, `--token …`.
//!
//! A password may be any word, so the name decides; of a token or key the value must look random as well, for code is
//! full of names like these.

use std::ops::Range;

use super::allow;
use super::prefix::is_mixed;
use super::scan::Text;

/// The longest name that is looked at.
const NAME: usize = 64;

/// How much of a value is looked at to judge it.
const JUDGED: usize = 256;

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// `=` without blanks.
    Close,
    /// `:` or `=` with blanks.
    Open,
    /// A blank behind `--name`.
    Flag,
    /// `<name>`.
    Tag,
}

/// A name and where its value begins.
pub(super) struct Assignment<'a> {
    name: &'a str,
    sign: Sign,
    /// Where the value begins, behind a quote.
    from: usize,
    quote: Option<u8>,
    /// Whether it is a part of an address or form: `?name=`, `&name=`.
    query: bool,
}

/// What names of passwords end with.
pub(super) const PASSWORDS: &[&str] =
    &["password", "passwd", "passphrase", "pwd", "passwort", "_pass", "-pass", "pass"];

/// What names of tokens and keys end with.
pub(super) const SECRETS: &[&str] = &[
    "token",
    "secret",
    "apikey",
    "credential",
    "credentials",
    "_key",
    "-key",
    "accesskey",
    "secretkey",
    "signingkey",
    "encryptionkey",
    "_pat",
    "_auth",
    "webhook",
    "webhook_url",
];

/// `password=…`
pub(super) fn password(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    // `pass` alone says too little: `pass: ok`, `compass = 3`.
    let short = found.ends_with("pass") && !found.is_one_of(&["_pass", "-pass"]) && !found.is_pass();
    let folder = ["pwd", "oldpwd"].iter().any(|name| found.name.eq_ignore_ascii_case(name)) && !found.query;
    if folder || short {
        return None;
    }
    let range = found.value(text)?;
    if is_sentence(text, found, &range) {
        return None;
    }
    let value = text.bytes.get(range.clone())?;
    // `!vault`, `!secret db`: what a configuration puts there.
    let is_tag = found.quote.is_none() && value[0] == b'!' && value[1..].iter().all(u8::is_ascii_alphabetic);
    if is_tag || is_plain_word(value) || value.iter().all(|byte| !byte.is_ascii_alphanumeric()) {
        return None;
    }
    let plain = value.iter().all(|byte| byte.is_ascii_alphabetic() || b"_.".contains(byte));
    let loud = found.is_loud();
    let code = value.iter().any(|byte| b"(<[{&|".contains(byte)) || (found.sign != Sign::Flag && is_code(text, &range));
    let is_secret = match (found.quote.is_some(), found.sign) {
        (true, _) => value.len() >= 4,
        (false, Sign::Close) => value.len() >= 4 && (!plain || loud || found.query) && !code,
        (false, Sign::Flag) => value.len() >= 4 && value[0] != b'-' && !code,
        (false, Sign::Tag) => value.len() >= 4 && !code,
        (false, Sign::Open) => value.len() >= 6 && !plain && !code,
    };
    is_secret.then(|| whole(text, range))
}

/// `API_TOKEN=…`
pub(super) fn secret(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    /// Names of this kind that hold no secret.
    const PUBLIC: &[&str] = &[
        "publishable_key",
        "publishable-key",
        "publishablekey",
        "public_key",
        "public-key",
        "page_token",
        "pagetoken",
        "next_token",
        "nexttoken",
        "continuation_token",
        "continuationtoken",
        "sync_token",
        "resume_token",
    ];
    /// Keys that open something; others name a row, a column, a place in a cache.
    const KEYS: &[&str] = &[
        "api_key",
        "api-key",
        "secret_key",
        "secret-key",
        "access_key",
        "access-key",
        "private_key",
        "private-key",
        "signing_key",
        "signing-key",
        "encryption_key",
        "encryption-key",
        "auth_key",
        "auth-key",
        "master_key",
        "master-key",
        "account_key",
        "shared_key",
        "storage_key",
        "service_key",
        "service_role_key",
        "license_key",
        "app_key",
        "app-key",
        "client_key",
        "jwt_key",
        "session_key",
        "webhook_key",
        "deploy_key",
    ];
    let key = found.is_one_of(&["_key", "-key"]);
    if found.is_one_of(PUBLIC) || (key && !found.is_loud() && !found.is_one_of(KEYS)) {
        return None;
    }
    let range = found.value(text)?;
    let value = text.bytes.get(range.clone())?;
    // What was cut is judged by what is left.
    let value = memchr::memchr(0xe2, value).map_or(value, |cut| &value[..cut]);
    let made = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_.-~:".contains(byte));
    if !made || value.len() < 12 || !is_mixed(value, 2) || entropy(value) < 3.0 || is_code(text, &range) {
        return None;
    }
    let of_api = found.is_one_of(&["secret", "apikey", "api_key", "api-key"]);
    // `users:0b5e1c1a-…` names a row.
    let bare = value.rsplit(|byte| *byte == b':').next().unwrap_or(value);
    let other = (allow::is_uuid(bare) && !of_api)
        || allow::is_number(value)
        || allow::is_path(value)
        || allow::is_name(value)
        || value.starts_with(b"sha256:");
    (!other).then(|| whole(text, range))
}

/// `?sig=…` of an address that somebody signed.
pub(super) fn signature(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    const LEAST: usize = 40;
    let range = found.value(text)?;
    let value = text.bytes.get(range.clone())?;
    let is_one = found.query && found.name.eq_ignore_ascii_case("sig") && value.len() >= LEAST && is_mixed(value, 2);
    is_one.then(|| whole(text, range))
}

/// `"auth": "…"` of a container registry: user and password in Base64.
pub(super) fn basic(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    let named = found.name.eq_ignore_ascii_case("auth") || found.name.ends_with("_auth");
    let range = found.value(text).filter(|_| named)?;
    is_basic(text.bytes.get(range.clone())?).then(|| whole(text, range))
}

/// What stands behind `Authorization:`, without the name of the scheme.
pub(super) fn authorization(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "negotiate", "apikey", "bot"];
    if found.sign == Sign::Flag {
        return None;
    }
    let first = found.value(text)?;
    let value = text.bytes.get(first.clone())?;
    if SCHEMES.iter().any(|scheme| value.eq_ignore_ascii_case(scheme.as_bytes())) {
        let blanks = text.bytes[first.end..].iter().take(8).take_while(|&&byte| byte == b' ').count();
        let range = value_at(text, first.end + blanks)?;
        // `Authorization: Basic header` is a sentence.
        let value = &text.bytes[range.clone()];
        let made = value.iter().any(|byte| !byte.is_ascii_lowercase()) && !allow::is_name(value);
        return (range.len() >= 6 && (made || is_basic(value))).then(|| whole(text, range));
    }
    let is_one = value.len() >= 8
        && is_mixed(value, 1)
        && !is_sentence(text, found, &first)
        && !is_code(text, &first)
        && !allow::is_name(value)
        && !allow::is_path(value)
        && !value.iter().any(|byte| b"(<[{&|".contains(byte));
    is_one.then(|| whole(text, first))
}

impl<'t> Assignment<'t> {
    /// The assignment whose name ends at `end`.
    pub(super) fn at(text: &Text<'t>, end: usize) -> Option<Self> {
        const QUOTES: usize = 4;
        const BLANKS: usize = 8;
        let bytes = text.bytes;
        let rest = bytes.get(end..)?;
        if rest.first().is_none_or(|&byte| is_name(byte)) {
            return None;
        }
        let floor = end.saturating_sub(NAME);
        let len = bytes[floor..end].iter().rev().take_while(|byte| is_name(**byte)).count();
        let name = text.whole.get(end - len..end)?;
        let before = (end - len).checked_sub(1).map(|at| bytes[at]);
        // `${NAME:-…}` stands for a value.
        if before == Some(b'{') && bytes[..end - len - 1].last() == Some(&b'$') {
            return None;
        }
        // Quotes around the name, also escaped ones.
        let quotes = rest.iter().take(QUOTES).take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\')).count();
        let blanks = rest[quotes..].iter().take(BLANKS).take_while(|&&byte| byte == b' ').count();
        let at = end + quotes + blanks;
        let (mut from, sign) = match bytes.get(at) {
            Some(b'=' | b':') => {
                let from = match (bytes[at], bytes.get(at + 1)) {
                    // `=>` and `==`, but no path of names.
                    (b'=', Some(b'>' | b'=')) | (b':', Some(b'=')) => at + 2,
                    (b':', Some(b':')) => return None,
                    // `arn:aws:secretsmanager:eu-west-1:1:secret:db-1a2b3c`: a place with a name.
                    (b':', Some(next)) if before == Some(b':') && *next != b' ' => return None,
                    _ => at + 1,
                };
                (from, if bytes[at] == b'=' && blanks == 0 && quotes == 0 { Sign::Close } else { Sign::Open })
            }
            Some(b'>') if at == end && before == Some(b'<') => (at + 1, Sign::Tag),
            _ if rest[0] == b' ' && name.starts_with("--") => (end + 1, Sign::Flag),
            _ => return None,
        };
        let blanks = bytes[from..].iter().take(BLANKS).take_while(|&&byte| byte == b' ').count();
        from += blanks;
        let sign = if blanks > 0 && sign == Sign::Close { Sign::Open } else { sign };
        let slashes = usize::from(bytes.get(from) == Some(&b'\\'));
        let quote = bytes.get(from + slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        if quote.is_some() {
            from += slashes + 1;
        }
        Some(Self { name, sign, from, quote, query: matches!(before, Some(b'?' | b'&' | b';')) })
    }

    /// Whether the name ends like one of `ends`.
    pub(super) fn is_one_of(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.ends_with(end))
    }

    fn ends_with(&self, end: &str) -> bool {
        let start = self.name.len().checked_sub(end.len());
        start.is_some_and(|start| self.name.as_bytes()[start..].eq_ignore_ascii_case(end.as_bytes()))
    }

    /// `pass: 'tide42'`, as libraries for mail and databases want it.
    fn is_pass(&self) -> bool {
        self.name == "pass" && matches!(self.quote, Some(b'"' | b'\''))
    }

    /// Whether it is written as a variable of the environment is.
    fn is_loud(&self) -> bool {
        self.name.len() >= 3 && !self.name.bytes().any(|byte| byte.is_ascii_lowercase())
    }

    fn value(&self, text: &Text<'_>) -> Option<Range<usize>> {
        value_at(text, self.from)
    }
}

/// Whether a value is one of the words that stand where a password would.
fn is_plain_word(value: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "password",
        "passwort",
        "passwd",
        "pass",
        "secret",
        "string",
        "text",
        "hidden",
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "required",
        "optional",
        "prompt",
        "value",
        "token",
        "username",
        "user",
        "email",
        "field",
        "input",
        "type",
        "credentials",
        "empty",
        "missing",
        "invalid",
        "str",
        "self",
        "this",
        "bool",
        "boolean",
        "object",
        "wrong",
        "incorrect",
        "test",
        "testing",
        "fake",
        "mock",
        "sample",
    ];
    let value = value.strip_suffix(b"?").or_else(|| value.strip_suffix(b":")).unwrap_or(value);
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether what follows shows that the value is a call or an index in code: `token = parse2(…)`.
fn is_code(text: &Text<'_>, range: &Range<usize>) -> bool {
    matches!(text.bytes.get(range.end), Some(b'(' | b'['))
}

/// Whether it is Base64 of `user:password`.
fn is_basic(value: &[u8]) -> bool {
    const MOST: usize = 256;
    let body = value.iter().rposition(|byte| *byte != b'=').map_or(&[][..], |last| &value[..=last]);
    if body.len() < 8 || body.len() > MOST {
        return false;
    }
    let (mut bits, mut held, mut colon) = (0_u32, 0, false);
    for &byte in body {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(six)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            let byte = bits >> held & 0xff;
            if !(0x20..0x7f).contains(&byte) {
                return false;
            }
            colon |= byte == u32::from(b':');
        }
    }
    colon
}

/// The value that starts at `from`, or its beginning; none where it is empty or a placeholder.
fn value_at(text: &Text<'_>, from: usize) -> Option<Range<usize>> {
    let rest = text.bytes.get(from..text.bytes.len().min(from + JUDGED))?;
    let len = rest.iter().take_while(|byte| !ends(**byte)).count();
    let value = &rest[..len];
    let to = cru_base::lines::floor_char_boundary(text.whole, from + len);
    (!allow::is_placeholder(value) && to > from).then_some(from..to)
}

/// The value, to its end.
fn whole(text: &Text<'_>, range: Range<usize>) -> Range<usize> {
    let more = text.bytes[range.end..].iter().take_while(|byte| !ends(**byte)).count();
    range.start..range.end + more
}

/// Whether more words follow in the same quotes: that is a label, no password.
fn is_sentence(text: &Text<'_>, found: &Assignment<'_>, range: &Range<usize>) -> bool {
    found.quote.is_some() && text.bytes.get(range.end) == Some(&b' ')
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a value ends before this byte.
const fn ends(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b')' | b'}' | b']' | b'<')
}

/// How much each byte of it says, in bits.
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let len = value.len() as f64;
    let bits = |count: &u32| {
        let share = f64::from(*count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}
