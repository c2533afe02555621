//! An account of what was done since the last checkpoint: facts and words as they were said, a line each.

use cru_session::{Item, Session};
use jiff::Timestamp;

use super::callout;
use crate::summary::{PeriodFacts, TimeWindow};

/// Lines of one kind.
const MOST: usize = 5;

/// The session without what stands before its last checkpoint: what has no time of its own is told by its place.
fn behind_last(session: &Session) -> Session {
    let mut rest = session.clone();
    let is_mark = |item: &Item| matches!(item, Item::Callout(it) if it.kind == "checkpoint");
    let last = rest.phases.iter().rposition(|phase| phase.items.iter().any(is_mark));
    if let Some(last) = last {
        rest.preface.clear();
        for phase in &mut rest.phases[..last] {
            phase.items.clear();
        }
        let items = &mut rest.phases[last].items;
        let at = items.iter().rposition(is_mark).map_or(0, |at| at + 1);
        items.drain(..at);
    }
    rest
}

/// The account as a list; `None` where nothing was done.
pub fn since(session: &Session, now: Timestamp) -> Option<String> {
    let rest = behind_last(session);
    let facts = PeriodFacts::of(&rest, TimeWindow { start: Timestamp::MIN, end: Timestamp::MAX })?;
    let commits = facts.commits.iter().map(|(id, subject)| format!("`{id}` {subject}")).collect();
    let quoted = |words: &[String]| words.iter().map(|words| format!("\"{words}\"")).collect();
    let mut lines: Vec<String> = callout::since(session, now).into_iter().map(|line| format!("- {line}")).collect();
    for (kind, of_kind) in [
        ("Asked", quoted(&facts.requests)),
        ("Corrected", quoted(&facts.corrections)),
        ("Decided", facts.decisions),
        ("Committed", commits),
        ("Error", facts.errors),
        ("Learned", facts.lessons),
    ] as [(&str, Vec<String>); 6]
    {
        let more = of_kind.len().saturating_sub(MOST);
        lines.extend(of_kind.into_iter().take(MOST).map(|line| format!("- {kind}: {line}")));
        if more > 0 {
            lines.push(format!("- {kind}: … and {more} more"));
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
