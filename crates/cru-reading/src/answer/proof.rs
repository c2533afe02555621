//! A proof as one string: how readers write it, and how notes keep it.
//!
//! `n-042: text of its call or result`, `n-042:3` (a line as the prompt numbered it), `u-03: words of the person`,
//! `p-04: words of the agent`, `none n-050..: text that no call holds`, `count Edit x.go n-023..n-047 = 8`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::{AbsenceOf, CountOf, MAX_QUOTE, Proof, ProofStatus};

/// The forms of a proof, for messages.
pub(super) const FORMS: &str = "use `n-042: text`, `n-042:3`, `u-03: words`, `p-04: words`, `none n-050..: text` or \
    `count Edit x.go n-023..n-047 = 8`";

impl FromStr for Proof {
    /// What is wrong, and what to write.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.chars().count() > MAX_QUOTE {
            return Err(format!("has more than {MAX_QUOTE} characters; cite less"));
        }
        if let Some(rest) = text.strip_prefix("count ") {
            return count(rest);
        }
        if let Some(rest) = text.strip_prefix("none").filter(|rest| rest.starts_with([':', ' '])) {
            return absence(rest);
        }
        // An id alone cites nothing: that statement is refused, and not the whole answer.
        let is_id = |text: &str| text.contains('-') && !text.contains(char::is_whitespace);
        let bare = || is_id(text).then_some((text, ""));
        let (head, cited) = text.split_once(':').or_else(bare).ok_or_else(|| format!("is no proof; {FORMS}"))?;
        let (id, status) = match head.trim().split_once(' ') {
            Some((id, word)) => {
                let word = word.trim().trim_start_matches('[').trim_end_matches(']');
                let known = ProofStatus::parse(word);
                (id, Some(known.ok_or_else(|| format!("names no block of the record before the colon; {FORMS}"))?))
            }
            None => (head.trim(), None),
        };
        let id = id.trim_start_matches(['#', '^']).to_owned();
        if id.is_empty() || id.chars().count() > 80 {
            return Err(format!("names no block of the record before the colon; {FORMS}"));
        }
        let cited = cited.trim();
        if let Ok(line) = cited.parse::<u32>()
            && !text.contains(": ")
        {
            return Ok(Self::Line { step: id, line });
        }
        let cited = unquoted(cited).to_owned();
        Ok(match id.as_bytes().first() {
            Some(b'u') => Self::Said { said: id, quote: cited },
            Some(b'p') => Self::Prose { prose: id, quote: cited },
            _ => Self::Step { step: id, status, has: cited },
        })
    }
}

/// A text without the quotes around it, where they are a pair and stand for nothing else.
fn unquoted(text: &str) -> &str {
    let pairs = [('"', '"'), ('“', '”'), ('„', '“')];
    let inner = pairs.iter().find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
    inner.filter(|inner| !inner.is_empty() && !inner.contains(['"', '“', '”'])).unwrap_or(text)
}

/// `n-023..n-047`, `n-050..`, `..n-010`.
fn range(text: &str) -> Option<(Option<String>, Option<String>)> {
    let (from, to) = text.split_once("..")?;
    let id = |id: &str| Some(id.trim_start_matches(['#', '^']).to_owned()).filter(|id| !id.is_empty());
    let is_id = |id: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '#' | '^' | '_'));
    (is_id(from) && is_id(to)).then(|| (id(from), id(to)))
}

fn absence(rest: &str) -> Result<Proof, String> {
    let (place, text) = rest.split_once(':').ok_or("names no text; write `none n-050..: text`")?;
    let place = place.trim();
    let (from, to) = match place {
        "" => (None, None),
        place => {
            range(place).ok_or_else(|| format!("`{place}` is no range of steps; write `n-050..` or `n-050..n-060`"))?
        }
    };
    let text = cru_base::text::fold_whitespace(unquoted(text.trim()));
    if text.is_empty() {
        return Err("names no text; write `none n-050..: text`".to_owned());
    }
    Ok(Proof::Absent { none: AbsenceOf { text, from, to } })
}

fn count(rest: &str) -> Result<Proof, String> {
    const FORM: &str =
        "write `count Edit x.go n-023..n-047 = 8`, with `*` for any tool and \"…\" around a text of the call";
    let (what, number) = rest.rsplit_once('=').ok_or_else(|| format!("says no number; {FORM}"))?;
    let is = number.trim().parse().map_err(|_| format!("`{}` is no number; {FORM}", number.trim()))?;
    let mut count = CountOf::default();
    let mut what = what.trim();
    if let Some((before, range)) = what.rsplit_once(' ').map_or(Some(("", what)), Some)
        && let Some((from, to)) = self::range(range)
    {
        (count.from, count.to) = (from, to);
        what = before.trim();
    }
    if let Some((before, text)) = what.split_once('"') {
        count.text = Some(text.trim_end_matches('"').to_owned()).filter(|text| !text.is_empty());
        what = before.trim();
    }
    let (tool, file) = what.split_once(' ').unwrap_or((what, ""));
    count.tool = Some(tool.to_owned()).filter(|tool| !matches!(tool.as_str(), "" | "*"));
    count.file = Some(file.trim().to_owned()).filter(|file| !matches!(file.as_str(), "" | "*"));
    if count.tool.is_none() && count.file.is_none() && count.text.is_none() {
        return Err(format!("says nothing of what is counted; {FORM}"));
    }
    Ok(Proof::Count { count, is })
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |from: &Option<String>, to: &Option<String>| match (from, to) {
            (None, None) => String::new(),
            (from, to) => format!(" {}..{}", from.as_deref().unwrap_or(""), to.as_deref().unwrap_or("")),
        };
        match self {
            Self::Step { step, status: None, has } => write!(f, "{step}: {has}"),
            Self::Step { step, status: Some(status), has } => write!(f, "{step} [{}]: {has}", status.as_str()),
            Self::Line { step, line } => write!(f, "{step}:{line}"),
            Self::Said { said, quote } => write!(f, "{said}: {quote}"),
            Self::Prose { prose, quote } => write!(f, "{prose}: {quote}"),
            Self::Absent { none } => write!(f, "none{}: {}", range(&none.from, &none.to), none.text),
            Self::Count { count, is } => {
                write!(f, "count {}", count.tool.as_deref().unwrap_or("*"))?;
                if let Some(file) = &count.file {
                    write!(f, " {file}")?;
                }
                if let Some(text) = &count.text {
                    write!(f, " \"{text}\"")?;
                }
                write!(f, "{} = {is}", range(&count.from, &count.to))
            }
        }
    }
}

impl Serialize for Proof {
    /// As the string; what the string cannot tell (words of a person that a step or phase is cited for) as an object.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_string();
        if text.parse::<Self>().as_ref() == Ok(self) {
            return serializer.serialize_str(&text);
        }
        super::ProofObject::of(self).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn table_of_proofs() {
        let step = |step: &str, has: &str| Proof::Step { step: step.into(), status: None, has: has.into() };
        let rows: [(&str, Proof); 9] = [
            ("n-042: ok  \tcli\t1.7s", step("n-042", "ok  \tcli\t1.7s")),
            ("^n-042: a: b", step("n-042", "a: b")),
            ("n-042: 3", step("n-042", "3")),
            ("n-042:3", Proof::Line { step: "n-042".into(), line: 3 }),
            ("u-03: \"yes\"", Proof::Said { said: "u-03".into(), quote: "yes".into() }),
            ("p-04: All tests pass", Proof::Prose { prose: "p-04".into(), quote: "All tests pass".into() }),
            (
                "none n-050..: git commit",
                Proof::Absent { none: AbsenceOf { text: "git commit".into(), from: Some("n-050".into()), to: None } },
            ),
            ("none: npm test", Proof::Absent { none: AbsenceOf { text: "npm test".into(), ..AbsenceOf::default() } }),
            (
                "count Edit x.go n-023..n-047 = 8",
                Proof::Count {
                    count: CountOf {
                        tool: Some("Edit".into()),
                        file: Some("x.go".into()),
                        text: None,
                        from: Some("n-023".into()),
                        to: Some("n-047".into()),
                    },
                    is: 8,
                },
            ),
        ];
        for (text, proof) in rows {
            assert_eq!(text.parse::<Proof>(), Ok(proof), "{text}");
        }
        for text in ["", "none", "count = 3", "count Edit", "two words: x", "none here: x"] {
            assert!(text.parse::<Proof>().is_err(), "{text}");
        }
        let any = "count Bash * n-001..n-010 = 0".parse::<Proof>().unwrap();
        assert_eq!(any.to_string(), "count Bash n-001..n-010 = 0", "any file is no file");
        let counted = "count * \"npm test\" n-001.. = 2".parse::<Proof>().unwrap();
        assert_eq!(counted.to_string(), "count * \"npm test\" n-001.. = 2");
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_what_is_read_is_written_back(text in "(n-1|u-2|p-3|none|count|x)?[ -~]{0,40}") {
            if let Ok(proof) = text.parse::<Proof>() {
                prop_assert_eq!(proof.to_string().parse::<Proof>(), Ok(proof));
            }
        }
    }
}
