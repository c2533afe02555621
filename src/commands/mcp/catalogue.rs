//! The tools as clients see them, from `tools.json`.

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::answer::{LARGEST_BUDGET, SMALLEST_BUDGET, USUAL_BUDGET};

/// The tool that writes what its caller logs.
pub(super) const LOG: &str = "log";

/// The tools that write.
const WRITING: [&str; 3] = [LOG, "brief", "bookmark"];

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let tools: Vec<Value> = serde_json::from_str(include_str!("tools.json")).unwrap_or_default();
    tools.into_iter().filter_map(tool).collect()
});

/// All tools; without `write` those that only read.
pub(super) fn tools(write: bool) -> Vec<Tool> {
    TOOLS.iter().filter(|tool| write || !WRITING.contains(&tool.name.as_ref())).cloned().collect()
}

/// The names of the arguments of a tool; `None` for one that does not exist.
pub(super) fn arguments(name: &str) -> Option<Vec<String>> {
    let tool = TOOLS.iter().find(|tool| tool.name == name)?;
    let properties = tool.input_schema.get("properties").and_then(Value::as_object)?;
    Some(properties.keys().cloned().collect())
}

fn tool(mut value: Value) -> Option<Tool> {
    let mut properties = value.get_mut("properties")?.take();
    for property in properties.as_object_mut()?.values_mut() {
        if property.get("$ref").is_some() {
            *property = json!({
                "type": "integer", "minimum": SMALLEST_BUDGET, "maximum": LARGEST_BUDGET, "default": USUAL_BUDGET,
                "description": "tokens of the answer",
            });
        }
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if let Some(required) = value.get("required") {
        schema.insert("required".to_owned(), required.clone());
    }
    let name = value.get("name")?.as_str()?.to_owned();
    let description = value.get("description")?.as_str()?.to_owned();
    let reads = !WRITING.contains(&name.as_str());
    let hints = ToolAnnotations::new().read_only(reads).open_world(false);
    let hints = if reads { hints } else { hints.destructive(false).idempotent(false) };
    Some(Tool::new(name, description, Arc::new(schema)).with_annotations(hints))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_cost_an_agent_little() {
        let names: Vec<_> = tools(true).iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(
            names,
            [
                "search",
                "read",
                "before",
                "decisions",
                "query",
                "status",
                "context",
                "why",
                "stale",
                "bookmark",
                "log",
                "brief"
            ]
        );
        assert_eq!(tools(false).len(), 9);
        let written = serde_json::to_string(&tools(true)).unwrap();
        assert!(written.chars().count() <= 7_600, "{}", written.chars().count());
        assert!(!written.contains("$ref"));
        assert!(arguments("search").unwrap().contains(&"budget".to_owned()));
        assert_eq!(arguments("remove"), None);
    }
}
