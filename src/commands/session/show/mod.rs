//! `cru session show`.

pub(in crate::commands) mod diff;
mod figures;
pub(in crate::commands) mod html;
mod kind;
mod terminal;

use std::collections::{BTreeMap, HashMap};

use jiff::tz::TimeZone;

use self::figures::SessionFigures;
use crate::base::{Diagnostic, Error, Result};
use crate::commands::output::PageFrame;
use crate::commands::prices::prices;
use crate::commands::{Context, Output, Raw, Reach, View, reading};
use crate::graph::place::is_same_id;
use crate::graph::{Place, recoveries};
use crate::price::Prices;
use crate::session::{Item, Link, Phase, Session, Step, SubagentMode, public};
use crate::sync::evidence::Transcripts;
use crate::sync::hooked;
use crate::vault::{Catalog, Head, Vault};
use crate::workflow::FileDiff;

/// Embeds within embeds are shown this deep; a session that embeds itself ends here too.
const DEEPEST_EMBED: usize = 4;

/// How a session is shown.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct ShowOptions {
    /// Of a session only one phase: its id (`p-02`), its number or the beginning of its title; may be given again
    #[arg(long, value_name = "PHASE")]
    phase: Vec<String>,
    /// The note of a session as it is in the file
    #[arg(long, conflicts_with_all = ["phase", "html"])]
    raw: bool,
    /// A session as one self-contained HTML page
    #[arg(long)]
    html: bool,
}

impl ShowOptions {
    /// One that is given.
    pub(in crate::commands) fn given(&self) -> Option<&'static str> {
        let all = [("--phase", !self.phase.is_empty()), ("--raw", self.raw), ("--html", self.html)];
        all.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }
}

/// The session of that name; without one the current, else the newest.
pub(in crate::commands) fn run(session: Option<&str>, args: &ShowOptions, cx: &Context<'_>) -> Result<Box<dyn Output>> {
    let (vault, catalog) = reading::vault_with_catalog(cx)?;
    let head = match session {
        Some(name) => catalog.session(name, &vault, cx.env)?,
        None => super::current_or_newest(&catalog, &vault, cx)?,
    };
    cx.global.reach.check(&head.meta)?;
    if args.raw {
        let text = String::from_utf8_lossy(&vault.read(&head.path)?).into_owned();
        // A person has their own file as it is; nobody else does.
        let text = if cx.global.reach == Reach::All { text } else { public::text(&text) };
        return Ok(Box::new(Raw { name: "note", text }));
    }
    let shown = SessionReader::of(&vault, &catalog, cx)?.read(head, &args.phase, args.html)?;
    if args.html {
        return Ok(Box::new(Raw { name: "html", text: html::render(&shown, None)? }));
    }
    Ok(Box::new(shown))
}

/// What sessions are shown by, read once for all of them.
pub(in crate::commands) struct SessionReader<'a> {
    vault: &'a Vault,
    catalog: &'a Catalog,
    cx: &'a Context<'a>,
    prices: Prices,
    transcripts: Transcripts,
}

impl<'a> SessionReader<'a> {
    /// Error: the prices of the user's configuration cannot be read.
    pub(in crate::commands) fn of(vault: &'a Vault, catalog: &'a Catalog, cx: &'a Context<'a>) -> Result<Self> {
        Ok(Self { vault, catalog, cx, prices: prices(cx)?, transcripts: Transcripts::of(vault, cx.env) })
    }

    /// The page of a session that may be read. Error: the note cannot be read.
    pub(in crate::commands) fn page(&self, head: &Head, frame: &PageFrame<'_>) -> Result<String> {
        html::render(&self.read(head, &[], true)?, Some(frame))
    }

    /// A session, all of it or some phases; `page`: with what a page of it has.
    fn read(&self, head: &Head, phases: &[String], page: bool) -> Result<ShownSession> {
        let Self { vault, catalog, cx, .. } = *self;
        let loaded = vault.load(&head.path)?;
        let only = select(&loaded.session.phases, phases)?;
        let embeds = embeds(vault, catalog, head, &loaded.session, cx.global.reach);
        let diffs = if page { diff::diffs(&loaded.session, &self.transcripts) } else { HashMap::new() };
        // The header of one phase alone has none, but in JSON.
        let figures = if only.is_none() || page || cx.global.format != crate::commands::output::Format::Text {
            SessionFigures::of(&loaded.session, head, catalog, vault, &self.prices)
        } else {
            SessionFigures::default()
        };
        let newest = crate::live::status::newest(&loaded.session);
        Ok(ShownSession {
            zone: vault.config().zone.clone(),
            idle_since: hooked::idle_since(vault, cx.env, &loaded.session.meta, newest),
            figures,
            diffs,
            path: loaded.path.text().into_owned(),
            recovered: recovered(&loaded.session),
            session: loaded.session,
            diagnostics: loaded.diagnostics,
            only,
            embeds,
        })
    }
}

/// Indices of the phases that were asked for, sub-phases with their phase; `None`: all.
fn select(phases: &[Phase], wanted: &[String]) -> Result<Option<Vec<usize>>> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut only = Vec::new();
    for name in wanted {
        let name = name.trim_start_matches(['^', '#']);
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let lower = name.to_lowercase();
        let found = phases
            .iter()
            .position(|phase| is_same_id(&phase.id, name))
            .or(number.filter(|index| *index < phases.len()))
            .or_else(|| phases.iter().position(|phase| phase.title.to_lowercase().starts_with(&lower)));
        let Some(found) = found else {
            let ids: Vec<_> = phases.iter().map(|phase| format!("{} {}", phase.id, phase.title)).collect();
            return Err(Error::usage(format!("no phase `{name}` in this session"))
                .with_hint(format!("phases: {}", ids.join("; "))));
        };
        only.push(found);
        only.extend((0..phases.len()).filter(|index| phases[*index].parent == Some(found)));
    }
    only.sort_unstable();
    only.dedup();
    Ok(Some(only))
}

/// The sessions that are shown in place, by link target, as deep as [`DEEPEST_EMBED`].
fn embeds(
    vault: &Vault,
    catalog: &Catalog,
    head: &Head,
    session: &Session,
    reach: Reach,
) -> BTreeMap<String, EmbeddedNote> {
    let mut found = BTreeMap::new();
    let mut open: Vec<(Link, Head)> = embedded(session).map(|link| (link, head.clone())).collect();
    for _ in 0..DEEPEST_EMBED {
        for (link, from) in std::mem::take(&mut open) {
            if found.contains_key(&link.target) {
                continue;
            }
            let Some(target) = catalog.note(&link.target, &from.path) else { continue };
            if !reach.allows(&target.meta) {
                continue;
            }
            let Ok(loaded) = vault.load(&target.path) else { continue };
            open.extend(embedded(&loaded.session).map(|link| (link, target.clone())));
            let path = target.path.text().into_owned();
            found.insert(link.target, EmbeddedNote { path, session: loaded.session });
        }
    }
    found
}

fn embedded(session: &Session) -> impl Iterator<Item = Link> {
    session.items().filter_map(|(_, item)| match item {
        Item::Subagent(subagent) if subagent.mode == SubagentMode::Embed => subagent.link.clone(),
        _ => None,
    })
}

/// The failed steps that worked later, by their ids, each with the step that did.
fn recovered(session: &Session) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for recovery in recoveries(session) {
        let id = |place: Place| place.id_in(session).map(str::to_owned);
        let Some(worked) = id(recovery.worked) else { continue };
        found.extend([recovery.failed, recovery.again].into_iter().filter_map(id).map(|id| (id, worked.clone())));
    }
    found
}

/// A session that is shown in the place of its link.
#[derive(Debug)]
struct EmbeddedNote {
    /// Its note, by which a session that embeds itself is known.
    path: String,
    session: Session,
}

/// A session with what is needed to show it.
struct ShownSession {
    path: String,
    /// The zone of the times.
    zone: TimeZone,
    session: Session,
    diagnostics: Vec<Diagnostic>,
    only: Option<Vec<usize>>,
    embeds: BTreeMap<String, EmbeddedNote>,
    recovered: BTreeMap<String, String>,
    figures: SessionFigures,
    /// Since when nothing happened, where the next flush pauses or closes it for that.
    idle_since: Option<jiff::Timestamp>,
    /// What its steps changed, by their ids; for a page alone.
    diffs: HashMap<String, Vec<FileDiff>>,
}

impl ShownSession {
    /// Where a step worked after all, in words.
    fn recovery(&self, step: &Step) -> Option<String> {
        self.recovered.get(step.id.as_deref()?).map(|worked| format!("recovered at {worked}"))
    }
}

impl Output for ShownSession {
    fn text(&self, view: &View) -> String {
        terminal::render(self, view)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        let mut session = self.session.clone();
        if let Some(only) = &self.only {
            session.phases = only.iter().filter_map(|index| session.phases.get(*index).cloned()).collect();
        }
        Ok(serde_json::json!({
            "schema": 1,
            "path": self.path,
            "idle_since": self.idle_since,
            "figures": self.figures.json(),
            "session": serde_json::to_value(&session)?,
            "diagnostics": serde_json::to_value(&self.diagnostics)?,
        }))
    }
}
