//! Names for what an importer does not know, so that the account of an import tells a new form of a host by its name.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use cru_session::agent_table;

/// Names that are kept; a damaged file may hold any number of them, and the tests of one process read many such files.
const MOST: usize = if cfg!(test) { 1 << 20 } else { 256 };
/// Bytes of a name that are told.
const LONGEST: usize = 48;

/// Why a record or a part of that type is left out, of which its importer says nothing else: as the row of the agent says, or
/// because it is not known.
pub(crate) fn left_out(agent: &str, what: &'static str, kind: &str) -> &'static str {
    agent_table::by_id(agent).and_then(|row| row.why_left(kind)).unwrap_or_else(|| unknown(what, kind))
}

/// Why something is left out that is not known: ``unknown record type `cost-state` ``; `what` alone where it has no
/// name, or one that no host gives.
pub(crate) fn unknown(what: &'static str, name: &str) -> &'static str {
    static KNOWN: OnceLock<Mutex<HashSet<&'static str>>> = OnceLock::new();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':' | ' ');
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_plain) {
        return what;
    }
    let reason = format!("{what} `{name}`");
    let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reason) = known.get(reason.as_str()) {
        return reason;
    }
    if known.len() >= MOST {
        return what;
    }
    let reason: &'static str = Box::leak(reason.into_boxed_str());
    known.insert(reason);
    reason
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn names_that_a_host_may_give_are_told() {
        assert_eq!(unknown("unknown block", "hologram"), "unknown block `hologram`");
        assert!(std::ptr::eq(unknown("unknown block", "hologram"), unknown("unknown block", "hologram")));
        for odd in ["", "a\nb", "`", &"x".repeat(100)] {
            assert_eq!(unknown("unknown block", odd), "unknown block");
        }
    }
}
