//! What hooks could not do: one line each in a log of bounded size, since a hook says nothing to anybody.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use cru_base::text::{fold_whitespace, sanitise, truncate};
use cru_base::{Env, Result, files};
use cru_session::mask::mask;

/// Bytes after which the older half of the log goes.
const MAX: u64 = 1 << 20;

/// What a message begins with that tells of an event of a host that is not known.
pub const REFUSED: &str = "refused:";

/// The log of hooks that found no vault.
pub fn without_vault(env: &Env) -> Option<PathBuf> {
    Some(env.state_dir()?.join("hook.log"))
}

/// Adds a line.
pub fn note(log: &Path, now: Timestamp, event: &str, message: &str) -> Result<()> {
    if std::fs::metadata(log).is_ok_and(|metadata| metadata.len() > MAX) {
        shorten(log)?;
    }
    let clean = |text: &str, max| truncate(&fold_whitespace(&mask(&sanitise(text))), max).into_owned();
    let line = format!(
        "{:.0} cru {} hook {}: {}\n",
        now,
        env!("CARGO_PKG_VERSION"),
        clean(event, 40),
        // Characters of a message.
        clean(message, 600)
    );
    files::append_private(log, line.as_bytes())
}

/// Lines in a log; 0 where there is none.
pub fn count(log: &Path) -> u64 {
    let Ok(Some(bytes)) = files::read_regular(log, 4 * MAX) else { return 0 };
    memchr::memchr_iter(b'\n', &bytes).count() as u64
}

/// The lines of a log that tell of events of hosts that are not known: how many, and the last.
pub fn refused(log: &Path) -> Option<(u64, String)> {
    let bytes = files::read_regular(log, 4 * MAX).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter(|line| line.split_once(": ").is_some_and(|(_, it)| it.starts_with(REFUSED)));
    lines.fold(None, |found, line| Some((found.map_or(0, |(count, _)| count) + 1, sanitise(line).into_owned())))
}

/// The last line of a log.
pub fn last(log: &Path) -> Option<String> {
    let bytes = files::read_regular(log, 4 * MAX).ok()??;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().last().map(|line| sanitise(line).into_owned())
}

fn shorten(log: &Path) -> Result<()> {
    let bytes = files::read(log)?;
    let half = bytes.len() / 2;
    let start = memchr::memchr(b'\n', &bytes[half..]).map_or(bytes.len(), |at| half + at + 1);
    files::put_private(log, &bytes[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_each_and_not_too_many() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("deep/hook.log");
        assert_eq!((count(&log), last(&log)), (0, None));
        note(&log, Timestamp::UNIX_EPOCH, "post-tool", "one\n\u{1b}[31mtwo").unwrap();
        let text = String::from_utf8(files::read(&log).unwrap()).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(text, format!("1970-01-01T00:00:00Z cru {version} hook post-tool: one two\n"));
        let long = "x".repeat(5000);
        let line = format!("1970-01-01T00:00:00Z cru {}…\n", &long[..1000]);
        files::append(&log, line.repeat(1100).as_bytes()).unwrap();
        for _ in 0..10 {
            note(&log, Timestamp::UNIX_EPOCH, "stop", &long).unwrap();
        }
        assert!((MAX / 3..MAX).contains(&files::fingerprint(&log).unwrap().size), "the older half went");
        let text = String::from_utf8(files::read(&log).unwrap()).unwrap();
        assert!(text.lines().all(|line| line.starts_with("1970-01-01T00:00:00Z cru ") && line.ends_with('…')));
        assert_eq!(count(&log), text.lines().count() as u64);
        assert_eq!(last(&log).as_deref(), text.lines().last());
    }
}
