//! What a plan says will be done, compared with what calls did: for the summary on top.
//!
//! Only the form of the plan is read: paths in code spans that head its sections or lead the items of a list, and in its last
//! section commands in code spans, and items without one. Of a plan that the work does not follow nothing is said.

use std::collections::HashSet;

use cru_action::{Action, Check, CheckKind, Class, ToolKind};
use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};

use super::step::StepDraft;
use crate::escape::code;
use crate::words::shorten;
use crate::words::summary::{item, plain};
use crate::{Item, Session, StepStatus};

/// How the summary on top names what of a plan was not done.
const NOT_WRITTEN: &str = "of the plan not written";
const NOT_RUN: &str = "of the plan not run";
const NOT_TRIED: &str = "of the plan not tried by a call";

/// Whether the summary on top of a note says that something of the plan was not done.
pub fn is_plan_open(session: &Session) -> bool {
    let mut summaries = session.preface.iter().filter_map(|item| match item {
        Item::Callout(it) if it.kind == "summary" => Some(it.body.as_str()),
        _ => None,
    });
    let names = |line: &str| {
        let open = line.strip_prefix("Open: ").unwrap_or_default();
        open.split("; ").any(|part| [NOT_WRITTEN, NOT_RUN, NOT_TRIED].iter().any(|name| part.starts_with(name)))
    };
    summaries.any(|text| text.lines().any(names))
}

/// Bytes of a plan that are read, and things that are named of it.
const SEEN: usize = 64_000;
const NAMED: usize = 3;

/// Characters of an item.
const SHORT: usize = 80;

/// A plan by its form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedWork {
    /// Paths that stand together: those of the headings, those of each list.
    files: Vec<Vec<String>>,
    /// Commands that check, of its last section.
    checks: Vec<PlannedCheck>,
    /// Items of that section without a command.
    by_hand: Vec<String>,
    /// Steps there were when it was given.
    from: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PlannedCheck {
    text: String,
    key: String,
    kind: CheckKind,
}

impl PlannedWork {
    /// Reads a plan given before the step `from`. `None` for a text that has not the form of one.
    pub(super) fn of(text: &str, from: usize) -> Option<Self> {
        const HEADINGS: usize = 2;
        let seen = &text[..floor_char_boundary(text, SEEN)];
        seen.lines().filter(|line| line.starts_with('#')).nth(HEADINGS - 1)?;
        let text = sanitise(seen);
        let mut plan = Self { from, ..Self::default() };
        let (mut headed, mut listed) = (Vec::new(), Vec::new());
        let (mut last, mut fence) = (Vec::new(), None);
        for line in text.lines() {
            let trimmed = line.trim();
            let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
            if fence.is_some() || mark.is_some() {
                fence = if fence.is_some() && fence == mark { None } else { fence.or(mark) };
                continue;
            }
            if trimmed.starts_with('#') {
                headed.extend(code_spans(trimmed).filter(|span| is_file(span)).map(ToOwned::to_owned));
                plan.files.push(std::mem::take(&mut listed));
                last.clear();
            } else if let Some(item) = item(trimmed) {
                listed.extend(leading_file(item));
                if line.starts_with([' ', '\t']) && !last.is_empty() {
                    continue;
                }
                last.push(item);
            } else if let Some(row) = trimmed.strip_prefix('|') {
                listed.extend(leading_file(row));
            } else if !trimmed.is_empty() && !line.starts_with([' ', '\t']) {
                plan.files.push(std::mem::take(&mut listed));
            }
        }
        plan.files.push(listed);
        plan.files.insert(0, headed);
        plan.files.retain(|group| group.len() > 1);
        plan.last_section(&last);
        let says = !(plan.files.is_empty() && plan.checks.is_empty());
        says.then_some(plan)
    }

    /// The items of the last section.
    fn last_section(&mut self, items: &[&str]) {
        for item in items {
            let mut is_command = false;
            for span in code_spans(item) {
                let action = Action::of("Bash", span);
                self.checks.extend(action.checks().map(|check| PlannedCheck::of(span, check)));
                is_command |= action.commands.iter().any(|it| it.class != Class::Unknown);
            }
            if !is_command {
                self.by_hand.push(plain(item));
            }
        }
        if self.checks.is_empty() {
            self.by_hand.clear();
        }
    }

    /// What of it no call did, in words.
    pub(super) fn open(&self, steps: &[StepDraft]) -> Vec<String> {
        let done = Done::of(steps.get(self.from..).unwrap_or_default());
        // Calls of others are not known here.
        if done.has_subagents {
            return Vec::new();
        }
        let mut follows = self.checks.iter().any(|check| done.has_run(check));
        let mut missing: Vec<&str> = Vec::new();
        for group in &self.files {
            let open: Vec<&String> = group.iter().filter(|path| !done.has_written(path)).collect();
            if open.len() * 2 < group.len() {
                follows = true;
                missing.extend(open.into_iter().filter(|path| !done.has_named(path)).map(String::as_str));
            }
        }
        if !follows {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        missing.retain(|path| seen.insert(*path));
        let mut lines = Vec::new();
        let missing = missing.into_iter().map(code::span).collect();
        lines.extend(named(NOT_WRITTEN, missing, ", "));
        let not_run = self.checks.iter().filter(|check| !done.has_hooks && !done.has_run(check));
        let mut not_run: Vec<String> = not_run.map(|check| code::span(&check.text)).collect();
        not_run.dedup();
        lines.extend(named(NOT_RUN, not_run, ", "));
        if !done.may_try {
            let by_hand =
                self.by_hand.iter().map(|item| shorten::at_word(item.trim_end_matches([':', ' ']), SHORT)).collect();
            lines.extend(named(NOT_TRIED, by_hand, " · "));
        }
        lines
    }
}

/// `what: first, second and 3 more`.
fn named(what: &str, all: Vec<String>, between: &str) -> Option<String> {
    let more = all.len().saturating_sub(NAMED);
    let shown = all.into_iter().take(NAMED).collect::<Vec<_>>().join(between);
    let more = if more > 0 { format!("{between}… and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{what}: {shown}{more}"))
}

impl PlannedCheck {
    fn of(span: &str, check: Check<'_, '_>) -> Self {
        Self { text: shorten::at_word(&fold_whitespace(span), SHORT), key: check.key(), kind: check.kind() }
    }
}

/// What steps did.
#[derive(Debug, Default)]
struct Done<'a> {
    written: Vec<&'a str>,
    /// Arguments of calls that may change files.
    named: Vec<&'a str>,
    keys: HashSet<String>,
    kinds: Vec<CheckKind>,
    has_subagents: bool,
    /// Whether checks ran in hooks, of which nobody knows all.
    has_hooks: bool,
    /// Whether a call may have tried the work in a way that is not known.
    may_try: bool,
}

impl<'a> Done<'a> {
    fn of(steps: &'a [StepDraft]) -> Self {
        let mut done = Self::default();
        for draft in steps {
            let action = draft.step.action();
            done.has_subagents |= action.kind == ToolKind::Subagent || !draft.runs.is_empty();
            done.has_hooks |= draft.hooks.is_some();
            if matches!(draft.step.status, StepStatus::Denied | StepStatus::NoResult) {
                continue;
            }
            done.written.extend(draft.step.writes.iter().map(|file| file.path.as_str()));
            match action.kind {
                ToolKind::Shell => {
                    if !action.is_read_only() {
                        done.named.push(draft.step.full_args());
                    }
                    for command in &action.commands {
                        done.may_try |= matches!(command.class, Class::Run | Class::Unknown | Class::Network)
                            && !command.keeps_versions();
                    }
                    for check in action.checks() {
                        done.keys.insert(check.key());
                        done.kinds.push(check.kind());
                    }
                }
                ToolKind::Mcp | ToolKind::Other | ToolKind::Fetch | ToolKind::Skill => done.may_try = true,
                _ => {}
            }
        }
        done
    }

    /// Whether this check ran, or another one of what it checks.
    fn has_run(&self, check: &PlannedCheck) -> bool {
        self.keys.contains(&check.key) || self.kinds.contains(&check.kind)
    }

    fn has_written(&self, path: &str) -> bool {
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
        };
        let path = path.trim_start_matches("./").trim_start_matches("~/");
        self.written.iter().any(|written| ends(written, path) || ends(path, written))
    }

    /// Whether a command that may have changed it names the file.
    fn has_named(&self, path: &str) -> bool {
        let name = shorten::file_name(path);
        self.named.iter().any(|args| args.contains(name))
    }
}

/// The path that an item begins with, in a code span, emphasis and a number before it aside.
fn leading_file(item: &str) -> Option<String> {
    let rest = item.trim_start_matches([' ', '*', '_']);
    let span = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')).map(|(span, _)| span)?;
    is_file(span).then(|| span.to_owned())
}

fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|span| !span.is_empty())
}

/// Whether a code span names a file below a folder: one word with a folder and an extension.
fn is_file(span: &str) -> bool {
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '~' | '@' | '[' | ']' | '(' | ')');
    let name = span.rsplit('/').next().unwrap_or(span);
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
    span.contains('/')
        && !span.contains("://")
        && span.chars().all(is_plain)
        && extension
            .is_some_and(|end| (1..=6).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "Do this:\n\n# Move the cache\n\n## 1. New: `src/cache.rs`\n\nAs in `src/old.rs`.\n\n## 2. `src/lib.rs`\n\n\
        - call it\n\n## Files\n\n- `src/a.rs` — edit\n- **`src/b.rs`** — edit\n\n## Check it\n\n1. `cargo test` passes\n2. `cargo clippy`\n\
        3. **By hand**: open the *cellar* and look\n   - at `src/x.rs`\n";

    #[test]
    fn the_form_of_a_plan() {
        let plan = PlannedWork::of(PLAN, 3).unwrap();
        assert_eq!(plan.files, [["src/cache.rs", "src/lib.rs"], ["src/a.rs", "src/b.rs"]]);
        let checks: Vec<&str> = plan.checks.iter().map(|check| check.text.as_str()).collect();
        assert_eq!((checks, plan.from), (vec!["cargo test", "cargo clippy"], 3));
        assert_eq!(plan.by_hand, ["By hand: open the *cellar* and look"]);
        for text in ["", "# One\n\n`cargo test`", "# One\n## Two\n\nwords", "# A\n# B\n- by hand\n"] {
            assert_eq!(PlannedWork::of(text, 0), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "([ a-z`*#|./-]|\\n|\\n- |\\n# |```\\n|é){0,60}") {
            let _ = PlannedWork::of(&text, 0);
        }
    }
}
