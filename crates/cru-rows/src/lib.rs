//! Sessions as rows of tables, for engines that spread work over many machines.
//!
//! No vault and no note: transcripts go in as objects (a URI and bytes), rows come out. The way has three steps, so that
//! an engine can stand between them:
//!
//! 1. [`scan`] says of one object which session it belongs to, and by which keys it belongs together with others.
//! 2. [`family`] joins the objects that share a key: a session with its slices, copies, forks and sub-agents. Read apart,
//!    these give other sessions; so a family is read whole.
//! 3. [`fold`] reads one family and gives the rows of the thirteen [`table`]s.
//!
//! [`learn`] and [`codify`] make cases and workflows of the notes that the table of sessions holds. What an object gives
//! depends on the objects of its family alone, so that the same objects give the same rows on one machine and on many.
//!
//! With the feature `rows`, `arrow` reads and writes Arrow IPC streams, and `parquet` writes files.

#[cfg(feature = "rows")]
pub mod arrow;
pub mod codify;
pub mod family;
pub mod fold;
mod guard;
pub mod learn;
mod lines;
mod note;
#[cfg(feature = "rows")]
pub mod parquet;
mod record;
pub mod scan;
pub mod stage;
pub mod table;
#[cfg(test)]
mod tests;

/// Version of what [`fold`] makes of a family: raised when the same objects would give other rows than before.
pub const FOLD_VERSION: i64 = 1;

/// Hex digits of a BLAKE3 hash that stand for the parts.
fn digest(parts: &[&str], digits: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(digits).collect()
}
