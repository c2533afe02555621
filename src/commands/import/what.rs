//! Whose transcripts are meant: those of one agent, of all, or whatever is in the files that are named.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, TypedValueParser};

use super::Args;
use crate::base::text::sanitise;
use crate::base::{Error, Result};
use crate::commands::Context;
use crate::import::{self, IMPORTERS, UNREADABLE, any, places};
use crate::session::source::Importer;
use crate::sync::evidence::Store;
use crate::vault::{Catalog, Vault};

/// What the command line names.
#[derive(Debug)]
pub(super) enum What {
    /// Nothing: all agents, and only looked at.
    Overview,
    /// All agents.
    All,
    /// One agent; its own folders where no paths are named.
    Agent(&'static Importer, Vec<PathBuf>),
    /// Files and folders of any agent.
    Paths(Vec<PathBuf>),
}

/// Where the transcripts of it are.
#[derive(Debug)]
pub(super) struct FoundTranscripts {
    pub(super) sources: Vec<(&'static Importer, TranscriptSource)>,
    /// Files that no agent's importer knows.
    pub(super) strangers: Vec<(PathBuf, &'static str)>,
    /// Files in the folders that are named like no transcript.
    pub(super) others: u64,
}

/// Where transcripts of one agent are.
#[derive(Debug)]
pub(super) enum TranscriptSource {
    /// Somewhere below.
    Paths(Vec<PathBuf>),
    /// Looked at already.
    Found(import::Found),
}

/// No transcripts of any agent.
pub(super) fn nothing() -> Error {
    let agents: Vec<&str> = IMPORTERS.iter().map(crate::session::source::Importer::title).collect();
    Error::no("no transcripts of any agent on this machine")
        .with_hint(format!("looked for {}; `cru import PATH` reads them from elsewhere", agents.join(", ")))
}

impl What {
    /// What `args` names. Usage error: a first word that is neither an agent nor a path.
    pub(super) fn of(args: &Args, cx: &Context<'_>) -> Result<Self> {
        let whole = |paths: &[PathBuf]| paths.iter().map(|path| whole(cx.absolute(path))).collect();
        let Some(first) = args.what.first() else {
            return Ok(if args.all || args.watch { Self::All } else { Self::Overview });
        };
        if let Some(importer) = first.to_str().and_then(import::find) {
            return Ok(Self::Agent(importer, whole(&args.what[1..])));
        }
        if !cx.absolute(first).exists() {
            let agents: Vec<&str> = IMPORTERS.iter().map(|importer| importer.id).collect();
            let name = crate::base::text::sanitise(&first.to_string_lossy()).into_owned();
            return Err(Error::usage(format!("`{name}` is not an agent, a file or a folder")).with_hint(format!(
                "agents: {}; `cru import` alone shows what is on this machine",
                agents.join(", ")
            )));
        }
        Ok(Self::Paths(whole(&args.what)))
    }

    /// Looks for it. An agent that was named must have something, unless copies of it were `kept`.
    pub(super) fn search(&self, kept: bool, cx: &Context<'_>) -> Result<FoundTranscripts> {
        let own = |importer: &'static Importer| -> Vec<PathBuf> {
            places::of(importer, cx.env).into_iter().filter(|path| path.exists()).collect()
        };
        let mut strangers = Vec::new();
        let mut others = 0;
        let sources = match self {
            Self::Overview | Self::All => {
                let all = IMPORTERS.iter().map(|importer| (importer, own(importer)));
                let all = all.filter(|(_, paths)| !paths.is_empty());
                all.map(|(importer, paths)| (importer, TranscriptSource::Paths(paths))).collect()
            }
            Self::Agent(importer, paths) => {
                let paths = if paths.is_empty() { own(importer) } else { paths.clone() };
                if paths.is_empty() && !kept {
                    return Err(Error::no(format!(
                        "no transcripts of {} in {}",
                        importer.title(),
                        importer.agent().places.join(", ")
                    ))
                    .with_hint(format!("`cru import {} PATH` reads them from elsewhere", importer.id)));
                }
                vec![(*importer, TranscriptSource::Paths(paths))]
            }
            Self::Paths(paths) => {
                let any::Any { found, strangers: none, others: more } = any::search(paths)?;
                if found.is_empty() {
                    let unread = none.iter().find(|(_, why)| *why == UNREADABLE);
                    if let Some((path, _)) = unread {
                        return Err(Error::usage(format!("could not read {}", sanitise(&path.to_string_lossy()))));
                    }
                    let why = none.first().map_or("nothing in it is called like one", |(_, why)| *why);
                    return Err(Error::no(format!("no transcript there: {why}"))
                        .with_hint("`cru import AGENT PATH` takes the files for those of that agent"));
                }
                (strangers, others) = (none, more);
                found.into_iter().map(|(importer, found)| (importer, TranscriptSource::Found(found))).collect()
            }
        };
        Ok(FoundTranscripts { sources, strangers, others })
    }

    /// Copies of transcripts that are gone and have no note: those of the agents that are meant by their own folders.
    pub(super) fn kept(&self, vault: &Vault, cx: &Context<'_>) -> Vec<(&'static Importer, TranscriptSource)> {
        let importers: Vec<&'static Importer> = match self {
            Self::Overview | Self::All => IMPORTERS.iter().collect(),
            Self::Agent(importer, paths) if paths.is_empty() => vec![importer],
            _ => Vec::new(),
        };
        let heads = Catalog::read(vault).heads;
        let there: HashSet<&str> = heads.iter().filter_map(|head| head.meta.host_session.as_deref()).collect();
        let store = Store::of(vault, cx.env);
        let found = importers.into_iter().map(|importer| {
            let bundles = store.orphans(importer.host(), &|session| there.contains(session));
            (importer, import::Found { bundles, ..import::Found::default() })
        });
        let found = found.filter(|(_, found)| !found.bundles.is_empty());
        found.map(|(importer, found)| (importer, TranscriptSource::Found(found))).collect()
    }
}

/// The path without `..` and links, as the notes name it; as it is where that cannot be known.
fn whole(path: PathBuf) -> PathBuf {
    std::fs::canonicalize(&path).unwrap_or(path)
}

/// Takes any path, and says in the help which words are agents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parser;

impl TypedValueParser for Parser {
    type Value = PathBuf;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> std::result::Result<PathBuf, clap::Error> {
        Ok(Path::new(value).to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let agents = IMPORTERS.iter().map(|importer| PossibleValue::new(importer.id).help(importer.title()));
        let memories = PossibleValue::new(super::memories::WORD).help("Memory files of Serena and SuperClaude");
        Some(Box::new(agents.chain(std::iter::once(memories))))
    }
}
