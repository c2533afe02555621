//! How long a session was worked on.

use jiff::Timestamp;

use crate::{Item, Session};
use cru_action::ToolKind;

/// Milliseconds between the moments that a note records (begin and end of the session, phases, steps with their ends,
/// callouts), without those times between two moments that are ten minutes or longer, and without the time that a question or a plan waited for a
/// person. `None` where none of these times is left.
pub fn active_ms(session: &Session) -> Option<u64> {
    let mut moments: Vec<i64> = [session.meta.started, session.meta.ended].into_iter().flatten().map(ms).collect();
    for phase in &session.phases {
        moments.extend(phase.started.map(ms));
    }
    let mut waits: Vec<(i64, i64)> = Vec::new();
    for (_, item) in session.items() {
        match item {
            Item::Step(step) => {
                let Some(start) = step.time.map(ms) else { continue };
                let length = step.duration_ms.and_then(|ms| i64::try_from(ms).ok());
                moments.push(start);
                let end = length.and_then(|length| start.checked_add(length));
                moments.extend(end);
                if ToolKind::of(&step.tool).waits_for_person() {
                    waits.push((start, end.unwrap_or(i64::MAX)));
                }
            }
            _ => moments.extend(item.callout().and_then(|callout| callout.at).map(ms)),
        }
    }
    active_between(&mut moments, &mut waits)
}

/// A note writes whole seconds.
fn ms(time: Timestamp) -> i64 {
    time.as_second() * 1_000
}

fn active_between(moments: &mut [i64], waits: &mut [(i64, i64)]) -> Option<u64> {
    moments.sort_unstable();
    // One of which nothing says how long it was lasts until something else comes.
    for (start, end) in waits.iter_mut().filter(|wait| wait.1 == i64::MAX) {
        let next = moments.partition_point(|moment| moment <= start);
        *end = moments.get(next).copied().unwrap_or(*start);
    }
    waits.sort_unstable();
    // Waits begin in order, as the moments do; the latest end of those that began so far.
    let (mut next, mut until) = (0, i64::MIN);
    let mut is_wait = |from: i64, to: i64| {
        while let Some(wait) = waits.get(next).filter(|wait| wait.0 <= from) {
            until = until.max(wait.1);
            next += 1;
        }
        to <= until
    };
    let worked = moments.windows(2).filter(|pair| !is_wait(pair[0], pair[1]));
    let gaps = worked.filter_map(|pair| pair[1].checked_sub(pair[0]));
    // Milliseconds without a recorded moment from which on nobody is taken to be at work: ten minutes.
    let sum =
        gaps.filter(|gap| *gap < (10 * 60 * 1_000)).fold(0, |sum: u64, gap| sum.saturating_add(gap.unsigned_abs()));
    (sum > 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_note::Note;

    #[test]
    fn pauses_of_ten_minutes_do_not_count() {
        let text = "---\ntype: session\nsession_id: s\nstarted: 2026-11-20T09:00:00Z\nended: 2026-11-20T12:00:00Z\n---\n\
                    # T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
                    - `Read a.rs` → ok (09:05:00) ^n-001\n- `Bash make` → ok (09:14:59) ^n-002\n\
                    - `Bash make` → ok (11:55:00) ^n-003\n";
        let (session, _) = crate::read::session(&Note::parse(text));
        assert_eq!(active_ms(&session), Some((14 * 60 + 59 + 5 * 60) * 1_000));
        assert_eq!(active_ms(&Session::default()), None);
    }

    #[test]
    fn a_wait_for_a_person_does_not_count() {
        let text = "---\ntype: session\nsession_id: s\n---\n# T\n\n## One @a #dev\n\n*2026-11-20T09:00:00Z* ^p-01\n\n\
                    - `AskUserQuestion which?` → red (09:01:00, 480.0 s) ^n-001\n- `Bash make` → ok (09:10:00) ^n-002\n";
        let (session, _) = crate::read::session(&Note::parse(text));
        assert_eq!(active_ms(&session), Some(2 * 60 * 1_000));
        let (session, _) = crate::read::session(&Note::parse(text.replace(", 480.0 s", "")));
        assert_eq!(active_ms(&session), Some(60 * 1_000), "the wait ends when the next step begins");
    }

    proptest::proptest! {
        #[test]
        fn never_more_than_the_wall_clock(mut moments in proptest::collection::vec(proptest::num::i64::ANY, 0..9)) {
            let wall = moments.iter().max().zip(moments.iter().min()).map(|(last, first)| last.abs_diff(*first));
            let active = active_between(&mut moments, &mut []);
            proptest::prop_assert!(active.is_none_or(|active| wall.is_some_and(|wall| active <= wall)));
        }
    }
}
