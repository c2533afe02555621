//! The decisions of a session: every title in every pack, and as much of their reasons as fits.

use super::entry::Entry;
use super::point::Point;
use super::{text, token};
use cru_session::{Decision, Item, Session};

/// A decision with its place.
pub(super) struct Made<'a> {
    decision: &'a Decision,
    place: String,
}

/// All of a session, also those in sub-agents' inline work and behind the resume point.
pub(super) fn all<'a>(session: &'a Session, point: &Point<'_>) -> Vec<Made<'a>> {
    let mut found = Vec::new();
    let mut collect = |items: &'a [Item], place: &str| {
        for item in items {
            match item {
                Item::Decision(decision) => found.push(Made { decision, place: place.to_owned() }),
                Item::Subagent(agent) => {
                    let inner = agent.items.iter().filter_map(|item| match item {
                        Item::Decision(decision) => Some(decision),
                        _ => None,
                    });
                    found.extend(inner.map(|decision| Made { decision, place: format!("{place}, by a sub-agent") }));
                }
                _ => {}
            }
        }
    };
    collect(&session.preface, "before the first phase");
    for (index, phase) in session.phases.iter().enumerate() {
        let behind = if index >= point.end { ", after the resume point" } else { "" };
        collect(&phase.items, &format!("{}{behind}", text::short(&phase.id, 20)));
    }
    found
}

impl Made<'_> {
    /// What was decided, on one line.
    pub(super) fn title(&self) -> String {
        title(self.decision)
    }

    fn line(&self) -> String {
        format!("- **{}** ({})", self.title(), self.place)
    }

    fn body(&self) -> String {
        let it = self.decision;
        let mut body = text::clean(&it.text).trim().to_owned();
        if it.callout.title.trim().is_empty() {
            // Its first line stands for the title.
            body = body.split_once('\n').map_or_else(String::new, |(_, rest)| rest.trim().to_owned());
        }
        for (name, value) in [("Why", &it.why), ("Rejected", &it.rejected), ("Impact", &it.impact)] {
            let value = text::clean(value.as_deref().unwrap_or_default());
            if !value.trim().is_empty() {
                body.push_str(if body.is_empty() { "" } else { "\n" });
                body.push_str(&format!("{name}: {}", value.trim()));
            }
        }
        let links: Vec<String> = it.rests_on.iter().map(|link| text::inline(&link.to_string())).collect();
        if !links.is_empty() {
            body.push_str(if body.is_empty() { "" } else { "\n" });
            body.push_str(&format!("Rests on: {}", links.join(", ")));
        }
        body
    }
}

/// The title of a decision; the first line of its text where it has none.
pub(super) fn title(decision: &Decision) -> String {
    let own = text::inline(&decision.callout.title);
    if !own.is_empty() {
        return own;
    }
    let said = [Some(&decision.text), decision.why.as_ref()].into_iter().flatten();
    let line = said.filter_map(|text| text.lines().find(|line| !line.trim().is_empty())).map(text::inline);
    line.into_iter().find(|line| !line.is_empty()).unwrap_or_else(|| "Untitled".to_owned())
}

/// What the titles alone cost.
pub(super) fn titles(made: &[Made<'_>]) -> Vec<Entry> {
    made.iter().map(|it| Entry::new(it.title(), it.line()).cut(!it.body().is_empty())).collect()
}

/// Each in full.
pub(super) fn full(made: &[Made<'_>]) -> Vec<Entry> {
    made.iter().map(|it| entry(it, &it.body(), false)).collect()
}

/// Titles in full and bodies within `room` tokens beyond them: evenly, the newest with up to twice the share of the
/// oldest; what one does not need goes to the others.
pub(super) fn shortened(made: &[Made<'_>], room: u64) -> Vec<Entry> {
    let bodies: Vec<String> = made.iter().map(Made::body).collect();
    let needs: Vec<u64> = bodies.iter().map(|body| token::count(&text::quote(body, "  "))).collect();
    let shares = shares(&needs, room);
    let pieces = made.iter().zip(&bodies).zip(needs.iter().zip(&shares));
    pieces
        .map(|((it, body), (need, share))| {
            if need <= share {
                return entry(it, body, false);
            }
            // A quote's marks cost a token a line; fit what is left by cutting a little more.
            let mut aim = *share;
            loop {
                let (text, _) = text::cut(body, aim);
                let whole = entry(it, if aim < 6 { "" } else { &text }, true);
                if aim < 6 || whole.tokens <= token::count(&it.line()) + share {
                    return whole;
                }
                aim -= aim.div_ceil(8).max(1);
            }
        })
        .collect()
}

/// Deals `room` out: nobody gets more than is needed.
fn shares(needs: &[u64], room: u64) -> Vec<u64> {
    let weight = |index: usize| needs.len() as u64 + index as u64;
    let mut shares = vec![0; needs.len()];
    let mut open: Vec<usize> = (0..needs.len()).collect();
    // The smallest need for its weight first: whoever comes later may have what is left over.
    open.sort_by(|&a, &b| (needs[a] * weight(b)).cmp(&(needs[b] * weight(a))));
    let mut weights: u64 = open.iter().map(|&index| weight(index)).sum();
    let mut left = room;
    for index in open {
        let share = (left * weight(index) / weights.max(1)).min(needs[index]);
        shares[index] = share;
        left -= share;
        weights -= weight(index);
    }
    shares
}

fn entry(it: &Made<'_>, body: &str, cut: bool) -> Entry {
    let mut text = it.line();
    if !body.is_empty() {
        text.push('\n');
        text.push_str(text::quote(body, "  ").trim_end());
    }
    Entry::new(it.title(), text).cut(cut)
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn the_newest_keep_most() {
        assert_eq!(shares(&[100, 100, 100], 120), [30, 40, 50]);
        assert_eq!(shares(&[100, 10, 100], 120), [42, 10, 68]);
        assert_eq!(shares(&[10, 10], 120), [10, 10]);
        assert_eq!(shares(&[10, 10], 0), [0, 0]);
        assert_eq!(shares(&[], 9), [0; 0]);
    }
}
