//! What a tool call of an agent does, and how a check ended.

pub mod verdict;
