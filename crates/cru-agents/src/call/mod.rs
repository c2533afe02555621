//! Tool calls: what a step shows of them, and what their answers prove.

pub(crate) mod argument;
pub(crate) mod brief;
pub(crate) mod open;
pub(crate) mod patch;
pub(crate) mod question;
pub(crate) mod shell;
pub(crate) mod spilled;
pub(crate) mod started;
pub(crate) mod task_list;
pub(crate) mod tools;
pub(crate) mod touched;
