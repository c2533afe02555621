//! Readings: what an agent says of a session, each sentence with proofs that the program checks.
//!
//! A reader (an agent or a person) is given the record of a session ([`Ledger`]) and answers in JSON of a fixed schema
//! ([`Answer`]). Every claim cites steps, words of the person, or words of the agent. [`check`] compares each claim with
//! the whole record ([`Record`]) and refuses what the record does not hold. Nothing here does I/O or starts a program.
//!
//! - [`accepted`](mod@accepted): what is accepted about a session, for everything that uses readings.
//! - [`answer`]: the schema, and its strict reader.
//! - [`record`]: the facts of a session that claims are compared with.
//! - [`check`](mod@check): the rules.
//! - [`ledger`]: the session as a reader is shown it, and what rules find worth a look.
//! - [`note`]: a reading as a note, and back.
//! - [`lesson`]: lessons as notes, merged over sessions.
//! - [`judge`]: the second reader.
//! - [`top`]: the summary on top of a note as a reading tells it.

pub mod accepted;
pub mod answer;
pub mod check;
pub mod diff;
mod full_text;
pub mod judge;
pub mod ledger;
pub mod lesson;
pub mod merge;
pub mod note;
pub mod record;
pub mod top;

pub use accepted::{Accepted, AcceptedOutcome, accepted};
pub use answer::{Answer, AnswerError, Claim, Proof};
pub use check::{Checked, Finding, Severity, check};
pub use full_text::FullText;
pub use ledger::Ledger;
pub use record::Record;

/// The version of the answer's schema.
pub const SCHEMA: u64 = 1;

/// A short hash, `b3:` and 32 hexadecimal digits, over `parts` with their lengths.
pub fn hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    format!("b3:{}", &hasher.finalize().to_hex()[..32])
}
