//! The commands of a step: which of them somebody would run again, which were in vain, and how each is shown.

use std::collections::BTreeMap;

use cru_action::{Action, Class};
use foldhash::{HashMap, HashSet};

use super::body::Said;
use super::data::Data;
use super::deed::Deed;
use super::draft::Draft;
use super::kind::DeedKind;
use super::{clean, file, outcome};
use crate::model::{Command, Part, Remark, RemarkKind, Script};
use cru_base::Span;
use cru_base::text::truncate;

/// Characters of a command on a line.
const MAX_COMMAND: usize = 240;
/// Characters of a command that stands alone.
const MAX_LONG: usize = 600;
/// Commands of a step.
const MAX_COMMANDS: usize = 12;
/// Among them those that only look at what no file holds.
const MAX_LOOKS: usize = 4;
/// Lines of a command that is shown as a script.
const MAX_SCRIPT_LINES: usize = 14;

/// The commands worth repeating: what ended well and did more than look, each once, in order.
pub(super) fn commands(deeds: &[Deed<'_>], data: &Data) -> Vec<Part> {
    let mut order: Vec<&Deed<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::default();
    let worked = |deed: &Deed<'_>| (deed.succeeded() && !did_nothing(deed)) || was_resolved(deeds, deed);
    let telling = |deed: &&Deed<'_>| {
        deed.kind != DeedKind::Edit && (deed.tells() || looks_outside(deed)) && !deed.core.is_empty() && worked(deed)
    };
    // Where what was not committed yet begins.
    let mut pending = 0;
    for deed in deeds.iter().filter(telling) {
        if file::restores_all(&deed.core) {
            // What stood before it was undone.
            order.truncate(pending);
            places.retain(|_, at| *at < pending);
            continue;
        }
        if let Some(&at) = places.get(deed.core.as_str()) {
            order[at] = deed;
        } else {
            places.insert(&deed.core, order.len());
            order.push(deed);
        }
        if deed.kind == DeedKind::Change && deed.core.contains("git commit") {
            pending = order.len();
        }
    }
    // Of checks of one kind the last tells most; of many commands the more telling kinds stay.
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, deed) in order.iter().enumerate().filter(|(_, deed)| deed.kind == DeedKind::Check) {
        last.insert(deed.key(), at);
    }
    let keep: HashSet<usize> = last.values().copied().collect();
    let mut places: Vec<usize> =
        (0..order.len()).filter(|at| order[*at].kind != DeedKind::Check || keep.contains(at)).collect();
    let total = places.len();
    let mut looks = 0;
    places.retain(|&at| {
        looks += usize::from(order[at].kind == DeedKind::Look);
        order[at].kind != DeedKind::Look || looks <= MAX_LOOKS
    });
    // Code that was typed once to find something out, and does not fit a line, cannot be run again as it is shown.
    let inline = |deed: &Deed<'_>| {
        let cut = deed.core.lines().next().is_some_and(|line| line.chars().count() > MAX_COMMAND);
        cut && deed.kind == DeedKind::Run
            && [" -e ", " -c ", " --eval "].iter().any(|option| deed.core.contains(option))
    };
    if places.iter().any(|&at| !inline(order[at])) {
        places.retain(|&at| !inline(order[at]));
    }
    // Of runs and looks the last ones: what came before them was trying.
    places.sort_by_key(|&at| {
        let tries = matches!(order[at].kind, DeedKind::Run | DeedKind::Look);
        (std::cmp::Reverse(order[at].kind), if tries { order.len() - at } else { at })
    });
    places.truncate(MAX_COMMANDS);
    places.sort_unstable();
    let shown = places.len();
    let mut parts: Vec<Part> = places.into_iter().filter_map(|at| command(order[at], data)).collect();
    if total > shown {
        let text = format!("and {} in the session", cru_base::text::plural((total - shown) as u64, "more command"));
        parts.push(Part::Remark(Remark { kind: RemarkKind::Plain, text, span: Span::default() }));
    }
    parts
}

/// Whether a command said that there was nothing to do.
fn did_nothing(deed: &Deed<'_>) -> bool {
    const NOTHING: &[&str] =
        &["Already up to date", "Already up-to-date", "Everything up-to-date", "nothing to commit"];
    let result = deed.step.result.as_deref().unwrap_or("");
    NOTHING.iter().any(|told| result.trim_start().starts_with(told)) && deed.core.contains("git ")
}

/// Whether it looks at what no file of the project holds: an issue, a log of a build, an address.
fn looks_outside(deed: &Deed<'_>) -> bool {
    let asks = |command: &cru_action::Command<'_>| command.reads_only && command.class == Class::Network;
    deed.shell && deed.kind == DeedKind::Look && Action::of("Bash", &deed.core).commands.first().is_some_and(asks)
}

/// Whether a merge stopped at conflicts that were resolved after it: then it is the way, and no dead end.
fn was_resolved(deeds: &[Deed<'_>], deed: &Deed<'_>) -> bool {
    let conflicts = |deed: &Deed<'_>| {
        let result = deed.step.result.as_deref().unwrap_or("");
        ["git merge", "git rebase", "git pull", "git cherry-pick", "git stash pop"]
            .iter()
            .any(|verb| deed.core.contains(verb))
            && (result.contains("CONFLICT")
                || result.contains("Automatic merge failed")
                || result.contains("could not apply"))
    };
    let goes_on = |later: &&Deed<'_>| {
        later.succeeded()
            && (later.core.contains("git commit")
                || later.core.contains("--continue")
                || later.core.contains("git add"))
    };
    deed.shell
        && deed.failed()
        && conflicts(deed)
        && deeds.iter().skip_while(|other| !std::ptr::eq(*other, deed)).skip(1).any(|later| goes_on(&later))
}

/// A command of at most `max` characters where its longest quoted texts can be cut to that: what follows a long message is
/// as much of the command as what stands before it.
fn within(command: &str, max: usize) -> String {
    const KEPT: usize = 40;
    let mut command = command.to_owned();
    for _ in 0..4 {
        let over = command.chars().count().saturating_sub(max);
        if over == 0 {
            break;
        }
        let quotes: Vec<usize> = command.match_indices('"').map(|(at, _)| at + 1).collect();
        let pairs = quotes.chunks_exact(2).map(|pair| pair[0]..pair[1] - 1);
        let Some(longest) = pairs.max_by_key(std::ops::Range::len).filter(|it| it.len() > KEPT) else { break };
        let text = &command[longest.clone()];
        let kept = text.chars().count().saturating_sub(over + 1).max(KEPT);
        let cut = truncate(text, kept).into_owned();
        if cut.len() == text.len() {
            break;
        }
        command.replace_range(longest, &cut);
    }
    command
}

/// `None` where nothing readable is left of it.
fn command(deed: &Deed<'_>, data: &Data) -> Option<Part> {
    let core = data.named(&cru_base::text::sanitise(&deed.core));
    let lines: Vec<&str> = core.lines().map(str::trim_end).collect();
    // What does not fit a line is shown whole, so that it can be run.
    let long = lines.len() == 1
        && (MAX_COMMAND + 1..=MAX_LONG).contains(&lines[0].chars().count())
        && deed.kind != DeedKind::Check;
    if long || (lines.len() > 1 && lines.len() <= MAX_SCRIPT_LINES) {
        return Some(Part::Script(Script { text: lines.join("\n"), span: Span::default() }));
    }
    let first = lines.first().copied().unwrap_or("");
    let mut text = truncate(&within(&clean(first), MAX_COMMAND), MAX_COMMAND).into_owned();
    if text.is_empty() {
        return None;
    }
    if lines.len() > 1 && !text.ends_with('…') {
        text.push_str(" …");
    }
    let note = match deed.kind {
        _ if deed.failed() => Some("stops at conflicts: resolve them and go on".to_owned()),
        DeedKind::Check => Some(outcome::verdict(deed)),
        _ => None,
    };
    Some(Part::Command(Command { command: text, note, span: Span::default() }))
}

/// Commands that failed and did not end well later in the step, with what they said.
/// That which is told as trouble already, or was refused by a person, is left out.
pub(super) fn failures<'a>(draft: &'a Draft<'_>, said: &Said) -> Vec<(&'a Deed<'a>, String)> {
    let deeds = &draft.deeds;
    let told: HashSet<&str> =
        draft.errors.iter().flat_map(|error| &error.steps).filter_map(|link| link.block.as_deref()).collect();
    let fine: HashSet<&str> = deeds.iter().filter(|deed| deed.succeeded()).map(Deed::key).collect();
    let mut seen = HashSet::default();
    let mut ends: Vec<(&Deed<'_>, String)> = deeds
        .iter()
        .rev()
        .filter(|deed| deed.shell && deed.tells() && deed.failed() && !was_resolved(deeds, deed))
        // What nobody saw the end of is not known to have failed.
        .filter(|deed| deed.step.status != cru_session::StepStatus::NoResult)
        .filter(|deed| !deed.step.id.as_deref().is_some_and(|id| told.contains(id)))
        .filter(|deed| !deed.step.result.as_deref().is_some_and(|result| said.has(result)))
        .filter(|deed| !fine.contains(deed.key()) && seen.insert(deed.key()))
        .map(|deed| {
            let words = |text: &String| text.chars().filter(|c| c.is_alphanumeric()).count() * 2 > text.chars().count();
            let result = deed.step.result.as_deref().map(clean).filter(words);
            (deed, result.unwrap_or_else(|| "failed".into()))
        })
        .take(3)
        .collect();
    ends.reverse();
    ends
}

#[cfg(test)]
mod tests {
    use super::super::deed::deed;
    use super::*;
    use cru_session::{Step, StepStatus};

    fn shown(steps: &[(&str, &str, bool)]) -> Vec<String> {
        let step = |(command, result, fine): &(&str, &str, bool)| Step {
            tool: "Bash".into(),
            args: (*command).into(),
            result: Some((*result).into()),
            status: if *fine { StepStatus::Complete } else { StepStatus::Failed },
            ..Step::default()
        };
        let steps: Vec<Step> = steps.iter().map(step).collect();
        let deeds: Vec<Deed<'_>> = steps.iter().map(|step| deed(step, None)).collect();
        let text = |part: Part| match part {
            Part::Command(it) => it.command + &it.note.map_or(String::new(), |note| format!(" — {note}")),
            Part::Script(it) => it.text,
            Part::Remark(it) => it.text,
            _ => String::new(),
        };
        commands(&deeds, &Data::default()).into_iter().map(text).collect()
    }

    #[test]
    fn what_did_nothing_or_was_undone_is_not_shown() {
        assert_eq!(
            shown(&[
                ("git merge main", "Already up to date.", true),
                ("git commit -am 'Add the pump'", "[main 1a2b3c4]", true),
                ("./move --all", "moved", true),
                ("git checkout -- .", "", true),
                ("./move --one", "moved", true),
            ]),
            ["git commit -am \"Add the pump\"", "./move --one"]
        );
    }

    #[test]
    fn a_merge_that_was_resolved_is_the_way() {
        assert_eq!(
            shown(&[
                ("git merge origin/main", "CONFLICT (content): Merge conflict in pump.c", false),
                ("git add pump.c && git commit -m 'Merge'", "[main 1a2b3c4]", true),
            ]),
            [
                "git merge origin/main — stops at conflicts: resolve them and go on",
                "git add pump.c && git commit -m \"Merge\"",
            ]
        );
        let alone = [("git merge origin/main", "CONFLICT (content): Merge conflict in pump.c", false)];
        assert_eq!(shown(&alone), [""; 0]);
    }

    #[test]
    fn what_no_file_holds_is_looked_at_again() {
        let looks: Vec<(String, &str, bool)> =
            (0..6).map(|number| (format!("gh run view {number} --log"), "failed: pump", true)).collect();
        let mut steps: Vec<(&str, &str, bool)> =
            looks.iter().map(|(run, said, fine)| (run.as_str(), *said, *fine)).collect();
        steps.push(("cat pump.log", "dry", true));
        assert_eq!(
            shown(&steps),
            [
                "gh run view 0 --log",
                "gh run view 1 --log",
                "gh run view 2 --log",
                "gh run view 3 --log",
                "and 2 more commands in the session",
            ]
        );
    }

    #[test]
    fn a_long_message_is_cut_before_what_follows_it() {
        let message = "word ".repeat(80);
        let command = format!("git add pump.c && git commit -m \"{message}\" && git push");
        let short = within(&command, MAX_COMMAND);
        assert!(short.chars().count() <= MAX_COMMAND && short.ends_with("…\" && git push"), "{short}");
        assert_eq!(within("git push", 4), "git push");
        assert_eq!(within(&"x".repeat(300), MAX_COMMAND), "x".repeat(300));
    }
}
