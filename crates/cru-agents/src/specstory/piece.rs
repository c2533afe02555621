//! Lines to pieces: who speaks, what they say, what tools did.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::file::markdown::{Block, Fences};

/// Who speaks from a line on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Speaker {
    pub(super) is_user: bool,
    /// A sub-agent's turn.
    pub(super) aside: bool,
    pub(super) model: Option<String>,
    pub(super) time: Option<Timestamp>,
}

/// A piece of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// A line of the head.
    Head,
    /// The line that says who speaks.
    Speaker,
    /// Words.
    Words,
    /// What a tool did.
    Tool,
    /// What stands for a tool that is not told: lines that it changed, without their file, or the end of an empty piece.
    Untold,
    /// What the agent thought.
    Thought,
    /// A line between turns.
    Rule,
}

/// A piece with all of its lines.
pub(super) type SpecStoryPiece<'t> = Block<'t, PieceKind>;

/// Who a line says speaks: `_**User (2026-01-02 03:04:05Z)**_`.
pub(super) fn speaker(line: &str) -> Option<Speaker> {
    const LONGEST: usize = 200;
    let inside = line.trim_end().strip_prefix("_**")?.strip_suffix("**_").filter(|it| it.len() <= LONGEST)?;
    let (name, more) = inside.split_once(" (").map_or((inside, ""), |(name, more)| (name, more.trim_end_matches(')')));
    let (name, aside) = name.strip_suffix(" - sidechain").map_or((name, false), |name| (name, true));
    let is_user = match name.trim() {
        "User" => true,
        "Agent" | "Assistant" | "" => false,
        _ => return None,
    };
    let time_at = more.char_indices().rev().filter(|(_, c)| *c == ' ').nth(1).map_or(0, |(at, _)| at);
    let time = time_in(&more[time_at..]);
    let named = if time.is_some() { &more[..time_at] } else { more };
    // `model m, mode Agent`, or the model alone.
    let labelled = named.split(',').find_map(|part| part.trim().strip_prefix("model "));
    let model = labelled.unwrap_or_else(|| named.split(' ').next().unwrap_or(""));
    let known = !is_user && !matches!(model, "" | "default" | "mode" | "agent" | "ask" | "edit" | "chat");
    let model = known.then(|| model.to_owned());
    Some(Speaker { is_user, aside, model, time })
}

/// The pieces of a history, in order; blank lines are of none.
pub(super) fn pieces<'t>(lines: &[&'t str]) -> Vec<SpecStoryPiece<'t>> {
    let mut scan = SpecStoryScan {
        lines,
        pieces: Vec::new(),
        fences: Fences::default(),
        words: None,
        dated: false,
        turn: 0,
        bare_from: if lines.first().is_some_and(|line| line.contains(", Markdown v")) { usize::MAX } else { 0 },
    };
    let mut at = 0;
    while at < lines.len() {
        at = scan.line(at);
    }
    scan.end_words(lines.len());
    scan.pieces
}

/// How many lines stand before the last block, if its end is not there yet: a history may be read while it is written.
pub(super) fn finished(lines: &[&str]) -> usize {
    let last = pieces(lines).pop().filter(|last| matches!(last.kind, PieceKind::Tool | PieceKind::Thought));
    let is_open = |last: &SpecStoryPiece<'_>| {
        let marks = [("<tool-use ", "</tool-use>"), ("<think>", "</think>"), ("<details>", "</details>")];
        let (first, end) = (last.lines[0].trim(), last.lines.iter().rev().find(|line| !line.trim().is_empty()));
        let mark = marks.iter().find(|(open, _)| first.starts_with(open));
        let is_last = last.at + last.lines.len() == lines.len();
        is_last && mark.zip(end).is_some_and(|((_, mark), end)| !end.trim_end().ends_with(mark))
    };
    last.filter(is_open).map_or(lines.len(), |last| last.at)
}

struct SpecStoryScan<'l, 't> {
    lines: &'l [&'t str],
    pieces: Vec<SpecStoryPiece<'t>>,
    fences: Fences,
    /// Where the words began.
    words: Option<usize>,
    /// Whether the last line that says who speaks also says when: so do all of a newer history.
    dated: bool,
    /// Which piece of the agent's turn this is, from 1; 0 while a person speaks.
    turn: usize,
    /// From where on tools may have blocks without their names; nowhere in a history whose lines say more than who speaks.
    bare_from: usize,
}

impl SpecStoryScan<'_, '_> {
    /// Takes in the line `at`; where to go on.
    fn line(&mut self, at: usize) -> usize {
        let line = self.lines[at];
        let text = line.trim();
        if let Some(speaker) = self.speaks(at) {
            self.end_words(at);
            self.fences = Fences::default();
            self.dated = speaker.time.is_some();
            self.bare_from = if line.contains('(') { usize::MAX } else { self.bare_from };
            self.turn = if speaker.is_user { 0 } else { self.turn.max(1) };
            return self.put(PieceKind::Speaker, at, at + 1);
        }
        if self.pieces.last().is_none_or(|it| it.kind == PieceKind::Head) {
            return if text.is_empty() { at + 1 } else { self.put(PieceKind::Head, at, at + 1) };
        }
        if text == "---" && self.is_rule(at) {
            self.end_words(at);
            let is_empty = self.pieces.last().is_some_and(|it| it.lines == ["---"] || it.kind == PieceKind::Speaker);
            let untold = is_empty && self.turn > 1 && self.bare_from < usize::MAX;
            self.turn += usize::from(self.turn > 0);
            return self.put(if untold { PieceKind::Untold } else { PieceKind::Rule }, at, at + 1);
        }
        if !self.fences.is_open()
            && let Some((kind, to)) = self.block(at)
        {
            self.end_words(at);
            return self.put(kind, at, to);
        }
        self.fences.see(line);
        if !text.is_empty() {
            self.words.get_or_insert(at);
        }
        at + 1
    }

    fn put(&mut self, kind: PieceKind, from: usize, to: usize) -> usize {
        self.pieces.push(Block { kind, at: from, lines: self.lines[from..to].to_vec() });
        to
    }

    fn end_words(&mut self, at: usize) {
        if let Some(from) = self.words.take() {
            let to = (from..at).rev().find(|line| !self.lines[*line].trim().is_empty()).map_or(from, |last| last + 1);
            self.put(PieceKind::Words, from, to);
        }
    }

    /// Whether the line `at` says who speaks, where it stands. In a fence that is not closed only a line with a time,
    /// or behind a line between turns, does.
    fn speaks(&self, at: usize) -> Option<Speaker> {
        let speaker = speaker(self.lines[at])?;
        let behind_rule = || {
            let before = self.lines[..at].iter().rev().take(4).find(|line| !line.trim().is_empty());
            before.is_none_or(|line| line.trim() == "---")
        };
        (!self.fences.is_open() || speaker.time.is_some() || behind_rule()).then_some(speaker)
    }

    /// Whether the line `at`, three dashes, stands between turns or pieces.
    fn is_rule(&self, at: usize) -> bool {
        if self.fences.is_open() { self.goes_on(at) } else { !self.dated || self.is_last(at) }
    }

    /// Whether the turn ends with the line `at`.
    fn is_last(&self, at: usize) -> bool {
        let next = self.lines[at + 1..].iter().find(|line| !line.trim().is_empty());
        next.is_none_or(|line| speaker(line).is_some())
    }

    /// The block that begins with the line `at`, and where it ends.
    fn block(&mut self, at: usize) -> Option<(PieceKind, usize)> {
        let text = self.lines[at].trim();
        if text.starts_with("```") {
            return self.unnamed(at);
        }
        if text.starts_with("<tool-use data-tool-type=") {
            return Some((PieceKind::Tool, self.closed(at, "</tool-use>")));
        }
        if text.starts_with("<think><details>") {
            return Some((PieceKind::Thought, self.closed(at, "</think>")));
        }
        if text.starts_with("<details>") {
            let summary =
                [at, at + 1].iter().filter_map(|at| self.lines.get(*at)).find_map(|line| super::tool::summary(line));
            return summary.map(|_| (PieceKind::Tool, self.closed(at, "</details>")));
        }
        if text.starts_with("Read file: ") {
            return Some((PieceKind::Tool, at + 1));
        }
        if text.starts_with("Tool use: **") {
            return Some((PieceKind::Tool, self.to_rule(at)));
        }
        None
    }

    /// The block of a tool without its name that begins with the line `at`, and where it ends: a piece of fences alone, which
    /// are a command and what it printed, or changed lines. The first piece of a turn is none: all of an answer may be fences.
    fn unnamed(&mut self, at: usize) -> Option<(PieceKind, usize)> {
        if self.turn < 2 || self.words.is_some() || at < self.bare_from {
            return None;
        }
        let (mut languages, mut open) = (Vec::new(), false);
        for (offset, line) in self.lines[at..].iter().enumerate() {
            self.bare_from = at + offset;
            match (open, line.trim_end()) {
                (false, "---") if languages == ["bash", ""] => return Some((PieceKind::Tool, self.bare_from)),
                (false, "---") if languages.iter().all(|it| *it == "diff") => {
                    return Some((PieceKind::Untold, self.bare_from));
                }
                (false, "") => {}
                // Marks of lines within stand behind the sign of a change.
                (true, "```") => open = false,
                (true, line) if speaker(line).is_none() => {}
                (false, line) if line.starts_with("```") => {
                    languages.push(&line[3..]);
                    open = true;
                }
                _ => return None,
            }
        }
        None
    }

    /// Where the block ends that begins at `at` and is closed by `mark`: behind the first line that ends with it and
    /// stands in no fence, or behind which the turn ends. One that is not closed ends where the next turn begins.
    fn closed(&self, at: usize, mark: &str) -> usize {
        let mut fences = Fences::default();
        for (offset, line) in self.lines[at..].iter().enumerate() {
            let here = at + offset;
            let text = line.trim_end();
            if text.ends_with(mark) && (!fences.is_open() || (text.starts_with("</") && self.goes_on(here))) {
                return here + 1;
            }
            if offset > 0 && speaker(line).is_some_and(|speaker| speaker.time.is_some()) && !fences.is_open() {
                return here;
            }
            fences.see(line);
        }
        self.lines.len()
    }

    /// Whether what stands behind the line `at` can only stand outside a fence and a block.
    fn goes_on(&self, at: usize) -> bool {
        let next = self.lines[at + 1..].iter().find(|line| !line.trim().is_empty());
        next.is_some_and(|line| line.trim() == "---" || speaker(line).is_some_and(|speaker| speaker.time.is_some()))
    }

    /// Where an old block ends, which nothing closes but the line before the next piece.
    fn to_rule(&self, at: usize) -> usize {
        let mut fences = Fences::default();
        for (offset, line) in self.lines[at..].iter().enumerate() {
            if line.trim() == "---" && !fences.is_open() {
                return at + offset;
            }
            if !(fences.is_open() && line.starts_with(' ')) {
                fences.see(line);
            }
        }
        self.lines.len()
    }
}

/// A time in any of the forms that histories have; one without a zone is taken for that of UTC.
pub(super) fn time_in(text: &str) -> Option<Timestamp> {
    const LONGEST: usize = 40;
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let text = text.strip_suffix('Z').unwrap_or(text);
    let forms = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%d/%m/%Y, %H:%M:%S", "%d/%m/%Y, %H:%M"];
    let time = forms.iter().find_map(|form| DateTime::strptime(form, text).ok())?;
    time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_speaks() {
        let of = |line: &str| {
            let it = speaker(line)?;
            let time = it.time.map(|time| time.to_string()).unwrap_or_default();
            Some(format!("{} {} {} {time}", it.is_user, it.aside, it.model.unwrap_or_default()))
        };
        assert_eq!(of("_**User (2026-01-02 03:04:05Z)**_").as_deref(), Some("true false  2026-01-02T03:04:05Z"));
        assert_eq!(
            of("_**Agent - sidechain (m-1 2026-01-02 03:04:05Z)**_").as_deref(),
            Some("false true m-1 2026-01-02T03:04:05Z")
        );
        assert_eq!(of("_**Assistant (default)**_").as_deref(), Some("false false  "));
        assert_eq!(of("_**Agent (mode Agent)**_").as_deref(), Some("false false  "));
        assert_eq!(of("_**Agent (model m-1, mode Agent)**_").as_deref(), Some("false false m-1 "));
        assert_eq!(
            of("_**Agent (model m-1, mode Agent 2026-01-02 03:04Z)**_").as_deref(),
            Some("false false m-1 2026-01-02T03:04:00Z")
        );
        assert_eq!(
            of("_**Agent (mode Agent 2026-01-02 03:04Z)**_").as_deref(),
            Some("false false  2026-01-02T03:04:00Z")
        );
        assert_eq!(of("_****_").as_deref(), Some("false false  "));
        assert_eq!(of("_**Note**_"), None);
        assert_eq!(of("_**User**_ x"), None);
    }

    #[test]
    fn pieces_of_a_history() {
        let text = "<!-- Generated by SpecStory -->\n\n# T\n\n_**User**_\n\nwords\n```\n_**User**_\n---\n```\n\n---\n\n_**Agent (m 2026-01-02 03:04:05Z)**_\n\n<tool-use data-tool-type=\"read\" data-tool-name=\"Read\"><details>\n<summary>x</summary>\n```text\n</details></tool-use>\n<think><details>\n```\n</details></tool-use>\nmore\n---\nmore\n\n---\n\n_**User (2026-01-02 03:04:06Z)**_\n\n```\nnever closed\n\n_**Agent (m 2026-01-02 03:04:07Z)**_";
        let lines: Vec<&str> = text.lines().collect();
        let told: Vec<String> =
            pieces(&lines).iter().map(|it| format!("{:?} {}-{}", it.kind, it.at, it.at + it.lines.len())).collect();
        let wanted = [
            "Head 0-1",
            "Head 2-3",
            "Speaker 4-5",
            "Words 6-11",
            "Rule 12-13",
            "Speaker 14-15",
            "Tool 16-23",
            "Words 23-26",
            "Rule 27-28",
            "Speaker 29-30",
            "Words 31-33",
            "Speaker 34-35",
        ];
        assert_eq!(told, wanted);
    }
}
