//! What one case gives to an export, before it is known what the others give.
//!
//! Cases are drafted one by one, in any thread, and let go: what is kept of each is its texts, which may wait in a file,
//! and a small [`Record`] of what must be known to decide about all of them. Which side a case is on and how many are
//! like it is only known at the end; a text has a hole for that ([`Hole`]).

use crate::case::left_out::{LeftOut, Reason};
use crate::case::{Case, Fidelity, Kind};
use crate::export::format::{Eval, Format, Options};
use crate::export::hole::Hole;
use crate::export::likeness::Signature;
use crate::export::split;
use crate::review::document::{self, Layout};
use crate::rows;
use crate::rows::example;
use crate::rows::inspect;
use crate::rows::line::Line;
use crate::rows::promptfoo;
use crate::rows::row::Table;
use cru_base::Result;

/// Where an export goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Files of a folder.
    Folder,
    /// One text.
    Pipe,
    /// Nowhere: only its numbers are wanted.
    Numbers,
}

/// Drafts cases for one export.
#[derive(Debug)]
pub struct Drafter<'a> {
    pub(crate) format: Format,
    pub(crate) place: Place,
    pub(crate) options: Options<'a>,
    layout: Layout<'a>,
}

/// What a case gives.
#[derive(Debug)]
pub struct Draft {
    pub(crate) record: Record,
    /// The texts of its pieces, one behind the other.
    pub(crate) texts: Vec<u8>,
}

/// What is kept of a case.
#[expect(clippy::struct_excessive_bools, reason = "each is counted or decides by itself")]
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) session: String,
    pub(crate) root: String,
    pub(crate) source: crate::Source,
    pub(crate) kind: Kind,
    pub(crate) evidence: &'static str,
    pub(crate) fidelity: Fidelity,
    pub(crate) verified: bool,
    pub(crate) accepted: bool,
    pub(crate) edited: bool,
    pub(crate) redactions: usize,
    /// Whether there is less for it than was asked for.
    pub(crate) poor: bool,
    /// Whether it lacks a right answer.
    pub(crate) gap: bool,
    /// What makes two cases one.
    pub(crate) told: blake3::Hash,
    /// What makes two cases nearly one.
    pub(crate) likeness: Signature,
    /// Where its texts begin.
    pub(crate) start: u64,
    pub(crate) made: Vec<Made>,
}

/// A piece, or why there is none.
pub(crate) type Made = std::result::Result<Piece, Reason>;

/// A row, a sample or a note.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Of rows for tables.
    pub(crate) table: Option<Table>,
    /// Of rows for tables: what makes two of them one example.
    pub(crate) body: Option<blake3::Hash>,
    /// See [`crate::rows::row::Row::shapes`].
    pub(crate) shapes: usize,
    /// Tokens; 0 where they do not matter.
    pub(crate) tokens: usize,
    /// How long its text is, which stands behind those of the pieces before it.
    pub(crate) len: u64,
    /// How much of that, at its end, is metadata for a file of its own.
    pub(crate) aside: u64,
}

impl<'a> Drafter<'a> {
    /// For an export; refuses a layout that is none.
    pub fn new(format: Format, place: Place, options: Options<'a>) -> Result<Self> {
        let layout = Layout::new(options.layouts.name, options.layouts.case)?;
        Ok(Self { format, place, options, layout })
    }

    /// What a case gives.
    pub fn draft(&self, case: &Case) -> Result<Draft> {
        let told = split::told(case);
        let gap = case.gap();
        let mut draft = Draft {
            record: Record {
                id: case.id.clone(),
                title: case.title.clone(),
                session: case.origin.session.clone(),
                root: case.origin.root.clone(),
                source: case.origin.source.clone(),
                kind: case.kind(),
                evidence: case.evidence(),
                fidelity: case.fidelity,
                verified: case.verified(),
                accepted: case.accepted,
                edited: case.edits.is_some(),
                redactions: case.redactions,
                poor: gap.is_none() && case.quality() < self.options.min_quality,
                gap: gap.is_some(),
                told: split::same(case.kind(), &told),
                likeness: Signature::of(&told),
                start: 0,
                made: Vec::new(),
            },
            texts: Vec::new(),
        };
        if draft.record.poor {
            return Ok(draft);
        }
        match self.format {
            Format::Jsonl if self.place == Place::Pipe => draft.add(self.line(case, gap)),
            Format::Jsonl => rows::of(case, self.options).into_iter().for_each(|made| {
                draft.add(made.map(|(table, row, tokens)| {
                    let mut text = if self.place == Place::Numbers { String::new() } else { row.text + "\n" };
                    let own = text.len();
                    if let Some(metadata) = row.aside.filter(|_| self.place != Place::Numbers) {
                        text.push_str(&metadata);
                        text.push('\n');
                    }
                    let aside = (text.len() - own) as u64;
                    let (table, body) = (Some(table), Some(row.body));
                    (Piece { table, body, shapes: row.shapes, tokens, len: 0, aside }, text)
                }));
            }),
            Format::Markdown => {
                let text = self.layout.render(case, self.place == Place::Folder)?;
                draft.add(Ok((Piece::untabled(0), text)));
            }
            Format::Puzzle if case.kind() == Kind::Demonstration => {}
            Format::Puzzle => draft.add(self.sample(case, gap)),
        }
        Ok(draft)
    }

    /// One row for a case that has an answer.
    fn line(&self, case: &Case, gap: Option<Reason>) -> std::result::Result<(Piece, String), Reason> {
        if let Some(gap) = gap {
            return Err(gap);
        }
        let example = example::example(case, example::End::After, self.options.example())?;
        if !example.shown {
            return Err(Reason::Unshown);
        }
        let line = serde_json::to_string(&Line::of(case, &example)).unwrap_or_default();
        Ok((Piece::untabled(example.tokens), line + "\n"))
    }

    /// What models are asked.
    fn sample(&self, case: &Case, gap: Option<Reason>) -> std::result::Result<(Piece, String), Reason> {
        if let Some(gap) = gap {
            return Err(gap);
        }
        let sample = inspect::sample(case, self.options.example())?;
        let text = match self.options.eval {
            Eval::Inspect => serde_json::to_string(&sample).unwrap_or_default(),
            Eval::Promptfoo => promptfoo::test(&sample),
        };
        Ok((Piece::untabled(sample.metadata.common.tokens), text + "\n"))
    }
}

impl Draft {
    fn add(&mut self, made: std::result::Result<(Piece, String), Reason>) {
        self.record.made.push(made.map(|(piece, text)| {
            self.texts.extend_from_slice(text.as_bytes());
            Piece { len: text.len() as u64, ..piece }
        }));
    }
}

impl Piece {
    const fn untabled(tokens: usize) -> Self {
        Self { table: None, body: None, shapes: 0, tokens, len: 0, aside: 0 }
    }
}

impl Record {
    /// The case as something left out.
    pub(crate) fn left_out(&self, reason: Reason) -> LeftOut {
        LeftOut {
            reason,
            session: self.session.clone(),
            case: self.id.clone(),
            title: self.title.clone(),
            source: self.source.clone(),
        }
    }

    /// The name of its note in a folder.
    pub(crate) fn file_name(&self) -> String {
        document::file_name(self.kind, &self.id, &self.title)
    }

    /// Its pieces with their places, and the reasons why others are none.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = std::result::Result<(Piece, Hole), Reason>> {
        let mut at = self.start;
        self.made.iter().map(move |made| {
            let piece = (*made)?;
            let range = at..at + piece.len;
            at = range.end;
            Ok((piece, Hole { range, ..Hole::default() }))
        })
    }
}
