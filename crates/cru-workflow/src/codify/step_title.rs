//! What the steps and their workflow are called: as a reader, a plan or a heading names them, after the words that asked for
//! them, else after what was done.

use foldhash::{HashMap, HashMapExt as _, HashSet};
use rayon::prelude::*;

use super::activity::{Activity, ActivityGroup};
use super::call::{Call, CallKind};
use super::draft::{Cut, Draft, Lead};
use super::unit::Entry;
use super::{clean, request, title};
use crate::heading::is_agent;
use cru_session::words::pasted;
use cru_session::words::title::{self as words_title, Title};
use cru_session::{Item, Phase, Session, Subagent, User};

/// Gives each draft a title of its own: conditions and flows name steps by them. `sole` says that there is one chapter.
pub(super) fn set_titles(session: &Session, sole: bool, drafts: &mut [Draft<'_>], cut: Cut) {
    let sole = Some(session).filter(|_| sole);
    let title = |draft: &Draft<'_>| match (draft.subagent, draft.activity, draft.lead) {
        (Some(subagent), ..) => subagent_title(subagent),
        (None, Some(_), Some(lead)) if cut == Cut::ByName && draft.hint.is_none() => {
            lead_title(draft, &lead, sole, cut)
        }
        (None, Some(activity), _) => group_title(draft, activity),
        (None, None, Some(lead)) => lead_title(draft, &lead, sole, cut),
        (None, None, None) => of_work(draft).unwrap_or_else(|| "Work".to_owned()),
    };
    let mut titles: Vec<String> = drafts.par_iter().map(title).collect();
    // A part that is called as the whole says more by what was done in it.
    for (index, draft) in drafts.iter().enumerate() {
        let whole = draft.parent.filter(|_| draft.activity.is_some()).and_then(|parent| titles.get(parent));
        if whole.is_some_and(|whole| *whole == titles[index])
            && let Some(made) = of_work(draft)
        {
            titles[index] = clean(&made);
        }
    }
    make_unique(&mut titles);
    for (draft, title) in drafts.iter_mut().zip(titles) {
        draft.title = title;
    }
}

/// The session's title where it names something; else the title of the step in which most was done.
pub(super) fn workflow_title(session: &Session, drafts: &[Draft<'_>], part: bool) -> String {
    let own = clean(session.title());
    let named = own.contains(char::is_alphanumeric) && (session.meta.host.is_none() || words_title::tells(&own));
    if named && !part && !is_of_idle_end(session) {
        return own;
    }
    let work = |draft: &&Draft<'_>| draft.calls().filter(|call| call.acts()).count();
    let most = drafts.iter().filter(|draft| draft.level == 2).max_by_key(work);
    let made = most.map(|draft| draft.title.clone()).or_else(|| Some(own).filter(|_| named));
    made.unwrap_or_else(|| "Untitled".to_owned())
}

/// Whether a session is called after a request with which it ended and for which nothing was done: the work before has
/// another name.
fn is_of_idle_end(session: &Session) -> bool {
    let does = |phase: &Phase| {
        phase.items.iter().any(|item| matches!(item, Item::Step(_) | Item::Decision(_) | Item::Subagent(_)))
    };
    let Some(last) = session.phases.iter().rposition(does) else { return false };
    let own = session.title().trim();
    let named = session.phases.iter().position(|phase| phase.title.trim() == own);
    session.meta.host.is_some() && named.is_some_and(|named| named > last)
}

/// What to call the work of a sub-agent: what it was told to do.
fn subagent_title(subagent: &Subagent) -> String {
    let named = words_title::of(subagent.task.as_deref().unwrap_or("")).map(Title::into_text);
    let name = subagent.agent.as_ref().map(|agent| agent.name.as_str()).filter(|name| is_agent(name));
    named.map_or_else(|| format!("Let {} work", name.unwrap_or("the sub-agent")), |named| clean(&named))
}

/// What to call a part of a chapter: as the plan or task does, else after what was done.
fn group_title(draft: &Draft<'_>, activity: Activity) -> String {
    let hint = draft.hint.as_deref().map(|hint| title::given(strip_number(&clean(hint))));
    if let Some(hint) = hint.filter(|hint| hint.contains(char::is_alphanumeric)) {
        return hint;
    }
    let calls: Vec<&Call<'_>> = draft.calls().collect();
    let made = match activity {
        Activity::Explore => title::from_looks(&calls),
        Activity::Change => title::from_files(&calls).or_else(|| title::from_commands(&calls)),
        Activity::Verify => title::from_checks(&calls),
        Activity::Publish => title::from_commits(&calls),
        Activity::Mixed => {
            let asked = draft.said().map(|user| user.words.as_str()).filter_map(words_title::of);
            asked.filter(|title| title.tells).map(Title::into_text).next()
        }
    };
    let made = made.or_else(|| of_work(draft)).unwrap_or_else(|| "Work".to_owned());
    clean(&made)
}

/// What to call a step after what was done in it.
fn of_work(draft: &Draft<'_>) -> Option<String> {
    let calls: Vec<&Call<'_>> = draft.calls().collect();
    title::from_files(&calls).or_else(|| title::from_commands(&calls)).or_else(|| title::from_looks(&calls))
}

/// What to call a step that a phase or turn leads: as the note calls it, where that names something.
fn lead_title(draft: &Draft<'_>, lead: &Lead<'_>, sole: Option<&Session>, cut: Cut) -> String {
    let own = clean(&lead.phase.title);
    let own = strip_number(&own);
    if lead.declared && own.contains(char::is_alphanumeric) {
        return title::given(own);
    }
    // Words of the turn in which most was done come first, then those with which the step opens, then the others.
    let asks = |user: &&User| !request::is_talk(&user.words);
    let request = lead.request.filter(asks).or(draft.called).or(lead.request);
    let opens = lead.request.zip(request).is_none_or(|(lead, request)| std::ptr::eq(lead, request));
    let pasted = request.is_some_and(|user| pasted::is_mostly_pasted(&user.words));
    let named = Some(own).filter(|own| lead.first && opens && !pasted && words_title::tells(own)).map(str::to_owned);
    let asked = || {
        let people = request.into_iter().chain(lead.request).chain(draft.requests()).map(|user| user.words.as_str());
        let titles = people.chain(draft.task).filter_map(words_title::of);
        titles.filter(|title| title.tells && !pasted).map(Title::into_text).next()
    };
    let calls: Vec<&Call<'_>> = draft.calls().collect();
    // What a commit says of the work tells more than the log that asked for it.
    let committed = || title::commit(&calls).filter(|_| title::is_of_one_commit(&calls));
    let of_session = || {
        let session = sole.filter(|session| !is_of_idle_end(session))?;
        Some(clean(session.title())).filter(|title| words_title::tells(title))
    };
    let decided = || {
        draft.entries.iter().find_map(|entry| match entry {
            Entry::Item(Item::Decision(it), _) => Some(title::given(&format!("Decide: {}", clean(&it.callout.title)))),
            _ => None,
        })
    };
    let said = || lead.request.and_then(|user| words_title::of(&user.words)).map(Title::into_text);
    let made = asked()
        .or(named)
        .or_else(committed)
        .or_else(of_session)
        .or_else(|| of_work(draft).filter(|_| cut == Cut::ByWork))
        .or_else(decided)
        .or_else(said)
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

/// Calls the changes of a round as the one commit does that took them up: after what was changed, and the last of it was
/// committed in the next hand-over.
pub(super) fn name_changes(groups: &mut [ActivityGroup<'_>]) {
    let mut changed: Vec<usize> = Vec::new();
    for at in 0..groups.len() {
        match groups[at].activity {
            Activity::Change => changed.push(at),
            Activity::Publish => {
                let calls: Vec<&Call<'_>> = groups[at].entries.iter().filter_map(Entry::call).collect();
                let message = title::commit(&calls).filter(|_| title::is_of_one_commit(&calls));
                let edits = |call: &Call<'_>| call.kind == CallKind::Edit && call.succeeded();
                if let (Some(message), [only]) = (message, changed.as_slice())
                    && groups[*only].title.is_none()
                    && groups[*only].entries.iter().filter_map(Entry::call).any(edits)
                {
                    groups[*only].title = Some(capital(&message));
                }
                changed.clear();
            }
            Activity::Mixed => changed.clear(),
            Activity::Explore | Activity::Verify => {}
        }
    }
}

/// A message as a title: its first word, where it is a plain word, with a capital letter.
fn capital(message: &str) -> String {
    let plain = message.split(' ').next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    match message.get(..1).filter(|_| plain) {
        Some(first) => format!("{}{}", first.to_ascii_uppercase(), &message[1..]),
        None => message.to_owned(),
    }
}
