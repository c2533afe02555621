//! The sessions of AI agents as markdown notes.
//!
//! The library is split into crates, one for each layer; `docs/architecture.md` says what each owns. This one holds the
//! commands and the program, and names the others, for tests, benchmarks and fuzz targets.

pub use cru_action as action;
pub use cru_agents as import;
pub use cru_base as base;
pub use cru_graph as graph;
pub use cru_index as index;
pub use cru_learn as learn;
pub use cru_live as live;
pub use cru_memory as memory;
pub use cru_note as note;
pub use cru_price as price;
pub use cru_reading as readings;
pub use cru_session as session;
pub use cru_sync as sync;
pub use cru_trace as trace;
pub use cru_vault as vault;
pub use cru_workflow as workflow;

pub mod cli;
pub mod commands;
