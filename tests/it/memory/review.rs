//! The inbox through the real program: ticks are acted on once, whatever else happens to the page.

use std::fs;

use serde_json::Value;

use super::world::{MemoryLab, remove_dir};

fn lesson(id: &str, title: &str) -> String {
    format!(
        "---\ntype: lesson\ntitle: {title}\nlesson_id: {id}\nlevel: project\nconfidence: medium\nstatus: proposed\n---\n# {title}\n\n\
         - Evidence: [[work#^u-01]]\n"
    )
}

/// A vault with three proposed lessons, an old question, a closed session with unchecked writes, and a bookmark that leads nowhere.
fn vault() -> MemoryLab {
    let lab = MemoryLab::new();
    lab.at("2026-11-20T09:00:00Z");
    for (id, title) in
        [("use-pnpm", "Use pnpm, not npm"), ("ask-first", "Ask before a push"), ("no-dates", "Never guess dates")]
    {
        lab.put(&format!("lessons/{id}.md"), &lesson(id, title));
    }
    lab.put_note(
        "work",
        "---\ntype: session\nsession_id: work\ntitle: Tokens\nstatus: completed\nstarted: 2026-11-01T09:00:00Z\nended: 2026-11-01T10:00:00Z\n---\n\
         # Tokens\n\n## Work @coder #dev\n\n*2026-11-01T09:00:00Z* ^p-01\n\n> [!user]\n> \"Use pnpm, not npm.\"\n\n^u-01\n\n**Tool calls:**\n\
         - `Bash cargo test` → 3 passed (09:10:00) ^n-001\n    - check: passed\n\
         - `Edit src/a.rs` → +1 −1 (09:20:00) ^n-002\n    - writes: `src/a.rs`\n\n> [!question] Revoke on password change?\n\n^q-001\n",
    );
    lab.put("bookmarks.md", "# Bookmarks\n\n- gone: [[nowhere#^n-001]]\n");
    lab
}

fn items(lab: &MemoryLab) -> Vec<(String, String)> {
    let inbox: Value = serde_json::from_str(&lab.ok(&["review", "-f", "json"])).unwrap();
    let item = |item: &Value| {
        let text = |name: &str| item[name].as_str().unwrap().to_owned();
        (text("id"), format!("{}: {}", text("kind"), text("text")))
    };
    inbox["items"].as_array().unwrap().iter().map(item).collect()
}

fn kinds(lab: &MemoryLab) -> Vec<String> {
    items(lab).into_iter().map(|(_, words)| words.split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn what_waits_is_one_short_list() {
    let lab = vault();
    assert_eq!(kinds(&lab), ["unproven", "lesson", "lesson", "lesson", "question", "bookmark"]);
    let text = lab.ok(&["review"]);
    assert!(text.lines().count() <= 20 && text.contains("unproven: Tokens, 1 write after the last check"), "{text}");
    assert!(!lab.path("vault/review.md").exists(), "looking writes nothing");
}

#[test]
fn ticks_are_acted_on_once() {
    let lab = vault();
    lab.ok(&["review", "--write"]);
    let page = lab.read("review.md");
    assert_eq!(page.matches("- [ ] ").count(), 6, "{page}");
    lab.ok(&["review", "--write"]);
    assert_eq!(lab.read("review.md"), page, "a second time changes nothing");
    let ticked = page
        .replace("- [ ] lesson: Use pnpm, not npm", "- [x] lesson: Use pnpm everywhere")
        .replace("- [ ] lesson: Ask before a push", "- [-] lesson: Ask before a push")
        .replace("- [ ] unproven", "- [x] unproven")
        .replace("# Review\n", "# Review\n\nMy own words.\n")
        .replace('\n', "\r\n");
    lab.put("review.md", &(ticked + "\r\n## Mine\r\n\r\nText.\r\n"));
    let done = lab.ok(&["review", "--apply"]);
    assert!(done.contains("accepted  lesson: Use pnpm everywhere") && done.contains("rejected  lesson: Ask"), "{done}");
    let accepted = lab.read("lessons/use-pnpm.md");
    assert!(accepted.contains("status: accepted") && accepted.contains("# Use pnpm everywhere"), "{accepted}");
    assert!(accepted.contains("title: Use pnpm everywhere") && accepted.contains("[[work#^u-01]]"), "{accepted}");
    assert!(lab.read("lessons/ask-first.md").contains("status: rejected"));
    assert!(lab.read("lessons/no-dates.md").contains("status: proposed"));
    let page = lab.read("review.md");
    assert!(page.contains("My own words.") && page.contains("## Mine\r\n\r\nText."), "{page}");
    assert!(page.contains("## Rejected\r\n\r\n- lesson: Ask before a push"), "{page}");
    assert_eq!(kinds(&lab), ["lesson", "question", "bookmark"]);
    // Once: a person who proposes it again by hand is not overruled.
    lab.put("lessons/use-pnpm.md", &accepted.replace("status: accepted", "status: retired"));
    let before = lab.read("review.md");
    lab.ok(&["review", "--apply"]);
    assert_eq!(lab.read("review.md"), before);
    assert!(lab.read("lessons/use-pnpm.md").contains("status: retired"));
}

#[test]
fn rejected_stays_rejected_without_cache_and_state() {
    let lab = vault();
    let (id, _) = items(&lab).into_iter().find(|(_, words)| words.starts_with("question")).unwrap();
    lab.ok(&["review", "reject", &id]);
    let (bookmark, _) = items(&lab).into_iter().find(|(_, words)| words.starts_with("bookmark")).unwrap();
    lab.ok(&["review", "later", &bookmark]);
    for folder in ["state", "home/.cache"] {
        if lab.path(folder).exists() {
            remove_dir(&lab.path(folder));
        }
    }
    assert_eq!(kinds(&lab), ["unproven", "lesson", "lesson", "lesson"]);
    lab.at("2026-11-28T09:00:00Z");
    assert_eq!(kinds(&lab), ["unproven", "lesson", "lesson", "lesson", "bookmark"], "what was put off is due");
    assert_eq!(lab.cru(&["review", "accept", "r-00000000"]).code, 1);
    assert!(fs::metadata(lab.path("vault/lessons/use-pnpm.md")).is_ok());
}
