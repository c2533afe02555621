//! What a session may be called, gathered as its events come. Which of it is the title is decided at the end, by what was
//! written, committed and concluded.

use std::collections::HashMap;

use cru_action::{Action, ToolKind};
use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, sanitise};
use serde_json::Value;

use super::changes::CallChanges;
use super::commits::MadeCommit;
use super::phase_rule::Verdict;
use crate::event::{Call, PromptOrigin, TitleRank};
use crate::words::title::{self, Title};
use crate::words::{DoneWords, sentence, shorten, summary};

/// Requests whose sentences are looked at.
const REQUESTS: usize = 12;

/// Titles of one kind that are remembered.
const MOST: usize = 64;

/// How often one and the same prompt comes before it is taken for an automatic one.
const REPEATED: u32 = 3;

/// Bytes of the last words that are kept.
const REPLY: usize = 32 * 1024;

/// Programs that open and show pull requests and issues, with the words that name what they do.
const FORGES: &[(&str, &[&str])] = &[("gh", &["pr", "issue"]), ("glab", &["mr", "issue"]), ("hub", &["pr", "issue"])];

/// The sources of a title.
#[derive(Debug, Default)]
pub(super) struct Naming {
    /// What was written and concluded.
    pub(super) done: DoneWords,
    given: [Option<String>; 3],
    plans: Vec<String>,
    /// Titles of pull requests and issues that were opened.
    opened: Vec<String>,
    /// Calls that show a pull request or issue, with its number.
    asking: HashMap<String, String>,
    /// What they showed.
    shown: Vec<(String, String)>,
    commits: Vec<String>,
    ticked: Vec<String>,
    /// Whether the session began with the text of a playbook and not with words of a person.
    playbook: bool,
    document: Option<String>,
    requests: Vec<(String, Vec<Title>)>,
    counts: HashMap<String, u32>,
    /// Numbers that people named.
    numbers: Vec<String>,
    command: Option<String>,
    phase: Option<String>,
    reply: String,
}

impl Naming {
    /// A title that the host tells; the last of each rank counts.
    pub(super) fn given(&mut self, rank: TitleRank, text: &str) {
        if let Some(text) = title::given(text) {
            self.given[rank as usize] = Some(text);
        }
    }

    /// A phase that the record names.
    pub(super) fn phase(&mut self, title: &str) {
        self.phase.get_or_insert_with(|| title.to_owned());
    }

    /// A plan that a person approved.
    pub(super) fn plan(&mut self, text: &str) {
        remember(&mut self.plans, title::of_document(text));
    }

    /// Words of a person, or a task.
    pub(super) fn said(&mut self, words: &str, origin: &PromptOrigin<'_>, verdict: Verdict) {
        self.done.add(&self.reply);
        if verdict == Verdict::Aside {
            return;
        }
        if self.requests.is_empty() && self.command.is_none() {
            let given = words.split_once(char::is_whitespace).map_or("", |(_, given)| given);
            let bare = *origin == PromptOrigin::Command && !title::tells(given);
            self.playbook = bare || title::is_empty_form(words);
        }
        self.number(words);
        if *origin == PromptOrigin::Command {
            self.command.get_or_insert_with(|| title::of_command(words));
            return;
        }
        let key = shorten::at_word(&fold_whitespace(&words[..floor_char_boundary(words, 2_000)]), 300);
        let count = self.counts.entry(key.clone()).or_default();
        *count += 1;
        if *count == 1 && self.requests.len() < REQUESTS {
            remember(&mut self.plans, title::of_plan(words));
            self.requests.push((key, title::all_of(words)));
        }
    }

    /// Numbers by which a person names an issue or pull request.
    fn number(&mut self, words: &str) {
        let seen = &words[..floor_char_boundary(words, 4_000)];
        let numbers = seen.split(|c: char| !c.is_ascii_digit()).filter(|part| (1..=9).contains(&part.len()));
        let room = MOST.saturating_sub(self.numbers.len());
        self.numbers.extend(numbers.take(room).map(str::to_owned));
    }

    /// What the agent said; its last words before the next request are what it concludes.
    pub(super) fn reply(&mut self, text: &str) {
        let text = &text[..floor_char_boundary(text, REPLY)];
        text.clone_into(&mut self.reply);
    }

    /// A command that opens or shows a pull request or an issue.
    pub(super) fn call(&mut self, call: &Call<'_>) {
        let names = |forge: &&(&str, &[&str])| memchr::memmem::find(call.args.as_bytes(), forge.0.as_bytes()).is_some();
        if ToolKind::of(&call.tool) != ToolKind::Shell || !FORGES.iter().any(|forge| names(&forge)) {
            return;
        }
        for command in &Action::of(&call.tool, &call.args).commands {
            let words: Vec<&str> = command.words.iter().map(AsRef::as_ref).collect();
            let Some([kind, verb, rest @ ..]) = words.get(1..) else { continue };
            let known = |forge: &&(&str, &[&str])| forge.0 == command.program && forge.1.contains(kind);
            if !FORGES.iter().any(|forge| known(&forge)) {
                continue;
            }
            match *verb {
                "create" | "edit" => remember(&mut self.opened, title_option(rest).and_then(title::of_commit)),
                "view" if self.asking.len() < MOST => {
                    let place = rest.iter().find(|word| !word.starts_with('-')).copied().unwrap_or("");
                    let number = place.rsplit(['/', '#']).next().unwrap_or("").to_owned();
                    self.asking.insert(call.id.to_string(), number);
                }
                _ => {}
            }
        }
    }

    /// The answer to a call that shows a pull request or an issue.
    pub(super) fn answer(&mut self, call: &str, output: &str) {
        let Some(number) = self.asking.remove(call) else { return };
        if let Some(title) = shown_title(output).and_then(|title| title::of_commit(&title)) {
            self.shown.push((number, title));
        }
    }

    /// What a call changed.
    pub(super) fn changed(&mut self, changes: &CallChanges) {
        for line in &changes.ticked {
            remember(&mut self.ticked, Some(line.clone()));
        }
        if self.document.is_none() {
            self.document.clone_from(&changes.document);
        }
    }

    /// The commits that stand.
    pub(super) fn committed<'c>(&mut self, commits: impl IntoIterator<Item = &'c MadeCommit>) {
        for commit in commits {
            remember(&mut self.commits, title::of_commit(commit.subject()));
        }
    }

    /// The agent's last words.
    pub(super) fn last_reply(&self) -> &str {
        &self.reply
    }

    /// The title; `task` is what a sub-agent was asked. `None` where the record has no words for one.
    pub(super) fn title(mut self, task: Option<&str>) -> Option<String> {
        self.done.add(&self.reply);
        let [summary, host, custom] = std::mem::take(&mut self.given);
        let task = task.map(|task| fold_whitespace(&sanitise(task))).filter(|task| !task.is_empty());
        // A person's own title needs no proof, nor what a sub-agent was asked in a few words.
        if let Some(named) = custom.or_else(|| task.clone().filter(|task| title::tells(task))) {
            return Some(named);
        }
        let requests = self.requests();
        let commit = self.commit().filter(|title| self.done.confirm(title));
        for title in self.commits.iter().chain(&self.opened) {
            self.done.add(title);
        }
        let shown = self.shown.iter().filter(|(number, _)| self.numbers.contains(number)).map(|(_, title)| title);
        let document = self.document.as_ref().filter(|_| self.playbook);
        let said = requests.iter().filter(|it| it.tells && !title::is_code(&it.text)).map(|it| &it.text);
        let candidates = self.plans.iter().chain(self.opened.last()).chain(shown).chain(&commit);
        let candidates = candidates.chain(self.ticked.first()).chain(document).chain(&host).chain(&summary);
        let candidates = candidates.chain(said).map(String::as_str);
        let best = title::choose(candidates, &self.done).map(str::to_owned);
        let telling = || requests.iter().find(|it| it.tells).map(|it| it.text.clone());
        // What was concluded names a session of which nothing else does.
        let closing = || closing(&self.reply);
        let first = || requests.first().map(|it| it.text.clone());
        let named = best.or(host).or(summary).or_else(telling).or(task);
        named.or(self.command).or(self.phase).or_else(closing).or_else(first)
    }

    /// The titles of all requests that are not automatic, those of the first one first.
    fn requests(&self) -> Vec<Title> {
        let automatic = |key: &str| self.counts.get(key).is_some_and(|count| *count >= REPEATED);
        let own = self.requests.iter().filter(|(key, _)| !automatic(key));
        let own: Vec<Title> = own.flat_map(|(_, titles)| titles.iter().cloned()).collect();
        if own.is_empty() { self.requests.iter().flat_map(|(_, titles)| titles.iter().cloned()).collect() } else { own }
    }

    /// The commit that says most of what was done; of several the last.
    fn commit(&self) -> Option<String> {
        self.commits.iter().max_by_key(|title| self.done.shared(title)).cloned()
    }
}

/// The closing sentence as a title.
fn closing(reply: &str) -> Option<String> {
    let line = summary(reply, 240);
    let first = sentence::sentences(&line).next()?;
    title::of(first).filter(|title| title.tells).map(Title::into_text)
}

/// What stands behind `--title`.
fn title_option<'w>(words: &[&'w str]) -> Option<&'w str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some(("--title", title)) => return Some(title),
            _ if matches!(*word, "--title" | "-t") => return words.next().copied(),
            _ => {}
        }
    }
    None
}

/// The title that a forge's program shows: in a line of its own, or as a member of an object.
fn shown_title(output: &str) -> Option<String> {
    let output = output.trim_start();
    if output.starts_with('{') {
        let value: Value = serde_json::from_str(output).ok()?;
        return value.get("title")?.as_str().map(str::to_owned);
    }
    let line = output.lines().take(12).find_map(|line| line.strip_prefix("title:"))?;
    Some(line.trim().to_owned())
}

fn remember(list: &mut Vec<String>, title: Option<String>) {
    if let Some(title) = title.filter(|title| list.len() < MOST && !list.contains(title)) {
        list.push(title);
    }
}
