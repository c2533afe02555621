//! Drafts of steps: which parts of the session each is made of, and what it is called.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use rayon::prelude::*;

use super::chapter::{self, Chapter};
use super::data::{self, Data, Names, Touched};
use super::deed::{Deed, deeds};
use super::{Options, clean, request, title};
use crate::heading::{is_agent, is_channel};
use crate::model::{Operand, Step};
use cru_graph::{FinalPath, plan, turn};
use cru_session::words::pasted;
use cru_session::words::title::{self as words_title, Title};
use cru_session::{Agent, Decision, Error, Item, Link, Phase, Session, Subagent, User};

/// A step to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft<'a> {
    /// 2 to 6.
    pub level: u8,
    /// Index into the drafts.
    pub parent: Option<usize>,
    /// Title, unique among the drafts.
    pub title: String,
    /// Agent of the leading phase or sub-agent.
    pub agent: Option<&'a Agent>,
    /// Channel of the leading phase.
    pub channel: Option<&'a str>,
    /// What people asked for: the words that opened its phases.
    pub requests: Vec<&'a User>,
    /// Every request, in order: that of phases which did nothing only where it asks for something.
    pub asked: Vec<&'a User>,
    /// The task that a sub-agent's own session was given.
    pub task: Option<&'a str>,
    /// The first prose: what it is about, where no person said so.
    pub intent: Option<&'a str>,
    /// The last prose of the last phase that did something: what it came to.
    pub closing: Option<&'a str>,
    /// Everything that people said.
    pub said: Vec<&'a User>,
    /// Corrections by people.
    pub corrections: Vec<&'a User>,
    /// Decisions.
    pub decisions: Vec<&'a Decision>,
    /// Errors that somebody wrote down.
    pub errors: Vec<&'a Error>,
    /// Gates: title and body.
    pub gates: Vec<(&'a str, &'a str)>,
    /// What was done.
    pub deeds: Vec<Deed<'a>>,
    /// The sub-agent it is, if it is one.
    pub subagent: Option<&'a Subagent>,
    /// The phases it is made of.
    pub phases: Vec<&'a Phase>,
    /// Links back.
    pub origin: Vec<Link>,
    /// The phase that leads it, and whether that phase's heading is somebody's own.
    lead: Option<(&'a Phase, bool)>,
}

/// The drafts in document order.
pub(super) fn drafts<'a>(
    session: &'a Session,
    path: &FinalPath,
    chapters: &[Chapter<'a>],
    mut deeds: Vec<Vec<Deed<'a>>>,
) -> Vec<Draft<'a>> {
    // Each phase is taken once, and its deeds with it.
    let mut of = |index: usize| deeds.get_mut(index).map(std::mem::take).unwrap_or_default();
    let children = chapter::children(session);
    let mut drafts: Vec<Draft<'a>> = Vec::with_capacity(session.phases.len());
    for chapter in chapters {
        let top = drafts.len();
        let lead = chapter.lead();
        let mut draft = Draft { level: 2, ..Draft::default() };
        let mut below: Vec<Draft<'a>> = Vec::new();
        if let Some(digest) = chapter.phases.get(lead) {
            draft.agent = digest.phase.agent.as_ref();
            draft.channel = digest.phase.channel.as_deref();
        }
        // Questions on the way are not asked again, unless they are all that says what the work is. What was asked for
        // and done a phase later is.
        let asked = |works: bool| -> Vec<&'a User> {
            let prompts = chapter.phases.iter().filter_map(|digest| Some((digest, chapter::prompt(digest.phase)?)));
            let counts = |(digest, user): &(&chapter::Digest<'_>, &'a User)| {
                !works || digest.weight > 0 || !request::is_question(&user.words)
            };
            prompts.filter(counts).map(|(_, user)| user).collect()
        };
        draft.requests = asked(true);
        if draft.requests.iter().all(|user| request::is_talk(&user.words)) {
            draft.requests = asked(false);
        }
        let works = |digest: &chapter::Digest<'_>| digest.weight > 0;
        let any_works = chapter.phases.iter().any(works);
        for digest in &chapter.phases {
            draft.take(session, path, digest.index, of(digest.index), &mut below);
            let items = path.items(session, digest.index);
            let counts = works(digest) || !any_works;
            if counts {
                draft.closing = closing(items).or(draft.closing);
            }
            let asked = items.iter().filter_map(request_in);
            draft.asked.extend(asked.filter(|user| counts || !request::is_question(&user.words)));
            for &child in children.get(digest.index).map_or(&[][..], Vec::as_slice) {
                let mut nested = Draft { level: 3, parent: Some(top), ..Draft::default() };
                let phase = &session.phases[child];
                nested.agent = phase.agent.as_ref().or(draft.agent);
                nested.channel = phase.channel.as_deref().or(draft.channel);
                nested.requests = chapter::prompt(phase).into_iter().collect();
                let mut deeper = Vec::new();
                nested.take(session, path, child, of(child), &mut deeper);
                let items = path.items(session, child);
                nested.closing = closing(items);
                nested.asked = items.iter().filter_map(request_in).collect();
                nested.lead = Some((phase, true));
                if !nested.is_empty() || !deeper.is_empty() {
                    // Its place among the drafts: after the parent and what is below already.
                    let at = top + 1 + below.len();
                    below.push(nested);
                    for mut sub in deeper {
                        (sub.level, sub.parent) = (4, Some(at));
                        below.push(sub);
                    }
                }
            }
        }
        draft.lead = chapter.phases.get(lead).map(|digest| (digest.phase, digest.declared));
        drafts.push(draft);
        for mut sub in below {
            if sub.parent.is_none() {
                (sub.level, sub.parent) = (3, Some(top));
            }
            drafts.push(sub);
        }
    }
    drafts
}

/// The titles of the drafts of `chapters`, each there once: conditions and flows name steps by them.
pub(super) fn titles(session: &Session, chapters: &[Chapter<'_>], drafts: &[Draft<'_>]) -> Vec<String> {
    let sole = Some(session).filter(|_| chapters.len() == 1);
    let title = |draft: &Draft<'_>| match (draft.subagent, draft.lead) {
        (Some(subagent), _) => subagent_title(subagent),
        (None, Some((phase, declared))) => phase_title(draft, phase, declared, sole),
        (None, None) => String::new(),
    };
    let mut titles: Vec<String> = drafts.par_iter().map(title).collect();
    make_unique(&mut titles);
    titles
}

impl<'a> Draft<'a> {
    fn is_empty(&self) -> bool {
        self.deeds.is_empty() && self.decisions.is_empty() && self.gates.is_empty()
    }

    /// Adds what a phase holds; its sub-agents go `below`.
    fn take(
        &mut self,
        session: &'a Session,
        path: &FinalPath,
        index: usize,
        deeds: Vec<Deed<'a>>,
        below: &mut Vec<Draft<'a>>,
    ) {
        let Some(phase) = session.phases.get(index) else { return };
        let items = path.items(session, index);
        self.phases.push(phase);
        if self.deeds.is_empty() {
            self.deeds = deeds;
        } else {
            self.deeds.extend(deeds);
        }
        let origin = session.meta.session_id.as_deref().map(|id| Link {
            target: clean(id),
            block: Some(phase.id.clone()),
            ..Link::default()
        });
        self.origin.extend(origin.clone());
        self.collect(items);
        for item in items {
            if let Item::Subagent(subagent) = item {
                below.push(Draft::of_subagent(subagent, session, origin.as_ref()));
            }
        }
    }

    fn collect(&mut self, items: &'a [Item]) {
        for item in items {
            match item {
                Item::User(user) => {
                    self.said.push(user);
                    if user.correction {
                        self.corrections.push(user);
                    }
                }
                Item::Decision(decision) if plan::is_approval(decision) => {
                    self.gates.push((&decision.callout.title, &decision.text));
                }
                Item::Decision(decision) => self.decisions.push(decision),
                Item::Error(error) => self.errors.push(error),
                Item::Callout(callout) if callout.kind == "gate" => self.gates.push((&callout.title, &callout.body)),
                Item::Callout(callout)
                    if self.task.is_none() && callout.kind == "context" && callout.title == "Task" =>
                {
                    self.task = Some(&callout.body);
                }
                Item::Prose(prose) if self.intent.is_none() => self.intent = Some(&prose.text),
                _ => {}
            }
        }
    }

    fn of_subagent(subagent: &'a Subagent, session: &Session, phase: Option<&Link>) -> Self {
        let own = subagent.link.as_ref().filter(|link| !link.target.is_empty());
        let origin =
            own.map(|link| Link { embed: false, alias: None, span: cru_base::Span::default(), ..link.clone() });
        let mut draft = Draft {
            agent: subagent.agent.as_ref(),
            subagent: Some(subagent),
            deeds: deeds(&subagent.items, session.meta.project.as_deref()),
            origin: origin.or_else(|| phase.cloned()).into_iter().collect(),
            ..Draft::default()
        };
        draft.collect(&subagent.items);
        draft.intent = None;
        draft
    }

    /// The heading of the step; body and mark are still missing. Every step gets an agent or a channel, else it would
    /// be read as prose.
    pub(super) fn step(&self, session: &Session, options: Options) -> Step {
        let named = |agent: &Agent| {
            let version = agent.version.clone().filter(|_| options.versions);
            let text = agent.name.clone() + &version.as_ref().map_or(String::new(), |version| format!("@{version}"));
            is_agent(&text).then(|| Agent { name: agent.name.clone(), version })
        };
        let channel = self.channel.filter(|channel| is_channel(channel)).map(str::to_owned);
        let mut agent = self.agent.and_then(named);
        if agent.is_none() && channel.is_none() {
            let host = session.meta.host.as_deref().map(Agent::parse);
            agent = session.meta.participants.iter().chain(&host).find_map(named);
            agent = agent.or_else(|| Some(Agent { name: "agent".into(), version: None }));
        }
        Step {
            level: self.level,
            parent: self.parent,
            title: self.title.clone(),
            agent,
            channel,
            origin: self.origin.clone(),
            ..Step::default()
        }
    }
}

/// The prose with which a phase ends, if it leads to nothing more.
fn closing(items: &[Item]) -> Option<&str> {
    // Where the agent said nothing behind its last step, what it said last before that.
    let last = || items.iter().rev().find_map(|item| if let Item::Prose(prose) = item { Some(prose) } else { None });
    let prose = turn::conclusion(items.iter()).or_else(last);
    prose
        .map(|prose| prose.text.trim_end())
        .filter(|text| !text.ends_with(':') && *text != cru_session::correction::INTERRUPTED)
}

/// A person's words that ask for something and are no correction.
fn request_in(item: &Item) -> Option<&User> {
    match item {
        Item::User(user) if !user.correction && !request::is_talk(&user.words) => Some(user),
        _ => None,
    }
}

/// Whether a session is called after a request with which it ended and for which nothing was done: the work before has
/// another name.
pub(super) fn is_of_idle_end(session: &Session) -> bool {
    let does = |phase: &Phase| {
        phase.items.iter().any(|item| matches!(item, Item::Step(_) | Item::Decision(_) | Item::Subagent(_)))
    };
    let Some(last) = session.phases.iter().rposition(does) else { return false };
    let own = session.title().trim();
    let named = session.phases.iter().position(|phase| phase.title.trim() == own);
    session.meta.host.is_some() && named.is_some_and(|named| named > last)
}

/// From how many commits on the message of one says little of the rest.
const MANY_COMMITS: usize = 2;

/// What to call the work of a sub-agent: what it was told to do.
fn subagent_title(subagent: &Subagent) -> String {
    let named = words_title::of(subagent.task.as_deref().unwrap_or("")).map(Title::into_text);
    let name = subagent.agent.as_ref().map(|agent| agent.name.as_str()).filter(|name| is_agent(name));
    named.map_or_else(|| format!("Let {} work", name.unwrap_or("the sub-agent")), |named| clean(&named))
}

/// What to call a step made of `phase`, which leads it: as the note calls it, where that names something.
fn phase_title(draft: &Draft<'_>, phase: &Phase, declared: bool, sole: Option<&Session>) -> String {
    let own = clean(&phase.title);
    let own = strip_number(&own);
    if declared && own.contains(char::is_alphanumeric) {
        return title::given(own);
    }
    // Words of the phase in which most was done come first, then those of the others.
    let lead = chapter::prompt(phase);
    let pasted = lead.is_some_and(|user| pasted::is_mostly_pasted(&user.words));
    let named = Some(own).filter(|own| !pasted && words_title::tells(own)).map(str::to_owned);
    let asked = || {
        let people = lead.into_iter().chain(draft.requests.iter().copied()).map(|user| user.words.as_str());
        let titles = people.chain(draft.task).filter_map(words_title::of);
        titles.filter(|title| title.tells && !pasted).map(Title::into_text).next()
    };
    // What a commit says of the work tells more than the log that asked for it.
    let committed = || title::commit(&draft.deeds).filter(|_| title::commits(&draft.deeds) <= MANY_COMMITS);
    let of_session = || {
        let session = sole.filter(|session| !is_of_idle_end(session))?;
        Some(clean(session.title())).filter(|title| words_title::tells(title))
    };
    let decided = || draft.decisions.first().map(|it| title::given(&format!("Decide: {}", clean(&it.callout.title))));
    let made = asked()
        .or(named)
        .or_else(committed)
        .or_else(of_session)
        .or_else(|| title::from_files(&draft.deeds))
        .or_else(|| title::from_commands(&draft.deeds))
        .or_else(decided)
        .unwrap_or_else(|| title::given(own));
    if made.contains(char::is_alphanumeric) { clean(&made) } else { "Work".to_owned() }
}

/// Without `Phase 2:` or `3.` before it; the order of a workflow is its own.
fn strip_number(title: &str) -> &str {
    let rest = title.strip_prefix("Phase ").or_else(|| title.strip_prefix("phase ")).unwrap_or(title);
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if after.len() == rest.len() {
        return title;
    }
    let stripped = after.trim_start_matches([':', '.', ')']);
    let cut = stripped.len() < after.len() && stripped.starts_with(' ') && !stripped.trim().is_empty();
    if cut { stripped.trim_start() } else { title }
}

fn make_unique(titles: &mut [String]) {
    let mut counts: HashMap<String, usize> = HashMap::with_capacity(titles.len());
    let mut taken: HashSet<String> = titles.iter().map(|title| title.to_lowercase()).collect();
    taken.extend(["goals".to_owned(), "validation".to_owned()]);
    for title in titles {
        let key = title.to_lowercase();
        let reserved = key == "goals" || key == "validation";
        let count = counts.entry(key).or_insert(0);
        *count += 1;
        if *count == 1 && !reserved {
            continue;
        }
        let mut number = (*count).max(2);
        let mut numbered = format!("{title} ({number})");
        while !taken.insert(numbered.to_lowercase()) {
            number += 1;
            numbered = format!("{title} ({number})");
        }
        *count = number;
        *title = numbered;
    }
}

/// What each draft takes and gives.
pub(super) fn flows(drafts: &[Draft<'_>]) -> Vec<Data> {
    let drafted = drafts.par_iter();
    let touched: Vec<Touched<'_>> =
        drafted.map(|draft| Touched::of(draft.requests.iter().map(|user| user.words.as_str()), &draft.deeds)).collect();
    let mut names = Names::default();
    let mut flows: Vec<Data> = Vec::with_capacity(drafts.len());
    for (index, (draft, touched)) in drafts.iter().zip(&touched).enumerate() {
        flows.push(names.data(index, &draft.deeds, touched));
    }
    // Who printed a value learns only later that somebody used it.
    let carried: Vec<data::Carried> = flows.iter().flat_map(|data| data.carried.clone()).collect();
    for it in carried {
        let Some(data) = flows.get_mut(it.from) else { continue };
        if data.outputs.iter().any(|operand| operand.name == it.operand.name) {
            continue;
        }
        data.outputs.push(it.operand);
        if data.inputs.is_empty() {
            data.inputs.push(Operand { name: "request".into(), ..Operand::default() });
        }
    }
    flows
}
