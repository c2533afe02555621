//! Transcripts that are being written, followed into their notes.
//!
//! Only the bundle of a file that changed is read. A session that went on lately counts as running, whether hooks tell of
//! it or not, so its note does not take back what is still under way; when it has been silent for as long as that takes,
//! it is looked at once more and closed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{IDLE, Machine, Options, Unwatched, ingest_found, ingest_live};
use crate::report::Report;
use cru_base::Result;
use cru_session::source::{Bundle, Importer};
use cru_vault::Vault;

/// The transcripts of some agents, and which of them go on.
#[derive(Debug, Default)]
pub struct Followed {
    agents: Vec<Agent>,
    /// When a bundle last changed, by agent and first file.
    running: BTreeMap<(usize, PathBuf), Timestamp>,
}

/// One agent's folders.
#[derive(Debug)]
struct Agent {
    importer: &'static Importer,
    roots: Vec<PathBuf>,
    /// The bundle of each file that is known.
    bundles: HashMap<PathBuf, Bundle>,
}

impl Agent {
    fn look(&mut self) -> Result<()> {
        let found = cru_agents::search(self.importer, &self.roots)?;
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
            .filter(|path| cru_agents::is_named_so(self.importer, path))
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

impl Followed {
    /// Follows the transcripts of `importer` below `roots`, which are paths without links.
    pub fn add(&mut self, importer: &'static Importer, roots: Vec<PathBuf>) {
        self.agents.push(Agent { importer, roots, bundles: HashMap::new() });
    }

    /// All folders and files that are followed.
    pub fn roots(&self) -> Vec<PathBuf> {
        self.agents.iter().flat_map(|agent| agent.roots.clone()).collect()
    }

    /// Says of a path whether it is named like a transcript of one of the agents.
    pub fn is_meant(&self) -> impl Fn(&Path) -> bool + Send + use<> {
        let importers: Vec<&'static Importer> = self.agents.iter().map(|agent| agent.importer).collect();
        move |path| importers.iter().any(|importer| cru_agents::is_named_so(importer, path))
    }

    /// Whether a session is likely to go on, so that [`Self::changed`] is to be asked again when it may have ended.
    pub fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Imports all that is there, and calls `tell` with the account of each agent.
    pub fn all(&mut self, vault: &Vault, options: &Options, tell: &mut dyn FnMut(&Report)) -> Result<()> {
        for agent in &mut self.agents {
            let found = cru_agents::search(agent.importer, &agent.roots)?;
            tell(&ingest_found(vault, agent.importer, found, options, &Unwatched)?);
            agent.look()?;
        }
        Ok(())
    }

    /// Imports what belongs to `changed` files (to all, where some change was `missed`), and the sessions that fell silent
    /// by the time in `options`. Calls `tell` for each agent that was read: an error there is no reason to stop.
    pub fn changed(
        &mut self,
        vault: &Vault,
        changed: &BTreeSet<PathBuf>,
        missed: bool,
        options: &Options,
        tell: &mut dyn FnMut(Result<Report>),
    ) -> Result<()> {
        let now = options.machine.as_ref().map(|Machine { now, .. }| *now).unwrap_or_default();
        let silent = |last: &Timestamp| now.as_second() - last.as_second() > IDLE;
        let over: Vec<(usize, PathBuf)> =
            self.running.iter().filter(|(_, last)| silent(last)).map(|(key, _)| key.clone()).collect();
        for (index, agent) in self.agents.iter_mut().enumerate() {
            let mut paths = changed.clone();
            if missed {
                agent.look()?;
                paths.extend(agent.bundles.keys().cloned());
            }
            paths.extend(over.iter().filter(|(at, _)| *at == index).map(|(_, path)| path.clone()));
            let bundles = agent.touched(&paths)?;
            if bundles.is_empty() {
                continue;
            }
            for first in bundles.iter().filter_map(|bundle| bundle.files.first()) {
                self.running.insert((index, first.clone()), now);
            }
            let found = cru_agents::Found { bundles, ..cru_agents::Found::default() };
            tell(ingest_live(vault, agent.importer, found, options));
        }
        for key in over {
            self.running.remove(&key);
        }
        Ok(())
    }
}
