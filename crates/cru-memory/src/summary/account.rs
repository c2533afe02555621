//! The page of an account: a line of totals, sections, and as many of their lines as there is room for.

use std::fmt::Write as _;

use cru_base::text::plural;

/// Bytes of the account of a day.
pub const DAY_BYTES: usize = 5_000;

/// A line below a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountLine {
    /// Markdown on one line.
    pub text: String,
    /// Lines of the lowest rank stand before others where not all have room.
    pub rank: u8,
}

/// A session, a project, or a kind of fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Its first line, markdown.
    pub head: String,
    /// What stands below it.
    pub lines: Vec<AccountLine>,
}

impl Section {
    /// Adds a line of a rank.
    pub fn push(&mut self, rank: u8, text: String) {
        self.lines.push(AccountLine { text, rank });
    }
}

/// An account before it is cut to its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The first line.
    pub total: String,
    /// In their order.
    pub sections: Vec<Section>,
}

impl Account {
    /// The markdown, of at most `max` bytes: heads first, then lines by rank, each rank one line of a section after the
    /// other. What had no room is counted where it would stand.
    pub fn render(&self, max: usize) -> String {
        // `    - … 12 more` below each section, and one line for sections.
        const COUNT: usize = 24;
        let mut left = max.saturating_sub(self.total.len() + 2 + 2 * COUNT);
        let mut shown: Vec<Option<Vec<bool>>> = Vec::with_capacity(self.sections.len());
        for section in &self.sections {
            let cost = section.head.len() + 3 + if section.lines.is_empty() { 0 } else { COUNT };
            let fits = cost <= left;
            left -= if fits { cost } else { 0 };
            shown.push(fits.then(|| vec![false; section.lines.len()]));
        }
        for (section, line) in self.by_rank() {
            let cost = self.sections[section].lines[line].text.len() + 7;
            if let Some(taken) = shown[section].as_mut().filter(|_| cost <= left) {
                taken[line] = true;
                left -= cost;
            }
        }
        let mut out = format!("{}\n\n", self.total);
        let mut hidden: u64 = 0;
        for (section, taken) in self.sections.iter().zip(&shown) {
            let Some(taken) = taken else {
                hidden += 1;
                continue;
            };
            let _ = writeln!(out, "- {}", section.head);
            for (line, _) in section.lines.iter().zip(taken).filter(|(_, taken)| **taken) {
                let _ = writeln!(out, "    - {}", line.text);
            }
            let more = taken.iter().filter(|taken| !**taken).count();
            if more > 0 {
                let _ = writeln!(out, "    - … {more} more");
            }
        }
        if hidden > 0 {
            let _ = writeln!(out, "- … {} more", plural(hidden, "section"));
        }
        out
    }

    /// Section and line of each, those that are told first in front.
    fn by_rank(&self) -> Vec<(usize, usize)> {
        let mut all: Vec<(u8, usize, usize, usize)> = Vec::new();
        for (section, it) in self.sections.iter().enumerate() {
            let mut seen = [0_usize; 256];
            for (at, line) in it.lines.iter().enumerate() {
                let nth = &mut seen[usize::from(line.rank)];
                all.push((line.rank, *nth, section, at));
                *nth += 1;
            }
        }
        all.sort_unstable();
        all.into_iter().map(|(_, _, section, line)| (section, line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[test]
    fn what_has_no_room_is_counted() {
        let mut one = Section { head: "[[a]]".into(), lines: Vec::new() };
        one.push(2, "asked: a".into());
        one.push(1, "corrected: b".into());
        one.push(2, "asked: c".into());
        let account = Account {
            total: "**Day**".into(),
            sections: vec![one, Section { head: "[[b]]".into(), ..Section::default() }],
        };
        assert_eq!(
            account.render(1_000),
            "**Day**\n\n- [[a]]\n    - asked: a\n    - corrected: b\n    - asked: c\n- [[b]]\n"
        );
        assert_eq!(account.render(130), "**Day**\n\n- [[a]]\n    - corrected: b\n    - … 2 more\n- [[b]]\n");
        assert_eq!(account.render(0), "**Day**\n\n- … 2 sections more\n");
    }

    proptest! {
        #[test]
        fn never_longer_than_its_room(
            sections in prop::collection::vec(("[a-z]{1,30}", prop::collection::vec((0_u8..5, "[a-zé]{1,80}"), 0..12)), 0..12),
            max in 200_usize..3_000,
        ) {
            let of = |(head, lines): (String, Vec<(u8, String)>)| Section {
                head,
                lines: lines.into_iter().map(|(rank, text)| AccountLine { text, rank }).collect(),
            };
            let account = Account { total: "total".into(), sections: sections.into_iter().map(of).collect() };
            prop_assert!(account.render(max).len() <= max);
        }
    }
}
