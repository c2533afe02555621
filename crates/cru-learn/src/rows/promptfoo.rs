//! Puzzles as tests of promptfoo.
//!
//! Variables of promptfoo are templates themselves, and one that begins with `file://` is read from the disk: text of a
//! session could vanish from a prompt or bring in a file. So templating is off, the prompt is a function that takes the
//! conversation from a variable as it is, everything is a string, and no string begins with that word.

use serde_json::json;

use crate::export::file::Planned;
use crate::rows::inspect::Sample;

/// How to run it.
const CONFIG: &str = "\
# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
description: Puzzles from agent sessions
env:
  # Text of sessions holds braces that are no templates.
  PROMPTFOO_DISABLE_TEMPLATING: 'true'
prompts:
  - file://prompt.js
providers:
  # Put the models to compare here; echo gives the prompt back.
  - echo
tests: file://tests.jsonl
";

/// The prompt: a list of messages, taken as it is.
const PROMPT: &str = "\
// The conversation of a test, as messages: every variable is text and none is a template.
module.exports = async ({ vars }) =>
  JSON.stringify([
    { role: 'system', content: vars.system.trim() },
    { role: 'user', content: vars.situation.trim() },
  ]);
";

/// Not the recorded failure once more.
const NOT_AGAIN: &str = "String(output).trim() !== String(context.test.metadata.failure).trim()";

/// What stands beside the tests.
pub(crate) fn files() -> Vec<Planned> {
    vec![Planned::text("prompt.js", PROMPT), Planned::text("promptfooconfig.yaml", CONFIG)]
}

/// The file of the tests, one a line.
pub(crate) const TESTS: &str = "tests.jsonl";

/// The test of a sample, as JSON.
pub(crate) fn test(sample: &Sample) -> String {
    let metadata = &sample.metadata;
    let mut asserts: Vec<_> = metadata
        .must_include
        .iter()
        .map(|word| json!({ "type": "icontains", "value": safe(word), "metric": "expected" }))
        .collect();
    asserts.push(json!({ "type": "javascript", "value": NOT_AGAIN, "metric": "not the failure" }));
    let (system, situation) = sample.told();
    let mut all = serde_json::to_value(&metadata.common).unwrap_or_default();
    all["expected"] = json!(safe(&sample.target));
    all["failure"] = json!(safe(&metadata.failure));
    json!({
        "description": sample.id,
        "vars": { "system": safe(&system), "situation": safe(&situation) },
        "assert": asserts,
        "metadata": all,
    })
    .to_string()
}

/// A text that is not read as the name of a file.
fn safe(text: &str) -> String {
    if text.trim_start().to_lowercase().starts_with("file:") { format!(" {text}") } else { text.to_owned() }
}
