//! Accounts of days, weeks and topics through the real program: what they hold, and that text around them is a person's.

use proptest::prelude::*;

use crate::small_vault::SmallVault;

fn note(id: &str, project: &str, started: &str, rest: &str) -> String {
    format!(
        "---\ntype: session\nsession_id: {id}\ntitle: Work of {id}\nstatus: completed\nstarted: {started}\nproject: {project}\n\
         tags:\n  - pump\n---\n# Work of {id}\n\n## Mend the pump @coder #dev\n\n*{started}* ^p-01\n\n\
         > [!user]\n> \"Mend the [[pump]] of {id}.\"\n\n{rest}"
    )
}

fn world() -> SmallVault {
    let world = SmallVault::new("[vault]\nzone = \"Europe/Berlin\"\n");
    let late = "- `Edit pump.c` → ok (22:59:00) ^n-001\n    - writes: `pump.c`\n    - commit: `4f1c2ab` Mend the pump\n\
                - `Bash make test` → ok (2026-11-20T23:30:00Z) ^n-002\n    - check: passed\n\n\
                > [!decision] The red valve\n> Why: it is in stock\n\n> [!question] Who pays?\n";
    world.put("vault/sessions/late.md", &note("late", "~/code/cellar", "2026-11-20T22:50:00Z", late));
    let early = "- `Read a.c` → 9 lines (09:01:00) ^n-001\n\n> [!user] Correction\n> \"No, the blue one.\"\n> At: 2026-11-20T09:02:00Z\n";
    world.put("vault/sessions/early.md", &note("early", "~/code/attic", "2026-11-20T09:00:00Z", early));
    world
}

#[test]
fn a_day_has_what_was_done_on_it() {
    let world = world();
    let of =
        [["day", "2026-11-20"], ["day", "today"], ["week", "2026-11-20"], ["topic", "#pump"], ["topic", "./pump.c/"]];
    let told = of.map(|[kind, name]| format!("$ cru summary {kind} {name}\n{}", world.ok(&["summary", kind, name])));
    insta::assert_snapshot!("accounts", told.join("\n"));
    let bad = world.run(&["summary", "day", "soon"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&bad.stderr).contains("'soon' is no date"));
}

#[test]
fn an_account_stands_between_markers_and_is_written_once() {
    let world = world();
    assert_eq!(world.ok(&["summary", "day", "2026-11-20", "--write"]), "summaries/2026-11-20.md  written\n");
    let first = world.read("vault/summaries/2026-11-20.md");
    assert!(
        first.starts_with("---\ntype: summary\n") && first.contains("<!-- cru:begin day Europe/Berlin "),
        "{first}"
    );
    assert_eq!(world.ok(&["summary", "day", "2026-11-20", "--write"]), "summaries/2026-11-20.md  as it was\n");
    assert_eq!(world.read("vault/summaries/2026-11-20.md"), first);
    let mine = first.replace("# 2026-11-20\n", "# 2026-11-20\n\nA good day.\n") + "\nAnd a remark below.\n";
    world.put("vault/summaries/2026-11-20.md", &mine);
    world.put(
        "vault/sessions/third.md",
        &note("third", "~/x", "2026-11-20T12:00:00Z", "- `Read b.c` → 1 line (12:01:00) ^n-001\n"),
    );
    world.ok(&["summary", "day", "2026-11-20", "--write"]);
    let after = world.read("vault/summaries/2026-11-20.md");
    assert!(
        after.contains("\nA good day.\n") && after.ends_with("\nAnd a remark below.\n") && after.contains("[[third]]"),
        "{after}"
    );
    // Found beside the sessions.
    assert!(world.ok(&["search", "kind:summary pump"]).contains("summaries/2026-11-20.md"));
}

#[test]
fn a_daily_note_is_refreshed_when_a_session_ends() {
    let world = world();
    world.put("vault/.cru/config.toml", "[vault]\nzone = \"Europe/Berlin\"\n[summary]\ndaily = \"Daily/{date}.md\"\n");
    world.put("vault/Daily/2026-11-21.md", "# My day\n\n- [ ] call Ann\n");
    world.ok(&["session", "start", "Paint the pump"]);
    world.ok(&["log", "tool", "Bash", "make paint", "--result", "ok"]);
    world.ok(&["session", "mark", "completed"]);
    let daily = world.read("vault/Daily/2026-11-21.md");
    assert!(daily.starts_with("# My day\n\n- [ ] call Ann\n\n<!-- cru:begin day Europe/Berlin "), "{daily}");
    assert!(daily.contains("Paint the pump") && daily.contains("[[late]]"), "{daily}");
    world.put("vault/.cru/config.toml", "[summary]\ndaily = \"../{date}.md\"\n");
    let bad = world.run(&["summary", "day"]);
    assert!(String::from_utf8_lossy(&bad.stderr).contains("config.toml:2:9"), "{bad:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    /// Whatever a person wrote around the markers stays, byte for byte.
    #[test]
    fn text_around_the_markers_stays(above in "[ -~\\n\u{e9}]{0,80}", below in "[ -~\\n\u{e9}]{0,80}") {
        // Marks of blocks that would swallow the markers are a person's business, and said so.
        let tame = |text: &str| text.replace(['`', '~', '<', '>', '$', '%'], "x");
        let (above, below) = (tame(&above), tame(&below));
        let world = world();
        let text = format!("{above}\n\n<!-- cru:begin day -->\n<!-- cru:end -->\n\n{below}");
        world.put("vault/summaries/2026-11-20.md", &text);
        let output = world.run(&["summary", "day", "2026-11-20", "--write"]);
        let after = world.read("vault/summaries/2026-11-20.md");
        if output.status.success() {
            prop_assert!(after.starts_with(&format!("{above}\n\n<!-- cru:begin day")), "{}", after);
            prop_assert!(after.ends_with(&format!("<!-- cru:end -->\n\n{below}")), "{}", after);
        } else {
            prop_assert_eq!(after, text);
        }
    }
}
