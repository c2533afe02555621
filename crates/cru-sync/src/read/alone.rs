//! One bundle read without a vault: for whoever makes something else than notes of it.

use crate::read::bundle::{self, BeforeRead, Bundled};
use cru_session::fold::Options;
use cru_session::source::{Bounds, Bundle, Importer};

/// Reads a bundle whole and folds its streams.
pub fn drafts(importer: &Importer, bundle: &Bundle, options: Options) -> Bundled {
    let before = BeforeRead { places: true, ..BeforeRead::within(&|_| Bounds::default()) };
    bundle::read(importer, bundle, &|_| options, before)
}
