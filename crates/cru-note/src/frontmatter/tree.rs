//! YAML text to [`Value`], with bounds on size, nesting and expansion.
//!
//! The reader underneath compares every token with every open bracket and copies a text once for each alias, so both
//! are bounded here: open brackets before it runs, expansion while it runs. Its own recursion ends at 128 levels.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::{Number, Value, spell};

/// Longest YAML that is read.
pub(super) const MAX_BYTES: usize = 256 * 1024;
/// Most brackets that may be open at a time.
const MAX_OPEN: usize = 512;
/// Most memory that one frontmatter may take, aliases expanded.
const MAX_EXPANDED: usize = 8 * 1024 * 1024;

/// What was read: keys in order, repeated ones too.
#[derive(Debug, Default)]
pub(super) struct ValueTree {
    pub entries: Vec<(String, Value)>,
    /// Remarks with the index of the entry they are about.
    pub issues: Vec<(usize, Issue)>,
}

/// Something odd that the reader takes nevertheless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Issue {
    /// A `!tag`, ignored.
    Tag(String),
    /// A number that no 64 bits hold, or no number at all (`.nan`, `.inf`).
    Number(String),
    /// A key that stands twice in a map within the value.
    DuplicateKey(String),
}

/// Why nothing was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Longer than [`MAX_BYTES`].
    TooLong,
    /// Too many open brackets, too many levels, or aliases that expand too far.
    TooDeep,
    /// A list or a scalar.
    NotAMap,
    /// Anything else: the reader's words and the line, from 0, that it was in.
    Syntax { line: usize, message: String },
}

/// Reads a YAML mapping; text without any value gives an empty one.
pub(super) fn read(yaml: &str) -> Result<ValueTree, Failure> {
    if yaml.len() > MAX_BYTES {
        return Err(Failure::TooLong);
    }
    if open_brackets(yaml) > MAX_OPEN {
        return Err(Failure::TooDeep);
    }
    let state = State::default();
    let entries = serde_yaml::Deserializer::from_str(yaml);
    let mut entries = Root(&state).deserialize(entries).map_err(|error| failure(&state, &error))?;
    let issues = state.issues.into_inner();
    let repeated = issues.iter().any(|(_, issue)| matches!(issue, Issue::DuplicateKey(_)));
    if !repeated && spell::is_worthwhile(yaml) && entries.iter().any(|(_, value)| holds_number(value)) {
        // A reading that fails here leaves numbers in their usual spelling.
        let _ = spell::Spelling(&mut entries).deserialize(serde_yaml::Deserializer::from_str(yaml));
    }
    Ok(ValueTree { entries, issues })
}

fn failure(state: &State, error: &serde_yaml::Error) -> Failure {
    let message = error.to_string();
    if state.not_a_map.get() {
        Failure::NotAMap
    } else if state.spent.get() > MAX_EXPANDED || message.contains("limit exceeded") {
        Failure::TooDeep
    } else {
        Failure::Syntax {
            line: error.location().map_or(0, |at| at.line().saturating_sub(1)),
            message: strip_places(&message),
        }
    }
}

/// The reader's message without ` at line 3 column 4`: places are told by spans.
fn strip_places(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(" at line ") {
        out.push_str(&rest[..at]);
        let after = rest[at + " at line ".len()..].trim_start_matches(|c: char| c.is_ascii_digit());
        rest = after.strip_prefix(" column ").map_or(after, |it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out + rest
}

/// An upper bound of how many brackets are open at a time.
///
/// Whether a bracket counts depends on the quotes around it, which only a YAML reader can tell. But between two marks
/// that could begin or end a quotation, comment or tag either all brackets count or none do; so a closing bracket is
/// taken for real only when the bracket it closes stands in the same stretch of the same line.
fn open_brackets(yaml: &str) -> usize {
    let (mut open, mut here) = (0, 0);
    for byte in yaml.bytes() {
        match byte {
            b'[' | b'{' => here += 1,
            b']' | b'}' => here -= usize::from(here > 0),
            b'"' | b'\'' | b'#' | b'!' | b'%' | b'\n' | b'\r' => {
                open += here;
                here = 0;
            }
            _ => {}
        }
    }
    open + here
}

fn holds_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::List(items) => items.iter().any(holds_number),
        Value::Map(map) => map.iter().any(|(_, value)| holds_number(value)),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

#[derive(Default)]
struct State {
    spent: Cell<usize>,
    not_a_map: Cell<bool>,
    entry: Cell<usize>,
    issues: RefCell<Vec<(usize, Issue)>>,
}

impl State {
    fn spend<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.spent.set(self.spent.get().saturating_add(bytes + size_of::<Value>()));
        if self.spent.get() > MAX_EXPANDED { Err(E::custom("expansion limit exceeded")) } else { Ok(()) }
    }

    fn remark(&self, issue: Issue) {
        self.issues.borrow_mut().push((self.entry.get(), issue));
    }
}

/// The mapping at the top.
struct Root<'s>(&'s State);

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = Vec<(String, Value)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // Deciding by what stands there, not by what is asked for, so that an empty text is an empty mapping.
        let state = self.0;
        match Node(state, true).deserialize(deserializer)? {
            Raw::Entries(entries) => Ok(entries),
            Raw::Value(Value::Null) => Ok(Vec::new()),
            Raw::Value(_) => {
                state.not_a_map.set(true);
                Err(D::Error::custom("not a mapping"))
            }
        }
    }
}

/// One value; the flag says whether it is the whole frontmatter, whose repeated keys are kept apart.
#[derive(Clone, Copy)]
struct Node<'s>(&'s State, bool);

enum Raw {
    Value(Value),
    Entries(Vec<(String, Value)>),
}

impl Raw {
    fn value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Entries(entries) => Value::Map(entries.into_iter().collect()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Raw;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Node<'_> {
    fn number<E: serde::de::Error>(self, text: String, fits: bool) -> Result<Raw, E> {
        self.0.spend(text.len())?;
        if !fits {
            self.0.remark(Issue::Number(text.clone()));
        }
        Ok(Raw::Value(Value::Number(Number::written(text))))
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Raw, E> {
        self.0.spend(0)?;
        Ok(Raw::Value(Value::Null))
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Raw, E> {
        self.visit_unit()
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Raw, E> {
        self.0.spend(0)?;
        Ok(Raw::Value(Value::Bool(value)))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Raw, E> {
        self.number(number.to_string(), true)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Raw, E> {
        self.number(number.to_string(), true)
    }

    fn visit_u128<E: serde::de::Error>(self, number: u128) -> Result<Raw, E> {
        self.number(number.to_string(), false)
    }

    fn visit_i128<E: serde::de::Error>(self, number: i128) -> Result<Raw, E> {
        self.number(number.to_string(), false)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Raw, E> {
        let text = Value::from(number).text().unwrap_or(".nan").to_owned();
        self.number(text, number.is_finite())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Raw, E> {
        self.0.spend(text.len())?;
        Ok(Raw::Value(Value::String(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        self.0.spend(0)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Node(self.0, false))? {
            list.push(item.value());
        }
        Ok(Raw::Value(Value::List(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let Node(state, top) = self;
        state.spend(0)?;
        let mut seen = std::collections::HashSet::new();
        let mut entries = Vec::new();
        // A key is asked for as text, so that it comes as written; a list or map as key ends the reading.
        while let Some(key) = map.next_key::<String>()? {
            state.spend(key.len())?;
            if top {
                state.entry.set(entries.len());
            } else if !seen.insert(key.clone()) {
                state.remark(Issue::DuplicateKey(key.clone()));
            }
            let value = map.next_value_seed(Node(state, false))?.value();
            entries.push((key, value));
        }
        Ok(Raw::Entries(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Raw, A::Error> {
        let (tag, contents) = tagged.variant::<String>()?;
        self.0.remark(Issue::Tag(tag));
        contents.newtype_variant_seed(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(yaml: &str) -> Value {
        read(yaml).unwrap().entries.remove(0).1
    }

    #[test]
    fn numbers_come_as_written() {
        let text = |yaml: &str| value(yaml).text().map(ToOwned::to_owned);
        assert_eq!(text("a: 1.10").as_deref(), Some("1.10"));
        assert_eq!(text("a: +0x1F # hex").as_deref(), Some("+0x1F"));
        assert_eq!(text("a: 1e3").as_deref(), Some("1e3"));
        assert_eq!(text("a: 007").as_deref(), Some("007"));
        assert_eq!(text("a: 08705708971474e0").as_deref(), Some("08705708971474e0"));
        assert_eq!(
            value("a: [1.0, {b: 2.50, c: x}]").as_list().unwrap()[1].as_map().unwrap().get("b").unwrap().text(),
            Some("2.50")
        );
        assert_eq!(text("a: !!int 12").as_deref(), Some("12"));
    }

    #[test]
    fn remarks() {
        let issues = |yaml: &str| read(yaml).unwrap().issues;
        assert_eq!(issues("a: 1\nb: !x y"), [(1, Issue::Tag("x".to_owned()))]);
        assert_eq!(issues("a: {b: 1, b: 2}"), [(0, Issue::DuplicateKey("b".to_owned()))]);
        assert_eq!(issues("n: .nan").len(), 1);
        assert_eq!(issues("n: 123456789012345678901234567890").len(), 1);
    }

    #[test]
    fn counts_open_brackets() {
        assert_eq!(open_brackets("a: [[x]]\nb: {c: []}\n"), 0);
        assert_eq!(open_brackets("a: [\"]\", [\"]\", ["), 3);
        assert_eq!(open_brackets("a: [\n[\n["), 3);
        assert_eq!(open_brackets("links: [\"[[a]]\", \"[[b]]\"]\n"), 1);
    }

    #[test]
    fn bombs_are_refused() {
        for open in ["[", "{a: ", "- ", "? ", "- [", "\"\": [", "a: [\n", "[!x ]"] {
            let yaml = format!("k:\n  {}", open.repeat(100_000 / open.len()));
            assert!(read(&yaml).is_err(), "{open:?}");
        }
        let mut laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..12 {
            let row = vec![format!("*a{}", level - 1); 9].join(",");
            laughs.extend(["a", &level.to_string(), ": &a", &level.to_string(), " [", &row, "]\n"]);
        }
        assert_eq!(read(&laughs).unwrap_err(), Failure::TooDeep);
        let copies = format!("a: &a {}\nb: [{}]\n", "x".repeat(50_000), "*a,".repeat(20_000));
        assert_eq!(read(&copies).unwrap_err(), Failure::TooDeep);
        assert_eq!(read(&"a: b\n".repeat(100_000)).unwrap_err(), Failure::TooLong);
    }
}
