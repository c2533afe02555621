//! Which session a person or program means.
//!
//! `<session>` arguments are a path, a file name, a `session_id`, a host session id, or enough of one to tell it apart, or
//! words of a title; the question is asked from the strictest reading to the loosest, and the first that has an answer decides. An
//! ambiguous name is an error that lists what it could mean: guessing would write into the wrong note.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use super::{Catalog, Head, Vault, VaultPath};
use cru_base::{Env, Error, Result, text};
use cru_session::Status;

/// How many candidates an error lists.
const LISTED: usize = 8;

/// Variables in which hosts tell the programs they start the id of their session.
const HOST_VARS: &[&str] = &["CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "PI_SESSION_ID"];

/// The readings of a name, strictest first: whether session `head` answers to `name` (both in lower case).
const READINGS: &[fn(&ResolvedNames, &str) -> bool] = &[
    |it, name| it.stem == name || it.id == name,
    |it, name| it.host == name,
    |it, name| it.stem.starts_with(name) || it.id.starts_with(name),
    |it, name| it.host.starts_with(name),
    |it, name| slug(&it.stem).starts_with(name) || slug(&it.id).starts_with(name),
    |it, name| has_words(&it.stem, name) || has_words(&it.id, name),
    |it, name| has_words(&it.title, name),
    |it, name| words(name).next().is_some() && words(name).all(|word| has_words(&it.title, word)),
];

/// The ids under which hosts know the session that this program was started in; mostly none or one.
pub fn host_sessions(env: &Env) -> impl Iterator<Item = &str> {
    HOST_VARS.iter().filter_map(|var| env.var(var))
}

struct ResolvedNames {
    stem: String,
    id: String,
    host: String,
    title: String,
}

impl ResolvedNames {
    fn of(head: &Head) -> Self {
        Self {
            stem: head.path.stem().to_lowercase(),
            id: head.meta.session_id.as_deref().unwrap_or_default().to_lowercase(),
            host: head.meta.host_session.as_deref().unwrap_or_default().to_lowercase(),
            title: head.meta.title.as_deref().unwrap_or_default().to_lowercase(),
        }
    }
}

impl Catalog {
    /// The session that `argument` means; `env` gives the folder that a relative path starts from.
    ///
    /// Usage errors: nothing matches (with what is near), or several do (with the list).
    pub fn session(&self, argument: &str, vault: &Vault, env: &Env) -> Result<&Head> {
        let name = argument.trim().trim_start_matches("[[").trim_end_matches("]]");
        let name = name.split(['#', '|']).next().unwrap_or(name).trim();
        if name.is_empty() {
            return Err(Error::usage("the name of a session is empty"));
        }
        if let Some(head) = self.by_path(name, vault, env)? {
            return Ok(head);
        }
        let wanted = name.to_lowercase();
        let wanted = wanted.strip_suffix(".md").unwrap_or(&wanted);
        let names: Vec<(&Head, ResolvedNames)> = self.sessions().map(|head| (head, ResolvedNames::of(head))).collect();
        for reading in READINGS {
            let found: Vec<&Head> =
                names.iter().filter(|(_, names)| reading(names, wanted)).map(|(head, _)| *head).collect();
            match self.foremost(&found) {
                Some(head) => return Ok(head),
                None if found.is_empty() => {}
                None => return Err(ambiguous(&format!("'{name}'"), &found)),
            }
        }
        Err(unknown(name, wanted, &names))
    }

    /// The session of this moment: `CRU_SESSION`, the host's session id, the only active session of this folder, the
    /// only active session at all. `Ok(None)` where there is none; an error where there are several.
    pub fn current(&self, vault: &Vault, env: &Env) -> Result<Option<&Head>> {
        if let Some(name) = env.var("CRU_SESSION") {
            return self.session(name, vault, env).map(Some);
        }
        for host in host_sessions(env) {
            if let Some(head) = self.sessions().find(|head| head.meta.host_session.as_deref() == Some(host)) {
                return Ok(Some(head));
            }
        }
        let active: Vec<&Head> = self
            .sessions()
            .filter(|head| head.meta.status == Some(Status::Active) && !self.is_subagent(head))
            .collect();
        let here: Vec<&Head> = active.iter().copied().filter(|head| is_here(head, env)).collect();
        let found = if here.is_empty() { active } else { here };
        match self.foremost(&found) {
            Some(head) => Ok(Some(head)),
            None if found.is_empty() => Ok(None),
            None => Err(ambiguous("the current session", &found)),
        }
    }

    /// The session to take up again where none is named: the current one, else the only paused one of this folder, else
    /// the only paused one at all. `Ok(None)` where there is none; an error where there are several.
    pub fn resumable(&self, vault: &Vault, env: &Env) -> Result<Option<&Head>> {
        if let Some(head) = self.current(vault, env)? {
            return Ok(Some(head));
        }
        let mut paused: Vec<&Head> = self
            .sessions()
            .filter(|head| head.meta.status == Some(Status::Paused) && !self.is_subagent(head))
            .collect();
        // The newest stands first, where somebody has to choose.
        paused.sort_by_key(|head| Reverse((head.meta.started, &head.path)));
        let here: Vec<&Head> = paused.iter().copied().filter(|head| is_here(head, env)).collect();
        let found = if here.is_empty() { paused } else { here };
        match self.foremost(&found) {
            Some(head) => Ok(Some(head)),
            None if found.is_empty() => Ok(None),
            None => Err(ambiguous("the session to resume", &found)),
        }
    }

    /// The session that was completed last; never a sub-agent's.
    pub fn newest_completed(&self) -> Option<&Head> {
        let completed = self.sessions().filter(|head| head.meta.status == Some(Status::Completed));
        let mut completed: Vec<&Head> = completed.collect();
        completed.sort_by_key(|head| (Reverse(head.meta.ended.or(head.meta.started)), &head.path));
        completed.into_iter().find(|head| !self.is_subagent(head))
    }

    /// The session that began last; never a sub-agent's.
    pub fn newest(&self) -> Option<&Head> {
        let mut own: Vec<&Head> = self.sessions().collect();
        own.sort_by_key(|head| (Reverse(head.meta.started), &head.path));
        own.into_iter().find(|head| !self.is_subagent(head))
    }

    /// Whether a session is a sub-agent's: the host says so, or the session that it names as its parent does. What was
    /// forked from another session is none.
    pub fn is_subagent(&self, head: &Head) -> bool {
        let of_host = head.meta.host_session.as_deref().is_some_and(|host| host.contains("/agent-"));
        let id = head.id();
        let listed = |parent: &Head| parent.meta.subagents.iter().any(|row| row.session == id);
        of_host || self.parent(head).is_some_and(listed)
    }

    /// The one of several that all others were started from: sub-agents, whose names begin with their parent's, do not
    /// make it ambiguous.
    fn foremost<'a>(&'a self, found: &[&'a Head]) -> Option<&'a Head> {
        if let [one] = found {
            return Some(one);
        }
        let paths: HashSet<&VaultPath> = found.iter().map(|head| &head.path).collect();
        let is_child = |head: &Head| {
            self.parent(head).is_some_and(|parent| {
                paths.contains(&parent.path) && head.path.stem().starts_with(&*parent.path.stem())
            })
        };
        let mut tops = found.iter().filter(|head| !is_child(head));
        tops.next().copied().filter(|_| tops.next().is_none())
    }

    fn by_path(&self, name: &str, vault: &Vault, env: &Env) -> Result<Option<&Head>> {
        let path = Path::new(name);
        let places = [env.cwd().join(path), vault.root().join(path)];
        let Some(place) = places.iter().find(|place| place.is_file()) else { return Ok(None) };
        // Both sides made canonical: the folder may have been reached through a link.
        let relative = vault.relative(place).or_else(|| {
            let root = vault.root().canonicalize().ok()?;
            VaultPath::new(place.canonicalize().ok()?.strip_prefix(root).ok()?)
        });
        let Some(relative) = relative else {
            return Err(Error::usage(format!("{name} is not in the vault {}", vault.root().display()))
                .with_hint("--vault names another vault"));
        };
        match self.at(&relative) {
            Some(head) if head.is_session() => Ok(Some(head)),
            Some(_) => Err(Error::usage(format!("{relative} is not a session"))
                .with_hint("a session note says `type: session` in its frontmatter")),
            None => Err(Error::usage(format!("{relative} is not a note that this vault reads"))
                .with_hint("see include and exclude in .cru/config.toml")),
        }
    }
}

/// The words of a name, as a title or a file name has them.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| c.is_whitespace() || c == '-').filter(|word| !word.is_empty())
}

/// Without the date in front.
fn slug(id: &str) -> &str {
    let is_date = id.len() > 11
        && id.bytes().zip("0000-00-00-".bytes()).all(|(a, b)| if b == b'0' { a.is_ascii_digit() } else { a == b });
    if is_date { &id[11..] } else { id }
}

/// Whether whole words of `id` (joined by `-` or blanks) begin with the words of `name`.
fn has_words(id: &str, name: &str) -> bool {
    id.match_indices(name).any(|(at, _)| at == 0 || !id[..at].ends_with(char::is_alphanumeric))
}

/// Whether a session's project is the working directory or a folder above it.
fn is_here(head: &Head, env: &Env) -> bool {
    let project = head.meta.project.as_deref().and_then(|project| super::config::expand_home(project, env));
    project.is_some_and(|project| env.cwd().starts_with(project))
}

fn ambiguous(what: &str, found: &[&Head]) -> Error {
    let mut hint = String::from("say which:");
    for head in found.iter().take(LISTED) {
        let _ = write!(hint, "\n  {}", line(head));
    }
    if found.len() > LISTED {
        let _ = write!(hint, "\n  … and {} more", found.len() - LISTED);
    }
    Error::usage(format!("{what} could be any of {}", text::plural(found.len() as u64, "session"))).with_hint(hint)
}

fn unknown(name: &str, wanted: &str, names: &[(&Head, ResolvedNames)]) -> Error {
    let near = |names: &ResolvedNames| {
        [names.stem.as_str(), slug(&names.stem), names.id.as_str(), slug(&names.id)]
            .into_iter()
            .map(|known| strsim::normalized_damerau_levenshtein(known, wanted))
            .fold(0.0, f64::max)
    };
    let mut near: Vec<(f64, &Head)> = names.iter().map(|(head, names)| (near(names), *head)).collect();
    near.retain(|(likeness, _)| *likeness > 0.5);
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let error = Error::usage(format!("no session '{name}' in this vault"));
    if near.is_empty() {
        return error.with_hint("`cru session list` shows them all");
    }
    let mut hint = String::from("did you mean");
    for (_, head) in near.iter().take(3) {
        let _ = write!(hint, "\n  {}", line(head));
    }
    error.with_hint(hint)
}

fn line(head: &Head) -> String {
    let mut line = head.id();
    if line != head.path.stem() {
        let _ = write!(line, " ({})", head.path);
    }
    if let Some(title) = &head.meta.title {
        let _ = write!(line, "  {}", text::truncate(&text::fold_whitespace(title), 60));
    }
    text::sanitise(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn words_of_a_title_name_a_session() {
        let world = world(&[
            ("sessions/a.md", "session_id: a\ntitle: Fix the success message of the login flow\n"),
            ("sessions/b.md", "session_id: b\ntitle: Rotate the login keys\n"),
        ]);
        let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, world.temp.path(), &[]);
        let found = |name: &str| world.catalog.session(name, &world.vault, &env).map(crate::Head::id);
        assert_eq!(found("success message").unwrap(), "a");
        assert_eq!(found("keys rotate").unwrap(), "b");
        assert_eq!(found("fix-the-success-message").unwrap(), "a");
        assert!(found("login").is_err() && found("essage").is_err());
    }

    use super::*;

    struct World {
        temp: tempfile::TempDir,
        vault: Vault,
        catalog: Catalog,
    }

    fn world(notes: &[(&str, &str)]) -> World {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join(".cru")).unwrap();
        for (path, frontmatter) in notes {
            let text = format!("---\ntype: session\n{frontmatter}---\n# Title\n");
            cru_base::files::create(&temp.path().join(path), text.as_bytes()).unwrap();
        }
        let vault = Vault::open(temp.path()).unwrap();
        let catalog = Catalog::read(&vault);
        World { temp, vault, catalog }
    }

    fn vault() -> World {
        world(&[
            ("sessions/2026-11-19-auth-plan.md", "session_id: 2026-11-19-auth-plan\ntitle: Auth plan\n"),
            (
                "sessions/2026-11-20-refresh-tokens.md",
                "session_id: 2026-11-20-refresh-tokens\ntitle: Refresh tokens\nhost_session: 949d76fb-5d94\n\
                 status: active\nproject: ~/code/api\n",
            ),
            (
                "sessions/2026-11-20-refresh-tokens-reviewer.md",
                "session_id: 2026-11-20-refresh-tokens-reviewer\nstatus: active\nproject: ~/code/api\n\
                 parent: \"[[2026-11-20-refresh-tokens]]\"\n",
            ),
            ("sessions/2026-11-21-auth-tests.md", "session_id: 2026-11-21-first-name\nstatus: completed\n"),
        ])
    }

    impl World {
        fn env(&self, vars: &[(&str, &str)]) -> Env {
            Env::fixed(jiff::Timestamp::UNIX_EPOCH, self.temp.path().join("sessions"), vars)
        }

        fn ask(&self, name: &str) -> String {
            match self.catalog.session(name, &self.vault, &self.env(&[])) {
                Ok(head) => head.path.stem().into_owned(),
                Err(error) => format!("{error}; {}", error.hint().unwrap_or("no hint")),
            }
        }
    }

    #[test]
    fn every_way_to_name_a_session() {
        let world = vault();
        let absolute = world.temp.path().join("sessions/2026-11-19-auth-plan.md");
        for name in
            ["2026-11-19-auth-plan", "sessions/2026-11-19-auth-plan.md", "2026-11-19-auth-plan.md", "2026-11-19"]
        {
            assert_eq!(world.ask(name), "2026-11-19-auth-plan", "{name}");
        }
        assert_eq!(world.ask(absolute.to_str().unwrap()), "2026-11-19-auth-plan");
        assert_eq!(world.ask("[[2026-11-19-AUTH-plan#^n-001|x]]"), "2026-11-19-auth-plan");
        assert_eq!(world.ask("2026-11-21-first-name"), "2026-11-21-auth-tests", "an id outlives a renamed file");
        assert_eq!(world.ask("949d76fb-5d94"), "2026-11-20-refresh-tokens");
        assert_eq!(world.ask("949d"), "2026-11-20-refresh-tokens");
        assert_eq!(world.ask("refresh"), "2026-11-20-refresh-tokens", "its sub-agent does not make it ambiguous");
        assert_eq!(world.ask("reviewer"), "2026-11-20-refresh-tokens-reviewer");
        assert_eq!(world.ask("plan"), "2026-11-19-auth-plan");
    }

    #[test]
    fn unclear_names() {
        let world = vault();
        let said =
            [world.ask("auth"), world.ask("auth-pln"), world.ask("zebra"), world.ask(" "), world.ask("/etc/passwd")];
        let said = said.join("\n---\n").replace(world.temp.path().to_str().unwrap(), "VAULT");
        insta::assert_snapshot!(said, @r"
        'auth' could be any of 2 sessions; say which:
          2026-11-19-auth-plan  Auth plan
          2026-11-21-first-name (sessions/2026-11-21-auth-tests.md)
        ---
        no session 'auth-pln' in this vault; did you mean
          2026-11-19-auth-plan  Auth plan
        ---
        no session 'zebra' in this vault; `cru session list` shows them all
        ---
        the name of a session is empty; no hint
        ---
        /etc/passwd is not in the vault VAULT; --vault names another vault
        ");
    }

    #[test]
    fn the_current_session() {
        let world = vault();
        let ask = |vars: &[(&str, &str)]| match world.catalog.current(&world.vault, &world.env(vars)) {
            Ok(head) => head.map_or("none".to_owned(), |head| head.path.stem().into_owned()),
            Err(error) => error.to_string(),
        };
        assert_eq!(ask(&[("CRU_SESSION", "plan")]), "2026-11-19-auth-plan");
        assert_eq!(ask(&[("CLAUDE_SESSION_ID", "949d76fb-5d94")]), "2026-11-20-refresh-tokens");
        assert_eq!(ask(&[]), "2026-11-20-refresh-tokens");
        assert_eq!(ask(&[("CRU_SESSION", "zebra")]), "no session 'zebra' in this vault");
        assert_eq!(world.catalog.newest_completed().unwrap().path.stem(), "2026-11-21-auth-tests");
    }

    #[test]
    fn the_current_session_is_one_of_this_folder_first() {
        let world = world(&[
            ("a.md", "status: active\nproject: /elsewhere\n"),
            ("b.md", "status: active\nproject: /srv\n"),
            ("c.md", "status: paused\nproject: /srv\n"),
        ]);
        let current = |cwd: &str| {
            let env = Env::fixed(jiff::Timestamp::UNIX_EPOCH, cwd, &[]);
            world.catalog.current(&world.vault, &env).map(|head| head.map(|head| head.path.to_string()))
        };
        assert_eq!(current("/srv/deep").unwrap().as_deref(), Some("b.md"));
        let error = current("/other").unwrap_err();
        assert_eq!(error.to_string(), "the current session could be any of 2 sessions");
    }
}
