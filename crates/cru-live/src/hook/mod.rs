//! What the hooks of agents tell: one journal line for each event, as the host gave it.
//!
//! Owns the table of hosts and their events, reading the host's JSON, what is kept of it, the hashes of files at that
//! moment, and the log of trouble. Reads no note, opens no index and walks no folder: the agent waits for this code.
//! What the events mean is decided later, by who writes the note.

pub mod called;
mod cut;
pub mod entry;
mod file;
mod head;
pub mod input;
pub mod shell;
pub mod table;
pub mod trouble;
pub mod unfiled;

pub use entry::{HashedFile, HookEntry};
pub use input::Input;
pub use table::{Event, FIELDS, HOSTS, HookLayout, Host, Row, TIMEOUT};
