//! Values of names that say that they are secret: `password=…`, `API_TOKEN: …`, `Authorization: …`, `--token …`.
//!
//! A password may be any word, so the name decides; of a token or key the value must look random as well, for code is
//! full of names like these.

use std::ops::Range;

use super::allow;
use super::entropy::entropy;
use super::letters::{is_name, is_namelike, is_wordlike};
use super::prefix::is_mixed;
use super::set;
use super::text::Text;
use super::words::{KEYS, PLAIN, PUBLIC, SUFFIXES};

/// The longest name that is looked at.
const NAME: usize = 64;

/// How much of a value is looked at to judge it.
const JUDGED: usize = 256;

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `=` without blanks.
    Close,
    /// `:` or `=` with blanks.
    Open,
    /// A blank behind `--name`.
    Flag,
    /// `<name>`.
    Tag,
    /// `name is value`.
    Is,
    /// `name | value`, the cells of a table.
    Table,
    /// What sets the name says so: `set name value`, `setenv("name", "value")`, `echo value | secret put name`.
    Set,
}

/// A name and where its value begins.
pub(crate) struct Assignment<'a> {
    pub(crate) name: &'a str,
    /// Where the name begins.
    pub(crate) start: usize,
    /// The name with the word before it: `api key`.
    phrase: &'a str,
    pub(crate) sign: Sign,
    /// Whether the sign is a colon.
    pub(crate) colon: bool,
    /// Where the value begins, behind a quote.
    pub(crate) from: usize,
    pub(crate) quote: Option<u8>,
    /// Whether it is a part of an address or form: `?name=`, `&name=`.
    pub(crate) query: bool,
    /// Whether stars of bold text stand before the value.
    bold: bool,
}

/// `API_TOKEN=…`
pub(crate) fn secret(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    let key = found.is_one_of(&["_key", "-key", ".key", " key"]);
    if found.is_one_of(PUBLIC) || (key && !found.is_loud() && !found.is_one_of(KEYS)) {
        return None;
    }
    let range = found.value(text)?;
    let value = text.bytes.get(range.clone())?;
    // What was cut is judged by what is left.
    let value = memchr::memchr(0xe2, value).map_or(value, |cut| &value[..cut]);
    let made = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_.-~:".contains(byte));
    // Letters alone must make no words.
    let is_code_name = found.quote.is_none() && found.sign == Sign::Open && !found.is_loud();
    // `SECPKG_BYTE_VECTOR` names a type or a constant.
    let is_constant = value.contains(&b'_') && value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    let drawn = !is_constant && if is_code_name { !is_namelike(value) } else { !is_wordlike(value) };
    if !made || value.len() < 12 || !(is_mixed(value, 2) || drawn) || entropy(value) < 3.0 || is_code(text, &range) {
        return None;
    }
    // Other keys name rows and partitions.
    let is_given = found.is_loud() && (!key || found.is_one_of(KEYS));
    let of_api = is_given || found.is_one_of(&["secret", "apikey", "api_key", "api-key"]);
    // `users:0b5e1c1a-…` names a row, as `token: 0b5e1c1a-…` may; `DEPLOY_TOKEN=0b5e1c1a-…` is given to a program.
    let bare = value.rsplit(|byte| *byte == b':').next().unwrap_or(value);
    let other = (allow::is_uuid(bare) && !of_api)
        || allow::is_number(value)
        || allow::is_path(value)
        || (allow::is_name(value) && !drawn)
        || value.starts_with(b"sha256:");
    (!other).then(|| found.end(text, range))
}

/// `?sig=…` of an address that somebody signed.
pub(crate) fn signature(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    let range = found.value(text)?;
    let value = text.bytes.get(range.clone())?;
    let is_one = found.query && found.name.eq_ignore_ascii_case("sig") && value.len() >= 40 && is_mixed(value, 2);
    is_one.then(|| whole(text, range))
}

/// `"auth": "…"` of a container registry: user and password in Base64.
pub(crate) fn basic(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
    let named = found.name.eq_ignore_ascii_case("auth") || found.name.ends_with("_auth");
    let range = found.value(text).filter(|_| named)?;
    is_basic(text.bytes.get(range.clone())?).then(|| whole(text, range))
}

/// What stands behind `Authorization:`, without the name of the scheme.
pub(crate) fn authorization(text: &Text<'_>, found: &Assignment<'_>) -> Option<Range<usize>> {
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
    pub(crate) fn at(text: &Text<'t>, end: usize) -> Option<Self> {
        const QUOTES: usize = 6;
        const BLANKS: usize = 8;
        const WORD: usize = 16;
        let bytes = text.bytes;
        let suffix = suffix(bytes.get(end..)?);
        if bytes.get(end + suffix).is_some_and(|&byte| is_name(byte)) {
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
        let end = end + suffix;
        let rest = &bytes[end..];
        // Quotes around the name, also escaped ones and those of markdown, and the bracket of an index.
        let quotes = rest.iter().take(QUOTES).take_while(|byte| b"\"'\\*`".contains(byte)).count();
        let index = usize::from(quotes > 0 && rest.get(quotes) == Some(&b']'));
        let blanks = rest[quotes + index..].iter().take(BLANKS).take_while(|&&byte| byte == b' ').count();
        let at = end + quotes + index + blanks;
        let name_at = end - suffix - len;
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
            Some(b'|') if blanks > 0 && bytes.get(at + 1) == Some(&b' ') => (at + 1, Sign::Table),
            Some(b'i' | b'w') if blanks == 1 && has_verb(&bytes[at..]) => {
                let verb = at + 2 + usize::from(bytes[at] == b'w');
                (verb + usize::from(bytes.get(verb) == Some(&b':')), Sign::Is)
            }
            _ if rest.first() == Some(&b' ') && suffix == 0 && name.starts_with("--") => {
                set::given(text, name_at, end).map_or((end + 1, Sign::Flag), |from| (from, Sign::Set))
            }
            _ => (set::value(text, name_at, end, quotes)?, Sign::Set),
        };
        let blanks = bytes[from..].iter().take(BLANKS).take_while(|&&byte| byte == b' ').count();
        from += blanks;
        // Bold: `**Token:** …`, `**Token**: **…**`.
        let stars = bytes[from..].iter().take(2).take_while(|&&byte| byte == b'*').count();
        let behind = bytes[from + stars..].iter().take(BLANKS).take_while(|&&byte| byte == b' ').count();
        let bold = stars > 0
            && (quotes == 0 || behind == 0)
            && bytes.get(from + stars + behind).is_some_and(|&byte| byte > b' ' && byte != b'*');
        from += if bold { stars + behind } else { 0 };
        let sign = if (blanks > 0 || bold) && sign == Sign::Close { Sign::Open } else { sign };
        let slashes = bytes[from..].iter().take(QUOTES).take_while(|&&byte| byte == b'\\').count();
        let quote = bytes.get(from + slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        if quote.is_some() {
            from += slashes + 1;
        }
        let start = name_at;
        let first = bytes[..start]
            .strip_suffix(b" ")
            .map_or(0, |head| head.iter().rev().take(WORD).take_while(|byte| byte.is_ascii_alphanumeric()).count());
        let phrase = if first > 0 { text.whole.get(start - 1 - first..start + len)? } else { name };
        let colon = bytes.get(at) == Some(&b':');
        Some(Self {
            name,
            start,
            phrase,
            sign,
            colon,
            from,
            quote,
            query: matches!(before, Some(b'?' | b'&' | b';')),
            bold,
        })
    }

    /// Whether the name ends like one of `ends`.
    pub(crate) fn is_one_of(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.ends_with(end))
    }

    fn ends_with(&self, end: &str) -> bool {
        let name = if end.contains(' ') { self.phrase } else { self.name }.as_bytes();
        let start = name.len().checked_sub(end.len());
        start.is_some_and(|start| name[start..].eq_ignore_ascii_case(end.as_bytes()))
    }

    /// Whether it is `pass` alone, or another word that ends so: `compass`.
    pub(crate) fn is_short(&self) -> bool {
        self.ends_with("pass") && !self.is_one_of(&["_pass", "-pass"])
    }

    /// Whether it may name the folder of a shell.
    pub(crate) fn is_folder(&self) -> bool {
        ["pwd", "oldpwd"].iter().any(|name| self.name.eq_ignore_ascii_case(name))
    }

    /// `--password=…`
    pub(crate) fn is_flag(&self) -> bool {
        self.name.starts_with("--")
    }

    /// Whether it is written as a variable of the environment is.
    pub(crate) fn is_loud(&self) -> bool {
        self.name.len() >= 3 && !self.name.bytes().any(|byte| byte.is_ascii_lowercase())
    }

    /// The value to its end, without what ends a sentence or bold text.
    pub(crate) fn end(&self, text: &Text<'_>, range: Range<usize>) -> Range<usize> {
        let mut range = self.closed(text, whole(text, range));
        let is_said = self.sign == Sign::Is && self.quote.is_none();
        while range.len() > 1
            && matches!(text.bytes[range.end - 1], b'.' | b'!' | b'?' | b'*' if is_said || self.bold && text.bytes[range.end - 1] == b'*')
        {
            range.end -= 1;
        }
        range
    }

    /// A value in quotes to their end, if they end in the same word.
    pub(crate) fn closed(&self, text: &Text<'_>, range: Range<usize>) -> Range<usize> {
        let rest = &text.bytes[range.end..text.bytes.len().min(range.end + JUDGED)];
        let len = rest.iter().take_while(|&&byte| byte > b' ' && Some(byte) != self.quote).count();
        if self.quote.is_none() || rest.get(len).copied() != self.quote {
            return range;
        }
        let slashes = rest[..len].iter().rev().take_while(|&&byte| byte == b'\\').count();
        range.start..range.end + len - slashes
    }

    /// What stands behind the sign, or its beginning.
    pub(crate) fn value(&self, text: &Text<'_>) -> Option<Range<usize>> {
        value_at(text, self.from)
    }
}

/// Whether a value is one of the words that stand where a password would.
pub(crate) fn is_plain_word(value: &[u8]) -> bool {
    let value = value.strip_suffix(b"?").or_else(|| value.strip_suffix(b":")).unwrap_or(value);
    PLAIN.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// How many bytes of a name follow that say which one of several it is: `_PROD`, `2`, `-stdin`.
fn suffix(rest: &[u8]) -> usize {
    const DIGITS: usize = 2;
    let digits = rest.iter().take(DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        return digits;
    }
    if !matches!(rest.first(), Some(b'_' | b'-' | b'.')) {
        return 0;
    }
    let len = rest[1..].iter().take(16).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let word = &rest[1..=len];
    let known = SUFFIXES.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    if known || (len <= DIGITS && len > 0 && word.iter().all(u8::is_ascii_digit)) { len + 1 } else { 0 }
}

/// Whether `is ` or `was ` stands there, or with a colon.
fn has_verb(rest: &[u8]) -> bool {
    ["is ", "was ", "is: ", "was: "].iter().any(|verb| rest.starts_with(verb.as_bytes()))
}

/// Whether what follows shows that the value is a call or an index in code: `token = parse2(…)`.
pub(crate) fn is_code(text: &Text<'_>, range: &Range<usize>) -> bool {
    matches!(text.bytes.get(range.end), Some(b'(' | b'['))
}

/// Whether it is Base64 of `user:password`.
fn is_basic(value: &[u8]) -> bool {
    let body = value.iter().rposition(|byte| *byte != b'=').map_or(&[][..], |last| &value[..=last]);
    if body.len() < 8 || body.len() > 256 {
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
pub(crate) fn value_at(text: &Text<'_>, from: usize) -> Option<Range<usize>> {
    let rest = text.bytes.get(from..text.bytes.len().min(from + JUDGED))?;
    let len = length(rest);
    let value = &rest[..len];
    let to = cru_base::lines::floor_char_boundary(text.whole, from + len);
    (!allow::is_placeholder(value) && to > from).then_some(from..to)
}

/// The value, to its end.
pub(crate) fn whole(text: &Text<'_>, range: Range<usize>) -> Range<usize> {
    range.start..range.end + length(&text.bytes[range.end..])
}

/// The length of the value that `rest` begins with: what was masked in it before does not end it.
fn length(rest: &[u8]) -> usize {
    const MASK: &[u8] = b"[secret:";
    let mut len = 0;
    while let Some(&byte) = rest.get(len) {
        let masked = rest[len..].strip_prefix(MASK).and_then(|name| {
            let name = name.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
            let end = len + MASK.len() + name;
            (rest.get(end) == Some(&b']')).then_some(end + 1)
        });
        match masked {
            Some(end) => len = end,
            None if ends(byte) => break,
            None => len += 1,
        }
    }
    len
}

/// Whether more words follow in the same quotes: that is a label, no password.
pub(crate) fn is_sentence(text: &Text<'_>, found: &Assignment<'_>, range: &Range<usize>) -> bool {
    found.quote.is_some() && text.bytes.get(range.end) == Some(&b' ')
}

/// Whether a value ends before this byte.
pub(crate) const fn ends(byte: u8) -> bool {
    byte <= b' ' || matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b',' | b';' | b'&' | b')' | b'}' | b']' | b'<')
}
