//! Shell text cut into simple commands, each with its words, redirections and place in the text.
//!
//! One pass over the text. Nothing is expanded or run. The bodies of loops, conditions, functions and substitutions
//! are cut up too, since what they run counts; [`Nesting`] says where a command stands. The reader is total: any text
//! gives a [`Script`], and what it does not understand sets [`Script::complete`] to `false`.

use std::borrow::Cow;
use std::ops::Range;

mod compound;
mod lexer;
mod powershell;
mod quoting;
mod redirect;
mod status;
mod word;

#[cfg(test)]
mod tests;

/// Whether a path begins with the drive of a Windows system: `c:`.
pub(crate) fn is_drive(path: &[u8]) -> bool {
    matches!(path, [drive, b':', ..] if drive.is_ascii_alphabetic())
}

/// How deep loops, groups and substitutions are followed. What lies deeper is passed over.
pub const MAX_DEPTH: u32 = 24;

/// The language of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// `sh`, `bash`, `zsh` and their relatives.
    #[default]
    Posix,
    /// `PowerShell`.
    PowerShell,
    /// `cmd.exe`.
    Cmd,
}

/// A shell text and the simple commands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script<'a> {
    /// The whole text.
    pub text: &'a str,
    /// In the order in which they begin. A command within a substitution follows the command that contains it.
    pub commands: Vec<SimpleCommand<'a>>,
    /// The words that `for` goes through.
    pub loops: Vec<EachLoop<'a>>,
    /// Whether all of the text was understood: every quote and bracket is closed and no limit was met.
    pub complete: bool,
    /// The command whose exit status is that of the whole text, as an index into `commands`, where it is one command.
    pub status: Option<usize>,
}

impl<'a> Script<'a> {
    /// Reads a text of a POSIX shell.
    pub fn read(text: &'a str) -> Self {
        Self::read_as(text, Dialect::Posix)
    }

    /// Reads a text of a given language.
    pub fn read_as(text: &'a str, dialect: Dialect) -> Self {
        match dialect {
            Dialect::Posix => lexer::read(text),
            Dialect::PowerShell | Dialect::Cmd => powershell::read(text, dialect),
        }
    }
}

/// The head of `for name in words`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EachLoop<'a> {
    /// The variable.
    pub name: Cow<'a, str>,
    /// What it becomes, a word at a time.
    pub words: Vec<Word<'a>>,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand<'a> {
    /// Its bytes in the text, from the first word, assignment or redirection to the last. The body of a here-document
    /// lies behind it, see [`Redirection::body`].
    pub range: Range<usize>,
    /// The operator before it.
    pub operator: Operator,
    /// `NAME=value` before the first word, as written.
    pub assignments: Vec<Word<'a>>,
    /// The words without assignments and redirections. Empty for assignments alone, and for the redirections of a
    /// loop or group.
    pub words: Vec<Word<'a>>,
    /// Redirections in the order in which they stand.
    pub redirections: Vec<Redirection<'a>>,
    /// Its place in the pipeline that it is part of.
    pub pipe: PipePlace,
    /// What it stands in.
    pub nesting: Nesting,
    /// Why the exit status of the whole text says nothing sure about this command; `None` where success of the whole
    /// means success of this command.
    pub hidden: Option<Hidden>,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// Its text without quotes and escapes. Expansions stand as they were written.
    pub text: Cow<'a, str>,
    /// Its bytes in the text, quotes included.
    pub range: Range<usize>,
    /// Whether it holds an expansion: `$name`, `$(…)`, a backtick, a process substitution.
    pub expands: bool,
    /// Whether it holds a pattern outside quotes: `*`, `?`, `[…]`, `{a,b}`, or begins with `~name`.
    pub is_pattern: bool,
}

impl Word<'_> {
    /// Whether the shell passes on exactly [`Word::text`].
    pub const fn is_literal(&self) -> bool {
        !self.expands && !self.is_pattern
    }
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection<'a> {
    /// The file descriptor before the operator.
    pub fd: Option<u32>,
    /// What it does.
    pub kind: RedirectionKind,
    /// The word behind the operator: a file, a descriptor, or the mark of a here-document.
    pub target: Word<'a>,
    /// The bytes of the body of a here-document, without the line of the mark.
    pub body: Option<Range<usize>>,
}

impl Redirection<'_> {
    /// Whether it writes into the file that its target names.
    pub const fn is_write(&self) -> bool {
        matches!(self.kind, RedirectionKind::Write | RedirectionKind::Append | RedirectionKind::ReadWrite)
    }
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`, `>&file`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `2>&1`, `>&-`, `<&3`
    Duplicate,
    /// `<<`, `<<-`
    Here,
    /// `<<<`
    HereString,
}

/// The operator before a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// Nothing stands before it in its list.
    #[default]
    First,
    /// `;` or the end of a line.
    Sequence,
    /// `&`: the command before it goes on in the background.
    Background,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
}

impl Operator {
    /// As it is written: `""` before the first command, `;` also for the end of a line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "",
            Self::Sequence => ";",
            Self::Background => "&",
            Self::And => "&&",
            Self::Or => "||",
            Self::Pipe => "|",
        }
    }
}

/// The place of a command in its pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipePlace {
    /// From 0.
    pub index: usize,
    /// Commands in the pipeline; 1 where there is none.
    pub len: usize,
}

impl Default for PipePlace {
    fn default() -> Self {
        Self { index: 0, len: 1 }
    }
}

impl PipePlace {
    /// Whether its output is that of the pipeline.
    pub const fn is_last(self) -> bool {
        self.index + 1 >= self.len
    }
}

/// What a command stands in; the strongest where several hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nesting {
    /// Nothing.
    #[default]
    Top,
    /// `{ …; }` or `( … )`.
    Group,
    /// `if`, `case`.
    Condition,
    /// `for`, `while`, `until`.
    Loop,
    /// The body of a function, which runs only when it is called.
    Function,
    /// `$(…)`, backticks, `<(…)`.
    Substitution,
}

/// Why an exit status does not tell how a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// A later stage of the pipeline ends it, and `pipefail` is not set.
    Pipe,
    /// `|| …` takes its failure away, or it is itself run only on a failure.
    Or,
    /// A later command ends the text.
    Sequence,
    /// It goes on in the background.
    Background,
    /// `!` turns it round.
    Negated,
    /// It is, or depends on, a condition.
    Condition,
    /// Only the last round of a loop counts.
    Loop,
    /// It is the body of a function.
    Function,
    /// It is a substitution.
    Substitution,
}
