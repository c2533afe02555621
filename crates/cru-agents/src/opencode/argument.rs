//! The main arguments of the tools that only this host has.

use serde_json::Value;

use crate::call::argument;
use crate::file::value::trimmed;
use crate::stream::place::Place;

/// The main argument of a call, in full; paths as a note writes them.
pub(super) fn telling(tool: &str, input: &Value, place: &Place) -> String {
    let told = argument::telling(tool, input, place);
    match trimmed(input, "subagent_type").or_else(|| trimmed(input, "agent")) {
        Some(agent) if matches!(tool, "task" | "subagent") && trimmed(input, "description").is_some() => {
            format!("@{agent} {told}")
        }
        _ => told,
    }
}
