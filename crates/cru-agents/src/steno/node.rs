//! One node as a step: the command, what came of it, the files that it touched.

use serde_json::Value;

use crate::file::value::{filled, flag, list, strings};
use crate::stream::out::Out;
use crate::stream::place::Place;
use cru_session::FileRef;
use cru_session::event::{CallResult, EventKind};

/// Whether it was still to be done, or was being done.
pub(super) fn is_unfinished(node: &Value) -> bool {
    matches!(filled(node, "status"), Some("pending" | "running"))
}

/// The command in full.
pub(super) fn command(node: &Value) -> String {
    if let Some(raw) = filled(node, "raw") {
        return raw.trim().to_owned();
    }
    let intent = &node["intent"];
    let mut words = strings(intent.get("verb"));
    for name in ["target", "additions", "flags"] {
        words.extend(strings(intent.get(name)));
    }
    words.join(" ")
}

/// Tells a node as a call and its answer; `id` is the call's.
pub(super) fn tell(node: &Value, id: &str, place: &Place, out: &mut Out<'_>) {
    let raw = command(node);
    let (tool, args) = split(node, &raw);
    let input = node.get("intent").cloned().unwrap_or_default();
    let shown = format!("{tool} {args}");
    out.call(id, tool, args, input);
    if shown.trim() != raw {
        out.detail(id, "raw", &raw);
    }
    if let Some(node_id) = filled(node, "id") {
        out.detail(id, "node", node_id);
    }
    let intent = &node["intent"];
    // The program that was shipped says `literal` where its design says `exact`.
    let precision = filled(intent, "precision").map(|word| if word == "literal" { "exact" } else { word });
    let branch = filled(node, "branch");
    for (name, value) in [("precision", precision), ("mode", filled(intent, "mode")), ("branch", branch)] {
        if let Some(value) = value {
            out.detail(id, name, value);
        }
    }
    let reads = files(list(node, "inputs"), place);
    let writes = files(list(node, "outputs"), place);
    for (file, sum) in reads.iter().chain(&writes) {
        if let Some((method, sum)) = sum {
            out.detail(id, method, format!("{} {sum}", file.path));
        }
    }
    if is_unfinished(node) {
        return;
    }
    let failed = filled(node, "status") == Some("failed");
    let summary = filled(node, "summary");
    let error = filled(node, "error").or_else(|| filled(&node["error"], "message"));
    let output = error.filter(|_| failed).or(summary).unwrap_or("");
    // A node tells in one line what happened; none of that is the output of a program.
    let brief = summary.filter(|_| error.is_none() || !failed);
    let brief = brief.or_else(|| output.is_empty().then_some(if failed { "failed" } else { "done" }));
    out.emit(EventKind::Result(CallResult {
        call: id.into(),
        output: output.into(),
        brief: brief.map(Into::into),
        failed,
        reads: reads.into_iter().map(|(file, _)| file).collect(),
        writes: writes.into_iter().map(|(file, _)| file).collect(),
        ..CallResult::default()
    }));
}

/// The verb, and what stands behind it: `dx:@samples.csv +normalize` is the verb `dx` with two arguments.
fn split<'r>(node: &Value, raw: &'r str) -> (String, &'r str) {
    let verb = node.get("intent").and_then(|intent| filled(intent, "verb")).map(str::trim);
    if let Some(verb) = verb.filter(|verb| !verb.contains(char::is_whitespace)) {
        let rest = raw.strip_prefix(verb).filter(|rest| rest.is_empty() || rest.starts_with([':', ' ', '\t', '\n']));
        return (verb.to_owned(), rest.map_or(raw, |rest| rest.strip_prefix(':').unwrap_or(rest).trim_start()));
    }
    match raw.split_once(char::is_whitespace) {
        Some((verb, rest)) => (verb.to_owned(), rest.trim_start()),
        None if raw.is_empty() => ("node".to_owned(), ""),
        None => (raw.to_owned(), ""),
    }
}

/// A checksum and how it was made.
type StenoSum = (&'static str, String);

/// The files of a list. Their checksums are no hashes of ours and never stand as such.
fn files(list: &[Value], place: &Place) -> Vec<(FileRef, Option<StenoSum>)> {
    let file = |item: &Value| {
        let path = item.as_str().or_else(|| filled(item, ["path", "file"]))?.trim();
        let path = place.show(path.trim_start_matches('@')).into_owned();
        let created = flag(item, "created") || filled(item, ["action", "change", "kind"]) == Some("created");
        let (hash, sum) = filled(item, "hash").map_or((None, None), hash);
        (!path.is_empty()).then_some((FileRef { path, hash, created, ..FileRef::default() }, sum))
    };
    list.iter().filter_map(file).collect()
}

/// What is written as a hash: one of ours where it says so, else a checksum.
fn hash(text: &str) -> (Option<String>, Option<StenoSum>) {
    let (method, digits) = text.trim().split_once(':').unwrap_or(("", text.trim()));
    let is_hex = (8..=128).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = digits.to_ascii_lowercase();
    match (method, digits.len()) {
        _ if !is_hex => (None, None),
        ("blake3", _) => (Some(digits.chars().take(16).collect()), None),
        ("md5", _) | ("", 32) => (None, Some(("md5", digits))),
        ("sha256", _) => (None, Some(("sha256", digits))),
        _ => (None, Some(("checksum", digits))),
    }
}
