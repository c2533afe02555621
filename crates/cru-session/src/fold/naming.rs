//! What a session may be called and what was asked in it, gathered as its events come.
//!
//! A title is one that somebody gave, else the words of the first request that names something. What was only read, and what
//! the agent said, names nothing.

use cru_base::lines::floor_char_boundary;
use cru_base::text::{fold_whitespace, lowered, sanitise};

use super::commits::MadeCommit;
use super::phase_rule::PromptEffect;
use crate::event::{PromptOrigin, TitleRank};
use crate::words::shorten;
use crate::words::title::{self, Title};

/// How often one and the same prompt comes before it is taken for an automatic one.
const REPEATED: u32 = 3;

/// Bytes of a request, and of the agent's last words, that are kept.
const SEEN: usize = 16 * 1024;

/// The sources of a title, and what was asked.
#[derive(Debug, Default)]
pub(super) struct Naming {
    given: [Option<String>; 3],
    requests: Vec<Request>,
    /// How many requests there were, each in other words.
    count: usize,
    commits: Vec<String>,
    phase: Option<String>,
    reply: String,
}

/// A request as it was said.
#[derive(Debug)]
struct Request {
    /// By which the same words are known again.
    key: String,
    words: String,
    title: Option<Title>,
    times: u32,
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

    /// Words of a person, or a task.
    pub(super) fn said(&mut self, words: &str, origin: &PromptOrigin<'_>, effect: PromptEffect) {
        if effect == PromptEffect::Aside || words.is_empty() {
            return;
        }
        let key = shorten::at_word(&fold_whitespace(&words[..floor_char_boundary(words, 2_000)]), 300);
        if let Some(known) = self.requests.iter_mut().find(|it| it.key == key) {
            // Sent again, as after an error of the model service: no other request.
            known.times += 1;
            return;
        }
        self.count += 1;
        // Requests that are kept; of the rest it is known how many there were.
        if self.requests.len() < 12 {
            let title = if *origin == PromptOrigin::Command { title::of_playbook(words) } else { title::of(words) };
            let words = words[..floor_char_boundary(words, SEEN)].to_owned();
            self.requests.push(Request { key, words, title, times: 1 });
        }
    }

    /// What the agent said; its last words before the next request are what it concludes.
    pub(super) fn reply(&mut self, text: &str) {
        text[..floor_char_boundary(text, SEEN)].clone_into(&mut self.reply);
    }

    /// The commits that stand.
    pub(super) fn committed<'c>(&mut self, commits: impl IntoIterator<Item = &'c MadeCommit>) {
        self.commits = commits.into_iter().take(2).map(|commit| commit.subject().to_owned()).collect();
    }

    /// The agent's last words.
    pub(super) fn last_reply(&self) -> &str {
        &self.reply
    }

    /// The words of the first request that names something, else of the first one, and how many more there were.
    pub(super) fn asked(&self) -> (Option<&str>, usize) {
        (self.first().map(|it| it.words.as_str()), self.count.saturating_sub(1))
    }

    /// The request that says most of what the session is about by its place alone: the first that names something and does
    /// not come again and again, else the first one.
    fn first(&self) -> Option<&Request> {
        let own = || self.requests.iter().filter(|it| it.times < REPEATED);
        let telling =
            own().find(|it| it.title.as_ref().is_some_and(|title| title.tells && !title::is_code(&title.text)));
        telling.or_else(|| own().next()).or_else(|| self.requests.first())
    }

    /// The title; `task` is what a sub-agent was asked. `None` where the record has no words for one.
    pub(super) fn title(mut self, task: Option<&str>) -> Option<String> {
        let [summary, host, custom] = std::mem::take(&mut self.given);
        let task = task.map(|task| fold_whitespace(&sanitise(task))).filter(|task| !task.is_empty());
        let own = |title: &String| !self.is_copy(title);
        let generated = host.filter(own).or_else(|| summary.filter(own));
        let asked = self.first().and_then(|it| it.title.clone());
        let said = asked.as_ref().filter(|title| title.tells).map(|title| title.text.clone());
        let named = custom.or_else(|| task.clone().filter(|task| title::tells(task))).or(generated);
        let named = named.or_else(|| self.only_commit()).or(said).or(task).or(self.phase);
        named.or_else(|| asked.map(Title::into_text))
    }

    /// The subject of the only commit of a session with one request.
    fn only_commit(&self) -> Option<String> {
        match self.commits.as_slice() {
            [subject] if self.count == 1 => title::of_commit(subject),
            _ => None,
        }
    }

    /// Whether a generated title only repeats the beginning of a request.
    fn is_copy(&self, title: &str) -> bool {
        let plain = |text: &str| {
            let words = lowered(text);
            let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        };
        let title = plain(title);
        self.requests.iter().any(|it| plain(&it.key).starts_with(&title))
    }
}
