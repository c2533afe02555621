//! Names of new notes: `YYYY-MM-DD-<slug>`, unlike any that the vault already has.
//!
//! A name is a file's stem and what links say, so it is unique in the whole vault and not only in its folder, and case
//! does not tell two apart. It is made of letters, digits, `-`, `_` and `.` alone and is never taken from outside.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Catalog;
use cru_base::text::slug;

/// Bytes a name may have, so that there is room for an ending on every file system.
const MAX: usize = 200;

/// The names that are taken.
#[derive(Clone, Debug, Default)]
pub struct Names {
    taken: HashSet<String>,
    /// The number to try next, so that many sessions of one name do not try all again.
    next: HashMap<String, u64>,
}

impl Names {
    /// The stems and session ids of a vault.
    pub fn of(catalog: &Catalog) -> Self {
        let mut names = Self::default();
        for head in &catalog.heads {
            names.take(&head.path.stem());
            if let Some(id) = &head.meta.session_id {
                names.take(id);
            }
        }
        names
    }

    /// Whether a name is taken.
    pub fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(&name.to_lowercase())
    }

    /// Takes a name as it is.
    pub fn take(&mut self, name: &str) {
        self.taken.insert(name.to_lowercase());
    }

    /// `wanted`, or `wanted-2`, `wanted-3` … where it is taken.
    pub fn claim(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_lowercase()) {
            return wanted.to_owned();
        }
        let next = self.next.entry(wanted.to_lowercase()).or_insert(2);
        loop {
            let name = format!("{wanted}-{next}");
            *next += 1;
            if self.taken.insert(name.to_lowercase()) {
                return name;
            }
        }
    }
}

/// `2026-11-20-refresh-tokens`; without a time the words alone. The date is that of `zone`.
pub fn session_name(started: Option<Timestamp>, words: &str, zone: &TimeZone) -> String {
    const WORDS: usize = 6;
    let slug = Some(slug(&cru_session::public::text(words), WORDS))
        .filter(|slug| !slug.is_empty())
        .unwrap_or_else(|| "session".to_owned());
    match started {
        Some(time) => format!("{}-{slug}", time.to_zoned(zone.clone()).date()),
        None => slug,
    }
}

/// `<parent>-<agent>`; `None` where that would be too long.
pub fn child_name(parent: &str, agent: &str) -> Option<String> {
    let name = format!("{parent}-{}", slug(agent, usize::MAX));
    (name.len() <= MAX).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let time = "2026-11-20T23:59:59Z".parse().ok();
        let name = |time, words| session_name(time, words, &TimeZone::UTC);
        assert_eq!(name(time, "Refresh: the ../tokens"), "2026-11-20-refresh-the-tokens");
        assert_eq!(name(time, "…"), "2026-11-20-session");
        assert_eq!(name(None, "a"), "a");
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(session_name(time, "a", &berlin), "2026-11-21-a");
        assert_eq!(child_name("2026-11-20-a", "code Reviewer").as_deref(), Some("2026-11-20-a-code-reviewer"));
        assert_eq!(child_name(&"x".repeat(199), "reviewer"), None);
    }

    #[test]
    fn collisions_ignore_case() {
        let mut names = Names::default();
        names.take("2026-11-20-A");
        assert_eq!(names.claim("2026-11-20-a"), "2026-11-20-a-2");
        assert_eq!(names.claim("2026-11-20-a"), "2026-11-20-a-3");
        assert_eq!(names.claim("2026-11-20-b"), "2026-11-20-b");
    }
}
