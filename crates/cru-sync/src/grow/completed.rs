//! Figures that later records complete: a host may write a message first and its tokens afterwards.
//!
//! What a note was made of is read again from records that say more now than they did then. The figures of the note itself
//! are those that were told, as long as they are not more than what the records say.

use cru_session::{Item, Session, usage};

/// Gives `session`, which is read again, the figures that the note `there` was told.
pub(super) fn as_told(session: &mut Session, there: &Session) {
    let used = |item: &Item| usage::total(&usage::read(item.callout().map_or("", |it| it.body.as_str()))).used();
    let (told, now) = (table(there).cloned(), table(session).map(used));
    // A person who deletes the property leaves the table; what neither of them says was not known.
    let unknown = there.meta.tokens_used.is_none() && told.is_none();
    let fewer = there.meta.tokens_used.is_some() && there.meta.tokens_used <= session.meta.tokens_used;
    if unknown || fewer {
        session.meta.tokens_used = there.meta.tokens_used;
    }
    if there.meta.cost_usd.is_some() && there.meta.cost_usd <= session.meta.cost_usd {
        session.meta.cost_usd = there.meta.cost_usd;
    }
    if unknown && there.meta.model.is_none() {
        session.meta.model = None;
    }
    match (told, now) {
        (None, Some(_)) if unknown => {
            for phase in &mut session.phases {
                phase.items.retain(|item| !is_usage(item));
            }
        }
        (Some(told), Some(now)) if used(&told) <= now => {
            let items = session.phases.iter_mut().flat_map(|phase| &mut phase.items);
            if let Some(item) = items.into_iter().find(|item| is_usage(item)) {
                *item = told;
            }
        }
        _ => {}
    }
}

fn table(session: &Session) -> Option<&Item> {
    session.phases.iter().flat_map(|phase| &phase.items).find(|item| is_usage(item))
}

fn is_usage(item: &Item) -> bool {
    item.callout().is_some_and(|callout| callout.kind == usage::KIND)
}
