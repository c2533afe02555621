//! What a note's frontmatter says, without the names that every session has.
//!
//! The lines are taken as they are, so that frontmatter that is no YAML is found too; where a value is written with
//! escapes, what it means stands beside it.

use cru_note::Note;
use cru_note::frontmatter::{self, Value};
use cru_session::Public;
use cru_session::render::KEYS;

/// Keys of the rows of `subagents`.
const ROW: [&str; 4] = ["session", "agent", "model", "tokens"];

/// The values of the frontmatter, and the names that are somebody's own.
pub(super) fn text(note: &Note, public: &Public<'_>) -> String {
    let Some(bounds) = note.frontmatter() else { return String::new() };
    let yaml = public.words(bounds.yaml);
    let mut out = String::with_capacity(yaml.len());
    let mut rows = false;
    for line in yaml.lines() {
        let own = line.trim_start_matches([' ', '\t', '-']);
        let top = own.len() == line.len();
        let key = own.split_once(':').map(|(key, value)| (key.trim_end(), value));
        let known = match key {
            Some((key, _)) if top => {
                rows = key == "subagents";
                KEYS.contains(&key)
            }
            Some((key, _)) => rows && ROW.contains(&key),
            None => false,
        };
        out.push_str(key.filter(|_| known).map_or(line, |(_, value)| value));
        out.push('\n');
    }
    if yaml.contains('\\') {
        let text = public.as_str();
        let read = frontmatter::split(text).block.map(|bounds| frontmatter::read(text, &bounds).0);
        for entry in read.iter().flat_map(cru_note::frontmatter::Values::entries) {
            values(&entry.value, &mut out);
        }
    }
    out
}

fn values(value: &Value, out: &mut String) {
    match value {
        Value::List(items) => items.iter().for_each(|item| values(item, out)),
        Value::Map(map) => map.iter().for_each(|(_, value)| values(value, out)),
        value => {
            out.push_str(value.text().unwrap_or_default());
            out.push('\n');
        }
    }
}
