//! What a session did, as a sequence that sessions are compared by: files by their type, commands by program and verb.

use std::collections::BTreeSet;

use cru_action::ToolKind;
use cru_graph::FinalPath;
use cru_session::Session;

use super::call::{Call, CallKind, Ended};
use super::file_type;
use super::unit::{Entry, Unit, is_repeatable, units};

/// Letters of a request that are compared.
const MAX_LETTERS: usize = 400;
/// Activities of a session that are compared.
const MAX_ACTIVITIES: usize = 2_000;

/// A session as it is compared with others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The first request: letters and digits in lower case.
    pub request: String,
    /// What was done, neighbours of one kind once: `read Rust`, `cargo test`, `commit`.
    pub activities: Vec<String>,
}

/// The profile of a session; `None` where there is nothing to repeat.
pub fn profile(session: &Session) -> Option<Profile> {
    let units = units(session, &FinalPath::of(session));
    if !is_repeatable(&units, session) {
        return None;
    }
    let mut profile = Profile::default();
    for entry in units.iter().flat_map(Unit::all) {
        match entry {
            Entry::Request { user, .. } if profile.request.is_empty() => {
                let letters = user.words.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
                profile.request = letters.take(MAX_LETTERS).collect();
            }
            Entry::Call(call) if call.ended != Ended::Denied && profile.activities.len() < MAX_ACTIVITIES => {
                for activity in activities(call) {
                    if profile.activities.last() != Some(&activity) {
                        profile.activities.push(activity);
                    }
                }
            }
            _ => {}
        }
    }
    Some(profile)
}

/// What a call does, its target as a kind.
fn activities(call: &Call<'_>) -> Vec<String> {
    let of_files = |verb: &str, paths: &[std::borrow::Cow<'_, str>]| -> Vec<String> {
        let kinds: BTreeSet<String> = paths
            .iter()
            .map(|path| {
                let test = path.to_lowercase().contains("test");
                let ty = file_type::of(path);
                format!("{verb} {}{ty}", if test { "test " } else { "" })
            })
            .collect();
        kinds.into_iter().collect()
    };
    match call.tool {
        ToolKind::Skill => vec![format!("skill {}", call.step.args.split_whitespace().next().unwrap_or(""))],
        ToolKind::Mcp => vec![call.step.tool.clone()],
        ToolKind::Fetch => vec!["fetch".to_owned()],
        ToolKind::Search => vec!["search".to_owned()],
        ToolKind::Ask => vec!["ask".to_owned()],
        ToolKind::Plan => vec!["plan".to_owned()],
        ToolKind::Task => Vec::new(),
        ToolKind::Subagent => vec!["sub-agent".to_owned()],
        _ if call.shell && call.kind == CallKind::Look && !call.asks_elsewhere => {
            call.programs.iter().filter(|key| key.contains(' ')).cloned().collect()
        }
        _ if call.shell => call.programs.clone(),
        _ if !call.writes.is_empty() => of_files("edit", &call.writes),
        _ => of_files("read", &call.reads),
    }
}
