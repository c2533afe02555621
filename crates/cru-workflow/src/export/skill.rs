//! A workflow as a skill or a slash command of an agent's host: instructions in markdown behind a small frontmatter.
//!
//! A skill is a folder with a `SKILL.md`, named like the skill. Hosts take a name of at most 64 lowercase letters, digits and
//! single hyphens, and a description of at most 1,024 characters without angle brackets, which says when to use it.

use std::fmt::Write as _;

use cru_base::text::{fold_whitespace, slug, truncate};
use cru_note::frontmatter::{Value, emit};
use cru_session::words::shorten::at_sentence;

use crate::flow;
use crate::model::{Need, Part, RemarkKind, Step, Workflow};
use crate::text::{code_span, escape, longest_run};

/// Characters of a name.
const MAX_NAME: usize = 64;
/// Characters of a description.
const MAX_DESCRIPTION: usize = 1_024;
/// Words of a title that make a name.
const NAME_WORDS: usize = 8;

/// The name of the skill: its folder must have it, too.
pub fn name(workflow: &Workflow) -> String {
    let mut name = slug(&workflow.title, NAME_WORDS);
    name.retain(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    let mut name = String::new();
    for word in words {
        let needed = word.len() + usize::from(!name.is_empty());
        if name.len() + needed > MAX_NAME {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(word);
    }
    if name.is_empty() { "workflow".to_owned() } else { name }
}

/// The text of `SKILL.md`.
pub fn skill(workflow: &Workflow) -> String {
    let text = |text: &str| Value::String(text.to_owned());
    let entries = [("name", text(&name(workflow))), ("description", text(&description(workflow)))];
    format!("---\n{}---\n{}", emit(&entries), body(workflow, ""))
}

/// The text of a slash command; its words behind the name are the inputs.
pub fn command(workflow: &Workflow) -> String {
    let text = |text: &str| Value::String(text.to_owned());
    let mut entries = vec![("description", text(&description(workflow)))];
    let inputs: Vec<String> = inputs(workflow).into_iter().map(|name| format!("[{name}]")).collect();
    if !inputs.is_empty() {
        entries.push(("argument-hint", text(&inputs.join(" "))));
    }
    format!("---\n{}---\n{}", emit(&entries), body(workflow, "The person gives as inputs: $ARGUMENTS\n\n"))
}

/// What it is for and when to use it.
fn description(workflow: &Workflow) -> String {
    let title = fold_whitespace(workflow.title.trim().trim_end_matches(['.', '…']));
    let mut text = workflow.description.clone().unwrap_or_else(|| format!("{title}."));
    match head(workflow, "For: ") {
        Some(kind) => {
            let _ = write!(text, " Use when work of this kind is to be done again: {kind}.");
        }
        None => {
            let _ = write!(text, " Use when this is to be done again.");
        }
    }
    let goals: Vec<&str> = workflow.goals.iter().map(|goal| goal.text.as_str()).collect();
    if !goals.is_empty() {
        let _ = write!(text, " Goals: {}.", goals.join("; "));
    }
    let plain = fold_whitespace(&text.replace(['<', '>', '`'], ""));
    truncate(&at_sentence(&plain, MAX_DESCRIPTION - 2), MAX_DESCRIPTION).into_owned()
}

/// A line of the head, `not recorded` aside.
fn head<'w>(workflow: &'w Workflow, begins: &str) -> Option<&'w str> {
    let lines = workflow.preface.iter().filter_map(|part| match part {
        Part::Prose(prose) => Some(prose.markdown.lines()),
        _ => None,
    });
    lines.flatten().find_map(|line| line.strip_prefix(begins)).filter(|line| *line != "not recorded")
}

/// Names of the inputs that the head lists.
fn inputs(workflow: &Workflow) -> Vec<String> {
    let line = head(workflow, "Inputs: ").unwrap_or("");
    line.split("`<").skip(1).filter_map(|rest| rest.split_once(">`")).map(|(name, _)| name.to_owned()).collect()
}

fn body(workflow: &Workflow, lead: &str) -> String {
    let mut page = format!("# {}\n\n{lead}", escape(&workflow.title));
    parts(&workflow.preface, &mut page);
    if !workflow.goals.is_empty() {
        page.push_str("## Goals\n\n");
        for goal in &workflow.goals {
            let _ = writeln!(page, "- {}", escape(&goal.text));
        }
        page.push('\n');
    }
    let flags = workflow.step_flags();
    let steps: Vec<&Step> = workflow.steps.iter().zip(flags).filter(|(_, flag)| *flag).map(|(step, _)| step).collect();
    if !steps.is_empty() {
        page.push_str("## Steps\n\n");
    }
    for (number, step) in (1..).zip(steps) {
        let marks = "#".repeat(usize::from(step.level.clamp(2, 5)) + 1);
        let need = match step.need {
            Need::Normal => "",
            Need::Required => " (stop if it fails)",
            Need::Optional => " (go on if it fails)",
        };
        let _ = write!(page, "{marks} {number}. {}{need}\n\n", escape(&step.title));
        parts(&step.parts, &mut page);
    }
    if !workflow.checks.is_empty() {
        page.push_str("## Checks\n\nThe work is done when these hold:\n\n");
        for check in &workflow.checks {
            match &check.command {
                Some(command) => {
                    let _ = writeln!(page, "- {}: {}", code_span(command), escape(&check.text));
                }
                None => {
                    let _ = writeln!(page, "- {}", escape(&check.text));
                }
            }
        }
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn parts(parts: &[Part], page: &mut String) {
    let mut list = false;
    for part in parts {
        let bullet = matches!(part, Part::Command(_) | Part::Remark(_));
        if list && !bullet {
            page.push('\n');
        }
        list = bullet;
        match part {
            Part::Prose(prose) => {
                let _ = write!(page, "{}\n\n", prose.markdown);
            }
            Part::Flow(it) => {
                let _ = write!(page, "Data: {}\n\n", flow::write(it, "→"));
            }
            Part::Branch(it) => {
                let _ = write!(page, "{}\n\n", flow::write_branch(it, "→"));
            }
            Part::Gate(gate) => {
                let _ = writeln!(page, "**Ask the person and wait for their yes:** {}", escape(&gate.title));
                for line in gate.body.lines() {
                    let _ = writeln!(page, "> {line}");
                }
                page.push('\n');
            }
            Part::Command(it) => {
                let note = it.note.as_ref().map_or(String::new(), |note| format!(": {}", escape(note)));
                let verb = if it.is_attempt() { "Tried" } else { "Run" };
                let _ = writeln!(page, "- {verb} {}{note}", code_span(&it.command));
            }
            Part::Script(it) => {
                let ticks = "`".repeat(longest_run(&it.text).max(2) + 1);
                let _ = write!(page, "{ticks}sh\n{}\n{ticks}\n\n", it.text);
            }
            Part::Remark(it) => {
                let word = it.kind.as_str();
                let lead = if it.kind == RemarkKind::Plain { String::new() } else { format!("{word}: ") };
                let _ = writeln!(page, "- {lead}{}", escape(&it.text));
            }
            Part::Record(_) => {}
        }
    }
    if list {
        page.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use cru_note::Note;

    const WORKFLOW: &str = "---\ntype: workflow\ntitle: T\n---\n# Merge the parent of a stacked branch\n\n\
        For: change of Go files, checked with go test\nInputs: `<branch>` (ann/red); `<pr>` (7)\nDone when: `go test ./...` passes\nOpen at the end: not recorded\n\n\
        ## Find it @a\n\n> [!gate] The person names <the> branch\n> By name.\n\n- `git fetch origin <branch>`\n- Mind: not main\n\n\
        ## Merge it @a !\n\nbranch → merged\n\n```sh\ngit merge \\\n  x\n```\n\n## Validation\n\n- `go test ./...` — passes\n\n\
        ## Executions\n\n```session-toon\nexecution[1]{phase,status}:\n  Find it,success\n```\n";

    #[test]
    fn a_skill_has_steps_checks_and_gates() {
        let workflow = parse(&Note::parse(WORKFLOW)).0;
        insta::assert_snapshot!(skill(&workflow), @r#"
        ---
        name: merge-the-parent-of-a-stacked-branch
        description: "Merge the parent of a stacked branch. Use when work of this kind is to be done again: change of Go files, checked with go test."
        ---
        # Merge the parent of a stacked branch

        For: change of Go files, checked with go test
        Inputs: `<branch>` (ann/red); `<pr>` (7)
        Done when: `go test ./...` passes
        Open at the end: not recorded

        ## Steps

        ### 1. Find it

        **Ask the person and wait for their yes:** The person names \<the> branch
        > By name.

        - Run `git fetch origin <branch>`
        - Mind: not main

        ### 2. Merge it (stop if it fails)

        Data: branch → merged

        ```sh
        git merge \
          x
        ```

        ## Checks

        The work is done when these hold:

        - `go test ./...`: passes
        "#);
        assert!(command(&workflow).starts_with("---\ndescription: "));
        assert!(
            command(&workflow).contains("argument-hint: \"[branch] [pr]\"")
                && command(&workflow).contains("$ARGUMENTS")
        );
    }

    proptest::proptest! {
        /// What hosts refuse never comes out.
        #[test]
        fn names_and_descriptions_are_valid(title in "([A-Za-z0-9é →<>`#:-]|claude|\\n|\u{4f60}){0,200}", goal in ".{0,1500}") {
            let goals = vec![crate::Goal { text: goal, ..crate::Goal::default() }];
            let workflow = Workflow { title, goals, ..Workflow::default() };
            let name = name(&workflow);
            proptest::prop_assert!(!name.is_empty() && name.len() <= MAX_NAME, "{name}");
            proptest::prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            proptest::prop_assert!(!name.starts_with('-') && !name.ends_with('-') && !name.contains("--"), "{name}");
            let description = description(&workflow);
            let chars = description.chars().count();
            proptest::prop_assert!(chars > 0 && chars <= MAX_DESCRIPTION, "{chars}");
            proptest::prop_assert!(!description.contains(['<', '>', '\n']));
        }
    }
}
