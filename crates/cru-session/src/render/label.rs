//! Names that stand unescaped: agents, channels, callout kinds. What cannot stand in one becomes `-`.

use crate::model::Agent;

/// `name@version` as a heading can carry it.
pub fn agent(agent: &Agent) -> String {
    let mut name: String = agent.name.chars().map(|c| if is_agent(c) { c } else { '-' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert(0, 'a');
    }
    match agent.version.as_deref().filter(|version| !version.is_empty()) {
        Some(version) => {
            let plain = |c: char| is_agent(c) || c == '+';
            let version: String = version.chars().map(|c| if plain(c) { c } else { '-' }).collect();
            format!("{name}@{version}")
        }
        None => name,
    }
}

/// A channel as a tag can carry it; `None` where nothing is left.
pub(super) fn channel(channel: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    let name: String = channel.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    if name.is_empty() {
        return None;
    }
    // A tag of digits alone is none.
    Some(if name.bytes().all(|byte| byte.is_ascii_digit()) { format!("{name}-") } else { name })
}

/// The kind of a callout.
pub(super) fn kind(kind: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let kind: String = kind.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    if kind.is_empty() { "note".to_owned() } else { kind }
}

fn is_agent(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}
