//! Groups phases into chapters: what was done together becomes one step.
//!
//! Phases that a person or agent declared (`## Research @planner`) stay as they are. Phases that an import made of
//! prompts are put together: talk and looking around go to their neighbour, phases that change the same files become
//! one, and where too many remain the lightest neighbours are joined.

use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;

use super::deed::Deed;
use super::kind::DeedKind;
use super::request;
use cru_graph::FinalPath;
use cru_session::{Item, Phase, Session, User};

/// How many chapters a workflow has at most, declared ones aside.
const MAX_CHAPTERS: usize = 14;
/// Weight up to which a phase is a small change.
const SMALL: usize = 9;
/// How many phases become one chapter because they change the same files.
const MAX_ALIKE: usize = 5;

/// Phases that become one step.
#[derive(Clone, Debug)]
pub(super) struct Chapter<'a> {
    /// Level-2 phases, in order.
    pub phases: Vec<Digest<'a>>,
}

/// A level-2 phase in short, sub-phases included.
#[derive(Clone, Debug)]
pub(super) struct Digest<'a> {
    /// Index into the session's phases.
    pub index: usize,
    /// How much was done.
    pub weight: usize,
    /// Whether anything was looked at.
    pub looked: bool,
    /// Whether its heading is somebody's own, not made from a prompt.
    pub declared: bool,
    /// Whether the request says nothing by itself: "continue".
    pub talk: bool,
    /// Files it wrote, where its heading is nobody's own.
    pub written: BTreeSet<Cow<'a, str>>,
    /// Kinds of commands that it ran there: `cargo test`.
    pub ran: BTreeSet<String>,
    /// The phase.
    pub phase: &'a Phase,
}

impl Chapter<'_> {
    /// The phase in which most was done.
    pub(super) fn lead(&self) -> usize {
        let mut best = 0;
        for (at, phase) in self.phases.iter().enumerate() {
            let rank = |digest: &Digest<'_>| (!digest.talk, digest.weight);
            if self.phases.get(best).is_some_and(|lead| rank(phase) > rank(lead)) {
                best = at;
            }
        }
        best
    }

    fn weight(&self) -> usize {
        self.phases.iter().map(|digest| digest.weight).sum()
    }

    fn declared(&self) -> bool {
        self.phases.iter().any(|digest| digest.declared)
    }
}

/// The chapters of the final path.
pub(super) fn chapters<'a>(session: &'a Session, path: &FinalPath, deeds: &[Vec<Deed<'a>>]) -> Vec<Chapter<'a>> {
    let children = children(session);
    let tops = path.tops.par_iter();
    let mut digests: Vec<Digest<'_>> =
        tops.map(|&index| digest(session, path, index, &children[index], deeds)).collect();
    digests.retain(|digest| digest.weight > 0 || digest.looked);
    // Where nothing was ever changed, looking around is the work.
    let only_looks = digests.iter().all(|digest| digest.weight == 0);
    let mut chapters: Vec<Chapter<'_>> = Vec::new();
    let mut waiting: Vec<Digest<'_>> = Vec::new();
    for digest in digests {
        if digest.declared || only_looks {
            flush(&mut waiting, &mut chapters);
            chapters.push(Chapter { phases: vec![digest] });
        } else if digest.weight == 0 {
            waiting.push(digest);
        } else if let Some(last) = chapters.last_mut().filter(|last| waiting.is_empty() && goes_on(last, &digest)) {
            last.phases.push(digest);
        } else {
            let mut phases = std::mem::take(&mut waiting);
            phases.push(digest);
            chapters.push(Chapter { phases });
        }
    }
    flush(&mut waiting, &mut chapters);
    condense(chapters)
}

/// Phases that only looked and have no work after them belong to the work before them.
fn flush<'a>(waiting: &mut Vec<Digest<'a>>, chapters: &mut Vec<Chapter<'a>>) {
    if waiting.is_empty() {
        return;
    }
    match chapters.last_mut().filter(|last| !last.declared()) {
        Some(last) => last.phases.append(waiting),
        None => chapters.push(Chapter { phases: std::mem::take(waiting) }),
    }
}

/// Whether `digest` goes on with what `chapter` did.
fn goes_on(chapter: &Chapter<'_>, digest: &Digest<'_>) -> bool {
    let Some(last) = chapter.phases.last() else { return false };
    if chapter.declared() || last.phase.agent != digest.phase.agent || last.phase.channel != digest.phase.channel {
        return false;
    }
    if digest.talk {
        return true;
    }
    let work: Vec<_> = chapter.phases.iter().filter(|digest| digest.weight > 0).collect();
    let shared = digest.written.iter().filter(|path| work.iter().any(|other| other.written.contains(*path))).count();
    // A small change to the same files belongs to what it changes; much work is a step of its own.
    let small = digest.weight <= SMALL || digest.weight * 3 <= chapter.weight();
    let same_files = shared > 0 && shared * 2 >= digest.written.len();
    // The same commands once more, and nothing changed in between.
    let same_commands = digest.written.is_empty()
        && !digest.ran.is_empty()
        && digest.ran.iter().all(|key| work.iter().any(|other| other.ran.contains(key)));
    small && work.len() < MAX_ALIKE && (same_files || same_commands)
}

/// Joins the lightest neighbours until few enough are left. The bound doubles, so the passes are few.
fn condense(mut chapters: Vec<Chapter<'_>>) -> Vec<Chapter<'_>> {
    let mut bound = 2;
    while chapters.iter().filter(|chapter| !chapter.declared()).count() > MAX_CHAPTERS {
        let mut left = chapters.iter().filter(|chapter| !chapter.declared()).count();
        let before = chapters.len();
        let mut joined: Vec<Chapter<'_>> = Vec::with_capacity(before);
        for chapter in chapters {
            let fits = |last: &Chapter<'_>| {
                !last.declared() && !chapter.declared() && last.weight() + chapter.weight() <= bound
            };
            match joined.last_mut().filter(|last| left > MAX_CHAPTERS && fits(last)) {
                Some(last) => {
                    last.phases.extend(chapter.phases);
                    left -= 1;
                }
                None => joined.push(chapter),
            }
        }
        chapters = joined;
        let total: usize = chapters.iter().map(Chapter::weight).sum();
        if chapters.len() == before && bound > total.saturating_mul(2) {
            // Only declared ones stand between the rest.
            break;
        }
        bound = bound.saturating_mul(2);
    }
    chapters
}

/// For each phase the phases below it, at any depth.
pub(super) fn children(session: &Session) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); session.phases.len()];
    for (index, phase) in session.phases.iter().enumerate() {
        if let Some(parent) = phase.parent.filter(|&parent| parent < index) {
            children[parent].push(index);
        }
    }
    children
}

fn digest<'a>(
    session: &'a Session,
    path: &FinalPath,
    index: usize,
    children: &[usize],
    deeds: &[Vec<Deed<'a>>],
) -> Digest<'a> {
    let phase = &session.phases[index];
    let words = prompt(phase);
    let talk = words.is_some_and(|user| request::is_talk(&user.words));
    let mut digest = Digest {
        index,
        weight: 0,
        looked: false,
        declared: !is_from_prompt(phase),
        talk,
        written: BTreeSet::new(),
        ran: BTreeSet::new(),
        phase,
    };
    for &part in std::iter::once(&index).chain(children) {
        let items = path.items(session, part);
        for deed in deeds.get(part).map_or(&[][..], Vec::as_slice) {
            digest.looked = true;
            digest.weight += weight(deed);
            // Nothing goes on with a phase of somebody's own.
            if digest.declared {
                continue;
            }
            if deed.shell && deed.tells() {
                digest.ran.insert(deed.key().to_owned());
            }
            if deed.succeeded() {
                digest.written.extend(deed.writes.iter().cloned());
            }
        }
        digest.weight += items
            .iter()
            .map(|item| match item {
                Item::Decision(_) | Item::Subagent(_) => 3,
                Item::Callout(callout) if callout.kind == "gate" => 3,
                _ => 0,
            })
            .sum::<usize>();
    }
    digest
}

fn weight(deed: &Deed<'_>) -> usize {
    match deed.kind {
        DeedKind::Look => 0,
        DeedKind::Run => 1,
        DeedKind::Change | DeedKind::Check => 2,
        DeedKind::Edit => 3,
    }
}

/// What people said in a phase.
pub(super) fn said(phase: &Phase) -> impl Iterator<Item = &User> {
    phase.items.iter().filter_map(|item| match item {
        Item::User(user) => Some(user),
        _ => None,
    })
}

/// What a person asked for in a phase: the first words that are more than talk, else the first.
pub(super) fn prompt(phase: &Phase) -> Option<&User> {
    said(phase).find(|user| !user.correction && !request::is_talk(&user.words)).or_else(|| said(phase).next())
}

/// Letters and digits of the first `seen` characters, in lower case.
fn letters(text: &str, seen: usize) -> String {
    let mut letters = String::with_capacity(text.len().min(seen));
    if text.is_ascii() {
        let bytes = text.bytes().take(seen).filter(u8::is_ascii_alphanumeric);
        letters.extend(bytes.map(|byte| char::from(byte.to_ascii_lowercase())));
        return letters;
    }
    for c in text.chars().take(seen) {
        if c.is_ascii() {
            letters.extend(c.is_ascii_alphanumeric().then_some(c.to_ascii_lowercase()));
        } else if c.is_alphanumeric() {
            letters.extend(c.to_lowercase());
        }
    }
    letters
}

/// Whether the heading was made from words that were said in the phase: then it is no better than they are.
fn is_from_prompt(phase: &Phase) -> bool {
    const SEEN: usize = 8_000;
    let title: String = letters(&phase.title, SEEN).chars().take(16).collect();
    // A short title ("Build") is found in many words by chance.
    let fits = |words: &str| {
        let long = title.len() >= 12 || phase.title.contains(' ');
        letters(words, 64).starts_with(&title) || (long && letters(words, SEEN).contains(&title))
    };
    // A phase that no prompt opened is called so; what was cut or shortened was cut from a prompt.
    title == "continue"
        || phase.title.contains('…')
        || phase.title.starts_with("Command /")
        || said(phase).take(8).any(|user| fits(&user.words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::{FileRef, Step};

    fn phase(words: &str, writes: &[&str]) -> Phase {
        let user = User { words: words.into(), ..User::default() };
        let steps = writes.iter().map(|path| {
            let writes = vec![FileRef { path: (*path).into(), ..FileRef::default() }];
            Item::Step(Step { tool: "Edit".into(), args: (*path).into(), writes, ..Step::default() })
        });
        let items = std::iter::once(Item::User(user)).chain(steps).collect();
        Phase { title: words.into(), level: 2, items, ..Phase::default() }
    }

    fn sizes(phases: Vec<Phase>) -> Vec<usize> {
        let session = Session { phases, ..Session::default() };
        let path = FinalPath::of(&session);
        let deeds = crate::codify::deed::of_phases(&session, &path);
        chapters(&session, &path, &deeds).iter().map(|chapter| chapter.phases.len()).collect()
    }

    #[test]
    fn talk_and_same_files_join() {
        let phases = vec![
            phase("add the parser", &["a.rs"]),
            phase("continue", &["b.rs"]),
            phase("now rename the field", &["a.rs"]),
            phase("what is this?", &[]),
            phase("write the guide", &["guide.md"]),
        ];
        assert_eq!(sizes(phases), [3, 1]);
    }

    #[test]
    fn long_sessions_are_condensed() {
        let phases = (0..90).map(|n| phase(&format!("rework part {n} of the parser"), &[&format!("{n}.rs")])).collect();
        let sizes = sizes(phases);
        assert!(sizes.len() <= MAX_CHAPTERS && sizes.len() > 5, "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), 90);
    }

    #[test]
    fn declared_phases_stay() {
        let mut phases = vec![phase("go", &["a.rs"]), phase("on", &["a.rs"])];
        for (phase, title) in phases.iter_mut().zip(["Build", "Polish"]) {
            phase.title = title.into();
        }
        assert_eq!(sizes(phases), [1, 1]);
    }
}
