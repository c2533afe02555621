//! The rules of the query language as `--help` of `cru search` and `cru list` shows them: `docs/search.md` in short.

use crate::index::query::field::{About, FILTERS};

const RULES: &str = "\
Query language of `cru search` and of `cru list --where`:
  FIELD:VALUE                is or contains, as the field defines; VALUE* is a prefix
  FIELD=VALUE  FIELD!=VALUE  is equal, or not; `null` is where nothing is known
  FIELD<VALUE  <=  >  >=     numbers, times and text in order; a date is its whole day
  FIELD~VALUE  FIELD!~VALUE  contains, or does not
  A B   A and B   A or B     both, both, at least one
  not A   -A   (A or B) C    not this; parentheses group
  A comma in VALUE means \"or\". Quotes hold blanks: title~\"two words\". Case does not matter.
  In `cru search` also: word, \"exact phrase\", prefix*, misspelt~. There `and`, `or` and `not`
  are words between words (write AND, OR, NOT) and operators beside a field.
";

/// The rules, and the fields that are no columns.
pub(super) fn rules() -> String {
    let mut text = RULES.to_owned();
    for (about, what) in [(About::Sessions, "of sessions"), (About::Blocks, "of blocks"), (About::Both, "of either")] {
        let filters = FILTERS.iter().filter(|filter| filter.about == about);
        let examples: Vec<&str> = filters.map(|filter| filter.example).collect();
        text.push_str(&format!("  Fields {what}: {}\n", examples.join("  ")));
    }
    text + "  Fields are also the columns of `cru list sessions`: tokens>100000, started>=2026-11, model~opus"
}

#[cfg(test)]
mod tests {
    use crate::index::query::{FieldSet as _, SearchFields};

    #[test]
    fn the_manual_names_every_field() {
        let manual = include_str!("../../docs/search.md");
        for name in SearchFields.names() {
            assert!(manual.contains(&format!("`{name}`")), "{name}");
        }
    }
}
