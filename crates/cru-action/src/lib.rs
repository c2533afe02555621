//! What a tool call of an agent does.
//!
//! The one answer in the program to "which tool, which command, which kind, which class". What is not understood is
//! unknown, and nothing is claimed of it.
//!
//! ```
//! use cru_action::{Action, CheckKind, Class, ToolKind};
//!
//! let action = Action::of("Bash", "cd api && cargo test -p auth 2>&1 | tail -3");
//! assert_eq!((action.kind, action.class()), (ToolKind::Shell, Class::Check));
//! let check = action.checks().next().unwrap();
//! assert_eq!((check.key(), check.kind()), ("cargo test".to_owned(), CheckKind::Test));
//! // The exit status is that of `tail`.
//! assert!(check.command().hidden.is_some());
//! assert!(Action::of("Bash", "git log | head").is_read_only());
//! ```
//!
//! - [`tool`]: the kinds of tools and their arguments.
//! - [`shell`]: shell text cut into simple commands.
//! - [`Action`]: both together, with the classes of programs.
//! - [`loss`]: what a command takes away.
//! - [`patch`]: patches of agents and of `diff`.
//! - [`argv`]: commands that hosts record as lists of words.
//! - [`verdict`]: how a check ended, from its whole output.

pub mod action;
pub mod argv;
mod class;
pub mod loss;
pub mod patch;
mod program;
pub mod shell;
pub mod tool;
pub mod verdict;

pub use action::{Action, CallEnd, Check, Command};
pub use class::{CheckKind, Class};
pub use program::{is_generated, is_outside, is_prose, is_scratch, program_name};
pub use tool::ToolKind;
pub use verdict::{Decision, Verdict};
