//! One bundle read without a vault: for whoever makes something else than notes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::read::bundle::{self, BeforeRead, CallPlace};
use cru_session::event::StreamKey;
use cru_session::fold::{Draft, Options};
use cru_session::source::{Account, Bounds, Bundle, Importer};

/// What a bundle gave.
#[derive(Debug, Default)]
pub struct BundleDrafts {
    /// One for each stream, by key.
    pub drafts: Vec<Draft>,
    /// One for each file, in the order they were read.
    pub files: Vec<FileAccount>,
    /// Where the call of each step stands, by its id in the draft.
    pub places: BTreeMap<StreamKey, BTreeMap<String, CallPlace>>,
}

/// What became of one file.
#[derive(Debug, Default)]
pub struct FileAccount {
    /// The file.
    pub path: PathBuf,
    /// What became of its records.
    pub account: Account,
    /// The streams that its records belong to.
    pub streams: BTreeSet<StreamKey>,
    /// Why it could not be read, to its end or at all. Then no file of the bundle gives anything: half of a session
    /// would be wrong.
    pub error: Option<String>,
}

/// Reads a bundle whole and folds its streams.
pub fn drafts(importer: &Importer, bundle: &Bundle, options: Options) -> BundleDrafts {
    let before = BeforeRead {
        bounds: &|_| Bounds::default(),
        ended: &|_| None,
        facts: None,
        only: None,
        listen: None,
        places: true,
    };
    let read = bundle::read(importer, bundle, &|_| options, before);
    let account =
        |it: bundle::Read| FileAccount { path: it.path, account: it.account, streams: it.streams, error: it.error };
    BundleDrafts { drafts: read.drafts, files: read.accounts.into_iter().map(account).collect(), places: read.places }
}
