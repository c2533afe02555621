//! Finished items instead of events, and histories that stand in other files.

use serde_json::{Value, json};

use super::{answers, calls, event, item, meta, read, session};

fn done(item: Value) -> Value {
    event(json!({ "type": "item_completed", "item": item }))
}

fn sent(parts: Value) -> Value {
    item(json!({ "type": "message", "role": "user", "content": parts }))
}

fn tokens(total: u64, last: u64) -> Value {
    let of = |input: u64| json!({ "input_tokens": input, "output_tokens": 1, "total_tokens": input + 1 });
    event(json!({ "type": "token_count", "info": { "total_token_usage": of(total), "last_token_usage": of(last) } }))
}

#[test]
fn finished_items_tell_words_pictures_and_how_calls_ended() {
    let picture = "data:image/png;base64,AAAA";
    let told = session(&[
        sent(json!([{ "type": "input_text", "text": "See it" }, { "type": "input_image", "image_url": picture }])),
        done(json!({ "type": "UserMessage", "id": "i1", "content": [{ "type": "text", "text": "See it" }] })),
        calls("c1", "exec_command", json!({ "cmd": "make fit" })),
        done(json!({ "type": "CommandExecution", "id": "c1", "exit_code": 3, "duration": { "secs": 7, "nanos": 0 } })),
        answers("c1", "no valve"),
        done(json!({ "type": "agentMessage", "id": "m1", "content": [{ "type": "Text", "text": "Done." }] })),
        item(
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] }),
        ),
        sent(json!([{ "type": "input_image", "image_url": picture }])),
        done(json!({ "type": "user_message", "id": "i2", "content": [{ "type": "local_image", "path": "/t/a.jpg" }] })),
        item(
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "A cat." }] }),
        ),
        // A tool shows a picture to the agent.
        sent(json!([{ "type": "input_image", "image_url": picture }])),
        done(json!({ "type": "Hologram", "id": "h" })),
    ]);
    insta::assert_snapshot!(told.stream("s"), @r"
    3 prompt (typed) See it +image/png 3
    4 call c1 Bash make fit
    6 result c1 failed exit 3 no valve
    8 reply Done.
    10 prompt (typed)  +image/jpeg 0
    11 reply A cat.
    ");
    assert_eq!(told.skipped("unknown item"), 1);
}

#[test]
fn pictures_stay_beside_words_that_no_event_tells() {
    let told = session(&[
        sent(
            json!([{ "type": "input_text", "text": "See it" }, { "type": "input_image", "image_url": "data:image/png;base64,AAAA" }]),
        ),
        item(
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Seen." }] }),
        ),
    ]);
    insta::assert_snapshot!(told.stream("s"), @r"
    2 prompt (typed) See it +image/png 3
    3 reply Seen.
    ");
}

fn numbered(first: u64, lines: &[Value]) -> Vec<Value> {
    let number = |(line, ordinal): (&Value, u64)| {
        let mut line = line.clone();
        line["ordinal"] = json!(ordinal);
        line
    };
    lines.iter().zip(first..).map(number).collect()
}

fn says(words: &str) -> Value {
    item(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": words }] }))
}

fn asks(words: &str) -> Value {
    done(json!({ "type": "UserMessage", "id": words, "content": [{ "type": "text", "text": words }] }))
}

#[test]
fn a_history_in_another_file_is_counted_once() {
    let a = numbered(0, &[meta("a", json!({})), asks("go on"), says("One."), tokens(100, 100)]);
    let base = json!({ "history_base": { "thread_id": "a", "end_ordinal_exclusive": 4 }, "forked_from_id": "a" });
    // The same words again are its own.
    let b = numbered(4, &[meta("b", base), asks("go on"), says("Two."), tokens(130, 30), tokens(150, 20)]);
    let told = read(&[("rollout-1-a.jsonl", &a), ("rollout-2-b.jsonl", &b)]);
    assert_eq!((told.tokens("a").input, told.tokens("b").input), (100, 50));
    assert_eq!(told.parents["b"], "a");
    insta::assert_snapshot!(told.stream("b"), @r"
    2 prompt (typed) go on
    3 reply Two.
    ");
    // Without its origin at hand only the last message is known to be its own.
    assert_eq!(read(&[("rollout-2-b.jsonl", &b)]).tokens("b").input, 50);
}

#[test]
fn a_person_who_goes_back_leaves_the_rest_behind() {
    let first =
        numbered(0, &[meta("a", json!({})), asks("One"), says("One."), asks("Two"), says("Two."), tokens(100, 60)]);
    let base = json!({ "history_base": { "thread_id": "a", "end_ordinal_exclusive": 3 } });
    let second = numbered(3, &[meta("a", base), asks("Other"), says("Other."), tokens(90, 50)]);
    let told = read(&[("rollout-1-a.jsonl", &first), ("rollout-2-a_s2.jsonl", &second)]);
    insta::assert_snapshot!(told.stream("a"), @r"
    2 prompt (typed) One
    3 reply One.
    4 prompt (typed) Two
    5 reply Two.
    7 rewind to 3
    8 prompt (typed) Other
    9 reply Other.
    ");
    assert_eq!(told.tokens("a").input, 150);
}
