//! The rules, and where each is asked; made of `data/` by the build script.

use std::ops::Range;

use super::assignment::{self, Assignment};
use super::command::{self, Command, Part};
use super::prefix::{Body, Bytes, Prefix};
use super::text::Text;
use super::{password, shape};

/// What finds one kind of secrets.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) by: By,
}

/// How a rule finds.
pub(crate) enum By {
    /// A word that begins in a certain way.
    Prefix(Prefix),
    /// What stands at the start of a word that begins with one of these.
    Word(&'static [&'static str], fn(&Text<'_>, usize) -> Option<Range<usize>>),
    /// What stands around one of these.
    Around(&'static [&'static str], fn(&Text<'_>, usize) -> Option<Range<usize>>),
    /// An argument of a program.
    Command(Command),
    /// The value behind the `=`, `:` or blank that ends a name; what such names end with.
    Value(&'static [&'static str], fn(&Text<'_>, &Assignment<'_>) -> Option<Range<usize>>),
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));
