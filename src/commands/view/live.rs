//! What tells pages that notes have changed: a count that rises with each change, for those who wait.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::http::GUARDS;
use crate::base::Result;
use crate::commands::watching::Watching;
use crate::commands::{Context, reading};
use crate::vault::State;

/// How long an open page is told nothing, so that it is known when it has gone.
const PULSE: Duration = Duration::from_secs(15);

/// The changes of a vault.
#[derive(Default)]
pub(super) struct Changes {
    count: Mutex<u64>,
    rose: Condvar,
}

impl Changes {
    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts changes of notes, and of what waits to be written into them, as long as the process lives. Where they cannot be
    /// watched, it says so and comes back: pages show what there is when they are asked for.
    pub(super) fn watch(&self, cx: &Context<'_>) -> Result<()> {
        let vault = reading::vault(cx)?;
        let mut roots: Vec<PathBuf> = vec![vault.root().canonicalize().unwrap_or_else(|_| vault.root().to_owned())];
        let waiting = State::existing(&vault, cx.env).map(|state| state.dir().join("journal"));
        roots.extend(waiting.filter(|dir| dir.is_dir()));
        let is_meant = |path: &std::path::Path| {
            let is_ours = path.components().any(|part| part.as_os_str() == ".cru");
            !is_ours && path.extension().is_some_and(|end| end == "md" || end == "jsonl")
        };
        match Watching::begin(&roots, is_meant) {
            Ok(watching) => {
                while watching.next(None).is_some() {
                    *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    self.rose.notify_all();
                }
            }
            Err(error) => cx.ui.warn(&format!("pages do not follow changes: {error}")),
        }
        Ok(())
    }

    /// Tells a page of each change until it has gone.
    pub(super) fn tell(&self, page: &mut impl Write) -> io::Result<()> {
        page.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n")?;
        for (name, value) in GUARDS {
            write!(page, "{name}: {value}\r\n")?;
        }
        page.write_all(b"\r\n: open\n\n")?;
        page.flush()?;
        let mut known = self.count();
        loop {
            let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.rose.wait_timeout_while(count, PULSE, |count| *count == known);
            let now = *waited.unwrap_or_else(PoisonError::into_inner).0;
            if now == known {
                write!(page, ": \n\n")?;
            } else {
                write!(page, "data: {now}\n\n")?;
            }
            page.flush()?;
            known = now;
        }
    }
}
