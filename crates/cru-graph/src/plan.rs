//! The plan of a session: the task list, a plan that a person approved, a plan that stands in a request.

use cru_note::{BlockKind, Note};
use cru_session::{Decision, Item, Session, Task, User};

use super::place::{self, Place};

/// Headings of the section in which a plan says how it is verified, in lower case; a heading that begins with one of them
/// counts.
const VERIFICATION: &[&str] = &["verification", "verify", "validation", "acceptance criteria", "test plan", "testing"];

/// What a session says it will do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan<'a> {
    /// The tasks in their newest state.
    pub tasks: Vec<&'a Task>,
    /// Every state of a task list that the note holds, in the order of the page.
    pub transitions: Vec<(Place, &'a Task)>,
    /// Plans that a person agreed to.
    pub approved: Vec<(Place, &'a Decision)>,
    /// Plans that stand in a person's words.
    pub requested: Vec<Outline<'a>>,
}

/// A plan in a person's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline<'a> {
    /// Where the words stand.
    pub place: Place,
    /// The words.
    pub request: &'a User,
    /// Its sections.
    pub sections: Vec<Section>,
    /// Files that it names in code spans, each once.
    pub files: Vec<String>,
}

/// A section of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Level of its heading.
    pub level: u8,
    /// Its heading.
    pub title: String,
    /// The markdown below the heading, up to the next one.
    pub text: String,
}

impl Outline<'_> {
    /// The section that says how the plan is verified.
    pub fn verification(&self) -> Option<&Section> {
        verification(&self.sections)
    }
}

/// The section of a plan that says how it is verified.
pub fn verification(sections: &[Section]) -> Option<&Section> {
    let is_it = |section: &&Section| {
        let title = section.title.trim().to_lowercase();
        let title = title.trim_start_matches(|c: char| !c.is_alphabetic());
        VERIFICATION.iter().any(|word| title.starts_with(word))
    };
    sections.iter().find(is_it)
}

/// The plan of a session. Linear in its text.
pub fn plan(session: &Session) -> Plan<'_> {
    let mut plan = Plan { tasks: session.tasks(), ..Plan::default() };
    for (place, item) in place::items(session) {
        match item {
            Item::Tasks(fence) => plan.transitions.extend(fence.tasks.iter().map(|task| (place, task))),
            Item::Decision(decision) if is_approval(decision) => plan.approved.push((place, decision)),
            Item::User(user) => plan.requested.extend(outline(place, user)),
            _ => {}
        }
    }
    plan
}

/// Whether a task is being worked on.
pub fn is_begun(task: &Task) -> bool {
    matches!(task.status.trim().to_lowercase().as_str(), "in_progress" | "in-progress" | "active" | "started")
}

/// Whether a decision is somebody's yes to a plan.
pub fn is_approval(decision: &Decision) -> bool {
    let title = decision.callout.title.to_lowercase();
    let agreed = ["approved", "accepted", "agreed"].iter().any(|word| title.contains(word)) && !title.contains("not ");
    title.starts_with("plan:") || (title.contains("plan") && agreed)
}

/// Words as a plan.
fn outline(place: Place, user: &User) -> Option<Outline<'_>> {
    let sections = sections(&user.words);
    (!sections.is_empty()).then(|| Outline { place, request: user, sections, files: files(&user.words) })
}

/// The sections of a plan in markdown; none where it has fewer than two headings, since one alone is a title. Linear in
/// the text.
pub fn sections(plan: &str) -> Vec<Section> {
    const HEADINGS: usize = 2;
    if plan.lines().filter(|line| line.starts_with('#')).nth(HEADINGS - 1).is_none() {
        return Vec::new();
    }
    // A text of its own: what looks like frontmatter is none.
    let note = Note::parse(format!("\n{plan}\n"));
    let mut sections: Vec<(usize, Section)> = Vec::new();
    let text = note.text();
    for block in note.blocks() {
        let BlockKind::Heading { level, text: title } = block.kind else { continue };
        if let Some((from, last)) = sections.last_mut() {
            text.get(*from..block.content.start).unwrap_or_default().trim().clone_into(&mut last.text);
        }
        let section = Section { level, title: title.of(text).trim().to_owned(), text: String::new() };
        sections.push((block.content.end, section));
    }
    if let Some((from, last)) = sections.last_mut() {
        text.get(*from..).unwrap_or_default().trim().clone_into(&mut last.text);
    }
    if sections.len() < HEADINGS {
        return Vec::new();
    }
    sections.into_iter().map(|(_, section)| section).collect()
}

/// The paths in code spans.
fn files(words: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for line in words.lines() {
        for span in line.split('`').skip(1).step_by(2).filter(|span| is_path(span)) {
            if seen.insert(span) {
                files.push(span.to_owned());
            }
        }
    }
    files
}

/// Whether a code span names a file: one word with an extension, or with a folder before it.
fn is_path(span: &str) -> bool {
    let name = span.rsplit('/').next().unwrap_or(span);
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
    let plain = !span.is_empty()
        && !span.contains("://")
        && span.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~'));
    let letters = |text: &str| (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase());
    // A call or a field (`a.b`) has no folder and, mostly, no such short end.
    plain && extension.is_some_and(|end| letters(end) || span.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(body: &str) -> Session {
        let text = format!("---\ntype: session\nsession_id: s\n---\n# T\n\n{body}");
        cru_session::read::session(&Note::parse(text)).0
    }

    #[test]
    fn a_plan_in_the_request() {
        let session = session(
            "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Implement this plan:\n>\n> # Move the cache\n>\n\
             > ## Files\n>\n> - `src/cache.rs`, `Cargo.toml`, `cargo test`, `a.b()`\n>\n> ## Verification\n>\n> Run `cargo test`.\"\n\n^u-01\n",
        );
        let plan = plan(&session);
        let outline = &plan.requested[0];
        let titles: Vec<&str> = outline.sections.iter().map(|it| it.title.as_str()).collect();
        assert_eq!(titles, ["Move the cache", "Files", "Verification"]);
        assert_eq!(outline.verification().map(|it| it.text.as_str()), Some("Run `cargo test`."));
        assert_eq!(outline.files, ["src/cache.rs", "Cargo.toml"]);
    }

    #[test]
    fn tasks_and_approved_plans() {
        let session = session(
            "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n```tasks\n[{\"id\":\"1\",\"content\":\"a\",\"status\":\"pending\"}]\n```\n\n\
             > [!decision] Plan: move the cache\n> All of it.\n\n\
             ```tasks\n[{\"id\":\"1\",\"content\":\"a\",\"status\":\"completed\"}]\n```\n\n> [!decision] Use tabs\n> x\n",
        );
        let plan = plan(&session);
        assert_eq!(plan.tasks.iter().map(|it| it.status.as_str()).collect::<Vec<_>>(), ["completed"]);
        let states: Vec<&str> = plan.transitions.iter().map(|(_, it)| it.status.as_str()).collect();
        assert_eq!(states, ["pending", "completed"]);
        assert_eq!((plan.approved.len(), plan.requested.len()), (1, 0));
    }
}
