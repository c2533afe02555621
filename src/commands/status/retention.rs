//! When agents delete transcripts by themselves: what the table of agents and the user's settings say.
//!
//! Only the user's own settings are read; those of a project or of an administrator may say otherwise.

use std::borrow::Cow;
use std::path::Path;

use jiff::SignedDuration;
use serde_json::{Map, Value};

use crate::base::{Env, files};
use crate::import::places;
use crate::session::agent_table::{Retention, RetentionForm};

/// A folder, and the id of a session in it.
pub(super) type Together<'a> = (&'a Path, Option<&'a str>);

/// What a host does with the transcripts of one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// How long after its last line one is deleted.
    pub(super) age: Option<SignedDuration>,
    /// How many of the newest are kept.
    pub(super) most: Option<usize>,
    /// Whether the settings say the age.
    pub(super) set: bool,
}

impl Rule {
    /// Nothing is deleted.
    const OFF: Self = Self { age: None, most: None, set: true };

    /// What holds where the settings say nothing.
    fn unset(retention: &Retention) -> Self {
        Self { age: Some(hours(retention.days.into(), 24)), most: None, set: false }
    }

    /// What an agent does on this machine. Settings that are not there, or that nobody can read, say nothing.
    pub(super) fn of(retention: &Retention, env: &Env) -> Self {
        let path = places::expand(&retention.settings, env);
        // Settings larger than that are none.
        let bytes = path.and_then(|path| files::read_regular(&path, 4 << 20).ok().flatten());
        let text = bytes.as_deref().map(String::from_utf8_lossy);
        let told = text.and_then(|text| Self::told(text.trim_start_matches('\u{feff}'), retention));
        told.unwrap_or_else(|| Self::unset(retention))
    }

    /// What settings say; nothing where they are no settings.
    fn told(settings: &str, retention: &Retention) -> Option<Self> {
        let settings: Value = serde_json::from_str(&without_comments(settings)).ok()?;
        let (section, name) = match retention.setting.rsplit_once('.') {
            Some((section, name)) => (settings.pointer(&format!("/{}", section.replace('.', "/")))?, name),
            None => (&settings, retention.setting.as_str()),
        };
        match retention.form {
            RetentionForm::Days => {
                let days = section.get(name)?.as_i64().filter(|days| *days >= 0)?;
                Some(Self { age: Some(hours(days, 24)), most: None, set: true })
            }
            RetentionForm::Period => Some(Self::periods(section.as_object()?, name, Self::unset(retention))),
        }
    }

    /// What is not said stands as the agent has it; what it cannot understand makes it delete nothing.
    fn periods(section: &Map<String, Value>, name: &str, unset: Self) -> Self {
        let is_false = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
        if section.get("enabled").is_some_and(is_false) {
            return Self::OFF;
        }
        let mut rule = unset;
        match section.get(name) {
            None => {}
            Some(Value::Null) => rule = Self::OFF,
            Some(Value::String(text)) if text.is_empty() => rule = Self::OFF,
            Some(age) => match age.as_str().and_then(period) {
                Some(age) => rule = Self { age: Some(age), most: None, set: true },
                None => return Self::OFF,
            },
        }
        let least = section.get("minRetention").and_then(Value::as_str).and_then(period);
        if rule.age.is_some_and(|age| age < least.unwrap_or(hours(1, 24))) {
            return Self::OFF;
        }
        if let Some(most) = section.get("maxCount").and_then(Value::as_f64) {
            if most < 1.0 {
                return Self::OFF;
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
            let most = most.ceil() as usize;
            rule.most = Some(most);
        }
        rule
    }
}

/// The folder whose transcripts are counted together with this one, by the name that such folders have: `chats/a.json`,
/// and `chats/<session>/a.jsonl` for a sub-agent of a session, which goes with it.
pub(super) fn together<'a>(transcript: &'a Path, name: &str) -> Option<Together<'a>> {
    let folder = transcript.parent()?;
    let has_name = |folder: &Path| !name.is_empty() && folder.file_name().is_some_and(|it| it == name);
    if has_name(folder) {
        return Some((folder, None));
    }
    let above = folder.parent().filter(|above| has_name(above))?;
    Some((above, folder.file_name().and_then(|name| name.to_str())))
}

/// `30d`: hours, days, weeks or months of 30 days.
fn period(text: &str) -> Option<SignedDuration> {
    let unit = match text.chars().last()? {
        'h' => 1,
        'd' => 24,
        'w' => 7 * 24,
        'm' => 30 * 24,
        _ => return None,
    };
    let number = &text[..text.len() - 1];
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // So many that no number holds them are more than enough.
    let number = number.parse().unwrap_or(i64::MAX);
    (number > 0).then(|| hours(number, unit))
}

fn hours(number: i64, unit: i64) -> SignedDuration {
    number.checked_mul(unit).and_then(SignedDuration::try_from_hours).unwrap_or(SignedDuration::MAX)
}

/// JSON without the comments that some hosts allow in it.
fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("//") && !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['"', '/']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = match from.as_bytes() {
            [b'"', ..] => {
                let end = end_of_string(from);
                out.push_str(&from[..end]);
                end
            }
            [_, b'/', ..] => from.find('\n').unwrap_or(from.len()),
            [_, b'*', ..] => from[2..].find("*/").map_or(from.len(), |end| end + 4),
            _ => {
                out.push('/');
                1
            }
        };
        rest = &from[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where the string that a text begins with ends.
fn end_of_string(text: &str) -> usize {
    let mut escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::agent_table;

    const DAY: i64 = 24;

    #[test]
    fn what_settings_say() {
        let age = |hours| Some(SignedDuration::from_hours(hours));
        let rule = |age, most, set| Some(Rule { age, most, set });
        let of = |host: &str| agent_table::by_host(host).and_then(|agent| agent.retention.as_ref()).unwrap();
        let gemini =
            |inside: &str| Rule::told(&format!(r#"{{"general": {{"sessionRetention": {inside}}}}}"#), of("gemini-cli"));
        let claude = |settings: &str| Rule::told(settings, of("claude-code"));
        let rows: &[(&str, Option<Rule>)] = &[
            ("{}", rule(age(30 * DAY), None, false)),
            (r#"{"enabled": true}"#, rule(age(30 * DAY), None, false)),
            (r#"{"enabled": false, "maxAge": "7d"}"#, Some(Rule::OFF)),
            (r#"{"maxAge": "36h"}"#, rule(age(36), None, true)),
            (r#"{"maxAge": "2w", "maxCount": 50}"#, rule(age(14 * DAY), Some(50), true)),
            (r#"{"maxAge": "1m"}"#, rule(age(30 * DAY), None, true)),
            (r#"{"maxCount": 1.5}"#, rule(age(30 * DAY), Some(2), false)),
            (r#"{"maxAge": "", "maxCount": 3}"#, rule(None, Some(3), true)),
            (r#"{"maxAge": "99999999999999999999d"}"#, rule(Some(SignedDuration::MAX), None, true)),
            // What the host cannot understand, or holds for dangerous, makes it delete nothing.
            (r#"{"maxAge": "0d"}"#, Some(Rule::OFF)),
            (r#"{"maxAge": "d"}"#, Some(Rule::OFF)),
            (r#"{"maxAge": "+7d"}"#, Some(Rule::OFF)),
            (r#"{"maxAge": "7 é"}"#, Some(Rule::OFF)),
            (r#"{"maxAge": 7}"#, Some(Rule::OFF)),
            (r#"{"maxCount": 0}"#, Some(Rule::OFF)),
            (r#"{"maxAge": "12h"}"#, Some(Rule::OFF)),
            (r#"{"maxAge": "12h", "minRetention": "1h"}"#, rule(age(12), None, true)),
            (r#"{"maxAge": "7d", "minRetention": "2w"}"#, Some(Rule::OFF)),
            ("[]", None),
        ];
        for (settings, wanted) in rows {
            assert_eq!(gemini(settings), *wanted, "{settings}");
        }
        assert_eq!(claude(r#"{"cleanupPeriodDays": 7}"#), rule(age(7 * DAY), None, true));
        assert_eq!(claude(r#"{"cleanupPeriodDays": 100000000000000000}"#), rule(Some(SignedDuration::MAX), None, true));
        for none in ["", "{", "[]", r#"{"cleanupPeriodDays": -1}"#, r#"{"cleanupPeriodDays": "7"}"#] {
            assert_eq!(claude(none), None, "{none}");
        }
    }

    #[test]
    fn comments_are_left_out() {
        let rows = [
            ("{\"a\": 1} // b\n", "{\"a\": 1} \n"),
            ("/* \" */{\"u\": \"http://x /* y */\"}", "{\"u\": \"http://x /* y */\"}"),
            ("{\"a\": \"\\\"//\"}", "{\"a\": \"\\\"//\"}"),
            ("/*/", ""),
            ("\"//", "\"//"),
            ("é / // é", "é / "),
        ];
        for (text, wanted) in rows {
            assert_eq!(without_comments(text), wanted, "{text}");
        }
    }

    #[test]
    fn which_chats_go_together() {
        let chats = |path| together(Path::new(path), "chats");
        assert_eq!(chats("/t/x/chats/session-a.json"), Some((Path::new("/t/x/chats"), None)));
        assert_eq!(chats("/t/x/chats/id/a.jsonl"), Some((Path::new("/t/x/chats"), Some("id"))));
        assert_eq!(chats("/t/x/a.json"), None);
        assert_eq!(chats("a.json"), None);
        assert_eq!(together(Path::new("/t/x/chats/a.json"), ""), None);
    }
}
