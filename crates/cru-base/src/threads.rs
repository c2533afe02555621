//! Several threads where there is enough to do; none are started for what is done sooner by one.

use rayon::prelude::*;

/// Texts of more bytes than this are worth several threads.
pub const LONG: usize = 256 << 10;

/// What both give: side by side where the work on `bytes` bytes is worth it, else one after the other.
pub fn join<A: Send, B: Send>(bytes: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    join_if(bytes > LONG, a, b)
}

/// What both give: side by side where there are `many`, else one after the other.
pub fn join_if<A: Send, B: Send>(many: bool, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if many { rayon::join(a, b) } else { (a(), b()) }
}

/// What `of` gives for each item: side by side where there are `many`, whatever that is in their case.
pub fn map<'t, T: Sync, U: Send>(many: bool, items: &'t [T], of: impl Fn(&'t T) -> U + Sync + Send) -> Vec<U> {
    if many { items.par_iter().map(of).collect() } else { items.iter().map(of).collect() }
}
