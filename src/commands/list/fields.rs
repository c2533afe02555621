//! The fields of `--where`: the columns of a kind, and the filters of `cru search`.

use super::kind::ListKind;
use crate::index::query::field::{FILTERS, behind, filter};
use crate::index::query::{Field, FieldSet, Operator};
use crate::index::table::{ColumnType, column};

impl ListKind {
    /// Whether `field:value` asks for the filter rather than for a column of that name.
    fn has_filter(self, field: Field) -> bool {
        match field {
            Field::After | Field::Before | Field::Is | Field::Tag | Field::Session => true,
            Field::Agent => self == Self::Sessions,
            Field::File => matches!(self, Self::Steps | Self::Files),
            // Columns say it, and the kind of the rows is given.
            Field::Channel | Field::Tool | Field::Kind | Field::Column(_) => false,
        }
    }

    fn filters(self) -> impl Iterator<Item = &'static str> {
        FILTERS.iter().filter(move |filter| self.has_filter(filter.field)).map(|filter| filter.name)
    }
}

impl FieldSet for ListKind {
    fn field(&self, name: &str, op: Operator) -> Option<Field> {
        let lower = name.to_lowercase();
        let filter = filter(&lower).map(|filter| filter.field).filter(|field| self.has_filter(*field));
        let column = || self.find(&lower).or_else(|| self.find(behind(&lower)));
        let column = || column().map(|chosen| Field::Column(chosen.column));
        filter.filter(|field| op == Operator::Has && field.takes(op)).or_else(column).or(filter)
    }

    fn names(&self) -> Vec<&'static str> {
        let mut names = self.names_of_columns();
        for name in self.filters().chain(column::SESSION.iter().map(|column| column.name)) {
            crate::base::list::push_new(&mut names, name);
        }
        names
    }

    fn list(&self) -> String {
        let mut names = self.names_of_columns();
        names.extend(self.filters().filter(|name| self.find(name).is_none()));
        names.join(", ") + self.of_sessions()
    }

    fn takes_words(&self) -> bool {
        false
    }

    fn no_field(&self) -> String {
        format!("{} have no field", self.name())
    }

    fn instead(&self, word: &str) -> String {
        let is_bool = |name: &&str| self.find(name).is_some_and(|it| it.column.of == ColumnType::Bool);
        if let Some(near) = self.nearest(word).filter(is_bool) {
            return format!("did you mean `{near}`?");
        }
        let word = if word.contains(|c: char| !c.is_alphanumeric()) { format!("\"{word}\"") } else { word.to_owned() };
        let columns = self.columns();
        let texts = columns.iter().filter(|it| it.column.of == ColumnType::Text && !it.column.of_session);
        let own: Vec<String> = texts.take(2).map(|it| format!("`{}~{word}`", it.name)).collect();
        let own = if own.is_empty() { format!("`title~{word}`") } else { own.join(" or ") };
        format!("write a field before it: {own}; a value with blanks stands in quotes")
    }
}

#[cfg(test)]
mod tests;
