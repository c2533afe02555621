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

/// A session whose only words of a person are a correction.
fn corrected(lab: &MemoryLab, id: &str, day: u8, words: &str) {
    lab.put_note(
        id,
        &format!(
            "---\ntype: session\nsession_id: {id}\ntitle: {id}\nstatus: completed\nproject: ~/code\nstarted: 2026-11-{day:02}T09:00:00Z\n---\n\
             # {id}\n\n## Work @coder #dev\n\n*2026-11-{day:02}T09:00:00Z* ^p-01\n\n> [!user] Correction\n> \"{words}\"\n\n^u-01\n"
        ),
    );
}

#[test]
fn what_agents_log_as_a_lesson_and_what_was_said_twice_is_proposed() {
    let lab = MemoryLab::new();
    for (id, words) in [("one", "Migrations run in one transaction"), ("two", "Migrations run in one transaction.")] {
        let session = lab.ok(&["session", "start", id, "--agent", "coder@1"]).trim().to_owned();
        lab.ok(&["log", "--session", &session, "lesson", words]);
        lab.ok(&["session", "mark", "completed", &session]);
        lab.wait(60);
    }
    corrected(&lab, "first", 1, "Never touch the generated client, change the schema");
    corrected(&lab, "other", 2, "Use tabs in makefiles");
    assert_eq!(items(&lab).len(), 1, "a correction that was said once is none: {:?}", items(&lab));
    corrected(&lab, "again", 3, "No! Never touch the generated client: change the schema.");
    let waiting = items(&lab);
    let told: Vec<&str> = waiting.iter().map(|(_, words)| words.as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    let find = |part: &str| waiting.iter().find(|(_, words)| words.contains(part)).unwrap().0.clone();
    let (logged, said) = (find("lesson: Migrations run"), find("lesson: No! Never touch"));
    lab.ok(&["review", "accept", &logged]);
    lab.ok(&["review", "reject", &said]);
    assert_eq!(items(&lab), []);
    let lessons = lab.ok(&["lessons", "list"]);
    assert!(
        lessons.contains("Migrations run in one transaction") && !lessons.contains("generated client"),
        "{lessons}"
    );
    let notes: Vec<String> = fs::read_dir(lab.path("vault/lessons"))
        .unwrap()
        .map(|it| fs::read_to_string(it.unwrap().path()).unwrap())
        .collect();
    assert!(notes.len() == 1 && notes[0].matches("- Evidence: [[").count() == 2, "{notes:?}");
    assert!(lab.ok(&["context"]).contains("Migrations run in one transaction"));
    assert_eq!(lab.cru(&["check"]).code, 0);
    // Ticked on the page, in other words.
    corrected(&lab, "third", 4, "Ask me before you push");
    corrected(&lab, "fourth", 5, "Ask me before you push!");
    lab.ok(&["review", "--write"]);
    let page = lab.read("review.md");
    let line = page.lines().find(|line| line.contains("Ask me before you push")).unwrap();
    lab.put(
        "review.md",
        &page.replace(line, &line.replace("- [ ]", "- [x]").replace("Ask me before you push!", "Ask before a push")),
    );
    lab.ok(&["review", "--apply"]);
    assert!(lab.ok(&["lessons", "list"]).contains("Ask before a push"));
    assert_eq!(items(&lab), []);
}
