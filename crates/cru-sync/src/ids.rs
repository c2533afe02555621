//! Ids of steps, phases and a person's inputs, where one that the account of a transcript gives is taken in the note by something else.
//!
//! The account numbers from one whatever else stands in the note, so a step that was logged beside it may have the
//! number that the next one gets. That one gets the next free number then, and keeps it: what was changed is kept with
//! what was generated last, and is found again by what the steps say where that is gone.
//!
//! An input keeps its id as long as its words stay: where a record that was passed over before comes between two known
//! ones, it gets a new number and they keep theirs. An input that a note holds without an id, because an older version
//! wrote it, stays without one; `cru check --fix` gives it one.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use jiff::Timestamp;

use crate::grow::counted::Counted;
use cru_note::Note;
use cru_session::{Item, Link, Session, Step, User};

/// What the line that is kept begins with.
const HEAD: &str = "ids:";

/// In that line: the rules by which secrets were taken out of the text below. No id is called so.
const RULES: &str = "mask";

/// In that line: the form of notes that the text below has. No id is called so.
const FORM: &str = "form";

/// In that line, before the name of a model: what is counted of records that are gone. No id begins so.
const LOST: &str = "lost/";

/// The form of notes as they are written now. It rises where the same record gives another text, so that a note that was
/// written before is measured against what this version would have written of the same records.
const NOW: u32 = 4;

/// Which ids became others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ids {
    /// The id in the note by that in the account; empty where the block has none in the note.
    changed: BTreeMap<String, String>,
    /// By which rules the text that is kept was freed of secrets; none where it was not.
    pub(crate) rules: Option<u32>,
    /// Whether the text that is kept is of an older form.
    is_older: bool,
    /// What the note counts of records that its transcript no longer has.
    pub(crate) lost: Counted,
}

impl Ids {
    /// From a text that was kept, with the rest of it.
    pub(crate) fn unpack(text: &str) -> (Self, &str) {
        let Some((line, rest)) = text.strip_prefix(HEAD).and_then(|text| text.split_once('\n')) else {
            return (Self { is_older: true, ..Self::default() }, text);
        };
        let pairs = line.split_whitespace().filter_map(|pair| pair.split_once('='));
        let mut changed: BTreeMap<String, String> = pairs.map(|(id, new)| (id.to_owned(), new.to_owned())).collect();
        let rules = changed.remove(RULES).and_then(|version| version.parse().ok());
        let form: Option<u32> = changed.remove(FORM).and_then(|form| form.parse().ok());
        let mut lost = Counted::default();
        changed.retain(|id, counts| {
            let model = id.strip_prefix(LOST);
            model.inspect(|model| lost.unpack(model, counts)).is_none()
        });
        (Self { changed, rules, is_older: form != Some(NOW), lost }, rest)
    }

    /// A text to be kept.
    pub(crate) fn pack(&self, text: &str) -> String {
        let rules = self.rules.map(|version| format!("{RULES}={version}"));
        let rules = rules.into_iter().chain([format!("{FORM}={NOW}")]);
        let changed = self.changed.iter().map(|(id, new)| format!("{id}={new}"));
        let lost = self.lost.pack().into_iter().map(|(model, counts)| format!("{LOST}{model}={counts}"));
        let pairs: Vec<String> = rules.chain(lost).chain(changed).collect();
        format!("{HEAD} {}\n{text}", pairs.join(" "))
    }

    /// Whether the text that is kept is of the form that is written now.
    pub(crate) const fn is_current(&self) -> bool {
        !self.is_older
    }

    /// What was changed in the note `there`, which tells `account` among other things.
    pub(crate) fn found(account: &Session, there: &Session) -> Self {
        let mut ids = Self::default();
        let mut steps: HashMap<Said<'_>, VecDeque<&str>> = HashMap::new();
        for (said, id) in steps_of(there) {
            steps.entry(said).or_default().push_back(id);
        }
        // Those that are the same first: a note may not show every step of the account.
        let mut others = Vec::new();
        for (said, id) in steps_of(account) {
            let Some(known) = steps.get_mut(&said) else { continue };
            match known.iter().position(|known| *known == id) {
                Some(at) => drop(known.remove(at)),
                None => others.push((said, id)),
            }
        }
        for (said, id) in others {
            if let Some(known) = steps.get_mut(&said).and_then(VecDeque::pop_front) {
                ids.changed.insert(id.to_owned(), known.to_owned());
            }
        }
        let mut phases: HashMap<Timestamp, VecDeque<&str>> = HashMap::new();
        for phase in there.phases.iter().filter(|phase| phase.id_written) {
            phases.entry(phase.started.unwrap_or_default()).or_default().push_back(&phase.id);
        }
        for phase in &account.phases {
            let Some(known) = phase.started.and_then(|started| phases.get_mut(&started)) else { continue };
            let at = known.iter().position(|known| **known == phase.id).unwrap_or(0);
            if let Some(known) = known.remove(at).filter(|known| **known != phase.id) {
                ids.changed.insert(phase.id.clone(), known.to_owned());
            }
        }
        ids.keep_inputs(account, there, there);
        ids
    }

    /// Gives the inputs of `account` the ids that they had in `last`, what was generated last, by their words. Where an
    /// older version generated it without ids, they have those that the note `there` gives the same words, or none. The ids
    /// in `account` of those that were found.
    pub(crate) fn keep_inputs(&mut self, account: &Session, last: &Session, there: &Session) -> HashSet<String> {
        let own: HashSet<&str> = inputs_of(last).filter_map(|(_, id)| id).collect();
        let mut later: HashMap<&str, VecDeque<&str>> = HashMap::new();
        for (words, id) in inputs_of(there) {
            if let Some(id) = id.filter(|id| !own.contains(id)) {
                later.entry(words).or_default().push_back(id);
            }
        }
        let mut known: HashMap<&str, VecDeque<&str>> = HashMap::new();
        for (words, id) in inputs_of(last) {
            let given = || later.get_mut(words).and_then(VecDeque::pop_front).unwrap_or_default();
            let id = id.unwrap_or_else(given);
            known.entry(words).or_default().push_back(id);
        }
        let mut kept = HashSet::new();
        let mut others = Vec::new();
        for (words, id) in inputs_of(account).filter_map(|(words, id)| Some((words, id?))) {
            let Some(ids) = known.get_mut(words) else { continue };
            match ids.iter().position(|known| *known == self.now(id)) {
                Some(at) => {
                    ids.remove(at);
                    kept.insert(id.to_owned());
                }
                None => others.push((words, id)),
            }
        }
        let mut moved = BTreeMap::new();
        for (words, id) in others {
            if let Some(now) = known.get_mut(words).and_then(VecDeque::pop_front) {
                moved.insert(id.to_owned(), now.to_owned());
            }
        }
        let claimed: HashSet<&String> = moved.values().filter(|now| !now.is_empty()).collect();
        self.changed.retain(|_, now| !claimed.contains(now));
        for (id, now) in moved {
            kept.insert(id.clone());
            if id == now {
                self.changed.remove(&id);
            } else {
                self.changed.insert(id, now);
            }
        }
        kept
    }

    /// The same for an account whose source was rewritten: a step that says something else now is known by its tool and
    /// time. Also gives the ids, as the account has them, of the steps that are not in the note.
    pub(crate) fn found_rewritten(account: &Session, there: &Session) -> (Self, Vec<String>) {
        let mut ids = Self::found(account, there);
        let mut open: HashMap<(&str, Option<Timestamp>), VecDeque<&str>> = HashMap::new();
        let mut by_id: HashMap<&str, Said<'_>> = HashMap::new();
        for (said, id) in steps_of(there) {
            by_id.insert(id, said);
        }
        let is_known = |said: &Said<'_>, id: &str| by_id.get(ids.now(id)).is_some_and(|there| there == said);
        let (known, lost): (Vec<_>, Vec<_>) = steps_of(account).partition(|(said, id)| is_known(said, id));
        let claimed: HashSet<String> = known.iter().map(|(_, id)| ids.now(id).to_owned()).collect();
        for (said, id) in steps_of(there).filter(|(_, id)| !claimed.contains(*id)) {
            open.entry((said.0, said.2)).or_default().push_back(id);
        }
        let mut missing = Vec::new();
        for (said, id) in lost {
            match open.get_mut(&(said.0, said.2)).and_then(VecDeque::pop_front) {
                Some(known) if known == id => drop(ids.changed.remove(id)),
                Some(known) => drop(ids.changed.insert(id.to_owned(), known.to_owned())),
                None => missing.push(id.to_owned()),
            }
        }
        // A step that is not in the note has no id that another one has there.
        let mut taken: HashSet<String> = by_id.keys().map(|id| (*id).to_owned()).collect();
        let mut next =
            by_id.keys().chain(&[""]).filter_map(|id| numbered(id)).map(|(_, number)| number).max().unwrap_or(0);
        next = ids_of(account).filter_map(numbered).map(|(_, number)| number).max().unwrap_or(0).max(next);
        for id in &missing {
            ids.changed.remove(id);
            if taken.contains(id)
                && let Some((prefix, _)) = numbered(id)
            {
                next = next.saturating_add(1);
                let digits = id.len() - prefix.len();
                let new = format!("{prefix}{next:0digits$}");
                taken.insert(new.clone());
                ids.changed.insert(id.clone(), new);
            }
        }
        (ids, missing)
    }

    /// The id that a step of the account has in the note.
    pub(crate) fn now<'a>(&'a self, id: &'a str) -> &'a str {
        self.changed.get(id).map_or(id, String::as_str)
    }

    /// Gives what is new in `account` ids that nothing else has: neither a block of `note` nor one of `given`. `last` is
    /// what was generated last, `kept` are the inputs that were found in it.
    pub(crate) fn avoid<'a>(
        &mut self,
        account: &Session,
        last: &Session,
        kept: &HashSet<String>,
        note: &'a Note,
        given: impl Iterator<Item = &'a str>,
    ) {
        self.avoid_as(account, last, kept, (note, true), given);
    }

    /// The same for records that are told anew: what was not shown of them has its number as long as nothing else has it.
    /// `there` is what the note tells: a step of the same number and tool is the same where its argument or its time is.
    pub(crate) fn avoid_taken<'a>(
        &mut self,
        account: &Session,
        last: &Session,
        kept: &HashSet<String>,
        (note, there): (&'a Note, &Session),
        given: impl Iterator<Item = &'a str>,
    ) {
        let shown: HashMap<&str, Said<'_>> = steps_of(there).map(|(said, id)| (id, said)).collect();
        let is_shown = |(said, id): &(Said<'_>, &str)| {
            let there = shown.get(self.now(id)).filter(|there| there.0 == said.0);
            there.is_some_and(|there| there.1 == said.1 || there.2 == said.2)
        };
        let shown = steps_of(account).filter(is_shown).map(|(_, id)| id.to_owned());
        let kept = kept.iter().cloned().chain(shown).collect();
        self.avoid_as(account, last, &kept, (note, false), given);
    }

    fn avoid_as<'a>(
        &mut self,
        account: &Session,
        last: &Session,
        kept: &HashSet<String>,
        (note, rises): (&'a Note, bool),
        given: impl Iterator<Item = &'a str>,
    ) {
        let was: HashMap<&str, &str> = self.changed.iter().map(|(id, new)| (new.as_str(), id.as_str())).collect();
        let known: HashSet<String> = ids_of(last).map(|id| was.get(id).copied().unwrap_or(id).to_owned()).collect();
        let mut taken: HashSet<String> = given.map(str::to_lowercase).collect();
        taken.extend(ids_of(last).map(str::to_lowercase));
        let mut open: Vec<_> = note.blocks().iter().collect();
        while let Some(block) = open.pop() {
            taken.extend(note.id(block).map(str::to_lowercase));
            open.extend(&block.children);
        }
        // Numbers rise on the page.
        let mut next: HashMap<&str, u64> = HashMap::new();
        for (prefix, number) in ids_of(last).filter_map(numbered).filter(|_| rises) {
            let next = next.entry(prefix).or_default();
            *next = (*next).max(number.saturating_add(1));
        }
        for id in ids_of(account).filter(|id| !known.contains(*id) && !kept.contains(*id)) {
            let Some((prefix, number)) = numbered(id) else { continue };
            let digits = id.len() - prefix.len();
            let mut number = number.max(next.get(prefix).copied().unwrap_or(0));
            let mut new = format!("{prefix}{number:0digits$}");
            while !taken.insert(new.clone()) {
                number += 1;
                new = format!("{prefix}{number:0digits$}");
            }
            if rises {
                next.insert(prefix, number + 1);
            }
            if new == id {
                self.changed.remove(id);
            } else {
                self.changed.insert(id.to_owned(), new);
            }
        }
    }

    /// Gives an account its ids, and its links theirs.
    pub(crate) fn apply(&self, account: &mut Session) {
        if self.changed.is_empty() {
            return;
        }
        for phase in &mut account.phases {
            self.id(&mut phase.id);
            phase.after.iter_mut().chain(&mut phase.from).for_each(|link| self.link(link));
            for item in &mut phase.items {
                self.item(item);
            }
        }
    }

    fn item(&self, item: &mut Item) {
        match item {
            Item::Step(step) => {
                step.id.iter_mut().for_each(|id| self.id(id));
                step.after.iter_mut().chain(&mut step.replays).for_each(|link| self.link(link));
            }
            Item::Decision(it) => it.rests_on.iter_mut().for_each(|link| self.link(link)),
            Item::User(it) => {
                it.callout.id.iter_mut().for_each(|id| self.id(id));
                it.callout.id = it.callout.id.take().filter(|id| !id.is_empty());
            }
            Item::Error(it) => {
                it.steps.iter_mut().chain(&mut it.resolved_by).for_each(|link| self.link(link));
                if let Some(text) = &mut it.resolution {
                    *text = self.links_in(text);
                }
            }
            _ => {}
        }
    }

    fn id(&self, id: &mut String) {
        if let Some(new) = self.changed.get(id) {
            id.clone_from(new);
        }
    }

    fn link(&self, link: &mut Link) {
        if let Some(block) = link.block.as_mut().filter(|_| link.target.is_empty()) {
            self.id(block);
        }
    }

    fn links_in(&self, text: &str) -> String {
        const OPEN: &str = "[[#^";
        let mut parts = text.split(OPEN);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(part.len());
            let (id, rest) = part.split_at(end);
            out.push_str(OPEN);
            out.push_str(self.changed.get(id).map_or(id, String::as_str));
            out.push_str(rest);
        }
        out
    }
}

/// By what a step is known that has another number.
type Said<'a> = (&'a str, &'a str, Option<Timestamp>);

fn steps_of(session: &Session) -> impl Iterator<Item = (Said<'_>, &str)> {
    let steps = session.phases.iter().flat_map(|phase| &phase.items).filter_map(Item::as_step);
    let said = |step: &Step| step.time.map(|time| Timestamp::from_second(time.as_second()).unwrap_or(time));
    steps.filter_map(move |step| Some(((step.tool.as_str(), step.args.as_str(), said(step)), step.id.as_deref()?)))
}

/// A person's inputs in the order of the page: the words, and the id where they have one.
fn inputs_of(session: &Session) -> impl Iterator<Item = (&str, Option<&str>)> {
    let items = session.preface.iter().chain(session.phases.iter().flat_map(|phase| &phase.items));
    let inputs = items.filter_map(Item::as_user);
    inputs.map(|User { words, callout, .. }| (words.trim(), callout.id.as_deref()))
}

/// The ids of phases, steps and inputs, each kind in its order on the page.
fn ids_of(session: &Session) -> impl Iterator<Item = &str> {
    let phases = session.phases.iter().map(|phase| phase.id.as_str());
    phases.chain(steps_of(session).map(|(_, id)| id)).chain(inputs_of(session).filter_map(|(_, id)| id))
}

/// `n-` and `14` of `n-014`.
fn numbered(id: &str) -> Option<(&str, u64)> {
    let at = id.rfind('-')? + 1;
    Some((&id[..at], id[at..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_session::{Callout, Phase, read, render};

    /// An account of steps by seconds, in phases of two.
    fn account(steps: i64) -> Session {
        let mut session = Session::default();
        for number in 0..steps {
            if number % 2 == 0 {
                let id = format!("p-{:02}", session.phases.len() + 1);
                let started = Timestamp::from_second(number).ok();
                session.phases.push(Phase { id, id_written: true, level: 2, started, ..Phase::default() });
            }
            let step = Step {
                id: Some(format!("n-{:03}", number + 1)),
                tool: "Bash".to_owned(),
                args: "make".to_owned(),
                time: Timestamp::from_second(number).ok(),
                after: (0..number).last().map(|_| Link::to_block(format!("n-{number:03}"))).into_iter().collect(),
                ..Step::default()
            };
            session.phases.last_mut().unwrap().items.push(Item::Step(step));
        }
        session
    }

    fn ids(session: &Session) -> String {
        ids_of(session).collect::<Vec<_>>().join(" ")
    }

    fn links(session: &Session) -> Vec<String> {
        let links = session
            .phases
            .iter()
            .flat_map(|phase| &phase.items)
            .filter_map(|item| Some(item.as_step()?.after.first()?.to_string()));
        links.collect()
    }

    #[test]
    fn what_is_taken_gets_the_next_number_and_keeps_it() {
        let (last, mut new) = (account(2), account(5));
        let note =
            Note::parse(format!("{}\n- `Bench both` → fine ^n-003\n\n## Mine\n\nx ^p-02\n", render::note(&last)));
        let mut it = Ids::default();
        it.avoid(&new, &last, &HashSet::new(), &note, ["n-005"].into_iter());
        it.apply(&mut new);
        assert_eq!(ids(&new), "p-01 p-03 p-04 n-001 n-002 n-004 n-006 n-007");
        assert_eq!(links(&new), ["[[#^n-001]]", "[[#^n-002]]", "[[#^n-004]]", "[[#^n-006]]"]);

        let packed = it.pack(&render::note(&new));
        let (known, text) = Ids::unpack(&packed);
        assert_eq!((&known, text), (&it, render::note(&new).as_str()));
        let (again, rest) = Ids::unpack(text);
        assert!(again.changed.is_empty() && rest == text);
        let (last, _) = read::session(&Note::parse(text));
        let mut more = account(6);
        it.avoid(&more, &last, &HashSet::new(), &Note::parse(text), std::iter::empty());
        it.apply(&mut more);
        assert_eq!(ids(&more), "p-01 p-03 p-04 n-001 n-002 n-004 n-006 n-007 n-008");
        assert_eq!(known, Ids::found(&account(5), &last), "the steps say which they are");
    }

    #[test]
    fn nothing_changes_where_nothing_is_taken() {
        let (last, new) = (account(3), account(9));
        let mut it = Ids::default();
        it.avoid(&new, &last, &HashSet::new(), &Note::parse(render::note(&last)), ["n-002", "e-001"].into_iter());
        assert_eq!(it, Ids::default());
        assert_eq!(it.links_in("fixed by [[#^n-002]], see [[#^"), "fixed by [[#^n-002]], see [[#^");
        it.changed.insert("n-002".to_owned(), "n-012".to_owned());
        assert_eq!(
            it.links_in("[[#^n-002]] [[#^n-0021]] [[x#^n-002]] [[#^n-002|é"),
            "[[#^n-012]] [[#^n-0021]] [[x#^n-002]] [[#^n-012|é"
        );
    }

    /// An account of inputs; `None`: without an id.
    fn inputs(of: &[(&str, Option<&str>)]) -> Session {
        let item = |(words, id): &(&str, Option<&str>)| {
            let callout = Callout { id: id.map(str::to_owned), ..Callout::default() };
            Item::User(User { words: (*words).to_owned(), callout, ..User::default() })
        };
        let phase = Phase { id: "p-01".to_owned(), items: of.iter().map(item).collect(), ..Phase::default() };
        Session { phases: vec![phase], ..Session::default() }
    }

    fn input_ids(session: &Session) -> Vec<&str> {
        inputs_of(session).map(|(_, id)| id.unwrap_or("-")).collect()
    }

    fn grown(account: &[(&str, Option<&str>)], last: &Session, there: &Session, note: &str) -> (Ids, Session) {
        let (mut it, mut new) = (Ids::default(), inputs(account));
        let kept = it.keep_inputs(&new, last, there);
        it.avoid(&new, last, &kept, &Note::parse(note), std::iter::empty());
        it.apply(&mut new);
        (it, new)
    }

    #[test]
    fn an_input_keeps_its_id_where_another_comes_before_it() {
        let last = inputs(&[("go", Some("u-01")), ("yes", Some("u-02"))]);
        let account = [("go", Some("u-01")), ("wait", Some("u-02")), ("yes", Some("u-03")), ("yes", Some("u-04"))];
        let (it, new) = grown(&account, &last, &last, "x ^u-03\n");
        assert_eq!(input_ids(&new), ["u-01", "u-04", "u-02", "u-05"]);
        // The next time it is known.
        let mut again = inputs(&account);
        let packed = it.pack("text");
        let (mut known, _) = Ids::unpack(&packed);
        let kept = known.keep_inputs(&again, &new, &new);
        known.avoid(&again, &new, &kept, &Note::parse("x ^u-03\n"), std::iter::empty());
        known.apply(&mut again);
        assert_eq!(input_ids(&again), input_ids(&new));
    }

    #[test]
    fn a_note_of_an_older_version_keeps_its_inputs_as_they_stand() {
        let account = [("go", Some("u-01")), ("yes", Some("u-02")), ("yes", Some("u-03"))];
        // Generated without ids; since then a person gave one of them an id.
        let last = inputs(&[("go", None), ("yes", None)]);
        let there = inputs(&[("go", None), ("yes", Some("u-01"))]);
        let (it, new) = grown(&account, &last, &there, "x ^u-01\n");
        assert_eq!(input_ids(&new), ["-", "u-01", "u-03"]);
        let packed = it.pack("");
        assert_eq!(Ids::unpack(&packed).0, it);
        let mut again = inputs(&account);
        it.apply(&mut again);
        assert_eq!(input_ids(&again), input_ids(&new));
    }

    #[test]
    fn what_is_kept_says_by_which_rules() {
        let ids = Ids {
            changed: BTreeMap::from([("n-001".to_owned(), "n-002".to_owned())]),
            rules: Some(3),
            is_older: false,
            lost: Counted::default(),
        };
        assert_eq!(ids.pack("text"), "ids: mask=3 form=4 n-001=n-002\ntext");
        assert_eq!(Ids::unpack("ids: mask=3 form=4 n-001=n-002\ntext"), (ids, "text"));
        assert!(!Ids::unpack("text").0.is_current() && !Ids::unpack("ids: mask=3\ntext").0.is_current());
        assert_eq!(Ids::default().pack("text"), "ids: form=4\ntext");
    }
}
