//! Notes that were imported before, written anew from their transcripts: `cru import --again`.
//!
//! A transcript whose files are gone is read from the copies in `evidence/`, where there are any. A note is named with the
//! reason where it stays as it is.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;

use super::{Machine, Watch, is_running};
use crate::evidence::Transcripts;
use crate::evidence::transcripts::Pointer;
use crate::existing::Existing;
use crate::grow::renew::{Renewal, links_in};
use crate::grow::{Grower, Grown};
use crate::plan::choice::Choice;
use crate::plan::imported::ImportedSessions;
use crate::plan::made::MadeNotes;
use crate::plan::{Ground, Plan, Rules, Taken};
use crate::read::reading::Reading;
use crate::report::Outcome;
use cru_base::{Env, Result};
use cru_session::cursor::Cursor;
use cru_session::detail::Level;
use cru_session::fold;
use cru_session::source::{Bundle, Importer};
use cru_vault::{Catalog, Head, Vault, VaultPath};

/// What a person may choose.
#[derive(Clone, Debug, Default)]
pub struct AgainOptions {
    /// How events become notes.
    pub fold: fold::Options,
    /// How much the notes are to tell from now on; none leaves each as it is.
    pub level: Option<Level>,
    /// Which sessions.
    pub choice: Choice,
    /// Whether what stands in a note as it would be generated counts as generated, though nothing proves it.
    pub trust: bool,
}

/// What became of one note, or would become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgainNote {
    /// Its path in the vault.
    pub note: String,
    /// Its text before.
    pub before: String,
    /// Its text after; the same where nothing changes.
    pub after: String,
    /// Why it stays as it is, where it cannot be written anew.
    pub left: Option<String>,
    /// Whether its transcript was read from the copies in `evidence/`.
    pub from_evidence: bool,
}

impl AgainNote {
    /// Whether its text changes.
    pub fn is_changed(&self) -> bool {
        self.before != self.after
    }
}

/// Writes the notes of `wanted` anew. `agree` sees what would be done, and nothing is written unless it says so.
///
/// Errors: the vault cannot be read, a note cannot be written; notes before it are written then.
pub fn again(
    vault: &Vault,
    env: &Env,
    machine: &Machine,
    wanted: &[VaultPath],
    options: &AgainOptions,
    watch: &dyn Watch,
    agree: &mut dyn FnMut(&[AgainNote]) -> Result<bool>,
) -> Result<Vec<AgainNote>> {
    let catalog = Catalog::read(vault);
    let wanted: HashSet<&VaultPath> = wanted.iter().collect();
    let transcripts = Transcripts::of(vault, env);
    let mut by_importer: BTreeMap<&str, (&'static Importer, Vec<&Head>)> = BTreeMap::new();
    for head in catalog.sessions().filter(|head| wanted.contains(&head.path)) {
        if let Some(importer) = head.meta.host.as_deref().and_then(cru_agents::of_host) {
            by_importer.entry(importer.id).or_insert((importer, Vec::new())).1.push(head);
        }
    }
    let linked = linked(vault, &catalog);
    let mut done = Vec::new();
    let mut later: Vec<Agent<'_>> = Vec::new();
    for (importer, heads) in by_importer.into_values() {
        let bundles = bundles_of(&catalog, &heads, importer, &transcripts);
        let renewal = Renewal { trust: options.trust, linked: linked.clone() };
        later.push(Agent { importer, heads, bundles, renewal });
    }
    for agent in &later {
        done.extend(agent.run(vault, &catalog, machine, options, watch, None)?);
    }
    done.sort_by(|a: &AgainNote, b| a.note.cmp(&b.note));
    if !done.iter().any(AgainNote::is_changed) || !agree(&done)? {
        return Ok(done);
    }
    let changed: HashSet<String> = done.iter().filter(|it| it.is_changed()).map(|it| it.note.clone()).collect();
    let mut written = Vec::new();
    for agent in &later {
        written.extend(agent.run(vault, &catalog, machine, options, watch, Some(&changed))?);
    }
    let mut written: HashMap<String, AgainNote> = written.into_iter().map(|it| (it.note.clone(), it)).collect();
    Ok(done.into_iter().map(|it| written.remove(&it.note).unwrap_or(it)).collect())
}

/// The notes of one agent.
struct Agent<'a> {
    importer: &'static Importer,
    heads: Vec<&'a Head>,
    bundles: Vec<Bundle>,
    renewal: Renewal,
}

impl Agent<'_> {
    /// Looks what would be done, or does it to those of `write`.
    fn run(
        &self,
        vault: &Vault,
        catalog: &Catalog,
        machine: &Machine,
        options: &AgainOptions,
        watch: &dyn Watch,
        write: Option<&HashSet<String>>,
    ) -> Result<Vec<AgainNote>> {
        let mut done = Vec::new();
        let host = self.importer.host();
        let existing = Existing::of(&catalog.heads, host);
        let reading = Reading { level: options.level, ..Reading::of(self.importer, options.fold, &existing) };
        let runs = |draft: &_| is_running(vault, &existing, machine, draft, false);
        let is_wanted = |head: &Head| {
            let path = head.path.to_string();
            self.heads.iter().any(|it| it.path == head.path) && write.is_none_or(|write| write.contains(&path))
        };
        watch.begin("Reading", self.bundles.len() as u64);
        let read: Vec<_> = (self.bundles.par_iter())
            .map(|bundle| {
                let read = reading.read(bundle, &runs);
                watch.step();
                read.drafts
            })
            .collect();
        let mut bundle_of = HashMap::new();
        let mut drafts = Vec::new();
        for (index, of_bundle) in read.into_iter().enumerate() {
            for draft in of_bundle {
                // What has no note gets none here.
                if existing.of_stream(&draft.key).is_some() && !bundle_of.contains_key(&draft.key) {
                    bundle_of.insert(draft.key.clone(), index);
                    drafts.push(draft);
                }
            }
        }
        let left = options.choice.leaves_out(&drafts);
        let rules = Rules::of(&vault.config().import, vault.config().channel.as_deref(), &vault.config().zone);
        let ground = Ground {
            vault,
            existing: &existing,
            made: &MadeNotes::default(),
            imported: &ImportedSessions::default(),
            rules: &rules,
            left: &left,
            restore: true,
            can_grow: true,
            all: true,
            reattach: false,
        };
        let Plan { mut olds, sessions, .. } = Plan::make(&ground, || Taken::of(vault, catalog), drafts);
        for old in &mut olds {
            // No project note is made here, so none is linked; a link that stands in the note stays.
            old.draft.session.meta.project_note = None;
        }
        let grower = Grower {
            vault,
            state: &machine.state,
            now: machine.now,
            reading,
            rules: &rules,
            label: "import --again",
            reattach: false,
            renewal: Some(&self.renewal),
            unsealed: &Cell::new(0),
        };
        let mut seen: HashSet<String> = HashSet::new();
        for old in olds.iter().filter(|old| is_wanted(&old.head)) {
            let Some(bundle) = bundle_of.get(&old.draft.key).and_then(|&at| self.bundles.get(at)) else {
                continue;
            };
            let path = old.head.path.to_string();
            seen.insert(path.clone());
            let before = text_of(vault, &old.head.path)?;
            let mut row = AgainNote {
                note: path,
                after: before.clone(),
                before,
                left: None,
                from_evidence: !bundle.memory.is_empty(),
            };
            if write.is_some() {
                match grower.grow(old, bundle, &BTreeMap::new())? {
                    Grown::Refused(why) => row.left = Some(why.to_owned()),
                    Grown::Stale => row.left = Some(STALE.to_owned()),
                    _ => row.after = text_of(vault, &old.head.path)?,
                }
            } else {
                match grower.preview(old, bundle, &row.before)? {
                    Ok(after) => row.after = after,
                    Err(Grown::Refused(why)) => row.left = Some(why.to_owned()),
                    Err(Grown::Stale) => row.left = Some(STALE.to_owned()),
                    Err(_) => {}
                }
            }
            done.push(row);
        }
        if write.is_some() {
            return Ok(done);
        }
        for report in sessions {
            let Some(path) = report.note.filter(|path| !seen.contains(path)) else { continue };
            let head = self.heads.iter().find(|head| head.path.to_string() == path);
            let filtered = matches!(report.outcome, Outcome::Earlier | Outcome::Elsewhere);
            if let Some(head) = head.filter(|_| !filtered) {
                let why = report.detail.unwrap_or_else(|| "[import] exclude leaves it out".to_owned());
                done.push(left_as_it_is(vault, head, why)?);
            }
            seen.insert(path);
        }
        let out: HashSet<String> =
            left.keys().filter_map(|key| Some(existing.of_stream(key)?.path.to_string())).collect();
        for head in self.heads.iter().filter(|head| !seen.contains(&head.path.to_string())) {
            if !out.contains(&head.path.to_string()) {
                let why = match head.meta.cursor.as_deref().and_then(Cursor::parse) {
                    None => "it was not imported: it has no cru_cursor",
                    Some(_) => "its transcript is gone, and evidence/ has no copy of it",
                };
                done.push(left_as_it_is(vault, head, why.to_owned())?);
            }
        }
        Ok(done)
    }
}

/// Why a note is left that has no seals.
pub const UNSEALED: &str = crate::grow::renew::UNSEALED;

pub(super) const STALE: &str = "somebody else wrote it meanwhile; run it again";

fn text_of(vault: &Vault, path: &VaultPath) -> Result<String> {
    Ok(String::from_utf8_lossy(&vault.read(path)?).into_owned())
}

fn left_as_it_is(vault: &Vault, head: &Head, why: String) -> Result<AgainNote> {
    let text = text_of(vault, &head.path)?;
    Ok(AgainNote {
        note: head.path.to_string(),
        before: text.clone(),
        after: text,
        left: Some(why),
        from_evidence: false,
    })
}

/// The transcripts of notes, and of the sessions that they belong together with.
fn bundles_of(
    catalog: &Catalog,
    heads: &[&Head],
    importer: &'static Importer,
    transcripts: &Transcripts,
) -> Vec<Bundle> {
    let family = |head: &Head| {
        let host = head.meta.host_session.as_deref().unwrap_or_default();
        host.split("/agent-").next().unwrap_or_default().to_owned()
    };
    let families: HashSet<String> = heads.iter().map(|head| family(head)).collect();
    let own = |head: &&Head| head.meta.host.as_deref() == Some(importer.host()) && families.contains(&family(head));
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    let mut kept: BTreeMap<String, Bundle> = BTreeMap::new();
    for head in catalog.sessions().filter(own) {
        let Some((_, found)) = transcripts.files(Pointer::of(&head.meta)) else { continue };
        if found.kept.is_none() {
            files.extend(found.all);
            continue;
        }
        let bundle = kept.entry(family(head)).or_default();
        let copies = transcripts.bundle(&found);
        for path in copies.files.into_iter().filter(|path| copies.memory.contains_key(path)) {
            cru_base::list::push_new(&mut bundle.files, path);
        }
        bundle.memory.extend(copies.memory);
    }
    let mut bundles = cru_agents::recognised(importer, files).map(|found| found.bundles).unwrap_or_default();
    bundles.extend(kept.into_values().filter(|bundle| !bundle.files.is_empty()));
    bundles
}

/// The blocks that notes link to in other notes, by the name of the note in small letters.
fn linked(vault: &Vault, catalog: &Catalog) -> HashMap<String, HashSet<String>> {
    let of_note = |head: &Head| -> Vec<(String, String)> {
        let text = text_of(vault, &head.path).unwrap_or_default();
        let own = head.path.stem().to_lowercase();
        let links = text.split("[[").skip(1).filter_map(|rest| rest.split_once("#^").map(|(name, _)| (name, rest)));
        let links = links.filter(|(name, _)| !name.is_empty() && !name.contains(['\n', ']']));
        let links = links.filter_map(|(name, rest)| {
            let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
            let name = name.strip_suffix(".md").map_or(name.clone(), str::to_owned);
            Some((name, links_in(rest).next()?.to_lowercase()))
        });
        links.filter(|(name, _)| *name != own).collect()
    };
    let all: Vec<Vec<(String, String)>> = catalog.heads.par_iter().map(of_note).collect();
    let mut linked: HashMap<String, HashSet<String>> = HashMap::new();
    for (name, id) in all.into_iter().flatten() {
        linked.entry(name).or_default().insert(id);
    }
    // A link by id leads to the note too that has another name.
    for head in catalog.sessions() {
        let (id, stem) = (head.id().to_lowercase(), head.path.stem().to_lowercase());
        if let Some(ids) = linked.get(&id).filter(|_| id != stem).cloned() {
            linked.entry(stem).or_default().extend(ids);
        }
    }
    linked
}
