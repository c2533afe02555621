//! stub
use crate::session::source::Hook;
use std::path::{Path, PathBuf};
pub(super) fn transcripts(_path: &Path, _hooks: &[Hook<'_>]) -> Vec<(PathBuf, Vec<u8>)> {
    Vec::new()
}
