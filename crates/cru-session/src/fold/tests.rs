//! The fold on events made by hand.

use std::borrow::Cow;
use std::fmt::Write as _;

use cru_base::text::{fold_whitespace, sanitise};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

use super::{Draft, Fold, Options};
use crate::event::{
    Attachment, Call, CallResult, DecisionEvent, Event, EventKind, Prompt, PromptOrigin, SessionFact, StreamKey,
    SubagentRun, TitleRank, Usage,
};
use crate::source::{Consumed, Header};
use crate::{FileRef, Item, Status, Task};

/// Events with a clock that goes on by ten seconds.
pub(super) struct Script {
    fold: Fold,
    record: u64,
    now: Timestamp,
}

impl Script {
    pub(super) fn new() -> Self {
        Self::with(Header {
            key: StreamKey { session: "5e55".to_owned(), agent: None },
            transcript: "/home/me/.claude/projects/-home-me-api/5e55.jsonl".into(),
            ..Header::default()
        })
    }

    pub(super) fn with(header: Header) -> Self {
        let now = "2026-11-20T09:00:00Z".parse().unwrap();
        Self { fold: Fold::new(header, "claude-code", Options::default()), record: 0, now }
    }

    pub(super) fn event(&mut self, kind: EventKind<'static>) -> &mut Self {
        self.record += 1;
        self.now += SignedDuration::from_secs(10);
        self.fold.event(Event { record: self.record, time: Some(self.now), kind });
        self
    }

    pub(super) fn wait(&mut self, seconds: i64) -> &mut Self {
        self.now += SignedDuration::from_secs(seconds);
        self
    }

    pub(super) fn said(&mut self, text: &'static str, origin: PromptOrigin<'static>) -> &mut Self {
        self.event(EventKind::Prompt(Prompt { text: Cow::Borrowed(text), origin, attachments: Vec::new() }))
    }

    pub(super) fn prompt(&mut self, text: &'static str) -> &mut Self {
        self.said(text, PromptOrigin::Typed)
    }

    pub(super) fn reply(&mut self, text: &'static str) -> &mut Self {
        self.event(EventKind::Reply(Cow::Borrowed(text)))
    }

    pub(super) fn call(&mut self, id: &'static str, tool: &'static str, args: &'static str) -> &mut Self {
        let call =
            Call { id: Cow::Borrowed(id), tool: Cow::Borrowed(tool), args: Cow::Borrowed(args), input: Value::Null };
        self.event(EventKind::Call(call))
    }

    pub(super) fn ok(&mut self, id: &'static str, output: &'static str) -> &mut Self {
        self.event(EventKind::Result(CallResult { call: id.into(), output: output.into(), ..CallResult::default() }))
    }

    pub(super) fn fails(&mut self, id: &'static str, output: &'static str) -> &mut Self {
        let failed = true;
        self.event(EventKind::Result(CallResult {
            call: id.into(),
            output: output.into(),
            failed,
            ..CallResult::default()
        }))
    }

    pub(super) fn denied(&mut self, id: &'static str) -> &mut Self {
        let denied = true;
        self.event(EventKind::Result(CallResult { call: id.into(), denied, ..CallResult::default() }))
    }

    pub(super) fn meta(&mut self, meta: SessionFact<'static>) -> &mut Self {
        self.event(EventKind::Meta(meta))
    }

    pub(super) fn finish(&mut self) -> Draft {
        let empty = Fold::new(Header::default(), "", Options::default());
        let consumed = Consumed {
            records: self.record,
            last: Some("abcdef0123".to_owned()),
            hash: "0123456789".to_owned(),
            ..Consumed::default()
        };
        std::mem::replace(&mut self.fold, empty).finish(consumed)
    }

    /// The body as an outline: what stands where, in few words.
    pub(super) fn outline(&mut self) -> String {
        outline(&self.finish())
    }
}

fn outline(draft: &Draft) -> String {
    let mut out = String::new();
    for item in &draft.session.preface {
        let _ = writeln!(out, "{}", shown(item));
    }
    for phase in &draft.session.phases {
        let agent = phase.agent.as_ref().map(|agent| format!(" @{agent}")).unwrap_or_default();
        let channel = phase.channel.as_ref().map(|channel| format!(" #{channel}")).unwrap_or_default();
        let from = phase.from.as_ref().map(|link| format!(" from {link}")).unwrap_or_default();
        let _ = writeln!(out, "## {}{agent}{channel} ^{}{from}", phase.title, phase.id);
        for item in &phase.items {
            let _ = writeln!(out, "{}", shown(item));
        }
    }
    out
}

fn shown(item: &Item) -> String {
    match item {
        Item::Step(step) => {
            let mark = if step.status.is_crossed() { "✗ " } else { "" };
            format!(
                "- {} {} → {mark}{} ^{}",
                step.tool,
                step.args,
                step.result.as_deref().unwrap_or("-"),
                step.id.as_deref().unwrap_or("-")
            )
        }
        Item::Prose(prose) => prose.text.clone(),
        Item::Tasks(tasks) => {
            let rows: Vec<String> =
                tasks.tasks.iter().map(|task| format!("{} [{}]", task.content, task.status)).collect();
            format!("tasks: {}", rows.join(", "))
        }
        other => {
            let callout = other.callout().unwrap();
            let fold = if callout.folded == Some(true) { "-" } else { "" };
            format!("[!{}]{fold} {} | {}", callout.kind, callout.title, callout.body.replace('\n', " / "))
        }
    }
}

#[test]
fn a_session() {
    let mut script = Script::new();
    script.meta(SessionFact::Cwd("/home/me/code/api".into())).meta(SessionFact::HostVersion("2.1.0".into()));
    script.meta(SessionFact::Branch("main".into()));
    script.prompt("Please fix the login test in src/auth.rs").reply("I look at it.");
    script.call("a", "Read", "src/auth.rs").ok("a", "fn login() {}");
    script.call("b", "Bash", "cargo test").fails("b", "Exit code 101\nerror[E0308]: mismatched types\n");
    script.call("c", "Edit", "src/auth.rs").ok("c", "updated");
    script.call("d", "Bash", "cargo test 2>&1 | tail").ok("d", "test result: ok. 3 passed; 0 failed");
    script.reply("Fixed. Shall I commit?").prompt("yes, with a good message").reply("Done.");
    script
        .prompt("Now add rate limiting to every endpoint, with a token bucket kept for each client")
        .reply("Done too.");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "Please fix the login test in src/auth.rs" (+ 2 requests)   / Agent, last: "Done too."   / Checks: `cargo test` passed   / Time: 2 min active
    ## Fix the login test in auth.rs @claude-code@2.1.0 #api ^p-01
    [!user]  | "Please fix the login test in src/auth.rs"
    I look at it.
    - Read src/auth.rs → fn login() {} ^n-001
    - Bash cargo test → ✗ error[E0308]: mismatched types ^n-002
    - Edit src/auth.rs → updated ^n-003
    - Bash cargo test 2>&1 | tail → test result: ok. 3 passed; 0 failed ^n-004
    [!error] error[E0308]: mismatched types | `cargo test` failed. / Step: [[#^n-002]] / Resolution: passed in [[#^n-004]]
    Fixed. Shall I commit?
    [!user]  | "yes, with a good message"
    Done.
    ## Add rate limiting to every endpoint, with a… @claude-code@2.1.0 #api ^p-02
    [!user]  | "Now add rate limiting to every endpoint, with a token bucket kept for each client"
    Done too.
    "#);
}

#[test]
fn frontmatter() {
    let mut script = Script::new();
    script.meta(SessionFact::Cwd("/home/me/code/api".into())).meta(SessionFact::HostVersion("2.1.0".into()));
    script
        .meta(SessionFact::Branch("main".into()))
        .meta(SessionFact::Branch("HEAD".into()))
        .meta(SessionFact::Commit("4f1c2ab".into()));
    script.meta(SessionFact::Title { rank: TitleRank::Host, text: "Rotate\nkeys".into() });
    script.meta(SessionFact::Title { rank: TitleRank::Summary, text: "weaker".into() });
    script.prompt("rotate the keys").reply("Done.");
    for output in [10, 30] {
        let usage = Usage { input: 5, output, cache_write: 100, cache_read: 9000, ..Usage::default() };
        script.event(EventKind::Usage { message: "m1".into(), model: "opus".into(), usage });
    }
    let usage = Usage { input: 1, output: 2, ..Usage::default() };
    script.event(EventKind::Usage { message: "m2".into(), model: "haiku".into(), usage });
    script.event(EventKind::Usage { message: "m3".into(), model: "<synthetic>".into(), usage });
    let draft = script.finish();
    let meta = &draft.session.meta;
    assert_eq!(meta.title.as_deref(), Some("Rotate keys"));
    assert_eq!(meta.project.as_deref(), Some("~/code/api"));
    assert_eq!(meta.transcript.as_deref(), Some("~/.claude/projects/-home-me-api/5e55.jsonl"));
    assert_eq!((meta.branch.as_deref(), meta.commit.as_deref()), (Some("main"), Some("4f1c2ab")));
    assert_eq!((meta.model.as_deref(), meta.tokens_used), (Some("opus"), Some(138)));
    assert_eq!(meta.cost_usd, None);
    assert_eq!(meta.host_session.as_deref(), Some("5e55"));
    assert_eq!(meta.cursor.as_deref(), Some("r1 13 abcdef01 01234567"));
    assert_eq!(meta.participants.iter().map(ToString::to_string).collect::<Vec<_>>(), ["claude-code@2.1.0"]);
    assert_eq!((draft.slug.as_str(), draft.empty), ("rotate-keys", false));
    assert_eq!(meta.started.unwrap().to_string(), "2026-11-20T09:01:20Z", "the request, not what was noted before");
    insta::assert_snapshot!(outline(&draft), @r#"
    [!summary]  | Asked: "rotate the keys"   / Agent, last: "Done."
    ## Rotate the keys @claude-code@2.1.0 #api ^p-01
    [!user]  | "rotate the keys"
    Done.
    [!usage] 138 tokens | | Model | Input | Output | Cache write | Cache read | / | --- | ---: | ---: | ---: | ---: | / | opus | 5 | 30 | 100 | 9,000 | / | haiku | 1 | 2 | 0 | 0 |
    "#);
}

#[test]
fn what_was_sent_without_words_and_by_whom_it_was_answered() {
    for (media_type, title) in [("image/png", "Picture"), ("application/pdf", "File"), ("file", "File")] {
        let attachments = vec![Attachment { media_type: media_type.into(), bytes: 0 }];
        let (text, origin) = ("".into(), PromptOrigin::Typed);
        let mut script = Script::new();
        script.meta(SessionFact::Agent("claude code".into()));
        let draft = script.event(EventKind::Prompt(Prompt { text, origin, attachments })).reply("Done.").finish();
        let participants: Vec<String> = draft.session.meta.participants.iter().map(ToString::to_string).collect();
        assert_eq!(
            (draft.session.phases[0].title.as_str(), &participants[..]),
            (title, &["claude-code".to_owned()][..])
        );
    }
}

#[test]
fn a_session_begins_with_its_first_request_or_work() {
    let mut script = Script::new();
    script.meta(SessionFact::Cwd("/home/me/code/api".into())).said("/clear", PromptOrigin::Command).wait(2 * 86_400);
    script.prompt("build the parser").reply("Built.");
    assert_eq!(script.finish().session.meta.started.unwrap().to_string(), "2026-11-22T09:00:30Z");
    let mut script = Script::new();
    script.said("ls", PromptOrigin::Shell).wait(3600).prompt("build the parser").reply("Built.");
    assert_eq!(script.finish().session.meta.started.unwrap().to_string(), "2026-11-20T09:00:10Z");
    let mut script = Script::new();
    script.meta(SessionFact::CopiedUntil("2026-11-20T10:00:00Z".parse().unwrap()));
    script.prompt("build the parser").reply("Built.").wait(7200).prompt("another way").reply("Built.");
    assert_eq!(script.finish().session.meta.started.unwrap().to_string(), "2026-11-20T11:00:40Z");
    let mut script = Script::new();
    script.said("/clear", PromptOrigin::Command);
    assert_eq!(script.finish().session.meta.started.unwrap().to_string(), "2026-11-20T09:00:10Z");
}

#[test]
fn the_branch_is_the_last_one_the_commit_that_of_the_start_and_steps_say_what_they_committed() {
    let mut script = Script::new();
    script
        .meta(SessionFact::Branch("HEAD".into()))
        .meta(SessionFact::Branch("main".into()))
        .meta(SessionFact::Commit("4f1c2ab".into()));
    script.prompt("commit it").call("a", "Bash", "git commit -m x && git push");
    script.fails("a", "[main 9851ee3] Short  [[tokens]]\n 1 file changed\nfatal: no upstream");
    script.call("b", "Bash", "git log -1").ok("b", "[main 77aa88b] only looked at");
    script.meta(SessionFact::Branch("other".into())).meta(SessionFact::Commit("77aa88b".into())).reply("Done.");
    let draft = script.finish();
    let meta = &draft.session.meta;
    assert_eq!((meta.branch.as_deref(), meta.commit.as_deref()), (Some("other"), Some("4f1c2ab")));
    let note = crate::render::note(&draft.session);
    assert!(note.contains("> Commits: `9851ee3`"), "{note}");
    assert!(note.contains("> Open: `git push` failed"), "{note}");
    let fields: Vec<_> = draft.session.steps().map(|(_, step)| step.fields.clone()).collect();
    assert_eq!(fields, [vec![("commit".to_owned(), "`9851ee3` Short [[tokens]]".to_owned())], Vec::new()]);
    let note = crate::render::note(&draft.session);
    assert!(note.contains("\n    - commit: `9851ee3` Short \\[[tokens]]\n"), "{note}");
    let (again, _) = crate::read::session(&cru_note::Note::parse(note));
    assert_eq!(again.steps().next().unwrap().1.fields, fields[0]);
}

/// What a session committed and took back is neither listed nor names the session.
#[test]
fn commits_that_were_taken_back_do_not_stand() {
    let told = |back: &'static str| {
        let mut script = Script::new();
        script.prompt("mend the pump and the valve");
        script.call("a", "Bash", "git commit -m 'Mend the pump'").ok("a", "[main 1111111] Mend the pump");
        script.call("b", "Bash", "git commit -m 'Mend the valve'").ok("b", "[main 2222222] Mend the valve");
        script.call("c", "Bash", back).ok("c", "[main 3333333] Mend both");
        let note = crate::render::note(&script.reply("Done.").finish().session);
        let line = note.lines().find_map(|line| line.strip_prefix("> Commits: ")).unwrap_or_default().to_owned();
        (line.trim().to_owned(), note.contains("\n# Mend the valve"))
    };
    let last = "`3333333` Mend both";
    assert_eq!(told("git reset --soft HEAD~2 && git commit -m 'Mend both'"), (last.to_owned(), false));
    assert_eq!(told("git reset --soft main && git commit -m 'Mend both'"), (last.to_owned(), false));
    let (line, _) = told("git commit --amend -m 'Mend both'");
    assert_eq!(line, format!("`1111111` Mend the pump; {last}"));
    let (line, _) = told("git commit -m 'Mend both'");
    assert_eq!(line, format!("`1111111` Mend the pump; `2222222` Mend the valve; {last}"));
}

/// A commit that failed and was made later is not open; what another program may have committed is not claimed.
#[test]
fn what_is_open_is_what_the_record_leaves_open() {
    let open = |last: &[(&'static str, bool, &'static str)]| {
        let mut script = Script::new();
        script.meta(SessionFact::Cwd("/home/me/app".into())).meta(SessionFact::Branch("main".into()));
        script.prompt("mend the pump").call("e", "Edit", "src/pump.rs");
        let writes = vec![crate::FileRef { path: "src/pump.rs".to_owned(), ..crate::FileRef::default() }];
        script.event(EventKind::Result(CallResult {
            call: "e".into(),
            output: "ok".into(),
            writes,
            ..CallResult::default()
        }));
        for (at, (command, is_ok, output)) in last.iter().enumerate() {
            let id = ["a", "b", "c"][at];
            script.call(id, "Bash", command);
            if *is_ok {
                script.ok(id, output)
            } else {
                script.fails(id, output)
            };
        }
        let note = crate::render::note(&script.reply("Done.").finish().session);
        note.lines().find_map(|line| line.strip_prefix("> Open: ")).unwrap_or("").trim().to_owned()
    };
    assert_eq!(open(&[]), "not committed");
    assert_eq!(open(&[("wrap git commit -m x", true, "ok")]), "");
    let failed = ("git commit -m x", false, "hook failed");
    assert_eq!(open(&[failed]), "`git commit` failed; not committed");
    assert_eq!(open(&[failed, ("git commit -m x", true, "[main 9851ee3] x")]), "not pushed");
    let all = [failed, ("git commit -m x", true, "[main 9851ee3] x"), ("git push", true, "ok")];
    assert_eq!(open(&all), "");
    // The folder of the project is written with `~` in the note, and in full in a command.
    for command in ["cd /home/me/app && git commit -m x", "git -C /home/me/app/.worktrees/a commit -m x"] {
        assert_eq!(open(&[(command, true, "[main 9851ee3] x")]), "not pushed", "{command}");
    }
    // So in the shells of Windows.
    assert_eq!(open(&[("cd /c/Users/me/app && git commit -m x", true, "[main 9851ee3] x")]), "not pushed");
    // A commit in another repository is none of this one.
    for command in ["cd /backups/log && git commit -m x", "git -C /srv/app commit -m x"] {
        let open = open(&[(command, true, "[main 9851ee3] x")]);
        assert_eq!(open, "not committed: 1 edit after the last commit; not pushed", "{command}");
    }
}

#[test]
fn how_the_last_step_of_a_session_without_closing_words_ended() {
    let open = |command: &'static str, is_ok: bool, output: &'static str| {
        let mut script = Script::new();
        script.prompt("go").call("a", "Bash", command);
        if is_ok {
            script.ok("a", output)
        } else {
            script.fails("a", output)
        };
        let note = crate::render::note(&script.finish().session);
        note.lines().find_map(|line| line.strip_prefix("> Open: ")).unwrap_or("").trim().to_owned()
    };
    assert_eq!(open("ls", true, "a"), "unfinished: the last step is Bash ls");
    assert_eq!(open("ls x", false, "no x"), "unfinished: the last step is Bash ls x, failed");
    assert_eq!(open("git commit -m x", true, "[main 9851ee3] x"), "not pushed");
}

#[test]
fn a_command_that_nothing_but_its_output_tells_of() {
    let unstated = |call: &'static str, output: &'static str| {
        let result = CallResult { call: call.into(), output: output.into(), unstated: true, ..CallResult::default() };
        EventKind::Result(result)
    };
    let mut script = Script::new();
    script.said("cargo test", PromptOrigin::Shell).call("a", "Shell", "cargo test");
    script.event(unstated("a", "test result: FAILED. 1 passed; 2 failed; 0 ignored"));
    script.said("ls", PromptOrigin::Shell).call("b", "Shell", "ls").event(unstated("b", "a.rs"));
    let draft = script.prompt("fix it").reply("Done.").finish();
    let status: Vec<_> = draft.session.steps().map(|(_, step)| step.status).collect();
    assert_eq!(status, [crate::StepStatus::Failed, crate::StepStatus::Complete]);
}

#[test]
fn a_tool_of_the_host_that_is_called_as_a_persons_own_lines_are() {
    let mut script = Script::new();
    let draft = script.prompt("look").call("a", "Shell", "ls").ok("a", "a.rs").finish();
    assert!(!draft.empty, "a call is work");
    let mut script = Script::new();
    script.prompt("look").said("pwd", PromptOrigin::Shell).call("a", "Shell", "pwd").ok("a", "/");
    let draft = script.call("b", "Shell", "ls").ok("b", "a.rs").finish();
    let tools: Vec<_> = draft.session.steps().map(|(_, step)| step.tool.clone()).collect();
    assert_eq!(tools, ["Shell", "shell"]);
}

#[test]
fn a_persons_waiting_is_no_duration() {
    let mut script = Script::new();
    script.prompt("look").call("a", "Bash", "gh api x").wait(700).ok("a", "[]");
    script.call("b", "Bash", "cargo build").wait(60).ok("b", "ok");
    script.call("c", "AskUserQuestion", "Which?").wait(60).ok("c", "this");
    let draft = script.reply("Done.").finish();
    let took: Vec<_> = draft.session.steps().map(|(_, step)| step.duration_ms).collect();
    assert_eq!(took, [None, Some(70_000), None]);
}

#[test]
fn the_work_of_a_sub_agent_is_worth_a_note_without_its_task() {
    let agent = |agent: Option<&str>| Header {
        key: StreamKey { session: "5e55".to_owned(), agent: agent.map(str::to_owned) },
        ..Header::default()
    };
    let found = |of, acts: bool| {
        let mut script = Script::with(agent(of));
        if acts {
            script.call("a", "Read", "src/a.rs").ok("a", "fn a() {}");
        }
        !script.reply("Two findings.").finish().empty
    };
    assert!(found(Some("a1"), true));
    assert!(!found(Some("a1"), false) && !found(None, true));
}

#[test]
fn boundaries() {
    let mut script = Script::new();
    script.said("/clear", PromptOrigin::Command).prompt("build the parser").reply("Built.");
    script.event(EventKind::Compaction {
        trigger: Some("auto".into()),
        tokens_before: Some(155_000),
        summary: Some("Long story.".into()),
    });
    script.reply("Going on.").wait(1200).said("/model", PromptOrigin::Command).prompt("go on").reply("On it.");
    script.event(EventKind::Rewind { to: 3 }).prompt("no, use tables").reply("Tables.");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "build the parser" (+ 2 requests)   / Agent, last: "Tables."
    ## Build the parser @claude-code ^p-01
    [!user]  | "/clear"
    [!user]  | "build the parser"
    Built.
    ## Continue: Build the parser @claude-code ^p-02
    [!summary]- Compaction (auto, 155,000 tokens) | Long story.
    Going on.
    [!user]  | "/model"
    [!user]  | "go on"
    On it.
    ## Continue: Build the parser @claude-code ^p-03 from [[#^p-01]]
    [!user] Correction | "no, use tables"
    Tables.
    "#);
}

#[test]
fn a_compaction_at_the_end_is_told() {
    let mut script = Script::new();
    script.prompt("build the parser").reply("Built.");
    script.event(EventKind::Compaction { trigger: None, tokens_before: None, summary: Some("Story.".into()) });
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "build the parser"   / Agent, last: "Built."
    ## Build the parser @claude-code ^p-01
    [!user]  | "build the parser"
    Built.
    [!summary]- Compaction | Story.
    "#);
}

#[test]
fn a_branch_that_was_left_is_summed_up_where_the_next_begins() {
    let mut script = Script::new();
    script
        .prompt("build the parser")
        .reply("Built.")
        .prompt("now rewrite it with tables in tables.rs")
        .reply("Tables.");
    script.event(EventKind::Branch { to: 2, summary: Some("Tables were\nslow.".into()) });
    script.reply("By hand, then.").event(EventKind::Bookmark { to: 3, label: "slow\u{1b}[31m one".into() });
    script.event(EventKind::Branch { to: 0, summary: None }).prompt("begin anew in other.rs").reply("Anew.");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "build the parser" (+ 2 requests)   / Agent, last: "Anew."   / Time: 1 min active
    ## Build the parser @claude-code ^p-01
    [!user]  | "build the parser"
    Built.
    ## Rewrite it with tables in tables.rs @claude-code ^p-02
    [!user]  | "now rewrite it with tables in tables.rs"
    Tables.
    ## Continue: Rewrite it with tables in tables.rs @claude-code ^p-03 from [[#^p-01]]
    [!summary]- Branch left | Tables were / slow.
    By hand, then.
    [!bookmark] slow one | [[#^p-02]]
    ## Begin anew in other.rs @claude-code ^p-04
    [!user]  | "begin anew in other.rs"
    Anew.
    "#);
}

#[test]
fn a_prompt_after_a_compaction_opens_its_phase_and_stands_first() {
    let mut script = Script::new();
    script.prompt("build the parser").reply("Built.");
    script.event(EventKind::Compaction { trigger: None, tokens_before: None, summary: Some("Story.".into()) });
    script.prompt("now test it").reply("Tested.");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "build the parser" (+ 1 request)   / Agent, last: "Tested."
    ## Build the parser @claude-code ^p-01
    [!user]  | "build the parser"
    Built.
    ## Continue: Build the parser @claude-code ^p-02
    [!user]  | "now test it"
    [!summary]- Compaction | Story.
    Tested.
    "#);
}

#[test]
fn an_interruption_may_name_nobody() {
    let mut script = Script::new();
    script.prompt("store the tokens").reply("Done.").prompt("and publish them as a package of the registry");
    script.event(EventKind::Interrupt { call: None, unnamed: true });
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "store the tokens" (+ 1 request)   / Open: unfinished: interrupted
    ## Store the tokens @claude-code ^p-01
    [!user]  | "store the tokens"
    Done.
    [!user]  | "and publish them as a package of the registry"
    [!error] Interrupted | The record does not say by whom or why.
    "#);
}

#[test]
fn people_stop_refuse_and_correct() {
    let mut script = Script::new();
    script.prompt("store the tokens").call("a", "Write", "src/store.ts").denied("a");
    script.event(EventKind::Interrupt { call: Some("a".into()), unnamed: false });
    script
        .prompt("put them into a cookie that scripts cannot read, and set its path and its age as in the plan of May");
    script.reply("Done.").event(EventKind::Interrupt { call: None, unnamed: false }).prompt("continue").reply("Right.");
    script.said("use httpOnly", PromptOrigin::Denial { call: "a".into() });
    script.said("and the docs", PromptOrigin::Queued).reply("Yes.").said("ls", PromptOrigin::Shell);
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "store the tokens" (+ 4 requests)   / Agent, last: "Yes."   / Time: 2 min active
    ## Store the tokens @claude-code ^p-01
    [!user]  | "store the tokens"
    - Write src/store.ts → ✗ denied by user ^n-001
    *Interrupted by the user.*
    [!user]  | "put them into a cookie that scripts cannot read, and set its path and its age as in the plan of May"
    Done.

    *Interrupted by the user.*
    [!user]  | "continue"
    Right.
    [!user]  | "use httpOnly"
    [!user]  | "and the docs"
    Yes.
    [!user]  | "!ls"
    "#);
}

#[test]
fn what_a_person_typed_before_the_first_request_stands_above_it() {
    let mut script = Script::new();
    script.said("cargo test", PromptOrigin::Shell).call("s", "Shell", "cargo test").fails("s", "error: no such thing");
    script.prompt("please fix these").reply("Fixed.");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "please fix these"   / Agent, last: "Fixed."   / Checks: `cargo test` failed   / Open: failing: `cargo test`
    ## Fix these @claude-code ^p-01
    [!user]  | "!cargo test"
    - Shell cargo test → ✗ error: no such thing ^n-001
    [!error] error: no such thing | `cargo test` failed. / Step: [[#^n-001]]
    [!user]  | "please fix these"
    Fixed.
    "#);
}

#[test]
fn steps_keep_their_whole_command() {
    let mut script = Script::new();
    script.prompt("go").call("a", "Bash", "cat <<EOF\none\nEOF").ok("a", "one").call("b", "Bash", "true").ok("b", "");
    let draft = script.finish();
    let steps: Vec<_> = draft.session.steps().map(|(_, step)| step).collect();
    assert_eq!((steps[0].args.as_str(), steps[0].command.as_deref()), ("cat <<EOF …", Some("cat <<EOF\none\nEOF")));
    assert_eq!((steps[1].args.as_str(), steps[1].command.as_deref()), ("true", None));
    assert_eq!(steps[0].duration_ms, Some(10_000));
}

#[test]
fn results_join_in_any_order_and_calls_without_one_say_so() {
    let mut script = Script::new();
    script.prompt("go").ok("b", "early").call("a", "Bash", "one").call("b", "Bash", "two").call("c", "Bash", "three");
    script.ok("a", "late");
    let draft = script.finish();
    assert_eq!(draft.session.meta.status, Some(Status::Abandoned));
    insta::assert_snapshot!(outline(&draft), @r#"
    [!summary]  | Asked: "go"   / Open: unfinished: the last step is Bash three, without a result
    ## Go @claude-code ^p-01
    [!user]  | "go"
    - Bash one → late ^n-001
    - Bash two → early ^n-002
    - Bash three → ✗ no result recorded ^n-003
    "#);
}

#[test]
fn only_failures_that_mattered_are_errors() {
    let mut script = Script::new();
    script.prompt("go");
    script.call("a", "Edit", "src/a.rs").fails("a", "String to replace not found");
    script.call("b", "Edit", "src/a.rs").ok("b", "updated");
    script.call("c", "Bash", "grep -rn foo src").fails("c", "Exit code 1");
    script.call("d", "Bash", "grep -rn foo src").ok("d", "src/a.rs:1:foo");
    script.call("e", "Bash", "npm run build").fails("e", "error TS2304: no name");
    script.call("f", "Bash", "npm run build").ok("f", "built");
    script.call("g", "Bash", "git commit -m one").fails("g", "hook: format");
    script.call("h", "Bash", "prettier -w .").ok("h", "a.ts");
    script.call("i", "Bash", "git commit -m one").ok("i", "[main 1] one");
    // Another push says nothing of the one that failed; another run of a check says that it passed.
    script.call("l", "Bash", "git push").fails("l", "rejected").call("m", "Bash", "git pull").ok("m", "ok");
    script.call("n", "Bash", "git push --tags").ok("n", "done");
    script.call("o", "Bash", "cargo test a").fails("o", "error[E0308]: mismatched types");
    script.call("p", "Edit", "src/a.rs").ok("p", "updated");
    script.call("q", "Bash", "cargo test").ok("q", "test result: ok. 3 passed; 0 failed");
    script
        .call("j", "Bash", "pytest")
        .fails("j", "E   assert 1 == 2")
        .call("k", "Bash", "pytest")
        .fails("k", "E   assert 1 == 3");
    let errors: Vec<String> =
        script.outline().lines().filter(|line| line.starts_with("[!error]")).map(ToOwned::to_owned).collect();
    insta::assert_snapshot!(errors.join("\n"), @r"
    [!error] hook: format | `git commit` failed. / Step: [[#^n-007]] / Resolution: worked in [[#^n-009]]
    [!error] error[E0308]: mismatched types | `cargo test` failed. / Step: [[#^n-013]] / Resolution: a run with other arguments passed in [[#^n-015]]
    [!error] E assert 1 == 3 | `pytest` failed 2 times. / Step: [[#^n-017]]
    ");
}

#[test]
fn decisions_rest_on_the_step_that_asked() {
    let mut script = Script::new();
    script.prompt("plan it").call("q", "AskUserQuestion", "Which store?").ok("q", "answered");
    script.event(EventKind::Decision(DecisionEvent {
        title: "Store: SQLite".into(),
        text: "".into(),
        why: Some("one file".into()),
        rejected: vec!["Postgres".into(), "files".into()],
        approval: false,
        call: Some("q".into()),
    }));
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "plan it"   / Open: unfinished: the last step is AskUserQuestion Which store?
    ## Plan it @claude-code ^p-01
    [!user]  | "plan it"
    - AskUserQuestion Which store? → answered ^n-001
    [!decision] Store: SQLite | Why: one file / Rejected: Postgres; files / Rests on: [[#^n-001]]
    "#);
}

#[test]
fn a_plan_that_is_given_as_the_request_is_told_once() {
    let mut script = Script::new();
    script.event(EventKind::Decision(DecisionEvent {
        title: "Plan: rotate keys".into(),
        text: "# Rotate keys\n\nOnce a day.".into(),
        why: None,
        rejected: Vec::new(),
        approval: true,
        call: None,
    }));
    script.prompt("Implement the following plan:\n\n# Rotate keys\n\nOnce a day.").reply("Done.");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "Implement the following plan: # Rotate keys Once a day."   / Agent, last: "Done."
    ## Rotate keys @claude-code ^p-01
    [!user]  | "Implement the following plan: /  / # Rotate keys /  / Once a day."
    [!decision] Plan: rotate keys | 
    Done.
    "#);
}

#[test]
fn subagents_stand_below_the_list_and_are_linked_by_name() {
    let child = StreamKey { session: "5e55".to_owned(), agent: Some("a1".to_owned()) };
    let run = SubagentRun {
        stream: Some(child.clone()),
        agent: Some("reviewer".into()),
        model: Some("haiku".into()),
        task: Some("Review the diff".into()),
        background: true,
    };
    let mut script = Script::new();
    script.prompt("review").call("t", "Task", "Review the diff");
    script.event(EventKind::Result(CallResult { call: "t".into(), subagent: Some(run), ..CallResult::default() }));
    script.call("b", "Bash", "true").ok("b", "fine");
    let summary = Some("# Findings\n\nTwo things to mend.\n\nMore.".into());
    script.event(EventKind::SubagentDone { stream: child.clone(), summary, failed: false });
    let mut draft = script.finish();
    let linked =
        super::Linked { note: "2026-11-20-review-reviewer".to_owned(), tokens: Some(9120), ..Default::default() };
    draft.link_children(vec![(child, linked)]);
    insta::assert_snapshot!(outline(&draft), @r#"
    [!summary]  | Asked: "review"   / Open: unfinished: the last step is Bash true
    ## Review @claude-code ^p-01
    [!user]  | "review"
    - Task Review the diff → no output ^n-001
    - Bash true → fine ^n-002
    [!subagent] @reviewer (haiku) | mode: link / [[2026-11-20-review-reviewer]] / Task: Review the diff / Summary: # Findings Two things to mend. More. / Tokens: 9,120 / Step: [[#^n-001]]
    "#);
    assert_eq!(draft.session.meta.subagents[0].session, "2026-11-20-review-reviewer");
}

#[test]
fn a_subagents_own_note() {
    let mut script = Script::with(Header {
        key: StreamKey { session: "5e55".to_owned(), agent: Some("a1".to_owned()) },
        agent: Some("code reviewer".to_owned()),
        task: Some("Review the diff".to_owned()),
        ..Header::default()
    });
    script.said("You are a reviewer. Look at the diff of the day.", PromptOrigin::Task).reply("Fine.");
    let draft = script.finish();
    assert!(!draft.empty);
    assert_eq!(draft.session.meta.title.as_deref(), Some("Review the diff"));
    insta::assert_snapshot!(outline(&draft), @r#"
    [!summary]  | Asked: "You are a reviewer. Look at the diff of the day."   / Agent, last: "Fine."
    ## Review the diff @code-reviewer ^p-01
    [!context] Task | You are a reviewer. Look at the diff of the day.
    Fine.
    "#);
}

#[test]
fn tasks_are_one_list_and_no_steps() {
    let task = |id: &str, content: &str, status: &str| Task {
        id: id.to_owned(),
        content: content.to_owned(),
        status: status.to_owned(),
        ..Task::default()
    };
    let mut script = Script::new();
    script.prompt("go").call("t", "TodoWrite", "2 todos").ok("t", "ok");
    script.event(EventKind::Tasks(vec![task("1", "one", "pending"), task("2", "two", "pending")]));
    script.event(EventKind::Task(task("1", "", "completed"))).event(EventKind::Task(task("3", "three", "pending")));
    script.event(EventKind::Task(task("2", "", "deleted"))).reply("done");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "go"   / Agent, last: "done"   / Open: task not done: three   / Time: 1 min active
    tasks: one [completed], three [pending]
    ## Go @claude-code ^p-01
    [!user]  | "go"
    done
    "#);
}

#[test]
fn each_task_has_an_id_of_its_own() {
    let task = |id: &str| Task { id: id.to_owned(), content: format!("do {id}"), ..Task::default() };
    let mut script = Script::new();
    let ids = ["2", "2", "2-2", "A", "a", "TASK-008", "008", ""];
    script.prompt("go").event(EventKind::Tasks(ids.map(task).to_vec())).reply("done");
    let session = script.finish().session;
    let ids: Vec<&str> = session.tasks().iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids, ["2", "2-3", "2-2", "A", "a-2", "TASK-008", "008-2", ""]);
    let (_, found) = crate::read::session(&cru_note::Note::parse(crate::render::note(&session)));
    assert!(found.iter().all(|it| it.code != "duplicate-id"), "{found:?}");
}

/// What a program rewrote after a check, no check has seen.
#[test]
fn a_check_before_a_fixer_says_so() {
    let mut script = Script::new();
    script.prompt("Mend the pump");
    script.call("a", "Edit", "src/pump.ts").event(EventKind::Result(CallResult {
        call: "a".into(),
        output: "ok".into(),
        writes: vec![FileRef { path: "src/pump.ts".to_owned(), ..FileRef::default() }],
        ..CallResult::default()
    }));
    script.call("b", "Bash", "npx vitest run").ok("b", " Test Files  1 passed (1)\n      Tests  3 passed (3)");
    script.call("c", "Bash", "npm run lint:fix").ok("c", "fixed 1 file");
    script.call("d", "Bash", "npx tsc --noEmit").ok("d", "");
    script.call("e", "Bash", "mkdir -p out").ok("e", "");
    script.reply("Done.");
    let outline = script.outline();
    let checks = outline.split(" / ").find_map(|part| part.trim().strip_prefix("Checks: ").map(str::to_owned));
    assert_eq!(
        checks.as_deref(),
        Some(
            "`npx vitest run` passed after the last edit, before `npm run lint:fix`; `npx tsc --noEmit` passed after the last edit"
        )
    );
}

#[test]
fn a_check_in_a_folder_far_away_says_how_it_ended() {
    const TESTS: &str =
        "cd '/Users/ann/Documents/Work of this year/projects/harbour-and-tides/applications/web' && npm run test:e2e";
    const LINT: &str =
        "cd '/Users/ann/Documents/Work of this year/projects/harbour-and-tides/applications/web' && npm run lint";
    let mut script = Script::new();
    script.prompt("Run them.");
    script.call("a", "Bash", TESTS).fails("a", "Exit code 1\n2 failed");
    script.call("b", "Bash", LINT).ok("b", "ok");
    script.reply("Done.");
    let outline = script.outline();
    let checks = outline.split(" / ").find_map(|part| part.trim().strip_prefix("Checks: ").map(str::to_owned));
    assert_eq!(
        checks.as_deref(),
        Some("`npm run test:e2e` in `…/harbour-and-tides/applications/web` failed; … and 1 more")
    );
}

#[test]
fn a_file_that_a_command_removed_is_gone() {
    let mut script = Script::new();
    script.prompt("Try colours.");
    for (id, path) in [("a", "docs/blue.md"), ("b", "docs/old/red.md"), ("c", "docs/green.md"), ("d", "green.md")] {
        script.call(id, "Write", path).event(EventKind::Result(CallResult {
            call: id.into(),
            output: "ok".into(),
            writes: vec![FileRef { path: path.to_owned(), ..FileRef::default() }],
            ..CallResult::default()
        }));
    }
    script.call("e", "Bash", "cd docs && rm -r blue.md ./old && rm -f *.txt").ok("e", "");
    script.call("f", "Bash", "rm docs/green.md").fails("f", "Exit code 1\nrm: no leave");
    script.reply("Done.");
    let outline = script.outline();
    let files = outline.split(" / ").find_map(|part| part.trim().strip_prefix("Files: ").map(str::to_owned));
    let wanted = "`docs/green.md`, `green.md`, `docs/blue.md` deleted, `docs/old/red.md` deleted";
    assert_eq!(files.as_deref(), Some(wanted));
}

/// A search that found nothing answered; nothing failed, and the check before its pipe is not known.
#[test]
fn nothing_found_is_no_failure() {
    let mut script = Script::new();
    script.prompt("Are there errors?");
    script.call("a", "Bash", "grep -rn valve src").fails("a", "Exit code 1");
    script.call("b", "Bash", "npx tsc --noEmit | grep error").fails("b", "Exit code 1");
    script
        .call("c", "Bash", "grep -rn valve nowhere")
        .fails("c", "Exit code 2\ngrep: nowhere: No such file or directory");
    script.reply("None.");
    insta::assert_snapshot!(script.outline(), @r#"
    [!summary]  | Asked: "Are there errors?"   / Agent, last: "None."   / Time: 1 min active
    ## Are there errors? @claude-code ^p-01
    [!user]  | "Are there errors?"
    - Bash grep -rn valve src → no output ^n-001
    - Bash npx tsc --noEmit | grep error → no output ^n-002
    - Bash grep -rn valve nowhere → ✗ grep: nowhere: No such file or directory ^n-003
    None.
    "#);
}

#[test]
fn what_a_plan_names_and_no_call_did_is_open() {
    let mut script = Script::new();
    script.meta(SessionFact::Branch("main".into()));
    script.prompt(
        "# Move the cache\n\n## 1. `src/cache.rs`\n\n## 2. `src/lib.rs`\n\n## 3. `src/old.rs`\n\n## Check\n\n\
         - `cargo test`\n- `cargo clippy`\n- Open the cellar and look",
    );
    for (id, path) in [("a", "src/cache.rs"), ("b", "src/lib.rs")] {
        script.call(id, "Edit", path).event(EventKind::Result(CallResult {
            call: id.into(),
            output: "ok".into(),
            writes: vec![FileRef { path: path.to_owned(), ..FileRef::default() }],
            ..CallResult::default()
        }));
    }
    script.call("c", "Bash", "cargo test").ok("c", "test result: ok. 3 passed; 0 failed; 0 ignored");
    script.call("d", "Bash", "git status").ok("d", "On branch main\nChanges:\n\tmodified:   src/lib.rs\n");
    script.reply("Moved.\n\n- [x] code\n- [ ] tag the release");
    insta::assert_snapshot!(script.outline().lines().next().unwrap(), @r##"[!summary]  | Asked: "# Move the cache ## 1. `src/cache.rs` ## 2. `src/lib.rs` ## 3. `src/old.rs` ## Check - `cargo test` - `cargo clippy` - Open the cellar and look"   / Agent, last: "Moved. - [x] code - [ ] tag the release"   / Files: `src/cache.rs`, `src/lib.rs`   / Checks: `cargo test` passed after the last edit   / Open: of the plan not run: `cargo clippy`; not committed: 1 file changed (src/lib.rs)   / Time: 1 min active"##);
}

#[test]
fn a_plan_that_nobody_approved_is_open() {
    let mut script = Script::new();
    script.prompt("how would you move the cache?").reply("I plan it.");
    script.call("p", "ExitPlanMode", "Move the cache").denied("p");
    script.event(EventKind::Interrupt { call: None, unnamed: false });
    insta::assert_snapshot!(script.outline().lines().next().unwrap(), @r#"[!summary]  | Asked: "how would you move the cache?"   / Open: plan not approved: "Move the cache""#);
}

#[test]
fn checks_of_hooks_are_told() {
    let mut script = Script::new();
    script.prompt("commit it").call("c", "Bash", "git commit -m 'Move it'");
    script.ok("c", "$ cargo test\ntest result: ok. 3 passed; 0 failed; 0 ignored\n[main 4f1c2ab] Move it\n");
    script.reply("Committed.");
    insta::assert_snapshot!(script.outline().lines().next().unwrap(), @r#"[!summary]  | Asked: "commit it"   / Agent, last: "Committed."   / Commits: `4f1c2ab` Move it   / Checks: hooks of `git commit` passed   / Open: not pushed"#);
}

#[test]
fn checks_of_a_push_are_told() {
    let mut script = Script::new();
    script.prompt("push it").call("c", "Bash", "git push origin main");
    script.ok("c", "test result: ok. 3 passed; 0 failed; 0 ignored\nTo host:x\n   6c08f5a5..b02b3c07  main -> main\n");
    let note = crate::render::note(&script.reply("Pushed.").finish().session);
    assert!(note.contains("> Checks: hooks of `git push` passed"), "{note}");
}

#[test]
fn a_wait_for_an_answer_is_no_work() {
    let mut script = Script::new();
    script.prompt("go").wait(60).call("q", "AskUserQuestion", "which?");
    script.wait(500).ok("q", "red").wait(60).reply("Done.");
    let summary = script.outline().lines().next().unwrap_or_default().to_owned();
    assert!(summary.contains("Time: 1 min active, 10 min in all"), "{summary}");
}

#[test]
fn service_errors_are_counted_and_end_a_session() {
    let mut script = Script::new();
    script.prompt("go");
    for _ in 0..3 {
        script.event(EventKind::ApiError("API Error: 529 overloaded".into()));
    }
    let draft = script.finish();
    assert_eq!(draft.session.meta.status, Some(Status::Failed));
    insta::assert_snapshot!(outline(&draft), @r#"
    [!summary]  | Asked: "go"   / Open: unfinished: ended by an error of the model service
    ## Go @claude-code ^p-01
    [!user]  | "go"
    [!error] API Error: 529 overloaded | 3 times in a row.
    "#);
}

#[test]
fn nothing_of_a_person_or_of_an_agent_is_empty() {
    assert!(Script::new().said("/clear", PromptOrigin::Command).finish().empty);
    assert!(Script::new().prompt("hello").finish().empty);
    assert!(Script::new().reply("hello").finish().empty);
    assert!(!Script::new().said("/init", PromptOrigin::Command).reply("Done.").finish().empty);
}

fn any_event() -> impl Strategy<Value = EventKind<'static>> {
    let words = "[ -~\u{1b}\u{202e}é#@`\n/]{0,40}|[a-z ]{1,80}|[a-z.\n ]{200,900}";
    let id = || (0..6_u8).prop_map(|id| Cow::Owned(format!("c{id}")));
    let origin = prop_oneof![
        4 => Just(PromptOrigin::Typed),
        1 => Just(PromptOrigin::Queued),
        1 => Just(PromptOrigin::Command),
        1 => Just(PromptOrigin::Shell),
        1 => Just(PromptOrigin::Denial { call: "c1".into() }),
        1 => Just(PromptOrigin::Task),
    ];
    prop_oneof![
        4 => (words, origin).prop_map(|(text, origin)| EventKind::Prompt(Prompt { text: text.into(), origin, attachments: Vec::new() })),
        4 => words.prop_map(|text| EventKind::Reply(text.into())),
        6 => (id(), prop_oneof![Just("Bash"), Just("Read"), Just("Task"), Just("")], words).prop_map(|(id, tool, args)| {
            EventKind::Call(Call { id, tool: tool.into(), args: args.into(), input: Value::Null })
        }),
        6 => (id(), words, any::<bool>(), any::<bool>()).prop_map(|(call, output, failed, denied)| {
            EventKind::Result(CallResult { call, output: output.into(), failed, denied, ..CallResult::default() })
        }),
        1 => Just(EventKind::Compaction { trigger: None, tokens_before: None, summary: None }),
        1 => any::<u64>().prop_map(|to| EventKind::Rewind { to }),
        1 => Just(EventKind::Interrupt { call: None, unnamed: false }),
        1 => words.prop_map(|text| EventKind::ApiError(text.into())),
        1 => words.prop_map(|text| EventKind::Meta(SessionFact::Cwd(text.into()))),
        1 => any::<u64>().prop_map(|n| EventKind::Usage { message: format!("m{}", n % 3).into(), model: "m".into(), usage: Usage { input: n, output: n, cache_write: n, cache_read: n, ..Usage::default() } }),
    ]
}

proptest! {
    #[test]
    fn any_events_keep_every_prompt_and_every_call(events in prop::collection::vec((any_event(), -900_i64..900), 0..60)) {
        let mut script = Script::new();
        let (mut calls, mut prompts, mut spoken) = (0, Vec::new(), String::new());
        for (kind, wait) in events {
            match &kind {
                EventKind::Call(_) => calls += 1,
                EventKind::Reply(text) => spoken.push_str(&format!("\n{text}\n")),
                EventKind::Prompt(prompt) => {
                    let words = sanitise(&prompt.text).trim().to_owned();
                    if !words.is_empty() {
                        prompts.push(words);
                    }
                }
                _ => {}
            }
            script.wait(wait).event(kind);
        }
        let draft = script.finish();
        prop_assert_eq!(draft.session.steps().count(), calls);
        let top = draft.session.preface.iter().find_map(|item| match item {
            Item::Callout(it) if it.kind == "summary" => Some(it.body.clone()),
            _ => None,
        });
        let top = top.unwrap_or_default();
        prop_assert!(top.lines().count() <= 8 && top.chars().count() <= 900, "{}", top);
        // Every quotation stands in the record.
        spoken.push_str(&prompts.join("\n"));
        let spoken = fold_whitespace(&sanitise(&spoken));
        let quoted = |name: &str| {
            let line = top.lines().find_map(|line| line.strip_prefix(name))?.trim_end();
            let line = line.rsplit_once(" (+ ").filter(|(words, _)| words.ends_with('"')).map_or(line, |(words, _)| words);
            Some(line.trim_matches('"').to_owned())
        };
        for line in [quoted("Asked: "), quoted("Agent, last: ")].into_iter().flatten() {
            for part in line.split('…').map(str::trim).filter(|part| !part.is_empty()) {
                prop_assert!(spoken.contains(part), "{:?} of {}", part, top);
            }
        }
        let said: Vec<&str> = draft.session.items().filter_map(|(_, item)| match item {
            Item::User(user) => Some(user.words.as_str()),
            Item::Callout(callout) if callout.title == "Task" => Some(callout.body.as_str()),
            _ => None,
        }).collect();
        // What was said before the first request stands below it, so the order is not that of the events.
        let plain = |words: &str| words.strip_prefix('!').unwrap_or(words).to_owned();
        let mut said: Vec<String> = said.into_iter().map(plain).collect();
        let mut prompts: Vec<String> = prompts.iter().map(|words| plain(words)).collect();
        said.sort();
        prompts.sort();
        prop_assert_eq!(said, prompts);
        for (index, phase) in draft.session.phases.iter().enumerate() {
            prop_assert_eq!(&phase.id, &super::assembly::phase_id(index));
            prop_assert!(!phase.title.trim().is_empty() && !phase.title.contains('\n'));
        }
    }
}
