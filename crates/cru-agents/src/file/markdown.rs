//! Histories that hosts keep as markdown: one loop over their sessions and the blocks of each.
//!
//! What counts and is hashed of such a file are its lines that are not blank, so that whatever is put behind them leaves
//! them as they were. What is accounted for are the blocks that the lines make: prompts, replies, lines of the host.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;

use super::jsonl::DUPLICATE;
use super::lines::{Line, Lines, trim};
use crate::bundles;
use crate::stream::intake::{Intake, LATER};
use crate::stream::out::Out;
use cru_base::{Error, Result};
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Sink};

/// The longest line of a history that is read, in bytes.
const LONGEST: usize = 32 << 20;

/// Lines of a history that belong together.
#[derive(Debug)]
pub(crate) struct Block<'l, K> {
    pub(crate) kind: K,
    /// The index of its first line.
    pub(crate) at: usize,
    /// Its lines, as far as they say something.
    pub(crate) lines: Vec<&'l str>,
}

/// One session of a history while it is told.
pub(crate) trait History: Sized {
    /// What a block is.
    type Kind: Copy;
    /// Whether a session begins with a line, the file's first has the number 1.
    fn begins(number: u64, line: &str) -> bool;
    /// The session of these lines: what identifies it, when it began, and its state.
    fn of(lines: &[&str]) -> (String, Option<Timestamp>, Self);
    /// How many of the lines are read: the others may still be written.
    fn whole(lines: &[&str]) -> usize {
        lines.len()
    }
    /// The blocks of lines, in order; blank lines may be of none.
    fn blocks<'l>(lines: &[&'l str]) -> Vec<Block<'l, Self::Kind>>;
    /// Tells what a block says.
    fn tell(&mut self, block: &Block<'_, Self::Kind>, out: &mut Out<'_>) -> Option<&'static str>;
}

/// Groups files by the session that each begins with. Of its copies the largest comes first: it has what the others have.
pub(crate) fn bundle<H: History>(files: Vec<PathBuf>) -> Result<Vec<Bundle>> {
    bundles::by_session(files, |path| {
        let (session, begun) = first::<H>(path)?;
        Ok((session, Reverse(std::fs::metadata(path).map_or(0, |metadata| metadata.len())), begun))
    })
}

/// The session that a file begins with.
pub(crate) fn together<H: History>(path: &Path) -> Result<Vec<String>> {
    Ok(vec![first::<H>(path)?.0])
}

fn first<H: History>(path: &Path) -> Result<(String, Option<Timestamp>)> {
    let mut first = None;
    each_session::<H>(&Bundle::default(), path, &mut Account::default(), |lines, _| {
        first.get_or_insert_with(|| H::of(&texts(lines)));
    })?;
    let (session, begun, _) = first.unwrap_or_else(|| H::of(&[]));
    Ok((session, begun))
}

/// Reads a bundle and hands its events to the sink.
pub(crate) fn read<H: History>(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut seen = HashSet::new();
    for path in &bundle.files {
        let mut account = Account::default();
        each_session::<H>(bundle, path, &mut account, |lines, account| {
            tell::<H>(path, lines, &mut seen, sink, account);
        })?;
        sink.account(path, account);
    }
    Ok(())
}

/// Hands over the lines of each session of a file with their numbers, and accounts for what is of none.
fn each_session<H: History>(
    bundle: &Bundle,
    path: &Path,
    account: &mut Account,
    mut then: impl FnMut(&[(u64, String)], &mut Account),
) -> Result<()> {
    let failed = |source| Error::io("read", path, source);
    let mut source = Lines::new(bundle.open(path).map_err(failed)?, LONGEST);
    let mut lines: Vec<(u64, String)> = Vec::new();
    for number in 1.. {
        match source.next().map_err(failed)? {
            None => break,
            Some(Line::Oversized) => account.skip("oversized line"),
            // It may still be written.
            Some(Line::Whole(line, false)) if !trim(line).is_empty() => account.skip("partial last line"),
            Some(Line::Whole(_, false)) => {}
            Some(Line::Whole(line, true)) => {
                let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
                let begins = H::begins(number, &line);
                if begins && !lines.is_empty() {
                    then(&lines, account);
                    lines.clear();
                }
                if begins || !lines.is_empty() {
                    lines.push((number, line));
                } else if counted(&line).is_some() {
                    account.skip("before the first run");
                }
            }
        }
    }
    if !lines.is_empty() {
        then(&lines, account);
    }
    Ok(())
}

fn texts(lines: &[(u64, String)]) -> Vec<&str> {
    lines.iter().map(|(_, line)| line.as_str()).collect()
}

/// Tells one session of a file.
fn tell<H: History>(
    path: &Path,
    lines: &[(u64, String)],
    seen: &mut HashSet<String>,
    sink: &mut dyn Sink,
    account: &mut Account,
) {
    let all = texts(lines);
    let (session, _, mut history) = H::of(&all);
    if !seen.insert(session.clone()) {
        return account.skip_all(H::blocks(&all).len() as u64, DUPLICATE);
    }
    let key = StreamKey { session, agent: None };
    sink.open(Header { key: key.clone(), transcript: path.to_owned(), ..Header::default() });
    let mut intake = Intake::new(sink.bounds(&key));
    let key = Rc::new(key);
    let whole = &all[..H::whole(&all)];
    if whole.len() < all.len() {
        account.skip("block without its end");
    }
    // As many lines as are wanted; where they end, so does what is told.
    let mut records = Vec::with_capacity(whole.len());
    for line in whole {
        if let Some(bytes) = counted(line) {
            if intake.is_full() {
                break;
            }
            intake.consume(bytes, "", false);
        }
        records.push(intake.records());
    }
    let (wanted, later) = whole.split_at(records.len());
    for block in H::blocks(wanted) {
        sink.line(path, lines[block.at].0);
        match history.tell(&block, &mut Out::new(sink, Rc::clone(&key), records[block.at], None)) {
            None => account.represent_of(&key),
            Some(reason) => account.skip(reason),
        }
    }
    account.skip_all(H::blocks(later).len() as u64, LATER);
    sink.close(&key, intake.consumed(false));
}

/// The bytes of a line that count; `None` for a blank one.
pub(crate) fn counted(line: &str) -> Option<&[u8]> {
    Some(trim(line.as_bytes())).filter(|bytes| !bytes.is_empty())
}

/// Fences of code, as far as they are open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fences {
    open: Option<(u8, usize)>,
}

impl Fences {
    /// Whether the next line stands in a fence.
    pub(crate) const fn is_open(self) -> bool {
        self.open.is_some()
    }

    /// Takes in a line; whether it opens or closes a fence.
    pub(crate) fn see(&mut self, line: &str) -> bool {
        let text = line.trim();
        let Some(mark) = text.bytes().next().filter(|byte| matches!(byte, b'`' | b'~')) else { return false };
        let count = text.bytes().take_while(|byte| *byte == mark).count();
        if count < 3 {
            return false;
        }
        let rest = &text[count..];
        match self.open {
            None if mark == b'`' && rest.contains('`') => false,
            None => {
                self.open = Some((mark, count));
                true
            }
            Some((open, least)) if open == mark && count >= least && rest.trim().is_empty() => {
                self.open = None;
                true
            }
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences() {
        let mut fences = Fences::default();
        let seen: Vec<(bool, bool)> = ["a", "````md", "```", "~~~", "```` x", "`````", "b", "```inline``` x", "~~~"]
            .iter()
            .map(|line| (fences.see(line), fences.is_open()))
            .collect();
        let wanted = [
            (false, false),
            (true, true),
            (false, true),
            (false, true),
            (false, true),
            (true, false),
            (false, false),
            (false, false),
            (true, true),
        ];
        assert_eq!(seen, wanted);
    }
}
