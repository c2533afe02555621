//! `cru import --watch`: transcripts that are being written, followed into their notes.
//!
//! All is imported once; then only the bundle of a file that changed is read. A session that went on lately counts as
//! running, whether hooks tell of it or not, so its note does not take back what is still under way; when it has been
//! silent for as long as that takes, it is looked at once more and closed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::ingest::{IDLE, Machine, Options, Unwatched, ingest_found, ingest_live};
use super::report::{Outcome, Report};
use super::what::Source;
use crate::base::text::{plural, sanitise};
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::commands::watching::Watching;
use crate::import;
use crate::session::source::{Bundle, Importer};
use crate::vault::Vault;

/// How often it is looked for sessions that have gone silent.
const LOOK: Duration = Duration::from_mins(1);

/// One agent's folders.
struct Agent {
    importer: &'static Importer,
    roots: Vec<PathBuf>,
    /// The bundle of each file that is known.
    bundles: HashMap<PathBuf, Bundle>,
}

impl Agent {
    fn look(&mut self) -> Result<()> {
        let found = import::search(self.importer, &self.roots)?;
        self.bundles.clear();
        for bundle in found.bundles {
            self.bundles.extend(bundle.files.iter().map(|path| (path.clone(), bundle.clone())));
        }
        Ok(())
    }

    /// The bundles that changed files belong to, by their first file.
    fn touched(&mut self, changed: &BTreeSet<PathBuf>) -> Result<Vec<Bundle>> {
        let own: Vec<&PathBuf> = changed
            .iter()
            .filter(|path| self.roots.iter().any(|root| path.starts_with(root)) && path.is_file())
            .filter(|path| import::is_named_so(self.importer, path))
            .collect();
        if own.iter().any(|path| !self.bundles.contains_key(*path)) {
            self.look()?;
        }
        let touched = own.into_iter().filter_map(|path| self.bundles.get(path));
        let touched: BTreeMap<&PathBuf, &Bundle> =
            touched.filter_map(|bundle| Some((bundle.files.first()?, bundle))).collect();
        Ok(touched.into_values().cloned().collect())
    }
}

/// Follows the transcripts in `sources` until the program is stopped.
pub(super) fn follow(
    vault: &Vault,
    sources: Vec<(&'static Importer, Source)>,
    options: &Options,
    cx: &Context<'_>,
) -> Result<()> {
    let mut agents = Vec::new();
    for (importer, source) in sources {
        let roots = match source {
            Source::Paths(roots) => roots,
            Source::Found(found) => found.bundles.into_iter().flat_map(|bundle| bundle.files).collect(),
        };
        // What the system tells of is named without links.
        let roots = roots.into_iter().map(|path| std::fs::canonicalize(&path).unwrap_or(path)).collect();
        agents.push(Agent { importer, roots, bundles: HashMap::new() });
    }
    let roots: Vec<PathBuf> = agents.iter().flat_map(|agent| agent.roots.clone()).collect();
    let importers: Vec<&'static Importer> = agents.iter().map(|agent| agent.importer).collect();
    let meant = move |path: &Path| importers.iter().any(|importer| import::is_named_so(importer, path));
    let failed = |error: notify::Error| {
        Error::usage(format!("the transcripts could not be watched: {error}"))
            .with_hint("`cru import` without --watch can be run at any time")
    };
    // From here on, so that nothing is missed while all is imported once.
    let watching = Watching::begin(&roots, meant).map_err(failed)?;
    let mut options = Options { live: true, ..options.clone() };
    for agent in &mut agents {
        let found = import::search(agent.importer, &agent.roots)?;
        tell(cx, &ingest_found(vault, agent.importer, found, &options, &Unwatched)?);
        agent.look()?;
    }
    cx.ui.note(&format!("watching {}", plural(roots.len() as u64, "folder")));
    // When a bundle last changed, by importer and first file.
    let mut running: BTreeMap<(usize, PathBuf), Timestamp> = BTreeMap::new();
    while let Some(changed) = watching.next((!running.is_empty()).then_some(LOOK)) {
        let now = cx.env.now();
        options.machine = options.machine.map(|machine| Machine { now, ..machine });
        let silent = |last: &Timestamp| now.as_second() - last.as_second() > IDLE;
        let over: Vec<(usize, PathBuf)> =
            running.iter().filter(|(_, last)| silent(last)).map(|(key, _)| key.clone()).collect();
        for (index, agent) in agents.iter_mut().enumerate() {
            let mut paths = changed.paths.clone();
            if changed.missed {
                agent.look()?;
                paths.extend(agent.bundles.keys().cloned());
            }
            paths.extend(over.iter().filter(|(at, _)| *at == index).map(|(_, path)| path.clone()));
            let bundles = agent.touched(&paths)?;
            if bundles.is_empty() {
                continue;
            }
            for first in bundles.iter().filter_map(|bundle| bundle.files.first()) {
                running.insert((index, first.clone()), now);
            }
            let found = import::Found { bundles, strangers: Vec::new() };
            match ingest_live(vault, agent.importer, found, &options) {
                Ok(report) => tell(cx, &report),
                // The next change may go better: a note that is being saved, a disk that is full for a moment.
                Err(error) => cx.ui.warn(&error.to_string()),
            }
        }
        for key in over {
            running.remove(&key);
        }
    }
    Ok(())
}

/// A line for each note that was written.
fn tell(cx: &Context<'_>, report: &Report) {
    for row in &report.sessions {
        let note = sanitise(row.note.as_deref().unwrap_or(&row.host_session)).into_owned();
        match (row.outcome, &row.detail) {
            (Outcome::Created, _) => cx.ui.note(&format!("new      {note}")),
            (Outcome::Updated, Some(detail)) => cx.ui.note(&format!("updated  {note}  {}", sanitise(detail))),
            (Outcome::Updated, None) => cx.ui.note(&format!("updated  {note}")),
            (Outcome::Grown, Some(detail)) => cx.ui.detail(&format!("left     {note}  {}", sanitise(detail))),
            _ => {}
        }
    }
}
