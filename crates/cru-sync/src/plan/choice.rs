//! Which sessions an import is about: `--since` and `--project`.
//!
//! A session comes in whole or not at all, with its sub-agents, so all of its streams must be known before one is left
//! out. What was written last before `--since` is not even read: a transcript holds nothing newer than itself.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::report::Outcome;
use cru_base::Env;
use cru_session::event::StreamKey;
use cru_session::fold::Draft;
use cru_session::source::Bundle;
use cru_session::{Session, Step};

/// Which sessions an import is about. The default is all.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    since: Option<Timestamp>,
    project: Option<Project>,
}

/// A project, as somebody names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Project {
    /// A folder, as notes write it and as the machine does.
    Folder(Vec<String>),
    /// The name of a folder somewhere in the path, in small letters.
    Name(String),
}

impl Choice {
    /// Sessions that went on at or after `since`, and those of `project`.
    pub const fn of(since: Option<Timestamp>, project: Option<Project>) -> Self {
        Self { since, project }
    }
}

impl Project {
    /// A text with a slash, or one that begins with `.` or `~`, is a folder; any other the name of one.
    pub fn of(text: &str, env: &Env) -> Self {
        let is_path = text.starts_with(['.', '~']) || text.contains(['/', '\\']);
        if !is_path {
            return Self::Name(text.to_lowercase());
        }
        if text.starts_with('~') {
            let long = text.strip_prefix("~/").and_then(|rest| Some(env.home()?.join(rest)));
            let long = long.map(|path| path.to_string_lossy().into_owned());
            return Self::Folder(std::iter::once(text.to_owned()).chain(long).map(|path| trimmed(&path)).collect());
        }
        let at = env.at(env.cwd().join(text).components().collect::<std::path::PathBuf>());
        let mut forms = vec![trimmed(&at.folder()), trimmed(&at.cwd().to_string_lossy())];
        if let Ok(real) = std::fs::canonicalize(at.cwd()) {
            forms.push(trimmed(&at.at(real).folder()));
        }
        forms.dedup();
        Self::Folder(forms)
    }

    fn holds(&self, project: &str) -> bool {
        match self {
            Self::Name(name) => project.split(['/', '\\']).any(|part| part.to_lowercase() == *name),
            Self::Folder(forms) => forms.iter().any(|folder| {
                project
                    .strip_prefix(folder.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
            }),
        }
    }
}

fn trimmed(path: &str) -> String {
    path.trim_end_matches('/').to_owned()
}

impl Choice {
    /// Whether nothing is left out.
    pub(crate) const fn is_all(&self) -> bool {
        self.since.is_none() && self.project.is_none()
    }

    /// Whether nothing of the bundle can be meant: its files were last written before.
    pub(crate) fn is_earlier(&self, bundle: &Bundle) -> bool {
        let Some(since) = self.since.filter(|_| bundle.memory.is_empty()) else { return false };
        let since = SystemTime::from(since);
        !bundle.files.is_empty() && bundle.files.iter().all(|path| changed(path).is_some_and(|changed| changed < since))
    }

    /// The sessions that are left out, by all their streams, and why.
    pub(crate) fn leaves_out(&self, drafts: &[Draft]) -> HashMap<StreamKey, Outcome> {
        if self.is_all() {
            return HashMap::new();
        }
        let parents: HashMap<&StreamKey, &StreamKey> = drafts
            .iter()
            .filter(|draft| draft.agent.is_some())
            .filter_map(|draft| Some((&draft.key, draft.parent.as_ref()?)))
            .collect();
        let known: HashSet<&StreamKey> = drafts.iter().map(|draft| &draft.key).collect();
        let root = |draft: &Draft| {
            let mut key = &draft.key;
            let mut passed = HashSet::new();
            while let Some(parent) =
                parents.get(key).filter(|parent| known.contains(*parent) && passed.insert(**parent))
            {
                key = parent;
            }
            key.clone()
        };
        // Of a session: when it went on last, and whether its main stream, else any, is of the project.
        let mut whole: HashMap<StreamKey, (Option<Timestamp>, bool)> = HashMap::new();
        for draft in drafts {
            let key = root(draft);
            let main = key == draft.key || !known.contains(&key);
            let it = whole.entry(key).or_default();
            it.0 = it.0.max(last(&draft.session));
            let own = draft.session.meta.project.as_deref();
            it.1 |= main && self.project.as_ref().is_none_or(|wanted| own.is_some_and(|own| wanted.holds(own)));
        }
        let out = |draft: &Draft| {
            let (last, is_of) = whole.get(&root(draft))?;
            let outcome = if !is_of {
                Outcome::Elsewhere
            } else if self.since.is_some_and(|since| last.is_some_and(|last| last < since)) {
                Outcome::Earlier
            } else {
                return None;
            };
            Some((draft.key.clone(), outcome))
        };
        drafts.iter().filter_map(out).collect()
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// When a session went on last, as far as it says.
fn last(session: &Session) -> Option<Timestamp> {
    let steps = session.steps().filter_map(|(_, step): (_, &Step)| step.time);
    let phases = session.phases.iter().filter_map(|phase| phase.started);
    steps.chain(phases).chain(session.meta.ended).chain(session.meta.started).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str) -> Project {
        Project::of(
            text,
            &Env::fixed("2026-11-20T12:00:00Z".parse().unwrap(), "/home/mara/code", &[("HOME", "/home/mara")]),
        )
    }

    #[test]
    fn a_project_is_a_folder_or_a_name() {
        for (text, holds, not) in [
            ("api", "~/code/Api/web", "~/code/api-old"),
            (".", "~/code/api", "~/codes"),
            ("./api", "~/code/api/", "~/code/api2"),
            ("api/", "/home/mara/code/api", "~/api"),
            ("~/code", "/home/mara/code/api", "/home/other/code"),
            ("/srv/x", "/srv/x", "/srv/xy"),
        ] {
            assert!(project(text).holds(holds), "{text} {holds}");
            assert!(!project(text).holds(not), "{text} {not}");
        }
    }

    fn draft(session: &str, agent: Option<&str>, ended: &str, project: &str) -> Draft {
        let key = |agent: Option<&str>| StreamKey { session: session.into(), agent: agent.map(str::to_owned) };
        let mut of = Session::default();
        of.meta.ended = Some(ended.parse().unwrap());
        of.meta.project = Some(project.into());
        Draft {
            key: key(agent),
            parent: agent.map(|_| key(None)),
            agent: agent.map(cru_session::Agent::parse),
            transcript: std::path::PathBuf::new(),
            session: of,
            children: Vec::new(),
            slug: String::new(),
            empty: false,
            masked: std::collections::BTreeMap::new(),
            patches: Vec::new(),
            continued_in: None,
            aside: false,
            consumed: cru_session::source::Consumed::default(),
        }
    }

    #[test]
    fn a_session_comes_whole_or_not_at_all() {
        let drafts = [
            draft("a", None, "2026-11-10T10:00:00Z", "~/code/api"),
            draft("a", Some("1"), "2026-11-19T10:00:00Z", "~/elsewhere"),
            draft("b", None, "2026-11-10T10:00:00Z", "~/code/api"),
            draft("c", None, "2026-11-19T10:00:00Z", "~/code/web"),
            draft("c", Some("1"), "2026-11-19T10:00:00Z", "~/code/api"),
        ];
        let left = |since: Option<&str>, text: Option<&str>| {
            let choice = Choice { since: since.map(|it| it.parse().unwrap()), project: text.map(project) };
            let mut left: Vec<_> =
                choice.leaves_out(&drafts).into_iter().map(|(key, why)| (key.to_string(), why)).collect();
            left.sort();
            left
        };
        assert_eq!(left(None, None), []);
        assert_eq!(left(Some("2026-11-15T00:00:00Z"), None), [("b".to_owned(), Outcome::Earlier)]);
        let elsewhere = [("c".to_owned(), Outcome::Elsewhere), ("c/agent-1".to_owned(), Outcome::Elsewhere)];
        assert_eq!(left(None, Some("api")), elsewhere);
    }
}
