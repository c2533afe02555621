use proptest::prelude::*;

use super::*;

#[test]
fn patches_of_agents() {
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.c\n*** Move to: z.c\n@@ int x\n kept\n-- out\n+in\n\n*** Add File: b.c\n+new\n*** Delete File: d.c\n*** End Patch\nEOF";
    let files = read(patch);
    assert_eq!(files.iter().map(FilePatch::path).collect::<Vec<_>>(), ["z.c", "b.c", "d.c"]);
    assert!(files[0].is_moved() && files[1].is_created() && files[2].is_deleted());
    let wanted = [PatchLine::Kept("kept"), PatchLine::Removed("- out"), PatchLine::Added("in"), PatchLine::Kept("")];
    assert_eq!((files[0].hunks[0].heading, files[0].hunks[0].lines.as_slice()), ("int x", &wanted[..]));
    assert_eq!(find(patch).map(|it| it.ends_with(END)), Some(true));
    assert_eq!(read("*** Update File: x\n+a").len(), 1);
}

#[test]
fn patches_of_diff() {
    let patch = "git apply <<'EOF'\ndiff --git a/a.c b/a.c\nindex 1..2 100644\n--- a/a.c\n+++ b/a.c\n@@ -1,3 +1,2 @@ fn x\n kept\n--- out\n-out\n+in\n--- /dev/null\n+++ b/b.c\n@@ -0,0 +1 @@\n+new\ndiff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\ndiff --git a/g b/g\ndeleted file mode 100644\nEOF";
    let files = read(patch);
    assert_eq!(files.iter().map(FilePatch::path).collect::<Vec<_>>(), ["a.c", "b.c", "n", "g"]);
    assert_eq!(files[0].removed().collect::<Vec<_>>(), ["-- out", "out"]);
    assert_eq!((files[0].hunks[0].old_start, files[0].hunks[0].heading), (Some(1), "fn x"));
    assert!(files[1].is_created() && files[2].is_moved() && files[3].is_deleted());
    assert!(read("no patch\n+in").is_empty() && !is_patch("+++ b/b.c"));
}

proptest! {
    #[test]
    fn any_text_is_read(lines in prop::collection::vec(prop::sample::select(vec![
        "*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Update File: é", "*** Delete File: b", "@@ -1,2 +1 @@",
        "@@ -9999999999999999999999,1 +1 @@", "@@", "--- a/x", "+++ b/x", "+é", "-", " k", "", "diff --git a/x b/x", "\\ no",
        "diff --git ", "@@ -1,18446744073709551615 +1,18446744073709551615 @@",
    ]), 0..30)) {
        let text = lines.join("\n");
        for file in read(&text) {
            let _ = (file.path(), file.added().count(), file.removed().count(), file.is_moved());
        }
        let _ = (is_patch(&text), find(&text));
    }
}

/// What calls do to files, a line for each.
fn told(tool: &str, input: &serde_json::Value) -> Vec<String> {
    let input = input.as_object().unwrap();
    let lines = |file: &FilePatch<'_>| {
        let (added, removed): (Vec<&str>, Vec<&str>) = (file.added().collect(), file.removed().collect());
        format!("{} +{} -{}", file.path(), added.join("|"), removed.join("|"))
    };
    of_call(tool, input).iter().map(lines).collect()
}

#[test]
fn calls_that_change_files() {
    use serde_json::json;
    let edit = json!({ "file_path": "a.c", "old_string": "first\n}", "new_string": "second\n}" });
    assert_eq!(told("Edit", &edit), ["a.c +second|} -first|}"]);
    let edits = json!({ "path": "b.c", "edits": [{ "oldText": "first", "newText": "third" }] });
    assert_eq!(told("edit", &edits), ["b.c +third -first"]);
    let several = json!({ "replacements": [{ "filePath": "c.c", "oldString": "a", "newString": "b" }] });
    assert_eq!(told("multi_replace_string_in_file", &several), ["c.c +b -a"]);
    let patch = "*** Begin Patch\n*** Update File: c.c\n@@\n kept\n-out\n+in\n*** Add File: d.c\n+new\n*** End Patch";
    assert_eq!(told("apply_patch", &json!({ "input": patch })), ["c.c +in -out", "d.c +new -"]);
    assert_eq!(told("shell", &json!({ "command": ["apply_patch", patch] })), ["c.c +in -out", "d.c +new -"]);
    assert_eq!(told("Write", &json!({ "file_path": "e.c", "content": "new" })), ["e.c +new -"]);
    let block = |from: &str, to: &str| format!("{from} SEARCH\nout\nleft\n=======\nin\n{to} REPLACE\n");
    let blocks = format!("{}{}", block("<<<<<<<", ">>>>>>>"), block("-------", "+++++++"));
    let wanted = ["f.c +in -out|left"; 2];
    assert_eq!(told("search_replace", &json!({ "file_path": "f.c", "content": blocks })), wanted);
    assert_eq!(told("replace_in_file", &json!({ "path": "f.c", "diff": blocks })), wanted);
    let numbered = blocks.replace("out\n", ":start_line:1\n-------\nout\n");
    assert_eq!(told("apply_diff", &json!({ "path": "f.c", "diff": numbered })), wanted);
    // A text that shows blocks is a text.
    assert_eq!(told("Write", &json!({ "file_path": "f.c", "content": "<<<<<<< SEARCH\n" })), ["f.c +<<<<<<< SEARCH -"]);
    assert!(told("Grep", &json!({ "pattern": "x", "path": "src" })).is_empty());
}
