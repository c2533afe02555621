//! Reads histories: lines to runs, and the account of what became of their blocks.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;

use super::mark::{AiderMark, Stand, mark, started};
use super::run::Run;
use crate::file::jsonl::DUPLICATE;
use crate::file::markdown::{HistoryLine, counted, each_line};
use cru_base::Result;
use cru_session::event::StreamKey;
use cru_session::source::{Account, Bundle, Header, Sink};

/// The session that a file is of. Of its copies the largest comes first: it has what the others have.
pub(super) fn place(path: &Path) -> Result<(String, Reverse<u64>, Option<Timestamp>)> {
    let (mut first, mut done) = (Vec::new(), false);
    let mut begun = None;
    // The first run says whose history it is.
    each_line(&Bundle::default(), path, |number, text| {
        let HistoryLine::Line(line) = text else { return };
        if started(&line).is_some() {
            done |= begun.is_some();
            begun = begun.or(started(&line));
        }
        done |= first.last().is_some_and(|(_, line): &(u64, String)| line.starts_with("####"));
        if !done && begun.is_some() {
            first.push((number, line.into_owned()));
        }
    })?;
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    Ok((identity(&first), Reverse(size), begun))
}

/// Reads a bundle and hands its events to the sink.
pub(super) fn read(bundle: &Bundle, sink: &mut dyn Sink) -> Result<()> {
    let mut reader =
        AiderReader { sink, seen: HashSet::new(), path: PathBuf::new(), run: None, account: Account::default() };
    for path in &bundle.files {
        path.clone_into(&mut reader.path);
        each_line(bundle, path, |number, text| reader.line(number, text))?;
        reader.flush();
        let account = std::mem::take(&mut reader.account);
        reader.sink.account(path, account);
    }
    Ok(())
}

/// What identifies a run: when it began and the first line of its first prompt. Nothing that comes later changes it.
fn identity(lines: &[(u64, String)]) -> String {
    let time = lines.first().and_then(|(_, line)| started(line)).map(|time| time.strftime("%Y%m%d-%H%M%S").to_string());
    let prompt = lines.iter().find_map(|(_, line)| match mark(line, Stand::default()) {
        AiderMark::Prompt(words) => Some(words),
        _ => None,
    });
    let hash = prompt.map(|words| format!("-{}", &blake3::hash(words.as_bytes()).to_hex()[..8]));
    format!("{}{}", time.unwrap_or_default(), hash.unwrap_or_default())
}

struct AiderReader<'s> {
    sink: &'s mut dyn Sink,
    /// Runs that were told.
    seen: HashSet<String>,
    path: PathBuf,
    /// The lines of the run that is read.
    run: Option<Vec<(u64, String)>>,
    account: Account,
}

impl AiderReader<'_> {
    fn line(&mut self, number: u64, text: HistoryLine<'_>) {
        match text {
            HistoryLine::Oversized => self.account.skip("oversized line"),
            HistoryLine::Partial(line) if counted(&line).is_some() => self.account.skip("partial last line"),
            HistoryLine::Partial(_) => {}
            HistoryLine::Line(line) => {
                if started(&line).is_some() {
                    self.flush();
                    self.run = Some(Vec::new());
                }
                match &mut self.run {
                    Some(run) => run.push((number, line.into_owned())),
                    None if counted(&line).is_some() => self.account.skip("before the first run"),
                    None => {}
                }
            }
        }
    }

    /// The run that was read is whole.
    fn flush(&mut self) {
        let Some(lines) = self.run.take() else { return };
        let session = identity(&lines);
        if !self.seen.insert(session.clone()) {
            for _ in lines.iter().filter(|(_, line)| counted(line).is_some()) {
                self.account.skip(DUPLICATE);
            }
            return;
        }
        let key = Rc::new(StreamKey { session, agent: None });
        self.sink.open(Header { key: (*key).clone(), transcript: self.path.clone(), ..Header::default() });
        let begun: Option<Timestamp> = lines.first().and_then(|(_, line)| started(line));
        let mut run = Run::new(key, begun, self.path.clone(), &mut *self.sink, &mut self.account);
        for (number, line) in &lines {
            run.line(*number, line);
        }
        run.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_changes_no_identity() {
        let of = |text: &str| identity(&text.lines().map(|line| (1, line.to_owned())).collect::<Vec<_>>());
        let start = "# aider chat started at 2026-01-02 03:04:05\n";
        let first = of(&format!("{start}> Aider v1  \n#### fix it  \n"));
        assert!(first.starts_with("20260102-030405-") && first.len() == 24, "{first}");
        assert_eq!(of(&format!("{start}> Aider v1  \n#### fix it  \n#### and more  \nDone.\n#### next  \n")), first);
        assert_ne!(of(&format!("{start}#### else  \n")), first);
        assert_eq!(of(start), "20260102-030405");
    }

    #[test]
    fn copies_are_one_bundle() {
        let temp = tempfile::tempdir().unwrap();
        let run = "# aider chat started at 2026-01-02 03:04:05\n\n#### fix it  \n\nDone.\n";
        let other = run.replace("03:04", "03:05");
        let file = |name: &str, text: &str| {
            let path = temp.path().join(name).join(".aider.chat.history.md");
            cru_base::files::create(&path, text.as_bytes()).unwrap();
            path
        };
        let (old, new) = (file("a", run), file("b", &format!("{run}{other}")));
        let else_where = file("c", &other);
        let bundles = crate::bundles::by_session(vec![else_where.clone(), old.clone(), new.clone()], place).unwrap();
        assert_eq!(bundles, [Bundle::of(vec![new, old]), Bundle::of(vec![else_where])]);
    }
}
