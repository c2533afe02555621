//! What every layer stands on: places in texts, diagnostics, errors, the outside world behind one value, files, text.
//!
//! Imports nothing of ours. Only [`files`] writes files and only [`env`] reads time and environment.

pub mod diagnostic;
pub mod diff;
pub mod env;
pub mod error;
pub mod files;
pub mod hash;
pub mod json;
pub mod lines;
pub mod list;
pub mod path;
pub mod program;
pub mod span;
pub mod text;
pub mod threads;
pub mod words;

pub use diagnostic::{Diagnostic, Severity};
pub use diff::diff;
pub use env::Env;
pub use error::{Error, Result};
pub use lines::Lines;
pub use span::Span;
