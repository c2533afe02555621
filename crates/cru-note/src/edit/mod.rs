//! Changes to a note, each as a [`Patch`](super::Patch) of the bytes it must change and no other.
//!
//! Every function looks at the text it is given and nothing else; where a change cannot be made without losing or
//! moving something, it says so in an [`EditError`] and makes none.

mod compare;
mod error;
mod generated;
mod id;
mod item;
mod order;
mod place;
mod property;
mod region;
mod section;
mod target;
mod window;

pub use error::EditError;
pub use generated::GeneratedLines;
pub use id::add_id;
pub use place::{Join, SEPARATOR};
pub use property::{remove_key, set_key, set_key_at, set_keys};
pub use region::{ChangedPage, Fill, Missing, Region, RenewedRegion, region, renew_region};
pub use section::{append, append_phase, append_to_preface, insert_after};
pub use target::Target;

pub use compare::{same, same_frontmatter};
pub use place::{end_of_line, starts_line};
pub use target::{divides, is_title, part_end};
pub use window::holds;

#[cfg(test)]
mod tests;
