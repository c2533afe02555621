//! What sessions are called.

use serde_json::json;

use super::tests::Script;
use crate::event::{Call, DecisionEvent, EventKind, SessionFact, TitleRank};

fn title(script: &mut Script) -> String {
    script.finish().session.meta.title.unwrap_or_default()
}

fn input(id: &'static str, tool: &'static str, args: &'static str, input: serde_json::Value) -> EventKind<'static> {
    EventKind::Call(Call { id: id.into(), tool: tool.into(), args: args.into(), input })
}

#[test]
fn a_commit_that_says_what_was_done_names_the_session() {
    let mut script = Script::new();
    script.prompt("sounds like the second finding is the real one").reply("Then I reject the query parameters.");
    script
        .call("a", "Bash", "git commit -am x")
        .ok("a", "[main 9851ee3] fix: reject query parameters of the pump (#7)");
    assert_eq!(title(script.reply("The pump rejects query parameters now.")), "Reject query parameters of the pump");
    let mut script = Script::new();
    script.prompt("Rotate the signing keys of the pump").reply("Rotated: the pump has new signing keys.");
    script.call("a", "Bash", "git commit -am x").ok("a", "[main 9851ee3] bump version");
    assert_eq!(title(script.reply("The signing keys are new.")), "Rotate the signing keys of the pump");
}

#[test]
fn a_plan_comes_before_a_commit_and_a_persons_title_before_all() {
    let mut script = Script::new();
    script.prompt("Implement the following plan:\n\n# Plan: rotate the signing keys\n\nText.");
    script.call("a", "Bash", "git commit -am x").ok("a", "[main 9851ee3] Keys: rotate the signing half");
    script.reply("The signing keys rotate.");
    assert_eq!(title(&mut script), "Rotate the signing keys");
    let mut script = Script::new();
    let text = "# Rotate the signing keys\n\nText.";
    let approved = DecisionEvent {
        title: "Plan".into(),
        text: text.into(),
        why: None,
        rejected: Vec::new(),
        approval: true,
        call: None,
    };
    script.prompt("hello there").event(EventKind::Decision(approved)).reply("The signing keys rotate.");
    assert_eq!(title(&mut script), "Rotate the signing keys");
    let mut script = Script::new();
    script.prompt("Rotate the signing keys").reply("The signing keys rotate.");
    script.meta(SessionFact::Title { rank: TitleRank::Custom, text: "keys".into() });
    assert_eq!(title(&mut script), "keys");
}

#[test]
fn pull_requests_and_issues_name_the_session() {
    let mut script = Script::new();
    script.prompt("open a request for it").reply("Done with the valve.");
    script.call("a", "Bash", "gh pr create --title 'feat: shut the valve at night' --body x").ok("a", "https://x/1");
    assert_eq!(title(script.reply("The valve is shut at night.")), "Shut the valve at night");
    for (asked, wanted) in
        [("work on #98", "Pump leaks at night"), ("work on the leaks of the pump", "Work on the leaks of the pump")]
    {
        let mut script = Script::new();
        script
            .prompt(asked)
            .call("a", "Bash", "gh issue view 98")
            .ok("a", "title:\tPump leaks at night\nstate:\tOPEN\n");
        assert_eq!(title(script.reply("The pump has no leaks any more.")), wanted);
    }
}

#[test]
fn a_ticked_task_names_the_session() {
    let mut script = Script::new();
    script.prompt("do the next one").event(input(
        "a",
        "Edit",
        "tasks.md",
        json!({"file_path": "tasks.md", "old_string": "- [ ] Shut the valve of the pump", "new_string": "- [x] Shut the valve of the pump"}),
    ));
    assert_eq!(title(script.ok("a", "done").reply("The valve is shut.")), "Shut the valve of the pump");
}

#[test]
fn the_hosts_title_needs_a_proof() {
    for (said, wanted) in [
        ("Refactoring overview", "Mend the valve of the pump"),
        ("Valve of the pump mended", "Valve of the pump mended"),
    ] {
        let mut script = Script::new();
        script.meta(SessionFact::Title { rank: TitleRank::Host, text: said.into() });
        script.prompt("Hey, please mend the valve of the pump").reply("I mended the valve; the pump is dry.");
        assert_eq!(title(&mut script), wanted);
    }
}

#[test]
fn repeated_prompts_name_nothing() {
    let mut script = Script::new();
    for _ in 0..3 {
        script
            .prompt("Read the heartbeat file of the station and answer")
            .reply("The heartbeat file of the station is empty.");
    }
    script.prompt("Mend the valve of the pump").reply("The valve of the pump is mended.");
    let draft = script.finish();
    assert_eq!(draft.session.meta.title.as_deref(), Some("Mend the valve of the pump"));
    assert_eq!(draft.session.phases.len(), 1);
}

#[test]
fn closing_words_name_a_session_that_nothing_else_does() {
    let mut script = Script::new();
    script.prompt("fix this").reply("The valve of the pump was shut. It is open now.");
    assert_eq!(title(&mut script), "The valve of the pump was shut");
    let mut script = Script::new();
    script.prompt("List the valves of the cellar").reply("Found two of them here.");
    assert_eq!(title(&mut script), "List the valves of the cellar");
}
