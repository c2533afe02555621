//! Personal data in text: where it stands, and what may stand in its place.
//!
//! Mail addresses, public network addresses, telephone numbers with a country code, names of computers, the names of
//! people's home folders and of the owners of files in listings, and pages by which the owner of a repository lets a secret through. Names of persons in running text cannot be told from words without a list and stay, but those of the accounts that were found. One pass
//! over the text with bounded looks around a place: linear, whatever the text is.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Personal data in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PersonalData {
    /// What it is: `email`, `ip`, `phone`, `host`, `user`, `account`.
    pub kind: &'static str,
    /// Its bytes.
    pub range: Range<usize>,
}

/// Bytes of the longest thing that is looked for.
const LONGEST: usize = 254;

/// Addresses and domains of examples and programs, nobody's own.
const NOBODY: &[&str] =
    &["noreply", "no-reply", "donotreply", "git", "user", "you", "name", "me", "foo", "test", "actions"];
const EXAMPLES: &[&str] =
    &["example.com", "example.org", "example.net", "users.noreply.github.com", "email.com", "domain.com"];
const RESERVED: &[&str] = &["example", "invalid", "localhost", "test", "local", "internal"];

/// What ends a file name and is no country.
const FILES: &[&str] = &[
    "png", "jpg", "svg", "js", "ts", "css", "json", "md", "py", "rs", "go", "txt", "yml", "yaml", "html", "sh", "lock",
    "toml",
];

/// Folders above home folders.
const HOMES: &[&str] = &["/home/", "/Users/", "\\Users\\\\", "\\Users\\", "-home-", "-Users-", "/users/"];

/// Home folders that are nobody's.
const SHARED: &str = "\
    user users username you me name runner ubuntu root node app vscode shared public circleci jenkins dev \
    linuxbrew admin someone alice bob xxx foo test git vagrant codespace work agent api claude developer default \
    all";

/// Every piece of personal data in `text`, in order, none touching another.
pub(crate) fn find(text: &str) -> Vec<PersonalData> {
    let bytes = text.as_bytes();
    let mut found: Vec<PersonalData> = Vec::new();
    let mut floor = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if at < floor {
            continue;
        }
        let hit = match byte {
            b'@' => email(bytes, at, floor),
            b'0'..=b'9' if starts(bytes, at) => ip(bytes, at),
            b'+' if starts(bytes, at) => phone(bytes, at),
            b'.' => host(bytes, at, floor),
            b'/' => unblock(bytes, at, floor).or_else(|| conversation(bytes, at)).or_else(|| user(bytes, at)),
            b'-' => owner(bytes, at).or_else(|| user(bytes, at)),
            b'd' | b'l' => owner(bytes, at),
            b'\\' => user(bytes, at),
            _ => None,
        };
        if let Some(hit) =
            hit.filter(|hit| text.is_char_boundary(hit.range.start) && text.is_char_boundary(hit.range.end))
        {
            floor = hit.range.end;
            found.push(hit);
        }
    }
    found
}

/// Names of people's accounts in `text`: of their home folders, and of the owners of files.
pub(crate) fn accounts(text: &str) -> impl Iterator<Item = &str> {
    let found = find(text).into_iter().filter(|it| it.kind == "user");
    // What is shorter stands in any word.
    found.filter_map(|it| text.get(it.range)).filter(|name| name.len() > 2)
}

/// `text` without the names of accounts where they stand as words, and how many were taken out; behind `name@` the name of
/// the computer goes too.
pub(crate) fn mask_accounts<'t>(text: &'t str, names: &BTreeSet<String>) -> (Cow<'t, str>, usize) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut masked, mut count) = (Cow::Borrowed(text), 0);
    for name in names.iter().filter(|name| text.contains(name.as_str())) {
        let mut out = String::with_capacity(masked.len());
        let mut rest = masked.as_ref();
        while let Some(at) = rest.find(name.as_str()) {
            let (before, after) = (&rest[..at], &rest[at + name.len()..]);
            out.push_str(before);
            rest = after;
            if before.ends_with(is_part) || after.starts_with(is_part) || (before.is_empty() && out.ends_with(is_part))
            {
                out.push_str(name);
                continue;
            }
            count += 1;
            out.push_str("user");
            if let Some(host) = after.strip_prefix('@') {
                let end = host.find(|c: char| !is_part(c) && !matches!(c, '-' | '.')).unwrap_or(host.len());
                out.push_str(if end > 0 { "@[host]" } else { "@" });
                rest = &host[end..];
            }
        }
        out.push_str(rest);
        masked = Cow::Owned(out);
    }
    (masked, count)
}

/// `text` without personal data, and how much was taken out.
pub(crate) fn mask(text: &str) -> (Cow<'_, str>, usize) {
    let found = find(text);
    if found.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for hit in &found {
        out.push_str(text.get(at..hit.range.start).unwrap_or_default());
        // A path stays one.
        out.push_str(match hit.kind {
            "user" => "user",
            "email" => "[email]",
            "ip" => "[ip]",
            "phone" => "[phone]",
            "account" => "[account]",
            _ => "[host]",
        });
        at = hit.range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    (Cow::Owned(out), found.len())
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Whether nothing of a word or number stands before.
fn starts(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1)
        .is_none_or(|before| !is_word(bytes[before]) && !matches!(bytes[before], b'.' | b'_' | b'-' | b'/' | b'+'))
}

fn lower(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase()
}

fn email(bytes: &[u8], at: usize, floor: usize) -> Option<PersonalData> {
    let own = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+' | b'-' | b'%');
    let mut start = at;
    while start > floor && at - start < LONGEST && own(bytes[start - 1]) {
        start -= 1;
    }
    while start < at && !bytes[start].is_ascii_alphanumeric() {
        start += 1;
    }
    // The letter of an escape (`\n@app.get` in code or JSON) is none of a name.
    let escape =
        |start: usize| start > floor && bytes[start - 1] == b'\\' && matches!(bytes[start], b'n' | b'r' | b't');
    start += usize::from(start < at && escape(start));
    let mut end = at + 1;
    while end < bytes.len()
        && end - at < LONGEST
        && (bytes[end].is_ascii_alphanumeric() || matches!(bytes[end], b'.' | b'-'))
    {
        end += 1;
    }
    while end > at + 1 && !bytes[end - 1].is_ascii_alphanumeric() {
        end -= 1;
    }
    let (name, domain) = (lower(&bytes[start..at]), lower(&bytes[at + 1..end]));
    let (before, top) = domain.rsplit_once('.')?;
    // `agent@1.2` and `icon@2x.png` are none; nor is what stands in a URL before a password's host.
    let real = !name.is_empty()
        && !before.is_empty()
        && (2..=24).contains(&top.len())
        && top.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !FILES.contains(&top)
        && before.bytes().any(|byte| byte.is_ascii_alphabetic());
    let nobody = NOBODY.contains(&name.as_str())
        || name.starts_with("noreply")
        || EXAMPLES.iter().any(|known| domain == *known || domain.ends_with(&format!(".{known}")))
        || domain.starts_with("example.")
        || RESERVED.contains(&top);
    (real && !nobody).then_some(PersonalData { kind: "email", range: start..end })
}

fn ip(bytes: &[u8], at: usize) -> Option<PersonalData> {
    let mut parts = [0_u32; 4];
    let mut end = at;
    for (index, part) in parts.iter_mut().enumerate() {
        if index > 0 {
            (*bytes.get(end)? == b'.').then_some(())?;
            end += 1;
        }
        let from = end;
        while end < bytes.len() && end - from < 3 && bytes[end].is_ascii_digit() {
            *part = *part * 10 + u32::from(bytes[end] - b'0');
            end += 1;
        }
        if end == from || *part > 255 || (end - from > 1 && bytes[from] == b'0') {
            return None;
        }
    }
    let next = bytes.get(end).copied().unwrap_or(b' ');
    let after = bytes.get(end + 1).copied().unwrap_or(b' ');
    if is_word(next) || matches!(next, b'_' | b'-' | b'+') || (next == b'.' && after.is_ascii_digit()) {
        return None;
    }
    let private = match parts {
        [0 | 10 | 127 | 224..=255, ..] | [192, 168, ..] | [169, 254, ..] | [172, 16..=31, ..] | [100, 64..=127, ..] => {
            true
        }
        // Documentation, well-known resolvers, and what looks like a version.
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [1, 1, 1, 1] | [8, 8, 8 | 4, 8 | 4] | [9, 9, 9, 9] => {
            true
        }
        [a, b, c, d] => a < 20 && b < 20 && c < 20 && d < 20,
    };
    (!private).then_some(PersonalData { kind: "ip", range: at..end })
}

/// `+49 30 1234567`: a country code, then groups with something between them.
fn phone(bytes: &[u8], at: usize) -> Option<PersonalData> {
    let (mut end, mut digits, mut last) = (at + 1, 0, at + 1);
    let (mut groups, mut group) = (1, 0);
    while end < bytes.len() && end - at < 24 {
        match bytes[end] {
            b'0'..=b'9' => {
                digits += 1;
                group += 1;
                end += 1;
                last = end;
            }
            b' ' | b'-' | b'(' | b')' | b'.' if group > 0 || groups > 1 => {
                groups += usize::from(group > 0);
                // No country code is longer than three digits: that is a date or a number.
                if groups == 2 && group > 3 {
                    return None;
                }
                group = 0;
                end += 1;
            }
            _ => break,
        }
    }
    let ends = !bytes.get(last).copied().is_some_and(|byte| is_word(byte) || matches!(byte, b',' | b':' | b'='));
    let line_starts = at.checked_sub(1).is_none_or(|before| matches!(bytes[before], b'\n' | b'\r'));
    (groups >= 3 && (9..=15).contains(&digits) && ends && !line_starts)
        .then_some(PersonalData { kind: "phone", range: at..last })
}

/// `Annas-MacBook-Pro.local`.
fn host(bytes: &[u8], at: usize, floor: usize) -> Option<PersonalData> {
    bytes.get(at..)?.starts_with(b".local").then_some(())?;
    let end = at + ".local".len();
    if bytes.get(end).is_some_and(|byte| is_word(*byte) || matches!(byte, b'-' | b'_' | b'.' | b'/')) {
        return None;
    }
    let mut start = at;
    while start > floor && at - start < 64 && (bytes[start - 1].is_ascii_alphanumeric() || bytes[start - 1] == b'-') {
        start -= 1;
    }
    let name = &bytes[start..at];
    // `settings.local` is a file; a computer's name has a dash and a letter.
    let named = name.contains(&b'-') && name.iter().any(u8::is_ascii_uppercase);
    named.then_some(PersonalData { kind: "host", range: start..end })
}

/// The path of the page where a host of repositories lets a refused secret through, behind owner and repository.
const UNBLOCK: &[u8] = b"/security/secret-scanning/unblock-secret/";

/// `OWNER/REPOSITORY/security/secret-scanning/unblock-secret/ID`: it names who pushed, and the secret.
fn unblock(bytes: &[u8], at: usize, floor: usize) -> Option<PersonalData> {
    bytes.get(at..)?.starts_with(UNBLOCK).then_some(())?;
    let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let back = |mut start: usize| {
        let end = start;
        while start > floor && end - start < LONGEST && part(bytes[start - 1]) {
            start -= 1;
        }
        start
    };
    let repository = back(at);
    let parted = repository > floor && repository < at && bytes[repository - 1] == b'/';
    let start = if parted { back(repository - 1) } else { repository };
    let mut end = at + UNBLOCK.len();
    while bytes.get(end).is_some_and(|byte| part(*byte)) {
        end += 1;
    }
    while end > at + UNBLOCK.len() && bytes[end - 1] == b'.' {
        end -= 1;
    }
    Some(PersonalData { kind: "account", range: start..end })
}

/// Pages of one conversation at a host of agents, up to what names it.
const CONVERSATIONS: &[&str] = &[
    "/claude.ai/code/",
    "/claude.ai/chat/",
    "/claude.ai/share/",
    "/chatgpt.com/c/",
    "/chatgpt.com/share/",
    "/chatgpt.com/codex/tasks/",
    "/chatgpt.com/s/",
    "/gemini.google.com/app/",
    "/gemini.google.com/share/",
];

/// What names one conversation, behind the address of its host.
fn conversation(bytes: &[u8], at: usize) -> Option<PersonalData> {
    let page = CONVERSATIONS.iter().find(|page| bytes[at..].starts_with(page.as_bytes()))?;
    let start = at + page.len();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = start + bytes[start..].iter().take_while(|byte| is_part(byte)).count();
    (end > start).then_some(PersonalData { kind: "account", range: start..end })
}

/// The name of a home folder.
/// The owner of a file in a long listing: `-rw-r--r--@ 1 anna  staff  743 …`.
fn owner(bytes: &[u8], at: usize) -> Option<PersonalData> {
    let mode = bytes.get(at + 1..at + 10).filter(|_| starts(bytes, at))?;
    if !mode.iter().all(|byte| b"-rwxsStT".contains(byte)) || !mode.contains(&b'-') {
        return None;
    }
    let ends = |from: usize, of: &dyn Fn(u8) -> bool| {
        bytes[from..].iter().take(LONGEST).position(|byte| !of(*byte)).map(|length| from + length)
    };
    let blank = |byte: u8| byte == b' ';
    let number = |byte: u8| byte.is_ascii_digit();
    let links = ends(at + 10 + usize::from(bytes.get(at + 10).is_some_and(|byte| b"@+.".contains(byte))), &blank)?;
    let from = ends(links, &number).filter(|end| *end > links)?;
    let start = ends(from, &blank).filter(|end| *end > from)?;
    let end = ends(start, &|byte| is_word(byte) || matches!(byte, b'.' | b'_' | b'-')).filter(|end| *end > start)?;
    let name = lower(&bytes[start..end]);
    let person = !name.bytes().all(number) && !SHARED.split(' ').any(|shared| shared == name);
    (person && bytes[end] == b' ').then_some(PersonalData { kind: "user", range: start..end })
}

fn user(bytes: &[u8], at: usize) -> Option<PersonalData> {
    let home = HOMES.iter().find(|home| bytes[at..].starts_with(home.as_bytes()))?;
    let start = at + home.len();
    let dashed = home.starts_with('-');
    let mut end = start;
    while end < bytes.len()
        && end - start < 64
        && (bytes[end].is_ascii_alphanumeric()
            || bytes[end] >= 0x80
            || matches!(bytes[end], b'.' | b'_')
            || (bytes[end] == b'-' && !dashed))
    {
        end += 1;
    }
    while end > start && matches!(bytes[end - 1], b'.' | b'-' | b'_') {
        end -= 1;
    }
    let name = lower(&bytes[start..end]);
    // In the name of a folder of transcripts, dashes part what were folders: `-home-anna-code`, and not
    // `the-home-page-x`.
    let opens = || at.checked_sub(1).is_none_or(|before| !is_word(bytes[before]));
    let parted = !dashed || (bytes.get(end) == Some(&b'-') && opens());
    // `/users/42` and `/users/list` are routes.
    let person = *home != "/users/"
        || bytes.get(end) == Some(&b'/')
            && at.checked_sub(1).is_some_and(|before| matches!(bytes[before], b'c' | b':'));
    (name.len() > 1 && parted && person && !SHARED.split(' ').any(|shared| shared == name))
        .then_some(PersonalData { kind: "user", range: start..end })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        mask(text).0.into_owned()
    }

    #[test]
    fn a_name_that_is_an_account_goes_everywhere() {
        let names: BTreeSet<String> = accounts("cd /Users/annak/code").map(str::to_owned).collect();
        let masked = |text: &str| mask_accounts(text, &names).0.into_owned();
        assert_eq!(masked("annak@MacBook-Pro-6 nimbus % ls"), "user@[host] nimbus % ls");
        assert_eq!(masked("annak, annak's; annakarin sannak annak_x"), "user, user's; annakarin sannak annak_x");
        assert_eq!(masked("annakannak annak@"), "annakannak user@");
        assert_eq!(mask_accounts("nobody", &names), (Cow::Borrowed("nobody"), 0));
    }

    #[test]
    fn personal_data_goes() {
        let table = [
            ("mail anna.k+x@firma.de, now", "mail [email], now"),
            ("<a@b.co.uk>", "<[email]>"),
            ("ssh 81.169.145.66:22", "ssh [ip]:22"),
            ("call +49 30 1234567.", "call [phone]."),
            ("-rw-r--r--@ 1 annak  staff  743 x.json", "-rw-r--r--@ 1 user  staff  743 x.json"),
            ("drwxr-xr-x  12 annak annak 4096 src", "drwxr-xr-x  12 user annak 4096 src"),
            (
                "-rw-r--r-- 1 root root 743 x\n-rw-r--r-- 1 501 20 4 y",
                "-rw-r--r-- 1 root root 743 x\n-rw-r--r-- 1 501 20 4 y",
            ),
            ("(+1 555-010-9999)", "([phone])"),
            ("on Annas-MacBook-Pro.local", "on [host]"),
            ("/home/anna/code and /Users/bé.k/x", "/home/user/code and /Users/user/x"),
            (r"C:\Users\anna\x", r"C:\Users\user\x"),
            (r#"{"path": "C:\\Users\\anna\\x"}"#, r#"{"path": "C:\\Users\\user\\x"}"#),
            (
                "see https://github.com/anna-k/pump/security/secret-scanning/unblock-secret/2abC9. Then",
                "see https://github.com/[account]. Then",
            ),
            ("/security/secret-scanning/unblock-secret/2abC9", "[account]"),
            ("https://claude.ai/code/session_01Ab-c.", "https://claude.ai/code/[account]."),
            ("https://chatgpt.com/codex/tasks/task_e_1?x", "https://chatgpt.com/codex/tasks/[account]?x"),
            ("C--Users-anna-code", "C--Users-user-code"),
            ("~/.claude/projects/-home-anna-code", "~/.claude/projects/-home-user-code"),
        ];
        for (text, rest) in table {
            assert_eq!(masked(text), rest);
            assert!(find(rest).is_empty(), "{rest}");
        }
    }

    #[test]
    fn what_only_looks_like_it() {
        for text in [
            "planner@1.2 and icon@2x.png",
            "noreply@anthropic.com, git@github.com:a/b.git, you@example.org",
            "127.0.0.1:8080, 10.0.0.12, 192.168.1.1, 1.2.3.4, 300.1.2.3, v1.20.3.4",
            "+31 −6, + 12 34, +2026-11-20 09:00:00 12",
            "/home/user/x, /home/runner/work, /users/42, -home-",
            "settings.local.json, app.local",
            "sessions/2026-02-23-update-the-home-page-so-that.md",
            "@decorator, a@b, x@y.123",
            r#"{"old_string": "x = 1\n@app.get(1)\n\t@self.route(2)"}"#,
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
