//! Accounts of a day, a week or a topic: facts of sessions as lists, bounded in size, nothing worded anew.

mod account;
mod facts;

pub use account::{Account, AccountLine, DAY_BYTES, Section};
pub use facts::{PeriodFacts, TimeWindow};

/// The folder of accounts that stand in notes of their own.
pub const FOLDER: &str = "summaries";
