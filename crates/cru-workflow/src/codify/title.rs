//! Titles of steps that no words name: from what was done.

use super::call::{Call, CallKind};
use cru_action::{Action, Command, ToolKind};
use cru_base::list::distinct;
use cru_base::text::{fold_whitespace, plural, slug};
use cru_session::words::list::STOP;
use cru_session::words::shorten::{at_word, file_name, without_queries};

/// Characters of a title at most.
pub(super) const MAX_TITLE: usize = 64;

/// Somebody's own title, shortened at most: on one line, without the mark it ends with.
pub(super) fn given(text: &str) -> String {
    let line = fold_whitespace(&without_queries(text));
    at_word(line.trim_end_matches(['.', ',', ':', ';', '!', ' ']), MAX_TITLE)
}

/// Two to four words of a title as a name: `token-store`.
pub(crate) fn short_name(title: &str) -> String {
    let told = |word: &&str| !STOP.has(word);
    slug(&title.split(' ').filter(told).collect::<Vec<_>>().join(" "), 4)
}

/// Whether one commit took up all that was changed: the message of an early one says nothing of what came later.
pub(super) fn is_of_one_commit(calls: &[&Call<'_>]) -> bool {
    let commits = |call: &&&Call<'_>| call.succeeded() && call.commits;
    // One that takes the place of the one before it is no second one.
    let made = calls.iter().filter(commits).filter(|call| !call.amends).count();
    let last = calls.iter().rposition(|call| commits(&call));
    let changes = |call: &&Call<'_>| call.kind == CallKind::Edit && call.succeeded();
    made <= 1 && last.is_none_or(|last| !calls[last + 1..].iter().any(changes))
}

/// The message of the last commit or pull request, its conventional prefix off.
pub(super) fn commit(calls: &[&Call<'_>]) -> Option<String> {
    calls.iter().rev().filter(|call| call.succeeded() && (call.commits || call.publishes)).find_map(|call| {
        let action = Action::of(if call.shell { &call.step.tool } else { "Bash" }, &call.text);
        let message = action.commands.iter().rev().find_map(message)?;
        if message.starts_with("fixup!") || message.starts_with("squash!") {
            return None;
        }
        let text = match message.split_once(": ") {
            Some((prefix, rest)) if is_conventional(prefix) => rest,
            _ => message.as_str(),
        };
        (text.split_whitespace().count() >= 2).then(|| given(text))
    })
}

/// The first line of what a command says of the work: the value of `-m`, `--message`, `--title`, or its here-document.
fn message(command: &Command<'_>) -> Option<String> {
    if !command.keeps_versions() {
        return None;
    }
    let words: Vec<&str> = command.words.iter().map(AsRef::as_ref).collect();
    let value = words.iter().enumerate().find_map(|(at, word)| {
        let long = ["--message=", "--title="].iter().find_map(|option| word.strip_prefix(option));
        let short = word.starts_with('-') && !word.starts_with("--") && word.ends_with('m') && word.len() < 5;
        let named = short || matches!(*word, "--message" | "--title" | "-t");
        long.or_else(|| words.get(at + 1).copied().filter(|_| named))
    })?;
    // `-m "$(cat <<'EOF' …)"`: the document is the message.
    let document = value.contains("<<");
    let mut lines = value.lines().skip(usize::from(document)).map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with("$("))?;
    Some(line.to_owned())
}

fn is_conventional(prefix: &str) -> bool {
    let word = prefix.split(['(', '!']).next().unwrap_or("");
    (2..=12).contains(&word.len()) && word.chars().all(|c| c.is_ascii_lowercase())
}

/// `a`, `a and b`, `a and 3 others`.
fn list(verb: &str, names: &[&str], others: &str) -> Option<String> {
    let text = match names {
        [] => return None,
        [one] => format!("{verb} {one}"),
        [one, two] => format!("{verb} {one} and {two}"),
        [one, rest @ ..] => format!("{verb} {one} and {} other {others}", rest.len()),
    };
    Some(cru_base::text::truncate(&text, MAX_TITLE).into_owned())
}

/// A title from the files that were written.
pub(super) fn from_files(calls: &[&Call<'_>]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut created = true;
    for call in calls.iter().filter(|call| call.succeeded()) {
        for path in &call.writes {
            if !seen.contains(&path.as_ref()) && seen.len() < 200 {
                seen.push(path);
                names.push(file_name(path));
                created &= call.step.writes.iter().any(|file| file.created);
            }
        }
    }
    list(if created { "Write" } else { "Change" }, &names, "files")
}

/// A title from what was looked at: files, else the commands that asked.
pub(super) fn from_looks(calls: &[&Call<'_>]) -> Option<String> {
    let names = distinct(calls.iter().flat_map(|call| &call.reads).map(|path| file_name(path)), 200);
    let looks = calls.iter().filter(|call| call.shell && !call.acts());
    let asked = distinct(looks.flat_map(|call| &call.programs).map(String::as_str), 20);
    let outside = calls.iter().filter(|call| call.asks_elsewhere).count() * 2 > calls.len();
    if outside { list("Look with", &asked, "commands") } else { list("Read", &names, "files") }
        .or_else(|| list("Look with", &asked, "commands"))
        .or_else(|| {
            let started = calls.iter().filter(|call| call.tool == ToolKind::Subagent).count() as u64;
            match started {
                0 => None,
                1 => Some("Ask a sub-agent".to_owned()),
                many => Some(format!("Ask {}", plural(many, "sub-agent"))),
            }
        })
        .or_else(|| {
            let tools = calls.iter().find(|call| !call.text.is_empty() && call.tool != ToolKind::Plan);
            Some(given(&format!("Look with {}", tools?.step.tool)))
        })
        .or_else(|| {
            let plan = calls.iter().find(|call| call.tool == ToolKind::Plan)?;
            let named = fold_whitespace(plan.step.full_args());
            Some(if named.is_empty() {
                "Propose a plan".to_owned()
            } else {
                given(&format!("Propose a plan: {named}"))
            })
        })
}

/// A title from the checks that were run.
pub(super) fn from_checks(calls: &[&Call<'_>]) -> Option<String> {
    let names = distinct(calls.iter().flat_map(|call| &call.checks).map(|check| check.key.as_str()), 20);
    list("Check with", &names, "commands")
}

/// A title from what was handed over: the message of the commit, else what was done with it.
pub(super) fn from_commits(calls: &[&Call<'_>]) -> Option<String> {
    let made = || calls.iter().filter(|call| call.succeeded());
    let (commits, pushes) = (made().any(|call| call.commits), made().any(|call| call.pushes));
    let published = made().filter(|call| call.publishes && !call.pushes).flat_map(|call| &call.programs);
    let programs = distinct(published.map(String::as_str), usize::MAX);
    match (commits, pushes, commit(calls)) {
        (true, _, Some(message)) => Some(given(&format!("Commit: {message}"))),
        (true, true, None) => Some("Commit and push".to_owned()),
        (true, false, None) => Some("Commit".to_owned()),
        (false, true, _) => Some("Push".to_owned()),
        (false, false, _) => list("Publish with", &programs, "commands"),
    }
}

/// A title from the most telling command.
pub(super) fn from_commands(calls: &[&Call<'_>]) -> Option<String> {
    let best = calls.iter().filter(|call| call.acts() && !call.text.is_empty());
    let best = best.rev().max_by_key(|call| (call.succeeded(), call.kind))?;
    let verb = match best.kind {
        _ if !best.succeeded() => "Try",
        CallKind::Check => "Check with",
        _ => "Run",
    };
    let names: Vec<&str> = best.programs.iter().map(String::as_str).collect();
    if names.is_empty() {
        return Some(given(&format!("{verb} {}", best.step.tool))).filter(|_| !best.shell);
    }
    list(verb, &names, "commands")
}
