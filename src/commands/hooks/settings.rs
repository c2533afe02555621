//! Our hooks in the text of a host's settings: finding, adding, renewing, taking out.
//!
//! Everything else in the text keeps its bytes; each change is read again, and refused when anything but ours differs.

mod listed;
mod rows;
mod script;

pub(super) use cru_settings::Refused;
use cru_settings::entry::without_mark;
use serde_json::{Value, json};

use super::handler::{Ours, Program, ours};
use crate::live::hook::{HookLayout, Host};

/// Where the hooks are kept.
const HOOKS: &str = "hooks";

/// A handler of ours and where it stands.
#[derive(Debug)]
pub(super) struct FoundHooks {
    /// The host's name of the event.
    pub(super) name: String,
    pub(super) ours: Ours,
    group: usize,
    handler: usize,
}

/// All handlers of ours.
pub(super) fn find(text: &str, host: &Host) -> Result<Vec<FoundHooks>, Refused> {
    let (_, text) = without_mark(text);
    match host.settings.layout {
        _ if text.trim().is_empty() => Ok(Vec::new()),
        HookLayout::Rows => rows::find(text),
        HookLayout::Script(_) => Ok(script::find(text, host)),
        HookLayout::Groups { .. } | HookLayout::Flat { .. } => Ok(find_in(&listed::parse(text, host)?.1)),
    }
}

/// `text` with our hooks for `host`: those that are there are renewed where they stand, the missing ones added.
pub(super) fn install(text: &str, host: &Host, program: &Program) -> Result<String, Refused> {
    let (mark, text) = without_mark(text);
    let new = match host.settings.layout {
        HookLayout::Rows => rows::install(text, host, program),
        HookLayout::Script(template) => script::install(text, template, host, program),
        HookLayout::Groups { .. } | HookLayout::Flat { .. } => listed::install(text, host, program),
    };
    Ok([mark, &new?].concat())
}

/// `text` without our hooks, and without the lists that held nothing else; `None` where nothing is left of a file that was
/// there for us alone.
pub(super) fn uninstall(text: &str, host: &Host) -> Result<Option<String>, Refused> {
    let (mark, text) = without_mark(text);
    match host.settings.layout {
        HookLayout::Rows => rows::uninstall(text).map(|left| Some([mark, &left].concat())),
        HookLayout::Script(_) => Ok(None),
        HookLayout::Groups { .. } | HookLayout::Flat { .. } => {
            let left = listed::uninstall(text, host)?;
            let is_gone = host.settings.own && listed::without_ours(&left, host)? == json!({});
            Ok((!is_gone).then(|| [mark, &left].concat()))
        }
    }
}

/// Whether a person changed a file of hooks that is all ours.
pub(super) fn is_changed_script(text: &str, host: &Host) -> bool {
    match host.settings.layout {
        HookLayout::Script(template) => script::is_changed(text, template),
        _ => false,
    }
}

fn find_in(value: &Value) -> Vec<FoundHooks> {
    let mut found = Vec::new();
    for (name, groups) in value.get(HOOKS).and_then(Value::as_object).into_iter().flatten() {
        for (group, it) in groups.as_array().into_iter().flatten().enumerate() {
            let own = |it, handler| ours(it).map(|ours| FoundHooks { name: name.clone(), ours, group, handler });
            match it.get(HOOKS).and_then(Value::as_array) {
                Some(handlers) => {
                    found.extend(handlers.iter().enumerate().filter_map(|(index, it)| own(it, index)));
                }
                None => found.extend(own(it, 0)),
            }
        }
    }
    found
}

/// What becomes of a text when our hooks come, come again, and go.
#[doc(hidden)]
#[derive(Debug)]
pub struct Edited {
    /// With them.
    pub installed: String,
    /// With them again.
    pub again: String,
    /// Without.
    pub removed: String,
    /// Whether there was none of ours and no empty list, which goes with ours.
    pub is_clean: bool,
}

/// For the fuzz target.
#[doc(hidden)]
pub fn edited(text: &str) -> Result<Edited, String> {
    let words = |refused: Refused| refused.message;
    let program = Program { path: "/opt/cru".to_owned(), vault: None };
    let host = &crate::live::hook::HOSTS[0];
    let installed = install(text, host, &program).map_err(words)?;
    let again = install(&installed, host, &program).map_err(words)?;
    let removed = uninstall(&installed, host).map_err(words)?.unwrap_or_default();
    let (value, without) = (
        if text.trim().is_empty() { json!({}) } else { listed::parse(text, host).map_err(words)?.1 },
        listed::without_ours(text, host).map_err(words)?,
    );
    let is_clean = value == without && value != json!({});
    Ok(Edited { installed, again, removed, is_clean })
}

#[cfg(test)]
mod tests;
