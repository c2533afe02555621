//! Reading and writing files; the only writer of the program.
//!
//! A note is replaced only when the bytes on disk are still the bytes that were read, so an editor's save is never
//! overwritten; a save that comes between is put back, also where the writer is killed (the journal of intentions). New
//! files are made with create-new, so two processes cannot take one name. Nothing is written in
//! place: a reader sees the old file or the new one. Nothing below a folder that [`confine`] names is written through a
//! link that leads out of it.

mod access;
mod append;
mod aside;
mod bulk;
mod create;
#[cfg_attr(not(unix), path = "dir_by_path.rs")]
mod dir;
mod exchange;
pub mod fault;
mod intention;
mod lock;
mod long;
mod mode;
mod place;
mod read;
mod regular;
mod replace;
mod root;
mod spool;
mod staged;
mod sweep;
mod temp;

pub use append::{append_durable, append_line, read_at, remove_lines, sync};
pub use aside::{Aside, Stamp};
pub use bulk::Bulk;
pub use create::{
    append, append_private, copy, create, create_as, create_dir, create_link, create_private, create_private_dir,
    is_writable, open_append_private, put, put_private, remove, remove_derived, sync_dir,
};
pub use exchange::{Fate, Finished, finish, finish_beside, untold};
pub use intention::{Keep, keep_intentions_in};
pub use lock::{Lock, lock, try_lock};
pub use long::{Digest, Long, beginning, digest};
pub use mode::{is_executable, is_shared, make_private, mode, set_executable, set_mode};
pub use read::{
    Fingerprint, LARGEST_NOTE, Stable, fingerprint, read, read_given, read_if_there, read_note, read_stable, read_text,
};
pub use regular::{open_regular, read_regular};
pub use replace::{Prepared, remove_of, remove_unchanged, rename, rename_new, replace, replace_within, within};
pub use root::{confine, trust_link};
pub use spool::Spool;
pub use sweep::{strays, strays_below, sweep_own};
