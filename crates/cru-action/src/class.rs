//! Classes of commands.

/// What a command does to the world, weakest first. Of several commands the strongest class is that of the whole, see
/// [`crate::Action::class`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Reads and prints.
    Look,
    /// Reads the record of versions: `git log`.
    GitLook,
    /// Not known. Nothing is claimed of it.
    #[default]
    Unknown,
    /// Runs a program of which no more is known than that: `cargo run`, `./tool`, `node x.js`.
    Run,
    /// Tests, builds or judges the work; [`CheckKind`] says how.
    Check,
    /// Changes files or the state of the machine.
    Change,
    /// Talks to other machines.
    Network,
    /// Gets dependencies or tools.
    Install,
    /// Changes the record of versions: `git commit`, `git push`.
    GitChange,
    /// Takes away what cannot be made again: `rm`, `git reset --hard`.
    Destroy,
}

impl Class {
    /// Its name in data and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::GitLook => "git-look",
            Self::Unknown => "unknown",
            Self::Run => "run",
            Self::Check => "check",
            Self::Change => "change",
            Self::Network => "network",
            Self::Install => "install",
            Self::GitChange => "git-change",
            Self::Destroy => "destroy",
        }
    }
}

/// What a check judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// Tests.
    Test,
    /// A build or a compiler.
    Build,
    /// A linter.
    Lint,
    /// A formatter that only judges.
    Format,
    /// A type checker.
    Type,
    /// Several of these, or a kind that its name does not say: `npm run check`.
    General,
}

impl CheckKind {
    /// Its name in data and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Build => "build",
            Self::Lint => "lint",
            Self::Format => "format",
            Self::Type => "type",
            Self::General => "check",
        }
    }
}
