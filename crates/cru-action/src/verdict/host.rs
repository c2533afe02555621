//! Answers of tools that are an error object and nothing else.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// An answer of a tool that says, by its structure, that the call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// The key of the JSON object that says so: `error`, `status`, `success`, `ok`, `isError`, …
    pub key: &'static str,
    /// The message of the error, where the object holds one as text.
    pub message: Option<String>,
    /// Whether it names the tool: a host wrote it, whatever the tool is, and no program that the tool ran.
    pub names_tool: bool,
}

/// Keys whose text says what went wrong, best first.
const MESSAGES: &[&str] = &["message", "error", "error_message", "errorMessage", "detail", "details", "reason", "msg"];

/// The error that `output` is, where the whole of it is one JSON object that says so.
///
/// Meant for answers of tools of a host and of MCP servers. What a shell command printed is its output: a program that
/// was asked to fetch an error answer did what it should. Only an object that [names the tool](HostError::names_tool) is
/// the host's there, too.
///
/// It is an error where `isError`, `is_error` is true; where `success`, `ok` is false; where `status` or `type` is
/// `error` and a message stands beside it or nothing else does; where `error` is true, a text or an object that is not
/// empty and no other key says success. An object that merely describes something that failed (`"status": "failed"`) is
/// data.
pub fn host_error(output: &str) -> Option<HostError> {
    let text = output.trim();
    // Bytes up to which an answer is read as an error object: errors are short, data is not.
    if text.len() > (64 * 1024) || !text.starts_with('{') || !text.ends_with('}') {
        return None;
    }
    let object: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text).ok()?;
    let raw = |key: &str| object.get(key).map(|value| value.get());
    let is = |key: &str, value: &str| raw(key) == Some(value);
    let text_of = |key: &str| raw(key).and_then(|value| serde_json::from_str::<String>(value).ok());
    let message = || {
        let of_object = || {
            let inner: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(raw("error")?).ok()?;
            MESSAGES.iter().find_map(|key| serde_json::from_str::<String>(inner.get(*key)?.get()).ok())
        };
        MESSAGES.iter().find_map(|key| text_of(key).filter(|text| !text.trim().is_empty())).or_else(of_object)
    };
    let names_tool = ["tool", "toolName", "tool_name"].iter().any(|key| text_of(key).is_some());
    let found = |key: &'static str| Some(HostError { key, message: message(), names_tool });
    for key in ["isError", "is_error"] {
        if is(key, "true") {
            return found(key);
        }
    }
    for key in ["success", "ok"] {
        if is(key, "false") {
            return found(key);
        }
    }
    let says_success = is("success", "true")
        || is("ok", "true")
        || text_of("status").is_some_and(|status| matches!(status.as_str(), "ok" | "success" | "completed"));
    if says_success {
        return None;
    }
    for key in ["status", "type"] {
        let is_error = text_of(key).is_some_and(|value| value.eq_ignore_ascii_case("error"));
        if is_error && (object.len() == 1 || MESSAGES.iter().any(|key| object.contains_key(*key))) {
            return found(key);
        }
    }
    let error = raw("error")?;
    let is_empty = matches!(error, "null" | "false" | "\"\"" | "{}" | "[]" | "0");
    let is_error = !is_empty && (error == "true" || error.starts_with(['"', '{']));
    if is_error { found("error") } else { None }
}

#[cfg(test)]
mod tests {
    use super::host_error;

    #[test]
    fn error_objects() {
        type Expected = Option<(&'static str, Option<&'static str>)>;
        let rows: &[(&str, Expected)] = &[
            (r#"{"status":"error","message":"no such file"}"#, Some(("status", Some("no such file")))),
            (r#" {"error": "Not Found", "statusCode": 404} "#, Some(("error", Some("Not Found")))),
            (r#"{"error":{"code":-32601,"message":"no method"},"id":1}"#, Some(("error", Some("no method")))),
            (r#"{"success":false}"#, Some(("success", None))),
            (r#"{"ok":false,"reason":"busy"}"#, Some(("ok", Some("busy")))),
            (r#"{"content":[],"isError":true}"#, Some(("isError", None))),
            (r#"{"status":"error"}"#, Some(("status", None))),
            (r#"{"status":"error","tool":"exec","error":"no host"}"#, Some(("status", Some("no host")))),
            // Data about something that failed, and answers that are none.
            (r#"{"id":7,"status":"failed","name":"build"}"#, None),
            (r#"{"id":7,"status":"error","name":"build"}"#, None),
            (r#"{"error":null,"result":1}"#, None),
            (r#"{"error":"","stdout":"x"}"#, None),
            (r#"{"success":true,"error":"0 of 3"}"#, None),
            (r#"[{"error":"x"}]"#, None),
            (r#"{"error":"x"} and more"#, None),
            ("error: x", None),
            ("", None),
        ];
        for (output, expected) in rows {
            let found = host_error(output);
            let found = found.as_ref().map(|error| (error.key, error.message.as_deref()));
            assert_eq!(found, *expected, "{output}");
        }
        let names = |output: &str| host_error(output).unwrap().names_tool;
        assert!(names(r#"{"status":"error","tool":"exec","error":"x"}"#) && !names(r#"{"error":"x"}"#));
    }
}
