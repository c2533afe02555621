//! Which characters of a line would open something.
//!
//! Everything here looks at a [`View`], so that it finds the same characters before and after they were escaped. Where
//! readers of markdown differ, the widest reading counts. Offsets are bytes of the line, ascending.

use super::slash::slashes_before;
use super::view::{CODE, View};
use super::{Place, active};
use crate::callout::split_field;
use crate::task_line;

/// Bytes without which nothing inside a line can be dangerous.
const SPECIAL: &[u8] = b"[]%#^:<$`\"@";

/// Bytes that a line starts with which is dangerous at its start; a list with code in front is looked at anyway.
const STARTS: &[u8] = b"[*\\iIoO";

/// The dangers inside `line` from byte `from` on.
pub(super) fn text(line: &str, from: usize, table: bool, place: Place<'_>) -> Vec<usize> {
    let rest = line.as_bytes().get(from..).unwrap_or_default();
    if !rest.iter().any(|byte| SPECIAL.contains(byte) || (place.dash && *byte == b'-')) {
        return Vec::new();
    }
    let view = View::of(line, from, table);
    let plain = view.plain.as_str();
    // A backslash says that some of it was escaped, so none of it is a link.
    let links = place.links && !line.contains('\\') && is_link_field(plain);
    let kept = |at: usize| {
        place.keep.iter().any(|link| plain[at..].starts_with(link.trim_start_matches('!')))
            && view.raw(at).is_some_and(|raw| slashes_before(line, raw, 0) == 0)
    };
    let mut found = Vec::new();
    let mut before = None;
    let id = trailing_id(plain);
    let images = std::cell::OnceCell::new();
    for (at, c) in plain.char_indices() {
        let after = &plain[at + c.len_utf8()..];
        let next = after.chars().next();
        let danger = match c {
            '`' => true,
            '!' => {
                next == Some('[')
                    && !after[1..].starts_with('[')
                    && images.get_or_init(|| Images::of(plain)).loads(at + 2)
            }
            '[' => next == Some('[') && !links && !kept(at),
            '%' => next == Some('%') || matches!(before, Some('%' | '<')),
            ']' => after.strip_prefix('(').is_some_and(active::is_command),
            '$' => next == Some('$') || before == Some('$'),
            '#' => {
                before.is_none_or(|before: char| before.is_whitespace() || before == '>')
                    && (place.title || is_tag(after))
            }
            '@' => place.title && before.is_none_or(char::is_whitespace),
            '^' => id == Some(at),
            ':' => {
                next == Some(':')
                    && (after[1..].chars().next().is_none_or(char::is_whitespace) || active::is_key(&plain[..at]))
            }
            '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next)) && !is_address(after),
            '"' => place.quote && ends_quote(after, place.last),
            '-' => place.dash && before.is_none_or(|before| before == ' ') && next == Some(' '),
            _ => false,
        };
        if danger {
            found.extend(view.raw(at));
        }
        before = Some(c);
    }
    found
}

/// The dangers at the start of a line's text, which stands at `from`; `bullet`: directly behind a bullet at top level.
pub(super) fn start(line: &str, from: usize, bullet: bool, table: bool, place: Place<'_>) -> Vec<usize> {
    let first = line.as_bytes().get(from).copied().unwrap_or_default();
    if place.fields.is_empty() && !bullet && !STARTS.contains(&first) {
        return Vec::new();
    }
    let view = View::of(line, from, table);
    let plain = view.plain.as_str();
    let mut found = Vec::new();
    match plain.chars().next() {
        Some('[') if (plain[1..].starts_with('!') && !plain[2..].starts_with('[')) || is_definition(plain) => {
            found.extend(view.raw(0));
        }
        Some('*') => {
            let word = plain.trim_start_matches('*');
            let ours = ["tool calls", "inputs", "outputs"];
            let named = |name: &str| word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            let tasks = task_line::is_header(plain);
            if tasks || (plain.starts_with("**") && ours.iter().any(|name| named(name))) {
                found.extend(view.raw(0));
                found.extend(view.raw(1));
            } else if is_time(&plain[1..]) {
                found.extend(view.raw(0));
            }
        }
        Some(CODE) if bullet => {
            let rest = plain[CODE.len_utf8()..].trim_start();
            if rest.starts_with('→') || rest.starts_with("->") {
                found.extend(view.raw(plain.len() - rest.len()));
            }
        }
        _ => {}
    }
    let report = ["inputs:", "outputs:"];
    if report.iter().any(|name| plain.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))) {
        found.extend(plain.find(':').and_then(|colon| view.raw(colon)));
    }
    if from == 0
        && let Some(colon) = plain.find(':')
        && place.fields.iter().any(|name| name.eq_ignore_ascii_case(&plain[..colon]))
    {
        found.extend(view.raw(colon));
    }
    found
}

/// The dangers in the info string of a fence, which stands at `from`: a name that an editor may run, a fence of ours, a template.
pub(super) fn info(line: &str, from: usize) -> Vec<usize> {
    let rest = line.get(from..).unwrap_or("");
    let blank = rest.len() - rest.trim_start().len();
    let info = &rest[blank..];
    let bare = info.trim_start_matches('\\');
    let mut words = bare.split_whitespace().map(str::to_lowercase);
    let ours = matches!((words.next().as_deref(), words.next().as_deref()), (Some("yaml"), Some("memory")));
    let name = if ours { Some(info.len() - bare.len()) } else { active::name_of(info) };
    let mut found: Vec<usize> = name.map(|at| from + blank + at).into_iter().collect();
    found.extend(active::marks(line).filter(|at| *at >= from + blank));
    found.sort_unstable();
    found.dedup();
    found
}

/// The live quotes of a line of text, and whether each ends a person's words for sure.
pub(super) fn quotes(line: &str, from: usize, table: bool, last: bool) -> Vec<(usize, bool)> {
    if memchr::memchr(b'"', line.as_bytes()).is_none() {
        return Vec::new();
    }
    let view = View::of(line, from, table);
    let plain = view.plain.as_str();
    let quotes =
        plain.match_indices('"').filter_map(|(at, _)| Some((view.raw(at)?, ends_quote(&plain[at + 1..], last))));
    quotes.filter(|&(at, _)| slashes_before(line, at, 0).is_multiple_of(2)).collect()
}

/// Whether the words end with a quote that `after` follows; `last`: on a line that can be their last.
fn ends_quote(after: &str, last: bool) -> bool {
    (last && after.trim().is_empty()) || after.starts_with(" - ") || after == " -"
}

/// Behind `#`: a tag.
fn is_tag(after: &str) -> bool {
    let name = after.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '/'));
    name.into_iter().next().is_some_and(|name| name.chars().any(|c| !c.is_ascii_digit()))
}

/// The `^` of a block id that ends the line, or the heading before its closing hashes.
fn trailing_id(plain: &str) -> Option<usize> {
    let text = plain.trim_end().trim_end_matches('#').trim_end();
    let at = text.rfind('^')?;
    let name = &text[at + 1..];
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_name && text[..at].chars().next_back().is_none_or(char::is_whitespace)).then_some(at)
}

/// What of images stands in a line, by its last place: found in one pass, since each `![` asks what is behind it.
struct Images {
    /// The last `]`.
    bracket: Option<usize>,
    /// The last `](`.
    target: Option<usize>,
    /// The last `](` whose address may be loaded from elsewhere.
    loading: Option<usize>,
}

impl Images {
    fn of(plain: &str) -> Self {
        const ENDS: [char; 4] = [' ', '\t', ')', '>'];
        // The first end of an address, and the first mark of one that is not in the vault, from the place that was last
        // looked at on.
        let (mut end, mut sign, mut seen) = (plain.len(), plain.len(), plain.len());
        let mut loading = None;
        for (at, mark) in plain.rmatch_indices("](") {
            let rest = plain[at + mark.len()..].trim_start().trim_start_matches('<');
            let from = plain.len() - rest.len();
            let part = plain.get(from..seen.max(from)).unwrap_or_default();
            end = part.find(ENDS).map_or(end.max(from), |found| from + found);
            sign = part.find([':', '&', CODE]).map_or(sign.max(from), |found| from + found);
            if from == end || rest.starts_with("//") || sign < end {
                loading = Some(at);
                break;
            }
            let before = &plain[at..from];
            end = before.find(ENDS).map_or(end, |found| at + found);
            sign = before.find([':', '&', CODE]).map_or(sign, |found| at + found);
            seen = at;
        }
        Self { bracket: plain.rfind(']'), target: plain.rfind("]("), loading }
    }

    /// Whether the image whose text begins at `from`, behind `![`, is loaded from elsewhere, or may be, as its address stands
    /// on another line. A file in the vault has no scheme, no host and no character reference in its address.
    fn loads(&self, from: usize) -> bool {
        if self.target.is_some_and(|at| at >= from) {
            self.loading.is_some_and(|at| at >= from)
        } else {
            self.bracket.is_none_or(|at| at < from)
        }
    }
}

/// Behind `<`: an address in angle brackets, which is a link to the web and nothing else.
fn is_address(after: &str) -> bool {
    if !after.starts_with("http://") && !after.starts_with("https://") {
        return false;
    }
    let end = after.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '`' | '"' | CODE));
    end.is_some_and(|end| after[end..].starts_with('>'))
}

/// At the start of a line: `[label]: …`, or a label that does not end on it.
fn is_definition(plain: &str) -> bool {
    plain.find(']').is_none_or(|end| plain[end + 1..].starts_with(':'))
}

/// Behind `*`: a date, as in the line under a heading.
fn is_time(rest: &str) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits == 4 && rest[digits..].starts_with('-')
}

/// `Name: [[a]], [[b]]` and nothing else.
fn is_link_field(plain: &str) -> bool {
    let Some((name, value)) = plain.split_once(": ") else { return false };
    let is_link = |part: &str| {
        let part = part.trim();
        let part = part.strip_prefix('!').unwrap_or(part);
        let inner = part.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
        inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['[', ']', '`', CODE]))
    };
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        && value.split(',').all(is_link)
}

/// Whether a quote at the end of line `index` can end the words: nothing follows but a field.
pub(super) fn may_end(lines: &[&str], index: usize) -> bool {
    lines.get(index + 1).is_none_or(|next| is_field(next))
}

pub(super) fn is_field(line: &str) -> bool {
    split_field(line.trim_end(), Some(&["At"])).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`Images::loads`] says, told of one image alone.
    fn loads_alone(after: &str) -> bool {
        let mut targets = after.match_indices("](").peekable();
        if targets.peek().is_none() {
            return !after.contains(']');
        }
        targets.any(|(at, sign)| {
            let target = after[at + sign.len()..].trim_start().trim_start_matches('<');
            let end = target.find([' ', '\t', ')', '>']).unwrap_or(target.len());
            let target = &target[..end];
            target.is_empty() || target.starts_with("//") || target.contains([':', '&', CODE])
        })
    }

    proptest::proptest! {
        #[test]
        fn one_pass_says_what_each_image_says(line in "(!\\[|\\]\\(|\\]|\\)|<|>| |//|:|&|a|é){0,16}") {
            let images = Images::of(&line);
            for (at, mark) in line.match_indices("![") {
                let from = at + mark.len();
                proptest::prop_assert_eq!(images.loads(from), loads_alone(&line[from..]), "{} at {}", line, at);
            }
        }
    }
}
