//! Values that belong to one run of the work: what people gave, and the places of one machine. Each has one name.

use std::borrow::Cow;

use foldhash::HashSet;

use super::draft::Draft;
use super::place::{PROJECT, home_in, homeless};
use super::value;
use crate::model::Operand;
use cru_session::Session;
use cru_session::words::pasted::is_pasted;

/// Inputs of a workflow at most.
const MAX_INPUTS: usize = 40;
/// Bytes of people's words that are searched.
const MAX_HEARD: usize = 200_000;
/// Digits of a number that is taken for one wherever it stands; a shorter one only where versions are kept.
const LONG_NUMBER: usize = 4;

/// Segments of addresses of forges, with what follows each.
const FORGE: &[(&str, &str, &str)] = &[
    ("pull", "pr", "Number"),
    ("pulls", "pr", "Number"),
    ("merge_requests", "pr", "Number"),
    ("issues", "issue", "Number"),
    ("runs", "run", "Id"),
    ("job", "job", "Id"),
    ("jobs", "job", "Id"),
    ("commit", "commit", "Commit"),
    ("compare", "range", "Range"),
    ("tree", "branch", "Branch"),
    ("tag", "tag", "Tag"),
];

/// A value with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    /// `branch`; unique.
    pub name: String,
    /// `Branch`.
    pub ty: &'static str,
    /// What it was in the session.
    pub value: String,
    /// Whether it is too short to mean the same wherever it stands.
    short: bool,
}

/// The inputs of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Inputs {
    /// Longest values first.
    pub all: Vec<Input>,
    /// Whether commands name a home folder.
    pub names_home: bool,
    /// What the session's folder was called.
    pub project: Option<String>,
}

impl Inputs {
    /// Values that people said and commands use, the branch of the session, and places of the machine.
    pub(super) fn of(session: &Session, drafts: &[Draft<'_>]) -> Self {
        let mut found: Vec<(String, &'static str, &'static str)> = Vec::new();
        let mut heard = 0;
        let words = drafts.iter().flat_map(|draft| draft.said().map(|user| user.words.as_str()).chain(draft.task));
        for words in words {
            heard += words.len();
            if heard > MAX_HEARD {
                break;
            }
            candidates(words, &mut found);
        }
        let branch = session.meta.branch.as_deref().filter(|branch| branch.len() > 6);
        found.extend(branch.map(|branch| (branch.to_owned(), "branch", "Branch")));
        let calls = || drafts.iter().flat_map(Draft::calls).filter(|call| call.shell);
        let mut seen: HashSet<String> = HashSet::default();
        found.retain(|(value, ..)| seen.insert(value.clone()));
        found.truncate(MAX_INPUTS * 4);
        // Most values stand in no command, and that is told at once.
        let commands = calls().map(|call| call.text.as_str()).collect::<Vec<_>>().join("\n");
        let mut all: Vec<Input> = Vec::new();
        for (value, name, ty) in found {
            if memchr::memmem::find(commands.as_bytes(), value.as_bytes()).is_none() {
                continue;
            }
            let short = value.len() < LONG_NUMBER && value.bytes().all(|byte| byte.is_ascii_digit());
            let used =
                calls().any(|call| (!short || call.keeps_versions) && places(&call.text, &value).next().is_some());
            // A word with a slash may be a repository or a path; what `git` is given as one is a branch.
            let takes = |word: &String| {
                let name = word.strip_prefix("origin/").unwrap_or(word);
                *word == value
                    || name == value
                    || name.strip_suffix(value.as_str()).is_some_and(|before| before.ends_with(':'))
            };
            let is_branch = || calls().any(|call| call.branches.iter().any(takes));
            if !used || all.len() == MAX_INPUTS || (name == "branch" && !is_branch()) {
                continue;
            }
            let count = all.iter().filter(|input| input.name.split('-').next() == Some(name)).count();
            let name = if count == 0 { name.to_owned() } else { format!("{name}-{}", count + 1) };
            all.push(Input { name, ty, value, short });
        }
        all.sort_by_key(|input| std::cmp::Reverse(input.value.len()));
        let names_home = calls().any(|call| home_in(&call.text).is_some());
        let project = session.meta.project.clone().filter(|_| calls().any(|call| call.text.contains(PROJECT)));
        Self { all, names_home, project }
    }

    /// A command with names in the place of its values. `versions` says whether it keeps versions.
    pub(super) fn named<'c>(&self, command: &'c str, versions: bool) -> Cow<'c, str> {
        let mut text = Cow::Borrowed(command);
        for input in self.all.iter().filter(|input| versions || !input.short) {
            let at: Vec<usize> = places(&text, &input.value).collect();
            if at.is_empty() {
                continue;
            }
            let mut named = String::with_capacity(text.len());
            let mut from = 0;
            for at in at {
                named.push_str(&text[from..at]);
                named.push_str(&format!("<{}>", input.name));
                from = at + input.value.len();
            }
            named.push_str(&text[from..]);
            text = Cow::Owned(named);
        }
        match homeless(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(named) => Cow::Owned(named),
        }
    }

    /// Those that a command uses.
    pub(super) fn used_in(&self, command: &str, versions: bool) -> impl Iterator<Item = &Input> {
        let used = move |input: &&Input| (versions || !input.short) && places(command, &input.value).next().is_some();
        self.all.iter().filter(used)
    }

    /// Whether a value has a name.
    pub(super) fn has(&self, value: &str) -> bool {
        self.all.iter().any(|input| input.value == value)
    }
}

impl Input {
    /// As it stands in a flow line.
    pub(super) fn operand(&self) -> Operand {
        Operand { name: self.name.clone(), ty: Some(self.ty.to_owned()), ..Operand::default() }
    }
}

/// Where a value stands in a command as a word or a part of a path, and not as an option.
fn places<'t>(text: &'t str, value: &'t str) -> impl Iterator<Item = usize> + 't {
    let number = value.bytes().all(|byte| byte.is_ascii_digit());
    text.match_indices(value).map(|(at, _)| at).filter(move |&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + value.len()..].chars().next();
        let within = |c: char| c.is_alphanumeric() || matches!(c, '_' | '<' | '>');
        let joins = |c: char| within(c) || c == '-' || (number && c == '.');
        !before.is_some_and(joins) && !after.is_some_and(|c| within(c) || (number && matches!(c, '.' | '-')))
    })
}

/// The values in somebody's words, each with its name and type.
fn candidates(words: &str, found: &mut Vec<(String, &'static str, &'static str)>) {
    const EDGES: &[char] = &['"', '\'', '`', '(', ')', '[', ']', '<', '>', ',', ';', '!', '?', '*', '“', '”'];
    // A number or an id in what was pasted belongs to the run that printed it.
    let pasted = |line: &str| is_pasted(line.trim());
    let lines = words.lines().flat_map(|line| {
        let is_log = pasted(line);
        line.split(|c: char| c.is_whitespace() || EDGES.contains(&c)).map(move |word| (word, is_log))
    });
    for (word, is_log) in lines {
        let word = word.trim_end_matches(['.', ':']);
        if word.is_empty() || word.len() > 300 || !word.is_ascii() {
            continue;
        }
        if let Some((_, rest)) = word.split_once("://") {
            address(word, rest, found);
            continue;
        }
        let number = word.strip_prefix('#').filter(|rest| (1..8).contains(&rest.len()));
        if let Some(number) = number.filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit())) {
            found.push((number.to_owned(), "number", "Number"));
        } else if is_version(word) {
            let tag = word.starts_with('v');
            found.push((word.to_owned(), if tag { "tag" } else { "version" }, if tag { "Tag" } else { "Version" }));
        } else if let Some((name, ty)) = value::label(word, "git ").filter(|_| !is_log).and_then(value::named) {
            found.push((word.to_owned(), name, ty));
        } else if is_branch(word) {
            found.push((word.to_owned(), "branch", "Branch"));
        }
    }
}

/// The values of an address: repository, number, run; and the address itself.
fn address(word: &str, rest: &str, found: &mut Vec<(String, &'static str, &'static str)>) {
    if word.len() > 15 {
        found.push((word.to_owned(), "url", "URL"));
    }
    let path = rest.split(['?', '#']).next().unwrap_or(rest);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let mut forge = false;
    for pair in parts.windows(2).skip(1) {
        let [segment, value] = pair else { continue };
        if let Some((_, name, ty)) = FORGE.iter().find(|(known, ..)| known == segment) {
            let numbers = matches!(*ty, "Number" | "Id");
            // A plain word (`main`) means the same in every run.
            let plain = value.bytes().all(|byte| byte.is_ascii_alphabetic());
            let fits = if numbers { value.bytes().all(|byte| byte.is_ascii_digit()) } else { !plain };
            if fits {
                found.push(((*value).to_owned(), name, ty));
                forge = true;
            }
        }
    }
    if forge && let [_, owner, name, _, ..] = parts.as_slice() {
        found.push((format!("{owner}/{name}"), "repo", "Repo"));
    }
}

/// `v1.2.3`, `4.41.0-next.1`.
fn is_version(word: &str) -> bool {
    let bare = word.strip_prefix('v').unwrap_or(word);
    let numbers = bare.split(['-', '+']).next().unwrap_or("");
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a word can only be the name of a branch: folders of letters and a dash, and no file.
fn is_branch(word: &str) -> bool {
    let word = word.strip_prefix("origin/").unwrap_or(word);
    let (Some((_, name)), true) = (word.rsplit_once('/'), word.len() > 8) else { return false };
    name.contains('-')
        && !name.contains('.')
        && !word.starts_with(['/', '.', '~', '@', '-'])
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &str) -> Vec<String> {
        let mut all = Vec::new();
        candidates(words, &mut all);
        all.into_iter().map(|(value, name, _)| format!("{name}={value}")).collect()
    }

    #[test]
    fn values_of_words() {
        assert_eq!(
            found("see https://github.com/acme/pump/actions/runs/27748348602/job/82092246693?pr=4, ok"),
            [
                "url=https://github.com/acme/pump/actions/runs/27748348602/job/82092246693",
                "run=27748348602",
                "job=82092246693",
                "repo=acme/pump"
            ]
        );
        assert_eq!(
            found("merge ann/red-hose, then tag v1.4.0-rc.1 for #42."),
            ["branch=ann/red-hose", "tag=v1.4.0-rc.1", "number=42"]
        );
        assert_eq!(found("see src/red-hose.rs and and/or x"), [""; 0]);
    }

    fn inputs(values: &[(&str, &str)]) -> Inputs {
        let input = |(value, name): &(&str, &str)| Input {
            name: (*name).into(),
            ty: "X",
            value: (*value).into(),
            short: value.len() < 4,
        };
        Inputs { all: values.iter().map(input).collect(), ..Inputs::default() }
    }

    #[test]
    fn values_get_their_names_as_words() {
        let inputs = inputs(&[("ann/red-hose", "branch"), ("42", "number")]);
        let is = |command: &str, expected: &str| assert_eq!(inputs.named(command, true), expected);
        is("git merge origin/ann/red-hose && git push", "git merge origin/<branch> && git push");
        is("gh pr view 42 --json x | head -42", "gh pr view <number> --json x | head -42");
        is("cp /home/ann/a /Users/bob.b/c", "cp <home>/a <home>/c");
        is("cat ann/red-hoses 1.42", "cat ann/red-hoses 1.42");
        assert_eq!(inputs.named("head 42", false), "head 42");
    }
}
