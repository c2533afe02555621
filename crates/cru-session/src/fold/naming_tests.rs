//! What sessions are called.

use super::tests::Script;
use crate::event::{SessionFact, TitleRank};

fn title(script: &mut Script) -> String {
    script.finish().session.meta.title.unwrap_or_default()
}

#[test]
fn the_only_commit_of_the_only_request_names_the_session() {
    let begun = || {
        let mut script = Script::new();
        script.prompt("sounds like the second finding is the real one").reply("Then I reject the query parameters.");
        script
            .call("a", "Bash", "git commit -am x")
            .ok("a", "[main 9851ee3] fix: reject query parameters of the pump (#7)");
        script
    };
    assert_eq!(title(begun().reply("The pump rejects them now.")), "Reject query parameters of the pump");
    let asked = "Sounds like the second finding is the real one";
    assert_eq!(title(begun().reply("Done.").prompt("now bump the version of the pump")), asked);
}

#[test]
fn a_persons_title_comes_before_a_generated_one_and_that_before_the_request() {
    let mut script = Script::new();
    script
        .prompt("Implement the following plan:\n\n# Rotate the signing keys\n\nText.")
        .reply("The signing keys rotate.");
    assert_eq!(title(&mut script), "Rotate the signing keys");
    script.meta(SessionFact::Title { rank: TitleRank::Host, text: "Key rotation".into() });
    assert_eq!(title(&mut script), "Key rotation");
    script.meta(SessionFact::Title { rank: TitleRank::Custom, text: "keys".into() });
    assert_eq!(title(&mut script), "keys");
}

#[test]
fn a_generated_title_that_repeats_the_request_names_nothing() {
    let mut script = Script::new();
    script.meta(SessionFact::Title { rank: TitleRank::Host, text: "Hey, please mend the…".into() });
    script.prompt("Hey, please mend the valve of the pump").reply("I mended the valve; the pump is dry.");
    assert_eq!(title(&mut script), "Mend the valve of the pump");
}

#[test]
fn what_was_only_read_and_what_the_agent_said_name_nothing() {
    let mut script = Script::new();
    script.prompt("work on #98").call("a", "Bash", "gh issue view 98").ok("a", "title:\tPump leaks at night\n");
    assert_eq!(title(script.reply("The pump has no leaks any more.")), "Work on #98");
    let mut script = Script::new();
    script.prompt("fix this").reply("The valve of the pump was shut. It is open now.");
    assert_eq!(title(&mut script), "Fix this");
}

#[test]
fn the_first_request_that_names_something_names_the_session() {
    let mut script = Script::new();
    script.prompt("hi").reply("Hello.").prompt("ok").reply("Yes?").prompt("Mend the valve of the pump").reply("Done.");
    assert_eq!(title(&mut script), "Mend the valve of the pump");
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
