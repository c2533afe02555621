//! The small file beside a sub-agent's transcript that says what it is.

use std::path::Path;

use crate::file::value::{self, filled};

const MAX: u64 = 64 << 10;

/// Type and task in `agent-<id>.meta.json` beside `agent-<id>.jsonl`, where it is there.
pub(super) fn beside(path: &Path) -> Option<(Option<String>, Option<String>)> {
    let bytes = cru_base::files::read_regular(&path.with_extension("meta.json"), MAX).ok()??;
    let described = value::read(&bytes)?;
    let owned = |key: &str| filled(&described, key).map(str::to_owned);
    Some((owned("agentType"), owned("description")))
}
