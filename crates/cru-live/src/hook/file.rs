//! The files that a tool's call names, at the moment of the call.
//!
//! Only regular files up to a limit are read; a pipe or a device is not even opened, since that can block or do
//! something. Nothing here fails: a file that cannot be read has no hash.

use std::path::Path;

use serde_json::Value;

use super::{Event, FIELDS, HashedFile, Host, Input};
use cru_base::files;

/// Bytes of the largest file that is hashed.
const MAX: u64 = 8 << 20;

pub(super) fn of(host: &Host, event: Event, input: &Input) -> Vec<HashedFile> {
    let Some(tool) = input.text(FIELDS.tool) else { return Vec::new() };
    let Some(row) = host.files.iter().find(|row| row.tool == tool) else { return Vec::new() };
    let named = input.get(FIELDS.tool_input).and_then(|arguments| arguments.get(row.field));
    let Some(named) = named.and_then(Value::as_str).filter(|path| !path.is_empty()) else { return Vec::new() };
    let path = input.cwd().map_or_else(|| Path::new(named).to_owned(), |cwd| cwd.join(named));
    if !path.is_absolute() {
        return Vec::new();
    }
    let one = |hash, created| vec![HashedFile { path: named.to_owned(), hash, created }];
    match event {
        Event::PreTool if row.makes => one(String::new(), is_missing(&path)),
        Event::PostTool => hash(&path).map_or_else(Vec::new, |hash| one(hash, row.makes && made(input))),
        _ => Vec::new(),
    }
}

fn is_missing(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// Whether the result says that the file is new.
fn made(input: &Input) -> bool {
    input.get(FIELDS.tool_response).and_then(|response| response.get("type")).is_some_and(|kind| kind == "create")
}

/// The hash of a regular file that is not too large.
fn hash(path: &Path) -> Option<String> {
    let bytes = files::read_regular(path, MAX).ok()??;
    // Digits of the hash that are kept.
    Some(blake3::hash(&bytes).to_hex()[..16].to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hook::HOSTS;

    fn files_of(event: Event, tool: &str, arguments: &Value, response: &Value, cwd: &Path) -> Vec<HashedFile> {
        let input = json!({"tool_name": tool, "tool_input": arguments, "tool_response": response, "cwd": cwd});
        of(&HOSTS[0], event, &Input::read(input.to_string().as_bytes()).unwrap())
    }

    #[test]
    fn hashes_what_the_call_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        files::create(&path, b"text").unwrap();
        let digits = blake3::hash(b"text").to_hex()[..16].to_owned();
        let post = |tool: &str, arguments: Value, response: Value| {
            files_of(Event::PostTool, tool, &arguments, &response, dir.path())
        };
        let relative = post("Read", json!({"file_path": "a.txt"}), json!({}));
        assert_eq!(relative, [HashedFile { path: "a.txt".into(), hash: digits.clone(), created: false }]);
        let absolute = post("Write", json!({"file_path": path}), json!({"type": "create"}));
        assert_eq!(absolute[0].hash, digits);
        assert!(absolute[0].created);
        assert!(!post("Write", json!({"file_path": path}), json!({"type": "update"}))[0].created);
        assert_eq!(post("NotebookEdit", json!({"notebook_path": "a.txt"}), json!("odd")).len(), 1);
        for (tool, arguments) in [
            ("Bash", json!({"file_path": "a.txt"})),
            ("Read", json!({"file_path": 7})),
            ("Read", json!("a.txt")),
            ("Read", json!({"file_path": ""})),
            ("Read", json!({"file_path": "b.txt"})),
            ("Read", json!({"file_path": "."})),
            ("Read", json!({"file_path": "a\u{0}.txt"})),
        ] {
            assert_eq!(post(tool, arguments.clone(), json!(null)), [], "{tool} {arguments}");
        }
    }

    #[test]
    fn before_a_write_it_is_known_whether_the_file_is_new() {
        let dir = tempfile::tempdir().unwrap();
        files::create(&dir.path().join("old"), b"").unwrap();
        let pre = |tool: &str, name: &str| {
            files_of(Event::PreTool, tool, &json!({"file_path": name}), &json!(null), dir.path())
        };
        assert!(pre("Write", "new")[0].created);
        assert!(!pre("Write", "old")[0].created);
        assert!(!pre("Write", "old/x")[0].created, "the file in the way is not missing");
        assert_eq!(pre("Edit", "new"), []);
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            dir.path().join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero")).unwrap();
        std::os::unix::fs::symlink("loop", dir.path().join("loop")).unwrap();
        for name in ["pipe", "zero", "loop", "/dev/zero", "/dev/tty"] {
            let found = files_of(Event::PostTool, "Read", &json!({"file_path": name}), &json!(null), dir.path());
            assert_eq!(found, [], "{name}");
        }
        let large = dir.path().join("large");
        files::create(&large, &vec![0; usize::try_from(MAX).unwrap() + 1]).unwrap();
        assert_eq!(hash(&large), None);
    }
}
