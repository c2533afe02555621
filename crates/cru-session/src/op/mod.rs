//! Changes of a session note as operations, not as texts: each finds its place anew in the bytes it meets.
//!
//! An operation says what is wanted (a step at the end of a phase, a key with a value) and is computed on the newest
//! bytes, so it can be applied again to a text that a person has changed meanwhile. Pure: text in, text out.

mod add;
mod apply;
mod body;
mod change;
mod conflict;
mod draft;
mod find;
mod group;
mod identify;
mod key;
mod lines;
mod list;
mod merge;
mod piece;
mod place;
mod presence;
mod remove;
mod replace;
mod row;
mod run;
mod task;
pub(crate) mod task_list;
pub(crate) mod task_merge;
#[cfg(test)]
mod tests;
mod undo;
pub(crate) mod unit;
mod value;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::model::Task;

pub use apply::{Applied, apply, apply_to};
pub use body::{Proof, body_hash, renewed};
pub use change::Change;
pub(crate) use conflict::callout as conflict_callout;
pub use lines::between;
pub use run::{Done, Mode, Outcome};
pub use undo::{UndoError, mark_doubled, undo};

/// One change of a session note. Texts are rendered markdown as [`super::render`] gives it, line ends `\n`.
///
/// `phase` is a phase's id without `^`, written or derived; `None` means the last phase, or the preface where there is
/// none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Blocks at the end of a phase; a list of steps goes on with the list that ends there. Phase gone: the last one.
    Append {
        /// Where.
        phase: Option<String>,
        /// What.
        text: String,
    },
    /// Blocks after the top-level block that has this id (or holds a step with it; a step in `text` then goes into that
    /// list, right behind it). Block gone: the end of the phase.
    InsertAfter {
        /// Id without `^`.
        block: String,
        /// The phase it stands in.
        phase: Option<String>,
        /// What.
        text: String,
    },
    /// Blocks below the title, before the first phase.
    Preface {
        /// What.
        text: String,
    },
    /// A phase with its heading at the end of the note.
    Phase {
        /// What.
        text: String,
    },
    /// The block that `cru` wrote as `old` becomes `new`; blank `new` removes it. Where a person changed it, their text
    /// stays and `new` becomes a `[!conflict]` callout, unless the two changes stand apart and both can be made; where
    /// they deleted it, nothing happens.
    Replace {
        /// The phase it stands in.
        phase: Option<String>,
        /// As rendered then.
        old: String,
        /// As rendered now.
        new: String,
    },
    /// A frontmatter key; `new` absent removes it. Only set while its value is `old` (absent: no key); else the person's
    /// value stays and the machine's becomes a `[!conflict]` callout in the preface; a key they removed stays removed.
    /// Lists are merged: what `new` has beyond `old` is added to the person's list, what it lacks goes.
    Set {
        /// The key.
        key: String,
        /// What `cru` last wrote or saw.
        old: Option<Json>,
        /// What it is to be.
        new: Option<Json>,
    },
    /// The phase (by derived id) gets the line under its heading with its id, where it has none.
    Identify {
        /// Derived id, `p-02`.
        phase: String,
        /// Time for the line, RFC 3339, where the phase has none.
        time: Option<String>,
    },
    /// All below the frontmatter becomes `new`, where its hash is `old` ([`body_hash`]); else nothing happens.
    Body {
        /// Hash of the body as it was found.
        old: String,
        /// As it is to be.
        new: String,
    },
    /// Lines become others, wherever they stand: the changes from the text that is wanted to the one that was read are taken
    /// back. Where somebody edited one of them, nothing happens.
    Lines {
        /// From the wanted text to the one that was read.
        back: Vec<Change>,
    },
    /// Rows of the `tasks` fence: each replaces the row of its id, or is added. Empty fields leave what is there. The
    /// fence is made in the preface where there is none; one that a person broke stays, and a new one is made behind it.
    Tasks {
        /// The rows.
        rows: Vec<Task>,
        /// Whether these are all there are: others go.
        all: bool,
    },
}
