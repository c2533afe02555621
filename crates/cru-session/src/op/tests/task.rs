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
    assert_snapshot!(changed(NOTE, &[tasks(row.clone(), false)]), @r#"
    [Done]
    +```tasks
    +[
    +  {"id":"T-3","content":"Three","status":"pending"}
    +]
    +```
    +
    "#);
    let broken = FENCE.replace("[\n", "[\n  oh,\n");
    assert_snapshot!(changed(&broken, &[tasks(row.clone(), false)]), @r#"
    [Done]
    +```tasks
    +[
    +  {"id":"T-3","content":"Three","status":"pending"}
    +]
    +```
    +
    "#);
    let open = "## A\n\n```tasks\n[oh\n";
    assert_snapshot!(changed(open, &[tasks(row, false)]), @r#"
    [Done]
    +[
    +  {"id":"T-3","content":"Three","status":"pending"}
    +]
    +```
    +
    +```tasks
    "#);
}
