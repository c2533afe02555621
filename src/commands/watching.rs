//! Waiting until files change: for commands that follow them until they are stopped.
//!
//! Programs write in bursts, so a change is told when it has been quiet for a moment, or at the latest after a few of
//! those moments where somebody writes all the time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

/// How long it must be quiet.
const QUIET: Duration = Duration::from_millis(300);

/// Folders that are watched.
pub(super) struct Watching {
    told: Receiver<Option<PathBuf>>,
    /// It watches until it is dropped.
    _watcher: RecommendedWatcher,
}

/// What changed.
#[derive(Debug, Default)]
pub(super) struct Changed {
    pub(super) paths: BTreeSet<PathBuf>,
    /// Whether something was missed, so that everything is to be looked at.
    pub(super) missed: bool,
}

impl Watching {
    /// Watches all below `roots`; of what happens there, that is told which is `meant`.
    pub(super) fn begin(
        roots: &[PathBuf],
        meant: impl Fn(&Path) -> bool + Send + 'static,
    ) -> Result<Self, notify::Error> {
        let (tell, told) = channel();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            // Who only reads changes nothing, and we read ourselves.
            Ok(event) if event.kind.is_access() => {}
            Ok(event) => {
                if event.need_rescan() {
                    let _ = tell.send(None);
                }
                for path in event.paths.into_iter().filter(|path| meant(path)) {
                    let _ = tell.send(Some(path));
                }
            }
            Err(_) => {
                let _ = tell.send(None);
            }
        })?;
        for root in roots {
            watcher.watch(root, RecursiveMode::Recursive)?;
        }
        Ok(Self { told, _watcher: watcher })
    }

    /// Waits for the next change, for at most `patience`; nothing changed where that passes. `None` where there will never
    /// be one.
    pub(super) fn next(&self, patience: Option<Duration>) -> Option<Changed> {
        let mut changed = Changed::default();
        let first = match patience {
            None => self.told.recv().ok()?,
            Some(patience) => match self.told.recv_timeout(patience) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => return Some(changed),
                Err(RecvTimeoutError::Disconnected) => return None,
            },
        };
        changed.add(first);
        // After so many moments a change is told though it goes on.
        for _ in 0..5 {
            std::thread::sleep(QUIET);
            let before = self.told.try_iter().map(|told| changed.add(told)).count();
            if before == 0 {
                break;
            }
        }
        Some(changed)
    }
}

impl Changed {
    fn add(&mut self, told: Option<PathBuf>) {
        match told {
            Some(path) => {
                self.paths.insert(path);
            }
            None => self.missed = true,
        }
    }
}
