//! The one inbox: what waits for a person, and the page on which they decide.

pub mod item;
pub mod page;

pub use item::{MOST, ReviewItem, ReviewKind, ordered};
pub use page::{Mark, NOTE, Page, PageLine, reworded};
