//! Hits for people, by session, and for programs, in a row.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::excerpt::Piece;
use super::passage::Passage;
use crate::base::text::{one_line, plural};
use crate::commands::output::style::{self, paint};
use crate::commands::{Output, View};
use crate::index::search::Totals;
use crate::index::{NoteKey, SessionRow};

cru_base::words! {
    /// How the hits hold what was asked for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum MatchKind {
        /// A block holds all of it.
        OneBlock = "all",
        /// The session holds all of it, in different blocks.
        DifferentBlocks = "blocks",
        /// The session holds any of the words, and no block all of them.
        AnyWord = "any",
    }
}

/// What was found.
pub(super) struct FoundHits {
    pub(super) query: String,
    pub(super) matched: MatchKind,
    pub(super) totals: Totals,
    pub(super) groups: Vec<HitGroup>,
    pub(super) now: Timestamp,
}

/// The hits of one session.
pub(super) struct HitGroup {
    pub(super) key: NoteKey,
    pub(super) path: String,
    id: String,
    title: String,
    status: Option<String>,
    agent: Option<String>,
    pub(super) hits: Vec<HitLine>,
}

/// A hit as it is shown.
pub(super) struct HitLine {
    /// Its number, for `--open`.
    pub(super) number: usize,
    pub(super) kind: String,
    pub(super) passage: Passage,
    pub(super) time: Option<Timestamp>,
    pub(super) score: f32,
    /// What the transcript says, where the note does not.
    pub(super) told: Option<TranscriptLine>,
}

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TranscriptLine {
    pub(super) transcript: String,
    /// From 1.
    pub(super) line: u64,
    /// Its file, where it is not the note's transcript.
    pub(super) source: Option<String>,
    /// What was looked for in it; nothing where it cannot be read.
    pub(super) pieces: Vec<Piece>,
}

impl TranscriptLine {
    /// The place alone.
    pub(super) fn of(row: &SessionRow, line: u64, source: Option<String>) -> Option<Self> {
        let named = row.transcript.as_deref()?;
        let transcript = source.as_deref().map_or_else(|| named.to_owned(), |source| beside(named, source));
        Some(Self { transcript, line, source, pieces: Vec::new() })
    }
}

/// The file `name` in the folder of `path`.
fn beside(path: &str, name: &str) -> String {
    let folder = path.rfind(['/', '\\']).map_or("", |at| &path[..=at]);
    format!("{folder}{name}")
}

impl HitGroup {
    pub(super) fn of(row: &SessionRow) -> Self {
        Self {
            key: NoteKey::of_text(&row.path),
            path: row.path.clone(),
            id: row.id.clone(),
            title: row.title.clone(),
            status: row.status.clone(),
            agent: row.agent.clone(),
            hits: Vec::new(),
        }
    }
}

impl FoundHits {
    /// Numbers the hits as they are shown.
    pub(super) fn count(&mut self) {
        for (index, hit) in self.groups.iter_mut().flat_map(|group| &mut group.hits).enumerate() {
            hit.number = index + 1;
        }
    }

    /// How many are shown.
    pub(super) fn shown(&self) -> usize {
        self.groups.iter().map(|group| group.hits.len()).sum()
    }

    /// Path and line of a hit.
    pub(super) fn hit(&self, number: usize) -> Option<(&str, usize)> {
        let mut hits = self.groups.iter().flat_map(|group| group.hits.iter().map(|hit| (group.path.as_str(), hit)));
        hits.find(|(_, hit)| hit.number == number).map(|(path, hit)| (path, hit.passage.line))
    }
}

impl Output for FoundHits {
    fn text(&self, view: &View) -> String {
        let mut out = String::new();
        let width = if view.terminal { view.width } else { view.width.max(160) };
        let digits = self.shown().to_string().len();
        for (index, group) in self.groups.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            out.push_str(&paint(style::ID, one_line(&group.id)));
            if group.title != group.id {
                out.extend(["  ", &paint(style::TITLE, one_line(&group.title))]);
            }
            if let Some(status) = &group.status {
                out.push_str(&paint(style::DIM, format!(" · {}", one_line(status))));
            }
            out.push_str(&match self.matched {
                MatchKind::OneBlock => String::new(),
                MatchKind::DifferentBlocks => paint(style::DIM, " (different blocks)"),
                MatchKind::AnyWord => paint(style::DIM, " (any word)"),
            });
            out.push('\n');
            for hit in &group.hits {
                let place = format!("{}:{}", one_line(&group.path), hit.passage.line);
                let _ = write!(out, "{:>digits$}  {}", paint(style::DIM, hit.number), paint(style::CHANNEL, place));
                let mut facts = vec![one_line(&hit.kind)];
                facts.extend(hit.passage.phase.as_deref().filter(|_| hit.kind != "session").map(one_line));
                facts.extend(hit.time.map(|time| super::age(self.now, time, &view.zone)));
                out.extend(["  ", &paint(style::DIM, facts.join(" · ")), "\n"]);
                let gutter = hit.passage.lines.iter().map(|(line, _)| line.to_string().len()).max().unwrap_or(0);
                for (number, pieces) in &hit.passage.lines {
                    let indent = " ".repeat(digits + 2);
                    let number = if hit.passage.lines.len() == 1 {
                        String::new()
                    } else {
                        let mark = if *number == hit.passage.line { '>' } else { ' ' };
                        paint(style::DIM, format!("{mark}{number:>gutter$} "))
                    };
                    let text = Piece::paint(pieces, width.saturating_sub(digits + gutter + 5).max(20));
                    out.push_str(format!("{indent}{number}{text}").trim_end());
                    out.push('\n');
                }
                if let Some(told) = &hit.told {
                    let indent = " ".repeat(digits + 2);
                    if !told.pieces.is_empty() {
                        let text = Piece::paint(&told.pieces, width.saturating_sub(digits + 2).max(20));
                        let _ = writeln!(out, "{indent}{text}");
                    }
                    let place = paint(style::CHANNEL, format!("{}:{}", one_line(&told.transcript), told.line));
                    let _ = writeln!(out, "{indent}in the transcript, {place}");
                }
            }
        }
        if view.terminal && !self.groups.is_empty() {
            let all = plural(self.totals.hits, if self.matched == MatchKind::OneBlock { "hit" } else { "session" });
            let shown =
                if (self.shown() as u64) < self.totals.hits { format!("{} of ", self.shown()) } else { String::new() };
            let sessions = plural(self.totals.sessions, "session");
            let told = match self.matched {
                MatchKind::OneBlock => format!(" in {sessions}"),
                MatchKind::DifferentBlocks => " with all of it, in different blocks".to_owned(),
                MatchKind::AnyWord => " with any of the words".to_owned(),
            };
            let _ = writeln!(out, "\n{}", paint(style::DIM, format!("{shown}{all}{told}")));
        }
        out
    }

    fn json(&self) -> serde_json::Result<Value> {
        let hits = self.groups.iter().flat_map(|group| group.hits.iter().map(move |hit| hit.json(group)));
        Ok(json!({
            "schema": 1,
            "query": self.query,
            "match": self.matched.as_str(),
            "total": self.totals.hits,
            "sessions": self.totals.sessions,
            "hits": hits.collect::<Vec<_>>(),
        }))
    }

    /// Nothing found is the answer "no".
    fn exit_code(&self) -> u8 {
        u8::from(self.groups.is_empty())
    }
}

impl HitLine {
    fn json(&self, group: &HitGroup) -> Value {
        let lines = self.passage.lines.iter().map(|(line, pieces)| json!({ "line": line, "pieces": pieces }));
        let own = self.passage.lines.iter().find(|(line, _)| *line == self.passage.line).map(|(_, pieces)| pieces);
        let told = self.told.as_ref().map(|told| &told.pieces).filter(|pieces| !pieces.is_empty());
        let said = told.or(own);
        json!({
            "session": group.id,
            "title": group.title,
            "status": group.status,
            "path": group.path,
            "line": self.passage.line,
            "block": self.passage.block,
            "agent": group.agent,
            "kind": self.kind,
            "phase": self.passage.phase,
            "time": self.time,
            "score": self.score,
            "text": said.map(|pieces| Piece::plain(pieces)),
            "lines": lines.collect::<Vec<_>>(),
            "transcript": self.told.as_ref().map(|told| &told.transcript),
            "transcript_line": self.told.as_ref().map(|told| told.line),
            "transcript_pieces": told,
        })
    }
}

/// `--files`.
pub(super) struct PathListing {
    pub(super) totals: Totals,
    pub(super) paths: Vec<String>,
}

impl Output for PathListing {
    fn text(&self, _: &View) -> String {
        self.paths.iter().flat_map(|path| [one_line(path), "\n".to_owned()]).collect()
    }

    fn json(&self) -> serde_json::Result<Value> {
        Ok(json!({ "schema": 1, "total": self.totals.sessions, "files": self.paths }))
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.paths.is_empty())
    }
}

/// `--count`.
pub(super) struct HitCount(pub(super) Totals);

impl Output for HitCount {
    fn text(&self, _: &View) -> String {
        format!("{}\n", self.0.hits)
    }

    fn json(&self) -> serde_json::Result<Value> {
        Ok(json!({ "schema": 1, "total": self.0.hits, "sessions": self.0.sessions }))
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.0.hits == 0)
    }
}
