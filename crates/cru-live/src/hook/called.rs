//! When a host last called a hook: known also when the journal of its session is gone, because all of it is in the note.

use std::path::PathBuf;

use jiff::Timestamp;

use cru_base::{Result, files};
use cru_vault::State;
use cru_vault::state::key;

fn place(state: &State, host: &str) -> PathBuf {
    state.dir().join("called").join(key(host))
}

/// Remembers it, where it is later than what is known.
pub fn remember(state: &State, host: &str, at: Timestamp) -> Result<()> {
    if last(state, host).is_some_and(|known| known >= at) {
        return Ok(());
    }
    files::put_private(&place(state, host), at.to_string().as_bytes())
}

/// When it was, as far as it was remembered.
pub fn last(state: &State, host: &str) -> Option<Timestamp> {
    let bytes = files::read_regular(&place(state, host), 64).ok()??;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_is_known() {
        let temp = tempfile::tempdir().unwrap();
        let state = State::at(temp.path());
        assert_eq!(last(&state, "claude-code"), None);
        let at = |second| Timestamp::from_second(second).unwrap();
        for second in [5, 9, 7] {
            remember(&state, "claude-code", at(second)).unwrap();
        }
        assert_eq!((last(&state, "claude-code"), last(&state, "cursor")), (Some(at(9)), None));
    }
}
