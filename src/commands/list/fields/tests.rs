use jiff::tz::TimeZone;

use super::super::kind::ListKind;
use crate::index::record::{FileRow, PhaseRow, StepRow};
use crate::index::table::{RowItem, TableRow};
use crate::index::{Query, SessionRow};

/// Whether a condition holds for one step, or the error.
fn ask(text: &str) -> Result<bool, String> {
    let session = SessionRow {
        id: "s1".into(),
        status: Some("paused".into()),
        title: "Refresh tokens".into(),
        tags: "auth, api, #area/import".into(),
        project: Some("~/code/api".into()),
        participants: "planner@1.2, Coder@2.0".into(),
        model: Some("claude-opus-4".into()),
        agent: Some("planner@1.2".into()),
        started: "2026-11-20T09:00:00Z".parse().ok(),
        cost_usd: Some(0.41),
        ..SessionRow::default()
    };
    let phase = PhaseRow { agent: Some("Coder@2.0".into()), channel: Some("#dev".into()), ..PhaseRow::default() };
    let step = StepRow {
        id: Some("n-001".into()),
        tool: "Bash".into(),
        args: "cargo test a=b (x)".into(),
        status: "failed".into(),
        time: "2026-11-20T10:00:00Z".parse().ok(),
        duration_ms: Some(1_500),
        line: 7,
        ..StepRow::default()
    };
    let files = [3, 7, 9].map(|line| FileRow { path: format!("src/file{line}.rs"), line, ..FileRow::default() });
    let item = RowItem::Step(&step);
    let row = TableRow {
        session: &session,
        is_subagent: true,
        phase: Some(&phase),
        item,
        files: &files,
        zone: &TimeZone::UTC,
    };
    let now = "2026-11-20T12:30:00Z[UTC]".parse().unwrap();
    let query = Query::parse_with(text, &ListKind::Steps, &now);
    query.map(|query| query.root.holds(row, Some("~/code/api"))).map_err(|error| {
        assert!(text.get(error.span.range()).is_some(), "{text:?} {error:?}");
        let shown = format!("{}\nhelp: {}", error.frame(text), error.help);
        assert!(!shown.contains('\u{1b}'));
        shown
    })
}

#[test]
fn what_holds_and_what_does_not() {
    for text in [
        "tool=bash",
        "tool = Bash",
        "tool==Bash",
        "status!=complete",
        "status=complete,failed",
        "status=failed and session_status=paused",
        "duration_ms>=1000",
        "duration_ms>=1500 duration_ms<1500.5".replace(' ', " and ").as_str(),
        "duration_ms<2e3",
        "args~a=b",
        "args~'test a'",
        r#"args~"(x)""#,
        "args!~fetch",
        "title~TOKEN",
        "agent=coder",
        "agent=@coder@2.0",
        "tags=api",
        "session_agent=planner",
        "exit=null",
        "exit!=1",
        "not exit>0",
        "not (tool=Read or tool=Edit)",
        "tool=Read or tool=Edit or (tool=Bash and not status=complete)",
        "tool=Read and tool=Edit or tool=Bash",
        "time>2026-11-19",
        "time=2026-11-20",
        "time>=2026-11-20",
        "time<=today",
        "time>1d",
        "time=2026-11-20T10:00:00Z",
        "subagent",
        "subagent=yes",
        "session_cost_usd>0.4",
        "cost_usd<1",
        "week=2026-W47",
        // Blanks are `and`; `-` is `not`; operators in any case.
        "tool=Bash status=failed",
        "TOOL=bash AND NOT status=complete",
        "tool=Bash -(status=complete Or exit=1)",
        "not(tool=Read)",
        "args~'it''s' or args~f(x) or args~\"(x)\"",
        // `:` is or contains, as the field defines.
        "tool:bash",
        "tool:ba*",
        "args:test",
        "status:failed,complete",
        "agent:coder",
        "agent:@coder@2.0",
        "channel:#dev",
        "channel=dev",
        "model:opus",
        "project:.",
        "project:code/api",
        "title:refresh",
        "participants:planner@1.2",
        "tags:auth",
        "tags:area",
        "duration_ms:1500",
        "subagent:yes",
        "time:2026-11",
        "time>=2026-11 time<2026-12",
        // The filters of search.
        "after:7d",
        "after:2026-11-20 before:2026-11-21",
        "is:failed",
        "is:step is:paused",
        "tag:api",
        "tag:area",
        "tag=auth",
        "session:s1",
        "session=s1",
        "file:file7.rs",
        "file:src/file7*",
        "after=null",
    ] {
        assert_eq!(ask(text), Ok(true), "{text}");
        assert_eq!(ask(&format!("not ({text})")), Ok(false), "not {text}");
    }
    for text in [
        "time>2026-11-20",
        "time<2026-11-20",
        "exit=1",
        "exit>0",
        "exit<=0",
        "agent=planner",
        "agent=coder@1.0",
        "tags=au",
        "tags=area",
        "tag:au",
        "args:fetch",
        "tool:bas",
        "is:correction",
        "is:active",
        "before:2026-11-20",
        "file:file9.rs",
        "session:s2",
    ] {
        assert_eq!(ask(text), Ok(false), "{text}");
    }
}

#[test]
fn errors_point_at_their_place() {
    let shown = [
        "tol=Bash",
        "tool",
        "tool=",
        "tool=Bash and",
        "args~two words",
        "\"two words\"",
        "subagnt",
        "()",
        "kind:step",
        "befor:7d",
        "status: failed",
        "before>7d",
        "is~failed",
        "file=src/a.rs",
        "subagent<yes",
        "(tool=Bash",
        "tool=Bash)",
        "tool=\"Bash",
        "duration_ms>long",
        "duration_ms~5",
        "日本=1",
        "time>someday",
        "and",
        "=x",
        "subagent=maybe",
        "tool=a\tand\u{1b}[31mx=1",
    ]
    .map(|text| ask(text).unwrap_err());
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn deep_and_long_conditions_are_no_trouble() {
    assert!(ask(&"(".repeat(100_000)).unwrap_err().starts_with("too many parentheses"));
    assert_eq!(ask(&format!("{}tool=Bash", "not ".repeat(100_001))), Ok(false));
    assert_eq!(ask(&format!("tool=Bash{}", " and tool=Bash".repeat(10_000))), Ok(true));
    assert!(ask("").unwrap_err().starts_with("there is no condition"));
}

#[test]
fn long_conditions_are_read_in_linear_time() {
    for part in ["(", "not(", "\"", "a ", "tool=a and ", "line > ", "tag:'", "x:", "-(", "tool", "é", "~", "=(", "a   "]
    {
        let begun = std::time::Instant::now();
        let _ = ask(&part.repeat(100_000));
        let _ = ask(&format!("tool=\"{}\"", part.repeat(100_000)));
        assert!(begun.elapsed().as_secs() < 10, "{part:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_condition_or_an_error(text in r#"([a-z_]{1,6}|tool|time|line|[=!<>~()"', ]|and|or|not|is|:|-|\PC){0,20}"#) {
        let _ = ask(&text);
    }
}
