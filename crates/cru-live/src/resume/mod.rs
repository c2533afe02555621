//! Taking a session up again: the pack that the next agent (or person) needs to go on, within a budget of tokens.
//!
//! [`Pack::of`] is pure: a session in, the parts of the pack out, most important first, each with its tokens. All
//! decisions are in every pack. [`missing`] looks at what the note points to; [`activate`] says what is written when
//! work goes on; [`host`] which program goes on with it. Nothing here starts a program or writes a file.

pub mod activate;
mod after;
mod decision;
mod entry;
pub mod host;
mod missing;
mod open;
mod pack;
mod phase;
mod point;
mod text;
pub mod token;
mod window;
mod word;

pub use entry::Entry;
pub use missing::missing;
pub use pack::{Kind, Options, Pack, Part};

use cru_session::Session;

#[cfg(test)]
mod tests;

/// Tokens of a pack where nobody says otherwise.
pub const BUDGET: u64 = 8_000;
/// Tokens of [`brief`].
pub const BRIEF: u64 = 2_000;

/// A short pack that a host may be given at the start of a session: at most [`BRIEF`] tokens, unless the titles of the
/// decisions alone are more.
pub fn brief(session: &Session) -> String {
    Pack::of(session, &Options { budget: BRIEF, ..Options::default() }).markdown()
}
