//! Several threads where there is enough to do; none are started for what is done sooner by one.

/// Texts of more bytes than this are worth several threads.
pub const LONG: usize = 256 << 10;

/// What both give: side by side where the work on `bytes` bytes is worth it, else one after the other.
pub fn join<A: Send, B: Send>(bytes: usize, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    if bytes > LONG { rayon::join(a, b) } else { (a(), b()) }
}
