//! The sessions of AI agents as markdown notes.
//!
//! Data flows one way: bytes → note → session → graph → commands → output. Each module imports only what stands above
//! it; `docs/architecture.md` says what each owns and what it must not do.

pub mod base;
pub mod import;
pub mod note;
pub mod session;
