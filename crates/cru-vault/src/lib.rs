//! A folder of notes: where it is, what it holds, and which note a name means.
//!
//! Reads, and never fatally for one bad file: what could not be read becomes a [`Finding`] and the rest goes on.
//! Only [`scaffold`] makes files. Draws no conclusions about the work itself (that is `graph`), and scans no list per
//! question: names and links are looked up in tables that are built once.

mod adopt;
pub mod catalog;
pub mod config;
pub mod copies;
pub mod finding;
pub mod folder;
pub mod journal;
mod kept_heads;
pub mod link;
pub mod links;
pub mod load;
pub mod naming;
pub mod obsidian;
pub mod operations;
pub mod outline;
pub mod page;
pub mod path;
pub mod project;
mod properties;
pub mod relink;
pub mod resolve;
pub mod scaffold;
pub mod seals;
pub mod state;
pub mod template;
pub mod walk;
pub mod writer;

pub use catalog::{Catalog, Head};
pub use config::{Config, UserConfig};
pub use finding::{Finding, Related};
pub use folder::Vault;
pub use journal::Journal;
pub use link::{LinkTable, Target};
pub use links::{Link, LinkTrust};
pub use load::Loaded;
pub use outline::{Outline, Relation};
pub use path::VaultPath;
pub use state::State;
pub use walk::Walk;
pub use writer::Writer;
