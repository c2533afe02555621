//! Where texts go.

use insta::assert_snapshot;
use serde_json::json;

use super::*;

const ERROR: &str = "> [!error] E\n> x\n";

#[test]
fn steps_go_to_the_list_that_ends_their_phase() {
    assert_snapshot!(changed(NOTE, &[append("p-01", &step(3))]), @"
    [Done]
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +
    ");
    let ends_in_list = NOTE.replace("\n> [!error] Flaky clock\n> Expiry was compared with the wall clock.\n", "");
    assert_snapshot!(changed(&ends_in_list, &[append("p-01", &step(3)), append("p-01", ERROR)]), @"
    [Done, Done]
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +
    +> [!error] E
    +> x
    ");
    assert_snapshot!(changed(NOTE, &[append("p-02", &step(3)), append("p-02", &step(4))]), @"
    [Done, Done]
    +
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +- `Bash step 4` → ok (10:05:00) ^n-004
    ");
}

#[test]
fn a_phase_without_a_written_id_is_known_by_its_place() {
    assert_snapshot!(changed(NOTE, &[append("p-03", &step(3))]), @"
    [Done]
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +
    ");
    let bare = "# T\n\n## One\n\ntext\n\n## Two\n\nmore\n";
    assert_snapshot!(changed(bare, &[append("p-01", &step(3))]), @"
    [Done]
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +
    ");
}

#[test]
fn a_phase_that_is_gone_is_the_last() {
    assert_snapshot!(changed(NOTE, &[append("p-09", &step(3))]), @"
    [Moved]
    +
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    ");
    assert_snapshot!(changed("# T\n\ntext\n", &[append("p-09", &step(3))]), @"
    [Moved]
    +
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    ");
    assert_snapshot!(changed("", &[Op::Append { phase: None, text: step(3) }]), @"
    [Done]
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    ");
}

#[test]
fn only_a_list_of_steps_is_joined() {
    for list in ["- `a` is a word\n- mine", "1. `a` → b", "* `a` → b", "- `a` → b\n- a remark", "- a\n- b ^x-1", "text"]
    {
        let note = format!("## A\n\n{list}\n");
        let (new, outcomes) = applied(&note, &[append("p-01", &step(3))]);
        assert_eq!(new, format!("{}\n\n{}", note.trim_end(), step(3)), "{list}");
        assert_eq!(outcomes, [Outcome::Done]);
    }
    let joins = "## A\n\n- `a` → b\n";
    assert_eq!(
        applied(joins, &[append("p-01", &step(3))]).0,
        format!("{joins}{}", step(3).split_once('\n').unwrap().1)
    );
    let named = "## A\n\n**Tool calls:**\n- `a`\n\n^l-1\n";
    assert_eq!(
        applied(named, &[append("p-01", &step(3))]).0,
        named.replace("`a`\n", "`a`\n- `Bash step 3` → ok (10:05:00) ^n-003\n")
    );
}

#[test]
fn a_step_without_arrow_needs_the_line_above() {
    let bare = "**Tool calls:**\n- `ls` ^n-009\n";
    for (note, joined) in
        [("**Tool calls:**\n- `a`\n", true), ("- `a` → b\n", false), ("**Tool calls:**\n- `a`\n\n- `b` → c\n", false)]
    {
        let (new, _) = applied(&format!("## A\n\n{note}"), &[append("p-01", bare)]);
        assert_eq!(
            new.matches("Tool calls").count(),
            usize::from(note.contains("Tool")) + usize::from(!joined),
            "{new}"
        );
        let (session, _) = crate::read::session(&cru_note::Note::parse(new));
        assert!(session.steps().any(|(_, step)| step.id.as_deref() == Some("n-009")));
    }
}

#[test]
fn behind_a_block() {
    assert_snapshot!(changed(NOTE, &[after("n-001", &step(3))]), @"
    [Done]
    +- `Bash step 3` → ok (10:05:00) ^n-003
    ");
    assert_snapshot!(changed(NOTE, &[after("n-002", &step(3))]), @"
    [Done]
    +- `Bash step 3` → ok (10:05:00) ^n-003
    ");
    assert_snapshot!(changed(NOTE, &[after("n-001", ERROR)]), @"
    [Done]
    +> [!error] E
    +> x
    +
    ");
    assert_snapshot!(changed(NOTE, &[after("n-001", &format!("{}\n{ERROR}", step(3)))]), @"
    [Done]
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +> [!error] E
    +> x
    +
    ");
    assert_snapshot!(changed(NOTE, &[after("p-02", &step(3))]), @"
    [Done]
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +
    ");
    assert_snapshot!(changed(NOTE, &[after("n-077", &step(3))]), @"
    [Moved]
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +
    ");
}

#[test]
fn line_ends_and_odd_bytes_stay() {
    let windows = NOTE.replace('\n', "\r\n");
    assert_snapshot!(changed(&windows, &[append("p-02", &step(3)), append("p-02", ERROR), after("n-002", &step(4))]), @"
    [Done, Done, Done]
    +- `Bash step 4` → ok (10:05:00) ^n-004␍
    +␍
    +**Tool calls:**␍
    +- `Bash step 3` → ok (10:05:00) ^n-003␍
    +␍
    +> [!error] E␍
    +> x␍
    ");
    assert_snapshot!(changed("\u{feff}## A\n\n- `a` → b", &[append("p-01", &step(3)), append("p-01", &step(4)), append("p-01", ERROR)]), @"
    [Done, Done, Done]
    -- `a` → b+- `a` → b
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +- `Bash step 4` → ok (10:05:00) ^n-004
    +
    +> [!error] E
    +> x
    ");
    let odd = b"## A\n\n\xff\xfe text\t \n- `a` \xff\n".to_vec();
    let ops = [append("p-01", &step(3)), set("k", serde_json::Value::Null, 1.into())];
    let applied = apply(&odd, &ops, Mode::First).unwrap();
    assert!(applied.bytes.windows(odd.len()).any(|part| part == odd));
}

#[test]
fn a_fence_that_is_not_closed_stays_last() {
    let open = "## A\n\n- `a` → b\n\n```\ncode\n";
    let ops = [append("p-01", &step(3)), append("p-01", &step(4)), append("p-01", ERROR)];
    assert_snapshot!(changed(open, &ops), @"
    [Done, Done, Done]
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +- `Bash step 4` → ok (10:05:00) ^n-004
    +
    +> [!error] E
    +> x
    ");
    assert_snapshot!(changed(open, &[after("n-9", ERROR)]), @"
    [Moved]
    +> [!error] E
    +> x
    +
    ");
    let refused =
        apply(open.as_bytes(), &[append("p-01", ERROR), Op::Phase { text: "## B\n".to_owned() }], Mode::First);
    assert_eq!(refused, Err((1, cru_note::edit::EditError::Merge)));
}

#[test]
fn preface_and_phase() {
    assert_snapshot!(changed(NOTE, &[Op::Preface { text: ERROR.to_owned() }]), @"
    [Done]
    +> [!error] E
    +> x
    +
    ");
    assert_snapshot!(changed(NOTE, &[Op::Phase { text: format!("## New @x\n\n*2026-11-20T11:00:00Z* ^p-04\n\n{}", step(3)) }, append("p-04", &step(4))]), @"
    [Done, Done]
    +
    +## New @x
    +
    +*2026-11-20T11:00:00Z* ^p-04
    +
    +**Tool calls:**
    +- `Bash step 3` → ok (10:05:00) ^n-003
    +- `Bash step 4` → ok (10:05:00) ^n-004
    ");
}

#[test]
fn a_phase_gets_its_id() {
    let identify =
        |phase: &str, time: Option<&str>| Op::Identify { phase: phase.to_owned(), time: time.map(str::to_owned) };
    let time = Some("2026-11-20T11:00:00Z");
    assert_snapshot!(changed(NOTE, &[identify("p-03", time), identify("p-01", time), identify("p-08", time)]), @"
    [Done, Present, Gone]
    +*2026-11-20T11:00:00Z* ^p-03
    +
    ");
    assert_snapshot!(changed("## A @x\ntext\n", &[identify("p-01", time)]), @"
    [Done]
    +
    +*2026-11-20T11:00:00Z* ^p-01
    +
    ");
    assert_snapshot!(changed("## A @x\n\ntext\n", &[identify("p-01", None)]), @"
    [Done]
    -## A @x
    +## A @x ^p-01
    ");
    assert_snapshot!(changed("## A @x\n\n*2026-11-20T09:00:00Z*\n", &[identify("p-01", time)]), @"
    [Done]
    -*2026-11-20T09:00:00Z*
    +*2026-11-20T09:00:00Z* ^p-01
    ");
    assert_snapshot!(changed("## A @x\n\nfrom: [[#^n-001]]\n", &[identify("p-01", time)]), @"
    [Done]
    -from: [[#^n-001]]
    +*2026-11-20T11:00:00Z* from: [[#^n-001]] ^p-01
    ");
}

#[test]
fn a_new_key_stands_where_a_new_note_has_it() {
    let note = "---\ntype: session\nstatus: active # now\nmine: 1\n# of cru\ncru_cursor: r1\n---\n# T\n";
    let ops = [
        set("ended", json!(null), json!("2026-11-20T11:00:00Z")),
        set("tokens_used", json!(null), json!(12)),
        set("participants", json!(null), json!(["coder"])),
        set("resume_point", json!(null), json!("p-01")),
        set("other", json!(null), json!("x")),
    ];
    let (new, _) = applied(note, &ops);
    let wanted = "---\ntype: session\nstatus: active # now\nparticipants:\n  - coder\n\
                  ended: 2026-11-20T11:00:00Z\ntokens_used: 12\nresume_point: p-01\nother: x\nmine: 1\n# of cru\ncru_cursor: r1\n---\n# T\n";
    assert_eq!(new, wanted);
    let windows = note.replace('\n', "\r\n");
    assert_eq!(applied(&windows, &ops).0, wanted.replace('\n', "\r\n"));
}

#[test]
fn the_last_block_goes_with_the_blank_line_above_it() {
    let gone = |note: &str| applied(note, &[replace("> [!usage]\n> x", "")]).0;
    for end in ["", "\n", "\n\n"] {
        let note = format!("# T\n\n## A\n\n*x* ^p-01\n\nText.\n\n> [!usage]\n> x{end}");
        let left = format!("# T\n\n## A\n\n*x* ^p-01\n\nText.\n{}", end.strip_prefix('\n').unwrap_or_default());
        assert_eq!(gone(&note), left);
    }
    assert_eq!(gone("## A\n\n*x* ^p-01\n\n> [!usage]\n> x\n\nText.\n"), "## A\n\n*x* ^p-01\n\nText.\n");
    assert_eq!(gone("## A\n\n*x* ^p-01\n> [!usage]\n> x\n"), "## A\n\n*x* ^p-01\n", "there is none above it");
    assert_eq!(gone("> [!usage]\n> x\n"), "");
}

#[test]
fn a_block_whose_blanks_an_editor_took_off_is_the_same() {
    let note = "# T\n\n## A\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!error] E\n> Text.\n> Step: [[#^n-001]]\n";
    let op = Op::Replace {
        phase: Some("p-01".to_owned()),
        old: "> [!error] E\n> Text.  \n> Step: [[#^n-001]]".to_owned(),
        new: "> [!error] E\n> Text.  \n> Step: [[#^n-001]]  \n> Resolution: done".to_owned(),
    };
    let (new, outcomes) = applied(note, &[op]);
    assert_eq!(outcomes, [Outcome::Done]);
    assert!(new.ends_with("> Text.  \n> Step: [[#^n-001]]  \n> Resolution: done\n"), "{new}");
}
