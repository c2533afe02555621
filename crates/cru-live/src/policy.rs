//! The save policy: whether the note is due to be written after an event.
//!
//! Looked at by every hook, so it reads little: nothing for an event that completes something, else the first
//! unwritten line of the journal, and its size in lines where the policy counts events.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::hook::Event;

/// Seconds after the first unwritten entry at which the note is written by any policy.
pub const LATEST: i64 = 30;

/// `[session] save`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Save {
    /// When a phase ends, and what else completes something.
    #[default]
    Phase,
    /// After each step.
    Step,
    /// After so many events.
    Events(u64),
    /// So many seconds after the first unwritten event.
    Seconds(u64),
}

impl Save {
    /// As it stands in the configuration: `phase`, `step`, `20 events`, `30 s`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text {
            "phase" => return Some(Self::Phase),
            "step" => return Some(Self::Step),
            _ => {}
        }
        let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = text[..text.len() - unit.len()].parse().ok().filter(|&count| count > 0)?;
        match unit.trim_start() {
            "event" | "events" => Some(Self::Events(count)),
            "s" | "sec" | "second" | "seconds" => Some(Self::Seconds(count)),
            _ => None,
        }
    }

    /// Whether the note is due after `event`, which is in the journal already; what is behind `written` bytes of that
    /// is not in the note.
    pub fn due(self, event: Event, journal: &Path, written: u64, now: Timestamp) -> bool {
        if event.completes() || (self == Self::Step && event.ends_step()) {
            return true;
        }
        let Some(unwritten) = Unwritten::read(journal, written, self) else { return false };
        if let Self::Events(count) = self
            && unwritten.events >= count
        {
            return true;
        }
        let latest = if let Self::Seconds(count) = self { i64::try_from(count).unwrap_or(i64::MAX) } else { LATEST };
        let latest = SignedDuration::from_secs(latest);
        // A clock that was put back must not keep the note from being written.
        unwritten.first.is_some_and(|first| now.duration_since(first).abs() >= latest)
    }
}

/// What a journal holds that is not written.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unwritten {
    /// When the first of it happened.
    first: Option<Timestamp>,
    /// Lines, where they are counted.
    events: u64,
}

impl Unwritten {
    fn read(journal: &Path, written: u64, save: Save) -> Option<Self> {
        /// More than this is due whatever it holds.
        const TAIL: u64 = 4 << 20;
        let mut file = cru_base::files::open_regular(journal).ok()?;
        let size = file.metadata().ok()?.len();
        // A journal that was begun again is shorter, or no line of it begins here. A line begins with its line end.
        let mut from = if written > size { 0 } else { written };
        if from > 0 && from < size {
            let mut first = [0];
            file.seek(SeekFrom::Start(from)).ok()?;
            file.read_exact(&mut first).ok()?;
            if first != *b"\n" {
                from = 0;
            }
        }
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        // An entry's time stands at its beginning, so this is enough for the first.
        let most = if matches!(save, Save::Events(_)) { TAIL } else { 1024 };
        file.take(most).read_to_end(&mut bytes).ok()?;
        let events =
            if bytes.len() as u64 == TAIL { u64::MAX } else { memchr::memchr_iter(b'\n', &bytes).count() as u64 };
        let first = bytes.split(|&byte| byte == b'\n').take(16).find_map(time);
        Some(Self { first, events })
    }
}

/// The time of a journal's line, which may be cut.
fn time(line: &[u8]) -> Option<Timestamp> {
    const NAME: &[u8] = b"\"time\":\"";
    let head = &line[..line.len().min(256)];
    let start = memchr::memmem::find(head, NAME)? + NAME.len();
    let end = start + memchr::memchr(b'"', &head[start..])?;
    std::str::from_utf8(&head[start..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cru_vault::Journal;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    #[test]
    fn words_of_the_configuration() {
        assert_eq!(Save::parse("phase"), Some(Save::Phase));
        assert_eq!(Save::parse(" step "), Some(Save::Step));
        assert_eq!(Save::parse("20 events"), Some(Save::Events(20)));
        assert_eq!(Save::parse("1 event"), Some(Save::Events(1)));
        assert_eq!(Save::parse("5s"), Some(Save::Seconds(5)));
        for odd in ["", "0 s", "-1 s", "x events", "20", "20 days", "99999999999999999999 s", "é"] {
            assert_eq!(Save::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_completes_something_is_always_due() {
        let none = Path::new("/nonexistent");
        for (event, _) in crate::hook::EVENTS {
            assert_eq!(Save::Phase.due(event, none, 0, at(0)), event.completes(), "{event:?}");
        }
        assert!(Save::Step.due(Event::PostTool, none, 0, at(0)));
        assert!(Save::Step.due(Event::PostToolFailure, none, 0, at(0)));
        assert!(!Save::Step.due(Event::PreTool, none, 0, at(0)));
    }

    #[test]
    fn counts_and_waits_from_the_first_unwritten_entry() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.jsonl");
        let journal = Journal::at(&path);
        let due = |save: Save, written, now| save.due(Event::PostTool, &path, written, at(now));
        assert!(!due(Save::Phase, 0, 0), "no journal");
        let size = || std::fs::metadata(&path).unwrap().len();
        journal.append(&"x".repeat(2000), at(0)).unwrap();
        let line = size();
        for second in [10, 20] {
            journal.append(&"x".repeat(2000), at(second)).unwrap();
        }
        let size = size();
        assert!(!due(Save::Phase, 0, 29));
        assert!(due(Save::Phase, 0, 30));
        assert!(due(Save::Phase, 0, -30), "the clock was put back");
        assert!(!due(Save::Phase, line, 39));
        assert!(due(Save::Phase, line, 40));
        assert!(!due(Save::Phase, size, 500), "all is written");
        assert!(due(Save::Phase, size + 1, 30), "another journal of that name");
        assert!(due(Save::Phase, line + 5, 30), "not the end of a line");
        assert!(due(Save::Events(3), 0, 20));
        assert!(!due(Save::Events(3), line, 20));
        assert!(due(Save::Events(9), 0, 30), "thirty seconds hold for all");
        assert!(due(Save::Seconds(21), 0, 21));
        assert!(!due(Save::Seconds(60), 0, 59));
    }

    #[test]
    fn odd_lines_are_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.jsonl");
        cru_base::files::append(&path, b"torn\n\xff\n{\"time\":\"never\"}\n").unwrap();
        assert!(!Save::Phase.due(Event::PostTool, &path, 0, at(1000)));
        Journal::at(&path).append(&1, at(0)).unwrap();
        assert!(Save::Phase.due(Event::PostTool, &path, 0, at(1000)));
    }
}
