//! Which sessions a command may read, where its answer leaves the vault.
//!
//! A person keeps a session to themselves with `export: false`, `private: true` or the tag `no-mcp` in its frontmatter.
//! Commands that are called for a person read all sessions; those that are called over the Model Context Protocol read
//! the others alone.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{Context, current, reading};
use crate::base::{Env, Error, Result};
use crate::index::{SessionRow, Snapshot};
use crate::note::frontmatter::{NO_MCP, is_tag};
use crate::session::Meta;
use crate::vault::resolve::host_sessions;
use crate::vault::{Catalog, Vault, VaultPath};

/// A session whose note changed within this time is at work.
const AT_WORK: SignedDuration = SignedDuration::from_mins(10);

/// Which sessions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All of them.
    #[default]
    All,
    /// Those that may leave the vault.
    Shared,
    /// The same without the caller's own session; where the caller does not say which that is, without those that are at work
    /// now.
    Earlier,
}

impl Reach {
    /// Takes the sessions out of a snapshot that are not to be read.
    pub(super) fn restrict(self, snapshot: &mut Snapshot, vault: &Vault, env: &Env) {
        if self == Self::All {
            return;
        }
        let rows = snapshot.sessions();
        let hosts: Vec<&str> = host_sessions(env).collect();
        let is_named = env.var("CRU_SESSION").is_some();
        let own = (self == Self::Earlier && (is_named || hosts.is_empty())).then(|| current::path(rows, vault, env));
        let own = own.flatten();
        let is_own = |row: &SessionRow| {
            let of_host = !is_named && row.host_session.as_deref().is_some_and(|session| hosts.contains(&session));
            of_host || own.as_deref() == Some(row.path.as_str())
        };
        // Where the caller says which session it is, all others are told of: also one that broke off a moment ago.
        let is_at_work = |row: &SessionRow| !is_named && hosts.is_empty() && is_at_work(row, vault, env);
        let is_read = |row: &SessionRow| {
            !row.private && !is_tag(&row.tags, NO_MCP) && (self != Self::Earlier || (!is_own(row) && !is_at_work(row)))
        };
        let kept: Vec<bool> = rows.iter().map(is_read).collect();
        if kept.contains(&false) {
            snapshot.keep(&kept);
        }
    }

    /// Whether a note may be read; else an error that does not tell its name, which may have been asked for by a part of it.
    pub(super) fn check(self, meta: &Meta) -> Result<()> {
        if self.allows(meta) {
            return Ok(());
        }
        Err(Error::no("there is no such session, or it is kept from agents")
            .with_hint("`search` finds those that may be read"))
    }

    /// An error whose hint names no session that may not be read: `did you mean` lists whatever is like a name.
    pub(super) fn shown(self, error: Error, cx: &Context<'_>) -> Error {
        let Some(hint) = error.hint().map(str::to_owned).filter(|_| self != Self::All) else { return error };
        let withheld = match reading::vault(cx) {
            Ok(vault) => Withheld::of(&Catalog::read(&vault), &vault, self),
            Err(_) => return error,
        };
        let told: Vec<&str> = hint.lines().filter(|line| !withheld.is_told_of(line)).collect();
        match told.len() {
            kept if kept == hint.lines().count() => error,
            0 | 1 => error.with_hint("`search` finds sessions"),
            _ => error.with_hint(told.join("\n")),
        }
    }

    /// Whether a note may be read.
    pub(super) fn allows(self, meta: &Meta) -> bool {
        self == Self::All || (meta.export != Some(false) && !meta.has_tag(NO_MCP))
    }
}

/// The sessions that may not be read, by the names that other notes call them by: bookmarks, lessons, summaries and lists
/// of projects tell of them.
#[derive(Debug, Default)]
pub(super) struct Withheld {
    names: BTreeSet<String>,
    /// Notes that the configuration leaves out. Any word may be the name of one, so only a link tells of it.
    left_out: BTreeSet<String>,
    /// All other notes, where the configuration leaves out whole folders: a link to none of them may lead into one.
    known: Option<BTreeSet<String>>,
}

impl Withheld {
    pub(super) fn of(catalog: &Catalog, vault: &Vault, reach: Reach) -> Self {
        let mut it = Self::default();
        if reach == Reach::All {
            return it;
        }
        let named = |path: &VaultPath| {
            let text = path.text();
            [text.strip_suffix(".md").unwrap_or(&text).to_owned(), path.stem().into_owned()]
        };
        for head in catalog.heads.iter().filter(|head| head.is_session() && !reach.allows(&head.meta)) {
            it.names.extend(named(&head.path));
            it.names.insert(head.id());
        }
        it.names.retain(|name| !name.is_empty());
        it.left_out.extend(catalog.others.iter().filter(|path| path.is_note()).flat_map(named));
        if !vault.config().exclude.is_empty() {
            let ids = catalog.heads.iter().filter(|head| head.is_session()).map(cru_vault::Head::id);
            it.known = Some(catalog.heads.iter().flat_map(|head| named(&head.path)).chain(ids).collect());
        }
        it
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.left_out.is_empty() && self.known.is_none()
    }

    /// Whether it is the name of one.
    pub(super) fn holds(&self, name: &str) -> bool {
        let is_unknown = || self.known.as_ref().is_some_and(|known| !known.contains(name));
        self.names.contains(name) || self.left_out.contains(name) || is_unknown()
    }

    /// Whether a text names one of them, in a link or as a word.
    pub(super) fn is_told_of(&self, text: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let is_word = |name: &String| {
            text.match_indices(name.as_str())
                .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
        };
        let is_linked = || {
            text.split("[[").skip(1).any(|link| {
                let target = link.split([']', '#', '|']).next().unwrap_or_default().trim();
                !target.is_empty() && self.holds(target.strip_suffix(".md").unwrap_or(target))
            })
        };
        self.names.iter().any(is_word) || is_linked()
    }
}

/// Whether a session is active and its note was written lately.
fn is_at_work(row: &SessionRow, vault: &Vault, env: &Env) -> bool {
    if row.status.as_deref() != Some("active") {
        return false;
    }
    let Some(path) = VaultPath::new(&row.path) else { return false };
    let changed = vault.file(&path).metadata().and_then(|metadata| metadata.modified()).ok();
    changed.and_then(|at| Timestamp::try_from(at).ok()).is_some_and(|at| env.now().duration_since(at) < AT_WORK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_from_agents() {
        let meta = |export, tags: &[&str]| Meta {
            export,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..Meta::default()
        };
        for (meta, allowed) in [
            (meta(None, &[]), true),
            (meta(Some(true), &["work"]), true),
            (meta(Some(false), &[]), false),
            (meta(None, &["work", "no-mcp"]), false),
            (meta(None, &["#No-MCP/customer"]), false),
            (meta(None, &["no-mcp-yet"]), true),
        ] {
            assert_eq!(Reach::Shared.allows(&meta), allowed, "{meta:?}");
            assert!(Reach::All.allows(&meta));
            assert_eq!(Reach::Earlier.check(&meta).is_ok(), allowed);
        }
    }
}
