//! The sessions of a vault as one graph: what was done, and how one thing depends on another.
//!
//! Nodes are blocks of notes, files and notes; edges are typed. Three relations that are easily taken for one stay
//! apart: order on the page (`prev`), dependency (`after`) and origin (`from`). Everything here is computed from the
//! notes in linear time and nothing is stored; it reads no file and knows no terminal.

pub mod boundary;
pub mod build;
pub mod component;
pub mod dependency;
pub mod edge;
pub mod export;
pub mod file;
pub mod flow;
pub mod node;
pub mod path;
pub mod picture;
pub mod place;
pub mod plan;
pub mod proof;
pub mod reach;
pub mod recovery;
pub mod relation;
pub mod segment;
pub mod states;
pub mod turn;

mod check;
mod draft;
mod index;
#[cfg(test)]
pub(crate) mod tests;

pub use build::Graph;
pub use dependency::{Dependency, Reason, dependencies};
pub use edge::{Edge, EdgeKind};
pub use node::{Body, Node, NodeId, NodeKind};
pub use path::FinalPath;
pub use picture::{Arrow, Depth, Picture};
pub use place::Place;
pub use plan::{Plan, plan};
pub use proof::{Proof, proof};
pub use reach::Reached;
pub use recovery::{Recovery, recoveries};
pub use segment::{breaks, segments};
pub use states::StateGraph;
pub use turn::{Correction, Sign, Taken, Turn, turns};
