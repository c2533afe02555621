//! Secrets in text: where they stand, and the text without them.
//!
//! What a transcript holds may be shown, indexed or written only when keys and passwords are out of it. The rules are
//! one table; each names what it finds, and `[masked: github-token]` takes its place. A rule looks at a bounded number of
//! bytes around a place, so the time is linear in the text, whatever the text is. What only looks like a placeholder
//! (`$TOKEN`, `<password>`) stays.

mod assignment;
mod prefix;
mod shape;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use assignment::Assignment;
use prefix::{Bytes, Prefix};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Name of the rule, `github-token`.
    pub rule: &'static str,
    /// Its bytes.
    pub range: Range<usize>,
}

/// What finds one kind of secrets.
struct Rule {
    name: &'static str,
    by: By,
}

/// How a rule finds.
enum By {
    /// A word that begins in a certain way.
    Prefix(Prefix),
    /// What stands at the start of a word; the bytes it can begin with.
    Word(&'static [u8], fn(&Text<'_>, usize) -> Option<Range<usize>>),
    /// The value behind the `=`, `:` or blank that ends a name.
    Value(fn(&Text<'_>, &Assignment<'_>) -> Option<Range<usize>>),
    /// What stands behind `://`.
    Address(fn(&Text<'_>, usize) -> Option<Range<usize>>),
}

const fn token(name: &'static str, starts: &'static [&'static str], bytes: Bytes, least: usize) -> Rule {
    Rule { name, by: By::Prefix(Prefix { starts, bytes, least, exact: false }) }
}

const fn exact(name: &'static str, starts: &'static [&'static str], bytes: Bytes, len: usize) -> Rule {
    Rule { name, by: By::Prefix(Prefix { starts, bytes, least: len, exact: true }) }
}

/// Every rule; where two find at one place, the first one counts.
const RULES: &[Rule] = &[
    Rule { name: "private-key", by: By::Word(b"-", shape::private_key) },
    exact(
        "aws-access-key",
        &["AKIA", "ASIA", "ABIA", "ACCA", "AGPA", "AIDA", "AROA", "ANPA", "ANVA", "AIPA"],
        Bytes::Capitals,
        16,
    ),
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Bytes::Letters, 30),
    token("github-token", &["github_pat_"], Bytes::Name, 22),
    token("gitlab-token", &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"], Bytes::Dashed, 20),
    token("anthropic-key", &["sk-ant-"], Bytes::Dashed, 20),
    token("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-", "sk-"], Bytes::Dashed, 20),
    token("slack-token", &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"], Bytes::Dotted, 10),
    token("slack-webhook", &["https://hooks.slack.com/services/"], Bytes::Path, 20),
    token("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], Bytes::Letters, 16),
    token("google-api-key", &["AIza"], Bytes::Dashed, 35),
    token("google-token", &["ya29.", "GOCSPX-"], Bytes::Dashed, 20),
    token("npm-token", &["npm_"], Bytes::Letters, 36),
    token("pypi-token", &["pypi-"], Bytes::Dashed, 50),
    token("hugging-face-token", &["hf_"], Bytes::Letters, 30),
    token("sendgrid-key", &["SG."], Bytes::Dotted, 40),
    token("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Bytes::Letters, 40),
    token("docker-token", &["dckr_pat_"], Bytes::Dashed, 20),
    token("vault-token", &["hvs.", "hvb."], Bytes::Dashed, 24),
    token("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], Bytes::Letters, 32),
    token("service-key", &["gsk_", "glsa_", "lin_api_", "sbp_", "r8_", "xai-", "pplx-", "PMAK-"], Bytes::Dashed, 30),
    token("age-key", &["AGE-SECRET-KEY-1"], Bytes::Capitals, 50),
    Rule { name: "jwt", by: By::Word(b"e", shape::jwt) },
    Rule { name: "bearer-token", by: By::Word(b"bB", shape::bearer) },
    Rule { name: "url-password", by: By::Address(shape::url_password) },
    Rule { name: "authorization", by: By::Value(assignment::authorization) },
    Rule { name: "password", by: By::Value(assignment::password) },
    Rule { name: "secret", by: By::Value(assignment::secret) },
];

/// A text that is looked through.
struct Text<'a> {
    bytes: &'a [u8],
    text: &'a str,
    /// Where the last private key ends; no block can end behind it.
    last_end: std::cell::OnceCell<Option<usize>>,
    /// Up to where no token of three parts begins.
    no_jwt: std::cell::Cell<usize>,
}

/// Which rules to ask at the start of a word, by its first byte.
static WORDS: LazyLock<Vec<Vec<&'static Rule>>> = LazyLock::new(|| {
    let mut table = vec![Vec::new(); 256];
    for rule in RULES {
        let firsts: Vec<u8> = match &rule.by {
            By::Prefix(prefix) => prefix.starts.iter().filter_map(|start| start.bytes().next()).collect(),
            By::Word(firsts, _) => firsts.to_vec(),
            By::Value(_) | By::Address(_) => Vec::new(),
        };
        for first in firsts {
            let rules: &mut Vec<&'static Rule> = &mut table[usize::from(first)];
            if !rules.iter().any(|known| std::ptr::eq(*known, rule)) {
                rules.push(rule);
            }
        }
    }
    table
});

/// Every secret of `text`, in order, none touching another.
pub fn find(text: &str) -> Vec<Found> {
    let words = &*WORDS;
    let bytes = text.as_bytes();
    let text = Text { bytes, text, last_end: std::cell::OnceCell::new(), no_jwt: std::cell::Cell::new(0) };
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let hit = match bytes[at] {
            b'=' | b':' | b' ' => text.behind(at),
            byte if words[usize::from(byte)].is_empty() || !text.starts_word(at) => None,
            byte => words[usize::from(byte)].iter().find_map(|rule| text.word(rule, at)),
        };
        at += 1;
        if let Some(hit) = hit {
            at = hit.range.end.max(at);
            found.push(hit);
        }
    }
    found
}

/// `text` without its secrets.
pub fn mask(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for Found { rule, range } in found {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str("[masked: ");
        out.push_str(rule);
        out.push(']');
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

impl Text<'_> {
    /// What a rule finds at the start of a word.
    fn word(&self, rule: &Rule, at: usize) -> Option<Found> {
        let range = match &rule.by {
            By::Prefix(prefix) => prefix.find(self.bytes, at),
            By::Word(_, find) => find(self, at),
            By::Value(_) | By::Address(_) => None,
        };
        range.map(|range| Found { rule: rule.name, range })
    }

    /// What stands behind the sign at `at`.
    fn behind(&self, at: usize) -> Option<Found> {
        let address = self.bytes[at..].starts_with(b"://");
        let named = if address { None } else { Some(Assignment::at(self, at)?) };
        RULES.iter().find_map(|rule| {
            let range = match (&rule.by, &named) {
                (By::Value(find), Some(named)) => find(self, named),
                (By::Address(find), None) => find(self, at),
                _ => None,
            };
            range.map(|range| Found { rule: rule.name, range })
        })
    }

    /// Whether a word can start at `at`: no letter or digit stands before it, or only that of `\n` in a quoted text.
    fn starts_word(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).and_then(|at| self.bytes.get(at)) else { return true };
        let escaped = matches!(before, b'n' | b't' | b'r') && at >= 2 && self.bytes[at - 2] == b'\\';
        !before.is_ascii_alphanumeric() || escaped
    }
}
