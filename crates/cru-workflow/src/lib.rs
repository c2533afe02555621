//! Workflows: reusable steps in a markdown note, mined from a session or written by a person.
//!
//! One model ([`Workflow`]), one way to text ([`render`]), one way back ([`parse`]), one set of checks ([`validate`]),
//! and [`codify`], which makes a workflow of a session. Nothing here touches files; nothing fails on odd input.

pub mod align;
pub mod codify;
pub mod conform;
mod convert;
pub mod dialect;
pub mod evidence;
pub mod export;
pub mod flow;
#[cfg(test)]
mod grammar;
pub mod heading;
pub mod history;
mod key;
pub mod mine;
pub mod model;
pub mod parse;
pub mod recipe;
pub mod record;
pub mod render;
mod shown;
#[cfg(test)]
mod tests;
mod text;
mod unify;
pub mod validate;

pub use codify::{NOTHING_TO_REPEAT, Options, Profile, Shape, codify, codify_jobs, codify_with, language_of, profile};
pub use evidence::{Evidence, FileDiff};
pub use mine::{Mining, mine};
pub use model::*;
pub use parse::parse;
pub use render::{render, render_as};
pub use validate::{DataEdge, Graph, validate};
