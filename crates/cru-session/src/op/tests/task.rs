//! Rows of the `tasks` fence.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

fn tasks(rows: serde_json::Value, all: bool) -> Op {
    Op::Tasks { rows: serde_json::from_value(rows).unwrap(), all }
}

const FENCE: &str = "# T\n\n```tasks\n[\n  {\"id\":\"T-1\",\"content\":\"One\",\"status\":\"pending\"},\n  { \"id\": \"T-2\", \"mine\": [1, 2], \"status\": \"pending\", \"content\": \"Two, {or} so\" }\n]\n```\n\n## A\n";

#[test]
fn rows_change_in_place() {
    assert_snapshot!(changed(FENCE, &[tasks(json!([{"id": "T-2", "status": "completed"}]), false)]), @r#"
    [Done]
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }
    +  { "id": "T-2", "mine": [1, 2], "status": "completed", "content": "Two, {or} so" }
    "#);
    assert_snapshot!(changed(FENCE, &[tasks(json!([{"id": "T-2", "priority": "high", "owner": "x"}, {"id": "T-1", "content": "Uno"}]), false)]), @r#"
    [Done]
    -  {"id":"T-1","content":"One","status":"pending"},
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }
    +  {"id":"T-1","content":"Uno","status":"pending"},
    +  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so", "priority": "high", "owner": "x" }
    "#);
    assert_snapshot!(changed(FENCE, &[tasks(json!([{"id": "T-3", "content": "Three", "status": "pending"}]), false)]), @r#"
    [Done]
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }
    +  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" },
    +  {"id":"T-3","content":"Three","status":"pending"}
    "#);
    assert_snapshot!(changed(FENCE, &[tasks(json!([{"id": "T-3", "content": "Three", "status": "pending"}]), true)]), @r#"
    [Done]
    -  {"id":"T-1","content":"One","status":"pending"},
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }
    +  {"id":"T-3","content":"Three","status":"pending"}
    "#);
    assert_snapshot!(changed(FENCE, &[tasks(json!([{"id": "T-1"}]), true)]), @r#"
    [Done]
    -  {"id":"T-1","content":"One","status":"pending"},
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }
    +  {"id":"T-1","content":"One","status":"pending"}
    "#);
    assert_snapshot!(changed(FENCE, &[tasks(json!([{"id": "T-2"}]), true)]), @r#"
    [Done]
    -  {"id":"T-1","content":"One","status":"pending"},
    "#);
    assert_snapshot!(changed(FENCE, &[tasks(json!([]), true)]), @r#"
    [Done]
    -```tasks
    -[
    -  {"id":"T-1","content":"One","status":"pending"},
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }
    -]
    -```
    -
    "#);
    let moved = FENCE.replace("# T\n\n", "# T\n\n## B\n\n");
    assert_snapshot!(changed(&moved, &[tasks(json!([]), true)]), @r#"
    [Done]
    -[
    -  {"id":"T-1","content":"One","status":"pending"},
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }
    -]
    +[]
    "#);
    assert_eq!(applied(FENCE, &[tasks(json!([{"id": "T-1", "status": "pending"}]), false)]).1, [Outcome::Present]);
}

#[test]
fn other_forms() {
    let one_line = "```tasks\n[{\"id\":\"T-1\",\"content\":\"One\",\"status\":\"pending\"}]\n```\n";
    let row = json!([{"id": "T-3", "content": "Three", "status": "pending"}]);
    assert_snapshot!(changed(one_line, &[tasks(row.clone(), false)]), @r#"
    [Done]
    -[{"id":"T-1","content":"One","status":"pending"}]
    +[{"id":"T-1","content":"One","status":"pending"},{"id":"T-3","content":"Three","status":"pending"}]
    "#);
    assert_snapshot!(changed(one_line, &[tasks(row.clone(), true)]), @r#"
    [Done]
    -[{"id":"T-1","content":"One","status":"pending"}]
    +[{"id":"T-3","content":"Three","status":"pending"}]
    "#);
    assert_snapshot!(changed("```tasks\n[]\n```\n", &[tasks(row.clone(), true)]), @r#"
    [Done]
    -[]
    +[
    +  {"id":"T-3","content":"Three","status":"pending"}
    +]
    "#);
    assert_snapshot!(changed("```tasks\n```\n", &[tasks(row.clone(), true)]), @r#"
    [Done]
    +[
    +  {"id":"T-3","content":"Three","status":"pending"}
    +]
    "#);
    assert_snapshot!(changed(&FENCE.replace('\n', "\r\n"), &[tasks(row.clone(), false)]), @r#"
    [Done]
    -  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" }␍
    +  { "id": "T-2", "mine": [1, 2], "status": "pending", "content": "Two, {or} so" },␍
    +  {"id":"T-3","content":"Three","status":"pending"}␍
    "#);
}

#[test]
fn a_fence_is_made() {
    let row = json!([{"id": "T-3", "content": "Three", "status": "pending"}]);
    assert_snapshot!(changed(NOTE, &[tasks(row.clone(), false)]), @r"
    [Done]
    +**Tasks:**
    +- [ ] Three ^task-T-3
    +
    ");
    let broken = FENCE.replace("[\n", "[\n  oh,\n");
    assert_snapshot!(changed(&broken, &[tasks(row.clone(), false)]), @r"
    [Done]
    +**Tasks:**
    +- [ ] Three ^task-T-3
    +
    ");
    let open = "## A\n\n```tasks\n[oh\n";
    assert_snapshot!(changed(open, &[tasks(row, false)]), @r"
    [Done]
    +**Tasks:**
    +- [ ] Three ^task-T-3
    +
    ");
}

#[test]
fn boxes_change_in_place() {
    let note = "# T\n\n**Tasks:**\n- [x] Mend the pump ^task-1\n- [ ] Shut the valve ⏫ ^task-2\n    - mine\n- [ ] my own\n\n## A @x\n";
    let changed = |rows: &[Task], all: bool| applied(note, &[Op::Tasks { rows: rows.to_vec(), all }]).0;
    let task = |id: &str, content: &str, status: &str| Task {
        id: id.to_owned(),
        content: content.to_owned(),
        status: status.to_owned(),
        ..Task::default()
    };
    let new = changed(&[task("2", "Shut the valve", "completed"), task("3", "Paint", "pending")], false);
    let wanted = note.replace("[ ] Shut", "[x] Shut").replace("- [ ] my own\n", "- [ ] my own\n- [ ] Paint ^task-3\n");
    assert_eq!(new, wanted);
    assert_eq!(changed(&[task("1", "Mend the pump", "completed")], false), note);
    let kept = changed(&[task("1", "Mend the pumps", "")], false);
    assert!(kept.contains("- [x] Mend the pumps ^task-1\n"), "{kept}");
    let gone = changed(&[task("2", "Shut the valve", "pending"), task("", "my own", "pending")], true);
    assert_eq!(gone, note.replace("- [x] Mend the pump ^task-1\n", ""));
    let windows = note.replace('\n', "\r\n");
    let ops = [Op::Tasks { rows: vec![task("2", "", "completed")], all: false }];
    assert_eq!(applied(&windows, &ops).0, note.replace("[ ] Shut", "[x] Shut").replace('\n', "\r\n"));
}

#[test]
fn boxes_are_read_below_their_line_alone() {
    let read = |note: &str| crate::read::session(&cru_note::Note::parse(note)).0;
    let tasks = |note: &str| read(note).tasks().into_iter().cloned().collect::<Vec<_>>();
    let found = tasks("# T\n\n**Tasks:**\n- [X] Mend ^task-008\n- plain\n- [/] Paint\n\n## A @x\n\n- [ ] no task\n");
    let told: Vec<_> = found.iter().map(|it| (it.id.as_str(), it.content.as_str(), it.status.as_str())).collect();
    assert_eq!(told, [("TASK-008", "Mend", "completed"), ("", "Paint", "in_progress")]);
    assert_eq!(tasks("# T\n\n**Tasks:**\n\nNone.\n"), []);
    assert_eq!(tasks("# T\n\n\\*\\*Tasks:**\n- [ ] said\n"), []);
}
