//! The transcripts that tests read: the invented ones of `tests/corpus`, always, and the real ones.
//!
//! Real transcripts are no part of the project. They are in `../shared/transcripts` or where `CRU_TEST_TRANSCRIPTS`
//! says. A test that needs them is ignored, is named `shared`, and fails where they are missing.

use std::path::{Path, PathBuf};

/// A folder with one folder of transcripts for each agent.
pub(crate) struct TranscriptSet {
    root: PathBuf,
    shared: bool,
}

impl TranscriptSet {
    /// The invented transcripts of the project.
    pub(crate) fn corpus() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        assert!(root.is_dir(), "{} is missing: it is part of the project", root.display());
        Self { root, shared: false }
    }

    /// The real transcripts.
    pub(crate) fn shared() -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test's own setting")]
        let named = std::env::var_os("CRU_TEST_TRANSCRIPTS").map(PathBuf::from);
        let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/transcripts");
        let root = named.unwrap_or_else(beside);
        assert!(
            root.is_dir(),
            "no real transcripts in {}: this test is ignored where they are missing; CRU_TEST_TRANSCRIPTS names them",
            root.display()
        );
        Self { root, shared: true }
    }

    /// The folder of an agent, or another one of the set.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.root.join(name);
        assert!(folder.is_dir(), "{} is missing", folder.display());
        folder
    }

    pub(crate) fn folders(&self, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|name| self.folder(name)).collect()
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) const fn is_shared(&self) -> bool {
        self.shared
    }

    /// How many of something a test must see at least, so that it does not pass on nothing.
    pub(crate) const fn least<N: Copy>(&self, corpus: N, shared: N) -> N {
        if self.shared { shared } else { corpus }
    }
}

/// Runs functions of a [`TranscriptSet`] as tests on both sets: `NAME::corpus`, and `NAME::shared`, which is ignored.
macro_rules! on_both_sets {
    ($($name:ident),* $(,)?) => {$(
        mod $name {
            use crate::transcript_set::TranscriptSet;

            #[test]
            fn corpus() {
                super::$name(&TranscriptSet::corpus());
            }

            #[test]
            #[ignore = "needs ../shared/transcripts"]
            fn shared() {
                super::$name(&TranscriptSet::shared());
            }
        }
    )*};
}
pub(crate) use on_both_sets;

/// Whether the record of a step says that it failed: a search that found nothing ends with a status, too, and its step did
/// not fail.
pub(crate) fn has_failed(step: &cru::session::Step) -> bool {
    let answers = |exit: i32| exit != 0 && step.action().answers(exit);
    step.status.is_crossed() || step.exit.is_some_and(answers)
}
