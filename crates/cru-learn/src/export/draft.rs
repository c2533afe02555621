//! What one case gives to an export, before it is known what the others give.
//!
//! Cases are drafted one by one, in any thread, and let go: what is kept of each is its texts, which may wait in a file,
//! and a small [`Record`] of what must be known to decide about all of them. Which side a case is on and how many are
//! like it is only known at the end; a text has a hole for that ([`Hole`]).

use crate::case::left_out::{LeftOut, Reason};
use crate::case::worth::Grade;
use crate::case::{Case, Evidence, Fidelity, Kind};
use crate::export::format::{Eval, Format, Options};
use crate::export::hole::Hole;
use crate::export::likeness::Signature;
use crate::hygiene;
use crate::review::document::{self, Layout};
use crate::rows;
use crate::rows::example;
use crate::rows::inspect;
use crate::rows::line::Line;
use crate::rows::promptfoo;
use crate::rows::row::Table;
use crate::rows::task;
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
    /// Texts that hold nothing which must not leave the vault.
    clean: hygiene::Clean,
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
    pub(crate) answer_from: &'static str,
    pub(crate) grade: Grade,
    /// Who found it.
    pub(crate) evidence: Evidence,
    pub(crate) standing: Grade,
    pub(crate) fidelity: Fidelity,
    pub(crate) verified: bool,
    pub(crate) accepted: bool,
    pub(crate) edited: bool,
    pub(crate) redactions: usize,
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
        Ok(Self { format, place, options, layout, clean: hygiene::Clean::default() })
    }

    /// What a case gives.
    pub fn draft(&self, case: &Case) -> Result<Draft> {
        let told = told(case);
        let standing = case.standing();
        let gap = case.gap().or_else(|| {
            let proposed = standing == Grade::Proposed && !self.options.proposed;
            proposed.then_some(Reason::Unproven)
        });
        let mut draft = Draft {
            record: Record {
                id: case.id.clone(),
                title: case.title.clone(),
                session: case.origin.session.clone(),
                root: case.origin.root.clone(),
                source: case.origin.source.clone(),
                kind: case.kind(),
                grade: case.grade(),
                evidence: case.evidence,
                answer_from: case.answer_from(),
                standing,
                fidelity: case.fidelity,
                verified: case.verified(),
                accepted: case.accepted,
                edited: case.edits.is_some(),
                redactions: case.redactions,
                gap: gap.is_some(),
                told: same(case.kind(), &told),
                likeness: Signature::of(&told),
                start: 0,
                made: Vec::new(),
            },
            texts: Vec::new(),
        };
        match self.format {
            Format::Jsonl if self.place == Place::Pipe => self.add(&mut draft, self.line(case, gap)),
            Format::Jsonl | Format::Trajectories => rows::of(case, gap, self.options).into_iter().for_each(|made| {
                self.add(
                    &mut draft,
                    made.map(|(table, row, tokens)| {
                        let mut text = row.text + "\n";
                        let own = text.len();
                        if let Some(metadata) = row.aside {
                            text.push_str(&metadata);
                            text.push('\n');
                        }
                        let aside = (text.len() - own) as u64;
                        let (table, body) = (Some(table), Some(row.body));
                        (Piece { table, body, shapes: row.shapes, tokens, len: 0, aside }, text)
                    }),
                );
            }),
            Format::Markdown => {
                let text = self.layout.render(case, self.place == Place::Folder)?;
                self.add(&mut draft, Ok((Piece::untabled(0), text)));
            }
            Format::Puzzle if case.kind() == Kind::Demonstration => {}
            Format::Puzzle => self.add(&mut draft, self.sample(case, gap)),
            Format::Task => {
                let made = gap.map_or_else(|| task::of(case, self.options.proposed), Err);
                self.add(&mut draft, made.map(|task| (Piece::untabled(task.tokens()), task.sample() + "\n")));
            }
        }
        Ok(draft)
    }

    /// Adds a piece to a draft. One that holds what must not leave the vault after all is left out.
    fn add(&self, draft: &mut Draft, made: std::result::Result<(Piece, String), Reason>) {
        let name = if self.format == Format::Markdown { "case.md" } else { "rows.jsonl" };
        let made = made.and_then(|(piece, text)| {
            if !hygiene::leaks(name, text.as_bytes(), &self.clean).is_empty() {
                return Err(Reason::Leaks);
            }
            // For numbers no text is kept.
            let (text, aside) = if self.place == Place::Numbers { ("", 0) } else { (text.as_str(), piece.aside) };
            draft.texts.extend_from_slice(text.as_bytes());
            Ok(Piece { len: text.len() as u64, aside, ..piece })
        });
        draft.record.made.push(made);
    }

    /// One row for a case that has an answer.
    fn line(&self, case: &Case, gap: Option<Reason>) -> std::result::Result<(Piece, String), Reason> {
        if let Some(gap) = gap.or_else(|| (!case.uses.completion).then_some(Reason::NotMeant)) {
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
        if let Some(gap) = gap.or_else(|| (!case.uses.eval).then_some(Reason::NotMeant)) {
            return Err(gap);
        }
        let sample = inspect::sample(case, self.options.example())?;
        let text = match self.options.eval {
            Eval::Inspect | Eval::Harbor => serde_json::to_string(&sample).unwrap_or_default(),
            Eval::Promptfoo => promptfoo::test(&sample),
        };
        Ok((Piece::untabled(sample.metadata.common.tokens), text + "\n"))
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
            evidence: self.evidence,
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

/// What a case tells: what was asked last, what went wrong, and what is right.
fn told(case: &Case) -> String {
    if case.kind() == Kind::Trajectory {
        let turns = case.context.iter().map(|turn| crate::case::entry::paragraphs([turn.asked.as_str(), &turn.done()]));
        return turns.collect::<Vec<_>>().join("\n\n");
    }
    let words = case.correction().map(|it| it.words.as_str()).unwrap_or_default();
    let asked = case.context.last().map(|turn| turn.asked.as_str()).unwrap_or_default();
    let (failure, answer) = (case.failure(), case.answer().unwrap_or_default());
    crate::case::entry::paragraphs([asked, &failure, words, &answer])
}

/// What two cases that say the same have in common.
fn same(kind: Kind, told: &str) -> blake3::Hash {
    let text = format!("{}\0{}", kind.as_str(), cru_base::text::fold_whitespace(told));
    blake3::hash(text.as_bytes())
}
