//! The turns of a session: what a person asked, the work upon it, what the agent concluded, and how the person's next
//! words took that.
//!
//! Follows the final path ([`FinalPath`]). A turn begins with words of a person or with a phase; words between which
//! nothing was done belong to one turn. How the next words took it is the answer of [`Taken`], for the whole program.

use std::collections::HashSet;

use cru_action::ToolKind;
use cru_session::{Callout, Item, Prose, Session, Step, StepStatus, User, correction};

pub mod reply;
mod taken;

use super::path::FinalPath;
use super::place::Place;
pub use reply::is_no;
pub use taken::{Correction, Sign, Taken};

/// An item with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedItem<'a> {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub item: &'a Item,
}

/// A turn.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub struct Turn<'a> {
    /// The level-2 phase it stands in; `None` before the first.
    pub phase: Option<usize>,
    /// What the person said; several when nothing was done between them, none when a phase opens without.
    pub requests: Vec<&'a User>,
    /// What a parent agent asked, where the session is a sub-agent's: `[!context] Task`.
    pub task: Option<&'a Callout>,
    /// Commands that the person ran with the words (`!ls`): theirs, and none of the agent's.
    pub own: Vec<PlacedItem<'a>>,
    /// Everything else, in the order of the page, bookkeeping included.
    pub work: Vec<PlacedItem<'a>>,
    /// Whether a person stopped it.
    pub interrupted: bool,
    /// How many of its requests, the first ones, the person took back: stopped the agent before it did anything, and said
    /// something else.
    pub withdrawn: usize,
    /// Whether the words came while the agent worked: the turn before them ends with a call that nobody stopped, and without
    /// closing words.
    pub queued: bool,
    /// Whether a picture came with the words, which the record does not hold.
    pub picture: bool,
    /// How its words correct the turn before it.
    pub correction: Option<Correction<'a>>,
    /// How the next words took it.
    pub taken: Taken,
    /// Whether [`Turn::work`] holds more than bookkeeping.
    worked: bool,
    /// Commands that the person typed.
    typed: HashSet<&'a str>,
}

impl<'a> Turn<'a> {
    /// The block id of the words that open it, without `^`.
    pub fn id(&self) -> Option<&'a str> {
        self.requests.iter().find_map(|user| user.callout.id.as_deref())
    }

    /// The steps of the agent.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = (Place, &'a Step)> {
        self.work.iter().filter_map(|it| match it.item {
            Item::Step(step) => Some((it.place, step)),
            _ => None,
        })
    }

    /// The agent's closing words: prose behind its last step. `None` for a turn that was stopped.
    pub fn conclusion(&self) -> Option<&'a Prose> {
        conclusion(self.work.iter().map(|it| it.item)).filter(|_| !self.interrupted)
    }

    /// Words of the person that open it, pasted output included.
    pub fn words(&self) -> impl Iterator<Item = &'a str> {
        self.requests.iter().map(|user| user.words.as_str())
    }

    /// The last thing done or said in it, bookkeeping aside.
    pub fn last(&self) -> Option<&'a Item> {
        self.work.iter().rev().map(|it| it.item).find(|item| is_work(item))
    }

    fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.task.is_none() && !self.worked
    }
}

/// The closing words of the agent among `items`: the last prose behind its last step. Commands that a person ran are
/// none of its steps.
pub fn conclusion<'a>(items: impl DoubleEndedIterator<Item = &'a Item> + Clone) -> Option<&'a Prose> {
    let users = items.clone().filter_map(|item| if let Item::User(user) = item { Some(user) } else { None });
    // Nearly nobody runs commands in the host.
    let typed = std::cell::OnceCell::new();
    let is_agents = |item: &Item| match item {
        Item::Step(step) if step.tool == BY_PERSON => {
            let typed = typed.get_or_init(|| users.clone().flat_map(commands).collect());
            !is_own(step, typed)
        }
        Item::Step(_) => true,
        _ => false,
    };
    let mut behind = items.rev().take_while(|item| !is_agents(item));
    behind.find_map(|item| match item {
        Item::Prose(prose) if says_something(&prose.text) => Some(prose),
        _ => None,
    })
}

/// The turns of a session, in order. Linear in its items.
pub fn turns(session: &Session) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    add(&mut turns, None, None, &session.preface, false);
    let path = FinalPath::of(session);
    for (index, phase) in session.phases.iter().enumerate().filter(|(index, _)| path.has(*index)) {
        let top = if phase.level > 2 { phase.parent.or(Some(index)) } else { Some(index) };
        add(&mut turns, top, Some(index), path.items(session, index), phase.level <= 2);
    }
    turns.retain(|turn| !turn.is_empty());
    taken::decide(&mut turns, session.meta.cursor.is_some());
    // Where no closing words are recorded at all, nothing tells.
    if turns.iter().any(|turn| turn.conclusion().is_some()) {
        for at in 1..turns.len() {
            let works = works_on(&turns[at - 1]) && turns[at - 1].phase == turns[at].phase;
            turns[at].queued = works && !turns[at].requests.is_empty();
        }
    }
    turns
}

/// Whether the record of a turn ends in the middle of the work.
fn works_on(turn: &Turn<'_>) -> bool {
    let works = |item: &Item| match item {
        Item::Step(step) => {
            let answered = matches!(step.status, StepStatus::Complete | StepStatus::Failed);
            answered && !matches!(ToolKind::of(&step.tool), ToolKind::Ask | ToolKind::Plan)
        }
        _ => false,
    };
    !turn.interrupted && turn.last().is_some_and(works)
}

/// Adds the items of a phase; `opens` says whether a turn begins with it.
fn add<'a>(turns: &mut Vec<Turn<'a>>, top: Option<usize>, phase: Option<usize>, items: &'a [Item], opens: bool) {
    if opens && turns.last().is_none_or(|last| !last.is_empty() || last.phase != top) {
        turns.push(Turn { phase: top, ..Turn::default() });
    }
    for (at, item) in items.iter().enumerate() {
        if let Item::User(user) = item {
            match turns.last_mut() {
                Some(last) if !last.worked && last.phase == top => {
                    if std::mem::take(&mut last.interrupted) && !correction::goes_on(&user.words) {
                        last.withdrawn = last.requests.len();
                    }
                    last.requests.push(user);
                    last.typed.extend(commands(user));
                }
                _ => {
                    let typed = commands(user).collect();
                    turns.push(Turn { phase: top, requests: vec![user], typed, ..Turn::default() });
                }
            }
            continue;
        }
        let placed = PlacedItem { place: Place { phase, item: Some(at) }, item };
        let Some(last) = turns.last_mut() else {
            let worked = is_work(item);
            turns.push(Turn { phase: top, work: vec![placed], worked, ..Turn::default() });
            continue;
        };
        match item {
            Item::Callout(callout) if last.is_empty() && is_task(callout) => {
                last.task = Some(callout);
                continue;
            }
            Item::Step(step) if !last.worked && is_own(step, &last.typed) => {
                last.own.push(placed);
                continue;
            }
            Item::Prose(prose) => {
                last.interrupted |= prose.text.lines().any(|line| line.trim() == correction::INTERRUPTED);
                // What a tool showed stands behind its step.
                last.picture |= !last.worked && prose.text.lines().any(is_picture);
            }
            _ => {}
        }
        last.worked |= is_work(item);
        last.work.push(placed);
    }
}

/// Callouts that belong to the account of the work. The others are bookkeeping (usage, checkpoint, segment), somebody's
/// later reading, or the agent's private thought.
pub const ACCOUNT: &[&str] = &["lesson", "quirk", "deviation", "gate"];

/// Whether an item tells of work: more than bookkeeping and marks that `cru` writes.
fn is_work(item: &Item) -> bool {
    match item {
        Item::Step(_) | Item::Error(_) => true,
        Item::Decision(it) => !(it.callout.title.trim().is_empty() && it.callout.body.trim().is_empty()),
        Item::Subagent(it) => it.agent.is_some() || it.task.is_some() || it.summary.is_some(),
        Item::Callout(it) => {
            ACCOUNT.contains(&it.kind.as_str()) && !(it.title.trim().is_empty() && it.body.trim().is_empty())
        }
        Item::Prose(it) => says_something(&it.text),
        Item::User(_) | Item::Tasks(_) => false,
    }
}

/// Whether prose holds words beside what `cru` itself writes there.
fn says_something(text: &str) -> bool {
    let own = |line: &str| is_mark(line) || line.trim() == correction::INTERRUPTED;
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !own(line)).peekable();
    let Some(first) = lines.next() else { return false };
    lines.peek().is_some() || !is_label(first.trim())
}

/// What `cru` writes in the place of a picture or for a pull request: no words of the agent.
pub fn is_mark(line: &str) -> bool {
    let line = line.trim();
    let picture = line.strip_prefix("*[").and_then(|rest| rest.strip_suffix("]*"));
    picture.is_some_and(|inside| inside.contains('/') && !inside.contains('*'))
        || (line.starts_with("Pull request [#") && line.ends_with(')'))
}

/// `**Tool calls:**` and its like: what `cru` writes over a list of steps says nothing by itself.
pub fn is_label(text: &str) -> bool {
    text.strip_prefix("**").and_then(|rest| rest.strip_suffix(":**")).is_some_and(|label| !label.contains(['*', '\n']))
}

/// Whether a line says that a picture stood in its place.
fn is_picture(line: &str) -> bool {
    line.trim().starts_with("*[image") && line.trim().ends_with("]*")
}

/// Whether a callout says what a parent agent asked for.
fn is_task(callout: &Callout) -> bool {
    callout.kind == "context" && callout.title.trim().eq_ignore_ascii_case("task")
}

/// Tool name of a command that a person ran in the host.
const BY_PERSON: &str = "Shell";

/// Commands that a person typed behind an exclamation mark.
fn commands(user: &User) -> impl Iterator<Item = &str> {
    user.words.lines().filter_map(|line| line.trim().strip_prefix('!')).map(str::trim)
}

/// Whether a step is one of the commands that a person typed.
fn is_own(step: &Step, typed: &HashSet<&str>) -> bool {
    let command = step.command.as_deref().unwrap_or(&step.args).trim();
    step.tool == BY_PERSON && !command.is_empty() && typed.contains(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    fn session(body: &str) -> Session {
        let text = format!("---\ntype: session\nsession_id: s\n---\n# T\n\n{body}");
        cru_session::read::session(&Note::parse(text)).0
    }

    fn told(body: &str) -> Vec<String> {
        let session = session(body);
        let row = |turn: &Turn<'_>| {
            let steps: Vec<&str> = turn.steps().filter_map(|(place, _)| place.id_in(&session)).collect();
            let conclusion = turn.conclusion().map_or("-", |prose| prose.text.trim());
            format!("{} [{}] {conclusion} {:?}", turn.id().unwrap_or("-"), steps.join(" "), turn.taken)
        };
        turns(&session).iter().map(row).collect()
    }

    #[test]
    fn request_work_conclusion_and_how_it_was_taken() {
        let body = "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Fix it.\"\n\n^u-01\n\n\
                    > [!user]\n> \"Soon.\"\n\n^u-02\n\nI look.\n\n**Tool calls:**\n- `Edit a` → ok ^n-001\n\nFixed.\n\n\
                    > [!user] Correction\n> \"Not there.\"\n\n^u-03\n\n**Tool calls:**\n- `Edit b` → ok ^n-002\n\n\
                    *Interrupted by the user.*\n\n\
                    ## Two @a #dev\n\n*2026-11-20T10:00:00Z* ^p-02\n\n> [!user]\n> \"Now the docs.\"\n\n^u-04\n\n\
                    **Tool calls:**\n- `Edit c` → ok ^n-003\n\n> [!usage] 10 tokens\n> | a |\n";
        assert_eq!(told(body), ["u-01 [n-001] Fixed. Corrects", "u-03 [n-002] - Corrects", "u-04 [n-003] - Last"]);
    }

    /// How words took work that edited `pump.c` and ended with `end`.
    fn taken(end: &str, title: &str, words: &str) -> Taken {
        let body = format!(
            "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Fix it.\"\n\n\
             - `Edit pump.c` → ok\n    - writes: `pump.c`\n{end}\n\n> [!user] {title}\n> \"{words}\"\n"
        );
        let session = session(&body);
        turns(&session)[0].taken
    }

    #[test]
    fn how_words_took_the_work() {
        let stop = "\n*Interrupted by the user.*";
        let denied = "- `Bash rm -r lib` → ✗ denied by user";
        for (end, title, words, wanted) in [
            ("\nDone.", "", "No, the other one", Taken::Corrects),
            ("\nDone.", "Correction", "It stands there.", Taken::Corrects),
            ("\nDone.", "Question", "No, is it there?", Taken::Unknown),
            ("\nDone. Shall I push it?", "", "no", Taken::Answers),
            ("\nDone.", "", "Thanks! Now the hose.", Taken::Accepts),
            ("\nDone.", "", "Thanks but it is the wrong way round", Taken::Unknown),
            ("\nDone.", "", "Now the hose.", Taken::Unknown),
            ("\nDone.", "", "/review src", Taken::Continues),
            ("\nDone.", "", "error: pump.c: no such valve\n> make: *** [pump.o] Error 1", Taken::Refutes),
            (stop, "", "go on", Taken::Continues),
            (stop, "", "take the red one", Taken::Corrects),
            (stop, "Question", "take the red one?", Taken::Stopped),
            (denied, "", "move it", Taken::Corrects),
        ] {
            assert_eq!(taken(end, title, words), wanted, "{end} {title} {words}");
        }
    }

    /// A slip that was stopped before anything was done is no request.
    #[test]
    fn what_was_stopped_at_once_is_withdrawn() {
        let body = |next: &str| {
            format!(
                "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"8\"\n\n*Interrupted by the user.*\n\n\
                 > [!user] Correction\n> \"{next}\"\n\n- `Edit a` → ok\n\nDone.\n"
            )
        };
        for (next, withdrawn) in [("6", 1), ("take the sixth one", 1), ("go on", 0)] {
            let session = session(&body(next));
            let turns = turns(&session);
            assert_eq!((turns.len(), turns[0].withdrawn, turns[0].interrupted), (1, withdrawn, false), "{next}");
            assert_eq!(turns[0].conclusion().map(|it| it.text.trim()), Some("Done."), "{next}");
        }
    }

    /// Words that were typed while the agent worked stand between two of its calls.
    #[test]
    fn words_between_calls_are_queued() {
        let body = |end: &str| {
            format!(
                "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"Fix it.\"\n\n- `Edit a` → ok\n{end}\n\n\
                 > [!user]\n> \"Then commit it.\"\n\n- `Edit b` → ok\n\nDone.\n"
            )
        };
        for (end, queued) in [("", true), ("\nFixed.", false), ("\n*Interrupted by the user.*", false)] {
            assert_eq!(turns(&session(&body(end)))[1].queued, queued, "{end}");
        }
        assert!(!turns(&session(&body("").replace("Done.\n", "")))[1].queued, "no closing words are recorded at all");
    }

    #[test]
    fn abandoned_work_is_in_no_turn() {
        let body = "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n- `A` → ok ^n-001\n- `B` → ok ^n-002\n\n\
                    ## Two @a #dev\n\n*2026-11-20T10:00:00Z* ^p-02\n\n- `C` → ok ^n-003\n\n\
                    ## Three @a #dev\n\n*2026-11-20T11:00:00Z* from: [[#^p-01]] ^p-03\n\n- `D` → ok ^n-004\n";
        assert_eq!(told(body), ["- [n-001 n-002] - Last", "- [n-004] - Last"]);
    }

    #[test]
    fn what_the_person_ran_is_theirs() {
        let body = "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n> [!user]\n> \"!ls\"\n\n^u-01\n\n\
                    **Tool calls:**\n- `Shell ls` → a ^n-001\n\n> [!user]\n> \"what is a?\"\n\n^u-02\n\nA file.\n";
        let session = session(body);
        let turns = turns(&session);
        assert_eq!((turns.len(), turns[0].own.len(), turns[0].requests.len()), (1, 1, 2));
        assert_eq!(turns[0].conclusion().map(|it| it.text.trim()), Some("A file."));
        let body = "## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n- `Bash make` → ok ^n-001\n\nMade.\n\n\
                    > [!user]\n> \"!ls\"\n\n^u-01\n\n**Tool calls:**\n- `Shell ls` → a ^n-002\n";
        let items = self::session(body).phases.remove(0).items;
        assert_eq!(conclusion(items.iter()).map(|it| it.text.trim()), Some("Made."));
        assert_eq!(conclusion(items[..1].iter()), None);
    }

    const PIECES: &[&str] = &[
        "## One @a #dev\n\n*2026-11-20T09:00:00Z*\n",
        "## Two @a #dev\n\n*2026-11-20T10:00:00Z* from: [[#^p-01]] after: [[#^n-001]]\n",
        "### Part @a\n\nfrom: [[#^n-002]]\n",
        "## Notes\n",
        "> [!user]\n> \"do it\"\n",
        "> [!user] Correction\n> \"!ls\"\n",
        "- `Bash make` → ✗ denied by user ^n-001\n    - after: [[#^n-002]]\n    - writes: `a`\n",
        "- `Shell ls` → ok ^n-002\n    - reads: `a`, `../b`\n",
        "- `Edit a` → ok\n    - reads: `a`\n    - writes: `a`\n",
        "Done.\n",
        "*Interrupted by the user.*\n",
        "*[image/png, 3 kB]*\n",
        "> [!context] Task\n> Do.\n",
        "> [!usage] 3 tokens\n> none\n",
        "> [!decision] Plan: a\n",
        "> [!subagent] @b\n> mode: inline\n>\n> - `Bash x` → ok\n",
    ];

    proptest::proptest! {
        /// Every item of the final path stands in one turn, in the order of the page, and nothing else does.
        #[test]
        fn turns_hold_the_final_path(pieces in proptest::collection::vec(0..PIECES.len(), 0..30)) {
            let body: Vec<&str> = pieces.iter().map(|&at| PIECES[at]).collect();
            let session = session(&body.join("\n"));
            let path = FinalPath::of(&session);
            let phases = (0..session.phases.len()).filter(|&index| path.has(index));
            let on = phases.flat_map(|index| path.items(&session, index)).chain(&session.preface);
            let steps = on.filter(|item| matches!(item, Item::Step(_))).count();
            let turns = turns(&session);
            let places: Vec<Place> = turns.iter().flat_map(|turn| turn.own.iter().chain(&turn.work)).map(|it| it.place).collect();
            let held = places.iter().filter(|place| place.step_in(&session).is_some()).count();
            proptest::prop_assert_eq!(held, steps);
            for turn in &turns {
                proptest::prop_assert!(turn.work.is_sorted_by(|a, b| a.place < b.place));
                proptest::prop_assert!(turn.conclusion().is_none() || !turn.interrupted);
            }
            proptest::prop_assert!(turns.iter().rev().take(1).all(|turn| turn.taken == Taken::Last));
            // The others are total, and what they name is there.
            for it in crate::dependencies(&session) {
                proptest::prop_assert!(it.of != it.on && it.of.id_in(&session).is_some() | it.of.step_in(&session).is_some());
            }
            for it in crate::recoveries(&session) {
                proptest::prop_assert!(it.failed <= it.again && it.again < it.worked);
            }
            let _ = crate::plan(&session);
        }
    }
}
