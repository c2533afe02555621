//! Answers that say what they have not looked at, or have not done.

use crate::case::entry::{Entry, Told};
use crate::fault::news;
use cru_action::{Action, Command};
use cru_session::words::list::{IMPOSSIBLE, OBJECTION, ORDERING, PICTURE, PUBLISHING, REVERSAL, STOP};

/// Whether an answer grants a fault, argues it away again, changes nothing and asks.
pub(crate) fn argues_away(done: &[Entry]) -> bool {
    let words = || done.iter().filter_map(Entry::prose);
    let changes = done.iter().any(Entry::is_edit);
    let turns = || words().map(|text| REVERSAL.count_in(text)).sum::<usize>();
    words().next().is_some_and(news::agrees)
        && !changes
        && matches!(done.last().and_then(Entry::prose), Some(text) if text.trim_end().ends_with('?'))
        && turns() >= 2
}

/// Whether an answer denies without a look what the person's next words show to be so.
pub(crate) fn denies_blindly(done: &[Entry], next: &str) -> bool {
    !done.iter().any(Entry::is_step)
        && done.iter().filter_map(Entry::prose).any(|text| IMPOSSIBLE.is_in(text))
        && OBJECTION.at_start(next.trim_start_matches(|c: char| !c.is_alphabetic())).is_some()
}

/// Whether the words lay down commands to check the work with, and one of them was neither run nor named as left out.
pub(crate) fn skips_checks(words: &str, done: &[Entry]) -> bool {
    let wanted = checks(words);
    if wanted.is_empty() {
        return false;
    }
    let run: Vec<_> = done.iter().filter_map(Entry::command).collect();
    let said = done.last().and_then(Entry::prose).unwrap_or_default();
    wanted.iter().any(|check| !run.iter().any(|command| command.contains(check)) && !said.contains(check))
}

/// The commands that stand as code below a heading about checking, each by the words that name it.
fn checks(words: &str) -> Vec<&str> {
    let mut checks = Vec::new();
    let mut open = false;
    for line in words.lines() {
        if line.starts_with('#') {
            let heading = line.to_lowercase();
            open = ["verif", "test plan", "acceptance"].iter().any(|name| heading.contains(name));
        } else if open {
            // Every second part stands between backticks.
            checks.extend(line.split('`').skip(1).step_by(2).filter_map(name_of));
        }
    }
    checks
}

/// The words that name a command: program and subcommand, and what a runner runs.
fn name_of(command: &str) -> Option<&str> {
    let program = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    let mut words = command.split_whitespace();
    let (first, second) = (words.next()?, words.next()?);
    if !program(first) || !second.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-') {
        return None;
    }
    let runs = matches!(second, "run" | "exec" | "-m");
    let last = if runs { words.next()? } else { second };
    let end = last.as_ptr() as usize - command.as_ptr() as usize + last.len();
    command.get(..end)
}

/// What steps name that make or open a picture, in lower case.
const MAKES_PICTURE: &[&str] = &["screenshot", ".png", ".jpg", ".jpeg", ".gif", ".webp", "image"];

/// Whether an answer tells what a picture shows that no step has opened: the record does not hold it.
pub(crate) fn tells_of_picture<'a>(done: &'a [Entry], before: impl Iterator<Item = &'a Entry>) -> bool {
    let opens = |entry: &Entry| {
        let text = match &entry.told {
            Told::Step { call, .. } => call.to_lowercase(),
            Told::Prose(_) | Told::Remark(_) => return false,
        };
        MAKES_PICTURE.iter().any(|word| text.contains(word))
    };
    done.iter().filter_map(Entry::prose).any(|text| PICTURE.is_in(text)) && !done.iter().chain(before).any(opens)
}

/// Whether words begin with such an order, and the answer never touches the record of versions.
pub(crate) fn ignores_order(words: &str, done: &[Entry]) -> bool {
    let clause = words.trim_start().split(['.', '!', '?', ';', ',', '\n']).next().unwrap_or_default();
    let parts = || clause.split_whitespace();
    let orders = parts().any(|word| PUBLISHING.has(word));
    let git = |entry: &Entry| {
        entry.command().is_some_and(|text| Action::of("Bash", &text).commands.iter().any(Command::keeps_versions))
    };
    orders && parts().all(|word| PUBLISHING.has(word) || ORDERING.has(word) || STOP.has(word)) && !done.iter().any(git)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::entry;
    use cru_session::Step;

    fn says(text: &str) -> Entry {
        Entry { block: None, told: Told::Prose(text.into()) }
    }

    fn runs(tool: &str, args: &str) -> Entry {
        entry::of_step(&Step { tool: tool.into(), args: args.into(), ..Step::default() }, &str::to_owned)
    }

    #[test]
    fn a_fault_that_is_argued_away() {
        let away =
            "You're right, the arrow is wrong. But wait, it points at the pump. Actually it looks correct. Is it?";
        assert!(argues_away(&[says(away)]));
        assert!(!argues_away(&[says(away), runs("Edit", "pump.md"), says("Is it right now?")]));
        assert!(!argues_away(&[says("You're right, the arrow is wrong. Which way should it point?")]));
        assert!(!argues_away(&[says("Actually it is there. But wait, which pump is it?")]));
    }

    #[test]
    fn what_is_denied_without_a_look() {
        let denied = [says("The valve only supports one hose.")];
        assert!(denies_blindly(&denied, "hmm, I was able to take two"));
        assert!(!denies_blindly(&denied, "ok, one then"));
        assert!(!denies_blindly(&[runs("Read", "valve.md"), denied[0].clone()], "hmm, I was able to take two"));
        assert!(!denies_blindly(&[says("The valve takes two hoses.")], "hmm, I was able to take two"));
    }

    #[test]
    fn pictures_that_nobody_opened() {
        let told = [says("The screenshot shows a red pump.")];
        assert!(tells_of_picture(&told, std::iter::empty()));
        assert!(!tells_of_picture(&told, [runs("Read", "shots/pump.png")].iter()));
        assert!(!tells_of_picture(&[says("It takes a screenshot of the pump.")], std::iter::empty()));
    }

    #[test]
    fn orders_that_were_not_carried_out() {
        let asks = [says("There are two ways. Which one do you prefer?")];
        assert!(ignores_order("branch and PR. but is there another way?", &asks));
        assert!(!ignores_order("branch and PR. but is there another way?", &[runs("Bash", "git switch -c pump")]));
        assert!(!ignores_order("wrong branch. it is the other one", &asks));
        assert!(!ignores_order("the release of the pump is wrong", &asks));
    }

    #[test]
    fn checks_that_were_laid_down() {
        let plan = "# Plan\n\nEdit `pump.c` by `pump run x`.\n\n## Verification\n\n1. Run `make check -k`\n2. `uv run pump.py --all`\n3. Read `README.md`";
        let both = [runs("Bash", "make check"), runs("Bash", "uv run pump.py --all | tail"), says("Done.")];
        assert!(!skips_checks(plan, &both));
        assert!(skips_checks(plan, &[both[0].clone(), says("Done.")]));
        assert!(!skips_checks(plan, &[both[0].clone(), says("`uv run pump.py` was not run: there is no pump here.")]));
        assert!(!skips_checks("Edit `pump.c` by `pump run x`.", &[says("Done.")]));
    }
}
