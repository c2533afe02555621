//! What programs call the arguments of their tools: only names that several of them share.

/// Names of arguments that name a file.
pub(super) const FILES: &[&str] =
    &["file_path", "path", "filePath", "target_file", "notebook_path", "filename", "file"];

/// Names of arguments that hold a text as it stands in a file.
pub(super) const OLD: &[&str] = &["old_string", "oldText", "old_str", "old_text", "oldString"];

/// Names of arguments that hold a text as it shall stand in a file, or all of a file.
pub(super) const NEW: &[&str] =
    &["new_string", "newText", "new_str", "new_text", "newString", "new_source", "content", "contents", "file_text"];

/// Names of arguments that hold a command line.
pub(super) const COMMANDS: &[&str] = &["command", "cmd", "script"];
