//! What lasts beyond the session and that nobody asked for: commits, pushes, releases, and sides taken in a conflict.
//!
//! Who learns from such answers does so unasked. What stands before the act may be right all the same: where it is whole
//! without it, the act is left out, and else all of it.

use crate::case::entry::{Entry, Told};
use crate::case::left_out::Reason;
use crate::case::{Story, Turn};
use cru_action::{Action, Class, Command, ToolKind};
use cru_session::attempt::Attempt;
use cru_session::words::list::{MAKING, NEGATION, POINTING, PUBLISHED, PUBLISHING, STANDING};

/// Takes acts that nobody asked for out of an answer; else says why it is none.
pub(crate) fn cut(story: &mut Story, context: &[Turn]) -> Option<Reason> {
    let done = match &*story {
        Story::Puzzle(it) => &it.fix,
        Story::Correction(it) | Story::Preference(it) => &it.response,
        Story::Demonstration(it) => &it.done,
    };
    // Nearly every answer does without.
    if !done.iter().any(acts) {
        return None;
    }
    let asked = is_asked(context) || context.iter().any(|turn| turn.done.iter().any(is_answered));
    let (answer, open, removed): (&mut Vec<Entry>, bool, &mut usize) = match story {
        // What failed was the act itself.
        Story::Puzzle(it) if asked || it.resolution.is_some() || it.step.as_ref().is_some_and(acts) => return None,
        Story::Puzzle(it) => return it.fix.iter().any(acts).then_some(Reason::Unasked),
        Story::Correction(it) | Story::Preference(it) => {
            if asked || it.interpretation.is_some() || asks(&it.words) {
                return None;
            }
            (&mut it.response, true, &mut it.more)
        }
        Story::Demonstration(it) if !asked => (&mut it.done, it.check.is_none(), &mut 0),
        Story::Demonstration(_) => return None,
    };
    let first = answer.iter().position(acts)?;
    if answer[..first].iter().any(is_answered) {
        return None;
    }
    let before = answer.len();
    // What is shown only by its beginning may as well end before the act.
    if !leave_out(answer, first) && (*removed == 0 || !end_before(answer, first)) {
        return Some(Reason::Unasked);
    }
    *removed += before - answer.len();
    // The check may have been part of it.
    let checked = open || answer.iter().any(|entry| matches!(entry.attempt(), Some(Attempt::Check(_))));
    (!checked).then_some(Reason::Unasked)
}

/// Leaves the act at `first` out, with all that belongs to it, where what remains ends with the agent's words.
fn leave_out(answer: &mut Vec<Entry>, first: usize) -> bool {
    let belongs = |entry: &Entry| match &entry.told {
        Told::Prose(text) => names_act(text) || text.trim_end().ends_with(':'),
        _ => only_records(entry),
    };
    // Words that do not speak of it may follow.
    let after = &answer[first..];
    let closing = matches!(after.last().map(|entry| &entry.told), Some(Told::Prose(text)) if !names_act(text));
    if closing && after[1..after.len() - 1].iter().all(belongs) {
        let last = answer.pop();
        answer.truncate(first);
        answer.extend(last);
        return true;
    }
    let whole = matches!(answer[..first].last().map(|entry| &entry.told),
        Some(Told::Prose(text)) if !text.trim_end().ends_with(':') && !names_act(text));
    if whole {
        answer.truncate(first);
    }
    whole
}

/// Ends an answer before the act at `first` and the words that announce it, where something was changed by then.
fn end_before(answer: &mut Vec<Entry>, first: usize) -> bool {
    let announces = |entry: &Entry| match &entry.told {
        Told::Prose(text) => names_act(text) || text.trim_end().ends_with(':'),
        _ => only_records(entry),
    };
    let end = answer[..first].iter().rposition(|entry| !announces(entry)).map_or(0, |last| last + 1);
    let changed = answer[..end].iter().any(Entry::is_edit);
    if changed {
        answer.truncate(end);
    }
    changed
}

/// Whether a person was asked by a tool and named such an act.
fn is_answered(entry: &Entry) -> bool {
    entry.tool_kind() == Some(ToolKind::Ask) && asks(entry.answer())
}

/// Whether a step does something that lasts: a commit, or what others see.
fn acts(entry: &Entry) -> bool {
    let Some(command) = entry.command() else { return false };
    let action = Action::of("Bash", &command);
    let takes_a_side = |command: &Command<'_>| {
        let sides = |word: &str| matches!(word, "--theirs" | "--ours" | "-Xtheirs" | "-Xours");
        command.program == "git" && command.words.iter().any(|word| sides(word))
    };
    action.commits() || action.publishes() || action.commands.iter().any(takes_a_side)
}

/// Whether a step does nothing but with the record of versions.
fn only_records(entry: &Entry) -> bool {
    let Some(command) = entry.command() else { return false };
    let of_versions = |command: &Command<'_>| command.keeps_versions() || command.class == Class::Look;
    Action::of("Bash", &command).commands.iter().all(of_versions)
}

/// Whether the words of an answer's turn ask for one: the last that say more than to go on. What was asked for before
/// holds on where it is said of more than one time.
fn is_asked(context: &[Turn]) -> bool {
    let said = || context.iter().rev().filter(|turn| !turn.heading && !turn.asked.trim().is_empty());
    let open = said().position(|turn| asks(&turn.asked) || turn.asked.split_whitespace().count() > FEW);
    let last = open.and_then(|at| said().nth(at));
    last.is_some_and(|turn| asks(&turn.asked)) || said().any(|turn| holds_on(&turn.asked) && asks(&turn.asked))
}

/// Words that only say to go on are no more than this.
const FEW: usize = 4;

/// Whether words order something for more than the moment.
fn holds_on(words: &str) -> bool {
    STANDING.is_in(words)
}

/// Whether words ask for such an act.
fn asks(words: &str) -> bool {
    let all: Vec<&str> = words.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|w| !w.is_empty()).collect();
    all.iter().enumerate().any(|(at, word)| {
        let before = &all[at.saturating_sub(2)..at];
        // "this commit is small" only speaks of it, "make the commit" does not.
        let pointed =
            before.last().is_some_and(|word| POINTING.has(word)) && !before.iter().any(|word| MAKING.has(word));
        PUBLISHING.has(word) && !before.iter().any(|word| NEGATION.has(word)) && !pointed
    })
}

/// Whether words of the agent tell of such an act.
fn names_act(text: &str) -> bool {
    PUBLISHED.is_in(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::entry;
    use crate::case::story::{Correction, Demonstration};
    use cru_session::Step;

    fn step(tool: &str, args: &str) -> Entry {
        entry::of_step(&Step { tool: tool.into(), args: args.into(), ..Step::default() }, &str::to_owned)
    }

    fn prose(text: &str) -> Entry {
        Entry { block: None, told: Told::Prose(text.into()) }
    }

    fn turn(asked: &str) -> Vec<Turn> {
        vec![Turn { asked: asked.into(), ..Turn::default() }]
    }

    /// What is left of an answer to a correction.
    fn left(asked: &str, response: Vec<Entry>) -> Result<Vec<String>, Reason> {
        let mut story =
            Story::Correction(Correction { words: "on the left".into(), response, ..Correction::default() });
        if let Some(reason) = cut(&mut story, &turn(asked)) {
            return Err(reason);
        }
        let Story::Correction(it) = story else { panic!("a correction") };
        Ok(it.response.iter().map(Entry::text).collect())
    }

    #[test]
    fn acts_are_left_out_where_the_rest_is_whole() {
        let edit = || step("Edit", "pump.c");
        let push = || step("Bash", "cd lib && git add -A && git commit -m pump && git push");
        let done = || prose("Done. It stands on the left.");
        let whole = ["`Edit pump.c`", "Done. It stands on the left."].map(str::to_owned).to_vec();
        assert_eq!(left("Mend the pump.", vec![edit(), push(), done()]), Ok(whole.clone()));
        assert_eq!(left("Mend the pump.", vec![edit(), done(), push(), prose("Pushed.")]), Ok(whole));
        assert_eq!(left("Mend the pump.", vec![edit(), push(), prose("Done and pushed.")]), Err(Reason::Unasked));
        assert_eq!(left("Mend the pump.", vec![prose("Now I commit:"), push()]), Err(Reason::Unasked));
        assert_eq!(left("Mend the pump, no commit.", vec![edit(), push()]), Err(Reason::Unasked));
        assert_eq!(left("Mend the pump and push it.", vec![edit(), push()]).map(|left| left.len()), Ok(2));
        assert_eq!(left("This commit lacks the pump.", vec![edit(), push()]), Err(Reason::Unasked));
        assert_eq!(left("Make the commit of the pump.", vec![edit(), push()]).map(|left| left.len()), Ok(2));
        let chosen = Step { tool: "AskUserQuestion".into(), result: Some("mend and push".into()), ..Step::default() };
        let chosen = entry::of_step(&chosen, &str::to_owned);
        assert_eq!(left("Mend the pump.", vec![chosen, push()]).map(|left| left.len()), Ok(2));
        assert_eq!(left("Mend the pump.", vec![edit(), step("Bash", "git log")]).map(|left| left.len()), Ok(2));
    }

    #[test]
    fn an_order_holds_for_its_turn() {
        let asked = |turns: &[&str]| is_asked(&turns.iter().flat_map(|asked| turn(asked)).collect::<Vec<_>>());
        assert!(asked(&["Mend the pump.", "commit"]));
        assert!(asked(&["Mend the pump, then commit and push.", "go on"]));
        assert!(asked(&["Commit after each step.", "Now mend the hose as well."]));
        assert!(!asked(&["Mend the pump.", "commit", "Is there a test for the hose too?"]));
        assert!(!asked(&["Mend the pump."]));
    }

    #[test]
    fn an_excerpt_ends_before_the_act() {
        let cut_to = |more: usize| {
            let response = vec![
                step("Edit", "pump.c"),
                prose("Now I commit:"),
                step("Bash", "git commit -m pump"),
                prose("Committed."),
            ];
            let words = "on the left".to_owned();
            let mut story = Story::Correction(Correction { words, response, more, ..Correction::default() });
            let fault = cut(&mut story, &turn("Mend the pump."));
            let Story::Correction(it) = story else { panic!("a correction") };
            fault.map_or(Ok((it.response.len(), it.more)), Err)
        };
        assert_eq!(cut_to(4), Ok((1, 7)));
        assert_eq!(cut_to(0), Err(Reason::Unasked));
    }

    #[test]
    fn a_check_that_went_with_it_is_gone() {
        let shown = |steps: Vec<Entry>| {
            let done = steps.into_iter().chain([prose("Done.")]).collect();
            let check = Some("make test".into());
            cut(&mut Story::Demonstration(Demonstration { done, check }), &turn("Mend the pump."))
        };
        let (edit, push) = (|| step("Edit", "pump.c"), || step("Bash", "make test && git commit -m pump"));
        assert_eq!(shown(vec![edit(), step("Bash", "make test"), push()]), None);
        assert_eq!(shown(vec![edit(), push()]), Some(Reason::Unasked));
    }

    #[test]
    fn what_lasts() {
        for command in
            ["git commit -m x", "cd a && git -C b push origin", "gh pr create -t x", "git checkout --theirs a"]
        {
            assert!(acts(&step("Bash", command)), "{command}");
        }
        for command in
            ["git status", "git push --dry-run", "gh pr view 3", "echo 'git push'", "git commit-graph verify"]
        {
            assert!(!acts(&step("Bash", command)), "{command}");
        }
        assert!(!acts(&step("Read", "git commit")));
        assert!(asks("Open a PR with it"));
        assert!(!asks("stop committing everything"));
        assert!(!asks("make the pump run"));
    }
}
