//! Files of transcripts: packed or not, as lines, documents, pages and databases.

pub(crate) mod document;
pub(crate) mod jsonl;
pub mod lines;
pub(crate) mod markdown;
pub mod pack;
mod shorten;
pub(crate) mod sqlite;
pub(crate) mod tables;
pub(crate) mod unpack;
pub(crate) mod value;
