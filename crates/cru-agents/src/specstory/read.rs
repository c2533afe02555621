//! Reads histories: lines to pieces, pieces to events, and the account of what became of each.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;
use std::rc::Rc;

use super::head::{SpecStoryHead, is_first};
use super::piece::{PieceKind, pieces, speaker, unfinished};
use super::turn::SpecStorySession;
use crate::file::jsonl::DUPLICATE;
use crate::file::markdown::{HistoryLine, counted, each_line};
use crate::stream::intake::{Intake, LATER};
use crate::stream::out::Fate;
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Sink};

/// Lines in which the head is looked for.
const HEAD: u64 = 200;

/// The session that a file is of. Of its copies the largest comes first: it has what the others have.
pub(super) fn place(path: &Path) -> Result<(String, Reverse<u64>, Option<jiff::Timestamp>)> {
    let head = head(&Bundle::default(), path)?;
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    Ok((head.identity(), Reverse(size), head.time))
}

fn head(bundle: &Bundle, path: &Path) -> Result<SpecStoryHead> {
    let (mut head, mut spoken, mut done) = (SpecStoryHead::default(), false, false);
    each_line(bundle, path, |number, text| {
        if let HistoryLine::Line(line) = text
            && !done
            && number <= HEAD
        {
            if speaker(&line).is_some() && !spoken {
                spoken = true;
            } else {
                done = head.see(&line, spoken);
            }
        }
    })?;
    Ok(head)
}

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut seen = HashSet::new();
    for path in &bundle.files {
        let head = head(bundle, path)?;
        let mut account = Account::default();
        let mut lines: Vec<String> = Vec::new();
        let mut kept: Vec<u64> = Vec::new();
        each_line(bundle, path, |number, text| match text {
            HistoryLine::Line(line) => {
                lines.push(line.into_owned());
                kept.push(number);
            }
            // It may still be written.
            HistoryLine::Partial(line) if counted(&line).is_some() => account.skip("partial last line"),
            HistoryLine::Partial(_) => {}
            HistoryLine::Oversized => account.skip("oversized line"),
        })?;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let session = head.identity();
        if seen.insert(session.clone()) {
            let key = Rc::new(StreamKey { session, agent: None });
            tell(&SpecStoryFile { path, head: &head, lines: &lines, numbers: &kept }, &key, sink, &mut account);
        } else {
            for _ in pieces(&lines) {
                account.skip(DUPLICATE);
            }
        }
        sink.account(path, account);
    }
    Ok(())
}

/// A file that was read.
struct SpecStoryFile<'f> {
    path: &'f Path,
    head: &'f SpecStoryHead,
    lines: &'f [&'f str],
    numbers: &'f [u64],
}

fn tell(file: &SpecStoryFile<'_>, key: &Rc<StreamKey>, sink: &mut dyn Sink, account: &mut Account) {
    sink.open(Header { key: StreamKey::clone(key), transcript: file.path.to_owned(), ..Header::default() });
    let mut intake = Intake::new(sink.bounds(key));
    let mut session = SpecStorySession::new(key.clone(), file.head);
    // As many lines as are wanted; where they end, so does what is told.
    let open = unfinished(file.lines, &pieces(file.lines));
    let whole = &file.lines[..open.unwrap_or(file.lines.len())];
    if open.is_some() {
        account.skip("block without its end");
    }
    let mut end = whole.len();
    let mut records = Vec::with_capacity(end);
    for (at, line) in whole.iter().enumerate() {
        if let Some(bytes) = counted(line) {
            if intake.is_full() {
                end = at;
                break;
            }
            intake.consume(bytes, "", false);
        }
        records.push(intake.records());
    }
    let lines = &whole[..end];
    for piece in pieces(lines) {
        sink.line(file.path, file.numbers.get(piece.from).copied().unwrap_or(0));
        let record = records.get(piece.from).copied().unwrap_or(0);
        let text = &lines[piece.from..piece.to];
        let fate = match piece.kind {
            PieceKind::Rule => Fate::Skipped("line between turns"),
            PieceKind::Head if text.first().is_some_and(|line| is_first(line)) => Fate::Shown,
            kind => session.piece(kind, text, record, sink),
        };
        match fate {
            Fate::Shown => account.represent(),
            Fate::Skipped(reason) => account.skip(reason),
        }
    }
    for _ in pieces(&whole[end..]) {
        account.skip(LATER);
    }
    sink.close(key, intake.consumed(false));
}
