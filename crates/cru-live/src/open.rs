//! Work that was begun and is not done: steps with `--start`, sub-agents whose callout comes at the end.
//!
//! They stand in no note, so they are kept in the machine's state, in one small file for each session. A handle is given
//! once and not again, so that a late `--finish` never ends somebody else's step.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::entry::Entry;
use cru_base::{Error, Result, files};
use cru_vault::State;

/// What a session has begun.
#[derive(Clone, Debug)]
pub struct Open {
    path: PathBuf,
    lock: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    given: u64,
    open: Vec<OpenEntry>,
}

#[derive(Serialize, Deserialize)]
struct OpenEntry {
    handle: String,
    entry: Box<RawValue>,
}

impl Open {
    /// That of the session with this key.
    pub fn of(state: &State, key: &str) -> Self {
        let path = state.dir().join("open").join(format!("{key}.json"));
        Self { path, lock: state.lock(&format!("{key}.open")) }
    }

    /// Begins something; `handle` is its own name, else one with `prefix` is made.
    pub fn begin(&self, prefix: &str, handle: Option<&str>, entry: &Entry) -> Result<String> {
        let _lock = files::lock(&self.lock)?;
        let mut content = self.read()?;
        content.given += 1;
        let handle = handle.map_or_else(|| format!("{prefix}-{:03}", content.given), str::to_owned);
        let text = serde_json::to_string(entry).and_then(RawValue::from_string);
        let entry = text.map_err(|error| Error::internal("encode an entry", error))?;
        content.open.retain(|row| row.handle != handle);
        content.open.push(OpenEntry { handle: handle.clone(), entry });
        self.write(&content)?;
        Ok(handle)
    }

    /// What was begun under `handle`.
    pub fn find(&self, handle: &str) -> Result<Option<Entry>> {
        Ok(self.all()?.into_iter().find(|(name, _)| name == handle).map(|(_, entry)| entry))
    }

    /// All that is begun, oldest first.
    pub fn all(&self) -> Result<Vec<(String, Entry)>> {
        let rows = self.read()?.open.into_iter();
        Ok(rows.filter_map(|row| Some((row.handle, Entry::parse(row.entry.get()).ok()?))).collect())
    }

    /// It is done.
    pub fn end(&self, handle: &str) -> Result<()> {
        let _lock = files::lock(&self.lock)?;
        let mut content = self.read()?;
        content.open.retain(|row| row.handle != handle);
        self.write(&content)
    }

    fn read(&self) -> Result<Content> {
        if !self.path.is_file() {
            return Ok(Content::default());
        }
        // A file of ours that is torn is begun anew: the steps in it then have no result, and nothing else is lost.
        Ok(serde_json::from_slice(&files::read(&self.path)?).unwrap_or_default())
    }

    fn write(&self, content: &Content) -> Result<()> {
        let text =
            serde_json::to_vec(content).map_err(|error| Error::internal("encode the state of a session", error))?;
        files::put_private(&self.path, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Tool;

    #[test]
    fn a_handle_is_given_once() {
        let temp = tempfile::tempdir().unwrap();
        let open = Open::of(&State::at(temp.path()), "a");
        let step = |tool: &str| Entry::Tool(Tool { tool: tool.into(), ..Tool::default() });
        assert_eq!(open.begin("o", None, &step("x")).unwrap(), "o-001");
        assert_eq!(open.begin("o", None, &step("y")).unwrap(), "o-002");
        open.end("o-001").unwrap();
        assert_eq!(open.find("o-001").unwrap(), None);
        assert_eq!(open.find("o-002").unwrap(), Some(step("y")));
        open.end("o-002").unwrap();
        assert_eq!(open.begin("o", None, &step("z")).unwrap(), "o-003");
        assert_eq!(open.all().unwrap(), [("o-003".to_owned(), step("z"))]);
    }
}
