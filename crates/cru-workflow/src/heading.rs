//! The heading of a step, in the words of both dialects: `title @agent #channel !` and `& title @agent -> name [key:: value]`.
//!
//! Only the tail counts, in this order; anything that is not exactly a mark, a name, a channel or an agent belongs to
//! the title. `RFC 5322 @example.com addresses` has no agent, `Migration: 1.0 -> 2.0` is a title, `issue #42` no channel.

use super::model::{Dialect, Need, Step};
use super::text::{escape, outside_code, unescape};
use cru_base::Span;
use cru_note::heading::Tail;
use cru_session::Agent;

/// What marks the steps below as parallel.
const FORK: &str = "(parallel)";

/// A heading's text, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heading {
    /// What remains.
    pub title: String,
    /// `@agent`, `@agent@1.2`.
    pub agent: Option<Agent>,
    /// `#channel`, `[channel:: dev]`.
    pub channel: Option<String>,
    /// `!` or `?`; `[need:: required]`.
    pub need: Need,
    /// ` -> name`: what its result is called.
    pub binds: Option<String>,
    /// A leading `&`: runs beside its neighbours.
    pub parallel: bool,
    /// A trailing `(parallel)`: the steps right below run beside each other.
    pub fork: bool,
    /// Other pairs `[key:: value]`, in order.
    pub pairs: Vec<(String, String)>,
}

impl Heading {
    /// Reads the text between the marks of a heading.
    pub fn parse(text: &str) -> Self {
        let (text, pairs) = take_pairs(text);
        let mut heading = Self::default();
        let mut rest = text.trim();
        for (mark, need) in [("!", Need::Required), ("?", Need::Optional)] {
            if let Some(before) = rest.strip_suffix(mark).filter(|before| is_apart(before)) {
                (heading.need, rest) = (need, before.trim_end());
                break;
            }
        }
        rest = heading.take_fork(rest);
        if let Some((before, name)) = rest.rsplit_once("->")
            && is_apart(before)
            && name.starts_with(char::is_whitespace)
            && is_ident(name.trim())
        {
            heading.binds = Some(name.trim().to_owned());
            rest = before.trim_end();
        }
        rest = heading.take_fork(rest);
        let tail = Tail::parse(rest);
        let owned = |span: Span| span.of(rest).to_owned();
        heading.agent = tail.agent.map(|name| Agent { name: owned(name), version: tail.version.map(owned) });
        heading.channel = tail.channel.map(owned);
        let mut title = tail.title.of(rest);
        // Names of the other dialect may begin with an underscore.
        if heading.agent.is_none()
            && heading.channel.is_none()
            && let Some((before, name)) = title.rsplit_once('@')
            && is_apart(before)
            && name.starts_with('_')
            && is_ident(name)
        {
            heading.agent = Some(Agent { name: name.to_owned(), version: None });
            title = before.trim_end();
        }
        title = heading.take_fork(title);
        if let Some(after) = title.strip_prefix('&') {
            heading.parallel = true;
            title = after.trim_start();
        }
        heading.title = unescape(title);
        heading.take(pairs);
        heading
    }

    fn take_fork<'a>(&mut self, text: &'a str) -> &'a str {
        match text.strip_suffix(FORK).filter(|before| is_apart(before)) {
            Some(before) if !self.fork => {
                self.fork = true;
                before.trim_end()
            }
            _ => text,
        }
    }

    /// Pairs that say what has a place of its own go there.
    fn take(&mut self, pairs: Vec<(String, String)>) {
        for (key, value) in pairs {
            match (key.as_str(), value.as_str()) {
                ("channel", name) if self.channel.is_none() && is_channel(name) => self.channel = Some(value),
                ("need", "required") if self.need == Need::Normal => self.need = Need::Required,
                ("need", "optional") if self.need == Need::Normal => self.need = Need::Optional,
                _ => self.pairs.push((key, value)),
            }
        }
    }

    /// Whether there is nothing but a title.
    pub fn is_bare(&self) -> bool {
        *self == Self { title: self.title.clone(), ..Self::default() }
    }

    /// The text of a step's heading.
    pub fn write(step: &Step, dialect: Dialect) -> String {
        let crucible = dialect == Dialect::Crucible;
        let channel = step.channel.as_ref();
        let mut out = if step.parallel { "&".to_owned() } else { String::new() };
        let last = step.agent.is_none() && (channel.is_none() || crucible) && step.binds.is_none() && !step.fork;
        let title = title(&step.title, last);
        push_word(&mut out, &if crucible { escape_marks(&title) } else { title });
        push_word(&mut out, if step.fork { FORK } else { "" });
        if let Some(agent) = &step.agent {
            let version = agent.version.as_ref().filter(|_| !crucible);
            let version = version.map_or(String::new(), |version| format!("@{version}"));
            push_word(&mut out, &format!("@{}{version}", agent.name));
        }
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        match channel {
            Some(channel) if crucible => pairs.push(("channel", channel)),
            Some(channel) => push_word(&mut out, &format!("#{channel}")),
            None => {}
        }
        if let Some(name) = &step.binds {
            push_word(&mut out, &format!("-> {name}"));
        }
        match step.need {
            Need::Required if crucible => pairs.push(("need", "required")),
            Need::Optional if crucible => pairs.push(("need", "optional")),
            _ => {}
        }
        pairs.extend(step.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        for (key, value) in pairs {
            push_word(&mut out, &format!("[{key}:: {value}]"));
        }
        push_word(&mut out, if crucible { "" } else { step.need.mark() });
        out
    }
}

/// Whether what stands before a token ends in white space, or is nothing.
fn is_apart(before: &str) -> bool {
    before.is_empty() || before.ends_with(char::is_whitespace)
}

/// A title that is read back as it is; `last` where nothing of the heading follows it.
fn title(title: &str, last: bool) -> String {
    let mut out = escape_pairs(&escape(title));
    if out.starts_with('&') {
        out.insert(0, '\\');
    }
    if let Some(before) = out.strip_suffix(FORK).filter(|before| is_apart(before)) {
        out.insert(before.len(), '\\');
    }
    if last
        && let Some((before, name)) = out.rsplit_once("->")
        && is_apart(before)
        && name.starts_with(char::is_whitespace)
        && is_ident(name.trim())
    {
        out.insert(before.len() + 1, '\\');
    }
    out
}

/// Backslashes before marks that stand alone: the other dialect has none, and an unescaped one is told as odd there.
fn escape_marks(text: &str) -> String {
    outside_code(text, true, |text, out| {
        for word in text.split_inclusive(char::is_whitespace) {
            out.push_str(if matches!(word.trim_end(), "!" | "?") { "\\" } else { "" });
            out.push_str(word);
        }
    })
}

/// Backslashes before what would be read as pairs.
fn escape_pairs(text: &str) -> String {
    outside_code(text, true, |mut text, out| {
        while let Some((before, pair, after)) = next_pair(text) {
            out.extend([before, "\\", &text[before.len()..before.len() + pair.2]]);
            text = after;
        }
        out.push_str(text);
    })
}

/// The text without its pairs, and the pairs.
pub(super) fn take_pairs(text: &str) -> (String, Vec<(String, String)>) {
    let mut found = Vec::new();
    let left = outside_code(text, true, |mut text, out| {
        while let Some((before, (key, value, _), after)) = next_pair(text) {
            found.push((key.to_owned(), value.to_owned()));
            out.push_str(before);
            text = if is_apart(out) { after.trim_start() } else { after };
        }
        out.push_str(text);
    });
    (left, found)
}

/// Key, value and length of a pair.
type Pair<'a> = (&'a str, &'a str, usize);

/// The first `[key:: value]` with what stands around it.
fn next_pair(text: &str) -> Option<(&str, Pair<'_>, &str)> {
    let mut from = 0;
    while let Some(found) = text.get(from..)?.find('[') {
        let at = from + found;
        from = at + 1;
        let hidden = text[..at].ends_with(['\\', '[']);
        let rest = &text[at + 1..];
        // A key is short, so the search for its end is.
        let key_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(rest.len());
        let (key, rest) = rest.split_at(key_end);
        if hidden || !is_ident(key) || !rest.starts_with("::") {
            continue;
        }
        let end = rest.find([']', '[']).filter(|&end| rest[end..].starts_with(']'));
        if let Some(end) = end {
            let len = 1 + key.len() + end + 1;
            return Some((&text[..at], (key, rest[2..end].trim(), len), &text[at + len..]));
        }
    }
    None
}

/// Whether a word is a name of dialect B: a letter or underscore, then letters, digits, `_`, `-`.
pub(super) fn is_ident(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn push_word(out: &mut String, word: &str) {
    if !out.is_empty() && !word.is_empty() {
        out.push(' ');
    }
    out.push_str(word);
}

/// Whether `name` (perhaps with `@version`) would be read back as an agent.
pub(super) fn is_agent(name: &str) -> bool {
    !name.contains(char::is_whitespace) && Tail::parse(&format!("x @{name}")).agent.is_some()
}

/// Whether `name` would be read back as a channel.
pub(super) fn is_channel(name: &str) -> bool {
    !name.contains(char::is_whitespace) && Tail::parse(&format!("x #{name}")).channel.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, String, String, &'static str) {
        let heading = Heading::parse(text);
        let agent = heading.agent.map_or(String::new(), |agent| agent.to_string());
        (heading.title, agent, heading.channel.unwrap_or_default(), heading.need.mark())
    }

    #[test]
    fn reads_the_tail() {
        let is = |text, title: &str, agent: &str, channel: &str, mark| {
            assert_eq!(read(text), (title.into(), agent.into(), channel.into(), mark), "{text}");
        };
        is("Validate Cart @cart-service #orders !", "Validate Cart", "cart-service", "orders", "!");
        is("Planning @planner@1.2", "Planning", "planner@1.2", "", "");
        is("Notify #ops ?", "Notify", "", "ops", "?");
        is("@coder", "", "coder", "", "");
        // What only looks like it.
        is("RFC 5322 @example.com addresses", "RFC 5322 @example.com addresses", "", "", "");
        is("Migration: 1.0 -> 2.0", "Migration: 1.0 -> 2.0", "", "", "");
        is("Fix issue #42", "Fix issue #42", "", "", "");
        is("Does it work?", "Does it work?", "", "", "");
        is("Mail me@example.com", "Mail me@example.com", "", "", "");
        is("Learn C#", "Learn C#", "", "", "");
        is("Meet @ 5", "Meet @ 5", "", "", "");
        is(r"Say hello \@world \!", "Say hello @world !", "", "", "");
    }

    #[test]
    fn reads_the_other_dialect() {
        let all = |text: &str| {
            let it = Heading::parse(text);
            let pairs: Vec<String> = it.pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let agent = it.agent.map_or(String::new(), |agent| agent.to_string());
            let marks =
                format!("{}{}{}", if it.parallel { "&" } else { "" }, if it.fork { "()" } else { "" }, it.need.mark());
            format!(
                "{}|{agent}|{}|{}|{marks}|{}",
                it.title,
                it.channel.unwrap_or_default(),
                it.binds.unwrap_or_default(),
                pairs.join(",")
            )
        };
        let is = |text, expected: &str| assert_eq!(all(text), expected, "{text}");
        is("Research @researcher -> notes [channel:: dev]", "Research|researcher|dev|notes||");
        is("Implement [TICKET-123] @dev [priority:: high]", "Implement [TICKET-123]|dev||||priority=high");
        is("[id:: s1] Fetch it", "Fetch it|||||id=s1");
        is("& Fetch @a -> x", "Fetch|a||x|&|");
        is("Gather (parallel)", "Gather||||()|");
        is("Gather (parallel) @lead -> all", "Gather|lead||all|()|");
        is("Gather @lead (parallel)", "Gather|lead|||()|");
        is("Save @_me", "Save|_me||||");
        is("Ship -> parcel !", "Ship|||parcel|!|");
        is("Ship [need:: optional]", "Ship||||?|");
        is("Research @r #dev -> notes ?", "Research|r|dev|notes|?|");
        // Look-alikes.
        is("Migration: 1.0 -> 2.0", "Migration: 1.0 -> 2.0|||||");
        is("From A → B", "From A → B|||||");
        is("Use a->b", "Use a->b|||||");
        is("RFC 5322 @example.com addresses", "RFC 5322 @example.com addresses|||||");
        is("See [[note::x]] and [a] [b:c]", "See [[note::x]] and [a] [b:c]|||||");
        is("Read `[a:: b]` -> twice more", "Read `[a:: b]` -> twice more|||||");
        is(r"Keep \[a:: b] -\> c", "Keep [a:: b] -> c|||||");
        is("Run (parallel) jobs", "Run (parallel) jobs|||||");
        is("Open [a:: b", "Open [a:: b|||||");
    }
}
