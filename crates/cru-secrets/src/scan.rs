//! One scan for the keywords of all rules; where one stands, its rules are asked.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::sync::LazyLock;

use super::Found;
use super::assignment::Assignment;
use super::form;
use super::keywords::KeywordSearch;
use super::public::{self, PUBLIC_RULES};
use super::table::{By, RULES, RUNS, Rule};
use super::text::Text;

/// What a keyword is to a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The beginning of a word.
    Word,
    /// A part of what is found.
    Around,
    /// The end of a name.
    Name,
    /// A keyword of a public rule, by number.
    Public(usize),
}

/// The name of what only its form tells.
const FORM: &str = "service-key";

/// The keywords of all rules, and what each is.
static KEYWORDS: LazyLock<(KeywordSearch, Vec<Role>)> = LazyLock::new(|| {
    let mut known: Vec<(String, Role)> = Vec::new();
    for rule in RULES {
        let (keywords, role) = match &rule.by {
            By::Around(parts, _) => (*parts, Role::Around),
            By::Value(ends, _) => (*ends, Role::Name),
            by => (word_starts(by), Role::Word),
        };
        for entry in keywords.iter().map(|keyword| (keyword.to_ascii_lowercase(), role)) {
            cru_base::list::push_new(&mut known, entry);
        }
    }
    for (number, rule) in PUBLIC_RULES.iter().enumerate() {
        known.extend(rule.keys.iter().map(|key| (key.to_ascii_lowercase(), Role::Public(number))));
    }
    let (known, roles) = known.into_iter().unzip();
    (KeywordSearch::of(known), roles)
});

/// The rules that a word is asked for, by its first byte.
static WORDS: LazyLock<Vec<Vec<&'static Rule>>> = LazyLock::new(|| {
    let mut words = vec![Vec::new(); 256];
    for rule in RULES {
        for first in word_starts(&rule.by).iter().filter_map(|start| start.bytes().next()) {
            add(&mut words[usize::from(first.to_ascii_lowercase())], rule);
            add(&mut words[usize::from(first.to_ascii_uppercase())], rule);
        }
    }
    words
});

/// The rules that a long word is asked for, by its first byte, with the second one.
static LONG_WORDS: LazyLock<Vec<Vec<(u8, &'static Rule)>>> = LazyLock::new(|| {
    let mut words = vec![Vec::new(); 256];
    for rule in RUNS {
        for start in word_starts(&rule.by).iter().map(|start| start.as_bytes()) {
            let second = start.get(1).copied().unwrap_or(0);
            let rules: &mut Vec<(u8, &Rule)> = &mut words[usize::from(start[0])];
            if !rules.iter().any(|(known, other)| *known == second && std::ptr::eq(*other, rule)) {
                rules.push((second, rule));
            }
        }
    }
    words
});

/// How the words begin that a rule is asked for.
const fn word_starts(by: &By) -> &'static [&'static str] {
    match by {
        By::Prefix(prefix) => prefix.starts,
        By::Word(starts, _) => starts,
        By::Command(command) => command.starts,
        By::Around(..) | By::Value(..) => &[],
    }
}

/// Adds a rule that is not among them.
fn add(rules: &mut Vec<&'static Rule>, rule: &'static Rule) {
    if !rules.iter().any(|known| std::ptr::eq(*known, rule)) {
        rules.push(rule);
    }
}

/// Every secret of `text`, in order, none over another.
pub fn find(text: &str) -> Vec<Found> {
    let (search, roles) = &*KEYWORDS;
    let mut found: Vec<Found> = Vec::new();
    let text = Text {
        bytes: text.as_bytes(),
        whole: text,
        last_end: OnceCell::new(),
        next_end: Cell::new(0),
        no_jwt: Cell::new(0),
        floor: Cell::new(0),
    };
    let mut public: Vec<(usize, usize)> = Vec::new();
    search.each(text.whole, |number, Range { start, end }| {
        if start < text.floor.get() {
            return;
        }
        let hit = match roles[number] {
            Role::Word if text.starts_word(start) => text.word(start),
            Role::Word => None,
            Role::Around => text.around(start),
            Role::Name => text.behind(end),
            Role::Public(rule) => {
                public.push((rule, start));
                None
            }
        };
        // What begins inside of another secret goes on behind it.
        if let Some(Found { rule, range }) = hit.filter(|hit| hit.range.end > text.floor.get()) {
            found.push(Found { rule, range: range.start.max(text.floor.get())..range.end });
            text.floor.set(range.end);
        }
    });
    if !public.is_empty() {
        with_public(&text, &public, &mut found);
    }
    with_runs(&text, &mut found);
    found
}

/// Adds the tokens that are told by their length, where nothing else was found.
fn with_runs(text: &Text<'_>, found: &mut Vec<Found>) {
    let known = found.len();
    form::each_run(text.bytes, |run| {
        let next = found[..known].partition_point(|known| known.range.end <= run.start);
        if found[..known].get(next).is_some_and(|known| known.range.start < run.end) {
            return;
        }
        // A beginning may stand behind other words: `x_ghp_…`.
        let starts = run.clone().filter(|at| *at == run.start || matches!(text.bytes[at - 1], b'_' | b'-'));
        // In how many words of a run a token may begin.
        let named = || starts.take(16).find_map(|at| text.run(at));
        let token = named()
            .or_else(|| form::is_token(text.bytes, run.clone()).then(|| Found { rule: FORM, range: run.clone() }));
        found.extend(token);
    });
    if found.len() > known {
        found.sort_by_key(|found| found.range.start);
    }
}

/// Adds what public rules find at their keywords, where no rule of our own found anything.
fn with_public(text: &Text<'_>, keywords: &[(usize, usize)], found: &mut Vec<Found>) {
    let own = found.len();
    for &(rule, at) in keywords {
        let Some(range) = public::find(text.bytes, rule, at) else { continue };
        let bounded = text.whole.is_char_boundary(range.start) && text.whole.is_char_boundary(range.end);
        let touches = |known: &Found| known.range.start < range.end && range.start < known.range.end;
        let of_own = found[..own].partition_point(|known| known.range.end <= range.start);
        let taken = found[..own].get(of_own).is_some_and(touches) || found[own..].iter().rev().take(64).any(touches);
        if bounded && !range.is_empty() && !taken {
            found.push(Found { rule: PUBLIC_RULES[rule].name, range });
        }
    }
    found.sort_by_key(|found| found.range.start);
    // Of two that touch, the first one stands.
    let mut floor = 0;
    found.retain(|found| {
        let free = found.range.start >= floor;
        floor = if free { found.range.end } else { floor };
        free
    });
}

impl Text<'_> {
    /// What a rule finds at the start of a word.
    pub(crate) fn word(&self, at: usize) -> Option<Found> {
        let first = usize::from(*self.bytes.get(at)?);
        WORDS[first].iter().find_map(|rule| {
            let range = match &rule.by {
                By::Prefix(prefix) => prefix.find(self.bytes, at),
                By::Word(starts, find) if starts.iter().any(|start| self.has(at, start)) => find(self, at),
                By::Command(command) => command.find(self, at),
                _ => None,
            };
            range.map(|range| Found { rule: rule.name, range })
        })
    }

    /// What a rule for long words finds at `at`.
    fn run(&self, at: usize) -> Option<Found> {
        let first = usize::from(*self.bytes.get(at)?);
        let second = self.bytes.get(at + 1).copied().unwrap_or(0);
        let (rule, range) = LONG_WORDS[first].iter().find_map(|(known, rule)| {
            let By::Prefix(prefix) = &rule.by else { return None };
            if *known != second {
                return None;
            }
            prefix.find(self.bytes, at).map(|range| (rule, range))
        })?;
        (!form::is_inside_data(self.bytes, at)).then_some(Found { rule: rule.name, range })
    }

    /// What stands around the keyword at `at`.
    fn around(&self, at: usize) -> Option<Found> {
        RULES.iter().find_map(|rule| {
            let By::Around(parts, find) = &rule.by else { return None };
            let range = if parts.iter().any(|part| self.has(at, part)) { find(self, at) } else { None };
            range.map(|range| Found { rule: rule.name, range })
        })
    }

    /// The value of the name that ends at `end`.
    fn behind(&self, end: usize) -> Option<Found> {
        let named = Assignment::at(self, end)?;
        let (rule, range) = RULES.iter().find_map(|rule| {
            let By::Value(ends, find) = &rule.by else { return None };
            let range = if named.is_one_of(ends) { find(self, &named) } else { None };
            range.map(|range| (rule, range))
        })?;
        // A value that says itself what it is, is called so.
        let own = self.word(range.start).or_else(|| self.run(range.start)).filter(|own| own.range.end <= range.end);
        Some(Found { rule: own.map_or(rule.name, |own| own.rule), range })
    }

    /// Whether `keyword` stands at `at`, in capitals or not.
    pub(crate) fn has(&self, at: usize, keyword: &str) -> bool {
        let part: Option<Range<usize>> = at.checked_add(keyword.len()).map(|end| at..end);
        part.and_then(|part| self.bytes.get(part)).is_some_and(|part| part.eq_ignore_ascii_case(keyword.as_bytes()))
    }

    /// Whether a word can start at `at`: no letter or digit stands before it, or only that of `\n` in a quoted text. What was
    /// found before it is no part of a word.
    fn starts_word(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).filter(|_| at != self.floor.get()).and_then(|at| self.bytes.get(at))
        else {
            return true;
        };
        let escaped = matches!(before, b'n' | b't' | b'r') && at >= 2 && self.bytes[at - 2] == b'\\';
        !before.is_ascii_alphanumeric() || escaped
    }
}
