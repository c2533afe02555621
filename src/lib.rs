//! The sessions of AI agents as markdown notes.
//!
//! Data flows one way: bytes → note → session → vault → graph → index → commands → output. Each module imports only what stands
//! above it; `docs/architecture.md` says what each owns and what it must not do.

pub mod base;
pub mod note;
pub mod session;
pub mod vault;

pub mod graph;
pub mod index;

pub mod workflow;

pub mod import;
pub mod learn;
pub mod live;

pub mod commands;

pub mod cli;
