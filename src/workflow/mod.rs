//! Workflows: reusable steps in a markdown note, mined from a session or written by a person.
//!
//! One model ([`Workflow`]), one way to text ([`render`]), one way back ([`parse`]), one set of checks ([`validate`]),
//! and [`codify`], which makes a workflow of a session. Nothing here touches files; nothing fails on odd input.

pub mod codify;
pub mod flow;
pub mod heading;
pub mod model;
pub mod parse;
pub mod record;
pub mod render;
#[cfg(test)]
mod tests;
mod text;
pub mod validate;

pub use codify::{Options, codify};
pub use model::*;
pub use parse::parse;
pub use render::render;
pub use validate::{Graph, validate};
