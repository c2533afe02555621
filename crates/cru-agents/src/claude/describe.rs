//! The small file beside a sub-agent's transcript that says what it is.

use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;

use crate::file::lenient::Text;

const MAX: u64 = 64 << 10;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described<'a> {
    #[serde(borrow, default)]
    agent_type: Text<'a>,
    #[serde(borrow, default)]
    description: Text<'a>,
}

/// Type and task in `agent-<id>.meta.json` beside `agent-<id>.jsonl`, where it is there.
pub(super) fn beside(path: &Path) -> Option<(Option<String>, Option<String>)> {
    let mut text = String::new();
    let file = cru_base::files::open_regular(&path.with_extension("meta.json")).ok()?;
    file.take(MAX).read_to_string(&mut text).ok()?;
    let described: Described<'_> = serde_json::from_str(&text).ok()?;
    let owned = |text: &Text<'_>| text.filled().map(str::to_owned);
    Some((owned(&described.agent_type), owned(&described.description)))
}
